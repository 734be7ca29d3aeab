package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	lapackimpl "gonum.org/v1/gonum/lapack/gonum"

	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/internal/short"
)

// each runs a test for every target of this processor.
func each(t *testing.T, f func(t *testing.T, k *Kernels)) {
	for _, x := range native.Targets {
		if native.Find(x.Name) == nil {
			continue
		}
		t.Run(x.Name, func(t *testing.T) {
			k := New(x)
			if k == nil {
				t.Skip("no executable memory")
			}
			f(t, k)
		})
	}
}

var sizes = []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 33, 40, 47, 50, 64, 65, 100, 129}

func normals(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// positive returns a positive definite matrix with NaN above the diagonal.
func positive(n int) []float64 {
	const terms = 7
	x := normals(n*terms, uint64(n))
	a := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range terms {
				a[i*n+j] += x[i*terms+k] * x[j*terms+k] / terms
			}
			if j > i {
				a[i*n+j] = math.NaN()
			}
		}
		a[i*n+i] += 0.5
	}
	return a
}

func nans(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}

func compare(t *testing.T, what string, got, want []float64, scale float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= 1e-12*scale) && got[i] != w {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], w)
			return
		}
	}
}

// TestCholesky compares factors and adjoints with those of package kernel.
func TestCholesky(t *testing.T) {
	each(t, func(t *testing.T, k *Kernels) {
		for _, n := range append([]int{513, 771}, sizes...) {
			a, adj := positive(n), positive(n)
			want, got := make([]float64, n*n), nans(n*n)
			work := nans(k.CholeskyWork(n))
			if !kernel.Cholesky(want, a, n) || !k.Cholesky(&Job{}, got, a, n, work) {
				t.Fatalf("%d: not positive definite", n)
			}
			compare(t, fmt.Sprint("factor ", n), got, want, 10)
			wantAdj, gotAdj := make([]float64, n*n), nans(n*n)
			kernel.CholeskyAdjoint(wantAdj, want, adj, n, make([]float64, n*n))
			for i := range n { // the part above the diagonal of the factor must not be read
				for j := i + 1; j < n; j++ {
					want[i*n+j] = math.NaN()
				}
			}
			copy(work, nans(len(work)))
			k.CholeskyAdjoint(&Job{}, gotAdj, want, adj, n, work)
			compare(t, fmt.Sprint("adjoint ", n), gotAdj, wantAdj, 100)
			for _, bad := range []float64{-1, 0, math.NaN(), math.Inf(1)} {
				p := n * 2 / 3
				saved := a[p*n+p]
				if a[p*n+p] = bad; k.Cholesky(&Job{}, got, a, n, work) {
					t.Errorf("%d: %v at %d is positive", n, bad, p)
				}
				a[p*n+p] = saved
			}
		}
	})
}

// TestEigenSym checks that machine code computes the same bits as package kernel.
func TestEigenSym(t *testing.T) {
	each(t, func(t *testing.T, k *Kernels) {
		for i, n := range short.Every(5, sizes) {
			if !short.Turn(i, 3) {
				continue
			}
			a := positive(n)
			values, vectors := nans(n), nans(n*n)
			wantValues, want := nans(n), nans(n*n)
			if !kernel.EigenSym(wantValues, want, a, n, kernel.PortableEigenLoops{}, nans(kernel.EigenWork(n))) {
				t.Fatalf("%d: no convergence", n)
			}
			if !k.EigenSym(values, vectors, a, n, nans(k.EigenWork(n))) {
				t.Fatalf("%d: machine code does not converge", n)
			}
			for i, w := range append(wantValues, want...) {
				if x := append(values, vectors...)[i]; math.Float64bits(x) != math.Float64bits(w) {
					t.Fatalf("%d: element %d is %v, want %v", n, i, x, w)
				}
			}
		}
	})
}

// TestInvert checks that machine code computes the same bits as package kernel.
func TestInvert(t *testing.T) {
	each(t, func(t *testing.T, k *Kernels) {
		for _, n := range sizes {
			a := normals(n*n, uint64(n))
			got, want := nans(n*n), nans(n*n)
			kernel.Invert(want, a, n, n, kernel.PortableEigenLoops{}, nans(kernel.InvertWork(n, n)))
			k.Invert(got, a, n, nans(k.InvertWork(n)))
			for i, w := range want {
				if math.Float64bits(got[i]) != math.Float64bits(w) {
					t.Fatalf("%d: element %d is %v, want %v", n, i, got[i], w)
				}
			}
		}
	})
}

