package diagnose

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// The limits of the checks.
const (
	// maxRhat is the threshold of Vehtari et al. (2021), section 4.
	maxRhat = 1.01
	// minESSPerChain is the threshold of the same paper for both bulk and tail. Below it, the
	// estimates of R-hat and ESS are themselves unreliable.
	minESSPerChain = 100
	// minEBFMI is the usual threshold (Stan's diagnose, Betancourt 2016).
	minEBFMI = 0.3
	// minDrawsPerChain is the number of draws below which half-chains are too short to judge.
	minDrawsPerChain = 100
	// minAcceptance is far below every theory's optimum (0.65 for static
	// HMC, 0.8 for NUTS as adapted).
	minAcceptance = 0.3
	// minRestarts is the minimum for a chain of parallel tempering. With as many restarts, the
	// standard error of a share of one half is 0.1.
	minRestarts = 25
)

// Severity distinguishes problems from remarks.
type Severity string

// The severities.
const (
	Problem Severity = "problem" // the estimates should not be used as they are
	Note    Severity = "note"    // worth knowing; may well be intended
)

// Finding is one remark of a careful statistician about a run. Advice names no options of a
// program: Settings has their names, such as "warmup" or "delta=0.95", which each front end
// translates to its own.
type Finding struct {
	Code       string   `json:"code"`                 // stable, such as rhat
	Severity   Severity `json:"severity"`             // problem or note
	Summary    string   `json:"summary"`              // the finding in one line, with figures
	Brief      string   `json:"brief,omitempty"`      // the finding as a clause, for lists; "": Summary is short
	First      string   `json:"first,omitempty"`      // what to do first, in a few words that follow Brief
	Advice     string   `json:"advice"`               // what to do about it
	Settings   []string `json:"settings,omitempty"`   // settings to change, as name or name=value
	Quantities []string `json:"quantities,omitempty"` // quantities concerned, the worst first
}

// LogValue implements [slog.LogValuer].
func (f Finding) LogValue() slog.Value {
	return slog.GroupValue(slog.String("code", f.Code), slog.String("severity", string(f.Severity)), slog.String("summary", f.Summary))
}

// Options has facts about the run that the draws do not show.
type Options struct {
	MaxTreeDepth int // the limit of NUTS in the run; 0: 10, negative: do not check
	PlannedDraws int // per chain; 0: unknown
	Quantities   int // maximum number listed per finding; 0: 5

	// Fixed reports whether the type of a quantity fixes its value, as in the upper triangle of a
	// Cholesky factor. That such a quantity is constant is no finding. nil: there are none.
	Fixed func(name string) bool

	Chains []int // the numbers by which findings name the chains; nil: from 1
}

// evidence is the input of the checks, computed once.
type evidence struct {
	draws   Draws
	rows    []Row
	options Options
	chains  []int // the chains with draws
	length  int   // length of the shortest of them
}

// found is what a check has found. An empty summary means that there is no problem.
type found struct {
	summary    string
	brief      string   // see Finding
	quantities []string // concerned, the worst first
}

// A check looks for one problem.
type check struct {
	code     string
	severity Severity
	find     func(*evidence) found
	first    string // of the advice, in a few words
	advice   string
	settings []string // settings that the advice is about
}

