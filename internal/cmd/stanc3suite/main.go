// Command stanc3suite runs the parser and the checker on the test programs of stanc3, Stan's own
// compiler, and compares the results.
//
//	go run ./internal/cmd/stanc3suite [-columns] DIR
//
// DIR is the folder test/integration of a checkout of stan-dev/stanc3, which is not part of this
// repository. The command prints how many valid programs are accepted, how many invalid ones are
// rejected, the places of their first errors, whether printing preserves the trees, the time, and
// every miss. misses.go lists reasons for misses; a miss without a reason is an error of ours.
// Errors on the right line but in another column are listed there by their codes, and printed with
// -columns.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	columns := flag.Bool("columns", false, "list also first errors on the right line at another column")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: stanc3suite [-columns] DIR")
		os.Exit(2)
	}
	r, err := run(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "stanc3suite:", err)
		os.Exit(1)
	}
	r.report(os.Stdout, *columns)
}
