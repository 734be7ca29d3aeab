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

// short shows three digits.
func short(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// bootstraps is the number of resamples of an interval.
const bootstraps = 2000

// ratio is that of two means, with an interval of 95 % by resampling the
// chains of both.
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
	return fmt.Sprintf("%s (%s, %s)", short(r.value), short(r.low), short(r.high))
}

// table is rows of text with a heading.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// markdown writes the table.
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

// values takes a figure of all results.
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
