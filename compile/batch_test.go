package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/source"
)

// subjectsData declares records of several subjects, with different numbers of records.
const subjectsData = `
data {
  int N; int n;
  array[N] int start; array[N] int end;
  array[n] real time; array[n] real amt; array[n] real rate; array[n] real ii;
  array[n] int evid; array[n] int cmt; array[n] int addl; array[n] int ss;
  array[N] real weight;
}
`

// subjects returns records of N subjects: doses, infusions, additional doses and steady states.
func subjects(t *testing.T, N int) *data.Set {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 45))
	cols := map[string][]string{}
	add := func(name string, v any) { cols[name] = append(cols[name], fmt.Sprint(v)) }
	n := 0
	for s := range N {
		add("start", n+1)
		add("weight", 60+r.IntN(30))
		records := 3 + (s*2)%5
		for i := range records {
			n++
			add("time", i*2)
			dose := i == 0 || r.IntN(4) == 0
			amt, rate, ii, evid, addl, ss := 0, 0, 0, 0, 0, 0
			if dose {
				amt, evid = 100+r.IntN(50), 1
				switch r.IntN(4) {
				case 0:
					rate = 50
				case 1:
					addl, ii = 2, 3
				case 2:
					ss, ii = 1, 6
				}
			}
			for name, v := range map[string]int{"amt": amt, "rate": rate, "ii": ii, "evid": evid, "addl": addl, "ss": ss, "cmt": 1 + r.IntN(2)} {
				add(name, v)
			}
		}
		add("end", n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"N": %d, "n": %d`, N, n)
	for name, list := range cols {
		fmt.Fprintf(&b, `, "%s": [%s]`, name, strings.Join(list, ", "))
	}
	set, err := data.ParseJSON("data", []byte(b.String()+"}"))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// sliced replaces $x by x[start[j]:end[j]] for the variables of records, and $events by all of
// them.
var sliced = func() *strings.Replacer {
	var list []string
	for name := range strings.SplitSeq(events, ", ") {
		list = append(list, "$"+name, name+"[start[j]:end[j]]")
	}
	return strings.NewReplacer(append([]string{"$events", strings.NewReplacer(list...).Replace("$" + strings.ReplaceAll(events, ", ", ", $"))}, list...)...)
}()

// batched are programs with a call in a loop over subjects, and how many calls become batches.
var batched = []struct {
	name  string
	count int
	text  string
}{
	{"theta in pieces", 1, `
parameters { vector<lower=0>[5] hat; matrix[5, N] eta; real<lower=0> sigma; }
transformed parameters {
  matrix[n, 3] x;
  vector[n] c;
  array[5] real theta;
  array[N] real V;
  for (j in 1:N) {
    for (k in 1:5) theta[k] = (1 + hat[k]) * exp(0.1 * eta[k, j]);
    theta[1] *= (weight[j] / 70)^0.75;
    V[j] = theta[3];
    x[start[j]:end[j]] = pmx_solve_twocpt($events, theta)';
    c[start[j]:end[j]] = x[start[j]:end[j], 2] / theta[3] + V[j];
  }
}
model { to_vector(eta) ~ std_normal(); hat ~ lognormal(0, 1); target += -sum(square(log1p(c) - 1)) / sigma + theta[2]; }`},
	{"locals", 1, `
parameters { vector<lower=0>[3] hat; matrix[3, N] eta; }
model {
  to_vector(eta) ~ std_normal();
  for (j in 1:N) {
    int first = start[j];
    int last = end[j];
    vector[3] p = hat .* exp(0.1 * eta[, j]);
    array[3] real lag = {0.1 * hat[1], 0, 0};
    real scale = 1;
    scale += hat[2];
    vector[last - first + 1] c;
    array[2] real tlag = lag[1:2];
    matrix[2, last - first + 1] y = pmx_solve_onecpt(time[first:last], amt[first:last], rate[first:last], ii[first:last], evid[first:last],
      cmt[first:last], addl[first:last], ss[first:last], to_array_1d(p), rep_array(1, 2), tlag);
    c = y[2]';
    target += -scale * sum(c) / 1000;
  }
}`},
	{"columns of a matrix, two calls", 2, `
parameters { matrix<lower=0>[3, N] p; matrix<lower=0>[4, N] q; }
model {
  to_vector(p) ~ lognormal(0, 1); to_vector(q) ~ lognormal(0, 1);
  for (j in 1:N) {
    row_vector[end[j] - start[j] + 1] a = pmx_solve_onecpt($events, to_array_1d(p[, j]))[2];
    row_vector[end[j] - start[j] + 1] b = pmx_solve_onecpt_effcpt($events, to_array_1d(q[, j]))[3];
    target += -dot_product(a, a + b) / 1e4;
  }
}`},
	{"a matrix built element by element", 1, `
parameters { vector<lower=0>[N] cl; vector<lower=0>[N] v; real<lower=0> ka; }
transformed parameters {
  matrix[2, 2] K;
  matrix[2, n] x;
  real k10;
  for (j in 1:N) {
    k10 = cl[j] / v[j];
    K = rep_matrix(0, 2, 2);
    K[1, 1] = -ka;
    K[2, 1] = ka;
    K[2, 2] = -k10;
    x[, start[j]:end[j]] = pmx_solve_linode($events, K, {1.0, 0.9}, {0.0, 0.0});
    x[2, start[j]:end[j]] /= v[j];
  }
}
model { cl ~ lognormal(0, 1); v ~ lognormal(1, 1); ka ~ lognormal(0, 1); target += -sum(x[2]) / 100; }`},
	{"a table with one row, and one for each record", 2, `
parameters { array[n, 3] real<lower=0> p; array[N] real<lower=0> s; }
model {
  matrix[2, n] x;
  matrix[2, n] y;
  array[1, 3] real theta;
  for (j in 1:N) {
    theta[1] = {s[j], 2, 1};
    x[, start[j]:end[j]] = pmx_solve_onecpt($events, p[start[j]:end[j]]);
    y[, start[j]:end[j]] = pmx_solve_onecpt($events, theta, rep_array(0.9, end[j] - start[j] + 1, 2));
  }
  for (k in 1:n) p[k] ~ lognormal(0, 1);
  s ~ lognormal(0, 1);
  target += -sum(x[2] + y[2]) / 1000;
}`},
	{"vectors with bioavailabilities and lag times", 2, `
parameters { vector<lower=0>[3] hat; matrix[3, N] eta; }
transformed parameters {
  matrix[2, n] x;
  array[1] vector[7] p;
  for (j in 1:N) {
    p[1][1:3] = hat .* exp(0.1 * eta[, j]);
    p[1][4:7] = [1, 0.9, 0.1, 0]';
    x[, start[j]:end[j]] = pmx_solve_onecpt($events, p[, :3], p[, 4:5], p[, 6:]) +
      pmx_solve_rk45(rhs, 2, $events, p, p[, num_elements(p[1]) - 3:num_elements(p[1]) - 2], p[, num_elements(p[1]) - 1:], 1e-8, 1e-8, 10000);
  }
}
model { hat ~ lognormal(0, 1); to_vector(eta) ~ std_normal(); target += -sum(x[2]) / 100; }`},
	{"a system", 1, `
parameters { vector<lower=0>[3] hat; vector[N] eta; }
transformed parameters {
  matrix[2, n] x;
  for (j in 1:N)
    x[, start[j]:end[j]] = pmx_solve_rk45(rhs, 2, $events, {hat[1] * exp(0.1 * eta[j]), hat[2] + 1, hat[3]}, 1e-8, 1e-8, 10000);
}
model { hat ~ lognormal(0, 1); eta ~ std_normal(); target += -sum(x[2]) / 100; }`},
	{"without events", 1, `
parameters { vector<lower=0>[3] hat; matrix[3, N] eta; }
model {
  hat ~ lognormal(0, 1); to_vector(eta) ~ std_normal();
  for (j in 1:N) {
    array[3] real theta = to_array_1d(hat .* exp(0.1 * eta[, j]));
    array[end[j] - start[j], 2] real y = pmx_integrate_ode_bdf(rhs, [1 + hat[1], 0]', 0, time[(start[j] + 1):end[j]], theta, rep_array(0.0, 0), rep_array(0, 0));
    target += -sum(y[, 2]) / 10;
  }
}`},
	{"arguments that variables without values would make an error", 2, `
parameters { vector<lower=0>[3] hat; matrix[3, N] eta; }
model {
  for (j in 1:N) {
    real w;
    w = hat[1];
    matrix[3, 3] S;
    S = diag_matrix(hat);
    target += -sum(pmx_solve_onecpt($events, to_array_1d(exp(cholesky_decompose(S) * eta[, j])))) / 1000;
    target += -sum(pmx_solve_onecpt($events, {-normal_lpdf(w | 0, 1 + w), Phi(w), 1.0})) / 1000;
    target += -sum(pmx_solve_onecpt($events, {{Phi(w), hat[2], Phi(eta[1, j] * w)}})) / 1000;
  }
}`},
	{"random bounds", 0, `
parameters { array[3] real<lower=0> p; }
model { p ~ lognormal(0, 1); }
generated quantities {
  matrix[2, n] x = rep_matrix(0, 2, n);
  for (j in 3:binomial_rng(N, 0.4)) x[, start[j]:end[j]] = pmx_solve_onecpt($events, p);
}`},
	{"an iteration needs the one before it", 0, `
parameters { array[3] real<lower=0> p; }
model {
  array[3] real theta = p;
  matrix[2, n] x;
  for (j in 1:N) {
    theta[1] += 0.01 * (j == 1 ? 0 : x[2, end[j - 1]]);
    x[, start[j]:end[j]] = pmx_solve_onecpt($events, theta);
  }
  p ~ lognormal(0, 1);
  target += -sum(x[2]) / 1000;
}`},
	{"a condition", 0, `
parameters { array[3] real<lower=0> p; }
model {
  p ~ lognormal(0, 1);
  for (j in 1:N)
    if (weight[j] > 75) target += -sum(pmx_solve_onecpt($events, p)) / 1000;
}`},
}

const batchedFunctions = `
functions {
  vector rhs(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) {
    return [-p[3] * y[1], p[3] * y[1] - p[1] / p[2] * y[2]]';
  }
}`

// TestBatches compares loops over subjects with the same program whose calls are left apart.
func TestBatches(t *testing.T) {
	few, many := subjects(t, 5), subjects(t, 20) // the schedule has two loops for 20 subjects
	for i, c := range batched {
		set := few
		if i == 0 {
			set = many
		}
		text := batchedFunctions + subjectsData + sliced.Replace(c.text)
		var values [2][]float64
		for i, apart := range []bool{false, true} {
			p, list := CompileWith(source.NewFile("model.stan", text), Options{Apart: apart})
			if p == nil {
				t.Fatalf("%s: %v", c.name, list)
			}
			if calls := batches(p); apart && calls > 0 || !apart && calls != c.count {
				t.Errorf("%s: %d batches, want %d", c.name, calls, c.count)
			}
			m, err := p.Bind(set, BindOptions{})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for _, p := range m.Loops().Plans {
				if p.Line == 0 {
					t.Errorf("%s: a loop without a line: %v", c.name, p)
				}
			}
			x := make([]float64, m.Dim())
			for k := range x {
				x[k] = 0.3 * math.Sin(float64(k))
			}
			grad := make([]float64, len(x))
			lp, err := m.LogDensityGrad(x, grad)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			values[i] = append(grad, lp)
		}
		for k := range values[0] {
			if a, b := values[0][k], values[1][k]; !(math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b))) {
				t.Errorf("%s: value %d is %v, but %v with calls apart", c.name, k, a, b)
			}
		}
	}
}

// batches returns the number of calls for several subjects in a program.
func batches(p *Program) (n int) {
	for _, block := range [][]ir.Stmt{p.IR().TransformedParameters, p.IR().Model, p.IR().GeneratedQuantities} {
		for _, s := range block {
			ir.Inspect(s, func(e ir.Node) bool {
				if c, ok := e.(*ir.UserCall); ok && strings.Contains(c.Func.Name, "_group_") {
					n++
				}
				return true
			})
		}
	}
	return n
}

// TestBatchesOfOddData is about data for which a loop stays as it is: messages are those of the
// calls in it.
func TestBatchesOfOddData(t *testing.T) {
	const text = subjectsData + `
parameters { array[3] real<lower=0> p; }
model {
  array[1, 3] real theta;
  for (j in 1:N) {
    theta[1] = p;
    target += -sum(pmx_solve_onecpt(time[start[j]:end[j]], amt[start[j]:end[j]], rate[start[j]:end[j]], ii[start[j]:end[j]],
      evid[start[j]:end[j]], cmt[start[j]:end[j]], addl[start[j]:end[j]], ss[start[j]:(end[j] - (weight[j] < 0))], theta));
  }
}`
	for _, c := range []struct{ data, want string }{
		{`{"N": 0, "n": 0, "start": [], "end": [], "weight": [], "time": [], "amt": [], "rate": [], "ii": [], "evid": [], "cmt": [], "addl": [], "ss": []}`, ""},
		{`{"N": 2, "n": 1, "start": [1, 2], "end": [1, 1], "weight": [1, 1], "time": [0], "amt": [9], "rate": [0], "ii": [0], "evid": [1], "cmt": [1], "addl": [0], "ss": [0]}`,
			"there must be at least one record of events for each subject"},
		{`{"N": 2, "n": 2, "start": [1, 2], "end": [1, 2], "weight": [1, -1], "time": [0, 0], "amt": [9, 9], "rate": [0, 0], "ii": [0, 0], "evid": [1, 1], "cmt": [1, 1], "addl": [0, 0], "ss": [0, 0]}`,
			"out of range"},
	} {
		set, err := data.ParseJSON("data", []byte(c.data))
		if err != nil {
			t.Fatal(err)
		}
		for _, apart := range []bool{false, true} {
			p, list := CompileWith(source.NewFile("model.stan", text), Options{Apart: apart})
			if p == nil {
				t.Fatal(list)
			}
			m, err := p.Bind(set, BindOptions{})
			if err == nil {
				_, err = m.LogDensityGrad(make([]float64, m.Dim()), make([]float64, m.Dim()))
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v, want %q", c.data, err, c.want)
			}
		}
	}
}

// TestBatchMessages checks that the messages of a call for all subjects are those of the calls in
// the loop: they show the call in the program, with the number of the record among those of the
// subject.
func TestBatchMessages(t *testing.T) {
	const call = "pmx_solve_onecpt($events, {p, exp(eta[j]), 1.0})"
	const text = subjectsData + `
parameters { real<lower=0> p; vector[N] eta; }
transformed parameters {
  matrix[2, n] x;
  for (j in 1:N) {
    real unused = 1;
    x[, start[j]:end[j]] = CALL;
  }
}
model { p ~ lognormal(0, 1); eta ~ std_normal(); target += -sum(x[2]) / 1000; }`
	const given = `{"N": 2, "n": 4, "start": [1, 3], "end": [2, 4], "weight": [1, 1], "time": [0, 1, 0, 1], "amt": [9, 0, 9, -1], "rate": [0, 0, 0, 0],
		"ii": [0, 0, 0, 0], "evid": [1, 0, 1, 1], "cmt": [1, 1, 1, 1], "addl": [0, 0, 0, 0], "ss": [0, 0, 0, 0]}`
	program := strings.Replace(text, "CALL", sliced.Replace(call), 1)
	set, err := data.ParseJSON("data", []byte(given))
	if err != nil {
		t.Fatal(err)
	}
	for _, apart := range []bool{false, true} {
		m := withData(t, program, set, Options{Apart: apart})
		_, err := m.LogDensityGrad(make([]float64, m.Dim()), make([]float64, m.Dim()))
		record := "record 2 of subject 2"
		if apart {
			record = "record 2"
		}
		want := "pmx_solve_onecpt: amt must not be negative, but it is -1 in " + record + " (model.stan, line 15, column 28)"
		if err == nil || err.Error() != want {
			t.Errorf("apart %t: %v, want %s", apart, err, want)
		}
		if err := m.Impossible(); err == nil || !strings.Contains(err.Error(), "model.stan:15:28: error: with these data") {
			t.Errorf("apart %t: %v", apart, err)
		}
	}
}

// TestBatchDraws checks that generated quantities have the random numbers of the loop as it is, and
// of the interpreter.
func TestBatchDraws(t *testing.T) {
	set := subjects(t, 20)
	for _, c := range []struct {
		count int
		text  string
	}{
		{1, "a[j] = {lognormal_rng(0, 1), 1}; SOLVE"},
		{1, "a[j, 1] = lognormal_rng(0, 1); a[j, 2] = lognormal_rng(0, 1); SOLVE"},
		{1, "for (k in 1:2) a[j, k] = lognormal_rng(0, 1); SOLVE"},
		{1, "a[j] = lognormal_rng(rep_vector(0, 2), 1); SOLVE"},
		{1, "a[j] = to_array_1d(exp(multi_normal_rng([0, 0]', identity_matrix(2)))); SOLVE"},
		{1, "a[j] = two_rng(0); SOLVE"},
		{1, "a[j] = {p, 1}; SOLVE y[start[j]] = normal_rng(x[2, start[j]], 1); y[end[j]] = normal_rng(0, 1);"},
		{1, "a[j] = {p, 1}; SOLVE for (i in start[j]:end[j]) y[i] = normal_rng(x[2, i], 1);"},
		{0, "a[j] = {lognormal_rng(0, 1), 1}; SOLVE y[end[j]] = normal_rng(0, 1);"},
	} {
		text := `functions { array[] real two_rng(real m) { return {lognormal_rng(m, 1), exponential_rng(1)}; } }` + subjectsData + `
parameters { real<lower=0> p; }
model { p ~ lognormal(0, 1); }
generated quantities {
  array[N, 2] real a;
  array[n] real y = rep_array(0.0, n);
  matrix[2, n] x;
  for (j in 1:N) { ` + strings.Replace(c.text, "SOLVE", "x[, start[j]:end[j]] = pmx_solve_onecpt($events, {a[j, 1], a[j, 2], 1});", 1) + `}
}`
		var values [3][]float64
		for i := range values {
			p, list := CompileWith(source.NewFile("model.stan", sliced.Replace(text)), Options{Apart: i > 0})
			if p == nil {
				t.Fatal(list)
			}
			if n := batches(p); i == 0 && n != c.count {
				t.Errorf("%s: %d batches, want %d", c.text, n, c.count)
			}
			m, err := p.Bind(set, BindOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if i == 2 {
				m.bound.Generated = nil // interpreted
			}
			values[i] = make([]float64, len(m.OutputNames()))
			if err := m.Generate([]float64{0.3}, rand.New(rand.NewPCG(1, 2)), values[i]); err != nil {
				t.Fatal(err)
			}
		}
		for k, a := range values[0] {
			if b, plain := values[1][k], values[2][k]; !(math.Abs(a-b)+math.Abs(a-plain) <= 1e-9*math.Max(1, math.Abs(b))) {
				t.Errorf("%s: value %d is %v, but %v with calls apart and %v interpreted", c.text, k, a, b, plain)
				break
			}
		}
	}
}

// TestApartNotes checks what is said about calls that stay in their loops.
func TestApartNotes(t *testing.T) {
	const call = "sum(pmx_solve_onecpt($events, p)) / 1000"
	for body, want := range map[string]string{
		"for (j in 1:N) target += -CALL;":                               "",
		"for (j in 1:N) if (weight[j] > 75) target += -CALL;":           "is in a condition or an inner block",
		"for (j in 1:N) { print(j); target += -CALL; }":                 "the loop prints",
		"for (j in 1:N) { if (weight[j] < 0) break; target += -CALL; }": "the loop has break",
		"for (j in {1, 2}) target += -CALL;":                            "write the loop as for",
		"for (j in 1:N) target += -solved(start[j], end[j], p);":        "a function of the program",
		"{ array[3] real q = p; for (j in 1:N) { q[2] += 1; target += -sum(pmx_solve_onecpt($events, q)) / 1000; q[1] += 1; } }": "an iteration needs what those before it store in `q`",
	} {
		text := "functions { real solved(int a, int b, array[] real p) { return sum(pmx_solve_onecpt({0.0}, {1.0}, {0.0}, {0.0}, {1}, {1}, {0}, {0}, p)); } }" + subjectsData +
			"parameters { array[3] real<lower=0> p; }\nmodel { p ~ lognormal(0, 1); " + strings.ReplaceAll(body, "CALL", call) + " }"
		m := withData(t, sliced.Replace(text), subjects(t, 3), Options{})
		var notes []string
		for _, n := range m.Loops().Notes {
			if strings.Contains(n, SolvesApart) {
				notes = append(notes, n)
			}
		}
		if got := strings.Join(notes, "; "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: notes %q, want %q", body, got, want)
		}
	}
}
