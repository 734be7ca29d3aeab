package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// The limits of the answers at the head of a report.
const (
	maxAnswered = 6 // sentences
	maxCompared = 4 // levels that are all named
)

// answerOf says in a sentence how the expected outcome changes along a curve. Of outcomes with
// categories, it says so of the probability of some of them.
func (w *work) answerOf(c *assess.Curve, what string) string {
	if c.Categories > 0 {
		c, what = w.oneProbability(c)
	}
	if len(c.Points) < 2 {
		return ""
	}
	means := make([]float64, len(c.Points))
	text := make([]string, len(c.Points))
	for i := range c.Points {
		s := c.Points[i].Summary(0, 0.05, 0.95)
		means[i], text[i] = s.Mean, interval(s.Mean, s.Quantiles[0], s.Quantiles[1], s.SD)
	}
	at := func(i int) string { return c.Value(i).Label }
	// higher is the probability that the outcome is higher at point j than at point i.
	higher := func(i, j int) float64 { return shareAbove(c.Points[j].Draws, c.Points[i].Draws) }
	last := len(c.Points) - 1
	if !c.Factor {
		verb, p := direction(higher(0, last), higher(last, 0), "rises", "falls")
		by := ""
		if slope := slopeOf(c); slope != nil {
			if verb == "falls" {
				for k := range slope {
					slope[k] = -slope[k]
				}
			}
			by = " by " + intervalOf(slope) + " per unit"
		}
		return fmt.Sprintf("The %s is %s at %s %s and %s at %s: it %s%s with probability %s.", what, text[0], c.Name, at(0), text[last], at(last), verb, by, chance(p))
	}
	if len(c.Points) <= maxCompared {
		var parts []string
		for i := range c.Points {
			parts = append(parts, fmt.Sprintf("%s for %s", text[i], at(i)))
		}
		out := fmt.Sprintf("The %s by %s is %s", what, c.Name, strings.Join(parts, ", "))
		if len(c.Points) == 2 {
			verb, p := direction(higher(0, 1), higher(1, 0), "higher", "lower")
			from, to := 0, 1
			if verb == "lower" {
				from, to = 1, 0
			}
			out += fmt.Sprintf(": %s for %s by %s with probability %s", verb, at(1), intervalOf(difference(c.Points[to].Draws, c.Points[from].Draws)), chance(p))
		}
		return out + "."
	}
	low, high := 0, 0
	for i, m := range means {
		if m < means[low] {
			low = i
		}
		if m > means[high] {
			high = i
		}
	}
	return fmt.Sprintf("The %s by %s is lowest for %s, %s, and highest for %s, %s.", what, c.Name, at(low), text[low], at(high), text[high])
}

// difference returns a - b, draw by draw.
func difference(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for k := range a {
		out[k] = a[k] - b[k]
	}
	return out
}

// slopeOf returns the change of the expected outcome for each unit of a variable, draw by draw; nil
// if that is not the same along the whole curve.
func slopeOf(c *assess.Curve) []float64 {
	last := len(c.Points) - 1
	if last < 2 {
		return nil
	}
	x := func(i int) float64 { return c.Value(i).Value }
	first, total := c.Points[0].Draws, difference(c.Points[last].Draws, c.Points[0].Draws)
	for i := 1; i < last; i++ {
		for k, y := range c.Points[i].Draws {
			line := first[k] + total[k]*(x(i)-x(0))/(x(last)-x(0))
			if !(math.Abs(y-line) <= straight*(math.Abs(total[k])+math.Abs(y))) {
				return nil
			}
		}
	}
	for k := range total {
		total[k] /= x(last) - x(0)
	}
	return total
}

// straight is the maximum deviation of a line from being straight, by rounding.
const straight = 1e-6

// intervalOf states the mean of draws with the middle 90 %.
func intervalOf(draws []float64) string {
	q := diagnose.Quantiles(draws, 0.05, 0.95)
	mean, sd := moments(draws)
	return interval(mean, q[0], q[1], sd)
}

