package assess

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// This file makes predictive checks of censored times: survival curves.

// Survival compares the Kaplan–Meier estimate of the data with those of the replications. Each
// replication is censored like the data, see [criticise.Censoring].
//
// If values are censored from below instead, the curves are the shares of smaller values: those of
// the negated values.
type Survival struct {
	Below  bool     // values are censored from below; points have the shares of smaller values
	By     []string // the columns whose values make the groups
	X      string   // column whose range is divided into intervals; "": none
	Curves []SurvivalCurve

	// P is a p-value for all curves together: the share of replications whose most deviating point
	// deviates, in standard deviations, more than any point of the data.
	P float64

	// Limit is the number of standard deviations that the most deviating point stays within, in 99
	// % of the replications.
	Limit float64
}

// SurvivalCurve is the survival curve of a group of rows, or of all rows.
type SurvivalCurve struct {
	By           []Setting // the group; nil: all rows
	Low, High    float64   // minimum and maximum of [PredictiveOptions.X] in the group
	Rows, Events int
	Points       []SurvivalPoint // at times of events
	Deviation    float64         // the largest deviation of a point, in standard deviations
}

// SurvivalPoint compares the survival at a time with that of the replications.
type SurvivalPoint struct {
	Time   float64
	AtRisk int
	Check  criticise.Check
}

// Odd lists the curves whose deviation exceeds the limit.
func (s *Survival) Odd() (out []SurvivalCurve) {
	if s == nil {
		return nil
	}
	for _, c := range s.Curves {
		if math.Abs(c.Deviation) > s.Limit {
			out = append(out, c)
		}
	}
	return out
}

// maxPoints is the maximum number of points of all curves together, and minPoints that of a single
// curve if there are many.
const (
	maxPoints = 400
	minPoints = 10
)

// censor finds which elements of variables are censored. A variable that is censored as a whole is
// joined with the only other one of the same distribution: the times that were observed.
func (r *replication) censor(ctx context.Context, m *model.Model, derived *model.Derived, b model.BindOptions) error {
	asked := func(o predict.Output) bool { return o.Censored || o.Limited && r.onlyVisual }
	if !slices.ContainsFunc(derived.Outputs, asked) {
		return nil
	}
	for _, name := range m.NotGiven(r.values) {
		if slices.ContainsFunc(derived.Outputs, func(o predict.Output) bool { return o.Variable == name }) {
			return nil // without outcomes, complete predictions are shown
		}
	}
	sides, err := m.Derive(predict.Censoring)
	if err != nil {
		return err
	}
	p, err := sides.BindContext(ctx, r.values, b)
	if err != nil {
		return err
	}
	codes, err := firstGenerated(p, r.fit)
	if err != nil {
		return err
	}
	side := map[string]float64{}
	for i, name := range p.GeneratedNames() {
		own := diagnose.VariableName(name)
		at := slices.IndexFunc(sides.Outputs, func(o predict.Output) bool { return o.Name == own })
		if at < 0 {
			continue
		}
		side[diagnose.DisplayName(sides.Outputs[at].Variable+name[len(own):])] = codes[i]
	}
	for _, v := range r.variables {
		if slices.ContainsFunc(derived.Outputs, func(o predict.Output) bool { return o.Variable == v.name && o.Limited }) {
			v.atLimits(side)
			continue
		}
		for i, element := range v.elements {
			if side[element] == 0 {
				continue
			}
			if v.event == nil {
				v.event, v.side = slices.Repeat([]bool{true}, len(v.y)), make([]float64, len(v.y))
			}
			v.event[i], v.side[i] = false, side[element]
		}
		r.intervals(m, v)
	}
	for _, v := range r.variables {
		if v.event == nil || slices.Contains(v.event, true) || v.dist == "" {
			continue
		}
		var same []*replicated
		for _, w := range r.variables {
			if w != v && w.dist == v.dist {
				same = append(same, w)
			}
		}
		if len(same) == 1 && same[0].event == nil {
			same[0].join(v)
			r.variables = slices.DeleteFunc(r.variables, func(w *replicated) bool { return w == v })
			break
		}
	}
	return nil
}

// atLimits notes for visual checks which elements are at the limits of a declaration, if the limits
// are the same for all elements. Replications are recorded at these limits, too.
func (v *replicated) atLimits(side map[string]float64) {
	v.side = make([]float64, len(v.y))
	for i, element := range v.elements {
		v.side[i] = side[element]
	}
	if _, _, err := v.limits(); err != nil {
		v.side = nil
	}
}

// intervals finds the limits of values that are censored from below, and the upper ends of
// intervals, where a declaration has them.
func (r *replication) intervals(m *model.Model, v *replicated) {
	v.last = slices.Clone(v.y)
	for _, c := range m.Program().Sided() {
		known, ok := boundsOf(m.Program().Flattened(r.values), c)
		if c.Name != v.name || !ok {
			continue
		}
		for i, at := range v.at {
			switch v.side[i] {
			case -1:
				v.y[i] = known[at].lo
			case 2:
				v.last[i] = known[at].hi
			}
		}
	}
}

