package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "ppl %s %s/%s %s\n", ppl.Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		},
	}
}
