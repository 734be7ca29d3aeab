package stdlib

import (
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// Quantiles returns the quantiles at the given probabilities, each in (0, 1), for parameters p: the
// smallest y such that the probability of at most y is at least that. It uses Quantile or, if there
// is no closed form, bisects the distribution functions down to neighbouring numbers. For
// probabilities above one half it searches the upper tail, so that only the rounding of the
// probability itself limits the accuracy.
func (d *Dist) Quantiles(probs, p []float64) ([]float64, error) {
	if d.Quantile != nil {
		return d.constants(probs, p, d.Quantile)
	}
	if d.LogCDF == nil || d.LogCCDF == nil {
		return nil, fmt.Errorf("%s has no distribution function", d.Name)
	}
	least, most := -math.MaxFloat64, math.MaxFloat64
	for _, c := range []types.Constraint{d.Variate, d.Support, d.CDFVariate} {
		if c != (types.Constraint{}) {
			least, most = max(least, c.Lo), min(most, c.Hi)
		}
	}
	if d.Discrete { // these are counts; discrete_range, which are not, has a closed form
		least = max(least, 0)
	}
	lo, hi := make([]float64, len(probs)), make([]float64, len(probs))
	for i := range probs {
		lo[i], hi[i] = least, most
		if d.Discrete {
			lo[i] = least - 1 // less than all values
			hi[i] = min(most, least+1)
		}
	}
	// below[i] reports whether the probability of at most y[i] is less than probs[i]. Known values
	// of y are kept, since searches for counts meet them again.
	tails := map[float64][2]float64{}
	below := func(y []float64) ([]bool, error) {
		var asked []float64
		for _, v := range y {
			if _, ok := tails[v]; !ok {
				tails[v] = [2]float64{}
				asked = append(asked, v)
			}
		}
		left, err := d.constants(asked, p, d.LogCDF)
		if err != nil {
			return nil, err
		}
		right, err := d.constants(asked, p, d.LogCCDF)
		if err != nil {
			return nil, err
		}
		for i, v := range asked {
			tails[v] = [2]float64{left[i], right[i]}
		}
		out := make([]bool, len(y))
		for i, q := range probs {
			if t := tails[y[i]]; q > 0.5 {
				out[i] = t[1] > math.Log1p(-q)
			} else {
				out[i] = t[0] < math.Log(q)
			}
		}
		return out, nil
	}
	for d.Discrete { // increase the range until all quantiles are between lo and hi
		b, err := below(hi)
		if err != nil {
			return nil, err
		}
		done := true
		for i, less := range b {
			if less {
				done = false
				lo[i], hi[i] = hi[i], min(most, hi[i]+2*(hi[i]-lo[i]))
			}
		}
		if done {
			break
		}
	}
	for {
		y, done := make([]float64, len(probs)), true
		for i := range y {
			y[i] = between(lo[i], hi[i], d.Discrete)
			if y[i] > lo[i] && y[i] < hi[i] {
				done = false
			} else {
				y[i] = hi[i]
			}
		}
		if done {
			return hi, nil
		}
		b, err := below(y)
		if err != nil {
			return nil, err
		}
		for i, less := range b {
			switch {
			case y[i] == hi[i]:
			case less:
				lo[i] = y[i]
			default:
				hi[i] = y[i]
			}
		}
	}
}

// between returns the middle one of the floating-point numbers between a and b or, with whole, of
// the integers.
func between(a, b float64, whole bool) float64 {
	if whole {
		return math.Floor(0.5 * (a + b))
	}
	order := func(x float64) int64 {
		if n := int64(math.Float64bits(x)); n >= 0 {
			return n
		}
		return -int64(math.Float64bits(-x))
	}
	i, j := order(a), order(b)
	m := i/2 + j/2 + (i%2+j%2)/2
	if m < 0 {
		return -math.Float64frombits(uint64(-m))
	}
	return math.Float64frombits(uint64(m))
}

// constants returns the values of f at each of x and the parameters p.
func (d *Dist) constants(x, p []float64, f func(g *ad.Graph, x ad.Ref, p []ad.Ref) ad.Ref) ([]float64, error) {
	if len(x) == 0 {
		return nil, nil
	}
	g := ad.NewGraph()
	params := make([]ad.Ref, len(p))
	for i, v := range p {
		params[i] = g.Const(v)
	}
	shape := []int{len(x)}
	g.Output(g.Broadcast(f(g, g.ConstArray(ad.Type{Shape: shape}, x), params), shape))
	out, err := g.Eval(nil, &ad.Env{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	return out[0], nil
}
