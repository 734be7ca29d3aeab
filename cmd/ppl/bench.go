package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/cputime"
	"github.com/ppl-lang/ppl/model"
)

// timings is what bench prints; a stable format.
type timings struct {
	// what times of gradients are: "processor", the time of all threads, or "wall", elapsed time
	Clock string `json:"clock"`
	batchTimes
	// the same with one processor, in batches that alternate with the others; with --parallel
	OneProcessor *batchTimes `json:"one_processor,omitempty"`
	// milliseconds to bind the model to its data
	BindMS             number `json:"bind_ms"`
	AllocsPerGradient  number `json:"allocs_per_gradient"` // allocations per gradient
	evaluationsInTotal int
}

// batchTimes summarises the batches of one number of processors.
type batchTimes struct {
	// nanoseconds per gradient in the fastest batch
	MinNS number `json:"min_ns"`
	// nanoseconds per gradient in the median batch
	MedianNS number `json:"median_ns"`
}

const (
	batchTime  = 50 * time.Millisecond // minimum time of a batch
	batchCount = 15

	benchPoints = 6
	searchTime  = 5 * time.Second // limit of the search for points

	clockProcessor, clockWall = "processor", "wall" // see timings
)

func benchCommand() *cobra.Command {
	in := pointed{random: benchPoints}
	var asJSON bool
	parallel := 1
	cmd := &cobra.Command{
		Use: "bench MODEL --data FILE",
		Long: fmt.Sprintf(`Times evaluations of log density and gradient in %d batches of at least %v,
cycling over the points, and prints the time per evaluation in the fastest batch
and in the median one, the time to bind the model to its data, and the number of
allocations per evaluation. Where the system reports it, the time of an evaluation is
processor time, so that other work does not count.

With --parallel N, N above 1, it is wall-clock time. Batches with one processor alternate
with those of N, on the same clock, and the last line has the ratio. Compare these two
only: times with and without --parallel are on different clocks.

The points are read from a file as for logdensity, or are %d random points of
the unconstrained space where the log density is finite: uniform in (-2, 2) or, if
those are rejected, nearer to the centre of the prior.`, batchCount, batchTime, benchPoints),
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, xs, err := in.load(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			t, err := measure(cmd.Context(), l.posterior, xs, parallel)
			if err != nil {
				return err
			}
			t.BindMS = number(float64(l.bind) / 1e6)
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), t)
			}
			t.print(cmd.OutOrStdout(), parallel)
			return nil
		},
	}
	in.flags(cmd)
	f := declare(cmd)
	f.Int(&parallel, "parallel", 1)
	f.Bool(&asJSON, "json", false)
	return cmd
}

// randomPoints finds n points where the log density is finite, or fewer if they are rare, as runs
// find starting points. stop ends an evaluation early.
func randomPoints(ctx context.Context, p *model.Posterior, seed uint64, n int, stop func() error) ([][]float64, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var points [][]float64
	began, attempts := time.Now(), 0
	p.SetStop(func() error {
		if time.Since(began) > searchTime {
			return fmt.Errorf("%w after %s", infer.ErrInterrupted, searchTime)
		}
		return stop()
	})
	defer p.SetStop(stop)
	target := &explored{Model: p.Compiled()}
	m := infer.NewMeter(target)
	fit.Near(ctx, p, m)
	var err error
	for len(points) < n && time.Since(began) < searchTime {
		x, tried, none := infer.FindStart(infer.Uniform{Radius: 2}, 0, m, rng)
		attempts += tried
		if stopped := stop(); stopped != nil {
			return nil, stopped
		}
		if err = none; err != nil {
			break
		}
		points = append(points, x)
	}
	if len(points) > 0 {
		return points, nil
	}
	reason := target.reason
	if failed := (*infer.InitError)(nil); errors.As(err, &failed) {
		reason = failed.Reason
	} else if reason == nil {
		reason = fmt.Errorf("one evaluation takes more than %s", searchTime)
	}
	err = fmt.Errorf("none of %d random points has a finite log density (give points by --points); at the last one: %w", attempts, reason)
	if rejection := (*compile.Rejection)(nil); errors.As(reason, &rejection) {
		return nil, &compile.Rejection{Span: rejection.Span, Err: err}
	}
	return nil, err
}

