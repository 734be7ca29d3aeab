package compile

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// TestSolvers compares solutions of differential and algebraic-differential equations, and their
// derivatives, with closed forms or with mpmath.
func TestSolvers(t *testing.T) {
	const functions = `functions {
  vector decay(real t, vector y, real k) { return [-k * y[1], k * y[1] + cos(t)]'; }
  vector residual(real t, vector y, vector yp, real k) { return [yp[1] + k * y[1], y[1] + y[2] - 1]'; }
  vector pendulum(real t, vector y, vector yp, real k) { return [yp[1] - y[2] + 0 * t, yp[2] + k * y[1]]'; }
  vector robertson(real t, vector y, vector yp, real k) {
    return [yp[1] + k * y[1] - 1e4 * y[2] * y[3], yp[2] - k * y[1] + 1e4 * y[2] * y[3] + 3e7 * square(y[2]), y[1] + y[2] + y[3] - 1]';
  }
}
parameters { real k; real b; }
transformed parameters {
  array[2] real ts = {0.5, 2};
  array[2] vector[2] x;
  vector[2] v = [b, 0]';
  `
	e := func(k, t float64) float64 { return math.Exp(-k * t) }
	const k, b = 0.7, 1.3
	w := math.Sqrt(k)
	for _, c := range []struct {
		statement string
		value     [4]float64 // of x at 0.5 and 2
		dk        [4]float64 // the derivative by k
		tol       float64
	}{
		{"x = ode_adjoint_tol_ctl(decay, v, 0, ts, 1e-9, rep_vector(1e-9, 2), 1e-6, rep_vector(1e-6, 2), 1e-6, 1e-6, 10000, 150, 1, 1, 2, k);",
			[4]float64{b * e(k, 0.5), b*(1-e(k, 0.5)) + math.Sin(0.5), b * e(k, 2), b*(1-e(k, 2)) + math.Sin(2)},
			[4]float64{-0.5 * b * e(k, 0.5), 0.5 * b * e(k, 0.5), -2 * b * e(k, 2), 2 * b * e(k, 2)}, 1e-9},
		{"x = ode_adjoint_tol_ctl(decay, v, 0, ts, 1e-9, rep_vector(1e-9, 2), 1e-6, rep_vector(1e-6, 2), 1e-6, 1e-6, 10000, 150, 1, 2, 2, k);",
			[4]float64{b * e(k, 0.5), b*(1-e(k, 0.5)) + math.Sin(0.5), b * e(k, 2), b*(1-e(k, 2)) + math.Sin(2)},
			[4]float64{-0.5 * b * e(k, 0.5), 0.5 * b * e(k, 0.5), -2 * b * e(k, 2), 2 * b * e(k, 2)}, 1e-8},
		{"x = ode_ckrk_tol(decay, v, 0, ts, 1e-9, 1e-9, 1000, k);",
			[4]float64{b * e(k, 0.5), b*(1-e(k, 0.5)) + math.Sin(0.5), b * e(k, 2), b*(1-e(k, 2)) + math.Sin(2)},
			[4]float64{-0.5 * b * e(k, 0.5), 0.5 * b * e(k, 0.5), -2 * b * e(k, 2), 2 * b * e(k, 2)}, 1e-9},
		{"x = dae(residual, [b, 1 - b]', [-k * b, k * b]', 0, {0.5, 2}, k);",
			[4]float64{b * e(k, 0.5), 1 - b*e(k, 0.5), b * e(k, 2), 1 - b*e(k, 2)},
			[4]float64{-0.5 * b * e(k, 0.5), 0.5 * b * e(k, 0.5), -2 * b * e(k, 2), 2 * b * e(k, 2)}, 1e-8},
		{"x = dae_tol(pendulum, v, [0, 0]', 0, {0.5, 2}, 1e-7, 1e-7, 1000, k);",
			[4]float64{b * math.Cos(w/2), -b * w * math.Sin(w/2), b * math.Cos(2*w), -b * w * math.Sin(2*w)},
			[4]float64{-b * math.Sin(w/2) / 4 / w, -b * (math.Sin(w/2) + w*math.Cos(w/2)/2) / 2 / w,
				-b * math.Sin(2*w) / w, -b * (math.Sin(2*w) + 2*w*math.Cos(2*w)) / 2 / w}, 1e-6},
		// At t = 0.4 and 40, from Hindmarsh, for the rate 0.04.
		{"{ array[2] vector[3] y = dae_tol(robertson, [1, 0, 0]', [-0.04, 0.04, 0]', 0, {0.4, 40}, 1e-8, 1e-12, 100000, 0.04 + (k - 0.7)); for (i in 1:2) x[i] = y[i, 2:3]; }",
			[4]float64{3.386395e-5, 1.479402e-2, 9.185535e-6, 2.841638e-1}, [4]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}, 5e-7},
	} {
		m := modelOf(t, functions+c.statement+" }", BindOptions{})
		out := make([]float64, len(m.ConstrainedNames()))
		at := func(k float64) []float64 {
			if err := m.Constrain([]float64{k, b}, out); err != nil {
				t.Fatalf("%s: %v", c.statement, err)
			}
			// x.1.1, x.2.1, x.1.2 and x.2.2 come after k, b and ts.
			return []float64{out[4], out[6], out[5], out[7]}
		}
		got := at(k)
		for i, want := range c.value {
			if !(math.Abs(got[i]-want) <= c.tol*max(1e-3, math.Abs(want))) {
				t.Errorf("%s\nvalue %d is %.10g, want %.10g", c.statement, i+1, got[i], want)
			}
		}
		if math.IsNaN(c.dk[0]) {
			continue
		}
		m = modelOf(t, functions+c.statement+" } model { target += x[1, 1] + 2 * x[1, 2] + 3 * x[2, 1] + 5 * x[2, 2]; }", BindOptions{})
		grad := make([]float64, 2)
		want := c.dk[0] + 2*c.dk[1] + 3*c.dk[2] + 5*c.dk[3]
		if _, err := m.LogDensityGrad([]float64{k, b}, grad); err != nil || !(math.Abs(grad[0]-want) <= 20*c.tol) {
			t.Errorf("%s\nderivative is %.10g (%v), want %.10g", c.statement, grad[0], err, want)
		}
	}
}

