package study

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// Report summarises the fits of a study.
type Report struct {
	Fits, OK, Problems, Failed int
	Findings                   map[string]int // number of fits by code of a finding
	Failures                   []Failure      // the most frequent first
	Quantities                 []Quantity     // by model, in the order of the table
	Densities                  []Density      // of observations that were held out, by model

	Seconds, Sampling float64        // total of all fits; the part for sampling
	Time              Spread         // time of a fit, in seconds
	Times             Histogram      // the same as a histogram
	CPUs              map[string]int // number of fits by instruction set of the processor
}

// Histogram has counts of values in classes of equal width, beginning at From, and the count above
// all classes.
type Histogram struct {
	From, Step float64
	Counts     []int
	Above      int
}

// histogram counts sorted values. So that outliers do not widen the classes, these end at most at
// three times the width of the lower 99 %.
func histogram(sorted []float32, from, least float64) Histogram {
	const classes = 32
	if len(sorted) == 0 {
		return Histogram{}
	}
	low := min(from, float64(sorted[0]))
	end := float64(sorted[len(sorted)-1])
	if most := low + 3*(float64(sorted[int(0.99*float64(len(sorted)-1))])-low); end > most && most > low {
		end = most
	}
	end = max(end, low+least)
	h := Histogram{From: low, Step: (end - low) / classes, Counts: make([]int, classes)}
	for _, v := range sorted {
		c := int((float64(v) - low) / h.Step)
		switch {
		case float64(v) > end:
			h.Above++
		default:
			h.Counts[min(c, classes-1)]++
		}
	}
	return h
}

// Failure counts fits that failed for the same reason.
type Failure struct {
	Message string
	Fits    int
	First   int    // number of the first of these fits
	Data    string // its data set
}

// Spread has quantiles of the distribution of some values.
type Spread struct{ Min, Q5, Median, Q95, Max float64 }

// Density is the sum of the log predictive densities of held-out observations.
type Density struct {
	Model        string
	Observations int
	ELPD         float64
}

// rankClasses is the number of classes in the histogram of ranks.
const rankClasses = 20

// Quantity summarises the results of a model's fits for a quantity.
type Quantity struct {
	Model, Name string
	Fits        int
	Rhat        Spread
	HighRhat    int // number of fits whose R-hat is above 1.01
	ESSBulk     Spread
	ESSTail     Spread

	RhatCounts, BulkCounts, TailCounts Histogram

	// For simulated data: the shares of fits whose central intervals contain the true parameter;
	// the counts of its ranks among the draws, in classes of equal width; and, with 100 ranks or
	// more, the p-value of a chi-square test of uniform ranks.
	Ranked     int
	Coverage50 float64
	Coverage90 float64
	Ranks      [rankClasses]int
	RanksLow   float64 // limits of the central 99 % of a class's count if ranks are uniform
	RanksHigh  float64
	Uniform    float64
	expected   [rankClasses]float64
	rhat       []float32 // the values for Spread
	bulk, tail []float32
	in50, in90 int
}

// ReadReport reads the tables in the folder of a study.
func ReadReport(dir string) (*Report, error) {
	r := &Report{Findings: map[string]int{}, CPUs: map[string]int{}}
	if err := r.readResults(filepath.Join(dir, ResultsName)); err != nil {
		return nil, incomplete(dir, err)
	}
	return r, r.readTimes(filepath.Join(dir, TimesName))
}

// ResultColumn is a column of the results of a study.
type ResultColumn struct {
	Name string
	Kind ColumnKind
}

// ColumnKind is the kind of values in a column of the results.
type ColumnKind int

// The kinds of columns.
const (
	Figures      ColumnKind = iota // numbers; "" if there is none
	WholeNumbers                   // whole numbers; "" if there is none
	Texts
)

