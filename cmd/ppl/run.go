package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
)

// runOptions has the options of the command run.
type runOptions struct {
	input
	samplerFlags
	rows rowOptions // options of the summary

	chains, warmup, draws, thin int
	init                        string
	out                         string
	format                      string
	groups                      []string
	sigFigs                     int
	failOn                      failOn
	keepData                    string
	saveWarmup                  bool
	parallel                    int
	json                        bool
	progress                    string // text or json

	targetESS  float64
	metricFile string
	resume     string
	begunBy    string // the version of the program that began the resumed run
	salvage    bool
	overwrite  bool

	watch  bool
	listen string
}

func runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run MODEL --data FILE",
		Long: `Runs several chains in parallel and prints a summary and diagnostics. Progress goes to standard error, the summary to standard output. The same seed gives the same draws, whatever the number of processors.

With --out, the run is kept in a folder: ppl summary, diagnose, report, loo and others read it, and --resume continues it if it was interrupted.`,
		Example: `  ppl run eight_schools.model --data eight_schools.data.json
  ppl run m.stan -d d.json --chains 8 --seed 1 --out fit
  ppl run m.stan -d d.json --sampler nuts --delta 0.95
  ppl run --resume fit`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.resume != "" && len(args) == 0 {
				return nil
			}
			return arguments("MODEL")(cmd, args)
		},
	}
	o.input.flags(cmd)
	f := declare(cmd)
	f.Int(&o.chains, "chains", 4)
	f.Int(&o.warmup, "warmup", 1000)
	f.Int(&o.draws, "draws", 1000)
	f.Int(&o.thin, "thin", 1)
	f.Uint64(&o.seed, "seed", 0)
	f.String(&o.init, "init", "2")
	f.String(&o.metricFile, "metric-file", "")
	f.Float64(&o.targetESS, "target-ess", 0)
	f.String(&o.resume, "resume", "")
	f.Bool(&o.salvage, "salvage", false)
	f.Bool(&o.overwrite, "overwrite", false)
	f.String(&o.out, "out", "")
	f.String(&o.format, "format", string(fit.CSV))
	f.List(&o.groups, "groups", standardGroups())
	f.Int(&o.sigFigs, "sig-figs", 0)
	f.Bool(&o.saveWarmup, "save-warmup", false)
	f.Int(&o.parallel, "parallel", 0)
	f.Bool(&o.watch, "watch", false)
	f.String(&o.listen, "listen", "127.0.0.1:0")
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.verbose, "verbose", false)
	f.String(&o.progress, "progress", "text")
	f.Bool(&o.json, "json", false)
	o.failOn.flag(cmd)
	f.String(&o.keepData, "keep-data", "declared")
	o.rows.flags(cmd)
	o.samplerFlags.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags := cmd.Flags()
		var saved *folder.Record
		if o.resume != "" {
			var err error
			if saved, err = o.recall(flags); err != nil {
				return err
			}
			if saved.Complete {
				return tidy(saved, o.resume, cmd.ErrOrStderr())
			}
		}
		if o.asked = flags.Changed("sampler"); !o.asked {
			if err := flags.Set("sampler", o.name); err != nil { // record the sampler, in case the default changes later
				return err
			}
		}
		if !flags.Changed("seed") {
			o.seed = uint64(rand.Uint32())
			if err := flags.Set("seed", strconv.FormatUint(o.seed, 10)); err != nil { // for the record
				return err
			}
		}
		if err := o.checkFormat(flags.Changed("groups")); err != nil {
			return err
		}
		if o.targetESS > 0 && !flags.Changed("draws") {
			o.draws = 100000
		}
		if err := o.check(); err != nil {
			return err
		}
		if err := heldIn(cmd.Context()).allow(o.chains, o.warmup, o.draws); err != nil {
			return err
		}
		adapted, assumed, err := o.adapted(cmd.Context())
		if err != nil {
			return err
		}
		built, err := o.build(flags, assumed)
		if err != nil {
			return err
		}
		if flags.Changed("stepsize") { // the flag has precedence over --metric-file
			for i := range adapted {
				adapted[i].StepSize = 0
			}
		}
		if len(args) == 0 {
			o.readData(cmd.Context())
		} else if err := o.read(cmd.Context(), args[0]); err != nil {
			return err
		}
		r := running{runOptions: &o, sampler: built, adapted: adapted, saved: saved, made: saved}
		if saved == nil {
			r.model = args[0]
			r.made = newRecord(args[0], &o.input, flags)
		} else {
			r.model, r.begunBy = saved.Model, saved.Program
			if err := o.unchanged(saved); err != nil {
				return err
			}
			if len(saved.Texts) > 0 {
				o.record, o.recordDir = saved, o.resume
			} else if o.data == "" { // of an older version
				o.data = saved.Data
			}
		}
		return r.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// check checks the values of the numbers.
