package ad

import "slices"

// While runs Body as long as Cond's output is not 0; the number of trips is known only at run time.
// The arguments of an OpWhile node are Carries initial values and any number of captured values.
// Cond and Body take the carried and the captured values as inputs, without lanes. Cond has one
// scalar output. Body's outputs are the next carried values, then Outs values that are kept, and
// Sums values that are added up over the trips. Side effects of both are carried out in order. With
// lanes, every lane makes its own trips.
//
// All shapes are static, whatever the number of trips. For the derivative, the loop stores up to
// Snapshots (even, at least 2) snapshots of the carried values. Row j of the history holds the
// carried values before trip j·stride, where stride starts at 1. When the history is full, every
// other row is dropped and stride doubles. Unused rows hold 0. The first row holds the initial
// values, so after at least one trip the first ⌈trips/stride⌉ rows are in use. Row j of a kept
// value is that of trip j·stride. Only bounded loops keep values.
//
// The node's results are the final carried values, the number of trips, the histories of the
// carried values (first dimension Snapshots), stride, the kept values (with as many rows), and the
// sums.
type While struct {
	Cond, Body          *Graph
	Carries, Outs, Sums int
	Snapshots           int

	// Bounded says that the condition ends the loop after at most Snapshots trips. Its derivative
	// reads the history and the kept values instead of running trips again.
	Bounded bool

	// derived marks a loop that was built as part of a derivative. It makes few trips, so a simpler
	// derivative, one trip at a time, is enough.
	derived bool
}

// Layout describes the loop.
func (w *While) Layout() Layout {
	return Layout{Control: Tested, Bodies: []*Graph{w.Cond, w.Body}, Carries: w.Carries, Outs: w.Outs, Sums: w.Sums,
		Snapshots: w.Snapshots, Bounded: w.Bounded,
		Results: []Run{{Final, 0, w.Carries}, {Trips, 0, 1}, {History, 0, w.Carries}, {Stride, 0, 1},
			{Kept, w.Carries, w.Outs}, {Sum, w.Carries + w.Outs, w.Sums}}}
}

// With returns a loop with layout l.
func (w *While) With(l Layout) RegionAttr {
	return &While{Cond: l.Bodies[0], Body: l.Bodies[1], Carries: l.Carries, Outs: l.Outs, Sums: l.Sums,
		Snapshots: l.Snapshots, Bounded: l.Bounded, derived: w.derived}
}

// Results returns the types of the results, in order.
func (w *While) Results() []Type { return resultTypes(w) }

func whileExample(g *Graph, x Ref) Ref {
	cond, body := NewGraph(), NewGraph()
	c := cond.Input(Scalar)
	cond.Input(Scalar)
	cond.Output(cond.Less(cond.Const(0.1), c))
	c, a := body.Input(Scalar), body.Input(Scalar)
	body.Output(body.Mul(c, body.Do(OpInvLogit, nil, a)))
	body.Output(body.Square(c))
	l := g.Lane(g.Slice(x, 0, []int{2}))
	args := []Ref{g.Exp(l), g.Slice(x, 2, nil)}
	r := g.DoWhile(&While{Cond: cond, Body: body, Carries: 1, Sums: 1, Snapshots: 2}, args)
	keeps := &While{Cond: cond, Body: body.clone(), Carries: 1, Outs: 1, Snapshots: 64, Bounded: true}
	kept := g.Kept(g.DoWhile(keeps, args), 0)
	return g.Unlane(g.Add(g.Mul(g.Final(r, 0), g.SumOf(r, 0)), g.Sum(g.Mul(kept, kept))))
}

// finalAt and the functions below return the position of a result in Results.
func (w *While) finalAt(i int) int   { return i }
func (w *While) tripsAt() int        { return w.Carries }
func (w *While) historyAt(i int) int { return w.Carries + 1 + i }
func (w *While) strideAt() int       { return 2*w.Carries + 1 }
func (w *While) outAt(i int) int     { return 2*w.Carries + 2 + i }
func (w *While) sumAt(i int) int     { return 2*w.Carries + 2 + w.Outs + i }

