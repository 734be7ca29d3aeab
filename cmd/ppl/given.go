package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
)

// This file: what the process was started with.

// errClosed says that standard output is closed. That of other programs looks the same which
// open /dev/null for reading and writing.
var errClosed = errors.New("it is closed, or /dev/null opened for reading, too: send it to a file, or to >/dev/null to do without it")

// closedOutput is in the place of a standard output that was closed: Go opens /dev/null there.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) { return 0, errClosed }

// standardOutput is where results are printed.
func standardOutput() io.Writer {
	if outputClosed() {
		return closedOutput{}
	}
	return os.Stdout
}

// neededOutput checks, before a command works, that its result can be printed: a run of hours whose
// summary nobody can see is not begun. Commands that serve or write files need no standard output.
func neededOutput(cmd *cobra.Command, out *checkedWriter) error {
	if _, closed := out.Writer.(closedOutput); !closed {
		return nil
	}
	f := cmd.Flags()
	given := func(name string) bool { return f.Lookup(name) != nil && f.Changed(name) }
	if slices.Contains([]string{"serve", "playground", "docs", "lsp", "work"}, cmd.Name()) || (given("out") || given("resume")) && !given("json") {
		out.Writer = io.Discard
		return nil
	}
	return fmt.Errorf("cannot write to standard output: %w", errClosed)
}

// minFiles is the number of files that may be open which any command needs.
const minFiles = 16

// enoughFiles is an error if fewer files may be open than so many.
func enoughFiles(need int, what string) error {
	if limit, ok := fileLimit(); ok && limit < uint64(need) {
		return fmt.Errorf("%s needs up to %d open files, and this process may have %d: allow for more by ulimit -n %d", what, need, limit, max(need, 256))
	}
	return nil
}

// descriptors counts the files that a run has open at a time: for each chain its draws, their
// journal, and both for reading back; the file that is being written; and those of the process.
func (o *running) descriptors() error {
	const perChain = 3
	need := minFiles + perChain*o.chains
	if err := enoughFiles(need, fmt.Sprintf("A run of %d chains with --out", o.chains)); err != nil {
		return fmt.Errorf("%w, or run fewer chains", err)
	}
	return nil
}
