package files

import (
	"sync/atomic"
)

// Kind is what a call does.
type Kind string

// The kinds of calls.
const (
	CreateOp   Kind = "create"   // a new file at Path, which File is from then on
	OpenOp     Kind = "open"     // an existing file at Path, to read it or to write to it
	ReadOp     Kind = "read"     // from File
	WriteOp    Kind = "write"    // Data to File, from byte At on
	TruncateOp Kind = "truncate" // File to At bytes
	SyncOp     Kind = "sync"     // what was written to File
	CloseOp    Kind = "close"    // File
	RenameOp   Kind = "rename"   // Path to To, which is replaced
	ExchangeOp Kind = "exchange" // Path and To
	RemoveOp   Kind = "remove"   // the file or empty folder at Path
	MkdirOp    Kind = "mkdir"    // one folder, at Path
	ListOp     Kind = "list"     // the folder at Path
	FolderOp   Kind = "folder"   // sync the names in the folder at Path
	SyncAllOp  Kind = "syncall"  // sync the file system that Path is on
)

// Op is a call that touches a file.
type Op struct {
	Kind     Kind
	Path, To string
	File     *File
	Data     []byte
	At       int64
}

// System makes the calls. A test puts its own in the place of the operating system's, to
// record them or to let some fail.
type System interface {
	// Do makes a call, which call does, or returns an error instead.
	Do(op Op, call func() error) error
}

// installed is the System; nil: calls are made. The disk is one for all of a process, as
// package os has it, so it is not handed from function to function.
var installed atomic.Pointer[System]

// Install puts s in the place of the operating system until restore is called. It is for
// tests, which must not overlap others that write files.
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
