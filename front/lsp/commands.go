package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
)

// The commands that the client can request, each with the URI of a model.
const (
	commandRun    = "ppl.run"    // draws from the posterior and returns the summary
	commandCheck  = "ppl.check"  // checks with the data file of the model and publishes diagnostics
	commandReport = "ppl.report" // writes the report of the last run as an HTML file
)

const (
	defaultSeconds = 600     // of a run
	checkSeconds   = 60      // of a check
	reportSeconds  = 300     // of a report
	maxOutput      = 1 << 20 // maximum number of bytes of output that are kept
)

// The reasons for which an execution ends early.
var (
	errCancelled = errors.New("stopped")
	errReplaced  = errors.New("stopped, because it was started again")
	errEnded     = errors.New("stopped, because the session is over")
)

// execution is a process of ppl for a model.
type execution struct {
	cancel context.CancelCauseFunc
	token  string // identifies its progress reports, as JSON
}

// CommandResult is the result of a command.
type CommandResult struct {
	ExitCode int    `json:"exitCode"`
	Stopped  string `json:"stopped,omitempty"` // why it was ended early
	Output   string `json:"output"`
	Report   string `json:"report,omitempty"` // the file of a report
}

func (s *server) executeCommand(ctx context.Context, p *ExecuteCommandParams) (any, error) {
	var uri string
	if len(p.Arguments) == 0 || json.Unmarshal(p.Arguments[0], &uri) != nil {
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "the first argument of %s is the URI of a model", p.Command)
	}
	path := pathOf(uri)
	if path == "" {
		return nil, jrpc2.Errorf(requestFailed, "save the model in a file first")
	}
	switch p.Command {
	case commandRun, commandCheck:
	case commandReport:
		return s.report(ctx, p, uri, path)
	default:
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "there is no command %q", p.Command)
	}
	s.mu.Lock()
	settings := s.settings
	s.mu.Unlock()
	seconds := float64(checkSeconds)
	text, err := s.text(uri, path)
	if err != nil {
		return nil, err
	}
	model := "-" // standard input, which has the unsaved text
	if saved, err := os.ReadFile(path); err == nil && string(saved) == text {
		model = "." + string(filepath.Separator) + filepath.Base(path)
	}
	args := []string{"check", model, "--json"}
	if p.Command == commandRun {
		seconds = defaultSeconds
		if settings.RunSeconds > 0 {
			seconds = settings.RunSeconds
		}
		folder, err := s.runFolder(uri)
		if err != nil {
			return nil, jrpc2.Errorf(requestFailed, "cannot make a folder for the draws: %v", err)
		}
		args = append([]string{"run", model, "--out", folder}, settings.RunArguments...)
	}
	for _, folder := range s.workspace.folders(path) {
		args = append(args, "--include-path", folder)
	}
	if data := dataFile(path); data != "" {
		args = append(args, "--data", data)
	}
	result, err := s.execute(ctx, p, uri, path, text, args, time.Duration(seconds*float64(time.Second)))
	if err != nil || p.Command != commandCheck || result.Stopped != "" {
		return result, err
	}
	return s.checkedWithData(uri, path, result)
}

// runFolder makes a folder for the draws of a run, and removes the folder of the last run.
func (s *server) runFolder(uri string) (string, error) {
	folder, err := os.MkdirTemp("", "ppl-lsp-")
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	old := s.folders[uri]
	s.folders[uri] = folder
	s.mu.Unlock()
	if old != "" {
		os.RemoveAll(old)
	}
	return filepath.Join(folder, "fit"), nil
}

// removeFolders removes the folders of runs.
func (s *server) removeFolders() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, folder := range s.folders {
		os.RemoveAll(folder)
	}
}

// report writes the report of the last run of a model.
func (s *server) report(ctx context.Context, p *ExecuteCommandParams, uri, path string) (any, error) {
	s.mu.Lock()
	folder := s.folders[uri]
	s.mu.Unlock()
	fit := filepath.Join(folder, "fit")
	if _, err := os.Stat(fit); folder == "" || err != nil {
		return nil, jrpc2.Errorf(requestFailed, "run the model first; the report shows its last run")
	}
	file := filepath.Join(folder, "report.html")
	args := []string{"report", fit, "--out", file, "--title", filepath.Base(path)}
	result, err := s.execute(ctx, p, uri, path, "", args, reportSeconds*time.Second)
	if err == nil && result.ExitCode == 0 {
		result.Report = file
	} else if err == nil && result.Stopped == "" {
		s.show(messageError, firstLine(result.Output))
	}
	return result, err
}

// text returns the text of the open document or, if it is not open, of the file.
func (s *server) text(uri, path string) (string, error) {
	if d, err := s.workspace.get(context.Background(), uri); err == nil {
		return d.file.Text, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", jrpc2.Errorf(requestFailed, "%v", err)
	}
	return string(text), nil
}

