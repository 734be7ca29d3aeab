package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// minSequences is the number of sequences in a scan from which they become lanes: a vector of
// numbers.
const minSequences = 8

// maxSequenceCode bounds the operations of a step with loops.
const maxSequenceCode = 4 * maxLoopCode

// maxPadding bounds the steps of all lanes, relative to those of all sequences, if these have
// different lengths. A step of eight lanes takes about 2.2 times as long as one of a single
// sequence, and steps without an active lane take no time.
const maxPadding = 3

// separate turns a scan whose steps are several sequences, one after the other, into a scan of one
// sequence in lanes. Binding makes such scans from recurrences in each iteration of a loop around,
// such as the days of each subject. The carried values of the next sequence do not depend on the
// one before, so all sequences go through their steps together, as vectors.
//
// Steps may have loops whose number of trips is known only at run time, such as solvers between the
// events of a subject. Each lane then makes its own trips, and sequences may have different
// lengths. A gradient of a model of 15 patients (5 states, 600 events) takes 4.2 instead of 9.7 ms,
// of the same with 8 states 8.5 instead of 24 (AVX-512).
func separate(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpScan) {
		return g
	}
	g = loopsInScalars(g)
	results := map[ad.Ref][]ad.Ref{}
	return rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op == ad.OpResult && results[n.Args[0]] != nil {
			return results[n.Args[0]][n.ResultIndex()]
		}
		s, ok := attr.(*ad.Scan)
		if !ok || n.Type.Lanes > 0 {
			return w.Same(n, attr, args)
		}
		q := sequencesOf(w.To, s, args, false)
		if q == nil {
			return w.Same(n, attr, args)
		}
		add := q.inLanes
		if q.loops {
			add = q.together
		}
		scan, parts := add(w.To)
		results[r] = parts
		return scan
	})
}

// loopsInScalars replaces arrays by scalars in the steps of scans of several sequences that have
// loops. Lanes run as vectors only on scalars, see vm/nativelanes.go.
func loopsInScalars(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpWhile) {
		return g
	}
	return replaceRegions(g, nil, func(to *ad.Graph, n *ad.Node, attr any, args []ad.Ref, used []bool) (ad.Ref, []ad.Ref, any) {
		if s, ok := attr.(*ad.Scan); ok && n.Type.Lanes == 0 && has(s.Body, ad.OpWhile) && sequencesOf(to, s, args, true) != nil {
			if run, results := scanInScalars(to, s, n, args, used, maxSequenceCode); results != nil && scalarCode(to.Nodes[run].Attr.(*ad.Scan).Body) {
				return run, results, nil
			}
		}
		return ad.None, nil, attr
	})
}

// sequences are the sequences of a scan.
type sequences struct {
	s        *ad.Scan
	args     []ad.Ref
	n, steps int      // number of sequences, and steps of the longest
	first    []int    // first step of each sequence
	loops    bool     // steps have while loops
	next     []ad.Ref // carried values within a sequence
	start    []ad.Ref // streams of the values before the next sequence, or values that are the same for all
}

// sequencesOf returns the sequences of a scan of numbers, or also of arrays; nil if there are too
// few, or if their lengths differ. With loops in the steps they may differ somewhat.
func sequencesOf(g *ad.Graph, s *ad.Scan, args []ad.Ref, arrays bool) *sequences {
	b := s.Body
	if s.Reverse || s.Carries == 0 {
		return nil
	}
	q := &sequences{s: s, args: args}
	whole := len(b.SideEffects) > 0
	for i := range b.Nodes {
		n := &b.Nodes[i]
		switch row := n.Op.Row(); {
		case n.Type.Lanes > 0 || row.OwnLanes || n.Draws():
			return nil
		case row.Class == ad.Region:
			if n.Layout().Control == ad.Counted || !has(b, ad.OpWhile) {
				return nil
			}
			q.loops = true
		case n.Op == ad.OpResult || n.Type.Total() == 1 && (n.Op == ad.OpInput || n.Op == ad.OpConst || n.Op == ad.OpReshape):
		case n.Type.Total() != 1 || row.Class != ad.Elementwise:
			whole = true
		}
	}
	if whole && !arrays && !(q.loops && scalarCode(b)) {
		return nil
	}
	mask := ad.None
	for _, next := range b.Outputs[:s.Carries] {
		n := &b.Nodes[next]
		if n.Op != ad.OpSelect || mask != ad.None && n.Args[0] != mask {
			return nil
		}
		mask = n.Args[0]
		k := q.input(n.Args[1])
		if k < 0 && b.Nodes[n.Args[1]].Op != ad.OpConst || k >= 0 && k < s.Carries {
			return nil
		}
		q.start, q.next = append(q.start, n.Args[1]), append(q.next, n.Args[2])
	}
	k := q.input(mask)
	if k < s.Carries || k >= s.Carries+s.Streams {
		return nil
	}
	starts, ok := g.Value(args[k])
	if !ok {
		return nil
	}
	q.first = []int{0}
	for t, x := range starts {
		if x != 0 {
			q.steps = max(q.steps, t+1-q.first[len(q.first)-1])
			q.first = append(q.first, t+1)
		}
	}
	q.n = len(q.first)
	q.steps = max(q.steps, s.Steps-q.first[q.n-1])
	most := float64(s.Steps)
	if q.loops {
		most *= maxPadding
	}
	if q.first[q.n-1] == s.Steps || q.steps < 2 || q.n < minSequences || float64(q.n*q.steps) > most {
		return nil
	}
	return q
}

