package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/compile/data"
)

// This file has visual predictive checks: ppl ppc --vpc.

// vpcOptions has the flags of visual predictive checks.
type vpcOptions struct {
	on         bool
	bins       string
	correct    string
	prediction string
	redraw     []string
}

func (o *vpcOptions) flags(f declaring) {
	f.Bool(&o.on, "vpc", false)
	f.String(&o.bins, "bins", "")
	f.String(&o.correct, "correct", "")
	f.String(&o.prediction, "prediction", "")
	f.List(&o.redraw, "redraw", nil)
}

// The words of --redraw that are no names of parameters.
const (
	redrawAll  = "all"
	redrawNone = "none"
)

// set sets the options of the checks. values are the data, if they are known yet.
func (o *vpcOptions) set(p *assess.PredictiveOptions) error {
	switch {
	case slices.Equal(o.redraw, []string{redrawAll}), o.on && o.redraw == nil:
		p.RedrawVarying = true
	case !slices.Equal(o.redraw, []string{redrawNone}):
		p.Redraw = o.redraw
	}
	if !o.on {
		for flag, given := range map[string]string{"--bins": o.bins, "--correct": o.correct, "--prediction": o.prediction} {
			if given != "" {
				return usagef("%s is for visual predictive checks: add --vpc", flag)
			}
		}
		return nil
	}
	p.VPC = &assess.VPCOptions{X: cmp.Or(p.X, "time"), Correct: assess.Correction(o.correct), Prediction: o.prediction}
	if o.correct != "" && !slices.Contains(assess.Corrections(), o.correct) {
		return usagef("--correct can be %s, but is %q", strings.Join(assess.Corrections(), ", "), o.correct)
	}
	if o.prediction != "" && o.correct == "" {
		return usagef("--prediction is for corrected checks: add --correct ratio or --correct difference")
	}
	if n, err := strconv.Atoi(o.bins); err == nil {
		if p.VPC.Bins = n; n < 1 {
			return usagef("--bins must be at least 1, but is %d", n)
		}
		return nil
	}
	for text := range strings.SplitSeq(o.bins, ",") {
		if o.bins == "" {
			break
		}
		e, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(e) || len(p.VPC.Edges) > 0 && e <= p.VPC.Edges[len(p.VPC.Edges)-1] {
			return usagef("--bins must be a number of bins, or increasing limits as in 0.5,2,6, but is %q", o.bins)
		}
		p.VPC.Edges = append(p.VPC.Edges, e)
	}
	return nil
}

// missing words the error of a check whose column is not among the data.
func (o *vpcOptions) missing(err error, x string, values *data.Set) error {
	if errors.Is(err, assess.ErrNoPrediction) {
		return fmt.Errorf("%w: name them with --prediction, as in --prediction cPred", err)
	}
	if err == nil || !o.on || x != "" || values == nil {
		return err
	}
	if _, ok := values.Get("time"); ok {
		return err
	}
	return usagef("--vpc compares along the column time, which the data do not have: name another one with --x")
}

// vpcJSON is a visual predictive check as JSON.
type vpcJSON struct {
	X       string    `json:"x"`       // the column along which the outcome is compared
	Correct string    `json:"correct"` // prediction correction: ratio, difference, or empty
	P       number    `json:"p"`       // p value of the largest deviation of all quantiles together
	Lower   *number   `json:"lower"`   // limit below which values are censored; null without
	Upper   *number   `json:"upper"`   // limit above which values are censored; null without
	Bins    []vpcCell `json:"bins"`    // one entry per stratum and bin
}

type vpcCell struct {
	By     []settingJSON `json:"by"`     // stratum of --by
	Low    number        `json:"low"`    // least value of x
	Middle number        `json:"middle"` // median of x
	High   number        `json:"high"`   // greatest value of x
	Rows   int           `json:"rows"`   // number of observations
	// the quantiles 5%, 50% and 95%, then, if values are censored, the share of these
	Checks []ppcCheck `json:"checks"`
	// names of the checks that deviate by more than the largest deviation of 99 % of the
	// replications
	Odd []string `json:"odd"`
}

func vpcOf(v *assess.VPC) *vpcJSON {
	if v == nil {
		return nil
	}
	limit := func(x float64) *number {
		if math.IsNaN(x) {
			return nil
		}
		n := number(x)
		return &n
	}
	out := &vpcJSON{X: v.X, Correct: string(v.Correct), P: number(v.P), Lower: limit(v.Lower), Upper: limit(v.Upper), Bins: []vpcCell{}}
	for _, c := range v.Cells {
		cell := vpcCell{By: settingsJSON(c.By), Low: number(c.Low), Middle: number(c.Middle), High: number(c.High), Rows: c.Rows, Checks: []ppcCheck{}, Odd: []string{}}
		for _, k := range c.Checks {
			cell.Checks = append(cell.Checks, statisticJSON(k.Check))
			if math.Abs(k.Deviation) > v.Limit {
				cell.Odd = append(cell.Odd, k.Name)
			}
		}
		out.Bins = append(out.Bins, cell)
	}
	return out
}

// writeVPC prints the visual predictive check of a variable, if it has one.
func writeVPC(b *strings.Builder, w io.Writer, p assess.PredictiveVariable) {
	v := p.VPC
	if v == nil {
		return
	}
	var head []string
	for _, name := range v.By {
		head = append(head, escaped(name))
	}
	head = append(head, escaped(v.X))
	texts := len(head)
	cells := [][]string{append(head, "rows", "quantile", "observed", "mean", "5%", "50%", "95%", "p")}
	for _, c := range v.Cells {
		for k, check := range c.Checks {
			row := make([]string, texts+1)
			if k == 0 {
				for i, s := range c.By {
					row[i] = escaped(s.Label)
				}
				row[texts-1], row[texts] = intervalText(c.Low, c.High), strconv.Itoa(c.Rows)
			}
			cells = append(cells, slices.Concat(row, []string{check.Name}, checkCells(check.Check)))
		}
	}
	corrected := map[assess.Correction]string{assess.ByRatio: ", corrected by the ratio of population predictions", assess.ByDifference: ", corrected by the difference of population predictions"}[v.Correct]
	writeParagraph(b, "", fmt.Sprintf("Quantiles of %s along %s%s:", p.Name, v.X, corrected), lineWidth(w))
	writeLabelled(b, w, cells, texts)
	if !math.IsNaN(v.P) {
		writeParagraph(b, "", fmt.Sprintf("Largest deviation of all quantiles together: p = %s.", fixed(v.P, 3)), lineWidth(w))
		b.WriteString("\n")
	}
}

// redrawnText says which parameters the replications draw anew; "" if this need not be said.
func redrawnText(p *assess.Predictive) string {
	switch {
	case len(p.Redrawn) > 0:
		return fmt.Sprintf("Each replication draws %s anew: it is about new groups.", strings.Join(p.Redrawn, ", "))
	case len(p.Kept) > 0 && p.KeptReason != nil:
		return fmt.Sprintf("The replications keep %s of each draw, as they cannot be drawn anew: %s.", strings.Join(p.Kept, ", "), strings.TrimSuffix(p.KeptReason.Error(), "."))
	case len(p.Kept) > 0:
		return fmt.Sprintf("The replications keep %s of each draw: they are about the same groups.", strings.Join(p.Kept, ", "))
	}
	return ""
}
