package data

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/lang/source"
)

// This file reads R's dump format, which rstan::stan_rdump and R's dump write and older CmdStan
// versions read. It consists of assignments name <- value. A value is a number, c(…), a range 1:10,
// integer(0), numeric(n), NULL, or structure(c(…), .Dim = c(…)) with its elements in column-major
// order. Elements of c(…) may have names, which are ignored. A number is an integer if it is whole
// and written without a point, with L, or in hexadecimal digits (R writes 1e+05 for 100000). Arrays
// with dimensions are converted to row-major order. TRUE and FALSE are 1 and 0. A structure with
// levels (.Label) is a factor; its other attributes are ignored. A value that is not a number, or
// is an expression, is a fault that is reported only if the variable is used.

// ParseDump reads data in R's dump format. The file name is only used in messages. The error, if
// any, is an [*Error].
func ParseDump(file, text string, o Options) (*Set, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	memory, err := o.allow(file, len(text))
	if err != nil {
		return nil, err
	}
	p := &dump{text: text, set: &Set{file: file, values: map[string]Value{}, dump: true}, as: o.As, open: o.NewLevels, memory: memory, short: int(o.limit() / shortSize)}
	for {
		p.space()
		if p.pos == len(p.text) {
			return p.set, nil
		}
		if err := p.assign(); err != nil {
			return nil, err
		}
	}
}

type dump struct {
	text   string
	pos    int
	set    *Set
	name   string
	gap    *Error   // the error of its first missing element
	depth  int      // nesting depth of c(…) and structure(…)
	levels []string // levels of the current value, if it is a factor
	as     *Set     // see Options.As
	open   bool     // new levels are allowed
	memory *allowance
	short  int  // number of elements that ranges, integer(n) and numeric(n) may still have
	beyond bool // the data exceed the limits of the options
}

func (p *dump) errorf(at int, fix, format string, args ...any) error {
	return newError(p.at(at), p.name, fmt.Sprintf(format, args...), fix)
}

// at returns the span of the character at a position.
func (p *dump) at(at int) source.Span {
	_, n := utf8.DecodeRuneInString(p.text[at:])
	return source.Span{File: source.NewFile(p.set.file, p.text), Start: at, End: at + n}
}

// space skips blanks, line breaks, semicolons and comments.
func (p *dump) space() {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case strings.IndexByte(" \t\r\n;", c) >= 0:
			p.pos++
		case c == '#':
			if i := strings.IndexByte(p.text[p.pos:], '\n'); i >= 0 {
				p.pos += i
			} else {
				p.pos = len(p.text)
			}
		default:
			return
		}
	}
}

// take skips blanks, and then text if it follows.
func (p *dump) take(text string) bool {
	p.space()
	if strings.HasPrefix(p.text[p.pos:], text) {
		p.pos += len(text)
		return true
	}
	return false
}

func isWordByte(c byte) bool { return c == '.' || c >= '0' && c <= '9' || isNameByte(c) }

func (p *dump) word() string {
	p.space()
	start := p.pos
	for p.pos < len(p.text) && isWordByte(p.text[p.pos]) {
		p.pos++
	}
	return p.text[start:p.pos]
}

func (p *dump) assign() error {
	start := p.pos
	p.name = ""
	name := ""
	if c := p.text[p.pos]; strings.IndexByte("\"'`", c) >= 0 {
		p.pos++
		end := strings.IndexByte(p.text[p.pos:], c)
		if end < 0 {
			return p.errorf(start, "", "a name in quotes does not end")
		}
		name = p.text[p.pos : p.pos+end]
		p.pos += end + 1
	} else {
		name = p.word()
	}
	written := name
	if name = ColumnName(name); name == "" {
		return p.errorf(start, "write it as name <- value", "expected the name of a variable")
	}
	if !p.take("<-") && !p.take("=") {
		fix := "write it as " + written + " <- value"
		if p.pos < len(p.text) && strings.IndexByte("(-", p.text[p.pos]) >= 0 || written[0] <= '9' {
			fix = "a dump has assignments only, such as N <- 3: write it with R's dump(), or remove the rest"
		}
		if written == "list" {
			fix = "write each member as an assignment, such as N <- 3; R writes the list x as JSON by jsonlite::write_json(x, \"data.json\", auto_unbox = TRUE)"
		}
		return p.errorf(p.pos, fix, "expected `<-` after %s", written)
	}
	p.name = name
	if p.set.has(name) {
		return p.errorf(start, "remove one of them", "there are two values for %s", name)
	}
	if err := p.memory.take(variableSize + int64(len(name))); err != nil {
		return err
	}
	p.space()
	at := p.pos
	p.levels, p.gap = nil, nil
	v, err := p.value()
	if err == nil {
		err = p.ended()
	}
	if err == nil && p.as != nil && p.levels != nil {
		err = p.asLevels(name, at, v)
	}
	p.set.text = p.text
	if err != nil {
		return p.fault(name, at, err)
	}
	v.start, v.end, v.apart = at, at+len(strings.TrimRight(p.text[at:p.pos], " \t\r\n")), true
	if p.gap != nil {
		if p.set.addGaps(name, v, p.gap); p.levels != nil {
			p.set.addGapLevels(name, p.levels)
		}
		return nil
	}
	p.set.add(name, v)
	if p.levels != nil {
		p.set.addLevels(name, p.levels)
	}
	return nil
}

