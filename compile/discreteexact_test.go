package compile_test

import "testing"

// TestDiscreteExactOrder checks a ring in which min-fill begins at the wrong element, since it does
// not know the numbers of values: its sums have 274 terms, those of the best order 70.
func TestDiscreteExactOrder(t *testing.T) {
	c := discreteCase{name: "ring", data: `{}`, bounds: map[string][2]int64{"a": {0, 1}, "b": {0, 7}, "c": {0, 1}, "d": {0, 7}}, text: `data { }
parameters { real x; real y; int<lower=0, upper=1> a; int<lower=0, upper=7> b; int<lower=0, upper=1> c; int<lower=0, upper=7> d; }
model {
  target += 0.1 * x * (a == b) + y * a;
  target += -0.2 * x * abs(b - 3 * c);
  target += 0.05 * c * d * y;
  target += -square(0.3 * x * a - 0.1 * d);
}
`}
	c.check(t, 200)
	total := 0
	for _, s := range bindText(t, c.text, c.data).Discrete() {
		total += s.Total
	}
	if total != 70 {
		t.Errorf("%d terms", total)
	}
}
