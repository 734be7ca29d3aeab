package compile

import (
	"math"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/vm"
)

// This file reparametrises the effects of hierarchical models.
//
// Let θ ~ normal(μ, σ) be an effect whose location μ or scale σ depends on parameters. It can be
// sampled as it is (centred), as (θ - μ)/σ (non-centred), or with the information of the data
// removed:
//
//	θ = (Aμ + (S + Gμ)σ²)/D + uσ/√D,  D = A + Bσ².
//
// A = 1, B = S = G = 0 is non-centred; B = 1, A = S = G = 0 is centred. Suppose that, given μ and
// σ, the likelihood of θ is a normal density with precision B and mean (S + Gμ)/B. Then, with A =
// 1, u has a standard normal conditional distribution, whatever μ and σ are. So u has neither a
// funnel at small σ nor a bend, and no other coordinates are as good for all σ. (An earlier version
// had u = λμ + σ^(λ-1)·(θ - μ) with λ from 0 to 1, as in Gorinova, Moore and Hoffman, Automatic
// Reparameterisation of Probabilistic Programs, 2020. It fits at one σ only, and any λ > 0 leaves a
// funnel at 0.)
//
// The map from u to the model's own coordinates x has
//
//	x = wμ + σ^w·(σ(S + Gμ - Bμ)/D + u/√D)
//
// with w = 1 if x is θ. If the program is written in non-centred form, x is (θ - μ)/σ and w = 0:
// such effects have a standard normal distribution and are only used as μ + σx. μ and σ depend on
// no effect of their own statement, except in chains (recurrence.go). So the derivative of the
// whole map is triangular with positive diagonal, and its log Jacobian is Σ (w log σ - ½ log D).
// The map is exact, whatever else the program does with these parameters. The analysis here only
// decides whether the map is worth its cost.

// Recentring is the map between the coordinates u of sampling and those of the model.
// It is not safe for concurrent use; clones are.
type Recentring struct {
	groups   []Group
	elements []int
	levels   []int     // level of each element
	written  []float64 // w of each

	// Every gradient takes forward and pull. inverse, with its derivative, only serves to learn
	// evidence: one program compiles faster than two.
	forward, pull, inverse mapping
	joint                  mapping   // has no program if Joint is not available
	model                  *Model    // the model whose log density Joint evaluates
	held                   []float64 // the evidence set by Hold
	noncentred             []float64 // evidence, for LogScales
	env                    *ad.Env
}

// mapping is one direction of the map, its derivative, or both.
type mapping struct {
	program *vm.Program
	machine *vm.Machine
	holds   bool // the machine has the evidence set by Hold
}

// run evaluates the mapping at x; a derivative also takes the vector gx. Without it the derivative
// is of no use.
func (r *Recentring) run(m *mapping, x, evidence, gx []float64) error {
	copy(m.machine.Input(0), x)
	switch {
	case evidence != nil:
		copy(m.machine.Input(1), evidence)
		m.holds = false
	case !m.holds:
		copy(m.machine.Input(1), r.held)
		m.holds = true
	}
	if gx != nil {
		copy(m.machine.Input(2), gx)
	}
	return run(m.machine, r.env)
}

// recentred is the Recentring that clones of a model share.
type recentred struct {
	mu   sync.Mutex
	done bool
	r    *Recentring
	err  error
}

// Map finds the effects that can be sampled in other coordinates. It returns nil if there are none.
// The first call evaluates the program once more. The result belongs to the caller.
func (m *Model) Map() (*Recentring, error) {
	o := &m.made.recentred
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.done {
		o.r, o.err = m.recentring()
		o.done = o.err == nil || m.env.Stop == nil || m.env.Stop() == nil // else retry later
	}
	if o.r == nil {
		return nil, o.err
	}
	r := o.r.Clone()
	r.model, m.joint = m, r.joint.machine
	if m.workers > 0 {
		m.SetWorkers(m.workers)
	}
	return r, nil
}

