package stdlib

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/lang/types"
)

// This file: the functions of pharmacometrics, under the names that Torsten gave them. They are
// written in Stan: events.stan makes a schedule of the records, which is decided when the data are
// bound unless it depends on parameters, and linear.stan and others go through it.

// eventArgs are the arguments that describe events, in the notation of shortType.
const eventArgs = "1r time, 1r amt, 1r rate, 1r ii, 1i evid, 1i cmt, 1i addl, 1i ss"

// pmx is a function of the family. Its arguments are names with types: alternatives are separated
// by |, and * marks arguments that must be data. Each group of optional arguments needs those
// before it, but end may follow any of them.
type pmx struct {
	names    string // Stan source and name differ only by what # is, see text
	doc      string
	function *types.FuncType // the function that is passed; nil: none
	first    string
	more     []string // optional arguments
	end      []string // optional arguments after these
	result   types.Type
	text     func(name string, args []string) string // the Stan source; args are declarations
	lead     int
	accuracy float64
}

// pharmacometrics declares the family.
func pharmacometrics() []types.Overload {
	var out []types.Overload
	for _, p := range pmxFunctions() {
		for name := range strings.FieldsSeq(p.names) {
			out = append(out, types.Written{Overload: p.forms(name), Name: name, Doc: p.doc, Lead: p.lead, Tolerance: p.accuracy, Beyond: true,
				Batch: func(args []types.Type) *types.Batch { return p.batch(name, args) },
				Make: func(args []types.Type) string {
					list := make([]string, len(args))
					for i, a := range p.argsOf(args) {
						list[i] = args[i].String() + " " + a.name
						if a.data {
							list[i] = "data " + list[i]
						}
					}
					return leveled("functions {"+p.text(name, list)+"\n}\n", list)
				}})
		}
	}
	return out
}

// pmxArg is an argument: its name, types and whether it must be data.
type pmxArg struct {
	name  string
	types []types.Type
	data  bool
}

func pmxArgs(list string) []pmxArg {
	var out []pmxArg
	for a := range strings.SplitSeq(list, ", ") {
		kinds, name, _ := strings.Cut(a, " ")
		arg := pmxArg{name: strings.TrimPrefix(name, "*"), data: strings.HasPrefix(name, "*")}
		for k := range strings.SplitSeq(kinds, "|") {
			arg.types = append(arg.types, shortType(k))
		}
		out = append(out, arg)
	}
	return out
}

// lists returns the arguments of every form, without the function, the shortest first.
func (p *pmx) lists() [][]pmxArg {
	var out [][]pmxArg
	for i := range len(p.more) + 1 {
		for j := range len(p.end) + 1 {
			args := pmxArgs(p.first)
			for _, m := range p.more[:i] {
				args = append(args, pmxArgs(m)...)
			}
			for _, e := range p.end[:j] {
				args = append(args, pmxArgs(e)...)
			}
			out = append(out, args)
		}
	}
	return out
}

// argsOf returns the arguments of a call with these types.
func (p *pmx) argsOf(args []types.Type) []pmxArg {
	for _, l := range p.lists() {
		if len(l) != len(args) {
			continue
		}
		fits := true
		for i, a := range l {
			fits = fits && slices.ContainsFunc(a.types, args[i].Equal)
		}
		if fits {
			return l
		}
	}
	return nil
}

