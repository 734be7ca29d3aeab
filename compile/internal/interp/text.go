package interp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// SizeText writes the shape of a value for a message: "3 elements".
func SizeText(shape []int) string {
	switch len(shape) {
	case 0:
		return "a single number"
	case 1:
		return fmt.Sprintf("%d element%s", shape[0], plural(shape[0]))
	}
	s := make([]string, len(shape))
	for i, d := range shape {
		s[i] = fmt.Sprint(d)
	}
	return "sizes " + strings.Join(s, " × ")
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// plainly formats a number as it is written in data.
func plainly(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// typeText formats a declared type with its sizes: "vector[3]", "array[2, 3] int".
func typeText(t types.Type, shape []int) string {
	list := func(s []int) string {
		out := ""
		for i, n := range s {
			if i > 0 {
				out += ", "
			}
			out += fmt.Sprint(n)
		}
		return "[" + out + "]"
	}
	elem := t.Kind.String()
	if n := len(shape) - t.Dims; n > 0 {
		elem += list(shape[t.Dims:])
	}
	if t.Dims > 0 {
		return "array" + list(shape[:t.Dims]) + " " + elem
	}
	return elem
}

// raggedText returns a ragged type as it is declared.
func raggedText(t types.Type, g *ir.Ragged) string {
	var sizes []string
	for _, e := range g.Sizes {
		sizes = append(sizes, e.Span().Text())
	}
	text := t.Kind.String()
	if t.Dims < len(sizes) {
		text += "[" + strings.Join(sizes[t.Dims:], ", ") + "]"
	}
	return "array[" + strings.Join(sizes[:t.Dims], ", ") + "] " + text
}

// ItemName returns the name of an element of an array of vectors or matrices: theta[2,1].
func ItemName(v *ir.Var, shape []int, i int) string {
	return elementName(v.Name, shape[:v.Type.Dims], i)
}

// elementName returns the name of element i, in row-major order, of a value with that shape.
func elementName(name string, shape []int, i int) string {
	if len(shape) == 0 {
		return name
	}
	at := make([]string, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		at[k] = strconv.Itoa(i%shape[k] + 1)
		i /= shape[k]
	}
	return name + "[" + strings.Join(at, ",") + "]"
}
