package compile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/source"
)

// Explanation describes how a model's log density and gradient are evaluated, and where their time
// goes.
type Explanation struct {
	NS     float64     // nanoseconds per evaluation: the sum over blocks
	Memory int         // working memory of an evaluation in bytes, without data
	Lines  []LineCost  // by time, longest first
	Blocks []BlockCost // in order of execution
	Passes []PassEffect
	Sparse []SparseMatrix // matrices of data of which products leave out the zeros
	Loops  bind.Stats     // how the source's loops and conditionals were evaluated
	Text   string         // the lowered program; "" if the log density is interpreted
}

// LineCost is the cost of a line of the source, including its share of the derivative. The time of
// a block is split among its ops by their estimated costs.
type LineCost struct {
	File  string
	Line  int    // 0 if the cost belongs to no line
	Text  string // the text of the line
	NS    float64
	Share float64
	Ops   float64 // numbers computed per evaluation
}

// BlockCost is the cost of a block of the lowered program. A scan, conditional or while loop is one
// block with everything in it.
type BlockCost struct {
	Title      string
	NS, Share  float64
	Ops, Bytes float64 // per evaluation
	Lines      []int   // of the source, by line
}

// PassEffect is the effect of a pass on the program: the number of ops, and the numbers that they
// compute per evaluation (Work).
type PassEffect struct {
	Name, Doc               string
	Off                     bool
	OpsBefore, OpsAfter     int
	WorkBefore, WorkAfter   float64
	BlocksBefore, BlocksNow int // 0 before blocks are formed
}

// SparseMatrix is a matrix of data, mostly zero, of which products with vectors leave out the
// zeros.
type SparseMatrix struct {
	Line          int // of the product; 0 if it is unknown
	Rows, Columns int
	Nonzero       int // elements that are not zero
}

// Explain measures the log density with its gradient at x for about the time budget. It first
// lowers both again and verifies the program after every pass.
func (m *Model) Explain(x []float64, budget time.Duration) (*Explanation, error) {
	if err := m.at(x); err != nil {
		return nil, err
	}
	if m.Interpreted() {
		return m.explainInterpreted(x, budget, false)
	}
	return m.explain(m.bound.Density, x, budget)
}

// ExplainValue is [Model.Explain] for the log density without its gradient. For each line it
// reports the forward part of the cost that Explain reports. The two are measured on separate
// programs. In the program with the gradient, the parts are interleaved and share results.
func (m *Model) ExplainValue(x []float64, budget time.Duration) (*Explanation, error) {
	if err := m.at(x); err != nil {
		return nil, err
	}
	if m.Interpreted() {
		return m.explainInterpreted(x, budget, true)
	}
	value := *m.bound.Density
	value.Outputs = value.Outputs[:1:1]
	return m.explain(&value, x, budget)
}

// at returns an error if the length of a point is wrong.
func (m *Model) at(x []float64) error {
	if len(x) != m.dim {
		return fmt.Errorf("a point of length %d for a model of dimension %d", len(x), m.dim)
	}
	return nil
}

func (m *Model) explain(g *ad.Graph, x []float64, budget time.Duration) (*Explanation, error) {
	e, err := m.explainCompiled(g, x, budget)
	if failed := faultOf(err); failed != nil {
		m.made.faults.add(byReference+"the log density", failed)
		if e, err = m.Reference().explainInterpreted(x, budget, len(g.Outputs) == 1); err == nil {
			e.Loops = m.Loops()
		}
	}
	return e, err
}

func (m *Model) explainCompiled(g *ad.Graph, x []float64, budget time.Duration) (_ *Explanation, err error) {
	at := running
	defer caught(&err, &at)
	e := &Explanation{Loops: m.Loops(), Passes: slices.Clone(m.early)}
	e.sparse(m, m.sparse)
	o := passes.Options{Without: m.without, Verify: true, Trace: func(s *passes.Step) {
		e.Passes = append(e.Passes, effect(s))
		e.sparse(m, s.Sparse)
	}}
	w := &work{graph: g}
	if err := w.assemble(o); err != nil {
		return nil, err
	}
	nest, program := w.nest, w.program
	program.Apart()
	e.Memory = program.Memory()
	machine := program.New()
	for i, p := range m.bound.Params {
		copy(machine.Input(i), x[m.offsets[i]:m.offsets[i]+p.Size])
	}
	times, err := machine.Profile(&ad.Env{}, budget)
	if err != nil {
		return nil, m.rejection(err)
	}
	lines := map[source.Position]*LineCost{}
	for _, t := range times {
		e.NS += t.NS
		e.block(m, nest, t, lines)
	}
	e.lines(lines, func(*LineCost) {})
	for i := range e.Blocks {
		e.Blocks[i].Share = share(e.Blocks[i].NS, e.NS)
	}
	e.Text, err = m.text(nest)
	return e, err
}

