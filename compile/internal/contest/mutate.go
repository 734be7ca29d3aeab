package contest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// Mutate changes a program at a few random places, determined by the seed. It drops, repeats and
// reorders statements, puts them under conditions or in loops, shifts bounds and indices, and
// inserts jumps. ok is false if no change gave a program that compiles.
func Mutate(text string, seed uint64) (mutant string, ok bool) {
	rng := rand.New(rand.NewPCG(seed, 0xbf58476d1ce4e5b9))
	for range 1 + rng.IntN(3) {
		for range 8 { // changes that do not compile are common
			changed, did := mutation(text, rng)
			if !did || changed == text {
				continue
			}
			if prog, _ := compile.Compile(source.NewFile("mutant", changed)); prog == nil || recursive(changed) {
				continue
			}
			text, ok = changed, true
			break
		}
	}
	if formatted, list := format.Source(source.NewFile("mutant", text)); !list.HasErrors() {
		text = formatted // with one statement on each line, as the shrinker needs it
	}
	return text, ok
}

// recursive reports whether a function calls itself or a later function. A mutant of such a program
// may not end.
func recursive(text string) bool {
	tree, _ := lang.Parse(source.NewFile("mutant", text))
	found := false
	for _, b := range tree.Blocks {
		if b.Kind != ast.Functions {
			continue
		}
		known := map[string]bool{}
		for i := len(b.Stmts) - 1; i >= 0; i-- {
			f, ok := b.Stmts[i].(*ast.FunctionDecl)
			if !ok || f.Body == nil {
				continue
			}
			known[f.Name.Name] = true
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if c, ok := n.(*ast.CallExpr); ok && known[c.Func.Name] {
					found = true
				}
				return true
			}, nil)
		}
	}
	return found
}

// located is a statement with the statements around it.
type located struct {
	stmt  ast.Stmt
	list  []ast.Stmt // the list of statements that contains it
	at    int
	loops []*ast.For
	inFor bool // in a for or foreach loop
	decl  bool
}

// mutator holds the parts of a program that mutations can change.
type mutator struct {
	rng     *rand.Rand
	source  string
	places  []located
	loops   []*ast.For
	indices []*ast.Single
	numbers []ast.Expr
	ops     []*ast.Binary
	ifs     []*ast.If
	reals   []string // scalar parameters
	ints    map[string][]string
}

func (s *mutator) of(n ast.Node) string {
	sp := n.Span()
	return s.source[sp.Start:sp.End]
}

// replaced returns the program's text in which the text of a node is replaced.
func (s *mutator) replaced(n ast.Node, by string) string {
	sp := n.Span()
	return s.source[:sp.Start] + by + s.source[sp.End:]
}

// mutations are the kinds of change. Each returns false if it is not possible.
var mutations = []struct {
	weight int
	change func(s *mutator) (string, bool)
}{
	{3, (*mutator).drop}, {2, (*mutator).repeat}, {4, (*mutator).swap}, {3, (*mutator).move}, {5, (*mutator).guard}, {2, (*mutator).inLoop},
	{3, (*mutator).shiftBound}, {3, (*mutator).shiftIndex}, {3, (*mutator).putJump}, {2, (*mutator).number}, {1, (*mutator).operator},
	{2, (*mutator).condition}, {2, (*mutator).unwrap}, {2, (*mutator).keep},
}

func mutation(text string, rng *rand.Rand) (string, bool) {
	tree, list := lang.Parse(source.NewFile("mutant", text))
	if list.HasErrors() {
		return text, false
	}
	s := &mutator{rng: rng, source: text, ints: map[string][]string{}}
	s.collect(tree)
	total := 0
	for _, m := range mutations {
		total += m.weight
	}
	at := rng.IntN(total)
	for _, m := range mutations {
		if at -= m.weight; at < 0 {
			return m.change(s)
		}
	}
	return text, false
}

func (s *mutator) collect(tree *ast.File) {
	for _, b := range tree.Blocks {
		switch b.Kind {
		case ast.Data, ast.Parameters:
			for _, st := range b.Stmts {
				v, ok := st.(*ast.VarDecl)
				if !ok {
					continue
				}
				switch {
				case b.Kind == ast.Parameters && v.Type.Elem == "real" && len(v.Type.ArrayDims) == 0:
					s.reals = append(s.reals, v.Name.Name)
				case b.Kind == ast.Data && v.Type.Elem == "int" && len(v.Type.ArrayDims) == 1:
					size := s.of(v.Type.ArrayDims[0])
					s.ints[size] = append(s.ints[size], v.Name.Name)
				}
			}
		default:
			s.stmts(b.Stmts, nil, false)
		}
	}
}

