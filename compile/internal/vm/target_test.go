package vm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/ops"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// targetsHere returns nil, for portable code, and the targets of this processor.
func targetsHere() []*native.Target {
	targets := []*native.Target{nil}
	for _, x := range native.Targets {
		if native.Find(x.Name) != nil {
			targets = append(targets, x)
		}
	}
	return targets
}

// TestTargets checks that the interpreter and the machine code of every target of this processor
// compute the same bits. Products of matrices are excepted, since the order of their sums depends
// on the target's vectors.
func TestTargets(t *testing.T) {
	targets := targetsHere()
	compared := 0
	for seed := range uint64(250) {
		g, inputs := randomGraph(seed+5000, 40)
		if hasProduct(g) {
			continue
		}
		var want [][]float64
		for k, x := range targets {
			p, err := Compile(g, passes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p.target = x
			m := p.New()
			for i, v := range inputs(1) {
				copy(m.Input(i), v)
			}
			if p.mistake != "" {
				t.Errorf("seed %d, %s: %s", seed, x.Name, p.mistake)
			}
			if m.Run(&ad.Env{Rand: rand.New(rand.NewPCG(5, 6)), Print: func(string) {}}) != nil {
				break
			}
			for i := range g.Outputs {
				got := append([]float64(nil), m.Output(i)...)
				if k == 0 {
					want = append(want, got)
					continue
				}
				for e, v := range got {
					if math.Float64bits(v) != math.Float64bits(want[i][e]) && !(math.IsNaN(v) && math.IsNaN(want[i][e])) {
						t.Errorf("seed %d, %s: output %d[%d] is %v, by the interpreter %v", seed, x.Name, i, e, v, want[i][e])
					}
				}
				compared++
			}
		}
	}
	if len(targets) > 1 && compared < 100 {
		t.Errorf("only %d outputs compared", compared)
	}
}

// hasProduct reports whether a graph or one of its regions multiplies matrices.
func hasProduct(g *ad.Graph) bool {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Op == ad.OpMatMul {
			return true
		}
		for _, b := range n.Bodies() {
			if hasProduct(b) {
				return true
			}
		}
	}
	return false
}

