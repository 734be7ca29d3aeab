package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// correlated is a normal distribution with the given scales and one correlation.
func correlated(mean, sd []float64, rho float64) *infertest.Normal {
	l := make([][]float64, len(mean))
	for i := range l {
		l[i] = make([]float64, i+1)
		if i == 0 {
			l[i][0] = sd[i]
			continue
		}
		l[i][i-1], l[i][i] = rho*sd[i], math.Sqrt(1-rho*rho)*sd[i]
	}
	return infertest.NewNormal(mean, l)
}

func TestMaximize(t *testing.T) {
	normal := correlated([]float64{1, -2, 30, 0}, []float64{1, 0.1, 5, 3}, 0.9)
	// The search mostly ends by the criterion on pᵀg, which is about twice the difference from the
	// maximal log density: at 2e-9, which is 5e-5 standard deviations along each direction.
	const tolerance = 3e-4
	for _, c := range []struct {
		name        string
		target      infer.LogDensity
		start, want []float64
	}{
		{"normal", normal, []float64{0, 0, 0, 0}, normal.Mean},
		{"banana", infertest.Banana{B: 0.5, Sigma: 2}, []float64{3, -1}, []float64{0, -2}},
		{"logistic", infertest.Logistic{D: 3}, []float64{4, -3, 2}, []float64{0, 0, 0}},
		{"log gamma", infertest.LogGamma{D: 2, Shape: 3}, []float64{-8, 5}, []float64{math.Log(3), math.Log(3)}},
		{"student", infertest.StudentT{D: 2, Nu: 5}, []float64{30, -10}, []float64{0, 0}},
		{"no parameters", infertest.Logistic{D: 0}, []float64{}, []float64{}},
	} {
		for _, algorithm := range Algorithms() {
			iterations := 0
			r, err := Maximize(context.Background(), c.target, c.start, Options{Algorithm: algorithm,
				Progress: func(i *Iteration) { iterations = i.Number }})
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, algorithm, err)
				continue
			}
			if !r.Reason.Converged() || r.Iterations != iterations {
				t.Errorf("%s, %s: %v after %d iterations, %d told", c.name, algorithm, r.Reason, r.Iterations, iterations)
			}
			for i, w := range c.want {
				if !(math.Abs(r.X[i]-w) <= tolerance*max(1, math.Abs(w))) {
					t.Errorf("%s, %s: x[%d] = %v, want %v (%v)", c.name, algorithm, i, r.X[i], w, r.Reason)
				}
			}
		}
	}
}

// TestReasons checks that each criterion ends an optimisation if the others are switched off.
func TestReasons(t *testing.T) {
	none := Options{TolObj: -1, TolRelObj: -1, TolGrad: -1, TolRelGrad: -1, TolParam: -1}
	for want, set := range map[Reason]func(*Options){
		ObjConverged:     func(o *Options) { o.TolObj = 1e-6 },
		RelObjConverged:  func(o *Options) { o.TolRelObj = 1e10 },
		GradConverged:    func(o *Options) { o.TolGrad = 1e-3 },
		RelGradConverged: func(o *Options) { o.TolRelGrad = 1e8 },
		ParamsConverged:  func(o *Options) { o.TolParam = 1e-3 },
		OutOfIterations:  func(o *Options) { o.Iterations = 2 },
	} {
		o := none
		set(&o)
		r, err := Maximize(context.Background(), infertest.Logistic{D: 2}, []float64{3, -5}, o)
		if err != nil || r.Reason != want {
			t.Errorf("%v, %v; want %v", r.Reason, err, want)
		}
	}
	r, err := Maximize(context.Background(), infertest.Logistic{D: 2}, []float64{3, -5}, none)
	if err != nil || r.Reason != LineSearchFailed || math.Abs(r.X[0]) > 1e-6 {
		t.Errorf("without criteria: %v, %v at %v", r.Reason, err, r.X)
	}
}

// edge is a density that rejects points not far from its mode, as scale parameters do.
type edge struct{ calls *int }

func (edge) Dim() int { return 2 }
func (e edge) LogDensityGrad(x, grad []float64) (float64, error) {
	*e.calls++
	if x[0] <= 0 {
		return 0, errors.New("x[1] must be positive")
	}
	grad[0], grad[1] = 1/x[0]-100, -2*x[1]
	return math.Log(x[0]) - 100*x[0] - x[1]*x[1], nil
}

