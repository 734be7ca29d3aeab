package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/infer/diagnose"
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
	writeTable(&b, s.fit.Summary(), limit)
	b.WriteString("\n")
	if s.interrupted {
		writeParagraph(&b, "", s.interruption(), width)
	}
	for _, text := range append(s.salvaged(), s.inexact(), s.reached()) {
		if text != "" {
			writeParagraph(&b, "", text, width)
		}
	}
	findings := s.fit.Findings()
	if len(findings) == 0 {
		b.WriteString("No problems found.\n")
	}
	for _, f := range findings {
		mark := "Problem: "
		if f.Severity == diagnose.Note {
			mark = "Note: "
		}
		writeParagraph(&b, mark, f.Summary, width)
		if len(f.Quantities) > 1 {
			writeParagraph(&b, "  ", "Most in "+strings.Join(f.Quantities, ", ")+".", width)
		}
		writeParagraph(&b, "  ", f.Advice, width)
	}
	b.WriteString("\n")
	b.WriteString(s.times() + "\n")
	if tuned := s.tuned(); tuned != "" {
		writeParagraph(&b, "", tuned, width)
	}
	if len(s.fit.Files) > 0 {
		b.WriteString("Draws: " + files(s.fit.Files) + "\n")
	}
	if len(s.fit.Tables) > 0 {
		b.WriteString("Tuning: " + files(s.fit.Tables) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// files names the CSV files.
func files(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s … %s", names[0], names[len(names)-1])
}

// times is the line about times and gradients.
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
	if least > 0 && s.sampling > 0 {
		text += fmt.Sprintf("\nLeast effective sample size: %.0f (%s), ", least, name)
		if s.options.resume == "" { // else the time of the earlier parts is not known
			text += fmt.Sprintf("%.3g per second and ", least/s.sampling.Seconds())
		}
		text += fmt.Sprintf("%.3g per 1000 gradients of sampling.", 1000*e.PerGradient)
	}
	return text
}

// tuned says which steps a sampler that tunes their number has ended with.
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

// short shows a duration with three digits.
func short(d time.Duration) string {
	if d >= 10*time.Second {
		return clock(d)
	}
	return nanoseconds(float64(d))
}

// A column of the summary table. Columns are dropped from narrow terminals in
// the order of drop, 0 being kept.
type column struct {
	title string
	cell  func(r diagnose.Row, decimals int) string
	drop  int
}

var columns = []column{
	{"", func(r diagnose.Row, _ int) string { return r.Name }, 0},
	{"mean", func(r diagnose.Row, d int) string { return figure(r.Mean, d) }, 0},
	{"mcse", func(r diagnose.Row, d int) string { return figure(r.MCSEMean, d) }, 2},
	{"sd", func(r diagnose.Row, d int) string { return figure(r.SD, d) }, 0},
	{"5%", func(r diagnose.Row, d int) string { return figure(r.Q5, d) }, 4},
	{"50%", func(r diagnose.Row, d int) string { return figure(r.Q50, d) }, 1},
	{"95%", func(r diagnose.Row, d int) string { return figure(r.Q95, d) }, 4},
	{"ess_bulk", func(r diagnose.Row, _ int) string { return whole(r.ESSBulk) }, 5},
	{"ess_tail", func(r diagnose.Row, _ int) string { return whole(r.ESSTail) }, 3},
	{"rhat", func(r diagnose.Row, _ int) string { return fixed(r.Rhat, 3) }, 0},
}

// maxRows is how many rows a terminal is shown; files and pipes get all.
const (
	maxRows  = 200
	headRows = 100
)

// writeTable writes the summary table. width is that of the terminal, 0 if it
// is none.
func writeTable(b *strings.Builder, rows []diagnose.Row, width int) {
	if len(rows) == 0 {
		b.WriteString("The model has no parameters and no generated quantities.\n")
		return
	}
	shown := rows
	if width > 0 && len(rows) > maxRows {
		shown = rows[:headRows]
	}
	cells := make([][]string, len(columns))
	widths := make([]int, len(columns))
	for c, col := range columns {
		cells[c] = append(cells[c], col.title)
		for _, r := range shown {
			cells[c] = append(cells[c], col.cell(r, decimals(r)))
		}
		for _, text := range cells[c] {
			widths[c] = max(widths[c], utf8.RuneCountInString(text))
		}
	}
	keep := make([]bool, len(columns))
	total := -2
	for c := range columns {
		keep[c] = true
		total += widths[c] + 2
	}
	var dropped []string
	for step := 1; step <= 5 && width > 0 && total > width; step++ {
		for c, col := range columns {
			if col.drop == step {
				keep[c] = false
				total -= widths[c] + 2
				dropped = append(dropped, col.title)
			}
		}
	}
	if width > 0 && total > width { // long names
		widths[0] = max(8, widths[0]-(total-width))
	}
	for i := range cells[0] {
		var line strings.Builder
		for c := range columns {
			if !keep[c] {
				continue
			}
			text := cut(cells[c][i], widths[c])
			pad := strings.Repeat(" ", widths[c]-utf8.RuneCountInString(text))
			if c == 0 {
				line.WriteString(text + pad)
			} else {
				line.WriteString("  " + pad + text)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	if len(shown) < len(rows) {
		fmt.Fprintf(b, "… and %d more quantities: pipe the output (| less) to see all, or use --json or --out.\n", len(rows)-len(shown))
	}
	if len(dropped) > 0 {
		fmt.Fprintf(b, "(left out, as the window is narrow: %s)\n", strings.Join(dropped, ", "))
	}
}

// decimals is how many decimals a row deserves: its standard error is shown to
// two digits, the rest to as many decimals. -1 asks for significant digits
// instead.
func decimals(r diagnose.Row) int {
	for _, scale := range []float64{r.MCSEMean, r.SD / 100} {
		if scale > 0 && !math.IsInf(scale, 1) {
			d := 1 - int(math.Floor(math.Log10(scale)))
			if d > 6 || d < -3 {
				return -1
			}
			return max(d, 0)
		}
	}
	return -1
}

// figure prints a number with decimals, or with five digits where that would
// not fit.
func figure(v float64, decimals int) string {
	if math.IsNaN(v) {
		return "-"
	}
	if decimals < 0 || math.Abs(v) >= 1e7 {
		return strconv.FormatFloat(v, 'g', 5, 64)
	}
	return fixed(v, decimals)
}

func fixed(v float64, decimals int) string {
	if math.IsNaN(v) {
		return "-"
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	return text
}

func whole(v float64) string { return fixed(v, 0) }

// writeParagraph breaks text into lines of at most width columns, indented as
// far as lead.
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
