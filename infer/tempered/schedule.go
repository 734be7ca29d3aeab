package tempered

import (
	"math"
)

// barrier returns the cumulative communication barrier Λ of a leg at each of its levels, from the
// rejection rates r_j between them: Λ(β_i) = Σ r_j over j < i (Syed and others 2022).
func barrier(rejections []float64) []float64 {
	out := []float64{0}
	for _, r := range rejections {
		out = append(out, out[len(out)-1]+r)
	}
	return out
}

// intervals returns the best number of intervals between levels for a barrier Λ: 2Λ (Syed and
// others 2022). Half of the swaps are then rejected, and round trips per replica are most frequent.
func intervals(barrier float64, most int) int {
	return min(max(int(math.Ceil(2*barrier)), 1), most)
}

// equalise returns n+1 values of β, from 0 to 1, that divide the barrier into equal parts. The
// barrier is interpolated linearly between the old values.
func equalise(betas, cumulative []float64, n int) []float64 {
	total := cumulative[len(cumulative)-1]
	out := make([]float64, n+1)
	out[n] = 1
	for i := 1; i < n; i++ {
		want := total * float64(i) / float64(n)
		out[i] = invert(betas, cumulative, want)
	}
	// If no swap was rejected, the barrier does not determine where the levels should be.
	for i := 1; i < n; i++ {
		if !(out[i] > out[i-1]) || !(out[i] < 1) {
			return spread(n, 1)
		}
	}
	return out
}

// invert returns the β at which the barrier has a given value.
func invert(betas, cumulative []float64, want float64) float64 {
	for j := 1; j < len(betas); j++ {
		if cumulative[j] >= want && cumulative[j] > cumulative[j-1] {
			share := (want - cumulative[j-1]) / (cumulative[j] - cumulative[j-1])
			return betas[j-1] + max(0, share)*(betas[j]-betas[j-1])
		}
	}
	return 1
}

// spread returns n+1 values of β from 0 to 1: (i/n)^power.
func spread(n int, power float64) []float64 {
	out := make([]float64, n+1)
	for i := range out {
		out[i] = math.Pow(float64(i)/float64(n), power)
	}
	return out
}
