package ad

import (
	"fmt"
	"math"
	"strconv"
)

// Budget bounds the memory for building graphs, and the number of statements that are evaluated
// while a program is bound. Graphs that one task builds one after another share a budget. A nil
// budget has no bounds. It is not safe for concurrent use.
type Budget struct {
	// Stop, if not nil, is called from time to time. If it returns an error, the work ends with an
	// error that wraps it.
	Stop func() error

	memory, used     int64 // bytes
	statements, done int64
	calls, steps     uint8
}

// NewBudget returns a budget with the given bytes of memory and number of statements; 0 means no
// bound.
func NewBudget(memory, statements int64) *Budget {
	b := &Budget{memory: memory, statements: statements}
	if memory <= 0 {
		b.memory = math.MaxInt64
	}
	if statements <= 0 {
		b.statements = math.MaxInt64
	}
	return b
}

// LimitError reports that a budget is exhausted.
type LimitError struct {
	What  string // "memory" or "statements"
	Asked int64  // bytes, or statements
	Left  int64
	Limit int64
}

// Error implements error: "this needs 16 GB of memory, and 1.2 GB of 2 GB are left".
func (e *LimitError) Error() string {
	if e.What == "statements" {
		return fmt.Sprintf("the model runs more than %d statements", e.Limit)
	}
	if e.Asked == math.MaxInt64 {
		return fmt.Sprintf("this needs more than any computer's memory; %s of %s are left", FormatBytes(e.Left), FormatBytes(e.Limit))
	}
	return fmt.Sprintf("this needs %s of memory; %s of %s are left", FormatBytes(e.Asked), FormatBytes(e.Left), FormatBytes(e.Limit))
}

// Fatal reports that the run must end: a point that needs too much memory is not impossible, and
// rejecting it would change the distribution of the draws.
func (e *LimitError) Fatal() bool { return true }

// Detail says why the limit exists, for users.
func (e *LimitError) Detail() string {
	return "The limit protects the machine from a mistake in the model or its data."
}

// Fix returns advice for the user.
func (e *LimitError) Fix() string {
	return "check the sizes and loops here. If they are right, allow more " + e.What
}

// FormatBytes formats a number of bytes with three digits: "1.25 GB".
func FormatBytes(n int64) string {
	if n == math.MaxInt64 {
		return "more than any computer's memory"
	}
	x, unit := float64(n), 0
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	for x >= 1000 && unit < len(units)-1 {
		x, unit = x/1000, unit+1
	}
	return strconv.FormatFloat(x, 'g', 3, 64) + " " + units[unit]
}

// Take takes bytes from the budget; call it before allocating them. The error is a *LimitError, or
// the error of Stop.
func (b *Budget) Take(bytes int64) error {
	if b == nil {
		return nil
	}
	if bytes > b.memory-b.used {
		return &LimitError{What: "memory", Asked: bytes, Left: b.memory - b.used, Limit: b.memory}
	}
	b.used += bytes
	if b.calls++; b.calls == 0 || bytes > 1<<20 {
		return b.Ask()
	}
	return nil
}

// Steps takes n statements from the budget, and calls Stop.
func (b *Budget) Steps(n int64) error {
	if b == nil {
		return nil
	}
	if b.done += n; b.done > b.statements {
		return &LimitError{What: "statements", Asked: n, Limit: b.statements}
	}
	return b.Ask()
}

// Ask calls Stop.
func (b *Budget) Ask() error {
	if b == nil || b.Stop == nil {
		return nil
	}
	return b.Stop()
}

// Left returns the remaining memory and statements.
func (b *Budget) Left() (memory, statements int64) {
	if b == nil {
		return 0, 0
	}
	return b.memory - b.used, b.statements - b.done
}

// Used returns the number of bytes taken so far, for a later call of Back.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used
}

// Back gives back all bytes taken since Used returned this value.
func (b *Budget) Back(used int64) {
	if b != nil {
		b.used = min(b.used, max(used, 0))
	}
}

// Return gives back this many bytes.
func (b *Budget) Return(bytes int64) {
	if b != nil {
		b.used = max(b.used-bytes, 0)
	}
}

// Step takes one statement, with its cost, from the budget. The errors are those of Take.
func (b *Budget) Step(cost int64) error {
	if b == nil {
		return nil
	}
	b.steps++
	if b.done += cost; b.steps != 0 && b.done <= b.statements {
		return nil
	}
	return b.Steps(0)
}

