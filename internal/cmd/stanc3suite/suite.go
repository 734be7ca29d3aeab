package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// result is the outcome of one run over the suite.
type result struct {
	good, accepted int
	bad, refused   int
	placed         int // refused programs for which stanc names the place of the error
	line, column   int // of these, those whose first error is there
	printed        int // good programs that survive printing
	time           time.Duration
	misses         []miss
}

// miss is a program with another result than in stanc.
type miss struct {
	kind string // refused, accepted, line, column, print
	path string // from the suite's root
	text string
	code diag.Code // of our first error, for line and column
}

// run checks all programs of a checkout of stanc3's test/integration.
func run(root string) (*result, error) {
	r := &result{}
	err := programs(root, "good", func(path string, f *source.File) {
		r.good++
		start := time.Now()
		tree, list := checkProgram(f)
		r.time += time.Since(start)
		if errs := list.Errors(); len(errs) > 0 {
			r.misses = append(r.misses, miss{"refused", path, errs[0].String(), ""})
			return
		}
		r.accepted++
		if err := survives(tree); err != nil {
			r.misses = append(r.misses, miss{"print", path, err.Error(), ""})
			return
		}
		r.printed++
	})
	if err != nil {
		return nil, err
	}
	places := map[string]reported{}
	err = programs(root, "bad", func(path string, f *source.File) {
		r.bad++
		dir := filepath.Dir(path)
		if _, ok := places[dir]; !ok {
			readExpected(root, dir, places)
			places[dir] = reported{}
		}
		start := time.Now()
		_, list := checkProgram(f)
		r.time += time.Since(start)
		errs := list.Errors()
		if len(errs) == 0 {
			r.misses = append(r.misses, miss{"accepted", path, places[path].message, ""})
			return
		}
		r.refused++
		want, ok := places[path]
		if !ok {
			return
		}
		r.placed++
		at := errs[0].Span.Begin()
		switch {
		case at.Line != want.line:
			r.misses = append(r.misses, miss{"line", path,
				fmt.Sprintf("line %d column %d (%s): %s", want.line, want.column, want.message, errs[0]), errs[0].Code})
		case at.Column != want.column:
			r.line++
			r.misses = append(r.misses, miss{"column", path,
				fmt.Sprintf("line %d column %d (%s): %s", want.line, want.column, want.message, errs[0]), errs[0].Code})
		default:
			r.line++
			r.column++
		}
	})
	return r, err
}

// checkProgram is what `ppl check` does.
func checkProgram(f *source.File) (*ast.File, diag.List) {
	tree, list := lang.Parse(f)
	if list.HasErrors() {
		return tree, list
	}
	_, more := check.Check(tree, stdlib.Language())
	return tree, append(list, more...)
}

// survives prints a tree and parses the text. It returns an error if the result is a different
// tree.
func survives(tree *ast.File) error {
	again, list := lang.Parse(source.NewFile("printed", printer.String(tree)))
	if list.HasErrors() {
		return fmt.Errorf("the printed program does not parse: %s", list.Errors()[0])
	}
	if !ast.Equal(tree, again) {
		return fmt.Errorf("the printed program has another tree")
	}
	return nil
}

// programs calls visit with the programs of a folder, in order.
func programs(root, folder string, visit func(path string, f *source.File)) error {
	return filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".stan" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		visit(name, source.NewFile(name, string(text)))
		return err
	})
}

// reported is the place of stanc's error, with the beginning of its message.
type reported struct {
	line, column int
	message      string
}

var placeRx = regexp.MustCompile(`^(?:Syntax|Semantic) error in '.*', line (\d+), column (\d+)`)

// readExpected reads the places of errors from stanc's expected output for a
// folder. Its columns count from 0.
func readExpected(root, dir string, places map[string]reported) {
	file, err := os.Open(filepath.Join(root, dir, "stanc.expected"))
	if err != nil {
		return
	}
	defer file.Close()
	program, frames := "", 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if command, ok := strings.CutPrefix(line, "  $ "); ok {
			words := strings.Fields(command)
			program = dir + "/" + words[len(words)-1]
			frames = 0
			continue
		}
		if m := placeRx.FindStringSubmatch(line); m != nil && places[program].line == 0 {
			l, _ := strconv.Atoi(m[1])
			c, _ := strconv.Atoi(m[2])
			places[program] = reported{line: l, column: c + 1}
			continue
		}
		if strings.HasPrefix(line, "   ----") {
			frames++
			continue
		}
		if p, ok := places[program]; ok && p.message == "" && frames >= 2 && strings.TrimSpace(line) != "" {
			p.message = line
			places[program] = p
		}
	}
}

// report writes the figures and the misses that have no reason in the list.
func (r *result) report(w io.Writer, all bool) {
	fmt.Fprintf(w, "good programs accepted      %5d of %d\n", r.accepted, r.good)
	fmt.Fprintf(w, "bad programs refused        %5d of %d\n", r.refused, r.bad)
	fmt.Fprintf(w, "  first error on the line   %5d of %d\n", r.line, r.placed)
	fmt.Fprintf(w, "  and at the column         %5d\n", r.column)
	fmt.Fprintf(w, "print and parse again       %5d of %d\n", r.printed, r.accepted)
	fmt.Fprintf(w, "time to check               %v\n", r.time.Round(time.Millisecond))
	for _, m := range r.misses {
		reason := reasons[m.path]
		if m.kind == "column" {
			if reason = columns[m.code]; reason != "" && !all {
				continue
			}
		}
		fmt.Fprintf(w, "%s %s: %s\n", m.kind, m.path, m.text)
		if reason != "" {
			fmt.Fprintf(w, "    %s\n", reason)
		}
	}
}
