package criticise

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
)

// The sizes of the data and draws that testdata/reference.R uses.
const (
	refChains, refLength, refN = 4, 250, 12
)

func refData() []float64 {
	y := make([]float64, refN)
	for i := range y {
		y[i] = 2 * math.Sin(3*float64(i+1))
	}
	y[6] += 6
	return y
}

func refDraw(s, a float64) float64 { return math.Sin(a*s) + 0.5*math.Sin(0.05*s+a) }

func refLogLik(model int) *Matrix {
	y := refData()
	m := NewMatrix([]int{refLength, refLength, refLength, refLength}, refN)
	mf := float64(model)
	for row := range m.Draws() {
		s := float64(row + 1)
		mu, sigma, slope := 0.4*refDraw(s, 1.7+mf), math.Exp(0.3+0.25*refDraw(s, 2.9+mf)), 0.0
		if model != 1 {
			slope = 0.1 * mf * refDraw(s, 4.1)
		}
		if model == 3 {
			sigma *= 1.2
		}
		for i := range y {
			z := (y[i] - mu - slope*(float64(i+1)-6.5)) / sigma
			m.Columns[i][row] = -0.5*z*z - math.Log(sigma) - 0.5*math.Log(2*math.Pi)
		}
	}
	return m
}

type reference struct {
	Models []struct {
		Reff, ELPD, P, K, ESS, MCSE, PIT, Sum, ELPD1, WAIC, PWAIC []float64
	}
	Order                         []string
	Diff, SE, Stacking, PseudoBMA []float64
}

func readReference(t *testing.T) reference {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// near compares slices with a tolerance of 1e-8, relative for large numbers.
func near(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", name, len(got), len(want))
		return
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-8*max(1, math.Abs(want[i]))) {
			t.Errorf("%s[%d] = %.15g, want %.15g", name, i, got[i], want[i])
		}
	}
}

// TestReference compares results with those of R's packages loo 2.5.1 and posterior 1.4.0, which
// are in testdata/reference.json.
func TestReference(t *testing.T) {
	ref := readReference(t)
	var pointwise [][]float64
	for k, want := range ref.Models {
		m := refLogLik(k + 1)
		near(t, "efficiency", m.Efficiency(), want.Reff)
		r, err := CrossValidate(m, m.Efficiency())
		if err != nil {
			t.Fatal(err)
		}
		near(t, "elpd", r.ELPD, want.ELPD)
		near(t, "p", r.P, want.P)
		near(t, "k", r.K, want.K)
		near(t, "ess", r.ESS, want.ESS)
		near(t, "mcse", r.MCSE, want.MCSE)
		near(t, "waic", r.WAIC, want.WAIC)
		near(t, "p waic", r.PWAIC, want.PWAIC)
		elpd, p := Sum(r.ELPD), Sum(r.P)
		near(t, "sums", []float64{elpd.Value, p.Value, -2 * elpd.Value, elpd.SE, p.SE, 2 * elpd.SE}, want.Sum)
		if bad := r.Bad(); !slices.Contains(bad, 6) || bad[0] != 6 {
			t.Errorf("bad observations: %v", bad)
		}

		// The same draw by draw, as if the draws were independent.
		l, err := NewLOO(m.Draws(), refN, nil)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float64, refN)
		for s := range m.Draws() {
			for i := range row {
				row[i] = m.Columns[i][s]
			}
			if err := l.Add(row); err != nil {
				t.Fatal(err)
			}
		}
		if r, err = l.Finish(); err != nil {
			t.Fatal(err)
		}
		near(t, "elpd of independent draws", r.ELPD, want.ELPD1)
		pointwise = append(pointwise, r.ELPD)
	}
	c, err := Compare(pointwise)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range c {
		if want := int(ref.Order[i][len("model")] - '1'); m.Model != want {
			t.Errorf("place %d: model %d, want %d", i, m.Model, want)
		}
		near(t, "difference", []float64{m.Diff.Value, m.Diff.SE}, []float64{ref.Diff[i], ref.SE[i]})
	}
	near(t, "pseudo-BMA", PseudoBMA(pointwise), ref.PseudoBMA)
}

