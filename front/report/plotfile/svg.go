package plotfile

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
)

// svg is a page as SVG. Texts stay texts, which readers can select and editors can change.
type svg struct{ b bytes.Buffer }

func newSVG(width, height float64) *svg {
	s := &svg{}
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %[1]s %[2]s" font-family="Helvetica, Arial, sans-serif">`+"\n", short(width), short(height))
	fmt.Fprintf(&s.b, `<rect width="%s" height="%s" fill="#ffffff"/>`+"\n", short(width), short(height))
	return s
}

// short formats a length with at most two decimals.
func short(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64) // adding 0 turns -0 into 0
}

// paint is an attribute with a colour.
func paint(attribute string, c color.NRGBA) string {
	text := fmt.Sprintf(` %s="#%02x%02x%02x"`, attribute, c.R, c.G, c.B)
	if c.A < 255 {
		text += fmt.Sprintf(` %s-opacity="%.2f"`, attribute, float64(c.A)/255)
	}
	return text
}

func (s *svg) points(list []point) {
	for i, p := range list {
		if i > 0 {
			s.b.WriteByte(' ')
		}
		s.b.WriteString(short(p.x) + "," + short(p.y))
	}
}

func (s *svg) stroke(k stroke) {
	s.b.WriteString(paint("stroke", k.colour) + ` stroke-width="` + short(k.width) + `"`)
	for i, d := range k.dashes {
		if i == 0 {
			s.b.WriteString(` stroke-dasharray="`)
		} else {
			s.b.WriteByte(' ')
		}
		s.b.WriteString(short(d))
	}
	if k.dashes != nil {
		s.b.WriteByte('"')
	}
}

func (s *svg) line(points []point, k stroke) {
	s.b.WriteString(`<polyline points="`)
	s.points(points)
	s.b.WriteString(`" fill="none" stroke-linejoin="round"`)
	s.stroke(k)
	s.b.WriteString("/>\n")
}

func (s *svg) area(points []point, c color.NRGBA) {
	s.b.WriteString(`<polygon points="`)
	s.points(points)
	s.b.WriteString(`"` + paint("fill", c) + "/>\n")
}

func (s *svg) disc(at point, radius float64, c color.NRGBA) {
	fmt.Fprintf(&s.b, `<circle cx="%s" cy="%s" r="%s"%s/>`+"\n", short(at.x), short(at.y), short(radius), paint("fill", c))
}

func (s *svg) ring(at point, radius float64, k stroke) {
	fmt.Fprintf(&s.b, `<circle cx="%s" cy="%s" r="%s" fill="none"`, short(at.x), short(at.y), short(radius))
	s.stroke(k)
	s.b.WriteString("/>\n")
}

func (s *svg) write(l label) {
	fmt.Fprintf(&s.b, `<text font-size="%s" text-anchor="%s"%s`, short(l.size), [...]string{"start", "middle", "end"}[l.anchor], paint("fill", l.colour))
	if l.upward {
		fmt.Fprintf(&s.b, ` transform="translate(%s,%s) rotate(-90)">`, short(l.at.x), short(l.at.y))
	} else {
		fmt.Fprintf(&s.b, ` x="%s" y="%s">`, short(l.at.x), short(l.at.y))
	}
	_ = xml.EscapeText(&s.b, []byte(l.text)) // writing to a buffer cannot fail
	s.b.WriteString("</text>\n")
}

func (s *svg) encode(w io.Writer) error {
	s.b.WriteString("</svg>\n")
	_, err := s.b.WriteTo(w)
	return err
}
