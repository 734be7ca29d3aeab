package benchsuite

import "math"

// This file: models whose loops read values of earlier iterations over windows and in tables.

type averageData struct {
	T int       `json:"T"`
	Q int       `json:"Q"`
	Y []float64 `json:"y"`
}

func movingAverage(T, Q int) (any, Gradient) {
	rng := generator(31)
	d := averageData{T: T, Q: Q, Y: make([]float64, T)}
	shocks := make([]float64, T)
	for t := range d.Y {
		shocks[t] = rng.NormFloat64()
		d.Y[t] = 0.3 + shocks[t]
		for q := 1; q <= min(t, Q); q++ {
			d.Y[t] += 0.4 / float64(q) * shocks[t-q]
		}
	}
	y := d.Y
	e, de := make([]float64, T), make([]float64, T)
	return d, func(x, grad []float64) float64 {
		mu, sigma, theta := x[0], math.Exp(x[1]), x[2:2+Q]
		dtheta := grad[2 : 2+Q]
		inv2 := 1 / (sigma * sigma)
		squares := 0.0
		for t, v := range y {
			v -= mu
			for q := 1; q <= min(t, Q); q++ {
				v -= theta[q-1] * e[t-q]
			}
			e[t], de[t] = v, -v*inv2
			squares += v * v
		}
		lp := -mu*mu/12.5 - sigma*sigma/8 + x[1] - float64(T)*x[1] - 0.5*squares*inv2
		for q, v := range theta {
			lp -= 0.5 * v * v
			dtheta[q] = -v
		}
		dmu := -mu / 6.25
		for t := T - 1; t >= 0; t-- {
			g := de[t]
			dmu -= g
			for q := 1; q <= min(t, Q); q++ {
				dtheta[q-1] -= g * e[t-q]
				de[t-q] -= theta[q-1] * g
			}
		}
		grad[0] = dmu
		grad[1] = -sigma*sigma/4 + 1 - float64(T) + squares*inv2
		return lp
	}
}

type renewalData struct {
	T int       `json:"T"`
	Y []int     `json:"y"`
	G []float64 `json:"g"` // how likely an infection is so many days after the one before
}

func renewal(T int) (any, Gradient) {
	rng := generator(32)
	d := renewalData{T: T, Y: make([]int, T), G: make([]float64, T)}
	total := 0.0
	for t := range d.Y {
		d.Y[t] = int(20 + 15*math.Sin(float64(t)/20) + 4*rng.Float64())
		d.G[t] = float64(t+1) * math.Exp(-0.4*float64(t+1))
		total += d.G[t]
	}
	backwards := make([]float64, T)
	for t := range d.G {
		d.G[t] /= total
		backwards[T-1-t] = d.G[t]
	}
	y, g := d.Y, backwards
	inf, sums, rates, dinf := make([]float64, T), make([]float64, T), make([]float64, T), make([]float64, T)
	return d, func(x, grad []float64) float64 {
		start, logs, dlogs := x[0], x[1:1+T], grad[1:1+T]
		lp := -0.5 * (start - 3) * (start - 3)
		for t, r := range logs {
			lp -= 12.5 * r * r
			if t == 0 {
				inf[0] = math.Exp(start)
			} else {
				c := 0.0
				w := g[T-t:]
				for u, v := range inf[:t] {
					c += v * w[u]
				}
				sums[t], rates[t] = c, math.Exp(r)
				inf[t] = rates[t] * c
			}
			mean := inf[t] + 0.1
			lp += float64(y[t])*math.Log(mean) - mean
			dinf[t] = float64(y[t])/mean - 1
		}
		for t := T - 1; t > 0; t-- {
			dlogs[t] = dinf[t]*inf[t] - 25*logs[t]
			c := dinf[t] * rates[t]
			w := g[T-t:]
			for u := range t {
				dinf[u] += c * w[u]
			}
		}
		dlogs[0] = -25 * logs[0]
		grad[0] = dinf[0]*inf[0] - (start - 3)
		return lp
	}
}

type successesData struct {
	N int       `json:"N"`
	Y int       `json:"y"` // trials that succeeded
	X []float64 `json:"x"`
}

func successes(N int) (any, Gradient) {
	rng := generator(33)
	d := successesData{N: N, Y: N / 3, X: make([]float64, N)}
	for n := range d.X {
		d.X[n] = rng.NormFloat64()
	}
	p := make([]float64, N)
	rows := make([][]float64, N+1) // rows of the table: the probabilities of 0, 1, … successes
	for n := range rows {
		rows[n] = make([]float64, N+2)
	}
	adjoint := make([]float64, N+2)
	rows[0][0] = 1
	return d, func(x, grad []float64) float64 {
		for n, v := range d.X {
			p[n] = sigmoid(x[0] + x[1]*v)
			from, to, q := rows[n], rows[n+1], 1-p[n]
			to[0] = from[0] * q
			for k := 1; k <= n+1; k++ {
				to[k] = from[k]*q + from[k-1]*p[n]
			}
		}
		clear(adjoint)
		last := rows[N][d.Y]
		adjoint[d.Y] = 1 / last
		grad[0], grad[1] = -x[0], -x[1]
		for n := N - 1; n >= 0; n-- {
			row, dp := rows[n], -adjoint[0]*rows[n][0]
			for k := 1; k <= n+1; k++ {
				dp += adjoint[k] * (row[k-1] - row[k])
			}
			for k := 0; k <= n; k++ {
				adjoint[k] = adjoint[k]*(1-p[n]) + adjoint[k+1]*p[n]
			}
			adjoint[n+1] = 0
			dp *= p[n] * (1 - p[n])
			grad[0] += dp
			grad[1] += dp * d.X[n]
		}
		return math.Log(last) - 0.5*(x[0]*x[0]+x[1]*x[1])
	}
}
