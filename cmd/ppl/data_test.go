package main

import "testing"

// TestShellWords checks that printed commands can be pasted into a shell.
func TestShellWords(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"ppl", "run", "a/b.stan", "--count", "J=school"}, "ppl run a/b.stan --count J=school"},
		{[]string{"ppl", "data", "my d.csv", "it's", "", "$x"}, `ppl data 'my d.csv' 'it'\''s' '' '$x'`},
	} {
		if got := shellWords(c.words); got != c.want {
			t.Errorf("%q: %s, want %s", c.words, got, c.want)
		}
	}
}
