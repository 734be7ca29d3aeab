package stdlibtest

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// eachDist runs test for every function of a univariate distribution.
func eachDist(t *testing.T, test func(t *testing.T, f *stdlib.Func)) {
	each(t, func(t *testing.T, f *stdlib.Func) {
		if f.Dist != nil {
			test(t, f)
		}
	})
}

// TestVectorised checks that a density of containers is the sum of the densities of the elements.
func TestVectorised(t *testing.T) {
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		if f.Random {
			return
		}
		rng := source(f, 10)
		for _, propto := range []bool{false, true} {
			for _, ts := range forms(f) {
				vs := arguments(rng, f, ts)
				n := 0
				for i := range vs {
					n = max(n, len(vs[i].Data))
					vs[i].Param = ts[i].Kind == types.Real || ts[i].Kind == types.Vector
				}
				all, err := Eval(f, propto, vs)
				if err != nil {
					t.Errorf("%v: %v", ts, err)
					continue
				}
				want, size := 0.0, 0.0
				for i := range n {
					one := make([]Value, len(vs))
					for k, v := range vs {
						one[k] = v.At(0, i)
					}
					v, err := Eval(f, propto, one)
					if err != nil {
						t.Fatal(err)
					}
					want += v[0]
					size += math.Abs(v[0])
				}
				// A distribution function of containers is the product over the elements.
				if strings.HasSuffix(f.Name, "_cdf") {
					want = 1
					for i := range n {
						one := make([]Value, len(vs))
						for k, v := range vs {
							one[k] = v.At(0, i)
						}
						v, _ := Eval(f, propto, one)
						want *= v[0]
					}
				}
				if all[0] != want && math.Abs(all[0]-want) > 1e-13*(1+size) {
					t.Errorf("%v, propto %v: %v, the sum of the elements is %v", ts, propto, all[0], want)
				}
			}
		}
	})
}

// TestPropto checks that the terms that ~ drops depend on data only, and the terms that it keeps on
// a parameter. Without parameters, no term may remain.
func TestPropto(t *testing.T) {
	each(t, func(t *testing.T, f *stdlib.Func) {
		if f.Terms == nil {
			return
		}
		rng := source(f, 11)
		ts := forms(f)[0]
		for which := range 1 << len(ts) {
			// Densities that are not testable take milliseconds per call, and their 256 subsets of
			// parameters two minutes. So try them only with none, one and all. So does a short run
			// for all densities.
			if n := bits.OnesCount(uint(which)); (testing.Short() || !testable(f)) && n > 1 && n < len(ts) {
				continue
			}
			a := arguments(rng, f, ts)
			legal := true
			for i := range a {
				a[i].Param = which>>i&1 > 0
				legal = legal && !(a[i].Param && ts[i].Kind == types.Int)
			}
			if !legal {
				continue
			}
			// Change the values of the parameters, and keep the data.
			b := arguments(rng, f, ts)
			for i := range b {
				if !a[i].Param {
					b[i] = a[i]
				}
				b[i].Param = a[i].Param
			}
			diff := func(vs []Value) (dropped, kept float64) {
				full, err1 := Eval(f, false, vs)
				part, err2 := Eval(f, true, vs)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				return full[0] - part[0], part[0]
			}
			d1, kept := diff(a)
			d2, more := diff(b)
			// Stan keeps this term even for data.
			if which == 0 && kept != 0 && f.Name != "ordered_probit_lpmf" {
				t.Errorf("with data only, ~ adds %v", kept)
			}
			if which > 0 && math.Abs(d1-d2) > 1e-12*(1+math.Abs(d1)+math.Abs(kept)+math.Abs(more)) {
				t.Errorf("parameters %b: ~ drops %v at one point and %v at another", which, d1, d2)
			}
		}
	})
}

