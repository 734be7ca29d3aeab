package compile

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// PassCheck is the effect of a pass on the results of a program at a point. Value and Gradient are
// the differences in log density and gradient, relative to the sum of the absolute values of the
// terms.
type PassCheck struct {
	Name            string
	Changed         bool
	Value, Gradient float64
}

// ValidatePasses evaluates log density and gradient before and after every pass of the compiler
// (translation validation). It is for tests. The function point returns the point for a number of
// parameters. An interpreted program has no passes.
func (p *Program) ValidatePasses(d *data.Set, point func(dim int) []float64) (checks []PassCheck, err error) {
	defer ad.Recover(&err)
	defer loopnest.Recover(&err)
	b, err := bind.Bind(p.ir, d, bind.Options{Propto: true, Jacobian: true, Transforms: transform.Stan239})
	if err != nil || b.Density == nil {
		return nil, err
	}
	v := &validation{}
	dim := 0
	for _, par := range b.Params {
		dim += par.Size
	}
	for x := point(dim); len(v.x) < len(b.Params); {
		n := b.Params[len(v.x)].Size
		v.x, x = append(v.x, x[:n]), x[n:]
	}
	plain, err := interp.New(b.Known, interp.Options{Propto: true, Jacobian: true, Transforms: transform.Stan239})
	if err != nil {
		return nil, err
	}
	sum, err := plain.Density(v.x, &ad.Env{})
	if err != nil {
		return nil, err
	}
	v.scale = max(1, sum.Magnitude)

	before := b.Density
	v.compare("", true, func() ([]float64, error) { return v.differentiated(before) })
	g, err := passes.RunDensity(b.Density, passes.Options{Lanes: vm.Lanes(), Trace: func(s *passes.Step) {
		after := s.Graph
		v.compare(s.Pass.Name, signature(before) != signature(after), func() ([]float64, error) { return v.differentiated(after) })
		before = after
	}})
	if err != nil {
		return nil, err
	}
	w := &work{graph: g}
	for _, r := range g.Grad(g.Outputs[0], g.Inputs...) {
		g.Output(r)
	}
	before = w.graph
	var rest []string // names of passes on the loop nest, and of those in the executor
	for _, pass := range passes.Table() {
		if pass.Density == nil && pass.Graph == nil {
			rest = append(rest, pass.Name)
		}
	}
	if _, err = passes.Run(w.graph, passes.Options{Verify: true, Trace: func(s *passes.Step) {
		if s.Pass.Graph == nil {
			return
		}
		after := s.Graph
		v.compare(s.Pass.Name, signature(before) != signature(after), func() ([]float64, error) { return v.evaluated(after) })
		before = after
	}}); err != nil {
		return nil, err
	}
	text := ""
	for k := range len(rest) + 1 { // programs, each with one more of these passes
		w := &work{graph: g}
		o := passes.Options{Without: rest[k:]}
		if w.nest, err = passes.Run(g, o); err != nil {
			return nil, err
		}
		var now strings.Builder
		if err := w.nest.Print(&now, loopnest.Names{Input: func(i int) string { return fmt.Sprint(i) }, Site: func(ad.Site) string { return "" }}); err != nil {
			return nil, err
		}
		w.program = vm.Assemble(w.nest, o)
		if err := w.program.TooLarge(); err != nil {
			return nil, err
		}
		name := ""
		if k > 0 {
			name = rest[k-1]
		}
		changed := now.String() != text || name == passes.MemoryPass || name == passes.NativePass || name == passes.PartsPass
		text = now.String()
		v.compare(name, changed, func() ([]float64, error) { return v.run(w.program) })
	}
	return v.checks, v.err
}

// validation compares the results of successive programs.
type validation struct {
	x      [][]float64
	scale  float64
	last   []float64 // log density and gradient
	checks []PassCheck
	err    error
}

func (v *validation) compare(pass string, changed bool, evaluate func() ([]float64, error)) {
	if v.err != nil {
		return
	}
	c := PassCheck{Name: pass, Changed: changed}
	if changed {
		now, err := evaluate()
		if err != nil {
			v.err = fmt.Errorf("after pass %s: %w", pass, err)
			return
		}
		if v.last != nil {
			scale := v.scale
			for _, g := range now[1:] {
				if !math.IsNaN(g) {
					scale = max(scale, math.Abs(g))
				}
			}
			for i, a := range now {
				d := math.Abs(a-v.last[i]) / scale
				if a == v.last[i] || math.IsNaN(a) && math.IsNaN(v.last[i]) {
					d = 0
				} else if math.IsNaN(d) {
					d = math.Inf(1)
				}
				if i == 0 {
					c.Value = d
				} else {
					c.Gradient = max(c.Gradient, d)
				}
			}
		}
		v.last = now
	}
	if pass != "" {
		v.checks = append(v.checks, c)
	}
}

// differentiated evaluates a log density and its gradient.
func (v *validation) differentiated(g *ad.Graph) ([]float64, error) {
	h := g.Fork()
	for _, r := range h.Grad(h.Outputs[0], h.Inputs...) {
		h.Output(r)
	}
	return v.evaluated(h)
}

func (v *validation) evaluated(g *ad.Graph) ([]float64, error) {
	parts, err := g.Eval(v.x, &ad.Env{})
	var all []float64
	for _, p := range parts {
		all = append(all, p...)
	}
	return all, err
}

func (v *validation) run(p *vm.Program) ([]float64, error) {
	m := p.New()
	var x, grad []float64
	for _, part := range v.x {
		x = append(x, part...)
	}
	grad = make([]float64, len(x))
	lp, err := m.Gradient(&ad.Env{}, x, grad)
	return append([]float64{lp}, grad...), err
}

// signature is a hash that differs for graphs that differ in more than the numbering of their
// nodes.
func signature(g *ad.Graph) uint64 {
	h := fnv.New64a()
	var walk func(g *ad.Graph)
	walk = func(g *ad.Graph) {
		live := g.Live(g.Outputs, true)
		number := make([]int, len(g.Nodes))
		n := 0
		for i := range g.Nodes {
			if !live[i] {
				continue
			}
			number[i] = n
			n++
			nd := &g.Nodes[i]
			fmt.Fprint(h, nd.Op, nd.Type, len(nd.Data))
			for _, a := range nd.Args {
				fmt.Fprint(h, " ", number[a])
			}
			if ix, ok := nd.Attr.(ad.Index); ok {
				fmt.Fprint(h, ix.Offset, len(ix.Dims))
			}
			for _, b := range nd.Bodies() {
				walk(b)
			}
		}
	}
	walk(g)
	return h.Sum64()
}
