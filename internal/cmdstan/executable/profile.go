package executable

import (
	"fmt"
	"strings"
	"time"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/cmdstan/grammar"
	"github.com/ppl-lang/ppl/lang/ast"
)

// measuring bounds how long the density is measured for the times of profile statements.
const measuring = 50 * time.Millisecond

// profiled is the statements of one name.
type profiled struct {
	name   string
	blocks []*ast.Profile
	model  bool // in the density, not in generated quantities or transformed data alone
}

// writeProfile writes the times of the model's profile statements, if it has any. The
// density and its gradient are one program here, whose parts are measured after the run
// and multiplied by how often it ran; what a line costs forwards and backwards is not
// told apart, and all of it is given as forward time.
func (r *run) writeProfile(p *ppl.Posterior) error {
	all := r.profiles()
	if len(all) == 0 {
		return nil
	}
	costs := map[string]map[int]float64{} // ns by file and line
	if x, err := r.profilePoint(p); err == nil && p.Dim() > 0 {
		e, err := p.Explain(x, measuring)
		if err != nil {
			return err
		}
		for _, line := range e.Lines {
			if costs[line.File] == nil {
				costs[line.File] = map[int]float64{}
			}
			costs[line.File][line.Line] += line.NS
		}
	}
	var b strings.Builder
	b.WriteString("name,thread_id,total_time,forward_time,reverse_time,chain_stack,no_chain_stack,autodiff_calls,no_autodiff_calls\n")
	for _, q := range all {
		ns, calls := 0.0, int64(0)
		for _, block := range q.blocks {
			span := block.Span().Origin()
			to := span.File.Position(span.End).Line
			for line := span.Begin().Line; line <= to; line++ {
				ns += costs[span.File.Name][line]
			}
		}
		if q.model {
			calls = r.evaluations
		}
		seconds := grammar.Number(ns*1e-9*float64(calls), r.digits())
		fmt.Fprintf(&b, "%s,1,%s,%s,0,0,0,%d,%d\n", q.name, seconds, seconds, calls, r.generated)
	}
	return replaceFile(r.config.Text("output.profile_file"), []byte(b.String()))
}

// profiles finds the profile statements of the model, by name.
func (r *run) profiles() []*profiled {
	var all []*profiled
	file, _ := r.model.Program().Syntax()
	for _, block := range file.Blocks {
		ast.Walk(block, func(n ast.Node) bool {
			s, ok := n.(*ast.Profile)
			if !ok {
				return true
			}
			var q *profiled
			for _, known := range all {
				if known.name == s.Name {
					q = known
				}
			}
			if q == nil {
				q = &profiled{name: s.Name}
				all = append(all, q)
			}
			q.blocks = append(q.blocks, s)
			q.model = q.model || block.Kind != ast.GeneratedQuantities && block.Kind != ast.TransformedData
			return true
		}, nil)
	}
	return all
}

// profilePoint is where the density is measured.
func (r *run) profilePoint(p *ppl.Posterior) ([]float64, error) {
	if r.point != nil {
		return r.point, nil
	}
	x, _, err := infer.FindStart(infer.Uniform{Radius: 2}, 0, infer.NewMeter(p), infer.Stream(r.config.Seed(), r.id, "init", 0))
	return x, err
}
