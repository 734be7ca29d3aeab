// Package stdlibtest tests package stdlib by looping over its declarations, so that a function is
// tested as soon as it is declared.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	stdlibtest.go     calls of declarations with plain numbers, arguments for tests
//	functions_test.go derivatives, lanes, elements, executed examples
//	densities_test.go vectorised = sum of scalars, terms that ~ drops, errors, cdf' = density
//	arguments_test.go illegal arguments, against testdata/arguments.txt of real Stan
//	sizes_test.go     sizes of arguments that do not match
//	random_test.go    generators against their densities
//	far_generators_test.go generators at parameters that span their domains
//	matrices_test.go  generators of vectors and matrices, factors, hidden Markov chains
//	golden_test.go    values and derivatives in high precision, extreme arguments included;
//	                  testdata/golden/main.py computes them
//	sweep_test.go     the same at arguments that span the doubles; testdata/golden/sweep.py
//	multivariate_test.go the same for vectors and matrices; testdata/golden/multivariate.py
//	coverage_test.go  every function has such values, or recorded ones of real Stan
//	stan_test.go      values of real Stan
//	special_test.go   the same at ends of domains, infinities and NaN
//
// Arguments are drawn from the declared domains (Func.In). If these depend on each other, the
// domains in forms_test.go are used.
package stdlibtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// Value is an argument: numbers of a type, for each lane if there are lanes.
type Value struct {
	Type  types.Type
	Shape []int
	Lanes int
	Data  []float64
	Param bool // of parameter level
	// Hidden ints are not known to the declaration at bind time.
	Hidden bool
}

func (v Value) adType() ad.Type { return ad.Type{Lanes: v.Lanes, Shape: v.Shape} }

// Scalar returns a real or int number.
func Scalar(t types.Type, x float64) Value { return Value{Type: t, Data: []float64{x}} }

// arg returns the value as an argument with the given Ref.
func (v Value) arg(g *ad.Graph, ref ad.Ref) stdlib.Arg {
	a := stdlib.Arg{Type: v.Type, Ref: ref, Param: v.Param}
	if v.Type.Kind == types.Int && v.Lanes == 0 && !v.Hidden {
		a.Ints = make([]int64, len(v.Data))
		for i, x := range v.Data {
			a.Ints[i] = int64(x)
		}
	}
	return a
}

// Apply adds the call to g. The value of a density is the sum of its terms.
func Apply(g *ad.Graph, f *stdlib.Func, propto bool, vs []Value, refs []ad.Ref) ad.Ref {
	b := &stdlib.Builder{G: g, Name: f.Name, Propto: propto}
	args := make([]stdlib.Arg, len(vs))
	for i, v := range vs {
		args[i] = v.arg(g, refs[i])
		b.Lanes = max(b.Lanes, v.Lanes)
	}
	if f.Terms == nil {
		return f.Build(b, args)
	}
	sum := g.Const(0)
	for _, t := range f.Terms(b, args) {
		if !g.Type(t).IsScalar() {
			panic(fmt.Sprintf("%s: a term of type %v", f.Name, g.Type(t)))
		}
		sum = g.Add(sum, t)
	}
	return sum
}

// Eval returns the value of a call. Real arguments are inputs of the graph, so that nothing is
// folded; ints are constants.
func Eval(f *stdlib.Func, propto bool, vs []Value) (out []float64, err error) {
	return eval(f, propto, vs, knownInts, nil)
}

// EvalConstant is Eval with constants for all arguments, as for data.
func EvalConstant(f *stdlib.Func, propto bool, vs []Value) (out []float64, err error) {
	return eval(f, propto, vs, allKnown, nil)
}

// known selects the arguments that are constants of the graph.
type known int

const (
	unknownInts known = iota // none
	knownInts
	allKnown
)