// oneProbability makes a curve of one probability: that of the upper categories or, if they have no
// order, of the category that changes most. The upper categories are those whose total probability
// is closest to one half.
func (w *work) oneProbability(c *assess.Curve) (*assess.Curve, string) {
	k := c.Categories
	n := len(c.Points) / k
	mean := make([][]float64, k) // by category and point
	for i := range c.Points {
		mean[i%k] = append(mean[i%k], c.Points[i].Summary(0).Mean)
	}
	from, to := 0, 0
	if c.Ordered {
		best, above := math.Inf(1), 0.0
		for j := k - 1; j > 0; j-- {
			for _, p := range mean[j] {
				above += p / float64(n)
			}
			if d := math.Abs(above - 0.5); d < best {
				best, from, to = d, j, k-1
			}
		}
	} else {
		widest := -1.0
		for j := range mean {
			if d := slices.Max(mean[j]) - slices.Min(mean[j]); d > widest {
				widest, from, to = d, j, j
			}
		}
	}
	out := *c
	out.Categories, out.Points = 0, nil
	for i := range n {
		p := c.Points[i*k+from]
		p.Category, p.Draws = 0, slices.Clone(p.Draws)
		for j := from + 1; j <= to; j++ {
			for d, v := range c.Points[i*k+j].Draws {
				p.Draws[d] += v
			}
		}
		out.Points = append(out.Points, p)
	}
	what := fmt.Sprintf("probability that %s is %s", c.Outcome, w.category(c.Outcome, from))
	if c.Ordered && to > from {
		what += " or above"
	}
	return &out, what
}

// The ranks of answers, in the order in which they are given.
const (
	ofNamed     = iota // predictors that the question names
	ofAsked            // parameters that it names, such as season
	ofStates           // discrete parameters
	ofCurves           // functions
	ofPredictor        // other predictors
	ofGenerated        // numbers that the model computes from its parameters
	ofSpread           // standard deviations and correlations of group-level terms
	ofGroups           // the levels of groups
	ofParameter        // parameters, if there are no predictors
	ofBounded          // parameters with bounds, if there are
	ranks
)

// limitOf is the maximum number of answers of each rank.
var limitOf = [ranks]int{4, 3, 2, 2, 4, 2, 3, 1, 6, 6}

// sentence is a candidate for an answer.
type sentence struct {
	rank  int
	text  string
	about string // the variable of the data that it is about; "": none
}

// answers gives the candidates in order: what predictors do, then the rest. Without predictors and
// curves, parameters come first. The same is true with several outcomes, whose expectations alone
// say little. With curves alone, parameters are last. With predictors, those parameters are last
// that are no coefficients, such as the dose of half the effect: they have bounds.
func (w *work) answers() {
	w.generated()
	w.spreads()
	has := func(ranks ...int) bool {
		return slices.ContainsFunc(w.candidates, func(s sentence) bool { return slices.Contains(ranks, s.rank) })
	}
	order := []int{ofNamed, ofAsked, ofStates, ofCurves, ofPredictor, ofGenerated, ofSpread, ofGroups}
	predicted := has(ofNamed, ofPredictor)
	switch {
	case !predicted && !has(ofCurves):
		order = []int{ofStates, ofGenerated, ofAsked, ofSpread, ofParameter, ofGroups}
	case !predicted:
		order = append(order, ofParameter)
	default:
		order = append(order, ofBounded)
	}
	w.parameters()
	var along []string // variables along which a curve is stated: the expected outcome says the same
	for _, s := range w.candidates {
		if s.rank == ofCurves && len(along) < limitOf[ofCurves] {
			along = append(along, s.about)
		}
	}
	for _, rank := range order {
		n := 0
		for _, s := range w.candidates {
			repeated := rank != ofCurves && s.about != "" && slices.Contains(along, s.about)
			if s.rank == rank && !repeated && n < limitOf[rank] && len(w.report.Answers) < maxAnswered {
				w.report.Answers = append(w.report.Answers, s.text)
				n++
			}
		}
	}
}

// rankOf returns the rank of an answer about a variable: those that the question names come first,
// and levels of groups last.
func (w *work) rankOf(c *assess.Curve) int {
	if m, err := w.fit.Model(); err == nil && c.Factor {
		for variable, by := range w.fit.IndexFactors(m.Program().IR()) {
			for _, f := range by {
				if f.Name == c.Name && w.rank(variable) > 0 {
					return ofGroups
				}
			}
		}
	}
	names := []string{c.Name}
	if c.Factor {
		for i := range c.Points {
			names = append(names, c.Value(i).Label)
		}
	}
	if slices.ContainsFunc(names, w.asked) {
		return ofNamed
	}
	return ofPredictor
}

