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
		if p := b.pass; p != nil && i+2 < len(bs) { // a profile runs single blocks
			if err := m.runPass(p); err != nil {
				return err
			}
			i += 2
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
	// The last argument may be more than the number of lanes.
	_, err := m.someLanes(b, 0, n.Type.Total())
	return err
}

// someLanes runs an op on arrays for some lanes, or rows: from up to, but excluding, to, or up to
// the last one. It returns an error and the lane in which it occurred.
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

// at returns the index of an element of a value of type t, which may have to be broadcast over
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

// within reports whether all xs are in the interval.
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

// region runs a region for every lane.
func (m *Machine) region(p *regionPlan) error {
	v := m.views
	for lane := range p.lanes {
		for i := range p.laneMoves {
			w := &p.laneMoves[i]
			from := w.off + lane*w.lane
			v[w.dst] = v[w.src][from : from+w.n]
		}
		m.load(p.laneLoads, lane, 0)
		for i := range p.inits {
			c := &p.inits[i]
			m.copy(c, v[c.dst], v[c.src][lane*c.lane:])
		}
		for _, c := range p.clears {
			clear(v[c])
		}
		if err := p.control.run(m, p, lane); err != nil {
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

// someProducts multiplies the matrices of lanes from up to, but excluding, to.
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
