package compile_test

import (
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
)

// TestIntegerDivision checks quotients and remainders of integers that parameters decide. Products
// with the reciprocal of a divisor would be below the integer that they should be, as 49 · (1/49).
func TestIntegerDivision(t *testing.T) {
	const model = `data { int N; vector[N] y; }
parameters { vector[N] th; real<lower=0, upper=1> a; }
model {
  real s = 0;
  th ~ std_normal();
  for (q in 1:N) {
    int k = th[q] > 0 ? q : -q;
    int m = th[q] > a ? 49 : -10;
    s += (k % 49) * a + (k % m) * th[q] + (k %/% 49) * 0.1 + (k %/% m) * y[q] + ((7 * k) % m) * a^2 + (2147483647 % (k * m)) * 1e-6;
  }
  int i = 1;
  int z = 0;
  while (i < 3 * N) {
    z += (i * 49) % 49 + i % 7 - (-i) % 3 + (i * 49) %/% 49;
    i += th[1] > 0 ? 1 : 2;
  }
  target += 0.001 * (s + z * a);
}`
	for _, n := range []int{0, 1, 2, 60, 300} {
		y := make([]float64, n)
		for i := range y {
			y[i] = float64(i*7%11)/11 - 0.2
		}
		set, err := data.FromGo(map[string]any{"N": n, "y": y})
		if err != nil {
			t.Fatal(err)
		}
		if rep := contest.Contend(model, "division.model", set, 1, 3); rep.Wrong != nil || rep.Compared == 0 {
			t.Errorf("N = %d: %d compared; %v", n, rep.Compared, rep.Wrong)
		}
	}
}
