package native

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// GoSource returns the Go source of the named routines, unformatted, by file name. They are the
// functions of package ad/kernel/routines. It returns nothing on platforms without machine code,
// because the routines are not linked there.
func GoSource(header string) map[string]string {
	if !Supported {
		return nil
	}
	files := map[string]*bytes.Buffer{}
	file := func(name string) *bytes.Buffer {
		w := files[name]
		if w == nil {
			w = &bytes.Buffer{}
			w.WriteString(header)
			files[name] = w
		}
		return w
	}
	for r := range routineTable {
		row := &routineTable[r]
		if row.name == "" {
			continue
		}
		rest := ""
		if row.rest != nil {
			rest = strings.ToLower(row.name[:1]) + row.name[1:] + "Rest"
		}
		b, x := builderOf(row.operands)
		y := row.main(b, x, func(ordinary Value) { b.unless(ordinary, 0) })
		printGo(file(row.file+".go"), b, y, row.name, row.doc, row.operands, rest)
		if row.rest != nil {
			b, x := builderOf(row.operands)
			printGo(file(row.file+"_rest.go"), b, row.rest(b, x), rest, rest+" is "+row.name+" for arguments that its short code leaves out.", row.operands, "")
		}
	}
	sources := map[string]string{}
	for name, w := range files {
		sources[name] = w.String()
	}
	return sources
}

func builderOf(operands int) (*Builder, []Value) {
	b := &Builder{}
	x := make([]Value, operands)
	for i := range x {
		x[i] = b.In(Vec(i))
	}
	return b, x
}

// kind is the Go type that a value has in the printed source.
type kind byte

const (
	number kind = iota
	word
	truthful
	literal
)

type goPrinter struct {
	w     *bytes.Buffer
	code  []instruction
	b     *Builder
	kinds []kind
	uses  []int
	// the Go expression of each value: a variable, or an expression that is used once
	text   []string
	guards []int // for each value the condition under which it is needed, an index into tree
	tree   []guard
	// for each value the block that defines it: twice the selection, plus 1 for its second side
	block  []int
	outer  []bool
	done   []bool
	params []string
	rest   string
}

// guard is a condition under which a value is needed: a value that only one side of a selection
// needs is computed on that side. Guard 0 is no condition.
type guard struct {
	parent, depth int
	truth         Value
	side          bool
}

