package infer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ppl-lang/ppl/internal/goroutines"
)

// Run samples target and yields the draws as they are made: the draws of one chain in order, those
// of different chains interleaved. It combines [NewSession] and [Session.Draws], for callers that
// need no [Report].
//
// A yielded error either concerns one chain (a *[ChainError]; continue to range for the draws of
// the others), or is the last element: invalid options, or the cause of the context's end, after
// all draws have been yielded. The Draw with an error has only the chain's index, or -1.
func Run(ctx context.Context, target LogDensity, cfg Config) iter.Seq2[Draw, error] {
	s, err := NewSession(target, cfg)
	if err != nil {
		return func(yield func(Draw, error) bool) { yield(Draw{Chain: -1}, err) }
	}
	return s.Draws(ctx)
}

// Session is one run of several chains with its report. Only [NewSession] makes
// one; the methods of a nil Session panic.
type Session struct {
	target LogDensity
	cfg    Config
	names  []string // the Generator's
	// workers is the number of goroutines that share an evaluation. If there are more processors
	// than chains, the chains divide them among themselves.
	workers int

	started atomic.Bool
	cloning sync.Mutex // held while a target is cloned

	rounds *rounds       // of Config.Enough
	pool   *exchange     // for chains that learn from each other; nil: they do not
	slots  chan struct{} // one per chain of the pool that may compute at the same time
	again  bool          // the pooled run was resumed from its beginning
	blocks chan []Draw   // yielded blocks that can be reused

	ticks atomic.Int64 // grows by 1 every quiet, if there is Config.Progress

	left goroutines.Leftover // work that continues after chains have ended, see Config.Grace

	mu     sync.Mutex // guards report
	report Report
}

// The maximum numbers of chains, and of transitions in one phase of a chain. Their sums and
// products do not overflow.
const (
	maxChains      = 1 << 20
	maxTransitions = math.MaxInt32
)

