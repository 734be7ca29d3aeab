package known

import (
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/stdlib"
)

// Call applies a function of ints to known arguments, element by element and lane by lane. If the
// function has no value, Call calls fault and the element is 0.
func Call(fn *stdlib.Func, args []lanes.Value, memory lanes.Memory, fault func(lane int, err error)) lanes.Value {
	out := lanes.Value{}
	for _, a := range args {
		out.Axis = lanes.Innermost(out.Axis, a.Axis)
		if len(a.Shape) > 0 {
			out.Shape = a.Shape
		}
	}
	n, size := plan.Lanes(out.Axis), out.Size()
	memory(8, n, size)
	out.Ints = make([]int64, n*size)
	ups, one, x := make([][]int32, len(args)), make([][]int64, len(args)), make([]int64, len(args))
	for i, a := range args {
		ups[i] = plan.UpTo(out.Axis, a.Axis)
	}
	if len(out.Shape) == 0 { // without slices of one number
		for l := range n {
			for i := range args {
				switch a := &args[i]; {
				case a.Axis == nil:
					x[i] = a.Ints[0]
				case ups[i] != nil:
					x[i] = a.Ints[ups[i][l]]
				default:
					x[i] = a.Ints[l]
				}
			}
			var err error
			if out.Ints[l], err = fn.Int(x); err != nil {
				out.Ints[l] = 0
				fault(l, err)
			}
		}
		return out
	}
	for l := range n {
		for i, a := range args {
			one[i] = a.Lane(ups[i], l)
		}
		if err := interp.Ints(fn, one, x, out.Ints[l*size:(l+1)*size]); err != nil {
			fault(l, err)
		}
	}
	return out
}
