package benchsuite

import "math"

// This file: regressions with normal errors, and the eight schools.

type schoolsData struct {
	J int       `json:"J"`
	Y []float64 `json:"y"`
	S []float64 `json:"s"`
}

func schools(J int) (any, Gradient) {
	rng := generator(1)
	d := schoolsData{J: J, S: make([]float64, J), Y: make([]float64, J)}
	inv := make([]float64, J)
	for j := range J {
		d.S[j] = 9 + 9*rng.Float64()
		d.Y[j] = 8 + 5*rng.NormFloat64() + d.S[j]*rng.NormFloat64()
		inv[j] = 1 / d.S[j]
	}
	y := d.Y
	return d, func(x, grad []float64) float64 {
		mu, tau := x[0], math.Exp(x[1])
		z, dz := x[2:], grad[2:]
		lp := (mu*mu+tau*tau)/-200 + x[1]
		dmu, dtau := -mu/100, -tau/100
		for j, yj := range y {
			r := (yj - mu - tau*z[j]) * inv[j]
			lp -= 0.5 * (z[j]*z[j] + r*r)
			r *= inv[j]
			dmu += r
			dtau += r * z[j]
			dz[j] = tau*r - z[j]
		}
		grad[0], grad[1] = dmu, dtau*tau+1
		return lp
	}
}

type hierarchicalData struct {
	N int       `json:"N"`
	J int       `json:"J"`
	G []int     `json:"g"`
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
}

func hierarchical(n, J int) (any, Gradient) {
	rng := generator(3)
	d := hierarchicalData{N: n, J: J, G: groups(rng, n, J), X: normals(rng, n), Y: normals(rng, n)}
	a := normals(rng, J)
	group := make([]int32, n)
	for i, g := range d.G {
		d.Y[i] = 1 + 0.5*a[g-1] - 0.7*d.X[i] + 0.8*d.Y[i]
		group[i] = int32(g - 1)
	}
	xs, y := d.X, d.Y
	return d, func(x, grad []float64) float64 {
		mu, tau := x[0], math.Exp(x[1])
		a, da := x[2:2+J], grad[2:2+J]
		b, sigma := x[2+J], math.Exp(x[3+J])
		lp := -mu*mu/50 - tau*tau/8 - b*b/8 - sigma*sigma/8 + x[1] + x[3+J]
		invTau := 1 / tau
		dmu, ss := 0.0, 0.0
		for j, v := range a {
			z := (v - mu) * invTau
			ss += z * z
			z *= invTau
			dmu += z
			da[j] = -z
		}
		lp -= 0.5*ss + float64(J)*x[1]
		grad[0], grad[1] = dmu-mu/25, ss-float64(J)-tau*tau/4+1
		inv2 := 1 / (sigma * sigma)
		rr, db := 0.0, 0.0
		for i, g := range group {
			r := y[i] - a[g] - b*xs[i]
			rr += r * r
			da[g] += r * inv2
			db += r * xs[i]
		}
		rr *= inv2
		lp -= 0.5*rr + float64(n)*x[3+J]
		grad[2+J], grad[3+J] = db*inv2-b/4, rr-float64(n)-sigma*sigma/4+1
		return lp
	}
}

type regressionData struct {
	N int         `json:"N"`
	D int         `json:"D"`
	X [][]float64 `json:"X"`
	Y []float64   `json:"y"`
}

func regression(n, D int) (any, Gradient) {
	rng := generator(4)
	d := regressionData{N: n, D: D, X: design(rng, n, D), Y: normals(rng, n)}
	coef := normals(rng, D)
	for i := range d.Y {
		d.Y[i] = 0.5 + dot(d.X[i], coef) + 1.2*d.Y[i]
	}
	X, y := flat(d.X), d.Y
	return d, func(x, grad []float64) float64 {
		alpha, beta, sigma := x[0], x[1:1+D], math.Exp(x[1+D])
		dbeta := grad[1 : 1+D]
		clear(dbeta)
		ss, dalpha := 0.0, 0.0
		for i := 0; i < n; i += 4 {
			r0, r1, r2, r3 := rows4(X, i, D)
			m0, m1, m2, m3 := dot4(r0, r1, r2, r3, beta)
			yi := y[i : i+4 : i+4]
			m0, m1, m2, m3 = yi[0]-alpha-m0, yi[1]-alpha-m1, yi[2]-alpha-m2, yi[3]-alpha-m3
			ss += (m0*m0 + m1*m1) + (m2*m2 + m3*m3)
			dalpha += (m0 + m1) + (m2 + m3)
			add4(dbeta, r0, r1, r2, r3, m0, m1, m2, m3)
		}
		inv2 := 1 / (sigma * sigma)
		ss *= inv2
		lp := -0.5*ss - float64(n)*x[1+D] - alpha*alpha/50 - sigma + x[1+D]
		grad[0], grad[1+D] = dalpha*inv2-alpha/25, ss-float64(n)-sigma+1
		for j, b := range beta {
			lp -= b * b / 8
			dbeta[j] = dbeta[j]*inv2 - b/4
		}
		return lp
	}
}
