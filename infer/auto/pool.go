package auto

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// pairs are the steps of an optimiser with the changes of the gradient, and where it
// has led.
type pairs struct {
	steps, changes [][]float64

	settled    bool // at a draw from a normal distribution that fits there
	position   []float64
	logDensity float64
}

// first is what the starts of all chains come to.
type first struct {
	metric infer.Metric
	best   pairs // the settled start with the largest log density
}

// trails reports whether a start is where next to nothing of the distribution is: in a
// mode so much lower that no draw of the run should be there.
func (f *first) trails(p pairs, d int) bool {
	return p.settled && f.best.settled && p.logDensity < f.best.logDensity-100-10*float64(d)
}

// firstMetric puts the climbs of all chains together.
func (w *chain) firstMetric(own pairs) (*first, error) {
	d := w.Target.Dim()
	all, err := w.Exchange(own, func(parts []any) any {
		s := whiten.Sample{Plain: true}
		f := &first{metric: infer.Metric{Kind: infer.Unit, Dim: d}}
		for _, part := range parts {
			if p, ok := part.(pairs); ok && p.settled && (!f.best.settled || p.logDensity > f.best.logDensity) {
				f.best = p
			}
		}
		for _, part := range parts {
			if p, ok := part.(pairs); ok && !f.trails(p, d) {
				s.Draws, s.Scores = append(s.Draws, p.steps...), append(s.Scores, p.changes...)
			}
		}
		kind := w.options.Metric
		if kind == "" || kind == infer.Dense {
			kind = infer.LowRank
		}
		m, err := whiten.Fit(kind, s, whiten.Options{Shrink: 1e-6, Cutoff: 1.1})
		if err != nil {
			m, err = whiten.Fit(infer.Diagonal, s, whiten.Options{})
		}
		if err == nil {
			f.metric = m
		}
		return f
	})
	if err != nil {
		return nil, err
	}
	return all.(*first), nil
}

// pool is what has been seen by all chains so far. Every chain has one of its own,
// but only one of them judges; the others adopt.
type pool struct {
	course
	given   bool
	metric  infer.Metric // in use
	rounds  [][]record   // by round, then chain
	history []*verdict
}

// verdict is what becomes of a round.
type verdict struct {
	rounds [][]record // of the pool, with this one

	metric     infer.Metric
	why        string
	warn       string
	divergence float64 // held-out, of the metric chosen
	stepSize   float64 // of all chains
	delta      float64
	divergent  float64 // share of the transitions, in the later half
	perDraw    float64 // integration steps per transition, likewise
	rhat       float64 // largest
	scales     []float64
	slow       []int // whitened coordinates, the slowest first
	done       bool
	err        error
}

func (p *pool) adopt(v *verdict) {
	p.rounds = v.rounds
	p.history = append(p.history, v)
}

var errNoChains = errors.New("auto: no chain is left")

// The acceptance that NUTS aims at is raised, a step after each round, while more than
// these shares of the transitions diverge; one or two divergences prove nothing.
var (
	deltas    = []float64{0.9, 0.95, 0.98, 0.99}
	deltaFrom = []float64{0.003, 0.01, 0.03, 0.03}
)

const fewDivergent = 3

