package engine

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/lang/source"
)

// places converts between byte offsets and offsets in UTF-16 code units, which browsers use.
type places struct {
	text  string
	units []int32 // by byte offset; nil for texts in ASCII
}

func newPlaces(text string) *places {
	p := &places{text: text}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			p.units = make([]int32, len(text)+1)
			break
		}
	}
	if p.units == nil {
		return p
	}
	n := int32(0)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		for k := range size {
			p.units[i+k] = n
		}
		i += size
		n += int32(max(1, utf16.RuneLen(r)))
	}
	p.units[len(text)] = n
	return p
}

// unit converts a byte offset.
func (p *places) unit(offset int) int {
	offset = max(0, min(offset, len(p.text)))
	if p.units == nil {
		return offset
	}
	return int(p.units[offset])
}

// offset converts an offset in code units to bytes.
func (p *places) offset(unit int) int {
	if p.units == nil {
		return max(0, min(unit, len(p.text)))
	}
	low, high := 0, len(p.text)
	for low < high {
		mid := (low + high) / 2
		if int(p.units[mid]) < unit {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// part is a range of a text, in UTF-16 code units.
type part struct {
	From int `json:"from"`
	To   int `json:"to"`
}

func (p *places) part(s source.Span) part { return part{p.unit(s.Start), p.unit(s.End)} }
