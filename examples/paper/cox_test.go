package main

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/riemann"
)

// TestCox checks that the density of the Cox process, computed in parts, equals the formula with a
// covariance matrix of all cells. The Fisher metric that the text of the model gives must be the
// one in whose coordinates the second model works.
func TestCox(t *testing.T) {
	const d, n = 6, 36
	for _, v := range coxVariants {
		c, err := loadCox(v, "", d)
		if err != nil {
			t.Fatal(err)
		}
		target, err := c.posterior("cox.model")
		if err != nil {
			t.Fatal(err)
		}
		white, err := c.posterior("cox_metric.model")
		if err != nil {
			t.Fatal(err)
		}
		sigma := mat.NewSymDense(n, nil)
		for a := range n {
			for b := range a + 1 {
				distance := math.Hypot(float64(a%d-b%d), float64(a/d-b/d))
				if v.name == "A" { // distances in sides of the unit square
					distance /= d
					sigma.SetSym(a, b, 1.91*math.Exp(-distance*33/64))
				} else {
					sigma.SetSym(a, b, 1.91*math.Exp(-distance*33/d))
				}
			}
		}
		var factor mat.Cholesky
		if !factor.Factorize(sigma) {
			t.Fatal("not positive definite")
		}
		formula := func(x []float64) float64 {
			r, s := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
			for i, v := range x {
				r.SetVec(i, v-(math.Log(126)-1.91/2))
			}
			factor.SolveVecTo(s, r)
			lp := -0.5 * mat.Dot(r, s)
			for i, v := range x {
				lp += float64(c.y[i])*v - math.Exp(v)/n
			}
			return lp
		}
		rng := rand.New(rand.NewPCG(1, 2))
		grad := make([]float64, n)
		var constant, other float64
		for k := range 3 {
			x := c.field.draw(rng)
			lp, err := target.LogDensityGrad(x, grad)
			if err != nil {
				t.Fatal(err)
			}
			if err := infertest.CheckGradient(target, x); err != nil {
				t.Error(err)
			}
			z := c.field.toMetric(x)
			if err := infertest.CheckGradient(white, z); err != nil {
				t.Error(err)
			}
			same, err := white.LogDensityGrad(z, grad)
			if err != nil {
				t.Fatal(err)
			}
			values, err := white.Constrain(z)
			if err != nil {
				t.Fatal(err)
			}
			back := c.field.fromMetric(z)
			for i := range x {
				if math.Abs(back[i]-x[i]) > 1e-9 || math.Abs(values[n+i]-x[i]) > 1e-9 {
					t.Fatalf("cell %d is %v in coordinates of the metric and back, %v in the model, not %v", i, back[i], values[n+i], x[i])
				}
			}
			if k == 0 {
				constant, other = lp-formula(x), same-formula(x)
			}
			for _, d := range []float64{lp - formula(x) - constant, same - formula(x) - other} {
				if math.Abs(d) > 1e-8 {
					t.Errorf("%s: the log density differs by %v from its formula", v.name, d)
				}
			}
		}
		// The metric that the text gives where the field is mu + variance.
		at := make([]float64, n)
		for i := range at {
			at[i] = coxMean + coxVariance
		}
		g := make([]float64, n*n)
		if err := target.Compiled().FisherMetric(at, g); err != nil {
			t.Fatal(err)
		}
		var precision mat.SymDense
		factor.InverseTo(&precision)
		for i := range n {
			unit := slices.Repeat([]float64{coxMean}, n)
			unit[i]++
			a := c.field.toMetric(unit)
			for j := range n {
				want := precision.At(i, j)
				if i == j {
					want += math.Exp(coxMean+coxVariance) / n
				}
				unit := slices.Repeat([]float64{coxMean}, n)
				unit[j]++
				b, product := c.field.toMetric(unit), 0.0
				for k := range a {
					product += a[k] * b[k]
				}
				if math.Abs(g[i*n+j]-want) > 1e-8 || math.Abs(product-want) > 1e-8 {
					t.Fatalf("element (%d, %d) of the metric is %v, in its coordinates %v, instead of %v", i, j, g[i*n+j], product, want)
				}
			}
		}
	}
}

