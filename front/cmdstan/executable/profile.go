package executable

import (
	"fmt"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/cmdstan/grammar"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/model"
)

// measuring limits the time for measuring the density, whose parts are the times of profile
// statements.
const measuring = 50 * time.Millisecond

// profiled has the profile statements with the same name.
type profiled struct {
	name   string
	blocks []*ast.Profile
	model  bool // the statement runs in the density, not only in generated quantities or transformed data
}

// writeProfile writes the times of the model's profile statements, if it has any. Here the density
// and its gradient are computed together. The parts are measured after the run and multiplied by
// the number of evaluations. The forward time is the time of a separate program for the density
// alone; the rest is the reverse time.
func (r *run) writeProfile(p *model.Posterior) error {
	all := r.profiles()
	if len(all) == 0 {
		return nil
	}
	var whole, value lineTimes
	if x, err := r.profilePoint(p); err == nil && p.Dim() > 0 {
		if whole, err = measure(p.Compiled().Explain, x); err != nil {
			return err
		}
		if value, err = measure(p.Compiled().ExplainValue, x); err != nil {
			return err
		}
	}
	var b strings.Builder
	b.WriteString("name,thread_id,total_time,forward_time,reverse_time,chain_stack,no_chain_stack,autodiff_calls,no_autodiff_calls\n")
	for _, q := range all {
		total, forward, calls := 0.0, 0.0, int64(0)
		for _, block := range q.blocks {
			total += whole.of(block)
			forward += value.of(block)
		}
		forward = min(forward, total) // separate measurements may differ
		if q.model {
			calls = r.evaluations
		}
		seconds := func(ns float64) string { return grammar.Number(ns*1e-9*float64(calls), r.digits()) }
		fmt.Fprintf(&b, "%s,1,%s,%s,%s,0,0,%d,%d\n", q.name, seconds(total), seconds(forward), seconds(total-forward), calls, r.generated)
	}
	return replaceFile(r.config.Text("output.profile_file"), []byte(b.String()))
}

// lineTimes has the times of parts of an evaluation in nanoseconds, by file and line.
type lineTimes map[string]map[int]float64

func measure(explain func([]float64, time.Duration) (*compile.Explanation, error), x []float64) (lineTimes, error) {
	e, err := explain(x, measuring)
	if err != nil {
		return nil, err
	}
	t := lineTimes{}
	for _, line := range e.Lines {
		if t[line.File] == nil {
			t[line.File] = map[int]float64{}
		}
		t[line.File][line.Line] += line.NS
	}
	return t, nil
}

// of returns the time of all lines within a profile statement.
func (t lineTimes) of(block *ast.Profile) float64 {
	span := block.Span().Origin()
	lines, ns := t[span.File.Name], 0.0
	for line := span.Begin().Line; line <= span.File.Position(span.End).Line; line++ {
		ns += lines[line]
	}
	return ns
}

// profiles finds the profile statements of the model, by name.
func (r *run) profiles() []*profiled {
	var all []*profiled
	file, _ := r.model.Program().Syntax()
	for _, block := range file.Blocks {
		ast.Inspect(block, func(n ast.Node) bool {
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

// profilePoint returns a point at which to measure the density.
func (r *run) profilePoint(p *model.Posterior) ([]float64, error) {
	if r.point != nil {
		return r.point, nil
	}
	m := infer.NewMeter(p.Compiled())
	fit.Near(r.ctx, p, m)
	x, _, err := infer.FindStart(infer.Uniform{Radius: 2}, 0, m, infer.Stream(r.config.Seed(), r.id, "init", 0))
	return x, err
}