// batch returns the function that solves for several subjects what calls with these arguments,
// without functions, solve for one each; nil if there is none.
func (p *pmx) batch(name string, args []types.Type) *types.Batch {
	b := &types.Batch{Rows: strings.HasPrefix(name, "pmx_integrate_ode_"), Of: -1}
	stem := "pmx_solve_"
	if b.Rows {
		stem = "pmx_integrate_ode_"
	}
	method, ok := strings.CutPrefix(name, stem)
	list := p.argsOf(args)
	if !ok || strings.HasPrefix(method, "group_") || list == nil {
		return nil
	}
	b.Name = stem + "group_" + method
	if p.function != nil {
		b.Roles = []types.BatchRole{types.BatchSame}
	}
	switch {
	case strings.HasPrefix(method, "onecpt"):
		b.States = 2
	case strings.HasPrefix(method, "twocpt"):
		b.States = 3
	}
	if strings.HasSuffix(method, "_effcpt") {
		b.States++
	}
	for _, a := range list {
		if a.name == "states" || a.name == "equations" || a.name == "y0" || a.name == "theta" && method == "linode" {
			b.Of = len(b.Roles)
		}
		role := types.BatchSame
		switch a.name {
		case "time", "ts":
			b.Len = len(b.Roles)
			role = types.BatchRecords
		case "amt", "rate", "ii", "evid", "cmt", "addl", "ss":
			role = types.BatchRecords
		case "y0", "theta", "biovar", "tlag", "x_r", "x_i":
			role = types.BatchTable
			if b.Rows {
				role = types.BatchRow
			}
		}
		b.Roles = append(b.Roles, role)
	}
	return b
}

// signatures returns the signatures of every form.
func (p *pmx) signatures() (out []types.FuncType) {
	for _, l := range p.lists() {
		forms := []types.FuncType{{Result: p.result}}
		if p.function != nil {
			forms[0].Params = []types.Param{{Type: types.Type{Kind: types.Function, Func: p.function}}}
		}
		for _, a := range l {
			var longer []types.FuncType
			for _, t := range a.types {
				for _, form := range forms {
					longer = append(longer, types.FuncType{Result: p.result,
						Params: append(form.Params[:len(form.Params):len(form.Params)], types.Param{Type: t, DataOnly: a.data})})
				}
			}
			forms = longer
		}
		out = append(out, forms...)
	}
	return out
}

// forms returns the overloads of a function.
func (p *pmx) forms(name string) types.Forms {
	var shown strings.Builder
	list := func(args []pmxArg, comma bool) {
		for _, a := range args {
			if comma {
				shown.WriteString(", ")
			}
			comma = true
			if a.data {
				shown.WriteString("data ")
			}
			for i, t := range a.types {
				if i > 0 {
					shown.WriteString(" or ")
				}
				shown.WriteString(t.String())
			}
			shown.WriteString(" " + a.name)
		}
	}
	shown.WriteString(name + "(")
	if p.function != nil {
		shown.WriteString(p.function.String())
	}
	list(pmxArgs(p.first), p.function != nil)
	for _, m := range p.more {
		shown.WriteString("[")
		list(pmxArgs(m), true)
	}
	shown.WriteString(strings.Repeat("]", len(p.more)))
	for _, m := range p.end {
		shown.WriteString("[")
		list(pmxArgs(m), true)
	}
	shown.WriteString(strings.Repeat("]", len(p.end)) + ") => " + p.result.String())
	return types.Forms{Name: name, Shown: shown.String(), Forms: sync.OnceValue(p.signatures)}
}

// has returns b if there is an argument of that name, otherwise other.
func has(args []string, name, b, other string) string {
	for _, a := range args {
		if strings.HasSuffix(a, " "+name) {
			return b
		}
	}
	return other
}

// leveled replaces the names in a source by the levels of arguments.
func leveled(text string, args []string) string {
	var replace []string
	for _, of := range [][2]string{{"$rated", " rate"}, {"$dosed", " amt"}, {"$spaced", " ii"}} {
		if k := slices.IndexFunc(args, func(a string) bool { return strings.HasSuffix(a, of[1]) }); k >= 0 {
			replace = append(replace, of[0], fmt.Sprintf("$level(%d)", k+1))
		}
	}
	return strings.NewReplacer(replace...).Replace(text)
}

// source returns the Stan source of these files.
func source(files ...string) string {
	var b strings.Builder
	for _, file := range files {
		text, err := texts.ReadFile("texts/" + file + ".stan")
		if err != nil {
			panic(err) // a wrong name in the table
		}
		b.WriteString("\n" + string(text))
	}
	return b.String()
}

