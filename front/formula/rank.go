package formula

import (
	"fmt"
	"math"
	"strings"
)

// dependent finds the first column that is a linear combination of earlier ones, by Gram–Schmidt
// orthogonalisation, and the columns in this combination. It returns -1 if there is none.
func dependent(cols [][]float64) (which int, of []int) {
	const small = 1e-9 // relative to the length of a column
	var q [][]float64
	var coefficients [][]float64 // of each column with respect to the orthogonal ones before it
	for k, c := range cols {
		x, r := append([]float64(nil), c...), make([]float64, k)
		for range 2 { // a second time, for accuracy
			for j := range q {
				d := dot(q[j], x)
				r[j] += d
				for n := range x {
					x[n] -= d * q[j][n]
				}
			}
		}
		length := math.Sqrt(dot(x, x))
		if length > small*math.Sqrt(dot(c, c)) {
			for n := range x {
				x[n] /= length
			}
			q, coefficients = append(q, x), append(coefficients, append(r, length))
			continue
		}
		// Solve for the coefficients of the columns by substitution.
		for j := k - 1; j >= 0; j-- {
			r[j] /= coefficients[j][j]
			for i := range j {
				r[i] -= r[j] * coefficients[j][i]
			}
			if size := math.Abs(r[j]) * math.Sqrt(dot(cols[j], cols[j])); size > 1e-6*math.Sqrt(dot(c, c)) {
				of = append([]int{j}, of...)
			}
		}
		return k, of
	}
	return -1, nil
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// checkRank returns an error if columns of the population's terms are linearly dependent, since the
// data then do not determine their coefficients.
func (w *writer) checkRank(blocks []*block) *Error {
	var cols [][]float64
	var labels []string
	if w.spec.terms.intercept {
		one := make([]float64, w.table.rows)
		for i := range one {
			one[i] = 1
		}
		cols, labels = [][]float64{one}, []string{"the intercept"}
	}
	for _, b := range blocks {
		cols, labels = append(cols, b.cols...), append(labels, b.labels...)
	}
	which, of := dependent(cols)
	if which < 0 {
		return nil
	}
	at := place{0, 0}
	for _, v := range w.vars {
		if strings.Contains(labels[which], v.key) {
			at = v.at
		}
	}
	var names []string
	for _, i := range of {
		names = append(names, labels[i])
	}
	if len(names) == 0 {
		return errorf(at, "leave the term out, or join levels", "the column %s of the design is 0 in every row", labels[which])
	}
	return errorf(at, "leave one of them out", "%s is a combination of %s: the data cannot tell their coefficients apart", labels[which], fmt.Sprint(strings.Join(names, ", ")))
}
