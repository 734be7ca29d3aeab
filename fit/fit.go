package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
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

// Fit is the outcome of [Sample]. Only that makes one: the methods of a nil Fit, or
// of one that was made otherwise, panic.
type Fit struct {
	// Draws holds all draws with the sampler's statistics, by chain.
	Draws *draws.Store

	// Report has step sizes, metrics, counts of gradients and divergences,
	// times and rejections of each chain.
	Report infer.Report

	// Files are the CSV files that [Options.Output] has asked for, complete.
	Files []string

	// Tables are CSV files in a folder beside them with what a kernel has learnt,
	// such as the points visited and the surface of ahmc:
	// out/tuning/fit_1_surface.csv.
	Tables []string

	// Salvaged says of a run that was resumed with [Options.Salvage] which chains
	// had damaged files.
	Salvaged []draws.DamagedChain

	// SetBack says of a run that was resumed which chains have lost time, but no draws: what
	// they had not synced yet was not whole, as after a loss of power.
	SetBack []draws.DamagedChain

	// FromPrior says that the parameters are draws from the prior.
	FromPrior bool

	posterior *model.Posterior // nil of draws that were read, until it is asked for
	dir       string           // of a fit that was read
	record    *folder.Record   // likewise
	source    *folder.Source   // of one that was read from an archive, which is not looked at again
	values    *data.Set        // of the same
	packed    bool             // files name themselves without their folder, which is not kept
	read      ReadOptions      // likewise
	head      []draws.Setting  // of a fit that was read: what its files say of how it was made
	config    infer.Config     // with its defaults filled in
	sigFigs   int              // of files; 0: the numbers are exact
	rounded   int              // digits that the draws were rounded to before they were read; 0: to none
	started   time.Time
	density   *folder.Density // what came of comparing it with the reference
	running   bool            // the chains go on, see Run.SoFar
	every     int             // Summary then rests on every so manieth draw

	summarizing sync.Mutex
	rows        []diagnose.Row // nil: not computed yet

	labelled sync.Once
	labels   []string

	numbered sync.Once
	numbers  map[string]int // of quantities, by both their names

	parallel int // see Options.Parallel; 0: GOMAXPROCS
}

// complete reports whether all chains have come to their end.
func (f *Fit) complete() bool {
	return !f.Report.Interrupted && !slices.ContainsFunc(f.Report.Chains, func(c infer.ChainReport) bool { return c.Err != nil })
}

// InProgress reports whether the chains go on, see [Run.SoFar]. Of many draws, the
// summary then rests on every n-th, and effective sample sizes are those of these.
func (f *Fit) InProgress() (every int, running bool) {
	if f == nil {
		return 1, false
	}
	return max(f.every, 1), f.running
}

// Err is nil for a fit that [Sample] or a reader has made. For a nil or zero one it says so.
func (f *Fit) Err() error {
	if f == nil || f.Draws == nil {
		return errors.New("ppl: there is no fit; Sample makes one, and ReadFit reads one")
	}
	return nil
}

// Close releases the files of a run with [Options.Resumable] that Draws are read
// back from, if any. Draws and what is computed from them are then no longer to
// be asked for. Without it, they are released with the Fit.
func (f *Fit) Close() error {
	if f.Err() != nil {
		return nil
	}
	return f.Draws.Close()
}

// Config is how the run was made, with all defaults filled in.
func (f *Fit) Config() infer.Config {
	if f == nil {
		return infer.Config{}
	}
	return f.config
}

// Rounded is the number of significant digits that the draws were rounded to before they were
// read; 0: they are exact.
func (f *Fit) Rounded() int {
	if f == nil {
		return 0
	}
	return f.rounded
}

// Names names the quantities as [model.Posterior.OutputNames] does: theta.1.
func (f *Fit) Names() []string {
	if f.Err() != nil {
		return nil
	}
	return f.Draws.Names()
}

