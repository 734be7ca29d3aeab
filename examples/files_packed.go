//go:build packed

package examples

import "github.com/ppl-lang/ppl/internal/packed"

// Files has the example models and their data, each in its folder: garch/garch.model and
// garch/garch.data.json.
const Files = packed.Folder("examples")
