// Package proggen generates random programs of the language, with data, for tests that compare ways
// to evaluate them. It also shrinks failing programs.
//
// Map of the package:
//
//	page.go         the text under way, random choices
//	proggen.go      New: the blocks of a program; features
//	scope.go        variables in scope, sizes
//	data.go         the data and parameters blocks, and random values
//	constrained.go  variables of constrained types
//	number.go       expressions: indices, conditions, reals
//	container.go    expressions: vectors, row vectors, matrices
//	composite.go    tuples and complex numbers
//	stmt.go         statements
//	pattern.go      groups of statements that loops are known for: recurrences, sums by group, …
//	density.go      ~ and target +=
//	function.go     user functions
//	shrink.go       Shrink
//
// These files are for New, whose programs contain everything that is well typed. Programs of
// NewModel look like what statisticians write. They consist of templates, one row of a table each,
// nested in one another.
//
//	models.go       NewModel, NewFunctions: regions of templates, the functions and blocks around them
//	template.go     how templates are written; copies of them, scopes
//	sentence.go     what fills the holes of templates: expressions, conditions, terms, statements
//	families.go     data and parameters by name, sizes and values
//	series.go       templates: state space, smoothing, difference equations, survival
//	discrete.go     templates: hidden states, dynamic programming, mixtures, censoring, families with atoms
//	ragged.go       templates: running positions, offsets, scatter and gather, groups
//	control.go      templates: loops, jumps, guards, recursion, functions
//	links.go        templates: trees, sets joined, places walked and found
//
// Programs of NewStatements are loops over rows whose statements are drawn one by one: computed
// ints, used as indices, bounds and numbers of trips; jumps; early returns; parts of containers.
// Each program has few kinds of statements and variables, so that many are simple enough for the
// fast ways to evaluate loops.
//
//	drawn.go        NewStatements: taste, data, blocks, loops over rows
//	drawnexpr.go    expressions
//	drawnstmt.go    statements
//	drawnfunc.go    functions, and what reduce_sum and map_rect call
//
// Programs of NewRows are several short loops over one set of rows, with sizes just below and above
// the compiler's thresholds. The loops share index arrays and read results of earlier loops.
//
//	rows.go         NewRows: sizes, data, blocks
//	rowstatement.go variables, loops, statements, expressions
//
// Programs of NewLatent have discrete parameters, few enough to sum over all their values.
//
//	latent.go       NewLatent: classes, counts, chains, change points, grids
//
// The same program at other sizes:
//
//	resize.go       GrowModel, GrowRows
//
// Programs of NewIdioms are pieces of everyday Stan with random choices in them, at sizes up to
// 1001.
//
//	idioms.go       NewIdioms, NewManyIdioms: holes, choices, blocks
//	idiomlist.go    the pieces
//
// All programs are well typed. Programs of New are also total: indices are in range for the
// generated data, variables are assigned before they are read, loops end, and numbers stay small
// enough to keep rounding errors small (every expression carries a bound of its absolute value).
// Programs of NewModel mostly are: some sizes are 0, some data do not fit, and then all ways of
// evaluation must reject. Programs of NewStatements are, except for those that reject on purpose. A
// statement or the head of a block takes one line, for the shrinker.
package proggen

import "encoding/json"

// Feature is something that programs of New contain unless it is switched off.
type Feature string

// The features.
const (
	Functions Feature = "functions" // user-defined functions
	// Branches whose condition depends on parameters.
	ParamBranch    Feature = "param-branch"
	Jumps          Feature = "jumps"           // break, continue
	Whiles         Feature = "whiles"          // while loops whose end depends on data
	Prints         Feature = "prints"          // print
	Rejections     Feature = "rejections"      // reject, and scales that may be negative
	TargetReads    Feature = "target-reads"    // target()
	JacobianPlus   Feature = "jacobian-plus"   // jacobian += in transformed parameters
	Ragged         Feature = "ragged"          // inner loops whose bounds differ between iterations
	IntLocals      Feature = "int-locals"      // int variables that are changed in loops
	RepeatedSlices Feature = "repeated-slices" // += at int arrays with repeated elements
	ParamInts      Feature = "param-ints"      // comparisons of parameters used as numbers
	ForEach        Feature = "foreach"         // loops over the elements of a container
	NestedReturns  Feature = "nested-returns"  // return within loops of functions, decided by data
	MixedLevels    Feature = "mixed-levels"    // ?: with sides of different autodiff level, ~ on data
	LoopSlices     Feature = "loop-slices"     // slices whose bounds vary with a loop
	// Jumps and ends of loops that depend on parameters.
	ParamJumps   Feature = "param-jumps"
	Computed     Feature = "computed"              // indices and bounds computed from parameters
	FunctionInts Feature = "function-int-variates" // int variables of functions as variates
	CondLevels   Feature = "cond-levels"           // ?: in arguments of distributions after ~
	TargetLupdf  Feature = "target-lupdf"          // target += …_lupdf(…)
	Constrained  Feature = "constrained"           // constrained parameters: vectors and matrices
	Tuples       Feature = "tuples"                // local tuples, unpacking
	Complex      Feature = "complex"               // complex numbers
)

