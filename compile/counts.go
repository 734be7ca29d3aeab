package compile

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/marginal"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/internal/planted"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
)

// This file evaluates models whose discrete parameters have no upper bound. Their sums are cut, see
// package marginal. A program whose cut leaves out too much at a point rejects it. The point is
// then evaluated by the program of a higher level, with 2, 4, … times as many values. It is bound
// when a point first needs it. The first level is the same for all points, so that the density at a
// point does not depend on other points.

// cutError is the rejection of a point that needs more values of a count.
type cutError struct {
	error
	level int // the first one that may have enough
}

// Unwrap returns the rejection.
func (e cutError) Unwrap() error { return e.error }

// NeedsDoubled returns the number of times that the number of values of counts must be doubled at a
// point, see [BindOptions.Doubled], if err is a rejection for want of them.
func NeedsDoubled(err error) (times int, ok bool) {
	var cut cutError
	ok = errors.As(err, &cut)
	return cut.level, ok
}

// beyond reports whether a rejection says that a point needs more values.
func (m *Model) beyond(r *Rejection) bool {
	var e *ad.RejectError
	return m.discrete != nil && len(m.discrete.Cuts) > 0 && errors.As(r.Err, &e) && marginal.Beyond(e.Message)
}

// wanting marks a rejection for want of values.
func (m *Model) wanting(r *Rejection) *Rejection {
	if m.beyond(r) {
		r.Err = cutError{r.Err, m.discrete.Level(r.Err.Error())}
	}
	return r
}

// ladder holds the models of the levels that points needed so far.
type ladder struct {
	program func(level int) *Program
	bind    func(ctx context.Context, level int) (*Model, error)

	mu     sync.Mutex
	models map[int]*Model
	end    int   // the lowest level that was refused; 0: none
	ended  int   // the number of points that needed it
	why    error // of that
}

func newLadder(p *Program, d *data.Set, asked BindOptions, fault *planted.Fault) *ladder {
	if p.ladder != nil {
		return p.ladder
	}
	l := &ladder{models: map[int]*Model{}}
	l.program = func(level int) *Program {
		return &Program{ir: p.ir, tree: p.tree, info: p.info, plain: p.plain, discrete: p.discrete, ragged: p.ragged, sparse: p.sparse, level: level}
	}
	asked.Doubled = 0 // levels say it
	l.bind = func(ctx context.Context, level int) (*Model, error) {
		at := l.program(level)
		at.ladder = l
		return at.bind(ctx, d, asked, fault)
	}
	return l
}

// further returns the model that evaluates the point to which err belongs, or an error if there is
// none.
func (m *Model) further(err error) (*Model, error) {
	if err == nil || m.ladder == nil {
		return m.goOn(err) // without an allocation
	}
	var cut cutError
	if !errors.As(err, &cut) {
		return m.goOn(err)
	}
	if m.haste > 0 && m.haste <= slowCount {
		m.postponed = true
		return nil, err
	}
	level := cut.level
	var shared *Model
	for {
		if d := m.deep[level]; d != nil {
			return d, nil
		}
		var refused error
		if shared, refused = m.ladder.at(stopping{context.Background(), m.env.Stop}, level); refused == nil {
			break
		}
		if level <= m.level+1 {
			return nil, m.ladder.refuse(err, refused)
		}
		level = m.level + 1 // the ratio of the last terms promised too many values
	}
	if m.deep == nil {
		m.deep = map[int]*Model{}
	}
	d := shared.Clone()
	d.prints, d.env, d.deep = m.prints, m.env, m.deep
	d.workers = max(m.workers, 1)
	d.machine.SetWorkers(d.workers)
	m.deep[level] = d
	return d, nil
}

// at returns the model of a level.
func (l *ladder) at(ctx context.Context, level int) (*Model, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.models[level]; m != nil {
		return m, nil
	}
	if l.end > 0 && level >= l.end {
		return nil, l.why
	}
	m, err := l.bind(ctx, level)
	switch {
	case ctx.Err() != nil: // the next call begins again
	case err != nil:
		l.end, l.why = level, err
	default:
		l.models[level] = m
	}
	return m, err
}

// refuse counts a point for which there is no further level, and returns its rejection.
func (l *ladder) refuse(err, why error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if why == l.why {
		l.ended++
	}
	return tooDeep(err, why)
}

// tooDeep returns the rejection of a point for which there is no further level.
func tooDeep(err, why error) error {
	out := &Rejection{Err: why}
	var r *Rejection
	if errors.As(err, &r) {
		out.Span = r.Span
	}
	var listed *Error
	if errors.As(why, &listed) && len(listed.List) > 0 {
		d := listed.List[0]
		text := d.Summary
		if r != nil {
			if _, ratio, ok := strings.Cut(r.Err.Error(), marginal.RatioOf); ok {
				text += ": the ratio of its last terms is " + ratio
			}
		}
		out.Err = exceeded{errors.New(text), d.Fix}
	}
	return out
}

