package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// flatten turns loops within loops into one while loop if both use elements of the same long array.
// Only a while loop can keep a log of what its trips read (keepLogs); the derivative of the outer
// loop would have a copy of the array for each of its iterations.
//
// The body of the outer loop is cut at its while loops into pieces. A trip of the new loop, which a
// number called the phase selects, runs a piece or makes one trip of an inner loop:
//
//	phase 0: the piece before the first inner loop; then phase 1
//	phase j: one trip of inner loop j while its condition holds; else the piece after it, then
//	         phase j+1. The last piece begins the next iteration (phase 0) or ends the loop (-1).
//
// What a piece computes and later ones read is in slots, the carried values of the new loop. A long
// array stays in the slot of the carried array that it was made from, so that it changes in place.
type flatten struct {
	l    ad.Layout // the outer loop
	body *ad.Graph
	used []bool // results of the outer loop that are read

	inner []ad.Ref         // the inner while loops, in order
	defs  []int            // by node: the piece that computes it; free if all pieces can
	live  [][]ad.Ref       // by phase: values of earlier pieces that this phase or later ones read
	slot  []map[ad.Ref]int // by phase: slots of these values
	loops [][]int          // by phase: slots of the carried values of its inner loop
	kept  map[int]int      // by result of the outer loop: the slot of a history or a kept value
	types []ad.Type        // of the slots
	step  int              // slot of the step, or of the number of trips
	phase int              // slot of the phase
}

// free marks nodes that every piece can compute: constants, captured values, and slices of streams.
const free = -1

// flattened returns a while loop that does what region n does, and how it was made; nil if n is no
// loop around while loops that use its arrays. used says which results are read.
func flattened(g *ad.Graph, n *ad.Node, attr any, used []bool) (*ad.While, *flatten) {
	a, ok := attr.(ad.RegionAttr)
	if !ok {
		return nil, nil
	}
	l := a.Layout()
	if l.Control == ad.Chosen || n.Type.Lanes > 0 || n.Draws() || l.Control == ad.Counted && l.Steps == 0 {
		return nil, nil
	}
	l.WithRepeated(flattenWithin(l.Repeated()))
	f := &flatten{l: l, body: l.Repeated(), used: used, kept: map[int]int{}}
	if !f.cut() {
		return nil, nil
	}
	f.assign()
	return f.loop(g), f
}

// flattenWithin flattens loops in the body of a loop.
func flattenWithin(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpWhile) {
		return g
	}
	made := map[ad.Ref]*flatten{}
	results := loopnest.UsedResults(g, g.Live(g.Outputs, true))
	return rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op == ad.OpResult && made[n.Args[0]] != nil {
			return w.To.Result(args[0], made[n.Args[0]].place(n.ResultIndex()))
		}
		if c := n.Layout().Control; c == ad.Counted || c == ad.Tested {
			if loop, f := flattened(w.To, n, attr, results[r]); loop != nil {
				made[r] = f
				return w.To.DoWhile(loop, f.args(w.To, args))
			}
		}
		return w.Same(n, attr, args)
	})
}

// cut finds the inner loops and the piece of each node. It reports false if there are no inner
// loops, or results of the loops are read that a flat loop does not have.
func (f *flatten) cut() bool {
	b := f.body
	live := b.Live(b.Outputs, true)
	results := loopnest.UsedResults(b, live)
	f.defs = make([]int, len(b.Nodes))
	for i := range f.l.Carries {
		if f.root(b.Inputs[i]) != i {
			return false
		}
	}
	for k, r := range b.Inputs {
		if k >= f.l.Carries {
			f.defs[r] = free
		}
	}
	for i := range b.Nodes {
		n, r := &b.Nodes[i], ad.Ref(i)
		switch {
		case !live[i] || n.Op == ad.OpInput:
			continue
		case n.Op == ad.OpConst:
			f.defs[i] = free
			continue
		}
		if n.Layout().Control == ad.Tested && n.Type.Lanes == 0 && f.usesLong(n) {
			l := n.Layout()
			for k, p := range l.Parts() {
				if results[r][k] && p.From != ad.Final {
					return false
				}
			}
			f.inner = append(f.inner, r)
		}
		f.defs[i] = len(f.inner)
		if n.Op == ad.OpResult && f.defs[n.Args[0]] != free {
			f.defs[i] = f.defs[n.Args[0]]
		}
	}
	for k, p := range f.l.Parts() {
		switch {
		case !f.used[k]:
		case p.From == ad.Stride, f.l.Control == ad.Tested && (p.From == ad.History || p.From == ad.Kept):
			return false
		case p.From != ad.Final && p.From != ad.Trips && b.Type(b.Outputs[p.Output]).Size() >= minLogged:
			return false
		}
	}
	return len(f.inner) > 0
}

