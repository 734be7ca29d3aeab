package ops

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

const (
	fraction = 1<<52 - 1
	one      = 1023 << 52
	// A product of eight numbers from smallest up to 2^64 neither overflows nor underflows.
	smallest = (1023 - 64) << 52 // 2^-64
	octaves  = 7                 // logarithm of the number of octaves between the two

	width    = 4         // number of lanes
	block    = 8 * width // numbers that are multiplied together
	shortest = 256       // number of elements from which lanes save time
)

// sumLog returns the sum of log a: the logarithm of the product of the mantissas, plus the
// exponents times log 2. The product of n factors has a rounding error of n/2 units in the last
// place of 1, like the sum of the logarithms. a must have fewer than 1000 elements, so that a
// product of mantissas stays below 2^1000. From shortest elements on, products are made in lanes.
//
//go:noinline
func sumLog(a []float64) float64 {
	var p [4]float64
	for i := range p {
		p[i] = 1
	}
	exponents, odd, eights := 0, 0.0, 1.0
	take := func(a []float64) {
		for i, x := range a {
			bits := math.Float64bits(x)
			e := bits >> 52
			if e-1 >= 0x7fe { // not a positive normal number
				odd += routines.Log(x)
				continue
			}
			exponents += int(e) - 1023
			p[i&3] *= math.Float64frombits(bits&fraction | one)
		}
	}
	if len(a) >= shortest {
		var l lanes
		l.begin()
		for len(a) >= block {
			n := l.multiply(a)
			exponents -= n * width * 1023
			if a = a[n*block:]; len(a) >= block { // this block has numbers out of range
				take(a[:block])
				a = a[block:]
			}
		}
		exponents += l.exponent()
		eights = (l.mantissas[0] * l.mantissas[1]) * (l.mantissas[2] * l.mantissas[3])
	}
	for ; len(a) >= 8; a = a[8:] {
		x := (*[8]float64)(a)
		far := (math.Float64bits(x[0]) - smallest) | (math.Float64bits(x[1]) - smallest) | (math.Float64bits(x[2]) - smallest) |
			(math.Float64bits(x[3]) - smallest) | (math.Float64bits(x[4]) - smallest) | (math.Float64bits(x[5]) - smallest) |
			(math.Float64bits(x[6]) - smallest) | (math.Float64bits(x[7]) - smallest)
		if far>>(52+octaves) != 0 {
			take(x[:])
			continue
		}
		bits := math.Float64bits(((x[0] * x[1]) * (x[2] * x[3])) * ((x[4] * x[5]) * (x[6] * x[7])))
		exponents += int(bits>>52) - 1023
		eights *= math.Float64frombits(bits&fraction | one)
	}
	take(a)
	return float64(float64(exponents)*math.Ln2) + math.Log((p[0]*p[1])*(p[2]*p[3])*eights) + odd
}

// lanes are products of numbers: element i of a block belongs to lane i modulo width.
type lanes struct {
	mantissas [width]float64 // each between 1 and 2 to the number of blocks
	exponents [width]int64   // sums, each too large by 1023 per block
}

func (l *lanes) begin() {
	for i := range l.mantissas {
		l.mantissas[i] = 1
	}
}

func (l *lanes) exponent() (sum int) {
	for _, e := range l.exponents {
		sum += int(e)
	}
	return sum
}

// multiply multiplies by the blocks of a, up to the first with a number that is out of range. It
// returns the number of these blocks. Machine code and Go give the same bits.
func (l *lanes) multiply(a []float64) int {
	if fast {
		return multiply(len(a)/block, &a[0], l)
	}
	return l.multiplyPlain(a)
}

// multiplyPlain is multiply without machine code.
func (l *lanes) multiplyPlain(a []float64) (n int) {
	for ; len(a) >= block; a = a[block:] {
		x := (*[block]float64)(a)
		far := uint64(0)
		for _, v := range x {
			far |= math.Float64bits(v) - smallest
		}
		if far>>(52+octaves) != 0 {
			return n
		}
		for i := range width {
			bits := math.Float64bits(((x[i] * x[i+4]) * (x[i+8] * x[i+12])) * ((x[i+16] * x[i+20]) * (x[i+24] * x[i+28])))
			l.exponents[i] += int64(bits >> 52)
			l.mantissas[i] *= math.Float64frombits(bits&fraction | one)
		}
		n++
	}
	return n
}
