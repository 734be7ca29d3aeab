package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// columns holds the draws of a quantity by chain.
type columns struct {
	place int
	name  string
	label string // the name with the labels of its indices
	row   diagnose.Row
	all   [][]float64 // of every chain of the run, so far
	even  [][]float64 // chains with draws, cut to the same length
	odd   int         // number of draws of all chains that are NaN or infinite
}

func (w *work) columns(i int) *columns {
	c := &columns{place: i, name: w.names[i], label: w.report.shown(i, w.names[i]), row: w.rows[i], all: make([][]float64, w.fit.Draws.Chains())}
	for chain, n := range w.lengths() {
		c.all[chain] = w.fit.Draws.Column(nil, chain, i)
		c.all[chain] = c.all[chain][:min(n, len(c.all[chain]))]
	}
	for _, chain := range w.level {
		c.even = append(c.even, c.all[chain][:w.length])
	}
	for _, chain := range w.chains {
		c.odd += len(c.all[chain]) - len(finite(c.all[chain]))
	}
	return c
}

// lengths returns the numbers of draws by chain.
func (w *work) lengths() []int {
	n := make([]int, w.fit.Draws.Chains())
	for i := range n {
		n[i] = w.fit.Draws.Len(i)
	}
	return n
}

// chain returns a layer for a chain, given its index in the run.
func (w *work) chain(mark Mark, chain int) Layer {
	return Layer{Mark: mark, Role: OfChain, Chain: chain + 1, Label: w.chainName(chain)}
}

func (w *work) chainName(chain int) string {
	return fmt.Sprintf("chain %d", w.fit.Report.Chains[chain].ID)
}

// oddNote counts the draws that cannot be shown.
func (c *columns) oddNote() string {
	if c.odd == 0 {
		return ""
	}
	if c.odd == 1 {
		return "1 draw is NaN or infinite and cannot be shown."
	}
	return fmt.Sprintf("%d draws are NaN or infinite and cannot be shown.", c.odd)
}

func trace(w *work, c *columns) Figure {
	f := Figure{X: Axis{Label: "draw"}, Y: Axis{Label: c.label}, Note: c.oddNote()}
	every := float64(w.report.Kept.Every)
	for _, chain := range w.chains {
		l := w.chain(Line, chain)
		l.From, l.Step, l.YOf = 1, every, c.name
		f.Layers = append(f.Layers, l)
	}
	marks := Layer{Mark: Points, Role: Divergent, Label: "divergent", X: Values{}, Y: Values{}}
	for _, t := range w.report.Divergent {
		marks.X = append(marks.X, float64(t.Draw+1))
	}
	if len(marks.X) > 0 {
		marks.Y = nil // at the bottom
		f.Layers = append(f.Layers, marks)
	}
	switch {
	case w.report.Run.Draws == 0:
		f.Layers, f.Note = []Layer{}, "There are no draws."
	case c.odd == w.report.Run.Draws:
		f.Layers = []Layer{}
	}
	f.Alt = fmt.Sprintf("Draws of %s in order, by chain.", c.label)
	if !math.IsNaN(c.row.Rhat) {
		f.Alt = fmt.Sprintf("Draws of %s in order, by chain; R-hat %.3f.", c.label, c.row.Rhat)
	}
	return f
}

const rankBins = 20

