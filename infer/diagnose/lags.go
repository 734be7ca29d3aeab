package diagnose

import (
	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// directLags is the number of autocovariances that are computed as sums of products. Further lags
// are computed by Fourier transform. Chains that mix well need a dozen lags, which takes a fifth of
// the time of the transforms.
const directLags = 24

// autocovariances computes, on demand, the mean autocovariance of several sequences of the same
// length n. It owns its buffers, so each goroutine needs its own.
type autocovariances struct {
	n       int
	centred []float64 // the sequences one after another, each minus its mean
	means   []float64 // of the sequences
	direct  [directLags]float64
	known   int       // number of computed elements of direct
	lagged  []float64 // all lags, once the transform has run
	done    bool      // the transform has run

	plan   *fourier.FFT // made when first needed
	padded []float64    // one centred sequence and at least n zeros
	power  []float64    // sum of the periodograms, by frequency
	coef   []complex128 // workspace
}

func newAutocovariances(n int) *autocovariances { return &autocovariances{n: n} }

// reset sets the sequences to copies of x[0:n], x[n:2n], ….
func (a *autocovariances) reset(x []float64) {
	a.centred, a.means = append(a.centred[:0], x...), a.means[:0]
	for start := 0; start+a.n <= len(x); start += a.n {
		sequence := a.centred[start : start+a.n]
		centre, ok := centreAt(sequence)
		if !ok {
			copy(sequence, x[start:])
			centre = mean(sequence)
			for i := range sequence {
				sequence[i] -= centre
			}
		}
		a.means = append(a.means, centre)
	}
	a.known, a.done = 0, false
}

// at returns the autocovariance at a lag from 0 to n-1, averaged over the sequences. It is
// "biased": divided by n at every lag.
func (a *autocovariances) at(lag int) float64 {
	if lag >= directLags {
		if !a.done {
			a.transform()
			a.done = true
		}
		return a.lagged[lag]
	}
	for ; a.known <= lag; a.known++ {
		sum := 0.0
		for start := 0; start < len(a.centred); start += a.n {
			sequence := a.centred[start : start+a.n]
			sum += floats.Dot(sequence[:a.n-a.known], sequence[a.known:])
		}
		a.direct[a.known] = sum / float64(len(a.centred))
	}
	return a.direct[lag]
}

// transform computes all lags by the fast Fourier transform, O(n log n). Since the transform is
// linear, it adds the periodograms of the sequences and transforms back once.
func (a *autocovariances) transform() {
	if a.plan == nil {
		size := transformSize(2 * a.n)
		a.plan = fourier.NewFFT(size)
		a.padded = make([]float64, size)
		a.lagged = make([]float64, size)
		a.power = make([]float64, size/2+1)
		a.coef = make([]complex128, size/2+1)
	}
	clear(a.power)
	for start := 0; start < len(a.centred); start += a.n {
		copy(a.padded, a.centred[start:start+a.n])
		clear(a.padded[a.n:])
		a.coef = a.plan.Coefficients(a.coef, a.padded)
		for k, c := range a.coef {
			a.power[k] += real(c)*real(c) + imag(c)*imag(c)
		}
	}
	for k, p := range a.power {
		a.coef[k] = complex(p, 0)
	}
	a.lagged = a.plan.Sequence(a.lagged, a.coef)
	scale := 1 / (float64(len(a.padded)) * float64(len(a.centred)))
	for lag := range a.n {
		a.lagged[lag] *= scale
	}
}

// transformSize is the smallest number ≥ n of the form 2^k or 3·2^k. gonum's transform is fast at
// these sizes, but not with a factor 5.
func transformSize(n int) int {
	size := 2
	for size < n {
		size *= 2
	}
	if size/4*3 >= n {
		return size / 4 * 3
	}
	return size
}
