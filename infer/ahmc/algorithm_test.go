package ahmc

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/bayesopt"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// fault is a deliberate error in the reference.
type fault string

const (
	sound        fault = ""
	wrongScale   fault = "s = 1 for ever"
	wrongP       fault = "p_i = max(i-k, 1)^(-1/2)"
	wrongAnneal  fault = "no p in the acquisition"
	wrongBatch   fault = "batches of m+1"
	wrongReward  fault = "L, not its root"
	wrongBeta    fault = "i in beta"
	wrongData    fault = "only new settings observed"
	wrongLinear  fault = "linear step size"
	wrongGreater fault = "s follows the last reward"
)

// reference is a direct implementation of Algorithm 2: simple loops, dense formulas for the
// Gaussian process without merging or increments, and package hmc for Algorithm 1. It returns the
// positions and the settings of the batches.
func reference(t *testing.T, target infer.LogDensity, box Box, m, k, iterations int, f fault) (positions []float64, settings [][2]float64) {
	t.Helper()
	h, err := hmc.NewEuclidean(target, infer.Metric{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(11, 12))
	z := infer.NewPoint(target.Dim())
	if err := h.Reset(z); err != nil {
		t.Fatal(err)
	}
	if f == wrongBatch {
		m++
	}
	// Γ, step sizes fastest.
	var grid [][2]float64
	for l := box.MinSteps; l <= box.MaxSteps; l++ {
		for e := range 10 {
			eps := box.MinStepSize * math.Pow(box.MaxStepSize/box.MinStepSize, float64(e)/9)
			if f == wrongLinear {
				eps = box.MinStepSize + (box.MaxStepSize-box.MinStepSize)*float64(e)/9
			}
			switch e { // exact, as in the package
			case 0:
				eps = box.MinStepSize
			case 9:
				eps = box.MaxStepSize
			}
			grid = append(grid, [2]float64{eps, float64(l)})
		}
	}
	covariance := func(a, b [2]float64) float64 {
		x := (math.Log(a[0]) - math.Log(b[0])) / (0.2 * math.Log(box.MaxStepSize/box.MinStepSize))
		y := (a[1] - b[1]) / (0.2 * float64(box.MaxSteps-box.MinSteps))
		return 25 * math.Exp(-0.5*(x*x+y*y))
	}
	algorithm1 := &hmc.Kernel{}
	gamma := grid[0]
	s := 1.0
	var data [][2]float64
	var rewards []float64
	for i := 1; (i-1)*m < iterations; i++ {
		settings = append(settings, gamma)
		sum := 0.0
		for range m {
			algorithm1.Steps = int(gamma[1])
			next, info, err := algorithm1.Transition(rng, h, nearest(box, gamma[0], f), z)
			if err != nil {
				t.Fatal(err)
			}
			d := 0.0
			for c := range z.Position {
				e := info.Proposal.Position[c] - z.Position[c]
				d += e * e
			}
			sum += info.AcceptStat * d
			z = next
			positions = append(positions, z.Position...)
		}
		r := sum / math.Sqrt(gamma[1]) / float64(m)
		if f == wrongReward {
			r = sum / gamma[1] / float64(m)
		}
		if r > slices.Max(append(rewards, math.Inf(-1))) || f == wrongGreater {
			s = 4 / r
		}
		if f == wrongScale {
			s = 1
		}
		if f != wrongData || !slices.Contains(data, gamma) {
			data, rewards = append(data, gamma), append(rewards, r)
		}
		u := rng.Float64()
		p := 1 / math.Sqrt(float64(max(i-k+1, 1)))
		if f == wrongP {
			p = 1 / math.Sqrt(float64(max(i-k, 1)))
		}
		if u >= p {
			continue
		}
		n := len(data)
		K := mat.NewSymDense(n, nil)
		for a := range data {
			for b := a; b < n; b++ {
				K.SetSym(a, b, covariance(data[a], data[b]))
			}
			K.SetSym(a, a, 25+0.1)
		}
		var factor mat.Cholesky
		if !factor.Factorize(K) {
			t.Fatal("K is not positive definite")
		}
		cross := mat.NewDense(n, len(grid), nil)
		for a := range data {
			for g := range grid {
				cross.Set(a, g, covariance(data[a], grid[g]))
			}
		}
		var solved mat.Dense
		if err := factor.SolveTo(&solved, cross); err != nil {
			t.Fatal(err)
		}
		time := float64(i + 1)
		if f == wrongBeta {
			time = float64(i)
		}
		beta := 2 * math.Log(math.Pow(time, 2.0/2+2)*math.Pi*math.Pi/(3*0.1))
		anneal := p
		if f == wrongAnneal {
			anneal = 1
		}
		best := math.Inf(-1)
		for g := range grid {
			mean := mat.Dot(solved.ColView(g), mat.NewVecDense(n, rewards))
			variance := 25 - mat.Dot(solved.ColView(g), cross.ColView(g))
			if acquisition := s*mean + anneal*math.Sqrt(beta)*math.Sqrt(variance); acquisition > best+1e-7 {
				best, gamma = acquisition, grid[g]
			}
		}
	}
	return positions, settings
}

// nearest rounds a step size to the package's own value of it, so that positions can be compared
// exactly.
func nearest(box Box, eps float64, f fault) float64 {
	if f == wrongLinear {
		return eps
	}
	for _, v := range bayesopt.LogAxis(box.MinStepSize, box.MaxStepSize, 10).Values {
		if math.Abs(v/eps-1) < 1e-9 {
			return v
		}
	}
	return eps
}

// TestAlgorithm compares the kernel with the reference, position by position. It checks that each
// fault in the reference changes the positions.
func TestAlgorithm(t *testing.T) {
	target := infertest.AR1(2, 0.8)
	box := Box{0.05, 1.2, 1, 12}
	const m, k, iterations = 4, 12, 4 * 90
	options := Sampler{Box: box, StepSizePoints: 10, StepsPoints: 12}.withDefaults()
	h, err := hmc.NewEuclidean(target, infer.Metric{})
	if err != nil {
		t.Fatal(err)
	}
	kernel := newKernel(options, infer.NewMeter(target))
	if err := kernel.begin(box, m, k, h); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(11, 12))
	z := infer.NewPoint(2)
	if err := h.Reset(z); err != nil {
		t.Fatal(err)
	}
	var positions []float64
	for range iterations {
		if z, _, err = kernel.Transition(rng, h, 77, z); err != nil { // 77: not used
			t.Fatal(err)
		}
		positions = append(positions, z.Position...)
	}
	want, settings := reference(t, target, box, m, k, iterations, sound)
	if !slices.Equal(positions, want) {
		t.Errorf("the positions differ from those of the script")
	}
	batches := kernel.Batches()
	if len(batches) != 90 {
		t.Fatalf("%d batches", len(batches))
	}
	for i, b := range batches {
		if b.Number != i+1 || math.Abs(b.StepSize/settings[i][0]-1) > 1e-9 || float64(b.Steps) != settings[i][1] {
			t.Fatalf("batch %d: %+v, the script has %v", i+1, b, settings[i])
		}
		if want := 1 / math.Sqrt(float64(max(i+1-k+1, 1))); b.Probability != want {
			t.Errorf("batch %d: p = %v, want %v", i+1, b.Probability, want)
		}
	}
	if batches[0].StepSize != 0.05 || batches[0].Steps != 1 {
		t.Errorf("the first setting is %+v, not the cheapest corner", batches[0])
	}
	distinct := map[[2]float64]bool{}
	for _, s := range settings {
		distinct[s] = true
	}
	if len(distinct) < 10 {
		t.Errorf("only %d settings visited: the comparison is weak", len(distinct))
	}
	for _, f := range []fault{wrongScale, wrongP, wrongAnneal, wrongBatch, wrongReward, wrongBeta, wrongData, wrongLinear, wrongGreater} {
		if faulty, _ := reference(t, target, box, m, k, iterations, f); slices.Equal(faulty[:min(len(faulty), len(positions))], positions) {
			t.Errorf("the comparison does not see the fault %q", f)
		}
	}
}

