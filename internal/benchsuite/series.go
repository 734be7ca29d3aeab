package benchsuite

import "math"

// This file: models of time series with real states.

type seriesData struct {
	T int       `json:"T"`
	Y []float64 `json:"y"`
}

// volatilitySeries draws a series from the stochastic volatility model.
func volatilitySeries(T int) seriesData {
	rng := generator(7)
	d := seriesData{T: T, Y: make([]float64, T)}
	h := 0.0
	for t := range d.Y {
		h = 0.95*h + 0.25*rng.NormFloat64()
		d.Y[t] = math.Exp(0.5*(h-0.5)) * rng.NormFloat64()
	}
	return d
}

// volatilityPriors computes the priors of both volatility models, with the transforms from the
// unconstrained mu, u and v.
func volatilityPriors(mu, u, v float64) (phi, sigma, lp, dmu, dphi, dsigma float64) {
	p := sigmoid(u)
	phi, sigma = 2*p-1, math.Exp(v)
	z := (phi - 0.9) / 0.2
	lp = -mu*mu/8 - 0.5*z*z - 0.5*sigma*sigma + math.Ln2 + unitJacobian(u) + v
	return phi, sigma, lp, -mu / 4, -z / 0.2, -sigma
}

// bySigmoid converts a gradient dphi for phi = 2 p(u) - 1 to the gradient for u, including the
// Jacobian's.
func bySigmoid(phi, dphi float64) float64 { return 0.5*dphi*(1-phi*phi) - phi }

func volatility(T int) (any, Gradient) {
	d := volatilitySeries(T)
	y2 := make([]float64, T)
	for t, v := range d.Y {
		y2[t] = 0.5 * v * v
	}
	return d, func(x, grad []float64) float64 {
		mu := x[0]
		phi, sigma, lp, dmu, dphi, dsigma := volatilityPriors(mu, x[1], x[2])
		h, dh := x[3:3+T], grad[3:3+T]
		// The first day has variance σ²/(1-φ²).
		q := 1 - phi*phi
		inv2 := 1 / (sigma * sigma)
		old := h[0] - mu
		ss := old * old * q * inv2
		w := y2[0] * math.Exp(-h[0])
		sh, sw := h[0], w
		dold := w - 0.5 - old*q*inv2
		first := old * q * inv2
		dphi += phi*old*old*inv2 - phi/q
		rest, sphi := 0.0, 0.0
		srest := 0.0
		for t := 1; t < T; t++ {
			c := h[t] - mu
			r := c - phi*old
			rest += r * r
			sphi += r * old
			srest += r
			r *= inv2
			dh[t-1] = dold + phi*r
			w := y2[t] * math.Exp(-h[t])
			sw += w
			sh += h[t]
			dold = w - 0.5 - r
			old = c
		}
		dh[T-1] = dold
		ss += rest * inv2
		dmu += first + (1-phi)*srest*inv2
		dphi += sphi * inv2
		lp += -0.5*ss - float64(T)*x[2] + 0.5*math.Log(q) - 0.5*sh - sw
		grad[0], grad[1] = dmu, bySigmoid(phi, dphi)
		grad[2] = dsigma*sigma + ss - float64(T) + 1
		return lp
	}
}

func volatilityNoncentred(T int) (any, Gradient) {
	d := volatilitySeries(T)
	y2 := make([]float64, T)
	for t, v := range d.Y {
		y2[t] = 0.5 * v * v
	}
	centred := make([]float64, T) // h - mu
	adjoint := make([]float64, T) // adjoint of h, without the contributions through later states
	return d, func(x, grad []float64) float64 {
		mu := x[0]
		phi, sigma, lp, dmu, dphi, dsigma := volatilityPriors(mu, x[1], x[2])
		z, dz := x[3:3+T], grad[3:3+T]
		root := 1 / math.Sqrt(1-phi*phi)
		c := 0.0
		sz, sc, sw := 0.0, 0.0, 0.0
		for t, v := range z {
			if t == 0 {
				c = sigma * v * root
			} else {
				c = sigma*v + phi*c
			}
			centred[t] = c
			w := y2[t] * math.Exp(-c-mu)
			sz += v * v
			sc += c
			sw += w
			adjoint[t] = w - 0.5
		}
		lp -= 0.5*(sz+sc+float64(T)*mu) + sw
		dmu += sw - 0.5*float64(T)
		a := 0.0
		for t := T - 1; t > 0; t-- {
			a = phi*a + adjoint[t]
			dphi += a * centred[t-1]
			dsigma += a * z[t]
			dz[t] = a*sigma - z[t]
		}
		a = phi*a + adjoint[0]
		dsigma += a * z[0] * root
		dphi += a * centred[0] * phi * root * root
		dz[0] = a*sigma*root - z[0]
		grad[0], grad[1], grad[2] = dmu, bySigmoid(phi, dphi), dsigma*sigma+1
		return lp
	}
}

type garchData struct {
	T  int       `json:"T"`
	Y  []float64 `json:"y"`
	S1 float64   `json:"s1"`
}

func garch(T int) (any, Gradient) {
	rng := generator(8)
	d := garchData{T: T, Y: make([]float64, T), S1: 1.1}
	v := d.S1 * d.S1
	for t := range d.Y {
		e := math.Sqrt(v) * rng.NormFloat64()
		d.Y[t] = 0.2 + e
		v = 0.2 + 0.25*e*e + 0.6*v
	}
	y := d.Y
	return d, func(x, grad []float64) float64 {
		mu, omega, alpha := x[0], math.Exp(x[1]), sigmoid(x[2])
		p := sigmoid(x[3])
		beta := (1 - alpha) * p
		lp := -0.5*(mu*mu+omega*omega) + x[1] + unitJacobian(x[2]) + math.Log1p(-alpha) + unitJacobian(x[3])
		// Compute the derivatives of the variance in the same forward pass: four numbers are less
		// work than a backward recurrence.
		v, vm, vo, va, vb := d.S1*d.S1, 0.0, 0.0, 0.0, 0.0
		sq, gm, go_, ga, gb := 0.0, 0.0, 0.0, 0.0, 0.0
		product, logs := 1.0, 0.0
		for t, yt := range y {
			e := yt - mu
			inv := 1 / v
			q := e * e * inv
			sq += q
			product *= v
			if t&15 == 15 {
				logs += math.Log(product)
				product = 1
			}
			w := 0.5 * (q - 1) * inv
			gm += w*vm + e*inv
			go_ += w * vo
			ga += w * va
			gb += w * vb
			vm, vo, va, vb, v = beta*vm-2*alpha*e, 1+beta*vo, e*e+beta*va, v+beta*vb, omega+alpha*e*e+beta*v
		}
		logs += math.Log(product)
		lp -= 0.5 * (sq + logs)
		grad[0] = gm - mu
		grad[1] = (go_-omega)*omega + 1
		grad[2] = (ga-gb*p)*alpha*(1-alpha) + 1 - 2*alpha - alpha
		grad[3] = gb*beta*(1-p) + 1 - 2*p
		return lp
	}
}
