package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// Instructions of strips that move numbers by an index map, which is operand c. All other
// instructions of strips are ops, with rows in package ops. In these instructions and in sums,
// field x has one bit per operand, set if the operand is one number for the whole strip.
const (
	firstMove ad.OpCode = 1<<13 + iota
	loadAffine
	loadRuns
	addTable // dst[table] += a
	addAffine
	addRuns
	setTable // dst[table] = a
	setAffine

	loadTable = firstMove // dst = a[table]
)

// moves is the table of these instructions. A row has a name, a function that executes the strip
// beginning at element pos, and whether code of elements can execute it, as a load.
var moves = [...]struct {
	name string
	run  func(d, a []float64, g *mapping, pos int)
	load bool
}{
	loadTable - firstMove: {name: "load_table", load: true, run: func(d, a []float64, g *mapping, pos int) {
		loadTableLoop(d, a[g.off:], g.table[pos:pos+len(d)])
	}},
	loadAffine - firstMove: {name: "load_affine", load: true, run: loadAffineLoop},
	loadRuns - firstMove: {name: "load_runs", load: true, run: func(d, a []float64, g *mapping, pos int) {
		src, at := a[g.off:], 0
		for _, r := range g.stripRuns(pos) {
			fillLoop(d[at:at+int(r.n)], src[r.elem])
			at += int(r.n)
		}
	}},
	addTable - firstMove: {name: "add_table", run: func(d, a []float64, g *mapping, pos int) {
		addTableLoop(d[g.off:], a, g.table[pos:pos+len(a)])
	}},
	addAffine - firstMove: {name: "add_affine", run: addAffineLoop},
	addRuns - firstMove: {name: "add_runs", run: func(d, a []float64, g *mapping, pos int) {
		dst, at := d[g.off:], 0
		for _, r := range g.stripRuns(pos) {
			dst[r.elem] += ops.SumOf(a[at : at+int(r.n)])
			at += int(r.n)
		}
	}},
	setTable - firstMove: {name: "set_table", run: func(d, a []float64, g *mapping, pos int) {
		d = d[g.off:]
		for i, t := range g.table[pos : pos+len(a)] {
			d[t] = a[i]
		}
	}},
	setAffine - firstMove: {name: "set_affine", run: setAffineLoop},
}

// isLoad reports whether an instruction of a strip loads by a mapping.
func isLoad(op ad.OpCode) bool { return op >= firstMove && moves[op-firstMove].load }
