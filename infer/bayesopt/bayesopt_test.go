package bayesopt

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func testGrid() Grid {
	return Grid{LogAxis(0.01, 0.2, 12), IntegerAxis(1, 40, 9)}
}

// dense evaluates the posterior at all points directly by the printed formulas (with the kernel of
// differences): it merges nothing, updates nothing incrementally, and has one row per observation.
func dense(grid Grid, points []int, rewards []float64) (mean, variance []float64) {
	coordinates := func(point int) []float64 {
		x := grid.Point(point)
		return []float64{math.Log(x[0]), x[1]}
	}
	ranges := []float64{math.Log(0.2) - math.Log(0.01), 39}
	k := func(a, b int) float64 {
		x, y := coordinates(a), coordinates(b)
		sum := 0.0
		for j := range x {
			z := (x[j] - y[j]) / (0.2 * ranges[j])
			sum += z * z
		}
		return 25 * math.Exp(-sum/2)
	}
	n := len(points)
	K := mat.NewSymDense(n, nil)
	v := mat.NewDense(n, grid.Size(), nil)
	for i, a := range points {
		for j := i; j < n; j++ {
			K.SetSym(i, j, k(a, points[j]))
		}
		K.SetSym(i, i, k(a, a)+0.1)
		for at := range grid.Size() {
			v.Set(i, at, k(at, a))
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(K) {
		panic("not positive definite")
	}
	var solved mat.Dense
	if err := factor.SolveTo(&solved, v); err != nil {
		panic(err)
	}
	for at := range grid.Size() {
		mean = append(mean, mat.Dot(solved.ColView(at), mat.NewVecDense(n, rewards)))
		variance = append(variance, 25-mat.Dot(solved.ColView(at), v.ColView(at)))
	}
	return mean, variance
}

// TestPosterior checks that the computation that merges observations and updates incrementally
// gives the posterior of the unmerged observations, even after many of them and a rebuild.
func TestPosterior(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	grid := testGrid()
	o, err := New(grid, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var points []int
	var rewards []float64
	for i := range 420 {
		point := rng.IntN(grid.Size())
		if i%3 > 0 && i > 0 { // repeat an earlier point, like a chain that keeps its setting
			point = points[rng.IntN(len(points))]
		}
		r := rng.ExpFloat64() * 3
		points, rewards = append(points, point), append(rewards, r)
		if err := o.Observe(point, r); err != nil {
			t.Fatal(err)
		}
		if i%7 == 0 {
			o.process.refresh() // after different numbers of new observations
		}
		if i != 0 && i != 1 && i != 30 && i != 200 && i != 419 {
			continue
		}
		wantMean, wantVariance := dense(grid, points, rewards)
		for at := range grid.Size() {
			mean, variance := o.process.posterior(at)
			if math.Abs(mean-wantMean[at]) > 1e-9 || math.Abs(variance-wantVariance[at]) > 1e-9 {
				t.Fatalf("after %d observations, point %d: mean %v, variance %v, want %v, %v",
					i+1, at, mean, variance, wantMean[at], wantVariance[at])
			}
		}
	}
	if o.Observations() != 420 || o.Distinct() > grid.Size() {
		t.Errorf("%d observations of %d points", o.Observations(), o.Distinct())
	}
}

// TestDrift checks that thousands of updates do not degrade the posterior.
func TestDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	grid := testGrid()
	p := newProcess(grid, 25, 0.1, []float64{0.2 * math.Log(20), 0.2 * 39})
	for range 3000 {
		p.observe(rng.IntN(grid.Size()), rng.Float64())
		p.refresh()
	}
	updated := slices.Clone(p.explain)
	p.rebuild()
	for g, v := range p.explain {
		if math.Abs(v-updated[g]) > 1e-9 {
			t.Fatalf("point %d: %v after updates, %v afresh", g, updated[g], v)
		}
	}
}

// TestNext compares the choice with a direct evaluation of the acquisition function, for all
// options.
func TestNext(t *testing.T) {
	grid := testGrid()
	for _, options := range []Options{
		{}, {Annealing: AnnealBeta}, {Annealing: AnnealNone}, {Width: WidthVariance}, {Time: TimeObserved}, {Scale: ScaleReleased},
	} {
		rng := rand.New(rand.NewPCG(5, 6))
		o, err := New(grid, options)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Next(1); got != 0 {
			t.Errorf("without observations the next point is %d", got)
		}
		var points []int
		var rewards []float64
		next := 0
		for i := 1; i <= 25; i++ {
			r := 100 * rng.Float64()
			points, rewards = append(points, next), append(rewards, r)
			if err := o.Observe(next, r); err != nil {
				t.Fatal(err)
			}
			p := 1 / math.Sqrt(float64(max(i-9, 1)))
			s := 4 / slices.Max(rewards)
			if options.Scale == ScaleReleased && slices.Max(rewards) == rewards[0] {
				s = 1
			}
			time := float64(i + 1)
			if options.Time == TimeObserved {
				time = float64(i)
			}
			beta := 2 * math.Log(math.Pow(time, 3)*math.Pi*math.Pi/(3*0.1)) // d = 2
			want, largest := -1, math.Inf(-1)
			mean, variance := dense(grid, points, rewards)
			for at := range grid.Size() {
				width, weight := math.Sqrt(variance[at]), p*math.Sqrt(beta)
				if options.Width == WidthVariance {
					width = variance[at]
				}
				switch options.Annealing {
				case AnnealBeta:
					weight = math.Sqrt(p * beta)
				case AnnealNone:
					weight = math.Sqrt(beta)
				}
				if u := s*mean[at] + weight*width; u > largest+1e-9 {
					want, largest = at, u
				}
			}
			if math.Abs(o.Scale()-s) > 1e-12*s || math.Abs(o.Beta()-beta) > 1e-12*beta {
				t.Fatalf("%+v, i = %d: s = %v, beta = %v, want %v, %v", options, i, o.Scale(), o.Beta(), s, beta)
			}
			if next = o.Next(p); next != want {
				t.Fatalf("%+v, i = %d: point %d, want %d", options, i, next, want)
			}
		}
	}
}

// TestScaleInvariance checks that multiplying all rewards by a constant changes nothing.
func TestScaleInvariance(t *testing.T) {
	run := func(unit float64) []int {
		o, err := New(testGrid(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(7, 8))
		var path []int
		point := 0
		for i := range 150 {
			x := o.Grid().Point(point)
			z := math.Log(x[0] / 0.08)
			f := math.Exp(-z*z) * math.Sqrt(x[1]) / (1 + x[1]/20)
			if err := o.Observe(point, unit*(f+0.1*rng.Float64())); err != nil {
				t.Fatal(err)
			}
			point = o.Next(1 / math.Sqrt(float64(max(i-80, 1))))
			path = append(path, point)
		}
		if p, r, ok := o.Best(); !ok || r <= 0 || p < 0 {
			t.Errorf("best %v %v", p, r)
		}
		return path
	}
	want := run(1)
	for _, unit := range []float64{0x1p60, 0x1p-60, 1e-3, 12345} {
		if got := run(unit); !slices.Equal(got, want) {
			t.Errorf("rewards times %v lead elsewhere", unit)
		}
	}
}

// TestFindsMaximum checks that the search ends near the maximum if exploration is annealed.
func TestFindsMaximum(t *testing.T) {
	f := func(x []float64) float64 {
		a, b := math.Log(x[0]/0.1)/0.8, (x[1]-25)/12
		return 7 * math.Exp(-a*a-b*b)
	}
	grid := Grid{LogAxis(0.01, 0.2, 40), IntegerAxis(1, 100, 64)}
	o, err := New(grid, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 10))
	point := 0
	for i := range 200 {
		if err := o.Observe(point, max(0, f(grid.Point(point))+0.3*rng.NormFloat64())); err != nil {
			t.Fatal(err)
		}
		point = o.Next(1 / math.Sqrt(float64(max(i-99, 1))))
	}
	if x := grid.Point(o.Next(0)); f(x) < 0.95*7 {
		t.Errorf("settled at %v, where f = %v", x, f(x))
	}
	surface := o.Surface()
	if len(surface) != grid.Size() {
		t.Fatalf("a surface of %d points", len(surface))
	}
	b := surface[o.Next(0)]
	if math.Abs(b.Mean-7) > 0.5 || b.SD > 0.7 || b.SD <= 0 {
		t.Errorf("belief at the maximum %+v", b)
	}
	count := 0
	for _, b := range surface {
		count += b.Observations
		if (b.Observations == 0) != math.IsNaN(b.Average) {
			t.Fatalf("belief %+v", b)
		}
	}
	if count != 200 {
		t.Errorf("%d observations on the surface", count)
	}
}

func TestGuards(t *testing.T) {
	grid := testGrid()
	o, err := New(grid, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if o.Observe(0, r) == nil {
			t.Errorf("took a reward of %v", r)
		}
	}
	if o.Observe(-1, 1) == nil || o.Observe(grid.Size(), 1) == nil {
		t.Error("took a point outside the grid")
	}
	if o.Observations() != 0 {
		t.Error("counted what it refused")
	}
	// All rewards are zero (every proposal was rejected), then one is tiny.
	for point := range 5 {
		if err := o.Observe(point, 0); err != nil || o.Scale() != 1 {
			t.Errorf("%v, s = %v", err, o.Scale())
		}
		o.Next(1)
	}
	if err := o.Observe(7, 5e-324); err != nil || o.Scale() != 1 { // 4/5e-324 overflows
		t.Errorf("%v, s = %v", err, o.Scale())
	}
	if err := o.Observe(7, 1e-300); err != nil || !(math.Abs(o.Scale()/4e300-1) < 1e-12) {
		t.Errorf("%v, s = %v", err, o.Scale())
	}
	for _, bad := range []Options{{SignalVariance: -1}, {NoiseVariance: math.NaN()}, {Delta: 1}, {LengthScale: math.Inf(1)}, {Scale: 7}, {Width: -1}} {
		if _, err := New(grid, bad); err == nil {
			t.Errorf("took %+v", bad)
		}
	}
	for _, bad := range []Grid{nil, {{}}, {{Values: []float64{2, 1}}}, {{Values: []float64{0, 1}, Log: true}}, {{Values: []float64{math.NaN()}}}} {
		if _, err := New(bad, Options{}); err == nil {
			t.Errorf("took %+v", bad)
		}
	}
	// A grid of one point leaves no choice, but is not an error.
	one, err := New(Grid{LogAxis(0.1, 0.1, 9), IntegerAxis(5, 5, 9)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Observe(0, 3); err != nil || one.Next(1) != 0 || one.Grid().Size() != 1 {
		t.Errorf("a grid of one point: %v", err)
	}
}

func TestAxes(t *testing.T) {
	if got := IntegerAxis(1, 5, 9).Values; !slices.Equal(got, []float64{1, 2, 3, 4, 5}) {
		t.Errorf("%v", got)
	}
	a := IntegerAxis(1, 300, 64)
	if a.Values[0] != 1 || a.Values[63] != 300 || len(a.Values) != 64 || a.validate() != nil {
		t.Errorf("%v", a.Values)
	}
	b := LogAxis(0.01, 0.2, 3)
	if b.Values[0] != 0.01 || b.Values[2] != 0.2 || math.Abs(b.Values[1]-math.Sqrt(0.002)) > 1e-15 {
		t.Errorf("%v", b.Values)
	}
	g := Grid{b, a}
	if p := g.Point(3*7 + 1); p[0] != b.Values[1] || p[1] != a.Values[7] {
		t.Errorf("%v", p)
	}
}

// BenchmarkTuning measures the whole search of a chain of the paper's length: 600 batches, about
// 140 of which choose a new point.
func BenchmarkTuning(b *testing.B) {
	grid := Grid{LogAxis(0.01, 0.2, 40), IntegerAxis(1, 100, 64)}
	for b.Loop() {
		o, err := New(grid, Options{})
		if err != nil {
			b.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		point := 0
		for i := range 600 {
			o.Observe(point, rng.Float64())
			p := 1 / math.Sqrt(float64(max(i-99, 1)))
			if rng.Float64() < p {
				point = o.Next(p)
			}
		}
	}
}

// TestScaleRange checks that rewards may have either sign, and that their unit and origin do not
// matter: an affine transformation of the rewards does not change the choices, up to rounding. The
// surface is in the unit of the rewards.
func TestScaleRange(t *testing.T) {
	f := func(x []float64) float64 { return -math.Pow(math.Log(x[0]/0.08), 2) - math.Pow((x[1]-22)/20, 2) }
	var choices [2][]int
	for variant, affine := range []func(float64) float64{func(v float64) float64 { return v }, func(v float64) float64 { return 1e3*v - 5e6 }} {
		o, err := New(testGrid(), Options{Scale: ScaleRange})
		if err != nil {
			t.Fatal(err)
		}
		point := 0
		for range 40 {
			if err := o.Observe(point, affine(f(o.Grid().Point(point)))); err != nil {
				t.Fatal(err)
			}
			point = o.Next(1)
			choices[variant] = append(choices[variant], point)
		}
		best := o.Next(0)
		if x := o.Grid().Point(best); math.Abs(math.Log(x[0]/0.08)) > 0.3 || math.Abs(x[1]-22) > 6 {
			t.Errorf("the maximum is sought at %v", x)
		}
		if b := o.Surface()[best]; math.Abs(b.Mean-affine(f(b.Coordinates))) > 0.3*(affine(1)-affine(0)) {
			t.Errorf("believed to be %v, is %v", b.Mean, affine(f(b.Coordinates)))
		}
	}
	if !slices.Equal(choices[0], choices[1]) {
		t.Errorf("choices depend on the unit: %v, %v", choices[0], choices[1])
	}
}

// TestNearest checks that each coordinate of the nearest point is the nearest value on its axis, on
// the axis's scale.
func TestNearest(t *testing.T) {
	g := Grid{LogAxis(0.01, 1, 3), IntegerAxis(1, 9, 9)}
	for _, c := range []struct {
		at   []float64
		want int
	}{{[]float64{0, 0}, 0}, {[]float64{0.05, 4}, 1 + 3*3}, {[]float64{0.03, 100}, 8 * 3}, {[]float64{7, 1}, 2}} {
		if got := g.Nearest(c.at...); got != c.want {
			t.Errorf("%v: %d, not %d", c.at, got, c.want)
		}
	}
}
