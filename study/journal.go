package study

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/internal/files"
)

// journalFolder is the folder, within that of a study, with the results as they came. Each
// process that makes results appends to a separate file, so that nothing is lost that
// was written, and no two write to one file, on shared folders without locks too.
const journalFolder = "journal"

// journalSuffix ends the names of its files.
const journalSuffix = ".frames"

// place is where a result stands.
type place struct {
	file   int
	offset int64
	length int
	status Status
}

// shortKey is enough of a key to tell results apart.
type shortKey [16]byte

func short(key string) (k shortKey, err error) {
	b, err := hex.DecodeString(key)
	if err != nil || len(b) < len(k) {
		return k, fmt.Errorf("%q is not the key of a fit", key)
	}
	copy(k[:], b)
	return k, nil
}

// journal is the results in a folder. Its methods may be called by several goroutines.
type journal struct {
	dir    string
	prefix string // of the files that are read

	mu     sync.Mutex
	files  []*journalFile
	at     map[shortKey]place
	begun  map[shortKey]int // how often a unit was begun, of those without a result
	status map[Status]int   // of the results

	open   *files.File // which was read last; there may be more than may be open
	openAt int         // its number

	own    *files.File // which this process appends to
	ownAt  int
	synced time.Time
	behind bool // something was written since the last sync
}

type journalFile struct {
	path string
	read int64 // up to here it was read
}

// openJournal reads what there is in the folder of a study, in files of a prefix.
func openJournal(dir, prefix string) (*journal, error) {
	j := &journal{prefix: prefix, dir: filepath.Join(dir, journalFolder), at: map[shortKey]place{}, begun: map[shortKey]int{}, status: map[Status]int{}}
	if err := files.MakeFolder(j.dir); err != nil {
		return nil, fmt.Errorf("cannot make the folder of the study: %w", err)
	}
	_, err := j.refresh()
	return j, err
}

// frameType is what a frame of a journal is about.
type frameType struct {
	Type   string `json:"type"` // "result" or "begun"
	Key    string `json:"key"`
	Status Status `json:"status"`
}

// refresh reads what other processes have written since. It returns how many results of
// each status there are more.
func (j *journal) refresh() (map[Status]int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	entries, err := files.ReadFolder(j.dir)
	if err != nil {
		return nil, err
	}
	before := maps.Clone(j.status)
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), journalSuffix) || !strings.HasPrefix(e.Name(), j.prefix) {
			continue
		}
		path := filepath.Join(j.dir, e.Name())
		i := slices.IndexFunc(j.files, func(f *journalFile) bool { return f.path == path })
		if i < 0 {
			i = len(j.files)
			j.files = append(j.files, &journalFile{path: path})
		}
		if i == j.ownAt && j.own != nil {
			continue
		}
		if err := j.readFile(i); err != nil {
			return nil, err
		}
	}
	more := map[Status]int{}
	for status, n := range j.status {
		more[status] = n - before[status]
	}
	return more, nil
}

// readFile reads a file from where it was read up to. What is not whole at its end is
// being written, or was when its process ended.
func (j *journal) readFile(i int) error {
	f := j.files[i]
	file, err := files.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close() // there may be more of them than files that may be open
	info, err := file.Stat()
	if err != nil || info.Size() <= f.read {
		return err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(file, f.read, info.Size()-f.read), 1<<16)
	for {
		header, payload, err := readFrame(r)
		if errors.Is(err, io.EOF) || errors.Is(err, errTorn) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		length := frameHead + len(header) + len(payload)
		j.note(header, place{i, f.read, length, ""})
		f.read += int64(length)
	}
}

// note takes in a frame; it reports whether it is a result that was not there.
func (j *journal) note(header []byte, at place) bool {
	var t frameType
	if json.Unmarshal(header, &t) != nil {
		return false
	}
	key, err := short(t.Key)
	if err != nil {
		return false
	}
	old, there := j.at[key]
	switch {
	case there && t.Type == "result" && replaces(t.Status, old.status):
		at.status = t.Status
		j.at[key] = at
		j.status[old.status]--
		j.status[t.Status]++
		return true
	case there:
	case t.Type == "begun":
		j.begun[key]++
	case t.Type == "result":
		at.status = t.Status
		j.at[key] = at
		j.status[t.Status]++
		delete(j.begun, key)
		return true
	}
	return false
}

