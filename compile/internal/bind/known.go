package bind

import (
	"github.com/ppl-lang/ppl/compile/ir"
)

// intAt is position p of known integers in lane l of ax; up maps the lanes of ax
// to those of the integers, nil if they are the same.
func intAt(v value, ax *axis, up []int32, l, p int) int64 {
	n := v.size()
	if len(v.shape) == 0 {
		p = 0
	}
	if v.axis == nil {
		return v.ints[p]
	}
	if up != nil {
		l = int(up[l])
	}
	return v.ints[l*n+p]
}

// ---- what data decide ----

// effects are what calls of a function may do beside returning a value that
// follows from the arguments.
type effects uint8

const (
	prints  effects = 1 << iota
	draws           // random numbers
	targets         // adds to the log density
	looks           // reads the log density
	opaque          // what the interpreter of the library's texts does
)

// isPure reports whether calls of a function have no effects.
func (b *binder) isPure(f *ir.Function) bool { return b.effectsOf(f) == 0 }

// effectsOf are the effects that calls of a function may have.
func (b *binder) effectsOf(f *ir.Function) effects {
	if e, ok := b.pure[f]; ok {
		return e
	}
	b.pure[f] = 0 // of calls of itself
	out := effects(0)
	if f.Intrinsic != ir.NoIntrinsic || f.Body == nil {
		out = opaque
		if f.Of != nil {
			out |= b.effectsOf(f.Of)
		}
	} else {
		out = b.effectsIn(f.Body)
	}
	b.pure[f] = out
	return out
}

// effectsIn are the effects that a statement may have beside assigning variables, or
// that evaluating an expression may have.
func (b *binder) effectsIn(n ir.Node) (out effects) {
	ir.Inspect(n, func(n ir.Node) bool {
		switch n := n.(type) {
		case *ir.Print:
			out |= prints
		case *ir.Target, *ir.Tilde:
			out |= targets
		case *ir.Call:
			if funcOf(n).Random {
				out |= draws
			}
		case *ir.UserCall:
			out |= b.effectsOf(n.Func)
		case *ir.TargetValue:
			out |= looks
		}
		return true
	})
	return out
}

// maskOf is the truth of the known condition v in every lane of ax.
func (b *binder) maskOf(v value, ax *axis) []bool {
	mask := make([]bool, ax.N)
	var up []int32
	if v.axis != nil {
		up = ax.LanesOf(v.axis)
	}
	for l := range mask {
		k := 0
		if v.axis != nil {
			k = l
			if up != nil {
				k = int(up[l])
			}
		}
		mask[l] = v.ints[k] != 0
	}
	return mask
}
