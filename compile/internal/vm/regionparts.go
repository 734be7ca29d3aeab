package vm

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: regions whose lanes are divided into parts, if the lanes run as vectors (see
// nativelanes.go). Such code writes only the results and scratch memory, which each worker has.
// Lanes in which something fails, or whose histories are full, are left out; they run after all
// parts, in order, as single lanes in the machine's memory. So if several lanes fail, the first one
// is reported. The result of a lane does not depend on the worker or on the other lanes of its
// part.

// regionCode is the machine code of a region in parts. The arguments of each function are its first
// lane and the one after its last.
type regionCode struct {
	vectors *fusedRun // returns with the event lanesLeft
	singles *fusedRun
	width   int // lanes of a vector
}

// splitRegion decides whether a region runs in parts, each with some vectors of lanes.
func (x *context) splitRegion(b *block, ns float64) {
	if vectors := b.reg.lanes / eight; ns > 0 && vectors > 1 {
		b.split = newSplit(vectors, ns)
	}
}

// regionGuess returns the estimated time of a region with lanes, assuming a few trips of each loop;
// 0 for other regions and for steps of a scan.
func regionGuess(r *loopnest.Region) float64 {
	if r == nil || r.Lanes < 2 || r.Layout.Control == ad.Counted {
		return 0
	}
	return bodiesGuess(r)
}

func bodiesGuess(r *loopnest.Region) float64 {
	ns := 0.0
	for _, body := range r.Bodies {
		for i := range body.Nodes {
			if n := &body.Nodes[i]; n.Reg != nil {
				ns += bodiesGuess(n.Reg)
			} else {
				ns += body.Cost(n).Guess
			}
		}
	}
	if r.Layout.Control == ad.Tested {
		ns *= fewTrips
	}
	return ns
}

// regionParts generates the functions of a region in parts.
func (g *generator) regionParts(b *block) {
	p, code := b.reg, &regionCode{vectors: &fusedRun{n: 1}, singles: &fusedRun{n: 1}}
	g.regions[b] = code
	own := func(r *fusedRun, body func(lane, end int32, done native.Label)) {
		lane, end := g.Reserve(1), g.Reserve(1)
		g.resumable(r, []block{*b}, func(done native.Label) {
			g.MovStore(native.At(native.Scratch, 8*lane), native.R1)
			g.MovStore(native.At(native.Scratch, 8*end), native.R2)
			body(lane, end, done)
		})
	}
	own(code.vectors, func(lane, end int32, done native.Label) {
		v := g.lanesOf(p)
		v.reserve()
		v.r, v.done, v.first, code.width = code.vectors, done, lane, v.width
		v.all(p, end, func() {
			g.goOut(code.vectors, event{kind: lanesLeft, reg: p, lane: lane}, done)
			g.addWord(lane, int32(v.width))
		})
	})
	own(code.singles, func(lane, end int32, done native.Label) {
		next := g.NewLabel()
		g.Place(next)
		g.lane(p, lane, code.singles, done)
		g.addWord(lane, 1)
		g.MovLoad(native.T1, native.At(native.Scratch, 8*end))
		g.Cmp(native.T0, native.T1)
		g.If(native.Less, next)
	})
}

// regionWork is the state of a region while it runs in parts.
type regionWork struct {
	m *Machine
	b *block

	mutex sync.Mutex
	left  []int // first lanes of those vectors whose lanes must run as single lanes
	err   error // an error that ends the evaluation
}

// part implements the interface parts.
func (w *regionWork) part(m *Machine, k int) {
	s := w.b.split
	from, to := s.span(k)
	from, to = from*eight, to*eight
	if k == s.parts-1 {
		to = w.b.reg.lanes
	}
	r := s.region.vectors
	for at := 0; ; {
		if at = r.fn.Run(m.memory, m.viewTable, m.scratchMemory, at, from, to); at == 0 {
			return
		}
		e := &r.events[at-1]
		w.mutex.Lock()
		if e.kind == lanesLeft {
			w.left = append(w.left, int(*(*int64)(unsafe.Add(m.scratchMemory, 8*e.lane))))
		} else if w.err == nil { // the lock keeps calls of the stop function from overlapping
			w.err = w.m.happen(e)
		}
		ended := w.err != nil
		w.mutex.Unlock()
		if ended {
			return
		}
	}
}

// regionInParts runs a region in parts.
func (m *Machine) regionInParts(b *block) error {
	if m.regions == nil {
		m.regions = &regionWork{}
	}
	w := m.regions
	w.m, w.b, w.left, w.err = m, b, w.left[:0], nil
	m.team.each(m, w, b.split.parts)
	if w.err != nil {
		return w.err
	}
	slices.Sort(w.left)
	for _, lane := range w.left {
		if err := m.runFused(b.split.region.singles, lane, min(lane+b.split.region.width, b.reg.lanes)); err != nil {
			return err
		}
	}
	return nil
}
