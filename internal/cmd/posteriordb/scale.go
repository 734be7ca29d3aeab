package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// magnitudes evaluates a posterior's graph at x. For the log density and each element of its
// gradient, it returns the sum of the absolute values of the terms: it follows sums, and the
// factors and divisors of sums. Values computed by other ops (an exponential, a scan, a solution of
// equations) count with their absolute value. So the results may be too small.
func magnitudes(g *ad.Graph, inputs [][]float64) ([]float64, error) {
	// Copy the graph, with the relevant nodes as its outputs.
	live := g.Live(g.Outputs, false)
	all := &ad.Graph{Nodes: g.Nodes, Inputs: g.Inputs}
	var refs []ad.Ref
	for i, l := range live {
		if c := g.Nodes[i].Op.Row().Class; l && c != ad.Effect && c != ad.Region {
			refs = append(refs, ad.Ref(i))
		}
	}
	all.Outputs = refs
	out, err := all.Eval(inputs, &ad.Env{})
	if err != nil {
		return nil, err
	}
	values := make([][]float64, len(g.Nodes))
	for k, r := range refs {
		values[r] = out[k]
	}
	terms := make([][]float64, len(g.Nodes))
	for _, r := range refs {
		n := &g.Nodes[r]
		t, err := termsOf(n, g, values, terms)
		if err != nil {
			return nil, err
		}
		for i, v := range values[r] {
			t[i] = max(t[i], math.Abs(v))
		}
		terms[r] = t
	}
	var result []float64
	for _, r := range g.Outputs {
		result = append(result, terms[r]...)
	}
	return result, nil
}

// rounding returns the change of the outputs of a graph if every node's value has a random rounding
// error: Monte Carlo arithmetic, the largest change in a few trials (Parker, Pierce and Eggert,
// 2000, Monte Carlo arithmetic: how to gamble with floating point and win). Only the results of
// scans and loops are rounded.
func rounding(g *ad.Graph, inputs [][]float64) ([]float64, error) {
	const trials, unit = 4, 1.0 / (1 << 53)
	rng := rand.New(rand.NewPCG(1, 1))
	live := g.Live(g.Outputs, false)
	var exact, spread []float64
	for trial := range trials + 1 {
		values := make([][]float64, len(g.Nodes))
		results := map[ad.Ref][][]float64{} // of regions
		for i := range g.Nodes {
			n := &g.Nodes[i]
			if !live[i] || n.Op.Row().Class == ad.Effect {
				continue
			}
			if n.Op.Row().Class == ad.Region {
				var err error
				if results[ad.Ref(i)], err = resultsOf(n, g, values); err != nil {
					return nil, err
				}
				continue
			}
			v, err := valueOf(n, g, values, inputs, results)
			if err != nil {
				return nil, err
			}
			if c := n.Op.Row().Class; trial > 0 && c != ad.Leaf && c != ad.Linear {
				for k := range v {
					v[k] *= 1 + unit*(2*rng.Float64()-1)
				}
			}
			values[i] = v
		}
		var out []float64
		for _, r := range g.Outputs {
			out = append(out, values[r]...)
		}
		if trial == 0 {
			exact, spread = out, make([]float64, len(out))
			continue
		}
		for i, v := range out {
			spread[i] = larger(spread[i], math.Abs(v-exact[i]))
		}
	}
	return spread, nil
}

// valueOf evaluates one node.
func valueOf(n *ad.Node, g *ad.Graph, values, inputs [][]float64, results map[ad.Ref][][]float64) ([]float64, error) {
	switch n.Op {
	case ad.OpResult:
		return slices.Clone(results[n.Args[0]][n.ResultIndex()]), nil
	case ad.OpInput:
		return inputs[n.Attr.(int)], nil
	case ad.OpConst:
		return n.Data, nil
	}
	types := make([]ad.Type, len(n.Args))
	args := make([][]float64, len(n.Args))
	for k, a := range n.Args {
		types[k], args[k] = g.Nodes[a].Type, values[a]
	}
	dst := make([]float64, n.Type.Total())
	return dst, ad.EvalNode(n, types, args, dst)
}

// resultsOf evaluates a region, as a separate graph.
func resultsOf(n *ad.Node, g *ad.Graph, values [][]float64) ([][]float64, error) {
	alone := ad.NewGraph()
	refs, args := make([]ad.Ref, len(n.Args)), make([][]float64, len(n.Args))
	for k, a := range n.Args {
		refs[k], args[k] = alone.Input(g.Type(a)), values[a]
	}
	r := alone.Do(n.Op, n.Attr, refs...)
	for k := range n.Results() {
		alone.Output(alone.Result(r, k))
	}
	return alone.Eval(args, &ad.Env{})
}

// termsOf returns the sum of the terms of a node; zeros if its own value counts.
func termsOf(n *ad.Node, g *ad.Graph, values, terms [][]float64) ([]float64, error) {
	dst := make([]float64, n.Type.Total())
	types := make([]ad.Type, len(n.Args))
	args := make([][]float64, len(n.Args))
	for k, a := range n.Args {
		types[k], args[k] = g.Nodes[a].Type, terms[a]
	}
	eval := func(n *ad.Node, args [][]float64) ([]float64, error) {
		out := make([]float64, n.Type.Total())
		return out, ad.EvalNode(n, types, args, out)
	}
	switch op := n.Op; {
	case op == ad.OpAdd || op == ad.OpSub:
		sum := *n
		sum.Op = ad.OpAdd
		return eval(&sum, args)
	case op == ad.OpNeg:
		copy(dst, args[0])
		return dst, nil
	case op == ad.OpMul || op == ad.OpMulGuarded || op == ad.OpDiv || op == ad.OpMatMul:
		// The terms of each factor, multiplied by the value of the other.
		first, err := eval(n, [][]float64{args[0], absolute(values[n.Args[1]])})
		if err != nil || op == ad.OpDiv {
			return first, err
		}
		second, err := eval(n, [][]float64{absolute(values[n.Args[0]]), args[1]})
		for i, v := range second {
			first[i] = max(first[i], v)
		}
		return first, err
	case op.Row().Class == ad.Linear:
		return eval(n, args)
	case op == ad.OpSelect:
		return eval(n, [][]float64{values[n.Args[0]], args[1], args[2]})
	}
	return dst, nil
}

func absolute(v []float64) []float64 {
	v = slices.Clone(v)
	for i, x := range v {
		v[i] = math.Abs(x)
	}
	return v
}

// graph binds the posterior again, to get its graph.
func (s *subject) graph(f form) (*compile.Model, error) {
	file := source.NewFile(s.model, s.text)
	p, list := compile.Compile(file)
	if p == nil {
		p, list = compile.CompileWith(file, compile.Options{Legacy: true})
	}
	if p == nil {
		return nil, &compile.Error{List: list}
	}
	set, err := data.ParseJSON(s.name, s.data)
	if err != nil {
		return nil, err
	}
	return p.Bind(set, compile.BindOptions{NoPropto: f.options.NoPropto, NoJacobian: f.options.NoJacobian, StanCompat: f.options.StanCompat})
}

// split divides a point into the inputs of a graph.
func split(g *ad.Graph, x []float64) [][]float64 {
	var in [][]float64
	for _, r := range g.Inputs {
		k := g.Type(r).Total()
		in, x = append(in, x[:k]), x[k:]
	}
	return in
}
