package passes

import "github.com/ppl-lang/ppl/ad"

// hoist is loop-invariant code motion. It moves factors out of an array if they are one number for
// the whole array. They move through products, quotients, squares, matrix products, slices and
// sums, to where they multiply fewer numbers, or into the next sum. Derivatives of densities have
// many such factors. With z = (y-μ)/σ, three of the six passes over the data for -z²/2 - log σ and
// its derivatives remain: Σr², Σr and r = y-μ.
//
// Results change by a few roundings, and otherwise only if a factor or a product of factors leaves
// the range of numbers: 1/σ² for |σ| < 1e-154. A product of many factors may be 0, and the rest
// infinite, while the result is an ordinary number. So at most maxFactors are collected, which also
// bounds repeated squares.
func hoist(g *ad.Graph, o *Options) *ad.Graph {
	of := o.rewrites()
	var run func(g *ad.Graph, o *Options) *ad.Graph
	run = func(g *ad.Graph, o *Options) *ad.Graph {
		if !hasArrays(g) {
			return g
		}
		f := &factorizer{rewriter{nil, of}, map[ad.Ref]scaled{}, map[ad.Ref]int{}}
		return rebuild(o, g, run, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
			f.g = w.To
			if s, ok := f.scaled(n, attr, args); ok && f.degree(s.coef) <= maxFactors {
				return f.value(s, n.Type)
			}
			if x, ok := f.apply(n.Op, args); ok {
				return x
			}
			return w.Same(n, attr, args)
		})
	}
	return run(g, o)
}

// hasArrays reports whether anything in the graph, or in its regions, computes
// an array.
func hasArrays(g *ad.Graph) bool {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Op != ad.OpConst && n.Op != ad.OpInput && n.Type.Total() > 1 {
			return true
		}
	}
	return false
}

// scaled is coef·base + off, where coef and off are numbers. ad.None stands for a coef of 1 and an
// off of 0.
type scaled struct{ coef, base, off ad.Ref }

// factorizer records the values of the new graph that have factored form. The products themselves
// are also in the graph, where they are dead unless needed.
type factorizer struct {
	rewriter
	of      map[ad.Ref]scaled
	degrees map[ad.Ref]int // by coefficient that is a product: its number of factors
}

// maxFactors is the largest number of factors in a coefficient. Densities with their derivatives
// have up to five.
const maxFactors = 8

// degree returns the number of factors of a coefficient; 0 for ad.None.
func (f *factorizer) degree(coef ad.Ref) int {
	if coef == ad.None {
		return 0
	}
	if d, ok := f.degrees[coef]; ok {
		return d
	}
	return 1
}

// noted records the number of factors of a coefficient.
func (f *factorizer) noted(coef ad.Ref, degree int) ad.Ref {
	if degree > 1 {
		f.degrees[coef] = max(degree, f.degrees[coef])
	}
	return coef
}

func (f *factorizer) parts(r ad.Ref) scaled {
	if s, ok := f.of[r]; ok {
		return s
	}
	return scaled{ad.None, r, ad.None}
}

// value returns the node of a scaled value of type t.
func (f *factorizer) value(s scaled, t ad.Type) ad.Ref {
	if !f.g.Type(s.base).Equal(t) {
		panic("passes: a factor changes a type")
	}
	r := s.base
	if s.coef != ad.None {
		r = f.do(ad.OpMul, s.coef, r)
	}
	if s.off != ad.None {
		r = f.do(ad.OpAdd, r, s.off)
	}
	if r != s.base {
		f.of[r] = s
	}
	return r
}

func (f *factorizer) mul(a, b ad.Ref) ad.Ref {
	switch {
	case a == ad.None:
		return b
	case b == ad.None:
		return a
	}
	return f.noted(f.do(ad.OpMul, a, b), f.degree(a)+f.degree(b))
}

func (f *factorizer) inv(a ad.Ref) ad.Ref {
	if a == ad.None {
		return a
	}
	return f.noted(f.do(ad.OpInv, a), f.degree(a))
}

