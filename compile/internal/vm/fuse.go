package vm

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// Ops of the machine's own.
//
// The first are two of the graph's at the cost of little more than one: a pass
// over a strip costs 0.35 to 0.5 ns per element, most of it for loading and
// storing, and an instruction of scalar code 3.4 ns, most of it for the jump
// and for waiting for the store of the operand.
//
// The others take the logistic functions apart, so that a value and its
// derivative share their exponential: with e = exp(-|x|) and l = log1p(e),
// log1p_exp is max(x, 0) + l and inv_logit 1/(1+e) or e/(1+e).
const (
	opMulAdd ad.OpCode = 1<<12 + iota // a·b + c
	opMulSub                          // a·b - c
	opSubMul                          // c - a·b
	opDot                             // sum of a·b, an accNode

	opExpNegAbs  // exp(-|a|)
	opExpNegDiff // exp(-|a-b|), 1 where they are equal
	opSigmoid    // inv_logit(a), with b = exp(-|a|)
	opMaxPlus0   // max(a, 0) + b
	opMinMinus0  // min(a, 0) - b
	opMaxPlus    // max(a, b) + c
)

// ownNames are the names of these ops in listings.
func ownName(op ad.OpCode) string {
	return [...]string{"mul_add", "mul_sub", "sub_mul", "dot", "exp_neg_abs", "exp_neg_diff", "sigmoid", "max_plus0",
		"min_minus0", "max_plus"}[op-opMulAdd]
}

// pair is what an exponential is shared by: |a|, or |a-b| if b has a root.
type pair struct{ a, b val }

// logistic lowers a logistic function of arrays by parts; ok is false for
// other ops.
func (x *context) logistic(nd *node) (v val, ok bool) {
	emit := func(op ad.OpCode, args ...val) val {
		dst := x.newRoot(nd.n)
		x.add(node{kind: elemNode, op: op, n: nd.n, args: args, dst: dst})
		return x.whole(dst)
	}
	exponential := func(key pair) val {
		e, ok := x.exps[key]
		if !ok {
			if key.b.root == none {
				e = emit(opExpNegAbs, key.a)
			} else {
				e = emit(opExpNegDiff, key.a, key.b)
			}
			x.exps[key] = e
		}
		return e
	}
	logarithm := func(e val) val {
		l, ok := x.logs[e]
		if !ok {
			l = emit(ad.OpLog1p, e)
			x.logs[e] = l
		}
		return l
	}
	a := nd.args[0]
	switch nd.op {
	case ad.OpInvLogit:
		return emit(opSigmoid, a, exponential(x.distance(a))), true
	case ad.OpLog1pExp:
		return emit(opMaxPlus0, a, logarithm(exponential(x.distance(a)))), true
	case ad.OpLogInvLogit:
		return emit(opMinMinus0, a, logarithm(exponential(x.distance(a)))), true
	case ad.OpLog1mInvLogit:
		return emit(ad.OpNeg, emit(opMaxPlus0, a, logarithm(exponential(x.distance(a))))), true
	case ad.OpLogAddExp:
		b := nd.args[1]
		return emit(opMaxPlus, a, b, logarithm(exponential(pair{a, b}))), true
	}
	return val{}, false
}

// distance finds what |a| is the absolute value of: without a sign, and, for
// the difference that the derivative of log_sum_exp2 makes, the pair.
func (x *context) distance(a val) pair {
	made := func(v val, op ad.OpCode) *node {
		r := &x.roots[v.root]
		if r.ctx != x || len(r.makers) != 1 || v.off != 0 || v.n != r.n {
			return nil
		}
		if n := &x.nodes[r.makers[0]]; n.kind == elemNode && n.op == op && n.dst == v.root && n.n == v.n {
			return n
		}
		return nil
	}
	for n := made(a, ad.OpNeg); n != nil; n = made(a, ad.OpNeg) {
		a = n.args[0]
	}
	if n := made(a, ad.OpSelect); n != nil {
		zero := &x.roots[n.args[1].root]
		eq, diff := made(n.args[0], ad.OpEqual), made(n.args[2], ad.OpSub)
		if zero.data != nil && zero.data[n.args[1].off] == 0 && n.args[1].n == 1 &&
			eq != nil && diff != nil && eq.args[0] == diff.args[0] && eq.args[1] == diff.args[1] {
			return pair{diff.args[0], diff.args[1]}
		}
	}
	return pair{a, val{root: none}}
}