func (s *mutator) stmts(list []ast.Stmt, loops []*ast.For, inFor bool) {
	for i, st := range list {
		_, decl := st.(*ast.VarDecl)
		if f, ok := st.(*ast.FunctionDecl); ok {
			if f.Body != nil {
				s.stmts(f.Body.Stmts, nil, false)
			}
			continue
		}
		if _, ok := st.(*ast.While); ok {
			continue
		}
		s.places = append(s.places, located{stmt: st, list: list, at: i, loops: loops, inFor: inFor, decl: decl})
		s.inside(st, loops, inFor)
	}
}

func (s *mutator) inside(st ast.Stmt, loops []*ast.For, inFor bool) {
	body := func(b ast.Stmt, loops []*ast.For, inFor bool) {
		if b, ok := b.(*ast.BlockStmt); ok {
			s.stmts(b.Stmts, loops, inFor)
			return
		}
		if b != nil {
			s.stmts([]ast.Stmt{b}, loops, inFor)
		}
	}
	switch st := st.(type) {
	case *ast.For:
		s.loops = append(s.loops, st)
		s.exprs(st.From)
		s.exprs(st.To)
		body(st.Body, append(loops[:len(loops):len(loops)], st), true)
	case *ast.ForEach:
		body(st.Body, loops, true)
	case *ast.While: // not changed, because the loop might not end
	case *ast.If:
		s.ifs = append(s.ifs, st)
		s.exprs(st.Cond)
		body(st.Then, loops, inFor)
		if st.Else != nil {
			body(st.Else, loops, inFor)
		}
	case *ast.BlockStmt:
		s.stmts(st.Stmts, loops, inFor)
	case *ast.Profile:
		s.stmts(st.Body.Stmts, loops, inFor)
	case *ast.VarDecl:
		if st.Init != nil {
			s.exprs(st.Init)
		}
	default:
		s.exprs(st)
	}
}

// exprs collects the subexpressions of a node.
func (s *mutator) exprs(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Single:
			s.indices = append(s.indices, n)
		case *ast.IntLit:
			s.numbers = append(s.numbers, n)
		case *ast.RealLit:
			s.numbers = append(s.numbers, n)
		case *ast.Binary:
			s.ops = append(s.ops, n)
		}
		return true
	}, nil)
}

func draw[T any](s *mutator, list []T) T { return list[s.rng.IntN(len(list))] }

// cond returns a condition that is valid within the loops.
func (s *mutator) cond(loops []*ast.For) string {
	if len(loops) > 0 && s.rng.IntN(4) > 0 {
		f := loops[len(loops)-1]
		if s.rng.IntN(3) == 0 {
			f = draw(s, loops)
		}
		name := f.Var.Name
		if arrays := s.ints[s.of(f.To)]; len(arrays) > 0 && s.rng.IntN(2) == 0 {
			return fmt.Sprintf("%s[%s] %s %d", draw(s, arrays), name, draw(s, []string{"==", ">", "!="}), s.rng.IntN(3))
		}
		return fmt.Sprintf(draw(s, []string{"%s > 1", "%s %% 2 == 0", "%s < 3", "%s != 2", "%s >= 4", "%s == 1"}), name)
	}
	if len(s.reals) > 0 {
		return fmt.Sprintf("%s %s %.1f", draw(s, s.reals), draw(s, []string{">", "<"}), s.rng.Float64()-0.3)
	}
	return draw(s, []string{"1", "0"})
}

// some draws a statement; with plain, one that is not a declaration.
func (s *mutator) some(plain bool) (located, bool) {
	for range 10 {
		if len(s.places) == 0 {
			break
		}
		if p := draw(s, s.places); !plain || !p.decl {
			return p, true
		}
	}
	return located{}, false
}

func (s *mutator) drop() (string, bool) {
	p, ok := s.some(true)
	if !ok {
		return "", false
	}
	return s.replaced(p.stmt, "{ }"), true
}

func (s *mutator) repeat() (string, bool) {
	p, ok := s.some(true)
	if !ok {
		return "", false
	}
	return s.replaced(p.stmt, "{\n"+s.of(p.stmt)+"\n"+s.of(p.stmt)+"\n}"), true
}

func (s *mutator) swap() (string, bool) {
	p, ok := s.some(false)
	if !ok || p.at+1 >= len(p.list) {
		return "", false
	}
	a, b := p.stmt.Span(), p.list[p.at+1].Span()
	if b.Start < a.End { // an earlier change has moved this statement into another one
		return "", false
	}
	return s.source[:a.Start] + s.source[b.Start:b.End] + s.source[a.End:b.Start] + s.source[a.Start:a.End] + s.source[b.End:], true
}

// move inserts a copy of a statement after another one.
func (s *mutator) move() (string, bool) {
	p, ok := s.some(true)
	q, ok2 := s.some(false)
	if !ok || !ok2 {
		return "", false
	}
	end := q.stmt.Span().End
	return s.source[:end] + "\n" + s.of(p.stmt) + s.source[end:], true
}

