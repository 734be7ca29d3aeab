package proggen

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// template is a group of statements as statisticians write them. Its text is
// Stan's, a statement or the head of a block on each line, with holes:
//
//	$name       a name of this copy's own
//	@N @K @M    sizes of this copy; yN, gNK and so on are data (families.go)
//	@e @E       a real expression, and a larger one
//	@d          one of data
//	@+ @p       a positive expression, and one between 0 and 1
//	@#          a number
//	@c @o @q    a condition: any, one that data decide, one that parameters decide
//	@S          on a separate line: statements, or none
//	@T{X}       a statement that adds X to the log density in one of many ways
//	@+={X}      a statement that adds X to it plainly
//	@{A|B}      A or B; @?{A}: A or nothing
//	@return     in a block of its own function: leaves it
//
// Declarations, assignments and loops are recognised as they are written, so that
// holes read whatever is in scope. Directives stand on their own lines:
//
//	@ready $v    every element of the container $v has a value now
//	@index $k N  the int $k is in 1:N here
//	@nojumps     statements of the present block must all run
type template struct {
	name string
	// kinds are letters that say where the template may be used: l only inside a loop, p only with
	// parameters, t only where terms go to target. s means that it is short.
	kinds string
	funcs string // its user functions, which are written before those of statements
	text  string
}

// helper is a user function whose arguments are reals.
type helper struct {
	name string
	args int
}

// entry is a variable in scope.
type entry struct {
	name  string
	kind  entryKind
	size  string // of a vector: its size; of an index: the size that it indexes
	lo    int    // of an index: its least value
	below int    // of an index: its greatest value is size - below
	ready int    // depth of the block in which it was assigned; 0: not yet
	fixed bool
}

type entryKind uint8

const (
	realEntry entryKind = iota
	vectorEntry
	indexEntry
	intEntry
)

// block is a block in braces that is being written.
type block struct {
	scope   int
	cost    int
	loop    bool // break and continue would leave this block
	while   bool
	nojumps bool
}

// writer is the state of NewModel while it makes one program.
type writer struct {
	rng      *rand.Rand
	only     bool // use only templates that real Stan supports
	sizes    map[string]int
	lines    []string
	funcs    []string
	helpers  []helper
	names    int
	scope    []entry
	blocks   []block
	cost     int // number of executions of the statement being written
	work     int // total number of executions of all statements so far
	limit    int
	sink     string // variable that terms are added to
	data     bool   // parameters are not available here
	bare     bool   // in a function that may use only its arguments
	depth    int    // nesting depth of templates
	inner    bool   // in the body of a function, where return is allowed
	busy     bool   // the conditions of jumps may depend on parameters
	rejects  bool
	used     map[string]int // number of uses of each template
	patterns []string
}

func (w *writer) chance(p float64) bool  { return w.rng.Float64() < p }
func (w *writer) between(lo, hi int) int { return lo + w.rng.IntN(hi-lo+1) }

func pickOne[T any](w *writer, list ...T) T { return list[w.rng.IntN(len(list))] }

func (w *writer) fresh(prefix string) string {
	w.names++
	return fmt.Sprint(prefix, w.names)
}

// ---- lines ----

var (
	forLine    = regexp.MustCompile(`^for \((\w+) in (.+?):(.+)\) \{$`)
	eachLine   = regexp.MustCompile(`^for \((\w+) in (\w+)\) \{$`)
	headLine   = regexp.MustCompile(`^(?:real|int|void|vector) \w+\(.*\) \{$`)
	realsOnly  = regexp.MustCompile(`^real (\w+)\(((?:real \w+(?:, )?)+)\) \{$`)
	realArg    = regexp.MustCompile(`[(,] ?real (\w+)`)
	realLine   = regexp.MustCompile(`^real (\w+)( = .*)?;$`)
	vectorLine = regexp.MustCompile(`^(vector|array|matrix)\[([^\]]+)\] (real )?(\w+)( = .*)?;$`)
	intLine    = regexp.MustCompile(`^int (\w+)( = .*)?;$`)
	assignLine = regexp.MustCompile(`^(?:if \(.*\) )?(\w+) [-+*/]?= `)
	upTo       = regexp.MustCompile(`^([NTJK])( - (\d+))?$`)
	beyond     = regexp.MustCompile(`^([NTJK]) \+ (\d+)$`)
	lengthOf   = regexp.MustCompile(`^[lb]([NTJK])([NTJK])\[`)
)

