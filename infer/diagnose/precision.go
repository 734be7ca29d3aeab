package diagnose

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Precision is how precise the figures of a [Row] are, but for the mean's, and
// two more effective sample sizes. It takes longer than the row. What does not
// exist is NaN.
type Precision struct {
	MCSESD                   float64 // Monte Carlo standard error of the standard deviation
	MCSEQ5, MCSEQ50, MCSEQ95 float64 // of the quantiles
	ESSSquares               float64 // effective sample size of the squared deviations
	Geyer, GeyerUncapped     float64 // sums over the chains of [InitialMonotoneESS]
}

// Precisions gives that of every quantity of d, in the order of [Summarize], of
// the same draws.
func Precisions(d Draws) []Precision {
	out := make([]Precision, len(d.Names()))
	chains, length := comparableChains(d)
	shared(len(out), func() func(q int) {
		columns := make([][]float64, len(chains))
		return func(q int) {
			p := &out[q]
			for i, chain := range chains {
				columns[i] = d.Column(columns[i][:0], chain, q)[:length]
				capped, uncapped := InitialMonotoneESS(columns[i])
				p.Geyer += capped
				p.GeyerUncapped += uncapped
			}
			p.MCSESD = MCSESD(columns)
			p.MCSEQ5, p.MCSEQ50, p.MCSEQ95 = MCSEQuantile(columns, 0.05), MCSEQuantile(columns, 0.5), MCSEQuantile(columns, 0.95)
			p.ESSSquares = ESSSquares(columns)
		}
	})
	return out
}

// shared calls what worker returns for 0, 1, … n−1, shared among GOMAXPROCS
// goroutines with a worker each.
func shared(n int, worker func() func(q int)) {
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		running.Go(func() {
			work := worker()
			for q := int(next.Add(1)) - 1; q < n; q = int(next.Add(1)) - 1 {
				work(q)
			}
		})
	}
	running.Wait()
}
