package compile_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// This file: integers of the data with missing elements, compared with the sum over all ways to
// complete the data, each evaluated by the same program without `missing`.

// holed is a program with data, some of whose integers are missing: null.
type holed struct {
	name, text, data string
	outputs          string // all outputs after the parameters, in order
}

var holedCases = []holed{
	{"covariates", `data { int N; array[N] int<lower=0, upper=1, missing> x; array[N] int<lower=0, upper=1> y; vector[N] u; }
		parameters { real<lower=0, upper=1> p; vector[3] b; }
		model { x ~ bernoulli(p); y ~ bernoulli_logit(b[1] + b[2] * u + b[3] * to_vector(x)); }
		generated quantities { int s = sum(x); }`,
		`{"N": 5, "x": [1, null, 0, null, 1], "y": [1, 0, 1, 1, 0], "u": [0.5, -1, 0.2, 1, 2]}`, "x.2 x.4 s"},
	{"outcomes in a chain", `data { int N; int T; array[N, T] int<lower=0, upper=2, missing> y; }
		parameters { array[3] simplex[3] p; }
		model { for (n in 1:N) for (t in 2:T) y[n, t] + 1 ~ categorical(p[y[n, t - 1] + 1]); }`,
		`{"N": 3, "T": 4, "y": [[0, null, 1, null], [null, null, 2, 2], [1, 0, 2, 0]]}`, "y.1.2 y.1.4 y.2.1 y.2.2"},
	{"a scalar", `functions { real unif_lpmf(int k) { return -0.1 * k; } } data { int<lower=-1, upper=2, missing> k; } parameters { real m; } model { m ~ normal(k, 1); k ~ unif(); }`, `{"k": null}`, "k"},
	{"all known", `data { int N; array[N] int<lower=0, upper=4, missing> x; } parameters { real<lower=0, upper=1> p; } model { x ~ binomial(4, p); }
		generated quantities { int s = sum(x); }`,
		`{"N": 3, "x": [1, 4, 0]}`, "s"},
	{"all missing", `data { int N; array[N] int<lower=0, upper=4, missing> x; } parameters { real<lower=0, upper=1> p; } model { x ~ binomial(4, p); sum(x) ~ poisson(3); }`,
		`{"N": 3, "x": [null, null, null]}`, "x.1 x.2 x.3"},
	{"values that data rule out", `data { int N; array[N] int<lower=0, upper=6, missing> x; array[N] int y; } parameters { real<lower=0, upper=1> p; real<lower=0> l; }
		model { x ~ poisson(l); y ~ binomial(x, p); }`, `{"N": 4, "x": [null, 3, null, null], "y": [2, 1, 6, 0]}`, "x.1 x.3 x.4"},
	{"no elements", `data { int N; array[N] int<lower=0, upper=4, missing> x; } parameters { real<lower=0, upper=1> p; } model { x ~ binomial(4, p); }`, `{"N": 0, "x": []}`, ""},
	{"bounds of elements", `data { int N; array[N] int lo; array[N] int<lower=lo, upper=5, missing> x; } parameters { real<lower=0> l; }
		model { x ~ poisson(l); l ~ exponential(1); }`, `{"N": 4, "lo": [0, 3, 5, 1], "x": [0, null, null, 4]}`, "x.2 x.3"},
	{"an index", `data { int N; int K; array[N] int<lower=1, upper=K, missing> g; vector[N] y; } parameters { vector[K] m; simplex[K] w; }
		transformed parameters { vector[N] e; for (n in 1:N) e[n] = m[g[n]]; }
		model { g ~ categorical(w); y ~ normal(e, 1); }`, `{"N": 4, "K": 3, "g": [1, null, 3, null], "y": [0.1, -0.5, 1, 2]}`, "g.2 g.4 e.1 e.2 e.3 e.4"},
	{"a discrete parameter at it", `data { int N; array[N] int<lower=1, upper=2, missing> g; vector[N] y; } parameters { array[2] int<lower=0, upper=1> z; real m; }
		model { g ~ categorical([0.3, 0.7]'); z ~ bernoulli(0.4); for (n in 1:N) y[n] ~ normal(m * z[g[n]], 1); }`, `{"N": 3, "g": [2, null, 1], "y": [0.1, -0.5, 1]}`, ""},
	{"rows and conditions", `data { int N; int T; array[N, T] int<lower=0, upper=1, missing> y; array[N] int c; } parameters { real<lower=0, upper=1> p; real<lower=0> l; }
		model { for (n in 1:N) { y[n] ~ bernoulli(p); if (y[n, 1] == 1) c[n] ~ poisson(l); else target += -l * sum(y[n, 2:T]); } }`,
		`{"N": 4, "T": 2, "y": [[null, 1], [0, null], [1, 1], [null, null]], "c": [0, 1, 2, 3]}`, "y.1.1 y.2.2 y.4.1 y.4.2"},
}

