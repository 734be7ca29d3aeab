package projection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// planted makes a problem with the given numbers of rows, columns and draws. groups has the number
// of groups of each factor; the first factor has an intercept and a slope, the others an intercept.
func planted(family Family, rows, columns, draws int, cov Covariance, groups ...int) *Problem {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(columns)))
	p := &Problem{Family: family, Offset: make([]float64, rows)}
	for range columns {
		c := make([]float64, rows)
		for i := range c {
			c[i] = rng.NormFloat64() + 3
		}
		p.Terms = append(p.Terms, Term{Columns: [][]float64{c}})
	}
	one := slices.Repeat([]float64{1}, rows)
	for f, levels := range groups {
		of := make([]int, rows)
		for i := range of {
			of[i] = rng.IntN(levels)
		}
		p.Terms = append(p.Terms, Term{Columns: [][]float64{one}, Groups: of, Levels: levels, Set: f + 1, Covariance: cov})
		if f == 0 && columns > 0 {
			p.Terms = append(p.Terms, Term{Columns: p.Terms[0].Columns, Groups: of, Levels: levels, Set: f + 1, Covariance: cov, Needs: []int{0, len(p.Terms) - 1}})
		}
	}
	truth := make([]float64, rows)
	for i := range truth {
		p.Offset[i] = 0.3 * rng.NormFloat64()
		truth[i] = p.Offset[i] + 0.5*rng.NormFloat64()
		for t, term := range p.Terms {
			if term.Groups == nil {
				truth[i] += (term.Columns[0][i] - 3) * 0.6 / float64(t+1)
			} else {
				truth[i] += math.Sin(float64(7*term.Groups[i]+t)) * (term.Columns[0][i]) / 4
			}
		}
	}
	if family == Binomial {
		p.Trials = make([]float64, rows)
	}
	for i, eta := range truth {
		y := eta + 0.7*rng.NormFloat64()
		switch family {
		case Binomial:
			p.Trials[i] = float64(1 + rng.IntN(3))
			y = 0
			for range int(p.Trials[i]) {
				if rng.Float64() < family.mean(eta) {
					y++
				}
			}
		case Poisson:
			y = math.Floor(math.Exp(eta))
		}
		p.Outcome = append(p.Outcome, y)
	}
	for range draws {
		row, likely := make([]float64, rows), make([]float64, rows)
		shift := 0.1 * rng.NormFloat64()
		for i := range row {
			row[i] = truth[i] + shift + 0.1*rng.NormFloat64()
			likely[i] = p.logLik(i, row[i], 0.7)
		}
		p.Predictor, p.LogLik, p.SD = append(p.Predictor, row), append(p.LogLik, likely), append(p.SD, 0.7)
	}
	return p
}

