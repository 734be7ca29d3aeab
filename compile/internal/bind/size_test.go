package bind

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
)

// TestGraphSize checks that the graph of a loop and of its gradient has as many nodes for a
// thousand iterations as for fifty, however the loop is evaluated.
func TestGraphSize(t *testing.T) {
	programs := map[string]string{
		"gather": `data { int N; array[N] int g; vector[N] y; }
parameters { vector[7] a; real b; real<lower=0> s; }
model { for (n in 1:N) y[n] ~ normal(a[g[n]] + b * y[n], s); }`,
		"branches": `data { int N; array[N] int g; vector[N] y; }
parameters { vector[N] z; real b; real<lower=0> s; }
model {
  vector[N] m;
  for (n in 1:N) {
    m[n] = b;
    if (g[n] > 3) m[n] += z[n]; else if (y[n] > 1) m[n] = z[n] * s;
    if (z[n] > b) target += -square(z[n] - b);
    y[n] ~ normal(m[n], s);
  }
}`,
		"recurrence": `data { int N; array[N] int g; vector[N] y; }
parameters { real a; real b; real<lower=0> s; }
model {
  vector[N] v;
  v[1] = s;
  for (n in 2:N) v[n] = sqrt(a^2 + 0.3 * square(y[n - 1]) + inv_logit(b) * square(v[n - 1]));
  y ~ normal(0, v);
}`,
		"irregular": `data { int N; array[N] int g; vector[N] y; }
parameters { real a; real b; }
model {
  vector[N] v = rep_vector(0, N);
  v[1] = a;
  for (n in 2:N) {
    if (g[n] > 2) v[n] = b * v[n - 1] + y[n];
    else v[n] = tanh(v[n > 5 ? n - 4 : 1]) + a;
    if (v[n] > 10) continue;
    target += -square(v[n]);
  }
}`,
		"a guard under a condition": `data { int N; array[N] int g; vector[N] y; }
parameters { vector[N] z; real b; }
model {
  vector[N] v;
  for (n in 1:N) {
    v[n] = 2 * z[n];
    if (z[n] > b) {
      if (n > 1) target += v[n - 1] * y[n];
    }
  }
}`,
		"early end": `data { int N; array[N] int g; vector[N] y; }
parameters { vector[N] z; }
model {
  for (n in 1:N) {
    if (z[n] > 3) break;
    target += -square(z[n] - y[n]);
  }
}`,
		"tolerance": `functions {
  real root(real a) {
    real x = a;
    while (abs(square(x) - a) > 1e-9) x = 0.5 * (x + a / x);
    return x;
  }
}
data { int N; array[N] int g; vector[N] y; }
parameters { vector<lower=0>[N] z; }
model { for (n in 1:N) y[n] ~ normal(root(z[n]), 1); }`,
		"draws": `data { int N; array[N] int g; vector[N] y; }
parameters { vector[7] a; simplex[3] p; }
model { a ~ normal(0, 1); }
generated quantities {
  vector[N] z;
  array[N] int k;
  real walk = 0;
  for (n in 1:N) {
    k[n] = categorical_rng(p);
    z[n] = a[k[n] + 2 * g[n] % 5] + y[n];
    for (i in 1:k[n]) z[n] += normal_rng(0, 1);
    while (uniform_rng(0, 1) < 0.3) walk += z[n];
    if (walk > 10) continue;
    z[k[n]] = walk;
  }
}`,
		"scans in lanes": `data { int N; array[N] int g; vector[N] y; }
parameters { vector[N] z; real b; }
model {
  for (n in 1:N) {
    real s = z[n];
    for (t in 1:30) s = s * b + t;
    for (t in 1:g[n]) s = tanh(s * b) + z[t];
    target += -square(s);
  }
}`,
		"nest": `data { int N; array[N] int g; vector[N] y; }
parameters { vector[N] a; real<lower=0> s; }
model { for (n in 1:N) for (i in 1:g[n]) target += -square(a[n] - i * s); }`,
	}
	for name, text := range programs {
		t.Run(name, func(t *testing.T) {
			prog := compileIR(t, name, text)
			var sizes [2]int
			for k, n := range []int{50, 1000} {
				var g, y []string
				for i := range n {
					g = append(g, fmt.Sprint(i*i%7+1))
					y = append(y, fmt.Sprint(i%13))
				}
				set, err := data.ParseJSON("data", fmt.Appendf(nil, `{"N":%d,"g":[%s],"y":[%s]}`, n, strings.Join(g, ","), strings.Join(y, ",")))
				if err != nil {
					t.Fatal(err)
				}
				b, err := Bind(prog, set, Options{Propto: true, Jacobian: true})
				if err != nil {
					t.Fatal(err)
				}
				b.Density.Grad(b.Density.Outputs[0], b.Density.Inputs...)
				sizes[k] = nodes(b.Density) + nodes(b.Generated)
			}
			if sizes[0] != sizes[1] {
				t.Errorf("%d nodes for 50 iterations, %d for 1000", sizes[0], sizes[1])
			}
		})
	}
}

// nodes counts the nodes of a graph and of the graphs in it.
func nodes(g *ad.Graph) int {
	n := len(g.Nodes)
	for i := range g.Nodes {
		switch a := g.Nodes[i].Attr.(type) {
		case *ad.Scan:
			n += nodes(a.Body)
		case *ad.If:
			n += nodes(a.Then) + nodes(a.Else)
		case *ad.While:
			n += nodes(a.Cond) + nodes(a.Body)
		}
	}
	return n
}
