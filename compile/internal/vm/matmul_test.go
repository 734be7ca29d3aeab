package vm

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// TestMeasureProducts compares products with gonum's. It runs if VM_MEASURE=products is set.
func TestMeasureProducts(t *testing.T) {
	if os.Getenv("VM_MEASURE") != "products" {
		t.Skip("measures: set VM_MEASURE=products")
	}
	for _, s := range [][3]int{{1000, 1, 24}, {24, 1, 1000}, {1000, 1, 4}, {100, 1, 100}, {500, 1, 500}, {3, 1, 3}, {3, 3, 3}, {10, 10, 10}, {40, 40, 40}, {100, 100, 100}, {300, 300, 300}, {1000, 4, 24}, {24, 4, 1000}} {
		r, c, k := s[0], s[1], s[2]
		a, b, d := normals(r*k, 1), normals(k*c, 2), make([]float64, r*c)
		n := float64(r * c * k)
		for _, ta := range []bool{false, true} {
			for _, tb := range []bool{false, true} {
				if tb && c == 1 {
					continue
				}
				own := least(100*time.Millisecond, func() { multiply(d, a, b, r, c, k, ta, tb) })
				gon := least(100*time.Millisecond, func() { gonum(d, a, b, r, c, k, ta, tb) })
				fmt.Printf("%4d %4d %4d %5v %5v own %9.0f ns %.3f/flop gonum %9.0f ns %.3f/flop\n", r, c, k, ta, tb, own, own/n, gon, gon/n)
			}
		}
	}
}

func gonum(dst, a, b []float64, r, c, k int, ta, tb bool) {
	ra, ca, rb, cb := r, k, k, c
	tA, tB := blas.NoTrans, blas.NoTrans
	if ta {
		ra, ca, tA = k, r, blas.Trans
	}
	if tb {
		rb, cb, tB = c, k, blas.Trans
	}
	_ = rb
	if c == 1 {
		blas64.Implementation().Dgemv(tA, ra, ca, 1, a, ca, b, 1, 0, dst, 1)
		return
	}
	blas64.Implementation().Dgemm(tA, tB, r, c, k, 1, a, ca, b, cb, 0, dst, c)
}

// TestMultiply compares products with the definition, for sizes below and above those of blocks.
func TestMultiply(t *testing.T) {
	for _, s := range [][3]int{{1, 1, 1}, {3, 1, 70}, {1, 5, 70}, {2, 3, 1}, {5, 7, 3}, {3, 70, 600}, {2, 530, 65}, {66, 9, 4}} {
		r, c, k := s[0], s[1], s[2]
		a, b, d := normals(r*k, 1), normals(k*c, 2), make([]float64, r*c)
		for mode := range 4 {
			ta, tb := mode&1 > 0, mode&2 > 0
			multiply(d, a, b, r, c, k, ta, tb)
			for i := range r {
				for j := range c {
					sum := 0.0
					for t := range k {
						x, y := a[i*k+t], b[t*c+j]
						if ta {
							x = a[t*r+i]
						}
						if tb {
							y = b[j*k+t]
						}
						sum += x * y
					}
					if !agree(sum, d[i*c+j], 1e-12) {
						t.Fatalf("%v %v %v: [%d %d] = %v, want %v", s, ta, tb, i, j, d[i*c+j], sum)
					}
				}
			}
		}
	}
}

