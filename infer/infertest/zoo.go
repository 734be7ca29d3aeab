package infertest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ppl-lang/ppl/infer"
)

// Exact is a target that can be sampled without Markov chains.
type Exact interface {
	infer.LogDensity
	infer.Cloner

	// Sample writes an exact draw to x.
	Sample(rng *rand.Rand, x []float64)

	// Uniforms writes the Rosenblatt transform of x to u. If x comes from the target, its elements
	// are independent and uniform on (0, 1).
	Uniforms(x, u []float64)

	String() string
}

// Zoo returns one example of each target with exact draws, of small dimension.
func Zoo() []Exact {
	return []Exact{
		NewNormal([]float64{1, -2, 0.5}, [][]float64{{2, 0, 0}, {1.5, 0.5, 0}, {-1, 0.3, 0.1}}),
		AR1(5, 0.9),
		Funnel{D: 3},
		Banana{B: 0.3, Sigma: 2},
		StudentT{D: 3, Nu: 5},
		Logistic{D: 3},
		LogGamma{D: 2, Shape: 0.7},
		Bimodal{D: 2, Distance: 4},
		Exponential{D: 2},
	}
}

func normalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// Normal is a correlated normal distribution: x = Mean + L z.
type Normal struct {
	Mean []float64
	L    [][]float64 // lower triangular, positive diagonal

	z, w []float64
}

// NewNormal returns the normal distribution with the given mean and lower triangular factor of its
// covariance. It keeps both slices.
func NewNormal(mean []float64, l [][]float64) *Normal {
	return &Normal{Mean: mean, L: l, z: make([]float64, len(mean)), w: make([]float64, len(mean))}
}

// AR1 returns the d-dimensional standard normal distribution whose
// correlations are rho^|i-j|.
func AR1(d int, rho float64) *Normal {
	l := make([][]float64, d)
	for i := range l {
		l[i] = make([]float64, d)
		l[i][0] = math.Pow(rho, float64(i))
		for j := 1; j <= i; j++ {
			l[i][j] = math.Pow(rho, float64(i-j)) * math.Sqrt(1-rho*rho)
		}
	}
	return NewNormal(make([]float64, d), l)
}

// Cov returns element (i, j) of the covariance.
func (n *Normal) Cov(i, j int) float64 {
	c := 0.0
	for k := range min(i, j) + 1 {
		c += n.L[i][k] * n.L[j][k]
	}
	return c
}

// Dim implements [infer.LogDensity].
func (n *Normal) Dim() int { return len(n.Mean) }

// CloneDensity implements [infer.Cloner].
func (n *Normal) CloneDensity() infer.LogDensity { return NewNormal(n.Mean, n.L) }

// LogDensityGrad implements [infer.LogDensity].
func (n *Normal) LogDensityGrad(x, grad []float64) (float64, error) {
	n.whiten(x, n.z)
	lp := 0.0
	for _, z := range n.z {
		lp -= 0.5 * z * z
	}
	// Solve Lᵀw = z; the gradient is -w.
	for i := len(x) - 1; i >= 0; i-- {
		s := n.z[i]
		for k := i + 1; k < len(x); k++ {
			s -= n.L[k][i] * n.w[k]
		}
		n.w[i] = s / n.L[i][i]
		grad[i] = -n.w[i]
	}
	return lp, nil
}

func (n *Normal) whiten(x, z []float64) {
	for i := range x {
		s := x[i] - n.Mean[i]
		for k := range i {
			s -= n.L[i][k] * z[k]
		}
		z[i] = s / n.L[i][i]
	}
}

// Sample implements [Exact].
func (n *Normal) Sample(rng *rand.Rand, x []float64) {
	z := make([]float64, len(x))
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	for i := range x {
		x[i] = n.Mean[i]
		for k := range i + 1 {
			x[i] += n.L[i][k] * z[k]
		}
	}
}

// Uniforms implements [Exact].
func (n *Normal) Uniforms(x, u []float64) {
	z := make([]float64, len(x))
	n.whiten(x, z)
	for i := range z {
		u[i] = normalCDF(z[i])
	}
}

func (n *Normal) String() string { return fmt.Sprintf("normal(%d)", len(n.Mean)) }

// Funnel is Neal's funnel: x₁ ~ normal(0, 3), the others normal(0, exp(x₁/2)). No constant step
// size suits it, so samplers miss its neck. Nevertheless, a single transition leaves it invariant.
type Funnel struct{ D int }

// Dim implements [infer.LogDensity].
func (f Funnel) Dim() int { return f.D }

// CloneDensity implements [infer.Cloner].
func (f Funnel) CloneDensity() infer.LogDensity { return f }

