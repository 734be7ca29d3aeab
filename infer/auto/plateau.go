package auto

import (
	"github.com/ppl-lang/ppl/infer"
)

// This file finds chains on a plateau: where the scale of group-level terms is far below its
// posterior, the density hardly depends on it. A chain there wanders over many units of the
// scale's logarithm. A metric learnt from it too is much too wide for chains in the right place,
// and their steps become too small.

// Constants of the search for plateaus.
const (
	maxParts = 4  // number of parts of a round that are examined separately
	minPart  = 15 // minimum number of draws of such a part
	// maximum number of times that a chain starts again because it is on a plateau; with 1000
	// group-level terms, about every fourth random start ends on one
	maxFresh    = 3
	muchSmaller = 1 // difference of the logarithms of two scales, at least
	// minimum difference of log masses. Where a prior gives a plateau a few percent of the mass,
	// chains on one seemed to be up to 11 lower, and 14 in 1 run of 10; where it has none, 13.6 or
	// more after the first round.
	noMass = 12
)

// plateau says where a chain is in a round.
type plateau struct {
	touched bool // it was on a plateau for at least a part of the round, so it must not be learnt from
	stays   bool // it was in the middle of a plateau all the time
}

// plateaus finds the chains of the last round that are on a plateau.
//
// By Stein's identity, the covariance of a coordinate with its score is -1 in draws from any smooth
// density, so the product of their variances is at least 1. On a plateau it is near 0. It is also
// less than 1 for a chain that has hardly moved, as in a wide mode with the metric of a narrow one.
// So a chain is on a plateau only if all of this holds, compared with each chain to which the
// coordinate matters: it is far away, it has moved farther, and group-level terms have a much
// smaller scale there.
func (v *verdict) plateaus(c *infer.Chart, now []record) []plateau {
	out := make([]plateau, len(now))
	if c == nil {
		return out
	}
	for i := range out {
		out[i].stays = true
	}
	n := len(now[0].draws)
	parts := min(max(n/minPart, 1), maxParts)
	for k := range parts {
		for i, product := range v.flatness(c, now, k*n/parts, (k+1)*n/parts) {
			out[i].touched = out[i].touched || product < v.at.flat
			out[i].stays = out[i].stays && product < v.at.level
		}
	}
	return out
}

// withoutMass returns flat with those plateaus only that have no mass worth speaking of. With a
// wide prior for the logarithm of a scale, a plateau may have a few percent of the mass. A chain
// there is in the right place. A metric learnt without it is too narrow to return there.
func withoutMass(flat []plateau, logMass []float64, best float64) []plateau {
	for i := range flat {
		if logMass[i] > best-noMass {
			flat[i] = plateau{}
		}
	}
	return flat
}

// flatness returns, for each chain, the smallest product of the variances of a coordinate and of
// its score, in the draws from first to end, if the chain may be on a plateau; 1 if it is not.
func (v *verdict) flatness(c *infer.Chart, now []record, first, end int) []float64 {
	all, out := make([]spread, len(now)), make([]float64, len(now))
	for i, r := range now {
		r.draws, r.scores = r.draws[first:end], r.scores[first:end]
		all[i], out[i] = spreadOf(c, r), 1
	}
	for j := range all[0].mean {
		product := func(s spread) float64 { return s.variance[j] * s.ofScore[j] }
		for i, s := range all {
			if product(s) >= min(out[i], v.at.flat) {
				continue
			}
			others, beyond := 0, 0
			for _, o := range all {
				if product(o) < v.at.flat {
					continue
				}
				others++
				from, own := s.mean[j]-o.mean[j], max(o.variance[j], 1/o.ofScore[j])
				if from*from > v.at.farApart*v.at.farApart*own && s.variance[j] > o.variance[j] && s.vanishesBeside(o) {
					beyond++
				}
			}
			if others > 0 && beyond == others {
				out[i] = product(s)
			}
		}
	}
	return out
}

// spread describes the draws of a chain in the coordinates in use.
type spread struct {
	mean, variance, ofScore []float64 // means and variances of the coordinates; variances of their scores
	logScales               []float64 // of the group-level terms, at the last draw
}

// spreadOf returns the spread of a record.
func spreadOf(c *infer.Chart, r record) spread {
	d := len(r.draws[0])
	room := make([]float64, 6*d)
	next := func() (v []float64) { v, room = room[:d:d], room[d:]; return v }
	s := spread{mean: next(), variance: next(), ofScore: next(), logScales: make([]float64, len(c.Recentring().Elements()))}
	meanScore, u, score := next(), next(), next()
	n := 0.0
	for t, x := range r.draws {
		if c.At(x, u) != nil {
			continue
		}
		copy(score, r.scores[t])
		if c.Evidence() != nil && c.Recentring().Pull(u, nil, r.scores[t], score) != nil {
			continue
		}
		n++
		for j, v := range u {
			from := v - s.mean[j]
			s.mean[j] += from / n
			s.variance[j] += from * (v - s.mean[j])
			from = score[j] - meanScore[j]
			meanScore[j] += from / n
			s.ofScore[j] += from * (score[j] - meanScore[j])
		}
	}
	for j := range s.variance {
		s.variance[j] /= max(n, 1)
		s.ofScore[j] /= max(n, 1)
	}
	if c.Recentring().LogScales(r.draws[len(r.draws)-1], s.logScales) != nil {
		clear(s.logScales)
	}
	return s
}

// vanishesBeside reports whether a group-level term has a scale that is much smaller than that in
// another chain.
func (s spread) vanishesBeside(other spread) bool {
	for k, l := range s.logScales {
		if l < other.logScales[k]-muchSmaller {
			return true
		}
	}
	return false
}
