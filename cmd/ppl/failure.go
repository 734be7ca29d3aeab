package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/model"
)

// The exit codes.
const (
	exitError       = 1
	exitUsage       = 2
	exitFindings    = 3   // with --fail-on, see failOn
	exitInterrupted = 130 // as shells count a program that SIGINT has ended
)

// usageError is a wrong command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(err error) error { return &usageError{err} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// exitCode is an error that was already reported; only the exit code remains.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// argumentNames explains the names of arguments.
var argumentNames = map[string]string{
	"MODEL": "a file in Stan's language",
	"DIR":   "the folder of a run, or CSV files",
}

// arguments requires exactly the named arguments.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			name := names[len(args)]
			if what := argumentNames[name]; what != "" {
				name += " is missing: " + what
			} else {
				name += " is missing"
			}
			return usagef("%s", name)
		case len(args) > len(names):
			return usage(meant(fmt.Errorf("unexpected argument %q", args[len(names)]), argumentHelp(cmd, args[len(names)])))
		}
		return nil
	}
}

// atLeastOne requires one argument or more.
func atLeastOne(name string) cobra.PositionalArgs {
	one := arguments(name)
	return func(cmd *cobra.Command, args []string) error { return one(cmd, args[:min(1, len(args))]) }
}

// fail shows an error and returns the exit code.
func fail(w io.Writer, cmd *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	wrong := errors.As(err, new(*usageError))
	// Errors that cobra finds before the command runs can only be recognised by their text.
	if strings.HasPrefix(err.Error(), "unknown command") || strings.HasPrefix(err.Error(), "required flag") {
		wrong = true
	}
	showError(w, err)
	if wrong {
		printMessage(w, "Run '%s --help' for how to use it.", cmd.CommandPath())
		return exitUsage
	}
	return exitError
}

// maxShown is the maximum number of messages shown for one error. Users fix the first ones first.
const maxShown = 10

// showError shows an error, with the source lines that it is about.
func showError(w io.Writer, err error) {
	if list := model.Diagnostics(err); list != nil {
		shown := min(len(list), maxShown)
		diag.Render(w, wordedList(list[:shown]), diagOptions(w))
		if more := len(list) - shown; more > 0 {
			fmt.Fprintf(w, "\n… and %s.\n", count(more, "more message", "more messages"))
		}
		return
	}
	text := fitted(w, "error: "+shown(w, err.Error()))
	if mark := "error:"; colored(w) {
		text = "\x1b[1;31m" + mark + "\x1b[0m" + strings.TrimPrefix(text, mark)
	}
	fmt.Fprintln(w, text)
	if replacing, ok := errors.AsType[*folder.ReplacingError](err); ok {
		fmt.Fprintf(w, "If no process is at it, finish that by: %s\n", shown(w, "ppl run --resume "+replacing.Folder))
	}
	if unfinished, ok := errors.AsType[*fit.UnfinishedError](err); ok {
		fmt.Fprintf(w, "If no process is at it, resume it: %s\n", shown(w, "ppl run --resume "+unfinished.Folder))
	}
}

// printMessage prints a message and a line break. On a terminal, control characters are escaped,
// and lines are broken between words to fit.
func printMessage(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, fitted(w, shown(w, fmt.Sprintf(format, args...))))
}

// confirm reports the success of a command that otherwise prints nothing, if w is a terminal. It
// writes nothing to files and pipes: for scripts, no output means success.
func confirm(w io.Writer, format string, args ...any) {
	if _, _, ok := terminalSize(w); ok {
		printMessage(w, format, args...)
	}
}

// fitted breaks the lines of a text between words to fit the terminal. Text for files and pipes
// stays as it is.
func fitted(w io.Writer, text string) string {
	width, _, ok := terminalSize(w)
	if !ok {
		return text
	}
	return broken(text, width)
}

// broken breaks the lines of a text between words to fit a terminal of that width; 0 means no
// limit. The rest of an indented line is indented by two columns more.
func broken(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if indent != "" {
			indent += "  "
		}
		for utf8.RuneCountInString(line) >= width {
			cut := lastSpace(line, len(indent), width-1)
			if cut < 0 {
				break
			}
			b.WriteString(strings.TrimRight(line[:cut], " ") + "\n")
			line = indent + strings.TrimLeft(line[cut:], " ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// lastSpace returns the index of the last space of line that follows a word after the indent and
// leaves at most width characters before it or, if there is none, of the first one; -1 without any.
func lastSpace(line string, indent, width int) int {
	cut, n, word := -1, 0, false
	for i, c := range line {
		switch {
		case i < indent:
		case c != ' ':
			word = true
		case word && (n <= width || cut < 0):
			cut = i
		}
		n++
	}
	return cut
}

// diagOptions returns options that adapt messages to the writer that shows them.
func diagOptions(w io.Writer) diag.Options {
	o := diag.Options{Color: colored(w)}
	if width, _, ok := terminalSize(w); ok {
		o.Width = max(width-10, 20) // beside the line number
		o.Wrap = max(width, 40)
	}
	return o
}
