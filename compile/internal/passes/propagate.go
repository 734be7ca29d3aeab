package passes

import "github.com/ppl-lang/ppl/ad"

// propagateConstants is constant propagation into scans (specialise). It returns a graph equal to g with its scans, nested ones too, freed of
// streams and captured values that are one constant number.
func propagateConstants(g *ad.Graph, o *Options) *ad.Graph {
	if !hasScan(g) {
		return g
	}
	return rebuild(o, g, propagateConstants, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if s, ok := attr.(*ad.Scan); ok {
			attr, args = freed(w.To, s, args)
		}
		return w.To.Do(n.Op, attr, args...)
	})
}

// freed replaces streams and captured values that are one constant number by that
// number; args are in g.
func freed(g *ad.Graph, s *ad.Scan, args []ad.Ref) (*ad.Scan, []ad.Ref) {
	number := func(r ad.Ref) (float64, bool) {
		v, ok := g.Value(r)
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
		lanes = lanes || g.Type(r).Lanes > 0
		left = left || g.Type(r).Lanes > 0 && !ok
	}
	if !constant || lanes && !left { // lanes must come from somewhere
		return s, args
	}
	body := g.Beside()
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
