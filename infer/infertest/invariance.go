package infertest

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/goroutines"
)

// The false alarm rate of the whole suite, and the number of statistical tests that share it. If
// you add tests, make sure that there are no more than SuiteTests.
const (
	SuiteAlpha = 1e-6
	SuiteTests = 100
)

// Invariance tests whether a kernel leaves a target invariant.
type Invariance struct {
	Target Exact

	// Kernel and Hamiltonian make a kernel and a Hamiltonian for each worker.
	Kernel      func() infer.Kernel
	Hamiltonian func(target infer.LogDensity) (infer.Hamiltonian, error)

	StepSize    float64
	Transitions int    // per replicate; 0: 3
	Replicates  int    // 0: 40000
	Seed        uint64 // seed of all random numbers

	// Alpha is the probability of a false alarm; 0: SuiteAlpha / SuiteTests.
	Alpha float64
}

// InvarianceResult is the result of an [Invariance] test.
type InvarianceResult struct {
	Statistics []Statistic
	Bound      float64 // distance that a correct kernel exceeds, in any statistic, with probability below Alpha

	AcceptStat float64 // mean
	Leapfrogs  float64 // per transition
	Divergent  float64 // share of the transitions
	Moved      float64 // share of the replicates that ended at another point
}

// Statistic is a function of the state with a known distribution.
type Statistic struct {
	Name     string
	Distance float64 // Kolmogorov distance from that distribution
}

// Err returns an error that names the first statistic beyond the bound, or nil if there is none.
func (r InvarianceResult) Err() error {
	for _, s := range r.Statistics {
		if !(s.Distance <= r.Bound) {
			return fmt.Errorf("the target is not invariant: Kolmogorov distance of %s is %.4f, the bound %.4f (mean acceptance %.2f)", s.Name, s.Distance, r.Bound, r.AcceptStat)
		}
	}
	return nil
}

// Run runs the test. The result does not depend on the number of processors.
func (c Invariance) Run() (InvarianceResult, error) {
	transitions, n, alpha := c.Transitions, c.Replicates, c.Alpha
	if transitions == 0 {
		transitions = 3
	}
	if n == 0 {
		n = 40000
	}
	if alpha == 0 {
		alpha = SuiteAlpha / SuiteTests
	}
	dim := c.Target.Dim()
	names := make([]string, 0, dim+2)
	for i := range dim {
		names = append(names, fmt.Sprintf("coordinate %d", i))
	}
	names = append(names, "radius", "sum")
	values := make([][]float64, len(names)) // by statistic and replicate
	for i := range values {
		values[i] = make([]float64, n)
	}
	stats := make([]infer.Stats, n) // sums over the transitions
	moved := make([]bool, n)

	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var wg goroutines.Group
	for w := range workers {
		wg.Go(func() {
			errs[w] = func() error {
				target := c.Target.CloneDensity()
				h, err := c.Hamiltonian(target)
				if err != nil {
					return err
				}
				kernel := c.Kernel()
				u := make([]float64, dim)
				start := infer.NewPoint(dim)
				for r := w; r < n; r += workers {
					rng := infer.Stream(c.Seed, r, "invariance", 0)
					c.Target.Sample(rng, start.Position)
					if err := h.Reset(start); err != nil {
						return err
					}
					z := start
					for range transitions {
						next, info, err := kernel.Transition(rng, h, c.StepSize, z)
						if err != nil {
							return err
						}
						z = next
						stats[r].AcceptStat += info.AcceptStat
						stats[r].Leapfrogs += info.Leapfrogs
						stats[r].Divergent = stats[r].Divergent || info.Divergent
					}
					moved[r] = !slices.Equal(z.Position, start.Position)
					c.Target.Uniforms(z.Position, u)
					var radius, sum float64
					for i, ui := range u {
						values[i][r] = ui
						s := score(ui)
						radius += s * s
						sum += s
					}
					values[dim][r] = mathext.GammaIncReg(float64(dim)/2, radius/2)
					values[dim+1][r] = normalCDF(sum / math.Sqrt(float64(dim)))
				}
				return nil
			}()
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return InvarianceResult{}, err
		}
	}
	res := InvarianceResult{Bound: math.Sqrt(math.Log(2*float64(len(names))/alpha) / (2 * float64(n)))}
	for i, v := range values {
		res.Statistics = append(res.Statistics, Statistic{Name: names[i], Distance: kolmogorov(v)})
	}
	total := float64(n * transitions)
	for r, s := range stats {
		res.AcceptStat += s.AcceptStat / total
		res.Leapfrogs += float64(s.Leapfrogs) / total
		if s.Divergent {
			res.Divergent += 1 / float64(n)
		}
		if moved[r] {
			res.Moved += 1 / float64(n)
		}
	}
	return res, nil
}

// score is the standard normal quantile of u. It is finite even if u was rounded to 0 or 1.
func score(u float64) float64 {
	return mathext.NormalQuantile(min(max(u, 1e-300), 1-1e-16))
}

// kolmogorov returns the Kolmogorov distance of the empirical distribution of v from the uniform
// one. It sorts v.
func kolmogorov(v []float64) float64 {
	slices.Sort(v)
	n := float64(len(v))
	d := 0.0
	for i, x := range v {
		d = max(d, x-float64(i)/n, float64(i+1)/n-x)
	}
	return d
}
