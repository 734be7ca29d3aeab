package check

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// Func is a user-defined function: one of the signatures of its name. It implements Overload, so
// that user and library functions are resolved together.
type Func struct {
	*types.FuncType
	Name    string
	Suffix  string            // _lpdf, _rng, _lp, ...; "" if none
	Decl    *ast.FunctionDecl // the definition; the forward declaration if there is no other
	Forward *ast.FunctionDecl // the forward declaration, or nil
	Params  []*Var            // parameters of the definition
	invalid bool              // an argument or the result has type Invalid
	clashes bool              // it was reported to have the same arguments as another
}

// String returns the signature.
func (f *Func) String() string { return f.Name + f.FuncType.String() }

// functionsBlock first declares all functions, so that they may call one another in any order, and
// then checks their bodies.
func (c *checker) functionsBlock(b *ast.Block) {
	bodies := map[*ast.FunctionDecl]*Func{}
	for _, s := range b.Stmts {
		if d, ok := s.(*ast.FunctionDecl); ok {
			if f := c.declareFunc(d); f != nil && d.Body != nil {
				bodies[d] = f
			}
		}
	}
	for _, f := range c.info.Funcs {
		if f.Decl.Body == nil && !f.clashes && len(c.lost) == 0 {
			c.report(diag.Errorf(diag.NoDefinition, f.Decl.Name.Span(), "the function `%s` is declared but not defined", f.Name),
				"", "write its body, or delete the declaration")
		}
	}
	for _, s := range b.Stmts {
		if d, ok := s.(*ast.FunctionDecl); ok && bodies[d] != nil {
			c.funcBody(bodies[d], d)
		}
	}
}

// declareFunc records the signature of a declaration. It returns nil if the signature already
// exists.
func (c *checker) declareFunc(d *ast.FunctionDecl) *Func {
	ft := &types.FuncType{Result: c.typeOf(d.Result)}
	params := make([]types.Type, len(d.Params))
	valid := d.Result.Elem == "void" || ft.Result.Kind != types.Invalid
	for i, p := range d.Params {
		params[i] = c.typeOf(p.Type)
		ft.Params = append(ft.Params, types.Param{Type: params[i], DataOnly: p.DataOnly})
		valid = valid && params[i].Kind != types.Invalid
	}
	c.sparseResult(d, ft.Result)
	_, suffix := SplitSuffix(d.Name.Name)
	f := &Func{FuncType: ft, Name: d.Name.Name, Suffix: suffix, Decl: d, invalid: !valid}
	c.checkName(d.Name)
	if valid {
		c.suffixRules(f, d)
	}
	for _, g := range c.funcs[f.Name] {
		if !sameParams(g.FuncType, ft) || !valid {
			continue
		}
		g.clashes = true
		switch {
		case !sameDataOnly(g.FuncType, ft):
			c.report(diag.Errorf(diag.FunctionRedefined, d.Name.Span(), "`%s` is declared with other data arguments", f.Name),
				"Functions of one name must differ in the types of their arguments; that some are marked data does not count.", "choose another name",
				note(&g.Decl.Name, "the other is here"))
		case !g.Result.Equal(ft.Result):
			c.report(diag.Errorf(diag.FunctionRedefined, d.Name.Span(), "`%s` is declared with another result", f.Name),
				fmt.Sprintf("Functions of one name must differ in their arguments: here it gives %s, there %s.", ft.Result, g.Result), "",
				note(&g.Decl.Name, "the other is here"))
		case d.Body == nil && g.Decl.Body == nil:
			c.report(diag.Errorf(diag.FunctionRedefined, d.Name.Span(), "`%s` is declared twice", f.Name), "", "",
				note(&g.Decl.Name, "it is declared here"))
		// The earlier declaration was a forward declaration, and d is the definition.
		case g.Decl.Body == nil:
			g.Forward, g.Decl = g.Decl, d
			g.FuncType = ft
			g.clashes = false
			return g
		default:
			c.report(diag.Errorf(diag.FunctionRedefined, d.Name.Span(), "`%s` is defined already for these arguments", f.Name),
				"Functions may share a name if their arguments differ in type.", "choose another name, or remove one of them", note(&g.Decl.Name, "it is defined here"))
		}
		return nil
	}
	for _, o := range c.universe.Lookup(f.Name) {
		if takesFunction(o) {
			c.report(diag.Errorf(diag.FunctionRedefined, d.Name.Span(), "`%s` is a library function that cannot be given further forms", f.Name),
				"Functions that take functions have one form only.", "choose another name")
			return nil
		}
		if m, ok := o.Match(params); ok && m.Promotions == 0 && valid {
			c.report(diag.Errorf(diag.FunctionRedefined, d.Name.Span(), "`%s` exists in the library for these arguments", f.Name),
				"A library function can be given forms for other arguments, but none can be replaced: "+o.String()+".", "choose another name")
			return nil
		}
	}
	c.funcs[f.Name] = append(c.funcs[f.Name], f)
	c.info.Funcs = append(c.info.Funcs, f)
	return f
}

