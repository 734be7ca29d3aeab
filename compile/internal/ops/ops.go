// Package ops is the executor's table of elementwise ops. Each op has a row with its name, its
// arity, a function for one number, a loop over strips if it pays, its formula in the primitives of
// machine code, and its cost. Four parts read the same row: the interpreters of scalar code and of
// strips, the generator of machine code, and the cost estimates.
//
// Map of the package:
//
//	ops.go        Row, Of, and the ops that only passes create
//	table.go      the rows
//	functions.go  the exponential of one number
//	loops.go      loops over strips
//	reductions.go the ops that reduce to one number
//	sumlog.go     the sum of logarithms
//
// An op without a row here has the row of package ad: ad's function computes it number by number,
// without machine code. A row with a formula gives the same bits in machine code as by its
// function, up to the documented limits of package native's routines. A test compares them.
package ops

import (
	"iter"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// Row describes an op.
type Row struct {
	Op    ad.OpCode
	Name  string
	Arity int

	// The op as a function of 1, 2 or 3 numbers.
	F1 func(x float64) float64
	F2 func(x, y float64) float64
	F3 func(x, y, z float64) float64

	// Loop computes dst from as many elements of a, b and c. Operands beyond the arity are ignored;
	// dst may be one of the operands. All rows of elementwise ops have a loop: if the table has
	// none, it calls the function above.
	Loop func(dst, a, b, c []float64)

	// Formula is the op in machine code; nil: none.
	Formula *native.Formula

	// Reduce describes the op as a reduction to one number; nil: it is not a reduction.
	Reduce *Reduction

	// Cost is the time per number in nanoseconds, beyond the time of a pass over a strip or of an
	// instruction of scalar code.
	Cost float64
}

// These ops belong to this package. Passes make them from ad's ops. They have no derivatives,
// because differentiation comes earlier.
//
// The first ones combine two ops at little more than the cost of one. A pass over a strip costs
// 0.35 to 0.5 ns per element, mostly for loads and stores. An instruction of scalar code costs 3.4
// ns, mostly for the jump and for waiting for the store of the operand.
//
// The others are parts of logistic functions, so that a value and its derivative share their
// exponential. With e = exp(-|x|) and l = log1p(e), log1p_exp is max(x, 0) + l, and inv_logit is
// 1/(1+e) or e/(1+e).
const (
	MulAdd       ad.OpCode = first + iota // a·b + c
	MulSub                                // a·b - c
	SubMul                                // c - a·b
	Sum                                   // for accumulations: adds a
	Dot                                   // for accumulations: adds a·b
	SumLog                                // for accumulations: adds log a
	SumLog1p                              // for accumulations: adds log1p a, of numbers between 0 and 1
	NotLessEqual                          // not (a ≤ b), for arrays

	ExpNegAbs  // exp(-|a|)
	ExpNegDiff // exp(-|a-b|), 1 where they are equal
	Sigmoid    // inv_logit(a), with b = exp(-|a|)
	MaxPlus0   // max(a, 0) + b
	MinMinus0  // min(a, 0) - b
	MaxPlus    // max(a, b) + c
	MaxOf      // a, or b if a < b

	end
)

// first is the number of the first of these ops; all numbers of ad's ops are smaller.
const first = 1 << 12

// Of returns the row of an op. For ops that are not elementwise, the row has only a name.
func Of(op ad.OpCode) *Row {
	if op >= first {
		return &own[op-first]
	}
	return &ads[op]
}

// All iterates over the rows of all ops, ad's before those of this package.
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
	ads []Row // the rows of ad's ops, by ad.OpCode
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
