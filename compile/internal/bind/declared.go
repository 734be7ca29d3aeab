package bind

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// readVariable takes a data variable from the set, checking type, shape and
// declared bounds.
func (b *binder) readVariable(v *ir.Var, set *data.Set) {
	shape := b.sizes(v)
	d, ok := set.Get(v.Name)
	declared := typeText(v.Type, shape)
	written := shape // in the data
	if v.Part != types.NotComplex {
		declared = strings.NewReplacer("real", "complex", "vector", "complex_vector", "row_vector", "complex_row_vector", "matrix", "complex_matrix").Replace(declared)
		written = append(slices.Clone(shape), 2)
	}
	if e := set.Fault(v.Name); e != nil {
		d := e.Diagnostic()
		d.Related = append(d.Related, diag.Note{Span: v.Span, Message: "`" + v.Name + "` is declared here: " + declared})
		(&problem{d}).throw()
	}
	if !ok {
		if sizeOf(shape) == 0 { // as in Stan, an empty container need not be given
			c := b.newCell(v, v.Name, v.Type, shape)
			c.setWhole(b.unset(v.Type, shape))
			b.cells[v.ID] = c
			return
		}
		p := b.fail(v.Span, diag.DataMissing, "the data have no value for `%s`", v.Name)
		if near := diag.Nearest(v.Name, slices.Values(set.Names())); near != "" {
			p.fix("did you mean `%s`, which the data have?", near)
		} else {
			p.fix("add `%s` (%s) to the data%s", v.Name, declared, in(set.File()))
		}
		p.throw()
	}
	about := func(code diag.Code, element int, format string, args ...any) *problem {
		p := b.fail(set.Span(v.Name, element), code, format, args...)
		p.d.Related = append(p.d.Related, diag.Note{Span: v.Span, Message: "`" + v.Name + "` is declared here: " + declared})
		return p
	}
	if !sameShape(d.Shape, written) {
		advice := "check the sizes that `%s` is declared with, and the data"
		switch {
		case v.Part == types.NotComplex && len(d.Shape) == 0 && sizeOf(written) == 1:
			n := len(written)
			advice = "write `%s` in brackets, also where it has a single element: " + strings.Repeat("[", n) + plainly(d.Reals[0]) + strings.Repeat("]", n)
		case v.Part == types.NotComplex && len(written) == 0 && d.Size() == 1:
			advice = "write `%s` without brackets: " + plainly(d.Reals[0])
		case len(written) == 2 && slices.Equal(d.Shape, []int{written[1], written[0]}):
			advice = "write `%s` as a list of rows, or declare it the other way round"
		case v.Part != types.NotComplex:
			advice = "complex numbers are written [real part, imaginary part]: check the sizes that `%s` is declared with, and the data"
		}
		about(diag.DataSize, -1, "`%s` has the wrong size: %s, but is declared with %s", v.Name, sizeText(d.Shape), sizeText(written)).
			fix(advice, v.Name).throw()
	}
	if v.Part != types.NotComplex {
		d = d.Half(int(v.Part - types.RealPart))
	}
	w := value{typ: v.Type, shape: shape}
	if v.Type.Kind == types.Int {
		if !d.IsInt {
			i := d.FirstReal()
			written := ad.FormatNumber(d.Reals[i])
			if at := set.Span(v.Name, i); at.IsValid() {
				written = at.Text() // 2.0 is no 2
			}
			about(diag.DataNotInt, i, "`%s` must be an integer, but is %s", set.Path(v.Name, i), written).
				fix("write integers without a decimal point or exponent, or declare `%s` as real", v.Name).throw()
		}
		w.ints = append([]int64{}, d.Ints...)
		for i, x := range d.Ints {
			if x < math.MinInt32 || x > math.MaxInt32 {
				about(diag.DataNotInt, i, "`%s` is %d, beyond the integers of the language", set.Path(v.Name, i), x).
					fix("integers lie between -2147483648 and 2147483647; declare `%s` as real for larger numbers", v.Name).throw()
			}
		}
	} else {
		w.lvl, w.ref = b.root, b.root.g.ConstArray(ad.Type{Shape: shape}, d.Reals)
	}
	c := b.newCell(v, v.Name, v.Type, shape)
	c.setWhole(w)
	b.cells[v.ID] = c
	if v.Constraint.Kind >= types.Ordered {
		b.checkKnownItems(v, func(i int, item, wrong string) {
			about(diag.DataBounds, i, "`%s` must be %s, but %s", item, v.Constraint.Kind.Text(), wrong).
				fix("mend the data, or the type in the declaration").throw()
		})
		return
	}
	b.checkKnown(v, func(i int, x, bound float64, rel string) {
		about(diag.DataBounds, i, "`%s` is %s, but must be %s %s", set.Path(v.Name, i), ad.FormatNumber(x), rel, ad.FormatNumber(bound)).
			fix("mend the data, or the bounds in the declaration").throw()
	})
}

