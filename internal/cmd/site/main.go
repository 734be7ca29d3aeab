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
	"archive/zip"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	packed := flag.String("pack", "", "write one packed `file` instead of a folder")
	root := flag.String("root", ".", "the `folder` of the module")
	flag.Parse()
	if (*packed == "") == (flag.NArg() == 0) || flag.NArg() > 1 {
		fmt.Fprintln(os.Stderr, "usage: site OUT | site --pack FILE")
		os.Exit(2)
	}
	files, err := build(*root)
	if err == nil && *packed != "" {
		err = writePacked(*packed, files)
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

// writePacked writes a zip file of uncompressed files, compressed as a whole: pages have much in
// common, and 0.95 MB are left, not 1.18. It writes the same bytes for the same files: without
// times, and with names in order.
func writePacked(file string, files map[string][]byte) error {
	var b bytes.Buffer
	whole, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	z := zip.NewWriter(whole)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return err
		}
		if _, err := w.Write(files[name]); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := whole.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o666)
}
