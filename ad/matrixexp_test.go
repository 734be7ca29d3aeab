package ad

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// bigExp computes the exponential of an n×n matrix with 250 bits, by its series at A/2ᵏ, squared k
// times.
func bigExp(a []float64, n int) []float64 {
	const prec, halvings, terms = 250, 16, 24
	type matrix []*big.Float
	empty := func() matrix {
		m := make(matrix, n*n)
		for i := range m {
			m[i] = new(big.Float).SetPrec(prec)
		}
		return m
	}
	mul := func(a, b matrix) matrix {
		c, t := empty(), new(big.Float).SetPrec(prec)
		for i := range n {
			for k := range n {
				if a[i*n+k].Sign() == 0 {
					continue
				}
				for j := range n {
					c[i*n+j].Add(c[i*n+j], t.Mul(a[i*n+k], b[k*n+j]))
				}
			}
		}
		return c
	}
	x, sum, term := empty(), empty(), empty()
	for i := range a {
		x[i].SetMantExp(new(big.Float).SetPrec(prec).SetFloat64(a[i]), -halvings)
	}
	for i := range n {
		sum[i*n+i].SetInt64(1)
		term[i*n+i].SetInt64(1)
	}
	for k := 1; k < terms; k++ {
		term = mul(term, x)
		for i := range term {
			term[i].Quo(term[i], new(big.Float).SetPrec(prec).SetInt64(int64(k)))
			sum[i].Add(sum[i], term[i])
		}
	}
	for range halvings {
		sum = mul(sum, sum)
	}
	out := make([]float64, n*n)
	for i := range out {
		out[i], _ = sum[i].Float64()
	}
	return out
}

// TestMatrixExp compares exponentials and their derivatives with high precision. It covers every
// order of approximant, both sides of each bound between them, and both sides of the order from
// which BLAS multiplies.
func TestMatrixExp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	norms := []float64{1e-300, 1e-9, 3, 7, 20, 60}
	for _, p := range approximants {
		for _, m := range p.most {
			norms = append(norms, m*0.999, m*1.001)
		}
	}
	largest := func(a []float64) (m float64) {
		for _, v := range a {
			m = max(m, math.Abs(v))
		}
		return m
	}
	for _, n := range []int{0, 1, 2, 3, 5, fromBLAS - 1, fromBLAS} {
		for k, norm := range norms {
			if n >= fromBLAS-1 && k%short.Of(8, 24) != 0 {
				continue // an exponential with high precision takes long
			}
			a, e := make([]float64, n*n), make([]float64, n*n)
			most := 0.0
			for j := range n {
				s := 0.0
				for i := range n {
					a[i*n+j], e[i*n+j] = rng.NormFloat64(), 1e6*rng.NormFloat64()
					// Make every third matrix triangular, as in compartment models.
					if k%3 == 2 && i > j {
						a[i*n+j] = 0
					}
					s += math.Abs(a[i*n+j])
				}
				most = max(most, s)
			}
			block := make([]float64, 4*n*n)
			for i := range n {
				for j := range n {
					a[i*n+j] *= norm / most
					block[i*2*n+j], block[(n+i)*2*n+n+j], block[i*2*n+n+j] = a[i*n+j], a[i*n+j], e[i*n+j]
				}
			}
			want := bigExp(block, 2*n)
			value, derivative, exp := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
			for i := range n {
				copy(value[i*n:(i+1)*n], want[i*2*n:])
				copy(derivative[i*n:(i+1)*n], want[i*2*n+n:])
			}
			got := make([]float64, n*n)
			work := make([]float64, 2*matrixExpWork(n))
			matrixExp(exp, a, nil, nil, n, work)
			both := make([]float64, n*n)
			matrixExp(both, a, got, e, n, work)
			tol := 4e-15 * max(1, norm) * float64(max(n, 2))
			for i := range exp {
				if d := math.Abs(exp[i] - value[i]); !(d <= tol*largest(value)) {
					t.Errorf("order %d, norm %g: exponential %g, want %g", n, norm, exp[i], value[i])
				}
				if d := math.Abs(both[i] - value[i]); !(d <= tol*largest(value)) {
					t.Errorf("order %d, norm %g: exponential with derivative %g, want %g", n, norm, both[i], value[i])
				}
				if d := math.Abs(got[i] - derivative[i]); !(d <= tol*largest(derivative)) {
					t.Errorf("order %d, norm %g: derivative %g, want %g", n, norm, got[i], derivative[i])
				}
			}
		}
	}
	// NaN and infinities must not be lost.
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		a, dst := []float64{0, v, 0, 0}, make([]float64, 4)
		matrixExp(dst, a, nil, nil, 2, make([]float64, matrixExpWork(2)))
		if !math.IsNaN(dst[1]) && !math.IsInf(dst[1], 0) {
			t.Errorf("the exponential of a matrix with %g is %v", v, dst)
		}
	}
}
