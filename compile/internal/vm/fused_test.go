package vm

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// TestSumLog checks the fused sum of logarithms, at ordinary and at extreme numbers.
func TestSumLog(t *testing.T) {
	for _, odd := range [][]float64{nil, {0}, {-1}, {math.Inf(1)}, {math.NaN()}, {5e-324, 1e-310}, {math.MaxFloat64, 1e308}, {math.Inf(1), 0}} {
		g := ad.NewGraph()
		x := g.Input(ad.Type{Shape: []int{1500}})
		g.Output(g.Sum(g.Log(x)))
		in := make([]float64, 1500)
		for i, z := range normals(len(in), 3) {
			in[i] = math.Exp(20 * z)
		}
		copy(in[700:], odd)
		runGraph(t, g, in)
	}
}

// TestSumLog1p checks sums of log1p(exp(x)) that are computed as one logarithm of a product. They
// must be accurate to a few units in the last place, even if all terms are tiny, and right at
// extreme numbers.
func TestSumLog1p(t *testing.T) {
	const n = 1500
	of := ad.Type{Shape: []int{n}}
	for _, at := range []float64{0, 3, -3, -40, -600, 40} {
		for _, odd := range [][]float64{nil, {0}, {math.Inf(1)}, {math.Inf(-1)}, {math.NaN()}, {1e300, -1e300}, {-745.1, -760}} {
			g := ad.NewGraph()
			x, y := g.Input(of), g.Input(of)
			g.Output(g.Sum(g.Do(ad.OpLog1pExp, nil, x)))
			g.Output(g.Sum(g.Do(ad.OpLogAddExp, nil, x, y)))
			in, zeros := make([]float64, n), make([]float64, n)
			for i, z := range normals(n, 3) {
				in[i] = at + z
			}
			copy(in[700:], odd)
			p, err := Compile(g, passes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(p.String(), "sum_log1p") != 2 {
				t.Fatalf("every term has its logarithm:\n%s", p)
			}
			m := p.New()
			copy(m.Input(0), in)
			copy(m.Input(1), zeros)
			if err := m.Run(nil); err != nil {
				t.Fatal(err)
			}
			// Each term has an error of at most a unit in the last place.
			want := new(big.Float).SetPrec(200)
			sum := 0.0
			for _, x := range in {
				term := math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
				sum += term
				if !math.IsNaN(term) && !math.IsInf(term, 0) {
					want.Add(want, new(big.Float).SetFloat64(term))
				}
			}
			w, _ := want.Float64()
			if math.IsNaN(sum) || math.IsInf(sum, 0) {
				w = sum
			}
			for i := range g.Outputs {
				got := m.Output(i)[0]
				if got != w && !(math.Abs(got-w) <= 1e-15*w) && !(math.IsNaN(w) && math.IsNaN(got)) {
					t.Errorf("around %v with %v, output %d: %v, want %v", at, odd, i, got, w)
				}
			}
		}
	}
}

// TestSumsOfSums checks that if only the total of sums by group is needed, they become one sum.
func TestSumsOfSums(t *testing.T) {
	const n = 700
	table := make([]int32, n)
	for i := range table {
		table[i] = int32(i * i % 11) // six groups, more than are summed one by one
	}
	for _, needed := range []bool{false, true} {
		g := ad.NewGraph()
		x := g.Input(ad.Type{Shape: []int{n}})
		groups := g.Scatter(g.Do(ad.OpLog1pExp, nil, x), ad.Index{Dims: []ad.Dim{{N: n, Table: table}}}, []int{11})
		g.Output(g.Sum(groups))
		if needed {
			g.Output(groups)
		}
		runGraph(t, g, normals(n, 4))
		p, err := Compile(g, passes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(p.String(), "add_table"); got != needed {
			t.Errorf("sums by group: %v, want %v\n%s", got, needed, p)
		}
	}
}

// TestNotLessEqual checks that NaN is not less than or equal to any number.
func TestNotLessEqual(t *testing.T) {
	g := ad.NewGraph()
	x, y, s := g.Input(ad.Type{Shape: []int{9}}), g.Input(ad.Type{Shape: []int{9}}), g.Input(ad.Scalar)
	for _, p := range [][2]ad.Ref{{x, y}, {x, s}, {s, x}} {
		g.Output(g.Sum(g.Do(ad.OpNot, nil, g.Do(ad.OpLessEqual, nil, p[0], p[1]))))
	}
	nan := math.NaN()
	runGraph(t, g, []float64{0, 1, nan, 2, 3, nan, -1, math.Inf(1), 0}, []float64{0, 0, 0, 3, nan, nan, 5, 1, math.Inf(-1)}, []float64{1})
	runGraph(t, g, make([]float64, 9), make([]float64, 9), []float64{nan})
}

// TestChains compares recurrences with the reference: every kind of loop, forward and reverse, with
// histories and kept values. The carried value stays finite in some cases and not in others.
func TestChains(t *testing.T) {
	const steps = 70
	bodies := []func(b *ad.Graph, c, x, y ad.Ref) ad.Ref{
		func(b *ad.Graph, c, x, y ad.Ref) ad.Ref { return b.Add(b.Mul(c, x), y) },
		func(b *ad.Graph, c, x, y ad.Ref) ad.Ref { return b.Mul(b.Add(c, x), y) },
		func(b *ad.Graph, c, x, y ad.Ref) ad.Ref { return b.Sqrt(b.Add(b.Mul(b.Square(c), x), y)) },
		func(b *ad.Graph, c, x, y ad.Ref) ad.Ref { return b.Exp(b.Neg(b.Square(b.Sub(x, b.Mul(c, y))))) },
		func(b *ad.Graph, c, x, y ad.Ref) ad.Ref { return b.Div(x, b.Add(b.Square(b.Div(c, y)), b.Const(1))) },
		func(b *ad.Graph, c, x, y ad.Ref) ad.Ref { return b.Do(ad.OpInv, nil, b.Sub(b.Sub(c, x), y)) },
		// This is not a chain.
		func(b *ad.Graph, c, x, y ad.Ref) ad.Ref { return b.Mul(c, b.Add(c, x)) },
	}
	for k, f := range bodies {
		for _, reverse := range []bool{false, true} {
			b := ad.NewGraph()
			c, x, y := b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar)
			next := f(b, c, x, y)
			b.Output(next)
			b.Output(next)
			g := ad.NewGraph()
			init, xs, ys := g.Input(ad.Scalar), g.Input(ad.Type{Shape: []int{steps}}), g.Input(ad.Scalar)
			sc := g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 1, Outs: 1, Steps: steps, Reverse: reverse}, []ad.Ref{init, xs, ys})
			g.Output(g.Final(sc, 0))
			g.Output(g.History(sc, 0))
			g.Output(g.Kept(sc, 0))
			lp := g.Sum(g.Do(ad.OpSin, nil, g.Kept(sc, 0)))
			for _, r := range g.Grad(lp, init, xs, ys) {
				g.Output(r)
			}
			x0 := normals(steps, uint64(k))
			for i := range x0 {
				x0[i] = math.Abs(x0[i]) / 3
			}
			runGraph(t, g, []float64{0.7}, x0, []float64{0.4})
			x0[17] = -30 // the argument of a root becomes negative for some steps
			runGraph(t, g, []float64{0.7}, x0, []float64{0.4})
		}
	}
}