// DoWhile adds a loop; see While for the arguments, and Result, Final, Trips and
// SumOf for its results.
func (g *Graph) DoWhile(w *While, args []Ref) Ref { return g.Do(OpWhile, w, args...) }

// Trips returns the number of times that the body of a While ran.
func (g *Graph) Trips(while Ref) Ref {
	return g.Result(while, g.Nodes[while].Attr.(*While).tripsAt())
}

// loop adds a derived While. cond and body build its graphs from the carried and captured values.
func (g *Graph) loop(carried, captured []Ref, sums int,
	cond func(b *Graph, c, v []Ref) Ref, body func(b *Graph, c, v []Ref) []Ref) Ref {
	args := append(append([]Ref(nil), carried...), captured...)
	open := func() (b *Graph, c, v []Ref) {
		b = g.Sibling()
		b.site = g.site
		in := make([]Ref, len(args))
		for i, a := range args {
			in[i] = b.Input(core(g.Type(a)))
		}
		return b, in[:len(carried)], in[len(carried):]
	}
	w := &While{Carries: len(carried), Sums: sums, Snapshots: DefaultSnapshots, derived: true}
	var c, v []Ref
	w.Cond, c, v = open()
	w.Cond.Output(cond(w.Cond, c, v))
	w.Body, c, v = open()
	for _, r := range body(w.Body, c, v) {
		w.Body.Output(r)
	}
	return g.DoWhile(w, args)
}

// active marks the carried values that depend on the needed arguments, after any trip. The others
// have no derivative.
func (w *While) active(need []bool) []bool {
	return activeCarries(w.Body, w.Carries, need)
}

// nested returns the depth of nested loops, including w. Loops built by derivatives do not count.
func (w *While) nested() int {
	var deepest func(g *Graph) int
	deepest = func(g *Graph) int {
		most := 0
		for i := range g.Nodes {
			inner := 0
			for _, b := range g.Nodes[i].Bodies() {
				inner = max(inner, deepest(b))
			}
			if w, ok := g.Nodes[i].Attr.(*While); ok && !w.derived {
				inner++
			}
			most = max(most, inner)
		}
		return most
	}
	return 1 + deepest(w.Body)
}

// puller holds the values that the derivative of a loop needs, in the graph in which the derivative
// is built.
type puller struct {
	w             *While
	need          []bool // for each argument, whether its adjoint is needed
	active        []bool // for each carried value, whether it has a derivative
	left          []bool // for each output of the body, whether it may belong to a side not taken
	trips, stride Ref
	hist          []Ref
	kept          []Ref // the kept values
	captured      []Ref
	final         []Ref // adjoints of the final values, if active; else None
	begun         []Ref // adjoints so far of captured arrays, if trips add to elements; else None
	histAdj       []Ref // adjoints of the histories; None: 0
	keptAdj       []Ref // adjoints of the kept values; None: 0
	sums          []Ref // adjoints of the sums; None: 0
}

// each returns a copy of the puller in which every value r is replaced by f(r).
func (p *puller) each(f func(r Ref) Ref) *puller {
	q := &puller{w: p.w, need: p.need, active: p.active, left: p.left, trips: f(p.trips), stride: f(p.stride)}
	all := func(rs []Ref) []Ref {
		out := make([]Ref, len(rs))
		for i, r := range rs {
			out[i] = None
			if r != None {
				out[i] = f(r)
			}
		}
		return out
	}
	q.hist, q.kept, q.captured, q.final, q.begun = all(p.hist), all(p.kept), all(p.captured), all(p.final), all(p.begun)
	q.histAdj, q.keptAdj, q.sums = all(p.histAdj), all(p.keptAdj), all(p.sums)
	return q
}

// refs returns all values, in the order in which each visits them.
func (p *puller) refs() []Ref {
	var rs []Ref
	p.each(func(r Ref) Ref { rs = append(rs, r); return r })
	return rs
}

// at returns the puller for a sub-graph whose inputs v have the puller's values.
func (p *puller) at(v []Ref) *puller {
	k := -1
	return p.each(func(Ref) Ref { k++; return v[k] })
}

