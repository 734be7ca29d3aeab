package dense

import (
	"math"
	"unsafe"

	"github.com/ppl-lang/ppl/compile/internal/native"
)

// mode is what a tile of C becomes, given the sums Σ.
type mode int

const (
	set      mode = iota // C = Σ
	add                  // C += Σ
	subtract             // C -= Σ
	forward              // C = T⁻¹(C - Σ) for a lower triangular T, whose coefficients are in scratch memory
	backward             // the same for an upper triangular T
	modes
)

// Kernels holds the machine-code functions for one target. It is immutable and may be shared:
// scratch memory is in the work space of each call.
type Kernels struct {
	code  *native.Code
	rows  int // number of rows of a tile
	lanes int // number of lanes of a vector
	wide  int // largest number of vectors in a row of a tile

	tiles     [modes]native.Func
	transpose native.Func
	factor    native.Func
	corner    native.Func
	// For symmetric eigendecompositions.
	combine, less1, less2, turn native.Func

	layout
}

// layout is the layout of scratch memory: strides; the coefficients of the triangle T, with T(i, p)
// at p·rows + i; and the negative inverses of T's diagonal.
type layout struct {
	strideC, strideA, strideB   int // in numbers, bytes and bytes
	strideFrom, strideTo        int // for transpositions, in numbers and bytes
	coefficients, inverses, end int
	others                      int // two addresses
}

// New generates the functions. It returns nil without a target or executable memory.
func New(t *native.Target) *Kernels {
	if !native.Supported || t == nil {
		return nil
	}
	k := &Kernels{lanes: t.Lanes, rows: max(t.Lanes, 4)}
	k.wide = (t.Vectors - 1) / (k.rows + 1)
	g := &generator{Asm: t.NewAsm(), Kernels: k}
	one := func() int { return int(g.Reserve(1)) }
	k.strideC, k.strideA, k.strideB, k.strideFrom, k.strideTo = one(), one(), one(), one(), one()
	k.coefficients = int(g.Reserve(k.rows * k.rows))
	k.inverses = int(g.Reserve(k.rows))
	k.others = int(g.Reserve(2))
	var entries []native.Label
	function := func(make func()) {
		l := g.NewLabel()
		entries = append(entries, l)
		g.Place(l)
		g.Enter()
		make()
		g.Leave()
		g.End()
	}
	for m := range modes {
		function(func() { g.block(m) })
	}
	function(g.transposition)
	function(g.factorisation)
	function(g.cornerSolve)
	function(g.combination)
	function(func() { g.subtraction(false) })
	function(func() { g.subtraction(true) })
	function(g.turning)
	g.Routines()
	code, fs, err := g.Make(entries)
	if err != nil {
		return nil
	}
	k.code, k.end = code, (g.Numbers+7)/8*8
	copy(k.tiles[:], fs)
	for i, f := range []*native.Func{&k.transpose, &k.factor, &k.corner, &k.combine, &k.less1, &k.less2, &k.turn} {
		*f = fs[int(modes)+i]
	}
	return k
}

// generator generates the functions.
type generator struct {
	*native.Asm
	*Kernels
}

// at returns the place of number k in scratch memory.
func at(k int) native.Mem { return native.At(native.Scratch, int32(8*k)) }

func scratch(k int) native.Address {
	return native.Address{Base: native.Scratch, Index: native.NoReg, Disp: int32(8 * k)}
}

// Registers. There is one row register for every second row of a tile.
const (
	atC, atB, atA          = native.Memory, native.Views, native.R0
	terms, vectors         = native.R1, native.R2
	stepC, stepA, stepB    = native.T1, native.R3, native.T2
	walkA, walkB, termsNow = native.T3, native.T4, native.T5
)

var rowRegs = [4]native.Reg{native.T0, native.T3, native.T4, native.T5}

