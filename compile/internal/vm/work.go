package vm

import "github.com/ppl-lang/ppl/ad"

// Work counts the numbers that an evaluation computes, copies and clears, with both branches of a
// conditional and one trip of a while loop. It does not depend on the machine. Tests compare how it
// grows with the number of iterations in a program.
func (p *Program) Work() float64 { return p.workOf(p.blocks) }

func (p *Program) workOf(bs []block) (w float64) {
	for i := range bs {
		b := &bs[i]
		for _, v := range b.clears {
			w += float64(p.views[v].n)
		}
		switch b.kind {
		case scalarBlock:
			w += float64(len(b.code))
		case stripBlock:
			w += float64(len(b.code)) * float64(b.n)
		case regionBlock:
			w += p.regionWork(b.reg)
		case matmulBlock:
			d := dimensions(b)
			w += float64(d.r) * float64(d.c) * float64(d.k) * float64(max(b.node.Type.Lanes, 1))
		default:
			w += p.opWork(b)
		}
	}
	return w
}

// opWork returns the work of an op that runs alone. Of ops on elements at computed positions, only
// these elements count.
func (p *Program) opWork(b *block) float64 {
	total := func(t ad.Type) float64 { return float64(t.Total()) }
	last := 0.0 // the last operand; ops such as print may have none
	if n := len(b.types); n > 0 {
		last = total(b.types[n-1])
	}
	switch op := b.node.Op; {
	case op == ad.OpTake, (op == ad.OpReplace || op == ad.OpAddAt) && p.inPlace(b):
		return last
	case op == ad.OpReplace || op == ad.OpAddAt || op == ad.OpPut:
		return last + total(b.node.Type)
	}
	w := total(b.node.Type)
	for _, t := range b.types {
		w += total(t)
	}
	return w
}

func (p *Program) regionWork(r *regionPlan) (w float64) {
	once := float64(moved(r.inits) + moved(r.finals))
	for _, v := range r.clears {
		once += float64(p.views[v].n)
	}
	return float64(r.lanes) * (once + float64(r.control.steps())*p.stepWork(r))
}

// stepWork returns the work of a step or branch of a region.
func (p *Program) stepWork(r *regionPlan) float64 {
	kept := func(k *keeps) int { return len(k.scalars) + moved(k.arrays) }
	return p.workOf(r.bodies[0]) + p.workOf(r.bodies[1]) + float64(moved(r.stages)+moved(r.nexts)+len(r.nextScalars)+
		kept(&r.history)+kept(&r.keeps[0])+kept(&r.keeps[1])+len(r.stepLoads))
}

// moved returns how many numbers are copied.
func moved(cs []copying) (n int) {
	for _, c := range cs {
		n += c.n
	}
	return n
}
