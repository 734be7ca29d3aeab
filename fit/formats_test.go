package fit_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/fittest"
)

// TestFormats checks that each format of the table keeps all numbers of a run: written during the
// run, at its end, and converted from a fit. There are 1 and 2 chains, with and without warm-up.
func TestFormats(t *testing.T) {
	p := fittest.KindsPosterior(t)
	for _, r := range fit.Formats() {
		if r.Codec == nil {
			continue
		}
		t.Run(string(r.Name), func(t *testing.T) {
			read := func(files []string) *fit.Fit {
				t.Helper()
				if r.PerChain {
					again, err := fit.ReadCSV(files...)
					if err != nil {
						t.Fatal(err)
					}
					return again
				}
				if len(files) != 1 || !r.Match(files[0]) || r.Match(files[0]+"x") {
					t.Fatalf("files: %v", files)
				}
				again, err := r.Codec.Read(fit.ReadOptions{}, files[0])
				if err != nil {
					t.Fatal(err)
				}
				return again
			}
			for chains := 1; chains <= 2; chains++ {
				base := filepath.Join(t.TempDir(), "fit")
				f, err := fit.Sample(context.Background(), p, fit.Options{Chains: chains, Warmup: 130, Draws: 60, Thin: 2, Seed: 1, SaveWarmup: chains == 2, Output: base, Format: r.Name})
				if err != nil {
					t.Fatal(err)
				}
				first := read(f.Files)
				files, err := r.Codec.Write(first, filepath.Join(t.TempDir(), "again."+string(r.Name)))
				if err != nil {
					t.Fatal(err)
				}
				for _, again := range []*fit.Fit{first, read(files)} {
					fittest.SameDraws(t, again.Draws, f.Draws)
					fittest.SameDraws(t, again.Draws.Warmup(), f.Draws.Warmup())
					if c := again.Config(); c.Draws != 60 || c.Thin != 2 || c.Seed != 1 || c.Chains != chains || c.SaveWarmup != (chains == 2) {
						t.Errorf("read with the configuration %+v", c)
					}
				}
			}
		})
	}
	for _, name := range []fit.Format{"hdf5", "parquet"} {
		if _, err := fit.Sample(context.Background(), p, fit.Options{Chains: 1, Warmup: 1, Draws: 1, Output: filepath.Join(t.TempDir(), "fit"), Format: name}); err == nil {
			t.Errorf("a run is written as %s", name)
		}
	}
}
