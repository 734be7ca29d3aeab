package compile_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/internal/short"
)

// whiles are while loops, most of which count, and other loops that end early. They change s and i.
var whiles = []string{
	`i = 1; while (i <= n) { s = a * s + y[i]; i += 1; }`,
	`i = 1; while (n >= i) { s = a * s + y[i]; i = i + 1; }`,
	`i = 0; while (i < n) { i += 1; s = a * s + y[i]; }`,
	`i = n; while (i > 0) { s = a * s + y[i]; i -= 1; }`,
	`i = n; while (i >= 1) { s = a * s + y[i]; i = i - 1; if (i == 3) continue; s += 0.1 * i; }`,
	`i = 1; while (i <= n) { s += a * y[i]; i += 2; }`,
	`i = 1; while (i < n) { s = a * s + y[i]; i = 3 + i; s += y[min(i, n)]; }`,
	`i = n; while (i > 1) { s = a * s + y[i]; i -= 3; }`,
	`i = n; while (1 <= i) { s = a * s + y[i]; i += -2; }`,
	`i = 1; while (i <= size(y)) { if (y[i] > 0.9) break; s = a * s + y[i]; i += 1; }`,
	`i = 1; while (i <= n) { s = a * s + y[i]; i += 1; if (s > 0.4) break; s += 0.1; }`,
	`i = 1; while (i <= n) { if (s > 0.4) break; s = a * s + y[i]; i += 1; }`,
	`i = 1; while (i <= g[1]) { if (i == 2) { i += 1; continue; } s = a * s + i; i += 1; }`,
	`i = 1; { int m = n; while (i <= m) { s = a * s + y[i]; m -= 1; i += 1; } }`,
	`i = 1; { int k = 1; while (k <= min(n, 40)) { i = 1; while (i <= k) { s = a * s + y[i]; i += 1; } k += 1; } }`,
	`i = 1; for (k in 1:n) { i = k; while (i < n) { s += a * y[i] * y[k]; i += g[1 + k % 5] > 2 ? 1 : 2; } }`,
	`i = 1; for (k in 1:n) { int j = g[1 + k % 5]; while (j <= n) { s = a * s + y[j]; j += 2; } i += j; }`,
	`i = 5; while (i < 2) i += 1;`,
	`i = 1; while (i <= 3) i += 1; s += i;`,
	`i = 1; while (i <= 2147483647) { if (i > n) break; s = a * s + y[i]; i += 1; }`,
	`i = 1; while (i != n + 1) { s = a * s + y[i]; i += 1; }`,
	`i = 1; if (a > 0.1) i = 2; while (i <= n) { s = a * s + y[i]; i += 1; }`,
	`i = 1; while (i <= n) { s = up(s, a, n, i); i += 1; }`,
	`i = 2; for (k in 1:2000000000) { s = a * s + 0.1; if (k > n) break; }`,
	`i = 2; for (k in 1:2000000000) { s = a * s + 0.1; if (s > 0.15 || k > n) break; i += 1; }`,
	`i = 1; for (k in 1:100) { s = a * s + 0.1; i += 1; if (s > 0.15 && k > 2) break; s += 0.01 * k; }`,
	`i = 1; for (k in 1:min(n, 20)) { real d = root(a * k); s += d; }`,
	`i = 1; while (i <= 1000000000) { s = a * s + 0.1; if (s > 0.15 || i > n) break; i += 1; }`,
	`i = 1; for (k in 1:1000000000) { if (k > n) break; s = a * s + y[k]; if (s > 0.4) break; }`,
	`i = 1; for (j in 1:5) for (k in 1:1000000000) { s = a * s + 0.1; i += 1; if (k > n) break; }`,
	`i = 1; for (j in 1:20) { real u = 0; for (k in 1:1000000000) { if (k > min(n, j)) break; u = a * u + y[k]; } s += u; }`,
	`i = 1; for (j in 1:20) for (k in 1:1000000000) { if (k > min(n, j)) break; s = a * s + y[k]; if (s > 0.3) break; }`,
	`i = 1; s = found(a, n, y, 10); for (j in 1:4) s += found(a, n, y, 0.3 + 0.1 * j);`,
	`i = 0; { array[n] real v; for (t in 1:n) { v[t] = a; for (j in 1:5) { if (t - j < 1) break; v[t] += a * v[t - j] / j; i += 1; } } s += sum(v); }`,
	`i = 0; { array[n] real v; for (t in 1:n) { v[t] = a; for (j in 1:90) { if (t - j < 1 || y[t - j] > 0.6) break; v[t] += a * v[t - j] / j; } } s += sum(v); }`,
	`i = 0; for (t in 1:n) { if (y[t] < 0) continue; for (j in 1:t) { s += a * y[j]; if (y[j] > 0.6) break; if (j == 2) continue; i += 1; } }`,
	`i = 0; for (t in 1:n) for (j in t:n) { if (j > t + g[1 + t % 5]) { s += a * j; break; } else s += a * y[j]; i += j; }`,
	`i = 0; for (t in 1:n) for (j in 1:4) { if (t - j < 1) break; if (a * j > 0.5) continue; s += a * y[t - j]; }`,
	`i = 0; for (t in 1:n) for (j in 1:4) { if (t - j < 1) break; if (a * j > 0.5) break; s += a * y[t - j]; i += 1; }`,
	`i = 0; for (t in 1:n) for (j in 1:6) { int k = 0; for (h in 1:j) { if (h > g[1 + t % 5]) break; k += h; } if (k > 4) break; s += a * k; }`,
	`i = 0; for (t in 1:n) { for (j in 1:20) { i += g[1 + j % 5]; if (i % 7 == 0) break; s += a * i; } if (i > 100) { i = 0; if (y[t] > 0) continue; } s = a * s; }`,
	`i = 0; for (t in 1:n) { int k = t; while (1) { if (k < 1) break; s += a * y[k]; if (y[k] > 0.4) { k -= 3; continue; } k -= 1; if (k == 5) break; } i += 1; }`,
	`i = 0; for (t in 1:n) { int k = g[1 + t % 5]; while (k > 0) { s = a * s + y[k <= n ? k : 1]; if (a * k > 0.5) break; k -= 1; } }`,
	`i = 0; for (t in 1:n) for (j in 1:3) { if (a > 0.5) { if (j == 2) break; s += a; } s += a * y[t]; }`,
	`i = 0; for (t in 1:n) for (j in 1:1000000000) { if (j > g[1 + t % 5]) break; s += a * y[t] / j; }`,
	`i = 0; { array[n] int q; int h = 1; int e = 0; for (t in 1:n) { while (e >= h && y[q[e]] <= y[t]) e -= 1; e += 1; q[e] = t; if (q[h] <= t - 10) h += 1; s = a * s + y[q[h]]; i += q[h]; } }`,
	`i = 0; { array[n] int p; array[n] real w; for (t in 1:n) { p[t] = t; w[t] = a * t; } for (t in 2:n) { int r = 1 + g[1 + t % 5] % t; int q = t; while (p[r] != r) r = p[r]; while (p[q] != q) q = p[q]; if (r != q) { p[q] = r; w[r] = a * w[r] + w[q]; } } for (t in 1:n) { if (p[t] == t) s += 0.1 * w[t]; i += p[t]; } }`,
	`i = 0; { array[n] real f = rep_array(0, n); for (t in 1:n) { int j = 1 + g[1 + t % 5] % n; while (j > 0) { int k = 1; s += a * f[j]; while (j % (2 * k) == 0) k *= 2; j -= k; } j = t; while (j <= n) { int k = 1; f[j] += a * y[t]; while (j % (2 * k) == 0) k *= 2; j += k; } i += j; } }`,
	`i = 1; { array[n] real v; while (i <= num_elements(v)) { v[i] = (i > 1 ? v[i - 1] : s) * a + y[i]; i += 1; } s += sum(v); }`,
}

