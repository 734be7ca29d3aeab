package check

import (
	"math"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/types"
)

// Number is a number that is known before a run.
type Number struct {
	Real bool
	Int  int64   // the value, if Real is not set
	Val  float64 // the value as a real
}

// IntNumber returns a known int.
func IntNumber(i int64) Number { return Number{Int: i, Val: float64(i)} }

// RealNumber returns a known real.
func RealNumber(x float64) Number { return Number{Real: true, Val: x} }

// Known returns the values of known variables, such as data; ok is false for others. If it is nil,
// no variable is known.
type Known func(v *ast.VarExpr) (n Number, ok bool)

// Folder may be implemented by functions of a [Universe] that compute an int from ints. The error
// says why there is no result.
type Folder interface {
	OfInts(args []int64) (int64, error)
}

// Number returns the value of a numeric expression. ok is false if the value is not known, or does
// not exist, as in a division of integers by zero. If info is nil, the values of calls are unknown.
//
// Warnings, the shapes that editors show, and simulated data use this evaluator. Binding works on
// the IR and knows the elements of arrays: package compile/internal/known evaluates there, for all
// iterations of a loop. Both use the rule for ints in package types.
func (info *Info) Number(e ast.Expr, known Known) (n Number, ok bool) {
	switch e := e.(type) {
	case *ast.IntLit:
		return IntNumber(e.Value), true
	case *ast.RealLit:
		return RealNumber(e.Value), true
	case *ast.Paren:
		return info.Number(e.X, known)
	case *ast.VarExpr:
		if known == nil {
			return n, false
		}
		return known(e)
	case *ast.Unary:
		if x, ok := info.Number(e.X, known); ok {
			return unaryNumber(e.Op, x)
		}
	case *ast.Binary:
		if x, ok := info.Number(e.X, known); ok {
			// The right side is not evaluated if the left side decides.
			if e.Op == "&&" && x.Val == 0 || e.Op == "||" && x.Val != 0 {
				return numberOf(x.Val != 0), true
			}
			if y, ok := info.Number(e.Y, known); ok {
				return binaryNumber(e.Op, x, y)
			}
		}
	case *ast.Cond:
		c, ok := info.Number(e.Cond, known)
		switch {
		case !ok:
		case c.Val != 0:
			return info.Number(e.Then, known)
		default:
			return info.Number(e.Else, known)
		}
	case *ast.CallExpr:
		return info.call(e, known)
	}
	return n, false
}

// call returns the value of a library function of ints.
func (info *Info) call(e *ast.CallExpr, known Known) (n Number, ok bool) {
	if info == nil || info.Calls[e] == nil {
		return n, false
	}
	f, ok := info.Calls[e].Overload.(Folder)
	if !ok {
		return n, false
	}
	var args []int64
	for _, a := range e.Args {
		x, ok := info.Number(a, known)
		if !ok || x.Real {
			return n, false
		}
		args = append(args, x.Int)
	}
	i, err := f.OfInts(args)
	return IntNumber(i), err == nil
}

func numberOf(b bool) Number {
	if b {
		return IntNumber(1)
	}
	return IntNumber(0)
}

func unaryNumber(op string, x Number) (Number, bool) {
	switch op {
	case "+":
		return x, true
	case "-":
		return Number{x.Real, -x.Int, -x.Val}, true
	case "!":
		return numberOf(x.Val == 0), true
	}
	return x, false
}

func binaryNumber(op string, x, y Number) (Number, bool) {
	switch op {
	case "&&":
		return numberOf(x.Val != 0 && y.Val != 0), true
	case "||":
		return numberOf(x.Val != 0 || y.Val != 0), true
	case "==":
		return numberOf(x.Val == y.Val), true
	case "!=":
		return numberOf(x.Val != y.Val), true
	case "<":
		return numberOf(x.Val < y.Val), true
	case "<=":
		return numberOf(x.Val <= y.Val), true
	case ">":
		return numberOf(x.Val > y.Val), true
	case ">=":
		return numberOf(x.Val >= y.Val), true
	}
	if x.Real || y.Real || op == "^" || op == ".^" {
		v := math.NaN()
		switch op {
		case "+":
			v = x.Val + y.Val
		case "-":
			v = x.Val - y.Val
		case "*", ".*":
			v = x.Val * y.Val
		case "/", "./":
			v = x.Val / y.Val
		case "^", ".^":
			v = math.Pow(x.Val, y.Val)
		}
		return RealNumber(v), !math.IsNaN(v)
	}
	arithmetic := map[string]func(x, y int64) (int64, error){
		"+": types.AddInts, "-": types.SubInts, "*": types.MulInts, ".*": types.MulInts,
		"/": types.DivInts, "%/%": types.DivInts, "./": types.DivInts, "%": types.RemInts,
	}[op]
	if arithmetic == nil {
		return Number{}, false
	}
	i, err := arithmetic(x.Int, y.Int)
	return IntNumber(i), err == nil
}

// constant returns the value of an expression that consists of literals.
func constant(e ast.Expr) (x float64, ok bool) {
	n, ok := (*Info)(nil).Number(e, nil)
	return n.Val, ok
}
