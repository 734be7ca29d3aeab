package loopnest

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// EliminateExponentials rewrites logistic functions as an exponential, a logarithm and cheap ops,
// so that functions of the same argument, or of its negative, share them: mostly a value and its
// derivative.
func EliminateExponentials(p *Program) { p.Bodies((*Body).eliminateExponentials) }

// pair identifies a shared exponential: of -|a|, or of -|a-b| if b has a buffer.
type pair struct{ a, b Value }

// multiple is a value times a number or its negative.
type multiple struct {
	of   Value
	size float64
}

func (b *Body) eliminateExponentials() {
	found := false
	for i := range b.Nodes {
		found = found || logistic(&b.Nodes[i]) || b.shortLogSumExp(&b.Nodes[i]) > 0
	}
	if !found {
		return
	}
	var nodes []Node
	var from []int32
	exps, logs := map[pair]Value{}, map[Value]Value{}
	multiples := map[multiple]pair{} // by what is multiplied: the first key
	for i := range b.Nodes {
		n := b.Nodes[i]
		if k := b.shortLogSumExp(&n); k > 0 {
			b.logSumExp(&nodes, n, k)
			for len(from) < len(nodes) {
				from = append(from, -1)
			}
			continue
		}
		if !logistic(&n) {
			nodes, from = append(nodes, n), append(from, int32(i))
			continue
		}
		emitTo := func(dst BufferID, op ad.OpCode, args ...Value) Value {
			m := n
			m.Op, m.Args, m.Dst = op, args, dst
			nodes, from = append(nodes, m), append(from, -1)
			return b.Whole(dst)
		}
		emit := func(op ad.OpCode, args ...Value) Value { return emitTo(b.newBuffer(n.N), op, args...) }
		exponential := func(key pair) Value {
			e, ok := exps[key]
			if !ok {
				if key.b.Buf == None {
					e = emit(ops.ExpNegAbs, key.a)
				} else {
					e = emit(ops.ExpNegDiff, key.a, key.b)
				}
				exps[key] = e
			}
			return e
		}
		distance := func(x Value) pair {
			key := b.distance(x)
			if m := b.maker(key.a); m != nil && m.Op == ad.OpMul && key.b.Buf == None {
				for k, a := range m.Args {
					if c, ok := b.number(a); ok {
						// c·y and -c·y are at the same distance from 0.
						by := multiple{m.Args[1-k], math.Abs(c)}
						if first, ok := multiples[by]; ok {
							return first
						}
						multiples[by] = key
						break
					}
				}
			}
			return key
		}
		logarithm := func(e Value) Value {
			l, ok := logs[e]
			if !ok {
				l = emit(ad.OpLog1p, e)
				logs[e] = l
			}
			return l
		}
		x := n.Args[0]
		switch n.Op {
		case ad.OpInvLogit:
			emitTo(n.Dst, ops.Sigmoid, x, exponential(distance(x)))
		case ad.OpLog1pExp:
			emitTo(n.Dst, ops.MaxPlus0, x, logarithm(exponential(distance(x))))
		case ad.OpLogInvLogit:
			emitTo(n.Dst, ops.MinMinus0, x, logarithm(exponential(distance(x))))
		case ad.OpLog1mInvLogit:
			emitTo(n.Dst, ad.OpNeg, emit(ops.MaxPlus0, x, logarithm(exponential(distance(x)))))
		case ad.OpDistance:
			y := n.Args[1]
			emitTo(n.Dst, ad.OpSelect, emit(ad.OpEqual, x, y), b.Constant(0), emit(ad.OpSub, x, y))
		case ad.OpLogAddExp:
			y := n.Args[1]
			emitTo(n.Dst, ops.MaxPlus, x, y, logarithm(exponential(pair{x, y})))
		}
	}
	b.setNodes(nodes, from)
}

// logistic reports whether a node is a function that is rewritten.
func logistic(n *Node) bool {
	if n.Kind != Elementwise {
		return false
	}
	switch n.Op {
	case ad.OpInvLogit, ad.OpLog1pExp, ad.OpLogInvLogit, ad.OpLog1mInvLogit, ad.OpLogAddExp, ad.OpDistance:
		return true
	}
	return false
}

// shortLogSumExp returns the number of terms of a log_sum_exp that is worth rewriting; 0 for other
// nodes.
func (b *Body) shortLogSumExp(n *Node) int {
	if n.Kind != Array || n.Op != ad.OpLogSumExp || n.Args[0].Rep || b.Buffers[n.Dst].N == 0 {
		return 0
	}
	if k := n.Args[0].N / b.Buffers[n.Dst].N; k > 1 && k <= ShortTerms {
		return k
	}
	return 0
}

// logSumExp rewrites a log_sum_exp of k terms, for each of its rows: the maximum m, and the
// logarithm of the sum of exp(x - m), or of exp(x) if m is infinite.
func (b *Body) logSumExp(nodes *[]Node, n Node, k int) {
	rows, arg := b.Buffers[n.Dst].N, n.Args[0]
	emitTo := func(dst BufferID, op ad.OpCode, args ...Value) Value {
		m := Node{Kind: Elementwise, Op: op, N: rows, Args: args, Dst: dst, Src: n.Src, Site: n.Site, After: -1}
		*nodes = append(*nodes, m)
		return b.Whole(dst)
	}
	emit := func(op ad.OpCode, args ...Value) Value { return emitTo(b.newBuffer(rows), op, args...) }
	terms := make([]Value, k)
	for i := range terms {
		if rows == 1 {
			terms[i] = Value{Buf: arg.Buf, Off: arg.Off + i, N: 1}
			continue
		}
		x := b.newBuffer(rows)
		*nodes = append(*nodes, Node{Kind: Load, Op: ad.OpGather, N: rows, Args: []Value{arg}, Dst: x, Map: Map{Off: i, Dims: []ad.Dim{{N: rows, Stride: k}}, N: rows},
			Src: n.Src, Site: n.Site, After: -1})
		terms[i] = b.Whole(x)
	}
	if k == 2 {
		x, y := terms[0], terms[1]
		emitTo(n.Dst, ops.MaxPlus, x, y, emit(ad.OpLog1p, emit(ops.ExpNegDiff, x, y)))
		return
	}
	greatest := terms[0]
	for _, x := range terms[1:] {
		greatest = emit(ad.OpMax, greatest, x)
	}
	shift := emit(ad.OpSelect, emit(ad.OpIsInf, greatest), b.Constant(0), greatest)
	sum := Value{}
	for i, x := range terms {
		e := emit(ad.OpExp, emit(ad.OpSub, x, shift))
		if i == 0 {
			sum = e
		} else {
			sum = emit(ad.OpAdd, sum, e)
		}
	}
	emitTo(n.Dst, ad.OpAdd, shift, emit(ad.OpLog, sum))
}

// distance returns the key of |a|, the same for -a. For a difference made by the derivative of
// log_sum_exp2, it is that of |x-y|.
func (b *Body) distance(a Value) pair {
	made := func(v Value, op ad.OpCode) *Node {
		if n := b.maker(v); n != nil && n.Op == op {
			return n
		}
		return nil
	}
	for n := made(a, ad.OpNeg); n != nil; n = made(a, ad.OpNeg) {
		a = n.Args[0]
	}
	if n := made(a, ad.OpDistance); n != nil {
		return pair{n.Args[0], n.Args[1]}
	}
	return pair{a, Value{Buf: None}}
}
