package assess

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// CurveOptions are options of [CurvesOf].
type CurveOptions struct {
	Points    int // values of a number; 0: 25
	MaxLevels int // factors with more levels are left out; 0: 40

	// MaxWork limits the number of expected outcomes: rows times draws times values of all
	// variables. 0: 1.5e8.
	MaxWork  float64
	Parallel int
}

// Curve has the average expected outcomes at several values of a variable, with all other variables
// as observed; see [EffectsOf].
type Curve struct {
	Outcome    string // name of the outcome, a data variable
	Name       string // the variable
	Factor     bool   // whether the variable has levels
	Censored   bool   // whether the data have only a bound of some outcomes
	Categories int    // number of categories of the outcome; 0 without categories
	Ordered    bool   // whether the categories have an order
	Points     []Effect
	Observed   []string // see [Effects].Observed
}

// Value returns the value of the variable at a point of a curve.
func (c *Curve) Value(point int) Setting {
	e := c.Points[point]
	if e.Level != nil {
		return *e.Level
	}
	return e.At[0]
}

// CurvesOf computes expected outcomes at values of every variable on which they depend. The second
// result lists variables that were left out, each with the reason.
func CurvesOf(ctx context.Context, f *fit.Fit, o CurveOptions) (curves []Curve, left []string, err error) {
	if err := f.Err(); err != nil {
		return nil, nil, err
	}
	points, levels, work := cmp.Or(o.Points, 25), cmp.Or(o.MaxLevels, 40), o.MaxWork
	if work == 0 {
		work = 1.5e8
	}
	m, err := f.Model()
	if err != nil {
		return nil, nil, err
	}
	fitted, err := f.Data()
	if err != nil {
		return nil, nil, err
	}
	derived, err := m.DeriveNew(ctx, fitted, fitted, predict.Expected, predict.Options{}, f.Binding())
	if err != nil {
		return nil, nil, err
	}
	draws := 0
	for chain := range f.Draws.Chains() {
		draws += f.Draws.Len(chain)
	}
	for _, out := range derived.Outputs {
		if out.Dims != 1 {
			continue
		}
		e := &effecting{ctx: ctx, fit: f, base: fitted, derived: derived, out: out, factors: predict.Indices(m.Program())}
		if err := e.countRows(); err != nil {
			return nil, nil, err
		}
		for _, name := range e.columns() {
			v, _ := fitted.Get(name)
			if e.rows == 0 || slices.ContainsFunc(v.Reals, math.IsNaN) || slices.Min(v.Reals) == slices.Max(v.Reals) {
				continue
			}
			options := EffectOptions{Kind: Predictions, Outcome: out.Variable, Parallel: o.Parallel}
			values, factor := e.levels(name), true
			if values == nil {
				values, factor = grid(v.Reals, points, e.whole(name)), false
				options.At = []At{{Name: name, Values: values}}
			} else {
				options.Of = []string{name}
			}
			cost := float64(e.rows) * float64(draws) * float64(len(values))
			switch {
			case len(values) > levels:
				left = append(left, fmt.Sprintf("%s has %d levels", name, len(values)))
				continue
			case cost > work:
				left = append(left, fmt.Sprintf("%s would take %.2g expected outcomes", name, cost))
				continue
			}
			effects, err := EffectsOf(ctx, f, options)
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if err != nil {
				left = append(left, fmt.Sprintf("%s: %v", name, err))
				continue
			}
			work -= cost
			c := Curve{Outcome: out.Variable, Name: name, Factor: factor, Censored: out.Censored || out.Limited, Points: effects.Rows, Observed: effects.Observed, Ordered: strings.HasPrefix(out.Dist, "ordered_")}
			for _, p := range c.Points {
				c.Categories = max(c.Categories, p.Category)
			}
			if !c.flat() {
				curves = append(curves, c)
			}
		}
	}
	return curves, left, nil
}

// grid returns values from the smallest to the largest of a variable, at equal distances.
func grid(reals []float64, n int, whole bool) (out []float64) {
	low, high := slices.Min(reals), slices.Max(reals)
	for i := range n {
		x := low + (high-low)*float64(i)/float64(n-1)
		if whole {
			x = math.Round(x)
		}
		out = append(out, x)
	}
	return slices.Compact(out)
}

// flat reports whether the outcome does not depend on the variable.
func (c *Curve) flat() bool {
	step := max(1, c.Categories)
	for i := step; i < len(c.Points); i++ {
		a, b := c.Points[i%step].Draws, c.Points[i].Draws
		for k := range a {
			if math.Abs(a[k]-b[k]) > 1e-9*(math.Abs(a[k])+math.Abs(b[k])) {
				return false
			}
		}
	}
	return true
}

// ColumnTerm returns the data variable that multiplies a column or a row of a matrix of group-level
// terms, "intercept" if nothing does, and "" if it is not known. index is the index that is fixed,
// 0 or 1, and value its value.
func ColumnTerm(m *model.Model, variable string, index, value int) string {
	return predict.ColumnTerms(m.Program())[predict.Column{Variable: variable, Index: index, Value: value}]
}
