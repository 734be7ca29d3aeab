package study

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// Worker runs units. It compiles each model once. Several goroutines may call its methods at a
// time.
type Worker struct {
	// Model returns the text of a model by its digest.
	Model func(digest string) ([]byte, error)

	// Chains is the number of chains of a fit that run at a time; 0: one.
	Chains int

	summarizer diagnose.Summarizer // used by the goroutine of the fit, or by several if chains are spread over processors
	memory     atomic.Int64        // memory that a fit may take; finding it costs some system calls

	once   sync.Once
	mu     sync.Mutex
	models map[string]*compiledModel
}

// compiledModel is a model, with programs derived from it when first needed.
type compiledModel struct {
	once  sync.Once
	model *model.Model
	err   error

	logLik    sync.Once
	derived   *model.Derived
	derivedEr error
}

// model returns a compiled model, and compiles it at the first call.
func (w *Worker) model(digest string) (*compiledModel, error) {
	w.mu.Lock()
	if w.models == nil {
		w.models = map[string]*compiledModel{}
	}
	m := w.models[digest]
	if m == nil {
		m = &compiledModel{}
		w.models[digest] = m
	}
	w.mu.Unlock()
	m.once.Do(func() {
		var blob []byte
		if blob, m.err = w.Model(digest); m.err == nil {
			m.model, m.err = compileBlob(blob)
		}
	})
	return m, m.err
}

// Do runs a unit. It returns nil if ctx ends early. All other errors are part of the result.
func (w *Worker) Do(ctx context.Context, u *Unit) (result *Result) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			result = panicked(u, infer.NewPanicError(p))
		}
		if result != nil {
			result.Seconds, result.CPU = time.Since(began).Seconds(), compile.CPULevel()
		}
	}()
	r := &Result{Key: u.Key, Status: OK}
	err := w.within(ctx, u, r)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		code := "fit"
		var f *unitError
		if errors.As(err, &f) {
			code = f.code
		}
		return failed(u.Key, code, err)
	}
	for _, f := range r.Findings {
		if f.Severity == diagnose.Problem {
			r.Status = Problems
		}
	}
	return r
}

// within calls do with the time limit. It drops the draws of a fit that exceeds the limit, because
// their number depends on the machine and results must not.
func (w *Worker) within(ctx context.Context, u *Unit, r *Result) error {
	if u.TimeLimit <= 0 {
		return w.do(ctx, u, r)
	}
	timed, cancel := context.WithTimeout(ctx, u.TimeLimit)
	defer cancel()
	err := w.do(timed, u, r)
	if timed.Err() != nil && ctx.Err() == nil {
		return in("time-limit", fmt.Errorf("the fit took longer than its time limit, %s", u.TimeLimit))
	}
	return err
}

// panicked returns the result of a unit that ended with a panic. The stack goes to the default
// logger, as in net/http, because results must not depend on the machine.
func panicked(u *Unit, e *infer.PanicError) *Result {
	slog.Error("a fit ended by a fault of this program", "unit", u.Key, "error", e, "stack", string(e.Stack))
	return failed(u.Key, "panic", fmt.Errorf("the fit ended by a fault of this program: %w", e))
}

// unitError is an error with the step that it occurred in: the code of its finding.
type unitError struct {
	code string
	err  error
}

func (e *unitError) Error() string { return e.err.Error() }
func (e *unitError) Unwrap() error { return e.err }

func in(code string, err error) error {
	if err == nil {
		return nil
	}
	return &unitError{code, err}
}

func (w *Worker) do(ctx context.Context, u *Unit, r *Result) error {
	s, err := u.Spec.Options.read()
	if err != nil {
		return in("options", err)
	}
	m, err := w.model(u.Spec.Model)
	if err != nil {
		return in("model", err)
	}
	values, err := u.set(u.Spec.Data)
	if err != nil {
		return in("data", err)
	}
	if w.memory.Load() == 0 {
		w.memory.Store(compile.DefaultMemory())
	}
	s.bind.Seed, s.bind.Memory = u.Spec.BindSeed, w.memory.Load()
	posterior, err := m.model.BindContext(ctx, values, s.bind)
	if err != nil {
		return in("data", err)
	}
	if u.Spec.Dim != 0 && posterior.Dim() != u.Spec.Dim {
		return in("data", fmt.Errorf("the model has %d unconstrained parameters with all observations and %d without those held out: parameters that belong to single observations cannot be learnt without them", u.Spec.Dim, posterior.Dim()))
	}
	w.once.Do(func() { w.summarizer.Parallel = max(w.Chains, 1) })
	s.run.Seed, s.run.Parallel = u.Spec.Seed, max(w.Chains, 1)
	fit, err := fit.Sample(ctx, posterior, s.run)
	if err != nil {
		return in("sampling", err)
	}
	for i, c := range fit.Report.Chains {
		r.Draws += fit.Draws.Len(i)
		r.Divergences += c.Sampling.Divergences
		r.Gradients += c.Warmup.Gradients + c.Sampling.Gradients
		r.Sampling += c.Warmup.Elapsed.Seconds() + c.Sampling.Elapsed.Seconds()
	}
	if err := w.rows(u, posterior, fit, r); err != nil {
		return err
	}
	r.keep(fit, u.Spec.Keep.Draws)
	if u.Spec.Quantities != "" {
		if err := w.quantities(ctx, u, values, s, fit, r); err != nil {
			return in("quantities", err)
		}
	}
	if u.Spec.Test != "" {
		return in("held-out", w.heldOut(ctx, u, m, s, fit, r))
	}
	return nil
}