func all(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// Without groups, the projection solves the equations of its maximum: the columns are orthogonal to
// the differences of the means. That determines it, since the divergence is convex.
func TestProjectionWithoutGroups(t *testing.T) {
	for _, family := range []Family{Gaussian, Binomial, Poisson} {
		for _, size := range [][2]int{{1, 0}, {2, 0}, {2, 1}, {40, 0}, {40, 1}, {40, 2}, {40, 5}} {
			p := planted(family, size[0], size[1], 3, Full)
			refs := p.Draws(3)
			fits, err := p.Project(context.Background(), all(size[1]), refs)
			if err != nil {
				t.Fatalf("family %d, %v: %v", family, size, err)
			}
			for d, f := range fits {
				columns := [][]float64{slices.Repeat([]float64{1}, size[0])}
				for _, term := range p.Terms {
					columns = append(columns, term.Columns...)
				}
				for c, x := range columns {
					score := 0.0
					for i := range x {
						score += p.trials(i) * x[i] * (refs[d].Mean[i] - p.Family.mean(f.Predictor[i]))
					}
					if math.Abs(score) > 1e-5*float64(size[0]) {
						t.Errorf("family %d, %v, draw %d, column %d: score %g", family, size, d, c, score)
					}
				}
				for i := range f.Predictor {
					want := p.Offset[i] + f.Coefficients[0]
					for c := range size[1] {
						want += f.Coefficients[c+1] * p.Terms[c].Columns[0][i]
					}
					if math.Abs(want-f.Predictor[i]) > 1e-8 {
						t.Fatalf("the coefficients give %g in row %d, and the predictor is %g", want, i, f.Predictor[i])
					}
				}
			}
		}
	}
}

// dense has the matrices of a submodel with groups, made row by row.
func dense(p *Problem, d *design, theta []float64) (x, z *mat.Dense) {
	x = mat.NewDense(d.rows, len(d.columns), nil)
	for c, col := range d.columns {
		x.SetCol(c, col)
	}
	width := 0
	for _, f := range d.factors {
		width += f.levels * len(f.columns)
	}
	z = mat.NewDense(d.rows, width, nil)
	at, first := 0, 0
	for _, f := range d.factors {
		k := len(f.columns)
		tri := make([]float64, k*k)
		f.triangle(theta[at:at+f.parameters()], tri)
		at += f.parameters()
		for i := range d.rows {
			for a := range k {
				for b := range k {
					j := first + f.groups[i]*k + b
					z.Set(i, j, z.At(i, j)+f.columns[a][i]*tri[a*k+b])
				}
			}
		}
		first += f.levels * k
	}
	return x, z
}

// restrictedOf is the restricted deviance by the marginal covariance of the rows, with the
// predictor at its optimum.
func restrictedOf(p *Problem, d *design, y, theta []float64) (deviance float64, predictor []float64) {
	x, z := dense(p, d, theta)
	n := d.rows
	v := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s := mat.Dot(z.RowView(i), z.RowView(j))
			if i == j {
				s++
			}
			v.SetSym(i, j, s)
		}
	}
	var inverse mat.Cholesky
	if !inverse.Factorize(v) {
		return math.Inf(1), nil
	}
	var vx, xvx, beta, vr, zr, fixed, effects mat.Dense
	if err := inverse.SolveTo(&vx, x); err != nil {
		panic(err)
	}
	xvx.Mul(x.T(), &vx)
	target := mat.NewDense(n, 1, slices.Clone(y))
	var xvy mat.Dense
	xvy.Mul(vx.T(), target)
	if err := beta.Solve(&xvx, &xvy); err != nil {
		panic(err)
	}
	fixed.Mul(x, &beta)
	var r mat.Dense
	r.Sub(target, &fixed)
	if err := inverse.SolveTo(&vr, &r); err != nil {
		panic(err)
	}
	squares := 0.0
	for i := range n {
		squares += r.At(i, 0) * vr.At(i, 0)
	}
	zr.Mul(z.T(), &vr)
	effects.Mul(z, &zr)
	for i := range n {
		predictor = append(predictor, fixed.At(i, 0)+effects.At(i, 0))
	}
	det, _ := mat.LogDet(&xvx)
	return inverse.LogDet() + det + float64(n-len(d.columns))*math.Log(squares), predictor
}

// Normal models with groups have the predictor and the restricted deviance of the dense formula,
// and no covariance nearby has a smaller deviance.
func TestNormalGroups(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns int
		cov     Covariance
		groups  []int
	}{
		{"one group", 1, Full, []int{1}}, {"two groups", 0, Full, []int{2}}, {"intercepts", 0, Full, []int{9}}, {"slopes", 2, Full, []int{12}},
		{"independent slopes", 2, Diagonal, []int{12}}, {"one variance", 1, Scalar, []int{12}}, {"crossed", 1, Full, []int{5, 11}}, {"three factors", 1, Diagonal, []int{6, 4, 3}},
	} {
		p := planted(Gaussian, 70, c.columns, 2, c.cov, c.groups...)
		d := p.designOf(all(len(p.Terms)))
		refs := p.Draws(2)
		fits, err := p.Project(context.Background(), all(len(p.Terms)), refs)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for s, f := range fits {
			y := make([]float64, 70)
			for i := range y {
				y[i] = refs[s].Mean[i] - p.Offset[i]
			}
			best, predictor := restrictedOf(p, d, y, f.theta)
			for i := range y {
				if math.Abs(predictor[i]+p.Offset[i]-f.Predictor[i]) > 1e-6 {
					t.Fatalf("%s: row %d is %g, want %g", c.name, i, f.Predictor[i], predictor[i]+p.Offset[i])
				}
			}
			fitter := p.fitter(d)
			fitter.s.right(nil, y)
			if got := fitter.restricted(f.theta); math.Abs(got-best) > 1e-6 {
				t.Errorf("%s: the restricted deviance is %g, want %g", c.name, got, best)
			}
			for j := range f.theta {
				for _, by := range []float64{-0.3, -0.05, 0.05, 0.3} {
					near := slices.Clone(f.theta)
					near[j] += by * max(1, math.Abs(near[j]))
					if other, _ := restrictedOf(p, d, y, near); other < best-1e-4 {
						t.Errorf("%s: the deviance is %.8g, but %.8g at %v instead of %v", c.name, best, other, near, f.theta)
					}
				}
			}
		}
	}
}

