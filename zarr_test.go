package ppl_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/zarr"
)

// kinds has quantities of all kinds, and statements on data with a missing one.
const kinds = `data {
  int N;
  array[N] int y;
  vector[2] x;
  real unused;
}
parameters {
  real<lower=0> mu;
  matrix[2, 3] c;
  complex g;
  tuple(real, array[2] row_vector[2]) h;
  array[2] tuple(ordered[2], real<upper=0>) i;
}
model {
  mu ~ lognormal(0, 1);
  to_vector(c) ~ normal(0, 1);
  get_real(g) ~ normal(0, 1);
  get_imag(g) ~ normal(0, 1);
  h.1 ~ normal(0, 1);
  for (k in 1:2) {
    h.2[k] ~ normal(0, 1);
    i[k].1 ~ normal(0, 1);
    i[k].2 ~ normal(0, 1);
  }
  for (n in 1:(N - 1)) y[n] ~ poisson(mu);
  x ~ normal(c[1, 1], 1);
}
generated quantities {
  int k = poisson_rng(mu);
  array[2, 2] int kk = {{k, k + 1}, {k + 2, k + 3}};
  complex_vector[2] z = [g, 2 * g]';
}`

func kindsPosterior(t *testing.T) *ppl.Posterior {
	t.Helper()
	m, err := ppl.Compile("kinds.stan", kinds)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(map[string]any{"N": 3, "y": []int{1, 2, 3}, "x": []float64{0.5, 1}, "unused": 3.5})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sameDraws compares draws, to the last bit.
func sameDraws(t *testing.T, got, want *draws.Store) {
	t.Helper()
	if !slices.Equal(got.Names(), want.Names()) {
		t.Fatalf("names %v, want %v", got.Names(), want.Names())
	}
	if !slices.Equal(got.Columns().StatisticNames(), want.Columns().StatisticNames()) {
		t.Fatalf("statistics %v, want %v", got.Columns().StatisticNames(), want.Columns().StatisticNames())
	}
	if got.Chains() != want.Chains() {
		t.Fatalf("%d chains, want %d", got.Chains(), want.Chains())
	}
	for c := range want.Chains() {
		if got.Len(c) != want.Len(c) {
			t.Fatalf("chain %d: %d draws, want %d", c, got.Len(c), want.Len(c))
		}
		for i := range want.Len(c) {
			s, v := got.Draw(c, i)
			ws, wv := want.Draw(c, i)
			same := func(a, b float64) bool { return a == b || a != a && b != b }
			if !slices.EqualFunc(s, ws, same) || !slices.EqualFunc(v, wv, same) {
				t.Fatalf("chain %d, draw %d: %v %v\nwant %v %v", c, i, s, v, ws, wv)
			}
		}
	}
}

// A store holds what the run has drawn, of quantities of every kind.
func TestZarrRun(t *testing.T) {
	p := kindsPosterior(t)
	base := filepath.Join(t.TempDir(), "fit")
	fit, err := ppl.Sample(context.Background(), p, ppl.Options{Chains: 2, Warmup: 130, Draws: 250, Thin: 2, Seed: 1, SaveWarmup: true, Output: base, Format: ppl.Zarr})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(fit.Files, []string{base + ".zarr"}) {
		t.Errorf("files: %v", fit.Files)
	}
	again, err := ppl.ReadZarr(base + ".zarr")
	if err != nil {
		t.Fatal(err)
	}
	sameDraws(t, again.Draws, fit.Draws)
	sameDraws(t, again.Draws.Warmup(), fit.Draws.Warmup())
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
	c, err := fit.Variable("c") // row-major, as in a chunk
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

// Dimensions that go through the levels of a factor have its name and its levels.
func TestZarrLevels(t *testing.T) {
	m, err := ppl.Compile("m", `data {
  int N;
  int J;
  array[N] int<lower=1, upper=J> school;
  vector[N] y;
}
parameters {
  vector[J] a;
  matrix[J, J] both;
  vector[3] plain;
}
model {
  a ~ std_normal();
  to_vector(both) ~ std_normal();
  plain ~ std_normal();
  y ~ normal(a[school], 1);
}`)
	if err != nil {
		t.Fatal(err)
	}
	values, err := data.ParseTable("d.csv", "school,y\nSt. Anne's,1\nŁódź,2\nBolton,0\n", data.Options{Counts: []data.Count{{Name: "N"}, {Name: "J", Of: "school"}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := ppl.Sample(context.Background(), p, ppl.Options{Chains: 1, Warmup: 20, Draws: 20, Seed: 1, Output: filepath.Join(t.TempDir(), "fit"), Format: ppl.Zarr})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fit.AddZarrGroups(context.Background(), fit.Files[0], ppl.ZarrGroupOptions{Groups: []string{"prior"}}); err != nil {
		t.Fatal(err)
	}
	store, err := zarr.Open(fit.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"posterior", "prior"} {
		g := store.Group(group)
		for name, want := range map[string][]string{
			"a": {"chain", "draw", "school"}, "both": {"chain", "draw", "school", "both_dim_1"}, "plain": {"chain", "draw", "plain_dim_0"},
		} {
			if got := g.Array(name).Dimensions; !slices.Equal(got, want) {
				t.Errorf("%s of %s: %q, want %q", name, group, got, want)
			}
		}
		for _, name := range []string{"school", "both_dim_1"} {
			a := g.Array(name)
			if a == nil {
				t.Errorf("%s has no coordinate %s", group, name)
				continue
			}
			if got, err := a.ReadTexts(); err != nil || !slices.Equal(got, []string{"Bolton", "St. Anne's", "Łódź"}) {
				t.Errorf("%s of %s: %q, %v", name, group, got, err)
			}
		}
		if g.Array("plain_dim_0") != nil {
			t.Errorf("%s has a coordinate of what has no levels", group)
		}
	}
	again, err := ppl.ReadZarr(fit.Files[0])
	if err != nil || !slices.Equal(again.Names(), fit.Names()) {
		t.Errorf("read again: %v, %v", again, err)
	}
}

// What follows from the draws is what the fit says itself.
func TestZarrGroups(t *testing.T) {
	p := kindsPosterior(t)
	dir := filepath.Join(t.TempDir(), "fit.zarr")
	fit, err := ppl.Sample(context.Background(), p, ppl.Options{Chains: 2, Draws: 150, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := fit.WriteZarr(dir); err != nil {
		t.Fatal(err)
	}
	again, err := ppl.ReadZarr(dir)
	if err != nil {
		t.Fatal(err)
	}
	sameDraws(t, again.Draws, fit.Draws)
	o := ppl.ZarrGroupOptions{Groups: []string{"log_likelihood", "posterior_predictive", "prior"}, Seed: 3, PriorDraws: 120}
	for range 2 { // what is there is made anew
		if _, err := fit.AddZarrGroups(context.Background(), dir, o); err != nil {
			t.Fatal(err)
		}
	}
	store, err := zarr.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := fit.LogLik(t.Context(), ppl.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := l.Matrix(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// y[3] is in no statement: y is a vector of two observations.
	g := store.Group("log_likelihood")
	for name, at := range map[string][]int{"y": {slices.Index(l.Names, "y[1]"), slices.Index(l.Names, "y[2]")}, "x": {slices.Index(l.Names, "x[1]"), slices.Index(l.Names, "x[2]")}} {
		a := g.Array(name)
		if a == nil || !slices.Equal(a.Shape, []int{2, 150, 2}) {
			t.Fatalf("log likelihood of %s: %v", name, a)
		}
		chunk, err := a.ReadChunk([]int{0, 0, 0})
		if err != nil {
			t.Fatal(err)
		}
		row := matrix.Row(1, 103)
		for k, i := range at {
			if got, want := chunk[(a.Chunks[1]+103)*2+k], matrix.Columns[i][row]; got != want {
				t.Errorf("log likelihood of %s: %v, want %v", l.Names[i], got, want)
			}
		}
	}
	y := store.Group("posterior_predictive").Array("y")
	if y.Type != zarr.Int64 || !slices.Equal(y.Shape, []int{2, 150, 3}) {
		t.Errorf("y drawn anew: %s %v", y.Type, y.Shape)
	}
	chunk, err := y.ReadChunk([]int{0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	mu, err := fit.Variable("mu")
	if err != nil {
		t.Fatal(err)
	}
	drawn, mean := 0.0, 0.0
	for i := range y.Chunks[1] {
		drawn += chunk[3*i]
		mean += mu.Chains[0][i]
	}
	if sd := math.Sqrt(mean); math.Abs(drawn-mean) > 5*sd { // the sum of Poisson variables
		t.Errorf("the sum of y[1] drawn anew is %v, where %v ± %v is expected", drawn, mean, sd)
	}
	for group, arrays := range map[string][]string{
		"prior":            {"c", "chain", "draw", "g", "h.1", "h.2", "i.1", "i.2", "mu"},
		"prior_predictive": {"chain", "draw", "x", "y"},
	} {
		if g := store.Group(group); g == nil || !slices.Equal(g.Arrays(), arrays) || g.Array("draw").Shape[0] != 120 {
			t.Errorf("group %s: %+v", group, g)
		}
	}
	if _, err := fit.AddZarrGroups(context.Background(), dir, ppl.ZarrGroupOptions{Groups: []string{"posteriors"}}); err == nil {
		t.Error("a group that there is not")
	}
}

// A store can be read while it is written, and holds the first draws of the run then.
func TestZarrWhileSampling(t *testing.T) {
	p := kindsPosterior(t)
	base := filepath.Join(t.TempDir(), "fit")
	var seen []*ppl.Fit
	o := ppl.Options{Chains: 2, Warmup: 100, Draws: 400, Seed: 1, Parallel: 1, Output: base, Format: ppl.Zarr, Refresh: 50}
	o = ppl.FlushAlways(o)
	o.Progress = func(infer.Progress) {
		f, err := ppl.ReadZarr(base + ".zarr")
		if err != nil {
			t.Error(err)
			return
		}
		seen = append(seen, f)
	}
	whole, err := ppl.Sample(context.Background(), p, o)
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

// A run that was stopped has its draws in the store; resumed, it comes to the same.
func TestZarrResume(t *testing.T) {
	p := kindsPosterior(t)
	dir := t.TempDir()
	o := ppl.Options{Chains: 2, Warmup: 100, Draws: 350, Seed: 1, Format: ppl.Zarr, Resumable: true, Output: filepath.Join(dir, "whole"), Refresh: 20}
	whole, err := ppl.Sample(context.Background(), p, o)
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
	o.Progress = stop
	part, err := ppl.Sample(ctx, p, o)
	if !errors.As(err, new(*ppl.InterruptedError)) {
		t.Fatalf("interrupted: %v", err)
	}
	read, err := ppl.ReadZarr(o.Output + ".zarr")
	if err != nil {
		t.Fatal(err)
	}
	sameDraws(t, read.Draws, part.Draws)
	part.Close()
	o.Progress, o.Resume = nil, true
	rest, err := ppl.Sample(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	defer rest.Close()
	if read, err = ppl.ReadZarr(o.Output + ".zarr"); err != nil {
		t.Fatal(err)
	}
	sameDraws(t, read.Draws, whole.Draws)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != "whole.zarr" && e.Name() != "parts.zarr" {
			t.Errorf("left: %s", e.Name())
		}
	}
}

// CSV files become a store and CSV files again.
func TestZarrFromCSV(t *testing.T) {
	p := kindsPosterior(t)
	dir := t.TempDir()
	fit, err := ppl.Sample(context.Background(), p, ppl.Options{Chains: 2, Warmup: 50, Draws: 60, Seed: 1, SaveWarmup: true, Output: filepath.Join(dir, "a")})
	if err != nil {
		t.Fatal(err)
	}
	read, err := ppl.ReadCSV(fit.Files...)
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "a.zarr")
	if err := read.WriteZarr(store); err != nil {
		t.Fatal(err)
	}
	if read, err = ppl.ReadZarr(store); err != nil {
		t.Fatal(err)
	}
	sameDraws(t, read.Draws, fit.Draws)
	sameDraws(t, read.Draws.Warmup(), fit.Draws.Warmup())
	files, err := read.WriteCSV(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	note := regexp.MustCompile(`^# (\w+: |the metric is unknown)`)
	// What a store does not keep is what was adapted: the metric, of which CSV files tell, and
	// times.
	for i := range files {
		want, got := contents(t, fit.Files[i]), contents(t, files[i])
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
	p := kindsPosterior(t)
	dir := t.TempDir()
	ctx := context.Background()
	if _, err := ppl.Sample(ctx, p, ppl.Options{Output: filepath.Join(dir, "a"), Format: "arrow"}); err == nil || !strings.Contains(err.Error(), "arrow") {
		t.Errorf("an unknown format: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a.zarr", "mine"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := ppl.Sample(ctx, p, ppl.Options{Output: filepath.Join(dir, "a"), Format: ppl.Zarr}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder that is there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.zarr", "mine")); err != nil {
		t.Error(err)
	}
	if _, err := ppl.ReadZarr(dir); err == nil {
		t.Error("a folder that is no store")
	}
	// A variable that is called as a dimension.
	m, err := ppl.Compile("m", "parameters { real draw; } model { draw ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	q, err := m.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ppl.Sample(ctx, q, ppl.Options{Output: filepath.Join(dir, "b"), Format: ppl.Zarr}); err == nil || !strings.Contains(err.Error(), "draw") {
		t.Errorf("a parameter that is called draw: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b.zarr")); err == nil {
		t.Error("a store is left behind")
	}
}

// Python's xarray reads the same numbers, as a tree and by group, while a run goes on
// and after it, and writes netCDF from it. PPL_XARRAY is a python3 with zarr 3,
// xarray and netCDF4; it gets the stores on its standard input, as a tar file.
func TestZarrInPython(t *testing.T) {
	python := os.Getenv("PPL_XARRAY")
	if python == "" {
		t.Skip("set PPL_XARRAY to a python3 that has zarr 3, xarray and netCDF4")
	}
	p := kindsPosterior(t)
	dir := t.TempDir()
	var during bytes.Buffer
	archive := tar.NewWriter(&during)
	o := ppl.Options{Chains: 2, Warmup: 100, Draws: 400, Seed: 1, Parallel: 1, SaveWarmup: true, Output: filepath.Join(dir, "fit"), Format: ppl.Zarr, Refresh: 50}
	seen := 0 // draws of the second chain that were there during the run
	o.Progress = func(infer.Progress) {
		f, err := ppl.ReadZarr(filepath.Join(dir, "fit.zarr"))
		if err != nil {
			t.Error(err)
			return
		}
		if n := f.Draws.Len(1); seen == 0 && f.Draws.Len(0) == 400 && 0 < n && n < 400 {
			seen = n
			addTar(t, archive, filepath.Join(dir, "fit.zarr"), "during")
		}
	}
	fit, err := ppl.Sample(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fit.AddZarrGroups(context.Background(), fit.Files[0], ppl.ZarrGroupOptions{Groups: []string{"log_likelihood", "posterior_predictive", "prior"}}); err != nil {
		t.Fatal(err)
	}
	addTar(t, archive, fit.Files[0], "after")
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := fit.Variable("c")
	if err != nil {
		t.Fatal(err)
	}
	z, err := fit.Variable("z")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join("testdata", "xarray.py"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-W", "error", "-c", string(script), g17(c.Draw(1, 7)), g17(z.Draw(1, 7)), strconv.Itoa(seen))
	cmd.Stdin = &during
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "all as it should be") {
		t.Errorf("%v\n%s", err, out)
	}
}

// g17 is numbers as Python reads them, exactly.
func g17(values []float64) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, strconv.FormatFloat(v, 'g', 17, 64))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// addTar adds a folder to an archive under another name.
func addTar(t *testing.T, w *tar.Writer, dir, name string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: name + "/" + filepath.ToSlash(rel), Mode: 0o666, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
