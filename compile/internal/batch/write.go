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

	spelled *strings.Replacer // of the variables that a text calls $from, $to and so on

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
	var list []string
	for _, stem := range []string{"from", "total", "to", "count", "ok", "len", "begin", "s", "k"} { // total before to
		list = append(list, "$"+stem, d.names.New("batch_"+stem))
	}
	w.spelled = strings.NewReplacer(list...)
	loop := "for (" + d.loop.Var.Name + " in $from:$to) {\n"
	number := "int $s = " + d.loop.Var.Name + " - $from + 1;\n"
	const here = "$begin[$s]:($begin[$s] + $len[$s] - 1)"

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
	for _, i := range order {
		args[i] = w.argument(i, here)
	}
	states := fmt.Sprint(d.batch.States)
	if of := d.batch.Of; of >= 0 {
		states += " + " + w.states(of)
	}
	args = slices.Insert(args, d.batch.Len, "$len")
	for _, l := range d.kept {
		name := d.names.New(l.Name.Name + "_kept")
		fmt.Fprintf(&w.declare, "%s %s;\n", w.sized(plain(l.Type), "$count"), name)
		fmt.Fprintf(&w.collect, "%s[$s] = %s;\n", name, l.Name.Name)
		value := name + "[$s]"
		if d.declared[d.info.Defs[l]] != nil {
			w.restore = append(w.restore, w.parse(w.sized(plain(l.Type))+" "+l.Name.Name+" = "+value+";")...)
		} else {
			w.restore = append(w.restore, w.parse(l.Name.Name+" = "+value+";")...)
		}
	}
	solution := d.names.New("batch_solution")
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
	var text strings.Builder
	fmt.Fprintf(&text, "{\nint $from = %s;\nint $to = %s;\nint $count = max(0, $to - $from + 1);\nint $ok = $count > 0;\narray[$count] int $len;\n"+
		"%s%s%s%s%s}\nif ($ok) {\narray[$count] int $begin;\nint $total = 1;\n"+
		"for ($s in 1:$count) {\n$begin[$s] = $total;\n$total += $len[$s];\n}\n",
		w.expr(d.loop.From), w.expr(d.loop.To), w.checks.String(), loop, number, w.body(cloned(sizes)...), w.early.String())
	if len(w.spans) > 0 {
		for _, name := range w.gather {
			fmt.Fprintf(&text, "array[$total - 1] int %s;\n", name)
		}
		fmt.Fprintf(&text, "%s%s%s", loop, number, w.body(cloned(again)...))
		for i, of := range w.spans {
			fmt.Fprintf(&text, "for ($k in 1:$len[$s]) %s[$begin[$s] + $k - 1] = %s + $k - 1;\n", w.gather[i], w.expr(of.From))
		}
		text.WriteString("}\n")
	}
	text.WriteString(w.declare.String())
	if len(d.before) > 0 || w.collect.Len() > 0 {
		text.WriteString(w.inOrder(d.first, fmt.Sprintf("%s%s{\n%s%s}\n}\n", loop, w.body(d.before...), number, w.collect.String())))
	}
	apart := clone(d.loop)
	d.done[apart] = true
	second := w.inOrder(d.second, loop+number+w.body(slices.Concat(cloned(again), w.restore, []ast.Stmt{at}, d.after[1:])...)+"}\n")
	fmt.Fprintf(&text, "matrix[%s, $total - 1] %s = written_solution;\n%s} else {\n%s}\n}", states, solution, second, w.body(apart))
	return w.parse(text.String())[0]
}

// inOrder returns the text of a loop. Its random numbers come in the order of the loop before the
// division: lanes would draw the first ones of all iterations, and then the second ones.
func (w *writer) inOrder(part *accesses, loop string) string {
	if !part.several {
		return loop
	}
	l := w.parse(loop)[0].(*ast.For)
	l.InOrder = true
	return w.body(l) + "\n"
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
	const length = "$len[$s]"
	if x, of := w.span(e); role == types.BatchRecords && x != nil || of != nil && w.sameSpan(of) {
		if i == w.batch.Len {
			fmt.Fprintf(&w.early, "%s = max(0, %s - %s + 1);\nif (%s < 1) $ok = 0;\n", length, w.expr(of.To), w.expr(of.From), length)
		}
		at := slices.IndexFunc(w.spans, func(s *ast.Range) bool { return ast.Equal(s, of) })
		if at < 0 {
			if i != w.batch.Len {
				fmt.Fprintf(&w.early, "if (max(0, %s - %s + 1) != %s) $ok = 0;\n", w.expr(of.To), w.expr(of.From), length)
			}
			at = len(w.spans)
			w.spans, w.gather = append(w.spans, of), append(w.gather, w.names.New("batch_records"))
		}
		return w.expr(x.X) + "[" + w.gather[at] + "]"
	}
	name := w.names.New("batch_argument")
	switch {
	case role == types.BatchRecords:
		if i == w.batch.Len {
			fmt.Fprintf(&w.early, "%s = size(%s);\nif (%s < 1) $ok = 0;\n", length, w.expr(w.shape(e)), length)
		} else if w.sizeable(e) {
			fmt.Fprintf(&w.early, "if (size(%s) != %s) $ok = 0;\n", w.expr(w.shape(e)), length)
		}
		fmt.Fprintf(&w.declare, "array[$total - 1] %s %s;\n", element, name)
		fmt.Fprintf(&w.collect, "%s[%s] = %s;\n", name, here, w.expr(e))
		return name
	case w.invariant(e) && role == types.BatchTable:
		if manyRows(to) {
			fmt.Fprintf(&w.checks, "if (size(%s) != 1) $ok = 0;\n", w.expr(e))
		}
		return w.expr(e)
	case w.invariant(e):
		if to.Kind == types.Vector {
			return "rep_array(to_array_1d(" + w.expr(e) + "), $count)"
		}
		return "rep_array(" + w.expr(e) + ", $count)"
	case w.element(e) != nil && t.Dims == 1 && t.Scalar() == t.Kind:
		return w.expr(w.element(e)) + "[$from:$to]"
	}
	return w.table(i, e, to, element, name)
}

