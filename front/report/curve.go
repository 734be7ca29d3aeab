package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model/predict"
)

// The limits of plots of curves.
const (
	minCurve   = 5    // elements of a variable that is a curve
	maxCurve   = 1000 // elements that are shown
	shownCurve = 12   // plots
	clearly    = 0.9  // probability from which the lowest or highest value is stated
)

// curves shows functions that the model estimates against their variable.
func curves(w *work) []Figure {
	w.curved = map[string]bool{}
	members := map[string][]int{}
	var order []string
	for i, name := range w.names {
		v := variableOf(name)
		if _, ok := w.roles.Curves[v]; !ok {
			continue
		}
		if members[v] == nil {
			order = append(order, v)
		}
		members[v] = append(members[v], i)
	}
	var out []Figure
	for _, v := range order {
		role := w.roles.Curves[v]
		x, label := w.axisOf(role, len(members[v]))
		if x == nil || len(members[v]) < minCurve {
			continue
		}
		if len(out) == shownCurve {
			w.note("The first %d curves are shown.", shownCurve)
			break
		}
		w.curved[v] = true
		out = append(out, w.curve(v, members[v], role, x, label))
	}
	return out
}

// axisOf returns the values along which a curve lies, with the name of their variable: its column
// of the data or, for steps, the first column that increases, else the number of the element, with
// the name of the column whose values these numbers are.
func (w *work) axisOf(c predict.Curve, n int) (x []float64, label string) {
	if c.X != "" {
		if x := w.dataOf(c.X); len(x) == n {
			return x, c.X
		}
		return nil, ""
	}
	if values, err := w.fit.Data(); err == nil && values != nil {
		for _, name := range values.Names() {
			v, _ := values.Get(name)
			if len(v.Shape) != 1 || len(v.Reals) != n || w.roles.Outcomes[name] {
				continue
			}
			if levels, _ := values.Factor(name); levels == nil && slices.IsSorted(v.Reals) && len(slices.Compact(slices.Clone(v.Reals))) == n {
				return v.Reals, name
			}
		}
	}
	if !c.Steps {
		return nil, ""
	}
	for i := range n {
		x = append(x, float64(i+1))
	}
	if c.Index != "" && w.levelsOf(c.Index) == nil {
		return x, c.Index
	}
	return x, "element"
}

// levelsOf returns the levels of a factor of the data; nil if the variable is none.
func (w *work) levelsOf(variable string) []string {
	values, err := w.fit.Data()
	if err != nil || values == nil {
		return nil
	}
	levels, _ := values.Factor(variable)
	return levels
}

// curve draws a curve, and adds an answer.
func (w *work) curve(name string, members []int, role predict.Curve, x []float64, label string) Figure {
	f := Figure{Kind: "curve", Of: []string{name}, X: Axis{Label: label}, Y: Axis{Label: name}}
	order := make([]int, len(members))
	for k := range order {
		order[k] = k
	}
	sort.SliceStable(order, func(a, b int) bool { return x[order[a]] < x[order[b]] })
	outer := Layer{Mark: Band, Role: First, Label: "90 %, darker 50 %"}
	inner := Layer{Mark: Band, Role: First}
	median := Layer{Mark: Line, Role: First, Label: "median"}
	step := (len(order) + maxCurve - 1) / maxCurve
	for k := 0; k < len(order); k += step {
		i := members[order[k]]
		q := diagnose.Quantiles(w.drawsOf(i), 0.25, 0.75)
		at, r := x[order[k]], w.rows[i]
		outer.X, outer.Low, outer.High = append(outer.X, at), append(outer.Low, r.Q5), append(outer.High, r.Q95)
		inner.X, inner.Low, inner.High = append(inner.X, at), append(inner.Low, q[0]), append(inner.High, q[1])
		median.X, median.Y = append(median.X, at), append(median.Y, r.Q50)
	}
	f.Layers = []Layer{outer, inner, median}
	if y := w.dataOf(role.Y); role.Y != "" && len(y) == len(x) {
		f.Layers = append([]Layer{{Mark: Points, Role: Data, Label: role.Y, X: every(x, maxShownRows), Y: every(y, maxShownRows)}}, f.Layers...)
	}
	if step > 1 {
		f.Note = fmt.Sprintf("Every %s of %d elements is shown.", ordinal(step), len(order))
	}
	text := w.curveAnswer(name, members, order, x, label)
	if role.Steps && label == role.Index {
		text += w.holes(label, members)
	}
	f.Alt = fmt.Sprintf("%s at %d values of %s, with the middle 50 %% and 90 %% of the posterior. %s", name, len(x), label, text)
	w.curveSentence(text, label, members, role.Y != "")
	return f
}

