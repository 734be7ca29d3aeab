package ad

import (
	"math"
	"slices"
)

// Information declares the joint expected information of a distribution's variate and arguments,
// element by element. Given args, of which the first is the variate, it returns the matrix of E[-∂²
// log p/∂a∂b] as graph expressions, where the expectation is over the variate. None counts as 0;
// only entries on and below the diagonal are read. The matrix must be positive semidefinite for all
// values of the arguments. Its entries are scalars, or have the type over which the statement's
// elements range: the arguments' common shape and lanes.
type Information func(g *Graph, args []Ref) [][]Ref

// weighted returns the information about all arguments but the last, multiplied by the last.
func (f Information) weighted() Information {
	return func(g *Graph, args []Ref) [][]Ref {
		n := len(args) - 1
		rows := f(g, args[:n])
		for i, row := range rows {
			row = append([]Ref(nil), row...)
			for k := range min(len(row), i+1) {
				if row[k] != None {
					row[k] = g.Mul(row[k], args[n])
				}
			}
			rows[i] = row
		}
		return append(rows, nil)
	}
}

// Statement is a sampling statement, for Fisher. The first of Args is the variate. Either Info or
// Whiten is set.
type Statement struct {
	// Args are scalars or arrays of one shape, with or without lanes; with Whiten, values of any
	// type.
	Args []Ref
	Info Information

	// Whiten is for distributions that are not elementwise. Given the tangents t of the arguments
	// (None: 0), it returns arrays, linear in t, whose squares add up to tᵀIt, where I is the
	// information.
	Whiten func(g *Graph, args, t []Ref) []Ref
}

// Weighted returns the statement multiplied by a weight: one number, or one in each lane.
func (s Statement) Weighted(w Ref) Statement {
	args := append(slices.Clone(s.Args), w)
	if s.Info != nil {
		return Statement{Args: args, Info: s.Info.weighted()}
	}
	n := len(s.Args)
	return Statement{Args: args, Whiten: func(g *Graph, args, t []Ref) []Ref {
		root := g.Sqrt(args[n])
		out := s.Whiten(g, args[:n], t[:n])
		for i, z := range out {
			if z != None {
				out[i] = g.Mul(z, root)
			}
		}
		return out
	}}
}

// Fisher returns the n×n expected Fisher information about wrt (n elements, no lanes) of all
// statements. It is Σ JᵀIJ over statements and their elements, with I the declared information and
// J the derivative of the variate and arguments with respect to wrt. If each I is positive
// semidefinite, so is the sum. Data have derivative 0 and drop out.
//
// If each element of a statement depends on few elements of wrt, the statement is summed as a
// sparse matrix: columns of J without elements in common share a direction.
func (g *Graph) Fisher(wrt Ref, statements []Statement) Ref {
	f := newFisher(g, wrt)
	for _, s := range statements {
		f.matrix(f.part(s))
	}
	if f.total == None {
		return g.Expand(g.Const(0), Type{Shape: []int{f.n, f.n}})
	}
	return f.total
}

// FisherTrace returns tr(A·G) for a symmetric n×n matrix A, where G is the result of Fisher, in a
// form whose gradient with respect to wrt costs little more than G.
func (g *Graph) FisherTrace(wrt, a Ref, statements []Statement) Ref {
	f := newFisher(g, wrt)
	for _, s := range statements {
		f.trace(f.part(s), a)
	}
	if f.total == None {
		return g.Const(0)
	}
	return f.total
}

// FisherSquare returns uᵀGu, where G is the result of Fisher and u has an element for each of the n
// elements of wrt. It is the information about one direction, and needs one tangent of the
// arguments. Half its gradient with respect to u is G·u. Its gradient with respect to wrt is that
// of tr(uuᵀ·G). Either costs a few times the work of the statements, whatever n is.
func (g *Graph) FisherSquare(wrt, u Ref, statements []Statement) Ref {
	var all []Ref
	for _, s := range statements {
		all = append(all, s.Args...)
	}
	tangents := g.JVP(all, []Ref{wrt}, []Ref{u})
	total := None
	add := func(place Type, square Ref) {
		if square != None {
			total = g.plus(total, g.SumLanes(g.Sum(g.Expand(square, place))))
		}
	}
	for _, s := range statements {
		t := tangents[:len(s.Args):len(s.Args)]
		tangents = tangents[len(s.Args):]
		moves := slices.ContainsFunc(t, func(r Ref) bool { return r != None })
		switch place := g.place(s.Args); {
		case !moves:
		case s.Whiten != nil:
			for _, z := range s.Whiten(g, s.Args, t) {
				if z != None { // a value without lanes counts once for each lane
					add(Type{Shape: g.Type(z).Shape, Lanes: place.Lanes}, g.Square(z))
				}
			}
		default:
			square := None
			p := part{tangent: t, info: s.Info(g, s.Args)}
			p.pairs(func(i, k int, w Ref) {
				product := g.Mul(t[i], t[k])
				if i != k {
					product = g.Scale(2, product)
				}
				square = g.plus(square, g.guarded(product, g.informing(product, w)))
			})
			add(place, square)
		}
	}
	if total == None {
		return g.Const(0)
	}
	return total
}

