package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// fmtOptions has the options of fmt.
type fmtOptions struct{ write, check, diff, upgrade, toStan bool }

func fmtCommand() *cobra.Command {
	var o fmtOptions
	var in input
	cmd := &cobra.Command{
		Use: "fmt [MODEL…]",
		Long: `Formats models in one canonical form: two blanks of indentation, blanks around operators,
lines of at most 80 columns where possible. Comments stay where they are, and at most one
empty line stays between statements. The meaning does not change.

The result goes to standard output, or with -w back to the files. Without a file, or for -,
it formats standard input. With --check or --diff it writes nothing; the exit code is 1 if a
file is not in the canonical form, or cannot be parsed.

--upgrade rewrites the syntax of older versions of Stan: arrays real x[N], assignments by
<-, comments by #, increment_log_prob, functions whose names end in _log, and functions that
were removed.

--to-stan with --data prints a model that has integer parameters, data with missing or
censored values, ragged arrays, or sparse matrices, as Stan runs it for these data: the
integer parameters are summed out of the density, and drawn in generated quantities; the
missing values are parameters, and the data have NaN for them; the censored values add the
probabilities of their intervals; the rows of ragged arrays follow one another, also in the
data; sparse matrices are vectors of their values, with arrays of their places. Other models
are printed in canonical form. Functions that Stan does not have, such as those of Torsten,
are reported.`,
		Example: "  ppl fmt -w *.stan\n  ppl fmt --upgrade old.stan > new.stan\n  ppl fmt --check models/*.stan",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.write && (o.check || o.diff) {
				return usagef("-w cannot be combined with --check or --diff")
			}
			if o.toStan {
				if o.write || o.check || o.diff || o.upgrade || len(args) != 1 {
					return usagef("--to-stan prints one model, and cannot be combined with -w, --check, --diff or --upgrade")
				}
				return in.toStan(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			if in.data != "" || len(in.counts)+len(in.na)+len(in.missing)+len(in.how) > 0 {
				return usagef("--data is for --to-stan, like the flags that say how to read it")
			}
			if len(args) == 0 {
				args = []string{"-"}
			}
			failed, changed := false, 0
			for _, name := range args {
				same, ok, err := o.file(name, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				failed = failed || !ok
				if !same {
					changed++
				}
			}
			switch n := count(len(args), "model", "models"); {
			case failed:
				return exitCode(exitError)
			case o.check || o.diff:
				confirm(cmd.ErrOrStderr(), "%s: formatted", n)
			case o.write:
				confirm(cmd.ErrOrStderr(), "%s: %d reformatted, %d unchanged", n, changed, len(args)-changed)
			}
			return nil
		},
	}
	f := declare(cmd)
	f.Bool(&o.write, "write", false)
	f.Bool(&o.check, "check", false)
	f.Bool(&o.diff, "diff", false)
	f.Bool(&o.upgrade, "upgrade", false)
	f.Bool(&o.toStan, "to-stan", false)
	writesStan.add(cmd, &in)
	return cmd
}

// toStan prints a model as Stan runs it, and warns of what Stan does not have, such as functions of
// Torsten.
func (in *input) toStan(ctx context.Context, name string, stdout, stderr io.Writer) error {
	l, err := in.load(ctx, name, stderr)
	if err != nil {
		return err
	}
	text := l.posterior.Compiled().Stan()
	if text == "" {
		text, _ = format.Source(in.source) // it has no errors
	}
	if _, err = io.WriteString(stdout, text); err != nil {
		return err
	}
	beyond := checkFile(source.NewFile(name+" (for Stan)", text), name, in.compile, false, true)
	beyond = slices.DeleteFunc(beyond, func(d diag.Diagnostic) bool { return d.Code != diag.BeyondStan })
	for i := range beyond {
		beyond[i].Severity = diag.Warning
	}
	return diag.Render(stderr, wordedList(beyond), diagOptions(stderr))
}

// file formats one file. same means that the text already had the canonical form. ok is false if
// the command has to fail because of this file.
func (o *fmtOptions) file(name string, stdin io.Reader, stdout, stderr io.Writer) (same, ok bool, err error) {
	f, err := readModel(stdin, name, 0)
	if err != nil {
		return false, false, err
	}
	text, list := o.format(f)
	if list.HasErrors() {
		return false, false, diag.Render(stderr, wordedList(list.Errors()), diagOptions(stderr))
	}
	same = text == f.Text
	switch {
	case o.diff && !same:
		_, err = io.WriteString(stdout, unifiedDiff(f.Name, f.Text, text))
	case o.check && !same:
		_, err = fmt.Fprintln(stdout, f.Name)
	case o.check || o.diff:
	case o.write && name != "-":
		if !same {
			err = replaceFile(name, text)
		}
	default:
		_, err = io.WriteString(stdout, text)
	}
	return same, same || !o.check && !o.diff, err
}

func (o *fmtOptions) format(f *source.File) (string, diag.List) {
	if o.upgrade {
		return format.Upgrade(f, compile.Known)
	}
	return format.Source(f)
}

// replaceFile replaces a file so that it is complete at every moment.
func replaceFile(name, text string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if err := files.ReplaceMode(name, []byte(text), info.Mode().Perm()); err != nil {
		return fmt.Errorf("%s: cannot write: %w", name, err)
	}
	return nil
}

// unifiedDiff returns the change from a to b as a unified diff with three lines of context.
func unifiedDiff(name, a, b string) string {
	edits := format.Lines(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	const context = 3
	for i := 0; i < len(edits); {
		if edits[i].Op == ' ' {
			i++
			continue
		}
		from := max(0, i-context)
		to, quiet := i, 0
		for to < len(edits) && quiet <= 2*context {
			if edits[to].Op == ' ' {
				quiet++
			} else {
				quiet = 0
			}
			to++
		}
		to -= max(0, quiet-context)
		hunk := edits[from:to]
		nx, ny := 0, 0
		for _, e := range hunk {
			if e.Op != '+' {
				nx++
			}
			if e.Op != '-' {
				ny++
			}
		}
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", hunkRange(hunk[0].Before, nx), hunkRange(hunk[0].After, ny))
		for _, e := range hunk {
			out.WriteByte(e.Op)
			out.WriteString(e.Line)
			if !strings.HasSuffix(e.Line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
		i = to
	}
	return out.String()
}

// hunkRange returns the range of n lines, after the first `before` lines, for the head of a hunk.
func hunkRange(before, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", before)
	}
	if n == 1 {
		return fmt.Sprint(before + 1)
	}
	return fmt.Sprintf("%d,%d", before+1, n)
}