// judge makes the verdict of a round.
func (p *pool) judge(parts []any, last bool) *verdict {
	v := &verdict{delta: p.options.Delta}
	var now []record
	for _, part := range parts {
		if r, ok := part.(record); ok {
			now = append(now, r)
		}
	}
	if len(now) == 0 {
		v.err = errNoChains
		return v
	}
	v.rounds = append(slices.Clone(p.rounds), now)
	recent := later(v.rounds)
	v.stepSize = 0
	steps, divergent, count := 0, 0, 0
	for _, r := range now {
		v.stepSize += math.Log(r.stepSize) / float64(len(now))
	}
	v.stepSize = math.Exp(v.stepSize)
	for _, r := range recent {
		count += len(r.draws)
	}
	total := 0
	for _, r := range now {
		steps += r.steps
		divergent += r.divergent
		total += len(r.draws)
	}
	v.perDraw, v.divergent = float64(steps)/float64(total), float64(divergent)/float64(total)
	v.choose(p, recent)
	to, err := whiten.NewMap(v.metric)
	if err != nil {
		v.err = err
		return v
	}
	v.diagnose(to, recent)
	var before *verdict
	if len(p.history) > 0 {
		before = p.history[len(p.history)-1]
	}
	if before != nil {
		v.delta = before.delta
	}
	// A step size at which nothing diverges is worth more than one that is optimal
	// elsewhere. (The first rounds come from outside.)
	if v.rhat < 1.2 && divergent >= fewDivergent && p.options.Delta == DefaultDelta {
		for i, d := range deltas {
			if v.delta < d && v.divergent > deltaFrom[i] {
				v.delta = d
				break
			}
		}
	}
	fewest := fewestRounds
	if before != nil && v.near() && before.near() {
		fewest = fewestNear
	}
	settled := before != nil && len(v.rounds) >= fewest &&
		(math.Abs(math.Log(v.stepSize/before.stepSize)) < 0.5 || v.near() && before.near()) &&
		math.Abs(v.divergence-before.divergence) < 0.05+0.2*v.divergence &&
		v.rhat < 1.05+4/float64(count/len(now)) && v.delta == before.delta
	v.done = last || settled && !p.options.NoEarlyEnd
	if last && !settled && !p.options.NoEarlyEnd {
		v.warn = fmt.Sprintf("Warm-up has not settled: R-hat is up to %.2f in its later half, %.1f %% of its last transitions diverge.", v.rhat, 100*v.divergent)
	}
	return v
}

// later is the later half of all transitions, by chain.
func later(rounds [][]record) []record {
	total := 0
	for _, r := range rounds {
		total += len(r[0].draws)
	}
	keep := (total + 1) / 2
	out := make([]record, len(rounds[len(rounds)-1]))
	for _, r := range slices.Backward(rounds) {
		if len(r) != len(out) { // a chain has ended since
			break
		}
		n := len(r[0].draws)
		take := min(n, keep)
		for i := range out {
			out[i].draws = append(slices.Clone(r[i].draws[n-take:]), out[i].draws...)
			out[i].scores = append(slices.Clone(r[i].scores[n-take:]), out[i].scores...)
			out[i].logDensity = append(slices.Clone(r[i].logDensity[n-take:]), out[i].logDensity...)
		}
		if keep -= take; keep == 0 {
			break
		}
	}
	return out
}

// candidate is a way to learn a metric.
type candidate struct {
	kind   infer.MetricKind
	shrink float64
	name   string
}

// mostDense is the largest dimension of dense metrics.
const mostDense = 150

