package plotfile

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/vector"
)

// dotsPer is the number of pixels per inch of a PNG file.
const dotsPer = 200

// raster is a page as PNG.
type raster struct {
	image *image.RGBA
	fill  vector.Rasterizer
}

func newRaster(width, height float64) *raster {
	r := &raster{image: image.NewRGBA(image.Rect(0, 0, int(math.Ceil(width*dotsPer/72)), int(math.Ceil(height*dotsPer/72))))}
	draw.Draw(r.image, r.image.Bounds(), image.White, image.Point{}, draw.Src)
	return r
}

// paint fills a path. Where its contours overlap, in the same direction, it is filled once.
func (r *raster) paint(p path, c color.NRGBA) {
	const scale = dotsPer / 72.0
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	include := func(q point) {
		low = point{min(low.x, q.x), min(low.y, q.y)}
		high = point{max(high.x, q.x), max(high.y, q.y)}
	}
	for _, k := range p {
		include(k.start)
		for _, s := range k.parts {
			if s.curved {
				include(s.a)
				include(s.b)
			}
			include(s.to)
		}
	}
	box := image.Rect(int(math.Floor(low.x*scale)), int(math.Floor(low.y*scale)), int(math.Ceil(high.x*scale))+1, int(math.Ceil(high.y*scale))+1)
	if box = box.Intersect(r.image.Bounds()); box.Empty() {
		return
	}
	r.fill.Reset(box.Dx(), box.Dy())
	at := func(q point) (x, y float32) {
		return float32(q.x*scale - float64(box.Min.X)), float32(q.y*scale - float64(box.Min.Y))
	}
	for _, k := range p {
		r.fill.MoveTo(at(k.start))
		for _, s := range k.parts {
			x, y := at(s.to)
			if !s.curved {
				r.fill.LineTo(x, y)
				continue
			}
			ax, ay := at(s.a)
			bx, by := at(s.b)
			r.fill.CubeTo(ax, ay, bx, by, x, y)
		}
		r.fill.ClosePath()
	}
	r.fill.Draw(r.image, box, image.NewUniform(c), image.Point{})
}

func (r *raster) area(points []point, c color.NRGBA)           { r.paint(polygon(points), c) }
func (r *raster) disc(at point, radius float64, c color.NRGBA) { r.paint(circle(at, radius), c) }

func (r *raster) ring(at point, radius float64, s stroke) {
	outer, inner := circle(at, radius+s.width/2), circle(at, radius-s.width/2)
	r.paint(append(outer, reversed(inner[0])), s.colour)
}

// reversed is a contour in the other direction, which cuts a hole.
func reversed(c contour) contour {
	out := contour{}
	from := c.start
	for _, s := range c.parts {
		out.parts = append([]part{{s.curved, s.b, s.a, from}}, out.parts...)
		from = s.to
	}
	out.start = from
	return out
}

func (r *raster) write(l label) {
	r.paint(outline(l), l.colour)
}

// line draws rectangles along a line, and discs where they meet, as one path, so that a transparent
// line does not show its joints.
func (r *raster) line(points []point, s stroke) {
	var p path
	for _, piece := range dashed(points, s.dashes) {
		for i, a := range piece {
			if i > 0 && len(piece) > 2 && i < len(piece)-1 {
				p = append(p, circle(a, s.width/2)...)
			}
			if i+1 == len(piece) {
				break
			}
			b := piece[i+1]
			length := math.Hypot(b.x-a.x, b.y-a.y)
			if length == 0 {
				continue
			}
			dx, dy := (b.y-a.y)/length*s.width/2, (a.x-b.x)/length*s.width/2
			p = append(p, polygon([]point{{a.x + dx, a.y + dy}, {b.x + dx, b.y + dy}, {b.x - dx, b.y - dy}, {a.x - dx, a.y - dy}})...)
		}
	}
	if p != nil {
		r.paint(p, s.colour)
	}
}

// dashed cuts a line into its dashes.
func dashed(points []point, lengths []float64) [][]point {
	if lengths == nil || len(points) < 2 {
		return [][]point{points}
	}
	var out [][]point
	piece := []point{points[0]}
	i, left := 0, lengths[0]
	for n := 1; n < len(points); n++ {
		from, to := points[n-1], points[n]
		length := math.Hypot(to.x-from.x, to.y-from.y)
		done := 0.0
		for length-done > left {
			done += left
			at := between(from, to, done/length)
			if i%2 == 0 {
				out = append(out, append(piece, at))
			}
			piece = []point{at}
			i++
			left = lengths[i%len(lengths)]
		}
		left -= length - done
		piece = append(piece, to)
	}
	if i%2 == 0 && len(piece) > 1 {
		out = append(out, piece)
	}
	return out
}

func (r *raster) encode(w io.Writer) error { return png.Encode(w, r.image) }
