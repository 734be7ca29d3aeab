package check

import (
	"fmt"
	"iter"
	"maps"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/legacy"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// scope is a region of the program in which names are declared. A visible name cannot be declared
// again, so no variable hides another. A variable may have the name of a function. A library
// function can still be called then, but the variable hides a user function.
type scope struct {
	outer *scope
	vars  map[string]*Var
}

func (c *checker) push() { c.scope = &scope{outer: c.scope} }
func (c *checker) pop()  { c.scope = c.scope.outer }

// lookup finds a visible variable; nil if there is none.
func (c *checker) lookup(name string) *Var {
	for s := c.scope; s != nil; s = s.outer {
		if v := s.vars[name]; v != nil {
			return v
		}
	}
	return nil
}

// visible lists the names of visible variables.
func (c *checker) visible() iter.Seq[string] {
	return func(yield func(string) bool) {
		for s := c.scope; s != nil; s = s.outer {
			for name := range s.vars {
				if !yield(name) {
					return
				}
			}
		}
	}
}

// functionNames lists the user's and the library's functions, without operators.
func (c *checker) functionNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range c.funcs {
			if !yield(name) {
				return
			}
		}
		for name := range c.universe.Names() {
			if !strings.HasPrefix(name, "operator") && !yield(name) {
				return
			}
		}
	}
}

// declare brings a variable into the innermost scope and records it as the definition of its
// declaration. It reports a name that may not be declared. The variable then still exists, unless
// it would hide another.
func (c *checker) declare(v *Var) {
	c.info.Defs[v.Decl] = v
	c.checkName(v.Ident)
	if prev := c.lookup(v.Name); prev != nil {
		d := diag.Errorf(diag.Redeclared, v.Ident.Span(), "`%s` is declared already", v.Name)
		d.Detail = "A variable cannot have the name of one that is visible, even in an inner block."
		d.Related = []diag.Note{note(&prev.Ident, "it is declared here")}
		d.Fix = "choose another name, or remove one of the declarations"
		c.diags.Add(d)
		return
	}
	if c.scope.vars == nil {
		c.scope.vars = map[string]*Var{}
	}
	c.scope.vars[v.Name] = v
}

// checkName reports names that may not be declared, besides the reserved words, which the parser
// refuses.
func (c *checker) checkName(id ast.Ident) {
	if Unnormalised(id.Name) {
		c.report(diag.Errorf(diag.ReservedName, id.Span(), "names cannot end in _lupdf or _lupmf"),
			"The function NAME_lupdf exists as soon as NAME_lpdf is declared.", "choose another name")
	}
}

// firstTime reports whether an unknown name was not reported before. A missing declaration is one
// mistake, no matter how often the name is used.
func (c *checker) firstTime(code diag.Code, name string) bool {
	key := string(code) + name
	if c.missing[key] {
		return false
	}
	c.missing[key] = true
	return true
}

// unknownVariable reports, once, a name that is not a visible variable.
func (c *checker) unknownVariable(n ast.Node, name string) {
	other := c.elsewhere[name]
	if other != nil && other.at.Start == n.Span().Start {
		other = nil
	}
	key := name
	if other != nil && !c.lostName[name] {
		key += " in " + c.where() // since the reason depends on the block
	}
	if !c.firstTime(diag.UnknownVariable, key) {
		return
	}
	d := diag.Errorf(diag.UnknownVariable, n.Span(), "`%s` is not declared", name)
	if loop := c.endedLoop(name, n); loop != nil && (other == nil || !other.top) {
		d.Summary = quote(name) + " is not visible here"
		d.Detail = "A loop variable is gone after its loop, which without braces is one statement."
		d.Related = append(d.Related, diag.Note{Span: *loop, Message: "the loop is here"})
		d.Fix = "if this belongs to the loop, write `{ … }` around its statements"
	} else if value := otherValue(name); value != "" {
		d.Fix = value
		d.Edits = replacement(n.Span(), value)
	} else if other != nil {
		d.Summary, d.Detail, d.Fix = c.notVisible(name, n, other)
		d.Related = append(d.Related, diag.Note{Span: other.at, Message: "it is declared here"})
	} else if c.ints && c.fn == nil && len(name) == 1 && strings.ContainsAny(name, "ijklmnst") {
		d.Detail = "An index has a value within the loop that declares it."
		d.Fix = "put the statement into a loop, as in `for (" + name + " in 1:N)`"
	} else if near := c.nearest(name, c.visible()); near != "" {
		d.Fix = "did you mean " + quote(near) + "?"
		d.Replace(near)
		d.Related = append(d.Related, note(&c.lookup(near).Ident, quote(near)+" is declared here"))
	} else if near := c.nearest(name, maps.Keys(c.funcs)); near != "" {
		d.Fix = "did you mean the function " + quote(near) + "?"
		d.Related = append(d.Related, note(&c.funcs[near][0].Decl.Name, quote(near)+" is declared here"))
	} else {
		d.Detail = c.blockAfter()
		kind := "real "
		if c.ints {
			kind = "int "
		}
		if indexed(n) && c.ints {
			kind = "array[N] int "
		} else if indexed(n) {
			kind = "vector[N] "
		}
		d.Fix = "declare it before this line, as in `" + kind + name + ";`"
		if c.fn != nil {
			d.Fix = "add it to the arguments, as in `" + kind + name + "`, or declare it in the body"
		}
	}
	c.diags.Add(d)
}

