//go:build !amd64

package vector

// fast reports whether there is machine code for this processor.
const fast = false

// fast is false, so these functions are never called.

func leap(n int, q, p, q0, p0, g0, inv *float64, step int, half, eps float64)                     {}
func kick(n int, p, grad, inv *float64, step int, half float64, s *[4]float64)                    {}
func leapTo(n int, x, q, p, q0, p0, g0, mean, scale *float64, half, eps float64)                  {}
func kickFrom(n int, p, scale, grad *float64, half float64, s *[4]float64)                        {}
func kickLeap(n int, q, r, p, q0, grad, inv *float64, step int, half, eps float64, s *[4]float64) {}
func kickLeapTo(n int, x, q, r, p, q0, grad, mean, scale *float64, half, eps float64, s *[4]float64) {
}
func products(n int, x, a, b, c, d *float64, s *[4][4]float64)                                 {}
func addScaled(n int, x, a, b, c, d *float64, f *[4]float64)                                   {}
func rotate(n int, y, r, y0, w0, r0 *float64, half, sin, cos float64)                          {}
func kickRotated(n int, r, w, y *float64, half float64, s *[4]float64)                         {}
func affine(n int, x, mean, scale, y *float64)                                                 {}
func times(n int, x, scale, y *float64)                                                        {}
func nothing(n int, x *float64, s *[4]float64)                                                 {}
func turnPair(n int, a, b, inv *float64, step int, p *[6][4]float64)                           {}
func turnPairs(n int, a, d, c, b, inv *float64, step int, sum *float64, p *[6][4]float64)      {}
func turnRuns(n int, a, d, c, b, r, s, inv *float64, step int, sum *float64, p *[6][4]float64) {}