// asked reports whether the question has the name, such as ed50, or a word that begins as a word of
// it.
func (w *work) asked(name string) bool {
	if w.report.Fitted == nil {
		return false
	}
	text, _, _ := strings.Cut(w.report.Fitted.Question, "\n")
	if i := strings.LastIndexByte(w.report.Fitted.Question, '?'); i >= 0 {
		text = w.report.Fitted.Question[:i]
	}
	names := strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(name) > 2 && slices.Contains(names, name) {
		return true
	}
	question := wordsOf(text)
	return slices.ContainsFunc(wordsOf(name), func(word string) bool {
		return len(word) > 2 && slices.ContainsFunc(question, func(q string) bool { return strings.HasPrefix(q, word) })
	})
}

// wordsOf divides a text into its words, in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}

// statement says what a quantity is.
func (w *work) statement(i int) string {
	r := w.rows[i]
	draws := w.drawsOf(i)
	above, below, ones := 0, 0, 0
	for _, v := range draws {
		if v > 0 {
			above++
		}
		if v < 0 {
			below++
		}
		if v == 0 || v == 1 {
			ones++
		}
	}
	name := w.names[i]
	if l := w.report.Summary.Label; l != nil && l[i] != "" {
		name += ", " + l[i] + ","
	}
	if of := w.roles.Residual[name]; of != "" {
		name = fmt.Sprintf("The standard deviation of %s about its expected value, %s,", of, name)
	}
	n := len(draws)
	switch {
	case ones == n:
		return fmt.Sprintf("%s is 1 with probability %.2f.", name, r.Mean)
	case above == n || below == n || above == 0 && below == 0:
		return fmt.Sprintf("%s is %s.", name, interval(r.Mean, r.Q5, r.Q95, r.SD))
	}
	return fmt.Sprintf("%s is %s: %s.", name, interval(r.Mean, r.Q5, r.Q95, r.SD), signed(float64(above)/float64(n), float64(below)/float64(n)))
}

// signed says on which side of zero a quantity is, given the probabilities of both.
func signed(above, below float64) string {
	side, p := direction(above, below, "above", "below")
	return side + " 0 with probability " + chance(p)
}

// direction returns the likelier of two directions with its probability. The probabilities of both
// add up to less than 1 if values can be equal.
func direction(up, down float64, upward, downward string) (string, float64) {
	if up < down {
		return downward, down
	}
	return upward, up
}

// shown reports whether a quantity can be in an answer.
func (w *work) shown(i int) bool {
	s := &w.report.Summary
	return (s.Aside == nil || !s.Aside[i]) && !math.IsNaN(w.rows[i].Mean) && !math.IsInf(w.rows[i].Mean, 0)
}

// generated states the numbers and vectors that the model computes from its parameters.
func (w *work) generated() {
	m, err := w.model()
	if err != nil {
		return
	}
	discrete := slices.Collect(m.Program().Discretes())
	for _, v := range m.Program().IR().GeneratedQuantityVars {
		if slices.Contains(discrete, v.Name) {
			continue // has its own sentence
		}
		var elements []int
		for i, name := range w.names {
			finite := !math.IsNaN(w.rows[i].Mean) && !math.IsInf(w.rows[i].Mean, 0)
			if variableOf(name) == v.Name && finite && !w.mirrored(name) && len(indicesOf(name)) < 2 && !w.correlates(i) {
				elements = append(elements, i)
			}
		}
		if !slices.ContainsFunc(elements, w.shown) || len(elements) > maxCompared && w.rank(v.Name) > 0 {
			continue
		}
		if text := w.together(v.Name, elements); text != "" {
			w.candidates = append(w.candidates, sentence{rank: ofGenerated, text: text})
		}
	}
}

