package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// skew is loop skewing. A table whose cells depend on cells before them, in their row and in the
// rows before, is a scan over all cells. The cells of a wavefront do not depend on one another: for
// a cell that reads its neighbours to the left, above and above left, these are the antidiagonals.
// The pass makes a scan over wavefronts, whose lanes are the rows of the table.
//
// At wavefront t, the lane of row i computes the cell in column t - slope·i. If there is no such
// column, it computes the first cell of the table again, which reads nothing that the scan wrote,
// and nothing reads its value. So every number that a lane computes is one that the table has.
//
// If cells depend only on earlier rows, the lanes are the cells of a row (rowwise).
func skew(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpScan) {
		return g
	}
	found := map[ad.Ref]lanedSteps{}
	read := loopnest.UsedResults(g, g.Live(g.Outputs, true))
	for i, live := range g.Live(g.Outputs, true) {
		if live && g.Nodes[i].Op == ad.OpScan {
			if t := tableOf(g, ad.Ref(i), read[ad.Ref(i)]); t != nil {
				found[ad.Ref(i)] = t
			}
		}
	}
	if len(found) == 0 {
		return g
	}
	return rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op == ad.OpResult {
			if t := found[n.Args[0]]; t != nil {
				return t.result(w.To, args[0], w.All(g.Nodes[n.Args[0]].Args), n.ResultIndex())
			}
		}
		if t := found[r]; t != nil {
			return t.scan(w.To, args)
		}
		return w.Same(n, attr, args)
	})
}

// lanedSteps is a scan several steps of which are lanes of one step of another scan.
type lanedSteps interface {
	// scan adds the other scan, with the arguments of the old one.
	scan(g *ad.Graph, args []ad.Ref) ad.Ref
	// result returns result k of the old scan.
	result(g *ad.Graph, scan ad.Ref, args []ad.Ref, k int) ad.Ref
}

// skewing is a scan over the cells of a table.
type skewing struct {
	s             *ad.Scan
	used          []bool // results that something reads
	rows, columns int
	slope         int

	chains [][]int        // carried values: each chain has a value of the last steps
	place  map[int][2]int // for each carried value: its chain, and how many steps ago it was made
	read   []int          // carried values that the body reads
	border map[int]int    // streams that are read only where one of these streams is not 0
	whole  []bool         // chains whose values at all steps are results

	windows []window
	scans   []ad.Ref // over the wavefronts of each window
}

// tableOf returns a scan over the cells of a table, or nil.
func tableOf(g *ad.Graph, r ad.Ref, used []bool) lanedSteps {
	n := &g.Nodes[r]
	s := n.Attr.(*ad.Scan)
	body := s.Body
	if s.Reverse || s.Sums > 0 || n.Type.Lanes > 0 || s.Carries < minRows || s.Steps < minRows*minRows || len(body.SideEffects) > 0 {
		return nil
	}
	t := &skewing{s: s, used: used, chains: chainsOf(s), place: map[int][2]int{}, border: map[int]int{}}
	for c, d := range t.chains {
		for k, carry := range d {
			t.place[carry] = [2]int{c, k + 1}
		}
	}
	if len(t.place) != s.Carries || !t.readers() {
		return nil
	}
	if r := rowwiseOf(g, n, t); r != nil {
		return r
	}
	// Cells that are read are a few rows up and near the same column.
	for _, k := range t.read {
		for up := range maxUp {
			for _, left := range []int{0, -1, 1, -2, 2} {
				c := t.place[k][1] - left
				if c%(up+1) != 0 {
					continue
				}
				if c /= up + 1; c < minRows || s.Steps%c != 0 || s.Steps/c < minRows {
					continue
				}
				if t.rows, t.columns = s.Steps/c, c; t.borders(g, n) {
					return t
				}
			}
		}
	}
	return nil
}

