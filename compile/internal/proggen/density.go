package proggen

import "fmt"

// addTarget writes a statement that adds to the log density.
func (g *gen) addTarget() {
	g.pick(
		option{4, func() bool {
			e := g.scaled(g.real(3), 3)
			g.line("target += %s;", e.text)
			return true
		}},
		option{1, func() bool {
			e := g.scaled(g.vector(g.someSize(), 2), 2)
			g.line("target += %s;", e.text)
			return true
		}},
		option{6, g.tilde},
		option{2, func() bool {
			d, ok := g.distribution()
			if !ok {
				return false
			}
			suffix := "_lpdf"
			if d.discrete {
				suffix = "_lpmf"
			}
			if g.fn == nil && g.on(TargetLupdf) && g.chance(0.5) {
				suffix = "_lu" + suffix[2:]
			}
			g.line("target += %s%s(%s | %s);", d.name, suffix, d.variate, d.args)
			return true
		}},
		option{2, func() bool {
			f := g.callable(func(f *function) bool { return f.kind == densityFunc })
			if f == nil {
				return false
			}
			outer := g.dropping
			g.dropping = true
			x, m, k := g.scaled(g.real(1), 3).text, g.scaled(g.real(1), 3).text, g.scaled(g.real(1), 3).text
			g.dropping = outer
			name := f.name[:len(f.name)-len("_lpdf")]
			if g.chance(0.6) {
				g.line("%s ~ %s(%s, %s);", x, name, m, k)
			} else {
				suffix := "_lpdf"
				if g.fn == nil {
					suffix = among(g, "_lpdf", "_lupdf")
				}
				g.line("target += %s%s(%s | %s, %s);", name, suffix, x, m, k)
			}
			return true
		}},
	)
}

func (g *gen) tilde() bool {
	outer := g.dropping
	g.dropping = true
	d, ok := g.distribution()
	g.dropping = outer
	if ok {
		g.line("%s ~ %s(%s);", d.variate, d.name, d.args)
	}
	return ok
}

// distributed is a distribution with a variate and arguments.
type distributed struct {
	name, variate, args string
	discrete            bool
}

// distribution draws a distribution with its variate and arguments.
func (g *gen) distribution() (d distributed, ok bool) {
	if g.chance(0.3) {
		return g.discrete()
	}
	variate, x := g.real, g.real
	if g.chance(0.4) { // of the elements of a container
		s := g.someSize()
		variate = func(depth int) expr { return g.vector(s, depth) }
		if g.chance(0.5) {
			x = variate
		}
	}
	if g.on(MixedLevels) && g.chance(0.25) {
		if v := g.some(func(v *variable) bool { return v.kind != ints && !v.level && nonempty(v) }); v != nil {
			variate = func(int) expr { return expr{g.element(v, v.all()), v.bound} }
			x = g.real
		}
	}
	y, m := g.scaled(variate(1), 4), g.scaled(x(2), 4)
	d.variate = y.text
	sc := g.positive(1)
	switch g.between(0, 7) {
	case 0, 1, 2:
		d.name, d.args = "normal", m.text+", "+sc
	case 3:
		d.name, d.args = "student_t", among(g, "3", "4.5", "("+sc+" + 1)")+", "+m.text+", "+sc
	case 4:
		d.name, d.args = among(g, "logistic", "double_exponential", "cauchy"), m.text+", "+sc
	case 5:
		d.name = "std_normal"
	case 6:
		d.name, d.variate, d.args = among(g, "exponential", "gamma", "lognormal", "weibull"), "exp(0.3 * "+d.variate+")", sc+", "+g.positive(1)
		if d.name == "exponential" {
			d.args = sc
		}
	case 7:
		d.name, d.variate, d.args = "beta", "inv_logit("+d.variate+")", sc+", "+g.positive(1)
	}
	return d, true
}

// discrete draws a distribution whose variate is an int or an array of ints.
func (g *gen) discrete() (d distributed, ok bool) {
	d.discrete = true
	v := g.some(func(v *variable) bool {
		return v.kind == ints && len(v.array) <= 1 && v.lo >= 0 && v.hi <= 30 && nonempty(v)
	})
	if v == nil {
		return d, false
	}
	d.variate = g.element(v, v.array)
	x := g.scaled(g.real(2), 3)
	if len(v.array) == 1 && g.chance(0.3) { // all of an array
		d.variate = v.name
		if g.chance(0.5) {
			x = g.scaled(g.vector(v.array[0], 2), 3)
		}
	}
	switch g.between(0, 4) {
	case 0:
		d.name, d.args = "poisson_log", x.text
	case 1:
		d.name, d.args = "poisson", g.positive(1)
	case 2:
		d.name, d.args = "neg_binomial_2_log", x.text+", "+g.positive(1)
	case 3:
		if v.lo < 0 || v.hi > 1 {
			return d, false
		}
		d.name, d.args = "bernoulli_logit", x.text
	case 4:
		d.name, d.args = "binomial_logit", x.text
		d.args = fmt.Sprintf("%d, %s", v.hi, x.text)
	}
	return d, true
}
