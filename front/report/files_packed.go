//go:build packed

package report

import "github.com/ppl-lang/ppl/internal/packed"

// pages has the folder page.
const pages = packed.Folder("front/report")
