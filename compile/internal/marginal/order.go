package marginal

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// factor is a function of some elements: an instance of a pattern, or the message of a step.
type factor struct {
	pattern  *pattern // nil: a message
	instance int
	step     int // of a message: the step that made it
}

// step is the elimination of one element: the factors that read it are added up and summed over its
// values, which gives a message, a function of the other elements that they read.
type step struct {
	element int
	around  []int // the other elements, in the order in which they are eliminated
	factors []factor
	message int // its position among the messages of its rank; from 0
	same    int // the first step that is equal to it, see merge
	times   int // of that one: the number of steps that are equal to it

	of *restriction // its sum is the message of another step; nil: it is none, see restrict
}

const (
	manyNeighbours = 100

	maxTable = 4_000_000   // values of the elements of a step
	maxCost  = 400_000_000 // values of all steps
)

// irregular is the number of groups from which other orders are tried, and tolerated is the
// factor by which they may have more terms. Every group is a loop of the written program.
const (
	irregular = 20
	tolerated = 2
)

// plan chooses an order of elimination and returns its steps in blocks. That is min-fill unless it
// is irregular, as in a grid, and elements in the order of their indices need fewer groups, or
// unless the best order of small components has far fewer terms. If an
// order has counts without an upper bound behind what decides their distributions, the counts are
// taken first if the tables allow it.
func (p *program) plan(patterns []*pattern, c *contents, before *traced) ([]*step, []block, error) {
	steps, total, err := p.eliminate(patterns, nil, order{}, maxCost)
	if err != nil {
		return nil, nil, err
	}
	if rank := p.shared(patterns, steps, c, before); rank != nil {
		if other, n, err := p.eliminate(patterns, rank, order{}, maxCost); err == nil {
			steps, total = other, n
		}
	}
	if _, _, hides := p.hidden(steps); hides {
		if other, n, err := p.eliminate(patterns, nil, order{countsFirst: true}, maxCost); err == nil {
			steps, total = other, n
		}
	}
	if rank := p.exact(patterns, steps, total); rank != nil {
		other, n, err := p.eliminate(patterns, rank, order{}, total)
		if err == nil {
			if _, _, hides := p.hidden(other); !hides {
				steps, total = other, n
			}
		}
	}
	blocks := p.grouped(steps, nil, patterns)
	if groups(blocks) < irregular {
		renumber(blocks, steps)
		return steps, blocks, nil
	}
	for _, last := range []bool{false, true} {
		list := make([]int, len(p.elements))
		key := make([][]int64, len(p.elements))
		for e := range list {
			list[e] = e
			u := p.elements[e].of
			key[e] = u.index(u.cell(e))
			if last {
				slices.Reverse(key[e])
			}
		}
		sorting.Stable(list, func(a, b int) int { return slices.Compare(key[a], key[b]) })
		rank := make([]int, len(list))
		for i, e := range list {
			rank[e] = i
		}
		other, _, err := p.eliminate(patterns, rank, order{}, tolerated*total)
		if _, _, hides := p.hidden(other); err != nil || hides {
			continue
		}
		if now := p.grouped(other, nil, patterns); groups(now) < groups(blocks) {
			steps, blocks = other, now
		}
	}
	for i, n := range numbers(counting(len(steps)), consumers(steps, nil)) {
		steps[i].message = n
	}
	renumber(blocks, steps)
	return steps, blocks, nil
}

// groups returns the number of groups of blocks.
func groups(bs []block) (n int) {
	for _, b := range bs {
		n += len(b)
	}
	return n
}

// eliminate chooses an order, and returns the steps in it with the number of their terms. The next
// element is the one of lowest rank or, without ranks, one whose neighbours need the fewest new
// edges (min-fill); ties go to the first. More terms than limit are an error.
func (p *program) eliminate(patterns []*pattern, rank []int, o order, limit float64) ([]*step, float64, error) {
	n := len(p.elements)
	factorsOf := make([][]factor, n) // by element that reads it
	scopes := map[factor][]int{}
	neighbours := make([]map[int]bool, n)
	link := func(scope []int) {
		for _, a := range scope {
			for _, b := range scope {
				if a != b {
					if neighbours[a] == nil {
						neighbours[a] = map[int]bool{}
					}
					neighbours[a][b] = true
				}
			}
		}
	}
	for _, pat := range patterns {
		for i := range pat.instances {
			scope := pat.instances[i].elements
			if w := p.volume(scope); w > maxTable {
				return nil, 0, p.wide(pat.leaf.stmt().Span(), "this statement", scope, w, p.joins(pat.leaf))
			}
			f := factor{pattern: pat, instance: i}
			if len(scope) > 1 {
				scopes[f] = scope
			}
			for _, e := range scope {
				factorsOf[e] = append(factorsOf[e], f)
			}
			link(scope)
		}
	}
	q := &queue{cost: make([]cost, n), at: make([]int, n), order: o}
	for e := range n {
		if rank != nil {
			q.cost[e].fill = rank[e]
		} else {
			q.cost[e] = p.costOf(e, neighbours)
		}
		q.at[e] = e
		q.list = append(q.list, e)
	}
	heap.Init(q)
	position := make([]int, n)
	gone := make([]bool, n)
	var steps []*step
	total := 0.0
	for q.Len() > 0 {
		e := heap.Pop(q).(int)
		gone[e], position[e] = true, len(steps)
		var around []int
		for o := range neighbours[e] {
			around = append(around, o)
		}
		slices.Sort(around)
		clique := append([]int{e}, around...)
		w := p.volume(clique)
		if w > maxTable {
			at := p.elements[e].of.decl.Name.Span()
			return nil, 0, p.wide(at, "the sum over "+p.name(e), clique, w, "")
		}
		if total += w; total > limit {
			return nil, 0, p.errorf(diag.DiscreteWidth, p.elements[e].of.decl.Name.Span(), "the sums over the discrete parameters have more than %d terms", "", "give them closer bounds, or fewer elements", int(limit))
		}
		steps = append(steps, &step{element: e, around: around})
		touched := map[int]bool{}
		for _, a := range around {
			delete(neighbours[a], e)
			touched[a] = true
			for _, b := range around {
				if a != b && !neighbours[a][b] {
					neighbours[a][b] = true
					// Elements next to both have one missing edge fewer.
					for c := range neighbours[a] {
						touched[c] = true
					}
				}
			}
		}
		for a := range touched {
			if !gone[a] && rank == nil {
				if c := p.costOf(a, neighbours); c != q.cost[a] {
					q.cost[a] = c
					heap.Fix(q, q.at[a])
				}
			}
		}
		neighbours[e] = nil
	}
	// Assign the factors to the first of their elements that is eliminated, and so messages.
	done := map[factor]bool{}
	for i, s := range steps {
		sorting.Stable(s.around, func(a, b int) int { return position[a] - position[b] })
		for _, f := range factorsOf[s.element] {
			if !done[f] {
				s.factors = append(s.factors, f)
				if len(scopes[f]) > 0 {
					done[f] = true
				}
			}
		}
		factorsOf[s.element] = nil
		if len(s.around) > 0 {
			to := s.around[0]
			m := factor{step: i}
			factorsOf[to] = append(factorsOf[to], m)
		}
	}
	return steps, total, nil
}

