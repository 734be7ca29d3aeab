package ad

import (
	"slices"
)

// SparsePattern describes which elements of the Fisher information may differ from 0. The
// information is G = S + Σ w·u·uᵀ: a sparse matrix and outer products of few vectors.
type SparsePattern struct {
	Rows, Cols []int32 // positions in the lower triangle of S, row by row, with the diagonal
	Wide       []WideVectors
	Left       []int // statements that were left out because they have too many derivatives
}

// WideVectors describes the vectors u of one statement.
type WideVectors struct {
	Columns []int32 // indices of the elements that may differ from 0
	Rank    int     // number of vectors
}

// wideFrom is the least number of columns for which a statement is stored as a sum of outer
// products of few vectors rather than as positions for all products of its columns. wideCost is the
// least ratio of the number of these products to the number of elements of the vectors.
//
// maxPlaces is the maximum number of positions; matrices with more do not count as sparse.
// maxDerivatives is the maximum number of derivatives of a statement that has no sparse form: each
// costs at least one operation, several times in each step.
const (
	wideFrom  = 64
	wideCost  = 4
	maxPlaces = 1 << 21

	maxDerivatives = 1 << 21
)

// sparseFisher is the sum over statements while it is built, at the elements that may differ from
// 0.
type sparseFisher struct {
	*fisher
	diagonal bool // only the diagonal is built
	parts    []*part
	pattern  SparsePattern
	slots    map[int64]int32 // index of each position, see key
	wide     []wide          // one for each of pattern.Wide
	values   []Ref           // values to add at the positions in to
	to       []int32
}

// wide is a part in the form of vectors and weights.
type wide struct {
	vectors []Ref // matrices of columns × number of vectors
	weights []Ref // a weight for each vector; None: 1
	cols    []int32
}

// FisherSparse returns the Fisher information as the sum of a sparse matrix and matrices of low
// rank. out first has the elements at the positions of the pattern. Then follow, for each statement
// that is a sum of outer products, its vectors, column by column, and their weights. ok is false if
// too many elements may differ from 0. If diagonal is set, only the diagonal is computed.
func (g *Graph) FisherSparse(wrt Ref, statements []Statement, diagonal bool) (pattern SparsePattern, out Ref, ok bool) {
	f, ok := g.newSparseFisher(wrt, statements, diagonal)
	if !ok {
		return pattern, None, false
	}
	for _, p := range f.parts {
		f.elements(p)
	}
	n := len(f.pattern.Rows)
	values := g.Expand(g.Const(0), Type{Shape: []int{n}})
	if len(f.values) > 0 {
		values = g.Scatter(g.Concat(f.values...), Index{Dims: []Dim{{N: len(f.to), Table: f.to}}}, []int{n})
	}
	all := []Ref{values}
	for i, w := range f.wide {
		u, weights := f.vectors(w)
		all = append(all, g.Reshape(u, []int{len(w.cols) * f.pattern.Wide[i].Rank}), weights)
	}
	return f.pattern, g.Concat(all...), true
}

// FisherSparseTrace returns an expression whose gradient, with a held fixed, is that of tr(A·G),
// for a symmetric matrix A. a has the layout of FisherSparse: the elements of A at the positions,
// then A·u in place of the vectors u and uᵀA·u in place of the weights. It requires statements for
// which FisherSparse returns ok.
func (g *Graph) FisherSparseTrace(wrt, a Ref, statements []Statement, diagonal bool) Ref {
	f, ok := g.newSparseFisher(wrt, statements, diagonal)
	if !ok {
		g.fail(OpInput, "too many elements of a matrix")
	}
	f.at = func(p, q int32) int32 { return f.slots[f.key(p, q)] }
	n := len(f.pattern.Rows)
	places := g.Slice(a, 0, []int{n})
	for _, p := range f.parts {
		if diagonal {
			f.diagonalTrace(p, places)
		} else if !f.isWide(p) {
			f.trace(p, places)
		}
	}
	for i, w := range f.wide {
		// d(w·uᵀAu) = dw·uᵀAu + 2w·(Au)ᵀdu
		rank := f.pattern.Wide[i].Rank
		u, weights := f.vectors(w)
		moved := g.Slice(a, n, []int{len(w.cols), rank})
		n += len(w.cols) * rank
		products := g.Scatter(g.Mul(u, moved), Index{Dims: []Dim{{N: len(w.cols)}, {N: rank, Stride: 1}}}, []int{rank})
		f.add(g.Dot(weights, g.Sub(g.Scale(2, products), g.Slice(a, n, []int{rank}))))
		n += rank
	}
	if f.total == None {
		return g.Const(0)
	}
	return f.total
}

