package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/dense"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// Factors of small matrices, their adjoints and triangular solves with them, in the function
// of the blocks around them.

// small reports whether a block is one of these, on a target.
func small(t *native.Target, b *block) bool {
	if t == nil || b.node.Type.Size() == 0 {
		return false
	}
	switch n := b.types[0].Shape; b.node.Op {
	case ad.OpCholesky, ad.OpCholeskyAdjoint:
		return n[0] < fromDense
	case ad.OpTriSolve:
		return n[0] < fromSolves && b.node.Type.Size() <= n[0]*mostRight
	}
	return false
}

// smallMatrix makes the code of one; where a matrix is not positive definite it leaves for the
// op's row, which says why, or knows better. Lanes come one after the other.
func (g *generator) smallMatrix(bs []block, r *fusedRun, done native.Label) {
	b := &bs[0]
	wrong, after := g.NewLabel(), g.NewLabel()
	n := b.types[0].Shape[0]
	regs := [3]native.Reg{native.R1, native.R2, native.R3} // the first argument, the second, the result
	views := append(append([]int32(nil), b.args...), b.dst)
	types := append(append([]ad.Type(nil), b.types...), b.node.Type)
	if len(views) == 2 {
		regs[1] = regs[2]
	}
	for k, v := range views {
		g.LeaPlace(regs[k], g.uniform(v))
	}
	g.repeat(cols, max(b.node.Type.Lanes, 1), func() {
		switch b.node.Op {
		case ad.OpCholesky:
			x := &native.Builder{}
			bad := dense.Factor(x, n, loads(x, regs[0], n), stores(x, regs[1], n))
			x.Branch(bad, wrong)
			g.Frame(1).Emit(x, 1)
		case ad.OpCholeskyAdjoint:
			x := &native.Builder{}
			dense.FactorAdjoint(x, n, loads(x, regs[0], n), loads(x, regs[1], n), stores(x, regs[2], n))
			g.Frame(1).Emit(x, 1)
		case ad.OpTriSolve:
			g.substitution(b, n, regs)
		}
		for k, t := range types {
			if t.Lanes > 0 {
				g.AddImm(regs[k], int32(8*t.Size()))
			}
		}
	})
	g.Place(after)
	if b.node.Op == ad.OpCholesky {
		g.After(func() {
			g.Place(wrong)
			g.goOut(r, event{kind: opInGo, b: bs}, done)
			g.Jump(after)
		})
	}
}

// substitution makes a triangular solve, some right sides at a time.
func (g *generator) substitution(b *block, n int, regs [3]native.Reg) {
	t := b.node.Attr.(ad.TriAttr)
	others := b.node.Type.Size() / n
	f := g.frame(others)
	if t.Right || others == 1 { // the transpose of the system on the left, row by row
		f = g.Frame(1)
	}
	for at := 0; at < others; at += f.Lanes() {
		element := func(r native.Reg, i int) native.Place {
			if t.Right {
				return beyond(r, 8*(at*n+i))
			}
			return beyond(r, 8*(i*others+at))
		}
		x := &native.Builder{}
		known := map[int]native.Value{}
		a := func(i, j int) native.Value {
			v, ok := known[i*n+j]
			if !ok {
				v = x.Broadcast(beyond(regs[0], 8*(i*n+j)))
				known[i*n+j] = v
			}
			return v
		}
		dense.Substitute(x, n, t.Upper, t.Trans != t.Right, a,
			func(i int) native.Value { return x.Load(element(regs[1], i)) },
			func(i int, v native.Value) { x.Store(element(regs[2], i), v, true) })
		f.Emit(x, min(f.Lanes(), others-at))
	}
}

// loads are the elements of a matrix of n columns at an address.
func loads(b *native.Builder, r native.Reg, n int) dense.Load {
	known := map[int]native.Value{}
	return func(i, j int) native.Value {
		v, ok := known[i*n+j]
		if !ok {
			v = b.Load(beyond(r, 8*(i*n+j)))
			known[i*n+j] = v
		}
		return v
	}
}

func stores(b *native.Builder, r native.Reg, n int) dense.Store {
	return func(i, j int, x native.Value) { b.Store(beyond(r, 8*(i*n+j)), x, true) }
}
