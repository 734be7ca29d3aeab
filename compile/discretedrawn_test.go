package compile_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/internal/proggen"
	"github.com/ppl-lang/ppl/internal/short"
)

// compared draws programs whose statements read discrete parameters s and u mostly through
// comparisons.
type compared struct {
	rng    *rand.Rand
	groups int // elements of u
}

func (g *compared) one(of ...string) string { return of[g.rng.IntN(len(of))] }

// unknown is a discrete parameter.
func (g *compared) unknown() string {
	if g.groups > 0 && g.rng.IntN(2) == 0 {
		return "u[g[t]]"
	}
	return "s"
}

func (g *compared) cond(depth int) string {
	if depth > 0 {
		switch g.rng.IntN(5) {
		case 0:
			return "!(" + g.cond(depth-1) + ")"
		case 1:
			return "(" + g.cond(depth-1) + " && " + g.cond(depth-1) + ")"
		case 2:
			return "(" + g.cond(depth-1) + " || " + g.cond(depth-1) + ")"
		}
	}
	op := g.one("<", "<=", ">", ">=", "==", "!=")
	left := g.one("t", "t", "t + 2", "x[t]", "3", "2 * t", "T - t", "0.5 * y[t]")
	right := g.unknown()
	switch g.rng.IntN(8) {
	case 0:
		right = "2 * " + right
	case 1:
		right += " - 1"
	case 2:
		right += " + " + g.unknown()
	case 3:
		left, right = right, left
	}
	return left + " " + op + " " + right
}

func (g *compared) value(depth int) string {
	if depth > 0 {
		switch g.rng.IntN(4) {
		case 0:
			return "(" + g.cond(1) + " ? " + g.value(depth-1) + " : " + g.value(depth-1) + ")"
		case 1:
			return "(" + g.value(depth-1) + " + " + g.one("b", "0.3", "x[t]") + " * (" + g.cond(0) + "))"
		case 2:
			return g.one("0.1 * "+g.unknown(), "m[1 + ("+g.cond(0)+")]")
		}
	}
	return g.one("a", "b", "m[1]", "m[2]", "0.1 * y[t]")
}

// term is a statement about row t.
func (g *compared) term() string {
	return g.one(
		"y[t] ~ normal("+g.value(2)+", 1);",
		"y[t] ~ normal("+g.value(1)+", "+g.cond(1)+" ? 1 : 2);",
		"y[t] ~ cauchy("+g.value(1)+", 1);",
		"c[t] ~ poisson(exp("+g.value(2)+"));",
		"c[t] ~ poisson_log("+g.value(1)+");",
		"c[t] ~ poisson(2 * ("+g.cond(0)+"));",
		"c[t] ~ poisson_log("+g.value(1)+" + log("+g.cond(0)+"));",
		"if (abs(t - "+g.unknown()+") < 2) target += log("+g.cond(0)+" ? p : 0.4);",
		"c[t] ~ binomial(3 + ("+g.cond(1)+"), "+g.cond(0)+" ? p : 0.3);",
		"target += log("+g.cond(1)+" ? p : 0.4);",
		"target += "+g.cond(1)+" ? -a : "+g.value(1)+";",
		"if ("+g.cond(1)+") y[t] ~ student_t(4, "+g.value(1)+", 2); else target += "+g.value(0)+";",
		"if ("+g.cond(1)+") target += log1m(p * ("+g.cond(0)+"));",
		"{ int k = "+g.cond(1)+"; real e = k ? a : b; y[t] ~ normal(e, 1.5); }",
		"{ int k = "+g.unknown()+" + 1; if (t < k) y[t] ~ normal(a, 1); }",
	)
}

func (g *compared) statement() string {
	if g.rng.IntN(4) == 0 {
		r := g.one("s:T", "1:s - 1", ":s", "s:s + 1", "s - 1:s")
		return "if (s > 1 && s < T) { " + g.one("y["+r+"] ~ normal(a, 1);", "c["+r+"] ~ poisson_log(a + b * y["+r+"]);",
			"target += cauchy_lpdf(y["+r+"] | b, 2);", "y["+r+"] ~ normal(m[1 + (s > 3)], exp(b));") + " }"
	}
	if g.rng.IntN(3) > 0 {
		return "for (t in 1:T) { " + g.term() + " }"
	}
	return "for (t in " + g.one("s:T", "s + 1:T", "T - s:T", "1:s", "1:s - 1", "s - 1:s + 2", "2:14 - s") + ") if (t >= 1 && t <= T) { " + g.term() + " }"
}

// TestDiscreteCompared draws programs, sizes and data.
func TestDiscreteCompared(t *testing.T) {
	cases := uint64(40)
	if testing.Short() {
		cases = 12
	}
	for seed := range cases {
		rng := rand.New(rand.NewPCG(seed, 3))
		rows := []int{0, 1, 2, 5, 9}[rng.IntN(5)]
		top := []int{1, 2, 7, 8, 9, 12}[rng.IntN(6)]
		g := &compared{rng, rng.IntN(3)}
		var bounds [][2]int64
		lo, hi := make([]int, g.groups), make([]int, g.groups)
		for i := range g.groups {
			lo[i] = rng.IntN(3)
			hi[i] = lo[i] + []int{1, 6, 7}[rng.IntN(3)]
			if top > 2 && g.groups > 1 {
				hi[i] = lo[i] + 1 + rng.IntN(2)
			}
			bounds = append(bounds, [2]int64{int64(lo[i]), int64(hi[i])})
		}
		x, at, c, y := make([]int, rows), make([]int, rows), make([]int, rows), make([]float64, rows)
		for i := range rows {
			x[i], c[i], y[i] = rng.IntN(10), rng.IntN(3), rng.NormFloat64()
			at[i] = 1 + rng.IntN(max(1, g.groups))
		}
		text, err := json.Marshal(map[string]any{"T": rows, "G": g.groups, "S": top, "x": x, "g": at, "c": c, "y": y, "lo": lo, "hi": hi})
		if err != nil {
			t.Fatal(err)
		}
		model := []string{"a ~ normal(0, 1);", g.one("s ~ poisson(3);", "target += -0.1 * s;", "")}
		if g.groups > 0 {
			model = append(model, "u ~ poisson(2);")
		}
		for range 1 + rng.IntN(3) {
			model = append(model, g.statement())
		}
		c1 := discreteCase{name: "compared", data: string(text), perElement: map[string][][2]int64{"u": bounds, "s": {{1, int64(top)}}}, text: `
data { int T; int G; int S; array[T] int x; array[T] int g; array[T] int c; vector[T] y; array[G] int lo; array[G] int hi; }
parameters { real a; real b; vector[2] m; real<lower=0, upper=1> p; int<lower=1, upper=S> s; array[G] int<lower=lo, upper=hi> u; }
model {
  ` + strings.Join(model, "\n  ") + "\n}\n"}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { c1.check(t, 150) })
		if t.Failed() {
			t.Fatalf("program:\n%s\n%s", c1.text, text)
		}
	}
}

// TestDiscreteGenerated compares programs of the generator with the sum over all configurations.
func TestDiscreteGenerated(t *testing.T) {
	cases := uint64(60)
	if testing.Short() {
		cases = 12
	}
	for seed := range cases {
		if !short.Turn(int(seed), 4) {
			continue
		}
		l := proggen.NewLatent(seed)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			discreteCase{name: "generated", text: l.Text, data: l.Data, bounds: l.Bounds}.check(t, 150)
		})
		if t.Failed() {
			t.Fatalf("program:\n%s\n%s", l.Text, l.Data)
		}
	}
}
