// Package files is the only way by which this program writes files.
//
//	system.go   Op, System: every call that touches a file, for tests that let calls fail or
//	            cut the power; Install
//	file.go     File: Create, Open, Edit; reading
//	replace.go  Temp: a file that is written under another name; Replace, ReplaceBy, Save, Swap
//	folders.go  MakeFolder, SyncFolder, SyncAll, RemoveTemps: names of files, durably
//	system_*.go what only some systems have
//	seal.go     Digest, Seal: checksums of what is read back long after it was written
//	until.go    Until: reading what may never come to its end is left when a context ends
//
// # What is durable
//
// A file that [Replace], [ReplaceBy], [Save] or [Temp.Commit] has written is on the disk when
// they return: the file is written under a random name in the same folder, opened so that it
// cannot exist already and no link is followed, synced, renamed, and the folder is synced. At
// every moment, also after a loss of power, the name has the old file or the new one, each
// whole. An error of syncing is an error of writing: the data may be lost although they can
// still be read.
//
// [Swap] leaves out the syncs. The name has a whole file after this program is killed at any
// moment, but after a loss of power it may have an empty or torn one.
package files
