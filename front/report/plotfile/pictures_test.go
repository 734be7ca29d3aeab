package plotfile_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/front/report/plotfile"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/model"
)

var update = flag.Bool("update", false, "write testdata/pictures.txt")

// pictured are models whose reports have, together, a plot of every kind.
var pictured = []struct {
	name, text, table string
	counts            []string
	sampler           infer.Sampler
}{
	{"ward", `data { int<lower=0> N; int<lower=1> J; array[N] int<lower=0, upper=1> died; vector[N] days; array[N] int<lower=1, upper=J> ward; }
transformed data { vector[N] days_c = days - 4.5; }
parameters { real intercept; real b_days; vector<lower=0>[2] sd_ward; cholesky_factor_corr[2] L_ward; matrix[2, J] z_ward; }
transformed parameters { matrix[J, 2] r_ward = (diag_pre_multiply(sd_ward, L_ward) * z_ward)'; }
model { intercept ~ normal(0, 1.5); b_days ~ normal(0, 1); sd_ward ~ normal(0, 1); L_ward ~ lkj_corr_cholesky(2); to_vector(z_ward) ~ std_normal();
  died ~ bernoulli_logit(intercept + b_days * days_c + r_ward[ward, 1] + r_ward[ward, 2] .* days_c); }`,
		"died,days,ward\n" + rowsBy(60, func(i int) string {
			return fmt.Sprintf("%d,%d,%s", i*7%11%2, i%10, []string{"north", "south", "west", "east", "centre", "hill"}[i%6])
		}), []string{"N", "J=ward"}, nil},
	{"counts", `data { int<lower=0> N; array[N] int<lower=0> y; } parameters { real<lower=0> l; } model { l ~ exponential(1); y ~ poisson(l); }`,
		"y\n" + rowsBy(60, func(i int) string { return fmt.Sprint(i % 5 % 3) }), []string{"N"}, nil},
	{"times", `data { int<lower=0> N; vector<lower=0>[N] y; array[N] int<lower=0, upper=1> status; } parameters { real<lower=0> l; }
model { l ~ exponential(1); for (n in 1:N) { if (status[n] == 1) target += exponential_lpdf(y[n] | l); else target += exponential_lccdf(y[n] | l); } }`,
		"y,status\n" + rowsBy(40, func(i int) string { return fmt.Sprintf("%d.5,%d", i%9+1, map[bool]int{true: 1}[i%3 > 0]) }), []string{"N"}, nil},
	{"hills", `data { int<lower=0> N; vector[N] height; array[N] real km; } parameters { vector[N] z; real<lower=0> a; real<lower=0> s; }
transformed parameters { vector[N] f = cholesky_decompose(add_diag(gp_exp_quad_cov(km, a, 2.0), 1e-6)) * z; }
model { z ~ std_normal(); a ~ std_normal(); s ~ std_normal(); height ~ normal(f, s); }`,
		"height,km\n" + rowsBy(12, func(i int) string { return fmt.Sprintf("%d.25,%d.5", i*7%5, i) }), []string{"N"}, nil},
	{"grades", `data { int<lower=0> N; int<lower=1> J; array[N] int<lower=1, upper=3> grade; array[N] int<lower=1, upper=J> school; } parameters { vector[J] b; ordered[2] c; }
model { b ~ std_normal(); c ~ std_normal(); for (n in 1:N) grade[n] ~ ordered_logistic(b[school[n]], c); }`,
		"grade,school\n" + rowsBy(60, func(i int) string { return fmt.Sprintf("%d,%s", i*7%11%3+1, []string{"Hill", "Lake"}[i%2]) }), []string{"N", "J=school"}, nil},
	{"doses", `data { int<lower=0> N; vector[N] time; array[N] int evid; vector[N] y; } parameters { real a; real<lower=0> s; }
model { a ~ normal(0, 5); s ~ exponential(1); for (n in 1:N) if (evid[n] == 0) y[n] ~ normal(a - time[n], s); }`,
		"time,evid,y\n" + rowsBy(42, func(i int) string { return fmt.Sprintf("%d,%d,%d.5", i%6, map[bool]int{true: 1}[i%6 == 0], 5-i%6+i%4) }), []string{"N"}, nil},
	{"subjects", `data { int<lower=0> N; vector[N] time; vector[N] y; array[N] int<lower=1, upper=2> id; } parameters { real m; real<lower=0> tau; vector[2] u; }
model { m ~ normal(0, 5); tau ~ normal(3, 1); u ~ normal(m, tau); y ~ normal(u[id] - time, 1); }`,
		"time,y,id\n" + rowsBy(16, func(i int) string { return fmt.Sprintf("%d,%d.5,%d", i%8, 9-i%8-i/8*3+i%3, i/8+1) }), []string{"N"}, nil},
	{"line", `data { int<lower=0> N; vector[N] y; vector[N] x; } parameters { real a; real b; real<lower=0> s; } model { a ~ normal(0, 5); b ~ normal(0, 5); s ~ exponential(1); y ~ normal(a + b * x, s); }`,
		"y,x\n" + rowsBy(40, func(i int) string { return fmt.Sprintf("%d.25,%d.5", i*7%13, i%10) }), []string{"N"}, ahmc.Sampler{}},
}

