package vm

import (
	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/ad"
)

// sparse is a mostly-zero matrix of data, row by row: row i has the elements from start[i] up to,
// but excluding, start[i+1].
type sparse struct {
	start, column []int32
	value         []float64
	table         *sparseTable // for machine code; nil: Go's loops
}

// These constants decide about a product with a matrix of data of at least minSparse elements: it
// omits zeros if that is faster. Products with vectors have become other ops before (pass sparse).
// Measured with machine code on one core: adding a multiple of a row of c numbers takes 5 + 0.05 c
// ns, a dense product 0.042 ns per multiplication. 300 × 295 inputs of a neural network, 6 % of
// them nonzero, times 20 columns: 35 instead of 74 µs. In machine code with AVX-512, 100 × 785
// inputs, 19 % nonzero, times 10 columns: 12.6 instead of 23.5 µs, the transpose 12.9 instead of
// 23.4.
const (
	minSparse   = 2048
	perRow      = 120.0 // cost of a row with no elements, in multiplications of a dense product
	perTableRow = 20.0  // the same in machine code
	sparseGain  = 1.5   // expected gain from which zeros are omitted
)

// newSparse returns the sparse form of a constant matrix for a product with the given number of
// columns, or nil if the dense product is faster.
func newSparse(data []float64, rows, columns int, perRow float64) *sparse {
	if len(data) < minSparse {
		return nil
	}
	count := 0
	for _, v := range data {
		if v != 0 { // which includes NaN
			count++
		}
	}
	n, all, c := float64(count), float64(len(data)), float64(columns)
	if columns < 2 || n*(perRow+c)*sparseGain > all*c {
		return nil
	}
	s := &sparse{start: make([]int32, 1, rows+1), column: make([]int32, 0, count), value: make([]float64, 0, count)}
	k := len(data) / rows
	for i := range rows {
		for j, v := range data[i*k : (i+1)*k] {
			if v != 0 {
				s.column, s.value = append(s.column, int32(j)), append(s.value, v)
			}
		}
		s.start = append(s.start, int32(len(s.value)))
	}
	return s
}

// sparseOf returns the sparse form of a product's left matrix, if that is data and the form makes
// the product faster; otherwise nil.
func (x *context) sparseOf(n *node) *sparse {
	attr := n.Src.Attr.(ad.MatMulAttr)
	a, b := &n.Types[0], &n.Types[1]
	data := x.roots[n.Args[0].Buf].data
	if data == nil || attr.TransB || max(n.Src.Type.Lanes, a.Lanes, b.Lanes) > 0 || len(data) < n.Args[0].Off+a.Size() {
		return nil
	}
	data = data[n.Args[0].Off : n.Args[0].Off+a.Size()]
	columns := b.Shape[1]
	if x.p.target == nil {
		return newSparse(data, a.Shape[0], columns, perRow)
	}
	_, group, ok := sparseColumns(x.p.target, columns)
	if !ok {
		return newSparse(data, a.Shape[0], columns, perRow)
	}
	s := newSparse(data, a.Shape[0], columns, perTableRow)
	if s != nil {
		rows := a.Shape[0]
		if attr.TransA {
			rows = a.Shape[1]
		}
		s.table = s.tableOf(rows, group, columns, attr.TransA)
	}
	return s
}

// multiply computes dst = s y or, transposed, dst = sᵀ y, with the given number of columns. If y is
// not finite everywhere, its products with 0 may not be 0; multiply then does nothing and returns
// false.
func (s *sparse) multiply(dst, y []float64, columns int, trans bool) bool {
	if !allFinite(y) {
		return false
	}
	clear(dst)
	for i := range len(s.start) - 1 {
		from, to := s.start[i], s.start[i+1]
		value := s.value[from:to]
		column := s.column[from:to][:len(value)]
		switch {
		case trans:
			row := y[i*columns : (i+1)*columns]
			for e, j := range column {
				floats.AddScaled(dst[int(j)*columns:(int(j)+1)*columns], value[e], row)
			}
		default:
			row := dst[i*columns : (i+1)*columns]
			for e, j := range column {
				floats.AddScaled(row, value[e], y[int(j)*columns:(int(j)+1)*columns])
			}
		}
	}
	return true
}

// allFinite reports whether no number is infinite or NaN.
func allFinite(v []float64) bool {
	var s [4]float64
	for len(v) >= 4 {
		s[0] += 0 * v[0]
		s[1] += 0 * v[1]
		s[2] += 0 * v[2]
		s[3] += 0 * v[3]
		v = v[4:]
	}
	for _, x := range v {
		s[0] += 0 * x
	}
	return s == [4]float64{}
}
