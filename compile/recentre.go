package compile

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: other coordinates for the effects of hierarchical models.
//
// An effect θ with location μ and scale σ that parameters decide, as by
// θ ~ normal(μ, σ), can be sampled as it is (centred), as (θ - μ)/σ (non-centred), or
// between these: u = λμ + σ^(λ-1)·(θ - μ). Which λ makes the posterior easy depends on how
// much the data tell about θ. A map from u to the model's own coordinates x,
//
//	x = wμ + σ^(w-λ)·(u - λμ)
//
// has w = 1 where x is θ, and w = 0 where x is (θ - μ)/σ, because the program is written
// that way: effects with a standard normal distribution that are only used as μ + σx.
// μ and σ depend on no effect of their own statement (but for chains, recurrence.go), so the derivative of the whole map is
// triangular with positive diagonal, and its log Jacobian is Σ (w-λ) log σ: the map is
// exact, whatever else the program does with these parameters. Only whether it pays
// rests on what is found here.
//
// The idea is that of Gorinova, Moore and Hoffman, Automatic Reparameterisation of
// Probabilistic Programs (2020).

// Site is a group of effects that can be sampled in other coordinates.
type Site struct {
	Span     source.Span // of the statement with the location and scale, or where they are applied
	Density  string      // such as "normal"
	Centred  bool        // as it is written
	Chain    bool        // each has a location that the one before it decides, or begins a chain
	Elements []int       // of the unconstrained point
	Names    []string    // of these
}

// locationScale are the densities whose variate can be shifted and scaled, with the
// places of location and scale among their arguments.
var locationScale = map[string][2]int{
	"normal_lpdf": {1, 2}, "cauchy_lpdf": {1, 2}, "logistic_lpdf": {1, 2}, "double_exponential_lpdf": {1, 2},
	"student_t_lpdf": {2, 3},
	"lognormal_lpdf": {1, 2}, // of the logarithm
}

const (
	mostLevels = 4       // of effects whose locations and scales are effects themselves
	mostTraced = 1 << 21 // elements of a value that is looked through
)

// element is one element of a node.
type element struct {
	ref ad.Ref
	at  int
}

// origin says that an element of a value is element i of the point, or is made of it
// in a way that can be shifted and scaled.
type origin struct {
	i     int32 // -1: it is not
	how   manner
	scale element // of what is scaled
}

type manner uint8

const (
	asItIs      manner = iota
	exponential        // its exponential
	scaled             // its product with scale
)

// group is a site with what its effects depend on.
type group struct {
	Site
	location, scale []element // location.ref is ad.None where there is none
	depends         map[int]bool
}

// Recentring is the map between the coordinates u of sampling and those of the model.
// It is not safe for concurrent use; clones are.
type Recentring struct {
	sites    []Site
	elements []int
	written  []float64

	forward, pull, inverse, push     *vm.Program
	mForward, mPull, mInverse, mPush *vm.Machine // of these
	env                              *ad.Env
}

// recentred is what clones of a model share.
type recentred struct {
	mu   sync.Mutex
	done bool
	r    *Recentring
	err  error
}

// Map finds the effects that can be sampled in other coordinates; nil: there are
// none. The first call evaluates the program once more. What it returns is the caller's.
func (m *Model) Map() (*Recentring, error) {
	o := &m.made.recentred
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.done {
		o.r, o.err = m.recentring()
		o.done = o.err == nil || m.env.Stop == nil || m.env.Stop() == nil // what was stopped can be done later
	}
	if o.r == nil {
		return nil, o.err
	}
	return o.r.Clone(), nil
}

// Recentring is Map for package infer.
func (m *Model) Recentring() (interface {
	Elements() []int
	Written() []float64
	Chained() []bool
	Forward(u, lambda, x []float64) (float64, error)
	Pull(u, lambda, gx, gu []float64) error
	Inverse(x, lambda, u []float64) error
	Push(x, lambda, gu, gx []float64) error
	LogScales(x, dst []float64) error
}, error) {
	r, err := m.Map()
	if r == nil {
		return nil, err
	}
	return r, err
}

// Clone shares nothing that an evaluation changes.
func (r *Recentring) Clone() *Recentring {
	c := *r
	c.mForward, c.mPull, c.mInverse, c.mPush, c.env = r.forward.New(), r.pull.New(), r.inverse.New(), r.push.New(), &ad.Env{}
	return &c
}

