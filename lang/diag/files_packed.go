//go:build packed

package diag

import "github.com/ppl-lang/ppl/internal/packed"

// codeFiles has the files of this package that declare codes.
const codeFiles = packed.Folder("lang/diag")
