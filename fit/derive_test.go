package fit_test

import (
	"context"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// TestDerive computes the log likelihood of the observations at the draws of a fit.
func TestDerive(t *testing.T) {
	model, err := model.Compile("m", "data { int N; vector[N] y; } parameters { real mu; } model { mu ~ normal(0, 10); y ~ normal(mu, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"N": 2, "y": []float64{1, 2.5}}
	p, err := model.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(context.Background(), p, fit.Options{Seed: 1, Draws: 20})
	if err != nil {
		t.Fatal(err)
	}
	d, err := model.Derive(predict.LogLikelihood)
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	generated, err := fit.Generate(context.Background(), q, f, fit.GenerateOptions{})
	if err != nil || len(d.Left) > 0 || d.Outputs[0].Name != "log_lik" || d.Outputs[0].Variable != "y" {
		t.Fatal(d.Left, d.Outputs, err)
	}
	for i, mu := range f.Draws.Column(nil, 3, 0) {
		want := -0.5*(2.5-mu)*(2.5-mu) - 0.5*math.Log(2*math.Pi)
		if got := generated.Draws.Column(nil, 3, 1)[i]; math.Abs(got-want) > 1e-12 {
			t.Errorf("draw %d: %v, not %v", i, got, want)
		}
	}
}
