package stdlib

import (
	"embed"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// texts holds the Stan sources of functions that are written in Stan, most of which take functions.
// Every evaluator runs these, and they have derivatives of all orders. See ir.Lower for the
// language that they may use.
//
//go:embed texts/*.stan
var texts embed.FS

// functional is a function that takes functions: the files with its algorithm, and a head that
// adapts the algorithm to the function's arguments.
type functional struct {
	names string
	doc   string
	files string
	lead  int // number of arguments that the library passes to the function; -1: all
	// the solver's tolerance if the call has no control arguments; see types.Written
	tolerance float64
	head      string
	// The entry points: without control arguments, and with them (_tol).
	plain, control string
}

// The heads: for the right-hand side of a differential equation, in its current form and in the
// older form with arrays; for a system of equations; and for an integrand.
const (
	odeHead = `
vector f(real t, vector y $params) { reject(""); }
vector rhs(real t, vector y $params) { return f(t, y $args); }`
	oldODEHead = `
array[] real f(real t, array[] real y $params) { reject(""); }
vector rhs(real t, vector y $params) { return to_vector(f(t, to_array_1d(y) $args)); }`
	stubs = `
matrix jacobian_rhs_1(real t, vector y $params) { reject(""); }
vector detach(vector x) { reject(""); }
real detach(real x) { reject(""); }`
	systemHead = `
vector f(vector y $params) { reject(""); }
vector system(vector y $params) { return f(y $args); }
matrix jacobian_system_0(vector y $params) { reject(""); }
vector detach(vector x) { reject(""); }
matrix detach(matrix x) { reject(""); }`
	constantStubs = `
vector detach(vector x) { reject(""); }
real detach(real x) { reject(""); }`
	daeHead = `
vector f(real t, vector y, vector yp $params) { reject(""); }
vector residual(real t, vector y, vector yp $params) { return f(t, y, yp $args); }
matrix jacobian_residual_1(real t, vector y, vector yp $params) { reject(""); }
matrix jacobian_residual_2(real t, vector y, vector yp $params) { reject(""); }
vector detach(vector x) { reject(""); }
matrix detach(matrix x) { reject(""); }
real detach(real x) { reject(""); }`
	integrandHead = `
real f(real x, real xc $params) { reject(""); }
real integrand(real x, real xc $params) { return f(x, xc $args); }
real detach(real x) { reject(""); }`
)

// odeEntries returns the entry points with these tolerances and maximum numbers of steps.
func odeEntries(integrate, tolerances string) (plain, control string) {
	return `
array[] vector solve(vector y0, real t0, array[] real ts $params) {
  return ` + integrate + `(y0, t0, ts, ` + tolerances + ` $args);
}`, `
array[] vector solve(vector y0, real t0, array[] real ts, real rtol, real atol, int most $params) {
  return ` + integrate + `(y0, t0, ts, rtol, atol, most $args);
}`
}

// oldODEEntries is odeEntries for the form with arrays.
func oldODEEntries(integrate, tolerances string) (plain, control string) {
	arrays := ` {
  array[size(ts), size(y0)] real out;
  array[size(ts)] vector[size(y0)] ys = ` + integrate + `(to_vector(y0), t0, ts, `
	const end = ` $args);
  for (i in 1:size(ts)) out[i] = to_array_1d(ys[i]);
  return out;
}`
	return `
array[,] real solve(array[] real y0, real t0, array[] real ts $params)` + arrays + tolerances + end, `
array[,] real solve(array[] real y0, real t0, array[] real ts $params, real rtol, real atol, data real most)` +
			arrays + "rtol, atol, to_int(fmin(most, 2147483647))" + end
}

// adjointEntry is the entry point with many control arguments. It uses the tolerances of the
// solution, which come first, and ignores those of adjoints and quadratures.
const adjointEntry = `
array[] vector solve(vector y0, real t0, array[] real ts, real rtol, vector atol, real rtol_back, vector atol_back,
                     real rtol_sum, real atol_sum, int most, int between, int interpolation, int forward, int backward $params) {
  if (num_elements(atol) != num_elements(y0))
    reject("there must be as many absolute tolerances as states, but there are ", num_elements(atol), " and ", num_elements(y0));
  if (forward == 1)
    return integrate(y0, t0, ts, rtol, min(atol), most $args);
  if (forward != 2)
    reject("the solver must be 1 (for systems that are not stiff) or 2 (for stiff ones), but is ", forward);
  return integrate_stiff(y0, t0, ts, rtol, min(atol), most $args);
}`

const (
	newtonDoc = "The y at which f(y, …) is a vector of zeros, by Newton's method with a line search from a guess, with derivatives by the implicit function theorem."
	powellDoc = "The y at which f(y, …) is a vector of zeros, by Powell's hybrid method from a guess, with derivatives by the implicit function theorem."
)

// The default tolerances of Stan.
const (
	looseTolerances = "1e-6, 1e-6, 1000000"
	tightTolerances = "1e-10, 1e-10, 100000000"
)

var functionals = func() []functional {
	const explicit, stiff = "integrate", "integrate_stiff"
	loose, looseTol := odeEntries(explicit, looseTolerances)
	tight, tightTol := odeEntries(explicit, tightTolerances)
	implicit, implicitTol := odeEntries(stiff, tightTolerances)
	old, oldTol := oldODEEntries(explicit, looseTolerances)
	oldTight, oldTightTol := oldODEEntries(explicit, tightTolerances)
	oldImplicit, oldImplicitTol := oldODEEntries(stiff, tightTolerances)
	return []functional{
		{names: "ode_rk45 ode_ckrk", doc: "The solution of dy/dt = f(t, y, …) at the times ts, from y0 at t0, by an explicit Runge-Kutta method of order 8 (DOP853) whose steps are adapted. It goes on with the method of ode_bdf where stability, not accuracy, bounds its steps, as in stiff systems. Derivatives are those of the steps; their errors are not estimated, but the solution is held to 3 % of the tolerances, and steps are short enough for derivatives to decay where the solution does.", files: "adaptive seulex dop853", lead: 2, tolerance: 1e-6, head: odeHead + stubs, plain: loose, control: looseTol},
		{names: "ode_adams", doc: "The solution of dy/dt = f(t, y, …) at the times ts, from y0 at t0, by an explicit Runge-Kutta method of order 8 (DOP853) whose steps are adapted. It goes on with the method of ode_bdf where stability, not accuracy, bounds its steps, as in stiff systems. Derivatives are those of the steps; their errors are not estimated, but the solution is held to 3 % of the tolerances, and steps are short enough for derivatives to decay where the solution does.", files: "adaptive seulex dop853", lead: 2, tolerance: 1e-10, head: odeHead + stubs, plain: tight, control: tightTol},
		{names: "ode_bdf", doc: "The solution of dy/dt = f(t, y, …) at the times ts, from y0 at t0, by an implicit extrapolation method of order 8 (SEULEX) whose steps are adapted; for stiff systems. Derivatives are those of the steps; their errors are not estimated, but the solution is held to 3 % of the tolerances.", files: "adaptive seulex", lead: 2, tolerance: 1e-10, head: odeHead + stubs, plain: implicit, control: implicitTol},
		{names: "ode_adjoint_tol_ctl", doc: "The solution of dy/dt = f(t, y, …) at the times ts, from y0 at t0, with control arguments: relative and absolute tolerances of the solution, of the adjoint system and of quadratures, most steps, steps between checkpoints, kind of interpolation, solver forward and backward (1 for systems that are not stiff, 2 for stiff ones). Derivatives are those of the steps; of the control arguments only the first two, most steps and the solver forward count.", files: "adaptive seulex dop853", lead: 2, tolerance: 1e-10, head: odeHead + stubs, plain: adjointEntry},
		{names: "dae", doc: "The solution of the implicit system 0 = f(t, y, dy/dt, …), of index 1 at most, at the times ts, from y0 with derivatives yp0 at t0, by the method Radau IIA of order 9, whose steps are adapted; yp0 only helps to begin. The error of a formula of order 5 is held to them, or to more where they are below 1e-4: to 1e-8 for 1e-10.", files: "adaptive dae", lead: 3, tolerance: 1e-10, head: daeHead, plain: `
array[] vector solve(vector y0, vector yp0, real t0, array[] real ts $params) {
  return integrate_implicit(y0, yp0, t0, ts, ` + tightTolerances + ` $args);
}`, control: `
array[] vector solve(vector y0, vector yp0, real t0, array[] real ts, real rtol, real atol, int most $params) {
  return integrate_implicit(y0, yp0, t0, ts, rtol, atol, most $args);
}`},
		{names: "integrate_ode integrate_ode_rk45", doc: "The solution of dy/dt = f(t, y, …) at the times ts, from y0 at t0, by an explicit Runge-Kutta method of order 8 (DOP853) whose steps are adapted. It goes on with the method of ode_bdf where stability, not accuracy, bounds its steps, as in stiff systems. Derivatives are those of the steps; their errors are not estimated, but the solution is held to 3 % of the tolerances, and steps are short enough for derivatives to decay where the solution does.", files: "adaptive seulex dop853", lead: 2, tolerance: 1e-6, head: oldODEHead + stubs, plain: old, control: oldTol},
		{names: "integrate_ode_adams", doc: "The solution of dy/dt = f(t, y, …) at the times ts, from y0 at t0, by an explicit Runge-Kutta method of order 8 (DOP853) whose steps are adapted. It goes on with the method of ode_bdf where stability, not accuracy, bounds its steps, as in stiff systems. Derivatives are those of the steps; their errors are not estimated, but the solution is held to 3 % of the tolerances, and steps are short enough for derivatives to decay where the solution does.", files: "adaptive seulex dop853", lead: 2, tolerance: 1e-10, head: oldODEHead + stubs, plain: oldTight, control: oldTightTol},
		{names: "integrate_ode_bdf", doc: "The solution of dy/dt = f(t, y, …) at the times ts, from y0 at t0, by an implicit extrapolation method of order 8 (SEULEX) whose steps are adapted; for stiff systems. Derivatives are those of the steps; their errors are not estimated, but the solution is held to 3 % of the tolerances.", files: "adaptive seulex", lead: 2, tolerance: 1e-10, head: oldODEHead + stubs, plain: oldImplicit, control: oldImplicitTol},
		{names: "solve_newton", doc: newtonDoc, files: "implicit newton", lead: 1, tolerance: 1e-6, head: systemHead, plain: `
vector solve(vector guess $params) { return zero(guess, 1e-3, 1e-6, 200 $args); }`, control: `
vector solve(vector guess, real scale, real tolerance, int most $params) { return zero(guess, scale, tolerance, most $args); }`},
		{names: "algebra_solver_newton", doc: newtonDoc, files: "implicit newton", lead: 1, tolerance: 1e-6, head: systemHead, plain: `
vector solve(vector guess $params) { return zero(guess, 1e-3, 1e-6, 200 $args); }`, control: `
vector solve(vector guess $params, real scale, real tolerance, data real most) {
  return zero(guess, scale, tolerance, to_int(fmin(most, 2147483647)) $args);
}`},
		{names: "solve_powell", doc: powellDoc, files: "implicit powell", lead: 1, tolerance: 1e-6, head: systemHead, plain: `
vector solve(vector guess $params) { return hybrid(guess, 1e-10, 1e-6, 200 $args); }`, control: `
vector solve(vector guess, real relative, real tolerance, int most $params) { return hybrid(guess, relative, tolerance, most $args); }`},
		{names: "algebra_solver", doc: powellDoc, files: "implicit powell", lead: 1, tolerance: 1e-6, head: systemHead, plain: `
vector solve(vector guess $params) { return hybrid(guess, 1e-10, 1e-6, 1000 $args); }`, control: `
vector solve(vector guess $params, real relative, real tolerance, data real most) {
  return hybrid(guess, relative, tolerance, to_int(fmin(most, 2147483647)) $args);
}`},
		{names: "integrate_1d_gauss_kronrod integrate_1d_double_exponential", doc: "The integral of f(x, xc, …) from a to b, which may be infinite, by the double exponential formula; xc is the distance to the nearer end, where that is small.", files: "quadrature", lead: 2, tolerance: 1.4901161193847656e-8, head: integrandHead, plain: `
real solve(real a, real b $params) { return area(a, b, 1.4901161193847656e-8, 1e-12, 6 $args); }`, control: `
real solve(real a, real b, real tolerance, real absolute, int most $params) {
  if (!(tolerance >= 0 && absolute >= 0 && most >= 0))
    reject("the tolerances and the number of refinements of an integral must not be negative, but are ", tolerance, ", ", absolute, " and ", most);
  return area(a, b, tolerance, absolute, min(most, 15) $args);
}`},
		{names: "integrate_1d", doc: "The integral of f(x, xc, …) from a to b, which may be infinite, by the double exponential formula; xc is the distance to the nearer end, where that is small.", files: "quadrature", lead: 2, tolerance: 1.4901161193847656e-8, head: integrandHead, plain: `
real solve(real a, real b $params) { return area(a, b, 1.4901161193847656e-8, 1e-12, 6 $args); }`, control: `
real solve(real a, real b $params, real tolerance) { return area(a, b, tolerance, 1e-12, 6 $args); }`},
		{names: "reduce_sum reduce_sum_static", doc: "The sum of f over slices of an array: f(x, 1, size(x), …); the size of slices is of no matter.", lead: 3, plain: `
real f($1 x, int start, int end $params) { reject(""); }
real solve($1 x, int grain $params) {
  if (grain < 1) reject("the size of slices must be positive, but is ", grain);
  if (size(x) == 0) return 0;
  return f(x, 1, size(x) $args);
}`},
		{names: "map_rect", doc: "f(phi, theta[i], x_r[i], x_i[i]) for every i, one after another.", lead: -1, plain: `
vector f(vector phi, vector theta, data array[] real x_r, data array[] int x_i) { reject(""); }
vector from(int i, vector phi, array[] vector theta, data array[,] real x_r, data array[,] int x_i) {
  vector[num_elements(f(phi, theta[i], x_r[i], x_i[i]))] here = f(phi, theta[i], x_r[i], x_i[i]);
  if (i == size(theta)) return here;
  return append_row(here, from(i + 1, phi, theta, x_r, x_i));
}
vector solve(vector phi, array[] vector theta, data array[,] real x_r, data array[,] int x_i) {
  if (size(theta) == 0) return rep_vector(0, 0);
  return from(1, phi, theta, x_r, x_i);
}`},
		{names: "generate_laplace_options", doc: laplaceOptionsDoc, plain: laplaceOptions},
		{names: "hypergeometric_2F1", doc: "The hypergeometric function ₂F₁(a, b; c; z) for arguments a, b, c, z with z ≤ 1, at z = 1 for c > a + b, or any z where a or b is 0 or a negative whole number: the sum of its series, of negative z after Pfaff's transformation (DLMF 15.2, 15.4.20, 15.8.1).", files: "hypergeometric", head: constantStubs, plain: `
real solve(real a, real b, real c, real z) { return gauss(a, b, c, z); }`},
		{names: "hypergeometric_3F2", doc: "The hypergeometric function ₃F₂(a; b; z) of three upper and two lower parameters, for |z| ≤ 1, or any z where an upper parameter is 0 or a negative whole number: the sum of its series (DLMF 16.2).", files: "hypergeometric", head: constantStubs, plain: `
real solve($1 a, $2 b, real z) {
  if (size(a) != 3 || size(b) != 2)
    reject("there must be 3 upper and 2 lower parameters, but there are ", size(a), " and ", size(b));
  return generalised(to_vector(a), to_vector(b), z);
}`},
		{names: "hypergeometric_pFq", doc: "The generalised hypergeometric function of upper parameters a and lower parameters b at z, the sum of its series (DLMF 16.2). With as many parameters above as below, or fewer, z is any number; with one more above, |z| ≤ 1, unless an upper parameter is 0 or a negative whole number.", files: "hypergeometric", head: constantStubs, plain: `
real solve($1 a, $2 b, real z) { return generalised(to_vector(a), to_vector(b), z); }`},
	}
}()

// writtenTexts has the sources of functionals, without and with tolerances. Overloads share them.
type writtenTexts map[writtenText]string

type writtenText struct {
	functional int
	tol        bool
}

// of returns a source.
func (t writtenTexts) of(key writtenText) string {
	if text, ok := t[key]; ok {
		return text
	}
	f := functionals[key.functional]
	entry := f.plain
	if key.tol {
		entry = f.control
	}
	var text strings.Builder
	text.WriteString("functions {" + f.head)
	for file := range strings.FieldsSeq(f.files) {
		b, err := texts.ReadFile("texts/" + file + ".stan")
		if err != nil {
			panic(err) // a wrong name in the table above
		}
		text.WriteString("\n" + strings.ReplaceAll(string(b), "$where", ""))
	}
	text.WriteString(entry + "\n}\n")
	t[key] = text.String()
	return t[key]
}

// hasWord reports whether a list of words has a word.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// written returns overload o of a function as Stan source; ok is false if it has none.
func (t writtenTexts) written(name string, o types.Overload) (w types.Written, ok bool) {
	base, tol := strings.CutSuffix(name, "_tol")
	own, torsten := strings.CutPrefix(name, "pmx_")
	if torsten = torsten && strings.HasPrefix(own, "ode_"); torsten { // Torsten's names of Stan's functions
		base, tol = strings.CutSuffix(own, "_ctrl")
	}
	i := slices.IndexFunc(functionals, func(f functional) bool { return hasWord(f.names, base) })
	if i < 0 {
		return w, false
	}
	f := functionals[i]
	if o, fixed := o.(types.Fixed); fixed && f.control != "" {
		tol = len(o.Params) > oldArguments[strings.Fields(f.files)[len(strings.Fields(f.files))-1]]
	}
	return types.Written{Overload: o, Name: name, Doc: f.doc, Lead: f.lead, Text: t.of(writtenText{i, tol}), Tolerance: f.tolerance, Beyond: torsten}, true
}

// oldArguments has, for each algorithm, the number of arguments of its older function without
// control arguments.
var oldArguments = map[string]int{"dop853": 7, "seulex": 7, "newton": 5, "powell": 5, "quadrature": 6}
