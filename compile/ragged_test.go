package compile

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/lang/source"
)

// raggedSizes are the sizes of rows: none, all empty, empty ones at each end, one element, two.
var raggedSizes = [][]int{{}, {0}, {1}, {2}, {0, 0}, {0, 1}, {1, 0}, {2, 2}, {2, 0, 1}, {0, 3, 0}, {1, 2, 3, 0}}

// raggedCases are programs with ragged variables, each with the program that says the same with all
// rows one after another. Both read J, n, start and the data of their own form.
var raggedCases = []struct{ name, program, byHand string }{
	{"rows", `data { int J; array[J] int n; array[J] vector[n] y; array[J] vector[n] t; }
		parameters { vector[J] a; real b; } model { for (j in 1:J) y[j] ~ normal(a[j] + b * t[j], 1); a ~ normal(0, 1); b ~ normal(0, 2); }`,
		`parameters { vector[J] a; real b; } model { for (j in 1:J) for (k in 1:n[j]) y[start[j]+k-1] ~ normal(a[j] + b * t[start[j]+k-1], 1); a ~ normal(0, 1); b ~ normal(0, 2); }`},
	{"elements", `data { int J; array[J] int n; array[J] vector[n] y; array[J] vector[n] t; }
		parameters { vector[J] a; real b; } model { for (j in 1:J) for (k in 1:n[j]) y[j, k] ~ normal(a[j] + b * t[j][k], 1); a ~ normal(0, 1); b ~ normal(0, 2); }`,
		`parameters { vector[J] a; real b; } model { for (j in 1:J) for (k in 1:n[j]) y[start[j]+k-1] ~ normal(a[j] + b * t[start[j]+k-1], 1); a ~ normal(0, 1); b ~ normal(0, 2); }`},
	{"all elements, a loop over rows, and sizes", `data { int J; array[J] int n; array[J, n] real y; array[J] row_vector[n] t; }
		parameters { real b; } model { to_vector(y) ~ normal(b, 1); for (row in t) { row ~ normal(b, 2); target += b * size(row); for (x in row) target += b * x; }
			b ~ normal(sum(y) + size(y) + num_elements(t), 2); }`,
		`parameters { real b; } model { y ~ normal(b, 1); t ~ normal(b, 2); target += b * sum(n) + b * sum(t); b ~ normal(sum(y) + J + sum(n), 2); }`},
	{"parameters with bounds", `data { int J; array[J] int n; array[J] vector[n] y; array[J, n] real t; }
		parameters { array[J] vector<lower=0>[n] s; array[J, n] real<lower=t, upper=9> u; array[J] vector<offset=1, multiplier=2>[n] m; }
		model { for (j in 1:J) { y[j] ~ normal(m[j], s[j]); s[j] ~ exponential(1); m[j] ~ normal(0, 1); u[j] ~ normal(0, 3); } }`,
		`parameters { vector<lower=0>[sum(n)] s; array[sum(n)] real<lower=to_array_1d(t), upper=9> u; vector<offset=1, multiplier=2>[sum(n)] m; }
		model { y ~ normal(m, s); s ~ exponential(1); m ~ normal(0, 1); u ~ normal(0, 3); }`},
	{"matrices", `data { int J; array[J] int n; array[J] vector[n] y; array[J] vector[n] t; }
		transformed data { array[J] matrix[n, 2] x; array[J] matrix[2, n] w; array[J, 2] vector[n] u;
			for (j in 1:J) { for (k in 1:n[j]) { x[j, k] = [1, t[j, k]]; w[j][, k] = [2, y[j, k]]'; } u[j, 1] = t[j]; u[j, 2] = 2 * y[j]; } }
		parameters { vector[2] b; } model { for (j in 1:J) { y[j] ~ normal(x[j] * b, 1); y[j] ~ normal((b' * w[j])', 2); u[j, 2] ~ normal(b[1], 1);
			for (k in 1:n[j]) target += x[j, k, 2] * b[1] + w[j, 2, k] * b[2] + u[j, 1, k] * b[1]; } b ~ normal(0, 1); }`,
		`parameters { vector[2] b; } model { y ~ normal(b[1] + b[2] * t, 1); y ~ normal(2 * b[1] + b[2] * y, 2); 2 * y ~ normal(b[1], 1);
			target += 2 * sum(t) * b[1] + sum(y) * b[2]; b ~ normal(0, 1); }`},
	{"functions", `functions {
			real total(array[] vector y, real b) { real s = 0; for (row in y) s += b * sum(row); return s; }
			real first(array[] vector y, int j, real b) { return size(y[j]) > 0 ? y[j, 1] * b + total(y, b) : total(y, b) + size(y); }
			real bell_lpdf(array[] vector y, array[,] real t, real b) { real s = 0; for (j in 1:size(y)) s += normal_lpdf(y[j] | b * to_vector(t[j]), 1); return s; }
			void note_lp(array[] vector y, real b) { target += total(y, b); }
			real local(array[] int m, real b) { array[size(m)] vector[m] v; for (j in 1:size(m)) for (k in 1:m[j]) v[j, k] = b * k; return total(v, 1) + sum(to_vector(v)); } }
		data { int J; array[J] int n; array[J] vector[n] y; array[J, n] real t; }
		parameters { real b; } model { b ~ normal(0, 1); y ~ bell(t, b); target += bell_lpdf(y | t, b) + total(y, b) + local(n, b); note_lp(y, b); if (J > 0) target += first(y, J, b); }`,
		`parameters { real b; } model { b ~ normal(0, 1); y ~ normal(b * t, 1); target += normal_lpdf(y | b * t, 1) + 2 * b * sum(y);
			for (j in 1:J) target += b * n[j] * (n[j] + 1); if (J > 0) target += b * sum(y) + (n[J] > 0 ? y[start[J]] * b : J); }`},
	{"local and computed ones", `data { int J; array[J] int n; array[J] vector[n] y; array[J, n] real t; }
		transformed data { array[J] int m = n; array[J] vector[m] z; for (j in 1:J) z[j] = 2 * y[j]; }
		parameters { real b; }
		transformed parameters { array[J] vector[n] eta; for (j in 1:J) eta[j] = b * y[j]; array[J] vector[n] copy = eta; { array[J] vector[m] v; for (j in 1:J) v[j] = z[j] * b; eta = copy; } }
		model { array[J] vector[n] mu = eta; array[J] vector[m] nu; for (j in 1:J) { mu[j] += 1; mu[j, :] *= b; nu[j, 1:n[j]] = z[j][:n[j]]; if (n[j] > 1) { mu[j, {2, 1}] = y[j, 1:2]; mu[j][2:] = to_vector(t[j, 2:n[j]]) * b; } }
			to_vector(mu) ~ normal(b, 1); to_vector(eta) ~ normal(0, 1); b ~ normal(0, 1); }`,
		`parameters { real b; } model { vector[sum(n)] mu = (b * y + 1) * b; for (j in 1:J) if (n[j] > 1) { mu[start[j]] = y[start[j]+1]; for (k in 2:n[j]) mu[start[j]+k-1] = t[start[j]+k-1] * b; }
			mu ~ normal(b, 1); b * y ~ normal(0, 1); b ~ normal(0, 1); }`},
	{"missing and discrete", `data { int J; array[J] int n; array[J] vector<lower=0, missing>[n] y; array[J] vector[n] t; }
		parameters { array[J, n] int<lower=0, upper=1> z; real b; } model { for (j in 1:J) for (k in 1:n[j]) { z[j, k] ~ bernoulli(0.3); y[j, k] ~ normal(z[j, k] * b, 1); } b ~ normal(0, 1); }`,
		`parameters { real b; } model { for (k in 1:sum(n)) target += log_mix(0.3, normal_lpdf(y[k] | b, 1), normal_lpdf(y[k] | 0, 1)); b ~ normal(0, 1); }`},
}

// TestRagged compares ragged variables with programs whose rows are one after another, and with the
// program for Stan.
func TestRagged(t *testing.T) {
	for _, c := range raggedCases {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range raggedSizes {
				rows, flat, start := []string{}, []string{}, []string{}
				next := 0
				for _, k := range n {
					row := []string{}
					start = append(start, fmt.Sprint(next+1))
					for range k {
						next++
						row = append(row, fmt.Sprintf("%g", float64(next*next%7)+0.5))
					}
					rows, flat = append(rows, "["+strings.Join(row, ", ")+"]"), append(flat, row...)
				}
				sizes := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(n)), ", "), "[]")
				values := func(list []string) string {
					return fmt.Sprintf(`{"J": %d, "n": [%s], "start": [%s], "y": [%[4]s], "t": [%[4]s]}`, len(n), sizes, strings.Join(start, ", "), strings.Join(list, ", "))
				}
				got := boundTo(t, c.program, values(rows), BindOptions{NoPropto: true})
				want := boundTo(t, "data { int J; array[J] int n; array[J] int start; vector[sum(n)] y; vector[sum(n)] t; }"+c.byHand, values(flat), BindOptions{NoPropto: true})
				stan := got
				if next > 0 || c.name != "functions" { // in Stan, vectors without elements have no ranges
					stan = boundTo(t, got.Stan(), values(flat), BindOptions{NoPropto: true})
				}
				if got.Dim() != want.Dim() {
					t.Fatalf("%v: %d parameters, want %d", n, got.Dim(), want.Dim())
				}
				rng := rand.New(rand.NewPCG(1, 2))
				for range 3 {
					x := make([]float64, got.Dim())
					for i := range x {
						x[i] = rng.NormFloat64()
					}
					lp, g := densityAt(t, got, x)
					lq, h := densityAt(t, want, x)
					ls, s := densityAt(t, stan, x)
					same := func(a, b float64) bool { return math.Abs(a-b) <= 1e-11*max(1, math.Abs(b)) }
					if !same(lp, lq) || !slices.EqualFunc(g, h, same) {
						t.Errorf("%v: log density %v and gradient %v, by hand %v and %v", n, lp, g, lq, h)
					}
					if !same(lp, ls) || !slices.EqualFunc(g, s, same) {
						t.Errorf("%v: log density %v and gradient %v, in Stan's program %v and %v\n%s", n, lp, g, ls, s, got.Stan())
					}
					if a, err := got.Agree(x, rng, time.Minute); err != nil || a.Wrong() {
						t.Errorf("%v: the engines differ: %v %v", n, a, err)
					}
				}
			}
		})
	}
}

func densityAt(t *testing.T, m *Model, x []float64) (float64, []float64) {
	t.Helper()
	g := make([]float64, len(x))
	lp, err := m.LogDensityGrad(x, g)
	if err != nil {
		t.Fatal(err)
	}
	return lp, g
}

// TestRaggedNames checks the names of outputs: only of elements that exist.
func TestRaggedNames(t *testing.T) {
	m := boundTo(t, `data { array[2] int n; array[2, 2] int k; array[2] vector<missing>[n] y; }
		parameters { array[2] vector[n] a; array[2, n, 2] real b; array[2, 2] vector[n] c; array[2, 2] vector[k] d; array[2] matrix[2, n] e; }`,
		`{"n": [0, 2], "k": [[1, 0], [0, 2]], "y": [[], [1, null]]}`, BindOptions{})
	want := "y.2.2 a.2.1 a.2.2 b.2.1.1 b.2.2.1 b.2.1.2 b.2.2.2 c.2.1.1 c.2.2.1 c.2.1.2 c.2.2.2 d.1.1.1 d.2.2.1 d.2.2.2 e.2.1.1 e.2.2.1 e.2.1.2 e.2.2.2"
	if got := strings.Join(m.OutputNames(), " "); got != want {
		t.Errorf("outputs %s, want %s", got, want)
	}
	x, err := m.Unconstrain(parsed(t, `{"y": [7], "a": [[], [1, 2]], "b": [[], [[1, 2], [3, 4]]], "c": [[[], []], [[1, 2], [3, 4]]], "d": [[[1], []], [[], [2, 3]]], "e": [[[], []], [[1, 2], [3, 4]]]}`))
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, len(m.ConstrainedNames()))
	if err := m.Constrain(x, values); err != nil {
		t.Fatal(err)
	}
	if want := []float64{7, 1, 2, 1, 3, 2, 4, 1, 3, 2, 4, 1, 2, 3, 1, 3, 2, 4}; !slices.Equal(values, want) {
		t.Errorf("values %v, want %v", values, want)
	}
}

// TestRaggedMistakes checks messages about data, sizes and indices.
func TestRaggedMistakes(t *testing.T) {
	const head = "data { int J; array[J] int n; array[J] vector[n] y; }"
	for _, c := range []struct{ program, values, want string }{
		{head, `{"J": 2, "n": [1, 2], "y": [[1], [2]]}`, "row 2 of `y` has 1 element, but is declared with 2"},
		{head, `{"J": 2, "n": [1, 2], "y": [[1], [2, 3], [4]]}`, "`y` has the wrong number of rows"},
		{head, `{"J": 2, "n": [1, 2], "y": [1, 2]}`, "`y` has the wrong size"},
		{head, `{"J": 2, "n": [1, 2], "y": [[1], [[2], [3]]]}`, "y[2,1] is an array"},
		{head, `{"J": 2, "n": [1, -1], "y": [[1], []]}`, "the size of row 2 of `y` is -1"},
		{"data { array[2] int n; array[3] vector[n] y; }", `{"n": [1, 2], "y": [[1], [2, 3], []]}`, "`y` is declared with 3 rows, but n gives the sizes of 2"},
		{"data { array[2] int n; } parameters { array[3] vector[n] y; }", `{"n": [1, 2]}`, "`y` is declared with 3 rows, but n gives the sizes of 2"},
		{"data { array[2] int n; vector[3] z; }", `{"n": [1, 2], "z": [[1], [2, 3]]}`, "z[2] has 2 elements, but z[1] has 1"},
		{head + " transformed data { real x = y[1, 2]; }", `{"J": 2, "n": [1, 2], "y": [[1], [2, 3]]}`, "index 2 is out of range: the size of the row is 1"},
		{head + " transformed data { real x = sum(y[2, 0:1]); }", `{"J": 2, "n": [1, 2], "y": [[1], [2, 3]]}`, "0:1 is out of range: the size of the row is 2"},
		{head + " transformed data { real x = sum(y[1, {1, 2}]); }", `{"J": 2, "n": [1, 2], "y": [[1], [2, 3]]}`, "index 2 is out of range: the size of the row is 1"},
		{head + " transformed data { array[J] vector[n] z = {[1]'}; }", `{"J": 2, "n": [1, 2], "y": [[1], [2, 3]]}`, "the number of rows of z is 2"},
		{head + " transformed data { { array[3] vector[n] z; z[1] = y[1]; } }", `{"J": 2, "n": [1, 2], "y": [[1], [2, 3]]}`, "z is declared with 3 rows, but the array of sizes has 2"},
		{head + " transformed data { { array[1] int k = {2}; array[J, k] int z; z[1] = {1, 2}; } }", `{"J": 2, "n": [1, 2], "y": [[1], [2, 3]]}`, "z is declared with 2 rows, but the array of sizes has 1"},
		{"data { int J; array[2, J] int n; } transformed data { { array[2, 2] vector[n] z; z[1, 1] = [1]'; } }", `{"J": 1, "n": [[1], [1]]}`, "z is declared with 2 rows, but the array of sizes has 1"},
		{head + " parameters { real a; } model { for (j in 1:J) y[j, n[j] + 1] ~ normal(a, 1); }", `{"J": 3, "n": [1, 2, 4], "y": [[1], [2, 3], [1, 2, 3, 4]]}`, "index 2 is out of range: the size of the row is 1"},
		{head + " parameters { real a; } model { a ~ normal(y[2, 3], 1); }", `{"J": 2, "n": [1, 2], "y": [[1], [2, 3]]}`, "m.stan:1:102: error: index 3 is out of range: the size of the row is 2"},
		{head + " parameters { real a; } model { a ~ normal(sum(y[1, 1:2]), 1); }", `{"J": 2, "n": [1, 2], "y": [[1], [2, 3]]}`, "1:2 is out of range: the size of the row is 1"},
		{head + " parameters { real a; } model { a ~ normal(y[3, 1], 1); }", `{"J": 2, "n": [1, 2], "y": [[1], [2, 3]]}`, "`y` has 2 elements in dimension 1"},
	} {
		p, list := Compile(source.NewFile("m.stan", c.program))
		if p == nil {
			t.Error(list)
			continue
		}
		set, _, err := p.Coded(parsed(t, c.values))
		if err == nil {
			var m *Model
			if m, err = p.Bind(set, BindOptions{}); err == nil {
				err = m.Impossible()
			}
		}
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Error()+e.List[0].Detail, c.want) {
			t.Errorf("%s with %s: error %v, want %s", c.program, c.values, err, c.want)
		} else if d := e.List[0]; !d.Span.IsValid() {
			t.Errorf("%s: the message %v has no position", c.program, err)
		}
	}
}

// TestRaggedPrinted checks that print shows the rows of ragged variables.
func TestRaggedPrinted(t *testing.T) {
	const program = `functions { void show(array[] vector y) { print("f", y); } }
data { int J; array[J] int n; array[J] vector[n] y; }
transformed data {
  array[J] matrix[n, 2] x;
  array[J] matrix[2, n] w;
  array[J, n] int c;
  array[2, J] int m;
  for (i in 1:2) m[i] = n;
  array[2, J] vector[m] v;
  for (j in 1:J) for (k in 1:n[j]) { x[j, k] = [j, k]; w[j][, k] = [j, k]'; c[j, k] = k; for (i in 1:2) v[i, j, k] = 10 * i + j; }
  print(y, " ", x); print(w, c); print(v); show(y);
}
parameters { real a; }
model { array[J] vector[n] mu; for (j in 1:J) mu[j] = y[j] * 2; print(mu, size(y)); a ~ normal(0, 1); }`
	for _, c := range []struct{ values, want string }{
		{`{"J": 0, "n": [], "y": []}`, "[] []|[][]|[[],[]]|f[]|[]0"},
		{`{"J": 2, "n": [0, 0], "y": [[], []]}`, "[[],[]] [[],[]]|[[[],[]],[[],[]]][[],[]]|[[[],[]],[[],[]]]|f[[],[]]|[[],[]]2"},
		{`{"J": 3, "n": [2, 0, 1], "y": [[1, 2], [], [3]]}`,
			"[[1,2],[],[3]] [[[1,1],[1,2]],[],[[3,1]]]|[[[1,1],[1,2]],[[],[]],[[3],[1]]][[1,2],[],[1]]|[[[11,11],[],[13]],[[21,21],[],[23]]]|f[[1,2],[],[3]]|[[2,4],[],[6]]3"},
	} {
		var lines []string
		m := boundTo(t, program, c.values, BindOptions{Print: func(s string) { lines = append(lines, s) }})
		densityAt(t, m, []float64{0.5})
		if got := strings.Join(lines, "|"); got != c.want {
			t.Errorf("%s: printed %s, want %s", c.values, got, c.want)
		}
	}
}