// FisherReaches reports, for each of the n elements of wrt, whether any argument of the statements
// may depend on it. If an element is not reached, the Fisher information is singular.
func (g *Graph) FisherReaches(wrt Ref, statements []Statement) []bool {
	reached := make([]bool, g.Type(wrt).Size())
	d := g.dependence(wrt)
	var any growing
	for _, s := range statements {
		for _, a := range s.Args {
			d.all(&any, a)
		}
	}
	any.order()
	any.each(func(i int) { reached[i] = true })
	return reached
}

// fisher is the sum over statements while it is built.
type fisher struct {
	g               *Graph
	wrt             Ref
	n               int
	total           Ref
	at              func(p, q int32) int32 // for a trace: position of element (p, q) of the matrix A
	maxPerStatement int                    // limit on the derivatives of a statement without sparse form; 0: none

	depends *dependence
}

func newFisher(g *Graph, wrt Ref) *fisher {
	n := g.Type(wrt).Size()
	at := func(p, q int32) int32 { return p*int32(n) + q }
	return &fisher{g: g, wrt: wrt, n: n, total: None, at: at, depends: g.dependence(wrt)}
}

func (f *fisher) add(t Ref) {
	if f.total == None {
		f.total = t
	} else {
		f.total = f.g.Add(f.total, t)
	}
}

// part is a statement with its derivatives.
type part struct {
	place Type
	cols  []int // elements of wrt that its arguments depend on, in ascending order
	// tangent has the tangents of the arguments (None: 0), each directions × elements or, if all
	// elements share it, directions × 1; or it is the result of Whiten.
	tangent []Ref
	info    [][]Ref  // expected information (None: 0); nil with Whiten
	sparse  *entries // nil: dense, with one direction for each column
	left    bool     // it is left out because it has too many derivatives
}

// entries lists the products that make up the information of a sparse statement. Each is, at
// element e of the arguments, the derivative with respect to column p times that with respect to
// column q, for p ≥ q. The derivative with respect to column p is in direction of[p].
type entries struct {
	element, p, q []int32
	of            []int32
	directions    int
}

func (f *fisher) part(s Statement) *part {
	g := f.g
	p := &part{place: g.place(s.Args)}
	args := s.Args
	if s.Whiten == nil {
		args = make([]Ref, len(s.Args))
		for i, a := range s.Args {
			args[i] = a
			if t := g.Type(a); !t.Equal(Scalar) && !t.Equal(p.place) {
				args[i] = g.Expand(a, p.place)
			}
		}
	}
	f.depends.union(args)[0].each(func(i int) { p.cols = append(p.cols, i) })
	if len(p.cols) == 0 {
		return p
	}
	if s.Whiten == nil {
		p.sparse = f.entries(args, p.place.Total(), false, p.cols)
	} else if p.place.Lanes > 0 {
		p.sparse = f.entries(args, p.place.Lanes, true, p.cols)
	}
	if f.maxPerStatement > 0 && p.sparse == nil {
		for _, a := range args {
			if n := max(g.Type(a).Total(), p.place.Total()); n > f.maxPerStatement/len(p.cols) {
				return &part{place: p.place, left: true}
			}
		}
	}
	if s.Whiten != nil {
		p.tangent = g.directions(args, f.wrt, f.seeds(p), p.place.Lanes > 0, func(h *Graph, t []Ref) []Ref {
			z := s.Whiten(h, args, t)
			for i, r := range z {
				if r != None && p.place.Lanes > 0 {
					// A value without lanes counts once for each lane.
					z[i] = h.Spread(r, p.place.Lanes)
				}
			}
			return z
		})
		return p
	}
	p.info = s.Info(g, s.Args)
	if p.sparse == nil && backCost*p.place.Total() < len(p.cols) {
		for _, a := range args {
			p.tangent = append(p.tangent, f.back(a, p.cols))
		}
		return p
	}
	p.tangent = g.directions(args, f.wrt, f.seeds(p), false, func(_ *Graph, t []Ref) []Ref { return t })
	return p
}

