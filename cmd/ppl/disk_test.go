package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ppl-lang/ppl/internal/files"
)

// This file: a disk that loses power. A recorder notes every call by which a command changes
// something below a folder. A crash is a state that the disk may have if the power fails after some
// of these calls.
//
// The model allows more than any real disk does. As long as a change is not synced, it may or may
// not have reached the disk, independently of the others: each write, each change of a file's
// length and each change of a name. A sync of a file makes the content of the file durable, but not
// its name. A sync of a folder makes the names in it durable, but not the content of the files. A
// rename from one folder to another is a single change, as in file systems with a journal, and a
// sync of the second folder makes it durable.

// event is a change on the disk.
type event struct {
	kind   files.Kind
	node   int // the file of a WriteOp, TruncateOp or SyncOp, the folder of a FolderOp
	parent int // the folder in which a name changes
	name   string
	to     string // the new name, for RenameOp and ExchangeOp
	into   int    // the folder of the new name, for RenameOp
	child  int    // the file or folder whose name changes
	other  int    // the file that gets the first name, for ExchangeOp
	at     int64
	data   []byte
}

func (e *event) String() string {
	return fmt.Sprint(e.kind, " ", e.name, e.to, " of ", max(e.node, e.parent), " at ", e.at, ", ", len(e.data), " bytes")
}

// names reports whether the event changes names, and otherwise whether it changes a file.
func (e *event) names() bool {
	return slices.Contains([]files.Kind{files.CreateOp, files.MkdirOp, files.RenameOp, files.ExchangeOp, files.RemoveOp}, e.kind)
}

func (e *event) changes() bool {
	return e.kind == files.WriteOp || e.kind == files.TruncateOp
}

// diskRecorder is a files.System that records the changes below a folder.
type diskRecorder struct {
	root string

	mu     sync.Mutex
	nodes  int
	at     map[string]int // by path
	open   map[*files.File]int
	events []event
	before map[int][]byte // contents of the files that existed at the start
}

func newDiskRecorder(t *testing.T, root string) *diskRecorder {
	t.Helper()
	d := &diskRecorder{root: root, at: map[string]int{root: 0}, open: map[*files.File]int{}, before: map[int][]byte{}, nodes: 1}
	for _, e := range filesBelow(t, root) {
		d.at[filepath.Join(root, e.name)] = d.nodes
		if !e.dir {
			d.before[d.nodes] = e.text
		}
		d.nodes++
	}
	return d
}

// below is a file or folder, with its path below the folder.
type below struct {
	name string
	dir  bool
	text []byte
}

