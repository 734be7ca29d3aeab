package ad

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// matrixExp computes the exponential of an n×n matrix: the Padé approximant at A/2ˢ, squared s
// times (Higham 2005, The scaling and squaring method for the matrix exponential revisited). With
// e, it also computes the derivative in the direction e, by differentiating the same steps (Al-Mohy
// and Higham 2009, Computing the Fréchet derivative of the matrix exponential). work has
// matrixExpWork(n) elements, twice as many with e.
//
// The derivative is also the upper right block of the exponential of [A E; 0 A]. That would take 8
// products of n×n matrices instead of 3, and more squarings if E is large, although the derivative
// is linear in E.
func matrixExp(dst, a, dstE, e []float64, n int, work []float64) {
	x := expMatrix{n: n, work: work, tangent: e != nil}
	norm := 0.0
	for j := range n {
		s := 0.0
		for i := range n {
			s += math.Abs(a[i*n+j])
		}
		norm = max(norm, s)
	}
	p := &approximants[len(approximants)-1]
	for k := range approximants {
		if norm <= approximants[k].most[x.kind()] { // if the norm is NaN, none fits
			p = &approximants[k]
			break
		}
	}
	squarings := 0
	if most := p.most[x.kind()]; norm > most && !math.IsInf(norm, 1) {
		squarings = int(math.Ceil(math.Log2(norm / most)))
	}
	scale := math.Ldexp(1, -squarings)
	of, u, v, t := x.new(), x.new(), x.new(), x.new()
	for i, y := range a {
		of.v[i] = y * scale
	}
	for i, y := range e {
		of.d[i] = y * scale
	}
	var powers [4]dual // A², A⁴ and so on
	b, evens := p.b, p.evens
	for k := range evens {
		powers[k] = x.new()
		if k == 0 {
			x.mul(powers[0], of, of)
		} else {
			x.mul(powers[k], powers[0], powers[k-1])
		}
	}
	// sum computes c₀I + c₁A² + …, with every second coefficient, starting at index from.
	sum := func(to dual, from int, high bool) {
		c := [5]float64{}
		for k := range evens + 1 {
			if at := from + 2*k; at < len(b) {
				c[k] = b[at]
			}
		}
		if high {
			c[0] = 0
		}
		x.combine(to, c, powers[:evens])
	}
	if len(b) == 14 {
		sum(t, 7, true) // b₉A² + b₁₁A⁴ + b₁₃A⁶
		x.mul(v, powers[2], t)
		sum(t, 1, false)
		x.add(t, v)
		x.mul(u, of, t)
		sum(t, 6, true)
		x.mul(v, powers[2], t)
		sum(t, 0, false)
		x.add(v, t)
	} else {
		sum(t, 1, false)
		x.mul(u, of, t)
		sum(v, 0, false)
	}
	// The exponential X solves (V - U) X = V + U.
	r := dual{v: dst, d: dstE}
	x.halves(r, v, u)
	x.solve(r, v)
	for range squarings {
		x.copy(t, r)
		x.mul(r, t, t)
	}
}

// approximants are the Padé approximants of orders 3, 5, 7, 9 and 13. Each has the largest norms of
// A for which the errors of the exponential and of its derivative are of the size of rounding
// (Higham 2005; Al-Mohy and Higham 2009), the number of even powers of A that are computed, and the
// coefficients. For order 13, A⁸ and higher powers come from products of lower ones.
var approximants = []struct {
	most  [2]float64
	evens int
	b     []float64
}{
	{[2]float64{1.495585217958292e-2, 1.08e-2}, 1, []float64{120, 60, 12, 1}},
	{[2]float64{2.539398330063230e-1, 2.00e-1}, 2, []float64{30240, 15120, 3360, 420, 30, 1}},
	{[2]float64{9.504178996162932e-1, 7.83e-1}, 3, []float64{17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}},
	{[2]float64{2.097847961257068, 1.78}, 4, []float64{17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1}},
	{[2]float64{5.371920351148152, 4.74}, 3, []float64{64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
		10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}},
}

// dual is a matrix v and, if requested, its derivative d.
type dual struct{ v, d []float64 }

// expMatrix does arithmetic on n×n matrices that are stored in work.
type expMatrix struct {
	n       int
	work    []float64
	tangent bool
}

// matrixExpWork returns the length of work without derivatives.
func matrixExpWork(n int) int { return 8*n*n + n }

func (x *expMatrix) kind() int {
	if x.tangent {
		return 1
	}
	return 0
}

