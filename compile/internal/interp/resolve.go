package interp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// resolver converts a program's statements and expressions into functions that run on frames. The
// result is never changed and may be shared.
type resolver struct {
	waiting   []func() // functions that are still to be resolved
	resolving bool     // one is
	prog      *ir.Program
	opts      *Options
	calls     map[string]*function
}

// function is a user function for given autodiff levels of its arguments. Stan, too, compiles a
// function once for each combination of levels.
type function struct {
	of   *ir.Function
	id   int
	body stmt
}

// scope is the context in which names and levels are looked up: the program's blocks, or one
// function.
type scope struct {
	*resolver
	fn     *function  // nil in blocks
	levels []ir.Level // of variables
	local  ir.Level   // in a function: level of its local reals
	depth  int        // nesting depth of the statement or expression being resolved
	propto bool       // whether `~` and _lupdf drop terms
}

func newResolver(prog *ir.Program, o *Options) *resolver {
	return &resolver{prog: prog, opts: o, calls: map[string]*function{}}
}

// blocks returns the scope of the program's blocks.
func (r *resolver) blocks(propto bool) *scope {
	s := &scope{resolver: r, levels: make([]ir.Level, r.prog.NumVars), propto: propto}
	for _, v := range slices.Concat(r.prog.Data, r.prog.TransformedDataVars, r.prog.Parameters) {
		s.levels[v.ID] = v.Level
	}
	return s
}

// function resolves a user function for arguments of these levels.
func (s *scope) function(of *ir.Function, levels []ir.Level, propto bool) *function {
	key := fmt.Sprintf("%p %v %v", of, levels, propto)
	if fn, ok := s.calls[key]; ok {
		return fn
	}
	fn := &function{of: of, id: len(s.calls)}
	s.calls[key] = fn
	inner := &scope{resolver: s.resolver, fn: fn, levels: make([]ir.Level, of.NumVars), propto: propto}
	for i, p := range of.Params {
		inner.levels[p.ID] = levels[i]
		inner.local = max(inner.local, levels[i])
	}
	// The bodies are resolved one after another, so that a long chain of functions needs no more of
	// the stack than the deepest of them.
	s.waiting = append(s.waiting, func() { fn.body = inner.block(of.Body.Stmts) })
	if s.resolving {
		return fn
	}
	s.resolving = true
	defer func() { s.resolving = false }()
	for len(s.waiting) > 0 {
		resolve := s.waiting[0]
		s.waiting = s.waiting[1:]
		resolve()
	}
	return fn
}

// declaredLevel returns the level of a variable that a statement declares: the declared level, or
// in a function the level of the arguments of the call.
func (s *scope) declaredLevel(v *ir.Var) ir.Level {
	if s.fn != nil && v.Type.Kind != types.Int {
		return s.local
	}
	return v.Level
}

// expr is a resolved expression. Exactly one of int, real, array and leaves is the main form,
// depending on its type. array is also set for all other simple types.
type expr struct {
	levels []ir.Level // autodiff levels of its leaves
	int    func(f *frame) int64
	real   func(f *frame) float64 // sets frame.ref to the node of the number
	array  func(f *frame) *array
	leaves func(f *frame) []*array // of a composite type
	fresh  bool                    // the caller of array owns its result
	number *float64                // of a literal
}

func ofInt(f func(f *frame) int64) expr {
	return expr{levels: []ir.Level{ir.Data}, int: f, fresh: true, array: func(fr *frame) *array { return intArray(f(fr)) }}
}

func ofReal(level ir.Level, f func(f *frame) float64) expr {
	return expr{levels: []ir.Level{level}, real: f, fresh: true, array: func(fr *frame) *array {
		x := f(fr)
		return realArray(x, fr.ref)
	}}
}

func ofArray(level ir.Level, fresh bool, f func(f *frame) *array) expr {
	return expr{levels: []ir.Level{level}, fresh: fresh, array: f}
}

func ofLeaves(levels []ir.Level, fresh bool, f func(f *frame) []*array) expr {
	return expr{levels: levels, fresh: fresh, leaves: f}
}

