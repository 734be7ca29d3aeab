package compile_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/compile/internal/proggen"
	"github.com/ppl-lang/ppl/internal/planted"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// radii are the radii of the points compared: chains of posteriors without priors go far.
var radii = []float64{1.2, 8, 300, 1e12}

// agree compares a model with the reference at a few points of growing radii. It returns the first
// disagreement, or else the comparison nearest to the origin.
func agree(t *testing.T, m *compile.Model, seed uint64, points int) *compile.Agreement {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	var first *compile.Agreement
	for k := range points {
		x, radius := make([]float64, m.Dim()), radii[k%len(radii)]
		for i := range x {
			x[i] = radius * (2*rng.Float64() - 1)
		}
		allowed := time.Hour
		if k > 0 { // far from the origin, loops of some programs hardly end
			allowed = time.Second / 5
		}
		a, err := m.Agree(x, rng, allowed)
		if err != nil {
			t.Fatal(err)
		}
		if a.Wrong() {
			return a
		}
		if first == nil {
			first = a
		}
	}
	return first
}

// agreeOutputs compares the outputs at a few points; nil if none can be compared.
func agreeOutputs(t *testing.T, m *compile.Model, seed uint64) (a *compile.Agreement) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 6))
	c, err := m.Comparer()
	if err != nil {
		t.Fatal(err)
	}
	for _, radius := range radii[:3] {
		x := make([]float64, m.Dim())
		for i := range x {
			x[i] = radius * (2*rng.Float64() - 1)
		}
		if a, err = c.Outputs(x, rng, time.Second); err != nil {
			t.Fatal(err)
		}
		if a == nil || a.Wrong() {
			return a
		}
	}
	return a
}

// TestAgreesWithReference checks that there is no false alarm for the programs of the tests and for
// random programs. PPL_RANDOM_PROGRAMS_TO may set the last seed, for more random programs.
func TestAgreesWithReference(t *testing.T) {
	verdicts := map[compile.Verdict]int{}
	sloped, outputs := 0, 0
	check := func(name, text string, set *data.Set, seed uint64, points int) {
		prog, _ := compile.Compile(source.NewFile(name, text))
		if prog == nil {
			return
		}
		m, err := prog.Bind(set, compile.BindOptions{})
		if err != nil {
			return
		}
		a := agree(t, m, seed, points)
		verdicts[a.Verdict]++
		if a.Sloped {
			sloped++
		}
		if a.Wrong() {
			t.Errorf("%s: %v: %+v\n%s", name, a.Verdict, *a, text)
		}
		if a := agreeOutputs(t, m, seed); a != nil {
			outputs += a.Outputs
			if a.Wrong() {
				t.Errorf("%s: %v: %+v\n%s", name, a.Verdict, *a, text)
			}
		}
	}
	for _, pattern := range []string{"testdata/found/*.model", "testdata/functions/*.model"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no programs", err)
		}
		for _, file := range short.Every(3, files) {
			text, set := withData(t, file)
			check(file, text, set, 2, len(radii))
		}
	}
	last := uint64(short.Of(60, 15))
	if s := os.Getenv("PPL_RANDOM_PROGRAMS_TO"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		last = n
	}
	for seed := range last {
		for _, p := range []proggen.Program{proggen.NewModel(seed), proggen.NewStatements(seed)} {
			check("seed "+strconv.FormatUint(seed, 10), p.Text, parsed(t, p.Data), seed, len(radii))
		}
	}
	t.Logf("%v, %d with slopes; %d outputs", verdicts, sloped, outputs)
	if verdicts[compile.Agrees] < short.Of(150, 50) || sloped < short.Of(120, 40) || outputs < 1000 {
		t.Errorf("too few comparisons: %v, %d with slopes, %d outputs", verdicts, sloped, outputs)
	}
}

