package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/benchsuite"
)

// TestEnoughAfter checks the number of draws against a judgement of each number of draws.
func TestEnoughAfter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([][][]float64, chains)
	for i := range values {
		values[i] = make([][]float64, 1000)
		for j := range values[i] {
			x := rng.NormFloat64()
			if j > 0 {
				x += 0.7 * values[i][j-1][0] // an effective draw in about six
			}
			values[i][j] = []float64{x, 5}
		}
	}
	d := diagnose.Slices([]string{"x", "constant"}, values)
	n, rhat, ess := enoughAfter(d, 1000)
	if n < 200 || n > 1000 || rhat >= maxRhat || ess < minESS {
		t.Fatalf("%d draws are enough, R-hat %v, ESS %v", n, rhat, ess)
	}
	for m := step; m <= 1000; m += step {
		var short [][][]float64
		for _, c := range values {
			short = append(short, c[:m])
		}
		var sum diagnose.Summarizer
		r, e := worst(&sum, diagnose.Slices([]string{"x", "constant"}, short))
		if good := r < maxRhat && e >= minESS; m >= n && !good || m == n-step && good {
			t.Errorf("%d draws: R-hat %v, ESS %v, but %d are enough", m, r, e, n)
		}
	}
	for _, c := range values[1:] {
		for j := range c {
			c[j][0] += 3 // chains that disagree
		}
	}
	if n, _, _ := enoughAfter(d, 1000); n != 0 {
		t.Errorf("%d draws of chains that disagree are enough", n)
	}
}

func TestReport(t *testing.T) {
	rep := report{Seeds: 2}
	for _, name := range []string{"quick", "slow", "neither"} {
		w := benchsuite.Workload{Name: name}
		rep.add(w, measured{Program: "ppl", Draws: 500, Enough: name != "neither", Seconds: 1})
		rep.add(w, measured{Program: "Stan", Draws: 4000, Enough: name == "quick", Seconds: 10})
	}
	text := rep.markdown()
	for _, want := range []string{"| quick |  | 500 | 1.00 | 0 of 1 | 4000 | 10.0 | 0 of 1 | 10.0 |", "| slow |  | 500 | 1.00 | 0 of 1 | > 4000 | > 10.0 | 1 of 1 | > 10.0 |",
		"| > 500 | > 1.00 | 1 of 1 |", "over 2 workloads, lower bounds included: **10.0**", "not enough: neither."} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}
