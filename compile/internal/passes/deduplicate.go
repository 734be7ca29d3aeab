package passes

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// deduplicate is row deduplication. It computes a sum over N rows of data over the distinct rows,
// with weights. A row is described by known numbers, known indices, and values that are the same
// for all rows. So discrete outcomes with categorical predictors cost as much as their contingency
// table, whatever the number of data. The pass runs before the density is differentiated, so that
// derivatives are short as well.
//
// A check of rows that repeat looks at the distinct rows, such as that of phi[z[n]] in
// w[n] ~ categorical(phi[z[n]]): 50,000 words, in 4 topics of 100 words, took 2.95 ms, most of it
// for checks, and take 4.9 µs.
//
// Rows keep the order of their first appearance, so that a check fails at the same element as
// before, and its message names it.
func deduplicate(g *ad.Graph) *ad.Graph {
	roots, covered := map[ad.Ref]*merged{}, map[ad.Ref]*merged{}
	live := g.Live(g.Outputs, true)
	sh := &sharedByMerged{left: maxCompared}
	for i := range g.Nodes {
		if !live[i] {
			continue
		}
		if m := mergeable(g, ad.Ref(i), sh); m != nil {
			roots[ad.Ref(i)] = m
			for r, is := range m.row {
				if is {
					covered[r] = m
				}
			}
		}
	}
	for i := range g.Nodes {
		if r := ad.Ref(i); live[i] && checkedIn(&g.Nodes[i], covered) == nil {
			if m := mergeableCheck(g, r, sh); m != nil {
				roots[r] = m
			}
		}
	}
	for leave := len(roots) > 0; leave; {
		leave = false
		needed := neededBeside(g, roots, covered)
		for r, m := range roots {
			if !m.pays(needed) {
				delete(roots, r)
				leave = true
			}
		}
		for r, m := range covered {
			if roots[m.root] == nil {
				delete(covered, r)
			}
		}
	}
	if len(roots) == 0 {
		return g
	}
	return rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		m := roots[r]
		if m != nil && n.Op != ad.OpCheck {
			x := m.build(w, n.Args[0])
			w.To.SetSite(n.Site)
			return w.To.Reshape(w.To.Sum(w.To.Mul(x, w.To.ConstArray(ad.Type{Shape: []int{len(m.first)}}, m.weights))), n.Type.Shape)
		}
		if m == nil {
			m = checkedIn(n, covered)
		}
		if m != nil {
			named := *attr.(*ad.Check)
			named.Elements = m.elements(g.Type(n.Args[0]))
			args = []ad.Ref{m.build(w, n.Args[0])}
			w.To.SetSite(n.Site)
			return w.To.Do(n.Op, &named, args...)
		}
		return w.Same(n, attr, args)
	})
}

// checkedIn returns the merged sum whose rows n checks; nil if n is no such check.
func checkedIn(n *ad.Node, covered map[ad.Ref]*merged) *merged {
	if c, ok := n.Attr.(*ad.Check); ok && n.Op == ad.OpCheck && c.Elements == nil {
		return covered[n.Args[0]]
	}
	return nil
}

// neededBeside marks the nodes that outputs and side effects still need when the sums are merged.
func neededBeside(g *ad.Graph, roots, covered map[ad.Ref]*merged) []bool {
	needed := make([]bool, len(g.Nodes))
	for _, r := range slices.Concat(g.Outputs, g.SideEffects) {
		needed[r] = true
	}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := &g.Nodes[i]
		if !needed[i] || roots[ad.Ref(i)] != nil || checkedIn(n, covered) != nil {
			continue
		}
		for _, a := range n.Args {
			needed[a] = true
		}
	}
	return needed
}

// checkCost is the approximate cost of checking a number, in tenths of nanoseconds.
const checkCost = 4

// pays reports whether the distinct rows cost less than the rows that they make unnecessary. Values
// that another sum needs are computed for all rows as before, and again for the distinct rows. So
// the sum of logarithms of repeated scales is not worth merging if residuals are divided by the
// scales: two posteriors took 1.1 and 1.2 times as long.
func (m *merged) pays(needed []bool) bool {
	saved, added := 0, 0
	if n := &m.old.Nodes[m.root]; n.Op == ad.OpCheck {
		cost := checkCost * m.old.Type(n.Args[0]).Total() / m.rows
		saved, added = cost*m.rows, cost*len(m.first)
	}
	for r, is := range m.row {
		if n := &m.old.Nodes[r]; is {
			cost := rowCost(m.old, n)
			added += cost * len(m.first)
			if !needed[r] {
				saved += cost * m.rows
			}
		}
	}
	return added < saved
}

