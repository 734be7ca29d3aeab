package compile

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// evaluate returns the density, with all constants, and the gradient of a model at a point. The
// error is that of binding or of the evaluation.
func evaluate(t *testing.T, text, json string, x ...float64) (float64, []float64, error) {
	t.Helper()
	prog, list := Compile(source.NewFile("ends.stan", text))
	if prog == nil {
		t.Fatal(list[0])
	}
	set, err := data.ParseJSON("data.json", []byte(json))
	if err != nil {
		t.Fatal(err)
	}
	m, err := prog.Bind(set, BindOptions{NoPropto: true})
	if err != nil {
		return 0, nil, err
	}
	grad := make([]float64, m.Dim())
	lp, err := m.LogDensityGrad(x, grad)
	return lp, grad, err
}

// slicedModel is the beginning of models with containers to slice. zero is 0, but depends on
// parameters.
const slicedModel = `data { int lo, hi; }
parameters { real u; }
model {
  int zero = 0;
  while (zero < 3 && u < -zero - 1e9) zero += 1;
  vector[3] v = rep_vector(u, 3);
  vector[0] e;
  matrix[3, 2] m = rep_matrix(u, 3, 2);
  array[3] real a = to_array_1d(v);
  array[2] vector[3] b = rep_array(v, 2);
`

// TestSlicesBegin checks the rules of Stan 2.32 for slices without elements. When a slice of a
// vector or matrix is read, it must begin at an existing element. A slice of an array may be empty
// anywhere, except a[b:] with b far beyond the end. The same holds for a slice that is assigned to.
func TestSlicesBegin(t *testing.T) {
	for _, c := range []struct {
		read   string
		lo, hi string // of data
		fine   bool
	}{
		{"sum(v[lo:hi])", "3", "2", true},
		{"sum(v[lo:hi])", "4", "3", false},
		{"sum(v[lo:hi])", "1", "0", true},
		{"sum(v[lo:hi])", "0", "-1", false},
		{"sum(v[lo:hi])", "3", "-5", true},
		{"sum(v[lo:hi]')", "4", "1", false},
		{"sum(v[lo:])", "3", "0", true},
		{"sum(v[lo:])", "4", "0", false},
		{"sum(v[lo:])", "6", "0", false},
		{"sum(v[:hi])", "0", "0", true},
		{"sum(v[:hi])", "0", "-2", true},
		{"sum(e[:hi])", "0", "0", false}, // which begins at 1
		{"sum(e[lo:hi])", "1", "0", false},
		{"sum(m[lo:hi])", "4", "3", false},
		{"sum(m[lo:hi, 1])", "4", "3", false},
		{"sum(m[, lo:hi])", "2", "1", true},
		{"sum(m[, lo:hi])", "3", "2", false},
		{"sum(m[1, lo:hi])", "3", "2", false},
		{"sum(m[1:0, lo:hi])", "3", "2", false},
		{"sum(a[lo:hi])", "4", "3", true},
		{"sum(a[lo:hi])", "9", "3", true},
		{"sum(a[lo:])", "4", "0", true},
		{"sum(a[lo:])", "5", "0", false},
		{"sum(b[2, lo:hi])", "4", "3", false},
	} {
		for _, bounds := range []struct{ what, lo, hi string }{
			{"data", "lo", "hi"},
			{"a parameter decides", "lo + zero", "hi + zero"},
		} {
			read := strings.NewReplacer("lo", bounds.lo, "hi", bounds.hi).Replace(c.read)
			text := slicedModel + `  target += ` + read + `;
  v[lo:hi] = rep_vector(0, max(hi - lo + 1, 0));
}`
			if !strings.Contains(read, "lo") || !strings.Contains(read, "hi") {
				text = strings.Replace(text, "  v[lo:hi] = rep_vector(0, max(hi - lo + 1, 0));\n", "", 1)
			}
			json := `{"lo": ` + c.lo + `, "hi": ` + c.hi + `}`
			_, _, err := evaluate(t, text, json, 1)
			if fine := err == nil; fine != c.fine {
				t.Errorf("%s, %s, %s: %v", read, json, bounds.what, err)
			}
		}
	}
}

