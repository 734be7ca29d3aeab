package passes

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file: sums of squares over rows that select some of their coefficients, as in
//
//	y ~ normal(a[g] + x * b, sigma)
//
// Rows that select the same coefficients are a group. The selected coefficients are factors of the
// first columns of the group, one for each distinct weight: a column of ones for a[g], x for
// s[g] .* x. Householder reflections of the group's rows make all but as many rows zero in these
// columns. The sum of squares remains. The other rows no longer need the group: those of all groups
// are shortened together. This is the QR decomposition of all columns, with one for each element of
// a, without the zeros.
//
// If there is a column of ones, the means of the group are subtracted from its other columns before
// that, and added to its first row again. So rounding errors are relative to the deviations from
// the means: with a million outcomes near 1e4, the error of a gradient was 600 units in the last
// place of the coefficient, not 1.

// selection is the coefficient that each row selects: that at position i·each+at of an index.
type selection struct {
	ix       ad.Index
	each, at int
	table    []int32 // by row: the element; made by elements
}

// elements returns the elements that the rows select.
func (s *selection) elements(rows int) []int32 {
	if s.table == nil {
		s.table = make([]int32, rows)
		s.ix.Each(func(pos, elem int) {
			if i := pos - s.at; i%s.each == 0 && i >= 0 {
				s.table[i/s.each] = int32(elem)
			}
		})
	}
	return s.table
}

// groups are the rows that select the same coefficients.
type groups struct {
	class []int32 // by row: its group
	first []int32 // the first row of each group, in order
}

// selects returns elements of an array, selected by a table, as an affine value.
func (p *projector) selects(n *ad.Node) *affine {
	ix := n.Index()
	if p.old.Type(n.Args[0]).Lanes > 0 || n.Type.Lanes > 0 || !slices.ContainsFunc(ix.Dims, func(d ad.Dim) bool { return d.Table != nil }) {
		return nil
	}
	return &affine{terms: []term{{vector: n.Args[0], matrix: ad.None, selected: &selection{ix: ix, each: 1}}}}
}

// rowSums returns the sums over the last dimension of an affine value whose elements select
// coefficients, such as dot products of rows of data with selected rows.
func (p *projector) rowSums(n *ad.Node, rows int) *affine {
	b := p.of[n.Args[0]]
	if b == nil || n.Type.Lanes != p.old.Type(n.Args[0]).Lanes {
		return nil
	}
	each := p.old.Type(n.Args[0]).Total() / rows
	dims := n.Index().Dims
	if n.Type.Lanes == 0 {
		if len(dims) != 2 || dims[0].Table != nil || dims[0].N != rows || dims[0].Stride != 1 {
			return nil
		}
		dims = dims[1:]
	}
	if len(dims) != 1 || dims[0].Table != nil || dims[0].N != each || dims[0].Stride != 0 || n.Index().Offset != 0 {
		return nil
	}
	out := &affine{scale: b.scale}
	for _, t := range b.terms {
		if t.matrix != ad.None || len(out.terms)+each > maxSelected {
			return nil
		}
		for k := range each {
			u := t
			if t.selected != nil {
				u.selected = &selection{ix: t.selected.ix, each: t.selected.each * each, at: t.selected.each*k + t.selected.at}
			}
			u.weights = slices.Clone(t.weights)
			for j := range u.weights {
				w := &u.weights[j]
				w.each, w.at = w.each*each, w.each*k+w.at
			}
			out.terms = append(out.terms, u)
			out.width += u.width
		}
	}
	return out
}

// selects returns the number of coefficients that a row selects.
func (a *affine) selects() (n int) {
	for i := range a.terms {
		if a.terms[i].selected != nil {
			n++
		}
	}
	return n
}

// columns returns the terms with selected coefficients, those with the same weights together. A
// column of ones is the first.
func (a *affine) columns() (columns [][]term) {
	for _, t := range a.terms {
		if t.selected == nil {
			continue
		}
		k := slices.IndexFunc(columns, func(c []term) bool { return slices.Equal(c[0].weights, t.weights) })
		if k < 0 {
			k = len(columns)
			columns = append(columns, nil)
		}
		columns[k] = append(columns[k], t)
	}
	if k := slices.IndexFunc(columns, ones); k > 0 {
		columns[0], columns[k] = columns[k], columns[0]
	}
	return columns
}