// TestStiffDerivatives checks that the derivatives of explicit solutions decay where the solution
// does, also from an equilibrium. The first component follows the second, k times as fast.
func TestStiffDerivatives(t *testing.T) {
	short.Skip(t, "equations that need many steps; TestSolvers is left")
	for _, solver := range []string{"ode_rk45", "ode_ckrk", "ode_adams", "ode_bdf"} {
		m := modelOf(t, `functions { vector f(real t, vector y, real k) { return [-k * (y[1] - y[2]), -0.1 * y[2]]'; } }
parameters { real k; real b; }
model { target += sum(`+solver+`(f, [0, b]', 0, {60}, k)[1]); }`, BindOptions{})
		for _, k := range short.Every(2, []float64{5, 50, 200, 500, 2000}) {
			for _, b := range []float64{0, 1.3} {
				if b == 0 && solver == "ode_bdf" { // its steps become long; derivatives are accurate to 1e-3
					continue
				}
				// k / (k - 0.1) * b * (exp(-0.1 t) - exp(-k t)) + b * exp(-0.1 t)
				slow, grad := math.Exp(-6), make([]float64, 2)
				lp, err := m.LogDensityGrad([]float64{k, b}, grad)
				want := [3]float64{(k/(k-0.1) + 1) * b * slow, -0.1 / (k - 0.1) / (k - 0.1) * b * slow, (k/(k-0.1) + 1) * slow}
				for i, got := range []float64{lp, grad[0], grad[1]} {
					if err != nil || !(math.Abs(got-want[i]) <= 1e-6*math.Abs(want[i])+1e-9) {
						t.Errorf("%s, k = %g, b = %g, figure %d: %g, want %g (%v)", solver, k, b, i, got, want[i], err)
					}
				}
			}
		}
	}
}

