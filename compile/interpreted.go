package compile

import (
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/lang/source"
)

// This file evaluates models, or parts of them, that no graph can represent. Reasons are that
// parameters or draws decide the size of a value, the depth of a recursion, or the value of
// target() in a loop. Such models are interpreted at every point. Derivatives come from a record
// (tape) of the operations executed there.

// interpreter holds the interpreted model, made on first use.
type interpreter struct {
	model *interp.Model
	err   error
}

// plain returns the model for the interpreter.
func (m *Model) plain() (*interp.Model, error) {
	made := m.made
	made.plain.Do(func() {
		known, err := m.bound.Known, error(nil)
		if m.whole != nil { // the interpreter leaves nothing
			known, err = bind.Read(m.whole(), m.set, bind.Options{Seed: m.asked.Seed, Jacobian: m.options.Jacobian, Transforms: m.options.Transforms})
		}
		if made.interpreter.err = err; err == nil {
			made.interpreter.model, made.interpreter.err = interp.New(known, m.options)
		}
	})
	return made.interpreter.model, made.interpreter.err
}

// Interpreted reports whether the log density is interpreted. The notes of Loops give the reasons.
func (m *Model) Interpreted() bool { return m.density == nil }

// split gives each parameter its part of x.
func (m *Model) split(x []float64) [][]float64 {
	parts := make([][]float64, len(m.bound.Params))
	for i, p := range m.bound.Params {
		parts[i] = x[m.offsets[i] : m.offsets[i]+p.Size]
	}
	return parts
}

// record evaluates the log density at x and records it.
func (m *Model) record(x []float64, env *ad.Env) (*interp.Record, error) {
	plain, err := m.plain()
	if err != nil {
		return nil, err
	}
	r, err := plain.Record(m.split(x), env)
	if err != nil {
		return nil, m.rejection(err)
	}
	return r, nil
}

// interpretGrad is LogDensityGrad for a model without a compiled program.
func (m *Model) interpretGrad(x, grad []float64) (lp float64, err error) {
	defer ad.Recover(&err)
	r, err := m.record(x, m.env)
	if err != nil {
		return 0, err
	}
	g := r.Graph
	out := g.Outputs[0]
	g.Outputs = nil
	for _, d := range g.Grad(out, g.Inputs...) {
		g.Output(d)
	}
	parts, err := g.Eval(m.split(x), &ad.Env{Stop: m.env.Stop})
	if err != nil {
		return 0, m.rejection(err)
	}
	copy(grad, slices.Concat(parts...))
	return r.Value, nil
}

// interpretOutputs is Constrain or Generate for a model without a compiled program.
func (m *Model) interpretOutputs(env *ad.Env, x, dst []float64, generated bool) error {
	plain, err := m.plain()
	if err != nil {
		return err
	}
	out, err := plain.Outputs(m.split(x), env, generated)
	if err != nil {
		return m.rejection(err)
	}
	copy(dst, out)
	return nil
}

// interpretSecond evaluates a second derivative of an interpreted log density; build adds it to a
// graph of the point. inputs holds the point and the further inputs of the graph.
func (m *Model) interpretSecond(build func(g *ad.Graph, x, density ad.Ref) ad.Ref, dst []float64, inputs ...[]float64) (err error) {
	defer ad.Recover(&err)
	r, err := m.record(inputs[0], &ad.Env{Stop: m.env.Stop}) // without Print
	if err != nil {
		return err
	}
	g, x := m.point()
	density := g.Inline(r.Graph, m.parts(g, x, r.Graph), false)[0]
	g.Output(build(g, x, density))
	out, err := g.Eval(inputs, &ad.Env{Stop: m.env.Stop})
	if err != nil {
		return m.rejection(err)
	}
	copy(dst, out[0])
	return nil
}

// explainInterpreted measures an interpreted log density. It splits the time among lines by the
// number of their recorded operations, including those of the derivative. With value, only the
// operations of the log density itself count.
func (m *Model) explainInterpreted(x []float64, budget time.Duration, value bool) (*Explanation, error) {
	e := &Explanation{Loops: m.Loops(), Passes: slices.Clone(m.early)}
	quiet := *m
	quiet.env = &ad.Env{Stop: m.env.Stop}
	grad := make([]float64, m.dim)
	runs, began := 0, time.Now()
	for runs == 0 || time.Since(began) < budget {
		if _, err := quiet.LogDensityGrad(x, grad); err != nil {
			return nil, err
		}
		runs++
	}
	e.NS = float64(time.Since(began).Nanoseconds()) / float64(runs)
	r, err := quiet.record(x, quiet.env)
	if err != nil {
		return nil, err
	}
	g := r.Graph
	forward := len(g.Nodes)
	g.Grad(g.Outputs[0], g.Inputs...)
	lines, all := map[source.Position]*LineCost{}, 0.0
	for i := range g.Nodes {
		n := float64(g.Nodes[i].Type.Total())
		all += n
		if value && i >= forward {
			continue
		}
		at := lineOf(r.Sites[g.Nodes[i].Site])
		if lines[at] == nil {
			lines[at] = &LineCost{File: at.File, Line: at.Line}
			if at.Line > 0 {
				lines[at].Text = strings.TrimSpace(r.Sites[g.Nodes[i].Site].File.Line(at.Line))
			}
		}
		lines[at].Ops += n
	}
	e.lines(lines, func(l *LineCost) { l.NS = share(l.Ops, all) * e.NS })
	if value {
		computed := 0.0
		for _, l := range e.Lines {
			computed += l.Ops
		}
		e.NS *= share(computed, all)
		all = computed
	}
	e.Blocks = []BlockCost{{Title: "what is executed, statement by statement, and its derivative", NS: e.NS, Share: 1, Ops: all}}
	return e, nil
}
