package stdlib

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Func is one library function, or a family of its overloads: the declaration
// from which the checker takes the types, the binder the meaning, and the
// documentation its text. It is the types.Overload that a resolved call holds.
//
// Exactly one of Build, Leaves, Terms, Int or OfShape gives the meaning, except that a
// function of integers has both Int (exact, for values known at bind time) and
// Build (for integers that are drawn or computed when the program runs).
type Func struct {
	types.Overload
	Name    string // as called: "exp", "operator+", "normal_lpdf"
	Doc     string
	Example []Example

	// Build adds the value to the graph. Arguments have one lane's shapes; see
	// ad.Type for lanes. Element-by-element functions get their arguments as
	// they are (scalars and one common shape), so ops broadcast them.
	Build func(b *Builder, a []Arg) ad.Ref

	// Leaves adds the leaves of a value of a composite type: the members of a
	// tuple, the real and the imaginary part of complex numbers. Arguments of
	// such types come as their leaves, one after another, here and in Build.
	Leaves func(b *Builder, a []Arg) []ad.Ref

	// Terms is for densities and masses: the addends of the log density, each a
	// scalar per lane; those that may be dropped under b.Propto are left out.
	// Checks of the arguments are added as effects first. Addends without lanes
	// stay so: whoever adds over lanes counts them once per lane.
	Terms func(b *Builder, a []Arg) []ad.Ref

	// Statements are, for a density, its variate and parameters with their joint
	// expected information; nil if that is not known. Checks of the arguments
	// are those of Terms, which is called before.
	Statements func(b *Builder, a []Arg) []ad.Statement

	// Int is the value of a function of int scalars; the error is a user's
	// mistake such as a division by zero.
	Int func(a []int64) (int64, error)

	// OfShape is the value (one int, or an int array) of a function that
	// depends on the shapes of its arguments only: size, rows, dims, ….
	OfShape func(shapes [][]int) []int64

	// Random marks _rng functions: Build adds draws (ad.OpRandom).
	Random bool

	// In is the domain of the arguments where it is not all numbers, for
	// documentation and tests; it is not checked when the function is called.
	In []types.Constraint

	// Dist is the distribution that the function was derived from, or nil.
	Dist *Dist
}

// OnlyShape reports whether a value of the function depends on nothing but the shapes of its
// arguments, which assignments to their elements leave as they are.
func (f *Func) OnlyShape() bool { return f.OfShape != nil }

// OfInts is the value of a function of int scalars, see [Func.Int].
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
	// Param sets the argument's autodiff level to that of parameters.
	Param bool
	// Lower is, for Statements, the lower bound that a parameter is declared
	// with, if that is a number and the only bound; else nil.
	Lower *float64
}

// Builder is the place of a call.
type Builder struct {
	G      *ad.Graph
	Name   string // of the function as called, for messages
	Propto bool   // drop addends with arguments of data level only
	// Lanes is the number of lanes at the place of the call, 0 if it is not in a
	// loop of lanes; only generators need it, to draw once per lane even if no
	// argument has lanes.
	Lanes int
	// Edition is that of the transforms of parameters.
	Edition transform.Edition
	// Adjust receives addends of the log Jacobian from _jacobian functions, each a
	// scalar per lane; nil drops them.
	Adjust func(addend ad.Ref)
}

// Error is a mistake in a call that shows when the sizes are known: the binder
// reports it at the call.
type Error struct {
	Msg string
	// Unknown says that a value decides the result's size, or what is computed, and
	// is not known before the program runs.
	Unknown bool
}

// Error implements error.
func (e *Error) Error() string { return e.Msg }

// Fail reports a mistake of the caller, such as sizes that do not match; it
// does not return. The binder recovers the *Error.
func (b *Builder) Fail(format string, args ...any) {
	panic(&Error{Msg: b.Name + ": " + fmt.Sprintf(format, args...)})
}

// FailUnknown is Fail for a value that would have to be known when the data are
// bound.
func (b *Builder) FailUnknown(format string, args ...any) {
	panic(&Error{Msg: b.Name + ": " + fmt.Sprintf(format, args...), Unknown: true})
}

// Dist declares one univariate distribution. From it are derived NAME_lpdf or
// NAME_lpmf (vectorised over all arguments), NAME_rng, NAME_cdf, NAME_lcdf,
// NAME_lccdf: see density.go.
type Dist struct {
	Name string
	Doc  string
	// Formula is the density or mass as an expression of the language in y and
	// the parameters, for documentation; a test evaluates it.
	Formula  string
	Cite     string // where the formula is from, if not from a handbook
	Discrete bool   // the variate is int
	// Variate is the check of the variate: a value outside it is an error.
	// Support is where the density is positive: outside it, but within Variate,
	// the log density is -Inf. The zero Constraint in either is no restriction.
	Variate, Support types.Constraint
	Params           []Param
	Relations        []Relation
	// Terms are the addends of the log density of one element, as expressions
	// of y and the parameters. In a call with containers, arguments are arrays
	// or scalars, which ops broadcast; y is replaced by a value in the support
	// where it is outside.
	Terms func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term
	// Whole is optional: what Terms is, for calls in which no term is dropped, without the
	// cancellation of terms that ~ may drop one by one.
	Whole func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term
	// LogCDF and LogCCDF of one element; optional, as is Rand: absence removes
	// the function from the language. CDFVariate is the check of their variate,
	// if it is not that of the density; below and above the support they must
	// give -Inf and 0 themselves where the check lets such values pass.
	LogCDF, LogCCDF func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref
	CDFVariate      types.Constraint
	// CDFCounts says that LogCDF and LogCCDF need the ints among the arguments
	// to be known when the data are bound, as they sum over counts.
	CDFCounts bool
	// Quantile is the y of a probability q of at most y, 0 < q < 1, where it has a
	// closed form; Quantiles searches for the others.
	Quantile func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref
	Rand     func(rng *rand.Rand, p []float64) float64
	Examples []Example
	// Information is the joint expected information of the variate and the
	// parameters, optional; see information.go for what it is exactly. Half is
	// that where the variate is bounded below by the location.
	Information, Half ad.Information
}

// Param is a parameter of a distribution.
type Param struct {
	Name string
	Is   string // what it is, for messages: "Scale parameter"
	In   types.Constraint
	Int  bool // of type int
	// Draws is the domain of the generator's argument, if that is not In: counts for drawing must
	// be ints.
	Draws types.Constraint
}

// Relation is a check between two arguments: the variate is argument 0, the
// parameters are numbered from 1.
type Relation struct {
	Arg    int
	Strict bool // Arg must be greater than Than, otherwise at least Than
	Than   int
}

// Term is an addend of a log density. Of has bit 0 set if it depends on the
// variate and bit i if on parameter i (from 1); 0 for a constant. Under `~` it
// is dropped when every argument that it depends on is of data level.
type Term struct {
	Value ad.Ref
	Of    uint

	// Weight multiplies the value; 0 counts as 1.
	Weight float64
	// Make, if set, gives the value instead, when the term is kept: for what
	// costs much to compute at bind time and is mostly dropped.
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
