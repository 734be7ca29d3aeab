package data

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"github.com/ppl-lang/ppl/lang/source"
)

// Options limit the size of data, and control how data other than JSON are read. The zero value is
// the default.
type Options struct {
	// Counts lists variables that [ParseTable] computes by counting, since the table does not have
	// them.
	Counts []Count

	// As, if not nil, is a set that was read before, such as the data of a fit. [Parse] then reads
	// a table in the same way. Columns that were factors become factors with the same levels, as do
	// factors of an R dump. Columns that were read in a declared way are read in that way.
	// Counts of rows are counted again; numbers of levels stay the same. A count is skipped if the
	// table has such a column or if Counts names it.
	As *Set

	// NewLevels allows new levels in the factors of As. They follow the known ones in alphabetical
	// order, and the numbers of levels increase accordingly. Without NewLevels, a new level is a
	// fault.
	NewLevels bool

	// Holes returns the treatment of missing values in a column of a table, given its name in the
	// program. If Holes is nil, missing values are faults.
	Holes func(column string) Holes

	// How has the columns of a table that are read in a declared way, by their names in the
	// program.
	How map[string]How

	// Missing lists the texts in a table that mean that there is no value, besides empty fields and
	// NA.
	Missing []Missing

	// ByKey reports whether a column of another table has a value for each level of the column key
	// by which it is matched, instead of one for each row; see [ParseJoined]. If ByKey is nil, no
	// column has.
	ByKey func(column, key string) bool

	// Limit bounds the length in bytes of a file, and of its unpacked content. 0 means
	// [DefaultLimit].
	Limit int64

	// Memory bounds the memory in bytes that reading takes: text, numbers and temporary data. 0
	// means no bound.
	Memory int64

	groups *Groups // confines faults to groups of rows; nil: a fault makes its column faulty

	uncounted bool // leave out the counts, as the table is to be joined first
}

// limit returns the maximum length of a text.
func (o Options) limit() int64 { return cmp.Or(max(o.Limit, 0), DefaultLimit) }

// allowance is the memory that reading may still take.
type allowance struct {
	file        string
	limit, used int64 // bytes; limit 0: none
}

// allow returns an allowance from which the memory of the text is already taken.
func (o Options) allow(file string, text int) (*allowance, error) {
	a := &allowance{file: file, limit: o.Memory}
	return a, a.take(int64(text))
}

// take takes memory from the allowance. Call it before allocating.
func (a *allowance) take(bytes int64) error {
	if a.limit > 0 && bytes > a.limit-a.used {
		return memoryError(a.file, source.Bytes(bytes), a.limit-a.used, a.limit)
	}
	a.used += bytes
	return nil
}

// give gives back memory that was taken.
func (a *allowance) give(bytes int64) { a.used -= bytes }

// memoryError returns the error of data that need more memory than allowed.
func memoryError(file, asked string, left, limit int64) *Error {
	return &Error{File: file, Message: fmt.Sprintf("to read the data takes %s more memory, but %s of %s are left", asked, source.Bytes(left), source.Bytes(limit)), Fix: "allow for more memory", Settings: []string{"memory"}}
}

// grown returns s with capacity for another element. A list that becomes long is allocated only
// once: more guesses how many elements follow. Growing it in steps would leave the old copies in
// memory until the next garbage collection.
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

// tooLong returns an error that names the exceeded bound, or nil if err has another cause.
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

// within returns the maximum length of a text that both bounds allow.
func (o Options) within() int64 {
	if o.Memory > 0 {
		return min(o.limit(), o.Memory)
	}
	return o.limit()
}

// Memory returns the number of bytes that the values take, including the text that messages show.
func (s *Set) Memory() int64 {
	n := int64(len(s.text))
	for _, v := range s.values {
		n += 8 * int64(cap(v.Ints)+cap(v.Reals))
	}
	return n
}
