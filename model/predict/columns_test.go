package predict_test

import (
	"maps"
	"testing"

	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// TestColumnTerms: the columns of group-level terms have the names of the data that multiply them,
// directly or through what is computed from them alone.
func TestColumnTerms(t *testing.T) {
	m, err := model.Compile("m", `data { int N; int J; array[N] int g; vector[N] x; vector[N] z; vector[N] w; vector[N] y; }
transformed data { vector[N] x_c = (x - mean(x)) / 2; vector[N] both = x .* z; }
parameters { matrix[J, 4] u; matrix[3, J] v; matrix[J, 3] r; real s; real b; }
model {
  vector[N] mu = u[g, 1] + u[g, 2] .* x_c + both .* u[g, 3] + (v[1, g])' .* w;
  mu += r[g, 1] + (b + r[g, 2]) .* x_c + r[g, 3] .* (z - 3 * w);
  for (n in 1:N) mu[n] += z[n] * v[2, g[n]] + u[g[n], 4] * s;
  y ~ normal(mu, 1);
  v[3, 1] ~ std_normal();
}`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[predict.Column]string{
		{"u", 1, 1}: "intercept", {"u", 1, 2}: "x", {"u", 1, 3}: "both", {"u", 1, 4}: "s",
		{"r", 1, 1}: "intercept", {"r", 1, 2}: "x",
		{"v", 0, 1}: "intercept", {"v", 0, 2}: "z",
	}
	if got := predict.ColumnTerms(m.Program()); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := predict.ColumnTerms(nil); len(got) != 0 {
		t.Error(got)
	}
}
