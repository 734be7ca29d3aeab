package vm

import (
	"github.com/ppl-lang/ppl/ad"
)

// strips runs a block's code over n elements, a strip at a time. Where several
// checks fail, the error is that of the first of them, at its first element: the
// other strips run on as far as they may fail before it.
func (m *Machine) strips(b *block) error {
	if b.native != nil {
		return m.nativeStrips(b)
	}
	if len(b.wins) == 0 {
		if k := m.strip(b.code, 0); k >= 0 {
			return m.failed(failure{k: len(b.code)}, b.code, k, 0).error()
		}
		return nil
	}
	code, fail := b.code, failure{k: len(b.code)}
	for pos := 0; pos < b.n; pos += b.strip {
		w := min(b.strip, b.n-pos)
		m.windows(b, pos, w)
		if k := m.strip(code, pos); k >= 0 {
			fail = m.failed(fail, code, k, pos)
			code = b.code[:k+1]
		}
	}
	return fail.error()
}

// windows moves the views of a block to the strip of w elements from pos on.
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

// failure is a check that failed: instruction k, at an element.
type failure struct {
	k, at int
	value float64
	check *stripCheck
}

// failed is the failure of instruction k in the strip at element pos, or f if
// that is of an earlier element.
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
			f = failure{k, at, x, c}
		}
	}
	return f
}

// error is the failure as the error that ad.RunEffect returns.
func (f failure) error() error {
	if f.check == nil {
		return nil
	}
	if n := f.check.typ.Size(); !f.check.typ.IsScalar() {
		f.at %= n
	}
	return &ad.CheckError{Check: f.check.node.Attr.(*ad.Check), Value: f.value, Index: f.at, Site: f.check.node.Site}
}

