package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/front/report"
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
		if len(f.Layers) != 3 || len(f.Layers[0].X) != 10 || f.Layers[0].X[0] != 0.5 || f.Layers[1].Mark != report.Band || len(f.Layers[1].X) != 12 {
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
	if !slices.Equal(names, []string{"a", "L[2,1]", "L[2,2]", "s"}) {
		t.Errorf("%q", names)
	}
	var page strings.Builder
	if err := c.WriteHTML(&page); err != nil || strings.Count(page.String(), `"divergent":[`) != 3 || !report.IsPage([]byte(page.String())) {
		t.Errorf("%v, %d reports", err, strings.Count(page.String(), `"divergent":[`))
	}
}
