package vm

import "github.com/ppl-lang/ppl/compile/internal/ops"

// This file: the loops of instructions of strips that are not elementwise. Package ops has the
// elementwise ones.

//go:noinline
func fillLoop(d []float64, x float64) {
	for i := range d {
		d[i] = x
	}
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

// first returns three things for position pos: its element, the start of its run along the inner
// dimension, and the number of positions left in that run.
func (g *mapping) first(pos int) (elem, start, left int) {
	i, j := 0, pos
	if g.n1 > 0 {
		i, j = pos/g.n1, pos%g.n1
	}
	start = g.off + i*g.s0
	return start + j*g.s1, start, g.n1 - j
}

// The next three functions visit positions run by run: first the rest of a run, then whole runs,
// whose starts are s0 apart. To compute each start separately would take two divisions, 8 ns for a
// run of four numbers.

//go:noinline
func loadAffineLoop(d, a []float64, g *mapping, pos int) {
	e, start, k := g.first(pos)
	for len(d) > 0 {
		k = min(k, len(d))
		switch g.s1 {
		case 0:
			x := a[e]
			for i := range d[:k] {
				d[i] = x
			}
		case 1:
			copy(d[:k], a[e:])
		default:
			for i := range d[:k] {
				d[i] = a[e]
				e += g.s1
			}
		}
		d = d[k:]
		start += g.s0
		e, k = start, g.n1
	}
}

//go:noinline
func addAffineLoop(d, a []float64, g *mapping, pos int) {
	e, start, k := g.first(pos)
	for len(a) > 0 {
		if g.s0 == 0 && g.s1 == 1 && k == g.n1 {
			if a = addRows(d[e:], a, k); len(a) == 0 {
				return
			}
		}
		k = min(k, len(a))
		switch g.s1 {
		case 0:
			switch k { // adds in the same order as ops.SumOf
			case 2:
				d[e] += a[0] + a[1]
			case 3:
				d[e] += (a[0] + a[2]) + a[1]
			case 4:
				x := (*[4]float64)(a)
				d[e] += (x[0] + x[2]) + (x[1] + x[3])
			default:
				d[e] += ops.SumOf(a[:k])
			}
		case 1:
			out := d[e : e+k]
			for i := range out {
				out[i] += a[i]
			}
		default:
			for _, x := range a[:k] {
				d[e] += x
				e += g.s1
			}
		}
		a = a[k:]
		start += g.s0
		e, k = start, g.n1
	}
}

// addRows adds whole rows of k numbers of a to d, where k is small, and returns the rest of a. It
// keeps the sums in registers, so that additions do not wait for the store of the row before.
// Categories of 300 outcomes, five each, with their derivatives took 4.4 µs in the general loop,
// and take 2.8.
func addRows(d, a []float64, k int) []float64 {
	switch k {
	case 2:
		x := (*[2]float64)(d)
		s, t := x[0], x[1]
		for ; len(a) >= 2; a = a[2:] {
			v := (*[2]float64)(a)
			s, t = s+v[0], t+v[1]
		}
		*x = [2]float64{s, t}
	case 3:
		x := (*[3]float64)(d)
		s, t, u := x[0], x[1], x[2]
		for ; len(a) >= 3; a = a[3:] {
			v := (*[3]float64)(a)
			s, t, u = s+v[0], t+v[1], u+v[2]
		}
		*x = [3]float64{s, t, u}
	case 4:
		x := (*[4]float64)(d)
		s, t, u, w := x[0], x[1], x[2], x[3]
		for ; len(a) >= 4; a = a[4:] {
			v := (*[4]float64)(a)
			s, t, u, w = s+v[0], t+v[1], u+v[2], w+v[3]
		}
		*x = [4]float64{s, t, u, w}
	case 5:
		x := (*[5]float64)(d)
		s, t, u, w, y := x[0], x[1], x[2], x[3], x[4]
		for ; len(a) >= 5; a = a[5:] {
			v := (*[5]float64)(a)
			s, t, u, w, y = s+v[0], t+v[1], u+v[2], w+v[3], y+v[4]
		}
		*x = [5]float64{s, t, u, w, y}
	}
	return a
}

//go:noinline
func setAffineLoop(d, a []float64, g *mapping, pos int) {
	e, start, k := g.first(pos)
	for len(a) > 0 {
		k = min(k, len(a))
		if g.s1 == 1 {
			copy(d[e:], a[:k])
		} else {
			for _, x := range a[:k] {
				d[e] = x
				e += g.s1
			}
		}
		a = a[k:]
		start += g.s0
		e, k = start, g.n1
	}
}

// finite reports whether all of a are finite, that is, whether each minus itself is 0 and not NaN.
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
