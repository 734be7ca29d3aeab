package benchsuite

import "math"

// This file: models whose discrete states are summed out.

type mixtureData struct {
	K int       `json:"K"`
	N int       `json:"N"`
	Y []float64 `json:"y"`
}

func mixture(n, K int) (any, Gradient) {
	rng := generator(9)
	d := mixtureData{K: K, N: n, Y: normals(rng, n)}
	for i := range d.Y {
		d.Y[i] = 3*float64(rng.IntN(K)) - 4 + 0.8*d.Y[i]
	}
	y, to := d.Y, newSimplex(K)
	logTheta, mu, inv, c := make([]float64, K), make([]float64, K), make([]float64, K), make([]float64, K)
	s0, s1, s2 := make([]float64, K), make([]float64, K), make([]float64, K)
	z, w := make([]float64, K), make([]float64, K)
	return d, func(x, grad []float64) float64 {
		logSigma := x[2*K-1 : 3*K-1]
		lp := to.logs(x[:K-1], logTheta) + ordered(x[K-1:2*K-1], mu)
		for k, u := range logSigma {
			// sigma ~ lognormal(0, 1) is normal for its logarithm; Stan keeps the
			// constant of this density.
			lp -= mu[k]*mu[k]/50 + 0.5*u*u + halfLog2Pi
			inv[k] = math.Exp(-u)
			c[k] = logTheta[k] - u - halfLog2Pi
			s0[k], s1[k], s2[k] = 0, 0, 0
		}
		// Fix the slices' lengths once, to eliminate bounds checks in the loops.
		mu, inv, c, z, w, s0, s1, s2 := mu[:K], inv[:K], c[:K], z[:K], w[:K], s0[:K], s1[:K], s2[:K]
		product := newLogProduct()
		for _, v := range y {
			top := math.Inf(-1)
			for k := range w {
				z[k] = (v - mu[k]) * inv[k]
				w[k] = c[k] - 0.5*z[k]*z[k]
				top = max(top, w[k])
			}
			sum := 0.0
			for k := range w {
				w[k] = math.Exp(w[k] - top)
				sum += w[k]
			}
			lp += top
			product.times(sum)
			over := 1 / sum
			for k := range w {
				p := w[k] * over
				s0[k] += p
				p *= z[k]
				s1[k] += p
				s2[k] += p * z[k]
			}
		}
		lp += product.total()
		dlog := w
		for k := range K {
			grad[2*K-1+k] = s2[k] - s0[k] - logSigma[k]
			z[k] = s1[k]*inv[k] - mu[k]/25
			dlog[k] = s0[k]
		}
		to.back(dlog, logTheta, grad[:K-1])
		orderedBack(z, mu, grad[K-1:2*K-1])
		return lp
	}
}

type hmmData struct {
	K int       `json:"K"`
	T int       `json:"T"`
	Y []float64 `json:"y"`
}

func hmm(T, K int) (any, Gradient) {
	rng := generator(10)
	d := hmmData{K: K, T: T, Y: make([]float64, T)}
	state := 0
	for t := range d.Y {
		if rng.Float64() > 0.9 {
			state = rng.IntN(K)
		}
		d.Y[t] = 2*float64(state) - 2 + 0.8*rng.NormFloat64()
	}
	y, to := d.Y, newSimplex(K)
	logA, dA := make([]float64, K*K), make([]float64, K*K) // [from, to]
	mu, dmu := make([]float64, K), make([]float64, K)
	alpha, next := make([]float64, K), make([]float64, K)
	z := make([]float64, T*K)
	weights := make([]float64, T*K*K) // [t, to, from]: of the terms of each sum
	return d, func(x, grad []float64) float64 {
		lp := 0.0
		for i := range K {
			lp += to.logs(x[i*(K-1):(i+1)*(K-1)], logA[i*K:(i+1)*K])
		}
		at := K * (K - 1)
		lp += ordered(x[at:at+K], mu)
		logSigma := x[at+K]
		sigma := math.Exp(logSigma)
		lp += logSigma - sigma*sigma/8
		inv := 1 / sigma
		constant := -logSigma - halfLog2Pi
		for j := range K {
			lp -= mu[j] * mu[j] / 50
			z[j] = (y[0] - mu[j]) * inv
			alpha[j] = constant - 0.5*z[j]*z[j] - math.Log(float64(K))
		}
		alpha, next := alpha[:K], next[:K]
		for t := 1; t < T; t++ {
			zt := z[t*K : (t+1)*K]
			for j := range next {
				w := weights[(t*K+j)*K : (t*K+j+1)*K]
				top := math.Inf(-1)
				for i, a := range alpha {
					w[i] = a + logA[i*K+j]
					top = max(top, w[i])
				}
				sum := 0.0
				for i := range w {
					w[i] = math.Exp(w[i] - top)
					sum += w[i]
				}
				over := 1 / sum
				for i := range w {
					w[i] *= over
				}
				zt[j] = (y[t] - mu[j]) * inv
				next[j] = top + math.Log(sum) + constant - 0.5*zt[j]*zt[j]
			}
			alpha, next = next, alpha
		}
		top, sum := math.Inf(-1), 0.0
		for _, a := range alpha {
			top = max(top, a)
		}
		for j, a := range alpha {
			next[j] = math.Exp(a - top)
			sum += next[j]
		}
		lp += top + math.Log(sum)
		for j := range next {
			next[j] /= sum
		}
		// Backward pass: next holds the adjoints of alpha.
		adj, old := next, alpha
		clear(dA)
		clear(dmu)
		dsigma := 0.0
		for t := T - 1; t >= 0; t-- {
			zt := z[t*K : (t+1)*K]
			clear(old)
			for j, a := range adj {
				dmu[j] += a * zt[j]
				dsigma += a * zt[j] * zt[j]
				if t == 0 {
					continue
				}
				for i, w := range weights[(t*K+j)*K : (t*K+j+1)*K] {
					v := a * w
					dA[i*K+j] += v
					old[i] += v
				}
			}
			adj, old = old, adj
		}
		for j := range dmu {
			dmu[j] = dmu[j]*inv - mu[j]/25
		}
		for i := range K {
			to.back(dA[i*K:(i+1)*K], logA[i*K:(i+1)*K], grad[i*(K-1):(i+1)*(K-1)])
		}
		orderedBack(dmu, mu, grad[at:at+K])
		// The adjoints of a day's states sum to 1.
		grad[at+K] = dsigma - float64(T) + 1 - sigma*sigma/4
		return lp
	}
}
