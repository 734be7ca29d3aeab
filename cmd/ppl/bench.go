package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/internal/cputime"
	"github.com/ppl-lang/ppl/model"
)

// timings is what bench prints; a stable format.
type timings struct {
	// nanoseconds per gradient in the fastest batch
	MinNS number `json:"min_ns"`
	// nanoseconds per gradient in the median batch
	MedianNS number `json:"median_ns"`
	// milliseconds to bind the model to its data
	BindMS             number `json:"bind_ms"`
	AllocsPerGradient  number `json:"allocs_per_gradient"` // allocations per gradient
	evaluationsInTotal int
}

const (
	batchTime  = 50 * time.Millisecond // minimum time of a batch
	batchCount = 15

	benchPoints = 6

	// Limits on the search for points: the number of attempts, and the time.
	searchAttempts = 500
	searchTime     = 5 * time.Second
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
processor time, so that other work does not count. With --parallel it is wall-clock time.

The points are read from a file as for logdensity, or are %d random points of
the unconstrained space, uniform in (-2, 2), where the log density is finite.`, batchCount, batchTime, benchPoints),
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, xs, err := in.load(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			l.posterior.SetWorkers(parallel)
			now := cputime.Process // the time of all threads, since long ops run on several
			if parallel > 1 {      // work of several threads
				began := time.Now()
				now = func() time.Duration { return time.Since(began) }
			}
			t, err := measure(cmd.Context(), l.posterior, xs, now)
			if err != nil {
				return err
			}
			t.BindMS = number(float64(l.bind) / 1e6)
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), t)
			}
			printMessage(cmd.OutOrStdout(), "gradient: %s fastest batch, %s median batch (%d evaluations)\nallocations per gradient: %.3g\nbind: %.3g ms",
				nanoseconds(float64(t.MinNS)), nanoseconds(float64(t.MedianNS)), t.evaluationsInTotal, float64(t.AllocsPerGradient), float64(t.BindMS))
			return nil
		},
	}
	in.flags(cmd)
	f := declare(cmd)
	f.Int(&parallel, "parallel", 1)
	f.Bool(&asJSON, "json", false)
	return cmd
}

// randomPoints finds n points where the log density is finite, or fewer if they are
// rare. stop ends an evaluation early.
func randomPoints(p *model.Posterior, seed uint64, n int, stop func() error) ([][]float64, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var points [][]float64
	grad := make([]float64, p.Dim())
	reason := errors.New("its log density is not finite")
	began, attempts := time.Now(), 0
	errLong := fmt.Errorf("one evaluation takes more than %s", searchTime)
	p.SetStop(func() error {
		if time.Since(began) > searchTime {
			return errLong
		}
		return stop()
	})
	defer p.SetStop(stop)
	for ; attempts < searchAttempts && len(points) < n && time.Since(began) < searchTime; attempts++ {
		x := make([]float64, p.Dim())
		for i := range x {
			x[i] = 4*rng.Float64() - 2
		}
		lp, err := p.LogDensityGrad(x, grad)
		if stopped := stop(); stopped != nil {
			return nil, stopped
		}
		if err != nil && (!errors.Is(err, errLong) || attempts == 0) {
			reason = err
		}
		if err == nil && !math.IsInf(lp, 0) && !math.IsNaN(lp) {
			points = append(points, x)
		}
	}
	if len(points) > 0 {
		return points, nil
	}
	err := fmt.Errorf("none of %d random points has a finite log density (give points by --points); at the last one: %w", attempts, reason)
	if rejection := (*compile.Rejection)(nil); errors.As(reason, &rejection) {
		return nil, &compile.Rejection{Span: rejection.Span, Err: err}
	}
	return nil, err
}

// measure measures the time per gradient by the clock now, unless ctx ends first.
func measure(ctx context.Context, p *model.Posterior, xs [][]float64, now func() time.Duration) (timings, error) {
	grad := make([]float64, p.Dim())
	next := 0
	batch := func(n int) time.Duration {
		start := now()
		for range n {
			p.LogDensityGrad(xs[next], grad) // errors count as evaluations too
			if next++; next == len(xs) {
				next = 0
			}
		}
		return now() - start
	}
	// Find a batch size that certainly takes longer than batchTime.
	n := 1
	for {
		d := batch(n)
		if ctx.Err() != nil {
			return timings{}, context.Cause(ctx)
		}
		if d >= batchTime {
			break
		}
		grow := 1.3 * float64(batchTime) / max(float64(d), 1)
		n = int(math.Ceil(float64(n) * min(max(grow, 1.1), 100)))
	}
	runtime.GC()
	var before, after runtime.MemStats
	per := make([]float64, 0, batchCount)
	total := 0
	runtime.ReadMemStats(&before)
	for len(per) < batchCount {
		d := batch(n)
		if ctx.Err() != nil {
			return timings{}, context.Cause(ctx)
		}
		total += n
		if d < batchTime {
			n = n + n/4 + 1 // the machine was faster this time: leave the batch out
			continue
		}
		per = append(per, float64(d)/float64(n))
	}
	runtime.ReadMemStats(&after)
	slices.Sort(per)
	return timings{
		MinNS:              number(per[0]),
		MedianNS:           number(per[len(per)/2]),
		AllocsPerGradient:  number(float64((after.Mallocs - before.Mallocs) / uint64(total))),
		evaluationsInTotal: total,
	}, nil
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
