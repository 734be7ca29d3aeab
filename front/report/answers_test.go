package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/model"
)

// TestPriors: each population parameter has its prior next to its posterior. Group-level terms of
// many levels and auxiliary variables have none, and parameters without a prior have a note.
func TestPriors(t *testing.T) {
	table := "y,ward\n"
	for i := range 60 {
		table += fmt.Sprintf("%d,w%d\n", i%3%2, i%6)
	}
	r := made(t, sampled(t, `data { int<lower=0> N; int<lower=1> J; array[N] int<lower=0, upper=1> y; array[N] int<lower=1, upper=J> ward; }
parameters { real a; real<lower=0> s; vector[J] r_ward; vector[2] z_other; vector[2] b; real<lower=0, upper=1> u; real flat; }
model { a ~ normal(0, 1.5); s ~ normal(0, 1); r_ward ~ normal(0, s); z_other ~ std_normal(); b ~ normal([0, 10]', 1);
  y ~ bernoulli_logit(a + r_ward[ward]); 0 ~ normal(flat, 1); }`, table), report.Options{})
	var of []string
	for _, f := range figuresOf(r, "prior") {
		of = append(of, f.Of[0])
		for _, l := range f.Layers {
			sum := 0.0
			for _, y := range l.Y {
				sum += y * l.Step
			}
			if l.Mark != report.Line || l.Label != "prior" && l.Label != "posterior" || sum < 0.5 || sum > 1.05 {
				t.Errorf("%s: %s has the mass %.3f", f.Of[0], l.Label, sum)
			}
			// Half of a normal distribution is highest at 0. A uniform one is flat.
			if height := l.Y[0]; l.Label == "prior" && (f.Of[0] == "s" && (height < 0.7 || height > 0.9) || f.Of[0] == "u" && (height < 0.9 || height > 1.1)) {
				t.Errorf("%s: the prior is %.3f at its bound", f.Of[0], height)
			}
		}
		if f.Of[0] == "b[2]" && !strings.HasPrefix(f.Note, "The middle 90 % of the prior is 8.") {
			t.Errorf("%s: %s", f.Of[0], f.Note)
		}
	}
	if !slices.Equal(of, []string{"a", "s", "b[1]", "b[2]", "u"}) {
		t.Errorf("priors of %q; notes %q", of, r.Notes)
	}
	if !slices.Contains(r.Notes, "A prior is not shown: flat has no prior.") {
		t.Errorf("notes %q", r.Notes)
	}
}

