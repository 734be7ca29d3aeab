package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/serve"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/service"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model"
)

// This file: the work that the processes of ppl serve do. They read and write no files.

// workName is the name of the command that the processes run.
const workName = "serve-work"

func workCommand() *cobra.Command {
	return &cobra.Command{
		Use:    workName,
		Hidden: true,
		Args:   arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if code := serve.Work(cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), workTable()); code != 0 {
				return exitCode(code)
			}
			return nil
		},
	}
}

// workTable lists the kinds of work by the last part of their paths, and that of ppl mcp. The table
// of documents says what they return.
func workTable() map[string]serve.Handler {
	return map[string]serve.Handler{
		commandKind:  commandWork,
		"check":      versioned(checkWork),
		"run":        versioned(runWork),
		"logdensity": versioned(densityWork),
		"summary":    versioned(summaryWork),
	}
}

// versioned makes a handler write its answer as a document, which has a version.
func versioned(h serve.Handler) serve.Handler {
	return func(ctx context.Context, c *serve.Call) (any, error) {
		v, err := h(ctx, c)
		if err != nil {
			return nil, err
		}
		return asDocument(v)
	}
}

// shortKinds lists the kinds of work that take milliseconds.
var shortKinds = []string{"check"}

func workKinds() []string {
	var kinds []string
	for k := range workTable() {
		if k != commandKind {
			kinds = append(kinds, k)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// modelRequest has the fields that all requests about models share.
type modelRequest struct {
	Model      string           `json:"model"`
	Name       string           `json:"name"` // name of the model in messages
	Legacy     bool             `json:"legacy"`
	Data       json.RawMessage  `json:"data"`
	Seed       *uint64          `json:"seed"`
	StanCompat string           `json:"stan_compat"`
	Limits     map[string]int64 `json:"limits"`
}

// decode reads a request. It rejects unknown keys, since most are misspelt, and keys that occur
// twice, since one of the values would be ignored.
func decode(c *serve.Call, request any) error {
	if key := repeated(c.Body); key != "" {
		return refusedf("the request is malformed: it has two values for %s", key)
	}
	d := json.NewDecoder(bytes.NewReader(c.Body))
	d.DisallowUnknownFields()
	d.UseNumber()
	err := d.Decode(request)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is text after the closing }")
		}
	}
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return refusedf("the request is empty")
	case errors.As(err, &kind):
		key := strings.TrimPrefix(kind.Field, "modelRequest.") // encoding/json includes the name of an embedded struct
		return refusedf("the request is malformed: %s cannot be a %s", key, kind.Value)
	}
	return refusedf("the request is malformed: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// repeated returns a key that occurs twice in a request, or in an object in it; "" if there is
// none. It skips data and inits, which have their own parser, and text that is not JSON, which
// encoding/json reports.
func repeated(request []byte) string {
	return repeatedKey(request, strings.ToLower, func(key string, value []byte) string {
		if key == "data" || key == "init" {
			return ""
		}
		return repeatedKey(value, strings.Clone, func(string, []byte) string { return "" })
	})
}

// repeatedKey returns a key that occurs twice in an object, or what inner returns for one of its
// values. Keys are equal if fold makes them equal.
func repeatedKey(object []byte, fold func(string) string, inner func(key string, value []byte) string) string {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return ""
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		key, isKey := token.(string)
		var value json.RawMessage
		if err != nil || !isKey || d.Decode(&value) != nil {
			return ""
		}
		folded := fold(key)
		if seen[folded] {
			return key
		}
		seen[folded] = true
		if found := inner(folded, value); found != "" {
			return key + "." + found
		}
	}
	return ""
}

func refusedf(format string, args ...any) error {
	return &serve.Failure{Kind: "request", Message: fmt.Sprintf(format, args...)}
}

// maxMessages is the maximum number of messages in one answer.
const maxMessages = 100

// failed converts an error of a model into the failure to report to the client.
func failed(err error) error {
	if err == nil || errors.As(err, new(*serve.Failure)) {
		return err
	}
	if errors.As(err, new(*usageError)) {
		return refusedf("%s", strings.ReplaceAll(err.Error(), "--", "")) // options are keys here
	}
	f := &serve.Failure{Kind: "model", Message: err.Error()}
	list := model.Diagnostics(err)
	if list != nil {
		f.Messages = messages(list[:min(len(list), maxMessages)])
	}
	if f.Limit = passed(err, list); f.Limit != "" {
		f.Kind = "limit"
	}
	return f
}

