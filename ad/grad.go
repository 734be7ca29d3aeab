package ad

import (
	"math"
	"slices"
)

// Backprop appends to g the adjoints of wrt: for each, Σ_k seeds[k]·∂outs[k]/∂wrt, of wrt's type,
// or None if no output depends on it. The result is part of the same graph, in the same ops, and
// can be differentiated again. seeds[k] has the type of outs[k]; None stands for 0.
//
// It is reverse accumulation in one sweep over the nodes: the rule of every op is its row's
// Partials, Factors, VJP or Adjoint. A side of a choice that was not taken contributes 0 even where
// its partial derivative is infinite or NaN (untaken.go).
func (g *Graph) Backprop(outs, seeds, wrt []Ref) []Ref { return g.backprop(outs, seeds, wrt, nil, nil) }

// accrued is passed to the rule of a region. It has the adjoints of the region's arguments that
// later readers have accumulated, so that the rule can add to them.
type accrued struct {
	refs     []Ref  // None: nothing accumulated yet
	included []bool // the rule sets it if the adjoint that it returns includes refs
}

// backprop is Backprop with more arguments. left marks outs that may belong to a side of a choice
// that was not taken. start has adjoints of wrt to add to; None: 0.
func (g *Graph) backprop(outs, seeds, wrt []Ref, left []bool, start []Ref) []Ref {
	last := Ref(-1)
	for _, r := range outs {
		last = max(last, r)
	}
	end := int(last) + 1
	active := g.dependents(wrt, end)
	untaken := g.untaken(end, outs, left)
	adj := make([]Ref, end)
	for i := range adj {
		adj[i] = None
	}
	accumulate := func(r, a Ref) {
		if adj[r] == None {
			adj[r] = a
		} else {
			adj[r] = g.addTo(adj[r], a)
		}
	}
	for k, a := range start {
		if a != None && int(wrt[k]) < end {
			adj[wrt[k]] = a
		}
	}
	for k, r := range outs {
		if seeds[k] != None {
			accumulate(r, g.Expand(seeds[k], g.Type(r)))
		}
	}
	// For each region: the adjoints of its results, and which of these may belong to a side not
	// taken.
	results, resultsLeft := map[Ref][]Ref{}, map[Ref][]bool{}
	old := g.site
	// A copy of the current node, because the slice of nodes is reallocated as it grows.
	n := new(Node)
	for i := end - 1; i >= 0; i-- {
		if !active[i] || adj[i] == None && results[Ref(i)] == nil {
			continue
		}
		*n = g.Nodes[i]
		row := &table[n.Op]
		g.site = n.Site
		switch {
		case n.Op == OpResult:
			region := n.Args[0]
			if results[region] == nil {
				results[region] = make([]Ref, len(g.Nodes[region].Results()))
				resultsLeft[region] = make([]bool, len(results[region]))
				for k := range results[region] {
					results[region][k] = None
				}
			}
			results[region][n.ResultIndex()], resultsLeft[region][n.ResultIndex()] = adj[i], untaken[i]
		case row.Adjoint != nil || row.VJP != nil:
			need := make([]bool, len(n.Args))
			for k, a := range n.Args {
				need[k] = active[a]
			}
			var adjs []Ref
			var included []bool
			switch {
			case row.Adjoint != nil:
				sofar := &accrued{refs: make([]Ref, len(n.Args)), included: make([]bool, len(n.Args))}
				for k, a := range n.Args {
					sofar.refs[k] = adj[a]
					if slices.Contains(n.Args[:k], a) {
						// An argument that is passed twice has its adjoint only once.
						sofar.refs[k] = None
					}
				}
				adjs = row.Adjoint(g, n, Ref(i), results[Ref(i)], resultsLeft[Ref(i)], need, sofar)
				included = sofar.included
			case untaken[i]:
				adjs = g.guardedVJP(n, Ref(i), adj[i], need)
			default:
				adjs = row.VJP(g, n, Ref(i), adj[i], need)
			}
			for k, a := range adjs {
				// Set these first, since the other terms are added to them.
				if included != nil && included[k] {
					adj[n.Args[k]] = a
				}
			}
			for k, a := range adjs {
				if a != None && need[k] && (included == nil || !included[k]) {
					accumulate(n.Args[k], g.ReduceTo(a, g.Type(n.Args[k])))
				}
			}
		case row.Partials != nil || row.Factors != nil:
			var factors [][]Ref
			var partials []Ref
			if row.Factors != nil {
				factors = row.Factors(g, Ref(i), n.Args)
			} else {
				partials = row.Partials(g, Ref(i), n.Args)
			}
			for k, arg := range n.Args {
				var of []Ref
				switch {
				case k < len(factors):
					of = factors[k]
				case k < len(partials) && partials[k] != None:
					of = partials[k : k+1]
				}
				if len(of) == 0 || !active[arg] {
					continue
				}
				a := adj[i]
				for _, p := range of {
					op := OpMul
					if untaken[i] && !g.finiteConst(p) {
						op = OpMulGuarded
					}
					a = g.Do(op, nil, a, p)
				}
				accumulate(arg, g.ReduceTo(a, g.Type(arg)))
			}
		case row.Class == Array || row.Class == Linear:
			g.fail(n.Op, "has no derivative")
		}
	}
	g.site = old
	res := make([]Ref, len(wrt))
	for k, r := range wrt {
		res[k] = None
		if int(r) < end {
			res[k] = adj[r]
		} else if start != nil {
			res[k] = start[k]
		}
	}
	return res
}

// finiteConst reports whether r is a constant without infinities or NaN.
func (g *Graph) finiteConst(r Ref) bool {
	data, ok := g.Value(r)
	if !ok {
		return false
	}
	for _, v := range data {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return false
		}
	}
	return true
}

// Grad returns the gradient of the scalar out (of its sum, if it is an array) with respect to each
// of wrt, of wrt's type; zeros if out does not depend on it.
func (g *Graph) Grad(out Ref, wrt ...Ref) []Ref {
	res := g.Backprop([]Ref{out}, []Ref{g.Const(1)}, wrt)
	for k, r := range res {
		if r == None {
			res[k] = g.Expand(g.Const(0), g.Type(wrt[k]))
		}
	}
	return res
}