// ones reports whether a column has no weights.
func ones(column []term) bool { return len(column[0].weights) == 0 }

// group finds the groups of an affine value. It returns false if they are too many to be worth
// shortening, for as many rows each and one of its check.
func (p *projector) group(a *affine, rows, columns int) bool {
	if p.groups[a] == nil && rows >= minGrouped {
		p.groups[a] = p.groupsOf(a, rows)
	}
	s := p.groups[a]
	return s != nil && len(s.first)*(columns+1) <= rows/2
}

// groupsOf returns the groups of an affine value; nil if they are more than half as many as rows.
func (p *projector) groupsOf(a *affine, rows int) *groups {
	budget := p.old.Budget()
	defer budget.Back(budget.Used())
	s := &groups{class: make([]int32, rows), first: []int32{0}}
	for i := range a.terms {
		t := &a.terms[i]
		if t.selected == nil {
			continue
		}
		if budget.Take(int64(rows)*bytesOfGroup) != nil {
			return nil
		}
		if !s.divide(t.selected.elements(rows)) {
			return nil
		}
	}
	return s
}

// divide divides the groups by an element for each row. It returns false once there are more than
// half as many groups as rows.
func (s *groups) divide(elements []int32) bool {
	known := true
	for i, e := range elements {
		known = known && e == elements[s.first[s.class[i]]]
	}
	if known {
		return true
	}
	var find func(class, e int32) *int32 // the number of a group, from 1; 0: a new one
	least, most := slices.Min(elements), slices.Max(elements)
	if width := int(most-least) + 1; len(s.first) == 1 && width <= 4*len(elements) {
		at := make([]int32, width)
		find = func(_, e int32) *int32 { return &at[e-least] }
	} else {
		type key struct{ class, element int32 }
		at := map[key]*int32{}
		find = func(class, e int32) *int32 {
			k := key{class, e}
			if at[k] == nil {
				at[k] = new(int32)
			}
			return at[k]
		}
	}
	s.first = nil
	for i, e := range elements {
		c := find(s.class[i], e)
		if *c == 0 {
			if s.first = append(s.first, int32(i)); len(s.first) > len(elements)/2 {
				return false
			}
			*c = int32(len(s.first))
		}
		s.class[i] = *c - 1
	}
	return true
}

// chosen returns the sum of the selected coefficients of a column, for the given rows.
func (p *projector) chosen(to *ad.Rewriter, column []term, rows []int32) ad.Ref {
	g := to.To
	var sum []ad.Ref
	for _, t := range column {
		elements := t.selected.table
		table := make([]int32, len(rows))
		for k, i := range rows {
			table[k] = elements[i]
		}
		x := g.Gather(to.At(t.vector), ad.Index{Dims: []ad.Dim{{N: len(rows), Table: table}}})
		for _, f := range t.factors {
			x = f.apply(g, x, g.Reshape(to.At(f.r), nil))
		}
		if t.neg {
			x = g.Neg(x)
		}
		sum = append(sum, x)
	}
	return sumOf(g, sum)
}

