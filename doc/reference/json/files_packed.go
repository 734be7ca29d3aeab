//go:build packed

package json

import "github.com/ppl-lang/ppl/internal/packed"

// Schemas has a file NAME.schema.json for each kind of document. go generate ./cmd/ppl writes them.
const Schemas = packed.Folder("doc/reference/json")
