package report

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// Number is a float64 in JSON: the shortest text that reads as the same number; NaN,
// Infinity and -Infinity as strings, since JSON has no such numbers.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	switch v := float64(n); {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	}
}

// Values are coordinates of a plot. In JSON they have seven digits, and are null where there is
// nothing to draw.
type Values []float64

// MarshalJSON implements json.Marshaler.
func (v Values) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, 8*len(v)+2), '[')
	for i, x := range v {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			out = append(out, "null"...)
		} else {
			out = strconv.AppendFloat(out, x, 'g', 7, 64)
		}
	}
	return append(out, ']'), nil
}

// coarse rounds values to a ten-thousandth of the largest, so that their text is short.
func coarse(v []float64) Values {
	largest := 0.0
	for _, x := range v {
		if a := math.Abs(x); a > largest && !math.IsInf(a, 0) {
			largest = a
		}
	}
	if largest == 0 {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(largest))-4)
	out := make(Values, len(v))
	for i, x := range v {
		out[i] = math.Round(x/unit) * unit
	}
	return out
}

// Packed holds draws. In JSON it is the base64 encoding of little-endian float32 values.
type Packed []float32

// MarshalJSON implements json.Marshaler.
func (p Packed) MarshalJSON() ([]byte, error) {
	bytes := make([]byte, 0, 4*len(p))
	for _, x := range p {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
	}
	out := append(make([]byte, 0, base64.StdEncoding.EncodedLen(len(bytes))+2), '"')
	out = base64.StdEncoding.AppendEncode(out, bytes)
	return append(out, '"'), nil
}

// finite drops NaN and infinities.
func finite(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
