package fit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/fittest"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/zarr"
	"github.com/ppl-lang/ppl/model"
)

// TestZarrRun checks that a store contains the draws of quantities of every kind.
func TestZarrRun(t *testing.T) {
	p := fittest.KindsPosterior(t)
	base := filepath.Join(t.TempDir(), "fit")
	f, err := fit.Sample(context.Background(), p, fit.Options{Chains: 2, Warmup: 130, Draws: 250, Thin: 2, Seed: 1, SaveWarmup: true, Output: base, Format: fit.Zarr})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Files, []string{base + ".zarr"}) {
		t.Errorf("files: %v", f.Files)
	}
	again, err := fit.ReadZarr(base + ".zarr")
	if err != nil {
		t.Fatal(err)
	}
	fittest.SameDraws(t, again.Draws, f.Draws)
	fittest.SameDraws(t, again.Draws.Warmup(), f.Draws.Warmup())
	if c := again.Config(); c.Draws != 250 || c.Warmup != 130 || c.Thin != 2 || c.Seed != 1 || !c.SaveWarmup {
		t.Errorf("read with the configuration %+v", c)
	}

	store, err := zarr.Open(base + ".zarr")
	if err != nil {
		t.Fatal(err)
	}
	posterior := store.Group("posterior")
	for name, want := range map[string]zarr.Spec{
		"mu":  {Type: zarr.Float64, Shape: []int{2, 125}, Dimensions: []string{"chain", "draw"}},
		"c":   {Type: zarr.Float64, Shape: []int{2, 125, 2, 3}, Dimensions: []string{"chain", "draw", "c_dim_0", "c_dim_1"}},
		"g":   {Type: zarr.Complex128, Shape: []int{2, 125}, Dimensions: []string{"chain", "draw"}},
		"z":   {Type: zarr.Complex128, Shape: []int{2, 125, 2}, Dimensions: []string{"chain", "draw", "z_dim_0"}},
		"k":   {Type: zarr.Int64, Shape: []int{2, 125}, Dimensions: []string{"chain", "draw"}},
		"kk":  {Type: zarr.Int64, Shape: []int{2, 125, 2, 2}, Dimensions: []string{"chain", "draw", "kk_dim_0", "kk_dim_1"}},
		"h.1": {Type: zarr.Float64, Shape: []int{2, 125}, Dimensions: []string{"chain", "draw"}},
		"h.2": {Type: zarr.Float64, Shape: []int{2, 125, 2, 2}, Dimensions: []string{"chain", "draw", "h.2_dim_0", "h.2_dim_1"}},
		"i.1": {Type: zarr.Float64, Shape: []int{2, 125, 2, 2}, Dimensions: []string{"chain", "draw", "i.1_dim_0", "i.1_dim_1"}},
	} {
		a := posterior.Array(name)
		if a == nil {
			t.Errorf("there is no array %s", name)
			continue
		}
		if a.Type != want.Type || !slices.Equal(a.Shape, want.Shape) || !slices.Equal(a.Dimensions, want.Dimensions) {
			t.Errorf("%s: %s %v %v", name, a.Type, a.Shape, a.Dimensions)
		}
	}
	c, err := f.Variable("c") // row-major, as in a chunk
	if err != nil {
		t.Fatal(err)
	}
	chunk, err := posterior.Array("c").ReadChunk([]int{0, 0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	at := 6 * (posterior.Array("c").Chunks[1] + 7) // all chains are in it
	if got := chunk[at : at+6]; !slices.Equal(got, c.Draw(1, 7)) {
		t.Errorf("c in its chunk: %v, drawn: %v", got, c.Draw(1, 7))
	}
	for group, arrays := range map[string][]string{
		"sample_stats":        {"acceptance_rate", "chain", "diverging", "draw", "energy", "lp", "n_steps", "step_size", "tree_depth"},
		"warmup_sample_stats": {"acceptance_rate", "chain", "diverging", "draw", "energy", "lp", "n_steps", "step_size", "tree_depth"},
		"observed_data":       {"x", "y"},
		"constant_data":       {"N", "unused"},
	} {
		if g := store.Group(group); g == nil || !slices.Equal(g.Arrays(), arrays) {
			t.Errorf("group %s: %v", group, g)
		}
	}
	if !posterior.Array("k").Gzip || posterior.Array("mu").Gzip {
		t.Error("integers are to be compressed, and real numbers not, of which nothing is gained")
	}
}

// TestZarrWhileSampling checks that a store can be read while it is written, and then contains the
// first draws of the run.
func TestZarrWhileSampling(t *testing.T) {
	p := fittest.KindsPosterior(t)
	base := filepath.Join(t.TempDir(), "fit")
	var seen []*fit.Fit
	o := fit.Options{Chains: 2, Warmup: 100, Draws: 400, Seed: 1, Parallel: 1, Output: base, Format: fit.Zarr, Refresh: 50}
	o = fit.FlushAlways(o)
	*fit.ProgressOf(&o) = func(infer.Progress) {
		f, err := fit.ReadZarr(base + ".zarr")
		if err != nil {
			t.Error(err)
			return
		}
		seen = append(seen, f)
	}
	whole, err := fit.Sample(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	lengths := map[int]bool{}
	for _, f := range seen {
		for c := range f.Draws.Chains() {
			lengths[f.Draws.Len(c)] = true
			for i := range f.Draws.Len(c) {
				_, got := f.Draws.Draw(c, i)
				_, want := whole.Draws.Draw(c, i)
				if !slices.Equal(got, want) {
					t.Fatalf("draw %d of chain %d while sampling: %v, in the end %v", i, c, got, want)
				}
			}
		}
	}
	within := false
	for n := range lengths {
		within = within || n > 0 && n < 400
	}
	if !within {
		t.Errorf("no draws were read before the last: %v", lengths)
	}
}

// TestZarrResume checks that the store of a stopped run has its draws. After the run is resumed,
// the store must equal that of an uninterrupted run.
func TestZarrResume(t *testing.T) {
	p := fittest.KindsPosterior(t)
	dir := t.TempDir()
	o := fit.Options{Chains: 2, Warmup: 100, Draws: 350, Seed: 1, Format: fit.Zarr, Resumable: true, Output: filepath.Join(dir, "whole"), Refresh: 20}
	whole, err := fit.Sample(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.Output = filepath.Join(dir, "parts")
	stop := func(p infer.Progress) {
		if p.Iteration >= 350 {
			cancel()
		}
	}
	*fit.ProgressOf(&o) = stop
	part, err := fit.Sample(ctx, p, o)
	if !errors.As(err, new(*fit.InterruptedError)) {
		t.Fatalf("interrupted: %v", err)
	}
	read, err := fit.ReadZarr(o.Output + ".zarr")
	if err != nil {
		t.Fatal(err)
	}
	fittest.SameDraws(t, read.Draws, part.Draws)
	part.Close()
	*fit.ProgressOf(&o), o.Resume = nil, true
	rest, err := fit.Sample(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	defer rest.Close()
	if read, err = fit.ReadZarr(o.Output + ".zarr"); err != nil {
		t.Fatal(err)
	}
	fittest.SameDraws(t, read.Draws, whole.Draws)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != "whole.zarr" && e.Name() != "parts.zarr" {
			t.Errorf("left: %s", e.Name())
		}
	}
}

// TestZarrFromCSV converts CSV files to a store and back.
func TestZarrFromCSV(t *testing.T) {
	p := fittest.KindsPosterior(t)
	dir := t.TempDir()
	f, err := fit.Sample(context.Background(), p, fit.Options{Chains: 2, Warmup: 50, Draws: 60, Seed: 1, SaveWarmup: true, Output: filepath.Join(dir, "a")})
	if err != nil {
		t.Fatal(err)
	}
	read, err := fit.ReadCSV(f.Files...)
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "a.zarr")
	if err := read.WriteZarr(store); err != nil {
		t.Fatal(err)
	}
	if read, err = fit.ReadZarr(store); err != nil {
		t.Fatal(err)
	}
	fittest.SameDraws(t, read.Draws, f.Draws)
	fittest.SameDraws(t, read.Draws.Warmup(), f.Draws.Warmup())
	files, err := read.WriteCSV(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	note := regexp.MustCompile(`^# (\w+: |the metric is unknown)`)
	// A store does not keep the metric that was adapted, which the comments of CSV files have, and
	// times.
	for i := range files {
		want, got := contents(t, f.Files[i]), contents(t, files[i])
		want = strings.Replace(want, filepath.Join(dir, "a"), filepath.Join(dir, "b"), 1)
		for _, text := range []*string{&want, &got} {
			var lines []string
			skip := false
			for line := range strings.Lines(*text) {
				skip = strings.HasPrefix(line, "# Diagonal") || strings.HasPrefix(line, "# No free") || skip && strings.HasPrefix(line, "#")
				if !skip && !strings.Contains(line, "seconds") && !strings.Contains(line, " metric = ") && !note.MatchString(line) {
					lines = append(lines, strings.TrimRight(line, " \n")+"\n")
				}
			}
			*text = strings.Join(lines, "")
		}
		if got != want {
			g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
			k := 0
			for k < min(len(g), len(w)) && g[k] == w[k] {
				k++
			}
			t.Errorf("%s, from line %d on:\n%.300s\nwant\n%.300s", files[i], k, strings.Join(g[k:], "\n"), strings.Join(w[k:], "\n"))
		}
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestZarrRefused(t *testing.T) {
	p := fittest.KindsPosterior(t)
	dir := t.TempDir()
	ctx := context.Background()
	if _, err := fit.Sample(ctx, p, fit.Options{Output: filepath.Join(dir, "a"), Format: "arrow"}); err == nil || !strings.Contains(err.Error(), "arrow") {
		t.Errorf("an unknown format: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a.zarr", "mine"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := fit.Sample(ctx, p, fit.Options{Output: filepath.Join(dir, "a"), Format: fit.Zarr}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder that is there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.zarr", "mine")); err != nil {
		t.Error(err)
	}
	if _, err := fit.ReadZarr(dir); err == nil {
		t.Error("a folder that is no store")
	}
	// A variable may have the same name as a dimension.
	m, err := model.Compile("m", "parameters { real draw; } model { draw ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	q, err := m.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fit.Sample(ctx, q, fit.Options{Output: filepath.Join(dir, "b"), Format: fit.Zarr}); err == nil || !strings.Contains(err.Error(), "draw") {
		t.Errorf("a parameter that is called draw: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b.zarr")); err == nil {
		t.Error("a store is left behind")
	}
}

// TestZarrData checks the coordinates of data: labels of sizes, and indices of the elements of
// ragged arrays.
func TestZarrData(t *testing.T) {
	m, err := model.Compile("m.stan", `data {
  int J;
  array[J] int n;
  array[J] vector[n] y;
  array[J] matrix[n, 2] x;
  array[J] matrix[2, n] u;
  vector[J] w;
}
parameters { real a; }
model {
  for (j in 1:J) y[j] ~ normal(a * w[j] + x[j][, 1] + u[j][2]', 1);
}
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text           string
		labels, places []string
	}{
		{`{"J": ["Ann", "Bob", "Cem"], "n": [2, 0, 1], "y": [[1, 2], [], [3]], "x": [[[1, 2], [3, 4]], [], [[5, 6]]], "u": [[[1, 2], [3, 4]], [[], []], [[5], [6]]], "w": [1, 2, 3]}`,
			[]string{"Ann", "Bob", "Cem"}, []string{"1,1", "1,2", "3,1"}},
		{`{"J": 1, "n": [1], "y": [[1]], "x": [[[1, 2]]], "u": [[[1], [2]]], "w": [1]}`, nil, []string{"1,1"}},
	} {
		set, err := data.Parse("d.json", c.text, data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Bind(set)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Join(t.TempDir(), "fit")
		if _, err := fit.Sample(t.Context(), p, fit.Options{Chains: 1, Warmup: 20, Draws: 5, Seed: 1, Output: base, Format: fit.Zarr}); err != nil {
			t.Fatal(err)
		}
		store, err := zarr.Open(base + ".zarr")
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []struct {
			group, name string
			want        []string
		}{
			{"observed_data", "y_dim_0", c.places}, {"constant_data", "x_dim_0", c.places}, {"constant_data", "u_dim_0", nil},
			{"constant_data", "w_dim_0", c.labels}, {"constant_data", "n_dim_0", c.labels},
		} {
			array := store.Group(a.group).Array(a.name)
			if array == nil != (a.want == nil) {
				t.Errorf("coordinate %s: %v, want %q", a.name, array, a.want)
				continue
			}
			if array == nil {
				continue
			}
			if got, err := array.ReadTexts(); err != nil || !slices.Equal(got, a.want) {
				t.Errorf("coordinate %s: %q, want %q, %v", a.name, got, a.want, err)
			}
		}
	}
}
