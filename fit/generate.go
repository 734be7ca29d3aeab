package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/internal/goroutines"
	"github.com/ppl-lang/ppl/model"
)

// GenerateOptions are options of [Generate]. The zero value is the
// default.
type GenerateOptions struct {
	Seed     uint64 // for random numbers; these depend only on the seed, the chain and the index of the draw
	Parallel int    // goroutines; 0: GOMAXPROCS

	// Parameters maps parameters of the model to their names in the fit, where these differ; see
	// [model.Derived].Known.
	Parameters map[string]string

	// Each, if not nil, receives the values of each draw instead of a store, in the order of
	// [model.Posterior.GeneratedNames]. Use it for too many quantities to store. Chain and draw
	// count from 0. Several goroutines call it at a time, with draws in any order. It must not keep
	// values. An error ends the generation.
	Each func(chain, draw int, values []float64) error
}

// Generated is the result of [Generate].
type Generated struct {
	// Draws holds the generated quantities of each draw, without statistics, by
	// chain; nil with [GenerateOptions.Each].
	Draws *draws.Store

	// Failed is the number of draws at which the quantities could not be computed and are NaN.
	// Reason says why, at the first such draw.
	Failed int
	Reason error

	// Density is the result of comparing the quantities with the reference evaluator at a few
	// draws. If they were wrong, another program computed all of them.
	Density *folder.Density

	// Prior says that the draws are from the prior. Files record it.
	Prior bool

	// From is the folder of the run with the draws, relative to that of the files, which record it;
	// "": unknown.
	From string

	by map[string][]arrays.Factor // factors of the indices, see [Fit.VariableFactors]
}