// Sites lists the groups of effects.
func (r *Recentring) Sites() []Site { return r.sites }

// Chained tells which effects are in chains.
func (r *Recentring) Chained() []bool {
	var all []bool
	for _, s := range r.sites {
		all = append(all, slices.Repeat([]bool{s.Chain}, len(s.Elements))...)
	}
	return all
}

// Elements are the places of the effects in the point, one for each number of λ.
func (r *Recentring) Elements() []int { return r.elements }

// Written is the λ of the coordinates that the model has asItIs: 1 or 0 each.
func (r *Recentring) Written() []float64 { return r.written }

// Forward writes the model's point of u to x and returns the log Jacobian of the map.
func (r *Recentring) Forward(u, lambda, x []float64) (float64, error) {
	copy(r.mForward.Input(0), u)
	copy(r.mForward.Input(1), lambda)
	if err := r.mForward.Run(r.env); err != nil {
		return 0, err
	}
	copy(x, r.mForward.Output(0))
	return r.mForward.Output(1)[0], nil
}

// Pull writes the gradient by u of gx·x(u) plus the log Jacobian to gu.
func (r *Recentring) Pull(u, lambda, gx, gu []float64) error {
	copy(r.mPull.Input(0), u)
	copy(r.mPull.Input(1), lambda)
	copy(r.mPull.Input(2), gx)
	if err := r.mPull.Run(r.env); err != nil {
		return err
	}
	copy(gu, r.mPull.Output(0))
	return nil
}

// Inverse writes to u what Forward makes x of.
func (r *Recentring) Inverse(x, lambda, u []float64) error {
	copy(r.mInverse.Input(0), x)
	copy(r.mInverse.Input(1), lambda)
	if err := r.mInverse.Run(r.env); err != nil {
		return err
	}
	copy(u, r.mInverse.Output(0))
	return nil
}

// LogScales writes the logarithms of the scales of the effects at x.
func (r *Recentring) LogScales(x, dst []float64) error {
	copy(r.mInverse.Input(0), x)
	copy(r.mInverse.Input(1), r.written)
	if err := r.mInverse.Run(r.env); err != nil {
		return err
	}
	copy(dst, r.mInverse.Output(2))
	return nil
}

// Push writes the gradient by x of gu·u(x) less the log Jacobian to gx: the inverse of
// Pull.
func (r *Recentring) Push(x, lambda, gu, gx []float64) error {
	copy(r.mPush.Input(0), x)
	copy(r.mPush.Input(1), lambda)
	copy(r.mPush.Input(2), gu)
	if err := r.mPush.Run(r.env); err != nil {
		return err
	}
	copy(gx, r.mPush.Output(0))
	return nil
}

