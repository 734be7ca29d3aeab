package truth

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mathext"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/sampler"
)

// Options are options of a run. The zero value has the defaults that users get.
type Options struct {
	Sampler  infer.Sampler // one in the table of package sampler
	Seed     uint64
	Chains   int // 0: 4
	Warmup   int // 0: 1000
	Draws    int // 0: 1000
	Parallel int // 0: GOMAXPROCS

	// Findings returns the findings that a user sees after a run with options config. If nil, they
	// are those of [diagnose.Check] on the draws. The command passes package ppl's function, which
	// also uses the events of a run.
	Findings func(d *draws.Store, report infer.Report, config infer.Config) []diagnose.Finding
}

// Outcome is the outcome of a run.
type Outcome struct {
	Verdict   Verdict
	Findings  []diagnose.Finding // as a user sees them
	Estimates []Estimate         // none for an Improper target
	Err       error              // error that ended the run or some of its chains
	Gradients int64              // including warm-up

	Draws  *draws.Store
	Report infer.Report
}

// Worst is the estimate with the largest error relative to its limit; ok is false if there are no
// estimates.
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

// Run runs a sampler on the target and judges the run. An error comes from invalid options or the
// context; errors of the run are part of the outcome.
func (t *Target) Run(ctx context.Context, o Options) (*Outcome, error) {
	out, positions, err := t.sample(ctx, o)
	if err != nil {
		return nil, err
	}
	wrong := t.Class == Improper
	if !wrong {
		out.Estimates = Judge(t, positions)
		worst, _ := out.Worst()
		wrong = worst.Off() > 1
	}
	out.Verdict = verdict(wrong, out.Warned())
	return out, nil
}

// sample makes the run and collects the findings that a user sees.
func (t *Target) sample(ctx context.Context, o Options) (*Outcome, [][][]float64, error) {
	row, ok := sampler.RowOf(o.Sampler)
	if !ok {
		return nil, nil, fmt.Errorf("truth: a sampler %T that the table of samplers does not have", o.Sampler)
	}
	session, err := infer.NewSession(t.Density, infer.Config{
		Sampler: o.Sampler, Seed: o.Seed, Chains: o.Chains, Warmup: o.Warmup, Draws: o.Draws, Parallel: o.Parallel,
	})
	if err != nil {
		return nil, nil, err
	}
	config := session.Config()
	names := make([]string, t.Dim())
	for j := range names {
		names[j] = fmt.Sprintf("x.%d", j+1)
	}
	out := &Outcome{}
	if out.Draws, err = draws.NewStore(draws.Columns{Statistics: row.AllColumns(), Names: names}, config.Chains, config.Draws); err != nil {
		return nil, nil, err
	}
	positions := make([][][]float64, config.Chains)
	for d, err := range session.Draws(ctx) {
		if err != nil {
			out.Err = err
			continue
		}
		if err := out.Draws.Add(d); err != nil {
			return nil, nil, err
		}
		positions[d.Chain] = append(positions[d.Chain], d.Position)
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	out.Report = session.Report()
	for _, c := range out.Report.Chains {
		out.Gradients += c.Warmup.Gradients + c.Sampling.Gradients
	}
	if o.Findings == nil {
		o.Findings = check
	}
	out.Findings = o.Findings(out.Draws, out.Report, config)
	return out, positions, nil
}

// check is the default of Options.Findings.
func check(d *draws.Store, _ infer.Report, config infer.Config) []diagnose.Finding {
	return diagnose.Check(d, nil, diagnose.Options{PlannedDraws: config.Draws})
}

// Score compares the precision that a run claims for a coordinate with the precision it achieved.
type Score struct {
	Coordinate int
	Bulk       float64 // bulk effective sample size, as estimated from the draws
	Mean       float64 // mean over the draws of Φ⁻¹(F(x)), where F is the exact distribution function
}

// Scores runs a sampler and scores coordinates of a target with marginal distributions in closed
// form. Over independent runs the variance of Score.Mean is 1/ESS. Here ESS is the true effective
// sample size of the rank-normalised draws, which the bulk effective sample size estimates.
func (t *Target) Scores(ctx context.Context, o Options) ([]Score, error) {
	if t.Marginal == nil {
		return nil, fmt.Errorf("truth: the marginal distributions of %s are not known", t.Name)
	}
	out, _, err := t.sample(ctx, o)
	if err == nil {
		err = out.Err
	}
	if err != nil {
		return nil, err
	}
	var scores []Score
	for _, j := range compared(t.Dim()) {
		var chains [][]float64
		sum, n := 0.0, 0
		for c := range out.Draws.Chains() {
			column := out.Draws.Column(nil, c, j)
			chains = append(chains, column)
			for _, v := range column {
				// Limit probabilities to numbers that a float64 distinguishes from 0 and 1.
				p := min(max(t.Marginal(j, v), 1e-300), 1-0x1p-53)
				sum += mathext.NormalQuantile(p)
				n++
			}
		}
		scores = append(scores, Score{j, diagnose.ESSBulk(chains), sum / float64(n)})
	}
	return scores, nil
}
