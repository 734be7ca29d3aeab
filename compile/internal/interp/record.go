package interp

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/source"
)

// recorder is the graph to which an evaluation adds the values that it computes from parameters.
type recorder struct {
	g     *ad.Graph
	sites *sites
}

// sites gives the places of nodes in the program numbers.
type sites struct {
	spans []source.Span
	of    map[source.Span]ad.Site
}

func newSites() *sites { return &sites{spans: make([]source.Span, 1), of: map[source.Span]ad.Site{}} }

func (s *sites) site(at source.Span) ad.Site {
	id, ok := s.of[at]
	if !ok {
		id = ad.Site(len(s.spans))
		s.spans = append(s.spans, at)
		s.of[at] = id
	}
	return id
}

// begin sets the place to which the following nodes belong.
func (r *recorder) begin(at source.Span) { r.g.SetSite(r.sites.site(at)) }

// recorded describes how the elements of an array of reals were recorded. An array that was
// computed as a whole is one node. Elements that were read or assigned one by one have separate
// nodes.
type recorded struct {
	whole   ad.Ref   // of all elements but those assigned since; None: constants
	refs    []ad.Ref // for each element its node, None for a constant, or unread; nil: all unread
	written bool     // whether elements were assigned since whole was made
}

// unread marks an element for which no node has been made yet: it is an element of whole.
const unread ad.Ref = -2

// absent returns the nodes of n elements that are constants.
func absent(n int) []ad.Ref { return slices.Repeat([]ad.Ref{ad.None}, n) }

func (r *recorded) clone() *recorded {
	if r == nil {
		return nil
	}
	c := *r
	c.refs = slices.Clone(r.refs)
	return &c
}

// elements allocates the nodes of n elements.
func (r *recorded) elements(n int) {
	if r.refs != nil {
		return
	}
	none := unread
	if r.whole == ad.None {
		none = ad.None
	}
	r.refs = slices.Repeat([]ad.Ref{none}, n)
}

// refAt returns the node of an element, None if it is a constant.
func (m *machine) refAt(a *array, i int) ad.Ref {
	if a.rec == nil {
		return ad.None
	}
	r := a.rec
	if len(a.shape) == 0 && !r.written {
		return r.whole
	}
	r.elements(len(a.reals))
	if r.refs[i] == unread {
		r.refs[i] = m.rec.g.Gather(r.whole, ad.Index{Offset: i})
	}
	return r.refs[i]
}

// setRef records that ref, the node of a value, was assigned to an element.
func (m *machine) setRef(a *array, i int, ref ad.Ref) {
	if a.rec == nil {
		if ref == ad.None {
			return
		}
		a.rec = &recorded{whole: ad.None}
	}
	a.rec.elements(len(a.reals))
	a.rec.refs[i] = ref
	a.rec.written = true
}

// refOf returns the node of a whole array, in its shape; None if it is a constant.
func (m *machine) refOf(a *array) ad.Ref {
	r := a.rec
	if r == nil {
		return ad.None
	}
	if !r.written {
		return r.whole
	}
	parts := make([]ad.Ref, len(a.reals))
	constant := true
	for i, x := range a.reals {
		if parts[i] = m.refAt(a, i); parts[i] == ad.None {
			parts[i] = m.rec.g.Const(x)
		} else {
			constant = false
		}
	}
	if constant {
		a.rec = nil
		return ad.None
	}
	r.whole, r.written = m.rec.g.Reshape(m.rec.g.Concat(parts...), a.shape), false
	return r.whole
}

// partOf returns the record of n elements of a, whose positions place returns.
func (m *machine) partOf(a *array, n int, place func(k int) int) *recorded {
	if n == 0 {
		return nil
	}
	r := a.rec
	if !r.written {
		ix := ad.Index{Offset: place(0), Dims: []ad.Dim{{N: n}}}
		if n > 1 {
			ix.Dims[0].Stride = place(1) - place(0)
		}
		for k := range n {
			if place(k) != ix.Offset+k*ix.Dims[0].Stride {
				table := make([]int32, n)
				for k := range table {
					table[k] = int32(place(k))
				}
				ix = ad.Index{Dims: []ad.Dim{{N: n, Table: table}}}
				break
			}
		}
		return &recorded{whole: m.rec.g.Gather(r.whole, ix)}
	}
	out := &recorded{whole: ad.None, refs: make([]ad.Ref, n), written: true}
	for k := range out.refs {
		out.refs[k] = m.refAt(a, place(k))
	}
	return out
}

// shaped gives the recorded node of an array the array's shape.
func (m *machine) shaped(a *array) *array {
	if a.rec != nil && a.rec.whole != ad.None {
		a.rec.whole = m.rec.g.Reshape(a.rec.whole, a.shape)
	}
	return a
}

// operand returns the node of a number: a constant if it was not recorded.
func (m *machine) operand(x float64, r ad.Ref) ad.Ref {
	if r == ad.None {
		return m.rec.g.Const(x)
	}
	return r
}

// compute builds values from args on a separate graph and evaluates it, including its side effects.
// Recorded args are inputs of this graph, which then becomes part of the record. If plain is set,
// nothing is recorded.
func (m *machine) compute(at source.Span, args []*array, plain bool, build func(g *ad.Graph, a []ad.Ref) []ad.Ref) []*array {
	const statements = 64 // a call takes the time of that many
	if m.ticks -= statements; m.ticks < 0 {
		m.ask(at)
	}
	g := ad.NewGraph()
	g.Use(m.budget)
	g.Eager()
	refs := make([]ad.Ref, len(args))
	var outer []ad.Ref
	var inputs [][]float64
	records := !plain && slices.ContainsFunc(args, func(a *array) bool { return m.refOf(a) != ad.None })
	for i, a := range args {
		t := ad.Type{Shape: a.shape}
		switch r := m.refOf(a); {
		case records && r != ad.None:
			refs[i] = g.Input(t)
			outer, inputs = append(outer, r), append(inputs, a.reals)
		case records: // the variable may change before the record is used
			refs[i] = g.ConstArray(t, slices.Clone(a.floats()))
		default:
			refs[i] = g.ConstArray(t, a.floats())
		}
	}
	g.Outputs = m.catch(at, func() []ad.Ref { return build(g, refs) })
	out := make([]*array, len(g.Outputs))
	values := make([][]float64, len(out))
	known := len(g.SideEffects) == 0
	for k, r := range g.Outputs {
		v, ok := g.Value(r)
		known = known && ok
		values[k] = v
	}
	if !known {
		var err error
		if values, err = g.Eval(inputs, &ad.Env{Rand: m.opts.Rand, Print: m.opts.Print, Stop: m.opts.Stop}); err != nil {
			m.rejected(at, err)
		}
	}
	for k, r := range g.Outputs {
		// Constants may share storage with arguments and with one another.
		out[k] = &array{shape: g.Type(r).Shape, reals: slices.Clone(values[k])}
		if out[k].reals == nil {
			out[k].reals = []float64{}
		}
	}
	m.budget.Return(g.Taken()) // only the values remain
	if !records || known {
		return out
	}
	m.rec.begin(at)
	for k, r := range m.rec.g.Inline(g, outer, false) {
		if _, ok := m.rec.g.Value(r); !ok {
			out[k].rec = &recorded{whole: r}
		}
	}
	return out
}