// TestEffects: numbers have a line with a band and the data, factors an interval for each level,
// and outcomes of several categories a layer for each.
func TestEffects(t *testing.T) {
	table, rows := "y,x,ward\n", ""
	for i := range 60 {
		table += fmt.Sprintf("%d,%d.5,%s\n", i*7%11%2, i%10, []string{"north", "south", "west"}[i%3])
		rows += fmt.Sprintf("%d,%d.5\n", i*7%11%3+1, i%10)
	}
	binary := made(t, sampled(t, `data { int<lower=0> N; int<lower=1> J; array[N] int<lower=0, upper=1> y; vector[N] x; array[N] int<lower=1, upper=J> ward; }
parameters { real a; real b; vector[J] r; } model { a ~ std_normal(); b ~ std_normal(); r ~ std_normal(); y ~ bernoulli_logit(a + b * x + r[ward]); }`, table), report.Options{})
	figures := figuresOf(binary, "effects")
	if len(figures) != 2 {
		t.Fatalf("%d figures; notes %q", len(figures), binary.Notes)
	}
	for _, f := range figures {
		if f.Y.Label != "probability of y = 1" {
			t.Errorf("%s: %s", f.Of, f.Y.Label)
		}
		if f.Of[0] == "ward" {
			if fmt.Sprint(f.X.Names) != "[north south west]" || len(f.Layers) != 2 || f.Layers[0].Mark != report.Whisker {
				t.Errorf("%+v", f)
			}
			continue
		}
		if len(f.Layers) != 3 || len(f.Layers[0].X) != 10 || f.Layers[0].X[0] != 0.5 || f.Layers[1].Mark != report.Band || len(f.Layers[1].X) != 25 {
			t.Errorf("%+v", f)
		}
	}
	if a := binary.Answers; len(a) != 2 || !strings.HasPrefix(a[0], "The probability of y = 1 is 0.") || !strings.Contains(a[0], " at x 0.5 and 0.") ||
		!strings.Contains(a[1], "by ward is 0.") || !strings.Contains(a[1], " for north, ") || !strings.HasSuffix(a[1], ") for west.") {
		t.Errorf("answers %q", a)
	}
	ordered := made(t, sampled(t, `data { int<lower=0> N; array[N] int<lower=1, upper=3> y; vector[N] x; }
parameters { real b; ordered[2] c; } model { b ~ std_normal(); c ~ std_normal(); y ~ ordered_logistic(b * x, c); }`, "y,x\n"+rows), report.Options{})
	figures = figuresOf(ordered, "effects")
	if len(figures) != 1 || len(figures[0].Layers) != 6 {
		t.Fatalf("%+v; notes %q", figures, ordered.Notes)
	}
	if a := ordered.Answers; len(a) != 1 || !strings.HasPrefix(a[0], "The probability that y is 2 or above is 0.") || !strings.Contains(a[0], " at x 0.5 and 0.") {
		t.Errorf("answers %q", a)
	}
	total := 0.0
	for k, l := range figures[0].Layers {
		if l.Category != k/2+1 || l.Role != report.OfCategory {
			t.Errorf("layer %d: %+v", k, l)
		}
		if l.Mark == report.Line {
			total += l.Y[5]
		}
	}
	if total < 1-1e-9 || total > 1+1e-9 {
		t.Errorf("the probabilities have the sum %v", total)
	}
}

// TestCompare: the table of several fits has the parameters of each, without levels of groups and
// constants. The page has all reports.
func TestCompare(t *testing.T) {
	table := "y,ward\n" + strings.Repeat("0,a\n1,b\n1,c\n", 10)
	small := made(t, sampled(t, `data { int<lower=0> N; array[N] int<lower=0, upper=1> y; } parameters { real a; } model { a ~ std_normal(); y ~ bernoulli_logit(a); }`, table), report.Options{})
	large := made(t, sampled(t, hierarchy, table), report.Options{})
	c := report.Compare([]string{"small", "large", "again"}, []*report.Report{small, large, large}, nil, nil, "they have other data")
	if c.Title != "small, large and again" || len(c.Tables) != 1 || !slices.Equal(c.Notes, []string{"Their predictions are not compared: they have other data"}) {
		t.Errorf("%s, %d tables, %q", c.Title, len(c.Tables), c.Notes)
	}
	var names []string
	for _, row := range c.Tables[0].Rows {
		names = append(names, fmt.Sprint(row[0]))
		if len(row) != 4 || row[2] != row[3] || row[0] != "a" && row[1] != "" || row[0] == "a" && !strings.Contains(fmt.Sprint(row[1]), " … ") {
			t.Errorf("%q", row)
		}
	}
	if a := small.Answers; len(a) != 1 || !strings.HasPrefix(a[0], "a is 0.") {
		t.Errorf("answers %q", a)
	}
	if !slices.Equal(names, []string{"a", "s"}) {
		t.Errorf("%q", names)
	}
	var page strings.Builder
	if err := c.WriteHTML(&page); err != nil || strings.Count(page.String(), `"divergent":[`) != 3 || !report.IsPage([]byte(page.String())) {
		t.Errorf("%v, %d reports", err, strings.Count(page.String(), `"divergent":[`))
	}
}

