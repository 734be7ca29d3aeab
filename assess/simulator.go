package assess

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// SimulatorOptions are options of [NewSimulator]. The zero value is the default.
type SimulatorOptions struct {
	// Params are the parameters from which all data sets are made, in a form that [fit.At] takes.
	// If nil, each data set has its own draw from the prior.
	Params any

	// Program is a separate model that simulates the data: its generated quantities have the names
	// of data variables, and its parameters are the model's. If nil, the model's statements draw
	// the data. Use it for data that no statement describes, such as censored ones.
	Program *model.Model

	Warmup int // number of warm-up transitions if the prior must be sampled; 0: 1000
	Bind   model.BindOptions
}

// Simulator makes data sets according to the statements of a model. Only one goroutine may use it
// at a time.
type Simulator struct {
	// Direct says that the parameters were given, or drawn from their priors one after another.
	// Otherwise the prior was sampled by NUTS, and Reason says why.
	Direct bool
	Reason string

	model     *model.Model
	separate  bool // another program draws the data
	values    *data.Set
	prior     *fit.Fit // draws of the parameters; only one if they were given
	given     bool
	columns   []int
	derived   *model.Derived
	replicate *model.Posterior
	missing   map[string][]int // elements of the data that are missing and drawn
	seed      uint64
}

// maxSets is the maximum number of data sets of a simulator, which draws the parameters of all sets
// in advance.
const maxSets = 100_000_000

// NewSimulator prepares to make a number of data sets. values has the sizes and covariates of the
// data sets. It need not include the variables that the model's statements draw. Parameters are
// drawn by [SamplePrior] unless they are given.
//
// Simulators with the same seed and different numbers of sets begin with the same sets.
func NewSimulator(ctx context.Context, m *model.Model, values any, sets int, seed uint64, o SimulatorOptions) (*Simulator, error) {
	if sets > maxSets {
		return nil, fmt.Errorf("ppl: %d data sets: a simulator makes up to %d", sets, maxSets)
	}
	set, err := model.ReadData(values)
	if err != nil {
		return nil, err
	}
	set = m.Program().Flattened(set)
	s := &Simulator{model: m, separate: o.Program != nil, values: set, seed: seed, Direct: true}
	if o.Program != nil {
		s.derived, err = madeBy(m, o.Program)
	} else if s.derived, err = replicatedWhole(m, set); err == nil {
		err = uncut(m, set)
	}
	if err != nil {
		return nil, err
	}
	s.missing = map[string][]int{}
	for _, out := range s.derived.Outputs {
		s.missing[out.Variable] = m.Program().Missing(set, out.Variable)
	}
	if s.replicate, err = s.derived.BindContext(ctx, set, o.Bind); err != nil {
		return nil, err
	}
	if o.Params != nil {
		s.given = true
		s.prior, err = fit.At(s.replicate, o.Params, 1)
	} else {
		err = s.drawPrior(ctx, m, sets, o)
	}
	if err != nil {
		return nil, err
	}
	s.columns, err = fit.ParameterColumns(s.replicate, s.prior)
	return s, err
}

// replicatedWhole derives the program that draws all data of a model.
func replicatedWhole(m *model.Model, set *data.Set) (*model.Derived, error) {
	d, err := m.DeriveReplicated(set)
	if err != nil {
		return nil, err
	}
	if len(d.Left) > 0 {
		return nil, fmt.Errorf("the model does not say how all of its data arise: %s; a separate program can simulate them", d.Left[0])
	}
	for _, out := range d.Outputs {
		if !out.Data {
			return nil, fmt.Errorf("%s is computed from the data, so that data that have it cannot be simulated", out.Variable)
		}
	}
	return d, nil
}

// madeBy prepares a separate program that simulates the data of a model. The program must generate
// all variables that the model's statements draw, and may generate other data.
func madeBy(m *model.Model, program *model.Model) (*model.Derived, error) {
	if err := cmp.Or(m.Err(), program.Err()); err != nil {
		return nil, err
	}
	d := &model.Derived{Model: program}
	made := program.Program().IR().GeneratedQuantityVars
	for _, v := range m.Program().IR().Data {
		if slices.ContainsFunc(made, func(g *ir.Var) bool { return g.Name == v.Name }) {
			d.Outputs = append(d.Outputs, predict.Output{Name: v.Name, Variable: v.Name, Data: true})
		}
	}
	for _, name := range m.NotGiven(data.Empty()) {
		if !slices.ContainsFunc(d.Outputs, func(o predict.Output) bool { return o.Variable == name }) {
			return nil, fmt.Errorf("%s does not make %s: it must be one of its generated quantities, as the model's statements are about it", program.Name(), name)
		}
	}
	if d.Outputs == nil {
		return nil, fmt.Errorf("%s makes none of the data of %s: its generated quantities must have their names", program.Name(), m.Name())
	}
	return d, nil
}

