package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// stripper generates the code of one block of strips.
type stripper struct {
	*context
	b     *block
	t     int
	last  map[rootID]int32 // for each temporary, the last node that reads it
	reg   map[rootID]int32 // for each temporary, its view
	free  []int32
	wins  map[int32]int32 // for each view, its window
	multi bool
}

// stripCode emits nodes with the same number of elements, block k of the body, as one block of
// strips. Values that only the block reads, element by element, are in temporaries of one strip.
func (x *context) stripCode(b *block, k int, nodes []int32, t int) {
	b.kind = stripBlock
	b.strip = min(b.n, maxStrip)
	if b.n > maxStrip {
		x.alongRows(b, nodes)
	}
	b.temps = map[int32]bool{}
	s := &stripper{context: x, b: b, t: t, multi: b.n > b.strip,
		last: map[rootID]int32{}, reg: map[rootID]int32{}, wins: map[int32]int32{}}
	for _, i := range nodes {
		n := &x.Nodes[i]
		if n.Dst != none && x.Buffers[n.Dst].Local {
			s.last[n.Dst] = -1
		}
		for _, a := range n.Args {
			if _, ok := s.last[a.Buf]; ok && a.N == b.n {
				s.last[a.Buf] = i
			}
		}
	}
	x.splitStrips(b, nodes, x.weight(k))
	for _, i := range nodes {
		s.node(i)
	}
	if b.split != nil {
		s.keepSums()
	}
}

// window returns the strip's part of a view.
func (s *stripper) window(full int32, temp bool) int32 {
	if !s.multi {
		return full
	}
	if w, ok := s.wins[full]; ok {
		return w
	}
	w := s.newView(viewKey{root: none})
	s.wins[full] = w
	s.b.wins = append(s.b.wins, window{dst: w, src: full, temp: temp})
	return w
}

func (s *stripper) operand(v val) int32 {
	if r, ok := s.reg[v.Buf]; ok && v.N == s.b.n {
		return r
	}
	s.touch(v.Buf, s.t, true)
	full := s.elements(v)
	if v.N == 1 {
		return full
	}
	return s.window(full, false)
}

// temp returns a free temporary.
func (s *stripper) temp() int32 {
	if n := len(s.free); n > 0 {
		r := s.free[n-1]
		s.free = s.free[:n-1]
		return r
	}
	r := s.newRoot(s.b.strip, s.Body, false)
	s.touch(r, s.t, false)
	if s.b.split != nil {
		s.makeOwn(s.b, r)
	}
	v := s.window(s.view(s.whole(r)), true)
	s.b.temps[v] = true
	return v
}

func (s *stripper) out(in instr) { s.b.code = append(s.b.code, in) }

func (s *stripper) node(i int32) {
	n := &s.Nodes[i]
	in := instr{op: n.Op}
	operands := [3]*int32{&in.a, &in.b, &in.c}
	if n.Kind != loopnest.Load {
		for k, a := range n.Args {
			*operands[k] = s.operand(a)
			if a.N == 1 {
				in.x |= 1 << k
			}
		}
	}
	// The result may take the view of a temporary that is read for the last time.
	for k, a := range n.Args {
		if last, ok := s.last[a.Buf]; ok && last == i && a.N == s.b.n && (k == 0 || n.Args[0] != a) && (k < 2 || n.Args[1] != a) {
			s.free = append(s.free, s.reg[a.Buf])
			delete(s.last, a.Buf)
		}
	}
	switch {
	case n.Op == ad.OpCheck:
		in.dst, in.b = in.a, int32(len(s.p.stripChecks))
		s.p.stripChecks = append(s.p.stripChecks, stripCheck{node: n.Src, typ: n.Types[0], perm: n.Perm})
	case n.Kind == loopnest.Elementwise:
		in.dst = s.result(n)
	case n.Kind == loopnest.Load:
		in.a = s.readView(n.Args[0], s.t)
		in.dst = s.result(n)
		in.op, in.c = loadTable, s.mapping(&n.Map)
		switch g := &s.p.maps[in.c]; {
		case g.runs != nil:
			in.op = loadRuns
		case g.table == nil:
			in.op = loadAffine
		}
	case n.Kind == loopnest.Accumulate:
		s.clearing(s.b, n.Dst, s.t)
		s.touch(n.Dst, s.t, false)
		s.accumulate(n, &in)
	}
	s.out(in)
}

