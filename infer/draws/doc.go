// Package draws keeps draws in memory and in CmdStan's CSV files.
//
//	columns.go  Columns: what is saved of a draw
//	store.go    Store: the draws of several chains, appendable while they run
//	number.go   numbers as C++ streams print them
//	config.go   Setting: the comments at the head of a CSV file; configuration.go: which there are
//	csv.go      Writer, Create: one CSV file per chain, renamed into place when complete
//	stated.go   AdaptationOf, Stated: what warm-up has found, in the form that CmdStan's files have
//	readback.go Store.ReadBack: draws that are read from journals, not kept in memory
//	journal.go  Journal: exact draws and snapshots, to resume a run from
//	recover.go  FindJournal: what of a journal is whole, and going on from there
//	table.go    WriteTable, ReadTable: what a kernel has learnt
//	read.go     Read, ReadFile, ReadStore: what Writer and CmdStan write
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
// A Store is what package diagnose reads. Columns come from the sampler's row
// in package sampler (Statistics: row.AllColumns()) and from the model (Names).
//
// # The CSV file
//
// The layout is CmdStan's, so that CmdStanPy, CmdStanR, stansummary and ArviZ
// read it: comments that state the configuration as a tree, one header line,
// the draws of warm-up if they are saved, the adaptation block, the draws,
// the notes, the elapsed time. Numbers are exact, in the shortest text that reads
// back as the same number. With a number of significant digits they are printed as a
// C++ stream prints them: trailing zeros cut, integers as integers, nan, inf, -inf.
// [DefaultSigFigs] is CmdStan's number.
//
// A file is written beside its place under a name ending in .tmp and renamed
// when it is complete (or when an interrupted run is finished properly), so
// there is never half a file under the final name. Where the name is no
// regular file (/dev/null, a pipe) it is written to directly.
package draws
