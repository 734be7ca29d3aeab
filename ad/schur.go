package ad

import (
	"math"
	"math/cmplx"
)

// schur computes the Schur decomposition U T Uᴴ of the complex n×n matrix t. It replaces t by the
// triangular T, writes U, and reports whether the algorithm converged. It reduces the matrix to
// Hessenberg form by reflections and then applies the QR algorithm with Wilkinson's shifts (Golub &
// Van Loan, section 7.5). v has n elements.
func schur(t, u []complex128, n int, v []complex128) bool {
	clear(u)
	for i := range n {
		u[i*n+i] = 1
	}
	for k := 0; k < n-2; k++ {
		x, norm := v[:n-k-1], 0.0
		for i := range x {
			x[i] = t[(k+1+i)*n+k]
			norm = math.Hypot(norm, cmplx.Abs(x[i]))
		}
		if norm == cmplx.Abs(x[0]) {
			continue
		}
		phase := complex(1, 0)
		if x[0] != 0 {
			phase = x[0] / complex(cmplx.Abs(x[0]), 0)
		}
		x[0] += phase * complex(norm, 0)
		reflectRows(t[(k+1)*n:], n, x)
		reflectColumns(t, n, k+1, x)
		reflectColumns(u, n, k+1, x)
		for i := k + 2; i < n; i++ {
			t[i*n+k] = 0
		}
	}
	const eps = 0x1p-52
	whole := 0.0
	for _, x := range t {
		whole = max(whole, cmplx.Abs(x))
	}
	if math.IsNaN(whole) || math.IsInf(whole, 0) {
		return false
	}
	for hi, trip := n-1, 0; hi > 0; {
		lo := hi
		for ; lo > 0; lo-- {
			s := cmplx.Abs(t[(lo-1)*n+lo-1]) + cmplx.Abs(t[lo*n+lo])
			if s == 0 {
				s = whole
			}
			if cmplx.Abs(t[lo*n+lo-1]) <= eps*s {
				t[lo*n+lo-1] = 0
				break
			}
		}
		if lo == hi {
			hi, trip = hi-1, 0
			continue
		}
		if trip++; trip > 300 {
			return false
		}
		shift := wilkinson(t[(hi-1)*n+hi-1], t[(hi-1)*n+hi], t[hi*n+hi-1], t[hi*n+hi])
		if trip%10 == 0 { // another shift, in case the iteration is in a cycle
			shift += complex(cmplx.Abs(t[hi*n+hi-1]), 0)
		}
		for i := lo; i < hi; i++ {
			x, y := t[i*n+i]-shift, t[(i+1)*n+i]
			if i > lo {
				x, y = t[i*n+i-1], t[(i+1)*n+i-1]
			}
			r := math.Hypot(cmplx.Abs(x), cmplx.Abs(y))
			if r == 0 {
				continue
			}
			c, s := x/complex(r, 0), y/complex(r, 0)
			for j := range n {
				a, b := t[i*n+j], t[(i+1)*n+j]
				t[i*n+j], t[(i+1)*n+j] = cmplx.Conj(c)*a+cmplx.Conj(s)*b, c*b-s*a
			}
			for _, m := range [][]complex128{t, u} {
				for j := range n {
					a, b := m[j*n+i], m[j*n+i+1]
					m[j*n+i], m[j*n+i+1] = c*a+s*b, cmplx.Conj(c)*b-cmplx.Conj(s)*a
				}
			}
			if i > lo {
				t[(i+1)*n+i-1] = 0
			}
		}
	}
	return true
}

// wilkinson returns the eigenvalue of [a b; c d] that is nearer to d.
func wilkinson(a, b, c, d complex128) complex128 {
	half := (a - d) / 2
	root := cmplx.Sqrt(half*half + b*c)
	if real(half)*real(root)+imag(half)*imag(root) > 0 {
		root = -root
	}
	return d + half + root
}

// reflectRows applies the reflection I - 2xxᴴ/|x|² to the first rows of t.
func reflectRows(t []complex128, n int, x []complex128) {
	scale := complex(2/norm2(x), 0)
	for j := range n {
		s := complex128(0)
		for i, y := range x {
			s += cmplx.Conj(y) * t[i*n+j]
		}
		s *= scale
		for i, y := range x {
			t[i*n+j] -= s * y
		}
	}
}

// reflectColumns applies the same reflection to the columns of t, starting at from.
func reflectColumns(t []complex128, n, from int, x []complex128) {
	scale := complex(2/norm2(x), 0)
	for i := range n {
		row := t[i*n+from : (i+1)*n]
		s := complex128(0)
		for j, y := range x {
			s += row[j] * y
		}
		s *= scale
		for j, y := range x {
			row[j] -= s * cmplx.Conj(y)
		}
	}
}

func norm2(x []complex128) float64 {
	s := 0.0
	for _, y := range x {
		s += real(y)*real(y) + imag(y)*imag(y)
	}
	return s
}

// ascending sorts the T of a Hermitian matrix, which is diagonal and real, in ascending order.
func (w *schurWork) ascending(n int) {
	for i := range n {
		least := i
		for k := i + 1; k < n; k++ {
			if real(w.t[k*n+k]) < real(w.t[least*n+least]) {
				least = k
			}
		}
		value := real(w.t[least*n+least])
		w.t[least*n+least] = w.t[i*n+i]
		clear(w.t[i*n : (i+1)*n])
		w.t[i*n+i] = complex(value, 0)
		for r := range n {
			w.u[r*n+i], w.u[r*n+least] = w.u[r*n+least], w.u[r*n+i]
		}
	}
}

