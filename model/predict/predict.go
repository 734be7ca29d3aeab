package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Kind is the purpose of a derived program.
type Kind int

// The kinds.
const (
	// LogLikelihood computes the log density of each observation at a draw. For a data variable y
	// that is a variate, the output is log_lik (log_lik_y if there are several such variables). It
	// has the dimensions of y except those that a multivariate distribution takes together. The
	// densities of several statements about an observation are added. Densities keep their constant
	// terms.
	LogLikelihood Kind = iota

	// Terms counts the statements about each observation. Its outputs are like those of
	// LogLikelihood, with the suffix _terms. A count of 0 means that there is no such observation.
	// The counts are the same for all draws unless parameters decide which statements run.
	Terms

	// Censoring shows which observations are known only by a bound: for a variable y, y_censored is
	// 1 where the observation is above y, as with weibull_lccdf(y | …), -1 where it is below, and 0
	// elsewhere. Its outputs have y's sizes.
	Censoring

	// Replicated draws the data again: for a variable y, y_rep, with y's type and sizes. Elements
	// that no statement draws are copied from y.
	Replicated

	// Expected computes the mean of each observation: for a variable y, y_mean, a real variable
	// with y's sizes. If y is a category, y_mean has the vector of the probabilities of all
	// categories. Elements that no statement is about are NaN.
	Expected

	// LinearPredictor computes the linear predictor of each observation, such as the log odds of a
	// binary y: y_link, with the sizes of Expected.
	LinearPredictor

	// Variance computes the variance of each observation about its mean: y_variance, with the sizes
	// of Expected.
	Variance

	// Prior is the model without its statements about data. It has the parameters and no generated
	// quantities; its posterior is the prior.
	Prior

	// TopLevel is Prior with only those priors whose arguments are not parameters. It also leaves
	// out priors of standardised effects, which a scale parameter multiplies. What remains is the
	// knowledge before the data, without the distributions of populations.
	TopLevel

	// Forward has no parameters. Its generated quantities are the model's parameters, each drawn
	// from its prior after those that it depends on.
	Forward
)

// isPrior reports whether the derived program is a model of the parameters alone.
func (k Kind) isPrior() bool { return k == Prior || k == TopLevel || k == Forward }

// counts reports whether the outputs are integers about each observation.
func (k Kind) counts() bool { return k == Terms || k == Censoring }

// predicts reports whether the kind computes something for each observation from its distribution.
func (k Kind) predicts() bool {
	return k == Replicated || k == Expected || k == LinearPredictor || k == Variance
}

// Options of [Derive]. The zero value is the default.
type Options struct {
	// Unknown lists data variables that are not given but drawn. Only their sizes matter.
	Unknown []string

	// Grown lists parameters with more elements than the fit has, for [Replicated], [Expected] and
	// [LinearPredictor]. NewLevels is the way to choose the other elements.
	Grown     []Grown
	NewLevels NewLevels

	// Complete asks for draws of censored observations too, for [Replicated]. They are draws of the
	// values that were not observed, without censoring. By default their statements are among
	// [Derived.Left], because the model does not say when it censors.
	Complete bool

	// Cut asks for values as they would be recorded, for [Replicated]: a value beyond a limit that
	// the declaration has (censored_below, censored_above) is the limit. By default draws are not
	// censored.
	Cut bool

	// Fitted lists data variables with values of the fit, see [Keep]. No outcome is computed from
	// them row by row.
	Fitted []string

	// Bare asks [Prior] to keep local variables and transformed parameters only if its statements
	// need them.
	Bare bool

	// Partial asks [Forward] to leave out parameters without a prior, and those whose priors depend
	// on them, instead of failing; see [Derived.Undrawn].
	Partial bool

	// Ahead, if not nil, asks for draws of later rows of the outcomes, see [TimelineOf].
	Ahead *Ahead

	// Anew says that the data are not those of the fit: discrete parameters are drawn given the
	// other parameters alone, not given the data too.
	Anew bool

	// Given lists data variables that may have missing elements, for [Replicated]: their other
	// elements keep the values of the data, since statements about other variables read them. Those
	// in Holes have missing elements, which are drawn. In the data of the derived program these are
	// NaN or, among integers, [Hole].
	Given, Holes []string
}

// Hole is the value of a missing integer, see [Options].Holes.
const Hole = -2147483647

