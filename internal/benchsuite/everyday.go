package benchsuite

import "math"

// This file: models of many kinds that users write. Most have no hand-written gradient.

// transposed returns the columns of rows.
func transposed(rows [][]float64) [][]float64 {
	columns := make([][]float64, len(rows[0]))
	for j := range columns {
		columns[j] = make([]float64, len(rows))
		for i := range rows {
			columns[j][i] = rows[i][j]
		}
	}
	return columns
}

func horseshoe(n, D int) (any, Gradient) {
	rng := generator(41)
	d := regressionData{N: n, D: D, X: design(rng, n, D), Y: normals(rng, n)}
	for i := range d.Y {
		d.Y[i] += 2*d.X[i][0] - d.X[i][D/2]
	}
	X, y := flat(d.X), d.Y
	scale, beta, dbeta, squares := make([]float64, D), make([]float64, D), make([]float64, D), make([]float64, D)
	return d, func(x, grad []float64) float64 {
		alpha, z, logLambda := x[0], x[1:1+D], x[1+D:1+2*D]
		tau, sigma := math.Exp(x[1+2*D]), math.Exp(x[2+2*D])
		dz, dlambda := grad[1:1+D], grad[1+D:1+2*D]
		lp := -alpha*alpha/50 - math.Log1p(tau*tau) - sigma + x[1+2*D] + x[2+2*D]
		product := newLogProduct()
		for j, u := range logLambda {
			lambda := math.Exp(u)
			squares[j] = lambda * lambda
			scale[j] = tau * lambda
			beta[j] = scale[j] * z[j]
			lp += u - 0.5*z[j]*z[j]
			if f := 1 + squares[j]; f < 10 {
				product.times(f)
			} else {
				lp -= math.Log(f)
			}
		}
		lp -= product.total()
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
		lp -= 0.5*ss + float64(n)*x[2+2*D]
		dtau := 0.0
		for j, b := range dbeta {
			b *= inv2
			dz[j] = b*scale[j] - z[j]
			b *= beta[j]
			dtau += b
			dlambda[j] = b + 1 - 2*squares[j]/(1+squares[j])
		}
		grad[0] = dalpha*inv2 - alpha/25
		grad[1+2*D] = dtau + 1 - 2*tau*tau/(1+tau*tau)
		grad[2+2*D] = ss - float64(n) - sigma + 1
		return lp
	}
}

type factorsData struct {
	N int         `json:"N"`
	D int         `json:"D"`
	K int         `json:"K"`
	Y [][]float64 `json:"Y"`
}

func factors(n, D, K int) (any, Gradient) {
	rng := generator(42)
	d := factorsData{N: n, D: D, K: K, Y: design(rng, n, D)}
	f, l := design(rng, n, K), design(rng, D, K)
	for i := range d.Y {
		for j := range d.Y[i] {
			d.Y[i][j] = 0.5*d.Y[i][j] + dot(f[i], l[j])
		}
	}
	Y := flat(transposed(d.Y))
	r := make([]float64, n)
	return d, func(x, grad []float64) float64 {
		F, L, logSigma := x[:n*K], x[n*K:(n+D)*K], x[(n+D)*K:]
		dF, dL, dsigma := grad[:n*K], grad[n*K:(n+D)*K], grad[(n+D)*K:]
		lp := 0.0
		for i, v := range F {
			lp -= 0.5 * v * v
			dF[i] = -v
		}
		for j, u := range logSigma {
			sigma := math.Exp(u)
			inv := 1 / (sigma * sigma)
			copy(r, Y[j*n:(j+1)*n])
			for k := range K {
				v := L[k*D+j]
				for i, w := range F[k*n : (k+1)*n] {
					r[i] -= v * w
				}
			}
			ss := dot(r, r) * inv
			lp -= 0.5*ss + float64(n-1)*u + sigma
			dsigma[j] = ss - float64(n-1) - sigma
			for k := range K {
				v := L[k*D+j]
				lp -= 0.5 * v * v
				dL[k*D+j] = dot(r, F[k*n:(k+1)*n])*inv - v
				v *= inv
				to := dF[k*n : (k+1)*n]
				for i, w := range r {
					to[i] += v * w
				}
			}
		}
		return lp
	}
}

type epidemicData struct {
	T      int       `json:"T"`
	Days   []float64 `json:"days"`
	People float64   `json:"people"`
	Ill    []int     `json:"ill"`
}

// evenly returns n points of time, step apart.
func evenly(n int, step float64) []float64 {
	t := make([]float64, n)
	for i := range t {
		t[i] = float64(i+1) * step
	}
	return t
}

func epidemic(T int) (any, Gradient) {
	rng := generator(43)
	d := epidemicData{T: T, Days: evenly(T, 1), People: 800, Ill: make([]int, T)}
	s, i := 0.99, 0.01
	const steps = 100
	for t := range d.Ill {
		for range steps {
			cases, recoveries := 1.7*s*i/steps, 0.5*i/steps
			s, i = s-cases, i+cases-recoveries
		}
		d.Ill[t] = int(d.People * i * math.Exp(0.1*rng.NormFloat64()))
	}
	return d, nil
}

type predatorsData struct {
	T     int          `json:"T"`
	Years []float64    `json:"years"`
	Y     [][2]float64 `json:"y"`
}

