package data

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/lang/source"
)

// The format follows Stan's reference manual and reader: one object whose members are the
// variables. A value is a number or a nested array of numbers in row-major order: the outermost
// array is for the first index. A number without point and exponent is an integer. NaN, Infinity
// and -Infinity may be written bare or as strings ("NaN", "Inf", "+inf", "-Infinity", …). Arrays
// must be rectangular; [] is an empty array. A missing element is null, see [Set.Filled]. Booleans
// and duplicate names are errors, and so are other strings, unless all elements are strings; see
// [Set.Worded]. A tuple is an object with numbered members: {"1": 3, "2": [0.5, 1]}. A sparse
// matrix is an object with members row, column and value, or w, v and u, see [Set.Triplets].
// Complex numbers are arrays of two elements.
//
// The reader is written by hand because encoding/json refuses bare NaN, cannot distinguish 1 from
// 1.0, and has no positions. It reads into flat slices at 100 MB/s or more.

// The memory in bytes of a variable, and of a member of a tuple, without its numbers.
const (
	variableSize = 384
	memberSize   = 768
)

// maxDims bounds the nesting of arrays.
const maxDims = 64

// DefaultLimit is the default limit on the length of a data file in bytes.
const DefaultLimit = 1 << 30

// ReadJSON reads a file of data in Stan's JSON format. See [ParseJSON].
func ReadJSON(path string, o Options) (*Set, error) {
	text, err := ReadText(path, o)
	if err != nil {
		return nil, err
	}
	return ParseText(path, text, o)
}

// ParseJSON reads data in Stan's JSON format. The file name is only used in messages. The error, if
// any, is an [*Error].
func ParseJSON(file string, text []byte) (*Set, error) {
	return ParseText(file, string(text), Options{})
}

// ParseText is [ParseJSON] for a string, within the memory limit of the options.
func ParseText(file, text string, o Options) (*Set, error) {
	memory, err := o.allow(file, len(text))
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, set: &Set{file: file, values: map[string]Value{}}, memory: memory, options: o}
	p.set.text = p.text
	if err := p.file(); err != nil {
		return nil, err
	}
	return p.set, nil
}

// parser reads one text. After a method has returned an error, pos is no longer valid.
type parser struct {
	text string
	pos  int
	set  *Set

	memory  *allowance
	options Options
	source  *source.File // for messages, made on first use; the text does not change after that
	name    string       // name of the variable being read
	gap     *Error       // the error of its first missing element
	uneven  *Error       // the error of its first list of another length
	depth   int          // nesting depth of tuples and of arrays of tuples
	index   []int        // for each open array, the number of elements that have begun: the path, from 1

	// the value being read
	shape []int // size of each dimension; -1 until the first array of that depth is closed
	leaf  int   // depth of the numbers; -1 while unknown
	isInt bool
	first int // index of the first real
	ints  []int64
	reals []float64
}

// errorAt makes an error about text[start:end].
func (p *parser) errorAt(start, end int, fix, format string, args ...any) error {
	path := p.name + indices(p.index)
	if p.source == nil {
		p.source = source.NewFile(p.set.file, p.text)
	}
	end = min(max(end, start+1), len(p.text))
	return newError(source.Span{File: p.source, Start: start, End: max(start, end)}, path, fmt.Sprintf(format, args...), fix)
}

// path returns the path of the current value, for messages.
func (p *parser) path() string {
	if p.name == "" {
		return "the file"
	}
	return p.name + indices(p.index)
}

// space skips white space.
func (p *parser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\n', '\t', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// file reads the outermost object.
func (p *parser) file() error {
	p.text = strings.TrimPrefix(p.text, "\ufeff")
	p.set.text = p.text
	if source.UTF16(p.text) {
		return inUTF16(p.set.file)
	}
	p.space()
	if p.peek() != '{' {
		return p.notAnObject()
	}
	p.pos++
	p.space()
	if p.peek() == '}' {
		p.pos++
		return p.end()
	}
	for {
		if err := p.member(); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case ',':
			comma := p.pos
			p.pos++
			p.space()
			if p.peek() == '}' {
				return p.errorAt(comma, comma+1, "remove the comma", "there is a comma before the closing }")
			}
		case '}':
			p.pos++
			return p.end()
		default:
			return p.unexpected("a comma or the closing }", "after the value of "+p.name)
		}
	}
}

