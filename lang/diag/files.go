//go:build !packed

package diag

import "embed"

// codeFiles has the files of this package that declare codes.
//
//go:embed codes*.go
var codeFiles embed.FS
