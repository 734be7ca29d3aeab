package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// printed lists command lines with the documents that they print or write. They run in this order,
// so that each finds the files of earlier ones. {name} stands for a file of the example.
var printed = []struct{ document, command string }{
	{"version", "version"},
	{"check", "check {model}"},
	{"check", "check wrong.stan"},
	{"check", "check {model} --data wrong.json"},
	{"data", "data {data}"},
	{"data", "data {data} --model {model}"},
	{"data", "data wrong.json --model {model}"},
	{"run", "run {model} -d {data} --out fit -q --chains 2 --warmup 100 --draws 100 --seed 1"},
	{"run", "run {model} -d {data} -q --chains 2 --sampler hmc --metric softabs --warmup 5 --draws 5 --percentiles 1,99"},
	{"run", "run flat.stan -q --seed 1 --chains 1 --warmup 5 --draws 2"}, // one figure of the sampler is infinite
	{"run-progress", "run {model} -d {data} --chains 2 --draws 200 --seed 1 --progress json"},
	{"run-record", "fit/run.json"},
	{"run", "summary fit fit --percentiles 1,99"},
	{"diagnose", "diagnose fit"},
	{"report", "report fit"},
	{"quantities", "generate --fit fit --out generated"},
	{"quantities", "predict fit"},
	{"quantities", "prior {model} --data {data} --draws 20"},
	{"simulate", "simulate {model} --data {data} --sets 1 --out sets"},
	{"optimize", "optimize {model} -d {data} -q --out mode"},
	{"approximation", "laplace {model} -d {data} -q --draws 20"},
	{"approximation", "pathfinder {model} -d {data} -q --draws 20 --out path"},
	{"approximation", "variational {model} -d {data} -q --draws 20 --iter 100"},
	{"loo", "loo fit"},
	{"loo", "loo fit --moment-match"},
	{"loo", "cv {model} --data {data} --folds 2 --chains 1 --warmup 50 --draws 50 -q"},
	{"compare", "compare fit fit"},
	{"ppc", "ppc fit"},
	{"effects", "effects fit --of x"},
	{"effects", "effects fit --at x=mean"},
	{"run", "run classes.stan -d data.json -q --chains 2 --warmup 100 --draws 50 --seed 1 --out classes"},
	{"individuals", "individuals fit --by x --x x"},
	{"states", "states classes"},
	{"states", "states classes --vars z[2] --pointwise states.csv --out probabilities"},
	{"select", "select fit --formula y~x --family gaussian --validate"},
	{"evidence", "evidence fit"},
	{"sensitivity", "sensitivity fit"},
	{"sensitivity", "sensitivity fit --prior all"},
	{"sbc", "sbc {model} --data {data} --simulations 3 --ranks 9 --warmup 50 -q"},
	{"study", "study plan.yaml --out made -q"},
	{"study-progress", "study plan.yaml --out again --progress json"},
	{"study-record", "made/study.json"},
	{"report-study", "report made"},
	{"logdensity", "logdensity {model} -d {data} --points points.json"},
	{"metric", "metric {model} -d {data} --points points.json"},
	{"bench", "bench {model} -d {data} --points points.json"},
	{"bench", "bench {model} -d {data} --points points.json --parallel 2"},
	{"explain", "explain {model} -d {data} --points points.json"},
}

// inputs has the files that do not belong to the example.
var inputs = map[string]string{
	"classes.stan": `data { int N; vector[N] x; vector[N] y; }
parameters { simplex[2] w; ordered[2] mu; array[N] int<lower=1, upper=2> z; }
model { mu ~ normal(0, 5); z ~ categorical(w); y ~ normal(mu[z], 1); }
`,
	"flat.stan": "parameters { real<lower=0, upper=1> x; }\nmodel { }\n",
	"model.stan": `data {
  int<lower=0> N;
  vector[N] x;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  mu ~ normal(0, 1);
  sigma ~ normal(0, 1);
  y ~ normal(mu + x, sigma);
}
generated quantities {
  real twice = 2 * mu;
}
`,
	"data.json":   `{"N": 5, "x": [1, 2, 3, 4, 5], "y": [1.5, 2, 3.5, 4.5, 4.75]}`,
	"wrong.json":  `{"N": 5, "x": [1, 2, 3, 4, 5], "y": "no"}`,
	"wrong.stan":  "parameters { real x; }\nmodel { x ~ norml(0, 1); int y; }\n",
	"points.json": `{"points": [[0, 0], [1, 0.5]]}`,
	"plan.yaml":   "models: [model.stan]\ndata: [{simulate: true, data: data.json, sets: 2}]\noptions: {chains: 1, warmup: 50, draws: 50}\n",
}

