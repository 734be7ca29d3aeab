package diagnose

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainNested computes nested R-hat by the formula of the paper. groups has the half-chains of each
// group as sequences of scores.
func plainNested(groups [][][]float64) float64 {
	var centres []float64
	within := 0.0
	for _, parts := range groups {
		var means []float64
		inside := 0.0
		for _, x := range parts {
			means = append(means, mean(x))
			inside += variance(x) / float64(len(parts))
		}
		centres = append(centres, mean(means))
		within += (inside + variance(means)) / float64(len(groups))
	}
	return math.Sqrt(1 + variance(centres)/within)
}

// normalChains draws chains of n normal values about given means.
func normalChains(rng *rand.Rand, n int, means ...float64) [][]float64 {
	var chains [][]float64
	for _, m := range means {
		x := make([]float64, n)
		for i := range x {
			x[i] = m + rng.NormFloat64()
		}
		chains = append(chains, x)
	}
	return chains
}

func TestNestedRhatAgainstFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{4, 5, 60, 401} {
		for _, arrivals := range [][]int{{1, 1, 2, 2}, {1, 1, 1, 0}, {2, 7, 2, 7}, {0, 0, 0, 0}, {1, 0, 1, 0}} {
			chains := normalChains(rng, n, 0, 0.3, 0.8, 1)
			var parts, folds [][]float64
			median := Quantile(slices.Concat(chains...), 0.5)
			for _, c := range chains {
				for _, half := range [][]float64{c[:n/2], c[n-n/2:]} {
					parts = append(parts, half)
					var fold []float64
					for _, v := range half {
						fold = append(fold, math.Abs(v-median))
					}
					folds = append(folds, fold)
				}
			}
			group, places, _ := groups(arrivals, []int{0, 1, 2, 3})
			in := func(scores [][]float64) [][][]float64 {
				out := make([][][]float64, places)
				for i, x := range scores {
					out[group[i/2]] = append(out[group[i/2]], x)
				}
				return out
			}
			want := max(plainNested(in(plainScores(parts))), plainNested(in(plainScores(folds))))
			if got := NestedRhat(chains, arrivals); math.Abs(got-want) > 1e-10 {
				t.Errorf("%d draws, arrivals %v: %v, want %v", n, arrivals, got, want)
			}
		}
	}
}

func TestNestedRhatIsNaN(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for name, v := range map[string]float64{
		"one place":  NestedRhat(normalChains(rng, 50, 0, 1), []int{1, 1}),
		"no draws":   NestedRhat(nil, nil),
		"constant":   NestedRhat([][]float64{{1, 1, 1, 1}, {1, 1, 1, 1}}, nil),
		"two draws":  NestedRhat(normalChains(rng, 2, 0, 1), nil),
		"NaN inside": NestedRhat([][]float64{{1, 2, math.NaN(), 4}, {1, 2, 3, 4}}, nil),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s: %v", name, v)
		}
	}
}

// arrived is a Draws whose chains share places.
type arrived struct {
	Draws
	arrivals []int
}

func (a arrived) Arrivals() []int { return a.arrivals }

// TestRowsNestRhat checks that the R-hat of a row compares places if some chains, but not all,
// began at the same place, and is the usual one otherwise.
func TestRowsNestRhat(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	// Two places, whose chains agree: as four chains they differ too little to be seen.
	chains := normalChains(rng, 300, 0, 0, 0.18, 0.18)
	draw := make([][][]float64, len(chains))
	for c := range chains {
		for _, v := range chains[c] {
			draw[c] = append(draw[c], []float64{v})
		}
	}
	d := Slices([]string{"x"}, draw)
	plain := Rhat(chains)
	nested := NestedRhat(chains, []int{1, 1, 2, 2})
	if !(nested > plain) {
		t.Fatalf("nested %v, plain %v", nested, plain)
	}
	for _, c := range []struct {
		arrivals []int
		want     float64
	}{{nil, plain}, {[]int{0, 0, 0, 0}, plain}, {[]int{1, 2, 3, 4}, plain}, {[]int{1, 1, 1, 1}, plain}, {[]int{1, 1, 2, 2}, nested}} {
		if got := Summarize(arrived{d, c.arrivals})[0].Rhat; got != c.want {
			t.Errorf("arrivals %v: R-hat %v, want %v", c.arrivals, got, c.want)
		}
	}
}
