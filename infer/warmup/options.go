package warmup

import (
	"fmt"

	"github.com/ppl-lang/ppl/infer"
)

// Options of adaptation that samplers share. The zero value is Stan's default:
// a diagonal metric learnt in windows, step size 1 to start the search from.
type Options struct {
	StepSize      float64 // where the search starts, or the fixed step size; 0: 1
	FixedStepSize bool    // no search, no adaptation of the step size

	Metric      infer.MetricKind // "": Diagonal
	FixedMetric bool             // keep the metric that the run starts with

	Averaging Averaging

	// Transitions at the beginning and at the end in which only the step size
	// is adapted, and length of the first window. 0: 75, 50, 25 (see
	// [Schedule]); negative: 0.
	StartBuffer, EndBuffer, BaseWindow int
}

// Squares implements [infer.Squares] for a sampler whose metric these options choose. A dense
// metric needs three matrices: the metric, its factor and the covariance from which it is learnt.
func (o Options) Squares() int {
	if o.Metric == infer.Dense {
		return 6
	}
	return 0
}

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	a := o.Averaging
	if err := infer.CheckOptions(map[string]float64{"stepsize": o.StepSize, "delta": a.Delta, "gamma": a.Gamma, "kappa": a.Kappa, "t0": a.T0, "reach": a.Reach}); err != nil {
		return err
	}
	if err := infer.CheckOptions(map[string]int{"init-buffer": max(0, o.StartBuffer), "window": max(0, o.BaseWindow), "term-buffer": max(0, o.EndBuffer)}); err != nil {
		return err
	}
	switch o.Metric {
	case "", infer.Unit, infer.Diagonal, infer.Dense, infer.LowRank:
		return nil
	}
	return fmt.Errorf("unknown metric %q; it can be %s, %s, %s or %s", o.Metric, infer.Unit, infer.Diagonal, infer.Dense, infer.LowRank)
}

// Start returns the initial step size.
func (o Options) Start() float64 {
	if o.StepSize == 0 {
		return 1
	}
	return o.StepSize
}

// MetricKind returns the kind of the metric.
func (o Options) MetricKind() infer.MetricKind {
	if o.Metric == "" {
		return infer.Diagonal
	}
	return o.Metric
}

// Stages returns a warm-up of n transitions, as in Stan. The first dual averaging shrinks towards
// ten times the step size with which the chain began (the option StepSize, unless the run sets
// another). All later ones shrink towards ten times the step size that the search has found.
func (o Options) Stages(n int) []infer.Stage {
	var stages []infer.Stage
	search := func() {
		if !o.FixedStepSize {
			stages = append(stages, Search{})
		}
	}
	first := true
	window := func(length, skip int, learn infer.MetricKind) {
		if length > 0 {
			stages = append(stages, Window{Length: length, Skip: skip, Learn: learn, Averaging: o.Averaging, First: first, FixedStepSize: o.FixedStepSize})
			first = false
		}
	}
	search()
	kind := o.MetricKind()
	if kind == infer.Unit || o.FixedMetric {
		window(n, n, "")
		return stages
	}
	windows, start, end := Schedule(n, buffer(o.StartBuffer, 75), buffer(o.BaseWindow, 25), buffer(o.EndBuffer, 50))
	if len(windows) == 0 {
		window(n, n, "")
		return stages
	}
	// The averaging that begins in the start buffer goes on in the first window.
	for _, length := range windows {
		window(start+length, start, kind)
		search()
		start = 0
	}
	window(end, end, "")
	return stages
}

func buffer(v, standard int) int {
	switch {
	case v == 0:
		return standard
	case v < 0:
		return 0
	}
	return v
}
