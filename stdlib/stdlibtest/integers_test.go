package stdlibtest

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestInts checks that the exact value of a function of int scalars equals the value of the graph,
// also if the ints are known only at run time. Both must refuse the same arguments.
func TestInts(t *testing.T) {
	each(t, func(t *testing.T, f *stdlib.Func) {
		o, ok := f.Overload.(types.Fixed)
		if !ok || f.Int == nil {
			return
		}
		for x := int64(-7); x <= 7; x++ {
			for y := int64(-4); y <= 4; y++ {
				args := []int64{x, y}[:len(o.Params)]
				var vs []Value
				for _, a := range args {
					vs = append(vs, Scalar(tInt, float64(a)))
				}
				want, wantErr := f.Int(args)
				got, err := eval(f, false, vs, unknownInts, nil)
				if (err != nil) != (wantErr != nil) || err == nil && got[0] != float64(want) {
					t.Errorf("%s%v is %v, %v, but in the graph %v, %v", f.Name, args, want, wantErr, got, err)
				}
			}
		}
	})
}

func TestIntErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		args []int64
		want string
	}{
		{"operator/", []int64{1, 0}, "1 is divided by zero"},
		{"operator%", []int64{1, 0}, "1 is divided by zero"},
		{"operator%/%", []int64{-3, 0}, "-3 is divided by zero"},
		{"operator*", []int64{1 << 40, 1 << 40}, "integer overflow"},
		{"operator+", []int64{1 << 53, 1}, "integer overflow"},
		{"choose", []int64{100, 50}, "integer overflow"},
		{"choose", []int64{-1, 1}, "nonnegative"},
		{"rising_factorial", []int64{1, 30}, "integer overflow"},
		{"rising_factorial", []int64{5, -1}, "must be nonnegative"},
		{"falling_factorial", []int64{5, -1}, "must be nonnegative"},
	} {
		f := find(c.name)
		if _, err := f.Int(c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s%v: %v, want %q", c.name, c.args, err, c.want)
		}
	}
	f := find("operator%/%")
	_, err := eval(f, false, []Value{Scalar(tInt, 3), Scalar(tInt, 0)}, unknownInts, nil)
	if err == nil || err.Error() != "operator%/%: 3 is divided by zero" {
		t.Error(err)
	}
}

// TestPower checks exponents that have their own ops: values must equal those of pow, and
// derivatives must be right.
func TestPower(t *testing.T) {
	f := find("operator^")
	for _, p := range []float64{-2, -1, -0.5, 0, 0.5, 1, 1.7, 2, 3, 4} {
		for _, x := range []float64{0.3, 2.5} {
			g := ad.NewGraph()
			in := g.Input(ad.Scalar)
			y := Apply(g, f, false, []Value{{Type: tReal}, Scalar(tReal, p)}, []ad.Ref{in, g.Const(p)})
			g.Output(y)
			g.Output(g.Grad(y, in)[0])
			v, err := g.Eval([][]float64{{x}}, &ad.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if !near(v[0][0], math.Pow(x, p), 1e-15) || !near(v[1][0], p*math.Pow(x, p-1), 1e-14) {
				t.Errorf("%v^%v = %v with derivative %v", x, p, v[0][0], v[1][0])
			}
		}
	}
}
