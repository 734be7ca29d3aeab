package ast

// The levels of operators, weakest first; see the grammar in spec.md.
const (
	levelCond    = 1
	levelSum     = 6
	levelUnary   = 9
	levelPow     = 10
	levelPrimary = 11
)

// Strength returns the binding strength of a binary operator; a larger number binds more strongly.
// Operators of the same strength form a chain.
func Strength(op string) int {
	switch op {
	case "||":
		return 2
	case "&&":
		return 3
	case "==", "!=":
		return 4
	case "<", "<=", ">", ">=":
		return 5
	case "+", "-":
		return levelSum
	case "*", "/", "%", ".*", "./":
		return 7
	case `\`, "%/%":
		return 8
	case "^", ".^":
		return levelPow
	}
	return levelPrimary
}

// level returns the binding strength of an expression's outermost operator.
func level(e Expr) int {
	switch e := e.(type) {
	case *Cond:
		return levelCond
	case *Binary:
		return Strength(e.Op)
	case *Unary:
		if e.Op != "'" {
			return levelUnary
		}
	}
	return levelPrimary
}

// Parenthesise adds the parentheses around operands of n that its text needs, such as those of the
// sum in (a + b) * c. Trees that no parser made may lack them. It does not look at deeper nodes.
func Parenthesise(n Node) Node {
	switch n := n.(type) {
	case *Unary:
		want := levelUnary
		if n.Op == "'" {
			want = levelPrimary
		}
		if x := atLeast(want, n.X); x != n.X {
			return &Unary{n.Base, n.Op, x}
		}
	case *Binary:
		left, right := Strength(n.Op), Strength(n.Op)+1
		if left == levelPow { // powers group to the right
			left, right = left+1, levelUnary
		}
		if u, ok := n.Y.(*Unary); ok && u.Op != "'" {
			right = min(right, levelUnary) // on the right, a * -b and a ^ -b are not ambiguous
		}
		if x, y := atLeast(left, n.X), atLeast(right, n.Y); x != n.X || y != n.Y {
			return &Binary{n.Base, n.Op, n.OpPos, x, y}
		}
	case *Cond:
		if c := atLeast(levelCond+1, n.Cond); c != n.Cond {
			return &Cond{n.Base, c, n.Then, n.Else}
		}
	case *IndexExpr:
		if x := atLeast(levelPrimary, n.X); x != n.X {
			return &IndexExpr{n.Base, x, n.Indices}
		}
	case *TupleMember:
		if x := atLeast(levelPrimary, n.X); x != n.X {
			return &TupleMember{n.Base, x, n.Member}
		}
	case *Bound:
		if x := atLeast(levelSum, n.Value); x != n.Value {
			return &Bound{n.Base, n.Kind, x}
		}
	}
	return n
}

// atLeast adds parentheses to an expression unless it binds at least this strongly.
func atLeast(want int, e Expr) Expr {
	if e == nil || level(e) >= want {
		return e
	}
	return &Paren{Base{Pos: e.Span()}, e}
}
