// Command site builds the documentation as a folder of HTML pages, or as one packed file, from the
// Markdown files of the module in the working directory:
//
//	go run ./internal/cmd/site OUT
//	go run ./internal/cmd/site --pack FILE
//
// The pages need neither network nor server: links and pictures are relative, and the search uses
// files. A release contains the packed file, which ppl docs serves (package front/docs).
//
//	main.go    options
//	site.go    the list of pages, their shelves, links between them
//	page.go    one page from Markdown to HTML, and its frame
//	search.go  the index of words
//	assets/    style, script, frame
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ppl-lang/ppl/internal/packed"
)

func main() {
	archive := flag.String("pack", "", "write one packed `file` instead of a folder")
	root := flag.String("root", ".", "the `folder` of the module")
	flag.Parse()
	if (*archive == "") == (flag.NArg() == 0) || flag.NArg() > 1 {
		fmt.Fprintln(os.Stderr, "usage: site OUT | site --pack FILE")
		os.Exit(2)
	}
	files, err := build(*root)
	if err == nil && *archive != "" {
		err = writePacked(*archive, files)
	} else if err == nil {
		err = writeFolder(flag.Arg(0), files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func writeFolder(dir string, files map[string][]byte) error {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// writePacked writes one compressed archive: 0.78 MB, where a zip file has 1.18. It writes the same
// bytes for the same files.
func writePacked(file string, files map[string][]byte) error {
	archive, err := packed.Compress(files)
	if err != nil {
		return err
	}
	return os.WriteFile(file, archive, 0o666)
}