// row returns row r of the histories xs; None stays None.
func (p *puller) row(b *Graph, xs []Ref, r Ref) []Ref {
	out := make([]Ref, len(xs))
	for i, x := range xs {
		out[i] = None
		if x != None {
			out[i] = b.takeRow(x, r)
		}
	}
	return out
}

// takeRow returns the part of x at the computed position r of its first dimension.
func (g *Graph) takeRow(x, r Ref) Ref {
	t := core(g.Type(x))
	t.Shape = t.Shape[1:]
	at := make([]float64, t.Size())
	for i := range at {
		at[i] = float64(i)
	}
	return g.Take(x, g.Add(g.ConstArray(t, at), g.Scale(float64(t.Size()), r)))
}

// adjoint builds the adjoint of a loop: a loop over its trips from the last to the first, which
// carries the adjoints of the carried values. If at most two trips lie between snapshots, every
// step rebuilds the carried values from the last snapshot. Otherwise the backward loop is over
// snapshots: each step reruns the trips from one snapshot to the next, with new snapshots, and
// pulls back through this shorter loop. So up to Snapshots² trips are rerun once rather than many
// times. Adjoints of the history are added at the trips that its values come from. A
// bounded loop runs no trip again: each step reads what the trip kept, and its row of the history.
//
// The adjoint of a captured array of which trips read elements is carried, and each step adds to
// elements of it.
//
// Both variants are built, because the number of trips is not known yet, and both contain the
// derivatives of inner loops. To keep derivatives from doubling with each level, deeply nested
// loops get only the loop over snapshots, which is right for any number of trips.
func (w *While) adjoint(g *Graph, n *Node, r Ref, of []Ref, left, need []bool, sofar *accrued) []Ref {
	ts := w.Results()
	p := &puller{w: w, need: need, active: w.active(need), left: n.untakenOutputs(left),
		trips: g.Result(r, w.tripsAt()), stride: g.Result(r, w.strideAt()), captured: n.Args[w.Carries:]}
	layout := w.Layout()
	for i := range w.Carries {
		p.hist = append(p.hist, None)
		if !w.Bounded || !layout.ReadAsKept(i) {
			p.hist[i] = g.Result(r, w.historyAt(i))
		}
		f, h := None, None
		if p.active[i] {
			if f = of[w.finalAt(i)]; f == None {
				f = g.Expand(g.Const(0), Type{Shape: ts[w.finalAt(i)].Shape})
			}
			h = of[w.historyAt(i)]
		}
		p.final, p.histAdj = append(p.final, f), append(p.histAdj, h)
	}
	for i := range w.Outs {
		p.kept, p.keptAdj = append(p.kept, g.Result(r, w.outAt(i))), append(p.keptAdj, of[w.outAt(i)])
	}
	for i := range w.Sums {
		p.sums = append(p.sums, of[w.sumAt(i)])
	}
	for i := w.Carries; i < len(n.Args); i++ {
		b := Ref(None)
		switch {
		case !need[i] || !w.Body.readInParts(w.Body.Inputs[i]):
		case sofar.goesOn(g, n, i):
			b = sofar.refs[i]
		default:
			b = g.Expand(g.Const(0), core(g.Type(n.Args[i])))
		}
		p.begun = append(p.begun, b)
	}
	args := p.refs()
	build := func(pull func(*puller, *Graph) []Ref) *Graph {
		b := g.Sibling()
		b.site = g.site
		in := make([]Ref, len(args))
		for i, a := range args {
			in[i] = b.Input(core(g.Type(a)))
		}
		for _, r := range pull(p.at(in), b) {
			b.Output(r)
		}
		return b
	}
	var res []Ref
	if w.Bounded {
		res = g.Inline(build((*puller).byLog), args, false)
	} else if w.derived {
		res = g.Inline(build((*puller).byTrips), args, false)
	} else if w.nested() > maxPulledTwice {
		res = g.Inline(build((*puller).bySnapshots), args, false)
	} else {
		near := build((*puller).byTrips)
		f := &If{Then: near, Else: build((*puller).bySnapshots)}
		r := g.Do(OpIf, f, append([]Ref{g.Do(OpLessEqual, nil, p.stride, g.Const(2))}, args...)...)
		for i := range near.Outputs {
			res = append(res, g.Result(r, i))
		}
	}
	adjs := make([]Ref, len(n.Args))
	for i := range adjs {
		adjs[i] = None
	}
	for k, i := range p.wanted() {
		adjs[i] = g.reduceLanes(res[k], n.Args[i])
		sofar.included[i] = i >= w.Carries && p.begun[i-w.Carries] != None && sofar.goesOn(g, n, i)
	}
	return adjs
}

