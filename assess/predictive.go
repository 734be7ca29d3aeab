package assess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// Predictive compares the data with what the model predicts for them.
type Predictive struct {
	Variables []PredictiveVariable
	Left      []predict.Left // statements on data that cannot be replicated

	// Prior says that the draws are from the prior. The predictions then do not use the data, and
	// no observation is predicted from the others.
	Prior bool

	// For draws from the prior, Failed is the number of draws, of all Draws, at which no data could
	// be drawn, and Reason the error at the first of them. For draws from a posterior, any such
	// error ends the computation.
	Failed, Draws int
	Reason        error

	// Redrawn lists the parameters that replications draw anew. Kept lists those that describe a
	// population but keep the values of each draw, and KeptReason says why they could not be drawn
	// anew, if they were to be.
	Redrawn, Kept []string
	KeptReason    error

	// NoPIT says why no PIT is computed for a model with discrete parameters.
	NoPIT error
}

// PredictiveOptions are options of [PredictiveOf]. The zero value is the default.
type PredictiveOptions struct {
	Seed uint64

	// By names columns of the data whose values define groups of rows. X names a column whose range
	// is divided into intervals. Each group and interval is compared with its replications.
	By []string
	X  string

	// Quantities, if not nil, holds the replications: generated quantities at the draws of the fit,
	// each named after the variable that it replicates, as y_rep is.
	Quantities *fit.Fit

	// Redraw names parameters that each replication draws anew from their distribution in the
	// model, such as the effects of groups: it is then about new groups. RedrawVarying asks for all
	// parameters of [predict.Varying], if they can be drawn. Calibration is not judged with redrawn
	// parameters.
	Redraw        []string
	RedrawVarying bool

	// VPC, if not nil, asks for visual predictive checks with By as strata, instead of all others.
	// X is not used.
	VPC *VPCOptions

	// Statistic is the statistic compared for each group, one of [criticise.Statistics]. "": the
	// mean.
	Statistic string
}

// PredictiveVariable is a data variable in a [Predictive].
type PredictiveVariable struct {
	Name         string
	Observations int
	Counts       bool // the values are integers

	// Partial says that some values, such as censored ones, cannot be replicated. Then nothing is
	// compared: all fields below are nil.
	Partial bool
	Checks  []criticise.Check

	// Survival compares survival curves instead, if some values are censored.
	Survival *Survival

	// Frequencies compares how often each value of a count occurs; nil if there are at most two.
	Frequencies *Counts

	// VPC is the visual predictive check, if it was asked for. NoVPC says why there is none.
	VPC   *VPC
	NoVPC error

	// Constant is the share of the replications in which all observations are equal.
	Constant float64

	// Groups has the comparison of groups of rows, if it was asked for and the variable has these
	// rows.
	Groups *Groups

	// PIT has the probability integral transform of each observation given the others. For discrete
	// distributions it is randomised between the two sides of each step. If there are many
	// observations, PIT is for an equally spaced subset. It is nil if single observations have no
	// separate likelihoods.
	PIT     []float64
	Uniform *criticise.Uniformity // of the values in PIT
	K       []float64             // Pareto k of the importance weights used for each value of PIT

	// Observed has the data, and Replicated some of the replicated data sets. Shown lists their
	// observations, counted from 0: all or, if there are many, an equally spaced subset.
	Shown      []int
	Observed   []float64
	Replicated [][]float64
}

// The maximum number of replicated data sets that are kept for display, and of observations in
// each.
const (
	shownSets         = 20
	shownObservations = 5000
)

// maxPIT is the maximum number of observations whose PIT is computed, because that needs a matrix
// of draws × observations.
const maxPIT = 1000

