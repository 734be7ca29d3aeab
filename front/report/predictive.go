package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/model/predict"
)

// maxLikelihoods is the maximum number of log likelihoods, observations times draws, that a report
// computes. For more, use ppl loo, which streams them.
const maxLikelihoods = 4e7

// judged reports whether the model can be run again. If not, it adds a note with the reason.
func (w *work) judged() bool {
	if w.o.Quick || len(w.chains) == 0 || w.fit.Approximate() != "" {
		return false
	}
	_, err := w.fit.Posterior(w.ctx)
	return err == nil
}

// predictive replicates the data once for all plots about it.
func (w *work) predictive() *assess.Predictive {
	if w.replicated != nil || !w.judged() || w.tried {
		return w.replicated
	}
	w.tried = true
	var p *assess.Predictive
	var err error
	for _, by := range append(groupColumns(w), nil) {
		p, err = assess.PredictiveOf(w.ctx, w.fit, assess.PredictiveOptions{Seed: w.o.Seed, By: by})
		// An error with a column may mean that it is not about the rows of the outcome.
		if w.ctx.Err() != nil || err == nil && !onlyCensoring(p) {
			break
		}
	}
	if err != nil {
		if w.ctx.Err() == nil {
			w.note("There are no predictive checks: %v", err)
		}
		return nil
	}
	w.visual(p)
	w.replicated = p
	w.find(p.Findings())
	for _, v := range p.Variables {
		if len(v.Checks) == 0 {
			continue
		}
		t := Table{Kind: "checks", Title: "Predictive checks of " + v.Name, Columns: []Column{{"statistic", 0}, {"observed", -1}, {"predicted mean", -1}, {"5%", -1}, {"50%", -1}, {"95%", -1}, {"p", 3}}}
		for _, c := range v.Checks {
			name := c.Name
			if yesNo(&v) { // the mean says everything
				if name != "mean" {
					continue
				}
				name = "share of 1"
			}
			t.Decimals = append(t.Decimals, decimals(c.SD))
			t.Rows = append(t.Rows, []any{name, Number(c.Observed), Number(c.Mean), Number(c.Q5), Number(c.Q50), Number(c.Q95), Number(c.P)})
		}
		t.Note = "p is the share of replicated data sets with a larger value; equal ones count half."
		w.report.Tables = append(w.report.Tables, t)
	}
	return p
}

// decimals returns the number of decimals for a number with the given standard deviation, as in ppl
// ppc: two digits of a hundredth of it.
func decimals(sd float64) int {
	if !(sd > 0) || math.IsInf(sd, 1) {
		return -1
	}
	d := 1 - int(math.Floor(math.Log10(sd/100)))
	if d > 6 || d < -3 {
		return -1
	}
	return max(d, 0)
}

// replications compares the data with replicated data.
func replications(p *assess.Predictive) []Figure {
	var out []Figure
	for _, v := range p.Variables {
		if len(v.Checks) == 0 || v.Frequencies != nil || yesNo(&v) && v.Groups != nil {
			continue // kinds of data with their own figures
		}
		f := Figure{Kind: "predictive", Of: []string{v.Name}, X: Axis{Label: v.Name}, Y: Axis{Label: "density", Zero: true}}
		samples := append([][]float64{v.Observed}, v.Replicated...)
		mark := Line
		g, ok := shares(samples)
		if ok {
			mark, f.Y.Label = Step, "share of observations"
		} else {
			g, _, ok = densities(samples)
		}
		if !ok || len(v.Observed) < 3 {
			continue
		}
		for i := len(g.y) - 1; i >= 0; i-- {
			if g.y[i] == nil {
				continue
			}
			l := Layer{Mark: mark, Role: Replicated, From: g.from, Step: g.step, Y: coarse(g.y[i])}
			if i == 0 {
				l.Role, l.Label = Observed, "data"
			} else if i == 1 {
				l.Label = "replicated"
			}
			f.Layers = append(f.Layers, l)
		}
		if len(v.Observed) < v.Observations {
			f.Note = fmt.Sprintf("%d of %d observations are shown.", len(v.Observed), v.Observations)
		}
		f.Alt = fmt.Sprintf("The distribution of %s, and that of %d data sets drawn by the model.", v.Name, len(v.Replicated))
		out = append(out, f)
	}
	return out
}

