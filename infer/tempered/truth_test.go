package tempered_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/tempered"
	"github.com/ppl-lang/ppl/internal/short"
)

// evidence returns the estimate of a run.
func evidence(r infer.Report) tempered.Evidence {
	var kernels []map[string]float64
	for _, c := range r.Chains {
		kernels = append(kernels, c.Kernel)
	}
	z, _ := tempered.EvidenceOf(kernels)
	return z
}

// at returns a vector with equal coordinates.
func at(d int, v float64) []float64 {
	out := make([]float64, d)
	for i := range out {
		out[i] = v
	}
	return out
}

// TestShares compares the shares of modes, and log Z, with the exact values. Its targets have modes
// of unequal masses and scales, in few and in many dimensions, two scales at one centre, and two
// modes whose heights contradict their masses.
func TestShares(t *testing.T) {
	first := func(d int, v float64) []float64 {
		x := make([]float64, d)
		x[0] = v
		return x
	}
	rng := rand.New(rand.NewPCG(7, 7))
	type trial struct {
		name string
		m    *modes
	}
	for _, c := range short.Every(3, []trial{
		{"mirrored", &modes{shares: []float64{0.5, 0.5}, means: [][]float64{at(2, -6), at(2, 6)}, sds: []float64{1, 1}}},
		{"four", scattered(rng, 4, 3, 6)},
		{"eight", &modes{shares: []float64{0.05, 0.1, 0.1, 0.1, 0.15, 0.15, 0.15, 0.2}, sds: at(8, 0.5), means: func() (out [][]float64) {
			for i := range 8 {
				out = append(out, []float64{4 * math.Cos(float64(i)*math.Pi/4), 4 * math.Sin(float64(i)*math.Pi/4)})
			}
			return out
		}()}},
		{"twenty", &modes{shares: []float64{0.75, 0.25}, means: [][]float64{first(20, -5), first(20, 5)}, sds: []float64{1, 0.8}}},
		{"basins", &modes{shares: []float64{0.4, 0.3, 0.2, 0.1}, sds: []float64{0.12, 0.15, 0.1, 0.15}, means: [][]float64{
			first(20, 1.8), append([]float64{0, 1.8}, at(18, 0)...), first(20, -1.8), append([]float64{0, -1.8}, at(18, 0)...)}}},
		{"centre", &modes{shares: []float64{0.6, 0.4}, means: [][]float64{at(5, 0.3), at(5, 0.3)}, sds: []float64{1, 0.05}}},
		{"heights", &modes{shares: []float64{0.9, 0.1}, means: [][]float64{first(10, -3), first(10, 3)}, sds: []float64{0.9, 0.3}}},
	}) {
		t.Run(c.name, func(t *testing.T) {
			c.m.logZ = -3.5
			draws, report := drawn(t, c.m, infer.Config{Sampler: tempered.Sampler{}, Chains: 2, Warmup: 400, Draws: 800, Seed: 12})
			shares := make([]float64, len(c.m.shares))
			for _, d := range draws {
				shares[c.m.of(d.Position)] += 1 / float64(len(draws))
			}
			for k, want := range c.m.shares {
				if math.Abs(shares[k]-want) > 0.05 {
					t.Errorf("shares %.3f, not %.3f", shares, c.m.shares)
					break
				}
			}
			z := evidence(report)
			if math.Abs(z.LogZ-c.m.logZ) > 4*z.Error || z.Error > 0.1 {
				t.Errorf("log Z is %v, the estimate %.3f ± %.3f", c.m.logZ, z.LogZ, z.Error)
			}
			for _, chain := range report.Chains {
				if n := chain.Kernel["restarts"]; n < 100 {
					t.Errorf("only %v restarts", n)
				}
			}
		})
	}
}

// TestInitialValues checks that a mode that no search can find is sampled if a chain begins in it.
// The mode has a tenth of the other's width and is far from it.
func TestInitialValues(t *testing.T) {
	m := &modes{shares: []float64{0.3, 0.7}, means: [][]float64{at(8, 0), at(8, -10)}, sds: []float64{1, 0.1}}
	init := infer.At{Positions: [][]float64{at(8, 0.1), at(8, -10.05)}}
	draws, _ := drawn(t, m, infer.Config{Sampler: tempered.Sampler{Starts: 4}, Chains: 2, Warmup: 200, Draws: 800, Seed: 1, Init: init})
	shares := make([]float64, 2)
	for _, d := range draws {
		shares[m.of(d.Position)] += 1 / float64(len(draws))
	}
	if math.Abs(shares[0]-0.3) > 0.05 {
		t.Errorf("shares %.3f, not %.3f", shares, m.shares)
	}
}

// regression is a conjugate model: y ~ normal(X b, 1), b ~ normal(0, s).
type regression struct {
	x [][]float64
	y []float64
	s float64
}