// holedCounts have integers without an upper bound: one with ~ is that of the enumeration alone.
var holedCounts = []holed{
	{"outcomes", `data { int N; array[N] int<lower=0, upper=40~, missing> y; vector[N] x; } parameters { real a; real b; } model { a ~ normal(0, 1); y ~ poisson_log(a + b * x); }
		generated quantities { int s = sum(y); }`, `{"N": 4, "y": [2, null, 0, null], "x": [0.5, -1, 0.2, 1]}`, "y.2 y.4 s"},
	{"covariate", `data { int N; array[N] int<lower=0, upper=30~, missing> k; vector[N] y; } parameters { real<lower=0> l; real<lower=0> f; vector[2] b; }
		model { k ~ neg_binomial_2(l, 5 + f); y ~ normal(b[1] + b[2] * to_vector(k), 2); }`, `{"N": 4, "k": [2, null, 1, null], "y": [0.5, -1, 0.2, 4]}`, "k.2 k.4"},
	{"covariate of a logistic regression", `data { int N; array[N] int<lower=0, upper=30~, missing> k; array[N] int<lower=0, upper=1> y; } parameters { real<lower=0> l; vector[2] b; }
		model { k ~ poisson(l); y ~ bernoulli_logit(b[1] + b[2] * to_vector(k)); }`, `{"N": 4, "k": [2, null, 1, null], "y": [0, 1, 1, 0]}`, "k.2 k.4"},
	{"thinned", `data { int N; array[N] int<lower=0, upper=40~, missing> k; array[N] int<lower=0, upper=20~, missing> y; } parameters { real<lower=0> l; real<lower=0, upper=1> p; }
		model { k ~ poisson(3 * l); y ~ binomial(k, p); }`, `{"N": 4, "k": [2, null, 1, 4], "y": [1, 2, null, 4]}`, "k.2 y.3"},
	{"a scalar", `data { int<lower=2, upper=60~, missing> k; real y; } parameters { real<lower=0> l; real b; } model { k - 2 ~ poisson(l); y ~ normal(b * k, 1); }`, `{"k": null, "y": 1.5}`, "k"},
	{"a time series", `data { int T; array[T] int<lower=0, upper=25~, missing> y; } parameters { real<lower=0, upper=1> r; real<lower=0> m; }
		model { for (t in 2:T) y[t] ~ poisson(m + r * y[t - 1]); }`, `{"T": 6, "y": [1, 0, null, 2, 3, null]}`, "y.3 y.6"},
	{"none missing", `data { int N; array[N] int<lower=0, upper=40~, missing> y; } parameters { real<lower=0> l; } model { y ~ poisson(l); }`, `{"N": 2, "y": [2, 0]}`, ""},
	{"all missing", `data { int N; array[N] int<lower=0, upper=50~, missing> y; } parameters { real<lower=0> l; } model { l ~ exponential(1); y ~ poisson(l); sum(y) ~ poisson(2); }`, `{"N": 1, "y": [null]}`, "y.1"},
	{"one row", `data { int N; array[N] int<lower=0, upper=60~, missing> y; array[N] int<lower=0, upper=40~, missing> z; } parameters { real<lower=0> l; } model { y ~ poisson(l); z ~ poisson(0.5 + 0.3 * to_vector(y)); }`, `{"N": 1, "y": [null], "z": [3]}`, "y.1"},
	{"no row", `data { int N; array[N] int<lower=0, upper=60~, missing> y; } parameters { real<lower=0> l; } model { y ~ poisson(l); }`, `{"N": 0, "y": []}`, ""},
	{"rows", `data { int N; int J; array[N, J] int<lower=0, upper=40~, missing> y; } parameters { vector[J] m; real<lower=0, upper=1> p; }
		model { for (j in 1:J) y[, j] ~ poisson_log(m[j]); for (n in 1:N) target += p * (y[n, 1] > 1); }`, `{"N": 3, "J": 2, "y": [[null, 1], [0, null], [2, 1]]}`, "y.1.1 y.2.2"},
}

