package dense

import (
	"unsafe"

	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// EigenWork returns the size of the work space of EigenSym.
func (k *Kernels) EigenWork(n int) int { return k.space() + 7 + kernel.EigenWork(n) }

// EigenSym is kernel's EigenSym with its loops over rows in machine code. They compute the same
// numbers.
func (k *Kernels) EigenSym(values, vectors, a []float64, n int, work []float64) bool {
	c := k.begin(work)
	return kernel.EigenSym(values, vectors, a, n, eigenLoops{c}, c.take(kernel.EigenWork(n)))
}

// whole returns n rounded up to a multiple of eight, which is whole vectors on every target.
func whole(n int) int { return (n + 7) / 8 * 8 }

// InvertWork returns the size of the work space of Invert.
func (k *Kernels) InvertWork(n int) int { return k.space() + 7 + kernel.InvertWork(n, whole(n)) }

// Invert is kernel's Invert with its loop over rows in machine code. It computes the same numbers.
func (k *Kernels) Invert(dst, a []float64, n int, work []float64) {
	c := k.begin(work)
	kernel.Invert(dst, a, n, whole(n), eigenLoops{c}, c.take(kernel.InvertWork(n, whole(n))))
}

// eigenLoops implements kernel.EigenLoops. Its arguments must be parts of a work space.
type eigenLoops struct{ call }

func pointer(x []float64) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// address returns the address of x for a machine-code function, which uses it while it runs.
func address(x []float64) int { return int(uintptr(pointer(x))) }

// Combine implements kernel.EigenLoops.
func (l eigenLoops) Combine(y, x, a []float64, stride int) {
	l.word(l.strideB, 8*stride)
	l.combine.Run(pointer(y), pointer(a), pointer(l.scratch), address(x), len(x), len(y)/l.lanes)
}

// Less implements kernel.EigenLoops.
func (l eigenLoops) Less(a []float64, stride int, u, v []float64) {
	l.word(l.strideC, 8*stride)
	l.less1.Run(pointer(a), pointer(v), pointer(l.scratch), address(u), len(u), len(v)/l.lanes)
}

// LessBoth implements kernel.EigenLoops.
func (l eigenLoops) LessBoth(a []float64, stride int, u, v, s, t []float64) {
	l.word(l.strideC, 8*stride)
	l.word(l.others, address(s))
	l.word(l.others+1, address(t))
	l.less2.Run(pointer(a), pointer(v), pointer(l.scratch), address(u), len(u), len(v)/l.lanes)
}

// Turn implements kernel.EigenLoops.
func (l eigenLoops) Turn(z []float64, stride, n int, turns []float64, first, step int) {
	l.turn.Run(pointer(z[first*stride:]), pointer(turns), pointer(l.scratch), 8*step*stride, len(turns)/2, n/l.lanes)
}

// maxAtOnce is the number of vectors of a row that the loops of eigendecompositions keep in
// registers.
const maxAtOnce = 4

// columns generates a loop over vectors of columns, several at a time; register eigenVectors has
// their number.
func (g *generator) columns(code func(f *native.Frame, w int)) {
	for w := maxAtOnce; w > 0; w-- {
		again, narrower := g.NewLabel(), g.NewLabel()
		g.Place(again)
		g.CmpImm(eigenVectors, int32(w))
		g.If(native.Less, narrower)
		f := g.Frame(g.lanes)
		f.Spare(6)
		code(f, w)
		g.AddImm(native.Memory, int32(8*g.lanes*w))
		g.AddImm(eigenVectors, int32(-w))
		if w == maxAtOnce {
			g.Jump(again)
		}
		g.Place(narrower)
	}
}

// The registers of these loops.
const (
	eigenVectors = native.R2
	rowsLeft     = native.R3
	eigenStep    = native.T1
)

// vector returns the place of vector j at an address.
func (g *generator) vector(r native.Reg, j int) native.Address {
	return native.Address{Base: r, Index: native.NoReg, Disp: int32(8 * g.lanes * j)}
}

// times generates a loop with as many iterations as register R1 says.
func (g *generator) times(code func()) {
	done, again := g.NewLabel(), g.NewLabel()
	g.Mov(rowsLeft, native.R1)
	g.CmpImm(rowsLeft, 0)
	g.If(native.Equal, done)
	g.Place(again)
	code()
	g.AddImm(rowsLeft, -1)
	g.CmpImm(rowsLeft, 0)
	g.If(native.NotEqual, again)
	g.Place(done)
}

// kept loads vectors from an address into registers of a frame.
func (g *generator) kept(f *native.Frame, from native.Reg, w int) []native.Vec {
	rs := make([]native.Vec, w)
	b := &native.Builder{}
	for j := range rs {
		rs[j], _ = f.Reserve()
		b.Out(rs[j], b.Load(g.vector(from, j)))
	}
	f.Emit(b, g.lanes)
	return rs
}

// combination generates y = Σ x[k]·(row k of a): Memory is y, Views a, R0 x.
func (g *generator) combination() {
	g.MovLoad(eigenStep, at(g.strideB))
	g.columns(func(f *native.Frame, w int) {
		f.Accumulators(w)
		g.Mov(native.T3, native.Views)
		g.Mov(native.T4, native.R0)
		g.times(func() {
			b := &native.Builder{}
			x := b.Broadcast(g.vector(native.T4, 0))
			for j := range w {
				b.Sum(j, b.Mul(x, b.Load(g.vector(native.T3, j))))
			}
			f.Emit(b, g.lanes)
			g.Add(native.T3, eigenStep)
			g.AddImm(native.T4, 8)
		})
		b := &native.Builder{}
		for j, r := range f.Release() {
			b.Store(g.vector(native.Memory, j), b.In(r), false)
		}
		f.Emit(b, g.lanes)
		g.AddImm(native.Views, int32(8*g.lanes*w))
	})
}

// subtraction generates code that subtracts u[i]·v from row i of a, and also s[i]·t with both.
// Memory is a, Views v, R0 u.
func (g *generator) subtraction(both bool) {
	g.MovLoad(eigenStep, at(g.strideC))
	if both {
		g.MovLoad(native.T2, at(g.others+1))
	}
	g.columns(func(f *native.Frame, w int) {
		v := g.kept(f, native.Views, w)
		var t []native.Vec
		if both {
			t = g.kept(f, native.T2, w)
			g.MovLoad(native.T5, at(g.others))
		}
		g.Mov(native.T3, native.Memory)
		g.Mov(native.T4, native.R0)
		g.times(func() {
			b := &native.Builder{}
			u, s := b.Broadcast(g.vector(native.T4, 0)), native.Value(0)
			if both {
				s = b.Broadcast(g.vector(native.T5, 0))
			}
			for j := range w {
				x := b.Mul(u, b.In(v[j]))
				if both {
					x = b.Add(x, b.Mul(s, b.In(t[j])))
				}
				to := g.vector(native.T3, j)
				b.Store(to, b.Sub(b.Load(to), x), false)
			}
			f.Emit(b, g.lanes)
			g.Add(native.T3, eigenStep)
			g.AddImm(native.T4, 8)
			g.AddImm(native.T5, 8)
		})
		g.AddImm(native.Views, int32(8*g.lanes*w))
		g.AddImm(native.T2, int32(8*g.lanes*w))
	})
}

// turning generates the rotations of rows of z. Each row is complete when the next one has been
// read. Memory is the first row, Views are the rotations, R0 is the distance of rows.
func (g *generator) turning() {
	g.columns(func(f *native.Frame, w int) {
		g.Mov(native.T3, native.Memory)
		g.Mov(native.T4, native.Views)
		h := g.kept(f, native.T3, w)
		g.times(func() {
			g.Mov(native.T5, native.T3)
			g.Add(native.T5, native.R0)
			b := &native.Builder{}
			c, s := b.Broadcast(g.vector(native.T4, 0)), b.Broadcast(native.Address{Base: native.T4, Index: native.NoReg, Disp: 8})
			for j := range w {
				x, y := b.In(h[j]), b.Load(g.vector(native.T5, j))
				b.Store(g.vector(native.T3, j), b.Add(b.Mul(c, x), b.Mul(s, y)), false)
				b.Out(h[j], b.Sub(b.Mul(c, y), b.Mul(s, x)))
			}
			f.Emit(b, g.lanes)
			g.Mov(native.T3, native.T5)
			g.AddImm(native.T4, 16)
		})
		b := &native.Builder{}
		for j := range w {
			b.Store(g.vector(native.T3, j), b.In(h[j]), false)
		}
		f.Emit(b, g.lanes)
	})
}
