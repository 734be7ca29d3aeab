package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The nests of this file are drawn at random. They are also evaluated in the simplest way:
// iteration by iteration, in program order, recording the last write of each element.

// source identifies the write of an element: a unit, its lane, and the position in the value that
// it writes.
type source struct{ unit, lane, pos int }

var nobody = source{-1, 0, 0}

// drawn is a nest with the sources that its reads see in program order.
type drawn struct {
	*Nest
	rng  *rand.Rand
	plan *Plan

	seen map[[3]int][]source // by unit, touch and lane: the source of each position of a read
	last map[*Variable][]source
}

// drawNest draws a nest of one to three loops, up to six units and three variables.
func drawNest(rng *rand.Rand) *drawn {
	d := &drawn{rng: rng, Nest: &Nest{Root: &Loop{Axis: &Axis{N: 1 + rng.IntN(5)}}}}
	loops := []*Loop{d.Root}
	for range rng.IntN(3) {
		in := loops[rng.IntN(len(loops))]
		ax := &Axis{Parent: in.Axis}
		each := rng.IntN(3)
		for l := range in.Axis.N {
			n := each
			if rng.IntN(2) == 0 {
				n = rng.IntN(4)
			}
			for range n {
				ax.Up = append(ax.Up, int32(l))
			}
		}
		ax.N = len(ax.Up)
		if ax.N == 0 { // a loop without iterations is not part of a nest
			continue
		}
		l := &Loop{Axis: ax, Parent: in}
		in.Body = append(in.Body, l)
		loops = append(loops, l)
	}
	for range 1 + rng.IntN(3) {
		v := &Variable{ID: len(d.Variables), Size: 1 + rng.IntN(4), Integer: rng.IntN(6) == 0}
		if rng.IntN(3) == 0 {
			v.Inside = true
			v.Home = loops[rng.IntN(len(loops))].Axis
		}
		d.Variables = append(d.Variables, v)
	}
	for range 1 + rng.IntN(6) {
		d.unit(loops[rng.IntN(len(loops))])
	}
	// Number the units in program order.
	d.Units = nil
	var walk func(l *Loop)
	walk = func(l *Loop) {
		for _, x := range l.Body {
			switch x := x.(type) {
			case *Loop:
				walk(x)
			case *Unit:
				x.ID = len(d.Units)
				d.Units = append(d.Units, x)
			}
		}
	}
	walk(d.Root)
	return d
}

// unit adds a unit to a loop: some reads and, mostly, a write.
func (d *drawn) unit(l *Loop) {
	u := &Unit{Loop: l, Domain: l.Axis, Compound: d.rng.IntN(6) == 0}
	if d.rng.IntN(3) == 0 {
		sub := &Axis{Parent: l.Axis, Subset: true}
		for k := range l.Axis.N {
			if d.rng.IntN(3) > 0 {
				sub.Up = append(sub.Up, int32(k))
			}
		}
		if sub.N = len(sub.Up); sub.N > 0 {
			u.Domain = sub
		}
	}
	touch := func(v *Variable, how Use) {
		t := Touch{Variable: v, Axis: u.Domain, How: how, Access: d.access(v, u)}
		if v.Home != nil && !v.Home.Within(u.Domain) {
			return // not in scope
		}
		if d.rng.IntN(8) == 0 {
			t.Some, t.Access = true, v.Whole()
		}
		u.Touches = append(u.Touches, t)
	}
	for range d.rng.IntN(3) {
		touch(d.Variables[d.rng.IntN(len(d.Variables))], Reads)
	}
	if v := d.Variables[d.rng.IntN(len(d.Variables))]; d.rng.IntN(5) > 0 {
		switch {
		case d.rng.IntN(3) > 0:
			touch(v, Writes)
		case !v.Integer:
			touch(v, Adds)
		}
	}
	at := d.rng.IntN(len(l.Body) + 1)
	l.Body = slices.Insert(l.Body, at, Node(u))
}

// access draws an access that often makes a recurrence: to the element of the lane, or of a fixed
// number of lanes before.
func (d *drawn) access(v *Variable, u *Unit) Access {
	width := 1 + d.rng.IntN(v.Size)
	start := d.rng.IntN(v.Size - width + 1)
	a := Access{}
	for p := range width {
		a.Offsets = append(a.Offsets, int32(p))
	}
	room := v.Size - width + 1
	switch d.rng.IntN(4) {
	case 0:
		for p := range a.Offsets {
			a.Offsets[p] += int32(start)
		}
	case 1: // in order
		a.Axis = u.Domain
		for l := range u.Domain.N {
			a.Base = append(a.Base, int32((l+start)%room))
		}
	default:
		a.Axis = u.Domain
		if up := u.Domain.Parent; up != nil && d.rng.IntN(2) == 0 {
			a.Axis = up
		}
		for range a.Axis.N {
			a.Base = append(a.Base, int32(d.rng.IntN(room)))
		}
	}
	return a
}