func rankHistogram(w *work, c *columns) Figure {
	f := Figure{X: Axis{Label: "rank among all draws"}, Y: Axis{Label: "draws", Zero: true, Whole: true}, Layers: []Layer{}}
	type place struct {
		v            float64
		chain, order int
	}
	var all []place
	for i, column := range c.even {
		for k, v := range column {
			if math.IsNaN(v) {
				f.Note = "There are no ranks: some draws are NaN."
				return f
			}
			all = append(all, place{v, i, k})
		}
	}
	if len(c.even) < 2 || w.length < rankBins {
		f.Note = fmt.Sprintf("Ranks are compared among two chains or more, of at least %d draws each.", rankBins)
		return f
	}
	if c.row.SD == 0 {
		f.Note = "All draws are the same."
		return f
	}
	sorting.Stable(all, func(a, b place) int {
		switch {
		case a.v < b.v:
			return -1
		case a.v > b.v:
			return 1
		case a.order != b.order: // for ties, alternate between chains
			return a.order - b.order
		}
		return a.chain - b.chain
	})
	counts := make([][]float64, len(c.even))
	for i := range counts {
		counts[i] = make([]float64, rankBins)
	}
	for rank, p := range all {
		counts[p.chain][rank*rankBins/len(all)]++
	}
	width := float64(len(all)) / rankBins
	even := float64(w.length) / rankBins
	f.Layers = append(f.Layers, Layer{Mark: Rule, Role: Reference, Label: "if chains agree", Y: Values{even}})
	most := 0.0
	for i, y := range counts {
		l := w.chain(Step, w.level[i])
		l.From, l.Step, l.Y = 0, width, y
		f.Layers = append(f.Layers, l)
		for _, v := range y {
			most = max(most, math.Abs(v-even))
		}
	}
	f.Alt = fmt.Sprintf("Ranks of %s by chain: counts differ from the expected %.0f by up to %.0f.", c.label, even, most)
	return f
}

func density(w *work, c *columns) Figure {
	f := Figure{X: Axis{Label: c.label}, Y: Axis{Label: "density", Zero: true}, Layers: []Layer{}, Note: c.oddNote()}
	var samples [][]float64
	for _, chain := range w.chains {
		samples = append(samples, c.all[chain])
	}
	mark := Line
	g, ok := shares(samples)
	if ok {
		mark, f.Y.Label = Step, "share of draws"
	} else {
		var outside int
		if g, outside, ok = densities(samples); outside > 0 {
			f.Note = strings.TrimSpace(f.Note + fmt.Sprintf(" Far outside of what is shown: %s.", draws(outside)))
		}
	}
	if !ok {
		switch {
		case f.Note == "" && c.row.SD == 0:
			f.Note = "All draws are the same."
		case f.Note == "" && w.length < 2:
			f.Note = "There are too few draws for a density."
		case f.Note == "":
			f.Note = "Nearly all draws are the same, or they differ too much for a density."
		}
		return f
	}
	for i, y := range g.y {
		l := w.chain(mark, w.chains[i])
		l.From, l.Step, l.Y = g.from, g.step, coarse(y)
		f.Layers = append(f.Layers, l)
	}
	f.Alt = fmt.Sprintf("Distribution of %s by chain: median %.4g, 90 %% between %.4g and %.4g.", c.label, c.row.Q50, c.row.Q5, c.row.Q95)
	return f
}

// maxLag is the largest lag for which autocorrelations are shown.
const maxLag = 50

func autocorrelation(w *work, c *columns) Figure {
	f := Figure{X: Axis{Label: "lag (draws)", Zero: true}, Y: Axis{Label: "correlation", Range: []Number{-0.25, 1}}, Layers: []Layer{}}
	if c.odd > 0 || c.row.SD == 0 || w.length < 4 {
		f.Note = "There is no autocorrelation: " + c.why("too few draws") + "."
		return f
	}
	f.Layers = append(f.Layers, Layer{Mark: Rule, Role: Reference, Y: Values{0}})
	largest, at, least := math.Inf(-1), -1, -0.25
	for i, column := range c.even {
		y := diagnose.AutoCorrelation(column, min(maxLag, w.length/2))
		l := w.chain(Line, w.level[i])
		l.From, l.Step, l.Y = 0, 1, coarse(y)
		f.Layers = append(f.Layers, l)
		for lag, v := range y {
			if lag == 1 && v > largest {
				largest, at = v, i
			}
			least = min(least, v)
		}
	}
	if math.IsNaN(least) {
		least = -0.25
	}
	f.Y.Range[0] = Number(math.Floor(least*4) / 4)
	f.Alt = fmt.Sprintf("Autocorrelation of %s.", c.label)
	if at >= 0 {
		f.Alt = fmt.Sprintf("Autocorrelation of %s: at lag 1 up to %.2f, in %s.", c.label, largest, w.chainName(w.level[at]))
	}
	return f
}

