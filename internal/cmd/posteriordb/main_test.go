package main

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// The model of the tests, whose figures are computed by hand: y ~ normal(mu, s), s known.
const testModel = `data { int N; vector[N] y; }
parameters { real mu; real<lower=0> s; }
transformed parameters { real twice = 2 * mu; }
model { y ~ normal(mu, s); mu ~ normal(0, 1); s ~ exponential(1); }
`

var testData = []float64{0.5, 1.5, -0.25, 2, 1}

func put(t *testing.T, dir, name string, v any) {
	t.Helper()
	text, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	}
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

type object map[string]any

// testDatabase creates a database with one posterior. Its figures are correct except for the
// changes by spoil.
func testDatabase(t *testing.T, spoil func(point object)) (pdb, ref string) {
	t.Helper()
	pdb, ref = t.TempDir(), t.TempDir()
	put(t, pdb, "posteriors/five-normal.json", object{"model_name": "normal", "data_name": "five"})
	put(t, pdb, "models/info/normal.info.json", object{"model_implementations": object{"stan": object{"model_code": "models/stan/normal.stan"}}})
	put(t, pdb, "models/stan/normal.stan", testModel)
	put(t, pdb, "data/info/five.info.json", object{"data_file": "data/data/five.json"})
	values, err := json.Marshal(object{"N": len(testData), "y": testData})
	if err != nil {
		t.Fatal(err)
	}
	var archive strings.Builder
	z := zip.NewWriter(&archive)
	w, err := z.Create("five.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(values); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, pdb, "data/data/five.json.zip", archive.String())

	mu, logS := 0.3, -0.2
	s := math.Exp(logS)
	squares, sum := 0.0, 0.0
	for _, y := range testData {
		squares += (y - mu) * (y - mu) / (s * s)
		sum += (y - mu) / (s * s)
	}
	n := float64(len(testData))
	propto := -n*logS - squares/2 - mu*mu/2 - s + logS
	constants := -(n + 1) * math.Log(2*math.Pi) / 2
	point := object{"x": []float64{mu, logS}, "lp_propto_jac": propto, "lp_full_jac": propto + constants, "lp_full_nojac": propto + constants - logS,
		"grad_propto_jac": []float64{sum - mu, -n + squares - s + 1}, "constrained": []float64{mu, s, 2 * mu}}
	if spoil != nil {
		spoil(point)
	}
	put(t, ref, "five-normal.json", object{"sha256_stan": checksum([]byte(testModel)), "sha256_data": checksum(values), "num_unconstrained": 2,
		"names_params": []string{"mu", "s"}, "names_tparams": []string{"twice"}, "points": []object{point}, "grad_ns": object{"cpu_min": 100}})
	return pdb, ref
}

// check runs a check on a database in this process and returns its figures.
func check(t *testing.T, pdb, ref string, figures any, args ...string) (said string, err error) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.json")
	var b strings.Builder
	err = run(append([]string{"--pdb", pdb, "--ref", ref, "--limit", "0", "--json", out}, args...), &b, io.Discard)
	if figures != nil {
		if err := readJSON(out, figures); err != nil {
			t.Fatal(err)
		}
	}
	return b.String(), err
}

func TestDensity(t *testing.T) {
	pdb, ref := testDatabase(t, nil)
	page := filepath.Join(t.TempDir(), "page.md")
	var r densityReport
	said, err := check(t, pdb, ref, &r, "--write", page)
	if err != nil || len(r.Rows) != 1 || r.Rows[0].Status != agrees || r.Rows[0].Points != 1 {
		t.Fatalf("%v: %+v\n%s", err, r.Rows, said)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "| five-normal | agrees | 2 |") {
		t.Errorf("%v; the page is\n%s", err, text)
	}
}

// TestDensityDiffers checks that each single wrong figure is detected.
func TestDensityDiffers(t *testing.T) {
	for key, part := range map[string]string{"lp_propto_jac": "propto log density", "lp_full_jac": "full log density", "lp_full_nojac": "no Jacobian log density",
		"grad_propto_jac": "derivative by s", "constrained": "twice"} {
		pdb, ref := testDatabase(t, func(p object) {
			switch v := p[key].(type) {
			case float64:
				p[key] = v + 1e-7
			case []float64:
				v[len(v)-1] += 1e-7
			}
		})
		var r densityReport
		_, err := check(t, pdb, ref, &r)
		if err == nil || len(r.Rows) != 1 || r.Rows[0].Status != differs || !strings.Contains(r.Rows[0].Reason, part) {
			t.Errorf("%s is wrong: %v, %+v", key, err, r.Rows)
		}
	}
}

