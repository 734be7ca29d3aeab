package ad

import (
	"errors"
	"fmt"
	"slices"
)

// This file: the interface between kinds of regions and the rest of the compiler. A kind is an
// implementation of RegionAttr and a line in regionKinds. Everything else handles all kinds alike:
// evaluation, forward mode, dependence analysis, dead-code elimination, rewriting, checkpointing
// and lowering read the region's Layout, and make changed regions by With.

// RegionAttr is the attribute of an op of class Region.
type RegionAttr interface {
	// Layout describes the region.
	Layout() Layout

	// With returns a region of the same kind with layout l: other bodies, or another number of
	// values that are carried, read, kept or added up.
	With(l Layout) RegionAttr

	// adjoint implements the rule of reverse mode; see Op.Adjoint.
	adjoint(g *Graph, n *Node, r Ref, adjs []Ref, left, need []bool, sofar *accrued) []Ref
}

// regionKind declares a kind of region.
type regionKind struct {
	op   OpCode
	name string

	// example builds an expression of a vector of size numbers. Tests of values, derivatives and
	// compiled code use it.
	size    int
	example func(g *Graph, x Ref) Ref
}

// regionKinds lists the kinds of regions.
func regionKinds() []regionKind {
	return []regionKind{
		{OpScan, "scan", 5, scanExample},
		{OpIf, "if", 3, ifExample},
		{OpWhile, "while", 3, whileExample},
	}
}

// Control says which bodies of a region run, and the number of times that they run.
type Control uint8

// The kinds of control flow. Each kind of region uses one of them; the compiler has code for these
// only.
const (
	NoRegion Control = iota
	Chosen           // runs one body: the first if the first argument is not 0, else the second
	Counted          // runs the body Steps times
	Tested           // runs the second body as long as the first, its condition, does not return 0
)

// Layout describes the bodies, arguments and results of a region, and how they correspond.
//
// All bodies have the same inputs: the arguments, without the condition of a Chosen region. The
// inputs of a body that repeats are, in this order, Carries carried values, slices of Streams
// arrays whose first dimension is the step, and captured values. Its outputs are the next carried
// values, Outs values that are kept for each step, and Sums values that are added up over the
// steps.
type Layout struct {
	Control Control
	Bodies  []*Graph

	Carries, Streams, Outs, Sums int

	Steps   int  // of a Counted region
	Reverse bool // of a Counted region: it runs from the last step to the first

	Snapshots int  // of a Tested region: number of rows of a history, see While
	Bounded   bool // of a Tested region: it runs at most Snapshots times

	Results []Run
}

// Run is a group of N consecutive results that are made in the same way from N consecutive outputs
// of the body, beginning with output First.
type Run struct {
	From     Source
	First, N int
}

// Part describes where one result comes from: an output of the body, and how the result is made
// from it.
type Part struct {
	From   Source
	Output int // of the body; 0 if the result comes from no output
}

// Source says how a result is made from an output of the body.
type Source uint8

// The sources.
const (
	Taken   Source = iota // the output of the body that ran, of a Chosen region
	Final                 // a carried value after the last step
	History               // a carried value before each step or, in a Tested region, at snapshots
	Kept                  // an output at each step or, in a Tested region, at snapshots
	Sum                   // an output added up over the steps
	Trips                 // the number of steps of a Tested region
	Stride                // the number of steps between two snapshots of a Tested region
)

// Layout returns the layout of a region. For other nodes, Control is NoRegion.
func (n *Node) Layout() Layout {
	if a, ok := n.Attr.(RegionAttr); ok && table[n.Op].Class == Region {
		return a.Layout()
	}
	return Layout{}
}

// Repeated returns the body that runs repeatedly, on its own outputs; nil if there is none.
func (l *Layout) Repeated() *Graph {
	if l.Control == Chosen {
		return nil
	}
	return l.Bodies[len(l.Bodies)-1]
}

