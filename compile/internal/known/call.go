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
