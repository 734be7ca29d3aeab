package proggen

import (
	"fmt"
	"math"
	"strings"
)

// function is a user function. If the absolute values of its arguments are at most argBound, those
// of its results are at most bound. The sizes of its container arguments are fixed.
type function struct {
	name   string
	kind   funcKind
	args   []variable
	result size // size of the result, if that is a vector
	bound  float64
	picks  bool // an index function: int f(int i, int n) returns a number in 1..n
	work   int  // number of statements that a call executes
}

type funcKind uint8

const (
	realFunc funcKind = iota
	vectorFunc
	intFunc
	lpFunc
	densityFunc
	tupleFunc
)

const argBound = 3

// functions writes the functions block.
func (g *gen) functions() {
	g.open("functions {")
	g.stage = inFunction
	for range g.between(1, 4) {
		f := &function{name: g.name("f"), bound: 4}
		g.fn, g.work = f, 0
		g.pick(
			option{4, func() bool { g.realFunction(f); return true }},
			option{2, func() bool { g.vectorFunction(f); return true }},
			option{1, func() bool { g.recursive(f); return true }},
			option{1, func() bool { g.picker(f); return true }},
			option{2, func() bool {
				if g.off[Computed] {
					return false
				}
				g.newton(f)
				return true
			}},
			option{2, func() bool {
				if g.off[Tuples] {
					return false
				}
				g.tupleFunction(f)
				return true
			}},
			option{2, func() bool { g.targetFunction(f); return true }},
			option{2, func() bool { g.density(f); return true }},
		)
		f.work = g.work
		g.vars, g.fn = nil, nil
		g.funcs = append(g.funcs, f)
	}
	g.stage, g.work = inData, 0
	g.close()
}

// argument adds a parameter to the function.
func (g *gen) argument(f *function, v variable) {
	v.ready, v.fixed, v.level, v.bound = true, true, true, argBound
	f.args = append(f.args, v)
	g.declare(v)
}

// someArguments adds parameters of random types.
func (g *gen) someArguments(f *function) {
	for range g.between(1, 3) {
		switch g.between(0, 5) {
		case 0, 1:
			g.argument(f, variable{name: g.name("x"), kind: reals})
		case 2, 3:
			s := among(g, g.sizeN(), g.sizeK(), g.sizeT(), g.sizeJ())
			name := g.name("x")
			s.text = among(g, "num_elements("+name+")", "size("+name+")", "rows("+name+")")
			g.argument(f, variable{name: name, kind: vectors, dims: []size{s}})
		case 4:
			g.argument(f, variable{name: g.name("k"), kind: ints, lo: 0, hi: 4})
		case 5:
			name := g.name("x")
			k := g.sizeK()
			g.argument(f, variable{name: name, kind: matrices, dims: []size{{"rows(" + name + ")", k.n}, {"cols(" + name + ")", k.n}}})
		}
	}
}

// head writes the function's signature.
func (g *gen) head(f *function, result string) {
	var ps []string
	for _, a := range f.args {
		ps = append(ps, kindName(a.kind)+" "+a.name)
	}
	g.open("%s %s(%s) {", result, f.name, strings.Join(ps, ", "))
}

// body writes the statements of a function and its returns, some of them early.
func (g *gen) body(f *function, value func() string) {
	for range g.between(0, 2) {
		g.statement()
		if g.chance(0.4) {
			cond := g.cond()
			g.open("if (%s) {", cond)
			m := g.mark()
			g.guards++
			g.statements(g.between(0, 1))
			if value == nil {
				g.line("return;")
			} else {
				g.line("return %s;", value())
			}
			g.guards--
			g.release(m, false)
			g.close()
		}
	}
	if g.on(NestedReturns) && g.chance(0.3) {
		if v := g.some(func(v *variable) bool { return v.is(vectors, 0) && v.dims[0].n > 0 }); v != nil {
			i := g.name("i")
			g.open("for (%s in 1:%s) {", i, v.dims[0].text)
			m := g.mark()
			g.declare(variable{name: i, kind: ints, lo: 1, hi: v.dims[0].n, ready: true, fixed: true, loop: true})
			cond := fmt.Sprintf("%s > %d", i, g.between(1, v.dims[0].n+1))
			if g.on(ParamJumps) && g.chance(0.3) {
				cond = g.realCond()
			}
			if value == nil {
				g.line("if (%s) return;", cond)
			} else {
				g.line("if (%s) return %s;", cond, value())
			}
			g.release(m, false)
			g.close()
		}
	}
}

func (g *gen) realFunction(f *function) {
	g.someArguments(f)
	g.head(f, "real")
	value := func() string { return g.scaled(g.real(2), f.bound).text }
	g.body(f, value)
	g.line("return %s;", value())
	g.close()
}

func (g *gen) vectorFunction(f *function) {
	f.kind = vectorFunc
	f.result = among(g, g.sizeN(), g.sizeK(), g.sizeT())
	g.someArguments(f)
	g.head(f, "vector")
	s := f.result
	for _, a := range f.args {
		if a.kind == vectors && a.dims[0].n == s.n {
			s = a.dims[0]
		}
	}
	value := func() string { return g.scaled(g.vector(s, 2), f.bound).text }
	g.body(f, value)
	if g.chance(0.5) {
		g.line("return %s;", value())
	} else {
		out := g.fill(s)
		g.line("return %s;", out.name)
	}
	g.close()
}

