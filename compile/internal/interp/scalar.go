package interp

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// program is a library function of scalars as a list of operations, in order: the graph that its
// declaration builds for unknown numbers. Most such functions have one operation; densities have
// dozens.
type program struct {
	graph *ad.Graph
	steps []step
	args  []int // index of the value of each argument; -1: a literal
	size  int   // number of values, including arguments
	out   int
	whole bool // the value is an int
}

// program returns the program of a call; nil if the function has arguments other than numbers, or
// needs their values when it is built.
func (s *scope) program(e *ir.Call, fn *stdlib.Func, args []expr) *program {
	g := ad.NewGraph()
	c := &call{e: e, fn: fn, leaves: e.Ty.Leaves()}
	sargs := make([]stdlib.Arg, len(args))
	p := &program{graph: g, args: make([]int, len(args)), whole: e.Ty.Kind == types.Int}
	for i, a := range args {
		sargs[i] = stdlib.Arg{Type: e.Args[i].Type(), Param: a.levels[0] == ir.Param}
		if a.number != nil {
			sargs[i].Ref = g.Const(*a.number)
			if sargs[i].Type.Kind == types.Int {
				sargs[i].Ints = []int64{int64(*a.number)}
			}
			p.args[i] = -1
		} else {
			sargs[i].Ref = g.Input(ad.Scalar)
			p.args[i] = int(sargs[i].Ref)
		}
	}
	b := &stdlib.Builder{G: g, Name: e.Name, Propto: e.Propto && s.propto, Edition: s.opts.Transforms}
	adjusts := false
	if s.opts.Jacobian {
		b.Adjust = func(ad.Ref) { adjusts = true }
	}
	outs, ok := attempt(func() []ad.Ref { return c.build(b, sargs) })
	if !ok || adjusts {
		return nil
	}
	g.Outputs = outs
	if !p.plan() {
		return nil
	}
	return p
}

// plan lists the operations that the graph's output and effects need; false if some are not
// operations on scalars.
func (p *program) plan() bool {
	g := p.graph
	out := g.Outputs[0]
	p.size, p.out = len(g.Nodes), int(out)
	steps, ok := stepsOf(g, func(n *ad.Node) bool {
		if !n.Type.Equal(ad.Scalar) {
			return false
		}
		switch n.Op.Row().Class {
		case ad.Leaf, ad.Elementwise, ad.Effect:
			return true
		case ad.Random:
			_, ok := n.Attr.(*ad.RandomDraw)
			return ok
		}
		return false
	})
	p.steps = steps
	return ok && g.Type(out).Equal(ad.Scalar)
}

// expr returns the expression that calls the program.
func (p *program) expr(e *ir.Call, args []expr, level ir.Level) expr {
	values := make([]func(*frame) float64, len(args))
	for i, a := range args {
		values[i] = a.real
		if a.int != nil {
			values[i] = number(a)
		}
	}
	run := p.single(e.At, args, values)
	if run == nil {
		run = func(f *frame) float64 { return p.run(f, e.At, values) }
	}
	if p.whole {
		return ofInt(func(f *frame) int64 { return int64(run(f)) })
	}
	return ofReal(level, run)
}

// number converts an int to a real.
func number(a expr) func(f *frame) float64 {
	return func(f *frame) float64 {
		n := a.int(f)
		f.ref = none
		return float64(n)
	}
}

// single returns the function of a program with one operation, whose operands are literals and all
// of the arguments, each once and in order; nil for other programs.
func (p *program) single(at source.Span, args []expr, values []func(*frame) float64) func(f *frame) float64 {
	st := p.steps[max(0, len(p.steps)-1):]
	if len(st) == 0 || st[0].row.Class != ad.Elementwise || st[0].to != p.out {
		return nil
	}
	last := st[0]
	var operand [3]func(*frame) float64
	next := 0 // arguments are evaluated in order
	for k, place := range last.more {
		if v, ok := p.graph.Value(ad.Ref(place)); ok {
			x := v[0]
			operand[k] = func(f *frame) float64 {
				f.ref = none
				return x
			}
			continue
		}
		for next < len(p.args) && p.args[next] < 0 {
			next++
		}
		if next == len(p.args) || p.args[next] != place {
			return nil
		}
		operand[k] = values[next]
		next++
	}
	for _, other := range p.steps[:len(p.steps)-1] {
		if other.node.Op != ad.OpConst {
			return nil
		}
	}
	for ; next < len(p.args); next++ {
		if p.args[next] >= 0 {
			return nil // an argument that is no operand must be evaluated too
		}
	}
	record := func(f *frame, args ...ad.Ref) {
		if p.whole {
			f.ref = none
			return
		}
		f.m.rec.begin(at)
		f.ref = f.m.rec.g.Do(last.node.Op, last.node.Attr, args...)
	}
	x, y, z := operand[0], operand[1], operand[2]
	switch row := last.row; {
	case row.F1 != nil:
		fn := row.F1
		return func(f *frame) float64 {
			a := x(f)
			if f.ref != none {
				record(f, f.ref)
			}
			return fn(a)
		}
	case row.F2 != nil:
		return binary(last.node.Op, row.F2, x, y, record)
	}
	fn := last.row.F3
	return func(f *frame) float64 {
		a := x(f)
		ra := f.ref
		b := y(f)
		rb := f.ref
		c := z(f)
		if rc := f.ref; ra != none || rb != none || rc != none {
			record(f, f.m.operand(a, ra), f.m.operand(b, rb), f.m.operand(c, rc))
		}
		return fn(a, b, c)
	}
}

