package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/front/report"
)

// TestQuestion: the question is the comment at the beginning, of either form.
func TestQuestion(t *testing.T) {
	const program = "data { int<lower=0> N; vector[N] y; } parameters { real a; } model { a ~ std_normal(); y ~ normal(a, 1); }"
	for comment, want := range map[string]string{
		"":                                   "",
		"// Why?\n":                          "Why?",
		"// Why?\n// How\n//  much?\n":       "Why?\nHow much?",
		"/* Why? */\n":                       "Why?",
		"/* Why?\n */\n":                     "Why?",
		"/*\n * Why?\n *\n * How much? */\n": "Why?\n\nHow much?",
		"/* Why? */ // no\n":                 "Why?",
		"// Why?\n/* no */\n":                "Why?",
		"\n// late\n":                        "",
	} {
		r := made(t, sampled(t, comment+program, "y\n1\n2\n"), report.Options{Quick: true})
		if r.Fitted.Question != want {
			t.Errorf("%q: the question is %q, want %q", comment, r.Fitted.Question, want)
		}
	}
}

// TestAnswersSayByHowMuch: two levels have their difference, and straight lines their slope.
// Parameters with bounds are stated after predictors, since they are no coefficients.
func TestAnswersSayByHowMuch(t *testing.T) {
	table := "y,x,ward\n"
	for i := range 40 {
		table += fmt.Sprintf("%d.25,%d,%s\n", 3*(i%10)+i%3+5*(i%2), i%10, []string{"old", "new"}[i%2])
	}
	r := made(t, sampled(t, `data { int<lower=0> N; int<lower=1> J; vector[N] y; vector[N] x; array[N] int<lower=1, upper=J> ward; }
parameters { real b; vector[J] a; real<lower=0> s; real free; } model { b ~ normal(0, 5); a ~ normal(0, 9); s ~ exponential(1); free ~ std_normal(); y ~ normal(a[ward] + b * x, s); }`, table), report.Options{})
	for i, want := range []string{": it rises by 3.0", ": lower for old by ", "The standard deviation of y about its expected value, s, is "} {
		if len(r.Answers) != 3 || !strings.Contains(r.Answers[i], want) {
			t.Fatalf("%q, want %q", r.Answers, want)
		}
	}
	if !strings.Contains(r.Answers[0], ") per unit with probability above 0.99.") || !strings.Contains(r.Answers[1], ") with probability ") {
		t.Errorf("%q", r.Answers)
	}
}

// TestCaterpillarsOfEffects: the levels of a factor are a sorted list if they are more than a
// sentence names. The sizes are those around the limit.
func TestCaterpillarsOfEffects(t *testing.T) {
	for levels := 2; levels <= 6; levels++ {
		table := "y,ward\n"
		for i := range 60 {
			table += fmt.Sprintf("%d.25,w%d\n", i%levels*(levels-i%levels)*3, i%levels)
		}
		r := made(t, sampled(t, `data { int<lower=0> N; int<lower=1> J; vector[N] y; array[N] int<lower=1, upper=J> ward; }
parameters { vector[J] a; } model { a ~ normal(0, 9); y ~ normal(a[ward], 1); }`, table), report.Options{})
		f := figuresOf(r, "effects")[0]
		list := levels > 4
		if list != (len(f.Y.Names) == levels) || list == (len(f.X.Names) == levels) {
			t.Fatalf("%d levels: %+v", levels, f)
		}
		if list && (f.X.Label != "expected y" || f.Y.Label != "ward" || f.Layers[0].Mark != report.Range || !slices.IsSorted(f.Layers[1].X) || f.Y.Names[0] != "w0") {
			t.Errorf("%d levels: %+v", levels, f)
		}
		if list && !strings.HasPrefix(r.Answers[0], "The expected value of y by ward is lowest for w0, ") {
			t.Errorf("%d levels: %q", levels, r.Answers)
		}
	}
}

