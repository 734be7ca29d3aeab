package lzma

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errDamaged is the error for a file that is cut or was changed.
var errDamaged = errors.New("the compressed file is damaged")

// headerSize is the length of the header: the contexts, the dictionary's size and the text's size.
const headerSize = 13

// Decompress returns the text of a file that Compress wrote. It takes about 1 ms for 30 kB.
func Decompress(packed []byte) ([]byte, error) {
	const begin = headerSize + 1 + 4 // a coder's first byte is 0; the code has 4 bytes
	if len(packed) < begin {
		return nil, errDamaged
	}
	if packed[0] != literalBits {
		return nil, fmt.Errorf("the compressed file has the contexts %d, not %d, so another program wrote it", packed[0], literalBits)
	}
	size := binary.LittleEndian.Uint64(packed[5:])
	d := &decoder{in: packed[begin:], width: 1<<32 - 1, code: binary.BigEndian.Uint32(packed[begin-4:])}
	d.reset()
	text := make([]byte, 0, min(size, 1<<20))
	for uint64(len(text)) < size {
		var last byte
		if len(text) > 0 {
			last = text[len(text)-1]
		}
		if d.bit(&d.isMatch[d.state]) == 0 {
			if d.state < matched {
				text = append(text, byte(d.tree(d.context(last), 8)))
			} else {
				// A match came before, so its distance is within the text.
				text = append(text, d.differing(d.context(last), text[len(text)-1-d.reps[0]]))
			}
			d.state = afterLiteral(d.state)
		} else {
			n := d.match()
			if d.reps[0] >= len(text) || uint64(n) > size-uint64(len(text)) {
				return nil, errDamaged
			}
			for from := len(text) - 1 - d.reps[0]; n > 0; n-- {
				text = append(text, text[from])
				from++
			}
		}
		if d.over > 0 {
			return nil, errDamaged
		}
	}
	return text, nil
}

// decoder reads symbols with the probabilities that the encoder had when it wrote them.
type decoder struct {
	probabilities
	in          []byte
	over        int // the number of bytes that were read after the end
	width, code uint32
}

// match reads a match: it becomes the last distance, and its length is returned.
func (d *decoder) match() int {
	if d.bit(&d.isRep[d.state]) == 0 {
		n := d.readLength(&d.length)
		d.reps, d.state = push(d.reps, d.readDistance(n)), afterMatch(d.state)
		return n
	}
	r, short := 0, false
	if d.bit(&d.isRep0[d.state]) == 0 {
		short = d.bit(&d.isLong[d.state]) == 0
	} else if r = 1 + d.bit(&d.isRep1[d.state]); r == 2 {
		r += d.bit(&d.isRep2[d.state])
	}
	d.reps = front(d.reps, r)
	if short {
		d.state = afterShort(d.state)
		return 1
	}
	n := d.readLength(&d.repLength)
	d.state = afterRep(d.state)
	return n
}

func (d *decoder) readLength(l *lengths) int {
	if d.bit(&l.choice) == 0 {
		return minMatch + d.tree(l.low[:], 3)
	}
	if d.bit(&l.choice2) == 0 {
		return minMatch + 8 + d.tree(l.mid[:], 3)
	}
	return minMatch + 16 + d.tree(l.high[:], 8)
}

// readDistance reads the distance of a match with a length.
func (d *decoder) readDistance(length int) int {
	slot := d.tree(d.slots[min(length-minMatch, 3)][:], 6)
	if slot < 4 {
		return slot
	}
	n := slot/2 - 1 // the number of lower bits
	far := (2 | slot&1) << n
	if slot < 14 {
		return far + d.reverse(d.near[far-slot:], n)
	}
	direct := 0
	for range n - 4 {
		d.width >>= 1
		direct *= 2
		if d.code >= d.width {
			d.code -= d.width
			direct++
		}
		d.normalise()
	}
	return far + direct<<4 + d.reverse(d.align[:], 4)
}

// bit reads a bit, and adapts its probability.
func (d *decoder) bit(p *probability) int {
	bound := d.width >> 11 * uint32(*p)
	bit := 0
	if d.code < bound {
		d.width = bound
		*p += (2048 - *p) >> learning
	} else {
		d.code -= bound
		d.width -= bound
		*p -= *p >> learning
		bit = 1
	}
	if d.width < 1<<24 {
		d.normalise()
	}
	return bit
}

// normalise reads the next byte if the width has become small.
func (d *decoder) normalise() {
	if d.width >= 1<<24 {
		return
	}
	d.width <<= 8
	d.code <<= 8
	if len(d.in) == 0 {
		d.over++
		return
	}
	d.code |= uint32(d.in[0])
	d.in = d.in[1:]
}

// tree reads n bits, the highest first; reverse, the lowest first.
func (d *decoder) tree(p []probability, n int) int {
	k := 1
	for range n {
		k = 2*k + d.bit(&p[k])
	}
	return k - 1<<n
}

func (d *decoder) reverse(p []probability, n int) (v int) {
	k := 1
	for i := range n {
		bit := d.bit(&p[k])
		k = 2*k + bit
		v |= bit << i
	}
	return v
}

// differing reads a literal after a match, given the byte that would have continued the match. See
// afterMatched.
func (d *decoder) differing(p []probability, other byte) byte {
	k, same := 1, true
	for i := 7; i >= 0; i-- {
		with, at := int(other>>i&1), k
		if same {
			at += 0x100 * (1 + with)
		}
		bit := d.bit(&p[at])
		same = same && bit == with
		k = 2*k + bit
	}
	return byte(k)
}