// binary returns an operation on two numbers; arithmetic operations need no call.
func binary(op ad.OpCode, fn func(x, y float64) float64, x, y func(*frame) float64, record func(f *frame, args ...ad.Ref)) func(f *frame) float64 {
	operands := func(f *frame) (a, b float64) {
		a = x(f)
		ra := f.ref
		b = y(f)
		if rb := f.ref; ra != none || rb != none {
			record(f, f.m.operand(a, ra), f.m.operand(b, rb))
		}
		return a, b
	}
	switch op {
	case ad.OpAdd:
		return func(f *frame) float64 {
			a, b := operands(f)
			return a + b
		}
	case ad.OpSub:
		return func(f *frame) float64 {
			a, b := operands(f)
			return a - b
		}
	case ad.OpMul:
		return func(f *frame) float64 {
			a, b := operands(f)
			return a * b
		}
	case ad.OpDiv:
		return func(f *frame) float64 {
			a, b := operands(f)
			return a / b
		}
	}
	return func(f *frame) float64 {
		a, b := operands(f)
		return fn(a, b)
	}
}

// usualNumbers are as many as most programs that are run within each other take.
const usualNumbers = 64

// run evaluates the program. The numbers are in a part of the machine's stack, since evaluating the
// arguments may run other programs.
func (p *program) run(f *frame, at source.Span, values []func(*frame) float64) float64 {
	m := f.m
	base := len(m.numbers)
	if cap(m.numbers) == 0 {
		m.numbers, m.refs = make([]float64, 0, usualNumbers), make([]ad.Ref, 0, usualNumbers)
	}
	for range p.size {
		m.numbers, m.refs = append(m.numbers, 0), append(m.refs, none)
	}
	records := false
	for i, v := range values {
		x := v(f)
		if k := p.args[i]; k >= 0 {
			m.numbers[base+k], m.refs[base+k] = x, f.ref
			records = records || f.ref != none
		}
	}
	v := m.numbers[base:]
	for i := range p.steps {
		st := &p.steps[i]
		switch {
		case st.row.F1 != nil:
			v[st.to] = st.row.F1(v[st.args[0]])
		case st.row.F2 != nil:
			v[st.to] = st.row.F2(v[st.args[0]], v[st.args[1]])
		case st.row.F3 != nil:
			v[st.to] = st.row.F3(v[st.args[0]], v[st.args[1]], v[st.args[2]])
		case st.node.Op == ad.OpConst:
			v[st.to] = st.node.Data[0]
		case st.row.Class == ad.Effect:
			m.act(at, st, v)
		default:
			v[st.to] = m.draw(at, st, v)
		}
	}
	f.ref = none
	if records && !p.whole {
		f.ref = p.record(m, at, v, m.refs[base:])
	}
	out := v[p.out]
	m.numbers, m.refs = m.numbers[:base], m.refs[:base]
	return out
}

// record adds the program's operations to the record.
func (p *program) record(m *machine, at source.Span, v []float64, refs []ad.Ref) ad.Ref {
	m.rec.begin(at)
	var args [3]ad.Ref
	for i := range p.steps {
		st := &p.steps[i]
		if st.row.Class != ad.Elementwise {
			continue
		}
		needed := false
		for _, k := range st.more {
			needed = needed || refs[k] != none
		}
		if !needed {
			continue
		}
		for j, k := range st.more {
			args[j] = m.operand(v[k], refs[k])
		}
		if r := m.rec.g.Do(st.node.Op, st.node.Attr, args[:len(st.more)]...); !isConstant(m.rec.g, r) {
			refs[st.to] = r
		}
	}
	return refs[p.out]
}

// act carries out a side effect.
func (m *machine) act(at source.Span, st *step, v []float64) {
	if c, ok := st.node.Attr.(*ad.Check); ok && c.Set.Contains(v[st.args[0]]) {
		return
	}
	if st.node.Op == ad.OpReject && v[st.args[0]] == 0 {
		return
	}
	types, values := make([]ad.Type, len(st.more)), make([][]float64, len(st.more))
	for i, k := range st.more {
		values[i] = v[k : k+1]
	}
	if err := ad.RunEffect(st.node, types, values, m.opts.Print); err != nil {
		m.rejected(at, err)
	}
}

// draw draws a number.
func (m *machine) draw(at source.Span, st *step, v []float64) float64 {
	d := st.node.Attr.(*ad.RandomDraw)
	if m.opts.Rand == nil {
		m.rejected(at, errNoRandom(d.Name))
	}
	var args [8]float64
	list := args[:0]
	for _, k := range st.more {
		list = append(list, v[k])
	}
	return d.Draw(m.opts.Rand, list)
}

// errNoRandom is the error of a draw without a random generator.
type errNoRandom string

func (e errNoRandom) Error() string { return string(e) + "_rng needs a random number generator" }
