package vm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/dense"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/internal/short"
)

// finely makes all blocks that can be divided run in parts, which are as small as possible.
func finely(t *testing.T) {
	before := splitting
	splitting.block, splitting.program, splitting.part, splitting.pass = 0, 0, 1e-9, 1
	t.Cleanup(func() { splitting = before })
}

// bits runs a program with a number of workers and returns the bits of its outputs, and the error.
func bits(m *Machine, workers int, in [][]float64) ([]uint64, error) {
	m.SetWorkers(workers)
	for i, x := range in {
		copy(m.Input(i), x)
	}
	err := m.Run(&ad.Env{Rand: rand.New(rand.NewPCG(5, 6)), Print: func(string) {}})
	var all []uint64
	if err == nil {
		for k := range m.p.outputs {
			for _, v := range m.Output(k) {
				if math.IsNaN(v) {
					v = math.NaN() // NaN has many bit patterns, so use one
				}
				all = append(all, math.Float64bits(v))
			}
		}
	}
	return all, err
}

// sameForAll compares the results of one worker with those of several workers, and with the
// reference. Without products and factors of matrices, it also compares all targets with the
// interpreter.
func sameForAll(t *testing.T, name string, g *ad.Graph, in [][]float64, tol float64) (splits int) {
	t.Helper()
	type way struct {
		passes.Options
		target *native.Target
	}
	ways := []way{{}, {Options: passes.Options{Without: []string{passes.NativePass}}}}
	for _, x := range native.Targets {
		if native.Find(x.Name) != nil {
			ways = append(ways, way{Options: passes.Options{Verify: true}, target: x})
		}
	}
	ways = append(ways, way{passes.Options{Without: []string{passes.MemoryPass}}, Target()}, way{passes.Options{Without: []string{"rows"}}, Target()})
	others := make([][]float64, len(in))
	for i, x := range in {
		others[i] = make([]float64, len(x))
		floats.ScaleTo(others[i], 0.75, x)
	}
	var byInterpreter []uint64
	for k, o := range ways {
		p, err := Compile(g, o.Options)
		if err != nil {
			t.Fatal(err)
		}
		p.target = o.target
		if p.mistake != "" {
			t.Errorf("%s: %s", name, p.mistake)
		}
		m := p.New()
		full := fmt.Sprintf("%s without %v", name, o.Without)
		compare(t, full, g, m, in, tol)
		want, errWant := bits(m, 1, in)
		switch {
		case k == 0:
			byInterpreter = want
		case o.target != nil && o.Verify && !hasProduct(g) && !factorises(g) && errWant == nil && !slices.Equal(want, byInterpreter):
			t.Errorf("%s: machine code for %s computes other bits than the interpreter", name, o.target.Name)
		}
		for _, workers := range []int{2, 3, 7, 1, 2} {
			for range min(workers, 2) {
				// Run other inputs first: if a part is skipped, its previous results are then
				// wrong.
				_, _ = bits(m, workers, others)
				got, err := bits(m, workers, in)
				if (err == nil) != (errWant == nil) || err != nil && err.Error() != errWant.Error() {
					t.Fatalf("%s: %d workers: error %v, one: %v", full, workers, err, errWant)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s: %d workers compute other bits than one", full, workers)
				}
			}
		}
		splits = max(splits, p.splits)
	}
	return splits
}

func factorises(g *ad.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n ad.Node) bool { return n.Op == ad.OpCholesky })
}

// TestPartsOfRandomGraphs divides random graphs into parts as small as possible.
func TestPartsOfRandomGraphs(t *testing.T) {
	finely(t)
	splits, n := 0, 0
	for seed := range uint64(short.Of(120, 15)) {
		if !short.Turn(int(seed), 4) {
			continue
		}
		n++
		g, inputs := randomGraph(seed, 10+int(seed%60))
		splits += sameForAll(t, fmt.Sprint("seed ", seed), g, inputs(0), 1e-12)
	}
	if splits < n/3 {
		t.Errorf("only %d blocks were done in parts", splits)
	}
}

