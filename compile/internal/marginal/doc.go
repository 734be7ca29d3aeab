// Package marginal sums discrete parameters out of a program. It rewrites a program whose
// parameters block has integers as an ordinary program without them, once its data are known.
//
// The written program goes through the usual pipeline, so all speed comes from what binding
// recognises anyway: independent elements become lanes, chains become scans. No structure has its
// own code here. A mixture, a hidden Markov model, a tree, a grid and a noisy-or network differ
// only in the steps that the elimination finds.
//
//	program.go  the discrete parameters, their elements and values; what is computed from them
//	holes.go    integers of the data with missing elements
//	open.go     calls of functions with terms of the density, written out
//	split.go    statements about containers as loops over elements
//	ranged.go   loops whose ends depend on discrete parameters, as conditions
//	inline.go   elements of containers that are computed from discrete parameters, by definition
//	leaves.go   the statements that depend on a discrete parameter, each with the code it needs
//	once.go     each term of the density is written once
//	trace.go    runs these statements with data only, to find the elements that each factor reads
//	order.go    the order of elimination
//	exact.go    the order with the fewest terms in small components
//	content.go  instances of statements that are equal, because their data are
//	determine.go  elements that data leave one value
//	live.go     messages that are 1, whatever the parameters
//	merge.go    equal steps of the elimination, of which the density has one
//	restrict.go  sums that are messages of other steps, at values that data decide
//	prune.go    values that data rule out
//	nan.go      terms that are NaN, which a message names
//	support.go  values that other elements rule out
//	free.go     counts that only their distribution is about, whose sum is 1
//	cut.go      sums over counts, which have no upper bound
//	shape.go    shapes of factors as functions of a count, so that sums know where they may end
//	families.go the shapes of functions and distributions
//	rise.go     how much terms may rise beyond the last value of a sum
//	mixture.go  mixtures of counts, split into their components
//	overflow.go sums over counts with a value in place of all beyond the last one
//	peak.go     the largest value of a factor for all values of its counts
//	possible.go conditions that leave a count consecutive values
//	counted.go  the counts that expressions read
//	group.go    isomorphic steps of the elimination
//	selector.go factors that read an element through comparisons alone, as running sums
//	emit.go     a loop for each group of steps: sums for the density, draws for each draw
//	share.go    calls that many statements have, once
//	editor.go   statements of the program as terms of a factor
//	purpose.go  the results other than the density: observations, probabilities
//	outside.go  the pass backwards, for probabilities of values and densities of observations
//	edge.go     terms that may be -inf where their derivative is infinite
//	rewrite.go  Prepare and Rewrite: the whole way
//	build.go    constructors of syntax trees
//
// # Factors
//
// A factor is an instance of a statement of the model block: at given values of the loops around
// it. It reads some elements of discrete parameters. Which ones is found by running the statement
// with the data alone: conditions and indices that data decide are evaluated, and where a discrete
// parameter decides, all ways are followed. A statement that cannot be divided, such as a loop
// whose end a discrete parameter decides, is one factor with all elements that it may read. Local
// variables and transformed parameters that depend on discrete parameters are computed within the
// factors that read them; transformed parameters move to generated quantities.
//
// # Dropped terms
//
// A statement with ~ about a discrete parameter keeps all its terms: a term that is constant for
// the sampler may differ between the values that are summed over. Other statements follow Stan's
// rule.
//
// # Order
//
// An element is eliminated whose neighbours need the fewest new edges (min-fill); ties go to the
// first. So a chain is eliminated from its beginning, a tree from its leaves, and a grid by rows.
// The sum over an element with its factors is a message: a function of its neighbours.
//
// # Equal steps
//
// Two instances of a statement are equal functions of their elements if all that data decide in
// them is equal. Two steps are equal if their factors and the messages that they use are. The
// density has each step once, and multiplies terms of the target by the number of equal steps:
// sites with equal counts have one sum, and animals that were not seen again share the messages of
// the occasions since. Where more steps are equal if ties go to the last element, the elements of
// that component are eliminated in the opposite order. Draws have all steps, with these messages.
// So they are where more messages are 1, whatever the parameters: an animal that is dead when it is
// last looked for is not seen. A message the other way says how probable it is to be dead by then.
//
// Where data leave an element one value, a step next to it may be another step in which that
// element is unknown. Its sum is then that step's message, at this value.
//
// # Groups
//
// Two steps are isomorphic if they add up instances of the same statements and messages of the
// same number of elements, at the same positions of their cliques. A group of isomorphic steps is
// one loop. Numbers that differ by step, such as indices, are multiples of the loop variable if
// possible, otherwise elements of an index array. Messages are numbered along the way they are
// used, so that a step of a chain reads the message before its own. If steps use different numbers
// of factors of a kind, such as the ratings of an item, an inner loop adds them up. Where two
// groups need each other, as in two crossed chains, the steps are grouped by level.
//
// # Impossible values
//
// An element is not summed if data leave it one value: an animal is alive until it is last seen.
// Arc consistency finds them: a value is possible if each factor is positive for it together with
// some possible values of the factor's other elements. Statements have the value in place of the
// element, so that chains fall apart there.
//
// If data rule out the first or the last values of an element, the sum leaves them out. This holds
// for elements that no factor connects with others, so that the steps of a chain stay alike.
//
// The value of an element next to the eliminated one may rule out values of it: a dead animal stays
// dead. Where this saves a quarter of the terms, the message has a loop for each run of values with
// the same possible ones; a sum of one term needs no exponential.
//
// # Comparisons
//
// A factor that reads the eliminated element through comparisons alone, such as t < s, is constant
// over runs of values. Many such factors are added up by running sums: for each run of each factor
// there is one term, not for each value. So a change point costs as much as the density of the
// data under each regime. Where terms may be -inf, runs that end are never subtracted: a sum runs
// forward and another one backward, and runs between have a term for each of their values.
//
// # Values of probability zero
//
// The program never asks for the derivative of 0 · x by x for an integer 0, since it writes
// z * x as (z == 0 ? 0 : z * x). A term that computes a probability by other arithmetic is a
// choice: where it is -inf, no derivative passes. A count below 0, or a binomial count above its
// number of trials, has probability 0 if it depends on discrete parameters, instead of being an
// error.
//
// # What else is computed
//
// By default the program has the density, and draws the discrete parameters in generated
// quantities. Other purposes leave the density out. The outside messages, of a pass in the opposite
// order, give the probabilities of all values and, for each observation, the density of all others.
// Messages of maxima in place of sums give the most likely configuration.
//
// # A parameter that no statement reads
//
// It is uniform, as a real parameter without a prior is. The sum over it is the number of its
// values, and its draws are uniform.
package marginal
