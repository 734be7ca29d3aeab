package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/front/formula"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/lang/diag"
)

// newOptions has the options of the command new.
type newOptions struct {
	input
	family    string
	scaled    string
	out       string
	overwrite bool
}

func newCommand() *cobra.Command {
	var o newOptions
	cmd := &cobra.Command{
		Use: "new FORMULA",
		Long: `Writes a model from a formula and a table: a program with comments that you can read,
change and run. Its priors follow from the scale of the data; comments give the reasons.

The formula has R's syntax, as in lme4 and brms: columns, interactions a:b and a*b, groups (1 + x | g), (x || g) and (1 | a/b), offset(x), smooth functions s(x), I(x^2), log(x) and other functions, factor(x). 0 + leaves out the intercept. Left of ~ is the outcome, with y | trials(n) or y | cens(censored) where needed; I(end - start) is computed from columns. Columns of texts are factors with treatment contrasts.

Numbers are centred in the program. --standardise also divides them by their standard deviation; generated quantities then have the coefficients for one unit of the column.

Families: ` + familyList(),
		Example: "  ppl new 'died ~ age + (1 | ward)' --family bernoulli -d r.csv -o r.model\n" +
			"  ppl run r.model --data r.csv",
		Args: arguments("FORMULA"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	readsTable.add(cmd, &o.input)
	f := declare(cmd)
	f.String(&o.family, "family", "gaussian")
	f.String(&o.scaled, "standardise", "")
	f.String(&o.out, "out", "")
	f.Bool(&o.overwrite, "overwrite", false)
	f.Bool(&o.quiet, "quiet", false)
	return cmd
}

// familyList lists the families for people.
func familyList() string {
	names, about := formula.Families()
	var list []string
	for i, n := range names {
		if strings.HasPrefix(n, "zero_inflated_") || strings.HasPrefix(n, "hurdle_") {
			list = append(list, n)
			continue
		}
		list = append(list, n+" ("+about[i]+")")
	}
	return strings.Join(list, ", ") + "."
}

// familyWords returns the values that --family accepts.
func familyWords() []string {
	names, _ := formula.Families()
	return names
}

// standardised returns the columns of --standardise, by their names in the program.
func (o *newOptions) standardised() (columns []string) {
	for c := range strings.SplitSeq(o.scaled, ",") {
		if c = data.ColumnName(c); c != "" {
			columns = append(columns, c)
		}
	}
	return columns
}

func (o *newOptions) run(cmd *cobra.Command, text string) error {
	if o.data == "" {
		return usagef("--data is missing: the table that the model is for")
	}
	if o.out != "" && !o.overwrite {
		if _, err := os.Stat(o.out); err == nil {
			return fmt.Errorf("%s exists. Choose another file by --out, or replace it by --overwrite", o.out)
		}
	}
	if err := o.limits(); err != nil {
		return err
	}
	mentioned := formula.Columns(text)
	o.uses = func(name string) bool { return slices.Contains(mentioned, name) }
	o.readData(cmd.Context())
	set, err := o.parseData(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	p, err := formula.New(text, set, formula.Options{Family: o.family, Standardise: o.standardised()})
	if wrong, ok := errors.AsType[*formula.Error](err); ok {
		diag.Render(cmd.ErrOrStderr(), wordedList(diag.List{wrong.Diagnostic()}), diagOptions(cmd.ErrOrStderr()))
		return exitCode(exitError)
	}
	if err != nil {
		return err
	}
	for _, note := range p.Notes {
		if o.quiet {
			break
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s.\n", note)
	}
	if o.out == "" {
		_, err := io.WriteString(cmd.OutOrStdout(), p.Text)
		return err
	}
	if err := files.Replace(o.out, []byte(p.Text)); err != nil {
		return plainPathError(err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s. To run it:\n  %s\n", o.out, shellWords(o.runs(o.out)))
	return err
}
