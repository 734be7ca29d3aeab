package auto

import (
	"slices"
	"testing"
)

// TestRecorded checks the number of draws that chains record, on both sides of its bounds.
func TestRecorded(t *testing.T) {
	for _, c := range []struct{ d, chains, want int }{
		{1, 0, maxRecorded / 2}, {1, 1, maxRecorded / 2}, {10_000, 4, 157}, {100_000, 4, 15},
		{maxRecorded / 2 / minRecorded, 1, minRecorded}, {maxRecorded/2/minRecorded + 1, 1, minRecorded}, {maxRecorded/2/(minRecorded+1) - 1, 1, minRecorded + 1}, {maxRecorded, 8, minRecorded},
	} {
		if got := recorded(c.d, c.chains); got != c.want {
			t.Errorf("%d dimensions, %d chains: %d draws, want %d", c.d, c.chains, got, c.want)
		}
	}
}

// TestForget checks that draws are kept as long as they are used, and that the memory of others is
// released.
func TestForget(t *testing.T) {
	var rounds [][]record
	number := 0.0
	for length := range 12 {
		r := record{transitions: length}
		r.expect(length, 1)
		for range length {
			number++
			draw, score := r.row(1)
			draw[0], score[0] = number, -number
			r.logDensity = append(r.logDensity, number)
		}
		if length == 0 {
			continue
		}
		rounds = append(rounds, []record{r})
		forget(rounds)
		o := later(rounds)[0]
		want := number - float64(len(o.draws)) + 1
		for t2, x := range o.draws {
			if x == nil || x[0] != want || o.scores[t2][0] != -want || o.logDensity[t2] != want {
				t.Fatalf("after round %d, draw %d is %v, want %v", length, t2, x, want)
			}
			want++
		}
		if n := len(o.draws); n != (int(number)+1)/2 {
			t.Errorf("after round %d, %d of %v draws are used", length, n, number)
		}
		first, _, _ := laterHalf(rounds)
		for k, round := range rounds {
			gone := !slices.ContainsFunc(round[0].draws, func(x []float64) bool { return x != nil })
			if gone != (k < first) {
				t.Errorf("after round %d, the draws of round %d are forgotten: %v", length, k+1, gone)
			}
		}
	}
}

// TestPooled checks that in many dimensions the number of draws in use does not grow with that of
// rounds.
func TestPooled(t *testing.T) {
	d := maxRecorded/2/minRecorded + 1
	row := make([]float64, d)
	var rounds [][]record
	for k := range 9 {
		r := record{logDensity: make([]float64, minRecorded)}
		for range minRecorded {
			r.draws, r.scores = append(r.draws, row), append(r.scores, row)
		}
		rounds = append(rounds, []record{r})
		want := min((k+1)*minRecorded/2, pooledRounds*minRecorded)
		if got := len(later(rounds)[0].draws); got != want {
			t.Errorf("after round %d: %d draws, want %d", k+1, got, want)
		}
	}
}
