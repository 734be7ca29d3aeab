package compile

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/lang/source"
)

// decided holds programs that no graph can represent: parameters decide sizes, slices, the depth of
// a recursion, or the value of target() in a loop. The log density of each is also written in Go.
var decided = []struct {
	name, text, json string
	points           [][]float64
	want             func(x []float64) float64
}{
	{
		name: "slice after a while", // brms writes the Conway–Maxwell–Poisson distribution this way
		text: `
functions {
  real log_Z(real log_mu, real nu) {
    int M = 200;
    vector[M] t;
    int i = 2;
    t[1] = 0;
    t[2] = nu * log_mu;
    while (t[i] > t[1] - 12 && i < M) {
      i += 1;
      t[i] = nu * ((i - 1) * log_mu - lgamma(i));
    }
    return log_sum_exp(t[1:i] + 0);
  }
  real com_poisson_lpmf(int y, real mu, real nu) {
    return nu * (y * log(mu) - lgamma(y + 1)) - log_Z(log(mu), nu);
  }
}
data { int N; array[N] int y; }
parameters { real<lower=0> mu; real<lower=0> nu; }
model {
  mu ~ normal(0, 3);
  for (n in 1:N) y[n] ~ com_poisson(mu, nu);
}`,
		json:   `{"N": 3, "y": [0, 2, 5]}`,
		points: [][]float64{{0.3, 0.1}, {1.2, -0.4}, {-0.5, 0.6}},
		want: func(x []float64) float64 {
			mu, nu := math.Exp(x[0]), math.Exp(x[1])
			lgamma := func(v float64) float64 { r, _ := math.Lgamma(v); return r }
			var t []float64
			t = append(t, 0, nu*math.Log(mu))
			for i := 2; t[i-1] > t[0]-12 && i < 200; i++ {
				t = append(t, nu*(float64(i)*math.Log(mu)-lgamma(float64(i+1))))
			}
			z := 0.0
			for _, v := range t {
				z += math.Exp(v)
			}
			lp := x[0] + x[1] - mu*mu/18
			for _, y := range []float64{0, 2, 5} {
				lp += nu*(y*math.Log(mu)-lgamma(y+1)) - math.Log(z)
			}
			return lp
		},
	},
	{
		name: "recursion",
		text: `
functions {
  real depth(real x) {
    if (x < 0.5) return x * x;
    return 1 + depth(0.6 * x);
  }
}
parameters { real a; }
model { target += -square(depth(exp(a))); }`,
		points: [][]float64{{-1}, {0.2}, {3}},
		want: func(x []float64) float64 {
			v, n := math.Exp(x[0]), 0.0
			for ; v >= 0.5; n++ {
				v *= 0.6
			}
			return -(n + v*v) * (n + v*v)
		},
	},
	{
		name: "target in a loop",
		text: `
parameters { real a; real<lower=0> b; }
model {
  int n = 0;
  while (target() > -5 && n < 40) {
    target += -square(a) - b;
    n += 1;
  }
  target += 0.1 * square(target());
}`,
		points: [][]float64{{0.5, 0.1}, {1.5, -1}, {0.2, 1}},
		want: func(x []float64) float64 {
			t := x[1]
			for n := 0; t > -5 && n < 40; n++ {
				t += -x[0]*x[0] - math.Exp(x[1])
			}
			return t + 0.1*t*t
		},
	},
	{
		name: "sizes",
		text: `
functions {
  void spread_lp(vector v) {
    target += -dot_self(v) / size(v);
  }
}
data { vector[6] y; }
parameters { real a; array[2] vector<lower=-1, upper=2>[2] c; }
transformed parameters {
  real s = exp(a);
  vector[2] first = c[1];
}
model {
  int k = 1;
  while (k < 6 && y[k] < s) k += 1;
  vector[k] part = s * y[1:k];
  array[k] vector[2] table;
  for (i in 1:k) table[i] = part[i] * first;
  part[1] += c[2, 1];
  spread_lp(part);
  y[k:] ~ normal(s, 2);
  if (k > 1) { table[1:2, 1] ~ normal(c[2, 2], 1.5); }
  print("k = ", k);
  if (k > 5) reject("too many: ", k);
}`,
		json:   `{"y": [0.2, 0.5, 1, 1.8, 3, 9]}`,
		points: [][]float64{{-2, 0.3, 0.1, -0.2, 0.5}, {-0.3, -1, 0.4, 0.7, 0.1}, {0.9, 0.2, -0.6, 1.1, -0.4}},
		want: func(x []float64) float64 {
			s, lp := math.Exp(x[0]), 0.0
			c := make([]float64, 4)
			for i := range c {
				u := 1 / (1 + math.Exp(-x[i+1]))
				c[i] = -1 + 3*u
				lp += math.Log(3 * u * (1 - u))
			}
			y := []float64{0.2, 0.5, 1, 1.8, 3, 9}
			k := 1
			for k < 6 && y[k-1] < s {
				k++
			}
			total := 0.0
			for i := range k {
				v := s * y[i]
				if i == 0 {
					v += c[2]
				}
				total += v * v
			}
			lp -= total / float64(k)
			for _, v := range y[k-1:] {
				lp -= (v - s) * (v - s) / 8
			}
			if k > 1 {
				for i := range 2 {
					d := (s*y[i]*c[0] - c[3]) / 1.5
					lp -= d * d / 2
				}
			}
			return lp
		},
	},
	{
		name: "Jacobian adjustment, truncation, levels",
		text: `
functions {
  real upto_jacobian(real x) {
    real t = x;
    while (t > 1) {
      t = t / 2;
      jacobian += -log(2);
    }
    vector[t > 0.7 ? 2 : 3] v = rep_vector(t, t > 0.7 ? 2 : 3);
    jacobian += sum(v);
    return t;
  }
}
data { real y; }
parameters { real<lower=0> a; }
transformed parameters { real b = upto_jacobian(a); }
model {
  y ~ normal(b, 1) T[0, ];
  0.3 ~ normal(0.1, 2);
}`,
		json:   `{"y": 0.8}`,
		points: [][]float64{{-1}, {0.4}, {2}},
		want: func(x []float64) float64 {
			a := math.Exp(x[0])
			lp, t := x[0], a
			for t > 1 {
				t /= 2
				lp -= math.Log(2)
			}
			if t > 0.7 {
				lp += 2 * t
			} else {
				lp += 3 * t
			}
			d := 0.8 - t
			return lp - d*d/2 - math.Log(0.5*math.Erfc(-t/math.Sqrt2))
		},
	},
	{
		// The search runs past the end at some parameter values, and is rejected there.
		name: "a while loop past the end where parameters may lead",
		text: `
data { int K; array[K] real knots; array[2] real x; }
parameters { real a; }
model {
  a ~ normal(0, 1);
  for (n in 1:2) {
    if (a > n) {
      int i = 1;
      while (x[n] > knots[i + 1]) i += 1;
      target += a * i;
    }
  }
}`,
		json:   `{"K": 3, "knots": [0, 1, 2], "x": [1.5, 3]}`,
		points: [][]float64{{0.1}, {1.5}},
		want: func(x []float64) float64 {
			lp := -x[0] * x[0] / 2
			if x[0] > 1 {
				lp += 2 * x[0]
			}
			return lp
		},
	},
	{
		// Sizes that do not match, in branches that parameters decide, must be rejected only where
		// the branch is taken.
		name: "wrong sizes where parameters may lead",
		text: `
functions {
  real sized(vector x, int n) {
    vector[n] s = rep_vector(0.5, 1);
    return sum(s) + sum(x);
  }
}
data { int N; vector[N] x; array[N] int g; }
parameters { real a; }
model {
  a ~ normal(0, 1);
  if (a < -0.3) target += 0.5 * a * sized(x, N);
  for (n in 1:N) {
    if (a > 0.8) target += a * sized(x[1:n], g[n]);
  }
}`,
		json:   `{"N": 3, "x": [1, 2, 4], "g": [1, 1, 1]}`,
		points: [][]float64{{0.1}, {1.5}},
		want: func(x []float64) float64 {
			lp := -x[0] * x[0] / 2
			if x[0] > 0.8 {
				lp += x[0] * (1.5 + 3.5 + 7.5)
			}
			return lp
		},
	},
}

