package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// cut leaves the first n records.
func (c *eventCase) cut(n int) {
	n = min(n, len(c.Time))
	c.Time, c.Amt, c.Rate, c.II = c.Time[:n], c.Amt[:n], c.Rate[:n], c.II[:n]
	c.Evid, c.Cmt, c.Addl, c.SS, c.Y = c.Evid[:n], c.Cmt[:n], c.Addl[:n], c.SS[:n], c.Y[:n]
	for _, table := range []*[][]float64{&c.Theta, &c.Biovar, &c.Tlag} {
		*table = (*table)[:min(n, len(*table))]
	}
}

// TestCoupled compares systems that a compartment model drives, whose closed form is used, with the
// same equations written as one system, for random schedules: values and derivatives. A third of
// them, with each model and each solver, is due each day.
func TestCoupled(t *testing.T) {
	program := eventPrograms(t)
	const functions = `functions {
  vector driven(real t, vector y, vector z, array[] real p, array[] real x_r, array[] int x_i) {
    int k = size(p);
    return [0.3 * (z[2] / p[2] - y[1]), y[1] - 0.4 * y[2] * p[k] + 0.01 * t]';
  }
  vector one(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) {
    return append_row([-p[3] * y[1], p[3] * y[1] - p[1] / p[2] * y[2]]', driven(t, y[3:4], y[1:2], p, x_r, x_i));
  }
  vector two(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) {
    real across = p[2] * (y[2] / p[3] - y[3] / p[4]);
    return append_row([-p[5] * y[1], p[5] * y[1] - p[1] / p[3] * y[2] - across, across]', driven(t, y[4:5], y[1:3], p, x_r, x_i));
  }
}
`
	const further = events + ", theta, biovar, tlag, rep_array(0.0, 1, 0), rep_array(0, 1, 0), 1e-9, 1e-9, 100000, 1e-9, 1e-9, 100)"
	rng := rand.New(rand.NewPCG(45, 3))
	for k := range 12 {
		if testing.Short() && k > 3 {
			break
		}
		c := randomEvents(rng, 1+k%3)
		// Each steady state has its own solution, which takes long to compile.
		c.cut(5)
		for i := range c.SS {
			if k < 10 || i > 0 {
				c.SS[i], c.Amt[i] = 0, 10*c.Amt[i]+1
			}
		}
		model, compartments := "one", 2
		if k%2 == 1 {
			model, compartments = "two", 3
		}
		states := compartments + 2
		widen := func(rows [][]float64, to int, at float64) {
			for i := range rows {
				for j := len(rows[i]); j < to; j++ {
					rows[i] = append(rows[i], at*(0.8+0.4*rng.Float64()))
				}
			}
		}
		if model == "two" {
			for i, r := range c.Theta {
				c.Theta[i] = []float64{r[0], 12 * r[2], r[1], 55 * r[2], r[2]}
			}
		}
		widen(c.Theta, len(c.Theta[0])+1, 0.8)
		widen(c.Biovar, states, 0.8)
		widen(c.Tlag, states, c.Tlag[0][0])
		for i := range c.Cmt {
			c.Cmt[i] = 1 + rng.IntN(states-1)
		}
		for i := range c.Y {
			c.Y[i] = make([]float64, states)
		}
		if !short.Turn(k/4, 3) {
			continue
		}
		solver := []string{"rk45", "bdf"}[k/2%2]
		calls := []string{"pmx_solve_" + solver + "(" + model + ", " + fmt.Sprint(states) + ", " + further,
			"pmx_solve_" + model + "cpt_" + solver + "(driven, 2, " + further,
			"pmx_solve_group_" + model + "cpt_" + solver + "(driven, 2, {n}, " + further}
		var want []float64
		for i, call := range calls {
			got, err := c.evaluate(t, program(functions+"data {"+eventData+"}\nparameters {"+eventParams+"}\nmodel { target += sum(weight .* "+call+"); }"))
			if err != nil {
				t.Fatalf("schedule %d, %s: %v", k, call, err)
			}
			if i == 0 {
				want = got
				continue
			}
			for j, w := range want {
				if !(math.Abs(got[j]-w) <= 1e-5*(1+math.Abs(w)+math.Abs(got[len(got)-1]))) {
					t.Errorf("schedule %d, %s: figure %d is %.12g, want %.12g", k, call, j, got[j], w)
				}
			}
		}
	}
}

