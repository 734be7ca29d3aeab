package bind

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
)

// TestPlans checks how loops are evaluated, statement by statement.
func TestPlans(t *testing.T) {
	const head = `data { int N; int K; array[N] int o; array[N] int g; vector[N] y; }
parameters { vector[N] z; vector[K] a; real b; real<lower=0> s; }
model {
`
	values := `{"N":8,"K":3,"o":[1,0,1,1,0,0,1,1],"g":[1,2,3,1,2,3,1,2],"y":[1,2,3,4,5,6,7,8]}`
	for _, c := range []struct{ name, body, want string }{
		{"lanes over their own domains", `for (n in 1:N) {
real m = a[g[n]];
if (o[n]) y[n] ~ normal(m, s);
}`, `line 4: nest, 8 iterations
  lanes           8  line 5
  lanes           5  line 6`},
		{"a sum of each group, read when it is complete", `vector[K] c = rep_vector(0, K);
for (n in 1:N) {
c[g[n]] += exp(z[n]);
}
target += c;`, `line 5: nest, 8 iterations
  lanes           8  line 6`},
		{"a sum of an inner loop", `for (n in 1:N) {
real lp = 0;
for (i in 1:20 + n) lp += b * i;
target += log(lp);
}`, `line 4: nest, 8 iterations
  lanes           8  line 5
  sum           196  line 6: lp
  lanes           8  line 7`},
		{"a recurrence with missing rows", `real h = b;
for (n in 1:N) {
h = b + s * h + z[n];
if (o[n]) y[n] ~ normal(h, s);
}`, `line 5: nest, 8 iterations
  recurrence      8  line 6: h
  lanes           5  line 7`},
		{"a copy of the state before it is updated", `real h = 1;
for (n in 1:N) {
real m = 0.5 * h;
h = m + z[n];
if (o[n]) target += -square(m);
}`, `line 5: nest, 8 iterations
  recurrence      8  line 6 7: m, h
  lanes           5  line 8`},
		{"conditions on data that decide who wrote last", `real h = b;
for (n in 1:N) {
if (o[n]) h = b * h + 1;
target += h;
}`, `line 5: nest, 8 iterations
  recurrence      5  line 6: h
  lanes           8  line 7`},
		{"independent recurrences in one scan", `vector[N] u; vector[N] v;
u[1] = b; v[1] = s;
for (n in 2:N) {
u[n] = b * u[n - 1];
v[n] = s * v[n - 1] + z[n];
}
target += u; target += v;`, `line 6: nest, 7 iterations
  recurrence      7  line 7 8: u, v`},
		{"an inner loop of a few iterations", `for (n in 1:N) {
vector[K] lp;
for (k in 1:K) lp[k] = normal_lpdf(y[n] | a[k], s);
target += log_sum_exp(lp);
}`, `line 4: nest, 8 iterations
  lanes           8  line 6 7`},
		{"a jump that parameters decide", `real c = 0;
for (n in 1:20) {
c += b;
if (c > 3) break;
}
target += c;`, `line 5: iterated`},
		{"a jump that parameters decide, in a loop over data", `real c = 0;
for (n in 1:20) {
c += b * y[1 + n % N];
if (c > 3) break;
}
target += c;`, `line 5: carried, 20 iterations
  not sooner: break or return in the loop`},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, err := data.ParseJSON("data", []byte(values))
			if err != nil {
				t.Fatal(err)
			}
			b, err := Bind(compileIR(t, "plan", head+c.body+"\n}"), set, Options{Propto: true, Jacobian: true})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range b.Stats.Plans {
				got = append(got, p.String())
			}
			if s := strings.Join(got, "\n"); s != c.want {
				t.Errorf("planned\n%s\nwant\n%s", s, c.want)
			}
		})
	}
}

// TestPlanOfRaggedLags checks that a loop whose steps read different numbers of earlier values is
// planned as a recurrence, not as a loop that carries whole variables, which takes quadratic time.
func TestPlanOfRaggedLags(t *testing.T) {
	text := `data { int T; int Q; vector[T] y; }
parameters { vector[Q] theta; real b; real<lower=0> s; }
model {
vector[T] err; vector[T] nu;
for (t in 1:T) {
nu[t] = b;
for (q in 1:min(Q, t - 1)) nu[t] += theta[q] * err[t - q];
err[t] = y[t] - nu[t];
}
err ~ normal(0, s);
}`
	values := `{"T":300,"Q":3,"y":[0` + strings.Repeat(",1", 299) + `]}`
	set, err := data.ParseJSON("plan", []byte(values))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Bind(compileIR(t, "plan", text), set, Options{Propto: true, Jacobian: true})
	if err != nil {
		t.Fatal(err)
	}
	want := `line 5: nest, 300 iterations
  lanes         300  line 6
  recurrence    300  line 7 8: nu, err`
	if len(b.Stats.Plans) != 1 || b.Stats.Plans[0].String() != want {
		t.Errorf("planned\n%v\nwant\n%s", b.Stats.Plans, want)
	}
}
