package bridge

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/internal/short"
)

// density converts a log density at a point to a Density, which takes many points.
func density(log func(x []float64) float64) Density {
	return func(_ context.Context, points [][]float64, out []float64) error {
		for i, x := range points {
			out[i] = log(x)
		}
		return nil
	}
}

// drawn returns chains of independent draws.
func drawn(chains, n int, draw func() []float64) [][][]float64 {
	out := make([][][]float64, chains)
	for c := range out {
		for range n {
			out[c] = append(out[c], draw())
		}
	}
	return out
}

// TestLogZ compares with known constants of targets in 1, 2 and 20 dimensions. The error of the
// estimate is calibrated: over many repetitions, the squared standardised error has mean about 1.
func TestLogZ(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	gamma := func(shape float64) float64 { // shape is an integer
		g := 0.0
		for range int(shape) {
			g += rng.ExpFloat64()
		}
		return g
	}
	for _, target := range []struct {
		name string
		draw func() []float64
		log  func(x []float64) float64
		want float64
	}{
		{"log gamma", func() []float64 { return []float64{math.Log(gamma(3))} },
			func(x []float64) float64 { return 3*x[0] - math.Exp(x[0]) }, math.Log(2)},
		{"two correlated, one skewed", func() []float64 {
			a := math.Log(gamma(2))
			return []float64{a, a + 0.1*rng.NormFloat64()}
		}, func(x []float64) float64 {
			u := (x[1] - x[0]) / 0.1
			return 2*x[0] - math.Exp(x[0]) - u*u/2
		}, math.Log(0.1 * math.Sqrt(2*math.Pi))},
		{"twenty logistic", func() []float64 {
			x := make([]float64, 20)
			for i := range x {
				u := rng.Float64()
				x[i] = math.Log(u / (1 - u))
			}
			return x
		}, func(x []float64) float64 {
			sum := 0.0
			for _, v := range x {
				sum -= math.Abs(v) + 2*math.Log1p(math.Exp(-math.Abs(v)))
			}
			return sum
		}, 0},
	} {
		const repetitions = 60
		square := 0.0
		for range repetitions {
			e, err := LogZ(context.Background(), drawn(2, 300, target.draw), density(target.log), rng)
			if err != nil {
				t.Fatal(target.name, err)
			}
			z := (e.LogZ - target.want) / e.Error
			square += z * z / repetitions
			if math.Abs(z) > 5 || e.Error > 0.2 {
				t.Errorf("%s: log Z = %.4f ± %.4f, want %.4f", target.name, e.LogZ, e.Error, target.want)
			}
			for _, h := range e.Parts {
				if !h.Settled || h.Effective < 50 {
					t.Errorf("%s: %+v", target.name, h)
				}
			}
		}
		// 60 squares of normal numbers have a mean of 1 with a standard error of 0.18.
		if square < 0.4 || square > 1.8 {
			t.Errorf("%s: mean squared error is %.2f times what the estimates say", target.name, square)
		}
	}
}

// TestShift checks that a constant factor of the density shifts the estimate, however large it is.
func TestShift(t *testing.T) {
	for _, shift := range []float64{-1e5, 1e5} {
		rng := rand.New(rand.NewPCG(5, 6))
		draws := drawn(1, 100, func() []float64 { return []float64{rng.NormFloat64()} })
		e, err := LogZ(context.Background(), draws, density(func(x []float64) float64 { return shift - x[0]*x[0]/2 }), rng)
		if want := shift + 0.5*math.Log(2*math.Pi); err != nil || math.Abs(e.LogZ-want) > 1e-2 {
			t.Errorf("log Z = %v, %v, want %v", e.LogZ, err, want)
		}
	}
}

// TestFarProposal uses a target with distant modes, one after the other in the draws. For at least
// one part, few draws of the proposal reach the target, and the estimate must report this.
func TestFarProposal(t *testing.T) {
	for _, modes := range [][]float64{{-20, 20}, {-20, 0, 20}, {-20, 20, -20}} {
		rng := rand.New(rand.NewPCG(3, 4))
		n := 0
		draws := drawn(2, 400, func() []float64 {
			n++
			return []float64{modes[(n-1)%400*len(modes)/400] + rng.NormFloat64()}
		})
		log := func(x []float64) float64 {
			var terms []float64
			for _, m := range modes {
				terms = append(terms, -(x[0]-m)*(x[0]-m)/2)
			}
			return floats.LogSumExp(terms)
		}
		e, err := LogZ(context.Background(), draws, density(log), rng)
		if err != nil {
			t.Fatal(err)
		}
		if !(e.Effective() < 20) {
			t.Errorf("modes %v: %+v looks reliable, but is not", modes, e)
		}
	}
}

// TestCovers checks that 90 % intervals contain the constant of normal distributions as often as
// they claim. The proposal is of the right form, so that the errors of its fit are most of the
// error. They must not be common to the parts. One number of dimensions is due each day.
func TestCovers(t *testing.T) {
	for _, dim := range short.Turns(3, []int{5, 1, 20}) {
		rng := rand.New(rand.NewPCG(7, 8))
		const repetitions = 400
		square, inside := 0.0, 0
		for range repetitions {
			e, err := LogZ(context.Background(), drawn(4, 300, func() []float64 {
				x := make([]float64, dim)
				for i := range x {
					x[i] = rng.NormFloat64()
				}
				return x
			}), density(func(x []float64) float64 { return -floats.Dot(x, x) / 2 }), rng)
			if err != nil {
				t.Fatal(err)
			}
			z := (e.LogZ - float64(dim)*0.5*math.Log(2*math.Pi)) / e.Error
			square += z * z / repetitions
			if math.Abs(z) < 1.645 {
				inside++
			}
		}
		t.Logf("%d dimensions: %d of %d inside, mean square %.2f", dim, inside, repetitions, square)
		// 400 squares of normal numbers have a mean of 1 with a standard error of 0.07. With halves
		// that exchange their draws, it is about 1.4 in 5 dimensions.
		if square > 1.25 || inside < repetitions*86/100 {
			t.Errorf("%d dimensions: %d of %d intervals of 90 %% contain the constant, mean square %.2f", dim, inside, repetitions, square)
		}
	}
}

// TestErrors checks the errors for too few draws, for constant draws, and for a density that fails.
func TestErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	flat := density(func([]float64) float64 { return 0 })
	if _, err := LogZ(context.Background(), nil, flat, rng); !errors.Is(err, ErrFewDraws) {
		t.Error(err)
	}
	if _, err := LogZ(context.Background(), drawn(2, 11, func() []float64 { return []float64{1} }), flat, rng); !errors.Is(err, ErrFewDraws) {
		t.Error(err)
	}
	if _, err := LogZ(context.Background(), drawn(2, 20, func() []float64 { return []float64{1} }), flat, rng); err == nil {
		t.Error("constant draws give an estimate")
	}
	broken := errors.New("broken")
	draws := drawn(1, 20, func() []float64 { return []float64{rng.NormFloat64()} })
	if _, err := LogZ(context.Background(), draws, func(context.Context, [][]float64, []float64) error { return broken }, rng); !errors.Is(err, broken) {
		t.Error(err)
	}
	e, err := LogZ(context.Background(), draws, density(func([]float64) float64 { return math.Inf(-1) }), rng)
	if err != nil || !math.IsNaN(e.LogZ) {
		t.Errorf("a density of 0 has log Z %v, %v", e.LogZ, err)
	}
}
