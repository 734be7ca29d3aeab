package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check/checktest"
	stanfile "github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// The files of stanc3 that are read.
const (
	notesFile      = "RELEASE-NOTES.txt"
	signaturesFile = "test/integration/signatures/stan_math_signatures.t"
	familiesFile   = "test/integration/signatures/stan_math_distributions.t"
	libraryFile    = "src/stan_math_signatures/Stan_math_signatures.ml"
	lexerFile      = "src/frontend/lexer.mll"
)

// source returns the text of a file of stanc3.
type source func(path string) (string, error)

// sourceAt reads a work tree or, if the folder is none, a revision of a git directory.
func sourceAt(dir, revision string) source {
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(lexerFile))); err == nil && revision == "HEAD" {
		return func(path string) (string, error) {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
			return string(text), err
		}
	}
	return func(path string) (string, error) {
		text, err := exec.Command("git", "-C", dir, "show", revision+":"+path).Output()
		if err != nil {
			return "", fmt.Errorf("%s has no %s:%s", dir, revision, path)
		}
		return string(text), nil
	}
}

// release is what stanc3 has, compared with ppl.
type release struct {
	version    string         // of the newest release notes
	signatures int            // in stanc3's list
	missing    map[string]int // names with signatures that ppl lacks, and their number
	examples   []string       // the first missing signature of each of these names
	functions  []string       // functions of other types that ppl lacks
	families   []string       // distributions and their parts that ppl lacks, such as beta: cdf
	words      []string       // reserved words that can be names in ppl
	only       []string       // functions that stanc3's list does not have
}

func (r *release) complete() bool {
	return len(r.missing)+len(r.functions)+len(r.families)+len(r.words) == 0
}

var (
	versionRx  = regexp.MustCompile(`(?m)^v(\d+\.\d+\.\d+) `)
	wordRx     = regexp.MustCompile(`(?m)^ *\| "([A-Za-z][A-Za-z_]*)"`)
	functionRx = regexp.MustCompile(`"([a-z][a-z0-9]*_[a-z0-9_]*[a-z0-9])"`)
)

// compare reads the files.
func compare(read source) (*release, error) {
	r := &release{missing: map[string]int{}}
	files := map[string]string{}
	for _, path := range []string{notesFile, signaturesFile, familiesFile, libraryFile, lexerFile} {
		text, err := read(path)
		if err != nil {
			return nil, err
		}
		files[path] = text
	}
	if m := versionRx.FindStringSubmatch(files[notesFile]); m != nil {
		r.version = m[1]
	}
	names, err := r.compareSignatures(files[signaturesFile])
	if err != nil {
		return nil, err
	}
	library := stdlib.Language()
	for _, m := range functionRx.FindAllStringSubmatch(files[libraryFile], -1) {
		names[m[1]] = true
		if len(library.Lookup(m[1]))+len(library.Lookup(m[1]+"_lpmf")) == 0 && !slices.Contains(r.functions, m[1]) {
			r.functions = append(r.functions, m[1])
		}
	}
	for line := range strings.Lines(files[familiesFile]) {
		name, parts, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.ContainsAny(name, " $") {
			continue
		}
		for part := range strings.SplitSeq(parts, ", ") {
			if part == "ccdf" { // the list's name for the logarithm
				part = "lccdf"
			}
			if len(library.Lookup(name+"_"+part)) == 0 {
				r.families = append(r.families, name+": "+part)
			}
		}
	}
	for _, m := range wordRx.FindAllStringSubmatch(files[lexerFile], -1) {
		if word := m[1]; word != "T" && !reserved(word) && !slices.Contains(r.words, word) { // T is an identifier elsewhere
			r.words = append(r.words, word)
		}
	}
	for name := range library.Names() {
		if !names[name] && !strings.HasPrefix(name, "operator") {
			r.only = append(r.only, name)
		}
	}
	return r, nil
}

// compareSignatures reads lines "name(types) => type", as stanc prints them, and returns the names.
func (r *release) compareSignatures(text string) (names map[string]bool, err error) {
	names = map[string]bool{}
	library := stdlib.Language()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		f, ok := checktest.Signature(line)
		if !ok {
			if strings.Contains(line, " => ") {
				return nil, fmt.Errorf("%s: the signature %q has an unknown type", signaturesFile, line)
			}
			continue
		}
		r.signatures++
		names[f.Name] = true
		if _, m, fail := types.Resolve(library.Lookup(f.Name), f.Params); fail != nil || !m.Result.Equal(f.Result) {
			if r.missing[f.Name]++; r.missing[f.Name] == 1 {
				r.examples = append(r.examples, line)
			}
		}
	}
	if r.signatures == 0 {
		return nil, fmt.Errorf("%s has no signatures", signaturesFile)
	}
	return names, nil
}

// reserved reports whether a variable cannot have this name.
func reserved(word string) bool {
	_, list := lang.Parse(stanfile.NewFile("word.stan", "parameters { real "+word+"; }\n"))
	return list.HasErrors()
}

// write prints the comparison.
func (r *release) write(w io.Writer) {
	total := 0
	for _, n := range r.missing {
		total += n
	}
	fmt.Fprintf(w, "stanc3: newest release notes of %s; ppl: Stan %s\n", cmp.Or(r.version, "an unknown version"), lang.StanVersion)
	fmt.Fprintf(w, "signatures: %d, missing %d of %d functions\n", r.signatures, total, len(r.missing))
	for _, line := range r.examples {
		name, _, _ := strings.Cut(line, "(")
		fmt.Fprintf(w, "  %5d  %s\n", r.missing[name], line)
	}
	list := func(title string, names []string) {
		fmt.Fprintf(w, "%s: %d\n", title, len(names))
		for _, n := range names {
			fmt.Fprintf(w, "  %s\n", n)
		}
	}
	list("functions without listed signatures that are missing", r.functions)
	list("distributions' parts that are missing", r.families)
	list("words that stanc3 reserves and ppl does not", r.words)
	list("functions that only ppl has", r.only)
}
