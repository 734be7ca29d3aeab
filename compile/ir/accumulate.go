package ir

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file handles loops that accumulate in an element of an array. In
//
//	x[t] = a;
//	for (q in 1:Q) x[t] += b[q] * x[t - q];
//
// the inner loop reads other elements of x than the one to which it adds. So the element can be
// replaced by a variable in the inner loop, which is then an ordinary sum:
//
//	real s = a;
//	for (q in 1:Q) s += b[q] * x[t - q];
//	x[t] = s;
//
// Binding tries the second form where the first one has no plan. A gradient of a moving average of
// 500 values and 5 coefficients takes 67 µs in the first form and 12 µs in the second one.

// Accumulated is the second form of a loop's body: local variables replace the elements in which
// inner loops accumulate. Its values and their rounding are those of the loop's Body.
type Accumulated struct{ Body Stmt }

// accumulated returns the second form of a loop's body, or nil if nothing changes.
func (l *lowerer) accumulated(body Stmt) *Accumulated {
	a := accumulation{frame: l.frame}
	out := a.stmt(body)
	if !a.changed {
		return nil
	}
	return &Accumulated{out}
}

// accumulation is the state of rewriting the statements of a body.
type accumulation struct {
	frame   *int
	changed bool
}

func (a *accumulation) stmt(s Stmt) Stmt {
	switch s := s.(type) {
	case *Block:
		out := &Block{s.Pos, make([]Stmt, 0, len(s.Stmts))}
		for i := 0; i < len(s.Stmts); i++ {
			if i+1 < len(s.Stmts) {
				if three := a.pair(s.Stmts[i], s.Stmts[i+1]); three != nil {
					out.Stmts = append(out.Stmts, three...)
					i++
					continue
				}
			}
			out.Stmts = append(out.Stmts, a.stmt(s.Stmts[i]))
		}
		return out
	case *For:
		c := *s
		c.Body, c.Accumulated = a.stmt(s.Body), nil
		return &c
	case *If:
		c := *s
		c.Then = a.stmt(s.Then)
		if s.Else != nil {
			c.Else = a.stmt(s.Else)
		}
		return &c
	}
	return s
}

// pair rewrites an assignment to an element and the loop after it that accumulates in the element.
// The result is nil if the two statements are not of that form.
func (a *accumulation) pair(first, second Stmt) []Stmt {
	start, ok := first.(*Assign)
	loop, isLoop := second.(*For)
	if !ok || !isLoop || start.Op != "" || len(start.Indices) == 0 || !allSingle(start.Indices) {
		return nil
	}
	v := start.Var
	if !start.Value.Type().Equal(types.RealType) || start.indexed() {
		return nil
	}
	in := accumulator{start: start, loops: map[*Var]*For{}, declared: map[*Var]bool{}}
	if !in.fits(loop) {
		return nil
	}
	at := start.Span()
	sum := &Var{ID: *a.frame, Name: v.Name, Type: types.RealType, Block: ast.Functions, Level: v.Level, Span: at}
	*a.frame++
	a.changed = true
	return []Stmt{
		&Declare{Pos: start.Pos, Var: sum, Init: start.Value},
		in.rewritten(loop, sum),
		&Assign{Pos: start.Pos, Var: v, Indices: start.Indices, Value: &VarRef{Typed: leaf(at, types.RealType, v.Level), Var: sum}},
	}
}

// accumulator is a loop that may accumulate in the element to which start assigns.
type accumulator struct {
	start    *Assign
	loops    map[*Var]*For // for each loop variable in the loop, its loop
	declared map[*Var]bool
	assigned bool // some statement adds to the element
}

// fits reports whether the loop only adds to the element, assigns to no other element of the
// variable, and reads only other elements of it.
func (in *accumulator) fits(loop *For) bool {
	for s := range Stmts(loop) {
		switch s := s.(type) {
		case *For:
			in.loops[s.Var] = s
		case *Assign:
			if s.Var == in.start.Var {
				if s.Op == "" || !sameElement(s.Indices, in.start.Indices) || !s.Combine.Type().Equal(types.RealType) {
					return false
				}
				in.assigned = true
			}
			in.declared[s.Var] = true
		case *Declare:
			in.declared[s.Var] = true
		case *Unpack:
			for _, v := range s.Vars {
				in.declared[v] = true
			}
		case *Return, *While, *ForEach:
			return false
		}
	}
	if !in.assigned {
		return false
	}
	for _, ix := range in.start.Indices { // the indices must be the same in all iterations
		for v := range Vars(ix.A) {
			if in.declared[v] || in.loops[v] != nil {
				return false
			}
		}
	}
	ok := true
	Inspect(loop, func(n Node) bool {
		switch n := n.(type) {
		case *VarRef:
			ok = ok && n.Var != in.start.Var
		case *Call:
			if len(n.Args) != 1 {
				break
			}
			if _, isVar := n.Args[0].(*VarRef); isVar && slices.Contains([]string{"size", "rows", "cols", "num_elements"}, n.Name) {
				return false // it reads only a size, which assignments to elements do not change
			}
		case *IndexExpr:
			if v, isVar := n.X.(*VarRef); isVar && v.Var == in.start.Var {
				ok = ok && in.other(n.Indices)
				for _, ix := range n.Indices {
					for _, e := range []Expr{ix.A, ix.B} {
						if e != nil {
							ok = ok && !reads(e, in.start.Var)
						}
					}
				}
				return false
			}
		}
		return ok
	})
	return ok
}

