package ppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/folder"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/cputime"
)

// This file: every run compares its compiled log density with the reference evaluator, before
// the first draw, at the end of warm-up and at the end of each chain. Where they disagree by more
// than rounding explains, the run goes on with a program that agrees.

// What a run spends on it.
const (
	checkShare = 0.05                  // of its processor time
	checkLeast = 20 * time.Millisecond // if that is more
	// checkStarts is the number of starting points that are tried until the density is finite
	// at one.
	checkStarts = 5
	// checkTrust is how much longer a comparison may take that looks for a program to trust.
	checkTrust = time.Minute
)

// errWrongDensity ends a run whose density is wrong. Sample begins it again.
var errWrongDensity = errors.New("ppl: the compiled log density is wrong")

// densityCheck is the comparisons of one run.
type densityCheck struct {
	posterior *Posterior // whose program is trusted so far
	rng       *rand.Rand
	record    folder.Density
	began     time.Time
	used      time.Duration // processor time of the process before the run
	parallel  int           // processors that the run takes
	each      time.Duration // that the last comparison took
	long      time.Duration // that a comparison was allowed which did not end
	trusted   bool          // it is the reference, with which nothing can be compared
	begun     []bool        // chains that have draws after warm-up
	last      [][]float64   // the last position of each chain

	point []float64          // where the density is wrong
	wrong *compile.Agreement // there
	when  string
}

func newDensityCheck(p *Posterior, o *Options) *densityCheck {
	parallel := o.Parallel
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	chains := o.Chains
	if chains <= 0 {
		chains = 4
	}
	return &densityCheck{posterior: p, rng: rand.New(rand.NewPCG(o.Seed, 0x9e3779b97f4a7c15)), began: time.Now(), used: cputime.Process(), parallel: min(parallel, chains)}
}

// allowance is the time that a comparison may take now.
func (c *densityCheck) allowance() time.Duration {
	// Other runs of the process use its time too.
	cost := min(time.Duration(c.parallel)*time.Since(c.began), cputime.Process()-c.used)
	run := time.Duration(checkShare * float64(cost))
	return max(run, checkLeast) - time.Duration(c.record.Seconds*float64(time.Second))
}

