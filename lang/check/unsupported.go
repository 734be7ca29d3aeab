package check

import (
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// feature is a part of Stan's language that is understood but that the rest of
// ppl cannot run yet. A program that uses it is refused with one message per
// feature; what depends on it has type Invalid. To support a feature, delete
// its constant and write what the compiler then misses.
type feature string

const (
	tuples      feature = "tuples are"
	complexNums feature = "complex numbers are"
	functors    feature = "functions as arguments are"
	truncation  feature = "truncation is"
	jacobian    feature = "jacobian is"
)

// constrainedType is the feature of declaring a constrained vector or matrix.
func constrainedType(k types.ConstraintKind) feature {
	return feature("the type " + k.String() + " is")
}

// supportedConstraint tells which constrained types can be declared.
func supportedConstraint(k types.ConstraintKind) bool {
	switch k {
	case types.Ordered, types.PositiveOrdered, types.Simplex:
		return true
	}
	return false
}

// unsupported refuses a feature, once in a program.
func (c *checker) unsupported(at source.Span, f feature) {
	if c.refused[f] {
		return
	}
	c.refused[f] = true
	c.report(diag.Errorf(diag.NotSupported, at, "%s not supported yet", f),
		"This is valid Stan that ppl cannot run so far.")
}
