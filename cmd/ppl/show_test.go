package main

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
)

// TestBarsFit checks that no line of a frame is wider than the window. If one were, the frame would
// be higher than its number of lines, by which the cursor moves up.
func TestBarsFit(t *testing.T) {
	b := &bars{chains: make([]barState, 12), unicode: true}
	b.began = time.Now().Add(-time.Hour)
	for i := range b.chains {
		if i == 0 {
			continue // not begun
		}
		if i == 1 || i == 2 {
			b.chains[i] = barState{Progress: infer.Progress{Total: 2000, Warmup: true, Searching: i == 1, Rejected: 57, Gradients: 130}, begun: b.began, updated: time.Now()}
			continue
		}
		b.chains[i] = barState{
			Progress: infer.Progress{Iteration: min(2000, 190*i), Total: 2000, Warmup: 190*i < 1000, Divergences: 100 * i},
			begun:    b.began,
			updated:  time.Now(),
		}
	}
	for width := 0; width < 150; width++ {
		for i := range b.chains {
			text, length := b.line(i, width)
			if n := utf8.RuneCountInString(text); n != length || n > width {
				t.Fatalf("width %d: %q has %d characters, said to be %d", width, text, n, length)
			}
		}
		text, length := b.summary(width)
		if n := utf8.RuneCountInString(text); n != length || n > width {
			t.Fatalf("width %d: %q has %d characters, said to be %d", width, text, n, length)
		}
	}
	if text, _ := b.line(11, 100); !strings.HasPrefix(text, "chain 12 done     ━━") || !strings.Contains(text, "100 %  1:00:00  1100 divergent") {
		t.Errorf("%q", text)
	}
	for i, want := range []string{"57 points rejected", "130 gradients"} {
		if text, _ := b.line(i+1, 100); !strings.Contains(text, "starting ─") || !strings.HasSuffix(text, want) {
			t.Errorf("%q", text)
		}
	}
	b.color = true
	if colored, length := b.line(5, 100); !strings.Contains(colored, "\x1b[") || length > 100 {
		t.Errorf("%q", colored)
	}
}

func TestLines(t *testing.T) {
	var out strings.Builder
	l := &lines{w: &out, title: "m: 1 chain", chains: make([]lineState, 1), eta: newETA(&runOptions{chains: 1, warmup: 100, draws: 100})}
	l.start()
	l.began = l.began.Add(-10 * time.Second)
	for _, p := range []infer.Progress{
		{Searching: true, Rejected: 3, Reason: "it is stiff"},
		{Searching: true, Rejected: 4, Reason: "too soon after that"},
	} {
		l.update(p)
	}
	l.began = l.began.Add(-20 * time.Second)
	l.update(infer.Progress{Gradients: 1})
	l.began = l.began.Add(30 * time.Second)
	for i := range 200 {
		l.update(infer.Progress{Iteration: i + 1, Total: 200, Warmup: i < 100})
	}
	l.message("hello")
	l.stop(nil, true)
	want := "m: 1 chain\nchain 1: looking for a starting point, 3 rejected so far, the last one because: it is stiff, 10 s\n" +
		"chain 1: first transition, 1 gradient so far, 30 s\nchain 1: 1 / 200 (0 %), warm-up, 0.0 s\nchain 1: 200 / 200 (100 %), sampling, 0.0 s\nhello\n"
	if out.String() != want {
		t.Errorf("%q", out.String())
	}
}