func (o *runOptions) check() error {
	for _, c := range []struct {
		name  string
		value int
	}{
		{"chains", o.chains}, {"warmup", o.warmup}, {"draws", o.draws},
		{"thin", o.thin}, {"parallel", o.parallel},
	} {
		if err := infer.CheckOption(c.name, c.value); err != nil {
			return usagef("--%w", err)
		}
	}
	if err := o.rows.check(); err != nil {
		return err
	}
	if o.keepData != "" && o.keepData != "declared" && o.keepData != "all" {
		return usagef("--keep-data can be declared or all, but is %q", o.keepData)
	}
	if o.progress != "" && o.progress != "text" && o.progress != "json" {
		return usagef("--progress can be text or json, but is %q", o.progress)
	}
	if err := errors.Join(infer.CheckOptions(map[string]int{"sig-figs": o.sigFigs}), infer.CheckOptions(map[string]float64{"target-ess": o.targetESS})); err != nil {
		return usagef("--%w", err)
	}
	return nil
}

// running is a run with its options.
type running struct {
	*runOptions
	model   string
	sampler infer.Sampler
	adapted []infer.Adapted // to start from
	saved   *folder.Record  // the record of the resumed run; nil for a new run
	made    *folder.Record  // of this run
	final   string          // the folder of --out, if o.out is a subfolder of it until the run is complete
}

