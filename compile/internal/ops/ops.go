// Package ops is the table of elementwise ops as the executor knows them: one row
// for each tells its name, its arity, how one number of it is computed, a loop over
// strips if that is worth having, its formula in the primitives of machine code, and
// what it costs. The interpreter of scalar code, that of strips, the generator of
// machine code and the estimates of costs read the same row.
//
// Map of the package:
//
//	ops.go        Row, Of, and the ops that only passes make
//	table.go      the rows
//	functions.go  the exponential of one number
//	loops.go      loops over strips
//	reductions.go the ops that add up to one number
//
// An op without a row here has that of package ad: it is computed number by number,
// by ad's function, and has no machine code. A row with a formula computes the same bits
// in machine code as by its function, but for the limits that package native tells
// of its routines; a test compares them.
package ops

import (
	"iter"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// Row is what there is to know about an op.
type Row struct {
	Op    ad.OpCode
	Name  string
	Arity int

	// The value for one element, by arity.
	F1 func(x float64) float64
	F2 func(x, y float64) float64
	F3 func(x, y, z float64) float64

	// Loop computes dst of as many elements of a, b and c, of which those beyond the
	// arity are of no matter; dst may be one of them. All rows of elementwise ops
	// have one: if the table gives none, it calls the function above.
	Loop func(dst, a, b, c []float64)

	// Text is the op in machine code; nil: there is none.
	Formula *native.Formula

	// Reduce is the op as one that adds up to a number; nil: it is none such.
	Reduce *Reduction

	// Cost is the time per number in nanoseconds, beyond that of a pass over a strip
	// or of an instruction of scalar code.
	Cost float64
}

// Ops of this package's own, made by passes from those of ad; they have no
// derivatives, because differentiation comes before.
//
// The first are two ops at the cost of little more than one: a pass over a strip
// costs 0.35 to 0.5 ns per element, most of it for loading and storing, and an
// instruction of scalar code 3.4 ns, most of it for the jump and for waiting for
// the store of the operand.
//
// The others take the logistic functions apart, so that a value and its
// derivative share their exponential: with e = exp(-|x|) and l = log1p(e),
// log1p_exp is max(x, 0) + l and inv_logit 1/(1+e) or e/(1+e).
const (
	MulAdd       ad.OpCode = first + iota // a·b + c
	MulSub                                // a·b - c
	SubMul                                // c - a·b
	Sum                                   // of an accumulation: sums a
	Dot                                   // of an accumulation: sums a·b
	SumLog                                // of an accumulation: sums log a
	SumLog1p                              // of an accumulation: sums log1p a, of numbers between 0 and 1
	NotLessEqual                          // not (a ≤ b), of arrays

	ExpNegAbs  // exp(-|a|)
	ExpNegDiff // exp(-|a-b|), 1 where they are equal
	Sigmoid    // inv_logit(a), with b = exp(-|a|)
	MaxPlus0   // max(a, 0) + b
	MinMinus0  // min(a, 0) - b
	MaxPlus    // max(a, b) + c
	MaxOf      // max(a, b), as these have it

	end
)

// first is the first of these ops, beyond all of ad's.
const first = 1 << 12

// Of is the row of an op; one with no more than a name for ops that are not
// elementwise.
func Of(op ad.OpCode) *Row {
	if op >= first {
		return &own[op-first]
	}
	return &ads[op]
}

// All are the rows of all ops, ad's before those of this package.
func All() iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		for _, table := range [][]Row{ads, own[:]} {
			for i := range table {
				if table[i].Name != "" && !yield(&table[i]) {
					return
				}
			}
		}
	}
}

// Calls reports whether the machine code of an op calls routines.
func (r *Row) Calls() bool {
	return r.Formula != nil && r.Formula.Calls() || r.Reduce != nil && len(r.Reduce.Last) > 0
}

var (
	ads []Row // by ad.OpCode
	own [end - first]Row
)

func init() {
	ads = make([]Row, ad.OpRandom+1)
	for i := range ads {
		op := ad.OpCode(i)
		r := op.Row()
		ads[i] = Row{Op: op, Name: r.Name, Arity: r.Arity, F1: r.F1, F2: r.F2, F3: r.F3}
		if r.Class != ad.Linear {
			ads[i].Cost = unknownCost
		}
	}
	for _, r := range slices.Concat(rows(), reductions()) {
		at := Of(r.Op)
		if r.Name == "" {
			r.Name, r.Arity = at.Name, at.Arity
		}
		if r.F1 == nil && r.F2 == nil && r.F3 == nil {
			r.F1, r.F2, r.F3 = at.F1, at.F2, at.F3
		}
		*at = r
	}
	for _, table := range [][]Row{ads, own[:]} {
		for i := range table {
			table[i].withLoop()
		}
	}
}

// withLoop gives a row the loop that calls its function.
func (r *Row) withLoop() {
	f1, f2, f3 := r.F1, r.F2, r.F3
	switch {
	case r.Loop != nil:
	case f1 != nil:
		r.Loop = func(dst, a, _, _ []float64) {
			for i, x := range a[:len(dst)] {
				dst[i] = f1(x)
			}
		}
	case f2 != nil:
		r.Loop = func(dst, a, b, _ []float64) {
			a, b = a[:len(dst)], b[:len(dst)]
			for i := range dst {
				dst[i] = f2(a[i], b[i])
			}
		}
	case f3 != nil:
		r.Loop = func(dst, a, b, c []float64) {
			a, b, c = a[:len(dst)], b[:len(dst)], c[:len(dst)]
			for i := range dst {
				dst[i] = f3(a[i], b[i], c[i])
			}
		}
	}
}
