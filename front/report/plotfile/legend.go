package plotfile

import (
	"math"

	"github.com/ppl-lang/ppl/front/report"
)

// corner returns the place of a legend of a given size in a corner of the frame in which nothing is
// drawn. free is false if there is no such corner.
func (f *frame) corner(layers []report.Layer, width, height float64) (at point, free bool) {
	left, right, top, bottom := f.x.from, f.x.to, f.y.to, f.y.from
	if width > (right-left)/2 || height > (bottom-top)/2 {
		return at, false
	}
	for _, c := range []point{{right - width, top}, {left, top}, {right - width, bottom - height}, {left, bottom - height}} {
		free = true
		for i := range layers {
			free = free && !f.touches(&layers[i], c, point{c.x + width, c.y + height})
		}
		if free {
			return point{c.x + margin, c.y + margin}, true
		}
	}
	return at, false
}

// touches reports whether a layer is drawn within a box.
func (f *frame) touches(l *report.Layer, low, high point) bool {
	within := func(p point) bool { return p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y }
	// A segment is tried at points that are closer than the sides of any legend.
	segment := func(a, b point) bool {
		n := int(max(math.Abs(b.x-a.x), math.Abs(b.y-a.y))/4) + 1
		for i := range n + 1 {
			if within(between(a, b, float64(i)/float64(n))) {
				return true
			}
		}
		return false
	}
	xs, ys := l.X, l.Y
	if l.Mark == report.Step {
		xs, ys = steps(l)
	}
	switch l.Mark {
	case report.Cells:
		return true
	case report.Rule:
		if l.Y != nil {
			return segment(point{f.x.from, f.y.at(l.Y[0])}, point{f.x.to, f.y.at(l.Y[0])})
		}
		return segment(point{f.x.at(l.X[0]), f.y.from}, point{f.x.at(l.X[0]), f.y.to})
	case report.Line, report.Step:
		for _, part := range f.parts(xs, ys) {
			for i := range part {
				if within(part[i]) || i > 0 && segment(part[i-1], part[i]) {
					return true
				}
			}
		}
	case report.Band, report.Whisker:
		for i, x := range l.X {
			a, b := f.place(x, l.Low[i]), f.place(x, l.High[i])
			if !drawable(a.x, a.y) || !drawable(b.x, b.y) {
				continue
			}
			if segment(a, b) {
				return true
			}
			if l.Mark == report.Band && i > 0 && drawable(l.Low[i-1], l.High[i-1]) {
				if segment(f.place(l.X[i-1], l.Low[i-1]), a) || segment(f.place(l.X[i-1], l.High[i-1]), b) {
					return true
				}
			}
		}
	case report.Range:
		for i, y := range l.Y {
			a, b := f.place(l.Low[i], y), f.place(l.High[i], y)
			if drawable(a.x, a.y) && drawable(b.x, b.y) && segment(a, b) {
				return true
			}
		}
	default:
		for i, x := range l.X {
			p := point{f.x.at(x), f.y.from}
			if l.Y != nil {
				p.y = f.y.at(l.Y[i])
			}
			if drawable(p.x, p.y) && within(p) {
				return true
			}
		}
	}
	return false
}
