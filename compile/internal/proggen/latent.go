package proggen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Latent is a program with discrete parameters, of few enough configurations to enumerate them.
type Latent struct {
	Text string
	Data string // JSON

	// Bounds of the discrete parameters. For a count without an upper bound, it is a value beyond
	// which its probability is below 1e-13 at all points with coordinates in (-1, 1).
	Bounds map[string][2]int64
}

// beyondCounts is the upper bound of counts without one.
const beyondCounts = 26

// NewLatent returns the program of a seed. Its discrete parameters are classes, indicators, states
// of chains and grids, change points, and counts with and without upper bounds, alone and next to
// one another.
func NewLatent(seed uint64) *Latent {
	g := &latent{rng: rand.New(rand.NewPCG(seed, 11)), bounds: map[string][2]int64{}}
	g.rows = []int{0, 1, 2, 3, 3}[g.rng.IntN(5)]
	pieces := []func(){g.classes, g.counts, g.counts, g.counts, g.zeros, g.linked, g.chain, g.change, g.grid, g.parents}
	left := 700
	for _, k := range g.rng.Perm(len(pieces)) {
		before := *g
		g.configs = 1
		g.declared, g.model = before.declared[:len(before.declared):len(before.declared)], before.model[:len(before.model):len(before.model)]
		name := fmt.Sprint(len(before.declared))
		g.name = func(stem string) string { return stem + name }
		pieces[k]()
		if g.configs > left {
			for n := range g.bounds {
				if strings.HasSuffix(n, name) {
					delete(g.bounds, n)
				}
			}
			*g = before
			continue
		}
		if left /= g.configs; left < 2 || g.rng.IntN(3) == 0 {
			break
		}
	}
	c, x, y := make([]int, g.rows), make([]int, g.rows), make([]float64, g.rows)
	for i := range g.rows {
		c[i], x[i], y[i] = g.rng.IntN(4), 1+g.rng.IntN(3), float64(g.rng.IntN(41)-20)/10
	}
	text, err := json.Marshal(map[string]any{"R": g.rows, "c": c, "x": x, "y": y})
	if err != nil {
		panic(err) // they are numbers
	}
	return &Latent{Data: string(text), Bounds: g.bounds, Text: `functions {
  real weight_lpmf(int n, real r) {
    real s = log(r);
    return n * s - r - lgamma(n + 1);
  }
  real seen(int n, real q) {
    return 1 - (1 - q)^n;
  }
}
data {
  int<lower=0> R;
  array[R] int c;
  array[R] int x;
  vector[R] y;
}
parameters {
  real a;
  real b;
  real<lower=0, upper=1.5> r;
  real<lower=0, upper=1> p;
  simplex[2] w;
  vector[3] m;
  ` + strings.Join(g.declared, "\n  ") + `
}
model {
  a ~ normal(0, 1);
  ` + strings.Join(g.model, "\n  ") + `
}
`}
}

// latent is a program under way.
type latent struct {
	rng             *rand.Rand
	rows            int
	bounds          map[string][2]int64
	declared, model []string
	configs         int
	name            func(string) string
}

func (g *latent) one(of ...string) string { return of[g.rng.IntN(len(of))] }

// unknown declares a discrete parameter with n elements. An upper bound of less than the lower one
// is none.
func (g *latent) unknown(stem, dims string, n int, lo, hi int64) string {
	name := g.name(stem)
	declaration := fmt.Sprintf("int<lower=%d, upper=%d> %s;", lo, hi, name)
	if hi < lo {
		declaration = fmt.Sprintf("int<lower=%d> %s;", lo, name)
		hi = beyondCounts
	}
	if dims != "" {
		declaration = "array[" + dims + "] " + declaration
	}
	for range n {
		g.configs *= int(hi - lo + 1)
		if g.configs > 1e6 {
			break
		}
	}
	g.bounds[name] = [2]int64{lo, hi}
	g.declared = append(g.declared, declaration)
	return name
}