// explored is a model that remembers why it rejected a point.
type explored struct {
	*compile.Model
	reason error
}

// LogDensityGrad implements infer.LogDensity.
func (m *explored) LogDensityGrad(x, grad []float64) (float64, error) {
	lp, err := m.Model.LogDensityGrad(x, grad)
	if err != nil && !errors.Is(err, infer.ErrInterrupted) {
		m.reason = err
	}
	return lp, err
}

// print prints the times of evaluations by that many processors.
func (t *timings) print(w io.Writer, processors int) {
	clock := map[string]string{clockProcessor: "processor time", clockWall: "wall-clock time"}[t.Clock]
	printMessage(w, "gradient: %s fastest batch, %s median batch (%s, %d evaluations)\nallocations per gradient: %.3g\nbind: %.3g ms",
		nanoseconds(float64(t.MinNS)), nanoseconds(float64(t.MedianNS)), clock, t.evaluationsInTotal, float64(t.AllocsPerGradient), float64(t.BindMS))
	if one := t.OneProcessor; one != nil {
		printMessage(w, "with one processor: %s fastest batch, %s median batch (%s)\nspeed-up by %d processors: %.3g fastest batch, %.3g median batch",
			nanoseconds(float64(one.MinNS)), nanoseconds(float64(one.MedianNS)), clock,
			processors, float64(one.MinNS/t.MinNS), float64(one.MedianNS/t.MedianNS))
	}
}

// course is the batches of one number of processors.
type course struct {
	processors int
	size       int       // evaluations in a batch
	per        []float64 // nanoseconds per evaluation, by batch
}

func (c *course) summary() batchTimes {
	slices.Sort(c.per)
	return batchTimes{MinNS: number(c.per[0]), MedianNS: number(c.per[len(c.per)/2])}
}

// measure measures the time per gradient, unless ctx ends first. With several processors it also
// measures that of one by the same clock, in batches that alternate with the others.
func measure(ctx context.Context, p *model.Posterior, xs [][]float64, processors int) (timings, error) {
	t := timings{Clock: clockProcessor}
	now := cputime.Process // the time of all threads: the garbage collector's too
	courses := []*course{{processors: processors, size: 1}}
	if processors > 1 {
		began := time.Now()
		t.Clock, now = clockWall, func() time.Duration { return time.Since(began) }
		courses = append(courses, &course{processors: 1, size: 1})
	}
	grad := make([]float64, p.Dim())
	next := 0
	batch := func(c *course) (time.Duration, error) {
		p.SetWorkers(c.processors)
		start := now()
		for range c.size {
			p.LogDensityGrad(xs[next], grad) // errors count as evaluations too
			if next++; next == len(xs) {
				next = 0
			}
		}
		d := now() - start
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return d, nil
	}
	// Find batch sizes that certainly take longer than batchTime.
	for _, c := range courses {
		for {
			d, err := batch(c)
			if err != nil {
				return t, err
			}
			if d >= batchTime {
				break
			}
			grow := 1.3 * float64(batchTime) / max(float64(d), 1)
			c.size = int(math.Ceil(float64(c.size) * min(max(grow, 1.1), 100)))
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for slices.ContainsFunc(courses, func(c *course) bool { return len(c.per) < batchCount }) {
		for _, c := range courses {
			d, err := batch(c)
			if err != nil {
				return t, err
			}
			t.evaluationsInTotal += c.size
			if d < batchTime {
				c.size += c.size/4 + 1 // the machine was faster this time: leave the batch out
				continue
			}
			c.per = append(c.per, float64(d)/float64(c.size))
		}
	}
	runtime.ReadMemStats(&after)
	t.AllocsPerGradient = number(float64((after.Mallocs - before.Mallocs) / uint64(t.evaluationsInTotal)))
	t.batchTimes = courses[0].summary()
	if processors > 1 {
		one := courses[1].summary()
		t.OneProcessor = &one
	}
	return t, nil
}

// nanoseconds shows a duration with three significant digits.
func nanoseconds(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.3g ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	case ns < 1e9:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	}
	return fmt.Sprintf("%.3g s", ns/1e9)
}
