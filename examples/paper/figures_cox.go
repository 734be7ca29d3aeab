package main

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// plotFigure3 draws, for each process, the figures of each chain of one sampler against those of
// the chain with the same number of the other sampler.
func (w *workshop) plotFigure3(file string, all []*coxResults) error {
	var tiles [][]*plot.Plot
	for _, pair := range [][2]string{{"ahmc", "nuts"}, {"armhmc", "rmhmc"}} {
		var row []*plot.Plot
		for _, c := range all {
			if !c.has(pair[0], pair[1]) {
				row = append(row, nil)
				continue
			}
			x, y := c.groups[pair[0]], c.groups[pair[1]]
			title := y.title
			if pair[1] == "nuts" {
				title = "NUTS, best δ"
			}
			p := newPlot(c.name(), x.title+", ESS/L", title+", ESS/L")
			p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
			low, high := math.Inf(1), 0.0
			for i, f := range statistics {
				points := make(plotter.XYs, min(len(x.results), len(y.results)))
				for j := range points {
					points[j] = plotter.XY{X: perStep(f.of)(x.results[j]), Y: perStep(f.of)(y.results[j])}
					low, high = min(low, points[j].X, points[j].Y), max(high, points[j].X, points[j].Y)
				}
				s, err := plotter.NewScatter(points)
				if err != nil {
					return err
				}
				s.GlyphStyle = draw.GlyphStyle{Color: colourOfStatistic[i], Shape: draw.CircleGlyph{}, Radius: vg.Points(2.5)}
				p.Add(s)
				if len(tiles)+len(row) == 0 {
					p.Legend.Add(f.name, s)
				}
			}
			low, high = low/1.3, high*1.3
			line, err := plotter.NewLine(plotter.XYs{{X: low, Y: low}, {X: high, Y: high}})
			if err != nil {
				return err
			}
			line.Color = colourGrey
			p.Add(line)
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, low, high
			p.X.Tick.Marker, p.Y.Tick.Marker = ratioTicks{}, ratioTicks{}
			p.Legend.Top, p.Legend.Left = true, true
			row = append(row, p)
		}
		if slices.ContainsFunc(row, func(p *plot.Plot) bool { return p != nil }) {
			tiles = append(tiles, row)
		}
	}
	if len(tiles) == 0 {
		return nil
	}
	return w.plotted(file, tiles)
}

// Red, blue and black, as in the paper.
var colourOfStatistic = []color.Color{color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.Black}

// ratioTicks are ticks at 1, 2 and 5 of each decade.
type ratioTicks struct{}

// Ticks implements plot.Ticker.
func (ratioTicks) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for decade := math.Floor(math.Log10(low)); decade <= math.Log10(high); decade++ {
		for _, digit := range []float64{1, 2, 5} {
			if v := digit * math.Pow(10, decade); v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: short(v)})
			}
		}
	}
	return ticks
}

// square is a field on a grid of d columns with d cells each.
type square struct {
	d int
	v []float64
}

// Dims, X, Y and Z implement plotter.GridXYZ.
func (s square) Dims() (c, r int)   { return s.d, s.d }
func (s square) X(c int) float64    { return float64(c) }
func (s square) Y(r int) float64    { return float64(r) }
func (s square) Z(c, r int) float64 { return s.v[c*s.d+r] }

// plotFigure4 draws maps of the field. All means share one scale of colours, and all standard
// deviations another.
func (w *workshop) plotFigure4(c *coxResults, reference []*result) error {
	counts := make([]float64, len(c.y))
	for i, y := range c.y {
		counts[i] = float64(y)
	}
	type maps struct {
		title    string
		mean, sd []float64
	}
	list := []maps{{title: "truth; counts", mean: c.truth, sd: counts}}
	for _, s := range []struct {
		title   string
		results []*result
	}{{"AHMC", c.groups["ahmc"].results}, {"NUTS", c.groups["nuts"].results}, {"reference", reference}} {
		mean, sd, _ := pool(s.results)
		list = append(list, maps{s.title, mean, sd})
	}
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for i, m := range list {
		low[0], high[0] = min(low[0], slices.Min(m.mean)), max(high[0], slices.Max(m.mean))
		if i > 0 {
			low[1], high[1] = min(low[1], slices.Min(m.sd)), max(high[1], slices.Max(m.sd))
		}
	}
	tiles := [][]*plot.Plot{make([]*plot.Plot, len(list)), make([]*plot.Plot, len(list))}
	for i, m := range list {
		for row, v := range [][]float64{m.mean, m.sd} {
			title := []string{m.title + ": mean", m.title + ": standard deviation"}[row]
			if i == 0 {
				title = []string{"the true field", "the counts"}[row]
			}
			p := newPlot(title, "", "")
			p.HideAxes()
			heat := plotter.NewHeatMap(square{c.d, v}, moreland.Kindlmann().Palette(255))
			heat.Rasterized = true
			if i > 0 || row == 0 {
				heat.Min, heat.Max = low[row], high[row]
			}
			p.Add(heat)
			tiles[row][i] = p
		}
	}
	return w.plotted("fig4-"+c.name(), tiles)
}

// plotJoint draws the true field and the means of each process with hyper-parameters.
func (w *workshop) plotJoint(processes []*cox, results [][]*result) error {
	tiles := make([][]*plot.Plot, len(processes))
	for i, c := range processes {
		mean, sd, _ := pool(results[i])
		for _, m := range []struct {
			title string
			v     []float64
		}{{"the true field", c.truth}, {"mean", mean[2:]}, {"standard deviation", sd[2:]}} {
			p := newPlot(fmt.Sprintf("%d × %d: %s", c.d, c.d, m.title), "", "")
			p.HideAxes()
			heat := plotter.NewHeatMap(square{c.d, m.v}, moreland.Kindlmann().Palette(255))
			heat.Rasterized = true
			p.Add(heat)
			tiles[i] = append(tiles[i], p)
		}
	}
	return w.plotted("joint", tiles)
}