// exceeded is the rejection of a point for which a sum over a count has too many terms.
type exceeded struct {
	error
	fix string
}

// Remedy returns what helps against the rejection of points, if that is known; otherwise "".
func Remedy(err error) string {
	var e exceeded
	if errors.As(err, &e) {
		return e.fix
	}
	return ""
}

// deeper returns a comparer of the model that evaluates the log density at x or, with outputs, the
// outputs, if that is one of another level; otherwise nil.
func (c *Comparer) deeper(x []float64, outputs bool) (*Comparer, error) {
	if c.m.ladder == nil || c.m.density == nil || len(x) != c.m.dim {
		return nil, nil
	}
	at := c.m.Clone()
	at.prints = nil
	at.env = &ad.Env{Stop: c.Stop}
	grad := make([]float64, len(x))
	for {
		_, err := gradient(at.machine, at.env, x, grad)
		if err == nil && outputs {
			p, failed := at.generator()
			if p == nil {
				return nil, failed
			}
			env := &ad.Env{Rand: rand.New(rand.NewPCG(1, 1)), Stop: at.env.Stop}
			err = at.outputs(p.New(), env, x, make([]float64, len(at.bound.Names)))
		} else if err != nil {
			err = at.rejection(err)
		}
		if err == nil {
			break
		}
		if !errors.As(err, new(cutError)) {
			break
		}
		next, _ := at.further(err)
		if next == nil {
			break // both evaluators reject the point
		}
		at = next
	}
	if at.level == c.m.level {
		return nil, nil
	}
	d, err := at.Comparer()
	if err == nil {
		d.Stop = c.Stop
	}
	return d, err
}

// uncuttable returns the error about a density without a graph, which has no check of the cut.
func (m *Model) uncuttable() error {
	e := diag.Errorf(diag.DiscreteUse, m.written.Block(ast.Parameters).Span(), "a discrete parameter without an upper bound needs a log density that can be compiled")
	e.Fix = "give it an upper bound that data decide"
	return &Error{List: diag.List{e}}
}

// mark marks the variables by which the density has derivatives.
func mark(p *ir.Program, cuts []marginal.Cut) {
	for _, c := range cuts {
		if c.Marks == "" {
			continue
		}
		for _, s := range p.Model {
			if d, ok := s.(*ir.Declare); ok && d.Var.Name == c.Marks {
				d.Var.Marks = true
			}
		}
	}
}

// marked returns the cuts with marks.
func marked(r *marginal.Result) (out []*marginal.Cut) {
	if r == nil {
		return nil
	}
	for i := range r.Cuts {
		if r.Cuts[i].Marks != "" {
			out = append(out, &r.Cuts[i])
		}
	}
	return out
}

// cutAt returns a differentiated graph without the marks, which are its last inputs and 0. It
// checks the derivatives by them.
func cutAt(g *ad.Graph, derivatives []ad.Ref, cuts []*marginal.Cut) *ad.Graph {
	for i, c := range cuts {
		g.Require(&ad.Requirement{Wrong: c.Wrong}, derivatives[i])
	}
	out := g.Sibling()
	var inputs []ad.Ref
	for i, in := range g.Inputs {
		t := g.Type(in)
		if i < len(g.Inputs)-len(cuts) {
			inputs = append(inputs, out.Input(t))
		} else {
			inputs = append(inputs, out.ConstArray(t, make([]float64, t.Size())))
		}
	}
	for _, r := range out.Inline(g, inputs, true) {
		out.Output(r)
	}
	return out
}

// Cut is a discrete parameter without an upper bound.
type Cut struct {
	Name        string
	Least, Last int64 // the first and the last value that is summed at all points
	Deepest     int64 // the last value at the points that needed most
	Refused     int   // points, of all counts, that were rejected since they needed too many values
}

// Cuts describes the sums over discrete parameters without upper bounds, as far as points needed
// them so far.
func (m *Model) Cuts() (out []Cut) {
	if m.discrete == nil {
		return nil
	}
	last, refused := map[string]int64{}, 0
	if m.ladder != nil {
		m.ladder.mu.Lock()
		defer m.ladder.mu.Unlock()
		refused = m.ladder.ended
		for _, d := range m.ladder.models {
			for _, c := range d.discrete.Cuts {
				last[c.Name] = max(last[c.Name], c.Last)
			}
		}
	}
	for _, c := range m.discrete.Cuts {
		out = append(out, Cut{c.Name, c.First, c.Last, max(c.Last, last[c.Name]), refused})
	}
	return out
}
