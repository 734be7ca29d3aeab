package passes

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// sumProbabilities computes sums of probabilities as such, not on the scale of logarithms. In
//
//	log_sum_exp(log1m(phi), log(phi) + log1m(p) + x)
//
// x is such a sum too, as where an animal may have died before each of the occasions since it was
// last seen. Then exp(x) is known without an exponential, and the whole is the logarithm of
//
//	(1 - phi) + phi (1 - p) exp(x)
//
// Each sum inside saves an exponential and a logarithm. Terms are logarithms of numbers that are
// known to be between 0 and 1, sums of terms, selections of their elements, and scans of nothing
// else. No product is above 1, so that no sum overflows. Sums are of positive numbers, so
// that nothing cancels. If one whose logarithm is read is below minProbability or NaN, everything
// is computed as it was written. Sums that are known to be 0 are no such case.
//
// The pass runs before the density is differentiated.
func sumProbabilities(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpLogAddExp) && !has(g, ad.OpLogSumExp) {
		return g
	}
	x := newLogScale(g, nil, nil)
	roots := x.roots()
	if len(roots) == 0 {
		return g
	}
	w := ad.NewRewriter(g, g.Sibling())
	w.Keep = mustRun
	w.To.Expect(len(g.Nodes) + len(g.Nodes)/4)
	w.Inputs()
	x.replace(w, roots)
	w.Run(x.needed)
	for _, r := range g.Outputs {
		w.To.Output(w.At(r))
	}
	return w.To
}

// logScale finds logarithms of probabilities in a graph, which may be the body of a scan.
type logScale struct {
	g       *ad.Graph
	around  *logScale // nil: g is no body
	scan    *ad.Node  // that g is the body of
	depends []bool    // by node: whether it depends on a sum of probabilities
	known   []verdict
	scans   map[ad.Ref]*logScale // bodies; nil for scans with other values
	needed  []bool               // by node: whether something reads it, other than sums on their own scale
}

type verdict struct {
	found, is bool
	sums      int // the number of elements of the sums that it is made of
}

func newLogScale(g *ad.Graph, around *logScale, scan *ad.Node) *logScale {
	x := &logScale{g: g, around: around, scan: scan, known: make([]verdict, len(g.Nodes)), scans: map[ad.Ref]*logScale{}, depends: make([]bool, len(g.Nodes))}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		x.depends[i] = n.Op == ad.OpLogAddExp || n.Op == ad.OpLogSumExp || slices.ContainsFunc(n.Bodies(), func(b *ad.Graph) bool { return has(b, ad.OpLogAddExp) || has(b, ad.OpLogSumExp) })
		for _, a := range n.Args {
			x.depends[i] = x.depends[i] || x.depends[a]
		}
	}
	return x
}

// is reports whether a node is the logarithm of a probability, or of a sum of probabilities.
func (x *logScale) is(r ad.Ref) bool { return x.of(r).is }

func (x *logScale) of(r ad.Ref) verdict {
	if !x.known[r].found {
		v := x.find(r)
		v.found = true
		x.known[r] = v
	}
	return x.known[r]
}

func (x *logScale) find(r ad.Ref) verdict {
	n := &x.g.Nodes[r]
	all := func(args []ad.Ref) verdict {
		v := verdict{is: true}
		for _, a := range args {
			of := x.of(a)
			if !of.is {
				return verdict{}
			}
			v.sums += of.sums
		}
		return v
	}
	switch n.Op {
	case ad.OpConst:
		return verdict{is: !slices.ContainsFunc(n.Data, func(v float64) bool { return !(v <= 0) })}
	case ad.OpInput:
		if x.around == nil {
			return verdict{}
		}
		k := n.Attr.(int)
		if k < x.scan.Attr.(*ad.Scan).Carries {
			return verdict{is: true} // which the scan verifies
		}
		return verdict{is: x.around.is(x.scan.Args[k])}
	case ad.OpLog, ad.OpLog1m:
		return verdict{is: !x.depends[n.Args[0]] && x.unit(n.Args[0])}
	case ad.OpLogInvLogit, ad.OpLog1mInvLogit:
		return verdict{is: !x.depends[n.Args[0]]}
	case ad.OpNeg:
		of := &x.g.Nodes[n.Args[0]]
		return verdict{is: of.Op == ad.OpLog1pExp && !x.depends[of.Args[0]]}
	case ad.OpLogAddExp, ad.OpLogSumExp:
		if n.Type.Size() != 1 && n.Op == ad.OpLogSumExp {
			return verdict{}
		}
		v := all(n.Args)
		v.sums = max(v.sums, n.Type.Total())
		return v
	case ad.OpAdd, ad.OpReshape, ad.OpGather, ad.OpConcat, ad.OpLane, ad.OpUnlane:
		return all(n.Args)
	case ad.OpSelect:
		if !x.depends[n.Args[0]] {
			return all(n.Args[1:])
		}
	case ad.OpResult:
		if body := x.body(n.Args[0]); body != nil {
			return verdict{is: true, sums: n.Type.Total()}
		}
	}
	return verdict{}
}

