package compile

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestConstraintFunctions compares functions such as lower_bound_jacobian with declared
// constraints: the density and its gradient, the constrained values, and the inverse transform.
func TestConstraintFunctions(t *testing.T) {
	for _, c := range []struct {
		declared, free, typ, name, args string // name(u, args)
	}{
		{"real<lower=-1>", "real", "real", "lower_bound", "-1"},
		{"array[2] vector<upper=2>[3]", "array[2] vector[3]", "array[2] vector[3]", "upper_bound", "2"},
		{"matrix<lower=-1, upper=2>[2, 3]", "matrix[2, 3]", "matrix[2, 3]", "lower_upper_bound", "-1, 2"},
		{"vector<offset=1, multiplier=3>[3]", "vector[3]", "vector[3]", "offset_multiplier", "1, 3"},
		{"ordered[4]", "vector[4]", "vector[4]", "ordered", ""},
		{"array[3] positive_ordered[4]", "array[3] vector[4]", "array[3] vector[4]", "positive_ordered", ""},
		{"simplex[4]", "vector[3]", "vector[4]", "simplex", ""},
		{"array[2, 3] simplex[4]", "array[2, 3] vector[3]", "array[2, 3] vector[4]", "simplex", ""},
		{"array[2] unit_vector[3]", "array[2] vector[3]", "array[2] vector[3]", "unit_vector", ""},
		{"array[2] sum_to_zero_vector[4]", "array[2] vector[3]", "array[2] vector[4]", "sum_to_zero", ""},
		{"sum_to_zero_matrix[3, 4]", "matrix[2, 3]", "matrix[3, 4]", "sum_to_zero", ""},
		{"row_stochastic_matrix[3, 4]", "matrix[3, 3]", "matrix[3, 4]", "stochastic_row", ""},
		{"column_stochastic_matrix[3, 4]", "matrix[2, 4]", "matrix[3, 4]", "stochastic_column", ""},
		{"array[2] cholesky_factor_corr[3]", "array[2] vector[3]", "array[2] matrix[3, 3]", "cholesky_factor_corr", "3"},
		{"corr_matrix[4]", "vector[6]", "matrix[4, 4]", "corr_matrix", "4"},
		{"cov_matrix[3]", "vector[6]", "matrix[3, 3]", "cov_matrix", "3"},
		{"cholesky_factor_cov[4, 3]", "vector[9]", "matrix[4, 3]", "cholesky_factor_cov", "4, 3"},
	} {
		all := c.name + "_jacobian(u" + strings.TrimSuffix(", "+c.args, ", ") + ")"
		back := c.name + "_unconstrain(x)"
		if strings.Contains(c.name, "bound") || c.name == "offset_multiplier" {
			back = c.name + "_unconstrain(x, " + c.args + ")"
		}
		density := "model { real s = 0; "
		switch {
		case strings.HasPrefix(c.typ, "array[2, 3]"):
			density += "for (i in 1:2) for (j in 1:3) s += sum(tanh(x[i, j]) .* linspaced_vector(4, 1, 2));"
		case strings.HasPrefix(c.typ, "array"):
			density += "for (i in 1:size(x)) s += i * sum(tanh(to_vector(x[i])) .* linspaced_vector(num_elements(x[i]), 1, 2));"
		case c.typ == "real":
			density += "s += tanh(x);"
		default:
			density += "s += sum(tanh(to_vector(x)) .* linspaced_vector(num_elements(x), 1, 2));"
		}
		density += " target += s; }"
		declared := fmt.Sprintf("parameters { %s x; } %s", c.declared, density)
		forms := []string{fmt.Sprintf("parameters { %s u; } transformed parameters { %s x = %s; } %s generated quantities { %s v = %s; }",
			c.free, c.typ, all, density, c.free, back)}
		if array, one, ok := strings.Cut(c.typ, "] "); ok && array == "array[2" { // in a loop, and in a function
			_, free, _ := strings.Cut(c.free, "] ")
			result, _, _ := strings.Cut(one, "[")
			free, _, _ = strings.Cut(free, "[")
			call := strings.Replace(all, "(u", "(u[i]", 1)
			forms = append(forms,
				fmt.Sprintf("parameters { %s u; } transformed parameters { %s x; for (i in 1:2) x[i] = %s; } %s", c.free, c.typ, call, density),
				fmt.Sprintf("functions { %s to_jacobian(%s u) { return %s; } } parameters { %s u; } transformed parameters { %s x; for (i in 1:2) x[i] = to_jacobian(u[i]); } %s",
					result, free, all, c.free, c.typ, density))
		}
		for _, edition := range []string{"2.39", "2.32"} {
			want := modelOf(t, declared, BindOptions{StanCompat: edition})
			n := want.Dim()
			at, grad := make([]float64, n), make([]float64, n)
			for i := range at {
				at[i] = math.Sin(float64(3*i + 1))
			}
			lp, err := want.LogDensityGrad(at, grad)
			if err != nil {
				t.Fatal(err)
			}
			values := make([]float64, len(want.ConstrainedNames()))
			if err := want.Constrain(at, values); err != nil {
				t.Fatal(err)
			}
			for _, text := range forms {
				m := modelOf(t, text, BindOptions{StanCompat: edition})
				got := make([]float64, n)
				l, err := m.LogDensityGrad(at, got)
				if err != nil || math.Abs(l-lp) > 1e-12*max(1, math.Abs(lp)) {
					t.Errorf("%s\n%s: density %v, %v, declared %v", text, edition, l, err, lp)
				}
				for i := range got {
					if math.Abs(got[i]-grad[i]) > 1e-12*max(1, math.Abs(grad[i])) {
						t.Errorf("%s\n%s: gradient %v, declared %v", text, edition, got, grad)
						break
					}
				}
				out := make([]float64, len(m.ConstrainedNames()))
				if err := m.Constrain(at, out); err != nil {
					t.Fatal(err)
				}
				for i, v := range out[n:] {
					if math.Abs(v-values[i]) > 1e-14 {
						t.Errorf("%s\n%s: %s is %v, declared %v", text, edition, m.ConstrainedNames()[n+i], v, values[i])
					}
				}
				if names := m.OutputNames(); len(names) > len(out) && c.name != "unit_vector" {
					gen := make([]float64, len(names))
					if err := m.Generate(at, nil, gen); err != nil {
						t.Fatal(err)
					}
					for i, v := range gen[len(out):] {
						if math.Abs(v-gen[i]) > 1e-12 {
							t.Errorf("%s\n%s: back is %v, not %v", text, edition, v, gen[i])
						}
					}
				}
			}
		}
	}
}

