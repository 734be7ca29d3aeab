package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/model"
)

// Fit is the result of [Sample], or a run that was read back. [Fit.Err] reports a nil or zero Fit.
type Fit struct {
	// Draws holds all draws with the sampler's statistics, by chain.
	Draws *draws.Store

	// Report has step sizes, metrics, counts of gradients and divergences,
	// times and rejections of each chain.
	Report infer.Report

	// Files are the complete files of [Options.Output].
	Files []string

	// Tables are CSV files with the results of tuning a kernel, such as the visited points and the
	// surface of ahmc. They are in a separate folder: out/tuning/fit_1_surface.csv.
	Tables []string

	// Salvaged lists the chains with damaged files, after a run was resumed with [Options.Salvage].
	Salvaged []draws.DamagedChain

	// SetBack lists the chains that lost time but no draws when the run was resumed: data that they
	// had not synced yet were damaged, as after a power failure.
	SetBack []draws.DamagedChain

	// FromPrior says that the parameters are draws from the prior.
	FromPrior bool

	// GeneratedFrom is the folder of the run at whose draws these quantities were generated; "" for
	// other fits, and if the files do not record it.
	GeneratedFrom string

	posterior *model.Posterior // nil for a fit that was read, until it is needed
	dir       string           // folder from which the fit was read
	record    *folder.Record   // record of a fit that was read
	source    *folder.Source   // model of a fit read from an archive, which is not read again
	values    *data.Set        // data of a fit read from an archive
	packed    bool             // names in files are written without their folder
	read      ReadOptions      // limits for reading further files of a fit that was read
	head      []draws.Setting  // settings in the files of a fit that was read
	config    infer.Config     // with its defaults filled in
	sigFigs   int              // significant digits in files; 0: the numbers are exact
	rounded   int              // significant digits to which the draws were rounded before they were read; 0: exact
	started   time.Time
	density   *folder.Density // result of the self-check
	running   bool            // the chains still run, see Run.SoFar
	every     int             // if running, Summary uses only one of this many draws

	summarizing sync.Mutex
	figures     diagnose.Figures // empty until computed

	labelled sync.Once
	labels   []string
	indices  map[string][]arrays.Factor // of generated quantities, see [Fit.VariableFactors]

	numbered sync.Once
	numbers  map[string]int // index of each quantity, by its readable name and its name in files

	parallel int // see Options.Parallel; 0: GOMAXPROCS
}

// complete reports whether all chains have ended normally.
func (f *Fit) complete() bool {
	return !f.Report.Interrupted && !slices.ContainsFunc(f.Report.Chains, func(c infer.ChainReport) bool { return c.Err != nil })
}

// InProgress reports whether the chains still run, see [Run.SoFar]. The summary of a running run
// uses only every n-th draw if there are many, and its effective sample sizes are those of these
// draws; every is n.
func (f *Fit) InProgress() (every int, running bool) {
	if f == nil {
		return 1, false
	}
	return max(f.every, 1), f.running
}

// Err returns nil for a fit made by [Sample] or a reader, and an error for a nil or zero Fit.
func (f *Fit) Err() error {
	if f == nil || f.Draws == nil {
		return errors.New("ppl: there is no fit; Sample makes one, and ReadFit reads one")
	}
	return nil
}

// Close closes the files from which Draws are read back, if any, after a run with
// [Options.Resumable]. Do not use Draws, or methods that need them, afterwards. Without Close, the
// files are released with the Fit.
func (f *Fit) Close() error {
	if f.Err() != nil {
		return nil
	}
	return f.Draws.Close()
}

// Config returns the configuration of the run, with all defaults filled in.
func (f *Fit) Config() infer.Config {
	if f == nil {
		return infer.Config{}
	}
	return f.config
}

// Rounded is the number of significant digits to which the draws were rounded before they were
// read; 0: they are exact.
func (f *Fit) Rounded() int {
	if f == nil {
		return 0
	}
	return f.rounded
}

// Names returns the names of the quantities as [model.Posterior.OutputNames] does: theta.1.
func (f *Fit) Names() []string {
	if f.Err() != nil {
		return nil
	}
	return f.Draws.Names()
}

// Summary returns one row per quantity: mean, standard deviation, quantiles, their precision and
// the agreement of the chains. Elements are named theta[1]. It is computed at the first call, by
// [Options.Parallel] goroutines. Do not modify the slice. [Fit.Quantity] and [Fit.Variable] find
// rows by name.
func (f *Fit) Summary() []diagnose.Row {
	rows, _ := f.SummaryContext(context.Background())
	return rows
}

