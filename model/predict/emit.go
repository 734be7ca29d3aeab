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
	order    []ast.Stmt // statements that have findings, in the order of the model
	doubt    error      // the reason why the prior cannot be determined

	variables []*check.Var // variables that the outputs are about
	dims      map[*check.Var]int
	names     map[*check.Var]string
	observed  map[*check.Var][]string
	unknown   map[*check.Var]bool     // data variables that are not given
	vectors   map[*check.Var]ast.Expr // the size of an output that has a vector for each observation
	plans     map[planKey]plan
	known     map[string]string // see [Derived.Known]
	grows     bool              // only parameters that have grown are drawn
	joint     string            // a variable whose elements cannot be drawn one by one
	keepsLeft bool              // priorStmt keeps statements about data from which nothing is derived

	cut      bool     // see [Options]
	fitted   []string // data variables with values of the fit, see [Options]
	standing []string // data variables whose elements keep their values, see [Options]
	holes    []string // those with missing elements

	ahead *Ahead
	later map[*check.Var]*Grown // outcomes that are known only in the first rows

	now rename // new names of variables in the statement that is being written

	used      map[string]bool // names that are already in use
	functions []ast.Stmt      // additional functions of the derived program
	comments  map[ast.Stmt]string
	scaled    []string // statements that TopLevel keeps; unscaled has those that it leaves out
	unscaled  []string
	truncated map[string]string
}

type planKey struct {
	at    ast.Stmt
	value ast.Expr // the variate, or the addend
}

// plan describes how to compute a term.
type plan struct {
	dist     string // distribution of single observations; "" to call function unchanged
	function string
	args     []argument
	each     bool   // there are several observations, and each gets its own value
	split    []bool // if each: which arguments have an element per observation
	random   string // name of the generator
	moments  moments

	transposed bool // the draw must be transposed before it is assigned
}

// candidates returns the overloads of a function.
func (e *emitter) candidates(name string) []types.Overload {
	out := stdlib.Language().Lookup(name)
	for _, f := range e.info.Funcs {
		if f.Name == name {
			out = append(slices.Clip(out), f)
		}
	}
	return out
}

// resolve returns the result type of a call; ok is false if no overload fits.
func (e *emitter) resolve(name string, args []types.Type) (types.Type, bool) {
	_, m, fail := types.Resolve(e.candidates(name), args)
	if fail != nil {
		return types.Type{}, false
	}
	return m.Result, true
}

// generated reports whether a function replaces one of the library, as those for sparse matrices
// do. They have no position, and add the densities of several variates up.
func (e *emitter) generated(function string) bool {
	return slices.ContainsFunc(e.info.Funcs, func(f *check.Func) bool { return f.Name == function && !f.Decl.Span().IsValid() })
}

// plan decides how to compute a term. If that is impossible, it returns the reason.
func (e *emitter) plan(t *term) (reason string) {
	if e.kind.isPrior() {
		return "" // it only matters that such a term exists
	}
	return e.planWith(t, e.kind)
}

