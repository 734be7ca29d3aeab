package assess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/zarr"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// This file adds the groups of a Zarr store that are computed from draws, model and data.

// ZarrGroup is one or more groups of a Zarr store that [AddZarrGroups] adds together.
type ZarrGroup struct {
	Name    string
	Doc     string
	Default bool // the group is added if no groups are asked for

	groups []string // names of the groups that make writes
	make   func(*zarrMaker) error
}

// zarrGroups lists the groups in the order in which they are made.
var zarrGroups = []ZarrGroup{
	{"log_likelihood", "log likelihood of each observation, of the model's log_lik or derived from its statements", true, []string{"log_likelihood"}, (*zarrMaker).logLikelihood},
	{"posterior_predictive", "the data drawn anew at each draw, derived from the statements", true, []string{"posterior_predictive"}, (*zarrMaker).posteriorPredictive},
	{"prior", "parameters drawn from the prior, and data from them (prior_predictive)", false, []string{"prior", "prior_predictive"}, (*zarrMaker).prior},
}

// ZarrGroups lists the groups that can be added to a store.
func ZarrGroups() []ZarrGroup { return slices.Clone(zarrGroups) }

// ZarrGroupOptions are options of [AddZarrGroups].
type ZarrGroupOptions struct {
	Groups []string // names of groups to add, see [ZarrGroups]
	Seed   uint64   // seed of the random numbers

	// PriorDraws is the number of draws in the prior group, which has one chain; 0: 1000.
	PriorDraws int
}

// zarrMaker holds what all groups are made from.
type zarrMaker struct {
	ctx     context.Context
	fit     *fit.Fit
	store   *zarr.Store
	options ZarrGroupOptions
	notes   []string
}

// AddZarrGroups adds groups to the Zarr store of a fit, with quantities computed from the draws,
// the model and the data. It replaces existing groups. It goes through the draws one by one, so its
// memory does not grow with their number. Groups that cannot be made for this model are left out;
// notes say why.
func AddZarrGroups(ctx context.Context, f *fit.Fit, path string, o ZarrGroupOptions) (notes []string, err error) {
	store, err := zarr.Open(path)
	if err != nil {
		return nil, err
	}
	m := &zarrMaker{ctx: ctx, fit: f, store: store, options: o}
	for _, name := range o.Groups {
		if !slices.ContainsFunc(zarrGroups, func(g ZarrGroup) bool { return g.Name == name }) {
			return nil, fmt.Errorf("ppl: there is no group %q", name)
		}
	}
	for _, g := range zarrGroups {
		if !slices.Contains(o.Groups, g.Name) {
			continue
		}
		for _, made := range g.groups {
			if err := store.RemoveGroup(made); err != nil {
				return nil, err
			}
		}
		err := g.make(m)
		if left := new(leftOut); errors.As(err, &left) {
			m.notes = append(m.notes, fmt.Sprintf("The group %s is left out: %s.", g.Name, strings.TrimSuffix(left.Error(), ".")))
			continue
		}
		if err != nil {
			for _, made := range g.groups {
				err = errors.Join(err, store.RemoveGroup(made))
			}
			return nil, err
		}
	}
	if err := store.Save(); err != nil {
		return nil, err
	}
	return m.notes, store.Sync()
}

// leftOut is the reason why a group cannot be made for a model.
type leftOut struct{ error }

func (e *leftOut) Unwrap() error { return e.error }

// lengths returns the number of draws of each chain.
func (m *zarrMaker) lengths() ([]int, error) {
	lengths := make([]int, m.fit.Draws.Chains())
	for i := range lengths {
		lengths[i] = m.fit.Draws.Len(i)
	}
	if len(lengths) == 0 || slices.Max(lengths) == 0 {
		return nil, &leftOut{errors.New("there are no draws")}
	}
	return lengths, nil
}

func (m *zarrMaker) logLikelihood() error {
	lengths, err := m.lengths()
	if err != nil {
		return err
	}
	l, err := LogLikOf(m.ctx, m.fit, LogLikOptions{})
	if err != nil {
		return &leftOut{err}
	}
	names := m.fit.Names()
	if l.derived != nil {
		names = l.derived.GeneratedNames()
	}
	all, err := arrays.Layouts(names)
	if err != nil {
		return err
	}
	// Elements without a sampling statement are not observations. A variable with such elements
	// becomes a vector of its other elements.
	at := map[int]int{} // index among the observations, by column
	for i, c := range l.columns {
		at[c] = i
	}
	c := arrays.Spec{}
	for _, v := range all {
		var own []int
		for _, column := range v.Columns {
			if i, ok := at[column]; ok {
				own = append(own, i)
			}
		}
		if own == nil {
			continue
		}
		if len(own) < len(v.Columns) {
			v.Shape, v.Pattern = []int{len(own)}, ""
		}
		v.Columns = own
		v.Name = m.observed(l, v.Name)
		c.Layouts, c.Types = append(c.Layouts, v), append(c.Types, zarr.Float64)
	}
	attributes := m.fit.GroupAttributes()
	attributes["source"] = l.Source
	w, err := arrays.AddGroup(m.store, "log_likelihood", attributes, c, lengths)
	if err != nil {
		return err
	}
	if err := l.each(m.ctx, w.Put); err != nil {
		return err
	}
	for _, left := range l.Left {
		m.notes = append(m.notes, fmt.Sprintf("The log likelihood has nothing of %s.", left))
	}
	return w.Finish(lengths)
}

