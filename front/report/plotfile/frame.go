package plotfile

import (
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/front/report"
)

// Sizes on a page, in points.
const (
	width       = 17 / 2.54 * 72
	height      = 9.5 / 2.54 * 72
	margin      = 8
	legendWidth = 100 // maximum width of the legend
	titleSize   = 11
	labelSize   = 9
	tickSize    = 8
	minSize     = 4.5 // size of the names on an axis with many names
	tickLength  = 3
)

// frame is the part of a page between the axes.
type frame struct {
	canvas
	x, y   scale
	legend []entry
}

// entry is a line of the legend.
type entry struct {
	layer *report.Layer
	text  string
}

// begin finds the ranges of the axes and the size of the frame, and draws what lies below the
// layers: the title, the axes with their ticks, faint lines across, the legend.
func begin(c canvas, title string, f report.Figure, layers []report.Layer) *frame {
	inf := math.Inf(1)
	out := &frame{canvas: c, x: scale{low: inf, high: -inf, log: f.X.Log}, y: scale{low: inf, high: -inf, log: f.Y.Log}}
	for i := range layers {
		out.measure(&layers[i])
	}
	out.x.settle(f.X)
	out.y.settle(f.Y)

	right := width - margin
	legend := 0.0
	for _, e := range out.legend {
		legend = max(legend, 22+textWidth(e.text, tickSize))
	}
	legend = min(legend, legendWidth)
	top, bottom := margin+titleSize+10.0, height-margin-labelSize-tickSize-tickLength-10
	if title == "" {
		top = margin
	}
	names := float64(tickSize)
	if n := len(f.Y.Names); n > 0 {
		names = min(names, max(minSize, (bottom-top)/float64(n)))
	}
	yTicks := out.y.ticks(f.Y, max(2, int((bottom-top)/32)))
	widest := 0.0
	for _, t := range yTicks {
		widest = max(widest, textWidth(t.text, names))
	}
	widest = min(widest, width/3)
	left := margin + widest + tickLength + 3
	if f.Y.Label != "" {
		left += labelSize + 6
	}
	out.x.from, out.x.to = left, right
	out.y.from, out.y.to = bottom, top
	const pitch = tickSize + 5
	// The legend is in a corner where nothing is drawn or, if there is none, to the right.
	from, inside := out.corner(layers, legend+2*margin, pitch*float64(len(out.legend))+margin)
	if legend > 0 && !inside {
		right -= legend + margin
		out.x.to, from = right, point{right + margin, top + tickSize/2}
	}

	if title != "" {
		c.write(label{text: fitted(title, titleSize, width-margin-left), at: point{left, margin + titleSize}, size: titleSize, colour: ink})
	}
	hair := stroke{colour: pale, width: 0.5}
	axis := stroke{colour: grey, width: 0.75}
	wanted := max(2, int((right-left)/45))
	step := 0.0 // the end of the last text on the horizontal axis, so that texts do not overlap
	for _, t := range out.x.ticks(f.X, wanted) {
		at := out.x.at(t.value)
		if f.X.Names == nil {
			c.line([]point{{at, top}, {at, bottom}}, hair)
		}
		c.line([]point{{at, bottom}, {at, bottom + tickLength}}, axis)
		if half := textWidth(t.text, tickSize) / 2; at-half > step {
			c.write(label{text: t.text, at: point{at, bottom + tickLength + tickSize + 1}, size: tickSize, anchor: middle, colour: ink})
			step = at + half + 3
		}
	}
	for _, t := range yTicks {
		at := out.y.at(t.value)
		if f.Y.Names == nil {
			c.line([]point{{left, at}, {right, at}}, hair)
		}
		c.line([]point{{left - tickLength, at}, {left, at}}, axis)
		c.write(label{text: fitted(t.text, names, widest+1), at: point{left - tickLength - 3, at + names*0.35}, size: names, anchor: end, colour: ink})
	}
	c.line([]point{{left, top}, {left, bottom}, {right, bottom}}, axis)
	c.write(label{text: fitted(f.X.Label, labelSize, right-left), at: point{(left + right) / 2, height - margin}, size: labelSize, anchor: middle, colour: ink})
	if f.Y.Label != "" {
		c.write(label{text: fitted(f.Y.Label, labelSize, bottom-top), at: point{margin + labelSize - 1, (top + bottom) / 2}, size: labelSize, anchor: middle, upward: true, colour: ink})
	}
	rows := int((bottom-top-tickSize/2)/pitch) + 1
	for i, e := range out.legend {
		at := point{from.x, from.y + float64(i)*pitch}
		if more := len(out.legend) - i; i == rows-1 && more > 1 {
			c.write(label{text: fmt.Sprintf("… and %d more", more), at: point{at.x, at.y + tickSize*0.35}, size: tickSize, colour: ink})
			break
		}
		out.sample(e.layer, at)
		c.write(label{text: fitted(e.text, tickSize, legend-22+0.01), at: point{at.x + 22, at.y + tickSize*0.35}, size: tickSize, colour: ink})
	}
	return out
}

// measure includes the values of a layer in the ranges of the axes, and notes it for the legend.
func (f *frame) measure(l *report.Layer) {
	if l.Label != "" {
		f.legend = append(f.legend, entry{l, l.Label})
	}
	both := func(to *scale, values []float64) {
		for _, v := range values {
			to.include(v)
		}
	}
	switch l.Mark {
	case report.Step:
		xs, ys := steps(l)
		both(&f.x, xs)
		both(&f.y, ys)
	case report.Range:
		both(&f.x, l.Low)
		both(&f.x, l.High)
		both(&f.y, l.Y)
	case report.Band, report.Whisker:
		both(&f.x, l.X)
		both(&f.y, l.Low)
		both(&f.y, l.High)
	case report.Rule:
		both(&f.y, l.Y)
	case report.Cells:
		both(&f.x, edges(l.X, f.x.log))
		both(&f.y, edges(l.Y, f.y.log))
	default:
		if l.Y == nil { // ticks at the bottom
			return
		}
		for i, y := range l.Y {
			if drawable(l.X[i], y) {
				f.x.include(l.X[i])
				f.y.include(y)
			}
		}
	}
}

// sample draws how a layer looks, in the legend.
func (f *frame) sample(l *report.Layer, at point) {
	c := colour(l)
	switch l.Mark {
	case report.Points:
		f.glyph(l, point{at.x + 8, at.y})
	case report.Whisker:
		f.line([]point{{at.x + 8, at.y - 4}, {at.x + 8, at.y + 4}}, strokes(l, c))
	case report.Band:
		f.area([]point{{at.x, at.y - 4}, {at.x + 16, at.y - 4}, {at.x + 16, at.y + 4}, {at.x, at.y + 4}}, faint(c, 0.25))
	default:
		f.line([]point{{at.x, at.y}, {at.x + 16, at.y}}, strokes(l, c))
	}
}