// LogDensityGrad implements [infer.LogDensity].
func (f Funnel) LogDensityGrad(x, grad []float64) (float64, error) {
	v := x[0]
	precision := math.Exp(-v)
	lp := -v*v/18 - 0.5*float64(len(x)-1)*v
	grad[0] = -v/9 - 0.5*float64(len(x)-1)
	for i := 1; i < len(x); i++ {
		s := 0.5 * precision * x[i] * x[i]
		lp -= s
		grad[0] += s
		grad[i] = -precision * x[i]
	}
	return lp, nil
}

// Sample implements [Exact].
func (f Funnel) Sample(rng *rand.Rand, x []float64) {
	x[0] = 3 * rng.NormFloat64()
	for i := 1; i < len(x); i++ {
		x[i] = math.Exp(x[0]/2) * rng.NormFloat64()
	}
}

// Uniforms implements [Exact].
func (f Funnel) Uniforms(x, u []float64) {
	u[0] = normalCDF(x[0] / 3)
	for i := 1; i < len(x); i++ {
		u[i] = normalCDF(x[i] * math.Exp(-x[0]/2))
	}
}

func (f Funnel) String() string { return fmt.Sprintf("funnel(%d)", f.D) }

// Banana is a twisted normal in two dimensions: x₁ ~ normal(0, Sigma),
// x₂ ~ normal(B (x₁² - Sigma²), 1).
type Banana struct{ B, Sigma float64 }

// Dim implements [infer.LogDensity].
func (b Banana) Dim() int { return 2 }

// CloneDensity implements [infer.Cloner].
func (b Banana) CloneDensity() infer.LogDensity { return b }

func (b Banana) center(x1 float64) float64 { return b.B * (x1*x1 - b.Sigma*b.Sigma) }

// LogDensityGrad implements [infer.LogDensity].
func (b Banana) LogDensityGrad(x, grad []float64) (float64, error) {
	r := x[1] - b.center(x[0])
	z := x[0] / b.Sigma
	grad[0] = -z/b.Sigma + 2*b.B*x[0]*r
	grad[1] = -r
	return -0.5*z*z - 0.5*r*r, nil
}

// Sample implements [Exact].
func (b Banana) Sample(rng *rand.Rand, x []float64) {
	x[0] = b.Sigma * rng.NormFloat64()
	x[1] = b.center(x[0]) + rng.NormFloat64()
}

// Uniforms implements [Exact].
func (b Banana) Uniforms(x, u []float64) {
	u[0] = normalCDF(x[0] / b.Sigma)
	u[1] = normalCDF(x[1] - b.center(x[0]))
}

func (b Banana) String() string { return fmt.Sprintf("banana(%v, %v)", b.B, b.Sigma) }

// StudentT has independent coordinates with Nu degrees of freedom: heavy tails.
type StudentT struct {
	D  int
	Nu float64
}

// Dim implements [infer.LogDensity].
func (t StudentT) Dim() int { return t.D }

// CloneDensity implements [infer.Cloner].
func (t StudentT) CloneDensity() infer.LogDensity { return t }

// LogDensityGrad implements [infer.LogDensity].
func (t StudentT) LogDensityGrad(x, grad []float64) (float64, error) {
	lp := 0.0
	for i, xi := range x {
		lp -= 0.5 * (t.Nu + 1) * math.Log1p(xi*xi/t.Nu)
		grad[i] = -(t.Nu + 1) * xi / (t.Nu + xi*xi)
	}
	return lp, nil
}

// Sample implements [Exact].
func (t StudentT) Sample(rng *rand.Rand, x []float64) {
	chi2 := distuv.ChiSquared{K: t.Nu, Src: rng}
	for i := range x {
		x[i] = rng.NormFloat64() / math.Sqrt(chi2.Rand()/t.Nu)
	}
}

// Uniforms implements [Exact].
func (t StudentT) Uniforms(x, u []float64) {
	d := distuv.StudentsT{Sigma: 1, Nu: t.Nu}
	for i, xi := range x {
		u[i] = d.CDF(xi)
	}
}

func (t StudentT) String() string { return fmt.Sprintf("student_t(%d, %v)", t.D, t.Nu) }

// Logistic has independent standard logistic coordinates: the distribution of a parameter on the
// unconstrained scale that is uniform on (0, 1).
type Logistic struct{ D int }

// Dim implements [infer.LogDensity].
func (l Logistic) Dim() int { return l.D }

// CloneDensity implements [infer.Cloner].
func (l Logistic) CloneDensity() infer.LogDensity { return l }

// LogDensityGrad implements [infer.LogDensity].
func (l Logistic) LogDensityGrad(x, grad []float64) (float64, error) {
	lp := 0.0
	for i, xi := range x {
		lp -= math.Abs(xi) + 2*math.Log1p(math.Exp(-math.Abs(xi)))
		grad[i] = -math.Tanh(xi / 2)
	}
	return lp, nil
}

