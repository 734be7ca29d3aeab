package zarr

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func mustSave(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
}

func TestRoundTrip(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		spec Spec
		in   []float64 // of the chunk 1, 0
		out  []float64 // what is read, if it is not in
	}{
		{"real", Spec{Type: Float64}, []float64{1, math.Copysign(0, -1), nan, math.Inf(-1), 1e-320, math.MaxFloat64}, nil},
		{"gzipped", Spec{Type: Float64, Gzip: true}, []float64{1, 1, 1, 1, nan, 2}, nil},
		{"complex", Spec{Type: Complex128}, []float64{1, 2, 3, 4, nan, 6, 7, 8, 9, 10, 11, 12}, nil},
		{"int", Spec{Type: Int64, Gzip: true}, []float64{1, -2, 1 << 52, nan, 0, 7}, nil},
		{"huge", Spec{Type: Int64}, []float64{1e300, math.Inf(1), -1e300, 0, 0, 0}, []float64{nan, nan, nan, 0, 0, 0}},
		{"bool", Spec{Type: Bool}, []float64{1, 0, 1, nan, 7, 0}, []float64{1, 0, 1, 0, 1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s.zarr")
			s, err := Create(dir)
			if err != nil {
				t.Fatal(err)
			}
			g, err := s.AddGroup("posterior", nil)
			if err != nil {
				t.Fatal(err)
			}
			c.spec.Shape, c.spec.Chunks, c.spec.Dimensions = []int{4, 5}, []int{2, 3}, []string{"chain", "draw"}
			a, err := g.AddArray("x", c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.WriteChunk([]int{1, 0}, c.in); err != nil {
				t.Fatal(err)
			}
			mustSave(t, s)
			if s, err = Open(dir); err != nil {
				t.Fatal(err)
			}
			a = s.Group("posterior").Array("x")
			want := c.out
			if want == nil {
				want = c.in
			}
			same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
			if got, err := a.ReadChunk([]int{1, 0}); err != nil || !slices.EqualFunc(got, want, same) {
				t.Errorf("read %v, %v; want %v", got, err, want)
			}
			missing, err := a.ReadChunk([]int{0, 0})
			if err != nil || len(missing) != len(c.in) || (missing[0] != missing[0]) == (c.spec.Type == Bool) {
				t.Errorf("a chunk that is not there reads as %v, %v", missing, err)
			}
			if a.HasChunk([]int{0, 0}) || !a.HasChunk([]int{1, 0}) {
				t.Error("HasChunk")
			}
		})
	}
}