// EachResult reads the results in the folder of a study, from [ResultsName]. It calls begin with
// the columns, and row with the fields of each row, which are valid until row returns.
func EachResult(dir string, begin func([]ResultColumn) error, row func(fields []string) error) error {
	path := filepath.Join(dir, ResultsName)
	if _, err := os.Stat(path); err != nil {
		return incomplete(dir, err)
	}
	texts := []string{"model", "data", "status", "findings", "quantity", "message"}
	whole := []string{"fit", "seed", "rank", "draws", "divergences"}
	var columns []ResultColumn
	head := func(header []string) error {
		own := len(header) - len(resultColumns)
		for i, name := range header {
			c := ResultColumn{Name: name}
			switch {
			case i > 2 && i < own, slices.Contains(texts, name): // axes of the grid, as in the plan
				c.Kind = Texts
			case slices.Contains(whole, name):
				c.Kind = WholeNumbers
			}
			columns = append(columns, c)
		}
		return begin(columns)
	}
	return eachRow(path, head, func(_ func(string) int, fields []string) error { return row(fields) })
}

// incomplete returns an error that says why there are no results.
func incomplete(dir string, err error) error {
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return fmt.Errorf("the study in %s is not complete: there is no %s. The command that made it goes on with it", dir, ResultsName)
}

