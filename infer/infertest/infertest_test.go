package infertest_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// TestZoo checks gradients, contracts and exact draws of all targets.
func TestZoo(t *testing.T) {
	for _, target := range infertest.Zoo() {
		t.Run(target.String(), func(t *testing.T) {
			rng := infer.Stream(1, 0, t.Name(), 0)
			x := make([]float64, target.Dim())
			for range 20 {
				target.Sample(rng, x)
				if err := infertest.CheckGradient(target, x); err != nil {
					t.Fatalf("at %v: %v", x, err)
				}
				if err := infertest.CheckContract(target, x); err != nil {
					t.Fatalf("at %v: %v", x, err)
				}
			}
		})
	}
}

// stay is a kernel that does nothing, so that Invariance tests Sample against
// Uniforms.
type stay struct{}

func (stay) Transition(_ *rand.Rand, _ infer.Hamiltonian, _ float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	return z, infer.Info{}, nil
}

func unit(target infer.LogDensity) (infer.Hamiltonian, error) {
	return hmc.NewEuclidean(target, infer.Metric{Kind: infer.Unit})
}

func TestExactDraws(t *testing.T) {
	for _, target := range infertest.Zoo() {
		res, err := infertest.Invariance{
			Target: target, Kernel: func() infer.Kernel { return stay{} }, Hamiltonian: unit,
			Transitions: 1, Seed: 2,
		}.Run()
		if err == nil {
			err = res.Err()
		}
		if err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// drift moves every point by a little: the smallest error that Invariance must
// see is a shift by a bound and a half of the distribution function.
type drift struct{ by float64 }

func (d drift) Transition(_ *rand.Rand, h infer.Hamiltonian, _ float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	z.Position[0] += d.by
	return z, infer.Info{}, h.Reset(z)
}

func TestInvarianceHasTeeth(t *testing.T) {
	check := infertest.Invariance{
		Target: infertest.AR1(2, 0.5), Hamiltonian: unit, Transitions: 1, Seed: 3,
		Kernel: func() infer.Kernel { return drift{0.07} },
	}
	res, err := check.Run()
	if err != nil {
		t.Fatal(err)
	}
	if res.Err() == nil {
		t.Errorf("a shift by 0.07 standard deviations passes; the distances are %v, the bound %v", res.Statistics, res.Bound)
	}
}

type wrong struct {
	infertest.Logistic
	how string
	n   float64
	mem []float64
}

func (w *wrong) CloneDensity() infer.LogDensity { return w }

func (w *wrong) LogDensityGrad(x, grad []float64) (float64, error) {
	lp, _ := w.Logistic.LogDensityGrad(x, grad)
	switch w.how {
	case "gradient":
		grad[1] *= 1.0001
	case "history":
		w.n++
		lp += w.n
	case "unwritten":
		grad[2] = math.NaN()
	case "writes x":
		x[0]++
	case "allocates":
		w.mem = slices.Clone(x)
	case "error":
		return 0, errors.New("sigma must be positive")
	}
	return lp, nil
}

func TestChecksHaveTeeth(t *testing.T) {
	x := []float64{0.3, -1, 2}
	for how, want := range map[string]string{
		"gradient":  "element 1 is",
		"history":   "second evaluation",
		"unwritten": "element 2 of the gradient is NaN",
		"writes x":  "x was changed",
		"allocates": "allocations",
		"error":     "sigma must be positive",
	} {
		w := &wrong{Logistic: infertest.Logistic{D: 3}, how: how}
		check := infertest.CheckContract
		if how == "gradient" {
			check = infertest.CheckGradient
		}
		if err := check(w, x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error about %q", how, err, want)
		}
	}
}

func TestRegressionGradient(t *testing.T) {
	rng := infer.Stream(4, 0, "regression", 0)
	r := infertest.NewLogisticRegression(rng, 50, 4)
	for range 10 {
		x := make([]float64, 4)
		for i := range x {
			x[i] = 2 * rng.NormFloat64()
		}
		if err := errors.Join(infertest.CheckGradient(r, x), infertest.CheckContract(r, x)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNormalCov(t *testing.T) {
	n := infertest.AR1(4, 0.8)
	for i := range 4 {
		for j := range 4 {
			if want := math.Pow(0.8, math.Abs(float64(i-j))); math.Abs(n.Cov(i, j)-want) > 1e-14 {
				t.Errorf("Cov(%d, %d) = %v, want %v", i, j, n.Cov(i, j), want)
			}
		}
	}
}

// The log density and its gradient at a point where Stan 2.32.2 has been asked
// (posteriordb's eight_schools_noncentered, propto and jacobian true).
func TestEightSchools(t *testing.T) {
	e := infertest.EightSchools{}
	x := []float64{1.956591055648798, -1.366195948292467, 1.3722398134064102, 1.927422533446125, -1.002875787988188, -0.04629572826865003, -1.3345320894601151, 0.6283114162203995, -1.0917649014173758, -1.9253968825259364}
	if err := errors.Join(infertest.CheckGradient(e, x), infertest.CheckContract(e, x)); err != nil {
		t.Error(err)
	}
	grad := make([]float64, len(x))
	lp, err := e.LogDensityGrad(x, grad)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(lp-(-13.863873665241126)) > 1e-12 || math.Abs(grad[9]-(0.9984114067290747)) > 1e-12 {
		t.Errorf("log density %v, last element of the gradient %v; Stan has -13.863873665241126 and 0.9984114067290747", lp, grad[9])
	}
}
