package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// Options select the contents of a report. The zero value is the default.
type Options struct {
	Title string // "": the name of the model

	// Words returns the calling program's names of settings, such as flags, for the advice in
	// findings and notes (see diagnose.Finding). nil: settings are not named. Reports use the
	// settings "vars", for the quantities that have plots, and "size".
	Words func(settings []string) []string

	// Chosen selects the quantities that must have plots, by their displayed names, such as
	// theta[1]. nil selects those that findings name, and the worst.
	Chosen func(name string) bool

	// Size is the maximum number of bytes for draws and plots of quantities, as JSON; 0:
	// DefaultSize.
	Size int

	// Quick leaves out everything that runs the model again: replicated data and the influence of
	// observations.
	Quick bool

	Seed uint64 // seed of the replicated data

	Again string // command that makes the run again; "": not known

	// Generated is the program whose generated quantities the draws are, as from [fit.Generate];
	// nil: the draws are those of the fit's own model. The report shows its question, text and
	// data.
	Generated *model.Posterior
}

// DefaultSize is [Options.Size] if it is 0.
const DefaultSize = 8 << 20

// Report has everything that is shown about a run, as data.
type Report struct {
	Title    string    `json:"title"`    // title of the report
	Program  string    `json:"program"`  // program that made it, with its version
	Made     time.Time `json:"made"`     // when it was made
	Run      Run       `json:"run"`      // how the run was made
	Findings []Finding `json:"findings"` // problems and remarks

	// Answers say in sentences what was found, with the middle 90 %: about expected outcomes or, if
	// there are none, parameters.
	Answers []string `json:"answers"`

	Fitted *Fitted `json:"fitted,omitempty"` // what was fitted to which data; null if it is not known

	// Choose is a command that makes plots of the quantities that you append to it; "" if there is
	// none.
	Choose string `json:"choose,omitempty"`

	// Summary is the table of quantities, the same as ppl summary prints.
	Summary Summary `json:"summary"`

	Tables  []Table  `json:"tables"`  // chains, predictive checks, estimates
	Kinds   []Kind   `json:"kinds"`   // kinds of plots
	Figures []Figure `json:"figures"` // plots of the run, its variables and its data

	// Kept describes which draws of each chain the quantities have: the first, and every so many
	// after it.
	Kept Kept `json:"kept"`

	// Divergent are the divergent transitions; only some if there are many.
	Divergent []Transition `json:"divergent"`

	Quantities []Quantity `json:"quantities"` // quantities with their plots

	// Notes are remarks on what was left out, and why.
	Notes []string `json:"notes"`

	File string `json:"file,omitempty"` // path of the page of a watched run
}

// Run describes how the run was made.
type Run struct {
	Sampler     string `json:"sampler,omitempty"` // name of the sampler
	Seed        string `json:"seed,omitempty"`    // seed as text, because numbers in JSON are exact only up to 2⁵³
	Warmup      int    `json:"warmup,omitempty"`  // transitions of warm-up per chain
	Draws       int    `json:"draws"`             // draws of all chains
	Divergences *int   `json:"divergences"`       // divergent transitions; null if the sampler does not report them
	Gradients   int64  `json:"gradients"`         // evaluations of the gradient
	Seconds     Number `json:"seconds"`           // wall-clock seconds
	Interrupted bool   `json:"interrupted"`       // whether it was interrupted
	Running     bool   `json:"running"`           // whether the run is going on
	Method      string `json:"method,omitempty"`  // method of an approximation
	Chains      []int  `json:"chains"`            // numbers of the chains in files
}

// Finding is a finding, with the plot that shows it.
type Finding struct {
	diagnose.Finding
	Plot string `json:"plot,omitempty"` // kind of the plot that shows it
}

