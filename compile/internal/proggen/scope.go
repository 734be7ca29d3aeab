package proggen

import "fmt"

// stage is the block that is being written.
type stage uint8

const (
	inFunction stage = iota
	inData           // transformed data
	inTransformed
	inModel
	inGenerated
)

// gen is the state of New while it makes one program.
type gen struct {
	page
	off  map[Feature]bool
	data map[string]any

	stage stage
	vars  []*variable
	funcs []*function
	fn    *function // the function being written; nil: none
	cost  int       // product of the iterations of the enclosing loops
	costs []int     // the values of cost outside each of the enclosing loops
	// number of statements that the program or function executes, as written so far
	work   int
	loops  int  // number of enclosing loops
	guards int  // number of enclosing conditionals in the current function or block
	jumped bool // a break or continue was written in the current loop
	// forbids break and continue, which would leave a variable unset or make a loop endless
	noJumps  bool
	dropping bool // in the arguments of a density that may drop constant terms
	depth    int  // nesting depth of blocks
}

// kind is the kind of a variable's elements.
type kind uint8

const (
	ints kind = iota
	reals
	vectors
	rows
	matrices
	complexes // only in programs of NewStatements
)

// size is a size: its text in the program, and its value.
type size struct {
	text string
	n    int
}

func lit(n int) size { return size{fmt.Sprint(n), n} }

// variable is a variable in scope.
type variable struct {
	name   string
	kind   kind
	typ    string  // the constrained type, or ""
	array  []size  // sizes of the array dimensions
	dims   []size  // sizes of the vector or matrix
	bound  float64 // bound of absolute values; ints have lo and hi instead
	lo, hi int
	ready  bool // every element has been assigned
	fixed  bool // must not be assigned: data, parameters, loop variables
	level  bool // its autodiff level: set if it may depend on parameters
	loop   bool
	pinned int // number of enclosing foreach loops over it
}

func (v *variable) all() []size { return append(append([]size{}, v.array...), v.dims...) }

func (v *variable) is(k kind, arrays int) bool { return v.kind == k && len(v.array) == arrays }

// on reports whether programs may contain a feature.
func (g *gen) on(f Feature) bool { return !g.off[f] }

// ---- text ----

func (g *gen) line(format string, args ...any) {
	g.work += g.cost
	g.page.line(format, args...)
}

func (g *gen) open(format string, args ...any) {
	g.line(format, args...)
	g.indent++
	g.depth++
}

func (g *gen) close() {
	g.indent--
	g.depth--
	g.line("}")
}

// ---- scopes ----

// mark is a state of the scope: which variables exist, and which of them have been assigned.
type mark struct {
	vars  int
	ready []bool
}

func (g *gen) mark() mark {
	m := mark{vars: len(g.vars)}
	for _, v := range g.vars {
		m.ready = append(m.ready, v.ready)
	}
	return m
}

// release removes what was declared since m. If keep is set, the statements since m are certain to
// run, so what they assigned stays assigned.
func (g *gen) release(m mark, keep bool) {
	g.vars = g.vars[:m.vars]
	if !keep {
		for i, v := range g.vars {
			v.ready = m.ready[i]
		}
	}
}

// freeze makes the variables of a finished block read-only, as the language demands.
func (g *gen) freeze() {
	for _, v := range g.vars {
		v.fixed = true
	}
}

func (g *gen) declare(v variable) *variable {
	g.vars = append(g.vars, &v)
	return &v
}

// find lists the readable variables that satisfy ok. Later ones, which are nearer, are listed
// twice, so that they are drawn more often.
func (g *gen) find(ok func(v *variable) bool) []*variable {
	var out []*variable
	for i, v := range g.vars {
		if v.ready && ok(v) {
			out = append(out, v)
			if i > len(g.vars)/2 || !v.fixed {
				out = append(out, v)
			}
		}
	}
	return out
}

// some draws a variable that satisfies ok; nil if there is none.
func (g *gen) some(ok func(v *variable) bool) *variable {
	if list := g.find(ok); len(list) > 0 {
		return one(g, list)
	}
	return nil
}
