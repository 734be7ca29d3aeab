package passes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/internal/planted"
)

// Pass is one row of the table: a transformation that preserves what a program computes. Either
// Density, Graph or Nest is set; or Density and Graph, for a pass with a part that runs after
// differentiation; or none, for a pass that the code generator carries out.
type Pass struct {
	Name  string
	Doc   string // what it does, in one line
	Model string // an everyday model whose program this pass changes (package contest)
	// Gain is its gain there: the time of a gradient without the pass divided by the time with it,
	// measured by the command passgains (with AVX2 or AVX-512, one processor). Kept says why a pass
	// that gains 2 % or less is kept.
	Gain  float64
	Kept  string
	Exact string // error bound of results; "": results do not change
	// Moves is for a pass that reorders, joins or leaves out rows, columns or steps. It says why
	// every reader by position still reads the same element.
	Moves string
	After [2]string // passes that must come before, if they are on; "": none
	// Density is a pass on the graph of a log density before it is differentiated: if it shortens
	// the density, it also shortens the derivatives.
	Density func(g *ad.Graph) *ad.Graph
	Graph   func(g *ad.Graph, o *Options) *ad.Graph
	Nest    func(p *loopnest.Program)
	// Lanes is, for a Density pass, the least number of lanes of a vector register; 0: the pass
	// also pays in portable code.
	Lanes int
	// Once says that the result of a Density pass has first derivatives only.
	Once bool
	// Sparse lists the matrices of which the pass leaves out the zeros, for the graph before a
	// part of it.
	Sparse func(g *ad.Graph, before bool) []Sparse
	// Off runs instead if the pass is switched off; usually nothing does.
	Off func(p *loopnest.Program)
}