// wanted lists the arguments that have an adjoint: first those whose adjoint the backward loop
// carries, which are active carried values and captured arrays to whose adjoint it adds.
func (p *puller) wanted() (list []int) {
	for i, a := range p.active {
		if a {
			list = append(list, i)
		}
	}
	for _, carried := range []bool{true, false} {
		for i, b := range p.begun {
			if at := p.w.Carries + i; p.need[at] && carried == (b != None) {
				list = append(list, at)
			}
		}
	}
	return list
}

// backward adds the backward loop. It counts down to 0 and carries the adjoints. For each count,
// with k the count minus 1, start returns the carried values from which trips are rerun, and the
// adjoints of the history that are added there. run reruns the trips in a separate graph, so that
// backpropagation ends at the values of start. The results are the adjoints of the active initial
// values and of the needed captured values.
func (p *puller) backward(g *Graph, count Ref,
	start func(b *Graph, q *puller, k Ref) (from, hist []Ref),
	run func(b *Graph, q *puller, k Ref, from []Ref) (outs, sums []Ref)) []Ref {
	carried := []Ref{count}
	for _, f := range slices.Concat(p.final, p.begun) {
		if f != None {
			carried = append(carried, f)
		}
	}
	wanted := p.wanted()
	sums := len(wanted) - len(carried) + 1
	// All other values are constant in the loop.
	fixed := *p
	fixed.final, fixed.begun = nil, nil
	r := g.loop(carried, fixed.refs(), sums,
		func(b *Graph, c, v []Ref) Ref { return b.Less(b.Const(0), c[0]) },
		func(b *Graph, c, v []Ref) []Ref {
			k := b.Sub(c[0], b.Const(1))
			from, hist := start(b, fixed.at(v), k)

			// The backpropagation is a function of k, from, the carried adjoints and the constant
			// values.
			pull := b.Sibling()
			pull.site = b.site
			args := append(append([]Ref{k}, from...), append(c[1:len(c):len(c)], v...)...)
			in := make([]Ref, len(args))
			for i, a := range args {
				in[i] = pull.Input(b.Type(a))
			}
			from = in[1 : 1+len(from)]
			so, q := in[1+len(from):][:len(c)-1], fixed.at(in[len(in)-len(v):])
			outs, sumOuts := run(pull, q, in[0], from)
			seeds := q.row(pull, q.keptAdj, in[0])
			all := append(slices.Repeat([]Ref{None}, p.w.Carries), append(seeds, q.sums...)...)
			wrt, before := make([]Ref, len(wanted)), slices.Repeat([]Ref{None}, len(wanted))
			for j, i := range wanted {
				switch {
				case i < p.w.Carries:
					wrt[j], all[i] = from[i], so[j]
				case j < len(so):
					wrt[j], before[j] = q.captured[i-p.w.Carries], so[j]
				default:
					wrt[j] = q.captured[i-p.w.Carries]
				}
			}
			for j, d := range pull.backprop(append(outs, sumOuts...), all, wrt, p.left, before) {
				if d == None {
					d = pull.Const(0)
				}
				pull.Output(pull.Broadcast(d, pull.Type(wrt[j]).Shape))
			}
			if p.w.Bounded {
				recalled := make([]checkpoint, 0, p.w.Outs)
				for i := range p.w.Outs {
					if p.w.Body.Checkpointable(p.w.Body.Outputs[p.w.Carries+i]) {
						recalled = append(recalled, checkpoint{outs[p.w.Carries+i], from[p.w.Carries+i]})
					}
				}
				pull = pull.checkpointingAll(recalled)
			}
			res := append([]Ref{k}, b.Inline(pull, args, false)...)
			for j, i := range wanted {
				if i < p.w.Carries && hist[i] != None {
					res[1+j] = b.Add(res[1+j], hist[i])
				}
			}
			return res
		})
	var res []Ref
	for i := range carried[1:] {
		res = append(res, g.Final(r, 1+i))
	}
	for i := range sums {
		res = append(res, g.SumOf(r, i))
	}
	return res
}