// passed returns the name of the limit that an error is about, if it is one that the engine counts.
func passed(err error, list diag.List) string {
	if limit := (*ad.LimitError)(nil); errors.As(err, &limit) {
		return limit.What
	}
	switch {
	case len(list) > 0 && list[0].Code == diag.TooManyStatements:
		return "statements"
	case len(list) > 0 && list[0].Code == diag.TooLarge:
		return "memory" // a larger memory limit would not help in other cases
	}
	return ""
}

// take reads the fields that all requests about models share. It lowers the limits as the request
// asks, and fills in defaults.
func (r *modelRequest) take(c *serve.Call) error {
	if r.Name == "" {
		r.Name = "model.stan"
	}
	if strings.TrimSpace(r.Model) == "" {
		return refusedf("the request has no model: set the member model to its text")
	}
	if r.Seed == nil {
		r.Seed = new(uint64(rand.Uint32()))
	}
	return c.Lower(r.Limits)
}

// load compiles the model and binds it to its data.
func (r *modelRequest) load(ctx context.Context, c *serve.Call, in *input) (*loaded, error) {
	l := &loaded{values: data.Empty()}
	in.seed, in.stanCompat = *r.Seed, r.StanCompat
	err := timed(&l.compile, func() (err error) {
		l.model, err = model.CompileContext(ctx, r.Name, r.Model, model.CompileOptions{Legacy: r.Legacy})
		return err
	})
	if err != nil {
		return nil, failed(err)
	}
	if len(r.Data) > 0 && string(r.Data) != "null" {
		if err := timed(&l.read, func() (err error) {
			l.values, err = data.ParseJSON("data", r.Data)
			return err
		}); err != nil {
			return nil, failed(err)
		}
	}
	elements := 0
	for _, name := range l.values.Names() {
		if v, ok := l.values.Get(name); ok {
			elements += v.Size()
		}
	}
	if int64(elements) > c.Limits.Elements {
		return nil, serve.Passed("elements", "the data have %d numbers, but the limit is %d", elements, c.Limits.Elements)
	}
	in.memory, in.statements = byteSize(c.Limits.Memory/2), c.Limits.Statements // the other half is for the garbage collector
	options := in.bindOptions()
	err = timed(&l.bind, func() (err error) {
		l.posterior, err = l.model.BindContext(ctx, l.values, options)
		return err
	})
	return l, failed(err)
}

// checked is what the request check returns.
type checked struct {
	OK       bool          `json:"ok"`       // whether there are no errors; there may be warnings
	Messages []jsonMessage `json:"messages"` // errors and warnings, by place
	// the model after the changes that messages describe exactly; check it again
	Fixed string `json:"fixed,omitempty"`
}

func checkWork(_ context.Context, c *serve.Call) (any, error) {
	var r struct {
		Model    string           `json:"model"`
		Name     string           `json:"name"`
		Legacy   bool             `json:"legacy"`
		Pedantic bool             `json:"pedantic"`
		Limits   map[string]int64 `json:"limits"`
	}
	if err := decode(c, &r); err != nil {
		return nil, err
	}
	if r.Name == "" {
		r.Name = "model.stan"
	}
	if err := c.Lower(r.Limits); err != nil {
		return nil, err
	}
	file := source.NewFile(r.Name, r.Model)
	list := compile.Check(file, compile.Options{Legacy: r.Legacy, Pedantic: r.Pedantic})
	out := checked{OK: !list.HasErrors(), Messages: messages(list[:min(len(list), maxMessages)])}
	var edits []diag.Edit
	for _, d := range list {
		edits = append(edits, d.Edits...)
	}
	if len(edits) > 0 {
		out.Fixed = service.Apply(file, edits)
	}
	return out, nil
}

// densityAnswer is what logdensity --json prints, with the messages of the model.
type densityAnswer struct {
	*densities
	Warnings []string `json:"warnings,omitempty"` // notes on the evaluation
	*prints
}

