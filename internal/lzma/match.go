package lzma

import "encoding/binary"

const (
	hashBits = 20
	// depth is the number of earlier places that are compared. Three times as many make the engine
	// 2 % smaller and take twice the time.
	depth = 16
)

// match is an earlier place with the same bytes.
type match struct{ length, distance int }

// finder finds matches. Places with the same hash of 4 bytes are linked, the last first; of those
// with the same 2 or 3 bytes it knows the last.
type finder struct {
	text  []byte
	two   []int32 // place + 1
	three []int32
	four  []int32
	links []int32
	found []match
}

func newFinder(text []byte) finder {
	return finder{text: text, two: make([]int32, 1<<16), three: make([]int32, 1<<hashBits), four: make([]int32, 1<<hashBits), links: make([]int32, len(text))}
}

// add enters a place, and returns the last places with the same 2, 3 and 4 bytes.
func (f *finder) add(at int) (two, three, four int32) {
	if at+4 > len(f.text) {
		return 0, 0, 0
	}
	v := binary.LittleEndian.Uint32(f.text[at:])
	h2, h3, h4 := v&0xffff, v<<8*2654435761>>(32-hashBits), v*2654435761>>(32-hashBits)
	two, three, four = f.two[h2], f.three[h3], f.four[h4]
	place := int32(at + 1)
	f.two[h2], f.three[h3], f.four[h4] = place, place, place
	f.links[at] = four
	return two, three, four
}

// find enters a place, and returns its matches, each longer and farther than the one before.
func (f *finder) find(at int) []match {
	two, three, four := f.add(at)
	f.found = f.found[:0]
	longest := minMatch - 1
	try := func(place int32) {
		from := int(place) - 1
		if at+longest < len(f.text) && f.text[from+longest] == f.text[at+longest] {
			if n := f.common(from, at); n > longest {
				longest = n
				f.found = append(f.found, match{n, at - from - 1})
			}
		}
	}
	if two > 0 {
		try(two)
	}
	if three > 0 && three < two || three > 0 && longest < 3 {
		try(three)
	}
	for n := 0; four > 0 && n < depth && longest < nice; n++ {
		try(four)
		four = f.links[four-1]
	}
	return f.found
}

// common returns the number of same bytes at two places.
func (f *finder) common(from, at int) int {
	n, end := 0, min(maxMatch, len(f.text)-at)
	for n < end && f.text[from+n] == f.text[at+n] {
		n++
	}
	return n
}