// input returns the number of an input of the body; -1 if r is none.
func (q *sequences) input(r ad.Ref) int { return slices.Index(q.s.Body.Inputs, r) }

// inLanes adds the scan in lanes to g. It returns its results in place of those of the old one.
func (q *sequences) inLanes(g *ad.Graph) (scan ad.Ref, results []ad.Ref) {
	s, b := q.s, q.s.Body
	c := *s
	c.Body, c.Steps = g.Sibling(), q.steps
	w := ad.NewRewriter(b, c.Body)
	outputs := slices.Concat(q.next, b.Outputs[s.Carries:])
	live := b.Live(outputs, false)
	var args []ad.Ref
	for i, in := range b.Inputs {
		a := q.args[i]
		switch {
		case i < s.Carries: // the first values of all sequences
			first := g.Concat(g.Reshape(a, []int{1}), q.later(g, i))
			args = append(args, g.Lane(g.Reshape(first, append([]int{q.n}, b.Type(in).Shape...))))
		case !live[in]:
			if i < s.Carries+s.Streams {
				c.Streams--
			}
			continue
		case i < s.Carries+s.Streams:
			args = append(args, g.Lane(g.Reshape(a, append([]int{q.n, q.steps}, b.Type(in).Shape...))))
		default:
			args = append(args, a)
		}
		w.Put(in, c.Body.Input(b.Type(in)))
		live[in] = false
	}
	w.Run(live)
	for _, x := range outputs {
		c.Body.Output(w.At(x))
	}
	scan = g.DoScan(&c, args)
	for i, p := range s.Results() {
		x := g.Result(scan, i)
		switch {
		case i < s.Carries:
			x = g.Slice(g.Unlane(x), q.n-1, p.Shape)
		case i < 2*s.Carries+s.Outs:
			x = g.Reshape(g.Unlane(x), p.Shape)
		default:
			x = g.SumLanes(x)
		}
		results = append(results, x)
	}
	return scan, results
}

