package quick

import (
	"math"
	"math/rand/v2"
)

// layer is one of the 256 layers, of equal area, that cover half of the normal density.
type layer struct {
	width float64 // width of the layer, in units of 2⁻³²
	inner uint64  // number of these units that the layer above also covers: a point there is below the density
}

// layers are computed from edges by divisions only, which give the same bits on every processor.
var layers = func() (l [256]layer) {
	for i := range l {
		l[i] = layer{edges[i] / (1 << 32), uint64(edges[i+1] / edges[i] * (1 << 32))}
	}
	return l
}()

// Normals fills x with independent standard normal numbers and returns the sum of their squares.
//
// It uses the ziggurat method (Marsaglia and Tsang 2000) with 256 layers. Random bits take most of
// the time. A number needs 40 of them: 8 select the layer, one the sign, and the others the place
// in the layer, in the middle of one of 2³¹ steps (as many as in rand.NormFloat64). The remaining
// bits of a word of 64 are used for further numbers of the same call.
func Normals(rng *rand.Rand, x []float64) (squares float64) {
	var kept uint64
	have := 0 // number of bits left in kept
	for i := range x {
		w := kept
		if have >= need {
			kept >>= need
			have -= need
		} else {
			w = rng.Uint64()
			kept = kept<<(64-need) | w>>need
			have += 64 - need
		}
		w &= 1<<need - 1
		l := &layers[w%256]
		at := w>>8 | 1 // in half steps; the lowest bit was used for the sign
		v := float64(int64(at)) * l.width
		if at >= l.inner {
			v = outer(rng, w)
		}
		v = math.Float64frombits(math.Float64bits(v) | w>>8<<63)
		x[i] = v
		squares += v * v
	}
	return squares
}

// need is the number of random bits for a normal number.
const need = 40

// outer returns the absolute value of the number for the bits w, if that is not below the layer
// above. It accepts the number according to the density in this part of the layer or, in the lowest
// layer, draws from the tail. Otherwise it draws another number.
func outer(rng *rand.Rand, w uint64) float64 {
	for {
		i := w % 256
		at := w>>8 | 1
		v := float64(int64(at)) * layers[i].width
		switch {
		case at < layers[i].inner:
			return v
		case i == 0:
			return beyond(rng, edges[1])
		}
		lower, upper := Exp(-0.5*edges[i]*edges[i]), Exp(-0.5*edges[i+1]*edges[i+1])
		if lower+rng.Float64()*(upper-lower) < Exp(-0.5*v*v) {
			return v
		}
		w = rng.Uint64() >> (64 - need)
	}
}

// beyond draws from the tail of the density (Marsaglia 1964).
func beyond(rng *rand.Rand, from float64) float64 {
	for {
		more := rng.ExpFloat64() / from
		if 2*rng.ExpFloat64() >= more*more {
			return from + more
		}
	}
}
