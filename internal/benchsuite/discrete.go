package benchsuite

import "math"

// This file: models of binary data and of counts.

type logisticData struct {
	N int         `json:"N"`
	D int         `json:"D"`
	X [][]float64 `json:"X"`
	Y []int       `json:"y"`
}

func logistic(n, D int) (any, Gradient) {
	rng := generator(2)
	d := logisticData{N: n, D: D, X: design(rng, n, D), Y: make([]int, n)}
	coef := normals(rng, D)
	y := make([]float64, n)
	for i := range y {
		if rng.Float64() < sigmoid(0.3+0.4*dot(d.X[i], coef)) {
			d.Y[i], y[i] = 1, 1
		}
	}
	X := flat(d.X)
	return d, func(x, grad []float64) float64 {
		alpha, beta, dbeta := x[0], x[1:1+D], grad[1:1+D]
		lp, dalpha := -alpha*alpha/12.5, -alpha/6.25
		for j, b := range beta {
			lp -= b * b / 4.5
			dbeta[j] = -b / 2.25
		}
		logs := newLogProduct()
		for i := 0; i < n; i += 4 {
			r0, r1, r2, r3 := rows4(X, i, D)
			m0, m1, m2, m3 := dot4(r0, r1, r2, r3, beta)
			yi := y[i : i+4 : i+4]
			l0, f0, d0 := bernoulliLogit(yi[0], alpha+m0)
			l1, f1, d1 := bernoulliLogit(yi[1], alpha+m1)
			l2, f2, d2 := bernoulliLogit(yi[2], alpha+m2)
			l3, f3, d3 := bernoulliLogit(yi[3], alpha+m3)
			lp += (l0 + l1) + (l2 + l3)
			logs.times(f0)
			logs.times(f1)
			logs.times(f2)
			logs.times(f3)
			dalpha += (d0 + d1) + (d2 + d3)
			add4(dbeta, r0, r1, r2, r3, d0, d1, d2, d3)
		}
		grad[0] = dalpha
		return lp - logs.total()
	}
}

type responseData struct {
	I int     `json:"I"`
	J int     `json:"J"`
	Y [][]int `json:"y"`
}

func itemResponse(I, J int) (any, Gradient) {
	rng := generator(5)
	d := responseData{I: I, J: J}
	difficulty := normals(rng, J)
	y := make([]float64, 0, I*J)
	for range I {
		ability := rng.NormFloat64()
		row := make([]int, J)
		for j := range row {
			if rng.Float64() < sigmoid(1.2*(ability-difficulty[j])) {
				row[j] = 1
			}
			y = append(y, float64(row[j]))
		}
		d.Y = append(d.Y, row)
	}
	a := make([]float64, J)
	return d, func(x, grad []float64) float64 {
		theta, logA, b := x[:I], x[I:I+J], x[I+J:I+2*J]
		dtheta, da, db := grad[:I], grad[I:I+J], grad[I+J:I+2*J]
		rest, drest := x[I+2*J:I+2*J+3], grad[I+2*J:I+2*J+3]
		muB, sigmaA, sigmaB := rest[0], math.Exp(rest[1]), math.Exp(rest[2])
		lp := -muB*muB/8 - sigmaA*sigmaA/2 - sigmaB*sigmaB/8 + rest[1] + rest[2]
		// log a ~ normal(0, sigma_a): its density over a has the factor 1/a, which the Jacobian of
		// a = exp(·) cancels; Stan keeps its constant.
		invA2, invB2 := 1/(sigmaA*sigmaA), 1/(sigmaB*sigmaB)
		sa, sb, dmu := 0.0, 0.0, 0.0
		for j, v := range logA {
			sa += v * v
			da[j] = 0
			a[j] = math.Exp(v)
			z := b[j] - muB
			sb += z * z
			dmu += z
			db[j] = 0
		}
		sa *= invA2
		sb *= invB2
		lp -= 0.5*(sa+sb) + float64(J)*(rest[1]+rest[2]+halfLog2Pi)
		drest[0] = dmu*invB2 - muB/4
		drest[1] = sa - float64(J) - sigmaA*sigmaA + 1
		drest[2] = sb - float64(J) - sigmaB*sigmaB/4 + 1
		logs := newLogProduct()
		for i, t := range theta {
			row := y[i*J : (i+1)*J]
			dt := -t
			for j, aj := range a {
				z := t - b[j]
				l, f, e := bernoulliLogit(row[j], aj*z)
				lp += l
				logs.times(f)
				da[j] += e * z
				e *= aj
				db[j] -= e
				dt += e
			}
			lp -= 0.5 * t * t
			dtheta[i] = dt
		}
		for j, v := range logA {
			da[j] = da[j]*a[j] - v*invA2
			db[j] -= (b[j] - muB) * invB2
		}
		return lp - logs.total()
	}
}

