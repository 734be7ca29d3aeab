package compile_test

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/compile/internal/proggen"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestRandomPrograms compares the evaluators on random programs: by default, on a fifth of a fixed
// number of programs, another one each day. If PPL_RANDOM_PROGRAMS is a duration, such as 10m, new
// programs are compared for that time; PPL_RANDOM_SEED may set the first seed.
func TestRandomPrograms(t *testing.T) {
	limit, first, count := time.Hour, uint64(1), uint64(short.Of(80, 7))
	if s := os.Getenv("PPL_RANDOM_PROGRAMS"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		limit, count = d, math.MaxUint32
		first = uint64(time.Now().UnixNano()) % 1_000_000_000
	}
	if s := os.Getenv("PPL_RANDOM_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first = n
	}
	t.Logf("first seed %d", first)
	var total contest.Report
	programs, notCompared := 0, 0
	reasons := map[string]int{}
	for begin, seed := time.Now(), first; time.Since(begin) < limit && seed < first+count; seed++ {
		if limit == time.Hour && os.Getenv("PPL_RANDOM_SEED") == "" && !short.Turn(int(seed), 5) {
			continue
		}
		p := proggen.New(seed)
		set, err := data.ParseJSON("data.json", []byte(p.Data))
		if err != nil {
			t.Fatal(err)
		}
		rep := contest.Contend(p.Text, "random.model", set, seed, 2)
		programs++
		if rep.Wrong != nil {
			small := proggen.Shrink(p.Text, func(text string) bool {
				r := contest.Contend(text, "random.model", set, seed, 2)
				return r.Wrong != nil && r.Wrong.Kind == rep.Wrong.Kind
			}, 20*time.Second)
			again := contest.Contend(small, "random.model", set, seed, 2)
			if again.Wrong == nil { // not the same every time
				again.Wrong = rep.Wrong
			}
			t.Fatalf("PPL_RANDOM_SEED=%d\n%s\n\ndata %s\n\n%s (%s)", seed, small, p.Data, again.Wrong.Text, again.Wrong.Kind)
		}
		if rep.Unsupported != "" {
			reasons[rep.Unsupported]++
		}
		if rep.Compared == 0 {
			notCompared++
		}
		total.Add(rep)
	}
	s := total.Stats
	t.Logf("%d programs (%d without a comparable point); points: %d compared, %d rejected, %d ill-conditioned", programs, notCompared,
		total.Compared, total.Rejected, total.Vague)
	t.Logf("loops: %d laned, %d scanned, %d carried, %d iterated, %d unrolled; %d conditionals on parameters", s.Laned, s.Scanned, s.Carried, s.Iterated, s.Unrolled, s.Ifs)
	for reason, n := range reasons {
		t.Logf("%d not supported: %s", n, reason)
	}
	if total.Compared == 0 {
		t.Error("nothing was compared")
	}
}

