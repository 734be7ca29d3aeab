package truth

import (
	"context"
	"fmt"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/sampler"
)

// Options say how a run is made. The zero value is what a user gets by default.
type Options struct {
	Sampler  sampler.Row
	Seed     uint64
	Chains   int // 0: 4
	Warmup   int // 0: 1000
	Draws    int // 0: 1000
	Parallel int // 0: GOMAXPROCS
}

// Outcome is what is known of a run.
type Outcome struct {
	Verdict   Verdict
	Findings  []diagnose.Finding // as a user sees them
	Estimates []Estimate         // of an Improper target none
	Err       error              // that ended the run, or chains of it
	Gradients int64              // warm-up included

	Draws  *draws.Store
	Report infer.Report
}

// Worst is the estimate that is farthest off; ok is false if there is none.
func (o *Outcome) Worst() (worst Estimate, ok bool) {
	for i, e := range o.Estimates {
		if i == 0 || e.Off() > worst.Off() {
			worst, ok = e, true
		}
	}
	return worst, ok
}

// Warned reports whether a user is warned: by an error, or by a finding that is not a note.
func (o *Outcome) Warned() bool {
	if o.Err != nil {
		return true
	}
	for _, f := range o.Findings {
		if f.Severity != diagnose.Note {
			return true
		}
	}
	return false
}

// Run runs a sampler with its default options on the target and judges the run. The error is
// one of the options, or the context's: what goes wrong in the run is part of the outcome.
func (t *Target) Run(ctx context.Context, o Options) (*Outcome, error) {
	s, err := o.Sampler.Default()
	if err != nil {
		return nil, err
	}
	session, err := infer.NewSession(t.Density, infer.Config{
		Sampler: s, Seed: o.Seed, Chains: o.Chains, Warmup: o.Warmup, Draws: o.Draws, Parallel: o.Parallel,
	})
	if err != nil {
		return nil, err
	}
	config := session.Config()
	names := make([]string, t.Dim())
	for j := range names {
		names[j] = fmt.Sprintf("x.%d", j+1)
	}
	out := &Outcome{}
	if out.Draws, err = draws.NewStore(draws.Columns{Statistics: o.Sampler.AllColumns(), Names: names}, config.Chains, config.Draws); err != nil {
		return nil, err
	}
	positions := make([][][]float64, config.Chains)
	for d, err := range session.Draws(ctx) {
		if err != nil {
			out.Err = err
			continue
		}
		if err := out.Draws.Add(d); err != nil {
			return nil, err
		}
		positions[d.Chain] = append(positions[d.Chain], d.Position)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out.Report = session.Report()
	for _, c := range out.Report.Chains {
		out.Gradients += c.Warmup.Gradients + c.Sampling.Gradients
	}
	out.Findings = findings(out, config)
	wrong := t.Class == Improper
	if !wrong {
		out.Estimates = Judge(t, positions)
		worst, _ := out.Worst()
		wrong = worst.Off() > 1
	}
	out.Verdict = verdict(wrong, out.Warned())
	return out, nil
}

// findings are what a user sees of a run: the one place that knows how they are made.
func findings(out *Outcome, config infer.Config) []diagnose.Finding {
	return diagnose.Check(out.Draws, nil, diagnose.Options{PlannedDraws: config.Draws})
}
