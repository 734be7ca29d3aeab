package static

import (
	"github.com/ppl-lang/ppl/compile/ir"
)

// Functions analyses functions of a program, once each: their side effects, and which arguments
// determine the sizes of the values that they compute.
type Functions struct {
	effects map[*ir.Function]SideEffects
	sizes   map[*ir.Function]sizes
}

// NewFunctions returns a Functions that has analysed no function yet.
func NewFunctions() *Functions {
	return &Functions{effects: map[*ir.Function]SideEffects{}, sizes: map[*ir.Function]sizes{}}
}

// SideEffects are the possible effects of a call besides returning a value that depends only on the
// arguments.
type SideEffects uint8

const (
	Prints  SideEffects = 1 << iota
	Draws               // draws random numbers
	Targets             // adds to the log density
	Looks               // reads the log density
	Opaque              // has unknown effects, because the function has no body
)

// SideEffectsOf returns the effects that calls of a function may have.
func (k *Functions) SideEffectsOf(f *ir.Function) SideEffects {
	if e, ok := k.effects[f]; ok {
		return e
	}
	k.effects[f] = 0 // recursive calls add nothing
	out := SideEffects(0)
	if f.Intrinsic != ir.NoIntrinsic || f.Body == nil {
		out = Opaque
		if f.Of != nil {
			out |= k.SideEffectsOf(f.Of)
		}
	} else {
		out = k.SideEffectsIn(f.Body)
	}
	k.effects[f] = out
	return out
}

// SideEffectsIn returns the effects that a statement may have besides assigning variables, or that
// the evaluation of an expression may have.
func (k *Functions) SideEffectsIn(n ir.Node) (out SideEffects) {
	ir.Inspect(n, func(n ir.Node) bool {
		switch n := n.(type) {
		case *ir.Print:
			out |= Prints
		case *ir.Target, *ir.Tilde:
			out |= Targets
		case *ir.Call:
			if FuncOf(n).Random {
				out |= Draws
			}
		case *ir.UserCall:
			out |= k.SideEffectsOf(n.Func)
		case *ir.TargetValue:
			out |= Looks
		}
		return true
	})
	return out
}

// Pure reports whether evaluating an expression has no effects and draws nothing. Its value is then
// known from the data if the values of its variables are.
func (k *Functions) Pure(e ir.Expr) bool { return k.SideEffectsIn(e) == 0 }
