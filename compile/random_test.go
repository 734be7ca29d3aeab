package compile_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestDrawsDifferBetweenTrips checks that every iteration of a loop draws its own random numbers,
// even if all iterations have the same arguments, in transformed data and in generated quantities.
// Loops with few iterations are unrolled; longer ones run in lanes.
func TestDrawsDifferBetweenTrips(t *testing.T) {
	calls := []struct{ declaration, call string }{
		{"real %s", "normal_rng(0, 1)"},
		{"vector[2] %s", "to_vector(normal_rng([0, 1], 1))"},
		{"vector[2] %s", "multi_normal_rng([0, 1]', [[1, 0], [0, 1]])"},
		{"vector[2] %s", "multi_normal_cholesky_rng([0, 1]', [[1, 0], [0.5, 0.8]])"},
		{"vector[2] %s", "multi_student_t_rng(4, [0, 1]', [[1, 0], [0, 1]])"},
		{"vector[2] %s", "multi_student_t_cholesky_rng(4, [0, 1]', [[1, 0], [0.5, 0.8]])"},
		{"matrix[2, 2] %s", "wishart_rng(4, [[1, 0], [0, 1]])"},
		{"matrix[2, 2] %s", "inv_wishart_rng(4, [[1, 0], [0, 1]])"},
		{"matrix[2, 2] %s", "lkj_corr_rng(2, 1.0)"},
		{"matrix[2, 2] %s", "lkj_corr_cholesky_rng(2, 1.0)"},
		{"vector[3] %s", "dirichlet_rng([1, 2, 3]')"},
		{"vector[2] %s", "to_vector(multinomial_rng([0.5, 0.5]', 1000000))"},
		{"real %s", "poisson_rng(1000000)"},
	}
	for _, trips := range []int{3, 5} {
		var program strings.Builder
		block := func(prefix string) {
			for i, c := range calls {
				fmt.Fprintf(&program, "  array[%d] %s;\n", trips, fmt.Sprintf(c.declaration, fmt.Sprint(prefix, i)))
			}
			for i, c := range calls {
				fmt.Fprintf(&program, "  for (n in 1:%d) %s%d[n] = %s;\n", trips, prefix, i, c.call)
			}
		}
		program.WriteString("transformed data {\n")
		block("d")
		program.WriteString("}\nparameters { real x; }\nmodel { x ~ std_normal(); }\ngenerated quantities {\n")
		block("g")
		for i, c := range calls {
			fmt.Fprintf(&program, "  array[%d] %s = d%d;\n", trips, fmt.Sprintf(c.declaration, fmt.Sprint("c", i)), i)
		}
		program.WriteString("}\n")
		p, list := compile.Compile(source.NewFile("draws", program.String()))
		if list.HasErrors() {
			t.Fatalf("%v\n%s", list, program.String())
		}
		m, err := p.Bind(data.Empty(), compile.BindOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float64, len(m.OutputNames()))
		if err := m.Generate([]float64{0.5}, rand.New(rand.NewPCG(1, 2)), values); err != nil {
			t.Fatal(err)
		}
		// Collect the values of each iteration of each variable, as text. If two iterations of a
		// variable had the same random numbers, their texts would be equal.
		rows := map[string]map[string]string{} // by variable and iteration
		for i, name := range m.OutputNames() {
			parts := strings.SplitN(name, ".", 3)
			if len(parts) < 2 || parts[0] == "x" {
				continue
			}
			if rows[parts[0]] == nil {
				rows[parts[0]] = map[string]string{}
			}
			rows[parts[0]][parts[1]] += fmt.Sprint(values[i], " ")
		}
		if len(rows) != 2*len(calls) {
			t.Fatalf("%d variables", len(rows))
		}
		for name, trip := range rows {
			seen := map[string]bool{}
			for _, row := range trip {
				seen[row] = true
			}
			if len(trip) != trips || len(seen) != trips {
				t.Errorf("%d trips, %s: %d different draws: %v", trips, name, len(seen), trip)
			}
		}
	}
}

// TestDrawsDifferBetweenSteps checks that every step of a recurrence draws its own random numbers.
// One draw has arguments that depend on the carried value, one is in a branch that is the same in
// all steps, and both are also inside an outer loop. The carried value does not depend on the
// draws, so the recurrence is a scan and the rest runs in lanes.
func TestDrawsDifferBetweenSteps(t *testing.T) {
	program := `data { int N; array[N] int T; }
		parameters { real x; }
		model { x ~ std_normal(); }
		generated quantities {
		  vector[20] a;
		  vector[20] b;
		  array[N, 20] real c;
		  array[N, 20] real d;
		  {
		    real s = 0;
		    for (t in 1:20) {
		      s = 0.5 * s + x;
		      a[t] = normal_rng(s, 1);
		      if (x > 0) b[t] = normal_rng(0, 1); else b[t] = 7;
		    }
		  }
		  for (n in 1:N) {
		    vector[2] v;
		    real s = 0;
		    for (t in 1:T[n]) {
		      v[1] = s;
		      v[2] = 2 * s;
		      s = 0.5 * s + n * x;
		      c[n, t] = sum(to_vector(normal_rng(v, 1)));
		      if (x > 0) d[n, t] = uniform_rng(s, s + 1); else d[n, t] = 7;
		    }
		    for (t in T[n] + 1:20) {
		      c[n, t] = t;
		      d[n, t] = t;
		    }
		  }
		}`
	p, list := compile.Compile(source.NewFile("steps", program))
	if list.HasErrors() {
		t.Fatal(list)
	}
	d, err := data.FromGo(map[string]any{"N": 6, "T": []int{20, 7, 1, 12, 20, 15}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Bind(d, compile.BindOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, len(m.OutputNames()))
	if err := m.Generate([]float64{0.5}, rand.New(rand.NewPCG(1, 2)), values); err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[float64]bool{}
	count := map[string]int{}
	for i, name := range m.OutputNames() {
		name = name[:1]
		if seen[name] == nil {
			seen[name] = map[float64]bool{}
		}
		// Other elements are whole numbers that were put there in place of draws.
		if values[i] != math.Trunc(values[i]) {
			seen[name][values[i]] = true
			count[name]++
		}
	}
	for name, want := range map[string]int{"a": 20, "b": 20, "c": 75, "d": 75} {
		if count[name] != want || len(seen[name]) != want {
			t.Errorf("%s: %d different draws of %d, want %d", name, len(seen[name]), count[name], want)
		}
	}
}
