package stdlib

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// This file: the functions of the embedded Laplace approximation. In their Stan sources, f is the
// likelihood that is passed and g the covariance function. The members of tuples are separate
// arguments: $params and $args for the likelihood, $params2 and so on for the covariance function;
// see package ir.

// laplaceEntry declares a function of the family. In its name, # is where the form with control
// arguments has _tol, and where a form with a likelihood of the library has the likelihood's name.
type laplaceEntry struct {
	name, doc string
	result    types.Type
	function  string // its function in the Stan source
}

var laplaceEntries = []laplaceEntry{
	{"laplace_marginal#", "The logarithm of the marginal likelihood by Laplace's approximation", tReal, "marginal"},
	{"laplace_latent#_rng", "A draw of the latent variables from Laplace's approximation of their distribution given the data", tVec, "draw_rng"},
	{"laplace_latent_solve#", "The mean and the Cholesky factor of the covariance matrix of Laplace's approximation of the distribution of the latent variables given the data",
		types.Type{Kind: types.Tuple, Members: list(tVec, tMat)}, "approximation"},
}

// latent is a likelihood of the library: the density of y given a latent vector theta, where y[i]
// depends on element index[i], and offsets m.
type latent struct {
	name, doc string
	args      []types.Type
	params    string
	mass      string
}

var latents = func() []latent {
	ints := tInt.Array(1)
	const negative = "The counts y[i] are negative binomial with log location theta[index[i]] + m[index[i]] and precision eta, one for all or one for each latent variable; the arguments are y, index, eta and m, then"
	return []latent{
		{"bernoulli_logit", "The outcomes y[i], 0 or 1, are Bernoulli with logit theta[index[i]] + m[index[i]]; the arguments are y, index and m, then",
			list(ints, ints, tVec), "vector m", "bernoulli_logit_lpmf(y | (theta + m)[index])"},
		{"poisson_log", "The counts y[i] are Poisson with log rate theta[index[i]] + m[index[i]]; the arguments are y, index and m, then",
			list(ints, ints, tVec), "vector m", "poisson_log_lpmf(y | (theta + m)[index])"},
		{"neg_binomial_2_log", negative,
			list(ints, ints, tVec, tVec), "vector eta, vector m", "neg_binomial_2_log_lpmf(y | (theta + m)[index], eta[index])"},
		// Stan's documentation and its compiler disagree about the type of eta.
		{"neg_binomial_2_log", negative,
			list(ints, ints, tReal, tVec), "real eta, vector m", "neg_binomial_2_log_lpmf(y | (theta + m)[index], eta)"},
	}
}()

const (
	laplaceControl    = ", vector guess, real tolerance, int most, int solver, int halvings, int fallback"
	laplaceControlDoc = " The last argument holds the initial guess, the gain in log density at which the search ends, most steps, the solver (1, 2 or 3) and most halvings of a step; solver, and whether to fall back to another one, are of no matter here: the one way of solving that is always possible is taken. See generate_laplace_options."
	laplaceOptionsDoc = "The control arguments of functions of the Laplace approximation as those without control arguments have them, for an initial guess, or for one of zeros of that size: guess, tolerance, most steps, solver, most halvings of a step, whether to fall back to another solver."
	laplaceOptions    = `
vector guess(int n) { return rep_vector(0, n); }
vector guess(vector x) { return x; }
tuple(vector, real, int, int, int, int) solve($1 x) { return (guess(x), ` + laplaceDefaults + `, 1); }`
	// The control arguments: tolerance, maximum number of steps, solver, maximum number of
	// halvings.
	laplaceDefaults  = "1.49012e-08, 500, 1, 1000"
	laplaceTolerance = 1.49012e-08
)

// laplace returns the forms of the family.
func laplace() []types.Overload {
	var out []types.Overload
	for _, tol := range []bool{false, true} {
		for _, e := range laplaceEntries {
			out = append(out, e.form(nil, tol))
			if e.result.Kind == types.Tuple {
				continue
			}
			for i := range latents {
				out = append(out, e.form(&latents[i], tol))
			}
		}
	}
	return out
}

// form returns the overload for a likelihood l; nil means that the user passes one.
func (e *laplaceEntry) form(l *latent, tol bool) types.Overload {
	o := types.Laplace{Tol: tol, Result: e.result}
	doc := e.doc + ". The latent vector theta is normal with mean 0 and the covariance matrix that a function gives, called with the members of the tuple that follows it. "
	text := `
real f(vector theta $params) { reject(""); }
real likelihood(vector theta $params) { return f(theta $args); }`
	end := ""
	if l == nil {
		doc += "The other function is the log likelihood, of theta and the members of the tuple that follows it. Between them is"
	} else {
		o.Built = l.args
		doc += l.doc
		end = "_" + l.name
		if !strings.HasSuffix(e.name, "_rng") {
			end += "_lpmf"
		}
		text = `
real conditional(vector theta, array[] int y, array[] int index, ` + l.params + `) {
  return ` + l.mass + `;
}
real likelihood(vector theta $params) { return conditional(theta $args); }`
	}
	doc += " the size of the blocks of the Hessian of the log likelihood, 1 if each observation depends on one latent variable."
	control := ""
	guess := "rep_vector(0, rows(K)), " + laplaceDefaults
	if tol {
		end, doc, control, guess = "_tol"+end, doc+laplaceControlDoc, laplaceControl, "guess, tolerance, most, solver, halvings"
	}
	o.Name = strings.Replace(e.name, "#", end, 1)
	body, err := texts.ReadFile("texts/laplace.stan")
	if err != nil {
		panic(err) // the file is embedded
	}
	result, rng := e.result.String(), ""
	if strings.HasSuffix(e.function, "_rng") {
		rng = "_rng"
	}
	// given has all control arguments except K.
	given := strings.NewReplacer("vector ", "", "real ", "", "int ", "").Replace(control)
	text = "functions {" + text + `
matrix g($list2) { reject(""); }
matrix jacobian_likelihood_0(vector theta $params) { reject(""); }
matrix jacobian_slope_0(vector theta $params) { reject(""); }
matrix jacobian_along_0(vector theta, vector v $params) { reject(""); }
vector detach(vector x) { reject(""); }
real detach(real x) { reject(""); }
matrix detach(matrix x) { reject(""); }
` + string(body) + `
` + result + " of" + rng + "(matrix K, int block" + control + ` $params) {
  return ` + e.function + "(K, block, " + guess + ` $args);
}
` + result + " solve" + rng + "(int block" + control + ` $params $params2) {
  return of` + rng + "(g($call2), block" + given + ` $args);
}
}
`
	return types.Written{Overload: o, Name: o.Name, Doc: doc, Text: text, Tolerance: laplaceTolerance}
}
