package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/infer"
)

// spread is a mean with its standard error over chains.
type spread struct{ mean, se float64 }

func summarise(v []float64) spread {
	if len(v) < 2 {
		return spread{v[0], math.NaN()}
	}
	m, sd := moments(v)
	return spread{m, sd / math.Sqrt(float64(len(v)))}
}

func (s spread) String() string {
	return fmt.Sprintf("%s ± %s", short(s.mean), short(s.se))
}

// short formats a number with three digits.
func short(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// bootstraps is the number of resamples for an interval.
const bootstraps = 2000

// ratio is the ratio of two means, with a 95 % interval that is found by resampling the chains of
// both.
type ratio struct{ value, low, high float64 }

func compare(a, b []float64, key string) ratio {
	rng := infer.Stream(masterSeed, 0, "bootstrap "+key, 0)
	mean := func(v []float64) (m float64) {
		for _, x := range v {
			m += x / float64(len(v))
		}
		return m
	}
	resampled := make([]float64, bootstraps)
	for i := range resampled {
		resampled[i] = mean(resample(rng, a)) / mean(resample(rng, b))
	}
	slices.Sort(resampled)
	if len(a) < 2 || len(b) < 2 { // the error is unknown
		return ratio{mean(a) / mean(b), math.Inf(-1), math.Inf(1)}
	}
	return ratio{mean(a) / mean(b), resampled[bootstraps*25/1000], resampled[bootstraps*975/1000]}
}

func resample(rng *rand.Rand, v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range out {
		out[i] = v[rng.IntN(len(v))]
	}
	return out
}

func (r ratio) String() string {
	if math.IsInf(r.high, 1) { // there is only a single chain
		return short(r.value)
	}
	return fmt.Sprintf("%s (%s, %s)", short(r.value), short(r.low), short(r.high))
}

// table is rows of text with a header.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// markdown writes the table in Markdown.
func (t *table) markdown(b *strings.Builder) {
	line := func(cells []string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	line(t.head)
	b.WriteString("|" + strings.Repeat(" --- |", len(t.head)) + "\n")
	for _, r := range t.rows {
		line(r)
	}
	b.WriteString("\n")
}

// values returns a figure of each result.
func values(results []*result, f func(*result) float64) []float64 {
	v := make([]float64, len(results))
	for i, r := range results {
		v[i] = f(r)
	}
	return v
}

func least(v []float64) float64 { return slices.Min(v) }
func most(v []float64) float64  { return slices.Max(v) }
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return 0.5 * (s[(n-1)/2] + s[n/2])
}

// perStep returns a function that computes a figure of the effective sample sizes and divides it by
// the number of leapfrog steps.
func perStep(f func([]float64) float64) func(*result) float64 {
	return func(r *result) float64 { return f(r.ESS) / float64(r.Leapfrogs) }
}

// gate is a reference for results, made from two long runs of independent samplers.
type gate struct {
	mean, sd, ess []float64 // nil: there are no draws
	agreement     float64   // largest distance between the two runs, in standard errors
}

// noGate is used if there are no draws.
var noGate = gate{agreement: math.NaN()}

func newGate(a, b []*result) gate {
	if !drawn(a) || !drawn(b) {
		return noGate
	}
	var g gate
	ma, sa, ea := pool(a)
	mb, sb, eb := pool(b)
	for i := range ma {
		g.agreement = max(g.agreement, math.Abs(ma[i]-mb[i])/math.Sqrt(sa[i]*sa[i]/ea[i]+sb[i]*sb[i]/eb[i]))
	}
	g.mean, g.sd, g.ess = pool(append(slices.Clone(a), b...))
	return g
}

// pool returns means, standard deviations and effective sample sizes of all chains together.
func pool(results []*result) (mean, sd, ess []float64) {
	n := float64(len(results))
	for i := range results[0].Mean {
		m, v, e := 0.0, 0.0, 0.0
		for _, r := range results {
			m += r.Mean[i] / n
			e += r.Uncapped[i]
		}
		for _, r := range results {
			v += (r.SD[i]*r.SD[i] + (r.Mean[i]-m)*(r.Mean[i]-m)) / n
		}
		mean, sd, ess = append(mean, m), append(sd, math.Sqrt(v)), append(ess, e)
	}
	return mean, sd, ess
}

// deviation returns the largest distance between a mean over all chains and the reference, in
// standard errors.
func (g gate) deviation(results []*result) float64 {
	worst := 0.0
	mean, _, ess := pool(results)
	for i := range mean {
		se := g.sd[i] * math.Sqrt(1/ess[i]+1/g.ess[i])
		worst = max(worst, math.Abs(mean[i]-g.mean[i])/se)
	}
	return worst
}

// rhat returns the largest R-hat of the coordinates of a group.
func (b *book) rhat(problem string, g group) float64 {
	return b.figure(problem, g, "rhat", func() float64 { return rhat(g.results) })
}

// distance returns the largest distance of the means of a group from a reference.
func (b *book) distance(problem string, g group, reference gate) float64 {
	return b.figure(problem, g, "distance", func() float64 {
		if reference.mean == nil {
			return math.NaN()
		}
		return reference.deviation(g.results)
	})
}

// fourDigits formats an R-hat.
func fourDigits(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.4f", v)
}

// honest returns the least effective sample size per gradient, where gradients of warm-up count
// too.
func honest(r *result) float64 { return least(r.ESS) / float64(r.WarmupGradients+r.Gradients) }

// scaled returns the ratio of a mean to a number.
func scaled(v []float64, by float64) ratio {
	s := summarise(v)
	return ratio{s.mean / by, (s.mean - 2*s.se) / by, (s.mean + 2*s.se) / by}
}

// claim says whether a ratio is larger than 1, to about two standard errors.
func (r ratio) claim() string {
	switch {
	case r.low > 1:
		return "reproduced"
	case r.high < 1:
		return "refuted"
	}
	return "a tie"
}

// surpassing is the ratio above which a result counts as surpassed.
const surpassing = 2

// surpasses says whether a ratio is above that, to about two standard errors.
func (r ratio) surpasses() string {
	switch {
	case r.low >= surpassing:
		return "surpassed"
	case r.high >= surpassing && r.low > 1:
		return "surpassed within two standard errors"
	case r.low > 1:
		return "better, but not twice as good"
	}
	return "not surpassed"
}

// within says whether a ratio is in, below or above a band, to about two standard errors.
func (r ratio) within(band [2]float64) string {
	switch {
	case band[0] <= r.value && r.value <= band[1]:
		return "in the band"
	case r.low > band[1]:
		return "above the band"
	case r.high < band[0]:
		return "below the band"
	}
	return "in the band within two standard errors"
}

func bandOf(band [2]float64) string { return fmt.Sprintf("%g to %g", band[0], band[1]) }

func percent(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return short(100*v) + " %"
}
