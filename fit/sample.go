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

// Options are the options of [Sample]. The zero value has the same defaults as the command: the
// sampler auto and four chains, each with at most 1000 transitions of warm-up and 1000 draws.
type Options struct {
	// Sampler is the sampler with its options, such as nuts.Sampler (Stan's) or hmc.Sampler. nil
	// means auto.Sampler{}, which selects and tunes metric and kernel automatically.
	Sampler infer.Sampler

	Chains int // 0: 4
	Warmup int // transitions per chain; 0: 1000, negative: none
	Draws  int // transitions per chain after warm-up; 0: 1000, negative: none
	Thin   int // keep every Thin-th draw; 0: 1

	// FirstID is the number of the first chain; the others follow. A chain's random numbers depend
	// on its number. So you can run chain 3 of four alone, with Chains 1 and FirstID 3, and combine
	// it with the others by [Gather]. 0: 1.
	FirstID int

	// Seed selects the random numbers. Draws depend only on model, data, options and seed, not on
	// the number of processors.
	Seed uint64

	// Init selects the starting points of chains. nil means random points within 2 of zero on the
	// unconstrained scale; see infer.Uniform and [model.Posterior.InitAt]. Once the model has
	// rejected 20 points of a chain, the next ones lie ever nearer to the mode of the prior.
	Init infer.Init

	SaveWarmup bool // also keep the draws of warm-up, in a separate place

	// Parallel is the largest number of processors that the run uses. It limits the number of
	// chains that run at a time. If there are fewer chains, several processors share an evaluation
	// of the log density that takes long. 0: GOMAXPROCS.
	Parallel int

	// Limits, if not nil, limits the total resources of this run and others that share it. The run
	// waits for its turn, and then uses the free processors, up to Parallel.
	Limits *Limits

	// Logger, if not nil, gets messages about the beginning and the end of the run, and its
	// findings.
	Logger *slog.Logger

	// Grace limits how long Sample waits, after its context has ended, for evaluations that cannot
	// be interrupted, such as the factorisation of a large matrix. 0 waits until they end, so that
	// Sample leaves no goroutine behind. A negative Grace does not wait, which suits a program that
	// exits.
	Grace time.Duration

	// Output, if not empty, is where draws are written while they are made, as
	// CSV files in CmdStan's format, or in another Format. "out/fit" makes out/fit_1.csv for the
	// first chain, and so on. The folder must exist. Sample checks that it can write the files
	// before it runs. Files get their names once they are complete.
	Output  string
	SigFigs int // significant digits in the CSV files; 0: the numbers are exact

	// Format is the format of Output: CSV (also "") or Zarr. Zarr is one store for all chains,
	// out/fit.zarr, which can be read at any time while it is written. Draws in incomplete chunks
	// then read as fill values.
	Format Format

	// Resumable writes further files, from which the run can be resumed after it was interrupted or
	// killed. These are out/fit_1.journal, the draws so far, and out/fit_1.state, the state of the
	// chain. They are updated about once a second and removed when the run is complete.
	Resumable bool

	// SnapshotEvery is the time between two saved states of a chain. 0 means half a second, and
	// less at the beginning; a negative time saves after every transition. SyncEvery is the time
	// between two syncs of a chain's draws and state to the disk. A power failure loses at most
	// that time. 0: draws.SyncEvery.
	SnapshotEvery time.Duration
	SyncEvery     time.Duration

	// Resume continues a run that was made with Resumable and the same options. The draws are those
	// that the run would have made without the stop. Chains without saved files start from the
	// beginning.
	Resume bool

	// Salvage lets Resume continue from damaged files, with their intact draws; [Fit.Salvaged] says
	// what was lost. Without it, damage is a *[DamagedError].
	Salvage bool

	// Complete, if not nil, is called when all chains have ended and the files of Output are on the
	// disk. Use it to record elsewhere that the run is complete. The files from which the run can
	// be resumed are removed only after it. If it returns an error, Sample returns that error and
	// leaves all files in place.
	Complete func(*Fit) error

	// From starts the chains with the adaptation and the last points of the chains of another fit.
	// That fit must be of the same model, with the same number of parameters; its data may differ.
	// From sets StepSize, Metric, Recentring and Init, unless these are set; chain i takes them
	// from chain i. With nuts.Sampler and little or no warm-up, such a run is short.
	From *Fit

	// StepSize and Metric are the initial step size and metric of chains, one for all or one per
	// chain. nil means the sampler's. [Options.From] takes them from an earlier run.
	StepSize []float64
	Metric   []infer.Metric

	// Recentring describes the coordinates of Metric, see infer.Adapted, one for all chains or one
	// per chain. nil means the model's own coordinates.
	Recentring [][]float64

	// TargetESS ends the run early, as soon as every quantity has a bulk and tail effective sample
	// size of at least TargetESS and an R-hat below 1.01. Draws is then the limit, and each chain
	// has the same number of draws. The condition is checked after 100 draws and then whenever
	// their number has grown by a quarter, so the draws do not depend on the speed of the chains.
	// All chains then run at the same time. 0: no target.
	TargetESS float64

	// Refresh is the number of a chain's transitions between two values of [Run.Progress]; 0: 100.
	Refresh int

	// LiveTables updates the kernels' tables in the reports of [Run.SoFar] during the run. It takes
	// at most a twentieth of the chains' time.
	LiveTables bool

	progress func(infer.Progress)           // progress of a chain; calls do not overlap
	looked   func(n int, ess, rhat float64) // result of a check of TargetESS; calls do not overlap

	tablesEvery  time.Duration // in tests, another value of the constant
	keepInMemory int           // in tests, another value of the constant; 0: the constant
	flushAlways  bool          // set by tests
}

