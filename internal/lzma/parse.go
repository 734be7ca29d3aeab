package lzma

const (
	blockSize = 1 << 12
	// A match of this length is taken without looking for something cheaper.
	nice = 64
	// Prices of lengths and distances are computed again after so many bytes.
	refreshAfter = 1 << 11
)

// node is a place of a block with the cheapest way to it.
type node struct {
	price   uint32
	length  int32 // of the symbol that ends here
	rep     int32 // -1: a literal or a match at a new distance
	from    int   // the distance of a match; -1: a literal
	state   int   // after this symbol
	reps    [4]int
	reached bool
}

// parser chooses symbols. In each block, it finds the symbols whose prices have the least sum, by
// dynamic programming with the prices at the beginning of the block.
type parser struct {
	*model
	finder
	at        int // the next byte
	refreshed int
	nodes     []node
	path      []int
}

func newParser(text, header []byte) *parser {
	return &parser{model: newModel(header), finder: newFinder(text), nodes: make([]node, blockSize+maxMatch+1)}
}

// block encodes at least one byte.
func (p *parser) block() {
	if p.at-p.refreshed >= refreshAfter {
		p.refresh()
		p.refreshed = p.at
	}
	n, end := p.nodes, 0
	n[0] = node{state: p.state, reps: p.reps, reached: true}
	last := min(blockSize, len(p.text)-p.at)
	i := 0
	for ; i < last && (i == 0 || i < end); i++ {
		if i > 0 {
			p.arrive(i)
		}
		here, at := n[i], p.at+i
		length, rep, distance := p.longest(here, at)
		if length >= nice {
			p.emit(i)
			if rep >= 0 {
				p.encodeRep(rep, length)
			} else {
				p.encodeMatch(distance, length)
			}
			for k := 1; k < length; k++ {
				p.find(p.at + k)
			}
			p.at += length
			return
		}
		end = max(end, p.relax(here, at, i, end))
	}
	p.emit(i)
}

// longest returns the longest match: at one of the last distances, or else at a new one.
func (p *parser) longest(here node, at int) (length, rep, distance int) {
	rep = -1
	for r, d := range here.reps {
		if at > d {
			if n := p.common(at-d-1, at, 0, min(maxMatch, len(p.text)-at)); n > length {
				length, rep = n, r
			}
		}
	}
	if found := p.find(at); len(found) > 0 {
		if m := found[len(found)-1]; m.length > length {
			return m.length, -1, m.distance
		}
	}
	return length, rep, 0
}

// arrive computes the state at a node from the node before it.
func (p *parser) arrive(i int) {
	n := &p.nodes[i]
	before := &p.nodes[i-int(n.length)]
	switch {
	case n.rep >= 0 && n.length == 1:
		n.state, n.reps = afterShort(before.state), before.reps
	case n.rep >= 0:
		n.state, n.reps = afterRep(before.state), front(before.reps, int(n.rep))
	case n.from >= 0:
		n.state, n.reps = afterMatch(before.state), push(before.reps, n.from)
	default:
		n.state, n.reps = afterLiteral(before.state), before.reps
	}
}

// relax tries all symbols at node i, whose matches at new distances are in found. It returns the
// last node that one of them reaches.
func (p *parser) relax(here node, at, i, end int) int {
	reach := func(length int, price uint32, rep, from int) {
		k := i + length
		for end < k {
			end++
			p.nodes[end].reached = false
		}
		if n := &p.nodes[k]; !n.reached || price < n.price {
			n.price, n.length, n.rep, n.from, n.reached = price, int32(length), int32(rep), from, true
		}
	}
	s := here.state
	var before, other byte
	if at > 0 {
		before = p.text[at-1]
	}
	if at > here.reps[0] {
		other = p.text[at-here.reps[0]-1]
	}
	reach(1, here.price+p.price(p.isMatch[s], 0)+p.literal(s, before, other, p.text[at]), -1, -1)
	isMatch := here.price + p.price(p.isMatch[s], 1)
	isRep := isMatch + p.price(p.isRep[s], 1)
	for r, d := range here.reps {
		if at <= d || p.text[at-d-1] != p.text[at] {
			continue
		}
		price := isRep + p.price(p.isRep0[s], min(r, 1))
		if r == 0 {
			reach(1, price+p.price(p.isLong[s], 0), 0, 0)
			price += p.price(p.isLong[s], 1)
		} else {
			price += p.price(p.isRep1[s], min(r-1, 1))
			if r > 1 {
				price += p.price(p.isRep2[s], r-2)
			}
		}
		for n := p.common(at-d-1, at, 0, min(maxMatch, len(p.text)-at)); n >= minMatch; n-- {
			reach(n, price+p.repPrice[n], r, 0)
		}
	}
	isMatch += p.price(p.isRep[s], 0)
	n := minMatch
	for _, m := range p.found {
		for ; n <= m.length; n++ {
			reach(n, isMatch+p.lengthPrice[n]+p.distance(m.distance, n), -1, m.distance)
		}
	}
	return end
}

// emit encodes the symbols on the way to node i.
func (p *parser) emit(i int) {
	p.path = p.path[:0]
	for k := i; k > 0; k -= int(p.nodes[k].length) {
		p.path = append(p.path, k)
	}
	for j := len(p.path) - 1; j >= 0; j-- {
		n := &p.nodes[p.path[j]]
		switch {
		case n.rep >= 0:
			p.encodeRep(int(n.rep), int(n.length))
		case n.from >= 0:
			p.encodeMatch(n.from, int(n.length))
		default:
			var before, other byte
			if p.at > 0 {
				before = p.text[p.at-1]
			}
			if p.at > p.reps[0] {
				other = p.text[p.at-p.reps[0]-1]
			}
			p.encodeLiteral(before, other, p.text[p.at])
		}
		p.at += int(n.length)
	}
}
