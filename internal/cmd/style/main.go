// Style counts words in the comments and texts of the repository that doc/contributing/style.md
// advises against. From the root of the repository, it rewrites the table of counts:
//
//	go run ./internal/cmd/style
//
// The test of this package compares the repository with the table: a count may only fall.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// table is the path of the table of counts, from the root of the repository.
const table = "internal/cmd/style/counts.txt"

// maxColumn is the maximum column of a line of comment; a tab counts four columns.
const maxColumn = 100

// end is a pattern for the end of a clause. It finds "of its own" without a following noun.
const end = `(?:[.,;:)!?\]|]|$| (?:that|which|in|on|by|for|and|or|to|with|as|if|is|are)\b)`

// phrase is a pattern to search for. Each match contains hint, in lower case, which is faster to
// find.
type phrase struct {
	name, hint string
	rx         *regexp.Regexp
}

// in counts the matches in a line; small is the line in lower case.
func (p phrase) in(line, small string) int {
	if !strings.Contains(small, p.hint) {
		return 0
	}
	return len(p.rx.FindAllStringIndex(line, -1))
}

// banned lists phrases that are always wrong.
var banned = []phrase{
	{"mend", "mend", regexp.MustCompile(`(?i)\bmend(?:s|ed|ing)?\b`)},
	{"in the mean", "in the mean", regexp.MustCompile(`(?i)\bin the mean(?: of|[.,;:)]|$)`)},
	{"none the less", "none the less", regexp.MustCompile(`(?i)\bnone the less\b`)},
	{"of its own", " own", regexp.MustCompile(`\bof (?:its|their|your|our) own` + end)},
	{"come about", " about", regexp.MustCompile(`(?i)\b(?:comes?|came) about\b`)},
	{"stranger", "stranger", regexp.MustCompile(`(?i)\ba stranger\b|\bstrangers'`)},
	{"be it", "be it", regexp.MustCompile(`(?i), be it\b`)},
	{"is to be said", "be said", regexp.MustCompile(`(?i)\bto be said (?:about|of)\b`)},

	{"that which", "that which", regexp.MustCompile(`(?i)\bthat which\b`)},
	{"at all events", "at all", regexp.MustCompile(`(?i)\bat all events\b`)},
	{"by and by", "by and", regexp.MustCompile(`(?i)\bby and by\b`)},
	{"for one to be", "for one", regexp.MustCompile(`(?i)\bfor one to be\b`)},
}

// counted lists words that usually have a better alternative, and terms that only this repository
// uses.
var counted = []phrase{
	{"stand", "st", regexp.MustCompile(`(?i)\b(?:stands?|stood)\b`)},
	{"tell", "t", regexp.MustCompile(`(?i)\b(?:tells?|told)\b`)},
	{"beside", "beside", regexp.MustCompile(`(?i)\bbeside\b`)},
	{"in turn", "in turn", regexp.MustCompile(`(?i)\bin turn\b`)},
	{"likewise", "likewise", regexp.MustCompile(`(?i)\blikewise\b`)},
	{"in the median", "in the median", regexp.MustCompile(`(?i)\bin the median\b`)},
	{"by itself", "by ", regexp.MustCompile(`(?i)\bby (?:itself|themselves)\b`)},
	{"what there is", "what ", regexp.MustCompile(`(?i)\bwhat (?:there is|is there)\b`)},
	{"who", "who ", regexp.MustCompile(`(?:^|[.;:,] )[Ww]ho (?:has|have|is|are|wants?|uses?|comes?)\b`)},
	{"how many", "is how", regexp.MustCompile(`\bis how (?:many|often|much)\b`)},
	{"least/most", "st", regexp.MustCompile(`\b(?:fewest|least|most)[A-Z]\w*`)},
	{"laned", "laned", regexp.MustCompile(`(?i)\blaned\b`)},
	{"carries", "carries", regexp.MustCompile(`\bcarries\b`)},
	{"a share", "share", regexp.MustCompile(`\bshares? of a node\b`)},
}

// findings are the results of reading files.
type findings struct {
	counts map[string]map[string]int // matches of the phrases in counted, by folder
	banned []string                  // file:line: phrase
	long   []string                  // file:line of lines of comment beyond maxColumn
}

// texts are the suffixes of the files that are read, besides Go files.
var texts = []string{".md", ".html", ".js", ".txtar", ".sh", ".py", ".R"}

// read reads the files below a folder.
func read(root string) (findings, error) {
	f := findings{counts: map[string]map[string]int{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch base := d.Name(); {
		case d.IsDir():
			if base == ".git" || base == "node_modules" || base == "shared" || name == "internal/cmd/style" {
				return fs.SkipDir
			}
			return nil
		case name == "doc/contributing/style.md", !slices.Contains(texts, filepath.Ext(base)) && filepath.Ext(base) != ".go":
			return nil
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		f.file(name, bufio.NewScanner(file))
		return nil
	})
	return f, err
}

// file reads the lines of one file.
func (f *findings) file(name string, lines *bufio.Scanner) {
	lines.Buffer(nil, 1<<24)
	folder := "."
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		folder = name[:i]
	}
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		small := strings.ToLower(line)
		for _, p := range banned {
			if p.in(line, small) > 0 {
				f.banned = append(f.banned, fmt.Sprintf("%s:%d: %s", name, n, p.name))
			}
		}
		for _, p := range counted {
			if k := p.in(line, small); k > 0 {
				if f.counts[folder] == nil {
					f.counts[folder] = map[string]int{}
				}
				f.counts[folder][p.name] += k
			}
		}
		if strings.HasSuffix(name, ".go") && tooLong(line) {
			f.long = append(f.long, fmt.Sprintf("%s:%d", name, n))
		}
	}
	slices.Sort(f.banned)
}

// tooLong reports whether a line of comment ends beyond maxColumn. Lines that cannot be broken are
// allowed: addresses, tables, directives and preformatted text.
func tooLong(line string) bool {
	text := strings.TrimLeft(line, "\t ")
	if !strings.HasPrefix(text, "// ") || strings.Contains(text, "://") || strings.Contains(text, "|") {
		return false
	}
	return len([]rune(strings.ReplaceAll(line, "\t", "    "))) > maxColumn
}

// write formats the counts as in the table: a line "folder: word n" for each.
func write(counts map[string]map[string]int) string {
	var out strings.Builder
	for _, folder := range slices.Sorted(maps.Keys(counts)) {
		words := slices.SortedFunc(maps.Keys(counts[folder]), cmp.Compare)
		for _, w := range words {
			fmt.Fprintf(&out, "%s: %s %d\n", folder, w, counts[folder][w])
		}
	}
	return out.String()
}

// parse reads a table.
func parse(text string) (map[string]map[string]int, error) {
	counts := map[string]map[string]int{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		folder, rest, ok := strings.Cut(line, ": ")
		i := strings.LastIndexByte(rest, ' ')
		n := 0
		if !ok || i < 0 {
			return nil, fmt.Errorf("%s: %q is no line of it", table, line)
		}
		if _, err := fmt.Sscan(rest[i:], &n); err != nil {
			return nil, fmt.Errorf("%s: %q is no line of it: %w", table, line, err)
		}
		if counts[folder] == nil {
			counts[folder] = map[string]int{}
		}
		counts[folder][rest[:i]] = n
	}
	return counts, nil
}

func main() {
	log.SetFlags(0)
	f, err := read(".")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(table, []byte(write(f.counts)), 0o644); err != nil {
		log.Fatal(err)
	}
	for _, s := range append(f.banned, f.long...) {
		fmt.Println(s)
	}
}
