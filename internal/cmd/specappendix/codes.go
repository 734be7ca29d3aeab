package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/lang/diag"
)

// codesHead is the part of the page of codes before the codes.
const codesHead = `# Codes of errors and warnings

Each message ends with a code in brackets, such as [E0101](#e0101). A code keeps its meaning in later versions. For
most codes there is a program that is wrong, and the same program fixed. ` + "`ppl explain-error CODE`" + ` prints the same
text. W06xx are warnings of ` + "`ppl check --pedantic`" + `. Codes of data have the data in the first line of their program.

<!-- Written by internal/cmd/specappendix -w from the comments of lang/diag. -->
`

// families lists the sections of the page, each with the beginnings of its codes.
var families = []struct {
	title    string
	prefixes []string
}{
	{"Syntax", []string{"E01"}},
	{"Names and scopes", []string{"E02"}},
	{"Types and calls", []string{"E03"}},
	{"Blocks and statements", []string{"E04"}},
	{"User functions", []string{"E05"}},
	{"Data", []string{"E06"}},
	{"Not supported", []string{"E09"}},
	{"Warnings", []string{"W01", "W02", "W03", "W04", "W05"}},
	{"Warnings on demand", []string{"W06"}},
}

// codePage returns the page of all codes. The heading of a code is the code alone, so that its
// anchor, which editors link to, does not change with the words.
func codePage(string) (string, error) {
	all := diag.Explanations()
	slices.SortFunc(all, func(a, b diag.Explanation) int { return cmp.Compare(a.Code, b.Code) })
	var b strings.Builder
	b.WriteString(codesHead)
	n := 0
	for _, f := range families {
		fmt.Fprintf(&b, "\n## %s\n", f.title)
		for _, e := range all {
			if slices.Contains(f.prefixes, string(e.Code)[:3]) {
				n++
				writeCode(&b, e)
			}
		}
	}
	if n != len(all) {
		return "", fmt.Errorf("%d of %d codes are in a section of the page: complete the table of families", n, len(all))
	}
	return b.String(), nil
}

// writeCode writes the section of a code.
func writeCode(b *strings.Builder, e diag.Explanation) {
	first, size := utf8.DecodeRuneInString(e.Title)
	fmt.Fprintf(b, "\n### %s\n\n**%c%s.**\n", e.Code, unicode.ToUpper(first), e.Title[size:])
	if e.Text != "" {
		fmt.Fprintf(b, "\n%s", e.Text)
	}
	if e.Example != "" {
		fmt.Fprintf(b, "\n```stan\n%s```\n", e.Example)
	}
	if e.Fixed != "" {
		fmt.Fprintf(b, "\nFixed:\n\n```stan\n%s```\n", e.Fixed)
	}
}
