package stdlib

import (
	"strings"

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
			out = append(out, types.Written{Overload: p.forms(name), Name: name, Doc: p.doc, Lead: p.lead, Tolerance: p.accuracy,
				Make: func(args []types.Type) string {
					names := p.argNames(args)
					list := make([]string, len(args))
					for i, a := range args {
						list[i] = a.String() + " " + names[i]
					}
					return "functions {" + p.text(name, list) + "\n}\n"
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

// argNames returns the names of the arguments of a call with these types.
func (p *pmx) argNames(args []types.Type) []string {
	for _, l := range p.lists() {
		if len(l) != len(args) {
			continue
		}
		names := make([]string, len(l))
		fits := true
		for i, a := range l {
			names[i] = a.name
			any := false
			for _, t := range a.types {
				any = any || t.Equal(args[i])
			}
			fits = fits && any
		}
		if fits {
			return names
		}
	}
	return nil
}

// forms returns the signatures of a function.
func (p *pmx) forms(name string) types.Forms {
	f := types.Forms{Name: name}
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
		f.Forms = append(f.Forms, forms...)
	}
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
	f.Shown = shown.String()
	return f
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

// linearText returns the source for a linear model with this many compartments, whose parameters
// for a record have the given type.
func linearText(model, states, param, table string, files ...string) func(string, []string) string {
	return func(_ string, args []string) string {
		text := source(append([]string{"events"}, append(files, model)...)...) +
			strings.NewReplacer("array[] $model", table, "$model", param).Replace(source("linear"))
		return text + `
matrix solve(` + strings.Join(args, ", ") + `) {
  int states = ` + states + `;
  check_parameters(table(theta));
  return run(time, amt, rate, ii, evid, cmt, addl, ss, states, table(theta), ` +
			has(args, "biovar", "table(biovar)", "rep_array(1.0, 1, states)") + ", " +
			has(args, "tlag", "table(tlag)", "rep_array(0.0, 1, states)") + `);
}`
	}
}

const eventsDoc = " The records of events have times, doses amt, infusion rates, intervals ii, and evid, cmt, addl and ss as in NONMEM. " +
	"Parameters, bioavailabilities (1 if they are not given) and lag times (0) are for all records or one row for each: those of a record hold since the record before it. " +
	"Column i of the result is the state at record i, after it."

func pmxFunctions() []pmx {
	real1, real2 := "array[] real", "array[,] real"
	return []pmx{
		{names: "pmx_solve_onecpt", first: eventArgs + ", 1r|2r theta", more: []string{"1r|2r biovar", "1r|2r tlag"}, result: tMat,
			doc:  "The amounts in a depot and a central compartment with first-order absorption, in closed form. theta: CL, V2, ka." + eventsDoc,
			text: linearText("onecpt", "2", real1, real2, "differences")},
		{names: "pmx_solve_twocpt", first: eventArgs + ", 1r|2r theta", more: []string{"1r|2r biovar", "1r|2r tlag"}, result: tMat,
			doc:  "The amounts in a depot, a central and a peripheral compartment with first-order absorption, in closed form. theta: CL, Q, V2, V3, ka." + eventsDoc,
			text: linearText("twocpt", "3", real1, real2, "differences")},
		{names: "pmx_solve_linode", first: eventArgs + ", m|1m theta", more: []string{"1r|2r biovar", "1r|2r tlag"}, result: tMat,
			doc:  "The state of the linear system dy/dt = K y with the matrix theta = K, by the matrix exponential." + eventsDoc,
			text: linearText("linode", "rows(table(theta)[1])", "matrix", "array[] matrix")},
	}
}
