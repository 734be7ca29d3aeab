package plotfile

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/image/font/gofont/goregular"

	"github.com/ppl-lang/ppl/front/report"
)

// TestFonts: the fonts of folders are found, and files that are none are passed over. A character
// that no font has is a question mark, in figures and in what Missing reports.
func TestFonts(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "truetype")
	if err := os.Mkdir(below, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"CJK.ttf": []byte("no font"), "readme.txt": goregular.TTF, "Own-Regular.TTF": goregular.TTF} {
		if err := os.WriteFile(filepath.Join(below, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f := &fonts{first: installed().first, folders: []string{filepath.Join(dir, "none"), dir}}
	f.list()
	if len(f.files) != 2 || filepath.Base(f.files[0]) != "CJK.ttf" {
		t.Fatalf("%q", f.files)
	}
	if found := f.search('θ'); found == nil || found == f.first || len(f.files) != 0 {
		t.Error("the letter is not found")
	}
	const nowhere = '\U0001FFFD' // no character, and never one
	if f.of(nowhere) != nil || f.of('a') != f.first {
		t.Error("a character has the wrong font")
	}
	if a, b := textWidth("a"+string(nowhere), 9), textWidth("a?", 9); a != b {
		t.Errorf("%v, not the width of a question mark, %v", a, b)
	}
	figure := report.Figure{Kind: "intervals", X: report.Axis{Label: "x"}, Y: report.Axis{Names: []string{"b" + string(nowhere), string(nowhere)}}}
	if got := Missing(&report.Report{}, []report.Figure{figure}); got != string(nowhere) {
		t.Errorf("missing %q", got)
	}
}

// TestCorner: the legend is in a corner where nothing is drawn, and else to the right of the frame.
func TestCorner(t *testing.T) {
	line := func(x, y []float64) report.Layer {
		return report.Layer{Mark: report.Line, Role: report.First, Label: "line", X: x, Y: y}
	}
	for name, c := range map[string]struct {
		layers []report.Layer
		where  string
	}{
		"nothing there": {[]report.Layer{line([]float64{0, 1}, []float64{0, 0}), line([]float64{0, 0}, []float64{0, 1})}, "right top"},
		"top right":     {[]report.Layer{line([]float64{0, 1}, []float64{0, 1})}, "left top"},
		"top":           {[]report.Layer{line([]float64{0, 1}, []float64{1, 1}), line([]float64{0, 0.1}, []float64{0, 0})}, "right bottom"},
		"a diagonal and a band": {[]report.Layer{line([]float64{0, 1}, []float64{0, 1}),
			{Mark: report.Band, Role: report.First, X: []float64{0, 1}, Low: []float64{0.8, 0}, High: []float64{1, 0.2}}}, "outside"},
		"whiskers everywhere": {[]report.Layer{{Mark: report.Whisker, Role: report.First, Label: "w", X: []float64{0, 0.1, 0.9, 1}, Low: []float64{0, 0, 0, 0}, High: []float64{1, 1, 1, 1}}}, "outside"},
		"ranges everywhere":   {[]report.Layer{{Mark: report.Range, Role: report.First, Label: "r", Y: []float64{0, 0.1, 0.9, 1}, Low: []float64{0, 0, 0, 0}, High: []float64{1, 1, 1, 1}}}, "outside"},
		"cells":               {[]report.Layer{{Mark: report.Cells, Role: report.Surface, Label: "c", X: []float64{0, 1}, Y: []float64{0, 1}, Z: []float64{1, 2, 3, 4}}}, "outside"},
	} {
		s := newSVG(width, height)
		f := begin(s, "title", report.Figure{}, c.layers)
		page := s.b.String()
		var x, y float64
		at := strings.Index(page, `">`+c.layers[0].Label+"<")
		from := strings.LastIndex(page[:at], "<text")
		for _, part := range strings.Fields(page[from:at]) {
			if v, ok := strings.CutPrefix(part, `x="`); ok {
				x = parsed(t, v)
			} else if v, ok := strings.CutPrefix(part, `y="`); ok {
				y = parsed(t, v)
			}
		}
		got := map[bool]string{true: "right", false: "left"}[x > (f.x.from+f.x.to)/2] + " " + map[bool]string{true: "bottom", false: "top"}[y > (f.y.from+f.y.to)/2]
		if x > f.x.to {
			got = "outside"
		}
		if got != c.where {
			t.Errorf("%s: the legend is %s, want %s (%v, %v)", name, got, c.where, x, y)
		}
	}
}

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.Trim(text, `"`), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestAlignedFonts: fonts and collections whose tables begin anywhere are read, and texts that are
// no fonts are not.
func TestAlignedFonts(t *testing.T) {
	head := 12 + 16*int(binary.BigEndian.Uint16(goregular.TTF[4:]))
	for shift := range 5 {
		for _, collection := range []int{0, 16} {
			text := make([]byte, collection, len(goregular.TTF)+64)
			if collection > 0 {
				copy(text, "ttcf\x00\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x10")
			}
			text = append(append(append(text, goregular.TTF[:head]...), make([]byte, shift)...), goregular.TTF[head:]...)
			for i := collection + 12; i < collection+head; i += 16 {
				from := binary.BigEndian.Uint32(text[i+8:])
				binary.BigEndian.PutUint32(text[i+8:], from+uint32(shift+collection))
			}
			if f := fontIn(text); f == nil || !has(f, 'θ') {
				t.Errorf("tables moved by %d, collection %v: the font is not read", shift, collection > 0)
			}
			for _, end := range []int{0, 1, 11, 12, 13, collection + head - 1, collection + head} {
				if fontIn(text[:end]) != nil {
					t.Errorf("%d bytes are a font", end)
				}
			}
		}
	}
}