// body returns the body of a scan whose results are all logarithms of probabilities; nil if it is
// none.
func (x *logScale) body(r ad.Ref) *logScale {
	if body, ok := x.scans[r]; ok {
		return body
	}
	x.scans[r] = nil
	n := &x.g.Nodes[r]
	s, ok := n.Attr.(*ad.Scan)
	if !ok || n.Type.Lanes > 0 || s.Sums > 0 || s.Steps > maxProbabilitySteps || len(s.Body.SideEffects) > 0 || !has(s.Body, ad.OpLogAddExp) {
		return nil
	}
	for _, a := range n.Args[:s.Carries] {
		if !x.is(a) {
			return nil
		}
	}
	body := newLogScale(s.Body, x, n)
	clear(body.depends) // terms of steps are logarithms, or depend on the arguments alone
	for i := range s.Body.Nodes {
		m := &s.Body.Nodes[i]
		body.depends[i] = m.Op == ad.OpInput && (m.Attr.(int) < s.Carries || x.depends[n.Args[m.Attr.(int)]]) || len(m.Bodies()) > 0
		for _, a := range m.Args {
			body.depends[i] = body.depends[i] || body.depends[a]
		}
	}
	for _, out := range s.Body.Outputs {
		if !body.is(out) {
			return nil
		}
	}
	x.scans[r] = body
	return body
}

// unit reports whether a value is known to be between 0 and 1.
func (x *logScale) unit(r ad.Ref) bool {
	n := &x.g.Nodes[r]
	units := func(args []ad.Ref) bool {
		return !slices.ContainsFunc(args, func(a ad.Ref) bool { return !x.unit(a) })
	}
	switch n.Op {
	case ad.OpConst:
		return !slices.ContainsFunc(n.Data, func(v float64) bool { return !(0 <= v && v <= 1) })
	case ad.OpInvLogit:
		return true
	case ad.OpSub:
		one, known := x.g.Value(n.Args[0])
		return known && !slices.ContainsFunc(one, func(v float64) bool { return v != 1 }) && x.unit(n.Args[1])
	case ad.OpMul, ad.OpReshape, ad.OpGather, ad.OpConcat, ad.OpLane, ad.OpUnlane:
		return units(n.Args)
	case ad.OpSelect:
		return units(n.Args[1:])
	case ad.OpInput:
		return x.around != nil && n.Attr.(int) >= x.scan.Attr.(*ad.Scan).Carries && x.around.unit(x.scan.Args[n.Attr.(int)])
	}
	return false
}

// roots returns the nodes whose logarithms are read by something else, and finds the nodes that are
// needed besides.
func (x *logScale) roots() []ad.Ref {
	x.needed = make([]bool, len(x.g.Nodes))
	for _, r := range slices.Concat(x.g.Outputs, x.g.SideEffects) {
		x.needed[r] = true
	}
	var roots []ad.Ref
	sums := 0
	for i := len(x.g.Nodes) - 1; i >= 0; i-- {
		n, r := &x.g.Nodes[i], ad.Ref(i)
		if !x.needed[i] {
			continue
		}
		if v := x.of(r); v.is && v.sums > 0 && n.Type.Total() <= 2*v.sums {
			roots = append(roots, r)
			sums += v.sums
			x.terms([]ad.Ref{r}, func(a ad.Ref) { x.needed[a] = true })
			continue
		}
		for _, a := range n.Args {
			x.needed[a] = true
		}
	}
	if sums < minProbabilities {
		return nil
	}
	return roots
}