// eachRow reads a table. It calls begin, if not nil, with the header, and row for each row. column
// returns the index of a name, or -1.
func eachRow(path string, begin func(header []string) error, row func(column func(string) int, fields []string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := csv.NewReader(bufio.NewReaderSize(f, 1<<16))
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	header = slices.Clone(header)
	if begin != nil {
		if err := begin(header); err != nil {
			return err
		}
	}
	at := map[string]int{}
	// Search from the end, so that a later column with the same name does not hide an axis of the
	// grid.
	for i := range header {
		at[header[i]] = i
	}
	column := func(name string) int {
		if i, ok := at[name]; ok {
			return i
		}
		return -1
	}
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = row(column, fields)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
}

func (r *Report) readResults(path string) error {
	quantities := map[[2]string]*Quantity{}
	var order []*Quantity
	densities := map[string]int{}
	failures := map[string]int{}
	last := ""
	var columns map[string]int
	err := eachRow(path, nil, func(column func(string) int, f []string) error {
		if columns == nil {
			columns = map[string]int{}
			for _, name := range append([]string{"fit", "model", "data"}, resultColumns...) {
				if columns[name] = column(name); columns[name] < 0 {
					return fmt.Errorf("there is no column %s", name)
				}
			}
		}
		get := func(name string) string { return f[columns[name]] }
		number := func(name string) float64 {
			v, err := strconv.ParseFloat(get(name), 64)
			if err != nil {
				return math.NaN()
			}
			return v
		}
		if fit := get("fit"); fit != last {
			last = fit
			r.Fits++
			switch Status(get("status")) {
			case OK:
				r.OK++
			case Problems:
				r.Problems++
			case Failed:
				r.Failed++
				i, ok := failures[get("message")]
				if !ok {
					i = len(r.Failures)
					failures[get("message")] = i
					n, _ := strconv.Atoi(fit)
					r.Failures = append(r.Failures, Failure{Message: strings.Clone(get("message")), First: n, Data: strings.Clone(get("data"))})
				}
				r.Failures[i].Fits++
			}
			var seen []string
			for code := range strings.FieldsSeq(get("findings")) {
				if !slices.Contains(seen, code) {
					seen = append(seen, code)
					r.Findings[code]++
				}
			}
		}
		name, model := get("quantity"), get("model")
		switch {
		case name == "":
			return nil
		case strings.HasPrefix(name, "elpd[") && get("rhat") == "":
			i, ok := densities[model]
			if !ok {
				i = len(r.Densities)
				densities[strings.Clone(model)] = i
				r.Densities = append(r.Densities, Density{Model: strings.Clone(model)})
			}
			r.Densities[i].Observations++
			r.Densities[i].ELPD += number("mean")
			return nil
		}
		q := quantities[[2]string{model, name}]
		if q == nil {
			q = &Quantity{Model: strings.Clone(model), Name: strings.Clone(name), Uniform: math.NaN(), Coverage50: math.NaN(), Coverage90: math.NaN()}
			quantities[[2]string{q.Model, q.Name}] = q
			order = append(order, q)
		}
		q.Fits++
		rhat := number("rhat")
		if rhat > 1.01 {
			q.HighRhat++
		}
		q.rhat, q.bulk, q.tail = append(q.rhat, float32(rhat)), append(q.bulk, float32(number("ess_bulk"))), append(q.tail, float32(number("ess_tail")))
		if rank := number("rank"); !math.IsNaN(rank) {
			q.rank(int(rank), int(number("draws")))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, q := range order {
		q.finish()
		r.Quantities = append(r.Quantities, *q)
	}
	sorting.Stable(r.Failures, func(a, b Failure) int { return b.Fits - a.Fits })
	return nil
}

// rank adds a rank among draws.
func (q *Quantity) rank(rank, draws int) {
	u := (float64(rank) + 0.5) / float64(draws+1)
	if u > 0.25 && u < 0.75 {
		q.in50++
	}
	if u > 0.05 && u < 0.95 {
		q.in90++
	}
	q.Ranked++
	q.Ranks[rank*rankClasses/(draws+1)]++
	// Ranks are integers, so classes may contain different numbers of them.
	for c := range rankClasses {
		from, to := (c*(draws+1)+rankClasses-1)/rankClasses, ((c+1)*(draws+1)+rankClasses-1)/rankClasses
		q.expected[c] += float64(to-from) / float64(draws+1)
	}
}

// quantileOf returns the smallest count whose cumulative probability is at least p.
func quantileOf(b distuv.Binomial, p float64) float64 {
	k := math.Max(0, math.Floor(b.N*b.P-6*math.Sqrt(b.N*b.P*(1-b.P))))
	for ; k < b.N && b.CDF(k) < p; k++ {
	}
	return k
}

func (q *Quantity) finish() {
	q.rhat, q.Rhat = spread(q.rhat)
	q.bulk, q.ESSBulk = spread(q.bulk)
	q.tail, q.ESSTail = spread(q.tail)
	q.RhatCounts, q.BulkCounts, q.TailCounts = histogram(q.rhat, 1, 0.016), histogram(q.bulk, 0, 1), histogram(q.tail, 0, 1)
	if end := max(q.BulkCounts.From+q.BulkCounts.Step*32, q.TailCounts.From+q.TailCounts.Step*32); len(q.bulk) > 0 && len(q.tail) > 0 {
		q.BulkCounts, q.TailCounts = histogram(q.bulk, 0, end), histogram(q.tail, 0, end) // in the same classes
	}
	q.rhat, q.bulk, q.tail = nil, nil, nil
	if q.Ranked == 0 {
		return
	}
	q.Coverage50, q.Coverage90 = float64(q.in50)/float64(q.Ranked), float64(q.in90)/float64(q.Ranked)
	uniform := distuv.Binomial{N: float64(q.Ranked), P: 1.0 / rankClasses}
	q.RanksLow, q.RanksHigh = quantileOf(uniform, 0.005), quantileOf(uniform, 0.995)
	if q.Ranked < 100 {
		return
	}
	square, classes := 0.0, -1
	for c, n := range q.Ranks {
		if q.expected[c] > 0 {
			square += (float64(n) - q.expected[c]) * (float64(n) - q.expected[c]) / q.expected[c]
			classes++
		}
	}
	if classes > 0 {
		q.Uniform = distuv.ChiSquared{K: float64(classes)}.Survival(square)
	}
}

// spread computes the Spread of the values that are not NaN, and returns these in ascending order.
func spread(values []float32) ([]float32, Spread) {
	values = slices.DeleteFunc(values, func(v float32) bool { return v != v })
	if len(values) == 0 {
		nan := math.NaN()
		return nil, Spread{nan, nan, nan, nan, nan}
	}
	slices.Sort(values)
	at := func(p float64) float64 { return float64(values[int(math.Round(p*float64(len(values)-1)))]) }
	return values, Spread{at(0), at(0.05), at(0.5), at(0.95), at(1)}
}

func (r *Report) readTimes(path string) error {
	var seconds []float32
	err := eachRow(path, nil, func(column func(string) int, f []string) error {
		s, err := strconv.ParseFloat(f[max(column("seconds"), 0)], 64)
		if err != nil {
			return err
		}
		sampling, err := strconv.ParseFloat(f[max(column("sampling_seconds"), 0)], 64)
		if err != nil {
			return err
		}
		r.Seconds += s
		r.Sampling += sampling
		seconds = append(seconds, float32(s))
		if cpu := f[max(column("cpu"), 0)]; cpu != "" {
			r.CPUs[strings.Clone(cpu)]++
		}
		return nil
	})
	seconds, r.Time = spread(seconds)
	r.Times = histogram(seconds, 0, 1e-3)
	return err
}