// rowCost is the approximate cost of a row of a value, in tenths of nanoseconds.
func rowCost(g *ad.Graph, n *ad.Node) int {
	each := n.Type.Size()
	if n.Type.Lanes == 0 {
		each /= n.Type.Shape[0]
	}
	switch n.Op {
	case ad.OpConst, ad.OpLane, ad.OpUnlane, ad.OpReshape:
		return 0
	case ad.OpMatMul:
		return 2 * each * g.Type(n.Args[1]).Shape[0]
	}
	if n.Op.Row().Class == ad.Elementwise {
		return each * int(4+10*ops.Of(n.Op).Cost)
	}
	return 4 * each
}

// merged describes a sum over rows, or a check of rows, some of which are equal.
type merged struct {
	old     *ad.Graph
	root    ad.Ref
	shared  *sharedByMerged
	rows    int
	row     map[ad.Ref]bool // by value: its rows depend only on the known description of a row
	class   []int32         // by row: its class of equal rows, numbered by first appearance; nil: nothing is known
	first   []int32         // row of each class
	weights []float64       // number of rows in each class
	most    int             // largest number of classes that is worth merging
	made    map[ad.Ref]ad.Ref
	stopped bool // there are too many classes or too little memory
}

// sharedByMerged is what all sums of a graph share.
type sharedByMerged struct {
	left  int             // elements that may still be examined
	never map[rowsOf]bool // values that are no such rows, whatever the sum
}

// rowsOf is a value whose rows a sum would merge.
type rowsOf struct {
	value ad.Ref
	rows  int
}

// mergeable returns node r as a merged sum if at most three quarters of its rows are distinct; nil
// otherwise.
func mergeable(g *ad.Graph, r ad.Ref, sh *sharedByMerged) *merged {
	n := &g.Nodes[r]
	if n.Op != ad.OpScatter || !number(n.Type) || sh.left < 0 {
		return nil
	}
	t := g.Type(n.Args[0])
	if t.Lanes > 0 || len(t.Shape) != 1 || t.Shape[0] < minMerged || g.Nodes[n.Args[0]].Op == ad.OpConst {
		return nil
	}
	for _, d := range n.Index().Dims {
		if d.Table != nil || d.Stride != 0 {
			return nil
		}
	}
	m := newMerged(g, r, t.Shape[0], sh)
	if !m.of(n.Args[0]) {
		return nil
	}
	m.weights = make([]float64, len(m.first))
	if m.class == nil { // all rows are equal
		m.weights[0] = float64(m.rows)
	}
	for _, c := range m.class {
		m.weights[c]++
	}
	return m
}

// mergeableCheck returns node r as a check of distinct rows if at most three quarters of the rows
// that it checks are distinct; nil otherwise.
func mergeableCheck(g *ad.Graph, r ad.Ref, sh *sharedByMerged) *merged {
	n := &g.Nodes[r]
	c, ok := n.Attr.(*ad.Check)
	if n.Op != ad.OpCheck || !ok || c.Elements != nil || sh.left < 0 {
		return nil
	}
	t := g.Type(n.Args[0])
	rows := t.Lanes
	if rows == 0 && len(t.Shape) > 0 {
		rows = t.Shape[0]
	}
	if rows < minMerged || t.Total() == 0 {
		return nil
	}
	m := newMerged(g, r, rows, sh)
	if !m.of(n.Args[0]) {
		return nil
	}
	return m
}

func newMerged(g *ad.Graph, root ad.Ref, rows int, sh *sharedByMerged) *merged {
	return &merged{old: g, root: root, shared: sh, rows: rows, most: rows * 3 / 4, row: map[ad.Ref]bool{}, made: map[ad.Ref]ad.Ref{}, first: []int32{0}}
}

// of reports whether r consists of rows that depend only on the known description of a row. If so,
// it refines the classes by r. It also returns false once there are too many classes.
//
// The sums of a thousand steps, each of which depends on the one before, would each look at all
// earlier steps. So values that fail for another reason are recorded for all sums.
func (m *merged) of(r ad.Ref) bool {
	at := rowsOf{r, m.rows}
	is, known := m.row[r]
	if !known && !m.shared.never[at] && m.spend(1) {
		is = m.look(r)
		m.row[r] = is
		if !is && !m.stopped {
			if m.shared.never == nil { // few graphs need it
				m.shared.never = map[rowsOf]bool{}
			}
			m.shared.never[at] = true
		}
	}
	return is
}

