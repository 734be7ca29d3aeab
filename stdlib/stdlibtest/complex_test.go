package stdlibtest

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// complexCall evaluates a function of complex scalars: the result, and the gradients of its real
// and imaginary part with respect to the arguments' parts.
func complexCall(t *testing.T, name string, args ...complex128) (value complex128, re, im []float64) {
	t.Helper()
	params := make([]types.Type, len(args))
	for i := range params {
		params[i] = types.ComplexType
	}
	o, m, fail := types.Resolve(stdlib.Language().Lookup(name), params)
	f, ok := o.(*stdlib.Func)
	if fail != nil || !ok {
		t.Fatalf("%s is not evaluated", name)
	}
	g := ad.NewGraph()
	var sargs []stdlib.Arg
	var at [][]float64
	for _, z := range args {
		for _, x := range []float64{real(z), imag(z)} {
			sargs = append(sargs, stdlib.Arg{Type: types.RealType, Ref: g.Input(ad.Scalar)})
			at = append(at, []float64{x})
		}
	}
	b := &stdlib.Builder{G: g, Name: name}
	out := make([]ad.Ref, 1, 2)
	if m.Result.Composite() {
		out = f.OfLeaves(b, sargs, params, m.Result)
	} else {
		out[0] = f.Build(b, sargs)
		out = append(out, g.Mul(g.Const(0), sargs[0].Ref))
	}
	for _, r := range out {
		g.Output(r)
	}
	for _, r := range out {
		for _, d := range g.Grad(r, g.Inputs...) {
			g.Output(d)
		}
	}
	vals, err := g.Eval(at, &ad.Env{})
	if err != nil {
		t.Fatal(err)
	}
	flat := make([]float64, len(vals))
	for i, v := range vals {
		flat[i] = v[0]
	}
	n := len(g.Inputs)
	return complex(flat[0], flat[1]), flat[2 : 2+n], flat[2+n:]
}

func closeTo(a, b complex128, tolerance float64) bool {
	return a == b || cmplx.Abs(a-b) <= tolerance*max(1, cmplx.Abs(b))
}

// TestComplex compares functions of one complex number with Go's, at points in all quadrants and on
// both sides of branch cuts. It compares their derivatives, which are single complex numbers, with
// differences.
func TestComplex(t *testing.T) {
	points := []complex128{1 + 2i, -1.5 + 0.5i, -0.3 - 2i, 0.7 - 0.1i, 3 + 1e-3i, -3 - 1e-3i, -3 + 1e-3i, 1e-4 + 1e-5i, 0.5i, 8 - 3i}
	for name, want := range map[string]func(complex128) complex128{
		"exp": cmplx.Exp, "log": cmplx.Log, "log10": cmplx.Log10, "sqrt": cmplx.Sqrt,
		"sin": cmplx.Sin, "cos": cmplx.Cos, "tan": cmplx.Tan, "sinh": cmplx.Sinh, "cosh": cmplx.Cosh, "tanh": cmplx.Tanh,
		"asin": cmplx.Asin, "acos": cmplx.Acos, "atan": cmplx.Atan, "asinh": cmplx.Asinh, "acosh": cmplx.Acosh, "atanh": cmplx.Atanh,
		"operator-": func(z complex128) complex128 { return -z }, "proj": func(z complex128) complex128 { return z },
	} {
		for _, z := range points {
			got, re, im := complexCall(t, name, z)
			if !closeTo(got, want(z), 1e-11) {
				t.Errorf("%s(%v) is %v, want %v", name, z, got, want(z))
			}
			h := complex(1e-5*cmplx.Abs(z), 0)
			d := (want(z+h) - want(z-h)) / (2 * h)
			if !closeTo(complex(re[0], im[0]), d, 1e-5) || !closeTo(complex(im[1], -re[1]), d, 1e-5) {
				t.Errorf("derivative of %s at %v is %v and %v, by differences %v", name, z, complex(re[0], im[0]), complex(im[1], -re[1]), d)
			}
		}
	}
	for name, want := range map[string]func(complex128) float64{
		"abs": cmplx.Abs, "arg": cmplx.Phase, "norm": func(z complex128) float64 { return real(z)*real(z) + imag(z)*imag(z) },
		"get_real": func(z complex128) float64 { return real(z) }, "get_imag": func(z complex128) float64 { return imag(z) },
	} {
		for _, z := range points {
			if got, _, _ := complexCall(t, name, z); math.Abs(real(got)-want(z)) > 1e-12*max(1, math.Abs(want(z))) {
				t.Errorf("%s(%v) is %v, want %v", name, z, got, want(z))
			}
		}
	}
	for name, want := range map[string]func(a, b complex128) complex128{
		"operator+": func(a, b complex128) complex128 { return a + b }, "operator-": func(a, b complex128) complex128 { return a - b },
		"operator*": func(a, b complex128) complex128 { return a * b }, "operator/": func(a, b complex128) complex128 { return a / b },
		"pow": cmplx.Pow,
	} {
		for i, z := range points {
			w := points[(i+3)%len(points)]
			got, re, im := complexCall(t, name, z, w)
			if !closeTo(got, want(z, w), 1e-11) {
				t.Errorf("%s(%v, %v) is %v, want %v", name, z, w, got, want(z, w))
			}
			h := complex(1e-5*min(cmplx.Abs(z), cmplx.Abs(w)), 0)
			for k, d := range []complex128{(want(z+h, w) - want(z-h, w)) / (2 * h), (want(z, w+h) - want(z, w-h)) / (2 * h)} {
				// The function is not smooth near these points.
				if real(z) < -2 || math.Abs(real(z)) < 1e-3 {
					continue
				}
				if !closeTo(complex(re[2*k], im[2*k]), d, 1e-5) || !closeTo(complex(im[2*k+1], -re[2*k+1]), d, 1e-5) {
					t.Errorf("derivative %d of %s at %v, %v is %v, by differences %v", k, name, z, w, complex(re[2*k], im[2*k]), d)
				}
			}
		}
	}
	// At branch cuts, the sign of a zero selects the side.
	minus0 := math.Copysign(0, -1)
	for _, c := range []struct {
		name    string
		z, want complex128
	}{
		{"sqrt", complex(-4, 0), 2i}, {"sqrt", complex(-4, minus0), -2i}, {"sqrt", 0, 0},
		{"log", complex(-1, 0), complex(0, math.Pi)}, {"log", complex(-1, minus0), complex(0, -math.Pi)},
		{"acos", complex(2, 0), cmplx.Acos(complex(2, 0))}, {"asin", complex(-2, 0), cmplx.Asin(complex(-2, 0))},
		{"acosh", complex(-2, 0), cmplx.Acosh(complex(-2, 0))}, {"atanh", complex(2, 0), cmplx.Atanh(complex(2, 0))},
		{"tanh", complex(300, 1), 1}, {"proj", complex(1, math.Inf(-1)), complex(math.Inf(1), minus0)},
	} {
		if got, _, _ := complexCall(t, c.name, c.z); !closeTo(got, c.want, 1e-14) {
			t.Errorf("%s(%v) is %v, want %v", c.name, c.z, got, c.want)
		}
	}
}