// Other families with groups are at the mode of coefficients and effects, and no covariance nearby
// has a smaller deviance by Laplace's approximation. Both are computed with dense matrices.
func TestOtherGroups(t *testing.T) {
	for _, family := range []Family{Binomial, Poisson} {
		for _, groups := range [][]int{{2}, {8}, {8, 5}} {
			name := fmt.Sprint(family, groups)
			p := planted(family, 90, 1, 2, Full, groups...)
			d := p.designOf(all(len(p.Terms)))
			refs := p.Draws(1)
			fits, err := p.Project(context.Background(), all(len(p.Terms)), refs)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			f := fits[0]
			best, predictor := laplaceOf(p, d, refs[0].Mean, f.theta)
			for i, eta := range f.Predictor {
				if math.Abs(eta-predictor[i]) > 1e-3 {
					t.Fatalf("%s: row %d is %g, want %g", name, i, eta, predictor[i])
				}
			}
			for j := range f.theta {
				for _, by := range []float64{-0.3, -0.05, 0.05, 0.3} {
					near := slices.Clone(f.theta)
					near[j] += by * max(1, math.Abs(near[j]))
					if other, _ := laplaceOf(p, d, refs[0].Mean, near); other < best-1e-3 {
						t.Errorf("%s: the deviance is %.8g, but %.8g at %v instead of %v", name, best, other, near, f.theta)
					}
				}
			}
		}
	}
}

// laplaceOf finds the mode by Newton's method with dense matrices.
func laplaceOf(p *Problem, d *design, mean, theta []float64) (deviance float64, predictor []float64) {
	x, z := dense(p, d, theta)
	_, q := z.Dims()
	_, c := x.Dims()
	var both mat.Dense
	both.Augment(z, x)
	u := mat.NewVecDense(q+c, nil)
	predictor = make([]float64, d.rows)
	var hessian *mat.SymDense
	for range 60 {
		var eta mat.VecDense
		eta.MulVec(&both, u)
		g := mat.NewVecDense(q+c, nil)
		hessian = mat.NewSymDense(q+c, nil)
		for i := range d.rows {
			predictor[i] = eta.AtVec(i) + p.Offset[i]
			r := p.trials(i) * (mean[i] - p.Family.mean(predictor[i]))
			w := p.trials(i) * p.Family.slope(predictor[i])
			g.AddScaledVec(g, r, both.RowView(i))
			hessian.SymRankOne(hessian, w, both.RowView(i))
		}
		for j := range q {
			g.SetVec(j, g.AtVec(j)-u.AtVec(j))
			hessian.SetSym(j, j, hessian.At(j, j)+1)
		}
		var chol mat.Cholesky
		if !chol.Factorize(hessian) {
			return math.Inf(1), nil
		}
		var step mat.VecDense
		if err := chol.SolveVecTo(&step, g); err != nil {
			panic(err)
		}
		scale := 1.0
		if n := mat.Norm(&step, math.Inf(1)); n > 1 {
			scale = 1 / n
		}
		u.AddScaledVec(u, scale, &step)
	}
	for i, eta := range predictor {
		deviance += 2 * p.trials(i) * p.Family.divergence(mean[i], eta)
	}
	for j := range q {
		deviance += u.AtVec(j) * u.AtVec(j)
	}
	det, _ := mat.LogDet(hessian.SliceSym(0, q))
	return deviance + det, predictor
}

