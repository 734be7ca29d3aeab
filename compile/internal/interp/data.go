package interp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// Data reads the variables of the data block from a set, runs the transformed data, and returns the
// values of both. Option Propto is ignored. A user's mistake is returned as *Error; an error of
// Stop is returned unchanged.
func Data(prog *ir.Program, set *data.Set, o Options) (k *Known, err error) {
	defer func() {
		var e *Error
		if errors.As(err, &e) && e.stopped {
			err = e.Err
		}
	}()
	defer caught(&err)
	m := newMachine(&o)
	f := newFrame(m, prog.NumVars)
	r := newResolver(prog, &o)
	s := r.blocks(false)
	for _, v := range prog.Data {
		s.read(v, set, prog.Data)(f)
	}
	s.block(prog.TransformedData)(f)
	s.checkAll(prog.TransformedDataVars)(f)
	k = &Known{prog: prog, vars: slices.Concat(prog.Data, prog.TransformedDataVars)}
	for _, v := range k.vars {
		k.of = append(k.of, get(v)(f))
	}
	return k, nil
}

// read returns the function that reads a variable from the data and checks its type, shape and
// bounds. all are the variables of the data block.
func (s *scope) read(v *ir.Var, from *data.Set, all []*ir.Var) func(f *frame) {
	sizes, rows, sparse, store, find := s.sizes(v), s.rows(v), s.sparse(v), set(v), s.check(v)
	return func(f *frame) {
		r := &reading{m: f.m, v: v, set: from, all: all, ragged: rows(f), sparse: sparse(f), shape: sizes(f)}
		value := r.value()
		r.counted(value)
		store(f, value)
		if find == nil {
			return
		}
		if w := find(f); w != nil {
			r.refuse(w)
		}
	}
}

// reading is a variable being read from the data.
type reading struct {
	m      *machine
	v      *ir.Var
	set    *data.Set
	all    []*ir.Var // variables of the data block
	shape  []int     // as declared
	ragged *ir.Rows  // as declared; nil: the variable is not ragged
	sparse []int     // the declared sizes of a sparse matrix; nil: the variable is none
}

// declared returns the declared type for a message.
func (r *reading) declared() string {
	text := typeText(r.v.Type, r.shape)
	if r.sparse != nil {
		return fmt.Sprintf("sparse_matrix[%d, %d]", r.sparse[0], r.sparse[1])
	}
	if g := r.v.Ragged; g != nil {
		text = raggedText(r.v.Type.Array(g.Outer), g)
	}
	if r.v.Part != types.NotComplex {
		text = strings.NewReplacer("real", "complex", "vector", "complex_vector", "row_vector", "complex_row_vector", "matrix", "complex_matrix").Replace(text)
	}
	return text
}

// about returns an error about an element of the data; -1: about the whole variable.
func (r *reading) about(code diag.Code, element int, format string, args ...any) *Error {
	e := r.m.fail(r.set.Span(r.v.Name, element), code, format, args...)
	if !e.Diagnostic.Span.IsValid() {
		e.Diagnostic.Span = r.v.Span
	}
	e.Diagnostic.Related = append(e.Diagnostic.Related, r.declaredHere())
	return e
}

func (r *reading) declaredHere() diag.Note {
	if v := r.v.Values; v != nil {
		return diag.Note{Span: v.Span, Message: "the sparse matrix `" + v.Name + "` is declared here"}
	}
	return diag.Note{Span: r.v.Span, Message: "`" + r.v.Name + "` is declared here: " + r.declared()}
}

// nesting says how the values of a ragged variable are nested.
func (r *reading) nesting() string {
	like := "[[1, 2], [3]]"
	switch {
	case len(r.ragged.Outer) > 1:
		like = "[" + like + ", [[4], []]]"
	case len(r.shape) > 1:
		like = "[[[1, 2], [3, 4]], [[5, 6]]]"
	}
	return fmt.Sprintf("write `%s` as a list of rows, as in %s", r.v.Name, like)
}