// model is what a schedule needs to know about a model.
type model struct {
	states   string // the number of states, "states" if it is an argument
	files    string
	declared string // the parameters of one record, as they are declared
	tables   string // those of all records
	more     string // parameters that are the same for all records, as they are declared
	subject  bool   // whether the model has the number of the subject, for messages
	group    bool   // whether messages show it
	coupled  bool   // whether a model in closed form drives differential equations
	effect   bool   // whether it has an effect compartment
}

// names returns the names in a list of declarations, each with a comma before it.
func names(declarations string) string {
	var b strings.Builder
	for d := range strings.SplitSeq(declarations, ", ") {
		if d != "" {
			b.WriteString(", " + d[strings.LastIndex(d, " ")+1:])
		}
	}
	return b.String()
}

// source returns the model and the schedule for it.
func (m model) source() string {
	var rows strings.Builder
	for t := range strings.SplitSeq(m.tables, ", ") {
		name := t[strings.LastIndex(t, " ")+1:]
		rows.WriteString(", " + name + "[row_of(size(" + name + "), q, s, n)]")
	}
	more := m.more
	if more != "" {
		more = ", " + more
	}
	subject, passed := "", ""
	if m.subject {
		subject, passed = ", int subject", ", s"
	}
	declared := subject + ", " + m.declared + more
	text := source("events") + source(strings.Fields(m.files)...) + source("schedule")
	return strings.NewReplacer("$declared", declared, "$passed", names(strings.TrimPrefix(declared, ", ")), "$rows", passed+rows.String()+names(m.more),
		"$tables", ", "+m.tables+more, "$where", where(m.group), "$record", record(m.group)).Replace(text)
}

// solve returns the entry point for these arguments; further are those of run after the lag times.
func (m model) solve(args []string, further string) string {
	check := ""
	if m.states != "states" {
		exact := "1"
		if m.coupled {
			exact = "0"
		}
		check = "  check_parameters(table(theta), " + exact + ");\n  int states = " + m.states + ";"
		if m.effect {
			check = "  check_effects(table(theta));\n  int states = " + m.states + ";"
		}
	}
	// A coupled model is often called with as many of these as parameters.
	doses := func(name, value string) string {
		if m.coupled {
			return has(args, name, "first_columns(table("+name+"), states)", "rep_array("+value+", 1, states)")
		}
		return has(args, name, "table("+name+")", "rep_array("+value+", 1, states)")
	}
	return `
matrix solve(` + strings.Join(args, ", ") + `) {
` + check + `
  return run(` + has(args, "len", "len", "{size(time)}") + `, time, amt, rate, ii, evid, cmt, addl, ss, states, ` +
		doses("biovar", "1.0") + ", " + doses("tlag", "0.0") + ", table(theta)" + further + `);
}`
}

// linearModel returns the source for a linear model in these files. param is the type of its
// parameters for one record, table that for all.
func linearModel(files, states, param, table string) func(string, []string) string {
	m := model{states: states, declared: param + " p", tables: table + " theta", files: files + " linear", effect: strings.HasSuffix(files, " effect")}
	return func(name string, args []string) string {
		m := m
		m.group = strings.Contains(name, "_group_")
		return m.source() + m.solve(args, "")
	}
}

// systemArgs are the arguments of a right-hand side after the time and the state.
const systemArgs = "array[] real of, array[] real x_r, array[] int x_i"

// where returns the arguments of a message that show the subject, if there are several.
func where(group bool) string {
	if group {
		return `" of subject ", subject,`
	}
	return ""
}

// record returns the arguments of a message that show a record, with its subject if there are
// several.
func record(group bool) string {
	if group {
		return `i - first + 1, " of subject ", subject`
	}
	return "i"
}

