package types

import "math"

// Settle corrects a value of a constrained type that was rounded with the given relative error, so
// that it satisfies its type again. Elements that became equal become ordered, sums and norms
// become exact, a matrix becomes positive definite. Settle changes elements at most by the rounding
// error times the number of elements. A value that is further off stays unchanged. The value has
// this shape and its elements by rows. work has as many elements as x.
func (k ConstraintKind) Settle(shape []int, x, work []float64, rounding float64) {
	r := rounding + 0x1p-52*float64(1+len(x))
	if settle := k.row().settle; settle != nil {
		settle(shape, x, work, r)
	}
}

// each settles the rows or columns of a matrix.
func each(of lines, s []int, x []float64, r float64, settle func(line)) {
	every(of, s, x, r, func(l line) string {
		settle(l)
		return ""
	})
}

func (l line) set(i int, v float64) { l.x[l.from+i*l.stride] = v }

// settleOrder handles an element that is below or equal to its predecessor by no more than
// rounding: it becomes the next number above it.
func settleOrder(x []float64, r float64) {
	for i := 1; i < len(x); i++ {
		if x[i] <= x[i-1] && x[i-1]-x[i] <= 2*r*max(math.Abs(x[i]), math.Abs(x[i-1])) {
			x[i] = math.Nextafter(x[i-1], math.Inf(1))
		}
	}
}

func settleSum(l line) {
	if sum := l.sum(); math.Abs(sum-1) <= 2*l.tol {
		for i := range l.n {
			l.set(i, l.at(i)/sum)
		}
	}
}

func settleNorm(l line) {
	squares := 0.0
	for i := range l.n {
		squares += l.at(i) * l.at(i)
	}
	if math.Abs(squares-1) <= 4*l.tol {
		for i := range l.n {
			l.set(i, l.at(i)/math.Sqrt(squares))
		}
	}
}

func settleZero(l line) {
	size := 0.0
	for i := range l.n {
		size += math.Abs(l.at(i))
	}
	if sum := l.sum(); math.Abs(sum) <= 2*l.tol*size {
		for i := range l.n {
			l.set(i, l.at(i)-sum/float64(l.n))
		}
	}
}

// settlePositive makes a matrix symmetric, and positive definite by shrinking its off-diagonal
// elements. Rounding changes the smallest eigenvalue of the correlations by at most their number
// times the relative error.
func settlePositive(n int, x, work []float64, r float64) {
	for i := range n {
		for j := range i {
			a, b := x[i*n+j], x[j*n+i]
			if a != b && math.Abs(a-b) <= 2*r*max(math.Abs(a), math.Abs(b)) {
				x[i*n+j], x[j*n+i] = (a+b)/2, (a+b)/2
			}
		}
	}
	limit := 16 * float64(n) * r
	if definite(n, x, work) {
		return
	}
	shrunk := make([]float64, len(x))
	for t := min(0x1p-52, limit); t <= limit; t *= 2 {
		for i := range n {
			for j := range n {
				shrunk[i*n+j] = x[i*n+j]
				if i != j {
					shrunk[i*n+j] *= 1 - t
				}
			}
		}
		if definite(n, shrunk, work) {
			copy(x, shrunk)
			return
		}
	}
}

// definite reports whether a matrix is positive definite by such a margin that every factorisation
// succeeds.
func definite(n int, x, work []float64) bool {
	if notPositive(n, x, work, math.Inf(1)) != "" {
		return false
	}
	for i := range n {
		if !(work[i*n+i] > 4*float64(n)*0x1p-52*x[i*n+i]) && n > 1 {
			return false
		}
	}
	return true
}
