package plotfile

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ppl-lang/ppl/front/report"
)

// layers adds the layers of a figure to a plot, and sets its axes.
func layers(p *plot.Plot, legend *plot.Legend, f report.Figure, all []report.Layer) error {
	for _, a := range []struct {
		to   *plot.Axis
		from report.Axis
	}{{&p.X, f.X}, {&p.Y, f.Y}} {
		a.to.Min, a.to.Max = math.Inf(1), math.Inf(-1)
		if a.from.Log {
			a.to.Scale, a.to.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: 3}
		}
		if a.from.Names != nil {
			var ticks []plot.Tick
			for i, name := range a.from.Names {
				ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
			}
			a.to.Tick.Marker = plot.ConstantTicks(ticks)
		}
	}
	onCells := slices.ContainsFunc(all, func(l report.Layer) bool { return l.Mark == report.Cells })
	// Layers that depend on the range of the axes are added last.
	var late []report.Layer
	for i := range all {
		l := &all[i]
		if l.Mark == report.Rule || l.Role == report.Divergent && l.Y == nil {
			late = append(late, *l)
			if l.Mark == report.Rule && l.Y != nil {
				p.Y.Min, p.Y.Max = min(p.Y.Min, l.Y[0]), max(p.Y.Max, l.Y[0])
			}
			continue
		}
		if onCells && l.Role == report.First {
			l.Role = light
		}
		if err := add(p, legend, l); err != nil {
			return err
		}
	}
	for _, a := range []struct {
		to   *plot.Axis
		from report.Axis
	}{{&p.X, f.X}, {&p.Y, f.Y}} {
		if a.from.Range != nil {
			a.to.Min, a.to.Max = float64(a.from.Range[0]), float64(a.from.Range[1])
		}
		if a.from.Zero {
			a.to.Min = min(a.to.Min, 0)
		}
		if n := len(a.from.Names); n > 0 {
			a.to.Min, a.to.Max = -0.6, float64(n)-0.4
		}
		if !(a.to.Min < a.to.Max) { // nothing, or one value
			if math.IsInf(a.to.Min, 0) {
				a.to.Min, a.to.Max = 0, 0
			}
			a.to.Min, a.to.Max = a.to.Min-0.5, a.to.Max+0.5
		}
	}
	for i := range late {
		l := &late[i]
		if l.Mark == report.Rule {
			line := &report.Layer{Mark: report.Line, Role: l.Role, Label: l.Label, X: report.Values{p.X.Min, p.X.Max}, Y: append(l.Y, l.Y...)}
			if l.Y == nil {
				line.X, line.Y = append(l.X, l.X...), report.Values{p.Y.Min, p.Y.Max}
			}
			if err := add(p, legend, line); err != nil {
				return err
			}
			continue
		}
		ticks := *l // at the bottom
		ticks.Y = make(report.Values, len(l.X))
		for k := range ticks.Y {
			ticks.Y[k] = p.Y.Min
		}
		if err := add(p, legend, &ticks); err != nil {
			return err
		}
	}
	return nil
}

// add draws a layer.
func add(p *plot.Plot, legend *plot.Legend, l *report.Layer) error {
	c := colour(l)
	thumb := func(t plot.Thumbnailer) {
		if l.Label != "" {
			legend.Add(l.Label, t)
		}
	}
	switch l.Mark {
	case report.Line, report.Step:
		xs, ys := l.X, l.Y
		if l.Mark == report.Step {
			xs, ys = steps(l)
		}
		for _, part := range parts(xs, ys) {
			line, err := plotter.NewLine(part)
			if err != nil {
				return err
			}
			line.LineStyle = strokes(l, c)
			p.Add(line)
			if l.Label != "" {
				thumb(line)
				l.Label = "" // once
			}
		}
	case report.Band:
		var ring plotter.XYs
		for i := range l.X {
			ring = append(ring, plotter.XY{X: l.X[i], Y: l.High[i]})
		}
		for i := len(l.X) - 1; i >= 0; i-- {
			ring = append(ring, plotter.XY{X: l.X[i], Y: l.Low[i]})
		}
		if ring = clean(ring); len(ring) < 3 {
			return nil
		}
		area, err := plotter.NewPolygon(ring)
		if err != nil {
			return err
		}
		area.Color, area.LineStyle.Width = faint(c, 0.25), 0
		p.Add(area)
		thumb(area)
	case report.Range:
		for i := range l.Y {
			ends := clean(plotter.XYs{{X: l.Low[i], Y: l.Y[i]}, {X: l.High[i], Y: l.Y[i]}})
			if len(ends) < 2 {
				continue
			}
			line, err := plotter.NewLine(ends)
			if err != nil {
				return err
			}
			line.LineStyle = strokes(l, c)
			p.Add(line)
			if i == 0 {
				thumb(line)
			}
		}
	case report.Points:
		return points(p, l, c, thumb)
	case report.Cells:
		return cells(p, l)
	}
	return nil
}

