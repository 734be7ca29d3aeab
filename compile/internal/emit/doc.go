// Package emit makes graphs: it evaluates a typed program with its data known and its parameters
// symbolic. It alone knows graphs, regions and masks.
//
// A loop goes through three packages, with one value between each two: package inspect finds the
// statements that it consists of (an [inspect.Nest], integers alone), package plan orders them (a
// [plan.Plan]), and this one evaluates them. Packages static and lanes are what inspection and
// emission have in common: what can be read off statements alone, and values that data decide, per
// lane. Package known evaluates what data decide, for both.
//
// Map of the package. Each part is a type that New makes of the parts above it; what expressions
// and statements need of one another further down goes through two interfaces.
//
//	tuning.go      the numbers that steer binding, with the measurements behind them
//	value.go       values, axes, levels (graphs within graphs); context: where evaluation is
//	report.go      reporter: diagnostics, faults, budgets
//	graph.go       builder: nodes, in the level and the lanes that they need; arrays: moved elements
//	contents.go    contents: what variables hold, whole or scattered
//	variables.go   variables: reading and writing, as the units of nests see them
//	recurrence.go  … what steps read from registers; scans: of just what recurs
//	density.go     logDensity: what is added to it; marks: densities with expected information
//	journal.go     journal: how loops came out; plans that can be printed and tested
//	control.go     control: how statements end (break, continue, return); conditionals, regions
//	index.go       indexer: indices, known or computed when the program runs
//	calls.go       library, userCalls: functions of the library and of the program
//	expr.go        expressions
//	iterations.go  iterator: loops as the iterations that they have; variables as the inspector sees them
//	nests.go       nests: loops as inspected and planned, group by group
//	carry.go       carrier: loops as regions that carry variables whole, or unrolled
//	loop.go        loops: the ways to evaluate them, in their order
//	stmt.go        statements
//	parameters.go  parameters: from unconstrained numbers; checks of declared variables
//	program.go     Program: the log density, the outputs; New
//
// # How a loop is evaluated
//
// A loop is inspected, then planned, then evaluated once. One value, the context, says where what
// is evaluated goes: into which graph, in which lanes, under which conditions.
//
// The inspector (package inspect) walks the body once for all iterations, which are an axis of
// lanes. Integers that data decide are known for every lane, counters such as `pos += n[i]` too. So
// conditions split the lanes, and inner loops multiply them, however ragged. What is left are
// units: each is a statement, the set of iterations that execute it (its domain), and the elements
// of variables that it reads and writes. What parameters decide is one unit: a conditional, with
// the rest of the iteration if it may `continue`; an inner loop that they may end.
//
// Package plan, which knows integers alone, finds the version of each element that a read sees, and
// orders units so that each version is written before it is read. Units that do not depend on
// themselves are evaluated in lanes, over their own domain: nothing is added, checked or drawn in
// iterations that a condition leaves out. Strongly connected components of the others are sums or
// recurrences. What fits none of these becomes a region that carries whole variables (carry.go), or
// is unrolled.
//
// In lanes. y[n] is a slice, a[g[n]] a gather, the log density a sum over lanes; the term
// under the condition has the lanes that meet it:
//
//	for (n in 1:N) {                         line 1: nest, 100 iterations
//	  real m = a[g[n]];                        lanes         100  line 2
//	  if (o[n]) y[n] ~ normal(m, s);           lanes          60  line 3
//	}
//
// A sum. Additions to an element, with no other write and no read in between, are added up at once,
// by element:
//
//	for (n in 1:N) {                         line 1: nest, 100 iterations
//	  count[g[n]] += exp(x[n]);                sum, or when nothing else uses count: lanes
//	}
//
// A recurrence. h depends on itself. The scan hands on one number; everything else in the statement
// is computed for all steps at once. Missing observations take no part in it. The term comes after
// the scan, in its own lanes:
//
//	real h = mu;                             line 2: nest, 100 iterations
//	for (t in 1:T) {                           recurrence    100  line 3: h
//	  h = mu + phi * (h - mu) + s * z[t];      lanes          60  line 4
//	  if (o[t]) y[t] ~ normal(0, exp(h / 2));
//	}
//
// A read of a recurrence must see the value of the same number of steps before, in all steps but
// the first ones, which see what was there before the loop. If conditions on data decide which
// statement wrote last, they become part of the steps (inspect.Way.Joined). An inner loop within
// the recurrence is unrolled, if it has few iterations; where their number differs between steps,
// each iteration becomes a conditional.
//
// A recurrence through inner loops: each day depends on a sum over earlier ones. The loop over
// days, the innermost around everything that depends on one another, is unrolled; the lanes around
// it and the sums within it stay.
//
//	for (m in 1:M)                           line 1: nest, 14 iterations
//	  for (i in 2:T) {                         lanes          14  line 3 5
//	    real c = 0;                            sum            14  line 4: c
//	    for (j in 1:i-1) c += x[j, m] * w[i-j];
//	    x[i, m] = r[m] * c;                    …
//	  }
//
// In levels. Iterations read one another's values without a pattern, but in short chains. The first
// level, in lanes, is the iterations that read nothing that the loop wrote; the next one reads only
// what the first wrote, and so on:
//
//	for (n in 2:N) {                         line 1: nest, 99 iterations in 7 groups
//	  x[n] = x[parent[n]] + s * z[n];          lanes         1, 2, … line 2
//	}
//
// Carried whole. Distances that vary without pattern, or jumps that parameters decide:
//
//	for (n in 1:N) {                         line 1: carried, 100 iterations
//	  if (z[n] > 3) break;                     not sooner: break or return in the loop
//	  target += -square(z[n]);
//	}
//
// Iterated: a `while` that parameters end is one ad.While. Unrolled: what is left, and short loops.
// Only unrolled loops make the graph grow with the number of iterations.
//
// Stats holds the plans (`ppl explain` prints them) and counts the loops of each kind. A plan is
// carried out once: nothing is tried, and nothing taken back. If the evaluation meets what the plan
// did not foresee, that is a fault: tests fail, and a user's program is interpreted.
package emit