// NewSession checks the options and makes a session; nothing runs before [Session.Draws]. If the
// target is a [Cloner], only its clones are evaluated; otherwise chains run one at a time.
func NewSession(target LogDensity, cfg Config) (*Session, error) {
	if target == nil {
		return nil, errors.New("infer: no target")
	}
	if cfg.Sampler == nil {
		return nil, errors.New("infer: Config.Sampler is nil; set it to nuts.Sampler{}, say")
	}
	for _, part := range []struct {
		name  string
		value any
	}{{"the target", target}, {"Config.Sampler", cfg.Sampler}, {"Config.Init", cfg.Init}} {
		if v := reflect.ValueOf(part.value); v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, fmt.Errorf("infer: %s is a nil %T", part.name, part.value)
		}
	}
	if n := max(cfg.Warmup, cfg.Draws); n > maxTransitions {
		return nil, fmt.Errorf("infer: %d transitions of warm-up and %d draws: there can be at most %d of either", cfg.Warmup, cfg.Draws, maxTransitions)
	}
	if n := max(cfg.Thin, cfg.Refresh, cfg.FirstID); n > maxTransitions {
		return nil, fmt.Errorf("infer: Thin, Refresh and FirstID can be at most %d, but one is %d", maxTransitions, n)
	}
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("infer: %w", err)
	}
	if v, ok := cfg.Sampler.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	cfg = cfg.withDefaults()
	if n := len(cfg.Metric); n > 1 && n != cfg.Chains {
		return nil, fmt.Errorf("infer: %d metrics for %d chains; give one, or one per chain", n, cfg.Chains)
	}
	if n := len(cfg.StepSize); n > 1 && n != cfg.Chains {
		return nil, fmt.Errorf("infer: %d step sizes for %d chains; give one, or one per chain", n, cfg.Chains)
	}
	if n := len(cfg.Recentring); n > 1 && n != cfg.Chains {
		return nil, fmt.Errorf("infer: coordinates of effects for %d of %d chains; give one, or one per chain", n, cfg.Chains)
	}
	for _, eps := range cfg.StepSize {
		if !(eps > 0) || math.IsInf(eps, 1) {
			return nil, fmt.Errorf("infer: the step size must be positive and finite, but is %v", eps)
		}
	}
	if n := len(cfg.Resume); n > cfg.Chains {
		return nil, fmt.Errorf("infer: snapshots of %d chains for %d chains", n, cfg.Chains)
	}
	if a, ok := cfg.Init.(At); ok && len(a.Positions) != 1 && len(a.Positions) < cfg.Chains {
		return nil, fmt.Errorf("infer: initial positions for %d of %d chains; give one, or one per chain", len(a.Positions), cfg.Chains)
	}
	if cfg.Parallel <= 0 {
		cfg.Parallel = runtime.GOMAXPROCS(0)
	}
	processors := cfg.Parallel
	cfg.Parallel = min(cfg.Parallel, cfg.Chains)
	pooled := false
	if p, ok := cfg.Sampler.(Pooled); ok && p.Pooled() && cfg.Chains > 1 && cfg.Warmup > 0 {
		_, pooled = target.(Cloner)
	}
	if cfg.Enough != nil {
		cfg.Parallel = cfg.Chains // because no chain may wait for one that has not begun
	}
	var slots chan struct{}
	if pooled { // a chain that waits for a round keeps its slot
		slots = make(chan struct{}, cfg.Parallel)
	}
	if _, ok := target.(Cloner); !ok {
		if cfg.Enough != nil && cfg.Chains > 1 {
			return nil, errors.New("infer: Config.Enough needs chains that run at the same time, hence a target that can be cloned")
		}
		cfg.Parallel = 1
	}
	if q, ok := cfg.Sampler.(Squares); ok {
		const instead = "choose another metric, diag_e or low_rank, or allow for more memory"
		n, err := q.Squares(), error(nil)
		if pooled || cfg.Enough != nil {
			err = CheckSquares(target, n*cfg.Chains, instead)
		} else if err = CheckSquares(target, n, instead); err == nil {
			for cfg.Parallel > 1 && CheckSquares(target, n*cfg.Parallel, instead) != nil {
				cfg.Parallel--
			}
		}
		if err != nil {
			return nil, fmt.Errorf("infer: %w", err)
		}
	}
	s := &Session{target: target, cfg: cfg, slots: slots, workers: max(1, processors/cfg.Parallel)}
	if pooled {
		s.pool = newExchange(cfg.Chains)
		s.again = s.BeginsAgain(cfg.Resume)
	}
	if g, ok := target.(Generator); ok {
		s.names = g.OutputNames()
	}
	s.report.Chains = make([]ChainReport, cfg.Chains)
	arrivals := make([]int, cfg.Chains)
	if a, ok := cfg.Init.(Arriver); ok {
		arrivals = a.Arrivals(cfg.Chains)
	}
	for i := range s.report.Chains {
		s.report.Chains[i].Chain, s.report.Chains[i].ID = i, cfg.FirstID+i
		if i < len(cfg.Resume) && cfg.Resume[i] != nil {
			s.report.Chains[i] = cfg.Resume[i].report
		}
		s.report.Chains[i].Arrival = arrivals[i]
	}
	s.rounds = newRounds(cfg.Chains)
	s.blocks = make(chan []Draw, 2*cfg.Parallel)
	return s, nil
}

// BeginsAgain reports whether chains resumed from these snapshots repeat all their draws from the
// beginning. They do if they learn from each other and warm-up was not finished. A snapshot may be
// nil.
func (s *Session) BeginsAgain(snapshots []*Snapshot) bool {
	begun, warm := 0, 0
	for _, from := range snapshots {
		if from != nil {
			begun++
			if from.sampling {
				warm++
			}
		}
	}
	return s.pool != nil && begun > 0 && warm < s.cfg.Chains
}

// Config returns the options with their defaults filled in.
func (s *Session) Config() Config { return s.cfg }

// OutputNames returns the names of Draw.Values, nil if the target is no
// [Generator].
func (s *Session) OutputNames() []string { return s.names }

