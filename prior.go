package ppl

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/predict"
)

// Prior is draws of the parameters of a model from their prior.
type Prior struct {
	*Fit

	// Direct says that the parameters were drawn from their priors one after
	// another, in the order of dependence, so that all draws are independent.
	// Otherwise the prior was sampled by Options.Sampler; Reason says why.
	Direct bool
	Reason string
}

// SamplePrior draws the parameters of a model from their prior, what the model
// says about data left out. Of the data, variables that the model draws need not
// be given. Options say how many draws of how many chains are made, with which
// seed, and how they are sampled if they cannot be drawn directly.
func (m *Model) SamplePrior(ctx context.Context, values any, b BindOptions, o Options) (*Prior, error) {
	set, err := ReadData(values)
	if err != nil {
		return nil, err
	}
	unknown := predict.Options{Unknown: m.NotGiven(set)}
	forward, err := m.DeriveWith(predict.Forward, unknown)
	var not *predict.NotForwardError
	switch {
	case errors.As(err, &not):
	case err != nil:
		return nil, err
	default:
		p, err := forward.BindContext(ctx, set, b)
		if err != nil {
			return nil, err
		}
		count := func(v, standard int) int {
			switch {
			case v < 0:
				return 0
			case v == 0:
				return standard
			}
			return v
		}
		chains, n := count(o.Chains, 4), count(o.Draws, 1000)
		thin := max(o.Thin, 1)
		f, err := p.simulate(ctx, chains, (n+thin-1)/thin, o.Seed, o.Parallel)
		if err != nil {
			return nil, err
		}
		f.prior = true
		return &Prior{Fit: f, Direct: true}, nil
	}
	derived, err := m.DeriveWith(predict.Prior, unknown)
	if err != nil {
		return nil, err
	}
	p, err := derived.BindContext(ctx, set, b)
	if err != nil {
		return nil, err
	}
	f, err := Sample(ctx, p, o)
	if f == nil {
		return nil, err
	}
	f.prior = true
	return &Prior{Fit: f, Reason: not.Reason}, err
}

// NotGiven lists the variables that a model draws, the variates of its statements
// on data, and that a set does not have.
func (m *Model) NotGiven(set *data.Set) []string {
	var out []string
	if m.missing() != nil || set == nil {
		return nil
	}
	d, err := predict.Derive(m.program, predict.Replicated, predict.Options{})
	if err != nil {
		return nil
	}
	for _, o := range d.Outputs {
		if o.Data && !slices.Contains(set.Names(), o.Variable) {
			out = append(out, o.Variable)
		}
	}
	return out
}

// simulate computes the generated quantities of a posterior without parameters
// time and again.
func (p *Posterior) simulate(ctx context.Context, chains, n int, seed uint64, parallel int) (*Fit, error) {
	contents := make([]*draws.Contents, chains)
	for i := range contents {
		// A column that no model has, as a store of none has no draws.
		contents[i] = &draws.Contents{Columns: draws.Columns{Names: []string{"none"}}, Draws: make([]float64, n)}
	}
	store, err := draws.NewStoreFrom(make([]string, chains), contents)
	if err != nil {
		return nil, err
	}
	g, err := p.GenerateFrom(ctx, &Fit{Draws: store}, GenerateOptions{Seed: seed, Parallel: parallel})
	if err != nil {
		return nil, err
	}
	return g.Fit(), nil
}

// Fit is the generated quantities as a fit of their own, for its summary and
// files; nil with [GenerateOptions.Each].
func (g *Generated) Fit() *Fit {
	if g.Draws == nil {
		return nil
	}
	f := &Fit{Draws: g.Draws, labels: g.labels, prior: g.Prior, config: infer.Config{Chains: g.Draws.Chains(), Thin: 1, FirstID: 1}}
	f.labelled.Do(func() {}) // they are known
	for i := range g.Draws.Chains() {
		f.config.Draws = max(f.config.Draws, g.Draws.Len(i))
		r := infer.ChainReport{Chain: i, ID: i + 1, Started: true, Sampling: infer.Phase{Transitions: g.Draws.Len(i)}}
		if i == 0 {
			r.Ungenerated = g.Failed
			if g.Reason != nil {
				r.UngeneratedReason = g.Reason.Error()
			}
		}
		f.Report.Chains = append(f.Report.Chains, r)
	}
	return f
}

// The setting of CmdStan's files that says which draws quantities were generated from, and its
// value where these are of the prior.
const (
	fittedParams = "fitted_params"
	fromPrior    = "prior"
)

// WriteCSV writes the generated quantities as CSV files, one per chain, in the
// format of CmdStan's method generate_quantities; base "out/fit" makes
// out/fit_1.csv and so on. It returns their names.
func (g *Generated) WriteCSV(base, model string, seed uint64) ([]string, error) {
	var files []string
	for chain := range g.Draws.Chains() {
		path, err := g.writeChain(base, model, seed, chain)
		if err != nil {
			return files, err
		}
		files = append(files, path)
	}
	return files, nil
}

func (g *Generated) writeChain(base, model string, seed uint64, chain int) (string, error) {
	id := strconv.Itoa(chain + 1)
	path := base + "_" + id + ".csv"
	method := draws.Setting{Name: "method", Value: "generate_quantities"}
	if g.Prior {
		method.Children = []draws.Setting{{Name: "generate_quantities", Group: true, Children: []draws.Setting{{Name: fittedParams, Value: fromPrior}}}}
	}
	file, err := draws.Create(path, draws.Header{
		Columns: g.Draws.Columns(),
		Config: draws.Configuration{
			Model: model, Program: "ppl " + Version(), Method: method,
			ID: chain + 1, Seed: seed,
		}.Settings(path),
	})
	if err != nil {
		return "", err
	}
	defer file.Close()
	if err := writeRows(file, g.Draws, chain); err != nil {
		return "", err
	}
	return path, file.Finish(draws.Elapsed{})
}