func (x *expMatrix) take(n int) []float64 {
	s := x.work[:n]
	x.work = x.work[n:]
	return s
}

func (x *expMatrix) new() dual {
	m := dual{v: x.take(x.n * x.n)}
	if x.tangent {
		m.d = x.take(x.n * x.n)
	}
	return m
}

func (x *expMatrix) copy(to, from dual) {
	copy(to.v, from.v)
	copy(to.d, from.d)
}

func (x *expMatrix) add(to, y dual) {
	for i, v := range y.v {
		to.v[i] += v
	}
	for i, v := range y.d {
		to.d[i] += v
	}
}

// combine computes to = c[0] I + c[1] powers[0] + …
func (x *expMatrix) combine(to dual, c [5]float64, powers []dual) {
	clear(to.v)
	clear(to.d)
	for k := len(powers); k > 0; k-- {
		y, f := powers[k-1], c[k]
		for i, v := range y.v {
			to.v[i] += f * v
		}
		for i, v := range y.d {
			to.d[i] += f * v
		}
	}
	for i := range x.n {
		to.v[i*x.n+i] += c[0]
	}
}

// halves computes r = v + u and v = v - u.
func (x *expMatrix) halves(r, v, u dual) {
	for i, y := range u.v {
		r.v[i] = v.v[i] + y
		v.v[i] -= y
	}
	for i, y := range u.d {
		r.d[i] = v.d[i] + y
		v.d[i] -= y
	}
}

// mul computes to = y z. Neither operand may share memory with to.
func (x *expMatrix) mul(to, y, z dual) {
	if x.tangent {
		x.product(to.d, y.v, z.d, false)
		x.product(to.d, y.d, z.v, true)
	}
	x.product(to.v, y.v, z.v, false)
}

// product computes to = a b or, with add, to += a b.
func (x *expMatrix) product(to, a, b []float64, add bool) {
	n := x.n
	if n >= fromBLAS && finite(a) && finite(b) { // otherwise BLAS loses 0·NaN
		beta := 0.0
		if add {
			beta = 1
		}
		blas64.Implementation().Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, b, n, beta, to, n)
		return
	}
	if n == 3 || n == 4 || n == 5 {
		for i := range n {
			productRow(to[i*n:(i+1)*n], a[i*n:(i+1)*n], b[:n*n], add)
		}
		return
	}
	if !add {
		clear(to)
	}
	for i := range n {
		row := to[i*n : (i+1)*n]
		for k, f := range a[i*n : (i+1)*n] {
			other := b[k*n : (k+1)*n][:len(row)]
			for j := range row {
				row[j] += f * other[j]
			}
		}
	}
}

// productRow computes a row of a product of matrices of order 3 to 5: to = a b or, with add,
// to += a b. Compartment models have such matrices. Without the loops of product, the exponential
// of a matrix of order 4 and its derivative take 0.87 of the time.
func productRow(to, a, b []float64, add bool) {
	switch len(to) {
	case 3:
		t, a, b := (*[3]float64)(to), (*[3]float64)(a), (*[9]float64)(b)
		var s [3]float64
		if add {
			s = *t
		}
		t[0] = s[0] + a[0]*b[0] + a[1]*b[3] + a[2]*b[6]
		t[1] = s[1] + a[0]*b[1] + a[1]*b[4] + a[2]*b[7]
		t[2] = s[2] + a[0]*b[2] + a[1]*b[5] + a[2]*b[8]
	case 4:
		t, a, b := (*[4]float64)(to), (*[4]float64)(a), (*[16]float64)(b)
		var s [4]float64
		if add {
			s = *t
		}
		t[0] = s[0] + a[0]*b[0] + a[1]*b[4] + a[2]*b[8] + a[3]*b[12]
		t[1] = s[1] + a[0]*b[1] + a[1]*b[5] + a[2]*b[9] + a[3]*b[13]
		t[2] = s[2] + a[0]*b[2] + a[1]*b[6] + a[2]*b[10] + a[3]*b[14]
		t[3] = s[3] + a[0]*b[3] + a[1]*b[7] + a[2]*b[11] + a[3]*b[15]
	default:
		t, a, b := (*[5]float64)(to), (*[5]float64)(a), (*[25]float64)(b)
		var s [5]float64
		if add {
			s = *t
		}
		t[0] = s[0] + a[0]*b[0] + a[1]*b[5] + a[2]*b[10] + a[3]*b[15] + a[4]*b[20]
		t[1] = s[1] + a[0]*b[1] + a[1]*b[6] + a[2]*b[11] + a[3]*b[16] + a[4]*b[21]
		t[2] = s[2] + a[0]*b[2] + a[1]*b[7] + a[2]*b[12] + a[3]*b[17] + a[4]*b[22]
		t[3] = s[3] + a[0]*b[3] + a[1]*b[8] + a[2]*b[13] + a[3]*b[18] + a[4]*b[23]
		t[4] = s[4] + a[0]*b[4] + a[1]*b[9] + a[2]*b[14] + a[3]*b[19] + a[4]*b[24]
	}
}