// rowAddresses loads the addresses of the rows of C into registers; stepC is their distance.
func (g *generator) rowAddresses() {
	for i := range g.Kernels.rows / 2 {
		if i == 0 {
			g.Mov(rowRegs[0], atC)
			continue
		}
		g.Lea(rowRegs[i], native.Indexed(rowRegs[i-1], stepC, 8, 0))
		g.Lea(rowRegs[i], native.Indexed(rowRegs[i], stepC, 8, 0))
	}
}

// element returns the place of element j in row i of C.
func element(i, j int) native.Address {
	p := native.Address{Base: rowRegs[i/2], Index: native.NoReg, Disp: int32(8 * j)}
	if i%2 == 1 {
		p.Index = stepC
	}
	return p
}

// block generates the function of a mode. It goes over columns of C, as many vectors at a time as
// registers allow.
func (g *generator) block(m mode) {
	g.MovLoad(stepC, at(g.strideC))
	g.MovLoad(stepA, at(g.strideA))
	g.MovLoad(stepB, at(g.strideB))
	for w := g.wide; w > 0; w-- {
		again, narrower := g.NewLabel(), g.NewLabel()
		g.Place(again)
		g.CmpImm(vectors, int32(w))
		g.If(native.Less, narrower)
		g.tile(m, w)
		g.AddImm(atC, int32(8*g.lanes*w))
		g.AddImm(atB, int32(8*g.lanes*w))
		g.AddImm(vectors, int32(-w))
		if w == g.wide {
			g.Jump(again)
		}
		g.Place(narrower)
	}
}

// tile generates the code for a tile of w vectors. The sums stay in registers over all terms.
func (g *generator) tile(m mode, w int) {
	rows := g.Kernels.rows
	f := g.Frame(g.lanes)
	f.Accumulators(rows * w)
	g.Mov(walkA, atA)
	g.Mov(walkB, atB)
	g.Mov(termsNow, terms)
	loop, done := g.NewLabel(), g.NewLabel()
	g.CmpImm(termsNow, 0)
	g.If(native.Equal, done)
	g.Place(loop)
	b := &native.Builder{}
	ys := make([]native.Value, w)
	for v := range ys {
		ys[v] = b.Load(native.Address{Base: walkB, Index: native.NoReg, Disp: int32(8 * g.lanes * v)})
	}
	for i := range rows {
		x := b.Broadcast(native.Address{Base: walkA, Index: native.NoReg, Disp: int32(8 * i)})
		for v, y := range ys {
			b.Product(i*w+v, x, y)
		}
	}
	f.Emit(b, g.lanes)
	g.Add(walkA, stepA)
	g.Add(walkB, stepB)
	g.AddImm(termsNow, -1)
	g.CmpImm(termsNow, 0)
	g.If(native.NotEqual, loop)
	g.Place(done)

	g.rowAddresses()
	b = &native.Builder{}
	ts := make([]native.Value, rows*w)
	for i, r := range f.Release() {
		ts[i] = b.In(r)
	}
	c := func(i, v int) native.Address { return element(i, g.lanes*v) }
	if m == forward || m == backward {
		g.substitute(b, m, w, ts, c)
	} else {
		for i := range rows {
			for v := range w {
				x := ts[i*w+v]
				switch m {
				case add:
					x = b.Add(x, b.Load(c(i, v)))
				case subtract:
					x = b.Sub(b.Load(c(i, v)), x)
				}
				b.Store(c(i, v), x, false)
			}
		}
	}
	f.Emit(b, g.lanes)
}

