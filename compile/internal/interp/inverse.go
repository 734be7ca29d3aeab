package interp

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// initialTolerance is the tolerance for sums of initial values: users may write them with only six
// digits, and an error of this size does not matter.
const initialTolerance = 1e-4

// Unconstrain returns the unconstrained numbers of each parameter for the values of their leaves,
// one leaf after another, in row-major order. NaN stands for missing values. Values outside their
// bounds give NaN and infinities; vectors and matrices that violate their declared type are an
// error.
func (m *Model) Unconstrain(leaves [][]float64) (x [][]float64, err error) {
	return m.invert(leaves, 0)
}

// UnconstrainRounded is Unconstrain for values rounded to this number of significant digits; 0: not
// rounded. Values that violate their type only because of rounding are replaced by the nearest
// valid ones; see [types.ConstraintKind.Settle]. It changes leaves.
func (m *Model) UnconstrainRounded(leaves [][]float64, digits int) (x [][]float64, err error) {
	if digits == 0 {
		digits = exactDigits
	}
	return m.invert(leaves, digits)
}

// WrongValue describes an invalid value at which a chain should start.
type WrongValue struct {
	Leaf    int     // its index among the values
	Element int     // the first wrong number, or the first of the wrong item
	Var     *ir.Var // the variable
	Name    string  // of the number, or of the item
	Text    string  // follows the name: is -1, but must be greater than 0
}

// Start is Unconstrain, but continues after a value that violates its type and returns all of
// these.
func (m *Model) Start(leaves [][]float64) (x [][]float64, wrong []WrongValue, err error) {
	x, err = m.invertTo(leaves, 0, &wrong)
	return x, wrong, err
}

// exactDigits is the number of significant digits that represent a number exactly.
const exactDigits = 17

// invert is Unconstrain; if digits is not 0, the values are rounded to that number of digits.
func (m *Model) invert(leaves [][]float64, digits int) (x [][]float64, err error) {
	return m.invertTo(leaves, digits, nil)
}

// invertTo is invert. If wrong is not nil, it appends the values that violate their type, and
// continues.
func (m *Model) invertTo(leaves [][]float64, digits int, wrong *[]WrongValue) (x [][]float64, err error) {
	defer caught(&err)
	o := m.options(&ad.Env{})
	f := m.begin(&o, nil)
	next := 0
	for _, p := range m.params {
		out := make([]float64, p.size)
		for i := range p.leaves {
			l := &p.leaves[i]
			a := &array{shape: l.shape, reals: leaves[next]}
			next++
			what := "the initial value of "
			if digits > 0 {
				what = "the value of "
				l.settle(f, a, digits)
			}
			switch w := l.wrong(f, a, wrong != nil); {
			case w == nil:
			case wrong == nil:
				text := what + w.Name + " " + w.Text
				e := f.m.fail(l.v.Span, diag.Rejected, "%s", text)
				e.Err = &ad.RejectError{Message: text}
				e.throw()
			default:
				w.Leaf = next - 1
				*wrong = append(*wrong, *w)
				l.store(f, a)
				continue
			}
			l.store(f, a)
			for k, u := range l.unconstrain(f, a) {
				out[l.places[k]] = u
			}
		}
		x = append(x, out)
	}
	return x, nil
}

// settle makes rounded values valid for their declared type again.
func (l *leaf) settle(f *frame, a *array, digits int) {
	rounding := 0.0
	if digits < exactDigits {
		rounding = 0.5 * math.Pow(10, float64(1-digits))
	}
	v, kind := l.v, l.v.Constraint.Kind
	if kind.Structured() {
		item := l.shape[v.Type.Dims:]
		n := count(item)
		work := make([]float64, n)
		for k := range count(l.shape[:v.Type.Dims]) {
			kind.Settle(item, a.reals[k*n:(k+1)*n], work, rounding)
		}
		return
	}
	if rounding == 0 || kind != types.LowerUpper {
		return // the draw was on a bound
	}
	args, lower, upper := l.arguments(f, a)
	for i, x := range a.reals {
		if lower > 0 {
			x = inside(x, at(args[lower], i), digits)
		}
		if upper > 0 {
			x = -inside(-x, -at(args[upper], i), digits)
		}
		a.reals[i] = x
	}
}