// Summary is the table of quantities by column.
type Summary struct {
	Name  []string `json:"name"`            // name of each quantity
	Label []string `json:"label,omitempty"` // levels that the indices mean, if the data have them

	// Grouped says which quantities are group-level terms, an element for each level; null if none
	// is.
	Grouped []bool `json:"grouped,omitempty"`

	// Aside says which quantities are shown after the others: constants, and auxiliary variables.
	Aside []bool `json:"aside,omitempty"`

	Mean     []Number `json:"mean"`      // means
	MCSEMean []Number `json:"mcse_mean"` // Monte Carlo standard errors of the means
	SD       []Number `json:"sd"`        // standard deviations
	Q5       []Number `json:"q5"`        // 5 % quantiles
	Q50      []Number `json:"q50"`       // medians
	Q95      []Number `json:"q95"`       // 95 % quantiles
	ESSBulk  []Number `json:"ess_bulk"`  // bulk effective sample sizes
	ESSTail  []Number `json:"ess_tail"`  // tail effective sample sizes
	Rhat     []Number `json:"rhat"`      // rank-normalised split R-hats
}

// Table is a small table of texts and numbers.
type Table struct {
	Kind    string   `json:"kind"`           // chains, states, checks, shrinkage, loo or data
	Title   string   `json:"title"`          // title
	Columns []Column `json:"columns"`        // columns of the table
	Rows    [][]any  `json:"rows"`           // cells: texts and numbers
	Note    string   `json:"note,omitempty"` // note below the table

	// Decimals are those of each row, for columns that leave them to the rows; -1: five
	// significant digits.
	Decimals []int `json:"decimals,omitempty"`
}

// Column says how to format a column's numbers: with Decimals or, if it is -1, with those of the
// row.
type Column struct {
	Name     string `json:"name"`     // heading
	Decimals int    `json:"decimals"` // decimals shown; -1 means those of the row
}

// Kept describes which draws a report has.
type Kept struct {
	Every  int   `json:"every"`  // one in this many draws is kept
	Counts []int `json:"counts"` // draws kept, by chain
}

// Transition is a draw of a chain, both counted from 0.
type Transition struct {
	Chain int `json:"chain"` // chain, from 0
	Draw  int `json:"draw"`  // draw, from 0
}

// Quantity is an element of a variable with its plots.
type Quantity struct {
	Row  int    `json:"row"`  // row in the summary, from 0
	Name string `json:"name"` // name of the quantity

	// Centre is the number to add to each of the draws.
	Centre    Number   `json:"centre"`
	Draws     Packed   `json:"draws"`     // draws that were kept, chain after chain: base64 of little-endian float32
	Divergent Packed   `json:"divergent"` // values at divergent transitions: base64 of little-endian float32
	Figures   []Figure `json:"figures"`   // plots of the quantity

	// Kept describes the draws of this quantity while a run goes on; null: as for the report.
	Kept *Kept `json:"kept,omitempty"`
}

// Limits on the number of draws that are kept.
const (
	manyDraws    = 4000 // maximum number of draws of a quantity, over all chains
	fewDraws     = 1000 // the same, if otherwise fewer quantities would have plots
	maxDivergent = 1000
)

// work is a report under construction.
type work struct {
	ctx    context.Context
	fit    *fit.Fit
	o      Options
	report *Report
	names  []string
	rows   []diagnose.Row

	roles      *predict.Roles
	curved     map[string]bool // variables with plots as curves
	pairs      map[string]bool // simplices of two elements
	candidates []sentence      // candidates for answers
	stated     []statedCurve   // curves with a sentence

	chains []int // chains that have draws
	level  []int // chains to compare; during a run, without the last ones to start
	length int   // number of draws of the shortest of level

	tried      bool               // predictive was called
	replicated *assess.Predictive // nil: the data could not be replicated

	fitted   bool // subjects was called
	outcomes []assess.Individuals
}