// strip runs code over one strip, which begins at element pos. It returns -1, or
// the number of the instruction whose check failed.
func (m *Machine) strip(code []instr, pos int) int {
	v := m.views
	for k := range code {
		in := &code[k]
		d, a := v[in.dst], v[in.a]
		switch in.op {
		case check:
			if !within(a, m.p.stripChecks[in.b].node.Attr.(*ad.Check).Set) {
				return k
			}
		case fill:
			fillLoop(d, a[0])
		case move1:
			copy(d, a)
		case neg:
			negLoop(d, a)
		case square:
			mulVV(d, a, a)
		case abs:
			absLoop(d, a)
		case sqrt:
			sqrtLoop(d, a)
		case inv:
			invLoop(d, a)
		case exp:
			expLoop(d, a)
		case log:
			logLoop(d, a)
		case log1p:
			log1pLoop(d, a)
		case log1m:
			negLoop(d, a)
			log1pLoop(d, d)
		case expNegAbs:
			negAbsLoop(d, a)
			expLoop(d, d)
		case expNegDiff:
			negDiffLoop(d, a, v[in.b])
			expLoop(d, d)
		case sigmoid:
			sigmoidLoop(d, a, v[in.b])
		case maxPlus0:
			maxPlus0Loop(d, a, v[in.b])
		case minMinus0:
			minMinus0Loop(d, a, v[in.b])
		case maxPlus:
			maxPlusLoop(d, a, v[in.b], v[in.c])
		case add:
			addVV(d, a, v[in.b])
		case add | modeVS:
			addVS(d, a, v[in.b][0])
		case add | modeSV:
			addVS(d, v[in.b], a[0])
		case sub:
			subVV(d, a, v[in.b])
		case sub | modeVS:
			addVS(d, a, -v[in.b][0])
		case sub | modeSV:
			subSV(d, a[0], v[in.b])
		case mul:
			mulVV(d, a, v[in.b])
		case mul | modeVS:
			mulVS(d, a, v[in.b][0])
		case mul | modeSV:
			mulVS(d, v[in.b], a[0])
		case div:
			divVV(d, a, v[in.b])
		case div | modeVS:
			divVS(d, a, v[in.b][0])
		case div | modeSV:
			divSV(d, a[0], v[in.b])
		case guarded:
			guardedVV(d, a, v[in.b])
		case guarded | modeVS:
			guardedVS(d, a, v[in.b][0])
		case guarded | modeSV:
			if x := a[0]; x == 0 {
				clear(d)
			} else {
				mulVS(d, v[in.b], x)
			}
		case less:
			lessVV(d, a, v[in.b])
		case less | modeVS:
			lessVS(d, a, v[in.b][0])
		case less | modeSV:
			lessSV(d, a[0], v[in.b])
		case lessEq:
			lessEqVV(d, a, v[in.b])
		case lessEq | modeVS:
			lessEqVS(d, a, v[in.b][0])
		case lessEq | modeSV:
			lessEqSV(d, a[0], v[in.b])
		case notLessEq:
			notLessEqVV(d, a, v[in.b])
		case notLessEq | modeVS:
			notLessEqVS(d, a, v[in.b][0])
		case notLessEq | modeSV:
			notLessEqSV(d, a[0], v[in.b])
		case choose:
			chooseVV(d, a, v[in.b], v[in.c])
		case choose | modeVS:
			chooseSV(d, a, v[in.b][0], v[in.c])
		case choose | modeSV:
			chooseVS(d, a, v[in.b], v[in.c][0])
		case choose | modeVS | modeSV:
			chooseSS(d, a, v[in.b][0], v[in.c][0])
		case mulAdd:
			mulAddVV(d, a, v[in.b], v[in.c])
		case mulAdd | modeVS:
			mulAddSV(d, a, v[in.b][0], v[in.c])
		case mulAdd | modeSV:
			mulAddVS(d, a, v[in.b], v[in.c][0])
		case mulAdd | modeVS | modeSV:
			mulAddSS(d, a, v[in.b][0], v[in.c][0])
		case mulSub:
			mulSubVV(d, a, v[in.b], v[in.c])
		case mulSub | modeVS:
			mulSubSV(d, a, v[in.b][0], v[in.c])
		case mulSub | modeSV:
			mulSubVS(d, a, v[in.b], v[in.c][0])
		case mulSub | modeVS | modeSV:
			mulSubSS(d, a, v[in.b][0], v[in.c][0])
		case subMul:
			subMulVV(d, a, v[in.b], v[in.c])
		case subMul | modeVS:
			subMulSV(d, a, v[in.b][0], v[in.c])
		case subMul | modeSV:
			subMulVS(d, a, v[in.b], v[in.c][0])
		case subMul | modeVS | modeSV:
			subMulSS(d, a, v[in.b][0], v[in.c][0])
		case generic1:
			f := ad.OpCode(in.x).Row().F1
			for i, x := range a[:len(d)] {
				d[i] = f(x)
			}
		case generic2:
			f, b := ad.OpCode(in.x).Row().F2, v[in.b]
			for i := range d {
				d[i] = f(a[i], b[i])
			}
		case generic2 | modeVS:
			f, y := ad.OpCode(in.x).Row().F2, v[in.b][0]
			for i := range d {
				d[i] = f(a[i], y)
			}
		case generic2 | modeSV:
			f, b, x := ad.OpCode(in.x).Row().F2, v[in.b], a[0]
			for i := range d {
				d[i] = f(x, b[i])
			}
		case generic3:
			f, b, c := ad.OpCode(in.x).Row().F3, v[in.b], v[in.c]
			for i := range d {
				d[i] = f(a[i], b[i], c[i])
			}
		case loadTable:
			g := &m.p.maps[in.c]
			loadTableLoop(d, a[g.off:], g.table[pos:pos+len(d)])
		case loadRuns:
			g := &m.p.maps[in.c]
			src, at := a[g.off:], 0
			for _, r := range g.stripRuns(pos) {
				fillLoop(d[at:at+int(r.n)], src[r.elem])
				at += int(r.n)
			}
		case addRuns:
			g := &m.p.maps[in.c]
			dst, at := d[g.off:], 0
			for _, r := range g.stripRuns(pos) {
				dst[r.elem] += sumLoop(a[at : at+int(r.n)])
				at += int(r.n)
			}
		case loadAffine:
			loadAffineLoop(d, a, &m.p.maps[in.c], pos)
		case sum:
			d[0] += sumLoop(a)
		case sumLog:
			d[0] += sumLogLoop(a)
		case not:
			notLoop(d, a)
		case isNaN:
			isNaNLoop(d, a)
		case dot:
			d[0] += dotLoop(a, v[in.b])
		case addTable:
			g := &m.p.maps[in.c]
			addTableLoop(d[g.off:], a, g.table[pos:pos+len(a)])
		case addAffine:
			addAffineLoop(d, a, &m.p.maps[in.c], pos)
		case setTable:
			g := &m.p.maps[in.c]
			d = d[g.off:]
			for i, t := range g.table[pos : pos+len(a)] {
				d[t] = a[i]
			}
		case setAffine:
			setAffineLoop(d, a, &m.p.maps[in.c], pos)
		}
	}
	return -1
}