// Program is a random program.
type Program struct {
	Seed uint64
	Text string
	Data string // JSON with the values of the data block

	Patterns []string // names of the templates, or kinds of statements, that it was made of
}

// New makes the program of a seed without the features in off.
func New(seed uint64, off ...Feature) Program {
	g := &gen{page: newPage(seed, 0x5851f42d4c957f2d), off: map[Feature]bool{}, data: map[string]any{}}
	for _, f := range off {
		g.off[f] = true
	}
	g.chooseFeatures()
	g.program()
	values, err := json.Marshal(g.data)
	if err != nil {
		panic(err) // cannot fail: values are numbers
	}
	return Program{Seed: seed, Text: g.text(), Data: string(values)}
}

// chooseFeatures switches off, in most programs, features that force the compiler to evaluate loops
// sequentially.
func (g *gen) chooseFeatures() {
	for _, f := range []struct {
		Feature
		p float64 // probability that the feature stays on
	}{
		{Functions, 0.6}, {ParamBranch, 0.6}, {Jumps, 0.25}, {Whiles, 0.4}, {Prints, 0.08}, {Rejections, 0.25},
		{TargetReads, 0.08}, {JacobianPlus, 0.15}, {Ragged, 0.5}, {IntLocals, 0.4}, {RepeatedSlices, 0.3},
		{ParamInts, 0.3}, {ForEach, 0.5}, {NestedReturns, 0.5}, {MixedLevels, 0.5}, {LoopSlices, 0.3}, {ParamJumps, 0.2}, {Computed, 0.3},
		{FunctionInts, 0.3}, {TargetLupdf, 0.6}, {CondLevels, 0.5}, {Constrained, 0.5}, {Tuples, 0.4}, {Complex, 0.4},
	} {
		if !g.chance(f.p) {
			g.off[f.Feature] = true
		}
	}
}

// program writes the whole program. Functions come first in the text but are made last, because
// they are made for the sizes that the data declare.
func (g *gen) program() {
	g.stage, g.cost = inData, 1
	g.chooseSizes()
	if g.on(Functions) {
		g.functions()
	}
	g.open("data {")
	g.dataBlock()
	g.close()
	if g.chance(0.5) {
		g.open("transformed data {")
		g.stage = inData
		g.declareAll(g.between(1, 3))
		g.statements(g.between(0, 2))
		g.finish()
		g.close()
		g.freeze()
	}
	g.open("parameters {")
	g.parameterBlock()
	g.close()
	if g.chance(0.6) {
		g.open("transformed parameters {")
		g.stage = inTransformed
		g.constrainedValue()
		g.declareAll(g.between(1, 3))
		g.statements(g.between(0, 3))
		g.finish()
		if g.on(JacobianPlus) {
			g.line("jacobian += %s;", g.scaled(g.real(2), 3).text)
		}
		g.close()
		g.freeze()
	}
	g.open("model {")
	g.stage = inModel
	mark := g.mark()
	g.declareAll(g.between(0, 2))
	g.statements(g.between(3, 7))
	g.useLocals(mark)
	g.release(mark, true)
	g.close()
	if g.chance(0.4) {
		g.open("generated quantities {")
		g.stage = inGenerated
		g.constrainedValue()
		g.declareAll(g.between(1, 3))
		g.statements(g.between(1, 3))
		g.finish()
		g.close()
	}
}
