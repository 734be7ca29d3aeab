package main

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// A dataset contains the variables of a model's data block, in the same order.
type dataset []variable

// A variable is an int, []int, []float64 or [][]float64 (a matrix, by rows) with its name in the
// model.
type variable struct {
	name  string
	value any
}

// digits is the number of significant digits of simulated numbers.
const digits = 6

// lineWidth is the width at which long arrays are wrapped.
const lineWidth = 100

// encode returns the JSON text of the data, with a variable or a matrix row per line and wrapped
// arrays.
func (d dataset) encode() []byte {
	var b bytes.Buffer
	b.WriteString("{\n")
	for i, v := range d {
		fmt.Fprintf(&b, "  %q: ", v.name)
		switch x := v.value.(type) {
		case int:
			b.WriteString(strconv.Itoa(x))
		case []int:
			writeArray(&b, texts(x, strconv.Itoa), "  ")
		case []float64:
			writeArray(&b, texts(x, formatReal), "  ")
		case [][]float64:
			b.WriteString("[")
			for r, row := range x {
				b.WriteString(separator(r) + "\n    ")
				writeArray(&b, texts(row, formatReal), "    ")
			}
			b.WriteString("\n  ]")
		default:
			panic(fmt.Sprintf("variable %s has type %T", v.name, x))
		}
		if i < len(d)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func texts[T any](xs []T, format func(T) string) []string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = format(x)
	}
	return out
}

func formatReal(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		panic("data that are not finite")
	}
	return strconv.FormatFloat(x, 'g', digits, 64)
}

// writeArray writes an array on one line if it fits, and otherwise wrapped.
func writeArray(b *bytes.Buffer, items []string, indent string) {
	total := len(indent) + 2
	for _, s := range items {
		total += len(s) + 2
	}
	wrap := total > lineWidth
	width := lineWidth // so that the first item starts a line
	b.WriteByte('[')
	for i, s := range items {
		b.WriteString(separator(i))
		switch {
		case wrap && width+len(s)+2 > lineWidth:
			b.WriteString("\n" + indent + "  ")
			width = len(indent) + 2
		case i > 0:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(s)
		width += len(s) + 1
	}
	if wrap {
		b.WriteString("\n" + indent)
	}
	b.WriteByte(']')
}
