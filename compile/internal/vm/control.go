package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// control is the way in which a region runs its bodies. There is one type for each ad.Control; all
// that differs between them is in methods of this interface and of laneVectors, and in fields of
// the types.
type control interface {
	// run runs the bodies for one lane. The values captured by that lane are already in place.
	run(m *Machine, p *regionPlan, lane int) error

	// steps returns the number of runs of the bodies that Program.Work assumes.
	steps() int

	// fusible reports whether the region can be part of a function of several blocks.
	fusible(g *generator, p *regionPlan) bool

	// code generates machine code that does the same as run. Word `lane` of scratch memory holds
	// the lane.
	code(g *generator, p *regionPlan, lane int32, r *fusedRun, done native.Label)

	laneVectors
}

// chosen runs one of the two bodies of a conditional: the first if the condition is not 0.
type chosen struct {
	cond     int32 // the view of the condition
	condLane int   // distance in the view from one lane's condition to the next
}

// counted runs the first body a fixed number of times: the steps of a scan.
type counted struct {
	times   int
	reverse bool // from the last step to the first

	tight  bool         // the body is only scalar code
	chain  *chain       // set if the tight scan is a chain
	native *native.Func // function for the steps of a tight scan; nil: none
	tables [][]int32    // positions of numbers of lanes to which only machine code refers
}

// tested is a while loop: it runs the second body while the first one, the condition, is not 0.
type tested struct {
	cond          int32 // the view of the condition, within the first body
	snapshots     int   // rows of each history
	bounded       bool  // it makes at most so many trips
	trips, stride int32 // views of these results; -1: not needed
}

func (*chosen) steps() int    { return 1 }
func (c *counted) steps() int { return c.times }
func (*tested) steps() int    { return 1 }

func (c *chosen) run(m *Machine, p *regionPlan, lane int) error {
	body := 0
	if m.views[c.cond][lane*c.condLane] == 0 {
		body = 1
	}
	if err := m.run(p.bodies[body]); err != nil {
		return err
	}
	m.keep(&p.keeps[body], lane, 0)
	return nil
}

// scalars runs a scan whose body is one block of scalar code.
func (c *counted) scalars(m *Machine, p *regionPlan, lane int) error {
	w := walk{steps: c.times}
	rest := m.curs
	cursors := func(moves []scalarMove) []cursor {
		cs := rest[:len(moves)]
		rest = rest[len(moves):]
		for i := range moves {
			s := &moves[i]
			at := cursor{data: m.views[s.view], slot: s.slot, pos: s.off + lane*s.lane, step: s.step}
			if c.reverse {
				at.pos += (c.times - 1) * s.step
				at.step = -s.step
			}
			cs[i] = at
		}
		return cs
	}
	w.loads, w.history, w.keeps = cursors(p.stepLoads), cursors(p.history.scalars), cursors(p.keeps[0].scalars)
	w.nexts = p.nextScalars
	b := &p.bodies[0][0]
	if k := m.scalar(b.code, &w); k >= 0 {
		return m.failedCheck(b, k)
	}
	return nil
}

func (c *counted) run(m *Machine, p *regionPlan, lane int) error {
	switch {
	case c.chain != nil && (c.native == nil || !c.chain.brief(c.times)):
		c.runChain(m, p, lane)
		return nil
	case c.native != nil:
		if k := c.native.Run(m.memory, m.viewTable, m.scratchMemory, lane, 0, 0); k != 0 {
			return m.failedCheck(&p.bodies[0][0], int32(k-1))
		}
		return nil
	case c.tight:
		return c.scalars(m, p, lane)
	}
	v := m.views
	body := p.bodies[0]
	for k := range c.times {
		t := k
		if c.reverse {
			t = c.times - 1 - k
		}
		for i := range p.stepMoves {
			w := &p.stepMoves[i]
			from := w.off + lane*w.lane + t*w.step
			v[w.dst] = v[w.src][from : from+w.n]
		}
		m.load(p.stepLoads, lane, t)
		m.keep(&p.history, lane, t)
		if err := m.run(body); err != nil {
			return err
		}
		m.keep(&p.keeps[0], lane, t)
		m.next(p)
	}
	return nil
}

// run runs a while loop for one lane; see ad.While for the snapshots.
func (c *tested) run(m *Machine, p *regionPlan, lane int) error {
	c.histories(m, p, lane, func(h []float64, _ int) { clear(h) })
	trips, stride := 0, 1
	for ; ; trips++ {
		if trips%ad.StopEvery == ad.StopEvery-1 && m.env.Stop != nil {
			if err := m.env.Stop(); err != nil {
				return err
			}
		}
		if err := m.run(p.bodies[0]); err != nil {
			return err
		}
		if m.views[c.cond][0] == 0 {
			break
		}
		if trips == c.snapshots*stride {
			c.thin(m, p, lane)
			stride *= 2
		}
		keeps := trips%stride == 0
		if keeps {
			m.keep(&p.history, lane, trips/stride)
		}
		if err := m.run(p.bodies[1]); err != nil {
			return err
		}
		if keeps {
			m.keep(&p.keeps[0], lane, trips/stride)
		}
		m.next(p)
	}
	if c.trips >= 0 {
		m.views[c.trips][lane] = float64(trips)
	}
	if c.stride >= 0 {
		m.views[c.stride][lane] = float64(stride)
	}
	return nil
}

// thin drops every second row of the lane's histories and kept values.
func (c *tested) thin(m *Machine, p *regionPlan, lane int) {
	c.histories(m, p, lane, func(h []float64, k int) {
		half := len(h) / k / 2
		for r := range half {
			copy(h[r*k:(r+1)*k], h[2*r*k:])
		}
		clear(h[half*k:])
	})
}

// histories calls f for the lane's part of every history and every list of kept values. k is the
// size of a row.
func (c *tested) histories(m *Machine, p *regionPlan, lane int, f func(h []float64, k int)) {
	for _, rows := range []*keeps{&p.history, &p.keeps[0]} {
		for i := range rows.scalars {
			s := &rows.scalars[i]
			f(m.views[s.view][lane*s.lane:lane*s.lane+c.snapshots], 1)
		}
		for i := range rows.arrays {
			a := &rows.arrays[i]
			f(m.views[a.dst][lane*a.lane:lane*a.lane+c.snapshots*a.n], a.n)
		}
	}
}

// next passes the carried values on to the next step.
func (m *Machine) next(p *regionPlan) {
	v := m.views
	for i := range p.stages {
		c := &p.stages[i]
		m.copy(c, v[c.dst], v[c.src])
	}
	for i := range p.nextScalars {
		in := &p.nextScalars[i]
		m.mem[in.dst] = m.mem[in.a]
	}
	for i := range p.nexts {
		c := &p.nexts[i]
		m.copy(c, v[c.dst], v[c.src])
	}
}
