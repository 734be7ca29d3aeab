package predict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/source"
)

// Kind is what is derived.
type Kind int

// The kinds.
const (
	// LogLikelihood computes the log density of each observation at a draw: for
	// a variable y of the data that is a variate, log_lik (log_lik_y, if several
	// are), with the dimensions of y but those that a multivariate distribution
	// takes together. Several statements on an observation add up. Densities
	// keep their constant terms.
	LogLikelihood Kind = iota

	// Terms counts the statements on each observation: variables like those of
	// LogLikelihood, with _terms at the end of their names. Where it is 0 there is
	// no such observation. It is the same for all draws unless parameters decide
	// which statements run.
	Terms

	// Replicated draws the data again: for a variable y, y_rep, with y's type and sizes. Elements
	// that no statement draws are those of y.
	Replicated

	// Expected computes the mean of each observation: for a variable y, y_mean, with y's type and
	// sizes, of reals. Where y is a category, y_mean has the vector of the probabilities of all
	// categories. Elements about which no statement says anything are NaN.
	Expected

	// LinearPredictor computes the location of each observation on the scale of linear predictors,
	// such as the log odds of a binary y: y_link, with the sizes of Expected.
	LinearPredictor

	// Prior is the model without what it says about data. It has the parameters
	// and no generated quantities; its posterior is the prior.
	Prior

	// TopLevel is Prior with only those priors whose arguments are not parameters. Priors of
	// standardised effects, which a scale multiplies, are left out too. It holds what is known
	// before the data, without the distributions of populations.
	TopLevel

	// Forward has no parameters: its generated quantities are those of the model,
	// drawn from their priors in the order of dependence.
	Forward
)

// isPrior reports the kinds whose program is a model of the parameters alone.
func (k Kind) isPrior() bool { return k == Prior || k == TopLevel || k == Forward }

// predicts reports the kinds that compute something for each observation from its distribution.
func (k Kind) predicts() bool { return k == Replicated || k == Expected || k == LinearPredictor }

// Options of [Derive]. The zero value is the default.
type Options struct {
	// Unknown are variables of the data that are not given, only drawn: of them
	// only the sizes matter.
	Unknown []string

	// Grown are parameters with more elements than the fit has, for [Replicated], [Expected] and
	// [LinearPredictor]. NewLevels is how the others are found.
	Grown     []Grown
	NewLevels NewLevels
}

// Derived is a program that was derived from another one.
type Derived struct {
	Program *compile.Program
	Text    string
	Outputs []Output
	Left    []Left

	// Summaries are what the outputs depend on and the model computes from all rows of columns, for
	// [Replicated], [Expected] and [LinearPredictor].
	Summaries []Summary

	// Known gives the names in the fit of parameters that have other names in the program, as they
	// are the known elements of parameters that have grown.
	Known map[string]string

	// Scaled are the statements of [TopLevel], and Unscaled what else the model says about
	// parameters alone.
	Scaled, Unscaled []string
}

// Output is a variable among the generated quantities of a derived program.
type Output struct {
	Name     string // such as log_lik or y_rep
	Variable string // that it is about
	Data     bool   // the variable is one of the data block, and not computed from these
	Dims     int    // number of dimensions of Name

	// Observed are the reasons why a replicated variable is drawn given its observed values, and
	// not independently of them: an earlier computation of the model also uses it.
	Observed []string
}

// Left is a statement about data from which nothing could be derived, wholly or
// in part.
type Left struct {
	Span   source.Span // in the program that the derived one comes from
	Text   string      // the statement
	Reason string
}

// String is "`y ~ …` (model.stan, line 3): reason".
func (l Left) String() string {
	at := l.Span.Begin()
	return fmt.Sprintf("`%s` (%s, line %d): %s", l.Text, at.File, at.Line, l.Reason)
}

// ErrUnderivable says that no statement on data says how they arise.
var ErrUnderivable = errors.New("nothing can be derived")

