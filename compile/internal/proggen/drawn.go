package proggen

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// drawing is the state of NewStatements while it makes one program.
//
// It knows no ranges of values. Each index is made valid where it is written, as in 1 + abs(i) % N,
// so that indices, bounds and numbers of trips can be arbitrary expressions. Ints stay small
// because each assignment takes a remainder. Reals mostly stay small because each assignment
// applies a bounded function.
type drawing struct {
	counts []int // numbers of rows to choose from; nil: small ones
	page
	data map[string]any

	vars     []container // variables in scope, the innermost last
	routines []routine
	rows     []string   // the loop variables of the enclosing loops over rows
	sink     string     // variable that terms are added to; "": none
	result   *container // type of the result of the function being written; nil: none
	loops    int        // number of enclosing loops that a jump may leave
	cost     int        // product of the numbers of iterations of the enclosing loops
	depth    int        // nesting depth of blocks
	taste
}

// taste decides which kinds of statements and variables are frequent in a program. The compiler has
// fast evaluators for loops with few kinds of statements, and programs with all kinds would never
// reach them.
type taste struct {
	small   bool     // one loop over rows, with simple statements
	wild    bool     // NaN, infinities and rejections occur
	plain   bool     // terms are plain numbers instead of densities
	shapes  []int    // kinds of variables, as rows of drawnShapes
	sizes   []string // of small containers
	length  int      // maximum number of statements of a body
	deepest int      // maximum depth of operators in an expression
	often   struct{ branch, short, while, jump, leave, declare, term int }
}

func (d *drawing) drawTaste() {
	t := &d.taste
	t.small, t.wild, t.plain = d.chance(0.6), d.chance(0.15), d.chance(0.5)
	for range among(d, 1, 2, 2, 3, 3, 5, 9) {
		t.shapes = append(t.shapes, d.weighed())
	}
	for range d.between(1, 3) {
		t.sizes = append(t.sizes, among(d, "1", "1", "2", "3", "3", "4", "7"))
	}
	t.length, t.deepest = among(d, 1, 2, 2, 3, 4), among(d, 0, 1, 1, 2)
	for _, w := range []*int{&t.often.branch, &t.often.short, &t.often.while, &t.often.jump, &t.often.leave, &t.often.declare, &t.often.term} {
		*w = among(d, 0, 3, 6, 10, 20)
	}
	if t.small {
		t.length, t.deepest, t.plain = among(d, 1, 2, 2, 3), among(d, 0, 0, 1), d.chance(0.8)
		t.shapes = t.shapes[:min(3, len(t.shapes))]
		*among(d, &t.often.while, &t.often.while, &t.often.short, &t.often.branch) += 30
	}
}

// weighed draws a row of drawnShapes.
func (d *drawing) weighed() int {
	total := 0
	for _, s := range drawnShapes {
		total += s.weight
	}
	at := d.below(total)
	for i, s := range drawnShapes {
		if at -= s.weight; at < 0 {
			return i
		}
	}
	return 0
}

// container is a variable: an array of scalars, vectors or matrices.
type container struct {
	name   string
	kind   kind
	arrays int      // number of sizes that are array dimensions
	size   []string // N, K or a literal, for each dimension
	fixed  bool     // must not be assigned
	known  bool     // does not depend on parameters
}

// routine is a user function that statements may call.
type routine struct {
	name   string
	style  style
	args   []container
	result container
	cost   int
}

// maxTrips is the maximum number of iterations of nested loops together, maxDepth that of nested
// blocks. After maxLines lines, loops contain no further loops and conditionals.
const (
	maxTrips = 2500
	maxDepth = 7
	maxLines = 160
)

// NewStatements makes the program of a seed. Its statements are drawn one by one, in every block:
// loops whose bodies compute ints, write elements at computed indices, jump and return.
func NewStatements(seed uint64) Program { return newStatements(seed, nil) }