// notAnObject returns the error of a file that does not begin with an object.
func (p *parser) notAnObject() error {
	const fix = `data are written as {"N": 3, "y": [1.5, 2, 0.1]}`
	start := p.pos
	if start == len(p.text) {
		return newError(source.Span{}, "", p.set.file+" is empty", fix)
	}
	if f := formatOf(p.text); f != nil {
		return newError(source.Span{}, "", p.set.file+" is "+f.name, f.fix)
	}
	if strings.HasPrefix(p.text[start:], "[") && strings.HasPrefix(strings.TrimLeft(p.text[start+1:], " \t\r\n"), "{") {
		return p.errorAt(start, start+1, "rows of a table are read from CSV; as JSON, write the columns: "+`{"x": [1, 2], "y": [3, 5]}`, "this is a list of objects, but data are one JSON object")
	}
	first, _, _ := strings.Cut(p.text[start:], "\n")
	if strings.Contains(first, "<-") {
		return p.errorAt(start, start+len(first), "give a file of data a name that ends in .R, or write JSON, such as "+`{"N": 3, "y": [1.5, 2, 0.1]}`,
			"this looks like R's dump format, but JSON is expected here")
	}
	return p.errorAt(start, start+1, fix, "the data must be one JSON object, which begins with {")
}

// end checks that nothing follows the object.
func (p *parser) end() error {
	p.space()
	if p.pos < len(p.text) {
		p.name, p.index = "", nil
		return p.errorAt(p.pos, p.pos+1, "a data file holds one object; remove what follows", "text after the closing } of the data")
	}
	return nil
}

// member reads "name": value.
func (p *parser) member() error {
	p.name, p.index = "", p.index[:0]
	start := p.pos
	if p.peek() != '"' {
		if p.peek() == '\'' || isNameByte(p.peek()) {
			return p.errorAt(start, p.wordEnd(start), `write it as "name": value`, "the name of a variable must be in double quotes")
		}
		return p.unexpected("the name of a variable in double quotes", "")
	}
	name, err := p.str()
	if err != nil {
		return err
	}
	p.space()
	if p.peek() != ':' {
		return p.unexpected("a colon", fmt.Sprintf("after the name %q", name))
	}
	p.pos++
	p.name = name
	twice := func() error {
		p.name, p.index = name, p.index[:0]
		return p.errorAt(start, start+len(name)+2, "remove one of them", "there are two values for %s", name)
	}
	if p.set.has(name) {
		return twice()
	}
	if err := p.memory.take(variableSize + int64(len(name))); err != nil {
		return err
	}
	p.space()
	begin := p.pos
	p.gap = nil
	if p.composite() {
		ms, err := p.members(name)
		if err == nil && p.gap != nil {
			err = p.gap
		}
		if err != nil {
			return p.fault(name, begin, err)
		}
		if !p.set.addMembers(name, ms) {
			return twice()
		}
		return nil
	}
	v, err := p.value()
	if err != nil {
		if err := p.fault(name, begin, err); err != nil || p.text[begin] != '"' && p.text[begin] != '[' {
			return err
		}
		if after := p.pos; !p.wording(&p.options, name, begin) {
			p.pos = after
		}
		return nil
	}
	if p.uneven != nil {
		lists := int64(strings.Count(p.text[v.start:v.end], "["))
		if err := p.memory.take(8 * lists); err != nil {
			return err
		}
		p.set.addUneven(name, uneven{v, lengthsOf(p.text[v.start:v.end]), p.gap}, p.uneven)
		return nil
	}
	if p.gap != nil {
		p.set.addGaps(name, v, p.gap)
		return nil
	}
	p.set.add(name, v)
	return nil
}

