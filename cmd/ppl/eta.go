package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/ppl-lang/ppl/infer"
)

// eta estimates the time to the end of a run, warm-up and sampling of all chains, from recent
// measurements of the time per gradient and the gradients per transition. It reports when these are
// not known yet. It is not safe for concurrent use.
type eta struct {
	warmup, draws int // transitions per chain
	parallel      int // chains that run at the same time
	target        float64
	early         bool // warm-up may end early
	chains        []etaChain

	looked    bool // the fields below are known
	at        int  // number of draws per chain when they were computed
	ess, rhat float64
}

// etaChain is the progress of a chain: its phase, and the number of transitions made at certain
// times.
type etaChain struct {
	begun, warm bool
	done        bool
	points      []etaPoint // of this phase, in order
}

type etaPoint struct {
	when        time.Time
	transitions int // transitions of the phase
	gradients   int64
}

func newETA(o *runOptions) *eta {
	e := &eta{warmup: o.warmup, draws: o.draws, parallel: o.parallel, target: o.targetESS, chains: make([]etaChain, o.chains)}
	if e.parallel <= 0 {
		e.parallel = runtime.GOMAXPROCS(0)
	}
	if e.target > 0 {
		e.parallel = o.chains // all run at a time
	}
	all := o.samplerFlags.values["no-early-end"]
	e.early = o.samplerFlags.name == "auto" && (all == nil || all.text != "true")
	return e
}

// update records the progress of a chain.
func (e *eta) update(p infer.Progress, now time.Time) {
	c := &e.chains[p.Chain]
	if !c.begun || c.warm != p.Warmup {
		c.points = c.points[:0]
	}
	c.begun, c.warm = true, p.Warmup
	c.done = p.Iteration == p.Total
	n := p.Iteration
	if !p.Warmup {
		n -= p.Total - e.draws // leave out the transitions of warm-up, which may have ended early
		if p.Total == p.Iteration {
			n = e.draws // the draws that are still needed
		}
	}
	c.points = append(c.points, etaPoint{now, n, p.Gradients})
}

// reached records the least effective sample size and the largest R-hat after the given number of
// draws of each chain.
func (e *eta) reached(draws int, ess, rhat float64) {
	e.looked, e.at, e.ess, e.rhat = true, draws, ess, rhat
}

// The number of transitions of a phase after which their cost is taken as known: the first trees
// are not typical, and the step size is still being found.
const (
	minWarmup   = 100
	minSampling = 20
)

// rates returns the seconds per gradient and the gradients per transition, over the last half of
// the measurements of the phase.
func (c *etaChain) rates() (seconds, gradients float64, ok bool) {
	if len(c.points) < 2 {
		return 0, 0, false
	}
	last := c.points[len(c.points)-1]
	first := c.points[0]
	for _, p := range c.points {
		if 2*p.transitions <= last.transitions {
			first = p
		}
	}
	g, n := float64(last.gradients-first.gradients), float64(last.transitions-first.transitions)
	if n <= 0 || g <= 0 {
		return 0, 0, false
	}
	return last.when.Sub(first.when).Seconds() / g, g / n, true
}

// left returns the time to the end of the run, if it is known.
func (e *eta) left(now time.Time) (time.Duration, bool) {
	draws := e.draws
	if e.target > 0 {
		var ok bool
		if draws, ok = e.needed(); !ok {
			return 0, false
		}
	}
	// The gradients per transition of sampling, over the chains that have begun it.
	tree, n := 0.0, 0
	for i := range e.chains {
		if c := &e.chains[i]; c.begun && !c.warm && len(c.points) > 0 && c.points[len(c.points)-1].transitions >= min(minSampling, draws) {
			if _, g, ok := c.rates(); ok {
				tree += g
				n++
			}
		}
	}
	if n > 0 {
		tree /= float64(n)
	}
	longest, sum, whole, known, waiting := 0.0, 0.0, 0.0, 0, 0
	for i := range e.chains {
		c := &e.chains[i]
		if !c.begun {
			waiting++
			continue
		}
		if c.done && e.target == 0 {
			continue
		}
		seconds, gradients, ok := c.rates()
		last := c.points[len(c.points)-1]
		each := tree
		if n == 0 {
			each = gradients // use the number in warm-up
		}
		left := 0.0
		switch {
		case !ok:
			return 0, false
		case c.warm && last.transitions < min(minWarmup, e.warmup):
			return 0, false
		case c.warm:
			left = (float64(e.warmup-last.transitions)*gradients + float64(draws)*each) * seconds
		case last.transitions >= draws:
		default:
			if n == 0 {
				return 0, false
			}
			left = float64(draws-last.transitions) * gradients * seconds
		}
		left -= now.Sub(last.when).Seconds()
		left = max(left, 0)
		longest, sum = max(longest, left), sum+left
		// The time of a whole chain, for waiting chains.
		whole += (float64(e.warmup)*gradients + float64(draws)*each) * seconds
		known++
	}
	if waiting > 0 {
		if known == 0 {
			return 0, false
		}
		whole /= float64(known)
		sum += float64(waiting) * whole
		// Waiting chains begin as others end.
		longest = max(longest, whole*math.Ceil(float64(waiting)/float64(e.parallel)))
	}
	return duration(max(longest, sum/float64(min(e.parallel, len(e.chains))))), true
}

// needed estimates the number of draws per chain at which the target is reached, from the effective
// sample size so far. ok is false if it cannot be estimated.
func (e *eta) needed() (int, bool) {
	if !e.looked || !(e.ess > 0) || e.ess >= e.target {
		return 0, false // large enough, but the chains disagree: the end cannot be predicted
	}
	return min(e.draws, int(math.Ceil(float64(e.at)*e.target/e.ess))), true
}

// text returns a text about the time left; "" if nothing is known.
func (e *eta) text(now time.Time) string {
	so := ""
	if e.target > 0 && e.looked {
		so = fmt.Sprintf("ESS %.0f of %g after %d draws per chain", e.ess, e.target, e.at)
		if !(e.rhat < 1.01) {
			so += fmt.Sprintf(", R-hat %.3f", e.rhat)
		}
		so += "; "
	}
	if left, ok := e.left(now); ok {
		most := ""
		if e.early && slices.ContainsFunc(e.chains, func(c etaChain) bool { return !c.begun || c.warm }) {
			most = "at most "
		}
		return so + most + "about " + clock(max(left, time.Second).Round(time.Second)) + " left"
	}
	return so + "time left not known yet"
}