// EvalNode is the function EvalNode, but returns within askEvery if Stop returns an error, which
// ended reports. The work then continues in the background, in memory that nothing else uses.
func (b *Budget) EvalNode(n *Node, types []Type, args [][]float64, dst []float64) (err error, ended bool) {
	if b == nil {
		return evalNode(n, types, args, dst), false
	}
	return evalWithin(b.Stop, n, types, args, dst)
}

// evalWithin is Budget.EvalNode with the given function Stop.
func evalWithin(stop func() error, n *Node, types []Type, args [][]float64, dst []float64) (err error, ended bool) {
	if !long(n, types) {
		return evalNode(n, types, args, dst), false
	}
	err, left := Await(stop, func() error { return evalNode(n, types, args, dst) })
	if left != nil {
		return left, true
	}
	return err, false
}

// long reports whether the evaluation of a node may take long.
func long(n *Node, types []Type) bool {
	const long = 1e7 // number of operations, as for factorising a matrix
	if table[n.Op].Class != Array {
		return false
	}
	most := n.Type.Total()
	for _, t := range types {
		most = max(most, t.Total())
	}
	return math.Pow(float64(most), 1.5) >= long
}

// Use makes the graph, and those created from it, take their memory from a budget.
func (g *Graph) Use(b *Budget) { g.budget, g.taken = b, new(int64) }

// Budget returns the budget that the graph takes its memory from.
func (g *Graph) Budget() *Budget { return g.budget }

// Sibling returns an empty graph with the same budget.
func (g *Graph) Sibling() *Graph {
	n := NewGraph()
	n.budget, n.taken, n.eager = g.budget, g.taken, g.eager
	return n
}

// Reserve takes from the budget the memory of an array of these sizes, with this many bytes per
// element, that the caller is about to allocate. If there is not enough, it panics with a
// *BuildError that wraps a *LimitError.
func (g *Graph) Reserve(bytes int, sizes ...int) {
	n := SizeOf(sizes)
	if n > maxTotal {
		g.halt(&LimitError{What: "memory", Asked: int64(times(n, bytes)), Left: maxTotal * int64(bytes), Limit: maxTotal * int64(bytes)})
	}
	g.take(int64(times(n, bytes)))
}

// Array returns a new array of numbers, with memory from the budget.
func (g *Graph) Array(sizes ...int) []float64 {
	g.Reserve(8, sizes...)
	return make([]float64, SizeOf(sizes))
}

func (g *Graph) halt(err error) {
	panic(&BuildError{Msg: err.Error(), Site: g.site, Err: err})
}

// nodeBytes is the memory of a node, together with its entries in maps and lists.
const nodeBytes = 256

// charge takes the memory of a new node.
func (g *Graph) charge(n *Node) {
	if g.budget == nil {
		return
	}
	bytes := nodeBytes + 4*int64(len(n.Args))
	switch a := n.Attr.(type) {
	case Index:
		bytes += a.tables()
	case scatterAttr:
		bytes += a.tables()
	}
	g.take(bytes)
}

func (g *Graph) take(bytes int64) {
	if err := g.budget.Take(bytes); err != nil {
		g.halt(err)
	}
	if g.taken != nil {
		*g.taken += bytes
	}
}

// Taken returns the number of bytes that the graph and its siblings have taken from their budget.
func (g *Graph) Taken() int64 {
	if g.taken == nil {
		return 0
	}
	return *g.taken
}

// GiveBack gives back this many bytes that the graph and its siblings have taken and no longer use.
func (g *Graph) GiveBack(bytes int64) {
	if g.taken != nil {
		g.budget.Return(bytes)
		*g.taken -= bytes
	}
}

// tables returns the size in bytes of the tables of an index.
func (x Index) tables() (bytes int64) {
	for _, d := range x.Dims {
		bytes += 4 * int64(len(d.Table))
	}
	return bytes
}

// SizeOf returns the number of elements of an array with that shape. If it does not fit into an
// int, it returns the largest int, so that bounds on it still hold.
func SizeOf(shape []int) int {
	n := 1
	for _, d := range shape {
		if d == 0 {
			return 0
		}
		n = times(n, d)
	}
	return n
}

// times returns the product of two non-negative numbers, or the largest int if the product is
// larger.
func times(a, b int) int {
	if b > 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}
