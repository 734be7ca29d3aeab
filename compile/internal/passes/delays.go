package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// arrayDelays is delay-line recognition. A value that a scan reads many steps after it was computed
// is carried as many numbers, each of which becomes the next one, so that the cost of a step grows
// with the distance. The pass replaces them by one array, and a step reads and writes single
// elements; the distance then costs nothing. Tables whose cells depend on the previous row are such
// scans, over all cells.
func arrayDelays(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpScan) {
		return g
	}
	found := map[ad.Ref][]delay{}
	for i, live := range g.Live(g.Outputs, true) {
		if n := &g.Nodes[i]; live && n.Op == ad.OpScan {
			if list := delaysOf(n.Attr.(*ad.Scan)); len(list) > 0 {
				found[ad.Ref(i)] = list
			}
		}
	}
	if len(found) == 0 {
		return g
	}
	return rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op == ad.OpResult {
			if list := found[n.Args[0]]; list != nil {
				d := delaying{s: g.Nodes[n.Args[0]].Attr.(*ad.Scan), list: list}
				return d.result(w.To, args[0], n.ResultIndex())
			}
		}
		list := found[r]
		if list == nil {
			return w.Same(n, attr, args)
		}
		d := delaying{s: attr.(*ad.Scan), list: list}
		return w.To.DoScan(d.scan(), d.args(w.To, args))
	})
}

// delay is a list of indices of carried values. In each step, each becomes the next one; the first
// is the value from one step ago.
type delay struct{ carries []int }

// delaysOf finds the long delays of a scan.
func delaysOf(s *ad.Scan) (list []delay) {
	if s.Reverse || s.Carries < minDelay {
		return nil
	}
	carried := make(map[ad.Ref]int, s.Carries)
	for k, in := range s.Body.Inputs[:s.Carries] {
		carried[in] = k
	}
	next := make([]int, s.Carries)
	var heads []int
	for k := range next {
		next[k] = -1
	}
	for k, out := range s.Body.Outputs[:s.Carries] {
		if i, ok := carried[out]; !ok {
			heads = append(heads, k)
		} else if next[i] < 0 && i != k {
			next[i] = k
		}
	}
	for _, k := range heads {
		var d delay
		for ; k >= 0; k = next[k] {
			d.carries = append(d.carries, k)
		}
		if len(d.carries) >= minDelay {
			list = append(list, d)
		}
	}
	return list
}

// delaying rewrites a scan with arrays in place of delays. The arguments of the new scan and of its
// body are, in this order: the other carried values, the arrays; the streams, the positions of
// reads, the positions of writes; the captured values.
type delaying struct {
	s     *ad.Scan
	list  []delay
	read  [][2]int // for each read: the delay, and how many steps ago the value was made
	other []int    // carried values that are part of no delay
}

// place returns the delay that a carried value is part of, if any, and how many steps ago its value
// was made.
func (d *delaying) place(carry int) (of, before int) {
	for i, l := range d.list {
		if k := slices.Index(l.carries, carry); k >= 0 {
			return i, k + 1
		}
	}
	return -1, 0
}

// size returns the number of elements of one step of a delay, length its number of steps.
func (d *delaying) size(i int) int   { return d.shape(i).Size() }
func (d *delaying) length(i int) int { return len(d.list[i].carries) }
func (d *delaying) shape(i int) ad.Type {
	return d.s.Body.Type(d.s.Body.Inputs[d.list[i].carries[0]])
}