// substitute solves for the rows of a tile one after another. The sums have the opposite sign, so
// that multiplication and addition are one instruction.
func (g *generator) substitute(b *native.Builder, m mode, w int, ts []native.Value, c func(i, v int) native.Address) {
	rows := g.Kernels.rows
	for i := range rows {
		for v := range w {
			ts[i*w+v] = b.Sub(ts[i*w+v], b.Load(c(i, v)))
		}
	}
	for s := range rows {
		p := s
		if m == backward {
			p = rows - 1 - s
		}
		inverse := b.Broadcast(scratch(g.inverses + p))
		for v := range w {
			ts[p*w+v] = b.Mul(ts[p*w+v], inverse)
			b.Store(c(p, v), ts[p*w+v], false)
		}
		for i := range rows {
			if m == forward && i <= p || m == backward && i >= p {
				continue
			}
			x := b.Broadcast(scratch(g.coefficients + p*rows + i))
			for v := range w {
				ts[i*w+v] = b.MulAdd(x, ts[p*w+v], ts[i*w+v])
			}
		}
	}
}

// factorisation generates the function that factorises a square block of C, with as many rows as a
// tile, to Uᵀ U in its upper triangle. It also stores U as the coefficients of Uᵀ. A pivot that is
// not positive becomes NaN, 0 or infinite.
func (g *generator) factorisation() {
	rows := g.Kernels.rows
	g.MovLoad(stepC, at(g.strideC))
	g.rowAddresses()
	b := &native.Builder{}
	a := make([][]native.Value, rows)
	for i := range a {
		a[i] = make([]native.Value, rows)
		for j := i; j < rows; j++ {
			a[i][j] = b.Load(element(i, j))
		}
	}
	for p := range rows {
		// The next pivot waits only for this quotient, not for the root.
		quotient := b.Div(b.Number(-1), a[p][p])
		for i := p + 1; i < rows; i++ {
			x := b.Mul(a[p][i], quotient)
			for j := i; j < rows; j++ {
				a[i][j] = b.MulAdd(x, a[p][j], a[i][j])
			}
		}
		root := b.Sqrt(a[p][p])
		inverse := b.Mul(root, quotient)
		b.Store(scratch(g.inverses+p), inverse, true)
		b.Store(element(p, p), root, false)
		for j := p + 1; j < rows; j++ {
			x := b.Neg(b.Mul(a[p][j], inverse))
			b.Store(element(p, j), x, false)
			b.Store(scratch(g.coefficients+p*rows+j), x, false)
		}
	}
	g.Frame(1).Emit(b, 1)
}

// cornerSolve generates the function that solves U S = C for a symmetric S, in the upper triangle
// of a square block of C. The coefficients are the columns of U. All of S is stored.
func (g *generator) cornerSolve() {
	rows := g.Kernels.rows
	g.MovLoad(stepC, at(g.strideC))
	g.rowAddresses()
	b := &native.Builder{}
	s := make([][]native.Value, rows)
	for i := range s {
		s[i] = make([]native.Value, rows)
	}
	for i := rows - 1; i >= 0; i-- {
		inverse := b.Load(scratch(g.inverses + i))
		for j := rows - 1; j >= i; j-- {
			t := b.Neg(b.Load(element(i, j)))
			for q := rows - 1; q > i; q-- {
				t = b.MulAdd(b.Load(scratch(g.coefficients+q*rows+i)), s[min(q, j)][max(q, j)], t)
			}
			s[i][j] = b.Mul(t, inverse)
			b.Store(element(i, j), s[i][j], true)
			if i != j {
				b.Store(element(j, i), s[i][j], false)
			}
		}
	}
	g.Frame(1).Emit(b, 1)
}