func TestRejections(t *testing.T) {
	for _, algorithm := range Algorithms() {
		calls := 0
		r, err := Maximize(context.Background(), edge{&calls}, []float64{5, 3}, Options{Algorithm: algorithm})
		if err != nil || !r.Reason.Converged() || math.Abs(r.X[0]-0.01) > 1e-5 {
			t.Errorf("%s: %v, %v at %v", algorithm, r, err, r.X)
		}
		if int(r.Evaluations) < calls || algorithm == LBFGS && len(r.Rejections) != 1 {
			t.Errorf("%s: %d evaluations of %d counted, rejections %v", algorithm, r.Evaluations, calls, r.Rejections)
		}
	}
	if _, err := Maximize(context.Background(), edge{new(int)}, []float64{-1, 3}, Options{}); !errors.As(err, new(*infer.InitError)) {
		t.Errorf("a start that is rejected: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Maximize(ctx, edge{new(int)}, []float64{5, 3}, Options{Progress: func(i *Iteration) {
		if i.Number == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, infer.ErrInterrupted) || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// moments compares means and covariances of draws with those of a normal target:
// within 5 standard errors.
func moments(t *testing.T, name string, target *infertest.Normal, points [][]float64) {
	t.Helper()
	n := float64(len(points))
	for i := range target.Mean {
		mean := 0.0
		for _, x := range points {
			mean += x[i] / n
		}
		if sd := math.Sqrt(target.Cov(i, i)); math.Abs(mean-target.Mean[i]) > 5*sd/math.Sqrt(n) {
			t.Errorf("%s: mean %d is %v, want %v", name, i, mean, target.Mean[i])
		}
		for j := range i + 1 {
			cov := 0.0
			for _, x := range points {
				cov += (x[i] - target.Mean[i]) * (x[j] - target.Mean[j]) / n
			}
			want := target.Cov(i, j)
			se := math.Sqrt((target.Cov(i, i)*target.Cov(j, j) + want*want) / n)
			if math.Abs(cov-want) > 5*se {
				t.Errorf("%s: covariance %d, %d is %v, want %v", name, i, j, cov, want)
			}
		}
	}
}

// curvedNormal is a normal target with its exact Hessian.
type curvedNormal struct {
	*infertest.Normal
	precision *mat.SymDense
}

func withHessian(n *infertest.Normal) curvedNormal {
	cov := mat.NewSymDense(len(n.Mean), nil)
	for i := range n.Mean {
		for j := range i + 1 {
			cov.SetSym(i, j, n.Cov(i, j))
		}
	}
	var c mat.Cholesky
	c.Factorize(cov)
	precision := mat.NewSymDense(len(n.Mean), nil)
	if err := c.InverseTo(precision); err != nil {
		panic(err)
	}
	return curvedNormal{n, precision}
}

func (c curvedNormal) Hessian(_, h []float64) error {
	d := len(c.Mean)
	for i := range d {
		for j := range d {
			h[i*d+j] = -c.precision.At(i, j)
		}
	}
	return nil
}

func TestLaplace(t *testing.T) {
	normal := correlated([]float64{1, -2, 3}, []float64{1, 0.1, 5}, 0.8)
	exact := withHessian(normal)
	for name, target := range map[string]infer.LogDensity{"exact": exact, "differences": normal} {
		r, err := Laplace(context.Background(), target, normal.Mean, rand.New(rand.NewPCG(1, 2)), LaplaceOptions{Draws: 4000})
		if err != nil {
			t.Fatal(err)
		}
		if r.Exact != (name == "exact") {
			t.Errorf("%s: exact is %t", name, r.Exact)
		}
		for i, h := range r.Hessian {
			if want := -exact.precision.At(i/3, i%3); math.Abs(h-want) > 1e-8*max(1, math.Abs(want)) {
				t.Errorf("%s: Hessian[%d] = %v, want %v", name, i, h, want)
			}
		}
		moments(t, name, normal, r.Points)
		for i := range r.LogP { // the approximation is exact, up to a constant
			if got, want := r.LogP[i]-r.LogQ[i], r.LogP[0]-r.LogQ[0]; math.Abs(got-want) > 1e-6 {
				t.Fatalf("%s: draw %d: log p − log q = %v, and %v of the first", name, i, got, want)
			}
		}
		if _, k := r.Weights(); name == "exact" && !math.IsInf(k, -1) {
			t.Errorf("k = %v of an exact approximation", k)
		}
	}
	var no *MaximumError
	_, err := Laplace(context.Background(), infertest.Bimodal{D: 1, Distance: 6}, []float64{0}, rand.New(rand.NewPCG(1, 2)), LaplaceOptions{})
	if !errors.As(err, &no) || no.Curvature < 0 {
		t.Errorf("a minimum: %v", err)
	}
}

// TestInverse compares the inverse Hessian of a history with the recursion that defines it.
func TestInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ d, history int }{{3, 5}, {4, 2}, {9, 3}, {30, 5}, {5, 0}} {
		d := c.d
		x, g, alpha := make([]float64, d), make([]float64, d), make([]float64, d)
		for i := range d {
			x[i], g[i], alpha[i] = rng.NormFloat64(), rng.NormFloat64(), math.Exp(rng.NormFloat64())
		}
		h := mat.NewDense(d, d, nil)
		for i, a := range alpha {
			h.Set(i, i, a)
		}
		var steps, changes [][]float64
		for range c.history {
			s, y := make([]float64, d), make([]float64, d)
			for i := range d {
				s[i] = rng.NormFloat64()
				y[i] = s[i]*(1+rng.Float64()) + 0.1*rng.NormFloat64()
			}
			steps, changes = append(steps, s), append(changes, y)
			sv, yv := mat.NewVecDense(d, s), mat.NewVecDense(d, y)
			rho := 1 / mat.Dot(sv, yv)
			v := mat.NewDense(d, d, nil)
			v.Outer(-rho, sv, yv)
			for i := range d {
				v.Set(i, i, v.At(i, i)+1)
			}
			var left, next, outer mat.Dense
			left.Mul(v, h)
			next.Mul(&left, v.T())
			outer.Outer(rho, sv, sv)
			next.Add(&next, &outer)
			h.Copy(&next)
		}
		q := newInverse(x, g, alpha, steps, changes)
		if q == nil {
			t.Fatalf("%v: not positive definite", c)
		}
		// transform is affine, so its images of the unit vectors are the factor.
		factor := mat.NewDense(d, d, nil)
		zero := make([]float64, d)
		q.transform(make([]float64, d), zero)
		for j := range d {
			z, image := make([]float64, d), make([]float64, d)
			z[j] = 1
			q.transform(z, image)
			for i := range d {
				factor.Set(i, j, image[i]-zero[i])
			}
		}
		var cov mat.Dense
		cov.Mul(factor, factor.T())
		for i := range d {
			step := 0.0
			for j := range d {
				if math.Abs(cov.At(i, j)-h.At(i, j)) > 1e-9*mat.Max(h) {
					t.Fatalf("%v: element %d, %d is %v, want %v", c, i, j, cov.At(i, j), h.At(i, j))
				}
				step += h.At(i, j) * g[j]
			}
			if want := x[i] - step; math.Abs(zero[i]-want) > 1e-9*max(1, math.Abs(want)) || math.Abs(q.mean[i]-want) > 1e-9*max(1, math.Abs(want)) {
				t.Fatalf("%v: mean %d is %v and %v, want %v", c, i, zero[i], q.mean[i], want)
			}
		}
		if logDet, _ := mat.LogDet(h); math.Abs(q.logScale()-logDet/2) > 1e-8 {
			t.Errorf("%v: log scale %v, want %v", c, q.logScale(), logDet/2)
		}
	}
}

