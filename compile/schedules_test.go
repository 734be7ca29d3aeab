package compile

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"testing"
)

// TestSchedulesInR compares solutions of schedules with those of deSolve in R, if the environment
// variable PPL_SCHEDULES names a file with them:
//
//	Rscript testdata/schedules.R 200 1 > FILE
//
// Closed forms, the matrix exponential and solvers of differential equations are compared.
func TestSchedulesInR(t *testing.T) {
	path := os.Getenv("PPL_SCHEDULES")
	if path == "" {
		t.Skip("PPL_SCHEDULES does not name a file of testdata/schedules.R")
	}
	const functions = `functions {
  vector one(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) { return [-p[3] * y[1], p[3] * y[1] - p[1] / p[2] * y[2]]'; }
  vector two(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) {
    real across = p[2] * (y[2] / p[3] - y[3] / p[4]);
    return [-p[5] * y[1], p[5] * y[1] - p[1] / p[3] * y[2] - across, across]';
  }
  vector saturable(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) { return [-p[3] * y[1], p[3] * y[1] - p[1] * y[2] / (p[2] + y[2])]'; }
}
`
	const further = events + ", theta, biovar, tlag, rep_array(0.0, 1, 0), rep_array(0, 1, 0), 1e-9, 1e-9, 100000, 1e-9, 1e-9, 100)"
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	program := eventPrograms(t)
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	worst, compared := map[string]float64{}, map[string]int{}
	for k := 0; lines.Scan(); k++ {
		var c eventCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("line %d: %v", k+1, err)
		}
		calls := map[string]string{}
		if forms, linear := eventCalls[c.Model]; linear {
			calls["closed form"], calls["matrix exponential"] = forms[0], forms[1]
		}
		switch {
		case c.Model == "saturable" && k%2 == 0:
			calls["bdf"] = "pmx_solve_bdf(saturable, states, " + further
		case c.Model == "saturable" || k%5 == 0:
			calls["rk45"] = "pmx_solve_rk45(" + c.Model + ", states, " + further
		}
		for name, call := range calls {
			body := "matrix[states, n] x; { array[R] matrix[states, states] K;"
			if m := eventMatrix[c.Model]; m != "" {
				body += " for (i in 1:R) K[i] = " + m + ";"
			}
			m, err := program(functions+"data {"+eventData+"}\nparameters {"+eventParams+"}\ntransformed parameters {"+body+" x = "+call+"; }}\nmodel { target += sum(weight .* x); }").
				Bind(c.set(t), BindOptions{})
			if err != nil {
				t.Fatalf("schedule %d, %s: %v", k, name, err)
			}
			x := c.params()
			out := make([]float64, len(m.ConstrainedNames()))
			if err := m.Constrain(x, out); err != nil {
				t.Errorf("schedule %d, %s: %v", k, name, err)
				continue
			}
			out = out[len(x):]
			for j, r := range c.Y {
				for i, want := range r {
					off := math.Abs(out[i+len(r)*j]-want) / (1 + math.Abs(want))
					worst[name] = max(worst[name], off)
					if !(off <= 1e-6) {
						t.Errorf("schedule %d, %s: state %d at record %d is %.12g, want %.12g", k, name, i+1, j+1, out[i+len(r)*j], want)
					}
				}
			}
			compared[name]++
		}
	}
	t.Log("schedules:", compared, "largest relative distances:", worst)
}
