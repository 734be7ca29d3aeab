package passes

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// Before a scan is taken apart it is freed of what differentiation left in it:
// the adjoint of a scan's flat value is a sum of scatters of the adjoints of
// its parts, and the adjoints of the parts that nobody used are streams of
// zeros, added to something at every step.

// specialise returns a graph equal to g with its scans freed of them.
func specialise(g *ad.Graph) *ad.Graph { return (&distributor{special: true}).run(g) }

// slice is the gather of x by ix in the new graph where x is a sum of scatters
// and each of them either fills exactly the elements of ix, whose source is
// taken, or none of them; ok is false for anything else.
func (d *distributor) slice(x ad.Ref, ix ad.Index) (r ad.Ref, ok bool) {
	g := d.g
	m := loopnest.Flatten(ix, 0, 0)
	if m.N == 0 || !m.Contiguous() {
		return ad.None, false
	}
	want := m.Span()
	var terms []ad.Ref
	var walk func(x ad.Ref, depth int) bool
	walk = func(x ad.Ref, depth int) bool {
		n := &g.Nodes[x]
		switch {
		case depth > 100:
		case n.Op == ad.OpAdd && g.Type(n.Args[0]).Equal(n.Type) && g.Type(n.Args[1]).Equal(n.Type):
			return walk(n.Args[0], depth+1) && walk(n.Args[1], depth+1)
		case n.Op == ad.OpScatter:
			to := loopnest.Flatten(n.Index(), 0, 0)
			if to.N == 0 {
				return true
			}
			s := to.Span()
			if s == want && to.Contiguous() {
				terms = append(terms, n.Args[0])
				return true
			}
			return s.Hi <= want.Lo || s.Lo >= want.Hi
		}
		return false
	}
	if !walk(x, 0) {
		return ad.None, false
	}
	t := ad.Type{Lanes: g.Type(x).Lanes, Shape: ix.Shape()}
	if len(terms) == 0 {
		return g.Expand(g.Const(0), t), true
	}
	r = g.Reshape(terms[0], t.Shape)
	for _, v := range terms[1:] {
		r = g.Add(r, g.Reshape(v, t.Shape))
	}
	return r, true
}

// specialise replaces streams and captured values that are one constant number
// by that number; args are in the new graph.
func (d *distributor) specialise(s *ad.Scan, args []ad.Ref) (*ad.Scan, []ad.Ref) {
	number := func(r ad.Ref) (float64, bool) {
		v, ok := d.g.Value(r)
		if !ok || len(v) == 0 {
			return 0, false
		}
		for _, x := range v {
			if x != v[0] {
				return 0, false
			}
		}
		return v[0], true
	}
	constant, lanes, left := false, false, false
	for i, r := range args {
		_, ok := number(r)
		ok = ok && i >= s.Carries
		constant = constant || ok
		lanes = lanes || d.g.Type(r).Lanes > 0
		left = left || d.g.Type(r).Lanes > 0 && !ok
	}
	if !constant || lanes && !left { // lanes must come from somewhere
		return s, args
	}
	body := ad.NewGraph()
	t := *s
	t.Body = body
	var kept []ad.Ref
	inputs := make([]ad.Ref, len(args))
	for i, r := range args {
		shape := s.Body.Type(s.Body.Inputs[i])
		if v, ok := number(r); ok && i >= s.Carries {
			inputs[i] = body.Expand(body.Const(v), shape)
			if i < s.Carries+s.Streams {
				t.Streams--
			}
			continue
		}
		inputs[i] = body.Input(shape)
		kept = append(kept, r)
	}
	for k, r := range body.Inline(s.Body, inputs, true) {
		body.Output(body.Broadcast(r, s.Body.Type(s.Body.Outputs[k]).Shape))
	}
	return &t, kept
}