// TestSolverControl checks that the control arguments of solvers have an effect, also in the older
// functions.
func TestSolverControl(t *testing.T) {
	const functions = `functions {
  vector decay(real t, vector y, real k) { return -k * y * (1 + cos(5 * t)); }
  array[] real old(real t, array[] real y, array[] real k, array[] real r, array[] int i) { return {-k[1] * y[1] * (1 + cos(5 * t))}; }
  vector system(vector y, vector k, array[] real r, array[] int i) { return exp(y) - k; }
  real f(real x, real xc, real k) { return 1 / (1e-4 + square(x - k)); }
  vector explosion(real t, vector y, real k) { return k * y .* y; }
  vector implicit(real t, vector y, vector yp, real k) { return yp - k * y .* y; }
}
transformed data { array[0] real none; array[0] int no; }
parameters { real k; }
model { target += `
	for call, want := range map[string]string{
		"sum(ode_rk45_tol(decay, [1]', 0, {50}, 1e-8, 1e-8, 5, k)[1])":                                     "took more than 5 steps",
		"integrate_ode_rk45(old, {1}, 0, {50}, {k}, none, no, 1e-8, 1e-8, 5)[1, 1]":                        "took more than 5 steps",
		"integrate_ode_bdf(old, {1}, 0, {50}, {k}, none, no, 1e-8, 1e-8, 5.0)[1, 1]":                       "took more than 5 steps",
		"algebra_solver(system, [30]', [k]', none, no, 1e-9, 1e-9, 3)[1]":                                  "the equations are not solved after 3 evaluations",
		"ode_rk45(explosion, [1]', 0, {0.5, 2}, k)[2, 1]":                                                  "too short at time 1",
		"ode_bdf(explosion, [1]', 0, {0.5, 2}, k)[2, 1]":                                                   "too short at time 1",
		"dae(implicit, [1]', [k]', 0, {0.5, 2}, k)[2, 1]":                                                  "too short at time 1",
		"integrate_1d_double_exponential_tol(f, -1, 1, 1e-9, 0, 2, k - 0.9)":                               "does not converge to a relative error of 1e-09",
		"integrate_1d_double_exponential_tol(f, -1, 1, 1e-9, 0, 12, k - 0.9)":                              "",
		"integrate_1d_double_exponential_tol(f, -1, 1, 1e-9, 1000, 2, k - 0.9)":                            "",
		"ode_adjoint_tol_ctl(decay, [1]', 0, {1}, 1e-6, [1, 1]', 1, [1]', 1, 1, 100, 1, 1, 1, 1, k)[1, 1]": "there must be as many absolute tolerances as states, but there are 2 and 1",
	} {
		m := modelOf(t, functions+call+"; }", BindOptions{})
		_, err := m.LogDensityGrad([]float64{1}, make([]float64, 1))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", call, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", call, err, want)
		}
	}
}

// TestIntegralsInLanes checks that the points of an integral, including those of its refinements,
// run in lanes. With an integral for each row, this holds for the points that all rows have.
func TestIntegralsInLanes(t *testing.T) {
	const text = `functions {
  real f(real x, real xc, array[] real k, data array[] real r, data array[] int i) { return exp(-k[1] * square(x - r[1])); }
}
data { int N; vector[N] y; }
transformed data { array[0] int none; }
parameters { real<lower=0> k; }
model { `
	for call, left := range map[string]int{
		`target += log(integrate_1d(f, negative_infinity(), positive_infinity(), {k}, {0.5}, none));`: 0,
		`target += log(integrate_1d(f, -1, 2, {k}, {0.5}, none));`:                                    0,
		`for (n in 1:N) target += log(integrate_1d(f, -1, 2, {k}, {y[n]}, none));`:                    3,
	} {
		m := boundText(t, text+call+" }", map[string]any{"N": 40, "y": slices.Repeat([]float64{0.5, 1}, 20)})
		if s := m.Loops(); s.Carried != left || s.Scanned+s.Iterated > 0 {
			t.Errorf("%s\n%d loops are carried, %d scanned and %d iterated, want %d carried", call, s.Carried, s.Scanned, s.Iterated, left)
		}
	}
}