// elements returns the elements of an access in a lane of the domain, as positions in the
// variable's whole content.
func elements(a Access, v *Variable, domain *Axis, lane int) []int {
	up := func(to *Axis) int {
		if m := domain.LanesOf(to); m != nil {
			return int(m[lane])
		}
		return lane
	}
	base := 0
	if a.Axis != nil {
		base = int(a.Base[up(a.Axis)])
	}
	if v.Home != nil {
		base += up(v.Home) * v.Size
	}
	var out []int
	for _, o := range a.Offsets {
		out = append(out, base+int(o))
	}
	return out
}

// run evaluates the nest iteration by iteration.
func (d *drawn) run() {
	d.seen, d.last = map[[3]int][]source{}, map[*Variable][]source{}
	for _, v := range d.Variables {
		d.last[v] = slices.Repeat([]source{nobody}, v.Total())
	}
	var body func(l *Loop, lane int)
	body = func(l *Loop, lane int) {
		for _, x := range l.Body {
			switch x := x.(type) {
			case *Loop:
				for k, up := range x.Axis.Up {
					if int(up) == lane {
						body(x, k)
					}
				}
			case *Unit:
				k := lane
				if x.Domain != l.Axis {
					if k = slices.Index(x.Domain.Up, int32(lane)); k < 0 {
						continue
					}
				}
				d.execute(x, k)
			}
		}
	}
	for lane := range d.Root.Axis.N {
		body(d.Root, lane)
	}
}

// execute runs a unit in one lane: it reads, then writes. A unit that works on a copy of a variable
// writes all of it.
func (d *drawn) execute(u *Unit, lane int) {
	for k, t := range u.Touches {
		if t.How != Reads {
			continue
		}
		var from []source
		for _, e := range elements(t.Access, t.Variable, u.Domain, lane) {
			from = append(from, d.last[t.Variable][e])
		}
		d.seen[[3]int{u.ID, k, lane}] = from
	}
	for _, t := range u.Touches {
		if t.How == Reads {
			continue
		}
		a, w := t.Access, d.plan.of(t).Of(u)
		for _, other := range u.Touches { // of a compound unit, and of one that is vague: everything
			reads, writes := elements(other.Access, t.Variable, u.Domain, lane), elements(t.Access, t.Variable, u.Domain, lane)
			apart := w != nil && w.Others && other.How == Reads && !other.Some && !slices.ContainsFunc(reads, func(e int) bool { return slices.Contains(writes, e) })
			if other.Variable == t.Variable && !apart && (other.How != Reads || u.Compound) && (other.Some || !slices.Equal(reads, writes)) {
				a = t.Variable.Whole()
			}
		}
		if w != nil && w.Whole { // in some lane they differ
			a = t.Variable.Whole()
		}
		for pos, e := range elements(a, t.Variable, u.Domain, lane) {
			d.last[t.Variable][e] = source{u.ID, lane, pos}
		}
	}
}

// of returns the source of an origin.
func of(v *History, o Origin) source {
	w := v.Source(o)
	if w == nil {
		return nobody
	}
	width := len(w.Offsets)
	return source{w.Unit.ID, int(o.Pos) / width, int(o.Pos) % width}
}

// unbounded implements Memory without bounds.
type unbounded struct{}

func (unbounded) Reserve(int, ...int) {}
func (unbounded) Used() int64         { return 0 }
func (unbounded) Back(int64)          {}

// TestRandomNests checks plans of random loop nests. Every read must see the version that it sees
// in the sequential program, and a plan must compute each version before it is read.
func TestRandomNests(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(25_000) {
		d := drawNest(rand.New(rand.NewPCG(seed, 1)))
		before := ""
		if seed%50 == 0 {
			before = d.String()
		}
		plan := Make(d.Nest, unbounded{})
		d.plan = plan
		d.run()
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: %s\n%s", seed, fmt.Sprintf(format, args...), d)
		}
		if plan.Why != "" && (len(plan.Groups) > 0 || len(plan.Tangled) == 0) {
			fail("refused (%s) with groups %v, tangled %v", plan.Why, plan.Groups, plan.Tangled)
		}
		if before != "" && before != d.String() {
			fail("planning changed the nest, which was\n%s", before)
		}
		d.checkOrigins(fail)
		for _, v := range plan.Histories {
			if slices.ContainsFunc(v.Writes, func(w *Write) bool { return w.Others && !w.Whole }) {
				counts["others"]++
			}
		}
		if plan.Why != "" {
			counts["refused"]++
			if levels := Levels(d.Nest, plan); levels != nil {
				counts["levels"]++
			}
			continue
		}
		d.checkOrder(plan, counts, fail)
	}
	t.Log(counts)
	for _, kind := range []string{"lanes", "sum", "recurrence", "refused", "levels", "private", "others"} {
		if counts[kind] < 50 {
			t.Errorf("only %d cases of %s", counts[kind], kind)
		}
	}
}