// scan returns the scan with arrays.
func (d *delaying) scan() *ad.Scan {
	s, from := d.s, d.s.Body
	to := from.Sibling()
	w := ad.NewRewriter(from, to)
	w.Keep = mustRun
	used := make([]bool, len(from.Nodes)) // read by anything but the next value of its delay
	for i, live := range from.Live(from.Outputs, true) {
		if live {
			for _, a := range from.Nodes[i].Args {
				used[a] = true
			}
		}
	}
	for k, r := range from.Outputs {
		if of, before := -1, 0; k < s.Carries {
			if of, before = d.place(k); of >= 0 && before > 1 {
				continue
			}
		}
		used[r] = true
	}
	for k := range s.Carries {
		if of, _ := d.place(k); of < 0 {
			w.Input(from.Inputs[k])
			d.other = append(d.other, k)
		}
	}
	arrays := make([]ad.Ref, len(d.list))
	for i := range d.list {
		arrays[i] = to.Input(ad.Type{Shape: []int{(s.Steps + d.length(i)) * d.size(i)}})
	}
	for _, in := range from.Inputs[s.Carries : s.Carries+s.Streams] {
		w.Input(in)
	}
	var reads []ad.Ref
	for k, in := range from.Inputs[:s.Carries] {
		if of, before := d.place(k); of >= 0 && used[in] {
			d.read = append(d.read, [2]int{of, before})
			reads = append(reads, in)
		}
	}
	for k, in := range reads {
		at := to.Input(d.shape(d.read[k][0]))
		w.Put(in, to.Take(arrays[d.read[k][0]], at))
	}
	writes := make([]ad.Ref, len(d.list))
	for i := range d.list {
		writes[i] = to.Input(d.shape(i))
	}
	for _, in := range from.Inputs[s.Carries+s.Streams:] {
		w.Input(in)
	}
	w.Run(from.Live(from.Outputs, true))
	for _, k := range d.other {
		to.Output(w.At(from.Outputs[k]))
	}
	for i, l := range d.list {
		to.Output(to.Replace(arrays[i], w.At(from.Outputs[l.carries[0]]), writes[i]))
	}
	for _, r := range from.Outputs[s.Carries:] {
		to.Output(w.At(r))
	}
	c := *s
	c.Body, c.Carries, c.Streams = to, len(d.other)+len(d.list), s.Streams+len(reads)+len(writes)
	return &c
}

// args returns the scan's arguments; call it after scan.
func (d *delaying) args(g *ad.Graph, args []ad.Ref) (to []ad.Ref) {
	s := d.s
	for _, k := range d.other {
		to = append(to, args[k])
	}
	for i, l := range d.list {
		var parts []ad.Ref // the oldest first
		for _, k := range slices.Backward(l.carries) {
			parts = append(parts, g.Reshape(args[k], []int{d.size(i)}))
		}
		to = append(to, g.Concat(append(parts, g.Broadcast(g.Const(0), []int{s.Steps * d.size(i)}))...))
	}
	to = append(to, args[s.Carries:s.Carries+s.Streams]...)
	positions := func(i, before int) ad.Ref {
		shape := append([]int{s.Steps}, d.shape(i).Shape...)
		at := make([]float64, s.Steps*d.size(i))
		for p := range at {
			at[p] = float64((d.length(i)-before)*d.size(i) + p)
		}
		return g.ConstArray(ad.Type{Shape: shape}, at)
	}
	for _, r := range d.read {
		to = append(to, positions(r[0], r[1]))
	}
	for i := range d.list {
		to = append(to, positions(i, 0))
	}
	return append(to, args[s.Carries+s.Streams:]...)
}

// result returns result k of the old scan.
func (d *delaying) result(g *ad.Graph, scan ad.Ref, k int) ad.Ref {
	s := d.s
	carries, left := 0, 0 // in the new scan; those in no delay, before this one
	for i := range s.Carries {
		if of, _ := d.place(i); of < 0 {
			carries++
			if i < k%max(s.Carries, 1) {
				left++
			}
		}
	}
	others := carries
	carries += len(d.list)
	if k >= 2*s.Carries {
		return g.Result(scan, k-2*s.Carries+2*carries)
	}
	of, before := d.place(k % s.Carries)
	switch {
	case of < 0 && k < s.Carries:
		return g.Final(scan, left)
	case of < 0:
		return g.History(scan, left)
	}
	whole, shape, n := g.Final(scan, others+of), d.shape(of).Shape, d.size(of)
	if k < s.Carries {
		return g.Slice(whole, (s.Steps+d.length(of)-before)*n, shape)
	}
	return g.Slice(whole, (d.length(of)-before)*n, append([]int{s.Steps}, shape...))
}