// Table lists the passes in the order in which they run. Constant folding, common-subexpression
// elimination and the identities that hold for every number are not among them: an ad.Graph does
// these as it is built, including when a pass rebuilds it.
func Table() []Pass {
	return []Pass{
		{Name: "project", Model: "everyday/growth", Gain: 12.5, Density: project,
			Exact: "a few roundings of the sums; an element beyond the first that leaves the range of numbers is not named",
			Moves: "the short rows are built for the sum alone; other readers keep the long ones",
			Doc:   "shortens a sum of squared residuals over rows of data to as many rows as there are coefficients (QR decomposition)"},
		{Name: "deduplicate", Model: "everyday/survey_responses", Gain: 4.9, Density: deduplicate,
			Exact: "rounding of sums, which are added up in another order",
			Moves: "the rows that differ are built for the sum alone; other readers keep all rows",
			Doc:   "row deduplication: sums equal rows of data once, with their number as the weight"},
		{Name: "sparse", Model: "everyday/sparse_design", Gain: 3.4, Density: selections, Graph: sparseProducts, Sparse: sparseMatrices, After: [2]string{"deduplicate"},
			Exact: "rounding of sums, which are added up in another order; if an element of the vector is not finite, all elements of the product are NaN",
			Moves: "each element of the matrix that is not zero keeps its row and column",
			Doc:   "sparse products: leaves out the zeros of data matrices that are mostly zero, in products with vectors"},
		{Name: "exchange", Model: "everyday/effect_integrated_out", Gain: 1.1, Density: exchange, After: [2]string{"deduplicate"},
			Exact: "rounding of derivatives, whose terms are added up before they are multiplied",
			Moves: "element i of what is gathered is gathered by the same index afterwards",
			Doc:   "map–gather exchange: applies functions before an index selects elements, if fewer elements result; one logarithm per group, not per row"},
		{Name: "batch-products", Model: "everyday/scale_regression", Gain: 1.31, Density: batchProducts, After: [2]string{"deduplicate"},
			Exact: "rounding of sums, which are added up in another order",
			Moves: "each reader takes its own columns of the product",
			Doc:   "product merging (GEMM batching): computes several products with the same matrix of data as one"},
		{Name: "if-convert", Model: "everyday/outliers", Gain: 4.5, Density: ifConvert,
			Doc: "if-conversion: computes both sides of a short conditional and selects one, in vector lanes and in steps of scans"},
		{Name: "unswitch", Model: "everyday/robust_switch", Gain: 6.9, Density: unswitch, After: [2]string{"if-convert"},
			Doc: "loop unswitching: decides a conditional that is the same for all lanes once, outside the loop"},
		{Name: "reductions", Model: "everyday/effect_integrated_out", Gain: 1.14, Density: recogniseReductions,
			Exact: "rounding of sums, which are added up in another order",
			Moves: "a carried value that a step, or a reader of the history, looks at is no sum",
			Doc:   "reduction recognition: replaces a variable to which a loop only adds by one sum over all iterations"},
		{Name: "log-products", Model: "everyday/hidden_states", Gain: 12, Density: recogniseLogProducts, After: [2]string{"if-convert", "reductions"},
			Exact: "a few roundings of the greatest term",
			Moves: "elements are followed one by one to the terms that they are sums of; results are taken from their place in the product",
			Doc:   "product recognition: computes sums of exponentials of a vector plus the rows of a matrix, as in forward algorithms, as one product of exponentials"},
		{Name: "tangents", Model: "everyday/stiff_reaction", Gain: 1.5, Density: tangents, After: [2]string{"if-convert", "reductions"}, Lanes: directionLanes, Once: true,
			Exact: "rounding of derivatives, whose terms are added up in another order",
			Moves: "each element of a result has its directions at its own place, which a table says",
			Doc:   "forward-mode differentiation: computes derivatives of solvers of differential equations along with the solution, in vector lanes, if they depend on few numbers"},
		{Name: "scalars", Model: "everyday/local_trend", Gain: 4.8, Density: replaceScalars, Graph: replaceSystems, After: [2]string{"if-convert", "reductions"},
			Exact: "rounding of sums and derivatives, whose terms are added up in another order; 2 units in the last place of sums of exponentials, as the functions themselves; a few roundings of the solutions of systems",
			Moves: "elements are followed one by one to where they were computed; an index that is not known leaves the array whole",
			Doc:   "scalar replacement of aggregates: unrolls short loops, replaces small arrays by single numbers, and writes out the solution of small linear systems"},
		{Name: "prefixes", Model: "everyday/renewal", Gain: 1.26, Density: nestConcats, After: [2]string{"scalars"},
			Exact: "rounding of derivatives, whose terms are added up in another order",
			Moves: "parts are taken by their offsets in the longer array",
			Doc:   "prefix sharing: stores the versions of an array that an unrolled loop extends as prefixes of one array"},
		{Name: "skew", Model: "everyday/alignment", Gain: 2.6, Density: skew, After: [2]string{"scalars"},
			Exact: "rounding of derivatives, whose terms are added up in another order",
			Moves: "one table says which cell each lane of a wavefront has; results are taken from there by its inverse",
			Doc:   "loop skewing: fills tables whose cells depend on cells to the left and above in wavefronts, and those that depend on earlier rows only row by row, in vector lanes"},
		{Name: "delays", Model: "everyday/flies", Gain: 1.65, Density: arrayDelays, After: [2]string{"scalars", "skew"},
			Doc: "delay-line recognition: keeps values that a scan reads many steps later in one array instead of many carried numbers"},
		{Name: "sequences", Model: "everyday/volatilities", Gain: 1.9, Density: separate, After: [2]string{"scalars", "skew"},
			Exact: "rounding of sums and derivatives, whose terms are added up in another order",
			Moves: "step t of lane i is step t of sequence i; kept values go back to their places",
			Doc:   "turns a scan of many sequences, such as the days of each subject, into a scan of one in vector lanes; lengths may differ if a step has a solver"},
		{Name: "checkpoint", Model: "everyday/predators", Gain: 1.34, Density: checkpoint, After: [2]string{"scalars", "delays"},
			Doc: "checkpointing for reverse mode: keeps what the gradient needs from while loops, arrays and exponentials in scans, so that it neither runs the loops again nor copies an array at each step"},
		{Name: "probabilities", Model: "everyday/recaptures", Gain: 4.4, Density: sumProbabilities, After: [2]string{"if-convert", "scalars"},
			Exact: "a few roundings of the terms",
			Doc:   "computes sums of probabilities as such, if they are terms of further sums, and takes the logarithms afterwards"},
		{Name: "prefix-sums", Model: "everyday/cox_survival", Gain: 3.4, Density: recognisePrefixSums, After: [2]string{"if-convert", "scalars"},
			Exact: "a few roundings of the greatest term; half a unit in the last place of 1 for each term",
			Doc:   "prefix-sum recognition: splits a log_sum_exp that a scan accumulates, so that its exponentials and logarithms are computed for all steps at once"},
		{Name: "logarithms", Model: "examples/normal_mixture", Kept: "derivatives are finite where exponentials underflow", Density: rewriteLogarithms,
			Exact: "at least as exact; of sums, 2 units in the last place",
			Doc:   "rewrites logarithms of exponentials, logistic functions and sums of exponentials, so that their gradients remain finite if an exponential underflows"},
		{Name: "layout", Model: "everyday/factors", Gain: 2.1, Density: chooseLayouts, After: [2]string{"batch-products", "logarithms"},
			Exact: "rounding of sums of products of matrices, which are added up in another order",
			Moves: "every reader of a matrix that is transposed takes its elements from their new places",
			Doc:   "data layout: stores matrices by rows or by columns, as most of their readers take them"},

		{Name: "dead-carries", Model: "everyday/predators", Gain: 1.05, Graph: removeDeadCarries,
			Doc: "dead-code elimination: removes values that loops carry but nothing reads, mostly from the gradient"},
		{Name: "rewrite", Model: "examples/hierarchical_regression", Kept: "a moving average of shocks gains 32 %, eight schools 8 %", Graph: rewriteGraph,
			Exact: "see the list of rewrites",
			Doc:   "algebraic simplification: applies a list of identities; each can be switched off by its own name"},
		{Name: "slices", Model: "examples/stochastic_volatility", Gain: 1.1, Graph: sliceTables,
			Doc: "replaces index tables that read contiguous elements by slices, and slices of sums of scatters by their terms"},
		{Name: "recurrences", Model: "examples/garch", Gain: 1.12, Graph: linearise, After: [2]string{"slices"},
			Exact: "a few roundings of the terms: sums and products are joined in another order; where a term overflows, a result may be NaN instead of infinite, or infinite instead of NaN",
			Moves: "histories are computed again from what is kept",
			Doc:   "joins factors and terms of a recurrence that do not depend on the previous step, so that they can leave the scan, and multiplies out recurrences of one number"},
		{Name: "critical-path", Model: "everyday/local_trend", Gain: 1.04, Graph: shortenPaths, After: [2]string{"recurrences"},
			Exact: "rounding of sums, which are added up in another order, and the sign of zero",
			Moves: "a number that is carried as two is read by the next step alone",
			Doc:   "critical-path reduction: adds the terms of sums in scans in the order in which they are known, those that wait for the step before last"},
		{Name: "distribute", Model: "everyday/effect_integrated_out", Gain: 35, Graph: distribute, After: [2]string{"recurrences"},
			Exact: "rounding of sums of products of matrices, which are added up in another order",
			Moves: "lane i is step i; the last value and the history are still the scan's",
			Doc:   "loop distribution (fission): moves work that does not depend on the previous step out of a scan, to be computed for all steps at once"},
		{Name: "hoist", Model: "examples/normal_mixture", Gain: 1.25, Graph: hoist, After: [2]string{"rewrite", "distribute"},
			Exact: "a few roundings; otherwise only where a factor or the product of two leaves the range of numbers",
			Doc:   "loop-invariant code motion: moves constant factors out of arrays and sums, to where they multiply fewer numbers"},
		{Name: "reciprocals", Model: "everyday/local_trend", Gain: 1.04, Graph: shareReciprocals, After: [2]string{"hoist"},
			Exact: "1.5 instead of 0.5 units in the last place of a quotient; infinite for denominators below 5.6e-309",
			Doc:   "replaces divisions by a common denominator, or by the scales of groups, by products with its reciprocal"},

		{Name: "cse", Model: "everyday/shrunken_effects", Kept: "topic models gain 2 to 5 %; without it the passes behind it see equal nodes as different ones", Nest: loopnest.EliminateCommon,
			Moves: "nodes are equal in all operands, maps and sizes",
			Doc:   "common-subexpression elimination: computes equal expressions once"},
		{Name: "exponentials", Model: "examples/logistic_regression", Gain: 13, After: [2]string{"cse"}, Nest: loopnest.EliminateExponentials,
			Exact: "2 units in the last place, as the functions themselves",
			Doc:   "writes logistic functions and short sums of exponentials with exponentials that the value and its gradient share"},
		{Name: "columns", Model: "examples/logistic_regression", Gain: 1.2, Nest: loopnest.Columns, After: [2]string{"exponentials"},
			Exact: "rounding of sums, which are added up in another order",
			Moves: "an element of the vector is read at its offset; sums are over rows",
			Doc:   "writes a product with a matrix of few columns as sums of products over its rows, which can join other loops"},
		{Name: "products", Model: "everyday/two_kinds", Gain: 1.8, Nest: loopnest.JoinProducts, After: [2]string{"exponentials", "columns"},
			Exact: "sums of logarithms: half a unit in the last place of 1 per term; of logistic terms: a few units in the last place of the sum",
			Moves: "a product is joined only where one reader takes all of it, element by element or as a sum",
			Doc:   "joins a product with the sum, difference or reduction that alone reads it (fused multiply-add), and nested sums into one"},
		{Name: "rows", Model: "everyday/clinic_visits", Gain: 1.41, Nest: loopnest.SortRows, After: [2]string{"products"},
			Exact: "rounding of sums, which are added up in another order",
			Moves: "loopnest.reads: all readers of the rows move with them or add them up; nobody reads one by its position",
			Doc:   "row sorting: sorts rows of data by group, so that reading a group's element and summing by group become simple loops; sums over unsorted rows of up to four groups become a sum for each"},
		{Name: "place", Model: "everyday/epidemic", Gain: 1.15, Nest: loopnest.PlaceParts, After: [2]string{"products", "rows"},
			Doc: "buffer placement: computes a part of an array directly at its place in that array"},
		{Name: "fuse", Model: "examples/eight_schools", Gain: 2.1, After: [2]string{"place"},
			Nest: func(p *loopnest.Program) { loopnest.FormBlocks(p, true) },
			Off:  func(p *loopnest.Program) { loopnest.FormBlocks(p, false) },
			Doc:  "loop fusion: joins elementwise operations and the sums that follow them into one loop over short strips, and scalar operations into one block"},
		{Name: "schedule", Model: "examples/stochastic_volatility", Gain: 1.06, Nest: loopnest.ScheduleScalars, After: [2]string{"fuse"},
			Doc: "instruction scheduling: orders scalar operations so that equal ones follow each other"},
		{Name: MemoryPass, Model: "examples/eight_schools", Kept: "an evaluation takes less memory", After: [2]string{"schedule"},
			Doc: "buffer sharing: values that are not needed at the same time use the same memory"},
		{Name: NativePass, Model: "examples/eight_schools", Gain: 8.7, After: [2]string{MemoryPass},
			Doc: "code generation: produces machine code where the processor has AVX2 and FMA, AVX-512 (amd64) or is an arm64; other blocks are interpreted"},
		{Name: PartsPass, Model: "everyday/clinic_visits", Kept: "it saves elapsed time where processors are free", After: [2]string{NativePass},
			Exact: "rounding of sums by index tables and of products of matrices with many terms, which are added up in parts",
			Moves: "parts of a sum are added up in their order",
			Doc:   "parallel evaluation: splits long blocks into parts that idle processors share"},
	}
}

