package draws

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/sampler"
)

var (
	_ diagnose.Draws      = (*Store)(nil)
	_ diagnose.Statistics = (*Store)(nil)
)

var nutsColumns = func() []sampler.Column {
	row, _ := sampler.Lookup("nuts")
	return row.AllColumns()
}()

// named returns columns without values.
func named(names ...string) (columns []sampler.Column) {
	for _, name := range names {
		columns = append(columns, sampler.Column{Name: name})
	}
	return columns
}

func TestNumber(t *testing.T) {
	// As printf("%.*g", sigFigs, v) and C++ streams print them.
	for _, c := range []struct {
		v       float64
		sigFigs int
		want    string
	}{
		{0, 8, "0"}, {math.Copysign(0, -1), 8, "-0"}, {1, 8, "1"}, {-17, 8, "-17"}, {1000, 3, "1e+03"},
		{100000, 6, "100000"}, {1e6, 6, "1e+06"}, {1e6, 8, "1000000"}, {12345678, 8, "12345678"},
		{123456789, 8, "1.2345679e+08"}, {0.5, 8, "0.5"}, {0.1, 17, "0.10000000000000001"}, {0.1, 18, "0.100000000000000006"},
		{1.0 / 3, 8, "0.33333333"}, {2.0 / 3, 6, "0.666667"}, {-7.81355123, 6, "-7.81355"},
		{0.0001, 8, "0.0001"}, {0.00001, 8, "1e-05"}, {0.000012345, 3, "1.23e-05"}, {1e-300, 8, "1e-300"},
		{99999999.5, 8, "1e+08"}, {9.9999999e7, 8, "99999999"}, {5e-324, 8, "4.9406565e-324"}, {1.5, 1, "2"}, {2.5, 1, "2"},
		{math.NaN(), 8, "nan"}, {math.Inf(1), 8, "inf"}, {math.Inf(-1), 8, "-inf"},
		{0x1p53, 17, "9007199254740992"}, {math.MaxFloat64, 17, "1.7976931348623157e+308"},
	} {
		if got := string(appendNumber(nil, c.v, c.sigFigs)); got != c.want {
			t.Errorf("%v with %d digits: %s, want %s", c.v, c.sigFigs, got, c.want)
		}
	}
}

// config is CmdStan's tree, shortened.
func config() []Setting {
	return []Setting{
		{Name: "stan_version_major", Value: "2"},
		{Name: "model", Value: "coin_model"},
		{Name: "method", Value: "sample", Default: true, Children: []Setting{
			{Name: "sample", Group: true, Children: []Setting{
				{Name: "num_samples", Value: "3"},
				{Name: "save_warmup", Value: "true"},
				{Name: "adapt", Group: true, Children: []Setting{{Name: "delta", Value: "0.8", Default: true}}},
				{Name: "algorithm", Value: "hmc", Default: true, Children: []Setting{
					{Name: "hmc", Group: true, Children: []Setting{{Name: "metric_file", Value: "", Default: true}}},
				}},
			}},
		}},
		{Name: "id", Value: "1", Default: true},
		{Name: "data", Group: true, Children: []Setting{{Name: "file", Value: "coin.data.json"}}},
		{Name: "stancflags", Value: ""},
	}
}

const golden = `# stan_version_major = 2
# model = coin_model
# method = sample (Default)
#   sample
#     num_samples = 3
#     save_warmup = true
#     adapt
#       delta = 0.8 (Default)
#     algorithm = hmc (Default)
#       hmc
#         metric_file =  (Default)
# id = 1 (Default)
# data
#   file = coin.data.json
# stancflags = 
lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,theta,y.1
-1.5,1,0.9,1,1,1,2.25,0.25,nan
# Adaptation terminated
# Step size = 0.93203712
# Diagonal elements of inverse mass matrix:
# 0.59101412, 2
-7.8135512,0.98,0.93203712,2,3,0,8.5,0.33333333,1
-7.5,0,0.93203712,10,1023,0,1e+10,inf,-inf
# 
#  Elapsed Time: 0.007 seconds (Warm-up)
#                0.017 seconds (Sampling)
#                0.024 seconds (Total)
# 
`