// Recentring is Map with the signature that package infer needs.
func (m *Model) Recentring() (interface {
	Elements() []int
	Written() []float64
	Levels() []int
	Hold(evidence []float64)
	Forward(u, evidence, x []float64) (float64, error)
	Pull(u, evidence, gx, gu []float64) error
	Inverse(x, evidence, u []float64) error
	Push(x, evidence, gu, gx []float64) error
	LogScales(x, dst []float64) error
}, error) {
	r, err := m.Map()
	if r == nil {
		return nil, err
	}
	return r, err
}

// Clone returns a copy that shares nothing that an evaluation changes.
func (r *Recentring) Clone() *Recentring {
	c := *r
	c.held, c.noncentred, c.env = nil, nil, &ad.Env{}
	for _, m := range []*mapping{&c.forward, &c.pull, &c.inverse, &c.joint} {
		if m.program != nil {
			*m = mapping{program: m.program, machine: m.program.New()}
		}
	}
	return &c
}

// Work is [Model.Work] for an evaluation in these coordinates. It implements infer.Costed.
func (r *Recentring) Work() float64 {
	switch {
	case r.joint.program != nil:
		return r.joint.program.Work()
	case r.model == nil || r.model.Work() == 0:
		return 0
	}
	return r.model.Work() + r.forward.program.Work() + r.pull.program.Work()
}

// Groups lists the groups of effects.
func (r *Recentring) Groups() []Group { return r.groups }

// Levels returns the level of each effect: the length of the longest sequence of effects that it
// may depend on, each depending on the previous one. The effects of a chain count as one.
func (r *Recentring) Levels() []int { return r.levels }

// Elements returns the indices of the effects in the unconstrained point.
func (r *Recentring) Elements() []int { return r.elements }

// Written returns the evidence with which the coordinates are those of the model. Evidence is A of
// all effects, then B, then S, then G; the comment at the top of this file defines them.
func (r *Recentring) Written() []float64 {
	n := len(r.written)
	all := make([]float64, 4*n)
	for k, w := range r.written {
		all[k], all[n+k] = 1-w, w
	}
	return all
}

// Hold copies the evidence that the other methods use if they get nil. Passing its four numbers per
// effect to each evaluation took a third of the time with 10,000 effects.
func (r *Recentring) Hold(evidence []float64) {
	r.held = append(r.held[:0], evidence...)
	for _, m := range []*mapping{&r.forward, &r.pull, &r.inverse, &r.joint} {
		m.holds = false
	}
}

// minJoint is the least number of effects for which map and log density become one program. Making
// it takes as long as compiling the log density. It saves copying values between three programs,
// and results that two of them would compute twice.
const minJoint = 500

// Joint evaluates the log density of the model over u, including the log Jacobian of the map, and
// its gradient. It uses the evidence of Hold. ok is false if there is no joint program or the
// result is not a finite number; then Forward and the model report why.
func (r *Recentring) Joint(u, grad []float64) (lp float64, ok bool) {
	m := r.model
	if r.joint.program == nil || m == nil || len(u) != m.dim || len(grad) != m.dim {
		return 0, false
	}
	if j := &r.joint; !j.holds {
		copy(j.machine.Input(1), r.held)
		j.holds = true
	}
	lp, err := gradient(r.joint.machine, m.env, u, grad) // with m's env, so that SetStop applies
	if err == nil {
		return lp, finite(lp)
	}
	if failed := faultOf(err); failed != nil {
		m.made.faults.add("two programs compute what one fails to", failed)
		r.joint = mapping{program: r.joint.program, machine: r.joint.program.New()}
		m.joint = r.joint.machine
		m.SetWorkers(max(m.workers, 1))
	}
	return 0, false
}

// Forward writes the model's point of u to x and returns the log Jacobian of the map.
func (r *Recentring) Forward(u, evidence, x []float64) (float64, error) {
	if err := r.run(&r.forward, u, evidence, nil); err != nil {
		return 0, err
	}
	copy(x, r.forward.machine.Output(0))
	return r.forward.machine.Output(1)[0], nil
}

