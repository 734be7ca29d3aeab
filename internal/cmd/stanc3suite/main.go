// Command stanc3suite runs the parser and the checker over the test programs of
// stanc3, Stan's own compiler, and compares what they say.
//
//	go run ./internal/cmd/stanc3suite [-columns] DIR
//
// DIR is the folder test/integration of a checkout of stan-dev/stanc3, which is
// no part of this repository. The command prints how many good programs are
// accepted, how many bad ones refused, where their first errors stand, whether
// printing keeps the trees, the time of it all, and every miss. misses.go says
// why a miss is one; a miss without a reason there is a mistake of ours. Errors on
// the right line at another column are listed by their codes there, and printed
// with -columns.
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
