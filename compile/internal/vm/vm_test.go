package vm

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/internal/short"
)

// compare runs the machine and the reference at inputs and compares values,
// errors and prints.
func compare(t *testing.T, name string, g *ad.Graph, m *Machine, in [][]float64, tol float64) bool {
	t.Helper()
	var pa, pb []string
	ea := &ad.Env{Rand: rand.New(rand.NewPCG(5, 6)), Print: func(s string) { pa = append(pa, s) }}
	eb := &ad.Env{Rand: rand.New(rand.NewPCG(5, 6)), Print: func(s string) { pb = append(pb, s) }}
	want, errWant := g.Eval(in, ea)
	for i, x := range in {
		copy(m.Input(i), x)
	}
	err := m.Run(eb)
	if (err == nil) != (errWant == nil) || err != nil && err.Error() != errWant.Error() {
		t.Errorf("%s: error %v, want %v", name, err, errWant)
		return false
	}
	if len(pa) != len(pb) {
		t.Errorf("%s: %d prints, want %d", name, len(pb), len(pa))
		return false
	}
	for i := range pa {
		if pa[i] != pb[i] {
			t.Errorf("%s: print %q, want %q", name, pb[i], pa[i])
			return false
		}
	}
	outputs := make([][]float64, len(want))
	for k := range want {
		outputs[k] = slices.Clone(m.Output(k))
	}
	if !sameByGradient(t, name, m, in, err) {
		return false
	}
	var least, most [][]float64
	known := false
	for k := range want {
		got := outputs[k]
		if len(got) != len(want[k]) {
			t.Errorf("%s: output %d has %d elements, want %d", name, k, len(got), len(want[k]))
			return false
		}
		for e, v := range want[k] {
			if agree(v, got[e], tol) {
				continue
			}
			if !known {
				least, most = around(g, in)
				known = true
			}
			if least == nil {
				continue
			}
			low, high := least[k][e], most[k][e]
			// Depending on rounding, the value is a number or NaN.
			if math.IsNaN(v) && low <= got[e] && got[e] <= high {
				continue
			}
			if b := high - low; !math.IsNaN(b) && !(math.Abs(v-got[e]) <= 20*b) {
				t.Errorf("%s: output %d[%d] = %v, want %v", name, k, e, got[e], v)
				return false
			}
		}
	}
	return true
}

// sameByGradient reports whether Gradient, at the inputs of the previous run, gives the same
// outputs.
func sameByGradient(t *testing.T, name string, m *Machine, in [][]float64, failed error) bool {
	t.Helper()
	var outputs []float64
	for k := range m.p.outputs {
		outputs = append(outputs, m.Output(k)...)
	}
	if len(m.p.outputs) == 0 || len(m.Output(0)) != 1 {
		return true
	}
	grad := make([]float64, len(outputs)-1)
	first, err := m.Gradient(&ad.Env{Rand: rand.New(rand.NewPCG(5, 6))}, slices.Concat(in...), grad)
	if (err == nil) != (failed == nil) {
		t.Errorf("%s: by Gradient, error %v, want %v", name, err, failed)
		return false
	}
	if failed != nil {
		return true
	}
	for k, v := range append([]float64{first}, grad...) {
		if math.Float64bits(v) != math.Float64bits(outputs[k]) {
			t.Errorf("%s: by Gradient, number %d is %v, want %v", name, k, v, outputs[k])
			return false
		}
	}
	return true
}

// around returns bounds for each element of each output: its least and greatest value when the
// inputs are perturbed by rounding errors. Differences within these bounds are not faults of the
// machine. It returns nil if a perturbed point is rejected.
func around(g *ad.Graph, in [][]float64) (least, most [][]float64) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 20 {
		near := make([][]float64, len(in))
		for i, x := range in {
			near[i] = make([]float64, len(x))
			for j, v := range x {
				near[i][j] = v * (1 + 4e-16*rng.NormFloat64())
			}
		}
		out, err := g.Eval(near, &ad.Env{Rand: rand.New(rand.NewPCG(5, 6))})
		if err != nil {
			return nil, nil
		}
		if least == nil {
			for _, v := range out {
				least, most = append(least, slices.Clone(v)), append(most, slices.Clone(v))
			}
		}
		for k, v := range out {
			for e, y := range v {
				least[k][e], most[k][e] = min(least[k][e], y), max(most[k][e], y)
			}
		}
	}
	return least, most
}

