package lzma

import "math/bits"

const (
	minMatch = 2
	maxMatch = 273
	states   = 12
	// From this state on the last symbol was a match.
	matched = 7
)

// probabilities has the probabilities of the format, and what decides which of them a symbol has.
// The encoder and the decoder adapt them in the same way.
type probabilities struct {
	isMatch, isRep, isRep0, isRep1, isRep2, isLong [states]probability

	literals  [0x300 << literalBits]probability
	length    lengths // of matches
	repLength lengths // of matches at one of the last four distances
	slots     [4][64]probability
	near      [128]probability // low bits of distances below 128
	align     [16]probability  // lowest 4 bits of the others

	state int
	reps  [4]int // the last four distances, from 0
}

// model encodes symbols, and has their prices.
type model struct {
	probabilities
	prices      [2048 >> priceBits]uint32
	lengthPrice [maxMatch + 1]uint32 // of matches
	repPrice    [maxMatch + 1]uint32 // of matches at one of the last four distances
	slotPrice   [4][64]uint32
	nearPrice   [4][128]uint32
	alignPrice  [16]uint32

	out coder
}

// lengths has the probabilities of a length.
type lengths struct {
	choice, choice2 probability
	low, mid        [8]probability
	high            [256]probability
}

// A price is a number of bits in parts of 16.
const priceBits = 4

// newModel returns a model of a file that begins with a header.
func newModel(header []byte) *model {
	m := &model{out: newCoder(header)}
	m.reset()
	// The logarithm by squaring, in integers.
	for i := range m.prices {
		w, n := uint32(i<<priceBits+1<<(priceBits-1)), uint32(0)
		for range priceBits {
			w *= w
			n *= 2
			for w >= 1<<16 {
				w >>= 1
				n++
			}
		}
		m.prices[i] = 11<<priceBits - 15 - n
	}
	m.refresh()
	return m
}

// reset makes all probabilities even.
func (p *probabilities) reset() {
	for _, all := range [][]probability{
		p.isMatch[:], p.isRep[:], p.isRep0[:], p.isRep1[:], p.isRep2[:], p.isLong[:], p.literals[:],
		p.slots[0][:], p.slots[1][:], p.slots[2][:], p.slots[3][:], p.near[:], p.align[:],
	} {
		fill(all)
	}
	for _, l := range []*lengths{&p.length, &p.repLength} {
		l.choice, l.choice2 = even, even
		fill(l.low[:])
		fill(l.mid[:])
		fill(l.high[:])
	}
}

func fill(all []probability) {
	for i := range all {
		all[i] = even
	}
}

// price returns the price of a bit.
func (m *model) price(p probability, bit int) uint32 {
	if bit == 1 {
		p = 2048 - p
	}
	return m.prices[min(p, 2047)>>priceBits]
}

// tree returns the price of n bits, the highest first.
func (m *model) tree(p []probability, v, n int) uint32 {
	var sum uint32
	for k := 1; n > 0; {
		n--
		bit := v >> n & 1
		sum += m.price(p[k], bit)
		k = 2*k + bit
	}
	return sum
}

// reverse returns the price of n bits, the lowest first.
func (m *model) reverse(p []probability, v, n int) uint32 {
	var sum uint32
	for k := 1; n > 0; n-- {
		bit := v & 1
		v >>= 1
		sum += m.price(p[k], bit)
		k = 2*k + bit
	}
	return sum
}

// refresh computes the prices of lengths and distances.
func (m *model) refresh() {
	m.priceLengths(&m.lengthPrice, &m.length)
	m.priceLengths(&m.repPrice, &m.repLength)
	for s := range m.slots {
		for slot := range m.slotPrice[s] {
			m.slotPrice[s][slot] = m.tree(m.slots[s][:], slot, 6)
			if slot >= 14 { // bits with even probabilities
				m.slotPrice[s][slot] += uint32(slot/2-1-4) << priceBits
			}
		}
		for d := range m.nearPrice[s] {
			slot, low, n := slotOf(d)
			m.nearPrice[s][d] = m.slotPrice[s][slot]
			if n > 0 {
				m.nearPrice[s][d] += m.reverse(m.near[d-low-slot:], low, n)
			}
		}
	}
	for v := range m.alignPrice {
		m.alignPrice[v] = m.reverse(m.align[:], v, 4)
	}
}

func (m *model) priceLengths(price *[maxMatch + 1]uint32, l *lengths) {
	for n := minMatch; n <= maxMatch; n++ {
		switch v := n - minMatch; {
		case v < 8:
			price[n] = m.price(l.choice, 0) + m.tree(l.low[:], v, 3)
		case v < 16:
			price[n] = m.price(l.choice, 1) + m.price(l.choice2, 0) + m.tree(l.mid[:], v-8, 3)
		default:
			price[n] = m.price(l.choice, 1) + m.price(l.choice2, 1) + m.tree(l.high[:], v-16, 8)
		}
	}
}

// slotOf splits a distance into its slot and n lower bits.
func slotOf(d int) (slot, low, n int) {
	if d < 4 {
		return d, 0, 0
	}
	n = bits.Len(uint(d)) - 2
	return 2*n + d>>n, d & (1<<n - 1), n
}

