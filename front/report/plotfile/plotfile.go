// Package plotfile draws the figures of a report as PNG, SVG and PDF files, and writes their
// numbers as CSV files.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	plotfile.go                Figures, Write: which files, and their names
//	table.go                   the numbers of a figure as CSV
//	frame.go                   the axes, their ticks, title and legend
//	legend.go                  a free corner for the legend
//	layers.go                  each kind of mark
//	scale.go                   ranges of axes, round ticks
//	colours.go                 colours by role and chain, as in the HTML report
//	canvas.go                  canvas: what a format of files can draw; the table of formats
//	svg.go, raster.go, pdf.go  the formats
//	glyphs.go                  outlines and widths of texts
//	fonts.go                   a font for each character, of the program or the system
//
// gonum/plot was replaced: with its twelve fonts and its code, the stripped program had 34.8 MB in
// place of 28.9.
package plotfile

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/internal/files"
)

// Figures returns the figures of a report that are drawn by default: those of the named quantities,
// the pairs of the first three, and those of the run. Names of quantities without plots are
// ignored.
func Figures(r *report.Report, names []string) []report.Figure {
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
	return slices.DeleteFunc(figures, func(f report.Figure) bool { return f.Empty() })
}

// Write draws figures of a report into an existing folder, each as NAME.png, NAME.svg and NAME.pdf,
// with its numbers as NAME.csv. It returns the paths.
func Write(ctx context.Context, r *report.Report, dir string, figures []report.Figure) ([]string, error) {
	var files []string
	used := map[string]bool{}
	for _, f := range figures {
		if err := ctx.Err(); err != nil {
			return files, err
		}
		name := fileName(f)
		// Some systems take names that differ only in case for the same file.
		for n := 2; used[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", fileName(f), n)
		}
		used[strings.ToLower(name)] = true
		for _, format := range formats {
			page := format.create(width, height)
			render(page, r, f)
			path := filepath.Join(dir, name+format.suffix)
			if err := saved(path, page); err != nil {
				return files, err
			}
			files = append(files, path)
		}
		path := filepath.Join(dir, name+".csv")
		if err := saveTable(path, r, f); err != nil {
			return files, err
		}
		files = append(files, path)
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

func saved(path string, page canvas) error { return files.SaveBy(path, page.encode) }

// render draws a figure with its title and its legend.
func render(page canvas, r *report.Report, f report.Figure) {
	layers := r.Resolve(f)
	onCells := slices.ContainsFunc(layers, func(l report.Layer) bool { return l.Mark == report.Cells })
	for i := range layers {
		if onCells && layers[i].Role == report.First {
			layers[i].Role = light
		}
	}
	begin(page, title(r, f), f, layers).draw(layers)
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
