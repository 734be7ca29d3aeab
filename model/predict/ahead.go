package predict

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file finds the rows of a model that follow each other in time, so that the data can be
// continued.

// ErrNoFuture says that the text of a model does not determine what follows its last row.
var ErrNoFuture = errors.New("the model does not say what follows the last row")

// Timeline describes data whose rows follow each other in time: a statement about one row depends
// on the row before it.
type Timeline struct {
	Size  string // the variable of the data that is the number of times
	Rows  string // the number of rows of the outcomes: Size, or another variable
	Index string // if Rows is another variable: the column with the time of each row

	Columns []TimeColumn
}

// TimeColumn is a data variable of a [Timeline].
type TimeColumn struct {
	Name    string
	Along   int    // the dimension whose size is the number of times or rows; -1: there is none
	Size    string // the expression for that size
	Outcome bool   // the model draws this variable
	Line    int    // line of the declaration
}

// Ahead says that the outcomes are known only in the first rows, for [Replicated], [Expected] and
// [LinearPredictor].
type Ahead struct {
	Rows string // the variable of the data that is the number of rows
	From int    // the number of known rows

	Index string // the column with the time of each row; "": the number of the row is the time
	Time  int    // the last known time
}

// TimelineOf finds the rows that follow each other. An error that wraps [ErrNoFuture] says why the
// text does not determine them.
func TimelineOf(p *compile.Program) (*Timeline, error) {
	tree, info := p.Syntax()
	e := &emitter{
		analysis: analyse(tree, info, nil), kind: Replicated, used: namesOf(tree), comments: map[ast.Stmt]string{},
		dims: map[*check.Var]int{}, names: map[*check.Var]string{},
	}
	e.gather()
	chained := e.chained()
	if len(chained) == 0 {
		return nil, fmt.Errorf("%w: no statement connects a row with the one before it, as x[t] ~ normal(x[t - 1], s) does", ErrNoFuture)
	}
	var found []*Timeline
	for _, v := range e.variables {
		if v.Block != ast.Data || firstSize(v) == "" {
			continue
		}
		for _, size := range chained {
			t := Timeline{Size: size, Rows: firstSize(v)}
			if t.Rows != size {
				index := e.timesOf(t.Rows, size)
				if len(index) != 1 {
					continue
				}
				t.Index = index[0]
			}
			if !slices.ContainsFunc(found, func(f *Timeline) bool { return f.Size == t.Size && f.Rows == t.Rows }) {
				found = append(found, &t)
			}
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("%w: rows of size %s follow each other, but the data that the model draws have neither this size nor an index that is declared with <lower=1, upper=%[2]s>", ErrNoFuture, chained[0])
	case len(found) > 1:
		return nil, fmt.Errorf("%w: rows of size %s and of size %s follow each other, so which is to be continued is not known", ErrNoFuture, found[0].Size, found[1].Size)
	}
	t := found[0]
	if x := e.countAsValue(t); x != nil {
		return nil, fmt.Errorf("%w: line %d computes with the number of rows, `%s`, which the rows ahead change\nDeclare the value among the data, such as `real length;`, and run the model again", ErrNoFuture, x.Span().Begin().Line, printer.Line(x))
	}
	return t, e.timeColumns(t)
}

// chained lists the data variables that are sizes of variables in which one element depends on the
// element before it, as in x[t - 1].
func (e *emitter) chained() (sizes []string) {
	is := func(size ast.Expr) (string, bool) {
		x, ok := ast.Unparen(size).(*ast.VarExpr)
		if !ok || e.info.Uses[x] == nil {
			return "", false
		}
		v := e.info.Uses[x]
		return v.Name, v.Block == ast.Data && v.Type.IsScalar()
	}
	sizesOfUse := func(x ast.Expr) []ast.Expr {
		use, ok := ast.Unparen(x).(*ast.VarExpr)
		if !ok || e.info.Uses[use] == nil {
			return nil
		}
		d, ok := e.info.Uses[use].Decl.(*ast.VarDecl)
		if !ok {
			return nil
		}
		return sizesOf(d.Type, e.info.Uses[use].Type)
	}
	add := func(size ast.Expr) {
		if name, ok := is(size); ok && !slices.Contains(sizes, name) {
			sizes = append(sizes, name)
		}
	}
	for _, kind := range []ast.BlockKind{ast.TransformedParameters, ast.Model} {
		b := e.tree.Block(kind)
		if b == nil {
			continue
		}
		ast.Inspect(b, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IndexExpr:
				for d, size := range sizesOfUse(n.X) {
					if d < len(n.Indices) && e.before(n.Indices[d], size) {
						add(size)
					}
				}
			case *ast.CallExpr:
				if n.Func.Name == "cumulative_sum" && len(n.Args) == 1 {
					if all := sizesOfUse(n.Args[0]); len(all) > 0 {
						add(all[0])
					}
				}
			}
			return true
		}, nil)
	}
	return sizes
}

// before reports whether an index refers to an earlier element: t - 1 in a loop over t, or a range
// that ends before t or before the last element. In loops that end at the last row but one, t + 1
// also counts.
func (e *emitter) before(x ast.Index, size ast.Expr) bool {
	shifted := func(y ast.Expr) (of *ast.VarExpr, op string) {
		b, ok := ast.Unparen(y).(*ast.Binary)
		if !ok {
			return nil, ""
		}
		_, literal := intLiteral(b.Y)
		if of, ok = ast.Unparen(b.X).(*ast.VarExpr); !ok || !literal && e.loopOf(b.Y) == nil {
			return nil, ""
		}
		return of, b.Op
	}
	switch x := x.(type) {
	case *ast.Single:
		of, op := shifted(x.X)
		return of != nil && printer.Line(size) != of.Name && (op == "-" || op == "+" && e.loopOf(of) != nil)
	case *ast.Range:
		if x.To == nil {
			return false
		}
		of, op := shifted(x.To)
		return of != nil && op == "-" && (printer.Line(size) == of.Name || e.loopOf(of) != nil)
	}
	return false
}

