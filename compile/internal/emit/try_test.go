package emit

import (
	"testing"

	"github.com/ppl-lang/ppl/compile/internal/lanes"
)

// TestTry: of what is tried nothing stays, also where it ends in the middle of a call.
func TestTry(t *testing.T) {
	p := program(t, `functions { real twice(real x) { if (x > 100) reject("too much"); return 2 * x; } }
data { int N; } parameters { real b; }
model { real h = twice(b); h += 1; target += h; target += twice(h); }`, `{"N":1}`)
	p.beginDensity(false)
	for _, s := range p.prog.Model[:2] {
		p.stmts.exec(s)
	}
	type kept struct{ targets, calls, levels, effects, outputs, ifs int }
	now := func() kept {
		g := p.b.root.g
		return kept{len(p.lp.targets), len(p.rep.calls), p.rep.levels, len(g.Effects), len(g.Outputs), p.log.stats.Ifs}
	}
	before, cells, span := now(), p.vars.cells, p.rep.span
	func() {
		defer func() {
			if _, ok := recover().(*lanes.Fault); !ok {
				t.Error("the fault is lost")
			}
		}()
		p.try(func() {
			for _, s := range p.prog.Model {
				p.stmts.exec(s)
			}
			if now() == before {
				t.Error("what is tried does nothing")
			}
			p.rep.calls = append(p.rep.calls, callSite{name: "twice"})
			p.vars.cells = nil
			panic(&fault{Reason: "in the middle"})
		})
	}()
	if after := now(); after != before || len(p.vars.cells) != len(cells) || p.rep.span != span {
		t.Errorf("what is tried left %v, not %v", after, before)
	}
}
