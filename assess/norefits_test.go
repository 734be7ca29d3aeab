package assess_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
)

// TestNoRefits checks that fits without observations are recommended only if [assess.NewHoldout]
// accepts the model.
func TestNoRefits(t *testing.T) {
	for _, c := range []struct {
		data, more, reason string
	}{
		{"", "", ""},
		{"vector[N] z;", "z ~ normal(a, 1);", "several outcomes, y and z"},
		{"vector[N] x;", "", ""},
		{"vector<lower=0, upper=9, missing>[N] x;", "", "x has missing values"},
	} {
		m, err := model.Compile("m.stan", "data { int N; vector[N] y; "+c.data+" } parameters { real a; } model { a ~ normal(0, 1); y ~ normal(a, 1);"+c.more+" }")
		if err != nil {
			t.Fatal(err)
		}
		values := `{"N": 3, "y": [1, 2, 3], "x": [1, null, 3], "z": [3, 2, 1]}`
		if !strings.Contains(c.data, "missing") {
			values = strings.Replace(values, "null", "2", 1)
		}
		p, err := m.Bind(model.JSON(values))
		if err != nil {
			t.Fatal(c.data, err)
		}
		f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 1, Warmup: 50, Draws: 20, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		l, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := &criticise.Result{Draws: 20}
		for range l.Names {
			r.K, r.ELPD, r.PWAIC = append(r.K, 2), append(r.ELPD, -1), append(r.PWAIC, 0.1)
		}
		_, refused := assess.NewHoldout(t.Context(), m, model.JSON(values), model.BindOptions{})
		for _, moved := range []bool{false, true} {
			found := l.Findings(r, moved)[0]
			outcomes := strings.Contains(c.reason, "outcomes") // of which rows are left out, no single observations
			if got := slices.Contains(found.Settings, "exact"); got != (refused == nil && !outcomes) || refused == nil != (c.reason == "" || outcomes) ||
				slices.Contains(found.Settings, "cv") != (refused == nil) || !strings.Contains(found.Advice, c.reason) {
				t.Errorf("%q, moved %v: settings %v, refused %v: %s", c.data, moved, found.Settings, refused, found.Advice)
			}
		}
	}
}
