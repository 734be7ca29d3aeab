package vm

import "math"

// The loops of strips. Operands other than dst are at least as long as dst;
// they may be dst itself. A plain loop takes 0.33 or 0.64 ns per element on a
// Zen 3, as its address happens to fall, which changes with the code around it;
// four elements at a time through array pointers is 0.40 to 0.48 wherever it
// lies. They are kept out of line because the interpreter's registers are not
// enough for them: 8 % on the hierarchical regression.

//go:noinline
func fillLoop(d []float64, x float64) {
	for i := range d {
		d[i] = x
	}
}

//go:noinline
func negLoop(d, a []float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = -a[i]
	}
}

//go:noinline
func sqrtLoop(d, a []float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = math.Sqrt(a[i])
	}
}

//go:noinline
func invLoop(d, a []float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = 1 / a[i]
	}
}

//go:noinline
func addVV(d, a, b []float64) {
	a, b = a[:len(d)], b[:len(d)]
	i := 0
	for ; i <= len(d)-4; i += 4 {
		x, y, z := (*[4]float64)(d[i:]), (*[4]float64)(a[i:]), (*[4]float64)(b[i:])
		x[0] = y[0] + z[0]
		x[1] = y[1] + z[1]
		x[2] = y[2] + z[2]
		x[3] = y[3] + z[3]
	}
	for ; i < len(d); i++ {
		d[i] = a[i] + b[i]
	}
}

//go:noinline
func addVS(d, a []float64, s float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] + s
	}
}

//go:noinline
func subVV(d, a, b []float64) {
	a, b = a[:len(d)], b[:len(d)]
	i := 0
	for ; i <= len(d)-4; i += 4 {
		x, y, z := (*[4]float64)(d[i:]), (*[4]float64)(a[i:]), (*[4]float64)(b[i:])
		x[0] = y[0] - z[0]
		x[1] = y[1] - z[1]
		x[2] = y[2] - z[2]
		x[3] = y[3] - z[3]
	}
	for ; i < len(d); i++ {
		d[i] = a[i] - b[i]
	}
}

//go:noinline
func subSV(d []float64, s float64, b []float64) {
	b = b[:len(d)]
	for i := range d {
		d[i] = s - b[i]
	}
}

//go:noinline
func mulVV(d, a, b []float64) {
	a, b = a[:len(d)], b[:len(d)]
	i := 0
	for ; i <= len(d)-4; i += 4 {
		x, y, z := (*[4]float64)(d[i:]), (*[4]float64)(a[i:]), (*[4]float64)(b[i:])
		x[0] = y[0] * z[0]
		x[1] = y[1] * z[1]
		x[2] = y[2] * z[2]
		x[3] = y[3] * z[3]
	}
	for ; i < len(d); i++ {
		d[i] = a[i] * b[i]
	}
}

//go:noinline
func mulVS(d, a []float64, s float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] * s
	}
}

//go:noinline
func divVV(d, a, b []float64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] / b[i]
	}
}

// divVS multiplies by the reciprocal, a third of the time, where that is a
// normal number; the quotient differs by one unit in the last place at most.
//
//go:noinline
func divVS(d, a []float64, s float64) {
	if x := math.Abs(s); x > 1e-300 && x < 1e300 {
		mulVS(d, a, 1/s)
		return
	}
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] / s
	}
}

//go:noinline
func divSV(d []float64, s float64, b []float64) {
	b = b[:len(d)]
	for i := range d {
		d[i] = s / b[i]
	}
}

//go:noinline
func guardedVV(d, a, b []float64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		x := a[i]
		if x != 0 {
			x *= b[i]
		} else {
			x = 0
		}
		d[i] = x
	}
}

//go:noinline
func guardedVS(d, a []float64, s float64) {
	a = a[:len(d)]
	for i := range d {
		x := a[i]
		if x != 0 {
			x *= s
		} else {
			x = 0
		}
		d[i] = x
	}
}