// run makes the run. limited is the context of the command, which --time-limit ends.
func (o *running) run(limited context.Context, stdout, stderr io.Writer) error {
	defer limitHeap(runHeadroom)()
	name := o.made.Name
	if name == "" {
		name = folder.BaseName(o.model)
	}
	options := fit.Options{
		Grace:      -1, // the program exits
		Sampler:    o.sampler,
		Chains:     o.chains,
		Warmup:     orNone(o.warmup),
		Draws:      orNone(o.draws),
		Thin:       o.thin,
		Seed:       o.seed,
		SaveWarmup: o.saveWarmup,
		Parallel:   o.parallel,
		SigFigs:    o.sigFigs,
		Format:     fit.Format(o.format),
		TargetESS:  o.targetESS,
		Resumable:  o.out != "",
		Resume:     o.saved != nil,
		Salvage:    o.salvage,
		Refresh:    max(1, (o.warmup+o.draws)/500),
	}
	var shown progress = silent{stderr}
	switch {
	case o.quiet:
	case o.progress == "json":
		shown = &jsonLines{w: stderr, chains: make([]time.Time, o.chains), eta: newETA(o.runOptions)}
	default:
		shown = newProgress(stderr, name, o.runOptions)
	}
	o.print = shown.message
	l, err := o.load(limited, o.model, stderr)
	if err != nil {
		return ended(limited, stderr, err)
	}
	if err := o.rows.known(l.posterior.OutputNames(), l.levels); err != nil {
		return err
	}
	if !o.quiet {
		if err := l.slowLoops(stderr); err != nil {
			return err
		}
	}
	if err := o.metricNotes(limited, l.posterior, shown.message); err != nil {
		return ended(limited, stderr, err)
	}
	if cv, ok := o.sampler.(sampler.CrossValidated); ok {
		if options.Sampler, err = o.validated(limited, l, cv); err != nil {
			return ended(limited, stderr, err)
		}
	}
	if options.Init, err = o.inits(limited, l.posterior, shown.message); err != nil {
		return ended(limited, stderr, err)
	}
	if err := o.startFrom(&options, l.posterior); err != nil {
		return err
	}
	if o.out != "" {
		if err := o.descriptors(); err != nil {
			return err
		}
		o.final = folder.Final(o.out)
		if err := files.MakeFolder(o.final); err != nil {
			return fmt.Errorf("cannot make the output folder: %w; choose another one by --out", err)
		}
		release, err := lockFolder(o.final)
		if err != nil {
			return err
		}
		defer release()
		if o.saved == nil {
			if o.out, err = makeRoom(o.out, name, o.overwrite); err != nil {
				return err
			}
			if o.out != o.final && !o.quiet {
				shown.message(fmt.Sprintf("The run in %s stays until this one is complete, which is made in %s.", o.final, o.out))
			}
			if err := o.made.Keep(o.out, sourceOf(l.model), o.kept(l)); err != nil {
				return fmt.Errorf("cannot write to the output folder: %w; choose another one by --out", err)
			}
		}
		if err := o.made.Tidy(o.out); err != nil {
			return fmt.Errorf("cannot write to the output folder: %w; choose another one by --out", err)
		}
		options.Output = filepath.Join(o.out, name)
		if err := writeRecord(o.made, o.out); err != nil {
			return err
		}
	}
	signaled, quiet := interruptible(limited, func() {
		shown.message("Interrupted: stopping at the next draw. Press Ctrl-C again to quit at once.")
	})
	defer quiet()
	ctx, stopRun := context.WithCancel(signaled)
	defer stopRun()
	var watched *watching
	if o.watch {
		if watched, err = o.watchAt(o.listen, name, stopRun); err != nil {
			return err
		}
		defer watched.end()
		options.LiveTables = true
		fmt.Fprintf(stderr, "Watch the run at %s\n", watched.url())
	}
	complete := false
	if o.out != "" {
		// Writing this record completes the run.
		options.Complete = func(fit *fit.Fit) error {
			if err := o.addGroups(limited, fit, shown.message); err != nil {
				return err
			}
			o.made.Density, o.made.Cuts = fit.DensityCheck(), fit.Counts()
			o.made.Finish(fit.Report, l.posterior.Compiled().Loops().Faults, nil)
			complete = true
			return writeRecord(o.made, o.out)
		}
	}
	shown.start()
	if set, ok := limited.Value(adjustKey{}).(func(*fit.Options)); ok {
		set(&options)
	}
	f, err := sampled(ctx, l.posterior, options, shown, watched)
	interrupted := ctx.Err() != nil && f != nil && f.Report.Interrupted
	quiet()
	shown.stop(f, interrupted)
	if f == nil {
		if o.out != "" && o.saved == nil { // nothing was drawn
			o.made.Remove(o.out)
			err = fmt.Errorf("%w; choose another folder by --out", err)
		}
		if errors.As(err, new(*fit.DrawsError)) {
			err = withFolder(err)
		}
		if errors.As(err, new(*fit.DamagedError)) {
			err = fmt.Errorf("%w\nGo on with what is whole by: ppl run --resume %s --salvage", err, o.out)
		}
		return err
	}
	switch {
	case o.out == "":
		if errors.As(err, new(*fit.DrawsError)) {
			err = withFolder(err)
		}
	case complete: // as complete as it could be
		if err != nil {
			err = fmt.Errorf("%w\nThe draws are in %s. Go on with: ppl run --resume %s", err, o.out, o.out)
		}
	case o.saved == nil && len(f.Files) == 0 && !interrupted && !errors.As(err, new(*fit.OutputError)):
		o.made.Remove(o.out) // if all chains fail before their first draw, the folder is removed
	default:
		full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
		o.made.Finish(f.Report, l.posterior.Compiled().Loops().Faults, err)
		o.made.Density, o.made.Cuts = f.DensityCheck(), f.Counts()
		if e := writeRecord(o.made, o.out); e != nil && !full {
			err = errors.Join(err, e)
		}
		switch {
		case full:
			err = fmt.Errorf("%w\nThe draws till then are in %s. Make room, and go on with: ppl run --resume %s", err, o.out, o.out)
		case errors.As(err, new(*fit.OutputError)):
			err = fmt.Errorf("%w\nThe draws till then are in %s. Go on with: ppl run --resume %s", err, o.out, o.out)
		}
	}
	s := newSession(o.runOptions, l, f, interrupted, err)
	s.timeUp, s.kept = timeUp(ctx), heldIn(limited).take(f)
	if o.out != o.final && (complete || s.timeUp != nil && s.draws > 0) && len(s.failures()) == 0 {
		if s.err = o.becomeFinal(f); s.err == nil && watched != nil {
			watched.out = o.out
		}
	}
	if watched == nil {
		return s.report(stdout, stderr)
	}
	told := s.report(stdout, stderr)
	making, stop := interruptible(context.WithoutCancel(limited), nil)
	defer stop()
	if err := watched.finish(making, f, stderr); err != nil {
		if err = ended(making, stderr, err); !errors.As(err, new(exitCode)) {
			showError(stderr, err)
		}
		if told == nil {
			told = exitCode(exitError)
		}
	}
	return told
}