// TestProducts compares products in machine code with the graph's. The sizes cover all tile heights
// and all widths of the remaining columns; small products are also in lanes.
func TestProducts(t *testing.T) {
	for r := 1; r <= 7; r++ {
		for _, c := range []int{1, 2, 3, 4, 7, 23, 24, 27, 41, 47, 70} {
			for _, k := range []int{1, 3, 6, 67} {
				for mode := range 12 {
					lanesA, lanesB := mode/3%2*11, mode/6*11
					if mode = mode % 3; lanesA+lanesB > 0 && c*k > 50 {
						continue
					}
					attr := ad.MatMulAttr{TransA: mode == 1, TransB: mode == 2}
					sa, sb := []int{r, k}, []int{k, c}
					if attr.TransA {
						sa = []int{k, r}
					}
					if attr.TransB {
						sb = []int{c, k}
					}
					g := ad.NewGraph()
					a, b := g.Input(ad.Type{Lanes: lanesA, Shape: sa}), g.Input(ad.Type{Lanes: lanesB, Shape: sb})
					g.Output(g.Do(ad.OpMatMul, attr, a, b))
					x, y := normals(max(lanesA, 1)*r*k, 3), normals(max(lanesB, 1)*k*c, 4)
					want, err := g.Eval([][]float64{x, y}, &ad.Env{})
					if err != nil {
						t.Fatal(err)
					}
					p, err := Compile(g, passes.Options{})
					if err != nil {
						t.Fatal(err)
					}
					m := p.New()
					if p.mistake != "" {
						t.Fatalf("%d × %d × %d: %s", r, k, c, p.mistake)
					}
					copy(m.Input(0), x)
					copy(m.Input(1), y)
					if err := m.Run(&ad.Env{}); err != nil {
						t.Fatal(err)
					}
					for i, v := range want[0] {
						if got := m.Output(0)[i]; !agree(v, got, 1e-12) {
							t.Fatalf("%d × %d × %d, %+v: element %d is %v, want %v", r, k, c, attr, i, got, v)
						}
					}
				}
			}
		}
	}
}

// TestSparse compares products with mostly zero data with the graph's, also for numbers that are
// not finite.
func TestSparse(t *testing.T) {
	for _, target := range native.Targets {
		if native.Find(target.Name) != nil {
			t.Run(target.Name, func(t *testing.T) { testSparse(t, target) })
		}
	}
}

func testSparse(t *testing.T, target *native.Target) {
	t.Setenv(processor, target.Name)
	const r, k = 60, 50
	data := normals(r*k, 5)
	for i := range data {
		if i%61 != 0 && i%k != 7 || i/k == 9 {
			data[i] = 0
		}
	}
	for _, c := range []int{4, 5, 8, 10, 17, 33, 70} {
		for _, trans := range []bool{false, true} {
			rows := k
			if trans {
				rows = r
			}
			for _, special := range []float64{1, math.Inf(1), math.NaN()} {
				g := ad.NewGraph()
				y := g.Input(ad.Type{Shape: []int{rows, c}})
				g.Output(g.Do(ad.OpMatMul, ad.MatMulAttr{TransA: trans}, g.ConstArray(ad.Type{Shape: []int{r, k}}, data), y))
				p, err := Compile(g, passes.Options{})
				if err != nil {
					t.Fatal(err)
				}
				used := false
				for _, b := range p.blocks {
					used = used || b.sparse != nil
				}
				if !used {
					t.Errorf("%d columns: the matrix is taken for dense", c)
				}
				x := normals(rows*c, 6)
				x[rows*c/2] = special
				want, err := g.Eval([][]float64{x}, &ad.Env{})
				if err != nil {
					t.Fatal(err)
				}
				m := p.New()
				copy(m.Input(0), x)
				if err := m.Run(&ad.Env{}); err != nil {
					t.Fatal(err)
				}
				if p.mistake != "" {
					t.Fatal(p.mistake)
				}
				for i, v := range want[0] {
					if got := m.Output(0)[i]; !agree(v, got, 1e-12) {
						t.Fatalf("%d columns, transposed %t, with %v: element %d is %v, want %v", c, trans, special, i, got, v)
					}
				}
			}
		}
	}
	for i := range data {
		data[i] = 1
	}
	if newSparse(data, r, 5, perRow) != nil || newSparse(data, r, 1, perRow) != nil {
		t.Error("a dense matrix is taken for sparse")
	}
}