// composite reports whether a tuple follows, or an array of tuples.
func (p *parser) composite() bool {
	rest := strings.TrimLeft(p.text[p.pos:], " \t\r\n[]")
	return strings.HasPrefix(rest, "{") && strings.IndexByte("{[", p.peek()) >= 0
}

// members reads a tuple, or arrays of tuples, at a path.
func (p *parser) members(path string) (members, error) {
	if p.depth++; p.depth > maxDims {
		return nil, p.errorAt(p.pos, p.pos+1, "", "more than %d tuples and arrays of tuples in one another", maxDims)
	}
	defer func() { p.depth-- }()
	p.name, p.index = path, p.index[:0]
	start := p.pos
	close := byte('}')
	if p.peek() == '[' {
		close = ']'
	} else if p.peek() != '{' {
		return nil, p.errorAt(start, p.wordEnd(start), "", "%s is not a tuple, but those before it are", path)
	}
	p.pos++
	var elems []members
	keys := map[int]members{}
	for n := 1; ; n++ {
		p.space()
		if p.peek() == close && n == 1 {
			break
		}
		if close == ']' {
			e, err := p.members(fmt.Sprintf("%s[%d]", path, n))
			if err != nil {
				return nil, err
			}
			elems = append(elems, e)
		} else {
			at := p.pos
			key, e, err := p.tupleMember(path)
			if err != nil {
				return nil, err
			}
			if _, twice := keys[key]; twice {
				return nil, p.errorAt(at, at+1, "remove one of them", "there are two values for %s.%d", path, key)
			}
			keys[key] = e
		}
		p.name, p.index = path, p.index[:0]
		p.space()
		if p.peek() == close {
			break
		}
		if p.peek() != ',' {
			return nil, p.unexpected("a comma or the closing "+string(close), "after a member of "+path)
		}
		p.pos++
	}
	p.pos++
	if close == '}' {
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			elems = append(elems, keys[key])
		}
		return slices.Concat(elems...), nil
	}
	out, differs := stack(elems)
	if differs >= 0 {
		return nil, p.errorAt(start, p.pos, "give every tuple of an array the same members of the same sizes",
			"%s[%d] has other members or sizes than %s[1]", path, differs+1, path)
	}
	return out, nil
}

// tupleMember reads "1": value.
func (p *parser) tupleMember(path string) (n int, ms members, err error) {
	start := p.pos
	const fix = `tuples are written {"1": first member, "2": second member}, sparse matrices {"row": [1, 2], "column": [1, 3], "value": [0.5, 2]}`
	if p.peek() != '"' {
		return 0, nil, p.unexpected("the number of a member in double quotes", "in "+path)
	}
	key, err := p.str()
	if err != nil {
		return 0, nil, err
	}
	if i := slices.Index(sparseMembers, key); i >= 0 {
		n = math.MaxInt32 + i
	} else if n, err = strconv.Atoi(key); err != nil || n < 1 || strconv.Itoa(n) != key {
		return 0, nil, p.errorAt(start, p.pos, fix, "%s has a member %q, but members are numbered", path, clip(key))
	}
	p.space()
	if p.peek() != ':' {
		return 0, nil, p.unexpected("a colon", fmt.Sprintf("after the name %q", key))
	}
	if err := p.memory.take(memberSize); err != nil {
		return 0, nil, err
	}
	p.pos++
	p.space()
	p.name = path + "." + key
	if p.composite() {
		ms, err = p.members(p.name)
		return n, ms.within("." + key), err
	}
	v, err := p.value()
	if err == nil && p.uneven != nil {
		err = p.uneven
	}
	return n, members{{"." + key, v}}, err
}