// completions returns the data with each combination of values for what is missing.
func completions(t *testing.T, text string, d string) (out []*data.Set) {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(d), &all); err != nil {
		t.Fatal(err)
	}
	type place struct {
		set    func(v int)
		lo, hi int
	}
	number := func(name string, at int) int {
		switch v := all[name].(type) {
		case float64:
			return int(v)
		case []any:
			return int(v[at].(float64))
		}
		t.Fatal(name)
		return 0
	}
	var places []place
	for _, decl := range strings.Split(text, ";") {
		_, rest, ok := strings.Cut(decl, "int<lower=")
		if !ok || !strings.Contains(rest, "missing>") {
			continue
		}
		fields := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("=<>, ", r) })
		lo, hi, name := fields[0], fields[2], fields[4]
		bound := func(s string, at int) int {
			n := 0
			if _, err := fmt.Sscan(s, &n); err != nil {
				return number(s, at)
			}
			return n
		}
		if all[name] == nil {
			places = append(places, place{func(v int) { all[name] = v }, bound(lo, 0), bound(hi, 0)})
		}
		list, _ := all[name].([]any)
		for i, x := range list {
			if x == nil {
				places = append(places, place{func(v int) { list[i] = v }, bound(lo, i), bound(hi, i)})
			}
			row, _ := x.([]any)
			for k, y := range row {
				if y == nil {
					places = append(places, place{func(v int) { row[k] = v }, bound(lo, i), bound(hi, i)})
				}
			}
		}
	}
	var visit func(k int)
	visit = func(k int) {
		if k < len(places) {
			for v := places[k].lo; v <= places[k].hi; v++ {
				places[k].set(v)
				visit(k + 1)
			}
			return
		}
		b, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		set, err := data.ParseText("data.json", string(b), data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, set)
	}
	visit(0)
	return out
}

// bindHoled binds a program to data that may lack integers.
func bindHoled(t *testing.T, text, values string, o compile.BindOptions) *compile.Model {
	t.Helper()
	p, list := compile.Compile(source.NewFile("m.stan", text))
	if list.HasErrors() {
		t.Fatalf("%v\n%s", list, text)
	}
	set, err := data.ParseJSON("data.json", []byte(values))
	if err != nil {
		t.Fatal(err)
	}
	if set, _, err = p.Coded(set); err != nil {
		t.Fatal(err)
	}
	m, err := p.Bind(set, o)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, text, values)
	}
	return m
}

