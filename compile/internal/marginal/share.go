package marginal

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// A call such as inv_logit(a + b * x[i]) in a statement for each i and t is the same for all t. The
// density computes it once for each i, before the sums: their loops read it from a vector.

// minReads is the least number of instances of a statement for each different value of a call.
const minReads = 2

// shared is a call that is computed before the sums. Elements of the vector belong to different
// values of the loop variables that it mentions.
type shared struct {
	name  string
	e     *editor
	call  ast.Expr
	loops []int // positions in the pattern's loops of those that it mentions
	place map[string]int
	rows  [][]int64
}

// sharing has the shared calls of a density.
type sharing struct {
	byLeaf map[*leaf][]*pattern
	known  map[ast.Expr]*shared // nil: not shared
	order  []*shared
}

func newSharing(patterns []*pattern) *sharing {
	s := &sharing{byLeaf: map[*leaf][]*pattern{}, known: map[ast.Expr]*shared{}}
	for _, p := range patterns {
		s.byLeaf[p.leaf] = append(s.byLeaf[p.leaf], p)
	}
	return s
}

// read returns an element of the vector with the values of a call; nil if the call is not shared.
func (s *sharing) read(e *editor, n ast.Node) ast.Expr {
	call, ok := n.(*ast.CallExpr)
	if !ok || e.pattern == nil || e.number == nil {
		return nil
	}
	of, seen := s.known[call]
	if !seen {
		of = s.find(e, call)
		s.known[call] = of
	}
	if of == nil {
		return nil
	}
	return e.w.at(e.w.name(of.name), e.number(func(f factor) int64 {
		values := make([]int64, len(of.loops))
		for i, k := range of.loops {
			values[i] = e.pattern.instances[f.instance].loops[k]
		}
		at, ok := of.place[encoded(values...)]
		if !ok {
			at = len(of.rows)
			of.place[encoded(values...)] = at
			of.rows = append(of.rows, values)
		}
		return int64(at + 1)
	}))
}

// find returns a call to share; nil if it is none: it must depend on parameters and on some of the
// loops around it, and on nothing else that changes.
func (s *sharing) find(e *editor, call *ast.CallExpr) *shared {
	c := e.p.info.Calls[call]
	if c == nil || c.Func != nil || !e.p.info.Types[call].Type.Equal(types.RealType) || e.p.involved(call) || strings.HasSuffix(call.Func.Name, "_rng") {
		return nil
	}
	parameter, other := false, false
	mentioned := map[*check.Var]bool{}
	ast.Inspect(call, func(n ast.Node) bool {
		if v, ok := n.(*ast.VarExpr); ok {
			u := e.p.info.Uses[v]
			_, loop := e.loops[u]
			switch {
			case loop:
				mentioned[u] = true
			case u == nil || !u.Global:
				other = true
			default:
				parameter = parameter || u.Block == ast.Parameters || u.Block == ast.TransformedParameters
			}
		}
		return !other
	}, nil)
	if other || !parameter {
		return nil
	}
	out := &shared{e: e, call: call, place: map[string]int{}}
	for k, l := range e.pattern.loops {
		if mentioned[e.p.info.Defs[l]] {
			out.loops = append(out.loops, k)
		}
	}
	if len(out.loops) == 0 || len(out.loops) == len(e.pattern.loops) {
		return nil
	}
	reads, different := 0, map[string]bool{}
	for _, pat := range s.byLeaf[e.leaf] {
		for _, in := range pat.instances {
			key := ""
			for _, k := range out.loops {
				key += fmt.Sprint(in.loops[k], ",")
			}
			reads, different[key] = reads+1, true
		}
	}
	if reads < minReads*len(different) {
		return nil
	}
	out.name = e.p.names.fresh("shared")
	s.order = append(s.order, out)
	return out
}

// statements compute the shared calls.
func (s *sharing) statements(w *writer) (out []ast.Stmt) {
	for _, of := range s.order {
		mark := w.p.names.mark()
		c := counter{name: w.p.names.fresh("q"), values: make([]int64, len(of.rows))}
		for i := range c.values {
			c.values[i] = int64(i + 1)
		}
		e := &editor{w: w, p: w.p, leaf: of.e.leaf, reads: of.e.reads, loops: map[*check.Var]ast.Expr{}}
		for i, k := range of.loops {
			column := make([]int64, len(of.rows))
			for r, row := range of.rows {
				column[r] = row[i]
			}
			e.loops[w.p.info.Defs[of.e.pattern.loops[k]]] = w.of(c, column)
		}
		n := int64(len(of.rows))
		set := w.assign(w.at(w.name(of.name), w.name(c.name)), "=", e.expr(of.call))
		out = append(out, w.declare(nil, "vector", []ast.Expr{w.int(n)}, of.name, nil), w.loop(c.name, w.int(1), w.int(n), set))
		w.p.names.release(mark)
	}
	return out
}
