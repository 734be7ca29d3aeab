// Package static analyses programs without their data.
//
//	statements.go  jumps in statements; the variables that they declare and assign
//	slice.go       Slice: statements that do not depend on dropped ones
//	sideeffects.go Functions: side effects of statements and functions
//	sizes.go       which integers determine the sizes of values
//	levels.go      Levels: autodiff levels of expressions
//	drawn.go       Drawn: variables that may depend on random draws
//	reduced.go     slices that are reduced to a number at once
package static
