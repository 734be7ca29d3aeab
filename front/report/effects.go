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

// The limits of plots of effects.
const (
	maxShownRows = 1000 // rows of the data that are shown with a curve
	bins         = 10   // groups of rows for which the share of 1 is shown
)

// effects shows the expected outcome at values of each variable on which it depends.
func effects(w *work) []Figure {
	if !w.judged() {
		return nil
	}
	curves, left, err := assess.CurvesOf(w.ctx, w.fit, assess.CurveOptions{})
	if err != nil {
		if w.ctx.Err() == nil {
			w.note("No effects are shown: %v", err)
		}
		return nil
	}
	if len(left) > 0 {
		w.note("Effects of some variables are not shown: %s.", strings.Join(left, "; "))
	}
	several := slices.ContainsFunc(curves, func(c assess.Curve) bool { return c.Outcome != curves[0].Outcome })
	var out []Figure
	var ranks []int
	for i := range curves {
		f, what := w.effect(&curves[i])
		if f.Empty() {
			continue
		}
		rank := w.rankOf(&curves[i])
		out, ranks = append(out, f), append(ranks, rank)
		if answer := w.answerOf(&curves[i], what); answer != "" && !several {
			w.candidates = append(w.candidates, sentence{rank, answer, curves[i].Name})
		}
	}
	order := make([]int, len(out))
	for i := range order {
		order[i] = i
	}
	sorting.Stable(order, func(a, b int) int { return ranks[a] - ranks[b] })
	sorted := make([]Figure, len(out))
	for k, i := range order {
		sorted[k] = out[i]
	}
	return sorted
}

// effect shows a curve, and says of what it is. A number has a line with a band, a factor an
// interval for each level.
func (w *work) effect(c *assess.Curve) (f Figure, what string) {
	f = Figure{Kind: "effects", Of: []string{c.Name}, X: Axis{Label: c.Name}, Y: Axis{Label: "expected " + c.Outcome}}
	outcome, x := w.dataOf(c.Outcome), w.dataOf(c.Name)
	binary := len(outcome) > 0 && !slices.ContainsFunc(outcome, func(y float64) bool { return y != 0 && y != 1 })
	categories := max(1, c.Categories)
	switch {
	case c.Categories > 0:
		f.Y.Label, f.Y.Range = "probability of each "+c.Outcome, []Number{0, 1}
	case binary:
		f.Y.Label = "probability of " + c.Outcome + " = 1"
	}
	what = f.Y.Label
	if c.Categories == 0 && !binary { // reads well with singular and plural names
		what = "expected value of " + c.Outcome
	}
	if c.Factor && c.Categories == 0 && len(c.Points) > maxCompared {
		caterpillar(&f, c)
		return f, what
	}
	if c.Factor {
		for k := 0; k < len(c.Points); k += categories {
			f.X.Names = append(f.X.Names, c.Value(k).Label)
		}
	}
	for k := range categories {
		interval := Layer{Mark: Band, Role: First, Label: "90 %"}
		mean := Layer{Mark: Line, Role: First, Label: "mean"}
		if c.Factor {
			interval.Mark, mean.Mark = Whisker, Points
		}
		if c.Categories > 0 {
			for _, l := range []*Layer{&interval, &mean} {
				l.Role, l.Category = OfCategory, k+1
			}
			interval.Label, mean.Label = "", fmt.Sprintf("%s %s", c.Outcome, w.category(c.Outcome, k))
		}
		for i := k; i < len(c.Points); i += categories {
			s := c.Points[i].Summary(0, 0.05, 0.95)
			at := c.Value(i).Value
			if c.Factor { // several categories lie next to each other
				at = float64(i/categories) + 0.5*(float64(k)-float64(categories-1)/2)/float64(categories)
			}
			interval.X, interval.Low, interval.High = append(interval.X, at), append(interval.Low, s.Quantiles[0]), append(interval.High, s.Quantiles[1])
			mean.X, mean.Y = append(mean.X, at), append(mean.Y, s.Mean)
		}
		f.Layers = append(f.Layers, interval, mean)
	}
	if !c.Factor && c.Categories == 0 && !c.Censored && len(x) == len(outcome) && len(x) > 0 {
		l := Layer{Mark: Points, Role: Data, Label: "data"}
		if binary {
			l = sharesAlong(x, outcome)
		} else if l.X, l.Y = x, outcome; len(x) > maxShownRows {
			l.X, l.Y = every(x, maxShownRows), every(outcome, maxShownRows)
			f.Note = fmt.Sprintf("%d of %d rows are shown.", len(l.X), len(x))
		}
		f.Layers = append([]Layer{l}, f.Layers...)
	}
	f.Note = strings.TrimSpace(f.Note + " " + observedNote(c))
	first, last := c.Points[0].Summary(0), c.Points[len(c.Points)-categories].Summary(0)
	f.Alt = fmt.Sprintf("The %s at %d values of %s, with the middle 90 %% of the posterior; from %.3g at %s to %.3g at %s.", f.Y.Label, len(c.Points)/categories, c.Name,
		first.Mean, c.Value(0).Label, last.Mean, c.Value(len(c.Points)-categories).Label)
	return f, what
}

