// Package data reads the values that a model is bound to.
//
//	set.go    Value and Set: named values with shapes, and where they were written
//	allow.go  Options: what reading may take
//	json.go   ParseJSON, ReadJSON: Stan's JSON data format; jsonfault.go: values in it that are no numbers
//	read.go   ReadText, and Parse: data in any of the formats, gzip
//	table.go  ParseTable: CSV; columns.go: its columns and their holes; rows.go: its rows
//	dump.go   ParseDump: R's dump format
//	write.go  Set.WriteJSON
//	golang.go FromGo: maps and structs of Go values
//	error.go  Error: what is wrong, with file, line, column and path
//
// This package knows nothing of declarations: whether a variable is missing,
// has the wrong shape or lies outside its bounds is the binder's to say. So
// that it can say where, [Set.Span] finds the text of a variable or of one of
// its elements, and [Set.Errorf] makes an [Error] about it.
//
// Paths in messages are the model's: elements count from 1, so y[3][2] is the
// second element of the third row of y, for Go values too.
package data
