package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/infer/diagnose"
	brief "github.com/ppl-lang/ppl/internal/short"
)

// badRun is a model whose run has something to be noted, and arguments of the run.
type badRun struct {
	name, model, data string
	args              string
	codes             string // of findings that it must have
}

var badRuns = []badRun{
	{"funnel", `parameters { real v; vector[9] x; } model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }`, "", "--sampler nuts", "divergences ebfmi rhat ess"},
	{"modes", `parameters { real mu; } model { target += log_mix(0.5, normal_lpdf(mu | -20, 1), normal_lpdf(mu | 20, 1)); }`, "", "--sampler nuts", "rhat ess"},
	{"tempered", `parameters { real mu; } model { target += log_mix(0.5, normal_lpdf(mu | -20, 1), normal_lpdf(mu | 20, 1)); }`, "", "", "modes"},
	{"labels", `data { vector[6] y; } parameters { vector[2] mu; } model { mu ~ normal(0, 10); for (n in 1:6) target += log_mix(0.5, normal_lpdf(y[n] | mu[1], 1), normal_lpdf(y[n] | mu[2], 1)); }`,
		`{"y": [-9, -8, -8.5, 8, 9, 8.5]}`, "", "modes"},
	{"improper", `parameters { real a; real b; } model { a + b ~ normal(0, 1); }`, "", "--sampler nuts --max-depth 6", "treedepth rhat ess"},
	{"scale", `data { int J; vector[J] y; vector[J] sd; } parameters { real mu; real<lower=0> tau; vector[J] theta; } model { theta ~ normal(mu, tau); y ~ normal(theta, sd); }`,
		`{"J": 2, "y": [28, 8], "sd": [15, 10]}`, "--sampler nuts --max-depth 7", "improper rhat"},
	{"constant", `parameters { cholesky_factor_corr[3] L; real mu; } transformed parameters { real zero = 0; vector[2] k = rep_vector(3, 2); } model { mu ~ normal(0, 1); L ~ lkj_corr_cholesky(2); }`, "", "", "constant"},
	{"undefined", `parameters { real mu; } model { mu ~ normal(0, 1); } generated quantities { real s = sqrt(mu); vector[3] u; u[1] = mu; real q = mu / 0; }`, "", "", "undefined"},
	{"tiny", `parameters { vector[3] x; } model { x ~ normal(0, 1); }`, "", "--warmup 10 --draws 10", "few-draws"},
	{"one draw", `parameters { real x; } model { x ~ normal(0, 1); }`, "", "--warmup 0 --draws 1 --chains 1", "few-draws one-chain"},
	{"rejecting", `parameters { real mu; } model { mu ~ normal(0, 1); if (mu > 1) reject("mu is too large: ", mu); }`,
		"", "--sampler nuts", "divergences"},
	{"boundary", `parameters { real s; } model { if (s < 0) reject("s is negative"); target += -s; }`, "", "--sampler nuts --max-depth 6", "divergences"},
	{"treedepth", `parameters { vector[2] z; } model { z[1] ~ normal(0, 1); z[2] ~ normal(z[1], 0.01); }`, "", "--sampler nuts --metric unit_e --max-depth 3", "treedepth"},
	{"failing quantities", `parameters { real mu; } model { mu ~ normal(0, 1); } generated quantities { if (mu > 1) reject("too large"); real z = mu; }`, "", "", "generated"},
	{"fine", `parameters { real mu; } model { mu ~ normal(0, 1); }`, "", "", ""},
}

