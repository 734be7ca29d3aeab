package plotfile_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/front/report/plotfile"
)

// TestWrite checks that each figure that is not empty becomes a PNG, an SVG and a PDF file. SVG
// files have the texts. It includes values that cannot be drawn and quantities whose names cannot
// be file names.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	nan := math.NaN()
	one := func(kind string, layers ...report.Layer) report.Figure {
		return report.Figure{Kind: kind, Of: []string{"a/b[1]"}, X: report.Axis{Label: "across"}, Y: report.Axis{Label: "up"}, Layers: layers}
	}
	surface := one("surface", report.Layer{Mark: report.Cells, Role: report.Surface, X: report.Values{0.1, 0.2}, Y: report.Values{1, 2, 3}, Z: report.Values{1, 2, nan, 4, 5, 6}},
		report.Layer{Mark: report.Points, Role: report.First, X: report.Values{0.1}, Y: report.Values{2}})
	surface.X.Log = true
	list := one("intervals", report.Layer{Mark: report.Range, Role: report.First, Label: "90 %", Y: report.Values{0, 1}, Low: report.Values{1, nan}, High: report.Values{2, nan}})
	list.Y.Names = []string{"θ[2]", "θ[1]"}
	r := &report.Report{
		Kinds: report.Kinds(), Kept: report.Kept{Every: 1, Counts: []int{3}}, Run: report.Run{Chains: []int{1}}, Divergent: []report.Transition{{}},
		Quantities: []report.Quantity{
			{Name: "a/b[1]", Centre: 1, Draws: report.Packed{1, float32(nan), 2}, Divergent: report.Packed{1},
				Figures: []report.Figure{one("trace", report.Layer{Mark: report.Line, Role: report.OfChain, Chain: 1, Label: "chain 1", From: 1, Step: 1, YOf: "a/b[1]"},
					report.Layer{Mark: report.Points, Role: report.Divergent, X: report.Values{2}})}},
			{Name: "a b 1", Row: 1, Draws: report.Packed{0, 0, 0}, Divergent: report.Packed{0}},
		},
		Figures: []report.Figure{
			one("energy", report.Layer{Mark: report.Step, Role: report.First, Step: 1, Y: report.Values{1, 2}}, report.Layer{Mark: report.Rule, Role: report.Reference, Y: report.Values{1}}),
			one("energy", report.Layer{Mark: report.Band, Role: report.First, X: report.Values{1, 2}, Low: report.Values{0, 0}, High: report.Values{1, math.Inf(1)}}),
			one("predictive"), // nothing: no file
			surface, list,
		},
	}
	files, err := plotfile.Write(context.Background(), r, dir, plotfile.Figures(r, []string{"a/b[1]", "a b 1"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"trace_a_b_1", "pairs_a_b_1_a_b_1", "energy_a_b_1", "energy_a_b_1_2", "surface_a_b_1", "intervals_a_b_1"} {
		file, err := os.Open(filepath.Join(dir, name+".png"))
		if err != nil {
			t.Error(err)
			continue
		}
		picture, err := png.Decode(file)
		file.Close()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		colours := map[string]bool{}
		for x := range picture.Bounds().Dx() {
			for y := range picture.Bounds().Dy() {
				colours[fmt.Sprint(picture.At(x, y))] = true
			}
		}
		if len(colours) < 10 {
			t.Errorf("%s has %d colours", name, len(colours))
		}
		text, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		if want := "across"; name != "pairs_a_b_1_a_b_1" && (err != nil || !strings.Contains(string(text), want)) {
			t.Errorf("%s.svg has no %q: %v", name, want, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "trace_a_b_1.pdf"))
	if err != nil || !bytes.HasPrefix(page, []byte("%PDF-1.4")) {
		t.Fatalf("%.20q %v", page, err)
	}
	// The table of objects is where the file says, and each object is where the table says.
	var table int
	if _, err := fmt.Sscanf(string(page[bytes.LastIndex(page, []byte("startxref\n"))+10:]), "%d", &table); err != nil || !bytes.HasPrefix(page[table:], []byte("xref")) {
		t.Fatal(table, err)
	}
	for i, line := range bytes.Split(page[table:], []byte("\n"))[3:7] {
		var offset int
		if _, err := fmt.Sscanf(string(line), "%d", &offset); err != nil || !bytes.HasPrefix(page[offset:], fmt.Appendf(nil, "%d 0 obj", i+1)) {
			t.Errorf("object %d: %q %v", i+1, line, err)
		}
	}
	if len(files) != 24 {
		t.Errorf("%d files: %v", len(files), files)
	}
}

// TestSmallTraces: a trace of one draw, and a draw between others that are not numbers, are
// visible. Names that differ only in case have separate files, also on systems that ignore case.
func TestSmallTraces(t *testing.T) {
	nan := float32(math.NaN())
	dir := t.TempDir()
	r := &report.Report{Kinds: report.Kinds(), Kept: report.Kept{Every: 1}, Run: report.Run{Chains: []int{1}}}
	var names []string
	for _, q := range []struct {
		name  string
		draws report.Packed
	}{{"x", report.Packed{2}}, {"X", report.Packed{nan, 2, nan}}} {
		r.Kept.Counts = []int{len(q.draws)}
		r.Quantities = []report.Quantity{{Name: q.name, Draws: q.draws, Figures: []report.Figure{{Kind: "trace", Of: []string{q.name},
			Layers: []report.Layer{{Mark: report.Line, Role: report.OfChain, Chain: 1, From: 1, Step: 1, YOf: q.name}}}}}}
		if _, err := plotfile.Write(context.Background(), r, dir, plotfile.Figures(r, []string{q.name})); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(dir, "trace_"+q.name+".svg"))
		if err != nil || !strings.Contains(string(page), "<circle") {
			t.Errorf("%s: the draw is not shown: %v", q.name, err)
		}
		names = append(names, q.name)
	}
	line := report.Layer{Mark: report.Line, Role: report.First, X: report.Values{0, 1}, Y: report.Values{0, 1}}
	var both report.Report
	for _, name := range names {
		both.Quantities = append(both.Quantities, report.Quantity{Name: name, Figures: []report.Figure{{Kind: "density", Of: []string{name}, Layers: []report.Layer{line}}}})
	}
	files, err := plotfile.Write(context.Background(), &both, t.TempDir(), plotfile.Figures(&both, names))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		if seen[strings.ToLower(f)] {
			t.Errorf("%s is written twice", f)
		}
		seen[strings.ToLower(f)] = true
	}
	if len(files) != 12 { // two densities and a pair, in three formats and as a table
		t.Errorf("%d files: %v", len(files), files)
	}
}