func eval(f *stdlib.Func, propto bool, vs []Value, k known, rng *rand.Rand) (out []float64, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *stdlib.Error:
			err = r
		case *ad.BuildError:
			err = fmt.Errorf("%s: %w", f.Name, r)
		default:
			panic(r)
		}
	}()
	g := ad.NewGraph()
	var inputs [][]float64
	refs := make([]ad.Ref, len(vs))
	vs = slices.Clone(vs)
	for i, v := range vs {
		if k == allKnown || k == knownInts && v.Type.Kind == types.Int {
			refs[i] = g.ConstArray(v.adType(), v.Data)
			continue
		}
		refs[i] = g.Input(v.adType())
		inputs = append(inputs, v.Data)
	}
	for i := range vs {
		if k == unknownInts {
			vs[i].Hidden = true
		}
	}
	g.Output(Apply(g, f, propto, vs, refs))
	res, err := g.Eval(inputs, &ad.Env{Rand: rng})
	if err != nil {
		return nil, err
	}
	return res[0], nil
}

// The sizes of arguments in tests.
const (
	vectorSize = 4
	arraySize  = 3 // of matrices
)

// shapeOf returns the shape of a test value of type t.
func shapeOf(t types.Type) []int {
	var s []int
	for range t.Dims {
		n := vectorSize
		if t.Kind == types.Matrix {
			n = arraySize
		}
		s = append(s, n)
	}
	switch t.Kind {
	case types.Vector, types.RowVector:
		s = append(s, vectorSize)
	case types.Matrix:
		s = append(s, vectorSize, vectorSize)
	}
	return s
}

// Draw returns a random value of type t from the domain c. The zero Constraint allows all numbers.
func Draw(rng *rand.Rand, t types.Type, c types.Constraint) Value {
	v := Value{Type: t, Shape: shapeOf(t)}
	v.Data = make([]float64, ad.Type{Shape: v.Shape}.Size())
	for i := range v.Data {
		v.Data[i] = number(rng, t, c)
	}
	const size = vectorSize * vectorSize
	if t.Kind == types.Matrix && len(v.Data) > size && c.Structured() { // an array
		one := Draw(rng, types.MatrixType, c)
		for i := 0; i < len(v.Data); i += size {
			copy(v.Data[i:], one.Data)
		}
		return v
	}
	switch c.Kind {
	case types.Simplex, types.RowStochasticMatrix:
		normalise(v.Data, vectorSize)
	case types.ColumnStochasticMatrix:
		normalise(v.Data, vectorSize)
		transposed(v.Data)
	case types.UnitVector:
		for i := 0; i < len(v.Data); i += vectorSize {
			x, norm := v.Data[i:i+vectorSize], 0.0
			for _, x := range x {
				norm = math.Hypot(norm, x)
			}
			for j := range x {
				x[j] /= norm
			}
		}
	case types.SumToZeroVector:
		centred(v.Data)
	case types.SumToZeroMatrix:
		centred(v.Data)
		transposed(v.Data)
		centred(v.Data)
	case types.CholeskyFactorCov:
		for i := range vectorSize {
			row := v.Data[i*vectorSize : (i+1)*vectorSize]
			clear(row[i+1:])
			row[i] = math.Exp(0.4 * row[i])
		}
	case types.CovMatrix, types.CorrMatrix:
		copy(v.Data, definite(v.Data, c.Kind == types.CorrMatrix))
	case types.CholeskyFactorCorr:
		for i := range vectorSize {
			row := v.Data[i*vectorSize : (i+1)*vectorSize]
			clear(row[i+1:])
			row[i] = 1
			norm := 0.0
			for _, x := range row {
				norm = math.Hypot(norm, x)
			}
			for j := range row {
				row[j] /= norm
			}
		}
	case types.Ordered, types.PositiveOrdered:
		for i := range v.Data {
			if i%vectorSize > 0 {
				v.Data[i] = v.Data[i-1] + math.Exp(0.5*v.Data[i])
			} else if c.Kind == types.PositiveOrdered {
				v.Data[i] = math.Exp(0.5 * v.Data[i])
			}
		}
	default:
		if !c.Structured() {
			break
		}
		item := v.Shape[len(v.Shape)-c.Kind.Type().Rank():]
		size := ad.Type{Shape: item}.Size()
		for i := 0; i < len(v.Data); i += size {
			one := v.Data[i : i+size]
			for j := range one {
				if lo, _ := c.Kind.Range(); lo >= 0 {
					one[j] = math.Exp(0.5 * one[j])
				}
			}
			c.Kind.Example(item, one)
		}
	}
	return v
}