func (g *Graph) newSparseFisher(wrt Ref, statements []Statement, diagonal bool) (f *sparseFisher, ok bool) {
	f = &sparseFisher{fisher: newFisher(g, wrt), slots: map[int64]int32{}, diagonal: diagonal}
	f.maxPerStatement = maxDerivatives
	places := make([]int64, 0, f.n)
	for i := range f.n {
		places = append(places, f.key(int32(i), int32(i)))
	}
	for i, s := range statements {
		p := f.part(s)
		f.parts = append(f.parts, p)
		if p.left {
			f.pattern.Left = append(f.pattern.Left, i)
		}
		if diagonal {
			continue
		}
		if w, rank, ok := f.asWide(p); ok {
			f.wide = append(f.wide, w)
			f.pattern.Wide = append(f.pattern.Wide, WideVectors{w.cols, rank})
			continue
		}
		if c := len(p.cols); p.sparse == nil && c*(c+1)/2 > maxPlaces {
			return nil, false
		}
		p.places(func(row, col int32) { places = append(places, f.key(row, col)) })
		slices.Sort(places)
		if places = slices.Compact(places); len(places) > maxPlaces {
			return nil, false
		}
	}
	for i, k := range places {
		f.slots[k] = int32(i)
		f.pattern.Rows, f.pattern.Cols = append(f.pattern.Rows, int32(k/int64(f.n))), append(f.pattern.Cols, int32(k%int64(f.n)))
	}
	return f, true
}

// key returns the number of a position in the lower triangle.
func (f *sparseFisher) key(p, q int32) int64 { return int64(max(p, q))*int64(f.n) + int64(min(p, q)) }

// places calls do with every position of the lower triangle to which a part contributes.
func (p *part) places(do func(row, col int32)) {
	if p.sparse != nil {
		for i := range p.sparse.element {
			do(p.sparse.p[i], p.sparse.q[i])
		}
		return
	}
	for i, a := range p.cols {
		for _, b := range p.cols[:i+1] {
			do(int32(a), int32(b))
		}
	}
}

func (f *sparseFisher) isWide(p *part) bool {
	_, _, ok := f.asWide(p)
	return ok
}

// asWide returns a part as vectors and weights. ok is true if the part has no sparse form, depends
// on many columns through few vectors, and no two of its arguments have joint information.
func (f *sparseFisher) asWide(p *part) (w wide, rank int, ok bool) {
	g, c := f.g, len(p.cols)
	if f.diagonal || c < wideFrom || p.sparse != nil {
		return w, 0, false
	}
	add := func(t, weight Ref) {
		w.vectors, w.weights = append(w.vectors, t), append(w.weights, weight)
		rank += g.Type(t).Shape[1]
	}
	if p.info == nil {
		for _, z := range p.tangent {
			if z != None {
				add(z, None)
			}
		}
	}
	joint := false
	p.pairs(func(i, k int, information Ref) {
		joint = joint || i != k
		add(p.tangent[i], information)
	})
	if joint || rank == 0 || wideCost*2*rank > c {
		return wide{}, 0, false
	}
	for _, q := range p.cols {
		w.cols = append(w.cols, int32(q))
	}
	for i, information := range w.weights {
		if information == None {
			continue
		}
		weight := g.Reshape(g.Unlane(g.Expand(information, p.place)), []int{p.place.Total()})
		if g.Type(w.vectors[i]).Shape[1] == 1 { // all elements share it
			weight = g.Reshape(g.Sum(weight), []int{1})
		}
		w.weights[i] = weight
	}
	return w, rank, true
}

