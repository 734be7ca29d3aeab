package compile

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// boundText returns a program bound to data.
func boundText(t testing.TB, text string, values map[string]any) *Model {
	t.Helper()
	return boundWith(t, text, values, BindOptions{})
}

// boundWith is boundText with options.
func boundWith(t testing.TB, text string, values map[string]any, o BindOptions) *Model {
	t.Helper()
	prog, list := Compile(source.NewFile("m.model", text))
	if prog == nil {
		t.Fatal(list[0])
	}
	raw, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	set, err := data.ParseJSON("data", raw)
	if err != nil {
		t.Fatal(err)
	}
	m, err := prog.Bind(set, o)
	if err != nil {
		t.Fatal(err)
	}
	if w := m.Work(); !(w >= 0) || math.IsInf(w, 1) {
		t.Errorf("the work of an evaluation is %v", w)
	}
	return m
}

// metricAt returns a metric at x.
func metricAt(t testing.TB, metric func(x, g []float64) error, x []float64) []float64 {
	t.Helper()
	g := make([]float64, len(x)*len(x))
	if err := metric(x, g); err != nil {
		t.Fatal(err)
	}
	return g
}

// checkTraceGrad compares the gradient of tr(A·G) with differences of G at x.
func checkTraceGrad(t *testing.T, name string, metric func(x, g []float64) error, traceGrad func(x, a, grad []float64) error, x []float64) {
	t.Helper()
	n := len(x)
	a, grad := make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = math.Cos(float64(3*i + 7*j))
			a[j*n+i] = a[i*n+j]
		}
	}
	if err := traceGrad(x, a, grad); err != nil {
		t.Fatal(err)
	}
	const step = 1e-4
	for k := range n {
		slope, size := 0.0, 1.0
		for _, c := range [][2]float64{{-2, 1. / 12}, {-1, -8. / 12}, {1, 8. / 12}, {2, -1. / 12}} {
			moved := append([]float64(nil), x...)
			moved[k] += c[0] * step
			for i, v := range metricAt(t, metric, moved) {
				slope += c[1] * a[i] * v / step
				size += math.Abs(a[i] * v)
			}
		}
		// Differences of order 4 lose about 1e-16/step of the sum's terms.
		if !(math.Abs(grad[k]-slope) <= 1e-10*size+1e-7*math.Abs(slope)) {
			t.Errorf("%s: derivative %d of tr(A·G) is %v, by differences %v", name, k, grad[k], slope)
		}
	}
}

// isPositive reports whether a matrix has a Cholesky factor.
func isPositive(g []float64, n int) bool {
	var c mat.Cholesky
	return c.Factorize(mat.NewSymDense(n, g))
}

func isSymmetric(g []float64, n int) bool {
	for i := range n {
		for j := range i {
			if math.Abs(g[i*n+j]-g[j*n+i]) > 1e-12*(math.Abs(g[i*n+i])+math.Abs(g[j*n+j])) {
				return false
			}
		}
	}
	return true
}

const regressionHead = `data { int N, D; array[N] int<lower=0, upper=1> y; matrix[N, D] x; }
parameters { vector[D] beta; }
model { beta ~ normal(0, 2.5); `

// regressions are ways to write the same logistic regression.
var regressions = map[string]string{
	"loop":             `for (n in 1:N) y[n] ~ bernoulli_logit(x[n] * beta); }`,
	"loop with a dot":  `for (n in 1:N) { real eta = 0; eta = dot_product(x[n], beta); target += bernoulli_logit_lpmf(y[n] | eta); } }`,
	"vectorised":       `y ~ bernoulli_logit(x * beta); }`,
	"glm":              `y ~ bernoulli_logit_glm(x, 0, beta); }`,
	"inv_logit":        `y ~ bernoulli(inv_logit(x * beta)); }`,
	"inv_logit, loop":  `for (n in 1:N) y[n] ~ bernoulli(inv_logit(x[n] * beta)); }`,
	"sum of a vector":  `vector[N] lp; for (n in 1:N) lp[n] = bernoulli_logit_lupmf(y[n] | x[n] * beta); target += sum(lp); }`,
	"binomial, halved": `target += 0.5 * binomial_logit_lpmf(y | 2, x * beta); }`,
}