// back returns the derivatives of an argument with respect to the columns, by a reverse sweep for
// each element. That is less work than a forward sweep for each column if there are few elements
// and many columns.
func (f *fisher) back(a Ref, cols []int) Ref {
	if _, ok := f.depends.of(a); !ok {
		return None
	}
	g := f.g
	j := g.jacobianBack(a, f.wrt)
	if j == None {
		return None
	}
	m := g.Type(j).Shape[0]
	table := make([]int32, len(cols))
	for i, q := range cols {
		table[i] = int32(q)
	}
	return g.Gather(j, Index{Dims: []Dim{{N: len(table), Table: table}, {N: m, Stride: f.n}}})
}

// entries returns the entries of a statement whose elements are its lanes, if lanes is set, or the
// elements of its place. It returns nil if a dense matrix takes less work.
func (f *fisher) entries(args []Ref, elements int, lanes bool, cols []int) *entries {
	b, ok := f.depends.newBuilder(elements)
	if !ok {
		return nil
	}
	for _, a := range args {
		r, ok := f.depends.of(a)
		if !ok {
			continue
		}
		t := f.g.Type(a)
		if t.Total() < elements || lanes && t.Lanes == 0 { // a value that all elements share
			r = f.depends.union([]Ref{a})
			for e := range elements {
				b.add(e, r[0])
			}
			continue
		}
		for i := range t.Total() {
			b.add(i*elements/t.Total(), r.row(i))
		}
	}
	if rows, ok := b.done(); ok {
		return entriesOf(rows, cols, f.n)
	}
	return nil
}

// entriesOf returns the entries of a statement whose elements depend on the given columns, and
// chooses the directions. It returns nil if a dense matrix takes less work.
func entriesOf(rows pattern, cols []int, n int) *entries {
	elements := len(rows)
	products := 0
	for e := range elements {
		k := 0
		rows[e].each(func(int) { k++ })
		products += k * (k + 1) / 2
	}
	if products > maxLaneWork || sparseCost*products > len(cols)*len(cols)*elements {
		return nil
	}
	s := &entries{of: make([]int32, n)}
	members := make([][]int32, n) // for each column, the elements that depend on it
	for e := range elements {
		rows[e].each(func(q int) { members[q] = append(members[q], int32(e)) })
	}
	// Greedy colouring: no element may depend on two columns that share a direction.
	taken := make([][]bool, elements) // for each element, the directions that it already depends on
	for _, q := range cols {
		d := 0
		for clash := true; clash; {
			clash = false
			for _, e := range members[q] {
				for d < len(taken[e]) && taken[e][d] {
					d, clash = d+1, true
				}
			}
		}
		for _, e := range members[q] {
			for len(taken[e]) <= d {
				taken[e] = append(taken[e], false)
			}
			taken[e][d] = true
		}
		s.of[q] = int32(d)
		s.directions = max(s.directions, d+1)
	}
	for e := range elements {
		rows[e].each(func(p int) {
			rows[e].each(func(q int) {
				if q <= p {
					s.element, s.p, s.q = append(s.element, int32(e)), append(s.p, int32(p)), append(s.q, int32(q))
				}
			})
		})
	}
	return s
}

// seeds returns the directions in which a part is differentiated, one per row.
func (f *fisher) seeds(p *part) Ref {
	c := len(p.cols)
	if p.sparse != nil {
		c = p.sparse.directions
	}
	eye := make([]float64, c*f.n)
	for i, q := range p.cols {
		if p.sparse != nil {
			i = int(p.sparse.of[q])
		}
		eye[i*f.n+q] = 1
	}
	return f.g.ConstArray(Type{Shape: []int{c, f.n}}, eye)
}

// matrix adds a part to the Fisher information.
func (f *fisher) matrix(p *part) {
	if p.sparse != nil {
		f.scatter(p)
		return
	}
	sum := f.square(p)
	if sum == None {
		return
	}
	if len(p.cols) < f.n {
		rows, cols := make([]int32, len(p.cols)), make([]int32, len(p.cols))
		for i, q := range p.cols {
			rows[i], cols[i] = int32(q*f.n), int32(q)
		}
		sum = f.g.Scatter(sum, Index{Dims: []Dim{{N: len(rows), Table: rows}, {N: len(cols), Table: cols}}}, []int{f.n, f.n})
	}
	f.add(sum)
}

// plus returns sum + t; sum is None before the first term.
func (g *Graph) plus(sum, t Ref) Ref {
	if sum == None {
		return t
	}
	return g.Add(sum, t)
}

