//go:build playground

package web

import "embed"

//go:embed built
var builtFiles embed.FS

// carried are the files that were built before this program was, into the folder built.
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