// Pull writes the gradient with respect to u of gx·x(u) plus the log Jacobian to gu.
func (r *Recentring) Pull(u, evidence, gx, gu []float64) error {
	if err := r.run(&r.pull, u, evidence, gx); err != nil {
		return err
	}
	copy(gu, r.pull.machine.Output(0))
	return nil
}

// Inverse writes to u the point that Forward maps to x.
func (r *Recentring) Inverse(x, evidence, u []float64) error {
	if err := r.run(&r.inverse, x, evidence, nil); err != nil {
		return err
	}
	copy(u, r.inverse.machine.Output(0))
	return nil
}

// LogScales writes the logarithms of the scales of the effects at x.
func (r *Recentring) LogScales(x, dst []float64) error {
	if r.noncentred == nil {
		n := len(r.elements)
		r.noncentred = make([]float64, 4*n)
		for k := range n {
			r.noncentred[k] = 1
		}
	}
	if err := r.run(&r.inverse, x, r.noncentred, nil); err != nil {
		return err
	}
	copy(dst, r.inverse.machine.Output(2))
	return nil
}

// Push writes the gradient with respect to x of gu·u(x) minus the log Jacobian to gx. It is the
// inverse of Pull.
func (r *Recentring) Push(x, evidence, gu, gx []float64) error {
	if err := r.run(&r.inverse, x, evidence, gu); err != nil {
		return err
	}
	copy(gx, r.inverse.machine.Output(3))
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
	at := "coordinates of group-level terms"
	defer func() {
		if failed := faultOf(err); failed != nil { // they are sampled as they are written
			m.made.faults.add("group-level terms are sampled as written", failed)
			r, err = nil, nil
		}
	}()
	defer caught(&err, &at)
	g, x := m.point()
	statements := m.statements(g, x, info)
	levels := m.groups(g, x, statements, info.Calls)
	if len(levels) == 0 {
		return nil, nil
	}
	r = &Recentring{}
	for level, l := range levels {
		for _, s := range l {
			r.groups = append(r.groups, s.Group)
			r.elements = append(r.elements, s.Elements...)
			w := 0.0
			if s.Centred {
				w = 1
			}
			for range s.Elements {
				r.written, r.levels = append(r.written, w), append(r.levels, level)
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
	gradient := func(h *ad.Graph, from, to, jacobian ad.Ref) ad.Ref {
		return h.Grad(h.Add(h.Sum(h.Mul(h.Input(point), to)), jacobian), from)[0]
	}
	h := m.within()
	to, jacobian := r.build(h, g, levels, h.Input(point))
	h.Output(to)
	h.Output(jacobian)
	r.forward.program = assemble(h)

	h = m.within()
	from := h.Input(point)
	to, jacobian = r.build(h, g, levels, from)
	h.Output(gradient(h, from, to, jacobian))
	r.pull.program = assemble(h)

	h = m.within()
	from = h.Input(point)
	to, jacobian, logScale := r.invert(h, g, levels, from)
	for _, out := range []ad.Ref{to, jacobian, logScale, gradient(h, from, to, jacobian)} {
		h.Output(out)
	}
	r.inverse.program = assemble(h)
	if err == nil && len(r.elements) >= minJoint && !has(m.bound.Density, ad.OpPrint) {
		r.joint.program, err = m.together(r, g, levels)
		if m.env.Stop == nil || m.env.Stop() == nil { // memory does not suffice
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// together makes the program of Joint; source and levels are as in build.
func (m *Model) together(r *Recentring, source *ad.Graph, levels [][]*group) (_ *vm.Program, err error) {
	defer ad.Recover(&err)
	h := m.within()
	u := h.Input(ad.Type{Shape: []int{m.dim}})
	x, jacobian := r.build(h, source, levels, u)
	density := *m.bound.Density
	density.Outputs = density.Outputs[:1] // without the gradient
	total := h.Add(h.Inline(&density, m.parts(h, x, &density), true)[0], jacobian)
	h.Output(total)
	h.Output(h.Grad(total, u)[0])
	w := &work{graph: h}
	if err := w.assemble(passes.Options{Without: m.without, Budget: h.Budget()}); err != nil {
		return nil, err
	}
	return w.program, nil
}

// has reports whether a graph or a region of it has an op.
func has(g *ad.Graph, op ad.OpCode) bool {
	return slices.ContainsFunc(g.Nodes, func(n ad.Node) bool {
		return n.Op == op || slices.ContainsFunc(n.Bodies(), func(b *ad.Graph) bool { return has(b, op) })
	})
}

// build adds the map to h, with the evidence as an input. It returns the model's point x and the
// log Jacobian. source is the graph whose nodes are the locations and scales.
func (r *Recentring) build(h, source *ad.Graph, levels [][]*group, u ad.Ref) (x, jacobian ad.Ref) {
	evidence := h.Input(ad.Type{Shape: []int{4 * len(r.elements)}})
	x, jacobian = u, h.Const(0)
	done := 0
	for _, l := range levels {
		e := r.groupTerms(h, source, l, x, evidence, &done)
		// One division by √D serves all terms: with thousands of effects, divisions dominate the
		// time.
		width := h.Div(h.Const(1), e.root)
		part := h.Mul(e.power, width)
		ahead := h.Mul(e.scale, width)
		excess := h.Sub(e.precision, e.follow)
		moved := ad.None
		if e.chained {
			own := h.Mul(part, h.Add(h.Mul(ahead, e.pull), e.of(h, u)))
			factor := h.Sub(e.written, h.Mul(h.Mul(part, ahead), excess))
			moved = along(h, h.Add(own, h.Mul(e.first, factor)), h.Mul(e.times, factor))
		} else {
			// The same with the fewest operations for value and gradient.
			location := collect(h, source, x, e.locations)
			standard := h.Add(e.of(h, u), h.Mul(ahead, h.Sub(e.pull, h.Mul(location, excess))))
			moved = h.Add(h.Mul(e.written, location), h.Mul(part, standard))
		}
		jacobian = h.Add(h.Add(jacobian, e.logJacobian(h)), e.rounded(h, source, x, part, moved))
		x = e.put(h, x, moved)
	}
	return x, jacobian
}

// minPart is the minimum difference of an effect for a difference of 1 in u, relative to the
// effect: 16 times the distance of neighbouring numbers.
const minPart = 0x1p-48

// rounded returns -∞ if a centred effect is the same for points u that differ by 1, and 0
// otherwise. Far down in the neck of a funnel, such an effect equals its location, whatever u is.
// The model's density then lacks the terms -u²/2, so without this the sampler would see a spurious
// region of much mass: a logit with 1000 groups lost its chains there in one run of ten.
//
// part is the derivative of an effect in u, and moved the effects. Terms with one location and
// scale are judged once, by these, as if √D were 1, which it is there with A = 1: with thousands of
// effects, judging each takes 4 % of the time.
func (e *groupTerms) rounded(h, source *ad.Graph, x, part, moved ad.Ref) ad.Ref {
	type pair struct {
		location element
		class    int32
	}
	seen := map[pair]bool{}
	var locations []element
	var classes []int32
	for k, l := range e.locations {
		if p := (pair{l, e.class[k]}); e.centred[k] && !seen[p] {
			seen[p] = true
			locations, classes = append(locations, l), append(classes, p.class)
		}
	}
	if len(locations) == 0 {
		return h.Const(0)
	}
	difference, from := part, moved
	if n := len(locations); !e.chained && n < len(e.elements)/2 {
		difference = h.Gather(e.size, ad.Index{Dims: []ad.Dim{{N: n, Table: classes}}})
		from = collect(h, source, x, locations)
	}
	size := h.SelectFinite(h.Less(from, h.Const(0)), h.Neg(from), from)
	return h.Sum(h.Select(h.Less(difference, h.Mul(size, h.Const(minPart))), h.Const(math.Inf(-1)), h.Const(0)))
}

// invert adds the inverse of the map to h, as build does with the map, and the logarithms of the
// scales.
func (r *Recentring) invert(h, source *ad.Graph, levels [][]*group, x ad.Ref) (u, jacobian, logScale ad.Ref) {
	evidence := h.Input(ad.Type{Shape: []int{4 * len(r.elements)}})
	u, jacobian = x, h.Const(0)
	done := 0
	var scales []ad.Ref
	for _, l := range levels {
		e := r.groupTerms(h, source, l, x, evidence, &done)
		location := collect(h, source, x, e.locations)
		apart := h.Div(h.Sub(e.of(h, x), h.Mul(e.written, location)), e.power)
		mean := h.Div(h.Mul(e.scale, h.Sub(e.pull, h.Mul(h.Sub(e.precision, e.follow), location))), e.root)
		u = e.put(h, u, h.Sub(h.Mul(e.root, apart), mean))
		jacobian = h.Sub(jacobian, e.logJacobian(h))
		scales = append(scales, e.logScale)
	}
	return u, jacobian, h.Concat(scales...)
}

// groupTerms holds the quantities of the formulas above for some of the effects, as nodes of a
// graph. All but elements and locations are vectors.
type groupTerms struct {
	elements                       []int
	locations                      []element
	scale, logScale, written       ad.Ref  // σ, its logarithm and w
	size                           ad.Ref  // the different scales
	class                          []int32 // index of each term's scale among size
	centred                        []bool  // w is 1
	prior, precision, pull, follow ad.Ref  // A, B, S, G; in chains with later effects' evidence
	d, root, power                 ad.Ref  // D, √D and σ^w
	logPowers                      ad.Ref  // the sum of w log σ
	chained                        bool
	first, times                   ad.Ref // in chains: the location is first + times·(the effect before)
}

// groupTerms returns the quantities of the formulas for groups. *done effects come before them, and
// x has the values of these. Scales depend only on these. Locations in chains also depend on
// effects of the groups; hear separates the two parts.
func (r *Recentring) groupTerms(h, source *ad.Graph, groups []*group, x, evidence ad.Ref, done *int) groupTerms {
	var e groupTerms
	var scale []element
	var alone []float64
	for _, s := range groups {
		for range s.Elements {
			if s.Chain {
				alone = append(alone, 0)
			} else {
				alone = append(alone, 1)
			}
		}
		e.elements = append(e.elements, s.Elements...)
		e.locations, scale = append(e.locations, s.location...), append(scale, s.scale...)
		e.chained = e.chained || s.Chain
	}
	n, all := len(e.elements), len(r.elements)
	// Only the absolute value of the factor of a standard variable matters; the factor may have
	// either sign.
	few, class := distinct(scale)
	size := collect(h, source, x, few)
	size = h.SelectFinite(h.Less(size, h.Const(0)), h.Neg(size), size)
	spread := func(v ad.Ref) ad.Ref { return h.Gather(v, ad.Index{Dims: []ad.Dim{{N: n, Table: class}}}) }
	square := spread(h.Square(size))
	logSize := h.Log(size)
	e.size, e.class = size, class
	e.scale, e.logScale = spread(size), spread(logSize)
	weights := make([]float64, len(few))
	for k, c := range class {
		weights[c] += r.written[*done+k]
		e.centred = append(e.centred, r.written[*done+k] == 1)
	}
	e.logPowers = h.Sum(h.Mul(h.ConstArray(ad.Type{Shape: []int{len(few)}}, weights), logSize))
	e.written = h.ConstArray(ad.Type{Shape: []int{n}}, r.written[*done:*done+n])
	part := func(i int) ad.Ref { return h.Slice(evidence, i*all+*done, []int{n}) }
	e.prior, e.precision, e.pull, e.follow = part(0), part(1), part(2), part(3)
	*done += n
	if e.chained {
		e.follow = h.Mul(e.follow, h.ConstArray(ad.Type{Shape: []int{n}}, alone))
		e.hear(h, source, x)
	}
	e.d = h.Add(e.prior, h.Mul(e.precision, square))
	e.root = h.Sqrt(e.d)
	e.power = h.Select(e.written, e.scale, h.Const(1))
	return e
}

// logJacobian returns the log Jacobian.
func (e *groupTerms) logJacobian(h *ad.Graph) ad.Ref {
	return h.Sub(e.logPowers, h.Sum(h.Log(e.root)))
}

// contiguous reports whether the effects are neighbours in a point, in order.
func (e *groupTerms) contiguous() bool {
	for k, i := range e.elements {
		if i != e.elements[0]+k {
			return false
		}
	}
	return true
}

// of returns the effects of a point.
func (e *groupTerms) of(h *ad.Graph, point ad.Ref) ad.Ref {
	if e.contiguous() {
		return h.Slice(point, e.elements[0], []int{len(e.elements)})
	}
	from := make([]int32, len(e.elements))
	for k, i := range e.elements {
		from[k] = int32(i)
	}
	return h.Gather(point, ad.Index{Dims: []ad.Dim{{N: len(from), Table: from}}})
}

// put returns the point with its effects replaced.
func (e *groupTerms) put(h *ad.Graph, point, moved ad.Ref) ad.Ref {
	if e.contiguous() { // then the gradient takes slices, too
		var parts []ad.Ref
		end, size := e.elements[0]+len(e.elements), h.Type(point).Size()
		if first := e.elements[0]; first > 0 {
			parts = append(parts, h.Slice(point, 0, []int{first}))
		}
		parts = append(parts, moved)
		if end < size {
			parts = append(parts, h.Slice(point, end, []int{size - end}))
		}
		return h.Concat(parts...)
	}
	table := make([]int32, h.Type(point).Size())
	for i := range table {
		table[i] = int32(i)
	}
	for k, i := range e.elements {
		table[i] = int32(len(table) + k)
	}
	return h.Gather(h.Concat(point, moved), ad.Index{Dims: []ad.Dim{{N: len(table), Table: table}}})
}

// distinct returns the elements without repetition, and the index among these of each. Thousands of
// effects have few scales; what depends on the scale alone, and its derivative, is computed once.
func distinct(elements []element) (few []element, class []int32) {
	at := map[element]int32{}
	for _, e := range elements {
		k, ok := at[e]
		if !ok {
			k = int32(len(few))
			at[e] = k
			few = append(few, e)
		}
		class = append(class, k)
	}
	return few, class
}

// collect adds to h a vector of elements of nodes of source. The only input of source becomes x of
// h.
func collect(h, source *ad.Graph, x ad.Ref, elements []element) ad.Ref {
	body := *source
	body.Inputs, body.Outputs = source.Inputs[:1], nil
	seen := map[ad.Ref]bool{ad.None: true}
	for _, e := range elements {
		if !seen[e.ref] {
			seen[e.ref] = true
			body.Outputs = append(body.Outputs, e.ref)
		}
	}
	there := map[ad.Ref]ad.Ref{}
	for k, v := range h.Inline(&body, []ad.Ref{x}, false) {
		there[body.Outputs[k]] = h.Expand(v, source.Type(body.Outputs[k]))
	}
	return pick(h, elements, func(r ad.Ref) ad.Ref { return there[r] })
}

// pick adds a vector of elements to h; elements without a node are 0. in maps a node to the
// corresponding node of h.
func pick(h *ad.Graph, elements []element, in func(r ad.Ref) ad.Ref) ad.Ref {
	first := map[ad.Ref]int{ad.None: 0} // start of each node's elements in the concatenation
	all := []ad.Ref{h.ConstArray(ad.Type{Shape: []int{1}}, []float64{0})}
	total := 1
	table := make([]int32, len(elements))
	for k, e := range elements {
		if _, ok := first[e.ref]; !ok {
			first[e.ref] = total
			v := h.Unlane(in(e.ref))
			n := h.Type(v).Total()
			all = append(all, h.Reshape(v, []int{n}))
			total += n
		}
		table[k] = int32(first[e.ref] + e.at)
	}
	return h.Gather(h.Concat(all...), ad.Index{Dims: []ad.Dim{{N: len(table), Table: table}}})
}
