package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// workshop runs chains and keeps what they give.
type workshop struct {
	options
	protocol protocol
	sets     []set

	mu   sync.Mutex // of the progress shown
	done int
	all  int
}

func newWorkshop(o options) (*workshop, error) {
	if err := os.MkdirAll(filepath.Join(o.out, "chains"), 0o777); err != nil {
		return nil, err
	}
	return &workshop{options: o, protocol: o.protocol(), sets: sets}, nil
}

// chain is one chain to run.
type chain struct {
	name    string // of the file, all that the result depends on
	target  infer.LogDensity
	sampler infer.Sampler
	warmup  int
	draws   int
	id      int       // keys the random numbers, with the problem and the sampler
	seed    uint64    // of problem and sampler
	start   []float64 // nil: at random
}

// result is what is kept of a chain.
type result struct {
	// Of each coordinate, and of its squared deviations: the effective sample
	// size of Girolami and Calderhead's programs, capped at the number of draws
	// as theirs, and not.
	ESS, Uncapped, Squares []float64

	Leapfrogs       int64 // after warm-up
	WarmupGradients int64
	Gradients       int64 // after warm-up
	Seconds         float64
	AcceptStat      float64 // mean
	Lag1            float64 // autocorrelation of the first coordinate
	StepSize, Steps float64 // at the end
	Divergences     int
	Unsolved        float64 // implicit steps that failed
	ImplicitSteps   float64

	Draws int
	Mean  []float64
	SD    []float64
	Thin  [][]float32 // some of the draws, by coordinate, for R-hat
}

// keptDraws is how many draws are kept for R-hat.
const keptDraws = 1000

// run runs chains in parallel, but those whose results there are already, and
// returns the results in their order.
func (w *workshop) run(ctx context.Context, title string, chains []chain) ([]*result, error) {
	results := make([]*result, len(chains))
	errs := make([]error, len(chains))
	w.all, w.done = len(chains), 0
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				results[i], errs[i] = w.one(ctx, chains[i])
				w.tell(title)
			}
		})
	}
	for i := range chains {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	fmt.Fprintln(os.Stderr)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("interrupted; the chains that are complete are kept in %s", w.out)
	}
	return results, errors.Join(errs...)
}

// tell shows how far the work is.
func (w *workshop) tell(title string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done++
	fmt.Fprintf(os.Stderr, "\r%s: %d of %d chains", title, w.done, w.all)
}

// one runs a chain, or reads its result.
func (w *workshop) one(ctx context.Context, c chain) (*result, error) {
	path := filepath.Join(w.out, "chains", c.name+".gob")
	if file, err := os.Open(path); err == nil {
		defer file.Close()
		r := &result{}
		if err := gob.NewDecoder(file).Decode(r); err == nil {
			return r, nil
		}
	}
	r, err := c.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	file, err := os.Create(path + ".tmp")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(gob.NewEncoder(file).Encode(r), file.Close()); err != nil {
		return nil, err
	}
	return r, os.Rename(path+".tmp", path)
}

// run runs the chain.
func (c chain) run(ctx context.Context) (*result, error) {
	cfg := infer.Config{
		Sampler: c.sampler, Chains: 1, FirstID: c.id, Warmup: c.warmup, Draws: c.draws, Seed: c.seed,
	}
	if c.warmup == 0 {
		cfg.Warmup = -1
	}
	if c.start != nil {
		cfg.Init = infer.At{Positions: [][]float64{c.start}}
	}
	target := c.target
	if cloner, ok := target.(infer.Cloner); ok {
		target = cloner.Clone()
	}
	began := time.Now()
	session, err := infer.NewSession(target, cfg)
	if err != nil {
		return nil, err
	}
	r := &result{}
	x := make([][]float64, c.target.Dim())
	for d, err := range session.Draws(ctx) {
		if err != nil {
			return nil, err
		}
		for i, v := range d.Position {
			x[i] = append(x[i], v)
		}
		r.Leapfrogs += int64(d.Stats.Leapfrogs)
		r.AcceptStat += d.Stats.AcceptStat
		if d.Stats.Divergent {
			r.Divergences++
		}
		r.Draws++
	}
	r.Seconds = time.Since(began).Seconds()
	r.AcceptStat /= float64(r.Draws)
	report := session.Report().Chains[0]
	r.WarmupGradients, r.Gradients = report.Warmup.Gradients, report.Sampling.Gradients
	r.StepSize, r.Steps = report.StepSize, report.Kernel["steps"]
	r.Unsolved = report.Geometry["steps_unsolved"] + report.Geometry["steps_unreturned"]
	r.ImplicitSteps = report.Geometry["implicit_steps"]
	r.Lag1 = diagnose.AutoCorrelation(x[0], 1)[1]
	for _, v := range x {
		capped, uncapped := diagnose.InitialMonotoneESS(v)
		r.ESS, r.Uncapped = append(r.ESS, capped), append(r.Uncapped, uncapped)
		m, sd := moments(v)
		r.Mean, r.SD = append(r.Mean, m), append(r.SD, sd)
		squares := make([]float64, len(v))
		for i := range v {
			squares[i] = (v[i] - m) * (v[i] - m)
		}
		capped, _ = diagnose.InitialMonotoneESS(squares)
		r.Squares = append(r.Squares, capped)
		step := max(1, len(v)/keptDraws)
		var thin []float32
		for i := 0; i < len(v); i += step {
			thin = append(thin, float32(v[i]))
		}
		r.Thin = append(r.Thin, thin)
	}
	return r, nil
}

func moments(v []float64) (mean, sd float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sd += (x - mean) * (x - mean) / float64(len(v)-1)
	}
	return mean, math.Sqrt(sd)
}

// rhat is the largest rank-normalised split R-hat of all coordinates.
func rhat(results []*result) float64 {
	worst := 0.0
	for i := range results[0].Thin {
		chains := make([][]float64, len(results))
		for c, r := range results {
			for _, v := range r.Thin[i] {
				chains[c] = append(chains[c], float64(v))
			}
		}
		worst = max(worst, diagnose.Rhat(chains))
	}
	return worst
}
