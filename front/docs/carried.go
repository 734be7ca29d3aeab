//go:build docs

package docs

import _ "embed"

//go:embed site.zip
var site []byte

// carried returns the zip file of the site, which is embedded in this program.
func carried() []byte { return site }