func (r *reading) value() *array {
	v := r.v
	if e := r.set.Fault(v.Name); e != nil {
		d := e.Diagnostic()
		if e.Nested && r.ragged != nil {
			d.Fix = r.nesting()
		}
		d.Related = append(d.Related, r.declaredHere())
		(&Error{Diagnostic: d}).throw()
	}
	d, ok := r.set.Get(v.Name)
	if !ok {
		if count(r.shape) == 0 && count(r.sparse)*len(r.sparse) == 0 { // as in Stan, an empty container need not be given
			return unset(v.Type, r.shape)
		}
		r.missing()
	}
	r.fits(d)
	if levels := r.set.Levels(v.Name); levels != nil && v.Type.Kind != types.Int {
		text, fix := levels[0], "if its levels are to be numbered, declare it with int"
		isText := func(level string) bool {
			_, err := strconv.ParseFloat(level, 64)
			return err != nil
		}
		if i := slices.IndexFunc(levels, isText); i >= 0 {
			text = levels[i]
		}
		if slices.ContainsFunc(levels, func(level string) bool { return !isText(level) }) { // a slip among numbers
			fix = fmt.Sprintf("write a number for %q in that column, or leave the row out", text)
		}
		(&Error{Diagnostic: diag.Diagnostic{Summary: fmt.Sprintf("`%s` is declared with real numbers, but in %s it is a column of texts, such as %q", v.Name, r.set.File(), text), Span: v.Span,
			Fix: fix}}).throw()
	}
	if v.Part != types.NotComplex {
		d = d.Half(int(v.Part - types.RealPart))
	}
	if v.Type.Kind == types.Int {
		return &array{shape: r.shape, ints: r.ints(d)}
	}
	return &array{shape: r.shape, reals: d.Reals}
}

// missing reports a variable that is not in the data.
func (r *reading) missing() {
	v, in := r.v, ""
	if file := r.set.File(); file != "" {
		in = " in " + file
	}
	e := r.m.fail(v.Span, diag.DataMissing, "the data have no value for `%s`", v.Name)
	if near := diag.Nearest(v.Name, slices.Values(r.set.Names())); near != "" && r.set.Struct() {
		e.fix("did you mean the field %s? Its tag gives it the name: `ppl:\"%s\"`", near, v.Name)
	} else if near != "" {
		e.fix("did you mean `%s`, which the data have?", near)
	} else if rows, sizes := r.sizesOfRows(); rows != nil {
		if fault := r.set.Fault(sizes.Name); fault != nil { // the rows could not be counted
			(&Error{Diagnostic: fault.Diagnostic()}).throw()
		}
		e.fix("as `%s` has the sizes of the rows of `%s`, have the rows for each level of a column counted", sizes.Name, rows.Name).settings("count=" + sizes.Name + "=column")
	} else if column := r.faulty(); column != nil {
		d := r.set.Fault(column.Name).Diagnostic()
		d.Related = append(d.Related, diag.Note{Span: r.v.Span, Message: "`" + v.Name + "` would be the number of levels of `" + column.Name + "`"})
		(&Error{Diagnostic: d}).throw()
	} else if column := r.rows(); column != nil {
		e.fix("as it is the number of rows of `%s`, have them counted", column.Name).settings("count=" + v.Name)
	} else if column := r.counts(); column != nil {
		if codes := r.set.Codes(column.Name, v.Name); codes != nil {
			(&Error{Diagnostic: codes.Diagnostic()}).throw()
		}
		e.fix("as it is the upper bound of the column `%s`, have its levels counted", column.Name).settings("count=" + v.Name + "=" + column.Name)
	} else if r.set.Table() && v.Type.Kind == types.Int && len(r.shape) == 0 {
		e.fix("if it is the number of rows, or of the levels of a column, have it counted").settings("count="+v.Name, "count="+v.Name+"=column")
	} else {
		e.fix("add `%s` (%s) to the data%s", v.Name, r.declared(), in)
	}
	e.throw()
}

// counts returns a column of integers or levels whose upper bound, but not its number of rows, is
// the variable, a scalar: the variable is then the number of levels. nil if there is none.
func (r *reading) counts() *ir.Var {
	return r.column(func(w *ir.Var) bool {
		v, _ := r.set.Get(w.Name)
		return v.IsInt && w.Type.Kind == types.Int && !r.is(w.Sizes[0]) && r.is(w.Constraint.Upper)
	})
}

// rows returns a column for which the variable, a scalar, is the number of rows.
func (r *reading) rows() *ir.Var {
	return r.column(func(w *ir.Var) bool { return r.is(w.Sizes[0]) })
}

// is reports whether an expression is the variable.
func (r *reading) is(e ir.Expr) bool {
	ref, ok := e.(*ir.VarRef)
	return ok && ref.Var == r.v
}