// TestFisherLogistic checks that the metric of a logistic regression is XᵀΛX plus the precision of
// the prior, in every spelling of the model.
func TestFisherLogistic(t *testing.T) {
	const N, D = 23, 4
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := make([][]float64, N), make([]int, N)
	for n := range x {
		y[n] = rng.IntN(2)
		for range D {
			x[n] = append(x[n], rng.NormFloat64())
		}
	}
	for name, text := range regressions {
		m := boundText(t, regressionHead+text, map[string]any{"N": N, "D": D, "y": y, "x": x})
		if out, err := m.FisherLeftOut(); err != nil || len(out) > 0 {
			t.Errorf("%s: left out %v, %v", name, out, err)
		}
		beta := make([]float64, D)
		for range 3 {
			want := make([]float64, D*D)
			for i := range D {
				beta[i] = 2 * rng.NormFloat64()
				want[i*D+i] = 1 / (2.5 * 2.5)
			}
			for n := range N {
				eta := 0.
				for i := range D {
					eta += x[n][i] * beta[i]
				}
				w := 1 / (1 + math.Exp(-eta)) / (1 + math.Exp(eta))
				for i := range D {
					for j := range D {
						want[i*D+j] += w * x[n][i] * x[n][j]
					}
				}
			}
			for i, v := range metricAt(t, m.FisherMetric, beta) {
				if !(math.Abs(v-want[i]) <= 1e-10*math.Max(1, math.Abs(want[i]))) {
					t.Errorf("%s: element %d is %v, want %v", name, i, v, want[i])
				}
			}
		}
		checkTraceGrad(t, name, m.FisherMetric, m.FisherTraceGrad, beta)
	}
}

// A fisherCase is a model whose metric must be positive definite.
type fisherCase struct {
	name, text string
	data       map[string]any
	left       []string // expected parts of the report of FisherLeftOut
	spread     float64  // spread of the points, on the unconstrained scale; 0: 3
}

