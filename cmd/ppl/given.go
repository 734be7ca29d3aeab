package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
)

// This file checks standard output and the limit on open files before a command starts its work.

// errClosed says that standard output is closed. It looks the same if it is /dev/null, opened for
// reading and writing.
var errClosed = errors.New("it is closed, or /dev/null opened for reading, too: send it to a file, or to >/dev/null to do without it")

// closedOutput replaces a standard output that was closed; Go opens /dev/null in that case.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) { return 0, errClosed }

// standardOutput returns the writer for results.
func standardOutput() io.Writer {
	if outputClosed() {
		return closedOutput{}
	}
	return os.Stdout
}

// neededOutput checks, before a command starts its work, that its result can be printed. Otherwise
// a run of hours could end with a summary that nobody sees. Commands that serve or write files need
// no standard output.
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

// minFiles is the number of files that any command may need to open.
const minFiles = 16

// enoughFiles returns an error if the process may open fewer than need files. what is the subject
// of its message.
func enoughFiles(need int, what string) error {
	if limit, ok := fileLimit(); ok && limit < uint64(need) {
		return fmt.Errorf("%s needs up to %d open files, and this process may have %d: allow for more by ulimit -n %d", what, need, limit, max(need, 256))
	}
	return nil
}

// descriptors returns an error if the process may not open enough files for the run. For each chain
// it has open the file of draws, their journal, and the file that is being written.
func (o *running) descriptors() error {
	const perChain = 3
	need := minFiles + perChain*o.chains
	if err := enoughFiles(need, fmt.Sprintf("A run of %d chains with --out", o.chains)); err != nil {
		return fmt.Errorf("%w, or run fewer chains", err)
	}
	return nil
}
