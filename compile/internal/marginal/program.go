package marginal

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Error holds diagnostics about a program with discrete parameters.
type Error struct {
	List diag.List

	unchecked bool // the last terms of a sum do not show what follows them
}

// Error returns the first message.
func (e *Error) Error() string {
	if len(e.List) == 0 {
		return "the discrete parameters cannot be summed out"
	}
	return e.List[0].Summary
}

// unknown is a declared discrete parameter, or a variable of the data with missing elements.
type unknown struct {
	id      int
	name    string
	v       *check.Var
	decl    *ast.VarDecl
	shape   []int
	first   int   // the number of its first element
	least   int64 // the lowest bound of the elements
	counted bool  // it has no upper bound

	holes      *holes        // of data: which of the cells are elements; nil: all of them
	determined map[int]int64 // cells that data leave one value, with it; see determine
}

// cell returns the position of an element in the variable, in row-major order.
func (u *unknown) cell(e int) int {
	if u.holes != nil {
		return u.holes.cells[e-u.first]
	}
	return e - u.first
}

// at returns the element at a position or, if data have or determine it, its value.
func (u *unknown) at(cell int) (e int, value int64, ok bool) {
	if value, ok := u.determined[cell]; ok {
		return 0, value, false
	}
	if u.holes == nil {
		return u.first + cell, 0, true
	}
	if k := u.holes.element[cell]; k >= 0 {
		return u.first + k, 0, true
	}
	return 0, u.holes.values[cell], false
}

// element is one number of a discrete parameter.
type element struct {
	of     *unknown
	lo, hi int64
	cut    bool // larger values than hi are possible
}

func (e element) size() int64 { return e.hi - e.lo + 1 }

// program is a program being rewritten.
type program struct {
	tree   *ast.File
	info   *check.Info
	ir     *ir.Program
	nodes  *ir.Nodes
	known  *interp.Known
	budget *ad.Budget
	names  *names
	o      Options

	unknowns []*unknown
	byVar    map[*check.Var]*unknown
	elements []element
	taint    map[*check.Var]bool // discrete parameters, and the variables computed from them
	derived  []ast.Stmt          // the statements of transformed parameters
	fixed    map[*check.Var]bool // integers of the model block that data decide
	found    diag.List
	copies   map[ast.Node]*check.Var // what copied loops of the tree declare

	indicators map[string]bool    // indicators of components, see mixed
	turns      map[*unknown]turns // of counts
	raises     map[*unknown]int64 // data that may raise counts, see reach
	lasts      map[*unknown]int64 // the last values of counts before the overflow, see overflows
	tilts      map[*unknown]int64 // how much factors of them may rise, see tilt
	overflow   bool               // counts have an overflow

	decisions int // comparisons that selectors have evaluated

	defined map[*check.Var][]ast.Expr // see definitions
}

// def returns the variable that a node declares.
func (p *program) def(n ast.Node) *check.Var {
	if v := p.copies[n]; v != nil {
		return v
	}
	return p.info.Defs[n]
}

// Is reports whether a program has discrete parameters.
func Is(f *ast.File, info *check.Info) bool {
	for range Declared(f, info) {
		return true
	}
	return false
}

// Declared yields the declarations of discrete parameters, and of integers of the data that may be
// missing.
func Declared(f *ast.File, info *check.Info) func(func(*ast.VarDecl) bool) {
	return func(yield func(*ast.VarDecl) bool) {
		for _, k := range []ast.BlockKind{ast.Data, ast.Parameters} {
			b := f.Block(k)
			if b == nil {
				continue
			}
			for _, s := range b.Stmts {
				if d, ok := s.(*ast.VarDecl); ok && info.Defs[d].Discrete() && !yield(d) {
					return
				}
			}
		}
	}
}

func (p *program) errorf(code diag.Code, at source.Span, summary, detail, fix string, args ...any) error {
	d := diag.Errorf(code, at, summary, args...)
	d.Detail = detail
	d.Fix = fix
	return &Error{List: diag.List{d}}
}

// unchecked is errorf for a sum whose last terms do not show what follows them. Counts with
// overflows need not do so.
func (p *program) unchecked(at source.Span, summary, detail, fix string, args ...any) error {
	err := p.errorf(diag.DiscreteUse, at, summary, detail, fix, args...)
	err.(*Error).unchecked = !p.overflow
	return err
}