func in(file string) string {
	if file == "" {
		return ""
	}
	return " in " + file
}

func sameShape(a, b []int) bool {
	return slices.Equal(a, b) || sizeOf(a) == 0 && sizeOf(b) == 0
}

// plainly is a number as it is written in data.
func plainly(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// typeText is a declared type with its sizes: "vector[3]", "array[2, 3] int".
func typeText(t types.Type, shape []int) string {
	list := func(s []int) string {
		out := ""
		for i, n := range s {
			if i > 0 {
				out += ", "
			}
			out += fmt.Sprint(n)
		}
		return "[" + out + "]"
	}
	elem := t.Kind.String()
	if n := len(shape) - t.Dims; n > 0 {
		elem += list(shape[t.Dims:])
	}
	if t.Dims > 0 {
		return "array" + list(shape[:t.Dims]) + " " + elem
	}
	return elem
}

// wrongItem finds the first vector or matrix of a variable of a constrained
// type that is not what it is declared to be. The function does not allocate
// where there is none. tol is by how much sums may be off.
func wrongItem(v *ir.Var, shape []int, tol float64) func(x []float64) (item int, wrong string) {
	size := sizeOf(shape[v.Type.Dims:])
	lanes, shape := sizeOf(shape[:v.Type.Dims]), shape[v.Type.Dims:]
	work := sync.Pool{New: func() any { w := make([]float64, size); return &w }}
	return func(x []float64) (int, string) {
		w := work.Get().(*[]float64)
		defer work.Put(w)
		for i := range lanes {
			if wrong := v.Constraint.Kind.Wrong(shape, x[i*size:(i+1)*size], *w, tol); wrong != "" {
				return i, wrong
			}
		}
		return 0, ""
	}
}

// itemName names an element of an array: theta[2,1].
func itemName(v *ir.Var, shape []int, i int) string {
	return elementName(v.Name, shape[:v.Type.Dims], i)
}

// elementName names an element of what has that shape.
func elementName(name string, shape []int, i int) string {
	if len(shape) == 0 {
		return name
	}
	long := elementNames(name, shape, []int32{int32(i)})[0]
	return name + "[" + strings.ReplaceAll(strings.TrimPrefix(long, name+"."), ".", ",") + "]"
}

// checkItems adds the check that a variable is of its constrained type.
func (b *binder) checkItems(v *ir.Var) {
	x := b.numeric(b.pack(b.cell(v)))
	shape, find := x.shape, wrongItem(v, x.shape, types.Tolerance)
	b.emitEffect([]value{x}, func(g *ad.Graph, a []ad.Ref) {
		g.Require(&ad.Requirement{Wrong: func(x []float64) string {
			if i, wrong := find(x); wrong != "" {
				return itemName(v, shape, i) + " must be " + v.Constraint.Kind.Text() + ", but " + wrong
			}
			return ""
		}}, a[0])
	})
}

// checkKnownItems checks a known variable; bad gets the place of the first
// number of an item that is wrong.
func (b *binder) checkKnownItems(v *ir.Var, bad func(i int, item, wrong string)) {
	c := b.cell(v)
	if i, wrong := wrongItem(v, c.shape, types.Tolerance)(b.pack(c).lvlValues(b)); wrong != "" {
		bad(i*sizeOf(c.shape[v.Type.Dims:]), itemName(v, c.shape, i), wrong)
	}
}

// initialTolerance is by how much sums of initial values may be off: they may
// have been written with six digits, and what is missing does not matter.
const initialTolerance = 1e-4

// checkInitial adds the check that an initial value of a parameter is of its
// constrained type. NaN stands for one that is not given.
func (b *binder) checkInitial(v *ir.Var, x ad.Ref) {
	if v.Constraint.Kind < types.Ordered {
		return
	}
	shape := b.root.g.Type(x).Shape
	find := wrongItem(v, shape, initialTolerance)
	b.root.g.Require(&ad.Requirement{Wrong: func(x []float64) string {
		if len(x) == 0 || math.IsNaN(x[0]) {
			return ""
		}
		if i, wrong := find(x); wrong != "" {
			return "the initial value of " + itemName(v, shape, i) + " must be " + v.Constraint.Kind.Text() + ", but " + wrong
		}
		return ""
	}}, x)
}

// checkKnown checks a known variable against its declared bounds.
func (b *binder) checkKnown(v *ir.Var, bad func(i int, x, bound float64, rel string)) {
	if v.Constraint.Kind != types.LowerUpper {
		return
	}
	w := b.pack(b.cell(v))
	xs := w.lvlValues(b)
	for k, e := range []ir.Expr{v.Constraint.Lower, v.Constraint.Upper} {
		if e == nil {
			continue
		}
		bv := b.eval(e)
		bounds := bv.lvlValues(b)
		for i, x := range xs {
			limit := bounds[0]
			if len(bounds) > 1 {
				limit = bounds[i]
			}
			switch {
			case k == 0 && !(x >= limit):
				bad(i, x, limit, "at least")
			case k == 1 && !(x <= limit):
				bad(i, x, limit, "at most")
			}
		}
	}
}

// lvlValues are the numbers of a known value.
func (v value) lvlValues(b *binder) []float64 {
	v = b.numeric(v)
	data, _ := v.lvl.g.Value(v.ref)
	return data
}

// checkDeclared checks a variable against its declared bounds at the end of its
// block: now in transformed data, at every evaluation elsewhere.
func (b *binder) checkDeclared(v *ir.Var) {
	if v.Constraint.Kind == types.Unconstrained || v.Constraint.Kind == types.OffsetMultiplier {
		return
	}
	b.at(v.Span)
	if v.Constraint.Kind != types.LowerUpper {
		if !b.now {
			b.checkItems(v)
			return
		}
		b.checkKnownItems(v, func(_ int, item, wrong string) {
			b.fail(v.Span, diag.OutsideBounds, "`%s` must be %s, but %s", item, v.Constraint.Kind.Text(), wrong).
				fix("mend the computation in transformed data, or the declared type").throw()
		})
		return
	}
	if b.now {
		b.checkKnown(v, func(i int, x, bound float64, rel string) {
			b.fail(v.Span, diag.OutsideBounds, "`%s` is %s, but must be %s %s", elementName(v.Name, b.cell(v).shape, i), ad.FormatNumber(x), rel, ad.FormatNumber(bound)).
				fix("mend the computation in transformed data, or the declared bounds").throw()
		})
		return
	}
	x := b.numeric(b.pack(b.cell(v)))
	g := b.root.g
	for k, e := range []ir.Expr{v.Constraint.Lower, v.Constraint.Upper} {
		if e == nil {
			continue
		}
		// NaN fails both comparisons, so the check is of "not in order".
		bound := b.eval(e)
		xr, br := b.use(x, b.root, nil), b.use(bound, b.root, nil)
		lo, hi, rel := br, xr, "at least"
		where := func(x, bound float64) bool { return !(bound <= x) }
		if k == 1 {
			lo, hi, rel = xr, br, "at most"
			where = func(x, bound float64) bool { return !(x <= bound) }
		}
		g.SetSite(b.site())
		wrong := g.Do(ad.OpNot, nil, g.Do(ad.OpLessEqual, nil, lo, hi))
		if data, ok := g.Value(wrong); ok && !slices.Contains(data, 1) {
			continue
		}
		if len(g.Type(wrong).Shape) > 0 {
			wrong = g.Sum(wrong)
		}
		m := &ad.Message{Where: where, Parts: []ad.MessagePart{
			{Text: v.Name, Arg: -1}, {Arg: ad.Which}, {Text: " is ", Arg: -1}, {Arg: 0}, {Text: ", but must be " + rel + " ", Arg: -1}, {Arg: 1}}}
		g.RejectIf(wrong, m, xr, br)
	}
}
