package auto

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// candidate is a kind of metric, with the function that learns it.
type candidate struct {
	kind    infer.MetricKind
	options whiten.Options
	name    string
	costly  bool // tried only if it could be much better than the others
}

// maxDense is the maximum dimension for which dense metrics are learnt. For a nearly normal target,
// which a dense metric describes almost exactly, it is maxDenseNormal: steps then take as long as
// with a low-rank metric. maxSurveyed is the maximum dimension for survey.
const (
	maxDense       = 150
	maxDenseNormal = 512
	maxSurveyed    = 1024
)

// minDraws is the minimum number of draws, over all chains, from which a metric is learnt. Each
// half then has two draws, enough for a variance.
const minDraws = 4

// minShrink is the shrinkage for linear scores.
const minShrink = 1e-8

// choose learns the candidates from some chains and judges them on the other chains. same means
// that the draws are in the coordinates for which the current metric was learnt.
func (v *verdict) choose(p *pool, recent []record, same bool) {
	if p.given {
		v.setMetric(p.metric, "given", recent)
		return
	}
	d := len(recent[0].draws[0])
	n := 0
	for _, r := range recent {
		n += len(r.draws)
	}
	if n < minDraws {
		v.keepMetric(p, "that of the start, as warm-up had too few draws to learn one", d)
		v.attainable = infinity
		return
	}
	halves := folds(recent)
	parts := [2]whiten.Sample{sampleOf(halves[0]), sampleOf(halves[1])}
	v.attainable = whiten.Attainable(parts[0], parts[1])
	if p.options.Metric == infer.Unit {
		v.setMetric(infer.Metric{Kind: infer.Unit, Dim: d}, "the identity, as asked for", recent)
		return
	}
	// If the scores are linear, as far as the draws show, the estimate needs no shrinkage.
	normal := v.attainable < p.at.nearlyNormal
	inUse, ofInUse := infer.Metric{}, infinity
	if normal && same && p.options.Metric == "" {
		inUse, ofInUse = centred(p.metric, recent)
	}
	dense := p.work.paysDense(v.evidence, v.length)
	candidates := candidatesFor(p.options.Metric, d, n, normal, p.work.perVector())
	if p.options.Metric == "" && !dense {
		candidates = slices.DeleteFunc(candidates, func(c candidate) bool { return c.kind == infer.Dense })
	}
	divergences, best := v.try(p, candidates, parts, ofInUse)
	if large := 2*d*n > maxRecorded; large { // release memory that the next fit needs
		v.fitters[0], v.fitters[1] = whiten.Fitter{}, whiten.Fitter{}
		defer func() { v.fitters[2] = whiten.Fitter{} }()
	}
	whole := sampleOf(recent)
	v.fitters[2].Use(whole)
	if !v.learnBest(candidates, divergences, best) { // chains move away without end, so no metric can be computed
		v.keepMetric(p, "the one in use. The draws do not determine one", d)
		return
	}
	v.unripe = p.options.Metric == "" && normal && d <= maxSurveyed && n < 2*d && dense
	if ofInUse < p.at.muchBetter*v.divergence-0.005 {
		v.take(inUse, ofInUse)
		v.kept = n < 2*d
		return
	}
	v.unripe = v.unripe && (v.divergence > 2*v.attainable+p.at.worthWaiting || p.at.near(v.attainable, d) && !v.near())
	if p.options.Metric == "" {
		v.correct(p, whole, normal)
	}
	v.why += fmt.Sprintf(". Its held-out Fisher divergence per dimension is %.2g", v.divergence)
	if v.metric.Kind != infer.Diagonal && candidates[0].kind == infer.Diagonal {
		v.why += fmt.Sprintf(" (diagonal: %.2g)", divergences[0])
	}
}

// setMetric sets a metric that was not learnt from the draws, and computes its divergence over all
// draws.
func (v *verdict) setMetric(m infer.Metric, why string, recent []record) {
	s := sampleOf(recent)
	v.metric, v.why, v.divergence = m, why, whiten.Divergence(m, s.Draws, s.Scores)
}

// keepMetric keeps the current metric; if there is none, it sets the identity.
func (v *verdict) keepMetric(p *pool, why string, d int) {
	v.metric, v.why, v.divergence = p.metric, why, infinity
	if v.metric.Kind == "" {
		v.metric = infer.Metric{Kind: infer.Unit, Dim: d}
	}
}

