package marginal

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Each term of the density is written once. A statement that computes a variable is copied into all
// factors that need the variable, but without the terms that it has.

// withoutTargets returns a statement without what adds to the target or prints; nil if nothing is
// left.
func (p *program) withoutTargets(s ast.Stmt) ast.Stmt {
	if silent(s) {
		return nil
	}
	return p.stripped(s).(ast.Stmt)
}

func (p *program) stripped(n ast.Node) ast.Node {
	s, ok := n.(ast.Stmt)
	if !ok {
		return n
	}
	if silent(s) {
		return builder{s.Span()}.block()
	}
	out := ast.Map(n, p.stripped)
	if v := p.def(n); v != nil && out != n {
		p.copies[out] = v
	}
	return out
}

// silent reports whether a statement does nothing but add to the target or print: it sets no
// variable and leaves no loop.
func silent(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.VarDecl, *ast.Assign, *ast.Break, *ast.Continue, *ast.Return:
			found = true
		}
		return !found
	}, nil)
	return !found
}

// once checks that each statement of the model block that adds to the target is in one leaf or
// among the statements that stay, and there once.
func (p *program) once(leaves []*leaf, kept []ast.Stmt) error {
	b := p.tree.Block(ast.Model)
	if b == nil {
		return nil
	}
	count := map[ast.Node]int{}
	terms := func(n ast.Node, each func(ast.Node)) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.Tilde, *ast.TargetPlus, *ast.CallStmt:
				each(n)
			}
			return true
		}, nil)
	}
	add := func(n ast.Node) { count[n]++ }
	for _, l := range leaves {
		for _, s := range l.code {
			terms(s, add)
		}
	}
	for _, s := range kept {
		terms(s, add)
	}
	var err error
	terms(b, func(n ast.Node) {
		if c := count[n]; c != 1 && err == nil {
			err = p.miscounted(n.Span(), c)
		}
	})
	return err
}

// eachOnce checks that the steps add up each instance of each pattern once.
func (p *program) eachOnce(patterns []*pattern, blocks []block) error {
	seen := map[*pattern][]int{}
	for _, pat := range patterns {
		seen[pat] = make([]int, len(pat.instances))
	}
	for _, b := range blocks {
		for _, g := range b {
			for _, r := range g.rows {
				for _, fs := range r.factors {
					for _, f := range fs {
						if f.pattern != nil {
							seen[f.pattern][f.instance]++
						}
					}
				}
			}
		}
	}
	for _, pat := range patterns {
		for _, n := range seen[pat] {
			if n != 1 {
				return p.miscounted(pat.leaf.stmt().Span(), n)
			}
		}
	}
	return nil
}

// miscounted refuses a program that would have another density. It is a fault of this package.
func (p *program) miscounted(at source.Span, n int) error {
	return p.errorf(diag.DiscreteUse, at, "this statement cannot be summed over a discrete parameter: its term would count %d times", "", "write it in another form", n)
}
