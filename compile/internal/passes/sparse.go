package passes

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// This file: products of vectors with data matrices that are mostly zero, such as design matrices
// of groups, bases of splines and precision matrices of neighbours on a map.
//
// If the rows have nearly equal numbers of elements, these are stored in slots, with one element of
// each row (the format ELLPACK). The product then adds up vectors of data times gathered elements,
// which join the loops around it. The product with the transpose has slots of columns: it scatters
// where the other one gathers. Elements of other matrices are listed with row and column, and
// scattered. So are the last elements of some rows.
//
// A matrix with at most one element per row selects elements. Its products become gathers before
// the density is differentiated, so that exchange and other passes see groups. All other products
// are replaced after differentiation: then the product with a symmetric matrix, in a quadratic
// form, is also the one in its derivative.
//
// In a dense product 0 times a number that is not finite is NaN. If an element of the vector is not
// finite, all elements of the sparse product are NaN. Those of the dense one are NaN too, except in
// rows that have no zero there, which may be infinite. So a sum over all of them, as in a log
// density or its gradient, is NaN or rejected in both.
//
// Measured with AVX-512 on one core, in alternating runs: processor time of density and gradient in
// µs, without and with this pass; without it, vm leaves out zeros of some products.
//
//	5000 rows with 300 groups: logit, Poisson, normal   8.4 → 2.7, 6.9 → 1.1, 6.8 → 0.84
//	5000 rows with 300 and 50 crossed groups            68 → 14
//	splines, 4 of 40 columns: 1000 and 5000 rows        7.3 → 3.8, 49 → 18
//	1000 × 100, of which 1, 3, 5 and 10 % are not zero  9.0 → 3.3, 15.8 → 6.3, 17.7 → 7.7, 18.0 → 11.9
//	neighbours of 600 areas: quad_form(Q, v), v' * Q * v  11.4 → 3.5, 40 → 2.3
//
// With b[g], the logit takes 2.7, too. 15 % would take 16.4 instead of 17.9, and are not replaced.
// Small matrices, in ns, with one element per row: 64 × 16 261 → 239, 64 × 32 828 → 252, 1000 × 8
// 2800 → 2080. Not replaced are 16 × 16, 112 → 133, and 24 × 24, 157 → 157; with two elements per
// row, 200 × 12, 719 → 859.

// sparseProducts replaces products after differentiation.
func sparseProducts(g *ad.Graph, o *Options) *ad.Graph {
	if !has(g, ad.OpMatMul) {
		return g
	}
	found := findSparse(g)
	if len(found) == 0 && !bodies(g) {
		return g
	}
	return rebuild(o, g, sparseProducts, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if p := found[r]; p != nil {
			return w.To.Reshape(p.multiply(w.To, args[1-p.side], false), n.Type.Shape)
		}
		return w.Same(n, attr, args)
	})
}

// selections replaces products with matrices that select elements.
func selections(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpMatMul) {
		return g
	}
	found := findSparse(g)
	for r, p := range found {
		if !p.selects() {
			delete(found, r)
		}
	}
	if len(found) == 0 {
		return g
	}
	return rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if p := found[r]; p != nil {
			return w.To.Reshape(p.multiply(w.To, args[1-p.side], true), n.Type.Shape)
		}
		return w.Same(n, attr, args)
	})
}

// bodies reports whether a graph has regions.
func bodies(g *ad.Graph) bool {
	for i := range g.Nodes {
		if len(g.Nodes[i].Bodies()) > 0 {
			return true
		}
	}
	return false
}

// Sparse describes a matrix of which products leave out the zeros.
type Sparse struct {
	Site          ad.Site // of the product
	Rows, Columns int
	Nonzero       int // elements that are not zero
}

// sparseMatrices lists the matrices of which products leave out the zeros in one part of the pass.
// Products with the transpose, in derivatives, are not listed again.
func sparseMatrices(g *ad.Graph, before bool) (out []Sparse) {
	found := findSparse(g)
	for i := range g.Nodes {
		p := found[ad.Ref(i)]
		if p == nil || before && !p.selects() {
			continue
		}
		s := Sparse{g.Nodes[i].Site, p.rows, p.columns, p.count}
		t := s
		t.Rows, t.Columns = s.Columns, s.Rows
		if !slices.Contains(out, s) && !slices.Contains(out, t) {
			out = append(out, s)
		}
	}
	return out
}

