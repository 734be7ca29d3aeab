package proggen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// page is the text of a program that is being written, with the source of its random choices.
type page struct {
	rng    *rand.Rand
	lines  []string
	indent int
	names  int
}

func newPage(seed, stream uint64) page { return page{rng: rand.New(rand.NewPCG(seed, stream))} }

func (p *page) text() string { return strings.Join(p.lines, "\n") + "\n" }

func (p *page) line(format string, args ...any) {
	p.lines = append(p.lines, strings.Repeat("  ", p.indent)+fmt.Sprintf(format, args...))
}

// name returns a new name.
func (p *page) name(prefix string) string {
	p.names++
	return fmt.Sprint(prefix, p.names)
}

// ---- random choices ----

func (p *page) chance(q float64) bool  { return p.rng.Float64() < q }
func (p *page) below(n int) int        { return p.rng.IntN(n) }
func (p *page) between(lo, hi int) int { return lo + p.below(hi-lo+1) }

// chooser makes random choices.
type chooser interface{ below(n int) int }

func one[T any](c chooser, list []T) T    { return list[c.below(len(list))] }
func among[T any](c chooser, list ...T) T { return one(c, list) }

// option is an alternative with its weight.
type option struct {
	weight int
	// do writes the alternative. If that is not possible here, it writes nothing and returns false.
	do func() bool
}

// pick tries alternatives, drawn by weight, until one is possible.
func (p *page) pick(options ...option) bool {
	for {
		total := 0
		for _, o := range options {
			total += o.weight
		}
		if total == 0 {
			return false
		}
		at := p.below(total)
		for i := range options {
			if at -= options[i].weight; at < 0 {
				if options[i].do() {
					return true
				}
				options[i].weight = 0
				break
			}
		}
	}
}
