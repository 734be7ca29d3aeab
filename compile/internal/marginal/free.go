package marginal

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
)

// A count is free if one statement gives it a distribution, and no other one reads it: a missing
// outcome. The sum over its values is 1, whatever the parameters, and its draws are those of the
// distribution. So it needs no table, and its mean may be as large as any.

// freely lists distributions of the numbers from 0 on. Each has a generator.
var freely = []string{"poisson", "poisson_log", "neg_binomial", "neg_binomial_2", "neg_binomial_2_log", "beta_neg_binomial"}

// free returns the distribution of the elements of a group and its arguments after the variate, if
// they are free.
func (w *writer) free(g *group) (name string, args []ast.Expr) {
	if len(g.unknowns) != 1 || len(g.kinds) != 1 || g.kinds[0].many || w.p.o.Purpose == Probabilities {
		return "", nil
	}
	pat := g.kinds[0].pattern
	if pat == nil || pat.tagged() || slices.ContainsFunc(g.rows, func(r row) bool {
		el := w.p.elements[r.clique[0]]
		return !el.cut || el.lo != 0 || len(r.factors[0]) != 1
	}) {
		return "", nil
	}
	name, all := w.p.plain(pat)
	if !slices.Contains(freely, name) {
		return "", nil
	}
	for k, o := range pat.leaf.occs {
		if r := pat.reads[k]; !r.absent && !r.given && ast.Node(o.node) != ast.Node(ast.Unparen(all[0])) {
			return "", nil
		}
	}
	return name, all[1:]
}

// freed returns the arguments of the distribution of free elements in each row.
func (w *writer) freed(g *group, c counter, q clique, args []ast.Expr) []ast.Expr {
	var all []factor
	for _, r := range g.rows {
		all = append(all, r.factors[0][0])
	}
	return w.editor(g.kinds[0], c, all, q).exprs(args)
}

// validated returns a statement that rejects the points at which the arguments are invalid.
func (w *writer) validated(g *group, c counter, q clique, name string, args []ast.Expr) ast.Stmt {
	b := builder{g.kinds[0].pattern.leaf.stmt().Span()}
	return b.block(b.declare(nil, "real", nil, w.p.names.fresh("one"), b.density(name+"_lpmf", b.int(0), w.freed(g, c, q, args)...)))
}

// idle reports whether a derived program has no statement about a missing count. Nothing that it
// computes reads the count then: the count has its least value.
func (p *program) idle(e, factors int) bool {
	return p.o.Purpose == DrawnOnly && factors == 0 && p.open(e) && p.elements[e].of.holes != nil
}

// frees finds the free elements: those of which neither the density nor a draw has a sum.
func (w *writer) frees() {
	w.freely = map[int]bool{}
	for k, blocks := range [][]block{w.blocks, w.merged} {
		for _, g := range slices.Concat(blocks...) {
			name, _ := w.free(g)
			for _, r := range g.rows {
				w.freely[r.clique[0]] = (name != "" || w.p.idle(r.clique[0], len(g.kinds))) && (k == 0 || w.freely[r.clique[0]])
			}
		}
	}
}
