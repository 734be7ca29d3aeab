package stdlibtest

import (
	"math"
	"testing"
)

// TestMarginalSteps compares hmm_marginal with the forward algorithm on logarithms: for 1 to 11
// times, with whole groups of steps between two normalisations and with steps that remain, and for
// so many times that chains of two or three states are cut into segments. If far is not 0, some
// observations favour states that are next to impossible, so that probabilities underflow within a
// group, though not within a step. The gradient with respect to the log likelihoods must add up to
// 1 at each time, since the chain is in one of the states. That with respect to the transitions is
// compared with differences.
func TestMarginalSteps(t *testing.T) {
	for times := 1; times <= 11; times++ {
		for _, far := range []float64{0, 40, 90, 400} {
			marginalSteps(t, 3, times, far)
		}
	}
	for _, k := range []int{2, 3, 4} {
		for _, times := range []int{96, 97, 98, 105, 110, 131} { // on both sides of the least number
			for _, far := range []float64{0, 1, 20, 40} {
				marginalSteps(t, k, times, far)
			}
		}
	}
}

func marginalSteps(t *testing.T, k, times int, far float64) {
	rho, gamma := make([]float64, k), make([]float64, k*k)
	for i := range k {
		rho[i] = 1 / float64(k)
		total := 0.0
		for j := range k {
			gamma[i*k+j] = float64(1 + (3*i+5*j)%7)
			total += gamma[i*k+j]
		}
		for j := range k {
			gamma[i*k+j] /= total
		}
	}
	if far > 1 { // the last state changes to the first for ever, and all observations favour it
		clear(rho)
		clear(gamma)
		rho[0], gamma[0] = 1, 1
		for i := 1; i < k; i++ {
			gamma[i*k+i-1], gamma[i*k+i] = 0.5, 0.5
		}
	}
	logs := make([]float64, k*times)
	for i := range logs {
		// The derivatives of states that cannot be reached grow with each such observation.
		if logs[i] = math.Sin(float64(3 * i)); i/times == k-1 && (times < 12 || i%times/12 == 3) {
			logs[i] += far
		}
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
	forward := func() float64 {
		state := make([]float64, k)
		for s := range state {
			state[s] = math.Log(rho[s]) + logs[s*times]
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
		return sum(state)
	}
	want := forward()
	args := []Value{{Type: tMat, Shape: []int{k, times}, Data: logs}, {Type: tMat, Shape: []int{k, k}, Data: gamma}, {Type: tVec, Shape: []int{k}, Data: rho}}
	got, _, err := withGradient(find("hmm_marginal"), args)
	if err != nil || !near(got[0], want, 1e-13*float64(times)) {
		t.Errorf("%d states, %d times, %v: %v (%v), want %v", k, times, far, got, err, want)
		return
	}
	for at := range times {
		share := 0.0
		for s := range k {
			share += got[1+s*times+at]
		}
		if !near(share, 1, 1e-12*float64(1+times/20)) {
			t.Errorf("%d states, %d times, %v: the shares of the states at time %d add up to %v", k, times, far, at+1, share)
		}
	}
	for i, v := range gamma {
		if times < 12 || v == 0 {
			continue
		}
		const step = 1e-6
		gamma[i] = v + step
		difference := forward()
		gamma[i] = v - step
		difference = (difference - forward()) / (2 * step)
		gamma[i] = v
		if d := got[1+k*times+i]; !near(d, difference, 1e-6*max(1, math.Abs(difference))) {
			t.Errorf("%d states, %d times, %v: derivative by transition %d is %v, want %v", k, times, far, i, d, difference)
		}
	}
}
