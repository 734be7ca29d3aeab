package loopnest

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// Map maps positions of a value, over all its lanes, to elements of its source. It is an ad.Index
// in which lanes are one more dimension, in its simplest form.
type Map struct {
	Off  int
	Dims []ad.Dim // none has a single element, and no two of them could be one
	N    int      // number of positions
}

// Flatten returns the map of ix over several lanes, whose values are stride elements apart in the
// source. Positions are ordered by lane.
func Flatten(ix ad.Index, lanes, stride int) Map {
	m := Map{Off: ix.Offset, N: 1}
	if lanes > 0 {
		m.add(ad.Dim{N: lanes, Stride: stride})
	}
	for _, d := range ix.Dims {
		m.add(d)
	}
	return m
}

// affine2 returns the map (i, j) → i·s0 + j·s1 of n0·n1 positions.
func affine2(n0, s0, n1, s1 int) Map {
	m := Map{N: 1}
	m.add(ad.Dim{N: n0, Stride: s0})
	m.add(ad.Dim{N: n1, Stride: s1})
	return m
}

// add appends an inner dimension.
func (m *Map) add(d ad.Dim) {
	m.N *= d.N
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
				m.Dims = append(m.Dims, d)
				return
			}
		}
		m.Off += int(t[0])
		d = ad.Dim{N: d.N, Stride: step}
	}
	if d.N == 1 {
		return
	}
	if k := len(m.Dims) - 1; k >= 0 && m.Dims[k].Table == nil && m.Dims[k].Stride == d.N*d.Stride {
		m.Dims[k] = ad.Dim{N: m.Dims[k].N * d.N, Stride: d.Stride}
		return
	}
	m.Dims = append(m.Dims, d)
}

// Contiguous reports whether the positions are the elements off, off+1, ….
func (m *Map) Contiguous() bool {
	return len(m.Dims) == 0 || len(m.Dims) == 1 && m.Dims[0].Table == nil && m.Dims[0].Stride == 1
}

// Uniform reports whether all positions are the same element.
func (m *Map) Uniform() bool {
	return len(m.Dims) == 0 || len(m.Dims) == 1 && m.Dims[0].Table == nil && m.Dims[0].Stride == 0
}

// Affine returns the map in the form off + i·s0 + j·s1, if it has that form.
func (m *Map) Affine() (n0, s0, n1, s1 int, ok bool) {
	for _, d := range m.Dims {
		if d.Table != nil {
			return 0, 0, 0, 0, false
		}
	}
	switch len(m.Dims) {
	case 0:
		return 1, 0, 1, 0, true
	case 1:
		return 1, 0, m.Dims[0].N, m.Dims[0].Stride, true
	case 2:
		return m.Dims[0].N, m.Dims[0].Stride, m.Dims[1].N, m.Dims[1].Stride, true
	}
	return 0, 0, 0, 0, false
}

// Table returns the elements of all positions as a table, relative to base. Neither base nor the
// entries are negative, whatever the offset of the map: executors cut the source at base, and use
// the entries as indices into the rest.
func (m *Map) Table() (t []int32, base int) {
	if len(m.Dims) == 1 && m.Dims[0].Table != nil && m.Off >= 0 {
		t = m.Dims[0].Table[:m.Dims[0].N]
		if slices.Min(t) >= 0 {
			return t, m.Off
		}
	}
	t = make([]int32, 0, m.N)
	m.Each(func(_, elem int) { t = append(t, int32(elem)) })
	return t, 0
}

// Each calls f with every position and its element, in order.
func (m *Map) Each(f func(pos, elem int)) {
	if m.N > 0 {
		ad.Index{Offset: m.Off, Dims: m.Dims}.Each(f)
	}
}

// Span returns the smallest range that contains all elements of the map.
func (m *Map) Span() Span {
	lo, hi := m.Off, m.Off
	for _, d := range m.Dims {
		if d.Table == nil {
			if s := (d.N - 1) * d.Stride; s < 0 {
				lo += s
			} else {
				hi += s
			}
			continue
		}
		a, b := slices.Min(d.Table[:d.N]), slices.Max(d.Table[:d.N])
		lo, hi = lo+int(a), hi+int(b)
	}
	return Span{lo, hi + 1}
}
