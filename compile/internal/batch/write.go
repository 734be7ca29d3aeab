package batch

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// writer makes the text of the new statements. Expressions and statements of the program have
// names in it, which are replaced once the text is parsed.
type writer struct {
	*division
	exprs map[string]ast.Expr
	stmts map[string][]ast.Stmt

	from, to, count, ok, len, begin, total, s, k string // names

	early   strings.Builder // for each iteration, before the loop: checks, and numbers of rows
	checks  strings.Builder // before the loop
	spans   []*ast.Range
	gather  []string        // by span, the array of indices
	declare strings.Builder // declarations before the first loop
	collect strings.Builder // at the end of its iterations
	restore []ast.Stmt      // at the beginning of the iterations of the second loop
	widths  map[int]string  // by argument that becomes a table, the number of its columns
}

// expr returns a name for an expression of the program.
func (w *writer) expr(e ast.Expr) string {
	name := fmt.Sprint("written_expression", len(w.exprs))
	w.exprs[name] = e
	return name
}

// body returns a call that represents statements of the program.
func (w *writer) body(list ...ast.Stmt) string {
	name := fmt.Sprint("written_statements", len(w.stmts))
	w.stmts[name] = list
	return name + "();"
}

// sized returns the text of a type, with these dimensions before its own.
func (w *writer) sized(t *ast.TypeExpr, first ...string) string {
	dims := first
	for _, e := range t.ArrayDims {
		dims = append(dims, w.expr(e))
	}
	var sizes []string
	for _, e := range t.Sizes {
		sizes = append(sizes, w.expr(e))
	}
	out := t.Elem
	if sizes != nil {
		out += "[" + strings.Join(sizes, ", ") + "]"
	}
	if dims != nil {
		out = "array[" + strings.Join(dims, ", ") + "] " + out
	}
	return out
}

