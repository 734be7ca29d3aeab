package ad

import "slices"

// Origins returns where each element of a node comes from, if the node only moves elements of its
// arguments (an index, a transposition, a repetition, a concatenation). Element e, counted over all
// lanes, is element from[e] of argument arg[e]. ok is false for other nodes.
func (g *Graph) Origins(r Ref) (arg, from []int32, ok bool) {
	n := &g.Nodes[r]
	switch n.Op {
	case OpGather, OpReshape, OpConcat, OpLane, OpUnlane:
	default:
		return nil, nil, false
	}
	// Evaluate the node on the numbers of elements, counted through all arguments, instead of on
	// values.
	types, values := make([]Type, len(n.Args)), make([][]float64, len(n.Args))
	var first []int
	total := 0
	for i, a := range n.Args {
		types[i] = g.Type(a)
		values[i] = make([]float64, types[i].Total())
		first = append(first, total)
		for e := range values[i] {
			values[i][e] = float64(total)
			total++
		}
	}
	out := make([]float64, n.Type.Total())
	if err := evalNode(n, types, values, out); err != nil {
		return nil, nil, false
	}
	arg, from = make([]int32, len(out)), make([]int32, len(out))
	for e, v := range out {
		k := len(first) - 1
		for int(v) < first[k] {
			k--
		}
		arg[e], from[e] = int32(k), int32(int(v)-first[k])
	}
	return arg, from, true
}

// Operand returns the index of the element of an argument that element e of the result is computed
// from. The argument has type t, and is broadcast to type to as in elementwise ops.
func Operand(t, to Type, e int) int {
	size := to.Size()
	lane, k := e/max(1, size), e%max(1, size)
	if t.Lanes == 0 {
		lane = 0
	}
	if t.Size() == 1 {
		k = 0
	}
	return lane*t.Size() + k
}

// Depends finds which of the n elements of wrt each element of a node may depend on. The returned
// function calls f with their indices.
func (g *Graph) Depends(wrt Ref) func(r Ref, element int, f func(i int)) {
	d := g.dependence(wrt)
	return func(r Ref, element int, f func(int)) {
		if p, ok := d.of(r); ok {
			p.row(element).each(f)
		}
	}
}

// Zeros finds the elements of a node that are 0 for all inputs, as far as the structure of the
// graph shows, for instance those above the diagonal of a triangular matrix. The returned function
// marks them; it returns nil if none is known. Do not change its result.
func (g *Graph) Zeros() func(r Ref) []bool {
	known := map[Ref][]bool{}
	var zeros func(r Ref) []bool
	find := func(r Ref) []bool {
		n := &g.Nodes[r]
		out := make([]bool, n.Type.Total())
		of := func(k, e int) bool {
			a := n.Args[k]
			z := zeros(a)
			return z != nil && z[Operand(g.Type(a), n.Type, e)]
		}
		switch n.Op {
		case OpMul:
			for e := range out {
				out[e] = of(0, e) || of(1, e)
			}
		case OpAdd, OpSub:
			for e := range out {
				out[e] = of(0, e) && of(1, e)
			}
		case OpNeg, OpDiv:
			for e := range out {
				out[e] = of(0, e)
			}
		case OpScatter: // evaluated with 1 in place of elements that may differ from 0
			a := n.Args[0]
			ones, sums := make([]float64, g.Type(a).Total()), make([]float64, len(out))
			z := zeros(a)
			for e := range ones {
				if z == nil || !z[e] {
					ones[e] = 1
				}
			}
			if evalNode(n, []Type{g.Type(a)}, [][]float64{ones}, sums) != nil {
				return nil
			}
			for e, v := range sums {
				out[e] = v == 0
			}
		default:
			if v, ok := g.Value(r); ok && len(v) > 0 {
				for e := range out {
					out[e] = v[e%len(v)] == 0 // a constant that repeats one number stores it once
				}
				break
			}
			arg, from, ok := g.Origins(r)
			if !ok {
				return nil
			}
			for e := range out {
				z := zeros(n.Args[arg[e]])
				out[e] = z != nil && z[from[e]]
			}
		}
		if !slices.Contains(out, true) {
			return nil
		}
		return out
	}
	zeros = func(r Ref) []bool {
		z, ok := known[r]
		if !ok {
			z = find(r)
			known[r] = z
		}
		return z
	}
	return zeros
}