// TestChecks checks that a parameter or variate outside its domain is an error, also under ~ with
// data only. The error must name the function, the argument, the requirement, the value and, in
// containers, the element. NaN is outside all domains.
func TestChecks(t *testing.T) {
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		rng := source(f, 12)
		fs := forms(f)
		offset := 0 // index of the first parameter among the arguments
		if !f.Random {
			offset = 1
		}
		for i := range fs[0] {
			c, what := f.Dist.Variate, "Random variable"
			if i >= offset {
				p := f.Dist.Params[i-offset]
				c, what = p.In, p.Is
				if f.Random && p.Draws != (types.Constraint{}) {
					c = p.Draws
				}
			} else if f.Terms == nil {
				if f.Dist.CDFVariate != (types.Constraint{}) {
					c = f.Dist.CDFVariate
				}
			}
			if c == (types.Constraint{}) {
				continue
			}
			for _, x := range outsideOf(c, fs[0][i].Kind == types.Real) {
				value := ad.FormatNumber(x)
				if shown, err := strconv.ParseFloat(value, 64); err == nil && c.Contains(shown) {
					// The rounded x is a valid value, though x is not. Write all digits.
					value = strconv.FormatFloat(x, 'g', -1, 64)
				}
				for _, propto := range []bool{false, true} {
					for form, element := range []string{"", "[3]"} {
						vs := arguments(rng, f, fs[min(form, len(fs)-1)])
						if form > 0 && len(vs[i].Data) < 3 {
							continue // it does not take containers
						}
						vs[i].Data[2*form] = x
						want := fmt.Sprintf("%s: %s%s must be %s, but is %s", f.Name, what, element, c.Text, value)
						if _, err := eval(f, propto, vs, knownInts, rng); err == nil || err.Error() != want {
							t.Errorf("argument %d: got %v, want %s", i+1, err, want)
						}
					}
				}
			}
		}
	})
}

// outsideOf returns numbers outside c, including its ends if they are open.
func outsideOf(c types.Constraint, real bool) []float64 {
	var bad []float64
	if real {
		bad = append(bad, math.NaN())
	}
	if !math.IsInf(c.Lo, 0) {
		bad = append(bad, c.Lo-1)
	}
	if !math.IsInf(c.Hi, 0) {
		bad = append(bad, c.Hi+1)
	}
	if c.LoOpen {
		bad = append(bad, c.Lo)
	}
	if c.HiOpen {
		bad = append(bad, c.Hi)
	}
	return bad
}

func TestMessages(t *testing.T) {
	real := func(xs ...float64) (vs []Value) {
		for _, x := range xs {
			vs = append(vs, Scalar(tReal, x))
		}
		return vs
	}
	vec := func(xs ...float64) Value { return Value{Type: tVec, Shape: []int{len(xs)}, Data: xs} }
	for _, c := range []struct {
		f    *stdlib.Func
		vs   []Value
		want string
	}{
		{nth("normal_lpdf", 0), real(0, 0, -1), "normal_lpdf: Scale parameter must be positive, but is -1"},
		{nth("normal_lpdf", 0), []Value{vec(0, 1, math.NaN()), Scalar(tReal, 0), Scalar(tReal, 1)},
			"normal_lpdf: Random variable[3] must be not nan, but is nan"},
		{nth("normal_lpdf", 0), []Value{vec(0, 1), vec(0, 1, 2), Scalar(tReal, 1)},
			"normal_lpdf: Random variable has size 2, but Location parameter has size 3"},
		{nth("uniform_lpdf", 0), real(0, 2, 1), "uniform_lpdf: Upper bound parameter must be greater than 2, but is 1"},
		{nth("binomial_lpmf", 0), []Value{Scalar(tInt, 3), Scalar(tInt, 2), Scalar(tReal, 0.5)},
			"binomial_lpmf: Population size parameter must be at least 3, but is 2"},
		{nth("normal_lpdf", 0), []Value{vec(0, 1), Scalar(tReal, 1), vec(1, 0)}, "normal_lpdf: Scale parameter[2] must be positive, but is 0"},
		{nth("uniform_lpdf", 0), []Value{Scalar(tReal, 0), Scalar(tReal, -1), vec(1, -1, -2)},
			"uniform_lpdf: Upper bound parameter[2] must be greater than -1, but is -1"},
		{nth("operator+", 2), []Value{vec(1, 2), vec(1, 2, 3)}, "operator+: sizes do not match: argument 1 has size 2, argument 2 has size 3"},
		{nth("head", 0), []Value{vec(1, 2), Scalar(tInt, 3)}, "head: argument 2 is 3, which is not in the range 0 to 2"},
		{nth("categorical_lpmf", 0), []Value{Scalar(tInt, 3), vec(0.5, 0.5)},
			"categorical_lpmf: Number of categories must be in the interval [1, 2], but is 3"},
		{nth("categorical_lpmf", 0), []Value{Scalar(tInt, 1), vec(0.5, 0.6)},
			"categorical_lpmf: sum of Probabilities parameter must be 1, but is 1.1"},
		{nth("categorical_lpmf", 0), []Value{Scalar(tInt, 1), vec(0.5, 0.5+1.0/(1<<20))},
			"categorical_lpmf: sum of Probabilities parameter must be 1, but is 1.0000009536743164"},
	} {
		_, err := Eval(c.f, false, c.vs)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestEmpty checks that the log density of empty containers is 0.
func TestEmpty(t *testing.T) {
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		if f.Random {
			return
		}
		vs := arguments(source(f, 13), f, forms(f)[1])
		for i := range vs {
			vs[i].Shape, vs[i].Data = []int{0}, nil
		}
		want := float64(bit(strings.HasSuffix(f.Name, "_cdf")))
		if v, err := Eval(f, false, vs); err != nil || v[0] != want {
			t.Errorf("%v, %v", v, err)
		}
	})
}