// indexed reports whether an index follows a name in the text.
func indexed(n ast.Node) bool {
	at := n.Span()
	return strings.HasPrefix(at.File.Text[at.End:], "[")
}

// endedLoop returns the variable of the last loop over a name that ends before a node in the same
// block or function; nil if there is no such loop. The search takes time, so it is skipped after
// many messages.
func (c *checker) endedLoop(name string, n ast.Node) *source.Span {
	if len(c.diags) > maxErrors {
		return nil
	}
	var found *source.Span
	visit := func(n2 ast.Node) bool {
		id := ast.Ident{}
		switch x := n2.(type) {
		case *ast.For:
			id = x.Var
		case *ast.ForEach:
			id = x.Var
		}
		if id.Name == name && n2.Span().End <= n.Span().Start {
			s := id.Span()
			found = &s
		}
		return true
	}
	switch {
	case c.fn != nil && c.fn.Decl.Body != nil:
		ast.Inspect(c.fn.Decl.Body, visit, nil)
	case c.fn == nil && c.node != nil:
		ast.Inspect(c.node, visit, nil)
	}
	return found
}

// elsewhere is a declaration that is not visible everywhere.
type elsewhere struct {
	at    source.Span
	block ast.BlockKind
	top   bool // it is neither within braces nor local to the model block
}

// findDeclarations collects the variables of the blocks, for messages about names that are not
// visible. It keeps the first for each name, and prefers those that are visible in a whole block.
func (c *checker) findDeclarations(f *ast.File) {
	for _, b := range f.Blocks {
		if b.Kind == ast.Functions {
			continue
		}
		top := map[ast.Node]bool{}
		for _, s := range b.Stmts {
			top[s] = b.Kind != ast.Model
		}
		ast.Inspect(b, func(n ast.Node) bool {
			d, ok := n.(*ast.VarDecl)
			if !ok {
				return true
			}
			if prev := c.elsewhere[d.Name.Name]; prev == nil || !prev.top && top[n] {
				c.elsewhere[d.Name.Name] = &elsewhere{d.Name.Span(), b.Kind, top[n]}
			}
			return true
		}, nil)
	}
}

// notVisible describes why a variable that is declared elsewhere cannot be used here.
func (c *checker) notVisible(name string, n ast.Node, v *elsewhere) (summary, detail, fix string) {
	later := v.at.Start > n.Span().Start
	switch {
	case c.fn != nil:
		return quote(name) + " is not visible in functions",
			"Functions see their own arguments and local variables only.", "pass it as an argument"
	case v.block == c.block && later:
		return quote(name) + " is used before it is declared", "", "move the declaration up"
	case !v.top:
		where := "within { }"
		if v.block == ast.Model {
			where = "in the model block"
		}
		return quote(name) + " is not visible here",
			"It is declared " + where + ", and is gone after it.", "declare it before, or in transformed parameters or generated quantities"
	case v.block > c.block:
		why, fix := "A block sees the variables of the blocks before it.", "move this to the "+v.block.String()+" block or a later one, or the declaration to an earlier one"
		if c.block == ast.TransformedData {
			why, fix = "Transformed data are computed once, before parameters have values.", "compute it in transformed parameters"
		}
		return fmt.Sprintf("%s of the %s block cannot be used in %s", quote(name), v.block, c.where()), why, fix
	}
	return quote(name) + " is not declared", c.blockAfter(), "declare it before this line"
}

// nearest is diag.Nearest, but is skipped after many messages, because searching for names takes
// time.
func (c *checker) nearest(name string, candidates iter.Seq[string]) string {
	if len(c.diags) > maxErrors {
		return ""
	}
	return diag.Nearest(name, candidates)
}

// blockAfter returns a remark on which variables are visible, for blocks where this is often
// misunderstood.
func (c *checker) blockAfter() string {
	switch c.block {
	case ast.Functions:
		return "Functions see their own arguments and local variables only."
	case ast.GeneratedQuantities:
		return "Variables declared in the model block or within { } are not visible here."
	}
	return "A variable must be declared before its use, in this block or an earlier one."
}