// asLevels converts the numbers of a factor to those of the same levels in the set that was read
// before.
func (p *dump) asLevels(name string, at int, v Value) error {
	given := p.as.levels[name]
	if zeros := p.as.zeros[name]; zeros != nil {
		given = zeros
	}
	if given == nil {
		return nil
	}
	levels := slices.Clone(given)
	numbers := map[string]int64{}
	for i, level := range levels {
		numbers[level] = int64(i + 1)
	}
	for i, n := range v.Reals {
		if math.IsNaN(n) {
			continue
		}
		level := p.levels[int(n)-1]
		to, known := numbers[level]
		if !known && !p.open {
			fault := unknownLevel(name, level, i+1, 0, given)
			return p.errorf(at, fault.Fix, "%s", fault.Message)
		}
		if !known {
			levels = append(levels, level)
			to = int64(len(levels))
			numbers[level] = to
		}
		if v.Reals[i] = float64(to); v.IsInt {
			v.Ints[i] = to
		}
	}
	p.levels = levels
	return nil
}

// list collects numbers.
type list struct {
	v      Value
	shape  bool // it is not a single number
	memory *allowance
	more   func() int // guesses the number of further elements
}

func (l *list) add(x float64, isInt bool) (err error) {
	if l.v.IsInt && !isInt {
		l.v.IsInt, l.v.firstReal = false, int32(len(l.v.Reals))
	}
	if len(l.v.Reals) == cap(l.v.Reals) {
		if l.v.Reals, err = grown(l.memory, l.v.Reals, l.more); err != nil {
			return err
		}
	}
	l.v.Reals = append(l.v.Reals, x)
	return nil
}

// more guesses the number of further elements in a list from the commas up to its end.
func (p *dump) more() int {
	rest, _, _ := strings.Cut(p.text[p.pos:], ")")
	return strings.Count(rest, ",") + 1
}

// value reads a value in row-major order.
func (p *dump) value() (Value, error) {
	l := &list{v: Value{IsInt: true, Reals: []float64{}}, memory: p.memory, more: p.more}
	dims, err := p.elements(l)
	if err != nil {
		return Value{}, err
	}
	v := l.v
	switch {
	case dims != nil:
		n := product(dims)
		if n != len(v.Reals) {
			return Value{}, p.errorf(p.pos-1, "", "%s has %d elements, but its dimensions %v are those of %d", p.name, len(v.Reals), dims, n)
		}
		if n == 0 { // JSON would list the empty inner arrays one by one
			held := slices.DeleteFunc(slices.Clone(dims), func(d int) bool { return d == 0 })
			if err := p.stands(p.pos-1, float64(product(held))); err != nil {
				return Value{}, err
			}
		}
		v.Shape = dims
		if err := p.memory.take(8 * int64(n)); err != nil {
			return Value{}, err
		}
		p.memory.give(8 * int64(n)) // the list is not needed after the conversion
		v.Reals = rowMajor(v.Reals, dims)
	case l.shape || len(v.Reals) != 1:
		v.Shape = []int{len(v.Reals)}
	}
	if !v.between(1, len(p.levels)) {
		p.levels = nil // they belong to the value before
	}
	if v.IsInt {
		if err := p.memory.take(8 * int64(len(v.Reals))); err != nil {
			return Value{}, err
		}
		v.Ints = make([]int64, len(v.Reals))
		for i, x := range v.Reals {
			v.Ints[i] = int64(x)
		}
	}
	return v, nil
}

// product returns the number of elements of an array with these dimensions, at most the greatest
// int.
func product(dims []int) int {
	if slices.Contains(dims, 0) {
		return 0
	}
	n := 1
	for _, d := range dims {
		if n > math.MaxInt/d {
			return math.MaxInt
		}
		n *= d
	}
	return n
}

