package ad

import (
	"fmt"
	"math/rand/v2"
)

// RandomDraw is the attribute of OpRandom. Draw returns a random number from the distribution Name,
// given the arguments of one element.
type RandomDraw struct {
	Name string
	Draw func(rng *rand.Rand, args []float64) float64
}

// Env is what an evaluation uses besides its inputs: random numbers, a printer and a stop.
type Env struct {
	Rand  *rand.Rand   // for OpRandom, which fails if it is nil
	Print func(string) // receives prints; nil drops them

	// Stop, if not nil, is called from time to time, at least every few thousand trips of a While.
	// If it returns an error, the evaluation ends with that error.
	Stop func() error
}

// Eval is the reference evaluator: it computes the outputs of g at the inputs, node after node,
// allocating as it goes, and carries out the side effects. Inputs and outputs are flat arrays of
// the inputs' and outputs' types. An error is a rejection (*CheckError, *RejectError, *OpError) or
// comes from one of Env's functions.
func (g *Graph) Eval(inputs [][]float64, env *Env) ([][]float64, error) {
	if len(inputs) != len(g.Inputs) {
		return nil, fmt.Errorf("%d inputs, want %d", len(inputs), len(g.Inputs))
	}
	live := g.Live(g.Outputs, true)
	val := make([][]float64, len(g.Nodes))
	results := map[Ref][][]float64{} // the results of each region
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if !live[i] {
			continue
		}
		switch n.Op {
		case OpInput:
			k := n.Attr.(int)
			if len(inputs[k]) != n.Type.Total() {
				return nil, fmt.Errorf("input %d has %d elements, want %d", k, len(inputs[k]), n.Type.Total())
			}
			val[i] = inputs[k]
			continue
		case OpConst:
			val[i] = n.Data
			continue
		case OpResult:
			val[i] = results[n.Args[0]][n.ResultIndex()]
			continue
		}
		args := make([][]float64, len(n.Args))
		types := make([]Type, len(n.Args))
		for k, a := range n.Args {
			args[k], types[k] = val[a], g.Nodes[a].Type
		}
		dst := make([]float64, n.Type.Total())
		var err error
		switch table[n.Op].Class {
		case Effect:
			err = RunEffect(n, types, args, env.Print)
		case Region:
			results[Ref(i)], err = evalRegion(n, types, args, env)
		case Random:
			err = evalRandom(n, types, args, dst, env)
		default:
			var ended bool
			if err, ended = evalWithin(env.Stop, n, types, args, dst); err != nil && !ended {
				err = &OpError{Site: n.Site, Op: n.Op.String(), Err: err}
			}
		}
		if err != nil {
			return nil, err
		}
		val[i] = dst
	}
	out := make([][]float64, len(g.Outputs))
	for k, r := range g.Outputs {
		out[k] = val[r]
	}
	return out, nil
}

func evalRandom(n *Node, types []Type, args [][]float64, dst []float64, env *Env) error {
	if env.Rand == nil {
		return fmt.Errorf("%s_rng needs a random number generator", n.Attr.(*RandomDraw).Name)
	}
	size := n.Type.Size()
	v := make([]float64, len(args))
	for i := range dst {
		for k := range args {
			v[k] = args[k][types[k].at(i/max(size, 1), i%max(size, 1))]
		}
		dst[i] = n.Attr.(*RandomDraw).Draw(env.Rand, v)
	}
	return nil
}

// at returns the index of an element of a value of type t, which may have to be broadcast over
// lanes and elements.
func (t Type) at(lane, elem int) int {
	k := 0
	if t.Lanes > 0 {
		k = lane * t.Size()
	}
	if len(t.Shape) > 0 {
		k += elem
	}
	return k
}

// evalRegion computes the results of a region in all lanes.
func evalRegion(n *Node, types []Type, args [][]float64, env *Env) ([][]float64, error) {
	layout := n.Layout()
	ts := layout.types()
	all, res := make([][]float64, len(ts)), make([][]float64, len(ts))
	for i, t := range ts {
		all[i] = make([]float64, max(n.Type.Lanes, 1)*t.Size())
	}
	lane := make([][]float64, len(args))
	for l := range max(n.Type.Lanes, 1) {
		for i, a := range args {
			lane[i] = a
			if types[i].Lanes > 0 {
				k := types[i].Size()
				lane[i] = a[l*k : (l+1)*k]
			}
		}
		for i, t := range ts {
			k := t.Size()
			res[i] = all[i][l*k : (l+1)*k]
		}
		err := layout.evalLane(lane, res, env)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
