package ad

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// EvalNode computes the value of one node, which has no side effects, random numbers or sub-graphs.
// args and types are those of its arguments. The value is written to dst, which has n.Type.Total()
// elements. EvalNode is the reference for every executor and may allocate.
func EvalNode(n *Node, types []Type, args [][]float64, dst []float64) error {
	return evalNode(n, types, args, dst)
}

func evalNode(n *Node, types []Type, args [][]float64, dst []float64) error {
	row := &table[n.Op]
	if row.Class == Elementwise {
		evalElementwise(row, n.Type, types, args, dst)
		return nil
	}
	var work []float64
	if row.Work != nil {
		work = make([]float64, row.Work(types, n.Attr))
	}
	if row.OwnLanes || n.Type.Lanes == 0 {
		return row.Eval(dst, args, types, n.Attr, work)
	}
	size := n.Type.Size()
	lane := make([][]float64, len(args))
	for l := range n.Type.Lanes {
		for i, a := range args {
			lane[i] = a
			if types[i].Lanes > 0 {
				k := types[i].Size()
				lane[i] = a[l*k : (l+1)*k]
			}
		}
		if err := row.Eval(dst[l*size:(l+1)*size], lane, types, n.Attr, work); err != nil {
			return err
		}
	}
	return nil
}

// OpError is the error of an op that rejected the evaluation, with its position in the program.
type OpError struct {
	Site Site
	Op   string
	Err  error
}

// Error implements error.
func (e *OpError) Error() string {
	var named *NotPositiveError
	if errors.As(e.Err, &named) && named.Name != "" {
		return named.Error()
	}
	return e.Op + ": " + e.Err.Error()
}

// Unwrap returns the op's own error.
func (e *OpError) Unwrap() error { return e.Err }

func evalElementwise(row *Op, t Type, types []Type, args [][]float64, dst []float64) {
	size := t.Size()
	var v [3]float64
	for l := range max(t.Lanes, 1) {
		for e := range size {
			for i := range args {
				k := 0
				if types[i].Lanes > 0 {
					k = l * types[i].Size()
				}
				if len(types[i].Shape) > 0 {
					k += e
				}
				v[i] = args[i][k]
			}
			dst[l*size+e] = row.Scalar(v)
		}
	}
}

// Scalar applies an Elementwise op to numbers; only the first Arity elements of v are used.
func (o *Op) Scalar(v [3]float64) float64 {
	switch {
	case o.F1 != nil:
		return o.F1(v[0])
	case o.F2 != nil:
		return o.F2(v[0], v[1])
	}
	return o.F3(v[0], v[1], v[2])
}

// gather and scatter go over the last dimension of the index in a tight loop.
func gather(dst, src []float64, ix Index) {
	if len(ix.Dims) == 0 {
		dst[0] = src[ix.Offset]
		return
	}
	inner := ix.Dims[len(ix.Dims)-1]
	pos := 0
	ix.rows(func(base int) {
		out := dst[pos : pos+inner.N]
		switch {
		case inner.Table != nil:
			for i, t := range inner.Table[:inner.N] {
				out[i] = src[base+int(t)]
			}
		case inner.Stride == 1:
			copy(out, src[base:base+inner.N])
		default:
			for i := range out {
				out[i] = src[base+i*inner.Stride]
			}
		}
		pos += inner.N
	})
}

func scatter(dst, src []float64, ix Index) {
	if len(ix.Dims) == 0 {
		dst[ix.Offset] += src[0]
		return
	}
	inner := ix.Dims[len(ix.Dims)-1]
	pos := 0
	ix.rows(func(base int) {
		in := src[pos : pos+inner.N]
		switch {
		case inner.Table != nil:
			for i, t := range inner.Table[:inner.N] {
				dst[base+int(t)] += in[i]
			}
		case inner.Stride == 0:
			s := 0.0
			for _, v := range in {
				s += v
			}
			dst[base] += s
		default:
			for i, v := range in {
				dst[base+i*inner.Stride] += v
			}
		}
		pos += inner.N
	})
}

// rows calls f for each row along the last dimension, with its first element. It does not allocate
// for up to two outer dimensions if f does not escape.
func (x Index) rows(f func(base int)) {
	outer := x.Dims[:len(x.Dims)-1]
	var at [8]int
	if len(outer) > len(at) {
		x.rowsDeep(outer, x.Offset, f)
		return
	}
	for _, d := range x.Dims {
		if d.N == 0 {
			return
		}
	}
	for {
		base := x.Offset
		for k, d := range outer {
			if d.Table != nil {
				base += int(d.Table[at[k]])
			} else {
				base += at[k] * d.Stride
			}
		}
		f(base)
		k := len(outer) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] < outer[k].N {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

func (x Index) rowsDeep(outer []Dim, base int, f func(base int)) {
	if len(outer) == 0 {
		f(base)
		return
	}
	d := outer[0]
	for i := range d.N {
		b := base + i*d.Stride
		if d.Table != nil {
			b = base + int(d.Table[i])
		}
		x.rowsDeep(outer[1:], b, f)
	}
}

func logSumExp(x []float64) float64 {
	m := math.Inf(-1)
	for _, v := range x {
		if v > m || math.IsNaN(v) {
			m = v
		}
	}
	if math.IsInf(m, 0) || math.IsNaN(m) {
		return m
	}
	s := 0.0
	for _, v := range x {
		s += math.Exp(v - m)
	}
	return m + math.Log(s)
}

func matMul(dst, a, b []float64, sa, sb []int, m MatMulAttr) {
	r, c, k, _ := m.dims(sa, sb)
	if r == 0 || c == 0 {
		return
	}
	if k == 0 {
		clear(dst)
		return
	}
	ta, tb := blas.NoTrans, blas.NoTrans
	if m.TransA {
		ta = blas.Trans
	}
	if m.TransB {
		tb = blas.Trans
	}
	if c == 1 {
		// This is a matrix times a vector, which may be given as a row or a column.
		blas64.Implementation().Dgemv(ta, sa[0], sa[1], 1, a, sa[1], b, 1, 0, dst, 1)
		return
	}
	if r == 1 {
		tb2 := blas.Trans
		if m.TransB {
			tb2 = blas.NoTrans
		}
		blas64.Implementation().Dgemv(tb2, sb[0], sb[1], 1, b, sb[1], a, 1, 0, dst, 1)
		return
	}
	if !finite(b) {
		product(dst, a, b, sa, sb, m)
		return
	}
	blas64.Implementation().Dgemm(ta, tb, r, c, k, 1, a, sa[1], b, sb[1], 0, dst, c)
}