// SummaryContext is [Fit.Summary], but stops when ctx ends; the error is then the cause of ctx.
func (f *Fit) SummaryContext(ctx context.Context) ([]diagnose.Row, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	figures, err := f.figuresWith(ctx, false)
	return figures.Rows, err
}

// figuresWith returns the figures of the summary, with precisions if they are asked for. It
// computes them unless that is already done.
func (f *Fit) figuresWith(ctx context.Context, precisions bool) (diagnose.Figures, error) {
	f.summarizing.Lock()
	defer f.summarizing.Unlock()
	if f.figures.Rows != nil && (!precisions || f.figures.Precisions != nil) {
		return f.figures, nil
	}
	d := f.displayed()
	if f.every > 1 {
		d = thinned{d, f.every}
	}
	figures, err := (&diagnose.Summarizer{Parallel: f.parallel}).FiguresContext(ctx, d, precisions)
	if err == nil {
		f.figures = figures
	}
	return figures, err
}

// SummaryOf computes [Fit.Summary] for some quantities and measures. The quantities are indices in
// [Fit.Names]; nil means all. It computes anew at each call. The summarizer s, which may be nil,
// reuses memory from one fit to the next.
func (f *Fit) SummaryOf(s *diagnose.Summarizer, quantities []int, measures diagnose.Measures) []diagnose.Row {
	if f.Err() != nil {
		return nil
	}
	if s == nil {
		s = &diagnose.Summarizer{}
	}
	return s.Rows(f.displayed(), quantities, measures)
}

// The summary of a running run takes time from its chains. So it uses at most about
// summarisedNumbers numbers in total, but at least summarisedDraws draws.
const (
	summarisedNumbers = 2_000_000
	summarisedDraws   = 1000
)

// watched prepares the current fit of a running run.
func (f *Fit) watched() *Fit {
	draws := 0
	for i := range f.Draws.Chains() {
		draws += f.Draws.Len(i)
	}
	f.running = true
	f.every = max(1, draws/max(summarisedDraws, summarisedNumbers/max(1, len(f.Draws.Names()))))
	return f
}

// thinned has every n-th draw of each chain, without the statistics of the sampler.
type thinned struct {
	diagnose.Draws
	every int
}

func (t thinned) Len(chain int) int { return (t.Draws.Len(chain) + t.every - 1) / t.every }

func (t thinned) Column(dst []float64, chain, quantity int) []float64 {
	for i, v := range t.Draws.Column(nil, chain, quantity) {
		if i%t.every == 0 {
			dst = append(dst, v)
		}
	}
	return dst
}

// Precision returns the Monte Carlo standard errors of the figures of Summary, row by row. It is
// computed at the first call; do not modify the slice. To save time, call it before Summary.
func (f *Fit) Precision() []diagnose.Precision {
	if f.Err() != nil {
		return nil
	}
	figures, _ := f.figuresWith(context.Background(), true)
	return figures.Precisions
}

// Findings lists problems with the run, with advice: divergences, chains that disagree, too few
// effective draws. It is empty if there are none.
func (f *Fit) Findings() []diagnose.Finding {
	if f.Err() != nil {
		return nil
	}
	return f.FindingsOf(f.Summary())
}

// FindingsOf is [Fit.Findings] computed from rows of [Fit.SummaryOf]. It checks only the quantities
// and measures in these rows.
func (f *Fit) FindingsOf(rows []diagnose.Row) []diagnose.Finding {
	if f.Err() != nil {
		return nil
	}
	var numbers []int
	for _, c := range f.Report.Chains {
		numbers = append(numbers, c.ID)
	}
	found := diagnose.Check(f.displayed(), rows, diagnose.Options{
		Chains:       numbers,
		MaxTreeDepth: f.maxTreeDepth(),
		PlannedDraws: (f.planned() + f.config.Thin - 1) / f.config.Thin,
		Fixed:        f.mayStay(),
	})
	if i := slices.IndexFunc(found, func(d diagnose.Finding) bool { return d.Code == "no-draws" }); i >= 0 {
		f.noDraws(&found[i])
		return found
	}
	if f.running { // a running run has few draws so far, which is not a finding
		found = slices.DeleteFunc(found, func(d diagnose.Finding) bool {
			return d.Code == "incomplete" || d.Code == "few-draws" || d.Code == "one-chain" || d.Code == "ess" && f.every > 1
		})
	}
	if f.independent() { // chains do not matter, so findings about them do not apply
		found = slices.DeleteFunc(found, func(d diagnose.Finding) bool {
			return slices.Contains([]string{"acceptance", "stuck-chain", "rhat", "ess", "one-chain", "shared-start", "few-draws"}, d.Code)
		})
	}
	f.rejecting(found)
	found = f.approximationFindings(found)
	events, improper := f.fromEvents(rows), f.improper(rows)
	if len(improper) > 0 { // an improper posterior has no total mass, so its modes have no shares
		events = slices.DeleteFunc(events, func(d diagnose.Finding) bool { return d.Code == infer.EventModes || d.Code == infer.EventLegs })
	}
	// Findings that explain others come first.
	return slices.Insert(found, 0, slices.Concat(selfcheck.Findings(f.DensityCheck()), improper, events, f.failedQuantities(), f.slowly(), f.counted())...)
}

