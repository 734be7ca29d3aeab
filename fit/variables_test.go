package fit_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// TestByName checks that values read by name agree with those read by position.
func TestByName(t *testing.T) {
	f, err := fit.Sample(t.Context(), bind(t, `
parameters { real x; }
transformed parameters { matrix[2, 3] m = [[1, 2, 3], [4, 5, 6]] + x; }
model { x ~ normal(0, 1); }`, nil), fit.Options{Sampler: nuts.Sampler{}, Seed: 1, Chains: 2, Warmup: 100, Draws: 50})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Variable("m")
	if err != nil {
		t.Fatal(err)
	}
	q, err := f.Quantity("m[2,1]")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"m[1,1]", "m[1,2]", "m[1,3]", "m[2,1]", "m[2,2]", "m[2,3]"}; !slices.Equal(m.Names(), want) || m.Len() != 100 {
		t.Errorf("%d draws of %v", m.Len(), m.Names())
	}
	if row := m.Rows()[3]; row != q.Row() || row.Name != "m[2,1]" || math.Abs(row.Mean-stat.Mean(q.Values(), nil)) > 1e-12 {
		t.Errorf("%+v, %+v", row, q.Row())
	}
	at := m.Quantiles(0.05, 0.5, 0.95)[3]
	if row := q.Row(); !slices.Equal(at, []float64{row.Q5, row.Q50, row.Q95}) || !slices.Equal(at, q.Quantiles(0.05, 0.5, 0.95)) {
		t.Errorf("%v, %+v", at, row)
	}
	dense := m.Dense()
	i, last := 0, 0
	for chain, draw := range m.All() {
		if !slices.Equal(draw, dense.RawRowView(i)) || draw[3] != q.Values()[i] || chain < last {
			t.Fatalf("draw %d of chain %d: %v", i, chain, draw)
		}
		i, last = i+1, chain
	}
	if i != 100 || last != 1 {
		t.Errorf("%d draws, the last of chain %d", i, last)
	}
	for range q.All() {
		break
	}
	if p := q.Probability(func(x float64) bool { return x <= at[1] }); p != 0.5 {
		t.Errorf("the probability of at most the median is %v", p)
	}
	for name, want := range map[string]string{
		"m[2,4]": "ppl: there are no draws of m[2,4]; did you mean m[2,1]?",
		"mm":     "ppl: there are no draws of mm; did you mean m?",
		"sigma":  "ppl: there are no draws of sigma",
	} {
		if _, err := f.Quantity(name); err == nil || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// TestSummaryContext checks that a summary ends with its context and can be requested again.
func TestSummaryContext(t *testing.T) {
	f, err := fit.Sample(t.Context(), bind(t, pair, nil), fit.Options{Sampler: nuts.Sampler{}, Seed: 1, Chains: 2, Warmup: 100, Draws: 50})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if rows, err := f.SummaryContext(ctx); !errors.Is(err, enough) || rows != nil {
		t.Errorf("%v, %v", rows, err)
	}
	if rows := f.Summary(); len(rows) != len(f.Names()) || math.IsNaN(rows[0].Rhat) {
		t.Errorf("%v", rows)
	}
}
