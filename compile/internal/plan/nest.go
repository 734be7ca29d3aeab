package plan

import "slices"

// Nest is a loop with the loops in its body whose iterations data decide, as a set of statement
// instances. It is not changed any more once it is made.
type Nest struct {
	Root      *Loop
	Units     []*Unit     // in the order of the program
	Variables []*Variable // that units write or read
}

// Memory bounds what a plan may take. Reserve may panic, which ends the planning.
type Memory interface {
	// Reserve asks for an array of so many elements in each dimension, of so many bytes each.
	Reserve(bytes int, sizes ...int)
	// Used is the number of bytes in use; Back sets it back to an earlier number.
	Used() int64
	Back(used int64)
}

// used is the memory in use; what it returns gives back what was taken since.
func (p *Plan) used() (back func()) {
	used := p.memory.Used()
	return func() { p.memory.Back(used) }
}

// Variable is a variable that units of a nest use.
type Variable struct {
	ID      int // place in Nest.Variables
	Size    int
	Home    *Axis // the iterations of its declaration, each with its own content; nil: there is one content
	Inside  bool  // declared in the nest
	Integer bool

	all []int32 // every element, when it was asked for
}

// Whole is the access of all elements, for who makes the nest. Accesses share their list.
func (v *Variable) Whole() Access {
	v.all = v.every()
	return Access{Offsets: v.all}
}

// every is the list of all elements.
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

// Total is the number of elements over the lanes of the home.
func (v *Variable) Total() int { return v.Size * Lanes(v.Home) }

// elements are those of an access in the lanes of ax: base per lane, and the offsets that are
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

// Node is a *Loop or a *Unit: what the body of a loop consists of.
type Node interface{ lanes() *Axis }

func (l *Loop) lanes() *Axis { return l.Axis }
func (u *Unit) lanes() *Axis { return u.Domain }

// around reports whether a loop is another or stands around it.
func (l *Loop) around(in *Loop) bool {
	for in != nil && in != l {
		in = in.Parent
	}
	return in != nil
}

// Unit is a statement of a nest, or several that parameters hold together.
type Unit struct {
	ID      int   // place in the order of the program
	Domain  *Axis // the iterations that execute it
	Loop    *Loop // innermost
	Touches []Touch

	// Compound: what it reads, in whichever of its statements, it reads before it writes.
	Compound bool
}

// Has reports whether a unit is one of these, which are in the order of the program.
func Has(units []*Unit, u *Unit) bool {
	i, ok := slices.BinarySearchFunc(units, u.ID, func(x *Unit, id int) int { return x.ID - id })
	return ok && units[i] == u
}

// Touch is how a unit uses elements of a variable.
type Touch struct {
	Variable *Variable
	Access   Access
	Axis     *Axis // lanes of the use: the unit's domain or some of its lanes
	How      Use
	Some     bool // elements that are not known beforehand: Access is of the whole variable
}

// Use is a way to use elements.
type Use uint8

const (
	Reads Use = iota
	Writes
	Adds // += or -=, which reads and writes
)

// Access is a set of elements of a variable, per lane: position p of lane l is element
// Base[l] + Offsets[p] of the lane's content.
type Access struct {
	Axis    *Axis   // nil: the same in all lanes
	Base    []int32 // one per lane of Axis; nil if Axis is nil
	Offsets []int32
	Out     []bool // by lane of Axis: lanes that a condition leaves out, whose index is wrong; nil: none
}

// equal reports whether two accesses are to the same elements, lane by lane.
func (a Access) equal(b Access) bool {
	return a.Axis == b.Axis && same(a.Base, b.Base) && same(a.Offsets, b.Offsets)
}

// same is slices.Equal, which takes no time for one slice.
func same(a, b []int32) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// outIn tells for every lane of ax, that of the access or one within it, whether its
// index is wrong where conditions leave it out; nil if none is.
func (a Access) outIn(ax *Axis) []bool { return OutIn(a.Axis, ax, a.Out) }

// OutIn spreads what is said of the lanes of an axis to those of ax, the same axis or one within
// it; nil stays nil.
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

// FlatBase is, for every lane of ax, which is within both axis and home, where the elements of an
// access begin in the content of all lanes of home one after another, of size elements each. base
// is by lane of axis, nil if axis is nil.
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

// Distinct reports whether no element is twice in the list.
func Distinct(list []int32) bool {
	rising := true
	for i := 1; i < len(list) && rising; i++ {
		rising = list[i] > list[i-1]
	}
	if rising {
		return true
	}
	s := slices.Clone(list)
	slices.Sort(s)
	return len(slices.Compact(s)) == len(list)
}