// TestSlicesOfNothing checks the rules of Stan 2.32 for assignments to slices without elements. It
// also checks indices that follow an array index that selects nothing: Stan does not check these.
func TestSlicesOfNothing(t *testing.T) {
	for _, c := range []struct {
		statement string // lo and hi are 7 and 6
		fine      bool
	}{
		{"v[lo:hi] = e;", true},
		{"v[lo:hi] += e;", false},
		{"v[(lo - 4):(hi - 4)] += e;", true},
		{"v[(lo - 3):] = e;", false},
		{"v[lo:] = e;", false},
		{"v[:(hi - 6)] = e;", true},
		{"m[(lo - 3):, 1] = e;", false},
		{"m[(lo - 3):, ] = rep_matrix(u, 0, 2);", false},
		{"m[1, (lo - 4):] = e';", false},
		{"m[1:0, lo] = e;", false},
		{"target += sum(m[1:0, lo]);", false},
		{"a[lo:hi] = to_array_1d(e);", true},
		{"a[(lo - 3):] = to_array_1d(e);", true},
		{"a[(lo - 2):] = to_array_1d(e);", false},
		{"b[(lo - 4):] = b[1:0];", true},
		{"b[1:0, lo] = to_array_1d(e);", true},
		{"b[none, lo] = to_array_1d(e);", true},
		{"b[lo:hi, lo] = to_array_1d(e);", true},
		{"b[1:0, lo:9] = b[1:0, 1:3];", true},
		{"b[1, lo:hi] += e;", false},
		{"target += sum(b[1:0, lo]);", true},
		{"target += sum(b[none, lo]);", true},
		{"target += size(b[1:0, lo:9]) + size(b[1:0, {lo, 9}]);", true},
		{"target += sum(c[:, lo]) + sum(to_array_1d(c[1:0, lo]));", true},
		{"target += sum(to_array_1d(c[1:0, lo]));", true},
		{"target += sum(m[none, {lo}]);", true},
		{"target += sum(m[{lo}, none]);", true},
		{"target += sum(m[lo:9, none]);", true},
		{"target += sum(m[none, lo:9]);", false},
		{"target += sum(m[lo, none]);", false},
		{"target += sum(m[none, lo]);", false},
		{"target += sum(block(m, 1, 1, 0, 1));", false},
		{"target += sum(block(m, lo - 5, 1, 0, 1));", true},
		{"target += sum(block(m, 1, lo - 6, 1, 0));", false},
		{"m[{lo}, none] = rep_matrix(1, 1, 0);", true},
		{"m[none, {lo}] = rep_matrix(1, 0, 1);", false},
		{"target += sum(b[1:1, lo]);", false},
		{"target += sum(b[1, lo:hi]);", false},
	} {
		for what, bounds := range map[string]string{"data": "lo", "a parameter decides": "(lo + zero)"} {
			if what != "data" && strings.Contains(c.statement, ":") && strings.Contains(c.statement, "=") && !strings.HasPrefix(c.statement, "target") {
				continue // these assignments check sizes, too
			}
			text := slicedModel + `  array[0, 4] real c;
  array[0] int none;
  ` + strings.NewReplacer("block", "block", "lo", bounds).Replace(c.statement) + `
}`
			_, _, err := evaluate(t, text, `{"lo": 7, "hi": 6}`, 1)
			if fine := err == nil; fine != c.fine {
				t.Errorf("%s, %s: %v", c.statement, what, err)
			}
		}
	}
}

