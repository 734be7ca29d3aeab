package nuts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// integers is a trajectory of integers for which the outcome of grow can be computed exactly. Its
// trees are intervals, and the chosen point of a tree is a distribution over it instead of a random
// number.
type integers struct {
	weight   func(i int) float64
	diverges func(i int) bool           // as if it had no weight
	turns    func(lo, mid, hi int) bool // whether the union of [lo, mid) and [mid, hi) turns

	bias func(prob float64, size int) float64 // planted fault: changes the probabilities of choices

	lo, hi int // visited: [lo, hi)
	levels []*interval
	leaves int
}

type interval struct {
	lo, hi int // [lo, hi)
	chosen map[int]float64
}

func (s *integers) leaf(dst *interval, forward bool) (weight, bool) {
	i := s.hi
	if forward {
		s.hi++
	} else {
		s.lo--
		i = s.lo
	}
	s.leaves++
	*dst = interval{lo: i, hi: i + 1, chosen: map[int]float64{i: 1}}
	return weightOf(math.Log(s.weight(i))), !s.diverges(i)
}

func (s *integers) choose(dst, src *interval, prob float64) {
	if s.bias != nil {
		prob = s.bias(prob, dst.hi-dst.lo)
	}
	mixed := map[int]float64{}
	for i, p := range dst.chosen {
		mixed[i] += (1 - prob) * p
	}
	for i, p := range src.chosen {
		mixed[i] += prob * p
	}
	dst.chosen = mixed
}

func (s *integers) join(dst, other *interval, after bool) (turning bool) {
	border := dst.lo
	switch {
	case after && dst.hi == other.lo:
		border, dst.hi = dst.hi, other.hi
	case !after && other.hi == dst.lo:
		dst.lo = other.lo
	default:
		panic(fmt.Sprint("join: not adjacent: ", dst, other, after))
	}
	return s.turns(dst.lo, border, dst.hi)
}

func (s *integers) scratch(level int) *interval { return s.levels[level] }

// from grows a tree from start and returns it with its depth.
func (s integers) from(start int, directions uint64, maxDepth int) (*interval, int) {
	s.lo, s.hi = start, start+1
	for range maxDepth {
		s.levels = append(s.levels, &interval{})
	}
	root := &interval{lo: start, hi: start + 1, chosen: map[int]float64{start: 1}}
	depth := grow[*interval](&s, root, weightOf(math.Log(s.weight(start))), directions, maxDepth)
	return root, depth
}

// worlds returns trajectories that turn and diverge in all sorts of places, with uneven weights.
func worlds() map[string]integers {
	never := func(int) bool { return false }
	calm := func(int, int, int) bool { return false }
	// hash is a reproducible random function of up to three integers.
	hash := func(seed uint64) func(a, b, c int) float64 {
		return func(a, b, c int) float64 {
			key := uint64(a+1000)<<40 ^ uint64(b+1000)<<20 ^ uint64(c+1000)
			return rand.New(rand.NewPCG(seed, key)).Float64()
		}
	}
	uneven := hash(1)
	weight := func(i int) float64 { return math.Exp(6 * (uneven(i, 0, 0) - 0.5)) }
	w := map[string]integers{
		"flat":      {weight: func(int) float64 { return 1 }, diverges: never, turns: calm},
		"uneven":    {weight: weight, diverges: never, turns: calm},
		"long":      {weight: weight, diverges: never, turns: func(lo, _, hi int) bool { return hi-lo > 5 }},
		"diverging": {weight: weight, diverges: func(i int) bool { return i == 3 || i == -9 }, turns: calm},
		"periodic":  {weight: weight, diverges: never, turns: func(lo, _, hi int) bool { return lo%7 == 0 || hi%5 == 0 }},
	}
	for seed := range uint64(6) {
		h := hash(seed + 10)
		w[fmt.Sprint("random", seed)] = integers{
			weight:   weight,
			diverges: func(i int) bool { return h(i, -500, -500) < 0.02 },
			turns:    func(lo, mid, hi int) bool { return h(lo, mid, hi) < 0.15 },
		}
	}
	return w
}

