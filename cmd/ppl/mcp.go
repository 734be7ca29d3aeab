package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	reference "github.com/ppl-lang/ppl/doc/reference/json"
	"github.com/ppl-lang/ppl/front/docs"
	"github.com/ppl-lang/ppl/front/httpd"
	"github.com/ppl-lang/ppl/front/mcp"
	"github.com/ppl-lang/ppl/front/serve"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/model"
)

// mcpOptions has the options of the command mcp.
type mcpOptions struct {
	workerOptions
	folder  string
	maxFits byteSize
	verbose bool
}

func mcpCommand() *cobra.Command {
	o := mcpOptions{workerOptions: workerOptions{limits: serve.DefaultLimits()}, maxFits: 512 << 20}
	cmd := &cobra.Command{
		Use: "mcp",
		Long: `Lets an agent check models, fit them and judge the fits, over the Model Context Protocol
on standard input and output. Agents start it; doc/how-to/agents.md says how to set them up,
and what an agent can and cannot do.

Each call gets a separate process, with limits of time, memory and others, as for ppl serve.
On Linux, seccomp and Landlock confine the processes. Fits stay in memory under their names,
up to --max-fits, and nothing is written to files. With --folder, models and data may be
files in that folder; no other file is read.`,
		Example: `  ppl mcp
  ppl mcp --folder analysis --max-seconds 600`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := declare(cmd)
	f.String(&o.folder, "folder", "")
	f.Value(&o.maxFits, "max-fits")
	o.workerOptions.flags(f, "elements")
	f.Bool(&o.verbose, "verbose", false)
	return cmd
}

// mcpServer answers an agent.
type mcpServer struct {
	server *serve.Server
	root   *cobra.Command // for the flags of commands
	folder *os.Root       // nil: no files
	most   int64          // bytes of the fits that are kept

	mu    sync.Mutex
	fits  []keptFit // the oldest first
	named int       // number of fits that got a name automatically
}

// keptFit is a fit that is kept for later calls.
type keptFit struct {
	name    string
	archive []byte
}

const mcpInstructions = `ppl fits Bayesian models written in Stan's language.

A usual order: check a model and write what is wrong anew (fixed has the model after exact
fixes); run it; read the findings, and follow their advice before you trust the summary; then ppc,
loo, compare, predict and effects with the name of the fit. The report of a fit is the resource
ppl://fit/NAME/report. Explain functions and codes with doc.

Advice names flags of the command line: --target-ess is the argument target_ess. Limits of the server
bound each call; an error of kind limit names the limit.`

func (o *mcpOptions) serve(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	level := slog.LevelError
	if o.verbose {
		level = slog.LevelInfo
	}
	ctx, stop := interruptible(ctx, nil)
	defer stop()
	server, walls, err := o.server(ctx, nil, 0, slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})))
	if err != nil {
		return err
	}
	s := &mcpServer{server: server, root: rootCommand(&checkedWriter{Writer: io.Discard}), most: int64(o.maxFits)}
	if o.folder != "" {
		if s.folder, err = os.OpenRoot(o.folder); err != nil {
			return fmt.Errorf("cannot open the folder: %w", err)
		}
		defer s.folder.Close()
	}
	tools, err := mcpToolList(s.root)
	if err != nil {
		return err
	}
	if f, ok := stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		printMessage(stderr, "This is for agents, which start it automatically: see doc/how-to/agents.md. Ctrl-C ends it.")
	}
	o.announce(stderr, walls)
	return mcp.Serve(ctx, io.NopCloser(stdin), unclosed{stdout}, mcp.Options{
		Name: "ppl", Version: model.Version(), Instructions: mcpInstructions,
		Tools: tools, Resources: mcpResources, Call: s.call, Read: s.read,
		MaxMessage: int(o.limits.Bytes),
	})
}