// scaled returns the node's value with its factors separate. ok is false if that brings no gain.
func (f *factorizer) scaled(n *ad.Node, attr any, args []ad.Ref) (s scaled, ok bool) {
	g := f.g
	if len(args) == 0 || len(args) > 2 {
		return s, false
	}
	if n.Op == ad.OpScatter {
		return f.sum(n, attr, args[0])
	}
	if n.Type.Total() <= 1 {
		return s, false
	}
	a := f.parts(args[0])
	whole := func(s scaled) bool { return g.Type(s.base).Equal(n.Type) }
	switch n.Op {
	case ad.OpNeg:
		c := ad.Ref(ad.None)
		if a.coef == ad.None {
			c = g.Const(-1)
		} else {
			c = f.noted(f.do(ad.OpNeg, a.coef), f.degree(a.coef))
		}
		o := a.off
		if o != ad.None {
			o = f.do(ad.OpNeg, o)
		}
		return scaled{c, a.base, o}, true
	case ad.OpSquare:
		if a.coef == ad.None || a.off != ad.None {
			return s, false
		}
		return scaled{f.noted(f.do(ad.OpSquare, a.coef), 2*f.degree(a.coef)), f.do(ad.OpSquare, a.base), ad.None}, true
	case ad.OpInv:
		if a.coef == ad.None || a.off != ad.None {
			return s, false
		}
		return scaled{f.inv(a.coef), f.do(ad.OpInv, a.base), ad.None}, true
	case ad.OpReshape, ad.OpLane, ad.OpUnlane, ad.OpGather:
		if a.base == args[0] || g.Type(args[0]).Total() < n.Type.Total() {
			return s, false
		}
		return scaled{a.coef, g.Do(n.Op, attr, a.base), a.off}, true
	case ad.OpMul, ad.OpDiv, ad.OpAdd, ad.OpSub, ad.OpMatMul:
	default:
		return s, false
	}
	b := f.parts(args[1])
	if n.Op == ad.OpMatMul {
		if a.off != ad.None || b.off != ad.None ||
			a.coef != ad.None && g.Type(a.base).Total() < n.Type.Total() || b.coef != ad.None && g.Type(b.base).Total() < n.Type.Total() {
			return s, false
		}
		if a.coef == ad.None && b.coef == ad.None {
			return s, false
		}
		return scaled{f.mul(a.coef, b.coef), g.Do(n.Op, attr, a.base, b.base), ad.None}, true
	}
	u, isU := uniform(g, args[0])
	v, isV := uniform(g, args[1])
	switch {
	case isU && isV:
		return s, false
	case n.Op == ad.OpMul && isU && whole(b):
		return scaled{f.mul(u, b.coef), b.base, f.both(u, b.off)}, true
	case n.Op == ad.OpMul && isV && whole(a):
		return scaled{f.mul(v, a.coef), a.base, f.both(v, a.off)}, true
	case n.Op == ad.OpDiv && isV && whole(a):
		w := f.inv(v)
		return scaled{f.mul(w, a.coef), a.base, f.both(w, a.off)}, true
	case n.Op == ad.OpDiv && isU && whole(b) && b.off == ad.None && b.coef != ad.None:
		return scaled{f.noted(f.do(ad.OpDiv, u, b.coef), 1+f.degree(b.coef)), f.do(ad.OpInv, b.base), ad.None}, true
	case n.Op == ad.OpAdd && isU && whole(b) && f.term(b):
		return scaled{b.coef, b.base, f.plus(b.off, u)}, true
	case n.Op == ad.OpAdd && isV && whole(a) && f.term(a):
		return scaled{a.coef, a.base, f.plus(a.off, v)}, true
	case n.Op == ad.OpSub && isV && whole(a) && f.term(a):
		return scaled{a.coef, a.base, f.plus(a.off, f.do(ad.OpNeg, v))}, true
	case isU || isV || a.off != ad.None || b.off != ad.None:
		return s, false
	case n.Op == ad.OpMul && (a.coef != ad.None || b.coef != ad.None):
		return scaled{f.mul(a.coef, b.coef), f.do(ad.OpMul, a.base, b.base), ad.None}, true
	case n.Op == ad.OpDiv && (a.coef != ad.None || b.coef != ad.None):
		return scaled{f.mul(a.coef, f.inv(b.coef)), f.do(ad.OpDiv, a.base, b.base), ad.None}, true
	case (n.Op == ad.OpAdd || n.Op == ad.OpSub) && a.coef == b.coef && a.coef != ad.None:
		return scaled{a.coef, f.do(n.Op, a.base, b.base), ad.None}, true
	case n.Op == ad.OpAdd && f.minus(b):
		return f.difference(a, b, args[0]), true
	case n.Op == ad.OpAdd && f.minus(a):
		return f.difference(b, a, args[1]), true
	}
	return s, false
}

// minus reports whether s is -base.
func (f *factorizer) minus(s scaled) bool {
	if s.coef == ad.None || s.off != ad.None {
		return false
	}
	v, ok := f.g.Value(s.coef)
	return ok && v[0] == -1
}

