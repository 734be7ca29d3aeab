package compile

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
)

// TestInflowEnds compares what is left long after overlapping infusions with a sum over them. When
// the rates are added and taken away in this order, they do not cancel: 1e-40 was -1e-15.
func TestInflowEnds(t *testing.T) {
	program := eventPrograms(t)
	const declared = `data { int n; array[n] real time; array[n] real amt; array[n] real speed; array[n] int evid; }
transformed data {
  array[n] real ii = rep_array(0.0, n);
  array[n] int cmt = rep_array(2, n), addl = rep_array(0, n), ss = rep_array(0, n);
}
parameters { array[3] real p; array[2] real lag; real faster; }
transformed parameters {
  array[n] real rate = speed;
  %s
  row_vector[n] x = pmx_solve_%s;
}
model { target += log(x[n]); }`
	const events = "(time, amt, rate, ii, evid, cmt, addl, ss, "
	for _, rates := range [][]float64{{0.1, 0.1, 1.1}, {0.1, 0.7, 0.2}, {1.1, 0.1, 0.1}} {
		begin := []float64{0, 0.5, 0.6}
		var amt []float64
		for _, r := range rates {
			amt = append(amt, 3*r)
		}
		const end = 400.0
		set, err := data.ParseJSON("data", fmt.Appendf(nil, `{"n": 5, "time": [%g, %g, %g, 200, %g], "amt": [%g, %g, %g, 0, 0],
			"speed": [%g, %g, %g, 0, 0], "evid": [1, 1, 1, 0, 0]}`, begin[0], begin[1], begin[2], end, amt[0], amt[1], amt[2], rates[0], rates[1], rates[2]))
		if err != nil {
			t.Fatal(err)
		}
		for _, model := range []string{"onecpt" + events + "p, {1.0, 1}, lag)[2]", "onecpt" + events + "p)[2]",
			"twocpt" + events + "{p[1], 1e-300, p[2], 1, p[3]}, {1.0, 1, 1}, {lag[1], lag[2], 0})[2]",
			"linode" + events + "[[-p[3], 0], [p[3], -p[1] / p[2]]], {1.0, 1}, lag)[2]"} {
			for _, faster := range []string{"", "for (i in 1:n) rate[i] *= exp(faster);"} {
				m, err := program(fmt.Sprintf(declared, faster, model)).Bind(set, BindOptions{})
				if err != nil {
					t.Fatal(err)
				}
				x := []float64{2, 9, 0.8, 0.3, 0.25, 0}
				grad := make([]float64, len(x))
				lp, err := m.LogDensityGrad(x, grad)
				if err != nil {
					t.Fatalf("rates %v, %s: %v", rates, model, err)
				}
				k, late := x[0]/x[1], 0.0
				if strings.Contains(model, "lag") {
					late = x[4]
				}
				sum, slope := 0.0, 0.0
				for i, r := range rates {
					since := end - begin[i] - late
					part := r / k * (math.Exp(-k*(since-3)) - math.Exp(-k*since))
					sum += part
					slope += -part/k - r/k*((since-3)*math.Exp(-k*(since-3))-since*math.Exp(-k*since))
				}
				if !(math.Abs(lp-math.Log(sum)) <= 1e-10) {
					t.Errorf("rates %v, %s: log of the amount %.12g, want %.12g", rates, model, lp, math.Log(sum))
				}
				if want := slope / sum * k / x[0]; !(math.Abs(grad[0]-want) <= 1e-9*math.Abs(want)) {
					t.Errorf("rates %v, %s: derivative by the clearance %.12g, want %.12g", rates, model, grad[0], want)
				}
			}
		}
	}
}
