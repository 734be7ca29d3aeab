// Package checktest has a small library for tests of the checker and of packages that use its
// results, so that they do not depend on stdlib.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
package checktest

import (
	"iter"
	"maps"

	"github.com/ppl-lang/ppl/lang/types"
)

// Universe returns a library of about seventy names, with Stan's signatures: operators, some
// functions of each kind, a few distributions.
func Universe() Library { return library }

// Library is a map from names to overloads. It implements check.Universe.
type Library map[string][]types.Overload

// Lookup implements check.Universe.
func (l Library) Lookup(name string) []types.Overload { return l[name] }

// Names implements check.Universe.
func (l Library) Names() iter.Seq[string] { return maps.Keys(l) }

// Abbreviations of types for the table.
var (
	i, r, v, rv, m, z = types.IntType, types.RealType, types.VectorType, types.RowVectorType, types.MatrixType, types.ComplexType
	ints, reals       = i.Array(1), r.Array(1)
)

func sig(result types.Type, params ...types.Type) types.Overload {
	return types.Fixed{Params: params, Result: result}
}

// named sets the name in the overloads of the table.
func named(name string, os ...types.Overload) []types.Overload {
	for k, o := range os {
		if f, ok := o.(types.Fixed); ok {
			f.Name = name
			os[k] = f
		}
	}
	return os
}

var library = makeLibrary()

