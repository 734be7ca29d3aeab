package compile

import (
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/marginal"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/internal/planted"
)

// stage is one step from a bound graph to an executable program. passes.Table lists the passes of
// each stage.
type stage struct {
	name string // for documentation and messages
	// density marks the stages that add the gradient to a log density. The other stages come after
	// them and apply to any graph.
	density bool
	run     func(w *work, o passes.Options) error
}

// pipeline returns the stages in their order.
func pipeline() []stage {
	return []stage{
		{"shorten", true, func(w *work, o passes.Options) (err error) {
			w.graph, err = passes.RunDensity(w.graph, o)
			return err
		}},
		{"differentiate", true, func(w *work, _ passes.Options) error {
			g := w.graph
			grads := g.Grad(g.Outputs[0], g.Inputs...)
			marks := len(g.Inputs) - len(w.cuts)
			for _, r := range grads[:marks] {
				g.Output(r)
			}
			if len(w.cuts) > 0 {
				w.graph = cutAt(g, grads[marks:], w.cuts)
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

// work holds the forms of a program as it passes through the pipeline.
type work struct {
	graph   *ad.Graph
	cuts    []*marginal.Cut // the last inputs of the graph are their marks, before it is differentiated
	nest    *loopnest.Program
	program *vm.Program
	at      string // the pass or stage that runs
}

func (w *work) through(density bool, o passes.Options) (err error) {
	defer caught(&err, &w.at)
	o.Running = &w.at
	for _, s := range pipeline() {
		if s.density != density {
			continue
		}
		w.at = s.name
		if err := s.run(w, o); err != nil {
			return err
		}
	}
	return nil
}

// differentiate runs the stages that are for log densities only.
func (w *work) differentiate(o passes.Options) error { return w.through(true, o) }

// assemble runs the stages for any graph.
func (w *work) assemble(o passes.Options) error { return w.through(false, o) }

// made holds the programs that only some uses need. They are made on first use, for all clones of a
// model.
type made struct {
	faults                 faults
	constrained, generated once
	plain                  sync.Once
	interpreter            interpreter
	recentred              recentred
	rest                   rest
}

// once is a program that is made at most once.
type once struct {
	mu   sync.Mutex
	made bool
	p    *vm.Program
	err  error
}

// program returns the program of one of the model's graphs, which computes the named part of the
// model. The program is nil if there is no graph, or a fault prevents it: the part is then
// interpreted. SetStop's function can end its construction; the next call then starts again.
func (o *once) program(m *Model, part string, g *ad.Graph) (*vm.Program, error) {
	if g == nil {
		return nil, nil
	}
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
	if failed := faultOf(err); failed != nil {
		m.made.faults.add(byReference+part, failed)
		w.program, err = nil, nil
	}
	o.made, o.p, o.err = true, w.program, placed(err, m.bound, g)
	return o.p, o.err
}

// existing returns the program if it was made; nil otherwise.
func (o *once) existing() *vm.Program {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.p
}

// CPULevel describes the processor instructions that evaluate models. The environment variable
// PPL_PROCESSOR may fix them. Results are identical within a level, and differ by rounding errors
// between levels.
func CPULevel() string { return vm.Level() }
