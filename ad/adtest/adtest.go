// Package adtest checks derivatives of graphs against finite differences.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// [Derivatives] checks the gradient, the derivative of the gradient in a direction, and both in
// forward mode. It is used for every op of package ad (the tests of this package iterate over the
// op table) and for every function of the library.
package adtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
)

// A Problem is a scalar expression of n numbers.
type Problem struct {
	graph   *ad.Graph // value, gradient, and derivative of the gradient if there is one
	forward *ad.Graph // the same nodes, with the additional outputs of forward mode

	// The first nodes of graph, up to the value and up to the gradient. Finite differences need one
	// of these outputs at many points.
	value, gradient *ad.Graph
}

// New builds the graphs of a problem from build, which computes a scalar from the numbers x. They
// compute the value, its gradient, and the derivative of the gradient along dir; and in forward
// mode the derivative along dir, its gradient, and the derivative of the gradient.
func New(n int, dir []float64, build func(g *ad.Graph, x []ad.Ref) ad.Ref) *Problem {
	g := ad.NewGraph()
	in := g.Input(ad.Type{Shape: []int{n}})
	x := make([]ad.Ref, n)
	for i := range x {
		x[i] = g.Slice(in, i, nil)
	}
	out := build(g, x)
	value := soFar(g, out)
	grad := g.Grad(out, in)[0]
	gradient := soFar(g, grad)
	along := g.ConstArray(ad.Type{Shape: []int{n}}, dir)
	slope := g.Sum(g.Mul(grad, along))
	forward := orZero(g, g.JVP([]ad.Ref{out}, []ad.Ref{in}, []ad.Ref{along})[0], ad.Scalar)
	g.Output(out)
	g.Output(grad)
	outs := []ad.Ref{forward, grad}
	if second := secondOrder(func() ad.Ref { return g.Grad(slope, in)[0] }); second != ad.None {
		g.Output(second)
		over := orZero(g, g.JVP([]ad.Ref{grad}, []ad.Ref{in}, []ad.Ref{along})[0], g.Type(in))
		outs = append(outs, second, over, g.Grad(forward, in)[0])
	}
	all := *g
	all.Outputs = outs
	return &Problem{g, &all, value, gradient}
}

// soFar returns a copy of the graph as built until now, with a single output.
func soFar(g *ad.Graph, out ad.Ref) *ad.Graph {
	short := *g
	short.Nodes = slices.Clip(g.Nodes)
	short.Outputs = []ad.Ref{out}
	return &short
}

