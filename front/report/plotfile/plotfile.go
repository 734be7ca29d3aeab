// Package plotfile draws the figures of a report as PNG and SVG files.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	plotfile.go  Write: which files, and their names
//	layers.go    drawing each kind of mark
//	colours.go   colours by role and chain, as in the HTML report
package plotfile

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/ppl-lang/ppl/front/report"

	"github.com/ppl-lang/ppl/internal/files"
)

// The measures of a plot.
const (
	width       = 17 * vg.Centimeter
	height      = 9.5 * vg.Centimeter
	legendWidth = 4 * vg.Centimeter
	margin      = 0.35 * vg.Centimeter
	dotsPer     = 150 // per inch, of PNG
)

// Write draws figures into an existing folder, each as NAME.png and NAME.svg: those of the run,
// those of the named quantities, and the pairs of the first three. It returns the paths.
func Write(ctx context.Context, r *report.Report, dir string, names []string) ([]string, error) {
	var figures []report.Figure
	var first []string
	for _, q := range r.Quantities {
		if slices.Contains(names, q.Name) {
			figures = append(figures, q.Figures...)
			if len(first) < 3 {
				first = append(first, q.Name)
			}
		}
	}
	for i, x := range first {
		for _, y := range first[i+1:] {
			figures = append(figures, r.Pair(x, y))
		}
	}
	for _, f := range r.Figures {
		if f.Kind != "pairs" || len(first) < 2 {
			figures = append(figures, f)
		}
	}
	var files []string
	used := map[string]bool{}
	for _, f := range figures {
		if err := ctx.Err(); err != nil {
			return files, err
		}
		if f.Empty() {
			continue
		}
		name := fileName(f)
		for n := 2; used[name]; n++ {
			name = fmt.Sprintf("%s_%d", fileName(f), n)
		}
		used[name] = true
		for _, c := range []struct {
			suffix string
			canvas interface {
				vg.CanvasSizer
				io.WriterTo
			}
		}{
			{".png", vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPer))}},
			{".svg", vgsvg.New(width, height)},
		} {
			if err := render(r, f, c.canvas); err != nil {
				return files, fmt.Errorf("%s: %w", name, err)
			}
			path := filepath.Join(dir, name+c.suffix)
			if err := writeTo(path, c.canvas); err != nil {
				return files, err
			}
			files = append(files, path)
		}
	}
	return files, nil
}

// fileName makes a file name from the figure's kind and the quantity's name: letters, digits and
// underscores.
func fileName(f report.Figure) string {
	name := strings.Join(append([]string{f.Kind}, f.Of...), "_")
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' {
			return r
		}
		return '_'
	}, name)
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	if runes := []rune(name); len(runes) > 80 {
		name = string(runes[:80])
	}
	return strings.Trim(name, "_")
}

func writeTo(path string, from io.WriterTo) error {
	return files.SaveBy(path, func(w io.Writer) error {
		_, err := from.WriteTo(w)
		return err
	})
}

// render draws a figure with its title and, to the right, its legend.
func render(r *report.Report, f report.Figure, canvas vg.CanvasSizer) error {
	p := plot.New()
	sans := func(s *font.Font, size font.Length) {
		s.Variant, s.Size = "Sans", size
	}
	sans(&p.Title.TextStyle.Font, vg.Points(11))
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		sans(&a.Label.TextStyle.Font, vg.Points(9))
		sans(&a.Tick.Label.Font, vg.Points(8))
		a.Label.Padding = vg.Points(4)
	}
	p.Title.Padding = vg.Points(6)
	p.Title.Text = title(r, f)
	p.X.Label.Text, p.Y.Label.Text = f.X.Label, f.Y.Label
	legend := plot.NewLegend()
	sans(&legend.TextStyle.Font, vg.Points(8))
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(3)
	if err := layers(p, &legend, f, r.Resolve(f)); err != nil {
		return err
	}
	c := draw.New(canvas)
	c = draw.Crop(c, margin, -margin, margin, -margin)
	p.Draw(draw.Crop(c, 0, -legendWidth, 0, 0))
	legend.Draw(draw.Crop(c, c.Max.X-c.Min.X-legendWidth+margin, 0, 0, -vg.Centimeter))
	return nil
}

func title(r *report.Report, f report.Figure) string {
	for _, k := range r.Kinds {
		if k.Name != f.Kind {
			continue
		}
		if k.Scope == report.OfPair || len(f.Of) == 0 {
			return k.Title
		}
		return k.Title + ": " + strings.Join(f.Of, ", ")
	}
	return f.Kind
}
