package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file: the help texts, made from the tables of commands, flags and topics.

const (
	helpWidth    = 80 // width of help that does not go to a terminal
	maxHelpWidth = 100
	minHelpWidth = 40
	flagColumn   = 26 // maximum column in which the texts of flags begin
)

// showHelp writes the help of a command.
func showHelp(w io.Writer, cmd *cobra.Command, all bool) {
	h := newHelping(w)
	if cmd.HasParent() && cmd.HasAvailableSubCommands() { // completion
		h.shells(cmd)
	} else if cmd.HasParent() {
		h.command(cmd, all)
	} else {
		h.root(cmd)
	}
	_, _ = io.WriteString(w, h.b.String()) // checkedWriter notices errors
}

// helping writes a help text.
type helping struct {
	b     strings.Builder
	width int
	color bool
}

// newHelping returns a writer of help that fits the width of w.
func newHelping(w io.Writer) *helping {
	h := &helping{width: helpWidth, color: colored(w)}
	if width, _, ok := terminalSize(w); ok {
		h.width = max(minHelpWidth, min(width-1, maxHelpWidth))
	}
	return h
}

// heading writes the heading of a part.
func (h *helping) heading(text string) {
	if h.color {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	h.b.WriteString("\n" + text + "\n")
}

// row writes a name and, from the given column on, its description.
func (h *helping) row(name, text string, column int) {
	indent := strings.Repeat(" ", column)
	line := "  " + name
	if n := utf8.RuneCountInString(line); n+2 > column {
		h.b.WriteString(line + "\n")
		line = indent
	} else {
		line += strings.Repeat(" ", column-n)
	}
	for part := range strings.SplitSeq(text, "\n") {
		for _, wrapped := range wrap(part, h.width-column) {
			h.b.WriteString(strings.TrimRight(line+wrapped, " ") + "\n")
			line = indent
		}
	}
}

// wrap breaks a text between words into lines of at most width columns, if possible.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// prose writes paragraphs with their lines rewrapped; indented text stays unchanged.
func (h *helping) prose(text string) {
	var paragraph []string
	end := func() {
		if paragraph != nil {
			for _, line := range wrap(strings.Join(paragraph, " "), h.width) {
				h.b.WriteString(line + "\n")
			}
		}
		paragraph = nil
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if name, what, column, ok := definition(line); ok {
			end()
			for i+1 < len(lines) && indentOf(lines[i+1]) == column {
				i++
				what += " " + strings.TrimSpace(lines[i])
			}
			h.row(name, what, column)
			continue
		}
		if line == "" || strings.HasPrefix(line, " ") {
			end()
			h.b.WriteString(line + "\n")
			continue
		}
		paragraph = append(paragraph, line)
	}
	end()
}

// definition splits a line of a list into a name and a description, which begins in column. ok is
// false for other lines; comments in programs look similar but are none.
func definition(line string) (name, what string, column int, ok bool) {
	indent := indentOf(line)
	name, what, ok = strings.Cut(strings.TrimSpace(line), "  ")
	what = strings.TrimSpace(what)
	if !ok || indent < 2 || indent > 4 || strings.HasPrefix(what, "#") || strings.Contains(what, "  ") {
		return "", "", 0, false
	}
	return strings.Repeat(" ", indent-2) + name, what, utf8.RuneCountInString(line) - utf8.RuneCountInString(what), true
}

// indentOf returns the number of leading spaces of a line.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// root writes the help of the program: its commands by group, and the topics.
func (h *helping) root(root *cobra.Command) {
	h.prose(root.Long)
	h.b.WriteString("\nUsage: ppl COMMAND …\n")
	for _, g := range groupOrder {
		h.heading(string(g))
		for _, row := range commandTable() {
			if row.group == g {
				h.row(row.name, row.text, 17)
			}
		}
	}
	h.heading("Topics of ppl help")
	for _, t := range helpTopics {
		h.row(t.name, t.title, 17)
	}
	h.b.WriteString("\n")
	h.prose("ppl help COMMAND shows how to use a command, ppl help TOPIC a topic.")
}

// command writes the help of a command, with all its flags or only the common ones.
func (h *helping) command(cmd *cobra.Command, all bool) {
	h.prose(cmd.Short + ".")
	h.b.WriteString("\nUsage: " + cmd.UseLine() + "\n")
	if cmd.Long != "" {
		h.b.WriteString("\n")
		h.prose(cmd.Long)
	}
	if cmd.Example != "" {
		h.heading("Examples")
		h.b.WriteString(cmd.Example + "\n")
	}
	shown, hidden := flagsByTopic(cmd, all)
	column := 6
	for _, part := range shown {
		for _, f := range part.flags {
			if n := utf8.RuneCountInString(flagName(f)) + 4; n <= flagColumn {
				column = max(column, n)
			}
		}
	}
	for _, part := range shown {
		h.heading(string(part.topic))
		for _, f := range part.flags {
			h.row(flagName(f), f.Usage+defaultOf(f), column)
		}
	}
	h.b.WriteString("\n")
	if hidden > 0 {
		h.prose(fmt.Sprintf("%s --help-all shows %s more.", cmd.CommandPath(), count(hidden, "flag", "flags")))
	}
	if see := seeAlso(cmd.Name()); see != nil {
		h.prose("See also: " + strings.Join(see, ", ") + ".")
	}
}

// shells writes the help of ppl completion.
func (h *helping) shells(cmd *cobra.Command) {
	h.prose(cmd.Short + `.

Completion offers commands, flags and their values: samplers, formats, names of functions, variables of a model or a run, models, and folders that have runs.

    bash        source <(ppl completion bash)
    zsh         source <(ppl completion zsh)
    fish        ppl completion fish | source
    PowerShell  ppl completion powershell | Out-String | Invoke-Expression

Put the line for your shell into its start file. ppl completion SHELL --help has the details.`)
}

// seeAlso returns the names of the topics that belong to a command.
func seeAlso(command string) (see []string) {
	for _, row := range commandTable() {
		if row.name == command {
			for _, name := range strings.Fields(row.see) {
				see = append(see, "ppl help "+name)
			}
		}
	}
	return see
}

// topicFlags has the flags of one topic.
type topicFlags struct {
	topic topic
	flags []*pflag.Flag
}

// flagsByTopic returns the flags of a command in the order in which help shows them, and the number
// of flags left out.
func flagsByTopic(cmd *cobra.Command, all bool) (shown []topicFlags, hidden int) {
	of := map[topic][]*pflag.Flag{}
	rank := map[string]int{}
	for i, row := range flagTable {
		if _, ok := rank[row.name]; !ok {
			rank[row.name] = i
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !all && noted(f, noteCommon) == "" {
			hidden++
			return
		}
		t := topic(noted(f, noteTopic))
		if t == "" { // a flag of completion, which comes with package cobra
			t = topicGeneral
		}
		of[t] = append(of[t], f)
	})
	order := slices.Clone(topicOrder)
	for t := range of {
		if !slices.Contains(order, t) && t != topicGeneral {
			order = append(order, t)
		}
	}
	slices.Sort(order[len(topicOrder):])
	for _, t := range append(order, topicGeneral) {
		if flags := of[t]; flags != nil {
			sorting.Stable(flags, func(a, b *pflag.Flag) int { return rank[a.Name] - rank[b.Name] })
			shown = append(shown, topicFlags{t, flags})
		}
	}
	return shown, hidden
}

// flagName returns a flag in the form in which it is written, with the word for its value.
func flagName(f *pflag.Flag) string {
	text := "    --" + f.Name
	if f.Shorthand != "" {
		text = "-" + f.Shorthand + ", --" + f.Name
	}
	if value := noted(f, noteValue); value != "" {
		text += " " + value
	}
	return text
}

// defaultOf returns a remark on the default of a flag. It returns "" if there is none, or if the
// text of the flag already mentions it.
func defaultOf(f *pflag.Flag) string {
	value := strings.Trim(f.DefValue, "[]")
	switch value {
	case "", "0", "false", "0s":
		return ""
	}
	if strings.Contains(f.Usage, "(default") {
		return ""
	}
	if list, ok := f.Value.(pflag.SliceValue); ok && f.Value.Type() == "float64Slice" {
		value = ""
		for i, v := range list.GetSlice() {
			if i > 0 {
				value += ","
			}
			value += strings.TrimRight(strings.TrimRight(v, "0"), ".")
		}
	}
	if strings.Contains(f.Usage, "\n") {
		return "\n(default " + value + ")"
	}
	return " (default " + value + ")"
}
