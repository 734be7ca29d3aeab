package format_test

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestParenthesesOut removes redundant parentheses. The result must mean the same. The bounds of a
// type need parentheses around comparisons and conditional expressions.
func TestParenthesesOut(t *testing.T) {
	const text = `
data {
  int n;
  real<lower=(n > 2), upper=((n + 1))> a;
  real<lower=((n > 2 ? 1 : 2))> b;
}
model {
  real x = ((a) * ((b + 1)));
  real y = (1 > 2 ? (3) : (4 ? 5 : 6));
  if ((n > 1)) if (n > 2) x = y; else { }
  for (i in (1) : (n)) for (j in 1 : n) x = i;
}`
	const want = `
data {
  int n;
  real<lower=(n > 2), upper=n + 1> a;
  real<lower=(n > 2 ? 1 : 2)> b;
}
model {
  real x = a * (b + 1);
  real y = 1 > 2 ? 3 : (4 ? 5 : 6);
  if (n > 1) {
    if (n > 2) {
      x = y;
    } else {
    }
  }
  for (i in 1:n) {
    for (j in 1:n) {
      x = i;
    }
  }
}
`
	got, list := format.With(source.NewFile("t", text), format.Options{Parentheses: true, Braces: true})
	if len(list) > 0 || "\n"+got != want {
		t.Errorf("%v\n%s", list, got)
	}
	if again, list := format.Source(source.NewFile("t", got)); len(list) > 0 || again != got {
		t.Errorf("%v\n%s", list, strings.TrimSpace(again))
	}
}
