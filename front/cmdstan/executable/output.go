package executable

import (
	"fmt"
	"time"

	"github.com/ppl-lang/ppl/front/cmdstan/grammar"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/sampler"
)

// digits returns the number of significant digits in files.
func (r *run) digits() int {
	switch n := r.config.Int("output.sig_figs"); n {
	case -1:
		return draws.DefaultSigFigs
	case 0:
		return 1 // as C++ streams take it
	default:
		return n
	}
}

// create starts a CSV file, which gets its name when it is complete. columns are the statistics,
// names the values.
func (r *run) create(path string, columns []sampler.Column, names []string, replaced map[string]string) (*draws.File, error) {
	return draws.Create(withSuffix(path), draws.Header{
		Config:  r.heads(replaced),
		Columns: draws.Columns{Statistics: columns, Names: names},
		SigFigs: r.digits(),
	})
}

// statistics makes columns that have only a name; their values do not come from draws.
func statistics(names ...string) []sampler.Column {
	var all []sampler.Column
	for _, n := range names {
		all = append(all, sampler.Column{Name: n})
	}
	return all
}

// seconds formats a duration as in CmdStan's files.
func seconds(d time.Duration) string { return grammar.Number(d.Seconds(), 6) }

// elapsed returns the last lines of a file: the time of each phase.
func elapsed(phases ...any) []string {
	lines := []string{""}
	for i := 0; i+1 < len(phases); i += 2 {
		title := " Elapsed Time: "
		if i > 0 {
			title = fmt.Sprintf("%*s", len(title), "")
		}
		lines = append(lines, fmt.Sprintf("%s%s seconds (%s)", title, seconds(phases[i].(time.Duration)), phases[i+1]))
	}
	return append(lines, "")
}
