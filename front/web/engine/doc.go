// Package engine is what the workers of the playground do: it answers requests about
// models, which come and go as JSON. It knows nothing of browsers, so that it is tested
// without one; package main in front/web/wasm hands it what the page asks for.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// Each worker has its own [Engine]. One is asked about the text while it is
// written, one draws each chain, and one puts the chains together and makes the report:
//
//	engine.go    Engine, Do: the table of requests; what is wrong, as JSON
//	editor.go    what is wrong with a text, completion, documentation, layout
//	place.go     places as the page counts them
//	settings.go  Settings: what a run is asked for; the samplers and their options
//	chain.go     one chain of a run, handed over in parts
//	gather.go    the run that the chains make: its report, live and whole
//	data.go      what a file of data holds; as JSON
//	generate.go  data that a model can be tried with
//	folder.go    model, data and settings as a folder, as a ZIP file
//
// A model cannot do more than compute: nothing here reads or writes a file. What it may
// take is bounded in settings.go; a model that never ends is left to the page, which ends
// its worker.
package engine
