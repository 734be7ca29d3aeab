package truth_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest/truth"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/short"
)

// TestExactDrawsAreNotWrong judges independent draws, which must never be judged wrong.
func TestExactDrawsAreNotWrong(t *testing.T) {
	short.Skip(t, "it judges many exact draws of each target; TestFiguresMatchExactDraws is left")
	for _, target := range short.Turns(3, checked()) {
		if target.Sample == nil {
			continue
		}
		for k := range 2 {
			draws := exactDraws(target, k, 4, 100+400*k)
			for _, e := range truth.Judge(target, draws) {
				if e.Off() > 1 {
					t.Errorf("%s: of %d exact draws %s is %.3g, truth %.3g ± %.3g, which is called wrong", target.Name,
						4*len(draws[0]), e.Quantity.Name, e.Value, e.Quantity.Truth, e.Limit)
				}
			}
		}
	}
}

func exactDraws(target *truth.Target, id, chains, n int) [][][]float64 {
	rng := infer.Stream(4, id, target.Name, 0)
	draws := make([][][]float64, chains)
	for c := range draws {
		for range n {
			x := make([]float64, target.Dim())
			target.Sample(rng, x)
			draws[c] = append(draws[c], x)
		}
	}
	return draws
}

// TestJudgeHasTeeth checks that slightly wrong draws are judged wrong: shifted, too narrow, or
// without a mode.
func TestJudgeHasTeeth(t *testing.T) {
	wrong := func(target *truth.Target, change func(x []float64)) bool {
		draws := exactDraws(target, 0, 4, 1000)
		for _, chain := range draws {
			for _, x := range chain {
				change(x)
			}
		}
		return slices.ContainsFunc(truth.Judge(target, draws), func(e truth.Estimate) bool { return e.Off() > 1 })
	}
	normal := named(t, "normal-2")
	if wrong(normal, func([]float64) {}) {
		t.Error("exact draws are called wrong")
	}
	if !wrong(normal, func(x []float64) { x[1] += 0.15 }) {
		t.Error("a shift by 0.15 standard deviations passes")
	}
	if !wrong(normal, func(x []float64) { x[0] *= 0.85 }) {
		t.Error("draws that are narrower by 15 % pass")
	}
	if !wrong(named(t, "two-unequal-2"), func(x []float64) { // a fourth of the mode of 0.7 moves to the other
		if x[0] < 0 && x[1] > 0.1 {
			x[0], x[1] = 1.2, 0.5
		}
	}) {
		t.Error("a share that is off by a fourth passes")
	}
	if !wrong(normal, func(x []float64) { x[0] = math.NaN() }) {
		t.Error("draws that are not numbers pass")
	}
}

func named(t *testing.T, name string) *truth.Target {
	t.Helper()
	all := checked()
	i := slices.IndexFunc(all, func(target *truth.Target) bool { return target.Name == name })
	if i < 0 {
		t.Fatalf("there is no target %s", name)
	}
	return all[i]
}

// TestRuns checks the verdicts on the default sampler for a few targets; for those with one mode,
// the runs must be right.
func TestRuns(t *testing.T) {
	row := sampler.Table()[0]
	s, err := row.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range short.Every(3, []struct {
		name string
		want []truth.Verdict // any of them
	}{
		{"normal-2", []truth.Verdict{truth.Right}},
		{"normal-10-condition-1e4", []truth.Verdict{truth.Right}},
		{"normal-12-units-1e6", []truth.Verdict{truth.Right}},
		{"t3-3", []truth.Verdict{truth.Right, truth.Warned}},
		{"laplace-3", []truth.Verdict{truth.Right}},
		{"quartic-4", []truth.Verdict{truth.Right}},
		{"log-gamma-3", []truth.Verdict{truth.Right}},
		{"simplex-5", []truth.Verdict{truth.Right}},
		{"banana-bent", []truth.Verdict{truth.Right}},
		{"funnel-5-mild", []truth.Verdict{truth.Right, truth.Warned}},
		{"hierarchy-non-centred", []truth.Verdict{truth.Right}},
		{"bumps-near", []truth.Verdict{truth.Right}},
		{"improper-growing-2", []truth.Verdict{truth.Told}},
	}) {
		o, err := named(t, c.name).Run(context.Background(), truth.Options{Sampler: s, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(c.want, o.Verdict) {
			worst, _ := o.Worst()
			t.Errorf("%s with %s: %s, want %v; %s is %.3g, truth %.3g; %v", c.name, row.Name, o.Verdict, c.want,
				worst.Quantity.Name, worst.Value, worst.Quantity.Truth, o.Findings)
		}
	}
}