// TestRandomModels compares the interpreter with the compiled program. The programs are random ones
// in the style of statisticians, random sequences of statements, and mutants of models and of the
// examples. The reference evaluator is compared on loops over the rows of one data set and on
// pieces of everyday Stan. A fifth of a fixed number of programs is due each day;
// compile/internal/cmd/randomprograms compares any number of others.
func TestRandomModels(t *testing.T) {
	models, drawn, mutants, rows, idioms := uint64(short.Of(250, 14)), uint64(short.Of(120, 8)), uint64(short.Of(60, 6)), uint64(short.Of(60, 6)), uint64(short.Of(40, 6))
	var total contest.Report
	run := func(text, values string, seed uint64) {
		t.Helper()
		rep := contest.Quick(text, "random.model", parsed(t, values), seed, 2)
		if rep.Wrong != nil {
			t.Errorf("seed %d\n%s\n\ndata %s\n\n%s (%s)", seed, text, values, rep.Wrong.Text, rep.Wrong.Kind)
		}
		total.Add(rep)
	}
	due := func(seed uint64) bool { return short.Turn(int(seed), 5) }
	for seed := range models {
		if due(seed) {
			p := proggen.NewModel(seed)
			run(p.Text, p.Data, seed)
		}
	}
	for seed := range drawn {
		if due(seed) {
			p := proggen.NewStatements(seed)
			run(p.Text, p.Data, seed)
		}
	}
	fast := func(p proggen.Program) {
		t.Helper()
		rep := contest.Fast(p.Text, "random.model", parsed(t, p.Data), p.Seed)
		if rep.Wrong != nil || rep.Compared+rep.Vague+rep.Rejected == 0 {
			t.Errorf("seed %d\n%s\n\ndata %s\n\n%+v", p.Seed, p.Text, p.Data, rep.Wrong)
		}
		total.Add(rep)
	}
	for seed := range rows {
		if due(seed) {
			fast(proggen.NewRows(seed))
		}
	}
	for seed := range idioms {
		if due(seed) {
			fast(proggen.NewIdioms(seed))
		}
	}
	for seed := models; seed < models+mutants; seed++ {
		if !due(seed) {
			continue
		}
		p := proggen.NewModel(seed)
		if text, ok := contest.Mutate(p.Text, seed); ok {
			run(text, p.Data, seed)
		}
	}
	for _, example := range smallExamples(t) {
		for seed := range mutants / 6 {
			if !due(seed) {
				continue
			}
			if text, ok := contest.Mutate(example[0], seed); ok {
				run(text, example[1], seed)
			}
		}
	}
	t.Logf("points: %d compared, %d rejected, %d ill-conditioned", total.Compared, total.Rejected, total.Vague)
	if total.Compared < int(models)/5 {
		t.Errorf("only %d points were compared", total.Compared)
	}
}

// smallExamples returns the programs of the examples with their data, reduced to few rows.
func smallExamples(t testing.TB) (list [][2]string) {
	t.Helper()
	files, err := filepath.Glob("../examples/*/*.model")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		values, err := os.ReadFile(strings.TrimSuffix(file, ".model") + ".data.json")
		if err != nil {
			t.Fatal(err)
		}
		few := map[string]int{}
		for name, n := range contest.Sizes(string(text), string(values)) {
			few[name] = min(n, 12)
		}
		cut, err := contest.Resized(string(text), string(values), few)
		if err != nil {
			t.Fatal(file, err)
		}
		list = append(list, [2]string{string(text), cut})
	}
	return list
}

// TestWrittenPrograms compares the evaluators on the test programs of package bind. The first line
// of a program has its data.
func TestWrittenPrograms(t *testing.T) {
	short.Skip(t, "37 programs are compared in all ways; TestFoundPrograms and random programs are left")
	files, err := filepath.Glob("internal/bind/testdata/loops/*.model")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range short.Turns(3, files) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".model"), func(t *testing.T) {
			text, set := withData(t, file)
			expectAgreement(t, text, file, set, short.Of(4, 1))
		})
	}
}

// TestFoundPrograms compares the evaluators on programs on which they once disagreed. Each is a
// random program, shrunk.
func TestFoundPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/found/*.model")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range short.Every(4, files) {
		name := strings.TrimSuffix(filepath.Base(file), ".model")
		t.Run(name, func(t *testing.T) {
			text, set := withData(t, file)
			expectAgreement(t, text, file, set, 4)
		})
	}
}

// TestFunctionals compares the evaluators on functions that take functions as arguments. The plain
// interpreter takes Jacobians by differences, which is visible in solutions of stiff equations.
func TestFunctionals(t *testing.T) {
	files, err := filepath.Glob("testdata/functions/*.model")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range short.Every(3, files) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".model"), func(t *testing.T) {
			text, set := withData(t, file)
			expectAgreement(t, text, file, set, 1)
		})
	}
}

// withData reads a program whose first line, // DATA {…}, holds its data.
func withData(t *testing.T, file string) (text string, set *data.Set) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(b), "\n")
	set, err = data.ParseJSON(file, []byte(strings.TrimPrefix(first, "// DATA ")))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), set
}

// TestExamplePrograms compares the evaluators on the examples.
func TestExamplePrograms(t *testing.T) {
	files, err := filepath.Glob("../examples/*/*.model")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".model"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			about := strings.TrimSuffix(file, ".model") + ".data.json"
			values, err := os.ReadFile(about)
			if err != nil {
				t.Fatal(err)
			}
			set, err := data.ParseJSON(about, values)
			if err != nil {
				t.Fatal(err)
			}
			expectAgreement(t, string(text), file, set, 1)
		})
	}
}

