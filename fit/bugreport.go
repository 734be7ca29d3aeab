package fit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/model"
)

// BugReport compares a compiled log density and outputs with the reference evaluator at some
// points, and has everything needed to repeat the comparison. Make one with [NewBugReport].
type BugReport struct {
	Points     [][]float64          // unconstrained
	Agreements []*compile.Agreement // at these points

	posterior *model.Posterior
	recorded  *folder.Density // result of the run's self-check; nil: none
}

// NewBugReport compares the log density with the reference evaluator at the given points, and at
// those where a run found it wrong, without a time limit. recorded is [Fit.DensityCheck] of the
// run, or nil. It stops when ctx ends.
func NewBugReport(ctx context.Context, p *model.Posterior, points [][]float64, recorded *folder.Density) (*BugReport, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, model.ErrNoContext
	}
	r := &BugReport{posterior: p, recorded: recorded, Points: slices.Clone(points)}
	if recorded != nil {
		for _, w := range recorded.Wrong {
			r.Points = append(r.Points, w.Point)
		}
	}
	bound := p.Compiled().Clone()
	bound.SetStop(func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	})
	rng := rand.New(rand.NewPCG(1, 1))
	comparer, err := bound.Comparer()
	if err != nil {
		return nil, err
	}
	for _, x := range r.Points {
		if len(x) != p.Dim() {
			return nil, fmt.Errorf("ppl: a point of length %d for a posterior of dimension %d", len(x), p.Dim())
		}
		a, err := comparer.Agree(x, rng, math.MaxInt64)
		if err == nil && !a.Wrong() {
			var outputs *compile.Agreement
			if outputs, err = comparer.Outputs(x, rng, math.MaxInt64); outputs != nil && outputs.Wrong() {
				a = outputs
			}
		}
		if err != nil {
			return nil, err
		}
		r.Agreements = append(r.Agreements, a)
	}
	return r, nil
}

// Wrong reports whether the log density is wrong at one of the points, or was found wrong in the
// run.
func (r *BugReport) Wrong() bool {
	return r.recorded != nil && len(r.recorded.Wrong) > 0 || slices.ContainsFunc(r.Agreements, (*compile.Agreement).Wrong)
}

// Compared is the number of points at which the two log densities could be compared.
func (r *BugReport) Compared() int {
	n := 0
	for _, a := range r.Agreements {
		if a.Wrong() || a.Verdict == compile.Agrees {
			n++
		}
	}
	return n
}

// Excess is the largest difference, in units of the rounding tolerance, at the points where the two
// log densities agree.
func (r *BugReport) Excess() float64 {
	worst := 0.0
	for _, a := range r.Agreements {
		if a.Verdict == compile.Agrees {
			worst = max(worst, a.Excess())
		}
	}
	return worst
}

// Write writes the report as one Markdown text: the differences, the points, the version, the model
// with its includes, the data, and the compiled program. Read it before you send it.
func (r *BugReport) Write(to io.Writer) error {
	w := bufio.NewWriter(to)
	p := r.posterior
	fmt.Fprintf(w, "# Report of a fault of ppl\n\nThis file holds your model and your data. Read it before you send it to anybody, and remove what must stay private.\n\n")
	fmt.Fprintf(w, "- ppl %s, %s, %s/%s, processor level %s\n- written at %s\n\n", model.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, compile.CPULevel(), time.Now().UTC().Format(time.DateTime))
	fmt.Fprintf(w, "## The comparison\n\nThe compiled log density and the reference evaluator:\n\n| point | verdict | compiled | reference | tolerance | slope | of the reference | tolerance |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for i, a := range r.Agreements {
		fmt.Fprintf(w, "| %d | %s | %.17g | %.17g | %.3g |", i+1, strings.TrimSpace(a.Verdict.String()+" "+a.Name), a.Compiled, a.Reference, a.Tolerance)
		if a.Sloped {
			fmt.Fprintf(w, " %.17g | %.17g | %.3g |", a.CompiledSlope, a.ReferenceSlope, a.SlopeTolerance)
		} else {
			fmt.Fprint(w, " | | |")
		}
		fmt.Fprintf(w, "\n")
	}
	if r.recorded != nil {
		for _, x := range r.recorded.Wrong {
			fmt.Fprintf(w, "\nThe run found another %s%s %s: %.17g and not %.17g (tolerance %.3g). It went on with %s.\n", x.What, strings.TrimRight(" "+x.Name, " "), x.When, x.Compiled, x.Reference, x.Tolerance, x.Instead)
		}
	}
	fmt.Fprintf(w, "\n## The points\n\n```json\n{\"points\": [\n")
	for i, x := range r.Points {
		numbers := make([]string, len(x))
		for k, v := range x {
			numbers[k] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		end := ",\n"
		if i == len(r.Points)-1 {
			end = "\n"
		}
		fmt.Fprintf(w, "  [%s]%s", strings.Join(numbers, ", "), end)
	}
	fmt.Fprintf(w, "]}\n```\n\n## How it was bound\n\nSeed %d, transforms of Stan %q, without the passes %v, proportional %v, Jacobian %v.\n", p.Options().Seed, p.Options().StanCompat, p.Options().Without, !p.Options().NoPropto, !p.Options().NoJacobian)
	fmt.Fprintf(w, "\n## The model\n\n```stan\n%s\n```\n", strings.TrimRight(p.Model().Text(), "\n"))
	included := p.Model().Included()
	for _, name := range slices.Sorted(maps.Keys(included)) {
		fmt.Fprintf(w, "\nIt includes %s:\n\n```stan\n%s\n```\n", name, strings.TrimRight(included[name], "\n"))
	}
	fmt.Fprintf(w, "\n## The data\n\n```json\n")
	err := p.Data().WriteJSON(w)
	fmt.Fprintf(w, "\n```\n\n## The compiled program\n\n```\n")
	listing, errListing := p.Compiled().Listing()
	fmt.Fprintf(w, "%s```\n", listing)
	return errors.Join(err, errListing, w.Flush())
}