// Derived is a program that was derived from another one.
type Derived struct {
	Program *compile.Program
	Text    string
	Outputs []Output
	Left    []Left

	// Undrawn lists the reasons why parameters are left out, with [Options.Partial].
	Undrawn []string

	// Known maps a renamed parameter of the program to its name in the fit. A parameter is renamed
	// if it has grown, because it then has only the elements known from the fit.
	Known map[string]string

	// Scaled lists the statements that [TopLevel] keeps, Unscaled the model's other statements
	// about parameters alone.
	Scaled, Unscaled []string
}

// Output is a variable among the generated quantities of a derived program.
type Output struct {
	Name     string   // such as log_lik or y_rep
	Variable string   // the data variable that it is about
	Data     bool     // Variable is declared in the data block, not computed from data
	From     []string // the data from which Variable is computed, for kinds that predict
	Dims     int      // number of dimensions of Name

	// Dist is the distribution of all observations; "" if there are several.
	Dist string

	// Censored says that some statements know only a bound of observations, or that the declaration
	// says for each value how it is censored. Limited says that the declaration has limits.
	Censored, Limited bool

	// Observed lists the reasons why a replicated variable is drawn given its observed values
	// instead of independently of them: the model uses these values in an earlier computation.
	Observed []string
}

// Left is a statement about data from which nothing, or only a part, could be derived.
type Left struct {
	Span   source.Span // position in the original program
	Text   string      // the statement
	Reason string
}

// String returns "`y ~ …` (model.stan, line 3): reason".
func (l Left) String() string {
	at := l.Span.Begin()
	return fmt.Sprintf("`%s` (%s, line %d): %s", l.Text, at.File, at.Line, l.Reason)
}

// Derive derives a program. The error says why nothing can be derived: no statement is about data,
// or the model block uses something that generated quantities do not have, such as target().
func Derive(p *compile.Program, kind Kind, o Options) (*Derived, error) {
	tree, info := p.Syntax()
	e := &emitter{
		analysis: analyse(tree, info, nil), kind: kind, used: namesOf(tree), comments: map[ast.Stmt]string{},
		dims: map[*check.Var]int{}, names: map[*check.Var]string{}, ahead: o.Ahead, fitted: o.Fitted,
		standing: o.Given, holes: o.Holes,
	}
	e.complete, e.cut = o.Complete || kind == Censoring, o.Cut
	if !kind.isPrior() {
		if err := e.possible(); err != nil {
			return nil, err
		}
	}
	e.gather()
	if err := e.unknowns(o.Unknown); err != nil {
		return nil, err
	}
	if err := e.filled(); err != nil {
		return nil, err
	}
	if e.doubt != nil {
		return nil, e.doubt
	}
	if err := e.continued(); err != nil {
		return nil, err
	}
	if len(e.variables) == 0 && !kind.isPrior() {
		if len(e.left) > 0 {
			return nil, e.underivable()
		}
		return nil, fmt.Errorf("the model has no statement on data, such as y ~ normal(mu, sigma) with y among the data")
	}
	var derived *ast.File
	var undrawn []string
	var err error
	switch kind {
	case Prior, TopLevel:
		derived = e.priorProgram(o.Bare)
	case Forward:
		var reason string
		if derived, undrawn, reason = e.forwardProgram(o.Partial); reason != "" {
			return nil, &NotForwardError{reason}
		}
	default:
		if derived, err = e.program(o); err != nil {
			return nil, err
		}
	}
	options := compile.Options{}
	if e.sums(p) {
		if err = e.summed(p, derived, o, &options); err != nil {
			return nil, err
		}
	}
	text := e.text(derived)
	d := &Derived{Text: text, Left: e.left, Undrawn: undrawn, Known: e.known, Scaled: e.scaled, Unscaled: e.unscaled}
	of := map[string]string{}
	for _, v := range e.variables {
		if kind.isPrior() {
			break
		}
		of[e.names[v]] = v.Name
		o := Output{Name: e.names[v], Variable: v.Name, Data: v.Block == ast.Data, Dims: e.dims[v], From: e.sources(v), Observed: e.observed[v], Censored: e.censored(v), Limited: e.limited(v), Dist: e.distributionOf(v)}
		d.Outputs = append(d.Outputs, o)
	}
	options.Like, options.Derived = p, of
	program, list := compile.CompileWith(placed(tree.Source.Name+" (derived)", text, tree.Source), options)
	if list.HasErrors() {
		at := list.Errors()[0]
		return nil, fmt.Errorf("what is derived from the model is no program, which is a mistake of ppl: line %d: %s\n%s", at.Span.Begin().Line, at.Summary, text)
	}
	d.Program = program
	return d, nil
}

