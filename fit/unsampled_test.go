package fit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/sampler"
)

// TestUnsampled checks the messages about runs without draws and about runs with fixed parameters.
func TestUnsampled(t *testing.T) {
	p := bound(t, "parameters { real x; }\nmodel { x ~ normal(0, 1); }\n")
	f, err := fit.Sample(context.Background(), p, fit.Options{Chains: 2, Seed: 1, Draws: -1})
	if err != nil {
		t.Fatal(err)
	}
	if found := f.Findings(); len(found) != 1 || found[0].Code != "no-draws" || strings.Contains(found[0].Advice, "error") {
		t.Errorf("without draws: %v", found)
	}
	f, err = fit.Sample(context.Background(), p, fit.Options{Chains: 2, Seed: 1, Draws: 10, Sampler: sampler.Fixed{}})
	if err != nil {
		t.Fatal(err)
	}
	if text := f.Checked(); !strings.Contains(text, "keep the initial values") {
		t.Error(text)
	}
}
