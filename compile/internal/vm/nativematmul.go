package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// Products of matrices in machine code, with contracted multiplications and
// additions: tiles of four rows, whose sums stay in registers, over the numbers
// that are summed.

// product is a product of matrices: C(i, j) = Σ A(i, t) B(t, j), of r rows, c
// columns and k terms.
type product struct {
	r, c, k        int
	transA, transB bool
}

// productOf is the product of a block, if machine code does it: one without
// lanes, of at most one transposed matrix.
func productOf(b *block) (p product, ok bool) {
	attr := b.node.Attr.(ad.MatMulAttr)
	x, y := &b.types[0], &b.types[1]
	p = product{r: x.Shape[0], k: x.Shape[1], c: y.Shape[1], transA: attr.TransA, transB: attr.TransB}
	if p.transA {
		p.r, p.k = p.k, p.r
	}
	if p.transB {
		p.c = y.Shape[0]
	}
	return p, max(b.node.Type.Lanes, x.Lanes, y.Lanes) <= 1 && p.r > 0 && p.c > 0 && p.k > 0 && !(p.transA && p.transB)
}

// Registers of a product.
const (
	rowA, colB, rowC  = native.DX, native.CX, native.BX // of the tile
	atA, atB, atC     = native.R8, native.R9, native.R11
	terms, rows, cols = native.R12, native.R13, native.R15
)

// matmul makes a product.
func (g *generator) matmul(b *block) {
	p, _ := productOf(b)
	startB := native.At(native.Scratch, int32(8*g.scratch))
	g.scratch++
	x, y := b.args[0], b.args[1]
	if p.transA && p.c == 1 { // Aᵀv as vᵀA, by rows
		x, y = y, x
		p = product{r: 1, c: p.r, k: p.k}
	}
	g.Lea(colB, g.elementOf(y, 0))
	g.Lea(rowA, g.elementOf(x, 0))
	g.Lea(rowC, g.elementOf(b.dst, 0))
	// A vector on the right is the same held either way; so is one on the left.
	if p.c == 1 && !p.transA {
		p.transB = true
	}
	if p.transB && p.r == 1 && p.c == 1 || p.transB && p.transA {
		p.transA = false
	}
	g.MovStore(startB, colB)
	for _, tile := range [2]struct{ rows, count int }{{4, p.r / 4}, {1, p.r % 4}} {
		if tile.count == 0 {
			continue
		}
		loop := g.NewLabel()
		g.MovImm(rows, uint64(tile.count))
		g.Place(loop)
		g.MovLoad(colB, startB)
		g.Mov(atC, rowC)
		if p.transB {
			g.dots(p, tile.rows)
		} else {
			g.sums4(p, tile.rows)
		}
		stepA := p.k
		if p.transA {
			stepA = 1
		}
		g.AddImm(rowA, int32(8*tile.rows*stepA))
		g.AddImm(rowC, int32(8*tile.rows*p.c))
		g.AddImm(rows, -1)
		g.If(native.NotEqual, loop)
	}
}

// repeat makes code that runs n times, counted by a register.
func (g *generator) repeat(counter native.Reg, n int, code func()) {
	if n == 0 {
		return
	}
	loop := g.NewLabel()
	g.MovImm(counter, uint64(n))
	g.Place(loop)
	code()
	g.AddImm(counter, -1)
	g.If(native.NotEqual, loop)
}