// at returns element i of a bound, which may be the same for all elements.
func at(bound *array, i int) float64 { return bound.reals[i%len(bound.reals)] }

// inside returns x. If rounding has moved it to a lower bound or below, it returns the middle
// between the bound and the largest number that rounds to x.
func inside(x, bound float64, digits int) float64 {
	up := roundedUp(x, digits)
	if x > bound || bound-x > up+roundedUp(bound, digits) {
		return x
	}
	if middle := bound + (x+up-bound)/2; middle > bound {
		return middle
	}
	return x
}

// roundedUp returns the distance from x to the largest number that rounds to x: half a unit of the
// last digit, or a tenth of that where x is minus a power of ten.
func roundedUp(x float64, digits int) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	power := math.Floor(math.Log10(math.Abs(x)))
	if x == -math.Pow(10, power) {
		power--
	}
	return 0.5 * math.Pow(10, power+float64(1-digits))
}

// wrong describes how a value violates its constrained type; nil if it does not, or if the value is
// missing. Bounds are checked on request.
func (l *leaf) wrong(f *frame, a *array, bounds bool) *WrongValue {
	v, kind := l.v, l.v.Constraint.Kind
	switch {
	case len(a.reals) == 0 || math.IsNaN(a.reals[0]):
	case kind.Structured():
		item := l.shape[v.Type.Dims:]
		n := count(item)
		if k, wrong := kind.WrongItem(item, a.reals, make([]float64, n), initialTolerance); wrong != "" {
			return &WrongValue{Element: k * n, Var: v, Name: ItemName(v, l.shape, k), Text: "must be " + kind.Text() + ", but " + wrong}
		}
	case bounds && kind == types.LowerUpper:
		args, lower, upper := l.arguments(f, a)
		for i, x := range a.reals {
			text := ""
			if lower > 0 && x <= at(args[lower], i) { // on a bound, the unconstrained value is infinite
				text = "greater than " + ad.FormatNumber(at(args[lower], i))
			} else if upper > 0 && x >= at(args[upper], i) {
				text = "less than " + ad.FormatNumber(at(args[upper], i))
			}
			if text != "" {
				return &WrongValue{Element: i, Var: v, Name: elementName(v.Name, l.shape, i), Text: "is " + ad.FormatNumber(x) + ", but must be " + text}
			}
		}
	}
	return nil
}

// unconstrain applies the inverse of a transform.
func (l *leaf) unconstrain(f *frame, a *array) []float64 {
	args, lower, upper := l.arguments(f, a)
	free := l.free[l.v.Type.Dims:]
	build := func(g *ad.Graph, r []ad.Ref) []ad.Ref {
		bounds := boundsOf(r, lower, upper)
		x, _ := l.tr.Each(g, l.v.Type.Dims, r[0], free, func(y ad.Ref) (ad.Ref, []ad.Ref) { return l.tr.Unconstrain(g, y, bounds), nil })
		return []ad.Ref{g.Broadcast(x, l.free)}
	}
	if p := l.inverse.at(f.m, args, build); p != nil {
		return p.run(f.m, l.v.Span, args[:1], false)[0].reals
	}
	return f.m.compute(l.v.Span, args, true, build)[0].reals
}

// arguments returns the arguments of a transform: the numbers, followed by the bounds. lower and
// upper are the indices of the bounds in args; -1: no such bound.
func (l *leaf) arguments(f *frame, a *array) (args []*array, lower, upper int) {
	args, lower, upper = f.m.newArrays(3)[:1], -1, -1
	args[0] = a
	if l.lower != nil {
		lower, args = len(args), append(args, l.lower(f))
	}
	if l.upper != nil {
		upper, args = len(args), append(args, l.upper(f))
	}
	return args, lower, upper
}

func boundsOf(args []ad.Ref, lower, upper int) transform.Bounds {
	b := transform.Bounds{Lower: none, Upper: none}
	if lower > 0 {
		b.Lower = args[lower]
	}
	if upper > 0 {
		b.Upper = args[upper]
	}
	return b
}