// sameElement reports whether two lists of indices are written in the same way.
func sameElement(a, b []Index) bool {
	return allSingle(a) && slices.EqualFunc(a, b, func(a, b Index) bool { return alike(a.A, b.A) })
}

// other reports whether an element is never the one that accumulates, in any iteration: in some
// dimension, the difference of their indices is never 0.
func (in *accumulator) other(indices []Index) bool {
	for k, ix := range indices {
		if k < len(in.start.Indices) && ix.Kind == IndexSingle && in.differ(ix.A, in.start.Indices[k].A) {
			return true
		}
	}
	return false
}

// differ reports whether x - y is provably never 0. The difference must be a sum of a number,
// variables, and at most one loop variable. All values of the loop variable must be on one side of
// the value for which the difference is 0.
func (in *accumulator) differ(x, y Expr) bool {
	d := linear{}
	if !d.add(x, 1) || !d.add(y, -1) {
		return false
	}
	var loop *For
	for v := range d.of {
		if l := in.loops[v]; l != nil && loop == nil {
			loop = l
		} else if l != nil || in.declared[v] {
			return false
		}
	}
	if loop == nil {
		c, ok := d.number()
		return ok && c != 0
	}
	c := d.of[loop.Var]
	if c != 1 && c != -1 {
		return false
	}
	// d is 0 where the loop variable equals zero: d = c·(loop.Var - zero), with c = ±1.
	beyond := func(bound Expr, sign int64) bool { // sign·(zero - bound) > 0
		z := linear{}
		for v, k := range d.of {
			if v != loop.Var {
				z.put(v, -c*k*sign)
			}
		}
		z.add0 = -c * d.add0 * sign
		if !z.add(bound, -sign) {
			return false
		}
		n, ok := z.number()
		return ok && n > 0
	}
	return bounded(loop.From, "max", func(e Expr) bool { return beyond(e, -1) }) || bounded(loop.To, "min", func(e Expr) bool { return beyond(e, 1) })
}

// bounded reports whether such returns true for a bound or, if the bound is a call of the function
// name (min or max), for one of its arguments.
func bounded(e Expr, name string, such func(Expr) bool) bool {
	if c, ok := e.(*Call); ok && c.Name == name && len(c.Args) == 2 {
		return bounded(c.Args[0], name, such) || bounded(c.Args[1], name, such)
	}
	return such(e)
}

// rewritten returns the loop with the variable sum in place of the element.
func (in *accumulator) rewritten(s Stmt, sum *Var) Stmt {
	switch s := s.(type) {
	case *For:
		c := *s
		c.Body, c.Accumulated = in.rewritten(s.Body, sum), nil
		return &c
	case *Block:
		c := *s
		c.Stmts = make([]Stmt, len(s.Stmts))
		for i, x := range s.Stmts {
			c.Stmts[i] = in.rewritten(x, sum)
		}
		return &c
	case *If:
		c := *s
		c.Then = in.rewritten(s.Then, sum)
		if s.Else != nil {
			c.Else = in.rewritten(s.Else, sum)
		}
		return &c
	case *Assign:
		if s.Var == in.start.Var {
			c := *s
			c.Var, c.Indices = sum, nil
			return &c
		}
	}
	return s
}

// linear is a linear combination of variables, plus a number.
type linear struct {
	add0 int64
	of   map[*Var]int64
}

func (d *linear) put(v *Var, k int64) {
	if d.of == nil {
		d.of = map[*Var]int64{}
	}
	if d.of[v] += k; d.of[v] == 0 {
		delete(d.of, v)
	}
}

// add adds k times an expression. It returns false if the expression is not linear.
func (d *linear) add(e Expr, k int64) bool {
	switch e := e.(type) {
	case *IntLit:
		if e.Value > 1<<31 || e.Value < -1<<31 {
			return false
		}
		d.add0 += k * e.Value
		return true
	case *VarRef:
		d.put(e.Var, k)
		return e.Ty.Equal(types.IntType)
	case *Call:
		if len(e.Args) != 2 || e.Name != "operator+" && e.Name != "operator-" {
			return false
		}
		second := k
		if e.Name == "operator-" {
			second = -k
		}
		return d.add(e.Args[0], k) && d.add(e.Args[1], second)
	}
	return false
}

// number returns the value of a sum without variables.
func (d *linear) number() (n int64, ok bool) { return d.add0, len(d.of) == 0 }