// centred subtracts the mean from every vector.
func centred(x []float64) {
	for ; len(x) > 0; x = x[vectorSize:] {
		mean := 0.0
		for _, v := range x[:vectorSize] {
			mean += v / vectorSize
		}
		for i := range x[:vectorSize] {
			x[i] -= mean
		}
	}
}

// transposed transposes a matrix.
func transposed(x []float64) {
	for i := range vectorSize {
		for j := range i {
			x[i*vectorSize+j], x[j*vectorSize+i] = x[j*vectorSize+i], x[i*vectorSize+j]
		}
	}
}

// definite returns M Mᵀ + I for a matrix M, or its correlation matrix.
func definite(m []float64, correlation bool) []float64 {
	const n = vectorSize
	s := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				s[i*n+j] += m[i*n+k] * m[j*n+k]
			}
			s[i*n+j] += float64(bit(i == j))
		}
	}
	if correlation {
		c := slices.Clone(s)
		for i := range n {
			for j := range n {
				s[i*n+j] = c[i*n+j] / math.Sqrt(c[i*n+i]*c[j*n+j])
			}
			s[i*n+i] = 1
		}
	}
	return s
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func normalise(x []float64, k int) {
	for ; len(x) > 0; x = x[k:] {
		sum := 0.0
		for i := range x[:k] {
			x[i] = math.Exp(x[i])
			sum += x[i]
		}
		for i := range x[:k] {
			x[i] /= sum
		}
	}
}

// number draws a number from c; an integer if t is int.
func number(rng *rand.Rand, t types.Type, c types.Constraint) float64 {
	z := rng.NormFloat64()
	if t.Kind == types.Int {
		if c == (types.Constraint{}) {
			return 2
		}
		lo := math.Ceil(c.Lo)
		if c.LoOpen && lo == c.Lo {
			lo++
		}
		return min(lo+math.Floor(rng.Float64()*6), math.Floor(c.Hi))
	}
	low, high := !math.IsInf(c.Lo, 0), !math.IsInf(c.Hi, 0)
	switch {
	case c == (types.Constraint{}):
		return 1.2 * z
	case low && high:
		return c.Lo + (c.Hi-c.Lo)*(0.08+0.84*rng.Float64())
	case low:
		return c.Lo + math.Exp(0.6*z)
	case high:
		return c.Hi - math.Exp(0.6*z)
	}
	return 1.2 * z
}

// At returns element i of lane l, as a scalar. The value may be a scalar itself.
func (v Value) At(l, i int) Value {
	size := ad.Type{Shape: v.Shape}.Size()
	k := 0
	if v.Lanes > 0 {
		k = l * size
	}
	if len(v.Shape) > 0 {
		k += i
	}
	return Value{Type: types.Type{Kind: v.Type.Scalar()}, Data: v.Data[k : k+1], Param: v.Param}
}

// Lane is lane l of v.
func (v Value) Lane(l int) Value {
	if v.Lanes == 0 {
		return v
	}
	size := ad.Type{Shape: v.Shape}.Size()
	v.Lanes, v.Data = 0, v.Data[l*size:(l+1)*size]
	return v
}

// Densities returns the density or mass of a distribution at each of y, for parameters p.
func Densities(d *stdlib.Dist, y, p []float64) ([]float64, error) {
	g := ad.NewGraph()
	shape := []int{len(y)}
	array := func(v []float64) ad.Ref { return g.ConstArray(ad.Type{Shape: shape}, v) }
	var params []ad.Ref
	for _, v := range p { // repeat parameters for each y, so that Terms does not sum over elements
		params = append(params, array(slices.Repeat([]float64{v}, len(y))))
	}
	sum := g.Const(0)
	for _, term := range d.Terms(g, array(y), params) {
		v, w := term.Value, term.Weight
		if term.Make != nil {
			v = term.Make()
		}
		if w == 0 {
			w = 1
		}
		sum = g.Add(sum, g.Scale(w, v))
	}
	g.Output(g.Broadcast(g.Exp(sum), shape))
	out, err := g.Eval(nil, &ad.Env{})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}