func TestPathfinder(t *testing.T) {
	for _, target := range []*infertest.Normal{
		correlated([]float64{1, -2}, []float64{1, 0.1}, 0.8),
		correlated(make([]float64, 20), []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0),
	} {
		r, err := Pathfinder(context.Background(), target, PathfinderOptions{Seed: 1, Resampled: 2000})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Points) != 2000 || !r.Resampled || len(r.Candidates.Points) != 4000 || len(r.Paths) != 4 {
			t.Errorf("%d draws of %d, %d paths", len(r.Points), len(r.Candidates.Points), len(r.Paths))
		}
		if len(target.Mean) == 2 {
			if r.K > 0.7 {
				t.Errorf("k = %v", r.K)
			}
			// Resampling makes draws alike: twenty times as few count.
			moments(t, "pathfinder", target, r.Points[:100])
		}
		again, err := Pathfinder(context.Background(), target, PathfinderOptions{Seed: 1, Resampled: 2000})
		if err != nil || fmt.Sprint(again.Points) != fmt.Sprint(r.Points) {
			t.Errorf("the same seed gives other draws (%v)", err)
		}
		starts := r.Starts(1, 8)
		seen := map[string]bool{}
		for _, x := range starts.Positions {
			seen[fmt.Sprint(x)] = true
		}
		for i, x := range starts.Positions {
			of := r.Paths[starts.Origins[i]]
			if !slices.ContainsFunc(of.Points, func(y []float64) bool { return slices.Equal(x, y) }) {
				t.Errorf("start %d does not come from path %d", i+1, starts.Origins[i]+1)
			}
		}
		if len(starts.Positions) != 8 || len(seen) != 8 {
			t.Errorf("%d starting points, %d different ones", len(starts.Positions), len(seen))
		}
	}
	none, err := Pathfinder(context.Background(), infertest.Logistic{D: 0}, PathfinderOptions{})
	if err != nil || len(none.Points) != 1000 {
		t.Errorf("no parameters: %v", err)
	}
	// A log density without a mode: the path ends somewhere, and k shows it.
	r, err := Pathfinder(context.Background(), infertest.Funnel{D: 3}, PathfinderOptions{Seed: 2})
	if err == nil && len(r.Points) != 1000 {
		t.Errorf("funnel: %d draws", len(r.Points))
	}
	if _, err = Pathfinder(context.Background(), edge{new(int)}, PathfinderOptions{Seed: 2, Init: infer.At{Positions: [][]float64{{-1, 0}}}}); !errors.As(err, new(*infer.InitError)) {
		t.Errorf("no start: %v", err)
	}
}

