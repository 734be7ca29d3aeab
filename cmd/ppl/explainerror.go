package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/lang/diag"
)

func explainErrorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain-error [CODE]",
		Long: `Explains the code in brackets at the end of a message, such as E0301: what it
means, a program that causes it, and how to fix it. Without a code, all
codes are listed.`,
		Example: "  ppl explain-error E0301",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("unexpected argument %q", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			if len(args) == 0 {
				for _, e := range diag.Explanations() {
					fmt.Fprintln(w, hanging(w, string(e.Code)+"  ", e.Title))
				}
				return nil
			}
			code := strings.ToUpper(strings.Trim(args[0], "[]"))
			e, ok := diag.Explain(diag.Code(code))
			if !ok {
				if _, ok := diag.Explain(diag.Code("E0" + code)); ok { // the user may leave out E0
					return usagef("there is no code %s; did you mean E0%s?", code, code)
				}
				return usagef("there is no code %s; `ppl explain-error` lists them all", code)
			}
			explainCode(w, e)
			return nil
		},
	}
}

func explainCode(w io.Writer, e diag.Explanation) {
	fmt.Fprintln(w, fitted(w, fmt.Sprintf("%s: %s", e.Code, e.Title)))
	if e.Code.Pedantic() {
		fmt.Fprint(w, "\nThis warning is given by `ppl check --pedantic` only.\n")
	}
	if e.Text != "" {
		h := newHelping(w)
		h.prose(e.Text)
		fmt.Fprintf(w, "\n%s", h.b.String())
	}
	for _, p := range []struct{ head, text string }{{"Wrong", e.Example}, {"Fixed", e.Fixed}} {
		if p.text == "" {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n\n", p.head)
		for line := range strings.Lines(p.text) {
			fmt.Fprintf(w, "    %s", line)
		}
	}
}