func TestTable(t *testing.T) {
	nan := math.NaN()
	rows := []diagnose.Row{
		{Name: "mu", Mean: 4.40234, MCSEMean: 0.0523, SD: 3.3114, Q5: -1.0721, Q50: 4.4161, Q95: 9.781, ESSBulk: 4012.4, ESSTail: 2871.6, Rhat: 1.00051},
		{Name: "a_rather_long_name[1,2]", Mean: 123456.7, MCSEMean: 120, SD: 5000, Q5: 1e5, Q50: 123000, Q95: 2e5, ESSBulk: 1, ESSTail: 2, Rhat: 2.5},
		{Name: "c", Mean: 2, MCSEMean: nan, SD: 0, Q5: 2, Q50: 2, Q95: 2, ESSBulk: nan, ESSTail: nan, Rhat: nan},
		{Name: "tiny", Mean: 1.5e-9, MCSEMean: 2e-11, SD: 1e-10, Q5: 1e-9, Q50: 1.5e-9, Q95: 2e-9, ESSBulk: 100, ESSTail: 100, Rhat: 1},
	}
	var b strings.Builder
	var lines []row
	for _, r := range rows {
		lines = append(lines, row{r, []float64{r.Q5, r.Q50, r.Q95}, ""})
	}
	percentiles := []float64{5, 50, 95}
	writeTable(&b, lines, percentiles, 0)
	want := `                            mean   mcse     sd      5%      50%     95%  ess_bulk  ess_tail   rhat
mu                         4.402  0.052  3.311  -1.072    4.416   9.781      4012      2872  1.001
a_rather_long_name[1,2]   123457    120   5000  100000   123000  200000         1         2  2.500
c                              2      -      0       2        2       2         -         -      -
tiny                     1.5e-09  2e-11  1e-10   1e-09  1.5e-09   2e-09       100       100  1.000
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	for width := 30; width < 110; width++ {
		b.Reset()
		writeTable(&b, lines, percentiles, width)
		table, _, _ := strings.Cut(b.String(), "(left out")
		for line := range strings.Lines(table) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > max(width, 40) {
				t.Fatalf("width %d: a line of %d characters in\n%s", width, n, b.String())
			}
		}
	}
}

func TestSelect(t *testing.T) {
	model, err := model.Compile("m", "parameters { vector[300] a; real b; array[3] matrix[2, 12] c; tuple(real, vector[2]) t; } model { a ~ std_normal(); b ~ std_normal(); for (i in 1:3) to_vector(c[i]) ~ std_normal(); t.1 ~ std_normal(); t.2 ~ std_normal(); }")
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := fit.Sample(context.Background(), p, fit.Options{Seed: 1, Chains: 2, Warmup: 100, Draws: 100})
	if err != nil {
		t.Fatal(err)
	}
	for vars, want := range map[string]string{
		"b":                "b",
		"a[2:3],b":         "a[2] a[3] b",
		"c[3,1,11:]":       "c[3,1,11] c[3,1,12]",
		"c[,2,7]":          "c[1,2,7] c[2,2,7] c[3,2,7]",
		"t":                "t.1 t.2[1] t.2[2]",
		"a.7, a[7]":        "a[7]",
		"a[301],b":         "--vars: a[301] selects no element of a",
		"d":                "--vars: there is no quantity d; there are a, b, c, t.1, t.2",
		"bb":               "--vars: there is no quantity bb; did you mean b?",
		"a[x]":             "--vars: a[x]: index 1 of a has no levels with names; write a number or a range, such as a[1:5]",
		",":                "--vars names no quantity",
		"c[2,1,2],c[2,1,]": "c[2,1,2] c[2,1,1] c[2,1,3] c[2,1,4] c[2,1,5] c[2,1,6] c[2,1,7] c[2,1,8] c[2,1,9] c[2,1,10] c[2,1,11] c[2,1,12]",
	} {
		o := rowOptions{vars: vars, percentiles: []float64{50}}
		chosen, err := o.choose(fit)
		var got []string
		for _, q := range chosen {
			got = append(got, fit.Summary()[q].Name)
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, not %s", vars, got, want)
		}
	}
	for _, sort := range []string{"rhat", "ess"} {
		o := rowOptions{sort: sort}
		chosen, err := o.choose(fit)
		if err != nil {
			t.Fatal(err)
		}
		first, last := fit.Summary()[chosen[0]], fit.Summary()[chosen[len(chosen)-1]]
		if sort == "rhat" && first.Rhat <= last.Rhat || sort == "ess" && min(first.ESSBulk, first.ESSTail) >= min(last.ESSBulk, last.ESSTail) {
			t.Errorf("%s: %v before %v", sort, first, last)
		}
	}
	// If there are many quantities, a terminal shows the worst ones, and a line for each variable.
	var b strings.Builder
	o := rowOptions{percentiles: []float64{50}}
	if err := o.table(&b, fit, 100); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > 30 || !strings.Contains(b.String(), "376 quantities: R-hat above 1.01 in ") || !strings.Contains(b.String(), "a[1] … [300]") {
		t.Errorf("%d lines\n%s", n, b.String())
	}
	b.Reset()
	o.limit = 4
	if err := o.table(&b, fit, 100); err != nil || strings.Count(b.String(), "\n") != 6 || !strings.Contains(b.String(), "and 372 more quantities") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if !slices.IsSortedFunc([]string{"a", "a[2]", "a[10]", "b"}, natural) {
		t.Error("names are not in their natural order")
	}
}

func TestParagraph(t *testing.T) {
	var b strings.Builder
	writeParagraph(&b, "Problem: ", "one two three four five six", 20)
	if got, want := b.String(), "Problem: one two\n  three four five\n  six\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		v             float64
		number, exact string
	}{
		{0.1, "0.1", "0.10000000000000001"},
		{-2, "-2", "-2"},
		{1e300, "1e+300", "1.0000000000000001e+300"},
		{math.NaN(), `"NaN"`, `"NaN"`},
		{math.Inf(1), `"Infinity"`, `"Infinity"`},
		{math.Inf(-1), `"-Infinity"`, `"-Infinity"`},
	} {
		a, err := json.Marshal(number(test.v))
		if err != nil || string(a) != test.number {
			t.Errorf("%v: %s, %v", test.v, a, err)
		}
		b, err := json.Marshal(exact(test.v))
		if err != nil || string(b) != test.exact {
			t.Errorf("%v: %s, %v", test.v, b, err)
		}
	}
	for d, want := range map[time.Duration]string{
		300 * time.Millisecond: "0.3 s", 12 * time.Second: "12 s", 185 * time.Second: "3:05", 3785 * time.Second: "1:03:05",
	} {
		if got := clock(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
	for ns, want := range map[float64]string{12: "12 ns", 4500: "4.5 µs", 2e6: "2 ms", 3e9: "3 s"} {
		if got := nanoseconds(ns); got != want {
			t.Errorf("%v: %s, want %s", ns, got, want)
		}
	}
	if got := fixed(-0.0001, 2) + " " + figure(1e9, 2); got != "0.00 1e+09" {
		t.Error(got)
	}
	if got := clock(duration(1e300)); strings.HasPrefix(got, "-") {
		t.Errorf("longer than a Duration: %s", got)
	}
}
