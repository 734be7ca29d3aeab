package stdlibtest

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/stdlib"
)

// goldenValue is the value of a function of scalars to 25 digits.
type goldenValue struct {
	args []float64
	want float64
}

// TestGolden compares with mpmath, extreme arguments included. The error of a
// density is at most 3e-14 of the sum of the absolute values of its addends (at
// least 1): what is lost where large addends cancel is not the formula's fault.
// That of a distribution function is relative to the value itself.
func TestGolden(t *testing.T) {
	for name, values := range golden {
		fs := stdlib.Universe().Lookup(name)
		if len(fs) == 0 {
			t.Errorf("no %s", name)
			continue
		}
		f := fs[0].(*stdlib.Func)
		for _, v := range values {
			vs := make([]Value, len(v.args))
			for i, typ := range forms(f)[0] {
				vs[i] = Scalar(typ, v.args[i])
			}
			got, err := Eval(f, false, vs)
			if err != nil {
				t.Error(err)
				continue
			}
			bound := 3e-14 * max(1, addends(f, vs))
			if strings.HasSuffix(name, "cdf") {
				bound = 1e-14 * math.Abs(v.want)
				if f.Dist.Discrete { // sums, or ratios of gamma functions
					bound = 2e-13 * math.Abs(v.want)
				}
			}
			if !(math.Abs(got[0]-v.want) <= bound) {
				t.Errorf("%s%v = %v, want %v (off by %.2g, allowed %.2g)", name, v.args, got[0], v.want, math.Abs(got[0]-v.want), bound)
			}
		}
	}
	for _, d := range stdlib.Universe().Lookup("normal_lpdf") { // the loop above is not empty
		if _, ok := golden[d.(*stdlib.Func).Name]; !ok {
			t.Error("no golden values")
		}
	}
}

// addends is the sum of the absolute values of the terms of a density.
func addends(f *stdlib.Func, vs []Value) float64 {
	if f.Terms == nil {
		return 0
	}
	g := ad.NewGraph()
	args := make([]stdlib.Arg, len(vs))
	for i, v := range vs {
		args[i] = v.arg(g, g.ConstArray(v.adType(), v.Data))
	}
	sum := 0.0
	for _, r := range f.Terms(&stdlib.Builder{G: g, Name: f.Name}, args) {
		if v, ok := g.Value(r); ok {
			sum += math.Abs(v[0])
		}
	}
	return sum
}
