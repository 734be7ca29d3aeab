package infer

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
)

// Figures are numbers by name. They have their own encoding for encoding/gob, because gob allocates
// maps of any length that its input claims: a forged input of 1200 bytes made it allocate 24 GB.
type Figures map[string]float64

var errFigures = errors.New("infer: saved figures make no sense")

// GobEncode implements [gob.GobEncoder].
func (f Figures) GobEncode() ([]byte, error) {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(f)) {
		out = binary.AppendUvarint(out, uint64(len(name)))
		out = append(out, name...)
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f[name]))
	}
	return out, nil
}

// GobDecode implements [gob.GobDecoder].
func (f *Figures) GobDecode(b []byte) error {
	*f = Figures{}
	for len(b) > 0 {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k) || uint64(len(b)-k)-n < 8 {
			return errFigures
		}
		name, rest := string(b[k:k+int(n)]), b[k+int(n):]
		(*f)[name] = math.Float64frombits(binary.LittleEndian.Uint64(rest))
		b = rest[8:]
	}
	return nil
}
