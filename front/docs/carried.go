//go:build docs

package docs

import _ "embed"

//go:embed site.zip.lzma
var site []byte

// carried returns the packed site, which is embedded in this program.
func carried() []byte { return site }
