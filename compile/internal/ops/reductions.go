package ops

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// Reduction describes an op that reduces operands to one number.
type Reduction struct {
	Title string // its name in listings

	// Loop returns the contribution of a strip of operands. Operands beyond the arity are ignored.
	Loop func(a, b []float64) float64

	// Add adds operands to an accumulator. active replaces the values of unused lanes by 0. If Add
	// is nil, the op has no machine code.
	Add func(b *builder, acc int, x []value, active func(value) value)

	// Last lists the routines that are applied to the accumulator after the last strip.
	Last []native.Routine
}

// reductions returns the rows of the ops that reduce.
func reductions() []Row {
	return []Row{
		{Op: Sum, Name: "sum", Arity: 1, Reduce: &Reduction{Title: "sum",
			Loop: func(a, _ []float64) float64 { return SumOf(a) },
			Add:  func(b *builder, acc int, x []value, active func(value) value) { b.Sum(acc, active(x[0])) }}},
		{Op: Dot, Name: "dot", Arity: 2, Reduce: &Reduction{Title: "dot",
			Loop: DotOf,
			Add: func(b *builder, acc int, x []value, active func(value) value) {
				b.Sum(acc, active(b.Mul(x[0], x[1])))
			}}},
		{Op: SumLog, Name: "sum_log", Arity: 1, Cost: 0.5, Reduce: &Reduction{Title: "sum log",
			Loop: func(a, _ []float64) float64 { return sumLog(a) }}},
		{Op: SumLog1p, Name: "sum_log1p", Arity: 1, Reduce: &Reduction{Title: "sum log1p",
			Loop: func(a, _ []float64) float64 { return sumLog1p(a) },
			Add: func(b *builder, acc int, x []value, active func(value) value) { // like sumLog1p
				y := active(x[0])
				b.Compound(acc, b.Add(y, b.Number(1)), y)
			},
			Last: []native.Routine{native.Log1p}}},
	}
}

// SumOf returns the sum of numbers. It keeps eight partial sums, like the lanes of the widest
// machine code. These are added as a tree: those four apart, then two apart, then neighbours. So
// every processor, and this code, gets the same sum.
//
//go:noinline
func SumOf(a []float64) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for ; len(a) >= 8; a = a[8:] {
		x := (*[8]float64)(a)
		s0 += x[0]
		s1 += x[1]
		s2 += x[2]
		s3 += x[3]
		s4 += x[4]
		s5 += x[5]
		s6 += x[6]
		s7 += x[7]
	}
	switch len(a) {
	case 7:
		s6 += a[6]
		fallthrough
	case 6:
		s5 += a[5]
		fallthrough
	case 5:
		s4 += a[4]
		fallthrough
	case 4:
		s3 += a[3]
		fallthrough
	case 3:
		s2 += a[2]
		fallthrough
	case 2:
		s1 += a[1]
		fallthrough
	case 1:
		s0 += a[0]
	}
	return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
}

// DotOf returns the sum of products.
//
//go:noinline
func DotOf(a, b []float64) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	b = b[:len(a)]
	for ; len(a) >= 8; a, b = a[8:], b[8:] {
		x, y := (*[8]float64)(a), (*[8]float64)(b)
		s0 += float64(x[0] * y[0])
		s1 += float64(x[1] * y[1])
		s2 += float64(x[2] * y[2])
		s3 += float64(x[3] * y[3])
		s4 += float64(x[4] * y[4])
		s5 += float64(x[5] * y[5])
		s6 += float64(x[6] * y[6])
		s7 += float64(x[7] * y[7])
	}
	switch len(a) {
	case 7:
		s6 += float64(a[6] * b[6])
		fallthrough
	case 6:
		s5 += float64(a[5] * b[5])
		fallthrough
	case 5:
		s4 += float64(a[4] * b[4])
		fallthrough
	case 4:
		s3 += float64(a[3] * b[3])
		fallthrough
	case 3:
		s2 += float64(a[2] * b[2])
		fallthrough
	case 2:
		s1 += float64(a[1] * b[1])
		fallthrough
	case 1:
		s0 += float64(a[0] * b[0])
	}
	return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
}

// sumLog1p returns the sum of log1p a for numbers between 0 and 1. This is the logarithm of the
// product of all 1 + a, stored as p = product - 1. Nothing cancels in p, so its error is one
// rounding per factor, however small the numbers are. There are eight products, like the lanes of
// the widest machine code. a must have fewer than 8000 elements, so that none of them overflows.
//
//go:noinline
func sumLog1p(a []float64) float64 {
	var p [8]float64
	for i, x := range a {
		q := &p[i&7]
		*q = float64(*q*(x+1)) + x
	}
	Of(ad.OpLog1p).Loop(p[:], p[:], nil, nil)
	return SumOf(p[:])
}
