package main

import (
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer/infertest/truth"
)

// TestChange checks the comparison with runs made by hand, and that the ten posteriors exist.
func TestChange(t *testing.T) {
	of := func(target, sampler, verdict string, gradients int64, ess float64) row {
		return row{key: key{Target: target, Sampler: sampler}, Verdict: verdict, Gradients: gradients, ESS: ess}
	}
	made := []row{
		of("a", "auto", "right", 100, 400), of("b", "auto", "right but warned", 100, 100), of("c", "auto", "wrong and reported", 100, 100),
		of("a", "same", "right", 100, 400), of("b", "same", "right but warned", 100, 100), of("c", "same", "wrong and reported", 100, 100),
		of("a", "other", "wrong and silent", 800, 400), of("b", "other", "right", 100, 800), of("c", "other", "right but warned", 100, 100),
	}
	runs := map[key]row{}
	for _, r := range made {
		runs[r.key] = r
	}
	for sampler, want := range map[string]string{
		"same":  "no change",
		"other": "3 runs of 3 differ, gradients ×2.00, ESS ×2.00, 2 better and 1 worse",
	} {
		if got := change(made, runs, sampler); got != want {
			t.Errorf("%s: %q, want %q", sampler, got, want)
		}
	}
	for _, name := range sensitive {
		if !slices.ContainsFunc(truth.Fixed(), func(t *truth.Target) bool { return t.Name == name }) {
			t.Errorf("there is no target %s", name)
		}
	}
}
