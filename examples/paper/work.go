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
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/bayesopt"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// workshop runs chains and keeps what they give.
type workshop struct {
	options
	protocol protocol
	sets     []set
	progress progress
}

// complete leaves out the results that a report lacks.
func complete(results []*result) []*result {
	return slices.DeleteFunc(slices.Clone(results), func(r *result) bool { return r == nil })
}

// titled is the name of an exhibit's files; those of shortened chains have others.
func (w *workshop) titled(name string) string {
	if w.short > 1 {
		return fmt.Sprintf("%s-short%d", name, w.short)
	}
	return name
}

func newWorkshop(o options) (*workshop, error) {
	if o.tables != "" && (o.quick || o.dataDir == "") {
		return nil, errors.New("--tables is for tables of whole chains on the paper's data: it wants --data-dir, and no --quick")
	}
	if err := os.MkdirAll(filepath.Join(o.out, "chains"), 0o777); err != nil {
		return nil, err
	}
	return &workshop{options: o, protocol: o.protocol(), sets: sets}, nil
}

// write writes a file of the output folder.
func (w *workshop) write(name, text string) error {
	return os.WriteFile(filepath.Join(w.out, name), []byte(text), 0o666)
}

// verdict is a judgement, or none where the results are no test of the paper.
func (w *workshop) verdict(text string) string {
	if w.quick || w.dataDir == "" {
		return "-"
	}
	return text
}

// choice says which δ NUTS has.
func (w *workshop) choice() string {
	if d := w.protocol.deltas; len(d) == 1 {
		return fmt.Sprintf(" and δ = %g, which nothing was tried against", d[0])
	}
	return ", at the δ that was best on its own chains"
}

// preface says what results are not.
func (w *workshop) preface(b *strings.Builder) {
	if w.dataDir == "" {
		b.WriteString("**On simulated data of the same shape as the paper's: figures are not comparable with the paper's.**\n\n")
	}
	if w.quick {
		b.WriteString("**Short chains (--quick): a check of the program, not of the paper.**\n\n")
	}
	if w.report {
		b.WriteString("**Of the chains that are complete; their numbers stand with the results.**\n\n")
	}
	if w.tables != "" {
		b.WriteString("**Chains of earlier runs count by the rows and figures of their tables.**\n\n")
	}
	if w.options.chains > 0 {
		fmt.Fprintf(b, "**Chains of each sampler: %d, not the protocol's number.**\n\n", w.options.chains)
	}
}

// kind marks the names of chains with all that their problems depend on.
func (w *workshop) kind() string {
	if w.dataDir == "" {
		return w.protocol.kind + "-simulated"
	}
	return w.protocol.kind
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
	metric  *infer.Metric
	present func(x []float64) []float64 // makes of a draw what is to be reported

	// Where budget is not 0 the chain ends when it has taken so many leapfrog steps after
	// warm-up, and only the means of its predictions are kept.
	budget      int64
	expected    int // transitions, for progress
	predictions int
	predict     func(x, p []float64)
}

// transitions is how many the chain is expected to make.
func (c chain) transitions() int {
	if c.expected > 0 {
		return c.expected
	}
	return c.warmup + c.draws
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
	StepSize, Steps float64 // at the end
	Divergences     int
	Unsolved        float64 // implicit steps that failed
	ImplicitSteps   float64

	BurnIn, Draws int
	Mean          []float64
	SD            []float64
	Thin          [][]float32 // some of the draws, by coordinate, for R-hat
	Head          [][]float32 // the first draws, by coordinate, of few dimensions
	Correlation   []float64   // autocorrelations of the first coordinate

	Predicted []float64 // means of predictions

	Batches []ahmc.Batch      // of adaptive HMC
	Surface []bayesopt.Belief // of the first chain
}

const (
	keptDraws        = 1000 // for R-hat
	headDraws        = 1000
	headDimension    = 2
	keptCorrelations = 100
)

// run runs chains in parallel, but those whose results there are already, and
// returns the results in their order; for a report nil for those that are not
// complete.
func (w *workshop) run(ctx context.Context, title string, chains []chain) ([]*result, error) {
	results := make([]*result, len(chains))
	errs := make([]error, len(chains))
	transitions := 0
	for _, c := range chains {
		transitions += c.transitions()
	}
	w.progress.begin(title, len(chains), transitions)
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				results[i], errs[i] = w.one(ctx, chains[i])
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
	if ctx.Err() != nil {
		return nil, fmt.Errorf("interrupted; the chains that are complete are kept in %s", w.out)
	}
	return results, errors.Join(errs...)
}

// path is that of the file where the result of a chain is kept.
func (w *workshop) path(c chain) string { return filepath.Join(w.out, "chains", c.name+".gob") }

// keeps reports whether there is one.
func (w *workshop) keeps(c chain) bool {
	_, err := os.Stat(w.path(c))
	return err == nil
}