// vectors returns the vectors of a part, as a matrix of columns × rank, and their weights.
func (f *sparseFisher) vectors(w wide) (u, weights Ref) {
	g := f.g
	var rows, all []Ref
	for i, v := range w.vectors {
		rank := g.Type(v).Shape[1]
		rows = append(rows, g.Transpose(v))
		weight := w.weights[i]
		if weight == None {
			weight = g.Expand(g.Const(1), Type{Shape: []int{rank}})
		}
		all = append(all, weight)
	}
	if len(rows) == 1 {
		return w.vectors[0], all[0]
	}
	flat := make([]Ref, len(rows))
	rank := 0
	for i, r := range rows {
		k := g.Type(r).Shape[0]
		flat[i] = g.Reshape(r, []int{k * len(w.cols)})
		rank += k
	}
	return g.Transpose(g.Reshape(g.Concat(flat...), []int{rank, len(w.cols)})), g.Concat(all...)
}

// elements adds the elements of a part to the list of values, with their positions.
func (f *sparseFisher) elements(p *part) {
	g, c := f.g, len(p.cols)
	if c == 0 || f.isWide(p) {
		return
	}
	var values Ref
	if f.diagonal {
		if values = f.squared(p); values == None {
			return
		}
		f.values = append(f.values, values)
		for _, q := range p.cols {
			f.to = append(f.to, int32(q))
		}
		return
	}
	if p.sparse != nil {
		values = f.products(p)
	} else if values = f.square(p); values != None {
		lower := make([]int32, 0, c*(c+1)/2)
		for i := range c {
			for j := range i + 1 {
				lower = append(lower, int32(i*c+j))
			}
		}
		values = g.Gather(values, Index{Dims: []Dim{{N: len(lower), Table: lower}}})
	}
	if values == None {
		return
	}
	f.values = append(f.values, values)
	p.places(func(row, col int32) { f.to = append(f.to, f.slots[f.key(row, col)]) })
}

// squared returns the diagonal of a part's information, at its columns; None if it is 0.
func (f *sparseFisher) squared(p *part) Ref {
	g, c := f.g, len(p.cols)
	if p.sparse != nil {
		values := f.products(p)
		if values == None {
			return None
		}
		number := make(map[int32]int32, c)
		for i, q := range p.cols {
			number[int32(q)] = int32(i)
		}
		var from, to []int32
		for i, q := range p.sparse.p {
			if p.sparse.q[i] == q {
				from, to = append(from, int32(i)), append(to, number[q])
			}
		}
		values = g.Gather(values, Index{Dims: []Dim{{N: len(from), Table: from}}})
		return g.Scatter(values, Index{Dims: []Dim{{N: len(to), Table: to}}}, []int{c})
	}
	sum := None
	if p.info == nil {
		for _, z := range p.tangent {
			if z != None {
				sum = g.plus(sum, g.sumLast(g.Square(z)))
			}
		}
	}
	p.pairs(func(i, k int, w Ref) {
		a, b := p.tangent[i], p.tangent[k]
		m := max(g.Type(a).Shape[1], g.Type(b).Shape[1])
		spread := func(t Ref) Ref {
			if g.Type(t).Shape[1] == m {
				return t
			}
			return g.Gather(t, Index{Dims: []Dim{{N: c, Stride: 1}, {N: m}}})
		}
		w = g.Reshape(g.Unlane(g.Expand(w, p.place)), []int{p.place.Total()})
		if m == 1 {
			w = g.Reshape(g.Sum(w), []int{1})
		}
		w = g.Gather(w, Index{Dims: []Dim{{N: c}, {N: m, Stride: 1}}})
		q := g.Mul(spread(a), spread(b))
		t := g.sumLast(g.guarded(q, g.informing(q, w)))
		if i != k {
			t = g.Scale(2, t)
		}
		sum = g.plus(sum, t)
	})
	return sum
}

// diagonalTrace adds the trace of the product of a part's diagonal with a.
func (f *sparseFisher) diagonalTrace(p *part, a Ref) {
	if len(p.cols) == 0 {
		return
	}
	if t := f.squared(p); t != None {
		table := make([]int32, len(p.cols))
		for i, q := range p.cols {
			table[i] = int32(q)
		}
		f.add(f.g.Dot(f.g.Gather(a, Index{Dims: []Dim{{N: len(table), Table: table}}}), t))
	}
}
