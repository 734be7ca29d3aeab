package figures

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
)

// Kept is a file of results, with one JSON value per line. A long measurement appends each result
// when it is made, so that a later call continues where this one stops. Several goroutines may call
// its methods.
type Kept[R any] struct {
	key  func(R) string
	mu   sync.Mutex
	file *os.File // nil: nothing is kept
	rows map[string]R
}

// OpenKept opens a file of results to append to, and reads it if it exists; "" opens none. key
// returns the key that identifies a result. An incomplete last line is dropped.
func OpenKept[R any](name string, key func(R) string) (*Kept[R], error) {
	k := &Kept[R]{key: key, rows: map[string]R{}}
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
		var r R
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		k.rows[key(r)] = r
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if k.file, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, err
	}
	if err = k.file.Truncate(int64(whole)); err == nil {
		_, err = k.file.Seek(int64(whole), 0)
	}
	return k, err
}

// Get returns the result of a key, if there is one.
func (k *Kept[R]) Get(key string) (R, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.rows[key]
	return r, ok
}

// Add appends a result.
func (k *Kept[R]) Add(r R) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rows[k.key(r)] = r
	if k.file == nil {
		return nil
	}
	_, err = k.file.Write(append(text, '\n'))
	return err
}

// Close closes the file.
func (k *Kept[R]) Close() error {
	if k.file == nil {
		return nil
	}
	return k.file.Close()
}

// Version returns the commit that is checked out. It returns an error if files have changed since,
// because the commit is then not the measured version.
func Version() (string, error) {
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
