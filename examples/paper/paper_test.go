package main

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/bayesopt"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// TestRegression checks that gradient and metric agree with finite differences, that the mode is a
// mode, and that the starting points are spread around it.
func TestRegression(t *testing.T) {
	for _, s := range []set{{"small", 41, 2, true}, {"other", 30, 3, false}} {
		r, err := s.load("")
		if err != nil {
			t.Fatal(err)
		}
		starts, err := r.starts(4, s.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range starts {
			if err := infertest.CheckGradient(r, x); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
			if err := infertest.CheckMetric(x, r.Compiled().FisherMetric, r.Compiled().FisherTraceGrad); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
		if starts[0][0] == starts[1][0] {
			t.Error("two starting points are the same")
		}
		mode, g, err := r.mode()
		if err != nil {
			t.Fatal(err)
		}
		grad, h := make([]float64, r.k), make([]float64, r.k)
		r.LogDensityGrad(mode, grad)
		for i, v := range grad {
			if math.Abs(v) > 1e-6 {
				t.Errorf("%s: the gradient at the mode has %v", s.name, v)
			}
			// The metric is minus the Hessian, which is computed by a difference along the axis.
			const step = 1e-5
			x := slices.Clone(mode)
			x[i] += step
			r.LogDensityGrad(x, h)
			for j := range h {
				if want := -h[j] / step; math.Abs(g[i*r.k+j]-want) > 1e-3*(1+math.Abs(want)) {
					t.Errorf("%s: the metric at the mode has %v in row %d, column %d, minus the Hessian %v", s.name, g[i*r.k+j], i, j, want)
				}
			}
		}
	}
}

// TestVolatility checks that the density of the volatility model equals that of its formulas, and
// that whitening changes only coordinates.
func TestVolatility(t *testing.T) {
	y, err := series("", 30)
	if err != nil {
		t.Fatal(err)
	}
	target, err := volatility(y)
	if err != nil {
		t.Fatal(err)
	}
	formula := func(v []float64) float64 {
		beta, sigma, phi, x := v[atBeta], math.Exp(v[atGamma]), math.Tanh(v[atAlpha]), v[volatilityParameters:]
		lp := -math.Log(beta)
		lp += -12*math.Log(sigma) - 0.25/(sigma*sigma) + 2*v[atGamma]           // p(sigma²) and its Jacobian
		lp += 19*math.Log(1+phi) + 0.5*math.Log(1-phi) + math.Log(1-phi*phi)    // p(phi), likewise
		lp += 0.5*math.Log(1-phi*phi) - 0.5*x[0]*x[0]*(1-phi*phi)/(sigma*sigma) // x_1
		lp -= float64(len(x)) * math.Log(sigma)                                 // all x
		for i := 1; i < len(x); i++ {
			e := (x[i] - phi*x[i-1]) / sigma
			lp -= 0.5 * e * e
		}
		for i, r := range y {
			s := beta * math.Exp(x[i]/2)
			lp += -math.Log(s) - 0.5*r*r/(s*s)
		}
		return lp
	}
	starts := volatilityStarts(y, 3)
	white := whiten(target, 0.6, -1.8, 2.1)
	grad := make([]float64, target.Dim())
	var constant float64
	for i, x := range starts {
		lp, err := target.LogDensityGrad(x, grad)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			constant = lp - formula(x)
		}
		if d := lp - formula(x) - constant; math.Abs(d) > 1e-9*math.Abs(lp) {
			t.Errorf("start %d: the density differs from its formula by %v", i, d)
		}
		z := white.whiten(x)
		if err := infertest.CheckGradient(white, z); err != nil {
			t.Error(err)
		}
		same, _ := white.LogDensityGrad(z, grad)
		white.present(z)
		for j := range x {
			if math.Abs(z[j]-x[j]) > 1e-9*(1+math.Abs(x[j])) {
				t.Fatalf("coordinate %d is %v after whitening and back, not %v", j, z[j], x[j])
			}
		}
		if math.Abs(same-lp) > 1e-9*math.Abs(lp) {
			t.Errorf("log density %v, whitened %v", lp, same)
		}
	}
	// L is the triangular factor of I/2 + C⁻¹.
	phi, precision := math.Tanh(2.1), math.Exp(2*1.8)
	for i := range y {
		want := 0.5 + (1+phi*phi)*precision
		if i == 0 || i == len(y)-1 {
			want = 0.5 + precision
		}
		got := white.diagonal[i] * white.diagonal[i]
		if i > 0 {
			got += white.side[i-1] * white.side[i-1]
		}
		if math.Abs(got-want) > 1e-9*want || i+1 < len(y) && math.Abs(white.diagonal[i]*white.side[i]+phi*precision) > 1e-9*want {
			t.Fatalf("row %d of the metric", i)
		}
	}
	if target.Dim() != len(y)+volatilityParameters {
		t.Errorf("%d dimensions", target.Dim())
	}
}

// TestReleased checks that the samplers have the constants of the authors' released program.
func TestReleased(t *testing.T) {
	s := released(ahmc.Box{MinStepSize: 0.01, MaxStepSize: 0.2, MinSteps: 1, MaxSteps: 100})
	if s.Reward != (ahmc.SquaredJump{Sum: true}) || s.Cost != ahmc.CostSqrtSteps || s.Metric != "" || s.Freeze || s.LinearStepSize || s.FixedLength ||
		s.Bayes != (bayesopt.Options{Scale: bayesopt.ScaleReleased, Time: bayesopt.TimeObserved}) {
		t.Errorf("%+v", s)
	}
	for _, a := range []arm{rmhmcArm, armhmcArm, reversibleArm} {
		target, err := sets[0].load("")
		if err != nil {
			t.Fatal(err)
		}
		r, err := (chain{name: "test", target: target, sampler: a.sampler, warmup: 5, draws: 5, id: 1, start: make([]float64, target.k)}).run(context.Background(), func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		if r.ImplicitSteps == 0 {
			t.Errorf("%s made no implicit steps", a.name)
		}
	}
}

// small returns a workshop whose work takes only a moment.
func small(t *testing.T, dir string) *workshop {
	t.Helper()
	w, err := newWorkshop(options{quick: true, out: dir})
	if err != nil {
		t.Fatal(err)
	}
	w.sets = []set{{"small", 40, 2, false}}
	n := plan{2, 50, 100}
	w.protocol = protocol{
		kind: "test", deltas: []float64{0.5, 0.8}, regression: n, riemann: plan{2, 30, 60}, reversible: plan{2, 30, 60}, tries: plan{1, 50, 100}, reference: n,
		days: 40, volatility: n, volatilityTries: plan{1, 50, 100},
		cox: []coxSize{{4, n}}, coxTries: plan{1, 50, 100}, coxLarge: []coxSize{{6, n}},
		networks: networks{network: network{5, 3, 2}, documents: 24, folds: 3, seeds: 1, batches: 4, batch: 2, fold: 20, burnIn: 50, steps: 100, warmup: 20},
		joint:    []coxSize{{4, n}}, jointData: jointData{1, coxSize{2, plan{1, 20, 20}}, 4}, calibration: calibration{2, 3, 5, 1, 20},
		automatic: automaticPlan{2, 2, 100},
	}
	return w
}

// TestRun checks that a small run of the comparisons writes its tables and figures, and that a
// second run reuses the chains.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: all figures are made, twice; TestJoint makes one")
	}
	dir := t.TempDir()
	w := small(t, dir)
	files := []string{"fig2.md", "fig2.csv", "fig2.png", "fig2.svg", "fig2-surface.png", "table1.md", "table1.csv", "table1.png", "table1-surface.svg",
		"fig3.md", "fig3.csv", "fig3.png", "fig3-groups.csv", "fig4.md", "fig3-64.md", "fig3-64.png", "fig4-A-4.png", "fig4-B-4.svg", "table2.md", "table2.csv", "joint.csv", "joint.png", "auto.md"}
	read := func() map[string][]byte {
		for _, make := range []func(context.Context, *workshop) error{figure2, table1, figure3, figure4, figure3Large, table2, joint, automatic} {
			if err := make(context.Background(), w); err != nil {
				t.Fatal(err)
			}
		}
		texts := map[string][]byte{}
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = text
		}
		return texts
	}
	first := read()
	for _, name := range []string{"fig2.md", "table1.md", "fig3.md", "fig4.md", "table2.md", "auto.md"} {
		if !strings.Contains(string(first[name]), "simulated data") {
			t.Errorf("%s does not say that data are simulated:\n%s", name, first[name])
		}
		if strings.Contains(string(first[name]), "reproduced") {
			t.Errorf("%s judges the paper by simulated data", name)
		}
	}
	if image, err := png.Decode(bytes.NewReader(first["fig2.png"])); err != nil || image.Bounds().Dx() < 500 {
		t.Errorf("fig2.png: %v", err)
	}
	// Data set: nine arms, two from its mode, two references, two tries. Series: four arms, two
	// tries, a wider box, a pilot. Each Cox process: nine arms and two tries; on a larger grid no
	// tries. Networks: two tunings, three members three times. Joint process: two arms with
	// hyper-parameters, two more data sets, the calibration. Two runs without settings on each
	// target.
	kept, _ := filepath.Glob(filepath.Join(dir, "chains", "*.gob"))
	if want := 2*11 + 2*2 + 2 + 2*5 + 2 + 1 + 2*(2*9+2) + 2*2*9 + 2 + 3*3 + 2*2 + 2 + 1 + 2*2; len(kept) != want {
		t.Errorf("%d chains are kept instead of %d", len(kept), want)
	}
	if rows := strings.Count(string(first["fig2.csv"]), "\n"); rows != 1+2*11 {
		t.Errorf("fig2.csv has %d lines", rows)
	}
	before, _ := os.Stat(kept[0])
	second := read()
	after, _ := os.Stat(kept[0])
	for _, name := range files {
		if !bytes.Equal(first[name], second[name]) {
			t.Errorf("%s differs the second time", name)
		}
	}
	if before.ModTime() != after.ModTime() {
		t.Error("the work was done twice")
	}
}