// TestNotesAreShort checks that a run prints at most six lines of notes and findings, of at most
// 100 columns, which begin with a true verdict, and that each finding is shown or counted.
func TestNotesAreShort(t *testing.T) {
	for _, run := range brief.Every(4, badRuns) {
		t.Run(run.name, func(t *testing.T) {
			t.Chdir(t.TempDir()) // short names of files, as users have
			const model, out, data = "m.stan", "fit", "d.json"
			if err := os.WriteFile(model, []byte(run.model+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"run", model, "--out", out, "--seed", "1", "--draws", "300", "--warmup", "300"}, strings.Fields(run.args)...)
			if run.data != "" {
				if err := os.WriteFile(data, []byte(run.data), 0o644); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--data", data)
			}
			stdout, stderr := strings.Builder{}, strings.Builder{}
			if code := execute(args, &stdout, &stderr); code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			_, after, _ := strings.Cut(stderr.String(), "\ndone in ") // before it there are warnings about the model
			notes := strings.Split(strings.TrimSuffix(after, "\n"), "\n")[1:]
			parts := strings.SplitN(stdout.String(), "\n\n", 3) // the table, findings, times
			findings := findingsOf(t, out)
			for _, code := range strings.Fields(run.codes) {
				if !strings.Contains(fmt.Sprint(findings), "{"+code+" ") {
					t.Errorf("the run has no finding %s", code)
				}
			}
			shown := strings.Split(parts[1], "\n")
			checkBrief(t, shown, findings, 100)
			if n := len(notes) + len(shown); n > maxNotes {
				t.Errorf("%d lines:\n%s\n%s", n, strings.Join(notes, "\n"), parts[1])
			}
			for _, line := range notes {
				if utf8.RuneCountInString(line) > noteWidth {
					t.Errorf("a note of %d columns: %s", utf8.RuneCountInString(line), line)
				}
			}
			if len(findings) == 0 {
				return
			}
			for _, width := range []int{80, 60, 40} {
				var b strings.Builder
				writeBriefly(&b, findings, inBrief{details: "ppl diagnose fit", verdict: "do not use the estimates as they are", checked: true, width: width})
				checkBrief(t, strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"), findings, width)
			}
			stdout.Reset()
			if code := execute([]string{"summary", out, "--verbose"}, &stdout, &stderr); code != 0 || strings.Count(stdout.String(), "Problem: ")+strings.Count(stdout.String(), "Note: ") != len(findings) {
				t.Errorf("--verbose does not show %d findings:\n%s", len(findings), stdout.String())
			}
		})
	}
}

// findingsOf returns what ppl diagnose --json prints about a run.
func findingsOf(t *testing.T, folder string) []diagnose.Finding {
	t.Helper()
	var stdout, stderr strings.Builder
	if code := execute([]string{"diagnose", folder, "--json"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	var out findingsJSON
	if err := json.Unmarshal([]byte(stdout.String()), &out); err != nil {
		t.Fatal(err)
	}
	return out.Findings
}

var moreFindings = regexp.MustCompile(`^(\d+) more findings?, `)

// checkBrief checks lines about findings: their number and width, the verdict, and that each
// finding is shown or counted.
func checkBrief(t *testing.T, lines []string, findings []diagnose.Finding, width int) {
	t.Helper()
	text := strings.Join(lines, "\n")
	if len(lines) > maxNotes {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > max(width, 60) { // a short text is not broken
			t.Errorf("a line of %d columns:\n%s", utf8.RuneCountInString(line), text)
		}
	}
	problems := 0
	for _, f := range findings {
		if f.Severity == diagnose.Problem {
			problems++
		}
	}
	notes := len(findings) - problems
	verdict := "No problems found"
	switch {
	case problems > 0 && notes > 0:
		verdict = fmt.Sprintf("%s and %s: ", count(problems, "problem", "problems"), count(notes, "note", "notes"))
	case problems > 0:
		verdict = count(problems, "problem", "problems") + " found: "
	case notes > 0:
		verdict += "; " + count(notes, "note", "notes") + "."
	default:
		verdict += "."
	}
	if !strings.HasPrefix(lines[0], verdict) {
		t.Errorf("the verdict is not %q:\n%s", verdict, text)
	}
	if len(findings) == 0 {
		return
	}
	joined, shown := strings.ToLower(strings.Join(strings.Fields(text), " ")), 0
	worst := sentences(findings)[0].leader
	for _, f := range findings {
		if f.Brief == "" || f.First == "" {
			t.Errorf("%s has no short form", f.Code)
		}
		found := strings.Contains(joined, strings.ToLower(f.Brief)) || strings.Contains(joined, strings.ToLower(f.Summary))
		if found {
			shown++
		}
		if f.Code == worst.Code && !found && width >= 60 {
			t.Errorf("the worst finding is not shown:\n%s", text)
		}
	}
	more := 0
	if m := moreFindings.FindStringSubmatch(lines[len(lines)-1]); m != nil {
		more, _ = strconv.Atoi(m[1])
	}
	if shown+more != len(findings) && width >= 60 { // a narrower line may be cut
		t.Errorf("%d findings, of which %d are shown and %d counted:\n%s", len(findings), shown, more, text)
	}
	for _, f := range findings { // shown in full, unless the last line says where they are
		if !strings.Contains(joined, strings.ToLower(f.Advice)) && !strings.Contains(lines[len(lines)-1], "ppl diagnose fit") {
			t.Errorf("the last line names no command:\n%s", text)
		}
	}
}

// TestSentences checks which findings share a sentence, and that problems come first.
func TestSentences(t *testing.T) {
	f := func(code string, severity diagnose.Severity) diagnose.Finding {
		return diagnose.Finding{Code: code, Severity: severity, Summary: "S."}
	}
	p, n := diagnose.Problem, diagnose.Note
	for want, findings := range map[string][]diagnose.Finding{
		"":                        nil,
		"rhat+ess":                {f("rhat", p), f("ess", p)},
		"ess":                     {f("ess", p)},
		"rhat+ess treedepth":      {f("treedepth", n), f("rhat", p), f("ess", p)},
		"modes+rhat+ess":          {f("modes", p), f("rhat", p), f("ess", p)},
		"rhat+ess modes":          {f("modes", n), f("rhat", p), f("ess", p)}, // a problem is not part of a note
		"few-draws+ess one-chain": {f("few-draws", p), f("ess", p), f("one-chain", n)},
		"divergences+ebfmi rhat":  {f("divergences", p), f("ebfmi", p), f("rhat", p)},
	} {
		var got []string
		for _, s := range sentences(findings) {
			text := s.leader.Code
			for _, f := range s.followers {
				text += "+" + f.Code
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

// TestBriefly checks the lines of findings of all numbers and lengths, with and without a short
// form.
func TestBriefly(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for _, words := range []int{1, 12, 40, 200} {
			for _, width := range []int{30, 80, 100, 200} {
				var findings []diagnose.Finding
				for i := range n {
					f := diagnose.Finding{Code: fmt.Sprint("c", i), Severity: diagnose.Problem, Summary: fmt.Sprintf("F%d %s.", i, strings.Repeat("word ", words)), Advice: "Do this. Or that."}
					if i%2 == 1 {
						f.Brief, f.First, f.Settings = strings.TrimSuffix(f.Summary, "."), "do that", []string{"draws"}
					}
					findings = append(findings, f)
				}
				var b strings.Builder
				writeBriefly(&b, findings, inBrief{details: "ppl d", width: width})
				text := b.String()
				lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
				shown := strings.Count(b.String(), "Problem: ")
				if m := moreFindings.FindStringSubmatch(lines[len(lines)-1]); m != nil {
					more, _ := strconv.Atoi(m[1])
					shown += more
				}
				if len(lines) > maxNotes || shown != n || !strings.Contains(text, "F0") {
					t.Errorf("%d findings of %d words at %d columns:\n%s", n, words, width, b.String())
				}
				for _, line := range lines[1:] {
					if utf8.RuneCountInString(line) > max(60, min(width, noteWidth)) { // the last line is not broken
						t.Errorf("a line of %d columns: %s", utf8.RuneCountInString(line), line)
					}
				}
			}
		}
	}
}
