package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
)

// runOptions are the options of run.
type runOptions struct {
	input
	samplerFlags

	chains, warmup, draws, thin int
	init                        string
	out                         string
	sigFigs                     int
	saveWarmup                  bool
	parallel                    int
	json                        bool
}

func runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run MODEL --data FILE",
		Short: "Draw from the posterior and summarise it",
		Long: `Draws from the posterior of a model given data, with several chains in parallel,
and prints a summary and what is to be said about the run.

Progress is told on stderr, the summary goes to stdout. The same seed gives the
same draws, whatever the number of processors.

The first Ctrl-C ends the run at the next draw; what has been drawn is kept and
summarised, and the exit code is 130. The second ends the program at once.

With --json, the summary is one JSON object. Its names are those of the CSV
files, such as theta.1; "seconds" is wall-clock time, that of the run divided
between warm-up and sampling as the chains' own times are; numbers that are not
finite are the strings "NaN", "Infinity" and "-Infinity".`,
		Example: `  ppl run eight_schools.model --data eight_schools.data.json
  ppl run m.model -d d.json --sampler hmc --int-time 2 --chains 8 --seed 1 --out results`,
		Args: arguments("MODEL"),
	}
	o.input.flags(cmd)
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.chains, "chains", 4, "number of chains")
	f.IntVar(&o.warmup, "warmup", 1000, "transitions of warm-up per chain")
	f.IntVar(&o.draws, "draws", 1000, "draws per chain after warm-up")
	f.IntVar(&o.thin, "thin", 1, "keep every n-th draw")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the random numbers (default: a random one, which is told)")
	f.StringVar(&o.init, "init", "2", "where chains start: a `radius` of random values on the unconstrained scale,\nor a JSON file with values of parameters")
	f.StringVarP(&o.out, "out", "o", "", "`folder` for the draws: one CSV file per chain in CmdStan's format")
	f.IntVar(&o.sigFigs, "sig-figs", 8, "significant digits in the CSV files")
	f.BoolVar(&o.saveWarmup, "save-warmup", false, "keep the draws of warm-up in the CSV files")
	f.IntVar(&o.parallel, "parallel", 0, "chains that run at a time (default: one per processor)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress and no warnings on stderr")
	f.BoolVar(&o.json, "json", false, "print the summary as JSON")
	group := o.samplerFlags.flags(cmd)
	group.SortFlags = true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("seed") {
			o.seed = uint64(rand.Uint32())
		}
		sampler, err := o.build(cmd.Flags())
		if err != nil {
			return err
		}
		if err := o.check(); err != nil {
			return err
		}
		return o.run(args[0], sampler, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// check looks at the numbers.
func (o *runOptions) check() error {
	for _, c := range []struct {
		name         string
		value, least int
	}{
		{"chains", o.chains, 1}, {"warmup", o.warmup, 0}, {"draws", o.draws, 0},
		{"thin", o.thin, 1}, {"sig-figs", o.sigFigs, 1}, {"parallel", o.parallel, 0},
	} {
		if c.value < c.least {
			return usagef("--%s must be at least %d, but is %d", c.name, c.least, c.value)
		}
	}
	if o.sigFigs > 18 {
		return usagef("--sig-figs must be at most 18, but is %d", o.sigFigs)
	}
	return nil
}

// run does it all.
func (o *runOptions) run(model string, sampler infer.Sampler, stdout, stderr io.Writer) error {
	name := strings.TrimSuffix(filepath.Base(model), filepath.Ext(model))
	options := ppl.Options{
		Sampler:    sampler,
		Chains:     o.chains,
		Warmup:     orNone(o.warmup),
		Draws:      orNone(o.draws),
		Thin:       o.thin,
		Seed:       o.seed,
		SaveWarmup: o.saveWarmup,
		Parallel:   o.parallel,
		SigFigs:    o.sigFigs,
		Refresh:    max(1, (o.warmup+o.draws)/500),
	}
	var shown progress = silent{stderr}
	if !o.quiet {
		shown = newProgress(stderr, name, o)
	}
	o.print = shown.message
	l, err := o.load(model, stderr)
	if err != nil {
		return err
	}
	if options.Init, err = o.inits(l.posterior); err != nil {
		return err
	}
	if o.out != "" {
		if err := os.MkdirAll(o.out, 0o777); err != nil {
			return fmt.Errorf("cannot make the output folder: %w; choose another one by --out", err)
		}
		options.Output = filepath.Join(o.out, name)
	}
	options.Progress = shown.update

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	quiet := context.AfterFunc(ctx, func() {
		stop() // from now on a signal ends the program
		shown.message("Interrupted: stopping at the next draw. Press Ctrl-C again to quit at once.")
	})
	shown.start()
	fit, err := ppl.Sample(ctx, l.posterior, options)
	interrupted := ctx.Err() != nil && fit != nil && fit.Report.Interrupted
	quiet()
	shown.stop(fit, interrupted)
	switch {
	case fit == nil && o.out != "":
		return fmt.Errorf("%w; choose another folder by --out", err)
	case fit == nil:
		return err
	}
	s := newSession(o, l, fit, interrupted, err)
	return s.report(stdout, stderr)
}

// inits reads --init.
func (o *runOptions) inits(p *ppl.Posterior) (infer.Init, error) {
	if radius, err := strconv.ParseFloat(o.init, 64); err == nil {
		if !(radius >= 0) || radius > 1e300 {
			return nil, usagef("--init must be a radius that is not negative, or a file, but is %s", o.init)
		}
		return infer.Uniform{Radius: radius}, nil
	}
	if _, err := os.Stat(o.init); err != nil {
		if pe := (*os.PathError)(nil); errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fmt.Errorf("--init %s: neither a number nor a file that can be read: %w", o.init, err)
	}
	return p.InitAt(ppl.JSONFile(o.init), 2)
}

// orNone turns a count of 0 into what options take for none.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}
