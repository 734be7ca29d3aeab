package stdlibtest

import (
	"math"
	"testing"
)

// TestMarginalSteps compares hmm_marginal, for 1 to 11 times, with the forward algorithm on
// logarithms: with whole groups of steps between two normalisations, and with steps that remain. In
// the second data set, observations favour states that are next to impossible, so that
// probabilities underflow within a group, though not within a step. The gradient with respect to
// the log likelihoods must add up to 1 at each time, since the chain is in one of the states.
func TestMarginalSteps(t *testing.T) {
	for times := 1; times <= 11; times++ {
		for _, far := range []float64{0, 40, 90, 400} {
			const k = 3
			rho, gamma := []float64{0.5, 0.3, 0.2}, []float64{0.7, 0.2, 0.1, 0.1, 0.6, 0.3, 0.25, 0.25, 0.5}
			if far > 0 { // state 3 changes to state 1 for ever, and all observations favour it
				rho, gamma = []float64{1, 0, 0}, []float64{1, 0, 0, 0.5, 0.5, 0, 0, 0.5, 0.5}
			}
			logs := make([]float64, k*times)
			for i := range logs {
				if logs[i] = math.Sin(float64(3 * i)); i/times == 2 {
					logs[i] += far
				}
			}
			state := make([]float64, k)
			for s := range state {
				state[s] = math.Log(rho[s]) + logs[s*times]
			}
			sum := func(v []float64) float64 {
				most, total := -math.MaxFloat64, 0.0
				for _, x := range v {
					most = max(most, x)
				}
				for _, x := range v {
					total += math.Exp(x - most)
				}
				return most + math.Log(total)
			}
			for at := 1; at < times; at++ {
				next := make([]float64, k)
				for to := range next {
					from := make([]float64, k)
					for s := range from {
						from[s] = state[s] + math.Log(gamma[s*k+to])
					}
					next[to] = sum(from) + logs[to*times+at]
				}
				state = next
			}
			want := sum(state)
			args := []Value{{Type: tMat, Shape: []int{k, times}, Data: logs}, {Type: tMat, Shape: []int{k, k}, Data: gamma}, {Type: tVec, Shape: []int{k}, Data: rho}}
			got, _, err := withGradient(find("hmm_marginal"), args)
			if err != nil || !near(got[0], want, 1e-13*float64(times)) {
				t.Errorf("%d times, %v: %v (%v), want %v", times, far, got, err, want)
				continue
			}
			for at := range times {
				if share := got[1+at] + got[1+times+at] + got[1+2*times+at]; !near(share, 1, 1e-12) {
					t.Errorf("%d times, %v: the shares of the states at time %d add up to %v", times, far, at+1, share)
				}
			}
		}
	}
}
