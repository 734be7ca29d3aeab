package bridge

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const text = `data { int N; array[N] int<lower=0, upper=1> y; }
parameters { real<lower=0, upper=1> p; }
transformed parameters { real q = p / 2; }
model {
  y ~ bernoulli(p);
  p ~ beta(2, 3);
  print("p = ", p);
}
generated quantities { int z = bernoulli_rng(p); real w = q; }`

func bernoulli(t *testing.T, print func(string)) *Model {
	t.Helper()
	m, err := New(Program{Name: "bernoulli.stan", Text: text}, `{"N": 4, "y": [1, 0, 0, 1]}`, 1, print)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(1, math.Abs(b)) }

// TestDensities compares a beta prior with Bernoulli data to densities computed by hand.
func TestDensities(t *testing.T) {
	m := bernoulli(t, nil)
	if m.Name() != "bernoulli_model" || m.Dim() != 1 || !strings.Contains(m.Info(), "STAN_THREADS=true") {
		t.Errorf("%s %d %s", m.Name(), m.Dim(), m.Info())
	}
	u := 0.3
	p := 1 / (1 + math.Exp(-u))
	for _, propto := range []bool{false, true} {
		for _, jacobian := range []bool{false, true} {
			a, b := 3.0, 4.0 // powers of p and 1-p
			want := 0.0
			if !propto {
				want = math.Log(12) // 1/B(2, 3)
			}
			if jacobian {
				a, b = a+1, b+1
			}
			want += a*math.Log(p) + b*math.Log(1-p)
			first, second := a*(1-p)-b*p, -(a+b)*p*(1-p)
			x := []float64{u}
			grad, h, hv := make([]float64, 1), make([]float64, 1), make([]float64, 1)
			if lp, err := m.LogDensity(propto, jacobian, x); err != nil || !near(lp, want) {
				t.Errorf("propto %t, jacobian %t: %v, %v; want %v", propto, jacobian, lp, err, want)
			}
			if lp, err := m.Hessian(propto, jacobian, x, grad, h); err != nil || !near(lp, want) || !near(grad[0], first) || !near(h[0], second) {
				t.Errorf("propto %t, jacobian %t: %v %v %v, %v; want %v %v %v", propto, jacobian, lp, grad, h, err, want, first, second)
			}
			if lp, err := m.HessianVector(propto, jacobian, x, []float64{2}, hv); err != nil || !near(lp, want) || !near(hv[0], 2*second) {
				t.Errorf("propto %t, jacobian %t: %v %v, %v; want %v", propto, jacobian, lp, hv, err, 2*second)
			}
		}
	}
}

func TestConstrain(t *testing.T) {
	m := bernoulli(t, nil)
	for _, c := range []struct {
		tp, gq bool
		want   []string
	}{{false, false, []string{"p"}}, {true, false, []string{"p", "q"}}, {false, true, []string{"p", "z", "w"}}, {true, true, []string{"p", "q", "z", "w"}}} {
		if got := m.Names(c.tp, c.gq); !slices.Equal(got, c.want) || m.Num(c.tp, c.gq) != len(c.want) {
			t.Errorf("names %v, want %v", got, c.want)
		}
		dst := make([]float64, len(c.want))
		if err := m.Constrain(c.tp, c.gq, []float64{0}, dst, NewRNG(1)); err != nil {
			t.Error(err)
		}
		for i, name := range c.want {
			if want := map[string]float64{"p": 0.5, "q": 0.25, "w": 0.25}[name]; name != "z" && dst[i] != want {
				t.Errorf("%s = %v, want %v", name, dst[i], want)
			}
		}
	}
	x := make([]float64, 1)
	if err := m.Unconstrain([]float64{0.5}, x); err != nil || x[0] != 0 {
		t.Errorf("%v, %v", x, err)
	}
	if err := m.UnconstrainJSON(`{"p": 0.5}`, x); err != nil || x[0] != 0 {
		t.Errorf("%v, %v", x, err)
	}
	for name, err := range map[string]error{
		"rng is null":         m.Constrain(false, true, x, make([]float64, 3), nil),
		"outside":             m.Unconstrain([]float64{2}, x),
		"be less than 1":      m.UnconstrainJSON(`{"p": 2}`, x),
		"no value of the par": m.UnconstrainJSON(`{}`, x),
		"parameters:1":        m.UnconstrainJSON(`{`, x),
		"point of":            m.Constrain(true, false, []float64{1, 2}, make([]float64, 2), nil),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRejections checks that parameters can be computed if transformed parameters reject.
func TestRejections(t *testing.T) {
	m, err := New(Program{Name: "m", Text: `parameters { real<lower=0> y; } transformed parameters { real z = y; reject("never"); }`}, "", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, 1)
	if err := m.Constrain(false, false, []float64{math.Log(3)}, y, nil); err != nil || !near(y[0], 3) {
		t.Errorf("%v, %v", y, err)
	}
	if err := m.Constrain(true, false, []float64{0}, make([]float64, 2), nil); err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("transformed parameters: %v", err)
	}
	if _, err := m.LogDensity(true, true, []float64{0}); err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("log density: %v", err)
	}
}

