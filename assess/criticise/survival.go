package criticise

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// Curve is the Kaplan–Meier estimate of a survival function: the share of a population whose time
// is longer, from times some of which are censored.
type Curve struct {
	Times    []float64 // distinct times of events, in order
	AtRisk   []int     // number of times that are not shorter
	Survival []float64 // estimate just after each of Times
}

// KaplanMeier estimates a survival function. event[i] says that times[i] is the time of an event;
// other times are censored: the event comes later. At equal times, events come first.
func KaplanMeier(times []float64, event []bool) Curve { return productLimit(times, event, false) }

// productLimit is KaplanMeier. If last is set, events come last at equal times.
func productLimit(times []float64, event []bool, last bool) Curve {
	order := make([]int, len(times))
	for i := range order {
		order[i] = i
	}
	sorting.Stable(order, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
	var c Curve
	s := 1.0
	for i := 0; i < len(order); {
		t, events, next := times[order[i]], 0, i
		for ; next < len(order) && times[order[next]] == t; next++ {
			if event[order[next]] {
				events++
			}
		}
		if events > 0 {
			risk := len(order) - i
			if last {
				risk -= next - i - events
			}
			s *= 1 - float64(events)/float64(risk)
			c.Times, c.AtRisk, c.Survival = append(c.Times, t), append(c.AtRisk, risk), append(c.Survival, s)
		}
		i = next
	}
	return c
}

// At returns the estimate just after a time.
func (c *Curve) At(t float64) float64 {
	i, found := slices.BinarySearch(c.Times, t)
	if found {
		i++
	}
	return c.after(i)
}

// after returns the estimate after the first i times.
func (c *Curve) after(i int) float64 {
	if i == 0 {
		return 1
	}
	return c.Survival[i-1]
}

// Censoring draws times of censoring for replications of censored data. An observation that was
// censored is censored at the same time. For one with an event, only a bound is known: it would
// have been censored later. Its time is drawn from the Kaplan–Meier estimate of the times of
// censoring, in which the roles of events and censoring are exchanged.
type Censoring struct {
	times []float64
	event []bool
	curve Curve
}

// NewCensoring returns the distribution of times of censoring for data.
func NewCensoring(times []float64, event []bool) *Censoring {
	censored := make([]bool, len(event))
	for i, e := range event {
		censored[i] = !e
	}
	return &Censoring{times, event, productLimit(times, censored, true)}
}

// Draw censors replicated times: it returns the shorter of each time and its time of censoring, and
// whether that is an event.
func (c *Censoring) Draw(replicated []float64, rng *rand.Rand) (times []float64, event []bool) {
	times, event = make([]float64, len(replicated)), make([]bool, len(replicated))
	for i, t := range replicated {
		times[i], event[i] = t, true
		if !c.event[i] {
			if t > c.times[i] {
				times[i], event[i] = c.times[i], false
			}
			continue
		}
		// The estimate may leave a probability of no censoring. Then k is the number of times.
		k, _ := slices.BinarySearch(c.curve.Times, c.times[i])
		for u := rng.Float64() * c.curve.after(k); k < len(c.curve.Times) && c.curve.Survival[k] > u; k++ {
		}
		if k < len(c.curve.Times) && t > c.curve.Times[k] {
			times[i], event[i] = c.curve.Times[k], false
		}
	}
	return times, event
}
