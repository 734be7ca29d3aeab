package plotfile

import (
	"image/color"
	"io"
)

// point is a point of a page, in points (1/72 inch) to the right of and below its upper left
// corner.
type point struct{ x, y float64 }

// stroke is how a line is drawn.
type stroke struct {
	colour color.NRGBA
	width  float64   // in points
	dashes []float64 // alternating lengths of dashes and gaps; nil: a solid line
}

// anchor is the part of a text that is at its point.
type anchor int

const (
	start anchor = iota
	middle
	end
)

// label is a text of one line.
type label struct {
	text   string
	at     point // on the base line
	size   float64
	anchor anchor
	upward bool // turned by 90 degrees, to be read from below
	colour color.NRGBA
}

// canvas draws on a page. Every format of files is one.
type canvas interface {
	line(points []point, s stroke)
	area(points []point, c color.NRGBA) // filled; the polygon is closed
	disc(at point, radius float64, c color.NRGBA)
	ring(at point, radius float64, s stroke)
	write(l label)
	encode(w io.Writer) error // once, at the end
}

// formats lists the formats of files, by the ends of their names.
var formats = []struct {
	suffix string
	create func(width, height float64) canvas
}{
	{".png", func(w, h float64) canvas { return newRaster(w, h) }},
	{".svg", func(w, h float64) canvas { return newSVG(w, h) }},
	{".pdf", func(w, h float64) canvas { return newPDF(w, h) }},
}

// Colours of texts, axes and lines, but not of data.
var (
	ink  = color.NRGBA{0x1b, 0x21, 0x28, 0xff}
	grey = color.NRGBA{0x7b, 0x87, 0x94, 0xff}
	pale = color.NRGBA{0xe6, 0xe9, 0xec, 0xff}
)