// TestSolve compares solutions with the definition, for every kind of system.
func TestSolve(t *testing.T) {
	each(t, func(t *testing.T, k *Kernels) {
		for _, n := range sizes {
			for _, others := range []int{1, 3, 8, 13, 30} {
				for kind := range 8 {
					isUpper, trans, right := kind&1 > 0, kind&2 > 0, kind&4 > 0
					a := normals(n*n, uint64(n))
					x := normals(n*others, uint64(others))
					b := make([]float64, n*others)
					for i := range n {
						a[i*n+i] = 3 + math.Sqrt(float64(n))
						for j := range n {
							if j > i != isUpper && i != j {
								a[i*n+j] = math.NaN() // must not be read
							}
						}
					}
					op := func(i, j int) float64 {
						if trans {
							i, j = j, i
						}
						if j > i != isUpper && i != j {
							return 0
						}
						return a[i*n+j]
					}
					for i := range n {
						for j := range others {
							for p := range n {
								if right {
									b[j*n+i] += x[j*n+p] * op(p, i)
								} else {
									b[i*others+j] += op(i, p) * x[p*others+j]
								}
							}
						}
					}
					got := nans(n * others)
					y := &System{n, others, isUpper, trans, right}
					k.Solve(got, a, b, y, 0, others, nans(k.SolveWork(n, others)))
					compare(t, fmt.Sprint(n, others, isUpper, trans, right), got, x, 100)
				}
			}
		}
	})
}

// TestProduct compares products with the definition, for sizes below and above those of panels.
func TestProduct(t *testing.T) {
	each(t, func(t *testing.T, k *Kernels) {
		for _, s := range [][3]int{{1, 1, 1}, {3, 1, 70}, {1, 5, 70}, {8, 8, 8}, {5, 7, 3}, {3, 70, 600}, {24, 24, 24}, {66, 9, 4}, {33, 50, 200}, {17, 25, 193}} {
			r, c, n := s[0], s[1], s[2]
			a, b := normals(r*n, 1), normals(n*c, 2)
			for kind := range 4 {
				ta, tb := kind&1 > 0, kind&2 > 0
				want, got := make([]float64, r*c), nans(r*c)
				for i := range r {
					for j := range c {
						for p := range n {
							x, y := a[i*n+p], b[p*c+j]
							if ta {
								x = a[p*r+i]
							}
							if tb {
								y = b[j*n+p]
							}
							want[i*c+j] += x * y
						}
					}
				}
				k.Product(got, a, b, r, c, n, 0, r, ta, tb, nans(k.ProductWork(r, n)))
				compare(t, fmt.Sprint(s, ta, tb), got, want, 100)
			}
		}
	})
}

func measured() []int {
	if os.Getenv("DENSE_MEASURE") == "large" {
		return []int{128, 160, 200, 256, 300, 400, 512, 800, 1000}
	}
	return []int{5, 8, 12, 16, 20, 32, 50, 64, 100, 128, 200, 256, 400, 512, 1000}
}

// least returns the smallest time of f over many short batches.
func least(budget time.Duration, f func()) time.Duration {
	best := time.Hour
	for end := time.Now().Add(budget); time.Now().Before(end); {
		const n = 3
		t := time.Now()
		for range n {
			f()
		}
		best = min(best, time.Since(t)/n)
	}
	return best
}

