package kernel

import "math"

// invSqrt2 + invSqrt2Low is 1/√2 to twice the precision.
const (
	invSqrt2    = 0.70710678118654757
	invSqrt2Low = -4.833646656726457e-17
)

// Phi is the standard normal cumulative distribution function, ½ erfc(-x/√2).
// In the left tail the rounding error of x/√2 would be magnified x² times; it
// is computed with a fused multiplication and added to first order.
func Phi(x float64) float64 {
	t := -x * invSqrt2
	if !(x < -1) || x < -39 {
		return 0.5 * math.Erfc(t)
	}
	low := math.FMA(-x, invSqrt2, -t) - x*invSqrt2Low
	return 0.5*math.Erfc(t) - math.Exp(-t*t)*low/math.SqrtPi
}

// LogPhi is log Φ(x), accurate in both tails.
func LogPhi(x float64) float64 {
	switch {
	case x > 0:
		return math.Log1p(-Phi(-x))
	case x > -20 || math.IsNaN(x):
		return math.Log(Phi(x))
	case math.IsInf(x, -1):
		return x
	}
	return -0.5*x*x - logSqrt2Pi - math.Log(-x) + math.Log(millsSeries(x))
}

// millsSeries is -x Φ(x)/φ(x) for x ≤ -20, by its asymptotic series
// 1 - 1/x² + 3/x⁴ - 15/x⁶ + ….
func millsSeries(x float64) float64 {
	q := 1 / (x * x)
	s := 1.0
	for k := 15; k > 0; k -= 2 {
		s = 1 - float64(k)*q*s
	}
	return s
}

// PhiRatio is φ(x)/Φ(x), the derivative of log Φ: about -x in the left tail.
func PhiRatio(x float64) float64 {
	if x <= -20 {
		if math.IsInf(x, -1) {
			return math.Inf(1)
		}
		return -x / millsSeries(x)
	}
	// φ with the error of x² restored, as exp magnifies it.
	sq := x * x
	low := math.FMA(x, x, -sq)
	phi := math.Exp(-0.5*sq) * (1 - 0.5*low) / (math.Sqrt2 * math.SqrtPi)
	if math.IsInf(x, 1) {
		return 0
	}
	return phi / Phi(x)
}

// PhiExcess is x + PhiRatio(x): about -1/x in the left tail.
func PhiExcess(x float64) float64 {
	if x > -20 {
		return x + PhiRatio(x)
	}
	// With m = millsSeries(x): x - x/m = -x(1-m)/m, where 1-m is the series less
	// its first term.
	q := 1 / (x * x)
	s := 1.0
	for k := 15; k > 1; k -= 2 {
		s = 1 - float64(k)*q*s
	}
	return -s / (x * (1 - q*s))
}

// LogExpModTail is v²/2 - vz + log Φ(z-v) for v > 0: with m(t) = Φ(t)/φ(t) the
// logarithm of φ(z) m(z-v), which is used where the other form cancels.
func LogExpModTail(z, v float64) float64 {
	t := z - v
	if t < -20 {
		return -0.5*z*z - logSqrt2Pi - math.Log(-t) + math.Log(millsSeries(t))
	}
	return v*(0.5*v-z) + LogPhi(t)
}

// LogExpModCDF is the logarithm of Φ(z) - exp(LogExpModTail(z, v)), v > 0. That
// is φ(z) (m(z) - m(z-v)), and for small v, where this cancels, φ(z) times the
// integral of m' = 1 + t m, by Gauss's rule. On the right it is the complement.
func LogExpModCDF(z, v float64) float64 {
	switch {
	case math.IsNaN(z) || !(v > 0):
		return math.NaN()
	case math.IsInf(z, -1):
		return z
	case v > 0.5*max(1, math.Abs(z)):
		if z > 0 {
			return Log1mExp(LogAddExp(LogPhi(-z), LogExpModTail(z, v)))
		}
		return LogDiffExp(LogPhi(z), LogExpModTail(z, v))
	}
	if z > 0 {
		if upper := LogAddExp(LogPhi(-z), LogExpModTail(z, v)); upper < -math.Ln2 {
			return Log1mExp(upper)
		}
	}
	// m'(z-d) φ(z) = m(z-d) φ(z) excess(z-d).
	sum := 0.0
	for k, u := range gauss10 {
		for _, d := range [2]float64{0.5 * v * (1 - u), 0.5 * v * (1 + u)} {
			sum += gauss10Weights[k] * math.Exp(LogExpModTail(z, d)-LogPhi(z)) * PhiExcess(z-d)
		}
	}
	return LogPhi(z) + math.Log(0.5*v*sum)
}

// The positive nodes of Gauss's rule of ten points on [-1, 1], and their weights.
var (
	gauss10        = [5]float64{0.14887433898163122, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845, 0.9739065285171717}
	gauss10Weights = [5]float64{0.29552422471475287, 0.26926671930999635, 0.21908636251598204, 0.1494513491505806, 0.06667134430868814}
)

// PhiApprox is the logistic approximation of Phi that Stan offers,
// inv_logit(0.07056 x³ + 1.5976 x), with an error below 1.5e-4.
func PhiApprox(x float64) float64 { return InvLogit(PhiApproxArg(x)) }

// PhiApproxArg is the argument of the logistic function in PhiApprox.
func PhiApproxArg(x float64) float64 { return x * (0.07056*x*x + 1.5976) }

// InvPhi is the quantile function of the standard normal distribution: the
// rational approximations of Wichura, algorithm AS 241 (PPND16), followed by
// one step of Newton's method in the tails, on the logarithm of Phi, where the
// rounding of p's logarithm shows.
func InvPhi(p float64) float64 {
	switch {
	case !(p >= 0 && p <= 1):
		return math.NaN()
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	}
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - q*q
		return q * ratio(r, &asA, &asB)
	}
	tail := p
	if q > 0 {
		tail = 1 - p // exact for p > ½
	}
	r := math.Sqrt(-math.Log(tail))
	var x float64
	if r <= 5 {
		x = ratio(r-1.6, &asC, &asD)
	} else {
		x = ratio(r-5, &asE, &asF)
	}
	x = -x
	x -= (LogPhi(x) - math.Log(tail)) / PhiRatio(x)
	if q > 0 {
		return -x
	}
	return x
}

func ratio(r float64, a, b *[8]float64) float64 {
	n, d := 0.0, 0.0
	for k := 7; k >= 0; k-- {
		n, d = n*r+a[k], d*r+b[k]
	}
	return n / d
}

// Coefficients of AS 241: the centre, the near and the far tail.
var (
	asA = [8]float64{3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3}
	asB = [8]float64{1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}
	asC = [8]float64{1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
		1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	asD = [8]float64{1, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
	asE = [8]float64{6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	asF = [8]float64{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}
)