// Names of the passes that package vm carries out.
const (
	MemoryPass = "memory"
	NativePass = "native"
	PartsPass  = "parts"
)

// Options say how to run the passes; the zero value runs all, without verification.
type Options struct {
	Without []string    // names of passes to leave out
	Verify  bool        // verify the program after every pass
	Trace   func(*Step) // receives what each pass did; nil: not reported

	// Lanes is the number of lanes of the processor's vector registers; 0: there is no machine
	// code.
	Lanes int

	Fault   *planted.Fault // for tests; nil: none
	Running *string        // if not nil, set to the pass that runs, for the message of a panic

	// Budget bounds the memory of passes on graphs. These passes call its Stop, and it is also
	// called between all other passes; an error ends them. Passes before differentiation use the
	// budget of their graph. nil: there are no bounds.
	Budget *ad.Budget

	on [][]Rewrite // see rewrites
}

// Step describes what one pass did.
type Step struct {
	Pass          Pass
	Off           bool
	Before, After loopnest.Count
	Graph         *ad.Graph         // after a pass on the graph
	Changed       bool              // a pass before differentiation made another graph
	Sparse        []Sparse          // matrices of which products leave out the zeros
	Nest          *loopnest.Program // after a pass on the loop nest
}

// Has reports whether the pass with that name is on.
func (o *Options) Has(name string) bool { return !slices.Contains(o.Without, name) }

