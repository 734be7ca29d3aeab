package passes

import (
	"cmp"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/ops"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// shortenPaths shortens the critical path of scans that carry several numbers: the operations of
// a step that wait for those of the step before. In x[t] = s[t] - a·x[t-1] - b·x[t-2] only x[t-1]
// is late, so its term is added last, and one step waits for a product and a sum. Three rewrites
// of the body make such sums:
//
//   - Terms of a sum are added in the order in which they are known.
//   - A term that only some steps have is selected before it is added, not after.
//   - A carried sum whose only reader adds to it is carried as two numbers, its last term and the
//     sum of the others. The reader adds to the latter while it waits for the former.
func shortenPaths(g *ad.Graph, o *Options) *ad.Graph {
	if !has(g, ad.OpScan) {
		return g
	}
	used := loopnest.UsedResults(g, g.Live(g.Outputs, true))
	more := map[ad.Ref]int{} // by scan: the number of its additional carried numbers
	return rebuild(o, g, shortenPaths, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		switch s, ok := attr.(*ad.Scan); {
		case ok && n.Type.Lanes == 0 && s.Steps >= minSteps && s.Carries > 1:
			c := &carrier{o: o, s: *s, used: slices.Clone(used[r][s.Carries:])}
			for k := range s.Carries {
				c.used[k] = true
			}
			c.lateTerms()
			for k := range s.Carries {
				if !used[r][k] && !used[r][s.Carries+k] {
					args = c.split(k, w.To, args)
				}
			}
			c.sumsByTime()
			more[r] = c.s.Carries - s.Carries
			return w.Same(n, &c.s, args)
		case n.Op == ad.OpResult && more[n.Args[0]] > 0:
			s, k := g.Nodes[n.Args[0]].Attr.(*ad.Scan), n.ResultIndex()
			for _, from := range []int{s.Carries, 2 * s.Carries} {
				if n.ResultIndex() >= from {
					k += more[n.Args[0]]
				}
			}
			return w.To.Result(args[0], k)
		}
		return w.Same(n, attr, args)
	})
}

// addend is a term of a sum, and the time in a step when it is known, in cycles.
type addend struct {
	r     ad.Ref
	minus bool
	time  int
}

const sumCycles = 3

// cycles returns the time from the operands of a node to its value.
func cycles(n *ad.Node) int {
	switch n.Op {
	case ad.OpInput, ad.OpConst, ad.OpReshape:
		return 0
	case ad.OpNeg, ad.OpSelect:
		return 1
	case ad.OpAdd, ad.OpSub, ad.OpMul, ad.OpSquare:
		return sumCycles
	}
	const perNS = 4
	return 4 + int(perNS*ops.Of(n.Op).Cost)
}

// carrier is a scan being rewritten, with the outputs of its body that the next step or something
// behind the scan reads.
type carrier struct {
	o     *Options
	s     ad.Scan
	used  []bool
	times *path // of the present body, as far as it was needed
}

// path describes when the values of a body are known.
type path struct {
	body    *ad.Graph
	readers []int  // the number of readers of each node; 0: nothing needs it
	inner   []bool // sums and differences that only another one reads
	times   []int  // when values are known if sums are added in the best order; 0 for inner ones
	waits   []bool // values that are the last known term of a sum
}

// path returns the times of the body. Streams, captured values and carried ones that the step
// before had from the start are known at 0. Other carried values are known the later, the later
// the step before computes them.
func (c *carrier) path() *path {
	body := c.s.Body
	if c.times != nil && c.times.body == body {
		return c.times
	}
	n := len(body.Nodes)
	p := &path{body: body, readers: c.readers(), inner: make([]bool, n), times: make([]int, n), waits: make([]bool, n)}
	c.times = p
	for i, readers := range p.readers {
		if n := &body.Nodes[i]; readers > 0 && sums(n) {
			for _, a := range n.Args {
				p.inner[a] = sums(&body.Nodes[a]) && p.readers[a] == 1
			}
		}
	}
	late := make([]int, c.s.Carries)
	for range 2 { // first from late = 0, which gives the times within the step before
		for i := range body.Nodes {
			n := &body.Nodes[i]
			switch {
			case n.Op == ad.OpInput && n.Attr.(int) < c.s.Carries:
				p.times[i] = late[n.Attr.(int)]
			case p.inner[i]:
			case sums(n):
				p.times[i] = p.known(p.terms(ad.Ref(i)))
			default:
				p.times[i] = p.latest(n) + cycles(n)
			}
		}
		for k, out := range body.Outputs[:c.s.Carries] {
			if body.Nodes[out].Op != ad.OpInput {
				late[k] = p.times[out] + 1
			}
		}
	}
	for i := range body.Nodes {
		if sums(&body.Nodes[i]) && !p.inner[i] {
			terms := p.terms(ad.Ref(i))
			p.waits[terms[latestOf(terms)].r] = true
		}
	}
	return p
}