// difference returns a - base of b, in one pass over the array; negating b first would take
// another.
func (f *factorizer) difference(a, b scaled, whole ad.Ref) scaled {
	return scaled{ad.None, f.do(ad.OpSub, whole, b.base), ad.None}
}

func (f *factorizer) both(c, off ad.Ref) ad.Ref {
	if off == ad.None {
		return off
	}
	return f.do(ad.OpMul, c, off)
}

func (f *factorizer) plus(off, u ad.Ref) ad.Ref {
	if off == ad.None {
		return u
	}
	return f.do(ad.OpAdd, off, u)
}

// term reports whether a number added to s may be summed separately. It may if s is a term of a
// density, so that both are terms of the result. It may not in sums like Σ(y-μ), for deviations of
// data from their mean: the separate sums would cancel and lose digits.
func (f *factorizer) term(s scaled) bool {
	switch f.g.Nodes[s.base].Op {
	case ad.OpSquare, ad.OpLog, ad.OpLog1p, ad.OpLog1m, ad.OpLog1pExp, ad.OpLogInvLogit, ad.OpLog1mInvLogit, ad.OpLogAddExp,
		ad.OpLgamma, ad.OpLogPhi, ad.OpLbeta, ad.OpLchoose, ad.OpLmultichoose:
		return true
	}
	return false
}

// sum moves factors out of a scatter, if it adds numbers up rather than only placing them.
func (f *factorizer) sum(n *ad.Node, attr any, x ad.Ref) (s scaled, ok bool) {
	g := f.g
	a := f.parts(x)
	from := g.Type(x).Total()
	if from < minSummed*n.Type.Total() || from == 0 {
		return s, false
	}
	if n.Type.Total() == 1 && f.splits(a.base) {
		s = scaled{a.coef, f.sumTerms(a.base, attr, func(r ad.Ref) ad.Ref { return r }), ad.None}
	} else if a.base == x {
		return s, false
	} else {
		s = scaled{a.coef, g.Do(ad.OpScatter, attr, a.base), ad.None}
	}
	switch {
	case a.off == ad.None:
		return s, true
	case n.Type.Total() > 1:
		return s, false
	}
	s.off = f.do(ad.OpMul, g.Const(float64(from)), a.off)
	if !g.Type(s.off).Equal(n.Type) {
		s.off = g.Reshape(s.off, n.Type.Shape)
	}
	return s, true
}

// splits reports whether x is a sum or difference of terms of a density that are better summed
// separately: squares as dot products, logarithms as one logarithm, constants once and for all.
func (f *factorizer) splits(x ad.Ref) bool {
	for f.views(x) {
		x = f.g.Nodes[x].Args[0]
	}
	n := &f.g.Nodes[x]
	if n.Op != ad.OpAdd && n.Op != ad.OpSub {
		return false
	}
	for _, a := range n.Args {
		s := f.parts(a)
		if !f.g.Type(a).Equal(n.Type) || !(f.term(s) || f.splits(s.base) || f.g.Nodes[s.base].Op == ad.OpConst) {
			return false
		}
	}
	return true
}

// views reports whether x is its whole argument in another shape.
func (f *factorizer) views(x ad.Ref) bool {
	switch f.g.Nodes[x].Op {
	case ad.OpReshape, ad.OpLane, ad.OpUnlane:
		return true
	}
	return false
}

// sumTerms sums x by the scatter attr, term by term. view converts a term to the shape of x.
func (f *factorizer) sumTerms(x ad.Ref, attr any, view func(ad.Ref) ad.Ref) ad.Ref {
	if f.splits(x) && f.views(x) {
		n := f.g.Nodes[x]
		return f.sumTerms(n.Args[0], attr, func(r ad.Ref) ad.Ref { return view(f.g.Do(n.Op, n.Attr, r)) })
	}
	s := f.parts(x)
	r := ad.Ref(ad.None)
	if n := &f.g.Nodes[s.base]; f.splits(s.base) && !f.views(s.base) {
		op, a, b := n.Op, n.Args[0], n.Args[1]
		r = f.do(op, f.sumTerms(a, attr, view), f.sumTerms(b, attr, view))
	} else if f.splits(s.base) {
		r = f.sumTerms(s.base, attr, view)
	} else {
		r = f.g.Do(ad.OpScatter, attr, view(s.base))
	}
	r = f.mul(s.coef, r)
	if s.off != ad.None {
		r = f.do(ad.OpAdd, r, f.do(ad.OpMul, f.g.Const(float64(f.g.Type(x).Total())), s.off))
	}
	return r
}
