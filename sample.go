package ppl

import (
	"context"
	"errors"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// Options say how [Sample] runs. The zero value is Stan's default: NUTS, four
// chains, 1000 transitions of warm-up and 1000 draws each.
type Options struct {
	// Sampler is nuts.Sampler, hmc.Sampler or another with its options set; nil
	// is nuts.Sampler{}.
	Sampler infer.Sampler

	Chains int // 0: 4
	Warmup int // transitions per chain; 0: 1000, negative: none
	Draws  int // transitions per chain after warm-up; 0: 1000, negative: none
	Thin   int // keep every Thin-th draw; 0: 1

	// Seed selects the random numbers. Draws depend on model, data, options and
	// seed alone, not on the number of processors.
	Seed uint64

	// Init says where chains start: nil for random points within 2 of zero on
	// the unconstrained scale; see infer.Uniform and [Posterior.InitAt].
	Init infer.Init

	SaveWarmup bool // keep the draws of warm-up too, apart from the others
	Parallel   int  // chains that run at a time; 0: GOMAXPROCS

	// Output, if not empty, is where draws are written while they are made, as
	// CSV files in CmdStan's format. Output "out/fit" makes out/fit_1.csv for
	// the first chain, and so on. The folder must exist; that the files can be
	// written is checked before anything runs. Files have their names only once
	// they are complete.
	Output  string
	SigFigs int // significant digits in the files; 0: 8, 17 is exact

	// Progress, if not nil, is told how far chains are: after the first
	// transition of each, after every Refresh transitions (0: 100) and at the
	// end of warm-up and sampling. Calls do not overlap.
	Progress func(infer.Progress)
	Refresh  int
}

// Sample draws from the posterior. It returns when all chains have ended, or
// soon after the context is cancelled.
//
// The Fit is not nil if the options are in order. It holds what has been drawn,
// also where the error says that the run was interrupted (an
// *[InterruptedError]), that chains failed (an *infer.ChainError each; the
// others are complete) or that a file could not be written. Several errors are
// joined.
func Sample(ctx context.Context, p *Posterior, o Options) (*Fit, error) {
	if o.Sampler == nil {
		o.Sampler = nuts.Sampler{}
	}
	session, err := infer.NewSession(p, infer.Config{
		Sampler:      o.Sampler,
		Chains:       o.Chains,
		Warmup:       o.Warmup,
		Draws:        o.Draws,
		Thin:         o.Thin,
		Seed:         o.Seed,
		Init:         o.Init,
		SaveWarmup:   o.SaveWarmup,
		WarmupValues: o.SaveWarmup,
		Parallel:     o.Parallel,
		Progress:     o.Progress,
		Refresh:      o.Refresh,
	})
	if err != nil {
		return nil, err
	}
	cfg := session.Config()
	columns := draws.Columns{Statistics: statistics(o.Sampler), Names: p.OutputNames()}
	store, err := draws.NewStore(columns, cfg.Chains, (cfg.Draws+cfg.Thin-1)/cfg.Thin)
	if err != nil {
		return nil, err
	}
	fit := &Fit{Draws: store, posterior: p, config: cfg, sigFigs: o.SigFigs, started: time.Now()}

	var out *output
	if o.Output != "" {
		if out, err = fit.createOutput(o.Output); err != nil {
			return nil, err
		}
		defer out.close()
	}
	fit.started = time.Now()
	// Leaving the loop stops the chains; the report is complete after it.
	err = collect(ctx, session, p, store, out)
	fit.Report = session.Report()
	if out != nil {
		files, finishErr := out.finish(fit.Report)
		fit.Files = files
		if finishErr != nil && !errors.As(err, new(*outputError)) {
			err = errors.Join(err, finishErr)
		}
	}
	return fit, err
}

// collect stores the draws of a session, and writes them if there is an output.
func collect(ctx context.Context, session *infer.Session, p *Posterior, store *draws.Store, out *output) error {
	var failures []error
	for d, err := range session.Draws(ctx) {
		if err != nil {
			if d.Chain < 0 {
				err = &InterruptedError{Cause: err}
			}
			failures = append(failures, locate(p, err))
			continue
		}
		if err := store.Add(d); err != nil {
			return err
		}
		if out != nil {
			if err := out.draw(session, d); err != nil {
				return &outputError{err}
			}
		}
	}
	return errors.Join(failures...)
}