// TestChainsSameBits checks that a short recurrence, which does not look ahead, has the same bits
// as a chain loop, as interpreted scalar code, and as machine code. The chain that carries a square
// instead of its root (sqrtRecurrence) rounds less, and is a chain in all three.
func TestChainsSameBits(t *testing.T) {
	const steps = minAhead - 1
	for k, f := range []func(b *ad.Graph, c, x ad.Ref) ad.Ref{
		func(b *ad.Graph, c, x ad.Ref) ad.Ref { return b.Add(b.Mul(c, x), x) },
		func(b *ad.Graph, c, x ad.Ref) ad.Ref { return b.Add(x, b.Mul(x, c)) },
		func(b *ad.Graph, c, x ad.Ref) ad.Ref { return b.Mul(b.Add(c, x), x) },
		func(b *ad.Graph, c, x ad.Ref) ad.Ref { return b.Mul(x, b.Add(x, c)) },
	} {
		b := ad.NewGraph()
		next := f(b, b.Input(ad.Scalar), b.Input(ad.Scalar))
		b.Output(next)
		b.Output(next)
		g := ad.NewGraph()
		init, xs := g.Input(ad.Scalar), g.Input(ad.Type{Shape: []int{steps}})
		g.Output(g.Kept(g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 1, Outs: 1, Steps: steps}, []ad.Ref{init, xs}), 0))
		x := normals(steps, uint64(k))
		for i := range x {
			x[i] = math.Abs(x[i]) + 0.1
		}
		var first []float64
		for way, name := range []string{"chain", "scalar code", "machine code"} {
			o := passes.Options{}
			if way < 2 {
				o.Without = []string{passes.NativePass}
			}
			p, err := Compile(g, o)
			if err != nil {
				t.Fatal(err)
			}
			scans := 0
			for i := range p.blocks {
				r := p.blocks[i].reg
				if r == nil {
					continue
				}
				if c := r.control.(*counted); c.chain != nil {
					scans++
					if way > 0 {
						c.chain = nil
					}
				}
			}
			if scans != 1 {
				t.Fatalf("body %d: %d chains", k, scans)
			}
			m := p.New()
			m.Input(0)[0] = 0.7
			copy(m.Input(1), x)
			if err := m.Run(nil); err != nil {
				t.Fatal(err)
			}
			if way == 0 {
				first = append(first, m.Output(0)...)
			}
			for i, v := range m.Output(0) {
				if math.Float64bits(v) != math.Float64bits(first[i]) {
					t.Errorf("body %d, step %d, as %s: %v, as a chain %v", k, i, name, v, first[i])
					break
				}
			}
		}
	}
}