// noDraws replaces the advice about a run without draws if no chain has failed.
func (f *Fit) noDraws(found *diagnose.Finding) {
	switch failed := slices.ContainsFunc(f.Report.Chains, func(c infer.ChainReport) bool { return c.Err != nil }); {
	case failed:
	case f.Report.Interrupted:
		found.First = "resume the run, or repeat it"
		found.Advice, found.Settings = "The run was interrupted before the first draw. Resume it, or repeat it.", nil
	case f.config.Draws == 0 && (f.record != nil || f.head == nil && f.source == nil): // otherwise the planned number of draws is unknown
		found.First = "set the number of draws"
		found.Advice, found.Settings = "The run was asked for a warm-up alone. To get draws, set their number.", []string{"draws"}
	}
}

// independent reports whether only generated quantities vary, because the parameters are fixed or
// there are none. The energy is then also the same at every draw.
func (f *Fit) independent() bool {
	if f.fixed() {
		return true
	}
	for chain := range f.Draws.Chains() {
		energies, ok := f.Draws.Statistic(nil, chain, "energy__")
		if !ok || len(energies) < 2 || slices.ContainsFunc(energies, func(e float64) bool { return e != energies[0] }) {
			return false
		}
	}
	return f.Draws.Chains() > 0
}

// fixed reports whether the sampler leaves the parameters at their initial values.
func (f *Fit) fixed() bool {
	_, fixed := f.config.Sampler.(sampler.Fixed)
	return fixed
}

// Checked describes what a run without findings was checked for, and what no check can detect.
func (f *Fit) Checked() string {
	if f.Err() != nil {
		return ""
	}
	switch method := f.Approximate(); {
	case f.fixed():
		return "Nothing was sampled: parameters, if the model has any, keep the initial values of their chain. What the model draws at random is independent from draw to draw."
	case f.independent():
		return "The draws are independent: no parameters were sampled, so there is nothing that chains could miss."
	case method != "":
		return "Checked: how close the approximation is to the posterior, by the weights of its draws."
	}
	n := 0
	for i := range f.Draws.Chains() {
		n += min(1, f.Draws.Len(i))
	}
	what := "effective sample sizes"
	if n > 1 {
		what = fmt.Sprintf("agreement of %d independent chains, effective sample sizes", n)
	}
	for _, s := range []struct{ statistic, what string }{{"divergent__", "divergences"}, {"energy__", "energy"}} {
		if _, ok := f.Draws.Statistic(nil, 0, s.statistic); ok {
			what += ", " + s.what
		}
	}
	return "Checked: " + what + ". Modes that no chain reached cannot be seen."
}

// rejecting changes the advice about divergences if the model rejected points after warm-up. A
// trajectory ends where the density is zero, so smaller steps do not help. Rejections in warm-up do
// not count, nor do divergences there.
func (f *Fit) rejecting(found []diagnose.Finding) {
	const most = 0.5 // of the divergent transitions
	i := slices.IndexFunc(found, func(d diagnose.Finding) bool { return d.Code == "divergences" })
	rejected, diverged := 0, 0
	for _, c := range f.Report.Chains {
		rejected += c.Sampling.Rejected
		diverged += c.Sampling.Divergences
	}
	if i < 0 || rejected == 0 {
		return
	}
	times := "once"
	if rejected > 1 {
		times = fmt.Sprintf("%d times", rejected)
	}
	const bounds = "Declare the bounds of the region where the density is positive, such as real<lower=0>, or compute what is rejected on the log scale. The warnings of the run name the statements."
	if float64(rejected) < most*float64(diverged) {
		found[i].Brief += fmt.Sprintf(", and the model rejected a point %s", times)
		found[i].First = "declare bounds that exclude them"
		found[i].Summary += fmt.Sprintf(" After warm-up the model rejected a point %s; some of these transitions end where its density is zero.", times)
		found[i].Advice = bounds + " " + found[i].Advice
		return
	}
	found[i].Brief += ", where the model rejected points"
	found[i].First = "declare bounds that exclude them"
	found[i].Summary += fmt.Sprintf(" After warm-up the model rejected a point %s; such transitions end where its density is zero.", times)
	found[i].Advice = "Smaller steps do not help. " + bounds
	found[i].Settings = nil // these settings make steps smaller, which does not help
}

