package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

func predictCommand() *cobra.Command {
	var o quantityOptions
	var file, newLevels string
	var show, expected, link bool
	var ahead int
	cmd := &cobra.Command{
		Use: "predict DIR",
		Long: `Draws replicated data at each draw of a run. For each statement y ~ dist(…) about data, it
draws y_rep from the same distribution, with the same truncation. You need not change the
model. For new data, give --data; you may leave out the variables that are drawn.

ppl names the terms that do not say how data arise, such as those of censored values and
mixtures that are added to the target. If the distribution of y depends on earlier values of
y, ppl uses the drawn values, provided that the model computes in this order. Otherwise it
uses the observed values, and a note says so.

--expected gives the mean of each observation at each draw, y_mean, instead. It contains only
the uncertainty about the parameters. For categories, y_mean has the probability of each.
--link gives the linear predictor, y_link, such as the log odds of a binary y.

With --new-levels sample, new data may have groups and rows that the fit does not have. Their
parameters are drawn at each draw from their distribution in the model, such as u ~
normal(mu, tau). With --new-levels mean they are its mean.

--ahead N continues a series by N rows: states that depend on the state before, and
outcomes that depend on earlier ones, are drawn one after another from the model's statements. If the model has covariates, --data gives them for these rows.

--program prints the program that ppl runs for this.`,
		Example: `  ppl predict results --vars y_rep
  ppl predict results --ahead 12
  ppl predict results --expected --data new.csv
  ppl predict results --data new.json --out predictions --json`,
		Args: arguments("DIR"),
	}
	declare(cmd).String(&file, "model", "")
	declare(cmd).Bool(&show, "program", false)
	declare(cmd).Bool(&expected, "expected", false)
	declare(cmd).Bool(&link, "link", false)
	declare(cmd).String(&newLevels, "new-levels", "error")
	declare(cmd).Int(&ahead, "ahead", 0)
	o.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.rows.check(); err != nil {
			return err
		}
		if expected && link {
			return usagef("--expected and --link exclude each other: the mean, or its linear predictor")
		}
		if !slices.Contains([]string{"error", "sample", "mean"}, newLevels) {
			return usagef("--new-levels can be error, sample or mean, but is %q", newLevels)
		}
		if ahead < 0 {
			return usagef("--ahead is the number of rows that follow, and must not be %d", ahead)
		}
		o.newLevels = newLevels != "error"
		f, m, values, err := o.fitWithData(cmd, args, file)
		if err != nil {
			return err
		}
		var options predict.Options
		if ahead > 0 {
			if values, options.Ahead, err = o.continued(f, m, values, ahead); err != nil {
				return noFuture(err)
			}
			if newLevels == "error" {
				newLevels = "sample"
			}
			o.newLevels = true
		}
		name, what, kind := "_rep", "replicated data", predict.Replicated
		switch {
		case expected:
			name, what, kind = "_mean", "expected values", predict.Expected
		case link:
			name, what, kind = "_link", "linear predictors", predict.LinearPredictor
		}
		fitted, _ := f.Data()
		bind := o.bindOptions()
		if r := f.Record(); r != nil {
			bind.Seed = r.Seed
			bind.StanCompat = r.StanCompat
		}
		ctx, stop := interruptible(cmd.Context(), nil)
		defer stop()
		d, err := m.DeriveNew(ctx, fitted, values, kind, options, bind)
		if err != nil {
			return noFuture(otherMeaning(underivable(err, what)))
		}
		var p *model.Posterior
		if !show || o.newLevels {
			if p, err = d.BindContext(ctx, values, bind); err != nil {
				return ended(ctx, cmd.ErrOrStderr(), err)
			}
		}
		notes := append(leftNotes(d, what), keptNotes(d.Kept)...)
		if d.Earlier != "" {
			notes = append(notes, fmt.Sprintf("The distribution of %s in a row depends on earlier rows of the data, as in a time series. The new rows count as a whole series, from its first row. If they follow others, give these too.", d.Earlier))
		}
		if o.newLevels {
			grown, err := fit.Grown(p, f, ahead)
			if err != nil {
				return noFuture(err)
			}
			if len(grown) > 0 {
				options.Grown, options.NewLevels = grown, predict.NewLevels(newLevels)
				if d, err = m.DeriveNew(ctx, fitted, values, kind, options, bind); err != nil {
					return noFuture(otherMeaning(noPopulation(err)))
				}
				if p, err = d.BindContext(ctx, values, bind); err != nil {
					return ended(ctx, cmd.ErrOrStderr(), err)
				}
				notes = append(notes, grownNote(grown, newLevels))
			}
		}
		if show {
			_, err := fmt.Fprint(cmd.OutOrStdout(), d.Text())
			return err
		}
		g, err := fit.Generate(ctx, p, f, fit.GenerateOptions{Seed: o.seed, Parallel: o.parallel, Parameters: d.Known})
		if err != nil {
			return ended(ctx, cmd.ErrOrStderr(), err)
		}
		if ahead > 0 {
			if g, err = onlyAhead(g, d, options.Ahead.From); err != nil {
				return noFuture(err)
			}
			name += "_ahead"
			if a := options.Ahead; a.Index != "" {
				notes = append(notes, fmt.Sprintf("The rows after row %d are those of %s %d to %d.", a.From, a.Index, a.Time+1, a.Time+ahead))
			}
		}
		return o.show(cmd.OutOrStdout(), cmd.ErrOrStderr(), folder.BaseName(m.Name())+name, g, nil, notes)
	}
	return cmd
}