// shortGroups returns the sums of squares over the first rows of all groups, and passes the others
// to rest.
func (p *projector) shortGroups(to *ad.Rewriter, a *affine, c ad.Ref, rest *triangle) (squares []ad.Ref) {
	g, s, columns := to.To, p.groups[a], a.columns()
	members := s.members()
	// The groups in the order of what they select, so that it is read in order.
	order := make([]int32, len(s.first))
	for k := range order {
		order[k] = int32(k)
	}
	sorting.Stable(order, func(x, y int32) int {
		for _, column := range columns {
			for _, t := range column {
				if d := cmp.Compare(t.selected.table[s.first[x]], t.selected.table[s.first[y]]); d != 0 {
					return d
				}
			}
		}
		return 0
	})
	firsts := make([]int32, len(order))
	m, width := len(columns), len(columns)+a.width
	known := make([][]float64, m) // of row k of each group
	for k := range known {
		known[k] = g.Array(len(order), width)
	}
	block := make([]float64, (m+blockRows)*width)
	row := func(i int) []float64 { return block[i*width : (i+1)*width] }
	set := func(of int32, to []float64) {
		for k, column := range columns {
			to[k] = p.weight(column[0].weights, int(of))
		}
		p.row(a, int(of), to[m:])
	}
	means := g.Array(len(order), width)
	for at, group := range order {
		firsts[at] = s.first[group]
		n, mean := 0, means[at*width:(at+1)*width]
		if ones(columns[0]) {
			for _, i := range members[group] {
				set(i, row(0))
				for k, v := range row(0)[1:] {
					mean[k+1] += v / float64(len(members[group]))
				}
			}
		}
		for of := members[group]; len(of) > 0; {
			for ; len(of) > 0 && n < m+blockRows; n, of = n+1, of[1:] {
				set(of[0], row(n))
				for k, v := range mean {
					row(n)[k] -= v
				}
			}
			reflect(block[:n*width], width, m)
			for ; n > m; n-- {
				if a.width > 0 {
					copy(rest.next(), row(n - 1)[m:])
				}
			}
		}
		for k := range n {
			copy(known[k][at*width+k:(at+1)*width], row(k)[k:])
		}
	}
	selected := make([]ad.Ref, m)
	for k, column := range columns {
		selected[k] = p.chosen(to, column, firsts)
	}
	vector := ad.Type{Shape: []int{len(order)}}
	for k := range m {
		// Row k is divided by its diagonal element, its square becomes a factor of that. Then large
		// numbers cancel before they are multiplied.
		factors, same := g.Array(len(order)), true
		for i := range factors {
			r := known[k][i*width : (i+1)*width]
			d := r[k]
			if factors[i] = d * d; !(factors[i] > minDiagonal && factors[i] < 1/minDiagonal) {
				factors[i], same = 1, false
				continue
			}
			for j := range r {
				r[j] /= d
				if k == 0 {
					r[j] += means[i*width+j]
				}
			}
		}
		var sum []ad.Ref
		for j := k; j < m; j++ {
			w := g.Array(len(order))
			for i := range w {
				w[i] = known[k][i*width+j]
			}
			x := selected[j]
			if j > k || !same {
				x = g.Mul(g.ConstArray(vector, w), x)
			}
			sum = append(sum, x)
		}
		if a.width > 0 {
			x := g.Array(len(order), a.width)
			for i := range order {
				copy(x[i*a.width:(i+1)*a.width], known[k][i*width+m:(i+1)*width])
			}
			sum = append(sum, product(g, x, c))
		}
		squares = append(squares, g.Sum(g.Mul(g.ConstArray(vector, factors), g.Square(sumOf(g, sum)))))
	}
	return squares
}

// members returns the rows of each group.
func (s *groups) members() [][]int32 {
	n := make([]int, len(s.first))
	for _, c := range s.class {
		n[c]++
	}
	all, out := make([]int32, len(s.class)), make([][]int32, len(s.first))
	for c, k := range n {
		out[c], all = all[:0:k], all[k:]
	}
	for i, c := range s.class {
		out[c] = append(out[c], int32(i))
	}
	return out
}

// reflect makes the first columns of the rows x zero below the diagonal, by Householder
// reflections. The zeros are stored only in as many rows as columns, which are reflected again with
// the next rows: the other rows are read to the right of these columns.
func reflect(x []float64, width, columns int) {
	rows := len(x) / width
	w := make([]float64, width)
	for j := range min(columns, rows-1) {
		norm := blas64.Nrm2(blas64.Vector{N: rows - j, Inc: width, Data: x[j*width+j:]})
		if norm == 0 {
			continue
		}
		// With the vector v = x + sign(x₁)|x|e₁, divided by its first element, the reflection is
		// 1 - τ v vᵀ.
		first := &x[j*width+j]
		to := -math.Copysign(norm, *first)
		v1, tau := *first-to, (to-*first)/to
		clear(w)
		*first = v1
		for i := j; i < rows; i++ {
			r := x[i*width : (i+1)*width]
			r[j] /= v1
			for k := j + 1; k < width; k++ {
				w[k] += r[j] * r[k]
			}
		}
		for i := j; i < rows; i++ {
			r := x[i*width : (i+1)*width]
			f := tau * r[j]
			for k := j + 1; k < width; k++ {
				r[k] -= f * w[k]
			}
		}
		*first = to
	}
	for i := range min(columns, rows) {
		clear(x[i*width : i*width+i])
	}
}