// TestLegend: if a legend does not fit, its last line counts what it leaves out.
func TestLegend(t *testing.T) {
	dir := t.TempDir()
	f := report.Figure{Kind: "energy"}
	for i := range 30 {
		f.Layers = append(f.Layers, report.Layer{Mark: report.Line, Role: report.OfChain, Chain: i + 1, Label: fmt.Sprintf("chain %d", i+1), X: report.Values{0, 1}, Y: report.Values{0, 1}})
	}
	if _, err := plotfile.Write(context.Background(), &report.Report{}, dir, []report.Figure{f}); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "energy.svg"))
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Count(string(page), ">chain ")
	if want := fmt.Sprintf("… and %d more<", 30-shown); shown < 5 || !strings.Contains(string(page), want) {
		t.Errorf("%d lines, but no %q", shown, want)
	}
}

// TestTables: the CSV file of a figure has the coordinates of each mark, the names of positions,
// and what the coordinates are.
func TestTables(t *testing.T) {
	f := report.Figure{Kind: "groups", X: report.Axis{Label: "days, by site"}, Y: report.Axis{Names: []string{"a,b", "c"}}, Layers: []report.Layer{
		{Mark: report.Range, Role: report.First, Label: "90 %", Y: report.Values{0, 1}, Low: report.Values{1, math.NaN()}, High: report.Values{2, 3}},
		{Mark: report.Step, Role: report.Second, From: 1, Step: 2, Y: report.Values{7 * 0.1}},
		{Mark: report.Cells, Role: report.Surface, X: report.Values{5}, Y: report.Values{0, 1}, Z: report.Values{8, 9}},
		{Mark: report.Line, Role: report.Observed},
	}}
	dir := t.TempDir()
	if _, err := plotfile.Write(context.Background(), &report.Report{}, dir, []report.Figure{f}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "groups.csv"))
	if err != nil {
		t.Fatal(err)
	}
	want := `layer,label,mark,name,x,y,low,high,value,x_axis,y_axis
1,90 %,range,"a,b",,0,1,2,,"days, by site",position of name
1,90 %,range,c,,1,,3,,"days, by site",position of name
2,,step,,2,0.7,1,3,,"days, by site",position of name
3,,cells,"a,b",5,0,,,8,"days, by site",position of name
3,,cells,c,5,1,,,9,"days, by site",position of name
`
	if string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
