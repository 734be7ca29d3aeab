package passes

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// Rewrite is an identity that the pass "rewrite" applies from left to right. The table is complete:
// 0·x, for instance, may not be 0 and is never rewritten, nor is x-x.
type Rewrite struct {
	Name      string
	Identity  string
	Condition string // condition under which it is applied
	Exact     string // whether it is exact, or its error bound

	op    ad.OpCode
	apply func(r *rewriter, a []ad.Ref) (ad.Ref, bool)
}

// early lists the rewrites that the pass "logarithms" applies before a density is differentiated.
// The derivative of the expressions that they replace is 0/0 where the argument of the logarithm
// has underflowed, although the value is finite there. Also, long sums of exponentials then share
// these with their derivative.
var early = []string{"log_sum_exp", "log_exp", "log_sqrt", "log_inv_logit", "log1m_inv_logit", "log_rest"}

// Rewrites returns the table of legal rewrites. "At least as exact" means that the rounding errors
// of the right side are bounded by those of the left side. Otherwise the two differ only where the
// left side overflows or underflows on the way to a finite result.
func Rewrites() []Rewrite {
	const exact, better = "exact, NaN and infinities included", "at least as exact"
	return []Rewrite{
		{"log_sum_exp", "log Σ exp x = m + log Σ exp(x - m), m the greatest x", fmt.Sprintf("more than %d terms", loopnest.ShortTerms), "2 units in the last place, as the functions themselves", ad.OpLogSumExp,
			func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
				t := r.g.Type(a[0])
				if t.Shape[len(t.Shape)-1] <= loopnest.ShortTerms || t.Size() == 0 {
					return ad.None, false
				}
				return sumOfRows(r.g, a[0]), true
			}},
		{"log_exp", "log(exp x) = x", "", better, ad.OpLog, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			return r.moved(a[0], ad.OpExp)
		}},
		{"exp_log", "exp(log x) = x", "x ≥ 0 or NaN is proven", better, ad.OpExp, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			x, ok := r.moved(a[0], ad.OpLog)
			return x, ok && r.nonneg(x, 0)
		}},
		{"log_sqrt", "log(sqrt x) = log(x)/2", "", better, ad.OpLog, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			x, ok := r.moved(a[0], ad.OpSqrt)
			if !ok {
				return ad.None, false
			}
			return r.do(ad.OpMul, r.g.Const(0.5), r.do(ad.OpLog, x)), true
		}},
		{"log_inv_logit", "log(inv_logit x) = log_inv_logit x", "", better, ad.OpLog, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			x, ok := r.moved(a[0], ad.OpInvLogit)
			if !ok {
				return ad.None, false
			}
			return r.do(ad.OpLogInvLogit, x), true
		}},
		{"log1m_inv_logit", "log1m(inv_logit x) = log1m_inv_logit x", "", better, ad.OpLog1m, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			x, ok := r.moved(a[0], ad.OpInvLogit)
			if !ok {
				return ad.None, false
			}
			return r.do(ad.OpLog1mInvLogit, x), true
		}},
		{"log_rest", "log(1 - inv_logit x) = log1m_inv_logit x", "", better, ad.OpLog, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			return r.movedBy(a[0], func(x ad.Ref) (ad.Ref, bool) {
				n := &r.g.Nodes[x]
				if n.Op != ad.OpSub {
					return ad.None, false
				}
				y, ok := r.moved(n.Args[1], ad.OpInvLogit)
				if one, known := r.number(n.Args[0]); !ok || !known || one != 1 {
					return ad.None, false
				}
				return r.do(ad.OpLog1mInvLogit, y), true
			})
		}},
		{"sqrt_square", "sqrt(x²) = |x|", "", better, ad.OpSqrt, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			x, ok := r.argOf(a[0], ad.OpSquare)
			if !ok {
				return ad.None, false
			}
			return r.do(ad.OpAbs, x), true
		}},
		{"square_sqrt", "(sqrt x)² = x", "x ≥ 0 or NaN is proven", better, ad.OpSquare, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			x, ok := r.argOf(a[0], ad.OpSqrt)
			return x, ok && r.nonneg(x, 0)
		}},
		{"square", "x·x = x²", "", exact, ad.OpMul, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			if a[0] != a[1] {
				return ad.None, false
			}
			return r.do(ad.OpSquare, a[0]), true
		}},
		{"abs_nonneg", "|x| = x", "x ≥ 0 or NaN is proven", "exact but for the sign of zero", ad.OpAbs, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			return a[0], r.nonneg(a[0], 0)
		}},
		{"cancel_exp", "(x/exp z)·exp z = x", "", better, ad.OpMul, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			for k, e := range a {
				if _, ok := r.argOf(e, ad.OpExp); !ok {
					continue
				}
				if n := &r.g.Nodes[a[1-k]]; n.Op == ad.OpDiv && n.Args[1] == e && r.same(n.Args[0], a[1-k]) {
					return n.Args[0], true
				} else if n.Op == ad.OpInv && n.Args[0] == e && n.Type.IsScalar() && n.Type.Lanes == 0 {
					return r.g.Const(1), true
				}
			}
			return ad.None, false
		}},
		{"add_neg", "x + (-y) = x - y", "", exact, ad.OpAdd, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			for k := 1; k >= 0; k-- {
				if y, ok := r.argOf(a[k], ad.OpNeg); ok {
					return r.do(ad.OpSub, a[1-k], y), true
				}
			}
			return ad.None, false
		}},
		{"sub_neg", "x - (-y) = x + y", "", exact, ad.OpSub, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			y, ok := r.argOf(a[1], ad.OpNeg)
			if !ok {
				return ad.None, false
			}
			return r.do(ad.OpAdd, a[0], y), true
		}},
		{"mul_neg", "(-x)·(-y) = x·y", "", exact, ad.OpMul, bothNegative(ad.OpMul)},
		{"div_neg", "(-x)/(-y) = x/y", "", exact, ad.OpDiv, bothNegative(ad.OpDiv)},
		{"square_neg", "(-x)² = x²", "", exact, ad.OpSquare, withoutSign(ad.OpSquare)},
		{"abs_neg", "|-x| = |x|", "", exact, ad.OpAbs, withoutSign(ad.OpAbs)},
		{"detach", "detach(x) = x", "", exact, ad.OpDetach, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) { return a[0], true }},
		{"bound_adjoint", "bound_adjoint(x) = x", "", exact, ad.OpBoundAdjoint, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) { return a[0], true }},
		{"slope", "slope(x, d) = 0", "", exact, ad.OpSlope, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			t := r.g.Type(r.g.Do(ad.OpSlope, nil, a...))
			return r.g.Expand(r.g.Const(0), t), true
		}},
		{"inv", "1/x = inv x", "", exact, ad.OpDiv, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			if v, ok := r.number(a[0]); !ok || v != 1 {
				return ad.None, false
			}
			return r.do(ad.OpInv, a[1]), true
		}},
		{"constant_product", "a·(b·x) = (a·b)·x", "a and b are constants of moderate size", "one rounding instead of two", ad.OpMul,
			func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
				for k := range a {
					c, ok := r.number(a[k])
					if !ok || !moderate(c) {
						continue
					}
					if d, x, ok := r.scaled(a[1-k]); ok && moderate(d) {
						return r.do(ad.OpMul, r.g.Const(c*d), x), true
					}
				}
				return ad.None, false
			}},
		{"minus_one", "(-1)·x = -x", "", exact, ad.OpMul, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			for k := range a {
				if c, ok := r.number(a[k]); ok && c == -1 && r.g.Type(a[k]).IsScalar() && r.g.Type(a[k]).Lanes == 0 {
					return r.do(ad.OpNeg, a[1-k]), true
				}
			}
			return ad.None, false
		}},
		{"constant_sign", "-(a·x) = (-a)·x", "a is a constant", exact, ad.OpNeg, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			d, x, ok := r.scaled(a[0])
			if !ok {
				return ad.None, false
			}
			return r.do(ad.OpMul, r.g.Const(-d), x), true
		}},
		{"constant_quotient", "x/a = (1/a)·x", "a is an array of constants", "1.5 instead of 0.5 units in the last place", ad.OpDiv,
			func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
				if v, ok := r.g.Value(a[1]); !ok || len(v) < 2 || !allModerate(v) {
					return ad.None, false
				}
				return r.do(ad.OpMul, a[0], r.g.Do(ad.OpInv, nil, a[1])), true
			}},
		{"add_selects", "(c ? x : 0) + (c ? 0 : y) = c ? x : y", "", "exact but for the sign of zero", ad.OpAdd, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			x, y := &r.g.Nodes[a[0]], &r.g.Nodes[a[1]]
			if x.Op != ad.OpSelect || y.Op != ad.OpSelect || x.Args[0] != y.Args[0] || !r.same(a[0], a[1]) {
				return ad.None, false
			}
			var of [2]ad.Ref
			for k := range of {
				u, v := x.Args[1+k], y.Args[1+k]
				switch {
				case r.zero(u):
					of[k] = v
				case r.zero(v):
					of[k] = u
				default:
					return ad.None, false
				}
			}
			return r.do(ad.OpSelect, x.Args[0], of[0], of[1]), true
		}},
		{"select_same", "c ? x : x = x", "of the type of the result", exact, ad.OpSelect, func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
			return a[1], a[1] == a[2] && r.g.Type(a[0]).Lanes == 0 && (r.g.Type(a[0]).IsScalar() || r.same(a[0], a[1]))
		}},
	}
}

