package benchsuite

import (
	"math"
	"math/rand/v2"
)

// generator returns the random number generator for a workload's data.
func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eed)) }

// normals returns n draws from the standard normal distribution.
func normals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// design is a matrix of standard normal numbers, as rows.
func design(rng *rand.Rand, n, d int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = normals(rng, d)
	}
	return rows
}

// groups assigns n rows to j groups, counted from 1.
func groups(rng *rand.Rand, n, j int) []int {
	g := make([]int, n)
	for i := range g {
		g[i] = 1 + rng.IntN(j)
	}
	return g
}

func flat(rows [][]float64) []float64 {
	var v []float64
	for _, r := range rows {
		v = append(v, r...)
	}
	return v
}

// dot computes the dot product in four independent sums.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	b = b[:len(a)]
	for i, v := range a {
		s0 += v * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// rows4 is a view of four rows of a matrix; the workloads have a multiple of
// four rows.
func rows4(X []float64, i, d int) (r0, r1, r2, r3 []float64) {
	X = X[i*d : (i+4)*d]
	return X[:d], X[d : 2*d], X[2*d : 3*d], X[3*d : 4*d]
}

// dot4 computes the dot products of four rows with one vector, as four independent sums.
func dot4(r0, r1, r2, r3, b []float64) (s0, s1, s2, s3 float64) {
	r0, r1, r2, r3 = r0[:len(b)], r1[:len(b)], r2[:len(b)], r3[:len(b)]
	for j, v := range b {
		s0 += r0[j] * v
		s1 += r1[j] * v
		s2 += r2[j] * v
		s3 += r3[j] * v
	}
	return
}

// add4 adds multiples of four rows to y.
func add4(y, r0, r1, r2, r3 []float64, a0, a1, a2, a3 float64) {
	r0, r1, r2, r3 = r0[:len(y)], r1[:len(y)], r2[:len(y)], r3[:len(y)]
	for j := range y {
		y[j] += (a0*r0[j] + a1*r1[j]) + (a2*r2[j] + a3*r3[j])
	}
}

// bernoulliLogit computes the mass of y (0 or 1) at log odds eta as exp(l)/f, so that callers can
// combine logarithms. d is the derivative of its logarithm with respect to eta.
func bernoulliLogit(y, eta float64) (l, f, d float64) {
	e := math.Exp(-math.Abs(eta))
	f = 1 + e
	inv := 1 / f
	if eta > 0 {
		return y*eta - eta, f, y - inv
	}
	return y * eta, f, y - e*inv
}

// logProduct sums logarithms of numbers between 1 and 10. It multiplies the numbers and takes a
// logarithm only occasionally.
type logProduct struct {
	sum, product float64
	n            int
}

func (p *logProduct) times(f float64) {
	p.product *= f
	if p.n++; p.n == 256 {
		p.sum += math.Log(p.product)
		p.product, p.n = 1, 0
	}
}

func (p *logProduct) total() float64 { return p.sum + math.Log(p.product) }

func newLogProduct() logProduct { return logProduct{product: 1} }

// sigmoid returns the probability for log odds u.
func sigmoid(u float64) float64 { return 1 / (1 + math.Exp(-u)) }

// unitJacobian returns log p(1-p) at p = sigmoid(u).
func unitJacobian(u float64) float64 {
	a := math.Abs(u)
	return -a - 2*math.Log1p(math.Exp(-a))
}

// simplex is the isometric log ratio transform, y = softmax(V x) with the
// Helmert matrix V.
type simplex struct {
	k   int
	col []float64 // 1/√(n(n+1)), n from 1
}

func newSimplex(k int) simplex {
	s := simplex{k: k}
	for n := 1; n < k; n++ {
		s.col = append(s.col, 1/math.Sqrt(float64(n*(n+1))))
	}
	return s
}

// logs writes log y at x and returns the log Jacobian.
func (s simplex) logs(x, logY []float64) float64 {
	// Row i of V has col[n] for n ≥ i (counted from 0) and -i·col[i-1].
	tail := 0.0
	for i := s.k - 1; i >= 0; i-- {
		logY[i] = tail
		if i > 0 {
			logY[i] -= float64(i) * s.col[i-1] * x[i-1]
			tail += s.col[i-1] * x[i-1]
		}
	}
	top := math.Inf(-1)
	for _, v := range logY {
		top = max(top, v)
	}
	sum := 0.0
	for _, v := range logY {
		sum += math.Exp(v - top)
	}
	lse := top + math.Log(sum)
	jacobian := 0.5 * math.Log(float64(s.k))
	for i := range logY {
		logY[i] -= lse
		jacobian += logY[i]
	}
	return jacobian
}

// back writes the gradient with respect to x. d is the gradient with respect to log y, without the
// Jacobian's, and is overwritten.
func (s simplex) back(d, logY, dx []float64) {
	total := 0.0
	for i := range d {
		d[i]++
		total += d[i]
	}
	for i := range d {
		d[i] -= total * math.Exp(logY[i])
	}
	head := 0.0
	for n := range dx {
		head += d[n]
		dx[n] = s.col[n] * (head - float64(n+1)*d[n+1])
	}
}

// ordered writes the increasing vector of x and returns the log Jacobian.
func ordered(x, y []float64) float64 {
	y[0] = x[0]
	jacobian := 0.0
	for i := 1; i < len(x); i++ {
		y[i] = y[i-1] + math.Exp(x[i])
		jacobian += x[i]
	}
	return jacobian
}

// orderedBack writes the gradient with respect to x, including the Jacobian's. dy is the gradient
// with respect to y.
func orderedBack(dy, y, dx []float64) {
	tail := 0.0
	for i := len(dy) - 1; i > 0; i-- {
		tail += dy[i]
		dx[i] = tail*(y[i]-y[i-1]) + 1
	}
	dx[0] = tail + dy[0]
}

var halfLog2Pi = 0.5 * math.Log(2*math.Pi)
