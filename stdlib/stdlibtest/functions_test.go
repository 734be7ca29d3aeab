package stdlibtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/ad/adtest"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// each runs test for every declaration, as a subtest with its number among those of its name.
func each(t *testing.T, test func(t *testing.T, f *stdlib.Func)) {
	u := stdlib.Universe()
	for name := range u.Names() {
		for i, o := range u.Lookup(name) {
			f, ok := o.(*stdlib.Func)
			if !ok {
				t.Errorf("%s: an overload is not a *stdlib.Func", name)
				continue
			}
			t.Run(name+"#"+strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				test(t, f)
			})
		}
	}
}

func source(f *stdlib.Func, k uint64) *rand.Rand {
	h := uint64(14695981039346656037)
	for _, c := range []byte(f.Name + f.Overload.String()) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(h, k))
}

// TestDeclarations checks that every declaration has a text and one meaning.
func TestDeclarations(t *testing.T) {
	each(t, func(t *testing.T, f *stdlib.Func) {
		if f.Doc == "" || !strings.HasSuffix(f.Doc, ".") {
			t.Errorf("Doc is %q", f.Doc)
		}
		n := bit(f.Build != nil) + bit(f.Terms != nil) + bit(f.OfShape != nil)
		if n != 1 || f.Int != nil && f.Build == nil {
			t.Error("not exactly one meaning")
		}
		if len(forms(f)) == 0 {
			t.Error("no argument types to test with; add them to computedForms")
		}
		if s := f.Overload.String(); !strings.HasPrefix(s, f.Name+"(") {
			t.Errorf("the overload reads %s", s)
		}
		for _, ts := range forms(f) {
			if _, ok := f.Match(ts); !ok {
				t.Errorf("does not match %v", ts)
			}
		}
	})
}

// testable reports whether f has a value in the graph that is not random. It excludes averages over
// first passage times, which take milliseconds; TestPassages tests these.
func testable(f *stdlib.Func) bool {
	return !f.Random && f.OfShape == nil && !(strings.HasPrefix(f.Name, "wiener_") && f.Dist == nil)
}

// TestDerivatives compares derivatives of orders 1 and 2 with differences.
func TestDerivatives(t *testing.T) {
	each(t, func(t *testing.T, f *stdlib.Func) {
		if !testable(f) {
			return
		}
		rng := source(f, 1)
		for _, ts := range short.Every(4, forms(f)) {
			m, _ := f.Match(ts)
			if m.Result.Kind == types.Int || dataOnly(f, ts) || ofKnown[f.Name] {
				continue
			}
			vs := arguments(rng, f, ts)
			if v, err := Eval(f, false, vs); err == nil && f.Dist != nil && math.IsInf(v[0], 0) {
				continue // skip a distribution function at the end of a discrete support
			}
			if err := derivatives(rng, f, vs); err != nil {
				t.Errorf("%v: %v", ts, err)
			}
		}
	})
}

// ofKnown lists functions whose arguments must be known when data are bound, because the size of
// the result depends on them.
var ofKnown = map[string]bool{"csr_extract_w": true, "csr_extract_v": true, "csr_extract_u": true}

// flatFunctions lists functions whose derivative is 0 wherever it exists.
var flatFunctions = map[string]bool{"ceil": true, "floor": true, "round": true, "trunc": true, "step": true}

func derivatives(rng *rand.Rand, f *stdlib.Func, vs []Value) error {
	if flatFunctions[f.Name] {
		return nil
	}
	var x []float64
	for i := range vs {
		if len(vs[i].Shape) > 2 && domain(f, i).Structured() {
			return nil // of an array of matrices, one is tested
		}
		vs[i].Param = vs[i].Type.Kind != types.Int
		if vs[i].Param {
			x = append(x, vs[i].Data...)
		}
	}
	if len(x) == 0 {
		return nil
	}
	var weights []float64
	return adtest.Derivatives(x, 1e-6, rng, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		refs := make([]ad.Ref, len(vs))
		for i, v := range vs {
			if !v.Param {
				refs[i] = g.ConstArray(v.adType(), v.Data)
				continue
			}
			refs[i] = g.Reshape(g.Concat(a[:len(v.Data)]...), v.Shape)
			a = a[len(v.Data):]
			refs[i] = staying(g, refs[i], domain(f, i).Kind)
		}
		y := Apply(g, f, false, vs, refs)
		for range g.Type(y).Size() {
			weights = append(weights, rng.NormFloat64())
		}
		return g.Sum(g.Mul(g.ConstArray(g.Type(y), weights), y))
	})
}

// lowerMask returns a matrix with 1 on and below the diagonal.
func lowerMask(g *ad.Graph) ad.Ref {
	m := make([]float64, vectorSize*vectorSize)
	for i := range vectorSize {
		for j := range i + 1 {
			m[i*vectorSize+j] = 1
		}
	}
	return g.ConstArray(ad.Type{Shape: []int{vectorSize, vectorSize}}, m)
}