func densityWork(ctx context.Context, c *serve.Call) (any, error) {
	var r struct {
		modelRequest
		Points     [][]float64 `json:"points"`
		NoPropto   bool        `json:"no_propto"`
		NoJacobian bool        `json:"no_jacobian"`
	}
	if err := decode(c, &r); err != nil {
		return nil, err
	}
	if err := r.take(c); err != nil {
		return nil, err
	}
	p := newPrints(c)
	l, err := r.load(ctx, c, &input{print: p.print, noPropto: r.NoPropto, noJacobian: r.NoJacobian, impossible: true})
	if err != nil {
		return nil, err
	}
	dim := l.posterior.Dim()
	for i, x := range r.Points {
		if len(x) != dim {
			return nil, refusedf("point %d has %d numbers, but the model has %d unconstrained parameters", i+1, len(x), dim)
		}
	}
	if n := int64(len(r.Points)) * int64(dim+len(l.posterior.ConstrainedNames())+1); n > c.Limits.Elements {
		return nil, serve.Passed("elements", "the answer would have %d numbers, but the limit is %d", n, c.Limits.Elements)
	}
	var notes strings.Builder
	d, err := evaluate(l.posterior, r.Points, usualShow(), 0, &notes)
	if err != nil {
		return nil, failed(err)
	}
	answer := densityAnswer{d, nil, p}
	for line := range strings.Lines(notes.String()) {
		if answer.Warnings = append(answer.Warnings, strings.TrimSuffix(line, "\n")); len(answer.Warnings) == maxMessages {
			break
		}
	}
	return answer, nil
}

// runRequest is a request to make a run; its fields are the options of ppl run.
type runRequest struct {
	modelRequest
	Chains         *int            `json:"chains"`
	Warmup         *int            `json:"warmup"`
	Draws          *int            `json:"draws"`
	Thin           *int            `json:"thin"`
	Sampler        string          `json:"sampler"`
	SamplerOptions map[string]any  `json:"sampler_options"`
	Init           json.RawMessage `json:"init"`
	TargetESS      float64         `json:"target_ess"`
	TimeLimit      float64         `json:"time_limit"` // seconds
	Columns        []string        `json:"columns"`    // columns whose draws are requested
}

// runAnswer is what run --json prints, with the additional parts that the request asks for.
type runAnswer struct {
	*runJSON
	Seed  uint64                `json:"seed"`            // seed of the random numbers
	Draws map[string][][]number `json:"draws,omitempty"` // by column and chain
	*prints
}