// tablesEvery is the time between updates of the kernels' tables during a run.
const tablesEvery = 300 * time.Millisecond

// Sample draws from the posterior. It returns when all chains have ended, or soon after the context
// is cancelled. No goroutine of the run is left then, see [Options.Grace]. Any number of goroutines
// may sample from the same posterior at the same time.
//
// If the options are valid and the run got its turn (see [Options.Limits]), the Fit is not nil. It
// has the draws so far, also after an error. Several errors are joined:
//
//   - An *[InterruptedError] says that the run was interrupted.
//   - An *infer.ChainError says that a chain failed, with an *infer.PanicError inside if it
//     panicked. The other chains are complete. Chains that could not start for the same reason
//     share one error.
//   - Other errors say that a file could not be written.
func Sample(ctx context.Context, p *model.Posterior, o Options) (*Fit, error) {
	r, err := NewRun(ctx, p, o)
	if err != nil {
		return nil, err
	}
	return r.Fit()
}

// verdictPath is the path of the file that records which program a resumable run trusts. It exists
// only if that is not the program as compiled.
func (o *Options) verdictPath() string { return o.Output + folder.DensitySuffix }

// restoreVerdict restores the self-check's verdict of the run to resume. If the run is new, it
// removes the verdict of an earlier run.
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

// keepVerdict writes the self-check's verdict, for a run that resumes this one.
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

// sample makes one attempt at the run, with the currently trusted program. The error is
// selfcheck.ErrWrong if that program turns out to be wrong.
func sample(ctx context.Context, p *model.Posterior, o Options, run *Run) (*Fit, error) {
	config, check := o.config(), run.check
	config.Centre = centreOf(ctx, p)
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
		// With a target ESS, the limit may be very many draws although the run ends with few.
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
			// Make the session again, to continue from the journals.
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

// config converts the options to those of a session.
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

// withinMemory reduces the number of chains that run at the same time to the number that fits in
// the posterior's memory limit. Draws do not depend on it.
func (o *Options) withinMemory(p *model.Posterior) error {
	each := p.Compiled().Memory()
	if each == 0 {
		return nil
	}
	const usual = 4 // the default of infer.Config
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

// startFrom sets the options that the chains take from the fit in From.
func (o *Options) startFrom(p *model.Posterior) error {
	if o.From == nil {
		return nil
	}
	if err := o.From.Err(); err != nil {
		return fmt.Errorf("%w; Options.From needs one", err)
	}
	const usual = 4 // number of chains: the default of infer.Config
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
	if metric && (len(o.Metric) < chains || recentred && o.Recentring == nil) { // a chain of the other fit failed
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

// checkNumbers checks numeric options that a session does not have.
func (o *Options) checkNumbers() error {
	if err := errors.Join(infer.CheckOptions(map[string]int{"sig-figs": o.SigFigs}), infer.CheckOptions(map[string]float64{"target-ess": o.TargetESS})); err != nil {
		return fmt.Errorf("ppl: %w", err)
	}
	return nil
}

// check checks options that a session does not check.
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
// before it begins. Use it if you evaluate the log density yourself. The returned check has a
// program that agrees with the reference. Pass the points that you reach to its method At, which
// compares there too. The seed selects the points near the origin. If nothing is wrong, Trust takes
// at most 20 ms.
func Trust(ctx context.Context, p *model.Posterior, seed uint64) (*selfcheck.Check, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, model.ErrNoContext
	}
	return selfcheck.Trust(ctx, p.Compiled(), p.Data(), seed)
}