func (s *mutator) guard() (string, bool) {
	p, ok := s.some(true)
	if !ok {
		return "", false
	}
	text := "if (" + s.cond(p.loops) + ") {\n" + s.of(p.stmt) + "\n}"
	if s.rng.IntN(4) == 0 {
		if q, ok := s.some(true); ok {
			text += " else {\n" + s.of(q.stmt) + "\n}"
		}
	}
	return s.replaced(p.stmt, text), true
}

func (s *mutator) inLoop() (string, bool) {
	p, ok := s.some(true)
	if !ok {
		return "", false
	}
	return s.replaced(p.stmt, fmt.Sprintf("for (it%d in 1:%d) {\n%s\n}", s.rng.IntN(1000), s.rng.IntN(6), s.of(p.stmt))), true
}

func (s *mutator) shiftBound() (string, bool) {
	if len(s.loops) == 0 {
		return "", false
	}
	f := draw(s, s.loops)
	e := draw(s, []ast.Expr{f.From, f.To})
	return s.replaced(e, fmt.Sprintf(draw(s, []string{"(%s + 1)", "(%s - 1)", "max(%s, 3)", "min(%s, 4)", "(1 + %s %% 3)"}), s.of(e))), true
}

func (s *mutator) shiftIndex() (string, bool) {
	if len(s.indices) == 0 {
		return "", false
	}
	i := draw(s, s.indices)
	return s.replaced(i, fmt.Sprintf(draw(s, []string{"(%s) - 1", "(%s) + 1", "max((%s) - 1, 1)", "1 + (%s) %% 2", "min(%s, 2)"}), s.of(i))), true
}

func (s *mutator) putJump() (string, bool) {
	for range 10 {
		p, ok := s.some(false)
		if !ok {
			break
		}
		if p.inFor {
			start := p.stmt.Span().Start
			return s.source[:start] + "if (" + s.cond(p.loops) + ") " + draw(s, []string{"continue;", "continue;", "break;"}) + "\n" + s.source[start:], true
		}
	}
	return "", false
}

func (s *mutator) number() (string, bool) {
	if len(s.numbers) == 0 {
		return "", false
	}
	n := draw(s, s.numbers)
	if _, ok := n.(*ast.IntLit); ok {
		return s.replaced(n, draw(s, []string{"0", "1", "2", "3"})), true
	}
	return s.replaced(n, draw(s, []string{"0.0", "1.0", "0.5", "(-0.3)"})), true
}

func (s *mutator) operator() (string, bool) {
	if len(s.ops) == 0 {
		return "", false
	}
	b := draw(s, s.ops)
	for _, class := range [][]string{{"+", "-"}, {"<", "<=", ">", ">=", "==", "!="}, {"&&", "||"}, {"*", "+"}} {
		for _, op := range class {
			if op == b.Op {
				return s.source[:b.OpPos.Start] + draw(s, class) + s.source[b.OpPos.End:], true
			}
		}
	}
	return "", false
}

// condition replaces an expression by a conditional expression.
func (s *mutator) condition() (string, bool) {
	p, ok := s.some(true)
	if !ok {
		return "", false
	}
	e, ok := p.stmt.(*ast.Assign)
	if !ok {
		return "", false
	}
	return s.replaced(e.RHS, fmt.Sprintf("(%s ? %s : %s)", s.cond(p.loops), s.of(e.RHS), draw(s, []string{s.of(e.LHS), "0.5", s.of(e.RHS)}))), true
}

// unwrap drops or negates the condition of a conditional.
func (s *mutator) unwrap() (string, bool) {
	if len(s.ifs) == 0 {
		return "", false
	}
	i := draw(s, s.ifs)
	switch s.rng.IntN(3) {
	case 0:
		return s.replaced(i, s.of(i.Then)), true
	case 1:
		return s.replaced(i.Cond, "!("+s.of(i.Cond)+")"), true
	}
	if i.Else != nil {
		return s.replaced(i, s.of(i.Else)), true
	}
	return s.replaced(i, "{ }"), true
}

// keep copies a variable before it is assigned, and adds the copy to the density if a condition
// holds.
func (s *mutator) keep() (string, bool) {
	for range 10 {
		p, ok := s.some(true)
		if !ok {
			break
		}
		a, ok := p.stmt.(*ast.Assign)
		if !ok {
			continue
		}
		name := fmt.Sprintf("kept%d", s.rng.IntN(1000))
		text := fmt.Sprintf("{\nreal %s = %s;\n%s\nif (%s) target += -square(%s);\n}", name, s.of(a.LHS), s.of(a), s.cond(p.loops), name)
		return s.replaced(a, strings.TrimSpace(text)), true
	}
	return "", false
}
