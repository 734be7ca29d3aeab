package diagnose

import (
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
	new(Summarizer).each(d, all(len(out)), func(q int, w *workspace) {
		nan := math.NaN()
		if w == nil {
			out[q] = Precision{MCSESD: nan, MCSEQ5: nan, MCSEQ50: nan, MCSEQ95: nan, ESSSquares: nan}
			return
		}
		p := &out[q]
		for start := 0; start < len(w.pooled); start += w.length {
			capped, uncapped := InitialMonotoneESS(w.pooled[start : start+w.length])
			p.Geyer += capped
			p.GeyerUncapped += uncapped
		}
		p.MCSESD, p.ESSSquares = w.mcseSD(), w.essSquares()
		p.MCSEQ5, p.MCSEQ50, p.MCSEQ95 = w.mcseQuantile(0.05), w.mcseQuantile(0.5), w.mcseQuantile(0.95)
	})
	return out
}

// Squares computes [ESSSquares] of every quantity, in the order of [Summarize].
func Squares(d Draws) []float64 {
	out := make([]float64, len(d.Names()))
	new(Summarizer).each(d, all(len(out)), func(q int, w *workspace) {
		if out[q] = math.NaN(); w != nil {
			out[q] = w.essSquares()
		}
	})
	return out
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