// bounded is the remedy where the sums over counts cannot be checked.
func bounded(names string) string {
	return "give " + names + " an upper bound that data decide, such as int<lower=0, upper=200>"
}

// refuse notes an error; the analysis goes on.
func (p *program) refuse(code diag.Code, at source.Span, summary, detail, fix string) {
	d := diag.Errorf(code, at, "%s", summary)
	d.Detail, d.Fix = detail, fix
	p.found = append(p.found, d)
}

func (p *program) involved(n ast.Node) bool { return mentions(p.info, p.taint, n) }

// tainted returns the discrete parameters and the variables that are computed from them.
// Observations count as such variables.
func tainted(f *ast.File, info *check.Info, observations []string) map[*check.Var]bool {
	set := map[*check.Var]bool{}
	for _, d := range observed(f, observations) {
		set[info.Defs[d]] = true
	}
	for d := range Declared(f, info) {
		set[info.Defs[d]] = true
	}
	for changed := true; changed; {
		changed = false
		mark := func(v *check.Var) {
			if v != nil && !set[v] {
				set[v], changed = true, true
			}
		}
		for _, b := range f.Blocks {
			if b.Kind != ast.TransformedParameters && b.Kind != ast.Model {
				continue
			}
			for _, s := range b.Stmts {
				spread(info, set, s, false, mark)
			}
		}
	}
	return set
}

// spread marks what a statement computes from variables of the set; under means that such a
// variable decides whether the statement runs.
func spread(info *check.Info, set map[*check.Var]bool, s ast.Stmt, under bool, mark func(*check.Var)) {
	switch s := s.(type) {
	case *ast.VarDecl:
		if s.Init != nil && mentions(info, set, s.Init) {
			mark(info.Defs[s])
		}
	case *ast.Assign:
		if under || mentions(info, set, s.RHS) || indexed(info, set, s.LHS) {
			for v := range ast.Targets(s.LHS) {
				mark(info.Uses[v])
			}
		}
	case *ast.For:
		over := mentions(info, set, s.From) || mentions(info, set, s.To)
		if over {
			mark(info.Defs[s])
		}
		spread(info, set, s.Body, under || over, mark)
	case *ast.ForEach:
		over := mentions(info, set, s.Over)
		if over {
			mark(info.Defs[s])
		}
		spread(info, set, s.Body, under || over, mark)
	case *ast.While:
		spread(info, set, s.Body, under || mentions(info, set, s.Cond), mark)
	case *ast.If:
		over := under || mentions(info, set, s.Cond)
		spread(info, set, s.Then, over, mark)
		if s.Else != nil {
			spread(info, set, s.Else, over, mark)
		}
	case *ast.BlockStmt:
		for _, t := range s.Stmts {
			spread(info, set, t, under, mark)
		}
	case *ast.Profile:
		spread(info, set, s.Body, under, mark)
	}
}

// indexed reports whether an index of the left side of an assignment mentions a variable of the
// set.
func indexed(info *check.Info, set map[*check.Var]bool, lhs ast.Expr) bool {
	found := false
	ast.Inspect(lhs, func(n ast.Node) bool {
		if i, ok := n.(ast.Index); ok && mentions(info, set, i) {
			found = true
		}
		return !found
	}, nil)
	return found
}

