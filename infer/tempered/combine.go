package tempered

import (
	"math"
)

// Combine returns the mean of the estimates of independent chains. Its error is the larger of two:
// the one implied by the errors of the chains, and the one implied by the differences between
// chains. So the error shows if a chain missed a mode. Estimates that are NaN are ignored.
func Combine(chains []Evidence) Evidence {
	var out Evidence
	n, square := 0.0, 0.0
	for _, e := range chains {
		if math.IsNaN(e.LogZ) || math.IsInf(e.LogZ, 0) || math.IsNaN(e.Error) {
			continue
		}
		n++
		out.LogZ += e.LogZ
		out.Forward += e.Forward
		out.Backward += e.Backward
		square += e.Error * e.Error
	}
	if n == 0 {
		none := math.NaN()
		return Evidence{none, none, none, none}
	}
	out.LogZ, out.Forward, out.Backward = out.LogZ/n, out.Forward/n, out.Backward/n
	out.Error = math.Sqrt(square) / n
	if n > 1 {
		between := 0.0
		for _, e := range chains {
			if !math.IsNaN(e.LogZ) && !math.IsInf(e.LogZ, 0) && !math.IsNaN(e.Error) {
				between += (e.LogZ - out.LogZ) * (e.LogZ - out.LogZ)
			}
		}
		out.Error = max(out.Error, math.Sqrt(between/(n-1)/n))
	}
	return out
}

// EvidenceOf combines the figures of the kernels of a run's chains, see [Kernel.Describe]. It
// returns one estimate from the fitted legs and one from the broad legs. Missing estimates are NaN.
func EvidenceOf(chains []map[string]float64) (fitted, broad Evidence) {
	of := func(name string) Evidence {
		var all []Evidence
		for _, c := range chains {
			z, ok := c[name]
			e, known := c[name+"_error"]
			if ok && known {
				all = append(all, Evidence{LogZ: z, Error: e})
			}
		}
		return Combine(all)
	}
	return of("log_z"), of("log_z_broad")
}
