package ad

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Ref names a node of one Graph. Refs are only meaningful with their graph.
type Ref int32

// None is the absent Ref, for instance a partial derivative that is zero.
const None Ref = -1

// Type is the type of a node's value: an array of float64 with shape Shape, row-major (last index
// fastest). Lanes is 0 for an ordinary value. Lanes N > 0 means one value of that shape per lane of
// a loop over N iterations, stored lane after lane. Every op maps over lanes: rules are written for
// one lane, and an operand without lanes is the same for all of them.
type Type struct {
	Lanes int
	Shape []int
}

// maxTotal bounds the number of elements of a value: positions are 32 bits.
const maxTotal = 1 << 30

// Scalar is the type of a single number.
var Scalar = Type{}

// Size returns the number of elements of one lane.
func (t Type) Size() int { return SizeOf(t.Shape) }

// Total returns the number of stored elements, over all lanes.
func (t Type) Total() int { return times(max(t.Lanes, 1), t.Size()) }

// IsScalar reports whether one lane holds a single number of rank 0.
func (t Type) IsScalar() bool { return len(t.Shape) == 0 }

// Equal reports whether two types are the same.
func (t Type) Equal(u Type) bool { return t.Lanes == u.Lanes && shapeEqual(t.Shape, u.Shape) }

// String is "[3 4]" or, with lanes, "100*[3 4]".
func (t Type) String() string {
	s := "[" + strings.Trim(fmt.Sprint(t.Shape), "[]") + "]"
	if t.Lanes > 0 {
		s = strconv.Itoa(t.Lanes) + "*" + s
	}
	return s
}

