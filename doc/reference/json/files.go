//go:build !packed

package json

import "embed"

// Schemas has a file NAME.schema.json for each kind of document. go generate ./cmd/ppl writes them.
//
//go:embed *.schema.json
var Schemas embed.FS