// TestStacking checks that stacking weights are at least as good as those of R's optimiser, and
// that they maximise the score.
func TestStacking(t *testing.T) {
	ref := readReference(t)
	score := func(pointwise [][]float64, w []float64) float64 {
		sum := 0.0
		for i := range pointwise[0] {
			mix := 0.0
			for k, p := range pointwise {
				mix += w[k] * math.Exp(p[i])
			}
			sum += math.Log(mix)
		}
		return sum
	}
	pointwise := [][]float64{ref.Models[0].ELPD1, ref.Models[1].ELPD1, ref.Models[2].ELPD1}
	w := Stacking(pointwise)
	if got, want := score(pointwise, w), score(pointwise, ref.Stacking); !(got >= want-1e-10) {
		t.Errorf("score %.12g of %v, and %.12g of R's %v", got, w, want, ref.Stacking)
	}
	for k := range w {
		if math.Abs(w[k]-ref.Stacking[k]) > 1e-4 { // R's optimiser is no more accurate
			t.Errorf("weights %v, R's %v", w, ref.Stacking)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		models, n := 2+rng.IntN(6), 5+rng.IntN(200)
		pointwise := make([][]float64, models)
		for k := range pointwise {
			for range n {
				pointwise[k] = append(pointwise[k], 3*rng.NormFloat64())
			}
		}
		w := Stacking(pointwise)
		sum := 0.0
		for _, v := range w {
			sum += v
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("weights sum to %v", sum)
		}
		// At a maximum, the conditions of Karush, Kuhn and Tucker hold.
		for k := range w {
			g := 0.0
			for i := range n {
				mix := 0.0
				for m := range w {
					mix += w[m] * math.Exp(pointwise[m][i])
				}
				g += math.Exp(pointwise[k][i]) / mix / float64(n)
			}
			if g > 1+1e-7 || w[k] > 1e-6 && g < 1-1e-7 {
				t.Errorf("%d models: weight %v with derivative %v", models, w[k], g)
			}
		}
	}
	if w := Stacking([][]float64{{1, 2}, {1, 2}}); math.Abs(w[0]+w[1]-1) > 1e-12 {
		t.Errorf("equal models: %v", w)
	}
}

// TestAdjust checks that efficiencies give the same result whether they are known before or after.
// The tails must have the same length for that; with few draws, it is always a fifth of them.
func TestAdjust(t *testing.T) {
	whole := refLogLik(2)
	m := &Matrix{Chains: []int{100}}
	for _, c := range whole.Columns {
		m.Columns = append(m.Columns, c[:100])
	}
	efficiency := make([]float64, len(m.Columns))
	for i := range efficiency {
		efficiency[i] = 0.1 + 0.05*float64(i)
	}
	want, err := CrossValidate(m, efficiency)
	if err != nil {
		t.Fatal(err)
	}
	got, err := CrossValidate(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	got.Adjust(efficiency)
	near(t, "elpd", got.ELPD, want.ELPD)
	near(t, "mcse", got.MCSE, want.MCSE)
	near(t, "ess", got.ESS, want.ESS)
	near(t, "efficiency", got.Efficiency, want.Efficiency)
}

// TestDegenerate checks that estimates that do not exist are NaN and are listed as bad.
func TestDegenerate(t *testing.T) {
	m := NewMatrix([]int{100, 100}, 4)
	rng := rand.New(rand.NewPCG(1, 2))
	for s := range m.Draws() {
		m.Columns[0][s] = -1 - 0.1*rng.NormFloat64()
		m.Columns[1][s] = math.NaN()
		m.Columns[2][s] = math.Inf(-1)
		m.Columns[3][s] = -2
	}
	m.Columns[0][7] = math.Inf(-1) // impossible at one draw
	r, err := CrossValidate(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(r.ELPD[0], -1) || !math.IsNaN(r.ELPD[1]) || !math.IsNaN(r.ELPD[2]) || r.ELPD[3] != -2 {
		t.Errorf("elpd %v", r.ELPD)
	}
	if r.MCSE[3] > 1e-7 || math.Abs(r.P[3]) > 1e-12 {
		t.Errorf("a constant: %v, %v", r.MCSE[3], r.P[3])
	}
	if bad := r.Bad(); !slices.Contains(bad, 0) || !slices.Contains(bad, 1) || !slices.Contains(bad, 2) || slices.Contains(bad, 3) {
		t.Errorf("bad: %v", bad)
	}
	if _, err := Compare([][]float64{{1}, {1, 2}}); err == nil {
		t.Error("different numbers of observations are compared")
	}
	if _, err := Compare([][]float64{{1, 2}, {1, math.NaN()}}); err == nil {
		t.Error("NaN is compared")
	}
}

func BenchmarkLOO(b *testing.B) {
	const draws, n = 4000, 100000
	l, err := NewLOO(draws, n, nil)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	row := make([]float64, n)
	for i := range row {
		row[i] = rng.NormFloat64()
	}
	b.ResetTimer()
	for s := range b.N {
		if l.seen == draws {
			b.Skip()
		}
		for i := range row {
			row[i] += 0.01 * float64(s%7-3)
		}
		if err := l.Add(row); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMemory checks that cross-validation draw by draw stores only the tails, which take less than
// a tenth of the memory of the matrix.
func TestMemory(t *testing.T) {
	const draws, n = 4000, 3000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l, err := NewLOO(draws, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, n)
	for s := range 400 {
		for i := range row {
			row[i] = -1 - 0.3*math.Sin(float64(s*i))
		}
		if err := l.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	used := float64(after.TotalAlloc - before.TotalAlloc)
	if used > float64(1.1*n)*float64(LOOBytes(draws)) || used > 0.1*8*draws*n {
		t.Errorf("%v bytes for %d observations", used, n)
	}
	runtime.KeepAlive(l)
}

// TestPIT compares LOO-PIT with R: it is the sum of loo's weights of the replications that do not
// exceed the observation.
func TestPIT(t *testing.T) {
	y := refData()
	for k, want := range readReference(t).Models {
		model := k + 1
		m := refLogLik(model)
		efficiency := m.Efficiency()
		var got []float64
		for i := range y {
			yrep := make([]float64, m.Draws())
			for s := range yrep {
				n := float64(s + 1)
				yrep[s] = 0.4*refDraw(n, 1.7+float64(model)) + math.Exp(0.3+0.25*refDraw(n, 2.9+float64(model)))*refDraw(n, 0.37*float64(i+1))
			}
			w, shape := Weights(m.Columns[i], efficiency[i])
			if math.Abs(shape-want.K[i]) > 1e-8 {
				t.Errorf("k = %v, want %v", shape, want.K[i])
			}
			_, upTo := PIT(y[i], yrep, w)
			got = append(got, upTo)
		}
		near(t, "PIT", got, want.PIT)
	}
	below, upTo := PIT(2, []float64{1, 2, 2, 3}, nil)
	if below != 0.25 || upTo != 0.75 {
		t.Errorf("a discrete PIT from %v to %v", below, upTo)
	}
	if c := Coverage([]float64{0.1, 0.4, 0.6, 0.9}, 0.5); c != 0.5 {
		t.Errorf("coverage %v", c)
	}
}

func TestDescribe(t *testing.T) {
	dst := make([]float64, 8)
	Describe([]float64{4, 0, 2, 0, 9}, dst)
	want := []float64{3, math.Sqrt(56. / 4), 0, 0, 2, 4, 9, 0.4}
	for i := range want {
		if math.Abs(dst[i]-want[i]) > 1e-12 {
			t.Errorf("%s is %v, want %v", Statistics(true)[i], dst[i], want[i])
		}
	}
	c := NewCheck("mean", 3, []float64{1, 2, 3, 3, 4, math.NaN()})
	if c.P != 0.4 || c.Mean != 2.6 || c.Q50 != 3 {
		t.Errorf("%+v", c)
	}
}

// TestUniform checks that about one in twenty uniform samples leaves the band and has P below 0.05,
// and that nearly all samples that are not uniform do.
func TestUniform(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const repeats, n = 200, 60
	small := 0
	for range repeats {
		values := make([]float64, n)
		for i := range values {
			values[i] = rng.Float64()
		}
		u := Uniform(values, rng)
		outside := false
		for i, d := range u.Difference {
			outside = outside || d < u.Lower[i]-1e-12 || d > u.Upper[i]+1e-12
		}
		if u.P < 0.05 {
			small++
		}
		if outside != (u.P < 0.05) && math.Abs(u.P-0.05) > 0.01 {
			t.Errorf("P = %v, outside the band: %t", u.P, outside)
		}
	}
	// 10 are expected; more than 22 have a probability of 2e-4.
	if small < 1 || small > 22 {
		t.Errorf("%d of %d uniform samples have P < 0.05", small, repeats)
	}
	for name, f := range map[string]func(u float64) float64{
		"narrow": func(u float64) float64 { return 0.5 + (u-0.5)*0.6 },
		"high":   func(u float64) float64 { return math.Sqrt(u) },
		"ends":   func(u float64) float64 { return 0.5 + 0.5*math.Cbrt(2*u-1) },
	} {
		values := make([]float64, 200)
		for i := range values {
			values[i] = f(rng.Float64())
		}
		if u := Uniform(values, rng); u.P > 0.01 {
			t.Errorf("%s: P = %v", name, u.P)
		}
	}
	if u := Uniform(nil, rng); !math.IsNaN(u.P) {
		t.Errorf("no values: P = %v", u.P)
	}
}

// TestPowerScale compares with the closed form of power-scaling for a normal mean with a normal
// prior.
func TestPowerScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 4000
	run := func(priorSD, dataSD, y float64) (prior, likelihood float64) {
		precision := 1/(priorSD*priorSD) + 1/(dataSD*dataSD)
		mean, sd := y/(dataSD*dataSD)/precision, 1/math.Sqrt(precision)
		x, lp, ll := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = mean + sd*rng.NormFloat64()
			lp[i] = -x[i] * x[i] / (2 * priorSD * priorSD)
			ll[i] = -(x[i] - y) * (x[i] - y) / (2 * dataSD * dataSD)
		}
		p, err := PowerScale(lp, [][]float64{x})
		if err != nil {
			t.Fatal(err)
		}
		l, err := PowerScale(ll, [][]float64{x})
		if err != nil {
			t.Fatal(err)
		}
		return p.Sensitivity[0], l.Sensitivity[0]
	}
	if p, l := run(100, 1, 1); p > 0.01 || l < SensitivityLimit {
		t.Errorf("a weak prior: %v, %v", p, l)
	}
	if p, l := run(1, 100, 1); p < SensitivityLimit || l > 0.01 {
		t.Errorf("a weak likelihood: %v, %v", p, l)
	}
	if p, l := run(1, 1, 8); p < 5*SensitivityLimit || l < 5*SensitivityLimit {
		t.Errorf("a conflict: %v, %v", p, l)
	}
	if p, _ := run(1, 1, 0); p > 2*SensitivityLimit*3 {
		t.Errorf("agreement: %v", p)
	}
	if _, err := PowerScale([]float64{1, math.NaN()}, nil); err == nil {
		t.Error("NaN is no error")
	}
	// The distance of a sample from itself is 0, and distances do not depend on location and scale.
	x, w := []float64{3, 1, 2, 5}, []float64{0.4, 0.3, 0.2, 0.1}
	if d := Distance(x, []float64{0.25, 0.25, 0.25, 0.25}); d != 0 {
		t.Errorf("distance from itself %v", d)
	}
	scaled := []float64{-6 + 1, -2 + 1, -4 + 1, -10 + 1}
	if a, b := Distance(x, w), Distance(scaled, w); math.Abs(a-b) > 1e-12 || a == 0 {
		t.Errorf("distances %v, %v", a, b)
	}
}

func TestFolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	whole := func(name string, folds []Fold, n int) {
		t.Helper()
		seen := make([]int, n)
		for _, f := range folds {
			if len(f.Train)+len(f.Test) != n {
				t.Errorf("%s: %d and %d of %d", name, len(f.Train), len(f.Test), n)
			}
			for _, i := range f.Test {
				seen[i]++
			}
		}
		if slices.ContainsFunc(seen, func(c int) bool { return c != 1 }) {
			t.Errorf("%s: observations are predicted %v times", name, seen)
		}
	}
	folds, err := RandomFolds(11, 4, rng)
	if err != nil || len(folds) != 4 {
		t.Fatal(err)
	}
	whole("random", folds, 11)
	groups := [][]int{{0, 3}, {1, 2, 4}, {5}}
	if folds, err = GroupedFolds(groups, 0, rng); err != nil || !slices.Equal(folds[1].Test, []int{1, 2, 4}) {
		t.Fatal(folds, err)
	}
	whole("groups", folds, 6)
	if folds, err = GroupedFolds(groups, 2, rng); err != nil || len(folds) != 2 {
		t.Fatal(folds, err)
	}
	whole("folds of groups", folds, 6)
	if folds, err = FutureFolds([]float64{5, 1, 2, 2, 3, 4}, 2, 0.4); err != nil {
		t.Fatal(err)
	}
	// Times 1, 2, 2 come first, since observations at the same time stay together.
	if len(folds) != 2 || !slices.Equal(folds[0].Train, []int{1, 2, 3}) || !slices.Equal(folds[0].Test, []int{4}) || !slices.Equal(folds[1].Test, []int{0, 5}) {
		t.Errorf("future: %v", folds)
	}
	for _, err := range []error{
		func() error { _, err := RandomFolds(3, 4, rng); return err }(),
		func() error { _, err := RandomFolds(3, 1, rng); return err }(),
		func() error { _, err := GroupedFolds(groups, 4, rng); return err }(),
		func() error { _, err := FutureFolds([]float64{1, 1, 1}, 2, 0.5); return err }(),
	} {
		if err == nil {
			t.Error("impossible folds are no error")
		}
	}
}

// TestFarthest checks which share of the numbers is stated: that at the point of the largest
// deviation, on either side.
func TestFarthest(t *testing.T) {
	for _, test := range []struct {
		u            *Uniformity
		point, share float64
	}{
		{nil, math.NaN(), math.NaN()},
		{&Uniformity{}, math.NaN(), math.NaN()},
		{&Uniformity{Points: []float64{0.5}, Difference: []float64{0.25}}, 0.5, 0.75},
		{&Uniformity{Points: []float64{0.25, 0.75}, Difference: []float64{0.125, -0.25}}, 0.75, 0.5},
		{&Uniformity{Points: []float64{0.25, 0.75}, Difference: []float64{0.25, -0.125}}, 0.25, 0.5},
	} {
		point, share := test.u.Farthest()
		if same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }; !same(point, test.point) || !same(share, test.share) {
			t.Errorf("%+v: %v of the numbers are below %v", test.u, share, point)
		}
	}
}