// TestPut checks ops that replace elements at computed positions or add to them, in a loop whose
// body is one function. Positions may be out of range; those of additions may repeat.
func TestPut(t *testing.T) {
	array, few := ad.Type{Shape: []int{30}}, ad.Type{Shape: []int{3}}
	graphs := [2]*ad.Graph{ad.NewGraph(), ad.NewGraph()}
	var k, a, p, at [2]ad.Ref
	for i, g := range graphs {
		k[i], a[i], p[i], at[i] = g.Input(ad.Scalar), g.Input(array), g.Input(array), g.Input(few)
	}
	cond, body := graphs[0], graphs[1]
	cond.Output(cond.Less(k[0], cond.Const(9)))
	places := body.Add(at[1], body.Scale(3.25, k[1]))
	values := body.Do(ad.OpSin, nil, places)
	body.Output(body.Add(k[1], body.Const(1)))
	body.Output(body.Replace(a[1], values, places))
	body.Output(body.Add(p[1], body.Do(ad.OpPut, ad.PutAttr{Shape: array.Shape}, values, body.Do(ad.OpFloor, nil, body.Scale(0.5, places)))))

	g := ad.NewGraph()
	first, second, in := g.Input(array), g.Input(array), g.Input(few)
	r := g.DoWhile(&ad.While{Cond: cond, Body: body, Carries: 3, Snapshots: 2}, []ad.Ref{g.Const(0), first, second, in})
	g.Output(g.Final(r, 1))
	g.Output(g.Final(r, 2))
	nan := math.NaN()
	for _, places := range [][]float64{{0, 1, 2}, {-5, 7, 29.5}, {nan, math.Inf(1), -1e300}, {4, 5, 2}} {
		runGraph(t, g, normals(30, 1), normals(30, 2), places)
	}
}
