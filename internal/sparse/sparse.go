// Package sparse has Cholesky factors of sparse matrices whose pattern is fixed: the order of
// elimination and the pattern of the factor are found once, the values for each matrix.
package sparse

import (
	"math"
	"slices"
	"sync"
)

// Factor is the pattern of a Cholesky factor S = Pᵀ·L·Lᵀ·P, in an order in which it is sparse. It
// is immutable. Values of L are stored column by column.
type Factor struct {
	Dim   int
	Order []int32 // order of the rows of the factor
	Place []int32 // the inverse of Order
	Start []int32 // start of each column in Rows, and in the values
	Rows  []int32 // rows of each column in ascending order, the diagonal first
	At    []int32 // index of each position of the matrix in the values
	Work  float64 // number of multiplications in a factorisation

	// Of each row of L, without the diagonal: where it starts in left and at, and for each value
	// its column and its index.
	first    []int32
	left, at []int32
}

// NewFactor returns the pattern of the factor of a symmetric matrix whose lower triangle has values
// at these positions, each once and with the whole diagonal.
func NewFactor(d int, rows, columns []int32) *Factor {
	s := &Factor{Dim: d, Order: minimumDegree(d, rows, columns), Place: make([]int32, d), Start: make([]int32, d+1), At: make([]int32, len(rows)), first: make([]int32, d+1)}
	for i, v := range s.Order {
		s.Place[v] = int32(i)
	}
	below := make([][]int32, d) // rows of each column of S, in the new order
	for k, r := range rows {
		i, j := s.Place[r], s.Place[columns[k]]
		below[min(i, j)] = append(below[min(i, j)], max(i, j))
	}
	// A column of the factor has the rows of the same column of S, and the rows of each column
	// whose first row below the diagonal is this column.
	children := make([][]int32, d)
	mark := make([]int32, d)
	for j := range d {
		first := len(s.Rows)
		s.Start[j] = int32(first)
		s.Rows = append(s.Rows, int32(j))
		mark[j] = int32(j) + 1
		add := func(rows []int32) {
			for _, i := range rows {
				if mark[i] != int32(j)+1 {
					mark[i] = int32(j) + 1
					s.Rows = append(s.Rows, i)
				}
			}
		}
		add(below[j])
		for _, c := range children[j] {
			add(s.Rows[s.Start[c]+1 : s.Start[c+1]])
		}
		col := s.Rows[first:]
		slices.Sort(col)
		if len(col) > 1 {
			children[col[1]] = append(children[col[1]], int32(j))
		}
		s.Start[j+1] = int32(len(s.Rows))
		s.Work += float64(len(col)) * float64(len(col))
		for _, i := range col[1:] {
			s.first[i+1]++
		}
	}
	for k, r := range rows {
		i, j := s.Place[r], s.Place[columns[k]]
		i, j = max(i, j), min(i, j)
		n, _ := slices.BinarySearch(s.Rows[s.Start[j]:s.Start[j+1]], i)
		s.At[k] = s.Start[j] + int32(n)
	}
	for i := range d {
		s.first[i+1] += s.first[i]
	}
	s.left, s.at = make([]int32, s.first[d]), make([]int32, s.first[d])
	next := slices.Clone(s.first)
	for j := range d {
		for k := s.Start[j] + 1; k < s.Start[j+1]; k++ {
			i := s.Rows[k]
			s.left[next[i]], s.at[next[i]] = int32(j), k
			next[i]++
		}
	}
	return s
}

// Len returns the number of values of L.
func (s *Factor) Len() int { return len(s.Rows) }