func fisherCases() []fisherCase {
	schools := map[string]any{"J": 8, "y": []float64{28, 8, -3, 7, -1, 1, 18, 12}, "sigma": []float64{15, 10, 16, 11, 9, 11, 10, 18}}
	rng := rand.New(rand.NewPCG(5, 6))
	normals := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	counts := func(n, most int) []int {
		v := make([]int, n)
		for i := range v {
			v[i] = 1 + i%most
		}
		return v
	}
	unit := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.Float64()
		}
		return v
	}
	return []fisherCase{
		{name: "eight schools", data: schools, text: `data { int J; array[J] real y; array[J] real<lower=0> sigma; }
parameters { real mu; real<lower=0> tau; array[J] real theta; }
model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, sigma); }`},
		{name: "eight schools, not centred", data: schools, text: `data { int J; array[J] real y; array[J] real<lower=0> sigma; }
parameters { real mu; real<lower=0> tau; vector[J] eta; } transformed parameters { vector[J] theta = mu + tau * eta; }
model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); eta ~ std_normal(); for (j in 1:J) y[j] ~ normal(theta[j], sigma[j]); }`},
		{name: "stochastic volatility", data: map[string]any{"T": 8, "y": normals(8)}, text: `data { int T; vector[T] y; }
parameters { real mu; real<lower=-1, upper=1> phi; real<lower=0> sigma; vector[T] h; }
model { phi ~ uniform(-1, 1); sigma ~ cauchy(0, 5); mu ~ cauchy(0, 10); h[1] ~ normal(mu, sigma / sqrt(1 - phi * phi));
  for (t in 2:T) h[t] ~ normal(mu + phi * (h[t - 1] - mu), sigma);
  for (t in 1:T) y[t] ~ normal(0, exp(h[t] / 2)); }`},
		{name: "stochastic volatility, not centred", data: map[string]any{"T": 20, "y": normals(20)}, text: `data { int T; vector[T] y; }
parameters { real mu; real<lower=-1, upper=1> phi; real<lower=0> sigma; vector[T] z; }
transformed parameters { vector[T] h = z * sigma; h[1] /= sqrt(1 - phi * phi); h += mu; for (t in 2:T) h[t] += phi * (h[t - 1] - mu); }
model { phi ~ uniform(-1, 1); sigma ~ cauchy(0, 5); mu ~ cauchy(0, 10); z ~ std_normal(); y ~ normal(0, exp(h / 2)); }`, spread: 1.5},
		{name: "hierarchical regression", data: map[string]any{"N": 30, "J": 6, "g": counts(30, 6), "x": normals(30), "y": normals(30)}, text: `data { int N, J; array[N] int g; vector[N] x, y; }
parameters { vector[J] a; real b, mu; real<lower=0> s, tau; }
model { mu ~ normal(0, 1); tau ~ gamma(2, 1); b ~ student_t(4, 0, 1); s ~ exponential(1); a ~ normal(mu, tau);
  for (n in 1:N) y[n] ~ normal(a[g[n]] + b * x[n], s); }`},
		{name: "garch", data: map[string]any{"T": 30, "y": normals(30)}, text: `data { int T; vector[T] y; }
parameters { real mu; real<lower=0> alpha0; real<lower=0, upper=1> alpha1; real<lower=0, upper=(1 - alpha1)> beta1; }
model { array[T] real sigma; sigma[1] = 1;
  for (t in 2:T) sigma[t] = sqrt(alpha0 + alpha1 * square(y[t - 1] - mu) + beta1 * square(sigma[t - 1]));
  y ~ normal(mu, sigma); }`},
		{name: "recurrence with statements inside", data: map[string]any{"T": 12, "y": normals(12)}, text: `data { int T; vector[T] y; }
parameters { real a; real<lower=0> s; }
model { real h = 0; a ~ normal(0, 1); for (t in 1:(T - 1)) { h = a * h + y[t]; y[t + 1] ~ normal(h, s); } }`},
		{name: "poisson", data: map[string]any{"N": 9, "y": counts(9, 4), "x": normals(9)}, text: `data { int N; array[N] int y; vector[N] x; }
parameters { real a, b; } model { a ~ normal(0, 3); b ~ normal(0, 3); y ~ poisson_log(a + b * x); for (n in 1:N) y[n] ~ poisson(exp(a)); }`},
		{name: "gamma and beta", data: map[string]any{"N": 9, "y": unit(9), "x": normals(9)}, text: `data { int N; vector[N] y, x; }
parameters { real a, b; real<lower=0> k; } model { k ~ lognormal(0, 1); a ~ normal(0, 3); b ~ normal(0, 3);
  y ~ gamma(k, k * exp(a + b * x)); y ~ beta_proportion(inv_logit(a + b * x), k); }`, spread: 2},
		{name: "binomial with weights", data: map[string]any{"N": 6, "y": counts(6, 3), "w": unit(6)}, text: `data { int N; array[N] int y; vector[N] w; }
parameters { real<lower=0, upper=1> p; } model { for (n in 1:N) target += w[n] * binomial_lpmf(y[n] | 4, p); }`},
		{name: "half of a mixture", data: map[string]any{"N": 5, "y": normals(5)}, text: `data { int N; vector[N] y; }
parameters { ordered[2] mu; real<lower=0, upper=1> p; }
model { mu ~ normal(0, 3); p ~ beta(2, 2);
  for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | mu[1], 1), normal_lpdf(y[n] | mu[2], 1));
  target += -square(mu[1]);
  if (mu[1] > 0) y ~ normal(mu[1], 1);
}`, left: []string{"line 4: normal_lpdf enters", "line 6: it stands"}},
		{name: "gaussian process", data: map[string]any{"N": 6, "y": normals(6), "x": normals(6)}, text: `data { int N; vector[N] y; array[N] real x; }
parameters { real<lower=0> rho, alpha, s; real m; } model { rho ~ inv_gamma(5, 5); alpha ~ lognormal(0, 1); s ~ exponential(1); m ~ normal(0, 2);
  matrix[N, N] K = gp_exp_quad_cov(x, alpha, rho);
  for (n in 1:N) K[n, n] += square(s) + 1e-3;
  y ~ multi_normal(rep_vector(m, N), K); }`, spread: 1},
		{name: "latent gaussian process", data: map[string]any{"N": 5, "y": counts(5, 3), "x": normals(5)}, text: `data { int N; array[N] int y; array[N] real x; }
parameters { real<lower=0> rho, alpha; vector[N] f; } model { rho ~ inv_gamma(5, 5); alpha ~ lognormal(0, 1);
  f ~ multi_normal_cholesky(rep_vector(0, N), cholesky_decompose(add_diag(gp_exp_quad_cov(x, alpha, rho), 1e-2)));
  y ~ poisson_log(f); }`, spread: 1},
		{name: "vectors", data: map[string]any{"N": 7, "K": 2, "y": [][]float64{normals(2), normals(2), normals(2), normals(2), normals(2), normals(2), normals(2)}},
			text: `data { int N, K; array[N] vector[K] y; }
parameters { vector[K] m; cov_matrix[K] S; vector<lower=0>[K] d; vector[K] z; }
model { y ~ multi_normal(m, S); for (n in 1:N) target += 0.5 * multi_normal_prec_lpdf(y[n] | m, diag_matrix(d)); z ~ multi_normal(m, S); }`, spread: 1},
		{name: "squares", data: map[string]any{"N": 5, "a": []int{1, 2, 3, 4}, "b": []int{2, 3, 4, 5}}, text: `data { int N; array[N - 1] int a, b; }
parameters { vector[N] f, g; real<lower=0> s; }
model { s ~ exponential(1); target += -0.5 * dot_self(f[a] - f[b]); target += -square(sum(f)) / s; sum(f) ~ normal(0, 1);
  target += square(f[1]) - 3 * square(f[1]); g[1] ~ normal(0, 1);
  for (n in 1:N) { real d = g[n] - f[n]; target += -0.25 * square(d); }
}`, left: []string{"line 3: it is not"}},
		{name: "own functions", data: map[string]any{"N": 5, "y": normals(5)}, text: `functions { real both_lpdf(vector y, real m, real s) { return normal_lpdf(y | m, s) + exponential_lpdf(s | 1); } }
data { int N; vector[N] y; } parameters { real m; real<lower=0> s; } model { y ~ both(m, s); m ~ normal(0, 1) T[-3, ]; }`},
	}
}

