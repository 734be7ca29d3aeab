package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// rowwise is a scan whose steps read nothing that the steps just before them have written, such as
// one over the cells of a table that depend only on earlier rows. As many steps as lie between a
// step and the last one that it reads are lanes of one step of the new scan.
type rowwise struct {
	*skewing
	width int // steps of the old scan that one of the new has as lanes
}

// rowwiseOf returns the scan as a scan over rows, or nil.
func rowwiseOf(g *ad.Graph, scan *ad.Node, t *skewing) *rowwise {
	nearest := t.s.Steps
	for _, k := range t.read {
		nearest = min(nearest, t.place[k][1])
	}
	if nearest < minRowLanes {
		return nil
	}
	width := nearest
	for t.s.Steps%width != 0 {
		width--
	}
	if 2*width < nearest || width < minRowLanes || width == t.s.Steps {
		return nil
	}
	r := &rowwise{t, width}
	for c := range t.chains {
		if r.depth(c) > maxUp {
			return nil
		}
	}
	t.findWhole(g, scan)
	return r
}

// depth returns the number of rows that a chain has carried values of.
func (t *rowwise) depth(chain int) int {
	return (len(t.chains[chain]) + t.width - 1) / t.width
}

// first returns the index of a chain's first carried row in the new scan. The oldest row comes
// first.
func (t *rowwise) first(chain int) (k int) {
	for c := range chain {
		k += t.depth(c)
	}
	return k
}

// scan adds the scan over rows.
func (t *rowwise) scan(g *ad.Graph, args []ad.Ref) ad.Ref {
	s, from := t.s, t.s.Body
	to := from.Sibling()
	w := ad.NewRewriter(from, to)
	row := ad.Type{Shape: []int{t.width}}
	steps := s.Steps / t.width
	var start, streams, captures []ad.Ref
	rows := make([][]ad.Ref, len(t.chains))
	for c, chain := range t.chains {
		before := t.before(g, args, c)
		if none := t.depth(c)*t.width - len(chain); none > 0 { // no step reads these
			before = append([]ad.Ref{g.Broadcast(g.Const(0), []int{none})}, before...)
		}
		all := g.Concat(before...)
		for k := range t.depth(c) {
			rows[c] = append(rows[c], to.Input(row))
			start = append(start, g.Slice(all, k*t.width, row.Shape))
		}
	}
	for k, in := range from.Inputs[s.Carries : s.Carries+s.Streams] {
		w.Put(in, to.Reshape(to.Lane(to.Input(row)), from.Type(in).Shape))
		streams = append(streams, g.Reshape(args[s.Carries+k], []int{steps, t.width}))
	}
	for k, in := range from.Inputs[s.Carries+s.Streams:] {
		w.Put(in, to.Input(from.Type(in)))
		captures = append(captures, args[s.Carries+s.Streams+k])
	}
	for _, k := range t.read {
		c, age := t.place[k][0], t.place[k][1]
		at := len(rows[c])*t.width - age
		x := rows[c][at/t.width]
		if over := at % t.width; over > 0 {
			x = to.Concat(to.Slice(x, over, []int{t.width - over}), to.Slice(rows[c][at/t.width+1], 0, []int{over}))
		}
		w.Put(from.Inputs[k], to.Reshape(to.Lane(x), from.Type(from.Inputs[k]).Shape))
	}
	flat := func(r ad.Ref) ad.Ref {
		return to.Reshape(to.Unlane(to.Spread(w.Reach(r), t.width)), row.Shape)
	}
	var heads []ad.Ref
	for c, chain := range t.chains {
		heads = append(heads, flat(from.Outputs[chain[0]]))
		for _, r := range rows[c][1:] {
			to.Output(r)
		}
		to.Output(heads[c])
	}
	for i := range s.Outs {
		t.keep(to, flat, i)
	}
	outs := s.Outs
	for c, x := range heads {
		if t.whole[c] {
			to.Output(x)
			outs++
		}
	}
	return g.DoScan(&ad.Scan{Body: to, Carries: len(start), Streams: len(streams), Outs: outs, Steps: steps, Limit: s.Limit, Finite: s.Finite},
		slices.Concat(start, streams, captures))
}

// result returns result k of the old scan.
func (t *rowwise) result(g *ad.Graph, scan ad.Ref, args []ad.Ref, k int) ad.Ref {
	s := t.s
	if k >= 2*s.Carries {
		k -= 2 * s.Carries
		return g.Reshape(g.Kept(scan, k), append([]int{s.Steps}, s.Body.Type(s.Body.Outputs[s.Carries+k]).Shape...))
	}
	c, age := t.place[k%s.Carries][0], t.place[k%s.Carries][1]
	if t.whole[c] {
		return t.fromWhole(g, args, k, g.Reshape(g.Kept(scan, t.wholeOut(c)), []int{s.Steps}))
	}
	at := t.depth(c)*t.width - age
	return g.Slice(g.Final(scan, t.first(c)+at/t.width), at%t.width, s.Body.Type(s.Body.Inputs[k]).Shape)
}