// TestArraysOfSlopes: right-hand sides of older versions of Torsten, whose states are arrays, give
// the same results as those with vectors, but for rounding.
func TestArraysOfSlopes(t *testing.T) {
	const functions = `functions {
  vector lost(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) { return [-p[1] * y[1], p[1] * y[1]]'; }
  array[] real old_lost(real t, array[] real y, array[] real p, array[] real x_r, array[] int x_i) { return {-p[1] * y[1], p[1] * y[1]}; }
  vector driven(real t, vector y, vector z, array[] real p, array[] real x_r, array[] int x_i) { return [z[2] / p[2] - p[3] * y[1]]'; }
  array[] real old_driven(real t, array[] real y, array[] real z, array[] real p, array[] real x_r, array[] int x_i) { return {z[2] / p[2] - p[3] * y[1]}; }
}
`
	const schedule = "{0, 1, 3}, {10, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 2, 2}, {0, 0, 0}, {0, 0, 0}"
	for _, call := range []string{
		"to_vector(pmx_solve_rk45($lost, 2, " + schedule + ", {k}))",
		"to_vector(pmx_solve_bdf($lost, 2, " + schedule + ", {k}, {1, 1}, {0.1, 0}, {{0}}, {{0}}, 1e-7, 1e-7, 1000))",
		"to_vector(pmx_solve_group_adams($lost, 2, {3}, " + schedule + ", {k}))",
		"to_vector(pmx_solve_onecpt_rk45($driven, 1, " + schedule + ", {k, 30, 1.5}))",
		"to_vector(pmx_solve_group_twocpt_bdf($driven, 1, {3}, " + schedule + ", {k, 12, 30, 50, 1.5}))",
		"to_vector(to_array_1d(pmx_integrate_ode_adams($lost, {10, 0}, 0, {1, 3}, {k}, {0}, {0})))",
		"to_vector(pmx_integrate_ode_group_bdf($lost, {{10, 0}}, 0, {2}, {1, 3}, {{k}}, {{0}}, {{0}}))",
	} {
		var want []float64
		for _, old := range []string{"", "old_"} {
			m := modelOf(t, functions+"parameters { real k; }\nmodel { target += sum(square("+strings.ReplaceAll(call, "$", old)+")); }", BindOptions{})
			slope := make([]float64, 1)
			lp, err := m.LogDensityGrad([]float64{0.7}, slope)
			if err != nil {
				t.Fatalf("%s: %v", call, err)
			}
			got := []float64{lp, slope[0]}
			if want == nil {
				want = got
			} else if !(math.Abs(got[0]-want[0]) <= 1e-12*math.Abs(want[0]) && math.Abs(got[1]-want[1]) <= 1e-12*math.Abs(want[1])) || slope[0] == 0 {
				t.Errorf("%s: %v with arrays, %v with vectors", call, got, want)
			}
		}
	}
}

// TestGroupColumns checks that solutions for several subjects have one column for each time, in the
// order of the subjects, whatever the numbers of times, and that the solver is compiled once for
// all subjects.
func TestGroupColumns(t *testing.T) {
	const text = `functions {
  vector lost(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) { return [-p[1] * y[1], p[1] * y[1]]'; }
}
data { int S; array[S] int len; int N; array[N] real ts; }
transformed data { array[S, 0] real none; array[S, 0] int neither; }
parameters { real k; }
transformed parameters {
  array[S, 1] real theta;
  array[S, 2] real y0;
  for (s in 1:S) { theta[s, 1] = k / s; y0[s] = {10.0 + s, 1}; }
  matrix[2, N] all = pmx_integrate_ode_group_$(lost, y0, 0, len, ts, theta, none, neither);
}
model { target += sum(all[2]); }`
	iterated := map[string]int{}
	for _, lengths := range [][]int{{1}, {3}, {1, 2}, {2, 1}, {3, 1, 2, 3}, {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1}} {
		for _, method := range []string{"rk45", "bdf"} {
			var ts, y1 []float64
			slope := 0.0
			for s, n := range lengths {
				for i := range n {
					at, start := 0.5+0.75*float64(i)+0.1*float64(s), 11+float64(s)
					ts = append(ts, at)
					y1 = append(y1, start*math.Exp(-0.7*at/float64(s+1)))
					slope += y1[len(y1)-1] * at / float64(s+1)
				}
			}
			m := boundText(t, strings.Replace(text, "$", method, 1), map[string]any{"S": len(lengths), "len": lengths, "N": len(ts), "ts": ts})
			out := make([]float64, len(m.ConstrainedNames()))
			if err := m.Constrain([]float64{0.7}, out); err != nil {
				t.Fatal(err)
			}
			all := out[len(out)-2*len(ts):]
			for i, want := range y1 {
				if !(math.Abs(all[2*i]-want) <= 2e-6) {
					t.Errorf("%s, %v: column %d begins with %v, not %v", method, lengths, i, all[2*i], want)
				}
			}
			grad := make([]float64, 1)
			if _, err := m.LogDensityGrad([]float64{0.7}, grad); err != nil || !(math.Abs(grad[0]-slope) <= 1e-5*math.Abs(slope)) {
				t.Errorf("%s, %v: the derivative is %v, not %v: %v", method, lengths, grad[0], slope, err)
			}
			if len(lengths) < 4 {
				continue
			}
			if n := m.Loops().Iterated; iterated[method] == 0 {
				iterated[method] = n
			} else if n != iterated[method] {
				t.Errorf("%s: %d loops for 4 subjects, %d for 13", method, iterated[method], n)
			}
		}
	}
	m := boundText(t, strings.Replace(text, "$", "rk45", 1), map[string]any{"S": 2, "len": []int{1, 0}, "N": 1, "ts": []float64{1}})
	if _, err := m.LogDensityGrad([]float64{0.7}, make([]float64, 1)); err == nil || !strings.Contains(err.Error(), "subject 2 has 0") {
		t.Errorf("a subject without times: %v", err)
	}
}