// TestHoles: a series says what it is where the data have no rows.
func TestHoles(t *testing.T) {
	for weeks, want := range map[string]string{
		"1 2 3 4 5 6 7 8 9 10 11 12": "",
		"2 2 3 4 5 6 7 8 9 10 11 12": " at 1.",
		"1 2 3 6 7 8 9 10 11 12":     " at 4 to 5.",
		"1 2 3 6 7 8 9 10":           " at 4 to 5, ",
		"1 3 5 7 9 12":               " at 10 to 11.",
		"1 3 5 7 9 10":               " at 11 to 12.",
		"2 4 6 8 10":                 " Of the 12 values of week, 7 have no data.",
	} {
		table := "y,week\n"
		for i, week := range strings.Fields(weeks) {
			table += fmt.Sprintf("%d.5,%s\n", i, week)
		}
		r := made(t, sampled(t, `data { int<lower=0> N; vector[N] y; array[N] int<lower=1, upper=12> week; } parameters { vector[12] level; }
model { level[1] ~ normal(0, 1); for (t in 2:12) level[t] ~ normal(level[t - 1], 1); y ~ normal(level[week], 1); }`, table), report.Options{Quick: true})
		got := r.Answers[0]
		if !strings.Contains(got, want) || strings.Contains(got, "no data") != (want != "") || strings.Contains(got, " its average is ") != strings.Contains(want, " at ") {
			t.Errorf("%s: %q, want %q", weeks, got, want)
		}
	}
}

// TestSeriesIsStatedOnce: along the index of a series there is one sentence, also if the question
// names the index.
func TestSeriesIsStatedOnce(t *testing.T) {
	table := "y,week\n"
	for i := range 12 {
		table += fmt.Sprintf("%d.5,%d\n", i%5, i+1)
	}
	r := made(t, sampled(t, `// What is the level in each week?
data { int<lower=0> N; vector[N] y; array[N] int<lower=1, upper=12> week; } parameters { vector[12] level; }
model { level[1] ~ normal(0, 1); for (t in 2:12) level[t] ~ normal(level[t - 1], 1); y ~ normal(level[week], 1); }`, table), report.Options{})
	if len(r.Answers) != 1 || !strings.HasPrefix(r.Answers[0], "level is ") || len(figuresOf(r, "effects")) != 1 {
		t.Errorf("%d effects, answers %q", len(figuresOf(r, "effects")), r.Answers)
	}
}

// TestCountsByGroup: numbers by group that are discrete parameters are stated as numbers, are
// labelled, and their mean is no standard deviation. No expected outcomes by group are shown, since
// those of another group are not known.
func TestCountsByGroup(t *testing.T) {
	table := "seen,ward\n"
	for i := range 48 {
		table += fmt.Sprintf("%d,s%02d\n", i%16*5%8+i%3%2, i%16)
	}
	r := made(t, sampled(t, `data { int<lower=0> N; int<lower=1> J; array[N] int<lower=0> seen; array[N] int<lower=1, upper=J> ward; }
parameters { real<lower=0> density; real<lower=0, upper=1> p; array[J] int<lower=0, upper=30> birds; }
model { density ~ gamma(2, 0.2); p ~ beta(20, 2); birds ~ poisson(density); for (n in 1:N) seen[n] ~ binomial(birds[ward[n]], p); }`, table), report.Options{})
	if len(r.Answers) != 3 || !strings.HasPrefix(r.Answers[0], "birds is highest, ") || !strings.Contains(r.Answers[0], " for s0") || !strings.HasPrefix(r.Answers[1], "density is ") {
		t.Errorf("%q", r.Answers)
	}
	if n := len(figuresOf(r, "effects")); n != 0 || !slices.ContainsFunc(r.Notes, func(n string) bool {
		return strings.Contains(n, "ward chooses elements of the discrete parameter birds")
	}) {
		t.Errorf("%d effects; notes %q", n, r.Notes)
	}
	for _, table := range r.Tables {
		if table.Kind == "states" && table.Rows[0][0] != "birds[1], s00" {
			t.Errorf("%q", table.Rows[0])
		}
	}
	// The prior of density cannot be drawn directly, since the bound of birds cuts it off.
	var of []string
	for _, f := range figuresOf(r, "prior") {
		of = append(of, f.Of[0])
	}
	if !slices.Equal(of, []string{"density", "p"}) {
		t.Errorf("priors of %q; notes %q", of, r.Notes)
	}
}