// maxHoles is the maximum number of gaps in a series whose values are stated.
const maxHoles = 5

// holes says what a series of steps is where the data have no row; "" if they have one everywhere.
func (w *work) holes(index string, members []int) string {
	seen := make([]bool, len(members)+1)
	for _, v := range w.dataOf(index) {
		if k := int(v); k >= 1 && k < len(seen) {
			seen[k] = true
		}
	}
	var parts []string
	missing, runs := 0, 0
	for from := 1; from <= len(members); from++ {
		if seen[from] {
			continue
		}
		to := from
		for to < len(members) && !seen[to+1] {
			to++
		}
		average := make([]float64, len(w.drawsOf(members[from-1])))
		for k := from; k <= to; k++ {
			for d, v := range w.drawsOf(members[k-1]) {
				average[d] += v / float64(to-from+1)
			}
		}
		where := fmt.Sprint(from)
		if to > from {
			where = fmt.Sprintf("%d to %d", from, to)
		}
		parts = append(parts, intervalOf(average)+" at "+where)
		missing, runs, from = missing+to-from+1, runs+1, to
	}
	switch {
	case runs == 0:
		return ""
	case runs > maxHoles:
		return fmt.Sprintf(" Of the %d values of %s, %d have no data.", len(members), index, missing)
	}
	return " Where there are no data, its average is " + strings.Join(parts, ", ") + "."
}

// curveSentence adds the sentence about a curve. Of curves that are monotone functions of each
// other, such as a level and its exponential, one has a sentence: that on the scale of the data or,
// if none is, the last.
func (w *work) curveSentence(text, label string, members []int, onData bool) {
	same := func(other []int) bool {
		if len(other) != len(members) {
			return false
		}
		for _, k := range []int{0, len(members) / 2, len(members) - 1} {
			if !monotone(w.drawsOf(members[k]), w.drawsOf(other[k])) {
				return false
			}
		}
		return true
	}
	for i := range w.stated {
		if c := &w.stated[i]; same(c.members) {
			if !c.onData {
				w.candidates[c.sentence].text = text
				c.onData = onData
			}
			return
		}
	}
	w.stated = append(w.stated, statedCurve{len(w.candidates), members, onData})
	w.candidates = append(w.candidates, sentence{ofCurves, text, label})
}

// statedCurve is a curve that has a sentence.
type statedCurve struct {
	sentence int // its place among the candidates
	members  []int
	onData   bool // on the scale of the data
}

// monotone reports whether b rises, or falls, wherever a does, from each draw to the next.
func monotone(a, b []float64) bool {
	up, down := 0, 0
	for k := 1; k < len(a); k++ {
		switch product := (a[k] - a[k-1]) * (b[k] - b[k-1]); {
		case product > 0:
			up++
		case product < 0:
			down++
		}
	}
	return up+down > 0 && min(up, down) == 0
}

// drawsOf returns the draws of a quantity of all chains that are compared.
func (w *work) drawsOf(i int) (out []float64) {
	for _, chain := range w.level {
		out = append(out, w.fit.Draws.Column(nil, chain, i)[:w.length]...)
	}
	return out
}

// curveAnswer says where a curve begins and ends, and where its lowest and highest values are.
func (w *work) curveAnswer(name string, members, order []int, x []float64, label string) string {
	first, last := order[0], order[len(order)-1]
	low, high := first, first
	for _, k := range order {
		if w.rows[members[k]].Mean < w.rows[members[low]].Mean {
			low = k
		}
		if w.rows[members[k]].Mean > w.rows[members[high]].Mean {
			high = k
		}
	}
	value := func(k int) string {
		r := w.rows[members[k]]
		return interval(r.Mean, r.Q5, r.Q95, r.SD)
	}
	// higher is the probability that the curve is higher at the second of two elements.
	higher := func(i, j int) float64 { return shareAbove(w.drawsOf(members[j]), w.drawsOf(members[i])) }
	verb, p := direction(higher(first, last), higher(last, first), "rises", "falls")
	out := fmt.Sprintf("%s is %s at %s %.4g and %s at %.4g: from the first to the last it %s with probability %s.", name, value(first), label, x[first], value(last), x[last], verb, chance(p))
	var ends []string
	if min(higher(low, first), higher(low, last)) > clearly {
		ends = append(ends, fmt.Sprintf("lowest at %.4g, %s", x[low], value(low)))
	}
	if min(higher(first, high), higher(last, high)) > clearly {
		ends = append(ends, fmt.Sprintf("highest at %.4g, %s", x[high], value(high)))
	}
	switch len(ends) {
	case 1:
		out += " It is " + ends[0] + "."
	case 2:
		out += " It is " + ends[0] + ", and " + ends[1] + "."
	}
	return out
}
