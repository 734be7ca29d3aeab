package interp

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// allSingle reports whether indices select one number.
func allSingle(t types.Type, is []ir.Index) bool {
	return len(is) == t.Rank() && !slices.ContainsFunc(is, func(i ir.Index) bool { return i.Kind != ir.IndexSingle })
}

// outOfRange ends the evaluation because index i, counted from 1, is outside a dimension with size
// elements.
func (m *machine) outOfRange(at source.Span, i int64, size, dimension int, what string) {
	m.blame(IndexRange(at, i, size, dimension, what)).throw()
}

// IndexRange returns the diagnostic of an index i, counted from 1, outside a dimension with size
// elements.
func IndexRange(at source.Span, i int64, size, dimension int, what string) diag.Diagnostic {
	d := OutOfRange(at, fmt.Sprintf("index %d is out of range", i))
	d.Detail = fmt.Sprintf("%s has %d element%s in dimension %d; indices count from 1.", what, size, plural(size), dimension)
	if i == 0 {
		d.Fix = "add 1 to indices that count from 0, in the data or here"
	}
	return d
}

// OutOfRange returns the diagnostic of an index that is out of range.
func OutOfRange(at source.Span, text string) diag.Diagnostic {
	d := diag.Errorf(diag.IndexRange, at, "%s", text)
	d.Fix = "correct the index, or the size in the declaration; both may come from the data"
	return d
}

// position returns the position of one number of a variable.
func (s *scope) position(v *ir.Var, name string, is []ir.Index) func(f *frame) (*array, int) {
	id, what := v.ID, "`"+name+"`"
	at := make([]source.Span, len(is))
	num := make([]func(*frame) int64, len(is))
	for k, i := range is {
		at[k], num[k] = i.At, s.expr(i.A).int
	}
	switch len(is) {
	case 1:
		first := num[0]
		return func(f *frame) (*array, int) {
			i := first(f)
			a := f.arrays[id]
			if n := a.shape[0]; uint64(i-1) >= uint64(n) {
				f.m.outOfRange(at[0], i, n, 1, what)
			}
			return a, int(i - 1)
		}
	case 2:
		first, second := num[0], num[1]
		return func(f *frame) (*array, int) {
			i, j := first(f), second(f)
			a := f.arrays[id]
			if n := a.shape[0]; uint64(i-1) >= uint64(n) {
				f.m.outOfRange(at[0], i, n, 1, what)
			}
			n := a.shape[1]
			if uint64(j-1) >= uint64(n) {
				f.m.outOfRange(at[1], j, n, 2, what)
			}
			return a, int(i-1)*n + int(j-1)
		}
	}
	return func(f *frame) (*array, int) {
		p := 0
		for k, number := range num {
			i := number(f)
			n := f.arrays[id].shape[k]
			if uint64(i-1) >= uint64(n) {
				f.m.outOfRange(at[k], i, n, k+1, what)
			}
			p = p*n + int(i-1)
		}
		return f.arrays[id], p
	}
}

// pick is an evaluated index.
type pick struct {
	kind ir.IndexKind
	ends bool // of ir.Index
	free bool // not checked
	part ir.Part
	at   source.Span
	list []int64 // IndexSingle: one index; IndexMulti: all
	lo   int64   // a range
	hi   int64
	last bool // hi is the size of the dimension
}

// selection evaluates indices, once for all leaves of a value.
func (s *scope) selection(is []ir.Index) func(f *frame) []pick {
	type index struct {
		pick
		a, b, after expr
	}
	list := make([]index, len(is))
	for k, i := range is {
		list[k].pick = pick{kind: i.Kind, ends: i.Ends, part: i.Part, at: i.At, lo: 1, last: i.B == nil}
		if i.A != nil {
			list[k].a = s.expr(i.A)
		}
		if i.B != nil {
			list[k].b = s.expr(i.B)
		}
		if i.After != nil {
			list[k].after = s.expr(i.After)
		}
	}
	return func(f *frame) []pick {
		out := make([]pick, len(list))
		for k := range list {
			i := &list[k]
			p := i.pick
			p.free = i.after.array != nil && len(i.after.array(f).ints) == 0
			switch p.kind {
			case ir.IndexSingle, ir.IndexMulti:
				p.list = i.a.array(f).ints
			case ir.IndexRange:
				if i.a.int != nil {
					p.lo = i.a.int(f)
				}
				if i.b.int != nil {
					p.hi = i.b.int(f)
				}
			}
			out[k] = p
		}
		return out
	}
}

// places has the positions of selected elements, and the shape of the selection.
type places struct {
	shape []int
	start int
	list  []int // nil: consecutive, from start on
}

func (p *places) at(k int) int {
	if p.list == nil {
		return p.start + k
	}
	return p.list[k]
}

// pick copies selected elements.
func (m *machine) pick(a *array, p places) *array {
	if p.list == nil {
		return m.part(a, p.start, count(p.shape), p.shape)
	}
	return m.gather(a, p.list, p.shape)
}

