package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/infer/infertest/truth"
	"github.com/ppl-lang/ppl/internal/figures"
)

// key says what a run was.
type key struct {
	Target  string `json:"target"`
	Sampler string `json:"sampler"`
	Seed    uint64 `json:"seed"`
	Version string `json:"version"`
	What    string `json:"what"` // "verdict" or "ess"
}

// row is a run as it is kept, one a line.
type row struct {
	key
	Class     string        `json:"class"`
	Drawn     bool          `json:"drawn,omitempty"`
	Verdict   string        `json:"verdict,omitempty"`
	Worst     string        `json:"worst,omitempty"` // quantity that is farthest off
	Off       float64       `json:"off,omitempty"`   // in units of what is allowed
	Value     float64       `json:"value,omitempty"`
	Truth     float64       `json:"truth,omitempty"`
	Findings  []string      `json:"findings,omitempty"` // codes; notes in brackets
	Error     string        `json:"error,omitempty"`
	Gradients int64         `json:"gradients"`
	Notes     []string      `json:"notes,omitempty"`
	Scores    []truth.Score `json:"scores,omitempty"`
}

// keep is the file of runs.
type keep struct {
	mu   sync.Mutex
	file *os.File // nil: none
	rows map[key]row
}

// openKeep reads a file of runs, if it exists, to append to it. A last line that was cut off
// by an interruption is dropped.
func openKeep(name string) (*keep, error) {
	k := &keep{rows: map[key]row{}}
	if name == "" {
		return k, nil
	}
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	lines := bufio.NewScanner(bytes.NewReader(text[:whole]))
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		k.rows[r.key] = r
	}
	if k.file, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, err
	}
	if err = k.file.Truncate(int64(whole)); err == nil {
		_, err = k.file.Seek(int64(whole), 0)
	}
	return k, err
}

func (k *keep) get(of key) (row, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.rows[of]
	return r, ok
}

func (k *keep) add(r row) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rows[r.key] = r
	if k.file == nil {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = k.file.Write(append(text, '\n'))
	return err
}

func (k *keep) close() {
	if k.file != nil {
		k.file.Close()
	}
}

// version is the commit that is checked out; an error says that files were changed since.
func version() (string, error) {
	changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output()
	if err != nil {
		return "", fmt.Errorf("the version of the code is not known (git status: %w); name it by --version", err)
	}
	if len(bytes.TrimSpace(changed)) > 0 {
		return "", errors.New("files were changed since the last commit: commit them, or name the version by --version")
	}
	out, err := exec.Command("git", "rev-parse", "--short=10", "HEAD").Output()
	return strings.TrimSpace(string(out)), err
}

// writeSection replaces a section of the page.
func writeSection(file, name, text string) error {
	return figures.Section{Name: name, Command: "internal/cmd/truth"}.Write(file, text)
}
