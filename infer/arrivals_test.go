package infer_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// TestArrivals checks that chains with the same starting place are found, by Arrivals and in the
// report.
func TestArrivals(t *testing.T) {
	nan := math.NaN()
	a, b := []float64{1, 2}, []float64{1, 3}
	for name, c := range map[string]struct {
		init infer.Init
		want []int
	}{
		"default":             {nil, []int{0, 0, 0, 0}},
		"random":              {infer.Uniform{Radius: 1}, []int{0, 0, 0, 0}},
		"zero":                {infer.Uniform{}, []int{1, 1, 1, 1}},
		"one position":        {infer.At{Positions: [][]float64{a}}, []int{1, 1, 1, 1}},
		"one, partly random":  {infer.At{Positions: [][]float64{{1, nan}}, Radius: 2}, []int{0, 0, 0, 0}},
		"one, partly zero":    {infer.At{Positions: [][]float64{{1, nan}}}, []int{1, 1, 1, 1}},
		"different positions": {infer.At{Positions: [][]float64{a, b, {0, 0}, {0, 1}}}, []int{0, 0, 0, 0}},
		"two that are equal":  {infer.At{Positions: [][]float64{a, b, {0, 0}, b}}, []int{0, 1, 0, 1}},
		"two pairs":           {infer.At{Positions: [][]float64{a, b, b, a}}, []int{2, 1, 1, 2}},
		"origins":             {infer.At{Positions: [][]float64{a, b, {0, 0}, {0, 1}}, Origins: []int{3, 0, 3, 3}}, []int{1, 0, 1, 1}},
	} {
		s, err := infer.NewSession(infertest.AR1(2, 0.5), infer.Config{Sampler: nuts.Sampler{}, Init: c.init, Warmup: 10, Draws: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range s.Draws(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		var got []int
		for _, r := range s.Report().Chains {
			got = append(got, r.Arrival)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
