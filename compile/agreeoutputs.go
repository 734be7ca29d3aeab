package compile

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
)

// This file compares the compiled outputs of a draw, transformed parameters and generated
// quantities, with the reference evaluator.
//
// A number agrees if the difference is at most agreeSum, plus the part for solvers, times the
// largest number of its variable. Otherwise two estimates show how much rounding matters. One uses
// the outputs at neighbouring points, so near that a comparison that rounding decides comes out
// both ways. The other is the rounding error that the derivatives of the reference predict. Outputs
// that depend on random draws are left out, because compiled programs draw in another order.

const (
	// outputPoints is the number of neighbouring points: half of them a few roundings away, half
	// within outputStep.
	outputPoints = 8
	outputStep   = 0x1p-36
	// maxOutputs bounds the outputs whose rounding error is estimated.
	maxOutputs = 3
)

// Outputs compares what the compiled program generates at the unconstrained point x with the
// reference evaluator, as [Comparer.Agree] compares log densities. The verdict is Output if a
// number is wrong, and Rejected or Refused if only one of the two rejects the point. The result is
// nil if the reference computes the outputs anyway.
func (c *Comparer) Outputs(x []float64, rng *rand.Rand, allowed time.Duration) (*Agreement, error) {
	if deeper, err := c.deeper(x, true); deeper != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return deeper.Outputs(x, rng, allowed)
	}
	// The time to make the program does not count, since the run needs it anyway.
	if p, err := c.m.generator(); p == nil {
		return nil, err
	}
	return c.within(x, c.outputSolver, allowed, func(now *agreeing) error {
		o := &outputs{agreeing: now, drawn: c.drawn, seed: rng.Uint64()}
		return o.compare(x, rng)
	})
}

// outputs is the state of a comparison of outputs.
type outputs struct {
	*agreeing
	drawn map[*ir.Var]bool
	seed  uint64 // of random draws
}

// env returns the environment of an evaluation, always with the same random draws.
func (o *outputs) env() *ad.Env {
	return &ad.Env{Rand: rand.New(rand.NewPCG(o.seed, 0)), Stop: o.stop}
}

// compiled returns the outputs of the compiled program.
func (o *outputs) compiled(x []float64) ([]float64, error) {
	out := make([]float64, len(o.m.bound.Names))
	return out, o.m.generate(o.env(), x, out)
}