func TestNoFigures(t *testing.T) {
	pdb, ref := testDatabase(t, nil)
	if err := os.Remove(filepath.Join(ref, "five-normal.json")); err != nil {
		t.Fatal(err)
	}
	var r densityReport
	if _, err := check(t, pdb, ref, &r); err != nil || r.Rows[0].Status != noStan {
		t.Errorf("%v, %+v", err, r.Rows)
	}
	put(t, pdb, "models/stan/normal.stan", "parameters { real mu; } model { mu ~ unheard_of(1); }")
	r = densityReport{}
	if _, err := check(t, pdb, ref, &r); err == nil || r.Rows[0].Status != notBound || !strings.Contains(r.Rows[0].Reason, "normal.stan:1:") {
		t.Errorf("%v, %+v", err, r.Rows)
	}
}

// TestPosterior checks that draws agree with their posterior, and not with a shifted one.
func TestPosterior(t *testing.T) {
	pdb, ref := testDatabase(t, nil)
	// Compute the moments by quadrature over a grid of mu and log s.
	var total float64
	m := map[string][2]float64{}
	for mu := -3.0; mu < 4; mu += 0.02 {
		for u := -4.0; u < 3; u += 0.02 {
			s := math.Exp(u)
			lp := -float64(len(testData)-1)*u - s - mu*mu/2
			for _, y := range testData {
				lp -= (y - mu) * (y - mu) / (2 * s * s)
			}
			w := math.Exp(lp)
			total += w
			for name, v := range map[string]float64{"mu": mu, "s": s} {
				m[name] = [2]float64{m[name][0] + w*v, m[name][1] + w*v*v}
			}
		}
	}
	moments := func(shift float64) object {
		params := object{}
		for name, v := range m {
			params[name] = object{"mean": v[0]/total + shift, "mean_sq": v[1] / total}
		}
		return object{"five-normal": object{"draws": 10000, "parameters": params}}
	}
	for _, c := range []struct {
		shift float64
		fails bool
	}{{0, false}, {0.2, true}} {
		put(t, ref, "reference_posteriors.json", moments(c.shift))
		var r posteriorReport
		said, err := check(t, pdb, ref, &r, "--check", "posterior")
		if (err != nil) != c.fails || r.Scores != 4 || len(r.Rows) != 1 {
			t.Errorf("means moved by %v: %v, %+v\n%s", c.shift, err, r.Rows, said)
		}
	}
}

// TestKeep checks that stored figures are not computed again, and are not used with other options.
func TestKeep(t *testing.T) {
	pdb, ref := testDatabase(t, nil)
	dir := filepath.Join(t.TempDir(), "kept")
	var r densityReport
	if _, err := check(t, pdb, ref, &r, "--keep", dir); err != nil || len(r.Rows) != 1 || r.Rows[0].Name != "five-normal" {
		t.Fatal(err, r.Rows)
	}
	if err := (keeping{folder: dir}).keep("five-normal", json.RawMessage(`[{"name": "kept"}]`)); err != nil {
		t.Fatal(err)
	}
	if _, err := check(t, pdb, ref, &r, "--keep", dir); err != nil || len(r.Rows) != 1 || r.Rows[0].Name != "kept" {
		t.Errorf("not the figures kept: %v, %+v", err, r.Rows)
	}
	if _, err := check(t, pdb, ref, nil, "--keep", dir, "--seed", "9"); err == nil || !strings.Contains(err.Error(), "has figures of density") {
		t.Errorf("figures of other options: %v", err)
	}
}

