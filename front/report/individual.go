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
	if !w.judged() || w.subjects() == nil {
		return nil
	}
	w.shrinkage()
	var out []Figure
	for _, s := range w.subjects() {
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

// subjects returns the fits of subjects. There are none if the data have no such columns, or
// nothing is expected of their rows.
func (w *work) subjects() []assess.Individuals {
	if !w.fitted {
		w.fitted = true
		if sets, err := assess.IndividualsOf(w.ctx, w.fit, assess.IndividualOptions{}); err == nil {
			w.outcomes = sets
		}
	}
	return w.outcomes
}

// maxGoodness is the maximum number of observations in a plot of the goodness of fit.
const maxGoodness = 5000

// goodness draws observations against individual and population predictions, and NPDE and CWRES
// against time and population predictions.
func goodness(w *work) []Figure {
	if !w.judged() {
		return nil
	}
	var out []Figure
	for _, s := range w.subjects() {
		var x, y, individual, population, npde, cwres Values
		for _, one := range s.Subjects {
			for _, r := range one.Rows {
				x, y, npde, cwres = append(x, r.X), append(y, r.Observed), append(npde, r.NPDE), append(cwres, r.CWRES)
				individual, population = append(individual, r.Mean), append(population, r.Population)
			}
		}
		step := (len(y) + maxGoodness - 1) / maxGoodness
		some := func(all Values) (out Values) {
			for i := 0; i < len(all); i += step {
				out = append(out, all[i])
			}
			return out
		}
		log := logarithmic(s)
		against := func(name string, predicted Values) {
			low, high := math.Inf(1), math.Inf(-1)
			for i := range y {
				low, high = min(low, y[i], predicted[i]), max(high, y[i], predicted[i])
			}
			out = append(out, Figure{Kind: "goodness", Of: []string{s.Name, name}, X: Axis{Label: name + " prediction", Log: log && low > 0}, Y: Axis{Label: s.Name, Log: log && low > 0},
				Layers: []Layer{{Mark: Line, Role: Reference, Label: "equal", X: Values{low, high}, Y: Values{low, high}}, {Mark: Points, Role: Observed, Label: "data", X: some(predicted), Y: some(y)}},
				Alt:    fmt.Sprintf("%d observations of %s against their %s predictions, with the line where both are equal.", len(y), s.Name, name)})
		}
		against("individual", individual)
		if s.NoPopulation == nil {
			against("population", population)
		}
		along := func(what string, values Values, name string, at Values) {
			n, mean, sd := s.Residuals(what)
			if n == 0 {
				return
			}
			f := Figure{Kind: "goodness", Of: []string{s.Name, what, name}, X: Axis{Label: name}, Y: Axis{Label: what + " of " + s.Name}}
			for _, level := range []float64{-1.96, 0, 1.96} {
				f.Layers = append(f.Layers, Layer{Mark: Rule, Role: Reference, Y: Values{level}})
			}
			f.Layers = append(f.Layers, Layer{Mark: Points, Role: Observed, Label: "data", X: some(at), Y: some(values)})
			f.Alt = fmt.Sprintf("%d %s of %s along %s, with mean %.2f and standard deviation %.2f; 0 and 1 are expected.", n, what, s.Name, name, mean, sd)
			if n == 1 {
				f.Alt = fmt.Sprintf("The %s of %s is %.2f; a standard normal number is expected.", what, s.Name, mean)
			}
			out = append(out, f)
		}
		for _, of := range []struct {
			name   string
			values Values
		}{{assess.NPDE, npde}, {assess.CWRES, cwres}} {
			along(of.name, of.values, s.X, x)
			if s.NoPopulation == nil {
				along(of.name, of.values, "population prediction", population)
			}
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