// sparseMatrix is a matrix of which a product leaves out the zeros.
type sparseMatrix struct {
	side          int // 0 if it is on the left of the product, 1 if its transpose is on the right
	rows, columns int
	count         int       // elements that are not zero
	byColumn      bool      // slots have one element of each column
	slots         [][]entry // by row, or by column
	rest          []entry
	loose         []int // columns that have a zero; nil: all
}

// selects reports whether there is at most one element per row.
func (s *sparseMatrix) selects() bool { return !s.byColumn && len(s.slots) == 1 && len(s.rest) == 0 }

// entry is an element of a matrix.
type entry struct {
	row, column int
	value       float64
}

// findSparse returns the products that are faster without zeros.
func findSparse(g *ad.Graph) map[ad.Ref]*sparseMatrix {
	type form struct {
		matrix ad.Ref
		turned bool
	}
	known := map[form]*sparseMatrix{}
	found := map[ad.Ref]*sparseMatrix{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Op != ad.OpMatMul || n.Type.Lanes > 0 {
			continue
		}
		attr := n.Attr.(ad.MatMulAttr)
		for side, turned := range [...]bool{attr.TransA, !attr.TransB} {
			x := &g.Nodes[n.Args[side]]
			if x.Op != ad.OpConst || x.Type.Lanes > 0 || n.Type.Shape[1-side] != 1 || g.Nodes[n.Args[1-side]].Op == ad.OpConst {
				continue
			}
			k := form{n.Args[side], turned}
			p, ok := known[k]
			if !ok {
				p = newSparse(x.Data, x.Type.Shape[0], x.Type.Shape[1], turned)
				known[k] = p
			}
			if p != nil {
				c := *p
				c.side = side
				found[ad.Ref(i)] = &c
				break
			}
		}
	}
	return found
}

// newSparse returns the form of a matrix, or of its transpose, without zeros; nil if the dense
// product is expected to be faster.
func newSparse(data []float64, rows, columns int, turned bool) *sparseMatrix {
	if len(data) < minSparse {
		return nil
	}
	count, most := 0, int(sparseShare*float64(len(data)))
	for _, v := range data {
		if v != 0 { // which includes NaN
			if count++; count > most {
				return nil
			}
		}
	}
	entries := make([]entry, 0, count)
	for i := range rows {
		for j, v := range data[i*columns : (i+1)*columns] {
			switch {
			case v == 0:
			case turned:
				entries = append(entries, entry{j, i, v})
			default:
				entries = append(entries, entry{i, j, v})
			}
		}
	}
	if turned {
		rows, columns = columns, rows
	}
	s := &sparseMatrix{rows: rows, columns: columns, count: count}
	cost := s.divide(entries)
	t := &sparseMatrix{rows: rows, columns: columns, count: count, byColumn: true}
	if c := t.divide(entries); c < rowsFirst*cost { // gathers join more loops than scatters
		s, cost = t, c
	}
	if cost*sparseGain > denseNS*float64(len(data)) {
		return nil
	}
	s.findLoose(entries)
	return s
}

// divide distributes the elements to slots and the rest. It returns the estimated time of a product
// in ns.
func (s *sparseMatrix) divide(entries []entry) float64 {
	n := s.rows
	of := func(e entry) int { return e.row }
	if s.byColumn {
		n, of = s.columns, func(e entry) int { return e.column }
	}
	counts := make([]int, n)
	var filled []int // by slot, its elements
	at := make([]int, len(entries))
	for i, e := range entries {
		k := counts[of(e)]
		counts[of(e)]++
		if at[i] = k; k == len(filled) {
			filled = append(filled, 0)
		}
		filled[k]++
	}
	slots, left := 0, len(entries)
	for slots < len(filled) && slots < maxSlots && float64(filled[slots]) >= minFilled*float64(n) {
		left -= filled[slots]
		slots++
	}
	if float64(left) > maxRest*float64(len(entries)) {
		slots = 0
	}
	s.slots = make([][]entry, slots)
	for k := range s.slots {
		s.slots[k] = make([]entry, n)
		for i := range s.slots[k] {
			// The element of a row that has none is 0, next to its last one.
			e := entry{row: i}
			if s.byColumn {
				e = entry{column: i}
			}
			if k > 0 {
				e = s.slots[k-1][i]
				e.value = 0
			}
			s.slots[k][i] = e
		}
		for i, e := range entries {
			if at[i] == k {
				s.slots[k][of(e)] = e
			}
		}
	}
	for i, e := range entries {
		if at[i] >= slots {
			s.rest = append(s.rest, e)
		}
	}
	return slotNS*float64(n*slots) + restNS*float64(len(s.rest)) + vectorNS*float64(s.rows+s.columns)
}