// partsGraph returns a graph with all kinds of accumulation over n rows of data in k groups.
func partsGraph(n, k int, seed uint64) *ad.Graph {
	rng := rand.New(rand.NewPCG(seed, 1))
	g := ad.NewGraph()
	a, c, s := g.Input(ad.Type{Shape: []int{k}}), g.Input(ad.Type{Shape: []int{k}}), g.Input(ad.Scalar)
	table := func() ad.Index {
		of := make([]int32, n)
		for i := range of {
			of[i] = int32(rng.IntN(k))
		}
		return ad.Index{Dims: []ad.Dim{{N: n, Table: of}}}
	}
	data := func() ad.Ref { return g.ConstArray(ad.Type{Shape: []int{n}}, normals(n, rng.Uint64())) }
	first := g.Gather(a, table())
	mu := g.Add(g.Add(first, g.Gather(c, table())), g.Mul(s, data()))
	mu = g.Add(mu, g.Mul(g.Gather(a, table()), data()))
	g.Check(&ad.Check{Set: ad.Interval{Lo: -1e300, Hi: 1e300}, Function: "f", Name: "mu", Want: "moderate"}, mu)
	z := g.Sub(data(), mu)
	f := g.Add(g.Sum(g.Square(z)), g.Sum(g.Log(g.Add(g.Square(mu), g.Const(1)))))
	f = g.Add(f, g.Sum(g.Exp(g.Neg(g.Square(z)))))
	f = g.Sub(f, g.Sum(g.Do(ad.OpLgamma, nil, g.Exp(first)))) // one part runs in Go's loops
	// Rows of a matrix: sums by rows and by columns.
	rows := g.Reshape(mu, []int{n / 4, 4})
	f = g.Add(f, g.Sum(g.LogSumExp(rows)))
	g.Output(f)
	g.Output(mu)
	for _, d := range g.Grad(f, a, c, s) {
		g.Output(d)
	}
	return g
}

// TestPartsOfMaps checks maps with sizes just below and above those of strips and parts.
func TestPartsOfMaps(t *testing.T) {
	finely(t)
	for _, n := range short.Turns(3, []int{512, 516, 1020, 1024, 1028, 4096, 4100, 16*512 + 4, 8192 + 508}) {
		for _, k := range []int{1, 7, n / 9, n} {
			g := partsGraph(n, k, uint64(n+k))
			in := [][]float64{normals(k, 1), normals(k, 2), {0.3}}
			if splits := sameForAll(t, fmt.Sprintf("%d rows, %d groups", n, k), g, in, 1e-11); n >= 4096 && k < n && splits == 0 {
				t.Errorf("%d rows, %d groups: nothing is done in parts", n, k)
			}
		}
	}
}

// TestPartsOfProducts checks products that are divided by rows, by terms, by lanes, and by package
// dense.
func TestPartsOfProducts(t *testing.T) {
	finely(t)
	for _, c := range short.Every(2, []struct {
		r, k, c, lanes int
		transA, transB bool
		parts          bool
	}{
		{r: 1000, k: 7, c: 1, parts: true}, {r: 1001, k: 20, c: 1, parts: true}, {r: 1003, k: 5, c: 3, parts: true}, {r: 130, k: 3, c: 2, transB: true, parts: true},
		{r: 5, k: fromTerms, c: 1, transA: true, parts: true}, {r: 20, k: fromTerms + 1, c: 1, transA: true, parts: true}, {r: 33, k: 9999, c: 1, transA: true, parts: true},
		{r: 1, k: fromTerms + 77, c: 12, parts: true}, {r: 1, k: fromTerms + 77, c: 12, transA: true, parts: true},
		{r: 7, k: fromTerms - 1, c: 1, transA: true}, {r: 1, k: fromTerms, c: 12, transB: true}, {r: 3, k: 5000, c: 2, transA: true, parts: true}, {r: 8, k: 6001, c: 8, transA: true, parts: true}, {r: 50, k: fromTerms + 3, c: 20, transA: true, parts: true}, {r: 70, k: 4000, c: 65, transA: true, parts: true}, {r: 3, k: 4000, c: 2, transA: true},
		{r: 100, k: 110, c: 120, parts: true}, {r: 260, k: 64, c: 130, transB: true, parts: true}, {r: 131, k: 100, c: 70, parts: true},
		{r: 3, k: 4, c: 5, lanes: 40, parts: true}, {r: 3, k: 4, c: 1, lanes: 40, transA: true, parts: true},
	}) {
		shape := func(a, b int, trans bool) []int {
			if trans {
				a, b = b, a
			}
			return []int{a, b}
		}
		g := ad.NewGraph()
		x := g.Input(ad.Type{Shape: shape(c.r, c.k, c.transA), Lanes: c.lanes})
		y := g.Input(ad.Type{Shape: shape(c.k, c.c, c.transB), Lanes: c.lanes})
		g.Output(g.Do(ad.OpMatMul, ad.MatMulAttr{TransA: c.transA, TransB: c.transB}, x, y))
		in := [][]float64{normals(c.r*c.k*max(c.lanes, 1), 1), normals(c.k*c.c*max(c.lanes, 1), 2)}
		if splits := sameForAll(t, fmt.Sprintf("%+v", c), g, in, 1e-11); (splits > 0) != c.parts {
			t.Errorf("%+v: %d blocks are done in parts", c, splits)
		}
	}
}