// output evaluates a graph that has a single output.
func output(g *ad.Graph, x []float64) ([]float64, error) {
	v, err := g.Eval([][]float64{x}, &ad.Env{})
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

func orZero(g *ad.Graph, r ad.Ref, t ad.Type) ad.Ref {
	if r == ad.None {
		return g.Expand(g.Const(0), t)
	}
	return r
}

// secondOrder returns the result of f, which differentiates a second time; None if an op has no
// second derivative.
func secondOrder(f func() ad.Ref) (r ad.Ref) {
	defer func() {
		if e := recover(); e != nil {
			if b, ok := e.(*ad.BuildError); ok && strings.Contains(b.Msg, "no second derivative") {
				r = ad.None
				return
			}
			panic(e)
		}
	}()
	return f()
}

// At evaluates the value, the gradient, and the derivative of the gradient (nil
// if there is none).
func (p *Problem) At(x []float64) (value float64, grad, second []float64, err error) {
	v, err := p.graph.Eval([][]float64{x}, &ad.Env{})
	if err != nil {
		return 0, nil, nil, err
	}
	if len(v) > 2 {
		second = v[2]
	}
	return v[0][0], v[1], second, nil
}

// modes compares forward with reverse mode at x: the slope along dir, and the derivative of the
// gradient by each of the two ways to combine the modes.
func (p *Problem) modes(x, dir []float64, tol float64) error {
	v, err := p.forward.Eval([][]float64{x}, &ad.Env{})
	if err != nil {
		return err
	}
	slope, size := 0.0, 0.0
	for i, d := range dir {
		if d != 0 {
			slope += d * v[1][i]
			size += math.Abs(d * v[1][i])
		}
	}
	if !(math.Abs(v[0][0]-slope) <= tol*(1+size)) {
		return fmt.Errorf("forward mode gives the slope %v at %v along %v, reverse mode %v", v[0][0], x, dir, slope)
	}
	if len(v) == 2 {
		return nil
	}
	size = 0
	for _, d := range v[2] {
		size = max(size, math.Abs(d))
	}
	for k, how := range []string{"forward over reverse", "reverse over forward"} {
		for i, want := range v[2] {
			if dir[i] != 0 && !(math.Abs(v[3+k][i]-want) <= tol*(1+size)) {
				return fmt.Errorf("%s mode gives the second derivatives %v at %v along %v, reverse over reverse %v", how, v[3+k], x, dir, v[2])
			}
		}
	}
	return nil
}

// Derivatives compares the derivatives of build's value at x with finite differences extrapolated
// to step 0. It returns nil if they agree up to tol, relative to the larger of 1 and the
// derivative. Arguments whose indices are in fixed are not varied.
func Derivatives(x []float64, tol float64, rng *rand.Rand, build func(g *ad.Graph, x []ad.Ref) ad.Ref, fixed ...int) error {
	held := make([]bool, len(x))
	for _, i := range fixed {
		held[i] = true
	}
	dir := make([]float64, len(x))
	for i := range dir {
		if !held[i] {
			dir[i] = rng.NormFloat64()
		}
	}
	p := New(len(x), dir, build)
	value, grad, second, err := p.At(x)
	if err != nil {
		return err
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("the value at %v is %v", x, value)
	}
	// A kink nearby makes the differences for large steps inaccurate, and rounding those for small
	// steps. So it suffices if they agree for one size of the first step.
	agree := func(d, want []float64, of *ad.Graph) (fd []float64, err error) {
		scale := 0.0 // the largest argument that varies
		for i := range d {
			if d[i] != 0 {
				scale = max(scale, math.Abs(d[i])/max(math.Abs(x[i]), 1e-3))
			}
		}
		var first []float64
		for _, h := range []float64{0.1, 3e-3, 1e-4} {
			fd, err = slope(func(t float64) []float64 {
				y := make([]float64, len(x))
				for i := range y {
					y[i] = x[i] + t*d[i]
				}
				v, err := output(of, y)
				if err != nil {
					return []float64{math.NaN()}
				}
				return v
			}, min(h, h/scale))
			ok := err == nil
			for i := range fd {
				ok = ok && (len(fd) == len(held) && held[i] || near(want[i], fd[i], tol))
			}
			if ok {
				return fd, nil
			}
			if first == nil && err == nil {
				first = fd
			}
		}
		if first == nil {
			return nil, err
		}
		return first, fmt.Errorf("%v, but differences give %v", want, first)
	}
	for i := range x {
		if held[i] {
			continue
		}
		unit := make([]float64, len(x))
		unit[i] = 1
		_, err := agree(unit, grad[i:i+1], p.value)
		if err != nil {
			return fmt.Errorf("partial derivative %d at %v: %w", i, x, err)
		}
	}
	if err := p.modes(x, dir, 1e-9); err != nil {
		return err
	}
	if second == nil {
		return nil
	}
	if _, err := agree(dir, second, p.gradient); err != nil {
		return fmt.Errorf("second derivatives at %v along %v: %w", x, dir, err)
	}
	return nil
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*(1+math.Abs(b)) }

// slope returns the derivative of a vector function at 0: central differences for halved steps,
// extrapolated (Ridders 1982). For each element it selects the extrapolation that differs least
// from its neighbours in the tableau. If the function is not finite at the first step, it reduces
// that.
func slope(f func(t float64) []float64, h float64) ([]float64, error) {
	const rows = 9
	finite := func(v []float64) bool {
		for _, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return false
			}
		}
		return true
	}
	for range 60 {
		if finite(f(h)) && finite(f(-h)) {
			break
		}
		h /= 2
	}
	var best, worst []float64
	var last [][]float64
	for r := range rows {
		up, down := f(h), f(-h)
		if len(up) != len(down) || !finite(up) || !finite(down) {
			return nil, fmt.Errorf("not finite at steps of ±%v", h)
		}
		d := make([]float64, len(up))
		for i := range d {
			d[i] = (up[i] - down[i]) / (2 * h)
		}
		row := [][]float64{d}
		factor := 1.0
		for c := range r {
			factor *= 4
			e := make([]float64, len(d))
			for i := range e {
				e[i] = row[c][i] + (row[c][i]-last[c][i])/(factor-1)
			}
			row = append(row, e)
			for i := range e {
				if best == nil {
					best, worst = make([]float64, len(e)), make([]float64, len(e))
					for k := range worst {
						worst[k] = math.Inf(1)
					}
				}
				err := max(math.Abs(e[i]-row[c][i]), math.Abs(e[i]-last[c][i]))
				if err < worst[i] {
					best[i], worst[i] = e[i], err
				}
			}
		}
		last = row
		h /= 2
		settled := r > 1
		for i := range worst {
			settled = settled && worst[i] < 1e-9*(1+math.Abs(best[i]))
		}
		if settled {
			break
		}
	}
	return best, nil
}
