package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/assess"
)

// The limits of the answers at the head of a report.
const (
	maxAnswered  = 6 // sentences
	maxCompared  = 4 // levels that are all named
	unlikelySign = 0.5
)

// answerOf says in a sentence how the expected outcome changes along a curve; "" if the outcome has
// categories.
func answerOf(c *assess.Curve, what string) string {
	if c.Categories > 0 || len(c.Points) < 2 {
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
	higher := func(i, j int) float64 {
		n := 0
		for k, v := range c.Points[i].Draws {
			if c.Points[j].Draws[k] > v {
				n++
			}
		}
		return float64(n) / float64(len(c.Points[i].Draws))
	}
	last := len(c.Points) - 1
	if !c.Factor {
		verb, p := "rises", higher(0, last)
		if p < unlikelySign {
			verb, p = "falls", 1-p
		}
		return fmt.Sprintf("The %s is %s at %s %s and %s at %s: it %s with probability %s.", what, text[0], c.Name, at(0), text[last], at(last), verb, chance(p))
	}
	if len(c.Points) <= maxCompared {
		var parts []string
		for i := range c.Points {
			parts = append(parts, fmt.Sprintf("%s for %s", text[i], at(i)))
		}
		out := fmt.Sprintf("The %s by %s is %s", what, c.Name, strings.Join(parts, ", "))
		if len(c.Points) == 2 {
			verb, p := "higher", higher(0, 1)
			if p < unlikelySign {
				verb, p = "lower", 1-p
			}
			out += fmt.Sprintf(": %s for %s with probability %s", verb, at(1), chance(p))
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

// answers fills in the answers from parameters if there are none from expected outcomes. So it is
// with several outcomes, whose expectations alone say little.
func (w *work) answers() {
	if len(w.report.Answers) > 0 {
		w.report.Answers = w.report.Answers[:min(len(w.report.Answers), maxAnswered)]
		return
	}
	s := &w.report.Summary
	for i, name := range s.Name {
		if len(w.report.Answers) == maxAnswered {
			return
		}
		if variableOf(name) == name && (s.Aside == nil || !s.Aside[i]) && !math.IsNaN(float64(s.Mean[i])) {
			w.report.Answers = append(w.report.Answers, fmt.Sprintf("%s is %s.", name, interval(float64(s.Mean[i]), float64(s.Q5[i]), float64(s.Q95[i]), float64(s.SD[i]))))
		}
	}
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
		return strconv.FormatFloat(v, 'f', d, 64)
	}
	return fmt.Sprintf("%s (%s … %s)", number(mean), number(low), number(high))
}
