package psis

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"testing"
)

// figure is a number in a reference file, where an infinity is a string.
type figure float64

func (f *figure) UnmarshalJSON(text []byte) error {
	if string(text) == `"Infinity"` {
		*f = figure(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(f))
}

// ratios are those of testdata/reference.R.
func ratios(n int, scale, power float64) []float64 {
	r := make([]float64, n)
	for i := range r {
		k := float64(i + 1)
		u := math.Sin(k*k + 0.5*k)
		r[i] = scale * math.Copysign(math.Pow(math.Abs(u), power), u)
	}
	return r
}

// TestReference compares with testdata/reference.json, the results of R's package loo 2.5.1.
func TestReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		N                           int
		Scale, Power                float64
		K, Sum, First, Largest, ESS figure
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	var s Smoother
	for _, c := range cases {
		r := ratios(c.N, c.Scale, c.Power)
		k := s.Smooth(r, TailLength(c.N, 1))
		sum := 0.0
		for _, v := range r {
			sum += math.Exp(v)
		}
		first, largest := r[0], slices.Max(r)
		Normalize(r)
		squares := 0.0
		for _, w := range r {
			squares += w * w
		}
		for _, f := range []struct {
			name      string
			got, want float64
		}{{"k", k, float64(c.K)}, {"sum of weights", sum, float64(c.Sum)}, {"first weight", first, float64(c.First)},
			{"largest weight", largest, float64(c.Largest)}, {"effective sample size", 1 / squares, float64(c.ESS)}} {
			if f.got != f.want && !(math.Abs(f.got-f.want) <= 1e-10*max(1, math.Abs(f.want))) {
				t.Errorf("%d, %v, %v: %s is %.17g, want %.17g", c.N, c.Scale, c.Power, f.name, f.got, f.want)
			}
		}
	}
}

func TestSelectOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		x := make([]float64, 1+rng.IntN(60))
		for i := range x {
			x[i] = float64(rng.IntN(1 + rng.IntN(40)))
		}
		sorted := slices.Clone(x)
		sort.Float64s(sorted)
		k := rng.IntN(len(x))
		selectOrder(x, k)
		if x[k] != sorted[k] || slices.ContainsFunc(x[:k], func(v float64) bool { return v > x[k] }) ||
			slices.ContainsFunc(x[k:], func(v float64) bool { return v < x[k] }) {
			t.Fatalf("rank %d of %v", k, x)
		}
	}
}

// TestDegenerate checks that ratios that cannot be smoothed do not change.
func TestDegenerate(t *testing.T) {
	var s Smoother
	for name, r := range map[string][]float64{
		"none": {}, "one": {3}, "constant": make([]float64, 200), "NaN": {1, math.NaN(), 2, 3},
		"all of zero weight": {math.Inf(-1), math.Inf(-1)},
	} {
		before := slices.Clone(r)
		if k := s.Smooth(r, TailLength(len(r), 1)); !math.IsInf(k, 1) {
			t.Errorf("%s: k = %v", name, k)
		}
		for i := range r {
			if r[i] != before[i] && !math.IsNaN(before[i]) {
				t.Errorf("%s: %v has become %v", name, before, r)
			}
		}
	}
	// Two values, one of them rare: most of the tail is tied with its cutoff.
	r := make([]float64, 500)
	r[77] = 4
	k := s.Smooth(r, TailLength(len(r), 1))
	if math.IsNaN(k) || slices.ContainsFunc(r, math.IsNaN) {
		t.Errorf("ties: k = %v, weights %v", k, r)
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		draws int
		want  float64
	}{{100, 0.5}, {1000, 2. / 3}, {4000, 0.7}} {
		if got := Limit(c.draws); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Limit(%d) = %v, want %v", c.draws, got, c.want)
		}
	}
	if TailLength(4000, 1) != 190 || TailLength(100, 1) != 20 || TailLength(4000, 0.5) != 269 {
		t.Error(TailLength(4000, 1), TailLength(100, 1), TailLength(4000, 0.5))
	}
}

func BenchmarkSmooth(b *testing.B) {
	r := ratios(4000, 3, 1)
	work := make([]float64, len(r))
	var s Smoother
	for b.Loop() {
		copy(work, r)
		s.Smooth(work, 190)
	}
}