// why returns the reason why something cannot be computed.
func (c *columns) why(otherwise string) string {
	switch {
	case c.odd > 0:
		return "some draws are NaN or infinite"
	case c.row.SD == 0:
		return "all draws are the same"
	}
	return otherwise
}

// essAt lists the fractions of the chains, in tenths, after which the effective sample size is
// computed. They are few, because each takes as long as a row of the summary.
var essAt = []int{1, 2, 4, 6, 8, 10}

func essGrowth(w *work, c *columns) Figure {
	f := Figure{X: Axis{Label: "draws of all chains", Zero: true}, Y: Axis{Label: "effective sample size", Zero: true}, Layers: []Layer{}}
	if c.odd > 0 || c.row.SD == 0 || w.length < 20 {
		f.Note = "There is no effective sample size: " + c.why("too few draws") + "."
		return f
	}
	bulk := Layer{Mark: Line, Role: First, Label: "bulk"}
	tail := Layer{Mark: Line, Role: Second, Label: "tail"}
	part := make([][]float64, len(c.even))
	for _, tenths := range essAt {
		n := w.length * tenths / 10
		for i, column := range c.even {
			part[i] = column[:n]
		}
		at := float64(n * len(c.even))
		b, t := c.row.ESSBulk, c.row.ESSTail
		if tenths < 10 {
			b, t = diagnose.ESSBulk(part), diagnose.ESSTail(part)
		}
		bulk.X, bulk.Y = append(bulk.X, at), append(bulk.Y, b)
		tail.X, tail.Y = append(tail.X, at), append(tail.Y, t)
	}
	bulk.Y, tail.Y = coarse(bulk.Y), coarse(tail.Y)
	f.Layers = append(f.Layers, Layer{Mark: Rule, Role: Reference, Label: "least to rely on", Y: Values{float64(100 * len(c.even))}}, bulk, tail)
	f.Alt = fmt.Sprintf("Effective sample size of %s by the number of draws", c.label)
	for i, e := range []float64{c.row.ESSBulk, c.row.ESSTail} {
		if !math.IsNaN(e) {
			f.Alt += fmt.Sprintf(", %.0f in the %s in the end", e, []string{"bulk", "tails"}[i])
		}
	}
	f.Alt += "."
	return f
}

// pairs draws the pair of quantities that the page shows first: those in which divergences
// concentrate, or else the two that are most correlated.
func pairs(w *work) []Figure {
	r := w.report
	if len(r.Quantities) < 2 {
		return nil
	}
	var names []string
	add := func(name string) {
		if len(names) < 2 && !slices.Contains(names, name) && slices.ContainsFunc(r.Quantities, func(q Quantity) bool { return q.Name == name }) {
			names = append(names, name)
		}
	}
	for _, f := range r.Findings {
		if f.Code == "divergences" {
			for _, q := range f.Quantities {
				add(q)
			}
		}
	}
	if len(names) == 0 {
		for _, name := range w.correlated() {
			add(name)
		}
	}
	for _, q := range r.Quantities {
		add(q.Name)
	}
	return []Figure{w.pair(names[0], names[1])}
}

// The limits of the search for correlated quantities.
const (
	maxCorrelated = 60     // quantities that are compared with each other
	sameQuantity  = 0.9999 // correlation above which one quantity is a function of the other
)

// correlated returns the two most correlated quantities of a report, among the first: of population
// parameters or, if there are no two, of all. Constants and auxiliary variables do not count. nil:
// there are no two quantities.
func (w *work) correlated() []string {
	for _, among := range []func(name string) bool{w.isPopulationParameter, w.isPopulation, func(string) bool { return true }} {
		if pair := w.correlatedAmong(among); pair != nil {
			return pair
		}
	}
	return nil
}

// isPopulation reports whether a quantity is neither a group-level term nor an element of a curve.
func (w *work) isPopulation(name string) bool {
	v := variableOf(name)
	return w.rank(v) == 0 && !w.curved[v]
}

// isPopulationParameter reports whether a population quantity is a parameter, not computed from
// others.
func (w *work) isPopulationParameter(name string) bool {
	m, err := w.fit.Model()
	if err != nil || !w.isPopulation(name) {
		return false
	}
	for _, v := range m.Program().IR().Parameters {
		if v.Name == variableOf(name) {
			return true
		}
	}
	return false
}

