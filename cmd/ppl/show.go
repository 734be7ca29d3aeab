package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/tempered"
)

// show prints the run for people.
func (s *session) show(w io.Writer) error {
	width, _, terminal := terminalSize(w)
	if !terminal {
		width = 100
	}
	var b strings.Builder
	limit := 0
	if terminal {
		limit = width
	}
	if err := s.options.rows.table(&b, s.fit, limit); err != nil {
		return err // an error in --vars
	}
	b.WriteString("\n")
	if s.interrupted {
		writeParagraph(&b, "", s.interruption(), width)
	}
	for _, text := range append(s.salvaged(), s.inexact(), s.reached(), s.missing(), s.summed()) {
		if text != "" {
			writeParagraph(&b, "", text, width)
		}
	}
	b.WriteString(s.verdict(width))
	b.WriteString("\n")
	b.WriteString(fitted(w, s.times()) + "\n")
	if tuned := s.tuned(); tuned != "" {
		writeParagraph(&b, "", tuned, width)
	}
	if tempered := s.tempered(); tempered != "" {
		writeParagraph(&b, "", tempered, width)
	}
	if len(s.fit.Files) > 0 {
		b.WriteString("Draws: " + filesText(s.fit.Files) + "\n")
	}
	if len(s.fit.Tables) > 0 {
		b.WriteString("Tuning: " + filesText(s.fit.Tables) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeFindingsOf writes the problems of a run or, if there are none, the checks that it passed.
func writeFindingsOf(b *strings.Builder, fit *fit.Fit, o inBrief) {
	findings := fit.Findings()
	o.verdict, o.checked = "do not use the estimates as they are", fit.Approximate() == "" && !fit.FromPrior
	if !slices.ContainsFunc(findings, func(f diagnose.Finding) bool {
		return f.Severity == diagnose.Problem && !ofComputation(f)
	}) {
		o.verdict = "some quantities are not usable"
	}
	writeBriefly(b, findings, o)
	if len(findings) == 0 {
		writeParagraph(b, "", fit.Checked(), o.width)
	}
}

// verdict returns the findings of the run, briefly unless --verbose is given.
func (s *session) verdict(width int) string {
	var b strings.Builder
	o := inBrief{details: s.whereMore(), verbose: s.options.verbose, width: width, lines: maxNotes}
	if s.rejected() != "" {
		o.lines-- // for the note about it
	}
	writeFindingsOf(&b, s.fit, o)
	return b.String()
}

// writeFindings prints findings with advice.
func writeFindings(b *strings.Builder, findings []diagnose.Finding, width int) {
	if len(findings) == 0 {
		b.WriteString("No problems found.\n")
	}
	for _, f := range worded(findings, "") {
		mark := "Problem: "
		if f.Severity == diagnose.Note {
			mark = "Note: "
		}
		writeParagraph(b, mark, f.Summary, width)
		if len(f.Quantities) > 1 || len(f.Quantities) == 1 && f.Code == "divergences" {
			lead := "Among them: "
			switch f.Code {
			case "divergences":
				lead = "They are most frequent at extreme values of "
			case "rhat", "ess":
				lead = "Worst: "
			}
			writeParagraph(b, "  ", lead+strings.Join(f.Quantities, ", ")+".", width)
		}
		if f.Advice != "" {
			writeParagraph(b, "  ", f.Advice, width)
		}
	}
}

// filesText returns a list of file names as text.
func filesText(names []string) string {
	if len(names) == 1 {
		return escaped(names[0])
	}
	return escaped(fmt.Sprintf("%s … %s", names[0], names[len(names)-1]))
}

// missing says which values of the data were estimated; "" if all were given.
func (s *session) missing() string {
	if s.loaded == nil {
		return ""
	}
	return report.MissingText(s.loaded.posterior.Missing())
}

// summed says which integer parameters were summed out of the density; "" if there are none.
func (s *session) summed() string {
	if s.loaded == nil {
		return ""
	}
	p := s.loaded.posterior
	missing := map[string]bool{}
	for _, m := range p.Missing() {
		missing[m.Name] = true
	}
	elements := map[string]int{}
	for _, n := range p.OutputNames() {
		elements[diagnose.VariableName(n)]++
	}
	var parts []string
	for name := range p.Model().Program().Discretes() {
		switch n := elements[name]; {
		case n == 0 || missing[name]:
		case n == 1:
			parts = append(parts, name)
		default:
			parts = append(parts, fmt.Sprintf("%s (%d integers)", name, n))
		}
	}
	if parts == nil {
		return ""
	}
	dir := s.options.out
	if dir == "" {
		dir = "DIR, after a run with --out DIR"
	}
	return fmt.Sprintf("Summed out of the density: %s. The draws have values given the other parameters; their probabilities: ppl states %s", strings.Join(parts, ", "), dir)
}

// times returns the line about times and gradients.
func (s *session) times() string {
	l := s.loaded
	text := fmt.Sprintf("Ready in %s (compile %s, data %s, bind %s). Warm-up %s, sampling %s.",
		short(l.compile+l.read+l.bind), short(l.compile), short(l.read), short(l.bind), short(s.warmup), short(s.sampling))
	text += fmt.Sprintf("\nGradients: %d in warm-up, %d in sampling.", s.gradWarmup, s.gradSample)
	e := s.fit.Efficiency()
	least, name := e.MinBulk, e.WorstBulk
	if e.MinTail < least {
		least, name = e.MinTail, e.WorstTail
	}
	if e.MinSquares < least {
		least, name = e.MinSquares, e.WorstSquares+", squared deviations"
	}
	if least > 0 && s.sampling > 0 && !math.IsNaN(e.PerGradient) { // with few draws, some effective sample sizes are unknown
		text += fmt.Sprintf("\nSmallest effective sample size: %.0f (%s), ", least, name)
		if s.options.resume == "" { // in a resumed run, the time of the earlier parts is unknown
			text += fmt.Sprintf("%.3g per second and ", least/s.sampling.Seconds())
		}
		text += fmt.Sprintf("%.3g per 1000 gradients of sampling.", 1000*e.PerGradient)
	}
	return text
}

// tuned returns a text about the final number of steps, for a sampler that tunes it.
func (s *session) tuned() string {
	var parts []string
	for _, c := range s.fit.Report.Chains {
		if steps, ok := c.Kernel["steps"]; ok {
			parts = append(parts, fmt.Sprintf("chain %d at most %.0f steps of size %.3g", c.ID, steps, c.Kernel["step_size"]))
		}
	}
	if parts == nil {
		return ""
	}
	return "Tuned to: " + strings.Join(parts, ", ") + "."
}

// tempered returns a text about the results of parallel tempering: restarts, and the normalising
// constant.
func (s *session) tempered() string {
	var kernels []map[string]float64
	least, most := math.Inf(1), 0.0
	for _, c := range s.fit.Report.Chains {
		if n, ok := c.Kernel["restarts"]; ok {
			kernels = append(kernels, c.Kernel)
			least, most = min(least, n), max(most, n)
		}
	}
	if kernels == nil {
		return ""
	}
	text := fmt.Sprintf("Restarts from a reference: %.0f to %.0f per chain.", least, most)
	if z, _ := tempered.EvidenceOf(kernels); !math.IsNaN(z.LogZ) {
		digits := 2
		if z.Error > 0 {
			digits = max(0, 1-int(math.Floor(math.Log10(z.Error))))
		}
		text += fmt.Sprintf(" log Z = %.*f ± %.2g (standard error), for the density whose logarithm is lp__.", digits, z.LogZ, z.Error)
	}
	return text
}

// short formats a duration with three digits.
func short(d time.Duration) string {
	if d >= 10*time.Second {
		return clock(d)
	}
	return nanoseconds(float64(d))
}

// writeParagraph breaks text into lines of at most width columns, indented by the length of lead.
func writeParagraph(b *strings.Builder, lead, text string, width int) {
	indent := strings.Repeat(" ", min(len(lead), 2))
	width = max(20, min(width, 100))
	line := lead
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	b.WriteString(line + "\n")
}