// TestAnswers: variables that the question names come first and levels of groups last. Models
// without predictors have parameters, standard deviations and correlations.
func TestAnswers(t *testing.T) {
	table := "y,x,dose,ward\n"
	for i := range 60 {
		table += fmt.Sprintf("%d,%d.5,%d,w%d\n", i*7%11%2, i%10, i%4, i%6)
	}
	starts := func(got []string, want ...string) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%d answers, want %d: %q", len(got), len(want), got)
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%q, want %q", got[i], want[i])
			}
		}
	}
	r := made(t, sampled(t, `// Which doses help?
data { int<lower=0> N; int<lower=1> J; array[N] int<lower=0, upper=1> y; vector[N] x; vector[N] dose; array[N] int<lower=1, upper=J> ward; }
parameters { real a; vector[2] b; real<lower=0> tau; vector[J] z; } transformed parameters { vector[J] u = tau * z; }
model { a ~ std_normal(); b ~ std_normal(); tau ~ std_normal(); z ~ std_normal(); y ~ bernoulli_logit(a + b[1] * x + b[2] * dose + u[ward]); }
generated quantities { real total = sum(b); int<lower=0, upper=1> helps = b[2] > 0; }`, table), report.Options{})
	var of []string
	for _, f := range figuresOf(r, "effects") {
		of = append(of, f.Of[0])
	}
	if !slices.Equal(of, []string{"dose", "x", "ward"}) {
		t.Errorf("effects of %q", of)
	}
	starts(r.Answers, "The probability of y = 1 is 0.", "The probability of y = 1 is 0.", "total is ", "helps is 1 with probability 0.", "The standard deviation of u by ward, tau, is ", "The probability of y = 1 by ward is lowest for w")
	if !strings.Contains(r.Answers[0], " at dose 0 and") {
		t.Errorf("the first answer is %q", r.Answers[0])
	}
	for i, name := range r.Summary.Name {
		if r.Summary.Aside[i] != strings.HasPrefix(name, "z[") {
			t.Errorf("%s is aside: %v", name, r.Summary.Aside[i])
		}
	}
	if pair := figuresOf(r, "pairs")[0].Of; slices.ContainsFunc(pair, func(name string) bool { return name == "total" || strings.Contains("zu", name[:1]) }) {
		t.Errorf("the pair is %q", pair)
	}
	r = made(t, sampled(t, `data { int<lower=0> N; int<lower=1> J; vector[N] y; array[N] int<lower=1, upper=J> ward; }
parameters { vector[2] m; vector<lower=0>[2] tau; cholesky_factor_corr[2] L; array[J] vector[2] u; }
model { m ~ std_normal(); tau ~ normal(0, 1); L ~ lkj_corr_cholesky(2); u ~ multi_normal_cholesky(m, diag_pre_multiply(tau, L)); }`, table), report.Options{})
	starts(r.Answers, "The standard deviation of u by ward, tau[1], is ", "The standard deviation of u by ward, tau[2], is ", "The correlation of the column 1 and the column 2 of u by ward is ", "m[1] is ")

	// Parameters that the question names come first, unless a predictor says the same; a simplex of
	// two has one sentence, and of functions of each other only that on the scale of the data has.
	r = made(t, sampled(t, `// How do seasons and doses change y, and what is the share?
// The intercept a is about an average row.
data { int<lower=0> N; vector[N] y; vector[N] dose; }
parameters { real a; vector[2] season; real b_dose; simplex[2] share; }
model { a ~ std_normal(); season ~ std_normal(); b_dose ~ std_normal(); y ~ normal(a + b_dose * dose + season[1] + share[1], 1); }
generated quantities { vector[4] gain = a + [0, 1, 2, 3]'; vector[6] more = rep_vector(a, 6); }`, table), report.Options{})
	starts(r.Answers, "The probability of y = 1 is ", "season[1] is ", "share[1] is ", "gain[1] is ")
	if strings.Contains(r.Answers[2], "[2]") || !strings.Contains(r.Answers[1], ", [2] ") {
		t.Errorf("%q", r.Answers)
	}
}