// choose learns the candidates from some chains and judges them by the others.
func (v *verdict) choose(p *pool, recent []record) {
	if p.given {
		v.metric, v.why = p.metric, "given"
		s := sampleOf(recent)
		v.divergence = whiten.Divergence(v.metric, s.Draws, s.Scores)
		return
	}
	d := len(recent[0].draws[0])
	n := 0
	for _, r := range recent {
		n += len(r.draws)
	}
	candidates := []candidate{{infer.Diagonal, 0, "diagonal"}}
	for _, shrink := range []float64{1e-4, 3e-2} {
		candidates = append(candidates, candidate{infer.LowRank, shrink, "a diagonal plus low rank"})
		if d <= mostDense && n >= 2*d {
			candidates = append(candidates, candidate{infer.Dense, shrink, "dense"})
		}
	}
	if kind := p.options.Metric; kind != "" {
		candidates = slices.DeleteFunc(candidates, func(c candidate) bool { return c.kind != kind })
		if kind == infer.Dense && len(candidates) == 0 {
			candidates = []candidate{{infer.Dense, 3e-2, "dense"}}
		}
		if kind == infer.Unit {
			v.metric, v.why = infer.Metric{Kind: infer.Unit, Dim: d}, "the identity, as asked for"
			s := sampleOf(recent)
			v.divergence = whiten.Divergence(v.metric, s.Draws, s.Scores)
			return
		}
	}
	parts := folds(recent)
	best, least := 0, infinity
	divergences := make([]float64, len(candidates))
	for i, c := range candidates {
		for f := range parts {
			m, err := whiten.Fit(c.kind, sampleOf(parts[1-f]), whiten.Options{Shrink: c.shrink})
			if err != nil {
				divergences[i] = infinity
				break
			}
			held := sampleOf(parts[f])
			divergences[i] += whiten.Divergence(m, held.Draws, held.Scores) / 2
		}
		// The simpler one, unless another is clearly better.
		if divergences[i] < 0.95*least-0.005 || i == 0 {
			best, least = i, divergences[i]
		}
	}
	whole := sampleOf(recent)
	for ; ; best = 0 {
		c := candidates[best]
		var err error
		v.metric, err = whiten.Fit(c.kind, whole, whiten.Options{Shrink: c.shrink})
		if err == nil {
			v.divergence, v.why = divergences[best], c.name
			if c.kind == infer.LowRank {
				v.why = fmt.Sprintf("a diagonal plus rank %d", (len(v.metric.Inverse)-d)/(d+1))
			}
			break
		}
		if best == 0 {
			v.err = err
			return
		}
	}
	if v.divergence > hopeless && p.options.Metric == "" {
		// Scores of a way to the typical set, or of a funnel's neck, mislead.
		v.metric, v.why = varianceOf(whole), "the variance of the draws"
	}
	if !v.near() && p.options.Metric == "" && n >= mostTrusted {
		// Scores are largest in the bulk: of long tails they make too little.
		widen(&v.metric, whole)
	}
	v.why += fmt.Sprintf(", whose held-out Fisher divergence per dimension is %.2g", v.divergence)
	if c := candidates[best]; c.kind != infer.Diagonal && candidates[0].kind == infer.Diagonal {
		v.why += fmt.Sprintf(" (diagonal: %.2g)", divergences[0])
	}
}

// hopeless is a held-out divergence per dimension above which the variance of the
// draws is used, as Stan has it.
const hopeless = 5

// mostTrusted is the number of draws from which on, on a target that is far from
// normal, each coordinate has the variance of the draws and scores only tell how
// coordinates go together.
const mostTrusted = 100

// widen gives each coordinate the variance of the draws.
func widen(m *infer.Metric, s whiten.Sample) {
	variance := varianceOf(s)
	d := m.Dim
	own := func(i int) float64 {
		switch m.Kind {
		case infer.Dense:
			return m.Inverse[i*(d+1)]
		case infer.LowRank:
			scale, values, vectors := m.LowRank()
			sum := 1.0
			for k, u := range vectors {
				sum += (values[k] - 1) * u[i] * u[i]
			}
			return scale[i] * scale[i] * sum
		}
		return m.Inverse[i]
	}
	factor := make([]float64, d)
	for i := range factor {
		factor[i] = math.Sqrt(variance.Inverse[i] / own(i))
		if !(factor[i] > 1e-3 && factor[i] < 1e3) {
			return
		}
	}
	for i, f := range factor {
		switch m.Kind {
		case infer.Dense:
			for j, g := range factor {
				m.Inverse[i*d+j] *= f * g
			}
		case infer.LowRank:
			m.Inverse[i] *= f
		case infer.Diagonal:
			m.Inverse[i] *= f * f
		}
	}
}

