package diagnose

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
)

// Row summarises one quantity. Undefined figures are NaN, see the package comment; NaN and
// infinities are null in JSON.
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

	// Undefined is the number of draws that are NaN, if some are and some are not. Mean, SD
	// and quantiles are then those of the others; the rest is NaN.
	Undefined int `json:"undefined,omitempty"`
}

// Measures selects the figures of a [Row] that are computed in addition to mean and standard
// deviation; the others are NaN.
type Measures uint

// The measures. Quantiles, ranks and tails of a quantity share one sort of its draws.
const (
	MeasureMCSE Measures = 1 << iota
	MeasureQuantiles
	MeasureESSBulk
	MeasureESSTail
	MeasureRhat

	AllMeasures = MeasureMCSE | MeasureQuantiles | MeasureESSBulk | MeasureESSTail | MeasureRhat
)

// measureNames lists the names of figures in JSON and tables, with the measures they need.
var measureNames = []struct {
	name string
	is   Measures
}{
	{"mean", 0}, {"mcse_mean", MeasureMCSE}, {"sd", 0}, {"q5", MeasureQuantiles}, {"q50", MeasureQuantiles}, {"q95", MeasureQuantiles},
	{"ess_bulk", MeasureESSBulk}, {"ess_tail", MeasureESSTail}, {"rhat", MeasureRhat},
}

// MeasureNames lists the names of all figures of a row.
func MeasureNames() []string {
	var names []string
	for _, m := range measureNames {
		names = append(names, m.name)
	}
	return names
}

// MeasuresOf returns the measures that figures with the given names need. It ignores names that are
// not among [MeasureNames].
func MeasuresOf(names []string) Measures {
	var all Measures
	for _, m := range measureNames {
		if slices.Contains(names, m.name) {
			all |= m.is
		}
	}
	return all
}

// Summarizer summarises many runs, and reuses memory and tables for runs of the same shape. Several
// goroutines may call its methods at a time. The zero value is ready to use.
type Summarizer struct {
	Parallel int // number of goroutines of one call; 0: GOMAXPROCS

	mu     sync.Mutex
	shapes []*shape // the most recently used first
}

// shape has the reusable memory and tables for runs of the same number and length of chains.
type shape struct {
	chains, length int
	idle           []*workspace
	scores         *scoreTable
}

// keptShapes is the number of shapes that a Summarizer keeps.
const keptShapes = 4

// Summarize returns one row per quantity of d, in its order. Chains without draws are left out, and
// the others are cut to the length of the shortest.
//
// GOMAXPROCS goroutines share the quantities. Each row depends only on its own draws, so the result
// does not depend on their number.
func Summarize(d Draws) []Row { return new(Summarizer).Rows(d, nil, AllMeasures) }

// Rows is [Summarize] for chosen measures and quantities, given by index; nil means all quantities.
func (s *Summarizer) Rows(d Draws, quantities []int, measures Measures) []Row {
	rows, _ := s.RowsContext(context.Background(), d, quantities, measures)
	return rows
}

var errNoContext = errors.New("diagnose: there is no context; context.Background() is one that never ends")