// write returns the statement that replaces the loop.
func (d *division) write() ast.Stmt {
	w := &writer{division: d, exprs: map[string]ast.Expr{}, stmts: map[string][]ast.Stmt{}, widths: map[int]string{}}
	for stem, to := range map[string]*string{"batch_from": &w.from, "batch_to": &w.to, "batch_count": &w.count, "batch_ok": &w.ok, "batch_len": &w.len,
		"batch_begin": &w.begin, "batch_total": &w.total, "batch_s": &w.s, "batch_k": &w.k} {
		*to = d.name(stem)
	}
	loop := "for (" + d.loop.Var.Name + " in " + w.from + ":" + w.to + ") {\n"
	number := "int " + w.s + " = " + d.loop.Var.Name + " - " + w.from + " + 1;\n"
	here := w.begin + "[" + w.s + "]:(" + w.begin + "[" + w.s + "] + " + w.len + "[" + w.s + "] - 1)"

	// Declarations of the first part: again, or only as sizes.
	var again, sizes []ast.Stmt
	for _, s := range d.before {
		l, ok := s.(*ast.VarDecl)
		if !ok {
			continue
		}
		if d.copied[d.info.Defs[l]] {
			again, sizes = append(again, l), append(sizes, l)
		} else if t := plain(l.Type); t != nil && d.known(l) {
			c := *l
			c.Init, c.Type = nil, t
			sizes = append(sizes, &c)
		}
	}

	args := make([]string, len(d.call.Args))
	order := []int{d.batch.Len} // the records come first: they say how many there are
	for i := range args {
		if i != d.batch.Len {
			order = append(order, i)
		}
	}
	states := ""
	for _, i := range order {
		args[i] = w.argument(i, here)
	}
	states = fmt.Sprint(d.batch.States)
	if of := d.batch.Of; of >= 0 {
		states += " + " + w.states(of)
	}
	args = slices.Insert(args, d.batch.Len, w.len)
	for _, l := range d.kept {
		name := d.name(l.Name.Name + "_kept")
		w.declare.WriteString(w.sized(plain(l.Type), w.count) + " " + name + ";\n")
		w.collect.WriteString(name + "[" + w.s + "] = " + l.Name.Name + ";\n")
		value := name + "[" + w.s + "]"
		if d.declared[d.info.Defs[l]] != nil {
			w.restore = append(w.restore, w.parse(w.sized(plain(l.Type))+" "+l.Name.Name+" = "+value+";")...)
		} else {
			w.restore = append(w.restore, w.parse(l.Name.Name+" = "+value+";")...)
		}
	}
	solution := d.name("batch_solution")
	part := &ast.IndexExpr{Base: written(d.call), X: &ast.VarExpr{Base: written(d.call), Name: solution}, Indices: []ast.Index{&ast.All{},
		w.parse("x = x[" + here + "];")[0].(*ast.Assign).RHS.(*ast.IndexExpr).Indices[0]}}
	var value ast.Expr = part
	if d.batch.Rows {
		value = &ast.CallExpr{Base: written(d.call), Func: ast.Ident{Name: "to_array_2d"}, Args: []ast.Expr{&ast.Unary{Base: written(d.call), Op: "'", X: part}}}
	}
	at := ast.Rewrite(d.after[0], nil, func(n ast.Node) ast.Node {
		if n == ast.Node(d.call) {
			return value
		}
		return n
	}).(ast.Stmt)

	w.exprs["written_solution"] = &ast.CallExpr{Base: written(d.call), Func: ast.Ident{Base: d.call.Func.Base, Name: d.batch.Name}, Args: w.values(args)}
	text := "{\nint " + w.from + " = " + w.expr(d.loop.From) + ";\nint " + w.to + " = " + w.expr(d.loop.To) + ";\n" +
		"int " + w.count + " = max(0, " + w.to + " - " + w.from + " + 1);\nint " + w.ok + " = " + w.count + " > 0;\n" +
		"array[" + w.count + "] int " + w.len + ";\n" + w.checks.String() +
		loop + number + w.body(cloned(sizes)...) + w.early.String() + "}\n" +
		"if (" + w.ok + ") {\n" +
		"array[" + w.count + "] int " + w.begin + ";\nint " + w.total + " = 1;\n" +
		"for (" + w.s + " in 1:" + w.count + ") {\n" + w.begin + "[" + w.s + "] = " + w.total + ";\n" + w.total + " += " + w.len + "[" + w.s + "];\n}\n"
	if len(w.spans) > 0 {
		for _, name := range w.gather {
			text += "array[" + w.total + " - 1] int " + name + ";\n"
		}
		text += loop + number + w.body(cloned(again)...)
		for i, of := range w.spans {
			text += "for (" + w.k + " in 1:" + w.len + "[" + w.s + "]) " + w.gather[i] + "[" + w.begin + "[" + w.s + "] + " + w.k + " - 1] = " + w.expr(of.From) + " + " + w.k + " - 1;\n"
		}
		text += "}\n"
	}
	text += w.declare.String()
	if len(d.before) > 0 || w.collect.Len() > 0 {
		text += loop + w.body(d.before...) + "{\n" + number + w.collect.String() + "}\n}\n"
	}
	apart := clone(d.loop)
	d.done[apart] = true
	text += "matrix[" + states + ", " + w.total + " - 1] " + solution + " = written_solution;\n" +
		loop + number + w.body(slices.Concat(cloned(again), w.restore, []ast.Stmt{at}, d.after[1:])...) + "}\n" +
		"} else {\n" + w.body(apart) + "}\n}"
	return w.parse(text)[0]
}

// known reports whether the sizes of a declaration are known before the loop.
func (d *division) known(l *ast.VarDecl) bool {
	return !slices.ContainsFunc(slices.Concat(l.Type.ArrayDims, l.Type.Sizes), func(e ast.Expr) bool { return e == nil || !d.early(e) })
}

// values parses expressions.
func (w *writer) values(texts []string) (out []ast.Expr) {
	for _, t := range texts {
		out = append(out, w.parse("x = " + t + ";")[0].(*ast.Assign).RHS)
	}
	return out
}

