package vm

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// chain is the body of a scan that carries one number by one of a few recurrences, and otherwise
// only reads streams and values that do not change. After loop distribution, most scans and their
// adjoints have this form.
//
// A step is affine in the carried number or in its square: n·a + b. Step by step, each waits for
// the product and the sum of the step before. Written out over four steps (look-ahead), n(t) =
// n(t-4)·a(t)·a(t-1)·a(t-2)·a(t-3) + (terms that do not depend on n), so that four steps wait for
// one product and one sum, and are the lanes of vectors. See ahead.
type chain struct {
	carry          int32 // slot of the carried number
	form           recurrence
	x, y, z        chainOperand
	history, keeps []scalarMove // where the number is stored, before and after each step
	sums           bool         // keeps has n + x instead of the next number
	distance       int          // from a step to the next in memory, if ahead can run it; else 0
}

// chainOperand is an operand of a recurrence: a stream (an index into the region's step loads), or
// a slot with a value that does not change.
type chainOperand struct {
	stream int32 // -1: none
	place  int32
}

// unused reports whether the form does not have the operand.
func (o chainOperand) unused() bool { return o.place < 0 }

// recurrence is a form of a chain: (n + x)·y + z without some of the operands.
type recurrence uint8

const (
	linearForm  recurrence = iota // n·y + z
	shiftedForm                   // (n + x)·y
	centredForm                   // (n + x)·y + z
	rootForm                      // the root of n²·y + z
)

// recurrences lists all recurrences, with the ops of a step. The first operand of each op is the
// result of the previous op; the others are listed in operands, by name.
var recurrences = [...]struct {
	ops      []ad.OpCode
	operands string
}{
	linearForm:  {[]ad.OpCode{ops.MulAdd}, "yz"},
	shiftedForm: {[]ad.OpCode{ad.OpAdd, ad.OpMul}, "xy"},
	centredForm: {[]ad.OpCode{ad.OpAdd, ops.MulAdd}, "xyz"},
	rootForm:    {[]ad.OpCode{ad.OpSquare, ops.MulAdd, ad.OpSqrt}, "yz"},
}

// findChain returns the body of a tight scan as a chain; nil if it is not one. Memory must be
// assigned already.
func findChain(p *regionPlan) *chain {
	if len(p.inits) != 1 || p.inits[0].n != 1 || len(p.nextScalars) > 1 || len(p.history.scalars) > 1 || len(p.keeps[0].scalars) > 1 {
		return nil
	}
	code := p.bodies[0][0].code
	for i := range recurrences {
		if c := chainOf(p, code, recurrence(i)); c != nil {
			c.distance = c.neighbours(p)
			return c
		}
	}
	return nil
}

// chainOf returns the chain with this recurrence; nil if the body is not one.
func chainOf(p *regionPlan, code []instr, form recurrence) *chain {
	row := recurrences[form]
	if len(code) != len(row.ops) {
		return nil
	}
	// The carried number is read by the first op and written by the last.
	last := code[len(code)-1].dst
	none := chainOperand{-1, -1}
	c := &chain{form: form, carry: last, x: none, z: none, history: p.history.scalars, keeps: p.keeps[0].scalars}
	if len(p.nextScalars) == 1 {
		c.carry = p.nextScalars[0].dst
		if p.nextScalars[0].a != last {
			return nil
		}
	}
	streams := map[int32]int32{} // for each slot that shows a stream, the index of that stream
	for i, l := range p.stepLoads {
		streams[l.slot] = int32(i)
	}
	// Slots written by the whole code, and by the ops so far.
	written, overwritten := map[int32]bool{}, map[int32]bool{}
	for _, in := range code {
		written[in.dst] = true
	}
	var others []chainOperand
	n := c.carry
	for k, in := range code {
		if in.op != row.ops[k] {
			return nil
		}
		places := []int32{in.a, in.b, in.c}[:ops.Of(in.op).Arity]
		// For sums and products, the operands may be in either order.
		if len(places) > 1 && places[1] == n {
			places[0], places[1] = places[1], places[0]
		}
		if places[0] != n {
			return nil
		}
		for _, place := range places[1:] {
			s, ok := streams[place]
			switch {
			case place == n, ok && overwritten[place], !ok && (written[place] || place == c.carry):
				return nil
			case !ok:
				s = -1
			}
			others = append(others, chainOperand{s, place})
		}
		n = in.dst
		overwritten[n] = true
	}
	for _, s := range c.history {
		if s.slot != c.carry {
			return nil
		}
	}
	for _, s := range c.keeps {
		c.sums = form == shiftedForm && s.slot == code[0].dst && len(c.history) == 0
		if s.slot != last && !c.sums {
			return nil
		}
	}
	for i, name := range row.operands {
		*map[rune]*chainOperand{'x': &c.x, 'y': &c.y, 'z': &c.z}[name] = others[i]
	}
	if c.sums { // each sum is the one before·y + x
		c.form, c.x, c.z = linearForm, none, c.x
	}
	return c
}

