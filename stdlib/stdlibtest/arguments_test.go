package stdlibtest

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// This file: illegal arguments. TestChecks covers the univariate distributions; the tests here
// cover the other ones, and functions that check their arguments.

// literalValue parses a value at the start of s: a number, [ ] for row vectors and matrices, with '
// for vectors, { } for arrays.
func literalValue(s string) (v Value, rest string, err error) {
	s = strings.TrimLeft(s, " ")
	if s == "" || s[0] != '[' && s[0] != '{' {
		end := strings.IndexAny(s+",", ",|]} )")
		x, err := strconv.ParseFloat(s[:end], 64)
		t := tReal
		if !strings.ContainsAny(s[:end], ".aef") { // not nan or inf, which are reals
			t = tInt
		}
		return Scalar(t, x), s[end:], err
	}
	end := map[byte]string{'[': "]", '{': "}"}[s[0]]
	rest = s[1:]
	n, elem := 0, Value{}
	for ; !strings.HasPrefix(rest, end); n++ {
		elem, rest, err = literalValue(strings.TrimLeft(rest, ", "))
		if err != nil {
			return v, rest, err
		}
		v.Data = append(v.Data, elem.Data...)
	}
	rest = rest[1:]
	v.Shape = append([]int{n}, elem.Shape...)
	switch {
	case end == "}":
		v.Type = elem.Type.Array(elem.Type.Dims + 1)
	case len(elem.Shape) > 0:
		v.Type = tMat
	case strings.HasPrefix(rest, "'"):
		v.Type, rest = tVec, rest[1:]
	default:
		v.Type = tRow
	}
	return v, rest, nil
}

// parseCall parses a call with literal arguments.
func parseCall(src string) (f *stdlib.Func, vs []Value, err error) {
	name, rest, ok := strings.Cut(src, "(")
	if !ok {
		return nil, nil, fmt.Errorf("%q is not a call", src)
	}
	var ts []types.Type
	for rest != ")" {
		var v Value
		v, rest, err = literalValue(strings.TrimLeft(rest, ", |"))
		if err != nil {
			return nil, nil, err
		}
		vs, ts = append(vs, v), append(ts, v.Type)
	}
	o, m, fail := types.Resolve(stdlib.Universe().Lookup(name), ts)
	if fail != nil {
		return nil, nil, fmt.Errorf("%s: no overload for %v", name, ts)
	}
	for i := range vs {
		vs[i].Type = m.Params[i]
	}
	return o.(*stdlib.Func), vs, nil
}

// otherArguments lists calls, or functions, whose result differs from Stan's, with the difference.
var otherArguments = map[string]string{
	"multinomial_rng([0.25, 0.75]', 0)":                                               drawnHere,
	"hypergeometric_rng(0, 4, 5)":                                                     drawnHere,
	"hypergeometric_rng(3, 0, 5)":                                                     drawnHere,
	"dirichlet_rng([0.0, 1.0]')":                                                      errorHere,
	"dirichlet_rng([inf, 1.0]')":                                                      errorHere,
	"bernoulli_logit_glm_lpmf({1, 0} | [[inf], [2.0]], 0.5, [1.0]')":                  errorHere,
	"wishart_cholesky_lpdf([[1.0, 0.5], [0.5, 1.0]] | 3.0, [[1.0, 0.0], [0.5, 1.0]])": lowerOnly,
	"choose": nanHere, "tgamma": nanHere,
	"modified_bessel_second_kind": nanHere, "bessel_second_kind": nanHere,
}

const (
	drawnHere = "the only possible draw, an error in Stan"
	errorHere = "an error here only"
	lowerOnly = "what is above the diagonal is not read here"
	nanHere   = "no number, an error in Stan"
)

// TestArguments compares with real Stan which arguments are errors, and the values for the others.
// If Stan returns NaN, we may return an error or an infinity, because all of them reject the point.
// A message must name the function and the requirement.
func TestArguments(t *testing.T) {
	b, err := os.ReadFile("testdata/arguments.txt")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		src, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		f, vs, err := parseCall(src)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, k := range []known{knownInts, allKnown} {
			diff := argumentDiffers(f, vs, k, want)
			key := src
			if otherArguments[key] == "" {
				key = f.Name
			}
			switch {
			case diff == "":
			case otherArguments[key] == "":
				t.Errorf("%s: %s", src, diff)
			default:
				used[key] = true
			}
		}
	}
	for key := range otherArguments {
		if !used[key] {
			t.Errorf("%s gives what Stan gives: delete it from the list", key)
		}
	}
}

func argumentDiffers(f *stdlib.Func, vs []Value, k known, want string) string {
	v, err := eval(f, false, vs, k, source(f, 50))
	if err != nil {
		if !strings.HasPrefix(err.Error(), f.Name+": ") {
			return fmt.Sprintf("the message %q does not name the function", err)
		}
		if want != "error" && want != "nan" {
			return fmt.Sprintf("error %v, in Stan %s", err, want)
		}
		return ""
	}
	if want == "drawn" {
		return ""
	}
	sum := 0.0
	for i, x := range v {
		sum += math.Cos(float64(i+1)) * x
	}
	if want == "nan" && (math.IsNaN(sum) || math.IsInf(sum, 0)) {
		return ""
	}
	if x, err := strconv.ParseFloat(want, 64); err != nil || !near(sum, x, 1e-9) {
		return fmt.Sprintf("value %v, in Stan %s", v, want)
	}
	return ""
}

