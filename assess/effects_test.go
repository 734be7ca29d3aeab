package assess_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
)

const patients = `data { int N; int J; vector[N] age; array[N] int sex; array[N] int<lower=1, upper=J> ward; array[N] int<lower=0, upper=1> y; }
parameters { real a; real b; real c; vector[J] u; }
model {
  a ~ std_normal(); b ~ std_normal(); c ~ std_normal(); u ~ std_normal();
  for (n in 1:N) y[n] ~ bernoulli_logit(a + b * age[n] + c * sex[n] + u[ward[n]]);
}`

var (
	ages  = []float64{-1.5, -0.5, 0.25, 1, 2, 0.75, -1, 0}
	sexes = []int{0, 1, 0, 1, 1, 0, 1, 0}
	wards = []int{1, 2, 3, 1, 2, 3, 1, 2}
)

func fitOf(t *testing.T, text string, values map[string]any) *fit.Fit {
	t.Helper()
	return sampled(t, text, values, fit.Options{Seed: 1, Draws: 60, Warmup: 200, Chains: 2})
}

// sampled samples a model.
func sampled(t *testing.T, text string, values map[string]any, o fit.Options) *fit.Fit {
	t.Helper()
	m, err := model.Compile("m", text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func patientsFit(t *testing.T) *fit.Fit {
	return fitOf(t, patients, map[string]any{"N": 8, "J": 3, "age": ages, "sex": sexes, "ward": wards, "y": []int{0, 1, 0, 1, 1, 1, 0, 0}})
}

// byHand computes a function of the parameters a, b, c and u at every draw.
func byHand(f *fit.Fit, value func(a, b, c float64, u []float64) float64) []float64 {
	at := func(name string) int { return slices.Index(f.Draws.Names(), name) }
	var out []float64
	for chain := range f.Draws.Chains() {
		for d := range f.Draws.Len(chain) {
			_, row := f.Draws.Draw(chain, d)
			out = append(out, value(row[at("a")], row[at("b")], row[at("c")], []float64{row[at("u.1")], row[at("u.2")], row[at("u.3")]}))
		}
	}
	return out
}

// averageOf returns a function that averages the probability of the outcome over rows, with changes
// of their variables.
func averageOf(rows []int, change func(age *float64, sex, ward *int)) func(a, b, c float64, u []float64) float64 {
	return func(a, b, c float64, u []float64) float64 {
		sum := 0.0
		for _, n := range rows {
			age, sex, ward := ages[n], sexes[n], wards[n]
			change(&age, &sex, &ward)
			sum += 1 / (1 + math.Exp(-(a + b*age + c*float64(sex) + u[ward-1])))
		}
		return sum / float64(len(rows))
	}
}

// TestEffects checks that effects equal those computed from the draws of the parameters by the
// formula of the model.
func TestEffects(t *testing.T) {
	f := patientsFit(t)
	all := []int{0, 1, 2, 3, 4, 5, 6, 7}
	type change = func(age *float64, sex, ward *int)
	same := func(*float64, *int, *int) {}
	setSex := func(x int) change { return func(_ *float64, s, _ *int) { *s = x } }
	setWard := func(x int) change { return func(_ *float64, _, w *int) { *w = x } }
	compared := func(rows []int, from, to change, how func(from, to float64) float64) []float64 {
		return byHand(f, func(a, b, c float64, u []float64) float64 {
			return how(averageOf(rows, from)(a, b, c, u), averageOf(rows, to)(a, b, c, u))
		})
	}
	difference := func(from, to float64) float64 { return to - from }
	slope := func(rows []int, at func(x float64) float64) []float64 {
		return byHand(f, func(a, b, c float64, u []float64) float64 {
			sum := 0.0
			for _, n := range rows {
				p := averageOf([]int{n}, func(age *float64, _, _ *int) { *age = at(*age) })(a, b, c, u)
				sum += b * p * (1 - p)
			}
			return sum / float64(len(rows))
		})
	}
	for _, c := range []struct {
		name string
		o    assess.EffectOptions
		want map[string][]float64 // the draws expected, by the labels of the effect
	}{
		{"averages", assess.EffectOptions{Kind: assess.Predictions, By: []string{"sex"}}, map[string][]float64{
			" sex=0": byHand(f, averageOf([]int{0, 2, 5, 7}, same)), " sex=1": byHand(f, averageOf([]int{1, 3, 4, 6}, same))}},
		{"levels", assess.EffectOptions{Kind: assess.Predictions, Of: []string{"ward"}}, map[string][]float64{
			"ward 1": byHand(f, averageOf(all, setWard(1))), "ward 2": byHand(f, averageOf(all, setWard(2))), "ward 3": byHand(f, averageOf(all, setWard(3)))}},
		{"a step", assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"age"}, Step: 2}, map[string][]float64{
			"age +2": compared(all, same, func(age *float64, _, _ *int) { *age += 2 }, difference)}},
		{"pairs", assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"ward"}, Pairing: assess.Pairwise, Contrast: assess.Ratio}, map[string][]float64{
			"ward 1 2": compared(all, setWard(1), setWard(2), func(x, y float64) float64 { return y / x }),
			"ward 1 3": compared(all, setWard(1), setWard(3), func(x, y float64) float64 { return y / x }),
			"ward 2 3": compared(all, setWard(2), setWard(3), func(x, y float64) float64 { return y / x })}},
		{"odds at a value", assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"sex"}, Contrast: assess.OddsRatio, At: []assess.At{{Name: "ward", Values: []float64{2}}}},
			map[string][]float64{"sex 0 1 ward=2": compared(all, func(_ *float64, s, w *int) { *s, *w = 0, 2 }, func(_ *float64, s, w *int) { *s, *w = 1, 2 },
				func(x, y float64) float64 { return y * (1 - x) / (x * (1 - y)) })}},
		{"lift", assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"sex"}, Contrast: assess.Lift}, map[string][]float64{
			"sex 0 1": compared(all, setSex(0), setSex(1), func(x, y float64) float64 { return y/x - 1 })}},
		{"neighbours", assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"ward"}, Pairing: assess.Sequential}, map[string][]float64{
			"ward 1 2": compared(all, setWard(1), setWard(2), difference), "ward 2 3": compared(all, setWard(2), setWard(3), difference)}},
		{"slopes", assess.EffectOptions{Kind: assess.Slopes, Of: []string{"age"}}, map[string][]float64{"age": slope(all, func(x float64) float64 { return x })}},
		{"slopes at values", assess.EffectOptions{Kind: assess.Slopes, Of: []string{"age"}, By: []string{"ward"}, At: []assess.At{{Name: "age", Values: []float64{1.5}}}},
			map[string][]float64{
				"age ward=1 age=1.5": slope([]int{0, 3, 6}, func(float64) float64 { return 1.5 }),
				"age ward=2 age=1.5": slope([]int{1, 4, 7}, func(float64) float64 { return 1.5 }),
				"age ward=3 age=1.5": slope([]int{2, 5}, func(float64) float64 { return 1.5 })}},
		{"linear predictor", assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"sex"}, Link: true}, map[string][]float64{
			"sex 0 1": byHand(f, func(_, _, c float64, _ []float64) float64 { return c })}},
	} {
		e, err := assess.EffectsOf(context.Background(), f, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(e.Rows) != len(c.want) {
			t.Errorf("%s: %d effects, not %d", c.name, len(e.Rows), len(c.want))
		}
		for _, r := range e.Rows {
			label := r.Term
			for _, s := range []*assess.Setting{r.Level, r.From, r.To} {
				if s != nil {
					label += " " + s.Label
				}
			}
			for _, s := range slices.Concat(r.By, r.At) {
				label += fmt.Sprintf(" %s=%s", s.Name, s.Label)
			}
			want := c.want[label]
			if len(want) != len(r.Draws) {
				t.Errorf("%s: no effect %q", c.name, label)
				continue
			}
			for i, x := range r.Draws {
				if math.Abs(x-want[i]) > 1e-8*(1+math.Abs(want[i])) {
					t.Errorf("%s: %s is %v and not %v", c.name, label, x, want[i])
					break
				}
			}
		}
	}
}