func (g *gen) recursive(f *function) {
	f.bound = 4
	k := g.name("k")
	g.argument(f, variable{name: g.name("x"), kind: reals})
	g.argument(f, variable{name: k, kind: ints, lo: 0, hi: 4})
	g.head(f, "real")
	g.line("if (%s <= 0) return %s;", k, g.scaled(g.real(1), 3).text)
	g.line("return 0.5 * %s(tanh(%s), %s - 1) + %s;", f.name, g.real(1).text, k, g.scaled(g.real(1), 1.5).text)
	g.close()
}

func (g *gen) picker(f *function) {
	f.kind, f.picks = intFunc, true
	i, n := g.name("i"), g.name("n")
	g.argument(f, variable{name: i, kind: ints, lo: 0, hi: 4})
	g.argument(f, variable{name: n, kind: ints, lo: 1, hi: 4})
	g.head(f, "int")
	switch g.between(0, 2) {
	case 0:
		g.line("if (%s > %s) return %s;", i, n, n)
		g.line("return max(%s, 1);", i)
	case 1:
		g.line("return %s %% %s + 1;", i, n)
	case 2:
		g.line("int out = %s + 1;", i)
		g.line("while (out > %s) out -= %s;", n, n)
		g.line("return out;")
	}
	g.close()
}

// tupleFunction writes a function that returns a tuple of a real and a vector.
func (g *gen) tupleFunction(f *function) {
	f.kind = tupleFunc
	f.result = among(g, g.sizeK(), g.sizeT(), g.sizeJ())
	g.someArguments(f)
	g.head(f, "tuple(real, vector)")
	value := func() string {
		return fmt.Sprintf("(%s, %s)", g.scaled(g.real(2), f.bound).text, g.scaled(g.vector(f.result, 2), f.bound).text)
	}
	g.body(f, value)
	g.line("return %s;", value())
	g.close()
}

func (g *gen) targetFunction(f *function) {
	f.kind = lpFunc
	f.name += "_lp"
	g.someArguments(f)
	g.head(f, "void")
	g.body(f, nil)
	g.addTarget()
	g.close()
}

// density writes a function for use with ~.
func (g *gen) density(f *function) {
	f.kind = densityFunc
	f.name += "_lpdf"
	names := []string{g.name("x"), g.name("x"), g.name("x")}
	for _, n := range names {
		g.argument(f, variable{name: n, kind: reals})
	}
	g.head(f, "real")
	if g.chance(0.3) {
		g.line("if (%s) return -abs(%s);", g.cond(), names[0])
	}
	if g.on(FunctionInts) && g.chance(0.5) {
		n := g.name("n")
		g.line("int %s = %d;", n, g.between(0, 3))
		g.line("return poisson_lupmf(%s | %s) + normal_lupdf(%s | %s, 1.5);", n, among(g, "2.5", "exp(0.2 * "+names[1]+")"), names[0], names[1])
	} else {
		g.line("return %s_%s(%s | %s, %s) - %s;", among(g, "normal", "cauchy", "logistic"), among(g, "lpdf", "lupdf"), names[0], names[1],
			g.positive(0), among(g, "0.1", "square("+names[2]+")", "log(1.5)"))
	}
	g.close()
}

// ---- calls ----

// arguments returns random arguments for a call of f. ok is false if no suitable ones exist.
func (g *gen) arguments(f *function, depth int) (text string, ok bool) {
	var out []string
	for _, a := range f.args {
		switch {
		case a.is(reals, 0):
			out = append(out, g.scaled(g.real(depth-1), argBound).text)
		case a.is(ints, 0):
			out = append(out, g.smallInt(a.lo, a.hi))
		case a.is(vectors, 0):
			out = append(out, g.scaled(g.vector(size{fmt.Sprint(a.dims[0].n), a.dims[0].n}, depth-1), argBound).text)
		case a.is(matrices, 0):
			out = append(out, g.scaled(g.matrix(lit(a.dims[0].n), lit(a.dims[1].n), depth-1), argBound).text)
		}
	}
	return strings.Join(out, ", "), true
}

// smallInt returns an int in a range.
func (g *gen) smallInt(lo, hi int) string {
	v := g.some(func(v *variable) bool { return v.is(ints, 0) && v.lo >= lo && v.hi <= hi })
	if v != nil && g.chance(0.6) {
		return v.name
	}
	return fmt.Sprint(g.between(lo, hi))
}

// callable draws a function that the function being written may call. It is always an earlier one,
// so that there is no endless recursion.
func (g *gen) callable(ok func(f *function) bool) *function {
	var list []*function
	for _, f := range g.funcs {
		if ok(f) && f != g.fn && g.affordable(f.work) {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return nil
	}
	f := one(g, list)
	g.work += g.cost * f.work
	return f
}

func (g *gen) callReal(depth int, out *expr) bool {
	f := g.callable(func(f *function) bool { return f.kind == realFunc })
	if f == nil {
		return false
	}
	args, _ := g.arguments(f, depth)
	*out = expr{f.name + "(" + args + ")", math.Max(f.bound, 1)}
	return true
}

func (g *gen) callVector(s size, depth int, out *expr) bool {
	f := g.callable(func(f *function) bool { return f.kind == vectorFunc && f.result.n == s.n })
	if f == nil {
		return false
	}
	args, _ := g.arguments(f, depth)
	*out = expr{f.name + "(" + args + ")", f.bound}
	return true
}
