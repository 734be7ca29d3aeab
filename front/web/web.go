// Package web has the playground: a web page in which you write, check and run models. It needs
// only the files of one folder.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	web.go      Page: the files that are in the repository
//	engine.go   Engine, Build: the files that must be built
//	carried.go  the built files in released programs, which embed them
//	page/       the page: HTML, styles and scripts
//	files.go, files_packed.go   the folder page; in released programs compressed
//	engine/     the work of its web workers, in Go
//	wasm/       the program that they run
//	build/      a command that builds it for a release
//
// # What is built
//
// The WebAssembly program is compiled from this module. It needs a script from the same Go
// distribution. Neither is in the repository. Released programs embed them: .ci/release builds them
// into front/web/built and the command with the tag playground. Any other ppl builds them when they
// are first needed, and stores them in the user's cache. It needs the Go toolchain, which go
// install needs too.
package web

import (
	"encoding/json"
	"io/fs"

	"github.com/ppl-lang/ppl/examples"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/model"
)

// Page returns the files that are in the repository, by name.
func Page() (map[string][]byte, error) {
	files := map[string][]byte{}
	entries, err := fs.ReadDir(pages, "page")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if files[e.Name()], err = pages.ReadFile("page/" + e.Name()); err != nil {
			return nil, err
		}
	}
	style, script := report.Parts()
	files["report.css"], files["report.js"] = []byte(style), []byte(script)
	return files, addExamples(files)
}

// example is an example that the page lists.
type example struct {
	Title string `json:"title"`
	Name  string `json:"name"`  // name of the model without its extension
	Model string `json:"model"` // name of a file in the folder
	Data  string `json:"data"`
}

// addExamples adds the repository's examples: their files, and site.json, which has the list of
// examples and the version.
func addExamples(files map[string][]byte) error {
	var list []example
	for _, e := range []example{
		{Title: "Eight schools: partial pooling", Name: "eight_schools"},
		{Title: "Logistic regression", Name: "logistic_regression"},
		{Title: "Hierarchical regression", Name: "hierarchical_regression"},
		{Title: "Stochastic volatility", Name: "stochastic_volatility"},
		{Title: "GARCH", Name: "garch"},
		{Title: "Mixture of normals", Name: "normal_mixture"},
	} {
		for _, f := range []struct {
			file   *string
			ending string
		}{{&e.Model, ".model"}, {&e.Data, ".data.json"}} {
			text, err := examples.Files.ReadFile(e.Name + "/" + e.Name + f.ending)
			if err != nil {
				return err
			}
			*f.file = "example_" + e.Name + f.ending
			files[*f.file] = text
		}
		list = append(list, e)
	}
	text, err := json.Marshal(map[string]any{"version": model.Version(), "examples": list})
	files["site.json"] = text
	return err
}