// shifted has a known constant added, so that relative changes of it are small.
type shifted struct{ infer.LogDensity }

func (s shifted) LogDensityGrad(x, grad []float64) (float64, error) {
	lp, err := s.LogDensity.LogDensityGrad(x, grad)
	return lp - 100, err
}

func TestVariational(t *testing.T) {
	normal := correlated([]float64{1, -2}, []float64{1, 0.5}, 0.7)
	// Of a normal target, the mean field has the conditional variances; the full rank is
	// exact.
	exact := withHessian(normal)
	for _, f := range []Family{MeanField, FullRank} {
		told := 0
		r, err := Variational(context.Background(), shifted{normal}, []float64{0, 0}, rand.New(rand.NewPCG(5, 6)), VariationalOptions{
			Family: f, GradientDraws: 20, TolRelObj: 2e-4, ELBODraws: 1000, Draws: 2000, Progress: func(ELBO) { told++ },
		})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Converged || told == 0 || len(r.Points) != 2000 {
			t.Errorf("%s: converged %t after %d, told %d times, %d draws", f, r.Converged, r.Iterations, told, len(r.Points))
		}
		for i, m := range normal.Mean {
			sd := 1 / math.Sqrt(exact.precision.At(i, i))
			if f == FullRank {
				sd = math.Sqrt(normal.Cov(i, i))
			}
			if math.Abs(r.Mean[i]-m) > 0.1*sd || math.Abs(r.SD[i]/sd-1) > 0.1 {
				t.Errorf("%s: coordinate %d has mean %v and sd %v, want %v and %v", f, i, r.Mean[i], r.SD[i], m, sd)
			}
		}
	}
}

// steep is the log density of the logarithm u of a scale, given a number that is large:
// -½(c/eᵘ)² - u, where eᵘ is a number.
type steep struct{ c float64 }

func (steep) Dim() int { return 1 }

func (s steep) LogDensityGrad(x, grad []float64) (float64, error) {
	scale := math.Exp(x[0])
	if math.IsInf(scale, 1) {
		return 0, errors.New("the scale is infinite")
	}
	z := s.c / scale
	grad[0] = z*z - 1
	return -0.5*z*z - x[0], nil
}

// From a start so steep that every step that Stan tries ends where nothing can be
// evaluated, a short step leads on.
func TestSteepStart(t *testing.T) {
	for _, algorithm := range Algorithms() {
		r, err := Maximize(context.Background(), steep{1e6}, []float64{0}, Options{Algorithm: algorithm})
		if err != nil || !r.Reason.Converged() || math.Abs(r.X[0]-math.Log(1e6)) > 1e-3 {
			t.Errorf("%s: %v, %v, %v", algorithm, r.X, r.Reason, err)
		}
	}
}

// cliff is a density that rises to an edge and is far lower beyond: no step along it
// satisfies the conditions of the line search, and the interval in which it looks for
// one shrinks to two neighbouring numbers.
type cliff struct {
	at    float64
	calls *int
}

func (cliff) Dim() int { return 1 }
func (c cliff) LogDensityGrad(x, grad []float64) (float64, error) {
	if *c.calls++; *c.calls > 2000 {
		return 0, fmt.Errorf("%w: the line search does not end", infer.ErrFatal)
	}
	if grad[0] = 1; x[0] > c.at {
		return -1000, nil
	}
	return x[0], nil
}

