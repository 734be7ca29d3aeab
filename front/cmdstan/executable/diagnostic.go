package executable

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/model"
)

// diagnosticFile is the diagnostic file of a chain: unconstrained draws, momenta and gradients.
type diagnosticFile struct {
	*draws.File
	record *recorder
	chain  int
	names  int
}

func (s *sampling) createDiagnostic(p *model.Posterior, path string, chain int, record *recorder) (*diagnosticFile, error) {
	names := slices.Clone(p.UnconstrainedNames())
	n := len(names)
	for _, prefix := range []string{"p_", "g_"} {
		for _, name := range names[:n] {
			names = append(names, prefix+name)
		}
	}
	file, err := s.run.create(path, s.sampler.columns, names, nil)
	return &diagnosticFile{file, record, chain, len(names)}, err
}

func (f *diagnosticFile) draw(d infer.Draw) error {
	d.Values = append(slices.Clone(d.Position), f.record.take(f.chain, d.Iteration)...)
	for len(d.Values) < f.names {
		d.Values = append(d.Values, 0)
	}
	return f.Draw(d)
}

// recorder is a sampler that stores the momentum and the gradient at the end of each transition,
// because draws do not contain these.
type recorder struct {
	infer.Sampler
	mu   sync.Mutex
	kept []map[int][]float64 // by chain and iteration
}

func newRecorder(s infer.Sampler, chains int) *recorder {
	r := &recorder{Sampler: s, kept: make([]map[int][]float64, chains)}
	for i := range r.kept {
		r.kept[i] = map[int][]float64{}
	}
	return r
}

// Plan implements [infer.Sampler].
func (r *recorder) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	plan, err := r.Sampler.Plan(target, n)
	if err == nil {
		k := &recordedKernel{Kernel: plan.Kernel, recorder: r}
		plan.Kernel = k
		plan.Stages = append([]infer.Stage{chainOf{k}}, plan.Stages...)
	}
	return plan, err
}

// chainOf is a stage without transitions that passes the number of the chain to the kernel.
type chainOf struct{ *recordedKernel }

// Run implements [infer.Stage].
func (c chainOf) Run(_ context.Context, s *infer.State) error {
	c.chain = s.Chain
	return nil
}

// take returns the stored values of a transition, and deletes them and those of earlier
// transitions.
func (r *recorder) take(chain, iteration int) []float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.kept[chain][iteration]
	for i := range r.kept[chain] {
		if i <= iteration {
			delete(r.kept[chain], i)
		}
	}
	return v
}

// recordedKernel is the kernel of a chain, which passes its results to the recorder.
type recordedKernel struct {
	infer.Kernel
	recorder  *recorder
	chain     int
	iteration int
}

// Transition implements [infer.Kernel].
func (k *recordedKernel) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	end, info, err := k.Kernel.Transition(rng, h, eps, z)
	if err == nil {
		k.recorder.mu.Lock()
		k.recorder.kept[k.chain][k.iteration] = append(slices.Clone(end.Momentum), end.Gradient...)
		k.recorder.mu.Unlock()
	}
	k.iteration++
	return end, info, err
}

// writeIterations writes the diagnostic file of the methods without draws: the evidence lower bound
// of variational, and nothing for the others.
func (r *run) writeIterations() error {
	name := r.config.Text("output.diagnostic_file")
	switch method := r.config.Text("method"); {
	case name == "" || method == "sample" || method == "laplace" || method == "pathfinder":
		return nil
	}
	file, err := r.create(name, nil, []string{"iter", "time_in_seconds", "ELBO"}, nil)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, row := range r.iterations {
		if err := file.Row(nil, row); err != nil {
			return err
		}
	}
	return file.FinishWith()
}