// findLoose finds the columns that have a zero.
func (s *sparseMatrix) findLoose(entries []entry) {
	counts := make([]int, s.columns)
	full := 0
	for _, e := range entries {
		if counts[e.column]++; counts[e.column] == s.rows {
			full++
		}
	}
	if full == 0 {
		return
	}
	for j, n := range counts {
		if n < s.rows {
			s.loose = append(s.loose, j)
		}
	}
}

// multiply returns the product with a vector. before is set if it will be differentiated.
func (s *sparseMatrix) multiply(g *ad.Graph, v ad.Ref, before bool) ad.Ref {
	v = g.Reshape(v, []int{s.columns})
	read := v
	// The sum is 0, or NaN if an element is not finite.
	if s.loose != nil {
		read = g.Gather(v, indices(len(s.loose), func(i int) int { return s.loose[i] }))
	}
	wrong := g.Sum(g.Sub(read, read))
	if before {
		wrong = g.Select(g.Do(ad.OpIsNaN, nil, wrong), g.Const(math.NaN()), g.Const(0))
	}
	// It is added to the shorter vector. Rows without elements need it, too.
	early := s.columns < s.rows && len(s.slots) > 0 && !s.byColumn && s.loose == nil && !s.empty()
	if early {
		v, wrong = g.Add(v, wrong), ad.None
	}
	out := ad.None
	add := func(r ad.Ref) {
		if out == ad.None {
			out = r
		} else {
			out = g.Add(out, r)
		}
	}
	for _, es := range s.slots {
		if s.byColumn {
			p := times(g, es, v)
			if same(es, func(e entry) int { return e.row }) {
				add(g.Scatter(g.Sum(p), ad.Index{Offset: es[0].row}, []int{s.rows}))
			} else {
				add(g.Scatter(p, indices(len(es), func(i int) int { return es[i].row }), []int{s.rows}))
			}
			continue
		}
		if same(es, func(e entry) int { return e.column }) {
			add(g.Broadcast(times(g, es, g.Slice(v, es[0].column, nil)), []int{s.rows}))
		} else {
			add(times(g, es, g.Gather(v, indices(len(es), func(i int) int { return es[i].column }))))
		}
	}
	if len(s.rest) > 0 || out == ad.None {
		p := times(g, s.rest, g.Gather(v, indices(len(s.rest), func(i int) int { return s.rest[i].column })))
		add(g.Scatter(p, indices(len(s.rest), func(i int) int { return s.rest[i].row }), []int{s.rows}))
	}
	if wrong != ad.None {
		add(wrong)
	}
	return out
}

// empty reports whether a row of the first slot has no element.
func (s *sparseMatrix) empty() bool {
	for _, e := range s.slots[0] {
		if e.value == 0 {
			return true
		}
	}
	return false
}

// times returns the products of the elements with x, or with the elements of x.
func times(g *ad.Graph, es []entry, x ad.Ref) ad.Ref {
	values, ones := make([]float64, len(es)), true
	for i, e := range es {
		values[i] = e.value
		ones = ones && e.value == 1
	}
	if ones {
		return x
	}
	return g.Mul(g.ConstArray(ad.Type{Shape: []int{len(es)}}, values), x)
}

func same(es []entry, of func(entry) int) bool {
	for _, e := range es {
		if of(e) != of(es[0]) {
			return false
		}
	}
	return len(es) > 0
}

// indices returns the index of n elements of a vector.
func indices(n int, of func(i int) int) ad.Index {
	t := make([]int32, n)
	for i := range t {
		t[i] = int32(of(i))
	}
	return ad.Index{Dims: []ad.Dim{{N: n, Table: t}}}
}
