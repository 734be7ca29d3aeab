package stdlib

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: factors, inverses, determinants and functions of square matrices. A matrix that must
// be symmetric is checked as in Stan, to within symmetryTolerance.

const symmetryTolerance = 1e-8

// checkSymmetric adds the check that opposite elements of a square matrix are
// equal.
func checkSymmetric(g *ad.Graph, function, what string, m ad.Ref) {
	n := g.Type(m).Shape[0]
	var lower, upper []int
	for i := range n {
		for j := range i {
			lower, upper = append(lower, i*n+j), append(upper, j*n+i)
		}
	}
	if len(lower) == 0 {
		return
	}
	d := g.Sub(g.Gather(m, tableOf(lower...)), g.Gather(m, tableOf(upper...)))
	same := types.Between(-symmetryTolerance, symmetryTolerance)
	same.Text = "0 as of a symmetric matrix"
	check(g, function, "difference of opposite elements of "+what, same, d)
}

// checkSemidefinite adds the checks that a square matrix is symmetric and, up to
// rounding, positive semidefinite.
func (b *Builder) checkSemidefinite(what string, m ad.Ref) {
	checkSymmetric(b.G, b.Name, what, m)
	if b.G.Type(m).Size() == 0 {
		return
	}
	values, _ := b.G.EigenSym(m)
	least := types.Constraint{Text: "nonnegative", Lo: -symmetryTolerance, Hi: math.Inf(1)}
	check(b.G, b.Name, "eigenvalues of "+what, least, values)
}

// factor checks that argument i is square, symmetric and positive definite, and returns its
// Cholesky factor. It also checks that the diagonal of the factor is positive. So the factor is
// computed, and the argument checked, even if nothing uses the factor.
func (b *Builder) factor(a []Arg, i int, what string) ad.Ref {
	n := b.square(a, i)
	checkSymmetric(b.G, b.Name, what, a[i].Ref)
	l := b.G.CholeskyOf(a[i].Ref, ad.CholeskyAttr{Function: b.Name, Name: what})
	if n > 0 {
		check(b.G, b.Name, "diagonal of the Cholesky factor of "+what, types.Positive, diagonal(b.G, l))
	}
	return l
}

// logDiagonal returns the sum of the logarithms of the diagonal.
func logDiagonal(g *ad.Graph, l ad.Ref) ad.Ref { return g.Sum(g.Log(diagonal(g, l))) }

// eye returns the identity matrix.
func eye(g *ad.Graph, n int) ad.Ref {
	v := g.Array(n, n)
	for i := range n {
		v[i*n+i] = 1
	}
	return g.ConstArray(ad.Type{Shape: []int{n, n}}, v)
}

// inverseOfProduct returns (L Lᵀ)⁻¹, exactly symmetric.
func inverseOfProduct(g *ad.Graph, l ad.Ref) ad.Ref {
	x := g.TriSolve(l, eye(g, g.Type(l).Shape[0]), ad.TriAttr{})
	return g.MatMul(g.Transpose(x), x)
}

// systems checks that argument i is square and fits argument k along dimension dim.
func (b *Builder) systems(a []Arg, i, k, dim int) {
	n := b.square(a, i)
	if s := b.G.Type(b.asMatrix(a[k])).Shape; s[dim] != n {
		b.Fail("sizes do not match: argument 1 has %s, argument 2 has %s", sizeText(b.shape(a[0])), sizeText(b.shape(a[1])))
	}
}