func varianceOf(s whiten.Sample) infer.Metric {
	d, n := len(s.Draws[0]), float64(len(s.Draws))
	m := infer.Metric{Kind: infer.Diagonal, Dim: d, Inverse: make([]float64, d), Mean: make([]float64, d)}
	for _, x := range s.Draws {
		floats.AddScaled(m.Mean, 1/n, x)
	}
	for _, x := range s.Draws {
		for i, v := range x {
			m.Inverse[i] += (v - m.Mean[i]) * (v - m.Mean[i]) / n
		}
	}
	for i, v := range m.Inverse {
		m.Inverse[i] = max(n/(n+5)*v+1e-3*5/(n+5), 1e-12)
	}
	return m
}

// folds are two parts of the draws: every other chain, or the halves of one.
func folds(r []record) [2][]record {
	var parts [2][]record
	if len(r) > 1 {
		for i, c := range r {
			parts[i%2] = append(parts[i%2], c)
		}
		return parts
	}
	half := len(r[0].draws) / 2
	parts[0] = []record{{draws: r[0].draws[:half], scores: r[0].scores[:half]}}
	parts[1] = []record{{draws: r[0].draws[half:], scores: r[0].scores[half:]}}
	return parts
}

func sampleOf(records []record) (s whiten.Sample) {
	for _, r := range records {
		s.Draws, s.Scores = append(s.Draws, r.draws...), append(s.Scores, r.scores...)
		s.Groups = append(s.Groups, len(r.draws))
	}
	return s
}

// diagnose finds R-hat of the log density and of the whitened coordinates, their
// variances, and which of them are slow.
func (v *verdict) diagnose(to *whiten.Map, recent []record) {
	d := v.metric.Dim
	n := len(recent[0].draws)
	means := make([][]float64, len(recent))
	within, lag := make([]float64, d), make([]float64, d)
	y, w, previous := make([]float64, d), make([]float64, d), make([]float64, d)
	for i, r := range recent {
		means[i] = make([]float64, d)
		squares := make([]float64, d)
		for t, x := range r.draws {
			to.Whiten(x, r.scores[t], y, w)
			for j, v := range y {
				means[i][j] += v / float64(n)
				squares[j] += v * v / float64(n)
				if t > 0 {
					lag[j] += (v - previous[j]) * (v - previous[j]) / float64(len(recent)*max(1, n-1))
				}
			}
			copy(previous, y)
		}
		for j := range within {
			within[j] += max(0, squares[j]-means[i][j]*means[i][j]) / float64(len(recent))
		}
	}
	between := func(j int) float64 {
		mean, sum := 0.0, 0.0
		for _, m := range means {
			mean += m[j] / float64(len(means))
		}
		for _, m := range means {
			sum += (m[j] - mean) * (m[j] - mean)
		}
		return sum / float64(max(1, len(means)-1))
	}
	v.rhat = 1
	v.scales = make([]float64, d)
	speed := make([]float64, d)
	for j := range d {
		b := between(j)
		if within[j] > 0 {
			v.rhat = max(v.rhat, math.Sqrt(1+b/within[j]))
		} else if b > 0 {
			v.rhat = infinity
		}
		v.scales[j] = within[j] + b
		speed[j] = lag[j] / max(v.scales[j], 1e-300)
		v.slow = append(v.slow, j)
	}
	slices.SortStableFunc(v.slow, func(a, b int) int {
		switch {
		case speed[a] < speed[b]:
			return -1
		case speed[a] > speed[b]:
			return 1
		}
		return 0
	})
	// Log density.
	mean, variance := make([]float64, len(recent)), 0.0
	grand := 0.0
	for i, r := range recent {
		for _, l := range r.logDensity {
			mean[i] += l / float64(n)
		}
		for _, l := range r.logDensity {
			variance += (l - mean[i]) * (l - mean[i]) / float64(n*len(recent))
		}
		grand += mean[i] / float64(len(recent))
	}
	b := 0.0
	for _, m := range mean {
		b += (m - grand) * (m - grand) / float64(max(1, len(recent)-1))
	}
	if variance > 0 {
		v.rhat = max(v.rhat, math.Sqrt(1+b/variance))
	}
}