// usesLong reports whether a region uses a carried array of the outer loop that is so long that a
// log takes less time than its copies.
func (f *flatten) usesLong(n *ad.Node) bool {
	least := minFlattened
	if slices.ContainsFunc(n.Bodies(), func(g *ad.Graph) bool { return has(g, ad.OpWhile) }) {
		least = minFlattenedLoops
	}
	return slices.ContainsFunc(n.Args, func(a ad.Ref) bool { return f.body.Type(a).Total() >= least && f.root(a) >= 0 })
}

func (f *flatten) long(r ad.Ref) bool { return f.body.Type(r).Total() >= minLogged }

// root returns the carried value of the outer loop of which array r is a version; -1: of none.
func (f *flatten) root(r ad.Ref) int {
	for {
		n := &f.body.Nodes[r]
		switch n.Op {
		case ad.OpInput:
			if k := slices.Index(f.body.Inputs, r); k < f.l.Carries {
				return k
			}
			return -1
		case ad.OpReplace, ad.OpAddAt, ad.OpReshape:
			r = n.Args[0]
		case ad.OpResult:
			m := &f.body.Nodes[n.Args[0]]
			k := versionOf(m, n.ResultIndex())
			if k < 0 {
				return -1
			}
			r = m.Args[k]
		default:
			return -1
		}
	}
}

// versionOf returns the argument of region n of which result i is a version; -1 if there is none.
func versionOf(n *ad.Node, i int) int {
	l := n.Layout()
	p, _ := l.Part(i)
	switch p.From {
	case ad.Final:
		return p.Output
	case ad.Taken:
		at := -1
		for _, b := range l.Bodies {
			r := b.Outputs[p.Output]
			for b.Nodes[r].Op != ad.OpInput {
				m := &b.Nodes[r]
				switch {
				case m.Op == ad.OpReplace || m.Op == ad.OpAddAt || m.Op == ad.OpReshape:
					r = m.Args[0]
				case m.Op == ad.OpResult && versionOf(&b.Nodes[m.Args[0]], m.ResultIndex()) >= 0:
					r = b.Nodes[m.Args[0]].Args[versionOf(&b.Nodes[m.Args[0]], m.ResultIndex())]
				default:
					return -1
				}
			}
			k := l.First() + slices.Index(b.Inputs, r)
			if at >= 0 && at != k {
				return -1
			}
			at = k
		}
		return at
	}
	return -1
}

