package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// Ops of strips are an ad.OpCode and a mode: which operands are uniform.
const (
	modeVV = 0
	modeVS = 1 // for select: the second operand
	modeSV = 2 // for select: the third; 3: both

	neg    = uint16(ad.OpNeg) << 2
	square = uint16(ad.OpSquare) << 2
	abs    = uint16(ad.OpAbs) << 2
	sqrt   = uint16(ad.OpSqrt) << 2
	inv    = uint16(ad.OpInv) << 2
	exp    = uint16(ad.OpExp) << 2
	log    = uint16(ad.OpLog) << 2
	log1p  = uint16(ad.OpLog1p) << 2
	log1m  = uint16(ad.OpLog1m) << 2

	add     = uint16(ad.OpAdd) << 2
	sub     = uint16(ad.OpSub) << 2
	mul     = uint16(ad.OpMul) << 2
	div     = uint16(ad.OpDiv) << 2
	guarded = uint16(ad.OpMulGuarded) << 2
	less    = uint16(ad.OpLess) << 2
	lessEq  = uint16(ad.OpLessEqual) << 2
	choose  = uint16(ad.OpSelect) << 2

	mulAdd = uint16(loopnest.OpMulAdd) << 2
	mulSub = uint16(loopnest.OpMulSub) << 2
	subMul = uint16(loopnest.OpSubMul) << 2
	dot    = uint16(loopnest.OpDot) << 2

	sumLog    = uint16(loopnest.OpSumLog) << 2
	notLessEq = uint16(loopnest.OpNotLessEqual) << 2
	not       = uint16(ad.OpNot) << 2
	isNaN     = uint16(ad.OpIsNaN) << 2

	expNegAbs  = uint16(loopnest.OpExpNegAbs) << 2
	expNegDiff = uint16(loopnest.OpExpNegDiff) << 2
	sigmoid    = uint16(loopnest.OpSigmoid) << 2
	maxPlus0   = uint16(loopnest.OpMaxPlus0) << 2
	minMinus0  = uint16(loopnest.OpMinMinus0) << 2
	maxPlus    = uint16(loopnest.OpMaxPlus) << 2

	// Loops over any scalar function.
	generic1 = uint16(ad.OpConst)<<2 | 1
	generic3 = uint16(ad.OpConst)<<2 | 3
	generic2 = uint16(ad.OpInput) << 2 // with a mode

	fill       = uint16(ad.OpReshape) << 2   // dst = a[0]
	move1      = uint16(ad.OpReshape)<<2 | 1 // dst = a
	loadTable  = uint16(ad.OpGather) << 2    // dst = a[table], mapping c
	loadAffine = uint16(ad.OpGather)<<2 | 1
	loadRuns   = uint16(ad.OpGather)<<2 | 2
	sum        = uint16(ad.OpScatter) << 2 // dst[0] += Σ a
	addTable   = uint16(ad.OpScatter)<<2 | 1
	addAffine  = uint16(ad.OpScatter)<<2 | 2
	addRuns    = uint16(ad.OpScatter)<<2 | 3
	check      = uint16(ad.OpCheck) << 2 // of a, by strip check b
	setTable   = uint16(ad.OpConcat) << 2
	setAffine  = uint16(ad.OpConcat)<<2 | 1
)

// stripper translates one block of strips.
type stripper struct {
	*context
	b     *block
	t     int
	last  map[rootID]int32 // last reader of a temporary, by node
	reg   map[rootID]int32 // view of a temporary
	free  []int32
	wins  map[int32]int32 // window of a view
	multi bool
}

// stripCode emits nodes of the same n as one block. Values that only the block
// reads, element by element, live in temporaries of one strip.
func (x *context) stripCode(b *block, nodes []int32, t int) {
	b.kind = stripBlock
	b.strip = min(b.n, maxStrip)
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
	for _, i := range nodes {
		s.node(i)
	}
}

// window is the part of a view that belongs to the strip.
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
	full := s.readView(v, s.t)
	if v.N == 1 {
		return full
	}
	return s.window(full, false)
}

// temp is a free temporary.
func (s *stripper) temp() int32 {
	if n := len(s.free); n > 0 {
		r := s.free[n-1]
		s.free = s.free[:n-1]
		return r
	}
	r := s.newRoot(s.b.strip, s.Body, false)
	s.touch(r, s.t, false)
	v := s.window(s.view(s.whole(r)), true)
	s.b.temps[v] = true
	return v
}

func (s *stripper) out(in instr) { s.b.code = append(s.b.code, in) }

