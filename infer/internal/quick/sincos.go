package quick

import "math"

// farthest is the absolute value up to which Sincos computes the result itself; larger angles are
// rare.
const farthest = 1000

// point is a point of the unit circle.
type point struct{ sin, cos float64 }

// points contains the points at the angles πk/128, computed from those of the first quarter.
var points = func() (p [256]point) {
	for k := range p {
		within := k % 64
		s, c := quarter[within], quarter[64-within]
		switch k / 64 {
		case 0:
			p[k] = point{s, c}
		case 1:
			p[k] = point{c, -s}
		case 2:
			p[k] = point{-s, -c}
		case 3:
			p[k] = point{-c, s}
		}
	}
	return p
}()

// Sincos is math.Sincos, except for the last binary digits; where the result is small, these are
// the last digits of 1.
//
// The angle is πk/128 + r with an integer k and |r| < π/256, for which the series are short.
func Sincos(x float64) (sin, cos float64) {
	if !(x > -farthest && x < farthest) {
		return math.Sincos(x)
	}
	const (
		high = 0x1.921fb544p-6
		low  = math.Pi/128 - high // k·high is exact
	)
	k := x*(128/math.Pi) + shift
	bits := math.Float64bits(k)
	k -= shift
	r := x - k*high - k*low
	square := r * r
	s := r + r*square*(-1.0/6+square*(1.0/120))
	c := square * (-1.0/2 + square*(1.0/24+square*(-1.0/720))) // cos r - 1
	p := &points[bits%256]
	return p.sin + (p.sin*c + p.cos*s), p.cos + (p.cos*c - p.sin*s)
}
