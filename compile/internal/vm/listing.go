package vm

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// String returns a listing of the program for developers. Operands of scalar code are memory slots,
// all others are views.
func (p *Program) String() string {
	var w strings.Builder
	fmt.Fprintf(&w, "memory %d, views %d, constants %d\n", p.memory, len(p.views), len(p.init))
	p.list(&w, p.blocks, "")
	return w.String()
}

var kindNames = [...]string{"scalar", "strip", "matmul", "array", "random", "effect", "region"}

func (p *Program) list(w *strings.Builder, bs []block, indent string) {
	for i := range bs {
		b := &bs[i]
		fmt.Fprintf(w, "%s%s", indent, kindNames[b.kind])
		if b.kind == stripBlock {
			fmt.Fprintf(w, " %d by %d, %d windows", b.n, b.strip, len(b.wins))
		}
		if b.node != nil {
			fmt.Fprintf(w, " %v %v: %d = %v", b.node.Op, b.node.Type, b.dst, b.args)
		}
		if len(b.clears) > 0 {
			fmt.Fprintf(w, " clear %v", b.clears)
		}
		w.WriteByte('\n')
		for _, in := range b.code {
			name := ""
			if in.op >= firstMove {
				name = moves[in.op-firstMove].name
			} else {
				name = ops.Of(in.op).Name
			}
			if in.x != 0 {
				name += fmt.Sprintf(".%03b", in.x)
			}
			fmt.Fprintf(w, "%s\t%s %d = %d %d %d\n", indent, name, in.dst, in.a, in.b, in.c)
		}
		if r := b.reg; r != nil {
			fmt.Fprintf(w, "%s  lanes %d, steps %d; moves %d %d, loads %d %d, history %d %d, keeps %d %d, nexts %d %d, stages %d, finals %d\n",
				indent, r.lanes, r.control.steps(), len(r.laneMoves), len(r.stepMoves), len(r.laneLoads), len(r.stepLoads),
				len(r.history.scalars), len(r.history.arrays), len(r.keeps[0].scalars), len(r.keeps[0].arrays),
				len(r.nextScalars), len(r.nexts), len(r.stages), len(r.finals))
			for _, body := range r.bodies {
				p.list(w, body, indent+"  |")
			}
		}
	}
}