// unknownsOf evaluates the sizes and bounds of the discrete parameters.
func (p *program) unknownsOf() error {
	t := p.tracer()
	p.byVar = map[*check.Var]*unknown{}
	for d := range Declared(p.tree, p.info) {
		u := &unknown{id: len(p.unknowns), name: d.Name.Name, v: p.info.Defs[d], decl: d, first: len(p.elements)}
		n := 1
		for _, e := range d.Type.ArrayDims {
			size, ok, err := t.int(e)
			if err != nil {
				return err
			}
			if !ok {
				return p.errorf(diag.DiscreteParameter, e.Span(), "the size of a discrete parameter must be known before the run", "", "let data decide it")
			}
			if size < 0 {
				return p.errorf(diag.DiscreteParameter, e.Span(), "the size of `%s` is negative: %d", "", "", u.name, size)
			}
			u.shape = append(u.shape, int(size))
			if n *= int(size); n > maxInstances {
				return p.errorf(diag.DiscreteWidth, d.Name.Span(), "`%s` has more than %d elements", "", "", u.name, maxInstances)
			}
		}
		var lo, hi []int64
		for _, b := range d.Type.Bounds {
			if !b.Restricts() {
				continue
			}
			x, ok := t.known(b.Value)
			if !ok {
				return p.errorf(diag.DiscreteParameter, b.Span(), "the bounds of a discrete parameter must be known before the run", "", "let data decide them")
			}
			v, err := t.eval.Value(x)
			if err != nil {
				return t.failed(err)
			}
			ints := slices.Clone(v.Ints)
			if len(v.Shape) > 0 && !slices.Equal(v.Shape, u.shape) {
				return p.errorf(diag.DiscreteParameter, b.Span(), "the bound has another shape than `%s`", "", "", u.name)
			}
			if len(v.Shape) == 0 {
				ints = slices.Repeat(ints, n)
			} else {
				ints = rowMajor(ints, v.Shape)
			}
			if b.Kind == "lower" {
				lo = ints
			} else {
				hi = ints
			}
		}
		if u.counted = hi == nil; u.counted {
			hi = make([]int64, n)
			for i := range hi {
				hi[i] = lo[i] + provisional - 1
			}
		}
		cells := n
		if u.v.Missing {
			u.holes = p.holesOf(u)
			cells = len(u.holes.cells)
		}
		for k := range cells {
			i := k
			if u.holes != nil {
				i = u.holes.cells[k]
			}
			e := element{of: u, lo: lo[i], hi: hi[i], cut: u.counted}
			if e.size() < 1 {
				return p.errorf(diag.DiscreteParameter, d.Name.Span(), "`%s` has no value: its lower bound is %d and its upper bound is %d", "", "check the data that decide the bounds",
					p.nameOf(u, i), e.lo, e.hi)
			}
			if e.size() > maxTable {
				return p.errorf(diag.DiscreteWidth, d.Name.Span(), "`%s` has %d values, which are too many to sum over", "", "give it closer bounds",
					p.nameOf(u, i), e.size())
			}
			p.elements = append(p.elements, e)
		}
		u.least = math.MaxInt64
		for _, e := range p.elements[u.first:] {
			u.least = min(u.least, e.lo)
		}
		p.unknowns = append(p.unknowns, u)
		p.byVar[u.v] = u
	}
	return nil
}

// rowMajor returns the numbers of an array of ints in the order of its elements, last index
// fastest. It is the order in which interp keeps them.
func rowMajor(ints []int64, _ []int) []int64 { return ints }

// index returns the indices of a cell, from 1.
func (u *unknown) index(i int) []int64 {
	out := make([]int64, len(u.shape))
	for d := len(u.shape) - 1; d >= 0; d-- {
		out[d] = int64(i%u.shape[d]) + 1
		i /= u.shape[d]
	}
	return out
}

// nameOf returns the name of a cell, as in z[3].
func (p *program) nameOf(u *unknown, i int) string {
	if len(u.shape) == 0 {
		return u.name
	}
	s := u.name + "["
	for d, k := range u.index(i) {
		if d > 0 {
			s += ", "
		}
		s += fmt.Sprint(k)
	}
	return s + "]"
}

// name returns the name of an element by its number.
func (p *program) name(e int) string {
	u := p.elements[e].of
	return p.nameOf(u, u.cell(e))
}

// names makes names that a program does not have.
type names struct {
	used ast.Names
	made []string // in order
}

func namesOf(f *ast.File) *names { return &names{used: ast.NamesOf(f)} }

// fresh returns a new name that begins with stem.
func (n *names) fresh(stem string) string {
	name := n.used.New(stem)
	n.made = append(n.made, name)
	return name
}

// stem returns the beginning of names that the program does not have.
func (n *names) stem(s string) string {
	for {
		taken := false
		for name := range n.used {
			taken = taken || strings.HasPrefix(name, s)
		}
		if !taken {
			return s
		}
		s += "_"
	}
}

// mark returns a state of the names for release.
func (n *names) mark() int { return len(n.made) }

// release allows names made since a mark again: their scope has ended.
func (n *names) release(mark int) {
	for _, name := range n.made[mark:] {
		delete(n.used, name)
	}
	n.made = n.made[:mark]
}