// PredictiveOf replicates the data at every draw of the fit and compares them with the observed
// data. An error says why the data cannot be replicated. If the draws are from the prior, there may
// be no data; then all observed values are NaN.
func PredictiveOf(ctx context.Context, f *fit.Fit, o PredictiveOptions) (*Predictive, error) {
	m, values, err := fitted(f)
	if err != nil {
		return nil, err
	}
	if o.Quantities != nil {
		if err := cmp.Or(o.Quantities.Err(), sameDraws(f, o.Quantities)); err != nil {
			return nil, err
		}
		return predictiveOf(ctx, f, m, values, f.Binding(), o)
	}
	if derived, err := m.DeriveWith(predict.Replicated, predict.Options{Complete: true, Cut: true}); err != nil || len(derived.Left) > 0 {
		if replicates(values, f) != nil {
			o.Quantities = f
		}
	}
	return predictiveOf(ctx, f, m, values, f.Binding(), o)
}

// repSuffix is the end of the name of a quantity that replicates a variable.
const repSuffix = "_rep"

// replicates lists the generated quantities of a fit that replicate data, as outputs of a derived
// model. Each has the elements of the variable after which it is named.
func replicates(values *data.Set, f *fit.Fit) (out []predict.Output) {
	count := map[string]int{}
	for _, n := range f.Names() {
		count[diagnose.VariableName(n)]++
	}
	for _, name := range values.Names() {
		v, ok := values.Get(name)
		if n := count[name+repSuffix]; ok && n > 0 && n == v.Size() {
			out = append(out, predict.Output{Name: name + repSuffix, Variable: name, Data: true})
		}
	}
	return out
}

