package sampler

import (
	"errors"
	"strconv"
)

// buffer is a flag for a number of transitions. Options read 0 as "the
// default", so a 0 that a user writes is kept as -1.
type buffer struct{ p *int }

func (b *buffer) String() string {
	if b.p == nil { // package flag makes a zero value to compare with
		return ""
	}
	return strconv.Itoa(max(0, *b.p))
}

func (b *buffer) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return errors.New("must be a number, not negative")
	}
	if n == 0 {
		n = -1
	}
	*b.p = n
	return nil
}
