package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file draws the checks of kinds of data: groups, counts and censored times.

// The limits of plots of groups.
const (
	maxCurves = 8  // groups whose survival is shown
	maxPanels = 40 // groups with a plot against a column
)

// maxTried is the maximum number of columns that are tried for groups.
const maxTried = 3

// groupColumns returns columns of the data whose levels can make the groups of checks, the most
// suitable first: those of group-level terms, then other factors, each by their number of levels.
func groupColumns(w *work) [][]string {
	values, err := w.fit.Data()
	if err != nil || values == nil {
		return nil
	}
	m, err := w.fit.Model()
	if err != nil {
		return nil
	}
	terms := map[string]bool{}
	for _, by := range w.fit.IndexFactors(m.Program().IR()) {
		for _, f := range by {
			terms[f.Name] = true
		}
	}
	type candidate struct {
		name string
		rank [2]int
	}
	var found []candidate
	for _, name := range values.Names() {
		v, ok := values.Get(name)
		levels, _ := values.Factor(name)
		if !ok || len(v.Shape) != 1 || len(levels) < 2 {
			continue
		}
		c := candidate{name, [2]int{0, len(levels)}}
		if terms[name] {
			c.rank[0] = 1
		}
		found = append(found, c)
	}
	sorting.Stable(found, func(a, b candidate) int { return slices.Compare(b.rank[:], a.rank[:]) })
	var out [][]string
	for _, c := range found[:min(maxTried, len(found))] {
		out = append(out, []string{c.name})
	}
	return out
}

// onlyCensoring reports whether the groups say no more than which times are censored.
func onlyCensoring(p *assess.Predictive) bool {
	for _, v := range p.Variables {
		if v.Survival != nil && len(v.Survival.By) > 0 && !slices.ContainsFunc(v.Survival.Curves, func(c assess.SurvivalCurve) bool { return c.Events > 0 && c.Events < c.Rows }) {
			return true
		}
	}
	return false
}

// yesNo reports whether an outcome is 0 or 1.
func yesNo(v *assess.PredictiveVariable) bool {
	if !v.Counts || v.Frequencies != nil || len(v.Observed) == 0 {
		return false
	}
	for _, s := range append([][]float64{v.Observed}, v.Replicated...) {
		if slices.ContainsFunc(s, func(y float64) bool { return y != 0 && y != 1 }) {
			return false
		}
	}
	return true
}

// groupName is the text of a group, such as HA or HA, female.
func groupName(by []assess.Setting) string {
	var words []string
	for _, s := range by {
		words = append(words, s.Label)
	}
	return strings.Join(words, ", ")
}

// checks returns figures of the predictive checks of the run; nil if there are none.
func (w *work) checks(draw func(*assess.Predictive) []Figure) []Figure {
	p := w.predictive()
	if p == nil {
		return nil
	}
	return draw(p)
}

// PredictiveReport returns a report that has only the figures of predictive checks, to be drawn.
func PredictiveReport(p *assess.Predictive) *Report {
	r := &Report{Kinds: Kinds()}
	for _, k := range r.Kinds {
		if k.checks != nil {
			r.Figures = append(r.Figures, k.checks(p)...)
		}
	}
	return r
}