// checks lists all checks in the order in which you should read findings: first whether there is a
// run at all, then the geometry, then convergence, then precision.
var checks = []check{
	{"no-draws", Problem, findNoDraws, "see the errors of the chains, or give initial values",
		"See the chains' errors. Usually ppl found no starting point with a finite log density. Give initial values, or narrow the range from which they are drawn.", []string{"init"}},
	{"incomplete", Problem, findIncomplete, "resume the run, or repeat it",
		"The run was interrupted, or chains failed. The summary cuts each chain to the length of the shortest. Resume or repeat the run before you use the summary.", nil},
	{"few-draws", Problem, findFewDraws, "make more draws",
		"With so few draws R-hat and ESS cannot be trusted either. Make more draws per chain.", []string{"draws"}},
	{"stuck-chain", Problem, findStuckChain, "look at where it starts, or give initial values",
		"A chain that never moves has a step size that is far too large, or started where every step is rejected. Look at its start, tighten the priors or give initial values.", []string{"init"}},
	{"divergences", Problem, findDivergences, "reparametrise, or take smaller steps",
		"The sampler missed a region of high curvature, so estimates are biased. If quantities are named, the region is where they are extreme. Reparametrise (for instance, non-centre hierarchical effects), or tighten weak priors. Otherwise make the step size smaller: raise the target acceptance, or lower a fixed step size.", []string{"delta=0.95", "stepsize"}},
	{"treedepth", Problem, findTreeDepth, "rescale parameters, or try a dense metric",
		"Trajectories were cut short: the draws are valid but inefficient. Rescale or reparametrise so that the parameters have similar scales and little correlation. Or try a dense metric, or allow deeper trees.", []string{"metric=dense_e", "max-depth"}},
	{"acceptance", Problem, findAcceptance, "lengthen the warm-up",
		"Most proposals were rejected. Lengthen the warm-up so that the step size can adapt, or lower the step size.", []string{"warmup", "stepsize"}},
	{"restarts", Problem, findRestarts, "lengthen the warm-up",
		"Draws become independent of earlier ones only at a restart, so the shares of the modes are imprecise. Use a longer warm-up (it fits the reference better), more draws or more replicas.", []string{"warmup", "draws", "replicas"}},
	{"ebfmi", Problem, findEBFMI, "reparametrise heavy tails and group-level terms",
		"The energy changes too slowly from draw to draw, so tails are explored badly. Reparametrise heavy-tailed or hierarchical parts of the model; longer runs help little.", nil},
	{"undefined", Problem, findUndefined, "check for overflow and missing assignments",
		"An overflow, an operation without a result or a missing assignment causes this. Compute the quantity on the log scale, or assign it on every path.", nil},
	{"rhat", Problem, findRhat, "run longer, or look for several modes",
		"The chains do not agree yet. Run a longer warm-up and more draws. If R-hat stays high, look for several modes and for parameters that the data do not identify, or reparametrise.", []string{"warmup", "draws"}},
	{"ess", Problem, findESS, "make more draws",
		"Means, intervals and R-hat are imprecise. Make more draws, for instance until a given ESS is reached, or reparametrise to lower the autocorrelation.", []string{"draws", "target-ess"}},
	{"one-chain", Note, findOneChain, "run four",
		"A single chain cannot show that it missed a mode. Run at least four.", []string{"chains=4"}},
	{"shared-start", Note, findSharedStart, "start each chain at a random point",
		"Chains that begin at the same place may all miss the same mode. Leave out the initial values, so that each chain begins at a random point, or give each chain other values.", []string{"init"}},
	{"heavy-tail", Note, findHeavyTails, "use the median and quantiles",
		"Such a mean, its standard deviation and its Monte Carlo error depend on the few most distant draws, however many you make. Use the median and quantiles, or give the parameter a prior with lighter tails.", nil},
	{"constant", Note, findConstant, "check how they are computed",
		"This is fine if the model fixes the value (a diagonal of ones, an unused element). Otherwise check how it is computed.", nil},
}

// Check checks a run and returns its findings, or an empty slice. rows come from [Summarize] on the
// same draws; nil computes them. If they have only some quantities and measures, the others are not
// checked. The sampler's statistics are checked if d has them (see [Statistics]).
func Check(d Draws, rows []Row, options Options) []Finding {
	if rows == nil {
		rows = Summarize(d)
	}
	if options.MaxTreeDepth == 0 {
		options.MaxTreeDepth = 10
	}
	if options.Quantities <= 0 {
		options.Quantities = 5
	}
	e := &evidence{draws: d, rows: rows, options: options}
	e.chains, e.length = comparableChains(d)
	findings := []Finding{}
	for _, c := range checks {
		if len(e.chains) == 0 && c.code != "no-draws" {
			break
		}
		if f := c.find(e); f.summary != "" {
			finding := Finding{Code: c.code, Severity: c.severity, Summary: f.summary, Brief: f.brief, First: c.first,
				Advice: c.advice, Settings: c.settings, Quantities: f.quantities[:min(len(f.quantities), options.Quantities)]}
			if c.code == "treedepth" && mixes(e) {
				// It lowers efficiency but causes no bias (Stan's guide to warnings).
				finding.Severity, finding.Advice = Note, depthIsHarmless
				finding.First = "the draws are valid, but rescaling saves time"
			}
			if c.code == "rhat" && len(e.chains) == 1 {
				finding.Advice = halvesDisagree
			}
			findings = append(findings, finding)
		}
	}
	return findings
}