// TestInterrupted checks that an interrupted program says so, keeps the complete chains and
// continues from there.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	w := small(t, dir)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := figure2(ctx, w); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v", err)
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, "chains", "*")); len(kept) > 0 {
		t.Errorf("there are %v", kept)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []options{{}, {out: t.TempDir(), only: []string{"fig9"}}, {out: t.TempDir(), only: []string{"fig2"}, dataDir: "nowhere"}} {
		if err := run(context.Background(), o); err == nil {
			t.Errorf("%+v passes", o)
		}
	}
}

// TestCompare checks that an interval covers a known ratio, and that the words for it are right.
func TestCompare(t *testing.T) {
	r := compare([]float64{2, 2.2, 1.8, 2.1, 1.9}, []float64{1, 1.1, 0.9, 1, 1}, "test")
	if math.Abs(r.value-2) > 1e-12 || !(r.low < 2 && 2 < r.high) || r.high-r.low > 1 {
		t.Errorf("%v", r)
	}
	for _, c := range []struct {
		r             ratio
		claim, within string // of a band of 1 to 2
	}{
		{ratio{1.5, 1.2, 1.8}, "reproduced", "in the band"},
		{ratio{2.5, 1.9, 3}, "reproduced", "in the band within two standard errors"},
		{ratio{2.5, 2.1, 3}, "reproduced", "above the band"},
		{ratio{0.9, 0.8, 1.1}, "a tie", "in the band within two standard errors"},
		{ratio{0.7, 0.6, 0.8}, "refuted", "below the band"},
	} {
		if got := fmt.Sprint(c.r.claim(), "; ", c.r.within([2]float64{1, 2})); got != c.claim+"; "+c.within {
			t.Errorf("%v: %s", c.r, got)
		}
	}
}
