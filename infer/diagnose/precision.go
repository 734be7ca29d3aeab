package diagnose

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/ppl-lang/ppl/internal/goroutines"
)

// Precision has the Monte Carlo standard errors of the figures of a [Row], except the mean's, and
// further effective sample sizes. It takes longer to compute than the row. Undefined figures are
// NaN.
type Precision struct {
	MCSESD                   float64 // Monte Carlo standard error of the standard deviation
	MCSEQ5, MCSEQ50, MCSEQ95 float64 // of the quantiles
	ESSSquares               float64 // effective sample size of the squared deviations
	Geyer, GeyerUncapped     float64 // sums over the chains of [InitialMonotoneESS]
}

// Precisions computes the [Precision] of every quantity of d, in the order of [Summarize] and from
// the same draws.
func Precisions(d Draws) []Precision {
	out := make([]Precision, len(d.Names()))
	new(Summarizer).each(d, all(len(out)), func(q int, w *workspace) { out[q] = w.precision() })
	return out
}

// undefined is the precision of a quantity without draws.
func undefined() Precision {
	nan := math.NaN()
	return Precision{MCSESD: nan, MCSEQ5: nan, MCSEQ50: nan, MCSEQ95: nan, ESSSquares: nan}
}

// precision measures the loaded quantity; w is nil if there are no draws.
func (w *workspace) precision() Precision {
	if w == nil {
		return undefined()
	}
	var p Precision
	for start := 0; start < len(w.pooled); start += w.length {
		capped, uncapped := w.geyer(w.pooled[start : start+w.length])
		p.Geyer += capped
		p.GeyerUncapped += uncapped
	}
	p.ESSSquares = w.essSquares()
	p.MCSESD = w.mcseSDOf(p.ESSSquares)
	p.MCSEQ5, p.MCSEQ50, p.MCSEQ95 = w.mcseQuantile(0.05), w.mcseQuantile(0.5), w.mcseQuantile(0.95)
	return p
}

// Figures has the figures of all quantities of a run, in the order of the quantities.
type Figures struct {
	Rows    []Row
	Squares []float64 // as [ESSSquares] computes them

	// nil if not asked for
	Precisions []Precision
}

// FiguresContext computes [Figures] from the draws of d, and precisions only if they are asked for.
// The parts share the reading and the sort of the draws. It stops like [Summarizer.RowsContext].
func (s *Summarizer) FiguresContext(ctx context.Context, d Draws, precisions bool) (Figures, error) {
	if ctx == nil {
		return Figures{}, errNoContext
	}
	names := d.Names()
	f := Figures{Rows: make([]Row, len(names)), Squares: make([]float64, len(names))}
	if precisions {
		f.Precisions = make([]Precision, len(names))
	}
	s.each(d, all(len(names)), func(q int, w *workspace) {
		if ctx.Err() != nil {
			return
		}
		f.Rows[q] = w.row(names[q], AllMeasures)
		switch {
		case precisions:
			f.Precisions[q] = w.precision()
			f.Squares[q] = f.Precisions[q].ESSSquares
		case w == nil:
			f.Squares[q] = math.NaN()
		default:
			f.Squares[q] = w.essSquares()
		}
	})
	if ctx.Err() != nil {
		return Figures{}, context.Cause(ctx)
	}
	return f, nil
}

// all returns the numbers 0, 1, … n−1.
func all(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// shared calls work for 0, 1, … n−1, on up to parallel goroutines, or in the caller's goroutine if
// one is enough. Each goroutine gets work and done from a separate call of worker, and calls done
// at its end.
func shared(n, parallel int, worker func() (work func(q int), done func())) {
	if n == 0 {
		return
	}
	var next atomic.Int64
	var running goroutines.Group
	run := func() {
		work, done := worker()
		defer done()
		for q := int(next.Add(1)) - 1; q < n; q = int(next.Add(1)) - 1 {
			work(q)
		}
	}
	if parallel = min(parallel, n); parallel <= 1 {
		run()
		return
	}
	for range parallel {
		running.Go(run)
	}
	running.Wait()
}
