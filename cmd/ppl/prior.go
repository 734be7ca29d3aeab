package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
)

// priorOptions has the options of the commands that draw from the prior.
type priorOptions struct {
	quantityOptions
	chains, draws, warmup int
}

func (o *priorOptions) flags(cmd *cobra.Command) {
	f := declare(cmd)
	f.Int(&o.warmup, "warmup", 1000)
	o.quantityOptions.flags(cmd)
}

// load compiles the model and reads the data.
func (o *priorOptions) load(ctx context.Context, model string, stderr io.Writer) (*model.Model, *data.Set, error) {
	if err := o.read(ctx, model); err != nil {
		return nil, nil, err
	}
	m, err := o.compiled(ctx, model, stderr)
	if err != nil {
		return nil, nil, err
	}
	values := data.Empty()
	if o.data != "" {
		if values, err = o.parseData(stderr); err != nil {
			return nil, nil, err
		}
	}
	return m, values, nil
}

// sample draws the parameters from the prior.
func (o *priorOptions) sample(ctx context.Context, m *model.Model, values *data.Set) (*assess.Prior, string, error) {
	bind := o.bindOptions()
	prior, err := assess.SamplePrior(ctx, m, values, bind, fit.Options{
		Chains: o.chains, Draws: orNone(o.draws), Warmup: orNone(o.warmup), Seed: o.seed, Parallel: o.parallel,
	})
	if err != nil {
		return nil, "", err
	}
	return prior, howDrawn(prior), nil
}

// priorFindings returns the findings about the run that sampled the prior; nil if there was none.
func priorFindings(prior *assess.Prior) []diagnose.Finding {
	if prior.Direct {
		return nil
	}
	return prior.Findings()
}

// howDrawn returns a sentence that says how the parameters were drawn from the prior.
func howDrawn(prior *assess.Prior) string {
	if prior.Direct {
		return "The parameters were drawn from their priors, in the order of dependence."
	}
	return fmt.Sprintf("The prior was sampled by NUTS, because %s.", prior.Reason)
}

// drawn returns an error if --vars names a quantity of the model that the prior does not give. The
// error says how to compute it.
func (o *priorOptions) drawn(m *model.Model, all *fit.Generated) error {
	err := o.rows.known(all.Draws.Names(), all.Fit().VariableFactors)
	if err == nil {
		return nil
	}
	p := m.Program().IR()
	computed := slices.Concat(p.TransformedParameterVars, p.GeneratedQuantityVars)
	wanted, _ := selectors(o.rows.vars)
	for _, s := range wanted {
		if slices.ContainsFunc(computed, func(v *ir.Var) bool { return v.Name == s.base }) {
			return usagef("--vars: %s is computed from the parameters, and is not drawn: make a folder by --out prior, and write: ppl generate MODEL --data FILE --fit prior --vars %s", s.base, s.text)
		}
	}
	return err
}

func priorCommand() *cobra.Command {
	var o priorOptions
	cmd := &cobra.Command{
		Use: "prior MODEL --data FILE",
		Long: `Draws the parameters of a model from their prior, without the statements about
data, and then draws data from them, as ppl predict does. The data file needs
only sizes and covariates; you may leave out the variables that are drawn.

If each element has one prior by ~, also in loops, parameters are drawn directly, in
the order of dependence. Otherwise NUTS samples the prior, and a note says why.`,
		Example: `  ppl prior model.stan --data data.json --vars y_rep
  ppl prior model.stan --data sizes.json --draws 200 --out prior`,
		Args: arguments("MODEL"),
	}
	declare(cmd).Int(&o.chains, "chains", 4)
	declare(cmd).Int(&o.draws, "draws", 1000)
	o.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.rows.check(); err != nil {
			return err
		}
		if o.chains < 1 || o.draws < 1 {
			return usagef("--chains and --draws must be at least 1")
		}
		o.print = printer(cmd.ErrOrStderr())
		m, values, err := o.load(cmd.Context(), args[0], cmd.ErrOrStderr())
		if err != nil {
			return ended(cmd.Context(), cmd.ErrOrStderr(), err)
		}
		bind := o.bindOptions()
		ctx, stop := interruptible(cmd.Context(), nil)
		defer stop()
		prior, how, err := o.sample(ctx, m, values)
		if err != nil {
			return ended(ctx, cmd.ErrOrStderr(), err)
		}
		notes := []string{how}
		all := &fit.Generated{Draws: prior.Draws, Prior: true}
		d, err := m.DeriveReplicated(values)
		if err != nil {
			notes = append(notes, "No data are drawn: "+err.Error()+". Draw them in generated quantities, such as y_rep[n] = normal_rng(mu, sigma).")
		} else {
			p, err := d.BindContext(ctx, values, bind)
			if err != nil {
				return ended(ctx, cmd.ErrOrStderr(), err)
			}
			g, err := fit.Generate(ctx, p, prior.Fit, fit.GenerateOptions{Seed: o.seed, Parallel: o.parallel})
			if err != nil {
				return ended(ctx, cmd.ErrOrStderr(), err)
			}
			if all, err = g.Join(prior.Fit); err != nil {
				return err
			}
			notes = append(notes, leftNotes(d, "replicated data")...)
		}
		if err := o.drawn(m, all); err != nil {
			return err
		}
		findings := slices.DeleteFunc(priorFindings(prior), ofComputation) // show adds those of all quantities
		return o.show(cmd.OutOrStdout(), cmd.ErrOrStderr(), folder.BaseName(args[0])+"_prior", all, findings, notes)
	}
	return cmd
}