func (s *stripper) node(i int32) {
	n := &s.Nodes[i]
	var ops [3]int32
	var uniform [3]bool
	if n.Kind != loopnest.Load {
		for k, a := range n.Args {
			ops[k], uniform[k] = s.operand(a), a.N == 1
		}
	}
	var filled []int32
	needVector := func(k int) {
		if uniform[k] {
			r := s.temp()
			s.out(instr{op: fill, dst: r, a: ops[k]})
			filled = append(filled, r)
			ops[k] = r
		}
	}
	in := instr{op: uint16(n.Op) << 2, x: uint16(n.Op)}
	if n.Kind == loopnest.Elementwise && n.Op != ad.OpCheck {
		switch len(n.Args) {
		case 1:
			if !hasLoop(n.Op) {
				in.op = generic1
			}
		case 2:
			if !hasLoop(n.Op) {
				in.op = generic2
			}
			switch {
			case n.Op > loopnest.OpNotLessEqual: // no modes
				needVector(0)
				needVector(1)
			case uniform[0]:
				in.op |= modeSV
			case uniform[1]:
				in.op |= modeVS
			}
		case 3:
			needVector(0)
			if n.Op != ad.OpSelect && n.Op < loopnest.OpMulAdd || n.Op > loopnest.OpDot {
				if n.Op < loopnest.OpMulAdd {
					in.op = generic3
				}
				needVector(1)
				needVector(2)
				break
			}
			if uniform[1] {
				in.op |= modeVS
			}
			if uniform[2] {
				in.op |= modeSV
			}
		}
	}
	// Temporaries read for the last time may take the result.
	for k, a := range n.Args {
		if last, ok := s.last[a.Buf]; ok && last == i && a.N == s.b.n && (k == 0 || n.Args[0] != a) && (k < 2 || n.Args[1] != a) {
			s.free = append(s.free, s.reg[a.Buf])
			delete(s.last, a.Buf)
		}
	}
	s.free = append(s.free, filled...)
	in.a, in.b, in.c = ops[0], ops[1], ops[2]
	switch {
	case n.Op == ad.OpCheck:
		in.op, in.dst, in.b = check, ops[0], int32(len(s.p.stripChecks))
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

// result is where an elementwise result goes.
func (s *stripper) result(n *node) int32 {
	if _, ok := s.last[n.Dst]; ok {
		r := s.temp()
		s.reg[n.Dst] = r
		if s.last[n.Dst] < 0 { // nobody reads it
			s.free = append(s.free, r)
		}
		return r
	}
	s.clearing(s.b, n.Dst, s.t)
	s.touch(n.Dst, s.t, false)
	return s.window(s.view(s.whole(n.Dst)), false)
}

func (s *stripper) accumulate(n *node, in *instr) {
	switch {
	case n.Map.Contiguous():
		in.dst = s.window(s.view(val{Buf: n.Dst, Off: n.Map.Off, N: n.Map.N}), false)
		in.op = move1
		if !n.Store {
			in.op, in.b = add, in.a
			in.a = in.dst
		}
	case n.Map.Uniform():
		in.dst = s.view(val{Buf: n.Dst, Off: n.Map.Off, N: 1})
		if n.Op != loopnest.OpDot && n.Op != loopnest.OpSumLog {
			in.op = sum
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
	}
}

func (s *stripper) mapping(m *loopnest.Map) int32 {
	var g mapping
	if _, s0, n1, s1, ok := m.Affine(); ok {
		g = mapping{off: m.Off, n1: n1, s0: s0, s1: s1}
	} else {
		g.table, g.off = m.Table()
		g.findRuns(s.b.strip)
	}
	s.p.maps = append(s.p.maps, g)
	return int32(len(s.p.maps) - 1)
}

// findRuns cuts the table into runs of equal entries if they are long enough.
func (g *mapping) findRuns(strip int) {
	n := 0
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

// stripRuns are the runs of the strip that begins at element pos.
func (g *mapping) stripRuns(pos int) []tableRun {
	k := pos / maxStrip
	return g.runs[g.strips[k]:g.strips[k+1]]
}

// hasLoop reports whether strips have a loop of their own for op.
func hasLoop(op ad.OpCode) bool {
	switch op {
	case ad.OpNeg, ad.OpSquare, ad.OpAbs, ad.OpSqrt, ad.OpInv, ad.OpExp, ad.OpLog, ad.OpLog1p, ad.OpLog1m,
		ad.OpAdd, ad.OpSub, ad.OpMul, ad.OpDiv, ad.OpMulGuarded, ad.OpLess, ad.OpLessEqual, ad.OpNot, ad.OpIsNaN:
		return true
	}
	return op >= loopnest.OpMulAdd
}
