package stdlib

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: multivariate normal and Student's t distributions, in all parametrisations, and
// Gaussian processes. Formulas are those of Gelman et al., Bayesian Data Analysis (3rd ed.),
// appendix A.

// scatter is the matrix argument of a density. logDet is half the logarithm of the determinant of
// the covariance, and whiten turns rows d into rows z with z zᵀ = d Σ⁻¹ dᵀ.
type scatter struct {
	logDet    ad.Ref
	whiten    func(d ad.Ref) ad.Ref
	precision ad.Ref // Σ⁻¹, if it is data; otherwise None
}

// squares returns numbers whose sum over a row d is d Σ⁻¹ dᵀ. If a precision matrix is data, one
// product gives them and their derivative; whitening takes two.
func (s scatter) squares(g *ad.Graph, d ad.Ref) ad.Ref {
	if s.precision != ad.None {
		return g.Mul(d, g.MatMul(d, s.precision))
	}
	return g.Square(s.whiten(d))
}

// scatters are the three parametrisations, of argument i of a call.
var scatters = map[string]func(b *Builder, a []Arg, i int) scatter{
	"": func(b *Builder, a []Arg, i int) scatter { // the covariance
		return b.lowerScatter(b.factor(a, i, "Covariance matrix"))
	},
	"_cholesky": func(b *Builder, a []Arg, i int) scatter {
		if b.square(a, i) > 0 {
			check(b.G, b.Name, "diagonal of the Cholesky factor", types.Positive, diagonal(b.G, a[i].Ref))
		}
		return b.lowerScatter(a[i].Ref)
	},
	"_prec": func(b *Builder, a []Arg, i int) scatter {
		g, l := b.G, b.factor(a, i, "Precision matrix")
		s := scatter{g.Neg(logDiagonal(g, l)), func(d ad.Ref) ad.Ref { return g.MatMul(d, l) }, ad.None}
		if _, known := g.Value(a[i].Ref); known {
			s.precision = a[i].Ref
		}
		return s
	},
}

// lowerScatter returns the scatter for the Cholesky factor L of a covariance matrix.
func (b *Builder) lowerScatter(l ad.Ref) scatter {
	g := b.G
	solve := ad.TriAttr{Trans: true, Right: true}
	return scatter{logDiagonal(g, l), func(d ad.Ref) ad.Ref {
		if t := g.Type(d); t.Lanes > 0 && g.Type(l).Lanes == 0 {
			// Solve for the rows of all lanes at once.
			k := t.Shape[1]
			rows := g.Reshape(g.Unlane(d), []int{t.Lanes * t.Shape[0], k})
			return g.Lane(g.Reshape(g.TriSolve(l, rows, solve), []int{t.Lanes, t.Shape[0], k}))
		}
		return g.TriSolve(l, d, solve)
	}, ad.None}
}

// differences checks variate y and location mu, vectors or arrays of them, and
// the size of the matrix; it returns y - mu as n rows of length k.
func (b *Builder) differences(y, mu, m Arg) (d ad.Ref, n, k int) {
	g := b.G
	vs, n, k := b.sameRows([]Arg{y, mu}, "the random variable", "the location parameter")
	if n > 0 && b.shape(m)[0] != k {
		b.Fail("the random variable has size %d, but the matrix has %s", k, sizeText(b.shape(m)))
	}
	check(g, b.Name, "Location parameter", types.Finite, mu.Ref)
	check(g, b.Name, "Random variable", types.NotNaN, y.Ref)
	return g.Reshape(g.Sub(vs[0], vs[1]), []int{n, max(k, 0)}), n, k
}

// multiNormal builds -½ Σ (y-μ)ᵀ Σ⁻¹ (y-μ) - ½ log |Σ| - ½k log 2π.
func multiNormal(form string) func(b *Builder, a []Arg) []ad.Ref {
	return func(b *Builder, a []Arg) []ad.Ref {
		if what := map[string]string{"": "covariance", "_prec": "precision"}[form]; what != "" {
			b.hasRows(a[2], what+" matrix")
		}
		s := scatters[form](b, a, 2)
		d, n, k := b.differences(a[0], a[1], a[2])
		if n == 0 || k == 0 {
			return nil
		}
		rows := float64(n)
		return b.kept(a,
			Term{Value: b.G.Const(-logSqrt2Pi * rows * float64(k))},
			Term{Value: s.logDet, Weight: -rows, Of: 1 << 2},
			Term{Value: s.squares(b.G, d), Weight: -0.5, Of: always})
	}
}

// hasRows fails for a matrix without elements. Stan requires elements in covariances, precisions
// and kernels, but not in their Cholesky factors, nor in the scale of Student's distribution.
func (b *Builder) hasRows(m Arg, what string) {
	if b.shape(m)[0] == 0 {
		b.Fail("the %s has no rows", what)
	}
}