// TestEffectRanks checks that the probabilities of ranks are shares of the draws.
func TestEffectRanks(t *testing.T) {
	f := patientsFit(t)
	e, err := assess.EffectsOf(context.Background(), f, assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"ward"}, Ranks: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Ranks) != 3 || len(e.Rows) != 0 {
		t.Fatalf("%d ranks and %d effects", len(e.Ranks), len(e.Rows))
	}
	for i, r := range e.Ranks { // the outcome increases with u, so ranks are those of u
		for rank := range 3 {
			want := 0.0
			for _, x := range byHand(f, func(_, _, _ float64, u []float64) float64 {
				sorted := slices.Sorted(slices.Values(u))
				return float64(2 - slices.Index(sorted, u[i]))
			}) {
				if int(x) == rank {
					want += 1. / 120
				}
			}
			if math.Abs(r.Probabilities[rank]-want) > 1e-12 {
				t.Errorf("ward %s has rank %d with probability %v, not %v", r.Level.Label, rank+1, r.Probabilities[rank], want)
			}
		}
	}
}

// TestEffectsOfCategories checks that each category of the outcome has an effect, and that they add
// up to 0.
func TestEffectsOfCategories(t *testing.T) {
	f := fitOf(t, `data { int N; vector[N] x; array[N] int<lower=1, upper=3> y; } parameters { real b; ordered[2] c; }
		model { b ~ std_normal(); c ~ normal(0, 2); for (n in 1:N) y[n] ~ ordered_logistic(b * x[n], c); }`,
		map[string]any{"N": 6, "x": []float64{-1, 0, 1, 2, 0.5, -0.5}, "y": []int{1, 1, 2, 3, 3, 2}})
	e, err := assess.EffectsOf(context.Background(), f, assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"x"}, Step: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Rows) != 3 || e.Rows[2].Category != 3 {
		t.Fatalf("%d effects", len(e.Rows))
	}
	for d := range e.Rows[0].Draws {
		if sum := e.Rows[0].Draws[d] + e.Rows[1].Draws[d] + e.Rows[2].Draws[d]; math.Abs(sum) > 1e-14 || e.Rows[0].Draws[d] == 0 {
			t.Fatalf("effects add up to %v", sum)
		}
	}
}

