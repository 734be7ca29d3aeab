package proggen

import (
	"strings"
	"testing"
	"time"
)

// TestShrink checks that irrelevant parts are removed, including arguments of functions.
func TestShrink(t *testing.T) {
	text := `functions {
  real f(int N, vector[] v, real x) {
    real s = 0;
    for (i in 1:N) {
      s += g(x, v[i, 1]);
    }
    return s;
  }
}
model {
  target += f(N, v, h(a, b));
  target += 1;
}
`
	small := Shrink(text, func(text string) bool {
		return strings.Contains(text, "for (i in") && strings.Contains(text, "f(") && !strings.Contains(text, "f()")
	}, time.Minute)
	want := `functions {
  real f(int N) {
    for (i in 1:N) {
`
	if !strings.HasPrefix(small, want) || strings.Contains(small, "target += 1") {
		t.Errorf("shrunk to\n%s", small)
	}
	if got := withoutArgument("x = f(a, g(b, c), d) + f(e, h);", "f", 1); got != "x = f(a, d) + f(e);" {
		t.Error(got)
	}
	if got := withoutArgument("x = af(a, b);", "f", 0); got != "x = af(a, b);" {
		t.Error(got)
	}
}
