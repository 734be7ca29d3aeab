package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// plainRow is a row by the formulas as they are written, without sharing anything.
func plainRow(chains [][]float64) Row {
	var pooled []float64
	for _, c := range chains {
		pooled = append(pooled, c...)
	}
	sorted := slices.Sorted(slices.Values(pooled))
	median := quantileSorted(sorted, 0.5)
	mapped := func(f func(float64) float64) [][]float64 {
		var out [][]float64
		for _, c := range chains {
			half := len(c) / 2
			for _, part := range [][]float64{c[:half], c[len(c)-half:]} {
				x := make([]float64, half)
				for i, v := range part {
					x[i] = f(v)
				}
				out = append(out, x)
			}
		}
		return out
	}
	itself := func(v float64) float64 { return v }
	row := Row{Mean: mean(pooled), SD: math.Sqrt(variance(pooled)), Q5: quantileSorted(sorted, 0.05), Q50: median, Q95: quantileSorted(sorted, 0.95)}
	row.MCSEMean = row.SD / math.Sqrt(plainESS(mapped(func(v float64) float64 { return v - median })))
	row.ESSBulk = plainESS(plainScores(mapped(itself)))
	tail := func(q float64) float64 {
		return plainESS(mapped(func(v float64) float64 {
			if v <= q {
				return 1
			}
			return 0
		}))
	}
	row.ESSTail = min(tail(row.Q5), tail(row.Q95))
	row.Rhat = plainRhat(plainScores(mapped(itself)))
	if folded := plainRhat(plainScores(mapped(func(v float64) float64 { return math.Abs(v - median) }))); folded > row.Rhat || math.IsNaN(row.Rhat) {
		row.Rhat = folded
	}
	return row
}

func plainScores(parts [][]float64) [][]float64 {
	type at struct {
		value      float64
		part, draw int
	}
	var all []at
	out := make([][]float64, len(parts))
	for p, x := range parts {
		out[p] = make([]float64, len(x))
		for i, v := range x {
			all = append(all, at{v, p, i})
		}
	}
	slices.SortFunc(all, func(a, b at) int { return cmp.Compare(a.value, b.value) })
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].value == all[i].value {
			j++
		}
		rank := float64(i+1+j) / 2
		for _, a := range all[i:j] {
			out[a.part][a.draw] = mathext.NormalQuantile((rank - 0.375) / (float64(len(all)) + 0.25))
		}
		i = j
	}
	return out
}

func plainRhat(parts [][]float64) float64 {
	n, within := float64(len(parts[0])), 0.0
	var means []float64
	for _, x := range parts {
		means = append(means, mean(x))
		within += variance(x) / float64(len(parts))
	}
	return math.Sqrt((n*variance(means)/within + n - 1) / n)
}

func plainESS(parts [][]float64) float64 {
	if constant(slices.Concat(parts...)) {
		return math.NaN()
	}
	n := len(parts[0])
	var means []float64
	for _, x := range parts {
		means = append(means, mean(x))
	}
	covariance := func(lag int) float64 {
		sum := 0.0
		for p, x := range parts {
			for i := range n - lag {
				sum += (x[i] - means[p]) * (x[i+lag] - means[p])
			}
		}
		return sum / float64(n*len(parts))
	}
	within := covariance(0) * float64(n) / float64(n-1)
	pooled := covariance(0) + variance(means)
	tau := integratedTime(func(lag int) float64 { return 1 - (within-covariance(lag))/pooled }, n)
	size := float64(n * len(parts))
	return size / max(tau, 1/math.Log10(size))
}

// TestAgainstFormulas compares the fast algorithms with the formulas: one radix sort, merged
// distances, counted bits and Fourier transforms.
func TestAgainstFormulas(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	transforms := map[string]func(z float64) float64{
		"normal":     func(z float64) float64 { return z },
		"offset":     func(z float64) float64 { return 1000 + z },
		"heavy":      func(z float64) float64 { return math.Sinh(9 * z) }, // most in one part of the range
		"skewed":     math.Exp,
		"ties":       math.Floor,
		"many ties":  func(z float64) float64 { return math.Round(100 * z) },
		"two zeros":  func(z float64) float64 { return math.Copysign(max(0, math.Abs(z)-0.5), z) },
		"far apart":  func(z float64) float64 { return z * 2e307 },
		"very small": func(z float64) float64 { return z * 1e-300 },
	}
	for _, name := range slices.Sorted(maps.Keys(transforms)) {
		f := transforms[name]
		for _, shape := range [][2]int{{4, 1000}, {1, 999}, {3, 601}, {2, 40}, {2, 61}} {
			for _, phi := range []float64{0, 0.9, 0.999, -0.6} {
				chains := make([][]float64, shape[0])
				for c := range chains {
					z := rng.NormFloat64()
					for range shape[1] {
						z = phi*z + math.Sqrt(1-phi*phi)*rng.NormFloat64()
						chains[c] = append(chains[c], f(z))
					}
				}
				t.Run(fmt.Sprint(name, shape, phi), func(t *testing.T) {
					got, want := summarizeOne(chains), plainRow(chains)
					for _, x := range []struct {
						name      string
						got, want float64
					}{
						{"mean", got.Mean, want.Mean}, {"mcse_mean", got.MCSEMean, want.MCSEMean}, {"sd", got.SD, want.SD},
						{"q5", got.Q5, want.Q5}, {"q50", got.Q50, want.Q50}, {"q95", got.Q95, want.Q95},
						{"ess_bulk", got.ESSBulk, want.ESSBulk}, {"ess_tail", got.ESSTail, want.ESSTail}, {"rhat", got.Rhat, want.Rhat},
					} {
						if math.IsInf(x.want, 0) || math.IsNaN(x.want) && (math.IsNaN(x.got) || name == "far apart") {
							continue // also where the plain sums overflow
						}
						// The rounding error of a sum is relative to its terms.
						if !(math.Abs(x.got-x.want) <= 1e-12*(math.Abs(x.want)+1e-2*(math.Abs(want.Mean)+want.SD))) {
							t.Errorf("%s: %v, by the formulas %v", x.name, x.got, x.want)
						}
					}
				})
			}
		}
	}
}

