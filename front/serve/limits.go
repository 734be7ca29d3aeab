package serve

import (
	"fmt"
	"slices"
	"strings"
)

// Limits are the limits of one request.
type Limits struct {
	Bytes      int64 `json:"bytes"`      // size of the request
	Elements   int64 `json:"elements"`   // numbers in the data, and in the answer
	Statements int64 `json:"statements"` // statements run before the first evaluation
	Draws      int64 `json:"draws"`      // transitions of all chains
	Prints     int64 `json:"prints"`     // printed lines
	Seconds    int64 `json:"seconds"`    // seconds of work
	Memory     int64 `json:"memory"`     // bytes of memory that the process may use
}

// Limit is one of the limits.
type Limit struct {
	Name    string
	Doc     string
	Unit    string // of the option's value
	Default int64
	Least   int64
	Most    int64
	Of      func(*Limits) *int64
}

// Table lists the limits in the order of the documentation. The engine counts statements and half
// of Memory, and refuses what would exceed them at its place in the model. The walls Seconds and
// Memory limit everything else.
var Table = []Limit{
	{"bytes", "size of the request", "bytes", 16 << 20, 1, 1 << 40, func(l *Limits) *int64 { return &l.Bytes }},
	{"elements", "numbers in the data, and in the answer", "number", 10_000_000, 1, 1 << 40, func(l *Limits) *int64 { return &l.Elements }},
	{"statements", "statements that a model runs before its first evaluation, and in each evaluation if it is interpreted", "number", 100_000_000, 1, 1 << 50, func(l *Limits) *int64 { return &l.Statements }},
	{"draws", "transitions of all chains, warm-up included", "number", 1_000_000, 1, 1 << 40, func(l *Limits) *int64 { return &l.Draws }},
	{"prints", "lines that the model prints; further ones are dropped and counted", "number", 1000, 0, 1 << 40, func(l *Limits) *int64 { return &l.Prints }},
	{"seconds", "time from the start of the work to its answer", "seconds", 60, 1, 1 << 30, func(l *Limits) *int64 { return &l.Seconds }},
	{"memory", "bytes of memory of the process, on Linux", "bytes", 1 << 30, 256 << 20, 1 << 50, func(l *Limits) *int64 { return &l.Memory }},
}

// DefaultLimits returns the defaults in the table.
func DefaultLimits() Limits {
	var l Limits
	for _, row := range Table {
		*row.Of(&l) = row.Default
	}
	return l
}

// Check returns an error if a limit is out of its range.
func (l Limits) Check() error {
	for _, row := range Table {
		if v := *row.Of(&l); v < row.Least || v > row.Most {
			return fmt.Errorf("the limit %s must be between %d and %d, but is %d", row.Name, row.Least, row.Most, v)
		}
	}
	return nil
}

// Lowered returns the limits after lowering those that a request names. A request cannot raise
// them.
func (l Limits) Lowered(by map[string]int64) (Limits, error) {
	for name, v := range by {
		i := slices.IndexFunc(Table, func(row Limit) bool { return row.Name == name })
		if i < 0 {
			var names []string
			for _, row := range Table {
				names = append(names, row.Name)
			}
			return l, &Failure{Kind: "request", Message: fmt.Sprintf("no limit is called %q; the limits are %s", name, strings.Join(names, ", "))}
		}
		row := Table[i]
		if v < row.Least {
			return l, &Failure{Kind: "request", Message: fmt.Sprintf("the limit %s must be at least %d, but is %d", name, row.Least, v)}
		}
		p := row.Of(&l)
		*p = min(*p, v)
	}
	return l, nil
}

// LimitsVersion is the version of the format of [LimitsAnswer].
const LimitsVersion = 1

// LimitsAnswer is the answer of GET /v1/limits.
type LimitsAnswer struct {
	SchemaVersion int `json:"schema_version"` // version of the format
	Limits
}

// Failure says why a process has no result, in the form of the answer.
type Failure struct {
	// Kind is request (the request is malformed), model (the model or its data are wrong, or
	// the run failed), limit, or internal.
	Kind     string `json:"kind"`
	Limit    string `json:"limit,omitempty"` // name of the limit, if Kind is limit
	Message  string `json:"message"`
	Messages any    `json:"messages,omitempty"` // with places, as ppl check --json has them
}

func (f *Failure) Error() string { return f.Message }

// Passed returns the failure of work that exceeds a limit.
func Passed(limit, format string, args ...any) *Failure {
	return &Failure{Kind: "limit", Limit: limit, Message: fmt.Sprintf(format, args...)}
}
