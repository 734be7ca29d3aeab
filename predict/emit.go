package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// emitter writes the derived program.
type emitter struct {
	*analysis
	kind     Kind
	findings map[ast.Stmt]finding
	left     []Left
	order    []ast.Stmt // those with findings, as they stand in the model
	doubt    error      // why the prior is not known

	variables []*check.Var // that outputs are about
	dims      map[*check.Var]int
	names     map[*check.Var]string
	observed  map[*check.Var][]string
	unknown   map[*check.Var]bool // variables of the data that are not given
	plans     map[planKey]plan
	now       rename // names that have changed, in what is being written

	used      map[string]bool // names
	b         strings.Builder
	indent    int
	functions strings.Builder // more of them
	filled    string          // declarations of unknown data
	scaled    []string        // statements of TopLevel, and those that are not
	unscaled  []string
	truncated map[string]string
}

type planKey struct {
	at    ast.Stmt
	value ast.Expr // of the variate, or of what is added
}

// plan is how a term is computed.
type plan struct {
	dist     string // of single observations; "" if function is called as it is
	function string
	args     []argument
	each     bool   // there are several observations, each with its own value
	split    []bool // the arguments of which each has its own element, if each
	random   string // generator
	wrap     string // around what is drawn
}

// candidates are the forms of a function.
func (e *emitter) candidates(name string) []types.Overload {
	out := stdlib.Language().Lookup(name)
	for _, f := range e.info.Funcs {
		if f.Name == name {
			out = append(slices.Clip(out), f)
		}
	}
	return out
}

// resolve finds the result of a call; ok is false if there is no such form.
func (e *emitter) resolve(name string, args []types.Type) (types.Type, bool) {
	_, m, fail := types.Resolve(e.candidates(name), args)
	if fail != nil {
		return types.Type{}, false
	}
	return m.Result, true
}

// plan says how a term is computed, or why it cannot be.
func (e *emitter) plan(t *term) (reason string) {
	if e.kind.isPrior() {
		return "" // only whether there is such a term matters
	}
	return e.planWith(t, e.kind)
}

// planWith is plan for a kind of program.
func (e *emitter) planWith(t *term, kind Kind) (reason string) {
	if e.plans == nil {
		e.plans, e.observed = map[planKey]plan{}, map[*check.Var][]string{}
	}
	if t.function == "" {
		if kind == Replicated {
			return "the term is not a density, so that it does not say how the data come about"
		}
		e.lower(t.place.v, len(t.place.indices))
		e.plans[planKey{t.at, t.value}] = plan{}
		return ""
	}
	if kind == Replicated && !t.whole {
		return "the term is not a density alone, so that it does not say how the data come about"
	}
	dist, isDensity := density(t.function)
	variate := e.typeOf(t.variate)
	p := plan{function: t.function}
	for _, a := range t.args {
		p.args = append(p.args, argument{text: "", typ: e.typeOf(a)})
	}
	for i, a := range t.args {
		p.args[i].text = rename(nil).text(a)
	}
	if isDensity && !t.user {
		d, args, ok := plain(dist, variate, p.args)
		if !ok {
			if kind == Replicated {
				return "one observation has several distributions"
			}
			e.lower(t.place.v, dimensions(t.place, 0))
			e.plans[planKey{t.at, t.variate}] = p
			return ""
		}
		p.function = d + t.function[len(dist):]
		dist, p.args = d, args
	}
	elem, several := variate.Elem()
	if several && !t.user {
		p.split, p.each = e.split(p.function, elem, p.args)
	}
	free := t.place.free()
	observation := variate
	if p.each {
		observation = elem
	}
	// The dimensions of the variable that one observation takes together.
	together := observation.Rank()
	if t.place.flat != "" {
		together = 0
		if !p.each {
			return "all elements of the variable are one observation"
		}
	}
	for k := range together { // the last dimensions of the variable
		if d := t.place.v.Type.Rank() - 1 - k; k >= len(free) || free[len(free)-1-k] != d {
			return "the observations cannot be told apart"
		}
	}
	if t.place.of != "" && !p.each && !variate.IsScalar() {
		return "the elements of `" + rename(nil).text(t.variate) + "` have no densities of their own"
	}
	e.lower(t.place.v, t.place.v.Type.Rank()-together)
	if kind == Replicated {
		if reason := e.planRandom(t, &p, dist, observation); reason != "" {
			return reason
		}
	}
	e.plans[planKey{t.at, t.variate}] = p
	return ""
}

// dimensions is the number of dimensions of a variable without those that its
// place leaves free.
func dimensions(p *place, keep int) int { return p.v.Type.Rank() - len(p.free()) + keep }