// DecidedPrograms returns the texts and the data of these programs, for tests outside the package.
func DecidedPrograms() (list [][2]string) {
	for _, c := range decided {
		json := c.json
		if json == "" {
			json = "{}"
		}
		list = append(list, [2]string{c.text, json})
	}
	return list
}

// TestDecidedByParameters checks the log density of these programs, its first and second
// derivatives, and their outputs.
func TestDecidedByParameters(t *testing.T) {
	for _, c := range decided {
		t.Run(c.name, func(t *testing.T) {
			json := c.json
			if json == "" {
				json = "{}"
			}
			m := bindSource(t, c.text, json)
			if !m.Interpreted() || !slices.ContainsFunc(m.Loops().Notes, func(s string) bool { return strings.Contains(s, "is interpreted") }) {
				t.Fatalf("it is not interpreted: %v", m.Loops().Notes)
			}
			m = m.Clone()
			n := m.Dim()
			for _, x := range c.points {
				grad, hessian, product := make([]float64, n), make([]float64, n*n), make([]float64, n)
				lp, err := m.LogDensityGrad(x, grad)
				if err != nil {
					t.Fatalf("at %v: %v", x, err)
				}
				if want := c.want(x); math.Abs(lp-want) > 1e-11*max(1, math.Abs(want)) {
					t.Errorf("at %v: log density %v, want %v", x, lp, want)
				}
				moved := func(i int, h float64) []float64 {
					y := slices.Clone(x)
					y[i] += h
					return y
				}
				v := make([]float64, n)
				v[0] = 1
				if err := errors.Join(m.Hessian(x, hessian), m.HessianVector(x, v, product)); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					const h = 1e-5
					if want := (c.want(moved(i, h)) - c.want(moved(i, -h))) / (2 * h); math.Abs(grad[i]-want) > 1e-6*max(1, math.Abs(want)) {
						t.Errorf("at %v: gradient %d is %v, by differences %v", x, i, grad[i], want)
					}
					up, down := make([]float64, n), make([]float64, n)
					_, err1 := m.LogDensityGrad(moved(i, h), up)
					_, err2 := m.LogDensityGrad(moved(i, -h), down)
					if err := errors.Join(err1, err2); err != nil {
						t.Fatal(err)
					}
					for j := range n {
						if want := (up[j] - down[j]) / (2 * h); math.Abs(hessian[i*n+j]-want) > 1e-5*max(1, math.Abs(want)) {
							t.Errorf("at %v: second derivative %d, %d is %v, by differences %v", x, i, j, hessian[i*n+j], want)
						}
					}
					if math.Abs(product[i]-hessian[i*n]) > 1e-10*max(1, math.Abs(product[i])) {
						t.Errorf("at %v: product %v, Hessian %v", x, product, hessian)
					}
				}
			}
		})
	}
}

