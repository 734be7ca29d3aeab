package ad

import (
	"errors"
	"math"
)

// matrixExp is the exponential of an n×n matrix: the Padé approximant of order
// 13 at A/2ˢ, squared s times (Higham 2005, The scaling and squaring method for
// the matrix exponential revisited). work has matrixExpWork(n) elements.
func matrixExp(dst, a []float64, n int, work []float64) {
	const theta = 5.371920351148152
	b := [...]float64{64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
		10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}
	k := n * n
	part := func(i int) []float64 { return work[i*k : (i+1)*k] }
	x, x2, x4, x6, u, v, t := part(0), part(1), part(2), part(3), part(4), part(5), part(6)
	shape := []int{n, n}
	mul := func(dst, a, b []float64) { matMul(dst, a, b, shape, shape, MatMulAttr{}) }
	norm := 0.0
	for j := range n {
		s := 0.0
		for i := range n {
			s += math.Abs(a[i*n+j])
		}
		norm = max(norm, s)
	}
	squarings := 0
	if norm > theta && !math.IsInf(norm, 1) {
		squarings = max(0, int(math.Ceil(math.Log2(norm/theta))))
	}
	scale := math.Ldexp(1, -squarings)
	for i, y := range a {
		x[i] = y * scale
	}
	mul(x2, x, x)
	mul(x4, x2, x2)
	mul(x6, x2, x4)
	// poly is c6 A⁶ + c4 A⁴ + c2 A² + c0 I.
	poly := func(dst []float64, c6, c4, c2, c0 float64) {
		for i := range dst {
			dst[i] = c6*x6[i] + c4*x4[i] + c2*x2[i]
		}
		for i := range n {
			dst[i*n+i] += c0
		}
	}
	poly(t, b[13], b[11], b[9], 0)
	mul(v, x6, t)
	poly(t, b[7], b[5], b[3], b[1])
	for i := range t {
		t[i] += v[i]
	}
	mul(u, x, t)
	poly(t, b[12], b[10], b[8], 0)
	mul(v, x6, t)
	poly(t, b[6], b[4], b[2], b[0])
	for i := range v {
		v[i] += t[i]
		dst[i] = v[i] + u[i]
		v[i] -= u[i]
	}
	pivots := work[7*k:]
	factorLU(v, pivots, n)
	solveLU(dst, v, pivots, n, n, false)
	for range squarings {
		copy(t, dst)
		mul(dst, t, t)
	}
}

func matrixExpWork(n int) int { return 7*n*n + n }

// matrixExpTangent is the row of the derivative of the exponential, the upper
// right block of the exponential of [A E; 0 A] (Najfeld & Havel 1995). It is
// linear in E; its transpose is that of Aᵀ. Its own derivative by A comes from
// the same formula for the block matrix.
func matrixExpTangent() Op {
	blockWork := func(n int) int { return 8*n*n + matrixExpWork(2*n) }
	return Op{Name: "matrix exp tangent", Class: Array, Arity: 2,
		Shape: func(args []Type, _ any) (Type, error) {
			if !shapeEqual(args[0].Shape, args[1].Shape) {
				return Type{}, errors.New("matrix and direction of different shapes")
			}
			return Type{Shape: args[0].Shape}, square(args)
		},
		Eval: func(dst []float64, args [][]float64, types []Type, _ any, work []float64) error {
			n := types[0].Shape[0]
			k := 2 * n
			block, e := work[:k*k], work[k*k:2*k*k]
			clear(block)
			for i := range n {
				copy(block[i*k:], args[0][i*n:(i+1)*n])
				copy(block[i*k+n:], args[1][i*n:(i+1)*n])
				copy(block[(n+i)*k+n:], args[0][i*n:(i+1)*n])
			}
			matrixExp(e, block, k, work[2*k*k:])
			for i := range n {
				copy(dst[i*n:(i+1)*n], e[i*k+n:(i+1)*k])
			}
			return nil
		},
		Work: func(args []Type, _ any) int { return blockWork(args[0].Shape[0]) },
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