// assign finds what later pieces read and gives it slots. The first slots are the carried values of
// the outer loop.
func (f *flatten) assign() {
	b, phases := f.body, len(f.inner)+1
	last := map[ad.Ref]int{} // the last phase that reads a value
	read := func(r ad.Ref, phase int) {
		if f.defs[r] != free && phase > f.defs[r] {
			last[r] = max(last[r], phase)
		}
	}
	live := b.Live(b.Outputs, true)
	for i := range b.Nodes {
		if n := &b.Nodes[i]; live[i] && n.Op != ad.OpResult {
			at := slices.Index(f.inner, ad.Ref(i))
			for k, a := range n.Args {
				switch {
				case at < 0:
					read(a, f.defs[i])
				case k < n.Layout().Carries: // read by the piece before the loop
					read(a, f.defs[i]-1)
				default:
					read(a, f.defs[i])
				}
			}
		} else if live[i] && !slices.Contains(f.inner, n.Args[0]) {
			read(n.Args[0], f.defs[i])
		}
	}
	for _, r := range b.Outputs[:f.l.Carries] {
		read(r, phases-1)
	}
	for i := range f.l.Carries {
		f.types = append(f.types, b.Type(b.Inputs[i]))
	}
	own := func(t ad.Type) int {
		f.types = append(f.types, t)
		return len(f.types) - 1
	}
	f.step, f.phase = own(ad.Scalar), own(ad.Scalar)
	fixed := map[ad.Ref]int{} // slots of short values
	for i := range f.l.Carries {
		if r := b.Inputs[i]; !f.long(r) {
			fixed[r] = i
		}
	}
	f.live, f.slot, f.loops = make([][]ad.Ref, phases), make([]map[ad.Ref]int, phases), make([][]int, phases)
	for p := 1; p < phases; p++ {
		w := &b.Nodes[f.inner[p-1]]
		taken := map[int]bool{}
		f.slot[p] = map[ad.Ref]int{}
		for i := range b.Nodes {
			if r := ad.Ref(i); last[r] >= p && f.defs[r] < p {
				f.live[p] = append(f.live[p], r)
			}
		}
		for k, a := range w.Args[:w.Layout().Carries] {
			s := f.root(a)
			r := ad.Ref(ad.None)
			if s >= 0 {
				r = b.Inputs[s]
			}
			if s < 0 || taken[s] || !b.Type(r).Equal(b.Type(a)) || !f.long(a) && (r != a || last[r] >= p) {
				s = own(b.Type(a))
			}
			taken[s] = true
			f.loops[p] = append(f.loops[p], s)
			if x := f.final(f.inner[p-1], k); x != ad.None && !f.long(x) {
				fixed[x] = s
			}
		}
		for _, r := range slices.Backward(f.live[p]) {
			s, known := fixed[r]
			if !known && f.long(r) {
				if s = f.root(r); s >= 0 && !taken[s] && b.Type(b.Inputs[s]).Equal(b.Type(r)) {
					known = true
				}
			}
			if !known {
				t := b.Type(r)
				if t.Lanes > 0 {
					t = ad.Type{Shape: append([]int{t.Lanes}, t.Shape...)}
				}
				s = own(t)
				fixed[r] = s
			}
			taken[s] = true
			f.slot[p][r] = s
		}
	}
	for k, p := range f.l.Parts() {
		if f.used[k] && (p.From == ad.History || p.From == ad.Kept) {
			f.kept[k] = own(ad.Type{Shape: append([]int{f.l.Steps}, b.Type(b.Outputs[p.Output]).Shape...)})
		}
	}
}

// final returns the node that reads final value k of an inner loop; None if nothing does.
func (f *flatten) final(loop ad.Ref, k int) ad.Ref {
	for i := range f.body.Nodes {
		if n := &f.body.Nodes[i]; n.Op == ad.OpResult && n.Args[0] == loop && n.ResultIndex() == k {
			return ad.Ref(i)
		}
	}
	return ad.None
}

