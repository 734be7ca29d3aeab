// Package files writes all files of this program, durably and atomically.
//
//	system.go    Op, System: every call that touches a file, for tests that let calls fail or
//	             cut the power; Install
//	file.go      File: Create, Open, Edit; reading
//	replace.go   Temp: a file written under a temporary name; Replace, ReplaceBy, Save, Swap
//	folders.go   MakeFolder, SyncFolder, SyncAll, RemoveTemps: names of files, durably
//	system_*.go  functions that only some systems have
//	seal.go      Digest, Seal: checksums of files that are read long after they were written
//	until.go     Until: abandons work that may never end, such as reading, when a context ends
//
// # What is durable
//
// A file that [Replace], [ReplaceBy], [Save] or [Temp.Commit] has written is on the disk when they
// return. It is written as a new file with a random name in the same folder, without following
// links. Then it is synced and renamed, and the folder is synced. At every moment, even after a
// power failure, the name has the complete old file or the complete new one. An error of syncing
// counts as an error of writing, because the data may be lost although they can still be read.
//
// [Swap] omits the syncs. If this program is killed at any moment, the name has a complete file.
// After a power failure the file may be empty or incomplete.
package files
