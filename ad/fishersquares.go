package ad

import (
	"math"
	"slices"
)

// SquareTerms finds the nodes x² that enter the only output with a constant negative weight. Up to
// a constant, such a node is the log density of a normal distribution with mean x, and is returned
// as that statement. x depends on params and not on the nodes marked in without.
func (g *Graph) SquareTerms(params []Ref, without []bool) (squares []Ref, statements []Statement) {
	moves := g.MadeFrom(params, nil)
	var of []Ref
	for i, n := range g.Nodes {
		same := n.Op == OpSquare || n.Op == OpMul && n.Args[0] == n.Args[1]
		if same && moves[i] && !without[i] {
			of = append(of, Ref(i))
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	for i, w := range g.Backprop([]Ref{g.Outputs[0]}, []Ref{g.Const(1)}, of) {
		if w == None {
			continue
		}
		data, ok := g.Value(w)
		if !ok || slices.ContainsFunc(data, func(v float64) bool { return !(v <= 0) || math.IsInf(v, 0) }) {
			continue
		}
		squares, statements = append(squares, of[i]), append(statements, Statement{
			Args: []Ref{g.Nodes[of[i]].Args[0], g.Scale(-2, w)},
			Info: func(_ *Graph, a []Ref) [][]Ref { return [][]Ref{{a[1]}, nil} },
		})
	}
	return squares, statements
}

// MadeFrom marks the nodes that depend on the nodes in from in other ways than only through those
// in through.
func (g *Graph) MadeFrom(from, through []Ref) []bool {
	made, ends := make([]bool, len(g.Nodes)), make([]bool, len(g.Nodes))
	for _, r := range from {
		made[r] = true
	}
	for _, r := range through {
		ends[r] = true
	}
	for i := range g.Nodes {
		made[i] = made[i] || !ends[i] && slices.ContainsFunc(g.Nodes[i].Args, func(a Ref) bool { return made[a] })
	}
	return made
}
