package stdlib

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Func is one library function, or a family of its overloads. The checker uses its types, the
// binder its meaning, and the documentation its text. A resolved call contains it as its
// types.Overload.
//
// Exactly one of Build, Leaves, Terms, Int or OfShape defines the meaning. The exception is a
// function of integers: it has both Int (exact, for values known at bind time) and Build (for
// integers that are drawn or computed at run time).
type Func struct {
	types.Overload
	Name    string // as called: "exp", "operator+", "normal_lpdf"
	Doc     string
	Example []Example

	// Build adds the value to the graph. Arguments have one lane's shapes; see ad.Type for lanes.
	// Elementwise functions get their arguments unchanged (scalars and one common shape), so ops
	// broadcast them.
	Build func(b *Builder, a []Arg) ad.Ref

	// Leaves adds the leaves of a value of a composite type: the members of a tuple, the real and
	// the imaginary part of complex numbers. Here and in Build, arguments of such types are passed
	// as their leaves, one after another.
	Leaves func(b *Builder, a []Arg) []ad.Ref

	// Terms returns, for a density or mass, the addends of the log density, each a scalar per lane.
	// It leaves out those that may be dropped under b.Propto. It first adds the checks of the
	// arguments as effects. Addends without lanes stay so: code that sums over lanes counts them
	// once per lane.
	Terms func(b *Builder, a []Arg) []ad.Ref

	// Statements returns, for a density, its variate and parameters with their joint expected
	// information; nil if that is not known. The checks of the arguments are those of Terms, which
	// is called before.
	Statements func(b *Builder, a []Arg) []ad.Statement

	// Int returns the value of a function of int scalars; an error is a user's mistake, such as a
	// division by zero.
	Int func(a []int64) (int64, error)

	// OfShape returns the value (one int, or an int array) of a function that depends only on the
	// shapes of its arguments: size, rows, dims, ….
	OfShape func(shapes [][]int) []int64

	// Beyond marks functions that Stan does not have.
	Beyond bool

	// Random marks _rng functions. Their Build adds draws (ad.OpRandom).
	Random bool

	// In is the domain of the arguments, if not all numbers, for documentation and tests. Calls do
	// not check it.
	In []types.Constraint

	// Dist is the distribution that the function was derived from, or nil.
	Dist *Dist
}

// OnlyShape reports whether a value of the function depends only on the shapes of its arguments,
// which assignments to their elements do not change.
func (f *Func) OnlyShape() bool { return f.OfShape != nil }

// OfInts returns the value of a function for int scalars; see [Func.Int].
func (f *Func) OfInts(args []int64) (int64, error) {
	if f.Int == nil {
		return 0, errors.New("the function has no value of ints")
	}
	return f.Int(args)
}

// Arg is an argument of a call.
type Arg struct {
	Type types.Type
	// Ref is the value in the graph, integers as numbers.
	Ref ad.Ref
	// Ints is the value of an int or int array that is known at bind time and
	// the same in all lanes, flattened row-major; nil otherwise.
	Ints []int64
	// Param says that the argument depends on parameters.
	Param bool
	// Lower is, for Statements, the lower bound in a parameter's declaration, if it is a number and
	// the only bound; else nil.
	Lower *float64
}

// Builder is the context of a call.
type Builder struct {
	G      *ad.Graph
	Name   string // of the function as called, for messages
	Propto bool   // drop addends with arguments of data level only
	// Lanes is the number of lanes at the call, 0 if it is not in a loop of lanes. Only generators
	// need it, to draw once per lane even if no argument has lanes.
	Lanes int
	// Edition is the edition of the transforms of parameters.
	Edition transform.Edition
	// Adjust receives addends of the log Jacobian from _jacobian functions, each a scalar per lane.
	// nil: they are dropped.
	Adjust func(addend ad.Ref)
}

// Error is a mistake in a call that is found when the sizes are known. The binder reports it at the
// call.
type Error struct {
	Msg string
	// Unknown says that a value is not known before the program runs, although it determines the
	// result's size, or what is computed.
	Unknown bool
}

// Error implements error.
func (e *Error) Error() string { return e.Msg }