// TestPartsOfArrays checks array ops that are divided by lanes and rows.
func TestPartsOfArrays(t *testing.T) {
	finely(t)
	const n = fromDense + 5
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{700, 9}})
	g.Output(g.LogSumExp(x))
	y := g.Input(ad.Type{Shape: []int{3, 600}})
	g.Output(g.LogSumExp(y))
	l := g.Input(ad.Type{Shape: []int{n, n}, Lanes: 30})
	g.Output(g.Unlane(g.Cholesky(l)))
	in := [][]float64{normals(6300, 1), normals(1800, 2), nil}
	for range 30 {
		a := normals(n*n, 3)
		for i := range n {
			a[(n+1)*i] = 20
			for j := range i {
				a[n*i+j] = a[n*j+i]
			}
		}
		in[2] = append(in[2], a...)
	}
	if splits := sameForAll(t, "arrays", g, in, 1e-12); splits < 3 {
		t.Errorf("%d blocks are done in parts", splits)
	}
	in[2][25*n*n], in[2][7*n*n+n+1], in[2][29*n*n] = -1, -2, -3
	sameForAll(t, "arrays that are rejected", g, in, 1e-12)
}

// TestPartsOfFactors checks factors and adjoints that package dense divides, also of matrices that
// are rejected, and solves that are divided by right-hand sides.
func TestPartsOfFactors(t *testing.T) {
	finely(t)
	for _, n := range short.Every(2, []int{dense.InParts, 3*dense.InParts/2 + 5}) {
		g := ad.NewGraph()
		a := g.Input(ad.Type{Shape: []int{n, n}})
		y := g.Input(ad.Type{Shape: []int{n, 100}})
		z := g.Input(ad.Type{Shape: []int{130, n}})
		l := g.Cholesky(a)
		x := g.Do(ad.OpTriSolve, ad.TriAttr{}, l, y)
		f := g.Add(g.Sum(g.Square(x)), g.Sum(g.Square(g.Do(ad.OpTriSolve, ad.TriAttr{Right: true}, l, z))))
		g.Output(f)
		for _, d := range g.Grad(f, a, y, z) {
			g.Output(d)
		}
		in := [][]float64{normals(n*n, 3), normals(n*100, 4), normals(130*n, 5)}
		for i := range n {
			in[0][(n+1)*i] = float64(n)
			for j := range i {
				in[0][n*i+j] = in[0][n*j+i]
			}
		}
		if splits := sameForAll(t, fmt.Sprint("factor of order ", n), g, in, 1e-10); splits < 4 {
			t.Errorf("%d blocks are done in parts", splits)
		}
		in[0][(n+1)*(n-3)] = -1
		sameForAll(t, fmt.Sprint("rejected factor of order ", n), g, in, 1e-10)
	}
}

// TestPartsOfRegions checks loops and their derivatives, divided by lanes. Some histories are too
// short for the iterations. If lanes fail in several parts, the first lane is reported.
func TestPartsOfRegions(t *testing.T) {
	finely(t)
	for i, lanes := range short.Every(3, []int{16, 23, 24, 61}) {
		for j, snapshots := range []int{2, 64} {
			shape := ad.Type{Shape: []int{lanes}}
			g := ad.NewGraph()
			start, bound, scale := g.Input(shape), g.Input(shape), g.Input(ad.Scalar)
			y := g.SumLanes(countdown(g, g.Lane(start), g.Lane(bound), scale, snapshots))
			for _, r := range append(g.Grad(y, start, scale), y) {
				g.Output(r)
			}
			bounds := make([]float64, lanes)
			for i := range bounds {
				bounds[i] = math.Floor(50 * math.Abs(math.Sin(float64(3*i))))
			}
			for k, wrong := range short.Every(3, [][]int{nil, {1}, {lanes - 1, 2}, {9, 10, lanes - 2}}) {
				if !short.Turn(i+j+k, 4) {
					continue
				}
				in := [][]float64{normals(lanes, 7), bounds, {0.8}}
				for _, k := range wrong {
					in[0][k] = 60 + float64(k)
				}
				name := fmt.Sprint(lanes, " lanes, ", snapshots, " snapshots, wrong ", wrong)
				if splits := sameForAll(t, name, g, in, 1e-9); splits == 0 {
					t.Errorf("%s: nothing is done in parts", name)
				}
			}
		}
	}
}

