package optimize

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/internal/goroutines"
)

// Draws are points drawn from an approximation of a distribution.
type Draws struct {
	Points [][]float64 // unconstrained
	LogP   []float64   // log density of the target; NaN if not asked for
	LogQ   []float64   // log density of the approximation, up to a constant
}

// add appends a draw.
func (d *Draws) add(x []float64, logP, logQ float64) {
	d.Points = append(d.Points, x)
	d.LogP = append(d.LogP, logP)
	d.LogQ = append(d.LogQ, logQ)
}

// Weights computes the Pareto smoothed importance weights of the draws, which sum to one, and the
// shape k of their tail. If k is above psis.Limit, the approximation is too far from the target,
// and weighted estimates are unreliable. Draws whose log density is not finite have weight zero; if
// all are such, weights is nil and k = +Inf. If the approximation equals the target up to rounding,
// k = -Inf.
func (d *Draws) Weights() (weights []float64, k float64) {
	var ratios []float64
	var places []int
	for i, p := range d.LogP {
		if r := p - d.LogQ[i]; !math.IsNaN(r) && !math.IsInf(r, 0) {
			ratios, places = append(ratios, r), append(places, i)
		}
	}
	if len(ratios) == 0 {
		return nil, math.Inf(1)
	}
	const exact = 1e-8 // range of log ratios that rounding can cause
	if slices.Max(ratios)-slices.Min(ratios) < exact {
		k = math.Inf(-1)
	} else {
		var s psis.Smoother
		k = s.Smooth(ratios, psis.TailLength(len(ratios), 1))
	}
	psis.Normalize(ratios)
	weights = make([]float64, len(d.LogP))
	for i, place := range places {
		weights[place] = ratios[i]
	}
	return weights, k
}

// Resample selects n of the draws with probabilities proportional to weights, with or without
// replacement. Without replacement, it returns fewer if fewer have a positive weight.
func (d *Draws) Resample(rng *rand.Rand, weights []float64, n int, replace bool) *Draws {
	weights = slices.Clone(weights)
	r := &Draws{}
	cumulated := make([]float64, len(weights))
	accumulate := func() (sum float64) {
		for i, w := range weights {
			sum += w
			cumulated[i] = sum
		}
		return sum
	}
	sum := accumulate()
	for len(r.Points) < n {
		if !(sum > 0) { // no draw with a positive weight is left
			return r
		}
		u := rng.Float64() * sum
		i := sort.Search(len(cumulated), func(i int) bool { return cumulated[i] > u })
		for i == len(weights) || weights[i] == 0 { // rounding
			i--
		}
		r.add(d.Points[i], d.LogP[i], d.LogQ[i])
		if !replace {
			weights[i] = 0
			sum = accumulate()
		}
	}
	return r
}

// normal is a multivariate normal distribution to draw from.
type normal interface {
	// transform turns standard normal z into a draw x.
	transform(z, x []float64)
	// logScale is the log determinant of transform: the log density of a draw is −½zᵀz − logScale −
	// ½·dim·log 2π.
	logScale() float64
}

// sample appends n draws from q to d.
func sample(o *objective, q normal, rng *rand.Rand, n int, withDensity bool, d *Draws) error {
	dim := o.meter.Dim()
	z, work := make([]float64, dim), make([]float64, dim)
	for range n {
		x := make([]float64, dim)
		logQ := -q.logScale() - float64(dim)/2*math.Log(2*math.Pi)
		for i := range z {
			z[i] = rng.NormFloat64()
			logQ -= z[i] * z[i] / 2
		}
		q.transform(z, x)
		logP := math.NaN()
		if withDensity {
			var err error
			if logP, err = o.logDensity(x, work); err != nil {
				return err
			}
		}
		d.add(x, logP, logQ)
	}
	return nil
}

// parallel runs tasks 0 … n−1, each with a clone of the target, on GOMAXPROCS goroutines. If the
// target cannot be cloned, it runs them one after another with the target itself.
func parallel(target infer.LogDensity, n int, task func(i int, target infer.LogDensity)) {
	cloner, ok := target.(infer.Cloner)
	if !ok || n == 1 {
		for i := range n {
			task(i, target)
		}
		return
	}
	clones := make([]infer.LogDensity, n)
	for i := range clones {
		clones[i] = cloner.CloneDensity()
		if s, ok := clones[i].(infer.Parallel); ok {
			s.SetWorkers(max(1, runtime.GOMAXPROCS(0)/n))
		}
	}
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg goroutines.Group
	for i := range n {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			task(i, clones[i])
		})
	}
	wg.Wait()
}