// TestFisherModels checks metrics at points near and far: that they are positive definite, the
// gradient of the trace by differences, and the parts left out.
func TestFisherModels(t *testing.T) {
	for _, c := range fisherCases() {
		m := boundText(t, c.text, c.data)
		left, err := m.FisherLeftOut()
		if err != nil {
			t.Fatal(err)
		}
		if len(left) != len(c.left) {
			t.Errorf("%s: left out %v, want %d", c.name, left, len(c.left))
		}
		for i := range min(len(left), len(c.left)) {
			if !strings.HasPrefix(left[i].String(), c.left[i]) {
				t.Errorf("%s: left out %q, want %q", c.name, left[i], c.left[i])
			}
		}
		rng := rand.New(rand.NewPCG(1, 2))
		n := m.Dim()
		x := make([]float64, n)
		spread := c.spread
		if spread == 0 {
			spread = 3
		}
		for k := range 40 {
			for i := range x {
				x[i] = spread * rng.NormFloat64() * float64(k+1) / 40
			}
			g := metricAt(t, m.FisherMetric, x)
			if !isSymmetric(g, n) || !isPositive(g, n) {
				t.Fatalf("%s: the metric at %v is not symmetric and positive definite: %v", c.name, x, g)
			}
		}
		for i := range x {
			x[i] = 0.4 * rng.NormFloat64()
		}
		checkTraceGrad(t, c.name, m.FisherMetric, m.FisherTraceGrad, x)
	}
}

