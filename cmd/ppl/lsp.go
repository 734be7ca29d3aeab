package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ppl-lang/ppl/front/lsp"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/stdlib"
)

func lspCommand() *cobra.Command {
	var includePaths []string
	cmd := &cobra.Command{
		Use: "lsp",
		Long: `Answers an editor on standard input and output in the Language Server Protocol. It offers
messages as you type, with fixes; completion, documentation and signatures; definitions and
references, also through #include; renaming, outline, layout and highlighting; types and
shapes next to expressions. Commands run a model, or check it with the data in
NAME.data.json.

Editors start it; doc/how-to/editors.md says how to set them up. The exit code is 0 if the
editor ends the session as the protocol requires.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := "/proc/self/exe", error(nil) // the program that runs now, even if its file was replaced
			if runtime.GOOS != "linux" {
				if program, err = os.Executable(); err != nil {
					return err
				}
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if term.IsTerminal(int(os.Stdin.Fd())) {
				printMessage(cmd.ErrOrStderr(), "This is for editors, which start it automatically: see doc/how-to/editors.md. Ctrl-C ends it.")
			}
			defer limitHeap(editorHeadroom)()
			err = lsp.Serve(ctx, cmd.InOrStdin(), os.Stdout, lsp.Options{
				Library:      stdlib.Language(),
				Version:      model.Version(),
				IncludePaths: includePaths,
				Command: func(ctx context.Context, args ...string) *exec.Cmd {
					c := exec.CommandContext(ctx, program, args...)
					c.Args[0] = os.Args[0]
					return c
				},
				Log: cmd.ErrOrStderr(),
			})
			if ctx.Err() != nil {
				return exitCode(exitInterrupted)
			}
			return err
		},
	}
	declare(cmd).Strings(&includePaths, "include-path", nil)
	declare(cmd).Bool(new(bool), "stdio", true)
	return cmd
}
