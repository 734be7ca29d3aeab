package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// keepLogs is the part of checkpointing for arrays that while loops carry and change element by
// element. Such a loop becomes a loop of runs: a run makes up to `rows` trips of the old loop and
// keeps the elements that they read, in place of copies of the arrays. The derivative repeats one
// run after the other from a copy of the arrays at its start, and then goes back through its trips,
// in time that does not depend on the length of the arrays. A gradient of the merge of two sorted
// vectors of 400 elements took 238 µs with copies, and takes 33.
//
// Loops within loops become one loop first (flatten). Where that is not possible, a while loop in
// the steps of a scan copies the arrays once in each step, and one within another while loop is
// left out.
func keepLogs(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpWhile) || !has(g, ad.OpReplace) && !has(g, ad.OpAddAt) {
		return g
	}
	g = readFinalArrays(g)
	return replaceRegions(g, nil, func(to *ad.Graph, n *ad.Node, attr any, args []ad.Ref, used []bool) (run ad.Ref, results []ad.Ref, _ any) {
		if flat, f := flattened(to, n, attr, used); flat != nil {
			read := make([]bool, len(flat.Results()))
			for k, u := range used {
				if u {
					read[f.place(k)] = true
				}
			}
			if run, all := inRuns(to, flat, f.args(to, args), read); all != nil {
				results = make([]ad.Ref, len(used))
				for k, u := range used {
					if u {
						results[k] = all[f.place(k)]
					}
				}
				return run, results, nil
			}
		}
		switch l := n.Layout(); {
		case l.Control == ad.Chosen && n.Type.Lanes == 0:
			l.Bodies = []*ad.Graph{keepLogs(l.Bodies[0]), keepLogs(l.Bodies[1])}
			attr = attr.(ad.RegionAttr).With(l)
		case l.Control == ad.Counted && n.Type.Lanes == 0:
			l.Bodies = []*ad.Graph{keepLogs(l.Bodies[0])}
			attr = attr.(ad.RegionAttr).With(l)
		case l.Control == ad.Tested && n.Type.Lanes == 0:
			run, results = inRuns(to, attr.(*ad.While), args, used)
		}
		return run, results, attr
	})
}

// inRuns adds a while loop to g as a loop of runs. It returns the loop and its results, None for
// those that nothing reads; nil results if no carried array is one that trips change element
// by element, or they use one in another way.
func inRuns(g *ad.Graph, w *ad.While, args []ad.Ref, used []bool) (ad.Ref, []ad.Ref) {
	l := w.Layout()
	for k, p := range l.Parts() {
		if used[k] && (p.From == ad.History || p.From == ad.Stride) {
			return ad.None, nil
		}
	}
	if slices.ContainsFunc(w.Cond.SideEffects, func(r ad.Ref) bool { return w.Cond.Nodes[r].Op == ad.OpPrint }) || w.Bounded {
		return ad.None, nil
	}
	carried := make([]bool, len(args))
	rows := 0
	for i := range w.Carries {
		n := w.Body.Type(w.Body.Inputs[i]).Size()
		carried[i] = n > 1
		if n >= minLogged {
			rows += n
		}
	}
	if rows == 0 {
		return ad.None, nil
	}
	rows = min(max(rows+rows%2, ad.DefaultSnapshots), maxRun)
	t := taping{left: maxTaped}
	body, read, _ := t.body(w.Body, carried, float64(rows))
	body.Outputs = slices.Insert(body.Outputs, w.Carries, read...)
	l.Bodies, l.Outs, l.Bounded = []*ad.Graph{w.Cond, body}, len(read), true
	for i := range w.Carries {
		if body.Type(body.Inputs[i]).Size() >= minLogged && !l.ReadAsKept(i) {
			return ad.None, nil
		}
	}

	// Both loops also count trips: the inner one those of the run, the outer one all.
	first, rest := args[:w.Carries], args[w.Carries:]
	open := func() (b *ad.Graph, carried []ad.Ref, count ad.Ref, captured []ad.Ref) {
		b = g.Sibling()
		for _, a := range first {
			carried = append(carried, b.Input(g.Type(a)))
		}
		count = b.Input(ad.Scalar)
		for _, a := range rest {
			captured = append(captured, b.Input(g.Type(a)))
		}
		return b, carried, count, captured
	}
	outputs := func(b *ad.Graph, rs ...ad.Ref) *ad.Graph {
		for _, r := range rs {
			b.Output(r)
		}
		return b
	}
	b, c, count, v := open()
	goesOn := b.Inline(w.Cond, slices.Concat(c, v), true)[0]
	run := &ad.While{Carries: w.Carries + 1, Outs: len(read), Sums: w.Sums, Snapshots: rows, Bounded: true}
	run.Cond = outputs(b, b.Select(b.Less(count, b.Const(float64(rows))), goesOn, b.Const(0)))
	b, c, count, v = open()
	next := b.Inline(body, slices.Concat(c, v), true)
	run.Body = outputs(b, slices.Insert(next, w.Carries, b.Add(count, b.Const(1)))...)

	all := &ad.While{Carries: w.Carries + 1, Sums: w.Sums, Snapshots: runSnapshots}
	b, c, _, v = open()
	all.Cond = outputs(b, b.Inline(w.Cond, slices.Concat(c, v), true)[0])
	b, c, count, v = open()
	r := b.DoWhile(run, slices.Concat(c, []ad.Ref{b.Const(0)}, v))
	for i := range w.Carries {
		b.Output(b.Final(r, i))
	}
	b.Output(b.Add(count, b.Final(r, w.Carries)))
	for i := range w.Sums {
		b.Output(b.SumOf(r, i))
	}
	all.Body = b

	r = g.DoWhile(all, slices.Concat(first, []ad.Ref{g.Const(0)}, rest))
	results := make([]ad.Ref, len(used))
	l = w.Layout()
	for k, p := range l.Parts() {
		switch results[k] = ad.None; {
		case !used[k]:
		case p.From == ad.Final:
			results[k] = g.Final(r, p.Output)
		case p.From == ad.Trips:
			results[k] = g.Final(r, w.Carries)
		default:
			results[k] = g.SumOf(r, p.Output-w.Carries)
		}
	}
	return r, results
}
