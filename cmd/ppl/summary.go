package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
)

func summaryCommand() *cobra.Command {
	var o rowOptions
	var asJSON bool
	var in input
	cmd := &cobra.Command{
		Use: "summary DIR… | FILE.csv…",
		Long: `Prints the summary of a run and its findings. The run is a folder of ppl run --out, or CSV files of CmdStan,
one per chain. Several folders are printed one after another.

On a terminal, more than 200 quantities are shown by variable, with their number and the worst of them. Use
--vars, --sort and --limit to show others.

With --json, it prints one object for each folder, with the members of ppl run --json.`,
		Example: `  ppl summary results
  ppl summary results --vars mu,theta[1:3] --percentiles 2.5,50,97.5
  ppl summary results --sort rhat --limit 10
  ppl summary output_1.csv output_2.csv`,
		Args: cobra.ArbitraryArgs,
	}
	o.flags(cmd)
	readsFit.add(cmd, &in)
	f := declare(cmd)
	f.Bool(&asJSON, "json", false)
	f.Bool(&in.quiet, "quiet", false)
	f.Bool(&in.verbose, "verbose", false)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return eachFit(cmd, args, &o, &in.memory, func(stdout io.Writer, title, name string, fit *fit.Fit) error {
			s := newSession(&runOptions{input: input{verbose: in.verbose}, rows: o, chains: fit.Draws.Chains()}, nil, fit, false, nil)
			if asJSON {
				j := s.asJSON(nil)
				if err := j.choose(s, &o); err != nil {
					return err
				}
				return writeJSON(stdout, j)
			}
			return s.look(stdout, title, name, true)
		})
	}
	return cmd
}

// eachFit reads the runs that the arguments name and calls show for each, with the name of the run,
// and a title if there are several.
func eachFit(cmd *cobra.Command, args []string, o *rowOptions, memory *byteSize, show func(stdout io.Writer, title, name string, fit *fit.Fit) error) error {
	if len(args) == 0 {
		return usagef("DIR is missing: the folder of a run (--out), or CSV files of draws")
	}
	if err := o.check(); err != nil {
		return err
	}
	runs, err := runsOf(cmd.Context(), args)
	if err != nil {
		return err
	}
	for _, paths := range runs {
		fit, err := openFit(cmd.Context(), paths, memory)
		if err != nil {
			return err
		}
		title, name := "", strings.Join(paths, " ")
		if len(runs) > 1 {
			title = name
		}
		if err := show(cmd.OutOrStdout(), title, name, fit); err != nil {
			return err
		}
	}
	return nil
}

// look shows a run that was read from files, with the table of quantities or with that of chains,
// under a title if there is one.
func (s *session) look(w io.Writer, title, name string, table bool) error {
	width, _, terminal := terminalSize(w)
	if !terminal {
		width = 100
	}
	var b strings.Builder
	if title != "" {
		fmt.Fprintf(&b, "%s\n\n", title)
	}
	limit := 0
	if terminal {
		limit = width
	}
	if table {
		if err := s.options.rows.table(&b, s.fit, limit); err != nil {
			return err
		}
	} else {
		s.chains(&b, limit)
	}
	b.WriteString("\n")
	details := "ppl diagnose " + name
	if utf8.RuneCountInString(details) > noteWidth/2 {
		details = "ppl diagnose with the same files"
	}
	writeFindingsOf(&b, s.fit, inBrief{details: details, verbose: s.options.verbose || !table, width: width})
	if table {
		size := fmt.Sprintf("%s of %s.", count(s.draws, "draw", "draws"), count(s.fit.Draws.Chains(), "chain", "chains"))
		if method := s.fit.Approximate(); method != "" {
			size = fmt.Sprintf("%s of an approximation (%s).", count(s.draws, "draw", "draws"), method)
		}
		switch {
		case s.gradSample > 0 && s.fit.Record() == nil: // from CSV files alone, warm-up and thinning are unknown
			size += fmt.Sprintf(" Gradients: %d for these draws.", s.gradSample)
		case s.gradSample > 0:
			size += fmt.Sprintf(" Gradients: %d in warm-up, %d in sampling.", s.gradWarmup, s.gradSample)
		}
		b.WriteString("\n" + fitted(w, size) + "\n")
	} else {
		if notes := s.notes(); notes != nil {
			b.WriteString("\n" + fitted(w, strings.Join(notes, "\n")) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	if !table {
		s.showRejections(w)
	}
	return err
}