// solve replaces r by the solution x of m x = r. It overwrites m.
func (x *expMatrix) solve(r, m dual) {
	pivots := x.take(x.n)
	factorLU(m.v, pivots, x.n)
	x.substitute(r.v, m.v, pivots)
	if x.tangent { // the derivative of x solves m y = r.d - m.d x
		for i := range m.d {
			m.d[i] = -m.d[i]
		}
		x.product(r.d, m.d, r.v, true)
		x.substitute(r.d, m.v, pivots)
	}
}

// substitute solves a system, given the factors of its matrix.
func (x *expMatrix) substitute(b, lu, pivots []float64) {
	n := x.n
	if n >= fromBLAS {
		solveLU(b, lu, pivots, n, n, false)
		return
	}
	row := func(i int) []float64 { return b[i*n : (i+1)*n] }
	for i := range n {
		if p := int(pivots[i]); p != i {
			swapRows(b, i, p, n)
		}
	}
	less := func(i, k int) {
		f, from, to := lu[i*n+k], row(k), row(i)
		for j, v := range from {
			to[j] -= f * v
		}
	}
	for i := range n {
		for k := range i {
			less(i, k)
		}
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			less(i, k)
		}
		pivot := lu[i*n+i]
		for j := range row(i) {
			row(i)[j] /= pivot
		}
	}
}

// fromBLAS is the order of a matrix from which BLAS multiplies faster than loops.
const fromBLAS = 16

// matrixExpTangent returns the row of OpMatrixExpTangent, the derivative of the exponential at A in
// a direction E. The op is linear in E, and its transpose is the same op at Aᵀ. The value is the
// upper right block of the exponential of [A E; 0 A], and so the derivative with respect to A comes
// from that exponential (Najfeld & Havel 1995).
func matrixExpTangent() Op {
	return Op{Name: "matrix exp tangent", Class: Array, Arity: 2,
		Shape: func(args []Type, _ any) (Type, error) {
			if !shapeEqual(args[0].Shape, args[1].Shape) {
				return Type{}, errors.New("matrix and direction of different shapes")
			}
			return Type{Shape: args[0].Shape}, square(args)
		},
		Eval: func(dst []float64, args [][]float64, types []Type, _ any, work []float64) error {
			n := types[0].Shape[0]
			matrixExp(work[:n*n], args[0], dst, args[1], n, work[n*n:])
			return nil
		},
		Work: func(args []Type, _ any) int {
			n := args[0].Shape[0]
			return n*n + 2*matrixExpWork(n)
		},
		VJP: func(g *Graph, n *Node, _, adj Ref, need []bool) []Ref {
			a, e := n.Args[0], n.Args[1]
			if !need[0] {
				return []Ref{None, g.reduceLanes(g.Do(OpMatrixExpTangent, nil, g.Transpose(a), adj), e)}
			}
			k := g.Type(a).Shape[0]
			place := func(x Ref, row, col int) Ref {
				return g.Scatter(x, Index{Offset: (row*2*k + col) * k, Dims: []Dim{{N: k, Stride: 2 * k}, {N: k, Stride: 1}}}, []int{2 * k, 2 * k})
			}
			take := func(x Ref, row, col int) Ref {
				return g.Gather(x, Index{Offset: (row*2*k + col) * k, Dims: []Dim{{N: k, Stride: 2 * k}, {N: k, Stride: 1}}})
			}
			block := g.Add(g.Add(place(a, 0, 0), place(a, 1, 1)), place(e, 0, 1))
			d := g.Do(OpMatrixExpTangent, nil, g.Transpose(block), place(adj, 0, 1))
			return []Ref{g.reduceLanes(g.Add(take(d, 0, 0), take(d, 1, 1)), a), g.reduceLanes(take(d, 0, 1), e)}
		}}
}
