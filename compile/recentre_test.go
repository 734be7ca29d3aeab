package compile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

const (
	schools        = `data { int J; vector[J] y, s; } parameters { real mu; real<lower=0> tau; vector[J] theta; } `
	schoolsCentred = schools + `model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, s); }`
	schoolsNot     = schools + `transformed parameters { vector[J] effect = mu + tau * theta; }
		model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ std_normal(); y ~ normal(effect, s); }`
)

var hierarchies = []struct {
	name, text string
	data       map[string]any
	effects    int // number of effects that must be found
}{
	{"eight schools, centred", schoolsCentred, map[string]any{"J": 3, "y": []float64{28, 8, -3}, "s": []float64{15, 10, 16}}, 3},
	{"eight schools, non-centred", schoolsNot, map[string]any{"J": 3, "y": []float64{28, 8, -3}, "s": []float64{15, 10, 16}}, 3},
	{"groups of rows, in loops", `data { int N, J; array[N] int g; vector[N] y, x; vector[J] w; }
		parameters { vector[J] a; vector[J] b; real m; real c; real<lower=0> sa; real<lower=0> sb; real<lower=0> sy; }
		model { for (j in 1:J) a[j] ~ normal(m + c * w[j], sa); b ~ student_t(4, 0, sb); sa ~ normal(0, 1); sb ~ normal(0, 1); sy ~ normal(0, 1); m ~ normal(0, 1);
		for (n in 1:N) y[n] ~ normal(a[g[n]] + b[g[n]] * x[n], sy); }`,
		map[string]any{"N": 5, "J": 2, "g": []int{1, 2, 1, 2, 2}, "y": []float64{1, 2, 0.5, 1.5, 3}, "x": []float64{1, -1, 0.5, 2, 0}, "w": []float64{0.3, -1}}, 4},
	{"effects of effects", `parameters { real m; real<lower=0> s; vector[2] a; real<lower=0> t; vector[4] b; }
		model { m ~ normal(0, 1); s ~ normal(0, 1); t ~ normal(0, 1); a ~ normal(m, s); b[1:2] ~ normal(a[1], t); b[3:4] ~ normal(a[2], t); }`, nil, 6},
	{"scales that are effects", `parameters { real m; vector[3] l; vector[3] e; } model { m ~ normal(0, 1); l ~ normal(m, exp(m)); e ~ normal(0, exp(l)); }`, nil, 6},
	{"logarithms", `parameters { real m; real<lower=0> s; vector<lower=0>[3] a; } model { m ~ normal(0, 1); s ~ normal(0, 1); a ~ lognormal(m, s); }`, nil, 3},
	{"offset and multiplier", `parameters { real m; real<lower=0> s; vector<offset=m, multiplier=s>[3] a; } model { m ~ normal(0, 1); s ~ normal(0, 1); a ~ normal(m, s); }`, nil, 3},
	{"raw effects by group", `data { array[4] int g; } parameters { real m; vector<lower=0>[2] s; vector[2] r; vector[4] y; }
		model { m ~ normal(0, 1); s ~ normal(0, 1); r ~ normal(0, 1); for (n in 1:4) y[n] ~ normal(m + s[g[n]] * r[g[n]], 1); }`, map[string]any{"g": []int{1, 2, 2, 1}}, 2},
	{"factors of either sign", `data { vector[3] y; } parameters { real b; vector[3] z; } model { b ~ normal(0, 1); z ~ normal(0, 1); y ~ normal(2 + (2 * b - 1) * z, 1); }`, map[string]any{"y": []float64{1, 2, 4}}, 3},
	{"no effects", `parameters { real m; real<lower=0> s; vector[3] y; } model { m ~ normal(0, 1); s ~ normal(0, 1); y ~ normal(m, 2); }`, nil, 0},
	{"a recurrence", `parameters { real<lower=0> s; vector[9] y; } model { s ~ normal(0, 1); y[1] ~ normal(0, 1); for (t in 2:9) y[t] ~ normal(y[t - 1], s); }`, nil, 8},
	{"an autoregression with a beginning", `parameters { real m; real c; real<lower=0> s; vector[6] y; } model { m ~ normal(0, 1); c ~ normal(0, 1); s ~ normal(0, 1);
		y[1] ~ normal(m, s / sqrt(1 + square(c))); y[2:6] ~ normal(m + c * (y[1:5] - m) / 2, s); }`, nil, 6},
	{"a recurrence that runs back", `parameters { real c; real<lower=0> s; vector[5] y; } model { c ~ normal(0, 1); s ~ normal(0, 1); y[1:4] ~ student_t(5, 0.1 - c * y[2:5], s); }`, nil, 4},
	{"chains side by side", `parameters { real<lower=0> s; vector[2] l; matrix[2, 4] y; } model { s ~ normal(0, 1); l ~ normal(0, 1); y[, 1] ~ normal(0, s); for (i in 1:2) for (t in 2:4) y[i, t] ~ normal(0.9 * y[i, t - 1], exp(l[i])); }`, nil, 8},
	{"a chain in windows", `parameters { real m; real<lower=0> s; vector[258] y; } model { m ~ normal(0, 1); s ~ normal(0, 1); y[1] ~ normal(m, s); for (t in 2:258) y[t] ~ normal(m + 0.5 * tanh(s) * (y[t - 1] - m), s); }`, nil, 258},
	{"effects about a chain", `parameters { real<lower=0> s, r; vector[4] y; vector[4] e; } model { s ~ normal(0, 1); r ~ normal(0, 1); y[1] ~ normal(0, s); y[2:4] ~ normal(y[1:3], s); e ~ normal(2 * y, r); }`, nil, 8},
	{"a recurrence that is not linear", `parameters { real<lower=0> s; vector[5] y; } model { s ~ normal(0, 1); y[2:5] ~ normal(square(y[1:4]), s); }`, nil, 0},
	{"a scale that is the state before", `parameters { real<lower=0> s; vector[5] y; } model { s ~ normal(0, 1); y[2:5] ~ normal(y[1:4], s * exp(y[1:4])); }`, nil, 0},
	{"two states before", `parameters { real<lower=0> s; vector[6] y; } model { s ~ normal(0, 1); y[3:6] ~ normal(2 * y[2:5] - y[1:4], s); }`, nil, 0},
	{"two densities of one variate", `parameters { real<lower=0> s; vector[2] y; } model { s ~ normal(0, 1); y ~ normal(0, s); y ~ normal(1, s); }`, nil, 0},
	{"correlated effects, by columns", `data { array[4] int g; vector[4] y; } parameters { vector[2] m; vector<lower=0>[2] s; cholesky_factor_corr[2] L; matrix[2, 3] z; }
		model { matrix[2, 3] b = rep_matrix(m, 3) + diag_pre_multiply(s, L) * z; m ~ normal(0, 1); s ~ normal(0, 1); L ~ lkj_corr_cholesky(2); to_vector(z) ~ std_normal();
		for (n in 1:4) y[n] ~ normal(b[1, g[n]] + n * b[2, g[n]], 1); }`, map[string]any{"g": []int{1, 3, 2, 1}, "y": []float64{1, 0, -2, 3}}, 6},
	{"correlated effects, by rows", `data { array[4] int g; vector[4] y; } parameters { vector<lower=0>[3] s; cholesky_factor_corr[3] L; matrix[3, 2] z; }
		model { matrix[2, 3] r = (diag_pre_multiply(s, L) * z)'; vector[2] r1 = r[, 1]; vector[2] r2 = r[, 2]; vector[2] r3 = r[, 3]; s ~ normal(0, 1); L ~ lkj_corr_cholesky(2); to_vector(z) ~ std_normal();
		for (n in 1:4) y[n] ~ normal(0.3 + r1[g[n]] + n * r2[g[n]] - r3[g[n]], 1); }`, map[string]any{"g": []int{1, 2, 2, 1}, "y": []float64{1, 0, -2, 3}}, 6},
	{"products with a full matrix", `data { vector[2] y; } parameters { matrix[2, 2] a; vector[2] z; } model { to_vector(a) ~ normal(0, 1); z ~ std_normal(); y ~ normal(a * z, 1); }`, map[string]any{"y": []float64{1, 2}}, 0},
	{"vectors of effects", `parameters { vector[3] m; vector<lower=0>[3] s; corr_matrix[3] R; array[4] vector[3] b; }
		model { m ~ normal(0, 1); s ~ normal(0, 1); R ~ lkj_corr(2); b ~ multi_normal(m, quad_form_diag(R, s)); }`, nil, 12},
	{"vectors of effects, in a loop, each with a mean", `data { matrix[3, 2] w; } parameters { matrix[2, 2] c; vector<lower=0>[2] s; cholesky_factor_corr[2] L; array[3] vector[2] b; }
		model { to_vector(c) ~ normal(0, 1); s ~ normal(0, 1); L ~ lkj_corr_cholesky(2); for (j in 1:3) b[j] ~ multi_normal_cholesky(c * w[j]', diag_pre_multiply(s, L)); }`,
		map[string]any{"w": [][]float64{{1, 0.5}, {1, -2}, {1, 0.1}}}, 6},
	{"vectors of effects, each with a covariance", `parameters { vector<lower=0>[3] s; real<lower=-1, upper=1> r; array[3] vector[2] b; }
		model { s ~ normal(0, 1); for (j in 1:3) b[j] ~ multi_normal([0, 1]', s[j] * [[1, r], [r, 2]]); }`, nil, 6},
	{"one vector of effects, of one component", `parameters { cov_matrix[1] S; vector[1] b; } model { S ~ inv_wishart(3, [[1]]); b ~ multi_normal([2]', S); }`, nil, 1},
	{"vectors of data and effects", `data { array[2] real y; } parameters { vector<lower=0>[2] s; array[2] real b; } model { s ~ normal(0, 1);
		for (j in 1:2) [y[j], b[j]]' ~ multi_normal([0, 0]', add_diag(rep_matrix(0.2, 2, 2), s)); }`, map[string]any{"y": []float64{0.5, -1}}, 2},
	{"effects about vectors of effects", `parameters { real<lower=0> s, r; array[2] vector[2] b; vector[2] e; } model { s ~ normal(0, 1); r ~ normal(0, 1);
		b ~ multi_normal([0, 0]', s * [[1, 0.3], [0.3, 2]]); for (j in 1:2) e[j] ~ normal(b[j, 1] - b[j, 2], r); }`, nil, 6},
	{"states of a vector autoregression", `parameters { real<lower=0> s; array[4] vector[2] y; } model { s ~ normal(0, 1); y[1] ~ multi_normal([0, 0]', identity_matrix(2));
		for (t in 2:4) y[t] ~ multi_normal([[0.5, 0.2], [0.1, 0.3]] * y[t - 1], s * [[1, 0.3], [0.3, 2]]); }`, nil, 6},
	{"more states than levels", `parameters { real<lower=0> s; array[12] vector[2] y; } model { s ~ normal(0, 1); y[1] ~ multi_normal([0, 0]', identity_matrix(2));
		for (t in 2:12) y[t] ~ multi_normal([[0.5, 0.2], [0.1, 0.3]] * y[t - 1], s * [[1, 0.3], [0.3, 2]]); }`, nil, 0},
	{"a random walk of vectors", `parameters { real<lower=0> s; array[5] vector[2] y; } model { s ~ normal(0, 1); y[2:5] ~ multi_normal(y[1:4], s * [[1, 0.3], [0.3, 2]]); }`, nil, 8},
	{"vectors of eight components", `parameters { real<lower=0> s; array[2] vector[8] b; } model { s ~ normal(0, 1); b ~ multi_normal(rep_vector(0, 8), add_diag(rep_matrix(s, 8, 8), 1)); }`, nil, 16},
	{"vectors of nine components", `parameters { real<lower=0> s; array[2] vector[9] b; } model { s ~ normal(0, 1); b ~ multi_normal(rep_vector(0, 9), add_diag(rep_matrix(s, 9, 9), 1)); }`, nil, 0},
	{"vectors with a constant covariance", `parameters { vector[2] m; array[2] vector[2] b; } model { m ~ normal(0, 1); b ~ multi_normal(m, [[1, 0.3], [0.3, 2]]); }`, nil, 0},
	{"one vector with several densities", `parameters { array[2] vector[2] m; real<lower=0> s; vector[2] b; } model { s ~ normal(0, 1); for (j in 1:2) m[j] ~ normal(0, 1); for (j in 1:2) b ~ multi_normal(m[j], s * [[1, 0.3], [0.3, 2]]); }`, nil, 0},
	{"no vectors", `data { int n; } parameters { real<lower=0> s; array[n] vector[2] b; } model { s ~ normal(0, 1); b ~ multi_normal([0, 0]', s * identity_matrix(2)); }`, map[string]any{"n": 0}, 0},
	{"a circle", `parameters { vector[2] y; } model { y[1] ~ normal(0, exp(y[2])); y[2] ~ normal(0, exp(y[1])); }`, nil, 1},
}