func (w *writer) indent() int { return len(w.blocks) }

// put writes a line, and records what it declares, assigns and opens or closes.
func (w *writer) put(line string) {
	line = strings.TrimSpace(line)
	if line == "" {
		return
	}
	if strings.HasPrefix(line, "}") {
		w.pop()
	}
	w.write(line)
}

// write is put for a line that does not end a block, or whose block has already been left.
func (w *writer) write(line string) {
	w.work += w.cost
	w.lines = append(w.lines, strings.Repeat("  ", w.indent())+line)
	if strings.HasSuffix(line, "{") {
		w.push(line)
		return
	}
	if i := strings.Index(line, " // step"); i >= 0 {
		line = line[:i]
	}
	depth := len(w.blocks) + 1
	switch {
	case realLine.MatchString(line):
		m := realLine.FindStringSubmatch(line)
		e := entry{name: m[1], kind: realEntry}
		if m[2] != "" {
			e.ready = depth
		}
		w.scope = append(w.scope, e)
	case intLine.MatchString(line):
		w.scope = append(w.scope, entry{name: intLine.FindStringSubmatch(line)[1], kind: intEntry, fixed: true, ready: depth})
	case vectorLine.MatchString(line):
		m := vectorLine.FindStringSubmatch(line)
		if m[1] == "array" && m[3] == "" || m[1] == "matrix" || upTo.FindStringSubmatch(m[2]) == nil {
			return
		}
		e := entry{name: m[4], kind: vectorEntry, size: m[2]}
		if m[5] != "" {
			e.ready = depth
		}
		w.scope = append(w.scope, e)
	case assignLine.MatchString(line):
		name := assignLine.FindStringSubmatch(line)[1]
		if strings.HasPrefix(line, "if (") {
			return
		}
		if e := w.find(name); e != nil && e.ready == 0 {
			e.ready = depth
		}
	}
}

func (w *writer) find(name string) *entry {
	for i := len(w.scope) - 1; i >= 0; i-- {
		if w.scope[i].name == name {
			return &w.scope[i]
		}
	}
	return nil
}

func (w *writer) push(line string) {
	b := block{scope: len(w.scope), cost: w.cost}
	switch {
	case forLine.MatchString(line):
		b.loop = true
		m := forLine.FindStringSubmatch(line)
		if inner, ok := strings.CutPrefix(m[3], "("); ok {
			m[3] = strings.TrimSuffix(inner, ")")
		}
		w.cost *= w.trips(m[2], m[3])
		e := entry{name: m[1], kind: indexEntry, ready: 1, fixed: true}
		lo, err := strconv.Atoi(m[2])
		hi := upTo.FindStringSubmatch(m[3])
		if err == nil && lo >= 1 && hi != nil {
			e.lo, e.size = lo, hi[1]
			e.below, _ = strconv.Atoi(hi[3])
		} else {
			e.kind = intEntry
		}
		w.scope = append(w.scope, e)
	case eachLine.MatchString(line):
		b.loop = true
		m := eachLine.FindStringSubmatch(line)
		w.cost *= 8
		if m[1][0] == 'r' {
			w.scope = append(w.scope, entry{name: m[1], kind: realEntry, ready: 1, fixed: true})
		}
	case headLine.MatchString(line):
		for _, m := range realArg.FindAllStringSubmatch(line, -1) {
			w.scope = append(w.scope, entry{name: m[1], kind: realEntry, ready: 1, fixed: true})
		}
	case strings.HasPrefix(line, "while"):
		b.loop, b.while = true, true
		w.cost *= 6
		// Other statements must not change the variables that end the loop.
		for _, name := range word.FindAllString(line, -1) {
			if e := w.find(name); e != nil {
				e.fixed = true
			}
		}
	}
	w.blocks = append(w.blocks, b)
}

func (w *writer) pop() {
	b := w.blocks[len(w.blocks)-1]
	w.blocks = w.blocks[:len(w.blocks)-1]
	w.scope, w.cost = w.scope[:b.scope], b.cost
	for i := range w.scope {
		if w.scope[i].ready > len(w.blocks)+1 {
			w.scope[i].ready = 0
		}
	}
}