func simulateCommand() *cobra.Command {
	var o priorOptions
	var sets int
	var params, program string
	cmd := &cobra.Command{
		Use: "simulate MODEL --data FILE --out DIR",
		Long: `Simulates data sets from the model. The parameters are those of --params, the
same for all sets, or are drawn from the prior for each set. --data has the
sizes and the covariates; you may leave out what the model draws.

Each set is written as NAME_1.data.json and so on, which ppl run reads, together
with its parameters, NAME_1.params.json, which --init and --params read. The
model must say how all of its data arise; if it does not, --simulator names a
program that makes them.`,
		Example: `  ppl simulate model.stan --data sizes.json --sets 20 --out sets
  ppl simulate m.stan -d sizes.json --params '{"mu": 1, "sigma": 2}' --out sets`,
		Args: arguments("MODEL"),
	}
	declare(cmd).Int(&sets, "sets", 1)
	declare(cmd).String(&program, "simulator", "")
	declare(cmd).String(&params, "params", "")
	o.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.out == "" {
			return usagef("--out is missing: the folder for the data sets")
		}
		if sets < 1 {
			return usagef("--sets must be at least 1, but is %d", sets)
		}
		m, values, err := o.load(cmd.Context(), args[0], cmd.ErrOrStderr())
		if err != nil {
			return ended(cmd.Context(), cmd.ErrOrStderr(), err)
		}
		ctx, stop := interruptible(cmd.Context(), nil)
		defer stop()
		options := assess.SimulatorOptions{Warmup: orNone(o.warmup), Bind: o.bindOptions()}
		if options.Program, err = o.simulator(ctx, program, cmd.ErrOrStderr()); err != nil {
			return err
		}
		how := "The parameters are those given."
		if params != "" {
			if options.Params, err = o.values(cmd.Context(), params); err != nil {
				return err
			}
		}
		simulator, err := assess.NewSimulator(ctx, m, values, sets, o.seed, options)
		switch {
		case err != nil:
			return ended(ctx, cmd.ErrOrStderr(), err)
		case params == "" && simulator.Direct:
			how = "The parameters were drawn from their priors, in the order of dependence."
		case params == "":
			how = fmt.Sprintf("The prior was sampled by NUTS, because %s.", simulator.Reason)
		}
		base := folder.BaseName(args[0])
		old, err := replaceFiles(o.out, escapedGlob(base)+"_[0-9]*.json", o.overwrite)
		if err != nil {
			return err
		}
		written, err := simulator.WriteDataSets(ctx, sets, filepath.Join(o.out, base))
		if err != nil {
			return ended(ctx, cmd.ErrOrStderr(), err)
		}
		kept := slices.Clone(written)
		for _, path := range written { // next to each file, write the parameters of its simulation
			kept = append(kept, strings.TrimSuffix(path, ".data.json")+".params.json")
		}
		if err := old(kept); err != nil {
			return err
		}
		if o.json {
			return writeJSON(cmd.OutOrStdout(), simulatedJSON{written, []string{how}})
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s\nData: %s\n", how, filesText(written))
		return nil
	}
	return cmd
}

// simulatedJSON is what simulate prints with --json; a stable format.
type simulatedJSON struct {
	Files []string `json:"files"` // files written: data sets, and the parameters of each
	Notes []string `json:"notes"` // how the parameters were drawn
}
