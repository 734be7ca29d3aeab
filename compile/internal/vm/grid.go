package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// This file: strips that end with the rows of a grid. Where the elements of a block are the rows
// and columns of a grid, as answers of persons to items are, a number of each row is loaded once
// for all its elements, and numbers of columns are adjacent. Sums by row are sums of a loop, and
// sums by column additions of adjacent numbers. A table would need a load of an index for each
// number, and a sum by a table an addition of single numbers.

// grid describes the rows: the number of elements in a row, and in the part of a row that is one
// loop. A strip is several whole rows, or a part of one.
type grid struct{ row, part int }

// minRow is the least number of elements in a row, and minPart in a part of a longer one.
// savedByRow is the time, in ns, that each load or sum by row or by column saves for an element.
const (
	minRow, minPart = eight, 64
	savedByRow      = 0.4
)

// plane is the map of row i and column j to off + i·s0 + j·s1, where a row has n1 elements.
type plane struct{ off, s0, n1, s1 int }

// planeOf returns the map of a load or of a sum as a plane. It may be given as a table, as where
// data list the answers of persons one after another.
func planeOf(m *loopnest.Map) (p plane, ok bool) {
	p.off = m.Off
	if _, p.s0, p.n1, p.s1, ok = m.Affine(); ok || len(m.Dims) != 1 {
		return p, ok
	}
	t := m.Dims[0].Table[:m.Dims[0].N]
	at := func(i int) int { return int(t[i]) - int(t[0]) }
	p.off += int(t[0])
	p.s1, p.n1 = at(1), 2
	for p.n1 < len(t) && at(p.n1) == p.n1*p.s1 {
		p.n1++
	}
	if p.n1 == len(t) {
		return p, true
	}
	p.s0 = at(p.n1)
	for i := range t {
		if at(i) != i/p.n1*p.s0+i%p.n1*p.s1 {
			return p, false
		}
	}
	return p, len(t)%p.n1 == 0
}

// gridRow returns the number of elements in a row if the map of a load or of a sum selects one
// element for each row, or for each column; otherwise 0.
func gridRow(m *loopnest.Map) int {
	p, ok := planeOf(m)
	if !ok || p.n1 == m.N || !(p.s0 == 1 && p.s1 == 0 || p.s0 == 0 && p.s1 == 1) {
		return 0
	}
	return p.n1
}

// alongRows makes the strips of a block end with the rows of a grid, if it has maps by rows or
// columns. The last vector of a row may not be full: this must cost less than the maps save.
func (x *context) alongRows(b *block, nodes []int32) {
	count, row, cost := map[int]int{}, 0, 0.0
	for _, i := range nodes {
		n := &x.Nodes[i]
		cost += x.Cost(n).Guess / byMachine
		if n.Kind != loopnest.Load && (n.Kind != loopnest.Accumulate || n.Store) {
			continue
		}
		if r := gridRow(&n.Map); r >= minRow {
			if count[r]++; count[r] > count[row] {
				row = r
			}
		}
	}
	if row == 0 {
		return
	}
	part, rows := row, maxStrip/padded(row)
	if row > maxStrip { // the longest equal parts of a row
		rows = 1
		for part = maxStrip; part >= minPart && (row%part != 0 || part%eight != 0); part -= eight {
		}
		if part < minPart {
			return
		}
	}
	lost := cost * float64(padded(part)-part) / float64(part)
	if lost > savedByRow*float64(count[row]*b.n)*x.Times() {
		return
	}
	b.grid, b.strip = grid{row, part}, rows*part
}

// padded returns the number of elements of the vectors that hold n elements.
func padded(n int) int { return (n + eight - 1) / eight * eight }

// pad returns the numbers of some rows with zeros after each row, so that every row begins with the
// first lane of a vector, as in machine code. Work is memory for one strip.
func (g grid) pad(x, work []float64) []float64 {
	if g.part%eight == 0 || len(x) <= g.part {
		return x
	}
	n := padded(g.part)
	to := work[:len(x)/g.part*n]
	clear(to)
	for i := 0; len(x) > 0; i += n {
		copy(to[i:], x[:g.part])
		x = x[g.part:]
	}
	return to
}

// reduce returns the contribution of a strip's operands to a sum.
func (m *Machine) reduce(b *block, in *instr, x, y []float64) float64 {
	r := ops.Of(in.op).Reduce
	if r.Add == nil { // without machine code, which adds in a different order
		return r.Loop(x, y)
	}
	x = b.grid.pad(x, m.work[:maxStrip])
	if ops.Of(in.op).Arity > 1 {
		y = b.grid.pad(y, m.work[maxStrip:2*maxStrip])
	}
	return r.Loop(x, y)
}