// TestRefinements checks that the points of an integral's refinements and their weights are
// computed when the model is bound, although each row decides how many it needs. The program
// computes only the integrand. The integrals must equal their closed forms.
func TestRefinements(t *testing.T) {
	const text = `functions {
  real f(real x, real xc, array[] real k, data array[] real r, data array[] int i) { return exp(-0.5 * square((x - r[1]) / k[1])); }
}
data { int N; vector[N] y; }
transformed data { array[0] int none; }
parameters { real<lower=0> s; }
model { for (n in 1:N) target += log(integrate_1d(f, 0, 10, {s}, {y[n]}, none)); }`
	y := []float64{0.5, 1, 2, 3.25, 7, 9.5}
	m := boundText(t, text, map[string]any{"N": len(y), "y": y})
	e, err := m.Explain([]float64{math.Log(0.3)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"cosh", "sinh", "sigmoid", "scan"} {
		if strings.Contains(e.Text, op) {
			t.Errorf("the program computes a %s", op)
		}
	}
	for _, s := range []float64{1, 0.3, 0.15} {
		want, slope := math.Log(s), 1.0 // with the Jacobian
		for _, y := range y {
			a, b := -y/s, (10-y)/s
			mass := (math.Erf(b/math.Sqrt2) - math.Erf(a/math.Sqrt2)) / 2
			density := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
			want += math.Log(mass * s * math.Sqrt(2*math.Pi))
			slope += 1 - (b*density(b)-a*density(a))/mass
		}
		grad := []float64{0}
		got, err := m.LogDensityGrad([]float64{math.Log(s)}, grad)
		if err != nil || !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) || !(math.Abs(grad[0]-slope) <= 1e-7*(1+math.Abs(slope))) {
			t.Errorf("at %g: %.12g and %.12g (%v), want %.12g and %.12g", s, got, grad[0], err, want, slope)
		}
	}
}

// TestSubjects checks solutions for several subjects, each with its own steps. They must equal the
// solutions for one subject after another. States written out as scalars must give the same
// solutions as arrays.
func TestSubjects(t *testing.T) {
	short.Skip(t, "ten programs are compiled; TestSolvers is left")
	const text = `functions {
  vector f(real t, vector y, real k, real m) { return [-k * y[1], k * y[1] - m * y[2] / (0.5 + y[2])]'; }
}
data { int S; vector[S] z; array[S] vector[3] c; }
parameters { real k; real m; real<lower=0> sigma; }
model {
  for (s in 1:S) {
    array[3] vector[2] y = ode_rk45(f, [2, 0]', 0, {0.5, 2, 7}, exp(k + z[s]), exp(m - 0.5 * z[s]));
    for (i in 1:3) c[s][i] ~ normal(y[i][2], sigma);
  }
}`
	z := []float64{-1.5, 0.2, 2.5, 0, -0.4, 0.9, 3, 0.1, -2}
	c := make([][]float64, len(z))
	for i := range c {
		c[i] = []float64{0.1 * float64(i), 0.7, 0.3}
	}
	subjects := func(from, to int, without ...string) *Model {
		return boundWith(t, text, map[string]any{"S": to - from, "z": z[from:to], "c": c[from:to]}, BindOptions{Without: without})
	}
	all, arrays := subjects(0, len(z)), subjects(0, len(z), "scalars")
	x := []float64{0.1, -0.3, -0.2}
	e, err := all.Explain(x, 0)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(e.Text, "map 2") {
		t.Error("there is a loop over two states")
	}
	grad, by, one := make([]float64, 3), make([]float64, 3), make([]float64, 3)
	lp, err := all.LogDensityGrad(x, grad)
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, lp2 float64, grad2 []float64, err error) {
		t.Helper()
		if err != nil || !(math.Abs(lp-lp2) <= 1e-10*math.Abs(lp)) {
			t.Errorf("%s: %.17g (%v), want %.17g", what, lp2, err, lp)
		}
		for i, v := range grad2 {
			if !(math.Abs(v-grad[i]) <= 1e-9*(1+math.Abs(v))) {
				t.Errorf("%s: derivative %d is %.17g, want %.17g", what, i, v, grad[i])
			}
		}
	}
	lp2, err := arrays.LogDensityGrad(x, by)
	same("as arrays", lp2, by, err)
	lp2 = x[2] // computes the Jacobian once, not for each
	clear(by)
	by[2] = 1
	for s := range z {
		v, err := subjects(s, s+1).LogDensityGrad(x, one)
		if err != nil {
			t.Fatal(err)
		}
		lp2 += v - x[2]
		for i := range by {
			by[i] += one[i]
		}
		by[2]--
	}
	same("one by one", lp2, by, nil)
}

