package vm

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// logSumExps sets dst[i] to log Σ exp of row i of x, which has k elements. It computes many rows
// together, so that exponentials and logarithms run in long loops. work has maxStrip elements.
func logSumExps(dst, x []float64, k int, work []float64) {
	if k == 0 {
		fillLoop(dst, math.Inf(-1))
		return
	}
	if k > len(work) {
		for i := range dst {
			dst[i] = logSumExpLong(x[i*k:(i+1)*k], work)
		}
		return
	}
	for rows := len(work) / k; len(dst) > 0; {
		n := min(rows, len(dst))
		d := dst[:n]
		for i := range d {
			row, w := x[i*k:(i+1)*k], work[i*k:(i+1)*k]
			m := maxOf(row)
			d[i] = m
			if math.IsInf(m, 0) || math.IsNaN(m) {
				clear(w)
				continue
			}
			for j, v := range row {
				w[j] = v - m
			}
		}
		exponentials(work[:n*k])
		for i := range d {
			s := 0.0
			for _, v := range work[i*k : (i+1)*k] {
				s += v
			}
			work[i] = s // position i of work has already been read
		}
		ops.Of(ad.OpLog).Loop(work[:n], work, nil, nil)
		for i, m := range d {
			if !math.IsInf(m, 0) {
				d[i] = m + work[i]
			}
		}
		dst, x = dst[n:], x[n*k:]
	}
}

// logSumExpLong returns log Σ exp of a row that is longer than work.
func logSumExpLong(row, work []float64) float64 {
	m := maxOf(row)
	if math.IsInf(m, 0) || math.IsNaN(m) {
		return m
	}
	s := 0.0
	for len(row) > 0 {
		w := work[:min(len(work), len(row))]
		for j := range w {
			w[j] = row[j] - m
		}
		exponentials(w)
		s += ops.SumOf(w)
		row = row[len(w):]
	}
	return m + math.Log(s)
}

// maxOf returns the maximum of xs: NaN if any is NaN, -Inf if there are none.
func maxOf(xs []float64) float64 {
	m := math.Inf(-1)
	for _, v := range xs {
		if v > m || math.IsNaN(v) {
			m = v
		}
	}
	return m
}

// exponentials replaces numbers by their exponentials.
func exponentials(x []float64) { ops.Of(ad.OpExp).Loop(x, x, nil, nil) }