// chainsOf returns the chains of carried values, each of which becomes the next one.
func chainsOf(s *ad.Scan) (list [][]int) {
	carried := make(map[ad.Ref]int, s.Carries)
	for k, in := range s.Body.Inputs[:s.Carries] {
		carried[in] = k
	}
	next := map[int]int{}
	var heads []int
	for k, out := range s.Body.Outputs[:s.Carries] {
		i, ok := carried[out]
		if _, twice := next[i]; !ok {
			heads = append(heads, k)
		} else if !twice && i != k {
			next[i] = k
		}
	}
	for _, k := range heads {
		d := []int{k}
		for {
			n, ok := next[k]
			if !ok {
				break
			}
			d, k = append(d, n), n
		}
		list = append(list, d)
	}
	return list
}

// readers reports whether the body is a function of single numbers, and finds the carried values
// that it reads.
func (t *skewing) readers() bool {
	s, body := t.s, t.s.Body
	index := make(map[ad.Ref]int, len(body.Inputs))
	for k, in := range body.Inputs {
		index[in] = k
	}
	var outs []ad.Ref
	for _, d := range t.chains {
		outs = append(outs, body.Outputs[d[0]])
	}
	for i, r := range body.Outputs[s.Carries:] {
		if t.used[2*s.Carries+i] {
			outs = append(outs, r)
		}
	}
	for i, live := range body.Live(outs, true) {
		n := &body.Nodes[i]
		if !live || n.Op == ad.OpConst {
			continue
		}
		row := n.Op.Row()
		switch {
		case n.Op == ad.OpInput:
			if k := index[ad.Ref(i)]; k < s.Carries {
				t.read = append(t.read, k)
			}
			if k := index[ad.Ref(i)]; n.Type.Size() != 1 && k < s.Carries+s.Streams {
				return false
			}
		case n.Type.Size() != 1 || n.Type.Lanes > 0 || mustRun(n):
			return false
		case n.Op == ad.OpReshape:
		case row.Class != ad.Elementwise || row.OwnLanes || n.Draws():
			return false
		}
	}
	return len(t.read) > 0
}

// borders reports whether each read of a cell outside the table is replaced by a value from outside
// the scan, and whether wavefronts have cells that do not depend on one another.
func (t *skewing) borders(g *ad.Graph, scan *ad.Node) bool {
	s, body := t.s, t.s.Body
	stream := func(r ad.Ref) int {
		if k := slices.Index(body.Inputs, r); k >= s.Carries && k < s.Carries+s.Streams {
			return k
		}
		return -1
	}
	t.slope = 1
	for _, k := range t.read {
		if up, left := t.offset(k); up == 0 && left < 1 || up > maxUp {
			return false
		} else if up > 0 {
			t.slope = max(t.slope, (up-left)/up) // slope·up + left ≥ 1
		}
	}
	if t.fronts() > maxIdle*t.columns {
		return false
	}
	clear(t.border)
	live := body.Live(body.Outputs, true)
	for _, k := range t.read {
		in := body.Inputs[k]
		up, left := t.offset(k)
		for i, n := range body.Nodes {
			if !live[i] || !slices.Contains(n.Args, in) {
				continue
			}
			if n.Op != ad.OpSelect || n.Args[0] == in || n.Args[1] == in {
				return false
			}
			m := stream(n.Args[0])
			if m < 0 {
				return false
			}
			mask, ok := g.Value(scan.Args[m])
			if !ok {
				return false
			}
			for step, inside := range mask {
				row, column := step/t.columns-up, step%t.columns-left
				if inside == 0 && (row < 0 || column < 0 || column >= t.columns) {
					return false
				}
			}
			if o := stream(n.Args[1]); o >= 0 {
				t.border[o] = m
			}
		}
	}
	// A stream is read at the border only if nothing else reads it.
	for o, m := range t.border {
		in := body.Inputs[o]
		for i, n := range body.Nodes {
			if live[i] && slices.Contains(n.Args, in) && (n.Op != ad.OpSelect || n.Args[0] != body.Inputs[m] || n.Args[1] != in || n.Args[2] == in) {
				delete(t.border, o)
			}
		}
		if slices.Contains(body.Outputs, in) {
			delete(t.border, o)
		}
	}
	t.findWhole(g, scan)
	return true
}