// transposition generates the function that transposes adjacent square blocks, with as many rows as
// a tile, into blocks below each other.
func (g *generator) transposition() {
	rows := g.Kernels.rows
	const to, stepTo = native.R1, native.R3
	from := [4]native.Reg{native.T2, native.T3, native.T4, native.T5}
	g.MovLoad(stepC, at(g.strideFrom))
	g.MovLoad(stepTo, at(g.strideTo))
	g.Mov(from[0], native.Views)
	for i := 1; i < rows/2; i++ {
		g.Lea(from[i], native.Indexed(from[i-1], stepC, 8, 0))
		g.Lea(from[i], native.Indexed(from[i], stepC, 8, 0))
	}
	g.Mov(to, native.Memory)
	loop := g.NewLabel()
	g.Place(loop)
	for j := range rows {
		for i := range rows {
			m := native.At(from[i/2], int32(8*j))
			if i%2 == 1 {
				m = native.Indexed(from[i/2], stepC, 8, int32(8*j))
			}
			g.MovLoad(native.T0, m)
			g.MovStore(native.At(to, int32(8*i)), native.T0)
		}
		g.Add(to, stepTo)
	}
	for i := range rows / 2 {
		g.AddImm(from[i], int32(8*rows))
	}
	g.AddImm(native.R0, -1)
	g.CmpImm(native.R0, 0)
	g.If(native.NotEqual, loop)
}

// call is the work space of one call: scratch memory and the rest.
type call struct {
	*Kernels
	scratch []float64
	rest    []float64
}

// begin prepares the work space of a call. The memory that take returns is aligned to a cache line.
func (k *Kernels) begin(work []float64) call {
	work = aligned(work)
	return call{k, work[:k.end], work[k.end:]}
}

// space returns the size of the work space that begin needs, without the memory for take.
func (k *Kernels) space() int { return k.end + 7 }

// take takes memory for n numbers from the work space, rounded up to a multiple of eight.
func (c *call) take(n int) []float64 {
	n = up(n, 8)
	x := c.rest[:n:n]
	c.rest = c.rest[n:]
	return x
}

// word sets a word of scratch memory to an integer.
func (c *call) word(k, v int) { c.scratch[k] = math.Float64frombits(uint64(v)) }

// strides sets the strides of C, A and B.
func (c *call) strides(sc, sa, sb int) {
	c.word(c.strideC, sc)
	c.word(c.strideA, 8*sa)
	c.word(c.strideB, 8*sb)
}

// tile computes C (mode) Aᵀ B for a C with as many rows as a tile and the given number of vectors.
// A and B have a row for every term.
func (c *call) tile(m mode, to, a, b []float64, terms, vectors int) {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(a)))
	c.tiles[m].Run(unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(b)), unsafe.Pointer(unsafe.SliceData(c.scratch)), int(p), terms, vectors)
}

// onBlock runs a function on a square block of C.
func (c *call) onBlock(f native.Func, block []float64) {
	f.Run(unsafe.Pointer(unsafe.SliceData(block)), nil, unsafe.Pointer(unsafe.SliceData(c.scratch)), 0, 0, 0)
}

// transposed transposes a matrix: whole blocks with machine code, the rest in Go.
func (c *call) transposed(to []float64, st int, from []float64, sf, rows, cols int) {
	r := c.rows
	c.word(c.strideFrom, sf)
	c.word(c.strideTo, 8*st)
	blocks := cols / r
	i := 0
	for ; i+r <= rows && blocks > 0; i += r {
		c.blocks(to[i:], from[i*sf:], blocks)
		for j := blocks * r; j < cols; j++ {
			for p := i; p < i+r; p++ {
				to[j*st+p] = from[p*sf+j]
			}
		}
	}
	for ; i < rows; i++ {
		for j, x := range from[i*sf : i*sf+cols] {
			to[j*st+i] = x
		}
	}
}

// blocks transposes n adjacent square blocks.
func (c *call) blocks(to, from []float64, n int) {
	if n > 0 {
		c.transpose.Run(unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(from)), unsafe.Pointer(unsafe.SliceData(c.scratch)), n, 0, 0)
	}
}

// up returns n rounded up to a multiple of m.
func up(n, m int) int { return (n + m - 1) / m * m }

// stride returns a distance between rows of n numbers for which neighbouring rows are in different
// cache sets.
func stride(n int) int {
	n = up(n, 8)
	if n/8%2 == 0 {
		n += 8
	}
	return n
}
