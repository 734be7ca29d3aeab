package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer/infertest"
)

// The target is what it says: gradient and metric agree with differences, the
// mode is one, and the starting points are spread about it.
func TestRegression(t *testing.T) {
	for _, s := range []set{{"small", 40, 2, true}, {"other", 30, 3, false}} {
		r, err := s.load("")
		if err != nil {
			t.Fatal(err)
		}
		starts, err := r.starts(4, s.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range starts {
			if err := infertest.CheckGradient(r, x); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
			if err := infertest.CheckMetric(x, r.FisherMetric, r.FisherTraceGrad); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
		if starts[0][0] == starts[1][0] {
			t.Error("two starting points are the same")
		}
		// Half of the squared distance in the metric, less than a hundred:
		// in the reach of the posterior.
		near := starts[0]
		lp, _ := r.LogDensityGrad(near, make([]float64, r.k))
		if math.IsInf(lp, 0) || math.IsNaN(lp) {
			t.Errorf("%s: log density %v at a starting point", s.name, lp)
		}
	}
}

// A small run of both exhibits writes its tables, and is not made twice.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	w, err := newWorkshop(options{quick: true, out: dir})
	if err != nil {
		t.Fatal(err)
	}
	w.sets = []set{{"small", 40, 2, false}}
	w.protocol = protocol{kind: "test", chains: 2, burnIn: 50, draws: 100, deltas: []float64{0.5, 0.8}, tries: 1, riemannBurnIn: 30, riemannDraws: 60}
	if err := figure2(context.Background(), w); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(filepath.Join(dir, "fig2.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(first), "| small | ") || !strings.Contains(string(first), "simulated data") {
		t.Errorf("%s", first)
	}
	kept, _ := filepath.Glob(filepath.Join(dir, "chains", "*.gob"))
	if len(kept) != 2+2*5 {
		t.Errorf("%d chains are kept", len(kept))
	}
	before, _ := os.Stat(kept[0])
	if err := figure2(context.Background(), w); err != nil {
		t.Fatal(err)
	}
	second, _ := os.ReadFile(filepath.Join(dir, "fig2.md"))
	after, _ := os.Stat(kept[0])
	if string(first) != string(second) || before.ModTime() != after.ModTime() {
		t.Error("the work was done twice")
	}
	if run(context.Background(), options{out: dir, only: []string{"fig9"}}) == nil || run(context.Background(), options{}) == nil {
		t.Error("wrong options pass")
	}
}

// An interval covers a ratio that is known.
func TestCompare(t *testing.T) {
	r := compare([]float64{2, 2.2, 1.8, 2.1, 1.9}, []float64{1, 1.1, 0.9, 1, 1}, "test")
	if math.Abs(r.value-2) > 1e-12 || !(r.low < 2 && 2 < r.high) || r.high-r.low > 1 {
		t.Errorf("%v", r)
	}
}
