package main

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer/infertest/truth"
)

// TestResumes makes runs, deletes the last line, and checks that only that run is repeated.
func TestResumes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.jsonl")
	args := []string{"--samplers", "nuts,nobody", "--seeds", "2", "--targets", "^normal-2$|^two-equal-1$", "--version", "test", "--keep", file}
	var first, second, log bytes.Buffer
	if err := run(context.Background(), args, &first, &log); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first.String(), "no sampler `nobody`") || !strings.Contains(first.String(), "| nuts | 4 |") {
		t.Errorf("the tables are\n%s", first.String())
	}
	text, err := os.ReadFile(file)
	if err != nil || bytes.Count(text, []byte("\n")) != 4 {
		t.Fatalf("%d lines, %v", bytes.Count(text, []byte("\n")), err)
	}
	if err := os.WriteFile(file, text[:len(text)-10], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(context.Background(), args, &second, &log); err != nil {
		t.Fatal(err)
	}
	again, _ := os.ReadFile(file)
	if !bytes.Equal(again, text) || second.String() != first.String() {
		t.Errorf("a resumed measurement differs:\n%s\n%s", again, second.String())
	}
	if err := run(context.Background(), []string{"--samplers", "nuts --no-such"}, &second, &log); err == nil {
		t.Error("an option that there is not is accepted")
	}
}

// TestRatio compares runs whose claims are correct but differ with runs that claim twice their true
// size.
func TestRatio(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var rows []row
	for range 20000 {
		size := 1000.0
		if rng.IntN(2) == 0 {
			size = 4000
		}
		z := rng.NormFloat64() / math.Sqrt(size)
		for name, claim := range map[string]float64{"honest": size, "twice": 2 * size} {
			rows = append(rows, row{key: key{Target: "x", Sampler: name}, Scores: []truth.Score{{Bulk: claim, Mean: z}}})
		}
	}
	honest, twice := ratioOf(rows, "x", "honest"), ratioOf(rows, "x", "twice")
	if math.Abs(honest.ratio-1) > 5*honest.err || honest.err > 0.02 || math.Abs(twice.ratio-2) > 5*twice.err {
		t.Errorf("%.3f ± %.3f and %.3f ± %.3f, want 1 and 2", honest.ratio, honest.err, twice.ratio, twice.err)
	}
	// Claims are 2500 on average, while the errors correspond to a size of 1600.
	if math.Abs(honest.means-2500./1600) > 0.1 || math.Abs(honest.spread-2500./1600) > 0.02 {
		t.Errorf("means %.3f, spread %.3f", honest.means, honest.spread)
	}
}
