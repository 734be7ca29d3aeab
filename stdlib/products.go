package stdlib

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// dot returns the inner product of two vectors.
func dot(b *Builder, a []Arg) ad.Ref {
	b.sameSizes(a)
	return b.G.Dot(a[0].Ref, a[1].Ref)
}

// outer returns the product of a vector and a row vector.
func outer(b *Builder, a []Arg) ad.Ref {
	n, m := b.size(a[0]), b.size(a[1])
	return b.G.MatMul(b.G.Reshape(a[0].Ref, []int{n, 1}), b.G.Reshape(a[1].Ref, []int{1, m}))
}

// inner makes a Build from a product of matrices or vectors. It fails if their sizes do not match.
func inner(f fun2) build {
	return func(b *Builder, a []Arg) ad.Ref {
		l, r := b.shape(a[0]), b.shape(a[1])
		if l[len(l)-1] != r[0] {
			b.Fail("sizes do not match: argument 1 has %s, argument 2 has %s", sizeText(l), sizeText(r))
		}
		return f(b.G, a[0].Ref, a[1].Ref)
	}
}

// square returns the number of rows of argument i. It fails unless the argument is a square matrix.
func (b *Builder) square(a []Arg, i int) int {
	s := b.shape(a[i])
	if s[0] != s[1] {
		b.Fail("argument %d must be a square matrix, but has %s", i+1, sizeText(s))
	}
	return s[0]
}

// alongRows repeats a vector of the rows' length in each row; alongCols repeats one of the columns'
// length in each column.
func alongRows(g *ad.Graph, v ad.Ref, shape []int) ad.Ref {
	return g.Gather(v, dims(0, shape[0], 0, shape[1], 1))
}

func alongCols(g *ad.Graph, v ad.Ref, shape []int) ad.Ref {
	return g.Gather(v, dims(0, shape[0], 1, shape[1], 0))
}

// sumRows adds up each row of a matrix; sumCols adds up each column.
func sumRows(g *ad.Graph, m ad.Ref) ad.Ref {
	s := g.Type(m).Shape
	return g.Scatter(m, dims(0, s[0], 1, s[1], 0), s[:1])
}

func sumCols(g *ad.Graph, m ad.Ref) ad.Ref {
	s := g.Type(m).Shape
	return g.Scatter(m, dims(0, s[0], 0, s[1], 1), s[1:])
}

// asMatrix reshapes vectors to matrices of one column or row.
func (b *Builder) asMatrix(a Arg) ad.Ref {
	switch n := b.size(a); a.Type.Kind {
	case types.Vector:
		return b.G.Reshape(a.Ref, []int{n, 1})
	case types.RowVector:
		return b.G.Reshape(a.Ref, []int{1, n})
	}
	return a.Ref
}

// scaleDiag scales the rows (or the columns) of matrix m by the elements of v.
func scaleDiag(b *Builder, v, m Arg, rows bool) ad.Ref {
	s := b.shape(m)
	along, k := alongRows, 1
	if rows {
		along, k = alongCols, 0
	}
	if b.size(v) != s[k] {
		b.Fail("a vector of size %d does not fit a matrix of %s", b.size(v), sizeText(s))
	}
	return b.G.Mul(along(b.G, v.Ref, s), m.Ref)
}