// value reads the value of a variable.
func (p *parser) value() (Value, error) {
	p.shape, p.leaf, p.isInt, p.first = p.shape[:0], -1, true, 0
	p.ints, p.reals, p.uneven = nil, nil, nil
	start := p.pos
	if p.peek() == '[' {
		if err := p.array(0); err != nil {
			return Value{}, err
		}
	} else {
		p.leaf = 0
		if err := p.number(); err != nil {
			return Value{}, err
		}
	}
	v := Value{IsInt: p.isInt, Ints: p.ints, Reals: p.reals, firstReal: int32(p.first), start: start, end: p.pos}
	if len(p.shape) > 0 {
		v.Shape = append([]int(nil), p.shape...)
	}
	if p.isInt {
		if err := p.memory.take(8 * int64(len(p.ints))); err != nil {
			return Value{}, err
		}
		v.Reals = make([]float64, len(p.ints))
		for i, n := range p.ints {
			v.Reals[i] = float64(n)
		}
	} else {
		v.Ints = nil
	}
	return v, nil
}

// nested returns the error of an element whose depth differs from that of others.
func (p *parser) nested(start, end int, format string, args ...any) error {
	err := p.errorAt(start, end, "arrays must be rectangular: the same shape at every index", format, args...)
	if e := (*Error)(nil); errors.As(err, &e) {
		e.Nested = true
	}
	return err
}

// array reads [ … ] at a depth, and checks that its length and nesting agree with earlier arrays.
func (p *parser) array(depth int) error {
	start := p.pos
	switch {
	case p.leaf >= 0 && depth >= p.leaf:
		return p.nested(start, start+1,
			"%s is an array, but earlier elements in this position are numbers", p.path())
	case depth == maxDims:
		return p.errorAt(start, start+1, "", "more than %d nested arrays", maxDims)
	case depth == len(p.shape):
		p.shape = append(p.shape, -1)
	}
	p.pos++
	p.index = append(p.index, 0)
	count := 0
	p.space()
	if p.peek() == ']' {
		if p.leaf < 0 && len(p.shape) == 1 {
			p.leaf = depth + 1
		}
	} else {
		for {
			count++
			p.index[depth] = count
			var err error
			if c := p.peek(); c == '[' {
				err = p.array(depth + 1)
			} else {
				if p.leaf != depth+1 {
					if p.leaf >= 0 {
						return p.nested(p.pos, p.wordEnd(p.pos),
							"%s is a number, but earlier elements in this position are arrays", p.path())
					}
					if len(p.shape) > depth+1 {
						return p.nested(p.pos, p.wordEnd(p.pos),
							"%s is a number, but its neighbours are arrays", p.path())
					}
					p.leaf = depth + 1
				}
				err = p.number()
			}
			if err != nil {
				return err
			}
			p.space()
			c := p.peek()
			if c == ']' {
				break
			}
			if c != ',' {
				return p.unexpected("a comma or the closing ]", "after "+p.path())
			}
			comma := p.pos
			p.pos++
			p.space()
			if p.peek() == ']' {
				return p.errorAt(comma, comma+1, "remove the comma", "there is a comma before the closing ] of %s", p.name)
			}
		}
	}
	p.pos++
	p.index = p.index[:depth]
	if p.shape[depth] < 0 {
		p.shape[depth] = count
	} else if p.shape[depth] != count {
		if p.uneven == nil {
			first := p.name + indices(slices.Repeat([]int{1}, depth))
			errors.As(p.errorAt(start, p.pos, "give every row the same length, or declare a ragged array, as in array[J] vector[n] with the lengths n",
				"%s has %s, but %s has %d", p.path(), elements(count), first, p.shape[depth]), &p.uneven)
			p.uneven.Nested = true
		}
	}
	return nil
}

func elements(n int) string {
	if n == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", n)
}

