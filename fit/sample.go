package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
)

// Options say how [Sample] runs. The zero value is that of the command: the sampler that
// tunes itself, four chains, at most 1000 transitions of warm-up and 1000 draws each.
type Options struct {
	// Sampler is nuts.Sampler, which is Stan's, hmc.Sampler or another with its options
	// set; nil is auto.Sampler{}, which finds metric, kernel and its setting by itself.
	Sampler infer.Sampler

	Chains int // 0: 4
	Warmup int // transitions per chain; 0: 1000, negative: none
	Draws  int // transitions per chain after warm-up; 0: 1000, negative: none
	Thin   int // keep every Thin-th draw; 0: 1

	// FirstID is the number of the first chain; the others follow. Random numbers go by
	// it: chain 3 of four can be had alone, by Chains 1 and FirstID 3, and put together
	// with the others by [Gather]. 0: 1.
	FirstID int

	// Seed selects the random numbers. Draws depend on model, data, options and
	// seed alone, not on the number of processors.
	Seed uint64

	// Init says where chains start: nil for random points within 2 of zero on
	// the unconstrained scale; see infer.Uniform and [model.Posterior.InitAt].
	Init infer.Init

	SaveWarmup bool // keep the draws of warm-up too, apart from the others

	// Parallel is the number of processors that the run may take: how many chains run at a
	// time and, where there are fewer chains, how many processors share an evaluation of the
	// log density if that takes long. 0: GOMAXPROCS.
	Parallel int

	// Limits, if not nil, bounds what this run and others that share it take together: the run
	// waits for its turn, and has as many processors as are free then, up to Parallel.
	Limits *Limits

	// Logger, if not nil, gets when the run begins, how it has ended, and its findings.
	Logger *slog.Logger

	// Grace bounds the time that Sample, when its context has ended, waits for evaluations that
	// cannot be interrupted, such as the factorisation of a large matrix. 0: until they end, so
	// that Sample leaves no goroutine behind; negative: not at all, as for a program that exits.
	Grace time.Duration

	// Output, if not empty, is where draws are written while they are made, as
	// CSV files in CmdStan's format. Output "out/fit" makes out/fit_1.csv for
	// the first chain, and so on. The folder must exist; that the files can be
	// written is checked before anything runs. Files have their names only once
	// they are complete.
	Output  string
	SigFigs int // significant digits in the CSV files; 0: the numbers are exact

	// Format is that of Output: CSV, which "" stands for, or Zarr, which is one
	// store for all chains, out/fit.zarr, that can be read at any moment while it
	// is written: of draws in chunks that are not complete, it has fill values.
	Format Format

	// Resumable keeps, beside the files of Output, what a run can be resumed
	// from after it was interrupted or killed: out/fit_1.journal, the draws so
	// far, and out/fit_1.state, the state of the chain. They are renewed about
	// once a second and removed when the run is complete.
	Resumable bool

	// SnapshotEvery is the time between two states of a chain; 0: half a second, and less at
	// the beginning; negative: after every transition. SyncEvery is the time between two
	// syncs of a chain's draws and state to the disk, which a loss of power costs at most; 0:
	// draws.SyncEvery.
	SnapshotEvery time.Duration
	SyncEvery     time.Duration

	// Resume goes on with a run that was made with Resumable and the same
	// options. The draws are those that the run would have made, had it not
	// been stopped. What there is not is started anew.
	Resume bool

	// Salvage lets Resume go on from files that are damaged, with what of them is
	// whole; [Fit.Salvaged] says what was lost. Otherwise damage is a
	// *[DamagedError].
	Salvage bool

	// Complete, if not nil, is called when all chains have come to their end and the files of
	// Output are on the disk, before what the run could be resumed from is removed: for those
	// who note somewhere that the run is complete. An error is that of Sample, and leaves
	// all files where they are.
	Complete func(*Fit) error

	// From starts from what the chains of another fit have adapted and where they ended: of the
	// same model, with the same or other data, of as many parameters. It replaces StepSize,
	// Metric, Recentring and Init, unless these are set; chain i has what chain i of that fit had.
	// With nuts.Sampler and few transitions of warm-up, or none, such a run is short.
	From *Fit

	// StepSize and Metric are what chains start with, one for all or one per
	// chain; nil: the sampler's. [Options.From] takes those of an earlier run.
	StepSize []float64
	Metric   []infer.Metric

	// Recentring is what Metric is over, see infer.Adapted, one for all chains or one per
	// chain; nil: the model's own coordinates.
	Recentring [][]float64

	// TargetESS ends the run as soon as every quantity has an effective sample
	// size of at least that, in the bulk and in the tails, and an R-hat below
	// 1.01, after the same number of draws of each chain; Draws is then the
	// limit. It is looked at after 100 draws and then each time that there are
	// a quarter more, so the draws do not depend on the speed of the chains.
	// Chains then run all at a time. 0: there is no such target.
	TargetESS float64

	// Refresh is the number of transitions of a chain between two values of [Run.Progress]; 0: 100.
	Refresh int

	// LiveTables brings up to date, while the run goes on, what kernels have learnt, for the
	// reports of [Run.SoFar]; it takes a twentieth of the chains' time at most.
	LiveTables bool

	progress func(infer.Progress)           // of a chain; calls do not overlap
	looked   func(n int, ess, rhat float64) // what TargetESS looks at; as progress

	tablesEvery  time.Duration // for tests
	keepInMemory int           // likewise; 0: keepInMemory
	flushAlways  bool          // likewise
}