// candidatesFor returns the candidates that can be learnt from n draws of dimension d, the simplest
// first. If the user asked for a kind of metric, it returns only candidates of that kind. perVector
// is what an eigenvector of a metric of low rank costs, see [whiten.Options].
func candidatesFor(asked infer.MetricKind, d, n int, normal bool, perVector float64) []candidate {
	candidates := []candidate{{infer.Diagonal, whiten.Options{}, "diagonal", false}}
	for _, shrink := range []float64{1e-4, 3e-2} {
		o := whiten.Options{Shrink: shrink, Cost: perVector}
		candidates = append(candidates, candidate{infer.LowRank, o, "a diagonal plus low rank", false})
		if d <= maxDense && n >= 2*d {
			candidates = append(candidates, candidate{infer.Dense, o, "dense", false})
		}
	}
	if normal {
		candidates = append(candidates, candidate{infer.LowRank, whiten.Options{Shrink: 3e-2, Refine: true, Cost: perVector}, "a diagonal plus low rank", true})
		if d <= maxDenseNormal && n >= 2*d {
			candidates = append(candidates, candidate{infer.Dense, whiten.Options{Shrink: minShrink}, "dense", true})
		}
	}
	if asked == "" {
		return candidates
	}
	for i := range candidates {
		candidates[i].options.Cost = 0
	}
	candidates = slices.DeleteFunc(candidates, func(c candidate) bool { return c.kind != asked })
	if asked == infer.Dense && len(candidates) == 0 {
		candidates = []candidate{{infer.Dense, whiten.Options{Shrink: 3e-2}, "dense", false}}
	}
	return candidates
}

// try returns the held-out divergence of each candidate and the index of the best. Costly
// candidates are tried only if the smallest divergence so far, including that of the current
// metric, is well above the attainable one. A candidate that would not be chosen even with the
// attainable divergence is not tried in more than maxDense dimensions. There, a candidate can take
// as long as the transitions of the round, and few draws give bad ones.
func (v *verdict) try(p *pool, candidates []candidate, parts [2]whiten.Sample, ofInUse float64) (divergences []float64, best int) {
	least := infinity
	divergences = make([]float64, len(candidates))
	for f := range parts {
		v.fitters[f].Use(parts[f])
	}
	d := len(parts[0].Draws[0])
	for i, c := range candidates {
		limit := 0.95*least - 0.005 // prefer a simpler candidate unless another is clearly better
		hopeless := limit <= 0 || d > maxDense && v.attainable >= limit && v.attainable < infinity
		if i > 0 && hopeless {
			divergences[i] = infinity
			continue
		}
		if c.costly && min(least, ofInUse) < 2*v.attainable+p.at.worthTrying {
			divergences[i] = infinity
			continue
		}
		for f, held := range parts {
			divergence, err := v.fitters[1-f].Divergence(c.kind, c.options, held.Draws, held.Scores)
			if err != nil {
				divergences[i] = infinity
				break
			}
			divergences[i] += divergence / 2
		}
		if divergences[i] < limit || i == 0 {
			best, least = i, divergences[i]
		}
	}
	return divergences, best
}

// learnBest learns the best candidate from all draws or, if that fails, the simplest one. It
// reports whether one could be learnt.
func (v *verdict) learnBest(candidates []candidate, divergences []float64, best int) bool {
	for ; ; best = 0 {
		c := candidates[best]
		var err error
		v.metric, err = v.fitters[2].Fit(c.kind, c.options)
		if err == nil {
			// If draws are spread over many orders of magnitude, as for an improper posterior,
			// rounding may make the metric indefinite.
			_, err = whiten.NewMap(v.metric)
		}
		if err == nil {
			v.divergence, v.why = divergences[best], c.name
			if c.kind == infer.LowRank {
				if c.options.Cost > 0 {
					v.metric = withoutVectors(v.metric)
				}
				v.why = kindName(v.metric)
			}
			return true
		}
		if best == 0 {
			return false
		}
	}
}

// withoutVectors returns a metric of low rank without eigenvectors as a diagonal one, with which
// steps are faster; it returns others unchanged.
func withoutVectors(m infer.Metric) infer.Metric {
	if m.Kind != infer.LowRank || len(m.Inverse) != m.Dim {
		return m
	}
	m.Kind, m.Inverse = infer.Diagonal, slices.Clone(m.Inverse)
	floats.Mul(m.Inverse, m.Inverse)
	return m
}