// TestFisherSquares checks that a square subtracted from the log density counts as a normal density
// with the right weight, whatever else its statement contains. Other terms of the statement are
// left out.
func TestFisherSquares(t *testing.T) {
	const head = `data { vector[3] c; } parameters { vector[3] x; real y; } model { x ~ normal(0, 2); y ~ normal(0, 2); `
	data := map[string]any{"c": []float64{1, 2, 3}}
	at := []float64{0.3, -0.4, 1.1, 0.7}
	for _, pair := range [][2]string{
		{"target += -0.5 * dot_self(x - c * y);", "x ~ normal(c * y, 1);"},
		{"target += -square(x[1] - y) + 4;", "x[1] ~ normal(y, sqrt(0.5));"},
		{"for (i in 1:3) target += -c[i] * square(x[i] * y);", "for (i in 1:3) 0 ~ normal(x[i] * y, sqrt(0.5 / c[i]));"},
		{"target += square(x[1]) - exp(y) * square(x[2]) - square(square(x[3])) - 2 * dot_self(x);", "0 ~ normal(square(x[3]), sqrt(0.5)); x ~ normal(0, 0.5);"},
	} {
		got, want := boundText(t, head+pair[0]+"}", data), boundText(t, head+pair[1]+"}", data)
		g, w := metricAt(t, got.FisherMetric, at), metricAt(t, want.FisherMetric, at)
		for i := range w {
			if math.Abs(g[i]-w[i]) > 1e-12*(1+math.Abs(w[i])) {
				t.Errorf("%s: element %d is %v, want %v", pair[0], i, g[i], w[i])
			}
		}
		left, err := got.FisherLeftOut()
		if more := strings.Contains(pair[0], "exp(y)"); err != nil || len(left) > 0 != more {
			t.Errorf("%s: %v is left out, %v", pair[0], left, err)
		}
	}
}

// TestFisherOfLeaves checks that parameters with several leaves, such as tuples and complex
// numbers, have the metric of the same model with separate scalars.
func TestFisherOfLeaves(t *testing.T) {
	const model = "model { Z ~ normal(0, 2); target += -0.5 * square(X - Y); W ~ normal(X, exp(Y)); }"
	plain := boundText(t, "parameters { real a; real b; real c; real d; }"+strings.NewReplacer("Z", "a", "X", "b", "Y", "c", "W", "d").Replace(model), map[string]any{})
	at := []float64{0.3, -0.4, 0.5, 0.7}
	want := metricAt(t, plain.FisherMetric, at)
	for _, c := range []struct{ declared, names string }{
		{"tuple(tuple(real, real), real, real) x;", "Z x.1.1 X x.1.2 Y x.2 W x.3"},
		{"complex z; complex w;", "Z get_real(z) X get_imag(z) Y get_real(w) W get_imag(w)"},
	} {
		m := boundText(t, "parameters { "+c.declared+" }"+strings.NewReplacer(strings.Fields(c.names)...).Replace(model), map[string]any{})
		got := metricAt(t, m.FisherMetric, at)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-12*(1+math.Abs(want[i])) {
				t.Errorf("%s: element %d is %v, want %v", c.declared, i, got[i], want[i])
			}
		}
		few := boundText(t, "parameters { "+c.declared+" } model { target += "+strings.NewReplacer(strings.Fields(c.names)...).Replace("-square(Z)")+"; }", map[string]any{})
		if _, err := few.Map(); err != nil {
			t.Errorf("%s: %v", c.declared, err)
		}
	}
}

