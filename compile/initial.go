package compile

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// Unconstrain finds the unconstrained point of parameters given by name.
// Coordinates of parameters that are not given are NaN.
func (m *Model) Unconstrain(d *data.Set) ([]float64, error) {
	if d == nil {
		d = data.Empty()
	}
	if m.ragged {
		d = flattened(d, m.program.Parameters)
	}
	x := make([]float64, m.dim)
	known := func(yield func(string) bool) {
		for _, p := range m.bound.Params {
			if !yield(p.Name) {
				return
			}
		}
	}
	for _, name := range d.Names() { // other quantities of an earlier run are allowed
		if near := diag.Nearest(name, known); near != "" && near != name && !slices.Contains(m.variables(), name) {
			e := initial{m, d, name, ir.Var{}}.about("", -1, "there is no parameter `%s`", name)
			e.Fix = "did you mean `" + near + "`?"
			return nil, &Error{List: diag.List{e}}
		}
	}
	if err := m.noParameter(d); err != nil {
		return nil, err
	}
	var found diag.List
	var leaves [][]float64
	var at []initial
	given := make([]bool, len(m.bound.Params)) // all parts of the parameter are given
	for i, declared := range ir.Declared(m.program.Parameters) {
		p := &m.bound.Params[i]
		given[i] = true
		for k, leaf := range p.Leaves {
			in := slices.Repeat([]float64{math.NaN()}, product(leaf.Shape))
			leaves = append(leaves, in)
			place := initial{m, d, leaf.Name, *declared[k]}
			at = append(at, place)
			v, ok := d.Get(leaf.Name)
			if e := d.Fault(leaf.Name); e != nil {
				found = append(found, place.fault(e))
			}
			given[i] = given[i] && (ok || len(in) == 0)
			shape := leaf.Shape
			if leaf.Part != types.NotComplex {
				shape = append(slices.Clone(shape), 2)
			}
			if !ok || product(v.Shape) == 0 && len(in) == 0 {
				continue
			}
			if !slices.Equal(v.Shape, shape) {
				found = append(found, place.about(diag.DataSize, -1, "the initial value of `%s` has the wrong size: %s, but is declared with %s", leaf.Name, interp.SizeText(v.Shape), interp.SizeText(shape)))
				continue
			}
			if k := slices.IndexFunc(v.Reals, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }); k >= 0 {
				e := place.about(diag.DataBounds, k, "the initial value of `%s` is %s, but must be a finite number", d.Path(leaf.Name, k), ad.FormatNumber(v.Reals[k]))
				e.Fix = atRandom
				found = append(found, e)
				continue
			}
			if leaf.Part != types.NotComplex {
				v = v.Half(int(leaf.Part - types.RealPart))
			}
			copy(in, v.Reals)
		}
	}
	if len(found) > 0 {
		return nil, &Error{List: found}
	}
	plain, err := m.plain()
	if err != nil {
		return nil, err
	}
	parts, wrong, err := plain.Start(leaves)
	if err != nil {
		return nil, m.rejection(err)
	}
	for _, w := range wrong {
		place := at[w.Leaf]
		found = append(found, place.about(diag.DataBounds, w.Element, "the initial value of `%s` %s", place.name+strings.TrimPrefix(w.Name, w.Var.Name), w.Text))
	}
	if len(found) > 0 {
		return nil, &Error{List: found}
	}
	for i, declared := range ir.Declared(m.program.Parameters) {
		p := &m.bound.Params[i]
		copy(x[m.offsets[i]:], parts[i])
		if !given[i] {
			continue
		}
		for k, u := range parts[i] {
			if math.IsNaN(u) || math.IsInf(u, 0) {
				place := initial{m, d, p.Name, *declared[0]}
				return nil, &Error{List: diag.List{place.about(diag.DataBounds, -1, "the initial value of `%s` lies on the boundary of its declared type, at %s, where no chain can start", p.Name, p.Names[k])}}
			}
		}
	}
	return x, nil
}

// noParameter returns an error if none of the values belongs to a parameter.
func (m *Model) noParameter(d *data.Set) error {
	var names []string
	for _, p := range m.bound.Params {
		names = append(names, p.Name)
	}
	isParameter := func(name string) bool {
		base, _, _ := strings.Cut(name, ".") // of a tuple
		return slices.Contains(names, base)
	}
	given := d.Names()
	if len(given) == 0 || len(names) == 0 || slices.ContainsFunc(given, isParameter) {
		return nil
	}
	list := func(names []string) string {
		const most = 8
		text := strings.Join(names[:min(most, len(names))], ", ")
		if len(names) > most {
			text += ", …"
		}
		return text
	}
	e := initial{m, d, given[0], ir.Var{}}.about("", -1, "none of the values is of a parameter: they are %s", list(given))
	e.Fix = "the parameters are " + list(names)
	return &Error{List: diag.List{e}}
}

// atRandom is the advice for values that are not known.
const atRandom = "leave the parameter out to start it at random"

// initial is an initial value of a parameter, or of part of a parameter.
type initial struct {
	m    *Model
	data *data.Set
	name string // in the data
	v    ir.Var
}

// about returns a diagnostic about an element of the value; -1 means the whole value.
func (in initial) about(code diag.Code, element int, format string, args ...any) diag.Diagnostic {
	return in.declared(diag.Errorf(code, in.data.Span(in.name, element), format, args...))
}

// fault returns the diagnostic of an error in how the value is written.
func (in initial) fault(e *data.Error) diag.Diagnostic {
	d := e.Diagnostic()
	if slices.Contains([]string{"null", "NA", "None"}, d.Span.Text()) {
		d.Fix = atRandom
	}
	return in.declared(d)
}

// declared adds the position of the parameter's declaration.
func (in initial) declared(d diag.Diagnostic) diag.Diagnostic {
	if span := in.v.Span; span.IsValid() {
		if !d.Span.IsValid() {
			d.Span = span
			return d
		}
		d.Related = append(d.Related, diag.Note{Span: span, Message: "`" + in.v.Name + "` is declared here"})
	}
	return d
}

// variables returns the names of all quantities, without indices.
func (m *Model) variables() []string {
	var names []string
	for _, n := range m.bound.Names {
		base, _, _ := strings.Cut(n, ".")
		base, _, _ = strings.Cut(base, ":")
		names = append(names, base)
	}
	return names
}