func rowMajor(x []float64, dims []int) []float64 {
	out := make([]float64, len(x))
	at := make([]int, len(dims))
	for k := range x { // in column-major order
		i := 0
		for d := range dims {
			i = i*dims[d] + at[d]
		}
		out[i] = x[k]
		for d := range dims {
			if at[d]++; at[d] < dims[d] {
				break
			}
			at[d] = 0
		}
	}
	return out
}

// elements reads the elements of a value. dims are the dimensions of a structure.
func (p *dump) elements(l *list) (dims []int, err error) {
	p.space()
	start := p.pos
	if p.take("-") || p.take("+") {
		p.pos = start
		return nil, p.number(l)
	}
	if p.pos < len(p.text) && (p.text[p.pos] >= '0' && p.text[p.pos] <= '9' || p.text[p.pos] == '.' && p.pos+1 < len(p.text) && p.text[p.pos+1] >= '0' && p.text[p.pos+1] <= '9') {
		return nil, p.number(l)
	}
	if p.pos < len(p.text) && (p.text[p.pos] == '"' || p.text[p.pos] == '\'') {
		return nil, p.errorf(start, "number the different texts from 1", "%s has a text, but data are numbers", p.name)
	}
	word := p.word()
	if !p.take("(") {
		switch word {
		case "TRUE", "T":
			return nil, l.add(1, true)
		case "FALSE", "F":
			return nil, l.add(0, true)
		case "NaN":
			return nil, l.add(math.NaN(), false)
		case "Inf":
			return nil, l.add(math.Inf(1), false)
		case "NULL":
			l.shape = true
			return nil, nil
		case "NA", "NA_integer_", "NA_real_":
			if p.gap == nil {
				errors.As(p.errorf(start, gapFix, "%s has a missing value", p.name), &p.gap)
			}
			return nil, l.add(math.NaN(), false)
		}
		// Text that is not ASCII, such as a wide bracket, is at pos. The message points to it.
		if p.pos < len(p.text) && p.text[p.pos] >= utf8.RuneSelf {
			start = p.pos
		}
		fix := ""
		if start == len(p.text) {
			fix = "is the file complete?"
		}
		return nil, p.errorf(start, fix, "expected a number, c(…) or structure(…)")
	}
	shaped := l.shape
	l.shape = true
	if p.depth++; p.depth > maxDims {
		return nil, p.errorf(start, "", "%s has more than %d values in one another", p.name, maxDims)
	}
	defer func() { p.depth-- }()
	switch word {
	case "c":
		for first := true; ; first = false {
			if p.take(")") {
				return nil, nil
			}
			if !first && !p.take(",") {
				return nil, p.errorf(p.pos, "", "expected `,` or `)`")
			}
			if first || !p.take(")") {
				p.elementName()
				if _, err := p.elements(l); err != nil {
					return nil, err
				}
			}
		}
	case "list":
		return nil, p.errorf(start, "give its members one by one", "%s is a list, but data are numbers", p.name)
	case "integer", "double", "numeric", "logical", "character":
		n := &list{v: Value{IsInt: true}, memory: p.memory, more: p.more}
		if err := p.number(n); err != nil {
			return nil, err
		}
		if !p.take(")") || len(n.v.Reals) != 1 || !(n.v.Reals[0] >= 0) || n.v.Reals[0] != math.Trunc(n.v.Reals[0]) {
			return nil, p.errorf(start, "", "expected %s(n)", word)
		}
		if word == "character" && n.v.Reals[0] > 0 {
			return nil, p.errorf(start, "number the different texts from 1", "%s has texts, but data are numbers", p.name)
		}
		if err := p.stands(start, n.v.Reals[0]); err != nil {
			return nil, err
		}
		for range int(n.v.Reals[0]) {
			if err := l.add(0, word == "integer" || word == "logical"); err != nil {
				return nil, err
			}
		}
		return nil, nil
	case "structure":
		l.shape = shaped // as before the word structure
		if _, err := p.elements(l); err != nil {
			return nil, err
		}
		for p.take(",") {
			at := p.pos
			attribute := strings.Trim(p.word(), "\"")
			if !p.take("=") {
				return nil, p.errorf(at, "", "expected an attribute such as .Dim = c(2, 3)")
			}
			switch attribute {
			case ".Dim", "dim":
			case ".Label", "levels":
				if p.levels, err = p.texts(); err != nil {
					return nil, err
				}
				continue
			default:
				if !p.skip() {
					return nil, p.errorf(at, "", "the attribute %s of %s does not end", attribute, p.name)
				}
				continue
			}
			d := &list{v: Value{IsInt: true}, memory: p.memory, more: p.more}
			if _, err := p.elements(d); err != nil {
				return nil, err
			}
			dims = []int{}
			for _, x := range d.v.Reals {
				if x < 0 || x != math.Trunc(x) || x > 1<<31 {
					return nil, p.errorf(at, "", "a dimension of %s is %v", p.name, x)
				}
				dims = append(dims, int(x))
			}
		}
		if !p.take(")") {
			return nil, p.errorf(p.pos, "", "expected `)`")
		}
		l.shape = l.shape || p.levels != nil
		return dims, nil
	case "":
		return nil, p.errorf(start, "write the values out: c(…)", "expected a number, c(…) or structure(…)")
	}
	return nil, p.errorf(start, "write the values out: c(…)", "the function %s is not known in data", word)
}

