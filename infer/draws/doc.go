// Package draws stores draws in memory and in files in CmdStan's CSV format.
//
//	columns.go   Columns: the statistics and values saved per draw
//	store.go     Store: the draws of several chains, appendable while they run
//	number.go    numbers in the format of C++ streams
//	config.go    Setting: the comments at the head of a CSV file; configuration.go lists them
//	csv.go       Writer, Create: one CSV file per chain, renamed into place when complete
//	stated.go    AdaptationOf, Stated: the result of warm-up, in the form of CmdStan's files
//	readback.go  Store.ReadBack: draws read from journals instead of kept in memory
//	journal.go   Journal: exact draws and snapshots, to resume a run from
//	recover.go   FindJournal: which draws of a journal are intact, and resuming from them
//	table.go     WriteTable, ReadTable: what a kernel has learnt
//	read.go      Read, ReadFile, ReadStore: files written by Writer or CmdStan
//
// # From a run to both
//
//	store, err := draws.NewStore(columns, 4, 1000)
//	for d, err := range session.Draws(ctx) {
//		…
//		err = store.Add(d)            // a draw of any chain
//		err = files[d.Chain].Draw(d)  // files[i] made by draws.Create
//	}
//
// Package diagnose reads a Store. Its columns come from the sampler's entry in package sampler
// (Statistics: row.AllColumns()) and from the model (Names).
//
// # The CSV file
//
// The layout is CmdStan's, so that CmdStanPy, CmdStanR, stansummary and ArviZ can read it. In
// order: comments with the configuration as a tree, one header line, the draws of warm-up if they
// are saved, the adaptation block, the draws, the notes, the elapsed time.
//
// By default numbers are exact, in the shortest text that reads back as the same number. With a
// given number of significant digits they are printed as a C++ stream prints them: trailing zeros
// cut, integers as integers, nan, inf, -inf. [DefaultSigFigs] is CmdStan's number.
//
// A file is written in its final folder under a name ending in .tmp. It is renamed when it is
// complete, or when an interrupted run is ended properly, so there is never half a file under the
// final name. If the name is not a regular file (/dev/null, a pipe), it is written to directly.
package draws