func TestThreads(t *testing.T) {
	var mu sync.Mutex
	printed := 0
	m := bernoulli(t, func(s string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(s, "p = ") {
			printed++
		}
	})
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			rng := NewRNG(7)
			first := make([]float64, 4)
			for i := range 25 {
				if _, err := m.LogDensity(i%2 == 0, true, []float64{0.1}); err != nil {
					t.Error(err)
				}
				if err := m.Constrain(true, true, []float64{0.1}, first, rng); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if printed != 8*25 {
		t.Errorf("%d lines were printed, not %d", printed, 8*25)
	}
}

func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.stan")
	if err := os.WriteFile(path, []byte("parameters { real x; }"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, library := range []string{"m.so", "m_model.so", "m_model.dylib"} {
		if p, err := NextTo(filepath.Join(dir, library)); err != nil || p.Name != path || p.modelName() != "m_model" {
			t.Errorf("%s: %+v, %v", library, p, err)
		}
	}
	if _, err := NextTo(filepath.Join(dir, "n_model.so")); err == nil || !strings.Contains(err.Error(), "no n.stan beside") {
		t.Errorf("no model: %v", err)
	}
	quoted := strings.ReplaceAll(path, `\`, `\\`)
	for data, rest := range map[string]string{
		`{"__ppl": "` + quoted + `"}`:                                        "",
		` { "__ppl" : "` + quoted + `" , "N": 1, "y": NaN}`:                  `{ "N": 1, "y": NaN}`,
		`{"__ppl": "parameters { real x; }\n","N":[1,2]}`:                    `{"N":[1,2]}`,
		`{"__ppl": {"text": "parameters { real x; }", "name": "m"}, "N": 1}`: `{ "N": 1}`,
	} {
		p, got, ok, err := FromData(data)
		if !ok || err != nil || got != rest || strings.TrimSpace(p.Text) != "parameters { real x; }" {
			t.Errorf("%s: %+v, %q, %t, %v", data, p, got, ok, err)
		}
	}
	if _, rest, ok, err := FromData(`{"N": 1, "__ppl": "a"}`); ok || err != nil || rest == "" {
		t.Errorf("data without a model: %q, %t, %v", rest, ok, err)
	}
	p, _, _, err := FromData(`{"__ppl": {"text": "#include f", "name": "m", "include": ["a", "b"]}}`)
	if err != nil || p.Name != "m" || !slices.Equal(p.IncludePaths, []string{"a", "b"}) {
		t.Errorf("a model as an object: %+v, %v", p, err)
	}
	for _, data := range []string{`{"__ppl": 1}`, `{"__ppl": {"text": 1}}`, `{"__ppl": "a" 1}`, `{"__ppl": "nowhere.stan"}`} {
		if _, _, ok, err := FromData(data); !ok || err == nil {
			t.Errorf("%s: %t, %v", data, ok, err)
		}
	}
	for _, c := range [][3]string{
		{"parameters { real x }", "", "m:1:"},
		{"data { int N; }", `{"N": 1.5}`, "N"},
		{"data { int N; }", "", "N"},
		{"data { int N; }", "nowhere.json", "nowhere.json"},
		{`transformed data { reject("find this"); }`, "", "find this"},
	} {
		if _, err := New(Program{Name: "m", Text: c[0]}, c[1], 1, nil); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%v: %v", c, err)
		}
	}
}