// solver returns the source of the solver that a name ends with, for a right-hand side with these
// further arguments, and the name of its function. driver is the argument of f after the state, if
// there is one.
func solver(name, driver, params string) (text, integrate string) {
	files, integrate := []string{"adaptive", "seulex", "dop853"}, "integrate"
	if strings.HasSuffix(name, "_bdf") {
		files, integrate = files[:2], "integrate_stiff"
	}
	text = slopes(driver) + `
matrix jacobian_rhs_1(real t, vector y, ` + params + `) { reject(""); }
vector detach(vector x) { reject(""); }
matrix detach(matrix x) { reject(""); }
real detach(real x) { reject(""); }`
	return text + strings.NewReplacer("$params", ", "+params, "$args", names(params), "$where", where(strings.Contains(name, "_group_"))).Replace(source(files...)), integrate
}

// count returns a number of steps as an integer: programs for Torsten also pass reals such as 1e8,
// which may be above the largest integer.
func count(name string) string { return "to_int(fmin(" + name + ", 2e9))" }

// slopes declares the right-hand side of the user.
func slopes(driver string) string {
	return `
vector f(real t, vector y, ` + driver + systemArgs + `) { reject(""); }`
}

// generalModel returns the source for a system of differential equations with events.
func generalModel(name string, args []string) string {
	const inflow = "vector r, int subject, " + systemArgs
	text, integrate := solver(name, "", inflow)
	text += `
vector rhs(real t, vector y, ` + inflow + `) { return f(t, y, of, x_r, x_i) + r; }`
	return text + systemOf(name, integrate, args, model{states: "states", files: "general balance"})
}

// coupledModel returns the source for a system that a model in closed form drives.
func coupledModel(name string, args []string) string {
	text, integrate := solver(name, "vector z, ", "vector pk, vector inflow, array[] int into, real from, int subject, "+systemArgs)
	closed := "onecpt"
	if strings.Contains(name, "twocpt") {
		closed = "twocpt"
	}
	return text + systemOf(name, integrate, args, model{states: "equations + compartments()", files: "differences " + closed + " plain coupled balance", coupled: true})
}

// systemOf returns the source of a model with a system that integrate solves, and of its schedule.
func systemOf(name, integrate string, args []string, m model) string {
	m.declared, m.tables = systemArgs, "array[,] real theta, array[,] real xr, array[,] int xi"
	m.more = "real ode_rtol, real ode_atol, int ode_most, real as_rtol, real as_atol, int as_most"
	m.subject, m.group = true, strings.Contains(name, "_group_")
	return strings.ReplaceAll(m.source(), "$integrate", integrate) +
		m.solve(args, ", "+has(args, "x_r", "x_r", "rep_array(0.0, 1, 0)")+", "+has(args, "x_i", "x_i", "rep_array(0, 1, 0)")+", "+
			has(args, "rtol", "rtol, atol, "+count("most"), "1e-6, 1e-6, 1000000")+", "+has(args, "as_rtol", "as_rtol, as_atol, "+count("as_most"), "1e-6, 1e-6, 100"))
}

