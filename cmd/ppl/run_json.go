package main

import (
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// runJSON is what run --json prints; a stable format.
type runJSON struct {
	Summary []summaryJSON `json:"summary"` // one entry per quantity
	Sampler string        `json:"sampler"` // name of the sampler; empty if not known
	Chains  int           `json:"chains"`  // number of chains
	// divergent transitions after warm-up, of all chains
	Divergences int `json:"divergences"`
	// Gradients are evaluations of the gradient, of all chains.
	Gradients struct {
		Warmup   int64 `json:"warmup"`   // gradients of warm-up
		Sampling int64 `json:"sampling"` // gradients after warm-up
	} `json:"gradients"`
	// Seconds are wall-clock times. Warm-up and sampling share the time of the run in proportion to
	// the times of the chains.
	Seconds struct {
		Bind     number `json:"bind"`     // to bind the model to its data
		Warmup   number `json:"warmup"`   // seconds of warm-up
		Sampling number `json:"sampling"` // seconds after warm-up
	} `json:"seconds"`
	Notes    []string           `json:"notes,omitempty"` // what the sampler chose, and why
	Warnings []string           `json:"warnings"`        // problems, in words
	Findings []diagnose.Finding `json:"findings"`        // problems and remarks

	// Efficiency is about the quantity with the smallest effective sample size.
	Efficiency struct {
		// smallest bulk effective sample size
		MinESSBulk number `json:"min_ess_bulk"`
		// smallest tail effective sample size
		MinESSTail number `json:"min_ess_tail"`
		// smallest effective sample size of squares
		MinESSSquares number `json:"min_ess_squares"`
		// bulk effective draws per gradient after warm-up
		PerGradient number `json:"per_gradient"`
		// bulk effective draws per second after warm-up
		PerSecond number `json:"per_second"`
		// bulk effective draws per gradient, warm-up included
		PerGradientAll number `json:"per_gradient_with_warmup"`
		// bulk effective draws per second, warm-up included
		PerSecondAll number `json:"per_second_with_warmup"`
	} `json:"efficiency"`
	Diagnostics []chainJSON  `json:"diagnostics"` // one entry per chain
	Divergent   []divergence `json:"divergent"`   // divergent transitions

	Fit string `json:"fit,omitempty"` // name under which ppl mcp keeps the fit
}

// chainJSON has figures about the sampler of a chain.
type chainJSON struct {
	Chain       int `json:"chain"`       // number of the chain, from 1
	Draws       int `json:"draws"`       // number of draws
	Divergences int `json:"divergences"` // divergent transitions after warm-up
	// transitions that reached the limit of the tree depth
	MaxTreeDepth int    `json:"max_treedepth"`
	AcceptStat   number `json:"accept_stat"` // mean acceptance statistic
	// energy Bayesian fraction of missing information
	EBFMI           number `json:"ebfmi"`
	StepSize        number `json:"stepsize"`           // step size after warm-up
	GradientsWarmup int64  `json:"gradients_warmup"`   // gradients in warm-up
	Gradients       int64  `json:"gradients_sampling"` // gradients after warm-up
	SecondsWarmup   number `json:"seconds_warmup"`     // seconds of warm-up
	Seconds         number `json:"seconds_sampling"`   // seconds after warm-up

	Kernel map[string]number `json:"kernel,omitempty"` // tuned settings and statistics of the kernel, by name
	Chosen string            `json:"chosen,omitempty"` // kernel that the sampler chose
	// figures of a Riemannian metric, by name
	Geometry map[string]number `json:"geometry,omitempty"`
}

// divergence is a divergent transition, given by chain and draw. Both count from 1 in the order of
// the CSV files.
type divergence struct {
	Chain int `json:"chain"` // chain, from 1
	Draw  int `json:"draw"`  // draw, from 1, as in the CSV files
}

type summaryJSON struct {
	Name     string `json:"name"`      // name of the quantity, with . between indices
	Mean     number `json:"mean"`      // posterior mean
	MCSEMean number `json:"mcse_mean"` // Monte Carlo standard error of the mean
	SD       number `json:"sd"`        // posterior standard deviation
	Q5       number `json:"q5"`        // 5 % quantile
	Q50      number `json:"q50"`       // median
	Q95      number `json:"q95"`       // 95 % quantile
	ESSBulk  number `json:"ess_bulk"`  // bulk effective sample size
	ESSTail  number `json:"ess_tail"`  // tail effective sample size
	Rhat     number `json:"rhat"`      // rank-normalised split R-hat

	// Monte Carlo standard error of the standard deviation
	MCSESD number `json:"mcse_sd"`
	// Monte Carlo standard error of the 5 % quantile
	MCSEQ5  number `json:"mcse_q5"`
	MCSEQ50 number `json:"mcse_q50"` // Monte Carlo standard error of the median
	// Monte Carlo standard error of the 95 % quantile
	MCSEQ95    number `json:"mcse_q95"`
	ESSSquares number `json:"ess_squares"` // effective sample size of squares
	// effective sample size by Geyer's sequence, of all chains as one
	Geyer number `json:"ess_geyer"`
	// the same without the limit for antithetic chains
	GeyerUncapped number `json:"ess_geyer_uncapped"`

	// those of --percentiles, by percentage
	Percentiles map[string]number `json:"percentiles,omitempty"`

	Label string `json:"label,omitempty"` // levels that the indices stand for, if the data have them
}

// choose keeps the selected rows of the summary, in the order that the user asked for, and adds
// percentiles.
func (j *runJSON) choose(s *session, o *rowOptions) error {
	chosen, err := o.choose(s.fit)
	if err != nil {
		return err
	}
	if o.limit > 0 {
		chosen = chosen[:min(o.limit, len(chosen))]
	}
	all := j.Summary
	j.Summary = []summaryJSON{}
	for i, r := range o.rows(s.fit, chosen) {
		row := all[chosen[i]]
		if !slices.Equal(o.percentiles, []float64{5, 50, 95}) {
			row.Percentiles = map[string]number{}
			for k, p := range o.percentiles {
				row.Percentiles[strconv.FormatFloat(p, 'g', -1, 64)] = number(r.percentiles[k])
			}
		}
		j.Summary = append(j.Summary, row)
	}
	return nil
}

func summaryRow(name string, r diagnose.Row, p diagnose.Precision) summaryJSON {
	return summaryJSON{name, number(r.Mean), number(r.MCSEMean), number(r.SD),
		number(r.Q5), number(r.Q50), number(r.Q95), number(r.ESSBulk), number(r.ESSTail), number(r.Rhat),
		number(p.MCSESD), number(p.MCSEQ5), number(p.MCSEQ50), number(p.MCSEQ95), number(p.ESSSquares), number(p.Geyer), number(p.GeyerUncapped), nil, ""}
}

func (s *session) asJSON(failures []error) *runJSON {
	j := &runJSON{Summary: []summaryJSON{}, Sampler: s.options.samplerFlags.name, Chains: s.options.chains, Divergences: s.divergences, Warnings: []string{}, Fit: s.kept}
	if r := s.fit.Record(); j.Sampler == "" && r != nil {
		j.Sampler = r.Option("sampler")
	}
	precision, labels := s.fit.Precision(), s.fit.Labels()
	j.Notes = s.notes()
	names := s.fit.Names()
	for i, r := range s.fit.Summary() {
		j.Summary = append(j.Summary, summaryRow(names[i], r, precision[i]))
		if labels != nil {
			j.Summary[i].Label = labels[i]
		}
	}
	j.Gradients.Warmup, j.Gradients.Sampling = s.gradWarmup, s.gradSample
	if s.loaded != nil {
		j.Seconds.Bind = number(s.loaded.bind.Seconds())
	}
	j.Seconds.Warmup, j.Seconds.Sampling = number(s.warmup.Seconds()), number(s.sampling.Seconds())
	e := s.fit.Efficiency()
	j.Efficiency.MinESSBulk, j.Efficiency.MinESSTail = number(e.MinBulk), number(e.MinTail)
	j.Efficiency.MinESSSquares = number(e.MinSquares)
	j.Efficiency.PerGradient, j.Efficiency.PerSecond = number(e.PerGradient), number(e.PerSecond)
	j.Efficiency.PerGradientAll, j.Efficiency.PerSecondAll = number(e.PerGradientAll), number(e.PerSecondAll)
	for i, f := range s.fit.Sampling() {
		c := s.fit.Report.Chains[i]
		j.Diagnostics = append(j.Diagnostics, chainJSON{
			Chain: c.ID, Draws: f.Draws, Divergences: f.Divergences, MaxTreeDepth: f.Saturated,
			AcceptStat: number(f.AcceptStat), EBFMI: number(f.EBFMI), StepSize: number(c.StepSize),
			GradientsWarmup: c.Warmup.Gradients, Gradients: c.Sampling.Gradients,
			SecondsWarmup: number(c.Warmup.Elapsed.Seconds()), Seconds: number(c.Sampling.Elapsed.Seconds()),
			Kernel: figureNumbers(c.Kernel), Chosen: c.Chosen, Geometry: figureNumbers(c.Geometry),
		})
	}
	j.Divergent = []divergence{}
	for i, c := range s.fit.Report.Chains {
		column, _ := s.fit.Draws.Statistic(nil, i, "divergent__")
		for draw, v := range column {
			if v != 0 {
				j.Divergent = append(j.Divergent, divergence{c.ID, draw + 1})
			}
		}
	}
	if s.interrupted {
		j.Warnings = append(j.Warnings, s.interruption())
	}
	for _, text := range append(s.salvaged(), s.inexact(), s.reached()) {
		if text != "" && !(s.fit.Report.Enough > 0 && text == s.reached()) {
			j.Warnings = append(j.Warnings, text)
		}
	}
	for _, err := range failures {
		j.Warnings = append(j.Warnings, err.Error())
	}
	if s.loaded != nil {
		for _, w := range s.loaded.model.Warnings() {
			j.Warnings = append(j.Warnings, w.String())
		}
	}
	j.Findings = worded(s.fit.Findings(), "")
	for _, f := range j.Findings {
		j.Warnings = append(j.Warnings, f.Summary+" "+f.Advice)
	}
	return j
}