// Generate computes the generated quantities of p at the draws of a fit with the same parameters. p
// may have other data, be a model with other generated quantities, or be derived from the fit's
// model. An error names a parameter that is missing in the fit or has another size.
func Generate(ctx context.Context, p *model.Posterior, f *Fit, o GenerateOptions) (_ *Generated, err error) {
	defer infer.Recover(&err)
	if err := cmp.Or(p.Err(), f.Err()); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, model.ErrNoContext
	}
	columns, err := parameterColumns(p, f, o.Parameters)
	if err != nil {
		return nil, err
	}
	names := p.GeneratedNames()
	out := &Generated{by: generatedFactors(p, f)}
	if o.Each == nil {
		contents := make([]*draws.Contents, f.Draws.Chains())
		for i := range contents {
			contents[i] = &draws.Contents{Columns: draws.Columns{Names: names}, Draws: make([]float64, f.Draws.Len(i)*len(names))}
		}
		o.Each = func(chain, draw int, values []float64) error {
			copy(contents[chain].Draws[draw*len(names):], values)
			return nil
		}
		if len(contents) > 0 {
			if out.Draws, err = draws.NewStoreFrom(nil, contents); err != nil {
				return nil, err
			}
		}
	}
	if p, out.Density, err = trustOutputs(ctx, p, f, columns, o); err != nil {
		return nil, err
	}
	type place struct{ chain, draw int }
	const block = 16 // draws that a goroutine takes at a time
	todo := make(chan place)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	first := place{math.MaxInt, 0}
	failed := func(at place, err error) {
		mu.Lock()
		defer mu.Unlock()
		out.Failed++
		if at.chain < first.chain || at.chain == first.chain && at.draw < first.draw {
			first, out.Reason = at, err
		}
	}
	work := func() {
		q := p.Clone()
		q.SetStop(ctx.Err)
		x := make([]float64, q.Dim())
		values := make([]float64, len(columns))
		dst := make([]float64, len(q.OutputNames()))
		own := dst[len(dst)-len(names):]
		for b := range todo {
			for draw := b.draw; draw < min(b.draw+block, f.Draws.Len(b.chain)); draw++ {
				if ctx.Err() != nil {
					return
				}
				_, row := f.Draws.Draw(b.chain, draw)
				for i, c := range columns {
					values[i] = row[c]
				}
				rng := rand.New(rand.NewPCG(o.Seed, uint64(b.chain)<<40|uint64(draw)))
				err := q.Compiled().UnconstrainRounded(values, f.rounded, x)
				if err == nil {
					err = q.Compiled().Generate(x, rng, dst)
				}
				var rejection *compile.Rejection
				switch {
				case ctx.Err() != nil:
					return
				case errors.As(err, &rejection) && rejection.Fatal():
					cancel(err)
					return
				case err != nil:
					failed(place{b.chain, draw}, err)
					for i := range own {
						own[i] = math.NaN()
					}
				}
				if err := o.Each(b.chain, draw, own); err != nil {
					cancel(err)
					return
				}
			}
		}
	}
	running := goroutines.Group{Failed: func() { cancel(errPanic) }}
	workers := o.Parallel
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range workers {
		running.Go(work)
	}
	func() {
		defer close(todo)
		for chain := range f.Draws.Chains() {
			for draw := 0; draw < f.Draws.Len(chain); draw += block {
				select {
				case todo <- place{chain, draw}:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	running.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return out, nil
}

// errPanic ends the other goroutines after one has panicked.
var errPanic = errors.New("another goroutine panicked")

// trustOutputs compares the generated quantities with the reference evaluator at three draws: the
// first, the last and one in the middle. It returns the posterior with a program that agrees.
func trustOutputs(ctx context.Context, p *model.Posterior, f *Fit, columns []int, o GenerateOptions) (*model.Posterior, *folder.Density, error) {
	bound := p.Compiled().Clone()
	bound.SetStop(ctx.Err)
	check := selfcheck.New(ctx, bound, p.Data(), o.Seed, 1, o.Parallel)
	var points [][]float64
	chains := f.Draws.Chains()
	for _, chain := range []int{0, chains / 2, chains - 1} {
		if chain < 0 || f.Draws.Len(chain) == 0 {
			continue
		}
		_, row := f.Draws.Draw(chain, (f.Draws.Len(chain)-1)*chain/max(chains-1, 1))
		values, x := make([]float64, len(columns)), make([]float64, p.Dim())
		for i, c := range columns {
			values[i] = row[c]
		}
		if bound.UnconstrainRounded(values, f.rounded, x) == nil {
			points = append(points, x)
		}
	}
	replaced, err := check.Outputs(ctx, points...)
	if err != nil {
		return nil, nil, err
	}
	if replaced {
		p = p.With(check.Bound())
	}
	return p, check.Record(), nil
}

// ParameterColumns finds the parameters of p among the columns of a fit.
func ParameterColumns(p *model.Posterior, f *Fit) ([]int, error) { return parameterColumns(p, f, nil) }

// Unconstrained returns the draws of a fit on the unconstrained scale of p, chain after chain.
func Unconstrained(p *model.Posterior, f *Fit) ([][]float64, error) {
	columns, err := ParameterColumns(p, f)
	if err != nil {
		return nil, err
	}
	var points [][]float64
	values := make([]float64, len(columns))
	for chain := range f.Draws.Chains() {
		for draw := range f.Draws.Len(chain) {
			_, row := f.Draws.Draw(chain, draw)
			for i, c := range columns {
				values[i] = row[c]
			}
			x, err := p.UnconstrainRounded(values, f.Rounded())
			if err != nil {
				return nil, fmt.Errorf("draw %d of chain %d: %w", draw+1, chain+1, err)
			}
			points = append(points, x)
		}
	}
	return points, nil
}

// parameterColumns is ParameterColumns for parameters that have other names in the fit.
func parameterColumns(p *model.Posterior, f *Fit, names map[string]string) ([]int, error) {
	at := map[string]int{}
	sizes := map[string]int{} // number of columns of each variable
	for i, n := range f.Draws.Names() {
		at[n] = i
		sizes[diagnose.VariableName(n)]++
	}
	var columns []int
	want := map[string]int{}
	parameters := slices.Clone(p.ParameterNames())
	for i, n := range parameters {
		base, rest, _ := strings.Cut(n, ".")
		if other := names[base]; other != "" {
			parameters[i] = strings.TrimSuffix(other+"."+rest, ".")
		}
	}
	for _, n := range parameters {
		want[diagnose.VariableName(n)]++
	}
	for _, n := range parameters {
		v := diagnose.VariableName(n)
		i, ok := at[n]
		switch {
		case sizes[v] == 0:
			return nil, fmt.Errorf("the fit has no %s, which is a parameter of %s", v, p.Name())
		case !ok || sizes[v] != want[v]:
			return nil, fmt.Errorf("the parameter %s has %d elements in %s with these data, but %d in the fit: of those that belong to single rows or groups, the draws say nothing of others; "+
				"predictions can draw these from their distribution in the model, as new levels", v, want[v], p.Name(), sizes[v])
		}
		columns = append(columns, i)
	}
	return columns, nil
}
