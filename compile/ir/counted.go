package ir

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file finds while loops that count:
//
//	while (t <= T) { …; t += 2; … }
//
// Each is also lowered to a loop whose iterations are known when it begins, so that they can be
// evaluated in lanes or as a scan:
//
//	for (k in 0:((T - t + 2) / 2 - 1)) { t = start + 2 * k; …; t += 2; … }
//
// The counter keeps its value after the loop. A recurrence of 1600 steps takes 72 µs as a while
// loop, whose iterations are evaluated one by one, and 7.5 µs in the second form.

// counted returns the second form of a while loop, or nil if the loop does not count.
func (l *lowerer) counted(s *While) *Block {
	body, ok := s.Body.(*Block)
	if !ok {
		body = &Block{Pos: Pos{s.Body.Span()}, Stmts: []Stmt{s.Body}}
	}
	cond, ok := s.Cond.(*Call)
	if !ok || len(cond.Args) != 2 {
		return nil
	}
	for side, swapped := range []bool{false, true} {
		number, ok := cond.Args[side].(*VarRef)
		if !ok || !number.Ty.Equal(types.IntType) || number.Var.Global {
			continue
		}
		c := counter{v: number.Var, bound: cond.Args[1-side]}
		if c.compares(cond.Name, swapped) && c.steps(body) {
			return l.counting(s, body, c)
		}
	}
	return nil
}

// counter is the variable by which a while loop counts.
type counter struct {
	v      *Var
	bound  Expr
	up     bool // the loop goes on while v is below the bound, otherwise while it is above
	strict bool // not while v equals the bound
	step   int64
}

// compares reports whether the operator compares the counter with its bound. If it is swapped, the
// bound comes first.
func (c *counter) compares(operator string, swapped bool) bool {
	switch operator {
	case "operator<":
		c.up, c.strict = !swapped, true
	case "operator<=":
		c.up = !swapped
	case "operator>":
		c.up, c.strict = swapped, true
	case "operator>=":
		c.up = swapped
	default:
		return false
	}
	return true
}

// steps reports whether each iteration that goes on adds the same number, other than 0, to the
// counter, and nothing else changes the counter or its bound.
func (c *counter) steps(body *Block) bool {
	assigned := map[*Var]int{}
	for s := range Stmts(body) {
		switch s := s.(type) {
		case *Assign:
			assigned[s.Var]++
		case *Unpack:
			for _, v := range s.Vars {
				assigned[v]++
			}
		}
	}
	if assigned[c.v] != 1 || draws(body) {
		return false
	}
	at := slices.IndexFunc(body.Stmts, func(s Stmt) bool {
		a, ok := s.(*Assign)
		return ok && a.Var == c.v
	})
	if at < 0 || slices.ContainsFunc(body.Stmts[:at], continues) {
		return false
	}
	c.step = increment(body.Stmts[at].(*Assign))
	if c.step == 0 || c.up != (c.step > 0) {
		return false
	}
	same := true
	Inspect(c.bound, func(n Node) bool {
		switch n := n.(type) {
		case *IntLit, *IndexExpr:
		case *VarRef:
			same = same && assigned[n.Var] == 0
		case *Call:
			same = same && slices.Contains([]string{"operator+", "operator-", "operator*", "min", "max", "size", "rows", "cols", "num_elements"}, n.Name)
		default:
			same = false
		}
		return same
	})
	return same
}

// maxStep is the largest step of a counter; larger ones are left to the while loop.
const maxStep = 1 << 16

// increment returns the number that an assignment to a counter adds to it; 0 for other assignments.
func increment(a *Assign) int64 {
	if len(a.Indices) > 0 {
		return 0
	}
	var d linear
	switch {
	case a.Op == "+" && d.add(a.Value, 1), a.Op == "-" && d.add(a.Value, -1):
	case a.Op == "" && d.add(a.Value, 1):
		d.put(a.Var, -1)
	default:
		return 0
	}
	if n, ok := d.number(); ok && n <= maxStep && n >= -maxStep {
		return n
	}
	return 0
}

// draws reports whether a statement draws random numbers, which while loops do in order.
func draws(s Stmt) bool {
	found := false
	Inspect(s, func(n Node) bool {
		switch n := n.(type) {
		case *Call:
			found = found || strings.HasSuffix(n.Name, "_rng")
		case *UserCall:
			found = found || strings.HasSuffix(n.Func.Name, "_rng")
		}
		return !found
	})
	return found
}

// continues reports whether a statement may continue the loop around it.
func continues(s Stmt) bool {
	switch s.(type) {
	case *Continue:
		return true
	case *For, *ForEach, *While:
		return false
	}
	for t := range Inner(s) {
		if continues(t) {
			return true
		}
	}
	return false
}

// counting returns the second form of a while loop with its counter.
func (l *lowerer) counting(s *While, body *Block, c counter) *Block {
	at := s.Span()
	number := func(v *Var) Expr { return &VarRef{Typed: leaf(at, types.IntType, v.Level), Var: v} }
	lit := func(n int64) Expr { return &IntLit{leaf(at, types.IntType, Data), n} }
	local := func(name string, loop bool) *Var {
		*l.frame++
		return &Var{ID: *l.frame - 1, Name: name, Type: types.IntType, Block: ast.Functions, Loop: loop, Level: c.v.Level, Span: at}
	}
	k := local(c.v.Name, true)
	loop := &For{Pos: s.Pos, Var: k}
	count := func(value Expr) {
		loop.Body = &Block{Pos: body.Pos, Stmts: append([]Stmt{&Assign{Pos: s.Pos, Var: c.v, Value: value}}, body.Stmts...)}
		loop.Accumulated = l.accumulated(loop.Body)
	}
	if c.step == 1 { // without sums that might overflow
		loop.From, loop.To = number(c.v), c.bound
		if c.strict {
			loop.To = l.library("operator-", c.bound, lit(1))
		}
		count(number(k))
		return &Block{Pos: s.Pos, Stmts: []Stmt{loop}}
	}
	// There are (distance + size) / size iterations, or one less if the loop ends at the bound.
	start, size := local(c.v.Name, false), max(c.step, -c.step)
	distance := l.library("operator-", c.bound, number(c.v))
	if c.step < 0 {
		distance = l.library("operator-", number(c.v), c.bound)
	}
	room := size
	if c.strict {
		room--
	}
	loop.From = lit(0)
	loop.To = l.library("operator-", l.library("operator%/%", l.library("operator+", distance, lit(room)), lit(size)), lit(1))
	count(l.library("operator+", number(start), l.library("operator*", lit(c.step), number(k))))
	return &Block{Pos: s.Pos, Stmts: []Stmt{&Unpack{s.Pos, []*Var{start}, number(c.v)}, loop}}
}