// options converts the request to the options of ppl run.
func (r *runRequest) options() (*running, error) {
	o := &runOptions{warmup: 1000, draws: 1000, thin: 1, chains: 4, init: "2", targetESS: r.TargetESS}
	o.seed, o.stanCompat, o.quiet = *r.Seed, r.StanCompat, true
	for p, v := range map[*int]*int{&o.chains: r.Chains, &o.warmup: r.Warmup, &o.draws: r.Draws, &o.thin: r.Thin} {
		if v != nil {
			*p = *v
		}
	}
	// The server has a time limit too, so a very large one makes no sense.
	if !(r.TimeLimit >= 0) || r.TimeLimit > 1e9 {
		return nil, refusedf("time_limit must be a number of seconds, but is %v", r.TimeLimit)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	o.thin = min(o.thin, max(o.draws, 1))
	cmd := &cobra.Command{}
	o.samplerFlags.flags(cmd)
	if r.Sampler != "" {
		o.samplerFlags.name = r.Sampler
	}
	for name, v := range r.SamplerOptions {
		if f := cmd.Flags().Lookup(name); f == nil || f.Name == "sampler" {
			return nil, refusedf("sampler_options: the sampler has no option %q", name)
		}
		if err := cmd.Flags().Set(name, fmt.Sprint(v)); err != nil {
			return nil, refusedf("sampler_options: %v", err)
		}
	}
	built, err := o.build(cmd.Flags(), nil)
	return &running{runOptions: o, sampler: built}, err
}

func runWork(ctx context.Context, c *serve.Call) (any, error) {
	var r runRequest
	if err := decode(c, &r); err != nil {
		return nil, err
	}
	if err := r.take(c); err != nil {
		return nil, err
	}
	o, err := r.options()
	if err != nil {
		return nil, failed(err)
	}
	// A chain counts at least once, since it costs something even without draws.
	transitions := float64(o.chains) * max(1, float64(o.warmup)+float64(o.draws))
	if transitions > float64(c.Limits.Draws) {
		return nil, serve.Passed("draws", "the run would make %.0f transitions, but the limit is %d", transitions, c.Limits.Draws)
	}
	p := newPrints(c)
	o.print = p.print
	l, err := r.load(ctx, c, &o.input)
	if err != nil {
		return nil, err
	}
	columns, err := chosen(l.posterior.OutputNames(), r.Columns)
	if err != nil {
		return nil, err
	}
	if n := int64(o.chains) * int64((o.draws+o.thin-1)/o.thin) * int64(len(columns)); n > c.Limits.Elements {
		return nil, serve.Passed("elements", "the answer would have %d numbers, but the limit is %d: choose fewer columns, or thin the draws", n, c.Limits.Elements)
	}
	if err := o.metricNotes(ctx, l.posterior, p.print); err != nil {
		return nil, failed(err)
	}
	options := fit.Options{
		Sampler: o.sampler, Chains: o.chains, Warmup: orNone(o.warmup), Draws: orNone(o.draws), Thin: o.thin, Seed: o.seed,
		TargetESS: o.targetESS, Refresh: max(1, (o.warmup+o.draws)/100),
	}
	if cv, ok := o.sampler.(sampler.CrossValidated); ok {
		if options.Sampler, err = o.validated(ctx, l, cv); err != nil {
			return nil, failed(err)
		}
	}
	if options.Init, err = r.inits(l.posterior); err != nil {
		return nil, failed(err)
	}
	if limit := time.Duration(r.TimeLimit * float64(time.Second)); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, &timeLimitError{limit})
		defer cancel()
	}
	run, err := fit.NewRun(ctx, l.posterior, options)
	if err != nil {
		return nil, failed(err)
	}
	for now, err := range run.Progress() {
		if err != nil || !c.Stream {
			continue
		}
		if text, err := asDocument(toldProgress(now.Progress)); err == nil {
			_ = c.Progress(text)
		}
	}
	fit, err := run.Fit()
	if fit == nil {
		return nil, failed(err)
	}
	s := newSession(o.runOptions, l, fit, ctx.Err() != nil && fit.Report.Interrupted, err)
	s.timeUp = timeUp(ctx)
	failures := s.failures()
	if s.draws == 0 && len(failures) > 0 {
		return nil, failed(failures[0])
	}
	answer := &runAnswer{runJSON: s.asJSON(failures), Seed: o.seed, prints: p}
	if len(columns) > 0 {
		answer.Draws = map[string][][]number{}
		names := fit.Names()
		for _, i := range columns {
			for chain := range fit.Draws.Chains() {
				answer.Draws[names[i]] = append(answer.Draws[names[i]], shortest(fit.Draws.Column(nil, chain, i)))
			}
		}
	}
	return answer, nil
}

// inits reads the starting points of chains, which are a radius or values of parameters.
func (r *runRequest) inits(p *model.Posterior) (infer.Init, error) {
	if len(r.Init) == 0 || string(r.Init) == "null" {
		return nil, nil
	}
	var radius float64
	if json.Unmarshal(r.Init, &radius) == nil {
		return infer.Uniform{Radius: radius}, nil
	}
	if r.Init[0] != '{' {
		return nil, refusedf("init must be a radius or an object of values")
	}
	values, err := data.ParseJSON("init", r.Init)
	if err != nil {
		return nil, err
	}
	return p.InitAt(values, initRadius)
}

// progressJSON is an event of type progress.
type progressJSON struct {
	Chain       int    `json:"chain"`       // number of the chain, from 1
	Iteration   int    `json:"iteration"`   // transitions made, warm-up included
	Total       int    `json:"total"`       // transitions planned
	Phase       string `json:"phase"`       // warm-up or sampling
	Divergences int    `json:"divergences"` // divergent transitions of the phase so far
	Gradients   int64  `json:"gradients"`   // evaluations of the gradient so far
}

func toldProgress(p infer.Progress) progressJSON {
	phase := "sampling"
	if p.Warmup {
		phase = "warm-up"
	}
	return progressJSON{p.Chain + 1, p.Iteration, p.Total, phase, p.Divergences, p.Gradients}
}

// chosen finds the requested columns. A request names columns, such as theta.1, or variables, such
// as theta; * means all.
func chosen(names, asked []string) ([]int, error) {
	var columns []int
	for _, a := range asked {
		n := len(columns)
		for i, name := range names {
			if a == "*" || name == a || strings.HasPrefix(name, a+".") || strings.HasPrefix(name, a+":") {
				columns = append(columns, i)
			}
		}
		if len(columns) == n {
			return nil, refusedf("columns: the model has no quantity %q", a)
		}
	}
	slices.Sort(columns)
	return slices.Compact(columns), nil
}

