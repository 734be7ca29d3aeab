package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	reference "github.com/ppl-lang/ppl/doc/reference/json"
	"github.com/ppl-lang/ppl/front/mcp"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// This file has the table of the tools of ppl mcp. Most are commands of this program: their
// arguments are flags, with the texts of the table of flags, and their results are what the command
// prints with --json.

// mcpInput is what a tool takes besides flags.
type mcpInput int

const (
	takesModel mcpInput = 1 << iota // a model
	takesData                       // data, or data other than those of the fit
	takesFit                        // a fit
	takesFits                       // two fits or more
	makesFit                        // the name of the fit that it makes
)

// mcpTool is a row of the table.
type mcpTool struct {
	name, title string
	text        string // for the agent: what it does, and when to use it
	command     string // "": the server answers by itself
	takes       mcpInput
	flags       []string // of the command
	extra       []string // further arguments of the command
	twice       bool     // the command also makes the text for the agent, without --json
	document    string   // schema of the result; "": text
}

// tableFlags say how to read a table.
var tableFlags = []string{"count", "na", "missing", "read"}

// rowFlags choose the quantities that are shown.
var rowFlags = []string{"vars", "sort", "limit", "percentiles"}

// mcpTools is the table.
var mcpTools = []mcpTool{
	{name: "check", title: "Check a model", takes: takesModel, document: "serve-check",
		text: "Reports errors and likely mistakes in a model, without data. If messages describe exact changes, fixed has the model after them: check that again. Use it before run."},
	{name: "run", title: "Draw from the posterior", command: "run", takes: takesModel | takesData | makesFit, document: "run",
		flags: slices.Concat([]string{"chains", "warmup", "draws", "thin", "seed", "sampler", "delta", "max-depth", "target-ess", "time-limit", "legacy", "stan-compat"}, rowFlags[:1], rowFlags[2:], tableFlags),
		extra: []string{"--json", "--progress=json"},
		text:  "Samples the posterior of a model and summarises it. The fit is kept under the name in the member fit, for the other tools. Read findings before you use the summary: a fit with problems is not to be trusted."},
	{name: "summary", title: "Summarise a fit", command: "summary", takes: takesFit, document: "run", flags: rowFlags, twice: true, extra: []string{"--json"},
		text: "Summarises the draws of a fit again, such as some quantities or other percentiles."},
	{name: "findings", title: "Problems of a fit", command: "diagnose", takes: takesFit, document: "diagnose", twice: true, extra: []string{"--json"},
		text: "Shows what is wrong with a fit, and what to do: findings with advice, figures of each chain, and divergent transitions."},
	{name: "loo", title: "Predictive accuracy", command: "loo", takes: takesFit, document: "loo", flags: []string{"moment-match", "exact", "log-lik", "derive", "by"}, twice: true, extra: []string{"--json", "--quiet"},
		text: "Estimates how well a model predicts new data, by leave-one-out cross-validation (PSIS-LOO)."},
	{name: "compare", title: "Compare models", command: "compare", takes: takesFits, document: "compare", flags: []string{"log-lik", "derive", "by"}, twice: true, extra: []string{"--json", "--quiet"},
		text: "Compares fits of several models to the same data by their predictive accuracy, the best first, with a verdict on each."},
	{name: "predict", title: "Predict", command: "predict", takes: takesFit | takesData, document: "quantities",
		flags: slices.Concat([]string{"expected", "link", "new-levels", "ahead", "seed"}, rowFlags, tableFlags), twice: true, extra: []string{"--json"},
		text: "Draws replicated data at the draws of a fit, for its own data or for others that you give. With expected, the mean of each observation instead; with ahead, the next rows of a series."},
	{name: "effects", title: "Effects of variables", command: "effects", takes: takesFit | takesData, document: "effects",
		flags: slices.Concat([]string{"of", "by", "at", "show", "compare", "pairs", "step", "outcome", "link", "rank", "percentiles"}, tableFlags), twice: true, extra: []string{"--json", "--quiet"},
		text: "Shows how the expected outcome depends on variables of the data: average predictions, comparisons or slopes."},
	{name: "ppc", title: "Predictive checks", command: "ppc", takes: takesFit, document: "ppc", flags: []string{"by", "x", "statistic", "seed"}, twice: true, extra: []string{"--json", "--quiet"},
		text: "Compares the data with what the model predicts, to find what the model does not describe."},
	{name: "sensitivity", title: "Sensitivity to the prior", command: "sensitivity", takes: takesFit, document: "sensitivity", flags: []string{"prior", "vars"}, twice: true, extra: []string{"--json", "--quiet"},
		text: "Shows how much the results depend on the prior and on the likelihood."},
	{name: "sbc", title: "Simulation-based calibration", command: "sbc", takes: takesModel | takesData, document: "sbc",
		flags: slices.Concat([]string{"simulations", "ranks", "thin", "warmup", "seed", "vars", "legacy", "stan-compat"}, tableFlags), extra: []string{"--json", "--progress=json"},
		text: "Checks a model and its sampling by fits to simulated data. The data have sizes and covariates; outcomes are simulated. It makes many fits, so begin with few simulations."},
	{name: "doc", title: "Explain a name or a code",
		text: "Explains a function or distribution of the language, such as normal or softmax, or the code of a message, such as E0301. Without a name, it lists all functions."},
}

