package compile

import (
	"errors"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestCurvature compares second derivatives with differences of gradients, and
// the gradient of tr(A·H) with differences of Hessians.
func TestCurvature(t *testing.T) {
	const text = `data { int N; array[N] int g; vector[N] y; }
parameters { vector[3] a; real<lower=0> s; real<lower=-1, upper=1> rho; }
model {
  real h = 0;
  a ~ normal(0, s);
  for (n in 1:N) {
    h = rho * h + a[g[n]];
    y[n] ~ student_t(4, h, s);
    if (h > 1) target += -square(h - 1);
  }
}`
	set, err := data.ParseJSON("data", []byte(`{"N": 6, "g": [1, 2, 3, 1, 2, 3], "y": [0.5, 1.5, -0.2, 0.7, 2, 0.1]}`))
	if err != nil {
		t.Fatal(err)
	}
	prog, list := Compile(source.NewFile("curved.model", text))
	if prog == nil {
		t.Fatal(list[0])
	}
	m, err := prog.Bind(set, BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := m.Dim()
	x := []float64{0.4, 0.9, -0.3, 0.2, 0.5}
	h, hv, v := make([]float64, n*n), make([]float64, n), []float64{1, -0.5, 0.3, 0.7, -1}
	a, tg := make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range n {
			a[i*n+j] = 1/float64(1+i+j) - 0.3
		}
	}
	if err := m.Hessian(x, h); err != nil {
		t.Fatal(err)
	}
	if err := m.HessianVector(x, v, hv); err != nil {
		t.Fatal(err)
	}
	if err := m.HessianTraceGrad(x, a, tg); err != nil {
		t.Fatal(err)
	}
	const step = 1e-5
	at := func(k int, d float64) (grad, hess []float64) {
		moved := append([]float64(nil), x...)
		moved[k] += d
		grad, hess = make([]float64, n), make([]float64, n*n)
		if _, err := m.LogDensityGrad(moved, grad); err != nil {
			t.Fatal(err)
		}
		if err := m.Hessian(moved, hess); err != nil {
			t.Fatal(err)
		}
		return grad, hess
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-7*(1+math.Abs(want)) { // differences of order 2, of numbers near 1
			t.Errorf("%s: %v, differences %v", what, got, want)
		}
	}
	product := make([]float64, n)
	for k := range n {
		gp, hp := at(k, step)
		gm, hm := at(k, -step)
		trace := 0.0
		for i := range n {
			near("Hessian", h[k*n+i], (gp[i]-gm[i])/(2*step))
			product[i] += h[k*n+i] * v[k]
		}
		for i := range a {
			trace += a[i] * (hp[i] - hm[i]) / (2 * step)
		}
		near("gradient of the trace", tg[k], trace)
	}
	for i := range product {
		near("product", hv[i], product[i])
	}
}

// TestPlanningStops checks that planning second derivatives and metrics can be interrupted like an
// evaluation, since it takes seconds for large models. A later call must succeed.
func TestPlanningStops(t *testing.T) {
	const text = `data { int n; }
parameters { vector[n] x; real<lower=0> s; }
model {
  x ~ normal(0, s);
  for (i in 2:n) target += -square(x[i] - sin(x[i - 1])) / s;
}`
	ended := errors.New("ended")
	x, h, a, grad := make([]float64, 61), make([]float64, 61*61), make([]float64, 61*61), make([]float64, 61)
	for name, plan := range map[string]func(m *Model) error{
		"Hessian":          func(m *Model) error { return m.Hessian(x, h) },
		"HessianTraceGrad": func(m *Model) error { return m.HessianTraceGrad(x, a, grad) },
		"FisherMetric":     func(m *Model) error { return m.FisherMetric(x, h) },
		"FisherTraceGrad":  func(m *Model) error { return m.FisherTraceGrad(x, a, grad) },
		"FisherElements": func(m *Model) error {
			rows, _, _, _, _, err := m.FisherPattern(false)
			if err != nil {
				return err
			}
			e := make([]float64, len(rows))
			if err := m.FisherElements(false, x, e); err != nil {
				return err
			}
			return m.FisherElementsTraceGrad(false, x, e, grad)
		},
		"FisherTimes":      func(m *Model) error { return m.FisherTimes(true, x, x, grad) },
		"FisherSquareGrad": func(m *Model) error { return m.FisherSquareGrad(false, x, x, grad) },
	} {
		m := boundText(t, text, map[string]any{"n": 60}) // a new model: clones share one plan
		m.SetStop(func() error { return ended })
		if err := plan(m); !errors.Is(err, ended) {
			t.Errorf("%s goes on: %v", name, err)
		}
		m.SetStop(nil)
		if err := plan(m); err != nil {
			t.Errorf("%s, after it was stopped: %v", name, err)
		}
	}
}