type countsData struct {
	N int         `json:"N"`
	D int         `json:"D"`
	J int         `json:"J"`
	X [][]float64 `json:"X"`
	G []int       `json:"g"`
	Y []int       `json:"y"`
}

func poissonGLMM(n, D, J int) (any, Gradient) {
	rng := generator(6)
	d := countsData{N: n, D: D, J: J, X: design(rng, n, D), G: groups(rng, n, J), Y: make([]int, n)}
	coef, effects := normals(rng, D), normals(rng, J)
	y, group := make([]float64, n), make([]int32, n)
	for i := range y {
		rate := math.Exp(1 + 0.3*dot(d.X[i], coef) + 0.4*effects[d.G[i]-1])
		// A Poisson draw: the number of exponential waiting times that fit.
		for t := rng.ExpFloat64(); t < rate; t += rng.ExpFloat64() {
			d.Y[i]++
		}
		y[i], group[i] = float64(d.Y[i]), int32(d.G[i]-1)
	}
	X := flat(d.X)
	return d, func(x, grad []float64) float64 {
		alpha, beta, tau, u := x[0], x[1:1+D], math.Exp(x[1+D]), x[2+D:2+D+J]
		dbeta, du := grad[1:1+D], grad[2+D:2+D+J]
		lp := -alpha*alpha/8 - tau*tau/2 + x[1+D]
		for j, b := range beta {
			lp -= b * b / 2
			dbeta[j] = -b
		}
		clear(du)
		dalpha := 0.0
		for i := 0; i < n; i += 4 {
			r0, r1, r2, r3 := rows4(X, i, D)
			e0, e1, e2, e3 := dot4(r0, r1, r2, r3, beta)
			yi, g := y[i:i+4:i+4], group[i:i+4:i+4]
			e0 += alpha + tau*u[g[0]]
			e1 += alpha + tau*u[g[1]]
			e2 += alpha + tau*u[g[2]]
			e3 += alpha + tau*u[g[3]]
			m0, m1, m2, m3 := math.Exp(e0), math.Exp(e1), math.Exp(e2), math.Exp(e3)
			lp += (yi[0]*e0 - m0 + yi[1]*e1 - m1) + (yi[2]*e2 - m2 + yi[3]*e3 - m3)
			m0, m1, m2, m3 = yi[0]-m0, yi[1]-m1, yi[2]-m2, yi[3]-m3
			dalpha += (m0 + m1) + (m2 + m3)
			du[g[0]] += m0
			du[g[1]] += m1
			du[g[2]] += m2
			du[g[3]] += m3
			add4(dbeta, r0, r1, r2, r3, m0, m1, m2, m3)
		}
		dtau := -tau
		for j, v := range u {
			lp -= v * v / 2
			dtau += du[j] * v
			du[j] = du[j]*tau - v
		}
		grad[0], grad[1+D] = dalpha-alpha/4, dtau*tau+1
		return lp
	}
}
