package auto

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/infer"
)

// Values of Sampler.Recentre beside numbers.
const (
	RecentreLearn = "learn"
	RecentreOff   = "off"
)

// fixedRecentring is the number of Sampler.Recentre, if it is one.
func (s Sampler) fixedRecentring() (v float64, fixed bool, err error) {
	switch s.Recentre {
	case "", RecentreLearn, RecentreOff:
		return 0, false, nil
	}
	v, err = strconv.ParseFloat(s.Recentre, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, false, fmt.Errorf("auto: recentre is %q, but can be learn, off or a number from 0 (non-centred) to 1 (centred)", s.Recentre)
	}
	return v, true, nil
}

// Recentred implements [infer.Recentred].
func (s Sampler) Recentred() bool { return s.Recentre != RecentreOff }

// beginRecentred gives the chain the coordinates in which it starts: non-centred ones,
// whose typical set has no neck, until draws tell better.
func (w *chain) beginRecentred(given bool) error {
	if w.Chart == nil || w.options.Recentre == RecentreOff {
		return nil
	}
	v, fixed, err := w.options.fixedRecentring()
	if err != nil || given && !fixed {
		return err
	}
	w.learns = !fixed && !given
	return w.recentre(slices.Repeat([]float64{v}, len(w.Chart.Of().Elements())))
}

// recentre gives the chain other coordinates. Where its place has none in these, it goes
// to the place that has the same numbers, or to 0; else it keeps those it has, and learns nothing for others.
func (w *chain) recentre(lambda []float64) error {
	done, err := w.Recentre(lambda)
	if err != nil || done {
		return err
	}
	from := w.Chart.Lambda()
	if err := w.Chart.Use(lambda); err != nil {
		return err
	}
	at := slices.Clone(w.Point.Position)
	for _, x := range [][]float64{at, make([]float64, len(at))} {
		if err := w.move(x); err != nil {
			return err
		}
		if !math.IsInf(w.Point.LogDensity, -1) {
			return nil
		}
	}
	if err := w.Chart.Use(from); err != nil {
		return err
	}
	return w.move(at)
}

const (
	mostLearnt  = 300 // draws of all chains that λ is learnt from
	fewestDraws = 40
	// How far beyond the scales seen, in units of the distance from their quartile to their
	// quantile of 2 %, λ is to serve: up to that of 0.1 % if the tail is exponential, as
	// that of the logarithm of a scale that may be 0 is.
	reach      = 1.2
	sameLambda = 0.1 // differences that do not matter
)

// learnRecentring finds λ for each effect from draws x with their scores. Given its scale
// σ, the effect has about the precision 1/σ² + I, where the data contribute I. Hence its
// coordinate u has the width σ^λ/√(1 + Iσ²). Where σ can be small, it is to be the same for
// all small σ: neither a neck nor, over many effects, a volume that changes with σ, which
// makes σ move slowly. That is λ = Iσ²/(1 + Iσ²) at the smallest σ. (The Fisher divergence of
// draws tells what is best where they are, not in a neck that they have hardly entered,
// and a λ that makes the width vary least between small and large σ leaves a weak neck.)
// The score of an effect that others follow has their precisions in it too, so I is taken
// from what is left of it without the densities of the innovations: what the data tell of
// this effect alone. Where that is little beside 1/σ², innovations are best, however much
// the data tell of many effects together: that concerns few directions, which the metric has.
func learnRecentring(c *infer.Chart, recent []record) []float64 {
	elements := c.Of().Elements()
	n := 0
	for _, r := range recent {
		n += len(r.draws)
	}
	if n < fewestDraws {
		return nil
	}
	every := (n + mostLearnt - 1) / mostLearnt
	k, d := len(elements), len(recent[0].draws[0])
	centred, innovations := slices.Repeat([]float64{1}, k), make([]float64, k)
	chained := c.Of().Chained()
	chains := slices.Contains(chained, true)
	theta, score, logs := make([]float64, d), make([]float64, d), make([]float64, k)
	told := make([]float64, d)     // the scores without the densities of the innovations
	scales := make([][]float64, k) // logarithms, by effect
	squares := make([][]float64, k)
	for _, r := range recent {
		for t := 0; t < len(r.draws); t += every {
			x := r.draws[t]
			if c.Of().LogScales(x, logs) != nil || c.Of().Inverse(x, centred, theta) != nil || c.Of().Pull(theta, centred, r.scores[t], score) != nil {
				continue
			}
			if chains {
				if err := withoutInnovations(c.Of(), chained, x, r.scores[t], innovations, theta, told); err != nil {
					continue
				}
			}
			for j, i := range elements {
				g := score[i] * score[i]
				if chained[j] {
					g = told[i]*told[i] + math.Exp(-2*logs[j])
				}
				if !math.IsNaN(logs[j]+g) && !math.IsInf(logs[j], 0) && !math.IsInf(g, 0) {
					scales[j], squares[j] = append(scales[j], logs[j]), append(squares[j], g)
				}
			}
		}
	}
	out := make([]float64, k)
	for j := range out {
		if len(scales[j]) < fewestDraws/2 {
			continue
		}
		informed := information(scales[j], squares[j])
		s := slices.Sorted(slices.Values(scales[j]))
		out[j] = centredness(s, informed)
	}
	return out
}