// The divergences are those of the definition: sums over outcomes for counts, quadrature for
// numbers.
func TestDivergence(t *testing.T) {
	for _, mean := range []float64{0.01, 0.3, 0.5, 0.97} {
		for _, eta := range []float64{-3, -0.2, 0, 2} {
			q := 1 / (1 + math.Exp(-eta))
			want := mean*math.Log(mean/q) + (1-mean)*math.Log((1-mean)/(1-q))
			if got := Binomial.divergence(mean, eta); math.Abs(got-want) > 1e-12 {
				t.Errorf("binomial %g, %g: %g, want %g", mean, eta, got, want)
			}
			want = 0
			for y := range 200 {
				log := Poisson.logLik(float64(y), 1, math.Log(mean), 1)
				want += math.Exp(log) * (log - Poisson.logLik(float64(y), 1, eta, 1))
			}
			if got := Poisson.divergence(mean, eta); math.Abs(got-want) > 1e-9 {
				t.Errorf("poisson %g, %g: %g, want %g", mean, eta, got, want)
			}
		}
	}
	p := planted(Gaussian, 30, 2, 1, Full)
	fits, err := p.Project(context.Background(), []int{0}, p.Draws(1))
	if err != nil {
		t.Fatal(err)
	}
	// KL(N(m, s) | N(m', s')), its mean over the rows, for the projected s' and others.
	f := fits[0]
	mean := func(sd float64) (sum float64) {
		for i, m := range p.Predictor[0] {
			sum += (math.Log(sd/0.7) + (0.49+(m-f.Predictor[i])*(m-f.Predictor[i]))/(2*sd*sd) - 0.5) / 30
		}
		return sum
	}
	if got := mean(f.SD); math.Abs(got-f.Divergence) > 1e-12 || mean(f.SD*1.01) <= got || mean(f.SD*0.99) <= got {
		t.Errorf("the divergence is %g, want %g, with the best standard deviation", f.Divergence, got)
	}
}

// The search takes the best term at each size, and only terms whose needs are met.
func TestSearch(t *testing.T) {
	ctx := context.Background()
	for _, family := range []Family{Gaussian, Binomial, Poisson} {
		for _, columns := range []int{0, 1, 2, 4} {
			p := planted(family, 60, columns, 30, Full, 5)
			path, err := PathOf(ctx, p, PathOptions{Clusters: 30, Draws: 30})
			if err != nil {
				t.Fatal(err)
			}
			if len(path.Steps) != len(p.Terms)+1 {
				t.Fatalf("%d steps for %d terms", len(path.Steps), len(p.Terms))
			}
			var chosen []int
			for size := 1; size < len(path.Steps); size++ {
				best, least := -1, math.Inf(1)
				for term := range p.Terms {
					if slices.Contains(chosen, term) || slices.ContainsFunc(p.Terms[term].Needs, func(u int) bool { return !slices.Contains(chosen, u) }) {
						continue
					}
					fits, err := p.Project(ctx, append(slices.Clone(chosen), term), p.Draws(30))
					if err != nil {
						t.Fatal(err)
					}
					d := 0.0
					for _, f := range fits {
						d += f.Divergence / 30
					}
					if d < least {
						best, least = term, d
					}
				}
				step := path.Steps[size]
				if step.Term != best || math.Abs(step.Divergence-least) > 1e-9 {
					t.Errorf("family %d, %d columns, size %d: term %d with %g, want %d with %g", family, columns, size, step.Term, step.Divergence, best, least)
				}
				chosen = append(chosen, best)
			}
		}
	}
}

// With more clusters than draws, each draw is one; with one cluster, the average has the means of
// all draws and the variance within and between them.
func TestClusters(t *testing.T) {
	p := planted(Gaussian, 20, 1, 7, Full)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 6, 7, 8} {
		of, count := p.clusters(n, rng)
		refs := p.averages(of, count, nil)
		if count > n || len(refs) != count || n >= 7 && count != 7 {
			t.Errorf("%d clusters, asked for %d of 7 draws", count, n)
		}
		total := 0.0
		for _, r := range refs {
			total += r.Weight
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("the weights sum to %g", total)
		}
	}
	of, count := p.clusters(1, rng)
	r := p.averages(of, count, nil)[0]
	between := 0.0
	for i := range 20 {
		m := 0.0
		for s := range 7 {
			m += p.Predictor[s][i] / 7
		}
		for s := range 7 {
			between += (p.Predictor[s][i] - m) * (p.Predictor[s][i] - m) / 7 / 20
		}
		if math.Abs(m-r.Mean[i]) > 1e-12 {
			t.Errorf("the mean of row %d is %g, want %g", i, r.Mean[i], m)
		}
	}
	if want := 0.49 + between; math.Abs(r.Variance-want) > 1e-12 {
		t.Errorf("the variance is %g, want %g", r.Variance, want)
	}
	// A weight that is all on one draw leaves its cluster alone.
	of, count = p.clusters(7, rng)
	weights := []float64{0, 0, 1, 0, 0, 0, 0}
	if one := p.averages(of, count, weights); len(one) != 1 || !slices.Equal(one[0].Mean, p.Predictor[2]) {
		t.Errorf("%d clusters, want that of draw 3 alone", len(one))
	}
}

