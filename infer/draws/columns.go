package draws

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/sampler"
)

// Columns lists what is saved of each draw, in order.
type Columns struct {
	// Statistics are those of the sampler: AllColumns of its row in package sampler, beginning with
	// lp__ and accept_stat__. Columns that were read from a file have no function Value.
	Statistics []sampler.Column
	Names      []string // of the model's values: theta.1, …
}

// StatisticNames lists the names of Statistics.
func (c Columns) StatisticNames() []string {
	names := make([]string, len(c.Statistics))
	for i, s := range c.Statistics {
		names[i] = s.Name
	}
	return names
}

// width is the number of columns.
func (c Columns) width() int { return len(c.Statistics) + len(c.Names) }

// check returns an error if a name does not fit in a CSV header.
func (c Columns) check() error {
	for _, names := range [][]string{c.StatisticNames(), c.Names} {
		for _, name := range names {
			if name == "" || strings.ContainsAny(name, ",#\"\r\n") {
				return fmt.Errorf("draws: %.60q cannot be the name of a column of draws, such as theta.1", name)
			}
		}
	}
	return nil
}

// AppendStatistics appends the statistics of d. An error says that one cannot be computed because
// its column was read from a file.
func (c Columns) AppendStatistics(dst []float64, d *infer.Draw) ([]float64, error) {
	for _, s := range c.Statistics {
		if s.Value == nil {
			return dst, fmt.Errorf("draws: the statistic %s can be read, but not computed", s.Name)
		}
		dst = append(dst, s.Value(d))
	}
	return dst, nil
}

// Values returns the values of d for Names: its Values or, if the target has no Generator, its
// Position.
func (c Columns) Values(d *infer.Draw) ([]float64, error) {
	values := d.Values
	if values == nil && len(d.Position) == len(c.Names) {
		values = d.Position
	}
	if len(values) != len(c.Names) {
		return nil, fmt.Errorf("draws: a draw of %d values for %d columns", len(values), len(c.Names))
	}
	return values, nil
}