// findRestarts checks how often chains of parallel tempering were restarted from the reference.
func findRestarts(e *evidence) found {
	s, ok := e.draws.(Statistics)
	if !ok {
		return found{}
	}
	least := math.Inf(1)
	for _, chain := range e.chains {
		counts, ok := s.Statistic(nil, chain, "restarts__")
		if !ok || len(counts) == 0 {
			return found{}
		}
		least = min(least, counts[len(counts)-1])
	}
	if least >= minRestarts {
		return found{}
	}
	return found{summary: fmt.Sprintf("A chain of parallel tempering was restarted from a reference only %.0f times; there should be at least %d restarts per chain.", least, minRestarts),
		brief: fmt.Sprintf("A chain of parallel tempering had only %.0f restarts", least)}
}

func findNoDraws(e *evidence) found {
	if len(e.chains) > 0 {
		return found{}
	}
	return found{summary: "There are no draws.", brief: "There are no draws"}
}

func findIncomplete(e *evidence) found {
	planned := e.options.PlannedDraws
	for _, chain := range e.chains {
		planned = max(planned, e.draws.Len(chain))
	}
	var short []int
	for chain := range e.draws.Chains() {
		if e.draws.Len(chain) < planned {
			short = append(short, chain)
		}
	}
	if len(short) == 0 {
		return found{}
	}
	return found{summary: fmt.Sprintf("%s %s fewer than the %d draws planned; the shortest with any has %d.",
		e.chainList(short), plural(len(short), "has", "have"), planned, e.length),
		brief: fmt.Sprintf("%d of %d chains have fewer than the %d draws planned", len(short), e.draws.Chains(), planned)}
}

func findFewDraws(e *evidence) found {
	if e.length >= minDrawsPerChain {
		return found{}
	}
	for _, chain := range e.chains {
		if e.draws.Len(chain) > e.length {
			return found{summary: fmt.Sprintf("Only %d %s of the shortest chain.", e.length, plural(e.length, "draw", "draws")),
				brief: fmt.Sprintf("The shortest chain has only %d %s", e.length, plural(e.length, "draw", "draws"))}
		}
	}
	return found{summary: fmt.Sprintf("Only %d %s per chain.", e.length, plural(e.length, "draw", "draws")),
		brief: fmt.Sprintf("There %s only %d %s per chain", plural(e.length, "is", "are"), e.length, plural(e.length, "draw", "draws"))}
}

// findStuckChain looks for chains that are constant in quantities that vary in other chains. A few
// quantities suffice, as a chain is stuck in all or none.
func findStuckChain(e *evidence) found {
	const enough = 10
	var varying []int
	for i, row := range e.rows {
		if q := e.column(i); row.SD > 0 && q >= 0 && len(varying) < enough {
			varying = append(varying, q)
		}
	}
	if len(varying) == 0 || e.length < 3 {
		return found{}
	}
	var stuck []int
	var column []float64
	for _, chain := range e.chains {
		moved := false
		for _, q := range varying {
			column = e.draws.Column(column[:0], chain, q)
			if !constant(column) {
				moved = true
				break
			}
		}
		if !moved {
			stuck = append(stuck, chain)
		}
	}
	if len(stuck) == 0 {
		return found{}
	}
	return found{summary: fmt.Sprintf("%s never moved.", e.chainList(stuck)), brief: fmt.Sprintf("%d of %d chains never moved", len(stuck), len(e.chains))}
}

// column is the index of a row's quantity in the draws; -1 if there is none.
func (e *evidence) column(row int) int {
	names := e.draws.Names()
	if len(names) == len(e.rows) {
		return row
	}
	return slices.Index(names, e.rows[row].Name)
}

// tally counts the draws of all chains whose statistic satisfies yes.
func (e *evidence) tally(statistic string, yes func(float64) bool) (count, total int, chains []int) {
	e.each(statistic, func(chain int, column []float64) {
		before := count
		for _, v := range column {
			if yes(v) {
				count++
			}
		}
		total += len(column)
		if count > before {
			chains = append(chains, chain)
		}
	})
	return count, total, chains
}

// each calls f with a statistic's column for each chain that has it.
func (e *evidence) each(statistic string, f func(chain int, column []float64)) {
	s, ok := e.draws.(Statistics)
	if !ok {
		return
	}
	for _, chain := range e.chains {
		if column, ok := s.Statistic(nil, chain, statistic); ok {
			f(chain, column)
		}
	}
}

