package main

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/internal/figures"
	"github.com/ppl-lang/ppl/model"
)

// TestCalibration checks that a correct model is calibrated. A model is not if its prior differs
// from the distribution of the drawn parameters, if a scale is wrong, or if a log Jacobian is
// missing. (There are few replicates, so the bands are wide and the faults large.)
func TestCalibration(t *testing.T) {
	text, err := models.ReadFile("models/normal.stan")
	if err != nil {
		t.Fatal(err)
	}
	s := settings{sampler: nuts.Sampler{}, name: "nuts", replicates: 100, warmup: 200, draws: 31, chains: 1, thin: 4, seed: 3, workers: 2}
	for _, c := range []struct{ fault, old, new string }{
		{"", "", ""},
		{"another prior", "mu ~ normal(1, 2)", "mu ~ normal(3, 0.5)"},
		{"half the scale", "y ~ normal(mu, sigma)", "y ~ normal(mu, sigma / 2)"},
		{"a Jacobian too much", "y ~ normal(mu, sigma);", "y ~ normal(mu, sigma);\n  target += 4 * log(sigma);"},
	} {
		changed := strings.Replace(string(text), c.old, c.new, 1)
		if c.fault != "" && changed == string(text) {
			t.Fatalf("%s: nothing has changed", c.fault)
		}
		model, err := model.Compile("normal.stan", changed)
		if err != nil {
			t.Fatal(err)
		}
		found, err := calibrate(context.Background(), "normal", model, s, none(t))
		if err != nil {
			t.Fatal(err)
		}
		if said, failures := report([]calibration{found}, s, 0); (failures > 0) != (c.fault != "") {
			t.Errorf("%q: %d failures\n%s", c.fault, failures, said)
		}
	}
}

// TestModels checks that all models compile, and rank something in a single replicate.
func TestModels(t *testing.T) {
	entries, err := models.ReadDir("models")
	if err != nil || len(entries) != 10 {
		t.Fatal(err, len(entries))
	}
	s := settings{sampler: nuts.Sampler{}, warmup: 50, draws: 8, chains: 2, thin: 1}
	for _, e := range entries {
		text, err := models.ReadFile("models/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		model, err := model.Compile(e.Name(), string(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := replicate(context.Background(), e.Name(), model, s, 1)
		if err != nil || len(r.Names) == 0 || len(r.Ranks) != len(r.Names) {
			t.Errorf("%s: %+v, %v", e.Name(), r, err)
		}
	}
}

// none keeps nothing.
func none(t *testing.T) *figures.Kept[ranked] {
	kept, err := figures.OpenKept("", ranked.key)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// TestUniformity checks that uniform ranks pass and others do not.
func TestUniformity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	uniform, heaped := make([]int, 1000), make([]int, 1000)
	for i := range uniform {
		uniform[i] = rng.IntN(64)
		heaped[i] = (rng.IntN(64) + rng.IntN(64)) / 2
	}
	if q := uniformity("u", uniform, 63); q.distance > 0.06 || q.p < 1e-3 {
		t.Errorf("uniform: %+v", q)
	}
	if q := uniformity("h", heaped, 63); q.distance < 0.1 || q.p > 1e-9 {
		t.Errorf("heaped: %+v", q)
	}
}

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sbc.md")
	var said bytes.Buffer
	keep := filepath.Join(t.TempDir(), "sbc.jsonl")
	args := []string{"--only", "^proportions$", "--replicates", "20", "--draws", "7", "--thin", "2", "--warmup", "100", "--write", file, "--keep", keep, "--version", "test"}
	for range 2 { // the second run repeats nothing, and writes into the section
		if err := run(context.Background(), args, &said, io.Discard); err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
	}
	page, err := os.ReadFile(file)
	if err != nil || strings.Count(string(page), "| proportions | p[4] |") != 1 {
		t.Errorf("%v\n%s", err, page)
	}
	if rows, err := os.ReadFile(keep); err != nil || bytes.Count(rows, []byte("\n")) != 20 {
		t.Errorf("%d replicates are kept, %v", bytes.Count(rows, []byte("\n")), err)
	}
	for _, bad := range [][]string{{"--sampler", "gibbs"}, {"--replicates", "1"}, {"more"}, {"--only", "("}, {"--chains", "4"}} {
		if run(context.Background(), bad, io.Discard, io.Discard) == nil {
			t.Errorf("%v passes", bad)
		}
	}
}