func shapeEqual(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Site identifies the place in the user's program that a node comes from. It is opaque here and
// copied to derived nodes. 0 is "nowhere".
type Site int32

// Node is one operation of a graph, in SSA form: its arguments precede it.
type Node struct {
	Op   OpCode
	Type Type // of the value; a region has none, only lanes: see Results
	Args []Ref
	Data []float64 // OpConst: the value, Type.Total() elements; never modified
	Attr any       // further parameters of the op: Index, *Scan, *If, *Check, …; immutable
	Site Site

	uniform bool // a constant array of one repeated number
}

// Graph is a static program over arrays: nodes in order of computation. Some are inputs, some
// outputs, and some have side effects (argument checks, rejections, prints) that are carried out in
// order. Graphs only grow; executors skip unused nodes. Building methods panic with *BuildError on
// a mistake of the caller (a shape that does not fit); Recover turns that into an error at a
// package's border. A graph is not safe for concurrent use while it is built; afterwards it is
// immutable and can be shared.
type Graph struct {
	Nodes       []Node
	Inputs      []Ref
	Outputs     []Ref
	SideEffects []Ref // nodes with side effects, in order

	site    Site
	budget  *Budget       // nil: there are no bounds
	taken   *int64        // bytes taken from the budget by this graph and its siblings
	cse     nodeTable     // nodes by key, to find equal ones; for constants see constKey
	keys    keyTable      // numbers of the keys of attributes
	scratch *scratch      // nil until it is used
	room    []Ref         // memory for the arguments of further nodes
	kept    []any         // attributes of folded nodes, kept alive because keys contain their addresses
	small   []float64     // memory for further scalar constants
	lower   map[int]Index // for each size, the index of a lower triangle
	tables  tables        // index tables; equal ones are stored once

	guarding bool // set while a rule is applied to an adjoint that may belong to a side not taken
	eager    bool // fold all constants, even large ones
}

// scratch is memory that is reused for each new node.
type scratch struct {
	types []Type
	args  [][]float64
	node  Node // the node that is being folded
	small struct {
		types [3]Type
		args  [3][]float64
		refs  [3]Ref
	}
}

// temporary returns the graph's scratch memory.
func (g *Graph) temporary() *scratch {
	if g.scratch == nil {
		s := new(scratch)
		s.types, s.args, s.node.Args = s.small.types[:0], s.small.args[:0], s.small.refs[:0]
		g.scratch = s
	}
	return g.scratch
}

// NewGraph returns an empty graph.
func NewGraph() *Graph {
	return &Graph{}
}

// Expect reserves storage for this many nodes in an empty graph.
func (g *Graph) Expect(nodes int) {
	if len(g.Nodes) == 0 {
		g.Nodes, g.room = make([]Node, 0, nodes), make([]Ref, nodes+nodes/2)
		g.cse.grow(nodes)
	}
}

// BuildError reports a mistake in building a graph.
type BuildError struct {
	Op   OpCode
	Msg  string
	Site Site
	Err  error // set if a Budget ended the building: a *LimitError, or the error of Budget.Stop
}

// Error implements error.
func (e *BuildError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %s", e.Op, e.Msg)
}

// Unwrap returns the error of the Budget.
func (e *BuildError) Unwrap() error { return e.Err }

func (g *Graph) fail(op OpCode, format string, args ...any) {
	panic(&BuildError{Op: op, Msg: fmt.Sprintf(format, args...), Site: g.site})
}

// Recover stores a *BuildError panic in *err; defer it at the border of a package that builds
// graphs. Other panics continue.
func Recover(err *error) {
	switch r := recover().(type) {
	case nil:
	case *BuildError:
		*err = r
	default:
		panic(r)
	}
}

// SetSite sets the site of later nodes and returns the previous one.
func (g *Graph) SetSite(s Site) Site { old := g.site; g.site = s; return old }

// Type returns the type of r's value.
func (g *Graph) Type(r Ref) Type { return g.Nodes[r].Type }

// Const returns a scalar constant.
func (g *Graph) Const(v float64) Ref {
	key := constKey(v, false)
	if r, ok := g.cse.find(key); ok {
		return r
	}
	if len(g.small) == 0 {
		g.small = make([]float64, 16)
	}
	data := g.small[:1:1]
	data[0], g.small = v, g.small[1:]
	r := g.push(Node{Op: OpConst, Data: data})
	g.cse.set(key, r)
	return r
}

// ConstArray returns a constant of type t; the graph keeps data, which must not
// change afterwards.
func (g *Graph) ConstArray(t Type, data []float64) Ref {
	if len(data) != t.Total() {
		g.fail(OpConst, "%d values for type %v", len(data), t)
	}
	if t.Lanes == 0 && len(t.Shape) == 0 {
		return g.Const(data[0])
	}
	r := g.push(Node{Op: OpConst, Type: t, Data: data})
	for _, v := range data {
		if math.Float64bits(v) != math.Float64bits(data[0]) {
			return r
		}
	}
	g.Nodes[r].uniform = true
	return r
}

// fill returns a constant of type t whose elements all equal v. Derivatives have many of them, so
// they share storage; where a scalar gives a result of the same type, narrow replaces them by it.
func (g *Graph) fill(t Type, v float64) Ref {
	if t.Equal(Scalar) {
		return g.Const(v)
	}
	key, n := constKey(v, true), t.Total()
	var data []float64
	longest, ok := g.cse.find(key)
	if ok {
		data = g.Nodes[longest].Data
	}
	fresh := !ok || len(data) < n
	if fresh {
		data = g.Array(n)
		for i := range data {
			data[i] = v
		}
	}
	r := g.push(Node{Op: OpConst, Type: t, Data: data[:n:n], uniform: true})
	if fresh {
		g.cse.set(key, r)
	}
	return r
}

// number returns the number that all elements of a constant equal, if there is one.
func (g *Graph) number(r Ref) (v float64, ok bool) {
	n := &g.Nodes[r]
	if n.Op != OpConst || len(n.Data) == 0 || len(n.Data) > 1 && !n.uniform {
		return 0, false
	}
	return n.Data[0], true
}

// narrow replaces constant arrays of one repeated number among the arguments of an elementwise op
// by the number, if the type of the result does not depend on them.
func (g *Graph) narrow(op OpCode, row *Op, args []Ref) []Ref {
	for i, a := range args {
		if !g.Nodes[a].uniform {
			continue
		}
		v, ok := g.number(a)
		if !ok {
			continue
		}
		to := append([]Ref(nil), args...)
		to[i] = g.Const(v)
		if g.typeOf(op, row, nil, to).Equal(g.typeOf(op, row, nil, args)) {
			args = to
		}
	}
	return args
}

// Value returns the value of a constant node; ok is false for other nodes.
func (g *Graph) Value(r Ref) (v []float64, ok bool) {
	n := &g.Nodes[r]
	return n.Data, n.Op == OpConst
}

// isConst reports whether r is the constant v, as a scalar or in all elements of an array.
func (g *Graph) isConst(r Ref, v float64) bool {
	n := &g.Nodes[r]
	return n.Op == OpConst && len(n.Data) == 1 && n.Data[0] == v
}

// Input adds an input of type t.
func (g *Graph) Input(t Type) Ref {
	r := g.push(Node{Op: OpInput, Type: t, Attr: len(g.Inputs)})
	g.Inputs = append(g.Inputs, r)
	return r
}

// SetInputs makes these inputs, in this order, the inputs of the graph.
func (g *Graph) SetInputs(inputs []Ref) {
	g.Inputs = inputs
	for k, in := range inputs {
		g.Nodes[in].Attr = k
	}
}

// Output marks r as the next output.
func (g *Graph) Output(r Ref) { g.Outputs = append(g.Outputs, r) }

func (g *Graph) push(n Node) Ref {
	n.Site = g.site
	g.charge(&n)
	if g.Nodes == nil {
		g.Nodes = make([]Node, 0, 16)
	}
	g.Nodes = append(g.Nodes, n)
	return Ref(len(g.Nodes) - 1)
}

// nodeKey is equal for equal nodes without side effects, which are merged. Nodes with more than
// three arguments are not merged.
type nodeKey struct {
	op      OpCode
	n       uint16
	a, b, c Ref
	attr    int32 // number of the attribute's key in keys; 0: none
}

// constKey is the key of a scalar constant, or of the longest array that repeats one number;
// shorter arrays share its storage.
func constKey(v float64, array bool) nodeKey {
	bits := math.Float64bits(v)
	k := nodeKey{op: OpConst, a: Ref(uint32(bits)), b: Ref(uint32(bits >> 32))}
	if array {
		k.n = 1
	}
	return k
}

// Keyed is implemented by attributes of nodes that may be merged. AppendKey appends a key to b:
// equal keys (for the same op and arguments) mean equal values.
type Keyed interface{ AppendKey(b []byte) []byte }

// refs copies a node's arguments to memory that nodes share.
func (g *Graph) refs(args []Ref) []Ref {
	n := len(args)
	if n == 0 {
		return nil
	}
	if len(g.room) < n {
		g.room = make([]Ref, max(n, min(len(g.Nodes)+8, 512)))
	}
	r := g.room[:n:n]
	g.room = g.room[n:]
	copy(r, args)
	return r
}

// Do adds the op to the graph, checking types, or returns an equal existing node. An op whose
// arguments are all constants is evaluated at once. Nodes with side effects are appended to
// SideEffects.
func (g *Graph) Do(op OpCode, attr any, args ...Ref) Ref {
	row := &table[op]
	for _, a := range args {
		if a < 0 || int(a) >= len(g.Nodes) {
			g.fail(op, "argument %d is not a node of this graph", a)
		}
		if table[g.Nodes[a].Op].Class == Region && op != OpResult {
			g.fail(op, "argument %d is a region, which has results but no value", a)
		}
	}
	if row.Arity >= 0 && len(args) != row.Arity {
		g.fail(op, "%d arguments, want %d", len(args), row.Arity)
	}
	if row.Class == Elementwise {
		args = g.narrow(op, row, args)
	}
	switch a := attr.(type) {
	case Index:
		if x, ok := g.tables.index(a); ok {
			attr = x
		}
	case scatterAttr:
		if x, ok := g.tables.index(a.Index); ok {
			attr = scatterAttr{x, a.to}
		}
	}
	if r, ok := g.simplify(op, attr, args); ok {
		return r
	}
	t := g.typeOf(op, row, attr, args)
	var key nodeKey
	shared := row.Class != Effect && row.Class != Random && len(args) <= 3
	if shared {
		key = nodeKey{op: op, n: uint16(len(args)), a: None, b: None, c: None}
		switch len(args) {
		case 3:
			key.c = args[2]
			fallthrough
		case 2:
			key.b = args[1]
			fallthrough
		case 1:
			key.a = args[0]
		}
		switch k := attr.(type) {
		case nil:
		case Keyed:
			key.attr = g.keys.number(k)
		default:
			shared = false
		}
	}
	if shared {
		if r, ok := g.cse.find(key); ok {
			return r
		}
	}
	if t.Total() > maxTotal {
		g.Reserve(8, t.Total())
	}
	r := None
	if row.Class != Effect && row.Class != Random && row.Class != Region && len(args) > 0 && g.allConst(args) {
		r = g.folded(op, t, args, attr)
	}
	if r == None {
		r = g.push(Node{Op: op, Type: t, Args: g.refs(args), Attr: attr})
		if row.Class == Effect {
			g.SideEffects = append(g.SideEffects, r)
		}
	}
	if shared {
		g.cse.set(key, r)
		if g.Nodes[r].Attr == nil && attr != nil {
			// The key may contain the address of the attribute's table, whose memory must not be
			// reused.
			g.kept = append(g.kept, attr)
		}
	}
	return r
}

// folded returns the value of an op on constants (constant folding). It returns None if the op is
// not folded.
func (g *Graph) folded(op OpCode, t Type, args []Ref, attr any) Ref {
	n := &g.temporary().node
	// args is copied, so that it does not escape and callers can keep it on their stack.
	*n = Node{Op: op, Type: t, Args: append(n.Args[:0], args...), Attr: attr}
	if g.inflates(n) {
		return None
	}
	if v, ok := g.foldNumber(n); ok {
		return g.fill(t, v)
	}
	if data, ok := g.fold(n); ok {
		return g.ConstArray(t, data)
	}
	return None
}

func (g *Graph) allConst(args []Ref) bool {
	for _, a := range args {
		if g.Nodes[a].Op != OpConst {
			return false
		}
	}
	return true
}

// inflates reports whether a scatter's value is mostly zeros: the adjoint of a long array of which
// only a few elements are read. Such nodes are not folded.
func (g *Graph) inflates(n *Node) bool {
	return !g.eager && n.Op == OpScatter && n.Type.Total() > minSpread && n.Type.Total() > maxSpread*g.Nodes[n.Args[0]].Type.Total()
}

// foldNumber is fold for a node whose arguments each repeat one number.
func (g *Graph) foldNumber(n *Node) (float64, bool) {
	row := &table[n.Op]
	if row.Class != Elementwise && (row.Class != Linear || len(n.Args) != 1 || n.Op == OpScatter) {
		return 0, false
	}
	var v [3]float64
	for i, a := range n.Args {
		x, ok := g.number(a)
		if !ok {
			return 0, false
		}
		v[i] = x
	}
	if row.Class == Linear {
		return v[0], true
	}
	return row.Scalar(v), true
}

// fold evaluates a node on constants. An op that fails (a matrix without Cholesky factor) is not
// folded and fails when the graph is evaluated.
func (g *Graph) fold(n *Node) ([]float64, bool) {
	s := g.temporary()
	args, types := s.args[:0], s.types[:0]
	for _, a := range n.Args {
		args, types = append(args, g.Nodes[a].Data), append(types, g.Nodes[a].Type)
	}
	s.args, s.types = args, types
	dst := g.Array(n.Type.Total())
	err, ended := g.budget.EvalNode(n, types, args, dst)
	if ended {
		g.scratch = nil // the evaluation continues and still reads it
		g.halt(err)
	}
	return dst, err == nil
}

// Eager makes the graph fold all constants. Otherwise it does not fold those that are mostly zeros,
// which are frequent in derivatives.
func (g *Graph) Eager() { g.eager = true }

// typeOf returns the type of op's value.
func (g *Graph) typeOf(op OpCode, row *Op, attr any, args []Ref) Type {
	var t Type
	for _, a := range args {
		u := g.Nodes[a].Type
		if u.Lanes > 0 {
			if t.Lanes > 0 && t.Lanes != u.Lanes {
				g.fail(op, "operands of %d and %d lanes", t.Lanes, u.Lanes)
			}
			t.Lanes = u.Lanes
		}
	}
	switch {
	case op == OpResult:
		u, ok := g.Nodes[args[0]].ResultType(int(attr.(resultAttr)))
		if !ok {
			g.fail(op, "no result %d", attr)
		}
		t.Shape = u.Shape
	case row.Class == Elementwise || row.Class == Random:
		for _, a := range args {
			u := g.Nodes[a].Type
			if len(u.Shape) > 0 {
				if t.Shape != nil && !shapeEqual(t.Shape, u.Shape) {
					g.fail(op, "operands of shapes %v and %v", t.Shape, u.Shape)
				}
				t.Shape = u.Shape
			}
		}
	case row.Shape != nil:
		s := g.temporary()
		types := s.types[:0]
		for _, a := range args {
			types = append(types, g.Nodes[a].Type)
		}
		s.types = types
		u, err := row.Shape(types, attr)
		if err != nil {
			g.fail(op, "%v", err)
		}
		if row.OwnLanes {
			t = u
		} else {
			t.Shape = u.Shape
		}
	}
	return t
}

// simplify applies the identities that hold for every float64, also for NaN and infinities. For
// instance, it does not replace 0·x by 0.
func (g *Graph) simplify(op OpCode, attr any, a []Ref) (Ref, bool) {
	wide := func(keep, drop Ref) bool { // the result has the type of keep
		return g.Nodes[drop].Type.Lanes == 0 && len(g.Nodes[drop].Type.Shape) == 0
	}
	switch op {
	case OpAdd:
		if g.isConst(a[0], 0) && wide(a[1], a[0]) {
			return a[1], true
		}
		if g.isConst(a[1], 0) && wide(a[0], a[1]) {
			return a[0], true
		}
	case OpSub:
		if g.isConst(a[1], 0) && wide(a[0], a[1]) {
			return a[0], true
		}
	case OpMul:
		if g.isConst(a[0], 1) && wide(a[1], a[0]) {
			return a[1], true
		}
		if g.isConst(a[1], 1) && wide(a[0], a[1]) {
			return a[0], true
		}
		if g.isConst(a[0], -1) && wide(a[1], a[0]) {
			return g.Do(OpNeg, nil, a[1]), true
		}
		if g.isConst(a[1], -1) && wide(a[0], a[1]) {
			return g.Do(OpNeg, nil, a[0]), true
		}
	case OpDiv:
		if g.isConst(a[1], 1) && wide(a[0], a[1]) {
			return a[0], true
		}
	case OpNeg:
		if n := &g.Nodes[a[0]]; n.Op == OpNeg {
			return n.Args[0], true
		}
	case OpGather:
		ix := attr.(Index)
		src := &g.Nodes[a[0]]
		if ix.isIdentity(src.Type.Size()) {
			return g.Reshape(a[0], ix.Shape()), true
		}
		if src.Op == OpGather {
			if jx, ok := ix.compose(src.Attr.(Index)); ok {
				return g.Do(OpGather, jx, src.Args[0]), true
			}
		}
	case OpReshape:
		n := &g.Nodes[a[0]]
		if shapeEqual(n.Type.Shape, attr.(shapeAttr).shape) {
			return a[0], true
		}
		if n.Op == OpReshape {
			return g.Do(OpReshape, attr, n.Args[0]), true
		}
	case OpTake:
		// The element that is read was just written.
		if n := &g.Nodes[a[0]]; n.Op == OpReplace && n.Args[2] == a[1] && g.Type(a[1]).Total() == 1 && g.Type(n.Args[1]).Equal(g.typeOf(op, &table[op], attr, a)) {
			return n.Args[1], true
		}
	case OpConcat:
		if len(a) == 1 {
			return g.Reshape(a[0], []int{g.Nodes[a[0]].Type.Size()}), true
		}
	case OpLane:
		if n := &g.Nodes[a[0]]; n.Op == OpUnlane {
			return n.Args[0], true
		}
	case OpUnlane:
		if n := &g.Nodes[a[0]]; n.Op == OpLane {
			return n.Args[0], true
		}
	case OpSelect:
		if v, ok := g.Value(a[0]); ok && len(v) == 1 {
			pick := a[2]
			if v[0] != 0 {
				pick = a[1]
			}
			if g.Nodes[pick].Type.Equal(g.typeOf(op, &table[op], attr, a)) {
				return pick, true
			}
		}
	}
	return None, false
}
