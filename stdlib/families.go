package stdlib

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// otherFamilies returns the overloads for complex numbers, and those of functions written in Stan.
func otherFamilies() []types.Overload {
	var out []types.Overload
	add := func(os ...types.Overload) { out = append(out, os...) }
	elementwise := func(name string, strict bool, result types.Kind, args ...types.Kind) {
		add(types.Elementwise{Name: name, Args: args, Result: result, Strict: strict})
	}
	elementwise("abs", false, types.Real, types.Complex)
	elementwise("conj", false, types.Complex, types.Complex)
	elementwise("get_real", false, types.Real, types.Complex)
	elementwise("get_imag", false, types.Real, types.Complex)
	elementwise("minus", false, types.Complex, types.Complex)
	elementwise("pow", false, types.Complex, types.Complex, types.Complex)
	elementwise("to_complex", false, types.Complex, types.Real, types.Real)

	// Distributions.
	density := func(name, suffixes string, args ...types.Set) {
		for s := range strings.FieldsSeq(suffixes) {
			add(types.Density(name+s, args...))
		}
	}
	lists := types.OneOf(tVec, tRow, tReal.Array(1))
	density("hypergeometric_", "3F2 pFq", lists, lists, types.Just(tReal))

	return append(out, higherOrder()...)
}

// higherOrder declares the functions that take functions.
func higherOrder() []types.Overload {
	var out []types.Overload
	reals, ints, trajectory := tReal.Array(1), tInt.Array(1), tVec.Array(1)
	function := func(result types.Type, params ...types.Type) types.FuncType {
		f := types.FuncType{Result: result}
		for _, p := range params {
			f.Params = append(f.Params, types.Param{Type: p})
		}
		return f
	}
	args := func(ts ...types.Type) []types.Param {
		f := function(tReal, ts...)
		return f.Params
	}
	data := func(ts ...types.Type) []types.Param {
		ps := args(ts...)
		for i := range ps {
			ps[i].DataOnly = true
		}
		return ps
	}
	control := data(tReal, tReal, tInt)
	// controlled adds a function and its variant that takes control arguments after the others,
	// whose name has a suffix.
	controlled := func(names, suffix string, f types.FuncType, first []types.Param, result types.Type) {
		for name := range strings.FieldsSeq(names) {
			out = append(out,
				types.HigherOrder{Name: name, Func: f, Args: first, Result: result},
				types.HigherOrder{Name: name + suffix, Func: f, Args: append(first[:len(first):len(first)], control...), Result: result})
		}
	}
	family := func(names string, f types.FuncType, first []types.Param, result types.Type) {
		controlled(names, "_tol", f, first, result)
	}
	ode := function(tVec, tReal, tVec)
	controlled("pmx_ode_rk45 pmx_ode_bdf pmx_ode_adams pmx_ode_ckrk", "_ctrl", ode, args(tVec, tReal, reals), trajectory)
	family("ode_rk45 ode_bdf ode_adams ode_ckrk", ode, args(tVec, tReal, reals), trajectory)
	out = append(out, types.HigherOrder{Name: "ode_adjoint_tol_ctl", Func: ode, Result: trajectory, Args: append(
		args(tVec, tReal, reals), data(tReal, tVec, tReal, tVec, tReal, tReal, tInt, tInt, tInt, tInt, tInt)...)})
	family("dae", function(tVec, tReal, tVec, tVec), append(args(tVec, tVec), data(tReal, reals)...), trajectory)
	family("solve_newton solve_powell", function(tVec, tVec), args(tVec), tVec)
	family("integrate_1d_gauss_kronrod integrate_1d_double_exponential", function(tReal, tReal, tReal), args(tReal, tReal), tReal)
	out = append(out, types.ReduceSum{Name: "reduce_sum"}, types.ReduceSum{Name: "reduce_sum_static"})

	// The older functions, whose functional arguments have a fixed list of parameters.
	fixed := func(name string, f types.FuncType, ps []types.Param, result types.Type) {
		o := types.Fixed{Name: name, Params: list(types.Type{Kind: types.Function, Func: &f}), Result: result, DataOnly: []bool{false}}
		for _, p := range ps {
			o.Params, o.DataOnly = append(o.Params, p.Type), append(o.DataOnly, p.DataOnly)
		}
		out = append(out, o)
	}
	observed := data(reals, ints)
	old := function(reals, tReal, reals, reals)
	old.Params = append(old.Params, observed...)
	start := append(args(reals, tReal, reals, reals), observed...)
	for _, name := range []string{"integrate_ode", "integrate_ode_rk45", "integrate_ode_bdf", "integrate_ode_adams"} {
		fixed(name, old, start, reals.Array(1))
		if name != "integrate_ode" {
			fixed(name, old, append(start[:len(start):len(start)], data(tReal, tReal, tReal)...), reals.Array(1))
		}
	}
	system := function(tVec, tVec, tVec)
	system.Params = append(system.Params, observed...)
	guess := append(args(tVec, tVec), observed...)
	for _, name := range []string{"algebra_solver", "algebra_solver_newton"} {
		fixed(name, system, guess, tVec)
		fixed(name, system, append(guess[:len(guess):len(guess)], data(tReal, tReal, tReal)...), tVec)
	}
	integrand := function(tReal, tReal, tReal, reals)
	integrand.Params = append(integrand.Params, observed...)
	limits := append(args(tReal, tReal, reals), observed...)
	fixed("integrate_1d", integrand, limits, tReal)
	fixed("integrate_1d", integrand, append(limits[:len(limits):len(limits)], data(tReal)...), tReal)
	fixed("map_rect", system, append(args(tVec, trajectory), data(reals.Array(1), ints.Array(1))...), tVec)

	return slices.Concat(out, laplace(), pharmacometrics())
}
