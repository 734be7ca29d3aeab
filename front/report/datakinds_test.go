package report_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/model"
)

// sampled runs a model on a table.
func sampled(t *testing.T, text, table string) *fit.Fit {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	return sampledWith(t, text, model.DataFile{Path: path, Counts: []string{"N", "J=ward"}[:strings.Count(text, "int<lower=1> J")+1]})
}

// sampledWith fits a model to values.
func sampledWith(t *testing.T, text string, values any) *fit.Fit {
	t.Helper()
	m, err := model.Compile("m", text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(context.Background(), p, fit.Options{Seed: 1, Chains: 2, Draws: 200})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func figuresOf(r *report.Report, kind string) (out []report.Figure) {
	for _, f := range r.Figures {
		if f.Kind == kind {
			out = append(out, f)
		}
	}
	return out
}

const hierarchy = `data { int<lower=0> N; int<lower=1> J; array[N] int<lower=0, upper=1> y; array[N] int<lower=1, upper=J> ward; }
parameters { matrix[2, J] z_ward; cholesky_factor_corr[2] L; real a; real<lower=0> s; }
transformed parameters { matrix[J, 2] r_ward = s * (L * z_ward)'; }
model { to_vector(z_ward) ~ std_normal(); L ~ lkj_corr_cholesky(2); a ~ std_normal(); s ~ std_normal();
  y ~ bernoulli_logit(a + r_ward[ward, 1]); }`

// TestGroups: group-level terms have a sorted plot for each column, and shares of a yes-or-no
// outcome are shown by group. Cholesky factors and z_ variables come last.
func TestGroups(t *testing.T) {
	var b strings.Builder
	b.WriteString("y,ward\n")
	shares := map[string]float64{"north": 0.75, "south": 0.25, "west": 0.5}
	for i := range 60 {
		name := []string{"north", "south", "west"}[i%3]
		fmt.Fprintf(&b, "%d,%s\n", map[bool]int{true: 1}[float64(i/3) < 20*shares[name]], name)
	}
	r := made(t, sampled(t, hierarchy, b.String()), report.Options{})
	var titles []string
	for _, f := range figuresOf(r, "intervals") {
		titles = append(titles, strings.Join(f.Of, " "))
		if f.Of[0] == "r_ward[,1]" && !slices.Equal(f.Y.Names, []string{"south", "west", "north"}) {
			t.Errorf("levels from below: %q", f.Y.Names)
		}
	}
	if got := strings.Join(titles, "; "); got != "scalars; correlations by ward; r_ward[,1] intercept by ward; r_ward[,2]; z_ward[1,]; z_ward[2,]; L" {
		t.Errorf("intervals of %s", got)
	}
	for i, name := range r.Summary.Name {
		if want := strings.HasPrefix(name, "L[") || strings.HasPrefix(name, "z_"); r.Summary.Aside[i] != want {
			t.Errorf("%s is aside: %v", name, !want)
		}
	}
	figures := figuresOf(r, "groups")
	if len(figures) != 1 || len(figuresOf(r, "predictive")) != 0 {
		t.Fatalf("%d figures of groups", len(figures))
	}
	f := figures[0]
	if !slices.Equal(f.Y.Names, []string{"south (20)", "west (20)", "north (20)"}) || f.X.Label != "share of y = 1" {
		t.Errorf("%q, %s", f.Y.Names, f.X.Label)
	}
	if data := f.Layers[1]; fmt.Sprint(data.X) != "[0.25 0.5 0.75]" {
		t.Errorf("shares %v", data.X)
	}
	for _, table := range r.Tables {
		if table.Kind == "checks" && (len(table.Rows) != 1 || table.Rows[0][0] != "share of 1" || table.Rows[0][1] != report.Number(0.5)) {
			t.Errorf("checks %v", table.Rows)
		}
	}
}

// TestRootogram: frequencies are square roots of the numbers of observations.
func TestRootogram(t *testing.T) {
	r := made(t, sampled(t, `data { int<lower=0> N; array[N] int<lower=0> y; } parameters { real<lower=0> l; } model { l ~ exponential(1); y ~ poisson(l); }`,
		"y\n"+strings.Repeat("0\n", 49)+strings.Repeat("1\n", 30)+strings.Repeat("2\n", 20)+"3\n"), report.Options{})
	figures := figuresOf(r, "rootogram")
	if len(figures) != 1 || len(figuresOf(r, "predictive")) != 0 {
		t.Fatalf("%d rootograms", len(figures))
	}
	f := figures[0]
	sum := 0.0
	for _, y := range f.Layers[2].Y {
		sum += y * y
	}
	if f.X.Names[0] != "0" || f.Layers[2].Y[0] != 7 || math.Abs(sum-100) > 1e-9 {
		t.Errorf("%q, %v", f.X.Names, f.Layers[2].Y)
	}
}

// TestSurvivalCurves: without censoring before it, a Kaplan-Meier curve falls to the share of later
// times. There is a figure for each arm, although the column of censoring has levels, too.
func TestSurvivalCurves(t *testing.T) {
	r := made(t, sampled(t, `data { int<lower=0> N; vector<lower=0>[N] y; array[N] int<lower=1, upper=2> status; array[N] int<lower=1, upper=2> arm; }
parameters { real<lower=0> l; }
model { l ~ exponential(1);
  for (n in 1:N) { if (status[n] == 1) target += exponential_lpdf(y[n] | l); else target += exponential_lccdf(y[n] | l); } }`,
		"y,status,arm\n1,none,drug\n2,none,drug\n4,right,drug\n5,none,drug\n0.5,none,placebo\n3,none,placebo\n"), report.Options{})
	figures := figuresOf(r, "survival")
	if len(figures) != 2 {
		t.Fatalf("%d survival curves: %q", len(figures), r.Notes)
	}
	f := figures[0]
	data := f.Layers[1]
	if f.Of[1] != "drug" || fmt.Sprint(data.X) != "[0 1 1 2 2 5 5]" || fmt.Sprint(data.Y) != "[1 1 0.75 0.75 0.5 0.5 0]" {
		t.Errorf("%q: %v at %v", f.Of, data.Y, data.X)
	}
	if last := figures[1].Layers[1].X; last[len(last)-1] != 5 {
		t.Errorf("the second curve ends at %v", last)
	}
}

// TestManyElements: elements without levels are listed up to 40 and are never joined by a line.
// Scalars of different scales have their own plots.
func TestManyElements(t *testing.T) {
	for _, n := range []int{1, 2, 40, 41, 2001} {
		names := []string{"lp__", "small", "large"}
		for i := range n {
			names = append(names, fmt.Sprintf("x.%d", i+1))
		}
		r := made(t, written(t, 2, 20, names, func(chain, draw, i int) float64 {
			return math.Sin(float64(draw*(i+3)+chain)) * map[bool]float64{true: 1e4, false: 1}[i == 2]
		}), report.Options{})
		figures := figuresOf(r, "intervals")
		if len(figures) != 3 || figures[0].Of[0] != "small" || figures[1].Of[0] != "large" {
			t.Fatalf("%d elements: %d plots", n, len(figures))
		}
		f := figures[2]
		if n <= 40 && (len(f.Y.Names) != n || f.Y.Names[n-1] != "x[1]") {
			t.Errorf("%d elements: %q", n, f.Y.Names)
		}
		if n > 40 && (f.Layers[0].Mark != report.Whisker || len(f.Layers[0].X) != min(n, 1001)) {
			t.Errorf("%d elements: %d in %s", n, len(f.Layers[0].X), f.Layers[0].Mark)
		}
		if slices.ContainsFunc(f.Layers, func(l report.Layer) bool { return l.Mark == report.Line || l.Mark == report.Band }) {
			t.Errorf("%d elements are joined", n)
		}
	}
}

// TestScalars: scalars share a plot where each of their intervals can be read.
func TestScalars(t *testing.T) {
	for _, c := range []struct {
		at   float64 // of the second, in widths of the intervals
		want int
	}{{5, 1}, {10.9, 1}, {11.1, 2}, {20, 2}} {
		r := made(t, written(t, 2, 200, []string{"lp__", "a", "b"}, func(chain, draw, i int) float64 {
			return float64((draw*37+chain*11)%200)/180 + map[int]float64{2: c.at}[i] // the middle 90 % are 1 wide
		}), report.Options{})
		if got := len(figuresOf(r, "intervals")); got != c.want {
			t.Errorf("%g widths apart: %d plots, want %d", c.at, got, c.want)
		}
	}
}

// TestPairs: the pair of a report are the most correlated quantities that are not functions of each
// other.
func TestPairs(t *testing.T) {
	r := made(t, written(t, 2, 200, []string{"lp__", "a", "b", "c", "same"}, func(chain, draw, i int) float64 {
		a, e := math.Sin(float64(17*draw+chain)), math.Sin(float64(23*draw*draw+5*chain))
		return []float64{0, a, e, a + 0.3*e, 2 * a}[i]
	}), report.Options{})
	pair := figuresOf(r, "pairs")[0].Of
	slices.Sort(pair)
	if pair[0] != "a" && pair[1] != "same" || !slices.Contains(pair, "c") {
		t.Errorf("the pair is %q", pair)
	}
}

// TestStatesReport: a table has the most probable values of discrete parameters.
func TestStatesReport(t *testing.T) {
	f := sampled(t, `data { int<lower=0> N; vector[N] y; }
parameters { ordered[2] mu; array[N] int<lower=1, upper=2> z; } model { mu ~ normal(0, 10); y ~ normal(mu[z], 1); }`, "y\n0\n20\n0\n")
	r, err := report.New(context.Background(), f, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Tables, func(t report.Table) bool { return t.Kind == "states" })
	if at < 0 {
		t.Fatalf("no table of states; notes %q", r.Notes)
	}
	if got := fmt.Sprint(r.Tables[at].Rows); got != "[[z[1] 1 1 1] [z[2] 2 1 2] [z[3] 1 1 1]]" {
		t.Errorf("states %s", got)
	}
}

// TestPredictiveReport: checks against a column have a panel for each group.
func TestPredictiveReport(t *testing.T) {
	var b strings.Builder
	b.WriteString("y,x,ward\n")
	for i := range 80 {
		fmt.Fprintf(&b, "%d,%d,%s\n", i%7, i, []string{"north", "south"}[i%2])
	}
	f := sampled(t, `data { int<lower=0> N; int<lower=1> J; vector[N] y; vector[N] x; array[N] int<lower=1, upper=J> ward; }
parameters { vector[J] a; } model { a ~ normal(0, 10); y ~ normal(a[ward], 1); }`, b.String())
	for _, c := range []struct {
		o    assess.PredictiveOptions
		want string
	}{
		{assess.PredictiveOptions{By: []string{"ward"}}, "y by ward"},
		{assess.PredictiveOptions{X: "x"}, "y against x"},
		{assess.PredictiveOptions{X: "x", By: []string{"ward"}}, "y against x north; y against x south"},
		{assess.PredictiveOptions{}, ""},
	} {
		p, err := assess.PredictiveOf(context.Background(), f, c.o)
		if err != nil {
			t.Fatal(err)
		}
		var of []string
		for _, f := range figuresOf(report.PredictiveReport(p), "groups") {
			of = append(of, strings.Join(f.Of, " "))
			n := len(p.Variables[0].Groups.Cells)
			if got := len(f.Layers[1].X); f.Empty() || got != n && got*2 != n {
				t.Errorf("%q: %d of %d groups", f.Of, got, n)
			}
		}
		if got := strings.Join(of, "; "); got != c.want {
			t.Errorf("plots of %q, want %q", got, c.want)
		}
	}
}

// TestIndividualReport: data with subjects and times have a plot for each of some subjects, and a
// table of shrinkages. Plots without anything to show are left out.
func TestIndividualReport(t *testing.T) {
	var b strings.Builder
	b.WriteString("y,time,evid,id\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%d,0,%d\n", 1+i%7+i/2, i%2, 1+i/2)
	}
	f := sampled(t, `data { int N; vector[N] y, time; array[N] int evid, id; }
parameters { real m; real<lower=0> tau; vector[20] u; } model { m ~ normal(0, 10); tau ~ normal(5, 1); u ~ normal(m, tau); y ~ normal(u[id], 1); }`, b.String())
	r := made(t, f, report.Options{})
	if got := figuresOf(r, "individual"); len(got) != 16 || len(got[0].Layers) != 4 || !strings.HasPrefix(got[0].Note, "16 of 20 subjects") {
		t.Errorf("%d plots of subjects, want 16 of 20: %+v", len(got), got)
	}
	var of []string
	for _, f := range figuresOf(r, "goodness") {
		of = append(of, strings.Join(f.Of, " "))
		if points := f.Layers[len(f.Layers)-1]; points.Mark != report.Points || len(points.X) != 40 || len(points.Y) != 40 {
			t.Errorf("goodness of fit of %q: %+v, want 40 points", f.Of, points)
		}
	}
	if got := strings.Join(of, "; "); got != "y individual; y population; y NPDE time; y NPDE population prediction; y CWRES time; y CWRES population prediction" {
		t.Errorf("plots of the goodness of fit: %s", got)
	}
	if !slices.ContainsFunc(r.Tables, func(t report.Table) bool { return t.Kind == "shrinkage" && len(t.Rows) == 1 && t.Rows[0][0] == "u" }) {
		t.Error("no table of shrinkages")
	}
	for _, f := range r.Figures {
		if f.Empty() && f.Note == "" {
			t.Errorf("the plot %s of %q has nothing to show", f.Kind, f.Of)
		}
	}
}

// TestNoEmptyColumns: the table of the data has a column of levels only if there are levels.
func TestNoEmptyColumns(t *testing.T) {
	text := `data { int<lower=0> N; vector[N] y; } parameters { real a; } model { a ~ normal(0, 1); y ~ normal(a, 1); }`
	for want, f := range map[string]*fit.Fit{
		" values smallest mean largest":        sampled(t, text, "y\n1\n2\n"),
		" values smallest mean largest levels": sampled(t, strings.Replace(text, "vector[N] y;", "vector[N] y; int<lower=1> J; array[N] int<lower=1, upper=J> ward;", 1), "y,ward\n1,a\n2,b\n"),
	} {
		var names []string
		for _, c := range made(t, f, report.Options{Quick: true}).Fitted.Data.Columns {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("columns %q, want %q", got, want)
		}
	}
}
