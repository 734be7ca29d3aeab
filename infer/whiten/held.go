package whiten

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// Divergence is the Fisher divergence per dimension of the target that draws and
// scores are of from the normal distribution that a metric with its mean stands
// for, in the coordinates in which that is standard: 0 for that normal, 1 for a
// target without any information. +Inf for a metric that cannot be used. The
// tenth of the draws with the largest terms is left out, which would decide alone.
func Divergence(m infer.Metric, draws, scores [][]float64) float64 {
	h, err := NewMap(m)
	if err != nil || m.Dim == 0 || len(draws) == 0 {
		return math.Inf(1)
	}
	y, w := make([]float64, m.Dim), make([]float64, m.Dim)
	each := make([]float64, 0, len(draws))
	for i, x := range draws {
		h.Whiten(x, scores[i], y, w)
		sum := 0.0
		for j, v := range y {
			sum += (v + w[j]) * (v + w[j])
		}
		if math.IsNaN(sum) {
			return math.Inf(1)
		}
		each = append(each, sum/float64(m.Dim))
	}
	slices.Sort(each)
	each = each[:len(each)-len(each)/10]
	total := 0.0
	for _, v := range each {
		total += v / float64(len(each))
	}
	return total
}