// trips estimates the number of iterations of a loop.
func (w *writer) trips(from, to string) int {
	value := func(s string) (int, bool) {
		if n, err := strconv.Atoi(s); err == nil {
			return n, true
		}
		if m := upTo.FindStringSubmatch(s); m != nil {
			k, _ := strconv.Atoi(m[3])
			return w.sizes[m[1]] - k, true
		}
		if m := beyond.FindStringSubmatch(s); m != nil {
			k, _ := strconv.Atoi(m[2])
			return w.sizes[m[1]] + k, true
		}
		return 0, false
	}
	lo, ok1 := value(from)
	hi, ok2 := value(to)
	switch m := lengthOf.FindStringSubmatch(to); {
	case ok1 && ok2:
		return max(hi-lo+1, 1)
	case m != nil:
		return w.sizes[m[2]]/max(w.sizes[m[1]], 1) + 1
	}
	for _, s := range []string{from, to} {
		for _, e := range w.scope {
			if e.kind == indexEntry && strings.Contains(s, e.name) {
				return w.sizes[e.size]/2 + 1
			}
		}
	}
	return 5
}

// ---- copies of templates ----

// copy is a template that is being written into the program.
type copy struct {
	w     *writer
	names map[string]string
	size  map[byte]string // the names of the sizes that replace @N, @K and @M
}

// snapshot is a saved state of the writer; restore returns to it.
type snapshot struct {
	lines, funcs, helpers, scope, blocks, patterns, work, cost int
	saved                                                      []entry
}

func (w *writer) snapshot() snapshot {
	return snapshot{len(w.lines), len(w.funcs), len(w.helpers), len(w.scope), len(w.blocks), len(w.patterns), w.work, w.cost, append([]entry{}, w.scope...)}
}

func (w *writer) restore(s snapshot) {
	w.lines, w.funcs, w.patterns = w.lines[:s.lines], w.funcs[:s.funcs], w.patterns[:s.patterns]
	w.scope, w.blocks = append(w.scope[:0], s.saved...), w.blocks[:s.blocks]
	w.work, w.cost, w.helpers = s.work, s.cost, w.helpers[:s.helpers]
}

// insert writes a copy of a template, unless the program would then execute too many statements.
func (w *writer) insert(t *template) bool {
	if strings.Contains(t.kinds, "l") && !w.inLoop() || strings.Contains(t.kinds, "p") && w.data || strings.Contains(t.kinds, "t") && w.sink != "target" {
		return false
	}
	before := w.snapshot()
	c := &copy{w: w, names: map[string]string{}, size: map[byte]string{}}
	c.chooseSizes()
	w.patterns = append(w.patterns, t.name)
	if t.funcs != "" {
		c.functions(t.funcs)
	}
	w.depth++
	for _, line := range strings.Split(strings.TrimSpace(t.text), "\n") {
		c.line(strings.TrimSpace(line))
		if w.work > w.limit {
			break
		}
	}
	w.depth--
	if w.work > w.limit || w.data && w.mentionsParameters(before.lines) {
		w.restore(before)
		return false
	}
	return true
}

// mentionsParameters reports whether the lines written since line from mention parameters.
func (w *writer) mentionsParameters(from int) bool {
	for _, name := range mentioned(strings.Join(w.lines[from:], "\n")) {
		if f, _, _ := familyOf(name); f.param {
			return true
		}
	}
	return false
}

// chooseSizes draws the names of the sizes of this copy, mostly different ones. Loops over them
// must not be too long.
func (c *copy) chooseSizes() {
	w, room := c.w, 4*(c.w.limit-c.w.work)/5
	names := []string{"N", "T", "J", "K"}
	w.rng.Shuffle(4, func(i, j int) { names[i], names[j] = names[j], names[i] })
	if w.chance(0.5) && w.depth == 0 { // prefer the longest
		for i := range names {
			if w.sizes[names[i]] > w.sizes[names[0]] {
				names[0], names[i] = names[i], names[0]
			}
		}
	}
	c.size['N'], c.size['K'], c.size['M'] = names[0], names[1], names[2]
	if 3*w.cost*w.sizes[names[0]] > room { // the first is too long: use the shortest
		for i := range names {
			if w.sizes[names[i]] < w.sizes[names[0]] {
				names[0], names[i] = names[i], names[0]
			}
		}
		c.size['N'], c.size['K'], c.size['M'] = names[0], names[1], names[2]
	}
	if w.chance(0.1) {
		c.size['K'] = c.size['N']
	}
}

