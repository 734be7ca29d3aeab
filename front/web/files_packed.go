//go:build packed

package web

import "github.com/ppl-lang/ppl/internal/packed"

// pages has the folder page.
const pages = packed.Folder("front/web")
