package ahmc

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
)

// Autocorrelation is the asymptotic efficiency 1/(1 + 2 Σ ρ_k), by the
// cumulative autocorrelation of a batch: autocovariances of all coordinates,
// each in units of its variance over all of tuning so far, are averaged over
// the coordinates and summed as Geyer's initial monotone sequence says. A
// coordinate that does not move within a batch then counts as what it is.
//
// The paper names it and warns of it: a batch of ten transitions says little
// about autocorrelations. Make batches longer for it.
type Autocorrelation struct{}

// leastTime bounds the integrated autocorrelation time from below: antithetic
// draws in a short batch would make the efficiency infinite.
const leastTime = 0.25

// Signed implements [Reward].
func (Autocorrelation) Signed() bool { return false }

// Start implements [Reward].
func (Autocorrelation) Start(_ infer.Hamiltonian, target *infer.Meter) (Objective, error) {
	return &correlation{dim: target.Dim()}, nil
}

type correlation struct {
	dim   int
	seen  spread // of all transitions
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
	at := func(lag int) float64 { // pooled autocovariance, divided by n
		sum := 0.0
		for i := range c.dim {
			variance := c.seen.sum[i] / (c.seen.n - 1)
			if !(variance > 0) {
				continue
			}
			s := 0.0
			for t := 0; t+lag < n; t++ {
				s += (x[t*c.dim+i] - c.seen.mean[i]) * (x[(t+lag)*c.dim+i] - c.seen.mean[i])
			}
			sum += s / variance
		}
		return sum / float64(n*c.dim)
	}
	total, running := 0.0, math.Inf(1)
	for k := 0; k+1 < n; k += 2 {
		running = min(running, at(k)+at(k+1))
		if running <= 0 {
			break
		}
		total += running
	}
	return 1 / max(leastTime, 2*total-at(0)), nil
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