// TestSupport checks that, outside the support, the log density is -Inf and its gradient is not
// NaN.
func TestSupport(t *testing.T) {
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		d := f.Dist
		if f.Terms == nil {
			return
		}
		vs := arguments(source(f, 14), f, forms(f)[0])
		switch {
		case d.Support != (types.Constraint{}) && d.Support != d.Variate:
			vs[0].Data[0] = d.Support.Lo
			if !d.Support.LoOpen {
				vs[0].Data[0]--
			}
		case d.Name == "uniform":
			vs[0].Data[0] = 100
		case d.Name == "beta_binomial":
			vs[0].Data[0] = 100
		default:
			return
		}
		g := ad.NewGraph()
		refs, inputs := make([]ad.Ref, len(vs)), [][]float64(nil)
		for i, v := range vs {
			vs[i].Param = v.Type.Kind == types.Real
			refs[i] = g.Const(v.Data[0])
			if vs[i].Param {
				refs[i] = g.Input(ad.Scalar)
				inputs = append(inputs, v.Data)
			}
		}
		out := Apply(g, f, true, vs, refs)
		g.Output(out)
		for _, r := range g.Grad(out, g.Inputs...) {
			g.Output(r)
		}
		v, err := g.Eval(inputs, &ad.Env{})
		if err != nil || !math.IsInf(v[0][0], -1) {
			t.Fatal(v, err)
		}
		for _, d := range v[1:] {
			if math.IsNaN(d[0]) {
				t.Errorf("gradient %v", v[1:])
			}
		}
	})
}

// TestDistributionFunctions checks that the derivative of the distribution function is the density
// (for counts, that its differences are the mass), and that both tails add up to 1.
func TestDistributionFunctions(t *testing.T) {
	u := stdlib.Universe()
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		base, ok := strings.CutSuffix(f.Name, "_lcdf")
		if !ok {
			return
		}
		rng := source(f, 15)
		suffix := "_lpdf"
		if f.Dist.Discrete {
			suffix = "_lpmf"
		}
		pdf := u.Lookup(base + suffix)[0].(*stdlib.Func)
		ccdf := u.Lookup(base + "_lccdf")[0].(*stdlib.Func)
		for range 20 {
			vs := arguments(rng, f, forms(f)[0])
			lp, err := Eval(pdf, false, vs)
			if err != nil {
				t.Fatal(err)
			}
			lcdf, err := Eval(f, false, vs)
			if err != nil {
				t.Fatal(err)
			}
			lccdf, err := Eval(ccdf, false, vs)
			if err != nil {
				t.Fatal(err)
			}
			if s := math.Exp(lcdf[0]) + math.Exp(lccdf[0]); !near(s, 1, 1e-13) {
				t.Errorf("%v: the tails add up to %v", vs, s)
			}
			if f.Dist.Discrete {
				y := vs[0].Data[0]
				vs[0].Data = []float64{y - 1}
				below, err := Eval(f, false, vs)
				if err != nil {
					t.Fatal(err)
				}
				if p := math.Exp(lcdf[0]) - math.Exp(below[0]); !near(p, math.Exp(lp[0]), 1e-13) {
					t.Errorf("%v at %v: the mass is %v, the step is %v", vs[1:], y, math.Exp(lp[0]), p)
				}
				continue
			}
			for _, h := range []*stdlib.Func{f, ccdf} {
				g := ad.NewGraph()
				y := g.Input(ad.Scalar)
				refs := []ad.Ref{y}
				for _, v := range vs[1:] {
					refs = append(refs, g.Const(v.Data[0]))
				}
				out := Apply(g, h, false, vs, refs)
				g.Output(g.Mul(g.Exp(out), g.Grad(out, y)[0]))
				slope, err := g.Eval([][]float64{vs[0].Data}, &ad.Env{})
				if err != nil {
					t.Fatal(err)
				}
				if !near(math.Abs(slope[0][0]), math.Exp(lp[0]), 1e-10) {
					t.Errorf("%s%v: the density is %v, the slope %v", h.Name, vs, math.Exp(lp[0]), slope[0][0])
				}
			}
		}
	})
}