// table returns a table with the rows that the iterations compute.
func (w *writer) table(i int, e ast.Expr, to types.Type, element, name string) string {
	if to.Kind == types.Vector && to.Dims == 0 {
		e, to = &ast.CallExpr{Func: ast.Ident{Name: "to_array_1d"}, Args: []ast.Expr{e}}, types.Type{Kind: types.Real, Dims: 1}
	}
	rows, width := w.names.New("batch_rows"), w.names.New("batch_width")
	w.widths[i] = width
	fmt.Fprintf(&w.checks, "int %s = -1;\nint %s = 1;\n", width, rows)
	row, sized := w.expr(e), w.expr(w.shape(e))
	many := manyRows(to)
	if many { // a table: one row, or one for each record
		const length = "$len[$s]"
		fmt.Fprintf(&w.early, "if (size(%s) != 1) %s = 0;\nif (size(%s) < 1 || size(%s) != 1 && size(%s) != %s) $ok = 0;\nelse {\n", sized, rows, sized, sized, sized, length)
		one := []ast.Index{&ast.Single{X: &ast.IntLit{Text: "1", Value: 1}}}
		sized = w.expr(&ast.IndexExpr{X: w.shape(e), Indices: one})
		row = w.expr(&ast.IndexExpr{X: e, Indices: one})
	}
	size := "size"
	if to.Kind == types.Matrix {
		size = "rows"
		fmt.Fprintf(&w.early, "if (cols(%s) != rows(%s)) $ok = 0;\n", sized, sized)
	}
	fmt.Fprintf(&w.early, "if (%s < 0) %s = %s(%s);\nif (%s(%s) != %s) $ok = 0;\n", width, width, size, sized, size, sized, width)
	if many {
		w.early.WriteString("}\n")
	}
	count := "$count"
	if many {
		count = "(" + rows + " ? $count : $total - 1)"
	}
	if to.Kind == types.Matrix {
		fmt.Fprintf(&w.declare, "array[%s] matrix[%s, %s] %s;\n", count, width, width, name)
	} else {
		fmt.Fprintf(&w.declare, "array[%s, %s] %s %s;\n", count, width, element, name)
	}
	if !many {
		fmt.Fprintf(&w.collect, "%s[$s] = %s;\n", name, row)
		return name
	}
	as := ""
	if to.Kind == types.Vector {
		as = "to_array_1d"
	}
	fmt.Fprintf(&w.collect, "if (%s) %s[$s] = %s(%s);\nelse for ($k in 1:$len[$s]) %s[$begin[$s] + $k - 1] = %s(%s[size(%s) == 1 ? 1 : $k]);\n", rows, name, as, row, name,
		as, w.expr(e), w.expr(e))
	return name
}

// manyRows reports whether an argument of this type is a table: one row, or one for each record.
func manyRows(t types.Type) bool {
	return t.Dims == 2 || t.Dims == 1 && (t.Kind == types.Matrix || t.Kind == types.Vector)
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
	case w.element(e) != nil && w.info.Types[e].Type.Dims == 1 && w.info.Types[e].Type.Scalar() == w.info.Types[e].Type.Kind:
		return "size(" + w.expr(w.element(e)) + "[1])"
	}
	return w.widths[i]
}

// parse returns the statements of a text, with the program's parts in place of their names.
func (w *writer) parse(text string) []ast.Stmt {
	tree, list := lang.Parse(source.NewFile("batches", "functions { void f() {\n"+w.spelled.Replace(text)+"\n} }"))
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
				list := []ast.Stmt{s}
				if call, ok := s.(*ast.CallStmt); ok {
					if ours, ok := w.stmts[call.Call.Func.Name]; ok {
						list = ours
					}
				}
				c.Stmts = append(c.Stmts, list...)
			}
			n = &c
		}
		reflect.ValueOf(n).Elem().FieldByName("Base").Set(reflect.ValueOf(ast.Base{Pos: w.loop.Pos}))
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