// sameDataOnly reports whether two functions with the same arguments mark the same ones as data.
func sameDataOnly(f, g *types.FuncType) bool {
	for i := range f.Params {
		if f.Params[i].DataOnly != g.Params[i].DataOnly {
			return false
		}
	}
	return true
}

// sameParams reports whether two functions take the same arguments, whether marked as data or not.
func sameParams(f, g *types.FuncType) bool {
	if len(f.Params) != len(g.Params) {
		return false
	}
	for i := range f.Params {
		if !f.Params[i].Type.Equal(g.Params[i].Type) {
			return false
		}
	}
	return true
}

// suffixRules checks that a function has the form that its suffix requires.
func (c *checker) suffixRules(f *Func, d *ast.FunctionDecl) {
	if !TakesBar(f.Suffix) || Unnormalised(f.Name) {
		return
	}
	if !f.Result.Equal(types.RealType) {
		c.report(diag.Errorf(diag.DensityForm, d.Result.Span(), "a function named …%s must return real, but returns %s", f.Suffix, f.Result),
			"The suffix makes it a density or distribution function.", "return real, or choose a name without the suffix")
	}
	isInt := len(d.Params) > 0 && discrete(f.FuncType.Params[0].Type)
	switch {
	case f.Suffix == "_lpdf" && (len(d.Params) == 0 || isInt):
		c.report(diag.Errorf(diag.DensityForm, d.Name.Span(), "the first argument of a density must be real"),
			"It is the variate, and _lpdf is for continuous ones.", "for integers, name the function "+strings.TrimSuffix(d.Name.Name, "_lpdf")+"_lpmf")
	case f.Suffix == "_lpmf" && !isInt:
		c.report(diag.Errorf(diag.DensityForm, d.Name.Span(), "the first argument of a mass function must be int"),
			"It is the variate, and _lpmf is for integers.", "for reals, name the function "+strings.TrimSuffix(d.Name.Name, "_lpmf")+"_lpdf")
	}
}

// funcBody checks the body of a definition.
func (c *checker) funcBody(f *Func, d *ast.FunctionDecl) {
	c.push()
	c.fn = f
	for i, p := range d.Params {
		t := f.FuncType.Params[i].Type
		level := c.declLevel(t)
		if p.DataOnly {
			level = Data
		}
		v := &Var{Name: p.Name.Name, Type: t, Level: level, Block: ast.Functions, Ident: p.Name, Decl: p}
		f.Params = append(f.Params, v)
		c.declare(v)
	}
	// The body is not a separate scope, since its variables must not have the names of the
	// arguments anyway.
	c.stmts(d.Body.Stmts)
	if f.Result.Kind != types.Void && f.Result.Kind != types.Invalid && flow(d.Body) != ends && !c.losesFrom(d.Span()) {
		end := d.Body.Span()
		end.Start = max(end.Start, end.End-1) // at the closing brace
		m := diag.Errorf(diag.MissingReturn, end, "the function `%s` can end without returning a value", f.Name)
		m.Detail = "Every path through the body must reach return, reject or fatal_error. A loop counts only if it is while (1)."
		m.Related = []diag.Note{note(&d.Name, "it must return "+f.Result.String())}
		m.Fix = "end the body with `return …;`"
		c.diags.Add(m)
	}
	c.fn = nil
	c.pop()
}
