package ad

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// SVD returns the thin singular value decomposition A = U diag(σ) Vᵀ of a matrix. σ is in
// descending order. U and V have orthonormal columns, also where singular values are 0; their
// number is the smaller dimension of A.
//
// Singular vectors are determined up to signs, and those of equal singular values up to rotations
// of their space. Derivatives within that space do not exist and are taken to be 0. Derivatives of
// vectors whose singular values are 0 do not exist either. Rounding mostly makes such values about
// 1e-16 of the greatest, so the derivative computed there is 0 or meaningless.
func (g *Graph) SVD(a Ref) (values, u, v Ref) {
	r := g.Do(OpSVD, nil, a)
	values, u, vt := g.singular(r, g.Type(a).Shape)
	return values, u, g.Transpose(vt)
}

// singular splits the result of OpSVD into σ, U and Vᵀ, for a matrix of the given shape.
func (g *Graph) singular(x Ref, shape []int) (values, u, vt Ref) {
	r, c := shape[0], shape[1]
	k := min(r, c)
	return g.Slice(x, 0, []int{k}), g.Slice(x, k, []int{r, k}), g.Slice(x, k+r*k, []int{k, c})
}

func svdOp() Op {
	return Op{Name: "singular values", Class: Array, Arity: 1,
		Shape: func(args []Type, _ any) (Type, error) {
			s := args[0].Shape
			if len(s) != 2 {
				return Type{}, fmt.Errorf("shape %v is not that of a matrix", s)
			}
			k := min(s[0], s[1])
			return Type{Shape: []int{k + k*(s[0]+s[1])}}, nil
		},
		Eval: func(dst []float64, args [][]float64, types []Type, _ any, work []float64) error {
			return decompose(dst, args[0], types[0].Shape[0], types[0].Shape[1], work)
		},
		Work: func(args []Type, _ any) int { return svdWork(args[0].Shape[0], args[0].Shape[1]) },
		VJP:  svdAdjoint,
	}
}

// general returns an r×c matrix in the form of package blas64.
func general(x []float64, r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: max(c, 1), Data: x}
}

// svdWork returns the size of the work space of decompose: a copy of the matrix, a square matrix,
// and blocks of 32 rows or columns, which suit package lapack64 best.
func svdWork(r, c int) int {
	k := min(r, c)
	return r*c + k*(k+4) + 32*(r+c)
}

// decompose computes σ, U and Vᵀ of an r×c matrix. All are NaN if an element is not finite.
func decompose(dst, a []float64, r, c int, work []float64) error {
	k := min(r, c)
	if k == 0 {
		return nil
	}
	for _, x := range a {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			for i := range dst {
				dst[i] = math.NaN()
			}
			return nil
		}
	}
	values, u, vt := dst[:k], dst[k:k+r*k], dst[k+r*k:]
	m, rest := work[:r*c], work[r*c:]
	copy(m, a)
	if !lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, general(m, r, c), general(u, r, k), general(vt, k, c), values, rest, len(rest)) {
		return errors.New("the singular values of the matrix do not converge")
	}
	return nil
}

// svdAdjoint returns the adjoint of A. A change dA of A rotates U by Ω and V by Φ within the spaces
// that their columns span. Both are antisymmetric; with P = Uᵀ dA V they are
//
//	Ω, Φ = ½ F∘(P + Pᵀ) ± ½ H∘(P - Pᵀ), F(i,j) = 1/(σj - σi), H(i,j) = 1/(σi + σj),
//
// where F is 0 between equal singular values. The change also adds (I - UUᵀ) dA V diag(σ)⁻¹ to U,
// which is 0 if A has no more rows than columns, and a corresponding term to V. The rule is the
// transpose of these formulas.
func svdAdjoint(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
	shape := g.Type(n.Args[0]).Shape
	r, c := shape[0], shape[1]
	k := min(r, c)
	values, u, vt := g.singular(out, shape)
	dValues, dU, dVt := g.singular(adj, shape)
	column := g.Gather(values, Index{Dims: []Dim{{N: k}, {N: k, Stride: 1}}})
	row := g.Gather(values, Index{Dims: []Dim{{N: k, Stride: 1}, {N: k}}})
	inverse := func(x Ref) Ref { return g.Select(g.Equal(x, g.Const(0)), g.Const(0), g.Inv(x)) }
	ofU, ofV := g.matMul(u, dU, true, false), g.matMul(vt, dVt, false, true)
	x := g.Mul(inverse(g.Sub(column, row)), g.Add(ofU, ofV))
	y := g.Mul(inverse(g.Add(column, row)), g.Sub(ofU, ofV))
	inner := g.Scale(0.5, g.Add(g.Add(x, g.Transpose(x)), g.Sub(y, g.Transpose(y))))
	inner = g.Add(inner, g.Scatter(dValues, Index{Dims: []Dim{{N: k, Stride: k + 1}}}, []int{k, k}))
	left := g.matMul(u, inner, false, false)
	if r > k {
		scale := inverse(g.Gather(values, Index{Dims: []Dim{{N: r}, {N: k, Stride: 1}}}))
		left = g.Add(left, g.Mul(scale, g.Sub(dU, g.matMul(u, ofU, false, false))))
	}
	sum := g.matMul(left, vt, false, false)
	if c > k {
		scale := inverse(g.Gather(values, Index{Dims: []Dim{{N: k, Stride: 1}, {N: c}}}))
		right := g.Mul(scale, g.Sub(dVt, g.matMul(ofV, vt, true, false)))
		sum = g.Add(sum, g.matMul(u, right, false, false))
	}
	return []Ref{sum}
}

