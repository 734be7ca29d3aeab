package vm

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// A chain is the body of a scan that carries one number through a row of ops,
// each of which reads the result of the one before and otherwise only what the
// scan streams or does not change: a recurrence after loop distribution, and
// every adjoint of one. It runs in a loop that keeps the number in a register,
// at 1 to 2 ns per op instead of the interpreter's 3.4, and most in loops of
// their own at the latency of their operations.
type chain struct {
	carry   int32 // place of the carried number
	links   []link
	history []scalarMove // where the number is kept before the step
	keeps   []scalarMove // and after it
	kind    chainKind
}

// link is an op of a chain, on the number and on x and y.
type link struct {
	op   linkOp
	x, y linkOperand
}

// linkOperand is a stream (an index into the region's step loads), or a place.
type linkOperand struct {
	stream int32 // -1: none
	place  int32
}

// noOperand is one that the op does not read.
var noOperand = linkOperand{-1, 0}

type linkOp uint8

const (
	linkAdd     linkOp = iota // n + x
	linkSub                   // n - x
	linkSubFrom               // x - n
	linkMul                   // n·x
	linkDiv                   // n/x
	linkDivInto               // x/n
	linkMulAdd                // n·x + y
	linkMulSub                // n·x - y
	linkSubMul                // y - n·x
	linkAddMul                // x·y + n
	linkNeg
	linkSquare
	linkSqrt
	linkInv
	linkExp
	linkLog
)

// chainKind is a loop that fits the whole chain.
type chainKind uint8

const (
	anyChain     chainKind = iota
	linearChain            // n·x + y
	sqrtChain              // sqrt(n²·x + y)
	shiftedChain           // (n + x)·y
)

// findChain recognises the body of a tight scan; nil if it is something else.
// Places are final.
func findChain(p *regionPlan) *chain {
	if len(p.inits) != 1 || p.inits[0].n != 1 {
		return nil
	}
	code := p.bodies[0][0].code
	streams := map[int32]int32{} // by place
	for i, l := range p.stepLoads {
		streams[l.slot] = int32(i)
	}
	written := map[int32]bool{}
	for _, in := range code {
		written[in.dst] = true
	}
	c := &chain{history: p.history.scalars, keeps: p.keeps[0].scalars}
	last := int32(-1)
	overwritten := map[int32]bool{} // by the ops so far
	operand := func(place int32) (linkOperand, bool) {
		if s, ok := streams[place]; ok {
			return linkOperand{s, place}, !overwritten[place]
		}
		return linkOperand{-1, place}, !written[place] && place != c.carry
	}
	for k := range code {
		in := code[k]
		if k == 0 {
			// The carried number is what the first op reads and the last writes.
			end := code[len(code)-1].dst
			if len(p.nextScalars) > 0 {
				end = p.nextScalars[0].dst
			}
			last, c.carry = end, end
		}
		l, ok := makeLink(in, last, operand)
		if !ok {
			return nil
		}
		c.links = append(c.links, l)
		last = in.dst
		overwritten[last] = true
	}
	switch {
	case len(p.nextScalars) > 1 || len(p.nextScalars) == 1 && p.nextScalars[0].a != last:
		return nil
	case len(p.nextScalars) == 0 && last != c.carry:
		return nil
	}
	for _, s := range c.history {
		if s.slot != c.carry {
			return nil
		}
	}
	for _, s := range c.keeps {
		if s.slot != last {
			return nil
		}
	}
	switch ls := c.links; {
	case len(ls) == 1 && ls[0].op == linkMulAdd:
		c.kind = linearChain
	case len(ls) == 2 && ls[0].op == linkAdd && ls[1].op == linkMul:
		c.kind = shiftedChain
	case len(ls) == 3 && ls[0].op == linkSquare && ls[1].op == linkMulAdd && ls[2].op == linkSqrt:
		c.kind = sqrtChain
	}
	return c
}

// makeLink makes a link of an instruction that reads the number at place n once
// (a square: as often as it likes).
func makeLink(in instr, n int32, operand func(int32) (linkOperand, bool)) (l link, ok bool) {
	one := func(op linkOp, place int32) (link, bool) {
		x, ok := operand(place)
		return link{op, x, noOperand}, ok && place != n
	}
	switch op := in.op; op {
	case ad.OpNeg, ad.OpSquare, ad.OpSqrt, ad.OpInv, ad.OpExp, ad.OpLog:
		kinds := map[ad.OpCode]linkOp{ad.OpNeg: linkNeg, ad.OpSquare: linkSquare, ad.OpSqrt: linkSqrt, ad.OpInv: linkInv, ad.OpExp: linkExp, ad.OpLog: linkLog}
		return link{kinds[op], noOperand, noOperand}, in.a == n
	case ad.OpAdd, ad.OpMul:
		kind := linkAdd
		if op == ad.OpMul {
			kind = linkMul
		}
		if in.a == n {
			return one(kind, in.b)
		}
		l, ok = one(kind, in.a)
		return l, ok && in.b == n
	case ad.OpSub, ad.OpDiv:
		kinds := [2]linkOp{linkSub, linkSubFrom}
		if op == ad.OpDiv {
			kinds = [2]linkOp{linkDiv, linkDivInto}
		}
		if in.a == n {
			return one(kinds[0], in.b)
		}
		l, ok = one(kinds[1], in.a)
		return l, ok && in.b == n
	case ops.MulAdd, ops.MulSub, ops.SubMul:
		a, b := in.a, in.b
		if b == n {
			a, b = b, a
		}
		switch {
		case a == n && b != n && in.c != n:
			kind := map[ad.OpCode]linkOp{ops.MulAdd: linkMulAdd, ops.MulSub: linkMulSub, ops.SubMul: linkSubMul}[op]
			x, ok1 := operand(b)
			y, ok2 := operand(in.c)
			return link{kind, x, y}, ok1 && ok2
		case in.c == n && a != n && b != n && op == ops.MulAdd:
			x, ok1 := operand(a)
			y, ok2 := operand(b)
			return link{linkAddMul, x, y}, ok1 && ok2
		}
	}
	return l, false
}

