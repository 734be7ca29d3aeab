// Package selfcheck compares the compiled log density of a run with the reference evaluator. It
// does so before the first draw, at the end of warm-up and at the end of each chain. At draws it
// also compares the outputs: transformed parameters and generated quantities. If they differ by
// more than rounding, the run continues with a program that agrees. Everything that draws from a
// posterior, or exposes its log density, uses this check.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	selfcheck.go  Check: the comparisons of one run, and the program that it trusts
//	findings.go   Findings: reports of the comparisons to users
package selfcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/internal/cputime"
)

// The time that a run spends on the check.
const (
	checkShare = 0.05                  // maximum share of the run's processor time
	checkMin   = 20 * time.Millisecond // what even a short run may spend, see [Check.Min]
	// checkStarts is the maximum number of random points tried to find one with a finite density.
	checkStarts = 5
	// checkTrust is the time limit for each comparison with a replacement of a wrong program.
	checkTrust = time.Minute
)

// ErrWrong ends a run whose log density is wrong. The run begins again with the program that
// [Check.Replace] finds.
var ErrWrong = errors.New("ppl: the compiled log density is wrong")

// Check makes the comparisons of one run.
type Check struct {
	// Min is the processor time that comparisons may take even if the run is short.
	Min time.Duration

	// Stop is called during long comparisons; they end if it returns an error. New makes it return
	// the cause of the context's end. If the error has a method Leave, a computation that cannot be
	// interrupted calls it.
	Stop func() error

	bound    *compile.Model // the currently trusted program
	comparer *compile.Comparer
	values   *data.Set // data of bound
	rng      *rand.Rand
	record   folder.Density
	began    time.Time
	used     time.Duration // processor time of the process when the run began
	parallel int           // number of processors that the run uses
	each     time.Duration // time of the last comparison
	long     time.Duration // time limit that the last comparison exceeded, if it did
	// The same times for comparisons of outputs.
	eachOutputs, longOutputs time.Duration
	without                  []string    // compiler passes left out so that the program is correct
	trusted                  bool        // bound is the reference evaluator itself
	begun                    []bool      // whether each chain has a draw after warm-up
	last                     [][]float64 // the last position of each chain

	point []float64          // point at which the density is wrong
	wrong *compile.Agreement // result of the comparison at that point
	when  string
}

// New makes the check of a run with the given number of chains, parallel of which run at a time; 0
// means the defaults of a run. The seed selects the points. When ctx ends, comparisons end without
// a result.
func New(ctx context.Context, bound *compile.Model, values *data.Set, seed uint64, chains, parallel int) *Check {
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	if chains <= 0 {
		chains = 4
	}
	stop := func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
	return &Check{Min: checkMin, Stop: stop, bound: bound, values: values, rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), began: time.Now(), used: cputime.Process(), parallel: min(parallel, chains)}
}