// tablesEvery is how often what a sampler has learnt is brought up to date for those who
// watch.
const tablesEvery = 300 * time.Millisecond

// Sample draws from the posterior, of which any number of goroutines may sample at the same time.
// It returns when all chains have ended, which is soon after the context is cancelled. No
// goroutine of the run is left then, see [Options.Grace].
//
// The Fit is not nil if the options are in order, and the run's turn came, see [Options.Limits].
// It holds what has been drawn, also where the error says that the run was interrupted (an
// *[InterruptedError]), that chains failed (an *infer.ChainError each, but one error for all that
// could not start for the same reason; the others are complete; a panic is an *infer.PanicError
// within) or that a file could not be written. Several errors are joined.
func Sample(ctx context.Context, p *model.Posterior, o Options) (*Fit, error) {
	r, err := NewRun(ctx, p, o)
	if err != nil {
		return nil, err
	}
	return r.Fit()
}

// verdictPath is the file that says which program a run trusts that may be resumed, if that is not
// the one that was compiled.
func (o *Options) verdictPath() string { return o.Output + folder.DensitySuffix }

// restoreVerdict takes up what the run to resume has found, and forgets what another has.
func (o *Options) restoreVerdict(ctx context.Context, check *selfcheck.Check) error {
	if !o.Resume {
		if o.Resumable {
			return o.removeVerdict()
		}
		return nil
	}
	b, err := files.ReadFile(o.verdictPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = check.Restore(ctx, b)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return &InterruptedError{Cause: err}
	case err != nil:
		return &OutputError{err}
	}
	return nil
}

// keepVerdict writes it.
func (o *Options) keepVerdict(check *selfcheck.Check) error {
	if !o.Resumable {
		return nil
	}
	b, err := check.Verdict()
	if err == nil {
		err = files.Replace(o.verdictPath(), b)
	}
	if err != nil {
		return &OutputError{err}
	}
	return nil
}

func (o *Options) removeVerdict() error {
	if err := files.Remove(o.verdictPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &OutputError{err}
	}
	return nil
}

