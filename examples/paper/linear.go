package main

import "math"

// cholesky replaces the lower triangle of g by its factor.
func cholesky(g []float64, k int) bool {
	for i := range k {
		for j := range i + 1 {
			s := g[i*k+j]
			for l := range j {
				s -= g[i*k+l] * g[j*k+l]
			}
			if i == j {
				if !(s > 0) {
					return false
				}
				g[i*k+i] = math.Sqrt(s)
			} else {
				g[i*k+j] = s / g[j*k+j]
			}
		}
	}
	return true
}

// solveLower solves Lx = b, solveUpper L'x = b, in place.
func solveLower(l, b []float64) {
	k := len(b)
	for i := range k {
		for j := range i {
			b[i] -= l[i*k+j] * b[j]
		}
		b[i] /= l[i*k+i]
	}
}

func solveUpper(l, b []float64) {
	k := len(b)
	for i := k - 1; i >= 0; i-- {
		for j := i + 1; j < k; j++ {
			b[i] -= l[j*k+i] * b[j]
		}
		b[i] /= l[i*k+i]
	}
}
