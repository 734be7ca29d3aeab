package compile

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/short"
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
	return encoded(t, map[string]any{"n": n, "time": c.Time, "amt": c.Amt, "rate": c.Rate, "ii": c.II, "evid": c.Evid, "cmt": c.Cmt,
		"addl": c.Addl, "ss": c.SS, "states": states, "R": len(c.Theta), "P": len(c.Theta[0]), "B": len(c.Biovar), "L": len(c.Tlag),
		"weight": weight, "theta": c.Theta, "biovar": c.Biovar, "tlag": c.Tlag})
}

// encoded returns data by way of JSON, which takes lists of any numbers.
func encoded(t *testing.T, values map[string]any) *data.Set {
	t.Helper()
	text, err := json.Marshal(values)
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

// evaluate returns the gradient of a program at the parameters, and after it the log density.
func (c *eventCase) evaluate(t *testing.T, p *Program) ([]float64, error) {
	m, err := p.Bind(c.set(t), BindOptions{})
	if err != nil {
		return nil, err
	}
	x := c.params()
	grad := make([]float64, len(x))
	lp, err := m.LogDensityGrad(x, grad)
	return append(grad, lp), err
}

// TestEvents compares solutions of schedules and their derivatives with 40 digits: in closed form
// and by the matrix exponential, with parameters and with data.
func TestEvents(t *testing.T) {
	program := eventPrograms(t)
	lines := bufio.NewScanner(bytes.NewReader(eventCases))
	lines.Buffer(nil, 1<<20)
	for k := 0; lines.Scan(); k++ {
		if testing.Short() && k%6 != 0 && k != 50 || !short.Turn(k, 5) {
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

// eventPrograms returns a function that compiles each text once.
func eventPrograms(t *testing.T) func(text string) *Program {
	programs := map[string]*Program{}
	return func(text string) *Program {
		if programs[text] == nil {
			prog, list := Compile(source.NewFile("test.model", text))
			if prog == nil {
				t.Fatalf("%s\n%v", text, list[0])
			}
			programs[text] = prog
		}
		return programs[text]
	}
}

// plainSystem is a system of differential equations in Go.
type plainSystem func(y, p, slope []float64)

func linearElimination(y, p, slope []float64) {
	slope[0] = -p[2] * y[0]
	slope[1] = p[2]*y[0] - p[0]/p[1]*y[1]
}

func saturableElimination(y, p, slope []float64) {
	slope[0] = -p[2] * y[0]
	slope[1] = p[2]*y[0] - p[0]*y[1]/(p[1]+y[1])
}

// pass integrates from begin to end with a constant inflow, by the classical method of order 4.
func (f plainSystem) pass(y, p, inflow []float64, span float64) {
	n := int(math.Ceil(span / 0.02))
	h := span / float64(n)
	at := func(y, slope []float64) {
		f(y, p, slope)
		for i := range slope {
			slope[i] += inflow[i]
		}
	}
	z := make([]float64, len(y))
	moved := func(k []float64, h float64) []float64 {
		for i := range z {
			z[i] = y[i] + h*k[i]
		}
		return z
	}
	a, b, c, d := make([]float64, len(y)), make([]float64, len(y)), make([]float64, len(y)), make([]float64, len(y))
	for range n {
		at(y, a)
		at(moved(a, h/2), b)
		at(moved(b, h/2), c)
		at(moved(c, h), d)
		for i := range y {
			y[i] += h / 6 * (a[i] + 2*b[i] + 2*c[i] + d[i])
		}
	}
}

// input is a dose in progress: a bolus has stop = start, an infusion a rate.
type input struct {
	start, stop, amount, rate float64
	cmt                       int
}

// between integrates from begin to end with the inputs that happen then: boluses in (begin, end].
func (f plainSystem) between(y, p []float64, inputs []input, begin, end float64) {
	for now := begin; now < end; {
		next := end
		inflow := make([]float64, len(y))
		for _, in := range inputs {
			for _, t := range []float64{in.start, in.stop} {
				if t > now && t < next {
					next = t
				}
			}
			if in.rate > 0 && in.start <= now && in.stop > now {
				inflow[in.cmt] += in.rate
			}
		}
		f.pass(y, p, inflow, next-now)
		now = next
		for _, in := range inputs {
			if in.rate == 0 && in.start == now {
				y[in.cmt] += in.amount
			}
		}
	}
}

// solve goes from record to record. Steady states are those after many doses.
func (f plainSystem) solve(c *eventCase) [][]float64 {
	row := func(table [][]float64, i int) []float64 {
		if len(table) == 1 {
			return table[0]
		}
		return table[i]
	}
	y := make([]float64, 2)
	var inputs []input
	var out [][]float64
	for i, t := range c.Time {
		p := row(c.Theta, i)
		evid, cmt := c.Evid[i], c.Cmt[i]-1
		switch {
		case evid >= 3:
			y, inputs = make([]float64, 2), nil
		case i > 0:
			f.between(y, p, inputs, c.Time[i-1], t)
		}
		if evid == 1 || evid == 4 {
			amount, lag := row(c.Biovar, i)[cmt]*c.Amt[i], row(c.Tlag, i)[cmt]
			if c.SS[i] == 1 {
				y, inputs = make([]float64, 2), nil
			}
			dose := func(k float64) input {
				in := input{start: t + lag + k*c.II[i], amount: amount, rate: c.Rate[i], cmt: cmt}
				in.stop = in.start
				if in.rate > 0 {
					in.stop += amount / in.rate
				}
				return in
			}
			constant := c.SS[i] > 0 && c.Rate[i] > 0 && c.II[i] == 0
			if c.SS[i] > 0 {
				z := make([]float64, 2)
				const many = 80
				if constant {
					f.between(z, p, []input{{start: t - 1000, stop: t, rate: c.Rate[i], cmt: cmt}}, t-1000, t)
				} else {
					var before []input
					for k := -many; k < 0; k++ {
						before = append(before, dose(float64(k)))
					}
					f.between(z, p, before, before[0].start-1, t)
					for _, in := range before {
						if in.rate > 0 && in.stop > t {
							inputs = append(inputs, in)
						}
					}
				}
				y[0], y[1] = y[0]+z[0], y[1]+z[1]
			}
			if !constant {
				for k := range c.Addl[i] + 1 {
					in := dose(float64(k))
					if in.rate == 0 && in.start == t {
						y[cmt] += in.amount
					} else {
						inputs = append(inputs, in)
					}
				}
			}
		}
		out = append(out, slices.Clone(y))
	}
	return out
}

// randomEvents makes a schedule; k is its number.
func randomEvents(rng *rand.Rand, k int) *eventCase {
	pick := func(x ...float64) float64 { return x[rng.IntN(len(x))] }
	c := &eventCase{Model: "one"}
	n := []int{1, 2, 2 + rng.IntN(12)}[min(k, 2)]
	t := 0.0
	for i := range n {
		evid := int(pick(0, 0, 0, 1, 1, 1, 2, 3, 4))
		if i == 0 {
			evid = 1
		}
		if evid >= 3 && rng.IntN(2) == 0 {
			t = 0
		} else if i > 0 {
			t += pick(0, 0.5, 1, 2.25, 6)
		}
		var amt, rate, ii float64
		addl, ss := 0, 0
		if evid == 1 || evid == 4 {
			ss = int(pick(0, 0, 1, 2))
			rate = pick(0, 0, 3, 12.5)
			amt = pick(10, 40)
			if ss > 0 || rng.IntN(2) == 0 {
				ii = pick(8, 12)
				addl = rng.IntN(3)
			}
			if ss > 0 && rate > 0 && rng.IntN(3) == 0 {
				amt, ii, addl = 0, 0, 0
			}
		}
		c.Time, c.Amt, c.Rate, c.II = append(c.Time, t), append(c.Amt, amt), append(c.Rate, rate), append(c.II, ii)
		c.Evid, c.Cmt, c.Addl, c.SS = append(c.Evid, evid), append(c.Cmt, 1+rng.IntN(2)), append(c.Addl, addl), append(c.SS, ss)
	}
	table := func(of ...float64) [][]float64 {
		rows := make([][]float64, []int{1, n}[rng.IntN(2)])
		for i := range rows {
			for _, x := range of {
				rows[i] = append(rows[i], x*(0.8+0.4*rng.Float64()))
			}
		}
		return rows
	}
	c.Theta = table(30, 40, 0.8)
	c.Biovar = table(0.8, 0.7)
	c.Tlag = table(0, 0)
	if rng.IntN(2) == 0 {
		c.Tlag = table(0.7, 1.3)
	}
	c.Y = make([][]float64, n)
	for i := range c.Y {
		c.Y[i] = make([]float64, 2)
	}
	for range c.params() {
		c.Along = append(c.Along, rng.NormFloat64())
	}
	return c
}

// moved returns the case with its parameters moved along the direction.
func (c *eventCase) moved(h float64) *eventCase {
	d, at := *c, 0
	move := func(table [][]float64) [][]float64 {
		var out [][]float64
		for _, r := range table {
			r = slices.Clone(r)
			for j := range r {
				r[j] += h * c.Along[at]
				at++
			}
			out = append(out, r)
		}
		return out
	}
	d.Theta, d.Biovar, d.Tlag = move(c.Theta), move(c.Biovar), move(c.Tlag)
	return &d
}

// TestRandomEvents compares 200 schedules with an integrator of fixed steps that shares no code:
// closed forms, and for some of them solvers of differential equations, with derivatives.
func TestRandomEvents(t *testing.T) {
	program := eventPrograms(t)
	const functions = `functions {
  vector linear(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) { return [-p[3] * y[1], p[3] * y[1] - p[1] / p[2] * y[2]]'; }
  vector saturable(real t, vector y, array[] real p, array[] real x_r, array[] int x_i) { return [-p[3] * y[1], p[3] * y[1] - p[1] * y[2] / (p[2] + y[2])]'; }
}
`
	const further = events + ", theta, biovar, tlag, rep_array(0.0, 1, 0), rep_array(0, 1, 0), 1e-9, 1e-9, 100000, 1e-9, 1e-9, 100)"
	rng := rand.New(rand.NewPCG(45, 1))
	for k := range 200 {
		c := randomEvents(rng, k)
		if testing.Short() && k > 12 {
			break
		}
		if !short.Turn(k/40, 5) { // in 40 there is each form
			continue
		}
		type form struct {
			call string
			with plainSystem
		}
		forms := []form{{eventCalls["one"][0], linearElimination}}
		switch {
		case testing.Short() && k%4 != 0:
		case k%40 == 0:
			forms = append(forms, form{"pmx_solve_bdf(saturable, 2, " + further, saturableElimination},
				form{"pmx_solve_group_rk45(linear, 2, {n}, " + further, linearElimination})
		case k%10 == 0:
			forms = append(forms, form{"pmx_solve_rk45(saturable, 2, " + further, saturableElimination})
		}
		for _, form := range forms {
			want := form.with.solve(c)
			m, err := program(functions+"data {"+eventData+"}\nparameters {"+eventParams+"}\ntransformed parameters { matrix[states, n] x = "+form.call+
				"; }\nmodel { target += sum(weight .* x); }").Bind(c.set(t), BindOptions{})
			if err != nil {
				t.Fatalf("schedule %d: %v", k, err)
			}
			x := c.params()
			out := make([]float64, len(m.ConstrainedNames()))
			if err := m.Constrain(x, out); err != nil {
				t.Fatalf("schedule %d, %s: %v", k, form.call, err)
			}
			out = out[len(x):]
			for j, r := range want {
				for i, w := range r {
					if got := out[i+2*j]; !(math.Abs(got-w) <= 1e-7*(1+math.Abs(w))) {
						t.Errorf("schedule %d, %s: state %d at record %d is %.12g, want %.12g", k, form.call, i+1, j+1, got, w)
					}
				}
			}
			grad := make([]float64, len(x))
			if _, err := m.LogDensityGrad(x, grad); err != nil {
				t.Fatalf("schedule %d, %s: %v", k, form.call, err)
			}
			// Without lag times, moving them would move doses to both sides of their records.
			slope, lags := 0.0, 2*len(c.Tlag)
			for i, g := range grad {
				if c.Tlag[0][0] == 0 && i >= len(x)-lags {
					c.Along[i] = 0
				}
				slope += g * c.Along[i]
			}
			const h = 1e-4
			up, down := form.with.solve(c.moved(h)), form.with.solve(c.moved(-h))
			numeric, size := 0.0, 1.0
			for j := range up {
				for i := range up[j] {
					d := math.Cos(float64(3*i+j)) * (up[j][i] - down[j][i]) / (2 * h)
					numeric += d
					size += math.Abs(d)
				}
			}
			if !(math.Abs(slope-numeric) <= 1e-5*size) {
				t.Errorf("schedule %d, %s: slope %.10g, want %.10g", k, form.call, slope, numeric)
			}
		}
	}
}

// TestGroups compares the solutions of several subjects in one call, with different numbers of
// records, with those of each. Parameters are for all, for each subject or for each record.
func TestGroups(t *testing.T) {
	program := eventPrograms(t)
	rng := rand.New(rand.NewPCG(45, 2))
	for k := range 9 {
		subjects, kind := []int{1, 2, 5}[k%3], k/3
		all := &eventCase{Model: "one"}
		var sizes []int
		var want [][]float64
		for s := range subjects {
			c := randomEvents(rng, 2)
			n := len(c.Time)
			for _, table := range [][2]*[][]float64{{&c.Theta, &all.Theta}, {&c.Biovar, &all.Biovar}, {&c.Tlag, &all.Tlag}} {
				own, joined := table[0], table[1]
				switch {
				case kind < 2 && s > 0 && kind == 0:
					*own = (*joined)[:1]
				case kind < 2:
					*own = (*own)[:1]
					*joined = append(*joined, (*own)[0])
				default:
					for len(*own) < n {
						*own = append(*own, (*own)[0])
					}
					*joined = append(*joined, *own...)
				}
			}
			want = append(want, plainSystem(linearElimination).solve(c)...)
			sizes = append(sizes, n)
			all.Time, all.Amt, all.Rate, all.II = append(all.Time, c.Time...), append(all.Amt, c.Amt...), append(all.Rate, c.Rate...), append(all.II, c.II...)
			all.Evid, all.Cmt, all.Addl, all.SS = append(all.Evid, c.Evid...), append(all.Cmt, c.Cmt...), append(all.Addl, c.Addl...), append(all.SS, c.SS...)
		}
		all.Y = want
		list := strings.Trim(strings.ReplaceAll(fmt.Sprint(sizes), " ", ", "), "[]")
		m, err := program("data {"+eventData+"}\nparameters {"+eventParams+"}\ntransformed parameters { matrix[states, n] x = pmx_solve_group_onecpt({"+list+
			"}, "+events+", theta, biovar, tlag); }\nmodel { target += sum(x); }").Bind(all.set(t), BindOptions{})
		if err != nil {
			t.Fatalf("case %d: %v", k, err)
		}
		x := all.params()
		out := make([]float64, len(m.ConstrainedNames()))
		if err := m.Constrain(x, out); err != nil {
			t.Fatalf("case %d: %v", k, err)
		}
		for j, r := range want {
			for i, w := range r {
				if got := out[len(x)+i+2*j]; !(math.Abs(got-w) <= 1e-7*(1+math.Abs(w))) {
					t.Errorf("case %d, %v: state %d at record %d is %.12g, want %.12g", k, sizes, i+1, j+1, got, w)
				}
			}
		}
	}
}

// TestEventFaults checks what schedules are rejected for, when parameters are known and when not.
func TestEventFaults(t *testing.T) {
	for args, want := range map[string]string{
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {k, 2, 1}":                         "",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0}, {k, 2, 1}":                            "must have one element for each record",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {5, 0}, {1, 1}, {0, 0}, {0, 0}, {k, 2, 1}":                         "evid must be 0 (observation)",
		"{2.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {k, 2, 1}":                         "record 2 is at 1 after 2",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {1, 0}, {3, 1}, {0, 0}, {0, 0}, {k, 2, 1}":                         "a compartment from 1 to 2, but it is 3 in record 1",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {2, 0}, {0, 0}, {k, 2, 1}":                         "additional doses need an interval",
		"{0.0, 1}, {9.0, 0}, {-2.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {k, 2, 1}":                        "rate must not be negative",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {k, 2, 1}":                         "a dose at steady state needs an interval",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {4.0, 0}, {1, 0}, {1, 1}, {0, 0}, {3, 0}, {k, 2, 1}":                         "ss must be 0, 1 or 2",
		"{0.0, 1}, {9.0, 0}, {3.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {k, 2, 1}":                         "a constant infusion at steady state",
		"{0.0, 1}, {0.0, 0}, {3.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {k, 2, 1}":                         "an infusion needs an amount",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {k, 2}":                            "CL, V2 and ka, but there are 2",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {k - 2, 2, 1}":                     "CL and V2 must be positive",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {k, 2, 1}, {1}":                    "for each of the 2 compartments",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {k, 2, 1}, {1, 1}, {k - 2, 0}":     "lag times must not be negative",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.5, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {k, 2, 1}, {1, 1}, {k, 0}":         "must not exceed its interval",
		"{0.0, 1}, {9.0, 0}, {9.0, 0}, {1.0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {k, 2, 1}, {2.5, 1}, {0, 0}":       "must not overlap more",
		"{0.0, 1}, {9.0, 0}, {9.0, 0}, {1.0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {k, 2, 1}, {2, 1}, {0, 0}":         "",
		"{0.0, 1}, {9.0, 0}, {0.0, 0}, {0.0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {{k, 2, 1}, {1, 1, 1}, {1, 1, 1}}": "but there are 3, 1 and 1",
	} {
		m := modelOf(t, "parameters { real k; } model { target += sum(pmx_solve_onecpt("+args+")); }", BindOptions{})
		_, err := m.LogDensityGrad([]float64{1}, make([]float64, 1))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
