package ahmc

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
)

// Autocorrelation is the asymptotic efficiency 1/(1 + 2 Σ ρ_k), from the autocorrelations of a
// batch. ρ_k is 1 minus half the mean squared difference of draws at lag k, in units of the
// variance over all of tuning so far, averaged over the coordinates. The sum follows Geyer's
// initial monotone sequence. A chain that does not move within a batch has autocorrelations of 1,
// wherever it is. (With products of distances from the mean, a chain stuck near the mean would seem
// the best of all.)
//
// The paper mentions it with a warning: a batch of ten transitions says little about
// autocorrelations. Use longer batches with it.
type Autocorrelation struct{}

// minTime is the minimum integrated autocorrelation time. With antithetic draws in a short batch it
// could otherwise be 0, and the efficiency infinite.
const minTime = 0.25

// Signed implements [Reward].
func (Autocorrelation) Signed() bool { return false }

// Start implements [Reward].
func (Autocorrelation) Start(_ infer.Hamiltonian, target *infer.Meter) (Objective, error) {
	return &correlation{dim: target.Dim()}, nil
}

type correlation struct {
	dim   int
	seen  spread // spread of all transitions so far
	batch []float64
}

// Observe implements [Objective].
func (c *correlation) Observe(_, after *infer.Point, _ infer.Info) {
	c.seen.add(after.Position)
	c.batch = append(c.batch, after.Position...)
}

// Reward implements [Objective].
func (c *correlation) Reward(*rand.Rand, Setting) (float64, error) {
	x := c.batch
	c.batch = c.batch[:0]
	if c.dim == 0 || c.seen.n < 2 {
		return 0, nil
	}
	n := len(x) / c.dim
	// ρ = 1 - V/2 with V the mean squared difference at a lag, in units of the
	// variance, averaged over the coordinates.
	at := func(lag int) float64 {
		sum, moving := 0.0, 0
		for i := range c.dim {
			variance := c.seen.sum[i] / c.seen.n
			if !(variance > 0) {
				continue
			}
			moving++
			s := 0.0
			for t := 0; t+lag < n; t++ {
				d := x[(t+lag)*c.dim+i] - x[t*c.dim+i]
				s += d * d
			}
			sum += s / (2 * variance * float64(n-lag))
		}
		if moving == 0 {
			return 1
		}
		return 1 - sum/float64(moving)
	}
	total, running := 0.0, math.Inf(1)
	for k := 0; k+1 < n; k += 2 {
		running = min(running, at(k)+at(k+1))
		if running <= 0 {
			break
		}
		total += running
	}
	return 1 / max(minTime, 2*total-1), nil
}

// State implements [Objective].
func (c *correlation) State() []float64 {
	return append(c.seen.state(), c.batch...)
}

// SetState implements [Objective].
func (c *correlation) SetState(s []float64) error {
	moments := 0
	if len(s) > 0 && s[0] > 0 {
		moments = 2 * c.dim
	}
	if len(s) < 1+moments || c.dim > 0 && (len(s)-1-moments)%c.dim != 0 {
		return stateError("autocorrelations", len(s), 1+moments)
	}
	if err := c.seen.setState(s[:1+moments], c.dim); err != nil {
		return err
	}
	c.batch = append([]float64(nil), s[1+moments:]...)
	return nil
}