// sumOfRows returns log Σ exp over the last dimension of x, for rows of many terms, as ops on
// arrays. The derivative uses their exponentials too. Outcomes of 20 categories, mixtures of 20
// normals and a hidden Markov model of 20 states take 0.52 to 0.55 of the time, a model of 40
// states 0.28 to 0.5. Package loopnest handles sums of fewer terms.
func sumOfRows(g *ad.Graph, x ad.Ref) ad.Ref {
	shape := g.Type(x).Shape
	rows := shape[:len(shape)-1]
	shift := shiftOf(g, g.Do(ad.OpMaxOf, nil, x))
	along := ad.Index{Dims: make([]ad.Dim, len(shape))} // maps an element to its row
	stride := 1
	for i := len(rows) - 1; i >= 0; i-- {
		along.Dims[i] = ad.Dim{N: rows[i], Stride: stride}
		stride *= rows[i]
	}
	along.Dims[len(rows)] = ad.Dim{N: shape[len(rows)]}
	sum := g.Scatter(g.Exp(g.Sub(x, g.Gather(shift, along))), along, rows)
	return logOfSum(g, shift, sum)
}

// rewriter applies the enabled rewrites while it rebuilds a graph.
type rewriter struct {
	g    *ad.Graph
	byOp [][]Rewrite
}

