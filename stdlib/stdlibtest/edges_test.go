package stdlibtest

import (
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

// edgesFile is the output of testdata/golden/edges.py, which uses mpmath.
const edgesFile = "testdata/golden/edges.txt"

// cancellingEdges lists calls whose terms are a million times the value, with the error that
// remains after cancellation.
var cancellingEdges = map[string]float64{
	"dirichlet_multinomial_lpmf({2147483647, 0}| [3.0, 1e-05]')":              2e-14,
	"dirichlet_multinomial_lpmf({1000000, 1000000}| [1000000.0, 1000000.0]')": 2e-10,
}

// TestEdgeDerivatives compares calls at the edges of domains. Relative errors may be 1e-12 for
// values and 1e-9 for derivatives, or 1e-14 of the size of the terms.
func TestEdgeDerivatives(t *testing.T) {
	text, err := os.ReadFile(edgesFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		words := strings.Split(line, "\t")
		want := make([]float64, len(words)-1)
		for i, w := range words[1:] {
			if want[i], err = strconv.ParseFloat(w, 64); err != nil {
				t.Fatal(err)
			}
		}
		f, vs, err := parseCall(words[0])
		if err != nil {
			t.Fatal(err)
		}
		got, sizes, err := withGradient(f, vs)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %v, %d numbers instead of %d", words[0], err, len(got), len(want))
			continue
		}
		size := max(1, math.Abs(want[0]))
		for i, w := range want {
			bound := max(1e-12*math.Abs(w), 1e-14, cancellingEdges[words[0]])
			if i > 0 {
				bound = max(1e-9*math.Abs(w), 1e-14*size/sizes[i-1])
			}
			if got[i] != w && !(math.Abs(got[i]-w) <= bound) {
				t.Errorf("%s: number %d is %v, want %v", words[0], i, got[i], w)
			}
		}
	}
}

// withGradient returns the value of a call, its derivatives with respect to the elements of the
// real arguments, and the absolute values of these elements.
func withGradient(f *stdlib.Func, vs []Value) (numbers, sizes []float64, err error) {
	g := ad.NewGraph()
	var reals []ad.Ref
	var inputs [][]float64
	refs := make([]ad.Ref, len(vs))
	for i, v := range vs {
		if v.Type.Kind == types.Int {
			refs[i] = g.ConstArray(v.adType(), v.Data)
			continue
		}
		refs[i] = g.Input(v.adType())
		reals, inputs = append(reals, refs[i]), append(inputs, v.Data)
		for _, x := range v.Data {
			sizes = append(sizes, math.Abs(x))
		}
	}
	out := Apply(g, f, false, vs, refs)
	g.Output(out)
	for _, r := range g.Grad(out, reals...) {
		g.Output(r)
	}
	res, err := g.Eval(inputs, &ad.Env{})
	for _, r := range res {
		numbers = append(numbers, r...)
	}
	return numbers, sizes, err
}

// TestDirichletMultinomialEdges checks sizes, counts and prior sizes for which the exact value is
// known. NaN means that an error is expected.
func TestDirichletMultinomialEdges(t *testing.T) {
	for call, want := range map[string]float64{
		"{5}| [2.5]'":                 0,
		"{0, 0, 0}| [1.0, 2.0, 3.0]'": 0,
		"{1, 0}| [1.0, 3.0]'":         -2 * math.Ln2,
		"{1, -1}| [1.0, 3.0]'":        math.NaN(),
		"{1, 2}| [1.0, nan]'":         math.NaN(),
		"{1, 2}| [1.0, inf]'":         math.NaN(),
		"{1, 2}| [1.0, 0.0]'":         math.NaN(),
		"{1, 2}| [1.0]'":              math.NaN(),
	} {
		f, vs, err := parseCall("dirichlet_multinomial_lpmf(" + call + ")")
		if err != nil {
			t.Fatal(err)
		}
		got, err := Eval(f, false, vs)
		if (err != nil) != math.IsNaN(want) || err == nil && math.Abs(got[0]-want) > 1e-14 {
			t.Errorf("%s is %v, %v, want %v", call, got, err, want)
		}
	}
}