// TestNoPosterior checks that a posterior that cannot be sampled fails.
func TestNoPosterior(t *testing.T) {
	pdb, ref := testDatabase(t, nil)
	put(t, ref, "reference_posteriors.json", object{"five-normal": object{"draws": 10000}})
	if err := os.Remove(filepath.Join(pdb, "models", "stan", "normal.stan")); err != nil {
		t.Fatal(err)
	}
	if said, err := check(t, pdb, ref, nil, "--check", "posterior"); err == nil || !strings.Contains(said, "0 of 1 posteriors pass") {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestSpeed(t *testing.T) {
	pdb, ref := testDatabase(t, nil)
	var r speedReport
	_, err := check(t, pdb, ref, &r, "--check", "speed", "--batches", "1")
	if err != nil || len(r.Rows) != 1 || r.Rows[0].NS <= 0 || r.Rows[0].Allocs != 0 || r.Rows[0].Block == "" || r.Mean.Count != 1 {
		t.Errorf("%v: %+v", err, r)
	}
}

func TestFamily(t *testing.T) {
	for name, want := range map[string]string{"radon_mn-radon_pooled": "radon", "nes1976-nes": "nes", "arK-arK": "arK", "M0_data-M0_model": "M"} {
		if got := family(name); got != want {
			t.Errorf("%s is of the family %s, want %s", name, got, want)
		}
	}
}

func TestKolmogorov(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	v := make([]float64, 2000)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	if d := kolmogorov(v); d > 1.63/math.Sqrt(2000) { // in 99 % of samples
		t.Errorf("standard normal numbers: %v", d)
	}
	for i := range v {
		v[i] *= 1.3
	}
	if d := kolmogorov(v); d < 0.04 {
		t.Errorf("numbers that are 1.3 times as wide: %v", d)
	}
	if d := kolmogorov([]float64{0}); d != 0.5 {
		t.Errorf("one number in the middle: %v", d)
	}
}

func TestQuartiles(t *testing.T) {
	if got := quartiles([]float64{5, 1, 2, 4, 3}); got != [3]float64{2, 3, 4} {
		t.Errorf("got %v", got)
	}
	if got := quartiles([]float64{1, 2}); got != [3]float64{1.25, 1.5, 1.75} {
		t.Errorf("got %v", got)
	}
}

// What sums cancel counts.
func TestMagnitudes(t *testing.T) {
	g := ad.NewGraph()
	x := g.Input(ad.Type{})
	big := g.Const(1e6)
	d := g.Sub(g.Add(x, big), big)
	g.Output(g.Mul(d, g.Const(-3)))
	g.Output(g.Exp(x))
	got, err := magnitudes(g, [][]float64{{0.5}})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{3 * (2e6 + 0.5), math.Exp(0.5)}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9*want[i] {
			t.Errorf("output %d: %v, want %v", i, got[i], want[i])
		}
	}
}

func TestUsage(t *testing.T) {
	pdb, ref := testDatabase(t, nil)
	for _, args := range [][]string{{}, {"--pdb", pdb}, {"--pdb", pdb, "--ref", ref, "--check", "all"}, {"--pdb", pdb, "--ref", ref, "--only", "("}, {"--pdb", ref, "--ref", ref}} {
		if err := run(args, io.Discard, io.Discard); err == nil {
			t.Error(fmt.Sprint(args), "is taken")
		}
	}
}

// TestTighten checks that tolerances are inserted in the right place, and replace existing ones.
func TestTighten(t *testing.T) {
	for text, want := range map[string]string{
		"integrate_ode_rk45(f, y0, 0, ts, theta, rep_array(0.0, 0), x_i)":                  "integrate_ode_rk45(f, y0, 0, ts, theta, rep_array(0.0, 0), x_i, 1e-12, 1e-12, 100000000)",
		"integrate_ode_bdf(f, y0, 0, ts, theta, x_r, x_i, 1e-5, g(1, 2), 5e2) + {1, 2}[1]": "integrate_ode_bdf(f, y0, 0, ts, theta, x_r, x_i, 1e-12, 1e-12, 100000000) + {1, 2}[1]",
	} {
		if got, err := tighten(text); err != nil || got != want {
			t.Errorf("%s\nbecomes %s, %v\nwant    %s", text, got, err, want)
		}
	}
	if _, err := tighten("ode_rk45(f, y0, 0, ts)"); err == nil {
		t.Error("ode_rk45 is taken")
	}
}

// TestRounding checks that rounding explains the errors of a nearly singular matrix, but not larger
// ones.
func TestRounding(t *testing.T) {
	g := ad.NewGraph()
	x := g.Input(ad.Type{})
	g.Output(g.Log(g.Sub(g.Add(x, g.Const(1)), g.Const(1)))) // log of a small number that has lost its digits
	g.Output(g.Log(x))
	got, err := rounding(g, [][]float64{{1e-9}})
	if err != nil {
		t.Fatal(err)
	}
	if got[0] < 1e-9 || got[0] > 1e-6 || got[1] > 1e-14 {
		t.Errorf("spreads %v", got)
	}
}
