package data

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"github.com/ppl-lang/ppl/lang/source"
)

// Options bound what reading data may take, and say how data are read that are not
// JSON. The zero value is the default.
type Options struct {
	// Counts names variables that a table does not have, for [ParseTable].
	Counts []Count

	// As, if not nil, are data that were read before, such as those of a fit: for
	// [Parse], a table is read as they were. The columns that are factors there are here,
	// with the same levels, and what was counted is counted again, the rows anew, levels
	// as they were, unless there is such a column or Counts names it.
	As *Set

	// Holes says for each column of a table, by its name in the program, what happens to fields
	// without a value; nil: they are faults.
	Holes func(column string) Holes

	// Limit bounds the length in bytes of a file, and of what it is when it is
	// unpacked; 0: [DefaultLimit].
	Limit int64

	// Memory bounds what reading takes, in bytes: the text, the numbers, and what
	// is needed on the way; 0: no bound.
	Memory int64
}

// limit is the greatest length of a text.
func (o Options) limit() int64 { return cmp.Or(max(o.Limit, 0), DefaultLimit) }

// allowance is the memory that reading may still take.
type allowance struct {
	file        string
	limit, used int64 // bytes; limit 0: none
}

// allow begins an allowance with what the text has taken.
func (o Options) allow(file string, text int) (*allowance, error) {
	a := &allowance{file: file, limit: o.Memory}
	return a, a.take(int64(text))
}

// take asks for memory before it is allocated.
func (a *allowance) take(bytes int64) error {
	if a.limit > 0 && bytes > a.limit-a.used {
		return memoryError(a.file, source.Bytes(bytes), a.limit-a.used, a.limit)
	}
	a.used += bytes
	return nil
}

// give gives back memory that was taken.
func (a *allowance) give(bytes int64) { a.used -= bytes }

// memoryError says that data ask for more memory than there may be.
func memoryError(file, asked string, left, limit int64) *Error {
	return &Error{File: file, Message: fmt.Sprintf("to read the data takes %s more memory, but %s of %s are left", asked, source.Bytes(left), source.Bytes(limit)), Fix: "allow for more memory", Settings: []string{"memory"}}
}

// grown is s with room for another element. A list that becomes long gets at once
// what it will need, of which more is a guess: what it has grown out of would be
// given back, but stay till the next collection of garbage.
func grown[T any](a *allowance, s []T, more func() int) ([]T, error) {
	const long = 1 << 14
	if len(s) < cap(s) {
		return s, nil
	}
	n := max(16, 2*cap(s))
	switch {
	case cap(s) == long:
		n = cap(s) + max(more(), cap(s)/4)
	case cap(s) > long:
		n = cap(s) + cap(s)/4
	}
	size := int64(unsafe.Sizeof(*new(T)))
	if err := a.take(size * int64(n)); err != nil {
		return nil, err
	}
	out := make([]T, len(s), n)
	copy(out, s)
	a.give(size * int64(cap(s)))
	return out, nil
}

// tooLong says which bound it is that a text is too long for, and when.
func (o Options) tooLong(file, when string, err error) error {
	long := (*source.TooLongError)(nil)
	if !errors.As(err, &long) {
		return nil
	}
	if o.Memory > 0 && o.Memory < o.limit() {
		return memoryError(file, "more than "+source.Bytes(o.Memory), o.Memory, o.Memory)
	}
	return &Error{File: file, Message: "the data are longer than " + source.Bytes(long.Limit) + when, Fix: "allow for longer data", Settings: []string{"max-data"}}
}

// within is the greatest length of a text that both bounds allow.
func (o Options) within() int64 {
	if o.Memory > 0 {
		return min(o.limit(), o.Memory)
	}
	return o.limit()
}

// Memory is the number of bytes that the values take, with the text that messages show.
func (s *Set) Memory() int64 {
	n := int64(len(s.text))
	for _, v := range s.values {
		n += 8 * int64(cap(v.Ints)+cap(v.Reals))
	}
	return n
}