// square returns the information of a part that is not sparse, as a matrix over its columns; None
// if it is 0.
func (f *fisher) square(p *part) Ref {
	g := f.g
	sum := None
	if len(p.cols) == 0 {
		return sum
	}
	if p.info == nil {
		for _, z := range p.tangent {
			if z != None {
				sum = g.plus(sum, g.matMul(z, z, false, true))
			}
		}
	}
	p.pairs(func(i, k int, w Ref) {
		t := g.weighted(p.tangent[i], p.tangent[k], w, p.place)
		if sum = g.plus(sum, t); i != k {
			sum = g.plus(sum, g.Transpose(t))
		}
	})
	return sum
}

// squareOf returns the submatrix of a at the columns of a part. f.at gives the layout of a.
func (f *fisher) squareOf(a Ref, p *part) Ref {
	c := len(p.cols)
	if len(f.g.Type(a).Shape) == 2 && c == f.n {
		return a
	}
	table := make([]int32, 0, c*c)
	for _, i := range p.cols {
		for _, j := range p.cols {
			table = append(table, f.at(int32(i), int32(j)))
		}
	}
	return f.g.Reshape(f.g.Gather(a, Index{Dims: []Dim{{N: len(table), Table: table}}}), []int{c, c})
}

// pairs calls do for every pair i ≥ k of arguments whose joint information w is not 0.
func (p *part) pairs(do func(i, k int, w Ref)) {
	for i, row := range p.info {
		for k, w := range row[:min(len(row), i+1)] {
			if w != None && p.tangent[i] != None && p.tangent[k] != None {
				do(i, k, w)
			}
		}
	}
}

// trace adds the trace of the product of a part and a to the sum. f.at gives the layout of a.
func (f *fisher) trace(p *part, a Ref) {
	g, c := f.g, len(p.cols)
	switch {
	case c == 0:
		return
	case p.sparse != nil:
		f.sparseTrace(p, a)
		return
	}
	a = f.squareOf(a, p)
	products := map[Ref]Ref{}
	times := func(t Ref) Ref {
		m, ok := products[t]
		if !ok {
			m = g.matMul(a, t, false, false)
			products[t] = m
		}
		return m
	}
	if p.info == nil {
		for _, z := range p.tangent {
			if z != None {
				f.add(g.Sum(g.Mul(z, times(z))))
			}
		}
		return
	}
	p.pairs(func(i, k int, w Ref) {
		x, y := p.tangent[i], p.tangent[k]
		if g.Type(x).Shape[1] < g.Type(y).Shape[1] {
			x, y = y, x
		}
		m := g.Type(x).Shape[1]
		y = times(y)
		if g.Type(y).Shape[1] < m { // all elements share one column
			y = g.Gather(y, Index{Dims: []Dim{{N: c, Stride: 1}, {N: m}}})
		}
		q := g.Scatter(g.Mul(x, y), Index{Dims: []Dim{{N: c}, {N: m, Stride: 1}}}, []int{m})
		w = g.Reshape(g.Unlane(g.Expand(w, p.place)), []int{p.place.Total()})
		if m == 1 {
			q, w = g.Sum(q), g.Sum(w)
		}
		t := g.Sum(g.guarded(q, g.informing(q, w)))
		if i != k {
			t = g.Scale(2, t)
		}
		f.add(t)
	})
}

// products returns the products of a sparse part's entries, weighted by the information and summed
// over its arguments.
func (f *fisher) products(p *part) Ref {
	g, s := f.g, p.sparse
	n := len(s.element)
	sum := None
	if p.info == nil {
		for _, z := range p.tangent {
			if z != None {
				sum = g.plus(sum, f.squares(p, z))
			}
		}
		return sum
	}
	gather := func(t Ref, column []int32) Ref {
		m := g.Type(t).Shape[1]
		table := make([]int32, n)
		for i, e := range s.element {
			table[i] = s.of[column[i]] * int32(m)
			if m > 1 {
				table[i] += e
			}
		}
		return g.Gather(t, Index{Dims: []Dim{{N: n, Table: table}}})
	}
	at := map[[2]int]Ref{}
	factor := func(i, side int) Ref {
		r, ok := at[[2]int{i, side}]
		if !ok {
			r = gather(p.tangent[i], [][]int32{s.p, s.q}[side])
			at[[2]int{i, side}] = r
		}
		return r
	}
	p.pairs(func(i, k int, w Ref) {
		t := g.Mul(factor(i, 0), factor(k, 1))
		if i != k {
			t = g.Add(t, g.Mul(factor(k, 0), factor(i, 1)))
		}
		if !g.Type(w).Equal(Scalar) {
			w = g.Gather(g.Reshape(g.Unlane(g.Expand(w, p.place)), []int{p.place.Total()}), Index{Dims: []Dim{{N: n, Table: s.element}}})
		}
		sum = g.plus(sum, g.guarded(t, g.informing(t, w)))
	})
	return sum
}