// WithRepeated replaces the body that runs repeatedly by b.
func (l *Layout) WithRepeated(b *Graph) {
	l.Bodies = slices.Clone(l.Bodies)
	l.Bodies[len(l.Bodies)-1] = b
}

// First returns the number of leading arguments that are not inputs of the bodies.
func (l *Layout) First() int {
	if l.Control == Chosen {
		return 1
	}
	return 0
}

// Rows returns the number of rows of a history.
func (l *Layout) Rows() int {
	if l.Control == Tested {
		return l.Snapshots
	}
	return l.Steps
}

// At returns the index of the result that is made from the given output in the given way; -1 if
// there is none.
func (l *Layout) At(from Source, output int) int {
	at := 0
	for _, r := range l.Results {
		if r.From == from && output >= r.First && output < r.First+r.N {
			return at + output - r.First
		}
		at += r.N
	}
	return -1
}

// Parts returns the origins of the results, in order.
func (l *Layout) Parts() []Part {
	n := 0
	for _, r := range l.Results {
		n += r.N
	}
	out := make([]Part, 0, n)
	for _, r := range l.Results {
		for i := range r.N {
			out = append(out, Part{r.From, r.First + i})
		}
	}
	return out
}

// Part returns the origin of result i. It searches the runs, which are few, so that asking for each
// result of a large region takes linear time.
func (l *Layout) Part(i int) (p Part, ok bool) {
	for _, r := range l.Results {
		if i >= 0 && i < r.N {
			return Part{r.From, r.First + i}, true
		}
		i -= r.N
	}
	return Part{}, false
}

// typeOf returns the type of a result, without lanes.
func (l *Layout) typeOf(p Part) Type {
	body := l.Bodies[len(l.Bodies)-1]
	switch p.From {
	case Trips, Stride:
		return Scalar
	case History, Kept:
		return Type{Shape: append([]int{l.Rows()}, body.Type(body.Outputs[p.Output]).Shape...)}
	default:
		return body.Type(body.Outputs[p.Output])
	}
}

// types returns the types of the results, in order.
func (l *Layout) types() []Type {
	list := l.Parts()
	ts := make([]Type, len(list))
	for i, p := range list {
		ts[i] = l.typeOf(p)
	}
	return ts
}

// regionShape is the type rule of all kinds of regions.
func regionShape(args []Type, attr any) (Type, error) {
	l := attr.(RegionAttr).Layout()
	first := l.First()
	if len(args) < first+l.Carries+l.Streams {
		return Type{}, fmt.Errorf("%d arguments", len(args))
	}
	for _, b := range l.Bodies {
		if len(args) != first+len(b.Inputs) {
			return Type{}, fmt.Errorf("%d arguments for %d inputs of a body", len(args), len(b.Inputs))
		}
		for i, a := range args[first:] {
			in := b.Type(b.Inputs[i]).Shape
			if i >= l.Carries && i < l.Carries+l.Streams {
				in = append([]int{l.Steps}, in...)
			}
			if !shapeEqual(a.Shape, in) {
				return Type{}, fmt.Errorf("argument %d has shape %v, want %v", first+i, a.Shape, in)
			}
		}
	}
	return Type{Shape: []int{0}}, l.checkOutputs()
}

