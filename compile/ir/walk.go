package ir

// Walk calls f for an expression and, where f says so, for those inside it.
func Walk(e Expr, f func(Expr) bool) {
	if u, ok := e.(*UserCall); e == nil || ok && u == nil || !f(e) {
		return
	}
	list := func(es ...Expr) {
		for _, x := range es {
			Walk(x, f)
		}
	}
	switch e := e.(type) {
	case *Call:
		list(e.Args...)
	case *UserCall:
		list(e.Args...)
	case *IndexExpr:
		list(e.X)
		for _, ix := range e.Indices {
			list(ix.A, ix.B)
		}
	case *Cond:
		list(e.Cond, e.Then, e.Else)
	case *And:
		list(e.X, e.Y)
	case *Or:
		list(e.X, e.Y)
	case *ArrayLit:
		list(e.Elems...)
	case *RowVectorLit:
		list(e.Elems...)
	case *Promote:
		list(e.X)
	case *Tuple:
		list(e.Elems...)
	case *Member:
		list(e.X)
	}
}