func coinDraws() []infer.Draw {
	return []infer.Draw{
		{Warmup: true, Values: []float64{0.25, math.NaN()}, LogDensity: -1.5,
			Stats: infer.Stats{AcceptStat: 1, StepSize: 0.9, TreeDepth: 1, Leapfrogs: 1, Divergent: true, Energy: 2.25}},
		{Values: []float64{1.0 / 3, 1}, LogDensity: -7.8135512,
			Stats: infer.Stats{AcceptStat: 0.98, StepSize: 0.93203712, TreeDepth: 2, Leapfrogs: 3, Energy: 8.5}},
		{Values: []float64{math.Inf(1), math.Inf(-1)}, LogDensity: -7.5,
			Stats: infer.Stats{AcceptStat: 0, StepSize: 0.93203712, TreeDepth: 10, Leapfrogs: 1023, Energy: 1e10}},
	}
}

var coinAdaptation = Adaptation{StepSize: 0.93203712, Metric: infer.Metric{Kind: infer.Diagonal, Dim: 2, Inverse: []float64{0.59101412, 2}}}
var coinElapsed = Elapsed{7 * time.Millisecond, 17 * time.Millisecond}

// writeCoin writes the golden file's contents.
func writeCoin(t *testing.T, draw func(infer.Draw) error, adaptation func(Adaptation) error) {
	t.Helper()
	for _, d := range coinDraws() {
		if d.Iteration == 0 && !d.Warmup && adaptation != nil {
			if err := adaptation(coinAdaptation); err != nil {
				t.Fatal(err)
			}
			adaptation = nil
		}
		if err := draw(d); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGolden(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, Header{Config: config(), Columns: Columns{nutsColumns, []string{"theta", "y.1"}}, SigFigs: DefaultSigFigs})
	if err != nil {
		t.Fatal(err)
	}
	writeCoin(t, w.Draw, w.Adaptation)
	if err := w.Elapsed(coinElapsed); err != nil {
		t.Fatal(err)
	}
	if out.String() != golden {
		t.Errorf("got\n%s\nwant\n%s", out.String(), golden)
	}
	c, err := Read(strings.NewReader(golden))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.Config, config()) {
		t.Errorf("config: got\n%+v\nwant\n%+v", c.Config, config())
	}
	if !slices.Equal(c.Columns.StatisticNames(), Columns{Statistics: nutsColumns}.StatisticNames()) || !slices.Equal(c.Columns.Names, []string{"theta", "y.1"}) {
		t.Errorf("columns: %+v", c.Columns)
	}
	if !c.Adapted || !reflect.DeepEqual(c.Adaptation, coinAdaptation) {
		t.Errorf("adaptation: %+v", c.Adaptation)
	}
	if !c.Timed || c.Elapsed != coinElapsed {
		t.Errorf("elapsed: %+v", c.Elapsed)
	}
	if c.Len() != 2 || len(c.Warmup) != 9 || !math.IsNaN(c.Warmup[8]) || c.Draws[7] != 0.33333333 || !math.IsInf(c.Draws[17], -1) {
		t.Errorf("draws: %v, warm-up %v", c.Draws, c.Warmup)
	}
	for path, want := range map[string]string{
		"model": "coin_model", "method sample num_samples": "3", "num_samples": "", "method num_samples": "3",
		"method algorithm metric_file": "", "data file": "coin.data.json", "file": "coin.data.json", "method delta": "0.8",
	} {
		s, ok := Lookup(c.Config, strings.Fields(path)...)
		if path == "num_samples" {
			if ok {
				t.Errorf("found %q below no group: %+v", path, s)
			}
			continue
		}
		if !ok || s.Value != want {
			t.Errorf("Lookup(%q) = %+v, %v", path, s, ok)
		}
	}
}

