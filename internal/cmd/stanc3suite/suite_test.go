package main

import (
	"os"
	"strings"
	"testing"
)

// The recorded results of the suite; a change may only improve them.
const (
	wrongRefusals = 0  // good programs refused
	wrongAccepts  = 1  // bad programs accepted
	otherLines    = 17 // first errors on another line than stanc's
)

// TestSuite runs the suite, of which PPL_STANC3 names the folder
// (test/integration of a checkout of stan-dev/stanc3).
func TestSuite(t *testing.T) {
	root := os.Getenv("PPL_STANC3")
	if root == "" {
		t.Skip("set PPL_STANC3 to the folder test/integration of a checkout of stan-dev/stanc3")
	}
	r, err := run(root)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	r.report(&b, false)
	t.Log(b.String())
	if r.good < 1000 || r.bad < 1000 {
		t.Errorf("only %d good and %d bad programs: is this the suite?", r.good, r.bad)
	}
	if n := r.good - r.accepted; n > wrongRefusals {
		t.Errorf("%d good programs are refused, %d are recorded", n, wrongRefusals)
	}
	if n := r.bad - r.refused; n > wrongAccepts {
		t.Errorf("%d bad programs are accepted, %d are recorded", n, wrongAccepts)
	}
	if n := r.placed - r.line; n > otherLines {
		t.Errorf("%d first errors are on another line, %d are recorded", n, otherLines)
	}
	if r.printed < r.accepted {
		t.Errorf("%d programs do not survive printing", r.accepted-r.printed)
	}
}

// TestReadExpected checks that the form of stanc's expected output is read.
func TestReadExpected(t *testing.T) {
	dir := t.TempDir()
	text := "  $ stanc a.stan\nSemantic error in 'a.stan', line 3, column 0 to column 7:\n   ----\n     3:  x\n         ^\n   ----\n\nWhat is wrong.\n[exit 1]\n" +
		"  $ stanc b.stan\nSyntax error in 'b.stan', line 12, column 4, parsing error:\n   ----\n   ----\nOther.\n"
	if err := os.WriteFile(dir+"/stanc.expected", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	places := map[string]reported{}
	readExpected(dir, ".", places)
	if got, want := places["./a.stan"], (reported{3, 1, "What is wrong."}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := places["./b.stan"], (reported{12, 5, "Other."}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