// spend counts n steps against the limit and reports whether they were within it.
func (m *merged) spend(n int) bool {
	m.shared.left -= n
	m.stopped = m.stopped || m.shared.left < 0
	return !m.stopped
}

func (m *merged) look(r ad.Ref) bool {
	n := &m.old.Nodes[r]
	switch t := n.Type; {
	case t.Lanes == m.rows && m.rows > 0:
		if n.Op == ad.OpConst {
			return m.numbers(n.Data, 1, t.Size())
		}
		if n.Op == ad.OpLane {
			return m.of(n.Args[0])
		}
		row := n.Op.Row()
		if row.OwnLanes || row.Class != ad.Elementwise && row.Class != ad.Linear && row.Class != ad.Array {
			return false
		}
		for _, a := range n.Args {
			if l := m.old.Type(a).Lanes; l > 0 && !m.of(a) {
				return false
			}
		}
		return true
	case t.Lanes == 0 && len(t.Shape) > 0 && t.Shape[0] == m.rows:
		return m.array(n)
	}
	return false
}

// array is `of` for a value whose first dimension is the rows.
func (m *merged) array(n *ad.Node) bool {
	switch n.Op {
	case ad.OpConst:
		return m.numbers(n.Data, 1, n.Type.Size()/m.rows)
	case ad.OpUnlane:
		return m.of(n.Args[0])
	case ad.OpReshape:
		t := m.old.Type(n.Args[0])
		return t.Lanes == 0 && len(t.Shape) > 0 && t.Shape[0] == m.rows && m.of(n.Args[0])
	case ad.OpGather:
		ix := n.Index()
		if len(ix.Dims) == 0 || ix.Dims[0].N != m.rows || m.old.Type(n.Args[0]).Lanes > 0 {
			return false
		}
		if m.aligned(ix, m.old.Type(n.Args[0])) {
			return m.of(n.Args[0])
		}
		if each := m.within(n); each > 0 {
			return m.of(n.Args[0]) && m.distinguish(func(i int) uint64 { return uint64(ix.Offset + int(ix.Dims[0].Table[i]) - i*each) })
		}
		if d := ix.Dims[0]; d.Table != nil {
			return m.distinguish(func(i int) uint64 { return uint64(d.Table[i]) })
		} else {
			return d.Stride == 0
		}
	case ad.OpScatter:
		t := m.old.Type(n.Args[0])
		return t.Lanes == 0 && len(t.Shape) > 0 && t.Shape[0] == m.rows && m.aligned(n.Index(), n.Type) && m.of(n.Args[0])
	case ad.OpMatMul:
		attr, x := n.Attr.(ad.MatMulAttr), &m.old.Nodes[n.Args[0]]
		if x.Op != ad.OpConst || x.Type.Lanes > 0 || m.old.Type(n.Args[1]).Lanes > 0 {
			return false
		}
		if attr.TransA {
			return m.numbers(x.Data, m.rows, x.Type.Shape[0])
		}
		return m.numbers(x.Data, 1, x.Type.Shape[1])
	}
	if n.Op.Row().Class != ad.Elementwise {
		return false
	}
	for _, a := range n.Args {
		t := m.old.Type(a)
		if number(t) && len(t.Shape) == 0 {
			continue
		}
		if t.Lanes > 0 || len(t.Shape) != len(n.Type.Shape) || !m.of(a) {
			return false
		}
	}
	return true
}

// aligned reports whether the first dimension of an index visits the rows of a value of type t in
// order, and whether the rest stays within a row.
func (m *merged) aligned(ix ad.Index, t ad.Type) bool {
	if t.Lanes > 0 || len(t.Shape) == 0 || t.Shape[0] != m.rows || len(ix.Dims) == 0 || ix.Dims[0].N != m.rows {
		return false
	}
	each := t.Size() / m.rows
	switch d := ix.Dims[0]; {
	case d.Table == nil && d.Stride != each:
		return false
	case d.Table != nil:
		for i, e := range d.Table[:m.rows] {
			if int(e) != i*each {
				return false
			}
		}
	}
	least, most := ix.Offset, ix.Offset
	for _, d := range ix.Dims[1:] {
		switch {
		case d.N == 0:
			return false
		case d.Table != nil:
			least, most = least+int(slices.Min(d.Table[:d.N])), most+int(slices.Max(d.Table[:d.N]))
		default:
			span := (d.N - 1) * d.Stride
			least, most = least+min(span, 0), most+max(span, 0)
		}
	}
	return least >= 0 && most < each
}