// checkOrigins compares what reads see with the sequential program.
func (d *drawn) checkOrigins(fail func(string, ...any)) {
	for _, u := range d.Units {
		for k, t := range u.Touches {
			v := d.plan.of(t)
			if t.How != Reads || v.Sum || len(v.Writes) == 0 {
				continue
			}
			from := v.Origins(u, t.Access, u.Domain, nil)
			width := len(t.Access.Offsets)
			for lane := range u.Domain.N {
				for p, want := range d.seen[[3]int{u.ID, k, lane}] {
					if got := of(v, from[lane*width+p]); got != want {
						fail("unit %d, touch %d, lane %d, position %d sees %v, not %v", u.ID, k, lane, p, got, want)
					}
				}
			}
		}
	}
	for _, v := range d.plan.Histories {
		if v.Sum || v.Private || len(v.Writes) == 0 {
			continue
		}
		for e := range v.Total() {
			got := nobody
			if o, ok := v.Last(int32(e)); ok {
				got = of(v, o)
			}
			if got != d.last[v.Variable][e] {
				fail("element %d of variable %d is in the end of %v, not %v", e, v.ID, got, d.last[v.Variable][e])
			}
		}
	}
}

// checkOrder checks that every version has been written before a read sees it.
func (d *drawn) checkOrder(plan *Plan, counts map[string]int, fail func(string, ...any)) {
	group := slices.Repeat([]int{-1}, len(d.Units))
	for k, g := range plan.Groups {
		counts[g.Kind.String()]++
		for _, u := range g.Units {
			if group[u.ID] >= 0 {
				fail("unit %d is in two groups", u.ID)
			}
			group[u.ID] = k
			if g.Kind == Map && len(g.Units) > 1 || g.Kind == Recurrence && u.Domain != g.Units[0].Domain {
				fail("group %d: %v", k, g)
			}
		}
	}
	if slices.Contains(group, -1) {
		fail("units without a group: %v", group)
	}
	for _, v := range plan.Histories {
		if v.Private {
			counts["private"]++
		}
	}
	for _, u := range d.Units {
		g := plan.Groups[group[u.ID]]
		for k, t := range plan.touches[u.ID] { // including touches that planning added
			v := plan.of(t)
			steps := map[int]source{} // by position: its source, relative to the lane
			if t.How != Reads || v.Sum || len(v.Writes) == 0 {
				continue
			}
			width := len(t.Access.Offsets)
			for i, o := range v.Origins(u, t.Access, u.Domain, nil) {
				if !o.Written() {
					continue
				}
				lane, from := i/width, of(v, o)
				same := group[from.unit] == group[u.ID]
				switch {
				case group[from.unit] > group[u.ID]:
					fail("unit %d sees %v, which is evaluated later", u.ID, from)
				case plan.Groups[group[from.unit]].Kind == Sum && !same:
					// A read sees all additions of a sum or none: its version is the last of its
					// run.
					if !d.completes(v, o, plan.Groups[group[from.unit]].Units) {
						fail("unit %d sees %v, an addition that others follow", u.ID, from)
					}
				case same && g.Kind == Map:
					fail("unit %d sees %v in lanes", u.ID, from)
				case same && g.Kind == Recurrence:
					if from.lane > lane || from.lane == lane && from.unit >= u.ID {
						fail("unit %d sees %v in lane %d of a scan", u.ID, from, lane)
					}
					x := source{from.unit, lane - from.lane, from.pos}
					if before, ok := steps[i%width]; ok && before != x {
						fail("unit %d, touch %d sees %v and %v in a scan", u.ID, k, before, x)
					}
					steps[i%width] = x
				}
			}
		}
	}
}

// completes reports whether no addition of the same sum comes after a version.
func (d *drawn) completes(v *History, o Origin, units []*Unit) bool {
	complete, past := true, false
	for e := range v.Total() {
		v.Versions(int32(e), func(x Origin) {
			if past && slices.Contains(units, v.Source(x).Unit) && v.Source(x).Slot[x.Pos] == v.Source(o).Slot[o.Pos] {
				complete = false
			}
			past = past || x == o
		})
		past = false
	}
	return complete
}

// String prints a nest.
func (d *drawn) String() string {
	var b strings.Builder
	var walk func(l *Loop, indent string)
	walk = func(l *Loop, indent string) {
		fmt.Fprintf(&b, "%sloop of %d: %v\n", indent, l.Axis.N, l.Axis.Up)
		for _, x := range l.Body {
			switch x := x.(type) {
			case *Loop:
				walk(x, indent+"  ")
			case *Unit:
				fmt.Fprintf(&b, "%s  unit %d over %d %v compound %v\n", indent, x.ID, x.Domain.N, x.Domain.Up, x.Compound)
				for _, t := range x.Touches {
					fmt.Fprintf(&b, "%s    %v variable %d: base %v offsets %v some %v\n", indent, [...]string{"reads", "writes", "adds to"}[t.How], t.Variable.ID, t.Access.Base, t.Access.Offsets, t.Some)
				}
			}
		}
	}
	walk(d.Root, "")
	for _, v := range d.Variables {
		fmt.Fprintf(&b, "variable %d: size %d inside %v integer %v\n", v.ID, v.Size, v.Inside, v.Integer)
	}
	return b.String()
}
