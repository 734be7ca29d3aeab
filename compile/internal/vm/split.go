package vm

import (
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: blocks that run in parts, for several workers (see team.go). The division of a block
// depends on the program alone, and a single worker runs the same parts one after another. So
// results do not depend on the number of workers, to the last bit.
//
// The parts of a map are consecutive strips. Sums are kept per strip and added in order when all
// strips are done, as when the strips run one after another. If strips add to the elements of an
// array by an index map, each part has its own copy of the elements that it may touch; these copies
// are added in the order of the parts. Temporaries are in each worker's memory.

// split describes the division of a block into parts.
type split struct {
	parts, each int // number of parts, and number of units (strips, lanes or rows) in a part
	units       int
	memory      int // size of the private memory that a worker needs

	region *regionCode // set for a region

	// For products of matrices.
	byTerms bool            // the units are terms; kept is the view of the sums of all parts
	product *[2]native.Func // functions for a part, and for the last one; nil: none

	// For ops on arrays.
	sides  bool // the units are right sides of one system
	shared bool // package dense makes the parts; kept is the private memory of a worker

	// For strips.
	sums     []int32 // for each sum of a strip, the view of the number to which it is added
	own      []int32 // views of the sums of the current strip, which move with it
	kept     int32   // view of the sums of all strips or parts, one after the other
	word     int32   // word of scratch memory with the number of the strip's first sum
	scatters []*scatter
}

// scatter is an array whose elements several strips of a block change, by adding to them by index
// maps.
type scatter struct {
	buf   rootID
	dst   int32  // view of the array
	own   int32  // view of a part's copy, placed so that the array's indices are valid
	kept  int32  // view of the copies of all parts
	spans []span // for each part, the elements that it may touch, and the position of their copy
	size  int    // size of all copies
}

// span is elements lo to hi of an array; their copy begins at position at.
type span struct{ lo, hi, at int }

// weigh decides which blocks of the program run in parts. It sets weights to their estimated times,
// or to nil if parts would gain nothing.
func (e *emitter) weigh(b *loopnest.Body) {
	e.weights = make([]float64, len(b.Blocks))
	total := 0.0
	for k := range b.Blocks {
		ns := 0.0
		for _, i := range b.Blocks[k].Nodes {
			ns += b.Cost(&b.Nodes[i]).Guess + regionGuess(b.Nodes[i].Reg)
		}
		ns /= byMachine // always divided, so that parts are the same without machine code
		if ns >= splitting.block {
			e.weights[k] = ns
			total += ns
		}
	}
	if total < splitting.program {
		e.weights = nil
	}
}

// weight returns the estimated time of the body's block k if it may run in parts, or 0.
func (x *context) weight(k int) float64 {
	if x.Parent != nil || x.weights == nil {
		return 0
	}
	return x.weights[k]
}

// newSplit divides n units, which together take ns nanoseconds, into parts; nil if that gains
// nothing.
func newSplit(n int, ns float64) *split {
	each := max(1, min(int(splitting.part/ns*float64(n)), n/minParts))
	s := &split{units: n}
	s.cut(each)
	if s.parts < 2 || s.parts > maxParts {
		return nil
	}
	return s
}

// cut makes parts of `each` units.
func (s *split) cut(each int) { s.each, s.parts = each, (s.units+each-1)/each }

// span returns the units of part k.
func (s *split) span(k int) (from, to int) { return k * s.each, min(s.units, (k+1)*s.each) }

// makeOwn puts a root that only one block uses into the private memory of each worker.
func (x *context) makeOwn(b *block, r rootID) {
	x.roots[r].own, x.roots[r].off = true, b.split.memory
	b.split.memory += (x.roots[r].n + 7) &^ 7
	x.p.own = max(x.p.own, b.split.memory)
}

// splitStrips decides whether a block of strips runs in parts.
func (x *context) splitStrips(b *block, nodes []int32, ns float64) {
	if b.n <= b.strip || ns == 0 {
		return
	}
	into := map[rootID][]*node{}
	var scattered []rootID
	for _, i := range nodes {
		n := &x.Nodes[i]
		if n.Kind != loopnest.Accumulate || n.Store { // only one part stores each element
			continue
		}
		others := into[n.Dst]
		for _, m := range others {
			if way(m) != way(n) || way(n) == byLane && (m.Map.Off != n.Map.Off || m.N != n.N) {
				return // two parts would add to the same elements
			}
		}
		if len(others) == 0 && way(n) == byMap {
			scattered = append(scattered, n.Dst)
		}
		into[n.Dst] = append(others, n)
	}
	s := newSplit((b.n+b.strip-1)/b.strip, ns)
	if s == nil {
		return
	}
	for _, r := range scattered {
		if !x.apart(r, into[r]) {
			s.scatters = append(s.scatters, &scatter{buf: r, kept: -1})
		}
	}
	if len(s.scatters) == 0 {
		b.split = s
		return
	}
	added := 0
	for _, c := range s.scatters {
		for _, n := range into[c.buf] {
			added += n.N
		}
	}
	touched := make([][]span, len(s.scatters))
	for k, c := range s.scatters {
		touched[k] = x.touched(b.strip, s.units, x.roots[c.buf].n, into[c.buf])
	}
	for n := max(s.parts, minSumParts) / minSumParts * minSumParts; n >= minSumParts; n = n / 2 / minSumParts * minSumParts {
		s.cut((s.units + n - 1) / n) // parts of equal size, because there are few
		kept := 0
		for k, c := range s.scatters {
			c.touch(s, touched[k], x.roots[c.buf].n)
			kept += c.size
		}
		if float64(kept) <= maxKept*float64(added) {
			b.split = s
			return
		}
	}
}

// The ways to accumulate in an array: each lane in a separate element, all lanes in one element, or
// by another map.
const (
	byLane = iota
	bySum
	byMap
)

func way(n *node) int {
	switch {
	case n.Map.Contiguous():
		return byLane
	case n.Map.Uniform():
		return bySum
	}
	return byMap
}

// apart reports whether nodes add at most once to each element of an array.
func (x *context) apart(r rootID, nodes []*node) bool {
	size := x.roots[r].n
	all := 0
	for _, n := range nodes {
		all += n.N
	}
	if all > size {
		return false
	}
	seen, twice := make([]bool, size), false
	for _, n := range nodes {
		n.Map.Each(func(_, elem int) {
			twice = twice || seen[elem]
			seen[elem] = true
		})
	}
	return !twice
}

// touched returns the elements, of an array of n, that nodes touch in each strip.
func (x *context) touched(strip, strips, n int, nodes []*node) []span {
	spans := make([]span, strips)
	for k := range spans {
		spans[k].lo = n
	}
	for _, node := range nodes {
		next := 0 // the first position of the strip after p
		k := -1
		var p *span
		node.Map.Each(func(pos, elem int) {
			if pos == next {
				k, next = k+1, next+strip
				p = &spans[k]
			}
			p.lo, p.hi = min(p.lo, elem), max(p.hi, elem+1)
		})
	}
	return spans
}

// touch finds the elements, of an array of n, that each part touches, from those of each strip.
func (c *scatter) touch(s *split, strips []span, n int) {
	c.spans = make([]span, s.parts)
	for k := range c.spans {
		c.spans[k].lo = n
	}
	for k, x := range strips {
		p := &c.spans[k/s.each]
		p.lo, p.hi = min(p.lo, x.lo), max(p.hi, x.hi)
	}
	// A part's copy is viewed from where element 0 would be.
	end := 0
	c.size = 0
	for k := range c.spans {
		p := &c.spans[k]
		p.at = max(end, p.lo)
		end = (p.at + p.hi - p.lo + 7) &^ 7 // round up to a cache line, which no two workers should share
		c.size = max(c.size, p.at-p.lo+n)
	}
}

// ownSum redirects a sum, whose destination is a view of one number, to the strip's own sum.
func (s *stripper) ownSum(dst int32) int32 {
	sp, own := s.b.split, s.newView(viewKey{root: none})
	sp.sums, sp.own = append(sp.sums, dst), append(sp.own, own)
	return own
}

// ownArray redirects additions to an array to the part's copy, unless each element is touched by
// only one part.
func (s *stripper) ownArray(r rootID, dst int32) int32 {
	for _, c := range s.b.split.scatters {
		if c.buf != r {
			continue
		}
		if c.kept < 0 {
			c.dst, c.own, c.kept = dst, s.newView(viewKey{root: none}), s.keeping(c.size, s.t)
		}
		return c.own
	}
	return dst
}

// owns reports whether a view is a strip's own sum or a part's copy of an array.
func (s *split) owns(view int32) bool {
	return s != nil && (slices.Contains(s.own, view) || slices.ContainsFunc(s.scatters, func(c *scatter) bool { return c.own == view }))
}

// keeping returns a view of memory for n numbers that the block keeps until its end.
func (x *context) keeping(n, t int) int32 {
	r := x.newRoot(n, x.Body, false)
	x.touch(r, t, false)
	return x.view(x.whole(r))
}

// splitProduct decides whether a product of matrices runs in parts: by lanes, by rows of the
// result, or by terms, whose sums are added in the order of parts. each is the number of terms in a
// part; 0: any.
func (x *context) splitProduct(b *block, ns float64, t, each int) {
	if ns == 0 {
		return
	}
	if lanes := b.node.Type.Lanes; lanes > 1 {
		b.split = newSplit(lanes, ns)
		return
	}
	p, _ := dimensions(b).rows()
	switch {
	case p.r > 1 && (b.dense != nil || !p.transA):
		if s := newSplit(p.r, ns); s != nil {
			if b.dense != nil { // larger parts, because each copies the whole right matrix
				s.each = p.r / denseParts
			}
			s.cut((s.each + eight - 1) &^ (eight - 1)) // rounded to whole tiles
			if s.parts > 1 {
				b.split = s
			}
		}
	case p.r*p.c > 1 && p.r*p.c <= maxSums && !p.transB && p.k >= fromTerms:
		if s := newSplit(p.k, ns); s != nil {
			least := (p.k + maxTerms - 1) / maxTerms
			if p.transA {
				least = max(least, minTerms)
			}
			s.cut(max(s.each, least))
			if each > 0 {
				s.cut(each)
			}
			s.byTerms = true
			b.split = s
			s.kept = x.keeping(s.parts*p.r*p.c, t)
		}
	}
}

// splitArray decides whether an op on arrays runs in parts: by independent lanes, rows or right
// sides, or in the parts of package dense.
func (x *context) splitArray(b *block, ns float64, t int) {
	if ns == 0 || small(x.p.target, b) {
		return
	}
	units, lanes := b.node.Type.Lanes, b.node.Type.Lanes
	switch {
	case b.array.rows != nil:
		units = b.node.Type.Total()
	case b.node.Op.Row().OwnLanes:
		return
	case lanes == 0 && b.dense != nil && b.array.share != nil:
		if own := b.array.share(b.dense, b); own > 0 {
			b.split = &split{shared: true}
			r := x.newRoot(own, x.Body, false)
			x.touch(r, t, false)
			x.makeOwn(b, r)
			b.split.kept = x.view(x.whole(r))
		}
		return
	case lanes == 0 && b.dense != nil && b.node.Op == ad.OpTriSolve:
		if s := newSplit(sides(b), ns); s != nil {
			s.sides = true
			s.cut((s.each + wholeSides - 1) / wholeSides * wholeSides)
			if s.parts > 1 {
				b.split = s
			}
		}
		return
	}
	if units > 1 {
		b.split = newSplit(units, ns)
	}
}

// bySides reports whether the units are right sides of one system.
func (s *split) bySides() bool { return s != nil && s.sides }

// keepSums reserves memory for the sums of all strips.
func (s *stripper) keepSums() {
	if sp := s.b.split; len(sp.sums) > 0 {
		sp.kept = s.keeping(len(sp.sums)*sp.units, s.t)
		s.b.clears = append(s.b.clears, sp.kept)
	}
}

// stripsInParts runs a block of strips in parts.
func (m *Machine) stripsInParts(b *block) error {
	if err := m.checkedParts(b, b); err != nil {
		return err
	}
	b.split.addUp(m)
	return nil
}

// checkedParts runs parts of some work that include those of b, a block of strips, and returns the
// error of the first check that fails.
func (m *Machine) checkedParts(b *block, work parts) error {
	m.fail = failure{k: len(b.code)}
	for _, h := range m.team.members() {
		h.m.fail = m.fail
	}
	m.team.each(m, work, b.split.parts)
	fail := m.fail
	for _, h := range m.team.members() {
		if h.m.fail.before(&fail) {
			fail = h.m.fail
		}
	}
	return fail.error()
}

// part runs part k of the block.
func (b *block) part(m *Machine, k int) {
	switch b.kind {
	case stripBlock:
		b.someStrips(m, k)
	case matmulBlock:
		b.someProduct(m, k)
	default:
		from, to := b.split.span(k)
		if m.err != nil {
			return
		}
		if at, err := m.someLanes(b, from, to); err != nil {
			m.err, m.errAt = err, at
		}
	}
}

// someProduct runs part k of a product of matrices.
func (b *block) someProduct(m *Machine, k int) {
	s := b.split
	from, to := s.span(k)
	p := dimensions(b)
	sum := from * p.c
	switch {
	case b.node.Type.Lanes > 1:
		sum = from * p.r * p.c
	case s.byTerms:
		sum = k * p.r * p.c
	}
	if s.product != nil {
		fn := s.product[0]
		if k == s.parts-1 {
			fn = s.product[1]
		}
		fn.Run(m.memory, m.viewTable, m.scratchMemory, from, sum, 0)
		return
	}
	x, y, dst := m.views[b.args[0]], m.views[b.args[1]], m.views[b.dst]
	switch {
	case b.node.Type.Lanes > 1:
		m.someProducts(b, from, to)
	case b.dense != nil:
		b.dense.Product(dst, x, y, p.r, p.c, p.k, from, to, p.transA, p.transB, m.views[b.work])
	case !s.byTerms:
		multiply(dst[sum:sum+(to-from)*p.c], x[from*p.k:to*p.k], y, to-from, p.c, p.k, false, p.transB)
	default:
		multiply(m.views[s.kept][sum:sum+p.r*p.c], x[from*p.r:to*p.r], y[from*p.c:to*p.c], p.r, p.c, to-from, p.transA, false)
	}
}

// productInParts multiplies matrices in parts.
func (m *Machine) productInParts(b *block) {
	s := b.split
	// Run it as a whole: the result is the same, and the matrix is copied once.
	if m.team == nil && b.dense != nil {
		m.someProducts(b, 0, max(b.node.Type.Lanes, 1))
		return
	}
	m.team.each(m, b, s.parts)
	if s.byTerms {
		b.addTerms(m)
	}
}

// addTerms adds the sums of the parts of a product by terms.
func (b *block) addTerms(m *Machine) {
	dst, kept := m.views[b.dst], m.views[b.split.kept]
	copy(dst, kept)
	for n := len(dst); len(kept) > n; {
		kept = kept[n:]
		floats.Add(dst, kept[:n])
	}
}

// singleInParts runs an op on arrays in parts. An error is that of the first lane that fails.
func (m *Machine) singleInParts(b *block) error {
	m.err = nil
	for _, h := range m.team.members() {
		h.m.err = nil
	}
	m.team.each(m, b, b.split.parts)
	err, at := m.err, m.errAt
	for _, h := range m.team.members() {
		if h.m.err != nil && (err == nil || h.m.errAt < at) {
			err, at = h.m.err, h.m.errAt
		}
	}
	return err
}

// someStrips runs part k of a block of strips.
func (b *block) someStrips(m *Machine, k int) {
	s := b.split
	for _, c := range s.scatters {
		p, kept := c.spans[k], m.views[c.kept]
		if p.lo < p.hi {
			clear(kept[p.at : p.at+p.hi-p.lo])
		}
		m.views[c.own] = kept[p.at-p.lo:]
	}
	from, to := s.span(k)
	for strip := from; strip < to; strip++ {
		if n := len(s.sums); n > 0 {
			kept := m.views[s.kept][strip*n : (strip+1)*n]
			for q, v := range s.own {
				m.views[v] = kept[q : q+1]
			}
			if b.native != nil {
				*(*int64)(unsafe.Add(m.scratchMemory, 8*s.word)) = int64(strip * n)
			}
		}
		m.stripAt(b, strip*b.strip)
	}
}

// addUp adds the kept sums of strips and parts, in order, to the numbers and arrays that they are
// for.
func (s *split) addUp(m *Machine) {
	if n := len(s.sums); n > 0 {
		for i, x := range m.views[s.kept] {
			m.views[s.sums[i%n]][0] += x
		}
	}
	for _, c := range s.scatters {
		dst, kept := m.views[c.dst], m.views[c.kept]
		for _, p := range c.spans {
			if p.lo < p.hi {
				floats.Add(dst[p.lo:p.hi], kept[p.at:p.at+p.hi-p.lo])
			}
		}
	}
}

// before reports whether one failure comes before another.
func (f *failure) before(o *failure) bool {
	return f.disagree || f.check != nil && (o.check == nil || f.k < o.k || f.k == o.k && f.at < o.at)
}
