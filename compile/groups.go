package compile

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file finds the effects that can be sampled in other coordinates; see recentre.go. Effects
// are the group-level terms of a hierarchical model, or latent states. grouptrace.go finds the
// values that are computed from them.

// Group is a group of effects that can be sampled in other coordinates.
type Group struct {
	Span     source.Span // the statement with location and scale, or where they are applied
	Density  string      // such as "normal"
	Centred  bool        // whether the program is written in centred form
	Chain    bool        // each location depends on the effect before it, except at a beginning
	Elements []int       // indices in the unconstrained point
	Names    []string    // names of these
}

// locationScale lists the densities whose variate can be shifted and scaled, with the positions of
// location and scale among their arguments.
var locationScale = map[string][2]int{
	"normal_lpdf": {1, 2}, "cauchy_lpdf": {1, 2}, "logistic_lpdf": {1, 2}, "double_exponential_lpdf": {1, 2},
	"student_t_lpdf": {2, 3},
	"lognormal_lpdf": {1, 2}, // location and scale of the logarithm
}

// maxLevels limits the nesting of effects whose locations and scales are effects themselves.
const maxLevels = 8

// group is a Group with the values that its effects depend on.
type group struct {
	Group
	location, scale []element // location.ref is ad.None if there is no location
	depends         map[int]bool
}

// groups finds the groups, by level. Groups of one level depend only on groups of earlier levels.
func (m *Model) groups(g *ad.Graph, x ad.Ref, statements []ad.Statement, calls []bind.Call) [][]*group {
	var refs []ad.Ref
	for _, s := range statements {
		refs = append(refs, s.Args...)
	}
	t := &tracer{g: g, origins: map[ad.Ref][]origin{}, moves: map[ad.Ref]moves{}, places: map[int]element{}, mixed: map[int]bool{}, seen: map[int]origin{}, others: map[int][]term{}, sites: map[int]ad.Site{}, zeros: g.Zeros()}
	dependence, known := g.Depends(x), len(g.Nodes)
	on := func(e element, f func(int)) {
		if len(g.Nodes) > known { // locations and scales of some groups are new nodes
			dependence, known = g.Depends(x), len(g.Nodes)
		}
		if e.ref != ad.None {
			dependence(e.ref, e.at, f)
		}
	}
	depends := func(e element) bool {
		any := false
		on(e, func(int) { any = true })
		return any
	}
	t.trace(x, g.Live(refs, false), depends)

	names := m.UnconstrainedNames()
	groups := m.centred(t, statements, calls, depends)
	groups = append(groups, m.noncentred(t, x, statements, calls)...)
	touches := func(e element, i int) bool {
		any := false
		on(e, func(j int) { any = any || j == i })
		return any
	}
	for _, s := range groups {
		s.depends = map[int]bool{}
		for k := range s.Elements {
			on(s.location[k], func(i int) { s.depends[i] = true })
			on(s.scale[k], func(i int) { s.depends[i] = true })
		}
	}
	dependsOn := func(s, o *group) bool {
		return slices.ContainsFunc(o.Elements, func(i int) bool { return s.depends[i] })
	}
	groups = slices.DeleteFunc(groups, func(s *group) bool {
		return dependsOn(s, s) && !(s.Centred && s.chain(t, x, on, touches))
	})
	for _, s := range groups { // a chain begins with effects of another statement
		for _, o := range groups {
			if s.Chain && o != s && o.Centred && dependsOn(s, o) && !dependsOn(o, s) {
				s.begin(o, t, x, on, touches)
			}
		}
	}
	var found []*group
	owner := map[int]*group{} // of each effect
	for _, s := range groups {
		if len(s.Elements) == 0 || slices.ContainsFunc(s.Elements, func(i int) bool { return owner[i] != nil }) {
			continue
		}
		for _, i := range s.Elements {
			owner[i] = s
			s.Names = append(s.Names, names[i])
		}
		found = append(found, s)
	}
	return levelsOf(found, owner)
}

