package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// uniformBessel is the size of |v + ix| from which I_v(x) is computed by the expansion that is
// uniform in v and x (DLMF 10.41.3). Below it, the power series takes at most 90 terms.
const uniformBessel = 50

// besselRows holds the coefficients of u_k(p)/pᵏ in powers of p², from k = 1. They were computed by
// testdata/bessel.py.
var besselRows = [...][]float64{
	{0.125, -0.20833333333333334},
	{0.0703125, -0.4010416666666667, 0.3342013888888889},
	{0.0732421875, -0.8912109375, 1.8464626736111112, -1.0258125964506173},
	{0.112152099609375, -2.3640869140625, 8.78912353515625, -11.207002616222994, 4.669584423426247},
	{0.22710800170898438, -7.368794359479632, 42.53499874538846, -91.81824154324002, 84.63621767460073, -28.212072558200244},
	{0.5725014209747314, -26.491430486951554, 218.1905117442116, -699.5796273761325, 1059.9904525279999, -765.2524681411817, 212.57013003921713},
	{1.7277275025844574, -108.09091978839466, 1200.9029132163525, -5305.646978613403, 11655.393336864534, -13586.550006434138, 8061.722181737309, -1919.457662318407},
	{6.074042001273483, -493.915304773088, 7109.514302489364, -41192.65496889755, 122200.46498301746, -203400.17728041555, 192547.00123253153, -96980.59838863752, 20204.29133096615},
	{24.380529699556064, -2499.8304818112097, 45218.76898136273, -331645.1724845636, 1268365.2733216248, -2813563.226586534, 3763271.297656404, -2998015.9185381066, 1311763.6146629772, -242919.18790055133},
	{110.01714026924674, -13886.08975371704, 308186.4046126624, -2785618.1280864547, 13288767.166421818, -37567176.66076335, 66344512.27472903, -74105148.21153265, 50952602.49266464, -19706819.118432228, 3284469.853072038},
}

// largeBesselI returns log(e⁻ˣ I_v(x)) by the uniform expansion, and its derivative with respect to
// v. With h = |v + ix|, p = v/h and the polynomials U_k(p²) = u_k(p)/pᵏ, I_v(x) is
//
//	exp(h - v asinh(v/x))/√(2πh) (1 + Σ U_k(p²)/hᵏ).
func largeBesselI(v, x float64) (l, byV float64) {
	h := math.Hypot(v, x)
	p, i := v/h, 1/h
	q := p * p
	// The series, and its derivatives with respect to p² and to log 1/h.
	var sum, slope, order float64
	for k := len(besselRows) - 1; k >= 0; k-- {
		var u, du float64
		row := besselRows[k]
		for j := len(row) - 1; j >= 0; j-- {
			du = du*q + u
			u = u*q + row[j]
		}
		sum = (sum + u) * i
		slope = (slope + du) * i
		order = (order + float64(k+1)*u) * i
	}
	r := x / h
	change := p * i * (2*r*r*slope - order)
	angle := math.Asinh(v / x)
	if v > 1e10*x {
		angle = routines.Log(v) + math.Ln2 - routines.Log(x)
	}
	l = v*(v/(h+x)) - v*angle - 0.5*routines.Log(h) - logSqrt2Pi + math.Log1p(sum)
	return l, -angle - 0.5*p*i + change/(1+sum)
}
