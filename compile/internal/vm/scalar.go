package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// walk makes scalar code run for every step of a scan. Before the step, it copies streams in and
// history out; after it, it copies kept values out.
type walk struct {
	steps                 int
	loads, history, keeps []cursor
	nexts                 []instr
}

// scalar runs scalar code over the machine's memory, once or for the steps of
// w. It returns -1, or the number of the instruction whose check failed.
func (m *Machine) scalar(code []instr, w *walk) int32 {
	mem := m.mem
	for step := 0; ; {
		if w != nil {
			if step == w.steps {
				return -1
			}
			for i := range w.loads {
				c := &w.loads[i]
				mem[c.slot] = c.data[c.pos]
				c.pos += c.step
			}
			for i := range w.history {
				c := &w.history[i]
				c.data[c.pos] = mem[c.slot]
				c.pos += c.step
			}
		}
		for k := range code {
			in := &code[k]
			a := mem[in.a]
			row := ops.Of(in.op)
			switch row.Arity {
			case 2:
				mem[in.dst] = row.F2(a, mem[in.b])
			case 3:
				mem[in.dst] = row.F3(a, mem[in.b], mem[in.c])
			default:
				if in.op != ad.OpCheck {
					mem[in.dst] = row.F1(a)
				} else if set := &m.p.checks[in.b].Attr.(*ad.Check).Set; !set.Contains(a) {
					return int32(k)
				}
			}
		}
		if w == nil {
			return -1
		}
		for i := range w.keeps {
			c := &w.keeps[i]
			c.data[c.pos] = mem[c.slot]
			c.pos += c.step
		}
		for i := range w.nexts {
			in := &w.nexts[i]
			mem[in.dst] = mem[in.a]
		}
		step++
	}
}
