package plotfile

import (
	"math"

	"golang.org/x/image/font"
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

// unit is the size at which glyphs are read: one em has this many units.
const unit = 1000

// glyph is a glyph of a font, with the distance to the next.
type glyph struct {
	font    *sfnt.Font
	index   sfnt.GlyphIndex
	advance float64
}

// glyphsOf returns the glyphs of a text and its width in points. A character that no font has is
// replaced by a question mark.
func glyphsOf(text string, size float64) (glyphs []glyph, width float64) {
	var buffer sfnt.Buffer
	for _, r := range text {
		f := installed().of(r)
		if f == nil {
			f, r = installed().first, '?'
		}
		g := glyph{font: f}
		g.index, _ = f.GlyphIndex(&buffer, r)
		if a, err := f.GlyphAdvance(&buffer, g.index, fixed.I(unit), font.HintingNone); err == nil {
			g.advance = float64(a) / 64 * size / unit
		}
		glyphs = append(glyphs, g)
		width += g.advance
	}
	return glyphs, width
}

// textWidth is the width of a text in points.
func textWidth(text string, size float64) float64 {
	_, width := glyphsOf(text, size)
	return width
}

// outline returns the outline of a label.
func outline(l label) (out path) {
	var buffer sfnt.Buffer
	scale := l.size / unit
	glyphs, width := glyphsOf(l.text, l.size)
	x := -width * float64(l.anchor) / 2
	place := func(p fixed.Point26_6, x float64) point {
		at := point{x + float64(p.X)/64*scale, float64(p.Y) / 64 * scale}
		if l.upward {
			at = point{at.y, -at.x}
		}
		return point{l.at.x + at.x, l.at.y + at.y}
	}
	for _, g := range glyphs {
		segments, err := g.font.LoadGlyph(&buffer, g.index, fixed.I(unit), nil)
		if err != nil {
			continue // a glyph of colours
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
		x += g.advance
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