// join appends the elements of a censored variable to those of another one. The rows of the two are
// not known to be those of one table.
func (v *replicated) join(censored *replicated) {
	v.event = append(slices.Repeat([]bool{true}, len(v.y)), censored.event...)
	v.side = append(make([]float64, len(v.y)), censored.side...)
	v.length = 0
	v.name += ", " + censored.name
	v.columns = append(v.columns, censored.columns...)
	v.elements = append(v.elements, censored.elements...)
	v.y = append(v.y, censored.y...)
	v.at, v.last = nil, append(slices.Clone(v.y[:len(v.y)-len(censored.y)]), censored.last...)
	v.rows = slices.Repeat([]int{-1}, len(v.y))
}

// survivalResults has the survival of each group at each draw.
type survivalResults struct {
	variable *replicated
	sign     float64       // -1 if values are censored from below: curves are those of negated values
	groups   *groupResults // nil if there is one curve of all elements
	cells    []survivalCell
}

// survivalCell is a group of elements with the times at which curves are compared.
type survivalCell struct {
	SurvivalCurve
	members   []int
	censoring *criticise.Censoring
	values    [][]float64 // by time, the survival at every draw
}

// survival prepares the results of a variable. It is nil if no curve can be compared: values are
// in intervals or censored on both sides, or no group has an event.
func (g *grouping) survival(v *replicated, draws int) *survivalResults {
	sign := 1.0
	if slices.Contains(v.side, -1) {
		sign = -1
	}
	if slices.ContainsFunc(v.side, func(side float64) bool { return side != 0 && side != sign }) {
		return nil
	}
	r := &survivalResults{variable: v, sign: sign, groups: g.results(v, 0)}
	all := make([]int, len(v.y))
	for i := range all {
		all[i] = i
	}
	cells := []survivalCell{{SurvivalCurve: SurvivalCurve{Low: math.NaN(), High: math.NaN()}, members: all}}
	if r.groups != nil {
		cells = nil
		for c, cell := range r.groups.cells {
			cells = append(cells, survivalCell{SurvivalCurve: SurvivalCurve{By: cell.By, Low: cell.Low, High: cell.High}, members: r.groups.members[c]})
		}
	}
	limit := max(minPoints, maxPoints/max(len(cells), 1))
	for _, c := range cells {
		times, event := make([]float64, len(c.members)), make([]bool, len(c.members))
		for k, i := range c.members {
			times[k], event[k] = sign*v.y[i], v.event[i]
			if event[k] {
				c.Events++
			}
		}
		c.Rows = len(times)
		curve := criticise.KaplanMeier(times, event)
		c.censoring = criticise.NewCensoring(times, event)
		n := min(len(curve.Times), limit)
		for k := range n {
			at := len(curve.Times) - 1 // of equally spaced points, the last is the last time
			if n > 1 {
				at = k * (len(curve.Times) - 1) / (n - 1)
			}
			c.Points = append(c.Points, SurvivalPoint{Time: curve.Times[at], AtRisk: curve.AtRisk[at], Check: criticise.Check{Observed: curve.Survival[at]}})
			c.values = append(c.values, make([]float64, draws))
		}
		r.cells = append(r.cells, c)
	}
	if !slices.ContainsFunc(r.cells, func(c survivalCell) bool { return len(c.Points) > 0 }) {
		return nil
	}
	return r
}

// add computes the survival of y, the replication at a draw.
func (r *survivalResults) add(draw int, y []float64, seed uint64) {
	if r == nil {
		return
	}
	rng := rand.New(rand.NewPCG(seed^0x6b6d, uint64(draw)))
	for _, c := range r.cells {
		own := make([]float64, len(c.members))
		for k, i := range c.members {
			own[k] = r.sign * y[i]
		}
		curve := criticise.KaplanMeier(c.censoring.Draw(own, rng))
		for k, p := range c.Points {
			c.values[k][draw] = curve.At(p.Time)
		}
	}
}

// finish compares the curves of the data with those of the replications.
func (r *survivalResults) finish() *Survival {
	if r == nil {
		return nil
	}
	out := &Survival{Below: r.sign < 0}
	if r.groups != nil {
		out.By, out.X = r.groups.by, r.groups.x
	}
	var largest []float64 // the largest deviation in each replication
	observed := 0.0
	for _, c := range r.cells {
		for k := range c.Points {
			p := &c.Points[k]
			p.Check = criticise.NewCheck("survival", p.Check.Observed, c.values[k])
			if largest == nil {
				largest = make([]float64, len(c.values[k]))
			}
			if p.Check.SD == 0 {
				continue
			}
			z := (p.Check.Observed - p.Check.Mean) / p.Check.SD
			if math.Abs(z) > math.Abs(c.Deviation) {
				c.Deviation = z
			}
			for d, s := range c.values[k] {
				largest[d] = max(largest[d], math.Abs(s-p.Check.Mean)/p.Check.SD)
			}
		}
		observed = max(observed, math.Abs(c.Deviation))
		if out.Below {
			slices.Reverse(c.Points)
			for k := range c.Points {
				c.Points[k].Time = -c.Points[k].Time
			}
		}
		out.Curves = append(out.Curves, c.SurvivalCurve)
	}
	out.P = criticise.NewCheck("", observed, largest).P
	out.Limit = diagnose.Quantiles(largest, 0.99)[0]
	return out
}
