package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// This file: the uniform asymptotic expansion of the incomplete gamma functions (Temme 1979, SIAM
// J. Math. Anal. 10; DLMF 8.12). With λ = x/a and ½η² = λ - 1 - log λ, where η has the sign of λ-1,
//
//	Q(a, x) = Φ(-η√a) + φ(η√a)/√a Σ cₖ(η) a⁻ᵏ.
//
// Derivatives with respect to a follow from dη/da = -r(η)/a with r = (λ-1)/η. All use Taylor
// series, so that nothing cancels near η = 0.

const (
	// largeShape is the least a for which the expansion is used, and temmeWidth the greatest |η|√a.
	// For a greater |η|√a the continued fractions take at most 30 terms.
	largeShape = 50
	temmeWidth = 3.5
)

// temmeRatio holds the coefficients of r in powers of η, computed by testdata/temme.py.
var temmeRatio = [...]float64{
	1.0, 0.3333333333333333, 0.027777777777777776, -0.003703703703703704, 0.0002314814814814815,
	5.878894767783657e-05, -2.553644914756026e-05, 4.899078973153047e-06, -2.428276122977769e-07,
	-1.85406221071516e-07, 7.542464855411896e-08, -1.47216272806884e-08, 5.159887341078076e-10,
	7.32986413160022e-10, -2.921357345635569e-10, 5.717312238897994e-11, -1.5008349408791911e-12,
	-3.239317851416903e-12, 1.2822077905614429e-12, -2.513834640057088e-13,
}

// temmeTerms holds the coefficients of the cₖ, computed by testdata/temme.py.
var temmeTerms = [...][]float64{
	{
		-0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073,
		0.0003527336860670194, -0.0001787551440329218, 3.919263178522438e-05,
		-2.185448510679992e-06, -1.85406221071516e-06, 8.296711340953087e-07,
		-1.7665952736826078e-07, 6.707853543401498e-09, 1.0261809784240309e-08,
		-4.382036018453353e-09, 9.14769958223679e-10, -2.5514193994946248e-11,
		-5.830772132550426e-11, 2.4361948020667415e-11, -5.0276692801141755e-12,
		1.1004392031956135e-13, 3.371763262400985e-13, -1.392388722418162e-13,
		2.8534893807047445e-14, -5.139111834242572e-16, -1.9752288294349442e-15,
	},
	{
		-0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596,
		0.00020576131687242798, -4.018775720164609e-07, -1.8098550334489977e-05,
		7.64916091608111e-06, -1.6120900894563446e-06, 4.647127802807434e-09, 1.378633446915721e-07,
		-5.752545603517705e-08, 1.1951628599778148e-08, -1.7543241719747647e-11,
		-1.0091543710600413e-09, 4.162792991842583e-10, -8.56390702649298e-11,
		6.067215101604758e-14, 7.1624989648114856e-12, -2.933186643771437e-12,
		5.996696365683689e-13, -2.1671786527323313e-16, -4.978339972369262e-14,
	},
	{
		0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06,
		-0.0001073665322636516, 5.2923448829120125e-05, -1.2760635188618728e-05,
		3.423578734096138e-08, 1.3721957309062934e-06, -6.298992138380055e-07,
		1.4280614206064242e-07, -2.0477098421990866e-10, -1.409252991086752e-08,
		6.228974084922022e-09, -1.3670488396617114e-09, 9.428356159014678e-13,
		1.2872252400089318e-10, -5.5645956134363323e-11, 1.197593554636698e-11,
		-4.1689782251838634e-15, -1.0940640427884595e-12,
	},
	{
		0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557,
		0.00026772063206283885, -7.561801671883977e-05, -2.396505113867297e-07,
		1.1082654115347302e-05, -5.6749528269915965e-06, 1.4230900732435883e-06,
		-2.7861080291528143e-11, -1.6958404091930278e-07, 8.099464905388083e-08,
		-1.9111168485973655e-08, 2.3928620439808118e-12, 2.0620131815488797e-09,
		-9.460496661855133e-10, 2.1541049775774907e-10, -1.388823336813903e-14,
		-2.1894761681963938e-11, 9.790998951171684e-12,
	},
	{
		-0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902,
		-1.4638452578843418e-06, 6.641498215465122e-05, -3.968365047179435e-05,
		1.1375726970678419e-05, 2.507497226237533e-10, -1.6954149536558305e-06,
		8.907507532205309e-07, -2.292934834000805e-07, 2.956794137544049e-11,
		2.8865829742708783e-08, -1.4189739437803219e-08, 3.4463580499464896e-09,
		-2.3024517174528067e-13, -3.9409233028046403e-10,
	},
	{
		-0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392,
		-0.00019932570516188847, 6.797780477937208e-05, 1.419062920643967e-07,
		-1.3594048189768693e-05, 8.018470256334202e-06, -2.291481176508095e-06,
		-3.252473551298454e-10, 3.4652846491085265e-07, -1.8447187191171344e-07,
		4.8240967037894184e-08, -1.7989466721743514e-14, -6.306194500013523e-09,
	},
	{
		0.0005313079364639922, -0.0005921664373536939, 0.0002708782096718045, 7.902353232660328e-07,
		-8.153969367561969e-05, 5.61168275310625e-05, -1.8329116582843375e-05,
		-3.0796134506033047e-09, 3.465155368803609e-06, -2.0291327396058603e-06,
		5.788792863149004e-07, 2.338630673826657e-13, -8.828600746330484e-08,
	},
	{
		0.00034436760689237765, 5.171790908260592e-05, -0.00033493161081142234,
		0.0002812695154763237, -0.00010976582244684731, -1.2741009095484485e-07,
		2.7744451511563645e-05, -1.8263488805711332e-05, 5.7876949497350525e-06,
	},
	{
		-0.0006526239185953094, 0.0008394987206720873, -0.000438297098541721,
		-6.969091458420552e-07, 0.00016644846642067547, -0.00012783517679769218,
		4.629953263691304e-05,
	},
	{-0.0005967612901927463, -7.204895416020011e-05, 0.0006782308837667328, -0.0006401475260262758},
}