// typed returns the expression whose value f computes as an array, in the main form of its type.
func typed(t types.Type, levels []ir.Level, fresh bool, f func(f *frame) *array) expr {
	switch {
	case !isNumber(t):
		return ofArray(levels[0], fresh, f)
	case t.Kind == types.Int:
		return ofInt(func(fr *frame) int64 { return f(fr).ints[0] })
	}
	return ofReal(levels[0], func(fr *frame) float64 {
		a := f(fr)
		fr.ref = fr.m.refOf(a)
		return a.reals[0]
	})
}

// parts returns the function that computes the leaves of a value. A simple value is the only leaf.
func (e expr) parts() func(f *frame) []*array {
	if e.leaves != nil {
		return e.leaves
	}
	return func(f *frame) []*array { return []*array{e.array(f)} }
}

// own returns the function that computes a value that the caller may keep and change.
func (e expr) own() func(f *frame) *array {
	if e.fresh {
		return e.array
	}
	return func(f *frame) *array { return e.array(f).clone() }
}

// ownParts returns the function that computes leaves that the caller may keep and change.
func (e expr) ownParts() func(f *frame) []*array {
	parts := e.parts()
	if e.fresh {
		return parts
	}
	return func(f *frame) []*array {
		out := slices.Clone(parts(f))
		for i, a := range out {
			out[i] = a.clone()
		}
		return out
	}
}

// highest returns the levels of a value that is one of es, or contains all of them.
func highest(es []expr, leaves int) []ir.Level {
	out := make([]ir.Level, leaves)
	for _, e := range es {
		for k, l := range e.levels {
			out[k] = max(out[k], l)
		}
	}
	return out
}

// uniform returns the levels of a function's value: the highest level of the arguments, but ints
// have no derivatives.
func uniform(t types.Type, args []expr) []ir.Level {
	level := ir.Data
	for _, a := range args {
		level = max(level, slices.Max(a.levels))
	}
	var out []ir.Level
	for _, leaf := range t.Leaves() {
		if leaf.Type.Kind == types.Int {
			out = append(out, ir.Data)
		} else {
			out = append(out, level)
		}
	}
	return out
}

// settle sets the level of ints to data, and gives both parts of a complex number the same level.
func settle(t types.Type, levels []ir.Level) []ir.Level {
	out := slices.Clone(levels)
	for k, leaf := range t.Leaves() {
		switch {
		case leaf.Type.Kind == types.Int:
			out[k] = ir.Data
		case leaf.Part == types.ImagPart:
			out[k-1] = max(out[k-1], out[k])
			out[k] = out[k-1]
		}
	}
	return out
}

// addsToTarget reports whether a function adds to the log density, so that its level depends on the
// statement that calls it.
func addsToTarget(fn *ir.Function) bool { return strings.HasSuffix(fn.Name, "_lp") }

// keep stores a value in a variable of its type, which owns it from then on.
func keep(at source.Span, v *ir.Var) func(f *frame, a *array) {
	if isNumber(v.Type) {
		return set(v)
	}
	id := v.ID
	return func(f *frame, a *array) { f.keep(at, id, a) }
}

// set stores a value in a variable of its type; something else owns the value.
func set(v *ir.Var) func(f *frame, a *array) {
	id := v.ID
	switch {
	case !isNumber(v.Type):
		return func(f *frame, a *array) { f.lend(id, a) }
	case v.Type.Kind == types.Int:
		return func(f *frame, a *array) { f.ints[id] = a.ints[0] }
	}
	return func(f *frame, a *array) { f.reals[id], f.refs[id] = a.reals[0], f.m.refOf(a) }
}

// get returns the value of a variable as an array. The variable owns it.
func get(v *ir.Var) func(f *frame) *array {
	id := v.ID
	switch {
	case !isNumber(v.Type):
		return func(f *frame) *array { return f.arrays[id] }
	case v.Type.Kind == types.Int:
		return func(f *frame) *array { return intArray(f.ints[id]) }
	}
	return func(f *frame) *array { return realArray(f.reals[id], f.refs[id]) }
}

// none is the absence of a record.
const none = ad.None