// integrator returns the source of a solution without events.
func integrator(name string, args []string) string {
	const params = "int subject, " + systemArgs
	text, integrate := solver(name, "", params)
	text += `
vector rhs(real t, vector y, ` + params + `) { return f(t, y, of, x_r, x_i); }`
	tolerances := has(args, "rtol", "rtol, atol, "+count("most"), "1e-8, 1e-8, 100000")
	if strings.HasSuffix(name, "_rk45") {
		tolerances = has(args, "rtol", "rtol, atol, "+count("most"), "1e-6, 1e-6, 100000")
	}
	if !strings.Contains(name, "_group_") {
		return text + `
array[,] real solve(` + strings.Join(args, ", ") + `) {
  array[size(ts), num_elements(y0)] real out;
  array[size(ts)] vector[num_elements(y0)] ys = ` + integrate + `(to_vector(y0), t0, ts, ` + tolerances + `, 1, theta, x_r, x_i);
  for (i in 1:size(ts)) out[i] = to_array_1d(ys[i]);
  return out;
}`
	}
	return text + `
matrix solve(` + strings.Join(args, ", ") + `) {
  int subjects = size(len);
  if (subjects == 0 || size(y0) != subjects || size(theta) != subjects || size(x_r) != subjects || size(x_i) != subjects)
    reject("len, y0, theta, x_r and x_i must have one element for each subject, but they have ", subjects, ", ", size(y0), ", ",
           size(theta), ", ", size(x_r), " and ", size(x_i));
  if (sum(len) != size(ts))
    reject("the numbers of times of the subjects must add up to ", size(ts), ", but they add up to ", sum(len));
  // Subjects are lanes: all have as many times, and repeat their last one.
  int longest = max(len);
  array[subjects, longest] real at;
  array[size(ts)] int whose, which;
  int before = 0;
  for (s in 1:subjects) {
    if (len[s] < 1)
      reject("each subject must have at least one time of the solution, but subject ", s, " has ", len[s]);
    for (i in 1:longest) at[s, i] = ts[before + min(i, len[s])];
    for (i in 1:len[s]) {
      whose[before + i] = s;
      which[before + i] = i;
    }
    before += len[s];
  }
  array[subjects, longest] vector[size(y0[1])] ys;
  for (s in 1:subjects)
    ys[s] = ` + integrate + `(to_vector(y0[s]), t0, at[s], ` + tolerances + `, s, theta[s], x_r[s], x_i[s]);
  matrix[size(y0[1]), size(ts)] out;
  for (k in 1:size(ts)) out[, k] = ys[whose[k], which[k]];
  return out;
}`
}

// integral returns the source of an integral.
func integral(name string, args []string) string {
	const params = "int subject, " + systemArgs
	text, integrate := solver(name, "", params)
	return strings.Replace(text, slopes(""), "\nreal f(real t, "+systemArgs+`) { reject(""); }`, 1) + `
vector rhs(real t, vector y, ` + params + `) { return [f(t, of, x_r, x_i)]'; }
real solve(` + strings.Join(args, ", ") + `) {
  if (t0 == t1) // with the derivatives of the integral
    return (t1 - t0) * f(t0, theta, x_r, x_i);
  real whole = ` + integrate + `([0]', fmin(t0, t1), {fmax(t0, t1)}, 1e-10, 1e-10, 1000000, 1, theta, x_r, x_i)[1, 1];
  return t0 < t1 ? whole : -whole;
}`
}

const eventsDoc = " The records of events have times, doses amt, infusion rates, intervals ii, and evid, cmt, addl and ss as in NONMEM. " +
	"Parameters, bioavailabilities (1 if they are not given) and lag times (0) are for all records or one row for each: those of a record hold since the record before it. " +
	"Column i of the result is the state at record i, after it."

const controlDoc = "Steady states are solved for, with derivatives by the implicit function theorem. " +
	"The control arguments are the tolerances and most steps of the differential equation (1e-6, 1e-6, 1000000), and of the search for steady states (1e-6, 1e-6, 100)."

const interpolateDoc = "The value at xout of the line through the points (x, y), where x increases: linear between neighbours, and that of the nearest end outside."

const groupDoc = " The records are those of several subjects, len[s] of each in order, and parameters may have one row for each subject."

