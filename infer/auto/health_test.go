package auto

import "testing"

// TestLastChainStays checks that judgeChains never drops every chain. In an improper posterior the
// chain with the most mass changes from round to round, so each chain is useless in some rounds.
func TestLastChainStays(t *testing.T) {
	for chains := 1; chains <= 4; chains++ {
		v := &verdict{at: Sampler{}.limits()}
		v.standing = make([]standing, chains)
		for round := range 40 * chains {
			var now []record
			var parts []any
			for chain := range chains {
				level := 0.0
				if chain == (round/3)%chains {
					level = 1e6
				}
				r := record{transitions: 4, draws: [][]float64{{-1}, {0}, {1}, {0}}, logDensity: []float64{level, level, level, level}}
				now, parts = append(now, r), append(parts, r)
			}
			v.rounds = append(v.rounds, now)
			v.judgeChains(nil, parts, false, false)
			if left := v.present(parts, now); len(left) == 0 {
				t.Fatalf("%d chains: all are dropped in round %d", chains, round+1)
			}
		}
	}
}

// TestStuckChainsAreNotHeaviest checks that chains that mostly diverge are not those by whose
// mass the others are judged: in the neck of a funnel their density has no upper bound.
func TestStuckChainsAreNotHeaviest(t *testing.T) {
	v := &verdict{at: Sampler{}.limits()}
	v.standing = make([]standing, 4)
	var now []record
	var parts []any
	for chain := range 4 {
		r := record{transitions: 4, draws: [][]float64{{-1}, {0}, {1}, {0}}, logDensity: []float64{0, 1, 2, 1}, divergent: 1}
		if chain >= 2 {
			r = record{transitions: 4, draws: [][]float64{{5}, {5}, {5}, {5}}, logDensity: []float64{4e4, 4e4, 4e4, 4e4}, divergent: 4}
		}
		now, parts = append(now, r), append(parts, r)
	}
	for _, stuck := range []int{4, 3} { // of the four transitions
		now[2].divergent, now[3].divergent = stuck, stuck
		v.rounds, v.restarts = [][]record{now}, nil
		v.judgeChains(nil, parts, false, false)
		for chain := range 2 {
			if v.rounds[0][chain].useless || v.standing[chain].restarted {
				t.Errorf("%d of 4 transitions diverge in the neck: chain %d outside is useless: %+v", stuck, chain, v.standing[chain])
			}
		}
	}
	// Half of the transitions is not most of them.
	now[2].divergent, now[3].divergent = 2, 2
	v.rounds = [][]record{now}
	if v.judgeChains(nil, parts, true, false); !v.rounds[0][0].useless || v.rounds[0][2].useless {
		t.Error("chains that move in a region of more mass do not make the others useless")
	}
}
