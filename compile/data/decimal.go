package data

import (
	"math"
	"math/bits"
)

// maxDigits is the number of decimal digits for which every number fits into 64 bits.
const maxDigits = 19

// powers are the powers of ten up to maxDigits.
var powers = [maxDigits + 1]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// decimal returns the float64 nearest to n/10^k, for k from 0 to maxDigits; halves are rounded to
// even, as by [strconv.ParseFloat].
// Up to 2^53 and 10^15 both numbers are exact as float64s, and so is the rounding of their quotient
// (Clinger 1990). Otherwise the quotient of integers is computed to 63 bits at least, and the
// remainder decides on which side of a half it is.
func decimal(n uint64, k int) float64 {
	if n < 1<<53 && k <= 15 {
		return float64(n) / float64(powers[k])
	}
	if n == 0 {
		return 0
	}
	shiftN, shiftD := bits.LeadingZeros64(n), bits.LeadingZeros64(powers[k])
	n <<= shiftN
	quotient, rest := bits.Div64(n>>1, n<<63, powers[k]<<shiftD) // times 2^(63+shiftN-shiftD)
	quotient = quotient>>1 | quotient&1
	if rest != 0 {
		quotient |= 1
	}
	return float64(int64(quotient)) * math.Float64frombits(uint64(1023-62-shiftN+shiftD)<<52)
}