// sizesOfRows returns a column that is declared with rows of different sizes, and these sizes, if
// the variable has them, or their number; nil if there is none.
func (r *reading) sizesOfRows() (rows, sizes *ir.Var) {
	for _, w := range r.all {
		if _, ok := r.set.Get(w.Name); !ok || !r.set.Table() || w.Ragged == nil {
			continue
		}
		ref, ok := w.Ragged.Sizes[w.Ragged.At].(*ir.VarRef)
		if ok && (ref.Var == r.v || len(ref.Var.Sizes) == 1 && r.is(ref.Var.Sizes[0])) {
			return w, ref.Var
		}
	}
	return nil, nil
}

// faulty returns a column of levels that cannot be read, and whose upper bound is the variable; nil
// if there is none.
func (r *reading) faulty() *ir.Var {
	for _, w := range r.all {
		if r.set.Table() && r.set.Fault(w.Name) != nil && w.Type.Kind == types.Int && w.Constraint.Upper != nil && r.is(w.Constraint.Upper) {
			return w
		}
	}
	return nil
}

// column returns the first column of a table for which counted returns true; nil if there is none.
func (r *reading) column(counted func(w *ir.Var) bool) *ir.Var {
	if !r.set.Table() || r.v.Type.Kind != types.Int || len(r.shape) > 0 {
		return nil
	}
	for _, w := range r.all {
		if _, ok := r.set.Get(w.Name); ok && len(w.Sizes) == 1 && counted(w) {
			return w
		}
	}
	return nil
}

// counted reports a value that is the number of rows, although the program expects the number of
// levels.
func (r *reading) counted(value *array) {
	column := r.counts()
	if column == nil || !slices.Contains(r.set.Reading().Counts, data.Count{Name: r.v.Name}) {
		return
	}
	if levels := r.set.Levels(column.Name); levels != nil && int64(len(levels)) < value.ints[0] {
		r.about(diag.DataBounds, -1, "`%s` is %d, the number of rows, but it bounds the column `%s`, which has %d levels", r.v.Name, value.ints[0], column.Name, len(levels)).
			fix("have the levels counted").settings("count=" + r.v.Name + "=" + column.Name).throw()
	}
}

// fitSparse reports a sparse matrix with other sizes than the declared ones.
func (r *reading) fitSparse(d data.Value) {
	if r.sparse == nil || d.Sparse() == nil {
		return
	}
	size := slices.Clone(d.Sparse().Size)
	for i, n := range size {
		if n < 0 {
			size[i] = r.sparse[i]
		}
	}
	if !slices.Equal(size, r.sparse) && count(size)+count(r.sparse) > 0 {
		r.about(diag.DataSize, -1, "`%s` has the wrong size: %s, but is declared with %s", r.v.Name, SizeText(size), SizeText(r.sparse)).
			fix("give `%s` as many rows and columns as it is declared with, or change its sizes in the declaration or in the data", r.v.Name).throw()
	}
}

// fits reports data whose shape is not the declared one.
func (r *reading) fits(d data.Value) {
	v, written := r.v, r.shape // in the data
	if v.Part != types.NotComplex {
		written = append(slices.Clone(r.shape), 2)
	}
	r.fitRows(d)
	r.fitSparse(d)
	if slices.Equal(d.Shape, written) || count(d.Shape) == 0 && count(written) == 0 {
		return
	}
	advice, settings := "give `%s` as many values as it is declared with, or change its sizes in the declaration or in the data", []string(nil)
	switch {
	case v.Part == types.NotComplex && len(d.Shape) == 0 && count(written) == 1 && r.set.Dump():
		ones := strings.TrimSuffix(strings.Repeat("1, ", len(written)), ", ")
		advice = "R writes a vector of length 1 as a number: give `%s` dimensions, as structure(" + plainly(d.Reals[0]) + ", dim = c(" + ones + "))"
	case v.Part == types.NotComplex && len(d.Shape) == 0 && count(written) == 1:
		n := len(written)
		advice = "write `%s` in brackets, also where it has a single element: " + strings.Repeat("[", n) + plainly(d.Reals[0]) + strings.Repeat("]", n)
	case r.set.Table() && v.Type.Kind == types.Int && len(written) == 0:
		advice, settings = "`%s` is a column of the table; remove or rename it, and have the rows counted", []string{"count=" + v.Name}
	case v.Part == types.NotComplex && len(written) == 0 && d.Size() == 1:
		advice = "write `%s` without brackets: " + plainly(d.Reals[0])
	case len(written) == 2 && slices.Equal(d.Shape, []int{written[1], written[0]}):
		advice = "write `%s` as a list of rows, or declare it the other way round"
	case len(written) == 2 && len(d.Shape) == 1 && d.Shape[0] == count(written) && v.Part == types.NotComplex:
		advice = fmt.Sprintf("write `%%s` as a list of %d rows with %d values each", written[0], written[1])
	case len(d.Shape) == len(written) && v.Part == types.NotComplex:
		advice = r.otherSize(d.Shape, advice)
	case v.Part != types.NotComplex:
		advice = "write each complex number of `%s` as [real part, imaginary part], and as many as are declared"
	}
	r.about(diag.DataSize, -1, "`%s` has the wrong size: %s, but is declared with %s", v.Name, SizeText(d.Shape), SizeText(written)).
		fix(advice, v.Name).settings(settings...).throw()
}

