package stdlibtest

import (
	"math"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// passageValues are from mpmath. Those with eight arguments are from nested Gauss-Legendre
// quadrature, with about 13 digits.
var passageValues = []struct {
	name string
	args []float64
	want float64
}{
	{"wiener_lpdf", []float64{1.2, 1.1, 0.2, 0.4, 0.7, 0.5}, -3.06883896926521463},
	{"wiener_lpdf", []float64{3.5, 0.8, 0.1, 0.3, -1.5, 0}, -29.5020550574161282},
	{"wiener_lpdf", []float64{0.25, 1.7, 0.2, 0.6, 2, 1.3}, 0.0465475986571789198},
	{"wiener_lcdf_unnorm", []float64{0.7, 1.3, 0.2, 0.5, 0.4}, -0.803333939228714536},
	{"wiener_lccdf_unnorm", []float64{0.7, 1.3, 0.2, 0.5, 0.4}, -1.71861490575746152},
	{"wiener_lcdf_unnorm", []float64{5, 1.3, 0.2, 0.3, -1}, -2.35606226640401675},
	{"wiener_lccdf_unnorm", []float64{5, 1.3, 0.2, 0.3, -1}, -18.147581180458339},
	{"wiener_lcdf_unnorm", []float64{0.25, 1.7, 0.2, 0.6, 2}, -4.77529304779807528},
	{"wiener_lccdf_unnorm", []float64{0.25, 1.7, 0.2, 0.6, 2}, -0.0245457086184010648},
	{"wiener_lpdf", []float64{0.9, 1.2, 0.2, 0.5, 1, 0.3, 0.2, 0.1}, -1.20818864186867},
	{"wiener_lcdf_unnorm", []float64{0.9, 1.2, 0.2, 0.5, 1, 0.3, 0.2, 0.1}, -0.38012609380132},
	{"wiener_lccdf_unnorm", []float64{0.9, 1.2, 0.2, 0.5, 1, 0.3, 0.2, 0.1}, -2.5805431943095},
	{"wiener_lpdf", []float64{0.5, 1.2, 0.2, 0.45, -0.6, 0.8, 0.5, 0.6}, -1.16300089153572},
	{"wiener_lcdf_unnorm", []float64{0.5, 1.2, 0.2, 0.45, -0.6, 0.8, 0.5, 0.6}, -3.09838843247553},
	{"wiener_lccdf_unnorm", []float64{0.5, 1.2, 0.2, 0.45, -0.6, 0.8, 0.5, 0.6}, -1.28650779336648},
	{"wiener_lpdf", []float64{2, 1.5, 0.3, 0.5, 1, 0.2, 0, 0.5}, -2.76587384122879},
	{"wiener_lcdf_unnorm", []float64{2, 1.5, 0.3, 0.5, 1, 0.2, 0, 0.5}, -0.235895155081315},
	{"wiener_lccdf_unnorm", []float64{2, 1.5, 0.3, 0.5, 1, 0.2, 0, 0.5}, -3.74974816209171},
	{"wiener_lpdf", []float64{0.8, 1.1, 0.1, 0.6, 0.5, 0.4, 0.3, 0}, -1.90183454181759},
	{"wiener_lcdf_unnorm", []float64{0.8, 1.1, 0.1, 0.6, 0.5, 0.4, 0.3, 0}, -0.387543796714151},
	{"wiener_lccdf_unnorm", []float64{0.8, 1.1, 0.1, 0.6, 0.5, 0.4, 0.3, 0}, -3.35417443958615},
}

// TestPassages compares with passageValues. It also compares constant arguments with inputs,
// vectors with reals, and gradients with differences.
func TestPassages(t *testing.T) {
	for _, v := range short.Every(4, passageValues) {
		f := passageForm(t, v.name, tReal, len(v.args))
		vs := make([]Value, len(v.args))
		for i, x := range v.args {
			vs[i] = Scalar(tReal, x)
		}
		lp, grad := passageGradient(t, f, v.args)
		constant, err := EvalConstant(f, false, vs)
		for _, got := range []float64{lp, constant[0]} {
			if err != nil || !near(got, v.want, 5e-13) {
				t.Errorf("%s%v = %.16g (%v), want %.16g", v.name, v.args, got, err, v.want)
			}
		}
		for i, x := range v.args {
			if x == 0 || len(v.args) == 8 && v.args[0] != 0.5 {
				continue // skip ends of the range of deviations, and slow cases
			}
			const h = 1e-4
			side := func(d float64) float64 {
				moved := slices.Clone(v.args)
				moved[i] += d
				lp, _ := passageGradient(t, f, moved)
				return lp
			}
			d := (8*(side(h)-side(-h)) - (side(2*h) - side(-2*h))) / (12 * h)
			if !near(grad[i], d, 1e-8) {
				t.Errorf("%s%v: derivative %d is %v, by differences %v", v.name, v.args, i+1, grad[i], d)
			}
		}
		// Also compare vectors whose second element has a later time.
		vectors, sum := make([]Value, len(v.args)), 0.0
		for i, x := range v.args {
			vectors[i] = Value{Type: tVec, Shape: []int{2}, Data: []float64{x, x}}
		}
		vectors[0].Data[1] += 0.25
		for e := range 2 {
			for i := range vs {
				vs[i].Data = []float64{vectors[i].Data[e]}
			}
			one, err := Eval(f, false, vs)
			if err != nil {
				t.Fatal(err)
			}
			sum += one[0]
		}
		both, err := Eval(passageForm(t, v.name, tVec, len(v.args)), false, vectors)
		if err != nil || !near(both[0], sum, 1e-13) {
			t.Errorf("%s of vectors: %v (%v), want %v", v.name, both, err, sum)
		}
	}
}

// TestPassageErrors checks the messages for illegal arguments.
func TestPassageErrors(t *testing.T) {
	for _, c := range []struct {
		args []float64
		want string
	}{
		{[]float64{0.1, 1, 0.2, 0.5, 0, 1}, "wiener_lpdf: Random variable must be greater than 0.2, but is 0.1"},
		{[]float64{1, 1, 0.2, 0.5, 0, -1}, "wiener_lpdf: Inter-trial variability in drift rate must be nonnegative finite, but is -1"},
		{[]float64{1, 1, 0.2, 0.3, 0, 1, 0.7, 0.1}, "wiener_lpdf: Inter-trial variability in A-priori bias must keep the bias between 0 and 1, but is 0.7 around 0.3"},
	} {
		var vs []Value
		for _, x := range c.args {
			vs = append(vs, Scalar(tReal, x))
		}
		if _, err := Eval(passageForm(t, "wiener_lpdf", tReal, len(vs)), false, vs); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
	}
}

func passageForm(t *testing.T, name string, of types.Type, n int) *stdlib.Func {
	t.Helper()
	o, _, fail := types.Resolve(stdlib.Universe().Lookup(name), slices.Repeat(list(of), n))
	if fail != nil {
		t.Fatalf("%s has no form of %d arguments of type %s", name, n, of)
	}
	return o.(*stdlib.Func)
}

// passageGradient returns the value and the gradient of a call with reals.
func passageGradient(t *testing.T, f *stdlib.Func, x []float64) (float64, []float64) {
	t.Helper()
	g := ad.NewGraph()
	var vs []Value
	var refs []ad.Ref
	var in [][]float64
	for _, v := range x {
		vs = append(vs, Value{Type: tReal, Data: []float64{v}, Param: true})
		refs = append(refs, g.Input(ad.Type{}))
		in = append(in, []float64{v})
	}
	y := Apply(g, f, true, vs, refs)
	g.Output(y)
	for _, d := range g.Grad(y, refs...) {
		if d == ad.None {
			d = g.Const(0)
		}
		g.Output(d)
	}
	out, err := g.Eval(in, &ad.Env{})
	if err != nil {
		t.Fatal(err)
	}
	grad := make([]float64, len(x))
	for i := range grad {
		grad[i] = out[i+1][0]
		if math.IsNaN(grad[i]) {
			t.Errorf("%s%v: derivative %d is NaN", f.Name, x, i+1)
		}
	}
	return out[0][0], grad
}