// shortSize is the length in bytes that an element counts if it is not written out, as in a range.
// A file may have as many such elements as its length limit divided by shortSize.
const shortSize = 64

// stands counts n elements that the expression at a position represents without writing them out.
// It fails if there are too many.
func (p *dump) stands(at int, n float64) error {
	if n > float64(p.short) {
		p.beyond = true
		e := newError(p.at(at), p.name, fmt.Sprintf("%s is short for %.0f values; ranges, integer(n) and numeric(n) of a file may be short for %d more", p.name, n, p.short),
			"leave it out if the model does not need it, or compute it in transformed data; or allow for longer data")
		e.Settings = []string{"max-data"}
		return e
	}
	p.short -= int(n)
	return nil
}

// number reads a number, or a range of integers.
func (p *dump) number(l *list) error {
	first, isInt, err := p.literal()
	if err != nil {
		return err
	}
	if !p.take(":") {
		return l.add(first, isInt)
	}
	start := p.pos
	last, alsoInt, err := p.literal()
	if err != nil {
		return err
	}
	if !isInt || !alsoInt {
		return p.errorf(start, "write the values out: c(…)", "a range is one of integers, such as 1:10")
	}
	if err := p.stands(start, math.Abs(last-first)+1); err != nil {
		return err
	}
	l.shape = true
	step := 1.0
	if last < first {
		step = -1
	}
	for x := first; x != last+step; x += step {
		if err := l.add(x, true); err != nil {
			return err
		}
	}
	return nil
}

// literal reads a number with its sign.
func (p *dump) literal() (x float64, isInt bool, err error) {
	p.space()
	start := p.pos
	for p.pos < len(p.text) && (p.text[p.pos] == '-' || p.text[p.pos] == '+') {
		p.pos++
	}
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		if isWordByte(c) || (c == '-' || c == '+') && strings.IndexByte(exponent(p.text[start:p.pos]), p.text[p.pos-1]) >= 0 {
			p.pos++
			continue
		}
		break
	}
	text := p.text[start:p.pos]
	body, long := strings.CutSuffix(text, "L")
	switch strings.TrimLeft(body, "+-") {
	case "Inf":
		return math.Inf(1 - 2*strings.Count(body, "-")), false, nil
	}
	hex := isHex(body)
	digits := body
	if hex && !strings.ContainsAny(body, "pP") {
		digits += "p0"
	}
	x, err = strconv.ParseFloat(digits, 64)
	if err != nil && !math.IsInf(x, 0) || strings.Contains(body, "_") {
		fix := ""
		if strings.Trim(text, "+-") == "" || strings.HasSuffix(text, "i") {
			fix = "write the value that this has; a complex number is c(real part, imaginary part)"
		}
		return 0, false, p.errorf(start, fix, "%q is not a number", text)
	}
	isInt = (long || hex || !strings.Contains(body, ".")) && math.Abs(x) < 1<<53 && x == math.Trunc(x)
	return x, isInt, nil
}

// isHex reports whether a number is hexadecimal.
func isHex(text string) bool {
	text = strings.TrimLeft(text, "+-")
	return strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
}

// exponent returns the letters that may begin the exponent of a number that begins with text.
func exponent(text string) string {
	if isHex(text) {
		return "pP"
	}
	return "eE"
}

// elementName skips the name that an element of c(…) may have.
func (p *dump) elementName() {
	p.space()
	start := p.pos
	if start == len(p.text) {
		return
	}
	if quote := p.text[start]; strings.IndexByte("\"'`", quote) >= 0 {
		p.pos++
		for p.pos < len(p.text) && p.text[p.pos] != quote {
			if p.text[p.pos] == '\\' {
				p.pos++
			}
			p.pos++
		}
		if p.pos >= len(p.text) {
			p.pos = start // the element reports the error
			return
		}
		p.pos++
	} else if !isNameByte(quote) && quote != '.' {
		return
	} else {
		p.word()
	}
	if p.space(); strings.HasPrefix(p.text[p.pos:], "==") || !p.take("=") {
		p.pos = start
	}
}
