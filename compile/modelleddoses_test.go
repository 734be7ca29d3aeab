package compile

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// modelled declares doses, rates and intervals that are parameters: near 0, they are those of the
// data.
const modelled = `
transformed parameters {
  array[n] real amount, speed, interval;
  for (i in 1:n) {
    amount[i] = amt[i] * (1 + to_amt[i]);
    speed[i] = rate[i] * (1 + to_rate[i]);
    interval[i] = ii[i] * (1 + to_ii[i]);
  }
`

// doses moves amounts, rates and intervals along directions.
func (c *eventCase) doses(along [3][]float64, h float64) *eventCase {
	d := *c
	for k, of := range []*[]float64{&d.Amt, &d.Rate, &d.II} {
		*of = slices.Clone(*of)
		for i := range *of {
			(*of)[i] *= 1 + h*along[k][i]
		}
	}
	return &d
}

// TestModelledDoses compares schedules whose amounts, rates and intervals are parameters with an
// integrator of fixed steps that shares no code, and the compiled program with the interpreter.
func TestModelledDoses(t *testing.T) {
	program := eventPrograms(t)
	const functions = `functions {
  vector saturable(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) { return [-p[3] * y[1], p[3] * y[1] - p[1] * y[2] / (p[2] + y[2])]'; }
}
`
	const further = ", rep_array(0.0, 1, 0), rep_array(0, 1, 0), 1e-9, 1e-9, 100000, 1e-9, 1e-9, 100)"
	rng := rand.New(rand.NewPCG(45, 3))
	for k := range 60 {
		c := randomEvents(rng, k)
		var along [3][]float64
		for i := range along {
			for range c.Time {
				along[i] = append(along[i], rng.NormFloat64())
			}
		}
		if testing.Short() && k > 6 || !short.Turn(k, 5) {
			continue
		}
		if c.Tlag[0][0] == 0 { // moving intervals would move doses to both sides of records
			along[2] = make([]float64, len(c.Time))
		}
		// With amounts and intervals that are parameters, no infusion is constant at steady state.
		which := k % 4
		constant := false
		for i, amt := range c.Amt {
			constant = constant || which == 3 && c.SS[i] > 0 && amt == 0
		}
		args := []string{"time, amt, speed, ii", "time, amount, speed, ii", "time, amt, rate, interval", "time, amount, speed, interval"}[which] + ", evid, cmt, addl, ss, theta, biovar, tlag"
		for i, varies := range [3]bool{which%2 == 1, which != 2, which > 1} {
			if !varies {
				along[i] = make([]float64, len(c.Time))
			}
		}
		call, with, tol := "pmx_solve_onecpt("+args+")", plainSystem(linearElimination), 1e-11
		switch {
		case k%15 == 3:
			with, tol = saturableElimination, 1e-6
			call = "pmx_solve_" + []string{"rk45", "bdf"}[k/15%2] + "(saturable, states, " + args + further
		case k%3 == 0:
			call = "pmx_solve_group_onecpt({n}, " + args + ")"
		}
		m, err := program(functions+"data {"+eventData+"}\nparameters {"+eventParams+" array[n] real to_amt, to_rate, to_ii; }"+modelled+
			"matrix[states, n] x = "+call+";\n}\nmodel { target += sum(weight .* x); }").Bind(c.set(t), BindOptions{})
		if err != nil {
			t.Fatalf("schedule %d: %v", k, err)
		}
		if m.Interpreted() {
			t.Fatalf("schedule %d is interpreted: %s", k, m.Loops().Notes)
		}
		n := len(c.Time)
		x := append(c.params(), make([]float64, 3*n)...)
		grad, plain := make([]float64, len(x)), make([]float64, len(x))
		lp, err := m.LogDensityGrad(x, grad)
		if constant {
			if err == nil || !strings.Contains(err.Error(), "needs an interval ii above 0") {
				t.Errorf("schedule %d, %s: %v", k, call, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("schedule %d, %s: %v", k, call, err)
		}
		want, err := m.interpretGrad(x, plain)
		if err != nil || !(math.Abs(lp-want) <= tol*(1+math.Abs(want))) {
			t.Errorf("schedule %d, %s: %.15g, interpreted %.15g, %v", k, call, lp, want, err)
		}
		scale := 1.0
		for _, g := range plain {
			scale = max(scale, math.Abs(g))
		}
		for i, g := range grad {
			if !(math.Abs(g-plain[i]) <= 10*tol*scale) {
				t.Errorf("schedule %d, %s: derivative %d is %.12g, interpreted %.12g", k, call, i, g, plain[i])
			}
		}
		value := func(h float64) (sum, size float64) {
			for j, r := range with.solve(c.doses(along, h)) {
				for i, y := range r {
					sum += math.Cos(float64(3*i+j)) * y
					size += math.Abs(y)
				}
			}
			return sum, size
		}
		exact, size := value(0)
		if !(math.Abs(lp-exact) <= 1e-7*(1+size)) {
			t.Errorf("schedule %d, %s: %.12g, want %.12g", k, call, lp, exact)
		}
		const h = 1e-4
		up, _ := value(h)
		down, _ := value(-h)
		slope := 0.0
		for i := range 3 * n {
			slope += grad[len(x)-3*n+i] * along[i/n][i%n]
		}
		if !(math.Abs(slope-(up-down)/(2*h)) <= 1e-5*(1+size)) {
			t.Errorf("schedule %d, %s: slope %.10g, want %.10g", k, call, slope, (up-down)/(2*h))
		}
	}
}

// TestModelledDoseFaults checks schedules at the limits of what may depend on parameters.
func TestModelledDoseFaults(t *testing.T) {
	for args, want := range map[string]string{
		"{0.0, 1}, {9.0, 0}, {k, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {2, 2, 1}":       "",
		"{0.0, 1}, {9.0, 0}, {k - 1, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {2, 2, 1}":   "", // a bolus
		"{0.0, 1}, {9.0, 0}, {k - 2, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {2, 2, 1}":   "rate must not be negative",
		"{0.0, 1}, {k, 0}, {1.0, 0}, {2.0, 0}, {1, 0}, {1, 1}, {2, 0}, {0, 0}, {2, 2, 1}":       "",
		"{0.0, 1}, {9.0, 0}, {k, 0}, {4.6, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {2, 2, 1}":       "",
		"{0.0, 1}, {9.0, 0}, {k, 0}, {4.4, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {2, 2, 1}":       "must end within two intervals, but with a duration of 9",
		"{0.0, 1}, {9.0, 0}, {1.0, 0}, {4.4, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {2, k, 1}":     "", // three infusions
		"{0.0, 1}, {0.0, 0}, {k, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {2, 2, 1}":       "",
		"{0.0, 1}, {0.0, 0}, {k - 1, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {2, 2, 1}":   "or is a constant infusion with a rate above 0",
		"{0.0, 1}, {0.0, 0}, {2.0, 0}, {k - 1, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {2, 2, 1}":   "",
		"{0.0, 1}, {0.0, 0}, {2.0, 0}, {k, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {2, 2, 1}":       "but ii is 1",
		"{0.0, 1}, {1.0, 0}, {2.0, 0}, {k - 1, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {2, 2, 1}":   "needs an interval ii above 0",
		"{0.0, 1}, {0.0, 0}, {k, 0}, {1.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {2, 2, 1}":       "an infusion needs an amount",
		"{0.0, k}, {9.0, 0}, {1.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {2, 2, 1}":     "",
		"{0.0, k - 2}, {9.0, 0}, {1.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {2, 2, k}": "times must not decrease",
	} {
		m := modelOf(t, "parameters { real k; } model { target += sum(pmx_solve_onecpt("+args+")); }", BindOptions{})
		if m.Interpreted() {
			t.Errorf("%s is interpreted", args)
		}
		grad := make([]float64, 1)
		_, err := m.LogDensityGrad([]float64{1}, grad)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
		if _, plain := m.interpretGrad([]float64{1}, grad); (plain == nil) != (err == nil) {
			t.Errorf("%s: %v, interpreted %v", args, err, plain)
		}
	}
}