// If the model centres a column, the mean stays that of the data, so that the effect of 1 more in x
// is b and not 0.
func TestEffectsOfCentred(t *testing.T) {
	f := fitOf(t, `data { int N; vector[N] x; vector[N] y; } transformed data { vector[N] z = x - mean(x); } parameters { real b; } model { b ~ std_normal(); y ~ normal(b * z, 1); }`,
		map[string]any{"N": 3, "x": []float64{1, 2, 4}, "y": []float64{1, 2, 2}})
	e, err := assess.EffectsOf(context.Background(), f, assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"x"}, Step: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := f.Draws.Column(nil, 0, 0)
	for d, effect := range e.Rows[0].Draws[:len(b)] {
		if math.Abs(effect-b[d]) > 1e-12*(1+math.Abs(b[d])) {
			t.Fatalf("the effect is %v, not %v", effect, b[d])
		}
	}
	if len(e.Kept) != 1 {
		t.Errorf("kept: %v", e.Kept)
	}
}

func TestEffectMistakes(t *testing.T) {
	f := patientsFit(t)
	sorted := fitOf(t, `data { int N; vector[N] x; vector[N] y; } transformed data { vector[N] z = sort_asc(x); } parameters { real b; } model { b ~ std_normal(); y ~ normal(b * z, 1); }`,
		map[string]any{"N": 3, "x": []float64{1, 2, 4}, "y": []float64{1, 2, 2}})
	for _, c := range []struct {
		f    *fit.Fit
		o    assess.EffectOptions
		want string
	}{
		{f, assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"height"}}, "the data have no height; they have age, sex, ward"},
		{f, assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"J"}}, "no value for each of the 8 rows"},
		{f, assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"y"}}, "y is the outcome"},
		{f, assess.EffectOptions{Kind: assess.Slopes, Of: []string{"ward"}}, "is a factor"},
		{f, assess.EffectOptions{Kind: assess.Predictions, Of: []string{"age"}}, "many values"},
		{f, assess.EffectOptions{Kind: assess.Predictions, Outcome: "z"}, "no outcome z"},
		{f, assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"ward"}, At: []assess.At{{Name: "ward", Values: []float64{1}}}}, "set to a value and compared"},
		{sorted, assess.EffectOptions{Kind: assess.Slopes, Of: []string{"x"}}, "the model computes `sort_asc(x)` (m, line 1) from all rows"},
	} {
		if _, err := assess.EffectsOf(context.Background(), c.f, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, not %q", err, c.want)
		}
	}
}

// TestEffectsWithoutValue checks that effects that have a value at no draw are an error with the
// reason.
func TestEffectsWithoutValue(t *testing.T) {
	f := fitOf(t, `
data { int N; array[N] int y; vector[N] x; }
parameters { real a; array[N] int<lower=0, upper=1> z; }
model {
  a ~ normal(0, 1);
  for (n in 1:N) if (z[n]) { if (y[n] != 0) target += negative_infinity(); } else y[n] ~ poisson_log(a + x[n]);
}`, map[string]any{"N": 60, "y": make([]int, 60), "x": make([]float64, 60)})
	_, err := assess.EffectsOf(t.Context(), f, assess.EffectOptions{Of: []string{"x"}})
	if err == nil || !strings.Contains(err.Error(), "negative_infinity") {
		t.Errorf("the error is %v", err)
	}
}
