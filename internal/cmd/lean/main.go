// Command lean prints the arguments of go build for a released program, one in a line.
//
//	mapfile -t lean < <(go run ./internal/cmd/lean [TAG…])
//	go build "${lean[@]}" ./cmd/ppl
package main

import (
	"fmt"
	"os"

	"github.com/ppl-lang/ppl/internal/lean"
)

func main() {
	for _, arg := range lean.Args(os.Args[1:]...) {
		fmt.Println(arg)
	}
}