// censored reports whether a statement knows only a bound of elements of a variable, or its
// declaration says so.
func (e *emitter) censored(v *check.Var) bool {
	if e.sided(v) {
		return true
	}
	for _, f := range e.findings {
		if slices.ContainsFunc(f.terms, func(t term) bool { return t.censored && t.place.v == v }) {
			return true
		}
	}
	return false
}

// distributionOf returns the distribution of all observations of a variable; "" if there are
// several.
func (e *emitter) distributionOf(v *check.Var) (name string) {
	for _, s := range e.order {
		for _, t := range e.findings[s].terms {
			dist, _ := t.distribution(Expected, true)
			if dist == "normal" && t.place.of == "log" {
				dist = "lognormal"
			}
			if t.place.v != v || dist == name {
				continue
			}
			if name != "" || dist == "" {
				return ""
			}
			name = dist
		}
	}
	return name
}

// NotForwardError says why the parameters of a model cannot be drawn one after another from their
// priors.
type NotForwardError struct{ Reason string }

func (e *NotForwardError) Error() string { return "the prior cannot be drawn directly: " + e.Reason }

// unknowns records the data variables that are not given. Only drawn values may depend on them.
func (e *emitter) unknowns(names []string) error {
	e.unknown = map[*check.Var]bool{}
	for _, name := range names {
		i := slices.IndexFunc(e.variables, func(v *check.Var) bool {
			return v.Name == name && v.Block == ast.Data || slices.Contains(e.sources(v), name)
		})
		if i < 0 {
			return fmt.Errorf("the data have no %s, and no statement of the model draws it", name)
		}
		v := e.variables[i]
		if v.Block != ast.Data {
			v = e.dataVariable(name)
		}
		e.unknown[v] = true
		e.idle(v)
		if err := e.unread(v, "the data have no "+name); err != nil {
			return err
		}
		is := func(u *check.Var) bool { return u == v || slices.Contains(e.sources(u), name) }
		for _, f := range e.findings {
			for _, t := range f.terms {
				if dist, _ := density(t.function); t.place.v == v && !t.user && strings.Contains(dist, "multinomial") {
					return fmt.Errorf("the data have no %s, of which the totals are needed to draw from %s", name, dist)
				}
				if e.kind == Replicated || !is(t.place.v) {
					continue
				}
				for _, a := range t.args {
					if e.readsValues(a, is) {
						return fmt.Errorf("the data have no %s, on whose values the distribution of its other elements depends (line %d)", name, t.at.Span().Begin().Line)
					}
				}
			}
		}
	}
	return nil
}

// unread returns an error if a block other than the model reads a data variable. wrong describes
// the problem.
func (e *emitter) unread(v *check.Var, wrong string) error {
	for _, b := range e.tree.Blocks {
		if b.Kind != ast.Data && b.Kind != ast.TransformedData && b.Kind != ast.Parameters && b.Kind != ast.TransformedParameters {
			continue
		}
		for _, s := range b.Stmts {
			if d, ok := s.(*ast.VarDecl); ok && e.info.Defs[d] == v {
				continue
			}
			if e.reads(s, func(u *check.Var) bool { return u == v }) && !(b.Kind == ast.TransformedData && e.onlyComputes(s, v)) {
				return fmt.Errorf("%s, whose values the %s block needs (line %d)", wrong, b.Kind, s.Span().Begin().Line)
			}
		}
	}
	return nil
}

// dataVariable returns the data variable with a name; nil if there is none.
func (e *emitter) dataVariable(name string) *check.Var {
	for _, s := range e.tree.Block(ast.Data).Stmts {
		if v := e.info.Defs[s]; v != nil && v.Name == name {
			return v
		}
	}
	return nil
}