// Report returns what is known about the run so far. It is complete once the loop over Draws has
// ended. Once a draw after warm-up has been yielded, the entry of its chain has the step size, the
// metric and the cost of warm-up. Any goroutine may call it.
func (s *Session) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.report
	r.Chains = slices.Clone(r.Chains) // the entries refer to data that never change
	return r
}

// clone returns the target of one chain. Clones are made one at a time, so that CloneDensity need
// not be safe for concurrent use.
func (s *Session) clone() LogDensity {
	c, ok := s.target.(Cloner)
	if !ok {
		return s.target
	}
	s.cloning.Lock()
	defer s.cloning.Unlock()
	return c.CloneDensity()
}

func (s *Session) publish(c ChainReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Chains[c.Chain] = c
}

// quiet is the time between two reports of the progress of a chain before its first transition.
const quiet = 10 * time.Second

// message is sent from a chain to the consumer, which handles its draws first.
type message struct {
	draws    []Draw
	progress *Progress
	chain    int
	err      error
	snapshot *Snapshot
	round    int  // number of transitions after which the chain waits, see Config.Enough
	ended    bool // this is the chain's last message
}

// Draws runs the chains and yields their draws, see [Run]. You can range over it only once. Chains
// may be ahead of the consumer by a limited number of draws, and they stop when the loop is left.
// The loop ends when all goroutines of the run have ended, except those that [Config.Grace] does
// not wait for.
func (s *Session) Draws(ctx context.Context) iter.Seq2[Draw, error] {
	return func(yield func(Draw, error) bool) {
		if !s.started.CompareAndSwap(false, true) {
			yield(Draw{Chain: -1}, errors.New("infer: the draws of a session can be ranged over only once"))
			return
		}
		if ctx == nil {
			yield(Draw{Chain: -1}, errors.New("infer: there is no context; context.Background() is one that never ends"))
			return
		}
		start := time.Now()
		inner, cancel := context.WithCancel(ctx)
		end := s.left.Begin(inner, s.cfg.Grace)
		ch := make(chan message, 2*s.cfg.Parallel)
		abandoned := make(chan struct{}) // closed when the draws are no longer received

		var wg sync.WaitGroup
		var next atomic.Int64
		runners := s.cfg.Parallel
		if s.pool != nil {
			runners = s.cfg.Chains // because no chain may wait for one that has not begun
		}
		for range runners {
			wg.Go(func() {
				for {
					i := int(next.Add(1) - 1)
					if i >= s.cfg.Chains {
						return
					}
					s.runChain(inner, i, ch, abandoned)
				}
			})
		}
		go func() { wg.Wait(); close(ch) }()
		if s.cfg.Progress != nil {
			t := time.NewTicker(quiet)
			defer t.Stop()
			go func() {
				for {
					select {
					case <-t.C:
						s.ticks.Add(1)
					case <-abandoned:
						return
					}
				}
			}()
		}

		// Deferred, so that a panic in the loop's body also stops the chains.
		defer func() {
			cancel()
			close(abandoned)
			for range ch {
			}
			s.left.Wait()
			end()
			s.finish(time.Since(start))
		}()

		for m := range ch {
			for _, d := range m.draws {
				if !yield(d, nil) {
					return
				}
			}
			if m.draws != nil {
				clear(m.draws) // the data of the draws belong to the receiver
				select {
				case s.blocks <- m.draws:
				default:
				}
			}
			if m.progress != nil && s.cfg.Progress != nil {
				s.cfg.Progress(*m.progress)
			}
			if m.snapshot != nil {
				s.cfg.Snapshot(m.snapshot)
			}
			if m.round > 0 || m.ended {
				s.round(m)
			}
			if m.err != nil && !yield(Draw{Chain: m.chain}, m.err) {
				return
			}
		}
		if s.interrupted() && ctx.Err() != nil {
			yield(Draw{Chain: -1}, context.Cause(ctx))
		}
	}
}

func (s *Session) interrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.report.Chains, func(c ChainReport) bool { return c.Interrupted })
}

func (s *Session) finish(elapsed time.Duration) {
	interrupted := s.interrupted()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Interrupted = interrupted
	s.report.Elapsed = elapsed
}