func recentredModel(t *testing.T, text string, values map[string]any) *Model {
	t.Helper()
	p, list := Compile(source.NewFile("m", text))
	if p == nil {
		t.Fatal(list)
	}
	set := data.Empty()
	if values != nil {
		var err error
		if set, err = data.FromGo(values); err != nil {
			t.Fatal(err)
		}
	}
	m, err := p.Bind(set, BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRecentring checks, for any evidence, that the map can be inverted and that its log Jacobian
// is the log determinant of its derivative. With the evidence r.Written(), the map must be the
// identity.
func TestRecentring(t *testing.T) {
	for _, c := range hierarchies {
		t.Run(c.name, func(t *testing.T) {
			m := recentredModel(t, c.text, c.data)
			r, err := m.Map()
			if err != nil {
				t.Fatal(err)
			}
			if r == nil {
				if c.effects > 0 {
					t.Fatal("no effects are found")
				}
				return
			}
			if n := len(r.Elements()); n != c.effects {
				t.Fatalf("%d effects, not %d: %v", n, c.effects, r.Groups())
			}
			rng := rand.New(rand.NewPCG(1, 2))
			d := m.Dim()
			for _, fixed := range []float64{0, 0.3, 1, math.NaN()} {
				u, x, back := make([]float64, d), make([]float64, d), make([]float64, d)
				for i := range u {
					u[i] = rng.NormFloat64()
				}
				n := c.effects
				evidence := make([]float64, 4*n)
				for k := range n {
					evidence[k], evidence[n+k] = 1-fixed, fixed
					if math.IsNaN(fixed) {
						evidence[k], evidence[n+k], evidence[2*n+k], evidence[3*n+k] = 2*rng.Float64(), rng.ExpFloat64(), rng.NormFloat64(), rng.NormFloat64()
					}
				}
				jacobian, err := r.Forward(u, evidence, x)
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Inverse(x, evidence, back); err != nil {
					t.Fatal(err)
				}
				near(t, "there and back", back, u)
				// Compute the derivative, row by row.
				none, row, ahead := make([]float64, d), make([]float64, d), make([]float64, d)
				// A zero score leaves the gradient of the log Jacobian.
				if err := r.Pull(u, evidence, none, none); err != nil {
					t.Fatal(err)
				}
				whole := mat.NewDense(d, d, nil)
				for i := range d {
					unit := make([]float64, d)
					unit[i] = 1
					if err := r.Pull(u, evidence, unit, row); err != nil {
						t.Fatal(err)
					}
					for j := range d {
						row[j] -= none[j]
						whole.Set(i, j, row[j])
					}
				}
				for j := range d { // compare with central differences
					const h = 1e-5
					moved := slices.Clone(u)
					moved[j] += h
					up, _ := r.Forward(moved, evidence, ahead)
					above := slices.Clone(ahead)
					moved[j] -= 2 * h
					down, _ := r.Forward(moved, evidence, ahead)
					if got := (up - down) / (2 * h); math.Abs(got-none[j]) > 1e-6*(1+math.Abs(got)) {
						t.Errorf("evidence %v: the gradient of the log Jacobian has the element %v, by differences %v", evidence, none[j], got)
					}
					for i := range d {
						if got := (above[i] - ahead[i]) / (2 * h); math.Abs(got-whole.At(i, j)) > 1e-5*(1+math.Abs(got)) {
							t.Errorf("evidence %v: ∂x%d/∂u%d is %v, by differences %v", evidence, i, j, whole.At(i, j), got)
						}
					}
				}
				if got, sign := mat.LogDet(whole); sign != 1 || math.Abs(got-jacobian) > 1e-12*(1+math.Abs(got))*10 {
					t.Errorf("evidence %v: the log Jacobian is %v, but the derivative has the log determinant %v, sign %v", evidence, jacobian, got, sign)
				}
				// Converting scores and converting them back must give the same scores.
				gx, gu, again := make([]float64, d), make([]float64, d), make([]float64, d)
				for i := range gx {
					gx[i] = rng.NormFloat64()
				}
				if err := r.Pull(u, evidence, gx, gu); err != nil {
					t.Fatal(err)
				}
				if err := r.Push(x, evidence, gu, again); err != nil {
					t.Fatal(err)
				}
				near(t, "scores there and back", again, gx)
				if err := r.Inverse(x, r.Written(), back); err != nil {
					t.Fatal(err)
				}
				near(t, "as written", back, x)
				// The evidence of Hold must still be used after calls with other evidence. A clone
				// must not have it.
				r.Hold(evidence)
				_ = r.Clone()
				for range 2 {
					if j, err := r.Forward(u, nil, ahead); err != nil || j != jacobian || !slices.Equal(ahead, x) {
						t.Errorf("evidence %v: held, it leads to %v with log Jacobian %v (%v), instead of %v with %v", evidence, ahead, j, err, x, jacobian)
					}
					if err := r.Pull(u, nil, gx, row); err != nil || !slices.Equal(row, gu) {
						t.Errorf("evidence %v: held, scores become %v (%v) instead of %v", evidence, row, err, gu)
					}
					_, _ = r.Forward(u, r.Written(), ahead)
					_ = r.Pull(u, r.Written(), gx, row)
				}
			}
		})
	}
}

// TestRecentringOfEightSchools compares with densities of the eight schools model in other
// coordinates, which were derived by hand.
func TestRecentringOfEightSchools(t *testing.T) {
	y, s := []float64{28, 8, -3}, []float64{15, 10, 16}
	u := []float64{1.2, -0.4, 2.5, -0.7, 0.9} // mu, log tau, effects
	mu, tau := u[0], math.Exp(u[1])
	normal := func(x, m, s float64) float64 { return -0.5 * (x - m) / s * (x - m) / s }
	for _, evidence := range [][4]float64{{1, 0, 0, 0}, {0.7, 0.3, 0, 0}, {1, 0.01, 0.2, 0.1}, {0, 1, 0, 0}} {
		a, b, c, follow := evidence[0], evidence[1], evidence[2], evidence[3]
		want := normal(mu, 0, 5) - math.Log1p(tau/5*tau/5) + u[1]
		for j := range y {
			d := a + b*tau*tau
			theta := (a*mu+(c+follow*mu)*tau*tau)/d + u[2+j]*tau/math.Sqrt(d)
			// The log density is that of θ, plus that of the datum, plus log dθ/du.
			want += normal(theta, mu, tau) - math.Log(tau) + normal(y[j], theta, s[j]) + math.Log(tau/math.Sqrt(d))
		}
		for _, text := range []string{schoolsCentred, schoolsNot} {
			m := recentredModel(t, text, map[string]any{"J": 3, "y": y, "s": s})
			r, err := m.Map()
			if err != nil {
				t.Fatal(err)
			}
			x, g := make([]float64, 5), make([]float64, 5)
			jacobian, err := r.Forward(u, []float64{a, a, a, b, b, b, c, c, c, follow, follow, follow}, x)
			if err != nil {
				t.Fatal(err)
			}
			lp, err := m.LogDensityGrad(x, g)
			if err != nil {
				t.Fatal(err)
			}
			if got := lp + jacobian; math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("evidence %v: %v, by hand %v", evidence, got, want)
			}
		}
	}
}

// TestRecentringOfVectors checks that vectors of a multivariate normal distribution are μ + Lu in
// non-centred coordinates.
func TestRecentringOfVectors(t *testing.T) {
	m := recentredModel(t, `parameters { vector[3] m; vector<lower=0>[3] s; array[2] vector[3] b; }
		model { m ~ normal(0, 1); s ~ normal(0, 1); b ~ multi_normal(m, quad_form_diag([[1, 0.5, -0.3], [0.5, 1, 0.2], [-0.3, 0.2, 1]], s)); }`, nil)
	r, err := m.Map()
	if err != nil {
		t.Fatal(err)
	}
	u := []float64{0.5, -1, 2, 0.1, -0.4, 0.3, 1, -0.2, 0.7, -1.5, 0.3, 2} // m, log s, two vectors
	x := make([]float64, len(u))
	evidence := make([]float64, 4*6)
	for k := range 6 {
		evidence[k] = 1
	}
	jacobian, err := r.Forward(u, evidence, x)
	if err != nil {
		t.Fatal(err)
	}
	correlations := mat.NewSymDense(3, []float64{1, 0.5, -0.3, 0.5, 1, 0.2, -0.3, 0.2, 1})
	var c mat.Cholesky
	c.Factorize(correlations)
	var lower mat.TriDense
	c.LTo(&lower)
	want, logDet := slices.Clone(u), 0.0
	for v := range 2 {
		for i := range 3 {
			sum := 0.0
			for j := range i + 1 {
				sum += lower.At(i, j) * u[6+3*v+j]
			}
			want[6+3*v+i] = u[i] + math.Exp(u[3+i])*sum
			logDet += u[3+i] + math.Log(lower.At(i, i))
		}
	}
	near(t, "μ + Lu", x, want)
	near(t, "log Jacobian", []float64{jacobian}, []float64{logDet})
}

// TestRecentringWhitens checks the coordinates of effects with normal data, with the evidence set
// to the data's information. Given this evidence, the density over u is that of independent
// standard normal variables times a function of the locations and scales. This holds for
// independent effects and for states of a time series.
func TestRecentringWhitens(t *testing.T) {
	for name, text := range map[string]string{
		"effects": `data { int n; vector[n] y, e; } parameters { real m; real<lower=0> s; vector[n] x; }
			model { m ~ normal(0, 1); s ~ normal(0, 1); x ~ normal(m, s); y ~ normal(x, e); }`,
		"a walk": `data { int n; vector[n] y, e; } parameters { real m; real<lower=0> s; vector[n] x; }
			model { m ~ normal(0, 1); s ~ normal(0, 1); x[1] ~ normal(m, s); x[2:n] ~ normal(x[1:(n - 1)], s); y ~ normal(x, e); }`,
		"an autoregression": `data { int n; vector[n] y, e; } parameters { real m; real<lower=0> s; vector[n] x; }
			model { m ~ normal(0, 1); s ~ normal(0, 1); x[1] ~ normal(m, s); for (t in 2:n) x[t] ~ normal(m + 0.7 * tanh(s) * (x[t - 1] - m), s); y ~ normal(x, e); }`,
	} {
		y, e := []float64{0.3, -1.2, 2.5, 0.1, 0.8, 4, -2}, []float64{0.1, 1, 0.5, 3, 0.01, 1, 20}
		n := len(y)
		m := recentredModel(t, text, map[string]any{"n": n, "y": y, "e": e})
		r, err := m.Map()
		if err != nil {
			t.Fatal(err)
		}
		evidence := make([]float64, 4*n)
		for k, i := range r.Elements() {
			v := e[i-2] * e[i-2]
			evidence[k], evidence[n+k], evidence[2*n+k] = 1, 1/v, y[i-2]/v
		}
		if len(r.Elements()) != n {
			t.Fatalf("%s: %d effects", name, len(r.Elements()))
		}
		rng := rand.New(rand.NewPCG(3, 4))
		x, gx, gu := make([]float64, m.Dim()), make([]float64, m.Dim()), make([]float64, m.Dim())
		for _, logScale := range []float64{-12, -3, 0, 2, 9} {
			u := []float64{rng.NormFloat64(), logScale}
			for range n {
				u = append(u, rng.NormFloat64())
			}
			if _, err := r.Forward(u, evidence, x); err != nil {
				t.Fatal(err)
			}
			if _, err := m.LogDensityGrad(x, gx); err != nil {
				t.Fatal(err)
			}
			if err := r.Pull(u, evidence, gx, gu); err != nil {
				t.Fatal(err)
			}
			for i := 2; i < len(u); i++ {
				if math.Abs(gu[i]+u[i]) > 1e-6*(1+math.Abs(u[i])) {
					t.Errorf("%s, log scale %v: the score of u = %v is %v", name, logScale, u[i], gu[i])
				}
			}
			// The factor for locations and scales does not depend on u, so neither does its
			// gradient.
			first := slices.Clone(gu[:2])
			for i := 2; i < len(u); i++ {
				u[i] = rng.NormFloat64()
			}
			_, _ = r.Forward(u, evidence, x)
			_, _ = m.LogDensityGrad(x, gx)
			_ = r.Pull(u, evidence, gx, gu)
			for i, v := range first {
				if math.Abs(gu[i]-v) > 1e-6*(1+math.Abs(v)) {
					t.Errorf("%s, log scale %v: the score of what decides location and scale is %v, elsewhere %v", name, logScale, v, gu[i])
				}
			}
		}
	}
}

// TestChainsInWindows checks chains on both sides of the length from which they are divided. With
// data at each state, the coordinates whiten as in one piece, since evidence from beyond a window
// does not matter.
func TestChainsInWindows(t *testing.T) {
	for n := range 4 * manyInChain {
		starts, steps := windows(n)
		if n < manyInChain != (len(starts) == 1) {
			t.Fatalf("%d effects: %d windows", n, len(starts))
		}
		for w, start := range starts {
			if k := len(starts); start < 0 || start > n*w/k || start+steps < n*(w+1)/k || start+steps > n {
				t.Fatalf("%d effects: window %d is from %d to %d", n, w, start, start+steps)
			}
		}
	}
	const text = `data { int n; vector[n] y; } parameters { real m; real<lower=0> s; vector[n] x; }
		model { m ~ normal(0, 1); s ~ normal(0, 1); x[1] ~ normal(m, s); x[2:n] ~ normal(m + 0.9 * (x[1:(n - 1)] - m), s); y ~ normal(x, 0.5); }`
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{manyInChain - 1, manyInChain, manyInChain + 1, manyInChain + 7, 3 * manyInChain} {
		y := make([]float64, n)
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		m := recentredModel(t, text, map[string]any{"n": n, "y": y})
		r, err := m.Map()
		if err != nil {
			t.Fatal(err)
		}
		evidence := make([]float64, 4*n)
		for k, i := range r.Elements() {
			evidence[k], evidence[n+k], evidence[2*n+k] = 1, 4, 4*y[i-2]
		}
		x, gx, gu := make([]float64, m.Dim()), make([]float64, m.Dim()), make([]float64, m.Dim())
		for _, logScale := range []float64{-0.5, 0, 2} {
			u := []float64{rng.NormFloat64(), logScale}
			for range n {
				u = append(u, rng.NormFloat64())
			}
			if _, err := r.Forward(u, evidence, x); err != nil {
				t.Fatal(err)
			}
			if _, err := m.LogDensityGrad(x, gx); err != nil {
				t.Fatal(err)
			}
			if err := r.Pull(u, evidence, gx, gu); err != nil {
				t.Fatal(err)
			}
			for i := 2; i < len(u); i++ {
				if math.Abs(gu[i]+u[i]) > 1e-6*(1+math.Abs(u[i])) {
					t.Fatalf("%d states, log scale %v: the score of u[%d] = %v is %v", n, logScale, i, u[i], gu[i])
				}
			}
			r.Hold(evidence)
			if joint, ok := r.Joint(u, gx); (r.joint.program != nil) != ok || ok && math.IsNaN(joint) {
				t.Errorf("%d states: the joint program gives %v, %v", n, joint, ok)
			} else if ok {
				near(t, "joint gradient", gx, gu)
			}
		}
	}
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i]))*10) {
			t.Errorf("%s: %v, not %v", what, got, want)
			return
		}
	}
}

