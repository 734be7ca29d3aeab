package compile

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/internal/short"
)

// TestTangents compares derivatives of solvers, forward in vector lanes and backward, for numbers
// of directions on both sides of what a vector holds. Second derivatives are compared with
// differences.
func TestTangents(t *testing.T) {
	const functions = `functions {
  vector two(real t, vector y, vector k) { return [-k[1] * y[1] + k[2] * y[2], k[1] * y[1] - k[2] * y[2] - k[3] * sin(t)]'; }
  vector three(real t, vector y, vector k) { return [-k[1] * y[1], k[1] * y[1] - 40 * k[2] * square(y[2]), 40 * k[2] * square(y[2]) * exp(-k[3])]'; }
  vector four(real t, vector y, vector k) { return [y[2], -k[1] * y[1] - k[2] * y[2], k[3] * y[1] - y[3], y[3] - y[4] / (1 + k[2] + square(y[4]))]'; }
}
`
	states := map[string]int{"two": 2, "three": 3, "four": 4}
	for i, solver := range []string{"ode_rk45", "ode_bdf", "ode_adams"} {
		for j, system := range []string{"two", "three", "four"} {
			for directions := range 6 {
				if !short.Turn(6*(3*i+j)+directions, 10) {
					continue
				}
				for _, times := range []string{"{0.7}", "{0.1, 0.4, 0.5, 0.5, 0.9, 1.3, 1.8, 2, 2.5, 3}"} {
					start := []string{"1", "0.2", "0.1", "0.3"}[:states[system]]
					k := []string{"0.7", "0.4", "0.2"}
					for d := range directions { // the first are rates, the others initial values
						if d < 3 {
							k[d] = fmt.Sprintf("exp(p[%d])", d+1)
						} else {
							start[(d-3)%len(start)] += fmt.Sprintf(" + p[%d]", d+1)
						}
					}
					n := states[system]
					text := functions + fmt.Sprintf(`
parameters { vector[5] p; }
model {
  p ~ std_normal();
  array[size(%s)] vector[%d] x = %s(%s, [%s]', 0, %[1]s, [%[6]s]');
  for (i in 1:size(x)) for (j in 1:%[2]d) target += x[i, j] * (1.0 / (i + j) - 0.3 * x[size(x), j]);
}`, times, n, solver, system, strings.Join(start, ", "), strings.Join(k, ", "))
					forward, backward := modelOf(t, text, BindOptions{}), modelOf(t, text, BindOptions{Without: []string{"tangents"}})
					name := fmt.Sprintf("%s(%s) at %s, %d directions", solver, system, times, directions)
					// Jacobian matrices of order 4 are too long to be written out.
					used := len(times) > 10 && directions >= 1 && directions <= 4 && vm.Lanes() >= 4 && (solver != "ode_bdf" || n < 4)
					if a, b := listingOf(t, forward), listingOf(t, backward); (a != b) != used {
						t.Errorf("%s: the programs differ: %v, want %v", name, a != b, used)
					}
					x := []float64{-0.3, 0.2, 0.4, 0.1, -0.2}
					compareTangents(t, name, forward, backward, x)
					x[0], x[3] = 0.5, 0.3
					compareTangents(t, name, forward, backward, x)
				}
			}
		}
	}
}

func listingOf(t *testing.T, m *Model) string {
	t.Helper()
	text, err := m.Listing()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// compareTangents compares gradients of two models, and the second derivatives of the first with
// differences of gradients.
func compareTangents(t *testing.T, name string, a, b *Model, x []float64) {
	t.Helper()
	n := len(x)
	ga, gb, h := make([]float64, n), make([]float64, n), make([]float64, n*n)
	va, err := a.LogDensityGrad(x, ga)
	vb, err2 := b.LogDensityGrad(x, gb)
	if err != nil || err2 != nil || math.Abs(va-vb) > 1e-12*(1+math.Abs(vb)) {
		t.Fatalf("%s: %v (%v), want %v (%v)", name, va, err, vb, err2)
	}
	for k := range n {
		if !(math.Abs(ga[k]-gb[k]) <= 1e-10*(1+math.Abs(gb[k]))) {
			t.Errorf("%s: derivative %d is %v, want %v", name, k+1, ga[k], gb[k])
		}
	}
	if err := a.Hessian(x, h); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	const step = 1e-5
	up, down := make([]float64, n), make([]float64, n)
	moved := append([]float64(nil), x...)
	moved[0] += step
	_, err = a.LogDensityGrad(moved, up)
	moved[0] -= 2 * step
	_, err2 = a.LogDensityGrad(moved, down)
	for k := range n {
		want := (up[k] - down[k]) / (2 * step)
		if err != nil || err2 != nil || !(math.Abs(h[k]-want) <= 2e-3*(1+math.Abs(want))) {
			t.Errorf("%s: second derivative %d is %v, differences %v (%v, %v)", name, k+1, h[k], want, err, err2)
		}
	}
}

// TestTangentsReject checks that a solver that fails reports the same in vector lanes.
func TestTangentsReject(t *testing.T) {
	const text = `functions { vector f(real t, vector y, real k) { return [k * square(y[1]), -k]'; } }
parameters { real k; }
model {
  array[9] vector[2] x = ode_rk45_tol(f, [1, 0]', 0, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 1e-6, 1e-6, 20, k);
  target += x[9, 1];
}`
	forward, backward := modelOf(t, text, BindOptions{}), modelOf(t, text, BindOptions{Without: []string{"tangents"}})
	for _, k := range []float64{-0.5, 0.12, 0.5, 30} {
		g, h := []float64{0}, []float64{0}
		v, err := forward.LogDensityGrad([]float64{k}, g)
		w, want := backward.LogDensityGrad([]float64{k}, h)
		if fmt.Sprint(err) != fmt.Sprint(want) || err == nil && (v != w || math.Abs(g[0]-h[0]) > 1e-10*math.Abs(h[0])) {
			t.Errorf("at %v: %v, %v, %v, want %v, %v, %v", k, v, g, err, w, h, want)
		}
	}
}

// TestTangentsPortable checks that portable code, which has no vectors, differentiates backward.
func TestTangentsPortable(t *testing.T) {
	t.Setenv("PPL_PROCESSOR", "none")
	const text = `functions { vector f(real t, vector y, real k) { return -k * y; } }
parameters { real k; }
model { array[9] vector[1] x = ode_rk45(f, [1]', 0, {1, 2, 3, 4, 5, 6, 7, 8, 9}, exp(k)); target += x[9, 1]; }`
	if listingOf(t, modelOf(t, text, BindOptions{})) != listingOf(t, modelOf(t, text, BindOptions{Without: []string{"tangents"}})) {
		t.Error("the programs differ")
	}
}
