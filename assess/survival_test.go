package assess_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
)

// lifetimes are models of the same times: exponential with mean 1, whatever the parameter is. The
// first has one column of times, the second has those observed and those censored in two.
const (
	lifetimes = `data { int N; array[N] int event; array[N] int g; vector[N] y; } parameters { real a; }
model { a ~ std_normal(); for (n in 1:N) if (event[n] == 1) y[n] ~ exponential(1); else target += exponential_lccdf(y[n] | 1); }`
	lifetimesApart = `data { int N; int M; vector[N] y; vector[M] c; } parameters { real a; }
model { a ~ std_normal(); y ~ exponential(1); target += exponential_lccdf(c | exp(0 * a)); }`
)

// lives draws n times with the given mean, censored at 0.3 to 1.8.
func lives(n int, mean float64, seed uint64) (y []float64, event, g []int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		t, limit := mean*rng.ExpFloat64(), 0.3+1.5*rng.Float64()
		y, event, g = append(y, min(t, limit)), append(event, 0), append(g, i%2+1)
		if t < limit {
			event[i] = 1
		}
	}
	return y, event, g
}

// TestSurvival checks curves of a model whose survival function is known: predictions are that
// function where censoring leaves it, and the p-values of right data are uniform.
func TestSurvival(t *testing.T) {
	var p []float64
	for seed := range uint64(40) {
		y, event, g := lives(60, 1, seed+1)
		r, err := priorChecks(t, lifetimes, map[string]any{"N": len(y), "y": y, "event": event, "g": g}, assess.PredictiveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		v := r.Variables[0]
		if v.Survival == nil || len(v.Survival.Curves) != 1 || len(v.Checks) > 0 || len(r.Left) > 0 {
			t.Fatalf("%+v, left out: %v", v, r.Left)
		}
		c := v.Survival.Curves[0]
		events := 0
		for _, e := range event {
			events += e
		}
		if c.Rows != len(y) || c.Events != events {
			t.Errorf("%d events of %d, want %d of %d", c.Events, c.Rows, events, len(y))
		}
		for _, point := range c.Points {
			if want := math.Exp(-point.Time); point.AtRisk > 20 && math.Abs(point.Check.Mean-want) > 0.02 {
				t.Errorf("predicted survival at %v is %v, want %v", point.Time, point.Check.Mean, want)
			}
		}
		p = append(p, v.Survival.P)
	}
	low, mean := 0, 0.0
	for _, x := range p {
		if x < 0.1 {
			low++
		}
		mean += x / float64(len(p))
	}
	// 10 % of 40 are below 0.1, with a standard deviation of 1.9; the mean is 0.5 ± 0.046.
	if low > 12 || math.Abs(mean-0.5) > 0.2 {
		t.Errorf("%d of %d p-values are below 0.1, and their mean is %v: %v", low, len(p), mean, p)
	}
}

// TestSurvivalOfGroups checks that curves are made for each group, and that a group with other
// times is found.
func TestSurvivalOfGroups(t *testing.T) {
	y, event, g := lives(200, 1, 3)
	longer, laterEvent, _ := lives(200, 4, 4)
	for i := range y {
		if g[i] == 2 {
			y[i], event[i] = longer[i], laterEvent[i]
		}
	}
	r, err := priorChecks(t, lifetimes, map[string]any{"N": len(y), "y": y, "event": event, "g": g}, assess.PredictiveOptions{By: []string{"g"}})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Variables[0].Survival
	if len(s.Curves) != 2 || s.Curves[0].By[0].Label != "1" || s.Curves[0].Rows != 100 {
		t.Fatalf("%+v", s.Curves)
	}
	odd := s.Odd()
	if len(odd) != 1 || odd[0].By[0].Value != 2 || s.P > 0.01 {
		t.Errorf("deviating: %+v, p = %v", odd, s.P)
	}
	text := ""
	for _, f := range r.Findings() {
		text += f.Code + ": " + f.Summary
	}
	if !strings.Contains(text, "prior-survival: ") || !strings.Contains(text, "g 2 at ") {
		t.Error(text)
	}
}

// TestSurvivalApart checks times that are in two variables, one of them censored as a whole.
func TestSurvivalApart(t *testing.T) {
	y, event, _ := lives(80, 1, 5)
	var seen, censored []float64
	for i, e := range event {
		if e == 1 {
			seen = append(seen, y[i])
		} else {
			censored = append(censored, y[i])
		}
	}
	r, err := priorChecks(t, lifetimesApart, map[string]any{"N": len(seen), "M": len(censored), "y": seen, "c": censored}, assess.PredictiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Variables) != 1 || r.Variables[0].Name != "y, c" || r.Variables[0].Survival.Curves[0].Events != len(seen) {
		t.Fatalf("%+v", r.Variables)
	}
	// No curve where nothing is known of the times of events.
	r, err = priorChecks(t, strings.Replace(lifetimesApart, "y ~ exponential(1); ", "", 1),
		map[string]any{"N": 0, "M": len(censored), "y": []float64{}, "c": censored}, assess.PredictiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Variables) != 1 || !r.Variables[0].Partial {
		t.Errorf("%+v", r.Variables)
	}
	// Values known only from above, such as those below a limit of detection, have shares below.
	y, event, g := lives(20, 1, 6)
	r, err = priorChecks(t, strings.Replace(lifetimes, "lccdf", "lcdf", 1), map[string]any{"N": 20, "y": y, "event": event, "g": g}, assess.PredictiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Variables[0]; v.Partial || v.Survival == nil || !v.Survival.Below {
		t.Errorf("%+v", v)
	}
}

// TestCounts compares the frequencies of counts with the probabilities of their distribution.
func TestCounts(t *testing.T) {
	const text = `data { int N; array[N] int y; } parameters { real a; } model { a ~ std_normal(); y ~ poisson(4); }`
	const n = 100
	rng := rand.New(rand.NewPCG(1, 2))
	y := make([]int, n)
	for i := range y {
		for s := rng.ExpFloat64(); s < 4; s += rng.ExpFloat64() {
			y[i]++
		}
	}
	counts := func(y []int) *assess.Counts {
		t.Helper()
		r, err := priorChecks(t, text, map[string]any{"N": len(y), "y": y}, assess.PredictiveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Variables) == 0 {
			return nil
		}
		return r.Variables[0].Frequencies
	}
	c := counts(y)
	probability := math.Exp(-4)
	observed, expected := 0.0, 0.0
	for k, class := range c.Classes {
		observed, expected = observed+class.Check.Observed, expected+class.Check.Mean
		if math.IsInf(class.High, 1) {
			continue
		}
		if want := n * probability; class.Low != float64(k) || class.High != class.Low || math.Abs(class.Check.Mean-want) > 5*math.Sqrt(want/8000)+0.01 {
			t.Errorf("class %d: %+v, want %v rows", k, class, want)
		}
		probability *= 4 / float64(k+1)
	}
	if observed != n || math.Abs(expected-n) > 1e-9 || c.Odd() != nil || c.P < 0.01 {
		t.Errorf("%v observed and %v expected rows, deviating %v, p = %v", observed, expected, c.Odd(), c.P)
	}
	// One value far too often.
	for i := range 30 {
		y[i] = 7
	}
	if odd := counts(y).Odd(); len(odd) == 0 || odd[0].Name() != "7" {
		t.Errorf("deviating: %+v", odd)
	}
	// Wide ranges are in classes, with the values beyond; two values have none.
	for i := range y {
		y[i] = 100 + i
	}
	c = counts(y)
	if first, last := c.Classes[0], c.Classes[len(c.Classes)-1]; first.Name() != "98 or less" && first.Name() != "99 or less" || len(c.Classes) > 14 || last.Check.Observed == 0 {
		t.Errorf("%v to %v, %d classes", first.Name(), last.Name(), len(c.Classes))
	}
	for _, few := range [][]int{{}, {3}, {0, 1, 2}, slices.Repeat([]int{0, 1}, 20), append(slices.Repeat([]int{0, 1}, 14), 2)} {
		if c := counts(few); c != nil {
			t.Errorf("%v: %+v", few, c)
		}
	}
	if c := counts(append(slices.Repeat([]int{0, 1}, 14), 2, 2)); c == nil || c.Classes[0].Name() != "0" || c.Classes[0].Check.Observed != 14 {
		t.Errorf("%+v", c)
	}
}

// TestDistributionBelow checks that values censored from below have the curves of the negated
// values, which are censored from above.
func TestDistributionBelow(t *testing.T) {
	const text = `data { int N; array[N] int cens; vector<censored=cens>[N] y; } parameters { real a; } model { a ~ std_normal(); y ~ normal(0, 1); }`
	rng := rand.New(rand.NewPCG(7, 1))
	const n = 60
	right, left := map[string]any{"N": n}, map[string]any{"N": n}
	var y, negated []float64
	var cens, other []int
	for range n {
		x, limit, side := rng.NormFloat64(), 1.5*rng.Float64(), 0
		if x > limit {
			x, side = limit, 1
		}
		y, negated, cens, other = append(y, x), append(negated, -x), append(cens, side), append(other, -side)
	}
	right["y"], right["cens"], left["y"], left["cens"] = y, cens, negated, other
	above, err := posteriorChecks(t, text, right, assess.PredictiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	below, err := posteriorChecks(t, text, left, assess.PredictiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := above.Variables[0].Survival, below.Variables[0].Survival
	if a == nil || b == nil || a.Below || !b.Below || len(a.Curves[0].Points) != len(b.Curves[0].Points) || a.Curves[0].Events != b.Curves[0].Events {
		t.Fatalf("%+v and %+v", a, b)
	}
	points := b.Curves[0].Points
	for k, p := range a.Curves[0].Points {
		q := points[len(points)-1-k]
		if q.Time != -p.Time || q.AtRisk != p.AtRisk || q.Check.Observed != p.Check.Observed || math.Abs(q.Check.Mean-p.Check.Mean) > 0.02 {
			t.Errorf("at %v: %+v, and for negated values %+v", p.Time, p, q)
		}
	}
	if len(below.Variables[0].PIT) != n || below.Variables[0].Uniform.P < 0.001 {
		t.Errorf("LOO-PIT: %+v", below.Variables[0].Uniform)
	}
}

// TestIntervalPIT checks that the LOO-PIT of a value in an interval is between those of its ends.
func TestIntervalPIT(t *testing.T) {
	const text = `data { int N; vector[N] hi; vector<censored_to=hi>[N] lo; } parameters { real a; } model { a ~ std_normal(); lo ~ normal(0, 1); }`
	lo := []float64{-1, 0.5, math.Inf(-1), 0, 0.3}
	hi := []float64{0, math.Inf(1), -0.7, 0.1, 0.3}
	p, err := posteriorChecks(t, text, map[string]any{"N": len(lo), "lo": lo, "hi": hi}, assess.PredictiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v := p.Variables[0]
	if v.Partial || v.Survival != nil || len(v.PIT) != len(lo) {
		t.Fatalf("%+v", v)
	}
	phi := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	for i, ends := range [][2]float64{{phi(-1), phi(0)}, {phi(0.5), 1}, {0, phi(-0.7)}, {phi(0), phi(0.1)}, {phi(0.3), phi(0.3)}} {
		if u := v.PIT[i]; u < ends[0]-0.05 || u > ends[1]+0.05 {
			t.Errorf("the LOO-PIT of value %d is %v, want one between %v and %v", i+1, u, ends[0], ends[1])
		}
	}
}
