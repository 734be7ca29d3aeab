package lzma

import "encoding/binary"

const (
	hashBits = 20
	// depth is the number of earlier places that are compared. Twice as many make the engine 0.4 %
	// smaller and take 11 % more time.
	depth = 24
)

// match is an earlier place with the same bytes.
type match struct{ length, distance int }

// finder finds matches. Of the places with the same 2 or 3 bytes it knows the last. Those with the
// same hash of 4 bytes are a binary search tree, ordered by the bytes that follow. Its root is the
// last place. On the way down, each place has at least as many bytes in common with the new one as
// the last ones on both sides.
type finder struct {
	text  []byte
	two   []int32 // place + 1
	three []int32
	four  []int32
	sides [][2]int32 // of each place, the trees before and after it
	found []match
}

func newFinder(text []byte) finder {
	return finder{text: text, two: make([]int32, 1<<16), three: make([]int32, 1<<hashBits), four: make([]int32, 1<<hashBits), sides: make([][2]int32, len(text))}
}

// find enters a place, and returns its matches, each longer and farther than the one before.
func (f *finder) find(at int) []match {
	f.found = f.found[:0]
	rest := len(f.text) - at
	if rest < 4 {
		return nil
	}
	v := binary.LittleEndian.Uint32(f.text[at:])
	h2, h3, h4 := v&0xffff, v<<8*2654435761>>(32-hashBits), v*2654435761>>(32-hashBits)
	two, three, four := f.two[h2], f.three[h3], f.four[h4]
	place := int32(at + 1)
	f.two[h2], f.three[h3], f.four[h4] = place, place, place
	longest := minMatch - 1
	keep := func(from, n int) {
		longest = n
		f.found = append(f.found, match{n, at - from - 1})
	}
	for _, place := range []int32{two, three} {
		if from := int(place) - 1; from >= 0 {
			if n := f.common(from, at, 0, min(nice, rest)); n > longest {
				keep(from, n)
			}
		}
	}
	limit := min(nice, rest)
	// The trees of the new place are filled from above: the next place that is before it, or after
	// it, goes to the free side of the last such place.
	free := [2]*int32{&f.sides[at][0], &f.sides[at][1]}
	var same [2]int // the bytes in common with the last place on each side
	for n := 0; four > 0 && n < depth; n++ {
		from := int(four) - 1
		length := f.common(from, at, min(same[0], same[1]), limit)
		if length > longest {
			keep(from, length)
		}
		sides := &f.sides[from]
		if length == limit { // the new place takes the place of this one
			*free[0], *free[1] = sides[0], sides[1]
			free = [2]*int32{}
			break
		}
		side := 0
		if f.text[from+length] > f.text[at+length] {
			side = 1
		}
		*free[side], same[side] = four, length
		free[side], four = &sides[1-side], sides[1-side]
	}
	if free[0] != nil {
		*free[0], *free[1] = 0, 0
	}
	if k := len(f.found) - 1; k >= 0 && f.found[k].length == nice {
		f.found[k].length = f.common(at-f.found[k].distance-1, at, nice, min(maxMatch, rest))
	}
	return f.found
}

// common returns the number of same bytes at two places, of which n are known, up to an end.
func (f *finder) common(from, at, n, end int) int {
	for n < end && f.text[from+n] == f.text[at+n] {
		n++
	}
	return n
}
