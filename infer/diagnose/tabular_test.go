package diagnose

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
)

// byTable is Draws that can also be read as tables, and counts them.
type byTable struct {
	Draws
	tables *atomic.Int64
}

func (b byTable) Table(dst []float64, chain, first, last int) []float64 {
	b.tables.Add(1)
	for q := first; q < last; q++ {
		dst = b.Column(dst, chain, q)
	}
	return dst
}

// TestTabular compares figures of draws that are read as tables with those of columns: whatever
// the number of quantities, and with gaps, chains without draws, and chains of different lengths.
func TestTabular(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, quantities := range []int{0, 1, 2, 3, 15, 16, 17, 70} {
		var names []string
		for q := range quantities {
			names = append(names, strconv.Itoa(q))
		}
		var draws [][][]float64
		for _, length := range []int{21, 0, 20, 22} {
			var chain [][]float64
			for range length {
				draw := make([]float64, quantities)
				for q := range draw {
					draw[q] = rng.NormFloat64() + float64(q)
				}
				if quantities > 2 {
					draw[2] = math.NaN()
				}
				chain = append(chain, draw)
			}
			draws = append(draws, chain)
		}
		columns := Slices(names, draws)
		var tables atomic.Int64
		for _, parallel := range []int{1, 3} {
			s := &Summarizer{Parallel: parallel}
			for _, some := range [][]int{nil, slices.DeleteFunc(all(quantities), func(q int) bool { return q%5 == 3 }), {quantities - 1, 0}} {
				if quantities == 0 && some != nil {
					continue
				}
				want := (&Summarizer{Parallel: 1}).Rows(columns, some, AllMeasures)
				got := s.Rows(byTable{columns, &tables}, some, AllMeasures)
				if !reflect.DeepEqual(hex(got), hex(want)) {
					t.Errorf("%d quantities, %v, %d goroutines: %v, want %v", quantities, some, parallel, got, want)
				}
			}
		}
		if quantities > 60 && tables.Load() == 0 {
			t.Errorf("%d quantities were not read as tables", quantities)
		}
	}
}

// hex writes figures so that NaN equals NaN.
func hex(rows []Row) (text []string) {
	for _, r := range rows {
		line := r.Name
		for _, v := range []float64{r.Mean, r.MCSEMean, r.SD, r.Q5, r.Q50, r.Q95, r.ESSBulk, r.ESSTail, r.Rhat, float64(r.Undefined)} {
			line += " " + strconv.FormatFloat(v, 'x', -1, 64)
		}
		text = append(text, line)
	}
	return text
}