func TestRandomGraphs(t *testing.T) {
	n, tol := short.Of(400, 60), 1e-12
	if s := os.Getenv("VM_GRAPHS"); s != "" {
		n, _ = strconv.Atoi(s)
		tol = 1e-8 // in many thousands of graphs, some amplify rounding errors
	}
	count := map[string]int{}
	names := passes.Names()
	for seed := range uint64(n) {
		if os.Getenv("VM_GRAPHS") == "" && !short.Turn(int(seed), 3) {
			continue
		}
		g, inputs := randomGraph(seed, 10+int(seed%60))
		consts := map[ad.Ref][]float64{}
		for i, n := range g.Nodes {
			count[n.Op.String()]++
			if n.Op == ad.OpConst {
				consts[ad.Ref(i)] = append([]float64(nil), n.Data...)
			}
		}
		p, err := Compile(g, passes.Options{Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		m := p.New()
		if p.mistake != "" {
			t.Errorf("seed %d: %s", seed, p.mistake)
		}
		name := "seed " + strconv.FormatUint(seed, 10)
		// Run with other inputs in between: values must not depend on earlier runs.
		without := names[seed%uint64(len(names))]
		less, err := Compile(g, passes.Options{Verify: true, Without: []string{without}})
		if err != nil {
			t.Fatal(err)
		}
		ok := compare(t, name+" without "+without, g, less.New(), inputs(0), tol) && compare(t, name, g, m, inputs(0), tol) && compare(t, name+" second", g, m, inputs(1), tol) &&
			compare(t, name+" again", g, m, inputs(0), tol)
		if seed%4 == 0 {
			env := &ad.Env{Rand: rand.New(rand.NewPCG(1, 1))}
			if err := m.Run(env); err == nil {
				run := func() { _ = m.Run(env) }
				// Another goroutine, of the runtime or of the system, may happen to allocate
				// meanwhile.
				if n := testing.AllocsPerRun(1, run); n != 0 && testing.AllocsPerRun(10, run) != 0 {
					t.Errorf("%s: %v allocations", name, n)
				}
			}
		}
		for r, d := range consts {
			for i, v := range g.Nodes[r].Data {
				if !agree(v, d[i], 0) {
					t.Fatalf("%s: constant %d was overwritten", name, r)
				}
			}
		}
		if !ok {
			t.Log("failed:", name)
		}
	}
	t.Log(count)
}

// TestShared checks that machines of one program may run at the same time.
func TestShared(t *testing.T) {
	for seed := range uint64(short.Of(20, 5)) {
		g, inputs := randomGraph(seed, 60)
		p, err := Compile(g, passes.Options{Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for k := range uint64(3) {
			m := p.New()
			wg.Go(func() { compare(t, "shared", g, m, inputs(k), 1e-11) })
		}
		wg.Wait()
	}
}

// TestErrors checks the message and the position of failures.
func TestErrors(t *testing.T) {
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{3}})
	g.SetSite(7)
	g.Check(&ad.Check{Set: ad.Interval{Lo: 0, Hi: math.Inf(1)}, Function: "f", Name: "x", Want: "nonnegative"}, x)
	g.SetSite(8)
	g.Output(g.Take(x, g.Slice(x, 2, nil)))
	g.SetSite(9)
	g.Output(g.Do(ad.OpRandom, &ad.RandomDraw{Name: "u", Draw: func(r *rand.Rand, a []float64) float64 { return a[0] }}, x))
	p, err := Compile(g, passes.Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	m := p.New()
	run := func(v ...float64) error {
		copy(m.Input(0), v)
		return m.Run(nil)
	}
	var ce *ad.CheckError
	if err := run(1, -2, 0); !errors.As(err, &ce) || ce.Index != 1 || ce.Site != 7 {
		t.Error(err)
	}
	var oe *OpError
	if err := run(1, 2, 5); !errors.As(err, &oe) || oe.Site != 8 || oe.Op != "take" {
		t.Error(err)
	}
	if err := run(1, 2, 1); err == nil || err.Error() != "u_rng needs a random number generator" {
		t.Error(err)
	}
}

// TestOutputsOwnMemory checks that an output keeps its value while inputs are written.
func TestOutputsOwnMemory(t *testing.T) {
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{3}})
	g.Output(x)
	g.Output(g.Slice(x, 1, []int{2}))
	g.Output(g.Broadcast(g.Const(2), []int{4}))
	g.Output(vector(g, []float64{1, 2}))
	p, err := Compile(g, passes.Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	m := p.New()
	copy(m.Input(0), []float64{1, 2, 3})
	if err := m.Run(nil); err != nil {
		t.Fatal(err)
	}
	clear(m.Input(0))
	if m.Output(0)[2] != 3 || m.Output(1)[1] != 3 || m.Output(2)[3] != 2 || m.Output(3)[1] != 2 {
		t.Error(m.Output(0), m.Output(1), m.Output(2), m.Output(3))
	}
	m.Output(3)[1] = 9
	_ = m.Run(nil)
	if m.Output(3)[1] != 2 {
		t.Error("a constant was overwritten through an output")
	}
}

// TestChecksInStrips checks that the first failing check of a block is reported, at its first
// element, although strips run all checks and rows are sorted.
func TestChecksInStrips(t *testing.T) {
	const n, groups = 2000, 50
	table := make([]int32, n)
	for i := range table {
		table[i] = int32(i*7) % groups
	}
	g := ad.NewGraph()
	a, x := g.Input(ad.Type{Shape: []int{groups}}), g.Input(ad.Type{Shape: []int{n}})
	row := g.Gather(a, ad.Index{Dims: []ad.Dim{{N: n, Table: table}}})
	sums := []ad.Ref{}
	for k, v := range []ad.Ref{g.Mul(row, vector(g, normals(n, 1))), g.Mul(x, vector(g, normals(n, 2))), g.Add(x, g.Const(1))} {
		g.Check(&ad.Check{Set: ad.Interval{Lo: math.Inf(-1), Hi: math.Inf(1), LoOpen: true, HiOpen: true}, Function: "f", Name: string(rune('p' + k)), Want: "finite"}, v)
		sums = append(sums, g.Sum(v))
	}
	for _, s := range sums {
		g.Output(s)
	}
	for _, without := range []string{"rows", "fuse", "memory"} {
		p, err := Compile(g, passes.Options{Verify: true, Without: []string{without}})
		if err != nil {
			t.Fatal(err)
		}
		m := p.New()
		in := [][]float64{make([]float64, groups), make([]float64, n)}
		compare(t, "all pass", g, m, in, 1e-12)
		in[1][1999] = math.Inf(1) // makes the checks of q and r fail
		compare(t, "late", g, m, in, 1e-12)
		// Makes the check of p fail, at a row that comes after others once rows are sorted.
		in[0][33] = math.NaN()
		compare(t, "first", g, m, in, 1e-12)
		in[0][35], in[1][2] = math.NaN(), math.NaN()
		compare(t, "several", g, m, in, 1e-12)
		in[0][33], in[0][35] = 0, 0
		compare(t, "second", g, m, in, 1e-12)
	}
}

// TestTablesFromABase checks an index table whose entries are counted from a negative base, such as
// one of a slice. Machine code and the interpreter must read and add the same elements. The
// interpreter runs a strip again to find the check that failed.
func TestTablesFromABase(t *testing.T) {
	const n = 20
	table := make([]int32, n)
	for i := range table {
		table[i] = int32(1 + i*i%7)
	}
	ix := ad.Index{Offset: -1, Dims: []ad.Dim{{N: n, Table: table}}}
	positive := &ad.Check{Set: ad.Interval{Lo: 0, Hi: math.Inf(1)}, Function: "f", Name: "rate", Want: "positive"}
	g := ad.NewGraph()
	x, y := g.Input(ad.Type{Shape: []int{7}}), g.Input(ad.Type{Shape: []int{n}})
	rate := g.Mul(g.Gather(x, ix), y)
	g.Check(positive, rate)
	g.Output(g.Sum(g.Exp(rate)))
	g.Output(g.Scatter(g.Square(rate), ix, []int{7}))
	for _, without := range [][]string{nil, {passes.NativePass}} {
		p, err := Compile(g, passes.Options{Verify: true, Without: without})
		if err != nil {
			t.Fatal(err)
		}
		m := p.New()
		rising, ones := make([]float64, 7), make([]float64, n)
		for i := range rising {
			rising[i] = float64(i) / 7
		}
		for i := range ones {
			ones[i] = 1
		}
		compare(t, "accepted", g, m, [][]float64{rising, ones}, 1e-13)
		ones[n-2] = -1
		compare(t, "rejected", g, m, [][]float64{rising, ones}, 1e-13)
	}
}
