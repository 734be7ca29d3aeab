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

// gen is the state of one New.
type gen struct {
	page
	off  map[Feature]bool
	data map[string]any

	stage    stage
	vars     []*variable
	funcs    []*function
	fn       *function // being written
	cost     int       // product of the iterations of the enclosing loops
	costs    []int     // of the loops around
	work     int       // statements that the program or function being written executes
	loops    int       // around
	guards   int       // enclosing conditionals within the current function or block
	jumped   bool      // a break or continue was written in the current loop
	noJumps  bool      // break and continue would leave a variable unset or make a loop endless
	dropping bool      // in arguments of a density that drops terms
	depth    int       // of blocks
}

// kind of a variable's elements.
type kind uint8

const (
	ints kind = iota
	reals
	vectors
	rows
	matrices
	complexes // of NewStatements
)

// size is a size as written, and its value.
type size struct {
	text string
	n    int
}

func lit(n int) size { return size{fmt.Sprint(n), n} }

// variable is a variable in scope.
type variable struct {
	name   string
	kind   kind
	typ    string  // a constrained type, if not ""
	array  []size  // array dimensions
	dims   []size  // of a vector or matrix
	bound  float64 // bound of absolute values; for ints see lo and hi
	lo, hi int
	ready  bool // every element has been assigned
	fixed  bool // must not be assigned: data, parameters, loop variables
	level  bool // may depend on parameters
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

// mark records which variables are in scope, and which of them are assigned.
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

// release leaves a scope. If keep is set, its statements certainly run, so that variables that they
// assigned stay assigned.
func (g *gen) release(m mark, keep bool) {
	g.vars = g.vars[:m.vars]
	if !keep {
		for i, v := range g.vars {
			v.ready = m.ready[i]
		}
	}
}

// freeze makes the variables of a finished block read-only.
func (g *gen) freeze() {
	for _, v := range g.vars {
		v.fixed = true
	}
}

func (g *gen) declare(v variable) *variable {
	g.vars = append(g.vars, &v)
	return &v
}

// find lists the variables that can be read and satisfy ok; later ones, which
// are nearer, are twice as likely to be drawn.
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