// TestMetadata checks that the metadata have the form of the specification's examples.
func TestMetadata(t *testing.T) {
	dir := t.TempDir()
	s, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	g, _ := s.AddGroup("g", map[string]any{"a": 1})
	if _, err := g.AddArray("x", Spec{Type: Int64, Shape: []int{2, 3}, Chunks: []int{1, 3}, Dimensions: []string{"chain", "draw"}, Gzip: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.AddArray("n", Spec{Type: Float64}); err != nil {
		t.Fatal(err)
	}
	mustSave(t, s)
	for file, want := range map[string]string{
		"g/x": `{"zarr_format":3,"node_type":"array","shape":[2,3],"data_type":"int64",
			"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1,3]}},
			"chunk_key_encoding":{"name":"default","configuration":{"separator":"."}},
			"fill_value":-9223372036854775808,
			"codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"gzip","configuration":{"level":1}}],
			"dimension_names":["chain","draw"]}`,
		"g/n": `{"zarr_format":3,"node_type":"array","shape":[],"data_type":"float64",
			"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[]}},
			"chunk_key_encoding":{"name":"default","configuration":{"separator":"."}},
			"fill_value":"NaN","codecs":[{"name":"bytes","configuration":{"endian":"little"}}]}`,
	} {
		text, err := os.ReadFile(filepath.Join(dir, file, "zarr.json"))
		if err != nil {
			t.Fatal(err)
		}
		if canonical(t, text) != canonical(t, []byte(want)) {
			t.Errorf("%s:\n%s\nwant\n%s", file, text, want)
		}
	}
	// The consolidated metadata equal the separate ones.
	for _, at := range []struct{ group, prefix string }{{"", "g/"}, {"g", ""}} {
		text, err := os.ReadFile(filepath.Join(dir, at.group, "zarr.json"))
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Consolidated struct {
				Kind     string
				Must     *bool `json:"must_understand"`
				Metadata map[string]json.RawMessage
			} `json:"consolidated_metadata"`
		}
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if m.Consolidated.Kind != "inline" || m.Consolidated.Must == nil || *m.Consolidated.Must {
			t.Errorf("consolidated metadata of %q: %s", at.group, text)
		}
		for _, array := range []string{"x", "n"} {
			own, err := os.ReadFile(filepath.Join(dir, "g", array, "zarr.json"))
			if err != nil {
				t.Fatal(err)
			}
			if canonical(t, own) != canonical(t, m.Consolidated.Metadata[at.prefix+array]) {
				t.Errorf("%q consolidates %s as %s", at.group, array, m.Consolidated.Metadata[at.prefix+array])
			}
		}
	}
}

// canonical is JSON with its keys in order.
func canonical(t *testing.T, text []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder with a file: %v", err)
	}
	s, err := Create(filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "__a", "c:"} {
		if _, err := s.AddGroup(name, nil); err == nil {
			t.Errorf("a group %q", name)
		}
	}
	g, err := s.AddGroup("g", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []Spec{
		{Type: "float32"},
		{Type: Float64, Shape: []int{1}, Chunks: []int{0}},
		{Type: Float64, Shape: []int{-1}},
		{Type: Float64, Shape: []int{1}, Dimensions: []string{"a", "b"}},
		{Type: Float64, Shape: []int{1 << 20, 1 << 20}},
	} {
		if _, err := g.AddArray("x", spec); err == nil {
			t.Errorf("%+v is taken", spec)
		}
	}
	a, err := g.AddArray("x", Spec{Type: Float64, Shape: []int{8}, Gzip: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WriteAll(make([]float64, 7)); err == nil {
		t.Error("7 values for 8")
	}
	if err := a.WriteAll(make([]float64, 8)); err != nil {
		t.Fatal(err)
	}
	mustSave(t, s)
	path := filepath.Join(s.Dir(), "g", "x", "c.0")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"cut":       good[:len(good)-1],
		"changed":   append(slices.Clone(good[:len(good)-5]), good[len(good)-5]^1, 0, 0, 0, 0),
		"no gzip":   make([]byte, 64),
		"too long":  compress(make([]byte, 65)),
		"too short": compress(make([]byte, 63)),
	} {
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		if v, err := a.ReadChunk([]int{0}); err == nil || !strings.Contains(err.Error(), "c.0") {
			t.Errorf("%s: read %v, %v", name, v, err)
		}
	}
	metadata := filepath.Join(s.Dir(), "g", "x", "zarr.json")
	text, err := os.ReadFile(metadata)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]string{
		{`"gzip"`, `"blosc"`}, {`"little"`, `"big"`}, {`"regular"`, `"rectilinear"`}, {`"separator": "."`, `"separator": "/"`},
		{`"zarr_format": 3`, `"zarr_format": 2`}, {"float64", "float16"}, {"{", "["}, {`"array"`, `"group"`},
	} {
		changed := strings.Replace(string(text), r[0], r[1], 1)
		if changed == string(text) {
			t.Fatalf("no %s in %s", r[0], text)
		}
		if err := os.WriteFile(metadata, []byte(changed), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(s.Dir()); err == nil || !strings.Contains(err.Error(), "zarr.json") {
			t.Errorf("%s instead of %s: %v", r[1], r[0], err)
		}
	}
}

func TestMove(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		s, err := Create(filepath.Join(dir, "new"))
		if err != nil {
			t.Fatal(err)
		}
		g, err := s.AddGroup("g", nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := g.AddArray("x", Spec{Type: Float64, Shape: []int{1}})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.WriteAll([]float64{float64(i)}); err != nil {
			t.Fatal(err)
		}
		mustSave(t, s)
		if err := s.Move(filepath.Join(dir, "there")); err != nil {
			t.Fatal(err)
		}
		if v, err := a.ReadChunk([]int{0}); err != nil || v[0] != float64(i) {
			t.Errorf("after the move: %v, %v", v, err)
		}
		if err := s.Sync(); err != nil {
			t.Error(err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left: %v", entries)
	}
}

func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	s, err := Create(filepath.Join(dir, "s"))
	if err != nil {
		f.Fatal(err)
	}
	g, _ := s.AddGroup("g", nil)
	g.AddArray("x", Spec{Type: Complex128, Shape: []int{2, 3}, Gzip: true})
	if err := s.Save(); err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(s.Dir(), "g", "x", "zarr.json")
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Open(s.Dir())
		if err != nil {
			return
		}
		a := s.Group("g").Array("x")
		if a.chunkNumbers() < 1<<20 {
			a.ReadChunk(make([]int, len(a.Shape)))
		}
	})
}

func TestTexts(t *testing.T) {
	want := []string{"", "St. Anne's", "Łódź", strings.Repeat("x", 300)}
	for _, texts := range [][]string{want[:1], want[:2], want} {
		dir := t.TempDir()
		s, err := Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		g, err := s.AddGroup("posterior", nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := g.AddArray("school", Spec{Type: String, Shape: []int{len(texts)}, Dimensions: []string{"school"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.WriteTexts(texts); err != nil {
			t.Fatal(err)
		}
		if err := a.WriteAll(make([]float64, len(texts))); err == nil {
			t.Error("numbers are written as texts")
		}
		if err := a.WriteTexts(slices.Concat(texts, texts)); err == nil {
			t.Error("more texts are written than there are elements")
		}
		mustSave(t, s)
		if s, err = Open(dir); err != nil {
			t.Fatal(err)
		}
		a = s.Group("posterior").Array("school")
		got, err := a.ReadTexts()
		if err != nil || !slices.Equal(got, texts) {
			t.Errorf("%q, %v; want %q", got, err, texts)
		}
		if _, err := a.ReadChunk([]int{0}); err == nil {
			t.Error("texts are read as numbers")
		}
	}
	for _, bad := range [][]byte{nil, {1, 0, 0}, {2, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0, 9, 0, 0, 0, 'a'}, {1, 0, 0, 0, 255, 255, 255, 255, 'a'}} {
		if texts, err := decodeTexts(bad, 1); err == nil {
			t.Errorf("%v is read as %q", bad, texts)
		}
	}
}