// functions writes the user functions of a template.
func (c *copy) functions(text string) {
	w := c.w
	outer := *w
	w.lines, w.scope, w.blocks, w.cost, w.limit, w.data, w.bare = nil, nil, nil, 1, 1<<30, false, true
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		c.line(strings.TrimSpace(line))
	}
	outer.funcs = append(outer.funcs, w.lines...)
	for _, line := range w.lines {
		if m := realsOnly.FindStringSubmatch(line); m != nil {
			outer.helpers = append(outer.helpers, helper{m[1], strings.Count(m[2], "real ")})
		}
	}
	outer.names, outer.used = w.names, w.used
	*w = outer
}

var dollar = regexp.MustCompile(`\$([a-z]+)`)

// name replaces holes that stand for names by fresh names of this copy.
func (c *copy) name(text string) string {
	return dollar.ReplaceAllStringFunc(text, func(s string) string {
		key := s[1:]
		if c.names[key] == "" {
			c.names[key] = c.w.fresh(key)
		}
		return c.names[key]
	})
}

// line writes a line of the template.
func (c *copy) line(line string) {
	w := c.w
	line = c.name(line)
	switch {
	case line == "@S":
		w.statements()
	case strings.HasPrefix(line, "@ready "):
		if e := w.find(strings.TrimSpace(line[7:])); e != nil {
			e.ready = len(w.blocks) + 1
		}
	case strings.HasPrefix(line, "@index "):
		f := strings.Fields(line)
		w.scope = append(w.scope, entry{name: f[1], kind: indexEntry, size: c.size[f[2][0]], lo: 1, ready: 1, fixed: true})
	case line == "@nojumps":
		if len(w.blocks) > 0 {
			w.blocks[len(w.blocks)-1].nojumps = true
		}
	// The condition of else if reads variables of the scope outside the block.
	case strings.HasPrefix(line, "}"):
		w.pop()
		w.write(c.expand(line))
	default:
		for _, l := range strings.Split(c.expand(line), "\n") {
			w.put(l)
		}
	}
}

// expand fills the holes of a text.
func (c *copy) expand(text string) string {
	w := c.w
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		switch ch := text[i]; ch {
		case 'N', 'K', 'M':
			out.WriteString(c.size[ch])
		case 'e':
			out.WriteString(w.expr(2, w.data))
		case 'E':
			out.WriteString(w.expr(3, w.data))
		case 'd':
			out.WriteString(w.expr(1, true))
		case 'p':
			out.WriteString(w.share())
		case '#':
			out.WriteString(literal(float64(w.between(1, 15)) / 10))
		case 'c':
			out.WriteString(w.cond(2, w.data || !w.busy))
		case 'o':
			out.WriteString(w.cond(2, true))
		case 'q':
			out.WriteString(w.cond(1, false))
		case 'r':
			i += len("return") - 1
			out.WriteString(w.leave())
		case '?':
			inner, n := braces(text[i+1:])
			i += n
			if w.chance(0.5) {
				out.WriteString(c.expand(inner))
			}
		case '{':
			inner, n := braces(text[i:])
			i += n - 1
			out.WriteString(c.expand(pickOne(w, alternatives(inner)...)))
		case 'T':
			inner, n := braces(text[i+1:])
			i += n
			out.WriteString(w.term(c.expand(inner)))
		case '+':
			if strings.HasPrefix(text[i:], "+={") {
				inner, n := braces(text[i+2:])
				i += n + 1
				out.WriteString(w.sink + " += " + c.expand(inner) + ";")
				break
			}
			out.WriteString(w.scale())
		default:
			panic("proggen: no such hole: " + text[i-1:])
		}
	}
	return out.String()
}

// braces returns the text between the braces that s begins with, and its length with the braces.
func braces(s string) (inner string, n int) {
	depth := 0
	for k := range s {
		switch s[k] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[1:k], k + 1
			}
		}
	}
	panic("proggen: a brace is not closed: " + s)
}

// alternatives divides a text at the bars that are outside brackets; " || " is an operator.
func alternatives(s string) []string {
	var out []string
	depth, from := 0, 0
	for k := 0; k < len(s); k++ {
		if strings.HasPrefix(s[k:], " || ") {
			k += 3
			continue
		}
		switch s[k] {
		case '{', '(', '[':
			depth++
		case '}', ')', ']':
			depth--
		case '|':
			if depth == 0 {
				out = append(out, s[from:k])
				from = k + 1
			}
		}
	}
	return append(out, s[from:])
}
