package compile

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// eventCase is a schedule of events with its solution, which testdata/events.py computes.
type eventCase struct {
	Model  string      `json:"model"`
	Time   []float64   `json:"time"`
	Amt    []float64   `json:"amt"`
	Rate   []float64   `json:"rate"`
	II     []float64   `json:"ii"`
	Evid   []int       `json:"evid"`
	Cmt    []int       `json:"cmt"`
	Addl   []int       `json:"addl"`
	SS     []int       `json:"ss"`
	Theta  [][]float64 `json:"theta"`
	Biovar [][]float64 `json:"biovar"`
	Tlag   [][]float64 `json:"tlag"`
	Along  []float64   `json:"along"`
	Y      [][]float64 `json:"y"`     // the state at each record
	Slope  [][]float64 `json:"slope"` // its derivative along a direction
}

//go:embed testdata/events.txt
var eventCases []byte

// eventData declares the data of a schedule.
const eventData = `
  int n; array[n] real time; array[n] real amt; array[n] real rate; array[n] real ii;
  array[n] int evid; array[n] int cmt; array[n] int addl; array[n] int ss;
  int states; int R; int P; int B; int L; matrix[states, n] weight;`

// eventParams declares the parameters of a schedule.
const eventParams = `
  array[R, P] real theta; array[B, states] real biovar; array[L, states] real tlag;`

const events = "time, amt, rate, ii, evid, cmt, addl, ss"

// eventCalls has, for each model, the call of its closed form and of the matrix exponential.
var eventCalls = map[string][2]string{
	"one": {"pmx_solve_onecpt(" + events + ", theta, biovar, tlag)", "pmx_solve_linode(" + events + ", K, biovar, tlag)"},
	"two": {"pmx_solve_twocpt(" + events + ", theta, biovar, tlag)", "pmx_solve_linode(" + events + ", K, biovar, tlag)"},
}

// eventMatrix is the matrix K of each model.
var eventMatrix = map[string]string{
	"one": "[[-theta[i, 3], 0], [theta[i, 3], -theta[i, 1] / theta[i, 2]]]",
	"two": "[[-theta[i, 5], 0, 0], [theta[i, 5], -(theta[i, 1] + theta[i, 2]) / theta[i, 3], theta[i, 2] / theta[i, 4]], [0, theta[i, 2] / theta[i, 3], -theta[i, 2] / theta[i, 4]]]",
}

func (c *eventCase) set(t *testing.T) *data.Set {
	t.Helper()
	n, states := len(c.Time), len(c.Y[0])
	weight := make([][]float64, states)
	for i := range weight {
		for j := range n {
			weight[i] = append(weight[i], math.Cos(float64(3*i+j)))
		}
	}
	text, err := json.Marshal(map[string]any{"n": n, "time": c.Time, "amt": c.Amt, "rate": c.Rate, "ii": c.II, "evid": c.Evid, "cmt": c.Cmt,
		"addl": c.Addl, "ss": c.SS, "states": states, "R": len(c.Theta), "P": len(c.Theta[0]), "B": len(c.Biovar), "L": len(c.Tlag),
		"weight": weight, "theta": c.Theta, "biovar": c.Biovar, "tlag": c.Tlag})
	if err != nil {
		t.Fatal(err)
	}
	set, err := data.ParseJSON("data", text)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func (c *eventCase) params() []float64 {
	var x []float64
	for _, table := range [][][]float64{c.Theta, c.Biovar, c.Tlag} {
		for _, r := range table {
			x = append(x, r...)
		}
	}
	return x
}

// TestEvents compares solutions of schedules and their derivatives with 40 digits: in closed form
// and by the matrix exponential, with parameters and with data.
func TestEvents(t *testing.T) {
	programs := map[string]*Program{}
	program := func(text string) *Program {
		if programs[text] == nil {
			prog, list := Compile(source.NewFile("test.model", text))
			if prog == nil {
				t.Fatalf("%s\n%v", text, list[0])
			}
			programs[text] = prog
		}
		return programs[text]
	}
	lines := bufio.NewScanner(bytes.NewReader(eventCases))
	lines.Buffer(nil, 1<<20)
	for k := 0; lines.Scan(); k++ {
		if testing.Short() && k%6 != 0 && k != 50 {
			continue
		}
		var c eventCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		x, set := c.params(), c.set(t)
		large := 0.0
		var wantValue, wantSlope float64
		for j := range c.Y {
			for i, v := range c.Y[j] {
				large = max(large, math.Abs(v))
				wantValue += math.Cos(float64(3*i+j)) * v
				wantSlope += math.Cos(float64(3*i+j)) * c.Slope[j][i]
			}
		}
		for form, call := range eventCalls[c.Model] {
			tol := 1e-12
			if form == 1 {
				tol = 1e-9 // I - exp(K ii) loses digits where elimination is slow
			}
			head := "data {" + eventData
			body := "matrix[states, n] x;\n"
			if form == 1 {
				body += "{ array[R] matrix[states, states] K; for (i in 1:R) K[i] = " + eventMatrix[c.Model] + ";\n x = " + call + "; }"
			} else {
				body += "x = " + call + ";"
			}
			known, err := program(head+eventParams+"}\ntransformed parameters {"+body+"}\nmodel {}").Bind(set, BindOptions{})
			if err != nil {
				t.Fatalf("schedule %d: %v", k, err)
			}
			varies, err := program(head+"}\nparameters {"+eventParams+"}\ntransformed parameters {"+body+"}\nmodel { target += sum(weight .* x); }").Bind(set, BindOptions{})
			if err != nil {
				t.Fatalf("schedule %d: %v", k, err)
			}
			for which, m := range []*Model{known, varies} {
				at := x
				if which == 0 {
					at = nil
				}
				out := make([]float64, len(m.ConstrainedNames()))
				if err := m.Constrain(at, out); err != nil {
					t.Fatalf("schedule %d: %v", k, err)
				}
				out = out[len(at):]
				for j := range c.Y {
					for i, want := range c.Y[j] {
						got := out[i+len(c.Y[j])*j]
						if !(math.Abs(got-want) <= tol*math.Abs(want)+1e-3*tol*large) {
							t.Errorf("schedule %d, form %d, parameters %d: state %d at record %d is %.17g, want %.17g: off by %.2g", k, form, which, i+1, j+1, got, want, (got-want)/want)
						}
					}
				}
			}
			grad := make([]float64, len(x))
			lp, err := varies.LogDensityGrad(x, grad)
			if err != nil {
				t.Fatalf("schedule %d: %v", k, err)
			}
			slope, size := 0.0, 0.0
			for i, g := range grad {
				slope += g * c.Along[i]
				size += math.Abs(g * c.Along[i])
			}
			if !(math.Abs(lp-wantValue) <= tol*large*float64(len(c.Y))) || !(math.Abs(slope-wantSlope) <= 10*tol*size) {
				t.Errorf("schedule %d, form %d: %.17g with slope %.17g, want %.17g with slope %.17g", k, form, lp, slope, wantValue, wantSlope)
			}
		}
	}
}
