// Command signatures counts which of Stan's function signatures the library supports:
//
//	go run ./internal/cmd/signatures --list signatures.txt [--left]
//
// The list contains one signature per line, as stanc prints them. A signature counts as evaluated
// if the library has an overload with these arguments and this result, and as missing otherwise.
// With --left, the names with missing signatures are listed, with their numbers.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/check/checktest"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

func main() {
	list := flag.String("list", "", "the file with Stan's signatures")
	left := flag.Bool("left", false, "list the names that are not complete")
	flag.Parse()
	if err := run(os.Stdout, *list, *left); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// count is the number of signatures of a name that the library has.
type count struct{ evaluated, missing int }

func (c count) all() int { return c.evaluated + c.missing }

// status adds a signature to the count.
func (c *count) status(name string, params []types.Type, result types.Type) {
	if _, m, fail := types.Resolve(stdlib.Language().Lookup(name), params); fail != nil || !m.Result.Equal(result) {
		c.missing++
	} else {
		c.evaluated++
	}
}

func run(w io.Writer, path string, left bool) error {
	stan, err := checktest.Stan(path)
	if err != nil {
		return err
	}
	var total count
	var names []string
	counts := map[string]count{}
	for name, forms := range stan {
		if strings.HasPrefix(name, "operator") { // operators are forms of functions that are listed too
			continue
		}
		names = append(names, name)
		var c count
		for _, o := range forms {
			f, ok := o.(types.Fixed)
			if !ok {
				return fmt.Errorf("%s is not a plain signature", o)
			}
			c.status(name, f.Params, f.Result)
		}
		counts[name] = c
		total.evaluated += c.evaluated
		total.missing += c.missing
	}
	slices.Sort(names)
	complete, partly := 0, 0
	for _, name := range names {
		switch c := counts[name]; {
		case c.evaluated == c.all():
			complete++
		case c.evaluated > 0:
			partly++
		}
	}
	fmt.Fprintf(w, "signatures %d: evaluated %d, missing %d\n", total.all(), total.evaluated, total.missing)
	fmt.Fprintf(w, "names      %d: complete %d, partly %d, none %d\n", len(names), complete, partly, len(names)-complete-partly)
	if !left {
		return nil
	}
	for _, name := range names {
		if c := counts[name]; c.evaluated < c.all() {
			fmt.Fprintf(w, "%-36s %5d of %5d\n", name, c.evaluated, c.all())
		}
	}
	return nil
}