// withFolder adds advice to an error about draws that do not fit in memory: write them to a folder.
func withFolder(err error) error {
	return fmt.Errorf("%w; or write them to a folder, by --out, from which they are read back", err)
}

// adjustKey is the context key for a function of tests that changes the options of the run, so that
// it depends less on the clock.
type adjustKey struct{}

// followerKey is the context key for a follower.
type followerKey struct{}

// kept returns the data to store in the folder of the run. It leaves out columns that the model
// does not declare, such as names of people, since users may pass the folder on. It keeps those
// that --count makes the rows of ragged arrays of: their levels are the labels of the rows.
func (o *runOptions) kept(l *loaded) *data.Set {
	if o.keepData == "all" {
		return l.values
	}
	declares, of := l.model.Program().Declares, map[string]bool{}
	for _, c := range l.values.Reading().Counts {
		if v, ok := l.values.Get(c.Name); ok && declares(c.Name) && len(v.Shape) > 0 {
			of[c.Of] = true
		}
	}
	return l.values.Only(func(name string) bool { return declares(name) || of[name] })
}

// orNone turns a count of 0 into -1, which means none in options where 0 means the default.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// follower receives the progress of a run.
type follower interface {
	update(infer.Progress)
	reached(draws int, ess, rhat float64) // with --target-ess, at each estimate
}

// sampled makes the draws. It shows the progress and sends it to a page that watches the run.
func sampled(ctx context.Context, p *model.Posterior, o fit.Options, shown progress, watched *watching) (*fit.Fit, error) {
	run, err := fit.NewRun(ctx, p, o)
	if err != nil {
		return nil, err
	}
	followers := []follower{shown}
	if watched != nil {
		watched.follow(run.SoFar)
		followers = append(followers, watched)
	}
	if f, ok := ctx.Value(followerKey{}).(follower); ok {
		followers = append(followers, f)
	}
	looked := 0
	for now, err := range run.Progress() {
		if err != nil {
			break // Fit reports it
		}
		for _, f := range followers {
			if now.Looked != looked {
				f.reached(now.Looked, now.ESS, now.Rhat)
			} else {
				f.update(now.Progress)
			}
		}
		looked = now.Looked
	}
	return run.Fit()
}