// loop builds the flat loop.
func (f *flatten) loop(g *ad.Graph) *ad.While {
	captured := len(f.body.Inputs) - f.l.Carries
	open := func() (b *ad.Graph, in []ad.Ref) {
		b = g.Sibling()
		for _, t := range f.types {
			in = append(in, b.Input(t))
		}
		for k := range captured {
			t := f.body.Type(f.body.Inputs[f.l.Carries+k])
			if k < f.l.Streams {
				t.Shape = append([]int{f.l.Steps}, t.Shape...)
			}
			in = append(in, b.Input(t))
		}
		return b, in
	}
	var sums []int
	for k, p := range f.l.Parts() {
		if p.From == ad.Sum && f.used[k] {
			sums = append(sums, p.Output)
		}
	}
	w := &ad.While{Carries: len(f.types), Sums: len(sums), Snapshots: ad.DefaultSnapshots}
	cond, in := open()
	cond.Output(cond.Less(cond.Const(-1), in[f.phase]))
	w.Cond = cond

	body := func(make func(b *ad.Graph, in []ad.Ref) []ad.Ref) *ad.Graph {
		b, in := open()
		for _, r := range make(b, in) {
			b.Output(r)
		}
		return b
	}
	// choose adds a conditional. It takes only values that a branch reads: an array that is passed
	// on without being read would get a derivative of zeros in each trip.
	choose := func(b *ad.Graph, in []ad.Ref, c ad.Ref, then, otherwise *ad.Graph) (rs []ad.Ref) {
		same := func(k int) bool {
			return k < len(f.types) && then.Outputs[k] == then.Inputs[k] && otherwise.Outputs[k] == otherwise.Inputs[k]
		}
		results := make([]int, len(then.Outputs)) // of the conditional; -1: the value does not change
		n := 0
		for k := range results {
			if results[k] = n; same(k) {
				results[k] = -1
			} else {
				n++
			}
		}
		args := []ad.Ref{c}
		var branches [2]*ad.Graph
		var reads [2][]bool
		for i, g := range []*ad.Graph{then, otherwise} {
			g = g.Fork()
			outs := g.Outputs
			g.Outputs = nil
			for k, r := range outs {
				if results[k] >= 0 {
					g.Output(r)
				}
			}
			branches[i], reads[i] = g, g.Live(g.Outputs, true)
		}
		var inputs [2][]ad.Ref
		for k, x := range in {
			t, e := then.Inputs[k], otherwise.Inputs[k]
			if reads[0][t] || reads[1][e] {
				args, inputs[0], inputs[1] = append(args, x), append(inputs[0], t), append(inputs[1], e)
			}
		}
		for i, g := range branches {
			g.SetInputs(inputs[i])
		}
		r := b.Do(ad.OpIf, &ad.If{Then: branches[0], Else: branches[1]}, args...)
		for k, at := range results {
			if at < 0 {
				rs = append(rs, in[k])
			} else {
				rs = append(rs, b.Result(r, at))
			}
		}
		return rs
	}
	piece := func(p int) *ad.Graph {
		return body(func(b *ad.Graph, in []ad.Ref) []ad.Ref { return f.piece(b, in, p, sums) })
	}
	var next *ad.Graph // phases p and later
	for p := len(f.inner); p >= 1; p-- {
		loop := &f.body.Nodes[f.inner[p-1]]
		inner := loop.Attr.(*ad.While)
		args := func(b *ad.Graph, in []ad.Ref) (list []ad.Ref) {
			for _, s := range f.loops[p] {
				list = append(list, in[s])
			}
			for _, a := range loop.Args[inner.Carries:] {
				list = append(list, f.at(b, in, a, p))
			}
			return list
		}
		trip := body(func(b *ad.Graph, in []ad.Ref) []ad.Ref {
			outs := slices.Clone(in[:len(f.types)])
			for k, r := range b.Inline(inner.Body, args(b, in), true)[:inner.Carries] {
				outs[f.loops[p][k]] = r
			}
			for _, o := range sums {
				outs = append(outs, b.Expand(b.Const(0), f.body.Type(f.body.Outputs[o])))
			}
			return outs
		})
		after := piece(p)
		later := next
		next = body(func(b *ad.Graph, in []ad.Ref) []ad.Ref {
			return choose(b, in, b.Inline(inner.Cond, args(b, in), true)[0], trip, after)
		})
		if later != nil {
			here := next
			next = body(func(b *ad.Graph, in []ad.Ref) []ad.Ref {
				return choose(b, in, b.Equal(in[f.phase], b.Const(float64(p))), here, later)
			})
		}
	}
	first := piece(0)
	w.Body = body(func(b *ad.Graph, in []ad.Ref) []ad.Ref {
		return choose(b, in, b.Equal(in[f.phase], b.Const(0)), first, next)
	})
	return w
}

// at returns, in phase p of the flat loop, the value of node r, which an earlier piece has computed
// or which is free.
func (f *flatten) at(b *ad.Graph, in []ad.Ref, r ad.Ref, p int) ad.Ref {
	n := &f.body.Nodes[r]
	if n.Op == ad.OpConst {
		return b.ConstArray(n.Type, n.Data)
	}
	if n.Op == ad.OpInput {
		switch k := slices.Index(f.body.Inputs, r) - f.l.Carries; {
		case k >= f.l.Streams:
			return in[len(f.types)+k]
		case k >= 0:
			return b.Take(in[len(f.types)+k], rowAt(b, n.Type, in[f.step]))
		case p == 0:
			return in[k+f.l.Carries]
		}
	}
	if n.Op == ad.OpResult && p > 0 && n.Args[0] == f.inner[p-1] {
		return in[f.loops[p][n.ResultIndex()]]
	}
	s, ok := f.slot[p][r]
	if !ok {
		return ad.None
	}
	if n.Type.Lanes > 0 {
		return b.Lane(in[s])
	}
	return in[s]
}