// distance returns the price of a distance.
func (m *model) distance(d, length int) uint32 {
	s := min(length-minMatch, 3)
	if d < len(m.nearPrice[s]) {
		return m.nearPrice[s][d]
	}
	slot, _, _ := slotOf(d)
	return m.slotPrice[s][slot] + m.alignPrice[d&15]
}

// context returns the probabilities of a literal after a byte.
func (p *probabilities) context(last byte) []probability {
	at := int(last) >> (8 - literalBits) * 0x300
	return p.literals[at : at+0x300]
}

// literal returns the price of a literal: its bits, given the byte at the last distance if the last
// symbol was a match.
func (m *model) literal(state int, last, other, b byte) uint32 {
	p := m.context(last)
	if state < matched {
		return m.tree(p, int(b), 8)
	}
	var sum uint32
	for i, at := range afterMatched(other, b) {
		sum += m.price(p[at], int(b>>(7-i)&1))
	}
	return sum
}

// afterMatched returns where the probabilities are of the bits of a byte, the highest first, given
// the other byte: as long as the two bytes agree, the other's next bit chooses the half.
func afterMatched(other, b byte) (at [8]int) {
	k, same := 1, true
	for i := range at {
		bit, with := int(b>>(7-i)&1), int(other>>(7-i)&1)
		at[i] = k
		if same {
			at[i] += 0x100 * (1 + with)
		}
		same = same && bit == with
		k = 2*k + bit
	}
	return at
}

// The states after each kind of symbol.
func afterLiteral(s int) int {
	switch {
	case s < 4:
		return 0
	case s < 10:
		return s - 3
	}
	return s - 6
}

func afterMatch(s int) int { return after(s, 7, 10) }
func afterRep(s int) int   { return after(s, 8, 11) }
func afterShort(s int) int { return after(s, 9, 11) }

func after(s, literal, match int) int {
	if s < matched {
		return literal
	}
	return match
}

// encodeTree encodes n bits, the highest first; encodeReverse, the lowest first.
func (m *model) encodeTree(p []probability, v, n int) {
	for k := 1; n > 0; {
		n--
		bit := v >> n & 1
		m.out.bit(&p[k], bit)
		k = 2*k + bit
	}
}

func (m *model) encodeReverse(p []probability, v, n int) {
	for k := 1; n > 0; n-- {
		bit := v & 1
		v >>= 1
		m.out.bit(&p[k], bit)
		k = 2*k + bit
	}
}

func (m *model) encodeLiteral(last, other, b byte) {
	m.out.bit(&m.isMatch[m.state], 0)
	p := m.context(last)
	if m.state < matched {
		m.encodeTree(p, int(b), 8)
	} else {
		for i, at := range afterMatched(other, b) {
			m.out.bit(&p[at], int(b>>(7-i)&1))
		}
	}
	m.state = afterLiteral(m.state)
}

func (m *model) encodeLength(l *lengths, n int) {
	switch v := n - minMatch; {
	case v < 8:
		m.out.bit(&l.choice, 0)
		m.encodeTree(l.low[:], v, 3)
	case v < 16:
		m.out.bit(&l.choice, 1)
		m.out.bit(&l.choice2, 0)
		m.encodeTree(l.mid[:], v-8, 3)
	default:
		m.out.bit(&l.choice, 1)
		m.out.bit(&l.choice2, 1)
		m.encodeTree(l.high[:], v-16, 8)
	}
}

func (m *model) encodeMatch(d, n int) {
	m.out.bit(&m.isMatch[m.state], 1)
	m.out.bit(&m.isRep[m.state], 0)
	m.encodeLength(&m.length, n)
	slot, low, bits := slotOf(d)
	m.encodeTree(m.slots[min(n-minMatch, 3)][:], slot, 6)
	switch {
	case slot >= 14:
		m.out.direct(uint32(low>>4), bits-4)
		m.encodeReverse(m.align[:], low&15, 4)
	case slot >= 4:
		m.encodeReverse(m.near[d-low-slot:], low, bits)
	}
	m.state = afterMatch(m.state)
	m.reps = push(m.reps, d)
}

// encodeRep encodes a match at the last distance r, or one byte from distance 0.
func (m *model) encodeRep(r, n int) {
	s := m.state
	m.out.bit(&m.isMatch[s], 1)
	m.out.bit(&m.isRep[s], 1)
	m.out.bit(&m.isRep0[s], min(r, 1))
	if r == 0 {
		m.out.bit(&m.isLong[s], min(n-1, 1))
	} else {
		m.out.bit(&m.isRep1[s], min(r-1, 1))
		if r > 1 {
			m.out.bit(&m.isRep2[s], r-2)
		}
	}
	m.reps = front(m.reps, r)
	if n == 1 {
		m.state = afterShort(s)
		return
	}
	m.encodeLength(&m.repLength, n)
	m.state = afterRep(s)
}

// push returns the last distances after a match.
func push(reps [4]int, d int) [4]int { return [4]int{d, reps[0], reps[1], reps[2]} }

// front returns the last distances after a match at one of them.
func front(reps [4]int, r int) [4]int {
	d := reps[r]
	copy(reps[1:r+1], reps[:r])
	reps[0] = d
	return reps
}