//go:noinline
func mulAddVV(d, a, b, c []float64) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = a[i]*b[i] + c[i]
	}
}

//go:noinline
func mulAddSV(d, a []float64, b float64, c []float64) {
	a, c = a[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = a[i]*b + c[i]
	}
}

//go:noinline
func mulAddVS(d, a, b []float64, c float64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i]*b[i] + c
	}
}

//go:noinline
func mulAddSS(d, a []float64, b, c float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i]*b + c
	}
}

//go:noinline
func mulSubVV(d, a, b, c []float64) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = a[i]*b[i] - c[i]
	}
}

//go:noinline
func mulSubSV(d, a []float64, b float64, c []float64) {
	a, c = a[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = a[i]*b - c[i]
	}
}

//go:noinline
func mulSubVS(d, a, b []float64, c float64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i]*b[i] - c
	}
}

//go:noinline
func mulSubSS(d, a []float64, b, c float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i]*b - c
	}
}

//go:noinline
func subMulVV(d, a, b, c []float64) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = c[i] - a[i]*b[i]
	}
}

//go:noinline
func subMulSV(d, a []float64, b float64, c []float64) {
	a, c = a[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = c[i] - a[i]*b
	}
}

//go:noinline
func subMulVS(d, a, b []float64, c float64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = c - a[i]*b[i]
	}
}

//go:noinline
func subMulSS(d, a []float64, b, c float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = c - a[i]*b
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

//go:noinline
func lessVV(d, a, b []float64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = truth(a[i] < b[i])
	}
}

//go:noinline
func lessVS(d, a []float64, s float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = truth(a[i] < s)
	}
}

//go:noinline
func lessSV(d []float64, s float64, b []float64) {
	b = b[:len(d)]
	for i := range d {
		d[i] = truth(s < b[i])
	}
}

//go:noinline
func lessEqVV(d, a, b []float64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = truth(a[i] <= b[i])
	}
}

//go:noinline
func lessEqVS(d, a []float64, s float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = truth(a[i] <= s)
	}
}

//go:noinline
func lessEqSV(d []float64, s float64, b []float64) {
	b = b[:len(d)]
	for i := range d {
		d[i] = truth(s <= b[i])
	}
}

//go:noinline
func chooseVV(d, c, a, b []float64) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		x := b[i]
		if c[i] != 0 {
			x = a[i]
		}
		d[i] = x
	}
}

//go:noinline
func chooseVS(d, c, a []float64, s float64) {
	a, c = a[:len(d)], c[:len(d)]
	for i := range d {
		x := s
		if c[i] != 0 {
			x = a[i]
		}
		d[i] = x
	}
}

//go:noinline
func chooseSV(d, c []float64, s float64, b []float64) {
	b, c = b[:len(d)], c[:len(d)]
	for i := range d {
		x := b[i]
		if c[i] != 0 {
			x = s
		}
		d[i] = x
	}
}

//go:noinline
func chooseSS(d, c []float64, s, t float64) {
	c = c[:len(d)]
	for i := range d {
		x := t
		if c[i] != 0 {
			x = s
		}
		d[i] = x
	}
}

// sumLoop adds in four sums: one would wait for every addition.
//
//go:noinline
func sumLoop(a []float64) float64 {
	var s0, s1, s2, s3 float64
	i := 0
	for ; i <= len(a)-4; i += 4 {
		x := (*[4]float64)(a[i:])
		s0 += x[0]
		s1 += x[1]
		s2 += x[2]
		s3 += x[3]
	}
	switch a = a[i:]; len(a) { // sum by sum, as lanes of machine code
	case 3:
		s0, s1 = s0+a[0], s1+a[1]
		s0 += a[2]
	case 2:
		s0, s1 = s0+a[0], s1+a[1]
	case 1:
		s0 += a[0]
	}
	return (s0 + s1) + (s2 + s3)
}