// newStatements is NewStatements with a number of rows drawn from rows. If rows is nil, the number
// is small.
func newStatements(seed uint64, rows []int) Program {
	d := &drawing{page: newPage(seed, 0xd1342543de82ef95), data: map[string]any{}, cost: 1, counts: rows}
	d.drawTaste()
	d.values()
	d.program()
	values, err := json.Marshal(d.data)
	if err != nil {
		panic(err) // cannot fail: values are numbers
	}
	return Program{Seed: seed, Text: d.text(), Data: string(values)}
}

// rowCounts are the values of N to draw from. Vectors of machine code have 2, 4 or 8 numbers, so
// there are values around multiples of 8.
var rowCounts = []int{1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 17, 17, 18, 19, 24, 33, 65}

// values generates the data: random, sorted, constant, in blocks, or 0.
func (d *drawing) values() {
	n, k := one(d, rowCounts), among(d, 1, 2, 3, 5)
	if d.small && n < 7 {
		n = one(d, rowCounts)
	}
	if d.small && d.chance(0.06) {
		n = among(d, 129, 257, 515) // more than a strip of machine code takes
	}
	if d.counts != nil {
		n = one(d, d.counts)
	}
	d.data["N"], d.data["K"] = n, k
	y := [2][]float64{make([]float64, n), make([]float64, n)}
	ints := [4][]int{make([]int, n), make([]int, n), make([]int, n), make([]int, n)}
	matrix := make([][3]float64, n)
	real := func() float64 { return math.Round(d.rng.NormFloat64()*100) / 100 }
	for i := range n {
		y[0][i], y[1][i] = real(), real()
		ints[0][i], ints[1][i], ints[2][i], ints[3][i] = d.between(0, 6), d.between(1, k), d.between(0, 1), d.between(1, n)
		matrix[i] = [3]float64{real(), real(), real()}
	}
	switch d.below(7) {
	case 0:
		for i := range 2 {
			slices.Sort(y[i])
		}
		for i := range ints {
			slices.Sort(ints[i])
		}
	case 1:
		for i := range n {
			y[0][i], y[1][i], matrix[i] = y[0][0], y[1][0], matrix[0]
			for j := range ints {
				ints[j][i] = ints[j][0]
			}
		}
	case 2:
		for i := range n {
			y[0][i], y[1][i], matrix[i] = y[0][i-i%4], y[1][i-i%4], matrix[i-i%4]
			for j := range ints {
				ints[j][i] = ints[j][i-i%4]
			}
		}
	case 3:
		y[0], ints[0], ints[2] = make([]float64, n), make([]int, n), make([]int, n)
	}
	d.data["y"], d.data["x"], d.data["X"] = y[0], y[1], matrix
	d.data["k"], d.data["g"], d.data["b"], d.data["L"] = ints[0], ints[1], ints[2], ints[3]
	// The rows of group j are from[j] to to[j].
	from, to := make([]int, k), make([]int, k)
	for i := range k {
		from[i] = d.between(1, n)
		to[i] = min(n, from[i]+d.between(-1, 4))
	}
	d.data["from"], d.data["to"] = from, to
	// Arguments for the jobs of map_rect.
	xr, xi := make([][3]float64, k), make([][3]int, k)
	for i := range k {
		xr[i], xi[i] = [3]float64{real(), real(), real()}, [3]int{d.between(0, 4), d.between(-3, 3), d.between(1, 3)}
	}
	d.data["xr"], d.data["xi"] = xr, xi
}

