package check

import (
	"strconv"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// member returns the i-th member of a tuple, from 0.
func (o TypeLevel) member(i int) TypeLevel {
	if o.Members != nil {
		return o.Members[i]
	}
	m := TypeLevel{Type: o.Type.Members[i], Level: o.Level}
	if discrete(m.Type) {
		m.Level = Data
	}
	return m
}

// member types x.1.
func (c *checker) member(e *ast.TupleMember, x TypeLevel) TypeLevel {
	switch t := x.Type; {
	case t.Kind == types.Invalid:
		return invalid
	case t.Kind != types.Tuple || t.Dims > 0:
		d := diag.Errorf(diag.NotATuple, e.Span(), "%s has no members", t)
		d.Detail = "Only tuples have: x.1 is the first member of the tuple x."
		if t.Kind == types.Tuple {
			d.Detail = "It is an array of tuples: index it first, as in x[1]." + strconv.Itoa(e.Member) + "."
		}
		c.diags.Add(d)
		return invalid
	case e.Member > len(t.Members):
		at := e.Span()
		at.Start = e.X.Span().End
		c.report(diag.Errorf(diag.NoMember, at, "there is no member %d: %s has %d", e.Member, t, len(t.Members)), "", "")
		return invalid
	}
	return x.member(e.Member - 1)
}

// tupleExpr types (a, b, …).
func (c *checker) tupleExpr(e *ast.TupleExpr) TypeLevel {
	out := TypeLevel{Type: types.Type{Kind: types.Tuple}}
	ok := true
	for _, x := range e.Elems {
		o := c.expr(x)
		ok = ok && o.Type.Kind != types.Invalid && !c.sparseMember(x, o.Type)
		out.Type.Members = append(out.Type.Members, o.Type)
		out.Members = append(out.Members, o)
		out.Level = max(out.Level, o.Level)
	}
	if !ok {
		return invalid
	}
	return out
}

// tupleLvalue types (a, b[1], …) on the left side of an assignment.
func (c *checker) tupleLvalue(e *ast.TupleExpr) types.Type {
	t := types.Type{Kind: types.Tuple}
	ok := true
	for _, x := range e.Elems {
		m := c.lvalue(x)
		ok = ok && m.Kind != types.Invalid
		t.Members = append(t.Members, m)
	}
	if !ok {
		return types.Type{}
	}
	return t
}

// stored is the target of an assignment: a variable or a member of a tuple variable. Elements are
// not distinguished.
type stored struct {
	at   ast.Expr
	name string
	path string // the members, such as .1.2
}

// unpacking reports tuple assignments whose result would depend on the order of evaluation: an
// index on the left side depends on a variable that is assigned, or two members are stored in the
// same place. A single target may have any index, because indices are evaluated before the
// assignment.
func (c *checker) unpacking(s *ast.Assign) {
	if _, ok := s.LHS.(*ast.TupleExpr); !ok {
		return
	}
	var all []stored
	var indices []ast.Index
	var place func(e ast.Expr) stored
	place = func(e ast.Expr) stored {
		switch e := e.(type) {
		case *ast.VarExpr:
			return stored{e, e.Name, "."}
		case *ast.IndexExpr:
			p := place(e.X)
			indices = append(indices, e.Indices...)
			return p
		case *ast.TupleMember:
			p := place(e.X)
			p.path += strconv.Itoa(e.Member) + "."
			return p
		}
		return stored{at: e}
	}
	var visit func(e ast.Expr)
	visit = func(e ast.Expr) {
		if t, ok := e.(*ast.TupleExpr); ok {
			for _, x := range t.Elems {
				visit(x)
			}
			return
		}
		p := place(e)
		p.at = e
		all = append(all, p)
	}
	visit(s.LHS)
	for i, p := range all {
		for _, q := range all[:i] {
			short, long := p.path, q.path
			if len(short) > len(long) {
				short, long = long, short
			}
			if p.name == q.name && p.name != "" && long[:len(short)] == short {
				c.report(diag.Errorf(diag.StoredTwice, p.at.Span(), "`%s` is assigned to twice in one assignment", p.name),
					"All members of a tuple are stored at once.", "assign to different variables", note(q.at, "it is assigned to here too"))
				return
			}
		}
	}
	for _, i := range indices {
		for _, p := range all {
			if p.name != "" && indexMentions(i, p.name) {
				c.report(diag.Errorf(diag.ReadsAssigned, i.Span(), "an index depends on `%s`, which is being assigned to", p.name),
					"", "compute the index in another variable first")
				return
			}
		}
	}
}

// indexMentions reports whether an index uses a variable.
func indexMentions(i ast.Index, name string) bool {
	return mentions(&ast.IndexExpr{X: &ast.IntLit{}, Indices: []ast.Index{i}}, name)
}
