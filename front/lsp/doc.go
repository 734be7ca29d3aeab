// Package lsp is a language server for models. It offers the analyses of package lang/service to
// editors, by the Language Server Protocol, version 3.17.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	server.go     Serve: the connection, its life from initialize to exit
//	methods.go    the table of methods, from which the capabilities are made
//	framing.go    messages with Content-Length headers
//	protocol.go   the structures of the protocol that are used
//	position.go   positions in UTF-16, URIs
//	workspace.go  open documents, their versions, the programs that they belong to
//	data.go       the data file of a model
//	publish.go    diagnostics
//	features.go   completion, hover, navigation
//	structure.go  calls, symbols of the workspace, selections, links
//	pull.go       diagnostics and changes of tokens that a client asks for
//	rename.go     renaming, and checks that it breaks nothing; edits by version
//	layout.go     outline, folding, formatting, tokens, hints, code lenses, fixes
//	checked.go    diagnostics from checking with data
//	commands.go   running a model and checking it with its data, in other processes
//
// Package jrpc2 implements JSON-RPC, with the order that the protocol needs. Requests run
// concurrently, but only after the preceding notifications are processed. So a request sees the
// text that its sender saw.
//
// Of this module, the package needs only the language, the library of functions, and compile/data
// to read sizes. Models run in a separate process, so that a model that never ends, or uses up the
// memory, does not end the server.
package lsp
