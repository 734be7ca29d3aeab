package grammar

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/lang/source"
)

// TestTokensAfter changes texts at random. The tokens that are derived from those of the older text
// equal those that are read from the newer one.
func TestTokensAfter(t *testing.T) {
	pieces := []string{
		"", " ", "\n", "\r\n", "\t", "x", "12", "1.", ".5", "e", "2i", "_", "%", "/", "%/%", ".*", "./", "<", "<=", "<-", "=", "+=", "-",
		"(", ")", "[", "]", "{", "}", ";", ",", "//", "/*", "*/", "*", "\"", "'", "#", "#include a.stan", "é", "real", "for", "y ~ normal(mu, 1);\n",
	}
	r := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		var s string
		for range n {
			s += pieces[r.IntN(len(pieces))]
		}
		return s
	}
	equal := func(a, b Token) bool {
		return a.Kind == b.Kind && a.Span.Start == b.Span.Start && a.Span.End == b.Span.End
	}
	kept := 0
	for range 20_000 {
		before, old, now, after := text(r.IntN(12)), text(r.IntN(3)), text(r.IntN(3)), text(r.IntN(12))
		f := source.NewFile("after", before+now+after)
		tokens := Tokens(source.NewFile("before", before+old+after))
		got := TokensAfter(tokens, f, len(before), len(before)+len(now), len(old)-len(now))
		if want := Tokens(f); !slices.EqualFunc(got, want, equal) {
			t.Fatalf("%q, with %q in place of %q, %q: %v, want %v", before, now, old, after, got, want)
		}
		for _, x := range got {
			if x.Span.File != f {
				t.Fatal("a token of the older text")
			}
		}
		kept += min(1, len(got))
	}
	if kept < 10_000 {
		t.Errorf("%d texts have tokens", kept)
	}
}