// TestJoint checks that a program computes the log density over u directly if there are many
// effects. It must agree with the map, its derivative and the log density.
func TestJoint(t *testing.T) {
	const n = 600
	y, s := make([]float64, n), make([]float64, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range y {
		y[i], s[i] = 3*rng.NormFloat64(), 0.5+rng.Float64()
	}
	for name, text := range map[string]string{"centred": schoolsCentred, "non-centred": schoolsNot} {
		m := recentredModel(t, text, map[string]any{"J": n, "y": y, "s": s})
		m.SetWorkers(2) // before Map, which makes programs for this number of workers
		r, err := m.Map()
		if err != nil {
			t.Fatal(err)
		}
		d := m.Dim()
		evidence := make([]float64, 4*n)
		for k := range n {
			evidence[k], evidence[n+k], evidence[2*n+k], evidence[3*n+k] = 1, rng.ExpFloat64(), rng.NormFloat64(), 0.1*rng.Float64()
		}
		r.Hold(evidence)
		u, x, gx, want, got := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		for range 3 {
			for i := range u {
				u[i] = rng.NormFloat64()
			}
			jacobian, err := r.Forward(u, nil, x)
			if err != nil {
				t.Fatal(err)
			}
			lp, err := m.LogDensityGrad(x, gx)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Pull(u, nil, gx, want); err != nil {
				t.Fatal(err)
			}
			joint, ok := r.Joint(u, got)
			if !ok || math.Abs(joint-(lp+jacobian)) > 1e-9*(math.Abs(lp)+n) {
				t.Errorf("%s: log density %v, %v, want %v", name, joint, ok, lp+jacobian)
			}
			near(t, name, got, want)
		}
		if _, ok := r.Joint(u[:d-1], got); ok {
			t.Errorf("%s: a point of another length has a log density", name)
		}
	}
	few := recentredModel(t, schoolsCentred, map[string]any{"J": 3, "y": y[:3], "s": s[:3]})
	if r, err := few.Map(); err != nil || r.joint.program != nil {
		t.Errorf("a program for 3 effects, %v", err)
	}
	prints := recentredModel(t, schools+`model { print(mu); mu ~ normal(0, 5); tau ~ normal(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, s); }`, map[string]any{"J": n, "y": y, "s": s})
	if r, err := prints.Map(); err != nil || r.joint.program != nil {
		t.Errorf("a program that prints again, %v", err)
	}
}

// TestRecentringInNeck goes down the neck of a funnel in non-centred coordinates. Until effects are
// rounded to their location, the density is that derived by hand; from there on it is zero.
func TestRecentringInNeck(t *testing.T) {
	for _, n := range []int{3, 600} { // in steps and at once
		y, s := make([]float64, n), make([]float64, n)
		for i := range y {
			y[i], s[i] = float64(i%5), 1
		}
		m := recentredModel(t, schoolsCentred, map[string]any{"J": n, "y": y, "s": s})
		r, err := m.Map()
		if err != nil {
			t.Fatal(err)
		}
		evidence := make([]float64, 4*n)
		for k := range n {
			evidence[k] = 1
		}
		r.Hold(evidence)
		u, x, g := make([]float64, n+2), make([]float64, n+2), make([]float64, n+2)
		u[0] = 1.5
		rng := rand.New(rand.NewPCG(3, 4))
		for i := range n {
			u[2+i] = rng.NormFloat64()
		}
		zero := math.Inf(1)
		for at := 0.0; at > -60; at -= 0.5 {
			u[1] = at
			tau := math.Exp(at)
			want := -0.5*(u[0]/5)*(u[0]/5) - math.Log1p(tau/5*tau/5) + at
			for i, z := range u[2:] {
				d := y[i] - u[0] - tau*z
				want -= 0.5*z*z + 0.5*d*d
			}
			jacobian, err := r.Forward(u, nil, x)
			if err != nil {
				t.Fatal(err)
			}
			joint, ok := r.Joint(u, g)
			if math.IsInf(jacobian, -1) {
				zero = min(zero, -at)
				if ok {
					t.Errorf("%d effects at log tau = %v: the joint log density is %v, but effects are rounded", n, at, joint)
				}
				continue
			}
			lp, err := m.LogDensityGrad(x, g)
			if err != nil {
				t.Fatal(err)
			}
			// The terms z²/2 have the rounding of effects, at most 1/32 of a standard deviation.
			if room := 0.1 * math.Sqrt(float64(n)); math.Abs(lp+jacobian-want) > room || ok && math.Abs(joint-want) > room {
				t.Errorf("%d effects at log tau = %v: log density %v, joint %v, by hand %v", n, at, lp+jacobian, joint, want)
			}
			if ok != (n == 600) || -at > zero {
				t.Errorf("%d effects at log tau = %v: joint %v, after a density of zero at %v", n, at, ok, -zero)
			}
		}
		if zero < 30 || zero > 36 {
			t.Errorf("%d effects: the density is zero from log tau = %v", n, -zero)
		}
		// Effects that are written non-centred are never rounded.
		m = recentredModel(t, schoolsNot, map[string]any{"J": n, "y": y, "s": s})
		if r, err = m.Map(); err != nil {
			t.Fatal(err)
		}
		u[1] = -50
		if jacobian, err := r.Forward(u, evidence, x); err != nil || math.IsInf(jacobian, 0) {
			t.Errorf("%d effects, written non-centred: the log Jacobian is %v, %v", n, jacobian, err)
		}
	}
}