// TestAnswersByColumn: elements of a generated vector are named by the only column of their number.
func TestAnswersByColumn(t *testing.T) {
	for _, c := range []struct{ columns, want string }{
		{"array[5] int baked", "profit is highest, "},
		{"array[5] int baked; array[5] int sold", "a is "},
	} {
		values := map[string]any{"baked": []int{45, 55, 65, 75, 85}, "sold": []int{1, 2, 3, 4, 5}}
		if !strings.Contains(c.columns, "sold") {
			delete(values, "sold")
		}
		r := made(t, sampledWith(t, "data { "+c.columns+`; } parameters { real<lower=0> a; } model { a ~ normal(60, 1); }
generated quantities { vector[5] profit; for (k in 1:5) profit[k] = 4 * fmin(a, baked[k]) - 1.5 * baked[k]; }`, values), report.Options{Quick: true})
		if len(r.Answers) == 0 || !strings.HasPrefix(r.Answers[0], c.want) || c.want[0] == 'p' && !strings.Contains(r.Answers[0], " for baked 65, and lowest, ") {
			t.Errorf("%s: %q", c.columns, r.Answers)
		}
	}
}

// TestCurves: a function is drawn with a band along its column, sorted, and has an answer instead
// of plots of its elements. The sizes are those around the limit.
func TestCurves(t *testing.T) {
	for _, n := range []int{1, 2, 4, 5, 6} {
		table := "y,x\n"
		for i := range n {
			table += fmt.Sprintf("%d.5,%d\n", i*i, (i*5+3)%7)
		}
		r := made(t, sampled(t, `data { int<lower=0> N; vector[N] y; array[N] real x; }
parameters { vector[N] z; real<lower=0> a; real<lower=0> s; real<lower=0> step; vector[N] e; }
transformed parameters { vector[N] f = cholesky_decompose(add_diag(gp_exp_quad_cov(x, a, 1.0), 1e-6)) * z; vector[N] w = cumulative_sum(step * e); }
model { z ~ std_normal(); e ~ std_normal(); a ~ std_normal(); s ~ std_normal(); step ~ std_normal(); y ~ normal(f, s); }`, table), report.Options{Quick: true})
		figures := figuresOf(r, "curve")
		drawn := slices.ContainsFunc(figuresOf(r, "intervals"), func(f report.Figure) bool { return f.Of[0] == "f" })
		if n < 5 {
			if len(figures) != 0 || !drawn {
				t.Errorf("%d elements: %d curves, intervals %v", n, len(figures), drawn)
			}
			continue
		}
		if len(figures) != 2 || drawn || figures[0].X.Label != "x" || figures[1].X.Label != "element" {
			t.Fatalf("%d elements: %d curves, intervals %v", n, len(figures), drawn)
		}
		f := figures[0]
		if len(f.Layers) != 4 || f.Layers[0].Role != report.Data || len(f.Layers[3].X) != n || !slices.IsSorted(f.Layers[3].X) || len(figures[1].Layers) != 3 {
			t.Errorf("%d elements: %+v", n, f.Layers)
		}
		if len(r.Answers) < 2 || !strings.HasPrefix(r.Answers[0], "f is ") || !strings.Contains(r.Answers[1], " at element 1 and ") {
			t.Errorf("answers %q", r.Answers)
		}
	}
}