// Trust makes the check for callers that evaluate the log density without making draws. It compares
// near the origin, so that the program of [Check.Bound] agrees there. Callers pass the points that
// they reach to [Check.At].
func Trust(ctx context.Context, bound *compile.Model, values *data.Set, seed uint64) (*Check, error) {
	c := New(ctx, bound, values, seed, 1, 1)
	for c.Start() {
		if err := c.Replace(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.Stop(); err != nil {
		return nil, err
	}
	return c, nil
}

// pointOfResults describes, in messages, a point that the caller chose.
const pointOfResults = "at a point of the results"

// At compares log densities at some of the points that a caller uses: the first, the last and the
// middle one, if there is time. It reports whether the program was wrong there and was replaced. In
// that case the caller must begin again with the new one.
func (c *Check) At(ctx context.Context, points ...[]float64) (replaced bool, err error) {
	return c.among(ctx, points, c.at)
}

// Outputs is like [Check.At], but compares the outputs instead of the log density.
func (c *Check) Outputs(ctx context.Context, points ...[]float64) (replaced bool, err error) {
	return c.among(ctx, points, c.outputs)
}

// Draws is like [Check.At], but compares both the log density and the outputs.
func (c *Check) Draws(ctx context.Context, points ...[]float64) (replaced bool, err error) {
	return c.among(ctx, points, c.whole)
}

func (c *Check) among(ctx context.Context, points [][]float64, wrong func(x []float64, when string) bool) (replaced bool, err error) {
	if n := len(points); n > 3 {
		points = [][]float64{points[0], points[n-1], points[n/2]}
	}
	for _, x := range points {
		for wrong(x, pointOfResults) {
			if err := c.Replace(ctx); err != nil {
				return replaced, err
			}
			replaced = true
		}
	}
	return replaced, nil
}

// Bound returns the currently trusted program.
func (c *Check) Bound() *compile.Model { return c.bound }

// allowance returns the time that a comparison may take now.
func (c *Check) allowance() time.Duration {
	// The processor time of the process includes other runs, so bound it by this run's elapsed
	// time.
	cost := min(time.Duration(c.parallel)*time.Since(c.began), cputime.Process()-c.used)
	run := time.Duration(checkShare * float64(cost))
	return max(run, c.Min) - time.Duration(c.record.Seconds*float64(time.Second))
}

// at compares the log density at a point, if there is time. It reports whether it is wrong there.
func (c *Check) at(x []float64, when string) bool {
	allowed := c.allowance()
	// Repeat a comparison that exceeded its limit only when twice that time is available.
	if c.stopped() || c.trusted || c.wrong != nil || allowed < 2*c.long || c.record.Points > 0 && allowed < c.each {
		return c.wrong != nil
	}
	var err error
	if c.comparer == nil {
		err = c.compare()
	}
	var a *compile.Agreement
	if err == nil {
		a, err = c.comparer.Agree(x, c.rng, allowed)
	}
	if err != nil {
		c.record.Reason = err.Error()
		return false
	}
	c.record.Seconds += a.Elapsed.Seconds()
	switch {
	case a.Wrong():
		c.wrong, c.point, c.when = a, slices.Clone(x), when
		return true
	case a.Verdict == compile.TooLong:
		c.long = a.Elapsed
	case a.Verdict == compile.Agrees:
		c.each, c.record.Share, c.record.Reason = a.Elapsed, 1, ""
		if !a.Sloped && a.Evaluations > 0 { // the next comparison needs time for a gradient too
			c.each = max(c.each, 5*a.Elapsed/time.Duration(2*a.Evaluations))
		}
		c.record.Points++
		if a.Sloped {
			c.record.Slopes++
		}
		c.record.Excess = max(c.record.Excess, a.Excess())
	case c.record.Points == 0:
		c.record.Reason = a.Reason
	}
	return false
}

// stopped reports whether comparisons should end.
func (c *Check) stopped() bool { return c.Stop() != nil }

// compare makes the comparer of the current program with the reference.
func (c *Check) compare() (err error) {
	if c.comparer, err = c.bound.Comparer(); err == nil {
		c.comparer.Stop = c.Stop
	}
	return err
}

// whole compares both the log density and the outputs at a draw.
func (c *Check) whole(x []float64, when string) bool {
	return c.at(x, when) || c.outputs(x, when)
}

// outputs compares the outputs at the point x of a draw, if there is time. It reports whether one
// is wrong there.
func (c *Check) outputs(x []float64, when string) bool {
	allowed := c.allowance()
	if c.stopped() || c.trusted || c.wrong != nil || allowed < 2*c.longOutputs || allowed < c.eachOutputs {
		return c.wrong != nil
	}
	var err error
	if c.comparer == nil {
		err = c.compare()
	}
	var a *compile.Agreement
	if err == nil {
		a, err = c.comparer.Outputs(x, c.rng, allowed)
	}
	if c.record.Outputs == nil {
		c.record.Outputs = &folder.OutputCheck{}
	}
	o := c.record.Outputs
	switch {
	case err != nil:
		o.Add(folder.OutputCheck{Reason: err.Error()})
		return false
	case a == nil:
		o.Add(folder.OutputCheck{Reason: "the reference computes them"})
		return false
	}
	c.record.Seconds += a.Elapsed.Seconds()
	switch {
	case a.Wrong():
		c.wrong, c.point, c.when = a, slices.Clone(x), when
		return true
	case a.Verdict == compile.TooLong:
		c.longOutputs = a.Elapsed
		o.Add(folder.OutputCheck{Reason: a.Reason})
	case a.Verdict == compile.Agrees:
		c.eachOutputs = a.Elapsed
		o.Add(folder.OutputCheck{Points: 1, Compared: a.Outputs, Drawn: a.Drawn})
	default:
		o.Add(folder.OutputCheck{Reason: a.Reason})
	}
	return false
}

// Start compares near the origin, before the first draw. It reports whether the log density is
// wrong; then, as after Draw and End, the caller calls Replace and begins again.
func (c *Check) Start() bool {
	for range checkStarts {
		x := make([]float64, c.bound.Dim())
		for i := range x {
			x[i] = 2*c.rng.Float64() - 1
		}
		if c.at(x, "before the first draw") {
			return true
		}
		if c.record.Points > 0 || c.long > 0 {
			break
		}
	}
	return false
}

// Draw records the unconstrained position of a chain's draw, and compares at the first draw of each
// chain after warm-up.
func (c *Check) Draw(chain int, warmup bool, x []float64) bool {
	for len(c.last) <= chain {
		c.last, c.begun = append(c.last, nil), append(c.begun, false)
	}
	c.last[chain] = append(c.last[chain][:0], x...)
	if warmup || c.begun[chain] {
		return false
	}
	c.begun[chain] = true
	return c.whole(x, "at the end of warm-up")
}

// End compares at the last draw of each chain.
func (c *Check) End(ctx context.Context) bool {
	for _, x := range c.last {
		if x != nil && c.whole(x, "at the end of a chain") {
			return true
		}
	}
	if c.record.Points == 0 && c.long > 0 {
		return c.part(ctx)
	}
	return false
}

// part compares as many statements of the model block as time allows. It is for the end of a run in
// which there was no time for a full comparison.
func (c *Check) part(ctx context.Context) bool {
	for _, x := range c.last {
		if x == nil || c.trusted {
			continue
		}
		a, share, err := c.bound.AgreePart(ctx, c.values, x, c.rng, max(c.allowance(), c.Min))
		if err != nil || a == nil {
			return false
		}
		c.record.Seconds += a.Elapsed.Seconds()
		if a.Wrong() {
			c.wrong, c.point, c.when = a, slices.Clone(x), "at the end of a chain"
			return true
		}
		if a.Verdict == compile.Agrees {
			c.record.Points, c.record.Share, c.record.Excess = 1, share, a.Excess()
			if a.Sloped {
				c.record.Slopes = 1
			}
		}
		return false
	}
	return false
}

// Record returns the results so far.
func (c *Check) Record() *folder.Density {
	r := c.record
	if o := c.record.Outputs; o != nil {
		copied := *o
		r.Outputs = &copied
	}
	if r.Share < 1 && r.Reason == "" && r.Wrong == nil {
		r.Reason = "one evaluation of the reference takes longer than the run has time for"
	}
	return &r
}

// Replace replaces a wrong program by a correct one: the first that agrees with the reference when
// compiler passes are left out, or else the reference evaluator itself.
func (c *Check) Replace(ctx context.Context) error {
	w := folder.WrongDensity{When: c.when, Point: c.point, Compiled: c.wrong.Compiled, Reference: finiteOr0(c.wrong.Reference), Tolerance: c.wrong.Tolerance,
		What: folder.DensityValue, Name: c.wrong.Name, Message: c.wrong.Reason, Begun: c.last != nil}
	switch c.wrong.Verdict {
	case compile.Slopes:
		w.What, w.Direction = folder.DensityGradient, c.wrong.Direction
		w.Compiled, w.Reference, w.Tolerance = finiteOr0(c.wrong.CompiledSlope), c.wrong.ReferenceSlope, c.wrong.SlopeTolerance
	case compile.Output:
		w.What = folder.DensityOutput
		w.Compiled = finiteOr0(w.Compiled)
	case compile.Rejected:
		w.What = folder.DensityRejection
	case compile.Refused:
		w.What = folder.DensityRefusal
	}
	agrees := func(m *compile.Model) bool {
		if c.wrong.Verdict == compile.Output || c.wrong.Name != "" {
			return c.outputsAgree(m)
		}
		a, err := m.Agree(c.point, c.rng, checkTrust)
		switch {
		case err != nil:
			return false
		case c.wrong.Verdict == compile.Rejected: // the compiled program and the reference both reject the point
			return a.Verdict == compile.Vague
		}
		return a.Verdict == compile.Agrees && (a.Sloped || c.wrong.Verdict != compile.Slopes)
	}
	instead, without, err := c.rightProgram(ctx, agrees)
	switch {
	case err != nil:
		return err
	case len(without) == 1:
		w.Pass = without[0]
		w.Instead = fmt.Sprintf("the program without the compiler's pass %s", w.Pass)
	case instead != nil:
		w.Instead = "the program without the compiler's passes"
	}
	c.without = append(c.without, without...)
	if instead == nil {
		instead, w.Instead, c.trusted = c.bound.Reference(), "the reference evaluator", true
	}
	c.record.Wrong = append(c.record.Wrong, w)
	c.bound, c.comparer, c.wrong, c.point = instead, nil, nil, nil
	c.last, c.begun, c.long = nil, nil, 0
	c.eachOutputs, c.longOutputs, c.record.Outputs = 0, 0, nil
	return nil
}

// outputsAgree reports whether another program computes the correct outputs and log density at the
// point where the outputs of the current program are wrong.
func (c *Check) outputsAgree(m *compile.Model) bool {
	k, err := m.Comparer()
	if err != nil {
		return false
	}
	density, err := k.Agree(c.point, c.rng, checkTrust)
	if err != nil || density.Wrong() {
		return false
	}
	a, err := k.Outputs(c.point, c.rng, checkTrust)
	if err != nil || a == nil {
		return err == nil // without a comparer, the reference itself computes the outputs
	}
	return a.Verdict == compile.Agrees || c.wrong.Verdict == compile.Rejected && a.Verdict == compile.Vague
}

// rightProgram finds a program that agrees with the reference when compiler passes are left out,
// and returns these passes. It is nil if there is none. It first tries the program without any
// passes; if that is wrong, no pass is at fault. Then it leaves out one pass after another. If an
// earlier replacement turned out to be wrong, it tries only the program without any passes.
func (c *Check) rightProgram(ctx context.Context, agrees func(*compile.Model) bool) (right *compile.Model, without []string, err error) {
	if c.bound.Interpreted() || len(c.record.Wrong) > 1 {
		return nil, nil, nil
	}
	all := compile.Passes()
	try := func(without ...string) (m *compile.Model, agreed, bound bool) {
		m, err := c.bound.Rebind(ctx, c.values, without...)
		return m, err == nil && agrees(m), err == nil
	}
	bare, agreed, bound := try(all...)
	if bound && !agreed {
		return nil, nil, contextError(ctx)
	}
	if len(c.record.Wrong) == 0 {
		for _, name := range all {
			if err := contextError(ctx); err != nil {
				return nil, nil, err
			}
			if m, agreed, _ := try(name); agreed {
				return m, []string{name}, nil
			}
		}
	}
	if !agreed {
		return nil, nil, contextError(ctx)
	}
	return bare, all, contextError(ctx)
}

// contextError returns the cause of the context's end, or nil before its end.
func contextError(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func finiteOr0(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// verdict is the result of the self-check in the form in which a run keeps it for resuming.
type verdict struct {
	Density   folder.Density `json:"density"`
	Without   []string       `json:"without,omitempty"` // passes
	Reference bool           `json:"reference,omitempty"`
}

// Verdict encodes which program the run trusts, so that a resumed run uses it again. It is nil if
// that is the program as compiled.
func (c *Check) Verdict() ([]byte, error) {
	if len(c.record.Wrong) == 0 {
		return nil, nil
	}
	return json.MarshalIndent(verdict{*c.Record(), c.without, c.trusted}, "", "  ")
}

// Restore restores the program that the resumed run trusts, because its draws come from that
// program. If a pass that it leaves out no longer exists, Restore uses the reference evaluator.
func (c *Check) Restore(ctx context.Context, encoded []byte) error {
	var v verdict
	if err := json.Unmarshal(encoded, &v); err != nil {
		return fmt.Errorf("ppl: which program the run trusts cannot be read: %w", err)
	}
	instead := c.bound.Reference()
	if !v.Reference {
		m, err := c.bound.Rebind(ctx, c.values, v.Without...)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if v.Reference = err != nil; err == nil {
			instead = m
		}
	}
	c.bound, c.without, c.trusted, c.record = instead, v.Without, v.Reference, v.Density
	return nil
}
