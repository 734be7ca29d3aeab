package compile

import (
	"fmt"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestSubjectsInLanes compares group solvers whose subjects are vector lanes with the same without
// that, and with calls for each subject, for numbers of subjects on both sides of a vector's
// length. Subjects differ in their doses, and in the number of steps that the solver takes.
func TestSubjectsInLanes(t *testing.T) {
	const functions = `functions {
  vector rhs(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) {
    real out = p[3] * y[1] * (0.3 + 10 / (20 + y[1]));
    return [-out, out - p[1] / p[2] * y[2]]';
  }
  vector driven(real t, vector y, vector z, array[] real p, array[] real x_r, array[] int x_i) {
    return [p[1] * (5 - y[1]) - z[2] / p[2] * y[1] ^ p[3], y[1] - 0.1 * y[2]]';
  }
}
`
	const model = `
transformed data { array[N] int len; for (j in 1:N) len[j] = end[j] - start[j] + 1; }
parameters { vector[3] p; vector[N] eta; }
model {
  p ~ std_normal();
  eta ~ std_normal();
  array[N, 3] real theta;
  for (j in 1:N) theta[j] = {exp(0.5 * p[1] + 0.2 * eta[j]), exp(1 + 0.3 * p[2]), exp(0.4 * p[3] - eta[j])};
  matrix[%d, n] x;
  %s
  for (i in 1:n) target += dot_product(x[, i], linspaced_vector(rows(x), 0.01, 0.03)) - 1e-4 * dot_self(x[, i]);
}`
	const control = "theta, rep_array(1.0, 1, %d), rep_array(0.0, 1, %[1]d), 1e-8, 1e-8, 100000"
	for i, c := range []struct {
		solver, of string
		states     int
		lanes      bool // whether the program must have lanes; other solvers may be too long
	}{
		{"rk45", "rhs, 2", 2, true},
		{"bdf", "rhs, 2", 2, false},
		{"onecpt_rk45", "driven, 2", 4, true},
	} {
		for k, n := range []int{1, 5, 7, 8, 9, 17} {
			if !short.Turn(6*i+k, 9) {
				continue
			}
			name := fmt.Sprintf("%s, %d subjects", c.solver, n)
			set := dosed(t, n)
			more := fmt.Sprintf(control, c.states)
			group := fmt.Sprintf("x = pmx_solve_group_%s(%s, len, %s, %s);", c.solver, c.of, events, more)
			text := functions + subjectsData + fmt.Sprintf(model, c.states, group)
			bind := func(text string, o BindOptions) *Model {
				p, list := CompileWith(source.NewFile("model.stan", text), Options{Apart: true})
				if p == nil {
					t.Fatalf("%s: %v\n%s", name, list, text)
				}
				m, err := p.Bind(set, o)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				return m
			}
			together, one := bind(text, BindOptions{}), bind(text, BindOptions{Without: []string{"sequences"}})
			if a, b := listingOf(t, together), listingOf(t, one); c.lanes && (a != b) != (n >= 7) { // a reset begins another sequence
				t.Errorf("%s: the programs differ: %v", name, a != b)
			}
			x := make([]float64, 3+n)
			for k := range x {
				x[k] = 1.5 * math.Sin(float64(3*k+1))
			}
			if n == 8 {
				compareTangents(t, name, together, one, x)
			}
			calls := fmt.Sprintf("for (j in 1:N) x[, start[j]:end[j]] = pmx_solve_%s(%s, $events, theta[j], rep_array(1.0, %[3]d), rep_array(0.0, %[3]d), 1e-8, 1e-8, 100000);", c.solver, c.of, c.states)
			apart := bind(functions+subjectsData+fmt.Sprintf(model, c.states, sliced.Replace(calls)), BindOptions{})
			v, g := densityAt(t, together, x)
			for _, other := range []*Model{one, apart} {
				w, h := densityAt(t, other, x)
				for k := range g {
					if !(math.Abs(v-w) <= 1e-11*math.Abs(w) && math.Abs(g[k]-h[k]) <= 1e-10*(1+math.Abs(h[k]))) {
						t.Errorf("%s: %v, derivative %d %v, want %v, %v", name, v, k+1, g[k], w, h[k])
					}
				}
			}
		}
	}
}

// dosed returns records of N subjects: doses, also with a reset, infusions and additional doses.
func dosed(t *testing.T, N int) *data.Set {
	t.Helper()
	cols := map[string][]any{}
	add := func(name string, v any) { cols[name] = append(cols[name], v) }
	n := 0
	for s := range N {
		add("start", n+1)
		add("weight", 70)
		for i := range 4 + s%2 {
			n++
			row := map[string]any{"time": float64(i) * (1.5 + 0.1*float64(s%4)), "amt": 0, "rate": 0, "ii": 0, "evid": 0, "cmt": 1, "addl": 0, "ss": 0}
			switch {
			case i == 0:
				row["amt"], row["evid"], row["rate"] = 100+7*s, 1, 60*(s%3)
				row["addl"], row["ii"] = 2*(s%2), 2*(s%2)
			case i == 2 && s%3 == 0:
				row["amt"], row["evid"] = 50, 1+3*(s%2)
			}
			for name, v := range row {
				add(name, v)
			}
		}
		add("end", n)
	}
	values := map[string]any{"N": N, "n": n}
	for name, v := range cols {
		values[name] = v
	}
	return encoded(t, values)
}