// temmeEta returns η, see above.
func temmeEta(a, x float64) float64 {
	mu := (x - a) / a
	return math.Copysign(math.Sqrt(-2*log1pMinus(mu)), mu)
}

// polynomial returns the Taylor series at x, up to the n-th coefficient, of the polynomial with
// coefficients c.
func polynomial(n int, c []float64, x float64) (p series) {
	for i := len(c) - 1; i >= 0; i-- {
		for k := n; k > 0; k-- {
			p[k] = p[k]*x + p[k-1]
		}
		p[0] = p[0]*x + c[i]
	}
	return p
}

// compose returns the composition of s and x: s is a series in the value of x, and the result is a
// series in the variable of x.
func (s series) compose(n int, x series) series {
	x[0] = 0
	out := series{s[n]}
	for k := n - 1; k >= 0; k-- {
		out = out.mul(n, x)
		out[0] = s[k]
	}
	return out
}

// temmeGamma computes incompleteGamma by the expansion.
func temmeGamma(n int, a, eta float64, upper bool) float64 {
	rows := 1
	for p := 1 / a; rows < len(temmeTerms) && p > 1e-16; p /= a {
		rows++
	}
	if n <= 1 {
		return temmeFirst(n, a, eta, temmeTerms[:rows], upper)
	}
	// The series are in t, for the shape a(1+t).
	h := series{eta}
	r := polynomial(n-1, temmeRatio[:], eta)
	h[1] = -r[0]
	h[2] = -0.5 * (r[1]*h[1] + h[1])
	h[3] = -(r[1]*h[2] + r[2]*h[1]*h[1] + 2*h[2]) / 3
	inverse := series{1 / a, -1 / a, 1 / a, -1 / a}
	var sum series
	for k := rows - 1; k >= 0; k-- {
		sum = sum.mul(n, inverse).add(polynomial(n, temmeTerms[k], eta).compose(n, h))
	}
	// z = η√(a(1+t)), and the density at z.
	root := math.Sqrt(a)
	z := h.mul(n, series{root, root / 2, -root / 8, root / 16})
	density := z.mul(n, z).scale(-0.5)
	density[0] -= logSqrt2Pi
	density = density.exp(n)
	sum = sum.mul(n, density).mul(n, series{1 / root, -0.5 / root, 0.375 / root, -0.3125 / root})
	// Compute the smaller one of Q and P; sign says which.
	sign := 1.0
	if z[0] < 0 {
		sign = -1
	}
	tail := series{0.5 * routines.Erfc(math.Abs(z[0])*math.Sqrt2/2)}
	for k := 1; k <= n; k++ { // d tail/dt = -sign·density·dz/dt
		for i := 1; i <= k; i++ {
			tail[k] -= sign * float64(i) * z[i] * density[k-i]
		}
		tail[k] /= float64(k)
	}
	tail = tail.add(sum.scale(sign))
	log := routines.Log(tail[0])
	if upper != (sign > 0) {
		log = math.Log1p(-tail[0])
		tail = tail.scale(-1)
		tail[0] += 1
	}
	v := tail.log(n, log)[n]
	for range n {
		v /= a
	}
	return v
}

// temmeFirst is temmeGamma for n ≤ 1, evaluated without series.
func temmeFirst(n int, a, eta float64, rows [][]float64, upper bool) float64 {
	inverse, root := 1/a, math.Sqrt(a)
	slope := 0.0 // derivative of η with respect to log a
	if n > 0 {
		for i := len(temmeRatio) - 1; i >= 0; i-- {
			slope = slope*eta - temmeRatio[i]
		}
	}
	var sum, sum1 float64
	for k := len(rows) - 1; k >= 0; k-- {
		var c, c1 float64
		row := rows[k]
		if n == 0 {
			for i := len(row) - 1; i >= 0; i-- {
				c = c*eta + row[i]
			}
		} else {
			for i := len(row) - 1; i >= 0; i-- {
				c1 = c1*eta + c
				c = c*eta + row[i]
			}
		}
		sum1 = (sum1-sum)*inverse + c1*slope
		sum = sum*inverse + c
	}
	z := eta * root
	density, sign := math.Exp(-0.5*z*z-logSqrt2Pi), 1.0
	if z < 0 {
		sign = -1
	}
	rest := sum * density / root
	tail := 0.5*routines.Erfc(math.Abs(z)*(math.Sqrt2/2)) + sign*rest
	lesser := upper == (eta >= 0)
	if n == 0 {
		if lesser {
			return routines.Log(tail)
		}
		return math.Log1p(-tail)
	}
	z1 := root * (slope + 0.5*eta)
	change := sign * (rest*(sum1/sum-0.5-z*z1) - density*z1)
	if lesser {
		return change * inverse / tail
	}
	return -change * inverse / (1 - tail)
}
