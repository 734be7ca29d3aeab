package draws

import (
	"maps"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// maxStatedDim is the largest dimension in which a metric of low rank is written as a dense one.
const maxStatedDim = 300

// AdaptationOf is what a file states of a chain: its step size, its metric as [Stated] gives
// it for dim unconstrained parameters, and what else its sampler has found, as notes.
func AdaptationOf(r infer.ChainReport, dim int) Adaptation {
	metric, note := Stated(r.Metric, dim)
	if r.Recentring != nil {
		metric, _ = Stated(infer.Metric{Dim: r.Metric.Dim}, dim)
		note = "the metric is over other coordinates of the group-level effects, see run.json; the unit metric is written in its place"
	}
	a := Adaptation{StepSize: r.StepSize, Metric: metric}
	for _, name := range slices.Sorted(maps.Keys(r.Adapted)) {
		a.Notes = append(a.Notes, name+": "+string(appendNumber(nil, r.Adapted[name], 0)))
	}
	if r.Chosen != "" {
		a.Notes = append(a.Notes, "kernel: "+r.Chosen)
	}
	if note != "" {
		a.Notes = append(a.Notes, note)
	}
	return a
}

// Stated gives a metric in the form that readers of CmdStan's files take: diag_e, or dense_e.
// Note is "", or says in a sentence what the file's metric stands for.
//
//   - A unit metric is a diagonal of ones. CmdStanR finds no metric where a file says unit_e.
//   - A metric of low rank is a dense one in up to 300 dimensions, its diagonal beyond.
//   - A metric that is unknown or not constant in the coordinates of the file (no Kind) is a
//     diagonal of ones.
//
// dim is the number of unconstrained parameters, 0 if it is unknown: a metric without numbers is
// then unit_e.
func Stated(m infer.Metric, dim int) (stated infer.Metric, note string) {
	dim = max(dim, m.Dim)
	switch m.Kind {
	case infer.Diagonal, infer.Dense:
		return m, ""
	case infer.LowRank:
		return ofLowRank(m)
	case "":
		note = "the metric is unknown, or not constant in these coordinates; the unit metric is written in its place"
	}
	if dim == 0 {
		return infer.Metric{Kind: infer.Unit}, note
	}
	return infer.Metric{Kind: infer.Diagonal, Dim: dim, Inverse: slices.Repeat([]float64{1}, dim)}, note
}

// ofLowRank is a metric of low rank as a dense one, or its diagonal where that is too large.
func ofLowRank(m infer.Metric) (infer.Metric, string) {
	d := m.Dim
	scale, values, vectors := m.LowRank()
	element := func(i, j int) float64 {
		sum := 0.0
		if i == j {
			sum = 1
		}
		for k, u := range vectors {
			sum += (values[k] - 1) * u[i] * u[j]
		}
		return scale[i] * sum * scale[j]
	}
	if d > maxStatedDim {
		diagonal := infer.Metric{Kind: infer.Diagonal, Dim: d, Inverse: make([]float64, d), Mean: m.Mean}
		for i := range d {
			diagonal.Inverse[i] = element(i, i)
		}
		return diagonal, "the metric is a diagonal plus a matrix of low rank; its diagonal is written"
	}
	dense := infer.Metric{Kind: infer.Dense, Dim: d, Inverse: make([]float64, d*d), Mean: m.Mean}
	for i := range d {
		for j := range d {
			dense.Inverse[i*d+j] = element(i, j)
		}
	}
	return dense, ""
}
