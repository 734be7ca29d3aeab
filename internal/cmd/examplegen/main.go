// Command examplegen makes the generated files of the examples folder.
//
// Without further arguments it writes examples/NAME/NAME.data.json for every example. The bytes are
// always the same:
//
//	go run ./internal/cmd/examplegen -root .
//
// With -expected it converts one result of real Stan to examples/NAME/expected.json. It rejects a
// result that is not good enough to be a reference:
//
//	go run ./internal/cmd/examplegen -root . -expected FROM.json -name NAME
//
// FROM.json contains Stan's results for the model and its data: densities and gradients at fixed
// points, and a summary of NUTS draws. Type stanResult lists the fields. examples/README.md
// describes the format of expected.json.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	from := flag.String("expected", "", "Stan's result to convert to expected.json")
	name := flag.String("name", "", "with -expected: the example it belongs to")
	flag.Parse()
	if err := run(*root, *from, *name, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "examplegen:", err)
		os.Exit(1)
	}
}

func run(root, from, name string, rest []string) error {
	dir := filepath.Join(root, "examples")
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case from == "" && name != "":
		return errors.New("-name needs -expected")
	case from != "" && name == "":
		return errors.New("-expected needs -name")
	case from != "":
		return writeExpected(dir, name, from)
	}
	for _, e := range examples {
		if err := os.WriteFile(e.dataPath(dir), e.data().encode(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
