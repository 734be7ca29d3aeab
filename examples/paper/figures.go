package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/ppl-lang/ppl/infer/bayesopt"
)

// The colours of the new and the old method. People with colour blindness can tell them apart too.
var (
	colourNew  = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	colourOld  = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	colourGrey = color.RGBA{0x99, 0x99, 0x99, 0xff}
)

const (
	tileWidth  = 8 * vg.Centimeter
	tileHeight = 6.5 * vg.Centimeter
	tileGap    = 0.6 * vg.Centimeter
	dotsPer    = 110 // per inch, of PNG
)

// plotted writes plots, arranged in tiles, as name.png and name.svg. Tiles may be nil.
func (w *workshop) plotted(name string, tiles [][]*plot.Plot) error {
	rows, columns := len(tiles), len(tiles[0])
	width := vg.Length(columns)*(tileWidth+tileGap) + tileGap
	height := vg.Length(rows)*(tileHeight+tileGap) + tileGap
	for _, format := range []struct {
		suffix string
		canvas interface {
			vg.CanvasSizer
			io.WriterTo
		}
	}{
		{".png", vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPer))}},
		{".svg", vgsvg.New(width, height)},
	} {
		canvases := plot.Align(tiles, draw.Tiles{
			Rows: rows, Cols: columns,
			PadTop: tileGap, PadBottom: tileGap, PadLeft: tileGap, PadRight: tileGap, PadX: tileGap, PadY: tileGap,
		}, draw.New(format.canvas))
		for i, row := range tiles {
			for j, p := range row {
				if p != nil {
					p.Draw(canvases[i][j])
				}
			}
		}
		if err := writeTo(filepath.Join(w.out, name+format.suffix), format.canvas); err != nil {
			return err
		}
	}
	return nil
}

// picture writes a link to a picture in the output folder, if there is one. It may be missing,
// since the tables of an earlier run do not have the draws that it shows.
func (w *workshop) picture(b *strings.Builder, what, name string) {
	if _, err := os.Stat(filepath.Join(w.out, name+".png")); err == nil {
		fmt.Fprintf(b, "![%s](%s.png)\n\n", what, name)
	}
}

func writeTo(path string, from io.WriterTo) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := from.WriteTo(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// newPlot returns a plot with a title and labels of its axes.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = 2 * vg.Millimeter
	return p
}

// boxes returns a box plot. For each name, it has a box for the figure f of each of two groups.
func boxes(title, label string, names []string, of func(name string) (first, second group), f func(*result) float64) (*plot.Plot, error) {
	p := newPlot(title, "", label)
	p.NominalX(names...)
	p.X.Tick.Label.Font.Size = vg.Points(8.5)
	p.Y.Min = 0
	const width, apart = 5 * vg.Millimeter, 0.19
	for i, name := range names {
		first, second := of(name)
		for j, g := range []group{first, second} {
			at := float64(i) - apart + 2*apart*float64(j)
			b, err := plotter.NewBoxPlot(width, at, plotter.Values(values(g.results, f)))
			if err != nil {
				return nil, err
			}
			colour := colourNew
			if j == 1 {
				colour = colourOld
			}
			b.FillColor = colour
			b.MedianStyle.Width = vg.Points(1.5)
			p.Add(b)
			if i == 0 {
				p.Legend.Add(g.title, swatch{colour})
			}
		}
	}
	p.X.Min, p.X.Max = -0.6, float64(len(names))-0.4
	p.Legend.Top = true
	p.Y.Max *= 1.3 // room for the legend
	return p, nil
}

// swatch is a coloured rectangle in a legend.
type swatch struct{ colour color.Color }

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.colour, []vg.Point{{X: c.Min.X, Y: c.Min.Y}, {X: c.Min.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Min.Y}})
}