// correct replaces or widens a metric if the scores mislead. On the way to the typical set and in
// the neck of a funnel, it uses the variances of the draws instead. With long tails, where scores
// are largest in the bulk, the metric would be too narrow, and it is widened.
func (v *verdict) correct(p *pool, whole whiten.Sample, normal bool) {
	if v.divergence > p.at.hopeless && !normal {
		v.metric, v.why = varianceOf(whole), "the variance of the draws"
	}
	if !v.near() && !p.at.near(v.attainable, v.metric.Dim) && len(whole.Draws) >= int(p.at.trustDraws) {
		wide := v.metric
		wide.Inverse = slices.Clone(wide.Inverse)
		widen(&wide, whole)
		if _, err := whiten.NewMap(wide); err == nil {
			v.metric = wide
		}
	}
}

// take keeps the current metric because it is much better than any learnt from the draws. This can
// happen with a metric from second derivatives while there are few draws.
func (v *verdict) take(inUse infer.Metric, divergence float64) {
	v.metric, v.divergence, v.unripe = inUse, divergence, false
	v.why = fmt.Sprintf("%s, from second derivatives. Its Fisher divergence per dimension is %.2g", kindName(inUse), divergence)
}

func kindName(m infer.Metric) string {
	switch m.Kind {
	case infer.Dense:
		return "dense"
	case infer.LowRank:
		return fmt.Sprintf("a diagonal plus rank %d", (len(m.Inverse)-m.Dim)/(m.Dim+1))
	}
	return "diagonal"
}

// centred returns the current metric with the best mean for it. It also returns the divergence, on
// draws from which that mean was not learnt.
func centred(inUse infer.Metric, recent []record) (infer.Metric, float64) {
	var after whiten.Sample
	for _, r := range recent {
		from := len(r.draws) / 3
		after.Draws, after.Scores = append(after.Draws, r.draws[from:]...), append(after.Scores, r.scores[from:]...)
	}
	if len(after.Draws) < 2 {
		return inUse, infinity
	}
	inUse = whiten.Centre(inUse, after)
	return inUse, whiten.Divergence(inUse, after.Draws, after.Scores)
}

// survey learns a dense metric from all second derivatives, if the scores are nearly linear. It
// then matters little where the derivatives are taken. Each chain computes some of them, by finite
// differences at its own position.
func (w *chain) survey(v *verdict) (infer.Metric, error) {
	m, d := v.metric, v.metric.Dim
	scale := make([]float64, d)
	for i, v := range variances(m) {
		scale[i] = math.Sqrt(v)
	}
	own, err := w.curvature(scale, every(d, w.Chain%v.chains, v.chains))
	if err != nil {
		return m, err
	}
	all, err := w.Exchange(own, func(parts []any) any {
		hessian := make([][]float64, d)
		for _, part := range parts {
			p, _ := part.(pairs)
			for k, step := range p.steps {
				for i, v := range step {
					if v != 0 {
						hessian[i] = p.changes[k]
						floats.Scale(1/v, hessian[i])
					}
				}
			}
		}
		for _, row := range hessian {
			if row == nil {
				return m
			}
		}
		dense, err := whiten.Curvature(hessian)
		if err != nil {
			return m
		}
		dense.Mean = m.Mean
		return dense
	})
	if err != nil {
		return m, err
	}
	return all.(infer.Metric), nil
}

// widen sets the variance of each coordinate to that of the draws.
func widen(m *infer.Metric, s whiten.Sample) {
	variance := varianceOf(s)
	d := m.Dim
	own := variances(*m)
	factor := make([]float64, d)
	for i := range factor {
		factor[i] = math.Sqrt(variance.Inverse[i] / own[i])
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

// variances returns the diagonal of an inverse metric.
func variances(m infer.Metric) []float64 {
	d := m.Dim
	out := make([]float64, d)
	for i := range out {
		switch m.Kind {
		case infer.Unit:
			out[i] = 1
		case infer.Diagonal:
			out[i] = m.Inverse[i]
		case infer.Dense:
			out[i] = m.Inverse[i*(d+1)]
		case infer.LowRank:
			scale, values, vectors := m.LowRank()
			sum := 1.0
			for k, u := range vectors {
				sum += (values[k] - 1) * u[i] * u[i]
			}
			out[i] = scale[i] * scale[i] * sum
		}
	}
	return out
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

// folds divides the draws into two parts: every other chain, or the two halves of a single chain.
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
	n := 0
	for _, r := range records {
		n += len(r.draws)
	}
	s.Draws, s.Scores, s.Groups = make([][]float64, 0, n), make([][]float64, 0, n), make([]int, 0, len(records))
	for _, r := range records {
		s.Draws, s.Scores = append(s.Draws, r.draws...), append(s.Scores, r.scores...)
		s.Groups = append(s.Groups, len(r.draws))
	}
	return s
}
