package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// words is the index of the search: for each word, the sections that contain it.
type words struct {
	sections [][3]string // address, title of the page, title of the section
	in       map[string][]int
}

// maxWord is the length of the longest word in the index: longer ones are numbers and hashes.
const maxWord = 24

// add adds a section of a page.
func (w *words) add(file, page string, h *heading) {
	if w.in == nil {
		w.in = map[string][]int{}
	}
	address := file
	if h.level > 1 {
		address += "#" + h.Anchor
	}
	n := len(w.sections)
	w.sections = append(w.sections, [3]string{address, page, h.Title})
	for _, word := range split(h.Title + " " + h.text.String()) {
		if in := w.in[word]; len(in) == 0 || in[len(in)-1] != n {
			w.in[word] = append(in, n)
		}
	}
}

// split returns the words of a text in the form in which they are searched: in lower case, without
// numbers.
func split(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
	return slices.DeleteFunc(fields, func(f string) bool {
		return len(f) < 2 || len(f) > maxWord || unicode.IsDigit(rune(f[0]))
	})
}

// common is the share of sections above which a word is useless for a search.
const common = 0.4

// script returns the index as a script, since pages opened as files cannot load anything else. The
// sections of a word are written as differences of their numbers, in base 36.
func (w *words) script() []byte {
	var list strings.Builder
	var everywhere []string
	for _, word := range slices.Sorted(maps.Keys(w.in)) {
		in := w.in[word]
		if float64(len(in)) > common*float64(len(w.sections)) && len(w.sections) > 10 {
			everywhere = append(everywhere, word)
			continue
		}
		list.WriteString(word)
		last := 0
		for _, n := range in {
			list.WriteString(" " + strconv.FormatInt(int64(n-last), 36))
			last = n
		}
		list.WriteByte('\n')
	}
	var b bytes.Buffer
	b.WriteString("window.pplWords = ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// Encoding strings cannot fail.
	_ = e.Encode(map[string]any{"sections": w.sections, "words": list.String(), "common": everywhere})
	return b.Bytes()
}
