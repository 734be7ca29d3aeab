package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file: findings in a few lines. The verdict comes first, then the worst findings with a
// sentence each, then the number of the others and where to read all.

const (
	maxNotes  = 6   // maximum number of lines of findings and notes together
	noteWidth = 100 // of such a line
	maxLines  = 2   // of one sentence about findings
)

// relation is a row of related.
type relation struct {
	leader    string
	followers []string // in the order of the sentence
}

// related lists findings that share the sentence of another one, which explains them or is
// about the same trouble. If a finding is in several rows, the first row whose leader was found has
// it.
var related = []relation{
	{"improper", []string{"rhat", "ess", "treedepth", "ebfmi", "heavy-tail", infer.EventUnsettled}},
	{"separation", []string{"rhat", "ess", "treedepth", "ebfmi", "heavy-tail", infer.EventUnsettled}},
	{infer.EventModes, []string{"rhat", "ess", infer.EventUnsettled}},
	{"few-draws", []string{"rhat", "ess", infer.EventUnsettled}},
	{"stuck-chain", []string{infer.EventDropped, "rhat", "ess", infer.EventUnsettled}},
	{"divergences", []string{"ebfmi"}},
	{"rhat", []string{"ess", infer.EventUnsettled}},
	{"generated", []string{"undefined"}},
	{"one-chain", []string{"shared-start"}},
}

// sentence is what is printed about a finding and those that share its sentence.
type sentence struct {
	leader    diagnose.Finding
	followers []diagnose.Finding
}

// sentences groups findings, problems first.
func sentences(findings []diagnose.Finding) []sentence {
	leaderOf := func(f diagnose.Finding) string {
		for _, r := range related {
			if slices.Contains(r.followers, f.Code) && slices.ContainsFunc(findings, func(l diagnose.Finding) bool {
				return l.Code == r.leader && (l.Severity == diagnose.Problem || f.Severity == diagnose.Note)
			}) {
				return r.leader
			}
		}
		return ""
	}
	var out []sentence
	for _, severity := range []diagnose.Severity{diagnose.Problem, diagnose.Note} {
		for _, f := range findings {
			if f.Severity == severity && leaderOf(f) == "" {
				out = append(out, sentence{leader: f})
			}
		}
	}
	for _, f := range findings {
		leader := leaderOf(f)
		if leader == "" {
			continue
		}
		if i := slices.IndexFunc(out, func(s sentence) bool { return s.leader.Code == leader }); i >= 0 {
			out[i].followers = append(out[i].followers, f)
		} else { // its leader shares the sentence of another
			out = append(out, sentence{leader: f})
		}
	}
	for _, s := range out {
		i := slices.IndexFunc(related, func(r relation) bool { return r.leader == s.leader.Code })
		sorting.Stable(s.followers, func(a, b diagnose.Finding) int {
			return slices.Index(related[i].followers, a.Code) - slices.Index(related[i].followers, b.Code)
		})
	}
	return out
}

// clause returns a finding as a clause.
func clause(f diagnose.Finding) string {
	if f.Brief != "" {
		return f.Brief
	}
	first, _ := firstSentence(f.Summary)
	return strings.TrimSuffix(first, ".")
}

// firstSentence cuts a text after its first sentence.
func firstSentence(text string) (first, rest string) {
	first, rest, more := strings.Cut(text, ". ")
	if more {
		first += "."
	}
	return first, rest
}

