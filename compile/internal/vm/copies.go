package vm

import "github.com/ppl-lang/ppl/ad"

// CopyingLoop is a loop whose steps mostly copy arrays, so that a step costs more the longer the
// arrays are.
type CopyingLoop struct {
	Site   ad.Site
	Steps  int // 0: known only at run time
	Copied int // numbers that a step copies
}

// CopyingLoops returns the loops whose steps mostly copy arrays, if this takes more than a few
// microseconds. Loops of runs (package passes, logs.go) are not among them: they copy arrays once
// in a run of many trips.
func (p *Program) CopyingLoops() []CopyingLoop {
	var list []CopyingLoop
	p.eachBlock(p.blocks, func(b *block) {
		r := b.reg
		if r == nil {
			return
		}
		steps := 0
		switch c := r.control.(type) {
		case *chosen:
			return
		case *counted:
			steps = c.times
		case *tested:
			if hasBounded(r.bodies[1]) {
				return
			}
		}
		step := p.stepWork(r)
		copied := float64(moved(r.stages) + moved(r.nexts) + moved(r.history.arrays) + moved(r.keeps[0].arrays) + p.copiesIn(r.bodies[1]))
		if steps > 0 {
			copied += float64(p.copiesIn(r.bodies[0]))
		}
		times := float64(steps)
		if steps == 0 {
			times = ad.DefaultSnapshots
		}
		if copied >= copiedShare*step && copied >= minCopied && copied*times >= minCopiedSteps {
			list = append(list, CopyingLoop{b.node.Site, steps, int(copied)})
		}
	})
	return list
}

// eachBlock calls f for all blocks, also those in bodies of regions.
func (p *Program) eachBlock(bs []block, f func(b *block)) {
	for i := range bs {
		f(&bs[i])
		if r := bs[i].reg; r != nil {
			p.eachBlock(r.bodies[0], f)
			p.eachBlock(r.bodies[1], f)
		}
	}
}

// hasBounded reports whether blocks contain a loop with a bounded number of trips.
func hasBounded(bs []block) bool {
	for i := range bs {
		if r := bs[i].reg; r != nil {
			if c, loops := r.control.(*tested); loops && c.bounded || hasBounded(r.bodies[0]) || hasBounded(r.bodies[1]) {
				return true
			}
		}
	}
	return false
}

// copiesIn returns how many numbers of arrays the blocks copy, without the steps of loops within.
func (p *Program) copiesIn(bs []block) (n int) {
	for i := range bs {
		b := &bs[i]
		switch {
		case b.kind == arrayBlock && (b.node.Op == ad.OpReplace || b.node.Op == ad.OpAddAt) && !p.inPlace(b):
			n += b.node.Type.Total()
		case b.reg != nil:
			n += moved(b.reg.inits) + moved(b.reg.finals)
			if _, ok := b.reg.control.(*chosen); ok {
				for side, body := range b.reg.bodies {
					n += moved(b.reg.keeps[side].arrays) + p.copiesIn(body)
				}
			}
		}
	}
	return n
}