// percent formats a share in percent, with two digits below ten.
func percent(count, total int) string {
	p := 100 * float64(count) / float64(total)
	if p >= 10 {
		return strconv.FormatFloat(p, 'f', 0, 64)
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

func findDivergences(e *evidence) found {
	count, total := 0, 0
	var chains []int
	for _, chain := range e.chains {
		divergent, transitions, _ := divergedOf(e.draws, chain)
		if divergent > 0 {
			chains = append(chains, chain)
		}
		count += divergent
		total += transitions
	}
	if count == 0 {
		return found{}
	}
	var columns []int
	most := 0
	for i := range e.rows[:min(crowdQuantities, len(e.rows))] {
		if q := e.column(i); q >= 0 {
			columns = append(columns, q)
			most = max(most, q+1)
		}
	}
	crowd := crowded(e.draws, divergences(e.draws, most), columns)
	brief := fmt.Sprintf("%d of %d transitions diverged", count, total)
	if len(crowd) > 0 {
		brief += ", mostly at extreme values of " + crowd[0]
	}
	return found{fmt.Sprintf("%d of %d transitions diverged (%s %%), in %s.",
		count, total, percent(count, total), lower(e.chainList(chains))), brief, crowd}
}

func findTreeDepth(e *evidence) found {
	limit := e.options.MaxTreeDepth
	if limit < 0 {
		return found{}
	}
	count, total, chains := e.tally("treedepth__", func(v float64) bool { return v >= float64(limit) })
	if count == 0 {
		return found{}
	}
	return found{summary: fmt.Sprintf("%d of %d trajectories (%s %%) reached the maximum tree depth %d, in %s.",
		count, total, percent(count, total), limit, lower(e.chainList(chains))),
		brief: fmt.Sprintf("%s %% of trajectories hit the maximum tree depth", percent(count, total))}
}

// depthIsHarmless is the advice for a finding on tree depths if there is no other problem.
const depthIsHarmless = "Trajectories were cut short: the draws are valid but inefficient. There are enough of them, and R-hat shows no problem. To make sampling faster, rescale or reparametrise so that the quantities have similar scales, or raise the maximum depth."

// halvesDisagree is the advice for a finding on R-hat if there is only one chain.
const halvesDisagree = "The chain has not settled yet. Run a longer warm-up and more draws. If R-hat stays high, look for several modes and for parameters that the data do not identify, or reparametrise."

// mixes reports whether R-hat, effective sample sizes and energies were computed and show no
// problem.
func mixes(e *evidence) bool {
	for _, find := range []func(*evidence) found{findRhat, findESS, findEBFMI} {
		if find(e).summary != "" {
			return false
		}
	}
	return slices.ContainsFunc(e.rows, func(r Row) bool { return r.Rhat > 0 && r.ESSBulk > 0 })
}

func findAcceptance(e *evidence) found {
	lowest := math.Inf(1)
	var low []int
	e.each("accept_stat__", func(chain int, column []float64) {
		if len(column) == 0 {
			return
		}
		if rate := mean(column); rate < minAcceptance {
			low = append(low, chain)
			lowest = min(lowest, rate)
		}
	})
	if len(low) == 0 {
		return found{}
	}
	return found{summary: fmt.Sprintf("The mean acceptance is as low as %.2g in %s.", lowest, lower(e.chainList(low))),
		brief: fmt.Sprintf("The mean acceptance is as low as %.2g", lowest)}
}

func findEBFMI(e *evidence) found {
	lowest := math.Inf(1)
	var low []int
	e.each("energy__", func(chain int, column []float64) {
		if v := EBFMI(column); v < minEBFMI {
			low = append(low, chain)
			lowest = min(lowest, v)
		}
	})
	if len(low) == 0 {
		return found{}
	}
	return found{summary: fmt.Sprintf("E-BFMI is as low as %.2g (below %.2g) in %s.", lowest, minEBFMI, lower(e.chainList(low))),
		brief: fmt.Sprintf("E-BFMI is only %.2g", lowest)}
}

func findUndefined(e *evidence) found {
	worst := e.worst(func(r Row) (float64, bool) {
		return 0, math.IsNaN(r.Mean) || math.IsInf(r.Mean, 0) || r.Undefined > 0
	})
	if len(worst) == 0 {
		return found{}
	}
	most := 0
	for _, name := range worst {
		most = max(most, e.row(name).Undefined)
	}
	of := lower(e.share(worst))
	if len(worst) == 1 {
		of = worst[0]
	}
	text := fmt.Sprintf("There are NaN or infinite draws of %s.", of)
	if most > 0 {
		text += fmt.Sprintf(" Means, deviations and quantiles leave out those that are NaN, up to %d of %d draws.", most, len(e.chains)*e.length)
	}
	return found{text, some(worst) + plural(len(worst), " has", " have") + " NaN or infinite draws", worst}
}

func findRhat(e *evidence) found {
	worst := e.worst(func(r Row) (float64, bool) { return r.Rhat, r.Rhat > maxRhat })
	if len(worst) == 0 {
		return found{}
	}
	of := "the halves of one chain"
	if n := len(e.chains); n > 1 {
		of = fmt.Sprintf("%d independent chains", n)
	}
	rhat := e.row(worst[0]).Rhat
	return found{fmt.Sprintf("R-hat of %s is above %.2f for %s, up to %.3f for %s.",
		of, maxRhat, lower(e.share(worst)), rhat, worst[0]), fmt.Sprintf("R-hat is up to %.2f (%s)", rhat, worst[0]), worst}
}

func findESS(e *evidence) found {
	need := float64(minESSPerChain * len(e.chains))
	least := func(r Row) float64 { // the smaller of the two sizes, or the only one
		if math.IsNaN(r.ESSTail) || r.ESSBulk < r.ESSTail {
			return r.ESSBulk
		}
		return r.ESSTail
	}
	worst := e.worst(func(r Row) (float64, bool) { return -least(r), least(r) < need })
	if len(worst) == 0 {
		return found{}
	}
	ess := least(e.row(worst[0]))
	return found{fmt.Sprintf("The effective sample size (bulk or tail) is below %.0f for %s, down to %.0f for %s.",
		need, lower(e.share(worst)), ess, worst[0]), fmt.Sprintf("ESS is down to %.0f (%s)", ess, worst[0]), worst}
}

func findOneChain(e *evidence) found {
	if len(e.chains) != 1 {
		return found{}
	}
	return found{summary: "There is only one chain with draws.", brief: "There is only one chain"}
}

func findSharedStart(e *evidence) found {
	_, places, shared := arrivalsOf(e.draws, e.chains)
	if !shared {
		return found{}
	}
	if places == 1 {
		return found{summary: fmt.Sprintf("All %d chains began at the same place, so their agreement does not rule out another mode.", len(e.chains)),
			brief: fmt.Sprintf("All %d chains began at the same place, so they may have missed a mode", len(e.chains))}
	}
	return found{summary: fmt.Sprintf("%d chains began at %d places, so R-hat compares fewer independent starts than chains.", len(e.chains), places),
		brief: fmt.Sprintf("%d chains began at %d places, so they may have missed a mode", len(e.chains), places)}
}

func findConstant(e *evidence) found {
	worst := e.worst(func(r Row) (float64, bool) {
		return 0, r.SD == 0 && (e.options.Fixed == nil || !e.options.Fixed(r.Name))
	})
	if len(worst) == 0 || e.length < 2 {
		return found{}
	}
	return found{fmt.Sprintf("Constant: %s.", lower(e.share(worst))), some(worst) + plural(len(worst), " is", " are") + " constant", worst}
}

// worst names the quantities for which f returns a positive badness, the worst first; quantities
// that are equally bad are in their order.
func (e *evidence) worst(f func(Row) (badness float64, bad bool)) []string {
	type entry struct {
		name    string
		badness float64
	}
	var entries []entry
	for _, row := range e.rows {
		if badness, bad := f(row); bad {
			entries = append(entries, entry{row.Name, badness})
		}
	}
	sorting.Stable(entries, func(a, b entry) int {
		switch {
		case a.badness > b.badness:
			return -1
		case a.badness < b.badness:
			return 1
		}
		return 0
	})
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.name
	}
	return names
}

// row finds a row by name; the first if names repeat.
func (e *evidence) row(name string) Row {
	for _, row := range e.rows {
		if row.Name == name {
			return row
		}
	}
	return Row{Name: name}
}

// share counts bad quantities among all: "3 of 20 quantities".
func (e *evidence) share(bad []string) string {
	if len(e.rows) == 1 {
		return "The quantity"
	}
	return fmt.Sprintf("%d of %d quantities", len(bad), len(e.rows))
}

// chainList names chains by their numbers.
func (e *evidence) chainList(chains []int) string {
	numbers := make([]string, len(chains))
	for i, chain := range chains {
		number := chain + 1
		if chain < len(e.options.Chains) {
			number = e.options.Chains[chain]
		}
		numbers[i] = fmt.Sprint(number)
	}
	return plural(len(chains), "Chain ", "Chains ") + strings.Join(numbers, ", ")
}

// some lists the first names, and how many others there are.
func some(names []string) string {
	const most = 2
	if n := len(names) - most; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " and " + names[n]
	}
	return names[0]
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }
