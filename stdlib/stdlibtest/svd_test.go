package stdlibtest

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// singularCases returns matrices of a shape, with and without full rank.
func singularCases(rng *rand.Rand, r, c int) map[string][]float64 {
	of := func(f func(i, j int) float64) []float64 {
		m := make([]float64, 0, r*c)
		for i := range r {
			for j := range c {
				m = append(m, f(i, j))
			}
		}
		return m
	}
	var x, y [3][8]float64
	for k := range x {
		for i := range x[k] {
			x[k][i], y[k][i] = rng.NormFloat64(), rng.NormFloat64()
		}
	}
	normal := func(int, int) float64 { return rng.NormFloat64() }
	return map[string][]float64{
		"full rank":     of(normal),
		"small":         of(func(int, int) float64 { return 1e-200 * rng.NormFloat64() }),
		"large":         of(func(int, int) float64 { return 1e200 * rng.NormFloat64() }),
		"zero":          of(func(int, int) float64 { return 0 }),
		"equal":         of(func(int, int) float64 { return 1 }),
		"one element":   of(func(i, j int) float64 { return float64(max(0, 1-i-j)) }),
		"rank 1":        of(func(i, j int) float64 { return x[0][i] * y[0][j] }),
		"rank 2":        of(func(i, j int) float64 { return x[0][i]*y[0][j] + x[1][i]*y[1][j] }),
		"nearly rank 1": of(func(i, j int) float64 { return x[0][i]*y[0][j] + 1e-12*x[1][i]*y[1][j] }),
		"rows twice":    of(func(i, j int) float64 { return x[i/2%3][j] }),
		"zero column":   of(func(i, j int) float64 { return float64(min(j, 1)) * rng.NormFloat64() }),
		"unit":          of(func(i, j int) float64 { return float64(max(0, 1-(i-j)*(i-j))) }),
		"minus units":   of(func(i, j int) float64 { return -3 * float64(max(0, 1-(i-j)*(i-j))) }),
		"values twice":  of(func(i, j int) float64 { return float64(max(0, 1-(i-j)*(i-j)) * (1 + i/2)) }),
		"counting":      of(func(i, j int) float64 { return float64(i*c + j + 1) }), // of rank 2
	}
}

// TestSingularVectors checks, for any rank and shape, that singular vectors are orthonormal, that
// they reproduce the matrix, and that singular values decrease.
func TestSingularVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 26))
	for _, r := range []int{0, 1, 2, 3, 8} {
		for _, c := range []int{0, 1, 2, 3, 8} {
			for name, m := range singularCases(rng, r, c) {
				k := min(r, c)
				value := func(function string, size int) []float64 {
					x, err := Eval(find(function), false, []Value{{Type: tMat, Shape: []int{r, c}, Data: m}})
					if err != nil || len(x) != size {
						t.Fatalf("%s of %d×%d, %s: %d elements, %v", function, r, c, name, len(x), err)
					}
					return x
				}
				s, u, v := value("singular_values", k), value("svd_U", r*k), value("svd_V", c*k)
				worst := func(what string, rows, columns, terms int, scale float64, f func(i, j, l int) float64, want func(i, j int) float64) {
					for i := range rows {
						for j := range columns {
							sum := 0.0
							for l := range terms {
								sum += f(i, j, l)
							}
							if d := sum - want(i, j); !(math.Abs(d) <= 2e-14*scale) {
								t.Errorf("%d×%d, %s: %s at %d, %d is off by %v", r, c, name, what, i, j, d)
								return
							}
						}
					}
				}
				unit := func(i, j int) float64 { return float64(max(0, 1-(i-j)*(i-j))) }
				worst("UᵀU", k, k, r, 1, func(i, j, l int) float64 { return u[l*k+i] * u[l*k+j] }, unit)
				worst("VᵀV", k, k, c, 1, func(i, j, l int) float64 { return v[l*k+i] * v[l*k+j] }, unit)
				if k == 0 {
					continue
				}
				worst("U diag(σ) Vᵀ", r, c, k, s[0], func(i, j, l int) float64 { return u[i*k+l] * s[l] * v[j*k+l] }, func(i, j int) float64 { return m[i*c+j] })
				for l := range k {
					if !(s[l] >= 0) || l > 0 && s[l] > s[l-1] {
						t.Errorf("%d×%d, %s: singular values %v", r, c, name, s)
					}
				}
			}
		}
	}
}

// TestDerivativesOfSingular compares derivatives with differences for singular matrices. It tests
// singular values that are neither 0 nor equal to others, and their vectors.
func TestDerivativesOfSingular(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 26))
	for _, shape := range [][2]int{{1, 3}, {3, 1}, {2, 2}, {3, 2}, {3, 3}, {8, 3}, {3, 8}, {8, 8}} {
		r, c := shape[0], shape[1]
		for _, name := range []string{"full rank", "rank 1", "one element", "equal", "rows twice", "counting"} {
			x := singularCases(rng, r, c)[name]
			build := func(g *ad.Graph, m ad.Ref) ad.Ref {
				arg := Value{Type: tMat, Shape: []int{r, c}}
				of := func(function string) ad.Ref { return Apply(g, find(function), false, []Value{arg}, []ad.Ref{m}) }
				k := min(r, c)
				first := func(x ad.Ref, n int) ad.Ref { // a column, in a form that does not depend on its sign
					v := g.Gather(x, ad.Index{Dims: []ad.Dim{{N: n, Stride: k}}})
					w := make([]float64, n)
					for i := range w {
						w[i] = float64(i + 1)
					}
					return g.Square(g.Sum(g.Mul(g.ConstArray(ad.Type{Shape: []int{n}}, w), v)))
				}
				return g.Add(g.Slice(of("singular_values"), 0, nil), g.Add(first(of("svd_U"), r), g.Scale(0.7, first(of("svd_V"), c))))
			}
			g := ad.NewGraph()
			in := g.Input(ad.Type{Shape: []int{r, c}})
			out := build(g, in)
			g.Output(out)
			g.Output(g.Grad(out, in)[0])
			at := func(x []float64) [][]float64 {
				res, err := g.Eval([][]float64{x}, &ad.Env{})
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			grad := at(x)[1]
			for i := range x {
				const h = 1e-4
				moved := func(by float64) float64 {
					y := append([]float64(nil), x...)
					y[i] += by
					return at(y)[0][0]
				}
				// Differences of order 4, with an error of about 1e-10.
				want := (8*(moved(h)-moved(-h)) - (moved(2*h) - moved(-2*h))) / (12 * h)
				if !near(grad[i], want, 1e-8) {
					t.Errorf("%d×%d, %s: derivative %v by element %d, differences %v", r, c, name, grad[i], i, want)
				}
			}
		}
	}
}

// TestComplexSingularVectors is TestSingularVectors for complex matrices.
func TestComplexSingularVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 26))
	params := []types.Type{{Kind: types.ComplexMatrix}}
	o, m, fail := types.Resolve(stdlib.Language().Lookup("svd"), params)
	if fail != nil {
		t.Fatal(fail)
	}
	for _, shape := range [][2]int{{1, 1}, {1, 3}, {3, 1}, {2, 2}, {3, 3}, {8, 3}, {3, 8}, {8, 8}, {0, 2}, {2, 0}} {
		r, c := shape[0], shape[1]
		k := min(r, c)
		imaginary := singularCases(rng, r, c)
		for name, re := range singularCases(rng, r, c) {
			im := imaginary[name]
			if name == "full rank" || name == "nearly rank 1" {
				im = imaginary["rank 1"]
			}
			g := ad.NewGraph()
			in := ad.Type{Shape: []int{r, c}}
			args := []stdlib.Arg{{Type: tMat, Ref: g.Input(in)}, {Type: tMat, Ref: g.Input(in)}}
			for _, x := range o.(*stdlib.Func).OfLeaves(&stdlib.Builder{G: g, Name: "svd"}, args, params, m.Result) {
				g.Output(x)
			}
			x, err := g.Eval([][]float64{re, im}, &ad.Env{})
			if err != nil {
				t.Errorf("%d×%d, %s: %v", r, c, name, err)
				continue
			}
			s := x[2]
			u := func(i, l int) complex128 { return complex(x[0][i*k+l], x[1][i*k+l]) }
			v := func(i, l int) complex128 { return complex(x[3][i*k+l], x[4][i*k+l]) }
			for i := range k {
				for j := range k {
					var ofU, ofV complex128
					for l := range r {
						ofU += cmplx.Conj(u(l, i)) * u(l, j)
					}
					for l := range c {
						ofV += cmplx.Conj(v(l, i)) * v(l, j)
					}
					want := complex(float64(max(0, 1-(i-j)*(i-j))), 0)
					if !(cmplx.Abs(ofU-want)+cmplx.Abs(ofV-want) <= 2e-14) {
						t.Errorf("%d×%d, %s: products of columns %d and %d: %v, %v", r, c, name, i, j, ofU, ofV)
					}
				}
			}
			for i := range r {
				for j := range c {
					var sum complex128
					for l := range k {
						sum += u(i, l) * complex(s[l], 0) * cmplx.Conj(v(j, l))
					}
					if d := cmplx.Abs(sum - complex(re[i*c+j], im[i*c+j])); !(d <= 1e-13*s[0]) {
						t.Errorf("%d×%d, %s: U diag(σ) Vᴴ at %d, %d is off by %v", r, c, name, i, j, d)
					}
				}
			}
		}
	}
}