// summaryAnswer is a summary of given draws.
type summaryAnswer struct {
	Summary  []summaryJSON `json:"summary"`  // one entry per quantity
	Warnings []string      `json:"warnings"` // problems, in words
}

// summaryWork summarises draws, which the request gives in the form in which run returns them.
func summaryWork(_ context.Context, c *serve.Call) (any, error) {
	var r struct {
		Draws  map[string][][]looseNumber `json:"draws"`
		Limits map[string]int64           `json:"limits"`
	}
	if err := decode(c, &r); err != nil {
		return nil, err
	}
	if err := c.Lower(r.Limits); err != nil {
		return nil, err
	}
	if len(r.Draws) == 0 {
		return nil, refusedf(`there are no draws: they are given as {"draws": {"mu": [[1.5, 2], [0.5, 1]]}}, by quantity and chain`)
	}
	var names []string
	for name := range r.Draws {
		names = append(names, name)
	}
	slices.Sort(names)
	d := givenDraws{names, make([][][]float64, len(names))}
	elements := 0
	for i, name := range names {
		first := r.Draws[names[0]]
		if len(r.Draws[name]) != len(first) || len(first) == 0 {
			return nil, refusedf("%s has draws of %d chains, but %s of %d", name, len(r.Draws[name]), names[0], len(first))
		}
		for chain, draws := range r.Draws[name] {
			if len(draws) != len(first[chain]) {
				return nil, refusedf("%s has %d draws in chain %d, but %s has %d", name, len(draws), chain+1, names[0], len(first[chain]))
			}
			elements += len(draws)
			values := make([]float64, len(draws))
			for k, v := range draws {
				values[k] = float64(v)
			}
			d.values[i] = append(d.values[i], values)
		}
	}
	if int64(elements) > c.Limits.Elements {
		return nil, serve.Passed("elements", "the request has %d numbers, but the limit is %d", elements, c.Limits.Elements)
	}
	figures, err := new(diagnose.Summarizer).FiguresContext(context.Background(), d, true)
	if err != nil {
		return nil, err
	}
	rows := figures.Rows
	out := summaryAnswer{[]summaryJSON{}, []string{}}
	for i, p := range figures.Precisions {
		out.Summary = append(out.Summary, summaryRow(names[i], rows[i], p))
	}
	for _, f := range diagnose.Check(d, rows, diagnose.Options{MaxTreeDepth: -1}) {
		out.Warnings = append(out.Warnings, f.Summary+" "+f.Advice)
	}
	return out, nil
}

// givenDraws has draws by quantity and chain.
type givenDraws struct {
	names  []string
	values [][][]float64
}

func (d givenDraws) Names() []string   { return d.names }
func (d givenDraws) Chains() int       { return len(d.values[0]) }
func (d givenDraws) Len(chain int) int { return len(d.values[0][chain]) }
func (d givenDraws) Column(dst []float64, chain, quantity int) []float64 {
	return append(dst, d.values[quantity][chain]...)
}

// looseNumber reads numbers in the form in which this program writes them; see [number].
type looseNumber float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *looseNumber) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case `"NaN"`:
		*n = looseNumber(math.NaN())
	case `"Infinity"`:
		*n = looseNumber(math.Inf(1))
	case `"-Infinity"`:
		*n = looseNumber(math.Inf(-1))
	default:
		return json.Unmarshal(text, (*float64)(n))
	}
	return nil
}

func shortest(values []float64) []number {
	out := make([]number, len(values))
	for i, v := range values {
		out[i] = number(v)
	}
	return out
}

// prints holds the output of a model's print statements, up to the limit.
type prints struct {
	Lines   []string `json:"prints,omitempty"`         // what the model has printed, line by line
	Dropped int64    `json:"prints_dropped,omitempty"` // number of lines left out because of the limit

	mu sync.Mutex
	c  *serve.Call
}

// maxPrint is the maximum length of a printed line, in bytes.
const maxPrint = 4096

func newPrints(c *serve.Call) *prints { return &prints{c: c} }

func (p *prints) print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if int64(len(p.Lines)) >= p.c.Limits.Prints {
		p.Dropped++
		return
	}
	if len(text) > maxPrint {
		text = strings.ToValidUTF8(text[:maxPrint], "") + "…"
	}
	p.Lines = append(p.Lines, text)
	_ = p.c.Print(text)
}