// TestRadiusBefore checks that the compact set also applies before tuning begins.
func TestRadiusBefore(t *testing.T) {
	target := infertest.AR1(1, 0)
	h, err := hmc.NewEuclidean(target, infer.Metric{})
	if err != nil {
		t.Fatal(err)
	}
	kernel := newKernel(Sampler{Radius: 0.5}.withDefaults(), infer.NewMeter(target))
	rng := rand.New(rand.NewPCG(3, 3))
	z := infer.NewPoint(1)
	if err := h.Reset(z); err != nil {
		t.Fatal(err)
	}
	moves := 0
	for range 200 {
		next, _, err := kernel.Transition(rng, h, 0.3, z)
		if err != nil {
			t.Fatal(err)
		}
		if next != z {
			moves++
		}
		if z = next; math.Abs(z.Position[0]) > 0.5 {
			t.Fatalf("a draw at %v", z.Position)
		}
	}
	if moves < 20 {
		t.Errorf("%d moves", moves)
	}
}

// oneBatch makes a kernel and executes one batch.
func oneBatch(t *testing.T, options Sampler, h infer.Hamiltonian, target infer.LogDensity, m int) (Batch, []infer.Info, [][]float64) {
	t.Helper()
	options = options.withDefaults()
	var err error
	kernel := newKernel(options, infer.NewMeter(target))
	if err := kernel.begin(options.Box, m, 100, h); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	z := infer.NewPoint(target.Dim())
	if err := h.Reset(z); err != nil {
		t.Fatal(err)
	}
	var infos []infer.Info
	positions := [][]float64{slices.Clone(z.Position)}
	for range m {
		var info infer.Info
		if z, info, err = kernel.Transition(rng, h, 1, z); err != nil {
			t.Fatal(err)
		}
		info.Proposal = &infer.Point{Position: slices.Clone(info.Proposal.Position)}
		infos = append(infos, info)
		positions = append(positions, slices.Clone(z.Position))
	}
	return kernel.Batches()[0], infos, positions
}

