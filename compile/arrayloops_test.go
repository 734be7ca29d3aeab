package compile_test

import (
	"encoding/json"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// arrayLoops change elements of v, which begins as th, where parameters decide how often or which
// ones. They may change s.
var arrayLoops = []string{
	`{ int h = N %/% 2; int i = 1; int j = h + 1; int k = 1; vector[N] z;
	while (i <= h && j <= N) { if (v[i] <= v[j]) { z[k] = v[i]; i += 1; } else { z[k] = v[j]; j += 1; } k += 1; }
	while (i <= h) { z[k] = v[i]; i += 1; k += 1; }
	while (j <= N) { z[k] = v[j]; j += 1; k += 1; }
	v = z; }`,
	`for (r in 1:N %/% 2) { int i = N %/% 2 + 1 - r; int go = 1;
	while (go == 1) { int c = 2 * i; if (c > N) go = 0; else { if (c < N) { if (v[c + 1] > v[c]) c += 1; }
	if (v[c] > v[i]) { real t = v[c]; v[c] = v[i]; v[i] = t; i = c; } else go = 0; } } }`,
	`{ int i = 1; while (i <= N && s < 3) { v[i] = a * v[max(1, i - 1)] + sin(v[i]); s += 0.01 * v[i]^2; i += v[i] > 0 ? 1 : 2; } }`,
	`{ int i = 1; int k = 0; while (i <= N && k < 5 * N) { if (i > 1 && v[i - 1] > v[i]) { real t = v[i]; v[i] = v[i - 1]; v[i - 1] = t; i -= 1; } else i += 1; k += 1; } s += k; }`,
	`{ int i = 1; int k = 0; real c = 0; while (i <= N && k < 7 * N) { v[i] += a * exp(-v[i]); c = tanh(c + v[i]); if (v[i] > 0.5 + c) i += 1; k += 1; if (k > 6 * N) break; } s += c; }`,
	`{ int i = N; int top = 0; vector[N] st; while (i >= 1) { while (top > 0 && st[max(top, 1)] < v[i]) { s += a * st[top]; top -= 1; } top += 1; st[top] = v[i]; i -= 1; } if (N > 0) s += st[1]; }`,
	`{ int i = 1; matrix[N, 2] m = append_col(v, a * v); while (i < N && sum(m[i]) < 4) { m[i + 1, 1] += tanh(m[i, 2]); m[i + 1, 2] = m[i, 1] * m[i + 1, 1]; i += m[i, 1] > 1 ? 2 : 1; } v = m[, 2]; s += i; }`,
	`{ int i = 1; real r = 0; while (i <= N) { if (v[i] < -1) { v[i] = -v[i]; continue; } r = a * r + v[i]; v[i] = r; if (r > 5) break; i += 1; } s += r * i; }`,
	`{ int i = 1; int k = 1; while (k <= 3 * N && s < 50) { v[i] = v[i] * a + y[i]; i += 1; if (i > N || v[i - 1] > 1.5) i = 1; k += 1; s += 0.001 * v[i]; } }`,
	`{ int i = 0; vector[N] w = 2 * v; while (i < N) { i += 1; if (v[i] > 0) { for (j in 1:2) { int q = 1 + (i * j) % N; w[i] += a * v[q] * w[q]; } } else w[i] = v[i]; } v = w; }`,
	`{ int i = 1; vector[N] w = v; while (i <= N) { if (v[i] > a) w = w * 0.99; w[i] += v[i]; i += 1; } v = w; }`,
	`for (q in 1:3) { int b = 1; for (i in 2:N) if (v[i] > v[b]) b = i; if (N > 0) { s += v[b]; v[b] = a * v[b] - 1; } }`,
	`for (q in 1:N) { int i = q; while (i > 1 && v[i %/% 2] < v[i]) { real t = v[i]; v[i] = v[i %/% 2]; v[i %/% 2] = t; i = i %/% 2; } s += 0.1 * v[1]; }`,
	`for (q in 1:N) { int i = q; real x = v[q]; while (i > 1) { if (v[i - 1] <= x) break; v[i] = v[i - 1]; i -= 1; } v[i] = x; if (v[1] < -1) s += v[1] * q; }`,
	`{ vector[N] st; int top = 0; for (q in 1:N) { real x = a * v[q]; while (top > 0) { if (st[top] > x) break; s += 0.1 * st[top]; top -= 1; } top += 1; st[top] = x + y[q]; v[q] = st[1]; } }`,
	`{ vector[N] f = rep_vector(0, N); for (q in 1:N) { int j = 1 + (v[q] > 0 ? q %/% 2 : 0); while (j <= N) { f[j] += v[q] * a; j += 2 * j; } } v = f; }`,
	`for (q in 1:N) { int j = q; int k = 0; while (k < 6) { k += 1; v[j] = a * v[j] + 0.1; if (v[j] > 0.3) j = j > 1 ? j - 1 : N; else break; } if (k == 3) continue; s += v[j] * k; if (s > 20) break; }`,
	`for (q in 1:N) { if (a >= 0.5) for (j in 1:(y[q] > 0.3 ? 1 : 1)) target += 0.25; }`,
	`{ int q = 1; while (q <= N) { int i = q; while (i > 1 && v[i %/% 2] < v[i]) { real t = v[i]; v[i] = v[i %/% 2]; v[i %/% 2] = t; i = i %/% 2; } q += v[1] > 1 ? 2 : 1; } s += q; }`,
	`{ vector[N] h; vector[N] st; int top = 0; for (q in 1:N) { while (top > 0 && st[max(top, 1)] < v[q]) top -= 1; top += 1; st[top] = v[q]; h[q] = top * v[q]; s += 0.01 * st[top] * y[q]; } v = h; }`,
	`for (b in 1:N) { int q = N + 1 - b; while (q < N && v[q] * a > v[min(q + 1, N)] - 1) { real t = v[q]; v[q] = v[q + 1]; v[q + 1] = t + 0.1; q += 1; } v[q] *= a; s += q; while (q > 1 && v[q - 1] > v[q]) { v[q - 1] = 0.5 * v[q] + y[q]; q -= 1; } s += 0.01 * v[q] * v[1]; }`,
	`{ int w = 1; while (w <= N && s < 30) { int q = w; while (q <= N) { int i = q; while (i > 1 && v[i - 1] > v[i]) { real t = v[i]; v[i] = v[i - 1]; v[i - 1] = t; i -= 1; } s += 0.01 * v[i]; q += v[q] > a ? 1 : 3; } w *= 2; } s += w; }`,
}

// TestCopiesReported checks that loops are reported whose iterations copy arrays, with their line,
// and that those that change arrays in place are not.
func TestCopiesReported(t *testing.T) {
	for _, c := range []struct {
		loop string
		line int // of the warning; 0: none
	}{
		{arrayLoops[0], 0},
		{arrayLoops[2], 0},
		{arrayLoops[5], 4},
		{arrayLoops[7], 0},
		{arrayLoops[11], 0},
		{"for (i in 1:N - 1) for (j in 1:N - i) if (v[j] > v[j + 1]) { real q = v[j]; v[j] = v[j + 1]; v[j + 1] = q; }", 0},
		{arrayLoops[1], 0},
		{"\nfor (q in 1:N) { v[2:N] = v[1:N - 1]; v[1] = a * v[N]; }", 5},
		{"matrix[20, 20] u = rep_matrix(0, 20, 20); for (t in 1:30) for (i in 2:19) for (j in 2:19) u[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + a * th[i]) / 4; s = sum(u);", 0},
	} {
		prog, list := compile.Compile(source.NewFile("m.model", `data { int N; vector[N] y; }
parameters { vector[N] th; real<lower=0, upper=1> a; }
model { real s = 0; vector[N] v = th;
`+c.loop+` target += normal_lpdf(y | v, 1) + sin(s); }`))
		if prog == nil {
			t.Fatal(list)
		}
		set, err := data.FromGo(map[string]any{"N": 300, "y": make([]float64, 300)})
		if err != nil {
			t.Fatal(err)
		}
		m, err := prog.Bind(set, compile.BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		line := 0
		if list := m.SlowLoops(); len(list) > 0 {
			line = list[0].Span.Begin().Line
		}
		if line != c.line {
			t.Errorf("%s: the warning is for line %d, want %d", c.loop, line, c.line)
		}
	}
}

// TestArrayLoops compares the evaluators on these loops.
func TestArrayLoops(t *testing.T) {
	for at, loop := range arrayLoops {
		model := `data { int N; vector[N] y; }
parameters { vector[N] th; real<lower=0, upper=1> a; }
model { real s = 0; vector[N] v = th; th ~ std_normal(); ` + loop + ` target += normal_lpdf(y | v, 1) + sin(s); }`
		for _, n := range []int{0, 1, 2, 5, 31, 32, 33, 70, 200} {
			if n > 5 && !short.Turn(at+n, 3) {
				continue
			}
			y := make([]float64, n)
			for i := range y {
				y[i] = float64(i*7%11)/11 - 0.2
			}
			raw, err := json.Marshal(map[string]any{"N": n, "y": y})
			if err != nil {
				t.Fatal(err)
			}
			set, err := data.ParseJSON("data.json", raw)
			if err != nil {
				t.Fatal(err)
			}
			if rep := contest.Contend(model, "arrays.model", set, 1, 3); rep.Wrong != nil {
				t.Errorf("%s\nN = %d: %v", loop, n, rep.Wrong)
			} else if rep.Compared == 0 {
				t.Errorf("%s\nN = %d: nothing compared: %s, %d rejected", loop, n, rep.Unsupported, rep.Rejected)
			}
		}
	}
}
