package ad

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Interval is the set of numbers from Lo to Hi. An end that is open does not belong to it. NaN is
// in no interval.
type Interval struct {
	Lo, Hi         float64
	LoOpen, HiOpen bool
}

// Contains reports whether x is in the interval.
func (iv Interval) Contains(x float64) bool {
	return (x > iv.Lo || x == iv.Lo && !iv.LoOpen) && (x < iv.Hi || x == iv.Hi && !iv.HiOpen)
}

// Check is the attribute of OpCheck, an effect: every element of the argument
// must lie in Set, otherwise the evaluation is rejected with a *CheckError.
type Check struct {
	Set      Interval
	Function string // "normal_lpdf"
	Name     string // as the message names the argument, such as "Scale parameter"
	Want     string // "positive": completes "must be …"

	// Elements maps the elements of the argument to those of the user's array, for messages; it is
	// the same in each lane. nil: they are the same elements.
	Elements []int32
}

// CheckError is a failed argument check: a rejection of this point.
type CheckError struct {
	Check *Check
	Value float64
	Index int // of the element, from 0; -1 for a scalar
	Site  Site
}

// Error implements error.
func (e *CheckError) Error() string {
	name := e.Check.Name
	if e.Index >= 0 {
		name += "[" + strconv.Itoa(e.Index+1) + "]"
	}
	value := FormatNumber(e.Value)
	// The value lies outside, but not after rounding for the message.
	if x, err := strconv.ParseFloat(value, 64); err == nil && e.Check.Set.Contains(x) {
		value = exactly(e.Value)
	}
	return fmt.Sprintf("%s: %s must be %s, but is %s", e.Check.Function, name, e.Check.Want, value)
}

