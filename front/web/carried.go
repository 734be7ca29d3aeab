//go:build playground

package web

import "embed"

//go:embed built
var builtFiles embed.FS

// carried returns the built files, which are embedded in this program from the folder built.
func carried() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range built() {
		text, err := builtFiles.ReadFile("built/" + name)
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return files, nil
}
