// Package known evaluates what data decide, before anything becomes a graph: expressions in all
// lanes of a loop, integers that loops change, and the sizes of values that are not known
// themselves. It is the one evaluator of known integers; inspection and emission both ask it.
//
//	evaluate.go  Evaluator: expressions, lane by lane, by package interp
//	follow.go    Follow: integers that a loop hands from iteration to iteration
//	shapes.go    Shapes: the sizes of expressions whose values data do not decide
//	call.go      Call: functions of integers whose arguments are known
//
// The rule for integers (range, overflow, the words of an error) is in lang/types/ints.go, where
// the library, the checker and editors find it too.
package known