// TestCoxMetric checks that leapfrog steps in the coordinates of the metric equal steps with the
// fixed metric that the text of the model gives.
func TestCoxMetric(t *testing.T) {
	t.Run("4", func(t *testing.T) { coxMetric(t, 4) })
	t.Run("64", func(t *testing.T) {
		if os.Getenv("PAPER_LARGE") == "" {
			t.Skip("a frozen metric of 4096 dimensions takes a minute and 2 GB; PAPER_LARGE=1 has it tested")
		}
		coxMetric(t, 64)
	})
}

func coxMetric(t *testing.T, d int) {
	n := d * d
	began := time.Now()
	lap := func(what string) {
		t.Logf("%s: %v", what, time.Since(began).Round(time.Millisecond))
		began = time.Now()
	}
	c, err := loadCox(coxVariants[0], "", d)
	if err != nil {
		t.Fatal(err)
	}
	target, err := c.posterior("cox.model")
	if err != nil {
		t.Fatal(err)
	}
	white, err := c.posterior("cox_metric.model")
	if err != nil {
		t.Fatal(err)
	}
	fisher, err := riemann.FromTarget(riemann.Fisher, target, 0)
	if err != nil {
		t.Fatal(err)
	}
	frozen, raised, err := riemann.Freeze(fisher, slices.Repeat([]float64{coxMean + coxVariance}, n))
	if err != nil || raised > 0 {
		t.Fatal(raised, err)
	}
	lap("metric")
	plain, err := hmc.NewEuclidean(target, frozen)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := hmc.NewEuclidean(white, infer.Metric{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	x := infer.NewPoint(n)
	z := infer.NewPoint(n)
	copy(x.Position, c.field.draw(rng))
	copy(z.Position, c.field.toMetric(x.Position))
	if err := errors.Join(plain.Reset(x), unit.Reset(z)); err != nil {
		t.Fatal(err)
	}
	unit.Momentum(rng, z)
	// Momenta are transformed by the transpose in the other direction.
	back := slices.Clone(z.Momentum)
	c.field.multiply(c.field.metric, blas.Trans, back)
	copy(x.Momentum, c.field.unfold(back))
	for i := range x.Momentum {
		x.Momentum[i] -= coxMean
	}
	lap("factor")
	for range 20 {
		if err := plain.Step(x, x, 0.3); err != nil {
			t.Fatal(err)
		}
	}
	lap("20 steps with the frozen metric")
	for range 20 {
		if err := unit.Step(z, z, 0.3); err != nil {
			t.Fatal(err)
		}
	}
	lap("the same in its coordinates")
	for i, v := range c.field.fromMetric(z.Position) {
		if math.Abs(v-x.Position[i]) > 1e-9 {
			t.Fatalf("cell %d is %v instead of %v", i, v, x.Position[i])
		}
	}
	if d > 4 {
		return
	}
	// The samplers must use no other metric.
	for _, a := range []arm{coxRMHMCArm, coxARMHMCArm, coxNUTSArm} {
		session, err := infer.NewSession(white, infer.Config{Sampler: a.sampler, Chains: 1, Warmup: 150, Draws: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range session.Draws(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if kind := session.Report().Chains[0].Metric.Kind; kind != infer.Unit {
			t.Errorf("%s has a metric of kind %s", a.name, kind)
		}
	}
}

// TestField checks that fields drawn from the prior have the right covariance.
func TestField(t *testing.T) {
	const d = 4
	f, err := newField(d, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	const draws = 20000
	pairs := [][2]int{{0, 0}, {0, 1}, {0, 5}, {2, 15}, {7, 8}}
	sums := make([]float64, len(pairs))
	for range draws {
		x := f.draw(rng)
		for i, p := range pairs {
			sums[i] += (x[p[0]] - coxMean) * (x[p[1]] - coxMean) / draws
		}
	}
	for i, p := range pairs {
		want := 1.91 * math.Exp(-math.Hypot(float64(p[0]%d-p[1]%d), float64(p[0]/d-p[1]/d))/2)
		if math.Abs(sums[i]-want) > 5*1.91*math.Sqrt(2./draws) {
			t.Errorf("cells %v have covariance %v instead of %v", p, sums[i], want)
		}
	}
}