// TestRewards compares the objective of one batch with its definition, for all options and kinds of
// metric.
func TestRewards(t *testing.T) {
	target := infertest.AR1(2, 0.5)
	box := Box{0.6, 0.6, 7, 7}
	const m = 6
	dense := []float64{2, 0.5, 0.5, 1}
	inverseOfDense := []float64{1 / 1.75, -0.5 / 1.75, -0.5 / 1.75, 2 / 1.75}
	for _, metric := range []struct {
		m infer.Metric
		w []float64 // M
	}{
		{infer.Metric{Kind: infer.Unit, Dim: 2}, []float64{1, 0, 0, 1}},
		{infer.Metric{Kind: infer.Diagonal, Dim: 2, Inverse: []float64{4, 0.25}}, []float64{0.25, 0, 0, 4}},
		{infer.Metric{Kind: infer.Dense, Dim: 2, Inverse: dense}, inverseOfDense},
	} {
		for _, reward := range []Reward{SquaredJump{}, SquaredJump{Realised: true}, SquaredJump{Sum: true}, Distance{}, Distance{Realised: true}} {
			for cost := CostSqrtSteps; cost <= CostDrawn; cost++ {
				h, err := hmc.NewEuclidean(target, metric.m)
				if err != nil {
					t.Fatal(err)
				}
				b, infos, x := oneBatch(t, Sampler{Box: box, Reward: reward, Cost: cost}, h, target, m)
				_, distance := reward.(Distance)
				square := func(x, y []float64) float64 {
					d0, d1 := x[0]-y[0], x[1]-y[1]
					d := metric.w[0]*d0*d0 + 2*metric.w[1]*d0*d1 + metric.w[3]*d1*d1
					if distance {
						return math.Sqrt(d)
					}
					return d
				}
				sum, leapfrogs := 0.0, 0
				for i, info := range infos {
					leapfrogs += info.Leapfrogs
					if reward == (SquaredJump{Realised: true}) || reward == (Distance{Realised: true}) {
						sum += square(x[i+1], x[i])
					} else {
						sum += info.AcceptStat * square(info.Proposal.Position, x[i])
					}
				}
				if reward != (SquaredJump{Sum: true}) {
					sum /= m
				}
				want := sum / []float64{math.Sqrt(7), 7, math.Sqrt(float64(leapfrogs) / m), float64(leapfrogs) / m}[cost]
				if math.Abs(b.Reward-want) > 1e-12*want || want == 0 || b.Leapfrogs != leapfrogs {
					t.Errorf("%s, reward %+v, cost %v: %+v, want %v", metric.m.Kind, reward, cost, b, want)
				}
			}
		}
	}
}

