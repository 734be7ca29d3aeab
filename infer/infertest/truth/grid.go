package truth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
)

// posterior is a target whose first coordinates, the core, are integrated by quadrature, and the
// others in closed form. The core has up to three coordinates.
type posterior struct {
	dim, core int
	joint     func() evaluator
	marginal  func(core []float64) float64                   // log density of the core, up to a constant; safe for concurrent use
	rest      func(rng *rand.Rand, x []float64)              // draws x[core:] given x[:core]; nil: there are no other coordinates
	moments   func(core []float64, mean, variance []float64) // moments of the other coordinates given the core; nil: their means are not compared
	box       []axis                                         // contains all mass of the core
	modes     []Quantity                                     // indicators of modes, which depend on the core; their Truth is computed
}

// axis is an interval with a number of nodes.
type axis struct {
	low, high float64
	n         int
}

func (a axis) node(i int) float64 { return a.low + float64(i)*a.step() }
func (a axis) step() float64      { return (a.high - a.low) / float64(a.n-1) }

// grid is a density at the nodes of a product of axes, for integration by the trapezoidal rule. For
// smooth densities that vanish at the edges, the rule is exact up to rounding if nodes are closer
// than about a standard deviation.
type grid struct {
	axes   []axis
	weight []float64 // sums to 1
	below  []float64 // cumulative envelope, for draws
	log    func(core []float64) float64
	top    float64 // maximum of log at the nodes
	bound  []float64
}

// nothing is how far below its maximum a log density is negligible.
const nothing = 40

// newGrid finds the support of the density on a coarse grid, and then makes the grid there.
func newGrid(box []axis, log func(core []float64) float64) *grid {
	coarse := slices.Clone(box)
	for i := range coarse {
		coarse[i].n = []int{0, 2001, 121, 31}[len(box)]
	}
	g := &grid{axes: coarse, log: log}
	lps := g.evaluate()
	top := slices.Max(lps)
	low, high := make([]int, len(box)), make([]int, len(box))
	for i := range low {
		low[i] = coarse[i].n
	}
	for k, lp := range lps {
		if lp < top-nothing {
			continue
		}
		for i, at := range g.place(k) {
			low[i], high[i] = min(low[i], at), max(high[i], at)
		}
	}
	g.axes = nil
	for i, a := range coarse {
		g.axes = append(g.axes, axis{a.node(max(0, low[i]-1)), a.node(min(a.n-1, high[i]+1)), box[i].n})
	}
	lps = g.evaluate()
	g.top = slices.Max(lps)
	g.weight = make([]float64, len(lps))
	sum := 0.0
	for k, lp := range lps {
		g.weight[k] = math.Exp(lp - g.top)
		sum += g.weight[k]
	}
	// The envelope of a cell is twice the density at its node, multiplied for each axis by the
	// ratio of the larger neighbour's density to it, if that is above 1.
	g.bound, g.below = make([]float64, len(lps)), make([]float64, len(lps))
	total := 0.0
	for k := range lps {
		up, stride := 0.0, 1
		for i := len(box) - 1; i >= 0; i-- {
			at, most := k/stride%g.axes[i].n, 0.0
			if at > 0 {
				most = max(most, lps[k-stride]-lps[k])
			}
			if at < g.axes[i].n-1 {
				most = max(most, lps[k+stride]-lps[k])
			}
			up += most
			stride *= g.axes[i].n
		}
		g.bound[k] = 2 * math.Exp(min(lps[k]+up-g.top, 0))
		total += g.bound[k]
		g.below[k] = total
	}
	for k := range g.weight {
		g.weight[k] /= sum
	}
	return g
}

// place returns the indices of node k along the axes.
func (g *grid) place(k int) []int {
	at := make([]int, len(g.axes))
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = k % g.axes[i].n
		k /= g.axes[i].n
	}
	return at
}

// each calls f at every node.
func (g *grid) each(f func(k int, core []float64)) {
	total := 1
	for _, a := range g.axes {
		total *= a.n
	}
	at, x := make([]int, len(g.axes)), make([]float64, len(g.axes))
	for i, a := range g.axes {
		x[i] = a.node(0)
	}
	for k := range total {
		f(k, x)
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < g.axes[i].n {
				x[i] = g.axes[i].node(at[i])
				break
			}
			at[i], x[i] = 0, g.axes[i].node(0)
		}
	}
}

