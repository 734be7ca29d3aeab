package vm

import (
	"math"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// BlockTime is how long one of the program's own blocks takes, regions with
// their bodies.
type BlockTime struct {
	Block *loopnest.Block
	NS    float64
}

// Profile runs the program at the machine's inputs, over and over for the
// budget, and takes for each block the least of the times seen, less what
// reading the clock costs; or their mean, where the clock is so coarse that it did not
// move at all within the block, as on Windows.
func (m *Machine) Profile(env *ad.Env, budget time.Duration) ([]BlockTime, error) {
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

// Memory is the number of bytes that a machine works in, constants aside.
func (p *Program) Memory() int { return 8 * p.memory }
