// Package legacy lists the functions of older versions of Stan and their replacements.
package legacy

import "strings"

// renamed lists functions that have another name now, with the same arguments.
var renamed = map[string]string{
	"multiply_log":             "lmultiply",
	"binomial_coefficient_log": "lchoose",
	"cov_exp_quad":             "gp_exp_quad_cov",
	"fabs":                     "abs",
	"integrate_ode":            "integrate_ode_rk45",
}

// transposed lists functions of Torsten's older versions, whose results have a row for each record.
// Those of today have a column, and the same arguments.
var transposed = map[string]string{
	"PKModelOneCpt":        "pmx_solve_onecpt",
	"PKModelTwoCpt":        "pmx_solve_twocpt",
	"linCptModel":          "pmx_solve_linode",
	"linOdeModel":          "pmx_solve_linode",
	"generalCptModel_rk45": "pmx_solve_rk45",
	"generalCptModel_bdf":  "pmx_solve_bdf",
	"generalOdeModel_rk45": "pmx_solve_rk45",
	"generalOdeModel_bdf":  "pmx_solve_bdf",
	"mixOde1CptModel_rk45": "pmx_solve_onecpt_rk45",
	"mixOde1CptModel_bdf":  "pmx_solve_onecpt_bdf",
	"mixOde2CptModel_rk45": "pmx_solve_twocpt_rk45",
	"mixOde2CptModel_bdf":  "pmx_solve_twocpt_bdf",
}

// Order is the order of arguments in Torsten's first versions: parameters came before the events,
// and ended in the bioavailabilities and lag times of all compartments.
type Order struct {
	Parameters int  // their position among the arguments
	Own        int  // the number of parameters without bioavailabilities and lag times; 0: any number
	States     int  // the number of compartments; 0: an argument says it
	Matrix     bool // the first argument is the matrix of a linear system
}

// Orders lists the functions that had another order of arguments.
var Orders = map[string]Order{
	"PKModelOneCpt":        {Own: 3, States: 2},
	"PKModelTwoCpt":        {Own: 5, States: 3},
	"linCptModel":          {Parameters: 1, Matrix: true},
	"generalCptModel_rk45": {Parameters: 2},
	"generalCptModel_bdf":  {Parameters: 2},
}

// Form is the current form of a call.
type Form int

// The forms.
const (
	Call       Form = iota // Name(x, y)
	Density                // Name(x | y)
	Target                 // target()
	Choice                 // x ? y : z
	Transposed             // Name(x, y)'
)

// Replacement returns the current syntax for a function of older versions; ok is false for other
// names. known reports whether the library or the program has a function.
func Replacement(name string, known func(string) bool) (today string, form Form, ok bool) {
	switch name {
	case "get_lp":
		return "target", Target, true
	case "if_else":
		return "", Choice, true
	}
	if n, ok := renamed[name]; ok {
		return n, Call, known(n)
	}
	if n, ok := transposed[name]; ok {
		return n, Transposed, known(n)
	}
	for _, s := range []struct{ old, new string }{
		{"_ccdf_log", "_lccdf"}, {"_cdf_log", "_lcdf"}, {"_log", "_lpdf"}, {"_log", "_lpmf"},
	} {
		if base, ok := strings.CutSuffix(name, s.old); ok && base != "" && known(base+s.new) {
			return base + s.new, Density, true
		}
	}
	return "", Call, false
}

// Advice describes how to write a call of an old function now; it is "" for other names.
func Advice(name string, known func(string) bool) string {
	today, form, ok := Replacement(name, known)
	switch {
	case !ok:
		return ""
	case form == Target:
		return "write `target()`"
	case form == Choice:
		return "write `condition ? a : b`"
	case form == Transposed:
		advice := "write `" + today + "(…)'`, with an apostrophe: its result has a column for each record"
		if _, ok := Orders[name]; ok {
			advice += "; parameters, bioavailabilities and lag times are the three arguments after `ss`"
		}
		return advice
	case form == Density:
		return "write `" + today + "(… | …)`, with a bar after the first argument"
	}
	return "write `" + today + "(…)`"
}
