// Package static analyses programs without their data.
//
//	statements.go  jumps in statements; the variables that they declare and assign
//	slice.go       Slice: statements without some and those that depend on them
//	sideeffects.go Functions: side effects of statements and functions
//	sizes.go       which integers decide the sizes of values
//	reduced.go     slices that are reduced at once, which are no separate values
package static
