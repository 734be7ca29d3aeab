package stdlibtest

import (
	"math"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestMarginalSteps compares hmm_marginal with the forward algorithm on logarithms: for 1 to 11
// times, with whole groups of steps between two normalisations and with steps that remain, and for
// so many times that chains of up to six states are cut into segments. If far is not 0, some
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
	for k := 2; k <= 7; k++ {
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

// chainAt returns the arguments of hmm_marginal for a chain whose transitions and observations
// differ.
func chainAt(k, times int, phase float64) []Value {
	logs, gamma, rho := make([]float64, k*times), make([]float64, k*k), make([]float64, k)
	for i := range logs {
		logs[i] = 2 * math.Sin(phase+float64(3*i))
	}
	for i := range k {
		total, first := 0.0, 0.0
		for j := range k {
			gamma[i*k+j] = 1 + math.Sin(phase+float64(2*i+5*j))
			total += gamma[i*k+j]
			first += float64(j + 1)
		}
		for j := range k {
			gamma[i*k+j] /= total
		}
		rho[i] = float64(i+1) / first
	}
	return []Value{{Type: tMat, Shape: []int{k, times}, Data: logs}, {Type: tMat, Shape: []int{k, k}, Data: gamma}, {Type: tVec, Shape: []int{k}, Data: rho}}
}

// TestMarginalSecond compares second derivatives of hmm_marginal along a direction with differences
// of the gradient, for chains that are cut into segments and for shorter ones. The direction does
// not change the sums of probabilities.
func TestMarginalSecond(t *testing.T) {
	for k := 2; k <= 6; k++ {
		for _, times := range []int{2, 7, 97, 103} {
			args := chainAt(k, times, 0.3)
			g := ad.NewGraph()
			var refs, directions []ad.Ref
			var point, moved [][]float64
			for a, v := range args {
				d := make([]float64, len(v.Data))
				for i := range d {
					d[i] = math.Sin(float64(7 * i))
				}
				if a > 0 { // rows of probabilities
					for row := 0; row < len(d); row += k {
						mean := 0.0
						for _, x := range d[row : row+k] {
							mean += x / float64(k)
						}
						for i := range k {
							d[row+i] = 0.01 * (d[row+i] - mean)
						}
					}
				}
				refs, directions = append(refs, g.Input(v.adType())), append(directions, g.ConstArray(v.adType(), d))
				point, moved = append(point, v.Data), append(moved, d)
			}
			out := Apply(g, find("hmm_marginal"), false, args, refs)
			for _, r := range append(g.Grad(out, refs...), g.HVP(out, refs, directions)...) {
				g.Output(r)
			}
			at := func(step float64) [][]float64 {
				in := make([][]float64, len(point))
				for i, x := range point {
					for j := range x {
						in[i] = append(in[i], x[j]+step*moved[i][j])
					}
				}
				res, err := g.Eval(in, &ad.Env{})
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			const step = 1e-5
			got, above, below := at(0), at(step), at(-step)
			for i := range refs {
				for j, x := range got[len(refs)+i] {
					if want := (above[i][j] - below[i][j]) / (2 * step); !near(x, want, 1e-6*max(1, math.Abs(want))) {
						t.Fatalf("%d states, %d times: second derivative %d by argument %d is %v, want %v", k, times, j, i+1, x, want)
					}
				}
			}
		}
	}
}

// TestMarginalLanes compares chains in lanes, with their gradients, with the same chains alone.
func TestMarginalLanes(t *testing.T) {
	for k := 1; k <= 7; k++ {
		for _, lanes := range []int{7, 8, 9} { // on both sides of minLanes
			for _, times := range []int{1, 2, 9, 120} {
				all := chainAt(k, times, 0)
				for i := range all {
					all[i].Lanes, all[i].Data = lanes, nil
				}
				var want [][]float64
				for l := range lanes {
					alone := chainAt(k, times, float64(l))
					for i := range all {
						all[i].Data = append(all[i].Data, alone[i].Data...)
					}
					numbers, _, err := withGradient(find("hmm_marginal"), alone)
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, numbers)
				}
				g := ad.NewGraph()
				var refs, inputs []ad.Ref
				var data [][]float64
				for _, v := range all {
					in := g.Input(ad.Type{Shape: append([]int{lanes}, v.Shape...)})
					refs, inputs, data = append(refs, g.Lane(in)), append(inputs, in), append(data, v.Data)
				}
				out := Apply(g, find("hmm_marginal"), false, all, refs)
				g.Output(g.Unlane(out))
				for _, r := range g.Grad(g.SumLanes(out), inputs...) {
					g.Output(r)
				}
				res, err := g.Eval(data, &ad.Env{})
				if err != nil {
					t.Fatal(err)
				}
				for l, numbers := range want {
					at := 0
					for _, r := range res {
						size := len(r) / lanes
						for i, x := range r[l*size : (l+1)*size] {
							if !near(x, numbers[at], 1e-11*max(1, math.Abs(numbers[at]))) {
								t.Fatalf("%d states, %d times, lane %d of %d: number %d is %v, want %v", k, times, l, lanes, i, x, numbers[at])
							}
							at++
						}
					}
				}
			}
		}
	}
}