func (p *path) latest(n *ad.Node) (t int) {
	for _, a := range n.Args {
		t = max(t, p.times[a])
	}
	return t
}

// sums reports whether n adds or subtracts numbers.
func sums(n *ad.Node) bool {
	return (n.Op == ad.OpAdd || n.Op == ad.OpSub) && n.Type.Total() == 1
}

// readers counts the readers of each node of the body that is needed.
func (c *carrier) readers() []int {
	body, readers := c.s.Body, make([]int, len(c.s.Body.Nodes))
	var outputs []ad.Ref
	for k, used := range c.used {
		if used {
			outputs = append(outputs, body.Outputs[k])
			readers[body.Outputs[k]]++
		}
	}
	for i, live := range body.Live(outputs, true) {
		if live {
			for _, a := range body.Nodes[i].Args {
				readers[a]++
			}
		}
	}
	return readers
}

// terms returns the terms of a sum.
func (p *path) terms(at ad.Ref) (list []addend) {
	var walk func(r ad.Ref, minus bool)
	walk = func(r ad.Ref, minus bool) {
		if r != at && !p.inner[r] {
			list = append(list, addend{r, minus, p.times[r]})
			return
		}
		n := &p.body.Nodes[r]
		walk(n.Args[0], minus)
		walk(n.Args[1], minus != (n.Op == ad.OpSub))
	}
	walk(at, false)
	return list
}

// known returns the time when the sum of terms is known.
func (p *path) known(terms []addend) int {
	return addInOrder(terms, func(a, b addend) addend { return a }).time
}

// addInOrder adds terms, always the two that are known first, and returns their sum. It sorts the
// terms. Sums are made in the order of their times, so that they need no sorting.
func addInOrder(terms []addend, add func(a, b addend) addend) addend {
	sorting.Stable(terms, func(a, b addend) int { return cmp.Compare(a.time, b.time) })
	var made []addend
	next := func() (t addend) {
		if len(made) > 0 && (len(terms) == 0 || made[0].time <= terms[0].time) {
			t, made = made[0], made[1:]
		} else {
			t, terms = terms[0], terms[1:]
		}
		return t
	}
	for len(terms)+len(made) > 1 {
		a, b := next(), next()
		sum := add(a, b)
		sum.time = b.time + sumCycles
		made = append(made, sum)
	}
	return next()
}

// addIn adds terms in the order in which they are known. The terms are nodes of g.
func addIn(g *ad.Graph, terms []addend) addend {
	return addInOrder(terms, func(a, b addend) addend {
		switch {
		case a.minus == b.minus:
			return addend{r: g.Add(a.r, b.r), minus: a.minus}
		case a.minus:
			return addend{r: g.Sub(b.r, a.r)}
		}
		return addend{r: g.Sub(a.r, b.r)}
	})
}

// sumsByTime adds the terms of sums in the order in which they are known, where the sum is then
// known sooner.
func (c *carrier) sumsByTime() {
	p := c.path()
	c.s.Body = rebuild(c.o, c.s.Body, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if !sums(n) || p.inner[r] || p.times[r] >= p.given(r)+sumCycles {
			return w.Same(n, attr, args)
		}
		terms := p.terms(r)
		for k := range terms {
			terms[k].r = w.At(terms[k].r)
		}
		sum := addIn(w.To, terms)
		if sum.minus {
			return w.To.Neg(sum.r)
		}
		return sum.r
	})
}

// given returns the time when the operands of a sum are known in the given order.
func (p *path) given(r ad.Ref) (t int) {
	for _, a := range p.body.Nodes[r].Args {
		if p.inner[a] {
			t = max(t, p.given(a)+sumCycles)
		} else {
			t = max(t, p.times[a])
		}
	}
	return t
}

