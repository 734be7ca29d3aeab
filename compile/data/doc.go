// Package data reads the values that a model is bound to.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	set.go    Value and Set: named values with shapes, and where they were written
//	allow.go  Options: limits on reading
//	json.go   ParseJSON, ReadJSON: Stan's JSON data format; jsonword.go: words and
//	          strings; jsonfault.go: its non-numeric values
//	read.go   ReadText, and Parse: data in any of the formats, gzip
//	decimal.go decimals of up to 19 digits, exactly rounded
//	nonmem.go data sets of NONMEM; clock.go: their dates and times of day
//	table.go  ParseTable: CSV; columns.go: its columns, missing values; rows.go: its rows;
//	          join.go: several tables as one; groups.go: groups of rows;
//	          how.go: columns read in a declared way; dates.go: dates and times
//	declarations.go Declarations: what users write about missing values and ways to read columns
//	ragged.go lists that differ in length
//	dump.go   ParseDump: R's dump format
//	write.go  Set.WriteJSON
//	golang.go FromGo: maps and structs of Go values
//	error.go  Error: an error with file, line, column and path
//
// This package knows nothing of declarations. The binder reports whether a variable is missing, has
// the wrong shape, or is outside its bounds. For such messages [Set.Span] finds the text of a
// variable or of one of its elements, and [Set.Errorf] makes an [Error] about it.
//
// Paths in messages are those of the model. Elements count from 1, also for Go values: y[3][2] is
// the second element of the third row of y.
package data
