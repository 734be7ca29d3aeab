package predict_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/model/predict"
)

// TestCensored derives, from models that state in several ways that some times are only known to be
// above or below a value, which times these are, and how to draw them.
func TestCensored(t *testing.T) {
	const head = `data { int N; int M; vector<lower=0>[N] y; array[N] int event; vector<lower=0>[M] z; array[M] int at; }
parameters { real<lower=0> k; real<lower=0> s; } model { k ~ gamma(2, 1); s ~ gamma(2, 1); `
	const values = `{"N": 3, "M": 2, "y": [1, 2, 3], "event": [1, 0, 1], "z": [5, 6], "at": [1, 3]}`
	for _, c := range []struct {
		body     string
		outputs  string // variables that can be drawn; * marks those with censored elements
		censored string // the values of the outputs that say which elements are censored
		left     int
	}{
		{"for (n in 1:N) if (event[n] == 1) y[n] ~ weibull(k, s); else target += weibull_lccdf(y[n] | k, s);", "y*", "[0 1 0]", 0},
		{"for (n in 1:N) { if (event[n] == 1) { target += weibull_lpdf(y[n] | k, s); } else { target += weibull_lcdf(y[n] | k, s); } }", "y*", "[0 -1 0]", 0},
		{"y ~ weibull(k, s); target += weibull_lccdf(z | k, s);", "y z*", "[0 0 0 1 1]", 0},
		{"y[at] ~ weibull(k, s); target += weibull_lccdf(y[2:2] | k, s);", "y*", "[0 1 0]", 0},
		{"y ~ weibull(k, s);", "y", "[0 0 0]", 0},
		// Truncation is no censoring.
		{"y ~ weibull(k, s); target += -3 * weibull_lccdf(0.1 | k, s);", "y", "[0 0 0]", 0},
		{"for (n in 1:N) target += weibull_lpdf(y[n] | k, s) - weibull_lccdf(0.1 | k, s);", "", "", 1},
		// The side depends on the value itself: there is no way to draw it.
		{"for (n in 1:N) if (y[n] < 2) y[n] ~ weibull(k, s); else target += weibull_lccdf(y[n] | k, s);", "", "", 2},
	} {
		p := compiled(t, head+c.body+" }")
		d, err := predict.Derive(p, predict.Replicated, predict.Options{Complete: true})
		if err != nil {
			if c.outputs != "" {
				t.Errorf("%s: %v", c.body, err)
			}
			continue
		}
		var outputs []string
		for _, o := range d.Outputs {
			outputs = append(outputs, o.Variable+strings.Repeat("*", map[bool]int{true: 1}[o.Censored]))
		}
		if got := strings.Join(outputs, " "); got != c.outputs || len(d.Left) != c.left {
			t.Errorf("%s: outputs %q, want %q; left out: %v", c.body, got, c.outputs, d.Left)
			continue
		}
		_, drawn := generated(t, d.Program, values)
		bounds := []float64{1, 2, 3, 5, 6}
		for i, x := range drawn {
			if x == bounds[i] || !(x > 0) {
				t.Errorf("%s: element %d is %v, and not drawn\n%s", c.body, i, x, d.Text)
			}
		}
		_, sides := generated(t, derive(t, p, predict.Censoring).Program, values)
		if got := fmt.Sprint(sides); got != c.censored {
			t.Errorf("%s: censored: %v, want %s", c.body, got, c.censored)
		}
		// Without the option, nothing is drawn for what is censored.
		d, err = predict.Derive(p, predict.Replicated, predict.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range d.Outputs {
			if o.Censored {
				t.Errorf("%s: %s is drawn, though it is censored", c.body, o.Variable)
			}
		}
		_, drawn = generated(t, d.Program, values)
		for i, x := range drawn {
			if censored := len(sides) > i && sides[i] != 0; censored && math.Abs(x-bounds[i]) > 0 {
				t.Errorf("%s: element %d is drawn without the option", c.body, i)
			}
		}
	}
}