// squares returns the products of a sparse part's entries for an array z from Whiten, which has the
// same number of elements in each lane.
func (f *fisher) squares(p *part, z Ref) Ref {
	g, s := f.g, p.sparse
	m := g.Type(z).Shape[1]
	k := m / p.place.Lanes
	factor := func(column []int32) Ref {
		table := make([]int32, len(s.element))
		for i, e := range s.element {
			table[i] = s.of[column[i]]*int32(m) + e*int32(k)
		}
		return g.Gather(z, Index{Dims: []Dim{{N: len(table), Table: table}, {N: k, Stride: 1}}})
	}
	return g.sumLast(g.Mul(factor(s.p), factor(s.q)))
}

// scatter adds the entries of a sparse part to the matrix.
func (f *fisher) scatter(p *part) {
	g, s := f.g, p.sparse
	values := f.products(p)
	if values == None {
		return
	}
	var from, to []int32
	for i := range s.element {
		from, to = append(from, int32(i)), append(to, s.p[i]*int32(f.n)+s.q[i])
		if s.p[i] != s.q[i] {
			from, to = append(from, int32(i)), append(to, s.q[i]*int32(f.n)+s.p[i])
		}
	}
	both := g.Gather(values, Index{Dims: []Dim{{N: len(from), Table: from}}})
	f.add(g.Scatter(both, Index{Dims: []Dim{{N: len(to), Table: to}}}, []int{f.n, f.n}))
}

// sparseTrace adds the trace of a sparse part's product with a.
func (f *fisher) sparseTrace(p *part, a Ref) {
	g, s := f.g, p.sparse
	values := f.products(p)
	if values == None {
		return
	}
	at, times := make([]int32, len(s.element)), make([]float64, len(s.element))
	for i := range at {
		at[i], times[i] = f.at(s.p[i], s.q[i]), 2
		if s.p[i] == s.q[i] {
			times[i] = 1
		}
	}
	w := g.Mul(g.Gather(a, Index{Dims: []Dim{{N: len(at), Table: at}}}), g.ConstArray(Type{Shape: []int{len(at)}}, times))
	f.add(g.Sum(g.Mul(w, values)))
}

// place returns the type over which a statement's elements range.
func (g *Graph) place(args []Ref) Type {
	var p Type
	for _, a := range args {
		t := g.Type(a)
		p.Lanes = max(p.Lanes, t.Lanes)
		if len(t.Shape) > 0 {
			p.Shape = t.Shape
		}
	}
	return p
}

// weighted returns the square matrix Σ_e A(i,e)·w(e)·B(j,e). If A or B has a single column, all
// elements e share it.
func (g *Graph) weighted(a, b, w Ref, place Type) Ref {
	n := g.Type(a).Shape[0]
	m := place.Total()
	one := func(j Ref) bool { return g.Type(j).Shape[1] == 1 }
	weight := w
	w = g.Reshape(g.Unlane(g.Expand(w, place)), []int{1, m})
	if m == 1 || one(a) && one(b) {
		return g.matMul(g.guarded(a, g.Broadcast(g.Sum(w), []int{n, 1})), b, false, true)
	}
	if one(a) {
		return g.Transpose(g.weighted(b, a, weight, place))
	}
	aw := g.guarded(a, g.Gather(w, Index{Dims: []Dim{{N: n}, {N: m, Stride: 1}}}))
	if one(b) {
		aw = g.Reshape(g.sumLast(aw), []int{n, 1})
	}
	return g.matMul(aw, b, false, true)
}

// guarded returns a·w, but 0 where a is 0, even if w is infinite: an element that depends on no
// parameter contributes nothing, also where its information is infinite (a probability of 1).
func (g *Graph) guarded(a, w Ref) Ref { return g.Do(OpMulGuarded, nil, a, w) }

// informing returns w, but 0 where w is not finite and a is 0. It is for guarded, whose adjoint of
// a is w: there, nothing would replace an infinite w by 0.
func (g *Graph) informing(a, w Ref) Ref {
	if g.finiteConst(w) {
		return w
	}
	zero := g.Const(0)
	finite := g.Less(g.Do(OpAbs, nil, w), g.Const(math.Inf(1)))
	return g.Select(finite, w, g.Select(g.Do(OpNotEqual, nil, a, zero), w, zero))
}