// lower notes that observations of a variable have at most so many dimensions.
func (e *emitter) lower(v *check.Var, dims int) {
	if e.kind == Replicated {
		e.dims[v] = v.Type.Rank()
		return
	}
	if d, ok := e.dims[v]; !ok || dims < d {
		e.dims[v] = dims
	}
}

// split says which arguments have an element for each observation of type elem:
// as many as the function takes. ok is false if it takes the variate only as a
// whole.
func (e *emitter) split(function string, elem types.Type, args []argument) (split []bool, ok bool) {
	var containers []int
	for i, a := range args {
		if _, container := a.typ.Elem(); container {
			containers = append(containers, i)
		}
	}
	best := -1
	for mask := range 1 << len(containers) {
		n := 0
		try := make([]bool, len(args))
		ts := []types.Type{elem}
		for i, c := range containers {
			if mask>>i&1 == 1 {
				try[c] = true
				n++
			}
		}
		possible := n > best
		for i, a := range args {
			t := a.typ
			if try[i] {
				t, _ = t.Elem()
			}
			possible = possible && (a.elem == nil || try[i])
			ts = append(ts, t)
		}
		if !possible {
			continue
		}
		if _, found := e.resolve(function, ts); found {
			best, split = n, try
		}
	}
	return split, best >= 0
}

// ---- Text ----

func (e *emitter) line(format string, args ...any) {
	e.b.WriteString(strings.Repeat("  ", e.indent))
	fmt.Fprintf(&e.b, format, args...)
	e.b.WriteByte('\n')
}

// lines writes text of several lines.
func (e *emitter) lines(text string) {
	for l := range strings.SplitSeq(text, "\n") {
		e.line("%s", l)
	}
}

// program writes the derived program.
func (e *emitter) program() (string, error) {
	e.outputs()
	e.indent = 1
	e.line("{")
	e.indent++
	for _, s := range e.model {
		e.stmt(s)
	}
	e.indent--
	e.line("}")
	model := e.b.String()

	var out strings.Builder
	written := false
	for _, b := range e.tree.Blocks {
		switch b.Kind {
		case ast.GeneratedQuantities, ast.Model:
		default:
			if !written && b.Kind != ast.Functions && e.functions.Len() > 0 {
				out.WriteString("functions {\n" + e.functions.String() + "}\n")
			}
			written = true
			e.block(&out, b)
		}
	}
	out.WriteString("generated quantities {\n")
	out.WriteString(e.declarations())
	out.WriteString(model)
	out.WriteString("}\n")
	return out.String(), nil
}

// block writes a block of the model, with what is added to it: more functions, and
// the variables of the data that are not given, which are not data any more.
func (e *emitter) block(out *strings.Builder, b *ast.Block) {
	text := strings.TrimSuffix(strings.TrimRight(printer.String(b), "\n"), "}")
	switch b.Kind {
	case ast.Functions:
		text += e.functions.String()
	case ast.Data:
		known := &ast.Block{Kind: b.Kind}
		filled := ""
		for _, s := range b.Stmts {
			d, ok := s.(*ast.VarDecl)
			if v := e.info.Defs[s]; !ok || !e.unknown[v] {
				known.Stmts = append(known.Stmts, s)
			} else {
				sizes, t := sizesOf(d.Type, v.Type)
				filled += fmt.Sprintf("  %s %s;\n", declared(t, sizes), v.Name)
			}
		}
		text = strings.TrimSuffix(strings.TrimRight(printer.String(known), "\n"), "}")
		if filled != "" && e.tree.Block(ast.TransformedData) == nil {
			out.WriteString(text + "}\ntransformed data {\n" + filled + "}\n")
			return
		}
		e.filled = filled
	case ast.TransformedData:
		head, rest, _ := strings.Cut(text, "\n")
		text = head + "\n" + e.filled + rest
	}
	out.WriteString(text + "}\n")
}

// outputs names the outputs.
func (e *emitter) outputs() {
	e.now = rename{}
	for _, v := range e.variables {
		switch name := "log_lik"; {
		case e.kind == Replicated:
			e.names[v] = e.fresh(v.Name + "_rep")
			e.now[v.Name] = e.names[v]
		default:
			if len(e.variables) > 1 {
				name += "_" + v.Name
			}
			if e.kind == Terms {
				name += "_terms"
			}
			e.names[v] = e.fresh(name)
		}
	}
}