// sums4 makes a tile's row of C from rows of B, as many columns at a time as
// there are registers.
func (g *generator) sums4(p product, r int) {
	one := native.Lanes{Asm: g.Asm, Width: 1}
	stepA, stepRow := 1, p.k
	if p.transA {
		stepA, stepRow = p.r, 1
	}
	most := 8
	if r == 1 {
		most = 40
	}
	tile := func(w int) { // of w columns
		width := min(w, 4)
		l := native.Lanes{Asm: g.Asm, Width: width}
		n := (w + 3) / 4 // registers by row
		sum := func(i, j int) native.Vec { return native.Vec(4 + i*n + j) }
		for i := range r {
			for j := range n {
				l.Zero(sum(i, j))
			}
		}
		g.Mov(atA, rowA)
		g.Mov(atB, colB)
		g.repeat(terms, p.k, func() {
			if r > 1 {
				for j := range n {
					l.Load(native.Vec(j), native.At(atB, int32(32*j)))
				}
			}
			for i := range r {
				l.Broadcast(3, native.At(atA, int32(8*i*stepRow)))
				for j := range n {
					switch {
					case r > 1:
						l.MulAdd(sum(i, j), 3, native.Vec(j))
					case width == 1: // an operand in memory would be two numbers
						one.Load(0, native.At(atB, 0))
						l.MulAdd(sum(i, j), 3, 0)
					default:
						l.MulAddMem(sum(i, j), 3, native.At(atB, int32(32*j)))
					}
				}
			}
			g.AddImm(atA, int32(8*stepA))
			g.AddImm(atB, int32(8*p.c))
		})
		for i := range r {
			for j := range n {
				l.Store(native.At(atC, int32(8*i*p.c+32*j)), sum(i, j))
			}
		}
		g.AddImm(atC, int32(8*w))
		g.AddImm(colB, int32(8*w))
	}
	for left := p.c; left > 0; {
		w := min(left&^3, most)
		if left < 4 {
			w = left &^ (left >> 1) // 2 of 3 and 2, 1 of 1
			if left == 3 {
				w = 2
			}
		}
		g.repeat(cols, left/w, func() { tile(w) })
		left %= w
	}
}

// dots makes a tile's row of C from inner products with rows of B.
func (g *generator) dots(p product, r int) {
	l, one := native.Lanes{Asm: g.Asm, Width: 4}, native.Lanes{Asm: g.Asm, Width: 1}
	tile := func(w int) { // of w rows of B
		sum := func(i, j int) native.Vec { return native.Vec(6 + i*w + j) }
		for i := range r * w {
			l.Zero(native.Vec(6 + i))
		}
		g.Mov(atA, rowA)
		g.Mov(atB, colB)
		step := func(n int) { // what is beyond the n numbers is 0
			part := native.Lanes{Asm: g.Asm, Width: n}
			for j := range w {
				part.Load(native.Vec(j), native.At(atB, int32(8*j*p.k)))
			}
			for i := range r {
				if n == 4 && w == 1 {
					l.MulAddMem(sum(i, 0), 0, native.At(atA, int32(8*i*p.k)))
					continue
				}
				part.Load(3, native.At(atA, int32(8*i*p.k)))
				for j := range w {
					l.MulAdd(sum(i, j), 3, native.Vec(j))
				}
			}
			g.AddImm(atA, int32(8*n))
			g.AddImm(atB, int32(8*n))
		}
		g.repeat(terms, p.k/4, func() { step(4) })
		if p.k&2 != 0 {
			step(2)
		}
		if p.k&1 != 0 {
			step(1)
		}
		if r == 4 && p.c == 1 {
			two := native.Lanes{Asm: g.Asm, Width: 2}
			for i := 0; i < 4; i += 2 {
				l.AddPairs(0, sum(i, 0), sum(i+1, 0))
				l.Upper(1, 0)
				two.Do(native.Add, 0, 0, 1)
				two.Store(native.At(atC, int32(8*i)), 0)
			}
		} else {
			for i := range r {
				for j := range w {
					l.SumLanes(0, sum(i, j))
					one.Store(native.At(atC, int32(8*(i*p.c+j))), 0)
				}
			}
		}
		g.AddImm(atC, int32(8*w))
		g.AddImm(colB, int32(8*w*p.k))
	}
	g.repeat(cols, p.c/2, func() { tile(2) })
	g.repeat(cols, p.c%2, func() { tile(1) })
}