// TestExact checks that every number reads back unchanged, for each kind of metric, with and
// without a given number of digits, and that notes do.
func TestExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	metrics := []infer.Metric{
		{Kind: infer.Unit},
		{Kind: infer.Diagonal, Dim: 3, Inverse: []float64{0.1, 1.0 / 3, 1e-300}},
		{Kind: infer.Dense, Dim: 2, Inverse: []float64{2, 1.0 / 7, 1.0 / 7, 3}},
	}
	for i, metric := range slices.Repeat(metrics, 2) {
		digits := 17
		if i >= len(metrics) {
			digits = 0
		}
		a := Adaptation{StepSize: 1.0 / 3, Metric: metric, Notes: []string{"Largest number of steps: 34"}}
		columns := Columns{named("lp__", "int_time__"), []string{"a", "b.1", "b.2"}}
		var out bytes.Buffer
		w, err := NewWriter(&out, Header{Columns: columns, SigFigs: digits})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Adaptation(a); err != nil {
			t.Fatal(err)
		}
		var want []float64
		for range 50 {
			v := make([]float64, 5)
			for i := range v {
				v[i] = math.Ldexp(rng.NormFloat64(), rng.IntN(200)-100)
			}
			want = append(want, v...)
			if err := w.Row(v[:2], v[2:]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Elapsed(Elapsed{}); err != nil {
			t.Fatal(err)
		}
		c, err := Read(&out)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.Draws, want) || !reflect.DeepEqual(c.Columns, columns) {
			t.Errorf("%s: draws differ", metric.Kind)
		}
		if !reflect.DeepEqual(c.Adaptation, a) {
			t.Errorf("%s: adaptation %+v, want %+v", metric.Kind, c.Adaptation, a)
		}
	}
}

// TestShortest checks numbers written without a given number of digits. They must read back
// unchanged, in few but readable characters, and integers without a point or an exponent.
func TestShortest(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "-0"}, {0.1, "0.1"}, {1.7e9 + 0.25, "1700000000.25"}, {1e6, "1000000"}, {1048575, "1048575"},
		{1e15, "1e+15"}, {-1e-5, "-0.00001"}, {1e-6, "1e-06"}, {1 - 1e-9, "0.999999999"}, {math.MaxFloat64, "1.7976931348623157e+308"},
		{5e-324, "5e-324"}, {math.NaN(), "nan"}, {math.Inf(-1), "-inf"},
	} {
		got := string(appendNumber(nil, c.v, 0))
		back, err := parseNumber(got)
		if got != c.want || err != nil || math.Float64bits(back) != math.Float64bits(c.v) && !math.IsNaN(c.v) {
			t.Errorf("%v is written as %s and read as %v, %v; want %s", c.v, got, back, err, c.want)
		}
	}
}

// TestStated checks how files describe metrics that CmdStan does not have.
func TestStated(t *testing.T) {
	low := infer.Metric{Kind: infer.LowRank, Dim: 2, Inverse: []float64{2, 3, 5, 0.6, 0.8}} // scales; eigenvalue; vector
	ones := []float64{1, 1, 1}
	for _, c := range []struct {
		name  string
		m     infer.Metric
		dim   int
		kind  infer.MetricKind
		want  []float64
		noted bool
	}{
		{"unit", infer.Metric{Kind: infer.Unit}, 3, infer.Diagonal, ones, false},
		{"unit of an unknown dimension", infer.Metric{Kind: infer.Unit}, 0, infer.Unit, nil, false},
		{"not constant", infer.Metric{}, 3, infer.Diagonal, ones, true},
		{"low rank", low, 2, infer.Dense, []float64{2 * (1 + 4*0.36) * 2, 2 * 4 * 0.48 * 3, 3 * 4 * 0.48 * 2, 3 * (1 + 4*0.64) * 3}, false},
		{"diagonal", infer.Metric{Kind: infer.Diagonal, Dim: 1, Inverse: []float64{7}}, 1, infer.Diagonal, []float64{7}, false},
	} {
		m, note := Stated(c.m, c.dim)
		if m.Kind != c.kind || len(m.Inverse) != len(c.want) || (note != "") != c.noted {
			t.Errorf("%s: %v %q", c.name, m, note)
			continue
		}
		for i, v := range m.Inverse {
			if math.Abs(v-c.want[i]) > 1e-12 {
				t.Errorf("%s: %v, want %v", c.name, m.Inverse, c.want)
			}
		}
	}
	large := infer.Metric{Kind: infer.LowRank, Dim: maxStatedDim + 1, Inverse: slices.Repeat([]float64{2}, maxStatedDim+1)}
	if m, note := Stated(large, 0); m.Kind != infer.Diagonal || m.Inverse[0] != 4 || note == "" {
		t.Errorf("of many dimensions: %s, %q", m.Kind, note)
	}
}

