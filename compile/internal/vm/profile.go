package vm

import (
	"math"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// BlockTime is the time of one of the program's outer blocks. A region's time includes its bodies.
type BlockTime struct {
	Block *loopnest.Block
	NS    float64
}

// Profile runs the program at the machine's inputs repeatedly, for about the budget. The time of a
// block is the minimum over the runs, minus the cost of reading the clock. If the clock is so
// coarse that it does not change within the block, as on Windows, it is the mean.
func (m *Machine) Profile(env *ad.Env, budget time.Duration) ([]BlockTime, error) {
	m.found()
	if env == nil {
		env = &m.none
	}
	m.env = env
	blocks := m.p.blocks
	times := make([]BlockTime, len(blocks))
	for i := range blocks {
		times[i] = BlockTime{blocks[i].nest, math.Inf(1)}
	}
	clock := math.Inf(1)
	for range 1000 {
		start := time.Now()
		clock = min(clock, float64(time.Since(start)))
	}
	sums, runs := make([]float64, len(blocks)), 0
	for begin, k := time.Now(), 0; k < 3 || time.Since(begin) < budget; k++ {
		for i := range blocks {
			start := time.Now()
			if err := m.run(blocks[i : i+1]); err != nil {
				return nil, err
			}
			took := float64(time.Since(start))
			times[i].NS = min(times[i].NS, took)
			sums[i] += took
		}
		runs++
	}
	for i := range times {
		if times[i].NS == 0 {
			times[i].NS = sums[i] / float64(runs)
			continue
		}
		times[i].NS = max(0, times[i].NS-clock)
	}
	return times, nil
}

// Memory returns the number of bytes of a machine's memory, without constants.
func (p *Program) Memory() int { return 8 * p.memory }