// walk returns an aligned index for the distinct rows.
func (m *merged) walk(ix ad.Index, t ad.Type) ad.Index {
	dims := slices.Clone(ix.Dims)
	dims[0] = ad.Dim{N: len(m.first), Stride: t.Size() / m.rows}
	return ad.Index{Offset: ix.Offset, Dims: dims}
}

// within returns the size of a row of the argument if n takes one element of each row; else 0.
func (m *merged) within(n *ad.Node) int {
	ix, t := n.Index(), m.old.Type(n.Args[0])
	if len(ix.Dims) != 1 || ix.Dims[0].Table == nil || t.Lanes > 0 || len(t.Shape) < 2 || t.Shape[0] != m.rows {
		return 0
	}
	each := t.Size() / m.rows
	for i, e := range ix.Dims[0].Table[:m.rows] {
		if k := ix.Offset + int(e) - i*each; k < 0 || k >= each {
			return 0
		}
	}
	return each
}

// numbers refines the classes by known numbers, `each` of them per row. Those of one row are
// `apart` elements apart; if that is 1, they are adjacent.
func (m *merged) numbers(data []float64, apart, each int) bool {
	for k := range each {
		at := func(i int) int { return i*each + k }
		if apart > 1 {
			at = func(i int) int { return k*apart + i }
		}
		if !m.distinguish(func(i int) uint64 { return math.Float64bits(data[at(i)]) }) {
			return false
		}
	}
	return true
}

// rowKey describes a row: its class so far, and the next number.
type rowKey struct {
	class int32
	bits  uint64
}

// distinguish refines the classes by a key per row. It returns false if there are too many classes
// or not enough memory: rows are merged to save time, and a model must not be refused for that.
func (m *merged) distinguish(key func(i int) uint64) bool {
	m.stopped = m.stopped || !m.refine(key)
	return !m.stopped
}

// refine is distinguish.
func (m *merged) refine(key func(i int) uint64) bool {
	if !m.spend(m.rows) {
		return false
	}
	budget := m.old.Budget()
	defer budget.Back(budget.Used())
	most := min(m.most, m.rows)
	if m.rows >= minSampled {
		differ := m.differ(key)
		if differ > m.most {
			return false
		}
		most = differ
	}
	if budget.Take(int64(most)*bytesOfRow+4*int64(m.rows)) != nil {
		return false
	}
	if m.class == nil {
		m.class = make([]int32, m.rows)
	}
	classes := map[rowKey]int32{}
	m.first = m.first[:0]
	for i, class := range m.class {
		k := rowKey{class, key(i)}
		c, ok := classes[k]
		if !ok {
			c = int32(len(m.first))
			if m.first = append(m.first, int32(i)); len(m.first) > m.most {
				return false
			}
			classes[k] = c
		}
		m.class[i] = c
	}
	return true
}

// differ estimates the number of distinct rows from the keys whose hash is a multiple of
// sampledKeys. Equal rows are all in that sample or all outside, so that its distinct keys are a
// known share of all. It stops once there are clearly too many. For 12 million distinct rows, a
// table of all keys took 270 MB, and a short run took 10.4 s of processor time. With the sample the
// run takes 4.0 s.
func (m *merged) differ(key func(i int) uint64) int {
	keys := map[rowKey]struct{}{}
	enough := m.most/sampledKeys*11/10 + 1
	for i := range m.rows {
		k := rowKey{bits: key(i)}
		if m.class != nil {
			k.class = m.class[i]
		}
		if k.hash()%sampledKeys != 0 {
			continue
		}
		if keys[k] = struct{}{}; len(keys) > enough {
			return m.rows
		}
	}
	return min(len(keys)*sampledKeys, m.most)
}