// number reads a number and appends it to the value.
func (p *parser) number() error {
	text, start := p.text, p.pos
	i := start
	if i < len(text) && text[i] == '-' {
		i++
	}
	digits := i
	var n uint64
	for i < len(text) && text[i]-'0' <= 9 {
		n = n*10 + uint64(text[i]-'0')
		i++
	}
	if i == digits || text[digits] == '0' && i > digits+1 {
		return p.word()
	}
	if i == len(text) || delimits(text[i]) {
		if i-digits <= 18 {
			v := int64(n)
			if digits > start {
				v = -v
			}
			p.pos = i
			return p.integer(v)
		}
		if v, err := strconv.ParseInt(text[start:i], 10, 64); err == nil {
			p.pos = i
			return p.integer(v)
		}
		// beyond int64: a real
	}
	if i < len(text) && text[i] == '.' {
		i++
		fraction := i
		for i < len(text) && text[i]-'0' <= 9 {
			n = n*10 + uint64(text[i]-'0')
			i++
		}
		if i == fraction {
			return p.word()
		}
		if i-digits <= maxDigits+1 && (i == len(text) || delimits(text[i])) {
			v := decimal(n, i-fraction)
			if digits > start {
				v = -v
			}
			p.pos = i
			return p.real(v)
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		exponent := i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		if i == exponent {
			return p.word()
		}
	}
	if i < len(text) && !delimits(text[i]) {
		return p.word()
	}
	v, err := strconv.ParseFloat(text[start:i], 64)
	if err != nil {
		return p.errorAt(start, i, `write "Infinity" if an infinite value is meant`,
			"%s is %s, which is too large for a 64-bit floating-point number", p.path(), clip(text[start:i]))
	}
	p.pos = i
	return p.real(v)
}

// delimits reports whether a number may end before c.
func delimits(c byte) bool {
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t'
}

func (p *parser) integer(v int64) (err error) {
	if !p.isInt {
		return p.append(float64(v))
	}
	if len(p.ints) == cap(p.ints) {
		if p.ints, err = grown(p.memory, p.ints, p.more); err != nil {
			return err
		}
	}
	p.ints = append(p.ints, v)
	return nil
}

func (p *parser) real(v float64) error {
	if p.isInt {
		p.isInt, p.first = false, len(p.ints)
		if err := p.memory.take(8 * int64(cap(p.ints))); err != nil {
			return err
		}
		p.reals = make([]float64, len(p.ints), cap(p.ints))
		for i, n := range p.ints {
			p.reals[i] = float64(n)
		}
		p.memory.give(8 * int64(cap(p.ints)))
		p.ints = nil
	}
	return p.append(v)
}

// more guesses the number of further elements in a value. It counts the commas up to the next
// colon, which belongs to the next variable.
func (p *parser) more() int {
	rest, _, _ := strings.Cut(p.text[p.pos:], ":")
	return strings.Count(rest, ",") + 1
}

func (p *parser) append(v float64) (err error) {
	if len(p.reals) == cap(p.reals) {
		if p.reals, err = grown(p.memory, p.reals, p.more); err != nil {
			return err
		}
	}
	p.reals = append(p.reals, v)
	return nil
}

// unexpected returns the error that the text has something other than expected.
func (p *parser) unexpected(want, where string) error {
	if p.pos >= len(p.text) {
		return p.ended()
	}
	if where != "" {
		where = " " + where
	}
	switch c := p.text[p.pos]; {
	case c == '/' || c == '#':
		return p.errorAt(p.pos, p.wordEnd(p.pos), "remove it", "JSON has no comments, but there is one%s", where)
	}
	end := p.wordEnd(p.pos)
	if end == p.pos {
		_, size := utf8.DecodeRuneInString(p.text[p.pos:])
		end += size
	}
	return p.errorAt(p.pos, end, "write "+want, "expected %s%s, but found %s", want, where, clip(p.text[p.pos:end]))
}

// ended returns the error that the file ends before the data.
func (p *parser) ended() error {
	last := len(strings.TrimRight(p.text, " \t\r\n"))
	where := "before the closing } of the data"
	if p.name != "" {
		where = "within " + p.name
		if len(p.index) == 0 {
			where = "after " + p.name
		}
	}
	return p.errorAt(max(0, last-1), last, "copy or save the file again: its end is missing", "the file ends %s", where)
}

// wordEnd returns the end of a run of characters without white space and JSON punctuation.
func (p *parser) wordEnd(start int) int {
	i := start
	for i < len(p.text) && strings.IndexByte(" \t\r\n,:[]{}\"", p.text[i]) < 0 {
		i++
	}
	return i
}

func isNameByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// clip shortens user text for a message.
func clip(s string) string {
	const limit = 40
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
