package predict_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model/predict"
)

// TestNamesAreFresh gives each name that derived programs declare to variables of the model, of a
// loop and of a function, and derives again.
func TestNamesAreFresh(t *testing.T) {
	const model = `functions {
  real shifted(real FUNARG, real by) { return FUNARG + by; }
}
data {
  int N; int J; array[N] int DATAINT; matrix[N, 2] X; vector[N] DATAREAL; array[N] int c; matrix[2, N] z;
}
transformed data { real TRANSFORMED = 1; }
parameters {
  vector[J] PARAM; vector[2] b; real<lower=0> s; real<lower=0> w; vector<lower=0>[2] r;
}
model {
  PARAM ~ normal(0, TRANSFORMED);
  b ~ normal(0, 1);
  s ~ normal(0, 1);
  w ~ exponential(1);
  r ~ exponential(1);
  DATAREAL ~ normal(PARAM[DATAINT] + X * b, s);
  for (LOOP in 1:N) c[LOOP] ~ poisson(w) T[1, 9];
  z ~ multi_gp(add_diag(identity_matrix(N), TRANSFORMED), r);
}
`
	places := []string{"FUNARG", "DATAINT", "DATAREAL", "TRANSFORMED", "PARAM", "LOOP"}
	words := regexp.MustCompile(`[A-Za-z]\w*`)
	kinds := []predict.Kind{predict.LogLikelihood, predict.Terms, predict.Replicated, predict.Prior, predict.Forward}
	derived := func(text string) (all []string) {
		p, _ := compile.Compile(source.NewFile("model.stan", text))
		if p == nil {
			return nil // the name is not allowed in this place
		}
		for _, kind := range kinds {
			d, err := predict.Derive(p, kind, predict.Options{})
			if err != nil {
				t.Errorf("%v: %v\n%s", kind, err, text)
				continue
			}
			all = append(all, d.Text)
		}
		return all
	}
	var names []string
	for _, text := range derived(model) {
		for _, w := range words.FindAllString(text, -1) {
			if !slices.Contains(names, w) && !regexp.MustCompile(`\b`+w+`\b`).MatchString(model) {
				names = append(names, w)
			}
		}
	}
	tried := 0
	for k, name := range names {
		// Try each name in two places; trying all places takes four seconds.
		for _, place := range []string{places[k%len(places)], places[(k/len(places)+k+1)%len(places)]} {
			if derived(strings.ReplaceAll(model, place, name)) != nil {
				tried++
			}
		}
	}
	t.Logf("%d names, %d programs", len(names), tried)
	for _, known := range []string{"i", "DATAREAL_rep", "lo", "p1", "truncated_poisson_rng", "drawn", "log_lik_c"} {
		if !slices.Contains(names, known) {
			t.Errorf("no derived program declares %s: the test does not see what it should; names %v", known, names)
		}
	}
}