// given lists the variables of the data block, drawnParameters those of the parameters block.
var given = []container{
	{name: "N"}, {name: "K"},
	{name: "y", kind: vectors, size: []string{"N"}},
	{name: "x", kind: vectors, size: []string{"N"}},
	{name: "X", kind: matrices, size: []string{"N", "3"}},
	{name: "k", arrays: 1, size: []string{"N"}},
	{name: "g", arrays: 1, size: []string{"N"}},
	{name: "b", arrays: 1, size: []string{"N"}},
	{name: "L", arrays: 1, size: []string{"N"}},
	{name: "from", arrays: 1, size: []string{"K"}},
	{name: "to", arrays: 1, size: []string{"K"}},
	{name: "xr", kind: reals, arrays: 2, size: []string{"K", "3"}},
	{name: "xi", arrays: 2, size: []string{"K", "3"}},
}

var drawnParameters = []container{
	{name: "a", kind: reals},
	{name: "s", kind: reals},
	{name: "e", kind: vectors, size: []string{"N"}},
	{name: "z", kind: vectors, size: []string{"K"}},
	{name: "w", kind: vectors, arrays: 1, size: []string{"K", "3"}},
}

// program writes the whole program.
func (d *drawing) program() {
	parts := 1.0 // factor for the probability of each block other than model
	if d.small {
		parts = 0.2
	}
	if d.chance(0.5 * parts) {
		d.open("functions {")
		for range d.between(1, d.length) {
			d.function()
		}
		d.close()
	}
	d.open("data {")
	for _, p := range given {
		p.fixed, p.known = true, true
		d.line("%s;", d.declared(p))
		d.vars = append(d.vars, p)
	}
	d.close()
	if d.chance(0.25 * parts) {
		d.block("transformed data {", 0.5)
	}
	d.open("parameters {")
	for _, p := range drawnParameters {
		p.fixed = true
		d.line("%s;", strings.Replace(d.declared(p), "real s", "real<lower=0> s", 1))
		d.vars = append(d.vars, p)
	}
	d.close()
	if d.chance(0.3 * parts) {
		d.block("transformed parameters {", 0.8)
	}
	d.open("model {")
	d.sink = "target"
	for _, p := range drawnParameters {
		switch {
		case p.name == "s":
			d.line("s ~ lognormal(0, 1);")
		case p.arrays > 0:
			d.line("for (i in 1:%s) %s[i] ~ std_normal();", p.size[0], p.name)
		default:
			d.line("%s ~ std_normal();", p.name)
		}
	}
	for range among(d, 1, 1, 1, 1, 2) {
		d.inScope(func() { d.region() })
	}
	d.sink = ""
	d.close()
	if d.chance(0.2 * parts) {
		d.block("generated quantities {", 0.8)
	}
}

// block writes a block that declares variables and fills them in loops. In transformed data, a
// variable drawn as an int becomes a real with probability real; in other blocks it always does.
func (d *drawing) block(head string, real float64) {
	d.open("%s", head)
	mark := len(d.vars)
	for range d.between(1, 3) {
		p := d.newPlace()
		if p.kind == ints && !d.chance(1-real) {
			p.kind = reals
		}
		if head != "transformed data {" && p.kind == ints {
			p.kind = reals
		}
		p.known = head == "transformed data {"
		d.line("%s = %s;", d.declared(p), d.value(p, 1))
		d.vars = append(d.vars, p)
	}
	d.rowLoop()
	if d.chance(0.4) {
		d.rowLoop()
	}
	for i := range d.vars[mark:] {
		d.vars[mark+i].fixed = true
	}
	d.close()
}

// inScope runs f, and then removes from the scope what f declared.
func (d *drawing) inScope(f func()) {
	vars, rows := len(d.vars), len(d.rows)
	f()
	d.vars, d.rows = d.vars[:vars], d.rows[:rows]
}

func (d *drawing) open(format string, args ...any) {
	d.line(format, args...)
	d.indent++
	d.depth++
}

func (d *drawing) close() {
	d.indent--
	d.depth--
	d.line("}")
}

// otherwise ends a branch and begins the next.
func (d *drawing) otherwise(head string) {
	d.indent--
	d.line("} %s", head)
	d.indent++
}

// number returns the value of a size.
func (d *drawing) number(size string) int {
	if n, ok := d.data[size].(int); ok {
		return n
	}
	var n int
	fmt.Sscan(size, &n)
	return n
}

