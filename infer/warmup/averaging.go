package warmup

import (
	"errors"
	"math"
)

// Averaging are the constants of dual averaging; zero fields are Stan's
// defaults.
type Averaging struct {
	Delta float64 // target of the mean acceptance statistic, in (0, 1); 0: 0.8
	Gamma float64 // strength of the shrinkage towards Reach times the first step size; 0: 0.05
	Kappa float64 // decay of the weights of earlier iterates; 0: 0.75
	T0    float64 // damping of the first iterations; 0: 10
	Reach float64 // factor on the first step size, see Gamma; 0: 10
}

func (a Averaging) withDefaults() Averaging {
	def := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	def(&a.Delta, 0.8)
	def(&a.Gamma, 0.05)
	def(&a.Kappa, 0.75)
	def(&a.T0, 10)
	def(&a.Reach, 10)
	return a
}

// DualAveraging adapts the logarithm of a step size so that the mean
// acceptance statistic goes to a target: Nesterov's primal-dual averaging as
// in Hoffman and Gelman, "The No-U-Turn Sampler" (2014), section 3.2.
type DualAveraging struct {
	c     Averaging
	mu    float64 // shrinkage point of log eps
	first float64 // step size before any update
	n     float64 // number of updates
	bar   float64 // weighted mean of Delta - acceptance
	x     float64 // average iterate of log eps
}

// NewDualAveraging starts at step size eps, shrinking towards Reach times that.
func NewDualAveraging(c Averaging, eps float64) *DualAveraging {
	c = c.withDefaults()
	return &DualAveraging{c: c, mu: math.Log(c.Reach * eps), first: eps}
}

// Update takes the acceptance statistic of a transition and returns the step size for the next one,
// which explores.
func (d *DualAveraging) Update(acceptStat float64) float64 {
	if math.IsNaN(acceptStat) {
		acceptStat = 0
	}
	d.n++
	eta := 1 / (d.n + d.c.T0)
	d.bar += eta * (d.c.Delta - min(1, acceptStat) - d.bar)
	log := d.mu - d.bar*math.Sqrt(d.n)/d.c.Gamma
	d.x += math.Pow(d.n, -d.c.Kappa) * (log - d.x)
	return math.Exp(log)
}

// State returns all that later results depend on, as numbers. SetState sets an average with the
// same constants to that state.
func (d *DualAveraging) State() []float64 { return []float64{d.mu, d.first, d.n, d.bar, d.x} }

// SetState undoes [DualAveraging.State]. It takes the first numbers of s and returns the others.
func (d *DualAveraging) SetState(s []float64) ([]float64, error) {
	if len(s) < 5 {
		return nil, errState
	}
	d.mu, d.first, d.n, d.bar, d.x = s[0], s[1], s[2], s[3], s[4]
	return s[5:], nil
}

var errState = errors.New("warmup: the saved state of a stage makes no sense: was the run started by another version?")

// Final returns the averaged step size, for use after adaptation.
func (d *DualAveraging) Final() float64 {
	if d.n == 0 {
		return d.first
	}
	return math.Exp(d.x)
}
