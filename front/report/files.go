//go:build !packed

package report

import "embed"

// pages has the folder page.
//
//go:embed page
var pages embed.FS