// rewrites returns the enabled rewrites, by op.
func (o *Options) rewrites() [][]Rewrite {
	if o.on == nil {
		on := o.Has("rewrite")
		o.on = byOp(func(w *Rewrite) bool { return on && o.Has(w.Name) })
	}
	return o.on
}

// byOp returns the selected rewrites by op, in the order of the table.
func byOp(use func(w *Rewrite) bool) [][]Rewrite {
	all := Rewrites()
	n := 0
	for i := range all {
		if use(&all[i]) {
			all[n] = all[i]
			n++
		}
	}
	all = all[:n]
	sorting.Stable(all, func(a, b Rewrite) int { return cmp.Compare(a.op, b.op) })
	if len(all) == 0 {
		return nil
	}
	of := make([][]Rewrite, all[len(all)-1].op+1)
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].op == all[0].op {
			n++
		}
		of[all[0].op], all = all[:n:n], all[n:]
	}
	return of
}

// rewriteLogarithms rebuilds g with the rewrites that come early.
func rewriteLogarithms(g *ad.Graph) *ad.Graph {
	of := byOp(func(w *Rewrite) bool { return slices.Contains(early, w.Name) })
	return rewriteWith(g, of, (*ad.Graph).Sibling) // its budget bounds what differentiation adds
}

// rewriteGraph rebuilds g with the legal rewrites.
func rewriteGraph(g *ad.Graph, o *Options) *ad.Graph {
	return rewriteWith(g, o.rewrites(), func(*ad.Graph) *ad.Graph { return o.empty() })
}

// rewriteWith rebuilds g with the given rewrites. to makes the empty graphs for g and for the
// bodies of its regions.
func rewriteWith(g *ad.Graph, of [][]Rewrite, to func(g *ad.Graph) *ad.Graph) *ad.Graph {
	var run func(g *ad.Graph) *ad.Graph
	run = func(g *ad.Graph) *ad.Graph {
		r := &rewriter{to(g), of}
		return rebuildTo(r.g, g, run, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
			if x, ok := r.apply(n.Op, args); ok {
				return x
			}
			return w.Same(n, attr, args)
		})
	}
	return run(g)
}

// do adds an elementwise op, rewritten if a rewrite applies.
func (r *rewriter) do(op ad.OpCode, a ...ad.Ref) ad.Ref {
	if x, ok := r.apply(op, a); ok {
		return x
	}
	return r.g.Do(op, nil, a...)
}

// apply applies the first rewrite that matches.
func (r *rewriter) apply(op ad.OpCode, a []ad.Ref) (ad.Ref, bool) {
	if int(op) >= len(r.byOp) {
		return ad.None, false
	}
	for _, w := range r.byOp[op] {
		if x, ok := w.apply(r, a); ok {
			return x, true
		}
	}
	return ad.None, false
}