// strokes returns the line style of a layer.
func strokes(l *report.Layer, c color.Color) draw.LineStyle {
	s := draw.LineStyle{Color: c, Width: vg.Points(1)}
	switch {
	case l.Mark == report.Range && l.Role == report.Inner:
		s.Width = vg.Points(3.5)
	case l.YOf != "": // a trace
		s.Width = vg.Points(0.5)
	case l.Role == report.Observed:
		s.Width = vg.Points(1.8)
	case l.Role == report.Replicated:
		s.Width = vg.Points(0.6)
	case l.Role == report.Reference:
		s.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	case l.Role == report.Second:
		s.Dashes = []vg.Length{vg.Points(6), vg.Points(2.5)}
	}
	return s
}

func points(p *plot.Plot, l *report.Layer, c color.NRGBA, thumb func(plot.Thumbnailer)) error {
	var xy plotter.XYs
	for i := range l.Y {
		xy = append(xy, plotter.XY{X: l.X[i], Y: l.Y[i]})
	}
	if xy = clean(xy); len(xy) == 0 {
		return nil
	}
	s, err := plotter.NewScatter(xy)
	if err != nil {
		return err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(1.5), Shape: draw.CircleGlyph{}}
	switch l.Role {
	case report.Divergent, report.Bad:
		s.Shape, s.Radius = draw.CrossGlyph{}, vg.Points(2.5)
	case report.Chosen:
		s.Shape, s.Radius = draw.RingGlyph{}, vg.Points(4)
	case report.Inner:
		s.Color, s.Radius = color.NRGBA{0x1b, 0x21, 0x28, 0xff}, vg.Points(2.2)
	case report.First:
		if len(xy) > 500 {
			s.Color, s.Radius = faint(c, 0.35), vg.Points(1.1)
		}
	}
	p.Add(s)
	thumb(s)
	return nil
}

// cells draws a grid of coloured cells, whose edges are halfway between the grid points.
func cells(p *plot.Plot, l *report.Layer) error {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range l.Z {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	edges := func(values []float64, log bool) []float64 {
		if len(values) == 1 {
			return []float64{values[0] * 0.9, values[0] * 1.1}
		}
		middle := func(a, b float64) float64 {
			if log {
				return math.Sqrt(a * b)
			}
			return (a + b) / 2
		}
		out := []float64{0}
		for i := 1; i < len(values); i++ {
			out = append(out, middle(values[i-1], values[i]))
		}
		n := len(values)
		if log {
			out[0] = values[0] * values[0] / out[1]
			return append(out, values[n-1]*values[n-1]/out[n-1])
		}
		out[0] = 2*values[0] - out[1]
		return append(out, 2*values[n-1]-out[n-1])
	}
	_, logX := p.X.Scale.(plot.LogScale)
	x, y := edges(l.X, logX), edges(l.Y, false)
	for k, v := range l.Z {
		if math.IsNaN(v) {
			continue
		}
		i, j := k%len(l.X), k/len(l.X)
		cell, err := plotter.NewPolygon(plotter.XYs{{X: x[i], Y: y[j]}, {X: x[i+1], Y: y[j]}, {X: x[i+1], Y: y[j+1]}, {X: x[i], Y: y[j+1]}})
		if err != nil {
			return err
		}
		t := 0.5
		if high > low {
			t = (v - low) / (high - low)
		}
		cell.Color = viridis(t)
		cell.LineStyle.Color, cell.LineStyle.Width = cell.Color, vg.Points(0.2)
		p.Add(cell)
	}
	return nil
}

// steps returns the corners of the tops of bars.
func steps(l *report.Layer) (xs, ys report.Values) {
	for i, v := range l.Y {
		at := l.From + float64(i)*l.Step
		xs, ys = append(xs, at, at+l.Step), append(ys, v, v)
	}
	return xs, ys
}

// parts splits a line at points that are not finite.
func parts(xs, ys []float64) []plotter.XYs {
	var out []plotter.XYs
	open := false
	for i := range ys {
		if len(clean(plotter.XYs{{X: xs[i], Y: ys[i]}})) == 0 {
			open = false
			continue
		}
		if !open {
			out = append(out, nil)
			open = true
		}
		out[len(out)-1] = append(out[len(out)-1], plotter.XY{X: xs[i], Y: ys[i]})
	}
	return out
}

// clean drops points that are not finite.
func clean(xy plotter.XYs) plotter.XYs {
	return slices.DeleteFunc(xy, func(v plotter.XY) bool {
		return math.IsNaN(v.X+v.Y) || math.IsInf(v.X+v.Y, 0)
	})
}
