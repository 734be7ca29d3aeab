package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
)

// This file prints checks of kinds of data: survival curves and frequencies of counts.

// shownTimes is the maximum number of times at which the text shows a survival curve.
const shownTimes = 8

// writeSurvival prints the survival curves of a variable, if it has any.
func writeSurvival(b *strings.Builder, w io.Writer, v assess.PredictiveVariable) {
	s := v.Survival
	if s == nil {
		return
	}
	title, what, count, estimate := "Survival of %s: %d of %d times are censored.", "time", "at risk", "Kaplan-Meier"
	if s.Below {
		title, what, count, estimate = "Distribution of %s: %d of %d values are censored from below.", "value", "rows", "share below"
	}
	var head []string
	for _, name := range s.By {
		head = append(head, escaped(name))
	}
	if s.X != "" {
		head = append(head, escaped(s.X))
	}
	texts := len(head)
	cells := [][]string{append(head, what, count, estimate, "mean", "5%", "50%", "95%", "p")}
	rows, events := 0, 0
	for _, c := range s.Curves {
		rows, events = rows+c.Rows, events+c.Events
		shown := max(2, shownTimes/len(s.Curves))
		last := -1
		for k := range shown {
			if len(c.Points) == 0 {
				break
			}
			at := (2*k + 1) * len(c.Points) / (2 * shown)
			if at == last {
				continue
			}
			last = at
			p := c.Points[at]
			var row []string
			for _, by := range c.By {
				row = append(row, escaped(by.Label))
			}
			if s.X != "" {
				row = append(row, intervalText(c.Low, c.High))
			}
			figures := []string{figure(p.Check.Observed, 3), figure(p.Check.Mean, 3), figure(p.Check.Q5, 3), figure(p.Check.Q50, 3), figure(p.Check.Q95, 3), fixed(p.Check.P, 3)}
			cells = append(cells, slices.Concat(row, []string{strconv.FormatFloat(p.Time, 'g', 5, 64), strconv.Itoa(p.AtRisk)}, figures))
		}
	}
	writeParagraph(b, "", fmt.Sprintf(title+" The replications are censored like the data.", v.Name, rows-events, rows), lineWidth(w))
	writeLabelled(b, w, cells, texts)
	writeParagraph(b, "", fmt.Sprintf("Largest deviation of all %ss together: p = %s.", what, fixed(s.P, 3)), lineWidth(w))
	b.WriteString("\n")
}

// writeFrequencies prints how often each value of a count occurs, if that is known.
func writeFrequencies(b *strings.Builder, w io.Writer, v assess.PredictiveVariable) {
	f := v.Frequencies
	if f == nil {
		return
	}
	cells := [][]string{{v.Name, "rows", "mean", "5%", "50%", "95%", "p"}}
	for _, c := range f.Classes {
		k := c.Check
		cells = append(cells, []string{c.Name(), figure(k.Observed, 0), figure(k.Mean, 1), figure(k.Q5, 0), figure(k.Q50, 0), figure(k.Q95, 0), fixed(k.P, 3)})
	}
	writeParagraph(b, "", fmt.Sprintf("How often each value of %s occurs:", v.Name), lineWidth(w))
	writeLabelled(b, w, cells, 1)
	writeParagraph(b, "", fmt.Sprintf("Largest deviation of all values together: p = %s.", fixed(f.P, 3)), lineWidth(w))
	b.WriteString("\n")
}

// intervalText describes an interval of a column.
func intervalText(low, high float64) string {
	text := strconv.FormatFloat(low, 'g', 5, 64)
	if low != high {
		text += " to " + strconv.FormatFloat(high, 'g', 5, 64)
	}
	return text
}

func statisticJSON(c criticise.Check) ppcCheck {
	return ppcCheck{c.Name, number(c.Observed), number(c.Mean), number(c.SD), number(c.Q5), number(c.Q50), number(c.Q95), number(c.P)}
}

func survivalJSON(s *assess.Survival) *ppcSurvival {
	if s == nil {
		return nil
	}
	out := &ppcSurvival{Below: s.Below, P: number(s.P), Curves: []ppcCurve{}}
	for _, c := range s.Curves {
		curve := ppcCurve{By: settingsJSON(c.By), Rows: c.Rows, Events: c.Events, Points: []ppcPoint{}, Odd: math.Abs(c.Deviation) > s.Limit}
		if s.X != "" {
			low, high := number(c.Low), number(c.High)
			curve.Low, curve.High = &low, &high
		}
		for _, p := range c.Points {
			curve.Points = append(curve.Points, ppcPoint{number(p.Time), p.AtRisk, statisticJSON(p.Check)})
		}
		out.Curves = append(out.Curves, curve)
	}
	return out
}

func countsJSON(c *assess.Counts) *ppcCounts {
	if c == nil {
		return nil
	}
	bound := func(x float64) *number {
		if math.IsInf(x, 0) {
			return nil
		}
		n := number(x)
		return &n
	}
	out := &ppcCounts{P: number(c.P), Classes: []ppcClass{}}
	for _, class := range c.Classes {
		out.Classes = append(out.Classes, ppcClass{bound(class.Low), bound(class.High), statisticJSON(class.Check), math.Abs(class.Deviation) > c.Limit})
	}
	return out
}