// continued extends the data of a fit by rows that follow the last. Values of covariates in these
// rows are those of --data.
func (o *quantityOptions) continued(f *fit.Fit, m *model.Model, values *data.Set, rows int) (*data.Set, *predict.Ahead, error) {
	var future *data.Set
	if o.data != "" && f.Record() != nil {
		future = values
		var err error
		if values, err = f.Data(); err != nil {
			return nil, nil, err
		}
	}
	return m.Ahead(values, future, rows)
}

// onlyAhead returns the quantities of rows after the first ones. An error says that the model does
// not give values to them.
func onlyAhead(g *fit.Generated, d *model.Derived, from int) (*fit.Generated, error) {
	g, err := g.Only(func(name string) bool {
		base, rest, _ := strings.Cut(name, ".")
		row, _, _ := strings.Cut(rest, ".")
		n, err := strconv.Atoi(row)
		return err == nil && n > from && slices.ContainsFunc(d.Outputs, func(o predict.Output) bool { return o.Name == base })
	})
	if err != nil {
		return nil, err
	}
	if g.Failed > 0 && g.Failed == g.Draws.Chains()*g.Draws.Len(0) {
		return nil, fmt.Errorf("%w: no draw of the rows ahead could be computed: %s\nA statement may use a value that a later one draws. Write the statements in the order in which the values arise", predict.ErrNoFuture, g.Reason)
	}
	if g.Failed > 0 {
		return g, nil
	}
	for i, name := range g.Draws.Names() {
		if !slices.ContainsFunc(g.Draws.Column(nil, 0, i), func(x float64) bool { return !math.IsNaN(x) }) {
			return nil, fmt.Errorf("%w: no statement gives a value to %s", predict.ErrNoFuture, diagnose.DisplayName(name))
		}
	}
	return g, nil
}

// noFuture adds advice to an error about rows that cannot be continued.
func noFuture(err error) error {
	missing := (*model.NoFutureValuesError)(nil)
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("%w\nGive them by --data FILE, a table with a line for each of these rows", err)
	case errors.Is(err, predict.ErrNoFuture):
		return fmt.Errorf("%w\nppl predict DIR --data FILE predicts rows that you give; other forecasts can be drawn in generated quantities, which ppl generate MODEL --fit DIR runs", err)
	}
	return err
}

// grownNote returns a note on how the elements of parameters that the fit does not have were found.
func grownNote(grown []predict.Grown, how string) string {
	var names []string
	for _, g := range grown {
		names = append(names, g.Name)
	}
	text := "drawn from their distribution in the model, at each draw"
	if how == "mean" {
		text = "the means of their distribution in the model, at each draw"
	}
	return fmt.Sprintf("The fit does not have all elements of %s; the others are %s.", strings.Join(names, ", "), text)
}

// noPopulation adds advice to an error about elements that cannot be drawn because their parameter
// has no population distribution.
func noPopulation(err error) error {
	if !errors.Is(err, predict.ErrNoPopulation) {
		return err
	}
	return fmt.Errorf("%w\nWrite one statement about them, such as u ~ normal(0, tau), or compute them in generated quantities; ppl generate MODEL --fit DIR does so at the draws of a run", err)
}

// keptNotes returns a note on the values that are computed from the data of the fit.
func keptNotes(kept []predict.Summary) []string {
	var texts []string
	for _, s := range kept {
		if t := "`" + s.Text + "`"; !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	if texts == nil {
		return nil
	}
	return []string{fmt.Sprintf("Computed from the data of the fit, not from the new rows: %s.", strings.Join(texts, ", "))}
}

// otherMeaning adds advice to an error that says that the model summarises the columns that change,
// so that new data would change their meaning.
func otherMeaning(err error) error {
	if summarised, together := (*model.SummarisedError)(nil), (*model.TogetherError)(nil); !errors.As(err, &summarised) && !errors.As(err, &together) {
		return err
	}
	return fmt.Errorf("%w\nDeclare its value among the data, such as `real mean_x;`, or transform the column before the model reads it. Then run the model again", err)
}

// fitWithData opens a fit with its model and data. The model is that in file, if it is not empty;
// the data are those of --data, if the flag is given.
func (o *quantityOptions) fitWithData(cmd *cobra.Command, args []string, file string) (*fit.Fit, *model.Model, *data.Set, error) {
	f, err := openFit(cmd.Context(), args, &o.memory)
	if err != nil {
		return nil, nil, nil, err
	}
	if file != "" && f.Record() != nil {
		return nil, nil, nil, usagef("%s keeps the model of its draws, so --model is not for it: leave it out", args[0])
	}
	if file != "" {
		in := fitInput{input: o.input, model: file}
		if _, err := in.posterior(cmd, f); err != nil {
			return nil, nil, nil, err
		}
	}
	m, err := f.Model()
	if err != nil {
		return nil, nil, nil, usagef("%v: give it by --model", err)
	}
	if file == "" {
		o.readData(cmd.Context())
	}
	values, err := f.Data()
	if file == "" || err != nil {
		o.suits(m)
		values, err = o.given(f, cmd.ErrOrStderr())
	}
	return f, m, values, err
}

// underivable adds advice to an error that says that something cannot be derived from a model's
// statements: draws of data, or their expected values.
func underivable(err error, what string) error {
	switch _, is := errors.AsType[*predict.UnderivableError](err); {
	case !is:
		return err
	case what != "replicated data":
		return fmt.Errorf("%w\nCompute them in generated quantities, such as y_mean[n] = (1 - p) * lambda; ppl generate MODEL --fit DIR does so at the draws of a run", err)
	}
	return fmt.Errorf("%w\nDraw the data in generated quantities, such as y_rep[n] = normal_rng(mu, sigma), for a mixture after its component; ppl generate MODEL --fit DIR computes them at the draws of a run", err)
}