// fitRows reports rows of data whose sizes are not the declared ones. Data may also have all rows
// one after another.
func (r *reading) fitRows(d data.Value) {
	given := d.Ragged
	if r.ragged == nil || given == nil {
		return
	}
	if !slices.Equal(given.Outer, r.ragged.Outer) {
		r.about(diag.DataSize, -1, "`%s` has the wrong number of rows: %s, but is declared with %s", r.v.Name, SizeText(given.Outer), SizeText(r.ragged.Outer)).
			fix("give `%s` as many rows as there are sizes", r.v.Name).throw()
	}
	first := 0
	for i, n := range r.ragged.Sizes {
		if given.Sizes[i] != n {
			e := r.about(diag.DataSize, -1, "row %d of `%s` has %s, but is declared with %d", i+1, r.v.Name, elementsText(given.Sizes[i]), n)
			if given.Sizes[i] > 0 && r.ragged.At == 0 && len(r.shape) == 1 {
				e = r.about(diag.DataSize, first, "row %d of `%s` has %s, but is declared with %d", i+1, r.v.Name, elementsText(given.Sizes[i]), n)
			}
			e.fix("give every row as many values as its size says").throw()
		}
		first += given.Sizes[i]
	}
}

func elementsText(n int) string {
	if n == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", n)
}

// otherSize returns advice about data with the declared number of dimensions. If one size differs,
// and it is declared by a variable, the variable may be what is wrong.
func (r *reading) otherSize(shape []int, advice string) string {
	wrong := -1
	for i := range shape {
		if shape[i] == r.shape[i] {
			continue
		}
		if wrong >= 0 {
			return advice
		}
		wrong = i
	}
	if wrong < 0 || wrong >= len(r.v.Sizes) {
		return advice
	}
	if ref, ok := r.v.Sizes[wrong].(*ir.VarRef); ok {
		if _, given := r.set.Get(ref.Var.Name); given {
			return fmt.Sprintf("set `%s` to %d in the data, or give `%%s` as many values as it is declared with", ref.Var.Name, shape[wrong])
		}
	}
	return advice
}

// ints returns the integers of data for an int variable.
func (r *reading) ints(d data.Value) []int64 {
	v, holes := r.v, false
	if v.Missing {
		d, holes = withoutHoles(d)
	}
	if !d.IsInt {
		if e := r.set.NotInteger(v.Name); e != nil {
			d := e.Diagnostic()
			d.Code = diag.DataNotInt
			d.Related = append(d.Related, r.declaredHere())
			(&Error{Diagnostic: d}).throw()
		}
		i := d.FirstReal()
		if v.Missing {
			i = slices.IndexFunc(d.Reals, func(x float64) bool { return !math.IsNaN(x) && x != math.Trunc(x) })
			if i < 0 {
				i = slices.IndexFunc(d.Reals, func(x float64) bool { return math.Abs(x) > maxHoled })
				r.beyond(i, ad.FormatNumber(d.Reals[i]))
			}
		}
		if t := d.GoType(); t != "" {
			want := strings.NewReplacer("float64", "int", "float32", "int").Replace(t)
			if want == t { // a matrix
				want = strings.Repeat("[]", len(d.Shape)) + "int"
			}
			r.about(diag.DataNotInt, i, "`%s` is declared as %s, but has the Go type %s", v.Name, r.declared(), t).
				fix("make it a %s: only Go's integer types are integers; or declare `%s` as real", want, v.Name).throw()
		}
		written := ad.FormatNumber(d.Reals[i])
		switch at := r.set.Span(v.Name, i); {
		case at.IsValid() && !strings.ContainsAny(at.Text(), "(:"):
			written = at.Text() // 2.0 is no 2
		case !strings.ContainsAny(written, ".eNI"): // in a list of a dump
			written += ".0"
		}
		r.about(diag.DataNotInt, i, "`%s` must be an integer, but is %s", r.set.Path(v.Name, i), written).
			fix("write integers without a decimal point or exponent, or declare `%s` as real", v.Name).throw()
	}
	for i, x := range d.Ints {
		if (x < math.MinInt32 || x > math.MaxInt32) && !(holes && x == MissingInt) {
			r.beyond(i, strconv.FormatInt(x, 10))
		}
	}
	return append([]int64{}, d.Ints...)
}