// Orthonormal makes the columns of a complex matrix orthonormal. The matrix has at least as many
// rows as columns. It subtracts from each column its components along the previous columns; if
// little remains, it uses a vector orthogonal to these instead. It is meant for columns that are
// orthonormal except for rounding, or that rounding alone determines, so derivatives are those of
// the columns as given.
func (g *Graph) Orthonormal(re, im Ref) (outRe, outIm Ref) {
	s := g.Type(re).Shape
	x := g.parts(g.Do(OpOrthonormal, nil, g.together(pairs{re, im})), 0, s...)
	return x.re, x.im
}

func orthonormalOp() Op {
	return Op{Name: "orthonormal", Class: Array, Arity: 1,
		Shape: func(args []Type, _ any) (Type, error) {
			s := args[0].Shape
			if len(s) != 3 || s[0] != 2 || s[1] < s[2] {
				return Type{}, fmt.Errorf("no columns of a complex matrix in shape %v", s)
			}
			return Type{Shape: s}, nil
		},
		Eval: func(dst []float64, args [][]float64, types []Type, _ any, _ []float64) error {
			copy(dst, args[0])
			for _, x := range dst {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					return nil
				}
			}
			orthonormalise(dst, types[0].Shape[1], types[0].Shape[2])
			return nil
		},
		VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref { return []Ref{adj} },
	}
}

// orthonormalise makes k columns of m complex numbers orthonormal, by the method of Gram and
// Schmidt, applied twice to each column.
func orthonormalise(x []float64, m, k int) {
	re, im := x[:m*k], x[m*k:]
	// reduce subtracts from column j its components along the columns before it. It returns the
	// norm of the rest.
	reduce := func(j int) float64 {
		for l := range 2 * j {
			l %= j
			var a, b float64
			for i := range m {
				p, q := i*k+l, i*k+j
				a += re[p]*re[q] + im[p]*im[q]
				b += re[p]*im[q] - im[p]*re[q]
			}
			for i := range m {
				p, q := i*k+l, i*k+j
				re[q] -= a*re[p] - b*im[p]
				im[q] -= a*im[p] + b*re[p]
			}
		}
		sum := 0.0
		for i := range m {
			sum += re[i*k+j]*re[i*k+j] + im[i*k+j]*im[i*k+j]
		}
		return math.Sqrt(sum)
	}
	for j := range k {
		norm := reduce(j)
		if norm < 0.1 {
			// Take the unit vector with the smallest components along the columns before. On
			// average over all unit vectors, the square of what remains is 1 - j/m, so it is at
			// least that.
			best, least := 0, math.Inf(1)
			for i := range m {
				along := 0.0
				for l := range j {
					along += re[i*k+l]*re[i*k+l] + im[i*k+l]*im[i*k+l]
				}
				if along < least {
					best, least = i, along
				}
			}
			for i := range m {
				re[i*k+j], im[i*k+j] = 0, 0
			}
			re[best*k+j] = 1
			norm = reduce(j)
		}
		for i := range m {
			re[i*k+j] /= norm
			im[i*k+j] /= norm
		}
	}
}
