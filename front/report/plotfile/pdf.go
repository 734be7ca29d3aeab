package plotfile

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image/color"
	"io"
	"slices"
)

// pdf is a page as PDF 1.4. Texts are outlines, so that no font has to be embedded.
type pdf struct {
	width, height float64
	b             bytes.Buffer // operators of the page
	opacities     []uint8      // of graphics states, by their number
}

func newPDF(width, height float64) *pdf { return &pdf{width: width, height: height} }

// at formats a point. The origin of PDF is the lower left corner.
func (p *pdf) at(q point) string { return short(q.x) + " " + short(p.height-q.y) }

// state selects the opacity of a colour for what follows.
func (p *pdf) state(c color.NRGBA) {
	number := slices.Index(p.opacities, c.A)
	if number < 0 {
		number = len(p.opacities)
		p.opacities = append(p.opacities, c.A)
	}
	fmt.Fprintf(&p.b, "/G%d gs ", number)
}

func shade(c color.NRGBA) string {
	return fmt.Sprintf("%.3f %.3f %.3f", float64(c.R)/255, float64(c.G)/255, float64(c.B)/255)
}

func (p *pdf) trace(outline path) {
	for _, k := range outline {
		p.b.WriteString(p.at(k.start) + " m ")
		for _, s := range k.parts {
			if s.curved {
				p.b.WriteString(p.at(s.a) + " " + p.at(s.b) + " " + p.at(s.to) + " c ")
			} else {
				p.b.WriteString(p.at(s.to) + " l ")
			}
		}
		p.b.WriteString("h ")
	}
}

func (p *pdf) fill(outline path, c color.NRGBA) {
	p.state(c)
	p.b.WriteString(shade(c) + " rg ")
	p.trace(outline)
	p.b.WriteString("f\n")
}

func (p *pdf) stroke(s stroke) {
	p.state(s.colour)
	p.b.WriteString(shade(s.colour) + " RG " + short(s.width) + " w 1 j [")
	for _, d := range s.dashes {
		p.b.WriteString(" " + short(d))
	}
	p.b.WriteString(" ] 0 d ")
}

func (p *pdf) line(points []point, s stroke) {
	p.stroke(s)
	for i, q := range points {
		p.b.WriteString(p.at(q) + [...]string{" m ", " l "}[min(i, 1)])
	}
	p.b.WriteString("S\n")
}

func (p *pdf) area(points []point, c color.NRGBA)           { p.fill(polygon(points), c) }
func (p *pdf) disc(at point, radius float64, c color.NRGBA) { p.fill(circle(at, radius), c) }

func (p *pdf) ring(at point, radius float64, s stroke) {
	p.stroke(s)
	p.trace(circle(at, radius))
	p.b.WriteString("S\n")
}

func (p *pdf) write(l label) {
	if glyphs := outline(l); glyphs != nil {
		p.fill(glyphs, l.colour)
	}
}

func (p *pdf) encode(w io.Writer) error {
	var content bytes.Buffer
	z := zlib.NewWriter(&content)
	if _, err := p.b.WriteTo(z); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	states := ""
	for i, a := range p.opacities {
		states += fmt.Sprintf("/G%d << /CA %.3f /ca %.3[2]f >> ", i, float64(a)/255)
	}
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n")
	var offsets []int
	object := func(text string) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(offsets), text)
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %s %s] /Contents 4 0 R /Resources << /ExtGState << %s>> >> >>", short(p.width), short(p.height), states))
	object(fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", content.Len(), content.String()))
	begin := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, begin)
	_, err := out.WriteTo(w)
	return err
}