// divisions declares the functions and operators that divide by a matrix: A⁻¹B for vectors and
// matrices B, and BA⁻¹ for row vectors and matrices B.
func divisions() []Func {
	left := func(solve func(b *Builder, a []Arg, x ad.Ref) ad.Ref) build {
		return func(b *Builder, a []Arg) ad.Ref {
			b.systems(a, 0, 1, 0)
			return b.G.Reshape(solve(b, a, b.asMatrix(a[1])), b.shape(a[1]))
		}
	}
	right := func(solve func(b *Builder, a []Arg, x ad.Ref) ad.Ref) build {
		return func(b *Builder, a []Arg) ad.Ref {
			b.systems(a, 1, 0, 1)
			return b.G.Reshape(solve(b, a, b.asMatrix(a[0])), b.shape(a[0]))
		}
	}
	spdLeft := func(b *Builder, a []Arg, x ad.Ref) ad.Ref {
		l := b.factor(a, 0, "A")
		return b.G.TriSolve(l, b.G.TriSolve(l, x, ad.TriAttr{}), ad.TriAttr{Trans: true})
	}
	rows := []struct {
		name, doc string
		right     bool
		f         build
		in        types.Constraint
	}{
		{"mdivide_left", "A⁻¹ B, for arguments A and B.", false, left(func(b *Builder, a []Arg, x ad.Ref) ad.Ref {
			return b.G.Solve(a[0].Ref, x)
		}), types.Constraint{}},
		{"mdivide_left_spd", "A⁻¹ B for symmetric positive definite A, for arguments A and B.", false, left(spdLeft), types.CovMat},
		{"mdivide_left_tri_low", "A⁻¹ B, where A is the lower triangle of the first argument, for arguments A and B.", false,
			left(func(b *Builder, a []Arg, x ad.Ref) ad.Ref { return b.G.TriSolve(a[0].Ref, x, ad.TriAttr{}) }), types.CholeskyCov},
		{"mdivide_right", "B A⁻¹, for arguments B and A.", true, right(func(b *Builder, a []Arg, x ad.Ref) ad.Ref {
			return b.G.Transpose(b.G.Solve(b.G.Transpose(a[1].Ref), b.G.Transpose(x)))
		}), types.Constraint{}},
		{"mdivide_right_spd", "B A⁻¹ for symmetric positive definite A, for arguments B and A.", true, right(func(b *Builder, a []Arg, x ad.Ref) ad.Ref {
			l := b.factor(a, 1, "A")
			t := b.G.TriSolve(l, x, ad.TriAttr{Trans: true, Right: true})
			return b.G.TriSolve(l, t, ad.TriAttr{Right: true})
		}), types.CovMat},
		{"mdivide_right_tri_low", "B A⁻¹, where A is the lower triangle of the second argument, for arguments B and A.", true,
			right(func(b *Builder, a []Arg, x ad.Ref) ad.Ref { return b.G.TriSolve(a[1].Ref, x, ad.TriAttr{Right: true}) }), types.CholeskyCov},
	}
	operators := map[string]string{"mdivide_left": `operator\`, "mdivide_right": "operator/"}
	var fs []Func
	for _, r := range rows {
		var forms []Func
		if r.right {
			forms = append(forms, fixed(r.name, r.doc, tRow, list(tRow, tMat), r.f).in(types.Constraint{}, r.in),
				fixed(r.name, r.doc, tMat, list(tMat, tMat), r.f).in(types.Constraint{}, r.in))
		} else {
			forms = append(forms, fixed(r.name, r.doc, tVec, list(tMat, tVec), r.f).in(r.in),
				fixed(r.name, r.doc, tMat, list(tMat, tMat), r.f).in(r.in))
		}
		fs = append(fs, forms...)
		if op, ok := operators[r.name]; ok {
			fs = append(fs, named(forms, op)...)
		}
	}
	return fs
}

// decompositions declares factors, inverses, determinants and functions of matrices.
func decompositions() []Func {
	one := func(name, doc string, result types.Type, in types.Constraint, f func(b *Builder, a []Arg) ad.Ref) Func {
		return fixed(name, doc, result, list(tMat), f).in(in)
	}
	square := func(f fun1) build {
		return func(b *Builder, a []Arg) ad.Ref { b.square(a, 0); return f(b.G, a[0].Ref) }
	}
	free, spd := types.Constraint{}, types.CovMat
	fs := []Func{
		one("cholesky_decompose", "The lower triangular L with a positive diagonal and L Lᵀ = A, of a symmetric positive definite A.", tMat, spd,
			func(b *Builder, a []Arg) ad.Ref { return b.factor(a, 0, "m") }),
		one("inverse", "The inverse matrix.", tMat, free, square((*ad.Graph).Inverse)),
		one("inverse_spd", "The inverse of a symmetric positive definite matrix, by its Cholesky factor.", tMat, spd,
			func(b *Builder, a []Arg) ad.Ref { return inverseOfProduct(b.G, b.factor(a, 0, "m")) }),
		one("chol2inv", "(L Lᵀ)⁻¹ for a lower triangular L.", tMat, types.CholeskyCov, func(b *Builder, a []Arg) ad.Ref {
			b.square(a, 0)
			checkLower(b.G, b.Name, "L", a[0].Ref)
			return inverseOfProduct(b.G, a[0].Ref)
		}),
		one("determinant", "The determinant.", tReal, free, square((*ad.Graph).Det)),
		one("log_determinant", "The logarithm of the absolute value of the determinant.", tReal, free, square((*ad.Graph).LogAbsDet)),
		one("log_determinant_spd", "The logarithm of the determinant of a symmetric positive definite matrix.", tReal, spd,
			func(b *Builder, a []Arg) ad.Ref {
				return b.G.Scale(2, logDiagonal(b.G, b.factor(a, 0, "m")))
			}),
		one("eigenvalues_sym", "The eigenvalues of a symmetric matrix in ascending order.", tVec, spd, func(b *Builder, a []Arg) ad.Ref {
			v, _ := b.eigen(a)
			return v
		}),
		one("eigenvectors_sym", "The eigenvectors of a symmetric matrix, in columns, in the order of eigenvalues_sym. Each is determined up to its sign.", tMat, spd,
			func(b *Builder, a []Arg) ad.Ref {
				_, v := b.eigen(a)
				return v
			}),
		one("singular_values", "The singular values in descending order.", tVec, free, func(b *Builder, a []Arg) ad.Ref {
			s, _, _ := b.singular(a)
			return s
		}),
		one("svd_U", "The left singular vectors, in orthonormal columns, in the order of singular_values; with svd_V determined up to signs. Derivatives exist for those of singular values that are not 0 and differ from one another.", tMat, free,
			func(b *Builder, a []Arg) ad.Ref {
				_, u, _ := b.singular(a)
				return u
			}),
		one("svd_V", "The right singular vectors, in orthonormal columns, in the order of singular_values; with svd_U determined up to signs. Derivatives exist for those of singular values that are not 0 and differ from one another.", tMat, free,
			func(b *Builder, a []Arg) ad.Ref {
				_, _, v := b.singular(a)
				return v
			}),
		one("matrix_exp", "The exponential Σ Aⁿ/n! of a square matrix (Higham 2005).", tMat, free, square(op1(ad.OpMatrixExp))),
		fixed("matrix_exp_multiply", "The product of the exponential of the first matrix with the second.", tMat, list(tMat, tMat), func(b *Builder, a []Arg) ad.Ref {
			return b.expMultiply(a, a[0].Ref)
		}),
		fixed("scale_matrix_exp_multiply", "exp(t A) B, for arguments t, A, B.", tMat, list(tReal, tMat, tMat), func(b *Builder, a []Arg) ad.Ref {
			return b.expMultiply(a[1:], b.G.Mul(a[0].Ref, a[1].Ref))
		}),
		fixed("matrix_power", "A square matrix to the power n ≥ 0, a whole number known when the data are bound.", tMat, list(tMat, tInt), matrixPower),
		one("generalized_inverse", "The generalised inverse of a matrix of full rank: (AᵀA)⁻¹Aᵀ, or Aᵀ(AAᵀ)⁻¹ if it has more columns than rows.", tMat, free,
			func(b *Builder, a []Arg) ad.Ref {
				g, m := b.G, a[0].Ref
				s, t := b.shape(a[0]), b.G.Transpose(a[0].Ref)
				if s[0] < s[1] {
					return g.MatMul(t, inverseOfProduct(g, g.Cholesky(g.MatMul(m, t))))
				}
				return g.MatMul(inverseOfProduct(g, g.Cholesky(g.MatMul(t, m))), t)
			}),
	}
	qr := func(name, doc string, thin, q bool) Func {
		return one(name, doc, tMat, free, func(b *Builder, a []Arg) ad.Ref {
			Q, R := b.householder(a[0].Ref, thin)
			if q {
				return Q
			}
			return R
		})
	}
	return append(fs,
		qr("qr_Q", "The orthogonal Q of A = QR with upper triangular R that has no negative number on its diagonal, by Householder reflections; all columns.", false, true),
		qr("qr_R", "The upper triangular R of A = QR, of A's shape.", false, false),
		qr("qr_thin_Q", "The orthogonal Q of A = QR, as many columns as A has rows or columns, whichever is less.", true, true),
		qr("qr_thin_R", "The upper triangular R of A = QR for the Q of qr_thin_Q.", true, false))
}

func (b *Builder) expMultiply(a []Arg, m ad.Ref) ad.Ref {
	b.systems(a, 0, 1, 0)
	return b.G.MatMul(b.G.Do(ad.OpMatrixExp, nil, m), a[1].Ref)
}

// eigen checks that the argument is symmetric and decomposes it.
func (b *Builder) eigen(a []Arg) (values, vectors ad.Ref) {
	b.square(a, 0)
	checkSymmetric(b.G, b.Name, "m", a[0].Ref)
	return b.G.EigenSym(a[0].Ref)
}

// singular returns the thin singular value decomposition.
func (b *Builder) singular(a []Arg) (s, u, v ad.Ref) {
	g, shape := b.G, b.shape(a[0])
	r, c := shape[0], shape[1]
	k := min(r, c)
	s, u, v = g.SVD(a[0].Ref)
	// Choose the sign for which the elements of u have a positive sum, so that the sign does not
	// depend on the algorithm.
	flip := g.Less(sumCols(g, u), g.Const(0))
	sign := g.Sub(g.Const(1), g.Scale(2, flip))
	return s, g.Mul(alongRows(g, sign, []int{r, k}), u), g.Mul(alongRows(g, sign, []int{c, k}), v)
}

// matrixPower computes a power by repeated squaring.
func matrixPower(b *Builder, a []Arg) ad.Ref {
	n := b.square(a, 0)
	g, square, p := b.G, a[0].Ref, ad.None
	e := b.length(a, 1)
	if e == 0 {
		return eye(g, n)
	}
	for ; e > 0; e >>= 1 {
		if e&1 == 1 {
			if p == ad.None {
				p = square
			} else {
				p = g.MatMul(p, square)
			}
		}
		if e > 1 {
			square = g.MatMul(square, square)
		}
	}
	return p
}

// householder computes A = QR by reflections, as separate ops, so that the derivatives of all
// orders are those of the algorithm. The diagonal of R is made nonnegative. With thin, Q has
// min(rows, columns) columns.
func (b *Builder) householder(a ad.Ref, thin bool) (q, r ad.Ref) {
	g := b.G
	s := g.Type(a).Shape
	m, n := s[0], s[1]
	q, r = eye(g, m), a
	for k := range min(m-1, n) {
		// Reflect column k below the diagonal onto ±e: v is x with ±|x| added to its first element,
		// with the sign that does not cancel.
		x := g.Gather(r, dims(k*n+k, m-k, n))
		first := g.Slice(x, 0, nil)
		norm := length(g, x)
		beta := g.Select(g.Less(first, g.Const(0)), norm, g.Neg(norm))
		e := make([]float64, m-k)
		e[0] = 1
		v := g.Sub(x, g.Mul(beta, g.ConstArray(ad.Type{Shape: []int{m - k}}, e)))
		zero := g.Const(0)
		vv := g.Sum(g.Square(v))
		tau := g.Select(g.Equal(vv, zero), zero, g.Div(g.Const(2), vv))
		full := g.Scatter(v, dims(k, m-k, 1), []int{m})
		col := func(x ad.Ref) ad.Ref { return g.Reshape(x, []int{m, 1}) }
		row := g.Reshape(g.VecMat(full, r), []int{1, n})
		r = g.Sub(r, g.Mul(tau, g.MatMul(col(full), row)))
		q = g.Sub(q, g.Mul(tau, g.MatMul(col(g.MatVec(q, full)), g.Reshape(full, []int{1, m}))))
	}
	k := min(m, n)
	sign := g.Sub(g.Const(1), g.Scale(2, g.Less(diagonal(g, r), g.Const(0))))
	if m > k {
		ones := g.Broadcast(g.Const(1), []int{m - k})
		sign = g.Concat(sign, ones)
	}
	q = g.Mul(alongRows(g, sign, []int{m, m}), q)
	r = g.Mul(alongCols(g, sign, []int{m, n}), r)
	// Drop rounding errors below the diagonal.
	var upper []int
	for i := range m {
		for j := i; j < n; j++ {
			upper = append(upper, i*n+j)
		}
	}
	ix := tableOf(upper...)
	r = g.Scatter(g.Gather(r, ix), ix, []int{m, n})
	if thin && m > k {
		q = g.Gather(q, dims(0, m, m, k, 1))
		r = g.Gather(r, dims(0, k, n, n, 1))
	}
	return q, r
}