// printGo prints a formula as a function of numbers. Every product is rounded separately.
func printGo(w *bytes.Buffer, b *Builder, result Value, name, doc string, operands int, rest string) {
	code, result := withoutRepetitions(b.code, result)
	n := len(code)
	p := &goPrinter{w: w, code: code, b: b, kinds: make([]kind, n), uses: make([]int, n), text: make([]string, n), tree: []guard{{}},
		guards: make([]int, n), block: make([]int, n), outer: make([]bool, n), done: make([]bool, n), rest: rest,
		params: []string{"x", "y", "z"}[:operands]}
	p.place(result)
	p.blocks(result)
	fmt.Fprintf(w, "\n// %s\nfunc %s(%s float64) float64 {\n", doc, name, strings.Join(p.params, ", "))
	// Print the body first, because that determines the types of the variables.
	body := &bytes.Buffer{}
	p.w = body
	p.print(0, n, 0)
	for k, name := range []string{number: "float64", word: "uint64", truthful: "bool"} {
		var names []string
		for v := range code {
			if p.outer[v] && p.kinds[v] == kind(k) && p.text[v] == p.local(Value(v)) {
				names = append(names, p.local(Value(v)))
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(w, "var %s %s\n", strings.Join(names, ", "), name)
		}
	}
	w.Write(body.Bytes())
	fmt.Fprintf(w, "return %s\n}\n", p.number(result))
}

// withoutRepetitions performs common-subexpression elimination on code.
func withoutRepetitions(code []instruction, result Value) ([]instruction, Value) {
	first := map[instruction]Value{}
	at := make([]Value, len(code))
	out := slices.Clone(code)
	for i := range out {
		in := &out[i]
		for k, o := range []*Value{&in.a, &in.b, &in.c} {
			if k < len(in.operands()) {
				*o = at[*o]
			}
		}
		at[i] = Value(i)
		if in.prim == primFetch && uintptr(in.imm) == logTable {
			in.a = out[in.a].a // the index counts words, three for each struct in the Go table
		}
		if in.prim == primFetch || in.prim == primField || in.prim == primUnless {
			continue
		}
		if v, ok := first[*in]; ok {
			at[i] = v
		} else {
			first[*in] = Value(i)
		}
	}
	return out, at[result]
}

// fetchOf returns the first value of the fetch that v belongs to.
func (p *goPrinter) fetchOf(v Value) Value {
	for p.code[v].prim == primField {
		v--
	}
	return v
}

// place counts the uses of each value and finds its guard: the condition that all of its uses have
// in common.
func (p *goPrinter) place(result Value) {
	known := make([]bool, len(p.code))
	guards := map[guard]int{}
	need := func(v Value, g int) {
		v = p.fetchOf(v)
		if !known[v] {
			known[v], p.guards[v] = true, g
			return
		}
		h := p.guards[v]
		for g != h {
			if p.tree[g].depth < p.tree[h].depth {
				g, h = h, g
			}
			g = p.tree[g].parent
		}
		p.guards[v] = g
	}
	under := func(parent int, truth Value, side bool) int {
		for g := parent; g > 0; g = p.tree[g].parent { // parent already implies the condition
			if p.tree[g].truth == truth && p.tree[g].side == side {
				return parent
			}
		}
		key := guard{parent, p.tree[parent].depth + 1, truth, side}
		if _, ok := guards[key]; !ok {
			p.tree = append(p.tree, key)
			guards[key] = len(p.tree) - 1
		}
		return guards[key]
	}
	p.uses[result]++
	need(result, 0)
	for i := len(p.code) - 1; i >= 0; i-- {
		in := &p.code[i]
		if in.prim == primUnless {
			known[i] = true
		}
		if !known[p.fetchOf(Value(i))] || in.prim == primField {
			continue
		}
		g := p.guards[i]
		for k, o := range in.operands() {
			p.uses[o]++
			at := g
			if k > 0 && (in.prim == primSelect || in.prim == primKeep) {
				at = under(g, in.a, k == 1)
			}
			need(o, at)
		}
	}
	for i := range p.code {
		p.guards[i] = p.guards[p.fetchOf(Value(i))]
		if !known[p.fetchOf(Value(i))] {
			p.guards[i] = -1
		}
	}
}

func (p *goPrinter) choice(i int) bool {
	return p.guards[i] >= 0 && (p.code[i].prim == primSelect || p.code[i].prim == primKeep)
}

// blocks finds the block that defines each value: a side of the first later selection whose
// condition is the value's guard.
func (p *goPrinter) blocks(result Value) {
	for i := range p.code {
		g := p.guards[i]
		if g <= 0 {
			continue
		}
		for k := i + 1; ; k++ {
			if p.choice(k) && p.code[k].a == p.tree[g].truth && p.guards[k] == p.tree[g].parent {
				p.block[i] = 2 * k
				if !p.tree[g].side {
					p.block[i]++
				}
				break
			}
		}
	}
	for i := range p.code {
		if p.guards[i] < 0 {
			continue
		}
		for k, o := range p.code[i].operands() {
			from := p.block[i]
			if p.choice(i) && k > 0 {
				from = 2*i + k - 1
			}
			for ; from > 0 && from != p.block[o]; from = p.block[from/2] {
			}
			if from != p.block[o] {
				p.outer[o] = true
			}
		}
	}
}

// print prints the values of a block, up to instruction end.
func (p *goPrinter) print(block, end, from int) {
	for i := from; i < end; i++ {
		if p.guards[i] >= 0 && p.block[i] == block && !p.done[i] {
			p.done[i] = true
			p.instruction(Value(i), p.params, p.rest)
		}
	}
}

func (p *goPrinter) local(v Value) string { return "v" + strconv.Itoa(int(v)) }

// define writes the definition of a variable.
func (p *goPrinter) define(v Value, text string) {
	op := ":="
	if p.outer[v] {
		op = "="
	}
	fmt.Fprintf(p.w, "%s %s %s\n", p.local(v), op, text)
	p.text[v] = p.local(v)
}

// choose prints a selection as an if statement, with the values that only one side needs inside.
func (p *goPrinter) choose(v Value, first, second Value, zero bool) {
	in := &p.code[v]
	outer := p.w
	sides := [2]*bytes.Buffer{{}, {}}
	for k := range sides {
		p.w = sides[k]
		p.print(2*int(v)+k, int(v), 0)
	}
	p.w = outer
	p.kinds[v] = number
	at := p.number
	if p.kinds[first] == word || !zero && p.kinds[second] == word || zero && p.kinds[first] == literal && p.code[first].imm == signBit {
		p.kinds[v], at = word, p.word
	}
	if !p.outer[v] {
		fmt.Fprintf(p.w, "var %s %s\n", p.local(v), map[kind]string{number: "float64", word: "uint64"}[p.kinds[v]])
	}
	fmt.Fprintf(p.w, "if %s {\n%s%s = %s\n}", p.text[in.a], sides[0], p.local(v), at(first))
	if !zero { // for zero, the variable's initial 0 is the result
		fmt.Fprintf(p.w, " else {\n%s%s = %s\n}", sides[1], p.local(v), at(second))
	}
	fmt.Fprintln(p.w)
	p.text[v] = p.local(v)
}

func (p *goPrinter) instruction(v Value, params []string, rest string) {
	in := &p.code[v]
	set := func(k kind, text string) {
		p.kinds[v], p.text[v] = k, text
		// Insert short expressions that are used once where they are used.
		if p.uses[v] > 1 || len(text) > 100 || p.outer[v] {
			p.define(v, text)
		}
	}
	a, b := in.a, in.b
	infix := func(op string) string { return "(" + p.number(a) + op + p.number(b) + ")" }
	words := func(op string) {
		first := p.word(a)
		if p.kinds[a] == literal && p.kinds[b] == literal {
			first = "uint64(" + first + ")"
		}
		set(word, "("+first+op+p.word(b)+")")
	}
	switch in.prim {
	case primIn:
		p.kinds[v], p.text[v] = number, params[in.imm]
	case primWord:
		p.kinds[v] = literal
	case primAdd:
		set(number, infix(" + "))
	case primSub:
		set(number, infix(" - "))
	case primMul:
		set(number, "float64"+infix(" * "))
	case primDiv:
		set(number, infix(" / "))
	case primSqrt:
		set(number, "math.Sqrt("+p.number(a)+")")
	case primMulAdd:
		set(number, "math.FMA("+p.number(a)+", "+p.number(b)+", "+p.number(in.c)+")")
	case primRound:
		set(number, map[Rounding]string{Floor: "math.Floor(", Ceil: "math.Ceil(", Trunc: "math.Trunc("}[Rounding(in.imm)]+p.number(a)+")")
	case primMax, primMin:
		op := map[prim]string{primMax: ">", primMin: "<"}[in.prim]
		p.define(v, p.number(b))
		fmt.Fprintf(p.w, "if %s %s %s {\n%s = %s\n}\n", p.number(a), op, p.number(b), p.local(v), p.number(a))
	case primAnd:
		if p.code[b].prim == primWord && p.code[b].imm == 1<<63-1 && p.kinds[a] == number {
			set(number, "math.Abs("+p.number(a)+")")
			return
		}
		words(" & ")
	case primOr:
		words(" | ")
	case primXor:
		if p.code[b].prim == primWord && p.code[b].imm == signBit && p.kinds[a] == number {
			set(number, "-("+p.number(a)+")")
			return
		}
		words(" ^ ")
	case primAddWord:
		words(" + ")
	case primSubWord:
		words(" - ")
	case primShl:
		set(word, fmt.Sprintf("(%s << %d)", p.word(a), in.imm))
	case primShr:
		set(word, fmt.Sprintf("(%s >> %d)", p.word(a), in.imm))
	case primCompare:
		op := map[Comparison]string{EQ: "%s == %s", LT: "%s < %s", LE: "%s <= %s", GE: "%s >= %s", GT: "%s > %s", NEQ: "%s != %s",
			NLT: "!(%s < %s)", NLE: "!(%s <= %s)", NGE: "!(%s >= %s)", NGT: "!(%s > %s)"}[Comparison(in.imm)]
		if op == "" {
			op = "(%[1]s != %[1]s || %[2]s != %[2]s)"
			if a == b {
				op = "%s != %s"
			}
		}
		set(truthful, fmt.Sprintf(op, p.number(a), p.number(b)))
	case primBoth:
		set(truthful, "("+p.text[a]+" && "+p.text[b]+")")
	case primEither:
		set(truthful, "("+p.text[a]+" || "+p.text[b]+")")
	case primSelect:
		p.choose(v, b, in.c, false)
	case primKeep:
		p.choose(v, b, 0, true)
	case primFetch:
		p.fetch(v)
	case primField:
	case primUnless:
		args := strings.Join(params, ", ")
		fmt.Fprintf(p.w, "if !(%s) { return %s(%s) }\n", p.text[a], rest, args)
	default:
		panic(fmt.Sprintf("no Go for primitive %d", in.prim))
	}
}

// fetch prints the reading of a table of package routines.
func (p *goPrinter) fetch(v Value) {
	in := &p.code[v]
	distances := p.b.fields[in.b]
	for k, d := range distances {
		var text string
		at := v + Value(k)
		p.kinds[at] = number
		switch uintptr(in.imm) {
		case expTable:
			p.kinds[at] = word
			text = "ExpTable[" + p.word(in.a)
			if d > 0 {
				text = fmt.Sprintf("math.Float64frombits(ExpTable[%d+%s", d/8, p.word(in.a))
				p.kinds[at] = number
			}
			text += "]"
			if d > 0 {
				text += ")"
			}
		case logTable:
			text = fmt.Sprintf("LogTable[%s].%s", p.word(in.a), []string{"Inv", "Hi", "Lo"}[d/8])
		case twoOverPiTable:
			text = fmt.Sprintf("TwoOverPi[%s+%d]", p.word(in.a), d/8)
		default:
			panic("no such table")
		}
		if p.uses[at] == 0 {
			continue
		}
		p.define(at, text)
	}
}

// number returns a value as a float64 expression.
func (p *goPrinter) number(v Value) string {
	switch p.kinds[v] {
	case literal:
		x := math.Float64frombits(p.code[v].imm)
		switch {
		case math.IsNaN(x):
			return "math.NaN()"
		case math.IsInf(x, 0):
			return fmt.Sprintf("math.Inf(%d)", int(math.Copysign(1, x)))
		case x == 0 && math.Signbit(x):
			return "math.Copysign(0, -1)"
		}
		s := strconv.FormatFloat(x, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case word:
		return "math.Float64frombits(" + p.text[v] + ")"
	}
	return p.text[v]
}

// word returns a value as an expression of its bits.
func (p *goPrinter) word(v Value) string {
	switch p.kinds[v] {
	case literal:
		w := p.code[v].imm
		if w < 1<<16 {
			return strconv.FormatUint(w, 10)
		}
		if n := bits.TrailingZeros64(w); n > 20 {
			return fmt.Sprintf("(0x%x << %d)", w>>n, n)
		}
		return fmt.Sprintf("0x%x", w)
	case number:
		return "math.Float64bits(" + p.text[v] + ")"
	}
	return p.text[v]
}