func (o *Options) running(p Pass) {
	if o.Running != nil {
		*o.Running = p.Name
	}
}

// Check returns an error if Without has a name that is not in the table.
func (o *Options) Check() error {
	for _, w := range o.Without {
		if !slices.Contains(Names(), w) {
			return fmt.Errorf("there is no pass %q; there are %s", w, strings.Join(Names(), ", "))
		}
	}
	return nil
}

// Names returns the names of everything that can be switched off.
func Names() []string {
	var names []string
	for _, p := range Table() {
		names = append(names, p.Name)
	}
	for _, w := range Rewrites() {
		names = append(names, w.Name)
	}
	return names
}

// RunDensity runs the passes on a log density that has not been differentiated yet; it ignores
// Options.Verify. g is not changed.
func RunDensity(g *ad.Graph, o Options) (out *ad.Graph, err error) {
	defer ad.Recover(&err)
	if err := o.Check(); err != nil {
		return nil, err
	}
	var step Step
	if o.Trace != nil {
		step.After = loopnest.CountGraph(g)
	}
	for _, pass := range Table() {
		if pass.Density == nil {
			continue
		}
		step = Step{Pass: pass, Off: !o.Has(pass.Name), Before: step.After, After: step.After}
		step.Off = step.Off || pass.Lanes > 0 && (pass.Lanes > o.Lanes || !o.Has("native"))
		before, taken := g, g.Taken()
		if !step.Off {
			o.running(pass)
			if pass.Sparse != nil && o.Trace != nil {
				step.Sparse = pass.Sparse(g, true)
			}
			g = planted.After(o.Fault, pass.Name, pass.Density(g))
		}
		if g != before {
			g.GiveBack(taken)
		}
		if o.Trace != nil {
			if step.Graph, step.Changed = g, g != before; step.Changed {
				step.After = loopnest.CountGraph(g)
			}
			o.Trace(&step)
		}
	}
	return g, nil
}

