package stdlibtest

import (
	"math"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestUnreachableStates has chains that stay in the first state for ever, while the observations
// favour states that cannot be reached. The log likelihood is then that of the first state, and its
// derivatives are 1 and 0. A derivative with respect to a probability that is 0 is the sum, over
// times, of the relative likelihoods of paths that go that way then. They grow with the number of
// observations, up to the largest numbers.
func TestUnreachableStates(t *testing.T) {
	for k := 1; k <= 6; k++ {
		for _, times := range []int{1, 2, 6, 96, 97, 101, 300} { // on both sides of minSegments·minSegment
			for i, far := range []float64{0, 1, 5, 22, 60} {
				unreachable(t, k, times, far, []float64{1, -2}[(k+times+i)%2])
			}
		}
	}
}

func unreachable(t *testing.T, k, times int, far, weight float64) {
	const large = 1e298 // larger derivatives must only be finite
	logs, gamma, rho := make([]float64, k*times), make([]float64, k*k), make([]float64, k)
	rho[0], gamma[0] = 1, 1
	for i := 1; i < k; i++ {
		gamma[i*k+i-1], gamma[i*k+i] = 0.5, 0.5
	}
	for i := range logs {
		if logs[i] = math.Sin(float64(3 * i)); i/times == k-1 {
			logs[i] += far
		}
	}
	want := make([]float64, 1+k*times+k*k+k)
	at := func(i, time int) float64 { return logs[i*times+time] }
	for time := range times {
		want[0] += weight * at(0, time)
		want[1+time] = weight
	}
	trans, start := want[1+k*times:], want[1+k*times+k*k:]
	after := make([]float64, k) // logarithms of what follows, relative to the first state
	for time := times - 1; time >= 0; time-- {
		shares := make([]float64, k)
		for j := range k {
			shares[j] = at(j, time) + after[j] - at(0, time) - after[0]
		}
		if time == 0 {
			for j := range k {
				start[j] = weight * math.Exp(shares[j])
			}
			break
		}
		for j := range k {
			trans[j] += weight * math.Exp(shares[j])
		}
		for i := range k {
			after[i] = logOfSum(gamma[i*k:(i+1)*k], shares)
		}
	}
	g := ad.NewGraph()
	args := []Value{{Type: tMat, Shape: []int{k, times}, Data: logs}, {Type: tMat, Shape: []int{k, k}, Data: gamma}, {Type: tVec, Shape: []int{k}, Data: rho}}
	var refs []ad.Ref
	var inputs [][]float64
	for _, v := range args {
		refs, inputs = append(refs, g.Input(v.adType())), append(inputs, v.Data)
	}
	out := g.Scale(weight, Apply(g, find("hmm_marginal"), false, args, refs))
	g.Output(out)
	for _, r := range g.Grad(out, refs...) {
		g.Output(r)
	}
	res, err := g.Eval(inputs, &ad.Env{})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, part := range res {
		for _, got := range part {
			ok := near(got, want[i], 1e-12*float64(10+times))
			if math.Abs(want[i]) > large {
				ok = got*weight > large && !math.IsInf(got, 0)
			}
			if !ok {
				t.Fatalf("%d states, %d times, %v nats, weight %v: number %d is %v, want %v", k, times, far, weight, i, got, want[i])
			}
			i++
		}
	}
}

// logOfSum returns the logarithm of a sum of products of weights and numbers given by logarithms.
func logOfSum(weights, logs []float64) float64 {
	most, sum := math.Inf(-1), 0.0
	for i, w := range weights {
		if w > 0 {
			most = max(most, logs[i])
		}
	}
	for i, w := range weights {
		if w > 0 {
			sum += w * math.Exp(logs[i]-most)
		}
	}
	return most + math.Log(sum)
}
