package zarr

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Type is the type of an array's elements, with its name in the format.
type Type string

// The types of elements.
const (
	Float64    Type = "float64"
	Complex128 Type = "complex128" // two numbers per element
	Int64      Type = "int64"
	Bool       Type = "bool"
	String     Type = "string" // texts such as coordinates, written by [Array.WriteTexts]
)

// NoInt is the fill value of integers: the value of elements that were not written. It is NaN for
// Float64 and Complex128, and false for Bool.
const NoInt = math.MinInt64

// fill is the fill value in the form of the metadata; nil for an unknown type.
func (t Type) fill() any {
	switch t {
	case Float64:
		return "NaN"
	case Complex128:
		return []string{"NaN", "NaN"}
	case Int64:
		return int64(NoInt)
	case Bool:
		return false
	case String:
		return ""
	}
	return nil
}

// serializer is the codec that converts elements to bytes.
func (t Type) serializer() codec {
	switch t {
	case Bool:
		return codec{Name: "bytes"}
	case String:
		return codec{Name: "vlen-utf8"}
	}
	return codec{Name: "bytes", Configuration: map[string]any{"endian": "little"}}
}

// numbers is the number of numbers per element.
func (t Type) numbers() int {
	if t == Complex128 {
		return 2
	}
	return 1
}

// size is the number of bytes per number.
func (t Type) size() int {
	if t == Bool {
		return 1
	}
	return 8
}

// encode appends numbers as bytes. NaN becomes the fill value.
func (t Type) encode(dst []byte, values []float64) []byte {
	for _, v := range values {
		switch t {
		case Bool:
			b := byte(0)
			if v != 0 && !math.IsNaN(v) {
				b = 1
			}
			dst = append(dst, b)
		case Int64:
			i := int64(NoInt)
			if v >= -1<<63 && v < 1<<63 {
				i = int64(v)
			}
			dst = binary.LittleEndian.AppendUint64(dst, uint64(i))
		default:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
	}
	return dst
}

// encodeTexts encodes texts by the codec vlen-utf8: the number of texts, then the length and the
// bytes of each.
func encodeTexts(texts []string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(texts)))
	for _, t := range texts {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(t))), t...)
	}
	return b
}

// decodeTexts decodes n texts encoded by encodeTexts.
func decodeTexts(b []byte, n int) ([]string, error) {
	next := func() (int, bool) {
		if len(b) < 4 {
			return 0, false
		}
		v := binary.LittleEndian.Uint32(b)
		b = b[4:]
		return int(v), uint64(v) <= math.MaxInt32
	}
	given, ok := next()
	if !ok || given != n {
		return nil, fmt.Errorf("texts that are not %d", n)
	}
	out := make([]string, 0, min(n, len(b)))
	for range n {
		size, ok := next()
		if !ok || size > len(b) {
			return nil, fmt.Errorf("the texts end after %d of %d", len(out), n)
		}
		out, b = append(out, string(b[:size])), b[size:]
	}
	return out, nil
}

// decode appends numbers decoded from bytes. The fill value of integers becomes NaN.
func (t Type) decode(dst []float64, b []byte) []float64 {
	for ; len(b) >= t.size(); b = b[t.size():] {
		switch t {
		case Bool:
			dst = append(dst, float64(min(b[0], 1)))
		case Int64:
			i := int64(binary.LittleEndian.Uint64(b))
			if i == NoInt {
				dst = append(dst, math.NaN())
			} else {
				dst = append(dst, float64(i))
			}
		default:
			dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	}
	return dst
}

// level is gzip's fastest level. Draws of real numbers hardly compress at any level, and integers
// compress well at all.
const level = gzip.BestSpeed

// compress applies gzip. The header has no time, so equal bytes stay equal.
func compress(b []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // impossible: a buffer accepts all writes, and the level is valid
	}
	return out.Bytes()
}

// decompress reverses compress. If the result is longer than size, it fails without allocating
// more.
func decompress(b []byte, size int) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	out := make([]byte, size)
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, err
	}
	var more [1]byte
	if n, err := r.Read(more[:]); n != 0 || err != io.EOF {
		return nil, fmt.Errorf("the chunk holds more than %d bytes", size)
	}
	return out, nil
}
