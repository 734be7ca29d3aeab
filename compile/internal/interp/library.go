package interp

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// library resolves a call of a library function.
func (s *scope) library(e *ir.Call) expr {
	fn := e.Overload.(*stdlib.Func)
	args := make([]expr, len(e.Args))
	ints, scalars := true, true
	for i, a := range e.Args {
		args[i] = s.expr(a)
		ints = ints && !a.Type().Composite() && a.Type().Kind == types.Int
		scalars = scalars && isNumber(a.Type())
	}
	levels := uniform(e.Ty, args)
	switch {
	case fn.OfShape != nil:
		return s.ofShape(e, fn, args)
	case fn.Int != nil && ints && scalars:
		return ofInt(ofInts(e.At, fn, args))
	case fn.Int != nil && ints:
		return ofArray(ir.Data, true, func(f *frame) *array {
			list := make([]*array, len(args))
			for i, a := range args {
				list[i] = a.array(f)
			}
			return f.m.eachInts(e.At, fn, list)
		})
	case scalars && isNumber(e.Ty):
		if p := s.program(e, fn, args); p != nil {
			return p.expr(e, args, levels[0])
		}
	}
	c := &call{e: e, fn: fn, leaves: e.Ty.Leaves(), propto: s.propto && e.Propto, levels: make([][]ir.Level, len(args))}
	parts := make([]func(*frame) []*array, len(args))
	waits := make([]bool, len(args)) // whether an argument must be kept while later ones are evaluated
	for i, a := range args {
		parts[i], c.levels[i] = a.leaves, a.levels
		waits[i] = a.fresh && a.int == nil && a.real == nil && i < len(args)-1
	}
	run := func(f *frame) []*array {
		list := make([]*array, 0, len(args))
		held := int64(0)
		for i, p := range parts {
			first := len(list)
			if p != nil {
				list = append(list, p(f)...)
			} else {
				list = append(list, args[i].array(f))
			}
			if waits[i] {
				held += f.m.hold(e.At, true, list[first:]...)
			}
		}
		out := f.m.library(c, list)
		f.m.budget.Return(held)
		return out
	}
	if e.Ty.Composite() {
		return ofLeaves(levels, true, run)
	}
	return typed(e.Ty, levels, true, func(f *frame) *array { return run(f)[0] })
}

// ofShape evaluates a function that depends only on the shapes of its arguments.
func (s *scope) ofShape(e *ir.Call, fn *stdlib.Func, args []expr) expr {
	shapes := func(f *frame) []int64 {
		var out [][]int
		for _, a := range args {
			for _, leaf := range a.parts()(f) {
				out = append(out, leaf.shape)
			}
		}
		return fn.OfShape(out)
	}
	if e.Ty.Dims == 0 {
		return ofInt(func(f *frame) int64 { return shapes(f)[0] })
	}
	return ofArray(ir.Data, true, func(f *frame) *array {
		ints := shapes(f)
		return &array{shape: []int{len(ints)}, ints: append([]int64{}, ints...)}
	})
}

// ofInts evaluates a function of ints.
func ofInts(at source.Span, fn *stdlib.Func, args []expr) func(f *frame) int64 {
	value := func(m *machine) int64 {
		n, err := fn.Int(m.ints[:len(args)])
		if err != nil {
			m.fail(at, diag.IntArithmetic, "%v", err).throw()
		}
		return n
	}
	const most = 4
	switch len(args) {
	case 1:
		first := args[0].int
		return func(f *frame) int64 {
			x := first(f)
			f.m.ints[0] = x
			return value(f.m)
		}
	case 2:
		first, second := args[0].int, args[1].int
		return func(f *frame) int64 {
			x, y := first(f), second(f)
			f.m.ints[0], f.m.ints[1] = x, y
			return value(f.m)
		}
	}
	return func(f *frame) int64 {
		var x [most]int64
		for i, a := range args {
			x[i] = a.int(f)
		}
		f.m.ints = x
		return value(f.m)
	}
}