// findWhole finds the chains whose values at all steps are results.
func (t *skewing) findWhole(g *ad.Graph, scan *ad.Node) {
	s := t.s
	t.whole = make([]bool, len(t.chains))
	for i, live := range g.Live(g.Outputs, true) {
		if n := &g.Nodes[i]; live && n.Op == ad.OpResult && &g.Nodes[n.Args[0]] == scan {
			if k := n.ResultIndex(); k < 2*s.Carries {
				p := t.place[k%s.Carries]
				t.whole[p[0]] = t.whole[p[0]] || k >= s.Carries || p[1] > 1
			}
		}
	}
}

// offset returns how many rows up and columns to the left a carried value was made.
func (t *skewing) offset(carry int) (up, left int) {
	d := t.place[carry][1]
	up = (d + t.columns/2) / t.columns
	return up, d - up*t.columns
}

// fronts returns the number of wavefronts.
func (t *skewing) fronts() int { return t.slope*(t.rows-1) + t.columns }

// cell returns the step of the cell that the lane of a row computes at a wavefront. in is false if
// there is none.
func (t *skewing) cell(front, row int) (step int, in bool) {
	c := front - t.slope*row
	if c < 0 || c >= t.columns {
		return 0, false
	}
	return row*t.columns + c, true
}

// depths returns for each chain the number of wavefronts that reads go back, and the greatest
// number of rows.
func (t *skewing) depths() (fronts []int, rows int) {
	fronts = make([]int, len(t.chains))
	for c := range fronts {
		fronts[c] = 1
	}
	for _, k := range t.read {
		up, left := t.offset(k)
		c := t.place[k][0]
		fronts[c], rows = max(fronts[c], t.slope*up+left), max(rows, up)
	}
	return fronts, rows
}

// scan adds the scans over wavefronts, one for each window. Their carried values are, for each
// chain, the values of the last wavefronts by row, after those of as many rows as reads go up.
// Their streams are those of the scan over cells, and one that is not 0 where a lane has no cell.
func (t *skewing) scan(g *ad.Graph, args []ad.Ref) ad.Ref {
	t.windows, t.scans = t.split(), nil
	fronts, pad := t.depths()
	size := 0
	for _, n := range fronts {
		size += n
	}
	before := window{}
	for _, w := range t.windows {
		start := make([]ad.Ref, size)
		for i := range start {
			zeros := func(n int) ad.Ref { return g.Broadcast(g.Const(0), []int{n}) }
			if len(t.scans) == 0 {
				start[i] = zeros(pad + w.width())
				continue
			}
			start[i] = g.Slice(g.Final(t.scans[len(t.scans)-1], i), w.lo-before.lo, []int{pad + before.hi - w.lo})
			if more := w.hi - before.hi; more > 0 {
				start[i] = g.Concat(start[i], zeros(more))
			}
		}
		t.scans = append(t.scans, t.within(g, args, w, start))
		before = w
	}
	return t.scans[len(t.scans)-1]
}

