package fit

import (
	"fmt"
	"iter"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/lang/diag"
)

// unknown returns the error for a name that the fit does not have.
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

// Variable has the draws of a whole variable.
type Variable struct {
	Name  string
	Shape []int // extents, outermost first; nil for a scalar

	// Chains holds the draws by chain: draw i of a variable of n elements is
	// [i*n : (i+1)*n], in row-major order. See [Variable.Draw].
	Chains [][]float64

	fit     *Fit
	columns []int // of the elements, in row-major order
}

// Size is the number of elements of a draw.
func (v *Variable) Size() int {
	n := 1
	for _, d := range v.Shape {
		n *= d
	}
	return n
}

// Len is the number of draws in all chains.
func (v *Variable) Len() int {
	n := 0
	for _, draws := range v.Chains {
		n += len(draws)
	}
	return n / max(v.Size(), 1)
}

// Draw returns the elements of one draw of a chain in row-major order. Chains and draws count from
// 0.
func (v *Variable) Draw(chain, draw int) []float64 {
	n := v.Size()
	return v.Chains[chain][draw*n : (draw+1)*n : (draw+1)*n]
}

// All ranges over the draws, chain after chain. It yields the number of the chain, from 0, and the
// elements of a draw in row-major order.
func (v *Variable) All() iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		n := v.Size()
		for chain, draws := range v.Chains {
			for i := 0; n > 0 && i < len(draws); i += n {
				if !yield(chain, draws[i:i+n:i+n]) {
					return
				}
			}
		}
	}
}

// Names returns the readable names of the elements in row-major order: theta[1], theta[2].
func (v *Variable) Names() []string {
	var names []string
	for _, c := range v.columns {
		names = append(names, diagnose.DisplayName(v.fit.Draws.Names()[c]))
	}
	return names
}

// Quantiles returns the quantiles of the elements at some probabilities. result[i] has those of
// element i, in row-major order. They are NaN for an element with a NaN draw.
func (v *Variable) Quantiles(probabilities ...float64) [][]float64 {
	out := make([][]float64, v.Size())
	var all []float64
	for i := range out {
		all = all[:0]
		for _, draw := range v.All() {
			all = append(all, draw[i])
		}
		out[i] = diagnose.Quantiles(all, probabilities...)
	}
	return out
}

// Dense returns the draws as a matrix with a row per draw, chain after chain, and a column per
// element, in row-major order. Without draws it is gonum's empty matrix.
func (v *Variable) Dense() *mat.Dense {
	if v.Len() == 0 {
		return &mat.Dense{}
	}
	return mat.NewDense(v.Len(), v.Size(), slices.Concat(v.Chains...))
}

// Rows returns the rows of [Fit.Summary] for the elements, in row-major order.
func (v *Variable) Rows() []diagnose.Row {
	rows, out := v.fit.Summary(), []diagnose.Row(nil)
	for _, c := range v.columns {
		out = append(out, rows[c])
	}
	return out
}

// Variable returns the draws of a whole variable, such as theta, not theta[1]. For complex numbers
// the last extent is 2, for real and imaginary part. The members of a tuple are separate variables,
// such as t.1. The error names the variable with the most similar name.
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
	v := &Variable{Name: name, Shape: l.Shape, fit: f, columns: l.Columns}
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

// Quantity has the draws of one number: of a scalar, or of an element such as theta[3].
type Quantity struct {
	Name   string      // readable name
	Chains [][]float64 // the draws by chain

	fit    *Fit
	column int
}

// Quantity returns the draws of one number. name is in the form of [Fit.Summary], such as theta[3],
// or in the form of files, such as theta.3. The error names the quantity with the most similar
// name.
func (f *Fit) Quantity(name string) (*Quantity, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	f.numbered.Do(func() {
		f.numbers = map[string]int{}
		for i, n := range f.Draws.Names() {
			f.numbers[diagnose.DisplayName(n)] = i
		}
		for i, n := range f.Draws.Names() { // a name in files, unless another quantity has this readable name
			f.numbers[n] = i
		}
	})
	i, ok := f.numbers[name]
	if !ok {
		return nil, f.unknown(name)
	}
	q := &Quantity{Name: diagnose.DisplayName(f.Draws.Names()[i]), fit: f, column: i}
	for chain := range f.Draws.Chains() {
		q.Chains = append(q.Chains, f.Draws.Column(nil, chain, i))
	}
	return q, f.Draws.Err()
}

// Values returns the draws, chain after chain.
func (q *Quantity) Values() []float64 { return slices.Concat(q.Chains...) }

// All ranges over the draws, chain after chain, with the number of the chain, from 0.
func (q *Quantity) All() iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for chain, draws := range q.Chains {
			for _, x := range draws {
				if !yield(chain, x) {
					return
				}
			}
		}
	}
}

// Quantiles returns the quantiles at some probabilities, in their order. They are NaN if a draw is.
func (q *Quantity) Quantiles(probabilities ...float64) []float64 {
	return diagnose.Quantiles(q.Values(), probabilities...)
}

// Probability is the share of the draws for which a condition holds.
func (q *Quantity) Probability(holds func(x float64) bool) float64 {
	n, all := 0, 0
	for _, x := range q.All() {
		if all++; holds(x) {
			n++
		}
	}
	return float64(n) / float64(all)
}

// Row is the row of [Fit.Summary].
func (q *Quantity) Row() diagnose.Row { return q.fit.Summary()[q.column] }