func identity(g *ad.Graph) ad.Ref {
	m := make([]float64, vectorSize*vectorSize)
	for i := range vectorSize {
		m[i*vectorSize+i] = 1
	}
	return g.ConstArray(ad.Type{Shape: []int{vectorSize, vectorSize}}, m)
}

// staying moves x back into its set, after a small change was made to compute a difference.
func staying(g *ad.Graph, x ad.Ref, kind types.ConstraintKind) ad.Ref {
	switch kind {
	case types.Simplex, types.RowStochasticMatrix:
		return g.Div(x, rowSums(g, x))
	case types.ColumnStochasticMatrix:
		x = g.Transpose(x)
		return g.Transpose(g.Div(x, rowSums(g, x)))
	case types.UnitVector:
		return g.Div(x, g.Sqrt(rowSums(g, g.Square(x))))
	case types.SumToZeroVector:
		return g.Sub(x, g.Scale(1./vectorSize, rowSums(g, x)))
	case types.SumToZeroMatrix:
		x = g.Sub(x, g.Scale(1./vectorSize, rowSums(g, x)))
		x = g.Transpose(x)
		return g.Transpose(g.Sub(x, g.Scale(1./vectorSize, rowSums(g, x))))
	case types.CholeskyFactorCov:
		return g.Mul(x, lowerMask(g))
	case types.CholeskyFactorCorr:
		x = g.Mul(x, lowerMask(g))
		return g.Div(x, g.Sqrt(rowSums(g, g.Square(x))))
	case types.CovMatrix:
		return g.Scale(0.5, g.Add(x, g.Transpose(x)))
	case types.CorrMatrix: // the diagonal must stay 1
		d := g.Scatter(g.Diagonal(x), ad.Index{Dims: []ad.Dim{{N: vectorSize, Stride: vectorSize + 1}}}, g.Type(x).Shape)
		return g.Add(g.Sub(g.Scale(0.5, g.Add(x, g.Transpose(x))), d), identity(g))
	// A small change does not lead out of the set.
	case types.Unconstrained, types.Ordered, types.PositiveOrdered:
		return x
	}
	tr := transform.Of(kind, transform.Stan239)
	shape, none := g.Type(x).Shape, transform.Bounds{Lower: ad.None, Upper: ad.None}
	dims := len(shape) - kind.Type().Rank()
	item := shape[dims:]
	y, _ := tr.Each(g, dims, x, item, func(x ad.Ref) (ad.Ref, []ad.Ref) {
		y, _ := tr.Constrain(g, tr.Unconstrain(g, x, none), item, none)
		return y, nil
	})
	return y
}

// rowSums returns, for each element of x, the sum of the vector to which it belongs.
func rowSums(g *ad.Graph, x ad.Ref) ad.Ref {
	s := g.Type(x).Shape
	n, k := g.Type(x).Size()/vectorSize, vectorSize
	rows := ad.Index{Dims: []ad.Dim{{N: n, Stride: 1}, {N: k}}}
	return g.Reshape(g.Gather(g.Scatter(x, rows, []int{n}), rows), s)
}

// TestLanes checks that a function gives the same value in each lane as it gives alone, whichever
// of its arguments have lanes.
func TestLanes(t *testing.T) {
	const lanes = 3
	each(t, func(t *testing.T, f *stdlib.Func) {
		if !testable(f) || ofKnown[f.Name] {
			return
		}
		rng := source(f, 2)
		for _, ts := range short.Every(4, forms(f)) {
			if dataOnly(f, ts) {
				continue
			}
			for which := range 1 << len(ts) {
				vs := arguments(rng, f, ts)
				laned := false
				copies := make([][]Value, lanes)
				for l := range copies {
					copies[l] = arguments(rng, f, ts)
				}
				for i := range vs {
					if which>>i&1 == 0 || ts[i].Kind == types.Int && !anyPosition(f, i) {
						for l := range copies {
							copies[l][i] = vs[i]
						}
						continue
					}
					laned = true
					vs[i].Lanes, vs[i].Data = lanes, nil
				}
				if !laned {
					continue
				}
				for i := range vs {
					if vs[i].Lanes > 0 {
						for l := range copies {
							vs[i].Data = append(vs[i].Data, copies[l][i].Data...)
						}
					}
				}
				if err := sameInLanes(f, vs, lanes); err != nil {
					t.Errorf("%v, lanes %b: %v", ts, which, err)
				}
			}
		}
	})
}

// anyPosition reports whether int argument i may differ between lanes. A size may not.
func anyPosition(f *stdlib.Func, i int) bool {
	switch f.Name {
	case "row", "col", "rank":
		return true
	case "sub_row", "sub_col", "block":
		return i < 3
	case "segment":
		return i < 2
	}
	return f.Terms != nil || f.Int != nil
}

