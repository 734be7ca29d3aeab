package types

import (
	"fmt"
	"math"
)

// Constraint is a set of values: the domain of an argument, or the support of a distribution. It is
// an interval of the reals or, if Kind is at least Ordered, a set of vectors or matrices.
// Constraints can be compared with ==. The zero Constraint is empty; use the variables below.
type Constraint struct {
	Text           string // completes "must be …", as in Stan's messages
	Kind           ConstraintKind
	Lo, Hi         float64 // bounds
	LoOpen, HiOpen bool    // the bound itself is not in the set
	NaN            bool    // NaN is in the set, as in Any only
}

// The constraints of arguments. Any contains all numbers, NaN too; the others exclude NaN.
var (
	Any                = Constraint{Text: "a number", Lo: negInf, Hi: posInf, NaN: true}
	NotNaN             = Constraint{Text: "not nan", Lo: negInf, Hi: posInf}
	Finite             = Constraint{Text: "finite", Lo: negInf, Hi: posInf, LoOpen: true, HiOpen: true}
	Positive           = Constraint{Text: "positive", Hi: posInf, LoOpen: true}
	PositiveFinite     = Constraint{Text: "positive finite", Hi: posInf, LoOpen: true, HiOpen: true}
	NonNegative        = Constraint{Text: "nonnegative", Hi: posInf}
	NonNegativeFinite  = Constraint{Text: "nonnegative finite", Hi: posInf, HiOpen: true}
	UnitInterval       = Constraint{Text: "in the interval [0, 1]", Hi: 1}
	OpenUnitInterval   = Constraint{Text: "in the interval (0, 1)", Hi: 1, LoOpen: true, HiOpen: true}
	SymmetricInterval  = Constraint{Text: "in the interval [-1, 1]", Lo: -1, Hi: 1}
	GreaterThanOne     = Constraint{Text: "greater than 1", Lo: 1, Hi: posInf, LoOpen: true}
	PositiveInt        = Constraint{Text: "positive", Lo: 1, Hi: posInf}
	OrderedVec         = Structure(Ordered)
	PositiveOrderedVec = Structure(PositiveOrdered)
	SimplexVec         = Structure(Simplex)
	UnitVec            = Structure(UnitVector)
	RowStochastic      = Structure(RowStochasticMatrix)
	CorrMat            = Structure(CorrMatrix)
	CovMat             = Structure(CovMatrix)
	CholeskyCorr       = Structure(CholeskyFactorCorr)
	CholeskyCov        = Structure(CholeskyFactorCov)
)

// Structure returns the set of the values of a constrained type.
func Structure(k ConstraintKind) Constraint {
	return Constraint{Text: k.Text(), Kind: k, Lo: negInf, Hi: posInf}
}

// Between returns the closed interval [lo, hi].
func Between(lo, hi float64) Constraint {
	return Constraint{Text: fmt.Sprintf("in the interval [%g, %g]", lo, hi), Lo: lo, Hi: hi}
}

// AtLeast returns the interval [lo, ∞].
func AtLeast(lo float64) Constraint {
	return Constraint{Text: fmt.Sprintf("greater than or equal to %g", lo), Lo: lo, Hi: posInf}
}

// AtMost returns the interval [-∞, hi].
func AtMost(hi float64) Constraint {
	return Constraint{Text: fmt.Sprintf("less than or equal to %g", hi), Lo: negInf, Hi: hi}
}

// Domain is the domain of an argument of a distribution. A zero In means no restriction.
type Domain struct {
	Is string // what the argument is, as in "Scale parameter"; may be empty
	In Constraint
}

// String returns the text that completes a sentence such as "sigma must be …".
func (c Constraint) String() string { return c.Text }

// Structured reports whether the constraint is about a whole vector or matrix, so that Contains
// alone cannot decide it.
func (c Constraint) Structured() bool { return c.Kind.Structured() }

// Contains reports whether a scalar is in the set; for a Structured constraint, whether an element
// may occur in a value that satisfies it.
func (c Constraint) Contains(x float64) bool {
	switch {
	case math.IsNaN(x):
		return c.NaN
	case x < c.Lo || x == c.Lo && c.LoOpen:
		return false
	case x > c.Hi || x == c.Hi && c.HiOpen:
		return false
	}
	return true
}