// unbalanced returns an error if π(i) P(i→j) ≠ π(j) P(j→i) for some pair. It enumerates all words
// of directions, which are equally likely.
func unbalanced(w integers, maxDepth int) error {
	return violation(w, maxDepth, func(i int) map[int]float64 { return w.transition(i, maxDepth) })
}

// transition returns the distribution of the chosen point from a start.
func (s integers) transition(i, maxDepth int) map[int]float64 {
	words := 1 << maxDepth
	p := map[int]float64{}
	for d := range words {
		root, _ := s.from(i, uint64(d), maxDepth)
		for j, pj := range root.chosen {
			p[j] += pj / float64(words)
		}
	}
	return p
}

func violation(w integers, maxDepth int, transition func(i int) map[int]float64) error {
	reach := 1<<maxDepth - 1
	weight := func(i int) float64 {
		// The limit on the energy error is relative to the start. A chain could leave a point
		// without weight, but never gets there.
		if w.diverges(i) {
			return 0
		}
		return w.weight(i)
	}
	p := map[int]map[int]float64{}
	for i := -2*reach - 1; i <= 2*reach+1; i++ {
		p[i] = transition(i)
	}
	for i := -reach; i <= reach; i++ {
		sum := 0.0
		for j, pij := range p[i] {
			sum += pij
			there, back := weight(i)*pij, weight(j)*p[j][i]
			if math.Abs(there-back) > 1e-12*(there+back) {
				return fmt.Errorf("depth %d: π(%d)P(%d→%d) = %v, but the way back has %v", maxDepth, i, i, j, there, back)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			return fmt.Errorf("depth %d: the probabilities from %d sum to %v", maxDepth, i, sum)
		}
	}
	return nil
}

// TestDetailedBalance checks that detailed balance holds exactly, and that biased choices are
// detected.
func TestDetailedBalance(t *testing.T) {
	for name, w := range worlds() {
		for _, maxDepth := range []int{1, 2, 3, 5} {
			if err := unbalanced(w, maxDepth); err != nil {
				t.Fatalf("%s, %v", name, err)
			}
		}
	}
	for name, bias := range map[string]func(prob float64, sizeOfOld int) float64{
		"the later half of a doubling is preferred": func(p float64, old int) float64 { return math.Sqrt(p) },
		"doublings are always taken":                func(p float64, old int) float64 { return 1 },
		"uniform over the whole tree":               func(p float64, old int) float64 { return p / (1 + p) },
	} {
		w := worlds()["random1"]
		w.bias = bias
		if unbalanced(w, 3) == nil {
			t.Errorf("the enumeration does not see that %s", name)
		}
	}
}

// TestDetailedBalance2011 checks that the sampler of 2011 has exact detailed balance too. Its slice
// is a uniform number below the weight of the start. Its effect is constant between the weights, so
// that the integral over it is a sum.
func TestDetailedBalance2011(t *testing.T) {
	const limit = 50 // bound on the ratio of the slice to a weight
	for name, w := range worlds() {
		for _, maxDepth := range []int{1, 2, 3} {
			reach := 1<<maxDepth - 1
			var heights []float64
			for i := -3*reach - 1; i <= 3*reach+1; i++ {
				heights = append(heights, w.weight(i), limit*w.weight(i))
			}
			slices.Sort(heights)
			given := func(biased bool) error {
				return violation(w, maxDepth, func(i int) map[int]float64 {
					p := map[int]float64{}
					low, whole := 0.0, w.weight(i)
					if w.diverges(i) { // nobody comes there
						return map[int]float64{i: 1}
					}
					for _, high := range heights {
						if high > whole {
							break
						}
						u := 0.5 * (low + high)
						if high > low {
							s := w
							s.weight = func(i int) float64 {
								if u <= w.weight(i) || biased {
									return 1
								}
								return 0
							}
							s.diverges = func(i int) bool { return w.diverges(i) || u > limit*w.weight(i) }
							for j, pj := range s.transition(i, maxDepth) {
								p[j] += pj * (high - low) / whole
							}
						}
						low = high
					}
					return p
				})
			}
			if err := given(false); err != nil {
				t.Fatalf("%s, %v", name, err)
			}
			if name == "uneven" && given(true) == nil {
				t.Errorf("depth %d: the enumeration does not see that the slice is not looked at", maxDepth)
			}
		}
	}
}

// TestGrowFollowsDirections checks that a tree without obstacles has the shape given by the
// directions.
func TestGrowFollowsDirections(t *testing.T) {
	w := worlds()["flat"]
	for d := range uint64(16) {
		root, depth := w.from(0, d, 4)
		back := 0
		for j := range 4 {
			if d>>j&1 == 0 {
				back += 1 << j
			}
		}
		if depth != 4 || root.lo != -back || root.hi != 16-back {
			t.Errorf("directions %04b: tree [%d, %d) of depth %d", d, root.lo, root.hi, depth)
		}
		// With equal weights every doubling is accepted, so the last one leaves the start and all
		// points of earlier doublings.
		last := slices.Sorted(func(yield func(int) bool) {
			for i, p := range root.chosen {
				if p > 0 && !yield(i) {
					return
				}
			}
		})
		if len(last) != 8 || math.Abs(root.chosen[last[0]]-1.0/8) > 1e-12 {
			t.Errorf("directions %04b: chosen from %v", d, root.chosen)
		}
	}
}

// TestGrowStopsWhereItShould compares with the definition of a valid tree, written without
// recursion over halves: none of the aligned blocks of every doubling may turn.
func TestGrowStopsWhereItShould(t *testing.T) {
	for name, w := range worlds() {
		const maxDepth = 5
		for d := range uint64(1 << maxDepth) {
			for start := -20; start <= 20; start++ {
				lo, hi, depth := start, start+1, 0
			doubling:
				for depth < maxDepth {
					n := hi - lo
					newLo, newHi := hi, hi+n
					if d>>depth&1 == 0 {
						newLo, newHi = lo-n, lo
					}
					for i := newLo; i < newHi; i++ {
						if w.diverges(i) {
							break doubling
						}
					}
					for size := 2; size <= n; size *= 2 {
						for a := newLo; a < newHi; a += size {
							if w.turns(a, a+size/2, a+size) {
								break doubling
							}
						}
					}
					mid := max(lo, newLo)
					lo, hi = min(lo, newLo), max(hi, newHi)
					depth++
					if w.turns(lo, mid, hi) {
						break
					}
				}
				root, got := w.from(start, d, maxDepth)
				if got != depth || root.lo != lo || root.hi != hi {
					t.Fatalf("%s from %d, directions %b: [%d, %d) of depth %d, want [%d, %d) of depth %d", name, start, d, root.lo, root.hi, got, lo, hi, depth)
				}
			}
		}
	}
}

// TestWeight checks that sums and ratios of weights agree with logarithms, whatever their size.
func TestWeight(t *testing.T) {
	logs := []float64{math.Inf(-1), -1e6, -700, -601, -600, -599, -1, 0, 1, 599, 600, 601, 602, 5000, 1e9}
	for _, a := range logs {
		for _, b := range logs {
			for _, c := range logs {
				ab, abc := weightOf(a).plus(weightOf(b)), weightOf(a).plus(weightOf(b)).plus(weightOf(c))
				want, m := 0.0, max(a, b, c)
				if two := math.Exp(a-m) + math.Exp(b-m); two > 0 {
					want = two / (two + math.Exp(c-m))
				}
				if got := ab.over(abc); math.Abs(got-want) > 1e-12 {
					t.Errorf("logs %v, %v of them with %v: %v instead of %v", a, b, c, got, want)
				}
			}
		}
	}
}
