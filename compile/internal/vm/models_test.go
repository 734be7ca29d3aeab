package vm

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
)

// model is a log density with its gradient, as a graph of one input and as
// hand-written Go.
type model struct {
	name string
	dim  int
	// lp builds the log density of the parameters.
	lp func(g *ad.Graph, x ad.Ref) ad.Ref
	// hand writes the gradient and returns the log density.
	hand func(x, grad []float64) float64
}

func (m model) graph() *ad.Graph {
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{m.dim}})
	lp := m.lp(g, x)
	grad := g.Grad(lp, x)[0]
	g.Output(lp)
	g.Output(grad)
	return g
}

func (m model) point() []float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, m.dim)
	for i := range x {
		x[i] = 0.3 * rng.NormFloat64()
	}
	return x
}

func vector(g *ad.Graph, v []float64) ad.Ref {
	return g.ConstArray(ad.Type{Shape: []int{len(v)}}, v)
}

// normal is the log density of a normal distribution without its constant, for
// each element.
func normal(g *ad.Graph, y, mu, sigma ad.Ref) ad.Ref {
	z := g.Div(g.Sub(y, mu), sigma)
	return g.Sub(g.Scale(-0.5, g.Square(z)), g.Log(sigma))
}

func normals(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

func models() []model {
	return []model{eightSchools(true), eightSchools(false), logistic(1000, 24), hierarchical(12500, 386), volatility(2000),
		garch(200), garch(2000), mixture(1000), hmm(400)}
}

// eightSchools has the schools in lanes or, with scalars, a separate term for each.
func eightSchools(scalars bool) model {
	y := []float64{28, 8, -3, 7, -1, 1, 18, 12}
	s := []float64{15, 10, 16, 11, 9, 11, 10, 18}
	var logs float64
	var inv [8]float64
	for j, v := range s {
		logs += math.Log(v)
		inv[j] = 1 / v
	}
	logs += 2 * math.Log(5)
	name := "schools"
	if scalars {
		name = "schools-scalar"
	}
	return model{name, 10, func(g *ad.Graph, x ad.Ref) ad.Ref {
		mu, lt := g.Slice(x, 0, nil), g.Slice(x, 1, nil)
		tau := g.Exp(lt)
		lp := g.Add(g.Add(normal(g, mu, g.Const(0), g.Const(5)), normal(g, tau, g.Const(0), g.Const(5))), lt)
		if !scalars {
			raw := g.Slice(x, 2, []int{8})
			theta := g.Add(mu, g.Mul(tau, raw))
			lp = g.Add(lp, g.Sum(normal(g, raw, g.Const(0), g.Const(1))))
			return g.Add(lp, g.Sum(normal(g, vector(g, y), theta, vector(g, s))))
		}
		for j := range y {
			raw := g.Slice(x, 2+j, nil)
			theta := g.Add(mu, g.Mul(tau, raw))
			lp = g.Add(lp, normal(g, raw, g.Const(0), g.Const(1)))
			lp = g.Add(lp, normal(g, g.Const(y[j]), theta, g.Const(s[j])))
		}
		return lp
	}, func(x, grad []float64) float64 {
		mu, tau := x[0], math.Exp(x[1])
		lp := -mu*mu/50 - tau*tau/50 + x[1] - logs
		dmu, dtau := -mu/25, -tau/25
		for j := range y {
			r := x[2+j]
			theta := mu + tau*r
			z := (y[j] - theta) * inv[j]
			lp += -0.5*r*r - 0.5*z*z
			dt := z * inv[j]
			dmu += dt
			dtau += dt * r
			grad[2+j] = -r + dt*tau
		}
		grad[0], grad[1] = dmu, dtau*tau+1
		return lp
	}}
}

func logistic(n, d int) model {
	X, b := normals(n*d, 5), normals(d, 6)
	y := normals(n, 7)
	for i := range y {
		eta := 0.0
		for j := range b {
			eta += X[i*d+j] * b[j]
		}
		if y[i]+eta > 0 {
			y[i] = 1
		} else {
			y[i] = 0
		}
	}
	return model{"logistic", d + 1, func(g *ad.Graph, x ad.Ref) ad.Ref {
		alpha, beta := g.Slice(x, 0, nil), g.Slice(x, 1, []int{d})
		eta := g.Add(g.MatVec(g.ConstArray(ad.Type{Shape: []int{n, d}}, X), beta), alpha)
		ll := g.Sum(g.Sub(g.Mul(vector(g, y), eta), g.Do(ad.OpLog1pExp, nil, eta)))
		return g.Add(g.Add(ll, normal(g, alpha, g.Const(0), g.Const(2.5))), g.Sum(normal(g, beta, g.Const(0), g.Const(1.5))))
	}, func(x, grad []float64) float64 {
		lp := -x[0]*x[0]/12.5 - math.Log(2.5)
		grad[0] = -x[0] / 6.25
		beta, db := x[1:], grad[1:]
		for j, v := range beta {
			lp += -v*v/4.5 - math.Log(1.5)
			db[j] = -v / 2.25
		}
		for i := range y {
			row := X[i*d : (i+1)*d]
			eta := x[0]
			for j, v := range row {
				eta += v * beta[j]
			}
			e := math.Exp(-math.Abs(eta))
			l := math.Log1p(e)
			p := 1 / (1 + e)
			if eta > 0 {
				l += eta
			} else {
				p = e / (1 + e)
			}
			lp += y[i]*eta - l
			r := y[i] - p
			grad[0] += r
			for j, v := range row {
				db[j] += r * v
			}
		}
		return lp
	}}
}

func hierarchical(n, J int) model {
	rng := rand.New(rand.NewPCG(8, 8))
	county := make([]int32, n)
	for i := range county {
		county[i] = int32(rng.IntN(J))
	}
	xs, y := normals(n, 9), normals(n, 10)
	// parameters: mu, log tau, beta, log sigma, alpha
	return model{"hierarchical", 4 + J, func(g *ad.Graph, x ad.Ref) ad.Ref {
		at := func(i int) ad.Ref { return g.Slice(x, i, nil) }
		mu, tau, beta, sigma := at(0), g.Exp(at(1)), at(2), g.Exp(at(3))
		alpha := g.Slice(x, 4, []int{J})
		lp := g.Add(at(1), at(3))
		lp = g.Add(lp, g.Sum(normal(g, alpha, mu, tau)))
		a := g.Gather(alpha, ad.Index{Dims: []ad.Dim{{N: n, Table: county}}})
		// One lane per row, as the front end binds it.
		yl, xl, al := g.Lane(vector(g, y)), g.Lane(vector(g, xs)), g.Lane(a)
		ll := normal(g, yl, g.Add(al, g.Mul(xl, beta)), sigma)
		return g.Add(lp, g.SumLanes(ll))
	}, func(x, grad []float64) float64 {
		mu, tau, beta, sigma := x[0], math.Exp(x[1]), x[2], math.Exp(x[3])
		alpha, da := x[4:], grad[4:]
		lp := x[1] + x[3]
		dmu, ss := 0.0, 0.0
		for j, a := range alpha {
			z := (a - mu) / tau
			lp += -0.5*z*z - x[1]
			dmu += z / tau
			ss += z * z
			da[j] = -z / tau
		}
		inv := 1 / sigma
		sz, db := 0.0, 0.0
		for i, c := range county {
			z := (y[i] - alpha[c] - beta*xs[i]) * inv
			sz += z * z
			z *= inv
			da[c] += z
			db += z * xs[i]
		}
		lp += -0.5*sz - float64(n)*x[3]
		grad[0], grad[1], grad[2], grad[3] = dmu, ss-float64(J)+1, db, sz-float64(n)+1
		return lp
	}}
}

// volatility is a model of stochastic volatility: h' ~ normal(mu + phi (h - mu), sigma), y ~
// normal(0, exp(h/2)).
func volatility(T int) model {
	y := normals(T, 11)
	return model{"volatility", 3 + T, func(g *ad.Graph, x ad.Ref) ad.Ref {
		mu, phi, sigma := g.Slice(x, 0, nil), g.Do(ad.OpTanh, nil, g.Slice(x, 1, nil)), g.Exp(g.Slice(x, 2, nil))
		h := g.Slice(x, 3, []int{T})
		old, next := g.Slice(h, 0, []int{T - 1}), g.Slice(h, 1, []int{T - 1})
		lp := g.Sum(normal(g, next, g.Add(mu, g.Mul(phi, g.Sub(old, mu))), sigma))
		return g.Add(lp, g.Sum(normal(g, vector(g, y), g.Const(0), g.Exp(g.Scale(0.5, h)))))
	}, func(x, grad []float64) float64 {
		mu, phi, sigma := x[0], math.Tanh(x[1]), math.Exp(x[2])
		h, dh := x[3:], grad[3:]
		inv := 1 / sigma
		lp, dmu, dphi, ss := 0.0, 0.0, 0.0, 0.0
		for t, v := range h {
			w := y[t] * y[t] * math.Exp(-v)
			lp += -0.5*w - 0.5*v
			dh[t] = 0.5*w - 0.5
		}
		for t := 1; t < T; t++ {
			z := (h[t] - mu - phi*(h[t-1]-mu)) * inv
			ss += z * z
			z *= inv
			dh[t] -= z
			dh[t-1] += phi * z
			dmu += z
			dphi += z * (h[t-1] - mu)
		}
		lp += -0.5*ss - float64(T-1)*x[2]
		grad[0], grad[1], grad[2] = dmu*(1-phi), dphi*(1-phi*phi), ss-float64(T-1)
		return lp
	}}
}

// garch is a scan over days, with parameters log omega, logit alpha, logit beta and mu.
func garch(T int) model {
	y := normals(T, 12)
	name := "garch200"
	if T == 2000 {
		name = "garch2000"
	}
	return model{name, 4, func(g *ad.Graph, x ad.Ref) ad.Ref {
		omega, alpha, beta := g.Exp(g.Slice(x, 0, nil)), g.Do(ad.OpInvLogit, nil, g.Slice(x, 1, nil)), g.Do(ad.OpInvLogit, nil, g.Slice(x, 2, nil))
		mu := g.Slice(x, 3, nil)
		b := ad.NewGraph()
		s, yt, o, a, bt, m := b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar)
		b.Output(b.Sqrt(b.Add(o, b.Add(b.Mul(a, b.Square(b.Sub(yt, m))), b.Mul(bt, b.Square(s))))))
		b.Output(normal(b, yt, m, s))
		sc := g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 1, Sums: 1, Steps: T},
			[]ad.Ref{g.Sqrt(omega), vector(g, y), omega, alpha, beta, mu})
		return g.SumOf(sc, 0)
	}, func(x, grad []float64) float64 {
		omega, alpha, beta, mu := math.Exp(x[0]), 1/(1+math.Exp(-x[1])), 1/(1+math.Exp(-x[2])), x[3]
		// The variance and its derivatives in forward mode.
		v, do, da, db, dm := omega, 1.0, 0.0, 0.0, 0.0
		lp, g0, g1, g2, g3 := 0.0, 0.0, 0.0, 0.0, 0.0
		prod := 1.0
		for t := range y {
			e := y[t] - mu
			iv := 1 / v
			q := e * e * iv
			lp -= 0.5 * q
			prod *= v
			if t&7 == 7 {
				lp -= 0.5 * math.Log(prod)
				prod = 1
			}
			w := 0.5 * (q - 1) * iv
			g0 += w * do
			g1 += w * da
			g2 += w * db
			g3 += w*dm + e*iv
			do, da, db, dm, v = 1+beta*do, e*e+beta*da, v+beta*db, beta*dm-2*alpha*e, omega+alpha*e*e+beta*v
		}
		lp -= 0.5 * math.Log(prod)
		grad[0], grad[1], grad[2], grad[3] = g0*omega, g1*alpha*(1-alpha), g2*beta*(1-beta), g3
		return lp
	}}
}

