package auto

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/ppl-lang/ppl/infer"
)

// The values of Sampler.Recentre that are not numbers.
const (
	RecentreLearn = "learn"
	RecentreOff   = "off"
)

// fixedRecentring returns Sampler.Recentre as a number, if it is one.
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

// beginRecentred sets the chain's first coordinates: non-centred ones, in which the typical set has
// no neck.
func (w *chain) beginRecentred(given bool) error {
	if w.Chart == nil || w.options.Recentre == RecentreOff {
		return nil
	}
	v, fixed, err := w.options.fixedRecentring()
	if err != nil || given && !fixed {
		return err
	}
	w.learns = !fixed && !given
	return w.recentre(infer.Centred(v, len(w.Chart.Recentring().Elements())))
}

// recentre changes the coordinates of the chain. If its position does not exist in the new
// coordinates, the chain moves to the position with the same numbers, or to 0. If that also fails,
// it keeps its coordinates and no longer learns them.
func (w *chain) recentre(evidence []float64) error {
	done, err := w.Recentre(evidence)
	if err != nil || done {
		return err
	}
	from := w.Chart.Evidence()
	if err := w.Chart.Use(evidence); err != nil {
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
	maxLearnt             = 300 // maximum number of draws, of all chains
	minEffectDraws        = 40
	maxSeen               = 1 << 21  // maximum amount of numbers for all group-level terms together, 40 bytes each
	sameCentred, sameMean = 0.1, 0.3 // differences that are too small to matter
	// minimum variance of a location, relative to that of its term; smaller ones are due to
	// rounding
	constantLocation = 1e-12
)

// evidence is what the data say about each group-level term.
type evidence struct {
	of       []float64 // see [infer.Recentring], with A = 1
	logScale []float64 // median of the logarithm of the scale over the draws
	location []float64 // median of the location over the draws
	vanishes bool      // the scale of terms about which the data say little seems to reach 0
}

// learnEvidence estimates what the data say about each group-level term θ, from draws and their
// scores: the precision B and the pull S + Gμ of a normal density in θ.
//
// Let f be the score of the log density without the term's own prior, given the term's location μ
// and scale. Then f = S - Bθ plus terms of other parameters. Let s be the score of the whole log
// density. The mean of sf equals that of -∂f/∂θ, which is B, whatever else is correlated with θ.
// The mean of sθ is -1 (Stein's identity), so it is a control variate: if nothing else is
// correlated with θ, the estimate has no noise. Given B, f yields S. The regression of S on μ
// yields G, which equals B if location and term always occur together, as in a sum of two groups of
// terms.
//
// Two simpler estimates are wrong. A regression of f on θ is wrong if other parameters are
// correlated with θ; in a chain of terms, so is the mean of s² minus 1/σ². The ratio of sf to -sθ
// is only noise if other terms can take the place of θ, as in the pilots model.
//
// Terms of higher levels keep their own coordinates here, in which they are correlated with θ, so
// that what the data say about θ through them counts. For a chain of terms within one level, such
// as a random walk, the map itself does that. The result is nil if there are too few draws.
func learnEvidence(c *infer.Chart, recent []record, vanishing float64) *evidence {
	n := 0
	for _, r := range recent {
		n += len(r.draws)
	}
	if n < minEffectDraws {
		return nil
	}
	levels := c.Recentring().Levels()
	k := len(levels)
	most := max(minEffectDraws, min(maxLearnt, maxSeen/k))
	every := (n + most - 1) / most
	out := evidence{infer.Centred(0, k), make([]float64, k), make([]float64, k), false}
	for level := slices.Max(levels); level >= 0; level-- {
		o := newObserver(c.Recentring(), level, c.Dim(), out.of, (n+every-1)/every+len(recent))
		for _, r := range recent {
			for t := 0; t < len(r.draws); t += every {
				o.observe(r.draws[t], r.scores[t])
			}
		}
		for j, of := range o.seen {
			if len(of.theta) < minEffectDraws/2 {
				continue
			}
			logs := o.work[0][:len(of.theta)]
			copy(logs, of.location)
			slices.Sort(logs)
			out.location[j] = logs[len(logs)/2]
			copy(logs, of.logScale)
			slices.Sort(logs)
			low := logs[len(logs)/50]
			out.logScale[j] = logs[len(logs)/2]
			if precision, pull, follow := of.estimate(&o.work); !math.IsNaN(precision - precision + pull - pull + follow) {
				out.of[k+j], out.of[2*k+j], out.of[3*k+j] = precision, pull, follow
			}
			out.vanishes = out.vanishes || stat.Skew(of.logScale, nil) < vanishing && centredness(out.of, j, k, low) < 0.5
		}
	}
	return &out
}

// seenEffect is what was observed of one group-level term, by draw.
type seenEffect struct {
	theta, location, logScale []float64
	score, without            []float64 // score of the density, and of the density without the term's own prior
}

// observer records the terms of one level.
type observer struct {
	of    infer.Recentring
	level int
	// Evidence in which this level and the lower ones are replaced: by centred coordinates, and by
	// innovations (standardised deviations). Higher levels keep the given evidence.
	centred, innovations []float64
	seen                 []seenEffect

	theta, whole, z, without, logs []float64
	work                           [4][]float64 // work space: numbers by draw
}

// newObserver returns an observer with memory for n draws.
func newObserver(of infer.Recentring, level, d int, given []float64, n int) *observer {
	k := len(of.Levels())
	o := &observer{of: of, level: level, centred: slices.Clone(given), innovations: slices.Clone(given), seen: make([]seenEffect, k)}
	row := make([]float64, 4*d+k)
	o.theta, o.whole, o.z, o.without, o.logs = row[:d], row[d:2*d], row[2*d:3*d], row[3*d:4*d], row[4*d:]
	room := make([]float64, len(o.work)*n)
	for i := range o.work {
		o.work[i], room = room[:n:n], room[n:]
	}
	own := 0
	for _, l := range of.Levels() {
		if l == level {
			own++
		}
	}
	room = make([]float64, 5*n*own)
	for j, l := range of.Levels() {
		if l == level {
			s := &o.seen[j]
			for _, f := range []*[]float64{&s.theta, &s.location, &s.logScale, &s.score, &s.without} {
				*f, room = room[:0:n], room[n:]
			}
		}
		if l <= level {
			for i := range 4 {
				o.centred[i*k+j], o.innovations[i*k+j] = 0, 0
			}
			o.centred[k+j], o.innovations[j] = 1, 1
		}
	}
	return o
}

// observe records a draw x and its score.
func (o *observer) observe(x, score []float64) {
	of := o.of
	if of.LogScales(x, o.logs) != nil || of.Inverse(x, o.centred, o.theta) != nil || of.Pull(o.theta, o.centred, score, o.whole) != nil ||
		of.Inverse(x, o.innovations, o.z) != nil || of.Pull(o.z, o.innovations, score, o.without) != nil {
		return
	}
	for j, i := range of.Elements() {
		if of.Levels()[j] == o.level {
			o.without[i] += o.z[i] // subtract the prior of an innovation, assumed to be exp(-z²/2)
		}
	}
	if of.Push(x, o.innovations, o.without, o.without) != nil || of.Pull(o.theta, o.centred, o.without, o.without) != nil {
		return
	}
	for j, i := range of.Elements() {
		if product := o.whole[i] * o.without[i]; of.Levels()[j] == o.level && !math.IsNaN(product) && !math.IsInf(product, 0) && !math.IsInf(o.logs[j], 0) {
			s := &o.seen[j]
			s.theta, s.logScale = append(s.theta, o.theta[i]), append(s.logScale, o.logs[j])
			s.location = append(s.location, o.theta[i]-o.z[i]*math.Exp(o.logs[j]))
			s.score, s.without = append(s.score, o.whole[i]), append(s.without, o.without[i])
		}
	}
}

// estimate estimates what the data say about the term: B, S and G, see learnEvidence.
func (s *seenEffect) estimate(work *[4][]float64) (precision, pull, follow float64) {
	n := len(s.theta)
	w, sf, st, prior := work[0][:n], work[1][:n], work[2][:n], work[3][:n] // prior has precisions
	for t, l := range s.logScale {
		prior[t] = math.Exp(-2 * l)
	}
	for range 3 {
		for t, p := range prior {
			// conditional variance of the term, which does not depend on the term's value
			w[t] = 1 / (p + precision)
		}
		floats.Scale(float64(len(w))/floats.Sum(w), w)
		theta, without := stat.Mean(s.theta, w), stat.Mean(s.without, w)
		for t, score := range s.score {
			sf[t], st[t] = score*(s.without[t]-without), score*(s.theta[t]-theta)
		}
		_, control := stat.LinearRegression(st, sf, w, false)
		if precision = stat.Mean(sf, w) - control*(stat.Mean(st, w)+1); !(precision > 0) {
			precision = 0
		}
	}
	tells := prior // which is no longer needed
	for t, f := range s.without {
		tells[t] = f + precision*s.theta[t]
	}
	if stat.Variance(s.location, w) > constantLocation*stat.Variance(s.theta, w) {
		_, follow = stat.LinearRegression(s.location, tells, w, false)
		follow = min(max(follow, 0), precision)
	}
	return precision, stat.Mean(tells, w) - follow*stat.Mean(s.location, w), follow
}

// centredness returns the degree to which term j of k is centred, from 0 to 1, at the given
// logarithm of its scale.
func centredness(of []float64, j, k int, logScale float64) float64 {
	v := of[k+j] * math.Exp(2*logScale)
	if math.IsInf(v, 1) {
		return 1
	}
	return v / (of[j] + v)
}

// similar reports whether two coordinates are equally good at the locations and scales of e. In
// wrong coordinates, terms depend on the logarithm of their scale: if it changes by 1, they move by
// 1 - centredness times the error, in conditional standard deviations of the term.
func (e *evidence) similar(other []float64) bool {
	k := len(e.logScale)
	for j, l := range e.logScale {
		mean := func(of []float64) float64 { // in units of the standard deviation
			return (of[2*k+j] + of[3*k+j]*e.location[j]) / of[j] * math.Exp(l) / math.Sqrt(1+of[k+j]/of[j]*math.Exp(2*l))
		}
		is := centredness(e.of, j, k, l)
		if !(math.Abs(is-centredness(other, j, k, l)) <= sameCentred && (1-is)*math.Abs(mean(e.of)-mean(other)) <= sameMean) {
			return false
		}
	}
	return true
}

// in converts the draws of records to the coordinates given by evidence; nil: to those of the
// model.
func in(c *infer.Chart, evidence []float64, recent []record) []record {
	if evidence == nil {
		return recent
	}
	out := slices.Clone(recent)
	d := c.Dim()
	for i, r := range recent {
		out[i].draws, out[i].scores = nil, nil
		out[i].expect(len(r.draws), d)
		for t, x := range r.draws {
			u, score := out[i].row(d)
			_ = c.Recentring().Inverse(x, evidence, u)
			_ = c.Recentring().Pull(u, evidence, r.scores[t], score)
		}
	}
	return out
}

// levelsInUse converts the log densities of records to the current coordinates. Otherwise, those of
// draws made before a change of coordinates would differ by the log Jacobian: thousands of nats
// with many terms. R-hat and the worth of a transition would then measure this difference.
func levelsInUse(c *infer.Chart, recent []record) {
	if c.Evidence() == nil {
		return
	}
	u, x := make([]float64, c.Dim()), make([]float64, c.Dim())
	for _, r := range recent {
		for t, draw := range r.draws {
			_ = c.At(draw, u)
			jacobian, _ := c.Original(u, x)
			r.logDensity[t] += jacobian
		}
	}
}

// reportCentring notes the degree to which terms are centred, at the observed scales or, if the
// user fixed the coordinates, at scale 1. If e is nil, nothing was learnt.
func (w *chain) reportCentring(e *evidence) {
	if _, fixed, _ := w.options.fixedRecentring(); w.Chart != nil && fixed {
		e = &evidence{logScale: make([]float64, len(w.Chart.Recentring().Elements()))}
	}
	if e == nil {
		return
	}
	inUse := w.Chart.Evidence()
	if inUse == nil {
		inUse = w.Chart.Recentring().Written()
	}
	k := len(e.logScale)
	all := make([]float64, k)
	for j, l := range e.logScale {
		all[j] = centredness(inUse, j, k, l)
	}
	slices.Sort(all)
	from, to := fmt.Sprintf("%.2g", all[0]), fmt.Sprintf("%.2g", all[k-1])
	by := from + " for all"
	if from != to {
		by = fmt.Sprintf("%s to %s, median %.2g", from, to, all[k/2])
	}
	w.note(fmt.Sprintf("Reparametrised %d group-level terms automatically. Centring: %s (0 is non-centred, 1 is centred).", k, by))
}