func (m *Model) recentring() (r *Recentring, err error) {
	if m.Interpreted() {
		return nil, nil
	}
	info, err := m.information()
	if err != nil {
		return nil, err
	}
	defer ad.Recover(&err)
	g, x := m.point()
	statements := m.statements(g, x, info)
	levels := m.sites(g, x, statements, info.Calls)
	if len(levels) == 0 {
		return nil, nil
	}
	r = &Recentring{}
	for _, l := range levels {
		for _, s := range l {
			r.sites = append(r.sites, s.Site)
			r.elements = append(r.elements, s.Elements...)
			w := 0.0
			if s.Centred {
				w = 1
			}
			for range s.Elements {
				r.written = append(r.written, w)
			}
		}
	}
	assemble := func(h *ad.Graph) *vm.Program {
		w := &work{graph: h}
		if err == nil {
			err = w.assemble(passes.Options{Without: m.without, Budget: h.Budget()})
		}
		return w.program
	}

	point := ad.Type{Shape: []int{m.dim}}
	for _, p := range []struct {
		plain, gradient **vm.Program
		build           func(h, source *ad.Graph, levels [][]*group, from ad.Ref) (to, jacobian, logScale ad.Ref)
	}{{&r.forward, &r.pull, r.build}, {&r.inverse, &r.push, r.invert}} {
		h := m.within()
		to, jacobian, logScale := p.build(h, g, levels, h.Input(point))
		h.Output(to)
		h.Output(jacobian)
		h.Output(logScale)
		*p.plain = assemble(h)
		h = m.within()
		from := h.Input(point)
		to, jacobian, _ = p.build(h, g, levels, from)
		h.Output(h.Grad(h.Add(h.Sum(h.Mul(h.Input(point), to)), jacobian), from)[0])
		*p.gradient = assemble(h)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// build adds the map to h: the input λ, then the point of u, the log Jacobian and those
// of the scales.
// source is the graph that locations and scales are nodes of.
func (r *Recentring) build(h, source *ad.Graph, levels [][]*group, u ad.Ref) (x, jacobian, logScale ad.Ref) {
	lambda := h.Input(ad.Type{Shape: []int{len(r.elements)}})
	x, jacobian = u, h.Const(0)
	done := 0
	var scales []ad.Ref
	for _, l := range levels {
		e := r.effects(h, source, l, x, lambda, &done)
		// Where λ is as written, a is 1 and the value exactly that of u.
		a := h.Exp(h.Mul(h.Sub(e.written, e.lambda), e.logScale))
		alone, factor := h.Mul(a, e.of(h, u)), h.Sub(e.written, h.Mul(e.lambda, a))
		if slices.ContainsFunc(l, func(s *group) bool { return s.Chain }) {
			x = e.put(h, x, r.along(h, source, e, x, alone, factor))
		} else {
			x = e.put(h, x, h.Add(alone, h.Mul(collect(h, source, x, e.locations), factor)))
		}
		jacobian = h.Add(jacobian, h.Sum(h.Mul(h.Sub(e.written, e.lambda), e.logScale)))
		scales = append(scales, e.logScale)
	}
	return x, jacobian, h.Concat(scales...)
}

// invert adds the inverse to h, as build.
func (r *Recentring) invert(h, source *ad.Graph, levels [][]*group, x ad.Ref) (u, jacobian, logScale ad.Ref) {
	lambda := h.Input(ad.Type{Shape: []int{len(r.elements)}})
	done := 0
	e := r.effects(h, source, slices.Concat(levels...), x, lambda, &done)
	a := h.Exp(h.Mul(h.Sub(e.lambda, e.written), e.logScale))
	moved := h.Add(h.Mul(a, e.of(h, x)), h.Mul(collect(h, source, x, e.locations), h.Sub(e.lambda, h.Mul(e.written, a))))
	return e.put(h, x, moved), h.Sum(h.Mul(h.Sub(e.lambda, e.written), e.logScale)), e.logScale
}

// effects are some of the effects in a graph.
type effects struct {
	elements                  []int
	locations                 []element
	logScale, written, lambda ad.Ref // vectors
}

// effects are those of groups at x, of which done are done.
func (r *Recentring) effects(h, source *ad.Graph, groups []*group, x, lambda ad.Ref, done *int) effects {
	var e effects
	var scale []element
	for _, s := range groups {
		e.elements = append(e.elements, s.Elements...)
		e.locations, scale = append(e.locations, s.location...), append(scale, s.scale...)
	}
	n := len(e.elements)
	// Of what a standard variable is multiplied with only the size matters, and it may have
	// either sign.
	size := collect(h, source, x, scale)
	size = h.Select(h.Less(size, h.Const(0)), h.Neg(size), size)
	e.logScale = h.Log(size)
	e.written = h.ConstArray(ad.Type{Shape: []int{n}}, r.written[*done:*done+n])
	e.lambda = h.Slice(lambda, *done, []int{n})
	*done += n
	return e
}

// of are the effects of a point.
func (e *effects) of(h *ad.Graph, point ad.Ref) ad.Ref {
	from := make([]int32, len(e.elements))
	for k, i := range e.elements {
		from[k] = int32(i)
	}
	return h.Gather(point, ad.Index{Dims: []ad.Dim{{N: len(from), Table: from}}})
}

// put is the point with other effects.
func (e *effects) put(h *ad.Graph, point, moved ad.Ref) ad.Ref {
	table := make([]int32, h.Type(point).Size())
	for i := range table {
		table[i] = int32(i)
	}
	for k, i := range e.elements {
		table[i] = int32(len(table) + k)
	}
	return h.Gather(h.Concat(point, moved), ad.Index{Dims: []ad.Dim{{N: len(table), Table: table}}})
}

// collect adds to h a vector of elements of nodes of source, whose only input is x there.
func collect(h, source *ad.Graph, x ad.Ref, elements []element) ad.Ref {
	body := *source
	body.Inputs, body.Outputs = source.Inputs[:1], nil
	first := map[ad.Ref]int{ad.None: 0} // of its elements in the concatenation
	total := 1
	for _, e := range elements {
		if _, ok := first[e.ref]; !ok {
			first[e.ref] = total
			body.Outputs = append(body.Outputs, e.ref)
			total += source.Type(e.ref).Total()
		}
	}
	all := []ad.Ref{h.ConstArray(ad.Type{Shape: []int{1}}, []float64{0})} // where there is no location
	for k, v := range h.Inline(&body, []ad.Ref{x}, false) {
		v = h.Unlane(h.Expand(v, source.Type(body.Outputs[k])))
		all = append(all, h.Reshape(v, []int{source.Type(body.Outputs[k]).Total()}))
	}
	table := make([]int32, len(elements))
	for k, e := range elements {
		table[k] = int32(first[e.ref] + e.at)
	}
	return h.Gather(h.Concat(all...), ad.Index{Dims: []ad.Dim{{N: len(table), Table: table}}})
}

// tracer follows elements of the point through a graph.
type tracer struct {
	g       *ad.Graph
	origins map[ad.Ref][]origin
	moves   map[ad.Ref]moves
	places  map[int]element // of products, by element of the point: what is added to them
	mixed   map[int]bool    // to whose products different things are added
	seen    map[int]origin  // products, by element of the point
	sites   map[int]ad.Site
}

type moves struct{ arg, from []int32 }

// canonical is the element that an element is moved from.
func (t *tracer) canonical(e element) element {
	for {
		m, ok := t.moves[e.ref]
		if !ok {
			arg, from, moved := t.g.Moves(e.ref)
			if !moved {
				return e
			}
			m = moves{arg, from}
			t.moves[e.ref] = m
		}
		e = element{t.g.Nodes[e.ref].Args[m.arg[e.at]], int(m.from[e.at])}
	}
}

// trace fills in the origins of all live nodes. depends tells whether an element
// depends on parameters.
func (t *tracer) trace(x ad.Ref, live []bool, depends func(e element) bool) {
	g := t.g
	for i := range g.Nodes {
		n := &g.Nodes[i]
		r := ad.Ref(i)
		if !live[i] || n.Type.Total() > mostTraced {
			continue
		}
		if r == x {
			all := make([]origin, n.Type.Total())
			for e := range all {
				all[e] = origin{i: int32(e)}
			}
			t.origins[r] = all
			continue
		}
		if !slices.ContainsFunc(n.Args, func(a ad.Ref) bool { return t.origins[a] != nil }) {
			continue
		}
		of := func(k, e int) (origin, element) {
			a := n.Args[k]
			from := element{a, ad.Operand(g.Type(a), n.Type, e)}
			if all := t.origins[a]; all != nil {
				return all[from.at], from
			}
			return origin{i: -1}, from
		}
		out := make([]origin, n.Type.Total())
		any := false
		switch n.Op {
		case ad.OpExp:
			for e := range out {
				o, _ := of(0, e)
				if out[e] = (origin{i: -1}); o.i >= 0 && o.how == asItIs {
					out[e], any = origin{i: o.i, how: exponential}, true
				}
			}
		case ad.OpMul:
			for e := range out {
				out[e] = origin{i: -1}
				a, ea := of(0, e)
				b, eb := of(1, e)
				if b.i >= 0 && b.how == asItIs {
					a, ea, b, eb = b, eb, a, ea
				}
				if a.i < 0 || a.how != asItIs || b.i >= 0 && b.how == asItIs || !depends(eb) {
					continue
				}
				out[e], any = origin{i: a.i, how: scaled, scale: t.canonical(eb)}, true
				if _, ok := t.seen[int(a.i)]; !ok {
					t.seen[int(a.i)], t.sites[int(a.i)] = out[e], n.Site
				}
			}
		case ad.OpAdd:
			for e := range out {
				out[e] = origin{i: -1}
				a, ea := of(0, e)
				b, eb := of(1, e)
				for range 2 {
					if a.i >= 0 && a.how == scaled && !(b.i >= 0 && b.how == scaled) {
						to, had := t.places[int(a.i)]
						if now := t.canonical(eb); !had {
							t.places[int(a.i)] = now
						} else if now != to {
							t.mixed[int(a.i)] = true
						}
					}
					a, ea, b, eb = b, eb, a, ea
				}
			}
		default:
			arg, from, ok := g.Moves(r)
			if !ok {
				continue
			}
			t.moves[r] = moves{arg, from}
			for e := range out {
				out[e] = origin{i: -1}
				if all := t.origins[n.Args[arg[e]]]; all != nil {
					out[e] = all[from[e]]
					any = any || out[e].i >= 0
				}
			}
		}
		if any {
			t.origins[r] = out
		}
	}
}

// sites finds the sites, by level: those of a level depend on those before alone.
func (m *Model) sites(g *ad.Graph, x ad.Ref, statements []ad.Statement, calls []bind.Call) [][]*group {
	var refs []ad.Ref
	for _, s := range statements {
		refs = append(refs, s.Args...)
	}
	t := &tracer{g: g, origins: map[ad.Ref][]origin{}, moves: map[ad.Ref]moves{}, places: map[int]element{}, mixed: map[int]bool{}, seen: map[int]origin{}, sites: map[int]ad.Site{}}
	dependence := g.Depends(x)
	depends := func(e element) bool {
		any := false
		dependence(e.ref, e.at, func(int) { any = true })
		return any
	}
	t.trace(x, g.Live(refs, false), depends)

	names := m.UnconstrainedNames()
	groups := m.centred(t, statements, calls, depends)
	groups = append(groups, m.noncentred(t, statements, calls)...)
	on := func(e element, f func(int)) {
		if e.ref != ad.None {
			dependence(e.ref, e.at, f)
		}
	}
	touches := func(e element, i int) bool {
		any := false
		dependence(e.ref, e.at, func(j int) { any = any || j == i })
		return any
	}
	var found []*group
	site := map[int]*group{}
	for _, s := range groups {
		s.depends = map[int]bool{}
		for k := range s.Elements {
			on(s.location[k], func(i int) { s.depends[i] = true })
			on(s.scale[k], func(i int) { s.depends[i] = true })
		}
		if len(s.Elements) == 0 || slices.ContainsFunc(s.Elements, func(i int) bool { return site[i] != nil }) {
			continue
		}
		if slices.ContainsFunc(s.Elements, func(i int) bool { return s.depends[i] }) && !(s.Centred && s.chain(t, x, on, touches)) {
			continue
		}
		for _, i := range s.Elements {
			site[i] = s
			s.Names = append(s.Names, names[i])
		}
		found = append(found, s)
	}
	var levels [][]*group
	for len(found) > 0 && len(levels) < mostLevels {
		var ready, rest []*group
		left := map[*group]bool{}
		for _, s := range found {
			left[s] = true
		}
		for _, s := range found {
			waits := false
			for i := range s.depends {
				if o := site[i]; o != s && left[o] {
					waits = true
				}
			}
			if waits {
				rest = append(rest, s)
			} else {
				ready = append(ready, s)
			}
		}
		if len(ready) == 0 { // in a circle: one of them stays as it is, rather a factor than a variate
			k := max(0, slices.IndexFunc(rest, func(s *group) bool { return !s.Centred }))
			for _, i := range rest[k].Elements {
				delete(site, i)
			}
			found = slices.Delete(rest, k, k+1)
			continue
		}
		levels, found = append(levels, ready), rest
	}
	// Longer chains are recurrences, which stay as they are from their beginning on.
	for k, l := range slices.Backward(levels) {
		levels[k] = slices.DeleteFunc(l, func(s *group) bool {
			drop := slices.ContainsFunc(found, func(o *group) bool {
				return slices.ContainsFunc(s.Elements, func(i int) bool { return o.depends[i] })
			})
			if drop {
				found = append(found, s)
			}
			return drop
		})
	}
	return slices.DeleteFunc(levels, func(l []*group) bool { return len(l) == 0 })
}

// centred finds the effects that are variates of a density with location and scale.
func (m *Model) centred(t *tracer, statements []ad.Statement, calls []bind.Call, depends func(element) bool) []*group {
	times := map[int]int{} // that an element is a variate
	var groups []*group
	for k, s := range statements {
		at, ok := locationScale[calls[k].Name]
		all := t.origins[s.Args[0]]
		if all == nil {
			continue
		}
		for _, o := range all {
			if o.i >= 0 {
				times[int(o.i)]++
			}
		}
		if !ok || calls[k].Weighted || s.Info == nil {
			continue
		}
		how := asItIs
		if calls[k].Name == "lognormal_lpdf" {
			how = exponential
		}
		of := &group{Site: Site{Span: calls[k].At, Density: calls[k].Name[:len(calls[k].Name)-len("_lpdf")], Centred: true}}
		place := ad.Type{}
		for _, a := range s.Args {
			if u := t.g.Type(a); u.Total() >= place.Total() && (len(u.Shape) > 0 || u.Lanes > 0) {
				place = u
			}
		}
		if place.Total() != len(all) { // one variate, many densities
			continue
		}
		operand := func(a ad.Ref, e int) element {
			return t.canonical(element{a, ad.Operand(t.g.Type(a), place, e)})
		}
		for e, o := range all {
			scale := operand(s.Args[at[1]], e)
			if o.i < 0 || o.how != how || !depends(scale) {
				continue
			}
			of.Elements = append(of.Elements, int(o.i))
			of.location, of.scale = append(of.location, operand(s.Args[at[0]], e)), append(of.scale, scale)
		}
		groups = append(groups, of)
	}
	for _, s := range groups {
		s.drop(func(k int) bool { return times[s.Elements[k]] > 1 })
	}
	return groups
}

// noncentred finds effects with a standard distribution that are multiplied with a
// scale, by the scale's place.
func (m *Model) noncentred(t *tracer, statements []ad.Statement, calls []bind.Call) []*group {
	standard := map[int]string{} // elements, and their density
	for k, s := range statements {
		name := calls[k].Name
		at, general := locationScale[name]
		if !general && name != "std_normal_lpdf" || name == "lognormal_lpdf" {
			continue
		}
		if general {
			mu, ok := t.g.Value(s.Args[at[0]])
			sigma, ok2 := t.g.Value(s.Args[at[1]])
			if !ok || !ok2 || slices.ContainsFunc(mu, func(v float64) bool { return v != 0 }) || slices.ContainsFunc(sigma, func(v float64) bool { return v != 1 }) {
				continue
			}
		}
		for _, o := range t.origins[s.Args[0]] {
			if o.i >= 0 && o.how == asItIs {
				standard[int(o.i)] = name[:len(name)-len("_lpdf")]
			}
		}
	}
	for k, p := range m.program.Parameters { // which are standard as they are sampled
		if p.Constraint.Kind == types.OffsetMultiplier && k < len(m.bound.Params) {
			for e := range m.bound.Params[k].Size {
				standard[m.offsets[k]+e] = "offset and multiplier"
			}
		}
	}
	var order []int
	for i := range t.seen {
		if standard[i] != "" {
			order = append(order, i)
		}
	}
	slices.Sort(order)
	by := map[ad.Site]*group{}
	var groups []*group
	for _, i := range order {
		s := by[t.sites[i]]
		if s == nil {
			s = &group{Site: Site{Density: standard[i]}}
			if at := int(t.sites[i]); at > 0 && at < len(m.bound.Sites) {
				s.Span = m.bound.Sites[at]
			}
			by[t.sites[i]] = s
			groups = append(groups, s)
		}
		location, ok := t.places[i]
		if !ok || t.mixed[i] {
			location = element{ref: ad.None}
		}
		s.Elements = append(s.Elements, i)
		s.location, s.scale = append(s.location, location), append(s.scale, t.seen[i].scale)
	}
	return groups
}

// drop leaves out effects.
func (s *group) drop(which func(k int) bool) {
	var kept group
	for k, i := range s.Elements {
		if !which(k) {
			kept.Elements = append(kept.Elements, i)
			kept.location, kept.scale = append(kept.location, s.location[k]), append(kept.scale, s.scale[k])
		}
	}
	s.Elements, s.location, s.scale = kept.Elements, kept.location, kept.scale
}

// String says where a site is and what it consists of.
func (s Site) String() string {
	what := s.Names[0]
	if n := len(s.Names); n > 1 {
		what = fmt.Sprintf("%s … %s (%d)", s.Names[0], s.Names[n-1], n)
	}
	if s.Chain {
		what += ", a chain"
	}
	written := "centred"
	if !s.Centred {
		written = "non-centred"
	}
	if s.Span.IsValid() {
		return fmt.Sprintf("%s, line %d, %s, %s", what, s.Span.Begin().Line, s.Density, written)
	}
	return fmt.Sprintf("%s, %s, %s", what, s.Density, written)
}