// TestEnds checks values and derivatives where those of Stan 2.32 are undefined or infinite.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		model string
		x     []float64
		lp    float64
		grad  []float64
		err   string
	}{
		{"target += norm2(t[1:2]);", []float64{0, 0, 1}, 0, []float64{math.NaN(), math.NaN(), 0}, ""},
		{"target += distance(t[1:2], t[2:3]);", []float64{1, 1, 1}, 0, []float64{math.NaN(), math.NaN(), math.NaN()}, ""},
		{"target += poisson_lpmf(3 | 1 / (t[1] - t[1]) ^ 2);", []float64{0, 0, 0}, math.Inf(-1), nil, ""},
		{"target += poisson_lpmf({3, 0} | [1 / t[1], 1]');", []float64{0, 0, 0}, math.Inf(-1), nil, ""},
		{"target += poisson_log_lpmf(2 | 1 / t[1]) + t[2];", []float64{0, 0, 0}, math.Inf(-1), nil, ""},
		{"target += poisson_log_lpmf({3, 0} | [1 / t[1], 1]');", []float64{0, 0, 0}, math.Inf(-1), nil, ""},
		{"target += poisson_log_lpmf(0 | positive_infinity() + t[1]) + t[2];", []float64{0, 0, 0}, math.Inf(-1), nil, ""},
		{"target += log_mix(0.5, poisson_log_lpmf(2 | t[1] * positive_infinity()), t[2]);", []float64{1, 3, 0}, 3 - math.Ln2, []float64{0, 1, 0}, ""},
		{"target += poisson_lpmf(0 | positive_infinity()) + t[1];", []float64{0, 0, 0}, math.Inf(-1), nil, ""},
		{"matrix[0, 0] m; vector[0] e; e ~ multi_normal(e, m);", []float64{0, 0, 0}, 0, nil, "the covariance matrix has no rows"},
		{"matrix[0, 0] m; vector[0] e; e ~ multi_normal_prec(e, m);", []float64{0, 0, 0}, 0, nil, "the precision matrix has no rows"},
		{"matrix[0, 0] m; vector[0] e; m ~ multi_gp(m, e);", []float64{0, 0, 0}, 0, nil, "the kernel matrix has no rows"},
		{"matrix[0, 0] m; vector[0] e; e ~ multi_normal_cholesky(e, m); e ~ multi_student_t(3, e, m);", []float64{0, 0, 0}, 0, []float64{0, 0, 0}, ""},
		{"target += ldexp(t[1], 2147483647) + ldexp(t[2] * 1e-300, 1500) * 1e-151;", []float64{0, 2, 0}, math.Ldexp(2e-300, 1500) * 1e-151, nil, ""},
		{"array[1] int u = {1}; array[0] int e; target += sum(csr_matrix_times_vector(0, 1, rep_vector(0, 0), e, u, t[1:1]));", []float64{0, 0, 0}, 0, nil, "there must be rows and columns"},
		{"vector[0] e; target += ordered_probit_lpmf(1 | t[1], e);", []float64{0, 0, 0}, 0, nil, "at least one cut point"},
		{"vector[0] e; target += ordered_logistic_lpmf(1 | t[1], e) + t[2];", []float64{0, 2, 0}, 2, []float64{0, 1, 0}, ""},
		{"vector[0] e; target += sum(softmax(e)) + sum(log_softmax(e));", []float64{0, 0, 0}, 0, nil, "x has no elements"},
		{"target += log_determinant([[t[1], 2 * t[1], 1], [t[1], 2 * t[1], 2], [t[1], 2 * t[1], 3]]);", []float64{1, 0, 0}, math.Inf(-1), nil, ""},
		{"target += determinant([[t[1], 2 * t[1], 1], [t[1], 2 * t[1], 2], [t[1], 2 * t[1], 3]]) + t[2];", []float64{1, 2, 0}, 2, nil, ""},
		{"matrix[2, 2] A = [[1, 0.3 + t[3]], [0.3, 1]]; target += quad_form_sym(A, t[1:2]);", []float64{1, 2, 2e-8}, 0, nil, "symmetric"},
		{"matrix[2, 2] A = [[1, 0.3 + t[3]], [0.3, 1]]; target += sum(quad_form_sym(A, [t[1:2]', t[1:2]']));", []float64{1, 2, 2e-8}, 0, nil, "symmetric"},
		{"matrix[2, 2] A = [[1, 0.3 + t[3]], [0.3, 1]]; target += quad_form_sym(A, t[1:2]);", []float64{1, 2, 0}, 6.2, []float64{3.2, 4.6, 2}, ""},
		{"target += inc_beta(0, 2, 0.3) + 2 * inc_beta(2, 0, 0.3) + t[1];", []float64{1, 0, 0}, 2, []float64{1, 0, 0}, ""},
		{"target += von_mises_lpdf(t[1] | 0, t[2]);", []float64{0.3, 0, 0}, -math.Log(2 * math.Pi), []float64{0, math.Cos(0.3), 0}, ""},
		{"target += log_mix(0 * t[1], t[2], t[3]);", []float64{1, 2, 3}, 3, []float64{0, 0, 1}, ""},
		{"target += log_mix([1 + 0 * t[1], 0 * t[2]]', t[2:3]);", []float64{1, 2, 3}, 2, []float64{0, 1, 0}, ""},
		{"vector[2] q = softmax([800 * t[1], t[1]]'); target += log_mix(q, t[2:3]);", []float64{1, 2, 3}, 2, []float64{0, 1, 0}, ""},
		{"real p = t[1] - 1; target += log_mix(p, t[2], t[3]);", []float64{1, 2, 3}, 3, []float64{math.Expm1(-1), 0, 1}, ""},
		{"real p = t[1]; target += log_mix(p, t[2], t[3]);", []float64{1, 2, 3}, 2, []float64{-math.Expm1(1), 1, 0}, ""},
		{"vector[2] q = [t[1] - 1, 2 - t[1]]'; target += log_mix(q, t[2:3]);", []float64{1, 2, 3}, 3, []float64{math.Expm1(-1), 0, 1}, ""},
		// Stan's density is not finite here, because its probabilities are 1 and 0.
		{"target += bernoulli_lpmf({0, 0, 1} | inv_logit(t[1]));", []float64{40, 0, 0}, -80, []float64{-2, 0, 0}, ""},
		{"target += log(inv_logit(t[1]));", []float64{-800, 0, 0}, -800, []float64{1, 0, 0}, ""},
	} {
		lp, grad, err := evaluate(t, "parameters { vector[3] t; }\nmodel { "+c.model+" }", "{}", c.x...)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.model, err, c.err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", c.model, err)
			continue
		case !(lp == c.lp || math.Abs(lp-c.lp) <= 1e-9*math.Abs(c.lp)):
			t.Errorf("%s: %v, want %v", c.model, lp, c.lp)
		}
		for i, g := range grad {
			if c.grad != nil && !(math.Abs(g-c.grad[i]) <= 1e-14*math.Abs(g) || math.IsNaN(g) && math.IsNaN(c.grad[i])) {
				t.Errorf("%s: derivative %d is %v, want %v", c.model, i, g, c.grad[i])
			}
		}
	}
}