// sample makes one attempt at the run, with the program that is trusted so far. The error is
// selfcheck.ErrWrong where that turns out to be wrong.
func sample(ctx context.Context, p *model.Posterior, o Options, run *Run) (*Fit, error) {
	config, check := o.config(), run.check
	if o.LiveTables {
		config.TablesEvery = tablesEvery
		if o.tablesEvery != 0 {
			config.TablesEvery = o.tablesEvery
		}
	}
	r := &recorder{posterior: p, flushAlways: o.flushAlways, check: check, options: &o, run: run}
	if o.TargetESS > 0 {
		config.Enough = func(n int) bool {
			ess, rhat := r.precision(n)
			if o.looked != nil && ess > 0 {
				o.looked(n, ess, rhat)
			}
			return ess >= o.TargetESS && rhat < 1.01
		}
	}
	session, err := infer.NewSession(p, config)
	if err != nil {
		return nil, err
	}
	cfg := session.Config()
	columns := draws.Columns{Statistics: statistics(o.Sampler), Names: p.OutputNames()}
	r.fit = &Fit{posterior: p, config: cfg, sigFigs: o.SigFigs, started: time.Now(), parallel: o.Parallel}
	if r.fit.Draws, err = draws.NewStore(columns, cfg.Chains, (cfg.Draws+cfg.Thin-1)/cfg.Thin); err != nil {
		return nil, err
	}
	if !o.Resumable && !o.Resume {
		r.left = p.MemoryLimit()
		// With a target there may be many draws at most, and few in the end.
		if kept := (cfg.Draws + cfg.Thin - 1) / cfg.Thin; o.TargetESS <= 0 && float64(r.drawBytes())*float64(cfg.Chains)*float64(kept) > float64(r.left) {
			return nil, r.tooMany(cfg.Chains * kept)
		}
	}
	if o.Output != "" {
		if r.out, err = r.fit.open(&o); err != nil {
			return nil, err
		}
		defer r.out.close()
		if o.Resumable || o.Resume {
			// The session is made again, to go on from what is read.
			if config.Resume, err = r.openJournals(&o, session); err != nil {
				return nil, err
			}
			defer r.closeJournals()
			config.Snapshot, config.SnapshotEvery = r.snapshot, o.SnapshotEvery
			if session, err = infer.NewSession(p, config); err != nil {
				return nil, err
			}
			if err := r.replay(session); err != nil {
				return nil, err
			}
		}
	}
	whole := r.fit
	sofar := func() *Fit {
		now := &Fit{Draws: whole.Draws.Snapshot(), Report: session.Report(), posterior: p, config: cfg, sigFigs: o.SigFigs, started: whole.started}
		return now.watched()
	}
	run.now.Store(&sofar)
	// Leaving the loop stops the chains; the report is complete after it.
	err = r.record(ctx, session)
	if ctx.Err() == nil && !errors.Is(err, selfcheck.ErrWrong) && check.End(ctx) {
		err = selfcheck.ErrWrong
	}
	r.fit.Report, r.fit.density = session.Report(), check.Record()
	if errors.Is(err, selfcheck.ErrWrong) {
		return r.fit, errors.Join(selfcheck.ErrWrong, r.removeJournals())
	}
	if r.out == nil {
		return r.fit, err
	}
	return r.fit, r.finish(err, o.Complete)
}

// config is what a session is told of the options.
func (o *Options) config() infer.Config {
	return infer.Config{
		Sampler:      o.Sampler,
		Chains:       o.Chains,
		Warmup:       o.Warmup,
		Draws:        o.Draws,
		Thin:         o.Thin,
		FirstID:      o.FirstID,
		Seed:         o.Seed,
		Init:         o.Init,
		Metric:       o.Metric,
		Recentring:   o.Recentring,
		StepSize:     o.StepSize,
		SaveWarmup:   o.SaveWarmup,
		WarmupValues: o.SaveWarmup,
		Parallel:     o.Parallel,
		Grace:        o.Grace,
		Progress:     o.progress,
		Refresh:      o.Refresh,
	}
}