// observed returns the data variable to which the log likelihoods called name belong.
func (m *zarrMaker) observed(l *LogLik, name string) string {
	for i, out := range l.outputs {
		if out == name {
			return l.Variables[i]
		}
	}
	return name
}

func (m *zarrMaker) posteriorPredictive() error {
	lengths, err := m.lengths()
	if err != nil {
		return err
	}
	model, err := m.fit.Model()
	if err != nil {
		return err
	}
	values, err := m.fit.Data()
	if err != nil {
		return err
	}
	return m.predictive("posterior_predictive", model, values, m.fit, lengths)
}

// predictive replicates the data at the draws of a fit.
func (m *zarrMaker) predictive(group string, model *model.Model, values *data.Set, f *fit.Fit, lengths []int) error {
	p, variables, err := m.replicated(model, values, f.FromPrior)
	if err != nil {
		return err
	}
	names := p.GeneratedNames()
	all, err := arrays.Layouts(names)
	if err != nil {
		return err
	}
	whole := arrays.Integers(p.Model().Program().IR().GeneratedQuantityVars)
	c := arrays.Spec{}
	for _, l := range all {
		if variables[l.Name] == "" {
			continue
		}
		c.Types = append(c.Types, arrays.TypeOf(l, whole))
		l.Name = variables[l.Name]
		c.Layouts = append(c.Layouts, l)
	}
	w, err := arrays.AddGroup(m.store, group, m.fit.GroupAttributes(), c, lengths)
	if err != nil {
		return err
	}
	g, err := fit.Generate(m.ctx, p, f, fit.GenerateOptions{Seed: m.options.Seed, Each: w.Put})
	if err != nil {
		return err
	}
	if g.Failed > 0 {
		m.notes = append(m.notes, fmt.Sprintf("The group %s has no values at %d draws: %v.", group, g.Failed, g.Reason))
	}
	return w.Finish(lengths)
}

// replicated returns the posterior that replicates the data, and a map from the names of its
// generated quantities to the data variables. anew says that parameters are not those of the data.
func (m *zarrMaker) replicated(model *model.Model, values *data.Set, anew bool) (*model.Posterior, map[string]string, error) {
	d, err := model.DeriveWith(predict.Replicated, predict.Options{Unknown: model.NotGiven(values), Anew: anew, Cut: true})
	if err != nil {
		return nil, nil, &leftOut{err}
	}
	variables := map[string]string{}
	for _, out := range d.Outputs {
		variables[out.Name] = out.Variable
	}
	p, err := d.BindContext(m.ctx, values, m.fit.Binding())
	return p, variables, err
}

func (m *zarrMaker) prior() error {
	model, err := m.fit.Model()
	if err != nil {
		return err
	}
	values, err := m.fit.Data()
	if err != nil {
		return err
	}
	n := cmp.Or(m.options.PriorDraws, 1000)
	prior, err := SamplePrior(m.ctx, model, values, m.fit.Binding(), fit.Options{Chains: 1, Draws: n, Seed: m.options.Seed})
	if err != nil {
		if m.ctx.Err() != nil {
			return err
		}
		return &leftOut{err}
	}
	all, err := arrays.Layouts(prior.Names())
	if err != nil {
		return err
	}
	c := arrays.Spec{Layouts: all, Factors: m.fit.IndexFactors(model.Program().IR())}
	for _, l := range all {
		c.Types = append(c.Types, arrays.TypeOf(l, nil))
	}
	lengths := []int{prior.Draws.Len(0)}
	w, err := arrays.AddGroup(m.store, "prior", m.fit.GroupAttributes(), c, lengths)
	if err != nil {
		return err
	}
	if err := eachDraw(prior.Draws, w.Put); err != nil {
		return err
	}
	if err := w.Finish(lengths); err != nil {
		return err
	}
	if !prior.Direct {
		m.notes = append(m.notes, fmt.Sprintf("The prior was sampled by NUTS, because %s.", prior.Reason))
	}
	err = m.predictive("prior_predictive", model, values, prior.Fit, lengths)
	if left := new(leftOut); errors.As(err, &left) {
		m.notes = append(m.notes, fmt.Sprintf("The group prior_predictive is left out: %s.", left))
		return nil
	}
	return err
}

// eachDraw calls f with the values of every draw.
func eachDraw(store *draws.Store, f func(chain, draw int, values []float64) error) error {
	for chain := range store.Chains() {
		for i := range store.Len(chain) {
			_, values := store.Draw(chain, i)
			if err := f(chain, i, values); err != nil {
				return err
			}
		}
	}
	return store.Err()
}