// Fail reports a mistake of the caller, such as sizes that do not match. It does not return: the
// binder recovers the *Error.
func (b *Builder) Fail(format string, args ...any) {
	panic(&Error{Msg: b.Name + ": " + fmt.Sprintf(format, args...)})
}

// FailUnknown is Fail for a value that must be known when the data are bound, but is not.
func (b *Builder) FailUnknown(format string, args ...any) {
	panic(&Error{Msg: b.Name + ": " + fmt.Sprintf(format, args...), Unknown: true})
}

// Dist declares one univariate distribution. NAME_lpdf or NAME_lpmf (vectorised over all
// arguments), NAME_rng, NAME_cdf, NAME_lcdf and NAME_lccdf are derived from it; see density.go.
type Dist struct {
	Name string
	Doc  string
	// Formula is the density or mass as an expression of the language in y and
	// the parameters, for documentation; a test evaluates it.
	Formula string
	// Mean, Variance and Link are expressions of the language in the parameters, which may be
	// conditions where moments exist only for some of them. Mean or Variance is empty if there is
	// none, or none in closed form. Link is the location on the scale on which models have linear
	// predictors: the whole line. It is empty where models have no such convention.
	Mean, Variance, Link string
	Cite                 string // reference for the formula, if not a handbook
	Discrete             bool   // the variate is int
	// Variate is the check of the variate: a value outside it is an error. Support is the set where
	// the density is positive: outside it, but within Variate, the log density is -Inf. A zero
	// Constraint in either means no restriction.
	Variate, Support types.Constraint
	Params           []Param
	Relations        []Relation
	// Terms returns the addends of the log density of one element, as expressions of y and the
	// parameters. In a call with containers, arguments are arrays or scalars, which ops broadcast.
	// Values of y outside the support are replaced by one inside.
	Terms func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term
	// Whole is optional. It replaces Terms in calls in which no term is dropped, and avoids the
	// cancellation of terms that ~ may drop one by one.
	Whole func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term
	// LogCDF and LogCCDF are for one element. They are optional, as is Rand; without them the
	// language does not have the functions. CDFVariate is the check of their variate, if it differs
	// from that of the density. If the check lets values below and above the support pass, they
	// must return -Inf and 0 there.
	LogCDF, LogCCDF func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref
	CDFVariate      types.Constraint
	// CDFCounts says that LogCDF and LogCCDF sum over counts. The ints among their arguments must
	// therefore be known when the data are bound.
	CDFCounts bool
	// Quantile returns the y for which the probability of at most y is q, 0 < q < 1, if there is a
	// closed form. Quantiles searches for the others.
	Quantile func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref
	Rand     func(rng *rand.Rand, p []float64) float64
	Examples []Example
	// Information is the joint expected information of the variate and the parameters; see
	// information.go for the definition. Half is the information if the variate is bounded below by
	// the location. Both are optional.
	Information, Half ad.Information
}

// Param is a parameter of a distribution.
type Param struct {
	Name string
	Is   string // what it is, for messages, such as "Scale parameter"
	In   types.Constraint
	Int  bool // of type int
	// Draws is the domain of the generator's argument, if it is not In: drawn counts must be ints.
	Draws types.Constraint
}

// Relation is a check between two arguments. The variate is argument 0; parameters are numbered
// from 1.
type Relation struct {
	Arg    int
	Strict bool // Arg must be greater than Than, otherwise at least Than
	Than   int
}

// Term is an addend of a log density. Of has bit 0 set if it depends on the variate, and bit i if
// it depends on parameter i (from 1); it is 0 for a constant. Under `~`, the term is dropped if
// every argument that it depends on is of data level.
type Term struct {
	Value ad.Ref
	Of    uint

	// Weight multiplies the value; 0 counts as 1.
	Weight float64
	// Make, if set, returns the value instead if the term is kept. Use it for values that cost much
	// to compute at bind time and are mostly dropped.
	Make func() ad.Ref
	// Total says that the value is already the sum over all elements of the call.
	Total bool
}

// The bits of Term.Of.
const (
	ofY uint = 1 << iota
	of1st
	of2nd
	of3rd
	of4th
	always = ^uint(0) // kept unless all arguments are data
)

// Extends implements types.Extension.
func (f *Func) Extends() bool { return f.Beyond }