// Summary has one row per quantity: mean, standard deviation, quantiles, how
// precise they are and whether the chains agree. Elements are named theta[1].
// It is computed at the first call, by as many goroutines as [Options.Parallel] says; the slice
// is not to be modified. [Fit.Quantity] and [Fit.Variable] find rows by name.
func (f *Fit) Summary() []diagnose.Row {
	rows, _ := f.SummaryContext(context.Background())
	return rows
}

// SummaryContext is [Fit.Summary] that ends when ctx does; the error is then its cause.
func (f *Fit) SummaryContext(ctx context.Context) ([]diagnose.Row, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	f.summarizing.Lock()
	defer f.summarizing.Unlock()
	if f.rows == nil {
		d := f.displayed()
		if f.every > 1 {
			d = thinned{d, f.every}
		}
		rows, err := (&diagnose.Summarizer{Parallel: f.parallel}).RowsContext(ctx, d, nil, diagnose.AllMeasures)
		if err != nil {
			return nil, err
		}
		f.rows = rows
	}
	return f.rows, nil
}

// SummaryOf is [Fit.Summary] of some quantities, by their numbers among [Fit.Names], and
// measures, anew at each call. nil are all quantities. What the summarizer keeps, it keeps
// for other fits.
func (f *Fit) SummaryOf(s *diagnose.Summarizer, quantities []int, measures diagnose.Measures) []diagnose.Row {
	if f.Err() != nil {
		return nil
	}
	if s == nil {
		s = &diagnose.Summarizer{}
	}
	return s.Rows(f.displayed(), quantities, measures)
}

// What is computed of a run while it goes on takes time from the chains. Its summary
// rests on as many draws as are this many numbers, but on so many draws at least.
const (
	summarisedNumbers = 2_000_000
	summarisedDraws   = 1000
)

// watched is the fit so far of a run that goes on.
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

// Precision says how precise the figures of Summary are, row by row.
func (f *Fit) Precision() []diagnose.Precision {
	if f.Err() != nil {
		return nil
	}
	return diagnose.Precisions(f.Draws)
}

// Findings says what is wrong with the run, with advice: divergences, chains
// that disagree, too few effective draws. It is empty if nothing is.
func (f *Fit) Findings() []diagnose.Finding {
	if f.Err() != nil {
		return nil
	}
	return f.FindingsOf(f.Summary())
}

// FindingsOf is [Fit.Findings] by rows of [Fit.SummaryOf]: of quantities and measures that
// are not among these nothing is said.
func (f *Fit) FindingsOf(rows []diagnose.Row) []diagnose.Finding {
	if f.Err() != nil {
		return nil
	}
	found := diagnose.Check(f.displayed(), rows, diagnose.Options{
		MaxTreeDepth: f.maxTreeDepth(),
		PlannedDraws: (f.planned() + f.config.Thin - 1) / f.config.Thin,
	})
	if i := slices.IndexFunc(found, func(d diagnose.Finding) bool { return d.Code == "no-draws" }); i >= 0 {
		return found
	}
	if f.running { // that there are few draws yet is no finding
		found = slices.DeleteFunc(found, func(d diagnose.Finding) bool {
			return d.Code == "incomplete" || d.Code == "few-draws" || d.Code == "one-chain" || d.Code == "ess" && f.every > 1
		})
	}
	if f.independent() { // there is nothing that chains could find, or miss
		found = slices.DeleteFunc(found, func(d diagnose.Finding) bool {
			return slices.Contains([]string{"acceptance", "stuck-chain", "rhat", "ess", "one-chain", "shared-start", "few-draws"}, d.Code)
		})
	}
	f.rejecting(found)
	found = f.approximationFindings(found)
	events, improper := f.fromEvents(rows), f.improper(rows)
	if len(improper) > 0 { // without a total mass there are no shares of modes
		events = slices.DeleteFunc(events, func(d diagnose.Finding) bool { return d.Code == infer.EventModes || d.Code == infer.EventLegs })
	}
	// First what explains the others.
	return slices.Insert(found, 0, slices.Concat(selfcheck.Findings(f.DensityCheck()), improper, events, f.failedQuantities(), f.slowly())...)
}

