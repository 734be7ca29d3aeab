package compile

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFisherElements compares the sparse metric and the gradient of its trace with those of the
// full metric. The models have dense statements, sparse ones, and statements represented by outer
// products of vectors.
func TestFisherElements(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	table := func(rows, cols int) [][]float64 {
		m := make([][]float64, rows)
		for i := range m {
			m[i] = make([]float64, cols)
			for j := range m[i] {
				m[i][j] = rng.NormFloat64()
			}
		}
		return m
	}
	counts := make([]int, 90)
	for i := range counts {
		counts[i] = rng.IntN(5)
	}
	cases := append(fisherCases(), fisherCase{name: "more columns than rows", text: `
		data { int N; int K; matrix[N, K] X; array[N] int y; }
		parameters { real a; vector[K] z; vector<lower=0>[K] w; real<lower=0> s; }
		model { a ~ normal(0, 1); z ~ normal(0, 1); w ~ student_t(3, 0, 1); s ~ normal(0, 1);
			y ~ bernoulli_logit(a + X * (s * z .* w)); }`,
		data: map[string]any{"N": 6, "K": 40, "X": table(6, 40), "y": []int{1, 0, 1, 1, 0, 0}},
	}, fisherCase{name: "a sum of all", text: `
		data { int N; array[N] int y; }
		parameters { real mu; real<lower=0> s; vector[N] f; vector[N] g; }
		model { mu ~ normal(0, 1); s ~ normal(0, 1); f ~ normal(0, 1); g ~ normal(0, 1); sum(f) ~ normal(0, s);
			f[2:N] ~ normal(f[1:(N - 1)], 2);
			y ~ poisson_log(mu + s * f + g); }`,
		data: map[string]any{"N": 90, "y": counts},
	}, fisherCase{name: "two informed arguments", text: `
		data { int K; array[2] vector[K] X; vector[2] y; }
		parameters { vector[K] b; }
		model { b ~ normal(0, 1); for (n in 1:2) y[n] ~ normal(X[n]' * b, exp(0.1 * sum(b))); }`,
		data: map[string]any{"K": 70, "X": table(2, 70), "y": []float64{0.5, -1}},
	})
	wide := 0
	for _, c := range cases {
		m := boundText(t, c.text, c.data)
		n := m.Dim()
		rows, cols, columns, ranks, ok, err := m.FisherPattern(false)
		if err != nil || !ok {
			t.Fatalf("%s: %v", c.name, err)
		}
		wide += len(columns)
		size := len(rows)
		for i, of := range columns {
			size += (len(of) + 1) * ranks[i]
		}
		x, e, a := make([]float64, n), make([]float64, size), make([]float64, size)
		for i := range x {
			x[i] = 0.3 * rng.NormFloat64()
		}
		if err := m.FisherElements(false, x, e); err != nil {
			t.Fatal(err)
		}
		want, got := metricAt(t, m.FisherMetric, x), make([]float64, n*n)
		A := make([]float64, n*n)
		for i := range n {
			for j := range i + 1 {
				A[i*n+j] = math.Cos(float64(3*i + 7*j))
				A[j*n+i] = A[i*n+j]
			}
		}
		for k, r := range rows {
			i, j := int(r), int(cols[k])
			got[i*n+j] += e[k]
			if i != j {
				got[j*n+i] += e[k]
			}
			a[k] = A[i*n+j]
		}
		at := len(rows)
		for k, of := range columns {
			rank := ranks[k]
			weights := at + len(of)*rank
			for r := range rank {
				for i, p := range of {
					u := e[at+i*rank+r]
					for j, q := range of {
						v := e[at+j*rank+r]
						got[int(p)*n+int(q)] += e[weights+r] * u * v
						a[at+i*rank+r] += A[int(p)*n+int(q)] * v
						a[weights+r] += u * v * A[int(p)*n+int(q)]
					}
				}
			}
			at = weights + rank
		}
		for k, v := range want {
			if math.Abs(got[k]-v) > 1e-12*(1+math.Abs(v)) {
				t.Fatalf("%s: element %d, %d is %v, want %v", c.name, k/n, k%n, got[k], v)
			}
		}
		grad, whole := make([]float64, n), make([]float64, n)
		if err := m.FisherElementsTraceGrad(false, x, a, grad); err != nil {
			t.Fatal(err)
		}
		if err := m.FisherTraceGrad(x, A, whole); err != nil {
			t.Fatal(err)
		}
		for i, v := range whole {
			if math.Abs(grad[i]-v) > 1e-9*(1+math.Abs(v)) {
				t.Errorf("%s: derivative %d of tr(A·G) is %v, want %v", c.name, i, grad[i], v)
			}
		}
		// The diagonal alone.
		diag, slope := make([]float64, n), make([]float64, n)
		if err := m.FisherElements(true, x, diag); err != nil {
			t.Fatal(err)
		}
		clear(A)
		for i, v := range diag {
			if math.Abs(v-want[i*(n+1)]) > 1e-12*(1+math.Abs(v)) {
				t.Errorf("%s: element %d of the diagonal is %v, want %v", c.name, i, v, want[i*(n+1)])
			}
			A[i*(n+1)] = math.Sin(float64(i))
			diag[i] = A[i*(n+1)]
		}
		if err := m.FisherElementsTraceGrad(true, x, diag, slope); err != nil {
			t.Fatal(err)
		}
		if err := m.FisherTraceGrad(x, A, whole); err != nil {
			t.Fatal(err)
		}
		for i, v := range whole {
			if math.Abs(slope[i]-v) > 1e-9*(1+math.Abs(v)) {
				t.Errorf("%s: derivative %d of tr(A·G) with a diagonal A is %v, want %v", c.name, i, slope[i], v)
			}
		}
		if m.FisherElements(false, x, e[1:]) == nil || m.FisherElementsTraceGrad(false, x, a, grad[1:]) == nil || m.FisherElementsTraceGrad(false, x[1:], a, grad) == nil {
			t.Errorf("%s: wrong sizes are taken", c.name)
		}
	}
	if wide < 3 {
		t.Errorf("%d statements are told by vectors", wide)
	}
}