// terms calls f with the values that logarithms of probabilities are computed from, each once.
func (x *logScale) terms(of []ad.Ref, f func(ad.Ref)) {
	seen := map[ad.Ref]bool{}
	var visit func(r ad.Ref)
	visit = func(r ad.Ref) {
		if seen[r] {
			return
		}
		seen[r] = true
		n := &x.g.Nodes[r]
		switch n.Op {
		case ad.OpLog, ad.OpLog1m, ad.OpLogInvLogit, ad.OpLog1mInvLogit:
			f(n.Args[0])
			return
		case ad.OpNeg:
			f(x.g.Nodes[n.Args[0]].Args[0])
			return
		case ad.OpSelect:
			f(n.Args[0])
			visit(n.Args[1])
			visit(n.Args[2])
			return
		case ad.OpResult:
			n = &x.g.Nodes[n.Args[0]]
		}
		for _, a := range n.Args {
			if x.is(a) {
				visit(a)
			} else {
				f(a)
			}
		}
	}
	for _, r := range of {
		visit(r)
	}
}

// replace puts the counterparts of roots.
func (x *logScale) replace(w *ad.Rewriter, roots []ad.Ref) {
	g := w.To
	defer g.SetSite(g.SetSite(x.g.Nodes[roots[0]].Site))
	b := &probabilityScale{logScale: x, to: g, value: w.Reach, known: map[ad.Ref]ad.Ref{}}
	logs := make([]ad.Ref, len(roots))
	lost := g.Const(0)
	zeros := g.Zeros()
	for i, r := range roots {
		p := b.of(r)
		enough := g.Do(ad.OpLessEqual, nil, g.Const(minProbability), p)
		logs[i] = g.Log(g.Do(ad.OpMax, nil, p, g.Const(minProbability)))
		if none := zeros(p); none != nil {
			marks := make([]float64, len(none))
			for e, is := range none {
				if is {
					marks[e] = 1
				}
			}
			mark := g.ConstArray(g.Type(p), marks)
			enough = g.Do(ad.OpMax, nil, enough, mark)
			logs[i] = g.SelectFinite(mark, g.Const(math.Inf(-1)), logs[i])
		}
		lost = g.Add(lost, g.Sum(g.Unlane(g.Do(ad.OpNot, nil, enough))))
	}
	lost = g.Less(g.Const(0), lost)

	// What runs instead.
	then, otherwise := g.Sibling(), g.Sibling()
	exact := ad.NewRewriter(x.g, then)
	args := []ad.Ref{lost}
	x.terms(roots, func(a ad.Ref) {
		if x.g.Nodes[a].Op == ad.OpConst || exact.At(a) != ad.None {
			return
		}
		arg := g.Unlane(w.Reach(a))
		args = append(args, arg)
		in := then.Input(g.Type(arg))
		otherwise.Input(g.Type(arg))
		if x.g.Type(a).Lanes > 0 {
			in = then.Lane(in)
		}
		exact.Put(a, in)
	})
	for _, r := range roots {
		v := then.Unlane(exact.Reach(r))
		then.Output(v)
		otherwise.Output(otherwise.Broadcast(otherwise.Const(0), then.Type(v).Shape))
	}
	chosen := g.Do(ad.OpIf, &ad.If{Then: then, Else: otherwise}, args...)
	for i, r := range roots {
		v := g.Result(chosen, i)
		if x.g.Type(r).Lanes > 0 {
			v = g.Lane(v)
		}
		w.Put(r, g.SelectFinite(lost, v, logs[i]))
	}
}

// probabilityScale builds the probabilities of which a logScale has the logarithms.
type probabilityScale struct {
	*logScale
	to    *ad.Graph
	value func(ad.Ref) ad.Ref // the counterpart of a node
	input func(k int) ad.Ref  // the probability that an argument of the scan has the logarithm of
	known map[ad.Ref]ad.Ref
}

