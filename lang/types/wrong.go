package types

import (
	"fmt"
	"math"
)

// This file: checks of values of constrained types, and examples of such values.

func number(x float64) string { return fmt.Sprintf("%.10g", x) }

func notIncreasing(x []float64) string {
	for i := 1; i < len(x); i++ {
		if !(x[i] > x[i-1]) {
			return fmt.Sprintf("its element %d is %s, and the one before %s", i+1, number(x[i]), number(x[i-1]))
		}
	}
	return ""
}

// line is a vector, or a row or column of a matrix: n elements of x.
type line struct {
	x               []float64
	from, stride, n int
	of              lines
	index           int
	tol             float64
}

type lines uint8

const (
	all lines = iota
	rowsOf
	columnsOf
)

func whole(x []float64, tol float64) line { return line{x: x, stride: 1, n: len(x), tol: tol} }

// every tests the rows or columns of a matrix.
func every(of lines, s []int, x []float64, tol float64, test func(line) string) string {
	l := line{x: x, of: of, stride: 1, n: s[1], tol: tol}
	count, step := s[0], s[1]
	if of == columnsOf {
		l.stride, l.n, count, step = s[1], s[0], s[1], 1
	}
	for l.index = range count {
		l.from = l.index * step
		if t := test(l); t != "" {
			return t
		}
	}
	return ""
}

func (l line) at(i int) float64 { return l.x[l.from+i*l.stride] }

func (l line) sum() float64 {
	sum := 0.
	for i := range l.n {
		sum += l.at(i)
	}
	return sum
}

// elements returns how messages name the elements, such as "its elements".
func (l line) elements() string {
	switch l.of {
	case rowsOf:
		return fmt.Sprintf("the elements of its row %d", l.index+1)
	case columnsOf:
		return fmt.Sprintf("the elements of its column %d", l.index+1)
	}
	return "its elements"
}

// place returns the index of element i, for messages.
func (l line) place(i int) string {
	switch l.of {
	case rowsOf:
		return fmt.Sprintf("[%d,%d]", l.index+1, i+1)
	case columnsOf:
		return fmt.Sprintf("[%d,%d]", i+1, l.index+1)
	}
	return fmt.Sprint(i + 1)
}

func notZero(l line) string {
	if sum := l.sum(); !(math.Abs(sum) <= l.tol) {
		return l.elements() + " sum to " + number(sum)
	}
	return ""
}

func notSimplex(l line) string {
	if sum := l.sum(); !(math.Abs(sum-1) <= l.tol) {
		return l.elements() + " sum to " + number(sum)
	}
	for i := range l.n {
		if v := l.at(i); !(v >= 0) {
			return "its element " + l.place(i) + " is " + number(v)
		}
	}
	return ""
}

func notUnit(l line) string {
	sum := 0.
	for i := range l.n {
		sum += l.at(i) * l.at(i)
	}
	if !(math.Abs(sum-1) <= l.tol) {
		return "the squares of " + l.elements() + " sum to " + number(sum)
	}
	return ""
}

func notFactor(s []int, x []float64) string {
	for i := range s[0] {
		for j := range s[1] {
			switch v := x[i*s[1]+j]; {
			case j > i && v != 0, j == i && !(v > 0):
				return fmt.Sprintf("its element [%d,%d] is %s", i+1, j+1, number(v))
			}
		}
	}
	return ""
}

// notPositive checks that a matrix is symmetric to within tol and positive definite, by the pivots
// of the factorisation L D Lᵀ.
func notPositive(n int, x, work []float64, tol float64) string {
	for i := range n {
		for j := range i + 1 {
			if v, w := x[i*n+j], x[j*n+i]; !(math.Abs(v-w) <= tol) {
				return fmt.Sprintf("its element [%d,%d] is %s, and its element [%d,%d] is %s", j+1, i+1, number(w), i+1, j+1, number(v))
			}
		}
	}
	if n == 1 && !(x[0] > Tolerance) {
		return "it is " + number(x[0])
	}
	// work contains L below the diagonal and D on it.
	for j := range n {
		d := x[j*n+j]
		for k := range j {
			d -= work[j*n+k] * work[j*n+k] * work[k*n+k]
		}
		if !(d > 0) {
			return fmt.Sprintf("it is not positive definite (its pivot %d is %s)", j+1, number(d))
		}
		work[j*n+j] = d
		for i := j + 1; i < n; i++ {
			v := x[i*n+j]
			for k := range j {
				v -= work[i*n+k] * work[j*n+k] * work[k*n+k]
			}
			work[i*n+j] = v / d
		}
	}
	return ""
}

func exampleSimplex(l line) {
	sum := l.sum()
	for i := range l.n {
		l.set(i, l.at(i)/sum)
	}
}

func exampleUnit(x []float64) {
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	for i := range x {
		x[i] /= math.Sqrt(square)
	}
}

func exampleZero(l line) {
	mean := l.sum() / float64(l.n)
	for i := range l.n {
		l.set(i, l.at(i)-mean)
	}
}

// exampleIdentity returns the identity matrix for all random numbers, because it is easy to read.
func exampleIdentity(shape []int, x []float64) {
	clear(x)
	for i := range min(shape[0], shape[1]) {
		x[i*shape[1]+i] = 1
	}
}
