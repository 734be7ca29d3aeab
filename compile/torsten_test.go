package compile

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// withData returns a program that is bound to data.
func withData(t *testing.T, text string, set *data.Set, o Options) *Model {
	t.Helper()
	p, list := CompileWith(source.NewFile("model.stan", text), o)
	if p == nil {
		t.Fatalf("%v\n%s", list, text)
	}
	m, err := p.Bind(set, BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestFirstVersions compares calls in the order of Torsten's first versions, in which
// bioavailabilities and lag times were among the parameters, with those of today.
func TestFirstVersions(t *testing.T) {
	const program = batchedFunctions + subjectsData + `
parameters { array[7] real<lower=0> p; }
model {
  array[1] vector[7] v = rep_array(to_vector(p), 1);
  array[1, 7] real a = rep_array(p, 1);
  array[4] real few = p[4:7];
  matrix[2, 2] K = [[-p[3], 0], [p[3], -p[1] / p[2]]];
  array[1] matrix[2, 2] Ks = rep_array(K, 1);
  for (j in 1:N) target += -sum(CALL[, 2]) / 1000;
  p ~ lognormal(-1, 1);
}`
	const doses, control = ", p[4:5], p[6:7]", ", 1e-9, 1e-9, 100000"
	set := subjects(t, 2)
	cases := []struct{ old, now string }{
		{"PKModelOneCpt(v, $events)", "pmx_solve_onecpt($events, p[1:3]" + doses + ")'"},
		{"PKModelOneCpt(a, $events)", "pmx_solve_onecpt($events, p[1:3]" + doses + ")'"},
		{"PKModelOneCpt(p, $events)", "pmx_solve_onecpt($events, p[1:3]" + doses + ")'"},
		{"PKModelOneCpt($events, p[1:3]" + doses + ")", "pmx_solve_onecpt($events, p[1:3]" + doses + ")'"},
		{"linCptModel(K, v, $events)", "pmx_solve_linode($events, K" + doses + ")'"},
		{"linCptModel(Ks, few, $events)", "pmx_solve_linode($events, K" + doses + ")'"},
		{"linOdeModel($events, K" + doses + ")", "pmx_solve_linode($events, K" + doses + ")'"},
		{"generalCptModel_rk45(rhs, 2, v, $events" + control + ")", "pmx_solve_rk45(rhs, 2, $events, p[1:3]" + doses + control + ")'"},
		{"generalCptModel_bdf(rhs, N, a, $events)", "pmx_solve_bdf(rhs, 2, $events, p[1:3]" + doses + ")'"},
		{"generalCptModel_rk45(rhs, 2, $events, p" + doses + control + ")", "pmx_solve_rk45(rhs, 2, $events, p[1:3]" + doses + control + ")'"},
		{"mixOde1CptModel_bdf(driven, 1, $events, p[1:3])", "pmx_solve_onecpt_bdf(driven, 1, $events, p[1:3])'"},
	}
	for i, c := range cases {
		old, now := c.old, c.now
		if strings.Contains(now, "rhs") && !short.Turn(i, 3) {
			continue
		}
		var values [2][]float64
		for i, call := range []string{old, now} {
			text := strings.Replace(sliced.Replace(strings.Replace(program, "CALL", call, 1)), "functions {", `functions {
  vector driven(real t, vector y, vector z, array[] real p, array[] real x_r, array[] int x_i) { return [z[2] - y[1]]'; }`, 1)
			lp, grad := densityAt(t, withData(t, text, set, Options{Legacy: true}), []float64{-1, 0.5, -0.5, 0, -0.1, -2, -3})
			values[i] = append(grad, lp)
		}
		for k, a := range values[0] {
			if b := values[1][k]; !(math.Abs(a-b) <= 1e-8*math.Max(1, math.Abs(b))) {
				t.Errorf("%s: value %d is %v, want %v", old, k, a, b)
			}
		}
	}
	// Parameters whose parts cannot be named are refused.
	text := sliced.Replace(strings.Replace(program, "CALL", "PKModelOneCpt(append_array(p, p), $events)", 1))
	if p, list := CompileWith(source.NewFile("model.stan", text), Options{Legacy: true}); p != nil || !strings.Contains(list[0].Fix, "three arguments after `ss`") {
		t.Errorf("parameters without a name: %v", list)
	}
}

// TestUnivariateIntegrals compares integrals and their derivatives with closed forms.
func TestUnivariateIntegrals(t *testing.T) {
	const functions = `functions {
  real g(real t, array[] real theta, array[] real x_r, array[] int x_i) { return theta[1] * exp(theta[2] * t) + x_r[1] * x_i[1]; }
}
parameters { real p; real q; real t0; real t1; }
`
	for _, name := range []string{"univariate_integral_rk45", "univariate_integral_bdf"} {
		m := withData(t, functions+"model { target += "+name+"(g, t0, t1, {p, q}, {0.5}, {3}); }", nil, Options{})
		for _, x := range [][]float64{{1.2, 0.7, -0.5, 2}, {-0.3, -1.5, 1, -2}, {2, 0.4, 0.5, 0.5}} {
			lp, grad := densityAt(t, m, x)
			p, q, a, b := x[0], x[1], x[2], x[3]
			e := func(t float64) float64 { return math.Exp(q * t) }
			whole := (e(b) - e(a)) / q
			want := []float64{whole, p * ((b*e(b)-a*e(a))/q - whole/q), -(p*e(a) + 1.5), p*e(b) + 1.5, p*whole + 1.5*(b-a)}
			for k, got := range append(grad, lp) {
				if !(math.Abs(got-want[k]) <= 1e-8*math.Max(1, math.Abs(want[k]))) {
					t.Errorf("%s at %v: value %d is %v, want %v", name, x, k, got, want[k])
				}
			}
		}
	}
}