// TestFisherAlong checks products with a vector against the matrix, and the gradient of uᵀGu
// against the gradient of the trace with the outer product of u.
func TestFisherAlong(t *testing.T) {
	for _, c := range fisherCases() {
		m := boundText(t, c.text, c.data)
		n := m.Dim()
		rng := rand.New(rand.NewPCG(3, 4))
		x, u, outer := make([]float64, n), make([]float64, n), make([]float64, n*n)
		for i := range n {
			x[i], u[i] = 0.4*rng.NormFloat64(), rng.NormFloat64()
		}
		for i := range outer {
			outer[i] = u[i/n] * u[i%n]
		}
		g, want := metricAt(t, m.FisherMetric, x), make([]float64, n)
		for i, v := range g {
			want[i/n] += v * u[i%n]
		}
		gradient := make([]float64, n)
		if err := m.FisherTraceGrad(x, outer, gradient); err != nil {
			t.Fatal(err)
		}
		for _, whole := range []bool{true, false} {
			for what, f := range map[string]func(bool, []float64, []float64, []float64) error{"product": m.FisherTimes, "gradient": m.FisherSquareGrad} {
				got, right := make([]float64, n), want
				if what == "gradient" {
					right = gradient
				}
				if err := f(whole, x, u, got); err != nil {
					t.Fatal(err)
				}
				for i, v := range right {
					if !(math.Abs(got[i]-v) <= 1e-10*(1+math.Abs(v))) {
						t.Errorf("%s: element %d of the %s is %v, want %v", c.name, i, what, got[i], v)
					}
				}
			}
		}
	}
}

// TestFisherMultiNormal checks that each vector contributes ∂μᵀΣ⁻¹∂μ + ½ tr(Σ⁻¹∂ΣΣ⁻¹∂Σ), in all
// parametrisations.
func TestFisherMultiNormal(t *testing.T) {
	const head = `data { int N; array[N] vector[2] y; }
parameters { vector[2] m; real s, r, q; } // Σ = A Aᵀ, A = [s, 0; r, q]
transformed parameters { matrix[2, 2] A = [[s, 0], [r, q]]; matrix[2, 2] S = tcrossprod(A); }
model { `
	y := [][]float64{{1, 2}, {0, 1}, {-1, 0.5}}
	x := []float64{0.3, -0.2, 0.8, 0.5, 1.3}
	s, r, q := x[2], x[3], x[4]
	sigma := mat.NewDense(2, 2, []float64{s * s, s * r, s * r, r*r + q*q})
	var inverse mat.Dense
	if err := inverse.Inverse(sigma); err != nil {
		t.Fatal(err)
	}
	by := [][]float64{nil, nil, {2 * s, r, r, 0}, {0, s, s, 2 * r}, {0, 0, 0, 2 * q}}
	want := make([]float64, 25)
	for i := range 5 {
		for j := range 5 {
			switch {
			case i < 2 && j < 2:
				want[i*5+j] = 3 * inverse.At(i, j)
			case i >= 2 && j >= 2:
				var a, b, c mat.Dense
				a.Mul(&inverse, mat.NewDense(2, 2, by[i]))
				b.Mul(&inverse, mat.NewDense(2, 2, by[j]))
				c.Mul(&a, &b)
				want[i*5+j] = 1.5 * mat.Trace(&c)
			}
		}
	}
	for _, text := range []string{
		`y ~ multi_normal(m, S); }`,
		`y ~ multi_normal_cholesky(m, A); }`,
		`y ~ multi_normal_prec(m, inverse_spd(S)); }`,
		`for (n in 1:N) y[n] ~ multi_normal(m, S); }`,
		`for (n in 1:N) target += multi_normal_lpdf({y[n], y[n]} | m, S) / 2; }`,
	} {
		m := boundText(t, head+text, map[string]any{"N": 3, "y": y})
		for i, v := range metricAt(t, m.FisherMetric, x) {
			if math.Abs(v-want[i]) > 1e-11*(1+math.Abs(want[i])) {
				t.Errorf("%s: element %d is %v, want %v", text, i, v, want[i])
			}
		}
	}
}

