//go:build !packed

package examples

import "embed"

// Files has the example models and their data, each in its folder: garch/garch.model and
// garch/garch.data.json.
//
//go:embed */*.model */*.data.json
var Files embed.FS