// replaces reports whether a result takes the place of one that is there: the first counts,
// but one of a fit that was made again counts instead of its failure.
func replaces(result, old Status) bool { return old == Failed && result != Failed }

// statusOf is that of a result; "" if there is none.
func (j *journal) statusOf(key string) Status {
	k, err := short(key)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		return ""
	}
	return j.at[k].status
}

// lost is how often a unit was begun that has no result.
func (j *journal) lost(key string) int {
	k, _ := short(key)
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.begun[k]
}

// get reads a result; nil if there is none.
func (j *journal) get(key string) (*Result, error) {
	k, err := short(key)
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	at, ok := j.at[k]
	if !ok {
		return nil, nil
	}
	path := j.files[at.file].path
	if j.open == nil || j.openAt != at.file {
		if j.open != nil {
			j.open.Close()
		}
		if j.open, err = files.Open(path); err != nil {
			return nil, err
		}
		j.openAt = at.file
	}
	frame := make([]byte, at.length)
	if _, err := j.open.ReadAt(frame, at.offset); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	header, payload, err := readFrame(bytes.NewReader(frame))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return decodeResult(header, payload)
}

// create opens the file that this process appends to. What is torn at its end is cut off.
func (j *journal) create(name string) error {
	path := filepath.Join(j.dir, name+journalSuffix)
	j.mu.Lock()
	defer j.mu.Unlock()
	f, err := files.Append(path)
	if err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	i := slices.IndexFunc(j.files, func(f *journalFile) bool { return f.path == path })
	if i < 0 {
		i = len(j.files)
		j.files = append(j.files, &journalFile{path: path})
	}
	j.own, j.ownAt, j.synced = f, i, time.Now()
	return f.Cut(j.files[i].read)
}

// put appends a result, unless there is one already. With nil it notes that a unit is
// begun. It reports whether the result is new.
func (j *journal) put(key string, r *Result) (bool, error) {
	var frame []byte
	var err error
	header := frameType{Type: "begun", Key: key}
	if r != nil {
		header = frameType{"result", r.Key, r.Status}
		frame, err = appendResult(nil, r)
	} else {
		frame, err = appendFrame(nil, header, nil)
	}
	if err != nil {
		return false, err
	}
	isNew, due, err := j.add(header, frame, r)
	if err == nil && due != nil {
		// Not under the lock: a disk may take long, and the other fits go on meanwhile.
		err = due.Sync()
	}
	return isNew, err
}

// add writes a record to the file of this process, unless its unit has a result already. It
// reports whether there is a new result, and gives the file if it is time to force it to disk.
func (j *journal) add(header frameType, frame []byte, r *Result) (isNew bool, due *files.File, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if k, err := short(header.Key); err != nil {
		return false, nil, err
	} else if old, there := j.at[k]; there && (r == nil || !replaces(r.Status, old.status)) {
		return false, nil, nil
	}
	f := j.files[j.ownAt]
	if _, err := j.own.Write(frame); err != nil {
		// What was written of it is cut off, so that there is nothing after a torn record.
		err = errors.Join(err, j.own.Cut(f.read))
		return false, nil, fmt.Errorf("cannot write the results: %w", err)
	}
	text, _ := json.Marshal(header)
	isNew = j.note(text, place{j.ownAt, f.read, len(frame), ""})
	f.read += int64(len(frame))
	j.behind = true
	// A loss of power costs what was made since then, which is made again.
	if now := time.Now(); now.Sub(j.synced) > 5*time.Second {
		j.synced = now
		return isNew, j.own, nil
	}
	return isNew, nil, nil
}

// begunTimes is how often units were begun that have no result.
func (j *journal) begunTimes() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for _, times := range j.begun {
		n += times
	}
	return n
}

// sync makes the results of this process durable.
func (j *journal) sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.own == nil || !j.behind {
		return nil
	}
	j.behind = false
	if err := j.own.Sync(); err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	return nil
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var errs []error
	if j.open != nil {
		errs = append(errs, j.open.Close())
		j.open = nil
	}
	if j.own != nil {
		if j.behind {
			errs = append(errs, j.own.Sync())
		}
		errs = append(errs, j.own.Close())
		j.own = nil
	}
	return errors.Join(errs...)
}