// together states the elements of a variable in one sentence, or the lowest and the highest of many
// that have names; "" if those have none. Elements of a simplex are shares of one another, so that
// the lowest and the highest say something without names.
func (w *work) together(variable string, elements []int) string {
	if len(elements) == 1 {
		return w.statement(elements[0])
	}
	labels, named := w.elementNames(elements)
	shares := w.shares(elements)
	if shares && !named {
		for k := range labels {
			labels[k] = variable + labels[k]
		}
	}
	number := func(k int) string {
		r := w.rows[elements[k]]
		return interval(r.Mean, r.Q5, r.Q95, r.SD)
	}
	value := func(k int) string { return number(k) + " for " + labels[k] }
	if len(elements) <= maxCompared {
		var parts []string
		for k := range elements {
			switch {
			case named || shares:
				parts = append(parts, value(k))
			case k == 0:
				parts = append(parts, labels[k]+" is "+number(k))
			default:
				parts = append(parts, labels[k]+" "+number(k))
			}
		}
		switch {
		case shares: // one of them is redundant
			variable = "The shares " + variable + " add up to 1: "
		case named:
			variable += " is "
		}
		return variable + strings.Join(parts, ", ") + "."
	}
	if !named && !shares {
		return ""
	}
	low, high := 0, 0
	for k, i := range elements {
		if w.rows[i].Mean < w.rows[elements[low]].Mean {
			low = k
		}
		if w.rows[i].Mean > w.rows[elements[high]].Mean {
			high = k
		}
	}
	if shares {
		return fmt.Sprintf("Of the %d shares %s, which add up to 1, the highest is %s and the lowest %s.", len(elements), variable, value(high), value(low))
	}
	return fmt.Sprintf("%s is highest, %s, and lowest, %s.", variable, value(high), value(low))
}

// shares reports whether elements of a variable are those of one simplex.
func (w *work) shares(elements []int) bool {
	name := w.names[elements[0]]
	return w.roles.Simplices[variableOf(name)] && len(indicesOf(name)) == 1
}

// elementNames names elements of a variable: by the levels of a factor, else by the values of the
// only column of the data that has as many different ones, else by their indices.
func (w *work) elementNames(elements []int) (names []string, named bool) {
	label := w.report.Summary.Label
	for _, i := range elements {
		if label != nil && label[i] != "" {
			names = append(names, label[i])
		}
	}
	if len(names) == len(elements) {
		return names, true
	}
	names = nil
	if column, x := w.columnOf(len(elements)); column != "" {
		for _, v := range x {
			names = append(names, fmt.Sprintf("%s %.4g", column, v))
		}
		return names, true
	}
	for _, i := range elements {
		names = append(names, "["+indexOf(w.names[i])+"]")
	}
	return names, false
}

// columnOf returns the only column of numbers of the data that has n different values; "" if none
// or several have.
func (w *work) columnOf(n int) (name string, x []float64) {
	values, err := w.fit.Data()
	if g := w.o.Generated; g != nil {
		values, err = g.Data(), nil
	}
	if err != nil || values == nil {
		return "", nil
	}
	for _, column := range values.Names() {
		v, _ := values.Get(column)
		levels, _ := values.Factor(column)
		if len(v.Shape) != 1 || len(v.Reals) != n || levels != nil || w.roles.Outcomes[column] || len(slices.Compact(slices.Sorted(slices.Values(v.Reals)))) != n {
			continue
		}
		if name != "" {
			return "", nil
		}
		name, x = column, v.Reals
	}
	return name, x
}

// correlates reports whether a quantity equals a correlation of group-level terms. These have their
// own sentences.
func (w *work) correlates(i int) bool {
	draws := w.drawsOf(i)
	for factor := range w.roles.Correlations {
		for _, c := range w.correlationsOf(factor) {
			if slices.EqualFunc(draws, c.draws, func(a, b float64) bool { return math.Abs(a-b) < sameCorrelation }) {
				return true
			}
		}
	}
	return false
}

// sameCorrelation is the maximum difference of two draws of a correlation that are the same but for
// rounding in the files of draws.
const sameCorrelation = 1e-4