// TestInfiniteNumbersAreExact checks that a fault is found if the model computes with infinite
// numbers, such as the outer cut points of ordered outcomes. These must not count as rounding that
// hides the fault.
func TestInfiniteNumbersAreExact(t *testing.T) {
	fault := &planted.Fault{Pass: "deduplicate", Change: func(made any) any {
		g := made.(*ad.Graph).Fork()
		g.Outputs[0] = g.Scale(1.001, g.Outputs[0])
		return g
	}}
	for _, text := range []string{
		"parameters { real a; ordered[2] c; } model { 1 ~ ordered_logistic(a, c); 3 ~ ordered_logistic(a, c); c ~ normal(0, 2); a ~ std_normal(); }",
		"parameters { real a; } model { target += log_sum_exp(negative_infinity(), a) - a^2; }",
		"parameters { real a; } model { vector[3] w = [a, negative_infinity(), 1]'; target += normal_lpdf(fmin(positive_infinity(), log_sum_exp(w)) | 0, 1); }",
	} {
		prog, list := compile.Compile(source.NewFile("infinite.stan", text))
		if prog == nil {
			t.Fatal(list)
		}
		for _, faulty := range []bool{false, true} {
			ctx, want := context.Background(), compile.Agrees
			if faulty {
				ctx, want = planted.With(ctx, fault), compile.Differs
			}
			m, err := prog.BindContext(ctx, data.Empty(), compile.BindOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if a := agree(t, m, 1, 1); a.Verdict != want {
				t.Errorf("%s\nwith a fault %v: %+v", text, faulty, *a)
			}
		}
	}
}

// TestCancellation checks that nothing is called wrong if the reference itself has lost its digits.
// Causes are large coordinates that cancel, and probabilities that round to 0 or 1.
func TestCancellation(t *testing.T) {
	for _, c := range []struct {
		text string
		at   func(rng *rand.Rand) []float64
	}{
		{"parameters { real a; real b; } model { target += -0.5 * square(a - b); }", func(rng *rand.Rand) []float64 {
			a := math.Pow(10, 1+12*rng.Float64())
			return []float64{a, a + 2*rng.Float64() - 1}
		}},
		{"parameters { real a; real<lower=0, upper=1> p; } model { target += log1m(inv_logit(a)) + log1m(p); }", func(rng *rand.Rand) []float64 {
			return []float64{45 * rng.Float64(), 45 * rng.Float64()}
		}},
		{"parameters { real a; real<lower=0, upper=1> p; } model { target += log(inv_logit(a)) + log(p); }", func(rng *rand.Rand) []float64 {
			return []float64{-900 * rng.Float64(), -900 * rng.Float64()}
		}},
		{"parameters { simplex[3] p; } model { target += dot_product([1, 3, 2], log(p)); }", func(rng *rand.Rand) []float64 {
			return []float64{50*rng.Float64() - 25, 50*rng.Float64() - 25}
		}},
	} {
		prog, list := compile.Compile(source.NewFile("edge.stan", c.text))
		if prog == nil {
			t.Fatal(list)
		}
		m, err := prog.Bind(parsed(t, "{}"), compile.BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 6))
			x := c.at(rng)
			if a, err := m.Agree(x, rng, time.Hour); err != nil || a.Wrong() {
				t.Fatalf("%s at %v: %v, %+v", c.text, x, err, a)
			}
		}
	}
}

const regression = `
data { int N; vector[N] x; vector[N] y; }
parameters { real a; real b; real<lower=0> s; }
model {
  a ~ normal(0, 2);
  b ~ normal(0, 2);
  s ~ exponential(1);
  for (n in 1:N) y[n] ~ normal(a + b * x[n], s);
}
`

