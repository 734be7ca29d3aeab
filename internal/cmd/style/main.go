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

// table has the counts, from the root of the repository.
const table = "internal/cmd/style/counts.txt"

// maxColumn is where lines of comment end; a tab is four columns.
const maxColumn = 100

// end follows a phrase such as "of its own" that ends a clause: no noun comes after it.
const end = `(?:[.,;:)!?\]|]|$| (?:that|which|in|on|by|for|and|or|to|with|as|if|is|are)\b)`

// phrase is the pattern to look for; hint is a part of each match in small letters, which is faster
// to find.
type phrase struct {
	name, hint string
	rx         *regexp.Regexp
}

// in is the number of times that a line has the phrase; small is the line in small letters.
func (p phrase) in(line, small string) int {
	if !strings.Contains(small, p.hint) {
		return 0
	}
	return len(p.rx.FindAllStringIndex(line, -1))
}

// banned are phrases without a correct use.
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

// counted are words that have a better one most of the time, and terms that only this
// repository uses.
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

// findings are what was found, as file:line.
type findings struct {
	counts map[string]map[string]int // of the words in counted, by folder
	banned []string                  // file:line: phrase
	long   []string                  // file:line of lines of comment beyond maxColumn
}

// texts are the names of files that are read, besides those of Go.
var texts = []string{".md", ".html", ".js", ".txtar", ".sh", ".py", ".R"}

// read goes through the files under a folder.
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

// file looks through the lines of one file.
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

// tooLong reports a line of comment that ends beyond maxColumn, unless it has an address, a
// table, a directive or preformatted text, which cannot be broken.
func tooLong(line string) bool {
	text := strings.TrimLeft(line, "\t ")
	if !strings.HasPrefix(text, "// ") || strings.Contains(text, "://") || strings.Contains(text, "|") {
		return false
	}
	return len([]rune(strings.ReplaceAll(line, "\t", "    "))) > maxColumn
}

// write gives the counts as the table has them: "folder: word n" a line.
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
