package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/front/docs"
	"github.com/ppl-lang/ppl/front/httpd"
	"github.com/ppl-lang/ppl/front/serve"
)

func docsCommand() *cobra.Command {
	var address, out string
	cmd := &cobra.Command{
		Use: "docs",
		Long: `Serves the documentation on this machine: tutorials, how-to pages, reference and evidence,
with a search. It needs no network. With --out, the pages are written to a folder instead;
open its index.html, or have any web server offer the folder.

A released program carries the pages. One that was installed by go install builds them with
the Go toolchain each time, which takes seconds.

ppl doc NAME explains one function or distribution in the terminal.`,
		Example: "    ppl docs\n    ppl docs --out pages",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			written := cmd.Flags().Changed("out")
			var server *httpd.Server
			if written {
				if err := exportable("--out", out); err != nil {
					return err
				}
			} else {
				var err error
				if server, err = httpd.Listen(httpd.Options{Address: address, Grace: time.Second}); err != nil {
					return err
				}
				defer server.Close()
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			files, err := docs.Pages(ctx)
			if err != nil {
				if ctx.Err() != nil {
					return exitCode(exitInterrupted)
				}
				return err
			}
			if written {
				if err := exportFiles(out, files); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "The documentation is in %s: open index.html there.\n", out)
				return nil
			}
			// It starts no process any more. Others of the same user are kept from its memory.
			if err := serve.Harden(); err != nil {
				return err
			}
			serveFiles(server, files)
			fmt.Fprintf(cmd.OutOrStdout(), "The documentation is at %s/ (Ctrl-C ends it)\n", server.URL())
			return server.Serve(ctx)
		},
	}
	f := declare(cmd)
	f.String(&address, "listen", "127.0.0.1:8723")
	f.String(&out, "out", "")
	return cmd
}
