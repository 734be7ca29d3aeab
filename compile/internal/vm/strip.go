package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// strips runs the code of a block over its n elements, a strip at a time. If several checks fail,
// the error is that of the first check, at its first element. To find it, later strips still run
// the instructions before the failed one.
func (m *Machine) strips(b *block) error {
	if b.split != nil {
		return m.stripsInParts(b)
	}
	m.fail = failure{k: len(b.code)}
	for pos := 0; pos < b.n; pos += b.strip {
		m.stripAt(b, pos)
	}
	return m.fail.error()
}

// stripAt runs the strip from element pos on.
func (m *Machine) stripAt(b *block, pos int) {
	end := min(b.n, pos+b.strip)
	if b.native != nil {
		if len(b.native) > 1 {
			m.windows(b, pos, end-pos)
		}
		if m.fail.check == nil && m.segments(b, pos, end) {
			return
		}
	}
	// If machine code reports a failure, the interpreter finds which check failed, and where.
	m.windows(b, pos, end-pos)
	code := b.code[:min(m.fail.k+1, len(b.code))]
	if k := m.strip(b, code, pos); k >= 0 {
		m.fail = m.failed(m.fail, code, k, pos)
	} else if b.native != nil && m.fail.check == nil {
		m.fail.disagree = true
	}
}

// windows moves the views of a block to the strip of w elements that begins at pos.
func (m *Machine) windows(b *block, pos, w int) {
	v := m.views
	for _, win := range b.wins {
		if win.temp {
			v[win.dst] = v[win.src][:w]
		} else {
			v[win.dst] = v[win.src][pos : pos+w]
		}
	}
}

// failure is a failed check: instruction k, at an element.
type failure struct {
	k, at int
	value float64
	check *stripCheck
	// disagree is set if machine code rejects what the interpreter accepts: a bug of this package.
	disagree bool
}

// failed returns the earlier of two failures: f, and that of instruction k in the strip at element
// pos.
func (m *Machine) failed(f failure, code []instr, k, pos int) failure {
	c := &m.p.stripChecks[code[k].b]
	set := &c.node.Attr.(*ad.Check).Set
	for i, x := range m.views[code[k].a] {
		if set.Contains(x) {
			continue
		}
		at := pos + i
		if c.perm != nil {
			at = int(c.perm[at])
		}
		if k < f.k || at < f.at {
			f = failure{k: k, at: at, value: x, check: c}
		}
	}
	return f
}

// error returns the failure as the error that ad.RunEffect returns.
func (f failure) error() error {
	switch {
	case f.disagree:
		return errDisagree
	case f.check == nil:
		return nil
	}
	check := f.check.node.Attr.(*ad.Check)
	if n := f.check.typ.Size(); check.Elements != nil {
		f.at = int(check.Elements[f.at])
	} else if !f.check.typ.IsScalar() {
		f.at %= n
	}
	return &ad.CheckError{Check: check, Value: f.value, Index: f.at, Site: f.check.node.Site}
}

// strip runs code of a block over the strip that begins at element pos. It returns -1, or the
// number of the instruction whose check failed.
func (m *Machine) strip(b *block, code []instr, pos int) int {
	v := m.views
	for k := range code {
		in := &code[k]
		d, a := v[in.dst], v[in.a]
		if in.op >= firstMove {
			g := &m.p.maps[in.c]
			moves[in.op-firstMove].run(d, a, g, pos)
			continue
		}
		switch row := ops.Of(in.op); {
		case in.op == ad.OpCheck:
			if !within(a, m.p.stripChecks[in.b].node.Attr.(*ad.Check).Set) {
				return k
			}
		case row.Reduce != nil:
			d[0] += m.reduce(b, in, a, v[in.b])
		default:
			row.Loop(d, m.lanes(in, 0, a, len(d)), m.lanes(in, 1, v[in.b], len(d)), m.lanes(in, 2, v[in.c], len(d)))
		}
	}
	return -1
}

// lanes returns operand k of an elementwise instruction as n numbers; a single number is repeated.
func (m *Machine) lanes(in *instr, k int, x []float64, n int) []float64 {
	if in.x>>k&1 == 0 {
		return x
	}
	w := m.work[k*maxStrip:][:n]
	fillLoop(w, x[0])
	return w
}
