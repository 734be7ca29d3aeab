package vm

import (
	"fmt"
	"os"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// TestMeasureProducts compares products with gonum's: VM_MEASURE=products.
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

// TestMultiply compares with the definition, across the sizes of blocks.
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