// correlatedAmong is correlated among quantities of a kind.
func (w *work) correlatedAmong(is func(name string) bool) []string {
	r := w.report
	var names []string
	var scores [][]float64 // draws, with mean 0 and norm 1
	for _, q := range r.Quantities {
		if len(names) == maxCorrelated || len(q.Draws) < 2 || r.Summary.Aside != nil && r.Summary.Aside[q.Row] || !is(q.Name) {
			continue
		}
		z := make([]float64, len(q.Draws))
		mean, norm := 0.0, 0.0
		for i, v := range q.Draws {
			z[i] = float64(v)
			mean += z[i] / float64(len(z))
		}
		for i := range z {
			z[i] -= mean
			norm = math.Hypot(norm, z[i])
		}
		if !(norm > 0) || math.IsInf(norm, 0) {
			continue
		}
		for i := range z {
			z[i] /= norm
		}
		names, scores = append(names, q.Name), append(scores, z)
	}
	var best []string
	largest := -1.0
	for i := range names {
		for j := range i {
			c := 0.0
			for k := range scores[i] {
				c += scores[i][k] * scores[j][k]
			}
			if c = math.Abs(c); c > largest && c < sameQuantity {
				largest, best = c, []string{names[j], names[i]}
			}
		}
	}
	return best
}

// shown returns the name of quantity i with the labels of its indices: theta[2], Paris.
func (r *Report) shown(i int, name string) string {
	if r.Summary.Label != nil && i >= 0 && r.Summary.Label[i] != "" {
		return name + ", " + r.Summary.Label[i]
	}
	return name
}

// Pair returns the plot of the draws of two quantities of a report.
func (r *Report) Pair(x, y string) Figure {
	f := Figure{Kind: "pairs", Of: []string{x, y}, X: Axis{Label: r.shown(slices.Index(r.Summary.Name, x), x)}, Y: Axis{Label: r.shown(slices.Index(r.Summary.Name, y), y)}}
	f.Layers = []Layer{{Mark: Points, Role: First, Label: "draws", XOf: x, YOf: y}}
	if len(r.Divergent) > 0 {
		f.Layers = append(f.Layers, Layer{Mark: Points, Role: Divergent, Label: "divergent", XOf: x, YOf: y})
	}
	f.Alt = fmt.Sprintf("Draws of %s against %s", f.Y.Label, f.X.Label)
	if n := r.Run.Divergences; n != nil {
		f.Alt += fmt.Sprintf("; divergent transitions: %d", *n)
	}
	f.Alt += "."
	return f
}

func (w *work) pair(x, y string) Figure { return w.report.Pair(x, y) }

// Resolve returns the layers of a figure with all coordinates: it fills in the draws that they
// name, and equidistant values. Layers whose draws the report does not have are empty.
func (r *Report) Resolve(f Figure) []Layer {
	draws := func(name string, l *Layer) Values {
		i := slices.IndexFunc(r.Quantities, func(q Quantity) bool { return q.Name == name })
		if i < 0 {
			return nil
		}
		q := r.Quantities[i]
		packed := q.Draws
		switch {
		case l.Role == Divergent:
			packed = q.Divergent
		case l.Chain > 0:
			from := 0
			for _, n := range r.Kept.Counts[:l.Chain-1] {
				from += n
			}
			packed = packed[from : from+r.Kept.Counts[l.Chain-1]]
		}
		out := make(Values, len(packed))
		for k, v := range packed {
			out[k] = float64(v) + float64(q.Centre)
		}
		return out
	}
	layers := slices.Clone(f.Layers)
	for i := range layers {
		l := &layers[i]
		if l.XOf != "" {
			l.X = draws(l.XOf, l)
		}
		if l.YOf != "" {
			l.Y = draws(l.YOf, l)
		}
		if l.X == nil && l.Step != 0 && l.Mark == Line {
			l.X = make(Values, len(l.Y))
			for k := range l.X {
				l.X[k] = l.From + float64(k)*l.Step
			}
		}
	}
	return layers
}
