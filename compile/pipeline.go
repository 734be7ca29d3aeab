package compile

import (
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/internal/planted"
)

// stage is one step from a graph that has been bound to what is run. Which
// passes a stage consists of is in passes.Table.
type stage struct {
	name string // for readers
	// density marks the stages that make of a log density one with its gradient;
	// the others come after them, for any graph.
	density bool
	run     func(w *work, o passes.Options) error
}

// pipeline is the stages in their order.
func pipeline() []stage {
	return []stage{
		{"shorten", true, func(w *work, o passes.Options) (err error) {
			w.graph, err = passes.RunDensity(w.graph, o)
			return err
		}},
		{"differentiate", true, func(w *work, _ passes.Options) error {
			g := w.graph
			for _, r := range g.Grad(g.Outputs[0], g.Inputs...) {
				g.Output(r)
			}
			return nil
		}},
		{"lower", false, func(w *work, o passes.Options) (err error) {
			w.nest, err = passes.Run(w.graph, o)
			return err
		}},
		{"assemble", false, func(w *work, o passes.Options) error {
			w.program = vm.Assemble(w.nest, o)
			return w.program.TooLarge()
		}},
	}
}

// work is what goes through the pipeline.
type work struct {
	graph   *ad.Graph
	nest    *loopnest.Program
	program *vm.Program
}

func (w *work) through(density bool, o passes.Options) (err error) {
	defer ad.Recover(&err)
	for _, s := range pipeline() {
		if s.density != density {
			continue
		}
		if err := s.run(w, o); err != nil {
			return err
		}
	}
	return nil
}

// differentiate carries out the stages of a log density.
func (w *work) differentiate(o passes.Options) error { return w.through(true, o) }

// assemble carries out those of any graph.
func (w *work) assemble(o passes.Options) error { return w.through(false, o) }

// made is what few users ask for: it is made when first used, for all clones of a
// model.
type made struct {
	constrained, generated once
	plain                  sync.Once
	interpreter            interpreter
	recentred              recentred
}

// once is a program that is made at most once.
type once struct {
	mu   sync.Mutex
	made bool
	p    *vm.Program
	err  error
}

// program is the program of a graph of the model's. Its making ends as evaluations by m do, see
// SetStop; it is made again when it is asked for again.
func (o *once) program(m *Model, g *ad.Graph) (*vm.Program, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.made {
		return o.p, o.err
	}
	budget := ad.NewBudget(m.options.Memory, 0)
	budget.Stop = m.env.Stop
	fault := m.fault.Of(true)
	w := &work{graph: planted.After(fault, planted.Bind, g)}
	err := w.assemble(passes.Options{Without: slices.Clone(m.without), Fault: fault, Budget: budget})
	if err == nil {
		err = budget.Take(int64(w.program.Memory()))
	}
	if stopped := budget.Ask(); stopped != nil {
		return nil, stopped
	}
	o.made, o.p, o.err = true, w.program, placed(err, m.bound, g)
	return o.p, o.err
}

// CPULevel says in words which instructions of this processor models are evaluated
// with, which the environment variable PPL_PROCESSOR may fix: results are the same within
// a level, and within rounding errors between them.
func CPULevel() string { return vm.Level() }