// multiStudent builds Student's density in k dimensions: Γ(½(ν+k))/Γ(½ν) (νπ)^(-k/2) |Σ|^(-½) (1 +
// (y-μ)ᵀ Σ⁻¹ (y-μ)/ν)^(-½(ν+k)).
func multiStudent(form string) func(b *Builder, a []Arg) []ad.Ref {
	return func(b *Builder, a []Arg) []ad.Ref {
		g, nu := b.G, a[1].Ref
		check(g, b.Name, degrees.Is, degrees.In, nu)
		s := scatters[form](b, a, 3)
		d, n, k := b.differences(a[0], a[2], a[3])
		if n == 0 || k == 0 {
			return nil
		}
		rows, dim := float64(n), float64(k)
		half, all := g.Scale(0.5, nu), g.Scale(0.5, plus(g, nu, dim))
		// log Γ((ν+k)/2) - log Γ(ν/2) is log Γ(k/2) - log B(ν/2, k/2), which does not cancel for
		// large ν.
		lgammaK, _ := math.Lgamma(0.5 * dim)
		norm := g.Sub(plus(g, g.Neg(g.Do(ad.OpLbeta, nil, half, g.Const(0.5*dim))), lgammaK), g.Scale(0.5*dim, g.Log(nu)))
		square := sumRows(g, s.squares(g, d))
		ratio := g.Div(square, nu)
		log := g.Do(ad.OpLog1p, nil, ratio)
		kernel := g.Mul(all, log)
		if _, known := g.Value(nu); !known {
			// As for student_t, the addends have slopes of the size of 1/ν² instead of their
			// derivatives, which are of the size of 1/ν and cancel.
			i, inverse := g.Inv(nu), g.Inv(plus(g, ratio, 1))
			part := g.Mul(ratio, inverse)
			gap := g.Do(ad.OpDigammaGap, nil, half, g.Const(0.5*dim))
			norm = g.Add(g.Detach(norm), g.Slope(nu, g.Scale(0.5, g.Sub(gap, g.Scale(dim, g.Mul(g.Less(half, g.Const(1)), i))))))
			byNu := g.Scale(0.5, g.Sub(g.Do(ad.OpLogGap, nil, part, log), g.Scale(dim, g.Mul(part, i))))
			kernel = g.Add(g.Detach(kernel), g.Add(g.Slope(nu, byNu), g.Slope(square, g.Mul(g.Mul(all, i), inverse))))
		}
		return b.kept(a,
			Term{Value: norm, Weight: rows, Of: 1 << 1},
			Term{Value: g.Const(-0.5 * dim * rows * math.Log(math.Pi))},
			Term{Value: s.logDet, Weight: -rows, Of: 1 << 3},
			Term{Value: kernel, Weight: -1, Of: always})
	}
}

// normals draws independent standard normal numbers.
func (b *Builder) normals(shape []int) ad.Ref {
	zero := b.G.Broadcast(b.G.Const(0), shape)
	return b.random("std_normal", func(rng *rand.Rand, _ []float64) float64 { return rng.NormFloat64() }, zero)
}

// drawNormal draws the location plus L z for normal z, for every vector of the location. nu, if
// present, divides by √(χ²/ν).
func (b *Builder) drawNormal(location ad.Ref, l ad.Ref, nu ad.Ref) ad.Ref {
	g := b.G
	s := g.Type(location).Shape
	k := s[len(s)-1]
	n := product(s) / max(k, 1)
	z := g.MatMul(b.normals([]int{n, k}), g.Transpose(l))
	if nu != ad.None {
		scale := b.random("student", func(rng *rand.Rand, p []float64) float64 {
			return math.Sqrt(p[0] / (2 * randGamma(rng, p[0]/2)))
		}, g.Broadcast(nu, []int{n}))
		z = g.Mul(z, alongCols(g, scale, []int{n, k}))
	}
	return g.Add(location, g.Reshape(z, s))
}

// multiGP builds a density under which the rows of y are normal with mean 0 and covariance Σ/wᵢ.
func multiGP(factor func(b *Builder, a []Arg) ad.Ref) func(b *Builder, a []Arg) []ad.Ref {
	return func(b *Builder, a []Arg) []ad.Ref {
		g, y, w := b.G, a[0].Ref, a[2].Ref
		s := b.shape(a[0])
		if s[0] != b.size(a[2]) {
			b.Fail("the random variable has %d rows, but there are %d kernel scales", s[0], b.size(a[2]))
		}
		if s[1] != b.square(a, 1) {
			b.Fail("the random variable has %d columns, but the kernel has %s", s[1], sizeText(b.shape(a[1])))
		}
		check(g, b.Name, "Kernel scales", types.PositiveFinite, w)
		check(g, b.Name, "Random variable", types.Finite, y)
		l := factor(b, a)
		if product(s) == 0 {
			return nil
		}
		rows, cols := float64(s[0]), float64(s[1])
		sc := b.lowerScatter(l)
		return b.kept(a,
			Term{Value: g.Const(-logSqrt2Pi * rows * cols)},
			Term{Value: sc.logDet, Weight: -rows, Of: 1 << 1},
			Term{Value: g.Log(w), Weight: 0.5 * cols, Of: 1 << 2},
			Term{Value: g.Mul(w, sumRows(g, sc.squares(g, y))), Weight: -0.5, Of: always})
	}
}

