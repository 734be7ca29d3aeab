package passes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// design is a matrix for tests.
type design struct {
	name          string
	rows, columns int
	at            func(i, j int) float64 // an element
	sparse        bool                   // whether products leave out its zeros
	selects       bool                   // whether its products are gathers
	slots         int                    // of rows; -1: any number
}

func designs() []design {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(rows, columns int, share float64) func(i, j int) float64 {
		x := make([]float64, rows*columns)
		for i := range x {
			if rng.Float64() < share {
				x[i] = rng.NormFloat64()
			}
		}
		return func(i, j int) float64 { return x[i*columns+j] }
	}
	if1 := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	// near has k elements in each row.
	near := func(k, columns int) func(i, j int) float64 {
		return func(i, j int) float64 {
			if at := (i*7)%(columns-k+1) + k; j < at && j >= at-k {
				return float64(1+i%5) - 0.5*float64(j%3)
			}
			return 0
		}
	}
	return []design{
		{"group", 64, 20, func(i, j int) float64 { return if1(i*i%20 == j) }, true, true, 1},
		{"group, first level left out", 64, 20, func(i, j int) float64 { return if1(i%21 == j+1) }, true, true, 1},
		{"slope", 64, 20, func(i, j int) float64 { return if1(i*3%20 == j) * float64(i-30) }, true, true, 1},
		{"intercept and group", 64, 40, func(i, j int) float64 { return if1(j == 0 || i%39 == j-1) }, true, false, 2},
		{"a column is full, the others are empty", 64, 20, func(i, j int) float64 { return if1(j == 3) * float64(i+1) }, true, true, 1},
		{"two groups", 64, 60, func(i, j int) float64 { return if1(i%30 == j || i*i%30 == j-30) }, true, false, 2},
		{"all zero", 64, 20, func(i, j int) float64 { return 0 }, true, false, 0},
		{"splines", 100, 40, near(4, 40), true, false, 4},
		{"8 in a row", 100, maxSlots * 10, near(maxSlots, maxSlots*10), true, false, maxSlots},
		{"9 in a row", 100, maxSlots * 12, near(maxSlots+1, maxSlots*12), true, false, -1},
		{"long rows", 2, 1200, random(2, 1200, 0.02), false, false, -1},
		{"one row", 1, minSparse, random(1, minSparse, 0.02), false, false, -1},
		{"one column", minSparse, 1, random(minSparse, 1, 0.02), false, false, -1},
		{"irregular", 60, 50, random(60, 50, 0.05), true, false, -1},
		{"neighbours", 40, 40, func(i, j int) float64 {
			switch d := i - j; {
			case d == 0:
				return 2
			case d == 1 || d == -1:
				return -1
			}
			return 0
		}, true, false, -1},
		{"the smallest", 32, minSparse / 32, func(i, j int) float64 { return if1(i == j) }, true, true, 1},
		{"too small", 33, (minSparse - 1) / 33, func(i, j int) float64 { return if1(i%31 == j) }, false, false, 0},
		{"a third", 60, 50, func(i, j int) float64 { return if1((i+j)%3 == 0) }, false, false, 0},
		{"6 %", 100, 100, func(i, j int) float64 { return if1((i*3+j*7)%50 < 3) }, true, false, -1},
		{"16 %", 100, 100, func(i, j int) float64 { return if1((i*3+j*7)%50 < 8) }, false, false, 0},
		{"all half full", 64, 40, func(i, j int) float64 { return if1(j < 20) }, false, false, 0},
	}
}

// TestSparse compares products with vectors, on either side and with the transpose, with the dense
// ones, also for numbers that are not finite: then both must contain NaN, or equal infinities.
func TestSparse(t *testing.T) {
	for _, d := range designs() {
		x := make([]float64, d.rows*d.columns)
		for i := range x {
			x[i] = d.at(i/d.columns, i%d.columns)
		}
		for _, left := range []bool{true, false} {
			for _, trans := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, left %t, transposed %t", d.name, left, trans), func(t *testing.T) { testSparse(t, d, x, left, trans) })
			}
		}
	}
}

func testSparse(t *testing.T, d design, x []float64, left, trans bool) {
	g := ad.NewGraph()
	m := g.ConstArray(ad.Type{Shape: []int{d.rows, d.columns}}, x)
	n := d.columns
	if left == trans {
		n = d.rows
	}
	v := g.Input(ad.Type{Shape: []int{n}})
	var p ad.Ref
	if left {
		p = g.Do(ad.OpMatMul, ad.MatMulAttr{TransA: trans}, m, g.Reshape(v, []int{n, 1}))
	} else {
		p = g.Do(ad.OpMatMul, ad.MatMulAttr{TransB: trans}, g.Reshape(v, []int{1, n}), m)
	}
	g.Output(p)
	if found := findSparse(g)[p]; (found != nil) != d.sparse {
		t.Fatalf("sparse: %t, want %t", found != nil, d.sparse)
	} else if !d.sparse {
		return
	} else if left != trans {
		if found.selects() != d.selects {
			t.Errorf("selects: %t, want %t", found.selects(), d.selects)
		}
		if d.slots >= 0 && (found.byColumn && d.slots != 0 || len(found.slots) != d.slots) {
			t.Errorf("%d slots, by column %t; want %d of rows", len(found.slots), found.byColumn, d.slots)
		}
	}
	after := sparseProducts(g, &Options{})
	before := selections(g)
	for k, to := range []*ad.Graph{after, before} {
		if k == 0 && has(to, ad.OpMatMul) {
			t.Error("the product remains")
		}
		for _, special := range []float64{1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64} {
			in := make([]float64, n)
			for i := range in {
				in[i] = float64(i%7) - 2.5
			}
			for _, at := range []int{0, n / 2, n - 1} {
				in[at] = special
				want, err := g.Eval([][]float64{in}, &ad.Env{})
				if err != nil {
					t.Fatal(err)
				}
				got, err := to.Eval([][]float64{in}, &ad.Env{})
				if err != nil {
					t.Fatal(err)
				}
				compareProducts(t, got[0], want[0])
				in[at] = float64(at%7) - 2.5
			}
		}
	}
}

func compareProducts(t *testing.T, got, want []float64) {
	wrong, lost := false, false
	for i := range want {
		wrong = wrong || math.IsNaN(want[i])
		lost = lost || math.IsNaN(got[i])
	}
	if wrong != lost {
		t.Fatalf("NaN in the sparse product: %t, in the dense one: %t", lost, wrong)
	}
	for i := range want {
		if !wrong && !(got[i] == want[i] || math.Abs(got[i]-want[i]) <= 1e-12*math.Abs(want[i])) {
			t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
}