// within adds the scan over the wavefronts of a window.
func (t *skewing) within(g *ad.Graph, args []ad.Ref, win window, start []ad.Ref) ad.Ref {
	s, from := t.s, t.s.Body
	to := from.Sibling()
	w := ad.NewRewriter(from, to)
	rows := ad.Type{Shape: []int{win.width()}}
	fronts, pad := t.depths()
	var streams, captures []ad.Ref
	kept := make([][]ad.Ref, len(t.chains))
	for c := range t.chains {
		for range fronts[c] {
			kept[c] = append(kept[c], to.Input(ad.Type{Shape: []int{pad + win.width()}}))
		}
	}
	for k, in := range from.Inputs[s.Carries : s.Carries+s.Streams] {
		x := to.Reshape(to.Lane(to.Input(rows)), from.Type(in).Shape)
		w.Put(in, x)
		streams = append(streams, t.stream(g, args, s.Carries+k, win))
	}
	idle := ad.None
	if len(t.border) > 0 {
		idle = to.Lane(to.Input(rows))
		streams = append(streams, t.table(g, win, func(step int, in bool) float64 {
			if in {
				return 0
			}
			return 1
		}))
	}
	for k, in := range from.Inputs[s.Carries+s.Streams:] {
		w.Put(in, to.Input(from.Type(in)))
		captures = append(captures, args[s.Carries+s.Streams+k])
	}
	for k := range from.Inputs[s.Carries : s.Carries+s.Streams] {
		o := s.Carries + k
		if _, ok := t.border[o]; ok { // lanes without a cell read what the first cell reads
			in := from.Inputs[o]
			first := to.Input(ad.Scalar)
			captures = append(captures, g.Detach(g.Reshape(elementsAt(g, args[o], []int32{0}), nil)))
			w.Put(in, to.Select(to.Reshape(idle, from.Type(in).Shape), to.Broadcast(first, from.Type(in).Shape), w.At(in)))
		}
	}
	for _, k := range t.read {
		up, left := t.offset(k)
		x := to.Slice(kept[t.place[k][0]][t.slope*up+left-1], pad-up, rows.Shape)
		w.Put(from.Inputs[k], to.Reshape(to.Lane(x), from.Type(from.Inputs[k]).Shape))
	}
	flat := func(r ad.Ref) ad.Ref {
		return to.Reshape(to.Unlane(to.Spread(w.Reach(r), win.width())), rows.Shape)
	}
	var heads []ad.Ref
	for c, d := range t.chains {
		x := flat(from.Outputs[d[0]])
		heads = append(heads, x)
		to.Output(to.Concat(to.Broadcast(to.Const(0), []int{pad}), x))
		for _, r := range kept[c][:fronts[c]-1] {
			to.Output(r)
		}
	}
	for i := range s.Outs {
		t.keep(to, flat, i)
	}
	outs := s.Outs
	for c, x := range heads {
		if t.whole[c] {
			to.Output(x)
			outs++
		}
	}
	return g.DoScan(&ad.Scan{Body: to, Carries: len(start), Streams: len(streams), Outs: outs, Steps: win.steps(), Limit: s.Limit, Finite: s.Finite},
		slices.Concat(start, streams, captures))
}

// keep adds an output with a kept value of the old scan, or 0 if nothing reads it.
func (t *skewing) keep(to *ad.Graph, flat func(ad.Ref) ad.Ref, i int) {
	if r := to.Const(0); !t.used[2*t.s.Carries+i] {
		to.Output(r)
		return
	}
	to.Output(flat(t.s.Body.Outputs[t.s.Carries+i]))
}

// table returns a constant for each wavefront and row of a window.
func (t *skewing) table(g *ad.Graph, w window, f func(step int, in bool) float64) ad.Ref {
	v := g.Array(w.lanes())
	for k := range v {
		v[k] = f(t.cell(w.at(k)))
	}
	return g.ConstArray(ad.Type{Shape: []int{w.steps(), w.width()}}, v)
}

// stream returns a stream of the scan over a window's wavefronts.
func (t *skewing) stream(g *ad.Graph, args []ad.Ref, k int, w window) ad.Ref {
	x := args[k]
	if v, ok := g.Value(x); ok {
		return t.table(g, w, func(step int, _ bool) float64 { return v[step] })
	}
	x = g.Reshape(x, []int{t.s.Steps})
	shape := []int{w.steps(), w.width()}
	if m, ok := t.border[k]; ok { // few elements are read
		mask, _ := g.Value(args[m])
		var steps, at []int32
		for p := range w.lanes() {
			if step, in := t.cell(w.at(p)); in && mask[step] != 0 {
				steps, at = append(steps, int32(step)), append(at, int32(p))
			}
		}
		some := elementsAt(g, x, steps)
		return g.Scatter(some, ad.Index{Dims: []ad.Dim{{N: len(at), Table: at}}}, shape)
	}
	at := make([]int32, w.lanes())
	for p := range at {
		step, _ := t.cell(w.at(p))
		at[p] = int32(step)
	}
	return g.Reshape(elementsAt(g, x, at), shape)
}