// Sample implements [Exact].
func (l Logistic) Sample(rng *rand.Rand, x []float64) {
	for i := range x {
		// The difference of the logs of two exponentials is logistic.
		x[i] = math.Log(rng.ExpFloat64() / rng.ExpFloat64())
	}
}

// Uniforms implements [Exact].
func (l Logistic) Uniforms(x, u []float64) {
	for i, xi := range x {
		u[i] = 1 / (1 + math.Exp(-xi))
	}
}

func (l Logistic) String() string { return fmt.Sprintf("logistic(%d)", l.D) }

// LogGamma has independent coordinates exp(x) ~ gamma(Shape, 1): skewed, with
// one exponential and one doubly exponential tail.
type LogGamma struct {
	D     int
	Shape float64
}

// Dim implements [infer.LogDensity].
func (g LogGamma) Dim() int { return g.D }

// CloneDensity implements [infer.Cloner].
func (g LogGamma) CloneDensity() infer.LogDensity { return g }

// LogDensityGrad implements [infer.LogDensity].
func (g LogGamma) LogDensityGrad(x, grad []float64) (float64, error) {
	lp := 0.0
	for i, xi := range x {
		e := math.Exp(xi)
		lp += g.Shape*xi - e
		grad[i] = g.Shape - e
	}
	return lp, nil
}

// Sample implements [Exact].
func (g LogGamma) Sample(rng *rand.Rand, x []float64) {
	// gamma(a) = gamma(a+1) U^(1/a), in logs to avoid underflow.
	d := distuv.Gamma{Alpha: g.Shape + 1, Beta: 1, Src: rng}
	for i := range x {
		x[i] = math.Log(d.Rand()) - rng.ExpFloat64()/g.Shape
	}
}

// Uniforms implements [Exact].
func (g LogGamma) Uniforms(x, u []float64) {
	for i, xi := range x {
		u[i] = mathext.GammaIncReg(g.Shape, math.Exp(xi))
	}
}

func (g LogGamma) String() string { return fmt.Sprintf("log_gamma(%d, %v)", g.D, g.Shape) }

// Bimodal has standard normal coordinates except the first, which is an even mixture of two normals
// with means Distance apart.
type Bimodal struct {
	D        int
	Distance float64
}

// Dim implements [infer.LogDensity].
func (b Bimodal) Dim() int { return b.D }

// CloneDensity implements [infer.Cloner].
func (b Bimodal) CloneDensity() infer.LogDensity { return b }

// LogDensityGrad implements [infer.LogDensity].
func (b Bimodal) LogDensityGrad(x, grad []float64) (float64, error) {
	m := b.Distance / 2
	// log(φ(x-m) + φ(x+m)) = -x²/2 + log cosh(m x) + constant
	a := math.Abs(m * x[0])
	lp := -0.5*x[0]*x[0] + a + math.Log1p(math.Exp(-2*a))
	grad[0] = -x[0] + m*math.Tanh(m*x[0])
	for i := 1; i < len(x); i++ {
		lp -= 0.5 * x[i] * x[i]
		grad[i] = -x[i]
	}
	return lp, nil
}

// Sample implements [Exact].
func (b Bimodal) Sample(rng *rand.Rand, x []float64) {
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	x[0] += b.Distance * (float64(rng.IntN(2)) - 0.5)
}

// Uniforms implements [Exact].
func (b Bimodal) Uniforms(x, u []float64) {
	for i, xi := range x {
		u[i] = normalCDF(xi)
	}
	m := b.Distance / 2
	u[0] = 0.5*normalCDF(x[0]-m) + 0.5*normalCDF(x[0]+m)
}

func (b Bimodal) String() string { return fmt.Sprintf("bimodal(%d, %v)", b.D, b.Distance) }

// Exponential has independent standard exponential coordinates without a transform: the log density
// is -Inf where one is negative.
type Exponential struct{ D int }

// Dim implements [infer.LogDensity].
func (e Exponential) Dim() int { return e.D }

// CloneDensity implements [infer.Cloner].
func (e Exponential) CloneDensity() infer.LogDensity { return e }

// LogDensityGrad implements [infer.LogDensity].
func (e Exponential) LogDensityGrad(x, grad []float64) (float64, error) {
	lp := 0.0
	for i, xi := range x {
		grad[i] = -1
		if xi < 0 {
			lp = math.Inf(-1)
		}
		lp -= xi
	}
	return lp, nil
}

// Sample implements [Exact].
func (e Exponential) Sample(rng *rand.Rand, x []float64) {
	for i := range x {
		x[i] = rng.ExpFloat64()
	}
}

// Uniforms implements [Exact].
func (e Exponential) Uniforms(x, u []float64) {
	for i, xi := range x {
		u[i] = -math.Expm1(-xi)
	}
}

func (e Exponential) String() string { return fmt.Sprintf("exponential(%d)", e.D) }
