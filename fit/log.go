package fit

import (
	"context"
	"log/slog"
	"time"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// LogValue implements [slog.LogValuer]. It returns the size of the fit and its elapsed time and,
// once the summary was computed, the smallest effective sample size and the largest R-hat.
func (f *Fit) LogValue() slog.Value {
	if f.Err() != nil {
		return slog.StringValue("no fit")
	}
	draws, divergences := 0, 0
	for i := range f.Draws.Chains() {
		draws += f.Draws.Len(i)
	}
	for _, c := range f.Report.Chains {
		divergences += c.Sampling.Divergences
	}
	attributes := []slog.Attr{
		slog.Int("chains", f.Draws.Chains()), slog.Int("draws", draws), slog.Int("quantities", len(f.Names())),
		slog.Uint64("seed", f.config.Seed), slog.Int("divergences", divergences), slog.Duration("elapsed", f.Report.Elapsed),
		slog.Bool("interrupted", f.Report.Interrupted),
	}
	f.summarizing.Lock()
	rows := f.figures.Rows
	f.summarizing.Unlock()
	if rows != nil {
		ess, rhat := extremes(rows)
		attributes = append(attributes, slog.Float64("min_ess", ess), slog.Float64("max_rhat", rhat))
	}
	return slog.GroupValue(attributes...)
}

// extremes returns the smallest effective sample size and the largest R-hat, over the rows that
// have both.
func extremes(rows []diagnose.Row) (ess, rhat float64) {
	first := true
	for _, r := range rows {
		switch {
		case r.SD == 0 || r.ESSBulk != r.ESSBulk || r.Rhat != r.Rhat: // constant, or NaN
		case first:
			ess, rhat, first = r.ESSBulk, r.Rhat, false
		default:
			ess, rhat = min(ess, r.ESSBulk), max(rhat, r.Rhat)
		}
	}
	return ess, rhat
}

// logged calls make and writes messages to Options.Logger: the beginning of the run at level Debug,
// its end at Info, an error at Error, and findings at Warn. The findings need the summary, so it is
// computed if level Warn is enabled.
func (r *Run) logged(make func() (*Fit, error)) (*Fit, error) {
	l := r.options.Logger
	if l == nil {
		return make()
	}
	began := time.Now()
	l.DebugContext(r.ctx, "sampling begins", "model", r.posterior.Name(), "parameters", r.posterior.Dim(), "seed", r.options.Seed)
	f, err := make()
	if err != nil {
		l.ErrorContext(r.ctx, "sampling has failed", "model", r.posterior.Name(), "error", err, "elapsed", time.Since(began))
		return f, err
	}
	if l.Enabled(r.ctx, slog.LevelWarn) {
		if _, err := f.SummaryContext(r.ctx); err == nil {
			for _, found := range f.Findings() {
				l.WarnContext(context.WithoutCancel(r.ctx), "finding", "model", r.posterior.Name(), "finding", found)
			}
		}
	}
	l.InfoContext(r.ctx, "sampling has ended", "model", r.posterior.Name(), "fit", f)
	return f, nil
}