// at compares at a point, if there is time. It reports whether the density is wrong there.
func (c *densityCheck) at(x []float64, when string) bool {
	allowed := c.allowance()
	// A comparison that did not end is tried again when there is twice the time.
	if c.trusted || c.wrong != nil || allowed < 2*c.long || c.record.Points > 0 && allowed < c.each {
		return c.wrong != nil
	}
	a, err := c.posterior.Compiled().Agree(x, c.rng, allowed)
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

// start compares near the origin, before the first draw.
func (c *densityCheck) start() bool {
	for range checkStarts {
		x := make([]float64, c.posterior.Compiled().Dim())
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

// draw takes note of a draw, and compares at the first one after warm-up of each chain.
func (c *densityCheck) draw(d infer.Draw) bool {
	for len(c.last) <= d.Chain {
		c.last, c.begun = append(c.last, nil), append(c.begun, false)
	}
	c.last[d.Chain] = append(c.last[d.Chain][:0], d.Position...)
	if d.Warmup || c.begun[d.Chain] {
		return false
	}
	c.begun[d.Chain] = true
	return c.at(d.Position, "at the end of warm-up")
}

// end compares at the last draw of each chain.
func (c *densityCheck) end(ctx context.Context) bool {
	for _, x := range c.last {
		if x != nil && c.at(x, "at the end of a chain") {
			return true
		}
	}
	if c.record.Points == 0 && c.long > 0 {
		return c.part(ctx)
	}
	return false
}

// part compares the statements of the model block that fit into the time, at the end of a run
// that had none for a whole comparison.
func (c *densityCheck) part(ctx context.Context) bool {
	for _, x := range c.last {
		if x == nil || c.trusted {
			continue
		}
		a, share, err := c.posterior.Compiled().AgreePart(ctx, c.posterior.Data(), x, c.rng, max(c.allowance(), checkLeast))
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

// finish is the record of a run that has ended.
func (c *densityCheck) finish() *folder.Density {
	r := c.record
	if r.Share < 1 && r.Reason == "" && r.Wrong == nil {
		r.Reason = "one evaluation of the reference takes longer than the run has time for"
	}
	return &r
}

// replace puts a program that can be trusted in the place of the one that is wrong: the first
// that agrees of those without one of the passes, or else the reference.
func (c *densityCheck) replace(ctx context.Context) error {
	p := c.posterior
	w := folder.WrongDensity{When: c.when, Point: c.point, Compiled: c.wrong.Compiled, Reference: finiteOr0(c.wrong.Reference), Tolerance: c.wrong.Tolerance,
		What: folder.DensityValue, Message: c.wrong.Reason, Begun: c.last != nil}
	switch c.wrong.Verdict {
	case compile.Slopes:
		w.What, w.Direction = folder.DensityGradient, c.wrong.Direction
		w.Compiled, w.Reference, w.Tolerance = finiteOr0(c.wrong.CompiledSlope), c.wrong.ReferenceSlope, c.wrong.SlopeTolerance
	case compile.Rejected:
		w.What = folder.DensityRejection
	}
	agrees := func(m *compile.Model) bool {
		a, err := m.Agree(c.point, c.rng, checkTrust)
		switch {
		case err != nil:
			return false
		case c.wrong.Verdict == compile.Rejected: // by both
			return a.Verdict == compile.Vague
		}
		return a.Verdict == compile.Agrees && (a.Sloped || c.wrong.Verdict != compile.Slopes)
	}
	var instead *compile.Model
	for _, without := range c.programs() {
		m, err := p.Compiled().Rebind(ctx, p.Data(), without...)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && agrees(m) {
			if instead = m; len(without) == 1 {
				w.Pass = without[0]
				w.Instead = fmt.Sprintf("the program without the compiler's pass %s", w.Pass)
			} else {
				w.Instead = "the program without the compiler's passes"
			}
			break
		}
	}
	if instead == nil {
		instead, w.Instead, c.trusted = p.Compiled().Reference(), "the reference evaluator", true
	}
	c.record.Wrong = append(c.record.Wrong, w)
	c.posterior, c.wrong, c.point = p.With(instead), nil, nil
	c.last, c.begun, c.long = nil, nil, 0
	return nil
}

// programs are the passes to leave out, program by program. After one program that was trusted
// and wrong, only that without any pass is tried.
func (c *densityCheck) programs() (list [][]string) {
	if c.posterior.Compiled().Interpreted() {
		return nil
	}
	all := compile.Passes()
	if len(c.record.Wrong) == 0 {
		for _, name := range all {
			list = append(list, []string{name})
		}
	}
	if len(c.record.Wrong) < 2 {
		list = append(list, all)
	}
	return list
}

func finiteOr0(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// DensityCheck is what came of comparing the compiled log density with the reference evaluator;
// nil where nothing is known of it: of a run of an older version, or of draws without their run.
func (f *Fit) DensityCheck() *folder.Density {
	switch {
	case f == nil:
		return nil
	case f.density == nil && f.record != nil:
		return f.record.Density
	}
	return f.density
}

// densityFindings are findings of these comparisons: only where the density was wrong, or where
// less than all was compared.
func (f *Fit) densityFindings() []diagnose.Finding {
	d := f.DensityCheck()
	if d == nil {
		return nil
	}
	var found []diagnose.Finding
	for _, w := range d.Wrong {
		what := fmt.Sprintf("another %s than the model says: %.10g at one point, and not %.10g", w.What, w.Compiled, w.Reference)
		if w.What == folder.DensityRejection {
			what = fmt.Sprintf("a log density of %.10g where the model rejects the point (%s)", w.Compiled, w.Message)
		}
		done := "The draws are from " + w.Instead + "."
		if w.Begun {
			done = "The draws made until then were discarded; those of this run are from " + w.Instead + "."
		}
		found = append(found, diagnose.Finding{
			Code: "density-wrong", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("The compiled program computed %s. %s", what, done),
			Advice:  "This is a fault of ppl, not of your model. Please report it with the model, the data and the point. Compare the results with another program before you use them.", Settings: []string{"report-bug"},
		})
	}
	if d.Share < 1 && len(d.Wrong) == 0 {
		found = append(found, diagnose.Finding{
			Code: "density-unchecked", Severity: diagnose.Note,
			Summary: fmt.Sprintf("The compiled log density was compared with the reference evaluator for %.0f %% of the statements only: %s.", 100*d.Share, d.Reason),
			Advice:  "Longer runs have more time for the comparison. It can also be made in full, however long that takes.", Settings: []string{"report-bug"},
		})
	}
	return found
}