// add adds statements in which z is the name of a parameter, v of another one.
func (g *latent) add(z, v string, statements ...string) {
	for _, s := range statements {
		if s != "" {
			g.model = append(g.model, strings.NewReplacer("$z", z, "$v", v).Replace(s))
		}
	}
}

func (g *latent) classes() {
	z := g.unknown("z", "R", g.rows, 1, 2)
	g.add(z, "",
		g.one("$z ~ categorical(w);", "for (i in 1:R) target += log(w[$z[i]]);", "for (i in 1:R) $z[i] ~ categorical_logit([a, b]');"),
		g.one("y ~ normal(m[$z], 1);", "for (i in 1:R) y[i] ~ normal($z[i] == 1 ? a : b, exp(m[x[i]]));", "for (i in 1:R) { real e = m[1 + $z[i]]; c[i] ~ poisson_log(e); }",
			"for (i in 1:R) c[i] ~ binomial(4, $z[i] * 0.3);", "for (i in 1:R) if ($z[i] == 2) y[i] ~ normal(a, 1); else c[i] ~ poisson(r);"))
}

func (g *latent) counts() {
	z := g.unknown("n", "min({R, 1})", min(1, g.rows), 0, -1)
	g.add(z, "",
		g.one("$z ~ poisson(r);", "$z ~ poisson_log(a - 1);", "$z ~ neg_binomial_2(r, 6);", "for (i in 1:size($z)) $z[i] ~ weight(r);", "for (n in $z) target += -(2 + p) * n;",
			"for (i in 1:size($z)) target += log_mix(p, poisson_lpmf($z[i] | r), poisson_lpmf($z[i] | 0.1));",
			"for (i in 1:size($z)) target += log_mix(w, [poisson_lpmf($z[i] | r), log_sum_exp(log(p) + poisson_lpmf($z[i] | 0.5), log1m(p) + neg_binomial_2_lpmf($z[i] | 0.2, 3))]');",
			"for (i in 1:size($z)) target += log_sum_exp(log(p) + ($z[i] == 0 ? 0 : negative_infinity()), log1m(p) + poisson_lpmf($z[i] | r));",
			"$z ~ binomial(9, p);"),
		g.one("", "for (i in 1:size($z)) c[i] ~ binomial($z[i], p);", "for (i in 1:size($z)) y[i] ~ normal(a + 0.2 * $z[i], 1);", "for (i in 1:size($z)) c[i] ~ binomial(4, seen($z[i], p));",
			"for (i in 1:size($z)) c[i] ~ poisson(0.3 + p * $z[i]);", "for (i in 1:size($z)) c[i] ~ binomial_logit(5, a - 0.3 * $z[i]);"),
		g.one("", "", "for (i in 1:size($z)) if ($z[i] % 2 == 1) target += a;", "for (i in 1:size($z)) target += $z[i] > x[i] ? b : 0;", "for (i in 1:size($z)) if ($z[i] % 3 > 0) target += negative_infinity();",
			"for (i in 1:size($z)) target += -0.1 * abs($z[i] - x[i]);", "for (i in 1:size($z)) target += $z[i] / 2 * p * -1;"))
}

// zeros are counts that an indicator makes 0.
func (g *latent) zeros() {
	n := min(g.rows, 1)
	z := g.unknown("k", "min({R, 1})", n, 0, -1)
	v := g.unknown("s", "min({R, 1})", n, 0, 1)
	g.add(z, v, "$v ~ bernoulli(p);",
		g.one("for (i in 1:size($z)) $z[i] ~ poisson(r * $v[i]);", "for (i in 1:size($z)) $z[i] ~ poisson($v[i] == 1 ? r : 0.2);", "for (i in 1:size($z)) { if ($v[i] == 1) $z[i] ~ poisson(r); else $z[i] ~ neg_binomial_2(0.3, 5); }"),
		g.one("", "for (i in 1:size($z)) c[i] ~ binomial($z[i], 0.6);", "for (i in 1:size($z)) if ($z[i] % 2 != $v[i]) target += negative_infinity();", "for (i in 1:size($z)) y[i] ~ normal($v[i] * a + 0.1 * $z[i], 1);"))
}