// unclosed is a writer that is not closed with the session.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// call calls a tool.
func (s *mcpServer) call(ctx context.Context, tool string, arguments json.RawMessage, progress func(done, total float64, message string)) (*mcp.Result, error) {
	i := slices.IndexFunc(mcpTools, func(t mcpTool) bool { return t.name == tool })
	if i < 0 {
		return nil, fmt.Errorf("there is no tool %s", tool)
	}
	t := &mcpTools[i]
	c, err := t.read(s.root, arguments)
	if err != nil {
		return failedCall(&httpd.Error{Kind: "request", Message: err.Error()}), nil
	}
	if t.name == "doc" {
		var b bytes.Buffer
		if err := explainName(&b, c.text("name")); err != nil {
			return failedCall(&httpd.Error{Kind: "request", Message: err.Error()}), nil
		}
		return &mcp.Result{Text: []string{b.String()}}, nil
	}
	r, positional, err := s.request(c)
	if err != nil {
		return failedCall(&httpd.Error{Kind: "request", Message: err.Error()}), nil
	}
	if t.name == "check" {
		return s.check(ctx, c, positional[0], string(r.Texts[positional[0]])), nil
	}
	flags := slices.Concat(c.args, r.Args)
	r.Args = slices.Concat([]string{t.command}, t.extra, flags, []string{"--"}, positional)
	r.Then = t.then(s.root, c, flags, positional, r.Keep)
	a, failure := s.do(ctx, r, (&mcpProgress{report: progress, count: c.chains(s.root)}).event)
	if failure != nil {
		return failedCall(failure), nil
	}
	result := &mcp.Result{Text: []string{strings.Trim(a.Text, "\n")}, Structured: json.RawMessage(a.Output)}
	if a.Text == "" {
		result.Text[0] = strings.TrimSpace(a.Output)
	}
	var sbc sbcJSON
	if t.name == "sbc" && json.Unmarshal(result.Structured, &sbc) == nil {
		result.Text[0] = sbcText(&sbc)
	}
	if len(a.Notes) > 0 {
		result.Text = append(result.Text, strings.Join(a.Notes, "\n"))
	}
	if !json.Valid(result.Structured) { // the process may have been taken over
		return failedCall(&httpd.Error{Kind: "internal", Message: "the answer is not JSON"}), nil
	}
	if a.Fit != nil {
		result.Text[0] = fmt.Sprintf("The fit is kept under the name %s.\n\n%s", r.Keep, result.Text[0])
		s.keep(keptFit{r.Keep, a.Fit}, result)
	}
	return result, nil
}