// withinMemory lets no more chains run at a time than the memory of the posterior is
// enough for. Draws do not depend on that.
func (o *Options) withinMemory(p *model.Posterior) error {
	each := p.Compiled().Memory()
	if each == 0 {
		return nil
	}
	const usual = 4 // as infer.Config has it
	all, chains := p.MemoryLimit(), cmp.Or(max(o.Chains, 0), usual)
	fit := int(max(all/each, 1))
	pool, ok := o.Sampler.(infer.Pooled)
	if together := o.TargetESS > 0 || ok && pool.Pooled(); together && chains > fit {
		return fmt.Errorf("ppl: each of the %d chains takes %s of memory, and they run together, but there is %s: enough for %d; run fewer chains, or allow for more memory",
			chains, ad.FormatBytes(each), ad.FormatBytes(all), fit)
	}
	if fit >= chains {
		return nil
	}
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	o.Parallel = min(o.Parallel, fit)
	return nil
}

// startFrom fills in what chains take from an earlier fit.
func (o *Options) startFrom(p *model.Posterior) error {
	if o.From == nil {
		return nil
	}
	if err := o.From.Err(); err != nil {
		return fmt.Errorf("%w; Options.From needs one", err)
	}
	const usual = 4 // chains, as infer.Config has it
	all := o.From.Report.Adapted()
	metric, step := o.Metric == nil && o.Recentring == nil, o.StepSize == nil
	var starts [][]float64
	recentred := false
	for i := range cmp.Or(max(o.Chains, 0), usual) {
		if len(all) == 0 {
			break
		}
		a := all[i%len(all)]
		if n := max(len(a.Position), a.Metric.Dim); n != p.Dim() && n > 0 {
			return fmt.Errorf("ppl: Options.From is a fit with %d unconstrained parameters, but this posterior has %d", n, p.Dim())
		}
		if metric && a.Metric.Kind != "" {
			o.Metric, o.Recentring = append(o.Metric, a.Metric), append(o.Recentring, a.Recentring)
			recentred = recentred || a.Recentring != nil
		}
		if step && a.StepSize > 0 {
			o.StepSize = append(o.StepSize, a.StepSize)
		}
		if a.Position != nil {
			starts = append(starts, a.Position)
		}
	}
	chains := cmp.Or(max(o.Chains, 0), usual)
	if metric && (!recentred || len(o.Metric) < chains) {
		o.Recentring = nil
	}
	if metric && (len(o.Metric) < chains || recentred && o.Recentring == nil) { // of a chain that failed
		o.Metric = nil
	}
	if step && len(o.StepSize) < chains {
		o.StepSize = nil
	}
	if o.Init == nil && len(starts) == chains {
		o.Init = infer.At{Positions: starts}
	}
	return nil
}

// checkNumbers looks at those that a session does not know.
func (o *Options) checkNumbers() error {
	if err := errors.Join(infer.CheckOptions(map[string]int{"sig-figs": o.SigFigs}), infer.CheckOptions(map[string]float64{"target-ess": o.TargetESS})); err != nil {
		return fmt.Errorf("ppl: %w", err)
	}
	return nil
}

// check looks at what a session does not look at.
func (o *Options) check(ctx context.Context, p *model.Posterior) error {
	if err := p.Err(); err != nil {
		return err
	}
	switch {
	case ctx == nil:
		return model.ErrNoContext
	case o.Output == "" && (o.Resume || o.Resumable):
		return errors.New("ppl: a run can be resumed only from files; set Options.Output")
	}
	return nil
}

// Trust compares the log density with the reference evaluator near the origin, as [Sample] does
// before it begins. It is for those who evaluate the log density themselves: the check's program
// agrees, and its method At compares at the points that they come to. The seed decides the points;
// it takes 20 ms at most where nothing is wrong.
func Trust(ctx context.Context, p *model.Posterior, seed uint64) (*selfcheck.Check, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, model.ErrNoContext
	}
	return selfcheck.Trust(ctx, p.Compiled(), p.Data(), seed)
}
