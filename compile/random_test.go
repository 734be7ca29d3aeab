package compile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// Every trip of a loop draws its own random numbers, also where nothing that
// the generator is given differs between them, in transformed data and in
// generated quantities. Loops of few trips are unrolled, longer ones are lanes.
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
		// The elements of each trip, as text: those of one variable must differ.
		rows := map[string]map[string]string{} // by variable and trip
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
