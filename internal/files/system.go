package files

import (
	"sync/atomic"
)

// Kind is the kind of a file-system call.
type Kind string

// The kinds of calls.
const (
	CreateOp   Kind = "create"   // makes a new file at Path, which becomes File
	OpenOp     Kind = "open"     // opens an existing file at Path, to read or write it
	ReadOp     Kind = "read"     // reads from File
	WriteOp    Kind = "write"    // writes Data to File, beginning at byte At
	TruncateOp Kind = "truncate" // truncates File to At bytes
	SyncOp     Kind = "sync"     // syncs the data written to File
	CloseOp    Kind = "close"    // File
	RenameOp   Kind = "rename"   // renames Path to To, which is replaced
	ExchangeOp Kind = "exchange" // swaps Path and To
	RemoveOp   Kind = "remove"   // removes the file or empty folder at Path
	MkdirOp    Kind = "mkdir"    // makes one folder at Path
	ListOp     Kind = "list"     // lists the folder at Path
	FolderOp   Kind = "folder"   // syncs the names in the folder at Path
	SyncAllOp  Kind = "syncall"  // syncs the file system of Path
)

// Op is a call to the file system.
type Op struct {
	Kind     Kind
	Path, To string
	File     *File
	Data     []byte
	At       int64
}

// System makes the calls. Tests replace it, to record calls or to let some fail.
type System interface {
	// Do makes the call op by calling call, or returns an error instead.
	Do(op Op, call func() error) error
}

// installed is the System of tests; nil: calls are made directly. It is a global because the
// process has one disk, as in package os.
var installed atomic.Pointer[System]

// Install replaces the operating system by s until restore is called. It is for tests. They must
// not run at the same time as others that write files.
func Install(s System) (restore func()) {
	before := installed.Swap(&s)
	return func() { installed.Store(before) }
}

// do makes a call.
func do(op Op, call func() error) error {
	if s := installed.Load(); s != nil {
		return (*s).Do(op, call)
	}
	return call()
}
