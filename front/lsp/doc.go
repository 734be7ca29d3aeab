// Package lsp is a language server for models: what package lang/service knows of
// programs, told to editors in the Language Server Protocol, version 3.17.
//
//	server.go     Serve: the connection, its life from initialize to exit
//	methods.go    the table of methods, from which the capabilities are made
//	framing.go    messages with Content-Length headers
//	protocol.go   the structures of the protocol, those that are used
//	position.go   positions in UTF-16, URIs
//	workspace.go  open documents, their versions, the programs that they belong to
//	data.go       the data beside a model
//	publish.go    diagnostics
//	features.go   completion, hover, navigation
//	rename.go     renaming, and what would not survive it; edits by version
//	layout.go     outline, folding, formatting, tokens, hints, code lenses, fixes
//	checked.go    what checking with data finds
//	commands.go   running a model and checking it with its data, in other processes
//
// JSON-RPC itself is package jrpc2. Its order is what the protocol needs: requests run
// side by side, but only after the notifications before them are done with, so that a
// request sees the text that its sender saw.
//
// Of the packages of this module it needs the language, the library of functions, and
// compile/data to read sizes; what runs models is a separate process, so that one
// that never ends, or takes all memory, ends alone.
package lsp