// TestUserMetric checks the metric of a program's function of the model's variables, and the
// messages about wrong functions.
func TestUserMetric(t *testing.T) {
	const rest = `data { int N; vector[N] x; } parameters { vector[2] b; real<lower=0> s; } transformed parameters { real v = square(s); }
model { b ~ normal(0, s); }`
	m := boundText(t, `functions { matrix metric(vector b, vector x, real v) {
  matrix[3, 3] g = diag_matrix([1 + square(b[1]), 2, v]'); g[1, 2] = 0.1 * sum(x); g[2, 1] = g[1, 2]; return g; } }
`+rest, map[string]any{"N": 2, "x": []float64{1, 2}})
	x := []float64{0.5, 2, 0.7}
	want := []float64{1.25, 0.3, 0, 0.3, 2, 0, 0, 0, math.Exp(1.4)}
	for i, v := range metricAt(t, m.UserMetric, x) {
		if math.Abs(v-want[i]) > 1e-14 {
			t.Errorf("element %d is %v, want %v", i, v, want[i])
		}
	}
	checkTraceGrad(t, "own metric", m.UserMetric, m.UserMetricTraceGrad, x)
	for head, message := range map[string]string{
		``: "has no function `metric`",
		`functions { matrix metric(vector c) { return identity_matrix(3); } }`:       "no variable `c`",
		`functions { matrix metric(matrix b) { return b; } }`:                        "`b` is of type vector",
		`functions { vector metric(vector b) { return b; } }`:                        "does not return a matrix",
		`functions { matrix metric(vector b) { return identity_matrix(size(b)); } }`: "3 unconstrained parameters",
	} {
		m := boundText(t, head+rest, map[string]any{"N": 2, "x": []float64{1, 2}})
		if err := m.UserMetric(x, make([]float64, 9)); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, want %s", head, err, message)
		}
	}
}

// TestFisherAllocations checks that neither the metric nor its gradient allocates.
func TestFisherAllocations(t *testing.T) {
	for _, c := range fisherCases()[:5] {
		m := boundText(t, c.text, c.data)
		n := m.Dim()
		x, g, grad := make([]float64, n), make([]float64, n*n), make([]float64, n)
		evaluate := func() {
			if err := m.FisherMetric(x, g); err != nil {
				t.Fatal(err)
			}
			if err := m.FisherTraceGrad(x, g, grad); err != nil {
				t.Fatal(err)
			}
		}
		evaluate()
		if k := testing.AllocsPerRun(20, evaluate); k != 0 {
			t.Errorf("%s: %v allocations", c.name, k)
		}
	}
}

// TestFisherHalf checks a scale whose prior is one half of a symmetric distribution. Its
// information is that of the half distribution, with respect to the logarithm of the scale.
func TestFisherHalf(t *testing.T) {
	for text, want := range map[string]float64{
		`real<lower=0> s; } model { s ~ normal(0, 3); }`:                          2,
		`real<lower=0> s; } model { s ~ std_normal(); }`:                          2,
		`real<lower=2.5> s; } model { s ~ cauchy(2.5, 3); }`:                      0.5,
		`vector<lower=0>[1] s; } model { s ~ student_t(5, 0, 3); }`:               1.25,
		`vector<lower=0>[1] s; } model { for (i in 1:1) s[i] ~ logistic(0, 3); }`: (3 + math.Pi*math.Pi) / 9,
		`real<lower=0> s; } model { s ~ normal(1, 3); }`:                          math.Exp(0.8) / 9, // not half: ds/dlog s = s
		`real s; } model { s ~ normal(0, 3); }`:                                   1. / 9,
	} {
		m := boundText(t, "parameters { "+text, map[string]any{})
		if g := metricAt(t, m.FisherMetric, []float64{0.4}); math.Abs(g[0]-want) > 1e-14 {
			t.Errorf("%s: %v, want %v", text, g[0], want)
		}
	}
}