// TestStopOfParts checks that loops in several parts call the stop function one at a time, and end.
func TestStopOfParts(t *testing.T) {
	finely(t)
	const lanes = 40
	shape := ad.Type{Shape: []int{lanes}}
	g := ad.NewGraph()
	start, bound, scale := g.Input(shape), g.Input(shape), g.Input(ad.Scalar)
	g.Output(g.SumLanes(countdown(g, g.Lane(start), g.Lane(bound), scale, 8)))
	p, err := Compile(g, passes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := p.New()
	for i := range lanes {
		m.Input(1)[i] = math.Inf(1)
	}
	m.Input(2)[0] = 0.8
	stopped := errors.New("stopped")
	for _, workers := range []int{1, 2, 3, 5} {
		m.SetWorkers(workers)
		asked := 0 // without a lock, because calls must not overlap
		err := m.Run(&ad.Env{Stop: func() error {
			if asked++; asked > 20 {
				return stopped
			}
			return nil
		}})
		if err != stopped || asked != 21 {
			t.Errorf("%d workers: asked %d times, error %v", workers, asked, err)
		}
	}
}

// TestPartsOfChecks checks that the first failing check is reported, at its first element, if
// checks fail in several parts.
func TestPartsOfChecks(t *testing.T) {
	finely(t)
	const n = 20 * 512
	of := make([]int32, n)
	for i := range of {
		of[i] = int32(i * 7 % 11)
	}
	g := ad.NewGraph()
	x, a := g.Input(ad.Type{Shape: []int{n}}), g.Input(ad.Type{Shape: []int{11}})
	y := g.Exp(x)
	g.Check(&ad.Check{Set: ad.Interval{Lo: 0, Hi: 10}, Function: "f", Name: "y", Want: "at most 10"}, y)
	z := g.Add(y, g.Gather(a, ad.Index{Dims: []ad.Dim{{N: n, Table: of}}}))
	g.Check(&ad.Check{Set: ad.Interval{Lo: -5, Hi: 5}, Function: "f", Name: "z", Want: "between -5 and 5"}, z)
	g.Output(g.Sum(z))
	for _, wrong := range []map[int]float64{nil, {9000: 3}, {9000: 3, 600: 3.1}, {600: 1.9}, {10000: 1.9, 700: 2}, {100: 2, 9999: 4}, {0: 2, n - 1: 2}} {
		in := [][]float64{make([]float64, n), make([]float64, 11)}
		for i, v := range wrong {
			in[0][i] = v
		}
		sameForAll(t, fmt.Sprint(wrong), g, in, 1e-12)
	}
}

// workFunc is a function that implements parts.
type workFunc func(m *Machine, k int)

func (f workFunc) part(m *Machine, k int) { f(m, k) }

// TestTeam checks that every part is done exactly once. A panic in a part reaches the caller, and
// the team continues to work. Goroutines of an idle machine end soon.
func TestTeam(t *testing.T) {
	g := partsGraph(2048, 5, 1)
	finely(t)
	p, err := Compile(g, passes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := p.New()
	m.SetWorkers(4)
	for n := range 300 {
		times := make([]atomic.Int32, n)
		m.team.each(m, workFunc(func(_ *Machine, k int) { times[k].Add(1) }), n)
		for k := range times {
			if times[k].Load() != 1 {
				t.Fatalf("of %d parts, %d was done %d times", n, k, times[k].Load())
			}
		}
	}
	failure := errors.New("a mistake")
	for _, at := range []int{0, 57, 99} {
		done := atomic.Int32{}
		func() {
			defer func() {
				if r := recover(); r != failure {
					t.Errorf("recovered %v", r)
				}
			}()
			m.team.each(m, workFunc(func(_ *Machine, k int) {
				done.Add(1)
				if k == at {
					panic(failure)
				}
			}), 100)
		}()
		if done.Load() != 100 {
			t.Errorf("%d parts were done beside one that panicked", done.Load())
		}
	}
	in := [][]float64{normals(5, 1), normals(5, 2), {0.3}}
	want, _ := bits(m, 1, in)
	got, _ := bits(m, 4, in)
	if !slices.Equal(got, want) {
		t.Error("other bits than one worker")
	}
	if n := testing.AllocsPerRun(20, func() { _ = m.Run(nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