// argument returns the argument of the batch for one of the call.
func (w *writer) argument(i int, here string) string {
	e := w.call.Args[i]
	t, to := w.info.Types[e].Type, w.info.Calls[w.call].Match.Params[i]
	element := "real"
	if to.Scalar() == types.Int {
		element = "int"
	}
	role := w.batch.Roles[i]
	if role == types.BatchSame {
		return w.expr(e)
	}
	length := w.len + "[" + w.s + "]"
	if x, of := w.span(e); role == types.BatchRecords && x != nil || of != nil && w.sameSpan(of) {
		if i == w.batch.Len {
			w.early.WriteString(length + " = max(0, " + w.expr(of.To) + " - " + w.expr(of.From) + " + 1);\nif (" + length + " < 1) " + w.ok + " = 0;\n")
		}
		at := slices.IndexFunc(w.spans, func(s *ast.Range) bool { return ast.Equal(s, of) })
		if at < 0 {
			if i != w.batch.Len {
				w.early.WriteString("if (max(0, " + w.expr(of.To) + " - " + w.expr(of.From) + " + 1) != " + length + ") " + w.ok + " = 0;\n")
			}
			at = len(w.spans)
			w.spans, w.gather = append(w.spans, of), append(w.gather, w.rewriter.name("batch_records"))
		}
		return w.expr(x.X) + "[" + w.gather[at] + "]"
	}
	name := w.rewriter.name("batch_argument")
	switch {
	case role == types.BatchRecords:
		if i == w.batch.Len {
			w.early.WriteString(length + " = size(" + w.expr(e) + ");\nif (" + length + " < 1) " + w.ok + " = 0;\n")
		} else if w.sizeable(e) {
			w.early.WriteString("if (size(" + w.expr(e) + ") != " + length + ") " + w.ok + " = 0;\n")
		}
		w.declare.WriteString("array[" + w.total + " - 1] " + element + " " + name + ";\n")
		w.collect.WriteString(name + "[" + here + "] = " + w.expr(e) + ";\n")
		return name
	case w.invariant(e) && role == types.BatchTable:
		if to.Dims == 2 || to.Dims == 1 && to.Kind == types.Matrix {
			w.checks.WriteString("if (size(" + w.expr(e) + ") != 1) " + w.ok + " = 0;\n")
		}
		return w.expr(e)
	case w.invariant(e):
		if to.Kind == types.Vector {
			return "rep_array(to_array_1d(" + w.expr(e) + "), " + w.count + ")"
		}
		return "rep_array(" + w.expr(e) + ", " + w.count + ")"
	case w.element(e) != nil && t.Dims == 1:
		return w.expr(w.element(e)) + "[" + w.from + ":" + w.to + "]"
	}
	return w.table(i, e, to, element, name)
}

// table returns a table with the rows that the iterations compute.
func (w *writer) table(i int, e ast.Expr, to types.Type, element, name string) string {
	if to.Kind == types.Vector {
		e, to = &ast.CallExpr{Func: ast.Ident{Name: "to_array_1d"}, Args: []ast.Expr{e}}, types.Type{Kind: types.Real, Dims: 1}
	}
	rows, width := w.rewriter.name("batch_rows"), w.rewriter.name("batch_width")
	w.widths[i] = width
	w.checks.WriteString("int " + width + " = -1;\nint " + rows + " = 1;\n")
	row := w.expr(e)
	many := to.Dims == 2 || to.Dims == 1 && to.Kind == types.Matrix
	if many { // a table: one row, or one for each record
		length := w.len + "[" + w.s + "]"
		w.early.WriteString("if (size(" + row + ") != 1) " + rows + " = 0;\n" +
			"if (size(" + row + ") < 1 || size(" + row + ") != 1 && size(" + row + ") != " + length + ") " + w.ok + " = 0;\nelse {\n")
		row = w.expr(&ast.IndexExpr{X: e, Indices: []ast.Index{&ast.Single{X: &ast.IntLit{Text: "1", Value: 1}}}})
	}
	size := "size"
	if to.Kind == types.Matrix {
		size = "rows"
		w.early.WriteString("if (cols(" + row + ") != rows(" + row + ")) " + w.ok + " = 0;\n")
	}
	w.early.WriteString("if (" + width + " < 0) " + width + " = " + size + "(" + row + ");\nif (" + size + "(" + row + ") != " + width + ") " + w.ok + " = 0;\n")
	if many {
		w.early.WriteString("}\n")
	}
	count := w.count
	if many {
		count = "(" + rows + " ? " + w.count + " : " + w.total + " - 1)"
	}
	if to.Kind == types.Matrix {
		w.declare.WriteString("array[" + count + "] matrix[" + width + ", " + width + "] " + name + ";\n")
	} else {
		w.declare.WriteString("array[" + count + ", " + width + "] " + element + " " + name + ";\n")
	}
	if !many {
		w.collect.WriteString(name + "[" + w.s + "] = " + row + ";\n")
		return name
	}
	w.collect.WriteString("if (" + rows + ") " + name + "[" + w.s + "] = " + row + ";\nelse for (" + w.k + " in 1:" + w.len + "[" + w.s + "]) " +
		name + "[" + w.begin + "[" + w.s + "] + " + w.k + " - 1] = " +
		w.expr(&ast.IndexExpr{X: e, Indices: []ast.Index{&ast.Single{X: &ast.Cond{
			Cond: &ast.Binary{Op: "==", X: &ast.CallExpr{Func: ast.Ident{Name: "size"}, Args: []ast.Expr{e}}, Y: &ast.IntLit{Text: "1", Value: 1}},
			Then: &ast.IntLit{Text: "1", Value: 1}, Else: &ast.VarExpr{Name: w.k}}}}}) + ";\n")
	return name
}

