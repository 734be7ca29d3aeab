package vm

import (
	"unsafe"

	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: machine code for products with data matrices that are mostly zero. Rows of the right
// matrix are summed in several registers, so that additions need not wait for each other.

// sparseTable is a sparse matrix in the form that machine code reads: for each row the number of
// groups of elements; for each element its value and the offset of its row in the right matrix.
// Groups are padded with zeros.
type sparseTable struct {
	group        int
	groups, from []int32
	value        []float64
}

// sparseColumns returns the vectors and the group size for products of sparse matrices with this
// number of columns, if there is machine code for it.
func sparseColumns(t *native.Target, columns int) (vectors, group int, ok bool) {
	lanes := min(t.Lanes, 4)
	if columns >= eight {
		lanes = t.Lanes
	}
	vectors = (columns + lanes - 1) / lanes
	accumulators := 20
	if t.Vectors <= 16 {
		accumulators = 12
	}
	if columns < lanes || vectors > accumulators {
		return 0, 0, false
	}
	return vectors, min(4, accumulators/vectors), true
}

// tableOf returns the table of a matrix, or of its transpose, for a product with the given number
// of columns.
func (s *sparse) tableOf(rows, group, columns int, trans bool) *sparseTable {
	t := &sparseTable{group: group}
	of := make([][]int, rows) // for each row, the indices and columns of its elements
	for i := range len(s.start) - 1 {
		for e := s.start[i]; e < s.start[i+1]; e++ {
			if trans {
				j := s.column[e]
				of[j] = append(of[j], int(e), i)
			} else {
				of[i] = append(of[i], int(e), int(s.column[e]))
			}
		}
	}
	for _, es := range of {
		for ; len(es)/2%group > 0; es = append(es, -1, 0) {
		}
		for k := 0; k < len(es); k += 2 {
			v := 0.0
			if es[k] >= 0 {
				v = s.value[es[k]]
			}
			t.value, t.from = append(t.value, v), append(t.from, int32(es[k+1]*columns))
		}
		t.groups = append(t.groups, int32(len(es)/2/group))
	}
	return t
}

// Registers of sparse products.
const (
	walkFrom, walkValue, walkGroups = native.R0, native.R1, native.R2
	rowOf, right, rowsLeft          = native.R3, native.T2, native.T3
	groupsLeft, begins              = native.T4, native.T1
)

// sparseProduct generates the product of a block. If the right matrix is not finite, the code
// leaves it to Go's loops.
func (g *generator) sparseProduct(bs []block, r *fusedRun, done native.Label) {
	b := &bs[0]
	p, t := dimensions(b), b.sparse.table
	wrong, after := g.NewLabel(), g.NewLabel()
	frame := func() *native.Frame {
		if p.c < eight {
			return g.Frame(4)
		}
		return g.Frame(eight)
	}
	g.LeaAddress(right, g.uniform(b.args[1]))
	g.unlessFinite(frame(), p.k*p.c, wrong)
	g.LeaAddress(rowOf, g.uniform(b.dst))
	g.MovImm(walkFrom, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(t.from)))))
	g.MovImm(walkValue, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(t.value)))))
	g.MovImm(walkGroups, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(t.groups)))))
	g.repeat(rowsLeft, p.r, func() {
		f := frame()
		lanes := f.Lanes()
		n := (p.c + lanes - 1) / lanes
		// The last vector may overlap the one before.
		at := func(j int) int32 { return int32(8 * min(lanes*j, p.c-lanes)) }
		f.Accumulators(n * t.group)
		next, end := g.NewLabel(), g.NewLabel()
		g.MovLoad32(groupsLeft, native.At(walkGroups, 0))
		g.AddImm(walkGroups, 4)
		g.CmpImm(groupsLeft, 0)
		g.If(native.Equal, end)
		g.Place(next)
		for e := range t.group {
			g.MovLoad32(begins, native.At(walkFrom, int32(4*e)))
			x := g.Builder()
			v := x.Broadcast(beyond(walkValue, 8*e))
			for j := range n {
				x.Product(e*n+j, v, x.Load(native.Address{Base: right, Index: begins, Disp: at(j)}))
			}
			f.Emit(x, lanes)
		}
		g.AddImm(walkFrom, int32(4*t.group))
		g.AddImm(walkValue, int32(8*t.group))
		g.AddImm(groupsLeft, -1)
		g.CmpImm(groupsLeft, 0)
		g.If(native.NotEqual, next)
		g.Place(end)
		x := g.Builder()
		for j, regs := 0, f.Release(); j < n; j++ {
			sum := x.In(regs[j])
			for e := 1; e < t.group; e++ {
				sum = x.Add(sum, x.In(regs[e*n+j]))
			}
			x.Store(native.Address{Base: rowOf, Index: native.NoReg, Disp: at(j)}, sum, false)
		}
		f.Emit(x, lanes)
		g.AddImm(rowOf, int32(8*p.c))
	})
	g.Place(after)
	g.After(func() {
		g.Place(wrong)
		g.goOut(r, event{kind: opInGo, b: bs}, done)
		g.Jump(after)
	})
}

// unlessFinite generates code that jumps to l if one of n numbers at right is infinite or NaN. The
// numbers fill at least one vector.
func (g *generator) unlessFinite(f *native.Frame, n int, l native.Label) {
	const atOnce = 4
	lanes := f.Lanes()
	f.Accumulators(atOnce)
	add := func(base native.Reg, ats ...int) {
		x := g.Builder()
		for k, at := range ats {
			v := x.Load(beyond(base, 8*at))
			x.Sum(k, x.Sub(v, v))
		}
		f.Emit(x, lanes)
	}
	g.Mov(rowOf, right)
	g.repeat(rowsLeft, n/(atOnce*lanes), func() {
		add(rowOf, 0, lanes, 2*lanes, 3*lanes)
		g.AddImm(rowOf, int32(8*atOnce*lanes))
	})
	for at := n / (atOnce * lanes) * atOnce * lanes; at < n; at += lanes {
		add(right, min(at, n-lanes))
	}
	x := g.Builder()
	var sum native.Value
	for k, reg := range f.Release() {
		if k == 0 {
			sum = x.In(reg)
		} else {
			sum = x.Add(sum, x.In(reg))
		}
	}
	x.Branch(x.Compare(native.NEQ, sum, x.Number(0)), l)
	f.Emit(x, lanes)
}