// TestFaultIsNoticed checks that a fault in a pass or in the binder is noticed, and that it is gone
// without the pass or in the reference.
func TestFaultIsNoticed(t *testing.T) {
	prog, _ := compile.Compile(source.NewFile("regression.stan", regression))
	set := parsed(t, `{"N": 4, "x": [1, 2, 3, 4], "y": [1.1, 2.3, 2.9, 4.2]}`)
	scaled := func(factor float64) func(any) any {
		return func(made any) any {
			g := made.(*ad.Graph).Fork()
			g.Outputs[0] = g.Scale(factor, g.Outputs[0])
			return g
		}
	}
	for _, c := range []struct {
		fault   *planted.Fault
		verdict compile.Verdict
		without bool // the fault disappears with its pass
	}{
		{&planted.Fault{Pass: "deduplicate", Change: scaled(0.5)}, compile.Differs, true},
		{&planted.Fault{Pass: "logarithms", Change: scaled(1 + 1e-6)}, compile.Differs, true},
		{&planted.Fault{Pass: "slices", Change: func(made any) any { // of the graph with its gradient
			g := made.(*ad.Graph).Fork()
			g.Outputs[2] = g.Scale(0.9, g.Outputs[2])
			return g
		}}, compile.Slopes, true},
		{&planted.Fault{Pass: planted.Bind, Change: scaled(1.01)}, compile.Differs, false},
		{&planted.Fault{Pass: "slices", Change: func(made any) any {
			g := made.(*ad.Graph).Fork()
			g.Outputs[2] = g.Add(g.Outputs[2], g.Log(g.Const(0)))
			return g
		}}, compile.Slopes, true},
		{&planted.Fault{Pass: "if-convert", Change: func(made any) any {
			g := made.(*ad.Graph).Fork()
			g.Outputs[0] = g.Add(g.Outputs[0], g.Log(g.Sub(g.Const(-1), g.Square(g.Outputs[0]))))
			return g
		}}, compile.Refused, true},
	} {
		m, err := prog.BindContext(planted.With(context.Background(), c.fault), set, compile.BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if a := agree(t, m, 1, 1); a.Verdict != c.verdict {
			t.Errorf("%s: %v, want %v: %+v", c.fault.Pass, a.Verdict, c.verdict, *a)
		}
		if c.without {
			less, err := m.Rebind(context.Background(), set, c.fault.Pass)
			if err != nil {
				t.Fatal(err)
			}
			if a := agree(t, less, 1, 1); a.Verdict != compile.Agrees {
				t.Errorf("without %s: %v", c.fault.Pass, a.Verdict)
			}
		}
		r := m.Reference()
		if a := agree(t, r, 1, 1); a.Verdict != compile.Agrees || !a.Sloped {
			t.Errorf("the reference: %+v", *a)
		}
		x := []float64{0.3, -0.2, 0.1}
		dst := make([]float64, len(r.OutputNames()))
		if err := r.Generate(x, rand.New(rand.NewPCG(1, 1)), dst); err != nil || math.Abs(dst[2]-math.Exp(0.1)) > 1e-15 {
			t.Errorf("outputs of the reference: %v, %v", dst, err)
		}
		if h := make([]float64, 9); r.Hessian(x, h) != nil {
			t.Error("the reference has no second derivatives")
		}
	}
}

// TestAgreeEndsInTime checks that a comparison ends when its time is over, and reports this. A
// short program is compared in any case.
func TestAgreeEndsInTime(t *testing.T) {
	prog, _ := compile.Compile(source.NewFile("regression.stan", regression))
	for _, c := range []struct {
		values  string
		verdict compile.Verdict
	}{
		{`{"N": 1, "x": [1], "y": [1]}`, compile.Agrees},
		{fmt.Sprintf(`{"N": 50000, "x": [%s1], "y": [%[1]s1]}`, strings.Repeat("1,", 49999)), compile.TooLong},
	} {
		m, err := prog.Bind(parsed(t, c.values), compile.BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := m.Agree(make([]float64, 3), rand.New(rand.NewPCG(1, 1)), -1)
		if err != nil || a.Verdict != c.verdict || a.Sloped {
			t.Errorf("%+v, %v", a, err)
		}
	}
}

// TestSuspicionIsFollowed checks that a suspicious comparison continues to the end even if the time
// is over.
func TestSuspicionIsFollowed(t *testing.T) {
	prog, _ := compile.Compile(source.NewFile("regression.stan", regression))
	set := parsed(t, fmt.Sprintf(`{"N": 3000, "x": [%s1], "y": [%[1]s1.5]}`, strings.Repeat("1,", 2999)))
	for _, c := range []struct {
		change  func(g *ad.Graph)
		verdict compile.Verdict
	}{
		{func(g *ad.Graph) { g.Outputs[0] = g.Scale(1+1e-6, g.Outputs[0]) }, compile.Differs},
		{func(g *ad.Graph) {}, compile.Agrees},
	} {
		fault := &planted.Fault{Pass: "reductions", Change: func(made any) any {
			g := made.(*ad.Graph).Fork()
			c.change(g)
			return g
		}}
		m, err := prog.BindContext(planted.With(context.Background(), fault), set, compile.BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, allowed := range []time.Duration{-1, 200 * time.Microsecond, time.Millisecond, 5 * time.Millisecond, time.Hour} {
			a, err := m.Agree([]float64{0.3, -0.2, 0.4}, rand.New(rand.NewPCG(1, 1)), allowed)
			if err != nil || a.Verdict != c.verdict && a.Verdict != compile.TooLong || allowed == time.Hour && (a.Verdict != c.verdict || a.Verdict == compile.Agrees && (!a.Sloped || a.Evaluations != 2)) {
				t.Errorf("%v allowed, want %v: %+v, %v", allowed, c.verdict, a, err)
			}
		}
	}
}

// TestComparisonStopsAnywhere checks that a comparison that is stopped ends with the error of the
// stop function, wherever it is. That includes the derivatives in the reference's solvers of stiff
// equations.
func TestComparisonStopsAnywhere(t *testing.T) {
	text, values, err := contest.EverydayModel{Name: "everyday/stiff_reaction"}.Read("..")
	if err != nil {
		t.Fatal(err)
	}
	m := bound(t, "stiff_reaction", text, parsed(t, values))
	x := make([]float64, m.Dim())
	stop, calls, most := errors.New("stop"), 0, math.MaxInt
	m.SetStop(func() error {
		if calls++; calls > most {
			return stop
		}
		return nil
	})
	if a, err := m.Agree(x, rand.New(rand.NewPCG(1, 1)), time.Hour); err != nil || a.Verdict != compile.Agrees || calls < 20 {
		t.Fatal(calls, err)
	}
	for all, k := calls, 0; k < all; k++ {
		calls, most = 0, k
		if a, err := m.Agree(x, rand.New(rand.NewPCG(1, 1)), time.Hour); !errors.Is(err, stop) {
			t.Fatalf("stopped after %d calls: %+v, %v", k, a, err)
		}
	}
}

// TestIteratedMap checks that no slope is called wrong if the log density oscillates at a shorter
// scale than the step size of the differences.
func TestIteratedMap(t *testing.T) {
	prog, _ := compile.Compile(source.NewFile("map.stan", "data { int N; } parameters { real a; } model { real m = a; for (n in 1:N) m = log(0.1 + square(m)); target += m; }"))
	for n := 8; n < 40; n += 4 {
		m, err := prog.Bind(parsed(t, fmt.Sprintf(`{"N": %d}`, n)), compile.BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 7))
			if a, err := m.Agree([]float64{2*rng.Float64() - 1}, rng, time.Hour); err != nil || a.Wrong() {
				t.Fatalf("%d iterations: %+v, %v", n, a, err)
			}
		}
	}
}

// TestAgreePart checks a program whose reference takes too long. The statements before the long one
// are still compared, and a fault in them is noticed.
func TestAgreePart(t *testing.T) {
	prog, _ := compile.Compile(source.NewFile("regression.stan", regression))
	set := parsed(t, fmt.Sprintf(`{"N": 200000, "x": [%s1], "y": [%[1]s1]}`, strings.Repeat("1,", 199999)))
	scaled := func(made any) any {
		g := made.(*ad.Graph).Fork()
		g.Outputs[0] = g.Scale(1.01, g.Outputs[0])
		return g
	}
	for _, c := range []struct {
		fault   *planted.Fault
		verdict compile.Verdict
	}{{nil, compile.Agrees}, {&planted.Fault{Pass: "reductions", Change: scaled}, compile.Differs}} {
		ctx := planted.With(context.Background(), c.fault)
		m, err := prog.BindContext(ctx, set, compile.BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, share, err := m.AgreePart(ctx, set, []float64{0.1, 0.2, 0.3}, rand.New(rand.NewPCG(1, 1)), 8*time.Millisecond)
		if err != nil || a == nil || a.Verdict != c.verdict || share != 0.75 {
			t.Errorf("%+v of %v, %v", a, share, err)
		}
	}
}