func mixture(n int) model {
	y := normals(n, 13)
	for i := range y {
		y[i] += float64(i%2) * 3
	}
	// parameters: logit theta, mu1, mu2, log sigma1, log sigma2
	return model{"mixture", 5, func(g *ad.Graph, x ad.Ref) ad.Ref {
		at := func(i int) ad.Ref { return g.Slice(x, i, nil) }
		l1, l2 := g.Do(ad.OpLogInvLogit, nil, at(0)), g.Do(ad.OpLog1mInvLogit, nil, at(0))
		yl := g.Lane(vector(g, y))
		a := g.Add(l1, normal(g, yl, at(1), g.Exp(at(3))))
		b := g.Add(l2, normal(g, yl, at(2), g.Exp(at(4))))
		return g.SumLanes(g.Do(ad.OpLogAddExp, nil, a, b))
	}, func(x, grad []float64) float64 {
		theta := 1 / (1 + math.Exp(-x[0]))
		i1, i2 := math.Exp(-x[3]), math.Exp(-x[4])
		c1, c2 := math.Log(theta)-x[3], math.Log(1-theta)-x[4]
		lp, s0, m1, m2, q1, q2 := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
		for _, v := range y {
			z1, z2 := (v-x[1])*i1, (v-x[2])*i2
			a, b := c1-0.5*z1*z1, c2-0.5*z2*z2
			d := b - a
			e := math.Exp(-math.Abs(d))
			l := math.Log1p(e)
			p := 1 / (1 + e)
			if d > 0 {
				l += b
				p = e / (1 + e)
			} else {
				l += a
			}
			lp += l
			s0 += p
			m1 += p * z1
			m2 += (1 - p) * z2
			q1 += p * (z1*z1 - 1)
			q2 += (1 - p) * (z2*z2 - 1)
		}
		grad[0], grad[1], grad[2], grad[3], grad[4] = s0-float64(n)*theta, m1*i1, m2*i2, q1, q2
		return lp
	}}
}