// predictiveOf is PredictiveOf for draws that are stored without their model and data.
func predictiveOf(ctx context.Context, f *fit.Fit, m *model.Model, values *data.Set, b model.BindOptions, o PredictiveOptions) (*Predictive, error) {
	if m != nil {
		values = m.Program().Flattened(values)
	}
	r := &replication{fit: f, model: m, values: values, redraw: o.Redraw, onlyVisual: o.VPC != nil}
	var left []predict.Left
	var err error
	if o.VPC == nil {
		if r.grouping, err = newGrouping(values, o); err != nil {
			return nil, err
		}
	}
	if err := r.chooseRedrawn(m, o); err != nil {
		return nil, err
	}
	if o.Quantities != nil {
		err = r.given(o.Quantities)
	} else {
		left, err = r.derive(ctx, m, b)
		if err != nil && o.RedrawVarying && len(r.redraw) > 0 && ctx.Err() == nil {
			reason := err
			r.redraw, r.variables = nil, nil
			if left, err = r.derive(ctx, m, b); err == nil {
				r.keptReason = reason
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if o.VPC != nil {
		if err := r.visual(ctx, m, b, o); err != nil {
			return nil, err
		}
	}
	if err := r.grouping.used(r.variables); err != nil {
		return nil, err
	}
	if !f.FromPrior && len(r.redraw) == 0 && o.VPC == nil {
		r.likelihoods(ctx, values, b)
	}
	if err := r.run(ctx, o.Seed); err != nil {
		return nil, err
	}
	p := &Predictive{Left: left, NoPIT: r.noPIT, Prior: f.FromPrior, Failed: r.failed, Draws: r.draws, Reason: r.reason, Redrawn: r.redraw, KeptReason: r.keptReason}
	p.Kept = slices.DeleteFunc(slices.Clone(r.varying), func(name string) bool { return slices.Contains(r.redraw, name) })
	rng := rand.New(rand.NewPCG(o.Seed, 0x706974))
	for _, v := range r.variables {
		if p.partial(v.name) || v.event != nil && v.curves == nil && len(v.picked) == 0 {
			part := PredictiveVariable{Name: v.name, Observations: len(v.y), Counts: v.counts, Partial: true, NoVPC: v.noVisual}
			if !p.partial(v.name) {
				part.VPC = v.visual.finish(v.y)
			} else if v.visual != nil {
				part.NoVPC = errors.New("some of its values are not replicated")
			}
			p.Variables = append(p.Variables, part)
			continue
		}
		p.Variables = append(p.Variables, v.finish(r, rng))
	}
	return p, nil
}

// derive finds the replications that follow from the model's statements.
func (r *replication) derive(ctx context.Context, m *model.Model, b model.BindOptions) ([]predict.Left, error) {
	options := predict.Options{Complete: true, Cut: true, Anew: r.fit.FromPrior}
	if r.fit.FromPrior {
		options.Unknown = m.NotGiven(r.values)
	}
	var err error
	if options.Grown, err = fit.Redrawn(r.fit, m.Program().IR(), r.redraw); err != nil {
		return nil, err
	}
	options.NewLevels = predict.SampleNewLevels
	derived, err := m.DeriveWith(predict.Replicated, options)
	if err != nil {
		return nil, fmt.Errorf("the data cannot be replicated: %w", err)
	}
	if r.posterior, err = derived.BindContext(ctx, r.values, b); err != nil {
		return nil, err
	}
	r.names, r.parameters = r.posterior.GeneratedNames(), derived.Known
	var computed []string
	for _, out := range derived.Outputs {
		if _, given := r.values.Get(out.Variable); !given && !out.Data && !slices.ContainsFunc(out.From, func(name string) bool { return slices.Contains(options.Unknown, name) }) {
			computed = append(computed, out.Variable)
		}
	}
	if computed != nil {
		own, err := m.TransformedData(ctx, r.values, b, computed...)
		if err != nil {
			return nil, err
		}
		r.values = r.values.Replace(own, nil)
	}
	if slices.ContainsFunc(derived.Outputs, func(o predict.Output) bool { return o.Limited && !slices.Contains(options.Unknown, o.Variable) }) {
		recorded, err := m.Recorded(ctx, r.values, b)
		if err != nil {
			return nil, err
		}
		values := m.Program().Flattened(r.values)
		r.values = withRows(values.Replace(recorded, nil), values)
	}
	for _, out := range derived.Outputs {
		if err := r.add(out); err != nil {
			return nil, err
		}
	}
	if err := r.onlyDrawn(ctx, m, b); err != nil {
		return nil, err
	}
	return derived.Left, r.censor(ctx, m, derived, b)
}

// given finds the replications among generated quantities.
func (r *replication) given(quantities *fit.Fit) error {
	r.quantities, r.names = quantities, quantities.Names()
	all := replicates(r.values, quantities)
	if all == nil {
		return errors.New("no generated quantity replicates a variable of the data: one with the elements of y is named y_rep")
	}
	for _, out := range all {
		if err := r.add(out); err != nil {
			return err
		}
	}
	return nil
}

// replication is the state of a call of PredictiveOf.
type replication struct {
	fit        *fit.Fit
	model      *model.Model
	posterior  *model.Posterior // draws the replications; nil: they are among quantities
	quantities *fit.Fit
	values     *data.Set
	names      []string
	variables  []*replicated
	grouping   *grouping

	onlyVisual bool              // nothing but visual predictive checks is made
	redraw     []string          // parameters that are drawn anew
	varying    []string          // parameters that describe a population
	unknown    []predict.Left    // statements on data whose expected value is not known, after expected
	keptReason error             // why parameters that were to be drawn anew are not
	parameters map[string]string // see [fit.GenerateOptions]

	draws, failed int
	reason        error

	logLik *LogLik
	ll     *criticise.Matrix // log likelihoods of the observations whose PIT is computed
	alone  *alone
	noPIT  error // why there is no PIT of a model with discrete parameters
}

// replicated is a variable with its replications.
type replicated struct {
	name       string
	counts     bool
	columns    []int // columns of the variable's elements among the generated quantities
	elements   []string
	y          []float64
	statistics []string    // names; only "value" if the data are a single number
	results    [][]float64 // each statistic's value at every draw
	rows       []int       // row of each element; of ragged data, its place among those of all rows
	row        []int       // of ragged data, the number of the row at each place; else nil
	outer      int         // of ragged data, the number of rows
	at         []int       // position of each element in the values of the variable
	length     int         // number of rows of the variable; 0: not known
	declared   *ir.Var     // its declaration, among data; nil: not known
	program    *ir.Program // of the declaration
	groups     *groupResults

	dist    string
	event   []bool    // which elements are not censored; nil if all are
	side    []float64 // by element, -1 if it is censored from below, 1 from above, 2 if it is in an interval, else 0; nil if none is
	last    []float64 // by element, the upper end of its interval if it is in one; nil if no element is censored
	curves  *survivalResults
	counted *countResults

	visual   *vpcResults
	noVisual error

	shown []int // observations in the kept data sets
	sets  [][]float64

	picked []int // observations whose PIT is computed
	likely []int // indices of the picked observations in logLik
	yrep   *criticise.Matrix
}

// add finds the elements of a variable that can be replicated.
func (r *replication) add(out predict.Output) error {
	values := r.values
	if r.model != nil {
		values = r.model.Program().Flattened(values)
	}
	value, ok := values.Get(out.Variable)
	if !ok && !r.fit.FromPrior {
		return fmt.Errorf("the data have no %s", out.Variable)
	}
	var missing []int
	if r.model != nil {
		missing = r.model.Program().Missing(values, out.Variable)
	}
	v := &replicated{name: out.Variable, counts: value.IsInt, dist: out.Dist}
	if r := value.Ragged; ok && r != nil {
		v.row, v.outer = r.Each(), len(r.Sizes)
		v.length = len(v.row)
	} else if ok && len(value.Shape) > 0 {
		v.length = value.Shape[0]
	}
	if r.model != nil {
		v.program = r.model.Program().IR()
		if i := slices.IndexFunc(v.program.Data, func(d *ir.Var) bool { return d.Name == v.name }); i >= 0 {
			v.declared = v.program.Data[i]
		}
	}
	for i, name := range r.names {
		if diagnose.VariableName(name) != out.Name {
			continue
		}
		suffix := strings.TrimPrefix(name, out.Name)
		y, at := math.NaN(), 0
		if ok {
			var whole bool
			at, whole = offset(suffix, value.Shape, value.Ragged)
			if !whole || at >= len(value.Reals) {
				return nil // tuples and complex numbers are not compared
			}
			if slices.Contains(missing, at) {
				continue
			}
			y = value.Reals[at]
		}
		row := 0
		if parts := strings.Split(suffix, "."); v.row != nil {
			row = placeOf(at, value) + 1
		} else if len(parts) > 1 {
			row, _ = strconv.Atoi(parts[1]) // 0 for a tuple without data
		}
		v.columns, v.rows = append(v.columns, i), append(v.rows, row-1)
		v.elements = append(v.elements, diagnose.DisplayName(out.Variable+suffix))
		v.y, v.at = append(v.y, y), append(v.at, at)
	}
	if len(v.y) == 0 {
		return nil
	}
	v.statistics = []string{"value"}
	if len(v.y) > 1 {
		v.statistics = criticise.Statistics(v.counts && slices.Contains(v.y, 0))
	}
	r.variables = append(r.variables, v)
	return nil
}

// offset converts the indices of an element, such as .2.3, to its offset in an array in row-major
// order. The array may consist of rows that follow one another; nil if it does not.
func offset(suffix string, shape []int, rows *data.Rows) (int, bool) {
	if suffix == "" {
		return 0, len(shape) == 0
	}
	var is []int
	for p := range strings.SplitSeq(strings.TrimPrefix(suffix, "."), ".") {
		i, err := strconv.Atoi(p)
		if err != nil {
			return 0, false
		}
		is = append(is, i-1)
	}
	if rows != nil && len(is) == len(rows.Outer)+len(shape) {
		row := 0
		for d, n := range rows.Outer {
			row = row*n + is[d]
		}
		is = is[len(rows.Outer):]
		for _, n := range rows.Sizes[:row] {
			is[rows.At] += n
		}
	}
	if len(is) != len(shape) {
		return 0, false
	}
	at := 0
	for d, i := range is {
		at = at*shape[d] + i
	}
	return at, true
}

// likelihoods finds the elements that have a separate log likelihood.
func (r *replication) likelihoods(ctx context.Context, values *data.Set, b model.BindOptions) {
	l, err := r.givenLikelihoods(ctx)
	if l == nil && r.model.Program().Discrete() {
		if r.noPIT = r.drawAlone(ctx, values, b); r.noPIT != nil {
			return
		}
	}
	if l == nil {
		l, err = LogLikOf(ctx, r.fit, LogLikOptions{Derive: true})
	}
	if err != nil {
		return
	}
	place := map[string]int{}
	for i, n := range l.Names {
		place[n] = i
	}
	for _, v := range r.variables {
		var own, likely []int
		for i, e := range v.elements {
			if at, ok := place[e]; ok {
				own, likely = append(own, i), append(likely, at)
			}
		}
		step := max(1, (len(own)+maxPIT-1)/maxPIT)
		for i := 0; i < len(own); i += step {
			v.picked, v.likely = append(v.picked, own[i]), append(v.likely, likely[i])
		}
	}
	r.logLik = l
}

// givenLikelihoods returns the log likelihoods that were generated with the replications; nil if
// there are none with an element for each of these.
func (r *replication) givenLikelihoods(ctx context.Context) (*LogLik, error) {
	if r.quantities == nil || len(r.variables) != 1 {
		return nil, nil
	}
	l, err := LogLikOf(ctx, r.fit, LogLikOptions{Name: logLikName, Quantities: r.quantities})
	if err != nil || len(l.Names) != len(r.variables[0].elements) {
		return nil, nil
	}
	l.Names = r.variables[0].elements
	return l, nil
}

// run replicates the data at all draws.
func (r *replication) run(ctx context.Context, seed uint64) error {
	var chains []int
	for c := range r.fit.Draws.Chains() {
		chains = append(chains, r.fit.Draws.Len(c))
	}
	draws, picked := 0, 0
	for _, n := range chains {
		draws += n
	}
	if draws == 0 {
		return errors.New("the fit has no draws")
	}
	for _, v := range r.variables {
		v.results = make([][]float64, len(v.statistics))
		for s := range v.results {
			v.results[s] = make([]float64, draws)
		}
		for i := 0; i < len(v.y); i += (len(v.y) + shownObservations - 1) / shownObservations {
			v.shown = append(v.shown, i)
		}
		v.sets = make([][]float64, min(shownSets, draws))
		v.yrep = criticise.NewMatrix(chains, len(v.picked))
		picked += len(v.picked)
		if v.visual.prepare(draws); r.onlyVisual {
			v.statistics, v.results = nil, nil
			continue
		}
		if v.event != nil {
			v.statistics, v.results = nil, nil
			v.curves = r.grouping.survival(v, draws)
			continue
		}
		v.groups = r.grouping.results(v, draws)
		v.counted = newCountResults(v, draws)
	}
	rows := criticise.NewMatrix(chains, 0)
	generated, err := r.each(ctx, seed, func(chain, draw int, values []float64) error {
		at := rows.Row(chain, draw)
		for _, v := range r.variables {
			y := make([]float64, len(v.columns))
			for i, c := range v.columns {
				y[i] = values[c]
			}
			for k, i := range v.picked {
				if r.alone == nil {
					v.yrep.Columns[k][at] = y[i]
				}
			}
			if set, ok := keptSet(at, draws, len(v.sets)); ok {
				for _, i := range v.shown {
					v.sets[set] = append(v.sets[set], y[i])
				}
			}
			v.visual.add(at, y)
			v.groups.add(at, y)
			v.counted.add(at, y)
			v.curves.add(at, y, seed)
			for s, value := range v.describe(y) {
				v.results[s][at] = value
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.draws = draws; r.fit.FromPrior && generated.Failed < draws {
		r.failed, r.reason = generated.Failed, generated.Reason
	} else if generated.Failed > 0 {
		return fmt.Errorf("the data cannot be replicated at %d draws: %w", generated.Failed, generated.Reason)
	}
	if picked == 0 {
		return nil
	}
	if r.alone != nil {
		if r.noPIT = r.alone.run(ctx, r, seed); r.noPIT != nil {
			for _, v := range r.variables {
				v.picked = nil
			}
			return nil
		}
	}
	r.ll = criticise.NewMatrix(chains, picked)
	return r.logLik.each(ctx, func(chain, draw int, row []float64) error {
		at, k := r.ll.Row(chain, draw), 0
		for _, v := range r.variables {
			for _, i := range v.likely {
				r.ll.Columns[k][at] = row[i]
				k++
			}
		}
		return nil
	})
}

// each calls f with the replications at each draw, possibly from several goroutines at a time.
func (r *replication) each(ctx context.Context, seed uint64, f func(chain, draw int, values []float64) error) (*fit.Generated, error) {
	if r.posterior != nil {
		return fit.Generate(ctx, r.posterior, r.fit, fit.GenerateOptions{Seed: seed, Each: f, Parameters: r.parameters})
	}
	store := r.quantities.Draws
	for chain := range store.Chains() {
		for draw := range store.Len(chain) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			_, values := store.Draw(chain, draw)
			if err := f(chain, draw, values); err != nil {
				return nil, err
			}
		}
	}
	return &fit.Generated{}, nil
}

// keptSet reports whether the replication at a draw is kept, and the index of its data set. The
// kept draws are equally spaced.
func keptSet(draw, draws, sets int) (set int, ok bool) {
	set = draw * sets / draws
	return set, draw == (set*draws+sets-1)/sets
}

// describe computes the statistics of data y, and sorts y.
func (v *replicated) describe(y []float64) []float64 {
	if len(v.statistics) == 0 {
		return nil
	}
	if len(y) == 1 {
		return y
	}
	dst := make([]float64, len(v.statistics))
	criticise.Describe(y, dst)
	return dst
}

// finish compares the data with their replications.
func (v *replicated) finish(r *replication, rng *rand.Rand) PredictiveVariable {
	p := PredictiveVariable{Name: v.name, Observations: len(v.y), Counts: v.counts, Shown: v.shown, Replicated: v.sets, VPC: v.visual.finish(v.y), NoVPC: v.noVisual}
	for _, i := range v.shown {
		p.Observed = append(p.Observed, v.y[i])
	}
	for s, observed := range v.describe(slices.Clone(v.y)) {
		p.Checks = append(p.Checks, criticise.NewCheck(v.statistics[s], observed, v.results[s]))
	}
	if least, greatest := slices.Index(v.statistics, "min"), slices.Index(v.statistics, "max"); least >= 0 {
		for d, x := range v.results[least] {
			if x == v.results[greatest][d] {
				p.Constant += 1 / float64(len(v.results[least]))
			}
		}
	}
	p.Groups = v.groups.finish(v.y)
	p.Frequencies = v.counted.finish(v.y)
	p.Survival = v.curves.finish()
	if len(v.picked) == 0 {
		return p
	}
	first := 0
	for _, w := range r.variables {
		if w == v {
			break
		}
		first += len(w.picked)
	}
	for k, i := range v.picked {
		weights, shape := criticise.Weights(r.ll.Columns[first+k], 1)
		below, upTo := criticise.PIT(v.y[i], v.yrep.Columns[k], weights)
		if v.side != nil {
			switch v.side[i] {
			case -1: // the value is anywhere below
				below = 0
			case 1:
				upTo = 1
			case 2:
				_, upTo = criticise.PIT(v.last[i], v.yrep.Columns[k], weights)
			}
		}
		u := below + rng.Float64()*(upTo-below)
		if math.IsNaN(u) {
			continue
		}
		p.PIT, p.K = append(p.PIT, u), append(p.K, shape)
	}
	p.Uniform = criticise.Uniform(p.PIT, rng)
	return p
}
