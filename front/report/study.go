package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// Study is the data of a page about a study, which consists of many fits. The program that ran the
// fits fills it in.
type Study struct {
	Title   string
	Verdict string // verdict in one line
	Well    bool   // no fit has a problem
	Facts   []Fact // facts at the head of the page
	Program string // the program and its version
	Made    time.Time

	Tables     []Table // tables of findings and failures
	HeldOut    *Table  // nil: no observations were held out
	Quantities []StudyQuantity
	Times      Counts // histogram of the seconds that fits took
	Notes      []string
	Choose     string // the command that chooses quantities for plots; "": there is none
}

// Fact is a named number or text.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Counts is a histogram with bins of equal width, and the number of values above them.
type Counts struct {
	From, Step float64
	N          []int
	Above      int
}

// StudyQuantity summarises a quantity over all fits of a model.
type StudyQuantity struct {
	Model, Name                  string // Model is "" if there is only one
	Fits                         int
	Rhat, Rhat95, RhatMax        float64 // median, 95 % quantile and maximum
	HighRhat                     int     // number of fits above 1.01
	Bulk, Bulk5, Tail, Tail5     float64 // effective sample sizes: median and 5 % quantile
	RhatCounts, BulkESS, TailESS Counts

	Ranked                 int     // number of fits to simulated data
	Coverage50, Coverage90 float64 // shares of these fits whose interval contains the true value
	Uniform                float64 // p-value of uniform ranks; NaN: too few
	Ranks                  []int   // by bins of equal width
	RanksLow, RanksHigh    float64 // interval of 99 % of the bins, if ranks are uniform
}

// studyFigures is the maximum number of quantities with plots in the page.
const studyFigures = 1000

// coverageNames is the maximum number of quantities in a plot of coverage.
const coverageNames = 40

// StudyKinds lists the plots of studies.
func StudyKinds() []Kind {
	return []Kind{
		{Name: "study-rhat", Title: "R-hat", Scope: OfQuantity,
			Shows: "R-hat of the quantity in each fit. In fits above 1.01, right of the dashed line, the chains do not agree. A remark counts the fits beyond the last class."},
		{Name: "study-ess", Title: "Effective sample size", Scope: OfQuantity,
			Shows: "The effective sample size of the quantity in each fit, in the bulk and in the tails."},
		{Name: "study-ranks", Title: "Ranks of the true value", Scope: OfQuantity,
			Shows: "The rank of the true value among the draws of the fit to its data. Ranks are uniform if the posterior is computed correctly; of a hundred bars, about one leaves the band by chance. A hump means that the posterior is too wide, a valley that it is too narrow, a slope that it lies to one side."},
		{Name: "study-coverage", Title: "Coverage", Scope: OfVariable,
			Shows: "The share of fits whose middle 50 % and 90 % contain the true value, with 95 % intervals for this number of fits. The shares should reach the dashed lines."},
		{Name: "study-times", Title: "Time of a fit", Scope: OfRun,
			Shows: "The wall-clock time of each fit, including reading, summarising and writing. It depends on the machine and on what else ran there."},
	}
}

// studyJSON is the data of the page.
type studyJSON struct {
	Title    string         `json:"title"`
	Verdict  string         `json:"verdict"`
	Well     bool           `json:"well"`
	Facts    []Fact         `json:"facts"`
	Program  string         `json:"program"`
	Made     string         `json:"made"`
	Kinds    []Kind         `json:"kinds"`
	Tables   []Table        `json:"tables"`
	HeldOut  *Table         `json:"heldOut"`
	Summary  map[string]any `json:"summary"`
	Figures  [][]Figure     `json:"figures"` // figures by quantity
	Coverage []Figure       `json:"coverage"`
	Times    []Figure       `json:"times"`
	Notes    []string       `json:"notes"`
	Choose   string         `json:"choose,omitempty"`
}

// WriteHTML writes the study as one self-contained HTML file, which needs no network.
func (s *Study) WriteHTML(w io.Writer) error {
	text, err := json.Marshal(s.data())
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	page, _ := page(s.Title, text, pageScript, studyScript)
	_, err = w.Write(page)
	return err
}

// WriteEmbedded is [Report.WriteEmbedded] for a study.
func (s *Study) WriteEmbedded(w io.Writer) error { return embedded(w, s.Title, s.WriteHTML) }

