package tempered

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// Constants of fitting.
const (
	maxDense      = 60   // maximum dimension in which covariances are full matrices
	maxComponents = 16   // maximum number of components of a fitted reference
	minPoints     = 8    // minimum number of draws from which a component is learnt
	shapeDraws    = 10   // per dimension: with fewer draws, shapes are not changed
	emSteps       = 12   // number of steps of the EM algorithm
	minWeight     = 0.02 // minimum weight of a component, if there are few components
	sumOfLeast    = 0.1  // sum of the weights of components with the minimum weight, if there are many
	margin        = 1.1  // factor on the variances of a reference, since too wide is better than too narrow
)

// kindOf returns the kind of metric that can be learnt from n draws with scores in this dimension.
func kindOf(dim, n int) infer.MetricKind {
	switch {
	case n < 2*minPoints && n < dim:
		return infer.Diagonal
	case dim <= maxDense:
		return infer.Dense
	}
	return infer.LowRank
}

// component fits a normal distribution to draws and their scores. It returns false if there are too
// few draws or no distribution can be fitted.
func component(draws, scores [][]float64) (infer.Metric, bool) {
	if len(draws) < minPoints {
		return infer.Metric{}, false
	}
	d := len(draws[0])
	m, err := whiten.Fit(kindOf(d, len(draws)), whiten.Sample{Draws: draws, Scores: scores}, whiten.Options{})
	if err != nil {
		return infer.Metric{}, false
	}
	weights := make([]float64, len(draws))
	for i := range weights {
		weights[i] = 1
	}
	return moments(m, draws, weights)
}

// moments makes a metric from the mean and the covariance of weighted draws. The covariance is
// shrunk towards a multiple of m, a metric near the precision of the draws. Above maxDense
// dimensions, only the multiple is learnt.
func moments(m infer.Metric, draws [][]float64, weights []float64) (infer.Metric, bool) {
	d, total := m.Dim, floats.Sum(weights)
	if !(total > 0) {
		return m, false
	}
	mean := make([]float64, d)
	for i, x := range draws {
		floats.AddScaled(mean, weights[i]/total, x)
	}
	m.Mean = mean
	to, err := whiten.NewMap(m)
	if err != nil {
		return m, false
	}
	y, none, unused := make([]float64, d), make([]float64, d), make([]float64, d)
	dense := m.Kind == infer.Dense
	second := make([]float64, d*d)
	if !dense {
		second = make([]float64, d)
	}
	for i, x := range draws {
		w := weights[i] / total
		if w < 1e-12 {
			continue
		}
		to.Whiten(x, none, y, unused)
		for a, v := range y {
			if dense {
				floats.AddScaled(second[a*d:(a+1)*d], w*v, y)
			} else {
				second[a] += w * v * v
			}
		}
	}
	scale := 0.0
	for a := range d {
		if dense {
			scale += second[a*d+a] / float64(d)
		} else {
			scale += second[a] / float64(d)
		}
	}
	if !(scale > 0) || math.IsInf(scale, 1) {
		return m, false
	}
	m.Inverse = slices.Clone(m.Inverse)
	switch m.Kind {
	case infer.Dense:
		// The shrinkage weight is that of Ledoit and Wolf (2004), "A well-conditioned estimator for
		// large-dimensional covariance matrices", Journal of Multivariate Analysis 88: the variance
		// of the sample moments divided by their squared distance from the multiple. It is doubled,
		// since autocorrelated draws count for less. With few draws it is 1.
		distance := 0.0
		for a := range d {
			for b := range d {
				v := second[a*d+b] / scale
				if a == b {
					v--
				}
				distance += v * v
			}
		}
		shrink := 1.0
		if noise := 2 * float64(d*d+d) / total; distance > noise && total >= shapeDraws*float64(d) {
			shrink = noise / distance
		}
		floats.Scale(margin*(1-shrink), second)
		for a := range d {
			second[a*d+a] += margin * shrink * scale
		}
		m.Mean = nil
		if to, err = whiten.NewMap(m); err != nil {
			return m, false
		}
		// L·second·Lᵀ: apply L to the columns, which equal the rows by symmetry, and then to the
		// rows.
		half, row := make([]float64, d*d), make([]float64, d)
		for a := range d {
			to.Forward(second[a*d:(a+1)*d], row)
			for b, v := range row {
				half[b*d+a] = v
			}
		}
		for a := range d {
			to.Forward(half[a*d:(a+1)*d], m.Inverse[a*d:(a+1)*d])
		}
		for a := range d {
			for b := range a {
				v := 0.5 * (m.Inverse[a*d+b] + m.Inverse[b*d+a])
				m.Inverse[a*d+b], m.Inverse[b*d+a] = v, v
			}
		}
		m.Mean = mean
	case infer.LowRank:
		floats.Scale(math.Sqrt(margin*scale), m.Inverse[:d])
	case infer.Diagonal:
		shrink := 1 / (1 + total/5)
		for a := range m.Inverse {
			m.Inverse[a] *= margin * ((1-shrink)*second[a] + shrink*scale)
		}
	}
	if m.Check() != nil {
		return m, false
	}
	if _, err := NewMixture([]Component{{1, m}}); err != nil {
		return m, false
	}
	return m, true
}

