package infer_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// ticking is a normal density at whose evaluations a report is due. It rejects the first ones.
type ticking struct {
	s     *infer.Session
	evals int
}

func (*ticking) Dim() int { return 1 }

func (d *ticking) LogDensityGrad(x, grad []float64) (float64, error) {
	d.evals++
	infer.Tick(d.s)
	if d.evals <= 3 {
		return 0, errors.New("not yet")
	}
	grad[0] = -x[0]
	return -x[0] * x[0] / 2, nil
}

// TestReportsBeforeFirstTransition checks that a chain reports its search for a starting point and
// its first transition, and nothing of that kind later.
func TestReportsBeforeFirstTransition(t *testing.T) {
	d := &ticking{}
	var got []infer.Progress
	s, err := infer.NewSession(d, infer.Config{Sampler: nuts.Sampler{}, Chains: 1, Warmup: 2, Draws: 3, Progress: func(p infer.Progress) { got = append(got, p) }})
	if err != nil {
		t.Fatal(err)
	}
	d.s = s
	for _, err := range s.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(got) < 5 {
		t.Fatalf("%d reports", len(got))
	}
	for i, p := range got[:4] {
		want := min(i, 3)
		if p.Iteration != 0 || !p.Searching || p.Rejected != want || (p.Reason != "") != (want > 0) || p.Gradients != int64(i+1) || p.Total != 5 {
			t.Errorf("report %d: %+v", i, p)
		}
	}
	begun := false
	for i, p := range got[4:] {
		if p.Searching || begun && p.Iteration == 0 {
			t.Errorf("report %d: %+v", i+4, p)
		}
		begun = begun || p.Iteration > 0
	}
	if !begun {
		t.Error("no transition was reported")
	}
}