// TestInterpretedModel checks that an interpreted model rejects, prints, constrains and explains as
// other models do.
func TestInterpretedModel(t *testing.T) {
	c := decided[3]
	prog, list := Compile(source.NewFile("sizes.model", c.text))
	if list.HasErrors() {
		t.Fatal(list)
	}
	var printed []string
	m, err := prog.Bind(parsed(t, c.json), BindOptions{Print: func(s string) { printed = append(printed, s) }})
	if err != nil {
		t.Fatal(err)
	}
	grad := make([]float64, m.Dim())
	if _, err := m.LogDensityGrad(c.points[1], grad); err != nil || len(printed) != 1 || printed[0] != "k = 3" {
		t.Errorf("%v, prints %q", err, printed)
	}
	_, err = m.LogDensityGrad([]float64{5, 0, 0, 0, 0}, grad)
	var rejected *Rejection
	if !errors.As(err, &rejected) || !strings.Contains(err.Error(), "too many: 6") || rejected.Span.Begin().Line != 24 {
		t.Errorf("rejected with %v", err)
	}
	out := make([]float64, len(m.ConstrainedNames()))
	if err := m.Constrain(c.points[0], out); err != nil || math.Abs(out[5]-math.Exp(-2)) > 1e-15 || out[6] != out[1] {
		t.Errorf("%v constrains to %v, %v", m.ConstrainedNames(), out, err)
	}
	set := parsed(t, `{"a": 0.5, "c": [[0.5, 1], [-0.5, 0]]}`)
	x, err := m.Unconstrain(set)
	if err != nil || x[0] != 0.5 || math.Abs(x[1]) > 1e-15 {
		t.Errorf("unconstrained %v, %v", x, err)
	}
	if e, err := m.Explain(c.points[0], explained); err != nil || e.NS <= 0 || len(e.Loops.Notes) == 0 {
		t.Errorf("explained as %+v, %v", e, err)
	}
	forwardIsLess(t, m, c.points[0])
	stop := errors.New("stop")
	endless := bindSource(t, `parameters { real a; } model { int n = 0; while (a < 1e9) n += 1; vector[n] x; }`, "{}")
	endless.SetStop(func() error { return stop })
	if _, err := endless.LogDensityGrad([]float64{0}, grad[:1]); !errors.Is(err, stop) {
		t.Errorf("an endless loop ends with %v", err)
	}
}

// explained is longer than a tick of the clock of Windows, which is some milliseconds.
const explained = 50 * time.Millisecond

// forwardIsLess checks the explanation of a log density without its gradient. It must contain some
// work, but less than the whole, and only on lines that the explanation of the whole has too.
func forwardIsLess(t *testing.T, m *Model, x []float64) {
	t.Helper()
	whole, err := m.Explain(x, explained)
	if err != nil {
		t.Fatal(err)
	}
	value, err := m.ExplainValue(x, explained)
	if err != nil {
		t.Fatal(err)
	}
	ops := func(e *Explanation) (sum float64) {
		for _, b := range e.Blocks {
			sum += b.Ops
		}
		return sum
	}
	if !(value.NS > 0 && 0 < ops(value) && ops(value) < ops(whole)) {
		t.Errorf("the value takes %v ns and computes %v numbers, the whole %v", value.NS, ops(value), ops(whole))
	}
	lines := map[int]bool{}
	for _, l := range whole.Lines {
		lines[l.Line] = true
	}
	for _, l := range value.Lines {
		if !lines[l.Line] {
			t.Errorf("line %d is computed for the value alone", l.Line)
		}
	}
}

func TestExplainValue(t *testing.T) {
	m := bindSource(t, `
data { int N; vector[N] x; vector[N] y; }
parameters { real a; vector<lower=0>[2] s; }
model {
  s ~ exponential(1);
  y ~ normal(a * exp(x), s[1] + s[2]);
}`, `{"N": 3, "x": [1, 2, 3], "y": [1, 2, 4]}`)
	forwardIsLess(t, m, []float64{0.5, 0.1, -0.1})
}
