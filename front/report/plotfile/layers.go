package plotfile

import (
	"image/color"
	"math"

	"github.com/ppl-lang/ppl/front/report"
)

// draw draws the layers of a figure, the lowest first.
func (f *frame) draw(layers []report.Layer) {
	for i := range layers {
		f.layer(&layers[i])
	}
}

// place returns the place of values on the page.
func (f *frame) place(x, y float64) point { return point{f.x.at(x), f.y.at(y)} }

func (f *frame) layer(l *report.Layer) {
	c := colour(l)
	switch l.Mark {
	case report.Line, report.Step:
		xs, ys := l.X, l.Y
		if l.Mark == report.Step {
			xs, ys = steps(l)
		}
		for _, part := range f.parts(xs, ys) {
			if s := strokes(l, c); len(part) > 1 {
				f.line(part, s)
			} else { // a single draw, or one whose neighbours cannot be drawn
				f.disc(part[0], max(1.5, s.width/2), c)
			}
		}
	case report.Band:
		var upper, lower []point
		for i, x := range l.X {
			if drawable(x, l.Low[i]) && drawable(x, l.High[i]) {
				upper = append(upper, f.place(x, l.High[i]))
				lower = append(lower, f.place(x, l.Low[i]))
			}
		}
		for i := len(lower) - 1; i >= 0; i-- {
			upper = append(upper, lower[i])
		}
		if len(upper) > 2 {
			f.area(upper, faint(c, 0.25))
		}
	case report.Range:
		for i, y := range l.Y {
			if drawable(l.Low[i], y) && drawable(l.High[i], y) {
				f.line([]point{f.place(l.Low[i], y), f.place(l.High[i], y)}, strokes(l, c))
			}
		}
	case report.Whisker:
		for i, x := range l.X {
			if drawable(x, l.Low[i]) && drawable(x, l.High[i]) {
				f.line([]point{f.place(x, l.Low[i]), f.place(x, l.High[i])}, strokes(l, c))
			}
		}
	case report.Rule:
		if l.Y != nil {
			f.line([]point{{f.x.from, f.y.at(l.Y[0])}, {f.x.to, f.y.at(l.Y[0])}}, strokes(l, c))
		} else if x := f.x.at(l.X[0]); x >= f.x.from && x <= f.x.to {
			f.line([]point{{x, f.y.from}, {x, f.y.to}}, strokes(l, c))
		}
	case report.Points:
		f.points(l)
	case report.Cells:
		f.cells(l)
	}
}

// strokes returns the line style of a layer.
func strokes(l *report.Layer, c color.NRGBA) stroke {
	s := stroke{colour: c, width: 1}
	switch {
	case l.Mark == report.Range && l.Role == report.Inner:
		s.width = 3.5
	case l.YOf != "": // a trace
		s.width = 0.5
	case l.Role == report.Observed:
		s.width = 1.8
	case l.Role == report.Replicated:
		s.width = 0.6
	case l.Role == report.Reference:
		s.dashes = []float64{4, 3}
	case l.Role == report.Second:
		s.dashes = []float64{6, 2.5}
	}
	return s
}

// points draws a glyph for each point; for points without y, at the bottom.
func (f *frame) points(l *report.Layer) {
	for i, x := range l.X {
		at := point{f.x.at(x), f.y.from}
		if l.Y != nil {
			at.y = f.y.at(l.Y[i])
		}
		if drawable(at.x, at.y) {
			f.glyph(l, at)
		}
	}
}

// fewPoints is the maximum number of points of a layer that are drawn larger, as they are estimates
// or few data.
const fewPoints = 20

// glyph draws a point of a layer.
func (f *frame) glyph(l *report.Layer, at point) {
	c := colour(l)
	switch l.Role {
	case report.Divergent, report.Bad:
		const r = 2.2
		f.line([]point{{at.x - r, at.y - r}, {at.x + r, at.y + r}}, stroke{colour: c, width: 1})
		f.line([]point{{at.x - r, at.y + r}, {at.x + r, at.y - r}}, stroke{colour: c, width: 1})
	case report.Chosen:
		f.ring(at, 4, stroke{colour: c, width: 1})
	case report.Inner:
		f.disc(at, 2.2, ink)
	default:
		radius := 1.5
		if len(l.X) <= fewPoints {
			radius = 2.2
		}
		if l.Role == report.First && len(l.X) > 500 {
			c, radius = faint(c, 0.35), 1.1
		}
		f.disc(at, radius, c)
	}
}

// cells draws a grid of coloured cells.
func (f *frame) cells(l *report.Layer) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range l.Z {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	x, y := edges(l.X, f.x.log), edges(l.Y, f.y.log)
	for k, v := range l.Z {
		if math.IsNaN(v) {
			continue
		}
		i, j := k%len(l.X), k/len(l.X)
		t := 0.5
		if high > low {
			t = (v - low) / (high - low)
		}
		corners := []point{f.place(x[i], y[j]), f.place(x[i+1], y[j]), f.place(x[i+1], y[j+1]), f.place(x[i], y[j+1])}
		f.area(corners, viridis(t))
		// A line of the same colour closes the gaps that rounding leaves.
		f.line(append(corners, corners[0]), stroke{colour: viridis(t), width: 0.3})
	}
}

// edges returns the ends of cells: halfway between the points of the grid.
func edges(values []float64, log bool) []float64 {
	n := len(values)
	if n == 1 {
		if v := values[0]; v != 0 {
			return []float64{v - 0.1*math.Abs(v), v + 0.1*math.Abs(v)}
		}
		return []float64{-0.5, 0.5}
	}
	out := []float64{0}
	for i := 1; i < n; i++ {
		if log {
			out = append(out, math.Sqrt(values[i-1]*values[i]))
		} else {
			out = append(out, (values[i-1]+values[i])/2)
		}
	}
	if log {
		out[0] = values[0] * values[0] / out[1]
		return append(out, values[n-1]*values[n-1]/out[n-1])
	}
	out[0] = 2*values[0] - out[1]
	return append(out, 2*values[n-1]-out[n-1])
}

// steps returns the corners of the tops of bars.
func steps(l *report.Layer) (xs, ys []float64) {
	for i, v := range l.Y {
		at := l.From + float64(i)*l.Step
		xs, ys = append(xs, at, at+l.Step), append(ys, v, v)
	}
	return xs, ys
}

// parts splits a line at points that cannot be drawn.
func (f *frame) parts(xs, ys []float64) [][]point {
	var out [][]point
	open := false
	for i := range ys {
		at := f.place(xs[i], ys[i])
		if !drawable(at.x, at.y) {
			open = false
			continue
		}
		if !open {
			out = append(out, nil)
			open = true
		}
		out[len(out)-1] = append(out[len(out)-1], at)
	}
	return out
}

// drawable reports whether both coordinates are finite.
func drawable(x, y float64) bool { return !math.IsNaN(x+y) && !math.IsInf(x+y, 0) }