// dotLoop is the sum of products.
//
//go:noinline
func dotLoop(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i <= len(a)-4; i += 4 {
		x, y := (*[4]float64)(a[i:]), (*[4]float64)(b[i:])
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
	}
	switch a, b = a[i:], b[i:]; len(a) {
	case 3:
		s0, s1 = s0+a[0]*b[0], s1+a[1]*b[1]
		s0 += a[2] * b[2]
	case 2:
		s0, s1 = s0+a[0]*b[0], s1+a[1]*b[1]
	case 1:
		s0 += a[0] * b[0]
	}
	return (s0 + s1) + (s2 + s3)
}

//go:noinline
func loadTableLoop(d, a []float64, table []int32) {
	table = table[:len(d)]
	for i := range d {
		d[i] = a[table[i]]
	}
}

//go:noinline
func addTableLoop(d, a []float64, table []int32) {
	a = a[:len(table)]
	for i, t := range table {
		d[t] += a[i]
	}
}

// first is the element of position pos and how many positions its run of the
// inner dimension has left.
func (g *mapping) first(pos int) (elem, left int) {
	i, j := 0, pos
	if g.n1 > 0 {
		i, j = pos/g.n1, pos%g.n1
	}
	return g.off + i*g.s0 + j*g.s1, g.n1 - j
}

//go:noinline
func loadAffineLoop(d, a []float64, g *mapping, pos int) {
	for len(d) > 0 {
		e, k := g.first(pos)
		k = min(k, len(d))
		switch g.s1 {
		case 0:
			fillLoop(d[:k], a[e])
		case 1:
			copy(d[:k], a[e:])
		default:
			for i := range d[:k] {
				d[i] = a[e]
				e += g.s1
			}
		}
		d, pos = d[k:], pos+k
	}
}

//go:noinline
func addAffineLoop(d, a []float64, g *mapping, pos int) {
	for len(a) > 0 {
		e, k := g.first(pos)
		k = min(k, len(a))
		switch g.s1 {
		case 0:
			d[e] += sumLoop(a[:k])
		case 1:
			out := d[e : e+k]
			addVV(out, out, a)
		default:
			for _, x := range a[:k] {
				d[e] += x
				e += g.s1
			}
		}
		a, pos = a[k:], pos+k
	}
}

//go:noinline
func setAffineLoop(d, a []float64, g *mapping, pos int) {
	for len(a) > 0 {
		e, k := g.first(pos)
		k = min(k, len(a))
		if g.s1 == 1 {
			copy(d[e:], a[:k])
		} else {
			for _, x := range a[:k] {
				d[e] = x
				e += g.s1
			}
		}
		a, pos = a[k:], pos+k
	}
}

// finite reports whether all of a are finite: then the differences of each
// with itself are 0, not NaN.
//
//go:noinline
func finite(a []float64) bool {
	var s0, s1, s2, s3 float64
	i := 0
	for ; i <= len(a)-4; i += 4 {
		x := (*[4]float64)(a[i:])
		s0 += x[0] - x[0]
		s1 += x[1] - x[1]
		s2 += x[2] - x[2]
		s3 += x[3] - x[3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] - a[i]
	}
	return (s0+s1)+(s2+s3) == 0
}

//go:noinline
func notLoop(d, a []float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = truth(a[i] == 0)
	}
}

//go:noinline
func isNaNLoop(d, a []float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = truth(a[i] != a[i])
	}
}

//go:noinline
func notLessEqVV(d, a, b []float64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = truth(!(a[i] <= b[i]))
	}
}

//go:noinline
func notLessEqVS(d, a []float64, y float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = truth(!(a[i] <= y))
	}
}

//go:noinline
func notLessEqSV(d []float64, x float64, b []float64) {
	b = b[:len(d)]
	for i := range d {
		d[i] = truth(!(x <= b[i]))
	}
}
