package stdlib

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// constants declares the functions without arguments.
func constants() []Func {
	value := func(name, doc string, v float64) Func {
		return fixed(name, doc, tReal, nil, func(b *Builder, _ []Arg) ad.Ref { return b.G.Const(v) })
	}
	return []Func{
		value("e", "Euler's number.", math.E),
		value("log10", "The natural logarithm of 10.", math.Ln10),
		value("log2", "The natural logarithm of 2.", math.Ln2),
		value("machine_precision", "The distance from 1 to the next larger number, 2⁻⁵².", 0x1p-52),
		value("negative_infinity", "Negative infinity.", math.Inf(-1)),
		value("not_a_number", "A value that is not a number.", math.NaN()),
		value("pi", "The ratio of a circle's circumference to its diameter.", math.Pi),
		value("positive_infinity", "Positive infinity.", math.Inf(1)),
		value("sqrt2", "The square root of 2.", math.Sqrt2),
	}
}