// groups compares the groups of the data with those of the replications.
func groups(p *assess.Predictive) []Figure {
	var out []Figure
	for _, v := range p.Variables {
		g := v.Groups
		if g == nil || len(g.Cells) < 2 || slices.Contains(g.By, v.Name) {
			continue
		}
		if g.X != "" {
			out = append(out, against(&v)...)
			continue
		}
		if g.Cells[0].Shares != nil {
			out = append(out, categories(&v)...)
			continue
		}
		f := Figure{Kind: "groups", Of: []string{v.Name, "by " + strings.Join(g.By, ", ")}, X: Axis{Label: g.Statistic + " of " + v.Name}}
		if yesNo(&v) {
			f.X.Label = "share of " + v.Name + " = 1"
		}
		cells := slices.Clone(g.Cells)
		if len(cells) > listed {
			sorting.Stable(cells, func(a, b assess.GroupCheck) int { return cmp.Compare(math.Abs(b.Deviation), math.Abs(a.Deviation)) })
			f.Note = fmt.Sprintf("%d of %d groups are shown: those that deviate most.", listed, len(cells))
			cells = cells[:listed]
		}
		sorting.Stable(cells, func(a, b assess.GroupCheck) int { return cmp.Compare(a.Check.Observed, b.Check.Observed) })
		interval := Layer{Mark: Range, Role: First, Label: "90 % of replications"}
		data := Layer{Mark: Points, Role: Inner, Label: "data"}
		outside := 0
		for i, c := range cells {
			at := float64(i)
			f.Y.Names = append(f.Y.Names, fmt.Sprintf("%s (%d)", groupName(c.By), c.Rows))
			interval.Y, interval.Low, interval.High = append(interval.Y, at), append(interval.Low, c.Check.Q5), append(interval.High, c.Check.Q95)
			data.X, data.Y = append(data.X, c.Check.Observed), append(data.Y, at)
			if c.Check.Observed < c.Check.Q5 || c.Check.Observed > c.Check.Q95 {
				outside++
			}
		}
		f.Layers = []Layer{interval, data}
		f.Alt = fmt.Sprintf("The %s in %d groups, sorted, with replications; %d of them lie outside 90 %% of the replications.", f.X.Label, len(cells), outside)
		out = append(out, f)
	}
	return out
}

// categories compares the shares of the categories of an outcome, a figure for each group.
func categories(v *assess.PredictiveVariable) (out []Figure) {
	cells, note := slices.Clone(v.Groups.Cells), ""
	if len(cells) > maxCurves {
		sorting.Stable(cells, func(a, b assess.GroupCheck) int { return cmp.Compare(math.Abs(b.Deviation), math.Abs(a.Deviation)) })
		note = fmt.Sprintf("%d of %d groups are shown: those whose means deviate most.", maxCurves, len(cells))
		cells = cells[:maxCurves]
	}
	highest := 0.0
	for _, c := range cells {
		for _, s := range c.Shares {
			highest = max(highest, s.Observed, s.Q95)
		}
	}
	for _, c := range cells {
		f := Figure{Kind: "groups", Of: []string{v.Name, "by " + strings.Join(v.Groups.By, ", "), fmt.Sprintf("%s (%d)", groupName(c.By), c.Rows)},
			X: Axis{Label: v.Name}, Y: Axis{Label: "share of " + groupName(c.By), Range: []Number{0, Number(min(1, 1.05*highest))}}, Note: note}
		interval := Layer{Mark: Whisker, Role: First, Label: "90 % of replications"}
		data := Layer{Mark: Points, Role: Observed, Label: "data"}
		outside := 0
		for k, s := range c.Shares {
			x := float64(k)
			f.X.Names = append(f.X.Names, fmt.Sprint(k+1))
			interval.X, interval.Low, interval.High = append(interval.X, x), append(interval.Low, s.Q5), append(interval.High, s.Q95)
			data.X, data.Y = append(data.X, x), append(data.Y, s.Observed)
			if s.Observed < s.Q5 || s.Observed > s.Q95 {
				outside++
			}
		}
		f.Layers = []Layer{interval, data}
		f.Alt = fmt.Sprintf("Shares of the %d categories of %s in %s, with replications; %d of them lie outside 90 %% of the replications.", len(c.Shares), v.Name, groupName(c.By), outside)
		out = append(out, f)
	}
	return out
}

// against compares rows with about the same value of a column, a figure for each group.
func against(v *assess.PredictiveVariable) (out []Figure) {
	g := v.Groups
	for _, c := range g.Cells {
		of := []string{v.Name, "against " + g.X}
		if len(c.By) > 0 {
			of = append(of, groupName(c.By))
		}
		if len(out) == 0 || !slices.Equal(out[len(out)-1].Of, of) {
			if len(out) == maxPanels {
				out[0].Note = fmt.Sprintf("There are more groups; the first %d have plots.", maxPanels)
				return out
			}
			f := Figure{Kind: "groups", Of: of, X: Axis{Label: g.X}, Y: Axis{Label: g.Statistic + " of " + v.Name}}
			f.Layers = []Layer{{Mark: Whisker, Role: First, Label: "90 % of replications"}, {Mark: Points, Role: Observed, Label: "data"}}
			f.Alt = fmt.Sprintf("The %s in intervals of %s, with replications.", f.Y.Label, g.X)
			out = append(out, f)
		}
		interval, data := &out[len(out)-1].Layers[0], &out[len(out)-1].Layers[1]
		x := (c.Low + c.High) / 2
		interval.X, interval.Low, interval.High = append(interval.X, x), append(interval.Low, c.Check.Q5), append(interval.High, c.Check.Q95)
		data.X, data.Y = append(data.X, x), append(data.Y, c.Check.Observed)
	}
	return out
}