func pmxFunctions() []pmx {
	const lists = "array[] real"
	const tables = "array[,] real"
	reals, ints := tReal.Array(1), tInt.Array(1)
	rhs := &types.FuncType{Result: tVec, Params: []types.Param{{Type: tReal}, {Type: tVec}, {Type: reals},
		{Type: reals, DataOnly: true}, {Type: ints, DataOnly: true}}}
	integrand := &types.FuncType{Result: tReal, Params: []types.Param{{Type: tReal}, {Type: reals}, {Type: reals, DataOnly: true}, {Type: ints, DataOnly: true}}}
	doses := []string{"1r|2r|1v biovar", "1r|2r|1v tlag"}
	further := append(doses, "2r *x_r", "2i *x_i")
	control := []string{"r *rtol, r *atol, r *most", "r *as_rtol, r *as_atol, r *as_most"}
	const systemDoc = "The state of dy/dt = f(t, y, theta, x_r, x_i), plus infusions, with as many states as the second argument says. " + controlDoc
	out := []pmx{
		{names: "pmx_solve_rk45 pmx_solve_adams pmx_solve_bdf", function: rhs, first: "i states, " + eventArgs + ", 1r|2r|1v theta", more: further, end: control,
			result: tMat, doc: systemDoc + eventsDoc, text: generalModel, lead: 5, accuracy: 1e-6},
		{names: "pmx_solve_group_rk45 pmx_solve_group_adams pmx_solve_group_bdf", function: rhs, first: "i states, 1i len, " + eventArgs + ", 1r|2r|1v theta", more: further, end: control,
			result: tMat, doc: systemDoc + groupDoc + eventsDoc,
			text: generalModel, lead: 5, accuracy: 1e-6},
		{names: "pmx_integrate_ode_rk45 pmx_integrate_ode_adams pmx_integrate_ode_bdf", function: rhs,
			first: "1r|v y0, r t0, 1r ts, 1r theta, 1r *x_r, 1i *x_i", end: control[:1], result: reals.Array(1),
			doc:  "The solution of dy/dt = f(t, y, theta, x_r, x_i) at the times ts, from y0 at t0, one row for each time: see ode_rk45, ode_adams and ode_bdf. The control arguments are the tolerances and most steps, which are 1e-6 (rk45) or 1e-8, and 100000.",
			text: integrator, lead: 5, accuracy: 1e-6},
		{names: "pmx_integrate_ode_group_rk45 pmx_integrate_ode_group_adams pmx_integrate_ode_group_bdf", function: rhs,
			first: "2r y0, r t0, 1i len, 1r ts, 2r theta, 2r *x_r, 2i *x_i", end: control[:1], result: tMat,
			doc:  "The solutions of dy/dt = f(t, y, theta[s], x_r[s], x_i[s]) for several subjects s, from y0[s] at t0, at the next len[s] of the times ts, one column for each time. The control arguments are the tolerances and most steps, which are 1e-6 (rk45) or 1e-8, and 100000.",
			text: integrator, lead: 5, accuracy: 1e-6},
		{names: "univariate_integral_rk45 univariate_integral_bdf", function: integrand, first: "r t0, r t1, 1r theta, 1r *x_r, 1i *x_i", result: tReal,
			doc:  "The integral of f(t, theta, x_r, x_i) from t0 to t1, as the solution of a differential equation with tolerances of 1e-10: see integrate_1d for other integrals.",
			text: integral, lead: 4, accuracy: 1e-8},
		{names: "pmx_ln_interpolate linear_interpolation", first: "r xout, 1r x, 1r y", result: tReal,
			doc: interpolateDoc, text: func(_ string, args []string) string {
				return source("interpolate") + "\nreal solve(" + strings.Join(args, ", ") + ") { return interpolated(xout, x, y); }"
			}},
		{names: "pmx_ln_interpolate linear_interpolation", first: "1r xout, 1r x, 1r y", result: reals,
			doc: interpolateDoc, text: func(_ string, args []string) string {
				return source("interpolate") + `
array[] real solve(` + strings.Join(args, ", ") + `) {
  array[size(xout)] real out;
  for (k in 1:size(xout)) out[k] = interpolated(xout[k], x, y);
  return out;
}`
			}},
	}
	driven := *rhs
	driven.Params = slices.Insert(slices.Clone(rhs.Params), 2, types.Param{Type: tVec})
	for _, group := range []string{"", "group_"} {
		first, doc := eventArgs, eventsDoc
		if group != "" {
			first, doc = "1i len, "+eventArgs, groupDoc+eventsDoc
		}
		for _, m := range []struct{ name, is string }{{"onecpt", "depot and centre (theta begins with CL, V2, ka)"}, {"twocpt", "depot, centre and periphery (theta begins with CL, Q, V2, V3, ka)"}} {
			name := "pmx_solve_" + group + m.name
			out = append(out, pmx{names: name + "_rk45 " + name + "_bdf", function: &driven, first: "i equations, " + first + ", 1r|2r|1v theta", more: further, end: control,
				result: tMat, doc: "The amounts z in " + m.is + " in closed form and, after them, the state of the system dy/dt = f(t, y, z, theta, x_r, x_i) that they drive, " +
					"with as many equations as the second argument says. Further numbers of biovar and tlag are ignored. " + controlDoc + doc,
				text: coupledModel, lead: 6, accuracy: 1e-6})
		}
		out = append(out,
			pmx{names: "pmx_solve_" + group + "onecpt", first: first + ", 1r|2r|1v theta", more: doses, result: tMat,
				doc:  "The amounts in a depot and a central compartment with first-order absorption, in closed form. theta: CL, V2, ka." + doc,
				text: linearModel("differences onecpt plain", "2", lists, tables)},
			pmx{names: "pmx_solve_" + group + "twocpt", first: first + ", 1r|2r|1v theta", more: doses, result: tMat,
				doc:  "The amounts in a depot, a central and a peripheral compartment with first-order absorption, in closed form. theta: CL, Q, V2, V3, ka." + doc,
				text: linearModel("differences twocpt plain", "3", lists, tables)},
			pmx{names: "pmx_solve_" + group + "onecpt_effcpt", first: first + ", 1r|2r|1v theta", more: doses, result: tMat,
				doc:  "The amounts in a depot and a central compartment, and that in an effect compartment e which follows the centre: de/dt = ke0 (centre - e). In closed form. theta: CL, V2, ka, ke0." + doc,
				text: linearModel("differences onecpt effect", "3", lists, tables)},
			pmx{names: "pmx_solve_" + group + "twocpt_effcpt", first: first + ", 1r|2r|1v theta", more: doses, result: tMat,
				doc:  "The amounts in a depot, a central and a peripheral compartment, and that in an effect compartment e which follows the centre: de/dt = ke0 (centre - e). In closed form. theta: CL, Q, V2, V3, ka, ke0." + doc,
				text: linearModel("differences twocpt effect", "4", lists, tables)},
			pmx{names: "pmx_solve_" + group + "linode", first: first + ", m|1m theta", more: doses, result: tMat,
				doc:  "The state of the linear system dy/dt = K y with the matrix theta = K, by the matrix exponential." + doc,
				text: linearModel("linode", "rows(table(theta)[1])", "matrix", "array[] matrix")})
	}
	for _, p := range out { // the end is that of the list before
		if p.function != nil && p.function != integrand {
			out = append(out, p.withArrays())
		}
	}
	return out
}