func predators(T int) (any, Gradient) {
	rng := generator(44)
	d := predatorsData{T: T, Years: evenly(T, 1), Y: make([][2]float64, T)}
	u, v := 30.0, 6.0
	const steps = 1000
	for t := range d.Y {
		for range steps {
			u, v = u+(0.55-0.028*v)*u/steps, v+(0.024*u-0.8)*v/steps
		}
		d.Y[t] = [2]float64{u * math.Exp(0.25*rng.NormFloat64()), v * math.Exp(0.25*rng.NormFloat64())}
	}
	return d, nil
}

type reactionData struct {
	T     int       `json:"T"`
	Times []float64 `json:"times"`
	Y     []float64 `json:"y"`
}

func robertson(T int) (any, Gradient) {
	rng := generator(45)
	d := reactionData{T: T, Times: make([]float64, T), Y: make([]float64, T)}
	for t := range d.Times {
		d.Times[t] = 0.4 * math.Pow(2, float64(t))
		d.Y[t] = 1/(1+0.03*math.Pow(d.Times[t], 0.6)) + 0.01*rng.NormFloat64()
	}
	return d, nil
}

type drugData struct {
	S     int         `json:"S"`
	T     int         `json:"T"`
	Dose  float64     `json:"dose"`
	Hours []float64   `json:"hours"`
	Y     [][]float64 `json:"y"`
}

func pharmacokinetics(S, T int) (any, Gradient) {
	rng := generator(46)
	d := drugData{S: S, T: T, Dose: 10, Hours: evenly(T, 0.75), Y: design(rng, S, T)}
	for s := range d.Y {
		for t, h := range d.Hours {
			d.Y[s][t] = 10 * (math.Exp(-0.3*h) - math.Exp(-1.2*h)) * math.Exp(0.2*d.Y[s][t])
		}
	}
	return d, nil
}

type areasData struct {
	N      int       `json:"N"`
	E      int       `json:"E"`
	From   []int     `json:"from"`
	To     []int     `json:"to"`
	People []float64 `json:"log_people"`
	X      []float64 `json:"x"`
	Y      []int     `json:"y"`
}

// areas is a grid of areas, with an edge between neighbours.
func areas(rows, columns int) (any, Gradient) {
	rng := generator(47)
	n := rows * columns
	d := areasData{N: n, X: normals(rng, n), People: normals(rng, n), Y: make([]int, n)}
	for i := range n {
		if (i+1)%columns > 0 {
			d.From, d.To = append(d.From, i+1), append(d.To, i+2)
		}
		if i+columns < n {
			d.From, d.To = append(d.From, i+1), append(d.To, i+columns+1)
		}
		d.People[i] = 2 + 0.3*d.People[i]
		d.Y[i] = int(math.Exp(d.People[i]+0.2*d.X[i]+0.5*math.Sin(float64(i%columns)/3)) + rng.Float64())
	}
	d.E = len(d.From)
	return d, nil
}

type networkData struct {
	N int         `json:"N"`
	D int         `json:"D"`
	H int         `json:"H"`
	X [][]float64 `json:"X"`
	Y []int       `json:"y"`
}

func network(n, D, H int) (any, Gradient) {
	rng := generator(48)
	d := networkData{N: n, D: D, H: H, X: design(rng, n, D), Y: make([]int, n)}
	for i, x := range d.X {
		if math.Tanh(x[0]*x[1])+0.5*x[2] > 0.4*rng.NormFloat64() {
			d.Y[i] = 1
		}
	}
	return d, nil
}

type splinesData struct {
	N int         `json:"N"`
	K int         `json:"K"`
	B [][]float64 `json:"B"`
	Y []float64   `json:"y"`
}

// splines has a basis of K cubic splines on evenly spaced knots; four are not zero in each row.
func splines(n, K int) (any, Gradient) {
	rng := generator(49)
	d := splinesData{N: n, K: K, B: make([][]float64, n), Y: normals(rng, n)}
	for i := range d.B {
		d.B[i] = make([]float64, K)
		at := float64(i) / float64(n) * float64(K-3)
		k := int(at)
		u := at - float64(k)
		v := 1 - u
		copy(d.B[i][k:], []float64{v * v * v / 6, (3*u*u*u - 6*u*u + 4) / 6, (3*v*v*v - 6*v*v + 4) / 6, u * u * u / 6})
		d.Y[i] = math.Sin(at) + 0.3*math.Exp(0.3*math.Cos(at))*d.Y[i]
	}
	return d, nil
}

type alignmentData struct {
	N int   `json:"N"`
	A []int `json:"a"`
	B []int `json:"b"`
}

func alignment(n int) (any, Gradient) {
	rng := generator(50)
	return alignmentData{N: n, A: groups(rng, n, 4), B: groups(rng, n, 4)}, nil
}

// processByLoops has the data of gaussianProcess.
func processByLoops(n int) (any, Gradient) {
	d, _ := gaussianProcess(n)
	return d, nil
}

type semiMarkovData struct {
	T int       `json:"T"`
	K int       `json:"K"`
	D int       `json:"D"`
	Y []float64 `json:"y"`
}

func semiMarkov(T, K, D int) (any, Gradient) {
	rng := generator(51)
	d := semiMarkovData{T: T, K: K, D: D, Y: normals(rng, T)}
	for t := range d.Y {
		d.Y[t] = 0.7*d.Y[t] + 2*float64(t/(D/2)%K)
	}
	return d, nil
}

type particlesData struct {
	T     int         `json:"T"`
	P     int         `json:"P"`
	Y     []float64   `json:"y"`
	Noise [][]float64 `json:"noise"`
}

func particles(T, P int) (any, Gradient) {
	rng := generator(52)
	return particlesData{T: T, P: P, Y: normals(rng, T), Noise: design(rng, P, T)}, nil
}