// levelsOf sorts groups by level. owner has the group of each effect.
func levelsOf(found []*group, owner map[int]*group) (levels [][]*group) {
	for len(found) > 0 && len(levels) < maxLevels {
		var ready, rest []*group
		left := map[*group]bool{}
		for _, s := range found {
			left[s] = true
		}
		for _, s := range found {
			waits := false
			for i := range s.depends {
				if o := owner[i]; o != s && left[o] {
					waits = true
				}
			}
			if waits {
				rest = append(rest, s)
			} else {
				ready = append(ready, s)
			}
		}
		if len(ready) == 0 { // a cycle: leave one of them unchanged, preferably a non-centred one
			k := max(0, slices.IndexFunc(rest, func(s *group) bool { return !s.Centred }))
			for _, i := range rest[k].Elements {
				delete(owner, i)
			}
			found = slices.Delete(rest, k, k+1)
			continue
		}
		levels, found = append(levels, ready), rest
	}
	// Longer dependences are recurrences. Their groups keep the model's coordinates, from the first
	// one on.
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
	times := map[int]int{} // the number of times that an element is a variate
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
			groups = append(groups, t.vectors(s, calls[k], depends)...)
			continue
		}
		how := asItIs
		if calls[k].Name == "lognormal_lpdf" {
			how = exponential
		}
		of := &group{Group: Group{Span: calls[k].At, Density: calls[k].Name[:len(calls[k].Name)-len("_lpdf")], Centred: true}}
		place := ad.Type{}
		for _, a := range s.Args {
			if u := t.g.Type(a); u.Total() >= place.Total() && (len(u.Shape) > 0 || u.Lanes > 0) {
				place = u
			}
		}
		if place.Total() != len(all) { // one variate with many densities
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

// noncentred finds effects with a standard distribution that are multiplied by a scale. It groups
// them by the place of the multiplication.
func (m *Model) noncentred(t *tracer, x ad.Ref, statements []ad.Statement, calls []bind.Call) []*group {
	standard := map[int]string{} // density of elements with a standard distribution
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
	for k, p := range m.program.Parameters { // coordinates of these parameters are standard
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
	type place struct {
		at    ad.Site
		terms int
	}
	by := map[place]*group{}
	var groups []*group
	for _, i := range order {
		at := place{t.sites[i], len(t.others[i])}
		s := by[at]
		if s == nil {
			s = &group{Group: Group{Density: standard[i]}}
			if k := int(at.at); k > 0 && k < len(m.bound.Sites) {
				s.Span = m.bound.Sites[k]
			}
			by[at] = s
			groups = append(groups, s)
		}
		location, ok := t.places[i]
		if !ok || t.mixed[i] {
			location = element{ref: ad.None}
		}
		s.Elements = append(s.Elements, i)
		s.location, s.scale = append(s.location, location), append(s.scale, t.seen[i].scale)
	}
	for _, s := range groups {
		s.add(t, x, len(t.others[s.Elements[0]]))
	}
	return groups
}

// add adds the other terms of the sums that contain effects to the locations of these effects.
func (s *group) add(t *tracer, x ad.Ref, terms int) {
	if terms == 0 {
		return
	}
	same := func(r ad.Ref) ad.Ref { return r }
	sum := pick(t.g, s.location, same)
	for k := range terms {
		var by, of []element
		for _, i := range s.Elements {
			o := t.others[i][k]
			by, of = append(by, o.by), append(of, element{x, o.i})
		}
		sum = t.g.Add(sum, t.g.Mul(pick(t.g, by, same), pick(t.g, of, same)))
	}
	for k := range s.location {
		s.location[k] = element{sum, k}
	}
}

// drop removes the effects for which the function returns true.
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

// String describes the group: its effects, line, density and form.
func (s Group) String() string {
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