// withoutInnovations writes the score at x less that of the densities of the effects in
// chains, which are taken to be normal: in the coordinates where effects are innovations,
// λ = 0, these have -u; the rest goes back to x.
func withoutInnovations(of infer.Recentring, chained []bool, x, score, lambda, u, told []float64) error {
	if err := of.Inverse(x, lambda, u); err != nil {
		return err
	}
	if err := of.Pull(u, lambda, score, told); err != nil {
		return err
	}
	for j, i := range of.Elements() {
		if chained[j] {
			told[i] += u[i]
		}
	}
	return of.Push(x, lambda, told, told)
}

// information is the precision that the data contribute, from the logarithms of scales
// and the squared scores of the effect: these have the mean 1/σ² + I.
func information(scales, squares []float64) float64 {
	estimate := 0.0
	for range 3 { // weights are inverse variances, by the estimate so far
		sum, weights := 0.0, 0.0
		for t, s := range scales {
			prior := math.Exp(-2 * s)
			w := 1 / (prior + estimate)
			w *= w
			sum += w * (squares[t] - prior)
			weights += w
		}
		if estimate = max(0, sum/weights); math.IsNaN(estimate) || math.IsInf(estimate, 0) {
			return 0
		}
	}
	return estimate
}

// centredness is λ, from the logarithms of scales, ascending, and what the data contribute.
// Where small scales are as rare as with a normal distribution it is the one with which
// the width varies least over all of them, that of least squares; where their tail is
// exponential, that with which it does not vary at the smallest.
func centredness(s []float64, informed float64) float64 {
	m := len(s) - 1
	low, quarter, high := s[m/50], s[m/4], s[m-m/4]
	smallest := low - reach*(quarter-low)
	atSmallest := pulled(informed, smallest)
	var n, x, y, xx, xy float64
	for _, v := range s {
		f := 0.5 * math.Log1p(informed*math.Exp(2*v))
		n, x, y, xx, xy = n+1, x+v, y+f, xx+v*v, xy+v*f
	}
	least := pulled(informed, s[m/2])
	if variance := xx/n - x*x/(n*n); variance > 1e-6 {
		if slope := (xy/n - x*y/(n*n)) / variance; slope >= 0 && slope <= 1 {
			least = slope
		}
	}
	tail := 1.0
	if high > quarter {
		tail = ((quarter-low)/(high-quarter) - normalTail) / (exponentialTail - normalTail)
	}
	tail = min(max(tail, 0), 1)
	// Hundredths: what is nearly centred, or nearly not, is taken to be.
	return math.Round(100*(tail*atSmallest+(1-tail)*least)) / 100
}

// pulled is Iσ²/(1 + Iσ²).
func pulled(informed, logScale float64) float64 {
	r := informed * math.Exp(2*logScale)
	if math.IsInf(r, 1) {
		return 1
	}
	return r / (1 + r)
}

// The distance from the lower quartile to the quantile of 2 %, in units of that between the
// quartiles: up to the first (a normal distribution has 1.0) small scales do not matter,
// from the second on (an exponential tail has 2.3) they decide.
const normalTail, exponentialTail = 1.2, 1.9

// similar reports whether it does not matter which of two is used.
func similar(a, b []float64) bool {
	for j := range a {
		if math.Abs(a[j]-b[j]) > sameLambda {
			return false
		}
	}
	return true
}

// in are records of draws x in the coordinates of λ; nil: those of the model.
func in(c *infer.Chart, lambda []float64, recent []record) []record {
	if lambda == nil {
		return recent
	}
	out := slices.Clone(recent)
	d := len(recent[0].draws[0])
	for i, r := range recent {
		out[i].draws, out[i].scores = make([][]float64, len(r.draws)), make([][]float64, len(r.draws))
		out[i].logDensity = slices.Clone(r.logDensity)
		for t, x := range r.draws {
			row := make([]float64, 2*d)
			out[i].draws[t], out[i].scores[t] = row[:d:d], row[d:]
			_ = c.Of().Inverse(x, lambda, row[:d])
			_ = c.Of().Pull(row[:d], lambda, r.scores[t], row[d:])
		}
	}
	return out
}

// told says what coordinates were chosen.
func toldRecentring(lambda []float64) string {
	sorted := slices.Sorted(slices.Values(lambda))
	n := len(sorted)
	if n == 0 {
		return ""
	}
	if sorted[0] == sorted[n-1] {
		return fmt.Sprintf("Effects: %d, all with λ = %.2g (1 is centred, 0 non-centred).", n, sorted[0])
	}
	return fmt.Sprintf("Effects: %d, with λ from %.2g to %.2g, %.2g in the median (1 is centred, 0 non-centred).", n, sorted[0], sorted[n-1], sorted[n/2])
}
