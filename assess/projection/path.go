package projection

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/assess/criticise"
)

// PathOptions are options of [PathOf].
type PathOptions struct {
	Terms    int  // the most terms of a submodel; 0: all
	Clusters int  // groups of draws for the search; 0: 20
	Draws    int  // draws for the accuracy; 0: 400
	Validate bool // repeat the search for each row, as if it were unknown
	Seed     uint64

	// Done, if not nil, is called after each step, and with Validate after each row.
	Done func(done, of int)
}

// Step is a submodel on the path.
type Step struct {
	Term       int          // the term that was added; -1: none
	Divergence float64      // mean Kullback-Leibler divergence per row
	ELPD       []float64    // expected log predictive density of each row
	Projected  []*Projected // by draw; see Path.Refs
	Share      float64      // with Validate: share of the searches whose submodel of this size has the term
}

// Path is the result of [PathOf].
type Path struct {
	Steps     []Step
	Reference []float64   // expected log predictive density of each row by the reference
	K         []float64   // Pareto k of each row
	Refs      []Reference // draws at which the submodels were projected
}

// PathOf searches forward for submodels and estimates their accuracy by leave-one-out
// cross-validation with Pareto smoothed importance weights of the reference.
func PathOf(ctx context.Context, p *Problem, o PathOptions) (*Path, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if o.Clusters < 0 || o.Draws < 0 || o.Terms < 0 {
		return nil, errors.New("options must not be negative")
	}
	if o.Clusters == 0 {
		o.Clusters = 20
	}
	if o.Draws == 0 {
		o.Draws = 400
	}
	if o.Terms == 0 || o.Terms > len(p.Terms) {
		o.Terms = len(p.Terms)
	}
	if o.Done == nil {
		o.Done = func(int, int) {}
	}
	w := &walk{p: p, o: o, designs: map[string]*design{}, fits: map[string][]*Projected{}, refs: p.Draws(o.Draws)}
	return w.run(ctx)
}

// walk is the state of PathOf.
type walk struct {
	p       *Problem
	o       PathOptions
	refs    []Reference
	designs map[string]*design
	fits    map[string][]*Projected // by set of terms, at refs

	of      []int // group of each draw
	count   int
	weights [][]float64 // by row: leave-one-out weights of refs
}

func (w *walk) run(ctx context.Context) (*Path, error) {
	p := w.p
	w.of, w.count = p.clusters(w.o.Clusters, rand.New(rand.NewPCG(w.o.Seed, 1)))
	out := &Path{Refs: w.refs}
	full := make([][]float64, p.rows())
	for i := range p.rows() {
		column := make([]float64, len(p.LogLik))
		for s := range p.LogLik {
			column[s] = p.LogLik[s][i]
		}
		weights, k := criticise.Weights(column, 1)
		full[i] = weights
		out.Reference, out.K = append(out.Reference, logMean(column, weights)), append(out.K, k)
		some := make([]float64, len(w.refs))
		for r, ref := range w.refs {
			some[r] = p.LogLik[ref.Draw][i]
		}
		some, _ = criticise.Weights(some, 1)
		w.weights = append(w.weights, some)
	}
	steps := w.o.Terms + 1
	if w.o.Validate {
		steps += p.rows()
	}
	order, err := p.search(ctx, p.averages(w.of, w.count, nil), w.o.Terms, w.designs)
	if err != nil {
		return nil, err
	}
	for size := range len(order) + 1 {
		fits, err := w.fitted(ctx, order[:size])
		if err != nil {
			return nil, err
		}
		step := Step{Term: -1, Divergence: meanDivergence(fits, w.refs), Projected: fits}
		if size > 0 {
			step.Term = order[size-1]
		}
		for i := range p.rows() {
			step.ELPD = append(step.ELPD, w.density(fits, i))
		}
		out.Steps = append(out.Steps, step)
		w.o.Done(size+1, steps)
	}
	if !w.o.Validate {
		return out, nil
	}
	for i := range p.rows() {
		own, err := p.search(ctx, p.averages(w.of, w.count, full[i]), w.o.Terms, w.designs)
		if err != nil {
			return nil, err
		}
		for size := range out.Steps {
			fits, err := w.fitted(ctx, own[:size])
			if err != nil {
				return nil, err
			}
			step := &out.Steps[size]
			step.ELPD[i] = w.density(fits, i)
			if size > 0 && slices.Contains(own[:size], step.Term) {
				step.Share += 1 / float64(p.rows())
			}
		}
		w.o.Done(len(order)+1+i+1, steps)
	}
	return out, nil
}

// fitted returns a submodel at the draws for the accuracy.
func (w *walk) fitted(ctx context.Context, terms []int) ([]*Projected, error) {
	key := setKey(terms)
	if w.fits[key] == nil {
		fits, err := w.p.project(ctx, w.p.design(terms, w.designs), w.refs)
		if err != nil {
			return nil, err
		}
		w.fits[key] = fits
	}
	return w.fits[key], nil
}

// density is the leave-one-out log density of a row.
func (w *walk) density(fits []*Projected, row int) float64 {
	values := make([]float64, len(fits))
	for r, f := range fits {
		values[r] = w.p.logLik(row, f.Predictor[row], f.SD)
	}
	return logMean(values, w.weights[row])
}

// logMean is the logarithm of the weighted mean of exp(x). The weights sum to 1.
func logMean(x, weights []float64) float64 {
	top := slices.Max(x)
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for i, v := range x {
		sum += weights[i] * math.Exp(v-top)
	}
	return top + math.Log(sum)
}

// Difference returns the estimated accuracy of a step relative to the reference, with its standard
// error.
func (p *Path) Difference(step int) criticise.Estimate {
	d := make([]float64, len(p.Reference))
	for i := range d {
		d[i] = p.Steps[step].ELPD[i] - p.Reference[i]
	}
	return criticise.Sum(d)
}

// Suggested returns the smallest size whose accuracy is not below that of the reference by more
// than one standard error; -1 if no size on the path is.
func (p *Path) Suggested() int {
	return slices.IndexFunc(p.Steps, func(s Step) bool {
		d := make([]float64, len(p.Reference))
		for i := range d {
			d[i] = s.ELPD[i] - p.Reference[i]
		}
		e := criticise.Sum(d)
		return e.Value+e.SE >= 0
	})
}