// region writes variables, loops over rows that read and change them, and terms that use their
// final values.
func (d *drawing) region() {
	d.open("{")
	mark := len(d.vars)
	loops, lines := among(d, 1, 1, 1, 1, 2), 0.3
	if d.small {
		loops, lines = among(d, 1, 1, 2), 0.05
	}
	if !d.small || d.chance(0.3) {
		for range d.between(0, d.length) {
			d.declare(d.newPlace())
		}
	}
	for range loops {
		if d.chance(lines) {
			d.vectorised()
		}
		d.rowLoop()
	}
	if d.chance(lines) {
		d.vectorised()
	}
	if d.chance(0.6) {
		d.summed()
	}
	for _, p := range d.vars[mark:] {
		if !p.fixed {
			d.add(d.bounded(d.reduced(p)))
		}
	}
	d.close()
}

// rowBody writes the body of a loop over rows.
func (d *drawing) rowBody() {
	mark := len(d.vars)
	for range d.between(0, d.length) {
		d.declare(d.newPlace())
	}
	d.statements(d.between(1, d.length+1))
	if d.chance(0.8) {
		d.term()
	}
	if d.chance(0.25) {
		d.call()
	}
	d.use(d.vars[mark:])
}

// use makes the result of the program depend on variables that go out of scope. It adds terms with
// them, or assigns to a variable that stays in scope.
func (d *drawing) use(list []container) {
	for _, p := range list {
		if p.fixed || d.chance(0.3) {
			continue
		}
		if d.sink != "" {
			d.add(d.bounded(d.reduced(p)))
		} else if kept := d.some(func(q *container) bool {
			return !q.fixed && q.kind == reals && !slices.ContainsFunc(list, func(l container) bool { return l.name == q.name })
		}); kept != nil {
			at := d.element(kept, 1)
			d.line("%s = 0.7 * %s + %s;", at, at, d.bounded(d.reduced(p)))
		}
	}
}

// rowLoop writes a loop over rows.
func (d *drawing) rowLoop() {
	n := d.name("n")
	cost, loops, opened := d.cost, d.loops, 1
	trips := d.chance(0.15) // write it as a while loop
	d.cost *= d.number("N")
	d.loops++
	d.inScope(func() {
		switch {
		case trips: // a jump may skip the increment, so a second counter ends the loop
			fuel := d.name("f")
			d.open("{")
			d.line("int %s = 1;", n)
			d.line("int %s = 0;", fuel)
			d.open("while (%s <= N && %s < %d) {", n, fuel, d.number("N")+5)
			d.line("%s += 1;%s", fuel, step)
			opened++
		case d.chance(0.1): // over the rows of each group
			j := d.name("j")
			d.open("for (%s in 1:K) {", j)
			d.vars = append(d.vars, container{name: j, fixed: true, known: true})
			d.open("for (%s in from[%s]:to[%s]) {", n, j, j)
			opened++
		case d.chance(0.1):
			d.open("for (%s in L) {", n)
		default:
			d.open("for (%s in %s) {", n, among(d, "1:N", "1:N", "1:N", "1:N", "2:N", "1:(N - 1)"))
		}
		d.vars = append(d.vars, container{name: n, fixed: true, known: true})
		d.rows = append(d.rows, n, n)
		if d.chance(0.3) {
			d.rows = append(d.rows, fmt.Sprintf(among(d, "max(1, %s - 1)", "max(1, %s - 2)", "(N - %s + 1)", "min(N, %s + 1)"), n))
		}
		d.inScope(d.rowBody)
		if trips {
			d.line("%s += %s;%s", n, among(d, "1", "1", "1 + b["+n+"]", "1 + k["+n+"] % 2"), step)
		}
		for range opened {
			d.close()
		}
	})
	d.cost, d.loops = cost, loops
}
