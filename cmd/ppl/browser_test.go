package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// chromium is a page in a browser without a window. The test drives it over a pipe, by the protocol
// of the developer tools: https://chromedevtools.github.io/devtools-protocol.
type chromium struct {
	t       testing.TB
	in      io.Writer
	session string

	mu      sync.Mutex
	next    int
	waiting map[int]chan json.RawMessage
	said    []string // errors of the page and its messages on the console
	pid     int
}

// startChromium starts the browser, with an empty page.
func startChromium(t testing.TB, program string) *chromium {
	t.Helper()
	toRead, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, toWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--force-color-profile=srgb",
		"--remote-debugging-pipe", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"), "about:blank")
	cmd.ExtraFiles = []*os.File{toRead, toWrite} // must be descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toRead.Close()
	toWrite.Close()
	c := &chromium{t: t, in: in, waiting: map[int]chan json.RawMessage{}, pid: cmd.Process.Pid}
	ended := make(chan struct{})
	go func() { defer close(ended); c.read(out) }()
	t.Cleanup(func() {
		c.send("", "Browser.close", nil)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
		}
		in.Close()
		cmd.Wait()
		out.Close()
	})
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	for range 50 {
		c.call("Target.getTargets", nil, &targets)
		if len(targets.TargetInfos) > 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, target := range targets.TargetInfos {
		if target.Type == "page" {
			var attached struct{ SessionID string }
			c.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
			c.session = attached.SessionID
		}
	}
	c.call("Runtime.enable", nil, nil)
	c.call("Page.enable", nil, nil)
	return c
}

// read receives the messages of the browser until its end.
func (c *chromium) read(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
			Params struct {
				ExceptionDetails struct {
					Text      string
					Exception struct{ Description string }
				}
				Args []struct{ Value any }
			}
		}
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		c.mu.Lock()
		switch {
		case m.ID != 0:
			if m.Error != nil {
				m.Result, _ = json.Marshal(map[string]string{"failed": m.Error.Message})
			}
			if w := c.waiting[m.ID]; w != nil {
				w <- m.Result
			}
			delete(c.waiting, m.ID)
		case m.Method == "Runtime.exceptionThrown":
			c.said = append(c.said, m.Params.ExceptionDetails.Text+" "+m.Params.ExceptionDetails.Exception.Description)
		case m.Method == "Runtime.consoleAPICalled":
			c.said = append(c.said, fmt.Sprint(m.Params.Args))
		}
		c.mu.Unlock()
	}
}

func (c *chromium) send(session, method string, params any) chan json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	m := map[string]any{"id": c.next, "method": method}
	if params != nil {
		m["params"] = params
	}
	if session != "" {
		m["sessionId"] = session
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	answer := make(chan json.RawMessage, 1)
	c.waiting[c.next] = answer
	c.in.Write(append(text, 0))
	return answer
}

// call calls a method of the protocol and waits for the result.
func (c *chromium) call(method string, params, result any) {
	c.t.Helper()
	select {
	case text := <-c.send(c.session, method, params):
		var failed struct{ Failed string }
		if json.Unmarshal(text, &failed); failed.Failed != "" {
			c.t.Fatalf("%s: %s", method, failed.Failed)
		}
		if result != nil {
			if err := json.Unmarshal(text, result); err != nil {
				c.t.Fatal(err)
			}
		}
	case <-time.After(time.Minute):
		c.t.Fatalf("%s: the browser does not answer", method)
	}
}

// eval evaluates an expression in the page and returns its value as text.
func (c *chromium) eval(expression string) string {
	c.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	c.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &r)
	if x := r.ExceptionDetails; x != nil {
		c.t.Fatalf("%s: %s %s", expression, x.Text, x.Exception.Description)
	}
	if r.Result.Value == nil {
		return ""
	}
	return fmt.Sprint(r.Result.Value)
}