// byRow and byColumn report whether a mapping selects one element for each row of the block's grid,
// or for each column.
func (b *block) byRow(m *mapping) bool {
	return b.grid.row > 0 && m.table == nil && m.n1 == b.grid.row && m.s0 == 1 && m.s1 == 0
}

func (b *block) byColumn(m *mapping) bool {
	return b.grid.row > 0 && m.table == nil && m.n1 == b.grid.row && m.s0 == 0 && m.s1 == 1
}

// gridNative reports whether an instruction adds by row or by column to an array that no other
// instruction of the block changes by another map. Their additions would change places.
func (g *generator) gridNative(b *block, in *instr) bool {
	if in.op != addAffine {
		return false
	}
	m := &g.p.maps[in.c]
	if !b.byRow(m) && !b.byColumn(m) {
		return false
	}
	for k := range b.code {
		o := &b.code[k]
		if o == in || o.op == ad.OpCheck || g.apart(b, o.dst, in.dst) {
			continue
		}
		// The sums of a row are added in order. Those of a column would be added row by row.
		if n := &g.p.maps[o.c]; o.op != addAffine || o.dst != in.dst || n.off != m.off || !b.byRow(m) || !b.byRow(n) {
			return false
		}
	}
	return true
}

// apart reports whether two views of a block share no memory.
func (g *generator) apart(b *block, v, w int32) bool {
	if v == w {
		return false
	}
	if b.temps[v] || b.temps[w] || b.split.owns(v) || b.split.owns(w) {
		return true
	}
	s, t := &g.p.views[b.whole(v)], &g.p.views[b.whole(w)]
	return !s.unset && !t.unset && (s.off+s.n <= t.off || t.off+t.n <= s.off)
}

// Registers of the code of rows: the row, and the column of the element.
const (
	rowNumber = native.T5
	column    = native.T4
)

// keepColumns loads the sums by column of a grid of eight columns into registers, as far as there
// are enough. In memory, each row would wait for the store of the row before.
func (s *stripMaker) keepColumns() {
	if s.b.grid.row != eight {
		return
	}
	s.columns = map[int32][]native.Vec{}
	for k := range s.code {
		in := &s.code[k]
		if in.op != addAffine || !s.b.byColumn(&s.p.maps[in.c]) {
			continue
		}
		var rs []native.Vec
		for range eight / s.lanes {
			if r, ok := s.frame.Reserve(); ok {
				rs = append(rs, r)
			}
		}
		if len(rs) == eight/s.lanes {
			s.columns[in.dst] = rs
			s.eachColumn(in, func(b *native.Builder, r native.Vec, at native.Address) { b.Out(r, b.Load(at)) })
		}
	}
}

// eachColumn generates code for each register with sums by column, and the place of the sums.
func (s *stripMaker) eachColumn(in *instr, code func(b *native.Builder, r native.Vec, at native.Address)) {
	for i, r := range s.columns[in.dst] {
		b := s.Builder()
		code(b, r, s.element(in.dst, s.p.maps[in.c].off+i*s.lanes))
		s.frame.Emit(b, s.lanes)
	}
}

// rows generates the loop over rows of a strip. R1 holds the number of the first row.
func (s *stripMaker) rows() {
	g := s.generator
	row, part := s.b.grid.row, s.b.grid.part
	g.Mov(rowNumber, native.R1)
	g.MulImm(native.T0, rowNumber, int32(row))
	g.Mov(column, element)
	g.Sub(column, native.T0)
	next, loop := g.NewLabel(), g.NewLabel()
	g.Place(next)
	g.Mov(lastFull, element)
	g.AddImm(lastFull, int32(part/eight*eight))
	g.Place(loop)
	s.elements(eight)
	g.AddImm(element, eight)
	g.AddImm(column, eight)
	g.Cmp(element, lastFull)
	g.If(native.Less, loop)
	if rest := part % eight; rest > 0 {
		s.elements(rest)
		g.AddImm(element, int32(rest))
	}
	k := 0
	for i := range s.code {
		in := &s.code[i]
		if !s.reduces(in) {
			continue
		}
		if in.op == addAffine { // by row
			to := g.element(in.dst, g.p.maps[in.c].off)
			to.Index = rowNumber
			s.frame.AddSum(s.sums[k], to)
			s.frame.Clear(s.sums[k])
		}
		k++
	}
	if part < row {
		return
	}
	g.MovImm(column, 0)
	g.AddImm(rowNumber, 1)
	g.Cmp(element, endOf)
	g.If(native.Less, next)
	for i := range s.code {
		s.eachColumn(&s.code[i], func(b *native.Builder, r native.Vec, at native.Address) { b.Store(at, b.In(r), false) })
	}
}
