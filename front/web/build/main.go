// Command build builds the playground's engine from the module in the working directory into a new
// folder, for programs that embed it (build tag playground).
//
//	go run ./front/web/build front/web/built
//	go build -tags playground ./cmd/ppl
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ppl-lang/ppl/front/web"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: build FOLDER")
		os.Exit(2)
	}
	if err := build(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func build(dir string) error {
	files, err := web.Build(context.Background(), ".")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