// one runs a chain, or reads its result.
func (w *workshop) one(ctx context.Context, c chain) (*result, error) {
	path := w.path(c)
	if r := (&result{}); readGob(path, r) == nil {
		w.progress.skip(c.transitions())
		r.BurnIn = c.warmup
		return r, nil
	}
	if w.report {
		return nil, nil
	}
	told := 0
	r, err := c.run(ctx, func(n int) { told += n; w.progress.advance(n, 0) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if err := writeGob(path, r); err != nil {
		return nil, err
	}
	w.progress.advance(c.transitions()-told, 1)
	return r, nil
}

// readGob reads what writeGob has written.
func readGob(path string, v any) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return gob.NewDecoder(file).Decode(v)
}

// writeGob leaves a whole file or none.
func writeGob(path string, v any) error {
	file, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	if err := errors.Join(gob.NewEncoder(file).Encode(v), file.Close()); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// progressEvery is how many transitions progress is told of at a time.
const progressEvery = 100

// run runs the chain, telling of its transitions.
func (c chain) run(ctx context.Context, tell func(transitions int)) (*result, error) {
	cfg := infer.Config{
		Sampler: c.sampler, Chains: 1, FirstID: c.id, Warmup: c.warmup, Draws: c.draws, Seed: c.seed,
		Refresh: progressEvery,
	}
	last := 0
	cfg.Progress = func(p infer.Progress) { tell(p.Iteration - last); last = p.Iteration }
	var kernel *ahmc.Kernel
	if s, ok := c.sampler.(ahmc.Sampler); ok {
		s.Watch = func(_ int, k *ahmc.Kernel) { kernel = k }
		cfg.Sampler = s
	}
	if c.warmup == 0 {
		cfg.Warmup = -1
	}
	if c.start != nil {
		cfg.Init = infer.At{Positions: [][]float64{c.start}}
	}
	if c.metric != nil {
		cfg.Metric = []infer.Metric{*c.metric}
	}
	target := c.target
	if cloner, ok := target.(infer.Cloner); ok {
		target = cloner.CloneDensity()
	}
	began := time.Now()
	session, err := infer.NewSession(target, cfg)
	if err != nil {
		return nil, err
	}
	r := &result{BurnIn: c.warmup}
	// Single precision, of which there may be 40 million numbers.
	var x [][]float32
	predicted := make([]float64, c.predictions)
	r.Predicted = make([]float64, c.predictions)
	for d, err := range session.Draws(ctx) {
		if err != nil {
			return nil, err
		}
		if c.present != nil {
			d.Position = c.present(d.Position)
		}
		if c.budget > 0 {
			c.predict(d.Position, predicted)
			for i, p := range predicted {
				r.Predicted[i] += p
			}
		} else {
			for i, v := range d.Position {
				if r.Draws == 0 {
					x = append(x, make([]float32, 0, c.draws))
				}
				x[i] = append(x[i], float32(v))
			}
		}
		r.Leapfrogs += int64(d.Stats.Leapfrogs)
		r.AcceptStat += d.Stats.AcceptStat
		if d.Stats.Divergent {
			r.Divergences++
		}
		r.Draws++
		if c.budget > 0 && r.Leapfrogs >= c.budget {
			break
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.Seconds = time.Since(began).Seconds()
	r.AcceptStat /= float64(r.Draws)
	for i := range r.Predicted {
		r.Predicted[i] /= float64(r.Draws)
	}
	report := session.Report().Chains[0]
	r.WarmupGradients, r.Gradients = report.Warmup.Gradients, report.Sampling.Gradients
	r.StepSize, r.Steps = report.StepSize, report.Kernel["steps"]
	if s, ok := report.Kernel["step_size"]; ok {
		r.StepSize = s
	}
	r.Unsolved = report.Geometry["steps_unsolved"] + report.Geometry["steps_unreturned"]
	r.ImplicitSteps = report.Geometry["implicit_steps"]
	if kernel != nil {
		r.Batches = kernel.Batches()
		if c.id == 1 {
			r.Surface = kernel.Surface()
		}
	}
	if c.budget == 0 {
		r.measure(x)
	}
	return r, nil
}

// measure computes what is kept of the draws.
func (r *result) measure(x [][]float32) {
	v := make([]float64, r.Draws)
	squares := make([]float64, r.Draws)
	for i, column := range x {
		for t, value := range column {
			v[t] = float64(value)
		}
		capped, uncapped := diagnose.InitialMonotoneESS(v)
		r.ESS, r.Uncapped = append(r.ESS, capped), append(r.Uncapped, uncapped)
		m, sd := moments(v)
		r.Mean, r.SD = append(r.Mean, m), append(r.SD, sd)
		for t := range v {
			squares[t] = (v[t] - m) * (v[t] - m)
		}
		capped, _ = diagnose.InitialMonotoneESS(squares)
		r.Squares = append(r.Squares, capped)
		if i == 0 {
			r.Correlation = diagnose.AutoCorrelation(v, keptCorrelations)
		}
		var thin []float32
		for t := 0; t < len(v); t += max(1, len(v)/keptDraws) {
			thin = append(thin, column[t])
		}
		r.Thin = append(r.Thin, thin)
		if len(x) <= headDimension {
			r.Head = append(r.Head, column[:min(len(column), headDraws)])
		}
	}
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