// unknownFunction reports, once, a call of something that is not a function.
func (c *checker) unknownFunction(id ast.Ident) {
	if v := c.lookup(id.Name); v != nil {
		c.report(diag.Errorf(diag.CalledVariable, id.Span(), "`%s` is a variable, not a function", id.Name),
			"", "to index the variable, use square brackets; for a product, write "+quote(id.Name+" * (…)"), note(&v.Ident, "it is declared here"))
		return
	}
	if !c.firstTime(diag.UnknownFunction, id.Name) {
		return
	}
	if advice := legacy.Advice(id.Name, c.exists); advice != "" {
		d := diag.Errorf(diag.RemovedFunction, id.Span(), "`%s` is no longer part of the language", id.Name)
		d.Fix = advice
		if today, form, _ := legacy.Replacement(id.Name, c.exists); form == legacy.Call || form == legacy.Target {
			d.Replace(today)
		}
		c.diags.Add(d)
		return
	}
	d := diag.Errorf(diag.UnknownFunction, id.Span(), "there is no function `%s`", id.Name)
	d.Fix, d.Edits = c.otherSuffix(id)
	if d.Fix == "" {
		d.Fix = otherFunction(id.Name)
		d.Edits = replacement(id.Span(), d.Fix)
	}
	if near := c.nearest(id.Name, c.functionNames()); d.Fix == "" && near != "" {
		d.Fix = "did you mean " + quote(near) + "?"
		d.Replace(near)
	}
	if d.Fix == "" {
		d.Fix = "define it in the functions block, or look for another name with `ppl doc`"
	}
	c.diags.Add(d)
}

// otherSuffix returns advice about the name of a density that exists with another suffix, or of a
// distribution without a suffix. It returns the edit if the right name is certain, and "" if it has
// no advice.
func (c *checker) otherSuffix(id ast.Ident) (advice string, edits []diag.Edit) {
	name := id.Name
	write := func(name string) []diag.Edit { return []diag.Edit{{Span: id.Span(), Text: name}} }
	base, suffix := SplitSuffix(name)
	switch suffix {
	case "_lpdf", "_lupdf":
		if c.exists(base + "_lpmf") {
			other := base + strings.Replace(suffix, "pdf", "pmf", 1)
			return base + " is a distribution of integers: use " + other, write(other)
		}
	case "_lpmf", "_lupmf":
		if c.exists(base + "_lpdf") {
			other := base + strings.Replace(suffix, "pmf", "pdf", 1)
			return base + " is a distribution of reals: use " + other, write(other)
		}
	case "":
		for _, s := range []string{"_lpdf", "_lpmf"} {
			if c.exists(name + s) {
				advice := name + " is a distribution: write y ~ " + name + "(…), or " + name + s + "(y | …) for the log of its density"
				if c.exists(name + "_rng") {
					advice += ", or " + name + "_rng(…) for a random draw"
				}
				return advice, nil
			}
		}
		if c.exists(name + "_rng") {
			return "did you mean " + quote(name+"_rng") + "?", write(name + "_rng")
		}
	}
	return "", nil
}

// exists reports whether a function of that name is known.
func (c *checker) exists(name string) bool { return len(c.candidates(name)) > 0 }

// candidates returns the overloads for a name, the user's first. For _lupdf and _lupmf they are
// those of _lpdf and _lpmf.
func (c *checker) candidates(name string) []types.Overload {
	name = normalised(name)
	if len(c.funcs[name]) == 0 {
		return c.universe.Lookup(name)
	}
	var out []types.Overload
	for _, f := range c.funcs[name] {
		out = append(out, f)
	}
	return append(out, c.universe.Lookup(name)...)
}

func quote(s string) string { return "`" + s + "`" }

// suffixes lists the suffixes with a meaning in names of functions, longer ones first where one
// ends like another.
var suffixes = []string{"_lupdf", "_lupmf", "_lpdf", "_lpmf", "_lccdf", "_lcdf", "_cdf", "_rng", "_jacobian", "_lp"}

// SplitSuffix splits a meaningful suffix from a function's name.
func SplitSuffix(name string) (base, suffix string) {
	for _, s := range suffixes {
		if b, ok := strings.CutSuffix(name, s); ok && b != "" {
			return b, s
		}
	}
	return name, ""
}

// TakesBar reports whether functions with a suffix are called with a bar after the first argument.
func TakesBar(suffix string) bool {
	switch suffix {
	case "_lpdf", "_lpmf", "_lupdf", "_lupmf", "_lcdf", "_lccdf", "_cdf":
		return true
	}
	return false
}

// Unnormalised reports whether a name means a density that drops constant terms.
func Unnormalised(name string) bool {
	return strings.HasSuffix(name, "_lupdf") || strings.HasSuffix(name, "_lupmf")
}

// normalised returns the name of the density that keeps all terms.
func normalised(name string) string {
	if Unnormalised(name) {
		n := len(name)
		return name[:n-4] + name[n-3:] // drops the u of _lupdf
	}
	return name
}
