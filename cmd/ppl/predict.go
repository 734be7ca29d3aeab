package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/model/predict"
)

func predictCommand() *cobra.Command {
	var o quantityOptions
	var model string
	var show bool
	cmd := &cobra.Command{
		Use: "predict DIR",
		Long: `Draws data anew at the draws of a run: for each statement y ~ dist(…) whose left
side is data, y_rep from the same distribution, truncated where that is. Nothing
needs to be added to the model for it. With --data, for new data, in which the
variables that are drawn may be left out.

What says nothing on how the data arise, such as terms of censored values or
of mixtures that are added to the target, is named. Where the distribution of y
depends on earlier values of y, these are those drawn, as far as the model
computes them in the order of its statements; otherwise it is told that they are
those observed.

--program prints the program that is run, in the language itself.`,
		Example: `  ppl predict results --vars y_rep
  ppl predict results --data new.json --out predictions --json`,
		Args: arguments("DIR"),
	}
	declare(cmd).String(&model, "model", "")
	declare(cmd).Bool(&show, "program", false)
	o.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.rows.check(); err != nil {
			return err
		}
		f, err := openFit(cmd.Context(), args, &o.memory)
		if err != nil {
			return err
		}
		if model != "" {
			in := fitInput{input: o.input, model: model}
			if _, err := in.posterior(cmd, f); err != nil {
				return err
			}
		}
		m, err := f.Model()
		if err != nil {
			return usagef("%v: give it by --model", err)
		}
		if model == "" {
			o.readData(cmd.Context())
		}
		values, err := f.Data()
		if model == "" || err != nil {
			o.uses = m.Program().Declares
			values, err = o.given(f, cmd.ErrOrStderr())
		}
		if err != nil {
			return err
		}
		d, err := m.DeriveReplicated(values)
		if err != nil {
			return underivable(err)
		}
		if show {
			_, err := fmt.Fprint(cmd.OutOrStdout(), d.Text())
			return err
		}
		bind := o.bindOptions()
		if r := f.Record(); r != nil {
			bind.Seed = r.Seed
			bind.StanCompat = r.StanCompat
		}
		ctx, stop := interruptible(cmd.Context(), nil)
		defer stop()
		p, err := d.BindContext(ctx, values, bind)
		if err != nil {
			return ended(ctx, cmd.ErrOrStderr(), err)
		}
		g, err := fit.Generate(ctx, p, f, fit.GenerateOptions{Seed: o.seed, Parallel: o.parallel})
		if err != nil {
			return ended(ctx, cmd.ErrOrStderr(), err)
		}
		return o.show(cmd.OutOrStdout(), cmd.ErrOrStderr(), folder.BaseName(m.Name())+"_rep", g, leftNotes(d, "replicated data"))
	}
	return cmd
}

// underivable adds advice to an error about data that cannot be drawn from a model's statements.
func underivable(err error) error {
	if !errors.Is(err, predict.ErrUnderivable) {
		return err
	}
	return fmt.Errorf("%w\nDraw the data in generated quantities, such as y_rep[n] = normal_rng(mu, sigma), for a mixture after its component; ppl generate MODEL --fit DIR computes them at the draws of a run", err)
}