// states returns the number of states that an argument determines.
func (w *writer) states(i int) string {
	e, to := w.call.Args[i], w.info.Calls[w.call].Match.Params[i]
	switch {
	case w.batch.Roles[i] == types.BatchSame:
		return w.expr(e)
	case w.invariant(e) && to.Kind == types.Matrix && to.Dims == 0:
		return "rows(" + w.expr(e) + ")"
	case w.invariant(e) && to.Kind == types.Matrix:
		return "rows(" + w.expr(e) + "[1])"
	case w.invariant(e):
		return "size(" + w.expr(e) + ")"
	case w.element(e) != nil && w.info.Types[e].Type.Dims == 1:
		return "size(" + w.expr(w.element(e)) + "[1])"
	}
	return w.widths[i]
}

// parse returns the statements of a text, with the program's parts in place of their names.
func (w *writer) parse(text string) []ast.Stmt {
	tree, list := lang.Parse(source.NewFile("batches", "functions { void f() {\n"+text+"\n} }"))
	if list.HasErrors() {
		panic(fmt.Sprintf("batch: %v\n%s", list[0], text))
	}
	body := tree.Block(ast.Functions).Stmts[0].(*ast.FunctionDecl).Body
	var replace func(n ast.Node) ast.Node
	replace = func(n ast.Node) ast.Node {
		if e, ok := n.(*ast.VarExpr); ok && w.exprs[e.Name] != nil {
			return clone(w.exprs[e.Name])
		}
		n = ast.Map(n, replace)
		if b, ok := n.(*ast.BlockStmt); ok {
			c := *b
			c.Stmts = nil
			for _, s := range b.Stmts {
				call, ok := s.(*ast.CallStmt)
				if list, is := []ast.Stmt(nil), false; ok {
					if list, is = w.stmts[call.Call.Func.Name]; is {
						c.Stmts = append(c.Stmts, list...)
						continue
					}
				}
				c.Stmts = append(c.Stmts, s)
			}
			n = &c
		}
		reflect.ValueOf(n).Elem().FieldByName("Base").SetZero()
		return n
	}
	return replace(body).(*ast.BlockStmt).Stmts
}

// written returns the base of a node that replaces one of the program.
func written(n ast.Node) ast.Base { return ast.Base{Pos: n.Span(), Written: n} }

// cloned returns copies of statements.
func cloned(list []ast.Stmt) (out []ast.Stmt) {
	for _, s := range list {
		out = append(out, clone(s))
	}
	return out
}

// clone returns a copy of a part of the tree: facts about nodes are found by their addresses.
func clone[N ast.Node](n N) N {
	return ast.Rewrite(n, nil, func(n ast.Node) ast.Node {
		c := reflect.New(reflect.TypeOf(n).Elem())
		c.Elem().Set(reflect.ValueOf(n).Elem())
		return c.Interface().(ast.Node)
	}).(N)
}