// calibration shows the leave-one-out probability integral transform (LOO-PIT).
func calibration(p *assess.Predictive) []Figure {
	var out []Figure
	for _, v := range p.Variables {
		u := v.Uniform
		if u == nil || u.N < 2 {
			continue
		}
		f := Figure{Kind: "loo-pit", Of: []string{v.Name}, X: Axis{Label: "place in the prediction (LOO-PIT)", Range: []Number{0, 1}}, Y: Axis{Label: "share of observations below, minus expected"}}
		f.Layers = []Layer{
			{Mark: Band, Role: Reference, Label: "95 % of right models", X: u.Points, Low: coarse(u.Lower), High: coarse(u.Upper)},
			{Mark: Rule, Role: Reference, Y: Values{0}},
			{Mark: Line, Role: Observed, Label: "data", X: u.Points, Y: coarse(u.Difference)},
		}
		f.Alt = fmt.Sprintf("Difference between the distribution of LOO-PIT of %s and the uniform one; p = %.3f.", v.Name, u.P)
		if len(v.PIT) < v.Observations {
			f.Note = fmt.Sprintf("%d of %d observations are shown.", len(v.PIT), v.Observations)
		}
		out = append(out, f)
	}
	return out
}

// states shows the probabilities of discrete parameters.
func states(w *work) {
	m, err := w.fit.Model()
	if err != nil || !m.Program().Discrete() || !w.judged() {
		return
	}
	elements := 0
	for name := range m.Program().Discretes() {
		for _, n := range w.fit.Names() {
			if diagnose.VariableName(n) == name {
				elements++
			}
		}
	}
	if float64(elements)*float64(w.report.Run.Draws) > maxLikelihoods {
		w.note("The probabilities of %d discrete parameters at %d draws are left out: see ppl states.", elements, w.report.Run.Draws)
		return
	}
	s, err := assess.StatesOf(w.ctx, w.fit, 0)
	if err != nil {
		w.note("There are no probabilities of discrete parameters: %v", err)
		return
	}
	t := Table{Kind: "states", Title: "Discrete parameters", Columns: []Column{{"", 0}, {"best", 0}, {"probability", 3}, {"jointly", 0}}}
	for _, e := range s.Elements[:min(len(s.Elements), maxStates)] {
		best, p := e.Best()
		name := e.Name
		if i := slices.Index(w.names, name); i >= 0 && w.report.Summary.Label != nil && w.report.Summary.Label[i] != "" {
			name += ", " + w.report.Summary.Label[i]
		}
		row := []any{name, Number(best), Number(p), Number(e.Jointly)}
		if e.Levels != nil {
			row[1], row[3] = e.Label(best), e.Label(e.Jointly)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Note = fmt.Sprintf("The most probable value of each, with its probability, and its value in the configuration that is the most likely one at %d of %d draws.", s.MostLikely, s.Draws)
	if n := len(s.Elements) - maxStates; n > 0 {
		t.Note += fmt.Sprintf(" %d more are left out, see ppl states.", n)
	}
	w.report.Tables = append(w.report.Tables, t)
	for _, text := range w.statements(s) {
		w.candidates = append(w.candidates, sentence{rank: ofStates, text: text})
	}
}

// maxRuns is the maximum number of runs of equal states in a sentence.
const maxRuns = 8

// statements says which value of each discrete parameter is the most probable one, and which
// element is the least certain.
func (w *work) statements(s *assess.States) (out []string) {
	elements := s.Elements
	for len(elements) > 0 {
		variable := variableOf(elements[0].Name)
		n := 1
		for n < len(elements) && variableOf(elements[n].Name) == variable {
			n++
		}
		of := elements[:n]
		elements = elements[n:]
		var runs []string
		least, lowest := 0, math.Inf(1)
		for from := 0; from < n; {
			best, _ := of[from].Best()
			to := from
			for ; to < n; to++ {
				b, p := of[to].Best()
				if b != best {
					break
				}
				if p < lowest {
					least, lowest = to, p
				}
			}
			first, last := indexOf(of[from].Name), indexOf(of[to-1].Name)
			run := of[from].Label(best)
			switch {
			case n > 1 && to-from > 1:
				run += " at " + first + " to " + last
			case n > 1:
				run += " at " + first
			}
			runs = append(runs, run)
			from = to
		}
		best, p := of[least].Best()
		several := strings.Contains(indexOf(of[0].Name), ",")
		switch {
		case math.IsNaN(p):
		case n == 1:
			text := of[0].Name + " is most probably " + runs[0]
			if i := slices.Index(w.names, of[0].Name); i >= 0 && w.rows[i].Q5 < w.rows[i].Q95 {
				text += fmt.Sprintf(" (%.4g … %.4g)", w.rows[i].Q5, w.rows[i].Q95)
			}
			// A number of a row, such as a change point, has the value of an increasing column.
			if rows := of[0].Least + len(of[0].Probability) - 1; rows >= minCurve {
				if x, label := w.axisOf(predict.Curve{}, rows); x != nil && best >= 1 {
					text += fmt.Sprintf(", %s %.4g", label, x[best-1])
				}
			}
			out = append(out, text+fmt.Sprintf(", with probability %s.", chance(p)))
		case several:
			out = append(out, fmt.Sprintf("The least certain of the %d elements of %s is %s: %s with probability %s.", n, variable, of[least].Name, of[least].Label(best), chance(p)))
		case w.counted(of) != "":
			out = append(out, w.counted(of))
		case len(runs) > maxRuns:
			out = append(out, fmt.Sprintf("The most probable value of %s changes %d times among %d elements. The least certain is %s: %s with probability %s.", variable, len(runs)-1, n, of[least].Name, of[least].Label(best), chance(p)))
		default:
			out = append(out, fmt.Sprintf("%s is most probably %s. The least certain is %s: %s with probability %s.", variable, strings.Join(runs, ", "), of[least].Name, of[least].Label(best), chance(p)))
		}
	}
	return out
}

// counted states discrete parameters whose elements belong to levels of a factor and have more than
// a few values, such as numbers of birds by site; "" if they are different.
func (w *work) counted(of []assess.State) string {
	var elements []int
	for _, e := range of {
		i := slices.Index(w.names, e.Name)
		if i < 0 || len(e.Probability) <= maxCompared || w.report.Summary.Label == nil || w.report.Summary.Label[i] == "" {
			return ""
		}
		elements = append(elements, i)
	}
	return w.together(variableOf(of[0].Name), elements)
}

// indexOf returns the indices of an element as they are written.
func indexOf(name string) string {
	_, inner, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	return inner
}

// maxStates is the maximum number of discrete parameters in the table of states.
const maxStates = 500

// maxPoints is the maximum number of observations whose Pareto k is shown. They include the worst.
const maxPoints = 3000

// paretoK shows the influence of observations.
func paretoK(w *work) []Figure {
	if !w.judged() {
		return nil
	}
	l, err := assess.LogLikOf(w.ctx, w.fit, assess.LogLikOptions{})
	if err != nil {
		w.note("There is no leave-one-out cross-validation: %v", err)
		return nil
	}
	if n := float64(l.Observations()) * float64(w.report.Run.Draws); n > maxLikelihoods {
		w.note("Leave-one-out cross-validation is left out, as there are %d observations × %d draws: see ppl loo.", l.Observations(), w.report.Run.Draws)
		return nil
	}
	r, err := l.LOO(w.ctx, 0)
	if err != nil {
		if w.ctx.Err() == nil {
			w.note("There is no leave-one-out cross-validation: %v", err)
		}
		return nil
	}
	for _, f := range l.Findings(r, false) {
		if f.Code != "p-waic" && (f.Severity == diagnose.Problem && f.Code != "left-out" || w.replicated == nil) { // the table has no WAIC
			w.find([]diagnose.Finding{f})
		}
	}
	t := Table{Kind: "loo", Title: "Leave-one-out cross-validation", Columns: []Column{{"", 0}, {"estimate", 1}, {"se", 1}}}
	for _, row := range []struct {
		name   string
		values []float64
	}{{"elpd_loo", r.ELPD}, {"p_loo", r.P}} {
		e := criticise.Sum(row.values)
		t.Rows = append(t.Rows, []any{row.name, Number(e.Value), Number(e.SE)})
	}
	t.Note = fmt.Sprintf("%d observations; log likelihood %s.", l.Observations(), l.Source)
	w.report.Tables = append(w.report.Tables, t)

	limit := psis.Limit(r.Draws)
	f := Figure{Kind: "pareto-k", X: Axis{Label: "observation"}, Y: Axis{Label: "Pareto k"}}
	good := Layer{Mark: Points, Role: First, Label: "observations"}
	bad := Layer{Mark: Points, Role: Bad, Label: "above the limit"}
	step := max(1, (len(r.K)+maxPoints-1)/maxPoints)
	infinite := 0
	for i, k := range r.K {
		switch {
		case math.IsInf(k, 0) || math.IsNaN(k):
			infinite++
		case k > limit:
			bad.X, bad.Y, bad.Names = append(bad.X, float64(i+1)), append(bad.Y, k), append(bad.Names, l.Names[i])
		case i%step == 0:
			good.X, good.Y, good.Names = append(good.X, float64(i+1)), append(good.Y, k), append(good.Names, l.Names[i])
		}
	}
	f.Layers = []Layer{{Mark: Rule, Role: Reference, Label: fmt.Sprintf("limit, %.2g", limit), Y: Values{limit}}, good}
	if len(bad.X) > 0 {
		f.Layers = append(f.Layers, bad)
	}
	if infinite > 0 {
		f.Note = fmt.Sprintf("%d observations are impossible at some draws and cannot be shown. ", infinite)
	}
	if step > 1 {
		f.Note += fmt.Sprintf("Every %s of those below the limit is shown.", ordinal(step))
	}
	f.Alt = fmt.Sprintf("Pareto k of %d observations; %d lie above %.2g, the largest is %.2g.", len(r.K), len(r.Bad()), limit, slices.Max(append(slices.Clone(r.K), math.Inf(-1))))
	return []Figure{f}
}