// TestCurveAlongIndex: a random walk whose elements the data choose lies along that variable, also
// if it has holes, unless it is a factor with names.
func TestCurveAlongIndex(t *testing.T) {
	for _, c := range []struct{ weeks, want string }{{"1 1 2 4 6", "week"}, {"a b c d e f", "element"}} {
		table := "y,week\n"
		for i, week := range strings.Fields(c.weeks) {
			table += fmt.Sprintf("%d.5,%s\n", i, week)
		}
		r := made(t, sampled(t, `data { int<lower=0> N; vector[N] y; array[N] int<lower=1, upper=6> week; }
parameters { vector[6] level; real<lower=0> step; }
transformed parameters { vector[6] expected = exp(level); }
model { level[1] ~ normal(0, 1); level[2:] ~ normal(level[:5], step); step ~ std_normal(); y ~ normal(expected[week], 1); y ~ normal(level[week], 9); }`, table), report.Options{Quick: true})
		figures := figuresOf(r, "curve")
		if len(figures) != 2 || figures[0].X.Label != c.want || figures[1].X.Label != c.want {
			t.Errorf("%s: %+v", c.weeks, figures)
		}
		if n := len(slices.DeleteFunc(slices.Clone(r.Answers), func(a string) bool { return !strings.Contains(a, " at "+c.want+" 1 and ") })); n != 1 {
			t.Errorf("%s: %d sentences about the level and its exponential: %q", c.weeks, n, r.Answers)
		}
	}
}

// TestStates: discrete parameters are no curves. A sentence says what they most probably are.
func TestStates(t *testing.T) {
	for _, c := range []struct{ rows, want string }{
		{"-9.5", "z[1] is most probably 1, with probability above 0.99."},
		{"-9.5 -9.5", "z is most probably 1 at 1 to 2. The least certain is z["},
		{"-9.5 9.5 9.5 9.5 -9.5 -9.5", "z is most probably 1 at 1, 2 at 2 to 4, 1 at 5 to 6. The least certain is z["},
		{"-9.5 9.5 -9.5 9.5 -9.5 9.5 -9.5 9.5", "z is most probably 1 at 1, 2 at 2, 1 at 3, 2 at 4, 1 at 5, 2 at 6, 1 at 7, 2 at 8. The"},
		{"-9.5 9.5 -9.5 9.5 -9.5 9.5 -9.5 9.5 -9.5", "The most probable value of z changes 8 times among 9 elements. The least"},
	} {
		table := "y\n" + strings.Join(strings.Fields(c.rows), "\n") + "\n"
		r := made(t, sampled(t, `data { int<lower=0> N; vector[N] y; }
parameters { array[N] int<lower=1, upper=2> z; real a; }
model { a ~ std_normal(); for (n in 1:N) { if (n > 1) z[n] ~ categorical(z[n - 1] == 1 ? [0.6, 0.4]' : [0.4, 0.6]'); y[n] ~ normal(20 * z[n] - 30 + a, 1); } }`, table), report.Options{})
		if len(figuresOf(r, "curve")) > 0 || len(r.Answers) < 2 || !strings.HasPrefix(r.Answers[0], c.want) || !strings.HasPrefix(r.Answers[1], "a is ") {
			t.Errorf("%s: answers %q", c.rows, r.Answers)
		}
	}
}

// TestCategoriesByGroup: the shares of the categories of an outcome are shown for each group.
func TestCategoriesByGroup(t *testing.T) {
	table := "y,ward\n" + strings.Repeat("1,a\n2,a\n2,b\n3,b\n3,b\n3,b\n", 6)
	r := made(t, sampled(t, `data { int<lower=0> N; int<lower=1> J; array[N] int<lower=1, upper=3> y; array[N] int<lower=1, upper=J> ward; }
parameters { vector[J] b; ordered[2] c; } model { b ~ std_normal(); c ~ std_normal(); for (n in 1:N) y[n] ~ ordered_logistic(b[ward[n]], c); }`, table), report.Options{})
	figures := figuresOf(r, "groups")
	if len(figures) != 2 || fmt.Sprint(figures[0].Layers[1].Y, figures[1].Layers[1].Y) != "[0.5 0.5 0] [0 0.25 0.75]" {
		t.Errorf("%+v", figures)
	}
}

