package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
)

// This file: manual pages, made from the same tables as help.

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR",
		Long: `Writes manual pages of all commands to DIR/man1, and of the topics of ppl help to DIR/man7. Files of these names are replaced.

With ~/.local/share/man as DIR, man ppl-run finds them on most systems. Elsewhere, add DIR to the variable MANPATH.`,
		Example: `  ppl man ~/.local/share/man
  man ppl-run`,
		Args: arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := writeManual(rootCommand(&checkedWriter{Writer: io.Discard}), args[0]); err != nil {
				return err
			}
			confirm(cmd.ErrOrStderr(), "Manual pages: %s", args[0])
			return nil
		},
	}
}

// writeManual writes all pages.
func writeManual(root *cobra.Command, dir string) error {
	pages := map[string]string{"man1/ppl.1": manRoot(root)}
	for _, cmd := range root.Commands() {
		if commandNamed(root, cmd.Name()) != nil {
			pages["man1/ppl-"+cmd.Name()+".1"] = manCommandPage(cmd)
		}
	}
	for _, t := range helpTopics {
		pages["man7/ppl-"+t.name+".7"] = manTopic(t)
	}
	for name, text := range pages {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := files.MakeFolder(filepath.Dir(path)); err != nil {
			return fmt.Errorf("cannot write the manual pages: %w", err)
		}
		if err := files.Replace(path, []byte(text)); err != nil {
			return fmt.Errorf("cannot write the manual pages: %w", err)
		}
	}
	return nil
}

// roff is the text of a page, written with the man macros.
type roff struct{ b strings.Builder }

// page begins a page.
func (r *roff) page(name string, section int, text string) {
	fmt.Fprintf(&r.b, ".TH %s %d \"\" \"ppl %s\" \"ppl\"\n", roffQuoted(strings.ToUpper(name)), section, model.Version())
	r.section("Name")
	fmt.Fprintf(&r.b, "%s \\- %s\n", roffText(name), roffText(text))
}

func (r *roff) section(name string) { fmt.Fprintf(&r.b, ".SH %s\n", roffQuoted(strings.ToUpper(name))) }

// prose writes paragraphs. Indented text keeps its line breaks.
func (r *roff) prose(text string) {
	literal, begun := false, false
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if name, what, column, ok := definition(line); ok && !literal {
			for i+1 < len(lines) && indentOf(lines[i+1]) == column {
				i++
				what += " " + strings.TrimSpace(lines[i])
			}
			r.item(`\&`+roffText(strings.TrimSpace(name)), what)
			begun = false
			continue
		}
		indented := strings.HasPrefix(line, " ")
		switch {
		case indented && !literal:
			r.b.WriteString(".PP\n.EX\n")
			literal = true
		case !indented && literal:
			r.b.WriteString(".EE\n")
			literal, begun = false, false
		}
		switch {
		case line == "":
			begun = false
			continue
		case !literal && !begun:
			r.b.WriteString(".PP\n")
			begun = true
		}
		r.line(line)
	}
	if literal {
		r.b.WriteString(".EE\n")
	}
}

// line writes a line of text.
func (r *roff) line(text string) {
	text = roffText(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	r.b.WriteString(text + "\n")
}

// item writes an item of a list: a name and its text.
func (r *roff) item(name, text string) {
	r.b.WriteString(".TP\n" + name + "\n")
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			r.b.WriteString(".br\n")
		}
		r.line(line)
	}
}

// seeAlso writes the last section, with references to other pages.
func (r *roff) seeAlso(pages []string) {
	r.section("See also")
	for i, p := range pages {
		name, section, _ := strings.Cut(p, "(")
		end := ""
		if i < len(pages)-1 {
			end = ","
		}
		fmt.Fprintf(&r.b, ".BR %s (%s%s\n", roffText(name), section, end)
	}
}

// roffText escapes a text.
func roffText(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`, "`", `\(ga`).Replace(text)
}

func roffQuoted(text string) string {
	return `"` + strings.ReplaceAll(roffText(text), `"`, `\(dq`) + `"`
}

func manRoot(root *cobra.Command) string {
	var r roff
	r.page("ppl", 1, "fit Bayesian models written in Stan's language")
	r.section("Synopsis")
	r.b.WriteString(".B ppl\n.I COMMAND\n\\&...\n")
	r.section("Description")
	r.prose(root.Long)
	for _, g := range groupOrder {
		r.section(string(g))
		for _, row := range commandTable() {
			if row.group == g {
				r.item(`.B "ppl `+roffText(row.name)+`"`, row.text)
			}
		}
	}
	r.section("Exit status")
	r.prose(exitCodesTopic)
	see := []string{"ppl-run(1)"}
	for _, t := range helpTopics {
		see = append(see, "ppl-"+t.name+"(7)")
	}
	r.seeAlso(see)
	return r.b.String()
}

func manCommandPage(cmd *cobra.Command) string {
	var r roff
	name := "ppl-" + cmd.Name()
	r.page(name, 1, lowerFirst(cmd.Short))
	r.section("Synopsis")
	fmt.Fprintf(&r.b, ".B %s\n", roffText(cmd.CommandPath()))
	if _, rest, ok := strings.Cut(cmd.UseLine(), cmd.Name()+" "); ok {
		r.line(rest)
	}
	r.section("Description")
	r.prose(cmd.Short + ".")
	r.prose(cmd.Long)
	r.section("Options")
	shown, _ := flagsByTopic(cmd, true)
	for _, part := range shown {
		fmt.Fprintf(&r.b, ".SS %s\n", roffQuoted(string(part.topic)))
		for _, f := range part.flags {
			r.item(manFlag(f), f.Usage+defaultOf(f))
		}
	}
	if cmd.Example != "" {
		r.section("Examples")
		r.prose("    " + strings.ReplaceAll(strings.TrimLeft(cmd.Example, " "), "\n", "\n  "))
	}
	see := []string{"ppl(1)"}
	for _, row := range commandTable() {
		if row.name == cmd.Name() {
			for _, topic := range strings.Fields(row.see) {
				see = append(see, "ppl-"+topic+"(7)")
			}
		}
	}
	r.seeAlso(see)
	return r.b.String()
}

// manFlag formats a flag as the tag of a list item.
func manFlag(f *pflag.Flag) string {
	text := `\fB` + roffText("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		text = `\fB` + roffText("-"+f.Shorthand) + `\fR, ` + text
	}
	if value := noted(f, noteValue); value != "" {
		text += ` \fI` + roffText(value) + `\fR`
	}
	return text
}

func manTopic(t helpTopic) string {
	var r roff
	r.page("ppl-"+t.name, 7, lowerFirst(t.title))
	r.section("Description")
	r.prose(t.text())
	r.seeAlso([]string{"ppl(1)", "ppl-run(1)"})
	return r.b.String()
}

// lowerFirst makes the first letter of a text lower case, for the section NAME, unless it begins
// with an abbreviation.
func lowerFirst(text string) string {
	if text == "" || len(text) > 1 && text[1] >= 'A' && text[1] <= 'Z' {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}