// number returns the value of x if x is a known number.
func (r *rewriter) number(x ad.Ref) (float64, bool) {
	v, ok := r.g.Value(x)
	if t := r.g.Type(x); !ok || !t.IsScalar() || t.Lanes > 0 { // an array of one element is not a number: it determines the type of the result
		return 0, false
	}
	return v[0], true
}

// zero reports whether x is the number 0.
func (r *rewriter) zero(x ad.Ref) bool {
	v, ok := r.number(x)
	return ok && v == 0
}

// scaled matches x = c·y for a constant c, including negations.
func (r *rewriter) scaled(x ad.Ref) (c float64, y ad.Ref, ok bool) {
	n := &r.g.Nodes[x]
	switch n.Op {
	case ad.OpNeg:
		return -1, n.Args[0], true
	case ad.OpMul:
		for k, a := range n.Args {
			if c, ok := r.number(a); ok && r.same(n.Args[1-k], x) {
				return c, n.Args[1-k], true
			}
		}
	}
	return 0, ad.None, false
}

func moderate(c float64) bool {
	c = math.Abs(c)
	return c > minConstant && c < maxConstant
}

func allModerate(v []float64) bool {
	for _, c := range v {
		if !moderate(c) {
			return false
		}
	}
	return true
}

// argOf returns the argument of x if x is made by op.
func (r *rewriter) argOf(x ad.Ref, op ad.OpCode) (ad.Ref, bool) {
	if n := &r.g.Nodes[x]; n.Op == op {
		return n.Args[0], true
	}
	return ad.None, false
}

// moved is argOf for a result whose elements were moved or selected afterwards. It moves the
// argument's elements in the same way.
func (r *rewriter) moved(x ad.Ref, op ad.OpCode) (ad.Ref, bool) {
	return r.movedBy(x, func(x ad.Ref) (ad.Ref, bool) { return r.argOf(x, op) })
}

// movedBy is moved for another value than an argument.
func (r *rewriter) movedBy(x ad.Ref, of func(ad.Ref) (ad.Ref, bool)) (ad.Ref, bool) {
	n := &r.g.Nodes[x]
	switch n.Op {
	case ad.OpReshape, ad.OpLane, ad.OpUnlane, ad.OpGather:
		move, attr := n.Op, n.Attr
		y, ok := r.movedBy(n.Args[0], of)
		if !ok || !r.same(y, n.Args[0]) {
			return ad.None, false
		}
		return r.g.Do(move, attr, y), true
	}
	return of(x)
}

// same reports whether two values have the same type.
func (r *rewriter) same(x, y ad.Ref) bool { return r.g.Type(x).Equal(r.g.Type(y)) }

func bothNegative(op ad.OpCode) func(*rewriter, []ad.Ref) (ad.Ref, bool) {
	return func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
		x, ok := r.argOf(a[0], ad.OpNeg)
		y, ok2 := r.argOf(a[1], ad.OpNeg)
		if !ok || !ok2 {
			return ad.None, false
		}
		return r.do(op, x, y), true
	}
}

func withoutSign(op ad.OpCode) func(*rewriter, []ad.Ref) (ad.Ref, bool) {
	return func(r *rewriter, a []ad.Ref) (ad.Ref, bool) {
		x, ok := r.argOf(a[0], ad.OpNeg)
		if !ok {
			return ad.None, false
		}
		return r.do(op, x), true
	}
}

// nonneg reports whether x is proven to be ≥ 0 or NaN wherever it is computed.
func (r *rewriter) nonneg(x ad.Ref, depth int) bool {
	n := &r.g.Nodes[x]
	all := func(args []ad.Ref) bool {
		for _, a := range args {
			if !r.nonneg(a, depth+1) {
				return false
			}
		}
		return true
	}
	if depth > maxProof {
		return false
	}
	switch n.Op {
	case ad.OpExp, ad.OpSquare, ad.OpSqrt, ad.OpAbs, ad.OpInvLogit, ad.OpLog1pExp, ad.OpPhi:
		return true
	case ad.OpConst:
		for _, v := range n.Data {
			if v < 0 {
				return false
			}
		}
		return true
	case ad.OpAdd, ad.OpMul, ad.OpDiv, ad.OpInv, ad.OpMin, ad.OpReshape, ad.OpLane, ad.OpUnlane, ad.OpGather, ad.OpScatter, ad.OpConcat:
		return all(n.Args)
	case ad.OpSelect:
		return all(n.Args[1:])
	case ad.OpMax:
		return r.nonneg(n.Args[0], depth+1) || r.nonneg(n.Args[1], depth+1)
	}
	return false
}