// TestSummarizer checks that parts of a summary equal those of the whole, also if the summarizer
// was used for other runs before.
func TestSummarizer(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	run := func(chains, length int) Draws {
		x := make([][][]float64, chains)
		for c := range x {
			for range length {
				x[c] = append(x[c], []float64{rng.NormFloat64(), rng.ExpFloat64(), math.Floor(4 * rng.Float64())})
			}
		}
		return Slices([]string{"a", "b", "c"}, x)
	}
	s := &Summarizer{}
	for _, d := range []Draws{run(4, 600), run(2, 101), run(4, 600)} {
		all := Summarize(d)
		for _, measures := range []Measures{AllMeasures, MeasureRhat, MeasureESSTail, MeasuresOf([]string{"mean", "mcse_mean", "q5"})} {
			rows := s.Rows(d, []int{2, 0}, measures)
			for i, full := range []Row{all[2], all[0]} {
				nan := math.NaN()
				want := full
				if measures&MeasureMCSE == 0 {
					want.MCSEMean = nan
				}
				if measures&MeasureQuantiles == 0 {
					want.Q5, want.Q50, want.Q95 = nan, nan, nan
				}
				if measures&MeasureESSBulk == 0 {
					want.ESSBulk = nan
				}
				if measures&MeasureESSTail == 0 {
					want.ESSTail = nan
				}
				if measures&MeasureRhat == 0 {
					want.Rhat = nan
				}
				if got, want := fmt.Sprintf("%x", rows[i]), fmt.Sprintf("%x", want); got != want {
					t.Errorf("measures %b: %s, in the whole summary %s", measures, got, want)
				}
			}
		}
	}
}

// TestSummarizerShared checks that a summarizer used by several goroutines, for runs of several
// shapes, gives the same results as separate summarizers.
func TestSummarizerShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var runs []Draws
	var want []string
	for i := range 7 {
		x := make([][][]float64, 2)
		for c := range x {
			for range 60 + 45*i {
				x[c] = append(x[c], []float64{rng.NormFloat64(), rng.ExpFloat64()})
			}
		}
		runs = append(runs, Slices([]string{"a", "b"}, x))
		want = append(want, fmt.Sprint(Summarize(runs[i])))
	}
	s := &Summarizer{Parallel: 2}
	var running sync.WaitGroup
	for g := range 6 {
		running.Go(func() {
			for k := range 60 {
				i := (g*k + k/3) % len(runs)
				if got := fmt.Sprint(s.Rows(runs[i], nil, AllMeasures)); got != want[i] {
					t.Errorf("run %d: %s, alone %s", i, got, want[i])
				}
			}
		})
	}
	running.Wait()
	if len(s.shapes) > keptShapes {
		t.Errorf("%d shapes are kept", len(s.shapes))
	}
}

// TestMeanRank checks that the mean rank of some draws, counted in two ways, equals that by
// sorting.
func TestMeanRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, k := range []int{1, 3, 8, 9, 40} {
		values := make([]float64, 300)
		for i := range values {
			values[i] = math.Floor(30 * rng.NormFloat64())
		}
		marks := slices.Clone(values[:k])
		sorted := slices.Sorted(slices.Values(values))
		want := 0.0
		for _, m := range marks {
			low, _ := slices.BinarySearch(sorted, m)
			high, _ := slices.BinarySearch(sorted, math.Nextafter(m, math.Inf(1)))
			want += 0.5 * float64(low+high) / float64(len(values)) / float64(k)
		}
		if got := meanRank(marks, values); math.Abs(got-want) > 1e-14 {
			t.Errorf("%d marks: %v, by sorting %v", k, got, want)
		}
	}
}