func (o *outputs) compare(x []float64, rng *rand.Rand) error {
	a := o.a
	got, err := o.compiled(x)
	if err := stoppedOnly(err); err != nil {
		return err
	}
	vars, want, errWant := o.plain.OutputVars(o.m.split(x), o.env())
	a.Evaluations++
	if err := stoppedOnly(errWant); err != nil {
		return err
	}
	a.Tolerance = agreeSum // something was compared, even if the time ends now
	if err != nil || errWant != nil {
		a.Verdict, a.Reason = Vague, errors.Join(err, errWant).Error()
		if err != nil && errWant != nil || len(o.drawn) > 0 || o.solver > 0 {
			return nil
		}
		return o.rejected(x, rng, err != nil)
	}
	scales := map[*ir.Var]float64{}
	for i, v := range vars {
		if finite(want[i]) {
			scales[v] = max(scales[v], math.Abs(want[i]))
		}
	}
	tolerance := make([]float64, len(want))
	var differ []int
	for i, v := range vars {
		if o.drawn[v] {
			a.Drawn++
			continue
		}
		a.Outputs++
		tolerance[i] = (agreeSum + o.solved()) * scales[v]
		if !agreeWithin(got[i], want[i], tolerance[i]) {
			differ = append(differ, i)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	o.allowed = max(o.allowed, suspicious)
	a.Verdict, a.Reason = Vague, "it took too long to find out whether rounding explains a difference of outputs"
	unknown := len(differ) // of these
	if differ, err = o.beyondRounding(x, rng, got, want, tolerance, differ); err != nil {
		return err
	}
	if unknown -= len(differ); len(differ) == 0 {
		a.Verdict, a.Reason = Agrees, ""
		a.Outputs -= unknown
		return nil
	}
	i := differ[0]
	a.Reason = ""
	a.Verdict, a.Name, a.Compiled, a.Reference, a.Tolerance = Output, o.m.bound.Names[i], got[i], want[i], tolerance[i]
	return nil
}

// agreeWithin reports whether two numbers are equal within a tolerance, or equally infinite, or
// both NaN.
func agreeWithin(a, b, tolerance float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance
}

// pointNear returns a point near x: number k of outputPoints.
func pointNear(x []float64, k int, rng *rand.Rand) []float64 {
	if k%2 == 0 {
		return roundedAway(x, rng)
	}
	near := slices.Clone(x)
	for i, v := range near {
		near[i] = v + outputStep*(2*rng.Float64()-1)*max(1, math.Abs(v))
	}
	return near
}

// beyondRounding returns the differing outputs whose difference rounding does not explain.
func (o *outputs) beyondRounding(x []float64, rng *rand.Rand, got, want, tolerance []float64, differ []int) ([]int, error) {
	for k := range outputPoints {
		near := pointNear(x, k, rng)
		moved, err := o.compiled(near)
		if err := stoppedOnly(err); err != nil {
			return nil, err
		}
		_, reference, errWant := o.plain.OutputVars(o.m.split(near), o.env())
		o.a.Evaluations++
		if err := stoppedOnly(errWant); err != nil {
			return nil, err
		}
		if err != nil || errWant != nil || len(reference) != len(want) {
			return nil, nil // the point lies on a boundary
		}
		factor := 1.0 // the farther points find jumps
		if k%2 == 0 {
			factor = agreeNoise
		}
		for _, i := range differ {
			for _, d := range []float64{reference[i] - want[i], moved[i] - got[i]} {
				if !math.IsNaN(d) {
					tolerance[i] = max(tolerance[i], factor*math.Abs(d))
				}
			}
			if math.IsNaN(reference[i]) != math.IsNaN(want[i]) || math.IsNaN(moved[i]) != math.IsNaN(got[i]) {
				tolerance[i] = math.Inf(1)
			}
		}
	}
	explained := func(i int) bool {
		return math.IsInf(tolerance[i], 1) || agreeWithin(got[i], want[i], tolerance[i])
	}
	differ = slices.DeleteFunc(differ, explained)
	if len(differ) > maxOutputs {
		differ = differ[:maxOutputs]
	}
	var err error
	return slices.DeleteFunc(differ, func(i int) bool {
		if err != nil || !finite(got[i]) || !finite(want[i]) {
			return false
		}
		var rounding float64
		rounding, err = o.roundingOf(x, i)
		tolerance[i] = max(tolerance[i], agreeRounding*rounding)
		return explained(i)
	}), err
}

// roundingOf estimates the rounding error of an output; 0 where it cannot be found.
func (o *outputs) roundingOf(x []float64, place int) (rounding float64, err error) {
	r, err := o.plain.RecordOutput(o.m.split(x), o.env(), place)
	if err == nil {
		func() {
			defer ad.Recover(&err)
			rounding, err = o.m.roundingOf(r, x)
		}()
	}
	if err != nil {
		return 0, stoppedOnly(err)
	}
	return rounding, nil
}

// rejected tries neighbouring points if only one of the two evaluators rejects x. The rejection is
// wrong if the same happens at all of them.
func (o *outputs) rejected(x []float64, rng *rand.Rand, compiled bool) error {
	o.allowed = max(o.allowed, suspicious)
	for k := range outputPoints {
		near := pointNear(x, k, rng)
		_, err := o.compiled(near)
		if err := stoppedOnly(err); err != nil {
			return err
		}
		_, _, errWant := o.plain.OutputVars(o.m.split(near), o.env())
		o.a.Evaluations++
		if err := stoppedOnly(errWant); err != nil {
			return err
		}
		if (err != nil) != compiled || (errWant != nil) == compiled {
			return nil
		}
	}
	o.a.Verdict, o.a.Name = Rejected, "outputs"
	if compiled {
		o.a.Verdict = Refused
	}
	return nil
}
