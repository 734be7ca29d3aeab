package assess_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
)

// thousand are the options of fits whose averages are compared with exact values.
var thousand = fit.Options{Seed: 1, Chains: 2, Draws: 1000}

// subjects has two columns of outcomes for five subjects, with one to three observations each, not
// in the order of the subjects.
func subjects() map[string]any {
	return map[string]any{
		"N": 9, "J": 5,
		"id":   []int{2, 1, 3, 5, 4, 2, 5, 5, 3},
		"time": []float64{0, 0, 2, 1, 0, 1, 0, 2, 1},
		"y":    []float64{1.2, -0.4, 0.6, 2.9, -1.7, 0.8, 3.4, 3.1, 0.1},
	}
}

const subjectData = `data { int N, J; array[N] int id; vector[N] time, y; } `

// TestIndividuals compares predictions with the exact posterior means of a normal model whose
// scales are known: n·mean(y)/(n + σ²/τ²) for a subject, and 0 for the population. Two
// parametrisations have the same predictions and the same shrinkage.
func TestIndividuals(t *testing.T) {
	const scales = `parameters { real<lower=0> tau; vector[J] u; } `
	const known = `tau ~ normal(1, 0.001); `
	var values [2]float64
	for k, text := range []string{
		subjectData + scales + `model { ` + known + `u ~ normal(0, tau); y ~ normal(u[id], 0.5); }`,
		subjectData + scales + `model { ` + known + `u ~ std_normal(); y ~ normal(tau * u[id], 0.5); }`,
	} {
		f := sampled(t, text, subjects(), thousand)
		sets, err := assess.IndividualsOf(t.Context(), f, assess.IndividualOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(sets) != 1 || sets[0].Name != "y" || len(sets[0].Subjects) != 5 || sets[0].NoPopulation != nil {
			t.Fatalf("%+v", sets)
		}
		var means []float64
		for j, s := range sets[0].Subjects {
			total := 0.0
			for i, r := range s.Rows {
				total += r.Observed
				if i > 0 && r.X <= s.Rows[i-1].X {
					t.Errorf("subject %d: rows %+v are not in the order of time", j+1, s.Rows)
				}
			}
			n := float64(len(s.Rows))
			want := total / (n + 0.25)
			means = append(means, want)
			for _, r := range s.Rows {
				width := 2 * 1.645 * math.Sqrt(0.25/(n+0.25))
				if math.Abs(r.Mean-want) > 0.04 || math.Abs(r.Q95-r.Q5-width) > 0.1*width || math.Abs(r.Population) > 1e-9 {
					t.Errorf("subject %d: %+v, want a mean of %.3f, an interval of %.3f and 0 for the population", j+1, r, want, width)
				}
			}
			if _, individual, population := s.Errors(); individual >= population {
				t.Errorf("subject %d: errors %v and %v", j+1, individual, population)
			}
		}
		terms, err := assess.ShrinkageOf(t.Context(), f)
		if err != nil || len(terms) != 1 || terms[0].Term != "u" || terms[0].Levels != 5 {
			t.Fatalf("%+v, %v", terms, err)
		}
		if want := sd(means); math.Abs(terms[0].Means-want) > 0.03 || terms[0].SD <= terms[0].Means {
			t.Errorf("shrinkage %+v, want means with a standard deviation of %.3f, less than that of the levels", terms[0], want)
		}
		values[k] = terms[0].Value
	}
	if math.Abs(values[0]-values[1]) > 0.01 {
		t.Errorf("shrinkages %v of the same model", values)
	}
}

func sd(x []float64) float64 {
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	return math.Sqrt(square / float64(len(x)-1))
}

// TestShrinkageTerms: which terms have a shrinkage, and which index is the column.
func TestShrinkageTerms(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"vectors by subject", `parameters { vector<lower=0>[2] tau; array[J] vector[2] eta; } model { tau ~ normal(1, 0.1); for (j in 1:J) eta[j] ~ std_normal();
			for (i in 1:N) y[i] ~ normal(tau[1] * eta[id[i], 1] + tau[2] * eta[id[i], 2] * time[i], 0.5); }`, "eta[,1] 5 eta[,2] 5"},
		{"vectors by column, more columns than subjects", `parameters { real<lower=0> tau; array[6] vector[J] z; } transformed parameters { vector[J] u = tau * z[1], v = tau * z[2]; }
			model { tau ~ normal(1, 0.1); for (k in 1:6) z[k] ~ std_normal(); y ~ normal(u[id] + v[id] .* time, 0.5); }`, "z[1,] 5 z[2,] 5 z[3,] 5 z[4,] 5 z[5,] 5 z[6,] 5"},
		{"matrix", `parameters { vector<lower=0>[2] tau; matrix[2, J] z; } transformed parameters { matrix[J, 2] u = (diag_pre_multiply(tau, z))'; }
			model { tau ~ normal(1, 0.1); to_vector(z) ~ std_normal(); for (i in 1:N) y[i] ~ normal(u[id[i], 1] + u[id[i], 2] * time[i], 0.5); }`, "z[1,] 5 z[2,] 5"},
		{"square", `parameters { vector<lower=0>[J] tau; matrix[J, J] z; } transformed parameters { matrix[J, J] u = diag_pre_multiply(tau, z); }
			model { tau ~ normal(1, 0.1); to_vector(z) ~ std_normal(); for (i in 1:N) y[i] ~ normal(u[id[i], id[i]], 0.5); }`, ""},
		{"walk", `parameters { real<lower=0> tau; vector[J] w; } model { tau ~ normal(1, 0.1); w[1] ~ normal(0, 1); for (j in 2:J) w[j] ~ normal(w[j - 1], tau); y ~ normal(w[id], 0.5); }`, ""},
		{"walk of steps", `parameters { real<lower=0> tau; vector[J] z; } transformed parameters { vector[J] w = cumulative_sum(tau * z); }
			model { tau ~ normal(1, 0.1); z ~ std_normal(); y ~ normal(w[id], 0.5); }`, ""},
		{"two levels", `parameters { real<lower=0> tau; vector[2] u; } model { tau ~ normal(1, 0.1); u ~ normal(0, tau); for (i in 1:N) y[i] ~ normal(u[1 + id[i] % 2], 0.5); }`, ""},
		{"no groups", `parameters { vector[J] b; } model { b ~ normal(0, 1); y ~ normal(b[id], 1); }`, ""},
	} {
		f := sampled(t, subjectData+c.text, subjects(), thousand)
		terms, err := assess.ShrinkageOf(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range terms {
			got = append(got, s.Term, "5")
			if s.Levels != 5 || !(s.Value > -0.5 && s.Value < 1.0) {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}

// TestIndividualColumns: without a column of subjects, the first records say which rows are theirs.
func TestIndividualColumns(t *testing.T) {
	const text = `data { int N, n, J; array[J] int start; array[N] real time; array[n] int iObs, who; vector[n] y; }
parameters { real<lower=0> tau; vector[J] u; } model { tau ~ normal(1, 0.1); u ~ normal(0, tau); y ~ normal(u[who], 0.5); }`
	values := map[string]any{"N": 6, "n": 4, "J": 3, "start": []int{1, 3, 4}, "time": []float64{0, 1, 0, 0, 1, 2}, "iObs": []int{2, 3, 5, 6}, "who": []int{1, 2, 3, 3}, "y": []float64{1, 0, -1, -2}}
	f := sampled(t, text, values, thousand)
	sets, err := assess.IndividualsOf(t.Context(), f, assess.IndividualOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, s := range sets[0].Subjects {
		got = append(got, len(s.Rows))
	}
	if len(got) != 3 || got[0] != 1 || got[1] != 1 || got[2] != 2 || sets[0].Subjects[2].Rows[1].X != 2 {
		t.Errorf("%+v, want subjects with 1, 1 and 2 rows", sets[0].Subjects)
	}
	plain := sampled(t, subjectData+"parameters { real m; } model { y ~ normal(m, 1); }", subjects(), thousand)
	if sets, err = assess.IndividualsOf(t.Context(), plain, assess.IndividualOptions{}); err != nil || sets[0].NoPopulation == nil || !math.IsNaN(sets[0].Subjects[0].Rows[0].Population) {
		t.Errorf("without groups: %+v, %v", sets, err)
	}
	for _, o := range []assess.IndividualOptions{{X: "hour"}, {By: "patient"}} {
		var unknown *assess.UnknownColumnError
		if _, err := assess.IndividualsOf(t.Context(), f, o); !errors.As(err, &unknown) || unknown.Subjects != (o.By != "") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
