// Package service implements what editors show about a program: diagnostics and their fixes, the
// meaning of names, completions, formatting. Programs may be unfinished: every function returns
// what can be derived from any text, and none fails.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	snapshot.go    Snapshot: one version of a program with its included files, analysed
//	later.go       completion in a newer text, before it is analysed
//	place.go       from a position in the text to the nodes and tokens around it
//	scope.go       the variables that are visible at a position
//	symbol.go      Symbol: what a name refers to; definitions, references
//	rename.go      renaming, refused if it would change the meaning of a name
//	context.go     what may follow in an unfinished text
//	complete.go    completion
//	signature.go   the signatures of the call around a position
//	hover.go       types, shapes, documentation
//	shape.go       the shapes of expressions in terms of declared sizes
//	hints.go       inlay hints: types and shapes of expressions
//	outline.go     blocks and declarations; folding
//	calls.go       which functions call which
//	select.go      the parts of a text around a position; #include lines
//	semantic.go    tokens with their meanings, for highlighting
//	fixes.go       edits that diagnostics offer; formatting
//
// Positions are byte offsets in a source.File, which is either the text of the document or one of
// its included files. Spans in results also refer to the file from which the text came. The caller
// provides the library of functions, by the interface [Library], and the known data, so that the
// package does not depend on a library.
package service
