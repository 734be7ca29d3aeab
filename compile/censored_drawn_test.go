package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestCensoredDrawn compares drawn programs for censored data with twins that have a term for each
// value: kinds of censoring, containers, distributions, truncation and forms of the statement.
func TestCensoredDrawn(t *testing.T) {
	for seed := range uint64(300) {
		c := drawCensored(rand.New(rand.NewPCG(seed, 44)))
		got, want := boundTo(t, c.program, c.values, BindOptions{NoPropto: true}), boundTo(t, c.twin, `{}`, BindOptions{NoPropto: true})
		rng := rand.New(rand.NewPCG(seed, 1))
		for range 3 {
			x := []float64{0.5 * rng.NormFloat64(), 0.5 * rng.NormFloat64()}
			g, h := make([]float64, 2), make([]float64, 2)
			lp, err := got.LogDensityGrad(x, g)
			lq, err2 := want.LogDensityGrad(x, h)
			same := func(a, b float64) bool { return math.Abs(a-b) <= 1e-10*max(1, math.Abs(b)) }
			if err != nil || err2 != nil || !same(lp, lq) || !slices.EqualFunc(g, h, same) {
				t.Errorf("seed %d at %v: log density %v and gradient %v, want %v and %v: %v %v\n%s\n%s\n%s", seed, x, lp, g, lq, h, err, err2, c.program, c.values, c.twin)
			}
		}
	}
}

type drawnCensored struct{ program, values, twin string }

// drawCensored draws a program for censored data, its data, and the twin.
func drawCensored(rng *rand.Rand) drawnCensored {
	one := func(list ...string) string { return list[rng.IntN(len(list))] }
	ints := rng.IntN(3) == 0
	dist, args := "", ""
	lod, up, least, most := 1.0, 4.0, 0.1, 6.5
	mass, step := "_lpdf", 0.0
	if ints {
		lod, up, least, most, mass, step = 2, 6, 1, 10, "_lpmf", 1
		dist = one("poisson", "neg_binomial_2")
		args = map[string]string{"poisson": "exp(LOC)", "neg_binomial_2": "exp(LOC), s"}[dist]
	} else {
		dist = one("normal", "lognormal", "weibull", "gamma", "logistic")
		args = map[string]string{"normal": "LOC, s", "lognormal": "LOC, s", "weibull": "s, exp(LOC)", "gamma": "s, exp(LOC)", "logistic": "LOC, s"}[dist]
	}
	kind := one("censored_below=2", "censored_above=4", "censored_below=2, censored_above=4", "censored=cens", "censored=cens, censored_to=to", "censored_to=to")
	if !ints {
		kind = strings.Replace(kind, "=2", "=1", 1)
	} else {
		kind = strings.Replace(kind, "=4", "=6", 1)
	}
	trunc := one("", "", "T[L, ]", "T[, U]", "T[L, U]")
	below, above := strings.Contains(trunc, "L"), strings.Contains(trunc, "U")
	trunc = strings.NewReplacer("L", fmt.Sprint(least), "U", fmt.Sprint(most)).Replace(trunc)
	n := []int{0, 1, 2, 3, 9}[rng.IntN(5)]
	location := one("a", "a + 0.1 * x")
	var x, y, cens, to []string
	twin := &strings.Builder{}
	twin.WriteString("parameters { real a; real<lower=0> s; } model {\n")
	for i := range n {
		v := math.Round((0.2+5.8*rng.Float64())*100) / 100
		if ints {
			v = float64(1 + rng.IntN(9))
		}
		lo, hi := v, v // the interval; infinite without an end
		side, end := 0, v
		switch {
		case strings.Contains(kind, "_below") && v <= lod:
			lo, hi = math.Inf(-1), lod
		case strings.Contains(kind, "_above") && v >= up:
			lo, hi = up, math.Inf(1)
		case kind == "censored=cens":
			side = rng.IntN(3) - 1
		case strings.Contains(kind, "censored=cens, "):
			side = rng.IntN(4) - 1
		case kind == "censored_to=to":
			side = 2 * rng.IntN(2)
		}
		switch side {
		case -1:
			lo = math.Inf(-1)
		case 1:
			hi = math.Inf(1)
		case 2:
			v = max(0.01*(1-step), v-1-step) // above 0 for reals
			end = v + 2 + step
			lo, hi = v, end
		}
		x, y = append(x, fmt.Sprint(i)), append(y, fmt.Sprint(v))
		cens, to = append(cens, fmt.Sprint(side)), append(to, fmt.Sprint(end))
		own := strings.ReplaceAll(args, "LOC", strings.ReplaceAll(location, "x", fmt.Sprint(i)))
		f := func(name string, at float64) string { return fmt.Sprintf("%s%s(%v | %s)", dist, name, at, own) }
		between := func(lo, hi float64) string {
			switch {
			case math.IsInf(lo, -1) && math.IsInf(hi, 1):
				return "0"
			case math.IsInf(lo, -1):
				return f("_lcdf", hi)
			case math.IsInf(hi, 1):
				return f("_lccdf", lo-step)
			}
			lo -= step
			return fmt.Sprintf("(%s < -0.7 ? log_diff_exp(%s, %s) : log_diff_exp(%s, %s))", f("_lcdf", lo), f("_lcdf", hi), f("_lcdf", lo), f("_lccdf", lo), f("_lccdf", hi))
		}
		from, until := math.Inf(-1), math.Inf(1)
		if below {
			from = least
		}
		if above {
			until = most
		}
		term := f(mass, v)
		if lo != hi {
			term = between(max(lo, from), min(hi, until))
		}
		fmt.Fprintf(twin, "target += %s - %s;\n", term, between(from, until))
	}
	twin.WriteString("}")
	elements := one("vector<KIND>[N] y", "array[N] real<KIND> y", "row_vector<KIND>[N] y")
	if ints {
		elements = "array[N] int<KIND> y"
	}
	bounds := strings.Replace(elements, "<KIND>", "", 1)
	bounds = strings.TrimSuffix(bounds, "y") + "to"
	whole := strings.ReplaceAll(args, "LOC", location)
	each := strings.ReplaceAll(args, "LOC", strings.ReplaceAll(location, "x", "x[n]"))
	statement := one("y ~ "+dist+"("+whole+") "+trunc+";", "for (n in 1:N) y[n] ~ "+dist+"("+each+") "+trunc+";")
	if trunc == "" && rng.IntN(2) == 0 {
		statement = "target += " + dist + mass + "(y | " + whole + ");"
	}
	program := "data { int N; vector[N] x; array[N] int cens; " + bounds + "; " + strings.Replace(elements, "KIND", kind, 1) + "; }\nparameters { real a; real<lower=0> s; } model { " + statement + " }"
	list := func(l []string) string { return "[" + strings.Join(l, ", ") + "]" }
	values := fmt.Sprintf(`{"N": %d, "x": %s, "cens": %s, "to": %s, "y": %s}`, n, list(x), list(cens), list(to), list(y))
	return drawnCensored{program, values, twin.String()}
}
