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

// workshop runs chains and stores their results.
type workshop struct {
	options
	protocol protocol
	sets     []set
	progress progress
}

// complete leaves out the nil results of a report.
func complete(results []*result) []*result {
	return slices.DeleteFunc(slices.Clone(results), func(r *result) bool { return r == nil })
}

// titled returns the base name of an exhibit's files. It differs if chains are shortened.
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

// write writes a file to the output folder.
func (w *workshop) write(name, text string) error {
	return os.WriteFile(filepath.Join(w.out, name), []byte(text), 0o666)
}

// verdict returns a verdict, or "-" if the results are no test of the paper.
func (w *workshop) verdict(text string) string {
	if w.quick || w.dataDir == "" {
		return "-"
	}
	return text
}

// choice returns a text about the δ of NUTS.
func (w *workshop) choice() string {
	if d := w.protocol.deltas; len(d) == 1 {
		return fmt.Sprintf(" and δ = %g, which was not compared with others", d[0])
	}
	return ", at the δ that was best on its own chains"
}

// preface writes in which respects the results are not those of the paper.
func (w *workshop) preface(b *strings.Builder) {
	if w.dataDir == "" {
		b.WriteString("**On simulated data of the same shape as the paper's: figures are not comparable with the paper's.**\n\n")
	}
	if w.quick {
		b.WriteString("**Short chains (--quick): a check of the program, not of the paper.**\n\n")
	}
	if w.report {
		b.WriteString("**The figures use complete chains only; the tables give their numbers.**\n\n")
	}
	if w.tables != "" {
		b.WriteString("**Some chains are of earlier runs; they count with the rows and figures of their tables.**\n\n")
	}
	if w.options.chains > 0 {
		fmt.Fprintf(b, "**Each sampler has %d chains, not the number of the protocol.**\n\n", w.options.chains)
	}
}

// kind returns a part of the names of chains. It depends on everything that their problems depend
// on.
func (w *workshop) kind() string {
	if w.dataDir == "" {
		return w.protocol.kind + "-simulated"
	}
	return w.protocol.kind
}

// chain describes a chain to run.
type chain struct {
	name    string // name of the file, which contains all that the result depends on
	target  infer.LogDensity
	sampler infer.Sampler
	warmup  int
	draws   int
	id      int       // key of the random numbers, with the problem and the sampler
	seed    uint64    // of problem and sampler
	start   []float64 // nil: at random
	metric  *infer.Metric
	present func(x []float64) []float64 // converts a draw to what is reported

	// If budget is not 0, the chain ends after this number of leapfrog steps after warm-up, and
	// only the means of its predictions are kept.
	budget      int64
	expected    int // expected number of transitions, for progress
	predictions int
	predict     func(x, p []float64)
}

// transitions returns the number of transitions that the chain is expected to make.
func (c chain) transitions() int {
	if c.expected > 0 {
		return c.expected
	}
	return c.warmup + c.draws
}

// result is what is stored about a chain.
type result struct {
	// For each coordinate, the effective sample size as the programs of Girolami and Calderhead
	// compute it, which they cap at the number of draws, and without the cap; and that of its
	// squared deviations.
	ESS, Uncapped, Squares []float64

	Leapfrogs       int64 // after warm-up
	WarmupGradients int64
	Gradients       int64 // after warm-up
	Seconds         float64
	AcceptStat      float64 // mean
	StepSize, Steps float64 // at the end
	Divergences     int
	Unsolved        float64 // number of implicit steps that failed
	ImplicitSteps   float64

	BurnIn, Draws int
	Mean          []float64
	SD            []float64
	Thin          [][]float32 // some draws, by coordinate, for R-hat
	Head          [][]float32 // the first draws, by coordinate, if there are few coordinates
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

// run runs chains in parallel, except those whose results exist, and returns the results in the
// order of the chains. In a report, it runs nothing, and results that do not exist are nil.
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

// path returns the path of the file with the result of a chain.
func (w *workshop) path(c chain) string { return filepath.Join(w.out, "chains", c.name+".gob") }

// keeps reports whether that file exists.
func (w *workshop) keeps(c chain) bool {
	_, err := os.Stat(w.path(c))
	return err == nil
}

// one runs a chain, or reads its result from the file.
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

// readGob reads a file that writeGob has written.
func readGob(path string, v any) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return gob.NewDecoder(file).Decode(v)
}

// writeGob writes a file so that it is never incomplete.
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

// progressEvery is the number of transitions between reports of progress.
const progressEvery = 100

// run runs the chain and reports its transitions to tell.
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
	// Single precision saves memory: there may be 40 million numbers.
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

// measure computes the figures that are kept from the draws.
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

// rhat returns the largest rank-normalised split R-hat of all coordinates.
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