// sparse adds matrices of which a pass leaves out the zeros.
func (e *Explanation) sparse(m *Model, found []passes.Sparse) {
	for _, s := range found {
		e.Sparse = append(e.Sparse, SparseMatrix{m.line(s.Site).Line, s.Rows, s.Columns, s.Nonzero})
	}
}

// Listing returns the lowered program of the log density with its gradient, as in
// [Explanation].Text, without a measurement. It is "" if the log density is interpreted. The same
// program bound to the same data has the same listing.
func (m *Model) Listing() (string, error) {
	if m.Interpreted() {
		return "", nil
	}
	w := &work{graph: m.bound.Density}
	if err := w.assemble(passes.Options{Without: m.without, Fault: m.fault.Of(false)}); err != nil {
		return "", err
	}
	return m.text(w.nest)
}

func (m *Model) text(nest *loopnest.Program) (string, error) {
	var text strings.Builder
	err := nest.Print(&text, m.names())
	return text.String(), err
}

// lines adds the costs of lines to e, after the function cost has set their times.
func (e *Explanation) lines(of map[source.Position]*LineCost, cost func(l *LineCost)) {
	for _, l := range of {
		cost(l)
		l.Share = share(l.NS, e.NS)
		e.Lines = append(e.Lines, *l)
	}
	sorting.Stable(e.Lines, func(a, b LineCost) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

func effect(s *passes.Step) PassEffect {
	return PassEffect{s.Pass.Name, s.Pass.Doc, s.Off, s.Before.Ops, s.After.Ops, s.Before.Work, s.After.Work, s.Before.Blocks, s.After.Blocks}
}

func share(part, all float64) float64 {
	if all == 0 {
		return 0
	}
	return part / all
}

// names returns the source names for the printed program.
func (m *Model) names() loopnest.Names {
	return loopnest.Names{
		Input: func(i int) string { return m.bound.Params[i].Name },
		Site: func(s ad.Site) string {
			if line := m.line(s).Line; line > 0 {
				return fmt.Sprintf("line %d", line)
			}
			return ""
		},
	}
}

// line returns the beginning of the line that contains a site.
func (m *Model) line(s ad.Site) source.Position {
	at, _ := m.bound.At(s)
	return lineOf(at)
}

func lineOf(span source.Span) source.Position {
	if !span.IsValid() {
		return source.Position{}
	}
	at := span.Begin()
	at.Column = 0
	return at
}

// block adds a measured block and splits its time among lines.
func (e *Explanation) block(m *Model, nest *loopnest.Program, t vm.BlockTime, lines map[source.Position]*LineCost) {
	blk := BlockCost{Title: t.Block.Title(), NS: t.NS}
	type part struct {
		site ad.Site
		cost loopnest.Cost
	}
	var parts []part
	total := loopnest.Cost{}
	var walk func(b *loopnest.Body, nodes []int32)
	walk = func(b *loopnest.Body, nodes []int32) {
		for _, i := range nodes {
			n := &b.Nodes[i]
			c := b.Cost(n)
			if n.Reg != nil {
				// The cost of moving values in and out of the steps counts for the region.
				c.Guess += 5 * b.Times()
				for _, inner := range n.Reg.Bodies {
					c.Guess += 2 * inner.Times()
					for _, k := range inner.Blocks {
						walk(inner, k.Nodes)
					}
				}
			}
			parts = append(parts, part{n.Site, c})
			total.Add(c)
		}
	}
	walk(nest.Main, t.Block.Nodes)
	if n := &nest.Main.Nodes[t.Block.Nodes[0]]; t.Block.Kind == loopnest.SingleBlock {
		if blk.Title = nest.Main.Describe(n, m.names()); n.Reg != nil {
			blk.Title = n.Reg.Title()
		}
	}
	blk.Ops, blk.Bytes = total.Ops, total.Bytes
	for _, p := range parts {
		at := m.line(p.site)
		l := lines[at]
		if l == nil {
			l = &LineCost{File: at.File, Line: at.Line}
			if at.Line > 0 {
				span, _ := m.bound.At(p.site)
				l.Text = strings.TrimSpace(span.File.Line(at.Line))
			}
			lines[at] = l
		}
		if total.Guess > 0 {
			l.NS += t.NS * p.cost.Guess / total.Guess
		}
		l.Ops += p.cost.Ops
		if at.Line > 0 {
			blk.Lines = append(blk.Lines, at.Line)
		}
	}
	slices.Sort(blk.Lines)
	blk.Lines = slices.Compact(blk.Lines)
	e.Blocks = append(e.Blocks, blk)
}