// Plots returns a report that has only the plots of a study, to be drawn.
func (s *Study) Plots() *Report {
	j := s.data()
	r := &Report{Title: s.Title, Kinds: j.Kinds}
	for _, figures := range slices.Concat(j.Figures, [][]Figure{j.Coverage, j.Times}) {
		for _, f := range figures {
			if f.Of = slices.DeleteFunc(slices.Clone(f.Of), func(of string) bool { return of == "" }); !f.Empty() {
				r.Figures = append(r.Figures, f)
			}
		}
	}
	return r
}

func (s *Study) data() *studyJSON {
	j := &studyJSON{Title: s.Title, Verdict: s.Verdict, Well: s.Well, Facts: s.Facts, Program: s.Program, Made: s.Made.UTC().Format(time.RFC3339),
		Choose: s.Choose, Kinds: StudyKinds(), Tables: append([]Table{}, s.Tables...), HeldOut: s.HeldOut, Figures: [][]Figure{}, Coverage: []Figure{}, Times: []Figure{}, Notes: append([]string{}, s.Notes...)}
	if len(s.Times.N) > 0 {
		j.Times = append(j.Times, Figure{Kind: "study-times", X: Axis{Label: "seconds"}, Y: Axis{Label: "fits", Zero: true, Whole: true}, Layers: []Layer{s.Times.layer(First, "")}, Note: s.Times.note(),
			Alt: "How long the fits have taken"})
	}
	j.Summary = s.summary()
	for i := range s.Quantities {
		if i == studyFigures {
			note := fmt.Sprintf("The plots of the quantities after the first %d.", studyFigures)
			if s.Choose != "" {
				note += " " + s.Choose + " chooses others."
			}
			j.Notes = append(j.Notes, note)
			break
		}
		j.Figures = append(j.Figures, s.Quantities[i].figures())
	}
	j.Coverage = s.coverage()
	return j
}

// label returns the name of a quantity in the page.
func (q *StudyQuantity) label() string {
	if q.Model == "" {
		return q.Name
	}
	return q.Model + ": " + q.Name
}

// summary returns the columns of the table that have values; those about ranks only if there are
// any.
func (s *Study) summary() map[string]any {
	ranked := false
	names := []string{}
	for i := range s.Quantities {
		names = append(names, s.Quantities[i].label())
		ranked = ranked || s.Quantities[i].Ranked > 0
	}
	out := map[string]any{"name": names}
	for _, c := range []struct {
		key    string
		ranked bool
		of     func(*StudyQuantity) float64
	}{
		{"fits", false, func(q *StudyQuantity) float64 { return float64(q.Fits) }},
		{"rhat", false, func(q *StudyQuantity) float64 { return q.Rhat }},
		{"rhat95", false, func(q *StudyQuantity) float64 { return q.Rhat95 }},
		{"rhatMax", false, func(q *StudyQuantity) float64 { return q.RhatMax }},
		{"highRhat", false, func(q *StudyQuantity) float64 {
			if math.IsNaN(q.Rhat) {
				return math.NaN()
			}
			return float64(q.HighRhat)
		}},
		{"bulk", false, func(q *StudyQuantity) float64 { return q.Bulk }},
		{"bulk5", false, func(q *StudyQuantity) float64 { return q.Bulk5 }},
		{"tail", false, func(q *StudyQuantity) float64 { return q.Tail }},
		{"tail5", false, func(q *StudyQuantity) float64 { return q.Tail5 }},
		{"in50", true, func(q *StudyQuantity) float64 { return q.Coverage50 }},
		{"in90", true, func(q *StudyQuantity) float64 { return q.Coverage90 }},
		{"uniform", true, func(q *StudyQuantity) float64 { return q.Uniform }},
	} {
		if c.ranked && !ranked {
			continue
		}
		column, none := []Number{}, true
		for i := range s.Quantities {
			v := c.of(&s.Quantities[i])
			column = append(column, Number(v))
			none = none && math.IsNaN(v)
		}
		if !none { // at least one fit has the value
			out[c.key] = column
		}
	}
	return out
}

// layer draws counts as bars.
func (c *Counts) layer(role Role, label string) Layer {
	l := Layer{Mark: Step, Role: role, Label: label, From: c.From, Step: c.Step}
	for _, n := range c.N {
		l.Y = append(l.Y, float64(n))
	}
	return l
}

func (c *Counts) note() string {
	if c.Above == 0 {
		return ""
	}
	return fmt.Sprintf("%d more above %.4g.", c.Above, c.From+c.Step*float64(len(c.N)))
}

