package vm

import (
	"unsafe"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: products of matrices in machine code, with fused multiply-add. They are computed in
// tiles of four, two or one rows, whose sums stay in registers over all terms.

// product is a product of matrices, C(i, j) = Σ A(i, t) B(t, j), with r rows, c columns and k
// terms.
type product struct {
	r, c, k        int
	transA, transB bool
}

// dimensions returns the dimensions of a block's product in one lane.
func dimensions(b *block) product {
	attr := b.node.Attr.(ad.MatMulAttr)
	x, y := b.types[0].Shape, b.types[1].Shape
	p := product{r: x[0], k: x[1], c: y[1], transA: attr.TransA, transB: attr.TransB}
	if p.transA {
		p.r, p.k = p.k, p.r
	}
	if p.transB {
		p.c = y[0]
	}
	if p.k == 1 { // its transpose is a row times a column, and is stored in the same way
		p.transA, p.transB = false, false
	}
	return p
}

// productOf returns the product of a block in each lane. ok reports whether machine code can do it:
// at most one matrix may be transposed.
func productOf(b *block) (p product, ok bool) {
	p = dimensions(b)
	return p, p.r > 0 && p.c > 0 && p.k > 0 && !(p.transA && p.transB)
}

// Registers of a product.
const (
	rowA, colB, rowC  = native.R1, native.R0, native.T1 // of the tile
	atA, atB, atC     = native.R2, native.R3, native.T2
	terms, rows, cols = native.T3, native.T4, native.T5
)

// rows turns the product of a transposed matrix with a column into the product of a row with the
// matrix, which is then read row by row.
func (p product) rows() (q product, swapped bool) {
	if p.transA && p.c == 1 {
		return product{r: 1, c: p.r, k: p.k}, true
	}
	return p, false
}

// matmul generates a product, lane after lane.
func (g *generator) matmul(b *block) {
	p, _ := productOf(b)
	if k, ok := g.knownOf(p, b); ok {
		g.written(k, b.dst)
		return
	}
	if g.smallProduct(b, p) {
		return
	}
	p, swapped := p.rows()
	g.product(p, b, swapped, max(b.node.Type.Lanes, 1), nil)
}

// productParts generates the functions of a product that runs in parts: one for each part, and one
// for the last. The arguments are the part's first unit, and the number of its first sum.
func (g *generator) productParts(b *block) {
	s := b.split
	fns := &[2]native.Func{}
	g.products[b] = fns
	for i, n := range [2]int{s.each, s.units - (s.parts-1)*s.each} {
		p, _ := productOf(b)
		p, swapped := p.rows()
		of, lanes := &partOf{dst: b.dst, stepA: p.k, terms: p.k}, 1
		switch {
		case b.node.Type.Lanes > 1:
			x, y := 0, 1
			if swapped {
				x, y = y, x
			}
			lanes, of.stepA, of.stepB = n, perLane(&b.types[x]), perLane(&b.types[y])
		case s.byTerms:
			of.dst, of.stepA, of.stepB, of.terms = s.kept, p.r, p.c, n
		default:
			p.r = n
		}
		g.enter(&fns[i])
		g.product(p, b, swapped, lanes, of)
		g.MovImm(native.T0, 0)
		g.leave()
	}
}

// perLane returns the distance between the values of two lanes.
func perLane(t *ad.Type) int {
	if t.Lanes > 0 {
		return t.Size()
	}
	return 0
}

// partOf describes a part of a product. R0 holds its first unit; the operands move by stepA and
// stepB per unit. The result is stored in view dst, from number R1 on. terms is the number of
// terms.
type partOf struct {
	dst                 int32
	stepA, stepB, terms int
}

// product generates a product in some lanes; of is nil unless the product is done in parts.
func (g *generator) product(p product, b *block, swapped bool, lanes int, of *partOf) {
	startB := native.At(native.Scratch, 8*g.Reserve(1))
	x, y, dst, count := 0, 1, b.dst, p.k
	if swapped {
		x, y = y, x
	}
	if of != nil {
		dst, count = of.dst, of.terms
		g.MulImm(terms, native.R0, int32(8*of.stepA))
		g.MulImm(rows, native.R0, int32(8*of.stepB))
		g.MulImm(cols, native.R1, 8)
	}
	operands := []struct {
		reg   native.Reg
		view  int32
		typ   *ad.Type
		first native.Reg // register with the start of the part
		kept  int32      // where its address is saved in scratch memory
	}{{colB, b.args[y], &b.types[y], rows, 0}, {rowA, b.args[x], &b.types[x], terms, 0}, {rowC, dst, &b.node.Type, cols, 0}}
	for i := range operands {
		o := &operands[i]
		g.LeaAddress(o.reg, g.uniform(o.view))
		if of != nil {
			g.Add(o.reg, o.first)
		}
	}
	if lanes == 1 {
		g.tiles(p, count, startB)
		return
	}
	lane := g.Reserve(1)
	g.setWord(lane, 0)
	for i := range operands {
		o := &operands[i]
		o.kept = g.Reserve(1)
		g.MovStore(native.At(native.Scratch, 8*o.kept), o.reg)
	}
	again := g.NewLabel()
	g.Place(again)
	g.tiles(p, count, startB)
	for i := range operands {
		o := &operands[i]
		g.MovLoad(o.reg, native.At(native.Scratch, 8*o.kept))
		if o.typ.Lanes > 0 {
			g.AddImm(o.reg, int32(8*o.typ.Size()))
			g.MovStore(native.At(native.Scratch, 8*o.kept), o.reg)
		}
	}
	g.addWord(lane, 1)
	g.CmpImm(native.T0, int32(lanes))
	g.If(native.Less, again)
}

// tiles generates the product of the matrices at rowA and colB, over count terms, and stores it at
// rowC.
func (g *generator) tiles(p product, count int, startB native.Mem) {
	// A vector is stored in the same way as its transpose.
	if p.c == 1 && !p.transA {
		p.transB = true
	}
	if p.transB && p.r == 1 && p.c == 1 || p.transB && p.transA {
		p.transA = false
	}
	g.MovStore(startB, colB)
	for _, tile := range [3]struct{ rows, count int }{{4, p.r / 4}, {2, p.r % 4 / 2}, {1, p.r % 2}} {
		if tile.count == 0 {
			continue
		}
		g.repeat(rows, tile.count, func() {
			g.MovLoad(colB, startB)
			g.Mov(atC, rowC)
			if p.transB {
				g.dots(p, tile.rows)
			} else {
				g.sums4(p, tile.rows, count)
			}
			stepA := p.k
			if p.transA {
				stepA = 1
			}
			g.AddImm(rowA, int32(8*tile.rows*stepA))
			g.AddImm(rowC, int32(8*tile.rows*p.c))
		})
	}
}

// repeat generates code that runs n times, counted by a register.
func (g *generator) repeat(counter native.Reg, n int, code func()) {
	switch n {
	case 0:
		return
	case 1:
		code()
		return
	}
	loop := g.NewLabel()
	g.MovImm(counter, uint64(n))
	g.Place(loop)
	code()
	g.AddImm(counter, -1)
	g.CmpImm(counter, 0)
	g.If(native.NotEqual, loop)
}

// beyond returns the place at a distance, in bytes, from an address in a register.
func beyond(r native.Reg, disp int) native.Address {
	return native.Address{Base: r, Index: native.NoReg, Disp: int32(disp)}
}

// productFrame returns the frame for n columns of a product. It has the widest vectors if there are
// many columns and the product is so large that their effect on the code around it does not matter,
// see wideFrom.
func (g *generator) productFrame(p product, n int) *native.Frame {
	if n >= eight && float64(p.r)*float64(p.c)*float64(p.k) >= fromWide {
		return g.Frame(eight)
	}
	return g.frame(n)
}

// sums4 generates a tile's rows of C as sums of rows of B, with as many columns at a time as there
// are registers.
func (g *generator) sums4(p product, r, count int) {
	stepA, stepRow := 1, p.k
	if p.transA {
		stepA, stepRow = p.r, 1
	}
	tile := func(w, size int) { // computes w columns; the frame is that for size columns
		f := g.productFrame(p, size)
		lanes := f.Lanes()
		n := (w + lanes - 1) / lanes
		f.Accumulators(r * n)
		// If the last vector is not full, it overlaps the previous one, if there is one.
		at, active := func(j int) int { return min(lanes*j, w-lanes) }, lanes
		if w < lanes {
			at, active = func(int) int { return 0 }, w
		}
		g.Mov(atA, rowA)
		g.Mov(atB, colB)
		g.repeat(terms, count, func() {
			b := g.Builder()
			var xs []native.Value
			for i := range r {
				xs = append(xs, b.Broadcast(beyond(atA, 8*i*stepRow)))
			}
			for j := range n {
				y := b.Load(beyond(atB, 8*at(j)))
				for i, x := range xs {
					b.Product(i*n+j, x, y)
				}
			}
			f.Emit(b, active)
			g.AddImm(atA, int32(8*stepA))
			g.AddImm(atB, int32(8*p.c))
		})
		for i := range r {
			for j := range n {
				f.StoreAccumulator(i*n+j, beyond(atC, 8*(i*p.c+at(j))), active)
			}
		}
		g.AddImm(atC, int32(8*w))
		g.AddImm(colB, int32(8*w))
	}
	for left := p.c; left > 0; {
		f := g.productFrame(p, left)
		// A row of B, r elements of A, and one more take registers.
		w := min((f.Free()-r-2)/r*f.Lanes(), left)
		g.repeat(cols, left/w, func() { tile(w, left) })
		left %= w
	}
}

// dots generates a tile's rows of C as inner products with rows of B.
func (g *generator) dots(p product, r int) {
	tile := func(w int) { // computes w rows of B
		f := g.frame(p.k)
		f.Accumulators(r * w)
		lanes := f.Lanes()
		g.Mov(atA, rowA)
		g.Mov(atB, colB)
		step := func(active int) {
			b := g.Builder()
			whole := func(x native.Value) native.Value {
				if active < lanes {
					return b.Active(x)
				}
				return x
			}
			var ys []native.Value
			for j := range w {
				ys = append(ys, whole(b.Load(beyond(atB, 8*j*p.k))))
			}
			for i := range r {
				x := whole(b.Load(beyond(atA, 8*i*p.k)))
				for j, y := range ys {
					b.Product(i*w+j, x, y)
				}
			}
			f.Emit(b, active)
			g.AddImm(atA, int32(8*active))
			g.AddImm(atB, int32(8*active))
		}
		g.repeat(terms, p.k/lanes, func() { step(lanes) })
		if rest := p.k % lanes; rest > 0 {
			step(rest)
		}
		for i := range r {
			for j := range w {
				f.StoreTotal(i*w+j, beyond(atC, 8*(i*p.c+j)))
			}
		}
		g.AddImm(atC, int32(8*w))
		g.AddImm(colB, int32(8*w*p.k))
	}
	left := p.c
	if r < 4 { // with fewer rows of A, more rows of B, so that there are as many sums
		g.repeat(cols, left/4, func() { tile(4) })
		left %= 4
	}
	g.repeat(cols, left/2, func() { tile(2) })
	g.repeat(cols, left%2, func() { tile(1) })
}

// knownProduct is the product of a known matrix, of few rows and columns, and a vector. Machine
// code contains each term: columns of the matrix times numbers of the vector. Inner products with
// the rows would load several numbers of the vector at once. These were just computed, and such a
// load waits until all of them have left the processor's store buffer.
type knownProduct struct {
	columns      []float64 // each is padded to a whole number of vectors
	terms, outs  int
	lanes, width int   // number of vectors, and of numbers, in a column
	vector       int32 // view
}

// knownOf returns the product of a block; ok is false if it is not of this kind, or too large.
func (g *generator) knownOf(p product, b *block) (k knownProduct, ok bool) {
	of := func(matrix int, outs int, at func(t, i int) int) bool {
		s := &g.p.views[b.args[matrix]]
		if s.data == nil || s.unset || p.k > maxUnrolledSide || outs > maxUnrolledSide {
			return false
		}
		k = knownProduct{terms: p.k, outs: outs, vector: b.args[1-matrix], lanes: g.frame(outs).Lanes()}
		k.width = (outs + k.lanes - 1) / k.lanes * k.lanes
		k.columns = make([]float64, p.k*k.width)
		for t := range p.k {
			for i := range outs {
				k.columns[t*k.width+i] = s.data[at(t, i)]
			}
		}
		return true
	}
	switch {
	case b.node.Type.Lanes > 0 || b.types[0].Lanes > 0 || b.types[1].Lanes > 0:
		return k, false
	case p.c == 1 && of(0, p.r, func(t, i int) int {
		if p.transA {
			return t*p.r + i
		}
		return i*p.k + t
	}):
		return k, true
	case p.r == 1 && of(1, p.c, func(t, j int) int {
		if p.transB {
			return j*p.k + t
		}
		return t*p.c + j
	}):
		return k, true
	}
	return k, false
}

// written generates a product that contains each term. If there are few sums, each is divided into
// two, so that additions need not wait for each other.
func (g *generator) written(k knownProduct, dst int32) {
	g.p.pinned = append(g.p.pinned, k.columns)
	f := g.frame(k.outs)
	f.Spare(6)
	n := k.width / k.lanes
	sums := make([]native.Vec, n)
	for j := range sums {
		r, ok := f.Reserve()
		if !ok {
			panic("vm: no register for a sum")
		}
		sums[j] = r
	}
	g.LeaAddress(atB, g.uniform(k.vector))
	g.MovImm(atA, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(k.columns)))))
	g.LeaAddress(atC, g.uniform(dst))
	b := g.Builder()
	sets := 1
	if n <= 2 && k.terms >= 4 {
		sets = 2
	}
	values := make([]native.Value, sets*n)
	for t := range k.terms {
		x := b.Broadcast(beyond(atB, 8*t))
		for j := range n {
			v := &values[t%sets*n+j]
			if y := b.Load(beyond(atA, 8*(t*k.width+j*k.lanes))); t < sets {
				*v = b.Mul(x, y)
			} else {
				*v = b.MulAdd(x, y, *v)
			}
		}
	}
	for j, r := range sums {
		if sets == 2 {
			values[j] = b.Add(values[j], values[n+j])
		}
		b.Out(r, values[j])
	}
	f.Emit(b, k.lanes)
	for j, r := range sums {
		b := g.Builder()
		b.Store(beyond(atC, 8*j*k.lanes), b.In(r), false)
		f.Emit(b, min(k.lanes, k.outs-j*k.lanes))
	}
}
