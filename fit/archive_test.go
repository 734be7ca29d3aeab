package fit_test

import (
	"archive/zip"
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
)

var update = flag.Bool("update", false, "write testdata/archive_v1.zip, if it is not there")

// configuration returns the configuration of a run as text, as far as a fit can keep it.
func configuration(f *fit.Fit) string {
	c := f.Config()
	return fmt.Sprintf("%T%+v %d %d %d %d %d %d %+v %v %v %v %t %d %d", c.Sampler, c.Sampler, c.Chains, c.Warmup, c.Draws, c.Thin, c.Seed, c.FirstID,
		c.Init, c.Metric, c.Recentring, c.StepSize, c.SaveWarmup, c.Parallel, c.Refresh)
}

// TestSavedFit checks that a fit saved to a folder or to one file is read back with its draws,
// model, data and settings.
func TestSavedFit(t *testing.T) {
	text := `data { int n; vector[n] y; } parameters { real mu; vector[2] z; } model { mu ~ normal(0, 1); z ~ normal(mu, 1); y ~ normal(mu, 1); }`
	values := map[string]any{"n": 2, "y": []float64{1, 2.5}}
	p := bind(t, text, values)
	for _, o := range []fit.Options{
		{Chains: 2, Seed: 3, Warmup: 150, Draws: 100, Init: infer.Uniform{Radius: 1}},
		{Chains: 2, Seed: 3, FirstID: 4, Draws: 100, Warmup: 200, Thin: 2, SaveWarmup: true, Sampler: nuts.Sampler{MaxDepth: 8}, Parallel: 1, Refresh: 7},
		{Chains: 1, Seed: 1, Draws: 100, Warmup: -1, Sampler: hmc.Sampler{}, StepSize: []float64{0.5}, Metric: []infer.Metric{{Kind: infer.Diagonal, Dim: 3, Inverse: []float64{1, 2, 3}}},
			Init: infer.At{Positions: [][]float64{{1, 2, 3}}, Radius: 0.5}},
	} {
		f, err := fit.Sample(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "fit")
		var archive, again, third bytes.Buffer
		n, err := f.WriteTo(&archive)
		if err != nil || n != int64(archive.Len()) {
			t.Fatalf("%d of %d bytes, %v", n, archive.Len(), err)
		}
		if err := f.Save(dir); err != nil {
			t.Fatal(err)
		}
		saved, err := fit.ReadFit(dir)
		if err != nil {
			t.Fatal(err)
		}
		embedded, err := fit.ReadFS(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		packed, err := fit.ReadArchive(bytes.NewReader(archive.Bytes()), n)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		for i, got := range []*fit.Fit{saved, embedded, packed} {
			if configuration(got) != configuration(f) {
				t.Errorf("%d:\n%s, not\n%s", i, configuration(got), configuration(f))
			}
			for k := range f.Names() {
				for chain := range f.Draws.Chains() {
					if !slices.Equal(got.Draws.Column(nil, chain, k), f.Draws.Column(nil, chain, k)) {
						t.Errorf("%d: other draws", i)
					}
				}
			}
			if i == 0 {
				continue // its folder is gone
			}
			q, err := got.Posterior(t.Context())
			if err != nil || q.Dim() != 3 {
				t.Errorf("%d: %v", i, err)
			}
		}
		// A fit that was read can be written again.
		if _, err := packed.WriteTo(&again); err != nil {
			t.Fatal(err)
		}
		packed, err = fit.ReadArchive(bytes.NewReader(again.Bytes()), int64(again.Len()))
		if err != nil || configuration(packed) != configuration(f) {
			t.Errorf("written again: %v", err)
		}
		_, err = packed.WriteTo(&third)
		if err != nil || !bytes.Equal(again.Bytes(), third.Bytes()) {
			t.Errorf("the archive of a fit varies: %v", err)
		}
	}
}

// TestArchiveWithoutFiles checks that an archive is written and read without any temporary file, as
// in a process that can open none, and that it has the files of [fit.Fit.Save].
func TestArchiveWithoutFiles(t *testing.T) {
	p := bind(t, `data { int n; vector[n] y; } parameters { real mu; } model { mu ~ normal(0, 1); y ~ normal(mu, 1); }`, map[string]any{"n": 2, "y": []float64{1, 2.5}})
	for _, o := range []fit.Options{
		{Chains: 2, Seed: 3, Warmup: 50, Draws: 1},
		{Chains: 1, Seed: 3, Warmup: 50, Draws: -1, SaveWarmup: true},
		{Chains: 2, Seed: 3, Warmup: 100, Draws: 100, SaveWarmup: true, Sampler: nuts.Sampler{}},
	} {
		f, err := fit.Sample(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "fit")
		if err := f.Save(dir); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", filepath.Join(dir, "missing"))
		var archive bytes.Buffer
		if _, err := f.WriteTo(&archive); err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
		if err != nil {
			t.Fatal(err)
		}
		// The files name themselves, with their folder outside the archive.
		normal := func(text []byte) string {
			return strings.ReplaceAll(string(text), dir+string(filepath.Separator), "")
		}
		n := 0
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			n++
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			want, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			got, err := fs.ReadFile(z, filepath.ToSlash(rel))
			if err == nil && normal(got) != normal(want) {
				t.Errorf("%s:\n%s\nand in the archive:\n%s", rel, want, got)
			}
			return err
		})
		if err != nil || n != len(z.File) {
			t.Errorf("%d files, and %d in the archive: %v", n, len(z.File), err)
		}
		again, err := fit.ReadArchive(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
		if err != nil || again.Draws.Len(0) != f.Draws.Len(0) {
			t.Errorf("read back: %v", err)
		}
	}
}

// TestArchiveVersions checks that archives of each version of the format can still be read.
func TestArchiveVersions(t *testing.T) {
	const first = "testdata/archive_v1.zip"
	if _, err := os.Stat(first); *update && err != nil {
		p := bind(t, "data { vector[3] y; } parameters { real mu; } model { y ~ normal(mu, 1); }", map[string]any{"y": []float64{1, 2, 3}})
		f, err := fit.Sample(t.Context(), p, fit.Options{Sampler: nuts.Sampler{MaxDepth: 6}, Chains: 2, Warmup: 100, Draws: 50, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(first)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteTo(file); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.ReadArchive(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	mu, err := f.Quantity("mu")
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Posterior(t.Context())
	if err != nil || p.Dim() != 1 {
		t.Fatal(err)
	}
	s, ok := f.Config().Sampler.(nuts.Sampler)
	if mean := mu.Row().Mean; len(mu.Values()) != 100 || mean < 1.5 || mean > 2.5 || !ok || s.MaxDepth != 6 || f.Config().Seed != 7 {
		t.Errorf("%d draws with mean %v, %+v", len(mu.Values()), mean, f.Config())
	}
}

// TestNoArchive checks that a file that is no archive of a fit is an error, and that names that
// lead outside are not followed.
func TestNoArchive(t *testing.T) {
	if _, err := fit.ReadArchive(strings.NewReader("nothing"), 7); err == nil || !strings.Contains(err.Error(), "no archive") {
		t.Error(err)
	}
	if _, err := fit.ReadFS(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "run.json") {
		t.Error(err)
	}
	if _, err := (fit.ReadOptions{Memory: 100}).FS(fstest.MapFS{"run.json": {Data: make([]byte, 10_000)}}); err == nil || !strings.Contains(err.Error(), "more bytes") {
		t.Error(err)
	}
}