// own describes the arguments that are no flags.
var mcpArguments = []struct {
	name  string
	of    mcpInput
	kind  string // in JSON
	text  string
	check bool // the tool check has it, too
}{
	{"model", takesModel, "string", "the model: a program in Stan's language", true},
	{"model_file", takesModel, "string", "instead of model: the name of a file in the folder of the server", true},
	{"data", takesData, "object", "data in Stan's JSON format", false},
	{"table", takesData, "string", "instead of data: a table as CSV text with a header line", false},
	{"data_file", takesData, "string", "instead of data: the name of a file in the folder of the server (JSON, CSV or an R dump)", false},
	{"fit", takesFit, "string", "the name of a fit that run has made", false},
	{"fits", takesFits, "array", "the names of fits that run has made, at least two", false},
	{"name", makesFit, "string", "the name under which the fit is kept: letters, digits, - and _ (default: fit-1, fit-2, …). An earlier fit of that name is replaced", false},
}

// flag finds the flag of an argument.
func (t *mcpTool) flag(root *cobra.Command, argument string) *pflag.Flag {
	name := strings.ReplaceAll(argument, "_", "-")
	if !slices.Contains(t.flags, name) {
		return nil
	}
	return commandNamed(root, t.command).Flags().Lookup(name)
}

// jsonKind returns the JSON type of a flag's values, and of their elements if that is array.
func jsonKind(f *pflag.Flag) (kind, element string) {
	switch f.Value.Type() {
	case "bool":
		return "boolean", ""
	case "int", "int64", "uint64":
		return "integer", ""
	case "float", "float64":
		return "number", ""
	case "stringArray", "stringSlice":
		return "array", "string"
	case "float64Slice":
		return "array", "number"
	}
	return "string", ""
}

// schema returns the JSON schema of the arguments of a tool.
func (t *mcpTool) schema(root *cobra.Command) json.RawMessage {
	type object = map[string]any
	members, required := object{}, []string{}
	for _, a := range mcpArguments {
		if t.takes&a.of == 0 {
			continue
		}
		m := object{"type": a.kind, "description": a.text}
		if a.kind == "array" {
			m["items"], m["minItems"] = object{"type": "string"}, 2
		}
		members[a.name] = m
		if a.of == takesFit || a.of == takesFits {
			required = append(required, a.name)
		}
	}
	for _, name := range t.flags {
		argument := strings.ReplaceAll(name, "-", "_")
		f := t.flag(root, argument)
		kind, element := jsonKind(f)
		m := object{"type": kind, "description": flagText(f)}
		if element != "" {
			m["items"] = object{"type": element}
		}
		members[argument] = m
	}
	switch t.name {
	case "check":
		members["legacy"] = object{"type": "boolean", "description": "read the syntax of older versions of Stan"}
		members["pedantic"] = object{"type": "boolean", "description": "add warnings about code that is often intended"}
	case "doc":
		members["name"] = object{"type": "string", "description": "a function, operator or distribution, or the code of a message"}
	}
	if t.name != "doc" {
		members["limits"] = object{"type": "object", "additionalProperties": object{"type": "integer"},
			"description": "lower limits than those of the server, such as seconds, memory (bytes) or draws"}
	}
	text, err := json.Marshal(object{"type": "object", "additionalProperties": false, "properties": members, "required": required})
	if err != nil { // the schema is made of texts
		return nil
	}
	return text
}

// flagText is the text of a flag with its default.
func flagText(f *pflag.Flag) string {
	text := f.Usage
	if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "[]" {
		text += " (default: " + strings.Trim(d, "[]") + ")"
	}
	return text
}

// mcpToolList returns the tools for the protocol.
func mcpToolList(root *cobra.Command) ([]mcp.Tool, error) {
	var out []mcp.Tool
	for _, t := range mcpTools {
		tool := mcp.Tool{Name: t.name, Title: t.title, Description: t.text, Input: t.schema(root)}
		if t.document != "" {
			text, err := reference.Schemas.ReadFile(t.document + ".schema.json")
			if err != nil {
				return nil, err
			}
			tool.Output = text
		}
		out = append(out, tool)
	}
	return out, nil
}

// mcpCall is a call of a tool, with its arguments read.
type mcpCall struct {
	tool   *mcpTool
	given  map[string]any
	data   json.RawMessage // as it was written, for the places in messages
	limits map[string]int64
	args   []string // of the command: those that are flags
}

// textRows is the number of quantities in the text of a result, unless the agent asks for others.
const textRows = 60