// TestWhiles compares the evaluators on these loops.
func TestWhiles(t *testing.T) {
	for at, loop := range whiles {
		model := fmt.Sprintf(`functions { real up(real s, real a, int n, int k) {
  int i = k; real x = s;
  while (i < min(n, k + 2)) { x = a * x + 0.1; i += 1; if (i > 7) return x; }
  return x;
}
real found(real a, int n, array[] real y, real most) {
  real s = 0;
  for (i in 1:1000000000) { if (s > most || i > n) return s + 0.01 * i; s = a * s + y[i]; }
  return s;
}
real root(real c) {
  real x = 1;
  for (i in 1:100) { real d = (x * x - c) / (2 * x); x -= d; if (abs(d) < 1e-9) return x + 0.01 * i; }
  return x;
} }
data { int n; array[n] real y; array[5] int g; }
parameters { real<lower=0, upper=1> a; }
model { real s = 0; int i; %s
target += s + 0.01 * i; }`, loop)
		for _, n := range []int{0, 1, 2, 3, 4, 9, 40, 300} {
			if n > 9 && !short.Turn(at, 3) {
				continue
			}
			y := make([]float64, n)
			for i := range y {
				y[i] = float64(i*7%11)/11 - 0.2
			}
			raw, err := json.Marshal(map[string]any{"n": n, "y": y, "g": []int{3, 1, 2, 5, 4}})
			if err != nil {
				t.Fatal(err)
			}
			set, err := data.ParseJSON("data.json", raw)
			if err != nil {
				t.Fatal(err)
			}
			if rep := contest.Contend(model, "while.model", set, 1, 3); rep.Wrong != nil {
				t.Errorf("%s\nn = %d: %v", loop, n, rep.Wrong)
			}
		}
	}
}
