package vm

import (
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// run executes blocks in order.
func (m *Machine) run(bs []block) error {
	for i := 0; i < len(bs); i++ {
		b := &bs[i]
		if w := m.watch; w != nil && w.left.Load() {
			return errLeft
		}
		if f := b.fused; f != nil {
			if err := m.runFused(f, 0, 0); err != nil {
				return err
			}
			i += f.n - 1
			continue
		}
		for _, v := range b.clears {
			clear(m.views[v])
		}
		switch b.kind {
		case scalarBlock:
			k := int32(-1)
			if b.native != nil {
				k = m.runNative(b)
			} else {
				k = m.scalar(b.code, nil)
			}
			if k >= 0 {
				return m.failedCheck(b, k)
			}
		case stripBlock:
			if err := m.strips(b); err != nil {
				return err
			}
		case matmulBlock:
			m.matmul(b)
		case regionBlock:
			var err error
			if b.split != nil && b.split.region != nil {
				err = m.regionInParts(b)
			} else {
				err = m.region(b.reg)
			}
			if err != nil {
				return err
			}
		default:
			var err error
			if w := m.watch; w != nil && (b.kind == effectBlock || b.kind == randomBlock) {
				err = w.act(m, b)
			} else {
				err = m.single(b)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// failedCheck returns the error of instruction k of scalar code.
func (m *Machine) failedCheck(b *block, k int32) error {
	in := &b.code[k]
	m.args[0] = m.mem[in.a : in.a+1]
	return ad.RunEffect(m.p.checks[in.b], m.p.checkTypes, m.args[:1], nil)
}

// single runs a block with one op.
func (m *Machine) single(b *block) error {
	args := m.args[:len(b.args)]
	for k, v := range b.args {
		args[k] = m.views[v]
	}
	n := b.node
	switch b.kind {
	case effectBlock:
		return ad.RunEffect(n, b.types, args, m.env.Print)
	case randomBlock:
		attr := n.Attr.(*ad.RandomDraw)
		if m.env.Rand == nil {
			return fmt.Errorf("%s_rng needs a random number generator", attr.Name)
		}
		draw, size := m.draw[:len(args)], n.Type.Size()
		dst := m.views[b.dst]
		for i := range dst {
			for k := range args {
				draw[k] = args[k][at(&b.types[k], i/size, i%size)]
			}
			dst[i] = attr.Draw(m.env.Rand, draw)
		}
		return nil
	}
	if s := b.split; s != nil && !s.shared {
		return m.singleInParts(b)
	}
	_, err := m.someLanes(b, 0, n.Type.Total()) // the last argument may exceed the number of lanes
	return err
}

// someLanes runs an op on arrays for the lanes, or rows, from from to to, or to the last one. It
// returns an error with its lane.
func (m *Machine) someLanes(b *block, from, to int) (int, error) {
	args, lane := m.args[:len(b.args)], m.args[len(b.args):2*len(b.args)]
	for k, v := range b.args {
		args[k] = m.views[v]
	}
	n, dst := b.node, m.views[b.dst]
	to = min(to, len(dst))
	if b.array.rows != nil {
		k := len(args[0]) / len(dst)
		b.array.rows(dst[from:to], args[0][from*k:to*k], k, m.work)
		return 0, nil
	}
	work := m.views[b.work]
	if b.split.bySides() {
		solve(b, dst, args, work, from, to)
		return 0, nil
	}
	if n.Type.Lanes == 0 || n.Op.Row().OwnLanes {
		return 0, opError(n, m.evaluate(b, dst, args, work))
	}
	size := n.Type.Size()
	for l := from; l < min(to, n.Type.Lanes); l++ {
		for k, a := range args {
			lane[k] = a
			if b.types[k].Lanes > 0 {
				w := len(a) / b.types[k].Lanes
				lane[k] = a[l*w : (l+1)*w]
			}
		}
		if err := m.evaluate(b, dst[l*size:(l+1)*size], lane, work); err != nil {
			return l, opError(n, err)
		}
	}
	return 0, nil
}

// evaluate runs an op on arrays for one lane, or for all lanes if it handles these itself.
func (m *Machine) evaluate(b *block, dst []float64, args [][]float64, work []float64) error {
	if b.dense == nil {
		return b.node.Op.Row().Eval(dst, args, b.types, b.node.Attr, work)
	}
	m.job.Team = nil
	if s := b.split; s != nil && s.shared && m.team != nil {
		m.sharing.m, m.sharing.own = m, s.kept
		m.job.Team = &m.sharing
	}
	return b.array.eval(&m.job, b, dst, args, work)
}

func opError(n *ad.Node, err error) error {
	if err != nil {
		return &OpError{Site: n.Site, Op: n.Op.String(), Err: err}
	}
	return nil
}

// at is the position of an element in a value of type t that is broadcast over
// lanes and elements.
func at(t *ad.Type, lane, elem int) int {
	k := 0
	if t.Lanes > 0 {
		k = lane * t.Size()
	}
	if len(t.Shape) > 0 {
		k += elem
	}
	return k
}

// within reports whether all of xs are in the interval.
func within(xs []float64, iv ad.Interval) bool {
	lo, hi := iv.Lo, iv.Hi
	switch {
	case iv.LoOpen && iv.HiOpen && math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return finite(xs)
	case iv.LoOpen && iv.HiOpen:
		for _, x := range xs {
			if !(x > lo && x < hi) {
				return false
			}
		}
	case !iv.LoOpen && !iv.HiOpen:
		for _, x := range xs {
			if !(x >= lo && x <= hi) {
				return false
			}
		}
	default:
		for _, x := range xs {
			if !iv.Contains(x) {
				return false
			}
		}
	}
	return true
}

// region runs a scan or a conditional for every lane.
func (m *Machine) region(p *regionPlan) error {
	v := m.views
	for lane := range p.lanes {
		for i := range p.laneMoves {
			w := &p.laneMoves[i]
			from := w.off + lane*w.lane
			v[w.dst] = v[w.src][from : from+w.n]
		}
		m.load(p.laneLoads, lane, 0)
		body := 0
		if p.conditional {
			if v[p.cond][lane*p.condLane] == 0 {
				body = 1
			}
			if err := m.run(p.bodies[body]); err != nil {
				return err
			}
			m.keep(&p.keeps[body], lane, 0)
			continue
		}
		for i := range p.inits {
			c := &p.inits[i]
			m.copy(c, v[c.dst], v[c.src][lane*c.lane:])
		}
		for _, c := range p.clears {
			clear(v[c])
		}
		var err error
		if p.snapshots > 0 {
			err = m.loop(p, lane)
		} else {
			err = m.scan(p, lane)
		}
		if err != nil {
			return err
		}
		for i := range p.finals {
			c := &p.finals[i]
			m.copy(c, v[c.dst][lane*c.lane:], v[c.src])
		}
	}
	return nil
}

func (m *Machine) copy(c *copying, dst, src []float64) {
	if c.rep {
		fillLoop(dst[:c.n], src[0])
	} else {
		copy(dst[:c.n], src)
	}
}

func (m *Machine) load(ls []scalarMove, lane, step int) {
	for i := range ls {
		l := &ls[i]
		m.mem[l.slot] = m.views[l.view][l.off+lane*l.lane+step*l.step]
	}
}

func (m *Machine) keep(k *keeps, lane, step int) {
	for i := range k.scalars {
		s := &k.scalars[i]
		m.views[s.view][s.off+lane*s.lane+step*s.step] = m.mem[s.slot]
	}
	for i := range k.arrays {
		c := &k.arrays[i]
		m.copy(c, m.views[c.dst][lane*c.lane+step*c.step:], m.views[c.src])
	}
}

// tightScan runs a scan whose body is one block of scalar code.
func (m *Machine) tightScan(p *regionPlan, lane int) error {
	w := walk{steps: p.steps}
	rest := m.curs
	cursors := func(moves []scalarMove) []cursor {
		cs := rest[:len(moves)]
		rest = rest[len(moves):]
		for i := range moves {
			s := &moves[i]
			c := cursor{data: m.views[s.view], slot: s.slot, pos: s.off + lane*s.lane, step: s.step}
			if p.reverse {
				c.pos += (p.steps - 1) * s.step
				c.step = -s.step
			}
			cs[i] = c
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

// scan runs the steps of a scan for one lane.
func (m *Machine) scan(p *regionPlan, lane int) error {
	switch {
	case p.chain != nil:
		m.runChain(p, p.chain, lane)
		return nil
	case p.native != nil:
		if k := p.native.Run(m.memory, m.viewTable, m.scratchMemory, lane, 0, 0); k != 0 {
			return m.failedCheck(&p.bodies[0][0], int32(k-1))
		}
		return nil
	case p.tight:
		return m.tightScan(p, lane)
	}
	v := m.views
	body := p.bodies[0]
	for k := range p.steps {
		t := k
		if p.reverse {
			t = p.steps - 1 - k
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

// next passes carried values to the next step.
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

// loop runs a while loop for one lane; see ad.While for the snapshots.
func (m *Machine) loop(p *regionPlan, lane int) error {
	m.histories(p, lane, func(h []float64, _ int) { clear(h) })
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
		if m.views[p.cond][0] == 0 {
			break
		}
		if trips == p.snapshots*stride {
			m.thin(p, lane)
			stride *= 2
		}
		if trips%stride == 0 {
			m.keep(&p.history, lane, trips/stride)
		}
		if err := m.run(p.bodies[1]); err != nil {
			return err
		}
		m.next(p)
	}
	if p.trips >= 0 {
		m.views[p.trips][lane] = float64(trips)
	}
	if p.stride >= 0 {
		m.views[p.stride][lane] = float64(stride)
	}
	return nil
}

// thin drops every second snapshot of the lane's histories.
func (m *Machine) thin(p *regionPlan, lane int) {
	m.histories(p, lane, func(h []float64, k int) {
		half := len(h) / k / 2
		for r := range half {
			copy(h[r*k:(r+1)*k], h[2*r*k:])
		}
		clear(h[half*k:])
	})
}

// histories calls f for the lane's part of every history, with the size of a
// snapshot.
func (m *Machine) histories(p *regionPlan, lane int, f func(h []float64, k int)) {
	for i := range p.history.scalars {
		s := &p.history.scalars[i]
		f(m.views[s.view][lane*s.lane:lane*s.lane+p.snapshots], 1)
	}
	for i := range p.history.arrays {
		c := &p.history.arrays[i]
		f(m.views[c.dst][lane*c.lane:lane*c.lane+p.snapshots*c.n], c.n)
	}
}

// matmul multiplies matrices, lane by lane.
func (m *Machine) matmul(b *block) {
	switch {
	case b.sparse != nil && b.sparse.multiply(m.views[b.dst], m.views[b.args[1]], dimensions(b).c, b.node.Attr.(ad.MatMulAttr).TransA):
	case b.split != nil:
		m.productInParts(b)
	default:
		m.someProducts(b, 0, max(b.node.Type.Lanes, 1))
	}
}

// someProducts multiplies matrices in the lanes from from to to.
func (m *Machine) someProducts(b *block, from, to int) {
	dst, x, y := m.views[b.dst], m.views[b.args[0]], m.views[b.args[1]]
	attr, p := b.node.Attr.(ad.MatMulAttr), dimensions(b)
	r, c, k := p.r, p.c, p.k
	lx, ly := 0, 0
	if b.types[0].Lanes > 0 {
		lx = r * k
	}
	if b.types[1].Lanes > 0 {
		ly = k * c
	}
	for l := from; l < to; l++ {
		if b.dense != nil {
			b.dense.Product(dst[l*r*c:(l+1)*r*c], x[l*lx:l*lx+r*k], y[l*ly:l*ly+k*c], r, c, k, 0, r, attr.TransA, attr.TransB, m.views[b.work])
			continue
		}
		multiply(dst[l*r*c:(l+1)*r*c], x[l*lx:l*lx+r*k], y[l*ly:l*ly+k*c], r, c, k, attr.TransA, attr.TransB)
	}
}
