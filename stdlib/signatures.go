package stdlib

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/lang/types"
)

// Language returns the whole library of Stan in the form that the checker uses: the declarations of
// Universe, overloads for tuples and complex numbers, and functions written in Stan.
func Language() *Signatures { return language() }

// Signatures is a set of overloads by name. It implements check.Universe.
type Signatures struct {
	byName map[string][]types.Overload
	names  []string // sorted
}

var language = sync.OnceValue(func() *Signatures {
	s := &Signatures{byName: maps.Clone(Universe().byName)}
	for name, forms := range otherForms() {
		s.byName[name] = slices.Concat(s.byName[name], forms)
	}
	for name, forms := range sparseForms() {
		s.byName[name] = slices.Concat(s.byName[name], forms)
	}
	s.names = slices.Sorted(maps.Keys(s.byName))
	return s
})

// Lookup returns the overloads of a name, nil for an unknown name. Do not modify the slice.
func (s *Signatures) Lookup(name string) []types.Overload { return s.byName[name] }

// Names yields every name in alphabetical order.
func (s *Signatures) Names() iter.Seq[string] { return slices.Values(s.names) }

// otherForms collects the overloads for tuples and complex numbers, and the functions written in
// Stan.
func otherForms() map[string][]types.Overload {
	out := map[string][]types.Overload{}
	texts := writtenTexts{}
	add := func(name string, o types.Overload) {
		if _, ok := o.(types.Written); ok {
			// This overload has its text already.
		} else if w, ok := texts.written(name, o); ok {
			o = w
		} else if f := compositeForm(name, o); f != nil {
			o = f
		} else {
			panic("no meaning of " + name + ": " + o.String()) // a mistake in a table
		}
		out[name] = append(out[name], o)
	}
	for line := range strings.Lines(compositeFixed + writtenFixed) {
		form, names, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		f := shortForm(form)
		for name := range strings.FieldsSeq(names) {
			f.Name = name
			add(name, f)
		}
	}
	for _, o := range otherFamilies() {
		switch o := o.(type) {
		case types.Elementwise:
			add(o.Name, o)
		case types.Vectorised:
			add(o.Name, o)
		case types.HigherOrder:
			add(o.Name, o)
		case types.ReduceSum:
			add(o.Name, o)
		case types.Written:
			add(o.Name, o)
		case types.Fixed:
			add(o.Name, o)
		case types.Computed:
			name, _, _ := strings.Cut(o.Form, "(")
			add(name, o)
		}
	}
	for op, functions := range operatorNames {
		for name := range strings.FieldsSeq(functions) {
			out["operator"+op] = append(out["operator"+op], out[name]...)
		}
	}
	return out
}

// shortForm parses a signature in the notation of compositeFixed.
func shortForm(form string) types.Fixed {
	params, result, _ := strings.Cut(form, "=>")
	f := types.Fixed{Result: shortType(strings.TrimSpace(result))}
	for p := range strings.FieldsSeq(params) {
		p, data := strings.CutPrefix(p, "data-")
		f.Params = append(f.Params, shortType(p))
		f.DataOnly = append(f.DataOnly, data)
	}
	if !slices.Contains(f.DataOnly, true) {
		f.DataOnly = nil
	}
	return f
}

// operatorNames maps operators to the functions that have the same overloads.
var operatorNames = map[string]string{
	"+": "add plus", "-": "subtract minus", "*": "multiply", "/": "divide mdivide_right",
	".*": "elt_multiply", "./": "elt_divide", `\`: "mdivide_left", "^": "pow", ".^": "pow",
	"'": "transpose", "==": "logical_eq", "!=": "logical_neq",
}

// shortType parses the notation of compositeFixed: a digit for the number of array dimensions, then
// i r v w m s for int, real, vector, row_vector, matrix and sparse_matrix, with c before it for
// complex types. (…) is a tuple.
func shortType(s string) types.Type {
	var t types.Type
	if s != "" && s[0] >= '1' && s[0] <= '9' {
		t.Dims = int(s[0] - '0')
		s = s[1:]
	}
	if inner, ok := strings.CutPrefix(s, "("); ok {
		t.Kind = types.Tuple
		for m := range strings.SplitSeq(strings.TrimSuffix(inner, ")"), ",") {
			t.Members = append(t.Members, shortType(m))
		}
		return t
	}
	t.Kind = shortKind(s)
	return t
}

// shortKind returns the kind of an element in the notation of shortType.
func shortKind(s string) types.Kind {
	switch s {
	case "i":
		return types.Int
	case "r":
		return types.Real
	case "v":
		return types.Vector
	case "w":
		return types.RowVector
	case "m":
		return types.Matrix
	case "s":
		return types.SparseMatrix
	case "c":
		return types.Complex
	case "cv":
		return types.ComplexVector
	case "cw":
		return types.ComplexRowVector
	case "cm":
		return types.ComplexMatrix
	}
	return 0
}

// writtenFixed lists signatures of functions written in Stan, as "arguments => result: names", in
// the notation of shortType.
const writtenFixed = `
i => (v,r,i,i,i,i): generate_laplace_options
v => (v,r,i,i,i,i): generate_laplace_options
r r r r => r: hypergeometric_2F1
`

// Domains returns the requirements of a density, distribution function or generator on each of its
// arguments, as far as they concern one argument alone; the zero Domain requires nothing. For the
// variate of a density it is the set where the density is positive. The checker warns of parameters
// that can leave it. Other functions have none.
func (f *Func) Domains() []types.Domain {
	var ds []types.Domain
	switch {
	case f.Dist == nil && (f.Terms != nil || f.Random):
		for i, c := range f.In {
			ds = append(ds, types.Domain{})
			if c.Text != "" {
				ds[i].In = c
			}
		}
		return ds
	case f.Dist == nil:
		return nil
	case f.Terms != nil && !f.Dist.Discrete:
		ds = append(ds, types.Domain{In: f.Dist.support()})
	case !f.Random:
		ds = append(ds, types.Domain{}) // the variate of a distribution function may be any number
	}
	for _, p := range f.Dist.Params {
		ds = append(ds, types.Domain{Is: p.Is, In: p.In})
	}
	return ds
}

// support returns the set where the density is positive.
func (d *Dist) support() types.Constraint {
	v, s := d.Variate, d.Support
	if v.Text == "" {
		return s
	}
	if s.Text == "" {
		return v
	}
	v.Lo, v.Hi = max(v.Lo, s.Lo), min(v.Hi, s.Hi)
	return v
}