// TestReadCmdStan reads a file in CmdStan's format without warm-up rows, with a dense metric,
// statistics that ppl does not have, and carriage returns; it is cut at several places.
func TestReadCmdStan(t *testing.T) {
	text := "# stan_version_major = 2\r\n# num_threads = 1 (Default)\r\nlp__,accept_stat__,weird__,bar:1,bar:2.1,z.real\r\n" +
		"# Adaptation terminated\r\n# Step size = 1.01\r\n# Elements of inverse mass matrix:\r\n# 1, 0.5\r\n# 0.5, 2\r\n" +
		"-1,1,3,1,2,3\r\n-2,1,3,4,5,-nan\r\n"
	for cut, draws := range map[int]int{0: 2, 1: 2, 2: 1, 9: 1, len("-2,1,3,4,5,-nan\r\n"): 1, len("-2,1,3,4,5,-nan\r\n") + 3: 0} {
		c, err := Read(strings.NewReader(text[:len(text)-cut]))
		if cut == 1 { // the line break is not complete: \r alone
			draws = 1
		}
		if err != nil {
			t.Errorf("cut by %d: %v", cut, err)
			continue
		}
		if c.Len() != draws {
			t.Errorf("cut by %d: %d draws, want %d", cut, c.Len(), draws)
		}
		want := infer.Metric{Kind: infer.Dense, Dim: 2, Inverse: []float64{1, 0.5, 0.5, 2}}
		if !reflect.DeepEqual(c.Adaptation.Metric, want) || !slices.Equal(c.Columns.Names, []string{"bar:1", "bar:2.1", "z.real"}) {
			t.Errorf("cut by %d: %+v, %+v", cut, c.Adaptation, c.Columns)
		}
	}
	for text, want := range map[string]string{
		"":                     "no header",
		"# a = 1\n":            "no header",
		"lp__,a\n1,2\n1\n":     "line 3: 1 values for 2 columns",
		"lp__,a\n1,2\n1,x\n":   `line 3: "x" is not a number`,
		"lp__,a\n1,2,3\n":      "3 values for 2",
		"lp__,,a\n":            "column",
		"\x00\x00":             "no text has",
		"a\n# Step size = b\n": "not a number",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "coin_1.csv")
	header := Header{Config: config(), Columns: Columns{nutsColumns, []string{"theta", "y.1"}}, SigFigs: DefaultSigFigs}
	only := func(want ...string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, want) {
			t.Errorf("the folder holds %q, want %q", got, want)
		}
	}
	f, err := Create(path, header)
	if err != nil {
		t.Fatal(err)
	}
	if names, _ := filepath.Glob(path + ".*.tmp"); len(names) != 1 {
		t.Errorf("while it is written: %q", names)
	}
	writeCoin(t, f.Draw, f.Adaptation)
	if err := f.Finish(coinElapsed); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Finish(coinElapsed); err == nil {
		t.Error("finished twice")
	}
	only("coin_1.csv")
	if text, err := os.ReadFile(path); err != nil || string(text) != golden {
		t.Errorf("%v, %s", err, text)
	}

	// A run that fails leaves the old file as it is.
	if f, err = Create(path, header); err != nil {
		t.Fatal(err)
	}
	writeCoin(t, f.Draw, nil)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	only("coin_1.csv")
	if text, err := os.ReadFile(path); err != nil || string(text) != golden {
		t.Errorf("%v, %s", err, text)
	}

	// Errors name the file.
	if _, err := Create(filepath.Join(dir, "no", "such.csv"), header); err == nil || !strings.Contains(err.Error(), "such.csv") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if _, err := Create(dir, header); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v", err)
	}
	if _, err := ReadFile(filepath.Join(dir, "none.csv"), nil); err == nil || !strings.Contains(err.Error(), "none.csv") {
		t.Errorf("error %v", err)
	}
	bad := header
	bad.SigFigs = 19
	if _, err := Create(path, bad); err == nil {
		t.Error("19 digits")
	}
	bad = header
	bad.Columns.Names = []string{"a,b"}
	if _, err := Create(path, bad); err == nil {
		t.Error("a comma in a name")
	}
	only("coin_1.csv")

	// Two chains into a store.
	other := filepath.Join(dir, "coin_2.csv")
	if err := os.WriteFile(other, []byte(golden), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := ReadStore(path, other)
	if err != nil {
		t.Fatal(err)
	}
	if s.Chains() != 2 || s.Len(1) != 2 || s.Warmup().Len(0) != 1 {
		t.Errorf("%d chains of %d", s.Chains(), s.Len(1))
	}
	if got, ok := s.Statistic(nil, 1, "n_leapfrog__"); !ok || !slices.Equal(got, []float64{3, 1023}) {
		t.Errorf("n_leapfrog__ = %v", got)
	}
	if s.Add(infer.Draw{Values: []float64{1, 2}}) == nil {
		t.Error("a store from files took a draw")
	}
	if err := os.WriteFile(other, []byte("lp__,x\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadStore(path, other); err == nil || !strings.Contains(err.Error(), "coin_2.csv") {
		t.Errorf("error %v", err)
	}
}

// TestDevice checks that a device is written to, and never replaced by renaming.
func TestDevice(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	header := Header{Columns: Columns{nutsColumns, []string{"theta", "y.1"}}}
	f, err := Create("/dev/full", header)
	if err != nil {
		t.Skip(err)
	}
	writeCoin(t, f.Draw, nil) // into the buffer
	if err := f.Finish(Elapsed{}); err == nil || !strings.Contains(err.Error(), "/dev/full") {
		t.Errorf("a full device: error %v", err)
	}
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode().IsRegular() {
		t.Fatal("the device is gone")
	}
	link := filepath.Join(t.TempDir(), "link.csv")
	if err := os.Symlink("/dev/null", link); err != nil {
		t.Fatal(err)
	}
	if f, err = Create(link, header); err != nil {
		t.Fatal(err)
	}
	if err := f.Finish(Elapsed{}); err != nil {
		t.Error(err)
	}
}

func TestStore(t *testing.T) {
	var columns Columns
	columns.Names = []string{"a", "b"}
	for _, c := range nutsColumns {
		if c.Name == "lp__" || c.Name == "divergent__" {
			columns.Statistics = append(columns.Statistics, c)
		}
	}
	s, err := NewStore(columns, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Chains receive draws while another goroutine reads.
	var running sync.WaitGroup
	for chain := range 2 {
		running.Go(func() {
			for i := range 500 {
				d := infer.Draw{Chain: chain, Iteration: i, Warmup: i < 100, LogDensity: float64(-i),
					Values: []float64{float64(i), float64(chain)}, Stats: infer.Stats{Divergent: i == 200}}
				if err := s.Add(d); err != nil {
					t.Error(err)
				}
				s.Column(nil, 1-chain, 0)
				s.Statistic(nil, 1-chain, "lp__")
			}
		})
	}
	running.Wait()
	for chain := range 2 {
		if s.Len(chain) != 400 || s.Warmup().Len(chain) != 100 {
			t.Errorf("%d draws, %d of warm-up", s.Len(chain), s.Warmup().Len(chain))
		}
		for i, v := range s.Column([]float64{-1}, chain, 0) {
			if want := float64(i + 99); i > 0 && v != want {
				t.Fatalf("draw %d is %v, want %v", i, v, want)
			}
		}
		statistics, values := s.Draw(chain, 100)
		if !slices.Equal(statistics, []float64{-200, 1}) || !slices.Equal(values, []float64{200, float64(chain)}) {
			t.Errorf("draw 100: %v, %v", statistics, values)
		}
	}
	if _, ok := s.Statistic(nil, 0, "energy__"); ok {
		t.Error("a statistic that is not kept")
	}
	for _, bad := range []infer.Draw{{Chain: 2, Values: []float64{1, 2}}, {Values: []float64{1}}, {Chain: -1, Values: []float64{1, 2}}} {
		if s.Add(bad) == nil {
			t.Errorf("took %+v", bad)
		}
	}
	// Without a generator the position counts.
	if err := s.Add(infer.Draw{Position: []float64{5, 6}}); err != nil {
		t.Error(err)
	}
	if _, err := NewStore(Columns{Names: []string{"a\nb"}}, 1, 0); err == nil {
		t.Error("a line break in a name")
	}
	if rows := diagnose.Summarize(s); len(rows) != 2 || rows[0].Name != "a" {
		t.Errorf("%v", rows)
	}
}

func TestPath(t *testing.T) {
	for _, c := range []struct {
		base       string
		id, chains int
		want       string
	}{
		{"output.csv", 1, 1, "output.csv"}, {"output.csv", 3, 4, "output_3.csv"}, {"a.b/out", 2, 2, "a.b/out_2"},
	} {
		if got := Path(c.base, c.id, c.chains); got != c.want {
			t.Errorf("Path(%q, %d, %d) = %q, want %q", c.base, c.id, c.chains, got, c.want)
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	columns := Columns{Statistics: nutsColumns}
	d := infer.Draw{Values: make([]float64, 100)}
	for i := range d.Values {
		columns.Names = append(columns.Names, fmt.Sprint("x.", i+1))
		d.Values[i] = math.Sin(float64(i))
	}
	w, err := NewWriter(bytes.NewBuffer(nil), Header{Columns: columns})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Draw(d); err != nil {
			b.Fatal(err)
		}
	}
}

// A snapshot does not change while draws are added, in memory and once they are read back from
// journals.
func TestSnapshot(t *testing.T) {
	for _, limit := range []int{1 << 20, 100} {
		columns := Columns{Statistics: nutsColumns, Names: []string{"a", "b"}}
		s, err := NewStore(columns, 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		j, err := CreateJournal(filepath.Join(t.TempDir(), "x_1"), JournalKey{ID: 1, Values: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		s.ReadBack([]*Journal{j}, limit)
		add := func(i int, warmup bool) {
			d := infer.Draw{Values: []float64{float64(i), -float64(i)}, Position: []float64{0, 0}, Warmup: warmup}
			if err := errors.Join(j.Add(d), s.Add(d)); err != nil {
				t.Fatal(err)
			}
		}
		add(100, true)
		for i := range 3 {
			add(i, false)
		}
		early := s.Snapshot()
		for i := 3; i < 40; i++ {
			add(i, false)
		}
		late := s.Snapshot()
		add(40, false)
		for _, c := range []struct {
			snapshot *Store
			n        int
		}{{early, 3}, {late, 40}} {
			column := c.snapshot.Column(nil, 0, 1)
			want := append(c.snapshot.Column([]float64{7}, 0, 0), column...)
			if table := c.snapshot.Table([]float64{7}, 0, 0, 2); !slices.Equal(table, want) {
				t.Errorf("limit %d: a table %v, want %v", limit, table, want)
			}
			_, last := c.snapshot.Draw(0, c.n-1)
			if c.snapshot.Len(0) != c.n || len(column) != c.n || column[c.n-1] != -float64(c.n-1) || last[0] != float64(c.n-1) || c.snapshot.Warmup().Len(0) != 1 {
				t.Errorf("limit %d: %d draws, want %d: %v", limit, c.snapshot.Len(0), c.n, column)
			}
		}
		if err := s.Err(); err != nil {
			t.Error(err)
		}
		s.Close()
	}
}

// TestReadTable checks that tables read back unchanged.
func TestReadTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	want := infer.Table{Name: "t", Columns: []string{"x", "y"}, Rows: [][]float64{{0.1, math.Inf(1)}, {-3, 1e-300}}}
	if err := WriteTable(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTable(path, "t")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("x,y\n1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTable(path, "t"); err == nil {
		t.Error("a row that is too short is taken")
	}
}