// TestDomains checks densities and generators that are not univariate. An argument outside its
// declared domain, a NaN, or a wrong size must give an error that names the function, or NaN.
// Generators must return.
func TestDomains(t *testing.T) {
	each(t, func(t *testing.T, f *stdlib.Func) {
		if f.Dist != nil || f.Terms == nil && !f.Random || strings.HasPrefix(f.Name, "wiener_") {
			return
		}
		ts := forms(f)[0]
		rejects := func(i int, what string, change func(v *Value)) {
			rng := source(f, 51)
			vs := arguments(rng, f, ts)
			change(&vs[i])
			v, err := eval(f, false, vs, knownInts, rng)
			switch {
			case err == nil && !slices.ContainsFunc(v, math.IsNaN):
				t.Errorf("argument %d with %s gives %v", i+1, what, v)
			case err != nil && !strings.HasPrefix(err.Error(), f.Name+": "):
				t.Errorf("argument %d with %s: the message %q does not name the function", i+1, what, err)
			}
		}
		for i := range ts {
			if ts[i].Kind != types.Int {
				rejects(i, "nan", func(v *Value) { v.Data[len(v.Data)-1] = math.NaN() })
			}
			if !ts[i].IsScalar() && !anySize(f, ts, i) {
				rejects(i, "a size that does not fit", func(v *Value) {
					v.Shape[len(v.Shape)-1]--
					v.Data = v.Data[:ad.Type{Shape: v.Shape}.Size()]
				})
			}
			if i >= len(f.In) || f.In[i] == (types.Constraint{}) || ofTests(f, i) {
				continue
			}
			switch c := f.In[i]; c.Kind {
			case types.CholeskyFactorCov, types.CholeskyFactorCorr:
				rejects(i, "a negative diagonal", func(v *Value) { v.Data[len(v.Data)-1] *= -1 })
			default:
				if c.Structured() {
					rejects(i, "a number far too large", func(v *Value) { v.Data[len(v.Data)-vectorSize] += 1e3 })
					continue
				}
				for _, x := range outsideOf(c, false) {
					rejects(i, fmt.Sprint(x), func(v *Value) { v.Data[0] = x })
				}
			}
		}
	})
}

// anySize reports whether another size of argument i is legal: for cut points, times, outcomes that
// share one row or location, and if no other argument has a size.
func anySize(f *stdlib.Func, ts []types.Type, i int) bool {
	sizes := 0
	for _, u := range ts {
		sizes += bit(!u.IsScalar())
	}
	return sizes == 1 && ts[i].Kind != types.Matrix || f.Name == "normal_id_glm_lpdf" && i == 1 && ts[0].IsScalar() ||
		strings.HasPrefix(f.Name, "ordered_") || i == 0 && (strings.HasPrefix(f.Name, "hmm_") || strings.HasPrefix(f.Name, "gaussian_dlm_")) ||
		slices.ContainsFunc(ts, func(u types.Type) bool { return u.Kind == types.RowVector && u.Dims == 0 })
}

// ofTests reports whether the domain of argument i is only the range from which tests draw it: for
// sizes of matrices, degrees of freedom, and populations.
func ofTests(f *stdlib.Func, i int) bool {
	return f.Name == "hypergeometric_lpmf" || f.Name == "poisson_binomial_lpmf" && i == 0 || f.Name == "hypergeometric_rng" ||
		strings.Contains(f.Name, "wishart_") && !f.In[i].Structured() || strings.HasPrefix(f.Name, "lkj_") && f.Random && i == 0 ||
		// In these, as in Stan, any L is the factor of L Lᵀ.
		strings.HasPrefix(f.Name, "multi_") && strings.HasSuffix(f.Name, "_cholesky_rng") && f.In[i].Structured()
}

// TestGeneratorsReturn checks that generators of numbers return a draw or an error for parameters
// that are infinite or almost 0.
func TestGeneratorsReturn(t *testing.T) {
	each(t, func(t *testing.T, f *stdlib.Func) {
		if !f.Random {
			return
		}
		ts := forms(f)[0]
		for i := range ts {
			if ts[i].Kind == types.Int {
				continue
			}
			for _, x := range []float64{math.Inf(1), math.Inf(-1), 1e300, 1e-300} {
				rng := source(f, 52)
				vs := arguments(rng, f, ts)
				vs[i].Data[0] = x
				v, err := eval(f, false, vs, knownInts, rng)
				if f.Dist != nil && err == nil && math.IsNaN(v[0]) {
					t.Errorf("argument %d is %v: the draw is NaN", i+1, x)
				}
			}
		}
	})
}
