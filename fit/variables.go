package fit

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/lang/diag"
)

// Values returns the draws of one quantity, chain after chain. Both theta.1 and
// theta[1] are understood. The error names the nearest quantity there is.
func (f *Fit) Values(name string) ([]float64, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	names := f.Draws.Names()
	i := slices.Index(names, name)
	if i < 0 {
		i = slices.IndexFunc(names, func(n string) bool { return diagnose.DisplayName(n) == name })
	}
	if i < 0 {
		return nil, f.unknown(name)
	}
	var values []float64
	for chain := range f.Draws.Chains() {
		values = f.Draws.Column(values, chain, i)
	}
	return values, f.Draws.Err()
}

// unknown says that a fit has no such quantity or variable.
func (f *Fit) unknown(name string) error {
	near := diag.Nearest(name, func(yield func(string) bool) {
		for _, n := range f.Draws.Names() {
			if !yield(diagnose.DisplayName(n)) || !yield(diagnose.VariableName(n)) {
				return
			}
		}
	})
	if near != "" && near != name {
		return fmt.Errorf("ppl: there are no draws of %s; did you mean %s?", name, near)
	}
	return fmt.Errorf("ppl: there are no draws of %s", name)
}

// Variable is the draws of a whole variable.
type Variable struct {
	Name  string
	Shape []int // extents, outermost first; nil for a scalar

	// Chains holds the draws by chain: draw i of a variable of n elements is
	// [i*n : (i+1)*n], in row-major order. See [Variable.Draw].
	Chains [][]float64
}

// Size is the number of elements of a draw.
func (v *Variable) Size() int {
	n := 1
	for _, d := range v.Shape {
		n *= d
	}
	return n
}

// Draw is the elements, in row-major order, of one draw of a chain, both counted
// from 0.
func (v *Variable) Draw(chain, draw int) []float64 {
	n := v.Size()
	return v.Chains[chain][draw*n : (draw+1)*n : (draw+1)*n]
}

// Variable returns the draws of a whole variable: of theta, not of theta[1]. Of
// complex numbers the last extent is 2: real and imaginary part. The members of a
// tuple are separate variables, t.1. The error names the nearest variable.
func (f *Fit) Variable(name string) (*Variable, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	all, err := arrays.Layouts(f.Draws.Names())
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(l arrays.Layout) bool { return l.Name == name })
	if at < 0 {
		return nil, f.unknown(name)
	}
	l := all[at]
	v := &Variable{Name: name, Shape: l.Shape}
	if len(l.Shape) == 0 {
		v.Shape = nil
	}
	n := v.Size()
	var column []float64
	for chain := range f.Draws.Chains() {
		out := make([]float64, n*f.Draws.Len(chain))
		for k, c := range l.Columns {
			column = f.Draws.Column(column[:0], chain, c)
			for i, x := range column {
				out[i*n+k] = x
			}
		}
		v.Chains = append(v.Chains, out)
	}
	return v, f.Draws.Err()
}
