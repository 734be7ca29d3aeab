package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// This file writes the notes after a run: a few short sentences about what the sampler chose and
// what the model rejected. --verbose shows all of them in full.

// showNotes writes the notes of the run. Together with the findings they are at most maxNotes
// lines.
func (s *session) showNotes(w io.Writer) {
	if s.options.verbose {
		for _, note := range s.notes() {
			printMessage(w, "%s", note)
		}
		s.showRejections(w)
		return
	}
	width := min(lineWidth(w), noteWidth)
	left := maxNotes - strings.Count(s.verdict(width), "\n")
	if s.options.json { // which has the findings
		left = maxNotes
	}
	if text := s.rejected(); text != "" {
		rejected := paragraph(text, width)
		if len(rejected) > max(1, min(left, maxLines)) {
			rejected = []string{shortened(text, width)}
		}
		printMessage(w, "%s", strings.Join(rejected, "\n"))
		left -= len(rejected)
	}
	lines, more := briefly(s.notes(), width)
	if more = more || len(lines) > left; more && len(s.fit.Findings()) == 0 { // else the last finding names the command
		left--
		defer printMessage(w, "Details: %s", s.whereMore())
	}
	for _, line := range lines[:max(0, min(left, len(lines)))] {
		printMessage(w, "%s", line)
	}
}

// shortened cuts a text to a line. The place at its end, in parentheses, is kept, in short form.
func shortened(text string, width int) string {
	place := ""
	if at := where.FindStringIndex(text); at != nil {
		text, place = strings.TrimSpace(text[:at[0]]), " "+strings.NewReplacer(", line ", ":", ", column ", ":").Replace(text[at[0]:])
	}
	r := []rune(text)
	if most := width - 1 - utf8.RuneCountInString(place); len(r) > most {
		text = string(r[:max(most-2, 0)])
		for _, end := range []string{", ", " "} { // after a clause, or a word
			if at := strings.LastIndex(text, end); at > len(text)/2 {
				text = text[:at]
				break
			}
		}
		text = strings.TrimRight(text, " ,;:") + " …"
	}
	return text + place
}

// whereMore returns the words for where to find the rest of findings and notes.
func (s *session) whereMore() string {
	if s.options.out != "" {
		return "ppl diagnose " + s.options.out
	}
	return sameVerbose
}

// briefly returns the first sentences of the notes; the other sentences have figures and reasons.
// Sentences share a line if they fit. Of sentences about single chains, only the one about the
// first chain is shown.
func briefly(notes []string, width int) (lines []string, more bool) {
	kinds := map[string]bool{}
	for _, note := range notes {
		first, rest := firstSentence(note)
		kind := figures.ReplaceAllString(first, "#")
		more = more || rest != "" || kinds[kind]
		if kinds[kind] {
			continue
		}
		kinds[kind] = true
		if last := len(lines) - 1; last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(first) < width {
			lines[last] += " " + first
			continue
		}
		lines = append(lines, shortened(first, width))
	}
	return lines, more
}

// rejected describes the most frequent rejection; "" if there are none, or only harmless ones.
func (s *session) rejected() string {
	if len(s.rejections) == 0 {
		return ""
	}
	total, all := 0, s.gradWarmup+s.gradSample
	for _, c := range s.fit.Report.Chains {
		total += c.Rejected
	}
	g := groupRejections(s.rejections)[0]
	message, _, _ := strings.Cut(g.message, "\n")
	often := ""
	if total > g.count || g.messages > 1 {
		often = "most often"
	}
	if float64(total) < 0.001*float64(all) && s.divergences == 0 {
		return ""
	}
	return fmt.Sprintf("The model rejected %d of %d evaluations, %s: %s", total, all, cmp.Or(often, "each time"), message)
}