// declarations declares the outputs.
func (e *emitter) declarations() string {
	var b strings.Builder
	for _, v := range e.variables {
		decl := v.Decl.(*ast.VarDecl)
		sizes, t := sizesOf(decl.Type, v.Type)
		name := e.names[v]
		if e.kind == Replicated {
			fmt.Fprintf(&b, "  %s %s = %s;\n", declared(t, sizes), name, v.Name)
			continue
		}
		sizes = sizes[:e.dims[v]]
		elem := types.RealType
		if e.kind == Terms {
			elem = types.IntType
		}
		switch {
		case len(sizes) == 0:
			fmt.Fprintf(&b, "  %s %s = 0;\n", elem, name)
		case len(sizes) == 1 && e.kind != Terms:
			fmt.Fprintf(&b, "  vector[%s] %s = rep_vector(0, %s);\n", sizes[0], name, sizes[0])
		default:
			zero := "0"
			if e.kind != Terms {
				zero = "0.0"
			}
			for i := len(sizes) - 1; i >= 0; i -= 3 {
				zero = fmt.Sprintf("rep_array(%s, %s)", zero, strings.Join(sizes[max(0, i-2):i+1], ", "))
			}
			fmt.Fprintf(&b, "  array[%s] %s %s = %s;\n", strings.Join(sizes, ", "), elem, name, zero)
		}
	}
	return b.String()
}

// sizesOf lists the sizes of a declared variable, outermost first, and its type
// without constraint.
func sizesOf(t *ast.TypeExpr, plain types.Type) ([]string, types.Type) {
	var sizes []string
	for _, d := range t.ArrayDims {
		sizes = append(sizes, printer.String(d))
	}
	for _, s := range t.Sizes {
		sizes = append(sizes, printer.String(s))
	}
	if n := len(t.Sizes); n > 0 && plain.Kind == types.Matrix && n == 1 { // cov_matrix[K]
		sizes = append(sizes, printer.String(t.Sizes[0]))
	}
	return sizes, plain
}

// declared writes a type with its sizes.
func declared(t types.Type, sizes []string) string {
	text := ""
	if t.Dims > 0 {
		text = "array[" + strings.Join(sizes[:t.Dims], ", ") + "] "
	}
	text += t.Kind.String()
	if len(sizes) > t.Dims {
		text += "[" + strings.Join(sizes[t.Dims:], ", ") + "]"
	}
	return text
}

// stmt writes what has become of a statement of the model.
func (e *emitter) stmt(s ast.Stmt) {
	body := func(head string, args []any, s ast.Stmt) {
		e.line(head+" {", args...)
		e.indent++
		e.stmts(s)
		e.indent--
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		body("", nil, s)
		e.line("}")
	case *ast.Profile:
		body("", nil, s.Body)
		e.line("}")
	case *ast.For:
		body("for (%s in %s:%s)", []any{s.Var.Name, e.now.text(s.From), e.now.text(s.To)}, s.Body)
		e.line("}")
	case *ast.ForEach:
		body("for (%s in %s)", []any{s.Var.Name, e.now.text(s.Over)}, s.Body)
		e.line("}")
	case *ast.While:
		body("while (%s)", []any{e.now.text(s.Cond)}, s.Body)
		e.line("}")
	case *ast.If:
		body("if (%s)", []any{e.now.text(s.Cond)}, s.Then)
		if s.Else != nil {
			e.line("} else {")
			e.indent++
			e.stmts(s.Else)
			e.indent--
		}
		e.line("}")
	case *ast.Tilde, *ast.TargetPlus:
		if e.kind.isPrior() {
			e.priorStmt(s)
			return
		}
		for _, t := range e.findings[s].terms {
			e.term(&t)
		}
	case *ast.CallStmt:
		if e.kind.isPrior() {
			e.priorStmt(s)
			return
		}
		if !strings.HasSuffix(s.Call.Func.Name, "_lp") {
			e.lines(printer.String(e.now.simple(s)))
		}
	case *ast.Print, *ast.Empty:
	default:
		e.lines(printer.String(e.now.simple(s)))
	}
}

// stmts writes a statement that a loop or condition governs, without braces of
// its own.
func (e *emitter) stmts(s ast.Stmt) {
	if b, ok := s.(*ast.BlockStmt); ok {
		for _, s := range b.Stmts {
			e.stmt(s)
		}
		return
	}
	e.stmt(s)
}

// term writes what a term has become.
func (e *emitter) term(t *term) {
	e.line("// line %d: %s", t.at.Span().Begin().Line, oneLine(printer.String(t.at)))
	if e.kind == Replicated {
		e.draw(t)
		return
	}
	e.logDensity(t)
}
