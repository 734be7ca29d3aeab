package bayesopt

import (
	"fmt"
	"math"
)

// Optimizer maximises a noisy function on a grid; use [ScaleRange] for a function that may be
// negative. It is not safe for concurrent use.
type Optimizer struct {
	grid    Grid
	options Options
	process *process

	scale   float64 // s
	maximum float64 // largest reward; -Inf before the first
	minimum float64 // smallest reward; +Inf before the first
	best    int     // point with the largest reward
}

// New prepares the maximisation over a grid. It returns an error if grid or options are invalid.
func New(grid Grid, options Options) (*Optimizer, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	if len(grid) == 0 {
		return nil, fmt.Errorf("bayesopt: a grid without axes")
	}
	options = options.withDefaults()
	lengthScales := make([]float64, len(grid))
	for j, axis := range grid {
		if err := axis.validate(); err != nil {
			return nil, err
		}
		c := axis.coordinates()
		lengthScales[j] = options.LengthScale * (c[len(c)-1] - c[0])
		if lengthScales[j] == 0 {
			lengthScales[j] = 1 // the axis has one value, so there are no distances
		}
	}
	return &Optimizer{
		grid:    grid,
		options: options,
		process: newProcess(grid, options.SignalVariance, options.NoiseVariance, lengthScales),
		scale:   1,
		maximum: math.Inf(-1),
		minimum: math.Inf(1),
	}, nil
}

// Observe adds the reward r of a point, given its number (Algorithm 2, line 5), and updates the
// scale (lines 6 to 8). If the reward is not finite, it returns an error and changes nothing.
func (o *Optimizer) Observe(point int, r float64) error {
	if point < 0 || point >= o.process.size {
		return fmt.Errorf("bayesopt: point %d of a grid of %d", point, o.process.size)
	}
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return fmt.Errorf("bayesopt: a reward of %v", r)
	}
	o.process.observe(point, r)
	if o.options.Scale == ScaleRange {
		o.process.prior += (r - o.process.prior) / float64(o.process.total)
		if r > o.maximum {
			o.maximum, o.best = r, point
		}
		o.minimum = min(o.minimum, r)
		if s := o.options.RewardMaximum / (o.maximum - o.minimum); !math.IsInf(s, 0) {
			o.scale = s
		}
		return nil
	}
	if r > o.maximum { // strictly greater: the paper's line 6
		first := math.IsInf(o.maximum, -1)
		o.maximum, o.best = r, point
		if r > 0 && !(first && o.options.Scale == ScaleReleased) {
			if s := o.options.RewardMaximum / r; !math.IsInf(s, 0) {
				o.scale = s
			}
		}
	}
	return nil
}

// Next returns the point with the largest acquisition (Algorithm 2, line 12). p in [0, 1] anneals
// the exploration: 0 is pure exploitation. If several points are equal, it returns the lowest
// number, so without observations it returns 0.
func (o *Optimizer) Next(p float64) int {
	o.process.refresh()
	weight := o.weight(p)
	next, largest := 0, math.Inf(-1)
	for point := range o.process.size {
		if u := o.acquisition(point, weight); u > largest {
			next, largest = point, u
		}
	}
	return next
}

// acquisition returns u of a point. The process must be up to date.
func (o *Optimizer) acquisition(point int, weight float64) float64 {
	mean, variance := o.process.posterior(point)
	width := variance
	if o.options.Width == WidthSD {
		width = math.Sqrt(variance)
	}
	return o.scale*mean + weight*width
}

// weight returns the factor of the width in the acquisition function.
func (o *Optimizer) weight(p float64) float64 {
	beta := o.Beta()
	switch o.options.Annealing {
	case AnnealBeta:
		return math.Sqrt(p * beta)
	case AnnealNone:
		return math.Sqrt(beta)
	}
	return p * math.Sqrt(beta)
}

// Beta returns the confidence parameter 2 log(t^{d/2+2} π²/(3δ)) for the next choice, where t is
// one more than the number of observations (see [Time]).
func (o *Optimizer) Beta() float64 {
	t := float64(o.process.total)
	if o.options.Time == TimeNext {
		t++
	}
	t = max(t, 1)
	d := float64(len(o.grid))
	return 2 * ((d/2+2)*math.Log(t) + math.Log(math.Pi*math.Pi/(3*o.options.Delta)))
}

// Scale returns s, the factor that scales the largest reward to RewardMaximum.
func (o *Optimizer) Scale() float64 { return o.scale }

// Observations returns the number of rewards so far.
func (o *Optimizer) Observations() int { return o.process.total }

// Distinct returns the number of distinct observed points.
func (o *Optimizer) Distinct() int { return len(o.process.observed) }

// Best returns the largest reward and its point; ok is false before the first reward. Since it is
// the maximum of noisy values, it is too optimistic. To choose a point, use Next(0).
func (o *Optimizer) Best() (point int, reward float64, ok bool) {
	return o.best, o.maximum, o.process.total > 0
}

// Grid returns the grid, which must not be modified.
func (o *Optimizer) Grid() Grid { return o.grid }

// Belief is the posterior of the function at one point.
type Belief struct {
	Coordinates  []float64
	Mean         float64 // of the function, in the unit of the rewards
	SD           float64 // posterior standard deviation, in the same unit
	Observations int
	Average      float64 // of the observed rewards; NaN if there are none
}

// Surface returns the posterior at every point of the grid, in its order.
func (o *Optimizer) Surface() []Belief {
	o.process.refresh()
	surface := make([]Belief, o.process.size)
	for point := range surface {
		mean, variance := o.process.posterior(point)
		b := Belief{Coordinates: o.grid.Point(point), Mean: mean + o.process.prior, SD: math.Sqrt(variance) / o.scale, Average: math.NaN()}
		if at := o.process.place[point]; at >= 0 {
			b.Observations, b.Average = o.process.observed[at].count, o.process.observed[at].mean
		}
		surface[point] = b
	}
	return surface
}