// readSchemas reads the schemas of all documents.
func readSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	schemas := map[string]*jsonschema.Schema{}
	compiler := jsonschema.NewCompiler()
	for _, d := range documents {
		path, err := filepath.Abs(filepath.Join("..", "..", "doc", "reference", "json", d.name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		if schemas[d.name], err = compiler.Compile(path); err != nil {
			t.Fatal(err)
		}
	}
	return schemas
}

// conforms checks JSON text against the schema of a document.
func conforms(t *testing.T, schema *jsonschema.Schema, text string) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err == nil {
		err = schema.Validate(v)
	}
	if err != nil {
		t.Errorf("%s\n%v", text, err)
	}
}

// TestJSON checks the JSON output of every command, and the records in folders, against their
// schemas with an independent validator.
func TestJSON(t *testing.T) {
	schemas := readSchemas(t)
	t.Chdir(t.TempDir())
	for name, text := range inputs {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	covered := map[string]bool{} // documents and commands with --json that were tested
	for _, c := range printed {
		command := strings.NewReplacer("{model}", "model.stan", "{data}", "data.json").Replace(c.command)
		args := strings.Fields(command)
		var text []byte
		if len(args) == 1 && strings.HasSuffix(command, ".json") {
			var err error
			if text, err = os.ReadFile(command); err != nil {
				t.Fatal(err)
			}
		} else {
			covered[args[0]] = true
			var out, told bytes.Buffer
			if !strings.Contains(command, "--progress json") {
				args = append(args, "--json")
			}
			code := execute(args, &out, &told)
			if wrong := strings.Contains(command, "wrong"); code != 0 != wrong {
				t.Errorf("ppl %s: exit code %d\n%s", command, code, &told)
			}
			text = out.Bytes()
			if strings.Contains(command, "--progress json") {
				text = told.Bytes()
			}
		}
		objects := 0
		for d := json.NewDecoder(bytes.NewReader(text)); ; objects++ {
			d.UseNumber()
			var v any
			if err := d.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("ppl %s: %v\n%s", command, err, text)
			}
			name := c.document
			if o, ok := v.(map[string]any); ok && o["note"] != nil && (name == "study-progress" || name == "run-progress") {
				name = "study-note"
			}
			covered[name] = true
			if err := schemas[name].Validate(v); err != nil {
				t.Errorf("ppl %s: %v", command, err)
			}
		}
		if objects == 0 {
			t.Errorf("ppl %s prints nothing", command)
		}
	}
	for _, d := range documents {
		served := d.from[0] == "--watch" || strings.HasPrefix(d.from[0], "/") // TestServeDoc and TestWatch test these
		if !covered[d.name] && d.name != "study-note" && !served {
			t.Errorf("no command of this test prints the document %s", d.name)
		}
	}
	// Every command with --json must be in the table of documents and in the list above.
	for _, c := range rootCommand(&checkedWriter{Writer: io.Discard}).Commands() {
		if c.Flags().Lookup("json") == nil {
			continue
		}
		if !covered[c.Name()] {
			t.Errorf("this test has no case of ppl %s --json", c.Name())
		}
		if !slices.ContainsFunc(documents, func(d document) bool { return slices.Contains(d.from, c.Name()) }) {
			t.Errorf("no document is that of ppl %s --json", c.Name())
		}
	}
}