// multivariates declares the distributions of vectors, and Gaussian processes.
func multivariates() []Func {
	matrix := types.Just(tMat)
	shapes := map[string]types.Constraint{"": types.CovMat, "_cholesky": types.CholeskyCov, "_prec": types.CovMat}
	what := map[string]string{"": "covariance Sigma", "_cholesky": "Cholesky factor L of the covariance", "_prec": "precision Omega, the inverse of the covariance"}
	var fs []Func
	for _, form := range []string{"", "_cholesky", "_prec"} {
		in := shapes[form]
		doc := "the multivariate normal distribution with mean mu and " + what[form]
		fs = append(fs, density("multi_normal"+form+"_lpdf", "The logarithm of the density of "+doc+", added up over arrays of vectors.",
			[]types.Set{types.Vectors, types.Vectors, matrix}, []types.Constraint{{}, {}, in}, multiNormal(form)).
			with(func(f *Func) { f.Statements = multiNormalStatements(form) }))
		if form == "_prec" {
			continue
		}
		name := "multi_normal" + form + "_rng"
		fs = append(fs, Func{Name: name, Doc: "A draw from " + doc + ".", Overload: types.Generator(name, tVec, types.Vectors, matrix),
			In: []types.Constraint{{}, in}, Random: true, Build: func(b *Builder, a []Arg) ad.Ref {
				check(b.G, b.Name, "Location parameter", types.Finite, a[0].Ref)
				b.fits(a[0], a[1])
				return b.drawNormal(a[0].Ref, b.lower(form, a, 1), ad.None)
			}})
		doc = "the multivariate Student t distribution with nu degrees of freedom, location mu and " + map[string]string{"": "scale Sigma", "_cholesky": "Cholesky factor L of the scale"}[form]
		fs = append(fs, density("multi_student_t"+form+"_lpdf", "The logarithm of the density of "+doc+", added up over arrays of vectors.",
			[]types.Set{types.Vectors, types.Just(tReal), types.Vectors, matrix}, []types.Constraint{{}, types.Positive, {}, in}, multiStudent(form)))
		name = "multi_student_t" + form + "_rng"
		fs = append(fs, Func{Name: name, Doc: "A draw from " + doc + ".", Overload: types.Generator(name, tVec, types.Just(tReal), types.Vectors, matrix),
			In: []types.Constraint{types.Positive, {}, in}, Random: true, Build: func(b *Builder, a []Arg) ad.Ref {
				check(b.G, b.Name, degrees.Is, degrees.In, a[0].Ref)
				check(b.G, b.Name, "Location parameter", types.Finite, a[1].Ref)
				b.fits(a[1], a[2])
				return b.drawNormal(a[1].Ref, b.lower(form, a, 2), a[0].Ref)
			}})
	}
	gp := func(name, doc string, in types.Constraint, factor func(b *Builder, a []Arg) ad.Ref) Func {
		return density(name, "The logarithm of the density of independent Gaussian processes, the rows of y, with mean 0, common "+doc+" and precision scales w.",
			[]types.Set{matrix, matrix, types.Just(tVec)}, []types.Constraint{{}, in, types.Positive}, multiGP(factor))
	}
	return append(fs,
		gp("multi_gp_lpdf", "kernel matrix Sigma", types.CovMat, func(b *Builder, a []Arg) ad.Ref {
			b.hasRows(a[1], "kernel matrix")
			return b.factor(a, 1, "Kernel")
		}),
		gp("multi_gp_cholesky_lpdf", "Cholesky factor L of the kernel matrix", types.CholeskyCov, func(b *Builder, a []Arg) ad.Ref { return a[1].Ref }))
}

// lower returns the Cholesky factor of argument i in the named parametrisation.
func (b *Builder) lower(form string, a []Arg, i int) ad.Ref {
	if form == "_cholesky" {
		b.square(a, i)
		return lowerTriangle(b.G, a[i].Ref)
	}
	return b.factor(a, i, "Covariance matrix")
}

// fits fails unless vectors have the size of a matrix.
func (b *Builder) fits(v, m Arg) {
	if _, k := b.rows(v); b.size(v) > 0 && k != b.shape(m)[0] {
		b.Fail("the location parameter has size %d, but the matrix has %s", k, sizeText(b.shape(m)))
	}
}