func (c holed) check(t *testing.T, discrete bool) {
	t.Helper()
	o := compile.BindOptions{NoPropto: true}
	m := bindHoled(t, uncounted.ReplaceAllString(c.text, ""), c.data, o)
	c.text = strings.ReplaceAll(c.text, "~,", ",")
	if got := strings.Join(m.OutputNames()[len(m.OutputNames())-len(strings.Fields(c.outputs)):], " "); c.outputs != "" && got != c.outputs {
		t.Errorf("outputs end in %q, want %q", got, c.outputs)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, m.Dim())
	for i := range x {
		x[i] = 1.6*rng.Float64() - 0.8
	}
	grad := make([]float64, len(x))
	lp, err := m.LogDensityGrad(x, grad)
	if err != nil {
		t.Fatal(err)
	}
	if !discrete { // Stan's program reads data without holes
		plain := strings.NewReplacer("null", "0", `"NaN"`, "0").Replace(c.data)
		stan := bindHoled(t, m.Stan(), plain, o)
		g := make([]float64, len(x))
		if lq, err := stan.LogDensityGrad(x, g); err != nil || !near(lp, lq, 1e-12) || !slices.EqualFunc(grad, g, func(a, b float64) bool { return near(a, b, 1e-12) }) {
			t.Errorf("log density %v, in Stan's program %v, %v\n%s", lp, lq, err, m.Stan())
		}
	}
	top := math.Inf(-1)
	var logs []float64
	var grads [][]float64
	var completed []*data.Set
	complete := strings.ReplaceAll(c.text, ", missing", "")
	for _, set := range completions(t, c.text, c.data) {
		p, list := compile.Compile(source.NewFile("m.stan", complete))
		if list.HasErrors() {
			t.Fatal(list)
		}
		g := make([]float64, len(x))
		b, err := p.Bind(set, o)
		if err != nil {
			continue // these values are impossible
		}
		l, err := b.LogDensityGrad(x, g)
		if err != nil {
			continue
		}
		top, logs, grads, completed = max(top, l), append(logs, l), append(grads, g), append(completed, set)
	}
	sum, want := 0.0, make([]float64, len(x))
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	for k, l := range logs {
		for i := range want {
			want[i] += math.Exp(l-top) / sum * grads[k][i]
		}
	}
	if want := top + math.Log(sum); !near(lp, want, 1e-10) {
		t.Errorf("log density %.15g, by enumeration %.15g\n%s\n%s", lp, want, c.data, m.Stan())
	}
	for i := range want {
		if !near(grad[i], want[i], 1e-9) {
			t.Errorf("derivative %d is %.15g, by enumeration %.15g\n%s\n%s", i, grad[i], want[i], c.data, m.Stan())
		}
	}
	// The average of each missing value among draws.
	const draws = 500
	names := m.OutputNames()
	total, dst := make([]float64, len(names)), make([]float64, len(names))
	for range draws {
		if err := m.Generate(x, rng, dst); err != nil {
			t.Fatal(err)
		}
		for i, v := range dst {
			total[i] += v
		}
	}
	for i, name := range names {
		stem, rest, _ := strings.Cut(name, ".")
		v, ok := completed[0].Get(stem)
		if !ok {
			continue
		}
		at := 0
		if rest != "" {
			for d, s := range strings.Split(rest, ".") {
				n, err := strconv.Atoi(s)
				if err != nil {
					t.Fatal(err)
				}
				at = at*v.Shape[d] + n - 1
			}
		}
		mean, square := 0.0, 0.0
		for k, set := range completed {
			v, _ := set.Get(stem)
			p, x := math.Exp(logs[k]-top)/sum, float64(v.Ints[at])
			mean, square = mean+p*x, square+p*x*x
		}
		if sd := math.Sqrt(max(0, square-mean*mean) / draws); math.Abs(total[i]/draws-mean) > 5*sd+1e-9+3.0/draws {
			t.Errorf("%s is %v on average, want %v", name, total[i]/draws, mean)
		}
	}
}

// uncounted matches an upper bound of the enumeration alone.
var uncounted = regexp.MustCompile(`, upper=\d+~`)

func TestHoles(t *testing.T) {
	for _, c := range slices.Concat(holedCases, holedCounts) {
		t.Run(c.name, func(t *testing.T) {
			c.check(t, strings.Contains(c.text, "int<lower=0, upper=1> z"))
		})
	}
}

