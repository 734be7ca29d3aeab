// Package emit builds the graphs of a program: it evaluates the typed program with its data known
// and its parameters symbolic. Only this package of the partial evaluator knows graphs, regions and
// masks. A region is a graph within a graph: the body of a scan or while loop, or a branch of a
// conditional. A mask excludes lanes.
//
// A loop passes through three packages. Package inspect finds its statements (an [inspect.Nest],
// integers only), package plan orders them (a [plan.Plan]), and this package evaluates them.
// Inspection and emission share three packages: static analyses statements without data, lanes has
// values per lane that data decide, and known evaluates expressions that data decide.
//
// Map of the package. Each part is a type, which New builds from the parts above it. Uses of parts
// further down go through two interfaces, for expressions and statements.
//
//	tuning.go      the tuning constants of binding, with their measurements
//	value.go       values, axes, levels (graphs within graphs); context: where results go
//	report.go      reporter: diagnostics, faults, budgets
//	graph.go       builder: adds nodes in their level and lanes; arrays: moves elements
//	contents.go    contents: the values of variables, whole or scattered
//	variables.go   variables: reading and writing, as the units of nests see them
//	recurrence.go  … reads of steps from registers; scans: evaluates only the recurrence in order
//	density.go     logDensity: its terms; marks: densities with expected information
//	journal.go     journal: how loops were evaluated; plans that can be printed and tested
//	part.go        Part: what a graph can hold of an interpreted log density
//	control.go     control: how statements end (break, continue, return); conditionals, regions
//	index.go       indexer: indices, known or computed when the program runs
//	calls.go       library, userCalls: functions of the library and of the program
//	expr.go        expressions
//	iterations.go  iterator: the iterations of loops; variables as the inspector sees them
//	nests.go       nests: loops as inspected and planned, group by group
//	carry.go       carrier: loops as regions that carry variables whole, or unrolled
//	loop.go        loops: tries the ways to evaluate loops, in order
//	stmt.go        statements
//	parameters.go  parameters: from unconstrained numbers; checks of declared variables
//	program.go     Program: the log density, the outputs; New
//
// # How a loop is evaluated
//
// A loop is inspected, then planned, then evaluated once. One value, the context, decides where
// results go: into which graph, in which lanes, under which conditions.
//
// The inspector (package inspect) walks the body once for all iterations, which are an axis of
// lanes. Integers that data decide are known for every lane, including counters such as `pos +=
// n[i]`. So conditions split the lanes, and inner loops multiply them, however ragged. The result
// is a list of units. A unit is a statement with the set of iterations that execute it (its
// domain), and the elements of variables that it reads and writes. Control flow that parameters
// decide becomes one unit: a conditional, with the rest of the iteration if it may `continue`, or
// an inner loop that parameters may end.
//
// Package plan, which works on integers only, finds the version of each element that a read sees.
// It orders units so that each version is written before it is read. Units that do not depend on
// themselves are evaluated in lanes, over their own domain: nothing is added, checked or drawn in
// iterations that a condition excludes. Strongly connected components of the others are sums or
// recurrences. All other loops become a region that carries whole variables (carry.go), or are
// unrolled.
//
// In lanes. y[n] is a slice, a[g[n]] is a gather, and the log density is a sum over lanes. The term
// under the condition has the lanes for which it is true:
//
//	for (n in 1:N) {                         line 1: nest, 100 iterations
//	  real m = a[g[n]];                        lanes         100  line 2
//	  if (o[n]) y[n] ~ normal(m, s);           lanes          60  line 3
//	}
//
// A sum. Additions to an element, with no other write and no read in between, are summed in one
// operation:
//
//	for (n in 1:N) {                         line 1: nest, 100 iterations
//	  count[g[n]] += exp(x[n]);                sum, or when nothing else uses count: lanes
//	}
//
// A recurrence. h depends on itself. The scan carries one number; everything else in the statement
// is computed for all steps at once. The term comes after the scan, in its own lanes, without the
// missing observations:
//
//	real h = mu;                             line 2: nest, 100 iterations
//	for (t in 1:T) {                           recurrence    100  line 3: h
//	  h = mu + phi * (h - mu) + s * z[t];      lanes          60  line 4
//	  if (o[t]) y[t] ~ normal(0, exp(h / 2));
//	}
//
// A read of a recurrence must see the value from the same number of steps before in all steps. Only
// the first steps differ: they see the value from before the loop. If conditions on data decide
// which statement wrote last, they become part of the steps (inspect.Way.Joined). An inner loop
// within the recurrence is unrolled if it has few iterations. If their number differs between
// steps, each iteration becomes a conditional.
//
// A recurrence through inner loops: each day depends on a sum over earlier days. The innermost loop
// around all units that depend on one another, here the loop over days, is unrolled. The lanes
// around it and the sums within it stay.
//
//	for (m in 1:M)                           line 1: nest, 14 iterations
//	  for (i in 2:T) {                         lanes          14  line 3 5
//	    real c = 0;                            sum            14  line 4: c
//	    for (j in 1:i-1) c += x[j, m] * w[i-j];
//	    x[i, m] = r[m] * c;                    …
//	  }
//
// In levels (wavefronts). Iterations read one another's values without a pattern, but in short
// chains. The first level consists of the iterations that read no value of the loop. The next level
// reads only values of the first, and so on. Each level is evaluated in lanes:
//
//	for (n in 2:N) {                         line 1: nest, 99 iterations in 7 groups
//	  x[n] = x[parent[n]] + s * z[n];          lanes         1, 2, … line 2
//	}
//
// Carried whole. For distances that vary without pattern, and jumps that parameters decide:
//
//	for (n in 1:N) {                         line 1: carried, 100 iterations
//	  if (z[n] > 3) break;                     not sooner: break or return in the loop
//	  target += -square(z[n]);
//	}
//
// Iterated: a `while` that parameters end is one ad.While.
//
// Unrolled: short loops, loops that cannot be carried, and loops that carry arrays but whose inner
// loops are long enough to be worth it as lanes, such as those over the rows of a table:
//
//	for (i in 1:N)                           line 1: unrolled, 400 iterations
//	  for (k in 1:i)                         line 2: nest, 1, 2, … iterations
//	    w[i + 1, k + 1] = w[i, k] * p[i] + w[i, k + 1] * (1 - p[i]);
//
// Only unrolled loops make the graph grow with the number of iterations.
//
// Stats holds the plans (`ppl explain` prints them) and counts the loops of each kind. A plan is
// carried out once, without trial and undo. If the evaluation meets a case that the plan did not
// foresee, this is a fault: tests fail, and a user's program is interpreted.
package emit