// checkOutputs checks the outputs of the bodies.
func (l *Layout) checkOutputs() error {
	for _, b := range l.Bodies {
		for i, r := range b.Outputs {
			if b.Type(r).Lanes > 0 {
				return fmt.Errorf("output %d of a body has lanes", i)
			}
		}
	}
	if l.Control == Chosen {
		a, b := l.Bodies[0], l.Bodies[1]
		if len(a.Outputs) != len(b.Outputs) {
			return errors.New("branches with different results")
		}
		for i, r := range a.Outputs {
			if a, b := a.Type(r), b.Type(b.Outputs[i]); !a.Equal(b) {
				return fmt.Errorf("result %d of types %v and %v", i, a, b)
			}
		}
		return nil
	}
	b := l.Repeated()
	if len(b.Outputs) != l.Carries+l.Outs+l.Sums {
		return errors.New("outputs of the body")
	}
	for i, r := range b.Outputs[:l.Carries] {
		if !b.Type(r).Equal(b.Type(b.Inputs[i])) {
			return fmt.Errorf("carried value %d changes its type", i)
		}
	}
	if l.Control == Tested {
		if c := l.Bodies[0]; len(c.Outputs) != 1 || !c.Type(c.Outputs[0]).Equal(Scalar) {
			return errors.New("the condition is not one number")
		}
		if l.Snapshots < 2 || l.Snapshots%2 != 0 || l.Streams > 0 || l.Outs > 0 && !l.Bounded {
			return fmt.Errorf("room for %d snapshots", l.Snapshots)
		}
	}
	return nil
}

// evalLane computes the results of one lane.
func (l *Layout) evalLane(args, res [][]float64, env *Env) error {
	results := l.Parts()
	if l.Control == Chosen {
		body := l.Bodies[1]
		if args[0][0] != 0 {
			body = l.Bodies[0]
		}
		outs, err := body.Eval(args[1:], env)
		if err != nil {
			return err
		}
		for i, p := range results {
			copy(res[i], outs[p.Output])
		}
		return nil
	}
	in := slices.Clone(args)
	for i := range l.Carries {
		in[i] = slices.Clone(args[i])
	}
	row := func(a []float64, t int) []float64 { k := len(a) / l.Rows(); return a[t*k : (t+1)*k] }
	trips, stride := 0, 1
	for ; l.Control == Tested || trips < l.Steps; trips++ {
		// The row of histories and streams for this step, and whether histories store it.
		at, keeps := trips, true
		if l.Control == Tested {
			if again, err := l.goesOn(trips, in, env); !again {
				if err != nil {
					return err
				}
				break
			}
			if trips == l.Snapshots*stride {
				l.thin(res)
				stride *= 2
			}
			at, keeps = trips/stride, trips%stride == 0
		} else if l.Reverse {
			at = l.Steps - 1 - trips
		}
		for i := l.Carries; i < l.Carries+l.Streams; i++ {
			in[i] = row(args[i], at)
		}
		for i, p := range results {
			if p.From == History && keeps {
				copy(row(res[i], at), in[p.Output])
			}
		}
		outs, err := l.Repeated().Eval(in, env)
		if err != nil {
			return err
		}
		for i, p := range results {
			switch p.From {
			case Kept:
				if keeps {
					copy(row(res[i], at), outs[p.Output])
				}
			case Sum:
				for e, v := range outs[p.Output] {
					res[i][e] += v
				}
			}
		}
		copy(in, outs[:l.Carries])
	}
	for i, p := range results {
		switch p.From {
		case Final:
			copy(res[i], in[p.Output])
		case Trips:
			res[i][0] = float64(trips)
		case Stride:
			res[i][0] = float64(stride)
		}
	}
	return nil
}

// goesOn reports whether a loop whose control is Tested makes another trip.
func (l *Layout) goesOn(trips int, in [][]float64, env *Env) (bool, error) {
	if trips%StopEvery == StopEvery-1 && env.Stop != nil {
		if err := env.Stop(); err != nil {
			return false, err
		}
	}
	c, err := l.Bodies[0].Eval(in, env)
	return err == nil && c[0][0] != 0, err
}

// thin drops every other row of the histories and of the kept values.
func (l *Layout) thin(res [][]float64) {
	for i, p := range l.Parts() {
		if p.From != History && p.From != Kept {
			continue
		}
		h, half := res[i], l.Snapshots/2
		k := len(h) / l.Snapshots
		for r := range half {
			copy(h[r*k:(r+1)*k], h[2*r*k:])
		}
		clear(h[half*k:])
	}
}