// independent reports whether the draws are of generated quantities alone: the parameters stayed
// where they were, or there are none. Then the energy, too, is the same at every draw.
func (f *Fit) independent() bool {
	if _, still := f.config.Sampler.(sampler.Fixed); still {
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

// Checked says what a run without findings was checked for, and what no check can see.
func (f *Fit) Checked() string {
	if f.Err() != nil {
		return ""
	}
	switch method := f.Approximate(); {
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

// rejecting gives other advice about divergences that are rejections: a trajectory ends where
// the model has no density, however small its steps are.
func (f *Fit) rejecting(found []diagnose.Finding) {
	const most = 0.5 // of the divergent transitions
	i := slices.IndexFunc(found, func(d diagnose.Finding) bool { return d.Code == "divergences" })
	rejected, diverged := 0, 0
	for _, c := range f.Report.Chains {
		rejected += c.Rejected
		diverged += c.Warmup.Divergences + c.Sampling.Divergences
	}
	if i < 0 || float64(rejected) < most*float64(diverged) {
		return
	}
	found[i].Summary += fmt.Sprintf(" The model rejected %d evaluations; such transitions end where it has no density.", rejected)
	found[i].Advice = "Smaller steps do not help them. Declare the bounds within which the model has a density (real<lower=0>), or compute what is rejected on the log scale. The warnings of the run name the statements that reject."
	found[i].Settings = nil // they make steps smaller
}

// maxTreeDepth is the limit of a sampler that has one, else -1.
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

// Divergences lists the transitions that diverged, with the values of their
// draws as [Fit.Names] names them.
func (f *Fit) Divergences() []diagnose.Divergence {
	if f.Err() != nil {
		return nil
	}
	return diagnose.Divergences(f.Draws)
}

// Sampling tells for each chain how its sampler has fared: divergences, trees
// of the largest depth, E-BFMI and so on.
func (f *Fit) Sampling() []diagnose.Sampling {
	if f.Err() != nil {
		return nil
	}
	return diagnose.SamplingOf(f.displayed(), f.maxTreeDepth())
}

// Efficiency relates the least effective sample sizes to the gradients and to
// the chains' own time, which is more than wall-clock time where chains run in
// parallel. Evaluations of a Riemannian metric are charged as the gradients that
// take as long.
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
	return diagnose.EfficiencyOf(f.Summary(), diagnose.Squares(f.Draws), warm, samp, warmSeconds, sampSeconds)
}

// planned is the number of transitions that a complete chain has.
func (f *Fit) planned() int {
	if n := f.Report.Enough; n > 0 {
		return n
	}
	return f.config.Draws
}

// plain is a sampler without the geometry that package sampler has put around
// it.
func plain(s infer.Sampler) infer.Sampler {
	if g, ok := s.(sampler.Geometric); ok {
		return g.Sampler
	}
	return s
}

// displayed is the draws with the names that people read.
type displayed struct {
	*draws.Store
	names    []string
	arrivals []int         // by chain, see [diagnose.Arrived]
	phases   []infer.Phase // of sampling, by chain
	least    int           // draws of a chain, else it counts as empty
}

// Diverged implements [diagnose.Thinned].
func (d displayed) Diverged(chain int) (divergent, transitions int, ok bool) {
	if chain >= len(d.phases) || d.phases[chain].Transitions < d.Store.Len(chain) {
		return 0, 0, false // of draws without their run, nothing is known
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
	if f.running { // a chain that has only begun is not to cut the others to its length
		for chain := range f.Draws.Chains() {
			d.least = max(d.least, f.Draws.Len(chain)/2)
		}
	}
	return d
}

// DensityCheck is what came of comparing the compiled log density with the reference evaluator;
// nil where nothing is known of it: of a run of an older version, or of draws without their run.
func (f *Fit) DensityCheck() *folder.Density {
	switch {
	case f == nil:
		return nil
	case f.density == nil && f.record != nil:
		return f.record.Density
	}
	return f.density
}
