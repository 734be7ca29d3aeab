package compile

import (
	"math"
	"strings"
	"testing"
)

// TestHypergeometric compares values with mpmath and, at three points, the gradient of the sum of
// all values.
func TestHypergeometric(t *testing.T) {
	for _, c := range []struct {
		call string
		want float64
	}{
		{"hypergeometric_2F1(1.5, 2.5, 4.5, 0.95)", 5.2037766926410824},
		{"hypergeometric_2F1(0.5, 1.5, 3, -20)", 0.33871480446552707},
		{"hypergeometric_2F1(0.5, -1.25, 3, 1)", 0.80317951165319132},
		{"hypergeometric_2F1(-3.0, 1.5, 0.7, 0.4)", -0.32026143790849673},
		{"hypergeometric_3F2({1.5, 2, 0.3}, [2.5, 3]', -0.9)", 0.91607432866525735},
		{"hypergeometric_pFq({2.5}, {1.5}, -30)", -1.7779483640796332e-12},
		{"hypergeometric_pFq({0.5, 2.0}, [1.5, 3.5]', 40)", 39175865060510.785},
		{"hypergeometric_pFq({1.25}, [0.5]', 100)", 1.6653915251092602e+45},
	} {
		// Once with data, and once with arguments that depend on parameters.
		computed := strings.Replace(c.call, "(", "(0 * u + ", 1)
		if strings.Contains(c.call, "({") {
			computed = strings.Replace(c.call, ")", " + 0 * u)", 1)
		}
		m := modelOf(t, "parameters { real u; } generated quantities { real x = "+c.call+"; real y = "+computed+"; }", BindOptions{})
		out := make([]float64, 3)
		if err := m.Generate([]float64{1}, nil, out); err != nil {
			t.Errorf("%s: %v", c.call, err)
			continue
		}
		for _, got := range out[1:] {
			if !(math.Abs(got-c.want) <= 2e-14*math.Abs(c.want)) {
				t.Errorf("%s = %.17g, want %.17g", c.call, got, c.want)
			}
		}
	}
	m := modelOf(t, `parameters { real a; real b; real c; real z; }
model {
  target += hypergeometric_2F1(a, b, c, z);
  target += 2 * hypergeometric_pFq([a]', {b}, 2 * z);
  target += 3 * hypergeometric_3F2([a, b, c], {1 + b, 2 + c}, z);
}`, BindOptions{})
	for _, c := range []struct {
		at       []float64
		value    float64
		gradient []float64
	}{
		{[]float64{0.7, 1.3, 2.2, 0.6}, 9.0162377338105241, []float64{5.13007298410755, -1.46770681042729, -0.145094397779206, 7.73797068506474}},
		{[]float64{0.7, 1.3, 2.2, -0.35}, 5.0953690253536587, []float64{-1.18172459968314, 0.247857363289052, 0.0085941916169264, 2.08262146042462}},
		{[]float64{-2.5, 1.3, 0.4, -0.95}, 37.561143614005988, []float64{-27.9818505051332, 8.00215891851389, -52.8449155157917, -51.9930951065061}},
	} {
		grad := make([]float64, 4)
		lp, err := m.LogDensityGrad(c.at, grad)
		if err != nil || math.Abs(lp-c.value) > 1e-14*math.Abs(c.value) {
			t.Errorf("at %v: %.17g (%v), want %.17g", c.at, lp, err, c.value)
		}
		for i, want := range c.gradient {
			if math.Abs(grad[i]-want) > 1e-13*max(1, math.Abs(want)) {
				t.Errorf("at %v: derivative %d is %.15g, want %.15g", c.at, i+1, grad[i], want)
			}
		}
	}
	for call, want := range map[string]string{
		"hypergeometric_2F1(1, 2, -1, u / 2)":               "must not be 0 or a negative whole number, but is -1",
		"hypergeometric_2F1(1, 2, 3, 2 * u)":                "the hypergeometric function is defined for z < 1, and for z = 1 if c > a + b, but z is 2",
		"hypergeometric_pFq([1, 2]', {3}, 2 * u)":           "converges for |z| < 1, but z is 2",
		"hypergeometric_3F2({1, 2}, {3, 4}, u / 2)":         "there must be 3 upper and 2 lower parameters, but there are 2 and 2",
		"hypergeometric_pFq({2, 3.5}, {1.5, 1.2}, -60 * u)": "the terms of the series of the hypergeometric function cancel",
	} {
		m := modelOf(t, "parameters { real u; } model { target += "+call+"; }", BindOptions{})
		if _, err := m.LogDensityGrad([]float64{1}, make([]float64, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", call, err, want)
		}
	}
}
