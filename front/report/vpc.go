package report

import (
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/assess"
)

// This file draws visual predictive checks.

// logRatio is the ratio of the greatest to the smallest value above which an axis is logarithmic,
// if all values are positive.
const logRatio = 50

// visual adds visual predictive checks along time to the predictive checks p, if the data are a
// schedule of events.
func (w *work) visual(p *assess.Predictive) {
	values, err := w.fit.Data()
	if err != nil {
		return
	}
	for _, name := range []string{"time", "evid"} {
		if v, ok := values.Get(name); !ok || len(v.Shape) != 1 {
			return
		}
	}
	checks, err := assess.PredictiveOf(w.ctx, w.fit, assess.PredictiveOptions{Seed: w.o.Seed, RedrawVarying: true, VPC: &assess.VPCOptions{X: "time"}})
	if err != nil {
		if w.ctx.Err() == nil {
			w.note("There is no visual predictive check: %v", err)
		}
		return
	}
	for i := range p.Variables {
		for _, v := range checks.Variables {
			if v.Name == p.Variables[i].Name {
				p.Variables[i].VPC = v.VPC
			}
		}
	}
}

// visual draws a figure for each stratum, and one of the share of censored values.
func visual(p *assess.Predictive) []Figure {
	var out []Figure
	for _, v := range p.Variables {
		if v.VPC == nil {
			continue
		}
		for first := 0; first < len(v.VPC.Cells); {
			cells := v.VPC.Cells[first:]
			last := 1
			for last < len(cells) && groupName(cells[last].By) == groupName(cells[0].By) {
				last++
			}
			cells = cells[:last]
			first += last
			out = append(out, stratum(v, cells), censoredShare(v, cells))
		}
	}
	return out
}

// stratum draws the quantiles of a stratum.
func stratum(v assess.PredictiveVariable, cells []assess.VPCCell) Figure {
	f := Figure{Kind: "vpc", Of: vpcNames(v, cells), X: Axis{Label: v.VPC.X}, Y: Axis{Label: v.Name}}
	if v.VPC.Correct != assess.NoCorrection {
		f.Y.Label += ", prediction-corrected"
	}
	points := Layer{Mark: Points, Role: Data, Label: "data"}
	rows := 0
	for _, c := range cells {
		points.X, points.Y = append(points.X, c.X...), append(points.Y, c.Y...)
		rows += c.Rows
	}
	var bands, lines []Layer
	low, high := math.Inf(1), math.Inf(-1)
	for k, role := range []Role{Second, First, Second} {
		name := cells[0].Checks[k].Name
		band := Layer{Mark: Band, Role: role, Label: name + " in replications"}
		line := Layer{Mark: Line, Role: Observed, Label: "5%, 50%, 95%"}
		if k > 0 {
			line.Label = ""
		}
		for _, c := range cells {
			check := c.Checks[k]
			band.X, band.Low, band.High = append(band.X, c.Middle), append(band.Low, check.Q5), append(band.High, check.Q95)
			line.X, line.Y = append(line.X, c.Middle), append(line.Y, check.Observed)
			low, high = min(low, check.Q5, check.Observed), max(high, check.Q95, check.Observed)
		}
		bands, lines = append(bands, band), append(lines, line)
	}
	for _, y := range points.Y {
		low = min(low, y)
	}
	f.Y.Log = low > 0 && high > logRatio*low
	f.Layers = append(append(append(f.Layers, bands...), points), lines...)
	if len(points.X) < rows {
		f.Note = fmt.Sprintf("%d of %d observations are shown.", len(points.X), rows)
	}
	f.Alt = fmt.Sprintf("Quantiles of %s along %s in %d bins, with those of replications; the largest deviation of all has p = %.3f.", v.Name, v.VPC.X, len(cells), v.VPC.P)
	return f
}

// censoredShare draws the share of censored values; it is empty without.
func censoredShare(v assess.PredictiveVariable, cells []assess.VPCCell) Figure {
	f := Figure{Kind: "vpc", Of: append(vpcNames(v, cells), assess.ShareCensored), X: Axis{Label: v.VPC.X}, Y: Axis{Label: "share of censored values", Zero: true}}
	band := Layer{Mark: Band, Role: First, Label: "90 % of replications"}
	line := Layer{Mark: Line, Role: Observed, Label: "data"}
	for _, c := range cells {
		for _, check := range c.Checks {
			if check.Name == assess.ShareCensored {
				band.X, band.Low, band.High = append(band.X, c.Middle), append(band.Low, check.Q5), append(band.High, check.Q95)
				line.X, line.Y = append(line.X, c.Middle), append(line.Y, check.Observed)
			}
		}
	}
	f.Layers = []Layer{band, line}
	f.Alt = fmt.Sprintf("The share of censored values of %s along %s, with that of replications.", v.Name, v.VPC.X)
	return f
}

func vpcNames(v assess.PredictiveVariable, cells []assess.VPCCell) []string {
	of := []string{v.Name}
	if len(cells[0].By) > 0 {
		of = append(of, groupName(cells[0].By))
	}
	return of
}