// TestSolverFails checks that the message of a solver which fails has subject, time and state.
func TestSolverFails(t *testing.T) {
	const text = `functions {
  vector explosion(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) { return p[1] * y .* y; }
  vector driven(real t, vector y, vector z, array[] real p, array[] real x_r, array[] int x_i) { return p[4] * square(y + 0.5); }
}
parameters { real k; }
model { target += `
	const records = "{0.0, 2, 0, 0.25}, {1.0, 0, 1, 0}, rep_array(0.0, 4), rep_array(0.0, 4), {1, 0, 1, 0}, rep_array(1, 4), rep_array(0, 4), rep_array(0, 4)"
	for call, want := range map[string]string{
		"sum(pmx_solve_group_rk45(explosion, 1, {2, 2}, " + records + ", {{0.1 * k}, {8 * k}}))":                                    "too short at time 0.125 of subject 2, in the state [",
		"sum(pmx_solve_group_bdf(explosion, 1, {2, 2}, " + records + ", {{0.1 * k}, {8 * k}}))":                                     "too short at time 0.125 of subject 2, in the state [",
		"sum(pmx_solve_group_onecpt_rk45(driven, 1, {2, 2}, " + records + ", {{1, 1, 1, 0.1 * k}, {1, 1, 1, 16 * k}}))":             "too short at time 0.125 of subject 2, in the state [",
		"sum(pmx_integrate_ode_group_rk45(explosion, {{1}, {1}}, 0, {1, 1}, {1, 1}, {{0.1 * k}, {2 * k}}, {{0}, {0}}, {{0}, {0}}))": "too short at time 0.5 of subject 2, in the state [",
		"pmx_integrate_ode_rk45(explosion, {1}, 0, {1}, {2 * k}, {0}, {0})[1, 1]":                                                   "too short at time 0.5, in the state [",
	} {
		m := modelOf(t, text+call+"; }", BindOptions{})
		if _, err := m.LogDensityGrad([]float64{1}, make([]float64, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", call, err, want)
		}
	}
}

// TestEffectCompartments compares models with an effect compartment in closed form with the matrix
// exponential, for random schedules: values and derivatives. In every third one, rates are equal.
// Half of them are also solved as groups. A fifth, of all these kinds, is due each day.
func TestEffectCompartments(t *testing.T) {
	program := eventPrograms(t)
	matrices := map[string]string{
		"one": "[[-theta[i, 3], 0, 0], [theta[i, 3], -theta[i, 1] / theta[i, 2], 0], [0, theta[i, 4], -theta[i, 4]]]",
		"two": "[[-theta[i, 5], 0, 0, 0], [theta[i, 5], -(theta[i, 1] + theta[i, 2]) / theta[i, 3], theta[i, 2] / theta[i, 4], 0], " +
			"[0, theta[i, 2] / theta[i, 3], -theta[i, 2] / theta[i, 4], 0], [0, theta[i, 6], 0, -theta[i, 6]]]",
	}
	rng := rand.New(rand.NewPCG(45, 4))
	for k := range 60 {
		if testing.Short() && k > 6 {
			break
		}
		c := randomEvents(rng, k)
		model, states := "one", 3
		if k%2 == 1 {
			model, states = "two", 4
		}
		for i, r := range c.Theta {
			if k%3 == 2 {
				r[2] = r[0] / r[1]
			}
			ke := r[0] / r[1]
			if k%3 < 2 {
				ke = 0.2 + 0.6*rng.Float64()
			}
			c.Theta[i] = append(r, ke)
			if model == "two" {
				c.Theta[i] = []float64{r[0], 12 * r[2], r[1], 55 * r[2], r[2], ke}
			}
		}
		for _, table := range [][][]float64{c.Biovar, c.Tlag} {
			for i, r := range table {
				for len(table[i]) < states {
					table[i] = append(table[i], r[0])
				}
			}
		}
		for i := range c.Cmt {
			c.Cmt[i] = 1 + rng.IntN(states)
		}
		for i := range c.Y {
			c.Y[i] = make([]float64, states)
		}
		if !short.Turn(k/12, 5) {
			continue
		}
		var want []float64
		calls := []string{"pmx_solve_linode(" + events + ", K, biovar, tlag)", "pmx_solve_" + model + "cpt_effcpt(" + events + ", theta, biovar, tlag)"}
		if k%4 < 2 {
			calls = append(calls, "pmx_solve_group_"+model+"cpt_effcpt({n}, "+events+", theta, biovar, tlag)")
		}
		for _, call := range calls {
			got, err := c.evaluate(t, program("data {"+eventData+"}\nparameters {"+eventParams+"}\nmodel { array[R] matrix[states, states] K; for (i in 1:R) K[i] = "+matrices[model]+
				"; target += sum(weight .* "+call+"); }"))
			if err != nil {
				t.Fatalf("schedule %d, %s: %v", k, call, err)
			}
			if want == nil {
				want = got
				continue
			}
			for j, w := range want {
				if !(math.Abs(got[j]-w) <= 1e-8*(1+math.Abs(w)+math.Abs(got[len(got)-1]))) {
					t.Errorf("schedule %d, %s: figure %d is %.12g, want %.12g", k, call, j, got[j], w)
				}
			}
		}
	}
}

// TestEarlierParameters: programs for Torsten's first versions give bioavailabilities and lag times
// after the parameters. These are accepted where they change nothing.
func TestEarlierParameters(t *testing.T) {
	const schedule = "{0, 1, 3}, {10, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 2, 2}, {0, 0, 0}, {0, 0, 0}"
	for _, c := range []struct {
		name, theta, more string
		accepted          bool
	}{
		{"onecpt", "{k, 30, 1.5", ", 1, 1, 0, 0", true},
		{"onecpt", "{k, 30, 1.5", ", 1, 0.5, 0, 0", false},
		{"onecpt", "{k, 30, 1.5", ", 1, 1, 0, 2", false},
		{"onecpt", "{k, 30, 1.5", ", 1", false},
		{"onecpt", "{k, 30, 1.5", ", 1, 1, 0, 0, 0", false},
		{"twocpt", "{k, 12, 30, 50, 1.5", ", 1, 1, 1, 0, 0, 0", true},
		{"twocpt", "{k, 12, 30, 50, 1.5", ", 1, 1, 0, 0", false},
		{"group_twocpt", "{{k, 12, 30, 50, 1.5", ", k / k * 0.5, 1, 1, 0, 0, 0", false},
	} {
		end := "}))); }"
		first := ""
		if strings.HasPrefix(c.name, "group") {
			end, first = "}}))); }", "{3}, "
		}
		density := func(more string) (float64, error) {
			text := "parameters { real k; }\nmodel { target += sum(square(pmx_solve_" + c.name + "(" + first + schedule + ", " + c.theta + more + end
			return modelOf(t, text, BindOptions{}).LogDensityGrad([]float64{0.7}, make([]float64, 1))
		}
		want, err := density("")
		if err != nil {
			t.Fatal(err)
		}
		got, err := density(c.more)
		if (err == nil) != c.accepted || c.accepted && !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("%s with %s: %v, %v, want %v", c.name, c.more, got, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), "lag times are further arguments") {
			t.Errorf("%s with %s: %v", c.name, c.more, err)
		}
	}
}
