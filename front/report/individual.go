package report

import (
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/assess"
)

// This file draws individual fits: what the model expects of each subject over time.

// maxSubjects is the maximum number of subjects that are drawn.
const maxSubjects = 16

// individuals draws a figure for each subject, if the data have a column time and one of subjects,
// and adds a table of shrinkages.
func individuals(w *work) []Figure {
	if !w.judged() {
		return nil
	}
	sets, err := assess.IndividualsOf(w.ctx, w.fit, assess.IndividualOptions{})
	if err != nil {
		return nil // the data have no such columns, or nothing is expected of their rows
	}
	w.shrinkage()
	var out []Figure
	for _, s := range sets {
		log := logarithmic(s)
		for k, one := range s.Subjects[:min(len(s.Subjects), maxSubjects)] {
			f := subject(s, one)
			f.Y.Log = log
			if k == 0 && len(s.Subjects) > maxSubjects {
				f.Note = fmt.Sprintf("%d of %d subjects are shown: see ppl individuals.", maxSubjects, len(s.Subjects))
			}
			out = append(out, f)
		}
	}
	return out
}

// logarithmic reports whether outcomes are shown on a logarithmic axis, the same for all subjects.
func logarithmic(s assess.Individuals) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, one := range s.Subjects {
		for _, r := range one.Rows {
			low, high = min(low, r.Observed, r.Q5), max(high, r.Observed, r.Q95)
		}
	}
	return low > 0 && high > logRatio*low
}

// subject draws the observations of a subject with its predictions.
func subject(s assess.Individuals, one assess.Subject) Figure {
	f := Figure{Kind: "individual", Of: []string{s.Name, one.Of.Label}, X: Axis{Label: s.X}, Y: Axis{Label: s.Name}}
	band := Layer{Mark: Band, Role: First, Label: "90 % individual"}
	line := Layer{Mark: Line, Role: First, Label: "individual"}
	population := Layer{Mark: Line, Role: Second, Label: "population"}
	points := Layer{Mark: Points, Role: Observed, Label: "data"}
	for _, r := range one.Rows {
		band.X, band.Low, band.High = append(band.X, r.X), append(band.Low, r.Q5), append(band.High, r.Q95)
		line.X, line.Y = append(line.X, r.X), append(line.Y, r.Mean)
		population.X, population.Y = append(population.X, r.X), append(population.Y, r.Population)
		points.X, points.Y = append(points.X, r.X), append(points.Y, r.Observed)
	}
	f.Layers = []Layer{band, line}
	if s.NoPopulation == nil {
		f.Layers = append(f.Layers, population)
	}
	f.Layers = append(f.Layers, points)
	_, individual, _ := one.Errors()
	f.Alt = fmt.Sprintf("%s of %s %s along %s: %d observations with individual and population predictions; the root mean square of the differences from the individual ones is %.3g.", s.Name, s.By, one.Of.Label, s.X, len(one.Rows), individual)
	return f
}

// shrinkage adds a table of shrinkages.
func (w *work) shrinkage() {
	terms, err := assess.ShrinkageOf(w.ctx, w.fit)
	if err != nil || len(terms) == 0 {
		return
	}
	t := Table{Kind: "shrinkage", Title: "Shrinkage", Columns: []Column{{"", 0}, {"levels", 0}, {"sd of means", 4}, {"sd", 4}, {"shrinkage", 3}},
		Note: "By how much the means of the levels spread less than the levels do. Near 1, the data of each level say little, and plots of the means against covariates mislead."}
	for _, s := range terms {
		t.Rows = append(t.Rows, []any{s.Term, Number(s.Levels), Number(s.Means), Number(s.SD), Number(s.Value)})
	}
	w.report.Tables = append(w.report.Tables, t)
}
