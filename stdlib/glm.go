package stdlib

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: generalised linear models, the densities of other distributions at the linear
// predictor alpha + x beta. They are compositions of these densities and the predictor. Passes
// optimise the product of a constant matrix and a vector in the same way as in a model without
// these functions.

// linear returns alpha + x beta, with one element per row of x. The predictor is of parameter level
// if one of its parts is.
func (b *Builder) linear(x, alpha, beta Arg) Arg {
	g := b.G
	b.checkLinear(x, alpha, beta)
	var p ad.Ref
	switch s := b.shape(x); {
	case x.Type.Kind == types.Vector:
		if b.size(beta) != 1 {
			b.Fail("x is one column, but beta has size %d", b.size(beta))
		}
		p = g.MatVec(b.asMatrix(x), beta.Ref)
	case x.Type.Kind == types.RowVector:
		if s[0] != b.size(beta) {
			b.Fail("x has size %d, but beta has size %d", s[0], b.size(beta))
		}
		p = g.Dot(x.Ref, beta.Ref)
	default:
		if s[1] != b.size(beta) {
			b.Fail("x has %d columns, but beta has size %d", s[1], b.size(beta))
		}
		p = g.MatVec(x.Ref, beta.Ref)
	}
	if as := b.shape(alpha); len(as) > 0 && len(g.Type(p).Shape) > 0 && as[0] != g.Type(p).Shape[0] {
		b.Fail("alpha has size %d, but x has %d rows", as[0], g.Type(p).Shape[0])
	}
	return Arg{Type: tVec, Ref: g.Add(p, alpha.Ref), Param: x.Param || alpha.Param || beta.Param}
}

// single checks the arguments alpha, beta and those after it if there is a single outcome.
func (b *Builder) single(a []Arg) {
	for i := range a {
		if i != 1 && len(b.shape(a[i])) > 0 && b.size(a[i]) != 1 {
			b.Fail("there is one outcome, but an argument has size %d", b.size(a[i]))
		}
	}
}

// checkLinear adds the checks of the parts of a linear predictor.
func (b *Builder) checkLinear(x, alpha, beta Arg) {
	check(b.G, b.Name, "Matrix of independent variables", types.Finite, x.Ref)
	check(b.G, b.Name, "Intercept", types.Finite, alpha.Ref)
	check(b.G, b.Name, "Weight vector", types.Finite, beta.Ref)
}

// glm declares the version of the distribution d with a linear predictor. It takes the place of
// argument at, where 0 is the variate.
func glm(name string, d *Dist, at int) []Func {
	var forms [][]types.Type
	y := list(tInt, tInt.Array(1))
	if !d.Discrete {
		y = list(tReal, tVec)
	}
	before := [][]types.Type{{}}
	if at == 2 { // argument 1 is the number of trials
		before = [][]types.Type{{tInt}, {tInt.Array(1)}}
	}
	after := [][]types.Type{{}}
	if len(d.Params) > at {
		after = [][]types.Type{{tReal}}
		if !d.Discrete {
			after = append(after, []types.Type{tVec})
		}
	}
	for _, y := range y {
		for _, n := range before {
			xs := list(tRow, tMat)
			if !d.Discrete { // a vector is a matrix of one column
				xs = list(tRow, tMat, tVec)
			}
			for _, x := range xs {
				for _, alpha := range list(tReal, tVec) {
					for _, rest := range after {
						if x.Equal(tRow) && y.IsScalar() && d.Discrete {
							continue // Stan has no form with a single row and a single outcome
						}
						if x.Equal(tRow) && len(n) > 0 && n[0].IsScalar() {
							continue
						}
						if len(n) > 0 && alpha.Equal(tVec) && (y.IsScalar() != n[0].IsScalar() || n[0].IsScalar() && !y.IsScalar()) {
							continue
						}
						ts := append([]types.Type{y}, n...)
						ts = append(append(ts, x, alpha, tVec), rest...)
						forms = append(forms, ts)
					}
				}
			}
		}
	}
	doc := "The logarithm of the density of " + d.Name + " with location alpha + x beta, for data y and arguments x, alpha, beta."
	if d.Discrete {
		doc = "The logarithm of the mass of " + d.Name + " at alpha + x beta, for counts and arguments x, alpha, beta."
	}
	var fs []Func
	for _, ts := range forms {
		in := []types.Constraint{d.Variate}
		for i, p := range d.Params {
			if i+1 == at {
				in = append(in, types.Constraint{}, types.Constraint{}, types.Constraint{})
			} else {
				in = append(in, p.In)
			}
		}
		// with replaces the parts of the predictor by the predictor.
		with := func(b *Builder, a []Arg) []Arg {
			if ts[0].IsScalar() && ts[at].Equal(tRow) {
				b.single(a[at+1:])
			}
			args := append([]Arg{}, a[:at]...)
			args = append(args, b.linear(a[at], a[at+1], a[at+2]))
			return append(args, a[at+3:]...)
		}
		f := Func{Name: name, Doc: doc, In: in, Overload: types.Fixed{Name: name, Params: ts, Result: tReal},
			Terms: func(b *Builder, a []Arg) []ad.Ref {
				args := with(b, a)
				terms := d.terms(b, args)
				if d == &negBinomial2LogGLM && terms != nil && b.Propto && !args[2].Param {
					// Stan's implementation includes the constant -φ log φ.
					c := b.G.Mul(args[2].Ref, b.G.Log(args[2].Ref))
					terms = append(terms, b.G.Scale(-float64(b.common(args, d.what)), c))
				}
				return terms
			}}
		if of := d.statements(); of != nil {
			f.Statements = func(b *Builder, a []Arg) []ad.Statement { return of(b, with(b, a)) }
		}
		fs = append(fs, f)
	}
	return fs
}