// rootogram compares the frequencies of counts with those of the replications.
func rootogram(p *assess.Predictive) []Figure {
	var out []Figure
	for _, v := range p.Variables {
		c := v.Frequencies
		if c == nil {
			continue
		}
		f := Figure{Kind: "rootogram", Of: []string{v.Name}, X: Axis{Label: v.Name}, Y: Axis{Label: "square root of the number of observations", Zero: true}}
		interval := Layer{Mark: Whisker, Role: First, Label: "90 % of replications"}
		median := Layer{Mark: Points, Role: First, Label: "their median"}
		data := Layer{Mark: Points, Role: Observed, Label: "data"}
		for i, class := range c.Classes {
			x, check := float64(i), class.Check
			f.X.Names = append(f.X.Names, class.Name())
			interval.X, interval.Low, interval.High = append(interval.X, x), append(interval.Low, math.Sqrt(check.Q5)), append(interval.High, math.Sqrt(check.Q95))
			median.X, median.Y = append(median.X, x), append(median.Y, math.Sqrt(check.Q50))
			data.X, data.Y = append(data.X, x), append(data.Y, math.Sqrt(check.Observed))
		}
		f.Layers = []Layer{interval, median, data}
		f.Alt = fmt.Sprintf("Frequencies of %s with replications; the largest deviation of all values together has p = %.3f.", v.Name, c.P)
		out = append(out, f)
	}
	return out
}

// survival compares survival curves with those of the replications, a figure for each group.
func survival(p *assess.Predictive) []Figure {
	var out []Figure
	for _, v := range p.Variables {
		if v.Survival == nil {
			continue
		}
		curves, note := slices.Clone(v.Survival.Curves), ""
		if len(curves) > maxCurves {
			sorting.Stable(curves, func(a, b assess.SurvivalCurve) int { return cmp.Compare(math.Abs(b.Deviation), math.Abs(a.Deviation)) })
			note = fmt.Sprintf("%d of %d groups are shown: those that deviate most.", maxCurves, len(curves))
			curves = curves[:maxCurves]
		}
		last := 0.0
		for _, c := range curves {
			for _, at := range c.Points {
				last = max(last, at.Time)
			}
		}
		for _, c := range curves {
			f := Figure{Kind: "survival", Of: []string{v.Name}, X: Axis{Label: "time", Zero: true}, Y: Axis{Label: "share without event", Range: []Number{0, 1}}, Note: note}
			title := "Survival"
			if v.Survival.Below {
				title, f.X, f.Y.Label = "Distribution", Axis{Label: v.Name}, "share below"
			}
			if len(c.By) > 0 {
				f.Of = append(f.Of, groupName(c.By))
			}
			if x := v.Survival.X; x != "" {
				f.Of = append(f.Of, fmt.Sprintf("%s from %.4g to %.4g", x, c.Low, c.High))
			}
			band := Layer{Mark: Band, Role: First, Label: "90 % of replications"}
			data := Layer{Mark: Line, Role: Observed, Label: "data"}
			low, high, observed := 1.0, 1.0, 1.0
			at := func(t float64) {
				band.X, band.Low, band.High = append(band.X, t), append(band.Low, low), append(band.High, high)
				data.X, data.Y = append(data.X, t), append(data.Y, observed)
			}
			if !v.Survival.Below {
				at(0)
			}
			for k, point := range c.Points {
				if !v.Survival.Below || k > 0 {
					at(point.Time)
				}
				low, high, observed = point.Check.Q5, point.Check.Q95, point.Check.Observed
				at(point.Time)
			}
			if len(c.Points) > 0 && c.Points[len(c.Points)-1].Time < last {
				at(last)
			}
			f.Layers = []Layer{band, data}
			f.Alt = fmt.Sprintf("%s of %s, %d known values in %d rows, with replications; its largest deviation is %.1f standard deviations.", title, strings.Join(f.Of, ", "), c.Events, c.Rows, c.Deviation)
			out = append(out, f)
		}
	}
	return out
}
