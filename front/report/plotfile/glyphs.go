package plotfile

import (
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// path is an outline: contours of straight lines and curves, each closed.
type path []contour

type contour struct {
	start point
	parts []part
}

// part continues a contour to a point: on a cubic curve with two control points, or straight.
type part struct {
	curved bool
	a, b   point
	to     point
}

// typeface is the Go font, which has Latin, Greek and Cyrillic letters in 150 kB. It is read when
// it is first needed.
var typeface = sync.OnceValue(func() *sfnt.Font {
	f, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		panic(err) // cannot happen: the font is part of the program
	}
	return f
})

// unit is the size at which glyphs are read: one em has this many units.
const unit = 1000

// glyphsOf returns the glyphs of a text, the distance from each to the next, and the width of the
// text, in points.
func glyphsOf(text string, size float64) (glyphs []sfnt.GlyphIndex, advances []float64, width float64) {
	f := typeface()
	var buffer sfnt.Buffer
	for _, r := range text {
		g, err := f.GlyphIndex(&buffer, r)
		if err != nil {
			g = 0 // the box that represents a missing glyph
		}
		advance := 0.0
		if a, err := f.GlyphAdvance(&buffer, g, fixed.I(unit), font.HintingNone); err == nil {
			advance = float64(a) / 64 * size / unit
		}
		glyphs, advances = append(glyphs, g), append(advances, advance)
		width += advance
	}
	return glyphs, advances, width
}

// textWidth is the width of a text in points.
func textWidth(text string, size float64) float64 {
	_, _, width := glyphsOf(text, size)
	return width
}

// outline returns the outline of a label.
func outline(l label) (out path) {
	f := typeface()
	var buffer sfnt.Buffer
	scale := l.size / unit
	glyphs, advances, width := glyphsOf(l.text, l.size)
	x := -width * float64(l.anchor) / 2
	place := func(p fixed.Point26_6, x float64) point {
		at := point{x + float64(p.X)/64*scale, float64(p.Y) / 64 * scale}
		if l.upward {
			at = point{at.y, -at.x}
		}
		return point{l.at.x + at.x, l.at.y + at.y}
	}
	for i, g := range glyphs {
		segments, err := f.LoadGlyph(&buffer, g, fixed.I(unit), nil)
		if err != nil {
			continue // a coloured glyph, which this font lacks
		}
		var last point
		for _, s := range segments {
			if s.Op == sfnt.SegmentOpMoveTo {
				last = place(s.Args[0], x)
				out = append(out, contour{start: last})
				continue
			}
			c := &out[len(out)-1]
			next := part{}
			switch s.Op {
			case sfnt.SegmentOpLineTo:
				next.to = place(s.Args[0], x)
			case sfnt.SegmentOpQuadTo: // a quadratic curve, converted to a cubic one
				q, to := place(s.Args[0], x), place(s.Args[1], x)
				next = part{true, between(last, q, 2.0/3), between(to, q, 2.0/3), to}
			case sfnt.SegmentOpCubeTo:
				next = part{true, place(s.Args[0], x), place(s.Args[1], x), place(s.Args[2], x)}
			}
			c.parts = append(c.parts, next)
			last = next.to
		}
		x += advances[i]
	}
	return out
}

// between is the point at a share t of the way from a to b.
func between(a, b point, t float64) point { return point{a.x + t*(b.x-a.x), a.y + t*(b.y-a.y)} }

// fitted shortens a text to a width.
func fitted(text string, size, width float64) string {
	if textWidth(text, size) <= width {
		return text
	}
	runes := []rune(text)
	for n := len(runes) - 1; n > 0; n-- {
		if short := string(runes[:n]) + "…"; textWidth(short, size) <= width {
			return short
		}
	}
	return "…"
}

// circle is the outline of a disc.
func circle(at point, r float64) path {
	k := r * 4 / 3 * (math.Sqrt2 - 1) // control points of a quarter, as usual
	return path{{point{at.x + r, at.y}, []part{
		{true, point{at.x + r, at.y + k}, point{at.x + k, at.y + r}, point{at.x, at.y + r}},
		{true, point{at.x - k, at.y + r}, point{at.x - r, at.y + k}, point{at.x - r, at.y}},
		{true, point{at.x - r, at.y - k}, point{at.x - k, at.y - r}, point{at.x, at.y - r}},
		{true, point{at.x + k, at.y - r}, point{at.x + r, at.y - k}, point{at.x + r, at.y}},
	}}}
}

// polygon is the outline of a polygon.
func polygon(points []point) path {
	c := contour{start: points[0]}
	for _, p := range points[1:] {
		c.parts = append(c.parts, part{to: p})
	}
	return path{c}
}
