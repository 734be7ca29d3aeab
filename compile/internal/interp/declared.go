package interp

import (
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// MaxElements bounds the size of one variable: compiled code holds positions of elements in 32
// bits.
const MaxElements = 1 << 28

// sizes evaluates the sizes of a declared variable.
func (s *scope) sizes(v *ir.Var) func(f *frame) []int {
	num := make([]func(*frame) int64, len(v.Sizes))
	for i, e := range v.Sizes {
		num[i] = s.expr(e).int
	}
	return func(f *frame) []int {
		shape, wrong := Shape(v, func(k int) int64 { return num[k](f) })
		if wrong != nil {
			f.m.blame(*wrong).throw()
		}
		f.m.reserve(v.Span, count(shape))
		return shape
	}
}

// Shape returns the shape of a declared variable, computed from its sizes. wrong describes an error
// in the sizes, nil if there is none; diag.TooLarge is an error however the declaration is
// evaluated.
func Shape(v *ir.Var, size func(k int) int64) (shape []int, wrong *diag.Diagnostic) {
	say := func(k int, code diag.Code, detail, format string, args ...any) ([]int, *diag.Diagnostic) {
		d := diag.Errorf(code, v.Sizes[k].Span(), format, args...)
		d.Detail = detail
		return nil, &d
	}
	shape = make([]int, len(v.Sizes))
	total, large := int64(1), -1
	for k := range shape {
		n := size(k)
		if n < 0 {
			return say(k, diag.NegativeSize, "Sizes must be zero or more.", "the size of `%s` is %d", v.Name, n)
		}
		if total *= min(n, MaxElements+1); total > MaxElements {
			total = MaxElements + 1
			if large < 0 {
				large = k
			}
		}
		shape[k] = int(n)
	}
	if total > MaxElements {
		return say(large, diag.TooLarge, "Check the size here: no limit can be raised beyond this.", "`%s` would have more than %d elements", v.Name, MaxElements)
	}
	if kind := v.Constraint.Kind; kind.Structured() {
		if wrong := kind.WrongSize(shape[v.Type.Dims:]); wrong != "" {
			return say(v.Type.Dims, diag.NegativeSize, fmt.Sprintf("A %s %s.", kind, wrong),
				"`%s` is declared as a %s with %s", v.Name, kind, SizeText(shape[v.Type.Dims:]))
		}
	}
	return shape, nil
}

// rows evaluates the sizes of the rows of a ragged variable; nil for other variables.
func (s *scope) rows(v *ir.Var) func(f *frame) *ir.Rows {
	if v.Ragged == nil {
		return func(*frame) *ir.Rows { return nil }
	}
	var sizes []func(*frame) *array
	for _, e := range v.Ragged.Sizes {
		sizes = append(sizes, s.expr(e).array)
	}
	return func(f *frame) *ir.Rows {
		rows, wrong := Rows(v, func(k int) ([]int64, []int) {
			a := sizes[k](f)
			return a.ints, a.shape
		})
		if wrong != nil {
			f.m.blame(*wrong).throw()
		}
		return rows
	}
}

// sparse evaluates the sizes of a sparse matrix in the data; nil for other variables.
func (s *scope) sparse(v *ir.Var) func(f *frame) []int {
	if v.Sparse == nil || v.Sparse.Count == nil {
		return func(*frame) []int { return nil }
	}
	rows, columns := s.expr(v.Sparse.Rows).int, s.expr(v.Sparse.Columns).int
	return func(f *frame) []int { return []int{int(rows(f)), int(columns(f))} }
}

// checkedSizes is sizes; it also checks the sizes of rows.
func (s *scope) checkedSizes(v *ir.Var) func(f *frame) []int {
	sizes := s.sizes(v)
	if v.Ragged == nil {
		return sizes
	}
	rows := s.rows(v)
	return func(f *frame) []int {
		rows(f)
		return sizes(f)
	}
}

// Rows returns the rows of a ragged variable, computed from its declared sizes. wrong describes an
// error in the sizes, nil if there is none.
func Rows(v *ir.Var, size func(k int) (ints []int64, shape []int)) (rows *ir.Rows, wrong *diag.Diagnostic) {
	r := v.Ragged
	at := r.Sizes[r.At].Span()
	sizes, shape := size(r.At)
	rows = &ir.Rows{Outer: shape, At: r.At - r.Outer}
	for k := range r.Outer {
		if n, _ := size(k); n[0] != int64(shape[k]) {
			d := diag.Errorf(diag.DataSize, at, "`%s` is declared with %d rows, but %s gives the sizes of %d", v.Name, n[0], at.Text(), shape[k])
			d.Fix = "declare as many rows as there are sizes"
			return nil, &d
		}
	}
	for i, n := range sizes {
		if n < 0 {
			d := diag.Errorf(diag.NegativeSize, at, "the size of row %d of `%s` is %d", i+1, v.Name, n)
			d.Detail = "Sizes must be zero or more."
			return nil, &d
		}
		rows.Sizes = append(rows.Sizes, int(n))
	}
	return rows, nil
}

// violation is a number outside the declared bounds of its variable, or an item (a vector or
// matrix) that is not of its declared type.
type violation struct {
	element  int // the first number of an item
	shape    []int
	x, bound float64
	relation string // "at least", "at most"
	wrong    string // for an item: what is wrong with it
}

// check returns the function that finds a violation; nil for a variable declared without bounds.
func (s *scope) check(v *ir.Var) func(f *frame) *violation {
	value, kind := get(v), v.Constraint.Kind
	switch {
	case kind == types.Unconstrained || kind == types.OffsetMultiplier:
		return nil
	case kind != types.LowerUpper:
		return func(f *frame) *violation {
			a := value(f)
			item := a.shape[v.Type.Dims:]
			n := count(item)
			work := make([]float64, n)
			for k := range count(a.shape[:v.Type.Dims]) {
				if wrong := kind.Wrong(item, a.reals[k*n:(k+1)*n], work, types.Tolerance); wrong != "" {
					return &violation{element: k * n, shape: a.shape, wrong: wrong}
				}
			}
			return nil
		}
	}
	var limits [2]func(*frame) *array
	for k, e := range []ir.Expr{v.Constraint.Lower, v.Constraint.Upper} {
		if e != nil {
			limits[k] = s.expr(e).array
		}
	}
	return func(f *frame) *violation {
		a := value(f)
		xs := a.floats()
		for k, limit := range limits {
			if limit == nil {
				continue
			}
			bounds := limit(f).floats()
			for i, x := range xs {
				if v.Missing && (math.IsNaN(x) || a.isInt() && a.ints[i] == MissingInt) {
					continue // this element is a parameter
				}
				bound := bounds[0]
				if len(bounds) > 1 {
					bound = bounds[i]
				}
				switch { // NaN is outside all bounds
				case k == 0 && !(x >= bound):
					return &violation{element: i, shape: a.shape, x: x, bound: bound, relation: "at least"}
				case k == 1 && !(x <= bound):
					return &violation{element: i, shape: a.shape, x: x, bound: bound, relation: "at most"}
				}
			}
		}
		return nil
	}
}

// item returns the name of the wrong vector or matrix.
func (w *violation) item(v *ir.Var) string {
	return ItemName(v, w.shape, w.element/max(count(w.shape[v.Type.Dims:]), 1))
}

// checkAll checks the variables of a block at its end.
func (s *scope) checkAll(vars []*ir.Var) stmt {
	var list []stmt
	for _, v := range vars {
		find := s.check(v)
		if find == nil {
			continue
		}
		list = append(list, does(func(f *frame) {
			w := find(f)
			if w == nil {
				return
			}
			name, is, fix := elementName(v.Name, w.shape, w.element), "", "correct the computation in transformed data, or the declared bounds"
			if w.wrong != "" {
				name, is = w.item(v), " must be "+v.Constraint.Kind.Text()+", but "+w.wrong
				fix = "correct the computation in transformed data, or the declared type"
			} else {
				is = " is " + ad.FormatNumber(w.x) + ", but must be " + w.relation + " " + ad.FormatNumber(w.bound)
			}
			e := f.m.fail(v.Span, diag.OutsideBounds, "`%s`%s", name, is).fix("%s", fix)
			e.Err = &ad.RejectError{Message: name + is}
			e.throw()
		}))
	}
	return func(f *frame) signal {
		for _, x := range list {
			x(f)
		}
		return goesOn
	}
}
