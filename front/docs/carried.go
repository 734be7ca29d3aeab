//go:build docs

package docs

import _ "embed"

//go:embed site.zip
var site []byte

// carried is the site that was built before this program.
func carried() []byte { return site }