// plotFigure2 draws the box plots and the surfaces of Figure 2.
func (w *workshop) plotFigure2(sets []*regressionResults) error {
	by := map[string]*regressionResults{}
	for _, s := range sets {
		by[s.set.name] = s
	}
	var rows [][]*plot.Plot
	for _, pair := range [][2]string{{"ahmc", "nuts"}, {"armhmc", "rmhmc"}} {
		var names []string
		for _, s := range with(sets, pair[0], pair[1]) {
			names = append(names, s.set.name)
		}
		if len(names) == 0 {
			continue
		}
		var row []*plot.Plot
		for _, f := range statistics {
			p, err := boxes(f.name, "ESS/L", names, func(name string) (a, b group) {
				a, b = by[name].groups[pair[0]], by[name].groups[pair[1]]
				if pair[1] == "nuts" {
					b.title = "NUTS, best δ"
				}
				return a, b
			}, perStep(f.of))
			if err != nil {
				return err
			}
			row = append(row, p)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil
	}
	if err := w.plotted("fig2", rows); err != nil {
		return err
	}
	const columns = 3
	var tiles [][]*plot.Plot
	known := false
	for i, s := range with(sets, "ahmc") {
		if i%columns == 0 {
			tiles = append(tiles, make([]*plot.Plot, columns))
		}
		tiles[i/columns][i%columns] = surfacePlot(s.set.name, s.groups["ahmc"])
		known = known || learnt(s.groups["ahmc"]) != nil
	}
	if !known {
		return nil
	}
	return w.plotted("fig2-surface", tiles)
}

// surface is what a tuner has learnt on its grid. The first coordinate, which varies fastest, is
// the logarithm of the step size.
type surface struct {
	beliefs []bayesopt.Belief
	columns int
}

func newSurface(beliefs []bayesopt.Belief) surface {
	s := surface{beliefs: beliefs}
	for s.columns < len(beliefs) && beliefs[s.columns].Coordinates[1] == beliefs[0].Coordinates[1] {
		s.columns++
	}
	return s
}

// Dims, X, Y and Z implement plotter.GridXYZ.
func (s surface) Dims() (c, r int)   { return s.columns, len(s.beliefs) / s.columns }
func (s surface) X(c int) float64    { return math.Log10(s.beliefs[c].Coordinates[0]) }
func (s surface) Y(r int) float64    { return s.beliefs[r*s.columns].Coordinates[1] }
func (s surface) Z(c, r int) float64 { return s.beliefs[r*s.columns+c].Mean }

// stepSizeTicks are the ticks of an axis with logarithms to the base ten.
type stepSizeTicks struct{}

// Ticks implements plot.Ticker.
func (stepSizeTicks) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for decade := math.Floor(low); decade <= high; decade++ {
		for _, digit := range []float64{1, 2, 5} {
			v := digit * math.Pow(10, decade)
			if at := math.Log10(v); at >= low-1e-9 && at <= high+1e-9 {
				label := short(v)
				if high-low > 1.5 && digit != 1 && at < high-0.1 {
					label = ""
				}
				ticks = append(ticks, plot.Tick{Value: at, Label: label})
			}
		}
	}
	return ticks
}

// learnt returns the first chain that has a surface, or nil; a report may have none.
func learnt(g group) *result {
	if i := slices.IndexFunc(g.results, func(r *result) bool { return len(r.Surface) > 0 }); i >= 0 {
		return g.results[i]
	}
	return nil
}

