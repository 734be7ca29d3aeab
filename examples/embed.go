// Package examples has example models. Its tests compare each of them with the results of real Stan
// (expected.json, see README.md).
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
package examples

import "embed"

// Files has the example models and their data, each in its folder: garch/garch.model and
// garch/garch.data.json.
//
//go:embed */*.model */*.data.json
var Files embed.FS