// TestGrainOfSlices checks that reduce_sum rejects a grain size below 1, as Stan does.
func TestGrainOfSlices(t *testing.T) {
	const text = `functions { real f(array[] real x, int a, int b) { return sum(x); } }
data { int grain; }
parameters { real u; }
model { target += reduce_sum(f, {u, 1}, grain); }`
	for grain, fine := range map[string]bool{"0": false, "-1": false, "1": true, "9": true} {
		if _, _, err := evaluate(t, text, `{"grain": `+grain+`}`, 1); (err == nil) != fine {
			t.Errorf("slices of %s elements: %v", grain, err)
		}
	}
}

// TestIntegerOverflow checks that an integer overflow is an error if the call is reached.
func TestIntegerOverflow(t *testing.T) {
	const values = `{"a": [2000000000, 2000000000, 7]}`
	for _, c := range []struct {
		text string
		fine bool
	}{
		{"parameters { real x; } model { target += x * prod(a); }", false},
		{"parameters { real x; } model { target += x * sum(a); }", true},
		{"transformed data { int p = prod(a); } parameters { real x; } model { target += x; }", false},
		{"transformed data { int p = 1; for (k in a) p *= k; } parameters { real x; } model { target += x; }", false},
		{"parameters { real x; } model { if (x > 2) target += prod(a); }", true},
		{"parameters { real x; } model { if (x < 2) target += prod(a); }", false},
		{"parameters { real x; } model { for (i in 1:3) if (i < 3) target += x * prod(a[1:i]); }", false},
		{"parameters { real x; } model { for (i in 1:3) if (i < 2) target += x * prod(a[1:i]); }", true},
	} {
		_, _, err := evaluate(t, "data { array[3] int a; } "+c.text, values, 1)
		if fine := err == nil; fine != c.fine || err != nil && !strings.Contains(err.Error(), "integer overflow") {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestODEWithoutTimes checks that solving for an empty array of times is rejected, as in Stan,
// whether the arguments are data or parameters.
func TestODEWithoutTimes(t *testing.T) {
	for _, call := range []string{
		"ode_rk45(f, [1]', 0.0, ts, %s)", "ode_adams(f, [1]', 0.0, ts, %s)", "ode_bdf(f, [1]', 0.0, ts, %s)", "ode_ckrk_tol(f, [1]', 0.0, ts, 1e-8, 1e-8, 1000, %s)",
	} {
		for _, k := range []string{"k", "2.0"} {
			text := `functions { vector f(real t, vector y, real k) { return -k * y; } }
data { int n; array[n] real ts; }
parameters { real k; }
model {
  k ~ std_normal();
  array[n] vector[1] y = ` + fmt.Sprintf(call, k) + `;
  target += n > 0 ? y[n][1] : 0;
}`
			if _, _, err := evaluate(t, text, `{"n": 0, "ts": []}`, 0.5); err == nil || !strings.Contains(err.Error(), "at least one time") {
				t.Errorf("%s: %v", text, err)
			}
			if _, _, err := evaluate(t, text, `{"n": 1, "ts": [2]}`, 0.5); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}
