package marginal

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/lang/ast"
)

// contents numbers the instances of patterns: two of a pattern have the same number if they are
// equal functions of their elements, because all that data decide in their code is equal.
type contents struct {
	p      *program
	of     map[*pattern][]int // by instance
	number map[string]int
}

func (p *program) contents() *contents {
	return &contents{p: p, of: map[*pattern][]int{}, number: map[string]int{}}
}

// all returns the numbers of a pattern's instances.
func (c *contents) all(pat *pattern) []int {
	if ns, ok := c.of[pat]; ok {
		return ns
	}
	ns := make([]int, len(pat.instances))
	t := c.p.tracer()
	var known []*interp.Expression
	var key []byte
	number := func(x uint64) { key = binary.AppendUvarint(key, x) }
	for k := range pat.instances {
		in := &pat.instances[k]
		key = key[:0]
		number(uint64(len(c.of)))
		ok := t.enter(pat, in) == nil
		if ok && k == 0 {
			known = t.decides(pat)
		}
		for _, i := range slices.Concat(in.shifts, in.values, in.tag) {
			number(uint64(i))
		}
		for _, x := range known {
			v, err := t.eval.Value(x)
			if err != nil { // in a branch that is not taken
				ok = false
				break
			}
			for _, n := range v.Shape {
				number(uint64(n))
			}
			for _, i := range v.Ints {
				number(uint64(i))
			}
			for _, r := range v.Reals {
				key = binary.LittleEndian.AppendUint64(key, math.Float64bits(r))
			}
		}
		if !ok {
			key = key[:0]
			number(uint64(len(c.of)))
			number(uint64(k))
			key = append(key, "alone"...)
		}
		n, found := c.number[string(key)]
		if !found {
			n = len(c.number)
			c.number[string(key)] = n
		}
		ns[k] = n
	}
	c.of[pat] = ns
	return ns
}

// decides returns the largest expressions in the code of a pattern that differ by instance and that
// data decide. The loops around the pattern have values.
func (t *tracer) decides(pat *pattern) (out []*interp.Expression) {
	differs := func(n ast.Node) bool {
		found := false
		ast.Inspect(n, func(n ast.Node) bool {
			if v, ok := n.(*ast.VarExpr); ok {
				u := t.p.info.Uses[v]
				found = found || u != nil && !u.Global
			}
			return !found
		}, nil)
		return found
	}
	own := t.p.localsOf(pat.leaf)
	var visit func(n ast.Node)
	visit = func(n ast.Node) {
		if e, ok := n.(ast.Expr); ok {
			k := slices.IndexFunc(pat.leaf.occs, func(o *occ) bool { return ast.Node(o.node) == n })
			switch {
			case k >= 0 && !pat.reads[k].given: // elements have positions, whatever their indices
				for d, ix := range pat.leaf.occs[k].indices {
					if r := pat.reads[k]; !r.absent && r.dims[d].kind == varying {
						visit(ix)
					}
				}
				return
			case !differs(e):
				return
			}
			if x, ok := t.known(e); ok && !mentions(t.p.info, own, e) {
				out = append(out, x)
				return
			}
		}
		for c := range ast.Children(n) {
			visit(c)
		}
	}
	for _, s := range pat.leaf.code {
		visit(s)
	}
	return out
}