// TestLengths checks every op with machine code, its sum, and gathers. For every length around the
// multiples of a strip and of all targets' lanes, they must have the interpreter's bits.
func TestLengths(t *testing.T) {
	odd := []float64{0, math.Copysign(0, -1), 5e-324, -1e-310, 1e300, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	rng := rand.New(rand.NewPCG(7, 8))
	lengths := []int{30, 31, 32, 33, 63, 64, 65, 511, 512, 513, 519, 1031}
	for n := 1; n <= 26; n++ {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		g, tested := ad.NewGraph(), 0
		of := ad.Type{Shape: []int{n}}
		// Numbers of every kind, and ordinary ones for ops that call routines.
		var args, ordinary []ad.Ref
		var in [][]float64
		for k := range 6 {
			v := make([]float64, n)
			for i := range v {
				v[i] = rng.NormFloat64()
				if k >= 3 {
					v[i] = math.Exp(v[i])
				} else if rng.IntN(4) == 0 {
					v[i] = odd[rng.IntN(len(odd))]
				}
			}
			in = append(in, v)
			x := g.Input(of)
			if k < 3 {
				args = append(args, x)
			} else {
				ordinary = append(ordinary, x)
			}
		}
		output := func(x ad.Ref) {
			g.Output(x)
			g.Output(g.Sum(x))
		}
		for op := range ad.OpRandom {
			row := ops.Of(op)
			if row.Formula == nil || row.Arity == 0 || op == ad.OpReshape || op == ad.OpDetach || op == ad.OpBoundAdjoint {
				continue
			}
			x := args
			if row.Formula.Calls() {
				x = ordinary
			}
			output(g.Do(op, nil, x[:row.Arity]...))
			tested++
		}
		if tested < 25 {
			t.Fatalf("only %d ops have machine code", tested)
		}
		table := make([]int32, n)
		for i := range table {
			table[i] = int32(rng.IntN(n))
		}
		output(g.Gather(args[0], ad.Index{Dims: []ad.Dim{{N: n, Table: table}}}))
		// Sums by tables, two of them into one array, and into overlapping windows.
		by := ad.Index{Dims: []ad.Dim{{N: n, Table: table}}}
		g.Output(g.Scatter(args[1], by, []int{n}))
		g.Output(g.Add(g.Scatter(g.Mul(args[0], ordinary[1]), by, []int{n}), g.Scatter(ordinary[0], by, []int{n})))
		if n%4 == 0 {
			windows := ad.Index{Dims: []ad.Dim{{N: n / 4, Stride: 1}, {N: 4, Stride: 1}}}
			g.Output(g.Scatter(g.Mul(args[1], ordinary[2]), windows, []int{n/4 + 3}))
			g.Output(g.Scatter(ordinary[2], ad.Index{Dims: []ad.Dim{{N: n / 4, Stride: 0}, {N: 4, Stride: 2}}}, []int{7}))
		}
		// These expressions become ops that only the executor has.
		g.Output(g.Dot(args[1], ordinary[0]))
		g.Output(g.Add(g.Mul(args[0], ordinary[0]), args[2]))
		g.Output(g.Sub(g.Mul(args[1], args[2]), ordinary[0]))
		g.Output(g.Sub(args[1], g.Mul(ordinary[1], args[2])))
		g.Output(g.Do(ad.OpNot, nil, g.Do(ad.OpLessEqual, nil, args[1], args[2])))
		g.Output(g.Sum(g.Log(g.Add(ordinary[0], ordinary[1]))))
		g.Output(g.Sum(g.Do(ad.OpLog1pExp, nil, args[1]))) // becomes one logarithm of a product
		g.Output(g.Sum(g.Do(ad.OpLogAddExp, nil, args[0], ordinary[2])))
		for _, op := range []ad.OpCode{ad.OpInvLogit, ad.OpLog1pExp, ad.OpLogInvLogit, ad.OpLog1mInvLogit} {
			output(g.Do(op, nil, args[2]))
		}
		output(g.Do(ad.OpLogAddExp, nil, args[1], args[2]))
		var want [][]float64
		for _, x := range append([]*native.Target{nil}, native.Targets...) {
			if x != nil && native.Find(x.Name) == nil {
				continue
			}
			p, err := Compile(g, passes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if x == nil && n >= 8 {
				for row := range ops.All() {
					if row.Op > ad.OpRandom && !slices.ContainsFunc(p.blocks, func(b block) bool {
						return slices.ContainsFunc(b.code, func(in instr) bool { return in.op == row.Op })
					}) {
						t.Fatalf("length %d: no instruction is %s", n, row.Name)
					}
				}
			}
			p.target = x
			m := p.New()
			if p.mistake != "" {
				t.Fatal(p.mistake)
			}
			for i, v := range in {
				copy(m.Input(i), v)
			}
			if err := m.Run(nil); err != nil {
				t.Fatal(err)
			}
			for i := range g.Outputs {
				got := append([]float64(nil), m.Output(i)...)
				if x == nil {
					want = append(want, got)
					continue
				}
				for e, v := range got {
					if math.Float64bits(v) != math.Float64bits(want[i][e]) && !(math.IsNaN(v) && math.IsNaN(want[i][e])) {
						t.Errorf("length %d, %s: output %d (%s), [%d], is %v, by the interpreter %v", n, x.Name, i, g.Nodes[g.Outputs[i]].Op.Row().Name, e, v, want[i][e])
						break
					}
				}
			}
		}
	}
}

// TestColumns checks products of vectors with narrow constant matrices and with their transposes,
// for matrices stored by rows or by columns. They must agree with the reference. Where they are
// written out over the rows, they must have the same bits on every target.
func TestColumns(t *testing.T) {
	inf := math.Inf(1)
	for _, rows := range []int{64, 100, 700} {
		for cols := 1; cols <= 9; cols++ {
			g := ad.NewGraph()
			few, long := g.Input(ad.Type{Shape: []int{cols, 1}}), g.Input(ad.Type{Shape: []int{rows, 1}})
			data := normals(rows*cols, uint64(rows+cols))
			for _, shape := range [][]int{{rows, cols}, {cols, rows}} {
				a := g.ConstArray(ad.Type{Shape: shape}, data)
				by := ad.MatMulAttr{TransA: shape[0] == cols}
				p := g.Do(ad.OpMatMul, by, a, few)
				g.Output(p)
				g.Output(g.Sum(g.Square(g.Add(p, long))))
				by.TransA = !by.TransA
				g.Output(g.Do(ad.OpMatMul, by, a, g.Mul(p, long)))
			}
			x, y := normals(cols, 1), normals(rows, 2)
			runGraph(t, g, x, y)
			y[rows/2], x[0] = inf, 0
			runGraph(t, g, x, y)
			if cols > 8 {
				continue
			}
			var want [][]float64
			for _, target := range append([]*native.Target{nil}, native.Targets...) {
				if target != nil && native.Find(target.Name) == nil {
					continue
				}
				p, err := Compile(g, passes.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for i := range p.blocks {
					if p.blocks[i].kind == matmulBlock {
						t.Fatalf("%d × %d: a product was left\n%s", rows, cols, p)
					}
				}
				p.target = target
				m := p.New()
				copy(m.Input(0), x)
				copy(m.Input(1), y)
				if err := m.Run(nil); err != nil {
					t.Fatal(err)
				}
				for i := range g.Outputs {
					got := append([]float64(nil), m.Output(i)...)
					if target == nil {
						want = append(want, got)
						continue
					}
					for e, v := range got {
						if math.Float64bits(v) != math.Float64bits(want[i][e]) && !(math.IsNaN(v) && math.IsNaN(want[i][e])) {
							t.Fatalf("%d × %d, %s: output %d[%d] is %v, by the interpreter %v", rows, cols, target.Name, i, e, v, want[i][e])
						}
					}
				}
			}
		}
	}
}

// TestRestOfVectors checks that the unused lanes of a last vector do not fail a check. The numbers
// that are checked depend on loaded and gathered numbers such that a mixture of different lanes
// would fail.
func TestRestOfVectors(t *testing.T) {
	for _, x := range native.Targets {
		if native.Find(x.Name) == nil {
			continue
		}
		for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 9, 15, 17, 65, 66, 67, 70, 71} {
			g := ad.NewGraph()
			in := g.Input(ad.Type{Shape: []int{n}})
			from := g.Input(ad.Type{Shape: []int{n}})
			table := make([]int32, n)
			for i := range table {
				table[i] = int32(i * 7 % n)
				if n%7 == 0 {
					table[i] = int32(n - 1 - i)
				}
			}
			taken := g.Gather(from, ad.Index{Dims: []ad.Dim{{N: n, Table: table}}})
			positive := &ad.Check{Set: ad.Interval{Hi: math.Inf(1), LoOpen: true}}
			for _, d := range []ad.Ref{g.Sub(in, taken), g.Sub(g.Add(taken, g.Const(2)), in)} {
				g.Check(positive, d)
				g.Output(g.Exp(d))
			}
			p, err := Compile(g, passes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p.target = x
			m := p.New()
			for i := range n {
				m.Input(0)[i] = float64(10 * i)
				m.Input(1)[table[i]] = float64(10*i - 1)
			}
			if err := m.Run(&ad.Env{}); err != nil {
				t.Errorf("%s, %d elements: %v", x.Name, n, err)
			}
		}
	}
}

// TestMistake checks that a fault of the generator is reported, and that results stay right.
func TestMistake(t *testing.T) {
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{3}})
	g.Output(g.Exp(x))
	for _, target := range []*native.Target{{Name: "none"}, nil} { // none has no instructions, so it panics
		p, err := Compile(g, passes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.target = target
		if why := p.Mistake(); (why != "") != (target != nil && native.Supported) {
			t.Errorf("the mistake of %v is %q", target, why)
		}
		m := p.New()
		copy(m.Input(0), []float64{0, 1, 2})
		if err := m.Run(&ad.Env{}); err != nil {
			t.Fatal(err)
		}
		for i, got := range m.Output(0) {
			if want := math.Exp(float64(i)); math.Abs(got-want) > 1e-15*want {
				t.Errorf("exp(%d) is %v, not %v", i, got, want)
			}
		}
	}
}