// fuse joins a product with the sum or difference that alone reads it.
func (x *context) fuse() {
	uses := map[rootID]int{}
	for i := range x.nodes {
		for _, a := range x.nodes[i].args {
			uses[a.root]++
		}
	}
	dead := make([]bool, len(x.nodes))
	for i := len(x.nodes) - 1; i >= 0; i-- { // what factors were taken from
		n := &x.nodes[i]
		if n.kind > loadNode || n.dst == none {
			continue
		}
		if r := &x.roots[n.dst]; uses[n.dst] == 0 && !r.shared && r.in == none && r.ctx == x {
			dead[i] = true
			for _, a := range n.args {
				uses[a.root]--
			}
		}
	}
	product := func(a val, n int) (a1, a2 val, p int32, ok bool) {
		r := &x.roots[a.root]
		if r.shared || r.in != none || uses[a.root] != 1 || len(r.makers) != 1 || r.ctx != x || a.off != 0 || a.n != r.n {
			return
		}
		p = r.makers[0]
		m := &x.nodes[p]
		if m.kind != elemNode || m.n != n || m.dst != a.root {
			return
		}
		switch m.op {
		case ad.OpMul:
			a1, a2 = m.args[0], m.args[1]
			if a1.n < a2.n {
				a1, a2 = a2, a1
			}
			return a1, a2, p, true
		case ad.OpSquare:
			return m.args[0], m.args[0], p, true
		}
		return
	}
	for i := range x.nodes {
		n := &x.nodes[i]
		switch {
		case dead[i]:
		case n.kind == elemNode && (n.op == ad.OpAdd || n.op == ad.OpSub):
			for k := 1; k >= 0; k-- {
				if n.args[k].n != n.n {
					continue
				}
				a, b, p, ok := product(n.args[k], n.n)
				if !ok {
					continue
				}
				switch {
				case n.op == ad.OpAdd:
					n.op = opMulAdd
				case k == 0:
					n.op = opMulSub
				default:
					n.op = opSubMul
				}
				n.args = []val{a, b, n.args[1-k]}
				dead[p] = true
				break
			}
		case n.kind == accNode && !n.store && n.n > 1 && n.m.uniform():
			if a, b, p, ok := product(n.args[0], n.n); ok && a.n == b.n {
				n.op = opDot
				n.args = []val{a, b}
				dead[p] = true
			}
		}
	}
	x.drop(dead)
}

// drop removes dead nodes.
func (x *context) drop(dead []bool) {
	to := make([]int32, len(x.nodes))
	nodes := x.nodes[:0]
	for i, n := range x.nodes {
		to[i] = int32(len(nodes))
		if dead[i] {
			continue
		}
		nodes = append(nodes, n)
	}
	if len(nodes) == len(to) {
		return
	}
	x.nodes = nodes
	for i := range nodes {
		if a := nodes[i].after; a >= 0 {
			nodes[i].after = to[a]
		}
	}
	for _, id := range x.own {
		r := &x.roots[id]
		for k, m := range r.makers {
			r.makers[k] = to[m]
		}
	}
}

// factor finds a constant factor of the array r that nobody else reads. Factors
// of moderate size move through products and out of sums: derivatives of
// densities are full of 2 and -1/2, and each costs a pass over the data.
func (x *context) factor(r ad.Ref) (c float64, rest val, ok bool) {
	v := x.vals[r]
	if x.uses[r] != 1 || v.n < 2 || v.rep {
		return
	}
	rt := &x.roots[v.root]
	if rt.ctx != x || rt.in != none || v.off != 0 || v.n != rt.n || len(rt.makers) != 1 {
		return
	}
	n := &x.nodes[rt.makers[0]]
	if n.kind != elemNode || n.dst != v.root {
		return
	}
	switch n.op {
	case ad.OpNeg:
		return -1, n.args[0], n.args[0].n == v.n
	case ad.OpMul:
		for k, a := range n.args {
			d := x.roots[a.root].data
			if a.n != 1 || d == nil || n.args[1-k].n != v.n {
				continue
			}
			if c = d[a.off]; moderate(c) {
				return c, n.args[1-k], true
			}
		}
	}
	return
}

func moderate(c float64) bool {
	c = math.Abs(c)
	return c > 1e-6 && c < 1e6
}

// merge joins the constant factor of an operand of a negation or of a product
// with a number; ok is false if there is none.
func (x *context) merge(n *ad.Node, nd *node) (v val, ok bool) {
	scaled := func(s, rest val) val {
		op, args := ad.OpMul, []val{s, rest}
		if d := x.roots[s.root].data; d != nil {
			switch d[s.off] {
			case 1:
				return rest
			case -1:
				op, args = ad.OpNeg, args[1:]
			}
		}
		dst := x.newRoot(nd.n)
		x.add(node{kind: elemNode, op: op, n: nd.n, args: args, dst: dst})
		return x.whole(dst)
	}
	switch nd.op {
	case ad.OpNeg:
		if c, rest, ok := x.factor(n.Args[0]); ok {
			return scaled(x.constant(-c), rest), true
		}
	case ad.OpMul:
		for k, s := range nd.args {
			if s.n != 1 {
				continue
			}
			if c, rest, ok := x.factor(n.Args[1-k]); ok && rest.n == nd.n {
				return scaled(x.times(c, s), rest), true
			}
		}
	}
	return val{}, false
}

// times is c·s for a single number s.
func (x *context) times(c float64, s val) val {
	if d := x.roots[s.root].data; d != nil {
		return x.constant(c * d[s.off])
	}
	dst := x.newRoot(1)
	x.add(node{kind: elemNode, op: ad.OpMul, n: 1, args: []val{x.constant(c), s}, dst: dst})
	return x.whole(dst)
}