func (r regression) Dim() int                       { return len(r.x[0]) }
func (r regression) CloneDensity() infer.LogDensity { return r }
func (r regression) LogDensityGrad(b, grad []float64) (float64, error) {
	log := 0.0
	for j, v := range b {
		log -= 0.5*v*v/(r.s*r.s) + math.Log(r.s) + 0.5*math.Log(2*math.Pi)
		grad[j] = -v / (r.s * r.s)
	}
	for i, row := range r.x {
		e := r.y[i]
		for j, v := range row {
			e -= v * b[j]
		}
		log -= 0.5*e*e + 0.5*math.Log(2*math.Pi)
		for j, v := range row {
			grad[j] += e * v
		}
	}
	return log, nil
}

// evidence returns the exact evidence of y ~ normal(0, I + s² X Xᵀ), one observation after the
// other by the Kalman filter.
func (r regression) evidence() float64 {
	d := r.Dim()
	mean, cov := make([]float64, d), make([][]float64, d)
	for j := range cov {
		cov[j] = make([]float64, d)
		cov[j][j] = r.s * r.s
	}
	log := 0.0
	for i, row := range r.x {
		gain, predicted, variance := make([]float64, d), 0.0, 1.0
		for j := range d {
			predicted += row[j] * mean[j]
			for k := range d {
				gain[j] += cov[j][k] * row[k]
			}
		}
		for j := range d {
			variance += row[j] * gain[j]
		}
		e := r.y[i] - predicted
		log -= 0.5*e*e/variance + 0.5*math.Log(2*math.Pi*variance)
		for j := range d {
			mean[j] += gain[j] * e / variance
		}
		for j := range d {
			for k := range d {
				cov[j][k] -= gain[j] * gain[k] / variance
			}
		}
	}
	return log
}

// binomial is a beta-binomial model on the logit scale: k of n, p ~ beta(a, b).
type binomial struct{ k, n, a, b float64 }

func (m binomial) Dim() int                       { return 1 }
func (m binomial) CloneDensity() infer.LogDensity { return m }
func (m binomial) LogDensityGrad(x, grad []float64) (float64, error) {
	// log p and log (1-p). The Jacobian p (1-p) adds one to both exponents of the prior.
	logP, logQ := -math.Log1p(math.Exp(-x[0])), -math.Log1p(math.Exp(x[0]))
	p := math.Exp(logP)
	grad[0] = (m.k+m.a)*(1-p) - (m.n-m.k+m.b)*p
	return (m.k+m.a)*logP + (m.n-m.k+m.b)*logQ - logBeta(m.a, m.b) + choose(m.n, m.k), nil
}

func (m binomial) evidence() float64 {
	return choose(m.n, m.k) + logBeta(m.k+m.a, m.n-m.k+m.b) - logBeta(m.a, m.b)
}

func logBeta(a, b float64) float64 { return lgamma(a) + lgamma(b) - lgamma(a+b) }
func choose(n, k float64) float64  { return lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1) }
func lgamma(x float64) float64     { v, _ := math.Lgamma(x); return v }

// TestEvidence estimates the known evidence of twenty models. At least eighteen must be within two
// standard errors, and none may be off by five.
func TestEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 1))
	type model struct {
		name   string
		target infer.LogDensity
		want   float64
	}
	var all []model
	for i := range 7 {
		d := 1 + 2*i
		r := regression{s: 0.5 + 2*rng.Float64()}
		for range 5 + 5*i {
			row, y := make([]float64, d), rng.NormFloat64()
			for j := range row {
				row[j] = rng.NormFloat64()
				y += 0.7 * row[j]
			}
			r.x, r.y = append(r.x, row), append(r.y, y)
		}
		all = append(all, model{fmt.Sprint("regression ", d), r, r.evidence()})
	}
	for i := range 6 {
		n := float64(3 + 8*i)
		b := binomial{math.Floor(n * rng.Float64()), n, 0.5 + rng.Float64(), 0.5 + 2*rng.Float64()}
		all = append(all, model{fmt.Sprint("binomial ", b), b, b.evidence()})
	}
	for i := range 7 {
		m := scattered(rng, 1+i%4, 1+i, 4)
		for k := range m.sds {
			m.sds[k] = 0.8 + 0.4*rng.Float64()
		}
		all = append(all, model{fmt.Sprint("modes ", len(m.shares), " in ", m.Dim()), m, m.logZ})
	}
	covered := 0
	for _, m := range all {
		_, report := drawn(t, m.target, infer.Config{Sampler: tempered.Sampler{Starts: 4}, Chains: 2, Warmup: 200, Draws: 300, Seed: 3})
		z := evidence(report)
		off := math.Abs(z.LogZ-m.want) / z.Error
		if off <= 2 {
			covered++
		}
		if !(off < 5) || !(z.Error < 0.2) {
			t.Errorf("%s: log Z is %.4f, the estimate %.4f ± %.4f", m.name, m.want, z.LogZ, z.Error)
		}
		t.Logf("%s: %.4f ± %.4f, exactly %.4f (%.1f standard errors)", m.name, z.LogZ, z.Error, m.want, off)
	}
	if covered < 18 {
		t.Errorf("only %d of %d intervals cover", covered, len(all))
	}
}
