// Package known evaluates all values that data decide, before graphs are built: expressions in all
// lanes of a loop, integers that loops change, and the sizes of values that depend on parameters.
// It is the only evaluator of known integers; inspection and emission both use it.
//
//	evaluate.go  Evaluator: expressions, lane by lane, by package interp
//	follow.go    Follow: integers that a loop passes from iteration to iteration
//	shapes.go    Shapes: the sizes of expressions, even if their values are not known
//	call.go      Call: functions of known integers
//
// The rule for integers (range, overflow, error messages) is in lang/types/ints.go, which the
// library, the checker and editors also use.
package known
