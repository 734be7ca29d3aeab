package plan

import "slices"

// Nest is a loop, with the inner loops whose iterations data decide, as a set of statement
// instances. It is immutable.
type Nest struct {
	Root      *Loop
	Units     []*Unit     // in program order
	Variables []*Variable // that units write or read
}

// Memory limits the memory of a plan. Reserve may panic to end the planning.
type Memory interface {
	// Reserve asks for an array with these sizes, whose elements have a size in bytes.
	Reserve(bytes int, sizes ...int)
	// Used returns the number of bytes in use. Back resets it to an earlier number.
	Used() int64
	Back(used int64)
}

// used records the memory in use. The function that it returns gives back all memory taken since.
func (p *Plan) used() (back func()) {
	used := p.memory.Used()
	return func() { p.memory.Back(used) }
}

// Variable is a variable that units of a nest use.
type Variable struct {
	ID      int // index in Nest.Variables
	Size    int
	Home    *Axis // the iterations of its declaration, each with its own content; nil: one content
	Inside  bool  // declared in the nest
	Integer bool

	all []int32 // all elements, made on first use
}

// Whole returns the access to all elements, for the maker of the nest. Such accesses share one
// list.
func (v *Variable) Whole() Access {
	v.all = v.every()
	return Access{Offsets: v.all}
}

// every returns the list of all elements.
func (v *Variable) every() []int32 {
	if len(v.all) == v.Size {
		return v.all
	}
	all := make([]int32, v.Size)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// Total returns the number of elements over all lanes of the home.
func (v *Variable) Total() int { return v.Size * Lanes(v.Home) }

// elements returns the elements of an access in the lanes of ax: a base per lane, and the offsets
// added to it.
func (v *Variable) elements(a Access, ax *Axis) (base, offsets []int32) {
	if ax == nil {
		return []int32{0}, a.Offsets
	}
	return FlatBase(a.Axis, a.Base, v.Home, ax, v.Size), a.Offsets
}

// Loop is a loop of a nest.
type Loop struct {
	Axis   *Axis // its iterations
	Parent *Loop
	Body   []Node
}

// Node is an element of a loop's body: a *Loop or a *Unit.
type Node interface{ lanes() *Axis }

func (l *Loop) lanes() *Axis { return l.Axis }
func (u *Unit) lanes() *Axis { return u.Domain }

// around reports whether l is the loop in or contains it.
func (l *Loop) around(in *Loop) bool {
	for in != nil && in != l {
		in = in.Parent
	}
	return in != nil
}

// Unit is a statement of a nest. It consists of several statements if control flow that parameters
// decide binds them together.
type Unit struct {
	ID      int   // index in program order
	Domain  *Axis // the iterations that execute it
	Loop    *Loop // innermost
	Touches []Touch

	// Compound means that all its reads, in any of its statements, come before its writes.
	Compound bool
}

// Has reports whether u is one of units, which must be in program order.
func Has(units []*Unit, u *Unit) bool {
	i, ok := slices.BinarySearchFunc(units, u.ID, func(x *Unit, id int) int { return x.ID - id })
	return ok && units[i] == u
}

// Touch is a use of elements of a variable by a unit.
type Touch struct {
	Variable *Variable
	Access   Access
	Axis     *Axis // lanes of the use: the unit's domain or some of its lanes
	How      Use
	Some     bool // the elements are not known in advance; Access is to the whole variable
}

// Use is the kind of a use.
type Use uint8

const (
	Reads Use = iota
	Writes
	Adds // += or -=, which reads and writes
)

// Access is a set of elements of a variable, per lane: position p of lane l is element
// Base[l] + Offsets[p] of the lane's content.
type Access struct {
	Axis    *Axis   // nil: all lanes have the same elements
	Base    []int32 // one per lane of Axis; nil if Axis is nil
	Offsets []int32
	Out     []bool // by lane of Axis: excluded lanes with an invalid index; nil: none
}

// equal reports whether two accesses are to the same elements, lane by lane.
func (a Access) equal(b Access) bool {
	return a.Axis == b.Axis && same(a.Base, b.Base) && same(a.Offsets, b.Offsets)
}

// same is slices.Equal, but fast if both are the same slice.
func same(a, b []int32) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// outIn returns Out for the lanes of ax, which is the access's axis or within it. It is nil if no
// lane is out.
func (a Access) outIn(ax *Axis) []bool { return OutIn(a.Axis, ax, a.Out) }

// OutIn expands flags for the lanes of axis to those of ax, the same axis or one within it; nil
// stays nil.
func OutIn(axis, ax *Axis, out []bool) []bool {
	if out == nil || ax == axis {
		return out
	}
	wide := make([]bool, ax.N)
	for l, up := range ax.LanesOf(axis) {
		wide[l] = out[up]
	}
	return wide
}

// FlatBase returns the base of an access for every lane of ax, in the flat content of a variable.
// The flat content holds the lanes of home one after another, with size elements each. ax must be
// within both axis and home. base has a number for each lane of axis, and is nil if axis is nil.
func FlatBase(axis *Axis, base []int32, home, ax *Axis, size int) []int32 {
	out := make([]int32, ax.N)
	if axis != nil {
		if up := ax.LanesOf(axis); up != nil {
			for l := range out {
				out[l] = base[up[l]]
			}
		} else {
			copy(out, base)
		}
	}
	if home != nil {
		if up := ax.LanesOf(home); up != nil {
			for l := range out {
				out[l] += up[l] * int32(size)
			}
		} else {
			for l := range out {
				out[l] += int32(l * size)
			}
		}
	}
	return out
}

// Distinct reports whether no element occurs twice in the list.
func Distinct(list []int32) bool {
	s := slices.Clone(list)
	slices.Sort(s)
	return len(slices.Compact(s)) == len(list)
}