// TestMissingValues: missing values have a line below the data, and come after the parameters.
func TestMissingValues(t *testing.T) {
	for _, n := range []int{0, 1, 2, 13} {
		table := "y\n"
		for i := range 20 {
			if i < n {
				table += "NA\n"
			} else {
				table += fmt.Sprintf("%d.5\n", i%4)
			}
		}
		r := made(t, sampled(t, `data { int<lower=0> N; vector<missing>[N] y; } parameters { real a; } model { a ~ std_normal(); y ~ normal(a, 1); }`, table), report.Options{Quick: true})
		want := map[int]string{0: "", 1: "1 value is missing and was estimated as a parameter: 1 of 20 values of y: y[1].",
			2:  "2 values are missing and were estimated as parameters: 2 of 20 values of y: y[1], y[2].",
			13: "13 values are missing and were estimated as parameters: 13 of 20 values of y: y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8], y[9], y[10], y[11], y[12], …."}[n]
		if r.Fitted.Data.Note != want {
			t.Errorf("%d missing: %q", n, r.Fitted.Data.Note)
		}
		if len(r.Answers) != 1 || !strings.HasPrefix(r.Answers[0], "a is ") {
			t.Errorf("%d missing: answers %q", n, r.Answers)
		}
		for i, name := range r.Summary.Name {
			if n > 0 && r.Summary.Aside[i] != strings.HasPrefix(name, "y[") {
				t.Errorf("%s is aside: %v", name, r.Summary.Aside[i])
			}
		}
	}
}

// TestAnswersAboutNames: the question can name a parameter whose name has no words.
func TestAnswersAboutNames(t *testing.T) {
	table := "y,x\n"
	for i := range 30 {
		table += fmt.Sprintf("%d.25,%d.5\n", i*7%13, i%10)
	}
	for _, c := range []struct {
		question string
		stated   bool
	}{{"At which x, lc5_, is it so?", true}, {"At which x, lc5, is it so?", false}, {"Is it so? See lc5_.", false}} {
		r := made(t, sampled(t, "// "+c.question+`
data { int<lower=0> N; vector[N] y; vector[N] x; }
parameters { real a; real lc5_; real<lower=0> s; } model { a ~ normal(0, 5); lc5_ ~ normal(0, 1); s ~ exponential(1); y ~ normal(a + (x - lc5_), s); }`, table), report.Options{})
		if got := slices.ContainsFunc(r.Answers, func(a string) bool { return strings.HasPrefix(a, "lc5_ is ") }); got != c.stated {
			t.Errorf("%s: %q", c.question, r.Answers)
		}
	}
}

// TestAnswersOfGenerated: a report of quantities that were generated at the draws of another run
// has the question, text and data of their program. The values of a column name the elements.
func TestAnswersOfGenerated(t *testing.T) {
	from := sampled(t, `data { int<lower=0> N; vector[N] y; } parameters { real mu; } model { mu ~ normal(0, 5); y ~ normal(mu, 1); }`, "y\n1\n2\n3\n")
	compiled, err := model.Compile("gain.stan", `// How much to order?
data { int<lower=0> K; vector[K] order; } parameters { real mu; }
generated quantities { vector[K] gain = -square(order - mu); }`)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int]string{2: "gain is -0.", 5: "gain is highest, -0."} {
		var order []float64
		for i := range k {
			order = append(order, float64(2+10*i))
		}
		p, err := compiled.Bind(map[string]any{"K": k, "order": order})
		if err != nil {
			t.Fatal(err)
		}
		g, err := fit.Generate(t.Context(), p, from, fit.GenerateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := made(t, g.Fit(), report.Options{Generated: p})
		if r.Title != "gain" || r.Fitted == nil || r.Fitted.Question != "How much to order?" || len(r.Fitted.Data.Rows) != 2 || len(r.Notes) != 1 {
			t.Errorf("%s: %+v, notes %q", r.Title, r.Fitted, r.Notes)
		}
		if len(r.Answers) != 1 || !strings.HasPrefix(r.Answers[0], want) || !strings.Contains(r.Answers[0], "for order 2") {
			t.Errorf("%d: %q", k, r.Answers)
		}
	}
}