// maxTreeDepth is the maximum tree depth of the sampler, or -1 if it has none.
func (f *Fit) maxTreeDepth() int {
	switch s := plain(f.config.Sampler).(type) {
	case nuts.Sampler:
		return s.MaxDepth
	case nuts.Sampler2011:
		return s.MaxDepth
	case auto.Sampler:
		return s.MaxDepth
	}
	return -1
}

// Divergences lists the divergent transitions, with the values of their draws in the order of
// [Fit.Names].
func (f *Fit) Divergences() []diagnose.Divergence {
	if f.Err() != nil {
		return nil
	}
	return diagnose.Divergences(f.Draws)
}

// Sampling returns the sampler's statistics for each chain: divergences, trees of the maximum
// depth, E-BFMI and so on.
func (f *Fit) Sampling() []diagnose.Sampling {
	if f.Err() != nil {
		return nil
	}
	return diagnose.SamplingOf(f.displayed(), f.maxTreeDepth())
}

// Efficiency relates the smallest effective sample sizes to the number of gradients and to the
// total time of the chains, which exceeds wall-clock time if chains run in parallel. Evaluations of
// a Riemannian metric count as the number of gradients that take as long.
func (f *Fit) Efficiency() diagnose.Efficiency {
	if f.Err() != nil {
		return diagnose.Efficiency{}
	}
	var warm, samp, warmSeconds, sampSeconds float64
	for _, c := range f.Report.Chains {
		warm += c.Warmup.Cost()
		samp += c.Sampling.Cost()
		warmSeconds += c.Warmup.Elapsed.Seconds()
		sampSeconds += c.Sampling.Elapsed.Seconds()
	}
	figures, _ := f.figuresWith(context.Background(), false)
	return diagnose.EfficiencyOf(figures.Rows, figures.Squares, warm, samp, warmSeconds, sampSeconds)
}

// planned is the number of transitions of a complete chain.
func (f *Fit) planned() int {
	if n := f.Report.Enough; n > 0 {
		return n
	}
	return f.config.Draws
}

// plain returns the sampler without the geometry that package sampler may have added to it.
func plain(s infer.Sampler) infer.Sampler {
	if g, ok := s.(sampler.Geometric); ok {
		return g.Sampler
	}
	return s
}

// displayed is a store of draws in which quantities have their readable names.
type displayed struct {
	*draws.Store
	names    []string
	arrivals []int         // by chain, see [diagnose.Arrived]
	phases   []infer.Phase // statistics of sampling, by chain
	least    int           // chains with fewer draws than this count as empty
}

// Diverged implements [diagnose.Thinned].
func (d displayed) Diverged(chain int) (divergent, transitions int, ok bool) {
	if chain >= len(d.phases) || d.phases[chain].Transitions < d.Store.Len(chain) {
		return 0, 0, false // unknown for draws that were read without the report of their run
	}
	return d.phases[chain].Divergences, d.phases[chain].Transitions, true
}

// Arrivals implements [diagnose.Arrived].
func (d displayed) Arrivals() []int { return d.arrivals }

func (d displayed) Names() []string { return d.names }

func (d displayed) Len(chain int) int {
	if n := d.Store.Len(chain); n >= d.least {
		return n
	}
	return 0
}

func (f *Fit) displayed() diagnose.Draws {
	d := displayed{Store: f.Draws, names: slices.Clone(f.Draws.Names())}
	for i, name := range d.names {
		d.names[i] = diagnose.DisplayName(name)
	}
	for _, c := range f.Report.Chains {
		d.arrivals = append(d.arrivals, c.Arrival)
		d.phases = append(d.phases, c.Sampling)
	}
	if f.running { // so that a chain that has just begun does not shorten the others
		for chain := range f.Draws.Chains() {
			d.least = max(d.least, f.Draws.Len(chain)/2)
		}
	}
	return d
}

// DensityCheck returns the result of comparing the compiled log density with the reference
// evaluator. It is nil if that is unknown, because an older version made the run or only its draws
// were read.
func (f *Fit) DensityCheck() *folder.Density {
	switch {
	case f == nil:
		return nil
	case f.density == nil && f.record != nil:
		return f.record.Density
	}
	return f.density
}