// RowsContext is [Summarizer.Rows], but stops between two quantities when ctx ends. The error is
// then the cause of ctx.
func (s *Summarizer) RowsContext(ctx context.Context, d Draws, quantities []int, measures Measures) ([]Row, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	names := d.Names()
	if quantities == nil {
		quantities = all(len(names))
	}
	rows := make([]Row, len(quantities))
	s.each(d, quantities, func(i int, w *workspace) {
		if ctx.Err() == nil {
			rows[i] = w.row(names[quantities[i]], measures)
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return rows, nil
}

// each calls f for each of some quantities, with its index and a workspace that has loaded it. If
// there are no draws, the workspace is nil. Several goroutines share the calls.
func (s *Summarizer) each(d Draws, quantities []int, f func(i int, w *workspace)) {
	chains, length := comparableChains(d)
	if len(chains) == 0 {
		for i := range quantities {
			f(i, nil)
		}
		return
	}
	parallel := s.Parallel
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	group, places, nested := arrivalsOf(d, chains)
	runs := []int{0} // where runs of quantities begin that are read together
	most := 1
	tabular, ok := d.(Tabular)
	if ok {
		most = min(maxTable/(len(chains)*length), tableQuantities, len(quantities)/(4*parallel))
	}
	for i := 1; i < len(quantities); i++ {
		if first := runs[len(runs)-1]; i-first >= most || quantities[i] != quantities[i-1]+1 {
			runs = append(runs, i)
		}
	}
	runs = append(runs, len(quantities))
	shared(len(runs)-1, parallel, func() (work func(run int), done func()) {
		w := s.take(len(chains), length)
		if w.group = nil; nested {
			w.group, w.arrived = group, places
		}
		return func(run int) {
			first, last := runs[run], runs[run+1]
			if last-first > 1 {
				w.table, w.starts = w.table[:0], w.starts[:0]
				for _, number := range chains {
					w.starts = append(w.starts, len(w.table))
					w.table = tabular.Table(w.table, number, quantities[first], quantities[last-1]+1)
				}
				w.starts = append(w.starts, len(w.table))
			}
			for i := first; i < last; i++ {
				w.pooled = w.pooled[:0]
				for chain, number := range chains {
					if last-first > 1 {
						columns := w.table[w.starts[chain]:w.starts[chain+1]]
						w.pooled = append(w.pooled, columns[(i-first)*(len(columns)/(last-first)):][:length]...)
						continue
					}
					w.pooled = d.Column(w.pooled, number, quantities[i])[:(chain+1)*length]
				}
				w.load()
				f(i, w)
			}
		}, func() { s.give(w) }
	})
}

const (
	// tableQuantities is the largest number of quantities that are read together from a [Tabular]:
	// four lines of the processor's cache per draw.
	tableQuantities = 32
	// maxTable is the largest number of draws that are read together. They should fit in the
	// processor's cache.
	maxTable = 1 << 17
)

// take returns a workspace for runs of a shape.
func (s *Summarizer) take(chains, length int) *workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.shapes, func(h *shape) bool { return h.chains == chains && h.length == length })
	if i < 0 {
		i = min(len(s.shapes), keptShapes-1)
		s.shapes = append(s.shapes[:i], &shape{chains: chains, length: length})
	}
	h := s.shapes[i]
	copy(s.shapes[1:i+1], s.shapes[:i])
	s.shapes[0] = h
	if n := len(h.idle); n > 0 {
		w := h.idle[n-1]
		h.idle = h.idle[:n-1]
		return w
	}
	w := newWorkspace(chains, length, h.scores)
	h.scores = w.scores
	return w
}

// give returns a workspace for reuse, if its shape is still kept.
func (s *Summarizer) give(w *workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.shapes {
		if h.scores == w.scores {
			h.idle = append(h.idle, w)
		}
	}
}

// row measures the loaded quantity; w is nil if there are no draws.
func (w *workspace) row(name string, measures Measures) Row {
	nan := math.NaN()
	row := Row{name, nan, nan, nan, nan, nan, nan, nan, nan, nan, 0}
	if w == nil {
		return row
	}
	if !w.usable {
		w.rest(&row, measures)
		return row
	}
	centre, spread := w.moments()
	row.Mean, row.SD = centre, math.Sqrt(spread)
	if w.finite && !w.varying {
		row.SD = 0 // instead of the rounding error of a sum of squares
	}
	if measures&MeasureQuantiles != 0 {
		w.sort()
		row.Q5, row.Q50, row.Q95 = quantileSorted(w.sorted, 0.05), quantileSorted(w.sorted, 0.5), quantileSorted(w.sorted, 0.95)
	}
	if measures&MeasureMCSE != 0 {
		row.MCSEMean = math.Sqrt(spread) / math.Sqrt(w.essMean())
	}
	if measures&MeasureESSBulk != 0 {
		row.ESSBulk = w.essBulk()
	}
	if measures&MeasureESSTail != 0 {
		row.ESSTail = w.essTail()
	}
	if measures&MeasureRhat != 0 {
		row.Rhat = w.rhat()
	}
	return row
}

// rest computes the figures of a quantity with NaN draws from its other draws.
func (w *workspace) rest(row *Row, measures Measures) {
	var defined []float64
	for _, v := range w.pooled {
		if !math.IsNaN(v) {
			defined = append(defined, v)
		}
	}
	if len(defined) == 0 {
		return
	}
	row.Undefined = len(w.pooled) - len(defined)
	row.Mean = mean(defined)
	squares := 0.0
	for _, v := range defined {
		squares += (v - row.Mean) * (v - row.Mean)
	}
	if len(defined) > 1 {
		row.SD = math.Sqrt(squares / float64(len(defined)-1))
	}
	if measures&MeasureQuantiles != 0 {
		slices.Sort(defined)
		row.Q5, row.Q50, row.Q95 = quantileSorted(defined, 0.05), quantileSorted(defined, 0.5), quantileSorted(defined, 0.95)
	}
}

// number is a figure in JSON, which has no NaN and infinities: these are null.
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

	Undefined int `json:"undefined,omitempty"`
}

// MarshalJSON writes figures that are not finite as null.
func (r Row) MarshalJSON() ([]byte, error) {
	return json.Marshal(rowJSON{r.Name, number(r.Mean), number(r.MCSEMean), number(r.SD), number(r.Q5),
		number(r.Q50), number(r.Q95), number(r.ESSBulk), number(r.ESSTail), number(r.Rhat), r.Undefined})
}

// UnmarshalJSON reads what MarshalJSON writes, null as NaN.
func (r *Row) UnmarshalJSON(text []byte) error {
	var j rowJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*r = Row{j.Name, float64(j.Mean), float64(j.MCSEMean), float64(j.SD), float64(j.Q5),
		float64(j.Q50), float64(j.Q95), float64(j.ESSBulk), float64(j.ESSTail), float64(j.Rhat), j.Undefined}
	return nil
}
