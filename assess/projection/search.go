package projection

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// search returns the order in which forward search adds terms: each time the one whose submodel has
// the smallest mean divergence from the references. designs keeps the matrices of submodels.
func (p *Problem) search(ctx context.Context, refs []Reference, terms int, designs map[string]*design) ([]int, error) {
	var chosen []int
	for len(chosen) < terms {
		best, least := -1, math.Inf(1)
		candidates := p.possible(chosen)
		for _, t := range candidates {
			fits, err := p.project(ctx, p.design(append(slices.Clip(chosen), t), designs), refs)
			if err != nil {
				return nil, &TermError{Term: t, Err: err}
			}
			if d := meanDivergence(fits, refs); d < least || best < 0 {
				best, least = t, d
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, best)
	}
	return chosen, nil
}

// TermError says that a submodel could not be fitted after a term was added to it.
type TermError struct {
	Term int
	Err  error
}

// Error implements error.
func (e *TermError) Error() string { return fmt.Sprintf("term %d: %v", e.Term+1, e.Err) }

// Unwrap returns the reason.
func (e *TermError) Unwrap() error { return e.Err }

// design returns the matrices of a submodel, from those that are kept if it has been needed before.
func (p *Problem) design(terms []int, designs map[string]*design) *design {
	key := setKey(terms)
	if d := designs[key]; d != nil {
		return d
	}
	d := p.designOf(terms)
	designs[key] = d
	return d
}

// setKey identifies a set of terms.
func setKey(terms []int) string {
	sorted := slices.Clone(terms)
	slices.Sort(sorted)
	return fmt.Sprint(sorted)
}

func meanDivergence(fits []*Projected, refs []Reference) (sum float64) {
	for i, f := range fits {
		sum += refs[i].Weight * f.Divergence
	}
	return sum
}