// cliff is a normal density whose program fails in one of several ways where
// x > 1.
type cliff struct{ how string }

func (cliff) Dim() int                         { return 1 }
func (c cliff) CloneDensity() infer.LogDensity { return c }
func (c cliff) LogDensityGrad(x, grad []float64) (float64, error) {
	grad[0] = -x[0]
	if x[0] > 1 {
		switch c.how {
		case "NaN":
			return math.NaN(), nil
		case "NaN gradient":
			grad[0] = math.NaN()
		case "-Inf":
			return math.Inf(-1), nil
		}
	}
	return -0.5 * x[0] * x[0], nil
}

// TestGuards checks that failures of the density never cause a reward or setting of NaN, and that
// no draw lies outside the density's support.
func TestGuards(t *testing.T) {
	for _, how := range []string{"NaN", "NaN gradient", "-Inf"} {
		h, err := hmc.NewEuclidean(cliff{how}, infer.Metric{})
		if err != nil {
			t.Fatal(err)
		}
		box := Box{0.5, 50, 1, 20} // far beyond stability
		kernel := newKernel(Sampler{}.withDefaults(), nil)
		if err := kernel.begin(box, 2, 50, h); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(3, 3))
		z := infer.NewPoint(1)
		if err := h.Reset(z); err != nil {
			t.Fatal(err)
		}
		for range 400 {
			if z, _, err = kernel.Transition(rng, h, 1, z); err != nil {
				t.Fatal(err)
			}
			if math.IsNaN(z.Position[0]) || how != "NaN gradient" && z.Position[0] > 1 {
				t.Fatalf("%s: at %v", how, z.Position)
			}
		}
		zero := 0
		for _, b := range kernel.Batches() {
			if math.IsNaN(b.Reward) || b.Reward < 0 || math.IsNaN(b.Scale) || !(b.StepSize > 0) {
				t.Fatalf("%s: %+v", how, b)
			}
			if b.Reward == 0 {
				zero++
			}
		}
		if zero == 0 || zero == len(kernel.Batches()) {
			t.Errorf("%s: %d batches without any acceptance: the test is weak", how, zero)
		}
		if _, steps := kernel.Setting(); steps < 1 {
			t.Errorf("%s: %d steps", how, steps)
		}
	}
}

// TestFirstAndPower checks that the options determine the first setting and the exponent of the
// annealing.
func TestFirstAndPower(t *testing.T) {
	target := infer.NewMeter(infertest.AR1(2, 0.5))
	h, err := hmc.NewEuclidean(target, infer.Metric{})
	if err != nil {
		t.Fatal(err)
	}
	kernel := newKernel(Sampler{StepSizePoints: 3, First: First{StepSize: 0.12, Steps: 7}, Power: 2}.withDefaults(), target)
	if err := kernel.begin(Box{0.01, 1, 1, 20}, 2, 3, h); err != nil {
		t.Fatal(err)
	}
	if eps, steps := kernel.Setting(); math.Abs(eps-0.1) > 1e-12 || steps != 7 {
		t.Errorf("first setting %v, %d", eps, steps)
	}
	z, rng := infer.NewPoint(2), rand.New(rand.NewPCG(1, 1))
	if err := h.Reset(z); err != nil {
		t.Fatal(err)
	}
	for range 2 * 6 {
		if z, _, err = kernel.Transition(rng, h, 1, z); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []float64{1, 1, 1, 1. / 4, 1. / 9, 1. / 16} {
		if p := kernel.Batches()[i].Probability; math.Abs(p-want) > 1e-12 {
			t.Errorf("batch %d: probability %v, not %v", i+1, p, want)
		}
	}
}
