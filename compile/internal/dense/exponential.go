package dense

import (
	"math"

	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: exponentials of small matrices, one in each lane, and their derivatives in a
// direction. The op's row in package ad has a Padé approximant, which divides by a matrix with
// pivots. That would be a different order of rows in each lane, so the code here takes the Taylor
// polynomial of degree 16, in six products of matrices (Paterson and Stockmeyer 1973), at A/2ˢ, and
// squares it s times. The derivative is that of the same steps (Al-Mohy and Higham 2009). Lanes
// with a smaller s than others keep their matrix in the last squarings.

const (
	degree = 16
	block4 = 4 // number of terms of the polynomial between two products

	// reach is the largest norm of A/2ˢ. There the first term that the polynomial leaves out of the
	// derivative, reach¹⁶/16!, is half a unit in the last place of 1.
	reach = 0.68
	// farthest is the largest norm of a matrix; the op's row does the others.
	farthest = 0x1p200
)

// Exponentials generates code for the lanes of a frame.
type Exponentials struct {
	*native.Asm
	Frame   *native.Frame
	N       int   // order of the matrices
	Tangent bool  // the result is the derivative
	At      int32 // scratch memory of Size numbers
	Load    func(b *native.Builder, operand int) []native.Value
	Store   func(b *native.Builder, result []native.Value)
}

// Size returns the size of the scratch memory for matrices of order n in this number of lanes.
func (e *Exponentials) Size() int { return (2*matrices*e.N*e.N + 1) * e.Frame.Lanes() }

// Matrices in scratch memory, each followed by its derivative. Each element has a number for each
// lane.
const (
	base   = iota // A/2ˢ
	second        // its powers
	third
	fourth
	even // the polynomial, before and after a product
	odd
	matrices
)

// term is a matrix times a number.
type term struct {
	of     int
	factor float64
}

// Registers: the position in a row, in numbers, and the addresses of the matrix before and after a
// squaring.
const (
	rowOf, before, after = native.T4, native.T1, native.T2
)

// element returns the place of number k of a matrix, or of its derivative.
func (e *Exponentials) element(of, k int, derivative bool) native.Address {
	return scratch(int(e.At) + e.offset(of, derivative) + k*e.Frame.Lanes())
}

func (e *Exponentials) offset(of int, derivative bool) int {
	if derivative {
		of += matrices
	}
	return of * e.N * e.N * e.Frame.Lanes()
}

// count is the place of the numbers of squarings that remain.
func (e *Exponentials) count() native.Address {
	return scratch(int(e.At) + 2*matrices*e.N*e.N*e.Frame.Lanes())
}

// Emit generates the code. It jumps to wrong if a matrix in a lane is larger than farthest, or has
// NaN.
func (e *Exponentials) Emit(wrong native.Label) {
	e.scale(wrong)
	e.product(second, base, base, nil)
	e.product(third, second, base, nil)
	e.product(fourth, second, second, nil)
	from, to := odd, even
	inverse := func(k int) float64 { return 1 / math.Gamma(float64(k+1)) }
	for k := degree - block4; k >= 0; k -= block4 {
		terms := []term{{base, inverse(k + 1)}, {second, inverse(k + 2)}, {third, inverse(k + 3)}}
		if k == degree-block4 {
			e.sum(to, append(terms, term{fourth, inverse(degree)}))
		} else {
			e.product(to, from, fourth, terms)
		}
		e.addIdentity(to, inverse(k))
		from, to = to, from
	}
	e.squarings(from, to)
	b := e.Builder()
	result := make([]native.Value, e.N*e.N)
	for k := range result {
		result[k] = b.Load(native.Address{Base: before, Index: native.NoReg, Disp: int32(8 * (e.derivativeAt() + k*e.Frame.Lanes()))})
	}
	e.Store(b, result)
	e.Frame.Emit(b, e.Frame.Lanes())
}

// derivativeAt returns the distance of the result from the matrix at the address in before.
func (e *Exponentials) derivativeAt() int {
	if e.Tangent {
		return matrices * e.N * e.N * e.Frame.Lanes()
	}
	return 0
}

// scale computes A/2ˢ, the derivative of that, and s.
func (e *Exponentials) scale(wrong native.Label) {
	b, n := e.Builder(), e.N
	a := e.Load(b, 0)
	var largest, total native.Value
	for j := range n {
		sum := b.Abs(a[j])
		for i := 1; i < n; i++ {
			sum = b.Add(sum, b.Abs(a[i*n+j]))
		}
		if j == 0 {
			largest, total = sum, sum
		} else {
			largest, total = b.Max(sum, largest), b.Add(total, sum)
		}
	}
	b.Branch(b.Compare(native.NLE, total, b.Number(farthest)), wrong) // also if it is NaN
	ratio := b.Mul(largest, b.Number(1/reach))
	// 2ᵏ⁻¹ ≤ ratio < 2ᵏ for the exponent k; s is k, at least 0.
	const bias = 1022
	k := b.SubWord(b.Shr(ratio, 52), b.Word(bias))
	s := b.Keep(b.Compare(native.GE, ratio, b.Number(1)), k)
	const integers = 0x1p52 // with a small integer in its last bits, the sum of both
	b.Store(e.count(), b.Sub(b.Or(s, b.Number(integers)), b.Number(integers)), false)
	factor := b.Shl(b.SubWord(b.Word(bias+1), s), 52)
	for i, x := range a {
		b.Store(e.element(base, i, false), b.Mul(x, factor), false)
	}
	if e.Tangent {
		for i, x := range e.Load(b, 1) {
			b.Store(e.element(base, i, true), b.Mul(x, factor), false)
		}
	}
	e.Frame.Emit(b, e.Frame.Lanes())
}

// rows generates a loop over the rows of a matrix. f generates the code of one; the first one
// begins at number rowOf of a matrix.
func (e *Exponentials) rows(f func(b *native.Builder)) {
	row, all := int32(e.N*e.Frame.Lanes()), int32(e.N*e.N*e.Frame.Lanes())
	again := e.NewLabel()
	e.MovImm(rowOf, 0)
	e.Place(again)
	b := e.Builder()
	f(b)
	e.Frame.Emit(b, e.Frame.Lanes())
	e.AddImm(rowOf, row)
	e.CmpImm(rowOf, all)
	e.If(native.Less, again)
}

// inRow returns the place of number j of the row of a matrix.
func (e *Exponentials) inRow(of, j int, derivative bool) native.Address {
	p := e.element(of, j, derivative)
	p.Index = rowOf
	return p
}

// product generates to = left·right + Σ terms.
func (e *Exponentials) product(to, left, right int, terms []term) {
	e.rows(func(b *native.Builder) {
		load := func(of int, derivative bool) (row []native.Value) {
			for j := range e.N {
				row = append(row, b.Load(e.inRow(of, j, derivative)))
			}
			return row
		}
		matrix := func(derivative bool) (m []native.Value) {
			for k := range e.N * e.N {
				m = append(m, b.Load(e.element(right, k, derivative)))
			}
			return m
		}
		l, r := load(left, false), matrix(false)
		store := func(derivative bool, sums []native.Value) {
			for j, s := range sums {
				b.Store(e.inRow(to, j, derivative), s, false)
			}
		}
		if e.Tangent {
			sums := e.times(b, l, matrix(true), e.terms(b, terms, true))
			store(true, e.times(b, load(left, true), r, sums))
		}
		store(false, e.times(b, l, r, e.terms(b, terms, false)))
	})
}

// sum generates to = Σ terms.
func (e *Exponentials) sum(to int, terms []term) {
	e.rows(func(b *native.Builder) {
		for _, derivative := range [2]bool{false, true} {
			if derivative && !e.Tangent {
				break
			}
			for j, s := range e.terms(b, terms, derivative) {
				b.Store(e.inRow(to, j, derivative), s, false)
			}
		}
	})
}

// terms returns a row of Σ terms; nil without terms.
func (e *Exponentials) terms(b *native.Builder, terms []term, derivative bool) []native.Value {
	if terms == nil {
		return nil
	}
	sums := make([]native.Value, e.N)
	for k, t := range terms {
		for j := range sums {
			x := b.Load(e.inRow(t.of, j, derivative))
			if k == 0 {
				sums[j] = b.Mul(x, b.Number(t.factor))
			} else {
				sums[j] = b.MulAdd(x, b.Number(t.factor), sums[j])
			}
		}
	}
	return sums
}

// times returns sums + row·m, for a row and a matrix m; nil sums are 0.
func (e *Exponentials) times(b *native.Builder, row, m, sums []native.Value) []native.Value {
	out := append([]native.Value(nil), sums...)
	for k, x := range row {
		for j := range e.N {
			if k == 0 && sums == nil {
				out = append(out, b.Mul(x, m[j]))
			} else {
				out[j] = b.MulAdd(x, m[k*e.N+j], out[j])
			}
		}
	}
	return out
}

// addIdentity adds a multiple of the identity to a matrix.
func (e *Exponentials) addIdentity(to int, factor float64) {
	b := e.Builder()
	for i := range e.N {
		at := e.element(to, i*(e.N+1), false)
		b.Store(at, b.Add(b.Load(at), b.Number(factor)), false)
	}
	e.Frame.Emit(b, e.Frame.Lanes())
}

// squarings squares a matrix in each lane as often as its count says, with another matrix as
// memory. The result is at the address in before.
func (e *Exponentials) squarings(of, other int) {
	e.LeaAddress(before, e.element(of, 0, false))
	e.LeaAddress(after, e.element(other, 0, false))
	again, test := e.NewLabel(), e.NewLabel()
	lanes := e.Frame.Lanes()
	at := func(r native.Reg, k int, derivative bool) native.Address {
		if derivative {
			k += matrices * e.N * e.N
		}
		return native.Address{Base: r, Index: native.NoReg, Disp: int32(8 * k * lanes)}
	}
	e.Jump(test)
	e.Place(again)
	e.rows(func(b *native.Builder) {
		going := b.Compare(native.GT, b.Load(e.count()), b.Number(0))
		load := func(derivative bool) (row, m []native.Value) {
			for j := range e.N {
				p := at(before, j, derivative)
				p.Index = rowOf
				row = append(row, b.Load(p))
			}
			for k := range e.N * e.N {
				m = append(m, b.Load(at(before, k, derivative)))
			}
			return row, m
		}
		store := func(derivative bool, row, sums []native.Value) {
			for j, s := range sums {
				p := at(after, j, derivative)
				p.Index = rowOf
				b.Store(p, b.Select(going, s, row[j]), false)
			}
		}
		row, m := load(false)
		if e.Tangent {
			drow, dm := load(true)
			store(true, drow, e.times(b, drow, m, e.times(b, row, dm, nil)))
		}
		store(false, row, e.times(b, row, m, nil))
	})
	b := e.Builder()
	b.Store(e.count(), b.Sub(b.Load(e.count()), b.Number(1)), false)
	e.Frame.Emit(b, lanes)
	e.Mov(rowOf, before)
	e.Mov(before, after)
	e.Mov(after, rowOf)
	e.Place(test)
	b = e.Builder()
	b.Branch(b.Compare(native.GT, b.Load(e.count()), b.Number(0)), again)
	e.Frame.Emit(b, lanes)
}
