package whiten

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
)

// Divergence is the Fisher divergence per dimension between the target of the draws and the normal
// distribution that a metric with its mean describes. It is measured in the coordinates in which
// the latter is standard: 0 for that normal distribution, 1 for a flat target, +Inf for a metric
// that cannot be used. The tenth of the draws with the largest terms is left out; they would decide
// alone.
func Divergence(m infer.Metric, draws, scores [][]float64) float64 {
	h, err := NewMap(m)
	if err != nil {
		return math.Inf(1)
	}
	return h.Divergence(draws, scores)
}

// Divergence is [Divergence] for the metric of the map.
func (h *Map) Divergence(draws, scores [][]float64) float64 {
	return h.divergence(draws, scores, func(n int) []float64 { return make([]float64, n) })
}

func (h *Map) divergence(draws, scores [][]float64, numbers func(n int) []float64) float64 {
	d := h.metric.Dim
	if d == 0 || len(draws) == 0 {
		return math.Inf(1)
	}
	room := numbers(2*d + len(draws))
	y, w, each := room[:d], room[d:2*d], room[2*d:2*d]
	for i, x := range draws {
		h.Whiten(x, scores[i], y, w)
		sum := 0.0
		for j, v := range y {
			sum += (v + w[j]) * (v + w[j])
		}
		if math.IsNaN(sum) {
			return math.Inf(1)
		}
		each = append(each, sum/float64(d))
	}
	slices.Sort(each)
	each = each[:len(each)-len(each)/10]
	total := 0.0
	for _, v := range each {
		total += v / float64(len(each))
	}
	return total
}

// maxPairs is the maximum number of draws of each set that Attainable compares.
const maxPairs = 40

// Attainable estimates the smallest Fisher divergence per dimension that any metric can reach, from
// two independent sets of draws with their scores. It is near 0 for a normal target in any
// coordinates, even from fewer draws than dimensions, and whether or not the draws are distributed
// as the target is.
//
// With the normal distribution N(μ, Σ) that fits best, g = -Σ⁻¹(x - μ) + r. For two draws x and y,
// the products g(x)ᵀ(y - ȳ) and g(y)ᵀ(x - x̄) differ only by what r contributes, in all
// coordinates. If r is independent of the other draw, the mean of their squared difference is
// 2D/(1+D) times that of their squares, where D is the divergence. Medians replace the means here.
// The result is +Inf if nothing can be concluded.
func Attainable(a, b Sample) float64 {
	a, b = a.some(), b.some()
	if len(a.Draws) < 2 || len(b.Draws) < 2 {
		return math.Inf(1)
	}
	var w workspace
	d := len(a.Draws[0])
	unused := w.numbers(d)
	centred := func(s Sample, rows [][]float64) blas64.General {
		to := w.matrix(len(rows), d)
		s.centre(&w, rows, unused, to)
		return to
	}
	xa, ga, xb, gb := centred(a, a.Draws), centred(a, a.Scores), centred(b, b.Draws), centred(b, b.Scores)
	pairs := xa.Rows * xb.Rows
	differences, squares := make([]float64, 0, pairs), make([]float64, 0, 2*pairs)
	for i := range xa.Rows {
		for j := range xb.Rows {
			p, q := floats.Dot(row(ga, i), row(xb, j)), floats.Dot(row(gb, j), row(xa, i))
			differences = append(differences, (p-q)*(p-q))
			squares = append(squares, p*p, q*q)
		}
	}
	share := nth(differences, len(differences)/2) / (2 * nth(squares, len(squares)/2))
	if !(share < 1) {
		return math.Inf(1)
	}
	return share / (1 - share)
}

// nth returns the number that would be at index k if x were sorted; it reorders x. NaN is less than
// every number, as for [slices.Sort].
func nth(x []float64, k int) float64 {
	low, high := 0, len(x)-1
	for low < high {
		pivot := x[low+(high-low)/2]
		i, j := low, high
		for i <= j {
			for cmp.Less(x[i], pivot) {
				i++
			}
			for cmp.Less(pivot, x[j]) {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return x[k]
		}
	}
	return x[k]
}

// some returns at most maxPairs of the draws, evenly spaced, with their groups.
func (s Sample) some() Sample {
	n := len(s.Draws)
	if n <= maxPairs {
		return s
	}
	groups := s.Groups
	if groups == nil {
		groups = []int{n}
	}
	out := Sample{Draws: make([][]float64, 0, maxPairs), Scores: make([][]float64, 0, maxPairs), Groups: make([]int, 0, len(groups))}
	k, end := 0, 0
	for _, size := range groups {
		end += size
		kept := 0
		for ; k < maxPairs && k*n/maxPairs < end; k++ {
			out.Draws, out.Scores = append(out.Draws, s.Draws[k*n/maxPairs]), append(out.Scores, s.Scores[k*n/maxPairs])
			kept++
		}
		if kept > 0 {
			out.Groups = append(out.Groups, kept)
		}
	}
	return out
}
