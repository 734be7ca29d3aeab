package sampler

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// buffer is a flag for a number of transitions. Options read 0 as "the
// default", so a 0 that a user writes is kept as -1.
type buffer struct{ p *int }

func (b *buffer) String() string {
	if b.p == nil { // package flag compares defaults with a zero value
		return ""
	}
	return strconv.Itoa(max(0, *b.p))
}

func (b *buffer) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return errors.New("must be a number, not negative")
	}
	if n == 0 {
		n = -1
	}
	*b.p = n
	return nil
}

// choose declares a flag that takes one of several words, the first of which is the default. set
// receives the index of the word.
func choose(fs *flag.FlagSet, name, usage string, words []string, set func(int)) {
	fs.Var(&choice{words, set}, name, fmt.Sprintf("%s: %s (default %s)", usage, list(words), words[0]))
}

// choice is the value of a flag that takes one of several words.
type choice struct {
	words []string
	set   func(int)
}

// String implements flag.Value.
func (c *choice) String() string { return "" }

// Set implements flag.Value.
func (c *choice) Set(word string) error {
	i := slices.Index(c.words, word)
	if i < 0 {
		return fmt.Errorf("it can be %s", list(c.words))
	}
	c.set(i)
	return nil
}

// Choices returns the words that the flag takes. Shells offer them for completion.
func (c *choice) Choices() []string { return c.words }

// list joins words as "a, b or c".
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}

// zero is the value of an option for which 0 is an ordinary value and not the default.
type zero struct{ flag.Getter }

// withZero declares such an option.
func withZero(fs *flag.FlagSet, p *float64, name string, value float64, usage string) {
	own := flag.NewFlagSet("", flag.ContinueOnError)
	own.Float64Var(p, name, value, usage)
	fs.Var(zero{own.Lookup(name).Value.(flag.Getter)}, name, usage)
}

// MeansDefault reports whether the text 0 for an option would silently mean the option's default,
// because samplers read 0 that way and the default is another number.
func MeansDefault(f *flag.Flag, text string) bool {
	if _, ok := f.Value.(zero); ok {
		return false
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x != 0 {
		return false
	}
	d, err := strconv.ParseFloat(f.DefValue, 64)
	return err == nil && d != 0
}
