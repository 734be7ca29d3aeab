package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// fmtOptions are the options of fmt.
type fmtOptions struct{ write, check, diff, upgrade bool }

func fmtCommand() *cobra.Command {
	var o fmtOptions
	cmd := &cobra.Command{
		Use:   "fmt [MODEL…]",
		Short: "Lay models out in the canonical form",
		Long: `Lays models out in the one canonical form: two blanks of indentation, blanks
around operators, lines of at most 80 columns where that is possible. Comments
stay where they are, and one empty line is kept between statements. The program
means the same.

The result goes to standard output, or with -w back to the files. Without a
file, or for -, standard input is formatted. With --check or --diff nothing is
written; the exit code is 1 if a file is not in the canonical form, or cannot
be read as a program.

With --upgrade, the syntax of older versions of Stan is rewritten as it is
today: arrays real x[N], assignments by <-, comments by #, increment_log_prob,
functions whose names end in _log, and functions that have gone.`,
		Example: "  ppl fmt -w *.stan\n  ppl fmt --upgrade old.stan > new.stan\n  ppl fmt --check models/*.stan",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.write && (o.check || o.diff) {
				return usagef("-w cannot be combined with --check or --diff")
			}
			if len(args) == 0 {
				args = []string{"-"}
			}
			failed := false
			for _, name := range args {
				ok, err := o.file(name, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				failed = failed || !ok
			}
			if failed {
				return exitCode(exitError)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.write, "write", "w", false, "write the result back to the files")
	f.BoolVar(&o.check, "check", false, "list the files that are not in the canonical form")
	f.BoolVar(&o.diff, "diff", false, "show what would change")
	f.BoolVar(&o.upgrade, "upgrade", false, "rewrite the syntax of older versions of Stan")
	return cmd
}

// file formats one file; ok is false if it is not as it should be.
func (o *fmtOptions) file(name string, stdin io.Reader, stdout, stderr io.Writer) (ok bool, err error) {
	f, err := readModel(stdin, name, 0)
	if err != nil {
		return false, err
	}
	text, list := o.format(f)
	if list.HasErrors() {
		return false, diag.Render(stderr, list.Errors(), diagOptions(stderr))
	}
	same := text == f.Text
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
	return same || !o.check && !o.diff, err
}

func (o *fmtOptions) format(f *source.File) (string, diag.List) {
	if o.upgrade {
		return format.Upgrade(f, compile.Known)
	}
	return format.Source(f)
}

// replaceFile writes a file so that it is whole at any time.
func replaceFile(name, text string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".ppl-fmt-*")
	if err != nil {
		return fmt.Errorf("%s: cannot write: %w", name, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(text)
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), info.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("%s: cannot write: %w", name, err)
	}
	return nil
}

// unifiedDiff is the change from a to b in the form that patch reads, with
// three lines of context.
func unifiedDiff(name, a, b string) string {
	x, y := splitLines(a), splitLines(b)
	edits := lineEdits(x, y)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	const context = 3
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' {
			i++
			continue
		}
		from := max(0, i-context)
		to, quiet := i, 0
		for to < len(edits) && quiet <= 2*context {
			if edits[to].op == ' ' {
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
			if e.op != '+' {
				nx++
			}
			if e.op != '-' {
				ny++
			}
		}
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", hunkRange(hunk[0].x, nx), hunkRange(hunk[0].y, ny))
		for _, e := range hunk {
			out.WriteByte(e.op)
			out.WriteString(e.line)
			if !strings.HasSuffix(e.line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
		i = to
	}
	return out.String()
}

// hunkRange is the place of n lines after the first `before` ones.
func hunkRange(before, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", before)
	}
	if n == 1 {
		return fmt.Sprint(before + 1)
	}
	return fmt.Sprintf("%d,%d", before+1, n)
}

func splitLines(s string) []string {
	var out []string
	for l := range strings.Lines(s) {
		out = append(out, l)
	}
	return out
}

// edit is a line that stays (' '), goes ('-') or comes ('+'), with how many
// lines of each text are before it.
type edit struct {
	op   byte
	line string
	x, y int
}

// lineEdits is a short way from x to y: the longest common subsequence of what
// is between their common beginning and end.
func lineEdits(x, y []string) []edit {
	lo := 0
	for lo < len(x) && lo < len(y) && x[lo] == y[lo] {
		lo++
	}
	hi := 0
	for hi < len(x)-lo && hi < len(y)-lo && x[len(x)-1-hi] == y[len(y)-1-hi] {
		hi++
	}
	n, m := len(x)-lo-hi, len(y)-lo-hi
	// common[i][j] is the length for x[lo+i:], y[lo+j:]. Very long texts are
	// replaced as a whole.
	var common [][]int
	if n*m <= 10_000_000 {
		common = make([][]int, n+1)
		for i := range common {
			common[i] = make([]int, m+1)
		}
		for i := n - 1; i >= 0; i-- {
			for j := m - 1; j >= 0; j-- {
				if x[lo+i] == y[lo+j] {
					common[i][j] = common[i+1][j+1] + 1
				} else {
					common[i][j] = max(common[i+1][j], common[i][j+1])
				}
			}
		}
	}
	var out []edit
	i, j := 0, 0
	step := func(op byte, line string) {
		out = append(out, edit{op, line, i, j})
		if op != '+' {
			i++
		}
		if op != '-' {
			j++
		}
	}
	for i < lo {
		step(' ', x[i])
	}
	for i < lo+n || j < lo+m {
		switch {
		case common != nil && i < lo+n && j < lo+m && x[i] == y[j]:
			step(' ', x[i])
		case i < lo+n && (j >= lo+m || common == nil || common[i-lo+1][j-lo] >= common[i-lo][j-lo+1]):
			step('-', x[i])
		default:
			step('+', y[j])
		}
	}
	for i < len(x) {
		step(' ', x[i])
	}
	return out
}