// TestFisherOutcomes checks that the information of categorical and ordered outcomes is the
// expectation of the product of scores over the outcomes. A statement for several outcomes has the
// sum of their information.
func TestFisherOutcomes(t *testing.T) {
	const head = `data { int y; } parameters { vector[3] a; real b; } transformed parameters { vector[3] c = cumulative_sum(exp(a)); matrix[2, 3] w = [[b, a[1], 1], [0.3, b * a[2], -b]]; }
model { `
	x := []float64{0.3, -0.4, 0.9, 0.7}
	for _, c := range []struct {
		outcomes  int
		one, many string
		times     float64
	}{
		{3, `target += categorical_logit_lpmf(y | a * b);`, `target += categorical_logit_lpmf({y, 1, y} | a * b);`, 3},
		{3, `target += multinomial_logit_lpmf({y == 1, y == 2, y == 3} | a * b);`, `target += multinomial_logit_lpmf({4, y, 3 - y} | a * b);`, 7},
		{3, `target += categorical_logit_glm_lpmf(y | [[0.5, 2]], a, w);`, `target += categorical_logit_glm_lpmf({1, y} | [[0.5, 2], [0.5, 2]], a, w);`, 2},
		{4, `target += ordered_logistic_lpmf(y | b, c);`, `for (n in 1:6) target += 0.5 * ordered_logistic_lpmf(y | b, c); target += ordered_logistic_lpmf({y, 2} | [b, b]', c);`, 5},
		{4, `target += ordered_probit_lpmf(y | b, c);`, `target += ordered_probit_lpmf({y, 2, 1} | b, c); target += ordered_probit_lpmf({y, 2} | [b, b]', c);`, 5},
		{3, `target += categorical_lpmf(y | softmax(a * b));`, `target += categorical_lpmf({y, 1, y} | softmax(a * b));`, 3},
		{3, `target += multinomial_lpmf({y == 1, y == 2, y == 3} | softmax(a * b));`, `target += multinomial_lpmf({4, y, 3 - y} | softmax(a * b));`, 7},
	} {
		want := make([]float64, 16)
		sum := 0.0
		for y := range c.outcomes {
			m := boundText(t, head+c.one+" }", map[string]any{"y": y + 1})
			score := make([]float64, 4)
			lp, err := m.LogDensityGrad(x, score)
			if err != nil {
				t.Fatal(err)
			}
			p := math.Exp(lp)
			sum += p
			for i := range 4 {
				for j := range 4 {
					want[i*4+j] += p * score[i] * score[j]
				}
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("%s: the probabilities add up to %v", c.one, sum)
		}
		for _, text := range []string{c.one, c.many} {
			m := boundText(t, head+text+" }", map[string]any{"y": 1})
			left, err := m.FisherLeftOut()
			if err != nil || len(left) > 0 {
				t.Errorf("%s: left out %v, %v", text, left, err)
			}
			times := 1.0
			if text == c.many {
				times = c.times
			}
			for i, v := range metricAt(t, m.FisherMetric, x) {
				if math.Abs(v-times*want[i]) > 1e-12*(1+math.Abs(v)) {
					t.Errorf("%s: element %d is %v, want %v", text, i, v, times*want[i])
				}
			}
			checkTraceGrad(t, text, m.FisherMetric, m.FisherTraceGrad, x)
		}
	}
}

// TestFisherUnmoved checks an outcome whose probability is 1 for all parameters. The formula for
// its information gives infinity there. It must contribute nothing to the metric or its derivative.
func TestFisherUnmoved(t *testing.T) {
	const head = "data { array[3] int y; vector[3] n; } parameters { vector[3] a; } model { "
	for _, text := range []string{
		"for (i in 1:3) y[i] ~ bernoulli(inv_logit(a[1] + a[2]) ^ n[i]); a ~ std_normal();", // dense
		"for (i in 1:3) y[i] ~ bernoulli(inv_logit(a[i]) ^ n[i]); a[2:3] ~ std_normal();",   // an element for each parameter
		"for (i in 1:3) target += bernoulli_lpmf(y[i] | exp(-n[i] * exp(a[1]))); a ~ std_normal();",
	} {
		m := boundText(t, head+text+" }", map[string]any{"y": []int{1, 0, 1}, "n": []float64{0, 1, 2}})
		checkTraceGrad(t, text, m.FisherMetric, m.FisherTraceGrad, []float64{0.3, -0.4, 0.9})
	}
}