// elementsAt returns elements of x, read where x was gathered from.
func elementsAt(g *ad.Graph, x ad.Ref, at []int32) ad.Ref {
	from := x
	for slices.Contains([]ad.OpCode{ad.OpReshape, ad.OpLane, ad.OpUnlane}, g.Nodes[from].Op) {
		from = g.Nodes[from].Args[0]
	}
	if n := &g.Nodes[from]; n.Op == ad.OpGather && n.Type.Lanes == 0 {
		elements := make([]int32, n.Type.Size())
		n.Index().Each(func(p, e int) { elements[p] = int32(e) })
		for k, p := range at {
			at[k] = elements[p]
		}
		x = n.Args[0]
	}
	return g.Gather(x, ad.Index{Dims: []ad.Dim{{N: len(at), Table: at}}})
}

// result returns result k of the scan over cells.
func (t *skewing) result(g *ad.Graph, _ ad.Ref, args []ad.Ref, k int) ad.Ref {
	s := t.s
	if k >= 2*s.Carries {
		k -= 2 * s.Carries
		return t.cells(g, k, s.Body.Type(s.Body.Outputs[s.Carries+k]).Shape)
	}
	c := t.place[k%s.Carries][0]
	if t.whole[c] {
		return t.fromWhole(g, args, k, t.cells(g, t.wholeOut(c), nil))
	}
	fronts, pad := t.depths()
	first := 0
	for i := range c {
		first += fronts[i]
	}
	last := len(t.windows) - 1
	return g.Slice(g.Final(t.scans[last], first), pad+t.windows[last].width()-1, s.Body.Type(s.Body.Inputs[k%s.Carries]).Shape)
}

// wholeOut returns the index of the kept value that has a chain's values at all steps.
func (t *skewing) wholeOut(chain int) int {
	out := t.s.Outs
	for c := range chain {
		if t.whole[c] {
			out++
		}
	}
	return out
}

// before returns the values of a chain before the scan, the oldest first.
func (t *skewing) before(g *ad.Graph, args []ad.Ref, chain int) (parts []ad.Ref) {
	for _, carry := range slices.Backward(t.chains[chain]) {
		parts = append(parts, g.Reshape(args[carry], []int{1}))
	}
	return parts
}

// fromWhole returns a final carried value, or a history, from the values of its chain at all steps.
func (t *skewing) fromWhole(g *ad.Graph, args []ad.Ref, k int, values ad.Ref) ad.Ref {
	s := t.s
	c, before := t.place[k%s.Carries][0], t.place[k%s.Carries][1]
	shape := s.Body.Type(s.Body.Inputs[k%s.Carries]).Shape
	parts := t.before(g, args, c)
	from := len(parts) - before
	whole := g.Concat(append(parts, values)...)
	if k < s.Carries {
		return g.Slice(whole, from+s.Steps, shape)
	}
	return g.Slice(whole, from, append([]int{s.Steps}, shape...))
}

// cells returns by step what the scans over wavefronts keep as output k.
func (t *skewing) cells(g *ad.Graph, k int, shape []int) ad.Ref {
	at := make([]int32, t.s.Steps)
	var parts []ad.Ref
	before := 0
	for i, w := range t.windows {
		for p := range w.lanes() {
			if step, in := t.cell(w.at(p)); in {
				at[step] = int32(before + p)
			}
		}
		before += w.lanes()
		parts = append(parts, g.Reshape(g.Kept(t.scans[i], k), []int{w.lanes()}))
	}
	x := g.Gather(g.Concat(parts...), ad.Index{Dims: []ad.Dim{{N: len(at), Table: at}}})
	return g.Reshape(x, append([]int{t.s.Steps}, shape...))
}