// normalGLM is normal, with Stan's restrictions for the linear model.
var normalGLM = func() Dist {
	d := normal
	d.Variate = types.Finite
	d.Params = []Param{location, {Name: scale.Name, Is: scale.Is, In: types.PositiveFinite}}
	return d
}()

// glms declares the linear models.
func glms() []Func {
	var fs []Func
	fs = append(fs, glm("bernoulli_logit_glm_lpmf", &bernoulliLogit, 1)...)
	fs = append(fs, glm("binomial_logit_glm_lpmf", &binomialLogit, 2)...)
	fs = append(fs, glm("neg_binomial_2_log_glm_lpmf", &negBinomial2LogGLM, 1)...)
	fs = append(fs, glm("normal_id_glm_lpdf", &normalGLM, 1)...)
	fs = append(fs, glm("poisson_log_glm_lpmf", &poissonLog, 1)...)
	const rngDoc = "Draws from the Bernoulli distribution with log odds alpha + x beta, one per row of x."
	for _, x := range list(tRow, tMat) {
		name := "bernoulli_logit_glm_rng"
		fs = append(fs, fixed(name, rngDoc, tInt.Array(1), list(x, tVec, tVec), func(b *Builder, a []Arg) ad.Ref {
			return bernoulliLogit.draw(b, []Arg{b.linear(a[0], a[1], a[2])})
		}).with(func(f *Func) { f.Random = true }))
	}
	for _, y := range list(tInt, tInt.Array(1)) {
		for _, x := range list(tRow, tMat) {
			fs = append(fs, Func{Name: "categorical_logit_glm_lpmf",
				Doc:      "The logarithm of the mass of the categorical distribution with log odds alpha + x beta.",
				Overload: types.Fixed{Name: "categorical_logit_glm_lpmf", Params: list(y, x, tVec, tMat), Result: tReal},
				In:       []types.Constraint{drawnFrom(1, 4)}, Terms: categoricalLogitGLM, Statements: categoricalLogitGLMStatements},
				Func{Name: "ordered_logistic_glm_lpmf",
					Doc:      "The logarithm of the mass of the ordered logistic distribution with location x beta and cut points c.",
					Overload: types.Fixed{Name: "ordered_logistic_glm_lpmf", Params: list(y, x, tVec, tVec), Result: tReal},
					In:       []types.Constraint{drawnFrom(1, 5), {}, {}, types.OrderedVec}, Terms: orderedLogisticGLM})
		}
	}
	return fs
}

// negBinomial2LogGLM is negBinomial2Log with the terms that Stan drops in the linear model: it
// always drops log y!.
var negBinomial2LogGLM = Dist{
	Name: negBinomial2Log.Name, Discrete: true, Variate: negBinomial2Log.Variate, Params: negBinomial2Log.Params, Information: negBinomial2Log.Information,
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		eta, phi := p[0], p[1]
		logPhi := g.Log(phi)
		odds := g.Sub(eta, logPhi)
		log1p := g.Do(ad.OpLog1pExp, nil, odds)
		return append(withLogSlopes(g, y, eta, phi, odds, log1p, []Term{
			{Value: logRising(g, phi, y), Of: of2nd},
			{Value: g.Add(g.Mul(g.Add(y, phi), log1p), g.Mul(y, logPhi)), Weight: -1, Of: always},
			{Value: g.Mul(y, eta), Of: of1st},
		}), logFactorial(g, y))
	},
}

func categoricalLogitGLM(b *Builder, a []Arg) []ad.Ref {
	g := b.G
	x, beta := b.asMatrix(a[1]), b.shape(a[3])
	s := g.Type(x).Shape
	if s[1] != beta[0] || b.size(a[2]) != beta[1] {
		b.Fail("x has %d columns, alpha has size %d, but beta has %s", s[1], b.size(a[2]), sizeText(beta))
	}
	b.checkLinear(a[1], a[2], a[3])
	check(g, b.Name, "categorical outcome out of support", types.Between(1, float64(beta[1])), a[0].Ref)
	n := s[0]
	if len(b.shape(a[0])) > 0 {
		if a[1].Type.Kind == types.Matrix && n != b.size(a[0]) {
			b.Fail("there are %d outcomes, but x has %d rows", b.size(a[0]), n)
		}
		n = b.size(a[0])
	}
	if n == 0 || b.Propto && param(a) == 0 {
		return nil
	}
	p := g.MatMul(x, a[3].Ref)
	p = g.Add(p, alongRows(g, a[2].Ref, g.Type(p).Shape))
	if s[0] != n {
		p = alongRows(g, g.Reshape(p, []int{beta[1]}), []int{n, beta[1]})
	}
	return b.kept(a, Term{Value: b.pick(p, a[0]), Of: always}, Term{Value: g.LogSumExp(p), Weight: -1, Of: always})
}