// algebraicSystems have several solutions, or none.
const algebraicSystems = `functions {
  vector square_root(vector x, vector theta, array[] real xr, array[] int xi) { return [square(x[1]) - theta[1]]'; }
  vector pair(vector x, vector theta, array[] real xr, array[] int xi) {
    return [x[1] + theta[1] * exp(x[2]) - 2, x[2] * (1 + square(x[1])) - theta[2]]';
  }
  vector cubic(vector x, real a) { return [x[1]^3 - 3 * x[1] + a]'; }
  vector valley(vector x, real a, real b) { return [10 * (x[2] - square(x[1])), a - x[1] + 0.1 * b * sin(3 * x[2])]'; }
  vector bent(vector x, real a, real b) {
    return [-13 * a + x[1] + ((5 - x[2]) * x[2] - 2) * x[2], -29 * b + x[1] + ((x[2] + 1) * x[2] - 14) * x[2]]';
  }
  vector three(vector x, real a, real b) {
    return [exp(-x[1]) + x[1] * x[2] - a, x[1] * sin(x[2]) + x[2]^3 - b, x[3] - x[1] * x[2] * a]';
  }
  vector chain(vector x, vector q) {
    int n = num_elements(x);
    vector[n] r;
    for (i in 1:n) r[i] = (3 - 2 * x[i]) * x[i] - (i > 1 ? x[i-1] : 0) - 2 * (i < n ? x[i+1] : 0) + q[1 + i % 2];
    return r;
  }
}
`

// TestPowell checks that Powell's hybrid method finds the same solution as Stan where there are
// several, and fails where Stan fails. The log densities are from Stan 2.32.2; NaN marks a point
// that Stan rejects.
func TestPowell(t *testing.T) {
	const text = algebraicSystems + `data { int w; vector[2] g; }
parameters { real<lower=0> a; real<lower=0> b; }
model {
  a ~ lognormal(0, 1);
  b ~ lognormal(0, 1);
  if (w == 1) target += sum(algebra_solver(pair, g, [a, b]', {0.0}, {0}));
  if (w == 2) target += algebra_solver(square_root, g[1:1], [a]', {0.0}, {0})[1];
  if (w == 3) target += solve_powell(cubic, g[1:1], a)[1];
  if (w == 4) target += sum(solve_powell(valley, g, a, b));
  if (w == 5) target += sum(solve_powell(bent, g, a, b));
  if (w == 7) target += sum(solve_powell(three, append_row(g, 0.5), a, b));
}`
	for _, c := range []struct {
		system   int
		guess, x [2]float64
		want     float64
	}{
		{1, [2]float64{-1.2, 1}, [2]float64{1.956591055648798, -1.366195948292467}, -9.817209450059314},
		{1, [2]float64{0.5, 0.5}, [2]float64{1.20066474681486, 0.0927929717535112}, -4.438602854575423},
		{1, [2]float64{0.5, 0.5}, [2]float64{1.956591055648798, -1.366195948292467}, math.NaN()},
		{1, [2]float64{0, 0}, [2]float64{1.20066474681486, 0.0927929717535112}, -4.438602854575444},
		{2, [2]float64{-1.2, 1}, [2]float64{1.956591055648798, -1.366195948292467}, -7.345165649124002},
		{2, [2]float64{0.5, 0.5}, [2]float64{1.956591055648798, -1.366195948292467}, -2.025328411870319},
		{2, [2]float64{0, 0}, [2]float64{1.956591055648798, -1.366195948292467}, -2.025328411870319},
		{3, [2]float64{-1.2, 1}, [2]float64{1.956591055648798, -1.366195948292467}, -7.116351447473988},
		{3, [2]float64{0.5, 0.5}, [2]float64{-1.8661467978784971, -1.547556647052505}, -4.724976051649468},
		{3, [2]float64{0.5, 0.5}, [2]float64{1.956591055648798, -1.366195948292467}, math.NaN()},
		{3, [2]float64{0, 0}, [2]float64{-1.8661467978784971, -1.547556647052505}, -4.724976051649468},
		{4, [2]float64{-1.2, 1}, [2]float64{1.956591055648798, -1.366195948292467}, 52.065080317894214},
		{4, [2]float64{-1.2, 1}, [2]float64{-0.3767249869668041, 1.5488849655676895}, math.NaN()},
		{4, [2]float64{0.5, 0.5}, [2]float64{1.956591055648798, -1.366195948292467}, 52.06508031789376},
		{4, [2]float64{0, 0}, [2]float64{1.956591055648798, -1.366195948292467}, 52.06508031789383},
		{5, [2]float64{-1.2, 1}, [2]float64{1.20066474681486, 0.0927929717535112}, 40.28893539614406},
		{5, [2]float64{-1.2, 1}, [2]float64{1.956591055648798, -1.366195948292467}, math.NaN()},
		{5, [2]float64{0.5, 0.5}, [2]float64{1.20066474681486, 0.0927929717535112}, 40.288935396144055},
		{5, [2]float64{0, 0}, [2]float64{1.20066474681486, 0.0927929717535112}, 40.28893539614405},
		{7, [2]float64{-1.2, 1}, [2]float64{1.956591055648798, -1.366195948292467}, -28.088638588440887},
		{7, [2]float64{-1.2, 1}, [2]float64{-0.3767249869668041, 1.5488849655676895}, math.NaN()},
		{7, [2]float64{0.5, 0.5}, [2]float64{-0.4148500779326558, -0.5835076720769661}, 0.7028158066494312},
		{7, [2]float64{0, 0}, [2]float64{1.956591055648798, -1.366195948292467}, 5.133589909751565},
	} {
		m := boundText(t, text, map[string]any{"w": c.system, "g": c.guess[:]})
		got, err := m.LogDensityGrad(c.x[:], make([]float64, 2))
		switch {
		case math.IsNaN(c.want) && err == nil:
			t.Errorf("system %d from %v at %v: %.10g, but Stan rejects it", c.system, c.guess, c.x, got)
		case !math.IsNaN(c.want) && !(math.Abs(got-c.want) <= 1e-7*max(1, math.Abs(c.want))):
			t.Errorf("system %d from %v at %v: %.10g (%v), want %.10g", c.system, c.guess, c.x, got, err, c.want)
		}
	}
}

