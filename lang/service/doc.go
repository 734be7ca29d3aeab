// Package service answers what editors ask about a program: what is wrong with it
// and how it can be fixed, what a name means, what may be written at a place, how
// the text is laid out. Programs may be half-written: every function gives what can
// be known of any text, and none fails.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	snapshot.go    Snapshot: one version of a program with what it includes, analysed
//	place.go       from a place in the text to the nodes and tokens around it
//	scope.go       the variables that are visible at a place
//	symbol.go      Symbol: what a name refers to; definitions, references
//	rename.go      renaming, refused where it would change what a name means
//	context.go     what a half-written text expects at a place
//	complete.go    completion
//	signature.go   the forms of the call around a place
//	hover.go       types, shapes, documentation
//	shape.go       the shapes of expressions in terms of declared sizes
//	hints.go       inlay hints: types and shapes beside expressions
//	outline.go     blocks and declarations; folding
//	semantic.go    tokens with what they mean, for highlighting
//	fixes.go       changes that diagnostics offer; changes of the layout
//
// Places are byte offsets in a source.File, which is either the text of the document
// or one of the files that it includes; spans in results are likewise in the file from
// which the text came. What the library has is given by a [Library], so that the package
// depends on none; what data are known, by the caller.
package service