func (g *grid) evaluate() []float64 {
	var out []float64
	g.each(func(_ int, core []float64) {
		lp := g.log(core)
		if math.IsNaN(lp) {
			panic(fmt.Sprintf("truth: the log density is NaN at %v", core))
		}
		out = append(out, lp)
	})
	return out
}

// means computes the means of n functions of the core, which f writes to its second argument.
func (g *grid) means(n int, f func(core, to []float64)) []float64 {
	out, to := make([]float64, n), make([]float64, n)
	g.each(func(k int, core []float64) {
		if g.weight[k] == 0 {
			return
		}
		f(core, to)
		for i, v := range to {
			out[i] += g.weight[k] * v
		}
	})
	return out
}

// draw draws a core by rejection from the envelope, cell by cell.
func (g *grid) draw(rng *rand.Rand, core []float64) {
	for {
		u := rng.Float64() * g.below[len(g.below)-1]
		k := min(sort.SearchFloat64s(g.below, u), len(g.below)-1)
		for i, at := range g.place(k) {
			core[i] = g.axes[i].node(at) + (rng.Float64()-0.5)*g.axes[i].step()
		}
		if math.Exp(g.log(core)-g.top) > rng.Float64()*g.bound[k] {
			return
		}
	}
}

// target makes a target from a posterior. It integrates only when quantities or draws are needed.
func (p posterior) target(name string, class Class) *Target {
	made := sync.OnceValue(func() *grid { return newGrid(p.box, p.marginal) })
	return &Target{
		Name: name, Class: class, Density: newDensity(p.dim, p.joint), modes: p.modes,
		Sample: func(rng *rand.Rand, x []float64) {
			made().draw(rng, x[:p.core])
			if p.rest != nil {
				p.rest(rng, x)
			}
		},
		quantities: sync.OnceValue(func() []Quantity { return p.quantities(made()) }), integral: &p,
	}
}

// quantities are the means and variances of the core, the means of the others, and the shares of
// modes.
func (p posterior) quantities(g *grid) []Quantity {
	var out []Quantity
	n := p.core
	mean := g.means(n, func(core, to []float64) { copy(to, core) })
	powers := g.means(2*n, func(core, to []float64) {
		for i, v := range core {
			d := v - mean[i]
			to[i], to[n+i] = d*d, d*d*d*d
		}
	})
	for i := range n {
		name, centre, v := fmt.Sprintf("x[%d]", i+1), mean[i], powers[i]
		out = append(out,
			Quantity{Name: "mean of " + name, Truth: centre, SD: math.Sqrt(v), Of: func(x []float64) float64 { return x[i] }},
			Quantity{Name: "variance of " + name, Truth: v, SD: math.Sqrt(powers[n+i] - v*v), Of: func(x []float64) float64 { return (x[i] - centre) * (x[i] - centre) }})
	}
	if others := p.dim - n; p.moments != nil && others > 0 {
		m, v := make([]float64, others), make([]float64, others)
		all := g.means(2*others, func(core, to []float64) {
			p.moments(core, m, v)
			for i := range m {
				to[i], to[others+i] = m[i], v[i]+m[i]*m[i]
			}
		})
		for _, i := range compared(others) {
			j := n + i
			out = append(out, Quantity{Name: fmt.Sprintf("mean of x[%d]", j+1), Truth: all[i],
				SD: math.Sqrt(all[others+i] - all[i]*all[i]), Of: func(x []float64) float64 { return x[j] }})
		}
	}
	if len(p.modes) > 0 {
		shares := g.means(len(p.modes), func(core, to []float64) {
			for i, q := range p.modes {
				to[i] = q.Of(core)
			}
		})
		for i, q := range p.modes {
			q.Truth, q.SD = shares[i], math.Sqrt(shares[i]*(1-shares[i]))
			out = append(out, q)
		}
	}
	return out
}

// mode is a share whose probability will be computed.
func mode(name string, in func(core []float64) bool) Quantity {
	return Quantity{Name: name, Share: true, Of: indicator(in)}
}