func rowsBy(n int, row func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(row(i) + "\n")
	}
	return b.String()
}

var (
	number  = regexp.MustCompile(`[-−]?[0-9][0-9.,]*(e[-+]?[0-9]+)?`)
	element = regexp.MustCompile(`<(text|polyline|polygon|circle)([^>]*)>([^<]*)`)
	paint   = regexp.MustCompile(`(stroke|fill)="(#[0-9a-f]{6})"`)
)

// structure describes an SVG file: its texts in order, and the kinds of elements with their
// colours. Numbers, which depend on draws, are replaced by #.
func structure(svg string) string {
	var texts, shapes []string
	ticks := false
	for _, m := range element.FindAllStringSubmatch(svg, -1) {
		if m[1] == "text" {
			text := number.ReplaceAllString(m[3], "#")
			if text == "#" { // ticks: their number depends on draws, too
				if !ticks {
					texts = append(texts, "#")
				}
				ticks = true
				continue
			}
			ticks = false
			texts = append(texts, text)
			continue
		}
		shape := m[1]
		if m[1] == "polygon" && strings.Contains(svg, "expected reward") || strings.Contains(m[2], `stroke-width="0.3"`) {
			shape += " of a scale of colours"
		} else {
			for _, c := range paint.FindAllStringSubmatch(m[2], -1) {
				shape += " " + c[1] + " " + c[2]
			}
		}
		if !slices.Contains(shapes, shape) {
			shapes = append(shapes, shape)
		}
	}
	slices.Sort(texts[1:]) // the order of sorted levels depends on draws
	slices.Sort(shapes)
	return "  " + strings.Join(texts, " | ") + "\n    " + strings.Join(shapes, "; ") + "\n"
}

// studied is a study whose plots are compared, too.
var studied = &report.Study{Title: "study", Times: report.Counts{Step: 0.5, N: []int{2, 1}, Above: 1},
	Quantities: []report.StudyQuantity{{Name: "mu", Model: "m", Fits: 40, Rhat: 1, RhatMax: 1.2, Bulk: 400, Tail: 200, RhatCounts: report.Counts{From: 1, Step: 0.01, N: []int{38, 1}, Above: 1},
		BulkESS: report.Counts{Step: 100, N: []int{0, 40}}, TailESS: report.Counts{Step: 100, N: []int{40, 0}}, Ranked: 40, Coverage50: 0.5, Coverage90: 0.95, Ranks: []int{20, 20}, RanksLow: 12, RanksHigh: 28}}}

// TestPictures compares the figures of reports and studies with stored ones: their texts, and what
// is drawn in which colour. Every kind of plot is among them.
func TestPictures(t *testing.T) {
	short.Skip(t, "four fits and 70 figures take 4 s; TestWrite draws every mark")
	var got strings.Builder
	seen := map[string]bool{}
	draw := func(of string, r *report.Report, dir string, figures []report.Figure) {
		if _, err := plotfile.Write(context.Background(), r, dir, figures); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.svg"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			if strings.HasPrefix(name, "pairs") && name != "pairs_a_b.svg" || name == "pareto-k.svg" && of == "ward" {
				continue // which quantities and observations they name depends on draws
			}
			fmt.Fprintf(&got, "%s %s\n%s", of, name, structure(string(text)))
		}
		for _, f := range figures {
			seen[f.Kind] = true
		}
	}
	for _, m := range pictured {
		dir := t.TempDir()
		path := filepath.Join(dir, "table.csv")
		if err := os.WriteFile(path, []byte(m.table), 0o666); err != nil {
			t.Fatal(err)
		}
		compiled, err := model.Compile(m.name, m.text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := compiled.Bind(model.DataFile{Path: path, Counts: m.counts})
		if err != nil {
			t.Fatal(err)
		}
		f, err := fit.Sample(context.Background(), p, fit.Options{Seed: 1, Chains: 2, Draws: 150, Warmup: 300, Sampler: m.sampler})
		if err != nil {
			t.Fatal(err)
		}
		r, err := report.New(context.Background(), f, report.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		figures := plotfile.Figures(r, r.Summary.Name[:1])
		if m.name == "line" { // the quantities of the others depend on draws
			figures = append(slices.DeleteFunc(figures, func(f report.Figure) bool { return f.Kind == "pairs" }), r.Pair("a", "b"))
		}
		draw(m.name, r, dir, figures)
	}
	plots := studied.Plots()
	draw("study", plots, t.TempDir(), plotfile.Figures(plots, nil))
	for _, k := range slices.Concat(report.Kinds(), report.StudyKinds()) {
		if !seen[k.Name] {
			t.Errorf("no picture is of the kind %s", k.Name)
		}
	}
	const stored = "testdata/pictures.txt"
	if *update {
		if err := os.WriteFile(stored, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(stored)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("line %d of %s differs; after a look at the figures, write it anew with -update\ngot  %s\nwant %s", i+1, stored, b[min(i, len(b)-1)], a[min(i, len(a)-1)])
		}
	}
}
