// Command stanrelease compares ppl's language with a version of stanc3, Stan's compiler:
//
//	go run ./internal/cmd/stanrelease [--revision REVISION] DIR
//
// DIR is a checkout of stan-dev/stanc3 or its git directory, which are not part of this repository.
// The command prints the version of the newest release notes, the signatures, functions,
// distributions and reserved words that ppl lacks, and the functions that only ppl has. It exits
// with 1 if ppl lacks something. doc/contributing/stan-release.md describes the rest of the work.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	revision := flag.String("revision", "HEAD", "what to read from a git directory: a branch, tag or commit")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: stanrelease [--revision REVISION] DIR")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	complete, err := run(os.Stdout, sourceAt(flag.Arg(0), *revision))
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "stanrelease:", err)
		os.Exit(2)
	case !complete:
		os.Exit(1)
	}
}

// run writes the comparison. complete reports that ppl lacks nothing.
func run(w io.Writer, read source) (complete bool, err error) {
	r, err := compare(read)
	if err != nil {
		return false, err
	}
	r.write(w)
	return r.complete(), nil
}
