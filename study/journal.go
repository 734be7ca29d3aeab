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

// journalFolder is the folder, within the study's, with the results as they came. Each process
// appends to its own file. So no written result is lost, and no two processes write to one file,
// even on shared folders without locks.
const journalFolder = "journal"

// journalSuffix is the extension of the journal's files.
const journalSuffix = ".frames"

// place is the position of a result in the journal.
type place struct {
	file   int
	offset int64
	length int
	status Status
}

// shortKey is a prefix of a key that is long enough to identify a result.
type shortKey [16]byte

func short(key string) (k shortKey, err error) {
	b, err := hex.DecodeString(key)
	if err != nil || len(b) < len(k) {
		return k, fmt.Errorf("%q is not the key of a fit", key)
	}
	copy(k[:], b)
	return k, nil
}

// journal has the results in a folder. Several goroutines may call its methods.
type journal struct {
	dir    string
	prefix string // prefix of the names of the files that are read

	mu     sync.Mutex
	files  []*journalFile
	at     map[shortKey]place
	begun  map[shortKey]int // number of times that each unit without a result was begun
	status map[Status]int   // number of results

	open   *files.File // the file read last; only one is open, as there may be many
	openAt int         // number of that file

	memory bool   // there are no files
	text   []byte // the records, if there are no files

	own    *files.File // the file that this process appends to
	ownAt  int
	synced time.Time
	behind bool // something was written since the last sync
}

type journalFile struct {
	path string
	read int64 // bytes read so far
}

// openJournal reads the journal in the folder of a study, from files whose names begin with a
// prefix.
func openJournal(dir, prefix string) (*journal, error) {
	j := &journal{prefix: prefix, dir: filepath.Join(dir, journalFolder), at: map[shortKey]place{}, begun: map[shortKey]int{}, status: map[Status]int{}}
	if err := files.MakeFolder(j.dir); err != nil {
		return nil, fmt.Errorf("cannot make the folder of the study: %w", err)
	}
	_, err := j.refresh()
	return j, err
}

// newMemoryJournal returns a journal without files, for a process that can open none.
func newMemoryJournal() *journal {
	return &journal{memory: true, files: []*journalFile{{path: "memory"}}, at: map[shortKey]place{}, begun: map[shortKey]int{}, status: map[Status]int{}}
}

// frameType is the part of a journal frame's header that tells its kind.
type frameType struct {
	Type   string `json:"type"` // "result" or "begun"
	Key    string `json:"key"`
	Status Status `json:"status"`
}

// refresh reads what other processes have written since the last call. It returns the number of new
// results by status.
func (j *journal) refresh() (map[Status]int, error) {
	if j.memory {
		return nil, nil
	}
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

// readFile reads the new part of a file. An incomplete frame at its end is being written, or its
// process ended while writing it.
func (j *journal) readFile(i int) error {
	f := j.files[i]
	file, err := files.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close() // close it, since there may be more files than a process may open
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

// note records a frame, and reports whether it is a new result.
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

// replaces reports whether a result replaces an existing one. The first result counts, but a
// repeated fit's result replaces its failure.
func replaces(result, old Status) bool { return old == Failed && result != Failed }

// statusOf returns the status of a result; "" if there is none.
func (j *journal) statusOf(key string) Status {
	k, err := short(key)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		return ""
	}
	return j.at[k].status
}

// lost returns the number of times that a unit was begun without leaving a result.
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
	if j.memory {
		return readResult(path, j.text[at.offset:at.offset+int64(at.length)])
	}
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
	return readResult(path, frame)
}

// readResult reads a result from its frame in the file path.
func readResult(path string, frame []byte) (*Result, error) {
	header, payload, err := readFrame(bytes.NewReader(frame))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return decodeResult(header, payload)
}

// create opens the file that this process appends to, and cuts off an incomplete record at its end.
func (j *journal) create(name string) error {
	if j.memory {
		return nil
	}
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

// put appends a result, unless there is one already. If r is nil, it records that a unit is begun.
// It reports whether the result is new.
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
		// Sync without the lock: a disk may take long, and other fits continue meanwhile.
		err = due.Sync()
	}
	return isNew, err
}

// add writes a record to the file of this process, unless its unit has a result already. It reports
// whether there is a new result, and returns the file if it is due for a sync.
func (j *journal) add(header frameType, frame []byte, r *Result) (isNew bool, due *files.File, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if k, err := short(header.Key); err != nil {
		return false, nil, err
	} else if old, there := j.at[k]; there && (r == nil || !replaces(r.Status, old.status)) {
		return false, nil, nil
	}
	f := j.files[j.ownAt]
	if j.memory {
		j.text = append(j.text, frame...)
	} else if _, err := j.own.Write(frame); err != nil {
		// Cut off the part that was written, so that nothing follows an incomplete record.
		err = errors.Join(err, j.own.Cut(f.read))
		return false, nil, fmt.Errorf("cannot write the results: %w", err)
	}
	text, _ := json.Marshal(header)
	isNew = j.note(text, place{j.ownAt, f.read, len(frame), ""})
	f.read += int64(len(frame))
	if j.memory {
		return isNew, nil, nil
	}
	j.behind = true
	// A power failure loses only the results since the last sync, which are made again.
	if now := time.Now(); now.Sub(j.synced) > 5*time.Second {
		j.synced = now
		return isNew, j.own, nil
	}
	return isNew, nil, nil
}

// begunTimes returns the number of times that units without a result were begun, in total.
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