// Cholesky factorises in place a matrix with the factor's pattern. column is work space of Dim
// numbers, which are 0. failed is the first column whose pivot is not positive, and pivot the
// square of that; failed is -1 if there is none.
func (s *Factor) Cholesky(l, column []float64) (logDet float64, failed int, pivot float64) {
	for j := range s.Dim {
		first, last := s.Start[j], s.Start[j+1]
		for k := first; k < last; k++ {
			column[s.Rows[k]] = l[k]
		}
		for n := s.first[j]; n < s.first[j+1]; n++ {
			k, end := s.at[n], s.Start[s.left[n]+1]
			w, values := l[k], l[k:end]
			for i, r := range s.Rows[k:end] {
				column[r] -= w * values[i]
			}
		}
		v := column[j]
		if !(v > 0) || math.IsInf(v, 1) {
			clear(column)
			return 0, j, v
		}
		root := math.Sqrt(v)
		logDet += 2 * math.Log(root)
		l[first] = root
		column[j] = 0
		for k := first + 1; k < last; k++ {
			i := s.Rows[k]
			l[k], column[i] = column[i]/root, 0
		}
	}
	return logDet, -1, 0
}

// Adjoint replaces the adjoint of the values of L by that of the matrix, of which the lower
// triangle is read. column is work space of Dim numbers, which are 0.
func (s *Factor) Adjoint(l, adjoint, column []float64) {
	for j := s.Dim - 1; j >= 0; j-- {
		first, last := s.Start[j], s.Start[j+1]
		root := l[first]
		sum := adjoint[first]
		for k := first + 1; k < last; k++ {
			sum -= adjoint[k] * l[k] / root
			adjoint[k] /= root
			column[s.Rows[k]] = adjoint[k]
		}
		adjoint[first] = sum / (2 * root)
		column[j] = adjoint[first]
		for n := s.first[j]; n < s.first[j+1]; n++ {
			k, end := s.at[n], s.Start[s.left[n]+1]
			w, values, adjs := l[k], l[k:end], adjoint[k:end]
			total := 0.0
			for i, r := range s.Rows[k:end] {
				b := column[r]
				total += b * values[i]
				adjs[i] -= b * w
			}
			adjs[0] -= total
		}
		for k := first; k < last; k++ {
			column[s.Rows[k]] = 0
		}
	}
}

// Forward solves L·z = b in place for n right-hand sides. The n numbers of a row are adjacent.
func (s *Factor) Forward(l, b []float64, n int) {
	for j := range s.Dim {
		first, last := s.Start[j], s.Start[j+1]
		row := b[j*n : (j+1)*n]
		for c := range row {
			row[c] /= l[first]
		}
		for k := first + 1; k < last; k++ {
			to, w := b[int(s.Rows[k])*n:], l[k]
			for c, v := range row {
				to[c] -= w * v
			}
		}
	}
}

// Backward solves Lᵀ·z = b in the same way.
func (s *Factor) Backward(l, b []float64, n int) {
	for j := s.Dim - 1; j >= 0; j-- {
		first, last := s.Start[j], s.Start[j+1]
		row := b[j*n : (j+1)*n]
		for k := first + 1; k < last; k++ {
			from, w := b[int(s.Rows[k])*n:], l[k]
			for c := range row {
				row[c] -= w * from[c]
			}
		}
		for c := range row {
			row[c] /= l[first]
		}
	}
}

// recent has the factors that Of returned last.
var recent struct {
	sync.Mutex
	of []known
}

type known struct {
	rows, columns []int32
	factor        *Factor
}

// maxRecent is the number of patterns that Of keeps.
const maxRecent = 4

// Of is NewFactor for callers who often ask for the same pattern. It keeps the slices.
func Of(d int, rows, columns []int32) *Factor {
	recent.Lock()
	defer recent.Unlock()
	for _, k := range recent.of {
		if k.factor.Dim == d && slices.Equal(k.rows, rows) && slices.Equal(k.columns, columns) {
			return k.factor
		}
	}
	k := known{rows, columns, NewFactor(d, rows, columns)}
	if len(recent.of) == maxRecent {
		recent.of = slices.Delete(recent.of, 0, 1)
	}
	recent.of = append(recent.of, k)
	return k.factor
}
