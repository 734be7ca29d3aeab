package fit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/model"
)

// sampled makes a short run of a program.
func sampled(t *testing.T, program string, o fit.Options) *fit.Fit {
	t.Helper()
	m, err := model.Compile("m.stan", program)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func codes(found []diagnose.Finding) (out []string) {
	for _, f := range found {
		out = append(out, f.Code)
	}
	return out
}

// TestFindingsOfThinnedRun checks that divergences are counted over all transitions, not only over
// the draws that a thinned run keeps.
func TestFindingsOfThinnedRun(t *testing.T) {
	f := sampled(t, "parameters { real y; vector[4] x; } model { y ~ normal(0, 3); x ~ normal(0, exp(y / 2)); }",
		fit.Options{Sampler: nuts.Sampler{}, Chains: 2, Warmup: 200, Draws: 800, Thin: 40, Seed: 3})
	divergent, kept, all := 0, 0, 0
	for i, c := range f.Report.Chains {
		divergent += c.Sampling.Divergences
		all += c.Sampling.Transitions
		column, _ := f.Draws.Statistic(nil, i, "divergent__")
		for _, v := range column {
			kept += int(v)
		}
		if got := f.Sampling()[i].Divergences; got != c.Sampling.Divergences {
			t.Errorf("chain %d: %d divergences, want %d", i, got, c.Sampling.Divergences)
		}
	}
	if divergent <= kept || all != 1600 {
		t.Fatalf("%d divergences of %d transitions, %d kept: nothing is tested", divergent, all, kept)
	}
	found := f.Findings()
	i := slices.IndexFunc(found, func(d diagnose.Finding) bool { return d.Code == "divergences" })
	if i < 0 || !strings.Contains(found[i].Summary, " of 1600 transitions diverged") {
		t.Errorf("%v", found)
	}
	// Without a report of the chains, only the draws themselves are known, not the thinned
	// transitions.
	found = fit.RunFindings(f.Draws, infer.Report{Chains: make([]infer.ChainReport, 2)}, f.Config())
	if i := slices.IndexFunc(found, func(d diagnose.Finding) bool { return d.Code == "divergences" }); i >= 0 && !strings.Contains(found[i].Summary, " of 40 transitions") {
		t.Errorf("%v", found)
	}
}

// TestFindingsWithoutParameters checks that chains have no findings if no parameters are sampled:
// statements about chains would mislead.
func TestFindingsWithoutParameters(t *testing.T) {
	for _, test := range []struct {
		what, program string
		sampler       infer.Sampler
	}{
		{"no parameters", "generated quantities { real x = normal_rng(0, 1); }", nil},
		{"no quantities", "generated quantities { print(bernoulli_rng(0.5)); }", nil},
		{"parameters that stay", "parameters { real x; } model { x ~ normal(0, 1); } generated quantities { real y = normal_rng(x, 1); }", sampler.Fixed{}},
	} {
		f := sampled(t, test.program, fit.Options{Sampler: test.sampler, Chains: 1, Warmup: 10, Draws: 20, Seed: 1})
		for _, code := range codes(f.Findings()) {
			if code != "constant" {
				t.Errorf("%s: %s", test.what, code)
			}
		}
		if text := f.Checked(); !strings.Contains(text, "independent") || strings.Contains(text, "Checked:") {
			t.Errorf("%s: %s", test.what, text)
		}
	}
	f := sampled(t, "parameters { real x; } model { x ~ normal(0, 1); }", fit.Options{Chains: 1, Warmup: 10, Draws: 20, Seed: 1})
	if got := codes(f.Findings()); !slices.Contains(got, "one-chain") || !slices.Contains(got, "few-draws") {
		t.Errorf("one short chain: %v", got)
	}
}
