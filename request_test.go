package ppl_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/internal/race"
)

// groups is a small model: eight groups with partial pooling.
const groups = `
data { int<lower=1> J; vector[J] y; vector<lower=0>[J] sigma; }
parameters { real mu; real<lower=0> tau; vector[J] theta_raw; }
transformed parameters { vector[J] theta = mu + tau * theta_raw; }
model {
  mu ~ normal(0, 10);
  tau ~ normal(0, 5);
  theta_raw ~ std_normal();
  y ~ normal(theta, sigma);
}`

func groupsData() map[string]any {
	return map[string]any{
		"J":     8,
		"y":     []float64{28, 8, -3, 7, -1, 1, 18, 12},
		"sigma": []float64{15, 10, 16, 11, 9, 11, 10, 18},
	}
}

// request binds the model to data and samples 400 warm-up transitions and 400 draws.
func request(tb testing.TB, m *ppl.Model, s infer.Sampler, seed uint64) {
	p, err := m.Bind(groupsData())
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := ppl.Sample(context.Background(), p, ppl.Options{Sampler: s, Seed: seed, Warmup: 400, Draws: 400}); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkRequest measures what a request to a service costs: Bind alone, and Bind with Sample for
// two samplers.
func BenchmarkRequest(b *testing.B) {
	m, err := ppl.Compile("groups.model", groups)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("bind", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.Bind(groupsData()); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, c := range []struct {
		name    string
		sampler infer.Sampler
	}{{"auto", auto.Sampler{}}, {"nuts", nuts.Sampler{}}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var times []float64
			for b.Loop() {
				began := time.Now()
				request(b, m, c.sampler, uint64(len(times)))
				times = append(times, time.Since(began).Seconds()*1000)
			}
			slices.Sort(times)
			b.ReportMetric(times[len(times)/2], "p50-ms")
		})
	}
}

// TestAllocations checks that the number of allocations of a small request with nuts does not grow
// by more than a tenth, that one with auto has fewer than ten thousand, and Bind fewer than one
// thousand. The numbers do not depend on the machine.
func TestAllocations(t *testing.T) {
	m, err := ppl.Compile("groups.model", groups)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(0)
	for _, c := range []struct {
		name string
		most float64
		run  func()
	}{
		{"bind", 1000, func() {
			if _, err := m.Bind(groupsData()); err != nil {
				t.Fatal(err)
			}
		}},
		{"bind and sample by auto", 10000, func() { seed++; request(t, m, auto.Sampler{}, seed) }},
		{"bind and sample by nuts", 4000, func() { seed++; request(t, m, nuts.Sampler{}, seed) }},
	} {
		if race.Enabled { // it made 23 of 1007
			c.most *= 1.05
		}
		if n := testing.AllocsPerRun(5, c.run); n > c.most {
			t.Errorf("%s: %.0f allocations, more than %.0f", c.name, n, c.most)
		}
	}
}