// hash returns the finalizer of SplitMix64 (Steele, Lea and Flood 2014) of number and class.
func (k rowKey) hash() uint64 {
	h := k.bits + uint64(k.class+1)*0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// elements returns the original indices of the elements of a merged value, for messages of checks.
// It returns nil if messages count within a row.
func (m *merged) elements(t ad.Type) []int32 {
	each := t.Total() / m.rows
	if t.Lanes > 0 && !t.IsScalar() {
		return nil
	}
	out := make([]int32, 0, each*len(m.first))
	for _, i := range m.first {
		for k := range each {
			out = append(out, i*int32(each)+int32(k))
		}
	}
	return out
}

// build returns the counterpart of a value, with only the distinct rows.
func (m *merged) build(w *ad.Rewriter, r ad.Ref) ad.Ref {
	if x, ok := m.made[r]; ok {
		return x
	}
	n := &m.old.Nodes[r]
	g := w.To
	shape := n.Type.Shape
	if n.Type.Lanes == 0 {
		shape = append([]int{len(m.first)}, n.Type.Shape[1:]...)
	}
	var x ad.Ref
	switch leaf := n.Type.Lanes == 0; {
	case n.Op == ad.OpConst && leaf:
		x = g.ConstArray(ad.Type{Shape: shape}, m.chosen(n.Data, 1, n.Type.Size()/m.rows))
	case n.Op == ad.OpConst:
		x = g.ConstArray(ad.Type{Lanes: len(m.first), Shape: shape}, m.chosen(n.Data, 1, n.Type.Size()))
	case n.Op == ad.OpGather && leaf && m.aligned(n.Index(), m.old.Type(n.Args[0])):
		x = g.Gather(m.build(w, n.Args[0]), m.walk(n.Index(), m.old.Type(n.Args[0])))
	case n.Op == ad.OpScatter && leaf:
		x = g.Scatter(m.build(w, n.Args[0]), m.walk(n.Index(), n.Type), shape)
	case n.Op == ad.OpGather && leaf && m.within(n) > 0:
		ix, each := n.Index(), int32(m.within(n))
		d := ad.Dim{N: len(m.first), Table: make([]int32, len(m.first))}
		for c, i := range m.first {
			d.Table[c] = int32(c)*each + int32(ix.Offset) + ix.Dims[0].Table[i] - i*each
		}
		x = g.Gather(m.build(w, n.Args[0]), ad.Index{Dims: []ad.Dim{d}})
	case n.Op == ad.OpGather && leaf:
		ix := n.Index()
		dims := slices.Clone(ix.Dims)
		d := ad.Dim{N: len(m.first), Stride: dims[0].Stride}
		if dims[0].Table != nil {
			d.Table = make([]int32, len(m.first))
			for c, i := range m.first {
				d.Table[c] = dims[0].Table[i]
			}
		}
		dims[0] = d
		x = g.Gather(w.At(n.Args[0]), ad.Index{Offset: ix.Offset, Dims: dims})
	case n.Op == ad.OpMatMul && leaf:
		attr, t := n.Attr.(ad.MatMulAttr), m.old.Type(n.Args[0])
		data := m.old.Nodes[n.Args[0]].Data
		rows := ad.Type{Shape: []int{len(m.first), t.Shape[1]}}
		if attr.TransA {
			rows.Shape[1] = t.Shape[0]
			data = m.chosen(data, m.rows, t.Shape[0])
			attr.TransA = false
		} else {
			data = m.chosen(data, 1, t.Shape[1])
		}
		x = g.Do(ad.OpMatMul, attr, g.ConstArray(rows, data), w.At(n.Args[1]))
	case n.Op == ad.OpReshape && leaf:
		x = g.Reshape(m.build(w, n.Args[0]), shape)
	default:
		args := make([]ad.Ref, len(n.Args))
		for k, a := range n.Args {
			if t := m.old.Type(a); t.Lanes == 0 && n.Op != ad.OpLane && (n.Type.Lanes > 0 || number(t)) { // the same for all rows
				args[k] = w.At(a)
			} else {
				args[k] = m.build(w, a)
			}
		}
		g.SetSite(n.Site)
		x = g.Do(n.Op, n.Attr, args...)
	}
	m.made[r] = x
	return x
}

// chosen returns the known numbers of the distinct rows; see numbers.
func (m *merged) chosen(data []float64, apart, each int) []float64 {
	out := make([]float64, 0, len(m.first)*each)
	for _, i := range m.first {
		for k := range each {
			if apart > 1 {
				out = append(out, data[k*apart+int(i)])
			} else {
				out = append(out, data[int(i)*each+k])
			}
		}
	}
	return out
}