// hmm is the forward algorithm of three states, observations normal(mu[k], 1),
// log transition probabilities as parameters (not normalised).
func hmm(T int) model {
	const K = 3
	y := normals(T, 14)
	return model{"hmm", K*K + K, func(g *ad.Graph, x ad.Ref) ad.Ref {
		// gamma[j, i] is the transition from i to j.
		gamma, mu := g.Slice(x, 0, []int{K, K}), g.Slice(x, K*K, []int{K})
		b := ad.NewGraph()
		alpha, yt := b.Input(ad.Type{Shape: []int{K}}), b.Input(ad.Scalar)
		gm, m := b.Input(ad.Type{Shape: []int{K, K}}), b.Input(ad.Type{Shape: []int{K}})
		from := b.Gather(alpha, ad.Index{Dims: []ad.Dim{{N: K}, {N: K, Stride: 1}}})
		lse := b.LogSumExp(b.Add(gm, from))
		b.Output(b.Add(lse, b.Scale(-0.5, b.Square(b.Sub(yt, m)))))
		sc := g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 1, Steps: T},
			[]ad.Ref{g.ConstArray(ad.Type{Shape: []int{K}}, make([]float64, K)), vector(g, y), gamma, mu})
		return g.LogSumExp(g.Final(sc, 0))
	}, func(x, grad []float64) float64 {
		gamma, mu := x[:K*K], x[K*K:]
		hist := make([]float64, (T+1)*K)
		for t, v := range y {
			a, nx := hist[t*K:(t+1)*K], hist[(t+1)*K:(t+2)*K]
			for j := range nx {
				w := [K]float64{}
				m := math.Inf(-1)
				for i := range a {
					w[i] = gamma[j*K+i] + a[i]
					m = max(m, w[i])
				}
				s := 0.0
				for _, u := range w {
					s += math.Exp(u - m)
				}
				d := v - mu[j]
				nx[j] = m + math.Log(s) - 0.5*d*d
			}
		}
		last := hist[T*K:]
		m, s := max(last[0], last[1], last[2]), 0.0
		for _, u := range last {
			s += math.Exp(u - m)
		}
		lp := m + math.Log(s)
		var lam [K]float64
		for j, u := range last {
			lam[j] = math.Exp(u - lp)
		}
		clear(grad)
		for t := T - 1; t >= 0; t-- {
			a, nx := hist[t*K:(t+1)*K], hist[(t+1)*K:(t+2)*K]
			var old [K]float64
			for j := range nx {
				d := y[t] - mu[j]
				grad[K*K+j] += lam[j] * d
				for i := range a {
					w := lam[j] * math.Exp(gamma[j*K+i]+a[i]-nx[j]-0.5*d*d)
					grad[j*K+i] += w
					old[i] += w
				}
			}
			lam = old
		}
		return lp
	}}
}