// then returns the command line that makes the text of a result; nil if the JSON is the text.
func (t *mcpTool) then(root *cobra.Command, c *mcpCall, flags, positional []string, kept string) []string {
	command, shown := t.command, flags
	switch {
	case t.takes&makesFit != 0: // the run itself is not repeated
		command, positional, shown = "summary", []string{kept}, nil
		for _, f := range flags {
			if name, _, _ := strings.Cut(strings.TrimPrefix(f, "--"), "="); slices.Contains(rowFlags, name) {
				shown = append(shown, f)
			}
		}
	case !t.twice:
		return nil
	}
	if _, ok := c.given["limit"]; !ok && slices.Contains(t.flags, "limit") {
		shown = append(slices.Clip(shown), fmt.Sprintf("--limit=%d", textRows))
	}
	if commandNamed(root, command).Flags().Lookup("verbose") != nil { // the agent reads reasons and remedies
		shown = append(slices.Clip(shown), "--verbose")
	}
	return slices.Concat([]string{command}, shown, []string{"--"}, positional)
}

// sbcText is the text of the result of sbc, whose fits are not made twice.
func sbcText(j *sbcJSON) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d simulations, ranks among %d draws. p is the probability of ranks that differ as much from uniform.\n\n", j.Simulations-j.Failed, j.Draws)
	for i, p := range j.Parameters {
		if i == textRows {
			fmt.Fprintf(&b, "… and %s\n", count(len(j.Parameters)-i, "more parameter", "more parameters"))
			break
		}
		fmt.Fprintf(&b, "%s: p = %s\n", diagnose.DisplayName(p.Name), fixed(float64(p.P), 3))
	}
	if len(j.Findings) == 0 {
		b.WriteString("\nNo problems found.")
	}
	for _, f := range j.Findings {
		fmt.Fprintf(&b, "\n%s: %s %s", f.Severity, f.Summary, f.Advice)
	}
	return b.String()
}

// fitName matches the names of fits.
var fitName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`)

// read reads the arguments of a call by the schema of the tool.
func (t *mcpTool) read(root *cobra.Command, arguments json.RawMessage) (*mcpCall, error) {
	c := &mcpCall{tool: t, given: map[string]any{}}
	var schema struct {
		Properties map[string]struct {
			Type  string
			Items struct{ Type string }
		}
		Required []string
	}
	if err := json.Unmarshal(t.schema(root), &schema); err != nil {
		return nil, err
	}
	if len(arguments) > 0 {
		d := json.NewDecoder(bytes.NewReader(arguments))
		d.UseNumber()
		if err := d.Decode(&c.given); err != nil {
			return nil, fmt.Errorf("the arguments are not an object: %w", err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("there is text after the arguments")
		}
		var raw struct{ Data json.RawMessage }
		if err := json.Unmarshal(arguments, &raw); err == nil {
			c.data = raw.Data
		}
	}
	var names []string
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for name, v := range c.given {
		p, ok := schema.Properties[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("%s has no argument %s; it has %s", t.name, name, strings.Join(names, ", "))
		case v == nil:
			delete(c.given, name)
		case !hasKind(v, p.Type, p.Items.Type):
			return nil, fmt.Errorf("the argument %s must be of type %s", name, strings.TrimSpace(p.Type+" "+strings.TrimSuffix("of "+p.Items.Type, "of ")))
		}
	}
	for _, name := range schema.Required {
		if c.given[name] == nil {
			return nil, fmt.Errorf("the argument %s is missing", name)
		}
	}
	for name, v := range c.object("limits") {
		n, err := v.(json.Number).Int64()
		if err != nil {
			return nil, fmt.Errorf("the limit %s must be an integer", name)
		}
		if c.limits == nil {
			c.limits = map[string]int64{}
		}
		c.limits[name] = n
	}
	for _, name := range t.flags {
		argument := strings.ReplaceAll(name, "-", "_")
		v, ok := c.given[argument]
		if !ok {
			continue
		}
		values := []any{v}
		if list, ok := v.([]any); ok {
			values = list
		}
		for _, v := range values {
			c.args = append(c.args, fmt.Sprintf("--%s=%v", name, v))
		}
	}
	return c, nil
}

// hasKind reports whether a value has a JSON type.
func hasKind(v any, kind, element string) bool {
	switch v := v.(type) {
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case json.Number:
		if kind == "integer" {
			_, ok := new(big.Int).SetString(v.String(), 10)
			return ok
		}
		return kind == "number"
	case []any:
		return kind == "array" && !slices.ContainsFunc(v, func(x any) bool { return !hasKind(x, element, "") })
	case map[string]any:
		return kind == "object"
	}
	return false
}

// chains returns the number of chains of a run.
func (c *mcpCall) chains(root *cobra.Command) int {
	text := "1"
	if f := c.tool.flag(root, "chains"); f != nil {
		text = f.DefValue
	}
	if n, ok := c.given["chains"].(json.Number); ok {
		text = n.String()
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 1
	}
	return n
}

// text returns an argument that is a text; "" if it is not given.
func (c *mcpCall) text(name string) string {
	s, _ := c.given[name].(string)
	return s
}

// object returns an argument that is an object.
func (c *mcpCall) object(name string) map[string]any {
	o, _ := c.given[name].(map[string]any)
	return o
}