// products declares the products of linear algebra that are functions with names.
func products() []Func {
	g1 := func(f func(g *ad.Graph, m ad.Ref) ad.Ref) build { return of1(f) }
	dots := func(sum fun1) build {
		return func(b *Builder, a []Arg) ad.Ref {
			b.sameSizes(a)
			return sum(b.G, b.G.Mul(b.asMatrix(a[0]), b.asMatrix(a[len(a)-1])))
		}
	}
	rows, cols := dots(sumRows), dots(sumCols)
	const (
		rowsDoc, colsDoc = "The dot product of each row of one matrix with that of the other.", "The dot product of each column of one matrix with that of the other."
		selfRows         = "The dot product of each row with itself."
		selfCols         = "The dot product of each column with itself."
		quadDoc          = "Bᵀ A B, for arguments A and B."
	)
	var fs []Func
	for _, t := range list(tVec, tRow, tMat) {
		fs = append(fs,
			fixed("rows_dot_product", rowsDoc, tVec, list(t, t), rows), fixed("rows_dot_self", selfRows, tVec, list(t), rows),
			fixed("columns_dot_product", colsDoc, tRow, list(t, t), cols), fixed("columns_dot_self", selfCols, tRow, list(t), cols))
	}
	for _, t := range vectors {
		fs = append(fs,
			fixed("diag_pre_multiply", "diag(v) M: row i of M times vᵢ.", tMat, list(t, tMat),
				func(b *Builder, a []Arg) ad.Ref { return scaleDiag(b, a[0], a[1], true) }),
			fixed("diag_post_multiply", "M diag(v): column j of M times vⱼ.", tMat, list(tMat, t),
				func(b *Builder, a []Arg) ad.Ref { return scaleDiag(b, a[1], a[0], false) }),
			fixed("quad_form_diag", "diag(v) M diag(v).", tMat, list(tMat, t), func(b *Builder, a []Arg) ad.Ref {
				b.square(a, 0)
				half := Arg{Type: tMat, Ref: scaleDiag(b, a[1], a[0], true)}
				return scaleDiag(b, a[1], half, false)
			}))
	}
	quad := func(b *Builder, a []Arg) ad.Ref {
		m := b.asMatrix(a[1])
		if b.square(a, 0) != b.G.Type(m).Shape[0] {
			b.Fail("sizes do not match: argument 1 has %s, argument 2 has %s", sizeText(b.shape(a[0])), sizeText(b.shape(a[1])))
		}
		return b.G.MatMul(b.G.Transpose(m), b.G.MatMul(a[0].Ref, m))
	}
	number := func(f build) build {
		return func(b *Builder, a []Arg) ad.Ref { return b.G.Reshape(f(b, a), nil) }
	}
	// symmetric makes the result exactly symmetric, which it is up to rounding.
	symmetric := func(b *Builder, a []Arg) ad.Ref {
		q := quad(b, a)
		checkSymmetric(b.G, b.Name, "A", a[0].Ref)
		return b.G.Scale(0.5, b.G.Add(q, b.G.Transpose(q)))
	}
	fs = append(fs, fixed("quad_form", quadDoc, tMat, list(tMat, tMat), quad), fixed("quad_form", quadDoc, tReal, list(tMat, tVec), number(quad)),
		fixed("quad_form_sym", quadDoc+" A is symmetric.", tMat, list(tMat, tMat), symmetric).in(types.CovMat, types.Constraint{}),
		fixed("quad_form_sym", quadDoc+" A is symmetric.", tReal, list(tMat, tVec), number(symmetric)).in(types.CovMat, types.Constraint{}))
	tracQuad := func(b *Builder, a []Arg) ad.Ref { return trace(b.G, quad(b, a)) }
	return append(fs,
		fixed("trace_quad_form", "The trace of Bᵀ A B, for arguments A and B.", tReal, list(tMat, tMat), tracQuad),
		fixed("trace_quad_form", "Bᵀ A B, for arguments A and B.", tReal, list(tMat, tVec), number(quad)),
		fixed("trace_gen_quad_form", "The trace of D Bᵀ A B, for arguments D, A, B.", tReal, list(tMat, tMat, tMat), func(b *Builder, a []Arg) ad.Ref {
			return trace(b.G, inner((*ad.Graph).MatMul)(b, []Arg{a[0], {Type: tMat, Ref: quad(b, a[1:])}}))
		}),
		fixed("crossprod", "Aᵀ A.", tMat, list(tMat), g1(func(g *ad.Graph, m ad.Ref) ad.Ref { return g.MatMul(g.Transpose(m), m) })),
		fixed("tcrossprod", "A Aᵀ.", tMat, list(tMat), g1(func(g *ad.Graph, m ad.Ref) ad.Ref { return g.MatMul(m, g.Transpose(m)) })),
		fixed("multiply_lower_tri_self_transpose", "L Lᵀ, where L is the lower triangle of the argument.", tMat, list(tMat), func(b *Builder, a []Arg) ad.Ref {
			l := lowerTriangle(b.G, a[0].Ref)
			return b.G.MatMul(l, b.G.Transpose(l))
		}),
		fixed("trace_dot", "The trace of A B.", tReal, list(tMat, tMat), func(b *Builder, a []Arg) ad.Ref {
			t := b.G.Transpose(a[1].Ref)
			b.sameSizes([]Arg{a[0], {Type: tMat, Ref: t}})
			return b.G.Sum(b.G.Mul(a[0].Ref, t))
		}),
		fixed("trace", "The sum of the diagonal.", tReal, list(tMat), func(b *Builder, a []Arg) ad.Ref {
			return trace(b.G, a[0].Ref)
		}),
	)
}

