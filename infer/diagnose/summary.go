package diagnose

import (
	"encoding/json"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// Row summarises one quantity. A figure that does not exist is NaN (null in
// JSON, as are infinities): see the package comment.
type Row struct {
	Name     string  `json:"name"`
	Mean     float64 `json:"mean"`
	MCSEMean float64 `json:"mcse_mean"` // Monte Carlo standard error of Mean
	SD       float64 `json:"sd"`
	Q5       float64 `json:"q5"`
	Q50      float64 `json:"q50"`
	Q95      float64 `json:"q95"`
	ESSBulk  float64 `json:"ess_bulk"`
	ESSTail  float64 `json:"ess_tail"`
	Rhat     float64 `json:"rhat"` // rank-normalised, split, folded
}

// Summarize gives one row per quantity of d, in its order. The chains are cut
// to the length of the shortest that has draws; those without are left out.
//
// Quantities are shared among GOMAXPROCS goroutines; each row depends on its
// own draws only, so the result does not depend on how.
func Summarize(d Draws) []Row {
	names := d.Names()
	rows := make([]Row, len(names))
	chains, length := comparableChains(d)
	if len(chains) == 0 {
		nan := math.NaN()
		for q, name := range names {
			rows[q] = Row{name, nan, nan, nan, nan, nan, nan, nan, nan, nan}
		}
		return rows
	}
	first := newWorkspace(len(chains), length, nil)
	var next atomic.Int64
	var running sync.WaitGroup
	for worker := range min(runtime.GOMAXPROCS(0), len(names)) {
		w := first
		if worker > 0 {
			w = newWorkspace(len(chains), length, first.scores)
		}
		running.Go(func() {
			var column []float64
			for q := int(next.Add(1)) - 1; q < len(names); q = int(next.Add(1)) - 1 {
				w.pooled = w.pooled[:0]
				for _, chain := range chains {
					column = d.Column(column[:0], chain, q)
					w.pooled = append(w.pooled, column[:length]...)
				}
				w.load()
				rows[q] = w.row(names[q])
			}
		})
	}
	running.Wait()
	return rows
}

// row measures the loaded quantity.
func (w *workspace) row(name string) Row {
	nan := math.NaN()
	row := Row{name, nan, nan, nan, nan, nan, nan, nan, nan, nan}
	row.Mean = mean(w.pooled)
	if !w.usable {
		return row
	}
	row.Q5 = quantileSorted(w.sorted, 0.05)
	row.Q50 = quantileSorted(w.sorted, 0.5)
	row.Q95 = quantileSorted(w.sorted, 0.95)
	row.SD = math.Sqrt(variance(w.pooled))
	if w.finite && !w.varying {
		row.SD = 0 // not the rounding error of a sum of squares
	}
	row.MCSEMean = w.mcseMean()
	row.ESSBulk = w.essBulk()
	row.ESSTail = w.essTail()
	row.Rhat = w.rhat()
	return row
}

// number is a figure in JSON: null where it is not a finite number, since JSON
// has no other.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if v := float64(n); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// rowJSON is Row with number for float64; a test compares the two.
type rowJSON struct {
	Name     string `json:"name"`
	Mean     number `json:"mean"`
	MCSEMean number `json:"mcse_mean"`
	SD       number `json:"sd"`
	Q5       number `json:"q5"`
	Q50      number `json:"q50"`
	Q95      number `json:"q95"`
	ESSBulk  number `json:"ess_bulk"`
	ESSTail  number `json:"ess_tail"`
	Rhat     number `json:"rhat"`
}

// MarshalJSON writes figures that are not finite as null.
func (r Row) MarshalJSON() ([]byte, error) {
	return json.Marshal(rowJSON{r.Name, number(r.Mean), number(r.MCSEMean), number(r.SD), number(r.Q5),
		number(r.Q50), number(r.Q95), number(r.ESSBulk), number(r.ESSTail), number(r.Rhat)})
}

// UnmarshalJSON reads what MarshalJSON writes, null as NaN.
func (r *Row) UnmarshalJSON(text []byte) error {
	var j rowJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*r = Row{j.Name, float64(j.Mean), float64(j.MCSEMean), float64(j.SD), float64(j.Q5),
		float64(j.Q50), float64(j.Q95), float64(j.ESSBulk), float64(j.ESSTail), float64(j.Rhat)}
	return nil
}
