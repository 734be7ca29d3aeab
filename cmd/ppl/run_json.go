package main

import (
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// runJSON is what run --json prints; a stable format.
type runJSON struct {
	Summary     []summaryJSON `json:"summary"`
	Sampler     string        `json:"sampler"`
	Chains      int           `json:"chains"`
	Divergences int           `json:"divergences"`
	Gradients   struct {
		Warmup   int64 `json:"warmup"`
		Sampling int64 `json:"sampling"`
	} `json:"gradients"`
	Seconds struct {
		Bind     number `json:"bind"`
		Warmup   number `json:"warmup"`
		Sampling number `json:"sampling"`
	} `json:"seconds"`
	Notes    []string           `json:"notes,omitempty"` // what the sampler chose, and why
	Warnings []string           `json:"warnings"`
	Findings []diagnose.Finding `json:"findings"`

	Efficiency struct {
		MinESSBulk     number `json:"min_ess_bulk"`
		MinESSTail     number `json:"min_ess_tail"`
		MinESSSquares  number `json:"min_ess_squares"`
		PerGradient    number `json:"per_gradient"`
		PerSecond      number `json:"per_second"`
		PerGradientAll number `json:"per_gradient_with_warmup"`
		PerSecondAll   number `json:"per_second_with_warmup"`
	} `json:"efficiency"`
	Diagnostics []chainJSON  `json:"diagnostics"`
	Divergent   []divergence `json:"divergent"`
}

// chainJSON is how the sampler of a chain has fared.
type chainJSON struct {
	Chain           int    `json:"chain"`
	Draws           int    `json:"draws"`
	Divergences     int    `json:"divergences"`
	MaxTreeDepth    int    `json:"max_treedepth"`
	AcceptStat      number `json:"accept_stat"`
	EBFMI           number `json:"ebfmi"`
	StepSize        number `json:"stepsize"`
	GradientsWarmup int64  `json:"gradients_warmup"`
	Gradients       int64  `json:"gradients_sampling"`
	SecondsWarmup   number `json:"seconds_warmup"`
	Seconds         number `json:"seconds_sampling"`

	Kernel   map[string]float64 `json:"kernel,omitempty"`
	Chosen   string             `json:"chosen,omitempty"` // the kernel, by a sampler that chooses
	Geometry map[string]float64 `json:"geometry,omitempty"`
}

// divergence is a divergent transition: chain and draw, both from 1, as they
// are found in the CSV files.
type divergence struct {
	Chain int `json:"chain"`
	Draw  int `json:"draw"`
}

type summaryJSON struct {
	Name     string `json:"name"`
	Mean     number `json:"mean"`
	MCSEMean number `json:"mcse_mean"`
	SD       number `json:"sd"`
	Q5       number `json:"q5"`
	Q50      number `json:"q50"`
	Q95      number `json:"q95"`
	ESSBulk  number `json:"ess_bulk"`
	ESSTail  number `json:"ess_tail"`
	Rhat     number `json:"rhat"`

	MCSESD        number `json:"mcse_sd"`
	MCSEQ5        number `json:"mcse_q5"`
	MCSEQ50       number `json:"mcse_q50"`
	MCSEQ95       number `json:"mcse_q95"`
	ESSSquares    number `json:"ess_squares"`
	Geyer         number `json:"ess_geyer"`
	GeyerUncapped number `json:"ess_geyer_uncapped"`

	Percentiles map[string]number `json:"percentiles,omitempty"` // those asked for, if others than 5, 50 and 95

	Label string `json:"label,omitempty"` // what its indices stand for, where the data tell
}

// choose keeps some rows of the summary, in an order, with the percentiles asked
// for.
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
	j := &runJSON{Summary: []summaryJSON{}, Sampler: s.options.samplerFlags.name, Chains: s.options.chains, Divergences: s.divergences, Warnings: []string{}}
	j.Notes = s.notes()
	names := s.fit.Names()
	precision, labels := s.fit.Precision(), s.fit.Labels()
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
			Kernel: c.Kernel, Chosen: c.Chosen, Geometry: c.Geometry,
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