// until waits until an expression is true in the page.
func (c *chromium) until(what, expression string) {
	c.t.Helper()
	began := time.Now()
	for c.eval("!!("+expression+")") != "true" {
		if time.Since(began) > 90*time.Second {
			c.shot("failed")
			c.t.Fatalf("%s: not within %v\n%s\n%s", what, time.Since(began), strings.Join(c.told(), "\n"), c.eval("document.body.innerText.slice(0, 3000)"))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// quiet fails the test if the page has logged errors.
func (c *chromium) quiet() {
	c.t.Helper()
	if said := c.told(); len(said) > 0 {
		c.t.Errorf("the page has said:\n%s", strings.Join(said, "\n"))
	}
}

// told returns the errors that the page has logged.
func (c *chromium) told() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.said...)
}

// open goes to an address.
func (c *chromium) open(address string) {
	c.t.Helper()
	c.call("Page.navigate", map[string]any{"url": address}, nil)
	c.until("the page", "document.readyState === 'complete' && location.href.startsWith("+quotedJS(strings.SplitN(address, "#", 2)[0])+")")
}

// keys types a text letter by letter, as a user would.
func (c *chromium) keys(text string) {
	c.t.Helper()
	for _, r := range text {
		switch r {
		case '\n':
			c.key("Enter", 13, 0)
		default:
			c.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "text": string(r), "key": string(r)}, nil)
			c.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": string(r)}, nil)
		}
	}
}

// controlKey is the modifier of the Control key.
const controlKey = 2

// key presses a key that is not a letter.
func (c *chromium) key(name string, code, modifiers int) {
	c.t.Helper()
	m := map[string]any{"type": "rawKeyDown", "key": name, "code": name, "windowsVirtualKeyCode": code, "modifiers": modifiers}
	if name == "Enter" && modifiers == 0 {
		m["type"], m["text"] = "keyDown", "\r"
	}
	c.call("Input.dispatchKeyEvent", m, nil)
	m["type"] = "keyUp"
	delete(m, "text")
	c.call("Input.dispatchKeyEvent", m, nil)
}

// window sets the width and height of the page, and whether the page should be dark.
func (c *chromium) window(width, height int, dark bool) {
	c.t.Helper()
	c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	c.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// worked returns the processor time of the browser with all its processes; 0 if the system does not
// report it.
func (c *chromium) worked() time.Duration {
	type process struct {
		parent int
		ticks  int64
	}
	all := map[int]process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// The fields follow the last parenthesis. The name of the program is before it and may
		// contain anything, even parentheses.
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if err != nil || len(f) < 13 {
			continue
		}
		var p process
		p.parent, _ = strconv.Atoi(f[1])
		for _, ticks := range f[11:13] {
			n, _ := strconv.ParseInt(ticks, 10, 64)
			p.ticks += n
		}
		all[pid] = p
	}
	sum := int64(0)
	for pid, p := range all {
		for up := pid; up > 1; up = all[up].parent {
			if up == c.pid {
				sum += p.ticks
				break
			}
		}
	}
	return time.Duration(sum) * 10 * time.Millisecond // the system counts ticks, 100 per second
}

// shotsVariable is the environment variable with the folder for screenshots.
const shotsVariable = "PPL_SHOTS"

// shot saves a screenshot of the page if the variable names a folder.
func (c *chromium) shot(name string) {
	c.t.Helper()
	if os.Getenv(shotsVariable) == "" {
		return
	}
	var r struct{ Data string }
	c.call("Page.captureScreenshot", map[string]any{"format": "png"}, &r)
	c.save(name+".png", r.Data)
}

// whole saves a picture of the whole page if the variable names a folder.
func (c *chromium) whole(name string) {
	c.t.Helper()
	if os.Getenv(shotsVariable) == "" {
		return
	}
	var r struct{ Data string }
	c.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &r)
	c.save(name+".png", r.Data)
}

// print saves the printed page if the variable names a folder.
func (c *chromium) print(name string) {
	c.t.Helper()
	if os.Getenv(shotsVariable) == "" {
		return
	}
	var r struct{ Data string }
	c.call("Page.printToPDF", map[string]any{"paperWidth": 8.27, "paperHeight": 11.69}, &r)
	c.save(name+".pdf", r.Data)
}

// save writes a file, which the browser has encoded, to the folder for screenshots.
func (c *chromium) save(name, encoded string) {
	c.t.Helper()
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err == nil {
		err = os.WriteFile(filepath.Join(os.Getenv(shotsVariable), name), content, 0o666)
	}
	if err != nil {
		c.t.Error(err)
	}
}

func quotedJS(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}