// surfacePlot draws the surface that the first chain has learnt. Larger values are better. It also
// draws the points visited, with areas proportional to their number of batches.
func surfacePlot(title string, g group) *plot.Plot {
	p := newPlot(title, "step size", "L")
	r := learnt(g)
	if r == nil {
		return p
	}
	p.X.Tick.Marker = stepSizeTicks{}
	s := newSurface(r.Surface)
	heat := plotter.NewHeatMap(s, moreland.Kindlmann().Palette(255))
	heat.Rasterized = true
	p.Add(heat)
	counts := map[plotter.XY]float64{}
	var points plotter.XYs
	for _, b := range r.Batches {
		at := plotter.XY{X: math.Log10(b.StepSize), Y: float64(b.Steps)}
		if counts[at] == 0 {
			points = append(points, at)
		}
		counts[at]++
	}
	visited, err := plotter.NewScatter(points)
	if err != nil { // no points
		return p
	}
	visited.GlyphStyleFunc = func(i int) draw.GlyphStyle {
		return draw.GlyphStyle{Color: color.White, Shape: draw.RingGlyph{}, Radius: vg.Points(1.2 + 0.9*math.Sqrt(counts[points[i]]))}
	}
	p.Add(visited)
	final := r.Batches[len(r.Batches)-1]
	last, err := plotter.NewScatter(plotter.XYs{{X: math.Log10(final.StepSize), Y: float64(final.Steps)}})
	if err == nil {
		last.GlyphStyle = draw.GlyphStyle{Color: color.RGBA{0xd5, 0x5e, 0x00, 0xff}, Shape: draw.CrossGlyph{}, Radius: vg.Points(4)}
		p.Add(last)
	}
	return p
}

// plotTable1 draws the box plots and the surfaces of the volatility model.
func (w *workshop) plotTable1(file string, r *volatilityResults) error {
	var row []*plot.Plot
	for _, f := range statistics {
		p, err := boxes(f.name, "ESS / mean leapfrog steps", []string{"volatility"}, func(string) (a, b group) {
			return r.groups["ahmc"], r.groups["nuts"]
		}, perMeanSteps(f.of))
		if err != nil {
			return err
		}
		row = append(row, p)
	}
	if err := w.plotted(file, [][]*plot.Plot{row}); err != nil {
		return err
	}
	var surfaces []*plot.Plot
	known := false
	for _, name := range []string{"ahmc", "ahmc-wide", "ahmc-whitened"} {
		if g, ok := r.groups[name]; ok {
			surfaces = append(surfaces, surfacePlot(g.title, g))
			known = known || learnt(g) != nil
		}
	}
	if !known {
		return nil
	}
	return w.plotted(file+"-surface", [][]*plot.Plot{surfaces})
}

// plotFigure1 draws trajectories of fixed length, as in the paper, and autocorrelations with
// trajectories of fixed and of random length.
func (w *workshop) plotFigure1(settings []setting, fixed, random []*result) error {
	top, bottom := make([]*plot.Plot, len(settings)), make([]*plot.Plot, len(settings))
	for i, s := range settings {
		p := newPlot(fmt.Sprintf("ε = %g, L = %d", s.stepSize, s.steps), "x₁", "x₂")
		xy := make(plotter.XYs, len(fixed[i].Head[0]))
		for t := range xy {
			xy[t] = plotter.XY{X: float64(fixed[i].Head[0][t]), Y: float64(fixed[i].Head[1][t])}
		}
		line, points, err := plotter.NewLinePoints(xy)
		if err != nil {
			return err
		}
		line.Color, line.Width = colourGrey, vg.Points(0.4)
		points.Shape, points.Radius, points.Color = draw.CircleGlyph{}, vg.Points(0.8), colourNew
		p.Add(line, points)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -4, 4, -4, 4
		top[i] = p

		p = newPlot("", "lag", "autocorrelation of x₁")
		for j, r := range []*result{fixed[i], random[i]} {
			xy := make(plotter.XYs, min(len(r.Correlation), 51))
			for lag := range xy {
				xy[lag] = plotter.XY{X: float64(lag), Y: r.Correlation[lag]}
			}
			l, err := plotter.NewLine(xy)
			if err != nil {
				return err
			}
			l.Color, l.Width = [2]color.Color{colourNew, colourOld}[j], vg.Points(1.2)
			p.Add(l)
			p.Legend.Add([2]string{"fixed L", "random, up to L"}[j], l)
		}
		p.X.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 10, Label: "10"}, {Value: 20, Label: "20"}, {Value: 30, Label: "30"}, {Value: 40, Label: "40"}, {Value: 50, Label: "50"}}
		p.Y.Min, p.Y.Max = -0.2, 1
		p.Legend.Top = true
		bottom[i] = p
	}
	return w.plotted("fig1", [][]*plot.Plot{top, bottom})
}
