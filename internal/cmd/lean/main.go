// Command lean prints the arguments of go build for a released program, one in a line. It also
// writes the file that such a program embeds, internal/packed/files.zip, into the clone that is the
// working directory.
//
//	mapfile -t lean < <(go run ./internal/cmd/lean [TAG…])
//	go build "${lean[@]}" ./cmd/ppl
package main

import (
	"fmt"
	"os"

	"github.com/ppl-lang/ppl/internal/lean"
	"github.com/ppl-lang/ppl/internal/packed"
)

func main() {
	if err := pack(); err != nil {
		fmt.Fprintln(os.Stderr, "lean:", err)
		os.Exit(1)
	}
	for _, arg := range lean.Args(os.Args[1:]...) {
		fmt.Println(arg)
	}
}

// pack writes the packed files. Builds that run at the same time see the old file or the new one.
func pack() error {
	text, err := packed.Write(os.DirFS("."))
	if err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s.%d", packed.File, os.Getpid())
	if err := os.WriteFile(temporary, text, 0o666); err != nil {
		return err
	}
	return os.Rename(temporary, packed.File)
}
