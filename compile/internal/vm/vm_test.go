package vm

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/ppl-lang/ppl/ad"
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
	var oe *OpError
	if errors.As(err, &oe) {
		err = oe.Err
	}
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
	for k := range want {
		got := m.Output(k)
		if len(got) != len(want[k]) {
			t.Errorf("%s: output %d has %d elements, want %d", name, k, len(got), len(want[k]))
			return false
		}
		for e, v := range want[k] {
			if !agree(v, got[e], tol) && !sensitive(g, in, k, e, math.Abs(v-got[e])) {
				t.Errorf("%s: output %d[%d] = %v, want %v", name, k, e, got[e], v)
				return false
			}
		}
	}
	return true
}

// sensitive reports whether rounding of the inputs changes element e of output k
// by about as much as diff: the graph amplifies what it is not wrong about.
func sensitive(g *ad.Graph, in [][]float64, k, e int, diff float64) bool {
	rng := rand.New(rand.NewPCG(9, 9))
	least, most := math.Inf(1), math.Inf(-1)
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
			return true
		}
		least, most = min(least, out[k][e]), max(most, out[k][e])
	}
	return !(diff > 20*(most-least))
}

func TestRandomGraphs(t *testing.T) {
	n, tol := 400, 1e-12
	if s := os.Getenv("VM_GRAPHS"); s != "" {
		n, _ = strconv.Atoi(s)
		tol = 1e-8 // among many thousands some amplify rounding
	}
	count := map[string]int{}
	for seed := range uint64(n) {
		g, inputs := randomGraph(seed, 10+int(seed%60))
		consts := map[ad.Ref][]float64{}
		for i, n := range g.Nodes {
			count[n.Op.String()]++
			if n.Op == ad.OpConst {
				consts[ad.Ref(i)] = append([]float64(nil), n.Data...)
			}
		}
		p, err := Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		m := p.New()
		name := "seed " + strconv.FormatUint(seed, 10)
		// Other inputs between: values must not depend on history.
		ok := compare(t, name, g, m, inputs(0), tol) && compare(t, name+" second", g, m, inputs(1), tol) &&
			compare(t, name+" again", g, m, inputs(0), tol)
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
