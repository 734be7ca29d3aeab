package tempered_test

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
)

// modes is a mixture of normal distributions with independent coordinates, times a constant. The
// shares of the modes and the normalising constant are known exactly.
type modes struct {
	shares []float64   // add up to 1
	means  [][]float64 // by mode
	sds    []float64   // standard deviation of each mode, the same for all coordinates
	logZ   float64
}

func (m *modes) Dim() int                       { return len(m.means[0]) }
func (m *modes) CloneDensity() infer.LogDensity { return m }

func (m *modes) logs(x []float64) []float64 {
	out := make([]float64, len(m.shares))
	for k, share := range m.shares {
		out[k] = math.Log(share)
		for i, v := range x {
			z := (v - m.means[k][i]) / m.sds[k]
			out[k] -= 0.5*z*z + math.Log(m.sds[k]) + 0.5*math.Log(2*math.Pi)
		}
	}
	return out
}

func (m *modes) LogDensityGrad(x, grad []float64) (float64, error) {
	logs := m.logs(x)
	most := math.Inf(-1)
	for _, v := range logs {
		most = max(most, v)
	}
	sum := 0.0
	for i := range grad {
		grad[i] = 0
	}
	for k, v := range logs {
		w := math.Exp(v - most)
		sum += w
		for i := range grad {
			grad[i] -= w * (x[i] - m.means[k][i]) / (m.sds[k] * m.sds[k])
		}
	}
	for i := range grad {
		grad[i] /= sum
	}
	return m.logZ + most + math.Log(sum), nil
}

// of returns the mode that x is most likely from.
func (m *modes) of(x []float64) int {
	best := 0
	logs := m.logs(x)
	for k, v := range logs {
		if v > logs[best] {
			best = k
		}
	}
	return best
}

// scattered draws a number of modes in a dimension: their means are within radius, and their shares
// and scales differ.
func scattered(rng *rand.Rand, count, dim int, radius float64) *modes {
	m := &modes{logZ: 10 * rng.NormFloat64()}
	total := 0.0
	for range count {
		mean := make([]float64, dim)
		for i := range mean {
			mean[i] = radius * (2*rng.Float64() - 1)
		}
		share := 0.3 + rng.Float64()
		total += share
		m.means, m.shares, m.sds = append(m.means, mean), append(m.shares, share), append(m.sds, 0.5+rng.Float64())
	}
	for k := range m.shares {
		m.shares[k] /= total
	}
	return m
}

// plain returns the Hamiltonian that a run needs in addition to the ladder.
func plain(target infer.LogDensity) (infer.Hamiltonian, error) {
	return hmc.NewEuclidean(target, infer.Metric{Kind: infer.Diagonal})
}