// refit fits a mixture to draws of the target, given their log densities and scores. It starts from
// the components of an old mixture. Components without draws stay, with the minimum weight: they
// may be modes that the draws have missed.
func refit(old *Mixture, draws, scores [][]float64, logs []float64) (*Mixture, error) {
	parts := old.Components()
	if new, ok := foreign(old, draws, scores); ok && len(parts) < maxComponents {
		parts = append(parts, new)
	}
	base := make([]infer.Metric, len(parts)) // the shapes towards which components are shrunk
	for k := range parts {
		base[k] = parts[k].Normal
	}
	m, err := NewMixture(parts)
	if err != nil {
		return nil, err
	}
	own := m.assign(draws)
	for k := range parts {
		var x, g [][]float64
		for _, i := range own[k] {
			x, g = append(x, draws[i]), append(g, scores[i])
		}
		if len(x) >= minPoints {
			if fit, err := whiten.Fit(kindOf(len(x[0]), len(x)), whiten.Sample{Draws: x, Scores: g}, whiten.Options{}); err == nil {
				base[k] = fit
			}
		}
	}
	shares, weights := make([][]float64, len(draws)), make([][]float64, len(parts))
	for k := range weights {
		weights[k] = make([]float64, len(draws))
	}
	for i := range shares {
		shares[i] = make([]float64, len(parts))
	}
	for range emSteps {
		for i, x := range draws {
			m.Responsibilities(x, shares[i])
			for k, v := range shares[i] {
				weights[k][i] = v
			}
		}
		for k := range parts {
			n := floats.Sum(weights[k])
			parts[k].Weight = max(n/float64(len(draws)), 1e-3)
			if n < minPoints {
				continue
			}
			if fit, ok := moments(base[k], draws, weights[k]); ok {
				parts[k].Normal = fit
			}
		}
		if m, err = NewMixture(parts); err != nil {
			return nil, err
		}
		if len(parts) == 1 {
			break
		}
	}
	reweigh(parts, m, draws, logs)
	return NewMixture(parts)
}

// assign lists, for each component, the draws that most likely come from it.
func (m *Mixture) assign(draws [][]float64) [][]int {
	own := make([][]int, len(m.parts))
	for i, x := range draws {
		k, _ := m.nearest(x)
		own[k] = append(own[k], i)
	}
	return own
}

// foreign fits a component to the draws that are far from all components, if there are enough of
// them.
func foreign(m *Mixture, draws, scores [][]float64) (Component, bool) {
	var x, g [][]float64
	for i, draw := range draws {
		d := float64(len(draw))
		if _, square := m.nearest(draw); square > d+6*math.Sqrt(2*d)+12 {
			x, g = append(x, draw), append(g, scores[i])
		}
	}
	fit, ok := component(x, g)
	return Component{Weight: float64(len(x)) / float64(len(draws)), Normal: fit}, ok
}

// reweigh averages two estimates of the components' weights: the shares of the draws, and the
// masses implied by the log densities at the draws. The second does not depend on how often the
// chain moved between components. Then it raises weights that are too small.
func reweigh(parts []Component, m *Mixture, draws [][]float64, logs []float64) {
	masses := make([]float64, len(parts))
	own := m.assign(draws)
	most := math.Inf(-1)
	for k := range parts {
		masses[k] = math.Inf(-1)
		if len(own[k]) >= minPoints {
			masses[k] = 0
			for _, i := range own[k] {
				m.Log(draws[i])
				masses[k] += (logs[i] - (m.logs[k] - math.Log(m.parts[k].Weight))) / float64(len(own[k]))
			}
		}
		most = max(most, masses[k])
	}
	total := 0.0
	for k := range masses {
		if !math.IsInf(most, -1) {
			masses[k] = math.Exp(masses[k] - most)
			total += masses[k]
		}
	}
	for k := range parts {
		if total > 0 {
			parts[k].Weight = 0.5*m.parts[k].Weight + 0.5*masses[k]/total
		}
	}
	lift(parts)
}

