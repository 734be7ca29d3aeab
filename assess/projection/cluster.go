package projection

import (
	"math"
	"math/rand/v2"
)

// clusters assigns draws to at most n groups of similar linear predictors, by the k-means method.
func (p *Problem) clusters(n int, rng *rand.Rand) (of []int, count int) {
	draws := len(p.Predictor)
	of = make([]int, draws)
	if n >= draws {
		for s := range of {
			of[s] = s
		}
		return of, draws
	}
	distance := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += (a[i] - b[i]) * (a[i] - b[i])
		}
		return sum
	}
	// Each centre is a draw, chosen with a probability proportional to its squared distance from
	// the centres so far.
	centres := [][]float64{append([]float64(nil), p.Predictor[rng.IntN(draws)]...)}
	nearest := make([]float64, draws)
	for s := range nearest {
		nearest[s] = math.Inf(1)
	}
	for len(centres) < n {
		total := 0.0
		for s := range nearest {
			nearest[s] = min(nearest[s], distance(p.Predictor[s], centres[len(centres)-1]))
			total += nearest[s]
		}
		if total == 0 {
			break
		}
		u, chosen := rng.Float64()*total, 0
		for s := range nearest {
			if nearest[s] > 0 {
				chosen = s
			}
			if u -= nearest[s]; u < 0 {
				break
			}
		}
		centres = append(centres, append([]float64(nil), p.Predictor[chosen]...))
	}
	sizes := make([]int, len(centres))
	const rounds = 50
	for range rounds {
		changed := false
		for s, x := range p.Predictor {
			best, least := 0, math.Inf(1)
			for c, y := range centres {
				if d := distance(x, y); d < least {
					best, least = c, d
				}
			}
			changed = changed || of[s] != best
			of[s] = best
		}
		clear(sizes)
		for _, c := range of {
			sizes[c]++
		}
		for c := range centres {
			if sizes[c] > 0 {
				clear(centres[c])
			}
		}
		for s, x := range p.Predictor {
			for i, v := range x {
				centres[of[s]][i] += v / float64(sizes[of[s]])
			}
		}
		if !changed {
			break
		}
	}
	// Number the groups that have draws.
	number := map[int]int{}
	for s, c := range of {
		if _, ok := number[c]; !ok {
			number[c] = len(number)
		}
		of[s] = number[c]
	}
	return of, len(number)
}

// averages returns a reference for each group of draws. weights are those of the draws; nil: equal.
// Groups without weight are left out.
func (p *Problem) averages(of []int, count int, weights []float64) (refs []Reference) {
	members := make([][]int, count)
	of2 := make([][]float64, count)
	for s, c := range of {
		members[c] = append(members[c], s)
		if weights != nil {
			of2[c] = append(of2[c], weights[s])
		}
	}
	total := 0.0
	for c := range members {
		r := p.average(members[c], of2[c])
		if r.Weight > 0 {
			refs = append(refs, r)
			total += r.Weight
		}
	}
	for i := range refs {
		refs[i].Weight /= total
	}
	return refs
}
