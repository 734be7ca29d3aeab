package assess

import (
	"context"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// States has the probabilities of the values of discrete parameters, see [StatesOf].
type States struct {
	Elements []State
	Draws    int // draws that were used
	Failed   int // draws at which nothing could be computed
	Reason   error

	// MostLikely is the number of draws at which the configuration State.Jointly is the most likely
	// one.
	MostLikely int
}

// State is an element of a discrete parameter.
type State struct {
	Name        string // such as z[3]
	Variable    string // z
	Least       int    // the value to which the first probability belongs
	Probability []float64
	Jointly     int      // its value in the most likely configuration of all elements
	Levels      []string // the labels of the values, one for each probability; nil if they have none
}

// Label returns the label of a value, or the number if it has none.
func (s *State) Label(value int) string {
	if i := value - s.Least; i >= 0 && i < len(s.Levels) {
		return s.Levels[i]
	}
	return strconv.Itoa(value)
}

// Best returns the most probable value.
func (s *State) Best() (value int, probability float64) {
	if s == nil {
		return 0, math.NaN()
	}
	for i, p := range s.Probability {
		if i == 0 || p > probability {
			value, probability = s.Least+i, p
		}
	}
	return value, probability
}

// StatesOf computes the posterior probabilities of the values of discrete parameters. They are
// averages over the draws of exact probabilities given the other parameters, and so more precise
// than the shares of the values among the draws. At each draw it also finds the most likely
// configuration of all discrete parameters together. The one that is so most often is returned.
//
// Discrete parameters without an upper bound have as many values as some draw needs.
func StatesOf(ctx context.Context, f *fit.Fit, parallel int) (s *States, err error) {
	err = atEnoughValues(ctx, f, func(p *model.Posterior, named map[string][]string) (g *fit.Generated, err error) {
		s, g, err = statesOf(ctx, f, p, named, parallel)
		return g, err
	})
	return s, err
}

// StatesAt computes the same probabilities at each draw: z_probability[n,k] is that of the k-th
// value of z[n], counted from its lower bound, given the other parameters. z_mode[n] is its value
// in the most likely configuration of all discrete parameters at the draw.
func StatesAt(ctx context.Context, f *fit.Fit, parallel int) (g *fit.Generated, err error) {
	err = atEnoughValues(ctx, f, func(p *model.Posterior, named map[string][]string) (*fit.Generated, error) {
		if g, err = fit.Generate(ctx, p, f, fit.GenerateOptions{Parallel: parallel}); err != nil {
			return nil, err
		}
		if len(named) == 0 {
			return g, nil
		}
		g, err = g.Renamed(func(name string) string { return missingName(name, named) })
		return g, err
	})
	return g, err
}

// missingName returns the name of a quantity about a missing element of data: the fit's index of
// the element is in place of its number among the missing ones.
func missingName(name string, named map[string][]string) string {
	own := diagnose.VariableName(name)
	for _, suffix := range []string{predict.ProbabilitySuffix, predict.ModeSuffix} {
		stem, ok := strings.CutSuffix(own, suffix)
		if !ok || len(named[stem]) == 0 {
			continue
		}
		number, value, indexed := strings.Cut(strings.TrimPrefix(name, own+"."), ".")
		if n, err := strconv.Atoi(number); err == nil && n <= len(named[stem]) {
			name = own + strings.TrimPrefix(named[stem][n-1], stem)
			if indexed {
				name += "." + value
			}
		}
	}
	return name
}

// atEnoughValues calls generate with the program that computes probabilities. It is called again
// with more values of discrete parameters without an upper bound, until no draw needs more. named
// has the missing elements of each variable of the data, as the fit names them.
func atEnoughValues(ctx context.Context, f *fit.Fit, generate func(p *model.Posterior, named map[string][]string) (*fit.Generated, error)) error {
	m, values, err := fitted(f)
	if err != nil {
		return err
	}
	d, err := m.DeriveProbabilities()
	if err != nil {
		return err
	}
	named := map[string][]string{}
	for _, n := range f.Names() {
		if own := diagnose.VariableName(n); m.Program().Missing(values, own) != nil {
			named[own] = append(named[own], n)
		}
	}
	o := f.Binding()
	for {
		p, err := d.BindContext(ctx, values, o)
		if err != nil {
			return err
		}
		g, err := generate(p, named)
		if err != nil {
			return err
		}
		more, ok := compile.NeedsDoubled(g.Reason)
		if g.Failed == 0 || !ok || more <= o.Doubled {
			return nil
		}
		o.Doubled = more
	}
}

// statesOf is StatesOf with the values that p has.
func statesOf(ctx context.Context, f *fit.Fit, p *model.Posterior, named map[string][]string, parallel int) (*States, *fit.Generated, error) {
	s := &States{}
	var modes []int           // columns of the values in the most likely configuration
	place := map[string]int{} // of an element
	type column struct{ element, value, at int }
	var columns []column
	for i, n := range p.GeneratedNames() {
		own := diagnose.VariableName(n)
		rest := strings.TrimPrefix(n, own)
		if stem, ok := strings.CutSuffix(own, predict.ModeSuffix); ok {
			place[stem+rest] = len(modes)
			modes = append(modes, i)
			s.Elements = append(s.Elements, State{Name: diagnose.DisplayName(stem + rest), Variable: stem, Least: p.Compiled().LeastValue(stem)})
		}
	}
	seen := map[string]int{} // elements of each variable so far
	for i := range s.Elements {
		e := &s.Elements[i]
		if n := seen[e.Variable]; n < len(named[e.Variable]) {
			e.Name = diagnose.DisplayName(named[e.Variable][n])
		}
		seen[e.Variable]++
	}
	for i, n := range p.GeneratedNames() {
		own := diagnose.VariableName(n)
		stem, ok := strings.CutSuffix(own, predict.ProbabilitySuffix)
		if !ok {
			continue
		}
		rest := strings.TrimPrefix(n, own)
		at := strings.LastIndex(rest, ".")
		e, ok := place[stem+rest[:at]]
		if !ok {
			continue
		}
		columns = append(columns, column{e, len(s.Elements[e].Probability), i})
		s.Elements[e].Probability = append(s.Elements[e].Probability, 0)
	}
	type found struct{ times, chain, draw int }
	seed := maphash.MakeSeed()
	configurations := map[uint64]*found{}
	var mu sync.Mutex
	g, err := fit.Generate(ctx, p, f, fit.GenerateOptions{Parallel: parallel, Each: func(chain, draw int, values []float64) error {
		var h maphash.Hash
		h.SetSeed(seed)
		for _, c := range modes {
			maphash.WriteComparable(&h, values[c])
		}
		mu.Lock()
		defer mu.Unlock()
		if slices.ContainsFunc(values, math.IsNaN) {
			return nil
		}
		s.Draws++
		for _, c := range columns {
			s.Elements[c.element].Probability[c.value] += values[c.at]
		}
		at := configurations[h.Sum64()]
		if at == nil {
			at = &found{0, chain, draw}
			configurations[h.Sum64()] = at
		}
		at.times++
		if chain < at.chain || chain == at.chain && draw < at.draw {
			at.chain, at.draw = chain, draw
		}
		return nil
	}})
	if err != nil {
		return nil, nil, err
	}
	s.Failed, s.Reason = g.Failed, g.Reason
	levels := f.ValueLevels()
	for i := range s.Elements {
		e := &s.Elements[i]
		if l := levels[e.Variable]; e.Least == 1 && len(l) == len(e.Probability) {
			e.Levels = l
		}
		for i := range e.Probability {
			e.Probability[i] /= float64(s.Draws)
		}
	}
	var most *found
	for _, at := range configurations {
		if most == nil || at.times > most.times || at.times == most.times && (at.chain < most.chain || at.chain == most.chain && at.draw < most.draw) {
			most = at
		}
	}
	if most == nil {
		return s, g, nil
	}
	s.MostLikely = most.times
	row, err := generatedFrom(p, f, most.chain, most.draw)
	if err != nil {
		return nil, nil, err
	}
	for e, c := range modes {
		s.Elements[e].Jointly = int(row[c])
	}
	return s, g, nil
}

// generatedFrom computes the generated quantities at a draw of a fit.
func generatedFrom(p *model.Posterior, f *fit.Fit, chain, draw int) ([]float64, error) {
	columns, err := fit.ParameterColumns(p, f)
	if err != nil {
		return nil, err
	}
	_, row := f.Draws.Draw(chain, draw)
	values := make([]float64, len(columns))
	for i, c := range columns {
		values[i] = row[c]
	}
	x, err := p.UnconstrainRounded(values, f.Rounded())
	if err != nil {
		return nil, err
	}
	dst := make([]float64, len(p.OutputNames()))
	err = p.Generate(x, rand.New(rand.NewPCG(1, 1)), dst)
	return dst[len(dst)-len(p.GeneratedNames()):], err
}