// result returns the view for an elementwise result.
func (s *stripper) result(n *node) int32 {
	if _, ok := s.last[n.Dst]; ok {
		r := s.temp()
		s.reg[n.Dst] = r
		if s.last[n.Dst] < 0 { // nothing reads it
			s.free = append(s.free, r)
		}
		return r
	}
	s.clearing(s.b, n.Dst, s.t)
	s.touch(n.Dst, s.t, false)
	return s.window(s.elements(s.whole(n.Dst)), false)
}

func (s *stripper) accumulate(n *node, in *instr) {
	switch {
	case n.Map.Contiguous():
		in.dst = s.window(s.elements(val{Buf: n.Dst, Off: n.Map.Off, N: n.Map.N}), false)
		in.op = ad.OpReshape
		if !n.Store {
			in.op, in.x = ad.OpAdd, in.x<<1
			in.a, in.b = in.dst, in.a
		}
	case n.Map.Uniform():
		in.dst = s.view(val{Buf: n.Dst, Off: n.Map.Off, N: 1})
		if s.b.split != nil {
			in.dst = s.ownSum(in.dst)
		}
		if ops.Of(n.Op).Reduce == nil {
			in.op = ops.Sum
		}
	default:
		in.dst = s.view(s.whole(n.Dst))
		in.c = s.mapping(&n.Map)
		g := &s.p.maps[in.c]
		table := g.table != nil
		switch {
		case g.runs != nil && !n.Store:
			in.op = addRuns
		case table && n.Store:
			in.op = setTable
		case table:
			in.op = addTable
		case n.Store:
			in.op = setAffine
		default:
			in.op = addAffine
		}
		if s.b.split != nil && !n.Store {
			in.dst = s.ownArray(n.Dst, in.dst)
		}
	}
}

func (s *stripper) mapping(m *loopnest.Map) int32 {
	var g mapping
	if _, s0, n1, s1, ok := m.Affine(); ok {
		g = mapping{off: m.Off, n1: n1, s0: s0, s1: s1}
	} else if row := s.b.grid.row; row > 0 && gridRow(m) == row {
		p, _ := planeOf(m)
		g = mapping{off: p.off, n1: p.n1, s0: p.s0, s1: p.s1}
	} else {
		g.table, g.off = m.Table()
		g.findRuns(s.b.strip)
	}
	s.p.maps = append(s.p.maps, g)
	return int32(len(s.p.maps) - 1)
}

// findRuns cuts the table into runs of equal entries, if they are long enough.
func (g *mapping) findRuns(strip int) {
	n := 0
	g.strip = strip
	for i := range g.table {
		if i == 0 || g.table[i] != g.table[i-1] {
			n++
		}
	}
	if n*loopnest.MinRun > len(g.table) {
		return
	}
	for i, t := range g.table {
		if i%strip == 0 {
			g.strips = append(g.strips, int32(len(g.runs)))
		}
		if i%strip == 0 || t != g.table[i-1] {
			g.runs = append(g.runs, tableRun{elem: t})
		}
		g.runs[len(g.runs)-1].n++
	}
	g.strips = append(g.strips, int32(len(g.runs)))
}

// stripRuns returns the runs of the strip that begins at element pos.
func (g *mapping) stripRuns(pos int) []tableRun {
	k := pos / g.strip
	return g.runs[g.strips[k]:g.strips[k+1]]
}