// TestMeasure prints the tables of the package documentation. It runs if DENSE_MEASURE=1 is set.
func TestMeasure(t *testing.T) {
	if os.Getenv("DENSE_MEASURE") == "" {
		t.Skip("measures: set DENSE_MEASURE=1")
	}
	each(t, func(t *testing.T, k *Kernels) {
		for _, n := range measured() {
			a, adj := positive(n), positive(n)
			l, d := make([]float64, n*n), make([]float64, n*n)
			work, w := make([]float64, k.CholeskyWork(n)), make([]float64, n*n)
			kernel.Cholesky(l, a, n)
			rate := func(t time.Duration, terms float64) float64 { return terms / t.Seconds() * 1e-9 }
			x, j := l, &Job{}
			f0 := least(100*time.Millisecond, func() { kernel.Cholesky(x, a, n) })
			f1 := least(100*time.Millisecond, func() { k.Cholesky(j, x, a, n, work) })
			b0 := least(100*time.Millisecond, func() { kernel.CholeskyAdjoint(d, l, adj, n, w) })
			b1 := least(100*time.Millisecond, func() { k.CholeskyAdjoint(j, d, l, adj, n, work) })
			n3 := math.Pow(float64(n), 3) / 6
			fmt.Printf("%4d factor %10v %10v %.2f %5.1f G/s  adjoint %10v %10v %.2f %5.1f G/s\n", n, f0, f1, f0.Seconds()/f1.Seconds(), rate(f1, n3), b0, b1, b0.Seconds()/b1.Seconds(), rate(b1, 2*n3))
		}
	})
}

// TestMeasureEigen prints times of symmetric eigendecompositions.
func TestMeasureEigen(t *testing.T) {
	if os.Getenv("DENSE_MEASURE") == "" {
		t.Skip("measures: set DENSE_MEASURE=1")
	}
	each(t, func(t *testing.T, k *Kernels) {
		for _, n := range []int{2, 3, 5, 8, 10, 15, 20, 30, 50, 100, 200, 400} {
			smooth := make([]float64, n*n)
			for i := range n {
				for j := range n {
					smooth[i*n+j] = math.Exp(-float64((i-j)*(i-j)) / 50)
				}
			}
			for _, a := range [][]float64{positive(n), smooth} {
				for i := range n {
					for j := range i {
						a[j*n+i] = a[i*n+j]
					}
				}
				values, vectors, work := make([]float64, n), make([]float64, n*n), make([]float64, k.EigenWork(n)+34*n)
				t0 := least(50*time.Millisecond, func() {
					copy(vectors, a)
					lapackimpl.Implementation{}.Dsyev(lapack.EVCompute, blas.Lower, n, vectors, n, values, work, 34*n)
				})
				t1 := least(50*time.Millisecond, func() { kernel.EigenSym(values, vectors, a, n, kernel.PortableEigenLoops{}, work) })
				t2 := least(50*time.Millisecond, func() { k.EigenSym(values, vectors, a, n, work) })
				fmt.Printf("%4d gonum %10v Go %10v %.2f machine code %10v %.2f\n", n, t0, t1, t0.Seconds()/t1.Seconds(), t2, t0.Seconds()/t2.Seconds())
			}
		}
	})
}

// TestMeasureProducts prints the speed of matrix products, in multiplications per second.
func TestMeasureProducts(t *testing.T) {
	if os.Getenv("DENSE_MEASURE") == "" {
		t.Skip("measures: set DENSE_MEASURE=1")
	}
	each(t, func(t *testing.T, k *Kernels) {
		// The peak speed: a tile in the first-level cache.
		work, n := make([]float64, k.ProductWork(k.rows, 100)), 1000
		c := k.begin(work)
		x := c.take(100)
		c.strides(0, 0, 0)
		peak := least(100*time.Millisecond, func() { c.tile(set, x, x, x, n, k.wide) })
		fmt.Printf("peak %.1f G/s\n", float64(n*k.rows*k.wide*k.lanes)/peak.Seconds()*1e-9)
		for _, s := range [][3]int{{8, 8, 8}, {16, 16, 16}, {24, 24, 24}, {32, 32, 32}, {50, 50, 50}, {64, 64, 64}, {100, 100, 100}, {128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {1000, 1000, 1000}, {100, 20, 24}, {1000, 20, 24}, {24, 20, 1000}, {20, 20, 1000}} {
			r, c, n := s[0], s[1], s[2]
			a, b, d := normals(r*n, 1), normals(n*c, 2), make([]float64, r*c)
			work := make([]float64, k.ProductWork(r, n))
			fmt.Printf("%4d %4d %4d", r, c, n)
			for kind := range 4 {
				t := least(50*time.Millisecond, func() { k.Product(d, a, b, r, c, n, 0, r, kind&1 > 0, kind&2 > 0, work) })
				fmt.Printf(" %10v %5.1f G/s", t, float64(r*c*n)/t.Seconds()*1e-9)
			}
			fmt.Println()
		}
	})
}