// modelOf returns a program bound to empty data.
func modelOf(t *testing.T, text string, o BindOptions) *Model {
	t.Helper()
	set, err := data.ParseJSON("data", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	prog, list := Compile(source.NewFile("test.model", text))
	if prog == nil {
		t.Fatalf("%s\n%v", text, list[0])
	}
	m, err := prog.Bind(set, o)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return m
}

// TestConstraintErrors checks the messages about wrong arguments.
func TestConstraintErrors(t *testing.T) {
	for _, c := range []struct{ statement, want string }{
		{"vector[3] x = simplex_unconstrain([0.5 + 0 * u, 0.2, 0.2, 0.2]');", "simplex_unconstrain: the argument must be a valid simplex, but its elements sum to 1.1"},
		{"real x = lower_bound_unconstrain(u, 3);", "lower_bound_unconstrain: the value must be at least 3, but is 1"},
		{"real x = lower_upper_bound_constrain(u, 3, 2 + 0 * u);", "lower_upper_bound_constrain: the lower bound must be below the upper bound, but they are 3 and 2"},
		{"matrix<lower=0>[2, 2] x = [[1, 2], [u - 2, 3]];", "x[2,1] is -1, but must be at least 0"},
		{"vector<upper=[1, 1]'>[2] x = [1, u + 1e-9]';", "x[2] is 1.000000001, but must be at most 1"},
		{"real x = offset_multiplier_constrain(u, 3, -u);", "offset_multiplier_constrain: the multiplier must be positive finite, but is -1"},
		{"matrix[3, 3] x = corr_matrix_constrain(rep_vector(u, 4), 3);", "corr_matrix_constrain: argument 1 must have size 3 for a value with sizes 3 by 3, but has size 4"},
		{"vector[1] x = unit_vector_constrain(rep_vector(u, 1));", "a unit_vector has at least 2 elements, but the argument has size 1"},
	} {
		text := "parameters { real u; } transformed parameters { " + c.statement + " }"
		prog, list := Compile(source.NewFile("test.model", text))
		if prog == nil {
			t.Fatal(list[0])
		}
		set, _ := data.ParseJSON("data", []byte("{}"))
		m, err := prog.Bind(set, BindOptions{})
		if err == nil {
			_, err = m.LogDensityGrad([]float64{1}, make([]float64, 1))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.statement, err, c.want)
		}
	}
}