// of returns exp(r).
func (b *probabilityScale) of(r ad.Ref) ad.Ref {
	if v, ok := b.known[r]; ok {
		return v
	}
	g, n := b.to, &b.g.Nodes[r]
	args := func(from []ad.Ref) []ad.Ref {
		out := make([]ad.Ref, len(from))
		for k, a := range from {
			out[k] = b.of(a)
		}
		return out
	}
	v := ad.None
	switch n.Op {
	case ad.OpConst:
		values := make([]float64, len(n.Data))
		for i, l := range n.Data {
			values[i] = math.Exp(l)
		}
		v = g.ConstArray(n.Type, values)
	case ad.OpInput:
		v = b.input(n.Attr.(int))
	case ad.OpLog:
		if of := &b.g.Nodes[n.Args[0]]; of.Op == ad.OpSub && b.g.Type(of.Args[1]).Equal(of.Type) {
			v = b.rest(of.Args[1])
		} else {
			v = b.value(n.Args[0])
		}
	case ad.OpLog1m:
		v = b.rest(n.Args[0])
	case ad.OpLogInvLogit:
		v = g.Do(ad.OpInvLogit, nil, b.value(n.Args[0]))
	case ad.OpLog1mInvLogit:
		v = g.Do(ad.OpInvLogit, nil, g.Neg(b.value(n.Args[0])))
	case ad.OpNeg:
		v = g.Do(ad.OpInvLogit, nil, g.Neg(b.value(b.g.Nodes[n.Args[0]].Args[0])))
	case ad.OpLogAddExp:
		p := args(n.Args)
		v = g.Add(p[0], p[1])
	case ad.OpLogSumExp:
		v = g.Sum(b.of(n.Args[0]))
	case ad.OpAdd:
		p := args(n.Args)
		v = g.Mul(p[0], p[1])
	case ad.OpSelect:
		p := args(n.Args[1:])
		v = g.Select(b.value(n.Args[0]), p[0], p[1])
	case ad.OpResult:
		v = g.Result(b.scanned(n.Args[0]), n.ResultIndex())
	default:
		v = g.Do(n.Op, n.Attr, args(n.Args)...)
	}
	b.known[r] = v
	return v
}

// rest returns 1 - r for a probability r, without cancellation if that is a logistic function.
func (b *probabilityScale) rest(r ad.Ref) ad.Ref {
	g, n := b.to, &b.g.Nodes[r]
	switch n.Op {
	case ad.OpInvLogit:
		return g.Do(ad.OpInvLogit, nil, g.Neg(b.value(n.Args[0])))
	case ad.OpReshape, ad.OpGather, ad.OpLane, ad.OpUnlane:
		return g.Do(n.Op, n.Attr, b.rest(n.Args[0]))
	}
	return g.Sub(g.Const(1), b.value(r))
}

// scanned returns the scan of probabilities in place of that of their logarithms.
func (b *probabilityScale) scanned(r ad.Ref) ad.Ref {
	if v, ok := b.known[r]; ok {
		return v
	}
	n := &b.g.Nodes[r]
	s, from, body := n.Attr.(*ad.Scan), b.body(r), b.to.Sibling()
	w := ad.NewRewriter(s.Body, body)
	probability := make([]ad.Ref, len(n.Args)) // inputs
	for k := range probability {
		probability[k] = ad.None
	}
	for k, in := range s.Body.Inputs[:s.Carries] {
		probability[k] = body.Input(s.Body.Type(in))
	}
	args := make([]ad.Ref, s.Carries, len(n.Args))
	for k, a := range n.Args[:s.Carries] {
		args[k] = b.of(a)
	}
	// Each of the other arguments is an input as it is, as a probability, or both.
	streams := 0
	asIs, asTerm := from.reads()
	for k, in := range s.Body.Inputs {
		if k < s.Carries {
			continue
		}
		if asIs[in] {
			w.Put(in, body.Input(s.Body.Type(in)))
			args = append(args, b.value(n.Args[k]))
		}
		if asTerm[in] {
			probability[k] = body.Input(s.Body.Type(in))
			args = append(args, b.of(n.Args[k]))
		}
		if k < s.Carries+s.Streams {
			streams = len(args) - s.Carries
		}
	}
	inner := &probabilityScale{logScale: from, to: body, value: w.Reach, input: func(k int) ad.Ref { return probability[k] }, known: map[ad.Ref]ad.Ref{}}
	for _, out := range s.Body.Outputs {
		body.Output(inner.of(out))
	}
	v := b.to.DoScan(&ad.Scan{Body: body, Carries: s.Carries, Streams: streams, Outs: s.Outs, Steps: s.Steps, Reverse: s.Reverse, Limit: s.Limit, Finite: true}, args)
	b.known[r] = v
	return v
}

// reads returns the inputs of a body that are read as they are, and those that are terms.
func (x *logScale) reads() (asIs, asTerm map[ad.Ref]bool) {
	asIs, asTerm = map[ad.Ref]bool{}, map[ad.Ref]bool{}
	var value func(r ad.Ref)
	value = func(r ad.Ref) {
		n := &x.g.Nodes[r]
		if n.Op == ad.OpInput {
			asIs[r] = true
		}
		for _, a := range n.Args {
			value(a)
		}
	}
	x.terms(x.g.Outputs, value)
	for _, in := range x.g.Inputs {
		asTerm[in] = x.known[in].is
	}
	return asIs, asTerm
}
