package fit_test

import (
	"context"
	"flag"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/model"
)

// TestCompletedMetric checks rmhmc in so many dimensions that softabs is no longer the default. It
// must also draw if the Fisher information covers only some parameters; for the others it is set to
// 1.
func TestCompletedMetric(t *testing.T) {
	m, err := model.Compile("m.model", `parameters { simplex[110] p; real a; }
model { p ~ dirichlet(rep_vector(3, 110)); a ~ normal(5, 0.1); }`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := p.Dim()
	if _, err := riemann.FromTarget(riemann.Fisher, p, 0); err == nil {
		t.Fatal("the metric alone is not refused")
	}
	metric, err := riemann.Completed(riemann.Fisher, p, 0)
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float64, d*d)
	if err := metric.Metric(make([]float64, d), g); err != nil {
		t.Fatal(err)
	}
	for i := range d {
		for j := range d {
			want := 0.0
			if i == j {
				want = 1
				if i == d-1 {
					want = 100
				}
			}
			if math.Abs(g[i*d+j]-want) > 1e-12*want {
				t.Fatalf("element %d, %d is %v, want %v", i, j, g[i*d+j], want)
			}
		}
	}
	row, _ := sampler.Lookup("rmhmc")
	fs := flag.NewFlagSet("rmhmc", flag.ContinueOnError)
	build := row.Options(fs)
	if err := fs.Parse([]string{"-steps", "3"}); err != nil {
		t.Fatal(err)
	}
	s, err := build()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := fit.Sample(context.Background(), p, fit.Options{Sampler: s, Chains: 1, Warmup: 20, Draws: 20, Seed: 1, Init: infer.Uniform{Radius: 0.1}})
	if err != nil || fit.Draws.Len(0) != 20 {
		t.Fatalf("draws %v, %v", fit, err)
	}
	if a := fit.Draws.Column(nil, 0, 0); a[0] == a[19] {
		t.Error("the chain has not moved")
	}
}
