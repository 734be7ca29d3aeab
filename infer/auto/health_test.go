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
			v.judgeChains(parts, false)
			if left := v.present(parts, now); len(left) == 0 {
				t.Fatalf("%d chains: all are dropped in round %d", chains, round+1)
			}
		}
	}
}