// TestNewton does the same for Newton's method, whose steps and stopping rules are those of KINSOL.
// With a looser step tolerance it continues where it fails with a tighter one.
func TestNewton(t *testing.T) {
	const text = algebraicSystems + `data { int w; int n; vector[n] g; real scale; }
parameters { real<lower=0> a; real<lower=0> b; }
transformed parameters {
  real v = 0;
  if (w == 1) v = sum(algebra_solver_newton(pair, g, [a, b]', {0.0}, {0}));
  if (w == 2) v = algebra_solver_newton(square_root, g[1:1], [a]', {0.0}, {0}, scale, 1e-6, 200)[1];
  if (w == 3) v = solve_newton(cubic, g[1:1], a)[1];
  if (w == 4) v = sum(solve_newton(valley, g, a, b));
  if (w == 5) v = sum(solve_newton_tol(bent, g, scale, 1e-6, scale < 1e-3 ? 10 : 200, a, b));
  if (w == 7) v = sum(solve_newton(three, g, a, b));
  if (w == 8) v = sum(solve_newton_tol(chain, g, scale, scale < 1e-3 ? 1e-9 : 1e-6, 20, [a, b]'));
}
model { target += v; }`
	points := [][2]float64{
		{-0.029876053627592426, -0.061538148189122316},
		{-0.3498918419801721, 0.06634606669314047},
		{-0.922858846897161, -0.6416637853315157},
		{1.5468269545363484, -0.678930116593464},
		{0.3048034972093956, -1.4947467535706642},
		{1.930032356152465, -0.1304316485869923},
		{-0.6132073170921248, 1.474503473773564},
	}
	type trial struct {
		system int
		guess  []float64
		scale  float64
		point  int
		want   float64 // the sum of the solution in Stan 2.32.2; NaN if Stan rejects
	}
	for _, c := range short.Every(4, []trial{
		{1, []float64{5, -3}, 0.001, 2, 1.6919727075375737},
		{1, []float64{5, -3}, 0.001, 3, -2.896451089346513},
		{1, []float64{1, 1}, 0.001, 2, math.NaN()},
		{2, []float64{-1.2, 1}, 0.001, 1, -0.839502512461449},
		{2, []float64{0, 0}, 0.001, 1, math.NaN()},
		{3, []float64{-1.2, 1}, 0.001, 3, math.NaN()},
		{3, []float64{-1.2, 1}, 0.001, 4, -1.9247573151259783},
		{3, []float64{0.5, 0.5}, 0.001, 5, -2.4184374934647597},
		{3, []float64{0, 0}, 0.001, 3, math.NaN()},
		{4, []float64{0.5, 0.5}, 0.001, 3, math.NaN()},
		{4, []float64{0.5, 0.5}, 0.001, 6, 1.6332956516241413},
		{4, []float64{-1.2, 1}, 0.001, 6, math.NaN()},
		{4, []float64{5, -3}, 0.001, 3, 26.710887099588728},
		{5, []float64{5, -3}, 0.001, 3, -12.902016386441133},
		{5, []float64{5, -3}, 0.001, 4, -20.175581109155107},
		{5, []float64{5, -3}, 0.001, 6, math.NaN()},
		{5, []float64{-40, 70}, 0.001, 0, 8.33405688532525},
		{5, []float64{-40, 70}, 0.001, 6, 30.72697059732947},
		{7, []float64{-1.2, 1, 0.5}, 0.001, 0, math.NaN()},
		{7, []float64{-1.2, 1, 0.5}, 0.001, 3, -13.338475380399993},
		{7, []float64{0.5, 0.5, 0.5}, 0.001, 0, 4.3588104269855785},
		{7, []float64{5, -3, 10}, 0.001, 3, 2.3647441902200685},
		{8, []float64{-1.2, 1, 0.5}, 0.001, 3, -2.2573614072620476},
		{8, []float64{-1.2, 1, 0.5}, 0.001, 4, math.NaN()},
		{8, []float64{0.5, 0.5, 0.5}, 0.001, 3, 3.316991977952629},
		{8, []float64{0, 0, 0}, 0.001, 3, -2.2573613836597874},
		{8, []float64{0, 0, 0}, 1e-09, 3, math.NaN()},
		{8, []float64{0, 0, 0}, 1e-09, 4, -1.0931348732934312},
		{8, []float64{-1.2, 1, 0.5}, 0.001, 6, 1.2539426994128626},
		{8, []float64{-1.2, 1, 0.5}, 1e-09, 6, math.NaN()},
		{5, []float64{5, -3}, 1e-09, 4, math.NaN()},
	}) {
		m := boundText(t, text, map[string]any{"w": c.system, "n": len(c.guess), "g": c.guess, "scale": c.scale})
		x, out := points[c.point], make([]float64, 3)
		switch err := m.Constrain(x[:], out); {
		case math.IsNaN(c.want) && err == nil:
			t.Errorf("system %d from %v at %v: %.10g, but Stan rejects it", c.system, c.guess, x, out[2])
		case !math.IsNaN(c.want) && !(err == nil && math.Abs(out[2]-c.want) <= 1e-6*max(1, math.Abs(c.want))):
			t.Errorf("system %d from %v at %v: %.10g (%v), want %.10g", c.system, c.guess, x, out[2], err, c.want)
		}
	}
}