// A line search ends where no number lies between those that it has tried, however far
// apart these are. (Stan's ends when they differ by less than 1e-16, which numbers above
// one never do.)
func TestCliff(t *testing.T) {
	for _, at := range []float64{1.1, 1e6 + 0.1, 1e15 / 3} {
		for _, algorithm := range []Algorithm{LBFGS, BFGS} {
			r, err := Maximize(context.Background(), cliff{at, new(int)}, []float64{0}, Options{Algorithm: algorithm, InitAlpha: at / 3})
			if err != nil || r.Reason != LineSearchFailed {
				t.Errorf("edge at %v, %s: %+v, %v", at, algorithm, r, err)
			}
		}
	}
}

// TestNothing checks that missing arguments are errors.
func TestNothing(t *testing.T) {
	var none context.Context
	ctx, rng := t.Context(), rand.New(rand.NewPCG(1, 1))
	for i, f := range []func() error{
		func() error { _, err := Maximize(ctx, nil, nil, Options{}); return err },
		func() error { _, err := Laplace(ctx, nil, nil, rng, LaplaceOptions{}); return err },
		func() error { _, err := Pathfinder(ctx, nil, PathfinderOptions{}); return err },
		func() error { _, err := FollowPath(ctx, nil, nil, rng, PathOptions{}); return err },
		func() error {
			_, err := Variational(ctx, nil, nil, rng, VariationalOptions{})
			return err
		},
		func() error { _, err := FindTypical(ctx, nil, nil, rng, 1, nil); return err },
		func() error {
			_, err := Maximize(none, infertest.Funnel{}, nil, Options{})
			return err
		},
		func() error {
			_, err := Laplace(ctx, infertest.Funnel{}, nil, nil, LaplaceOptions{})
			return err
		},
	} {
		if f() == nil {
			t.Errorf("%d: no error", i)
		}
	}
}

// scaled is a normal distribution of independent coordinates, each twice as wide as the one before,
// up to the eighth; later ones are as wide as the eighth.
type scaled int

func (d scaled) Dim() int { return int(d) }
func (d scaled) LogDensityGrad(x, grad []float64) (lp float64, _ error) {
	for i, v := range x {
		precision := math.Pow(4, -float64(min(i, 7)))
		grad[i] = -precision * v
		lp += 0.5 * grad[i] * v
	}
	return lp, nil
}

// TestClimbKeeps checks the number of steps that climbs return, on both sides of its bounds.
func TestClimbKeeps(t *testing.T) {
	for _, c := range []struct{ d, want int }{
		{0, maxKept / 2}, {1, maxKept / 2}, {2, maxKept / 4},
		{maxKept / 2 / (minKept + 1), minKept + 1}, {maxKept / 2 / minKept, minKept}, {maxKept/2/minKept + 1, minKept}, {maxKept, minKept},
	} {
		if got := keptSteps(c.d); got != c.want {
			t.Errorf("%d dimensions: %d steps, want %d", c.d, got, c.want)
		}
	}
	for _, d := range []int{1, 2, 9} {
		x := slices.Repeat([]float64{300}, d)
		steps := 0
		a, err := FindTypical(t.Context(), scaled(d), x, rand.New(rand.NewPCG(1, 1)), 100, func([]float64) { steps++ })
		if err != nil || len(a.Steps) != steps || len(a.Changes) != steps {
			t.Errorf("%d dimensions: FindTypical returns %d of %d steps (%v)", d, len(a.Steps), steps, err)
		}
		steps = 0
		a, err = FindTop(t.Context(), scaled(d), x, 100, func([]float64, float64) bool { steps++; return false })
		if err != nil || len(a.Steps) != min(steps, 6) || len(a.Changes) != len(a.Steps) || d == 9 && steps <= 6 {
			t.Errorf("%d dimensions: FindTop returns %d of %d steps (%v)", d, len(a.Steps), steps, err)
		}
	}
}

// TestArrives climbs from draws of normal distributions with one scale. There, L-BFGS may reach the
// mode exactly, and its next step cannot gain anything. The climb must still count.
func TestArrives(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for _, d := range []int{1, 2, 20} {
		for _, scale := range []float64{0.5, 1, 2} {
			mean, scales := make([]float64, d), slices.Repeat([]float64{scale}, d)
			for i := range mean {
				mean[i] = -4
			}
			target := correlated(mean, scales, 0)
			for range 20 {
				x := slices.Clone(mean)
				for i := range x {
					x[i] += scale * rng.NormFloat64()
				}
				a, err := FindTop(t.Context(), target, x, 1000, func([]float64, float64) bool { return false })
				if err != nil || !a.Climbed || floats.Distance(a.X, mean, 2) > 0.2*scale*math.Sqrt(float64(d)) {
					t.Fatalf("%d dimensions, scale %v: from %v to %v, arrived %v (%v)", d, scale, x, a.X, a.Climbed, err)
				}
			}
		}
	}
}
