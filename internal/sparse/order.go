package sparse

import (
	"math"
	"slices"
)

// minimumDegree orders the variables so that few elements of the factor are nonzero. It repeatedly
// eliminates a variable with approximately the fewest neighbours: the AMD algorithm of Amestoy,
// Davis and Duff (1996). Variables with very many neighbours come last.
func minimumDegree(d int, rows, columns []int32) []int32 {
	q := newQuotient(d, rows, columns)
	for q.left > 0 {
		q.eliminate(q.next())
	}
	out := make([]int32, 0, d)
	for _, v := range append(q.order, q.dense...) {
		for ; v >= 0; v = q.follower[v] {
			out = append(out, v)
		}
	}
	return out
}

// quotient is a quotient graph. Its vertices are variables, each for a group of original variables
// with the same neighbours, and elements. An element has the number of the eliminated variable that
// it replaces; its variables are adjacent to each other.
type quotient struct {
	left   int       // original variables that have not been eliminated
	weight []int32   // by variable: the original variables in its group; 0 if it is gone
	alone  [][]int32 // by variable: adjacent variables that share no element with it
	in     [][]int32 // by variable: its elements
	of     [][]int32 // by element: its variables; nil if it is gone
	size   []int32   // by element: the sum of the weights of its variables
	degree []int32   // by variable: a bound of the sum of the weights of its neighbours

	// first has the first variable of each degree; before and after link those of the same degree.
	first, before, after []int32
	lowest               int32

	follower, tail []int32 // next original variable of a group, and the last of the group
	order, dense   []int32 // groups that have been eliminated; variables with very many neighbours

	outside []int32 // by element: the weight of its variables outside the new element, plus 1
	mark    []int32 // variables that are marked have the current stamp
	stamp   int32
}

func newQuotient(d int, rows, columns []int32) *quotient {
	q := &quotient{left: d, alone: make([][]int32, d), in: make([][]int32, d), of: make([][]int32, d)}
	for _, s := range []*[]int32{&q.weight, &q.size, &q.degree, &q.first, &q.before, &q.after, &q.follower, &q.tail, &q.outside, &q.mark} {
		*s = make([]int32, d)
	}
	for k, r := range rows {
		if c := columns[k]; c != r {
			q.alone[r], q.alone[c] = append(q.alone[r], c), append(q.alone[c], r)
		}
	}
	for i := range d {
		q.first[i], q.follower[i], q.tail[i], q.weight[i] = -1, -1, int32(i), 1
	}
	many := max(16, int(10*math.Sqrt(float64(d))))
	for i := range d {
		if len(q.alone[i]) > many {
			q.dense, q.weight[i] = append(q.dense, int32(i)), 0
			q.left--
		}
	}
	for i := range d {
		if q.weight[i] > 0 {
			q.alone[i] = slices.DeleteFunc(q.alone[i], func(j int32) bool { return q.weight[j] == 0 })
			q.degree[i] = int32(len(q.alone[i]))
			q.link(int32(i))
		}
	}
	return q
}

// link adds a variable to the list of its degree.
func (q *quotient) link(i int32) {
	d := q.degree[i]
	q.before[i], q.after[i] = -1, q.first[d]
	if n := q.first[d]; n >= 0 {
		q.before[n] = i
	}
	q.first[d] = i
	q.lowest = min(q.lowest, d)
}

func (q *quotient) unlink(i int32) {
	b, a := q.before[i], q.after[i]
	if b >= 0 {
		q.after[b] = a
	} else {
		q.first[q.degree[i]] = a
	}
	if a >= 0 {
		q.before[a] = b
	}
}

// next returns a variable of the lowest degree.
func (q *quotient) next() int32 {
	for q.first[q.lowest] < 0 {
		q.lowest++
	}
	return q.first[q.lowest]
}

// eliminate replaces the variable p, and those that have no neighbour outside the new element, by
// an element.
func (q *quotient) eliminate(p int32) {
	q.unlink(p)
	q.done(p)
	front := q.front(p)
	for _, i := range front {
		q.unlink(i)
		for _, e := range q.in[i] {
			if q.of[e] == nil {
				continue
			}
			if q.outside[e] == 0 {
				q.outside[e] = q.size[e] + 1
			}
			q.outside[e] -= q.weight[i]
		}
	}
	total := int32(0)
	for _, i := range front {
		total += q.weight[i]
	}
	touched := []int32{}
	for _, i := range front {
		beyond := int32(0)
		kept := q.in[i][:0]
		for _, e := range q.in[i] {
			switch {
			case q.of[e] == nil:
			case q.outside[e] == 1: // all its variables are in the new element
				q.of[e] = nil
			default:
				touched = append(touched, e)
				kept = append(kept, e)
				beyond += q.outside[e] - 1
			}
		}
		q.in[i] = append(kept, p)
		q.alone[i] = slices.DeleteFunc(q.alone[i], func(j int32) bool { return q.weight[j] == 0 || q.mark[j] == q.stamp })
		for _, j := range q.alone[i] {
			beyond += q.weight[j]
		}
		q.degree[i] = min(q.degree[i], beyond) // together with total this is a bound
		if beyond == 0 {
			total -= q.weight[i]
			q.done(i)
		}
	}
	for _, e := range touched {
		q.outside[e] = 0
	}
	front = slices.DeleteFunc(front, func(i int32) bool { return q.weight[i] == 0 })
	front = q.merge(front)
	for _, i := range front {
		q.degree[i] = min(q.degree[i]+total, int32(q.left)) - q.weight[i]
		q.link(i)
	}
	q.of[p], q.size[p] = front, total
}

// done records that a group has been eliminated.
func (q *quotient) done(i int32) {
	q.order = append(q.order, i)
	q.left -= int(q.weight[i])
	q.weight[i] = 0
}

// front returns the neighbours of p, which it marks, and removes its elements.
func (q *quotient) front(p int32) []int32 {
	q.stamp++
	front := []int32{}
	add := func(vs []int32) {
		for _, i := range vs {
			if q.weight[i] > 0 && q.mark[i] != q.stamp {
				q.mark[i] = q.stamp
				front = append(front, i)
			}
		}
	}
	add(q.alone[p])
	for _, e := range q.in[p] {
		add(q.of[e])
		q.of[e] = nil
	}
	q.alone[p], q.in[p] = nil, nil
	return front
}

// merge makes groups of the variables of a new element that have the same neighbours, and returns
// one variable of each.
func (q *quotient) merge(front []int32) []int32 {
	by := map[uint32][]int32{} // by a hash of the neighbours
	out := front[:0]
next:
	for _, i := range front {
		h := uint32(len(q.in[i]))
		for _, e := range q.in[i] {
			h += uint32(e)
		}
		for _, j := range q.alone[i] {
			h += uint32(j)
		}
		for _, j := range by[h] {
			if sameSet(q.in[i], q.in[j]) && sameSet(q.alone[i], q.alone[j]) {
				q.weight[j] += q.weight[i]
				q.weight[i] = 0
				q.follower[q.tail[j]], q.tail[j] = i, q.tail[i]
				q.alone[i], q.in[i] = nil, nil
				continue next
			}
		}
		by[h] = append(by[h], i)
		out = append(out, i)
	}
	return out
}

// sameSet reports whether lists without repeated elements have the same elements.
func sameSet(a, b []int32) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}