// request makes the request of a call, without the name of its command. It returns the names of the
// model or the fits.
func (s *mcpServer) request(c *mcpCall) (r *commandRequest, positional []string, err error) {
	r = &commandRequest{Texts: map[string][]byte{}, Fits: map[string][]byte{}, Limits: c.limits}
	if c.tool.takes&takesModel != 0 {
		name, text, err := s.model(c)
		if err != nil {
			return nil, nil, err
		}
		r.Texts[name] = text
		positional = append(positional, name)
	}
	if c.tool.takes&takesData != 0 {
		name, text, err := s.data(c)
		if err != nil {
			return nil, nil, err
		}
		if name != "" {
			r.Texts[name] = text
			r.Args = append(r.Args, "--data="+name)
		}
	}
	var fits []string
	if c.tool.takes&takesFit != 0 {
		fits = []string{c.text("fit")}
	}
	if c.tool.takes&takesFits != 0 {
		for _, f := range c.given["fits"].([]any) {
			fits = append(fits, f.(string))
		}
		if len(fits) < 2 {
			return nil, nil, errors.New("there must be at least two fits to compare")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range fits {
		i := slices.IndexFunc(s.fits, func(f keptFit) bool { return f.name == name })
		if i < 0 {
			return nil, nil, s.noFit(name)
		}
		r.Fits[name] = s.fits[i].archive
	}
	if c.tool.takes&makesFit != 0 {
		r.Keep = c.text("name")
		if r.Keep == "" {
			s.named++
			r.Keep = fmt.Sprintf("fit-%d", s.named)
		} else if !fitName.MatchString(r.Keep) {
			return nil, nil, fmt.Errorf("a fit cannot be called %q: use up to 40 letters, digits, - and _", r.Keep)
		}
	}
	return r, append(positional, fits...), nil
}

// noFit is the error for a name that no fit has.
func (s *mcpServer) noFit(name string) error {
	var names []string
	for _, f := range s.fits {
		names = append(names, f.name)
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no fit %q, nor any other: make one by run", name)
	}
	return fmt.Errorf("there is no fit %q; there are %s", name, strings.Join(names, ", "))
}

// model returns the model of a call with its name.
func (s *mcpServer) model(c *mcpCall) (string, []byte, error) {
	text, file := c.text("model"), c.text("model_file")
	switch {
	case text != "" && file != "":
		return "", nil, errors.New("give either model or model_file")
	case file != "":
		return s.file("model_file", file)
	case strings.TrimSpace(text) == "":
		return "", nil, errors.New("there is no model: give its text as the argument model")
	}
	return "model.stan", []byte(text), nil
}

// data returns the data of a call with their name; "" if there are none.
func (s *mcpServer) data(c *mcpCall) (string, []byte, error) {
	n := 0
	for _, name := range []string{"data", "table", "data_file"} {
		if c.given[name] != nil {
			n++
		}
	}
	switch {
	case n > 1:
		return "", nil, errors.New("give one of data, table and data_file")
	case c.given["data"] != nil:
		return "data.json", c.data, nil
	case c.given["table"] != nil:
		return "data.csv", []byte(c.text("table")), nil
	case c.given["data_file"] != nil:
		return s.file("data_file", c.text("data_file"))
	}
	return "", nil, nil
}

// maxMCPFile is the largest file that is read, in bytes.
const maxMCPFile = 1 << 30

// file reads a file in the folder.
func (s *mcpServer) file(argument, name string) (string, []byte, error) {
	if s.folder == nil {
		return "", nil, fmt.Errorf("%s: no files are read, since ppl mcp was started without --folder", argument)
	}
	f, err := s.folder.Open(name)
	if err == nil {
		defer f.Close()
		var info os.FileInfo
		if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
			err = errors.New("it is no file")
		} else if err == nil && info.Size() > maxMCPFile {
			err = errors.New("it is longer than 1 GiB")
		}
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(f)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s: cannot read %s in the folder: %w", argument, name, err)
	}
	return path.Base(strings.ReplaceAll(name, `\`, "/")), text, nil
}

// check checks a model. It uses the work that ppl serve has for it.
func (s *mcpServer) check(ctx context.Context, c *mcpCall, name, text string) *mcp.Result {
	body, err := json.Marshal(map[string]any{"model": text, "name": name, "legacy": c.given["legacy"] == true, "pedantic": c.given["pedantic"] == true, "limits": c.limits})
	if err != nil {
		return failedCall(&httpd.Error{Kind: "internal", Message: err.Error()})
	}
	answer, failure := s.server.Do(ctx, "check", body, nil)
	if failure != nil {
		return failedCall(failure)
	}
	var list checked
	if err := json.Unmarshal(answer, &list); err != nil {
		return failedCall(&httpd.Error{Kind: "internal", Message: "the answer is not JSON"})
	}
	shown := messageText(list.Messages)
	switch {
	case len(list.Messages) == 0:
		shown = "There are no errors or warnings."
	case list.Fixed != "":
		shown += "\nAfter the changes that the messages describe:\n\n" + list.Fixed
	}
	return &mcp.Result{Text: []string{shown}, Structured: answer}
}

// do runs a command in a process.
func (s *mcpServer) do(ctx context.Context, r *commandRequest, event func(string, []byte)) (*commandAnswer, *httpd.Error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, &httpd.Error{Kind: "internal", Message: err.Error()}
	}
	text, failure := s.server.Do(ctx, commandKind, body, event)
	if failure != nil {
		return nil, failure
	}
	a := &commandAnswer{}
	if err := json.Unmarshal(text, a); err != nil {
		return nil, &httpd.Error{Kind: "internal", Message: "the answer of a process is malformed"}
	}
	return a, nil
}

// keep keeps a fit, in place of one with its name. If all fits together are too large, it drops the
// oldest.
func (s *mcpServer) keep(f keptFit, result *mcp.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fits = append(slices.DeleteFunc(s.fits, func(k keptFit) bool { return k.name == f.name }), f)
	size := int64(0)
	for _, k := range s.fits {
		size += int64(len(k.archive))
	}
	for size > s.most && len(s.fits) > 1 {
		old := s.fits[0]
		s.fits, size = s.fits[1:], size-int64(len(old.archive))
		result.Removed = append(result.Removed, reportURI(old.name))
		result.Text = append(result.Text, fmt.Sprintf("The fit %s is no longer kept: all together would take more than --max-fits.", old.name))
	}
	result.Added = []mcp.Resource{{URI: reportURI(f.name), Name: "report of " + f.name, MIME: "text/html", Description: "Report of the fit: findings, summary, plots and predictions, as one HTML page."}}
}

func reportURI(fit string) string { return "ppl://fit/" + fit + "/report" }

// mcpProgress turns the progress of chains and of studies into that of a call.
type mcpProgress struct {
	report func(done, total float64, message string)
	count  int             // number of chains
	chains map[int]float64 // iterations by chain
}

func (p *mcpProgress) event(event string, text []byte) {
	var e struct {
		Chain     int     `json:"chain"`
		Iteration float64 `json:"iteration"`
		Total     float64 `json:"total"`
		Phase     string  `json:"phase"`
		Left      string  `json:"left"`
		Done      float64 `json:"done"`
	}
	if event != "progress" || json.Unmarshal(text, &e) != nil {
		return
	}
	if e.Chain == 0 {
		p.report(e.Done, e.Total, fmt.Sprintf("%.0f of %.0f fits", e.Done, e.Total))
		return
	}
	if p.chains == nil {
		p.chains = map[int]float64{}
	}
	p.chains[e.Chain] = e.Iteration
	sum := 0.0
	for _, n := range p.chains {
		sum += n
	}
	message := fmt.Sprintf("chain %d: %s", e.Chain, e.Phase)
	if e.Left != "" {
		message += ", " + e.Left
	}
	p.report(sum, e.Total*float64(p.count), message)
}

// failedCall returns the result of a call that failed: the error in words for the agent, and as a
// document.
func failedCall(e *httpd.Error) *mcp.Result {
	text := e.Message
	var list []jsonMessage
	if raw, ok := e.Messages.(json.RawMessage); ok && json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		text = messageText(list)
	}
	if e.Kind == "limit" && e.Limit != "" {
		text += fmt.Sprintf("\nThe limit %s of the server was exceeded: ask for less, or start ppl mcp with a larger --max-%s.", e.Limit, e.Limit)
	}
	result := &mcp.Result{Failed: true, Text: []string{text}}
	if document, err := json.Marshal(e.Answer()); err == nil {
		result.Text = append(result.Text, string(document))
	}
	return result
}

// messageText returns messages as ppl check prints them, without the lines of the model.
func messageText(list []jsonMessage) string {
	var b strings.Builder
	for _, m := range list {
		if m.File != "" {
			fmt.Fprintf(&b, "%s:%d:%d: ", m.File, m.jsonPlace.Line, m.jsonPlace.Column)
		}
		fmt.Fprintf(&b, "%s: %s", m.Severity, m.Summary)
		if m.Code != "" {
			fmt.Fprintf(&b, " [%s]", m.Code)
		}
		b.WriteString("\n")
		if m.Detail != "" {
			fmt.Fprintf(&b, "  %s\n", m.Detail)
		}
		if m.Help != "" {
			fmt.Fprintf(&b, "  help: %s\n", m.Help)
		}
		for _, n := range m.Notes {
			fmt.Fprintf(&b, "  note: %s:%d:%d: %s\n", n.File, n.Line, n.Column, n.Message)
		}
	}
	return b.String()
}

// mcpResources are the resources that there are from the beginning.
var mcpResources = []mcp.Resource{
	{URI: "ppl://doc/functions", Name: "functions", MIME: "text/plain", Description: "All functions and distributions of the language, by family."},
	{URI: "ppl://doc/function/{name}", Name: "function", MIME: "text/plain", Template: true, Description: "What a function or distribution computes: its forms, arguments and an example."},
	{URI: "ppl://doc/codes", Name: "codes", MIME: "text/plain", Description: "The codes of all errors and warnings."},
	{URI: "ppl://doc/code/{code}", Name: "code", MIME: "text/plain", Template: true, Description: "What an error or warning means: a program that causes it, and the same program repaired."},
	{URI: "ppl://doc/spec", Name: "spec", MIME: "text/markdown", Description: "The specification of the language as ppl has it."},
	{URI: "ppl://schema/{name}", Name: "schema", MIME: "application/schema+json", Template: true, Description: "The JSON schema of a result, such as run, loo or serve-error."},
	{URI: "ppl://fit/{name}/report", Name: "report", MIME: "text/html", Template: true, Description: "The report of a fit as one HTML page."},
}

// read reads a resource.
func (s *mcpServer) read(ctx context.Context, uri string) (mime, text string, err error) {
	rest, err := url.PathUnescape(strings.TrimPrefix(uri, "ppl://"))
	if err != nil {
		return "", "", mcp.ErrNoResource
	}
	parts := strings.Split(rest, "/")
	var b bytes.Buffer
	switch {
	case rest == "doc/functions":
		err = writeFamilies(&b)
	case rest == "doc/codes":
		for _, e := range diag.Explanations() {
			fmt.Fprintf(&b, "%s  %s\n", e.Code, e.Title)
		}
	case rest == "doc/spec":
		text, err := docs.Spec(ctx)
		return "text/markdown", string(text), err
	case len(parts) == 3 && parts[0] == "doc" && (parts[1] == "function" || parts[1] == "code"):
		if err = explainName(&b, parts[2]); err != nil {
			err = fmt.Errorf("%w: %w", mcp.ErrNoResource, err)
		}
	case len(parts) == 2 && parts[0] == "schema":
		text, err := reference.Schemas.ReadFile(path.Base(parts[1]) + ".schema.json")
		if err != nil {
			err = mcp.ErrNoResource
		}
		return "application/schema+json", string(text), err
	case len(parts) == 3 && parts[0] == "fit" && parts[2] == "report":
		return s.report(ctx, parts[1])
	default:
		err = mcp.ErrNoResource
	}
	return "text/plain", b.String(), err
}

// report makes the report of a fit.
func (s *mcpServer) report(ctx context.Context, name string) (mime, text string, err error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.fits, func(f keptFit) bool { return f.name == name })
	if i < 0 {
		err = fmt.Errorf("%w: %w", mcp.ErrNoResource, s.noFit(name))
		s.mu.Unlock()
		return "", "", err
	}
	r := &commandRequest{Args: []string{"report", "--out=-", "--quiet", "--", name}, Fits: map[string][]byte{name: s.fits[i].archive}}
	s.mu.Unlock()
	a, failure := s.do(ctx, r, nil)
	if failure != nil {
		return "", "", failure
	}
	if !utf8.ValidString(a.Output) {
		return "", "", errors.New("the report is not a text")
	}
	return "text/html", a.Output, nil
}

// explainName explains a code, or a name of the language; without one, it lists the names.
func explainName(w io.Writer, name string) error {
	if name == "" {
		return writeFamilies(w)
	}
	if e, ok := diag.Explain(diag.Code(strings.ToUpper(strings.Trim(name, "[]")))); ok {
		explainCode(w, e)
		return nil
	}
	return writeDoc(w, name)
}