func expectAgreement(t *testing.T, text, name string, set *data.Set, points int) {
	t.Helper()
	rep := contest.Contend(text, name, set, 1, points)
	switch {
	case rep.Wrong != nil:
		t.Error(rep.Wrong.Text)
	case rep.Unsupported != "":
		t.Error("not supported: " + rep.Unsupported)
	case rep.Compared == 0:
		t.Error("no point could be compared")
	}
}

// TestCompositePrograms compares the evaluators on the programs of TestComposite.
func TestCompositePrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/composite/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sections := map[string]string{}
			for _, f := range archive.Files {
				sections[f.Name] = string(f.Data)
			}
			expectAgreement(t, sections[name+".model"], name, parsed(t, sections[name+".json"]), 4)
		})
	}
}

// TestReducedSlices compares the evaluators on slices whose size depends on parameters and that are
// reduced to a number at once, so that a graph can represent them. Some slices are empty, contain
// elements that were never set, or end outside the container.
func TestReducedSlices(t *testing.T) {
	for _, call := range short.Every(3, []string{"sum(x[:n])", "prod(x[2:n])", "dot_self(x[1:n])", "log_sum_exp(x[1:n])",
		"max(x[1:n])", "min(x[1:n])", "log_sum_exp(x[max(n, 1):])", "sum(x[max(n, 1):3])", "sum(x[(n - 3):n])", "sum(r[1:n])", "log_sum_exp(a[2:n])"}) {
		text := `
functions {
  real reduced(real b, real c) {
    vector[6] x = rep_vector(0.5, 6);
    row_vector[6] r;
    array[6] real a;
    int n = 0;
    while (n < 6 && n < exp(b)) {
      n += 1;
      x[n] = c * n;
      r[n] = x[n] ^ 2;
      a[n] = exp(-x[n]);
    }
    n -= c > 1 ? 1 : 0;
    return inv_logit(` + call + `);
  }
}
data { int N; vector[N] y; }
parameters { real b; real c; }
model {
  y ~ normal(0, 1);
  for (i in 1:N) {
    target += -square(reduced(b + y[i], c)) - square(b) - square(c);
  }
}`
		rep := contest.Contend(text, "reduced.model", parsed(t, `{"N": 4, "y": [-0.5, 0.3, 0.9, -9]}`), 3, 12)
		if before := strings.Contains(call, "n - 3"); rep.Wrong != nil || rep.Unsupported != "" || rep.Vague > 0 || before != (rep.Compared == 0) {
			t.Errorf("%s: %+v, %+v", call, rep, rep.Wrong)
		}
	}
}

// TestDecidedPrograms compares the evaluators on programs that no graph can represent.
func TestDecidedPrograms(t *testing.T) {
	for i, p := range compile.DecidedPrograms() {
		rep := contest.Contend(p[0], "decided.model", parsed(t, p[1]), uint64(i)+3, 4)
		if rep.Wrong != nil || rep.Unsupported == "" || rep.Compared == 0 {
			t.Errorf("%s\n%+v, %+v", p[0], rep, rep.Wrong)
		}
	}
}

func parsed(t *testing.T, json string) *data.Set {
	t.Helper()
	set, err := data.ParseJSON("data.json", []byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func bound(t *testing.T, name, text string, set *data.Set) *compile.Model {
	t.Helper()
	prog, list := compile.Compile(source.NewFile(name, text))
	if prog == nil {
		t.Fatal(list[0])
	}
	m, err := prog.Bind(set, compile.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
