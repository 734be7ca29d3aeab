package passes

import (
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file: the scan that pass log-products builds.

// results adds a scan with products to a graph. It returns the used results of the old scan. If
// scaled, the products are of exponentials, and the last result is not 0 if a sum underflows or a
// term is +Inf.
func (x *logProducts) results(g *ad.Graph, args []ad.Ref, used []bool, scaled bool) []ad.Ref {
	s, b := x.s, x.b
	m := newLogProductScan(x, g, args)
	m.scaled = scaled
	m.inner = ad.NewRewriter(b, m.to)
	m.states()
	m.streams()
	m.firstCaptured = len(m.newArgs)
	for k := s.Carries + s.Streams; k < len(args); k++ {
		m.inner.Input(b.Inputs[k])
		m.newArgs = append(m.newArgs, args[k])
	}
	m.evaluate()

	next := make([]ad.Ref, len(b.Outputs))
	for k, r := range b.Outputs {
		if k < s.Carries || used[s.Carries+k] {
			next[k] = m.value(r)
		}
	}
	var single []int
	var rows []ad.Ref
	for _, k := range x.packed {
		rows = append(rows, m.to.Reshape(next[k], []int{1}))
	}
	if rows != nil {
		m.to.Output(m.to.Concat(rows...))
	}
	for k := range s.Carries {
		if !slices.Contains(x.packed, k) {
			m.to.Output(next[k])
			single = append(single, k)
		}
	}
	ncarried := len(m.to.Outputs)
	var kept, sums []int
	for k := range b.Outputs[s.Carries:] {
		switch {
		case !used[2*s.Carries+k]:
		case k < s.Outs:
			kept = append(kept, k)
			m.to.Output(next[s.Carries+k])
		default:
			sums = append(sums, k)
			m.to.Output(next[s.Carries+k])
		}
	}
	nsums := len(sums)
	if scaled {
		m.to.Output(m.lost)
		nsums++
	}
	scan := m.scan(ncarried, len(kept), nsums)

	out := make([]ad.Ref, len(used), len(used)+1)
	for k := range out {
		out[k] = ad.None
	}
	for _, of := range []struct {
		at     int
		result func(scan ad.Ref, i int) ad.Ref
	}{{0, g.Final}, {s.Carries, g.History}} {
		first := 0
		if x.packed != nil {
			first = 1
		}
		for i, k := range single {
			if used[of.at+k] {
				out[of.at+k] = of.result(scan, first+i)
			}
		}
		for i, k := range x.packed {
			if !used[of.at+k] {
				continue
			}
			t := s.Results()[of.at+k]
			ix := ad.Index{Offset: i, Dims: []ad.Dim{{N: t.Size(), Stride: len(x.packed)}}}
			v := of.result(scan, 0)
			out[of.at+k] = g.Reshape(g.Gather(g.Reshape(v, []int{g.Type(v).Size()}), ix), t.Shape)
		}
	}
	for i, k := range kept {
		out[2*s.Carries+k] = g.Kept(scan, i)
	}
	for i, k := range sums {
		out[2*s.Carries+k] = g.SumOf(scan, i)
	}
	if scaled {
		out = append(out, g.SumOf(scan, len(sums)))
	}
	return out
}

// logProductScan is a new scan, in the graph g.
type logProductScan struct {
	*logProducts
	g, to        *ad.Graph
	args         []ad.Ref
	newArgs      []ad.Ref
	scaled       bool
	outer, inner *ad.Rewriter      // to g, and to the body
	joined       map[string]ad.Ref // streams that are one array in the new scan, by their terms
	vector       ad.Ref            // the packed carried values
	values       []ad.Ref          // by product
	lost         ad.Ref            // number of sums that underflow
	moved        originTable       // of nodes of g

	firstCaptured int // input of the new body
}

func newLogProductScan(x *logProducts, g *ad.Graph, args []ad.Ref) *logProductScan {
	m := &logProductScan{logProducts: x, g: g, to: g.Sibling(), args: args, lost: ad.None, moved: originTable{}}
	m.outer = ad.NewRewriter(x.b, g)
	m.outer.Outside = func(r ad.Ref) ad.Ref {
		if n := &x.b.Nodes[r]; n.Op == ad.OpInput {
			return args[n.Attr.(int)]
		}
		return ad.None
	}
	return m
}

func (m *logProductScan) input(t ad.Type, arg ad.Ref) ad.Ref {
	m.newArgs = append(m.newArgs, arg)
	return m.to.Input(t)
}

func (m *logProductScan) states() {
	b := m.b
	if n := len(m.packed); n > 0 {
		inits := make([]ad.Ref, n)
		for i, k := range m.packed {
			inits[i] = m.g.Reshape(m.args[k], []int{1})
		}
		m.vector = m.input(ad.Type{Shape: []int{n}}, m.g.Concat(inits...))
		for i, k := range m.packed {
			in := b.Inputs[k]
			m.inner.Put(in, m.to.Reshape(m.to.Slice(m.vector, i, []int{1}), b.Type(in).Shape))
		}
	}
	for k := range m.s.Carries {
		if !slices.Contains(m.packed, k) {
			m.inner.Input(b.Inputs[k])
			m.newArgs = append(m.newArgs, m.args[k])
		}
	}
}

// streams adds the streams, and vectors of numbers that were separate streams.
func (m *logProductScan) streams() {
	s, b := m.s, m.b
	for k := s.Carries; k < s.Carries+s.Streams; k++ {
		m.inner.Input(b.Inputs[k])
		m.newArgs = append(m.newArgs, m.args[k])
	}
	m.joined = map[string]ad.Ref{}
	join := func(terms [][]place) {
		for _, column := range columns(terms) {
			key := fmt.Sprint(column)
			if _, known := m.joined[key]; known || !m.numbers(column) {
				continue
			}
			parts := make([]ad.Ref, len(column))
			for i, t := range column {
				parts[i] = m.g.Reshape(m.args[b.Nodes[t.r].Attr.(int)], []int{s.Steps})
			}
			all := m.g.Reshape(m.g.Concat(parts...), []int{len(column), s.Steps})
			m.joined[key] = m.input(ad.Type{Shape: []int{len(column)}}, m.g.Transpose(all))
		}
	}
	for _, p := range m.products {
		join(p.vector)
		join(p.added)
	}
	for _, r := range b.Outputs {
		if _, rest, ok := m.sums(r); ok {
			join(rest)
		}
	}
}

// columns returns the k-th terms of all elements, for each k. All have the same number of terms.
func columns(terms [][]place) [][]place {
	out := make([][]place, len(terms[0]))
	for k := range out {
		for _, ts := range terms {
			out[k] = append(out[k], ts[k])
		}
	}
	return out
}

// numbers reports whether all places are different streams of numbers.
func (m *logProductScan) numbers(column []place) bool {
	seen := map[ad.Ref]bool{}
	for _, t := range column {
		n := &m.b.Nodes[t.r]
		if n.Op != ad.OpInput || m.kind[t.r] != onStep || n.Type.Size() != 1 || seen[t.r] {
			return false
		}
		seen[t.r] = true
	}
	return len(column) > 1
}

// sums returns an array of the body as rows of one product plus other terms.
func (m *logProductScan) sums(r ad.Ref) (rows []place, rest [][]place, ok bool) {
	n := m.b.Type(r).Size()
	if n < minLogRows || n > maxLogProduct {
		return nil, nil, false
	}
	rest = make([][]place, n)
	for e := range n {
		terms, ok := m.terms(place{r, e}, nil)
		if !ok {
			return nil, nil, false
		}
		sorting.Stable(terms, cmpPlaces)
		for _, t := range terms {
			at, isRow := m.row[t.r]
			switch {
			case !isRow:
				rest[e] = append(rest[e], t)
			case len(rows) > e || e > 0 && m.row[rows[0].r][0] != at[0]: // two rows, or of different products
				return nil, nil, false
			default:
				rows = append(rows, t)
			}
		}
		if len(rows) != e+1 || len(rest[e]) != len(rest[0]) {
			return nil, nil, false
		}
	}
	return rows, rest, true
}

// value returns the counterpart of an output of the body.
func (m *logProductScan) value(r ad.Ref) ad.Ref {
	rows, rest, ok := m.sums(r)
	if !ok {
		return m.inner.Reach(r)
	}
	v := m.gather(rows)
	for _, column := range columns(rest) {
		v = m.to.Add(v, m.gather(column))
	}
	return m.to.Reshape(v, m.b.Type(r).Shape)
}

// gather returns a vector of elements of the body.
func (m *logProductScan) gather(at []place) ad.Ref {
	if v, ok := m.joined[fmt.Sprint(at)]; ok {
		return v
	}
	if len(at) == len(m.packed) {
		all := true
		for i, t := range at {
			all = all && t.r == m.b.Inputs[m.packed[i]]
		}
		if all {
			return m.vector
		}
	}
	from := make([]place, len(at))
	for i, t := range at {
		if row, ok := m.row[t.r]; ok {
			from[i] = place{m.values[row[0]], row[1]}
		} else {
			from[i] = place{m.inner.Reach(t.r), t.e}
		}
	}
	return gatherPlaces(m.to, from)
}

// evaluate adds the products to the body.
func (m *logProductScan) evaluate() {
	to := m.to
	for _, p := range m.products {
		n, k := len(p.rows), len(p.vector)
		var vector, y ad.Ref
		for i, column := range columns(p.vector) {
			if v := m.gather(column); i == 0 {
				vector = v
			} else {
				vector = to.Add(vector, v)
			}
		}
		if m.scaled {
			_, most, factors := m.factors(p.matrix, k)
			factors = m.capture(factors)
			top := finite(to, to.Detach(to.Do(ad.OpMaxOf, nil, vector)))
			s := to.MatVec(factors, scaledExp(to, vector, top))
			none := to.Equal(s, to.Const(0)) // all terms are -Inf
			lost := lostSums(to, s)
			if m.lost == ad.None {
				m.lost = lost
			} else {
				m.lost = to.Add(m.lost, lost)
			}
			s = to.Do(ad.OpMax, nil, s, to.Const(minLogProduct))
			y = to.SelectFinite(none, to.Const(math.Inf(-1)), to.Log(s))
			y = to.Add(to.Add(y, m.capture(most)), top) // NaN if an impossible transition leaves a state with +Inf
		} else {
			cols := ad.Index{Dims: []ad.Dim{{N: n}, {N: k, Stride: 1}}}
			y = to.LogSumExp(to.Add(to.Gather(vector, cols), m.capture(m.matrix(p.matrix, k))))
		}
		for _, column := range columns(p.added) {
			y = to.Add(y, m.gather(column))
		}
		m.values = append(m.values, y)
		for i, r := range p.rows {
			m.inner.Put(r, to.Reshape(to.Slice(y, i, nil), m.b.Type(r).Shape))
		}
	}
}

// matrix returns the matrix with these terms, in rows of k elements, in the graph g.
func (m *logProductScan) matrix(terms [][]place, k int) ad.Ref {
	g, matrix := m.g, ad.None
	for _, column := range columns(terms) {
		for i, t := range column {
			column[i] = m.moved.first(g, place{m.outer.Reach(t.r), t.e})
		}
		v := g.Reshape(gatherPlaces(g, column), []int{len(terms) / k, k})
		if matrix != ad.None {
			v = g.Add(matrix, v)
		}
		matrix = v
	}
	return matrix
}

// factors returns that matrix, the greatest elements of its rows, and its exponentials divided by
// those of the greatest.
func (m *logProductScan) factors(terms [][]place, k int) (matrix, most, factors ad.Ref) {
	g := m.g
	matrix = m.matrix(terms, k)
	most = finite(g, g.Detach(g.Do(ad.OpMaxOf, nil, matrix)))
	rows := ad.Index{Dims: []ad.Dim{{N: len(terms) / k, Stride: 1}, {N: k}}}
	return matrix, most, scaledExp(g, matrix, g.Gather(most, rows))
}

// finite returns x, or the least number where x is -Inf.
func finite(g *ad.Graph, x ad.Ref) ad.Ref { return g.Do(ad.OpMax, nil, x, g.Const(-math.MaxFloat64)) }

// lostSums returns the number of sums that underflow: those that are small but not 0.
func lostSums(g *ad.Graph, sums ad.Ref) ad.Ref {
	none := g.Equal(sums, g.Const(0))
	return g.Sum(g.Do(ad.OpNot, nil, g.Add(none, g.Do(ad.OpLessEqual, nil, g.Const(minLogProduct), sums))))
}

// scaledExp returns exp(x - most), plus smallTerm where x is not -Inf. If most is +Inf, all terms
// are smallTerm or 0, so that sums underflow: fmax returns the number if the difference is NaN. So
// terms and their derivatives are finite.
func scaledExp(g *ad.Graph, x, most ad.Ref) ad.Ref {
	difference := g.Do(ad.OpMax, nil, g.Sub(x, most), g.Const(-math.MaxFloat64))
	return g.Add(g.Exp(difference), g.Scale(smallTerm, g.Less(g.Const(math.Inf(-1)), x)))
}

// finite reports whether the body has nothing but the products, their sums with other terms, and
// moves of elements.
func (m *logProductScan) finite() bool {
	for i, live := range m.b.Live(m.b.Outputs, true) {
		switch op := m.b.Nodes[i].Op; op {
		case ad.OpInput, ad.OpConst, ad.OpAdd, ad.OpSub, ad.OpNeg, ad.OpGather, ad.OpReshape, ad.OpConcat:
		default:
			if _, isRow := m.row[ad.Ref(i)]; live && !isRow {
				return false
			}
		}
	}
	return true
}

// capture adds an input with a value that is the same in all steps.
func (m *logProductScan) capture(r ad.Ref) ad.Ref {
	return m.input(ad.Type{Shape: m.g.Type(r).Shape}, r)
}

// scan adds the new scan, without inputs that are not used.
func (m *logProductScan) scan(ncarried, outs, sums int) ad.Ref {
	body := m.g.Sibling()
	w := ad.NewRewriter(m.to, body)
	live := m.to.Live(m.to.Outputs, true)
	streams := 0
	var args []ad.Ref
	for k, r := range m.to.Inputs {
		if k >= ncarried && !live[r] {
			continue
		}
		w.Input(r)
		args = append(args, m.newArgs[k])
		if k >= ncarried && k < m.firstCaptured {
			streams++
		}
	}
	w.Run(live)
	for _, r := range m.to.Outputs {
		body.Output(w.At(r))
	}
	s := m.s
	return m.g.DoScan(&ad.Scan{Body: body, Carries: ncarried, Streams: streams, Outs: outs, Sums: sums, Steps: s.Steps, Reverse: s.Reverse, Limit: s.Limit,
		Finite: m.scaled && m.finite()}, args)
}
