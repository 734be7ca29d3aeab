// Package examples has example models. Its tests compare each of them with the results of real Stan
// (expected.json, see README.md).
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	files.go          Files: the models and their data
//	files_packed.go   the same in released programs, compressed
package examples
