package draws

import (
	"maps"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// maxStatedDim is the largest dimension in which a low-rank metric is written as a dense one.
const maxStatedDim = 300

// AdaptationOf returns what a file states about the adaptation of a chain: its step size, its
// metric in the form of [Stated] for dim unconstrained parameters, and further results as notes.
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

// Stated converts a metric to a form that readers of CmdStan's files accept: diag_e or dense_e.
// note says how the file's metric differs from m, or is "".
//
//   - A unit metric becomes a diagonal of ones, as CmdStanR finds no metric in a file with unit_e.
//   - A low-rank metric becomes dense in up to 300 dimensions, and its diagonal beyond.
//   - A metric that is unknown or not constant in the coordinates of the file (no Kind) becomes a
//     diagonal of ones.
//
// dim is the number of unconstrained parameters, or 0 if it is unknown. A metric without numbers
// and of unknown dimension becomes unit_e.
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

// ofLowRank converts a low-rank metric to a dense one, or to its diagonal in more than maxStatedDim
// dimensions.
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