// linked are two counts one of which decides the distribution of the other.
func (g *latent) linked() {
	z, v := g.unknown("u", "", 1, 0, -1), g.unknown("v", "", 1, 0, []int64{-1, 5}[g.rng.IntN(2)])
	g.configs = min(g.configs, 700) // 729 are as good
	if g.bounds[v][1] == 5 {
		g.add(z, v, "$v ~ binomial(5, p);", g.one("$z ~ poisson(0.1 + 0.2 * $v);", "$z ~ poisson($v > 2 ? r : 0.5 * r);"), g.one("", "if (R > 0) c[1] ~ poisson(0.2 + $z);"))
		return
	}
	g.add(z, v, "$z ~ poisson(0.7 * r);", g.one("$v ~ binomial($z, p);", "$v ~ poisson(0.1 + 0.2 * $z);", "target += $v < $z ? negative_infinity() : poisson_lpmf($v - $z | 0.5);"),
		g.one("", "if (R > 0) c[1] ~ poisson(0.2 + $v);", "if (R > 0) c[1] ~ binomial($z, 0.5);"))
}

func (g *latent) chain() {
	z := g.unknown("h", "R", g.rows, 1, 2)
	g.add(z, "", "for (t in 1:R) {", "  if (t == 1) $z[t] ~ categorical(w);",
		"  else $z[t] ~ categorical("+g.one("[inv_logit(a * $z[t - 1]), 1 - inv_logit(a * $z[t - 1])]'", "$z[t - 1] == 1 ? w : [0.3, 0.7]'", "softmax([a * x[t], m[$z[t - 1]]]')")+");",
		g.one("  y[t] ~ normal(m[$z[t]], 1);", "  c[t] ~ poisson_log(m[$z[t]] + b);", "  if ($z[t] > 1) y[t] ~ normal(b, 2);"), "}",
		g.one("", "if (R > 2) target += $z[1] == $z[R] ? p : 0;"))
}

func (g *latent) change() {
	z := g.unknown("t", "", 1, 1, 3)
	g.add(z, "", g.one("", "$z ~ poisson(2);", "target += -0.3 * $z * p;"),
		g.one("for (i in 1:R) y[i] ~ normal(i < $z ? a : b, 1);", "for (i in $z:R) if (i >= 1) c[i] ~ poisson(r);", "if ($z < R) y[$z:R] ~ normal(a, 1);",
			"for (i in 1:R) { int after = i >= $z; y[i] ~ normal(m[1 + after], 1); }"))
}

func (g *latent) grid() {
	z := g.unknown("q", "2, 2", 4, 0, 1)
	g.add(z, "", g.one("for (i in 1:2) for (j in 1:2) $z[i, j] ~ bernoulli(p);", "for (i in 1:2) $z[i] ~ bernoulli_logit(a);"),
		"for (i in 1:2) target += a * ($z[i, 1] == $z[i, 2]) + b * ($z[1, i] == $z[2, i]);",
		g.one("", "for (i in 1:R) y[i] ~ normal($z[1 + i % 2, 1] - b, 1);", "target += -square(sum($z[1]) - p);"))
}

// parents are causes of an effect, and elements that another parameter chooses.
func (g *latent) parents() {
	z, v := g.unknown("g", "3", 3, 0, 1), g.unknown("o", "", 1, 1, 3)
	g.add(z, v, "$z ~ bernoulli(p);", g.one("", "$v ~ categorical(softmax(m));"),
		g.one("for (i in 1:R) c[i] ~ poisson($z[$v] == 1 ? r : 0.4);", "for (i in 1:R) (c[i] > 1) ~ bernoulli(1 - 0.9 * (1 - p)^$z[1] * 0.5^$z[2]);", "for (i in 1:R) y[i] ~ normal(sum($z) * a, 1);"))
}