// execute runs ppl on the text of a model, through standard input. It ends with ctx, when the
// client cancels its progress, when the same model is executed again, and after the limit.
func (s *server) execute(ctx context.Context, p *ExecuteCommandParams, uri, path, text string, args []string, limit time.Duration) (*CommandResult, error) {
	// The request's own cancellation ends the process too.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, limit, fmt.Errorf("stopped after %v, the limit for runs in the editor; run the model in a terminal, where there is none", limit))
	defer stop()
	e := &execution{cancel: cancel}
	key := p.Command + " " + uri
	s.mu.Lock()
	if s.state == stateShutdown {
		s.mu.Unlock()
		return nil, errEnded
	}
	if old := s.runs[key]; old != nil {
		old.cancel(errReplaced)
	}
	s.runs[key] = e
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		if s.runs[key] == e {
			delete(s.runs, key)
		}
		s.mu.Unlock()
	}()

	say := s.progress(ctx, e, p, strings.TrimPrefix(p.Command, "ppl.")+" "+filepath.Base(path))
	defer say("", true)
	out, errs := &tail{}, &tail{say: say}
	cmd := s.options.Command(ctx, args...)
	cmd.Dir = filepath.Dir(path)
	cmd.Stdin = strings.NewReader(text)
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	result := &CommandResult{Output: out.String()}
	if p.Command == commandRun || err != nil && out.String() == "" {
		result.Output = strings.TrimLeft(out.String()+"\n"+errs.messages(), "\n")
	}
	switch {
	case ctx.Err() != nil:
		result.Stopped = context.Cause(ctx).Error()
		if errors.Is(context.Cause(ctx), context.Canceled) {
			result.Stopped = errCancelled.Error()
		}
		result.ExitCode = 130
		s.show(messageWarning, filepath.Base(path)+": "+result.Stopped)
	case cmd.ProcessState == nil:
		return nil, jrpc2.Errorf(requestFailed, "cannot start ppl: %v", err)
	default:
		result.ExitCode = cmd.ProcessState.ExitCode()
	}
	if p.Command == commandRun && result.Stopped == "" {
		kind, word := messageInfo, "has run"
		if result.ExitCode != 0 {
			kind, word = messageError, "did not run: "+firstLine(errs.messages())
		} else if i := strings.Index("\n"+result.Output, "\nProblem: "); i >= 0 {
			kind, word = messageWarning, "has run. "+firstLine(result.Output[i:])
		}
		s.notify("window/logMessage", MessageParams{messageLog, result.Output})
		if s.client.Capabilities.Workspace.CodeLens.RefreshSupport {
			s.ask("workspace/codeLens/refresh", nil) // the lens now offers a report
		}
		s.show(kind, filepath.Base(path)+" "+word)
	}
	return result, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// progress returns a function that reports the progress of an execution to the client.
func (s *server) progress(ctx context.Context, e *execution, p *ExecuteCommandParams, title string) func(text string, end bool) {
	token := p.WorkDoneToken
	if len(token) == 0 && s.client.Capabilities.Window.WorkDoneProgress {
		s.mu.Lock()
		s.tokens++
		token = json.RawMessage(fmt.Sprintf("\"ppl-%d\"", s.tokens))
		s.mu.Unlock()
		wait, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if _, err := s.rpc.Callback(wait, "window/workDoneProgress/create", map[string]any{"token": token}); err != nil {
			token = nil
		}
	}
	if len(token) == 0 {
		return func(string, bool) {}
	}
	s.mu.Lock()
	e.token = string(token)
	s.mu.Unlock()
	send := func(value map[string]any) {
		s.notify("$/progress", map[string]any{"token": token, "value": value})
	}
	send(map[string]any{"kind": "begin", "title": title, "cancellable": true})
	return func(text string, end bool) {
		if end {
			send(map[string]any{"kind": "end"})
			return
		}
		send(map[string]any{"kind": "report", "message": text})
	}
}

type progressParams struct {
	Token json.RawMessage `json:"token"`
}

func (s *server) cancelProgress(_ context.Context, p *progressParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.runs {
		if e.token != "" && e.token == string(bytes.TrimSpace(p.Token)) {
			e.cancel(errCancelled)
		}
	}
	return nil, nil
}

// tail keeps the end of an output, and regularly sends its lines to the client.
type tail struct {
	say func(text string, end bool)

	mu   sync.Mutex
	text []byte
	lost bool
	told time.Time
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxOutput; over > maxOutput { // not at every write
		t.text, t.lost = append([]byte{}, t.text[over:]...), true
	}
	if t.say != nil && time.Since(t.told) > 200*time.Millisecond {
		lines := strings.Split(strings.TrimSpace(string(t.text[max(0, len(t.text)-200):])), "\n")
		t.say(lines[len(lines)-1], false)
		t.told = time.Now()
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if over := len(t.text) - maxOutput; t.lost || over > 0 {
		return "(what came before is left out)\n" + string(t.text[max(0, over):])
	}
	return string(t.text)
}

// messages returns the output without the lines of progress.
func (t *tail) messages() string {
	var b strings.Builder
	for line := range strings.Lines(t.String()) {
		if !strings.HasPrefix(line, "chain ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
