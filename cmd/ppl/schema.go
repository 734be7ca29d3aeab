package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	reference "github.com/ppl-lang/ppl/doc/reference/json"
	"github.com/ppl-lang/ppl/lang/diag"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema [NAME]",
		Long: `Prints the JSON schema (2020-12) of what a command prints with --json, or of a file
that ppl writes, such as run.json. NAME is a schema, a command or a file. Without it,
all schemas are listed.`,
		Example: `  ppl schema
  ppl schema run > run.schema.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("unexpected argument %q", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			if len(args) == 0 {
				for _, d := range documents {
					fmt.Fprintln(w, hanging(w, fmt.Sprintf("%-16s ", d.name), d.title))
				}
				return nil
			}
			i := slices.IndexFunc(documents, func(d document) bool { return d.name == args[0] || slices.Contains(d.from, args[0]) })
			if i < 0 {
				names := func(yield func(string) bool) {
					for _, d := range documents {
						if !yield(d.name) {
							return
						}
					}
				}
				if near := diag.Nearest(args[0], names); near != "" {
					return usagef("there is no schema %s; did you mean %s? `ppl schema` lists them", args[0], near)
				}
				return usagef("there is no schema %s; `ppl schema` lists them", args[0])
			}
			text, err := reference.Schemas.ReadFile(documents[i].name + ".schema.json")
			if err != nil {
				return err
			}
			_, err = w.Write(text)
			return err
		},
	}
}

// schemaArg completes the name of a schema.
func schemaArg(_ *cobra.Command, args []string, _ string) (out []string, how cobra.ShellCompDirective) {
	if len(args) == 0 {
		for _, d := range documents {
			out = append(out, cobra.CompletionWithDesc(d.name, d.title))
		}
	}
	return out, complete
}