// lift raises the weights of components to at least the minimum.
func lift(parts []Component) {
	total := 0.0
	for _, p := range parts {
		total += p.Weight
	}
	least := min(minWeight, sumOfLeast/float64(len(parts)))
	for k := range parts {
		parts[k].Weight = max(parts[k].Weight/total, least)
	}
}

// within returns the average metric within components: the mean of their covariances or, if not all
// have matrices, of their variances.
func within(parts []Component) infer.Metric {
	d := parts[0].Normal.Dim
	total := 0.0
	dense := d <= maxDense
	for _, p := range parts {
		total += p.Weight
		dense = dense && p.Normal.Kind == infer.Dense
	}
	if len(parts) == 1 {
		m := parts[0].Normal
		m.Mean = nil
		return m
	}
	if dense {
		m := infer.Metric{Kind: infer.Dense, Dim: d, Inverse: make([]float64, d*d)}
		for _, p := range parts {
			floats.AddScaled(m.Inverse, p.Weight/total, p.Normal.Inverse)
		}
		return m
	}
	m := infer.Metric{Kind: infer.Diagonal, Dim: d, Inverse: make([]float64, d)}
	for _, p := range parts {
		floats.AddScaled(m.Inverse, p.Weight/total, variances(p.Normal))
	}
	return m
}

// variances returns the variances of the coordinates of a normal distribution.
func variances(m infer.Metric) []float64 {
	out := make([]float64, m.Dim)
	switch m.Kind {
	case infer.Diagonal:
		copy(out, m.Inverse)
	case infer.Dense:
		for i := range out {
			out[i] = m.Inverse[i*m.Dim+i]
		}
	case infer.LowRank:
		scale, values, vectors := m.LowRank()
		for i, s := range scale {
			out[i] = 1
			for k, u := range vectors {
				out[i] += (values[k] - 1) * u[i] * u[i]
			}
			out[i] *= s * s
		}
	default:
		for i := range out {
			out[i] = 1
		}
	}
	return out
}

// Constants of widen.
const (
	broadBarrier = 5 // approximate barrier of the leg from the broad reference to a mode
	broadFactor  = 3 // factor on the standard deviations of all modes together
	broadRadius  = 3 // added to the standard deviations: chains start within 2 of zero
)

// widen returns a broad reference for modes: a normal distribution with independent coordinates
// around their common mean. Its standard deviations are broadFactor times those of all modes
// together, plus broadRadius.
//
// In many dimensions, such a reference is so far from the target that the leg would need too many
// replicas. The barrier between two normal distributions whose standard deviations have the ratios
// κ_i is about sqrt(Σ (2 log κ_i)² / 2π). So the standard deviations are reduced until the barrier
// is at most broadBarrier, but no further than the modes allow.
func widen(parts []Component) infer.Metric {
	d := parts[0].Normal.Dim
	n := float64(len(parts))
	m := infer.Metric{Kind: infer.Diagonal, Dim: d, Inverse: make([]float64, d), Mean: make([]float64, d)}
	for _, p := range parts {
		if p.Normal.Mean != nil {
			floats.AddScaled(m.Mean, 1/n, p.Normal.Mean)
		}
	}
	all := make([]float64, d)
	for _, p := range parts {
		for i, v := range variances(p.Normal) {
			if p.Normal.Mean != nil {
				v += (p.Normal.Mean[i] - m.Mean[i]) * (p.Normal.Mean[i] - m.Mean[i])
			}
			all[i] += v / n
		}
	}
	square := 0.0
	logs := make([]float64, d) // logarithms of κ
	for i, v := range all {
		s := math.Sqrt(v)
		logs[i] = math.Log(broadFactor + broadRadius/s)
		square += 4 * logs[i] * logs[i] / (2 * math.Pi)
	}
	factor := min(1, broadBarrier/math.Sqrt(square))
	for i, v := range all {
		m.Inverse[i] = v * math.Exp(2*factor*logs[i])
	}
	return m
}