func makeLibrary() Library {
	l := Library{}
	add := func(name string, os ...types.Overload) { l[name] = append(l[name], named(name, os...)...) }

	// The arithmetic operators, with the signatures of Stan's add, subtract and so on.
	for _, op := range []string{"operator+", "operator-", "operator.*", "operator./"} {
		add(op, sig(i, i, i), sig(r, r, r))
		for _, c := range []types.Type{v, rv, m} {
			add(op, sig(c, r, c), sig(c, c, r), sig(c, c, c))
		}
	}
	add("operator+", sig(i, i), sig(r, r), sig(v, v), sig(rv, rv), sig(m, m))
	add("operator-", types.Elementwise{Name: "operator-", Args: []types.Kind{types.Int}, Result: types.Int},
		types.Elementwise{Name: "operator-", Args: []types.Kind{types.Real}, Result: types.Real, Strict: true})
	add("operator*", sig(i, i, i), sig(r, r, r), sig(v, r, v), sig(rv, r, rv), sig(m, r, m), sig(v, v, r), sig(rv, rv, r), sig(m, m, r),
		sig(m, v, rv), sig(r, rv, v), sig(rv, rv, m), sig(v, m, v), sig(m, m, m))
	add("operator/", sig(i, i, i), sig(r, r, r), sig(v, v, r), sig(rv, rv, r), sig(m, m, r), sig(rv, rv, m), sig(m, m, m))
	add("operator%", sig(i, i, i))
	add("operator%/%", sig(i, i, i))
	add("operator\\", sig(v, m, v), sig(m, m, m))
	for _, op := range []string{"operator^", "operator.^"} {
		add(op, types.Binary(op))
	}
	add("operator'", sig(rv, v), sig(v, rv), sig(m, m))
	add("operator!", sig(i, i), sig(i, r))
	for _, op := range []string{"==", "!=", "<", "<=", ">", ">="} {
		add("operator"+op, sig(i, i, i), sig(i, r, r))
	}

	for _, f := range []string{"exp", "log", "sqrt", "square", "inv_logit", "log1m", "lgamma", "fabs"} {
		add(f, types.Unary(f))
	}
	for _, f := range []string{"pow", "fmax", "fmin", "atan2"} {
		add(f, types.Binary(f))
	}
	add("abs", types.Elementwise{Name: "abs", Args: []types.Kind{types.Int}, Result: types.Int},
		types.Elementwise{Name: "abs", Args: []types.Kind{types.Real}, Result: types.Real, Strict: true})
	add("choose", types.Elementwise{Name: "choose", Args: []types.Kind{types.Int, types.Int}, Result: types.Int})
	add("ldexp", types.Elementwise{Name: "ldexp", Args: []types.Kind{types.Real, types.Int}, Result: types.Real, Strict: true})
	add("log_sum_exp", sig(r, v), sig(r, rv), sig(r, m), sig(r, reals), types.Binary("log_sum_exp"))
	add("log_mix", sig(r, r, r, r))
	add("sum", sig(i, ints), sig(r, reals), sig(r, v), sig(r, rv), sig(r, m))
	add("mean", sig(r, ints), sig(r, reals), sig(r, v), sig(r, rv), sig(r, m))
	add("dot_product", sig(r, v, v), sig(r, rv, rv), sig(r, v, rv), sig(r, rv, v))
	add("rep_vector", sig(v, r, i))
	add("rep_matrix", sig(m, r, i, i), sig(m, v, i), sig(m, rv, i))
	add("to_vector", sig(v, v), sig(v, rv), sig(v, m), sig(v, reals), sig(v, ints))
	add("to_matrix", sig(m, v, i, i))
	add("to_array_1d", sig(reals, v), sig(reals, rv), sig(reals, m))
	add("to_int", types.Fixed{Params: []types.Type{r}, Result: i, DataOnly: []bool{true}})
	add("rows", sig(i, v), sig(i, rv), sig(i, m))
	add("cols", sig(i, v), sig(i, rv), sig(i, m))
	add("size", types.Computed{Form: "size(array[] T) => int", Fit: sizeFit})
	add("head", types.Computed{Form: "head(array[] T, int) => array[] T", Fit: headFit})
	add("pi", sig(r))
	add("negative_infinity", sig(r))
	add("is_nan", sig(i, r))
	add("softmax", sig(v, v))
	add("cholesky_decompose", sig(m, m))

	density := func(name string, args ...types.Set) { add(name, types.Density(name, args...)) }
	for _, d := range []string{"cauchy", "lognormal", "beta", "gamma", "uniform"} {
		for _, s := range []string{"_lpdf", "_lcdf", "_lccdf", "_cdf"} {
			density(d+s, types.Reals, types.Reals, types.Reals)
		}
		add(d+"_rng", types.Generator(d+"_rng", r, types.AnyReals, types.AnyReals))
	}
	location := []types.Domain{{}, {Is: "Location parameter", In: types.Finite}, {Is: "Scale parameter", In: types.Positive}}
	add("normal_lpdf", demanding{types.Density("normal_lpdf", types.Reals, types.Reals, types.Reals), location})
	for _, s := range []string{"_lcdf", "_lccdf", "_cdf"} {
		density("normal"+s, types.Reals, types.Reals, types.Reals)
	}
	add("normal_rng", demanding{types.Generator("normal_rng", r, types.AnyReals, types.AnyReals), location[1:]})
	density("student_t_lpdf", types.Reals, types.Reals, types.Reals, types.Reals)
	density("std_normal_lpdf", types.Reals)
	add("exponential_lpdf", demanding{types.Density("exponential_lpdf", types.Reals, types.Reals), []types.Domain{{In: types.NonNegative}, {Is: "Inverse scale parameter", In: types.PositiveFinite}}})
	density("bernoulli_lpmf", types.Ints, types.Reals)
	density("bernoulli_logit_lpmf", types.Ints, types.Reals)
	add("bernoulli_logit_rng", types.Generator("bernoulli_logit_rng", i, types.AnyReals))
	add("bernoulli_rng", types.Generator("bernoulli_rng", i, types.AnyReals))
	add("poisson_lpmf", demanding{types.Density("poisson_lpmf", types.Ints, types.Reals), []types.Domain{{}, {Is: "Rate parameter", In: types.NonNegative}}})
	density("poisson_log_lpmf", types.Ints, types.Reals)
	density("poisson_lcdf", types.Ints, types.Reals)
	density("binomial_lpmf", types.Ints, types.Ints, types.Reals)
	add("multi_normal_lpdf", demanding{types.Density("multi_normal_lpdf", types.Vectors, types.Vectors, types.Just(m)), []types.Domain{{}, {}, {In: types.CovMat}}})
	add("multi_normal_cholesky_lpdf", demanding{types.Density("multi_normal_cholesky_lpdf", types.Vectors, types.Vectors, types.Just(m)), []types.Domain{{}, {}, {In: types.CholeskyCov}}})
	add("dirichlet_lpdf", demanding{types.Density("dirichlet_lpdf", types.Vectors, types.Vectors), []types.Domain{{In: types.SimplexVec}, {In: types.Positive}}})

	add("to_complex", sig(z, r, r))
	add("exp", sig(z, z))
	for _, op := range []string{"operator+", "operator-", "operator*", "operator/"} {
		add(op, sig(z, z, z))
	}
	state := types.FuncType{Params: []types.Param{{Type: r}, {Type: v}}, Result: v}
	add("ode_rk45", types.HigherOrder{Name: "ode_rk45", Func: state,
		Args: []types.Param{{Type: v}, {Type: r}, {Type: reals}}, Result: v.Array(1)})
	add("reduce_sum", types.ReduceSum{Name: "reduce_sum"})
	add("laplace_marginal", types.Laplace{Name: "laplace_marginal", Result: r})
	integrand := types.Type{Kind: types.Function, Func: &types.FuncType{Result: r,
		Params: []types.Param{{Type: r}, {Type: r}, {Type: reals}, {Type: reals, DataOnly: true}, {Type: ints, DataOnly: true}}}}
	add("integrate_1d", types.Fixed{Params: []types.Type{integrand, r, r, reals, reals, ints}, Result: r,
		DataOnly: []bool{false, false, false, false, true, true}})
	return l
}

func sizeFit(args []types.Type) (types.Match, bool) {
	if len(args) != 1 {
		return types.Match{Fault: types.Fault{Count: 1}}, false
	}
	return types.Match{Params: args, Result: i}, true
}

func headFit(args []types.Type) (types.Match, bool) {
	switch {
	case len(args) != 2:
		return types.Match{Fault: types.Fault{Count: 2}}, false
	case args[0].Dims == 0 && args[0].Kind != types.Vector && args[0].Kind != types.RowVector:
		return types.Match{Fault: types.Fault{Arg: 0, Want: "an array, vector or row_vector"}}, false
	case !args[1].Equal(i):
		return types.Match{Fault: types.Fault{Arg: 1, Type: i}}, false
	}
	return types.Match{Params: []types.Type{args[0], i}, Result: args[0]}, true
}

// demanding is a distribution that declares the domains of its arguments, as those of the library
// do.
type demanding struct {
	types.Overload
	domains []types.Domain
}

// Domains implements check.Domains.
func (d demanding) Domains() []types.Domain { return d.domains }
