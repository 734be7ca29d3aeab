package assess_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/fittest"
	"github.com/ppl-lang/ppl/infer/zarr"
	"github.com/ppl-lang/ppl/model"
)

// TestZarrLevels checks that a dimension over the levels of a factor has the name and the levels of
// the factor.
func TestZarrLevels(t *testing.T) {
	m, err := model.Compile("m", `data {
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
	f, err := fit.Sample(context.Background(), p, fit.Options{Chains: 1, Warmup: 20, Draws: 20, Seed: 1, Output: filepath.Join(t.TempDir(), "fit"), Format: fit.Zarr})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := assess.AddZarrGroups(context.Background(), f, f.Files[0], assess.ZarrGroupOptions{Groups: []string{"prior"}}); err != nil {
		t.Fatal(err)
	}
	store, err := zarr.Open(f.Files[0])
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
	again, err := fit.ReadZarr(f.Files[0])
	if err != nil || !slices.Equal(again.Names(), f.Names()) {
		t.Errorf("read again: %v, %v", again, err)
	}
}

// TestZarrGroups compares the groups in the store with what the fit computes itself.
func TestZarrGroups(t *testing.T) {
	p := fittest.KindsPosterior(t)
	dir := filepath.Join(t.TempDir(), "fit.zarr")
	f, err := fit.Sample(context.Background(), p, fit.Options{Chains: 2, Draws: 150, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.WriteZarr(dir); err != nil {
		t.Fatal(err)
	}
	again, err := fit.ReadZarr(dir)
	if err != nil {
		t.Fatal(err)
	}
	fittest.SameDraws(t, again.Draws, f.Draws)
	o := assess.ZarrGroupOptions{Groups: []string{"log_likelihood", "posterior_predictive", "prior"}, Seed: 3, PriorDraws: 120}
	for range 2 { // the second time replaces the groups of the first
		if _, err := assess.AddZarrGroups(context.Background(), f, dir, o); err != nil {
			t.Fatal(err)
		}
	}
	store, err := zarr.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := l.Matrix(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// y[3] is in no statement, so y becomes a vector of two observations.
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
	mu, err := f.Variable("mu")
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
	if _, err := assess.AddZarrGroups(context.Background(), f, dir, assess.ZarrGroupOptions{Groups: []string{"posteriors"}}); err == nil {
		t.Error("a group that there is not")
	}
}

// TestZarrInPython checks that Python's xarray reads the same numbers, as a tree and by group,
// during a run and after it, and can write them to netCDF. PPL_XARRAY is the path of a python3 with
// zarr 3, xarray and netCDF4. The script gets the stores as a tar file on its standard input.
func TestZarrInPython(t *testing.T) {
	python := os.Getenv("PPL_XARRAY")
	if python == "" {
		t.Skip("set PPL_XARRAY to a python3 that has zarr 3, xarray and netCDF4")
	}
	p := fittest.KindsPosterior(t)
	dir := t.TempDir()
	var during bytes.Buffer
	archive := tar.NewWriter(&during)
	o := fit.Options{Chains: 2, Warmup: 100, Draws: 400, Seed: 1, Parallel: 1, SaveWarmup: true, Output: filepath.Join(dir, "fit"), Format: fit.Zarr, Refresh: 50}
	seen := 0 // draws of the second chain that were stored during the run
	run, err := fit.NewRun(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range run.Progress() {
		if err != nil {
			t.Fatal(err)
		}
		f, err := fit.ReadZarr(filepath.Join(dir, "fit.zarr"))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := f.Draws.Len(1); seen == 0 && f.Draws.Len(0) == 400 && 0 < n && n < 400 {
			seen = n
			addTar(t, archive, filepath.Join(dir, "fit.zarr"), "during")
		}
	}
	fit, err := run.Fit()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := assess.AddZarrGroups(context.Background(), fit, fit.Files[0], assess.ZarrGroupOptions{Groups: []string{"log_likelihood", "posterior_predictive", "prior"}}); err != nil {
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

// g17 formats numbers so that Python reads exactly the same values.
func g17(values []float64) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, strconv.FormatFloat(v, 'g', 17, 64))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// addTar adds a folder to a tar file under another name.
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
