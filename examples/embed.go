// Package examples holds example models; its tests compare each of them with
// what real Stan gave (expected.json, see README.md).
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
package examples

import "embed"

// Files are the models of the examples with their data, in a folder each:
// garch/garch.model and garch/garch.data.json.
//
//go:embed */*.model */*.data.json
var Files embed.FS
