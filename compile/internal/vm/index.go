package vm

import "github.com/ppl-lang/ppl/ad"

// flatMap maps positions of a value, over all its lanes, to elements of its
// source's flat storage. It is an ad.Index in which lanes are one more
// dimension, in the simplest of its forms.
type flatMap struct {
	off  int
	dims []ad.Dim // none of one element, no two that are one
	n    int      // positions
}

// flatten makes the map of ix over lanes values that stand stride elements
// apart in the source; positions are lane-major.
func flatten(ix ad.Index, lanes, stride int) flatMap {
	m := flatMap{off: ix.Offset, n: 1}
	if lanes > 0 {
		m.add(ad.Dim{N: lanes, Stride: stride})
	}
	for _, d := range ix.Dims {
		m.add(d)
	}
	return m
}

// affine2 is the map (i, j) → i·s0 + j·s1 of n0·n1 positions.
func affine2(n0, s0, n1, s1 int) flatMap {
	m := flatMap{n: 1}
	m.add(ad.Dim{N: n0, Stride: s0})
	m.add(ad.Dim{N: n1, Stride: s1})
	return m
}

// add appends an inner dimension.
func (m *flatMap) add(d ad.Dim) {
	m.n *= d.N
	if d.N == 0 {
		return
	}
	if t := d.Table; t != nil {
		step := 0
		if d.N > 1 {
			step = int(t[1]) - int(t[0])
		}
		for i := 1; i < d.N; i++ {
			if int(t[i])-int(t[i-1]) != step {
				m.dims = append(m.dims, d)
				return
			}
		}
		m.off += int(t[0])
		d = ad.Dim{N: d.N, Stride: step}
	}
	if d.N == 1 {
		return
	}
	if k := len(m.dims) - 1; k >= 0 && m.dims[k].Table == nil && m.dims[k].Stride == d.N*d.Stride {
		m.dims[k] = ad.Dim{N: m.dims[k].N * d.N, Stride: d.Stride}
		return
	}
	m.dims = append(m.dims, d)
}

// contiguous reports whether the positions are elements off, off+1, ….
func (m *flatMap) contiguous() bool {
	return len(m.dims) == 0 || len(m.dims) == 1 && m.dims[0].Table == nil && m.dims[0].Stride == 1
}

// uniform reports whether all positions are one element.
func (m *flatMap) uniform() bool {
	return len(m.dims) == 0 || len(m.dims) == 1 && m.dims[0].Table == nil && m.dims[0].Stride == 0
}

// affine returns the map as off + i·s0 + j·s1, if it is of that form.
func (m *flatMap) affine() (n0, s0, n1, s1 int, ok bool) {
	for _, d := range m.dims {
		if d.Table != nil {
			return 0, 0, 0, 0, false
		}
	}
	switch len(m.dims) {
	case 0:
		return 1, 0, 1, 0, true
	case 1:
		return 1, 0, m.dims[0].N, m.dims[0].Stride, true
	case 2:
		return m.dims[0].N, m.dims[0].Stride, m.dims[1].N, m.dims[1].Stride, true
	}
	return 0, 0, 0, 0, false
}

// table returns the elements of all positions, relative to base.
func (m *flatMap) table() (t []int32, base int) {
	if len(m.dims) == 1 && m.dims[0].Table != nil {
		t = m.dims[0].Table[:m.dims[0].N]
		negative := false
		for _, v := range t {
			negative = negative || v < 0
		}
		if !negative {
			return t, m.off
		}
	}
	t = make([]int32, 0, m.n)
	m.each(func(_, elem int) { t = append(t, int32(elem)) })
	return t, 0
}

// each calls f with every position and its element, in order.
func (m *flatMap) each(f func(pos, elem int)) {
	if m.n > 0 {
		ad.Index{Offset: m.off, Dims: m.dims}.Each(f)
	}
}
