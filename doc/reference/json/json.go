// Package json has the JSON schemas of what ppl prints and writes, for the command ppl schema.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	files.go          the schemas
//	files_packed.go   the same in released programs, compressed
package json