// spreads states the standard deviations and correlations of group-level terms.
func (w *work) spreads() {
	for i, name := range w.names {
		of, ok := w.roles.Scales[variableOf(name)]
		if !ok || !w.shown(i) || len(indicesOf(name)) > 1 {
			continue
		}
		what := of
		if at := indicesOf(name); len(at) == 1 {
			if term := w.termOf(of, at[0]); term != "" {
				what = "the " + term
			}
		}
		r := w.rows[i]
		w.candidates = append(w.candidates, sentence{rank: ofSpread, text: fmt.Sprintf("The standard deviation of %s%s, %s, is %s.", what, w.byOf(of), name, interval(r.Mean, r.Q5, r.Q95, r.SD))})
	}
	for _, factor := range slices.Sorted(maps.Keys(w.roles.Correlations)) {
		for _, c := range w.correlationsOf(factor) {
			a, b := w.termOf(c.of, c.i), w.termOf(c.of, c.j)
			if a == "" || b == "" {
				a, b = fmt.Sprintf("column %d", c.i), fmt.Sprintf("column %d of %s", c.j, c.of)
			}
			above := 0
			for _, v := range c.draws {
				if v > 0 {
					above++
				}
			}
			q := diagnose.Quantiles(c.draws, 0.05, 0.95)
			mean, sd := moments(c.draws)
			w.candidates = append(w.candidates, sentence{rank: ofSpread, text: fmt.Sprintf("The correlation of the %s and the %s%s is %s: %s.", a, b, w.byOf(c.of), interval(mean, q[0], q[1], sd), signed(float64(above)/float64(len(c.draws)), 1-float64(above)/float64(len(c.draws))))})
		}
	}
}

// moments returns the mean and the standard deviation of values.
func moments(values []float64) (mean, sd float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sd += (v - mean) * (v - mean) / float64(max(1, len(values)-1))
	}
	return mean, math.Sqrt(sd)
}

// maxStated is the maximum number of elements of a variable that are stated.
const maxStated = 4

// parameters states the population parameters, a sentence for each variable. Those that the
// question names come first, unless a predictor of that name has a sentence.
func (w *work) parameters() {
	discrete, generated := map[string]bool{}, map[string]bool{}
	if m, err := w.model(); err == nil {
		for name := range m.Program().Discretes() {
			discrete[name] = true
		}
		for _, v := range m.Program().IR().GeneratedQuantityVars {
			generated[v.Name] = true
		}
	}
	var order []string
	elements := map[string][]int{}
	for i, name := range w.names {
		v := variableOf(name)
		_, spread := w.roles.Scales[v]
		if !w.shown(i) || w.rank(v) > 0 || w.curved[v] || w.roles.Symmetric[v] || spread || discrete[v] || generated[v] {
			continue // or stated already
		}
		if elements[v] == nil {
			order = append(order, v)
		}
		elements[v] = append(elements[v], i)
	}
	for _, v := range order {
		if len(elements[v]) > maxStated && !w.shares(elements[v]) {
			continue
		}
		rank := ofParameter
		if w.asked(v) && !w.predicts(v) {
			rank = ofAsked
		}
		text := w.together(v, elements[v])
		w.candidates = append(w.candidates, sentence{rank: rank, text: text})
		if rank == ofParameter && w.roles.Bounded[v] {
			w.candidates = append(w.candidates, sentence{rank: ofBounded, text: text})
		}
	}
}

// predicts reports whether a predictor with a word of the name has a sentence.
func (w *work) predicts(name string) bool {
	words := wordsOf(name)
	return slices.ContainsFunc(w.candidates, func(s sentence) bool {
		return s.about != "" && slices.ContainsFunc(wordsOf(s.about), func(word string) bool { return slices.Contains(words, word) })
	})
}

// shareAbove returns the share of the draws in which a is above b.
func shareAbove(a, b []float64) float64 {
	n := 0
	for k, v := range b {
		if a[k] > v {
			n++
		}
	}
	return float64(n) / float64(max(1, len(b)))
}

// chance returns a probability above one half as text.
func chance(p float64) string {
	if p > 0.995 {
		return "above 0.99"
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// interval returns a mean with the middle 90 %, with decimals by the standard deviation.
func interval(mean, low, high, sd float64) string {
	d := -1
	if sd > 0 && !math.IsInf(sd, 1) {
		d = 1 - int(math.Floor(math.Log10(sd)))
	}
	number := func(v float64) string {
		if d < 0 || d > 6 || math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', 4, 64)
		}
		text := strconv.FormatFloat(v, 'f', d, 64)
		if strings.Trim(text, "-0.") == "" {
			text = strings.TrimPrefix(text, "-") // rounded to 0
		}
		return text
	}
	return fmt.Sprintf("%s (%s … %s)", number(mean), number(low), number(high))
}