// TestEdges checks values at which formulas are at the edge of their range. The expected values are
// exact, or from mpmath with 17 digits.
func TestEdges(t *testing.T) {
	edges := []string{"beta_lpdf(0.0 | 1.0, 8.0)", "beta_lpdf(1.0 | 8.0, 1.0)", "beta_proportion_lpdf(0.0 | 0.5, 2.0)",
		"chi_square_lpdf(0.0 | 2.0)", "weibull_lpdf(0.0 | 1.0, 2.0)", "dirichlet_lpdf([0.0, 1.0]' | [1.0, 1.0]')"}
	for _, c := range []struct {
		call string
		want float64
	}{
		// These have large shapes.
		{"inc_beta(6.0, 1e12, 8e-12)", 0.80876393792513813},
		{"neg_binomial_2_lcdf(0 | 8.0, 1e16)", -7.9999999999999968},
		{"neg_binomial_2_lcdf(5 | 8.0, 1e12)", -1.6542466869405067},
		{"neg_binomial_2_lcdf(5 | 8.0, 1e20)", -1.6542466869462548},
		{"student_t_lcdf(-3.0 | 1e12, 0.0, 1.0)", -6.6077262214857263},
		{"student_t_lcdf(-3.0 | 1e15, 0.0, 1.0)", -6.6077262215103249},
		{"gamma_p(1e12, 1e12)", 0.50000013298076013},
		// These are computed from complements.
		{"beta_neg_binomial_lccdf(30 | 1.0, 50.0, 1.0)", -51.4975829352778},
		{"beta_neg_binomial_lcdf(30 | 1.0, 50.0, 1.0)", -4.3140373404988876e-23},
		{"beta_neg_binomial_lccdf(100 | 1.0, 50.0, 1.0)", -93.205122662060827},
		{"beta_neg_binomial_lccdf(40 | 5.0, 100.0, 4.0)", -63.432104729263892},
		// For this order it is a polynomial, so z may be any number.
		{"hypergeometric_1F0(-2, 5.0)", 16},
		// The smallest argument for which Lambert's function has a value.
		{"lambert_w0(-0.36787944117144233)", -1},
		{"lambert_wm1(-0.36787944117144233)", -1},
		// These have large and tiny arguments.
		{"von_mises_lpdf(0.1 | 0.1, 1e15)", 16.35044966425067},
		{"von_mises_lpdf(2.0 | 0.5, 1e8)", -92926271.541827871},
		{"von_mises_lpdf(3.0 | 0.0, 1e12)", -1989992496587.5489},
		{"student_t_lpdf(1e200 | 3.0, 0.0, 1.0)", -1840.8717386675238},
		{"cauchy_lpdf(1e200 | 0.0, 1.0)", -922.17876708346767},
		{"gumbel_lccdf(800.0 | 0.0, 1.0)", -800},
		{"weibull_lcdf(1e-200 | 2.0, 1.0)", -400 * math.Ln10},
		{"frechet_lccdf(1e200 | 2.0, 1.0)", -400 * math.Ln10},
		{"rayleigh_lcdf(1e-200 | 1.0)", -400*math.Ln10 - math.Ln2},
		{"poisson_log_lpmf(3 | inf)", math.Inf(-1)},
		{"poisson_log_lpmf(0 | -inf)", 0},
		{"poisson_log_lpmf(2 | -inf)", math.Inf(-1)},
		{"poisson_log_lpmf({0, 3} | [-inf, 1.0]')", 3 - math.E - math.Log(6)},
		// These have data at the edge of the support, where the factor y^0 is 1.
		{edges[0], math.Log(8)},
		{edges[1], math.Log(8)},
		{"beta_lpdf(0.0 | 2.0, 8.0)", math.Inf(-1)},
		{edges[2], 0},
		{edges[3], -math.Ln2},
		{edges[4], -math.Ln2},
		{edges[5], 0},
		{"dirichlet_lpdf([0.0, 1.0]' | [2.0, 1.0]')", math.Inf(-1)},
		{"hmm_marginal([[-inf, 0], [-inf, 0]], [[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5]')", math.Inf(-1)},
		{"hmm_marginal([[0, -inf], [0, -inf]], [[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5]')", math.Inf(-1)},
		{"hmm_marginal([[0, 0, -inf], [-inf, -inf, 0]], [[1.0, 0.0], [0.5, 0.5]], [1.0, 0.0]')", math.Inf(-1)},
	} {
		f, vs, err := parseCall(c.call)
		if err != nil {
			t.Errorf("%s: %v", c.call, err)
			continue
		}
		// Evaluate all arguments as data, and then as parameters.
		for k, eval := range []func(*stdlib.Func, bool, []Value) ([]float64, error){EvalConstant, Eval} {
			got, err := eval(f, false, vs)
			if err != nil {
				t.Errorf("%s: %v", c.call, err)
				continue
			}
			if edge := strings.HasPrefix(c.call, "poisson_log") || slices.Contains(edges, c.call); k > 0 && edge {
				continue // parameters are never infinite or on their bounds
			}
			if got[0] != c.want && !(math.Abs(got[0]-c.want) <= 1e-12*math.Abs(c.want)) {
				t.Errorf("%s (parameters: %t) is %.17g, want %.17g", c.call, k > 0, got[0], c.want)
			}
		}
	}
}