// Derive derives a program. An error says why nothing can be derived: there is
// no statement on data, or the model block computes with what generated
// quantities do not have, such as target().
func Derive(p *compile.Program, kind Kind, o Options) (*Derived, error) {
	tree, info := p.Syntax()
	e := &emitter{
		analysis: analyse(tree, info, nil), kind: kind, used: namesOf(tree), comments: map[ast.Stmt]string{},
		dims: map[*check.Var]int{}, names: map[*check.Var]string{},
	}
	if !kind.isPrior() {
		if err := e.possible(); err != nil {
			return nil, err
		}
	}
	e.gather()
	if err := e.unknowns(o.Unknown); err != nil {
		return nil, err
	}
	if e.doubt != nil {
		return nil, e.doubt
	}
	if len(e.variables) == 0 && !kind.isPrior() {
		if len(e.left) > 0 {
			return nil, fmt.Errorf("%w: %s", ErrUnderivable, e.left[0])
		}
		return nil, fmt.Errorf("the model has no statement on data, such as y ~ normal(mu, sigma) with y among the data")
	}
	var derived *ast.File
	var err error
	switch kind {
	case Prior, TopLevel:
		derived = e.priorProgram()
	case Forward:
		var reason string
		if derived, reason = e.forwardProgram(); reason != "" {
			return nil, &NotForwardError{reason}
		}
	default:
		if derived, err = e.program(o); err != nil {
			return nil, err
		}
	}
	text := e.text(derived)
	d := &Derived{Text: text, Left: e.left, Known: e.known, Scaled: e.scaled, Unscaled: e.unscaled}
	if kind.predicts() {
		d.Summaries = e.summaries(len(o.Grown) > 0)
	}
	for _, v := range e.variables {
		if kind.isPrior() {
			break
		}
		o := Output{Name: e.names[v], Variable: v.Name, Data: v.Block == ast.Data, Dims: e.dims[v], Observed: e.observed[v]}
		d.Outputs = append(d.Outputs, o)
	}
	program, list := compile.CompileWith(source.NewFile(tree.Source.Name+" (derived)", text), compile.Options{})
	if list.HasErrors() {
		at := list.Errors()[0]
		return nil, fmt.Errorf("what is derived from the model is no program, which is a mistake of ppl: line %d: %s\n%s", at.Span.Begin().Line, at.Summary, text)
	}
	d.Program = program
	return d, nil
}

// NotForwardError says why the parameters of a model cannot be drawn one after
// another from their priors.
type NotForwardError struct{ Reason string }

func (e *NotForwardError) Error() string { return "the prior cannot be drawn directly: " + e.Reason }

// unknowns records the data variables that are not given. Only drawn values may depend on them.
func (e *emitter) unknowns(names []string) error {
	e.unknown = map[*check.Var]bool{}
	for _, name := range names {
		i := slices.IndexFunc(e.variables, func(v *check.Var) bool { return v.Name == name && v.Block == ast.Data })
		if i < 0 {
			return fmt.Errorf("the data have no %s, and no statement of the model draws it", name)
		}
		v := e.variables[i]
		e.unknown[v] = true
		is := func(u *check.Var) bool { return u == v }
		for _, b := range e.tree.Blocks {
			if b.Kind != ast.Data && b.Kind != ast.TransformedData && b.Kind != ast.Parameters && b.Kind != ast.TransformedParameters {
				continue
			}
			for _, s := range b.Stmts {
				if d, ok := s.(*ast.VarDecl); ok && e.info.Defs[d] == v {
					continue
				}
				if e.reads(s, is) {
					return fmt.Errorf("the data have no %s, whose values the %s block needs (line %d)", name, b.Kind, s.Span().Begin().Line)
				}
			}
		}
		for _, f := range e.findings {
			for _, t := range f.terms {
				if dist, _ := density(t.function); t.place.v == v && !t.user && strings.Contains(dist, "multinomial") {
					return fmt.Errorf("the data have no %s, of which the totals are needed to draw from %s", name, dist)
				}
				if e.kind == Replicated || t.place.v != v {
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

// possible returns an error if the program needs something that generated quantities cannot do.
func (e *emitter) possible() error {
	for _, s := range e.model {
		var err error
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Target:
				err = fmt.Errorf("the model block computes with target() (%s, line %d), which what is derived from it does not have", n.Span().Begin().File, n.Span().Begin().Line)
			case *ast.CallStmt:
				return false // left out, and reported
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

// gather finds out about all statements, and the variables that the outputs are
// about, in order of their declaration.
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
	slices.SortFunc(e.variables, func(a, b *check.Var) int { return a.Ident.Pos.Start - b.Ident.Pos.Start })
}

// clear decides about parts of statements that may be about parameters or data.
func (e *emitter) clear() {
	for _, s := range e.order {
		f := e.findings[s]
		switch {
		case f.unclear == "":
			continue
		case f.density && len(e.variables) > 0:
			f.prior = true // there are other statements on data
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