// sources lists the data column of real numbers from which an outcome is computed, as in log(y) and
// (y - m) / s. It is nil if the outcome is itself a data variable, or is computed from several.
func (e *emitter) sources(v *check.Var) (out []string) {
	if v.Block != ast.TransformedData || !e.kind.predicts() || !slices.Contains(e.variables, v) {
		return nil
	}
	for _, a := range e.assigned[v] {
		e.readsValues(a.value, func(u *check.Var) bool {
			if isColumn(u) && u.Type.Scalar() == types.Real && !slices.Contains(out, u.Name) && !slices.Contains(e.fitted, u.Name) {
				out = append(out, u.Name)
			}
			return false
		})
	}
	if len(out) > 1 {
		return nil
	}
	return out
}

// onlyComputes reports whether a statement reads a data variable only to compute outcomes from it.
func (e *emitter) onlyComputes(s ast.Stmt, v *check.Var) bool {
	ok := true
	reads := func(n ast.Node) bool { return n != nil && e.directly(n, func(u *check.Var) bool { return u == v }) }
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarDecl:
			w := e.info.Defs[n]
			ok = ok && (n.Init == nil || !reads(n.Init) || slices.Contains(e.variables, w))
			return false
		case *ast.Assign:
			for x := range ast.Targets(n.LHS) {
				ok = ok && (!reads(n.RHS) || slices.Contains(e.variables, e.info.Uses[x]))
			}
			return false
		case ast.Expr:
			ok = ok && !reads(n)
		}
		return ok
	}, nil)
	return ok
}

// possible returns an error if the program needs something that generated quantities cannot do.
func (e *emitter) possible() error {
	for _, s := range e.model {
		var err error
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Target:
				err = fmt.Errorf("the model block computes with target() (%s, line %d), which what is derived from it does not have", n.Span().Begin().File, n.Span().Begin().Line)
			case *ast.CallStmt:
				return false // such a term is left out, and reported
			case *ast.CallExpr:
				if strings.HasSuffix(n.Func.Name, "_lp") {
					err = fmt.Errorf("the model block computes with %s (%s, line %d), which adds to the target itself", n.Func.Name, n.Span().Begin().File, n.Span().Begin().Line)
				}
			}
			return err == nil
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// gather analyses all statements. It collects the variables that the outputs are about, in the
// order of their declarations.
func (e *emitter) gather() {
	e.findings = map[ast.Stmt]finding{}
	for _, s := range e.model {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Tilde:
				e.findings[n] = e.tilde(n)
			case *ast.TargetPlus:
				e.findings[n] = e.target(n)
			case *ast.CallStmt:
				if strings.HasSuffix(n.Call.Func.Name, "_lp") && e.reads(n.Call, e.observable) {
					e.findings[n] = finding{left: []string{"the function " + n.Call.Func.Name + " adds to the target by itself"}}
				}
			default:
				return true
			}
			s := n.(ast.Stmt)
			f := e.findings[s]
			kept := f.terms[:0]
			for _, t := range f.terms {
				e.bounded(&t)
				if reason := e.plan(&t); reason != "" {
					f.left = append(f.left, reason)
					continue
				}
				kept = append(kept, t)
				if !slices.Contains(e.variables, t.place.v) {
					e.variables = append(e.variables, t.place.v)
				}
			}
			f.terms = kept
			e.findings[s] = f
			e.order = append(e.order, s)
			for _, reason := range f.left {
				e.left = append(e.left, Left{s.Span(), printer.Line(s), reason})
			}
			return false
		}, nil)
	}
	e.clear()
	sorting.Stable(e.variables, func(a, b *check.Var) int { return a.Ident.Pos.Start - b.Ident.Pos.Start })
}

// clear decides whether unclear statements count as priors or as statements about data.
func (e *emitter) clear() {
	for _, s := range e.order {
		f := e.findings[s]
		switch {
		case f.unclear == "":
			continue
		case f.density && len(e.variables) > 0:
			f.prior = true // since other statements are about data
		case e.kind.isPrior():
			if e.doubt == nil {
				e.doubt = fmt.Errorf("the prior is not known: it cannot be told whether `%s` (%s, line %d) is about the parameters or about data",
					brief(s), s.Span().Begin().File, s.Span().Begin().Line)
			}
		case len(e.variables) == 0 || f.readsData:
			f.left = append(f.left, f.unclear)
			e.left = append(e.left, Left{s.Span(), printer.Line(s), f.unclear})
		}
		e.findings[s] = f
	}
}