// dataName is the name of a unit's data in messages.
const dataName = "data"

// set reads the data with a digest.
func (u *Unit) set(digest string) (*data.Set, error) {
	blob, ok := u.Blobs[digest]
	if !ok {
		return nil, errors.New("the data of the fit are not there")
	}
	return data.ParseJSON(dataName, blob)
}

// rows summarises the kept quantities and the parameters, adds findings about them, and ranks the
// true parameters among the draws.
func (w *Worker) rows(u *Unit, p *model.Posterior, fit *fit.Fit, r *Result) error {
	parameters := map[string]bool{}
	for _, n := range p.ParameterNames() {
		parameters[n] = true
	}
	var truth *data.Set
	if u.Spec.Truth != "" {
		var err error
		if truth, err = u.set(u.Spec.Truth); err != nil {
			return in("data", err)
		}
	}
	keep := &u.Spec.Keep
	var quantities []int
	for i, name := range fit.Names() {
		if parameters[name] || keep.summarised(diagnose.DisplayName(name)) {
			quantities = append(quantities, i)
		}
	}
	if quantities == nil {
		quantities = []int{} // none, not all
	}
	summary := fit.SummaryOf(&w.summarizer, quantities, keep.measures())
	r.Findings = fit.FindingsOf(summary)
	if keep.Ranks {
		r.Findings = slices.DeleteFunc(r.Findings, func(f diagnose.Finding) bool {
			return slices.Contains([]string{"few-draws", "one-chain", "rhat", "ess"}, f.Code)
		})
	}
	var column []float64
	for i, q := range quantities {
		name := fit.Names()[q]
		if !keep.summarised(summary[i].Name) {
			continue
		}
		row := Row{summary[i], math.NaN(), -1}
		if parameters[name] && truth != nil {
			if v, ok := truth.Element(name); ok {
				row.Truth, row.Rank = v, 0
				for chain := range fit.Draws.Chains() {
					column = fit.Draws.Column(column[:0], chain, q)
					for _, x := range column {
						if x < v {
							row.Rank++
						}
					}
				}
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return nil
}

// keep stores the draws of some quantities in the result.
func (r *Result) keep(fit *fit.Fit, names []string) {
	if names == nil {
		return
	}
	var columns []int
	k := &Draws{Chains: fit.Draws.Chains()}
	for i, n := range fit.Names() {
		if selected(names, diagnose.DisplayName(n)) {
			columns = append(columns, i)
			k.Names = append(k.Names, n)
		}
	}
	if columns == nil {
		return
	}
	k.Count = fit.Draws.Len(0)
	for chain := range k.Chains {
		k.Count = min(k.Count, fit.Draws.Len(chain))
	}
	for chain := range k.Chains {
		for i := range k.Count {
			_, row := fit.Draws.Draw(chain, i)
			for _, c := range columns {
				k.Values = append(k.Values, row[c])
			}
		}
	}
	r.Kept = k
}

// quantities computes generated quantities of another model at the draws.
func (w *Worker) quantities(ctx context.Context, u *Unit, values *data.Set, s *settings, f *fit.Fit, r *Result) error {
	m, err := w.model(u.Spec.Quantities)
	if err != nil {
		return err
	}
	p, err := m.model.BindContext(ctx, values, s.bind)
	if err != nil {
		return err
	}
	g, err := fit.Generate(ctx, p, f, fit.GenerateOptions{Seed: u.Spec.Seed, Parallel: 1})
	if err != nil {
		return err
	}
	generated := g.Fit()
	if generated == nil {
		return nil
	}
	if g.Failed > 0 {
		r.Findings = append(r.Findings, diagnose.Finding{Code: "generated", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("The generated quantities of %d draws could not be computed and are NaN: %v.", g.Failed, g.Reason)})
	}
	quantities := []int{}
	for i, name := range generated.Names() {
		if u.Spec.Keep.summarised(diagnose.DisplayName(name)) {
			quantities = append(quantities, i)
		}
	}
	for _, row := range generated.SummaryOf(&w.summarizer, quantities, u.Spec.Keep.measures()) {
		r.Rows = append(r.Rows, Row{row, math.NaN(), -1})
	}
	return nil
}

// heldOut computes the predictive densities of the held-out observations.
func (w *Worker) heldOut(ctx context.Context, u *Unit, m *compiledModel, s *settings, fit *fit.Fit, r *Result) error {
	test, err := u.set(u.Spec.Test)
	if err != nil {
		return err
	}
	m.logLik.Do(func() { m.derived, m.derivedEr = m.model.Derive(predict.LogLikelihood) })
	if m.derivedEr != nil {
		return m.derivedEr
	}
	held, err := assess.PredictHeldOut(ctx, m.derived, fit, test, u.Spec.TestRows, s.bind)
	if err != nil {
		return err
	}
	for i := range u.Spec.TestRows {
		e, mcse := held.ELPD(i)
		r.HeldOut = append(r.HeldOut, HeldOut{e, mcse})
	}
	r.Joint.ELPD, r.Joint.MCSE = held.Joint()
	return nil
}