// timesOf lists the integer data that have a value for each row, none of which may exceed the
// number of times.
func (e *emitter) timesOf(rows, size string) (names []string) {
	for _, v := range e.data() {
		d := v.Decl.(*ast.VarDecl)
		if v.Type.Scalar() != types.Int || v.Type.Rank() != 1 || firstSize(v) != rows {
			continue
		}
		for _, b := range d.Type.Bounds {
			if b.Kind == "upper" && printer.Line(b.Value) == size {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// data lists the data variables in the order of their declarations.
func (e *emitter) data() (out []*check.Var) {
	b := e.tree.Block(ast.Data)
	if b == nil {
		return nil
	}
	for _, s := range b.Stmts {
		if v := e.info.Defs[s]; v != nil {
			out = append(out, v)
		}
	}
	return out
}

// timeColumns finds the data variables that get more elements when rows are added.
func (e *emitter) timeColumns(t *Timeline) error {
	for _, v := range e.data() {
		d, ok := v.Decl.(*ast.VarDecl)
		if !ok {
			continue
		}
		c := TimeColumn{Name: v.Name, Along: -1, Outcome: slices.Contains(e.variables, v), Line: d.Span().Begin().Line}
		for k, size := range sizesOf(d.Type, v.Type) {
			text := printer.Line(size)
			mentions := false
			ast.Inspect(size, func(n ast.Node) bool {
				x, ok := n.(*ast.VarExpr)
				mentions = mentions || ok && (x.Name == t.Size || x.Name == t.Rows)
				return true
			}, nil)
			switch {
			case !mentions:
			case text != t.Size && text != t.Rows:
				return fmt.Errorf("%w: %s has the size %s (line %d), so which of its elements are new is not known", ErrNoFuture, v.Name, text, c.Line)
			case c.Along >= 0:
				return fmt.Errorf("%w: %s has an element for each pair of rows (line %d)", ErrNoFuture, v.Name, c.Line)
			default:
				c.Along, c.Size = k, text
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return nil
}

// continued prepares outcomes that are known only in the first rows. It returns an error if the
// value of a later row is needed before it is drawn.
func (e *emitter) continued() error {
	a := e.ahead
	if a == nil {
		return nil
	}
	e.later = map[*check.Var]*Grown{}
	for _, v := range e.variables {
		if v.Block != ast.Data || firstSize(v) != a.Rows {
			continue
		}
		if err := e.unread(v, "later values of "+v.Name+" are not known"); err != nil {
			return fmt.Errorf("%w: %w\nCompute it in the model block, in the loop that has the statement about %s", ErrNoFuture, err, v.Name)
		}
		for _, f := range e.findings {
			for _, t := range f.terms {
				if e.kind != Replicated && t.place.v == v && slices.ContainsFunc(t.args, func(a ast.Expr) bool {
					return e.readsValues(a, func(u *check.Var) bool { return u == v })
				}) {
					return fmt.Errorf("%w: the distribution of later values of %s depends on values that are not known (line %d)\nDraw the values, instead of computing their means", ErrNoFuture, v.Name, t.at.Span().Begin().Line)
				}
			}
		}
		if len(e.observed[v]) > 0 && e.kind == Replicated {
			return fmt.Errorf("%w: later values of %s cannot be drawn one after another: %s\nWrite one loop with a statement about each row", ErrNoFuture, v.Name, e.observed[v][0])
		}
		g := &Grown{Name: v.Name, Known: []int{a.From}}
		for range v.Type.Rank() - 1 {
			g.Known = append(g.Known, -1)
		}
		e.later[v] = g
	}
	return nil
}

// readsKnown reports whether an expression uses only known values of an outcome, because its index
// is a literal row number.
func (e *emitter) readsKnown(x ast.Expr, v *check.Var) bool {
	if e.ahead == nil || firstSize(v) != e.ahead.Rows {
		return false
	}
	known := true
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			of, ok := ast.Unparen(n.X).(*ast.VarExpr)
			if !ok || e.info.Uses[of] != v {
				return true
			}
			row := 0
			if single, ok := n.Indices[0].(*ast.Single); ok {
				row, _ = intLiteral(single.X)
			}
			known = known && row >= 1 && row <= e.ahead.From
			return false
		case *ast.VarExpr:
			known = known && e.info.Uses[n] != v
		}
		return true
	}, nil)
	return known
}

// laterUnset marks the later rows of an output as not drawn yet: by NaN, if their type has it.
func (e *emitter) laterUnset(v *check.Var) []ast.Stmt {
	g := e.later[v]
	if elem, ok := v.Type.Elem(); g == nil || !ok || elem.Dims > 0 || v.Type.Scalar() != types.Real {
		return nil
	}
	i := e.fresh("i")
	at := element(variable(e.names[v]), variable(i))
	body := assign(at, "=", binary("*", at, call("not_a_number")))
	return []ast.Stmt{&ast.For{Var: ast.Ident{Name: i}, From: literal(int64(g.Known[0] + 1)), To: variable(firstSize(v)), Body: &ast.BlockStmt{Stmts: []ast.Stmt{body}}}}
}