// eigenvectors writes the eigenvectors of U T Uᴴ into the columns of v. Each has norm 1 and a real
// positive largest element, whose row is stored in largest.
func eigenvectors(v, t, u []complex128, n int, x []complex128, largest []int) {
	whole := 0.0
	for _, y := range t {
		whole = max(whole, cmplx.Abs(y))
	}
	for k := range n {
		x[k] = 1
		for i := k - 1; i >= 0; i-- {
			s := complex128(0)
			for j := i + 1; j <= k; j++ {
				s -= t[i*n+j] * x[j]
			}
			gap := t[i*n+i] - t[k*n+k]
			if cmplx.Abs(gap) <= 0x1p-52*whole {
				gap = complex(max(0x1p-52*whole, 0x1p-1000), 0)
			}
			x[i] = s / gap
		}
		norm, most := 0.0, -1.0
		for i := range n {
			s := complex128(0)
			for j := range k + 1 {
				s += u[i*n+j] * x[j]
			}
			v[i*n+k] = s
			a := cmplx.Abs(s)
			norm = math.Hypot(norm, a)
			if a > most*(1+1e-10) {
				most, largest[k] = a, i
			}
		}
		top := v[largest[k]*n+k]
		scale := cmplx.Conj(top) / complex(cmplx.Abs(top)*norm, 0)
		for i := range n {
			v[i*n+k] *= scale
		}
		v[largest[k]*n+k] = complex(real(v[largest[k]*n+k]), 0)
	}
}

// adjoint computes the adjoint of the matrix. out has T and U, adj their adjoints.
func (w *schurWork) adjoint(dst, out, adj []float64, n int) {
	t, u, tAdj, uAdj := w.t, w.u, w.v, w.more[0]
	load(t, out)
	load(u, out[2*n*n:])
	load(tAdj, adj)
	load(uAdj, adj[2*n*n:])
	for i := range n {
		clear(tAdj[i*n : i*n+i])
	}
	x, y, tmp := w.more[1], w.more[2], w.more[3]
	complexMul(x, u, uAdj, n, true, false) // X̄ = Uᴴ Ū - T̄ Tᴴ + Tᴴ T̄
	complexMul(tmp, tAdj, t, n, false, true)
	for i := range x {
		x[i] -= tmp[i]
	}
	complexMul(tmp, t, tAdj, n, true, false)
	for i := range x {
		x[i] += tmp[i]
	}
	// Apply the transpose of the map L ↦ lower(L T - T L), solved element by element.
	copy(y, tAdj)
	for i := 1; i < n; i++ {
		for k := i - 1; k >= 0; k-- {
			s := x[i*n+k] - cmplx.Conj(x[k*n+i])
			for j := k + 1; j < i; j++ {
				s -= y[i*n+j] * cmplx.Conj(t[k*n+j])
				s += cmplx.Conj(t[j*n+i]) * y[j*n+k]
			}
			gap := cmplx.Conj(t[k*n+k] - t[i*n+i])
			if y[i*n+k] = 0; gap != 0 {
				y[i*n+k] = s / gap
			}
		}
	}
	complexMul(tmp, u, y, n, false, false)
	complexMul(x, tmp, u, n, false, true)
	store(dst, x)
}

// tangent computes the tangents of T and U, given the tangent of the matrix (change).
func (w *schurWork) tangent(dst, out, change []float64, n int) {
	t, u, l := w.t, w.u, w.v
	load(t, out)
	load(u, out[2*n*n:])
	load(l, change)
	m, x, tmp := w.more[0], w.more[1], w.more[2]
	complexMul(tmp, u, l, n, true, false)
	complexMul(m, tmp, u, n, false, false)
	clear(x)
	for i := n - 1; i > 0; i-- {
		for j := range i {
			s := m[i*n+j]
			for k := range j {
				s -= x[i*n+k] * t[k*n+j]
			}
			for k := i + 1; k < n; k++ {
				s += t[i*n+k] * x[k*n+j]
			}
			if gap := t[j*n+j] - t[i*n+i]; gap != 0 {
				x[i*n+j] = s / gap
			}
		}
	}
	for i := range n {
		for j := range i {
			x[j*n+i] = -cmplx.Conj(x[i*n+j])
		}
	}
	complexMul(tmp, x, t, n, false, false)
	complexMul(l, t, x, n, false, false)
	for i := range n {
		for j := range n {
			if m[i*n+j] += l[i*n+j] - tmp[i*n+j]; j < i {
				m[i*n+j] = 0
			}
		}
	}
	store(dst, m)
	complexMul(tmp, u, x, n, false, false)
	store(dst[2*n*n:], tmp)
}

// complexMul computes a product of n×n matrices. With aH or bH, it uses the conjugate transpose of
// the first or second matrix.
func complexMul(dst, a, b []complex128, n int, aH, bH bool) {
	for i := range n {
		for j := range n {
			s := complex128(0)
			for k := range n {
				p, q := a[i*n+k], b[k*n+j]
				if aH {
					p = cmplx.Conj(a[k*n+i])
				}
				if bH {
					q = cmplx.Conj(b[j*n+k])
				}
				s += p * q
			}
			dst[i*n+j] = s
		}
	}
}
