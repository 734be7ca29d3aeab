package bayesopt

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// rebuildAfter is the number of rank-one updates after which everything is computed anew, so that
// rounding errors do not accumulate.
const rebuildAfter = 256

// process is Gaussian process regression on the points of a grid, with a squared-exponential kernel
// of differences. Observations at the same point are merged exactly: n observations with mean m and
// noise variance σ² have the same likelihood, up to a constant, as one observation m with variance
// σ²/n.
//
// It stores the inverse of K + diag(σ²/n) over the distinct observed points, and the posterior
// variance on the whole grid. It updates both by rank one if a point is new or its count has
// increased.
type process struct {
	grid     Grid
	signal   float64     // prior variance
	noise    float64     // variance of one observation
	prior    float64     // prior mean; the posterior mean is relative to it
	kernel   [][]float64 // [axis][|place - place'| …]: see correlation
	size     int         // number of grid points
	indices  []int       // [point × axes]: indices on the axes
	place    []int       // [point]: its index among the observed points, or -1
	observed []observed
	total    int

	// The posterior, valid for the counts that it was computed with.
	inverse  []float64 // inverse of K + D; each row has room for capacity numbers
	capacity int
	columns  [][]float64 // [observed][point]: k(point, observed)
	explain  []float64   // [point]: kᵀ(K + D)⁻¹k, the reduction of the variance
	updates  int         // rank-one updates since the last rebuild
	mean     []float64   // [point]
	fresh    bool        // mean is up to date with the observations
	scratch  []float64   // [point]
}

// observed is a distinct observed point, called a site.
type observed struct {
	point int
	count int     // observations
	used  int     // number of observations that the posterior includes
	mean  float64 // of the observations
}

// newProcess prepares regression on a grid with the given variances and length scales (one per
// axis, on the scale of its coordinates).
func newProcess(grid Grid, signal, noise float64, lengthScales []float64) *process {
	p := &process{grid: grid, signal: signal, noise: noise, size: grid.Size()}
	p.indices = make([]int, p.size*len(grid))
	p.place = make([]int, p.size)
	for point := range p.size {
		grid.index(point, p.indices[point*len(grid):(point+1)*len(grid)])
		p.place[point] = -1
	}
	// The kernel is a product over the axes. Each factor has only few different values.
	for j, axis := range grid {
		c := axis.coordinates()
		table := make([]float64, len(c)*len(c))
		for a := range c {
			for b := range c {
				z := (c[a] - c[b]) / lengthScales[j]
				table[a*len(c)+b] = math.Exp(-0.5 * z * z)
			}
		}
		p.kernel = append(p.kernel, table)
	}
	p.explain = make([]float64, p.size)
	p.mean = make([]float64, p.size)
	p.scratch = make([]float64, p.size)
	return p
}

// covariance returns k(a, b) for two points, given their numbers.
func (p *process) covariance(a, b int) float64 {
	d := len(p.grid)
	v := p.signal
	for j := range d {
		n := len(p.grid[j].Values)
		v *= p.kernel[j][p.indices[a*d+j]*n+p.indices[b*d+j]]
	}
	return v
}

// observe adds an observation, which must be finite.
func (p *process) observe(point int, value float64) {
	p.total++
	p.fresh = false
	at := p.place[point]
	if at < 0 {
		p.place[point] = len(p.observed)
		p.observed = append(p.observed, observed{point: point, count: 1, mean: value})
		return
	}
	s := &p.observed[at]
	s.count++
	s.mean += (value - s.mean) / float64(s.count)
}

// refresh updates the posterior with the new observations.
func (p *process) refresh() {
	if p.fresh {
		return
	}
	p.fresh = true
	for i := range p.observed {
		s := &p.observed[i]
		switch {
		case s.used == s.count:
			continue
		case i >= len(p.columns):
			p.extend(i)
		default:
			p.recount(i)
		}
		s.used = s.count
		p.updates++
	}
	if p.updates >= rebuildAfter {
		p.rebuild()
	}
	// mean = Σ_i α_i k(·, i) with α = (K + D)⁻¹ r.
	clear(p.mean)
	for i := range p.columns {
		alpha := 0.0
		for j, a := range p.row(i) {
			alpha += a * (p.observed[j].mean - p.prior)
		}
		floats.AddScaled(p.mean, alpha, p.columns[i])
	}
}