// rowAt returns the positions of row t of an array whose rows have type t.
func rowAt(b *ad.Graph, t ad.Type, row ad.Ref) ad.Ref {
	at := make([]float64, t.Size())
	for i := range at {
		at[i] = float64(i)
	}
	return b.Add(b.ConstArray(t, at), b.Scale(float64(t.Size()), row))
}

// piece builds piece p, and returns the slots after it and the terms of the sums.
func (f *flatten) piece(b *ad.Graph, in []ad.Ref, p int, sums []int) []ad.Ref {
	from := f.body
	marked := from.Live(from.Outputs, true)
	for i := range marked {
		n := &from.Nodes[i]
		marked[i] = marked[i] && f.defs[i] == p && n.Op != ad.OpInput && !slices.Contains(f.inner, ad.Ref(i)) &&
			(n.Op != ad.OpResult || !slices.Contains(f.inner, n.Args[0]))
	}
	w := ad.NewRewriter(from, b)
	w.Keep = mustRun
	w.Outside = func(r ad.Ref) ad.Ref { return f.at(b, in, r, p) }
	w.Run(marked)

	outs := slices.Clone(in[:len(f.types)])
	parts := f.l.Parts()
	for k := range parts {
		s, ok := f.kept[k]
		if !ok {
			continue
		}
		r := from.Outputs[parts[k].Output]
		when := max(f.defs[r], 0)
		if parts[k].From == ad.History {
			r, when = from.Inputs[parts[k].Output], 0
		}
		if when == p {
			outs[s] = b.Replace(in[s], w.At(r), rowAt(b, from.Type(r), in[f.step]))
		}
	}
	if p < len(f.inner) {
		for _, r := range f.live[p+1] {
			outs[f.slot[p+1][r]] = b.Unlane(w.At(r))
		}
		for k, a := range from.Nodes[f.inner[p]].Args[:len(f.loops[p+1])] {
			outs[f.loops[p+1][k]] = w.At(a)
		}
		outs[f.phase] = b.Const(float64(p + 1))
	} else {
		var next []ad.Ref
		for i, r := range from.Outputs[:f.l.Carries] {
			outs[i] = w.At(r)
			next = append(next, outs[i])
		}
		goesOn := ad.Ref(ad.None)
		switch {
		case f.l.Control == ad.Tested:
			outs[f.step] = b.Add(in[f.step], b.Const(1))
			goesOn = b.Inline(f.l.Bodies[0], append(next, in[len(f.types):]...), true)[0]
		case f.l.Reverse:
			outs[f.step] = b.Sub(in[f.step], b.Const(1))
			goesOn = b.Less(b.Const(-1), outs[f.step])
		default:
			outs[f.step] = b.Add(in[f.step], b.Const(1))
			goesOn = b.Less(outs[f.step], b.Const(float64(f.l.Steps)))
		}
		outs[f.phase] = b.Select(goesOn, b.Const(0), b.Const(-1))
	}
	for _, o := range sums {
		if r := from.Outputs[o]; max(f.defs[r], 0) == p {
			outs = append(outs, w.At(r))
		} else {
			outs = append(outs, b.Expand(b.Const(0), from.Type(r)))
		}
	}
	return outs
}

// args returns the arguments of the flat loop; args are those of the outer loop.
func (f *flatten) args(g *ad.Graph, args []ad.Ref) []ad.Ref {
	list := slices.Clone(args[:f.l.Carries])
	for _, t := range f.types[f.l.Carries:] {
		list = append(list, g.Expand(g.Const(0), t))
	}
	switch {
	case f.l.Control == ad.Tested:
		list[f.phase] = g.Select(g.Inline(f.l.Bodies[0], args, true)[0], g.Const(0), g.Const(-1))
	case f.l.Reverse:
		list[f.step] = g.Const(float64(f.l.Steps - 1))
	}
	return append(list, args[f.l.Carries:]...)
}

// place returns the result of the flat loop that is result k of the outer loop.
func (f *flatten) place(k int) int {
	parts := f.l.Parts()
	switch p := parts[k]; p.From {
	case ad.Final:
		return p.Output
	case ad.Trips:
		return f.step
	case ad.Sum:
		at := 2*len(f.types) + 2 // behind final values, trips, histories and the stride
		for i := range k {
			if parts[i].From == ad.Sum && f.used[i] {
				at++
			}
		}
		return at
	}
	return f.kept[k]
}
