package main

import (
	"math"
	"strconv"
)

// number is a float64 in JSON: the shortest text from which the same number is read. NaN, Infinity
// and -Infinity are strings, since JSON has no such numbers.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) { return appendJSON(nil, float64(n), -1), nil }

// figureNumbers converts figures with names to numbers for JSON.
func figureNumbers(figures map[string]float64) map[string]number {
	out := map[string]number{}
	for name, v := range figures {
		out[name] = number(v)
	}
	return out
}

// exact is a float64 in JSON, with 17 significant digits.
type exact float64

// MarshalJSON implements json.Marshaler.
func (n exact) MarshalJSON() ([]byte, error) { return appendJSON(nil, float64(n), 17), nil }

func appendJSON(dst []byte, v float64, digits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	}
	return strconv.AppendFloat(dst, v, 'g', digits, 64)
}

// exacts converts a slice to numbers with 17 digits for JSON.
func exacts(values []float64) []exact {
	out := make([]exact, len(values))
	for i, v := range values {
		out[i] = exact(v)
	}
	return out
}
