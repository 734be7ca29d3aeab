package proggen

import (
	"math"
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// chooseSizes draws the values of the sizes N, T, K, J and L, which the program declares as data.
// They are chosen for the compiler's bounds on unrolling: it unrolls an inner loop of up to 16
// iterations (inspect.SmallLoop) and an outermost one of up to 3. So loops over N run in lanes,
// those over T if they are outermost, and those over K and J rarely. L may be 0.
func (g *gen) chooseSizes() {
	g.data["N"], g.data["T"] = g.between(17, 21), g.between(4, 8)
	g.data["K"], g.data["J"] = g.between(2, 3), g.between(2, 5)
	g.data["L"] = g.between(0, 2)
}

// global returns a size that is declared as data. Functions cannot refer to it by name; there, it
// is a literal with the size's value.
func (g *gen) global(name string) size {
	n := g.data[name].(int)
	if g.stage == inFunction && g.fn != nil {
		return lit(n)
	}
	return size{name, n}
}

func (g *gen) sizeN() size { return g.global("N") }
func (g *gen) sizeT() size { return g.global("T") }
func (g *gen) sizeK() size { return g.global("K") }
func (g *gen) sizeJ() size { return g.global("J") }

// number returns a random real with two decimals.
func (g *gen) number(bound float64) float64 {
	return math.Round((2*g.rng.Float64()-1)*bound*100) / 100
}

func (g *gen) numbers(n int, bound float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = g.number(bound)
	}
	return out
}

func (g *gen) whole(n, lo, hi int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = g.between(lo, hi)
	}
	return out
}

// nested returns random numbers of a rectangular shape, nested as in JSON.
func (g *gen) nested(shape []int, bound float64) any {
	if len(shape) == 1 {
		return g.numbers(shape[0], bound)
	}
	out := make([]any, shape[0])
	for i := range out {
		out[i] = g.nested(shape[1:], bound)
	}
	return out
}

// dataBlock writes the data block, mostly the same declarations, and generates values for it.
func (g *gen) dataBlock() {
	n, t, k, j := g.sizeN(), g.sizeT(), g.sizeK(), g.sizeJ()
	for _, name := range []string{"N", "T", "K", "J", "L"} {
		g.line("int %s;", name)
		v := g.data[name].(int)
		g.declare(variable{name: name, kind: ints, lo: v, hi: v, ready: true, fixed: true})
	}
	integers := func(name string, s size, lo, hi int, values []int) {
		if g.chance(0.75) {
			g.line("array[%s] int %s;", s.text, name)
			g.data[name] = values
			g.declare(variable{name: name, kind: ints, array: []size{s}, lo: lo, hi: hi, ready: true, fixed: true})
		}
	}
	integers("grp", n, 1, j.n, g.whole(n.n, 1, j.n))
	integers("bit", n, 0, 1, g.whole(n.n, 0, 1))
	perm := g.rng.Perm(n.n)
	for i := range perm {
		perm[i]++
	}
	integers("perm", n, 1, n.n, perm)
	integers("tt", t, 1, t.n, g.whole(t.n, 1, t.n))
	integers("kk", k, 1, k.n, g.whole(k.n, 1, k.n))
	integers("four", lit(4), 1, n.n, g.whole(4, 1, n.n))
	integers("cnt", n, 0, 5, g.whole(n.n, 0, 5))
	if g.on(Ragged) {
		g.line("array[J] int len;")
		g.line("array[J] int beg;")
		lens, begs := g.whole(j.n, 0, 4), make([]int, j.n)
		for i, l := range lens {
			begs[i] = g.between(1, n.n-l+1)
		}
		g.data["len"], g.data["beg"] = lens, begs
	}
	numeric := func(name string, kd kind, array, dims []size) {
		if g.chance(0.6) {
			v := variable{name: name, kind: kd, array: array, dims: dims, bound: 2, ready: true, fixed: true}
			g.line("%s;", declaration(&v, ""))
			if all := v.all(); len(all) == 0 {
				g.data[name] = g.number(2)
			} else {
				shape := make([]int, len(all))
				for i, s := range all {
					shape[i] = s.n
				}
				g.data[name] = g.nested(shape, 2)
			}
			g.declare(v)
		}
	}
	numeric("y", vectors, nil, []size{n})
	numeric("x", vectors, nil, []size{n})
	numeric("d", reals, nil, nil)
	numeric("X", matrices, nil, []size{n, k})
	numeric("D", matrices, nil, []size{k, k})
	numeric("ar", reals, []size{n}, nil)
	numeric("rk", rows, nil, []size{k})
	numeric("V", vectors, []size{t}, []size{k})
	numeric("ar2", reals, []size{t, k}, nil)
}

// declaration returns the declaration of a variable: its type, the constraint and the name.
func declaration(v *variable, constraint string) string {
	s := ""
	list := func(sizes []size) string {
		var texts []string
		for _, z := range sizes {
			texts = append(texts, z.text)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	if len(v.array) > 0 {
		s = "array" + list(v.array) + " "
	}
	dims := v.dims
	if v.typ != "" {
		s += v.typ
		if k, _, ok := types.ConstrainedType(v.typ); ok && k.Square() {
			dims = dims[:1]
		}
	} else {
		s += kindName(v.kind) + constraint
	}
	if len(dims) > 0 {
		s += list(dims)
	}
	return s + " " + v.name
}

// parameterBlock writes the parameters block. The bounds of parameters hold if the unconstrained
// numbers are within ±1.2, which is where programs are evaluated.
func (g *gen) parameterBlock() {
	n, t, k, j := g.sizeN(), g.sizeT(), g.sizeK(), g.sizeJ()
	add := func(p float64, name string, kd kind, array, dims []size, constraint string, bound float64) {
		if g.chance(p) {
			v := variable{name: name, kind: kd, array: array, dims: dims, bound: bound, ready: true, fixed: true, level: true}
			g.line("%s;", declaration(&v, constraint))
			g.declare(v)
		}
	}
	add(1, "a", reals, nil, nil, "", 1.2)
	add(0.8, "s", reals, nil, nil, "<lower=0>", 3.4)
	add(0.4, "u", reals, nil, nil, "<lower=-1, upper=2>", 2)
	add(0.2, "w", reals, nil, nil, "<upper=1.5>", 3)
	add(0.2, "wa", reals, nil, nil, "<lower=a, upper=a + 2>", 3.2)
	add(0.7, "z", vectors, nil, []size{n}, "", 1.2)
	add(0.6, "b", vectors, nil, []size{k}, "", 1.2)
	add(0.3, "sp", vectors, nil, []size{k}, "<lower=0>", 3.4)
	add(0.4, "A", matrices, nil, []size{k, k}, "", 1.2)
	add(0.4, "B", vectors, []size{t}, []size{k}, "", 1.2)
	add(0.3, "r", rows, nil, []size{k}, "", 1.2)
	add(0.3, "ap", reals, []size{j}, nil, "", 1.2)
	add(0.3, "h", vectors, nil, []size{j}, among(g, "", "<offset=a, multiplier=2>", "<lower=a>", "<offset=0.5>", "<multiplier=0.5 + abs(a)>"), 4)
	add(0.2, "C", matrices, nil, []size{t, k}, "<lower=-2, upper=2>", 2)
	add(0.1, "AM", matrices, []size{lit(2)}, []size{k, lit(2)}, "", 1.2)
	g.constrainedParameters()
	add(0.1, "e0", vectors, nil, []size{{"L", g.data["L"].(int)}}, "", 1.2)
}