// volume returns the number of combinations of values of elements.
func (p *program) volume(es []int) float64 {
	w := 1.0
	for _, e := range es {
		w *= float64(p.elements[e].size())
	}
	return w
}

// wide returns the error about elements with too many combinations of values. help may be known.
func (p *program) wide(at source.Span, what string, es []int, w float64, help string) error {
	const most = 12
	var list []string
	for _, e := range es[:min(len(es), most)] {
		list = append(list, p.name(e))
	}
	if len(es) > most {
		list = append(list, fmt.Sprintf("and %d more", len(es)-most))
	}
	if help == "" {
		help = "write each statement about as few elements as possible, for instance in a loop over them; give the parameters closer bounds; or let data decide some of them"
	}
	return p.errorf(diag.DiscreteWidth, at, "%s needs a table of %.3g values: %s are summed over together", fmt.Sprintf("A table may have %d values.", maxTable),
		help, what, w, strings.Join(list, ", "))
}

// joins says what helps where a variable or a function makes a statement read many elements; "" if
// nothing is known.
func (p *program) joins(l *leaf) (help string) {
	const steps = " in an integer parameter, step by step: if (c[n] != c[n - 1] + z[n]) target += negative_infinity();"
	for _, st := range l.code {
		ast.Inspect(st, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Assign:
				v, ok := root(n.LHS)
				if !ok || !p.involved(n.RHS) || n.Op == "=" && !mentions(p.info, map[*check.Var]bool{p.info.Uses[v]: true}, n.RHS) {
					break
				}
				help = fmt.Sprintf("`%s` is computed from its earlier values, so it depends on all elements before: let it depend on the last few", v.Name)
				if p.info.Uses[v].Type.Kind == types.Int {
					help += "; or compute it" + steps
				}
			case *ast.CallExpr:
				if n.Func.Name == "sum" && p.involved(n) && help == "" {
					help = fmt.Sprintf("`%s` reads many elements at once: add them up", printer.String(n)) + steps
				}
			}
			return true
		}, nil)
	}
	return help
}

type cost struct {
	fill  int
	width float64
	late  bool // one with an upper bound next to a count: the cut is checked for each of its values
}

func (p *program) costOf(e int, neighbours []map[int]bool) cost {
	c := cost{width: 1}
	var list []int
	for o := range neighbours[e] {
		list = append(list, o)
		c.late = c.late || p.open(o) && !p.open(e)
		c.width *= float64(p.elements[o].size())
	}
	if len(list) > manyNeighbours { // an upper bound is enough: it is eliminated late
		c.fill = len(list) * (len(list) - 1) / 2
		return c
	}
	for i, a := range list {
		for _, b := range list[:i] {
			if !neighbours[a][b] {
				c.fill++
			}
		}
	}
	return c
}

// queue is a heap of elements by cost, then by number.
type queue struct {
	list []int
	at   []int // positions in list
	cost []cost
	order
}

// order says which element comes next.
type order struct {
	countsFirst bool // elements with an upper bound next to counts without one come last
	lastFirst   bool // ties go to the last
}

func (q *queue) Len() int { return len(q.list) }

func (q *queue) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	x, y := q.cost[a], q.cost[b]
	switch {
	case q.countsFirst && x.late != y.late:
		return y.late
	case x.fill != y.fill:
		return x.fill < y.fill
	case x.width != y.width && (x.width > 1e4 || y.width > 1e4):
		return x.width < y.width
	case x.late != y.late:
		return y.late
	}
	return a < b != q.lastFirst
}

func (q *queue) Swap(i, j int) {
	q.list[i], q.list[j] = q.list[j], q.list[i]
	q.at[q.list[i]], q.at[q.list[j]] = i, j
}

func (q *queue) Push(x any) {
	q.at[x.(int)] = len(q.list)
	q.list = append(q.list, x.(int))
}

func (q *queue) Pop() any {
	e := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return e
}