// figures returns the plots of a quantity.
func (q *StudyQuantity) figures() []Figure {
	of := []string{q.label()}
	fits := Axis{Label: "fits", Zero: true, Whole: true}
	rhat := Figure{Kind: "study-rhat", Of: of, X: Axis{Label: "R-hat"}, Y: fits, Note: q.RhatCounts.note(),
		Alt: fmt.Sprintf("R-hat of %s: median %.3f, at most %.3f", q.label(), q.Rhat, q.RhatMax)}
	if len(q.RhatCounts.N) > 0 {
		rhat.Layers = []Layer{q.RhatCounts.layer(First, ""), {Mark: Rule, Role: Reference, X: Values{1.01}, Label: "1.01"}}
	} else {
		rhat.Layers, rhat.Note = []Layer{}, "There is no R-hat of this quantity."
	}
	ess := Figure{Kind: "study-ess", Of: of, X: Axis{Label: "effective sample size", Zero: true}, Y: fits,
		Alt: fmt.Sprintf("Effective sample sizes of %s: median %.0f in the bulk, %.0f in the tails", q.label(), q.Bulk, q.Tail)}
	if len(q.BulkESS.N) > 0 {
		ess.Layers = append(ess.Layers, q.BulkESS.layer(First, "bulk"))
	}
	if len(q.TailESS.N) > 0 {
		ess.Layers = append(ess.Layers, q.TailESS.layer(Second, "tails"))
	}
	if ess.Layers == nil {
		ess.Layers, ess.Note = []Layer{}, "There is no effective sample size of this quantity."
	}
	list := []Figure{rhat, ess}
	if q.Ranked > 0 {
		list = append(list, q.ranks())
	}
	return list
}

// ranks returns the histogram of ranks, with the band that holds 99 % of uniform ones.
func (q *StudyQuantity) ranks() Figure {
	classes := float64(len(q.Ranks))
	c := Counts{From: 0, Step: 1 / classes, N: q.Ranks}
	return Figure{Kind: "study-ranks", Of: []string{q.label()}, X: Axis{Label: "rank, as a share of the draws", Range: []Number{0, 1}}, Y: Axis{Label: "fits", Zero: true, Whole: true},
		Layers: []Layer{
			{Mark: Band, Role: Reference, Label: "99 % of uniform ranks", X: Values{0, 1}, Low: Values{q.RanksLow, q.RanksLow}, High: Values{q.RanksHigh, q.RanksHigh}},
			{Mark: Rule, Role: Reference, Y: Values{float64(q.Ranked) / classes}},
			c.layer(First, ""),
		},
		Alt: fmt.Sprintf("Ranks of the true value of %s among the draws of %d fits", q.label(), q.Ranked)}
}

// coverage returns a plot for each model whose fits have ranks.
func (s *Study) coverage() []Figure {
	var list []Figure
	figure := func(model string) *Figure {
		for i := range list {
			if list[i].Of[0] == model {
				return &list[i]
			}
		}
		list = append(list, Figure{Kind: "study-coverage", Of: []string{model}, X: Axis{Label: "share of the fits", Range: []Number{0, 1}},
			Layers: []Layer{
				{Mark: Rule, Role: Reference, X: Values{0.5}}, {Mark: Rule, Role: Reference, X: Values{0.9}},
				{Mark: Range, Role: First, Label: "middle 50 %"}, {Mark: Points, Role: First}, {Mark: Range, Role: Second, Label: "middle 90 %"}, {Mark: Points, Role: Second},
			}, Alt: "How often the middle of the posterior has the true value"})
		return &list[len(list)-1]
	}
	for i := range s.Quantities {
		q := &s.Quantities[i]
		if q.Ranked == 0 {
			continue
		}
		f := figure(q.Model)
		at := len(f.Y.Names)
		if at == coverageNames {
			f.Note = fmt.Sprintf("The first %d quantities.", coverageNames)
			continue
		}
		f.Y.Names = append(f.Y.Names, q.Name)
		for k, share := range []float64{q.Coverage50, q.Coverage90} {
			low, high := wilson(share, float64(q.Ranked))
			l, points := &f.Layers[2+2*k], &f.Layers[3+2*k]
			y := float64(at) + 0.12 - 0.24*float64(k)
			l.Low, l.High, l.Y = append(l.Low, low), append(l.High, high), append(l.Y, y)
			points.X, points.Y = append(points.X, share), append(points.Y, y)
		}
	}
	if list == nil {
		list = []Figure{}
	}
	return list
}

// wilson returns the 95 % interval for a proportion of n (Wilson 1927).
func wilson(share, n float64) (low, high float64) {
	const z = 1.959963984540054
	middle := (share + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return middle - half, middle + half
}