// planWith is plan for a kind of derived program.
func (e *emitter) planWith(t *term, kind Kind) (reason string) {
	if e.plans == nil {
		e.plans, e.observed = map[planKey]plan{}, map[*check.Var][]string{}
	}
	if t.function == "" {
		if kind.predicts() {
			if t.mixed != nil {
				return e.planMixture(t, kind)
			}
			return "the term is not a density, so it does not say how the data arise"
		}
		e.lower(t.place.v, len(t.place.indices))
		e.plans[planKey{t.at, t.value}] = plan{}
		return ""
	}
	dist, alone := t.distribution(kind, e.complete)
	if kind.predicts() && !alone {
		return "the term is not a density alone, so it does not say how the data arise"
	}
	_, isDensity := density(t.function)
	variate := e.typeOf(t.variate)
	p := plan{function: t.function}
	for _, a := range t.args {
		p.args = append(p.args, argument{expr: rename(nil).expr(a), typ: e.typeOf(a)})
	}
	if isDensity && !t.user {
		d, args, ok := plain(dist, variate, p.args)
		if !ok {
			if kind.predicts() {
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
	if several && (!t.user || e.generated(t.function)) {
		p.split, p.each = e.split(p.function, elem, p.args)
	}
	free := t.place.free()
	observation := variate
	if p.each {
		observation = elem
	}
	// The number of dimensions of the variable that together form one observation.
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
		return "the elements of `" + printer.Line(t.variate) + "` have no separate densities"
	}
	e.lower(t.place.v, t.place.v.Type.Rank()-together)
	reason = ""
	switch kind {
	case Replicated:
		reason = e.planRandom(t, &p, dist, observation)
	case Expected, LinearPredictor, Variance:
		reason = e.planExpected(t, &p, dist, kind)
	}
	if reason != "" {
		return reason
	}
	e.plans[planKey{t.at, t.variate}] = p
	return ""
}

// dimensions returns the number of dimensions of a variable if only keep of the free dimensions of
// a place remain.
func dimensions(p *place, keep int) int { return p.v.Type.Rank() - len(p.free()) + keep }

// lower lowers the number of dimensions of a variable's output to dims, unless it is lower already.
func (e *emitter) lower(v *check.Var, dims int) {
	if e.kind.predicts() || e.kind == Censoring {
		e.dims[v] = v.Type.Rank()
		return
	}
	if d, ok := e.dims[v]; !ok || dims < d {
		e.dims[v] = dims
	}
}

// split decides which arguments have a separate element for each observation of type elem: as many
// arguments as the function accepts in this form. ok is false if the function accepts the variate
// only as a whole.
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

// The derived program.

// program returns the derived program, whose generated quantities are made from the model block.
func (e *emitter) program(o Options) (*ast.File, error) {
	e.outputs()
	model := &ast.BlockStmt{Stmts: e.stmts(e.model)}
	if e.joint != "" {
		return nil, fmt.Errorf("%w: the rows of %s have one joint distribution", ErrNoFuture, e.joint)
	}
	quantities := &ast.Block{Kind: ast.GeneratedQuantities, Stmts: append(e.declarations(), model)}
	if len(o.Grown) == 0 || !e.kind.predicts() {
		return e.file(quantities, ast.Functions, ast.Data, ast.TransformedData, ast.Parameters, ast.TransformedParameters), nil
	}
	known, names, err := e.grow(quantities, o.Grown, o.NewLevels)
	if err != nil {
		return nil, err
	}
	e.known = names
	f := e.file(quantities, ast.Functions, ast.Data, ast.TransformedData)
	f.Blocks = slices.Insert(f.Blocks, len(f.Blocks)-1, known)
	return f, nil
}

// file returns a program that consists of some of the model's blocks, followed by last unless it is
// nil. It adds the new functions, and removes data variables that are not given from the data
// block.
func (e *emitter) file(last *ast.Block, kinds ...ast.BlockKind) *ast.File {
	blocks := map[ast.BlockKind][]ast.Stmt{}
	for _, b := range e.tree.Blocks {
		blocks[b.Kind] = b.Stmts
	}
	blocks[ast.Functions] = append(slices.Clip(blocks[ast.Functions]), e.functions...)
	var known, filled []ast.Stmt
	for _, s := range blocks[ast.Data] {
		d, ok := s.(*ast.VarDecl)
		switch v := e.info.Defs[s]; {
		case ok && slices.Contains(e.holes, v.Name):
			known = append(known, declare(typeExpr(v.Type, sizesOf(d.Type, v.Type)), v.Name, nil))
		case !ok || !e.unknown[v]:
			known = append(known, s)
		default:
			filled = append(filled, declare(typeExpr(v.Type, sizesOf(d.Type, v.Type)), v.Name, nil))
		}
	}
	blocks[ast.Data] = known
	blocks[ast.TransformedData] = append(filled, blocks[ast.TransformedData]...)
	f := &ast.File{}
	for _, kind := range kinds {
		if len(blocks[kind]) > 0 || e.tree.Block(kind) != nil {
			f.Blocks = append(f.Blocks, &ast.Block{Kind: kind, Stmts: blocks[kind]})
		}
	}
	if last != nil {
		f.Blocks = append(f.Blocks, last)
	}
	return f
}

// text returns the text of a derived program.
func (e *emitter) text(f *ast.File) string {
	return printer.Commented(f, func(s ast.Stmt) []string {
		if c := e.comments[s]; c != "" {
			return []string{c}
		}
		return nil
	}) + "\n"
}

// outputs chooses the names of the outputs.
func (e *emitter) outputs() {
	e.now = rename{}
	for _, v := range e.variables {
		switch name := "log_lik"; {
		case e.kind == Replicated:
			e.names[v] = e.fresh(v.Name + "_rep")
			e.now[v.Name] = e.names[v]
		case e.kind == Expected:
			e.names[v] = e.fresh(v.Name + meanSuffix)
		case e.kind == LinearPredictor:
			e.names[v] = e.fresh(v.Name + linkSuffix)
		case e.kind == Variance:
			e.names[v] = e.fresh(v.Name + varianceSuffix)
		case e.kind == Censoring:
			e.names[v] = e.fresh(v.Name + "_censored")
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

// declarations returns the declarations of the outputs.
func (e *emitter) declarations() (out []ast.Stmt) {
	var unset []ast.Stmt
	for _, v := range e.variables {
		sizes := sizesOf(v.Decl.(*ast.VarDecl).Type, v.Type)
		name := e.names[v]
		if e.kind == Replicated {
			out = append(out, declare(typeExpr(v.Type, sizes), name, variable(v.Name)))
			unset = append(unset, e.laterUnset(v)...)
			continue
		}
		if e.kind.predicts() {
			out = append(out, e.declareExpected(v, name, sizes))
			continue
		}
		sizes = sizes[:e.dims[v]]
		elem := types.RealType
		if e.kind.counts() {
			elem = types.IntType
		}
		zero := literal(0)
		switch {
		case len(sizes) == 0:
		case len(sizes) == 1 && !e.kind.counts():
			elem = types.VectorType
			zero = call("rep_vector", zero, sizes[0])
		default:
			if !e.kind.counts() {
				zero = &ast.RealLit{Text: "0.0"}
			}
			for i := len(sizes) - 1; i >= 0; i -= 3 {
				zero = call("rep_array", append([]ast.Expr{zero}, sizes[max(0, i-2):i+1]...)...)
			}
			elem = elem.Array(len(sizes))
		}
		out = append(out, declare(typeExpr(elem, sizes), name, zero))
	}
	return append(out, unset...)
}

// sizesOf returns the sizes of a declared variable, outermost first.
func sizesOf(t *ast.TypeExpr, plain types.Type) []ast.Expr {
	sizes := slices.Concat(t.ArrayDims, t.Sizes)
	if n := len(t.Sizes); n == 1 && plain.Kind == types.Matrix { // cov_matrix[K]
		sizes = append(sizes, t.Sizes[0])
	}
	return sizes
}

// typeExpr returns a type with its sizes.
func typeExpr(t types.Type, sizes []ast.Expr) *ast.TypeExpr {
	return &ast.TypeExpr{ArrayDims: sizes[:t.Dims], Elem: t.Kind.String(), Sizes: sizes[t.Dims:]}
}

// stmts returns the statements that replace statements of the model.
func (e *emitter) stmts(list []ast.Stmt) (out []ast.Stmt) {
	for _, s := range list {
		out = append(out, e.stmt(s)...)
	}
	return out
}

// stmt returns the statements that replace a statement of the model.
func (e *emitter) stmt(s ast.Stmt) []ast.Stmt {
	switch s := s.(type) {
	case *ast.BlockStmt:
		return []ast.Stmt{&ast.BlockStmt{Stmts: e.stmts(s.Stmts)}}
	case *ast.Profile:
		return e.stmt(s.Body)
	case *ast.Tilde, *ast.TargetPlus:
		if e.kind.isPrior() {
			return e.priorStmt(s)
		}
		var out []ast.Stmt
		for _, t := range e.findings[s].terms {
			if e.kind == Censoring && !t.censored && !e.sided(t.place.v) && !e.limited(t.place.v) {
				continue
			}
			if (!e.grows || e.grown[t.place.v] != nil) && !e.keeps(t.place.v) {
				out = append(out, e.term(&t)...)
			}
		}
		return out
	case *ast.CallStmt:
		if e.kind.isPrior() {
			return e.priorStmt(s)
		}
		if strings.HasSuffix(s.Call.Func.Name, "_lp") {
			return nil
		}
	case *ast.Print, *ast.Empty:
		return nil
	}
	return []ast.Stmt{ast.Map(s, func(n ast.Node) ast.Node {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return &ast.BlockStmt{Stmts: e.stmts(n.Stmts)}
		case ast.Stmt:
			return &ast.BlockStmt{Stmts: e.stmt(n)}
		}
		return e.now.node(n)
	}).(ast.Stmt)}
}

// term returns the statements that compute a term.
func (e *emitter) term(t *term) []ast.Stmt {
	out := e.logDensity
	switch {
	case e.kind.predicts() && t.mixed != nil:
		out = e.mix
	case e.kind == Replicated:
		out = e.draw
	case e.kind.predicts():
		out = e.expect
	}
	list := out(t)
	e.comments[list[0]] = fmt.Sprintf("line %d: %s", t.at.Span().Begin().Line, printer.Line(t.at))
	return list
}