// beyond refuses an integer that the language does not have.
func (r *reading) beyond(i int, x string) {
	r.about(diag.DataNotInt, i, "`%s` is %s, beyond the integers of the language", r.set.Path(r.v.Name, i), x).
		fix("integers lie between -2147483648 and 2147483647; declare `%s` as real for larger numbers", r.v.Name).throw()
}

// maxHoled is the largest size of integers that are kept if others are missing. It is beyond the
// integers of the language.
const maxHoled = 1 << 52

// MissingInt is the value of a missing integer. No integer of the language is as small.
const MissingInt = math.MinInt64

// withoutHoles returns integers, some of which are missing and so NaN, with MissingInt for these.
// It reports whether there are any. Go's numbers may be reals where none is missing.
func withoutHoles(d data.Value) (data.Value, bool) {
	holes := slices.ContainsFunc(d.Reals, math.IsNaN)
	if d.IsInt || !holes && d.GoType() == "" {
		return d, false
	}
	ints := make([]int64, len(d.Reals))
	for i, x := range d.Reals {
		switch {
		case math.IsNaN(x):
			ints[i] = MissingInt
		case x == math.Trunc(x) && math.Abs(x) <= maxHoled:
			ints[i] = int64(x)
		default:
			return d, false
		}
	}
	d.IsInt, d.Ints = true, ints
	return d, holes
}

// refuse reports data outside their declared bounds.
func (r *reading) refuse(w *violation) {
	if w.wrong != "" {
		r.about(diag.DataBounds, w.element, "`%s` must be %s, but %s", w.item(r.v), r.v.Constraint.Kind.Text(), w.wrong).
			fix("correct the value in the data, or declare another type").throw()
	}
	advice := "correct the value in the data, or the bounds in the declaration"
	if r.v.Type.Kind == types.Int && len(r.shape) > 0 && w.x == 0 && w.bound == 1 {
		advice = "if these are indices that count from 0, add 1 to each; otherwise " + advice
	}
	if size := r.namesOf(w); size != "" {
		how := fmt.Sprintf("write them as labels, as in \"y%s\",", ad.FormatNumber(w.x))
		if r.set.Dump() {
			how = "write them as a factor"
		}
		advice = fmt.Sprintf("if these are names of groups, such as years, %s and leave out `%s`; otherwise number the groups from 1", how, size)
	}
	r.about(diag.DataBounds, w.element, "`%s` is %s, but must be %s %s", r.set.Path(r.v.Name, w.element), ad.FormatNumber(w.x), w.relation, ad.FormatNumber(w.bound)).
		fix("%s", advice).throw()
}

// namesOf returns the size of which integers may be labels: their upper bound, if all of them are
// beyond it. It is "" if they are numbers from 1, some of which are wrong.
func (r *reading) namesOf(w *violation) string {
	bound, sized := r.v.Constraint.Upper.(*ir.VarRef)
	least, _ := r.v.Constraint.Lower.(*ir.IntLit)
	d, known := r.set.Get(r.v.Name)
	switch {
	case !sized || least == nil || least.Value != 1 || r.v.Type.Kind != types.Int || len(r.shape) == 0 || !slices.Contains(r.all, bound.Var):
	case !known || !r.set.Span(r.v.Name, -1).IsValid(): // Go values
	case w.bound < 1 || slices.ContainsFunc(d.Reals, func(x float64) bool { return x <= w.bound }):
	default:
		return bound.Var.Name
	}
	return ""
}