// row returns row i of the inverse, over the sites that the posterior includes.
func (p *process) row(i int) []float64 {
	return p.inverse[i*p.capacity : i*p.capacity+len(p.columns)]
}

// project computes Σ_i b_i k(·, i) - start(·) in scratch.
func (p *process) project(b, start []float64) []float64 {
	if start == nil {
		clear(p.scratch)
	} else {
		for g, v := range start {
			p.scratch[g] = -v
		}
	}
	for i, v := range b {
		floats.AddScaled(p.scratch, v, p.columns[i])
	}
	return p.scratch
}

// lose adds factor × scratch² to the reduction of the variance.
func (p *process) lose(factor float64, scratch []float64) {
	for g, v := range scratch {
		p.explain[g] += factor * v * v
	}
}

// extend includes site i, the next new one. It computes the inverse of a matrix with one more row
// and column from its Schur complement s = k(γ,γ) + σ²/n - kᵀ(K + D)⁻¹k > σ²/n.
func (p *process) extend(i int) {
	known := len(p.columns)
	column := make([]float64, p.size)
	for g := range column {
		column[g] = p.covariance(g, p.observed[i].point)
	}
	b := make([]float64, known) // (K + D)⁻¹ k
	schur := p.signal + p.noise/float64(p.observed[i].count)
	for a := range known {
		for c, v := range p.row(a) {
			b[a] += v * column[p.observed[c].point]
		}
		schur -= b[a] * column[p.observed[a].point]
	}
	p.lose(1/schur, p.project(b, column))

	p.columns = append(p.columns, column)
	p.grow(known + 1)
	for a := range known {
		row := p.row(a)
		for c := range known {
			row[c] += b[a] * b[c] / schur
		}
		row[known] = -b[a] / schur
		p.row(known)[a] = row[known]
	}
	p.row(known)[known] = 1 / schur
}

// recount includes further observations of site i. Its noise changes by Δ = σ²/count - σ²/used < 0,
// and by the formula of Sherman and Morrison the inverse A changes by -Δ·a aᵀ/(1 + Δ·a_i), where a
// is its column i. The divisor is at least used/count.
func (p *process) recount(i int) {
	s := p.observed[i]
	delta := p.noise/float64(s.count) - p.noise/float64(s.used)
	a := append([]float64(nil), p.row(i)...)
	factor := -delta / (1 + delta*a[i])
	p.lose(factor, p.project(a, nil))
	for r := range a {
		floats.AddScaled(p.row(r), factor*a[r], a)
	}
}

// grow allocates memory for n rows of the inverse.
func (p *process) grow(n int) {
	if n <= p.capacity {
		return
	}
	capacity := max(2*p.capacity, 16)
	inverse := make([]float64, capacity*capacity)
	for i := range n - 1 {
		copy(inverse[i*capacity:], p.inverse[i*p.capacity:i*p.capacity+n-1])
	}
	p.inverse, p.capacity = inverse, capacity
}

// rebuild computes inverse and variance anew, by a Cholesky factorisation. If that fails because of
// rounding, the updated values remain.
func (p *process) rebuild() {
	p.updates = 0
	n := len(p.columns)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, p.columns[i][p.observed[j].point])
		}
		k.SetSym(i, i, p.signal+p.noise/float64(p.observed[i].count))
	}
	var factor mat.Cholesky
	var inverse mat.SymDense
	if !factor.Factorize(k) || factor.InverseTo(&inverse) != nil {
		return
	}
	for i := range n {
		row := p.row(i)
		for j := range row {
			row[j] = inverse.At(i, j)
		}
	}
	clear(p.explain)
	for i := range n {
		for g, v := range p.project(p.row(i), nil) {
			p.explain[g] += v * p.columns[i][g]
		}
	}
}

// posterior returns the posterior mean and variance of the function at a point. The mean is in the
// unit of the observations and relative to the prior mean. The variance is in the unit of the
// prior; it does not depend on the observed values.
func (p *process) posterior(point int) (mean, variance float64) {
	p.refresh()
	return p.mean[point], max(0, p.signal-p.explain[point])
}