// walkOperand is an operand of a recurrence at run time: a slice and a position that moves by step.
type walkOperand struct {
	data      []float64
	pos, step int
}

// chainWalk is the operands of a chain at run time, at a step. keeps or history has no data if the
// number is not stored there.
type chainWalk struct{ x, y, z, history, keeps walkOperand }

// runChain runs the steps of a scan that is a chain, for one lane.
func (s *counted) runChain(m *Machine, p *regionPlan, lane int) {
	c := s.chain
	var w chainWalk
	stream := func(w *walkOperand, v *scalarMove) {
		w.data, w.pos, w.step = m.views[v.view], v.off+lane*v.lane, v.step
		if s.reverse {
			w.pos += (s.times - 1) * v.step
			w.step = -v.step
		}
	}
	operand := func(w *walkOperand, o chainOperand) {
		if o.stream >= 0 {
			stream(w, &p.stepLoads[o.stream])
		} else if !o.unused() {
			w.data = m.mem[o.place:]
		}
	}
	operand(&w.x, c.x)
	operand(&w.y, c.y)
	operand(&w.z, c.z)
	w.history.data, w.keeps.data = m.work, m.work[1:] // nobody reads these
	if len(c.history) > 0 {
		stream(&w.history, &c.history[0])
	}
	if len(c.keeps) > 0 {
		stream(&w.keeps, &c.keeps[0])
	}
	n, steps := m.mem[c.carry], s.times
	sums := c.sums && steps > 0
	if sums {
		n += w.z.at(0)
		w.keeps.data[w.keeps.pos] = n
		w.z.pos += w.z.step
		w.keeps.pos += w.keeps.step
		steps--
	}
	if c.distance != 0 && steps >= minAhead && (s.native != nil || c.form != rootForm) {
		var done int
		n, done = c.ahead(&w, m, s.native, n, steps)
		w.advance(done)
		steps -= done
	}
	n = c.run(&w, n, steps)
	if sums {
		n *= w.y.at(steps)
	}
	m.mem[c.carry] = n
}

// run runs a number of steps one after the other from the number n, and returns the last number.
func (c *chain) run(w *chainWalk, n float64, steps int) float64 {
	switch c.form {
	case linearForm:
		return linearRecurrence(w, n, steps)
	case shiftedForm:
		return shiftedRecurrence(w, n, steps)
	case centredForm:
		return centredRecurrence(w, n, steps)
	}
	return sqrtRecurrence(w, n, steps)
}

// at returns the element of the step that is k steps ahead.
func (w *walkOperand) at(k int) float64 { return w.data[w.pos+k*w.step] }

// advance moves all operands by a number of steps.
func (w *chainWalk) advance(steps int) {
	w.x.pos += steps * w.x.step
	w.y.pos += steps * w.y.step
	w.z.pos += steps * w.z.step
	w.history.pos += steps * w.history.step
	w.keeps.pos += steps * w.keeps.step
}

func linearRecurrence(w *chainWalk, n float64, steps int) float64 {
	y, z, history, keeps := w.y, w.z, w.history, w.keeps
	for range steps {
		history.data[history.pos] = n
		n = float64(n*y.data[y.pos]) + z.data[z.pos]
		keeps.data[keeps.pos] = n
		history.pos += history.step
		keeps.pos += keeps.step
		y.pos += y.step
		z.pos += z.step
	}
	return n
}

func shiftedRecurrence(w *chainWalk, n float64, steps int) float64 {
	x, y, history, keeps := w.x, w.y, w.history, w.keeps
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

func centredRecurrence(w *chainWalk, n float64, steps int) float64 {
	x, y, z, history, keeps := w.x, w.y, w.z, w.history, w.keeps
	for range steps {
		history.data[history.pos] = n
		n = float64((n+x.data[x.pos])*y.data[y.pos]) + z.data[z.pos]
		keeps.data[keeps.pos] = n
		history.pos += history.step
		keeps.pos += keeps.step
		x.pos += x.step
		y.pos += y.step
		z.pos += z.step
	}
	return n
}

// sqrtRecurrence carries the square of the number. A step then waits for a product and a sum only,
// because the roots are not on the path from one step to the next.
func sqrtRecurrence(w *chainWalk, n float64, steps int) float64 {
	y, z, history, keeps := w.y, w.z, w.history, w.keeps
	v := n * n
	for range steps {
		history.data[history.pos] = n
		v = float64(v*y.data[y.pos]) + z.data[z.pos]
		if v < 0 {
			v = math.NaN() // the root of a negative number
		}
		n = math.Sqrt(v)
		keeps.data[keeps.pos] = n
		history.pos += history.step
		keeps.pos += keeps.step
		y.pos += y.step
		z.pos += z.step
	}
	return n
}
