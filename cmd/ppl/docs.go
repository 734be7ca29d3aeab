package main

import (
	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/front/docs"
)

func docsCommand() *cobra.Command {
	var address, out string
	cmd := &cobra.Command{
		Use: "docs",
		Long: `Serves the documentation on this machine: tutorials, how-to pages, reference and evidence, with a search. It needs no network. With --out, the pages are written to a folder
instead; open its index.html, or serve the folder with any web server.

A released program contains the pages. A program from go install builds them with the Go
toolchain each time, which takes seconds.

ppl doc NAME explains one function or distribution in the terminal.`,
		Example: "    ppl docs\n    ppl docs --out pages",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !docs.Carried() {
				printMessage(cmd.ErrOrStderr(), "Building the pages with the Go toolchain. This takes some seconds; released binaries carry the pages.")
			}
			return offer(cmd, address, "out", out, docs.Pages,
				"The documentation is at %s/ (Ctrl-C ends it)\n", "The documentation is in %s: open index.html there.\n")
		},
	}
	f := declare(cmd)
	f.String(&address, "listen", "127.0.0.1:8723")
	f.String(&out, "out", "")
	return cmd
}