// walkOperand is an operand of a link as the loop runs: a slice and a position
// that moves by step.
type walkOperand struct {
	data      []float64
	pos, step int
}

// runChain runs the steps of a chain for one lane.
func (m *Machine) runChain(p *regionPlan, c *chain, lane int) {
	at := func(s *scalarMove) walkOperand {
		w := walkOperand{m.views[s.view], s.off + lane*s.lane, s.step}
		if p.reverse {
			w.pos += (p.steps - 1) * s.step
			w.step = -s.step
		}
		return w
	}
	operand := func(o linkOperand) walkOperand {
		if o.stream >= 0 {
			return at(&p.stepLoads[o.stream])
		}
		return walkOperand{m.mem[o.place : o.place+1], 0, 0}
	}
	n := m.mem[c.carry]
	if c.kind != anyChain && len(c.history) <= 1 && len(c.keeps) <= 1 {
		var history, keeps walkOperand
		if len(c.history) > 0 {
			history = at(&c.history[0])
		} else {
			history = walkOperand{m.work[:1], 0, 0}
		}
		if len(c.keeps) > 0 {
			keeps = at(&c.keeps[0])
		} else {
			keeps = walkOperand{m.work[1:2], 0, 0}
		}
		switch ls := c.links; c.kind {
		case linearChain:
			n = linearRecurrence(n, p.steps, operand(ls[0].x), operand(ls[0].y), history, keeps)
		case shiftedChain:
			n = shiftedRecurrence(n, p.steps, operand(ls[0].x), operand(ls[1].x), history, keeps)
		default:
			n = sqrtRecurrence(n, p.steps, operand(ls[1].x), operand(ls[1].y), history, keeps)
		}
		m.mem[c.carry] = n
		return
	}
	ws := m.operands[:0]
	for _, l := range c.links {
		ws = append(ws, operand(l.x), operand(l.y))
	}
	stores := len(ws)
	for i := range c.history {
		ws = append(ws, at(&c.history[i]))
	}
	keeps := len(ws)
	for i := range c.keeps {
		ws = append(ws, at(&c.keeps[i]))
	}
	m.mem[c.carry] = chainLoop(n, p.steps, c.links, ws[:stores], ws[stores:keeps], ws[keeps:])
}

func linearRecurrence(n float64, steps int, x, y, history, keeps walkOperand) float64 {
	for range steps {
		history.data[history.pos] = n
		n = float64(n*x.data[x.pos]) + y.data[y.pos]
		keeps.data[keeps.pos] = n
		history.pos += history.step
		keeps.pos += keeps.step
		x.pos += x.step
		y.pos += y.step
	}
	return n
}

func shiftedRecurrence(n float64, steps int, x, y, history, keeps walkOperand) float64 {
	for range steps {
		history.data[history.pos] = n
		n = (n + x.data[x.pos]) * y.data[y.pos]
		keeps.data[keeps.pos] = n
		history.pos += history.step
		keeps.pos += keeps.step
		x.pos += x.step
		y.pos += y.step
	}
	return n
}

// sqrtRecurrence carries the square, so that steps wait for a product and a sum
// and not for the root.
func sqrtRecurrence(n float64, steps int, x, y, history, keeps walkOperand) float64 {
	v := n * n
	for range steps {
		history.data[history.pos] = n
		v = float64(v*x.data[x.pos]) + y.data[y.pos]
		if v < 0 {
			v = math.NaN() // as its root is
		}
		n = math.Sqrt(v)
		keeps.data[keeps.pos] = n
		history.pos += history.step
		keeps.pos += keeps.step
		x.pos += x.step
		y.pos += y.step
	}
	return n
}

// chainLoop runs any chain; ws holds two operands for each link.
func chainLoop(n float64, steps int, links []link, ws, history, keeps []walkOperand) float64 {
	for range steps {
		for i := range history {
			h := &history[i]
			h.data[h.pos] = n
			h.pos += h.step
		}
		for i := range links {
			x, y := &ws[2*i], &ws[2*i+1]
			switch links[i].op {
			case linkAdd:
				n += x.data[x.pos]
			case linkSub:
				n -= x.data[x.pos]
			case linkSubFrom:
				n = x.data[x.pos] - n
			case linkMul:
				n *= x.data[x.pos]
			case linkDiv:
				n /= x.data[x.pos]
			case linkDivInto:
				n = x.data[x.pos] / n
			case linkMulAdd:
				n = float64(n*x.data[x.pos]) + y.data[y.pos]
			case linkMulSub:
				n = float64(n*x.data[x.pos]) - y.data[y.pos]
			case linkSubMul:
				n = y.data[y.pos] - float64(n*x.data[x.pos])
			case linkAddMul:
				n = float64(x.data[x.pos]*y.data[y.pos]) + n
			case linkNeg:
				n = -n
			case linkSquare:
				n *= n
			case linkSqrt:
				n = math.Sqrt(n)
			case linkInv:
				n = 1 / n
			case linkExp: // as strips, scalar code and machine code do
				n = ops.Of(ad.OpExp).F1(n)
			case linkLog:
				n = ops.Of(ad.OpLog).F1(n)
			}
			x.pos += x.step
			y.pos += y.step
		}
		for i := range keeps {
			k := &keeps[i]
			k.data[k.pos] = n
			k.pos += k.step
		}
	}
	return n
}
