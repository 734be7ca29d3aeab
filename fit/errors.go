package fit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/warmup"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// InterruptedError says that the context of [Sample] was cancelled before all
// draws were made. Cause is the cancellation's.
type InterruptedError struct{ Cause error }

// Error implements error.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("sampling was interrupted: %v", e.Cause)
}

// Unwrap returns the cause.
func (e *InterruptedError) Unwrap() error { return e.Cause }

// UnfinishedError says that the run in a folder is not complete, so its draws cannot be read. If no
// process is working on it, you can resume the run.
type UnfinishedError struct {
	Folder string
	Err    error // what is missing
}

// Error implements error.
func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("the run in %s is not complete: %v", e.Folder, e.Err)
}

// Unwrap returns the cause.
func (e *UnfinishedError) Unwrap() error { return e.Err }

// DrawsError says that the draws of a run do not fit into memory. With [Options.Resumable] they are
// read from files instead.
type DrawsError struct {
	Draws   int   // number of draws of all chains
	Numbers int   // numbers per draw
	Memory  int64 // memory that the draws may take, in bytes
}

// Error implements error.
func (e *DrawsError) Error() string {
	return fmt.Sprintf("ppl: %d draws of %d numbers do not fit into the %s of memory that a run may take: make fewer draws, or allow for more memory", e.Draws, e.Numbers, ad.FormatBytes(e.Memory))
}

// OutputError says that a file of a run could not be written. The draws so far are kept: in the
// fit, in the files written before, and, with [Options.Resumable], in files from which you can
// resume the run.
type OutputError struct{ error }

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.error }

// DamagedError says that a run cannot be resumed because its files are damaged, and what
// [Options.Salvage] could save.
type DamagedError struct{ Chains []draws.DamagedChain }

// Error implements error.
func (e *DamagedError) Error() string {
	text := "what was saved of the run is damaged:"
	for _, c := range e.Chains {
		for _, what := range c.Damage {
			text += fmt.Sprintf("\n  chain %d: %s", c.ID, what)
		}
		text += fmt.Sprintf("\n  chain %d: %s", c.ID, c.Outcome())
	}
	return text
}

// chainsError says that several chains failed for the same reason.
type chainsError struct {
	ids []string
	err error
}

func (e *chainsError) Error() string {
	return "chains " + strings.Join(e.ids, ", ") + ": " + e.err.Error()
}

func (e *chainsError) Unwrap() error { return e.err }

// withoutNumbers removes what differs in the messages that a statement has for different points.
var withoutNumbers = strings.NewReplacer("0", "", "1", "", "2", "", "3", "", "4", "", "5", "", "6", "", "7", "", "8", "", "9", "",
	".", "", "e-", "", "e+", "", "-", "", "+", "", "nan", "", "inf", "", ",", "")

// together merges the errors of chains that could not start for the same reason: the same message
// of a statement, or an improper density. So impossible data or a missing prior are reported once,
// not once per chain.
func together(failures []error) []error {
	reason := func(err error) (key string, c *infer.ChainError) {
		var rejection *compile.Rejection
		if !errors.As(err, &c) || !errors.As(err, new(*infer.InitError)) && !errors.Is(err, warmup.ErrImproper) {
			return "", nil
		}
		if errors.As(err, &rejection) && rejection.Span.IsValid() {
			return fmt.Sprint(rejection.Span.Begin()) + withoutNumbers.Replace(rejection.Err.Error()), c
		}
		return c.Err.Error(), c
	}
	var out []error
	groups := map[string]*chainsError{}
	for _, err := range failures {
		key, c := reason(err)
		if c == nil {
			out = append(out, err)
			continue
		}
		if g := groups[key]; g != nil {
			g.ids = append(g.ids, strconv.Itoa(c.ID))
			sorting.Stable(g.ids, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
			continue
		}
		groups[key] = &chainsError{[]string{strconv.Itoa(c.ID)}, c.Err}
		out = append(out, groups[key])
	}
	for i, err := range out {
		if g, ok := err.(*chainsError); ok && len(g.ids) == 1 {
			for _, f := range failures {
				if _, c := reason(f); c != nil && c.Err == g.err {
					out[i] = f
				}
			}
		}
	}
	return out
}

// withoutPrior describes which parameters have no prior, and what may follow from that; "" if all
// have one.
func withoutPrior(m *model.Model) string {
	priors := predict.PriorsOf(m.Program())
	if len(priors.Without) == 0 {
		return ""
	}
	text := "Without a prior: " + strings.Join(priors.Without, ", ") + "."
	if priors.Logistic {
		return text + " On the logit scale that is what complete separation does: the predictors tell the outcomes apart without error, and the likelihood grows for ever with the coefficients. Give them a prior, such as normal(0, 2.5)."
	}
	return text
}

// locate finds the statement because of which a search for a starting point failed, if the error
// does not name one: the log density was not finite, but nothing was rejected.
func locate(p *model.Posterior, err error) error {
	var chain *infer.ChainError
	if errors.As(err, &chain) && errors.Is(err, warmup.ErrImproper) {
		if why := withoutPrior(p.Model()); why != "" {
			flat := *chain
			flat.Err = fmt.Errorf("%w\n%s", chain.Err, why)
			return &flat
		}
		return err
	}
	var start *infer.InitError
	var rejection *compile.Rejection
	if !errors.As(err, &chain) || !errors.As(err, &start) || errors.As(err, &rejection) {
		return err
	}
	// The point itself is not known, but another random point shows the same problem.
	rng := rand.New(rand.NewPCG(0, 0))
	x, grad := make([]float64, p.Dim()), make([]float64, p.Dim())
	for range start.Attempts {
		for i := range x {
			x[i] = 4*rng.Float64() - 2
		}
		lp, lpErr := p.LogDensityGrad(x, grad)
		if lpErr != nil || !math.IsNaN(lp) && !math.IsInf(lp, 0) {
			continue
		}
		if span, ok := p.Compiled().Blame(x); ok {
			located := *chain
			located.Err = &infer.InitError{Attempts: start.Attempts, Reason: &compile.Rejection{Span: span, Err: start.Reason}}
			return &located
		}
	}
	return err
}

// DiscardedError says that the draws that [Run.Draws] has yielded so far do not count, because the
// compiled log density of the run differs from the reference evaluator. The run begins again with a
// program that agrees. The fit has only the draws that count.
type DiscardedError struct{}

// Error implements error.
func (*DiscardedError) Error() string {
	return "the draws so far do not count: the compiled log density differed from the reference; the run begins again"
}