// drawPrior draws the parameters of all sets.
func (s *Simulator) drawPrior(ctx context.Context, m *model.Model, sets int, o SimulatorOptions) error {
	// The draws of a longer run begin with those of a shorter one, so that the first sets do not
	// depend on the number of sets. There are enough draws to see whether the prior is proper. They
	// are thinned because the draws of NUTS are autocorrelated.
	const chains, thin, least = 4, 10, 250
	per := max((sets+chains-1)/chains, least)
	prior, err := SamplePrior(ctx, m, s.values, o.Bind, fit.Options{Chains: chains, Warmup: o.Warmup, Draws: per * thin, Thin: thin, Seed: s.seed})
	if err != nil {
		return fmt.Errorf("draws from the prior: %w", err)
	}
	if s.prior, s.Direct, s.Reason = prior.Fit, prior.Direct, prior.Reason; s.Direct {
		return nil
	}
	for _, r := range s.prior.Summary() {
		if r.Rhat > 1.05 {
			return fmt.Errorf("the prior cannot be drawn from: the R-hat of %s is %.3f. Data can be simulated from proper priors of all parameters, without very long tails", r.Name, r.Rhat)
		}
	}
	return nil
}

// Set makes data set n, counted from 0, and returns it with the parameters behind it. It does not
// depend on the other sets. An error says that this set cannot be made, for instance because the
// draw from the prior is too extreme; other sets may succeed.
func (s *Simulator) Set(n int) (values, params *data.Set, err error) {
	chain, draw := n%s.prior.Draws.Chains(), n/s.prior.Draws.Chains()
	if s.given {
		chain, draw = 0, 0
	}
	if n < 0 || draw >= s.prior.Draws.Len(chain) {
		return nil, nil, fmt.Errorf("there is no data set %d of this simulator", n)
	}
	_, row := s.prior.Draws.Draw(chain, draw)
	truth := make([]float64, len(s.columns))
	for i, c := range s.columns {
		truth[i] = row[c]
	}
	x, err := s.replicate.UnconstrainValues(truth)
	if err != nil {
		return nil, nil, err
	}
	dst := make([]float64, len(s.replicate.OutputNames()))
	if err := s.replicate.Generate(x, rand.New(rand.NewPCG(s.seed, uint64(n))), dst); err != nil {
		return nil, nil, fmt.Errorf("simulated data: %w", err)
	}
	names := s.replicate.GeneratedNames()
	if values, err = redrawn(s.replicate, s.values, s.derived, names, dst[len(dst)-len(names):]); err != nil {
		return nil, nil, err
	}
	if !s.separate {
		values = censoredAnew(s.model, s.values, values)
	}
	known := slices.Clone(s.replicate.ParameterNames())
	for _, out := range s.derived.Outputs { // what is missing in the data is a parameter in these data too
		v, _ := values.Get(out.Variable)
		for _, e := range s.missing[out.Variable] {
			known, truth = append(known, out.Variable+indices(v.Shape, e)), append(truth, v.Reals[e])
		}
	}
	if len(known) > len(s.columns) {
		values = values.With(func(name string, v data.Value) data.Value {
			if at := s.missing[name]; len(at) > 0 {
				v.IsInt, v.Ints, v.Reals = false, nil, slices.Clone(v.Reals)
				for _, e := range at {
					v.Reals[e] = math.NaN()
				}
			}
			return v
		})
	}
	// Discrete parameters are drawn with the data.
	whole := map[string]bool{}
	for name := range s.derived.Program().Discretes() {
		whole[name] = true
	}
	for i, n := range names {
		if whole[diagnose.VariableName(n)] {
			known, truth = append(known, n), append(truth, dst[len(dst)-len(names)+i])
		}
	}
	flatten(known, slices.Concat(s.derived.Program().IR().Parameters, s.derived.Program().IR().GeneratedQuantityVars))
	params, err = setOf(known, truth, whole)
	return values, params, err
}

// indices writes the indices of an element of an array, as in .2.3.
func indices(shape []int, e int) (text string) {
	for d := len(shape) - 1; d >= 0; d-- {
		text = fmt.Sprintf(".%d", e%shape[d]+1) + text
		e /= shape[d]
	}
	return text
}