// Run returns the loop nest of everything that g's outputs and side effects need. g is not changed.
func Run(g *ad.Graph, o Options) (p *loopnest.Program, err error) {
	defer ad.Recover(&err)
	if err := o.Check(); err != nil {
		return nil, err
	}
	step := Step{}
	count := func() loopnest.Count {
		switch {
		case o.Trace == nil:
			return loopnest.Count{}
		case p != nil:
			return p.Count()
		}
		return loopnest.CountGraph(g)
	}
	held := int64(0) // memory of the graphs that passes have made
	defer func() { o.Budget.Return(held) }()
	for _, pass := range Table() {
		if pass.Density != nil && pass.Graph == nil {
			continue
		}
		if err := o.Budget.Ask(); err != nil {
			return nil, err
		}
		if p == nil && pass.Graph == nil {
			p = loopnest.Lower(g)
			if o.Verify {
				if err := p.Verify(); err != nil {
					return nil, fmt.Errorf("after lowering: %w", err)
				}
			}
		}
		step = Step{Pass: pass, Off: !o.Has(pass.Name), Before: count()}
		o.running(pass)
		switch {
		case step.Off && pass.Off != nil:
			pass.Off(p)
		case step.Off:
		case pass.Graph != nil:
			before, used := g, o.Budget.Used()
			if pass.Sparse != nil && o.Trace != nil {
				step.Sparse = pass.Sparse(g, false)
			}
			if g = planted.After(o.Fault, pass.Name, pass.Graph(g, &o)); g == before {
				o.Budget.Back(used)
			} else {
				took := o.Budget.Used() - used
				o.Budget.Return(held)
				held = took
			}
		case pass.Nest != nil:
			pass.Nest(p)
			p = planted.After(o.Fault, pass.Name, p)
		}
		if o.Verify {
			if p != nil {
				err = p.Verify()
			} else {
				err = loopnest.VerifyGraph(g)
			}
			if err != nil {
				return nil, fmt.Errorf("after pass %s: %w", pass.Name, err)
			}
		}
		if o.Trace != nil {
			step.After, step.Graph, step.Nest = count(), g, p
			o.Trace(&step)
		}
	}
	return p, nil
}