// holedStatements are statements about x, an array of N numbers from 0 to 2, w, N rows of T zeros
// and ones, and k, a number from 0 to 8, which may all have holes.
var holedStatements = []string{
	"x ~ binomial(2, p);",
	"for (n in 1:N) x[n] + 1 ~ categorical(s);",
	"for (n in 2:N) target += a * x[n] * x[n - 1];",
	"y ~ normal(a + b * to_vector(x), 1);",
	"for (n in 1:N) y[n] ~ normal(m[x[n] + 1], 1.5);",
	"for (n in 1:N) w[n] ~ bernoulli(p);",
	"for (n in 1:N) for (t in 2:T) w[n, t] ~ bernoulli(w[n, t - 1] == 1 ? p : 0.3);",
	"for (n in 1:N) w[n, 1] ~ bernoulli_logit(a + b * x[n]);",
	"for (n in 1:N) if (w[n, T] == 1) y[n] ~ normal(a, 2); else target += -0.5 * x[n];",
	"for (n in 1:N) { real e = a; for (t in 1:T) e += b * w[n, t]; y[n] ~ normal(e, 1); }",
	"for (n in 1:N) sum(w[n]) ~ poisson(1.5);",
	"k ~ poisson(1.2);",
	"for (n in 1:N) y[n] ~ normal(b * k, 2);",
	"for (n in 1:N) x[n] ~ poisson(1 + 0.5 * k);",
	"for (n in 1:size(x)) target += inv_logit(b) * (x[n] >= 1);",
	"for (n in 1:N) y[n] ~ normal(n < k ? a : b, 1);",
	"for (n in 1:N) if (n >= k || x[n] == 1) y[n] ~ cauchy(a, 2); else target += log(n + 1 == k ? p : 0.5);",
	"for (n in k:N) if (n > 0) y[n] ~ normal(a, 2);",
	"for (t in 1:T) { int c = 0; for (n in 1:N) c += w[n, t]; c ~ binomial(N, p); }",
}

// TestHolesRandom draws programs, data and holes.
func TestHolesRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 4))
	cases := 60
	if testing.Short() {
		cases = 15
	}
	for i := range cases {
		var model []string
		for _, k := range rng.Perm(len(holedStatements))[:1+rng.IntN(4)] {
			model = append(model, holedStatements[k])
		}
		n, columns := rng.IntN(5), 1+rng.IntN(3)
		share := []float64{0, 0.2, 0.5, 1}[rng.IntN(4)]
		left := 7
		value := func(limit int) any {
			if left > 0 && rng.Float64() < share {
				left--
				return nil
			}
			return rng.IntN(limit)
		}
		x, w, y := make([]any, n), make([][]any, n), make([]float64, n)
		for j := range n {
			x[j], y[j] = value(3), rng.NormFloat64()
			w[j] = make([]any, columns)
			for t := range columns {
				w[j][t] = value(2)
			}
		}
		b, err := json.Marshal(map[string]any{"N": n, "T": columns, "x": x, "w": w, "y": y, "k": value(9)})
		if err != nil {
			t.Fatal(err)
		}
		c := holed{fmt.Sprint(i), `data { int N; int T; array[N] int<lower=0, upper=2, missing> x; array[N, T] int<lower=0, upper=1, missing> w; int<lower=0, upper=8, missing> k; vector[N] y; }
parameters { real a; real b; real<lower=0, upper=1> p; vector[3] m; simplex[3] s; }
model {
  a ~ normal(0, 1);
  ` + strings.Join(model, "\n  ") + "\n}\n", string(b), ""}
		if !short.Turn(i, 4) {
			continue
		}
		t.Run(c.name, func(t *testing.T) { c.check(t, false) })
		if t.Failed() {
			t.Fatalf("program:\n%s\n%s", c.text, c.data)
		}
	}
}

// TestHolesOutside checks that the number that the program has for missing ones, and others, are no
// missing values of the data, whether these are integers or reals.
func TestHolesOutside(t *testing.T) {
	for _, c := range [...]struct {
		declared, data string
		ok             bool
	}{
		{"vector<lower=0, missing>[2] x", `{"x": [null, 3]}`, true},
		{"int<lower=0, upper=1, missing> x", `{"x": null}`, true},
		{"int<lower=0, upper=1, missing> x", `{"x": -9223372036854775808}`, false},
		{"array[2] int<lower=0, upper=1, missing> x", `{"x": [null, -9223372036854775808]}`, false},
		{"array[2] int<lower=0, upper=1, missing> x", `{"x": [null, 1e300]}`, false},
		{"array[2] int<lower=0, upper=1, missing> x", `{"x": [null, 3000000000]}`, false},
		{"array[2] int<lower=0, upper=1, missing> x", `{"x": [null, "-Infinity"]}`, false},
		{"array[2] int<lower=0, upper=1, missing> x", `{"x": [1, -9223372036854775808]}`, false},
		{"real<lower=0, missing> x", `{"x": null}`, true},
		{"real<lower=0, missing> x", `{"x": -9223372036854775808}`, false},
		{"vector<lower=0, missing>[2] x", `{"x": [null, -9223372036854775808.0]}`, false},
	} {
		prog, list := compile.Compile(source.NewFile("m.model", "data { "+c.declared+"; } parameters { real m; } model { m ~ normal(0, 1); }"))
		if prog == nil {
			t.Fatal(list[0])
		}
		set, err := data.ParseJSON("data", []byte(c.data))
		if err != nil {
			t.Fatal(err)
		}
		if set, _, err = prog.Coded(set); err != nil {
			t.Fatal(err)
		}
		if _, err := prog.Bind(set, compile.BindOptions{}); (err == nil) != c.ok {
			t.Errorf("%s with %s: %v", c.declared, c.data, err)
		}
	}
}