func filesBelow(t *testing.T, root string) []below {
	t.Helper()
	var all []below
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		b := below{name: name, dir: e.IsDir()}
		if !b.dir {
			b.text, err = os.ReadFile(path)
		}
		all = append(all, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (d *diskRecorder) inside(path string) bool {
	return path == d.root || strings.HasPrefix(path, d.root+string(filepath.Separator))
}

// Do implements files.System.
func (d *diskRecorder) Do(op files.Op, call func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	data := bytes.Clone(op.Data)
	err := call()
	if err != nil || !d.inside(op.Path) {
		return err
	}
	e := event{kind: op.Kind, at: op.At, data: data, parent: d.at[filepath.Dir(op.Path)], name: filepath.Base(op.Path)}
	switch op.Kind {
	case files.CreateOp, files.MkdirOp:
		e.child = d.nodes
		d.at[op.Path] = e.child
		d.nodes++
		if op.Kind == files.CreateOp {
			d.open[op.File] = e.child
		}
	case files.OpenOp:
		d.open[op.File] = d.at[op.Path]
		return nil
	case files.WriteOp, files.TruncateOp, files.SyncOp:
		e.node = d.open[op.File]
	case files.FolderOp:
		e.node = d.at[op.Path]
	case files.SyncAllOp:
	case files.RenameOp:
		e.child, e.to, e.into = d.at[op.Path], filepath.Base(op.To), d.at[filepath.Dir(op.To)]
		d.forget(op.To)
		d.move(op.Path, op.To)
	case files.ExchangeOp:
		e.child, e.other, e.to = d.at[op.Path], d.at[op.To], filepath.Base(op.To)
		aside := op.Path + "\x00"
		d.move(op.Path, aside)
		d.move(op.To, op.Path)
		d.move(aside, op.To)
	case files.RemoveOp:
		d.forget(op.Path)
	default:
		return nil
	}
	d.events = append(d.events, e)
	return nil
}

func (d *diskRecorder) forget(path string) {
	for p := range d.at {
		if p == path || strings.HasPrefix(p, path+string(filepath.Separator)) {
			delete(d.at, p)
		}
	}
}

func (d *diskRecorder) move(from, to string) {
	for p, node := range d.at {
		if rest, ok := strings.CutPrefix(p, from); ok && (rest == "" || rest[0] == filepath.Separator) {
			delete(d.at, p)
			d.at[to+rest] = node
		}
	}
}

// disk is a recording, from which the states after a crash are made.
type disk struct {
	events []event
	start  []below // what was there before
	ids    []int   // of start
	parent []int
	synced []int // for each event the index of the event that makes it durable; a large number: none
}

func (d *diskRecorder) disk(start []below) *disk {
	out := &disk{events: d.events, start: start, synced: make([]int, len(d.events))}
	ids := map[string]int{".": 0}
	for i, b := range start {
		ids[b.name] = i + 1
		out.ids = append(out.ids, i+1)
		out.parent = append(out.parent, ids[filepath.Dir(b.name)])
	}
	for i := range out.events {
		e := &out.events[i]
		out.synced[i] = len(out.events) + 1
		for j := i + 1; j < len(out.events); j++ {
			s := &out.events[j]
			at := e.parent
			if e.kind == files.RenameOp { // a rename changes both folders at once
				at = e.into
			}
			if s.kind == files.SyncAllOp || s.kind == files.SyncOp && e.changes() && s.node == e.node || s.kind == files.FolderOp && e.names() && s.node == at {
				out.synced[i] = j
				break
			}
		}
	}
	return out
}

// pending returns the changes among the first n events that are lost if the power fails then.
func (d *disk) pending(n int) []int {
	var out []int
	for i := range n {
		if e := &d.events[i]; (e.changes() || e.names()) && d.synced[i] >= n {
			out = append(out, i)
		}
	}
	return out
}

// crash describes which of the first n events have reached the disk.
type crash struct {
	n    int
	how  string
	keep func(i int) bool // whether a pending change has reached the disk
	torn int              // the write of which only a part was made; -1: none
	cut  int              // to so many bytes
	full bool             // the rest of that write is zeros
}

func (c *crash) String() string { return fmt.Sprintf("after event %d, %s", c.n, c.how) }

// crashes yields the states that a disk may have after the first n events. Of the pending changes,
// it loses all, one, or all but one; or it cuts the last write off at the end of a sector. With
// few, it tries only the last two changes one by one, and at most three places to cut a write.
func (d *disk) crashes(n int, few bool, yield func(c crash) bool) bool {
	pending := d.pending(n)
	if !yield(crash{n, "with all that was not synced lost", func(int) bool { return false }, -1, 0, false}) {
		return false
	}
	alone := pending
	if few && len(alone) > 2 {
		alone = alone[len(alone)-2:]
	}
	for _, k := range alone {
		if !yield(crash{n, fmt.Sprintf("with event %d lost (%s)", k, &d.events[k]), func(i int) bool { return i != k }, -1, 0, false}) ||
			!yield(crash{n, fmt.Sprintf("with event %d alone kept (%s)", k, &d.events[k]), func(i int) bool { return i == k }, -1, 0, false}) {
			return false
		}
	}
	all := func(int) bool { return true }
	if !yield(crash{n, "with all kept", all, -1, 0, false}) {
		return false
	}
	for _, k := range slices.Backward(pending) {
		if e := &d.events[k]; e.kind == files.WriteOp {
			step := 512
			if few {
				step = max(512, (len(e.data)/3+511)/512*512)
			}
			for cut := 0; cut < len(e.data); cut += step {
				for _, full := range []bool{false, true} {
					if !yield(crash{n, fmt.Sprintf("with event %d torn after %d bytes (%s)", k, cut, e), all, k, cut, full}) {
						return false
					}
				}
			}
			break
		}
	}
	return true
}

// node is a file or a folder on the disk.
type node struct {
	names map[string]int // nil: a file
	text  []byte
}

// tree returns the files and folders on the disk after a crash.
func (d *disk) tree(c crash) map[int]*node {
	nodes := map[int]*node{0: {names: map[string]int{}}}
	for i, b := range d.start {
		nodes[d.ids[i]] = &node{text: b.text}
		if b.dir {
			nodes[d.ids[i]] = &node{names: map[string]int{}}
		}
		nodes[d.parent[i]].names[filepath.Base(b.name)] = d.ids[i]
	}
	for i := range c.n {
		e := &d.events[i]
		switch e.kind { // files and folders exist with or without a name
		case files.CreateOp:
			nodes[e.child] = &node{}
		case files.MkdirOp:
			nodes[e.child] = &node{names: map[string]int{}}
		}
		if d.synced[i] >= c.n && !c.keep(i) {
			continue
		}
		switch e.kind {
		case files.CreateOp, files.MkdirOp:
			nodes[e.parent].names[e.name] = e.child
		case files.RenameOp:
			delete(nodes[e.parent].names, e.name)
			nodes[e.into].names[e.to] = e.child
		case files.ExchangeOp:
			nodes[e.parent].names[e.name], nodes[e.parent].names[e.to] = e.other, e.child
		case files.RemoveOp:
			delete(nodes[e.parent].names, e.name)
		case files.WriteOp:
			f, data := nodes[e.node], e.data
			if i == c.torn {
				data = slices.Clone(data)
				clear(data[c.cut:])
				if !c.full {
					data = data[:c.cut]
				}
			}
			f.text = slices.Clone(f.text)
			if end := int(e.at) + len(data); end > len(f.text) {
				f.text = append(f.text, make([]byte, end-len(f.text))...)
			}
			copy(f.text[e.at:], data)
		case files.TruncateOp:
			f := nodes[e.node]
			f.text = slices.Clone(f.text)
			if n := int(e.at); n <= len(f.text) {
				f.text = f.text[:n]
			} else {
				f.text = append(f.text, make([]byte, n-len(f.text))...)
			}
		}
	}
	return nodes
}

// sum returns a digest of all files that can be found on a disk, to tell disks apart.
func sum(nodes map[int]*node) [sha256.Size]byte {
	h := sha256.New()
	var walk func(id int)
	walk = func(id int) {
		n := nodes[id]
		if n.names == nil {
			fmt.Fprintf(h, "f%d:", len(n.text))
			h.Write(n.text)
			return
		}
		var names []string
		for name := range n.names {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintf(h, "d%d:", len(names))
		for _, name := range names {
			fmt.Fprintf(h, "%q", name)
			walk(n.names[name])
		}
	}
	walk(0)
	return [sha256.Size]byte(h.Sum(nil))
}

// write creates the files and folders in an empty folder.
func write(t *testing.T, nodes map[int]*node, id int, path string) {
	t.Helper()
	for name, child := range nodes[id].names {
		at, n := filepath.Join(path, name), nodes[child]
		var err error
		if n.names == nil {
			err = os.WriteFile(at, n.text, 0o666)
		} else if err = os.Mkdir(at, 0o777); err == nil {
			write(t, nodes, child, at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