// eachInts applies a function of int scalars element by element.
func (m *machine) eachInts(at source.Span, fn *stdlib.Func, args []*array) *array {
	var shape []int
	for _, a := range args {
		if len(a.shape) > 0 {
			if len(shape) > 0 && !slices.Equal(shape, a.shape) {
				m.fail(at, diag.BadCall, "%s: sizes do not match: %s and %s", fn.Name, SizeText(shape), SizeText(a.shape)).throw()
			}
			shape = a.shape
		}
	}
	out := &array{shape: shape, ints: make([]int64, count(shape))}
	list := make([][]int64, len(args))
	for i, a := range args {
		list[i] = a.ints
	}
	if err := Ints(fn, list, make([]int64, len(args)), out.ints); err != nil {
		m.fail(at, diag.IntArithmetic, "%v", err).throw()
	}
	return out
}

// Ints applies a function of int scalars element by element. Each argument has either one number or
// one number for each element. It stops at the first error. x is scratch memory with one number for
// each argument.
func Ints(fn *stdlib.Func, args [][]int64, x, out []int64) (err error) {
	for k := range out {
		for i, a := range args {
			x[i] = a[min(k, len(a)-1)]
		}
		if out[k], err = fn.Int(x); err != nil {
			out[k] = 0
			return err
		}
	}
	return nil
}

// call is a call of a function that has arguments other than scalars.
type call struct {
	e      *ir.Call
	fn     *stdlib.Func
	leaves []types.Leaf // of the result
	propto bool
	levels [][]ir.Level // of the leaves of each argument
	plans  plans
}

// library evaluates a call of a library function; args are the leaves of its arguments.
func (m *machine) library(c *call, args []*array) []*array {
	e := c.e
	leaves := c.leaves
	// Functions without derivatives are computed on constants.
	plain := !slices.ContainsFunc(leaves, func(l types.Leaf) bool { return l.Type.Kind != types.Int })
	if p := c.plan(m, args); p != nil {
		records := !plain && slices.ContainsFunc(args, func(a *array) bool { return m.refOf(a) != none })
		return m.asDeclared(e.At, leaves, p.run(m, e.At, args, records))
	}
	addends := 0
	out := m.compute(e.At, args, plain, func(g *ad.Graph, refs []ad.Ref) []ad.Ref {
		b := &stdlib.Builder{G: g, Name: e.Name, Propto: c.propto, Edition: m.opts.Transforms}
		var jacobian []ad.Ref
		if m.opts.Jacobian {
			b.Adjust = func(j ad.Ref) { jacobian = append(jacobian, j) }
		}
		outs := c.build(b, arguments(e, c.levels, args, refs))
		addends = len(jacobian)
		return append(outs, jacobian...)
	})
	for _, j := range out[len(out)-addends:] {
		m.addAll(j)
	}
	return m.asDeclared(e.At, leaves, out[:len(out)-addends])
}

// asDeclared converts results declared as ints.
func (m *machine) asDeclared(at source.Span, leaves []types.Leaf, out []*array) []*array {
	for k, leaf := range leaves {
		if leaf.Type.Kind == types.Int {
			out[k] = m.wholes(at, out[k])
		}
	}
	return out
}

// build adds the values of a call to a graph.
func (c *call) build(b *stdlib.Builder, args []stdlib.Arg) []ad.Ref {
	switch {
	case c.e.Ty.Composite():
		var params []types.Type
		for _, a := range c.e.Args {
			params = append(params, a.Type())
		}
		return slices.Clone(c.fn.OfLeaves(b, args, params, c.e.Ty))
	case c.fn.Terms != nil:
		sum := b.G.Const(0)
		for _, t := range c.fn.Terms(b, args) {
			sum = b.G.Add(sum, t)
		}
		return []ad.Ref{sum}
	}
	return []ad.Ref{c.fn.Build(b, args)}
}

// wholes converts ints that were computed as reals.
func (m *machine) wholes(at source.Span, a *array) *array {
	out := &array{shape: a.shape, ints: make([]int64, len(a.reals))}
	for i, x := range a.reals {
		n, err := types.WholeInt(x)
		if err != nil {
			m.fail(at, diag.IntArithmetic, "%v", err).throw()
		}
		out.ints[i] = n
	}
	return out
}