// TestHolesFree checks counts that only their distribution is about: the density does not depend on
// them, also where their mean is large, but their distribution must exist. Their draws have its
// mean and variance.
func TestHolesFree(t *testing.T) {
	for _, c := range [...]struct {
		name, model    string
		x              []float64
		mean, variance float64 // NaN: the point is rejected
	}{
		{"poisson", "y ~ poisson(3e8 * exp(a));", []float64{0.5, 0}, 3e8 * math.Exp(0.5), 3e8 * math.Exp(0.5)},
		{"negative rate", "y ~ poisson(a);", []float64{-1, 0}, math.NaN(), 0},
		{"poisson_log", "target += poisson_log_lpmf(y | a);", []float64{15, 0}, math.Exp(15), math.Exp(15)},
		{"neg_binomial", "for (n in 1:N) y[n] ~ neg_binomial(exp(a), exp(b));", []float64{1, -2}, math.Exp(3), math.Exp(3) * (1 + math.Exp(2))},
		{"neg_binomial_2", "y ~ neg_binomial_2(exp(a), exp(b));", []float64{2, 0.5}, math.Exp(2), math.Exp(2) + math.Exp(3.5)},
		{"negative precision", "y ~ neg_binomial_2(exp(a), b);", []float64{2, -0.5}, math.NaN(), 0},
		{"neg_binomial_2_log", "y ~ neg_binomial_2_log(a, exp(b));", []float64{12, 1}, math.Exp(12), math.Exp(12) + math.Exp(23)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := bindHoled(t, "data { int N; array[N] int<lower=0, missing> y; } parameters { real a; real b; } model { a ~ normal(0, 1); b ~ normal(0, 1); "+c.model+" }",
				`{"N": 3, "y": [null, null, null]}`, compile.BindOptions{})
			grad := make([]float64, 2)
			lp, err := m.LogDensityGrad(c.x, grad)
			dst := make([]float64, len(m.OutputNames()))
			rng := rand.New(rand.NewPCG(3, 4))
			if math.IsNaN(c.mean) {
				if err == nil {
					t.Errorf("density %v, want a rejected point", lp)
				}
				return
			}
			if want := -(c.x[0]*c.x[0] + c.x[1]*c.x[1]) / 2; err != nil || !near(lp, want, 1e-14) || grad[0] != -c.x[0] || grad[1] != -c.x[1] {
				t.Errorf("density %v, %v, gradient %v, want those of a and b alone: %v", lp, err, grad, want)
			}
			const draws = 3000
			sum, squares := 0.0, 0.0
			for range draws {
				if err := m.Generate(c.x, rng, dst); err != nil {
					t.Fatal(err)
				}
				for i, name := range m.OutputNames() {
					if strings.HasPrefix(name, "y.") {
						d := dst[i] - c.mean
						sum, squares = sum+d, squares+d*d
					}
				}
			}
			const n = 3 * draws
			if z := sum / n / math.Sqrt(c.variance/n); math.Abs(z) > 4.5 {
				t.Errorf("the mean differs by %.1f standard errors from %v", z, c.mean)
			}
			if r := squares / n / c.variance; r < 0.85 || r > 1.15 {
				t.Errorf("the variance is %.2f of %v", r, c.variance)
			}
		})
	}
}