// together adds a scan to g whose steps are those of all sequences, in lanes within the step. It
// returns its results in place of those of the old one. Sequences that are done keep what they
// carry.
func (q *sequences) together(g *ad.Graph) (scan ad.Ref, results []ad.Ref) {
	s, b := q.s, q.s.Body
	c := *s
	c.Body, c.Steps = g.Sibling(), q.steps
	outputs := slices.Concat(q.next, b.Outputs[s.Carries:])
	live := b.Live(outputs, true)
	step := c.Body.Sibling()
	w := ad.NewRewriter(b, step)
	w.Keep = mustRun
	row := ad.Type{Shape: []int{q.n}}
	lane := func(shape []int) ad.Ref {
		return c.Body.Lane(c.Body.Reshape(c.Body.Input(row), append([]int{q.n}, shape...)))
	}
	steps, places, active := q.tables()
	going := ad.Ref(ad.None)
	var args, each []ad.Ref // of the scan, and in a step
	for i, in := range b.Inputs {
		a, shape := q.args[i], b.Type(in).Shape
		if i == s.Carries+s.Streams && active != nil {
			args = append(args, g.ConstArray(ad.Type{Shape: []int{q.steps, q.n}}, active))
			going = lane(nil)
			c.Streams++
		}
		switch {
		case i < s.Carries: // the first values of all sequences
			args = append(args, g.Concat(g.Reshape(a, []int{1}), q.later(g, i)))
			each = append(each, lane(shape))
		case i >= s.Carries+s.Streams:
			args = append(args, a)
			each = append(each, c.Body.Input(b.Type(in)))
		case live[in]:
			args = append(args, g.Reshape(g.Gather(g.Reshape(a, []int{s.Steps}), steps), []int{q.steps, q.n}))
			each = append(each, lane(shape))
		default:
			c.Streams--
			continue
		}
		w.Put(in, step.Input(b.Type(in)))
		live[in] = false
	}
	w.Run(live)
	for _, x := range outputs {
		step.Output(w.At(x))
	}
	var values []ad.Ref
	if going == ad.None {
		values = c.Body.Inline(step, each, true)
	} else {
		rest := c.Body.Sibling()
		for _, in := range step.Inputs {
			rest.Input(step.Type(in))
		}
		for k, x := range step.Outputs {
			if k < s.Carries {
				rest.Output(rest.Inputs[k])
			} else {
				rest.Output(rest.ConstArray(step.Type(x), []float64{0}))
			}
		}
		r := c.Body.Do(ad.OpIf, &ad.If{Then: step, Else: rest}, append([]ad.Ref{going}, each...)...)
		if mustRun(&c.Body.Nodes[r]) {
			c.Body.SideEffects = append(c.Body.SideEffects, r)
		}
		for k := range outputs {
			values = append(values, c.Body.Result(r, k))
		}
	}
	for k, y := range values {
		if c.Body.Type(y).Lanes == 0 {
			y = c.Body.Spread(y, q.n)
		}
		if k < s.Carries+s.Outs {
			c.Body.Output(c.Body.Reshape(c.Body.Unlane(y), row.Shape))
		} else {
			c.Body.Output(c.Body.SumLanes(y))
		}
	}
	scan = g.DoScan(&c, args)
	for i, p := range s.Results() {
		x := g.Result(scan, i)
		switch {
		case i < s.Carries:
			x = g.Slice(x, q.n-1, p.Shape)
		case i < 2*s.Carries+s.Outs:
			x = g.Reshape(g.Gather(g.Reshape(x, []int{q.steps * q.n}), places), p.Shape)
		}
		results = append(results, x)
	}
	return scan, results
}

// tables returns the step of each lane at each step in lanes, and the place of each step there. A
// sequence that is done stays at its last step; active is 0 there, and nil if all have equal
// lengths.
func (q *sequences) tables() (steps, places ad.Index, active []float64) {
	from, to := make([]int32, q.steps*q.n), make([]int32, q.s.Steps)
	active = make([]float64, q.steps*q.n)
	equal := true
	for l, first := range q.first {
		end := q.s.Steps
		if l+1 < q.n {
			end = q.first[l+1]
		}
		for k := range q.steps {
			t := first + k
			if at := k*q.n + l; t < end {
				from[at], to[t], active[at] = int32(t), int32(at), 1
			} else {
				from[at], equal = int32(end-1), false
			}
		}
	}
	if equal {
		active = nil
	}
	return ad.Index{Dims: []ad.Dim{{N: len(from), Table: from}}}, ad.Index{Dims: []ad.Dim{{N: len(to), Table: to}}}, active
}

// later returns the values of a carried number before all sequences but the first.
func (q *sequences) later(g *ad.Graph, carried int) ad.Ref {
	shape := []int{q.n - 1}
	k := q.input(q.start[carried])
	switch {
	case k < 0:
		return g.Broadcast(g.Const(q.s.Body.Nodes[q.start[carried]].Data[0]), shape)
	case k >= q.s.Carries+q.s.Streams:
		return g.Broadcast(g.Reshape(q.args[k], nil), shape)
	}
	at := make([]int32, q.n-1)
	for i := range at {
		at[i] = int32(q.first[i+1] - 1)
	}
	return g.Gather(g.Reshape(q.args[k], []int{q.s.Steps}), ad.Index{Dims: []ad.Dim{{N: q.n - 1, Table: at}}})
}