// caterpillar shows a curve of a factor with many levels as a list, sorted by the expected outcome.
func caterpillar(f *Figure, c *assess.Curve) {
	f.X, f.Y = f.Y, f.X
	order := make([]int, len(c.Points))
	means := make([]float64, len(c.Points))
	for i := range order {
		order[i], means[i] = i, c.Points[i].Summary(0).Mean
	}
	sorting.Stable(order, func(a, b int) int { return cmp.Compare(means[a], means[b]) })
	interval, mean := Layer{Mark: Range, Role: First, Label: "90 %"}, Layer{Mark: Points, Role: Inner, Label: "mean"}
	for k, i := range order {
		s, at := c.Points[i].Summary(0, 0.05, 0.95), float64(k)
		f.Y.Names = append(f.Y.Names, c.Value(i).Label)
		interval.Y, interval.Low, interval.High = append(interval.Y, at), append(interval.Low, s.Quantiles[0]), append(interval.High, s.Quantiles[1])
		mean.X, mean.Y = append(mean.X, s.Mean), append(mean.Y, at)
	}
	f.Layers = []Layer{interval, mean}
	f.Note = observedNote(c)
	low, high := order[0], order[len(order)-1]
	f.Alt = fmt.Sprintf("The %s for %d levels of %s, sorted, with the middle 90 %% of the posterior: lowest for %s, %.3g, and highest for %s, %.3g.", f.X.Label, len(order), c.Name,
		c.Value(low).Label, means[low], c.Value(high).Label, means[high])
}

// observedNote says which values the expected outcomes are given, if there are any.
func observedNote(c *assess.Curve) string {
	var out []string
	for _, reason := range c.Observed {
		out = append(out, fmt.Sprintf("The expected values are those given the observed values of %s: %s.", c.Outcome, reason))
	}
	return strings.Join(out, " ")
}

// dataOf returns the values of a data variable; nil if there are none.
func (w *work) dataOf(name string) Values {
	values, err := w.fit.Data()
	if err != nil || values == nil {
		return nil
	}
	v, _ := values.Get(name)
	return v.Reals
}

// category returns the name of a category of an outcome, counted from 0.
func (w *work) category(outcome string, k int) string {
	if values, err := w.fit.Data(); err == nil && values != nil {
		if levels, _ := values.Factor(outcome); k < len(levels) {
			return levels[k]
		}
	}
	return fmt.Sprint(k + 1)
}

// sharesAlong returns the share of 1 in groups of rows with about the same x.
func sharesAlong(x, y []float64) Layer {
	l := Layer{Mark: Points, Role: Observed, Label: "share of 1 in the data"}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	sorting.Stable(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	size := max(1, int(math.Ceil(float64(len(x))/bins)))
	for from := 0; from < len(order); from += size {
		group := order[from:min(from+size, len(order))]
		mx, my := 0.0, 0.0
		for _, i := range group {
			mx += x[i]
			my += y[i]
		}
		n := float64(len(group))
		l.X, l.Y = append(l.X, mx/n), append(l.Y, my/n)
	}
	return l
}

// every returns at most n of the values, at equal distances.
func every(values []float64, n int) (out []float64) {
	step := (len(values) + n - 1) / n
	for i := 0; i < len(values); i += step {
		out = append(out, values[i])
	}
	return out
}
