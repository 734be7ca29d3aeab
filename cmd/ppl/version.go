package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/internal/buildinfo"
	"github.com/ppl-lang/ppl/lang"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version",
		Long: `Prints the version of this program, its system and Go version, the commit, the
version of Stan whose language it reads, and the processor's instructions that
models use. The commit is known to programs that Go built in a clone or
installed by version. The environment variable PPL_PROCESSOR chooses other
instructions: AVX-512, AVX2, NEON, or none. Results agree to the last bit, except
products of matrices and numbers at the ends of the range. The folder of a run
records them in run.json.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := buildinfo.Read()
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), versionJSON{b.Version, b.Commit, b.Changed, b.Time, runtime.GOOS, runtime.GOARCH, runtime.Version(), lang.StanVersion, compile.CPULevel()})
			}
			var out strings.Builder
			fmt.Fprintf(&out, "ppl %s %s/%s %s\n", b.Version, runtime.GOOS, runtime.GOARCH, runtime.Version())
			commit := "not known; `go build -buildvcs=true` in a clone records it"
			switch {
			case b.Commit != "":
				commit = b.Commit + " of " + b.Time
			case b.Version != "devel":
				commit = "the one with the tag " + b.Version
			}
			if b.Changed {
				commit += ", with changes"
			}
			fmt.Fprintf(&out, "commit: %s\n", commit)
			fmt.Fprintf(&out, "language: Stan %s\n", lang.StanVersion)
			fmt.Fprintf(&out, "processor: %s\n", compile.CPULevel())
			_, err := fmt.Fprint(cmd.OutOrStdout(), out.String())
			return err
		},
	}
	declare(cmd).Bool(&asJSON, "json", false)
	return cmd
}

// versionJSON is what version prints as JSON.
type versionJSON struct {
	Version   string `json:"version"`   // version of the program
	Commit    string `json:"commit"`    // commit that it was built from; empty if not known
	Changed   bool   `json:"changed"`   // whether files differed from the commit
	Time      string `json:"time"`      // time of the commit
	OS        string `json:"os"`        // operating system
	Arch      string `json:"arch"`      // architecture
	Go        string `json:"go"`        // version of Go that built it
	Stan      string `json:"stan"`      // version of Stan whose language it reads
	Processor string `json:"processor"` // instructions used for models
}