// places returns the positions of the elements that picks select from a value of that shape.
func (m *machine) places(shape []int, picks []pick, what string) places {
	out := places{}
	// at has the positions selected so far, in units of the dimensions visited. nil: only start,
	// followed by all of the dimensions since, as long as the selection is contiguous.
	var at []int
	whole := true // all elements were selected since the first dimension of which not a single element is selected
	n := 1
	nothing := false // an index selects nothing; later ones are not checked
	inRange := func(p pick, i int64, k int) {
		if !nothing && !p.free && (i < 1 || i > int64(shape[k])) {
			m.outOfRange(p.at, i, shape[k], k+1, what)
		}
	}
	var whence source.Span // the place of the last index that is written
	for k, size := range shape {
		p := pick{kind: ir.IndexAll}
		if k < len(picks) {
			p = picks[k]
			whence = p.at
		}
		switch p.kind {
		case ir.IndexSingle:
			i := p.list[0]
			inRange(p, i, k)
			if at == nil && n == 1 && len(out.shape) == 0 {
				out.start = out.start*size + int(i-1)
				continue
			}
			at = spread(at, out.start, n)
			for j := range at {
				at[j] = at[j]*size + int(i-1)
			}
			continue
		case ir.IndexRange:
			if p.last {
				p.hi = int64(size)
			}
			if wrong, is := p.part.Wrong(p.lo, p.hi, size); is && !nothing && !p.free {
				m.outOfRange(p.at, wrong, size, k+1, what)
			}
			length := int(max(0, p.hi-p.lo+1))
			if length > 0 {
				inRange(p, p.lo, k)
				inRange(p, p.hi, k)
			}
			out.shape = append(out.shape, length)
			nothing = nothing || p.ends && length == 0
			if at == nil && n == 1 && whole && (len(out.shape) == 1 || length == size) {
				out.start = out.start*size + max(0, int(p.lo-1))
				n, whole = length, length == size
				if length == 0 {
					out.start = 0
				}
				continue
			}
			if at == nil && length == size {
				out.start, n = out.start*size, n*size
				continue
			}
			m.reserve(p.at, count([]int{max(len(at), n), length, 2}))
			at = cross(spread(at, out.start, n), size, length, func(j int) int { return int(p.lo-1) + j })
		case ir.IndexMulti:
			for _, i := range p.list {
				inRange(p, i, k)
			}
			out.shape = append(out.shape, len(p.list))
			nothing = nothing || p.ends && len(p.list) == 0
			m.reserve(p.at, count([]int{max(len(at), n), len(p.list), 2}))
			at = cross(spread(at, out.start, n), size, len(p.list), func(j int) int { return int(p.list[j] - 1) })
		case ir.IndexAll:
			out.shape = append(out.shape, size)
			nothing = nothing || p.ends && size == 0
			if at == nil {
				out.start, n = out.start*size, n*size
				continue
			}
			m.reserve(whence, count([]int{len(at), size, 2}))
			at = cross(at, size, size, func(j int) int { return j })
		}
	}
	out.list = at
	return out
}

// spread returns the list of positions: at, or n consecutive ones from start on.
func spread(at []int, start, n int) []int {
	if at != nil {
		return at
	}
	at = make([]int, n)
	for j := range at {
		at[j] = start + j
	}
	return at
}

// cross extends positions by one dimension with size elements, n of which are selected: pick
// returns their indices.
func cross(at []int, size, n int, pick func(j int) int) []int {
	out := make([]int, 0, len(at)*n)
	for _, a := range at {
		for j := range n {
			out = append(out, a*size+pick(j))
		}
	}
	return out
}

// index reads elements of a variable or of any other value.
func (s *scope) index(e *ir.IndexExpr) expr {
	if ref, ok := e.X.(*ir.VarRef); ok {
		level := s.levels[ref.Var.ID]
		if allSingle(ref.Var.Type, e.Indices) {
			position := s.position(ref.Var, ref.Name(), e.Indices)
			if ref.Var.Type.Kind == types.Int {
				return ofInt(func(f *frame) int64 {
					a, p := position(f)
					return a.ints[p]
				})
			}
			return ofReal(level, func(f *frame) float64 {
				a, p := position(f)
				f.ref = none
				if a.rec != nil {
					f.ref = f.m.refAt(a, p)
				}
				return a.reals[p]
			})
		}
		picked, id, what := s.selection(e.Indices), ref.Var.ID, "`"+ref.Name()+"`"
		return typed(e.Ty, []ir.Level{level}, true, func(f *frame) *array {
			picks := picked(f)
			a := f.arrays[id]
			return f.m.pick(a, f.m.places(a.shape, picks, what))
		})
	}
	x, picked := s.expr(e.X), s.selection(e.Indices)
	const what = "this value"
	if x.leaves != nil {
		read := func(f *frame) []*array {
			leaves, picks := x.leaves(f), picked(f)
			out := make([]*array, len(leaves))
			for k, a := range leaves {
				out[k] = f.m.pick(a, f.m.places(a.shape, picks, what))
			}
			return out
		}
		return ofLeaves(x.levels, true, read)
	}
	return typed(e.Ty, x.levels, true, func(f *frame) *array {
		a := x.array(f)
		return f.m.pick(a, f.m.places(a.shape, picked(f), what))
	})
}