// TestSolverTolerances checks that invalid tolerances and maximal numbers of steps are rejected,
// even if the guess solves the equations.
func TestSolverTolerances(t *testing.T) {
	const text = `functions { vector f(vector y, real a) { return [a * y[1]]'; } }
data { int w; real step; real tolerance; int most; }
parameters { real a; }
transformed parameters {
  real v = 0;
  if (w == 1) v = solve_newton_tol(f, [0]', step, tolerance, most, a)[1];
  if (w == 2) v = solve_powell_tol(f, [0]', step, tolerance, most, a)[1];
}`
	for w := range 2 {
		for _, c := range []struct {
			step, tolerance any
			most            int
			fits            bool
		}{
			{0, 0, 2, true},
			{1e-3, 1e-6, 200, true},
			{1e300, "Infinity", math.MaxInt32, true},
			{-1e-3, 1e-6, 200, false},
			{1e-3, -1e-6, 200, false},
			{"NaN", 1e-6, 200, false},
			{1e-3, "NaN", 200, false},
			{1e-3, 1e-6, 0, false},
			{1e-3, 1e-6, -5, false},
		} {
			m := boundText(t, text, map[string]any{"w": w + 1, "step": c.step, "tolerance": c.tolerance, "most": c.most})
			if err := m.Constrain([]float64{0.5}, make([]float64, 2)); (err == nil) != c.fits {
				t.Errorf("method %d: %v: %v", w+1, c, err)
			}
		}
	}
}