func exactly(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Requirement is the attribute of OpRequire, a side effect on a value without lanes. Wrong
// describes what is wrong with the elements of the argument, or returns ""; with a description, the
// evaluation is rejected with a *RejectError. Wrong is called concurrently. It does not allocate if
// nothing is wrong.
type Requirement struct{ Wrong func(x []float64) string }

// Message is the attribute of OpReject and OpPrint: strings and, between them, values of arguments.
// OpReject's first argument is its condition: if it is not 0, the evaluation is rejected (Fatal:
// the run ends) with a *RejectError.
//
// With Where, the message is about a pair of elements of the first two values: the first pair for
// which Where holds. The message then shows these elements instead of the values, and the part
// Which shows their index.
type Message struct {
	Parts []MessagePart
	Fatal bool
	Where func(x, y float64) bool
}

// MessagePart is a string, or the value of argument Arg if that is not negative. If Form is not
// nil, it is the values of several arguments, beginning with Arg.
type MessagePart struct {
	Text string
	Arg  int
	Form *Form
}

// Which is the Arg of the part that gives the index of the elements in a message with Where, such
// as [2,1]; for scalars it is empty.
const Which = -2

// Form describes how the values of several arguments are written as one: as an array with this
// number of dimensions, which all of them have. The elements of the array are lists in parentheses,
// as described by Members. A Form without members is one argument; with Int its numbers are written
// as integers.
type Form struct {
	Dims    int
	Members []*Form
	Int     bool

	// Rows, if not 0, says that the first of two members consists of rows, which follow one another
	// along dimension Rows-1. The second has the size of each row, in the shape of the array of
	// rows.
	Rows int
}

// maxText is the approximate number of bytes after which a message is cut off.
const maxText = 1 << 18

// size returns the number of arguments that a form takes.
func (f *Form) size() int {
	if f == nil || len(f.Members) == 0 {
		return 1
	}
	n := 0
	for _, m := range f.Members {
		n += m.size()
	}
	return n
}

// RejectError is a rejection by reject or fatal_error in the program, or by a Requirement.
type RejectError struct {
	Message string
	Fatal   bool
	Site    Site
}

// Error implements error.
func (e *RejectError) Error() string {
	if e.Message == "" {
		return "the program rejects it, without a message"
	}
	return e.Message
}

// errEffectArgs says that arguments do not have the types that an op with side effects needs.
var errEffectArgs = errors.New("arguments do not fit the effect")

// Check adds a check of the elements of x.
func (g *Graph) Check(c *Check, x Ref) { g.Do(OpCheck, c, x) }

// RejectIf adds a rejection for points where cond is not 0.
func (g *Graph) RejectIf(cond Ref, m *Message, args ...Ref) {
	g.Do(OpReject, m, append([]Ref{cond}, args...)...)
}

// Require adds a check of x as a whole.
func (g *Graph) Require(r *Requirement, x Ref) { g.Do(OpRequire, r, x) }

// Print adds a print of m.
func (g *Graph) Print(m *Message, args ...Ref) { g.Do(OpPrint, m, args...) }

// effectOps are the rows of ops with side effects.
func effectOps() map[OpCode]Op {
	none := func([]Type, any) (Type, error) { return Type{}, nil }
	return map[OpCode]Op{
		OpCheck: {Name: "check", Class: Effect, Arity: 1, Shape: none},
		OpReject: {Name: "reject", Class: Effect, Arity: -1, Shape: func(args []Type, _ any) (Type, error) {
			if len(args) == 0 {
				return Type{}, errEffectArgs
			}
			return Type{}, nil
		}},
		OpRequire: {Name: "require", Class: Effect, Arity: 1, Shape: func(args []Type, _ any) (Type, error) {
			if args[0].Lanes > 0 {
				return Type{}, errEffectArgs
			}
			return Type{}, nil
		}},
		OpPrint: {Name: "print", Class: Effect, Arity: -1, Shape: none},
	}
}

// RunEffect carries out the side effect of a node on the values of its arguments; print receives
// the text of a print. It does not allocate unless it fails or prints.
func RunEffect(n *Node, types []Type, args [][]float64, print func(string)) error {
	switch attr := n.Attr.(type) {
	case *Check:
		for i, x := range args[0] {
			if !attr.Set.Contains(x) {
				at := -1
				switch {
				case attr.Elements != nil:
					at = int(attr.Elements[i%len(attr.Elements)])
				case len(args[0]) > 1 && types[0].IsScalar():
					at = i
				case len(args[0]) > 1:
					at = i % max(types[0].Size(), 1)
				}
				return &CheckError{Check: attr, Value: x, Index: at, Site: n.Site}
			}
		}
	case *Requirement:
		if wrong := attr.Wrong(args[0]); wrong != "" {
			return &RejectError{Message: wrong, Site: n.Site}
		}
	case *Message:
		if n.Op == OpPrint {
			if print != nil {
				print(attr.format(types, args, 0))
			}
			return nil
		}
		for i, c := range args[0] {
			if c != 0 {
				lane := i / max(types[0].Size(), 1)
				return &RejectError{Message: attr.format(types[1:], args[1:], lane), Fatal: attr.Fatal, Site: n.Site}
			}
		}
	}
	return nil
}

func (m *Message) format(types []Type, args [][]float64, lane int) string {
	var b strings.Builder
	var pair [2]string
	which := ""
	if m.Where != nil {
		which, pair = m.pair(types, args, lane)
	}
	for _, p := range m.Parts {
		switch {
		case p.Arg == Which:
			b.WriteString(which)
			continue
		case p.Arg < 0:
			b.WriteString(p.Text)
			continue
		case m.Where != nil && p.Arg < len(pair):
			b.WriteString(pair[p.Arg])
			continue
		}
		var parts []printed
		for i := range p.Form.size() {
			t, v := types[p.Arg+i], args[p.Arg+i]
			if k := t.Size(); t.Lanes > 0 {
				v = v[lane*k : (lane+1)*k]
			}
			parts = append(parts, printed{t.Shape, v})
		}
		if p.Form == nil {
			formatArray(&b, parts[0].shape, parts[0].v, false)
		} else {
			p.Form.format(&b, p.Form.Dims, parts)
		}
	}
	return b.String()
}

// pair finds the first pair of elements for which Where holds. It returns their index and their
// texts.
func (m *Message) pair(types []Type, args [][]float64, lane int) (which string, text [2]string) {
	var v [2][]float64
	var shape []int
	for k := range v {
		v[k] = args[k]
		if n := types[k].Size(); types[k].Lanes > 0 {
			v[k] = v[k][lane*n : (lane+1)*n]
		}
		if len(types[k].Shape) > len(shape) {
			shape = types[k].Shape
		}
	}
	at := func(k, i int) float64 { return v[k][i%len(v[k])] }
	i, n := 0, max(len(v[0]), len(v[1]))
	for i < n-1 && !m.Where(at(0, i), at(1, i)) {
		i++
	}
	for k := range text {
		text[k] = FormatNumber(at(k, i))
	}
	if text[0] == text[1] { // equal after rounding
		text = [2]string{exactly(at(0, i)), exactly(at(1, i))}
	}
	for k := len(shape) - 1; k >= 0; k-- {
		which = fmt.Sprintf(",%d", i%shape[k]+1) + which
		i /= shape[k]
	}
	if which != "" {
		which = "[" + which[1:] + "]"
	}
	return which, text
}

// printed is an argument, or an element of one, to print.
type printed struct {
	shape []int
	v     []float64
}

// format writes the parts as nested arrays of dims dimensions.
func (f *Form) format(b *strings.Builder, dims int, parts []printed) {
	switch {
	case f.Rows > 0:
		first := 0
		f.rows(b, parts[0], parts[1], &first)
	case len(f.Members) == 0:
		formatArray(b, parts[0].shape, parts[0].v, f.Int)
	case dims > 0:
		b.WriteByte('[')
		for i := range parts[0].shape[0] {
			if i > 0 {
				b.WriteByte(',')
			}
			if b.Len() > maxText {
				b.WriteString("…")
				break
			}
			var elems []printed
			for _, p := range parts {
				n := len(p.v) / p.shape[0]
				elems = append(elems, printed{p.shape[1:], p.v[i*n : (i+1)*n]})
			}
			f.format(b, dims-1, elems)
		}
		b.WriteByte(']')
	default:
		b.WriteByte('(')
		for i, m := range f.Members {
			if i > 0 {
				b.WriteByte(',')
			}
			n := m.size()
			m.format(b, m.Dims, parts[:n])
			parts = parts[n:]
		}
		b.WriteByte(')')
	}
}

// rows writes the rows of sizes. first is the position of the next row.
func (f *Form) rows(b *strings.Builder, x, sizes printed, first *int) {
	d := f.Rows - 1
	if len(sizes.shape) == 0 {
		n, size := int(sizes.v[0]), x.shape[d]
		shape := slices.Clone(x.shape)
		shape[d] = n
		inner := 1
		for _, k := range x.shape[d+1:] {
			inner *= k
		}
		var v []float64
		for from := *first * inner; from < len(x.v); from += size * inner {
			v = append(v, x.v[from:from+n*inner]...)
		}
		*first += n
		formatArray(b, shape, v, f.Members[0].Int)
		return
	}
	b.WriteByte('[')
	for i := range sizes.shape[0] {
		if i > 0 {
			b.WriteByte(',')
		}
		if b.Len() > maxText {
			b.WriteString("…")
			break
		}
		n := len(sizes.v) / sizes.shape[0]
		f.rows(b, x, printed{sizes.shape[1:], sizes.v[i*n : (i+1)*n]}, first)
	}
	b.WriteByte(']')
}

func formatArray(b *strings.Builder, shape []int, v []float64, ints bool) {
	if len(shape) == 0 {
		if x := v[0]; ints && x == math.Trunc(x) && math.Abs(x) < 1<<63 {
			b.WriteString(strconv.FormatInt(int64(x), 10))
		} else {
			b.WriteString(FormatNumber(x))
		}
		return
	}
	b.WriteByte('[')
	n := len(v) / max(shape[0], 1)
	for i := range shape[0] {
		if i > 0 {
			b.WriteByte(',')
		}
		if b.Len() > maxText {
			b.WriteString("…")
			break
		}
		formatArray(b, shape[1:], v[i*n:(i+1)*n], ints)
	}
	b.WriteByte(']')
}

// FormatNumber writes a number as print and messages show it.
func FormatNumber(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		if x < 0 {
			return "-inf"
		}
		return "inf"
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}
