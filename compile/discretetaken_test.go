package compile_test

import (
	"encoding/json"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// TestDiscreteTaken compares sums that the density reads from messages of other subjects with an
// enumeration: sums over an element a next to one or two others, which are known in some subjects.
func TestDiscreteTaken(t *testing.T) {
	const text = `
data {
  int S; int B; int C; array[S, 2] int y; vector[S] x; int pairs;
}
parameters {
  matrix[2, 4] v; vector[5] w; real<lower=0, upper=1> p;
  array[S] int<lower=0, upper=1> a; array[S] int<lower=3, upper=2 + B> b; array[S] int<lower=-1, upper=C - 2> c;
}
model {
  to_vector(v) ~ normal(0, 1);
  for (s in 1:S) {
    a[s] ~ bernoulli(p);
    if (pairs) target += v[a[s] + 1, b[s] - 2] * x[s];
    else target += v[a[s] + 1, b[s] - 2] * (x[s] + w[c[s] + 2]);
    target += w[b[s]] + v[1, c[s] + 2] + w[1] * b[s] * c[s];
    if (y[s, 1] > 0) target += log(b[s] == y[s, 1]);
    if (y[s, 2] > -2) target += log(c[s] == y[s, 2]);
  }
}`
	unknown := []int{0, -2}
	for _, test := range short.Every(3, []struct {
		b, c, pairs int
		y           [][]int
		x           []float64
		taken       bool
	}{
		{2, 2, 0, [][]int{unknown, unknown, {4, -1}}, []float64{1, 1, 1}, true},
		{2, 2, 0, [][]int{{3, 0}, unknown, unknown}, []float64{2, 2, 2}, true},
		{2, 2, 0, [][]int{unknown, {4, 0}, unknown}, []float64{1, 2, 1}, false},
		{2, 2, 1, [][]int{unknown, unknown, {4, -1}}, []float64{1, 1, 1}, true},
		{2, 2, 1, [][]int{{3, -2}, unknown, unknown}, []float64{2, 2, 2}, true},
		{2, 3, 0, [][]int{unknown, unknown, {4, 1}}, []float64{1, 1, 1}, true},
		{2, 2, 0, [][]int{{4, -2}, unknown, unknown}, []float64{1, 1, 1}, false},
		{2, 2, 0, [][]int{unknown, unknown}, []float64{1, 1}, false},
		{2, 2, 0, [][]int{{4, 0}, {4, 0}}, []float64{1, 1}, false},
		{2, 2, 0, [][]int{{4, 0}}, []float64{1}, false},
	}) {
		values, err := json.Marshal(map[string]any{"S": len(test.y), "B": test.b, "C": test.c, "pairs": test.pairs, "y": test.y, "x": test.x})
		if err != nil {
			t.Fatal(err)
		}
		c := discreteCase{name: "taken", text: text, data: string(values), bounds: map[string][2]int64{
			"a": {0, 1}, "b": {3, int64(2 + test.b)}, "c": {-1, int64(test.c - 2)},
		}}
		c.check(t, 300)
		taken := 0
		for _, d := range bindText(t, text, c.data).Discrete() {
			taken += d.Taken
		}
		if taken > 0 != test.taken {
			t.Errorf("%d sums are read from messages, data %s", taken, values)
		}
	}
}
