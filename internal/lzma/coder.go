package lzma

// A probability is that of a bit 0, in parts of 2048.
type probability = uint16

const even probability = 1024

const learning = 5 // a bit moves its probability by 1/32 of the distance

// coder is a range coder.
type coder struct {
	low     uint64
	width   uint32
	pending byte // the last byte, to which a carry may be added
	held    int  // number of bytes that a carry may change: pending, and bytes 0xff
	out     []byte
}

func newCoder(header []byte) coder {
	return coder{width: 1<<32 - 1, held: 1, out: header}
}

// bit encodes a bit, and adapts its probability.
func (c *coder) bit(p *probability, bit int) {
	bound := c.width >> 11 * uint32(*p)
	if bit == 0 {
		c.width = bound
		*p += (2048 - *p) >> learning
	} else {
		c.low += uint64(bound)
		c.width -= bound
		*p -= *p >> learning
	}
	for c.width < 1<<24 {
		c.width <<= 8
		c.shift()
	}
}

// direct encodes the lowest n bits of v with even probabilities.
func (c *coder) direct(v uint32, n int) {
	for n--; n >= 0; n-- {
		c.width >>= 1
		if v>>n&1 == 1 {
			c.low += uint64(c.width)
		}
		for c.width < 1<<24 {
			c.width <<= 8
			c.shift()
		}
	}
}

// shift moves the highest byte of low out.
func (c *coder) shift() {
	if c.low < 0xff000000 || c.low >= 1<<32 {
		carry := byte(c.low >> 32)
		for ; c.held > 0; c.held-- {
			c.out = append(c.out, c.pending+carry)
			c.pending = 0xff
		}
		c.pending = byte(c.low >> 24)
	}
	c.held++
	c.low = c.low & 0xffffff << 8
}

// flush returns the header and all that was encoded.
func (c *coder) flush() []byte {
	for range 5 {
		c.shift()
	}
	return c.out
}