func trace(g *ad.Graph, m ad.Ref) ad.Ref { return g.Sum(diagonal(g, m)) }

// diagonal returns the diagonal of a matrix that need not be square.
func diagonal(g *ad.Graph, m ad.Ref) ad.Ref {
	s := g.Type(m).Shape
	return g.Gather(m, dims(0, min(s[0], s[1]), s[1]+1))
}

// lowerTriangle sets the elements above the diagonal to 0: it picks those on and below the diagonal
// and puts them back. Elements above do not matter, even if they are NaN.
func lowerTriangle(g *ad.Graph, m ad.Ref) ad.Ref {
	s := g.Type(m).Shape
	ix := tableOf(slices.Collect(lowerPositions(s[0], s[1]))...)
	return g.Scatter(g.Gather(m, ix), ix, s)
}

// lowerPositions yields the positions on and below the diagonal.
func lowerPositions(rows, cols int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range rows {
			for j := range min(i+1, cols) {
				if !yield(i*cols + j) {
					return
				}
			}
		}
	}
}

// tableOf returns the Index of the listed elements.
func tableOf(elems ...int) ad.Index {
	t := make([]int32, len(elems))
	for i, e := range elems {
		t[i] = int32(e)
	}
	return ad.Index{Dims: []ad.Dim{{N: len(t), Table: t}}}
}

// matrices declares functions that rearrange a matrix.
func matrices() []Func {
	addDiag := func(b *Builder, a []Arg) ad.Ref {
		g, s := b.G, b.shape(a[0])
		n := min(s[0], s[1])
		d := a[1].Ref
		if len(b.shape(a[1])) > 0 && b.size(a[1]) != n {
			b.Fail("a vector of size %d does not fit the diagonal of a matrix of %s", b.size(a[1]), sizeText(s))
		}
		d = g.Broadcast(d, []int{n})
		return g.Add(a[0].Ref, g.Scatter(d, dims(0, n, s[1]+1), s))
	}
	fs := fixedEach("add_diag", "The matrix with d added to its diagonal.", tMat, list(tMat), list(tReal), addDiag)
	for _, t := range vectors {
		fs = append(fs, fixed("add_diag", "The matrix with d added to its diagonal.", tMat, list(tMat, t), addDiag))
	}
	return append(fs,
		fixed("diag_matrix", "The matrix with this diagonal and zeros elsewhere.", tMat, list(tVec), func(b *Builder, a []Arg) ad.Ref {
			n := b.size(a[0])
			return b.G.Scatter(a[0].Ref, dims(0, n, n+1), []int{n, n})
		}),
		fixed("diagonal", "The diagonal of a matrix.", tVec, list(tMat), of1(diagonal)),
		fixed("symmetrize_from_lower_tri", "The symmetric matrix with this lower triangle.", tMat, list(tMat), func(b *Builder, a []Arg) ad.Ref {
			n := b.square(a, 0)
			var from []int
			for i := range n {
				for j := range n {
					from = append(from, max(i, j)*n+min(i, j))
				}
			}
			return b.G.Reshape(b.G.Gather(a[0].Ref, tableOf(from...)), []int{n, n})
		}))
}
