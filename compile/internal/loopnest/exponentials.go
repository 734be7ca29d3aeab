package loopnest

import "github.com/ppl-lang/ppl/ad"

// ShareExponentials takes logistic functions apart into an
// exponential, a logarithm and what is cheap, so that functions of the same
// argument (or of its negative), mostly a value and its derivative, share them.
func ShareExponentials(p *Program) { p.Bodies((*Body).shareExponentials) }

// pair is what an exponential is shared by: |a|, or |a-b| if b has a buffer.
type pair struct{ a, b Value }

func (b *Body) shareExponentials() {
	found := false
	for i := range b.Nodes {
		found = found || logistic(&b.Nodes[i])
	}
	if !found {
		return
	}
	var nodes []Node
	var from []int32
	exps, logs := map[pair]Value{}, map[Value]Value{}
	for i := range b.Nodes {
		n := b.Nodes[i]
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
					e = emit(OpExpNegAbs, key.a)
				} else {
					e = emit(OpExpNegDiff, key.a, key.b)
				}
				exps[key] = e
			}
			return e
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
			emitTo(n.Dst, OpSigmoid, x, exponential(b.distance(x)))
		case ad.OpLog1pExp:
			emitTo(n.Dst, OpMaxPlus0, x, logarithm(exponential(b.distance(x))))
		case ad.OpLogInvLogit:
			emitTo(n.Dst, OpMinMinus0, x, logarithm(exponential(b.distance(x))))
		case ad.OpLog1mInvLogit:
			emitTo(n.Dst, ad.OpNeg, emit(OpMaxPlus0, x, logarithm(exponential(b.distance(x)))))
		case ad.OpLogAddExp:
			y := n.Args[1]
			emitTo(n.Dst, OpMaxPlus, x, y, logarithm(exponential(pair{x, y})))
		}
	}
	b.setNodes(nodes, from)
}

// logistic reports whether a node is one that is taken apart.
func logistic(n *Node) bool {
	if n.Kind != Elementwise {
		return false
	}
	switch n.Op {
	case ad.OpInvLogit, ad.OpLog1pExp, ad.OpLogInvLogit, ad.OpLog1mInvLogit, ad.OpLogAddExp:
		return true
	}
	return false
}

// distance finds what |a| is the absolute value of: without a sign, and, for
// the difference that the derivative of log_sum_exp2 makes, the pair.
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
	if n := made(a, ad.OpSelect); n != nil {
		zero, known := b.number(n.Args[1])
		eq, diff := made(n.Args[0], ad.OpEqual), made(n.Args[2], ad.OpSub)
		if known && zero == 0 && n.Args[1].N == 1 &&
			eq != nil && diff != nil && eq.Args[0] == diff.Args[0] && eq.Args[1] == diff.Args[1] {
			return pair{diff.Args[0], diff.Args[1]}
		}
	}
	return pair{a, Value{Buf: None}}
}