// lines returns the sentence in at most maxLines lines of a width, and the number of findings that
// it covers. What does not fit is left out: options first, then followers, then the advice.
func (s sentence) lines(width int) (lines []string, covered int) {
	mark := "Problem: "
	if s.leader.Severity == diagnose.Note {
		mark = "Note: "
	}
	first, option := s.leader.First, ""
	if words := wordsFor(s.leader.Settings, ""); first != "" && len(words) > 0 {
		option = " (" + words[0] + ")"
	}
	if first != "" {
		first = ": " + first
	} else if advice, _ := firstSentence(s.leader.Advice); advice != "" {
		first = ". " + strings.TrimSuffix(advice, ".")
	}
	for covered = len(s.followers); ; covered-- {
		text := mark + clause(s.leader)
		for _, f := range s.followers[:covered] {
			text += ", " + lowered(clause(f))
		}
		lines = paragraph(text+first+".", width)
		if more := paragraph(text+first+option+".", width); len(more) == len(lines) {
			lines = more
		}
		switch {
		case len(lines) <= maxLines:
			return lines, covered + 1
		case covered > 0:
		default:
			if lines = paragraph(text+".", width); len(lines) > maxLines {
				lines = lines[:maxLines]
				last := []rune(lines[maxLines-1])
				lines[maxLines-1] = strings.TrimRight(string(last[:min(len(last), width-2)]), " .,:;") + " …"
			}
			return lines, 1
		}
	}
}

// lowered returns a clause for the middle of a sentence. Terms such as R-hat stay as they are.
func lowered(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	if second, _ := utf8.DecodeRuneInString(text[n:]); !unicode.IsLower(second) {
		return text
	}
	return string(unicode.ToLower(first)) + text[n:]
}

// paragraph breaks a text between words. Lines after the first are indented.
func paragraph(text string, width int) []string {
	var b strings.Builder
	lead, rest, _ := strings.Cut(text, " ")
	writeParagraph(&b, lead+" ", rest, width)
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// inBrief has what writeBriefly needs besides findings.
type inBrief struct {
	verdict string // what problems mean for the results, as a clause; "" if it depends
	checked bool   // the absence of problems means something, as the results were checked
	details string // the words for where all findings are: a command
	lines   int    // maximum number of lines; 0: maxNotes
	verbose bool   // write all in full instead
	width   int
}

// sameVerbose are the details of commands whose findings no other command shows.
const sameVerbose = "the same command with --verbose"

// writeBriefly writes findings in at most maxNotes lines: in full if they fit. Without any it
// writes that there are no problems.
func writeBriefly(b *strings.Builder, findings []diagnose.Finding, o inBrief) {
	if o.verbose || len(findings) == 0 {
		writeFindings(b, findings, o.width)
		return
	}
	lines := o.lines
	if lines == 0 {
		lines = maxNotes
	}
	width := min(o.width, noteWidth)
	var full strings.Builder
	if writeFindings(&full, findings, width); strings.Count(full.String(), "\n") < lines { // one or two
		if o.checked || o.verdict != "" { // else each line is a verdict
			b.WriteString(o.verdictOf(findings) + "\n")
		}
		b.WriteString(full.String())
		return
	}
	text, more := o.verdictOf(findings), 0
	left := lines - 2 // without the verdict and the last line
	for i, s := range sentences(findings) {
		all, covered := s.lines(width)
		if len(all) > left && i > 0 || left <= 0 {
			left = 0
			more += 1 + len(s.followers)
			continue
		}
		left -= len(all)
		text += "\n" + strings.Join(all, "\n")
		more += 1 + len(s.followers) - covered
	}
	last := "Reasons and remedies: "
	if more > 0 {
		last = fmt.Sprintf("%s, with reasons and remedies: ", count(more, "more finding", "more findings"))
	}
	b.WriteString(text + "\n" + last + o.details + "\n")
}

// verdictOf returns the first line.
func (o *inBrief) verdictOf(findings []diagnose.Finding) string {
	problems := 0
	for _, f := range findings {
		if f.Severity == diagnose.Problem {
			problems++
		}
	}
	notes := len(findings) - problems
	text := ""
	switch {
	case problems == 0 && o.checked:
		return fmt.Sprintf("No problems found; %s.", count(notes, "note", "notes"))
	case problems == 0:
		return count(notes, "note", "notes") + "."
	case notes == 0:
		text = count(problems, "problem", "problems") + " found"
	default:
		text = fmt.Sprintf("%s and %s", count(problems, "problem", "problems"), count(notes, "note", "notes"))
	}
	if o.verdict != "" {
		text += ": " + o.verdict
	}
	return text + "."
}