// lateTerms selects terms that only some steps have before they are added: select(c, x + y, x)
// becomes x + select(c, y, 0). Signs move from adjoints to factors that are the same in all steps.
func (c *carrier) lateTerms() {
	p := c.path()
	c.s.Body = rebuild(c.o, c.s.Body, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		g := w.To
		switch {
		case n.Type.Total() != 1:
		case n.Op == ad.OpSelect && p.times[n.Args[1]] > p.times[n.Args[0]]+sumCycles:
			x := args[2]
			if sum := g.Nodes[args[1]]; sums(&sum) && sum.Args[0] == x {
				return g.Do(sum.Op, nil, x, g.Do(ad.OpSelect, attr, args[0], sum.Args[1], g.Const(0)))
			} else if sum.Op == ad.OpAdd && sum.Args[1] == x {
				return g.Do(sum.Op, nil, x, g.Do(ad.OpSelect, attr, args[0], sum.Args[0], g.Const(0)))
			}
		case n.Op == ad.OpMulGuarded && c.constant(n.Args[1]):
			if x := g.Nodes[args[0]]; x.Op == ad.OpNeg {
				return g.Do(n.Op, attr, x.Args[0], g.Neg(args[1]))
			}
		}
		return w.Same(n, attr, args)
	})
}

// latestOf returns the index of the term that is known last.
func latestOf(terms []addend) (last int) {
	for k, t := range terms {
		if t.time > terms[last].time {
			last = k
		}
	}
	return last
}

// constant reports whether a number is the same in all steps.
func (c *carrier) constant(r ad.Ref) bool {
	n := &c.s.Body.Nodes[r]
	if n.Op == ad.OpReshape {
		return c.constant(n.Args[0])
	}
	return n.Op == ad.OpConst || n.Op == ad.OpInput && n.Attr.(int) >= c.s.Carries+c.s.Streams
}

// split replaces carried number k of the scan by two numbers, if it is a sum whose only reader is
// a sum that would wait for it less. It changes the scan, and returns its arguments.
func (c *carrier) split(k int, g *ad.Graph, args []ad.Ref) []ad.Ref {
	s, body, p := &c.s, c.s.Body, c.path()
	in, out := body.Inputs[k], body.Outputs[k]
	read := in // or in another shape
	for i, n := range body.Nodes {
		if n.Op == ad.OpReshape && n.Args[0] == in && p.readers[i] == 1 {
			read = ad.Ref(i)
		}
	}
	alone := p.readers[in] == 1 && p.readers[out] == 1
	if n := &body.Nodes[out]; n.Op == ad.OpReshape {
		out = n.Args[0]
		alone = alone && p.readers[out] == 1
	}
	if !alone || !sums(&body.Nodes[out]) {
		return args
	}
	terms := p.terms(out)
	last := latestOf(terms)
	late := terms[last]
	rest := slices.Delete(slices.Clone(terms), last, last+1)
	if late.minus || p.known(slices.Clone(rest)) > late.time-sumCycles || !p.waits[read] {
		return args
	}
	to := c.o.empty()
	w := ad.NewRewriter(body, to)
	w.Keep = mustRun
	for _, r := range body.Inputs[:s.Carries] {
		w.Input(r)
	}
	shape := body.Type(read).Shape
	w.Put(read, to.Add(to.Reshape(w.At(in), shape), to.Reshape(to.Input(body.Type(in)), shape)))
	for _, r := range body.Inputs[s.Carries:] {
		w.Input(r)
	}
	w.Run(body.Live(body.Outputs, true))
	for i := range rest {
		rest[i].r = w.At(rest[i].r)
	}
	sum := addIn(to, rest)
	if sum.minus {
		sum.r = to.Neg(sum.r)
	}
	for i, r := range body.Outputs {
		switch {
		case i == k:
			to.Output(to.Reshape(sum.r, body.Type(in).Shape))
		default:
			to.Output(w.At(r))
		}
		if i == s.Carries-1 {
			to.Output(to.Reshape(w.At(late.r), body.Type(in).Shape))
		}
	}
	c.used = slices.Insert(c.used, s.Carries, true)
	s.Body = to
	s.Carries++
	return slices.Insert(slices.Clone(args), s.Carries-1, g.Broadcast(g.Const(0), body.Type(in).Shape))
}