// New makes the report of a fit. An error means that the context is done. [Report.Notes] lists
// everything that cannot be shown for other reasons.
func New(ctx context.Context, fit *fit.Fit, o Options) (*Report, error) {
	w := newWork(ctx, fit, o)
	states(w)
	for _, k := range Kinds() {
		switch {
		case k.checks != nil:
			w.add(w.checks(k.checks))
		case k.run != nil && k.Scope != OfPair:
			w.add(k.run(w))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if err := w.quantities(); err != nil {
		return nil, err
	}
	for _, k := range Kinds() {
		if k.Scope == OfPair { // needs the quantities, which have the draws
			w.add(k.run(w))
		}
	}
	w.answers()
	for i := range w.report.Findings {
		w.report.Findings[i].Plot = kindOf(w.report.Findings[i].Code)
	}
	sorting.Stable(w.report.Findings, func(a, b Finding) int { // problems first
		rank := map[bool]int{true: 1}
		return rank[a.Severity != diagnose.Problem] - rank[b.Severity != diagnose.Problem]
	})
	return w.report, ctx.Err()
}

// newWork fills in the parts that need neither plots nor the model.
func newWork(ctx context.Context, fit *fit.Fit, o Options) *work {
	if o.Size == 0 {
		o.Size = DefaultSize
	}
	w := &work{ctx: ctx, fit: fit, o: o, rows: fit.Summary()}
	r := &Report{Title: o.Title, Program: "ppl " + model.Version(), Made: time.Now().UTC().Truncate(time.Second),
		Answers: []string{}, Tables: []Table{}, Kinds: Kinds(), Figures: []Figure{}, Quantities: []Quantity{}, Divergent: []Transition{}, Notes: []string{}}
	w.report = r
	if record := fit.Record(); record != nil && r.Title == "" {
		r.Title = record.Name
	}
	if o.Generated != nil && r.Title == "" {
		r.Title = strings.TrimSuffix(filepath.Base(o.Generated.Name()), filepath.Ext(o.Generated.Name()))
	}
	if r.Title == "" && len(fit.Files) > 0 {
		r.Title = strings.TrimSuffix(filepath.Base(fit.Files[0]), filepath.Ext(fit.Files[0]))
	}
	if r.Title == "" {
		r.Title = "Run"
	}
	w.names = make([]string, len(w.rows))
	s := &r.Summary
	s.Name, s.Label = make([]string, 0, len(w.rows)), fit.Labels()
	for i, row := range w.rows {
		w.names[i] = row.Name
		s.Name = append(s.Name, row.Name)
		for _, c := range []struct {
			to *[]Number
			v  float64
		}{{&s.Mean, row.Mean}, {&s.MCSEMean, row.MCSEMean}, {&s.SD, row.SD}, {&s.Q5, row.Q5}, {&s.Q50, row.Q50}, {&s.Q95, row.Q95},
			{&s.ESSBulk, row.ESSBulk}, {&s.ESSTail, row.ESSTail}, {&s.Rhat, row.Rhat}} {
			*c.to = append(*c.to, Number(c.v))
		}
	}
	w.roles = &predict.Roles{}
	if m, err := fit.Model(); err == nil {
		w.roles = predict.RolesOf(m.Program())
	}
	w.pairs = w.simplicesOfTwo()
	w.levels()
	s.Aside = w.aside()
	r.Fitted = fitted(w)
	w.find(fit.Findings())
	if o.Generated != nil {
		w.note("The quantities were computed at the draws of another run. Its report has the findings about its sampler.")
	}
	if o.Words != nil {
		r.Choose = strings.Join(o.Words([]string{"vars"}), " ")
	}
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	longest := 0
	for chain := range fit.Draws.Chains() {
		if n := fit.Draws.Len(chain); n > 0 {
			w.chains = append(w.chains, chain)
			longest = max(longest, n)
		}
	}
	_, running := fit.InProgress()
	for _, chain := range w.chains {
		if n := fit.Draws.Len(chain); !running || n >= longest/2 {
			if len(w.level) == 0 || n < w.length {
				w.length = n
			}
			w.level = append(w.level, chain)
		}
	}
	if !running && w.length < longest {
		w.note("The chains have different numbers of draws. The summary, and plots of ranks, autocorrelations, effective sample sizes and intervals, use the first %s of each.", draws(w.length))
	}
	w.run()
	w.divergent()
	w.keep()
	return w
}

// add adds figures. Those that have nothing to show, and no reason for it, are left out.
func (w *work) add(figures []Figure) {
	for _, f := range figures {
		if !f.Empty() || f.Note != "" {
			w.report.Figures = append(w.report.Figures, f)
		}
	}
}

// find adds findings, with the program's names of settings in their advice.
func (w *work) find(found []diagnose.Finding) {
	for _, f := range found {
		f.Advice, f.Settings = f.Advice+w.o.options(f.Settings...), nil
		w.report.Findings = append(w.report.Findings, Finding{Finding: f})
	}
}

// options returns a sentence that names the options for settings, to append to a text; "" if they
// have no names.
func (o *Options) options(settings ...string) string {
	if o.Words == nil {
		return ""
	}
	words := o.Words(settings)
	if len(words) == 0 {
		return ""
	}
	return " Options: " + strings.Join(words, ", ") + "."
}

// run describes the run and its chains.
func (w *work) run() {
	r, fit := &w.report.Run, w.fit
	c := fit.Config()
	r.Warmup, r.Interrupted, r.Method = c.Warmup, fit.Report.Interrupted, fit.Approximate()
	r.Seconds = Number(fit.Report.Elapsed.Seconds())
	every, running := fit.InProgress()
	r.Running = running
	if every > 1 {
		w.note("While the chains run, the summary rests on every %s draw; effective sample sizes are those of these draws.", ordinal(every))
	}
	if r.Sampler = samplerName(fit); r.Sampler != "" {
		r.Seed = strconv.FormatUint(c.Seed, 10)
	}
	diverged := 0
	if fit.Draws.Chains() > 0 && slices.ContainsFunc(fit.Draws.Columns().Statistics, func(c sampler.Column) bool { return c.Name == "divergent__" }) {
		r.Divergences = &diverged
	}
	t := Table{Kind: "chains", Title: "Chains", Rows: [][]any{}, Columns: []Column{{"chain", 0}, {"draws", 0}, {"divergent", 0}, {"at depth limit", 0},
		{"accepted", 3}, {"E-BFMI", 2}, {"step size", 4}, {"gradients", 0}, {"seconds", 2}}}
	r.Chains = []int{}
	for i, s := range fit.Sampling() {
		chain := fit.Report.Chains[i]
		r.Draws += s.Draws
		diverged += s.Divergences
		r.Gradients += chain.Warmup.Gradients + chain.Sampling.Gradients
		r.Chains = append(r.Chains, chain.ID)
		t.Rows = append(t.Rows, []any{Number(chain.ID), Number(s.Draws), Number(s.Divergences), Number(s.Saturated), Number(s.AcceptStat),
			Number(s.EBFMI), Number(s.StepSize), Number(chain.Sampling.Gradients), Number((chain.Warmup.Elapsed + chain.Sampling.Elapsed).Seconds())})
		if chain.Err != nil {
			w.note("Chain %d failed: %v", chain.ID, chain.Err)
		}
	}
	if r.Method == "" {
		w.report.Tables = append(w.report.Tables, t)
	}
}

// samplerName returns the name of the sampler in the options or the files; "" if there is none.
func samplerName(fit *fit.Fit) string {
	if record := fit.Record(); record != nil {
		if name := record.Option("sampler"); name != "" {
			return name
		}
		if fit.Approximate() == "" {
			return "nuts"
		}
		return ""
	}
	if row, ok := sampler.RowOf(fit.Config().Sampler); ok && fit.Approximate() == "" {
		return row.Name
	}
	return ""
}

func (w *work) note(format string, args ...any) {
	w.report.Notes = append(w.report.Notes, fmt.Sprintf(format, args...))
}

// divergent lists transitions that diverged. If there are many, it selects some at equal distances.
func (w *work) divergent() {
	var all []Transition
	for _, chain := range w.chains {
		column, ok := w.fit.Draws.Statistic(nil, chain, "divergent__")
		if !ok {
			return
		}
		for i, v := range column {
			if v != 0 {
				all = append(all, Transition{chain, i})
			}
		}
	}
	step := max(1, (len(all)+maxDivergent-1)/maxDivergent)
	for i := 0; i < len(all); i += step {
		w.report.Divergent = append(w.report.Divergent, all[i])
	}
	if step > 1 {
		w.note("%d of %d divergent transitions are marked in plots.", len(w.report.Divergent), len(all))
	}
}

// keep selects the draws that traces and pairs show.
func (w *work) keep() {
	draws := w.report.Run.Draws
	most := manyDraws
	if w.o.Size < len(w.names)*(min(draws, most)*16/3+perQuantity) {
		most = fewDraws
	}
	k := &w.report.Kept
	k.Every = max(1, (draws+most-1)/most)
	k.Counts = []int{}
	for chain := range w.fit.Draws.Chains() {
		k.Counts = append(k.Counts, (w.fit.Draws.Len(chain)+k.Every-1)/k.Every)
	}
	if k.Every > 1 {
		w.note("Traces and pairs show every %s draw.", ordinal(k.Every))
	}
}

// draws returns a number of draws as text.
func draws(n int) string {
	if n == 1 {
		return "1 draw"
	}
	return fmt.Sprintf("%d draws", n)
}

// perQuantity is the approximate number of bytes of a quantity's plots, without its draws.
const perQuantity = 6000

func ordinal(n int) string {
	switch {
	case n == 2:
		return "second"
	case n == 3:
		return "third"
	}
	if n/10%10 != 1 && n%10 >= 1 && n%10 <= 3 {
		return fmt.Sprint(n) + []string{"st", "nd", "rd"}[n%10-1]
	}
	return fmt.Sprintf("%dth", n)
}

// order sorts quantities by importance: the chosen ones, those that findings name, then alternately
// the worst by R-hat and by effective sample size, then all others. must is the number of
// quantities that always have plots.
func (w *work) order() (list []int, must int) {
	seen := make([]bool, len(w.names))
	add := func(i int) {
		if !seen[i] {
			seen[i] = true
			list = append(list, i)
		}
	}
	if w.o.Chosen != nil {
		for i, name := range w.names {
			if w.o.Chosen(name) {
				add(i)
			}
		}
		must = len(list)
	}
	place := make(map[string]int, len(w.names))
	for i, name := range w.names {
		place[name] = i
	}
	for _, f := range w.report.Findings {
		for _, q := range f.Quantities {
			if i, ok := place[q]; ok {
				add(i)
			}
		}
	}
	varies := make([]int, 0, len(w.names))
	for i, r := range w.rows {
		if r.SD > 0 && (w.report.Summary.Aside == nil || !w.report.Summary.Aside[i]) {
			varies = append(varies, i)
		}
	}
	for _, i := range varies { // a page shows the first quantity first
		if w.isPopulation(w.names[i]) && w.rows[i].ESSBulk > 0 {
			add(i)
			break
		}
	}
	byRhat, byESS := slices.Clone(varies), slices.Clone(varies)
	sorting.Stable(byRhat, func(a, b int) int { return cmp.Compare(w.rows[b].Rhat, w.rows[a].Rhat) })
	sorting.Stable(byESS, func(a, b int) int { return cmp.Compare(minESS(w.rows[a]), minESS(w.rows[b])) })
	for i := range varies[:min(len(varies), 50)] {
		add(byRhat[i])
		add(byESS[i])
	}
	for i := range w.names {
		add(i)
	}
	return list, must
}

// minESS returns the smaller of the two effective sample sizes.
func minESS(r diagnose.Row) float64 {
	if r.ESSTail < r.ESSBulk {
		return r.ESSTail
	}
	return r.ESSBulk
}

// quantities makes the plots of as many quantities as there is room for.
func (w *work) quantities() error {
	list, must := w.order()
	w.report.Quantities = make([]Quantity, 0, len(list))
	size := 0
	for first := 0; first < len(list) && (size < w.o.Size || first < must); {
		batch := list[first:min(len(list), first+32)]
		made := make([]Quantity, len(batch))
		sizes, errs := make([]int, len(batch)), make([]error, len(batch))
		var next sync.WaitGroup
		todo := make(chan int)
		for range runtime.GOMAXPROCS(0) {
			next.Go(func() {
				for i := range todo {
					if w.ctx.Err() != nil {
						continue
					}
					func() {
						defer infer.Recover(&errs[i])
						made[i] = w.quantity(batch[i])
						if text, err := json.Marshal(made[i]); err == nil {
							sizes[i] = len(text)
						}
					}()
				}
			})
		}
		for i := range batch {
			todo <- i
		}
		close(todo)
		next.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		for i := range made {
			if size += sizes[i]; size > w.o.Size && first+i >= must && len(w.report.Quantities) > 0 {
				break
			}
			w.report.Quantities = append(w.report.Quantities, made[i])
		}
		first += len(batch)
	}
	if n := len(w.report.Quantities); n < len(w.names) {
		which := "those that findings name and the worst"
		if must > 0 {
			which = "those that were chosen"
			if n > must {
				which += ", those that findings name and the worst"
			}
		}
		w.note("Plots are here for %d of %d quantities: %s.%s", n, len(w.names), which, w.o.options("vars", "size"))
	}
	return nil
}

// Live makes reports during a run, and plots of single quantities.
type Live struct {
	mu   sync.Mutex
	last *work
}

// New makes the report of the fit so far. It has plots of only the two quantities that are shown as
// a pair; see [Live.Quantity]. Everything that runs the model again is left out.
func (l *Live) New(ctx context.Context, fit *fit.Fit, o Options) (*Report, error) {
	o.Quick, o.Size = true, 1
	w := newWork(ctx, fit, o)
	for _, k := range Kinds() {
		if k.Scope == OfPair {
			w.pairOf()
		}
		if k.run != nil && k.Scope != OfData {
			w.report.Figures = append(w.report.Figures, k.run(w)...)
		}
	}
	for i := range w.report.Findings {
		w.report.Findings[i].Plot = kindOf(w.report.Findings[i].Code)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = w
	return w.report, ctx.Err()
}

// pairOf adds the two quantities of [pairs] to the report.
func (w *work) pairOf() {
	list, _ := w.order()
	if len(list) < 2 {
		return
	}
	second := list[1]
	for _, i := range list[1:] {
		if variableOf(w.names[i]) != variableOf(w.names[list[0]]) && w.rows[i].SD > 0 {
			second = i
			break
		}
	}
	w.report.Quantities = nil
	for _, i := range []int{list[0], second} {
		q := w.quantity(i)
		q.Kept = &w.report.Kept
		w.report.Quantities = append(w.report.Quantities, q)
	}
}

// Quantity makes the plots of a quantity, given its index in the summary of the last report of New;
// ok is false if there is none.
func (l *Live) Quantity(i int) (q Quantity, ok bool) {
	l.mu.Lock()
	w := l.last
	l.mu.Unlock()
	if w == nil || i < 0 || i >= len(w.names) {
		return q, false
	}
	q = w.quantity(i)
	q.Kept = &w.report.Kept
	return q, true
}

// quantity makes the plots of one quantity.
func (w *work) quantity(i int) Quantity {
	c := w.columns(i)
	q := Quantity{Row: i, Name: w.names[i], Draws: Packed{}, Divergent: Packed{}}
	if m := w.rows[i].Q50; !math.IsNaN(m) && !math.IsInf(m, 0) {
		q.Centre = Number(m)
	}
	for _, column := range c.all {
		for k := 0; k < len(column); k += w.report.Kept.Every {
			q.Draws = append(q.Draws, float32(column[k]-float64(q.Centre)))
		}
	}
	for _, t := range w.report.Divergent {
		v := math.NaN()
		if t.Draw < len(c.all[t.Chain]) {
			v = c.all[t.Chain][t.Draw]
		}
		q.Divergent = append(q.Divergent, float32(v-float64(q.Centre)))
	}
	for _, k := range Kinds() {
		if k.quantity != nil {
			f := k.quantity(w, c)
			f.Kind, f.Of = k.Name, []string{q.Name}
			q.Figures = append(q.Figures, f)
		}
	}
	return q
}