// again reruns the trips from number start up to, but excluding, end; from has the carried values
// at start.
func (p *puller) again(b *Graph, start, end Ref, from []Ref, sums int) Ref {
	w := p.w
	return b.loop(append([]Ref{start}, from...), append([]Ref{end}, p.captured...), sums,
		func(b *Graph, c, v []Ref) Ref { return b.Less(c[0], v[0]) },
		func(b *Graph, c, v []Ref) []Ref {
			outs := b.inline(w.Body, append(append([]Ref(nil), c[1:]...), v[1:]...), w.Body.Outputs[:w.Carries+sums], false)
			return append([]Ref{b.Add(c[0], b.Const(1))}, outs...)
		})
}

// finals returns the carried values at the end of the loop that again returned.
func (p *puller) finals(b *Graph, r Ref) []Ref {
	outs := make([]Ref, p.w.Carries)
	for i := range outs {
		outs[i] = b.Final(r, 1+i)
	}
	return outs
}

// byTrips is the backward loop over trips: it backpropagates through one trip at a time.
func (p *puller) byTrips(g *Graph) []Ref {
	return p.backward(g, p.trips,
		func(b *Graph, q *puller, k Ref) (from, hist []Ref) {
			row := b.Do(OpFloor, nil, b.Div(k, q.stride))
			first := b.Mul(row, q.stride)
			from = q.finals(b, q.again(b, first, k, q.row(b, q.hist, row), 0))
			hist = q.row(b, q.histAdj, row)
			for i, h := range hist {
				if h != None {
					hist[i] = b.Select(b.Equal(first, k), h, b.Const(0))
				}
			}
			return from, hist
		},
		func(b *Graph, q *puller, k Ref, from []Ref) (outs, sums []Ref) {
			all := b.Inline(q.w.Body, append(append([]Ref(nil), from...), q.captured...), false)
			return all[:q.w.Carries:q.w.Carries], all[q.w.Carries:]
		})
}

// byLog is the backward loop over the trips of a bounded loop. Carried arrays whose
// elements are kept where they are read need no values.
func (p *puller) byLog(g *Graph) []Ref {
	return p.backward(g, p.trips,
		func(b *Graph, q *puller, k Ref) (from, hist []Ref) {
			from = append(q.row(b, q.hist, k), q.row(b, q.kept, k)...)
			for i := range q.w.Carries {
				if from[i] == None {
					from[i] = b.Expand(b.Const(0), q.w.Body.Type(q.w.Body.Inputs[i]))
				}
			}
			return from, q.row(b, q.histAdj, k)
		},
		func(b *Graph, q *puller, k Ref, from []Ref) (outs, sums []Ref) {
			all := b.Inline(q.w.Body, append(slices.Clone(from[:q.w.Carries]), q.captured...), false)
			at := q.w.Carries + q.w.Outs
			return all[:at:at], all[at:]
		})
}

// bySnapshots is the backward loop over snapshots: it backpropagates through the trips from one
// snapshot to the next.
func (p *puller) bySnapshots(g *Graph) []Ref {
	rows := g.Do(OpCeil, nil, g.Div(p.trips, p.stride))
	return p.backward(g, rows,
		func(b *Graph, q *puller, k Ref) (from, hist []Ref) {
			return q.row(b, q.hist, k), q.row(b, q.histAdj, k)
		},
		func(b *Graph, q *puller, k Ref, from []Ref) (outs, sums []Ref) {
			first := b.Mul(k, q.stride)
			r := q.again(b, first, b.Do(OpMin, nil, b.Add(first, q.stride), q.trips), from, q.w.Sums)
			for i := range q.w.Sums {
				sums = append(sums, b.SumOf(r, i))
			}
			return q.finals(b, r), sums
		})
}