func sameInLanes(f *stdlib.Func, vs []Value, lanes int) error {
	all, err := Eval(f, false, vs)
	if err != nil {
		return err
	}
	for l := range lanes {
		one := make([]Value, len(vs))
		for i := range vs {
			one[i] = vs[i].Lane(l)
		}
		want, err := Eval(f, false, one)
		if err != nil {
			return err
		}
		got := all
		if len(all) != len(want) { // a value that is the same in all lanes has no lanes
			if len(all) != lanes*len(want) {
				return fmt.Errorf("%d numbers, want %d times %d", len(all), lanes, len(want))
			}
			got = all[l*len(want) : (l+1)*len(want)]
		}
		for i := range want {
			if !near(got[i], want[i], 1e-13) {
				return fmt.Errorf("lane %d is %v, alone it is %v", l, got, want)
			}
		}
	}
	return nil
}

// near compares numbers with a tolerance relative to b, or absolutely if b is below 1.
func near(a, b, tol float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tol*max(1, math.Abs(b))
}

// TestElementwise checks that functions of containers return for each element the value that they
// return for it alone.
func TestElementwise(t *testing.T) {
	each(t, func(t *testing.T, f *stdlib.Func) {
		if _, ok := f.Overload.(types.Elementwise); !ok {
			return
		}
		rng := source(f, 3)
		for _, ts := range forms(f) {
			vs := arguments(rng, f, ts)
			all, err := Eval(f, false, vs)
			if err != nil {
				t.Error(err)
				continue
			}
			for i := range all {
				one := make([]Value, len(vs))
				for k, v := range vs {
					one[k] = v.At(0, i)
				}
				want, err := Eval(f, false, one)
				if err != nil || !near(all[i], want[0], 0) {
					t.Errorf("%v: element %d is %v, alone it is %v (%v)", ts, i, all[i], want, err)
				}
				if f.Int != nil {
					ints := make([]int64, len(vs))
					for k := range one {
						ints[k] = int64(one[k].Data[0])
					}
					if n, err := f.Int(ints); err != nil || float64(n) != want[0] {
						t.Errorf("Int%v = %v, %v, but the graph gives %v", ints, n, err, want)
					}
				}
			}
		}
	})
}

// TestConstants checks that constant arguments give the same values as inputs.
func TestConstants(t *testing.T) {
	each(t, func(t *testing.T, f *stdlib.Func) {
		if !testable(f) {
			return
		}
		rng := source(f, 4)
		for _, ts := range forms(f) {
			if dataOnly(f, ts) || ofKnown[f.Name] {
				continue
			}
			vs := arguments(rng, f, ts)
			a, err1 := Eval(f, false, vs)
			b, err2 := EvalConstant(f, false, vs)
			if err1 != nil || err2 != nil || len(a) != len(b) {
				t.Errorf("%v: %v, %v, %v, %v", ts, a, err1, b, err2)
				continue
			}
			for i := range a {
				if !near(a[i], b[i], 1e-13) {
					t.Errorf("%v: %v of inputs, %v of constants", ts, a, b)
				}
			}
		}
	})
}

// TestDrawnInts checks that ints that are known only at run time give the same values as known
// ints, or that the function reports that they must be known.
func TestDrawnInts(t *testing.T) {
	each(t, func(t *testing.T, f *stdlib.Func) {
		if !testable(f) {
			return
		}
		rng := source(f, 5)
		for _, ts := range forms(f) {
			vs := arguments(rng, f, ts)
			ints := false
			for i := range ts {
				ints = ints || ts[i].Kind == types.Int
			}
			if !ints {
				continue
			}
			want, err := Eval(f, false, vs)
			if err != nil {
				t.Fatal(err)
			}
			got, err := eval(f, false, vs, unknownInts, nil)
			if err != nil {
				if !strings.Contains(err.Error(), "must be known when the data are bound") {
					t.Errorf("%v: %v", ts, err)
				}
				continue
			}
			for i := range want {
				if !near(got[i], want[i], 1e-13) {
					t.Errorf("%v: %v, with known ints %v", ts, got, want)
				}
			}
		}
	})
}

// TestSoftmaxOfLargeNumbers checks that the elements add up to 1 for arbitrarily large arguments,
// because distributions require it.
func TestSoftmaxOfLargeNumbers(t *testing.T) {
	for _, o := range stdlib.Universe().Lookup("softmax") {
		f := o.(*stdlib.Func)
		typ := forms(f)[0][0]
		v := Value{Type: typ, Shape: []int{2}, Data: []float64{-1e9, -1e9 - 1}}
		if typ.Dims > 0 {
			v.Shape, v.Data = []int{2, 2}, []float64{3e12, 3e12 - 1, 4, 3}
		}
		got, err := Eval(f, false, []Value{v})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(got); i += 2 {
			if first := 1 / (1 + math.Exp(-1)); !near(got[i], first, 1e-15) || !near(got[i]+got[i+1], 1, 1e-15) {
				t.Errorf("%v: %v", typ, got)
			}
		}
	}
}