// The accuracy of the whole model is that of the reference if the reference is in its span, and the
// validated path counts the searches that agree.
func TestPath(t *testing.T) {
	p := planted(Poisson, 25, 2, 40, Full)
	for s := range p.Predictor { // without noise the terms give each draw exactly
		for i := range p.Predictor[s] {
			p.Predictor[s][i] = p.Offset[i] + float64(s)/100 + 0.4*(p.Terms[0].Columns[0][i]-3) + float64(s%7)/70*(p.Terms[1].Columns[0][i]-3)
			p.LogLik[s][i] = p.logLik(i, p.Predictor[s][i], 1)
		}
	}
	for _, validate := range []bool{false, true} {
		path, err := PathOf(context.Background(), p, PathOptions{Validate: validate})
		if err != nil {
			t.Fatal(err)
		}
		last := path.Difference(2)
		if math.Abs(last.Value) > 1e-6 || path.Steps[2].Divergence > 1e-9 {
			t.Errorf("all terms: difference %g, divergence %g, want 0", last.Value, path.Steps[2].Divergence)
		}
		if n := path.Suggested(); n < 0 || n > 2 || path.Difference(n).Value+path.Difference(n).SE < 0 || n > 0 && path.Difference(n-1).Value+path.Difference(n-1).SE >= 0 {
			t.Errorf("the suggested size is %d", n)
		}
		if validate != (math.Abs(path.Steps[2].Share-1) < 1e-9) {
			t.Errorf("validate %v: the last term is in %g of the searches", validate, path.Steps[2].Share)
		}
	}
}

func TestWrongProblems(t *testing.T) {
	for name, change := range map[string]func(p *Problem){
		"rows":    func(p *Problem) { p.Outcome = nil },
		"draws":   func(p *Problem) { p.Predictor = nil },
		"sd":      func(p *Problem) { p.SD = p.SD[:1] },
		"loglik":  func(p *Problem) { p.LogLik[1] = nil },
		"nan":     func(p *Problem) { p.Predictor[0][0] = math.NaN() },
		"column":  func(p *Problem) { p.Terms[0].Columns[0] = nil },
		"columns": func(p *Problem) { p.Terms[0].Columns = nil },
		"needs":   func(p *Problem) { p.Terms[0].Needs = []int{0} },
		"group":   func(p *Problem) { p.Terms[1].Groups[0] = 3 },
		"same":    func(p *Problem) { p.Terms = append(p.Terms, p.Terms[0]) },
	} {
		p := planted(Gaussian, 12, 1, 2, Full, 3)
		change(p)
		if _, err := PathOf(context.Background(), p, PathOptions{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := PathOf(ctx, planted(Gaussian, 12, 1, 2, Full), PathOptions{}); err == nil {
		t.Error("no error after the context ended")
	}
}

func TestResidualSD(t *testing.T) {
	p := planted(Gaussian, 12, 1, 1, Full)
	if got := ResidualSD(p.Outcome, p.Predictor[0], p.LogLik[0]); math.Abs(got-0.7) > 1e-9 {
		t.Errorf("the standard deviation is %g, want 0.7", got)
	}
	if d := p.Differs(); d > 1e-12 {
		t.Errorf("the log likelihoods differ by %g", d)
	}
	p.LogLik[0][3] += 0.1
	if d := p.Differs(); d < 0.01 {
		t.Errorf("the log likelihoods differ by %g", d)
	}
}
