package model_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/model"
)

// TestNestedTuples checks that finding an error in a program with nested tuples takes at most
// quadratic work in the depth. The text of a type is as long as it is deep, and a message may
// contain a type for each level.
func TestNestedTuples(t *testing.T) {
	nested := func(depth int) (typ, value string) {
		return strings.Repeat("tuple(", depth) + "real" + strings.Repeat(", real)", depth),
			strings.Repeat("(", depth) + "x" + strings.Repeat(", x)", depth)
	}
	const head = "parameters { vector[3] b; real x; }\n"
	programs := map[string]func(typ, value, member string) string{
		"index in a loop": func(typ, value, _ string) string {
			return head + "model { for (i in 1:5) { " + typ + " a = " + value + "; b[i] ~ normal(a.2, 1); } }"
		},
		"carried by a loop": func(typ, value, _ string) string {
			return head + "model { " + typ + " a = " + value + "; for (i in 1:50) { a.2 = a.2 * b[1] + 1; if (a.2 > 3) a = " + value + "; } target += b[4] + a.2; }"
		},
		"elements of an array": func(typ, value, member string) string {
			return head + "model { array[3] " + typ + " a; for (i in 1:3) { if (x > i) a[i]" + member + " = b[i]; a[i + 1]" + member + " = 1; } target += a[1].2; }"
		},
		"parameters": func(typ, _, _ string) string {
			return "parameters { array[2] " + typ + " a; vector[3] b; }\nmodel { for (i in 1:5) b[i] ~ normal(a[i].2, 1); }"
		},
		"a function": func(typ, value, _ string) string {
			return "functions { real f(" + typ + " a, int n) { array[2] real q; return q[n] + a.2; } }\n" + head + "model { target += f(" + value + ", 4); }"
		},
		"while": func(typ, value, _ string) string {
			return head + "model { for (i in 1:20) { " + typ + " c = " + value + "; while (c.2 < i) c.2 += exp(b[1]); target += c.2; } target += b[4]; }"
		},
		"generated": func(typ, value, _ string) string {
			return head + "generated quantities { " + typ + " a = " + value + "; array[2] int z; z[3] = 1; }"
		},
		"a wrong type": func(typ, value, member string) string {
			return head + "model { " + typ + " a = " + value + "; a" + member[2:] + " = 1; }"
		},
	}
	for name, program := range programs {
		work := func(depth int) float64 {
			typ, value := nested(depth)
			text := program(typ, value, strings.Repeat(".1", depth))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m, err := model.Compile("m.stan", text)
			if err == nil {
				_, err = m.Bind(nil)
			}
			if err == nil {
				t.Fatalf("%s: no error", name)
			}
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		work(50) // what is done once
		few, many := work(150), work(600)
		if growth := many / few; growth > 20 { // depth × 4: 16 if quadratic, 64 if cubic
			t.Errorf("%s: %.3g bytes at a depth of 150, %.3g at 600: %.1f times as many", name, few, many, growth)
		}
	}
}
