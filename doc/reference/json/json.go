// Package json has the JSON schemas of what ppl prints and writes, for the command ppl schema.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
package json

import "embed"

// Schemas has a file NAME.schema.json for each kind of document. go generate ./cmd/ppl writes them.
//
//go:embed *.schema.json
var Schemas embed.FS
