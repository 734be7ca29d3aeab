package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// This file: the notes after a run, a few short sentences about what the sampler chose and what the
// model rejected. --verbose shows all of it.

const (
	maxNotes  = 6   // maximum number of lines, including the one that says where the rest is
	noteWidth = 100 // of a line of notes
)

// showNotes writes the notes of the run.
func (s *session) showNotes(w io.Writer) {
	if s.options.verbose {
		for _, note := range s.notes() {
			printMessage(w, "%s", note)
		}
		s.showRejections(w)
		return
	}
	lines, more := briefly(s.notes())
	if text := s.rejected(); text != "" {
		lines, more = append([]string{text}, lines...), true
	}
	if len(lines) >= maxNotes {
		lines, more = lines[:maxNotes-1], true
	}
	for _, line := range lines {
		printMessage(w, "%s", line)
	}
	if more {
		printMessage(w, "%s", s.whereMore())
	}
}

// whereMore returns a line that says where to find the rest of the notes.
func (s *session) whereMore() string {
	if s.options.out != "" {
		return "Details: ppl diagnose " + s.options.out
	}
	return "Details: --verbose, or --json."
}

// briefly returns the first sentence of each note; the other sentences have figures and reasons.
// Sentences about the sampler are joined if they fit in a line. Of sentences about single chains,
// only the one about the first chain is shown.
func briefly(notes []string) (lines []string, more bool) {
	kinds := map[string]int{}
	for _, note := range notes {
		first, rest, _ := strings.Cut(note, ". ")
		if rest != "" {
			more = true
			first += "."
		}
		kind := figures.ReplaceAllString(first, "#")
		if kinds[kind]++; kinds[kind] > 1 {
			more = true
			continue
		}
		last := len(lines) - 1
		if last >= 0 && strings.HasPrefix(lines[last], "Metric: ") && strings.HasPrefix(first, "Kernel: ") &&
			utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(first) <= noteWidth {
			lines[last] += " " + first
			continue
		}
		lines = append(lines, first)
	}
	return lines, more
}

// rejected describes the most frequent rejection; "" if the model has rejected nothing.
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
	switch harmless := float64(total) < 0.001*float64(all) && s.divergences == 0; {
	case harmless && total == 1:
		return fmt.Sprintf("The model rejected 1 of %d evaluations, which is harmless: %s", all, message)
	case harmless:
		return fmt.Sprintf("The model rejected %d of %d evaluations, which is harmless; %s: %s", total, all, cmp.Or(often, "each time"), message)
	}
	return fmt.Sprintf("The model rejected %d of %d evaluations, %s: %s", total, all, cmp.Or(often, "each time"), message)
}
