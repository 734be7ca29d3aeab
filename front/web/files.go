//go:build !packed

package web

import "embed"

// pages has the folder page.
//
//go:embed page
var pages embed.FS
