// Package lang reads the language: source text in, syntax tree or typed program
// out, with diagnostics on the way.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// The pipeline, each package importing only those before it:
//
//	source            files, spans, positions
//	diag              diagnostics, their codes, rendering, did-you-mean
//	ast               the syntax tree; Inspect, Rewrite, Equal
//	printer           tree to text: the only printer
//	types             types, signatures, constraints, promotion
//	internal/grammar  text to tree: lexer, participle grammar, recovery
//	internal/legacy   what older versions had, and what replaced it
//	lang              Parse, ParseWith: the entry to the above; included files;
//	                  upgrading of older syntax
//	check             names, types, rules of blocks: tree to check.Info
//	format            text to text in the canonical layout, comments kept
//	service           what editors ask of programs, half-written ones too
//
// internal/errtest is the test harness for diagnostics, shared by Parse and
// check. spec.md, at the root of the repository, is the language in words; each
// of its programs is parsed by spec_test.go.
//
// Two checks against Stan's own compiler, stanc3, need its test programs at hand
// and are enabled by environment variables (see the tests); internal/cmd/stanc3suite
// prints how far we agree with it.
//
// # What Parse guarantees
//
// If the list has no errors, the tree has passed the rules below, and later
// stages need not look for them again:
//
//   - blocks are known, in order, and occur once each;
//   - the functions block holds FunctionDecl only (and Empty never); no other
//     block holds any;
//   - data and parameters hold VarDecl without Init, and Empty, only;
//   - bounds, and constrained element types, occur in declarations directly in
//     a block other than model; the bounds of a type are known, at most one of
//     each, of one kind (lower and upper, or offset and multiplier), and of a
//     kind that the element type takes;
//   - types of variables have all their sizes, and as many as the element type
//     takes; types in signatures have none, and Unsized set;
//   - the left side of an Assign is made of VarExpr, IndexExpr, TupleMember and
//     TupleExpr; a statement that is an expression is a call;
//   - StringLit occurs in the arguments of Print and Reject only;
//   - TupleMember counts from 1;
//   - declared names are not reserved words;
//   - no tree is deeper than about ten thousand nodes, so recursion is safe.
//
// Left to check: everything that needs names or types, where break, continue
// and return may stand, which functions take a bar, and the range of integers
// (the value of an IntLit beyond 64 bits is the largest int64).
package lang