// withArrays returns the same functions for right-hand sides whose states are arrays of reals, as
// in older versions of Torsten.
func (p pmx) withArrays() pmx {
	f := *p.function
	f.Result, f.Params = tReal.Array(1), slices.Clone(f.Params)
	for i, arg := range f.Params {
		if arg.Type.Equal(tVec) {
			f.Params[i].Type = f.Result
		}
	}
	text := p.text
	p.function, p.text = &f, func(name string, args []string) string { return overArrays(text(name, args)) }
	return p
}

// overArrays returns a source in which f, the right-hand side, has arrays of reals.
func overArrays(text string) string {
	driver, driven := "", ""
	if strings.Contains(text, slopes("vector z, ")) {
		driver, driven = "vector z, ", "to_array_1d(z), "
	}
	begin, end, _ := strings.Cut(text, slopes(driver))
	declared := "real t, vector y, " + driver + systemArgs
	return callOfF.ReplaceAllString(begin, "${1}slope(") + `
array[] real f(` + strings.ReplaceAll(declared, "vector ", "array[] real ") + `) { reject(""); }
vector slope(` + declared + `) { return to_vector(f(t, to_array_1d(y), ` + driven + `of, x_r, x_i)); }` +
		callOfF.ReplaceAllString(end, "${1}slope(")
}

// callOfF matches a call of f.
var callOfF = regexp.MustCompile(`(\W)f\(`)
